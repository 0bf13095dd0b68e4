#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernels.py MOEPLAN ROWS [--write]: fits the coefficients of the kernels' laws to public kernel times alone.

MOEPLAN is the built program: its own laws are asked, by `calibrate --check`. ROWS is a file of measured kernels, one JSON object a
line, as src/cmd/kernel_check.c reads them. Every coefficient stays where rules/platforms states it (a family's value, or a chip's);
--write puts the new values there. The fit starts from, and is pulled to, what src/cost/coefficient.h says of machines that nobody
knows, so that it makes the same of the same rows however often it runs. What is printed: errors by kind, of all rows, of shapes that were left out (one in four, by a hash
of the shape), and of chips that were left out (their own values then come from their family)."""
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from platforms import Platforms, defaults, platform_file
from solve import Problem, inverse_diagonal, spread

SHORTEST = 20e-6   # seconds: below, launches and clocks are measured
SHAPE = ('op', 'dtype', 'm', 'n', 'k', 'batch', 'seq', 'heads', 'qk_dim', 'tokens', 'hidden', 'inter', 'experts', 'topk', 'bytes', 'ranks',
         'tokens_per_rank', 'v_heads')
PLAIN = ('torch_flow', 'sglang', 'sglang_flashinfer_cutedsl_nvfp4', 'sglang_deepgemm_gemm_nt_f8f8bf16')

# Each block is fitted with those before it frozen: the operations, and the coefficients.
BLOCKS = [
    ('streams', lambda r: r['op'] == 'norm_forward' and r.get('impl') == 'cudnn', 'hbm_stream'),
    ('GEMM', lambda r: r['op'] == 'gemm' and r.get('kernel') in PLAIN,
     'gemm_bf16 gemm_fp8 gemm_block gemm_fp4 gemm_tail gemm_start_s gemm_fp8_start_s gemm_block_start_s gemm_fp4_start_s gemm_inner '
     'gemm_fp8_inner gemm_block_inner gemm_fp4_inner gemm_block_traffic gemm_fp4_traffic quantise_once quantise_once_fp4 burst_heat burst_heat_fp4 burst_s'),
    ('quantise', lambda r: r['op'] == 'quantise', 'quantise'),
    ('Transformer Engine', lambda r: r['op'].startswith('te_linear'), 'throttling throttling_low gemm_mxfp8 gemm_fp4_training quantise_delayed quantise_mxfp8 quantise_fp4'),
    ('experts', lambda r: r['op'] == 'moe_experts' and r.get('kernel') == 'moe_torch_flow_cutlass',
     'grouped_bf16 grouped_fp8 grouped_block grouped_fp4 grouped_inner grouped_fp8_inner grouped_block_inner grouped_fp4_inner grouped_pad '
     'experts_start_s experts_quantised_start_s experts_fp4_start_s experts_passes experts_fp8_passes experts_block_passes experts_fp4_passes'),
    ('attention', lambda r: r['op'].startswith('attention') and r['dtype'] == 'bf16' and
     (not r.get('kernel') or r['window'] == 0 and r['seq'] >= 2048),
     'attention_forward attention_backward attention_forward_tile attention_backward_tile attention_window_tile '
     'attention_window_backward_tile attention_deterministic_tile attention_softmax attention_backward_softmax attention_start_s'),
    ('FP8 attention', lambda r: r['op'].startswith('attention') and r['dtype'] in ('fp8', 'mxfp8') and not r.get('kernel'),
     'attention_fp8_softmax attention_fp8_backward_softmax attention_mxfp8_backward_softmax'),
    ('exchange', lambda r: r['op'].startswith('ep_') and r['impl'] in ('deepep', 'deepep_v2', 'hybridep', 'alltoall') and
     not (r['impl'] == 'deepep' and r['chip'].startswith('gb')),   # nodes of 4 GPUs, which NVL72 is not
     'nic hybridep_nic dispatch_start_s dispatch_across_s nccl_nvlink deepep_nvlink deepep_own deepep_sm_gb_per_s deepep_across_sm '
     'deepep_combine_sm deepep_combine_s hybridep_nvlink hybridep_sm_gb_per_s'),
    ('collectives', lambda r: r['op'] in ('all_gather', 'reduce_scatter') and r['bytes'] >= 1 << 20,
     'nvlink nvlink_few nvlink_ramp_s collective_start_s'),
    ('scans', lambda r: r['op'] == 'gdn_scan_forward' and r.get('kernel') == 'chunk_gated_delta_rule',
     'scan_delta_rate scan_delta_bytes scan_delta_chunk_s'),
]
EVERY = [n for _, _, names in BLOCKS for n in names.split()]
# Kernels of other software than training's tell how chips compare: their own pace is fitted beside, and not shipped.
FOREIGN = lambda r: r['op'].startswith('attention') and r.get('kernel')
SD = {'quantise_mxfp8': 0.05, 'gemm_start_s': 0.4, 'gemm_fp8_start_s': 0.4, 'gemm_block_start_s': 0.4, 'gemm_fp4_start_s': 0.4, 'deepep_nvlink': 0.05, 'nccl_nvlink': 0.1,
      'gemm_mxfp8': 0.05, 'gemm_fp4_training': 0.1, 'throttling': 0.5, 'throttling_low': 0.5}
SD_OTHERS = 0.5
# A chip without rows of its own takes the value of one of its generation.
SIBLINGS = {'b200': 'gb200', 'b300': 'gb300', 'common': 'h200'}
# Of a loop of the same GEMMs, as Transformer Engine's rows are, which draws another power than training: fitted beside, and left to runs.py.
OTHERS = ('throttling', 'throttling_low')
DEVIATION = 0.06   # log sd of a chip's own value around its family's, where the chip is left out


def hashed(row):
    text = json.dumps([row.get(k) for k in SHAPE])
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def kind(r):
    return ' '.join(str(x) for x in (r['op'], r.get('kernel') or r.get('impl') or '', 'across' if (r.get('domains') or 1) > 1 else '',
                                     r['dtype'], r['chip']) if x)


def usable(r, chips):
    return (r.get('chip') in chips and not r.get('suspect') and 'torch' not in str(r.get('timed')) and r['seconds'] >= SHORTEST)


class Laws:
    """Asks the program for its laws at other values of some coefficients."""

    def __init__(self, moeplan, folder, platforms, rows, names):
        self.moeplan, self.folder, self.platforms, self.names = moeplan, folder, platforms, names
        self.rows = rows
        self.by_chip = defaultdict(list)
        for i, r in enumerate(rows):
            self.by_chip[r['chip']].append(i)
        for chip, own in self.by_chip.items():
            with open(f'{folder}/{chip}.jsonl', 'w') as f:
                for i in own:
                    f.write(json.dumps({**rows[i], 'id': str(i)}) + '\n')
        self.known = {}

    def chip(self, job):
        chip, values = job
        with tempfile.NamedTemporaryFile('w', suffix='.yaml', dir=self.folder) as f:
            platform_file(f.name, chip, {n: (x, 0.0) for n, x in values.items()})
            out = subprocess.run([self.moeplan, 'calibrate', '--check', f'{self.folder}/{chip}.jsonl', '--platform', f.name, '--format', 'jsonl'],
                                 capture_output=True, text=True, check=True).stdout
        return [(int(o['id']), math.log(o['law_s'])) for o in map(json.loads, out.splitlines()) if o['law_s']]

    def __call__(self, changed):
        result = [None] * len(self.rows)
        jobs = [(c, {n: self.platforms.value(c, n, changed) for n in self.names}) for c in self.by_chip]
        for chip, values in jobs:
            key = (chip, tuple(values.values()))
            if self.known.get(chip, (None,))[0] != key:
                answer = self.chip((chip, values))
                if chip not in self.known:
                    self.known[chip] = (key, answer)
            else:
                answer = self.known[chip][1]
            for i, x in answer:
                result[i] = x
        return result


def fit(moeplan, folder, platforms, rows, names, use=None, sd_of=None, rounds=8):
    chips = {r['chip'] for r in rows}
    keys = {(platforms.place(c, n), n) for c in chips for n in names}
    start = {k: platforms.stated[k] for k in keys}
    sd = {k: SD.get(k[1], SD_OTHERS) for k in keys}
    sd.update(sd_of or {})
    count = defaultdict(int)
    for r in rows:
        count[kind(r)] += 1
    weights = [(4 if FOREIGN(r) else 20) / max(10, count[kind(r)]) for r in rows]
    laws = Laws(moeplan, folder, platforms, rows, EVERY)   # none of them as built in
    paces = {}   # a foreign kernel's pace

    def predict(values):
        laws_now = laws(values)
        return [x if x is None else x + paces.get(foreign(r), 0.0) for x, r in zip(laws_now, rows)]

    def foreign(r):
        return (r['op'], r.get('kernel'), r['qk_dim']) if FOREIGN(r) else None

    p = Problem(start, sd, [math.log(r['seconds']) for r in rows], weights, predict, noise=0.05, bend=1.5)
    for _ in range(rounds):
        laws.known = {}
        p.slopes()
        errors = defaultdict(list)
        for i in p.rows:
            if foreign(rows[i]):
                errors[foreign(rows[i])].append(p.measured[i] - p.base[i])
        for f, e in errors.items():
            shift = sorted(e)[len(e) // 2]
            paces[f] = paces.get(f, 0.0) + shift
            for i in p.rows:
                if foreign(rows[i]) == f:
                    p.base[i] += shift
        normal = p.step(use)
    laws.known = {}
    final = p.predict(p.values())
    return p, normal, final


def report(title, rows, final, chosen=None):
    by = defaultdict(list)
    for i, r in enumerate(rows):
        if final[i] is not None and not FOREIGN(r) and (chosen is None or chosen[i]) and r['seconds'] >= 30e-6:
            by[kind(r)].append(final[i] - math.log(r['seconds']))
    out = [f'    {k:76s} n={len(e):4d} {100 * math.expm1(sorted(e)[len(e) // 2]):+6.1f} {spread(e)}' for k, e in sorted(by.items())]
    print(f'  {title}: {spread([x for e in by.values() for x in e])}', *out, sep='\n')


def main():
    moeplan, path = os.path.abspath(sys.argv[1]), sys.argv[2]
    platforms = Platforms()
    chips = {p for p in platforms.bases if p != 'common'}
    with open(path) as f:
        rows = [r for r in map(json.loads, f) if usable(r, chips)]
    start, stated = defaults(), dict(platforms.stated)
    for k in stated:
        if k[1] in EVERY:
            platforms.stated[k] = start[k[1]]
    changed, spreads, counts = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for title, of, names in BLOCKS:
            names = names.split()
            own = [r for r in rows if of(r)]
            if not own:
                continue
            p, normal, final = fit(moeplan, folder, platforms, own, names)
            values = p.values()
            print(f'{title}: {len(own)} rows, {len(values)} coefficients')
            report('all', own, final)
            if '--leave' in sys.argv:
                keep = [hashed(r) % 4 != 0 for r in own]
                left = fit(moeplan, folder, platforms, own, names, keep)[2]
                report('shapes left out', own, left, [not k for k in keep])
            variances = inverse_diagonal(normal)
            for j, k in enumerate(p.keys):
                sibling = (SIBLINGS.get(k[0]), k[1])
                if p.felt(j) == 0:
                    platforms.stated[k] = values[k] = values.get(sibling, stated[k])   # without a sibling's it was not fitted at all
                    if sibling not in values:
                        continue
                platforms.stated[k] = changed[k] = values[k]
                spreads[k] = max(0.02, min(0.3, 3 * math.sqrt(variances[j])))
                counts[k] = p.felt(j)
                print(f'    {k[0]:8s} {k[1]:34s} {values[k]:.4g}  n={counts[k]}')
    if '--write' in sys.argv:
        platforms.write({k: x for k, x in changed.items() if k[1] not in OTHERS}, spreads, counts)


if __name__ == '__main__':
    main()
