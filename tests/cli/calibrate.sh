#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# calibrate: logs of three frameworks and a microbenchmark move the coefficients they feel, and an
# estimate with the platform file written comes nearer to what was measured.
. "$(dirname "$0")/../helpers.sh"

plan64 "etp: 1" >"$dir/plan.yaml"
step=$("$moeplan" estimate "$dir/plan.yaml" --format json | number step_s)
slow=$(awk "BEGIN { print 1.2 * $step }")
megatron_log "$slow" >"$dir/slow.log"
"$moeplan" calibrate "$dir/slow.log" --recipe "$dir/plan.yaml" -o "$dir/own.yaml" 2>"$dir/told" ||
    { cat "$dir/told"; fail "calibrate fails"; }
grep -q "slow.log: measured .*before (-16.7 %)" "$dir/told" || { cat "$dir/told"; fail "the measurement is not shown"; }
grep -q "^as they were: .*" "$dir/told" || fail "what stayed is not said"
"$moeplan" platforms "$dir/own.yaml" >/dev/null || fail "the platform file cannot be read"
sed "s|^platform: .*|platform: own.yaml|" "$dir/plan.yaml" >"$dir/own_plan.yaml"
own=$("$moeplan" estimate "$dir/own_plan.yaml" --format json | number step_s)
awk "BEGIN { d = $own / $slow - 1; exit !(d > -0.06 && d < 0.06) }" || fail "estimated $own s with own coefficients, measured $slow"

# a log has any size: more than other files may have
{ yes "a line of something else" | head -n 3000000; cat "$dir/slow.log"; } >"$dir/long.log"
"$moeplan" calibrate "$dir/long.log" --recipe "$dir/plan.yaml" 2>"$dir/told" | cmp -s - "$dir/own.yaml" || { cat "$dir/told"; fail "a long log is another"; }
rm "$dir/long.log"

# it is the pace of this model on this machine: other runs of the pair follow, another model's do not
grep -q "^paced_model: Qwen3-30B-A3B$" "$dir/own.yaml" || { cat "$dir/own.yaml"; fail "the pace has no model"; }
moved() { # SED: the step of a changed plan on the own platform over that on h100
    sed "$1" "$dir/own_plan.yaml" >"$dir/there.yaml"
    sed "$1" "$dir/plan.yaml" >"$dir/here.yaml"
    there=$("$moeplan" estimate "$dir/there.yaml" --format json | number step_s)
    awk "BEGIN { print $there / $("$moeplan" estimate "$dir/here.yaml" --format json | number step_s) }"
}
pair=$(moved 's/^mbs: 1/mbs: 2/')
other=$(moved 's/qwen3-30b-a3b/moonlight-16b-a3b/')
awk "BEGIN { exit !($pair > 1.1 && $other == 1) }" || fail "own runs move the pair by $pair, another model by $other"

# what confirms the estimate leaves it where it was
megatron_log "$step" >"$dir/same.log"
"$moeplan" calibrate "$dir/same.log" --recipe "$dir/plan.yaml" -o "$dir/same.yaml" 2>/dev/null
same=$(grep -v "^platform:" "$dir/plan.yaml" | "$moeplan" estimate - --platform "$dir/same.yaml" --format json | number step_s)
awk "BEGIN { d = $same / $step - 1; exit !(d > -0.005 && d < 0.005) }" || fail "$step s confirmed became $same"

# two logs, each with its recipe; the order of the options does not matter
sed 's/^mbs: 1/mbs: 2/' "$dir/plan.yaml" >"$dir/plan2.yaml"
"$moeplan" calibrate --recipe "$dir/plan.yaml" --recipe "$dir/plan2.yaml" "$dir/slow.log" "$dir/same.log" >"$dir/two.yaml" 2>"$dir/told"
grep -q "from 2 measurements" "$dir/two.yaml" || fail "two logs are not two measurements"

# AutoModel states tokens per second and memory
cat >"$dir/am.yaml" <<'YAML'
moeplan: 1
framework: automodel
model: qwen3-30b-a3b
gpus: 8
seq: 4096
mbs: 2
gbs: 128
ep: 8
activation_checkpointing: true
YAML
for i in 1 2 3; do
    echo "2026-01-01 | INFO | root | step $i | epoch 0 | loss 2.1 | grad_norm 1.0 | lr 1.00e-05 | mem 60.00 GiB | tps 64000.00(8000.00/gpu) | num_label_tokens 4096"
done >"$dir/am.log"
"$moeplan" calibrate "$dir/am.log" --recipe "$dir/am.yaml" --platform h100 >"$dir/am_own.yaml" 2>"$dir/told" || { cat "$dir/told"; fail "an AutoModel log"; }
grep -q "GiB, estimated" "$dir/told" || fail "the memory is not used"
grep -q " s, estimated" "$dir/told" || fail "the throughput is not used"

# a microbenchmark needs no recipe: a row a line, behind one that says on what it was measured
row() { # OP SECONDS FIELDS: a row
    printf '{"id":"%s","op":"%s","chip":"h100","seconds":%s,%s}\n' "$1" "$1" "$2" "$3"
}
bench() { echo '{"moeplan_microbenchmark":2,"chip":"h100","device":"NVIDIA H100 80GB HBM3"}'; }
{
    bench
    for x in "0.0016 8192,\"n\":8192,\"k\":8192" "0.0032 16384,\"n\":8192,\"k\":8192" "0.0064 16384,\"n\":16384,\"k\":8192" \
        "0.0064 8192,\"n\":16384,\"k\":16384" "0.0127 16384,\"n\":16384,\"k\":16384"; do
        row gemm "${x%% *}" "\"kernel\":\"cublas\",\"dtype\":\"bf16\",\"m\":${x#* }"
    done
    row gemm 0.001 '"dtype":"bf16","m":5'
    row grouped_gemm 0.0004 '"kernel":"te","dtype":"bf16","m":1024,"experts":8,"n":3072,"k":4096'
    row attention_forward 0.0012 '"kernel":"te","dtype":"bf16","seq":8192,"batch":1,"heads":32,"qk_dim":128,"v_dim":128'
    row attention_backward 0.0032 '"kernel":"te","dtype":"bf16","seq":8192,"batch":1,"heads":32,"qk_dim":128,"v_dim":128'
    row sustained 0.0783 '"kernel":"gemm","dtype":"bf16","gemm_s":0.0683'
    row copy 0.0004 '"bytes":1073741824'
    row host_copy 0.00488 '"kernel":"to_host","bytes":268435456'
    row adam 0.00286 '"kernel":"torch_fused","bytes":7516192768'
    row launch 2e-5 '"kernel":"layer"'
    row captured 1.02e-6 '"kernel":"chain"'
} >"$dir/bench.jsonl"
"$moeplan" calibrate "$dir/bench.jsonl" --platform h100 >"$dir/bench.yaml" 2>"$dir/told" || { cat "$dir/told"; fail "a microbenchmark"; }
grep -q "^determined: gemm_bf16 " "$dir/told" || { cat "$dir/told"; fail "GEMMs do not determine the GEMM rate"; }
for name in hbm_stream attention_forward pcie optimizer_stream host_op_s gpu_gap_s; do
    grep -q "^ *$name: {value:" "$dir/bench.yaml" || { cat "$dir/told"; fail "$name does not move"; }
done
! grep -q " throttling:" "$dir/bench.yaml" || fail "a stream moves what runs determine"
! grep -q " gemm_start_s:" "$dir/bench.yaml" || fail "a row without its sizes moves a coefficient"
grep -q "1 rows without" "$dir/told" || { cat "$dir/told"; fail "a broken row is not told"; }
! grep -q " nic:" "$dir/bench.yaml" || fail "the network moved without a measurement"
"$moeplan" platforms "$dir/bench.yaml" >/dev/null || fail "the platform file cannot be read"
expect 0 "15 rows, 1 without a law, 0 lines" "$moeplan" calibrate --check "$dir/bench.jsonl"
has "sustained gemm bf16 h100"

# kernels that no coefficient is of move nothing: a bare operation, FlashAttention 2 through SDPA, an unnamed one
{
    bench
    row launch 5e-6 '"kernel":"operation"'
    row attention_forward 0.0024 '"kernel":"flash","dtype":"bf16","seq":8192,"batch":1,"heads":32,"qk_dim":128,"v_dim":128'
    row attention_forward 0.0024 '"dtype":"bf16","seq":8192,"batch":1,"heads":32,"qk_dim":128,"v_dim":128'
    row copy 0.0004 '"bytes":1073741824'
} >"$dir/foreign.jsonl"
"$moeplan" calibrate "$dir/foreign.jsonl" --platform h100 >"$dir/foreign.yaml" 2>"$dir/told" || { cat "$dir/told"; fail "other kernels"; }
grep -q "3 rows of other kernels move nothing: launch operation, attention_forward flash, attention_forward unnamed" "$dir/told" ||
    { cat "$dir/told"; fail "other kernels are not told"; }
! grep -q " attention:\| host_op_s:" "$dir/foreign.yaml" || fail "another kernel moved a coefficient"

refused() { # TEXT ARGUMENTS…: exit 2, and why
    text=$1
    shift
    expect 2 "$text" "$moeplan" calibrate "$@"
}
refused "--recipe FILE is missing" "$dir/slow.log"
refused "neither a training log nor a microbenchmark" "$dir/plan.yaml" --recipe "$dir/plan.yaml"
refused "give one for all, or one for each" "$dir/slow.log" --recipe "$dir/plan.yaml" --recipe "$dir/plan.yaml"
refused "it goes without a log" "$dir/slow.log" --check "$dir/slow.log"
refused "cannot be read" "$dir/absent" --recipe "$dir/plan.yaml"
refused "the platform is not given" "$dir/am.log" --recipe "$dir/am.yaml"
