#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernel_table.py MOEPLAN TABLE: the laws of kernels against a table of published kernel times, by operation. A law that a change
broke is off by far more than what it is known to be."""
import json
import subprocess
import sys
from collections import defaultdict

MEDIAN, P90 = 0.08, 0.20
FEWEST = 8   # rows that make a class
# Single linears through Transformer Engine, of one page and one chip that throttles while they are timed.
TE_MEDIAN, TE_P90 = 0.20, 0.50


def main():
    moeplan, table = sys.argv[1:]
    with open(table, encoding="utf-8") as lines:
        rows = {row["id"]: row for row in map(json.loads, lines)}
    asked = subprocess.run([moeplan, "calibrate", "--check", table, "--format", "jsonl"], capture_output=True, text=True, check=True)
    laws = {answer["id"]: answer["law_s"] for answer in map(json.loads, asked.stdout.splitlines()) if answer["law_s"]}
    errors = defaultdict(list)
    for name, row in rows.items():
        if name in laws:
            errors[row["op"]].append(abs(laws[name] / row["seconds"] - 1))
    wrong = len(rows) - len(laws) > len(rows) // 50
    for op, off in sorted(errors.items()):
        off.sort()
        median, far = off[len(off) // 2], off[int(0.9 * len(off))]
        most, most_far = (TE_MEDIAN, TE_P90) if op.startswith("te_") else (MEDIAN, P90)
        outside = len(off) >= FEWEST and (median > most or far > most_far)
        print(f"{op:20s} {len(off):3d} rows, median {100 * median:4.1f} %, p90 {100 * far:4.1f} %{'  outside' if outside else ''}")
        wrong = wrong or outside
    print(f"{len(laws)} of {len(rows)} rows have a law")
    return 1 if wrong or not errors else 0


if __name__ == "__main__":
    sys.exit(main())
