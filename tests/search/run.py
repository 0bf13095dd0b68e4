#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py MOEPLAN [QUESTIONS [SEED [FOUND]]]: is there a plan beside those that suggest shows which is faster by its own
estimate? Each question is drawn: a model of the catalogue, a platform, GPUs, a precision and a sequence length; without
a number they are a few on which an earlier search lost. Of the plans shown one or two settings are changed, to any value
that the framework might take: nothing here knows what the search looks at. What estimate refuses or does not surely fit
does not count; what is over 1 % faster than all that is shown is climbed from, and the question counts as lost. Prints
those, with their plans as JSON lines into FOUND; fails where it is more than one in twenty of many, or any of the few."""
import json
import os
import random
import re
import subprocess
import sys

# Of text alone: guides bind what vision-language models may do.
MODELS = ['deepseek-v2-lite', 'deepseek-v2', 'deepseek-v3', 'ernie-4.5-21b-a3b', 'ernie-4.5-300b-a47b', 'glm-4.5-air', 'glm-4.5',
          'gpt-oss-20b', 'gpt-oss-120b', 'hunyuan-a13b', 'kimi-k2', 'ling-flash-2.0', 'llama-3.1-8b', 'llama-3-70b', 'mimo-v2-flash',
          'minimax-m2', 'mixtral-8x7b', 'mixtral-8x22b', 'moonlight-16b-a3b', 'nemotron-3-nano-30b-a3b', 'olmoe-1b-7b',
          'qwen3-14b', 'qwen3-30b-a3b', 'qwen3-235b-a22b', 'qwen3-coder-480b-a35b', 'qwen3-next-80b-a3b']
PRECISIONS = {'a100': ['bf16'], 'h100': ['bf16', 'fp8_blockwise', 'fp8_tensorwise'], 'h20': ['bf16', 'fp8_blockwise'],
              'h200': ['bf16', 'fp8_blockwise'], 'h800': ['bf16'], 'b200': ['bf16', 'mxfp8', 'fp8_tensorwise'], 'b300': ['bf16', 'mxfp8'],
              'gb200': ['bf16', 'mxfp8', 'fp8_tensorwise'], 'gb300': ['bf16', 'mxfp8', 'nvfp4']}
GPUS = [1, 2, 4, 8, 8, 16, 16, 24, 32, 48, 64, 64, 72, 96, 128, 256, 512, 1024]
FEW = [('minimax-m2', 64, 'gb200', 'mxfp8', 128, 4096, 'megatron'), ('llama-3.1-8b', 4, 'a100', 'bf16', 16, 32768, 'megatron')]
FASTER, LOST, PAIRS = 0.01, 0.05, 60


def ask(program, verb, requests):
    """Answers of MOEPLAN VERB --batch, in the order of the requests."""
    lines = ''.join(json.dumps({'id': str(i), **r}) + '\n' for i, r in enumerate(requests))
    done = subprocess.run([program, verb, '--batch'], input=lines, stdout=subprocess.PIPE, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def catalogue(program):
    """Layers of each model."""
    text = subprocess.run([program, 'models'], stdout=subprocess.PIPE, text=True, check=False).stdout
    rows = [line.split() for line in text.splitlines()]
    return {r[0]: int(r[3]) for r in rows if len(r) > 3 and r[3].isdigit()}


def question(model, gpus, platform, precision, gbs, seq, framework):
    return {'model': model, 'gpus': gpus, 'platform': platform,
            'options': {'gbs': gbs, 'seq': seq, 'precision': precision, 'framework': framework, 'goal': 'throughput', 'top': 5,
                        'no_playbook': True}}


def draw(rng):
    platform, gpus = rng.choice(sorted(PRECISIONS)), rng.choice(GPUS)
    seq = rng.choice([2048, 4096, 4096, 8192, 16384, 32768, 131072])
    gbs = max(gpus, 4) * rng.choice([1, 2, 4, 8, 16]) if seq <= 8192 else max(8, gpus // rng.choice([1, 2, 4, 8]))
    framework = rng.choice(['megatron', 'megatron', 'megatron', 'bridge', 'automodel'])
    precision = 'bf16' if framework == 'automodel' else rng.choice(PRECISIONS[platform])
    return question(rng.choice(MODELS), gpus, platform, precision, gbs, seq, framework)


# ---- changes: a list of (what, settings); None takes a setting away ----

FIXED_BUFFERS = {'cuda_graph_impl': 'full_iteration', 'cuda_graph_scope': None, 'te_rng_tracker': True, 'check_for_nan_in_loss_and_grad': False,
                 'moe_token_dispatcher_type': 'flex', 'moe_flex_dispatcher_backend': 'hybridep', 'moe_paged_stash': True,
                 'moe_expert_rank_capacity_factor': 1.5, 'moe_paged_stash_buffer_size_factor_cuda': 1.2,
                 'moe_paged_stash_buffer_size_factor_cpu': 1.0, 'use_transformer_engine_op_fuser': True}
OF_OWN_OPTIMIZER = ['main_grads_dtype', 'exp_avg_dtype', 'exp_avg_sq_dtype', 'use_precision_aware_optimizer', 'optimizer_cpu_offload',
                    'optimizer_offload_fraction', 'fp8_param_gather', 'grad_reduce_in_bf16']  # Megatron-FSDP has another
NO_BUFFERS = {k: None for k in FIXED_BUFFERS if k.startswith('moe_') and 'dispatcher' not in k}


def chunks_of(layout):
    """'Et|(tt|)*3L' has five."""
    for part, times in re.findall(r'\(([^)]*)\)\*(\d+)', layout):
        layout = layout.replace(f'({part})*{times}', part * int(times))
    return layout.count('|') + 1


def layouts(plan, layers, pp, vpp):
    """Two divisions of the layers: embedding and loss count as a layer each, or the loss as two."""
    n, mtp = pp * vpp, plan.get('pipeline_model_parallel_layout', '').count('m')
    for loss in (1, 2):
        chunks = [[] for _ in range(n)]
        items, weights = ['E'] + ['t'] * layers + ['m' * mtp + 'L'], [1] + [1] * layers + [loss + mtp]
        total, seen = sum(weights), 0
        for item, weight in zip(items, weights):
            chunks[min(n - 1, int((seen + weight / 2) * n / total))].append(item)
            seen += weight
        yield '|'.join(''.join(c) for c in chunks)


def pipelines(plan, layers):
    pp = plan.get('pp') or 1
    vpp = chunks_of(plan.get('pipeline_model_parallel_layout') or '|' * (pp - 1)) // pp
    for p in {1, 2, 3, 4, 6, 8, 12, 16, pp * 2, max(1, pp // 2)}:
        if p == 1:
            yield 'pp 1', {'pp': 1, 'vpp': None, 'pipeline_model_parallel_layout': None}
            continue
        for v in {1, 2, 4, vpp, vpp * 2, max(1, vpp // 2)} if p == pp else {1, 2, 4}:
            if p * v <= layers + 2 and (p, v) != (pp, vpp):
                for text in layouts(plan, layers, p, v):
                    yield f'pp {p} vpp {v}', {'pp': p, 'vpp': None, 'pipeline_model_parallel_layout': text}


def sizes(plan):
    for name in ('cp', 'ep', 'mbs') if plan['framework'] == 'automodel' else ('tp', 'cp', 'ep', 'etp', 'mbs'):
        now = plan.get(name) or 1
        for value in {1, now * 2, now * 4, now // 2, now // 4, 3 * now // 2}:
            if value > 0 and value != now:
                extra = {'sequence_parallel': value > 1 or None, 'tp_comm_overlap': None} if name == 'tp' else {}
                yield f'{name} {value}', {name: value, **extra}


def switches(plan):
    """Of Megatron-core."""
    modules = ('layernorm', 'moe_act', 'mla_up_proj', 'shared_experts', 'mlp', 'moe', 'core_attn')
    now = set(plan.get('recompute_modules') or [])
    yield 'recompute nothing', {'recompute_granularity': None, 'recompute_modules': None, 'recompute_method': None, 'recompute_num_layers': None}
    yield 'recompute layers', {'recompute_granularity': 'full', 'recompute_modules': None, 'recompute_method': 'uniform', 'recompute_num_layers': 1}
    for m in modules:
        new = now ^ {m}
        if new:
            yield f'recompute {"not " if m in now else ""}{m}', {'recompute_granularity': 'selective', 'recompute_modules': sorted(new),
                                                                 'recompute_method': None, 'recompute_num_layers': None}
    yield 'alltoall', {'moe_token_dispatcher_type': 'alltoall', 'moe_flex_dispatcher_backend': None}
    if not plan['platform'].startswith('gb'):  # it has no kernels for racks
        yield 'deepep', {'moe_token_dispatcher_type': 'flex', 'moe_flex_dispatcher_backend': 'deepep'}
    yield 'hybridep', {'moe_token_dispatcher_type': 'flex', 'moe_flex_dispatcher_backend': 'hybridep'}
    yield 'no graphs', {'cuda_graph_impl': 'none', 'cuda_graph_scope': None, **NO_BUFFERS}
    for scope in (['moe_router', 'moe_preprocess'], ['attn'], ['attn', 'moe_router', 'moe_preprocess'], ['attn', 'moe_router', 'moe_preprocess', 'mlp']):
        yield 'graphs ' + ' '.join(scope), {'cuda_graph_impl': 'transformer_engine', 'cuda_graph_scope': scope, 'te_rng_tracker': True, **NO_BUFFERS}
    if plan.get('ep', 1) * plan.get('etp', 1) > 1:
        yield 'a graph of the iteration', FIXED_BUFFERS
    for on in (True, False):
        yield f'ep overlap {on}', {'overlap_moe_expert_parallel_comm': on, **({'moe_shared_expert_overlap': False} if on else {})}
        yield f'shared overlap {on}', {'moe_shared_expert_overlap': on, **({'overlap_moe_expert_parallel_comm': False} if on else {})}
        yield f'tp overlap {on}', {'tp_comm_overlap': on}
        yield f'delayed wgrad {on}', {'delay_wgrad_compute': on}
    yield 'fsdp', {'use_megatron_fsdp': True, 'data_parallel_sharding_strategy': 'optim_grads_params', 'ckpt_format': 'fsdp_dtensor', 'pp': 1,
                   'pipeline_model_parallel_layout': None, **dict.fromkeys(OF_OWN_OPTIMIZER)}
    yield 'no fsdp', {'use_megatron_fsdp': None, 'data_parallel_sharding_strategy': None, 'ckpt_format': None}
    for n in (1, 2, 4, 8):
        yield f'instances {n}', {'num_distributed_optimizer_instances': n if n > 1 else None}
    for part in (None,) if plan.get('use_megatron_fsdp') else (None, 0.5, 1.0):
        yield f'optimizer offload {part}', {'optimizer_cpu_offload': True if part else None, 'optimizer_offload_fraction': part,
                                            'use_precision_aware_optimizer': True if part else plan.get('use_precision_aware_optimizer')}
    for some in ([], ['core_attn', 'attn_proj'], ['expert_fc1', 'moe_act'], ['core_attn', 'attn_proj', 'expert_fc1', 'moe_act']):
        yield f'offload {" ".join(some)}', {'fine_grained_activation_offloading': bool(some) or None, 'offload_modules': some or None}


def changes(plan, layers):
    out = list(sizes(plan))
    if plan['framework'] != 'automodel':
        out += list(pipelines(plan, layers)) + list(switches(plan))
    return [(what, x) for what, x in out if any(plan.get(k) != v for k, v in x.items())]


def changed(plan, settings):
    new = {**plan, **settings}
    return {k: v for k, v in new.items() if v is not None}


# ---- judging ----

def step(z):
    return z['time']['step_s']


def counts(z):
    return 'time' in z and not z.get('refused') and z['memory']['fits'] == 'yes'


def neighbours(rng, plan, layers, n_pairs):
    singles = changes(plan, layers)
    out = [(what, changed(plan, x)) for what, x in singles]
    for _ in range(n_pairs):
        first = rng.choice(singles)
        between = changed(plan, first[1])
        second = rng.choice(changes(between, layers))
        out.append((f'{first[0]}, {second[0]}', changed(between, second[1])))
    return out


def climb(program, rng, plan, seconds, layers):
    """The best that changes lead to from here: its seconds, and what was changed."""
    trail = []
    for _ in range(8):
        tried = neighbours(rng, plan, layers, PAIRS)
        answers = ask(program, 'estimate', [{'plan': p} for _, p in tried])
        good = [(step(z), what, p) for (what, p), z in zip(tried, answers) if counts(z) and step(z) < 0.998 * seconds]
        if not good:
            break
        seconds, what, plan = min(good, key=lambda g: g[:2])
        trail.append(what)
    return seconds, trail, plan


def lost(program, rng, asked, shown, layers, n_pairs, found):
    """Whether changes of the plans shown are faster than all of them; prints how, if so."""
    best = min(step(z['estimate']) for z in shown)
    tried = [t for z in shown if step(z['estimate']) < 1.15 * best for t in neighbours(rng, z['plan'], layers, n_pairs)]
    answers = ask(program, 'estimate', [{'plan': plan} for _, plan in tried])
    faster = [(step(z), what, plan) for (what, plan), z in zip(tried, answers) if counts(z) and step(z) * (1 + FASTER) < best]
    if not faster:
        return False
    seconds, what, plan = min(faster, key=lambda f: f[:2])
    end, trail, plan = climb(program, rng, plan, seconds, layers)
    print(f'{100 * (best / seconds - 1):.1f} % by {what}; {100 * (best / end - 1):.1f} % after {"; ".join(trail) or "no more"}: '
          f'{json.dumps(asked)}', flush=True)
    if found:
        shown = [(step(z['estimate']), z['plan']) for z in shown]
        print(json.dumps({'question': asked, 'shown': shown, 'plan': plan, 'step_s': end}), file=found, flush=True)
    return True


def main():
    program, numbers = os.path.abspath(sys.argv[1]), [int(x) for x in sys.argv[2:4]]
    rng = random.Random(numbers[1] if len(numbers) > 1 else 1)
    shapes = catalogue(program)
    questions = [draw(rng) for _ in range(numbers[0])] if numbers else [question(*q) for q in FEW]
    found = open(sys.argv[4], 'w', encoding='utf-8') if len(sys.argv) > 4 else None
    n_lost = with_plan = 0
    for q, a in zip(questions, ask(program, 'suggest', questions)):
        shown = [z for z in a.get('plans') or [] if z['estimate']['memory']['fits'] == 'yes']
        with_plan += bool(shown)
        n_lost += bool(shown) and lost(program, rng, q, shown, shapes[q['model']], PAIRS if numbers else 5, found)
    print(f'{len(questions)} questions, {with_plan} with a plan; over 1 % faster than all that is shown: {n_lost}')
    return 0 if with_plan and n_lost <= (LOST * with_plan if numbers else 0) else 1


if __name__ == '__main__':
    sys.exit(main())
