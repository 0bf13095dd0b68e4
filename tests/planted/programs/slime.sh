#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
ray job submit -- python3 train.py \
    --actor-num-nodes 2 \
    --actor-num-gpus-per-node 8 \
    --rollout-batch-size 32 \
    --n-samples-per-prompt 8 \
    --tensor-model-parallel-size 2 \
    --expert-model-parallel-size 8 \
    --recompute-granularity selective \
    --lr 1e-6
