#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# DeepSeek-V3 on 256 H100, as a first attempt often looks: it is refused at start-up, and would waste what it got.
GPUS=${GPUS:-256}
TP=2
EP=48

torchrun --nnodes $((GPUS / 8)) --nproc_per_node 8 pretrain_gpt.py \
    --tensor-model-parallel-size $TP \
    --pipeline-model-parallel-size 8 \
    --expert-model-parallel-size $EP \
    --num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 \
    --multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 \
    --swiglu --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights \
    --num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --moe-layer-freq "([0]*3+[1]*58)" \
    --moe-shared-expert-intermediate-size 2048 \
    --moe-token-dispatcher-type alltoal \
    --recompute-granularity full --recompute-method uniform \
    --micro-batch-size 1 --global-batch-size 1000 \
    --seq-length 4096 --max-position-embeddings 4096 \
    --bf16 --use-distributed-optimzer \
    --tokenizer-type NullTokenizer --vocab-size 129280 --mock-data --train-iters 500 --lr 1e-4
