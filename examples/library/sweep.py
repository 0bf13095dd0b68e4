# SPDX-License-Identifier: Apache-2.0
# A sweep as a notebook: cells begin with "# %%", as Jupyter and editors read them. `python3 sweep.py [FILE.svg]` runs them all.
# How much memory does a sequence cost? One plan, longer and longer sequences, with the interval of each estimate.

# %%
import sys

import moeplan

PLAN = {"moeplan": 1, "model": "qwen3-30b-a3b", "platform": "gb200", "gpus": 16, "tp": 1, "pp": 1, "ep": 16, "cp": 1, "mbs": 1, "gbs": 256}
LENGTHS = [1024 * n for n in range(1, 17)]

# %%
rows = []
for length in LENGTHS:
    memory = moeplan.estimate(plan={**PLAN, "seq": length})["memory"]
    rows.append((length, memory["peak_low_gib"], memory["peak_gib"], memory["peak_high_gib"]))
    print(f"{length:6d} tokens: {memory['peak_gib']:5.1f} GiB ({memory['peak_low_gib']:.1f} to {memory['peak_high_gib']:.1f})")

# %%
WIDTH, HEIGHT, EDGE = 640, 360, 50
capacity = memory["capacity_gib"]
top = 1.05 * max([capacity] + [row[3] for row in rows])


def x(length):
    return EDGE + (WIDTH - 2 * EDGE) * length / LENGTHS[-1]


def y(gib):
    return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * gib / top


def points(pairs):
    return " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in pairs)


band = [(row[0], row[3]) for row in rows] + [(row[0], row[1]) for row in reversed(rows)]
svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
       f'<polygon points="{points(band)}" fill="#9cf" opacity="0.5"/>',
       f'<polyline points="{points([(row[0], row[2]) for row in rows])}" fill="none" stroke="#06c" stroke-width="2"/>',
       f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{y(capacity):.1f}" y2="{y(capacity):.1f}" stroke="#c00" stroke-dasharray="6 4"/>',
       f'<text x="{EDGE}" y="{y(capacity) - 6:.1f}">{capacity} GiB of the GPU</text>']
svg += [f'<text x="{x(n):.1f}" y="{HEIGHT - EDGE + 18}" text-anchor="middle">{n // 1024}k</text>' for n in LENGTHS[1::2]]
svg += [f'<text x="{EDGE - 8}" y="{y(n):.1f}" text-anchor="end">{n}</text>' for n in range(0, int(top), 20)]
svg += [f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">tokens in a sequence; peak memory in GiB</text>', "</svg>"]

# %%
with open(sys.argv[1] if len(sys.argv) > 1 else "sweep.svg", "w") as out:
    out.write("\n".join(svg) + "\n")
