#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
# Mixtral-8x7B on two nodes; sizes can be set from outside.
TP=${TP:-1}
PP=${PP:-2}
EP=${EP:-8}

MODEL_ARGS=(
    --num-layers 32 --hidden-size 4096 --num-attention-heads 32
    --group-query-attention --num-query-groups 8
    --ffn-hidden-size 14336 --swiglu --normalization RMSNorm --disable-bias-linear
    --position-embedding-type rope --untie-embeddings-and-output-weights
    --seq-length 4096 --max-position-embeddings 32768
)
MOE_ARGS=(
    --num-experts 8 --moe-router-topk 2 --moe-grouped-gemm
    --moe-token-dispatcher-type alltoall
    --expert-model-parallel-size "$EP"
)
torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py \
    "${MODEL_ARGS[@]}" "${MOE_ARGS[@]}" \
    --tensor-model-parallel-size "$TP" \
    --pipeline-model-parallel-size "$PP" \
    --micro-batch-size 1 --global-batch-size 256 --bf16 --use-distributed-optimizer \
    --tokenizer-type NullTokenizer --vocab-size 32000 --mock-data --train-iters 100 --lr 1e-4
