#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# calibrate --check: the laws of kernels against rows of measured times, on the row's own chip or on a platform that starts from it.
. "$(dirname "$0")/../helpers.sh"

cat >"$dir/rows.jsonl" <<'ROWS'
{"id":"a","op":"gemm","chip":"h100","dtype":"bf16","m":8192,"n":8192,"k":8192,"kernel":"torch","seconds":0.0014}
{"id":"b","op":"gemm","chip":"h100","dtype":"bf16","m":16384,"n":8192,"k":8192,"kernel":"torch","seconds":0.0028}
{"id":"c","op":"ep_dispatch","chip":"h100","dtype":"bf16","impl":"hybridep","tokens_per_rank":4096,"hidden":7168,"topk":8,"experts":256,"ranks":64,"domain":8,"domains":8,"topk_groups":4,"seconds":0.0046}
{"id":"d","op":"moe_experts","chip":"b200","dtype":"nvfp4","tokens":8192,"hidden":4096,"inter":1536,"topk":8,"experts":128,"local_experts":128,"tokens_per_expert":512,"kernel":"cutlass","seconds":0.0015}
{"id":"e","op":"unheard_of","chip":"h100","dtype":"bf16","seconds":0.1}
{"id":"f","op":"gemm","chip":"no_such_chip","dtype":"bf16","m":8192,"n":8192,"k":8192,"seconds":0.1}
no row
ROWS

expect 0 "6 rows, 2 without a law, 1 lines that are no row" "$moeplan" calibrate --check "$dir/rows.jsonl"
has "gemm torch bf16 h100"
has "ep_dispatch hybridep bf16 h100"

law() { # ID OPTION…: seconds of the row by the law
    id=$1
    shift
    "$moeplan" calibrate --check "$dir/rows.jsonl" --format jsonl "$@" 2>/dev/null | grep "\"id\":\"$id\"" | number law_s
}
near() { awk "BEGIN { d = $1 / $2; exit !(d > 0.8 && d < 1.25) }" || fail "$1 s by the law, $2 s measured"; }
near "$(law a)" 0.0014
near "$(law b)" 0.0028
near "$(law c)" 0.0046
near "$(law d)" 0.0015

# a platform of the user's stands for the chip it starts from, and for no other
cat >"$dir/half.yaml" <<'YAML'
moeplan: 1
kind: Platform
id: half
base: h100
coefficients:
  gemm_bf16: {value: 0.4175, low: 0.4, high: 0.43, unit: "1", n: 0, meaning: "half", source: "test"}
YAML
awk "BEGIN { r = $(law a --platform "$dir/half.yaml") / $(law a); exit !(r > 1.9 && r < 2.1) }" || fail "a platform of one's own is not asked"
"$moeplan" calibrate --check "$dir/rows.jsonl" --format jsonl --platform "$dir/half.yaml" | grep -q '"id":"d","law_s":null' ||
    fail "rows of another chip are answered"

# a product that is long alone brings the clocks down, by its time at full rate: of 1.4 ms with a time constant of 0.1 ms nearly
# all of half, of 1000 s none
warm() { # CONSTANT
    cat >"$dir/warm.yaml" <<YAML
moeplan: 1
kind: Platform
id: warm
base: h100
coefficients:
  burst_heat: {value: 0.5, low: 0.4, high: 0.6, unit: "1", n: 0, meaning: "half", source: "test"}
  burst_s: {value: $1, low: $1, high: $1, unit: "s", n: 0, meaning: "constant", source: "test"}
YAML
    law a --platform "$dir/warm.yaml"
}
awk "BEGIN { r = $(warm 0.0001) / $(warm 10); exit !(r > 1.4 && r < 1.5) }" || fail "a long product does not warm up"

expect 2 "cannot be read" "$moeplan" calibrate --check "$dir/nowhere.jsonl"
echo "no rows" >"$dir/empty"
expect 2 "holds no rows" "$moeplan" calibrate --check "$dir/empty"
expect 2 "give a log or a microbenchmark, --plan FILE or --check FILE" "$moeplan" calibrate
