#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is wrong in a branch that a script takes for other values of its variables.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

cat >train.sh <<'EOF'
#!/bin/bash
MODEL_SIZE=$1
AC=${2}
TP=${TP:-2}
if [ $MODEL_SIZE = 8B ]; then
    NUM_LAYERS=32
    NUM_HEADS=32
elif [ $MODEL_SIZE = 70B ]; then
    NUM_LAYERS=80
    NUM_HEADS=63
fi
case $AC in
    full) recompute="--recompute-granularity full --recompute-num-layers 1" ;;
    none|off) recompute="" ;;
    *) echo "not $AC"; exit 1 ;;
esac
torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size $TP --num-layers $NUM_LAYERS \
    --hidden-size 4096 --num-attention-heads $NUM_HEADS --seq-length 4096 --micro-batch-size 1 \
    --global-batch-size 64 --max-position-embeddings 4096 --train-iters 10 --lr 1e-4 --bf16 \
    --mock-data --tokenizer-type NullTokenizer --vocab-size 1000 $recompute
EOF
run 0 "$moeplan" validate train.sh
has 'warning[heads-divide-over-tp]: 63 attention heads are not a multiple of tp 2'
has 'note: where $1 is 70B'
has 'warning[full-recompute-needs-method]'
has 'note: where $2 is full'
lacks 'is 8B'

# branches that exclude each other are not put together
sed 's/NUM_HEADS=63/NUM_HEADS=64/; s/--recompute-num-layers 1/--recompute-method uniform &/' train.sh >good.sh
run 0 "$moeplan" validate good.sh
lacks "warning["
cat >either.sh <<'EOF'
if [ "$PRECISION" = fp16 ]; then kind=--fp16; elif [ "$PRECISION" = bf16 ]; then kind=--bf16; fi
torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 64 $kind
EOF
run 0 "$moeplan" validate either.sh
lacks fp16-or-bf16

# a variable that is set in the script is another in the branch that asks for it
cat >set.sh <<'EOF'
RECIPE=small
HEADS=8
[[ $RECIPE == large ]] && HEADS=9
torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads $HEADS \
    --tensor-model-parallel-size 2 --seq-length 64
EOF
expect 1 'note: where RECIPE is large' "$moeplan" validate set.sh

# a flag that only another backend has is no fault of that branch; a slip in it is one; what converts models takes sizes that are none
cat >backend.sh <<'EOF'
if [ "$BACKEND" = fsdp ]; then args="--gradient-checkpointing --sharding-plan x --weigth-decay 0.1"; fi
torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --micro-batch-size 1 $args
EOF
run 1 "$moeplan" validate backend.sh
has "did you mean --weight-decay"
lacks "no flag --gradient-checkpointing"
cat >convert.sh <<'EOF'
if [ "$1" = 8B ]; then groups="--group-query-attention --num-query-groups 8"; fi
python hf2mcore_llama.py --load x --save y --num-layers 1 --hidden-size 1 --num-attention-heads 1 --seq-length 1 $groups
EOF
run 0 "$moeplan" validate convert.sh
lacks query-groups

# a quote that is lost where a variable is emptied is told where it opens
sed 's/NUM_HEADS=63/options="/' train.sh >open.sh
expect 2 'open.sh:10:13: error[shell-syntax]' "$moeplan" validate open.sh
