#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""runs.py MOEPLAN RUNS… [--write]: fits what kernels alone do not say (hiding, power, the host, training's own pace) to measured runs.

RUNS are files of runs, one JSON object a line, each with its `plan` and `step_time_s`, `tokens_per_s_per_gpu` or `tflops_per_gpu`
(docs/accuracy/runs.jsonl). The kernels' coefficients stay as they are. A coefficient of SHARED has one value; one of CHIPS has a value
and for each chip a deviation that is pulled to nothing. Each publisher's cluster has a pace of its own, which is fitted and not shipped.
Printed: the errors of the fit, and of runs left out by (model, chip), by model, by chip and by cluster; --rows lists them."""
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import defaultdict

from platforms import Platforms, platform_file
from solve import Problem, inverse_diagonal, quantile, spread

# name: log sd of the prior
SHARED = {'grouped_training': 0.2, 'grouped_expert_s': 0.4, 'activation_passes': 0.3, 'scan': 0.4, 'gpu_gap_s': 0.4, 'ep_hidden': 0.25,
          'p2p_exposed': 0.4, 'dp_window': 0.3, 'dp_contention': 0.4, 'fsdp_hidden': 0.2, 'fsdp_contention': 0.7, 'step_s': 0.4,
          'straggling': 0.5, 'imbalance': 0.08, 'tp_hidden': 0.3, 'nic_bulk': 0.05, 'dispatch': 0.08, 'attention': 0.1, 'quantise': 0.2,
          'bias_passes': 0.4, 'sync_s': 0.3}
CHIPS = {'throttling': (0.5, 0.3), 'host_op_s': (0.3, 0.1), 'attention': (0.1, 0.06)}
CLUSTER_SD = 0.05
MODEL_SD = 0.05    # a family's own bias, fitted so that it does not move the coefficients, and not shipped
NOISE = 0.05


def read(path):
    with open(path) as f:
        for r in map(json.loads, f):
            if not r.get('plan') or r.get('status', 'ok') != 'ok':
                continue
            plan = r['plan']
            model = plan['model'] if isinstance(plan['model'], str) else plan['model'].get('base') or plan['model'].get('name')
            r.update(name=model, chip=plan['platform'], cluster=r.get('submitter') or r.get('source', path).split('#')[0].split(' ')[0].split('@')[0])
            yield r


def tokens(plan):
    return plan['gbs'] * plan['seq'] / plan['gpus']


class Runs:
    """Asks the program for steps at other values of some coefficients."""

    def __init__(self, moeplan, folder, platforms, rows, names):
        self.moeplan, self.folder, self.platforms, self.rows, self.names = moeplan, folder, platforms, rows, names

    def answers(self, values):
        chips = {r['chip'] for r in self.rows}
        for c in chips:
            platform_file(f'{self.folder}/{c}.yaml', c, {n: self.value(c, n, values) for n in self.names})
        asked = ''.join(json.dumps({'id': str(i), 'plan': {**r['plan'], 'platform': f'{self.folder}/{r["chip"]}.yaml'}}) + '\n'
                        for i, r in enumerate(self.rows))
        out = subprocess.run([self.moeplan, 'estimate', '--batch'], input=asked, capture_output=True, text=True, check=True).stdout
        return [json.loads(l) for l in out.splitlines()]

    def value(self, chip, name, values):
        return values[name] * values.get((chip, name), 1.0)

    def __call__(self, values):
        return [math.log(a['time']['step_s']) if 'time' in a else None for a in self.answers(values)]


def measured_step(r, answer):
    if r.get('step_time_s'):
        return r['step_time_s']
    if r.get('tokens_per_s_per_gpu'):
        return tokens(r['plan']) / r['tokens_per_s_per_gpu']
    t = answer['time']
    return t['step_s'] * t['model_tflops_per_gpu'] / r['tflops_per_gpu']


class Fit:
    def __init__(self, moeplan, folder, platforms, rows):
        names = sorted(set(SHARED) | set(CHIPS))
        self.runs = Runs(moeplan, folder, platforms, rows, names)
        self.rows, self.platforms = rows, platforms
        start, sd = {}, {}
        for n in names:
            start[n] = platforms.stated['common', n]
            sd[n] = CHIPS[n][0] if n in CHIPS else SHARED[n]
        for n, (_, deviation) in CHIPS.items():
            for c in {r['chip'] for r in rows}:
                start[c, n], sd[c, n] = 1.0, deviation
        self.effects = [('cluster', r['cluster']) for r in rows], [('model', r['name']) for r in rows]
        for kinds, own in zip(self.effects, (CLUSTER_SD, MODEL_SD)):
            for e in kinds:
                start[e], sd[e] = 1.0, own
        first = self.runs.answers(start)
        steps = [math.log(measured_step(r, a)) if 'time' in a else 0.0 for r, a in zip(rows, first)]
        count = defaultdict(int)
        for r in rows:
            count[r['name'], r['chip'], r['cluster']] += 1
        weights = [1 / math.sqrt(count[r['name'], r['chip'], r['cluster']]) for r in rows]
        self.p = _Problem(start, sd, steps, weights, self.predict, self.effects)

    def predict(self, values):
        laws = self.runs(values)
        return [x if x is None else x + sum(math.log(values[e[i]]) for e in self.effects) for i, x in enumerate(laws)]

    def run(self, rounds=5):
        for _ in range(rounds):
            self.p.slopes()
            self.normal = self.p.step()
        self.p.slopes()
        self.errors = self.shipped(self.p.theta)
        return self

    def shipped(self, theta, rows=None):
        """Log errors without the effects, linear around where the slopes were taken."""
        p = self.p
        index = {k: j for j, k in enumerate(p.keys)}
        own = [j for j, k in enumerate(p.keys) if not (isinstance(k, tuple) and k[0] in ('cluster', 'model'))]
        out = {}
        for at, i in enumerate(p.rows):
            if rows is None or i in rows:
                effect = sum(p.theta[index[e[i]]] for e in self.effects)
                out[i] = p.base[i] - effect + sum(p.jacobian[j][at] * (theta[j] - p.theta[j]) for j in own) - p.measured[i]
        return out

    def left_out(self, key):
        """Each group's errors from a fit without it, and without what only it could say."""
        p, result = self.p, {}
        here, base = list(p.theta), list(p.base)
        for group in {key(r) for r in self.rows}:
            inside = {i for i, r in enumerate(self.rows) if key(r) == group}
            use = [i not in inside for i in range(len(self.rows))]
            p.theta, p.base = list(here), list(base)
            for _ in range(4):
                before = list(p.theta)
                p.step(use, damp=1.0)
                for at, i in enumerate(p.rows):
                    p.base[i] += sum(p.jacobian[j][at] * (p.theta[j] - before[j]) for j in range(len(before)))
            theta, p.theta, p.base = p.theta, list(here), list(base)
            result.update(self.shipped(theta, inside))
        return result


class _Problem(Problem):
    """The slopes of effects are known."""

    def __init__(self, start, sd, measured, weights, predict, effects):
        super().__init__(start, sd, measured, weights, predict, noise=NOISE, bend=1.5)
        self.effects = effects

    def slopes(self):
        self.base = self.predict(self.values())
        self.rows = [i for i, x in enumerate(self.base) if x is not None]
        self.jacobian = []
        for j, k in enumerate(self.keys):
            if isinstance(k, tuple) and k[0] in ('cluster', 'model'):
                self.jacobian.append([1.0 if any(e[i] == k for e in self.effects) else 0.0 for i in self.rows])
                continue
            moved = list(self.theta)
            moved[j] += 0.02
            there = self.predict(self.values(moved))
            self.jacobian.append([(there[i] - self.base[i]) / 0.02 for i in self.rows])


def tell(title, errors, rows, files):
    parts = [f'{name} {spread([e for i, e in errors.items() if rows[i]["file"] == name])}' for name in files]
    print(f'{title:32s}', '  '.join(parts))


def groups(title, errors, rows, key):
    by = defaultdict(list)
    for i, e in errors.items():
        by[key(rows[i])].append(e)
    print(title)
    for k, e in sorted(by.items(), key=str):
        print(f'    {str(k):60s} n={len(e):3d} {100 * math.expm1(quantile(e, 0.5)):+6.1f} {spread(e)}')


def write(fit, platforms):
    values, variances = fit.p.values(), inverse_diagonal(fit.normal)
    changed, spreads, counts = {}, {}, {}
    for j, k in enumerate(fit.p.keys):
        name = k if isinstance(k, str) else k[1]
        if isinstance(k, tuple) and k[0] in ('cluster', 'model'):
            continue
        own = 'common' if isinstance(k, str) else k[0]
        if (own, name) not in platforms.stated:
            continue
        changed[own, name] = values[k] if own == 'common' else values[name] * values[k]
        spreads[own, name] = max(0.03, min(0.5, 2 * math.sqrt(variances[j])))
        counts[own, name] = fit.p.felt(j)
    platforms.write(changed, spreads, counts)


def main():
    files = [a for a in sys.argv[2:] if not a.startswith('--')]
    names = [os.path.basename(f) for f in files]
    rows = [dict(r, file=n) for f, n in zip(files, names) for r in read(f)]
    platforms = Platforms()
    with tempfile.TemporaryDirectory() as folder:
        fit = Fit(os.path.abspath(sys.argv[1]), folder, platforms, rows).run()
        for j, k in enumerate(fit.p.keys):
            print(f'  {str(k):40s} {fit.p.values()[k]:.4g} (from {fit.p.start[k]:.4g}) n={fit.p.felt(j)}')
        tell('fitted', fit.errors, rows, names)
        for title, key in (('by (model, chip)', lambda r: (r['name'], r['chip'])), ('by model', lambda r: r['name']),
                           ('by chip', lambda r: r['chip']), ("by publisher's cluster", lambda r: r['cluster'])):
            left = fit.left_out(key)
            tell('left out ' + title, left, rows, names)
            if '--rows' in sys.argv:
                groups(title, left, rows, key)
        if '--rows' in sys.argv:
            for i in sorted(fit.errors, key=lambda i: -abs(fit.errors[i]))[:40]:
                r = rows[i]
                print(f'    {100 * math.expm1(fit.errors[i]):+6.1f} {r["id"]} {r["name"]} {r["chip"]} {r["plan"]["precision"]} {r["cluster"]}')
    if '--write' in sys.argv:
        write(fit, platforms)


if __name__ == '__main__':
    main()
