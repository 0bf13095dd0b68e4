# SPDX-License-Identifier: Apache-2.0
NPROC_PER_NODE=8 \
megatron sft \
    --model Qwen/Qwen3-30B-A3B-Base \
    --dataset letters.jsonl \
    --external_plugins plugins/reward.py \
    --lora_rank 16 \
    --tensor_model_parallel_size 2 \
    --expert_model_parallel_size 4 \
    --sequence_parallel true \
    --recompute_granularity selective \
    --micro_batch_size 1 \
    --global_batch_size 32 \
    --lr 2e-5 \
    --max_length 4096
