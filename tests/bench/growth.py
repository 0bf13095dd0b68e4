#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth.py MOEPLAN LIBRARY_SPEED: how the cost of suggest grows with GPUs, layers, experts and sequence, and what the benchmark
of the library says (bench_library_speed), as the page docs/performance.md.
Instructions are counted by valgrind where it is installed; CPU seconds are the least of three runs. One size changes at a time."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROUNDS = 3
COUNTER = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
LONGEST_COUNTED = 5  # CPU seconds; under valgrind it is some thirty times as long
BASE = {"gpus": 256, "layers": 64, "experts": 256, "seq": 4096}
SERIES = {
    "gpus": [8, 64, 512, 4096, 32768, 262144, 1048576],
    "layers": [16, 32, 64, 128, 256],
    "experts": [8, 32, 128, 512],
    "seq": [4096, 32768, 131072, 1048576],
}
MODEL = """moeplan: 1
kind: Model
name: growth
num_layers: {layers}
hidden_size: 4096
num_attention_heads: 64
num_query_groups: 8
kv_channels: 128
ffn_hidden_size: 12288
gated_linear_unit: true
vocab_size: 131072
untie_embeddings_and_output_weights: true
num_moe_experts: {experts}
moe_router_topk: 8
moe_ffn_hidden_size: 1536
"""
HEAD = """# What a question costs

`suggest` for a mixture-of-experts model of {layers} layers of width 4,096 and {experts} experts, on {gpus} GB200, at {seq:,} tokens a sequence, in
Megatron-LM and AutoModel. Of each row the size that is named is another. Written by `tests/bench/growth.py`, on one machine; instructions are the
measure to compare with, CPU time and memory go with the machine. "no plan" stands where nothing fits, which takes a look at more.

| question | answer | instructions, M | CPU, ms | memory, MiB |
|---|---|--:|--:|--:|"""


def command(moeplan, sizes, folder):
    """The question's words; its model is a file in the folder."""
    model = os.path.join(folder, "model.yaml")
    with open(model, "w", encoding="utf-8") as out:
        out.write(MODEL.format(**sizes))
    return [moeplan, "suggest", model, "--platform", "gb200", "--gpus", str(sizes["gpus"]), "--seq", str(sizes["seq"])]


def run(words):
    """Whether there is a plan, CPU milliseconds and MiB of one run."""
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        sys.exit(f"{' '.join(words)}: exit {code}")
    return code == 0, 1e3 * (used.ru_utime + used.ru_stime), used.ru_maxrss / 1024


def counted(said):
    """The instructions in what a run under COUNTER says on stderr; None where there are none."""
    count = re.search(r"I +refs: +([\d,]+)", said)
    return int(count.group(1).replace(",", "")) if count else None


def instructions(words):
    """Millions of them; None without valgrind."""
    if not shutil.which("valgrind"):
        return None
    count = counted(subprocess.run(COUNTER + words, capture_output=True, text=True).stderr)
    return count / 1e6 if count else None


def row(moeplan, name, size, folder):
    """One line of the table."""
    words = command(moeplan, {**BASE, name: size}, folder)
    runs = [run(words) for _ in range(ROUNDS)]
    cpu, memory = min(r[1] for r in runs), max(r[2] for r in runs)
    counted = instructions(words) if cpu < 1e3 * LONGEST_COUNTED else None
    answer = "plan" if runs[0][0] else "no plan"
    return f"| {name} {size:,} | {answer} | {'' if counted is None else f'{counted:,.0f}'} | {cpu:,.0f} | {memory:,.0f} |"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    moeplan = os.path.abspath(sys.argv[1])
    print(HEAD.format(**BASE))
    with tempfile.TemporaryDirectory() as folder:
        for name, sizes in SERIES.items():
            for size in sizes:
                print(row(moeplan, name, size, folder), flush=True)
    best = subprocess.run([sys.argv[2]], capture_output=True, text=True).stdout.strip()
    print(f"\n{best[0].upper()}{best[1:]} (`tests/bench/library_speed.c`, a plan of DeepSeek-V3 as a request of JSON).")


if __name__ == "__main__":
    main()
