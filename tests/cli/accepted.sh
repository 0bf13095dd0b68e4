#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What frameworks refuse of models and pins that nobody thought of is not proposed; and what is written is what was priced.
. "$(dirname "$0")/../helpers.sh"

config() { # KEY=VALUE…: a small Mixtral-like config.json with these fields
    printf '{"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 1024, "num_attention_heads": 16,
        "num_key_value_heads": 4, "head_dim": 64, "num_hidden_layers": 8, "num_experts": 16, "num_experts_per_tok": %s,
        "moe_intermediate_size": 512, "intermediate_size": 2048, "vocab_size": 32000%s}' "$1" "$2" >"$dir/config.json"
}

suggest() { # FRAMEWORK FORMAT MODEL OPTION…
    framework=$1 format=$2 model=$3
    shift 3
    run 0 "$moeplan" suggest "$model" --framework "$framework" --platform h100 --format "$format" "$@"
}

# one expert is chosen after the softmax
config 1 ""
suggest megatron flags "$dir/config.json" --gpus 8
has "--moe-router-pre-softmax"
suggest bridge bridge "$dir/config.json" --gpus 8
has "model.moe_router_pre_softmax=true"
config 2 ""
suggest megatron flags "$dir/config.json" --gpus 8
lacks "softmax"

# a plain provider's fields are written, others said in a comment: rope_type is one of latent attention
config 2 ', "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}'
suggest bridge bridge "$dir/config.json" --gpus 8
! grep -q "^model.\(rope_type\|mscale\)" "$dir/out" || fail "a field that GPTModelProvider lacks"

# one word for all layers is no list
suggest bridge bridge qwen3-30b-a3b --gpus 64 --pin cp=2,cp_comm_type=a2a
has "model.cp_comm_type=a2a"
suggest megatron flags qwen3-30b-a3b --gpus 64 --pin cp=2,cp_comm_type=a2a
has "--cp-comm-type a2a"
printf 'model.context_parallel_size=2\nmodel.cp_comm_type=[a2a]\n' >"$dir/list.bridge"
expect 1 "[bridge-one-exchange-is-a-word]" "$moeplan" validate --framework bridge "$dir/list.bridge"

# attention of another kind is only built where its name stands, and sparse attention knows one exchange
suggest megatron flags qwen3-next-80b-a3b --gpus 64
has "--experimental-attention-variant gated_delta_net"
lacks "mtp-num-layers"
suggest megatron flags qwen3-30b-a3b --gpus 64
lacks "experimental-attention"
# since 0.19 Megatron-LM builds no MTP layers beside it, and stops at 0 of them too
suggest megatron flags deepseek-v3.2 --gpus 512
lacks "--mtp-num-layers"
has "[attention-variant-without-mtp]"
suggest megatron flags deepseek-v3.2 --gpus 512 --pin mtp_num_layers=0
lacks "mtp"
suggest megatron flags deepseek-v3.2 --gpus 512 --framework-version 0.18
has "--mtp-num-layers 1"
suggest bridge bridge deepseek-v3.2 --gpus 512
has "model.mtp_num_layers=1"
# grouped GEMM was bf16's until 0.15
suggest megatron flags ling-lite --gpus 64 --task sft --precision fp16 --gbs 64 --framework-version 0.15
lacks "moe-grouped-gemm"
suggest megatron flags ling-lite --gpus 64 --task sft --precision fp16 --gbs 64 --framework-version 0.16
has "--moe-grouped-gemm"
suggest bridge bridge qwen3.5-35b-a3b --gpus 256 --seq 8192 --gbs 64 --pin cp=2
has "ddp.average_in_collective=false"
expect 1 "[bridge-ep-needs-experts]" "$moeplan" suggest qwen2.5-72b --gpus 256 --platform h100 --framework bridge --task sft --pin ep=16
suggest megatron flags deepseek-v3.2 --gpus 512 --seq 131072 --gbs 512 --pin cp=8
has "--experimental-attention-variant dsa"
has "--no-rope-fusion"
has "--cp-comm-type all_gather"
cp "$dir/out" "$dir/picked.flags"
expect 0 "0 errors" "$moeplan" validate "$dir/picked.flags"
suggest bridge bridge deepseek-v3.2 --gpus 512 --seq 131072 --gbs 512 --pin cp=8
has "model.experimental_attention_variant=dsa"
has "model.apply_rope_fusion=false"
has "model.cp_comm_type=all_gather"
expect 1 "[dsa-gathers-for-cp]" "$moeplan" suggest deepseek-v3.2 --gpus 512 --platform h100 --framework megatron --seq 131072 --gbs 512 --pin cp=8,cp_comm_type=a2a
# latent attention was a ring's before Transformer Engine 2.15
expect 1 "latent-attention-ring-te" "$moeplan" suggest deepseek-v3 --gpus 256 --platform h100 --framework megatron --framework-version 0.17 --seq 32768 --gbs 256 \
    --pin cp=4,cp_comm_type=a2a
suggest megatron flags deepseek-v3 --gpus 256 --framework-version 0.18 --seq 32768 --gbs 256 --pin cp=4,cp_comm_type=a2a
has "--cp-comm-type a2a"

# keys are exchanged by what is fastest, in each framework's words: a ring between nodes of heads inside them, or heads alone
suggest megatron flags kimi-k2 --gpus 512 --seq 131072 --no-playbook
has "--cp-comm-type a2a+p2p"
has "--hierarchical-context-parallel-sizes 8 2"
suggest bridge bridge glm-4.5 --gpus 128 --seq 131072 --no-playbook --pin cp=16,tp=1,cp_comm_type=a2a+p2p
has "model.cp_comm_type=a2a+p2p"
has "model.hierarchical_context_parallel_sizes=[8,2]"

# nor is one taken that Transformer Engine refuses: levels know no packed sequences before 2.19
suggest bridge bridge deepseek-v2 --gpus 128 --seq 65536 --gbs 128 --task sft --framework-version 0.4 --no-playbook --pin cp=4
lacks "a2a+p2p"
expect 1 "[levels-of-packs-te]" "$moeplan" suggest deepseek-v2 --gpus 128 --platform h100 --framework bridge --task sft --framework-version 0.4 --seq 65536 \
    --gbs 128 --pin cp=4,cp_comm_type=a2a+p2p

# virtual stages have stages
suggest bridge bridge qwen3-30b-a3b --gpus 64 --pin vpp=2
lacks "model.pipeline_model_parallel_size=1"
# without the distributed optimizer, none that is precision-aware
suggest bridge bridge qwen3-30b-a3b --gpus 64 --goal memory --pin use_distributed_optimizer=false
has "optimizer.use_precision_aware_optimizer=false"
# what a run with local graphs of whole layers keeps is not offloaded
suggest megatron flags glm-4.5 --gpus 64 --seq 32768 --pin cuda_graph_impl=local
lacks "--fine-grained-activation-offloading"

# a name that two packages of Bridge have is what the runner takes, and plans stand on the library's
suggest bridge bridge gpt-oss-120b --gpus 64
has "moeplan: recipe=gpt_oss_120b_pretrain_config"
printf '# moeplan: recipe=gpt_oss_120b_pretrain_64gpu_h100_bf16_config\ntrain.train_iters=10\n' >"$dir/benchmark.bridge"
expect 0 "recompute_granularity: selective" "$moeplan" convert "$dir/benchmark.bridge" --to plan --model gpt-oss-120b --gpus 64 --platform h100
# adapters are those of the recipe
suggest bridge bridge qwen3-235b-a22b --gpus 64 --task peft
lacks "peft_dim 32"

# a layer of pairs is two in Megatron-core
printf '{"model_type": "jamba", "hidden_size": 1024, "num_attention_heads": 16, "num_key_value_heads": 4, "num_hidden_layers": 8,
    "attn_layer_period": 4, "attn_layer_offset": 2, "expert_layer_period": 2, "expert_layer_offset": 1, "num_experts": 8,
    "num_experts_per_tok": 2, "intermediate_size": 2048, "vocab_size": 32000, "mamba_d_state": 16, "mamba_d_conv": 4,
    "mamba_expand": 2, "hidden_act": "silu", "rms_norm_eps": 1e-6}' >"$dir/config.json"
suggest bridge bridge "$dir/config.json" --gpus 8
has "model.num_layers=16"

# the microbatch that is asked for is the one of the pipeline's schedule
for asked in "--mbs 1" "--pin mbs=1" "--pin pp_microbatch_size=1"; do
    # shellcheck disable=SC2086
    suggest automodel yaml qwen3-235b-a22b --gpus 64 --pin pp=4 $asked
    has "pp_microbatch_size: 1"
    grep "^# estimated" "$dir/out" | sed 's/.*peak \([0-9.]*\) GiB.*/\1/' >"$dir/priced"
    cp "$dir/out" "$dir/plan.yaml"
    run 0 "$moeplan" estimate "$dir/plan.yaml" --model qwen3-235b-a22b --gpus 64 --platform h100 --format json
    awk -v a="$(cat "$dir/priced")" -v b="$(number peak_gib <"$dir/out")" 'BEGIN { exit !(a - b < 0.1 && b - a < 0.1) }' ||
        fail "$asked: priced otherwise than written"
done

# what older releases call a key, pack, and do not combine
suggest bridge bridge qwen3-vl-30b-a3b --gpus 64 --framework-version 0.5
has "dataset.sequence_length=4096"
lacks "dataset.seq_length="
suggest bridge bridge qwen3-30b-a3b --gpus 64 --task sft --framework-version 0.4
has "train.micro_batch_size=1"
has "dataset.packed_sequence_specs.packed_sequence_size=4096"
suggest megatron flags moonlight-16b-a3b --gpus 64 --framework-version 0.16 --pin deterministic_mode=true
lacks "--cross-entropy-loss-fusion"
suggest megatron flags qwen3-30b-a3b --gpus 64 --framework-version 0.16 --pin cuda_graph_impl=local,ep=8
has "--moe-pad-experts-for-cuda-graph-inference"
printf '# moeplan: recipe=qwen3_30b_a3b_sft_config\ntrain.micro_batch_size=2\n' >"$dir/packs.bridge"
expect 1 "[bridge-packs-are-one-row]" "$moeplan" validate --framework bridge --framework-version 0.4 "$dir/packs.bridge"

# local graphs of whole layers are generation's in Bridge
printf 'model.cuda_graph_impl=local\nmodel.cuda_graph_modules=[]\n' >"$dir/local.bridge"
expect 1 "[bridge-local-graphs-of-layers]" "$moeplan" validate --framework bridge "$dir/local.bridge"

# a conversion of no model says what it lacks
printf -- '--num-layers 4\n--hidden-size 64\n--num-attention-heads 4\n' >"$dir/sizes.txt"
expect 0 "the model: automodel makes it of its name on Hugging Face" "$moeplan" convert "$dir/sizes.txt" --as megatron --to automodel --gpus 8 --platform h100

# adapters of a recipe of Bridge's are a section with its class in AutoModel's words, which refuses one without
printf '# moeplan: recipe=qwen3_30b_a3b_peft_4gpu_h100_bf16_config\ntrain.global_batch_size=64\n' >"$dir/adapters.bridge"
expect 0 "_target_: nemo_automodel.components._peft.lora.PeftConfig" "$moeplan" convert "$dir/adapters.bridge" --to automodel --gpus 8 --platform h100
printf 'recipe: TrainFinetuneRecipeForNextTokenPrediction\nmodel:\n  pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B\npeft:\n  dim: 8\n' >"$dir/peft.yaml"
expect 1 "error[adapters-name-their-class]" "$moeplan" validate "$dir/peft.yaml"

# a class that came with a later release spreads no experts in the one before, and a key that came later is refused there
printf 'recipe: TrainFinetuneRecipeForNextTokenPrediction\nmodel:\n  pretrained_model_name_or_path: deepseek-ai/DeepSeek-V4-Flash\ndistributed:\n  strategy: fsdp2\n  ep_size: 8\n' >"$dir/late.yaml"
expect 1 "error[expert-parallel-class]" "$moeplan" validate "$dir/late.yaml" --framework-version 0.4
run 0 "$moeplan" validate "$dir/late.yaml" --framework-version 0.5
sed 's/deepseek-ai.*/Qwen\/Qwen3.8-2.4T-A95B/; s/ep_size/tp_size/' "$dir/late.yaml" >"$dir/split.yaml"
expect 1 "error[tensor-parallel-plan]" "$moeplan" validate "$dir/split.yaml"
sed 's/  ep_size: 8/  patch_is_packed_sequence: true/' "$dir/late.yaml" >"$dir/key.yaml"
expect 1 "AutoModel 0.3 has no patch_is_packed_sequence in distributed" "$moeplan" validate "$dir/key.yaml" --framework-version 0.3
run 0 "$moeplan" validate "$dir/key.yaml" --framework-version 0.4

# a model that a release of Bridge's has no provider for stands on a plain one
expect 0 "as Megatron-Bridge has none for it" "$moeplan" suggest glm-4.7-flash --gpus 16 --platform h200 --framework bridge --framework-version 0.4 --format bridge
expect 0 "AutoBridge.from_hf_pretrained" "$moeplan" suggest glm-4.7-flash --gpus 16 --platform h200 --framework bridge --framework-version 0.5 --format bridge

# one of two keys is enough for Megatron-FSDP, whichever the other one says
printf '# moeplan: recipe=qwen3_30b_a3b_pretrain_8gpu_h100_bf16_config\nddp.use_megatron_fsdp=true\ndist.use_megatron_fsdp=false\ncheckpoint.save=/x\n' >"$dir/either.bridge"
expect 0 "true" "$moeplan" eval 'plan.use_megatron_fsdp' --in "$dir/either.bridge"

# the model of a plan given again is the one that it changes; a dense model has no router to speak of
run 0 "$moeplan" suggest glm-4.5 --gpus 64 --framework megatron --platform h200 --pin mtp_num_layers=0 --format plan
cp "$dir/out" "$dir/bare.yaml"
run 0 "$moeplan" estimate "$dir/bare.yaml" --model glm-4.5
lacks "MTP"
run 0 "$moeplan" suggest llama-3.1-8b --gpus 8 --framework megatron --platform h100 --format plan
lacks "moe_router"

# a recipe in its own words again gains no section, loses none, and is told by its head whatever the file is called
suggest automodel yaml qwen3-30b-a3b --gpus 32
cp "$dir/out" "$dir/own.yaml"
run 0 "$moeplan" convert "$dir/own.yaml" --to automodel --gpus 32 -o "$dir/own.out"
! grep -q "peft\|no way to write" "$dir/own.out" || fail "adapters that nobody trains, or a section as a loss"
expect 0 "1 AutoModel recipe" "$moeplan" validate "$dir/own.out" --gpus 32
# no name and an empty one are the same default
printf -- '--num-layers 4 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 1 --lr 1e-4\n' >"$dir/upgrade.flags"
run 0 "$moeplan" validate "$dir/upgrade.flags" --framework-version 0.19 --from 0.14 --fail-on error
has "default-changed"
lacks "wandb_project"
