#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# estimate: plans and recipes, what is missing, batches, and the same answer every time.
. "$(dirname "$0")/../helpers.sh"

plan256 >"$dir/plan.yaml"
expect 0 "tp 2, pp 8 x vpp 4, cp 1, ep 32, etp 1; dp 16, expert dp 1" "$moeplan" estimate "$dir/plan.yaml"
expect 0 "evidence: interpolated" "$moeplan" estimate "$dir/plan.yaml"
expect 0 "memory, every term" "$moeplan" estimate "$dir/plan.yaml" --explain
"$moeplan" estimate "$dir/plan.yaml" --format json >"$dir/one"
"$moeplan" estimate "$dir/plan.yaml" --format json >"$dir/two"
cmp "$dir/one" "$dir/two" || fail "two runs differ"
for member in peak_low_gib capacity_gib '"phase"' tokens_per_s_per_gpu ep_exposed_s '"class"' bubble_fraction; do
    grep -q "$member" "$dir/one" || fail "no $member in the JSON"
done

# a file with two configurations is one document of JSON: the first, and in it the other
cat >"$dir/two.yaml" <<EOF
recipe: TrainFinetuneRecipeForNextTokenPrediction
model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained, pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B}
step_scheduler: {global_batch_size: 64, local_batch_size: 1}
packed_sequence: {packed_sequence_size: 4096}
distributed: {strategy: fsdp2, dp_size: 64, ep_size: 8}
ci: {nodes: 2, nightly: {distributed.dp_size: 16}}
EOF
run 0 "$moeplan" estimate "$dir/two.yaml" --platform h100 --format json
[ "$(wc -l <"$dir/out")" = 1 ] || fail "more than one document"
grep -q '^{.*"gpus":64,.*"other_configurations":\[{"configuration":"the ci: configuration.*"gpus":16,.*}\]}$' "$dir/out" || fail "no second configuration"

grep -v "^gpus:\|^seq:" "$dir/plan.yaml" >"$dir/partial.yaml"
expect 2 "world_size is not given" "$moeplan" estimate "$dir/partial.yaml"
expect 2 "seq_length is not given" "$moeplan" estimate "$dir/partial.yaml"
expect 0 "tokens/s/GPU" "$moeplan" estimate "$dir/partial.yaml" --gpus 256 --set seq_length=4096
expect 2 "nothing is called seq_lenght" "$moeplan" estimate "$dir/plan.yaml" --set seq_lenght=4096
grep -v "^platform" "$dir/plan.yaml" >"$dir/nowhere.yaml"
expect 2 "the platform is not given" "$moeplan" estimate "$dir/nowhere.yaml"
expect 0 "b200  256 GPUs" "$moeplan" estimate "$dir/nowhere.yaml" --platform b200
echo "just some words" >"$dir/words.txt"
expect 2 "no recipe" "$moeplan" estimate "$dir/words.txt"
expect 2 "cannot be read" "$moeplan" estimate "$dir/absent"
sed 's/^pp: .*/pp: 64/; s/^vpp: .*/vpp: 2/; s/^tp: .*/tp: 1/' "$dir/plan.yaml" >"$dir/deep.yaml"
expect 2 "94 layers cannot be put on 64 stages of 2 chunks" "$moeplan" estimate "$dir/deep.yaml"
sed 's/^gpus: .*/gpus: 16/; s/^pp: .*/pp: 1/; s/^vpp: .*//; s/^ep: .*/ep: 8/' "$dir/plan.yaml" >"$dir/big.yaml"
expect 1 "does not fit" "$moeplan" estimate "$dir/big.yaml"
lacks "refused"

# what the framework or the chip would refuse: the first error, how many more, and the figures all the same
sed 's/^gbs: .*/gbs: 2001/' "$dir/plan.yaml" >"$dir/odd.yaml"
expect 1 "refused: global batch size 2001 is not a multiple of micro batch 1 x dp 16 = 16 [batch-divides-into-microbatches]" "$moeplan" estimate "$dir/odd.yaml"
has "to see what to mend: moeplan validate $dir/odd.yaml"
has "tokens/s/GPU"
lacks "more error"
"$moeplan" estimate "$dir/odd.yaml" --format json >"$dir/out" || [ $? = 1 ] || fail "no answer"
has '"refused":{"errors":1,"rule":"batch-divides-into-microbatches","message":"global batch size 2001'
has '"memory":{'
grep -q '"refused":null}$' "$dir/one" || fail "a plan that runs is not said to be"
expect 1 "[microscaling-needs-blackwell] and 1 more error" "$moeplan" estimate "$dir/odd.yaml" --set precision=mxfp8
has "moeplan validate $dir/odd.yaml --set precision=mxfp8"
expect 0 "mxfp8" "$moeplan" estimate "$dir/plan.yaml" --set precision=mxfp8 --platform b200
# a comment that silences the finding for validate does so here, and a word that nothing knows is an error of the reader's
sed 's/^gbs: .*/& # moeplan: ignore[batch-divides-into-microbatches] on purpose/' "$dir/odd.yaml" >"$dir/meant.yaml"
run 0 "$moeplan" validate "$dir/meant.yaml"
run 0 "$moeplan" estimate "$dir/meant.yaml"
lacks "refused"
echo "tpp: 4" | cat "$dir/plan.yaml" - >"$dir/typo.yaml"
expect 1 "refused: no parameter is called tpp [unknown-key]" "$moeplan" estimate "$dir/typo.yaml"
# suggest's own plan is not refused, and one number changed in it is found
"$moeplan" suggest qwen3-30b-a3b --gpus 64 --platform h100 --framework megatron --gbs 1024 --format plan >"$dir/own.yaml"
run 0 "$moeplan" estimate "$dir/own.yaml"
sed -i 's/1024/1001/' "$dir/own.yaml"
expect 1 "refused: global batch size 1001" "$moeplan" estimate "$dir/own.yaml"
expect 1 "global batch size 1001" "$moeplan" validate "$dir/own.yaml"

cat >"$dir/flags.txt" <<'FLAGS'
--num-layers 4 --hidden-size 512 --num-attention-heads 8 --seq-length 1024 --max-position-embeddings 1024
--micro-batch-size 1 --global-batch-size 8 --bf16 --lr 1e-4 --tokenizer-type GPT2BPETokenizer
FLAGS
expect 1 "[training-length-required]" "$moeplan" estimate "$dir/flags.txt" --gpus 8 --platform a100
has "tokens/s/GPU"
echo "--train-iters 10 --lr 0.001" >>"$dir/flags.txt"
expect 0 "tokens/s/GPU" "$moeplan" estimate "$dir/flags.txt" --gpus 8 --platform a100

printf '%s\n' '{"id":1,"plan":{"moeplan":1,"model":"qwen3-30b-a3b","platform":"h100","gpus":16,"ep":16,"seq":4096,"mbs":1,"gbs":64}}' \
    'no request' '{"id":"b","plan":{"moeplan":1,"model":"qwen3-30b-a3b"}}' '{"id":3}' \
    '{"id":4,"text":"--num-layers 4","as":"megatron","gpus":8,"platform":"h200000"}' >"$dir/requests"
"$moeplan" estimate --batch <"$dir/requests" >"$dir/answers" || fail "the batch failed"
[ "$(wc -l <"$dir/answers")" = 5 ] || fail "not one answer a request"
sed -n 1p "$dir/answers" | grep -q '^{"id":1,"plan":{.*"memory":{' || fail "the first request has no estimate"
sed -n 2p "$dir/answers" | grep -q '^{"id":null,"error":' || fail "a line that is no request"
sed -n 3p "$dir/answers" | grep -q '"id":"b","error":.*"diagnostics":\[' || fail "what is missing is not said"
sed -n 4p "$dir/answers" | grep -q '"id":3,"error":' || fail "an empty request"
sed -n 5p "$dir/answers" | grep -q 'unknown-platform\|no platform' || fail "an unknown platform"

# what would make it fit breaks no rule that the plan keeps: AutoModel's MoE classes have no tensor parallelism
cat >"$dir/plan.yaml" <<'YAML'
moeplan: 1
framework: automodel
model: qwen3-30b-a3b
platform: h100
gpus: 8
seq: 4096
mbs: 4
gbs: 256
ep: 8
strategy: fsdp2
YAML
expect 0 "does not fit unless it has what it does not state: recomputation" "$moeplan" estimate "$dir/plan.yaml"
echo "activation_checkpointing: false" >>"$dir/plan.yaml"
run 1 "$moeplan" estimate "$dir/plan.yaml"
has "what would make it fit"
has "micro_batch_size = 1"
lacks "tensor_model_parallel_size ="

# What a plan leaves open widens its interval: without a dispatcher it reaches to PyTorch's, which AutoModel takes where no package is.
cat >"$dir/open.yaml" <<'YAML'
moeplan: 1
framework: automodel
model: qwen3-30b-a3b
platform: h100
gpus: 8
seq: 4096
mbs: 4
gbs: 512
ep: 8
moe_router_force_load_balancing: true
activation_checkpointing: false
YAML
{ cat "$dir/open.yaml"; echo "backend_dispatcher: torch"; } >"$dir/torch.yaml"
{ cat "$dir/open.yaml"; echo "backend_dispatcher: deepep"; } >"$dir/deepep.yaml"
of() { "$moeplan" estimate "$dir/$1.yaml" --format json | number "$2"; }
awk "BEGIN { exit !($(of open step_s) == $(of deepep step_s) && $(of open step_high_s) > 0.98 * $(of torch step_high_s) &&
                    $(of open step_high_s) > 1.1 * $(of deepep step_high_s)) }" || fail "an open dispatcher does not widen the interval"

# Where the whole iteration is captured nearly all recipes overlap the exchange: a plan that does not say so reaches to what that takes.
# And of experts on Blackwell none says by its silence that it has no graphs, in Megatron-LM neither.
cat >"$dir/whole.yaml" <<'YAML'
moeplan: 1
framework: megatron
model: qwen3-30b-a3b
platform: gb200
gpus: 8
seq: 4096
mbs: 4
gbs: 512
ep: 8
precision: mxfp8
moe_token_dispatcher_type: flex
moe_flex_dispatcher_backend: hybridep
moe_router_force_load_balancing: true
tp_comm_overlap: false
fp8_dot_product_attention: false
YAML
{ cat "$dir/whole.yaml"; echo "cuda_graph_impl: full_iteration"; } >"$dir/silent.yaml"
{ cat "$dir/silent.yaml"; echo "overlap_moe_expert_parallel_comm: true"; } >"$dir/overlapped.yaml"
awk "BEGIN { exit !($(of silent step_low_s) < 1.02 * $(of overlapped step_low_s)) }" || fail "a silent overlap does not widen the interval"
{ cat "$dir/whole.yaml"; echo "overlap_moe_expert_parallel_comm: false"; } >"$dir/uncaptured.yaml"
{ cat "$dir/uncaptured.yaml"; echo "cuda_graph_impl: transformer_engine"; echo "cuda_graph_scope: [attn, moe_router, moe_preprocess]"; } >"$dir/captured.yaml"
awk "BEGIN { exit !($(of uncaptured step_low_s) < 1.02 * $(of captured step_low_s)) }" || fail "silent graphs do not widen the interval"

# A plan that does not speak of the optimizer's states shards them, as all that it assumes goes with.
printf 'moeplan: 1\nframework: megatron\nmodel: qwen3-30b-a3b\nplatform: h100\ngpus: 64\nseq: 4096\nep: 8\ngbs: 512\n' >"$dir/states.yaml"
{ cat "$dir/states.yaml"; echo "use_distributed_optimizer: true"; } >"$dir/shards.yaml"
{ cat "$dir/states.yaml"; echo "use_distributed_optimizer: false"; } >"$dir/whole.yaml"
awk "BEGIN { exit !($(of states peak_gib) == $(of shards peak_gib) && $(of states peak_gib) < 0.8 * $(of whole peak_gib)) }" ||
    fail "silence on the optimizer's states is not the usual"

# The plan that an estimate prints is the one that it is about: what a plan file means by silence is said in it, where the source has
# another default.
again() { # FILE OPTION…: the step of a file, and of its plan
    "$moeplan" estimate "$@" --format json >"$dir/source.json" || [ $? = 1 ] || fail "no estimate of $1"
    python3 -c 'import json, sys; json.dump(json.load(sys.stdin)["plan"], sys.stdout)' <"$dir/source.json" >"$dir/again.yaml"
    "$moeplan" estimate "$dir/again.yaml" --format json >"$dir/again.json" || [ $? = 1 ] || fail "no estimate of the plan of $1"
    [ "$(number step_s <"$dir/source.json")" = "$(number step_s <"$dir/again.json")" ] || fail "the plan of $1 is another one"
}
cat >"$dir/launch.sh" <<'SH'
torchrun --nnodes 8 --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --sequence-parallel \
    --pipeline-model-parallel-size 2 --expert-model-parallel-size 4 --num-experts 8 --moe-router-topk 2 --micro-batch-size 1 \
    --global-batch-size 256 --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \
    --group-query-attention --num-query-groups 8 --seq-length 4096 --max-position-embeddings 4096 --bf16 --swiglu \
    --untie-embeddings-and-output-weights --normalization RMSNorm --disable-bias-linear --position-embedding-type rope \
    --vocab-size 32000 --use-distributed-optimizer
SH
again "$dir/launch.sh" --platform h100
# gradients in fp32, which Bridge's silence is not timed with, in the words of Bridge and of a plan
for format in bridge plan; do
    "$moeplan" suggest qwen3-30b-a3b --gpus 64 --platform h100 --framework bridge --numerics strict --format $format >"$dir/strict" ||
        fail "no strict plan"
    again "$dir/strict" --gpus 64 --platform h100
done
grep -q "accumulate_allreduce_grads_in_fp32: true" "$dir/strict" || fail "a plan is silent on its gradients in fp32"
