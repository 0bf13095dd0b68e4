#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gres=gpu:8
TP=${TP:-2}; NODES=$((TP * 4 - 6))
ARGS=( --num-layers 4 --tensor-model-parallel-size "$TP" )
if [[ -n "$X" && $TP -gt 1 ]]; then ARGS+=(--bf16); else ARGS+=(--fp16); fi
case $TP in 1|2) ARGS+=(--swiglu) ;; *) exit 1 ;; esac
f() { EXTRA="--seq-length $1"; }
f 4096
for i in 1 2; do N=$i; done
while [ $# -gt 0 ]; do shift; done
sbatch <<EOF
srun bash -c "torchrun --nproc-per-node=8 pretrain_gpt.py ${ARGS[@]} $EXTRA \$(date)"
EOF
