# SPDX-License-Identifier: Apache-2.0
"""The examples, and the mistakes that run.py plants in them."""

# the example's file below examples/, or programs/ here, and what validate is told beside it
EXAMPLES = {
    'script': ('recipes/megatron/launch.sh', []),
    'flags': ('recipes/megatron/qwen3_235b.args', ['--gpus', '256']),
    'bridge': ('recipes/bridge/overrides.txt', ['--model', 'qwen3-235b-a22b', '--gpus', '128']),
    'automodel': ('recipes/automodel/qwen3_30b_a3b_sft.yaml', ['--gpus', '8']),
    'automodel-full': ('qwen3-30b-a3b-8-h100/recipe.yaml', ['--gpus', '8']),
    'plan': ('qwen3-235b-256-h800/plan.yaml', []),
    'model': ('deepseek-v3-256-gb200/model.yaml', []),
    'platform': ('qwen3-vl-30b-32-gpus/platform.yaml', []),
    'swift': ('programs/swift.sh', []),
    'verl': ('programs/verl.sh', []),
    'nemo-rl': ('programs/nemo_rl.yaml', []),
    'primus': ('programs/primus.yaml', []),
    'slime': ('programs/slime.sh', []),
    'benchmark': ('programs/benchmark.sh', []),
}


class Plant:
    """`old` becomes `new`; the finding is wanted at the line of `at` (else of `new`) in the planted text. The help
    offers a word instead of `wrong`, or has the pattern `words`: then following it gives `mend(text)`, else the
    example as it was."""

    def __init__(self, example, kind, old, new, wrong='', words='', at=None, mend=None):
        self.example, self.kind, self.old, self.new = example, kind, old, new
        self.wrong, self.words, self.at, self.mend = wrong, words, at, mend
        self.mended = None

    def planted(self, clean):
        assert clean.count(self.old) == 1, (self.example, self.kind, self.old, clean.count(self.old))
        text = clean.replace(self.old, self.new)
        self.mended = self.mend(text) if self.mend else clean
        place = text.index(self.at) if self.at else clean.index(self.old)
        return text, text.count('\n', 0, place) + 1


P = Plant
EP_FLAG = '--expert-model-parallel-size "$EP"'
PLANTS = [
    # ---- sizes that do not go together ----
    P('script', 'experts do not divide', '--num-experts 8 ', '--num-experts 12 ', '"$EP"', at=EP_FLAG),
    P('script', 'wrong number of nodes', '--nnodes 2 ', '--nnodes 3 ', words='--nnodes 2'),
    P('script', 'wrong number of nodes', '#SBATCH --nodes=2', '#SBATCH --nodes=1', words='--nodes=2',
      at='torchrun'),
    P('script', 'layers do not divide', '--num-layers 32', '--num-layers 31', '"$PP"',
      at='--pipeline-model-parallel-size "$PP"'),
    P('script', 'batch does not divide', 'batch-size 256', 'batch-size 250', '250'),
    P('script', 'batch too small', 'batch-size 256', 'batch-size 4', '4'),
    P('script', 'more chosen than there are', 'router-topk 2', 'router-topk 9', '9'),
    P('script', 'heads do not divide', 'TP=${TP:-1}', 'TP=${TP:-3}', '"$TP"', at='--tensor-model-parallel-size "$TP"'),
    P('flags', 'experts do not divide', 'expert-model-parallel-size 32', 'expert-model-parallel-size 48', '48'),
    P('flags', 'batch does not divide', 'batch-size 2048', 'batch-size 2047', '2047'),
    P('flags', 'heads do not divide', 'tensor-model-parallel-size 4', 'tensor-model-parallel-size 3', '3'),
    P('flags', 'layers do not divide', 'pipeline-model-parallel-size 2', 'pipeline-model-parallel-size 4', '4'),
    P('bridge', 'experts do not divide', 'expert_model_parallel_size=8', 'expert_model_parallel_size=7', '7'),
    P('bridge', 'heads do not divide', 'model.tensor_model_parallel_size=2', 'model.tensor_model_parallel_size=3', '3'),
    P('automodel', 'experts do not divide', 'ep_size: 8', 'ep_size: 3', '3'),
    P('automodel', 'batch does not divide', 'batch_size: 256', 'batch_size: 250', '250'),
    P('plan', 'experts do not divide', 'ep: 8', 'ep: 7', '7'),
    P('plan', 'batch does not divide', 'gbs: 2048', 'gbs: 1001', '1001'),
    P('plan', 'wrong number of nodes', 'gpus: 256', 'gpus: 200', '200'),
    P('script', 'wrong number of nodes', '--nproc_per_node 8', '--nproc_per_node 4', words='.', at='torchrun'),
    P('flags', 'wrong number of experts', '--num-experts 128', '--num-experts 120', '32', at='--expert-model-parallel-size'),
    P('plan', 'layers do not divide', 'pp: 32', 'pp: 31', '31'),
    P('plan', 'layers do not divide', 'vpp: 3', 'vpp: 5', '5'),
    P('model', 'more chosen than there are', 'router_topk: 8', 'router_topk: 300', words='.'),
    P('automodel', 'more than there is', 'local_batch_size: 1', 'local_batch_size: 512', '256', at='global_batch_size'),
    P('automodel-full', 'experts do not divide', 'ep_size: 8', 'ep_size: 6', '6'),

    # ---- names ----
    P('script', 'misspelt flag', '--moe-grouped-gemm', '--moe-grouped-gem', '--moe-grouped-gem'),
    P('flags', 'misspelt flag', '--qk-layernorm', '--qk-layer-norm', '--qk-layer-norm'),
    P('bridge', 'misspelt key', 'model.sequence_parallel', 'model.sequence_paralel', 'model.sequence_paralel'),
    P('automodel', 'misspelt key', 'activation_checkpointing', 'activation_checkpoint', 'activation_checkpoint'),
    P('automodel-full', 'misspelt key', 'local_batch_size', 'local_bach_size', 'local_bach_size'),
    P('plan', 'misspelt key', 'recompute_granularity', 'recompute_granularty', 'recompute_granularty'),
    P('model', 'misspelt key', 'normalization', 'normalisation', 'normalisation'),
    P('platform', 'misspelt key', 'gpu_capacity_gib', 'gpu_capacity_gb', 'gpu_capacity_gb'),
    P('plan', 'misspelt model', 'qwen3-235b-a22b', 'qwen3-235b-a22', 'qwen3-235b-a22'),
    P('plan', 'misspelt platform', 'platform: h800', 'platform: h80', 'h80'),
    P('platform', 'misspelt platform', 'base: a100', 'base: a10', 'a10'),
    P('script', 'misspelt flag', '--bf16 ', '--bf6 ', '--bf6'),
    P('flags', 'misspelt flag', '--kv-channels', '--kv-chanels', '--kv-chanels'),
    P('bridge', 'misspelt key', 'train.micro_batch_size', 'train.mirco_batch_size', 'train.mirco_batch_size'),
    P('automodel', 'misspelt key', 'step_scheduler:', 'step_schedular:', 'step_schedular'),
    P('automodel', 'misspelt key', 'ep_size', 'ep_sise', 'ep_sise'),
    P('model', 'misspelt key', 'num_moe_experts', 'num_moe_expert', 'num_moe_expert'),
    P('automodel', 'misspelt recipe', 'TrainFinetuneRecipeForNextTokenPrediction',
      'TrainFinetuneRecipeForNextTokenPredicton', 'TrainFinetuneRecipeForNextTokenPredicton'),
    P('automodel', 'misspelt target', 'NeMoAutoModelForCausalLM', 'NemoAutoModelForCausalLM',
      'NemoAutoModelForCausalLM'),
    P('automodel-full', 'misspelt target', 'MaskedCrossEntropy', 'MaskedCrossEntropyLoss',
      'MaskedCrossEntropyLoss'),

    # ---- values ----
    P('script', 'misspelt value', 'dispatcher-type alltoall', 'dispatcher-type alltoal', 'alltoal'),
    P('flags', 'misspelt value', 'normalization RMSNorm', 'normalization RmsNorm', 'RmsNorm'),
    P('automodel', 'misspelt value', 'strategy: fsdp2', 'strategy: fdsp2', 'fdsp2'),
    P('automodel-full', 'misspelt value', 'dispatcher: deepep', 'dispatcher: deep_ep', 'deep_ep'),
    P('plan', 'misspelt value', 'granularity: selective', 'granularity: selectiv', 'selectiv'),
    P('plan', 'misspelt value', 'framework: megatron', 'framework: megatrn', 'megatrn'),
    P('model', 'misspelt value', 'function: sigmoid', 'function: sigmod', 'sigmod'),
    P('bridge', 'wrong type', 'sequence_parallel=true', 'sequence_parallel=yes', words='.'),
    P('script', 'wrong type', '--num-experts 8 ', '--num-experts eight ', words='.'),
    P('flags', 'wrong type', '--lr 1e-4', '--lr small', words='.'),
    P('automodel', 'wrong type', 'ep_size: 8', 'ep_size: eight', words='.'),
    P('plan', 'wrong type', 'mbs: 1', 'mbs: one', words='.'),
    P('model', 'wrong type', 'num_layers: 61', 'num_layers: many', words='.'),
    P('platform', 'wrong type', '37.2 ', 'much ', words='.'),
    P('flags', 'out of range', '--micro-batch-size 1', '--micro-batch-size 0', words='.'),
    P('plan', 'out of range', 'tp: 2', 'tp: -2', words='.'),
    P('automodel', 'out of range', 'tp_size: 1', 'tp_size: 0', words='.'),
    P('model', 'out of range', 'hidden_size: 7168', 'hidden_size: -7168', words='.'),
    P('flags', 'missing value', '--num-layers 94', '--num-layers', words='.'),
    P('script', 'missing value', '--train-iters 100', '--train-iters', words='.'),
    P('script', 'value for a switch', '--moe-grouped-gemm', '--moe-grouped-gemm true', ' true', words='leave out'),
    P('flags', 'value too many', '--lr 1e-4', '--lr 1e-4 1e-5', words='.'),

    # ---- what must be there, and what excludes each other ----
    P('script', 'missing length', ' --train-iters 100', '', words='--train-iters', at='#!'),
    P('flags', 'missing size', ' --hidden-size 4096', '', words='--hidden-size', at='--seq-length'),
    P('flags', 'missing batch', '--micro-batch-size 1 ', '', words='--micro-batch-size', at='# Qwen'),
    P('flags', 'exclusive options', '--bf16 ', '--bf16 --fp16 ', words='.'),
    P('automodel', 'exclusive options', '  activation_checkpointing', '  dp_size: 8\n  tp_size: 4\n  activation_checkpointing',
      words='.', at='  tp_size: 4'),
    P('flags', 'missing companion', '--sequence-parallel', '', words='sequence-parallel', at='--num-experts'),
    P('automodel', 'missing recipe', 'recipe: TrainFinetuneRecipeForNextTokenPrediction\n', '', words='recipe',
      at='step_scheduler'),

    # ---- the wrong place ----
    P('bridge', 'wrong section', 'train.global_batch_size', 'model.global_batch_size', 'model.global_batch_size'),
    P('automodel', 'wrong section', '  activation_checkpointing: true', '  activation_checkpointing: true\n  max_steps: 9',
      words='.', at='  max_steps: 9'),
    P('flags', 'repeated', '--lr 1e-4', '--lr 1e-4 --lr 1e-5', words='.'),
    P('plan', 'repeated', 'tp: 2\n', 'tp: 2\ntp: 4\n', words='.', at='tp: 4'),

    # ---- scripts ----
    P('script', 'lost backslash', '--pipeline-model-parallel-size "$PP" \\', '--pipeline-model-parallel-size "$PP"',
      words='backslash', at='--micro-batch-size'),
    P('script', 'lost backslash', 'pretrain_gpt.py \\', 'pretrain_gpt.py', words='backslash', at='"${MODEL_ARGS[@]}"'),
    P('script', 'blank behind a backslash', '--tensor-model-parallel-size "$TP" \\',
      '--tensor-model-parallel-size "$TP" \\ ', words='blank', at='--pipeline-model-parallel-size'),
    P('script', 'comment in a command', '    --tensor-model-parallel-size "$TP" \\\n',
      '    # --bf16 \\\n    --tensor-model-parallel-size "$TP" \\\n', words='comment', at='# --bf16'),
    P('script', 'misspelt variable', '"${MODEL_ARGS[@]}"', '"${MODLE_ARGS[@]}"', 'MODLE_ARGS'),
    P('script', 'misspelt variable', '"${MOE_ARGS[@]}"', '"${MOE_ARG[@]}"', 'MOE_ARG', at='"${MODEL_ARGS[@]}"'),
    P('script', 'unclosed quote', '"$TP"', '"$TP', words='.'),
    P('script', 'unclosed quote', '"$EP"', '"$EP', words='.'),
    P('flags', 'unclosed quote', 'type NullTokenizer', 'type "NullTokenizer', words='.'),
    P('script', 'unclosed bracket', '    --expert-model-parallel-size "$EP"\n)', '    --expert-model-parallel-size "$EP"\n',
      words='.', at='MOE_ARGS=('),
    P('script', 'CR LF', '#!/bin/bash\n', '#!/bin/bash\r\n', words='sed'),

    # ---- YAML ----
    P('automodel', 'unclosed quote', ': Qwen/Qwen3-30B-A3B', ': "Qwen/Qwen3-30B-A3B', words='close'),
    P('plan', 'unclosed quote', 'model: qwen3-235b-a22b', "model: 'qwen3-235b-a22b", words='close'),
    P('automodel', 'indentation slip', '  ep_size: 8', '   ep_size: 8', words='column'),
    P('automodel', 'indentation slip', '  strategy: fsdp2', '   strategy: fsdp2', words='column'),
    P('plan', 'indentation slip', '\nvpp: 3', '\n vpp: 3', words='column', at=' vpp: 3'),
    P('automodel', 'tab', '  ep_size: 8', '\tep_size: 8', words='blanks'),
    P('automodel', 'missing colon', '  tp_size: 1', '  tp_size 1', words='key: value'),
    P('plan', 'missing colon', 'mbs: 1', 'mbs 1', words='key: value'),
    P('plan', 'unclosed bracket', '[moe_act, layernorm]', '[moe_act, layernorm', words='close'),
    P('automodel-full', 'unclosed bracket', '[0.9, 0.95]', '[0.9, 0.95', words='close'),
    P('model', 'unclosed bracket', 'v_head_dim: 128}', 'v_head_dim: 128', words='close'),

    # ---- programs built on Megatron-LM ----
    P('swift', 'misspelt flag', '--micro_batch_size', '--mirco_batch_size', 'mirco_batch_size'),
    P('swift', "misspelt flag of the program's own", '--lora_rank', '--lora_rnak', 'lora_rnak'),
    P('swift', 'wrong type', '--lora_rank 16', '--lora_rank 16x', words='.'),
    P('swift', 'wrong type', '--global_batch_size 32', '--global_batch_size 32k', words='.'),
    P('swift', 'misspelt value', '--recompute_granularity selective', '--recompute_granularity selectiv', 'selectiv'),
    P('swift', 'missing value', '--lr 2e-5', '--lr', words='.'),
    P('swift', 'repeated', '--lr 2e-5', '--lr 2e-5 --lr 3e-5', words='.'),
    P('swift', 'experts do not divide', 'expert_model_parallel_size 4', 'expert_model_parallel_size 3', '3'),
    P('swift', 'lost backslash', '--global_batch_size 32 \\', '--global_batch_size 32', words='backslash', at='--lr'),
    P('verl', 'misspelt key', 'tensor_model_parallel_size', 'tensro_model_parallel_size', 'tensro_model_parallel_size'),
    P('verl', 'misspelt section', 'actor.megatron.expert', 'actor.megatorn.expert', 'megatorn'),
    P('verl', "misspelt key of the program's own", 'gpu_memory_utilization', 'gpu_memory_utilisation',
      'gpu_memory_utilisation'),
    P('verl', 'wrong type', 'tensor_model_parallel_size=2', 'tensor_model_parallel_size=two', words='.'),
    P('verl', 'experts do not divide', 'expert_model_parallel_size=8', 'expert_model_parallel_size=7', '7'),
    P('verl', 'blank before =', 'expert_model_parallel_size=8', 'expert_model_parallel_size =8', words='blank'),
    P('verl', 'lost backslash', 'expert_model_parallel_size=8 \\', 'expert_model_parallel_size=8', words='backslash',
      at='actor_rollout_ref.rollout'),
    P('verl', 'comment in a command', '    actor_rollout_ref.rollout', '    # more \\\n    actor_rollout_ref.rollout',
      words='comment', at='# more'),
    P('nemo-rl', 'misspelt key', 'tensor_model_parallel_size', 'tensor_model_paralel_size', 'tensor_model_paralel_size'),
    P('nemo-rl', "misspelt key of the program's own", 'train_micro_batch_size', 'train_mirco_batch_size',
      'train_mirco_batch_size'),
    P('nemo-rl', 'misspelt value', 'alltoall', 'alltoal', 'alltoal'),
    P('nemo-rl', 'misspelt value', 'sequence_parallel: true', 'sequence_parallel: ture', words='.'),
    P('nemo-rl', 'wrong type', 'expert_model_parallel_size: 8', 'expert_model_parallel_size: [8, 8]', words='.'),
    P('nemo-rl', 'wrong type', 'tensor_model_parallel_size: 2', 'tensor_model_parallel_size: true', words='.'),
    P('nemo-rl', 'indentation slip', '    expert_model_parallel', '  expert_model_parallel', words='belongs'),
    P('nemo-rl', 'experts do not divide', 'expert_model_parallel_size: 8', 'expert_model_parallel_size: 7', '7'),
    P('primus', 'misspelt key', 'moe_grouped_gemm', 'moe_gruoped_gemm', 'moe_gruoped_gemm'),
    P('primus', "misspelt key of the program's own", 'enable_primus_turbo', 'enable_pirmus_turbo', 'enable_pirmus_turbo'),
    P('primus', 'wrong type', 'seq_length: 2048', 'seq_length: 2k', words='.'),
    P('primus', 'misspelt value', 'recompute_granularity: selective', 'recompute_granularity: selectve', 'selectve'),
    P('slime', "misspelt flag of the program's own", '--rollout-batch-size', '--rollout-bacth-size', '--rollout-bacth-size',
      words='declared', mend=lambda text: text.replace('--rollout-bacth-size', '--rollout-batch-size')),
    P('slime', 'wrong type', '--n-samples-per-prompt 8', '--n-samples-per-prompt eight', words='.'),
    P('slime', 'lost backslash', '--actor-num-nodes 2 \\', '--actor-num-nodes 2', words='backslash',
      at='--actor-num-gpus'),
    P('swift', 'misspelt value', '--lr 2e-5', '--lr 2e-5 --lr_decay_style cosin', 'cosin',
      mend=lambda text: text.replace('cosin', 'cosine')),
    P('swift', 'wrong type', '--max_length 4096', '--max_length 4096k', words='.'),
    P('slime', 'value for a switch', '--lr 1e-6', '--lr 1e-6 --swiglu true', words='leave out',
      mend=lambda text: text.replace(' true', '')),
    P('automodel', 'wrong type', 'local_batch_size: 1', 'local_batch_size: one', words='.'),
    P('automodel-full', 'indentation slip', '  seq_length: 2048', 'seq_length: 2048', words='belongs'),
    P('benchmark', 'misspelt flag', '--max_steps', '--max_stpes', '--max_stpes'),
    P('benchmark', 'misspelt flag', '--num_gpus', '--num-gpuss', '--num-gpuss'),
    P('benchmark', 'misspelt value', 'dtype bf16', 'dtype b16', 'b16'),
    P('benchmark', 'wrong type', '--max_steps 50', '--max_steps 50k', words='.'),
    P('benchmark', 'missing value', '--max_steps 50', '--max_steps', words='.'),
]
