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

# name: the prior's value, and its log sd. A coefficient of CHIPS has a third number, the log sd of a chip's deviation.
SHARED = {'grouped_training': (0.95, 0.15), 'grouped_training_low': (0.85, 0.2), 'grouped_expert_s': (3e-6, 0.4),
          'activation_passes': (1.0, 0.2), 'scan': (5.5, 0.4), 'gpu_gap_s': (2e-6, 0.4), 'ep_hidden': (0.65, 0.2),
          'p2p_exposed': (0.25, 0.4), 'dp_window': (0.8, 0.08), 'dp_contention': (0.15, 0.4), 'fsdp_hidden': (0.9, 0.1),
          'step_s': (0.03, 0.4), 'straggling': (0.007, 0.5), 'imbalance': (1.2, 0.05), 'tp_hidden': (0.4, 0.3),
          'nic_bulk': (0.9, 0.05), 'dispatch': (1.05, 0.08), 'quantise_mxfp8': (0.9, 0.2), 'quantise_delayed': (0.65, 0.3),
          'bias_passes': (6.0, 0.4), 'sync_s': (6e-5, 0.3)}
CHIPS = {'throttling': (0.15, 0.25, 0.4), 'throttling_low': (0.15, 0.25, 0.4), 'host_op_s': (3e-5, 0.3, 0.1), 'attention': (0.95, 0.08, 0.05)}
CLUSTER_SD = 0.03   # of the pace of a publisher's cluster, where several publish the same model on the same chip
NOISE = 0.025
WEIGHTS = {'runs.jsonl': 3}   # runs of training proper count for more than a benchmark's races


def read(path):
    with open(path) as f:
        for r in map(json.loads, f):
            if not r.get('plan') or r.get('status', 'ok') != 'ok':
                continue
            plan = r['plan']
            model = plan['model'] if isinstance(plan['model'], str) else plan['model'].get('base') or plan['model'].get('name')
            r.update(name=model.lower(), chip=plan['platform'], cluster=r.get('submitter') or r.get('source', path).split('#')[0].split(' ')[0].split('@')[0])
            yield r


def tokens(plan):
    return plan['gbs'] * plan['seq'] / plan['gpus']


class Runs:
    """Asks the program for steps at other values of some coefficients; a plan may name files below the folder it is asked in."""

    def __init__(self, moeplan, folder, platforms, rows, names):
        self.moeplan, self.folder, self.platforms, self.rows, self.names = moeplan, folder, platforms, rows, names

    def answers(self, values):
        chips = {r['chip'] for r in self.rows}
        for c in chips:
            platform_file(f'{self.folder}/{c}.yaml', c, {n: self.value(c, n, values) for n in self.names})
        asked = ''.join(json.dumps({'id': str(i), 'plan': {**r['plan'], 'platform': r['chip'] + '.yaml'}}) + '\n'
                        for i, r in enumerate(self.rows))
        out = subprocess.run([self.moeplan, 'estimate', '--batch'], input=asked, capture_output=True, text=True, check=True,
                             cwd=self.folder).stdout
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


def is_effect(key):
    return isinstance(key, tuple) and key[0] == 'cluster'


class Fit:
    def __init__(self, moeplan, folder, platforms, rows):
        names = sorted(set(SHARED) | set(CHIPS))
        self.runs = Runs(moeplan, folder, platforms, rows, names)
        self.rows, self.platforms = rows, platforms
        start, sd = {}, {}
        for n in names:
            start[n], sd[n] = (CHIPS[n] if n in CHIPS else SHARED[n])[:2]
        for n, (_, _, deviation) in CHIPS.items():
            for c in {r['chip'] for r in rows}:
                low = {'throttling': (False,), 'throttling_low': (True,)}.get(n, (False, True))
                models = {r['name'] for r in rows if r['chip'] == c and (r['plan']['precision'] not in ('bf16', 'fp16', 'fp32')) in low}
                if len(models) >= 2:   # one model's ways are no chip's
                    start[c, n], sd[c, n] = 1.0, deviation
        publishers = defaultdict(set)
        for r in rows:
            publishers[r['name'], r['chip']].add(r['cluster'])
        shared = {c for own in publishers.values() if len(own) > 2 for c in own}
        self.effects = [('cluster', r['cluster']) if r['cluster'] in shared else None for r in rows]
        for e in filter(None, self.effects):
            start[e], sd[e] = 1.0, CLUSTER_SD
        first = self.runs.answers(start)
        steps = [math.log(measured_step(r, a)) if 'time' in a else 0.0 for r, a in zip(rows, first)]
        count = defaultdict(int)
        for r in rows:
            count[r['name'], r['chip'], r['cluster']] += 1
        weights = [WEIGHTS.get(r['file'], 1) / count[r['name'], r['chip'], r['cluster']] ** 0.25 for r in rows]
        self.p = _Problem(start, sd, steps, weights, self.predict, self.effects)

    def predict(self, values):
        laws = self.runs(values)
        return [x if x is None else x + (math.log(values[e]) if e else 0.0) for x, e in zip(laws, self.effects)]

    def run(self, rounds=3):
        """Slopes are taken anew a few times; between them everything is linear."""
        for _ in range(rounds):
            self.p.slopes()
            self.normal = self.settle(None)
        self.p.base = self.p.predict(self.p.values())
        self.errors = self.shipped(self.p.theta)
        return self

    def settle(self, use, steps=4):
        p = self.p
        for _ in range(steps):
            before = list(p.theta)
            normal = p.step(use, damp=1.0)
            moved = [(j, t - b) for j, (t, b) in enumerate(zip(p.theta, before)) if t != b]
            for at, i in enumerate(p.rows):
                p.base[i] += sum(p.jacobian[j][at] * d for j, d in moved)
        return normal

    def shipped(self, theta, rows=None):
        """Log errors without the effects, linear around where the slopes were taken."""
        p = self.p
        index = {k: j for j, k in enumerate(p.keys)}
        own = [j for j, k in enumerate(p.keys) if not is_effect(k)]
        out = {}
        for at, i in enumerate(p.rows):
            if rows is None or i in rows:
                effect = p.theta[index[self.effects[i]]] if self.effects[i] else 0.0
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
            self.settle(use)
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
            if is_effect(k):
                self.jacobian.append([1.0 if self.effects[i] == k else 0.0 for i in self.rows])
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


def kind(r):
    """The classes of src/cost/time.c, model_error."""
    plan = r['plan']
    if plan.get('framework') == 'automodel':
        return 'error_fsdp2'
    if 'gpt-oss' in r['name']:
        return 'error_bias'
    if not any(w in r['name'] for w in ('-a', 'moe', 'deepseek', 'kimi', 'mixtral', 'maverick', 'lightning', 'glm')):
        return 'error_dense'
    return 'error_graphed_moe' if plan.get('cuda_graph_impl', 'none') != 'none' else 'error_moe'


def write_errors(left, rows, platforms):
    """The model's own error of each class, so that nine of ten runs that were left out lie within it."""
    by = defaultdict(list)
    for i, e in left.items():
        by[kind(rows[i])].append(abs(e))
    values = {('common', k): quantile(e, 0.9) / 1.645 for k, e in by.items()}
    platforms.write(values, dict.fromkeys(values, 0), {('common', k): len(e) for k, e in by.items()})


def write(fit, platforms):
    """Values of all platforms, and of each chip that was run; a platform that nobody ran has the shared value and a wider interval."""
    values, variances = fit.p.values(), inverse_diagonal(fit.normal)
    changed, spreads, counts = {}, {}, {}
    for j, k in enumerate(fit.p.keys):
        if is_effect(k):
            continue
        chip, name = ('common', k) if isinstance(k, str) else k
        for own in ('common', 'unmeasured') if chip == 'common' else (chip,):
            if (own, name) not in platforms.stated:
                continue
            sd = max(0.03, min(0.5, 2 * math.sqrt(variances[j])))
            changed[own, name] = values[k] if chip == 'common' else values[name] * values[k]
            spreads[own, name] = math.hypot(sd, 0.08) if own == 'unmeasured' else sd
            counts[own, name] = fit.p.felt(j)
    for own, name in platforms.stated:   # a chip that says its own, and was not run
        if name in CHIPS and (own, name) not in changed:
            changed[own, name] = values[name]
            spreads[own, name] = math.hypot(spreads['common', name], CHIPS[name][2])
            counts[own, name] = 0
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
        lefts = fit.left_out(lambda r: (r['name'], r['chip']))
        if '--rows' in sys.argv:
            for i in sorted(fit.errors, key=lambda i: -abs(fit.errors[i]))[:40]:
                r = rows[i]
                print(f'    {100 * math.expm1(fit.errors[i]):+6.1f} {r["id"]} {r["name"]} {r["chip"]} {r["plan"]["precision"]} {r["cluster"]}')
    if '--write' in sys.argv:
        write(fit, platforms)
        write_errors(lefts, rows, platforms)


if __name__ == '__main__':
    main()
