#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# suggest: questions with awkward numbers and pins get a plan that keeps them, or the reason why there is none.
. "$(dirname "$0")/../helpers.sh"

suggest() { # STATUS TEXT ARGUMENTS…
    want=$1 text=$2
    shift 2
    expect "$want" "$text" "$moeplan" suggest "$@"
}

kept() { # TEXT ARGUMENTS…: a plan file with the text in it, which validate accepts
    text=$1
    shift
    suggest 0 "$text" "$@" --format plan
    cp "$dir/out" "$dir/plan.yaml"
    run 0 "$moeplan" validate "$dir/plan.yaml"
}

large="deepseek-v3 --gpus 256 --platform h100 --framework megatron" # a second each: for what the size is needed for
small="qwen3-30b-a3b --gpus 16 --platform h100 --framework megatron"

# what no layout can mend is said at once, with what would help
suggest 1 "take fp8_blockwise on Hopper" $large --precision mxfp8
suggest 1 "fp8-needs-hopper" deepseek-v3 --gpus 256 --platform a100 --framework bridge --precision fp8_delayed
suggest 0 "mxfp8" deepseek-v3 --gpus 256 --platform gb200 --framework bridge --precision mxfp8

# nor are all plans tried that a rule refuses for what is pinned alone: without that, for minutes
expect 1 "  [cross-entropy-fusion-not-te]" timeout 20 "$moeplan" suggest $small --pin cross_entropy_fusion_impl=te
expect 1 "  [bridge-local-graphs-of-layers]" timeout 20 "$moeplan" suggest qwen3-30b-a3b --gpus 16 --platform h100 --framework bridge \
    --framework-version 0.6 --pin cuda_graph_impl=local
has "every plan breaks a rule, the smallest too (tp"
has "what would help"
# or for its layout: about as many refusals as layouts, not as plans
expect 1 "  [optimizer-instances-divide-dp]" "$moeplan" suggest kimi-k2 --gpus 72 --platform h800 --framework bridge --task peft --no-playbook --format json \
    --pin num_distributed_optimizer_instances=4
grep -q " [0-9]\{1,3\} that would fit break a rule, the smallest (tp" "$dir/out" || fail "layouts that a rule refuses are tried with every switch"

grep -q ": the smallest needs 1[0-9][0-9] GiB of 77 GiB" "$dir/out" || fail "what is refused is no measure of the memory that is needed"
# what is forbidden is no measure of it either, and a pin that no layout can have is named
forbid="kimi-k2 --gpus 72 --platform h100 --framework megatron --gbs 72 --forbid"
suggest 1 "the smallest needs " $forbid 'plan.tp > 1'
has "(tp 1 "
lacks "forbidden or"
suggest 1 "every plan breaks a rule, the smallest too (tp 8 pp 2 ep 1, full recompute, " $small --forbid 'plan.dp >= 1'
has "what is forbidden or pinned: plan.dp >= 1"
suggest 1 "512 GPUs and a batch of 128, with pp 3" qwen3-14b --gpus 512 --platform b200 --framework megatron --gbs 128 --seq 131072 --pin pp=3
# memory that is pinned is kept, or no plan is
suggest 1 "the smallest needs 23 GiB of 20 GiB per GPU" $large --pin memory_limit_gib=20
suggest 0 "\"step_s\"" $large --pin memory_limit_gib=45 --format json
python3 -c 'import json, sys; assert all(z["estimate"]["memory"]["peak_high_gib"] < 45 for z in json.load(open(sys.argv[1]))["plans"])' "$dir/out" || fail "more than 45 GiB"

# without NVLink between the GPUs of a node the libraries that use it are no plan's (S1.9)
printf 'moeplan: 1\nkind: Platform\nid: pcie\nname: PCIe\nsource: test\nbase: h100\nnvlink_domain: 1\n' >"$dir/pcie.yaml"
suggest 0 "alltoall" qwen3-30b-a3b --gpus 32 --platform "$dir/pcie.yaml" --framework megatron --pin ep=8
lacks "flex"
suggest 0 "torch" qwen3-30b-a3b --gpus 32 --platform "$dir/pcie.yaml" --framework automodel --pin ep=8

# a flex dispatcher is told by either of its words, the backend on a rack by the kernels that it has
kept "moe_token_dispatcher_type: flex" $small --pin moe_flex_dispatcher_backend=deepep
kept "moe_flex_dispatcher_backend: hybridep" qwen3-30b-a3b --gpus 16 --platform gb200 --framework bridge --pin moe_token_dispatcher_type=flex

# a plan says no size that its framework has no word for
suggest 0 "\"ep\":" qwen3-30b-a3b --gpus 8 --platform h100 --framework automodel --no-playbook --format json
lacks '"etp"'

# a pin keeps its value, and what goes with it follows
suggest 0 "x vpp 3" $large --pin vpp=3 --why
kept "overlap_grad_reduce: false" $small --pin overlap_grad_reduce=false
kept "optimizer_cpu_offload: true" $small --pin optimizer_cpu_offload=true
kept "tp: 8" $large --pin tp=8,etp=8
kept "pipeline_model_parallel_layout: Et*30|t*31mL" $large --pin 'pipeline_model_parallel_layout=Et*30|t*31mL'
kept "exp_avg_dtype: bf16" $small --pin exp_avg_dtype=bf16
suggest 0 "flex / deepep" $small --pin dispatcher=deepep
suggest 0 "dp 4, " $small --pin dp=4 --why
suggest 0 "recipe: mxfp8" deepseek-v3 --gpus 256 --platform gb200 --precision mxfp8 --format yaml
suggest 1 "AutoModel has no word for nvfp4" deepseek-v3 --gpus 256 --platform gb200 --framework automodel --precision nvfp4

# a pin that no plan can have is a mistake, not a plan
suggest 2 "tensor_model_parallel_size takes an integer, not x" $large --pin tp=x
suggest 2 "does not take 'foo'" $large --pin moe_token_dispatcher_type=foo
suggest 2 "must be at least 1" $large --pin gbs=-4
suggest 2 "virtual_pipeline_model_parallel_size is 0" $large --pin vpp=0
suggest 2 "has the parameter strategy" $large --pin strategy=ddp
suggest 2 "given with --gpus" $large --pin gpus=128
suggest 2 "cannot be pinned" $large --pin fits=true
suggest 1 "forbidden or pinned" $large --pin dp=3

# sizes that are no powers of two, and the ends of the range
kept "gpus: 48" qwen3-30b-a3b --gpus 48 --platform h100
kept "gpus: 1000" deepseek-v3 --gpus 1000 --platform h100
kept "gpus: 13" qwen3-30b-a3b --gpus 13 --platform h200
kept "gbs: 97" qwen3-30b-a3b --gpus 64 --platform h100 --gbs 97
suggest 0 "note: 12 GPUs do not fill nodes of 8" qwen3-30b-a3b --gpus 12 --platform h100
suggest 0 "--nproc-per-node 6" qwen3-30b-a3b --gpus 12 --platform h100 --framework megatron --format script
cp "$dir/out" "$dir/launch.sh"
expect 0 '"gpus":12' "$moeplan" validate "$dir/launch.sh" --platform h100 --format json
suggest 0 "gbs 100" qwen3-30b-a3b --gpus min --platform h100 --gbs 100
suggest 2 "must be at most 268,435,456" deepseek-v3 --gpus 256 --platform h100 --seq 9223372036854775807

# rows of the table that read the same are told apart
told_apart() { # ARGUMENTS…: a question whose table has two such rows
    run 0 "$moeplan" suggest "$@"
    twins=$(awk '/^ *[0-9]+  (megatron|automodel) / { n = $1; $1 = ""; sub(/  *[0-9.]+  *[0-9.]+  *[0-9,]+.*/, ""); if (seen[$0]++) print n }' "$dir/out")
    [ "$twins" ] || fail "no two rows of one layout, which this is to look at"
    for row in $twins; do
        grep -qE "^  layout $row is ([0-9]+ with [a-z]|[0-9]+ % faster: )" "$dir/out" || fail "row $row reads as one before it does"
    done
}
told_apart qwen3-30b-a3b --gpus 8 --platform h100
told_apart qwen3-235b-a22b --gpus 256 --platform h100

# where nothing fits each framework says what it lacks, and what would fit is said once
suggest 1 "what would fit" qwen3-235b-a22b --gpus 8 --platform h100
[ "$(grep -c 'what would fit' "$dir/out")" = 1 ] || fail "what would fit is said twice"
[ "$(grep -c 'H100 80GB' "$dir/out")" = 1 ] || fail "the question is shown twice"
has "--gpus 32: megatron tp"
has "--gpus 32: automodel tp"

# a batch that leaves GPUs to pipelines which a rule refuses wants another one
suggest 1 "--gbs " llama-4-scout --gpus 24 --platform b300 --framework automodel --gbs 256

suggest 1 '"notes":["Megatron-LM: no plan fits: the smallest needs ' qwen3-235b-a22b --gpus 8 --platform h100 --format json

# a batch below the number of GPUs has a plan as far as model parallelism goes, else the nearest that has one
suggest 0 "dp 2, " deepseek-v3 --gpus 4096 --platform h100 --framework megatron --gbs 20 --pin dp=2 --why
suggest 1 "no layout divides the model (61 layers, 128 heads), 1024 GPUs and a batch of 3" \
    deepseek-v3 --gpus 1024 --platform h100 --framework megatron --gbs 3 --pin tp=8,cp=1
has "--gbs 4: megatron tp 8"
# nor is it memory that is short where layers do not divide into the chunks that are pinned
suggest 1 "no layout divides the model (88 layers, 32 heads), 64 GPUs and a batch of 128, with 3 virtual stages a rank" \
    nemotron-3-super-120b-a12b --gpus 64 --platform b300 --framework bridge --task peft --precision fp8_blockwise --numerics strict --pin vpp=3
# the short names that everybody writes are names
suggest 0 "tp 2, pp" $small --pin tp=2,sp=true --why

# a public recipe that is near is named, unless it is not to be looked at
near="qwen3-30b-a3b --gpus 8 --platform gb300 --framework bridge --gbs 512"
suggest 0 "  qwen3_30b_a3b_pretrain_8gpu_gb300_bf16_config (NVIDIA-NeMo/Megatron-Bridge 067f987d, src/" $near --why
suggest 0 '"playbook":[{"framework":"bridge","text":"qwen3_30b_a3b_pretrain_8gpu_gb300_bf16_config (' $near --format json
suggest 0 "other layouts" $near --no-playbook --why
lacks "public recipe"
question='{"id":1,"model":"qwen3-30b-a3b","gpus":8,"platform":"gb300","options":{"framework":"bridge","gbs":512,"no_playbook":'
printf '%strue}}\n%sfalse}}\n%s1}}\n' "$question" "$question" "$question" >"$dir/questions"
"$moeplan" suggest --batch <"$dir/questions" >"$dir/out" || fail "the batch: exit $?"
[ "$(grep -c '"playbook":' "$dir/out")" = 1 ] || fail "not one of two answers names a recipe"
has "options.no_playbook must be true or false, not 1"

# as many plans as are asked for, no two alike
suggest 0 '"rank":50,' qwen3-30b-a3b --gpus 64 --platform h100 --framework megatron --top 50 --format json
[ "$(grep -o '"rank":[0-9]*' "$dir/out" | sort -u | wc -l)" = 50 ] || fail "not fifty plans"
[ "$(grep -o '"plan":{[^}]*}' "$dir/out" | sort -u | wc -l)" = 50 ] || fail "two of fifty plans are the same"

# the screen has them too
suggest 0 "layouts: " qwen3-30b-a3b --gpus 64 --platform h100 --framework megatron --top 50
grep -q '^50 ' "$dir/out" || fail "the table has no fiftieth layout"

# what another strategy of AutoModel alone takes is no pin of a plan that has fsdp2, and leaves the other frameworks
suggest 2 "pin strategy=megatron_fsdp too" qwen3-30b-a3b --gpus 8 --platform h100 --framework automodel --pin nccl_ub=true
suggest 0 "Megatron-LM tp1" qwen3-30b-a3b --gpus 8 --platform h100 --pin nccl_ub=true
suggest 0 "nccl_ub: true" qwen3-30b-a3b --gpus 8 --platform h100 --framework automodel --pin strategy=megatron_fsdp,nccl_ub=true --format yaml
suggest 0 "NeMo AutoModel" qwen3-30b-a3b --gpus 8 --platform h100 --framework automodel --pin overlap_grad_reduce=true

# the first screen: which of all frameworks wins, and why a faster one does not; the rest where it is asked for
both="qwen3-30b-a3b --gpus 8 --platform h100"
suggest 0 "why not" $both
[ "$(head -n 1 "$dir/out" | grep -c ': fits, ')" = 1 ] || fail "no verdict in the first line"
[ "$(grep -c '^ *[0-9]*  automodel ' "$dir/out")" -ge 1 ] || fail "automodel is not in the table"
lacks "good when"
suggest 0 "good when: " $both --verify
suggest 0 "measurement-contract" $both --full

# another layout is written, shown and saved as the table numbers it
suggest 2 "there are 10 layouts" $both --take 11
suggest 0 "layout 2: " $both --take 2
json=$("$moeplan" suggest $both --format json)
second=$(echo "$json" | sed 's/.*"rank":2,//; s/"rank":3,.*//' | number mbs)
suggest 0 "mbs: ${second:-none}" $both --take 2 --format plan --framework megatron
# the numbers of the table hold for every format: the second layout of both, not of one framework
last=$("$moeplan" suggest $both | sed -n 's/^ *\([0-9]*\)  automodel .*/\1/p' | head -n 1)
suggest 2 "layout $last is NeMo AutoModel's; its --format is yaml" $both --take "$last" --format flags
suggest 0 "ep_size" $both --take "$last" --format yaml
suggest 0 "wrote" $both --save-dir "$dir/saved" --take 2
for file in plan.yaml launch.sh reasons.txt answer.json layouts.csv; do
    [ -s "$dir/saved/$file" ] || fail "--save-dir has no $file"
done
run 0 "$moeplan" validate "$dir/saved/plan.yaml" "$dir/saved/launch.sh"
printf '# moeplan: format=none\nverify\n  torchrun x.py --num-layers 4 --hidden-sizes 8 model.pipeline=1\n' >"$dir/prose.txt"
expect 2 "1 no recipe" "$moeplan" validate "$dir/prose.txt"
head -n 1 "$dir/saved/reasons.txt" | grep -q "format=none" || fail "reasons.txt may be read as a recipe"
[ "$(wc -l <"$dir/saved/layouts.csv")" = 11 ] || fail "not a line a layout"
cp "$dir/saved/reasons.txt" "$dir/out"
has "measurement-contract"
! grep -q "$(printf '[\001-\010]')" "$dir/out" || fail "marks in reasons.txt"
: >"$dir/none"
suggest 2 "cannot be made" $both --save-dir "$dir/none/deeper"

# a folder with a config.json needs no name
mkdir "$dir/hf"
cat >"$dir/hf/config.json" <<EOF
{"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 2048, "intermediate_size": 6144,
 "moe_intermediate_size": 768, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "num_hidden_layers": 48,
 "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936, "tie_word_embeddings": false, "hidden_act": "silu"}
EOF
(cd "$dir/hf" && "$moeplan" suggest --gpus 8 --platform h100 --format json) | grep -q '"plans":' || fail "config.json of the folder is not read"

# a plan keeps the class, without which AutoModel would be taken to shard its experts
sed 's/Qwen3MoeForCausalLM/OtherForCausalLM/' "$dir/hf/config.json" >"$dir/other.json"
suggest 0 "wrote" "$dir/other.json" --gpus 8 --platform b200 --framework automodel --task peft --save-dir "$dir/other"
told=$(sed 's/"memory"/\n&/' "$dir/other/answer.json" | sed -n 's/^"memory":{"peak_gib":\([0-9.]*\).*/\1/p' | head -n 1)
read=$("$moeplan" estimate "$dir/other/plan.yaml" --format json | sed 's/"memory"/\n&/' | sed -n 's/^"memory":{"peak_gib":\([0-9.]*\).*/\1/p' | head -n 1)
[ -n "$told" ] && [ "$told" = "$read" ] || fail "the plan of a class of its own is read as $read GiB instead of $told"

# attention with windows or sinks has no ring exchange: a plan says another one, or none is made
suggest 0 "cp-comm-type all_gather" mimo-v2-flash --gpus 16 --platform gb200 --framework megatron --seq 8192 --gbs 32 --pin tp=4,cp=4 --format flags
suggest 0 "cp-comm-type a2a" gpt-oss-20b --gpus 8 --platform h100 --framework megatron --seq 8192 --gbs 32 --pin tp=1,cp=8 --format flags
suggest 1 "sinks-with-context-parallelism" gpt-oss-20b --gpus 8 --platform h100 --framework megatron --seq 8192 --gbs 32 --pin tp=4,cp=2,cp_comm_type=p2p
# where heads cannot be dealt out to one TP they may be to another
suggest 0 "cp4" gpt-oss-120b --gpus 64 --platform h100 --framework megatron --seq 131072 --gbs 64 --pin pp=2,cp=4

# groups of six are served by no library of the exchange, and lie across nodes of eight
sed -i 's/"num_experts": 128/"num_experts": 96/' "$dir/hf/config.json"
suggest 0 "moe-token-dispatcher-type alltoall" "$dir/hf" --gpus 96 --platform h200 --framework megatron --pin ep=6 --pin etp=1 --format flags
suggest 1 "  [deepep-serves-group]" "$dir/hf" --gpus 96 --platform h200 --framework megatron --pin ep=6 --pin etp=1 --pin moe_flex_dispatcher_backend=deepep \
    --pin moe_token_dispatcher_type=flex

# what Transformer Engine cannot quantise is said at once, whatever the layout
sed -i 's/"moe_intermediate_size": 768/"moe_intermediate_size": 776/' "$dir/hf/config.json"
suggest 1 "quantised-widths" "$dir/hf" --gpus 64 --platform gb200 --framework megatron --precision mxfp8
suggest 0 "fits" "$dir/hf" --gpus 64 --platform gb200 --framework megatron --precision bf16

# what a pin says holds in the framework's words: Bridge's number format overwrites single keys, and a pattern says its own
# stages and depths
suggest 0 "first_last_layers_bf16:true,num_layers_at_start_in_bf16:1" qwen3-30b-a3b --gpus 8 --platform h100 --framework bridge \
    --precision fp8_blockwise --pin first_last_layers_bf16=true --format bridge
hybrid="nemotron-3.5-lightning --gpus 64 --platform h100 --framework megatron"
suggest 0 "hybrid-layer-pattern" $hybrid --pin vpp=1,ep=8 --format flags
lacks "virtual-stages"
suggest 0 "EMEMEMEME'" $hybrid --pin mtp_num_layers=0,ep=8 --format flags
sed "s|EMEMEMEME'|EMEMEMEME/*E'|" "$dir/out" >"$dir/depth.txt"
expect 0 "MTP 1.34 B" "$moeplan" estimate "$dir/depth.txt" --gpus 64 --platform h100

# AutoModel's tensor-parallel ranks repeat the work of experts, on whole sequences and with whole logits: pinned, they lead
# nothing and are no way round memory; and a class without a plan is refused by its model's name
seconds() { # ARGUMENTS…: of the first plan
    "$moeplan" suggest granite-3.0-3b-a800m --gpus 64 --platform h100 --framework automodel --seq 4096 --no-playbook "$@" | sed -n 's/^step \([0-9.]*\) s.*/\1/p'
}
alone=$(seconds) pinned=$(seconds --pin tp=2)
awk "BEGIN { exit !($pinned > 1.3 * $alone) }" || fail "two tensor-parallel ranks share experts: $pinned s after $alone s"
suggest 0 "tp_size: 2" granite-3.0-3b-a800m --gpus 64 --platform h100 --framework automodel --pin tp=2 --format yaml
lacks "sequence_parallel: true"
suggest 1 "tensor-parallel-plan" step-3.7-flash --gpus 64 --platform h100 --framework automodel --pin tp=2
