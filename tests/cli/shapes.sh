#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# calibrate --plan: what one rank of a plan runs in a step, and what tools/microbenchmark.py makes of it without a GPU.
. "$(dirname "$0")/../helpers.sh"

plan64 "etp: 1" >"$dir/plan.yaml"
"$moeplan" calibrate --plan "$dir/plan.yaml" >"$dir/shapes.json" || fail "no shapes"
for kind in gemm grouped_gemm attention copy exchange adam; do
    grep -q "\"kind\":\"$kind\"" "$dir/shapes.json" || { cat "$dir/shapes.json"; fail "no $kind"; }
done
expect 2 "cannot be read" "$moeplan" calibrate --plan "$dir/nowhere.yaml"
expect 2 "it goes without a log" "$moeplan" calibrate --plan "$dir/plan.yaml" "$dir/run.log"

# Qwen3-30B-A3B's 16 experts of a rank, 2048 rows each: gate and up of 2 x 768 and down, three products of each
python=$(command -v python3) || { echo "skipped: no python3"; exit 0; }
"$python" - "$dir/shapes.json" "$source/tools" <<'PYTHON' || fail "the shapes are not what the microbenchmark reads"
import json
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])
import microbenchmark

with open(sys.argv[1], encoding="utf-8") as file:
    printed = json.load(file)["shapes"]
experts = [x for x in printed if x["kind"] == "grouped_gemm"]
done = sum(x["count"] * x["rows"] * x["out"] * x["in"] for x in experts)
assert all(x["experts"] == 16 for x in experts), experts
assert done == 384 * 3 * 2048 * (2048 * 1536 + 768 * 2048), experts
shapes, left = microbenchmark.read_shapes(sys.argv[1])
assert [len(shapes[k]) > 0 for k in ("gemm", "grouped_gemm", "attention", "copy")] == [True] * 4, shapes
assert all(x["dtype"] in ("bf16", "fp8") for x in shapes["gemm"] + shapes["grouped_gemm"]), shapes
assert any(x.startswith("exchange") for x in left) and any("fp32" in x for x in left), left
measured = sum(map(len, shapes.values()))
assert measured + len(left) <= len(printed), (measured, left)
PYTHON

echo '{"shapes":[]}' >"$dir/none.json"
if "$python" -B "$source/tools/microbenchmark.py" --shapes "$dir/none.json" 2>"$dir/said"; then fail "no shapes are measured"; fi
grep -q "is not what moeplan calibrate --plan prints" "$dir/said" || { cat "$dir/said"; fail "it is not said why"; }
