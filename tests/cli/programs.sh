#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a file launches decides what is said of it: Megatron-LM's own scripts, forks, other programs, and files that nothing checks.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

# a slip in Megatron-LM's own script is an error; what nobody knows is one warning
script pretrain_gpt.py "$data --num-expert 8"
expect 1 "error[unknown-key]: Megatron-LM has no flag --num-expert" "$moeplan" validate r.sh
has "did you mean --num-experts?"
script pretrain_gpt.py "$data --hop --num-expert 8 --hip 3"
expect 0 "has no flag --hop, nor 1 others here" "$moeplan" validate r.sh
has "line 3: --hip"
has "Megatron-LM has no flag --num-expert"
has "did you mean --num-experts?"
has "0 errors, 2 warnings"
run 1 "$moeplan" validate r.sh --framework-version main
has "error[unknown-key]: Megatron-LM has no flag --hip"

# only what trains says how long
script pretrain_gpt.py "--bf16"
expect 1 "error[training-length-required]" "$moeplan" validate r.sh
script tools/run_text_generation_server.py "--bf16"
expect 0 "0 errors" "$moeplan" validate r.sh
script train_hops.py "--bf16"
expect 0 "0 errors" "$moeplan" validate r.sh
# what is impossible is an error in a script of one's own too
script train_hops.py "--bf16 --tensor-model-parallel-size 3"
expect 1 "error[world-size-divides]" "$moeplan" validate r.sh

# what Megatron-LM reads only to say that it is gone: no release takes it beside two newer flags
script pretrain_gpt.py "$data --batch-size 4"
expect 0 "warning[written-for-older-release]" "$moeplan" validate r.sh
script pretrain_gpt.py "$data --batch-size 4 --moe-hybridep-num-sms 8 --cuda-graph-modules attn"
expect 1 "error[batch-size-removed]" "$moeplan" validate r.sh
lacks "written-for-older-release"

# a fork declares its flags, and rules of its user's see them
mkdir rules
cat >rules/hop.yaml <<'EOF'
moeplan: 1
kind: Parameters
parameters:
  - {name: hop, type: bool, default: false, doc: hops, megatron: {flag: hop}}
  - {name: hip, type: int, doc: hips, megatron: {flags: [--hip]}}
EOF
cat >rules/mine.yaml <<'EOF'
moeplan: 1
kind: Rules
frameworks: [megatron]
rules:
  - id: no-two-hips
    severity: error
    rule: '!("--hip" in raw) || raw["--hip"] != 2'
    message: two hips are one too many
    help: write --hip 1
    examples: {good: [{tp: 1}], bad: [{raw: {--hip: 2}}]}
EOF
script pretrain_gpt.py "$data --hop --hip 2"
expect 1 "error[no-two-hips]: two hips are one too many" "$moeplan" validate r.sh --rules rules
lacks "unknown-key"
script pretrain_gpt.py "$data --hip many"
expect 1 "--hip takes an integer, not 'many'" "$moeplan" validate r.sh --rules rules
printf 'moeplan: 1\nkind: Hops\nhops: []\n' >rules/bad.yaml
expect 2 "unknown kind Hops" "$moeplan" validate r.sh --rules rules

# a file in which nothing is checked says so, and a folder of only such files is no success
mkdir none
printf 'trainer: {devices: 8}\nexp_manager: {name: x}\nmodel: {micro_batch_size: 1, fp8: false}\n' >none/nemo.yaml
printf 'hop: {lr: 1}\n' >none/hop.yaml
expect 2 "nemo.yaml: skipped: a configuration of NeMo 1, which moeplan does not check" "$moeplan" validate none/nemo.yaml
expect 2 "2 files: 0 errors, 0 warnings, 0 infos; 2 no recipe" "$moeplan" validate none
printf '#!/bin/bash\npython pretrain_gpt.py "$@" # --bf16 --swiglu --num-layers\n' >empty.sh
expect 2 "nothing in it that moeplan can check" "$moeplan" validate empty.sh
cp r.sh none
expect 1 "1 error" "$moeplan" validate none --framework-version main

# a template is no YAML yet
printf '{{- if .Values.hop }}\nmodel: {num_layers: 2}\n{{- end }}\n' >chart.yaml
expect 2 "a Helm template" "$moeplan" validate chart.yaml
printf 'metadata:\n  name: {{ include "hop.fullname" . }}-pvc\n' >chart.yaml
expect 2 "a Helm template" "$moeplan" validate chart.yaml

# what another program checks itself is a warning, what is impossible an error at its place
printf 'policy:\n  model_name: Qwen/Qwen3-30B-A3B\n  megatron_cfg:\n    expert_model_parallel_size: 7\n    recompute_granularity: selective\n    recompute_method: uniform\n' >rl.yaml
expect 1 "rl.yaml:4:33: error[ep-divides-experts]: 128 experts are not a multiple of ep 7" "$moeplan" validate rl.yaml
has "warning[selective-recompute-without-method]"

# languages that are not read are named, whatever a shell would make of them
grid="--tensor-model-parallel-size 3"
for name in run.py run.ipynb README.md run.fish run.ps1 Makefile Dockerfile.cuda justfile run.toml run.log; do
    printf "It's a launch: torchrun --nproc-per-node 8 pretrain_gpt.py %s\n" "$sizes $grid" >"$name"
    expect 2 "$name: skipped: " "$moeplan" validate "$name"
    has "which moeplan does not check"
done
printf '#!/usr/bin/env -S python3.11\nx = "it is'"'"'"\n# pretrain_gpt.py %s\n' "$sizes" >run
expect 2 "a Python program" "$moeplan" validate run
printf "It's prose of --bf16, --swiglu and --num-layers in run.sh\n" >prose.hop
expect 2 "no recipe that moeplan knows" "$moeplan" validate prose.hop
printf '#!/bin/bash\npython pretrain_gpt.py --bf16 --swiglu --num-layers 4 "\n' >broken.sh
expect 2 "error[shell-syntax]" "$moeplan" validate broken.sh
printf 'train_micro_batch_size_per_gpu: 1\nnum-layers: 2\nhidden-size: 8\nseq-length: 8\n' >neox.yml
expect 2 "a configuration of DeepSpeed or GPT-NeoX" "$moeplan" validate neox.yml
echo 'python train.py trainer.devices=8 model.tensor_model_parallel_size=2 model.seq_length=8 train.train_iters=1' >hydra.sh
expect 2 "no recipe" "$moeplan" validate hydra.sh

# what YAML of another program launches is read at its place; what YAML folds is not a shell's lines
cat >ci.yml <<EOF
name: it's a job
jobs:
  - run: |
      torchrun --nproc-per-node 8 pretrain_gpt.py $sizes \\
        $data $grid
  - note: this isn't a script, it's { a } text
EOF
expect 1 "ci.yml:5:" "$moeplan" validate ci.yml
has "error[world-size-divides]: 8 GPUs are not a multiple of tp 3"
printf 'job:\n  run: >-\n    torchrun --nproc-per-node 8 pretrain_gpt.py\n    %s\n' "$sizes $grid" >folded.yml
expect 2 "no recipe" "$moeplan" validate folded.yml

# what stands beside a fragment, in a checkpoint, in a template or in a program's own flag nobody sees
printf 'num_layers: 4\nhidden_size: 64\nnum_attention_heads: 8\nseq_length: 8\n' >part.yaml
printf 'tensor_model_parallel_size: 2\npipeline_model_parallel_size: 2\nbf16: true\nlr: 1e-4\nsequence_parallel: true\n' >>part.yaml
expect 0 "0 errors" "$moeplan" validate part.yaml
script pretrain_gpt.py "$data --use-checkpoint-args --expert-model-parallel-size 8"
expect 0 "0 errors" "$moeplan" validate r.sh
printf '#!/bin/bash\ntorchrun --nproc-per-node 8 train_hops.py --hops moe.json --bf16 --micro-batch-size 1 --expert-model-parallel-size 8\n' >r.sh
expect 0 "0 errors" "$moeplan" validate r.sh
script pretrain_gpt.py "$data --tensor-model-parallel-size {{ tp | int }} --lr-warmup-iters {{ warmup }}"
expect 0 "to be filled in: {{ tp | int }}, {{ warmup }}" "$moeplan" validate r.sh
has "0 errors"
script pretrain_gpt.py "$data --enable-hops-of-ours"
expect 0 "warning[unknown-key]" "$moeplan" validate r.sh
printf -- '--num-layers 4\n--hidden-size 64\n--num-attention-heads 8\n--inference-repeat-n 2\n' >serve.args
expect 0 "0 errors" "$moeplan" validate serve.args

# machines that a platform gives are not known by the number without it
printf '#!/bin/bash\ntorchrun --nproc-per-node 8 --nnodes ${WORLD_SIZE:-1} pretrain_gpt.py %s\n' \
    "$sizes $data --pipeline-model-parallel-size 16" >r.sh
expect 1 "warning[world-size-divides]" "$moeplan" validate r.sh

# what only later releases refuse is no error of a launch that may be for an earlier one, nor of a fork
te="--cross-entropy-loss-fusion --cross-entropy-fusion-impl te"
script pretrain_gpt.py "$data $te"
expect 1 "error[cross-entropy-fusion-not-te]" "$moeplan" validate r.sh
script pretrain_gpt.py "$data $te --legacy-tokenizer"
expect 0 "warning[cross-entropy-fusion-not-te]" "$moeplan" validate r.sh
has "release 0.16 does not refuse it"
run 1 "$moeplan" validate r.sh --framework-version main
script pretrain_gpt.py "$data $te --hop --hip 3"
expect 0 "warning[cross-entropy-fusion-not-te]" "$moeplan" validate r.sh
# a flag of a former release is no slip of one of today's
script pretrain_gpt.py "$data --encoder-pipeline-model-parallel-size 1"
expect 0 "--encoder-pipeline-model-parallel-size" "$moeplan" validate r.sh

# a script in a checkout is for the release of the checkout
mkdir -p tree/megatron/core tree/examples/a
printf "MAJOR = 0\nMINOR = 16\nPATCH = 0\nPRE_RELEASE = 'rc1'\n" >tree/megatron/core/package_info.py
script pretrain_gpt.py "$data $te"
cp r.sh tree/examples/a/
expect 0 "Megatron-LM 0.16's lock file" "$moeplan" validate tree/examples/a/r.sh
lacks "cross-entropy-fusion-not-te"
run 1 "$moeplan" validate tree/examples/a/r.sh --framework-version main
printf 'MAJOR = 0\nMINOR = 9\n' >tree/megatron/core/package_info.py
expect 0 "Megatron-LM 0.14's lock file" "$moeplan" validate tree/examples/a/r.sh
printf 'MAJOR = 7\nMINOR = 9\n' >tree/megatron/core/package_info.py
expect 1 "Megatron-LM main@" "$moeplan" validate tree/examples/a/r.sh
printf 'version = "none"\n' >tree/megatron/core/package_info.py
expect 1 "Megatron-LM main@" "$moeplan" validate tree/examples/a/r.sh

# a program whose flags are mostly its own has but names in common with Megatron-LM
printf '#!/bin/bash\ntorchrun hop.py --hop 1 --hip 2 --hap 3 --hup 4 --bf16 --seed 1 --num-layers 3\n' >r.sh
expect 2 "arguments of a program that moeplan does not know" "$moeplan" validate r.sh
printf '#!/bin/bash\npython convert_hops.py import --seed 1 --bf16 --num-layers 3 --hop 1\n' >r.sh
expect 0 "info[value-unexpected]" "$moeplan" validate r.sh

# programs say on how many GPUs they train in settings of their own
slime() { printf '#!/bin/bash\nray job submit -- python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 8 --colocate --rollout-num-gpus-per-engine 2 %s\n' "$1" >slime.sh; }
grid="--tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 --context-parallel-size 1 --num-layers 24"
slime "$grid --global-batch-size 64 --expert-model-parallel-size 8"
run 0 "$moeplan" validate slime.sh
lacks "warning["
slime "$grid --expert-model-parallel-size 7"
expect 0 "warning[world-holds-the-experts]: 16 GPUs are not a multiple of ep 7 x pp 1 = 7" "$moeplan" validate slime.sh
slime "$grid --global-batch-size 65"
expect 0 "warning[batch-left-over]: a global batch of 65 is no multiple of the 8 data-parallel replicas" "$moeplan" validate slime.sh
slime "$grid --tensor-model-parallel-size 3 --actor-num-nodes \$HOPS"
run 0 "$moeplan" validate slime.sh
lacks "GPUs are not"
slime "$grid --recompute-granularity ful --optimizer adm"
expect 0 "did you mean full?" "$moeplan" validate slime.sh
has "warning[value-choice]: --optimizer does not take 'adm'"
swift() { printf '#!/bin/bash\n%s \\\nmegatron sft --model Qwen/Qwen3-8B --tensor_model_parallel_size 2 --pipeline_model_parallel_size 3\n' "$1" >swift.sh; }
swift "NPROC_PER_NODE=8"
expect 0 "8 GPUs are not a multiple of tp 2 x pp 3 = 6" "$moeplan" validate swift.sh
swift "NNODES=3 NPROC_PER_NODE=8"
run 0 "$moeplan" validate swift.sh
lacks "GPUs are not"
printf '#!/bin/bash\npython3 -m verl.trainer.main_ppo \\\n  actor_rollout_ref.actor.megatron.tensor_model_parallel_size=3 \\\n  actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=1 \\\n  trainer.nnodes=%s trainer.n_gpus_per_node=8\n' 2 >verl.sh
expect 0 "16 GPUs are not a multiple of" "$moeplan" validate verl.sh
sed -i 's/nnodes=2/nnodes=3/' verl.sh
run 0 "$moeplan" validate verl.sh
lacks "GPUs are not"
rl() { printf 'policy:\n  model_name: hop\n  train_global_batch_size: %s\n  generation: {colocated: {enabled: %s}}\n  megatron_cfg:\n    enabled: %s\n    tensor_model_parallel_size: 2\n    pipeline_model_parallel_size: 2\n    context_parallel_size: 1\n%scluster: {num_nodes: 1, gpus_per_node: 8}\n' "$1" "$2" "$3" "$4" >rl.yaml; }
rl 9 true true ""
expect 0 "warning[batch-left-over]: a global batch of 9 is no multiple of the 2 data-parallel replicas" "$moeplan" validate rl.yaml
rl 9 false true ""
run 0 "$moeplan" validate rl.yaml
lacks "data-parallel replicas"
rl 9 true false ""
run 0 "$moeplan" validate rl.yaml
lacks "data-parallel replicas"
rl 0 true true ""
expect 0 "warning[global-batch-size-positive]" "$moeplan" validate rl.yaml

# keys in capitals or with dashes, a list for a number, a number for a truth, and a key above its section are nobody's
for line in "Context_Parallel_Size: 2" "expert-model_parallel_size: 2"; do
    rl 8 true true "    $line
"
    expect 0 "has no key ${line%%:*}" "$moeplan" validate rl.yaml
done
rl 8 true true "    num_layers: [4]
"
expect 0 "num_layers takes an integer, not a list" "$moeplan" validate rl.yaml
rl 8 true true "    sequence_parallel: 2
"
expect 0 "rl.yaml:10:" "$moeplan" validate rl.yaml
rl 8 true true "expert_model_parallel_size: 2
"
expect 0 "it belongs into policy.megatron_cfg" "$moeplan" validate rl.yaml
printf 'MODEL_ARGS:\n  --num-layers: 4\n  --hidden-size: 64\n  --num-attention-heads: 8\n--tensor-model-parallel-size: 2\n' >args.yaml
expect 0 "nobody reads --tensor-model-parallel-size here" "$moeplan" validate args.yaml

# what Megatron-LM's training scripts alone refuse; a size that comes of a model known by its name is no slip of the file's
printf '#!/bin/bash\nNPROC_PER_NODE=8 megatron sft --model zai-org/GLM-4.6 --lora_rank 8 --tensor_model_parallel_size 8 --micro_batch_size 1 --global_batch_size 2\n' >glm.sh
expect 0 "0 errors, 0 warnings" "$moeplan" validate glm.sh
printf '#!/bin/bash\nNPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-Next-80B-A3B-Instruct --lora_rank 8 --mtp_num_layers 1 --micro_batch_size 1 --global_batch_size 8\n' >mtp.sh
expect 0 "info[attention-variant-without-mtp]" "$moeplan" validate mtp.sh
lacks "warning["
# FlagScale makes flags of its keys, with dashes or without, and splits layers among meshes
printf 'system:\n  tensor_model_parallel_size: 1\n  pipeline-model-parallel-size: 3\n  hetero: {enable_hetero: true, hetero_pipeline_layer_split: [2, 4, 2]}\nmodel:\n  num_layers: 8\n  untie-embeddings-and-output-weights: true\n' >fs.yaml
expect 0 "0 errors, 0 warnings" "$moeplan" validate fs.yaml

# of a model and a layout that are merged from two files, each says its half: nothing is missing there
printf 'MODEL_ARGS:\n  --num-layers: 16\n  --hidden-size: 1024\n  --max-position-embeddings: 4096\n  --num-experts: 32\n  --global-batch-size: 32\n' >half.yaml
expect 0 "0 errors, 0 warnings" "$moeplan" validate half.yaml
printf 'ENV_VARS: {}\nMODEL_ARGS:\n  --micro-batch-size: 4\n  --tensor-model-parallel-size: 1\n  --expert-model-parallel-size: 8\n  --bf16: true\n' >half.yaml
expect 0 "0 errors, 0 warnings" "$moeplan" validate half.yaml
printf '  --num-layers: 16\n' >>half.yaml
expect 1 "error[ep-needs-experts]" "$moeplan" validate half.yaml

# a launcher's flag takes no list for a number; among underscores nobody reads dashes; whole microbatches on however many GPUs
printf 'MODEL_ARGS:\n  --num-layers: [4]\n  --hidden-size: 64\n  --num-attention-heads: 8\n  --micro-batch-size: 4\n  --global-batch-size: 129\n' >args.yaml
run 1 "$moeplan" validate args.yaml
has "args.yaml:2:17: warning[value-type]: --num-layers takes an integer, not a list"
has "global batch size 129 is not a multiple of micro batch 4"
printf 'micro_batch_size: 1\nglobal_batch_size: 8\ntrain_iters: 10\nnum-layers: 4\nhidden_size: [64]\n' >names.yaml
run 1 "$moeplan" validate names.yaml
has "names.yaml:4:1: error[unknown-key]"
has "hidden_size takes an integer, not a list"

# a file is checked with those that it is laid over; what is wrong in them alone is told of them
mkdir -p .git base
printf 'policy:\n  train_global_batch_size: 8\n  generation: {colocated: {enabled: true}}\n  megatron_cfg:\n    enabled: true\n    num_layer: 4\n    tensor_model_parallel_size: 2\n    pipeline_model_parallel_size: 3\n    context_parallel_size: 1\ncluster: {num_nodes: 1, gpus_per_node: 8}\n' >base/rl.yaml
expect 0 "8 GPUs are not a multiple of tp 2 x pp 3 = 6" "$moeplan" validate base/rl.yaml
over() { printf 'defaults: %s\npolicy:\n  megatron_cfg: {%s}\n' "$1" "$2" >rl.yaml; }
over base/rl.yaml "sequence_parallel: true"
run 0 "$moeplan" validate rl.yaml
has "0 errors, 0 warnings"
over base/rl.yaml "tensor_model_parallel_size: 4"
expect 0 "rl.yaml:3:" "$moeplan" validate rl.yaml
has "8 GPUs are not a multiple of tp 4 x pp 3 = 12"
has "written at line 8 of base/rl.yaml"
printf 'defaults: [rl.yaml, none.yaml]\npolicy:\n  train_global_batch_size: 9\n' >base/mid.yaml
over base/mid.yaml "pipeline_model_parallel_size: 1"
expect 0 "a global batch of 9 is no multiple of the 4 data-parallel replicas" "$moeplan" validate rl.yaml
over base/mid.yaml "pipeline_model_parallel_size: 1, _override_: true"
run 0 "$moeplan" validate rl.yaml
lacks "replicas"
printf 'defaults: rl.yaml\n' >base/rl.yaml
over base/rl.yaml "tensor_model_parallel_size: 4"
run 0 "$moeplan" validate rl.yaml

# a file of Primus holds what its presets say: null is none, and what nobody says is Megatron-LM's default
mkdir -p primus/configs/models/megatron primus/configs/modules/megatron
printf 'num_layers: 24\nnum_experts: null\nmicro_batch_size: 0\n' >primus/configs/models/megatron/base.yaml
printf 'extends: [base.yaml]\nnum_layers: 4\nhidden_size: 64\nnum_attention_heads: 8\nsequence_parallel: true\n' >primus/configs/models/megatron/hop.yaml
printf 'micro_batch_size: 2\nglobal_batch_size: 16\ntrain_iters: 10\nlr: 1.0e-4\n' >primus/configs/modules/megatron/pre_trainer.yaml
primus() { printf 'modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n    model: %s.yaml\n    overrides:\n      seq_length: 128\n      max_position_embeddings: 128\n      %s\n' "$1" "$2" >p.yaml; }
primus hop "bf16: true"
expect 0 "0 errors, 0 warnings" "$moeplan" validate p.yaml
primus hop "tensor_model_parallel_size: 3"
run 1 "$moeplan" validate p.yaml
has "p.yaml:9:35: error[heads-divide-over-tp]: 8 attention heads are not a multiple of tp 3"
has "written at line 4 of primus/configs/models/megatron/hop.yaml"
primus '${HOP:hop}' "expert_model_parallel_size: 7"
expect 0 "warning[ep-needs-experts]" "$moeplan" validate p.yaml
cp primus/configs/models/megatron/hop.yaml hop.yaml
sed -i 's/\[base.yaml\]/\n  - base.yaml/; $aenable_primus_turbo: true\nhigh_priority_stream_groups: []' hop.yaml
run 0 "$moeplan" validate hop.yaml
has "1 program file"
lacks "unknown-key"
lacks "value-missing"
sed -i 's/num_layers/num_lyaers/' hop.yaml
expect 0 "did you mean num_layers?" "$moeplan" validate hop.yaml
printf 'extends: [base.yaml]\nskip_steps: 3\nhop_dim: 4\nhidden_size: 64\nstage: 1\n' >hop.yaml
run 2 "$moeplan" validate hop.yaml
primus skip "expert_model_parallel_size: 7"
rm primus/configs/modules/megatron/pre_trainer.yaml
run 0 "$moeplan" validate p.yaml
lacks "ep-needs-experts"
primus hop "recompute_granularity: full"
expect 0 "warning[full-recompute-needs-method]" "$moeplan" validate p.yaml
echo "      recompute_layer_ids: 0,3" >>p.yaml
run 0 "$moeplan" validate p.yaml
lacks "full-recompute-needs-method"
primus hop "train_iters: -5"
expect 0 "--train-iters is -5: no size is below zero" "$moeplan" validate p.yaml
primus hop "use_distributed_optimizer: 2"
expect 0 "use_distributed_optimizer takes true or false, not 2" "$moeplan" validate p.yaml
primus hop "bf16: true"
echo "micro_batch_size: 4" >>p.yaml
expect 0 "reads no micro_batch_size here" "$moeplan" validate p.yaml
# a check of Megatron-LM's command line that NeMo-RL does not come by; a script that another one is handed to
printf 'policy:\n  megatron_cfg:\n    enabled: true\n    distributed_data_parallel_config: {overlap_param_gather: true, overlap_grad_reduce: false, use_distributed_optimizer: true}\n' >rl.yaml
run 0 "$moeplan" validate rl.yaml
lacks "param-gather-overlap"
script "hop.py pretrain_gpt.py" "$data"
run 0 "$moeplan" validate r.sh
lacks "belongs to no flag"
printf 'policy:\n  max_grad_norm: 1x\n  megatron_cfg: {enabled: 2}\n' >rl.yaml
run 0 "$moeplan" validate rl.yaml
has "max_grad_norm takes a number, not '1x'"
has "enabled takes true or false, not '2'"
printf 'policy:\n  megatron_cfg: {enabled: true}\ntrain_micro_batch_size: 1\n' >rl.yaml
expect 0 "rl.yaml:3:1: warning[unknown-key]: NeMo-RL reads no train_micro_batch_size here" "$moeplan" validate rl.yaml
has "it is policy.train_micro_batch_size"
# more samples in a microbatch than in a step are wrong whatever the grid is; keys that its code puts together are known
printf 'policy:\n  train_global_batch_size: 4\n  train_micro_batch_size: 8\n  megatron_cfg: {enabled: true}\n' >rl.yaml
expect 0 "rl.yaml:" "$moeplan" validate rl.yaml
has "global batch size 4 is not a multiple of micro batch 8"
printf 'policy:\n  train_global_batch_size: 8\n  train_micro_batch_size: 4\n  megatron_cfg: {enabled: true}\n' >rl.yaml
run 2 "$moeplan" validate rl.yaml
lacks "global-batch"
printf 'policy:\n  megatron_cfg: {enabled: true}\nsft: {val_at_satrt: true}\ndata: {train: {system_prmpt: hop}}\n' >rl.yaml
expect 0 "did you mean val_at_start?" "$moeplan" validate rl.yaml
has "did you mean system_prompt?"

# a switch of NeMo-RL's goes before the words of Megatron-LM that it switches, and says those that are left out
rl() { printf 'policy:\n  megatron_cfg: {enabled: true, activation_checkpointing: %s}\n' "$1" >rl.yaml; }
rl "false, recompute_granularity: full"
run 0 "$moeplan" convert rl.yaml --to megatron
lacks "--recompute-granularity full"
lacks "activation_checkpointing"
rl "true"
run 0 "$moeplan" convert rl.yaml --to megatron
has "--recompute-granularity full"
has "--recompute-method uniform"
has "--recompute-num-layers 1"
rl "true, recompute_granularity: selective"
run 0 "$moeplan" convert rl.yaml --to megatron
has "--recompute-granularity selective"
lacks "--recompute-method"

# what a launch perhaps has
printf '#!/bin/bash\nif [ -n "$M" ]; then EXTRA+=(actor_rollout_ref.ref.megatron.dist_checkpointiing_path=$M actor_rollout_ref.actor.strategy =x); fi\npython3 -m verl.trainer.main_ppo \\\n actor_rollout_ref.actor.megatron.tensor_model_parallel_size=1 ${EXTRA[@]}\n' >v.sh
run 0 "$moeplan" validate v.sh
has "did you mean dist_checkpointing_path?"
has "v.sh:2:89: warning[value-missing]: actor_rollout_ref.actor.strategy has no value"

# what slime leaves as it is has Megatron-LM's default, and a value behind a flag of its own is no flag
slime="--actor-num-nodes 1 --actor-num-gpus-per-node \$GPUS --rollout-batch-size 32 --n-samples-per-prompt 8 --colocate"
script train.py "$slime --num-layers 4 --hidden-size 64 --recompute-granularity full --recompute-num-layers 1"
expect 0 "warning[full-recompute-needs-method]" "$moeplan" validate r.sh
script train.py "$slime --num-layers 4 --recompute-granularity full --recompute-num-layers 1 --sglang-cuda-graph-bs 1 \$(seq 8 8 64)"
expect 0 "warning[full-recompute-needs-method]" "$moeplan" validate r.sh
# who says how many layers are recomputed says the method beside it, and not in a variable
for rest in "\$MORE" "--sglang-cuda-graph-bs 1 \$(seq 1 0 4)" "--sglang-cuda-graph-bs 1 \$(seq 9999)" "--sglang-cuda-graph-bs 1 \$(seq -f %g 3)"; do
    script train.py "$slime --num-layers 4 --recompute-granularity full --recompute-num-layers 1 $rest"
    expect 0 "warning[full-recompute-needs-method]" "$moeplan" validate r.sh
    script train.py "$slime --num-layers 4 --recompute-granularity full $rest"
    run 0 "$moeplan" validate r.sh
    lacks "full-recompute-needs-method"
done
script train.py "$slime --num-layers 4 --hidden-size 64 --recompute-granularity full \$MORE"
run 0 "$moeplan" validate r.sh
lacks "full-recompute-needs-method"
