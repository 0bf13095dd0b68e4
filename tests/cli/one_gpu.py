#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""one_gpu.py BIN: AutoModel's own benchmark recipe on one H100 (80 GB, 700 W; AutoModel 36044ad3,
PyTorch 2.11, PyTorch's kernels throughout), measured by this project on 2026-11-28: peaks of
torch.cuda.max_memory_allocated in GiB, steps in s. Models are shortened to so many layers."""
import json
import subprocess
import sys
import tempfile

RECIPE = """recipe: BenchmarkingRecipeForNextTokenPrediction
step_scheduler: {{global_batch_size: {gbs}, local_batch_size: {mbs}, max_steps: 8, num_epochs: 1, ckpt_every_steps: 1000, val_every_steps: 1000}}
distributed: {{strategy: fsdp2, tp_size: 1, cp_size: 1, pp_size: 1, ep_size: 1, sequence_parallel: false, activation_checkpointing: {full}}}
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_config
  config: {{_target_: transformers.AutoConfig.from_pretrained, pretrained_model_name_or_path: {model}}}
  backend: {{_target_: nemo_automodel.components.models.common.BackendConfig, attn: sdpa, linear: torch, rms_norm: torch, experts: {experts}, dispatcher: torch, fake_balanced_gate: true, enable_hf_state_dict_adapter: false}}
loss_fn: {{_target_: nemo_automodel.components.loss.masked_ce.MaskedCrossEntropy, fp32_upcast: false}}
dataset: {{_target_: nemo_automodel.components.datasets.llm.mock_iterable_dataset.MockIterableDataset, seq_len: {seq}, num_samples: 100000}}
dataloader: {{_target_: torch.utils.data.DataLoader, batch_size: null, num_workers: 0}}
optimizer: {{_target_: torch.optim.Adam, lr: 0.0001, weight_decay: 0}}
"""
LORA = """peft: {_target_: nemo_automodel.components._peft.lora.PeftConfig, target_modules: ['*q_proj', '*k_proj', '*v_proj', '*o_proj'], dim: 16, alpha: 32, use_triton: false}
"""
MOE, DENSE = "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-8B"
# model, layers, local batch, global batch, recomputed, experts, seq, LoRA; peak, step, how far the
# estimated step may be
RUNS = [
    (MOE, 8, 4, 8, True, "torch_mm", 4096, False, 62.51, 0.774, 0.15),
    (MOE, 8, 1, 4, False, "torch_mm", 4096, False, 52.27, 0.430, 0.2),
    (MOE, 8, 4, 8, True, "torch", 4096, False, 62.51, 6.951, 0.3),
    (MOE, 8, 1, 2, True, "torch_mm", 16384, False, 62.51, 1.133, 0.15),
    (MOE, 8, 1, 8, True, "torch_mm", 4096, False, 52.27, 1.260, 0.1),
    (MOE, 8, 2, 2, False, "torch_mm", 4096, False, 52.27, 0.214, 0.17),
    (MOE, 24, 2, 4, True, "torch_mm", 4096, True, 41.39, 1.046, 0.15),
    (DENSE, 12, 4, 8, True, "torch_mm", 4096, False, 51.65, 1.825, 0.05),
]


def ask(binary, run, *more):
    model, layers, mbs, gbs, full, experts, seq, lora = run[:8]
    text = RECIPE.format(model=model, mbs=mbs, gbs=gbs, full=str(full).lower(), experts=experts, seq=seq)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text + (LORA if lora else ""))
        f.flush()
        command = [binary, "estimate", f.name, "--gpus", "1", "--platform", "h100", "--set", f"num_layers={layers}",
                   *more]
        return subprocess.run(command, capture_output=True, text=True).stdout


def estimate(binary, run):
    answer = json.loads(ask(binary, run, "--format", "json"))
    return answer.get("estimate", answer)


wrong = 0
for run in RUNS:
    peak, step, within = run[8:]
    found = estimate(sys.argv[1], run)
    memory, time = found["memory"]["peak_gib"], found["time"]["step_s"]
    print(f"{run[:8]}: peak {memory:.2f} GiB, measured {peak}; step {time:.3f} s, measured {step}")
    if abs(memory / peak - 1) > 0.02:
        print("  the peak is more than 2 % off")
        wrong += 1
    if abs(time / step - 1) > within:
        print(f"  the step is more than {100 * within:.0f} % off")
        wrong += 1
# Without recomputation Hugging Face's norms keep a copy in fp32 and the values before their weight, in
# place of the input: 4 bytes more, of 4096 channels, and of 32 + 8 heads of 128.
terms = ask(sys.argv[1], (DENSE, 12, 1, 2, False, "torch_mm", 4096, False), "--explain")
for name, width, size in (("input norm in fp32", 4096, 4), ("FFN norm in fp32", 4096, 4),
                          ("q and k norms in fp32", 5120, 4), ("gate", 12288, 2)):
    if f"layer: {name} = 12 layers in flight x 4096 x {width} x {size} B" not in terms:
        print(f"{name}: not {size} bytes of {width} values a token")
        wrong += 1
sys.exit(wrong > 0)
