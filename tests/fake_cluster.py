#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fake_cluster.py MOEPLAN [QUESTIONS [SEED]] [--scripts] [--trials=N] [--least=PART]: sweep's loop against a cluster that is other than estimated.

A question is a model, GPUs and a framework. Its cluster is the platform with every coefficient of the step time times a lognormal
of sigma 0.15; a run takes what the program estimates for it there, times a lognormal of 2 %, and writes the framework's log; one whose
estimated memory is above the capacity runs out of it. The plan that suggest gives is run, then three trials, one after the other, each the one that sweep asks for. The question is won when
the plan that sweep then calls the best takes at most 1 % longer on that cluster, noise apart, than the fastest of all plans
that sweep may try. --scripts runs what `sweep --format shell` prints, with a torchrun that writes the log; else the log is written
directly. Prints a line a question and the number won; exit 1 when fewer than PART (nine in ten) are.
"""
import json, math, os, random, subprocess, sys, tempfile

MODELS = ['qwen3-30b-a3b', 'qwen3-235b-a22b', 'deepseek-v3', 'gpt-oss-120b', 'mixtral-8x7b', 'moonlight-16b-a3b', 'glm-4.5-air', 'llama-3-70b']
CLUSTERS = [('h100', 64), ('h100', 256), ('gb200', 64), ('b200', 128), ('gb200', 256), ('h200', 128)]
FRAMEWORKS = ['megatron', 'bridge', 'automodel']
SIGMA, NOISE, TRIALS, WITHIN = 0.15, 0.02, 3, 1.01


def ask(moeplan, *arguments, text=None, folder=None):
    return subprocess.run([moeplan, *arguments], input=text, capture_output=True, text=True, cwd=folder)


def cluster(moeplan, platform, rng, path):
    """Writes the perturbed platform."""
    rows = json.loads(ask(moeplan, 'platforms', platform, '--format', 'json').stdout)['coefficients']
    lines = ['moeplan: 1', 'kind: Platform', 'id: fake', 'name: Fake', f'base: {platform}', 'coefficients:']
    for row in rows:
        value = row['value'] * math.exp(rng.gauss(0, SIGMA))
        if row['high'] <= 1: value = min(value, 1)  # a part of a whole stays one
        lines.append(f'  {row["name"]}: {{value: {value:.6g}}}')
    with open(path, 'w') as out: out.write('\n'.join(lines) + '\n')


def megatron_log(step, gbs, rng):
    """50 steps as Megatron-LM and Megatron-Bridge log them, the first one slow."""
    for i in range(1, 51):
        ms = 1000 * step * (3 if i == 1 else math.exp(rng.gauss(0, 0.005)))
        yield (f' [2026-01-01 10:00:00.000000] iteration {i:8d}/      50 | consumed samples: {i * gbs:12d} | elapsed time per iteration (ms): '
               f'{ms:.1f} | learning rate: 1.000000E-06 | global batch size: {gbs:5d} | lm loss: 1.000000E+01 | grad norm: 1.000 |')


def automodel_log(step, gbs, seq, gpus, rng):
    for i in range(50):
        tps = gbs * seq / (step * (3 if i == 0 else math.exp(rng.gauss(0, 0.005))))
        yield (f'2026-01-01 10:00:00 | INFO | root | step {i} | epoch 0 | loss 2.1000 | grad_norm 1.0000 | lr 1.00e-05 | mem 40.00 GiB | '
               f'tps {tps:.2f}({tps / gpus:.2f}/gpu) | num_label_tokens {gbs * seq}')


def steps_there(moeplan, plans, platform):
    """Seconds of each plan on the cluster; None: it does not run there."""
    text = ''.join(json.dumps({'id': str(i), 'plan': {**plan, 'platform': os.path.basename(platform)}}) + '\n' for i, plan in enumerate(plans))
    answers = [json.loads(line) for line in ask(moeplan, 'estimate', '--batch', text=text, folder=os.path.dirname(platform)).stdout.splitlines()]
    return [a['time']['step_s'] if 'time' in a and a['memory']['peak_gib'] <= a['memory']['capacity_gib'] else None for a in answers]


def write_log(path, plan, step, rng):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if step is None:
        open(path, 'w').write('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n')
        return
    run = step * math.exp(rng.gauss(0, NOISE))
    gbs, seq, gpus = plan['gbs'], plan['seq'], plan['gpus']
    lines = automodel_log(run, gbs, seq, gpus, rng) if plan['framework'] == 'automodel' else megatron_log(run, gbs, rng)
    with open(path, 'w') as out: out.write('\n'.join(lines) + '\n')


def run_scripts(moeplan, folder, results, platform, rng):
    """What sweep prints for a shell, with a torchrun that finds the plan beside the file it is given."""
    bin_ = os.path.join(folder, 'bin')
    os.makedirs(bin_, exist_ok=True)
    fake = os.path.join(bin_, 'torchrun')
    with open(fake, 'w') as out:
        out.write(f'#!/bin/sh\nexec {sys.executable} {os.path.abspath(__file__)} {moeplan} --run "$TRIAL_DIR" {platform} {rng.random()}\n')
    os.chmod(fake, 0o755)
    script = ask(moeplan, 'sweep', os.path.join(folder, 'plan.yaml'), '--results', results, '--top', '1', '--format', 'shell').stdout
    script = script.replace('    launch "$dir', '    export TRIAL_DIR=$dir\n    launch "$dir')
    subprocess.run(['bash', '-c', script], cwd=folder, env={**os.environ, 'PATH': bin_ + ':' + os.environ['PATH']}, check=True)


def torchrun(moeplan, trial, platform, seed):
    """The cluster's side of a script: prints the log of the trial."""
    rng = random.Random(seed)
    plan = os.path.join(trial, 'plan.yaml')
    text = open(plan).read()
    fields = dict(line.split(': ', 1) for line in text.splitlines() if ': ' in line and line[0] not in '# ')
    name, folder = os.path.basename(platform), os.path.dirname(platform)
    there = '\n'.join(f'platform: {name}' if line.startswith('platform:') else line for line in text.splitlines())
    answer = json.loads(ask(moeplan, 'estimate', '-', '--format', 'json', text=there, folder=folder).stdout)
    if answer['memory']['peak_gib'] > answer['memory']['capacity_gib']:
        sys.exit('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.')
    step = answer['time']['step_s'] * math.exp(rng.gauss(0, NOISE))
    gbs, seq, gpus = (int(fields[name]) for name in ('gbs', 'seq', 'gpus'))
    print('\n'.join(automodel_log(step, gbs, seq, gpus, rng) if fields['framework'] == 'automodel' else megatron_log(step, gbs, rng)))


def given(name, otherwise):
    return next((float(a.split('=')[1]) for a in sys.argv if a.startswith(f'--{name}=')), otherwise)


def question(moeplan, i, seed, scripts):
    rng = random.Random(1000 * seed + i)
    model, (platform, gpus), framework = rng.choice(MODELS), rng.choice(CLUSTERS), FRAMEWORKS[i % 3]
    with tempfile.TemporaryDirectory() as folder:
        plan, results, there = (os.path.join(folder, name) for name in ('plan.yaml', 'results', 'fake.yaml'))
        os.mkdir(results)
        if ask(moeplan, 'suggest', model, '--gpus', str(gpus), '--platform', platform, '--framework', framework, '--format', 'plan', '-o', plan).returncode:
            return None
        cluster(moeplan, platform, rng, there)
        state = {}
        for trial in range(1 + int(given('trials', TRIALS))):
            state = json.loads(ask(moeplan, 'sweep', plan, '--results', results, '--format', 'json', '--top', '1').stdout)
            if trial == 0:
                trials = state['trials']
                truth = dict(zip((t['id'] for t in trials), steps_there(moeplan, [t['plan'] for t in trials], there)))
            # the plan itself comes first, and alone
            due = ['baseline'] if trial == 0 else [t['id'] for t in state['trials'] if t['state'] == 'next']
            if scripts and due: run_scripts(moeplan, folder, results, there, rng)
            for id_ in due:
                path = os.path.join(results, id_, 'log.txt')
                if not os.path.exists(path): write_log(path, next(t['plan'] for t in trials if t['id'] == id_), truth[id_], rng)
        state = json.loads(ask(moeplan, 'sweep', plan, '--results', results, '--format', 'json', '--top', '1').stdout)
        steps = [step for step in truth.values() if step]
        if not steps: return None  # nothing that may be tried fits there
        chosen, first = truth[state['best']], truth['baseline']
        won = chosen is not None and chosen <= WITHIN * min(steps)
        print(f'{"won " if won else "lost"} {model} {gpus} {platform} {framework}: the plan {behind(first, min(steps))} of {len(truth)}, '
              f'the chosen one {behind(chosen, min(steps))}', flush=True)
        return won


def behind(step, best):
    return f'is {100 * (step / best - 1):.1f} % behind the best' if step else 'does not run'


if __name__ == '__main__':
    if sys.argv[2:3] == ['--run']:
        torchrun(sys.argv[1], sys.argv[3], sys.argv[4], sys.argv[5])
        sys.exit(0)
    arguments = [a for a in sys.argv[1:] if not a.startswith('--')]
    count, seed = int(arguments[1]) if len(arguments) > 1 else 100, int(arguments[2]) if len(arguments) > 2 else 1
    answers = [a for a in (question(os.path.abspath(arguments[0]), i, seed, '--scripts' in sys.argv) for i in range(count)) if a is not None]
    least = given('least', 0.9)
    print(f'{sum(answers)} of {len(answers)} within {100 * (WITHIN - 1):.0f} % after the plan itself and {given("trials", TRIALS):.0f} trials')
    sys.exit(0 if answers and sum(answers) >= least * len(answers) else 1)
