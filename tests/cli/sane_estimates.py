#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sane_estimates.py MOEPLAN: estimates far from what was measured. Of plans drawn at random, from one sequence of a dense model to 262,144
tokens on 2,048 GPUs, nothing reaches more than the chip's peak, no part of the step is less than nothing, a better machine is never
slower, and more work is never faster; a sequence that is a sixteenth longer meets no cliff. H100 and H200, which differ in their memory alone, wait alike for the same host."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

PLANS = 700
SLACK = 1e-6
CLIFF = 1.25   # of the time, for a sixteenth more of the sequence: 1.13 where attention were all
CHIPS = {'a100': (2.039, 300, 25, 312, None), 'h20': (4.0, 450, 50, 148, 296), 'h100': (3.35, 450, 50, 989, 1979),
         'b300': (7.7, 900, 100, 2250, 4500), 'gb200': (8.0, 900, 50, 2450, 4900)}
SIXTEENTH = 'a sixteenth more of the sequence'
DOMAINS = {'gb200': 144}
MOE = ('qwen3-30b-a3b', 'deepseek-v3', 'deepseek-v3.2', 'gpt-oss-120b', 'nemotron-3-super-120b-a12b', 'mixtral-8x7b', 'kimi-k2',
       'qwen3-next-80b-a3b', 'llama-4-maverick', 'granite-3.0-1b-a400m', 'mimo-v2-flash', 'deepseek-v4-flash')
DENSE = ('llama-3-70b', 'qwen3-0.6b', 'nemotron-h-56b', 'gemma-2-27b', 'gemma-4-31b')
# Where a law once went the wrong way: a chip's speed where the host sets the pace, a pipeline of
# fewer microbatches than stages, tensor parallelism across domains, recomputation of next to nothing.
KNOWN = ({'model': 'llama-3-70b', 'platform': 'gb200', 'framework': 'bridge', 'gpus': 1024, 'seq': 4096, 'mbs': 1, 'gbs': 8, 'tp': 16, 'pp': 8,
          'cp': 2, 'precision': 'bf16', 'sequence_parallel': True},
         {'model': 'mixtral-8x7b', 'platform': 'a100', 'framework': 'megatron', 'gpus': 1024, 'seq': 8192, 'mbs': 1, 'gbs': 32, 'tp': 8, 'pp': 4,
          'vpp': 4, 'precision': 'bf16', 'sequence_parallel': True, 'moe_router_force_load_balancing': True},
         {'model': 'llama-3-70b', 'platform': 'h100', 'framework': 'megatron', 'gpus': 256, 'seq': 1024, 'mbs': 16, 'gbs': 64, 'tp': 16,
          'pp': 4, 'precision': 'bf16', 'sequence_parallel': True},
         {'model': 'llama-3-70b', 'platform': 'h100', 'framework': 'bridge', 'gpus': 256, 'seq': 1024, 'mbs': 1, 'gbs': 32, 'tp': 4, 'pp': 8,
          'cp': 8, 'precision': 'bf16', 'sequence_parallel': True, 'recompute_granularity': 'selective', 'recompute_modules': ['layernorm']})


def drawn(random):
    """A plan, or None where its ranks do not come out even."""
    dense = random.random() < 0.3
    chip = random.choice(list(CHIPS))
    plan = {'model': random.choice(DENSE if dense else MOE), 'platform': chip, 'framework': random.choice(('megatron', 'megatron', 'bridge')),
            'gpus': random.choice((8, 16, 64, 256, 1024, 2048)), 'tp': random.choice((1, 1, 2, 4, 8, 16)), 'cp': random.choice((1, 1, 2, 8)),
            'pp': random.choice((1, 1, 2, 4, 8, 32)), 'seq': random.choice((1024, 4096, 8192, 32768, 262144)),
            'mbs': random.choice((1, 1, 2, 16)),
            'precision': 'bf16' if chip == 'a100' else random.choice(('bf16', 'bf16', 'fp8_tensorwise', 'fp8_blockwise'))}
    if plan['gpus'] % (plan['tp'] * plan['cp'] * plan['pp']):
        return None
    plan['gbs'] = plan['gpus'] // (plan['tp'] * plan['cp'] * plan['pp']) * plan['mbs'] * random.choice((1, 2, 8, 64))
    plan['sequence_parallel'] = plan['tp'] > 1
    if plan['pp'] > 1 and random.random() < 0.5:
        plan['vpp'] = random.choice((2, 3))
    if not dense:
        kind = random.choice(('alltoall', 'allgather', 'deepep', 'hybridep'))
        flex = kind in ('deepep', 'hybridep')
        plan.update(ep=random.choice((1, 4, 8, 32, 64, 256)), etp=1, moe_router_force_load_balancing=True,
                    moe_token_dispatcher_type='flex' if flex else kind, **({'moe_flex_dispatcher_backend': kind} if flex else {}))
    recompute = random.random()
    if recompute < 0.2:
        plan.update(recompute_granularity='full', recompute_method='uniform', recompute_num_layers=1)
    elif recompute < 0.4:
        plan.update(recompute_granularity='selective', recompute_modules=random.choice((['moe_act', 'layernorm'], ['layernorm'])))
    return plan


def platforms(folder):
    """Files of chips that are better in one thing: (chip, what) -> the file in the folder."""
    made = {}
    for chip, (hbm, link, nic, bf16, fp8) in CHIPS.items():
        better = {'memory': {'hbm_tb_per_s': 2 * hbm}, 'link': {'nvlink_gb_per_s': 2 * link}, 'network': {'nic_gb_per_s': 2 * nic},
                  'peak': {'bf16_tflops': 2 * bf16, **({'fp8_tflops': 2 * fp8} if fp8 else {})},
                  'domain': {'nvlink_domain': DOMAINS.get(chip, 16)}}
        for what, facts in better.items():
            made[chip, what] = f'{chip}-{what}.yaml'
            with open(os.path.join(folder, made[chip, what]), 'w', encoding='utf-8') as f:
                f.write(f'moeplan: 1\nkind: Platform\nid: {chip}-{what}\nbase: {chip}\n')
                f.writelines(f'{name}: {value}\n' for name, value in facts.items())
    return made


def estimates(moeplan, plans, folder=None):
    """The answers' times, None where there is none; a plan may name platform files of the folder."""
    asked = ''.join(json.dumps({'id': str(i), 'plan': {'moeplan': 1, 'use_distributed_optimizer': True, **plan}}) + '\n' for i, plan in enumerate(plans))
    out = subprocess.run([moeplan, 'estimate', '--batch'], input=asked, capture_output=True, text=True, check=True, cwd=folder).stdout
    return [json.loads(line).get('time') for line in out.splitlines()]


def impossible(time):
    step, parts = time['step_s'], time['breakdown'].values()
    if not 0 < time['step_low_s'] < step < time['step_high_s']:
        return 'its interval does not hold the step'
    if min(parts) < 0:
        return 'a part takes less than nothing'
    return 'it is faster than the chip' if time['mfu'] > 0.9 else None


def changes(plan, better):
    """(what, the plan with it, whether it is more work)"""
    for (chip, what), path in better.items():
        # a DeepEP token of a larger domain takes more of the inner hops
        if chip == plan['platform'] and (what != 'domain' or plan.get('ep', 1) == 1):
            yield f'twice the {what}', {**plan, 'platform': path}, False
    yield 'twice the batch', {**plan, 'gbs': 2 * plan['gbs']}, True
    yield 'twice the sequence', {**plan, 'seq': 2 * plan['seq']}, True
    yield SIXTEENTH, {**plan, 'seq': plan['seq'] * 17 // 16}, True


def main():
    moeplan, source = os.path.abspath(sys.argv[1]), random.Random(1)
    plans = list(KNOWN) + [plan for plan in (drawn(source) for _ in range(PLANS)) if plan]
    answered = [(plan, time) for plan, time in zip(plans, estimates(moeplan, plans)) if time]
    wrong = [f'{why}: {json.dumps(plan)}' for plan, time in answered for why in [impossible(time)] if why]
    with tempfile.TemporaryDirectory() as folder:
        better = platforms(folder)
        asked = [(plan, time, *change) for plan, time in answered for change in changes(plan, better)]
        for (plan, time, what, _, more), other in zip(asked, estimates(moeplan, [changed for _, _, _, changed, _ in asked], folder)):
            ratio = other['step_s'] / time['step_s'] if other else math.nan
            cliff = what == SIXTEENTH and ratio > CLIFF
            if not other or cliff or (ratio < 1 - SLACK if more else ratio > 1 + SLACK):
                wrong.append(f'{what} takes {ratio:.4f} of the time: {json.dumps(plan)}')
    waits = {'model': 'qwen3-30b-a3b', 'framework': 'megatron', 'gpus': 64, 'seq': 4096, 'mbs': 1, 'gbs': 512, 'ep': 8, 'precision': 'bf16',
             'moe_token_dispatcher_type': 'alltoall', 'moe_router_force_load_balancing': True}
    h100, h200 = estimates(moeplan, [{**waits, 'platform': chip} for chip in ('h100', 'h200')])
    if h200['step_s'] > 1.02 * h100['step_s']:
        wrong.append(f'an H200 takes {h200["step_s"]:.2f} s for what an H100 does in {h100["step_s"]:.2f}')
    print(*wrong[:20], f'{len(answered)} plans, {len(asked)} changes, {len(wrong)} wrong', sep='\n')
    return 1 if wrong or len(answered) < PLANS // 3 else 0


if __name__ == '__main__':
    sys.exit(main())
