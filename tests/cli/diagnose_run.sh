#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# diagnose against the estimate: is the run as fast as it should be, which part of the step differs, what mends it; profiles in
# three formats; errors that a log tells of; texts of any size.
. "$(dirname "$0")/../helpers.sh"

plan64 "etp: 1" "moe_token_dispatcher_type: alltoall" >"$dir/plan.yaml"
estimate=$("$moeplan" estimate "$dir/plan.yaml" --format json | number step_s)
scaled() { awk "BEGIN { print $1 * $estimate }"; }
diagnose() { # FILE…: against the plan, the answer in $dir/out
    "$moeplan" diagnose "$@" --plan "$dir/plan.yaml" >"$dir/out" 2>"$dir/err" || { cat "$dir/err"; fail "diagnose fails"; }
}

# as fast as estimated, slower, faster: each said, with how much
megatron_log "$(scaled 1.03)" >"$dir/good.log"
diagnose "$dir/good.log"
has "as fast as estimated: +3.0 %, inside the interval"
has "nearest public run: "
megatron_log "$(scaled 2)" >"$dir/slow.log"
diagnose "$dir/slow.log"
has "slow: 2.00 times the estimate"
has "beyond the interval's end"
has "give a trace of a few steady steps"
megatron_log "$(scaled 0.5)" >"$dir/fast.log"
diagnose "$dir/fast.log"
has "faster than the interval by"
sed 's/size:   512/size:   256/' "$dir/slow.log" >"$dir/other.log"
diagnose "$dir/other.log"
has "the log's global batch is 256, the plan's 512"

# from tokens/s, TFLOP/s or MFU where no time is stated; a time counts before them
tokens=$("$moeplan" estimate "$dir/plan.yaml" --format json | number tokens_per_s_per_gpu)
flops=$("$moeplan" estimate "$dir/plan.yaml" --format json | number model_tflops_per_gpu)
mfu=$("$moeplan" estimate "$dir/plan.yaml" --format json | number mfu)
for metric in "tps_per_gpu: $tokens" "model_tflops_per_gpu: $flops" "mfu: $mfu"; do
    echo "$metric" >"$dir/metrics"
    diagnose "$dir/metrics"
    has "as fast as estimated: +0.0 %"
done
printf 'step_s: %s\nmodel_tflops_per_gpu: %s\n' "$estimate" "$(awk "BEGIN { print 1.2 * $flops }")" >"$dir/metrics"
diagnose "$dir/metrics"
has "counts 1.20 times the estimate's for a token"
printf 'step_s: %s\nmodel_tflops_per_gpu: %s\nmfu: 0.1\n' "$estimate" "$flops" >"$dir/metrics"
diagnose "$dir/metrics"
has "counts a token's as the estimate does"
has "MFU: the run divides by about $(awk "BEGIN { printf \"%.0f\", 10 * $flops }") TFLOP/s"
echo "mfu: 21" >"$dir/metrics"
expect 2 "mfu" "$moeplan" diagnose "$dir/metrics"
echo "exposed_all_to_all_percent: 141" >"$dir/metrics"
expect 2 "141" "$moeplan" diagnose "$dir/metrics"

# term by term: the one that differs most, what it means, and moves that shorten it
printf 'step_s: 7\nexposed_all_to_all_percent: 40\nexposed_communication_percent: 44\nlaunch_gap_percent: 12\n' >"$dir/metrics"
diagnose "$dir/metrics"
grep -q "experts' exchange  *2.80 .*<- differs most" "$dir/out" || fail "the exchange is not the one"
grep -q "other exchanges  *0.28 " "$dir/out" || fail "no other exchanges"
grep -q "computation  *3.08 " "$dir/out" || fail "computation is not the rest"
has "look at the balance of experts"
grep -A2 "moves tried on the plan.* from 7.00 s" "$dir/out" | tail -1 | grep -q "expert exchange hidden false -> true" || fail "hiding the exchange comes first"
"$moeplan" diagnose "$dir/metrics" --plan "$dir/plan.yaml" --format json >"$dir/out"
has '"differs_most":"experts'
has '"pace":"slower"'

# a Chrome trace of 100 us: 50 computing, 20 all-to-all alone, 10 all-reduce alone, 20 nothing
cat >"$dir/trace.json" <<'JSON'
{"schemaVersion": 1, "traceEvents": [
 {"ph": "X", "cat": "kernel", "name": "nvjet_hsh_128", "ts": 1000, "dur": 40, "args": {"device": 0}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "ts": 1030, "dur": 30, "args": {"device": 0, "Collective name": "all_to_allv"}},
 {"ph": "X", "cat": "kernel", "name": "flash_fwd", "ts": 1060, "dur": 10, "args": {"device": 0}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum", "ts": 1090, "dur": 10, "args": {"device": 0}}
]}
JSON
diagnose "$dir/good.log" "$dir/trace.json"
has "computing 50.0 %, experts' exchange alone 20.0 %"
has "other exchange alone 10.0 %, copies alone 0.0 %, nothing 20.0 %"
has "wall: communication"
has "exposed_all_to_all_percent 20"
# the same as nsys tells it, and its sums, which say no shares
cat >"$dir/nsys.csv" <<'CSV'
Start (ns),Duration (ns),CorrId,Device,Strm,Name
1000,40000,1,NVIDIA H100 80GB HBM3 (0),7,"void nvjet<a, b>"
31000,30000,2,NVIDIA H100 80GB HBM3 (0),8,deep_ep::intranode::dispatch
61000,10000,3,NVIDIA H100 80GB HBM3 (0),7,flash_fwd
91000,10000,4,NVIDIA H100 80GB HBM3 (0),8,ncclDevKernel_AllReduce_Sum
CSV
"$moeplan" diagnose "$dir/nsys.csv" >"$dir/out" || fail "no CSV"
has "computing 50.0 %, experts' exchange alone 20.0 %"
cat >"$dir/sums.csv" <<'CSV'
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
75.0,3000000,3,1,1,1,1,0,"void cutlass::GroupProblemShape<a, b>"
25.0,1000000,1,1,1,1,1,0,ncclDevKernel_SendRecv
CSV
"$moeplan" diagnose "$dir/sums.csv" >"$dir/out" || fail "no sums"
has "experts' GEMMs 75.0 %, send, receive 25.0 %"
has "wall: none in sight"

# errors that a log tells of, with what their text says
cat >"$dir/broken.log" <<'LOG'
[rank5]:   File "/opt/megatron-lm/megatron/core/transformer/moe/experts.py", line 184, in forward
[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity of 79.11 GiB of which 1.10 GiB is free. Of the allocated memory 56.10 GiB is allocated by PyTorch, and 18.40 GiB is reserved by PyTorch but unallocated.
[rank2]:[E ProcessGroupNCCL.cpp:607] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLTOALL_BASE, Timeout(ms)=600000) ran for 600027 milliseconds before timing out.
LOG
cat "$dir/good.log" "$dir/broken.log" >"$dir/both.log"
diagnose "$dir/both.log"
has "[error-cuda-out-of-memory]"
has "rank 5, GPU 5 asked for 2.00 GiB in experts.py:184 in forward"
has "[memory-in-pieces]"
has "[error-collective-timeout]"
has "rank 2 waited in vain for ALLTOALL_BASE"
has "[monitor-collective-timeouts]"

# 80 MB of a log in constant memory
# A program with sanitizers maps terabytes from its start: there the limit means nothing.
most=400000
(ulimit -v $most; "$moeplan" version) >/dev/null 2>&1 || most=unlimited
awk 'BEGIN { for (i = 1; i <= 400000; i++) printf " [2026-01-01 10:00:00] iteration %8d/  400000 | elapsed time per iteration (ms): 5000.0 | global batch size:   512 | lm loss: 1.0E+00 | loss scale: 1.0 | grad norm: 1.000 | number of skipped iterations:   0 | number of nan iterations:   0 |\n", i }' |
    (ulimit -v $most; exec "$moeplan" diagnose - --plan "$dir/plan.yaml") >"$dir/out" || fail "a large log"
has "run: 400000 logged steps, 5.00 s a step"

# a trace of the host says nothing of the GPU
echo '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10.5,"dur":3.2,"args":{}}]}' >"$dir/host.json"
expect 2 "is a trace of the host alone, without a kernel: profile with ProfilerActivity.CUDA" "$moeplan" diagnose "$dir/host.json"

# a packed trace says what unpacks it
if command -v gzip >/dev/null; then
    printf '{"traceEvents": []}' | gzip >"$dir/trace.json.gz"
    expect 2 "is packed: gzip -dc FILE | moeplan diagnose -" "$moeplan" diagnose "$dir/trace.json.gz"
fi
