#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Slips in YAML files of programs and of AutoModel, and in lists that nobody runs.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

# keys below lists and below names of Megatron-LM's; a mapping whose only key lost its colon; a degree below zero
cat >rl.yaml <<'EOF'
policy:
  model_name: hop
  megatron_cfg:
    enabled: true
    tensor_model_parallel_size: 2
    env_vars:
      PYTORCH_CUDA_ALLOC_CONF "expandable_segments:False"
  dtensor_cfg:
    context_parallel_size: -1
  optimizer:
    kwargs:
      foreaach: false
  scheduler:
    - kwargs:
        total_ietrs: 5
    - [{kwargs: {milestnoes: [1]}}]
  sequence_packing:
    enabled false
cluster:
  gpus_per_node 8
logger:
  data of the run
EOF
concise rl.yaml
found 7 value-type "the colon behind PYTORCH_CUDA_ALLOC_CONF is missing"
found 9 size-below-zero "context_parallel_size is -1"
found 12 unknown-key foreaach
found 15 unknown-key total_ietrs
found 16 unknown-key milestnoes
found 18 value-type "the colon behind enabled is missing"
found 20 value-type "cluster is one text"
none "logger is"

# a size that slipped to the root, though another value is written by way of the one in the section; what is referred to there is its own
cat >moved.yaml <<'EOF'
policy:
  model_name: hop
  megatron_cfg: {enabled: true, tensor_model_parallel_size: 2}
  make_sequence_length_divisible_by: ${policy.megatron_cfg.context_parallel_size}
context_parallel_size: 2
tensor_model_parallel_size: 2 # vLLM's are called so too
EOF
concise moved.yaml
found 5 unknown-key "NeMo-RL reads no context_parallel_size here"
found 6 unknown-key "NeMo-RL reads no tensor_model_parallel_size here"
for path in "" .; do
    sed "s/policy.megatron_cfg.context/${path}context/" moved.yaml >own.yaml
    concise own.yaml
    none context_parallel_size
done

# Primus asks for these at the root of an experiment
printf 'work_group: a\nuser_name: b\nexp_nmae: c\nworkspace: d\nmodules:\n  pre_trainer:\n    framework: megatron\n    config: c.yaml\n    model: m.yaml\n    overrides:\n      stderr_sik_level: DEBUG\n' >primus.yaml
concise primus.yaml
found 3 unknown-key "no key exp_nmae"
found 11 unknown-key stderr_sik_level
none "work_group\|workspace"

# a slip in the very key that tells whose file it is
sed 's/framework: /framwork: /' primus.yaml >slip.yaml
concise slip.yaml
found 7 unknown-key "AMD's Primus has no key framwork"
sed 's/megatron_cfg/megatorn_cfg/' rl.yaml >slip.yaml
concise slip.yaml
found 3 unknown-key "NeMo-RL has no key megatorn_cfg"

# verl's classes, and the words that Megatron-LM takes of it
printf 'actor_rollout_ref:\n  actor:\n    megatron: {tensor_model_parallel_size: 1}\n    optim:\n      lr_decay_style: consant\nalgorithm: {_target_: verl.trainer.config.AlgConfig}\ncritic: {_target_: recipe.mine.AlgConfig}\n' >verl.yaml
concise verl.yaml
found 5 value-choice "'consant'"
found 6 value-choice AlgConfig
none recipe.mine

# AutoModel's sections that nobody refuses keys in, with a recipe class or without one
cat >am.yaml <<'EOF'
step_scheduler: {local_batcch_size: 2, mine: 1}
model: {_target_: nemo_automodel.components.models.gpt2.build_gpt2_model}
dataset: {_target_: mine.Data}
validation_dataset: {_target_: mine.Data}
validation_dataloader: {collat_fn: mine.collate}
compile: {fulllgraph: false}
fp8: {recipe_nmae: tensorwise}
distributed: {strategy: fsdp2, tp_size: 1}
EOF
concise am.yaml
found 1 unknown-key local_batcch_size
found 5 unknown-key collat_fn
found 6 unknown-key fulllgraph
found 7 unknown-key recipe_nmae
none "key mine"
echo 'recipe: TrainFinetuneRecipeForNextTokenPrediction' >>am.yaml
concise am.yaml
grep -q ":5:[0-9]*: error\[unknown-key\]: validation_dataloader does not know the key collat_fn" out || fail "no error"

# a command that a test has written down, a flag a line, is run by nobody; one with backslashes is
printf 'torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64\n  --num-attention-heads 8\n' >shown.txt
expect 2 "no recipe" "$moeplan" validate shown.txt
printf 'torchrun \\\n  pretrain_gpt.py --num-layers 4 --hidden-size 64\n  --num-attention-heads 8\n' >run.txt
expect 1 "error[lost-backslash]" "$moeplan" validate run.txt

# the end of a longer flag in the words of a parser is no flag of its; swapped letters at a name's beginning
mkdir -p fork/megatron/core fork/megatron/training
printf 'MAJOR = 0\nMINOR = 19\n' >fork/megatron/core/package_info.py
printf 'group.add_argument("--data-path", help="not with --*-data-path")\ngroup.add_argument("-one-dash")\n' >fork/megatron/training/arguments.py
sizes='--num-layers 4 --hidden-size 64 --num-attention-heads 8 --micro-batch-size 1'
printf 'torchrun pretrain_gpt.py %s -data-path x -one-dash 1\n' "$sizes" >fork/r.sh
concise fork/r.sh
found 1 unknown-key "no flag -data-path"
none one-dash
many="$sizes --seq-length 8 --max-position-embeddings 8 --lr 1 --train-iters 5 --tokenizer-type NullTokenizer --vocab-size 8 --mock-data"
printf 'torchrun pretrain_gpt.py %s --DDP-impl local --hop 1 --hip 2 --mni-lr 1e-5 --ewight-decay 0.1\n' "$many" >swap.sh
concise swap.sh
found 1 unknown-key "no flag --mni-lr"
found 1 unknown-key "no flag --ewight-decay"

# a section of Bridge's is told where its name stands, and the help mends it; one that is somebody's own is none
cat >bridge.yaml <<'EOF'
model: {tensor_model_parallel_size: 2, seq_length: 4096}
datasett: {num_workers: 4, sequence_length: 4096}
optimiser: {lr: 0.0001, weight_decay: 0.1}
train: {global_batch_size: 32, micro_batch_size: 1}
datastore: {num_workers: 4}
EOF
concise bridge.yaml
found 2 unknown-key "no section datasett"
found 3 unknown-key "no section optimiser"
test "$(grep -c unknown-key out)" = 2 || fail "more than the sections"
run 0 "$moeplan" validate bridge.yaml --fix --unsafe-fixes
concise bridge.yaml
none unknown-key
# a field of another section has no word that could stand in its place
printf 'train: {global_batch_size: 32, num_workers: 2}\nmodel: {seq_length: 4096}\n' >field.yaml
concise field.yaml
found 1 unknown-key "train.num_workers"
run 0 "$moeplan" validate field.yaml --fix --unsafe-fixes
grep -q "32, num_workers: 2" field.yaml || fail "a key of one section was written into another"
