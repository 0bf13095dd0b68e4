#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Overrides of a Megatron-Bridge recipe: what it refuses, undoes or is left half done is found on the recipe that their head names.
. "$(dirname "$0")/../helpers.sh"

pretrain=qwen3_30b_a3b_pretrain_8gpu_h100_bf16_config
sft=qwen3_30b_a3b_sft_8gpu_h100_bf16_config
sections=nemotron_3_nano_pretrain_8gpu_h100_bf16_config

finds() { # RULE RECIPE OVERRIDE…: the rule speaks, and of the same keys on no recipe it does not
    rule=$1 recipe=$2
    shift 2
    printf '%s\n' "$@" >"$dir/bare.bridge"
    (echo "# moeplan: recipe=$recipe" && cat "$dir/bare.bridge") >"$dir/file.bridge"
    "$moeplan" validate "$dir/file.bridge" >"$dir/out" 2>&1 || true
    has "[$rule]"
    "$moeplan" validate --framework bridge "$dir/bare.bridge" >"$dir/out" 2>&1 || true
    lacks "[$rule]"
}

finds bridge-no-position-limit $pretrain model.max_position_embeddings=4096
finds bridge-adapters-are-code qwen3_30b_a3b_peft_4gpu_h100_bf16_config peft.dim=16
finds bridge-overlap-section-is-there $pretrain comm_overlap.tp_comm_overlap=false
finds bridge-overlap-section-decides $sections model.delay_wgrad_compute=false
finds bridge-number-format-decides $pretrain model.fp8=e4m3 model.fp8_recipe=mxfp8
finds bridge-recipe-sequence-length $sft model.seq_length=4096
finds bridge-sharded-checkpoint-format $pretrain ddp.use_megatron_fsdp=true
finds bridge-graphs-have-their-random-numbers $pretrain model.cuda_graph_impl=transformer_engine
finds bridge-virtual-stages-need-stages $pretrain model.pipeline_model_parallel_size=1 model.virtual_pipeline_model_parallel_size=2
finds bridge-offline-packing-micro-batch $sft train.micro_batch_size=2
# what the recipe leaves switched on
finds ep-overlap-without-full-recompute $pretrain model.overlap_moe_expert_parallel_comm=true

# a recipe that is overridden in all that it needs
printf '# moeplan: recipe=%s\nmodel.seq_length=4096\ndataset.seq_length=4096\ndataset.packed_sequence_size=4096\n' $sft >"$dir/whole.bridge"
"$moeplan" validate "$dir/whole.bridge" >"$dir/out" 2>&1 || true
lacks "bridge-recipe-sequence-length"

# a rule that calls them by Megatron-LM's flags says to Bridge's reader what Bridge calls them
says() { # HELP OVERRIDE…
    help=$1
    shift
    (echo "# moeplan: recipe=$pretrain" && printf '%s\n' "$@") >"$dir/file.bridge"
    "$moeplan" validate "$dir/file.bridge" --gpus 16 >"$dir/out" 2>&1 || true
    has "= help: $help"
}
says "write model.sequence_parallel=true" model.tensor_model_parallel_size=2 model.sequence_parallel=false
says "write model.cp_comm_type=a2a" model.context_parallel_size=2 model.cp_comm_type=p2p model.softmax_type=learnable
says "drop model.recompute_num_layers" model.recompute_granularity=selective model.recompute_num_layers=2
says "write model.recompute_method=uniform model.recompute_num_layers=1, or" model.recompute_granularity=full model.recompute_method=null
pretrain=qwen3_235b_a22b_pretrain_256gpu_h100_bf16_config
says "write model.virtual_pipeline_model_parallel_size=null" model.pipeline_model_parallel_size=1

# a help that asks for a fact that Bridge has no word for is worded without it
printf '%s\n' "# moeplan: recipe=$pretrain" optimizer.use_precision_aware_optimizer=true ddp.use_distributed_optimizer=false \
    optimizer.use_distributed_optimizer=false >"$dir/file.bridge"
expect 1 "[precision-aware-needs-sharding]" "$moeplan" validate "$dir/file.bridge"
has "help: write"
lacks "{"
