#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer \
    data.train_batch_size=512 \
    actor_rollout_ref.model.path=Qwen/Qwen3-30B-A3B \
    actor_rollout_ref.actor.ppo_mini_batch_size=128 \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \
    actor_rollout_ref.actor.megatron.expert_model_parallel_size=8 \
    actor_rollout_ref.rollout.gpu_memory_utilization=0.7 \
    trainer.n_gpus_per_node=8 \
    trainer.nnodes=2
