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

# a microbenchmark needs no recipe
cat >"$dir/bench.json" <<'JSON'
{"moeplan_microbenchmark": 1, "device": "a GPU", "torch": "2.9", "date": "2026-01-01",
 "gemm": [{"rows": 8192, "out": 8192, "in": 8192, "dtype": "bf16", "seconds": 0.0016},
          {"rows": 16384, "out": 8192, "in": 8192, "dtype": "bf16", "seconds": 0.0032},
          {"rows": 16384, "out": 16384, "in": 8192, "dtype": "bf16", "seconds": 0.0064},
          {"rows": 8192, "out": 16384, "in": 16384, "dtype": "bf16", "seconds": 0.0064},
          {"rows": 16384, "out": 16384, "in": 16384, "dtype": "bf16", "seconds": 0.0127}, {"rows": 5}],
 "grouped_gemm": [{"rows": 1024, "experts": 8, "out": 3072, "in": 4096, "dtype": "bf16", "kernel": "te", "seconds": 0.0004}],
 "attention": [{"kernel": "te", "seq": 8192, "batch": 1, "heads": 32, "qk_dim": 128, "v_dim": 128, "forward_s": 0.0012, "backward_s": 0.0032}],
 "copy": [{"bytes": 1073741824, "seconds": 0.0004}], "launch": [{"kernel": "layer", "seconds": 2e-5}]}
JSON
"$moeplan" calibrate "$dir/bench.json" --platform h100 >"$dir/bench.yaml" 2>"$dir/told" || { cat "$dir/told"; fail "a microbenchmark"; }
grep -q "^determined: gemm_bf16 " "$dir/told" || { cat "$dir/told"; fail "GEMMs do not determine the GEMM rate"; }
grep -q "1 entries without" "$dir/told" || fail "a broken entry is not told"
grep -q "gemm_bf16: {value:" "$dir/bench.yaml" || fail "no coefficient in the file"
! grep -q " nic:" "$dir/bench.yaml" || fail "the network moved without a measurement"
"$moeplan" platforms "$dir/bench.yaml" >/dev/null || fail "the platform file cannot be read"

# kernels that no coefficient is of move nothing: a bare operation, FlashAttention 2 through SDPA, an unnamed one
cat >"$dir/foreign.json" <<'JSON'
{"moeplan_microbenchmark": 1, "launch": [{"kernel": "operation", "seconds": 5e-6}],
 "attention": [{"kernel": "flash", "seq": 8192, "batch": 1, "heads": 32, "qk_dim": 128, "v_dim": 128, "forward_s": 0.0024},
               {"seq": 8192, "batch": 1, "heads": 32, "qk_dim": 128, "v_dim": 128, "forward_s": 0.0024}],
 "copy": [{"bytes": 1073741824, "seconds": 0.0004}]}
JSON
"$moeplan" calibrate "$dir/foreign.json" --platform h100 >"$dir/foreign.yaml" 2>"$dir/told" || { cat "$dir/told"; fail "other kernels"; }
grep -q "3 entries of other kernels move nothing: launch operation, attention flash, attention unnamed" "$dir/told" ||
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
