#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# diagnose: each wall by its symptom, the fixes in order, monitors, training logs of three frameworks,
# and what a plan adds.
. "$(dirname "$0")/../helpers.sh"

diagnose() { # METRICS [options]: the answer in $dir/out
    printf '%s\n' "$1" >"$dir/metrics"
    shift
    "$moeplan" diagnose "$dir/metrics" "$@" >"$dir/out" 2>"$dir/err" || { cat "$dir/err"; fail "diagnose fails"; }
}
in_order() { # texts, one after the other in the fixes
    last=0
    for text in "$@"; do
        at=$(grep -nF -- "$text" "$dir/out" | head -1 | cut -d: -f1)
        [ -n "$at" ] && [ "$at" -gt "$last" ] || fail "\"$text\" is not in its place"
        last=$at
    done
}

# S1.8: the four walls
diagnose 'out_of_memory: true'
has "wall: memory"
in_order "recompute chosen modules" "FP8, once BF16" "expert activations to the host" "fullest stage fewer layers"
diagnose '{"exposed_all_to_all_percent": 35}'
has "wall: communication"
in_order "fused dispatcher" "expert communication behind" "data-parallel collectives behind" "with its GEMMs" "pipeline layout"
diagnose '{"launch_gap_percent": 20}'
has "wall: host"
in_order "CUDA graphs" "garbage" "larger micro-batch" "CPU cores"
diagnose 'sm_utilization_percent: 45
exposed_all_to_all_percent: 3
launch_gap_percent: 2'
has "wall: compute"
in_order "grouped GEMM" "fused permutation" "FP8" "dispatcher's own kernels"

# missing metrics narrow the answer: low SM activity alone names no wall
diagnose 'sm_utilization_percent: 45'
has "wall: none in sight"
has "not given, would tell more:"
has "launch_gap_percent"

# S1.16: the larger wall first, the other one next
diagnose 'exposed_all_to_all_percent: 40
launch_gap_percent: 15'
has "wall: communication"
has "also seen: host"
has "then expect host; profile again"
diagnose 'exposed_all_to_all_percent: 12
launch_gap_percent: 25'
has "wall: host"
has "then expect communication"

# S3.7: the monitors
diagnose 'gpu_utilization_percent: 55
all_reduce_ms: 18
expert_load_cv: 0.35
grad_norm_max_over_median: 25'
has "thresholds crossed"
for rule in monitor-gpu-utilization monitor-all-reduce monitor-expert-balance monitor-gradient-norm; do has "[$rule]"; done
diagnose '{"gpu_utilization_percent": 75, "all_reduce_ms": 8, "expert_load_cv": 0.15, "grad_norm_max_over_median": 1.5}'
has "wall: none in sight"
lacks "["

# S3.15: balance before the dispatcher; S0.13: the encoder before the dispatcher
diagnose 'expert_load_max_over_mean: 2.0
exposed_all_to_all_percent: 25'
in_order "wall: communication" "balance the experts first" "fused dispatcher"
diagnose 'vision_encoder_percent: 45
exposed_all_to_all_percent: 20'
has "profile encoder, projector and decoder apart"

# with a plan: fixes that it has are left out, the others are tried
plan64 "etp: 1" "moe_token_dispatcher_type: alltoall" "moe_grouped_gemm: true" "overlap_grad_reduce: true" \
    "overlap_param_gather: true" >"$dir/plan.yaml"
diagnose 'exposed_all_to_all_percent: 35' --plan "$dir/plan.yaml"
has "moe_flex_dispatcher_backend = deepep"
has "estimated: step"
lacks "data-parallel collectives behind"
lacks "with its GEMMs"
# what was measured is not held against a plan that is changed
diagnose 'out_of_memory: true' --plan "$dir/plan.yaml"
has "16 bits [S1.4]"
has "estimated: step"
lacks "not on this plan: the run is out of memory"
diagnose 'launch_gap_percent: 35' --plan "$dir/plan.yaml" --format json
has '"wall":"host"'
has '"changes":{"micro_batch_size":2},"effect":{"step_s":'
has '"then_expect":"compute"'

# training logs
cat >"$dir/megatron.log" <<'LOG'
0: training ...
0:  [2026-01-01 10:00:00] iteration        1/     100 | consumed samples:          512 | elapsed time per iteration (ms): 60000.0 | throughput per GPU (TFLOP/s/GPU): 20.1 | learning rate: 1.0E-06 | global batch size:   512 | lm loss: 1.2E+01 | grad norm: 1.000 | number of skipped iterations:   0 |
0: [Rank 0] (after 1 iterations) memory (MB) | allocated: 40000.0 | max allocated: 78336.0 | reserved: 79000.0 | max reserved: 79872.0
0:  [2026-01-01 10:00:10] iteration        2/     100 | consumed samples:         1024 | elapsed time per iteration (ms): 10100.0 | throughput per GPU (TFLOP/s/GPU): 199.0 | learning rate: 1.0E-06 | global batch size:   512 | lm loss: 1.2E+01 | grad norm: 1.100 |
0:  [2026-01-01 10:00:20] iteration        3/     100 | consumed samples:         1536 | elapsed time per iteration (ms): 9900.0 | throughput per GPU (TFLOP/s/GPU): 201.0 | learning rate: 1.0E-06 | global batch size:   512 | lm loss: 1.2E+01 | grad norm: 14.000 |
0:  [2026-01-01 10:00:30] iteration        4/     100 | consumed samples:         2048 | elapsed time per iteration (ms): 10000.0 | throughput per GPU (TFLOP/s/GPU): 200.0 | learning rate: 1.0E-06 | global batch size:   512 | lm loss: 1.2E+01 | grad norm: 1.000 |
LOG
"$moeplan" diagnose "$dir/megatron.log" --plan "$dir/plan.yaml" >"$dir/out" || fail "exit $?"
lacks "refused"
sed 's/^gbs: .*/gbs: 2001/' "$dir/plan.yaml" >"$dir/odd.yaml"
expect 1 "refused: global batch size 2001" "$moeplan" diagnose "$dir/megatron.log" --plan "$dir/odd.yaml"
has "moeplan validate $dir/odd.yaml"
has "wall: memory"
expect 1 '{"plan":{"refused":{"errors":1,"rule":"batch-divides-into-microbatches"' "$moeplan" diagnose "$dir/megatron.log" --plan "$dir/odd.yaml" --format json
expect 0 '{"plan":null,"errors":[],"wall":"none"' "$moeplan" diagnose "$dir/megatron.log" --format json
sed 's/^mbs: .*/mbs: 64/; s/^gbs: .*/gbs: 65536/' "$dir/plan.yaml" >"$dir/big.yaml"
expect 1 "the plan does not fit by its estimate" "$moeplan" diagnose "$dir/megatron.log" --plan "$dir/big.yaml"
"$moeplan" diagnose "$dir/megatron.log" --plan "$dir/plan.yaml" >"$dir/out"
has "wall: memory"
has "max_allocated_gib 76.5"
has "monitor-gradient-norm"
cat >"$dir/automodel.log" <<'LOG'
2026-01-01 10:00:00 | INFO | root | step 1 | epoch 0 | loss 2.1000 | grad_norm 1.0000 | lr 1.00e-05 | mem 40.10 GiB | tps 80000.00(10000.00/gpu) | num_label_tokens 4096
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
LOG
"$moeplan" diagnose "$dir/automodel.log" --framework automodel >"$dir/out"
has "wall: memory"
has "the run is out of memory"
has "recompute activations"

# what is no metric
printf 'exposed_all_to_al_percent: 3\n' >"$dir/metrics"
run 2 "$moeplan" diagnose "$dir/metrics"
has "did you mean exposed_all_to_all_percent?"
printf 'launch_gap_percent: many\n' >"$dir/metrics"
run 2 "$moeplan" diagnose "$dir/metrics"
status=0
echo hello | "$moeplan" diagnose - >"$dir/out" 2>&1 || status=$?
[ "$status" = 2 ] || fail "no metrics at all: exit $status"

# a fix that a rule forbids is named with the rule's message, its values filled in
printf 'moeplan: 1\nframework: megatron\nmodel: qwen3-30b-a3b\nplatform: h100\ngpus: 16\ntp: 1\npp: 2\nep: 8\nmbs: 1\ngbs: 8\nseq: 4096\n' >"$dir/plan.yaml"
diagnose 'exposed_all_to_all_percent: 35' --plan "$dir/plan.yaml"
has "needs virtual stages: pp is 2 without vpp [ep-overlap-needs-virtual-stages]"
lacks "{plan."
