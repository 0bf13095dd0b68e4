#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files of other people's repositories: what a fork, a runner of one's own or a tokenizer makes of names that are ours is no fault.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

# a flag that a known program has is no slip of Megatron-LM's, however near
script pretrain_gpt.py "--train-iters 10 --lr 1e-4 --bf16 --tokenizer-type PretrainedFromHF --tokenizer-name-or-path hop"
expect 0 "warning[value-choice]: --tokenizer-type does not take 'PretrainedFromHF'" "$moeplan" validate r.sh
script pretrain_gpt.py "$data --num-expert 8"
expect 1 "error[unknown-key]: Megatron-LM has no flag --num-expert" "$moeplan" validate r.sh

# words about a file are to be filled in
printf '#!/bin/bash\nV="vocab file for training"\ntorchrun --nproc-per-node 8 pretrain_gpt.py --vocab-file $V %s\n' "$sizes $data" >r.sh
expect 0 "to be filled in: vocab file for training" "$moeplan" validate r.sh
sed -i 's/vocab file for training/hop skip jump/' r.sh
expect 1 "'skip' belongs to no flag" "$moeplan" validate r.sh

# what perhaps is added to the arguments of a script is no more than that
grid='set -- --num-experts 8 --expert-model-parallel-size 8'
printf '#!/bin/bash\n%s\nif [ "$NODES" -gt 1 ]; then set -- "$@" --pipeline-model-parallel-size 2; fi\ntorchrun --nproc-per-node 8 pretrain_gpt.py %s "$@"\n' \
    "$grid" "$sizes $data" >r.sh
expect 0 "0 errors" "$moeplan" validate r.sh
printf '#!/bin/bash\n%s\nset -- "$@" --pipeline-model-parallel-size 2\ntorchrun --nproc-per-node 8 pretrain_gpt.py %s "$@"\n' "$grid" "$sizes $data" >r.sh
expect 1 "error[expert-grid-divides]" "$moeplan" validate r.sh

# a document of a runner of somebody's own: sections and arguments that Bridge never sees, and values that are said elsewhere
runner() { printf 'run:\n  data: hop:latest\nrecipe:\n  _target_: megatron.bridge.recipes.qwen.qwen3.qwen3_8b_pretrain_config\n  seq_length: 4096\n%s\n' "$1" >r.yaml; }
runner "model:
  seq_length: \${art:data,pack_size}
  vocab_size: <<<VOCAB>>>
convert_to_hf: {hf_model_id: hop}"
expect 0 "to be filled in: <<<VOCAB>>>" "$moeplan" validate r.yaml
lacks "unknown-key"
runner "model: {tensor_model_paralel_size: 2}"
expect 1 "did you mean model.tensor_model_parallel_size?" "$moeplan" validate r.yaml
runner "trian: {global_batch_size: 8}"
expect 1 "error[unknown-key]" "$moeplan" validate r.yaml
runner "peft: {type: lora, dim: 8}"
expect 0 "0 errors" "$moeplan" validate r.yaml
runner "peft: {dim: 8}"
expect 1 "error[bridge-adapters-are-code]" "$moeplan" validate r.yaml
printf 'recipe: {seq_length: 128}\nmodel: {tensor_model_parallel_size: 2, pipeline_model_parallel_size: 1}\nscheduler: {lr_warmup_iters: 1}\n' >r.yaml
expect 0 "1 Bridge override list" "$moeplan" validate r.yaml
lacks "nobody reads"

# what came with a newer core holds in Bridge since the release that stands on it
printf 'model.moe_use_grouped_tensor=true\nmodel.moe_grouped_gemm=false\nmodel.num_moe_experts=8\nmodel.num_layers=4\n' >b.ov
expect 1 "error[grouped-tensor-needs-grouped-gemm]" "$moeplan" validate b.ov --as bridge
run 0 "$moeplan" validate b.ov --as bridge --framework-version 0.6

# a fork of AutoModel has what its recipes name; a module beside a recipe is one to be copied
mkdir -p am/nemo_automodel/components/datasets/hops am/examples
printf 'MAJOR = 0\nMINOR = 4\n' >am/nemo_automodel/package_info.py
printf 'def hop_dataset():\n    pass\n' >am/nemo_automodel/components/datasets/hops/hop.py
recipe() { printf 'recipe: TrainFinetuneRecipeForNextTokenPrediction\nstep_scheduler: {global_batch_size: 8, local_batch_size: 1}\ndistributed: {strategy: fsdp2}\ndataset:\n  _target_: nemo_automodel.components.datasets.%s\n' "$1"; }
recipe hops.hop.hop_dataset >am/examples/r.yaml
recipe hops.hop.hip_dataset >am/examples/bad.yaml
recipe hops.hop.hop_dataset >alone.yaml
recipe llm.mine.my_dataset >copied.yaml
printf 'def my_dataset():\n    pass\n' >mine.py
expect 0 "0 errors" "$moeplan" validate am/examples/r.yaml
expect 1 "error[import-path]" "$moeplan" validate am/examples/bad.yaml
expect 1 "error[import-path]" "$moeplan" validate alone.yaml
expect 0 "mine.py beside this file has it" "$moeplan" validate copied.yaml
# and it may have classes before the release that it names had them
mkdir -p am/nemo_automodel/_transformers
printf 'MAJOR = 0\nMINOR = 3\n' >am/nemo_automodel/package_info.py
printf 'recipe: TrainFinetuneRecipeForNextTokenPrediction\nmodel:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n  pretrained_model_name_or_path: zai-org/GLM-4.7-Flash\ndistributed: {strategy: fsdp2, ep_size: 8}\nstep_scheduler: {global_batch_size: 8, local_batch_size: 1}\n' >am/examples/moe.yaml
expect 1 "error[expert-parallel-class]" "$moeplan" validate am/examples/moe.yaml
printf 'x = ("Glm4MoeLiteForCausalLM",)\n' >am/nemo_automodel/_transformers/registry.py
expect 0 "0 errors" "$moeplan" validate am/examples/moe.yaml
# its registry may look for them in the modules of the models instead
rm am/nemo_automodel/_transformers/registry.py
mkdir -p am/nemo_automodel/components/models/glm4_moe_lite
printf 'ModelClass = Glm4MoeLiteForCausalLM\n' >am/nemo_automodel/components/models/glm4_moe_lite/model.py
expect 0 "0 errors" "$moeplan" validate am/examples/moe.yaml
# main keeps the number of the release before it: its modules say which it is
printf 'MAJOR = 0\nMINOR = 5\n' >am/nemo_automodel/package_info.py
printf 'recipe: TrainFinetuneRecipeForNextTokenPrediction\nmodel:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n  pretrained_model_name_or_path: Qwen/Qwen3-8B\ndistributed: {strategy: fsdp2, multimodal: {}}\nstep_scheduler: {global_batch_size: 8, local_batch_size: 1}\n' >am/examples/main.yaml
expect 1 "AutoModel 0.5 has no multimodal in distributed" "$moeplan" validate am/examples/main.yaml
for module in _diffusers/diffusers_patches _transformers/sentence_transformer_export components/attention/ffpa_attention components/attention/idlm_mask components/checkpoint/lifecycle components/cuda_graphs/partial; do
    mkdir -p "$(dirname "am/nemo_automodel/$module")"
    : >"am/nemo_automodel/$module.py"
done
expect 0 "0 errors" "$moeplan" validate am/examples/main.yaml

# what the parser of a fork's checkout adds is no slip
mkdir -p fork/megatron/core fork/megatron/training
printf 'MAJOR = 0\nMINOR = 19\n' >fork/megatron/core/package_info.py
script pretrain_gpt.py "$data --num-expert 8"
cp r.sh fork/
expect 1 "error[unknown-key]" "$moeplan" validate fork/r.sh
printf 'group.add_argument("--num-expert", type=int)\n' >fork/megatron/training/arguments.py
expect 0 "info[fork-flags]: --num-expert is a flag of this checkout" "$moeplan" validate fork/r.sh
printf '{"data_path": "x", "num_expert": 8, "vocab_file": "v", "lr": 1e-4}\n' >fork/data.json
expect 0 "num_expert is a flag of this checkout" "$moeplan" validate fork/data.json

# nor what the launched script adds, or a module of the repository that it imports, wherever the launch says it lies
mkdir -p own/jobs own/src/train own/hop/flags
printf '%s\n' 'import os' 'from train.setup import hop_main' >own/src/run.py
printf '%s\n' 'from hop import (' 'import hop.flags, torch' >own/src/train/setup.py
printf '%s\n' 'from .more import add_hop_args' >own/hop/flags/__init__.py
printf '%s\n' 'group.add_argument("--hop-depth", type=int)' 'group.add_argument("--optimizer", choices=["adam", "hop"])' >own/hop/flags/more.py
script /elsewhere/checkout/src/run.py "$data --hop-depth 3 --hop-width 4 --optimizer hop"
cp r.sh own/jobs/
expect 0 "info[fork-flags]: --hop-depth is a flag of this checkout" "$moeplan" validate own/jobs/r.sh
has "has no flag --hop-width"
lacks "value-choice"
script /elsewhere/checkout/src/run.py "$data --hop-depth 3 --optimizer hip"
cp r.sh own/jobs/
expect 0 "--optimizer does not take 'hip'" "$moeplan" validate own/jobs/r.sh

printf '%s\n' 'p.add_argument("--hf_pathe")' >own/src/run_recipe.py
printf '#!/bin/bash\ntorchrun --nproc_per_node 8 src/run_recipe.py --recipe qwen3_8b_pretrain_config --hf_pathe hop --hf_patha hop\n' >own/jobs/b.sh
expect 0 "have no option --hf_patha" "$moeplan" validate own/jobs/b.sh
lacks "no option --hf_pathe"

# of a checkout before all known releases: what was no switch without effect then, what its own parser takes, and checks that came later
mkdir -p first/megatron first/jobs
printf '%s\n' 'group.add_argument("--use-mcore-models", help="Use the core")' 'group.add_argument("--fim-rate", type=float)' 'assert world_size % model_size == 0, "world size is not divisible by"' >first/megatron/arguments.py
script pretrain_gpt.py "$data --use-mcore-models --fim-rate 0.5 --tensor-model-parallel-size 16"
cp r.sh first/jobs/
expect 0 "info[fork-flags]: --fim-rate is a flag of this checkout" "$moeplan" validate first/jobs/r.sh
lacks "flag-deprecated"
has "warning[expert-grid-divides]"
printf '%s\n' 'group.add_argument("--use-mcore-models", help="DEPRECATED. Now ignored")' >first/megatron/arguments.py
expect 0 "warning[flag-deprecated]" "$moeplan" validate first/jobs/r.sh
# a longer word of a check tells more than several short ones
mkdir -p first/megatron/core
printf '%s\n' 'raise RuntimeError(f"world_size ({w}) is not divisible by {n}")' >first/megatron/core/parallel_state.py
expect 0 "warning[expert-grid-divides]" "$moeplan" validate first/jobs/r.sh
printf '%s\n' 'raise RuntimeError(f"world_size ({w}) is not divisible by expert_tensor_model_pipeline_parallel size ({n})")' >first/megatron/core/parallel_state.py
expect 1 "error[expert-grid-divides]" "$moeplan" validate first/jobs/r.sh

# asynchronous saving needs its worker since 0.16
script pretrain_gpt.py "$data --async-save --ckpt-format torch_dist"
expect 0 "warning[async-save-needs-worker]" "$moeplan" validate r.sh --framework-version 0.16
expect 0 "0 errors" "$moeplan" validate r.sh --framework-version 0.15
lacks "async-save-needs-worker"
# a warning of the framework's, which the checkout around the file does not give, is none
mkdir -p later/megatron/core later/megatron/training later/a
printf 'MAJOR = 0\nMINOR = 16\n' >later/megatron/core/package_info.py
printf 'x = 1\n' >later/megatron/training/arguments.py
cp r.sh later/a/
expect 0 "info[async-save-needs-worker]" "$moeplan" validate later/a/r.sh
printf 'print("--async-save is not supported without --use-persistent-ckpt-worker.")\n' >later/megatron/training/arguments.py
expect 0 "warning[async-save-needs-worker]" "$moeplan" validate later/a/r.sh

# what is wrong in every program: no size is zero, a choice in other letters, a batch of no whole microbatches, heads of no whole width
loose='torchrun --nproc_per_node 8 pretrain_hop.py --num-layers 4 --hidden-size 64 --seq-length 128 --hop-a 1 --hop-b 2 --hop-c 3'
printf '#!/bin/bash\n%s --num-attention-heads 0 --lr-decay-style COSINE\n' "$loose" >r.sh
expect 0 "--num-attention-heads is 0: no size is zero" "$moeplan" validate r.sh
has "--lr-decay-style does not take 'COSINE'"
printf '#!/bin/bash\n%s --num-attention-heads 6 --micro-batch-size 4 --global-batch-size 30 --train-iters 2 --train-samples 20\n' "$loose" >r.sh
expect 0 "warning[heads-left-over]" "$moeplan" validate r.sh
has "warning[global-batch-holds-microbatches]"
has "warning[iterations-beside-samples]"
# a check that the first releases had in another folder
mkdir -p old/megatron old/jobs
printf '%s\n' 'assert args.hidden_size % args.num_attention_heads == 0' >old/megatron/arguments.py
cp r.sh old/jobs/
expect 0 "warning[heads-left-over]" "$moeplan" validate old/jobs/r.sh
printf 'x = 1\n' >old/megatron/arguments.py
expect 0 "info[heads-left-over]" "$moeplan" validate old/jobs/r.sh
# the flags of a program that is known are as strict about letters; keys in its files are not
script pretrain_gpt.py "$data --deepspeed --deepspeed_config ds.json --zero-stage 1 --Moe-Grouped-Gemm"
expect 0 "did you mean --moe-grouped-gemm" "$moeplan" validate r.sh
script pretrain_gpt.py "$data --deepspeed --deepspeed_config ds.json --zero-stage 1 --dataset-impl MMAP"
expect 0 "'MMAP'" "$moeplan" validate r.sh

# a file for --yaml-cfg has its model and layout in sections; a file of flags with several options of another program is for that one
printf 'language_model:\n  num_layers: 30\n  hidden_size: 64\n  num_attention_heads: 8\nmodel_parallel:\n  pipeline_model_parallel_size: 4\n  hop: 1\n  cpu_offloading_num_layers: 1\nmicro_batch_size: 1\nhop_too: 2\n' >cfg.yaml
expect 1 "30 layers do not divide into 4 pipeline stages" "$moeplan" validate cfg.yaml --framework-version 0.15
lacks "unknown-key"
printf 'MODEL_ARGS:\n  --num-layers: 2\n  --dataloader-seq-length: 64\n' >flags.yaml
expect 0 "warning[other-program-option]" "$moeplan" validate flags.yaml
printf '  --use-packed-sequence: true\n' >>flags.yaml
expect 0 "info[other-program-option]" "$moeplan" validate flags.yaml
lacks "warning["

# a word that a former release took is no error, one that none took is
script pretrain_gpt.py "--train-iters 10 --lr 1e-4 --bf16 --tokenizer-type MistralTokenizer"
expect 0 "former releases of Megatron-LM had it" "$moeplan" validate r.sh
script pretrain_gpt.py "--train-iters 10 --lr 1e-4 --bf16 --tokenizer-type HopTokenizer"
expect 1 "error[value-choice]" "$moeplan" validate r.sh

# sections of the same names in which nothing is AutoModel's
printf 'model:\n  vit: {depth: 12}\ndistributed:\n  dp_outer: 1\n  cp: 1\noptimizer:\n  lr: 1e-4\n' >vit.yaml
expect 2 "skipped" "$moeplan" validate vit.yaml
printf 'model:\n  vit: {depth: 12}\ndistributed:\n  dp_outer: 1\n  tp_size: 1\n' >vit.yaml
expect 1 "error[unknown-key]: distributed does not know the key dp_outer" "$moeplan" validate vit.yaml

# a word that neither MindSpeed-LLM nor Megatron-LM takes; what is meant may be MindSpeed-LLM's own
script pretrain_gpt.py "$data --tokenizer-type PretraindFromHF --tokenizer-name-or-path hop --use-fused-rmsnorm"
expect 0 "did you mean PretrainedFromHF" "$moeplan" validate r.sh
script pretrain_gpt.py "$data --tokenizer-type MagistralTokenizer --tokenizer-name-or-path hop --use-fused-rmsnorm"
expect 0 "0 errors, 0 warnings" "$moeplan" validate r.sh

# a flag of MindSpeed's replaces the layers that a rule is about
script pretrain_gpt.py "$data --tensor-model-parallel-size 3 --use-fused-rmsnorm --use-fused-swiglu"
expect 1 "error[heads-divide-over-tp]" "$moeplan" validate r.sh
script pretrain_gpt.py "$data --tensor-model-parallel-size 3 --use-fused-rmsnorm --unaligned-linear"
run 0 "$moeplan" validate r.sh
lacks "heads-divide-over-tp"

# a fork stands on a release of its own: what Megatron-LM had then is no unknown flag
script pretrain_qwen.py "$data --patch-tokenizer-type QwenTokenizer --max-padding-length 128 --extra-vocab-size 0 --log-batch-size-to-tensorboard --DDP-impl local"
expect 0 "--log-batch-size-to-tensorboard and 1 others are flags of former releases of Megatron-LM" "$moeplan" validate r.sh
lacks "unknown-key"

# an array that goes on into a function or the end of a command is not closed
printf '#!/bin/bash\nARGS=(\n    --num-layers 2\nstart() {\n    echo $(date)\n}\ntorchrun pretrain_gpt.py %s "${ARGS[@]}"\n' "$data" >r.sh
expect 2 "r.sh:2:6: error[shell-syntax]: this bracket is not closed" "$moeplan" validate r.sh
printf '#!/bin/bash\nOTHER=(a <(date) b)\ntorchrun pretrain_gpt.py %s\n' "$sizes $data" >r.sh
expect 0 "0 errors" "$moeplan" validate r.sh

# verl's other workers have grids of their own, and its trainers a few names
verl='actor_rollout_ref:\n  actor:\n    megatron: {tensor_model_parallel_size: 2}\n'
printf "$verl"'  ref:\n    megatron: {tensor_model_parallel_size: -2}\n' >verl.yaml
expect 0 "warning[size-below-zero]: actor_rollout_ref.ref.megatron.tensor_model_parallel_size is -2" "$moeplan" validate verl.yaml
printf "$verl"'    strategy: megarton\n' >verl.yaml
expect 0 "did you mean megatron?" "$moeplan" validate verl.yaml
printf "$verl"'tensor_model_parallel_size: 2\n' >verl.yaml
run 0 "$moeplan" validate verl.yaml
lacks "actor_rollout_ref.ref"

# Megatron-DeepSpeed has the flags that DeepSpeed adds to its parser
script pretrain_gpt.py "$data --deepspeed --deepspeed_config ds.json --zero-stage 1 --deepspeed-activation-checkpointing"
expect 0 "flags of Megatron-DeepSpeed" "$moeplan" validate r.sh
lacks "has no flag"

# a model's sizes alone are a part of a command line, which lacks nothing
printf '%s\n' "--num-layers 4" "--hidden-size 64" "--num-attention-heads 8" "--seq-length 128" >sizes.args
expect 0 "0 errors" "$moeplan" validate sizes.args
echo "--train-iters 10" >>sizes.args
expect 1 "error[micro-batch-size-required]" "$moeplan" validate sizes.args

# Bridge takes a number for a switch
printf 'train.manual_gc_eval=100\ntrain.manual_gc=true\n' >gc.ov
expect 0 "warning[value-type]" "$moeplan" validate gc.ov --as bridge

# a check that is new in the release that a checkout is on the way to is looked for in its source
mkdir -p tree/megatron/core tree/megatron/training tree/a
printf 'MAJOR = 0\nMINOR = 19\n' >tree/megatron/core/package_info.py
script pretrain_gpt.py "$data --deterministic-mode --tp-comm-overlap --tensor-model-parallel-size 2 --sequence-parallel"
cp r.sh tree/a/
export NCCL_ALGO=Ring
expect 0 "the checkout that this file lies in has no such check" "$moeplan" validate tree/a/r.sh
# its longest word may stand elsewhere before it
printf 'x("--deterministic-mode")\n# %0600d\nx("--deterministic-mode requires: {}. Adjust these options")\n' 0 >tree/megatron/training/determinism.py
expect 1 "error[deterministic-options]" "$moeplan" validate tree/a/r.sh
# the longest word of a check alone is none: others stand around it
printf 'MINOR = 10\nMAJOR = 0\n' >tree/megatron/core/package_info.py
script pretrain_gpt.py "$data --use-torch-fsdp2 --no-gradient-accumulation-fusion --ckpt-format torch_dist --untie-embeddings-and-output-weights"
cp r.sh tree/a/
printf 'if os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] != "1":\n    raise RuntimeError("sequence parallelism requires it to be 1")\n' >tree/megatron/training/arguments.py
export CUDA_DEVICE_MAX_CONNECTIONS=1
sed -i '2i export CUDA_DEVICE_MAX_CONNECTIONS=1' tree/a/r.sh
expect 0 "warning[fsdp2-connections]" "$moeplan" validate tree/a/r.sh
printf 'assert os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] != "1", "FSDP always requires a value larger than one"\n' >tree/megatron/training/arguments.py
expect 1 "error[fsdp2-connections]" "$moeplan" validate tree/a/r.sh
unset CUDA_DEVICE_MAX_CONNECTIONS

# data is no recipe: vocabularies, value after value, comments, prose about commands, options that are handed on
mkdir none
printf '{"model": 1, "distributed": 2, "recipe": 3, "step_scheduler": 4}\n' >none/vocab.json
printf '{\n  "a": 1\n}\n{\n  "a": 2\n}\n' >none/many.json
printf '{\n  // hop\n  "compilerOptions": {}\n}\n' >none/tsconfig.json
printf '{\n\t"train_batch_size": CONFIG_BATCH_SIZE,\n\t"bf16": {"enabled": true}\n}\n' >none/TEMPLATE.json
printf 'DLLL {"step": 1, "data": {"cfg/micro_batch_size": 1}}\nDLLL {"step": 2}\n' >none/log.json
printf '[{"question": "set run_recipe.py --recipe hop_config model.moe_permute_fusion=true, now"}]\n' >none/evals.json
printf 'products:\n  - {extra_args: ["\\"--qk-layernorm --test-mode\\"", "--swiglu --no-such"]}\n' >none/ci.yaml
printf 'run: {time_limit: 1}\nmodel:\n  model_type: gpt\n  checkpoint_name: latest\n  hparams_file: hop\n  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 1\n' >none/launcher.yaml
expect 2 "8 files: 0 errors, 0 warnings, 0 infos; 8 no recipe" "$moeplan" validate none
# sections of AutoModel's names that hold another program's settings, but for a size that everybody calls so
printf 'distributed: {fsdp_type: full_shard, compile: true, model_dtype: bf16, tp_size: 1}\nmodel: {dim: 2048, n_layers: 25}\n' >other.yaml
expect 2 "no recipe that moeplan knows" "$moeplan" validate other.yaml
printf '[\n  {"a": 1}\n  {"a": 2}\n]\n' >broken.json
expect 2 "error[json-syntax]" "$moeplan" validate broken.json

# MindSpeed-MM holds Megatron-LM's arguments in a section
printf 'gpt_args:\n  expert_model_parallel_size: 3\n  num_experts: 8\n  bf16: true\n' >mm.yaml
expect 1 "mm.yaml:2:31: error[ep-divides-experts]" "$moeplan" validate mm.yaml

# a word that belongs to no flag is looked for in no parser of the repository: that search had no end
mkdir -p repo/models
printf 'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--hop-jumps", type=int)\n' >repo/train.py
hops='--actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate --rollout-num-gpus-per-engine 2 --tensor-model-parallel-size 1 --num-layers 4'
printf '#!/bin/bash\nray job submit -- python3 train.py %s --hop-jumps 2 --lr 1e-4 hop\n' "$hops" >repo/r.sh
run 0 timeout 20 "$moeplan" validate repo/r.sh
# nor is a backslash at the very end a word
printf '#!/bin/bash\ntorchrun --nproc-per-node 8 pretrain_gpt.py %s \\' "$sizes $data" >r.sh
run 0 "$moeplan" validate r.sh
lacks "belongs to no flag"

# what ((…)) sets is set, and where it only perhaps runs nobody knows it afterwards
printf '#!/bin/bash\nN=6\n%s\ntorchrun --nproc-per-node $N pretrain_gpt.py %s --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2\n' \
    '((N += 2))' "$sizes $data" >r.sh
run 0 "$moeplan" validate r.sh
sed -i 's/((N += 2))/((N--))/' r.sh
expect 1 "5 GPUs are not a multiple of tp 2 x pp 2" "$moeplan" validate r.sh
sed -i 's/((N--))/if [ "$1" = 0 ]; then ((N++)); fi/' r.sh
expect 0 'where $1 is 0' "$moeplan" validate r.sh
sed -i 's/"$1" = 0/-f "$1"/' r.sh
run 0 "$moeplan" validate r.sh
lacks "world-size-divides"

# a flag of before all known releases says that the launch is for one of those, which may take what later ones refuse
script pretrain_gpt.py "$data --transformer-impl transformer_engine"
sed -i 's/^torchrun/NVTE_FUSED_ATTN=0 torchrun/' r.sh
expect 1 "error[attention-environment-fused]" "$moeplan" validate r.sh
sed -i 's/--bf16/--bf16 --log-batch-size-to-tensorboard/' r.sh
expect 0 "warning[attention-environment-fused]" "$moeplan" validate r.sh
has "--log-batch-size-to-tensorboard is of before all releases that moeplan knows"

# a checkout has a check where its words stand together; a flag of its own about parallelism may lay the GPUs out otherwise
mkdir -p fork/megatron/core/transformer fork/megatron/training
printf 'MAJOR = 0\nMINOR = 10\n' >fork/megatron/core/package_info.py
printf 'parser.add_argument("--hop-parallel-size", type=int)\nparser.add_argument("--hop-rate", type=int)\n' >fork/megatron/training/arguments.py
checks='raise ValueError("Bias is not supported for MoE")'
printf '%s\n' "$checks" >fork/megatron/core/transformer/transformer_config.py
script pretrain_gpt.py "$data --num-experts 8 --expert-model-parallel-size 8"
cp r.sh fork/r.sh
expect 1 "error[moe-without-bias]" "$moeplan" validate fork/r.sh
printf '# recompute is supported\n' >fork/megatron/core/transformer/transformer_config.py
expect 0 "warning[moe-without-bias]" "$moeplan" validate fork/r.sh
printf 'raise ValueError("world size is not divisible by total_model_size")\n' >>fork/megatron/training/arguments.py
script pretrain_gpt.py "$data --tensor-model-parallel-size 3 --hop-rate 2"
cp r.sh fork/r.sh
expect 1 "error[world-size-divides]" "$moeplan" validate fork/r.sh
sed -i 's/--hop-rate/--hop-parallel-size/' fork/r.sh
expect 0 "--hop-parallel-size of this checkout may lay the GPUs out otherwise" "$moeplan" validate fork/r.sh

# a group of a program's configuration that is made an object of is no Megatron-LM file
printf '_target_: hop.OptimizerConfig\nlr: 1e-4\nmin_lr: 0\nclip_grad: 1.0\nweight_decay: 0.1\nlr_wsd_decay_stepz: 3\n' >group.yaml
run 2 "$moeplan" validate group.yaml
has "no recipe"
sed -i 1d group.yaml
expect 1 "no argument lr_wsd_decay_stepz" "$moeplan" validate group.yaml

# below a name of somebody's own, keys are theirs; a batch of no samples is none without Megatron-LM's grid too
nemo() { printf 'policy:\n  megatron_cfg: {enabled: true}\n  train_global_batch_size: %s\n%s\n' "$1" "$2" >n.yaml; }
nemo 8 'env: {hop: {reward: {format: 0.1}}}'
run 2 "$moeplan" validate n.yaml
lacks "value-choice"
nemo 8 'policy_format: {format: 0.1}'
run 2 "$moeplan" validate n.yaml
nemo 8 'checkpointing: {format: 0.1}'
expect 0 "format takes one of a few words" "$moeplan" validate n.yaml
nemo 0 ''
expect 0 "global_batch_size must be at least 1" "$moeplan" validate n.yaml

# Hydra takes the quotes off a value, and verl the MTP depths off a model
verl() { printf '#!/bin/bash\npython3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer.yaml \\\n actor_rollout_ref.model.path=deepseek-v3 \\\n %s\n' "$1" >v.sh; }
layout=actor_rollout_ref.actor.megatron.override_transformer_config.pipeline_model_parallel_layout
verl "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 \"+$layout='Et*30|t*31L'\""
expect 0 "0 errors, 0 warnings" "$moeplan" validate v.sh
verl "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 \"+$layout='Et*30|t*30L'\""
expect 0 "warning[layout" "$moeplan" validate v.sh

# files of AutoModel before 0.4 name no recipe, and are those of the one that its command names
printf 'step_scheduler: {global_batch_size: 0, local_batch_size: 1}\nmodel: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained}\ndistributed: {strategy: fsdp2}\n' >old.yaml
expect 0 "recipe-missing" "$moeplan" validate --as automodel old.yaml
expect 1 "error[" "$moeplan" validate --as automodel --framework-version 0.3 old.yaml
lacks "recipe-missing"

# numactl's -m takes numbers: what follows it is no argument of the program's
printf '#!/bin/bash\nnumactl -m 4-7 -N 4-7 python pretrain_gpt.py %s\n' "$sizes $data" >r.sh
run 0 "$moeplan" validate r.sh
lacks "no flag -N"

# a script that is also no YAML is another program's, whatever its name; a document that is broken is not
printf '#!/bin/bash\nset -e\nlog() { printf "%%s: %%s\\n" "$1" "$2" >&2; }\nNAME="a"\n' >other.bash
run 2 "$moeplan" validate other.bash
has "no recipe"
cp other.bash other.launch
run 2 "$moeplan" validate other.launch
lacks "error["
tail -n +2 other.bash >other.yaml
expect 2 "yaml-syntax" "$moeplan" validate other.yaml

# Primus pins Megatron-LM 0.16: what a later release bans, it takes
cross='modules: {pre_trainer: {framework: megatron, overrides: {cross_entropy_loss_fusion: true, cross_entropy_fusion_impl: te}}}'
printf '%s\n' "$cross" >p.yaml
run 0 "$moeplan" validate p.yaml
lacks "cross-entropy-fusion-not-te"
expect 0 "cross-entropy-fusion-not-te" "$moeplan" validate --framework-version 0.19 p.yaml

# of several runs of Bridge's in a script the others are looked at too, word by word
launch='python scripts/training/run_recipe.py --recipe qwen3_8b_pretrain_config train.train_iters=5'
printf '#!/bin/bash\n%s train.micro_batch_sizes=1 model.seq_length=8\n%s train.micro_batch_size=1 train.global_batch_size=8 model.seq_length=8\n' "$launch" "$launch" >two.sh
expect 0 "two.sh:2:93: warning[unknown-key]" "$moeplan" validate two.sh
# an option of the launcher that is given twice
printf '#!/bin/bash\n%s --seq_length 4096 --seq_length 8192\n' "$launch" >twice.sh
expect 0 "warning[flag-repeated]: --seq_length is given twice: 8192 wins over 4096" "$moeplan" validate twice.sh

# a trainer whose sections mostly are none of Bridge's is not Bridge, though it has a model and an optimizer
printf 'general: {project: p, run: r}\nparallelism: {dp: 2, tp: 2, pp: 1}\ncheckpoints: {checkpoints_path: c}\ntokens: {micro_batch_size: 2}\nlogging: {iteration_step_info_interval: 1}\nmodel:\n  dtype: bf16\n  init_method: {std: 0.02}\noptimizer: {clip_grad: 1.0, weight_decay: 0.01}\n' >nano.yaml
run 2 "$moeplan" validate nano.yaml
has "no recipe"
printf 'model:\n  _factory_: mine\n  hidden_size: 256\n  num_layers: 3\noptimizer: {_factory_: other, weight_decay: 0.1}\nepochs: 10\n' >task.yaml
run 2 "$moeplan" validate task.yaml
has "no recipe"

# another trainer's list of arguments, of which a few have the names of Megatron-LM's
cat >mixtral.txt <<'EOF'
--train_batch_size=4
--max_steps=200
--seed=42
--bf16=1
--grad_clip=1.0
--num_layers=32
--hidden_width=4096
--lr=0.0001
--warmup=0.0032
--tokenizer=org/name
--sharding_strategy=full
--epochs=3
--offload_activations=1
EOF
expect 2 "no recipe" "$moeplan" validate mixtral.txt
printf -- '--num-layers=4\n--hop=1\n--lr=0.1\n' >fork.txt
expect 1 "--hidden-size" "$moeplan" validate fork.txt
