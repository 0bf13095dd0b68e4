#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""runs.py MOEPLAN [RUNS…] [--rows] [--write | --check]: fits what kernels alone do not say (hiding, power, the host, training's own
pace) to measured runs.

RUNS are files of runs, one JSON object a line, each with its `plan` and `step_time_s`, `tokens_per_s_per_gpu` or `tflops_per_gpu`;
else docs/accuracy/runs.jsonl and mlperf.jsonl. The kernels' coefficients stay as they are. A coefficient of SHARED has one value; one
of CHIPS has a value and for each chip whose file states it a deviation that is pulled to its prior. Each publisher's cluster has a
pace of its own, which is fitted and not shipped. Printed: the errors of the fit, and of runs left out by (model, chip), by model, by
chip and by cluster; --rows lists them. --write puts coefficients and the model's own errors into rules/platforms, and what the program
states of its accuracy into src/cmd/left_out.h; --check says where those differ."""
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import defaultdict

from platforms import Platforms, platform_file
from solve import Problem, bound_of_next, inverse_diagonal, quantile, spread

ACCURACY = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'accuracy')
FILES = ('runs.jsonl', 'mlperf.jsonl')
TABLE = os.path.join(ACCURACY, '..', '..', 'src', 'cmd', 'left_out.h')

# name: the prior's value, and its log sd. A coefficient of CHIPS has a third number, the log sd of a chip's deviation.
SHARED = {'grouped_training': (0.95, 0.15), 'grouped_training_low': (0.85, 0.2),
          'activation_passes': (1.0, 0.2), 'scan': (1.0, 0.5), 'gpu_gap_s': (2e-6, 0.4), 'ep_hidden': (0.65, 0.2),
          'p2p_exposed': (0.25, 0.4), 'dp_window': (0.8, 0.08), 'dp_contention': (0.15, 0.4), 'fsdp_hidden': (0.9, 0.1),
          'step_s': (0.03, 0.4), 'straggling': (0.007, 0.5), 'routing_spread': (0.2, 0.1), 'tp_hidden': (0.4, 0.3),
          'nic_bulk': (0.9, 0.05), 'dispatch': (1.05, 0.08), 'dispatch_across': (1.05, 0.2), 'quantise_mxfp8': (0.67, 0.05),
          'quantise_delayed': (0.5, 0.1), 'bias_passes': (2.0, 0.4), 'sync_s': (6e-5, 0.3),
          'host_launch': (0.1, 0.4), 'delayed_host': (1.0, 0.3)}
CHIPS = {'throttling': (0.2, 0.3, 0.2), 'throttling_low': (0.2, 0.05, 0.2), 'host_op_s': (3e-5, 0.3, 0.2), 'attention': (0.95, 0.08, 0.1)}
# Chips of one process need about the same energy for a product, so the more of them (the dense BF16 peak) a watt is asked for, the
# more the clocks give way: the prior of a chip's throttling, one that nobody ran included.
TYPICAL = 1.7   # TFLOP/s a watt of a chip that throttles as the shared value says
WIDTHS = (0.5, 1.0, 2.0)   # times the log sd of chips' deviations, among which runs left out choose; CHIPS has what all of them choose
CLUSTER_SD = 0.03   # of the pace of a publisher's cluster, where several publish the same model on the same chip
NOISE = 0.025
# Times NOISE: beyond BEND a run pulls with constant strength, beyond LOST less and less, as what a publisher does not say moves no
# coefficient. Of 0.35 to 2.5 and 2.8 to infinity those with which runs left out have the least errors, the median and nine in ten.
BEND, LOST = 0.9, 6.0
WEIGHTS = {'runs.jsonl': 3}   # runs of training proper count for more than a benchmark's races
HELD = 1e-4   # log sd of what stays at its prior
# What is left out together.
WAYS = {'model and chip': lambda r: (r['name'], r['chip']), 'model': lambda r: r['name'], 'chip': lambda r: r['chip'],
        'cluster': lambda r: r['cluster']}
CHOOSES = 'model and chip'   # of these the one whose errors choose among WIDTHS
WITHIN = 1.645   # standard deviations that hold nine of ten
FEWEST = 15   # runs that make a class
LEAST_ERROR = 0.03   # log sd below which no class of runs is said to be known: identical runs differ by that


def read(path):
    with open(path) as f:
        for r in map(json.loads, f):
            if not r.get('plan') or r.get('status', 'ok') != 'ok':
                continue
            plan = r['plan']
            model = plan['model'] if isinstance(plan['model'], str) else plan['model'].get('base') or plan['model'].get('name')
            r.update(name=model.lower(), chip=plan['platform'], cluster=r.get('cluster') or r['source'].split('#')[0].split(' ')[0].split('@')[0])
            yield r


def tokens(plan):
    return plan['gbs'] * plan['seq'] / plan['gpus']


class Runs:
    """Asks the program for steps at other values of some coefficients; a plan may name files below the folder it is asked in."""

    def __init__(self, moeplan, folder, platforms, rows, names):
        self.moeplan, self.folder, self.platforms, self.rows, self.names = moeplan, folder, platforms, rows, names

    def answers(self, values, shipped=None):
        """`shipped`: of some coefficients (value, log sd), by the file that states them or for all chips."""
        for c in {r['chip'] for r in self.rows}:
            stated = {n: (self.value(c, n, values), 0.0) for n in self.names}
            if shipped:
                stated.update({n: x for n, x in shipped.items() if isinstance(x, tuple)})
                for own in reversed(self.platforms.line(c)):
                    stated.update(shipped.get(own, {}))
            platform_file(f'{self.folder}/{c}.yaml', c, stated)
        asked = ''.join(json.dumps({'id': str(i), 'plan': {**r['plan'], 'platform': r['chip'] + '.yaml'}}) + '\n'
                        for i, r in enumerate(self.rows))
        out = subprocess.run([self.moeplan, 'estimate', '--batch'], input=asked, capture_output=True, text=True, check=True,
                             cwd=self.folder).stdout
        return [json.loads(l) for l in out.splitlines()]

    def value(self, chip, name, values):
        return values[name] * deviation(self.platforms, values, chip, name)

    def __call__(self, values):
        return [math.log(a['time']['step_s']) if 'time' in a else None for a in self.answers(values)]


def measured_step(r, answer):
    if r.get('step_time_s'):
        return r['step_time_s']
    if r.get('tokens_per_s_per_gpu'):
        return tokens(r['plan']) / r['tokens_per_s_per_gpu']
    t = answer['time']
    return t['step_s'] * t['model_tflops_per_gpu'] / r['tflops_per_gpu']


def prior(platforms, chip, name):
    if not name.startswith('throttling'):
        return 1.0
    return platforms.peak(chip) / platforms.power[chip] / TYPICAL


def deviation(platforms, values, chip, name):
    """A chip without a deviation of its own has that of the one it starts from: an H800 is an H100 with a slower link, an H200 one with
    other memory, and what stands in their nodes is the same."""
    while chip and (chip, name) not in values:
        chip = platforms.bases[chip]
    return values[chip, name] if chip else 1.0


def is_effect(key):
    return isinstance(key, tuple) and key[0] == 'cluster'


def is_deviation(key):
    return isinstance(key, tuple) and key[0] != 'cluster'


class Fit:
    def __init__(self, moeplan, folder, platforms, rows):
        names = sorted(set(SHARED) | set(CHIPS))
        self.runs = Runs(moeplan, folder, platforms, rows, names)
        self.rows, self.platforms = rows, platforms
        start, sd = {}, {}
        for n in names:
            start[n], sd[n] = (CHIPS[n] if n in CHIPS else SHARED[n])[:2]
        for n, (_, _, deviation) in CHIPS.items():
            for c in (c for c, stated in platforms.stated if stated == n and c != 'common'):
                several = len(self.models(c, n)) >= 2   # one model's ways are no chip's
                start[c, n], sd[c, n] = prior(platforms, c, n), deviation if several else HELD
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
        self.sd = dict(sd)
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
        self.errors_by_width = {}
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

    def forget(self, rows):
        """Deviations that other rows alone would not have: they start anew, where one model is left they stay at their prior."""
        p = self.p
        moved = {}
        for j, k in enumerate(p.keys):
            if is_deviation(k) and len(self.models(*k, without=rows)) < 2:
                p.held.add(j)
                moved[j] = -p.theta[j]
                p.theta[j] = 0.0
        for at, i in enumerate(p.rows):
            p.base[i] += sum(p.jacobian[j][at] * d for j, d in moved.items())

    def models(self, chip, name, without=()):
        low = {'throttling': (False,), 'throttling_low': (True,)}.get(name, (False, True))
        return {r['name'] for i, r in enumerate(self.rows)
                if i not in without and self.platforms.place(r['chip'], name) == chip and (r['plan']['precision'] not in ('bf16', 'fp16', 'fp32')) in low}

    def groups(self, key):
        inside = defaultdict(set)
        for i, r in enumerate(self.rows):
            inside[key(r)].add(i)
        return inside.values()

    def left_out(self, way):
        """The errors of each group of a way from a fit without it, of the width of deviations that the others choose: nothing of the
        group is in its own figure."""
        errors, result = self.by_width(way), {}
        for inside in self.groups(WAYS[way]):
            best = self.best_width(inside)
            result.update({i: e for i, e in errors[best].items() if i in inside})
        return result

    def by_width(self, way):
        if way not in self.errors_by_width:
            self.errors_by_width[way] = {w: self.left_out_at(w, WAYS[way]) for w in WIDTHS}
        return self.errors_by_width[way]

    def best_width(self, without=()):
        """That of CHIPS, unless runs left out by (model, chip) are better off with another by more than a standard error, in which
        the runs of a group count together: among equals the choice would follow those few runs that are left out of it, and always
        to their worst. Whatever is left out, these choose, as they do for what is shipped: seven chips are too few to."""
        errors = self.by_width(CHOOSES)

        def gain(width):
            if width == 1.0:
                return 0.0
            gains = [[abs(errors[1.0][i]) - abs(errors[width][i]) for i in g if i in errors[width] and i not in without]
                     for g in self.groups(WAYS[CHOOSES])]
            n = sum(map(len, gains))
            mean = sum(map(sum, gains)) / n
            return mean - math.sqrt(sum((sum(g) - mean * len(g)) ** 2 for g in gains)) / n

        return max(WIDTHS, key=gain)

    def left_out_at(self, width, key):
        """Each group's errors from a fit without it, and without what only it could say."""
        p, result = self.p, {}
        p.sd = {k: sd * width if is_deviation(k) and sd > HELD else sd for k, sd in self.sd.items()}
        here, base = list(p.theta), list(p.base)
        for inside in self.groups(key):
            use = [i not in inside for i in range(len(self.rows))]
            p.theta, p.base = list(here), list(base)
            self.forget(inside)
            self.settle(use)
            p.held = set()
            theta, p.theta, p.base = p.theta, list(here), list(base)
            result.update(self.shipped(theta, inside))
        p.sd = self.sd
        return result


class _Problem(Problem):
    """The slopes of effects are known."""

    def __init__(self, start, sd, measured, weights, predict, effects):
        super().__init__(start, sd, measured, weights, predict, noise=NOISE, bend=BEND, lost=LOST)
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


def spelt_out(r):
    """The same run, whose plan leaves no switch open: what silence adds to an interval is no error of the model. (What is said here
    is what silence means.)"""
    if r['plan']['framework'] == 'automodel':
        return r
    said = {'overlap_grad_reduce': True, 'overlap_moe_expert_parallel_comm': False}
    if not any(k.startswith('cuda_graph') for k in r['plan']):
        said['cuda_graph_impl'] = 'none'
    return dict(r, plan={**said, **r['plan']})


def intervals(fit, shipped):
    """Each run's log sd from its coefficients alone, and its class of model error, as the program has them."""
    names = [n for _, n in fit.platforms.stated if n.startswith('error_')]
    runs = Runs(fit.runs.moeplan, fit.runs.folder, fit.platforms, [spelt_out(r) for r in fit.rows], fit.runs.names)

    def widths(errors):
        return [math.log(a['time']['step_high_s'] / a['time']['step_s']) / WITHIN if 'time' in a else None
                for a in runs.answers(fit.p.values(), {**shipped, **{n: (x, 0) for n, x in errors.items()}})]

    none = dict.fromkeys(names, 0.0)
    alone, classes = widths(none), [None] * len(fit.rows)
    for name in sorted(set(names) - {'error_chip'}):
        for i, width in enumerate(widths({**none, name: 1.0})):
            if width is not None and width > alone[i] + 0.1:
                classes[i] = name
    return alone, classes


def model_errors(left, alone, classes, rows):
    """Of each class the log sd that, with those of the coefficients, holds nine of ten runs that nobody has shown: more than nine of
    ten of those that were left out, of all, and of those of each file, as a benchmark's races and training proper differ."""
    by = defaultdict(lambda: defaultdict(list))
    for i, e in left.items():
        for part in 'all', rows[i]['file']:
            by[classes[i]][part].append(math.sqrt(max(0.0, (e / WITHIN) ** 2 - alone[i] ** 2)))
    return {k: (max(LEAST_ERROR, *(bound_of_next(e, 0.9) for part, e in parts.items() if part == 'all' or len(e) >= FEWEST)), len(parts['all']))
            for k, parts in by.items()}


def holds(title, left, alone, errors, classes, more=0.0):
    by = defaultdict(list)
    for i, e in left.items():
        half = WITHIN * math.hypot(alone[i], errors[classes[i]][0], more)
        by[classes[i]].append((abs(e) <= half * (1 + 1e-9), 2 * math.sinh(half), abs(e)))
    print(title)
    for k, own in sorted(by.items()):
        print(f'    {k:20s} n={len(own):3d} holds {100 * sum(x[0] for x in own) / len(own):5.1f} %, width {100 * quantile([x[1] for x in own], 0.5):5.1f} %,'
              f' error {spread([x[2] for x in own])}')
    both = [x for own in by.values() for x in own]
    print(f'    {"all":20s} n={len(both):3d} holds {100 * sum(x[0] for x in both) / len(both):5.1f} %, width {100 * quantile([x[1] for x in both], 0.5):5.1f} %')


def coefficients(fit):
    """What the fit makes of each coefficient: (file, name) -> value, log sd, runs that feel it."""
    values, variances, made = fit.p.values(), inverse_diagonal(fit.normal), {}
    sd = {k: max(0.03, min(0.5, 2 * math.sqrt(v))) for k, v in zip(fit.p.keys, variances)}
    for j, k in enumerate(fit.p.keys):
        if is_effect(k):
            continue
        if isinstance(k, str):
            made['common', k] = values[k], sd[k], fit.p.felt(j)
        else:
            spread = sd[k] if fit.p.sd[k] > HELD else math.hypot(sd[k[1]], CHIPS[k[1]][2])
            made[k] = values[k[1]] * values[k], spread, fit.p.felt(j)
    return made


def errors_of(fit, made):
    """The model's own errors of the classes of runs, and more of it on a chip that nobody ran."""
    shipped = defaultdict(dict)
    for (own, name), (value, sd, _) in made.items():
        shipped[own][name] = value, sd
    alone, classes = intervals(fit, shipped)
    left = fit.left_out('model and chip')
    errors = model_errors(left, alone, classes, fit.rows)
    holds('intervals of runs left out by (model, chip)', left, alone, errors, classes)
    new = fit.left_out('chip')
    beyond = {i: math.hypot(alone[i], errors[classes[i]][0]) for i in new}
    chip = max(x for x, n in model_errors(new, beyond, classes, fit.rows).values() if n >= FEWEST)   # holds in each class
    holds('of runs left out by chip', new, alone, errors, classes, chip)
    run = {r['chip'] for r in fit.rows}
    result = {('common', k): (x, 0.0, n) for k, (x, n) in errors.items()}
    for own in (own for own, name in fit.platforms.stated if name == 'error_chip'):
        result[own, 'error_chip'] = (0.0, 0.0, sum(r['chip'] == own for r in fit.rows)) if own in run else (chip, 0.0, 0)
    return result


def differing(made, platforms):
    """Coefficients that the platform files do not state as the fit makes them."""
    return [f'{own}.yaml {name}: {platforms.stated.get((own, name))} is stated, the fit makes {value:.4g}'
            for (own, name), (value, _, _) in sorted(made.items()) if f'{platforms.stated.get((own, name), math.nan):.4g}' != f'{value:.4g}']


def other_width(fit):
    """Whether CHIPS states another width of deviations than all runs, left out by (model, chip), choose."""
    best = fit.best_width()
    return [f'CHIPS: runs left out choose {best:g} times its widths of deviations'] if best != 1.0 else []


def table(fit):
    """The C table of the errors of runs left out, which the program states."""
    lines = ['/* SPDX-License-Identifier: Apache-2.0 */', '/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */',
             '#ifndef MOEPLAN_CMD_LEFT_OUT_H', '#define MOEPLAN_CMD_LEFT_OUT_H', '',
             '/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */', '#define LEFT_OUT(X)'.ljust(99) + '\\']
    for way in WAYS:
        left = fit.left_out(way)
        for file in sorted({r['file'] for r in fit.rows}, reverse=True):
            errors = [math.expm1(abs(e)) for i, e in left.items() if fit.rows[i]['file'] == file]
            lines.append(f'    X("{file[:-len(".jsonl")]}", "{way}", {len(errors)}, {quantile(errors, 0.5):.3f}, {quantile(errors, 0.9):.3f})'.ljust(99) + '\\')
    lines[-1] = lines[-1][:-1].rstrip()
    return '\n'.join(lines + ['', '#endif', ''])


def report(fit, names):
    for j, k in enumerate(fit.p.keys):
        print(f'  {str(k):40s} {fit.p.values()[k]:.4g} (from {fit.p.start[k]:.4g}) n={fit.p.felt(j)}')
    tell('fitted', fit.errors, fit.rows, names)
    for way, key in WAYS.items():
        left = fit.left_out(way)
        tell('left out by ' + way, left, fit.rows, names)
        if '--rows' in sys.argv:
            groups(way, left, fit.rows, key)
    if '--rows' in sys.argv:
        for i in sorted(fit.errors, key=lambda i: -abs(fit.errors[i]))[:40]:
            r = fit.rows[i]
            print(f'    {100 * math.expm1(fit.errors[i]):+6.1f} {r["id"]} {r["name"]} {r["chip"]} {r["plan"]["precision"]} {r["cluster"]}')


def main():
    files = [a for a in sys.argv[2:] if not a.startswith('--')] or [os.path.join(ACCURACY, f) for f in FILES]
    names = [os.path.basename(f) for f in files]
    rows = [dict(r, file=n) for f, n in zip(files, names) for r in read(f)]
    platforms = Platforms()
    with tempfile.TemporaryDirectory() as folder:
        fit = Fit(os.path.abspath(sys.argv[1]), folder, platforms, rows).run()
        if '--check' not in sys.argv:
            report(fit, names)
        made = coefficients(fit)
        made.update(errors_of(fit, made))
        stated = table(fit)
    if '--write' in sys.argv:
        platforms.write(*({k: x[i] for k, x in made.items()} for i in range(3)))
        with open(TABLE, 'w') as f:
            f.write(stated)
    if '--check' in sys.argv:
        different = differing(made, platforms) + other_width(fit)
        with open(TABLE) as f:
            different += ['src/cmd/left_out.h states other errors'] if f.read() != stated else []
        print(*different, sep='\n')
        sys.exit(bool(different))


if __name__ == '__main__':
    main()
