#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Forks of Megatron-LM: which release they stand on, what their parsers take, and what a model of their own does not check.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

# a flag that a newer release has too may be the fork's own: one alone says nothing of the release, two do
own="$data --hop-a 1 --hop-b 2 --cross-entropy-loss-fusion --cross-entropy-fusion-impl te"
script train_hop.py "$own"
expect 0 "release 0.17 does not refuse it" "$moeplan" validate r.sh
script train_hop.py "$own --chat-template hop"
expect 0 "warning[cross-entropy-fusion-not-te]" "$moeplan" validate r.sh
script train_hop.py "$own --chat-template hop --fault-injector-ranks 1"
expect 1 "error[cross-entropy-fusion-not-te]" "$moeplan" validate r.sh

# what a model class of Megatron-LM's checks, a script that builds another model does not run into
export NVTE_FUSED_ATTN=0
printf '#!/bin/bash\nexport NVTE_FUSED_ATTN=0\ntorchrun --nproc_per_node 8 train_hop.py %s\n' "$sizes $data --hop-a 1 --hop-b 2 --attention-backend fused" >r.sh
expect 0 "warning[attention-environment-fused]" "$moeplan" validate r.sh
has "this script may build another"
sed -i 's/train_hop.py/pretrain_gpt.py/' r.sh
expect 1 "error[attention-environment-fused]" "$moeplan" validate r.sh

# a parser that is made of dataclasses: the fields of the checkout's are its flags, and their words its choices
mkdir -p fork/megatron/core fork/megatron/training/config
printf 'MAJOR = 0\nMINOR = 19\n' >fork/megatron/core/package_info.py
printf 'factory = ArgumentGroupFactory(HopConfig)\n' >fork/megatron/training/arguments.py
printf '@dataclass\nclass HopConfig:\n    distributed_backend: Literal["nccl", "hop"] = "nccl"\n    """Hops."""\n\n    num_expert: int = 1\n\n    mmap_hop: bool = True\n' \
    >fork/megatron/training/config/common_config.py
script pretrain_gpt.py "$data --distributed-backend hop --num-expert 8 --no-mmap-hop"
expect 0 "warning[value-choice]: --distributed-backend does not take 'hop'" "$moeplan" validate r.sh
cp r.sh fork/
expect 0 "info[fork-flags]: --num-expert and 1 others are flags of this checkout" "$moeplan" validate fork/r.sh
lacks "value-choice"
sed -i 's/backend hop/backend nccl2/' fork/r.sh
expect 0 "warning[value-choice]: --distributed-backend does not take 'nccl2'" "$moeplan" validate fork/r.sh
printf 'x = 1\n' >fork/megatron/training/arguments.py
expect 0 "has no flag --num-expert" "$moeplan" validate fork/r.sh

# a number that its own parser takes as it is
printf 'group.add_argument("--rotary-base", type=float)\n' >fork/megatron/training/arguments.py
script pretrain_gpt.py "$data --position-embedding-type rope --rotary-base 5e6"
cp r.sh fork/
expect 1 "error[value-type]" "$moeplan" validate r.sh
expect 0 "0 errors, 0 warnings" "$moeplan" validate fork/r.sh
printf 'group.add_argument("--rotary-base", type=int)\n' >fork/megatron/training/arguments.py
expect 1 "error[value-type]" "$moeplan" validate fork/r.sh
# what a message says of a flag, and the function behind a parser's last one, is not what the parser is told
cat >fork/megatron/training/arguments.py <<'EOF'
def validate(args):
    assert args.rotary_base, "no --rotary-base"
    scale = float(args.rotary_base)
def add(group):
    group.add_argument("--scale", type=float)
    group.add_argument("--rotary-base", type=int)
def convert(x):
    return float(x)
EOF
expect 1 "error[value-type]" "$moeplan" validate fork/r.sh

# where a fork's model stands in a file of its own, nothing is missing
moe="--micro-batch-size 1 --train-iters 10 --lr 1e-4 --bf16 --expert-model-parallel-size 2 --moe-router-topk 2 --hop-a 1 --hop-b 2 --hop-c 3"
printf '#!/bin/bash\ntorchrun --nproc_per_node 8 train_hop.py --config-file hop.yaml %s\n' "$moe" >r.sh
expect 0 "has no flag" "$moeplan" validate r.sh
lacks "experts-not-counted"
sed -i 's/--config-file hop.yaml/--num-layers 4/' r.sh
expect 0 "warning[experts-not-counted]" "$moeplan" validate r.sh

# what only a platform's number of machines decides, or a newer release alone warns of, is a remark
printf '#!/bin/bash\nNODES=${WORLD_SIZE:-1}\ntorchrun --nnodes $NODES --nproc_per_node 8 train_hop.py %s --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4\n' "$moe" >r.sh
expect 0 "info[world-holds-what-is-written]" "$moeplan" validate r.sh
sed -i 's/--train-iters/--global-batch-size 3 --micro-batch-size 2 --train-iters/' r.sh
expect 0 "warning[global-batch-holds-microbatches]" "$moeplan" validate r.sh
sed -i 's/NODES=.*/NODES=1/' r.sh
expect 0 "warning[world-holds-what-is-written]" "$moeplan" validate r.sh
script train_hop.py "$data --hop-a 1 --hop-b 2 --rampup-batch-size 8 8 80 --global-batch-size 64"
expect 0 "info[rampup-ignored]" "$moeplan" validate r.sh
has "does not refuse it"

# a program that writes its flags with underscores has no slips of Megatron-LM's
printf '#!/bin/bash\nCMD="python3 train_hop.py --lr 1e-4 --bf16 --num-layers 4 --ffn_hidden_size 8 --num_attention_heads 8 --vocab_file v"\nhop --command "$CMD"\n' >h.sh
run 2 "$moeplan" validate h.sh
lacks "unknown-key"
sed -i 's/--num_attention_heads 8 --vocab_file/--num-attention-heads 8 --vocab-file/' h.sh
expect 0 "did you mean --ffn-hidden-size" "$moeplan" validate h.sh

# a recipe that a checkout of Bridge has, and the data of one that nobody knows
mkdir -p br/src/megatron/bridge/recipes/hop br/jobs
printf 'MAJOR = 0\nMINOR = 5\n' >br/src/megatron/bridge/package_info.py
printf '#!/bin/bash\ntorchrun --nproc_per_node 8 run_recipe.py --recipe qwen3_9b_pretrain_config train.train_iters=2 dataset.train_iters=8\n' >br/jobs/b.sh
expect 0 "has no recipe qwen3_9b_pretrain_config" "$moeplan" validate br/jobs/b.sh
lacks "unknown-key"
sed -i 's/dataset.train_iters/dataset.seq_legnth/' br/jobs/b.sh
expect 0 "did you mean dataset.seq_length" "$moeplan" validate br/jobs/b.sh
sed -i 's/dataset.seq_legnth/dataset.train_iters/' br/jobs/b.sh
printf 'from .hop import qwen3_9b_pretrain_config\n' >br/src/megatron/bridge/recipes/hop/__init__.py
expect 0 "0 errors, 0 warnings" "$moeplan" validate br/jobs/b.sh
sed -i 's/qwen3_9b/qwen3_8b/' br/jobs/b.sh
expect 0 "has no field dataset.train_iters" "$moeplan" validate br/jobs/b.sh
# a field that only some class of a model or of data has is not what somebody means elsewhere; one of every model is
sed -i 's/dataset.train_iters/rng.sample_count/' br/jobs/b.sh
expect 0 "has no field rng.sample_count" "$moeplan" validate br/jobs/b.sh --framework-version main
lacks "did you mean model.sample_count"
sed -i 's/rng.sample_count/rng.pipeline_model_parallel_size/' br/jobs/b.sh
expect 1 "did you mean model.pipeline_model_parallel_size" "$moeplan" validate br/jobs/b.sh --framework-version main

# a key that the file's own values refer to is its own; paths alone are nobody's launch
nrl() { printf 'policy:\n  model_name: Qwen/Qwen3-8B\n  context_parallel_size: 1\n  dtensor_cfg: {enabled: false, context_parallel_size: "%s"}\n  megatron_cfg: {enabled: true, tensor_model_parallel_size: 1}\ncluster: {gpus_per_node: 8, num_nodes: 1}\ngrpo: {num_prompts_per_step: 8}\n' "$1" >n.yaml; }
# the model that it names has its own grouped queries, and no dropout
nrl 1
sed -i 's|Qwen/Qwen3-8B|meta-llama/Llama-3.1-8B-Instruct|' n.yaml
expect 1 "Llama-3.1-8B  8.03 B parameters" "$moeplan" estimate n.yaml --platform h100 --set seq_length=4096 --set global_batch_size=64 --set micro_batch_size=1
nrl 1
expect 0 "NeMo-RL reads no context_parallel_size here" "$moeplan" validate n.yaml
nrl '${policy.context_parallel_size}'
expect 0 "0 errors" "$moeplan" validate n.yaml
lacks "reads no context_parallel_size"
printf 'data_path: d\nvocab_file: v\nmerge_file: m\nsave: s\nhop: 1\n' >paths.yaml
expect 2 "skipped" "$moeplan" validate paths.yaml

# what a fork's own flags make of the model, or train of it, an estimate does not know, and says so
sure="--swiglu --use-distributed-optimizer --hop-lora-rank 16 --hop-dense 1 --hop-log 1 --position-embedding-type rope"
script train_hop.py "$data $sure"
expect 0 "not in the figures: --hop-lora-rank, --hop-dense, flags of the program's own" "$moeplan" estimate r.sh --platform h100
script pretrain_gpt.py "$data --swiglu --use-distributed-optimizer --position-embedding-type rope"
expect 0 "GPUs" "$moeplan" estimate r.sh --platform h100
lacks "not in the figures"
