#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The public runs of docs/accuracy/runs.jsonl: all are answered, the median error stays within 5 %, nine in ten within 15 %,
# the interval holds nine in ten and is no wider than 45 % of the step in the median. No estimate looks at a measurement.
. "$(dirname "$0")/../helpers.sh"

# against.c holds somebody's run against the public ones.
if grep -l 'cost/evidence' "$source"/src/plan/*.c "$source"/src/cost/*.c "$source"/src/choose/*.c |
    grep -v -e '/evidence[a-z_]*\.c$' -e '/choose/against\.c$'; then
    fail "these estimate or choose and must not see the measurements"
fi

number() { sed "s/.*\"$1\":\([0-9.e+-]*\).*/\1/" "$2"; }
sed 's/^\({"id":"[^"]*"\),.*,"plan":/\1,"plan":/' "$source/docs/accuracy/runs.jsonl" >"$dir/requests"
"$moeplan" estimate --batch <"$dir/requests" | sed 's/.*"time"://' >"$dir/times"
sed 's/"plan".*//' "$source/docs/accuracy/runs.jsonl" >"$dir/runs"
for name in step_s step_low_s step_high_s tokens_per_s_per_gpu model_tflops_per_gpu; do
    number $name "$dir/times" >"$dir/$name"
done
awk '{ tokens = /tokens_per_s/; match($0, /_per_gpu":[0-9.]+/); print substr($0, RSTART + 10, RLENGTH - 10), tokens }' \
    "$dir/runs" >"$dir/measured"

paste -d' ' "$dir/measured" "$dir/tokens_per_s_per_gpu" "$dir/model_tflops_per_gpu" "$dir/step_s" "$dir/step_low_s" \
    "$dir/step_high_s" |
    awk '{ e = ($2 ? $3 : $4) / $1
           printf "%.6f %d %.6f\n", (e > 1 ? e - 1 : 1 - e), ($5 * e >= $6 && $5 * e <= $7), ($7 - $6) / $5 }' >"$dir/errors"
runs=$(wc -l <"$dir/runs")
part() { cut -d' ' -f"$1" "$dir/errors" | sort -n | sed -n "$((runs * $2 / 100 + 1))p"; }
held=$(awk '{ n += $2 } END { print n / NR }' "$dir/errors")
echo "$runs runs: median $(part 1 50), 0.9 quantile $(part 1 90), held $held, width $(part 3 50)"
awk -v m="$(part 1 50)" -v q="$(part 1 90)" -v h="$held" -v w="$(part 3 50)" \
    'BEGIN { exit !(m <= 0.05 && q <= 0.15 && h >= 0.9 && w <= 0.45) }' || fail "outside the bounds"

# What README promises are the errors of runs left out of the fit, as the program states them (src/cmd/left_out.h).
stated() { # DATA LEFT_OUT: "median M %, nine in ten within P %"
    "$moeplan" version --format json | tr '{' '\n' |
        sed -n "s/\"data\":\"$1\",\"left_out_by\":\"$2\".*\"median\":\([0-9.]*\),\"p90\":\([0-9.]*\).*/\1 \2/p" |
        awk '{ printf "median %.1f %%, nine in ten within %.1f %%", 100 * $1, 100 * $2 }'
}
for data in runs mlperf; do
    [ -n "$(stated $data "model and chip")" ] || fail "no errors of $data are stated"
    grep -qF "$(stated $data "model and chip")" "$source/README.md" || fail "README does not say: $(stated $data "model and chip")"
done
