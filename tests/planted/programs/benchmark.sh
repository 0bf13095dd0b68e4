#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
python3 scripts/performance/setup_experiment.py \
    --model_family_name qwen \
    --model_recipe_name qwen3_30b_a3b \
    --gpu h100 \
    --num_gpus 16 \
    --compute_dtype bf16 \
    --max_steps 50 \
    --offline
