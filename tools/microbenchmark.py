#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures one GPU with PyTorch and, where they are installed, Transformer Engine and FlashAttention 3, and writes what
`moeplan calibrate` reads: a row of JSON a line, each with its kernel, in the form of public tables of kernel times.

    moeplan calibrate --plan recipe.yaml > shapes.json
    python3 tools/microbenchmark.py --shapes shapes.json > h100.jsonl
    moeplan calibrate --check h100.jsonl                        # the laws against each kind of row
    moeplan calibrate h100.jsonl --platform h100 -o my_h100.yaml

Measured are GEMMs and grouped GEMMs by shape and dtype, attention by every backend, all of them in short bursts and as one stream that
goes on until power holds the clocks; a layer's host time, eager and captured; launches, Adam, copies and permutations. Without
--shapes, of common sizes. Only kernels that a coefficient is of move it. Nothing in moeplan's build, tests or runs needs this file.
Takes two to five minutes.
"""
import argparse
import datetime
import json
import math
import sys
import time
import warnings

try:
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError:   # shapes can be read without
    torch = None
try:
    import transformer_engine.pytorch as te
except ImportError:
    te = None
try:
    from flash_attn_interface import flash_attn_func as flash3
except ImportError:
    flash3 = None

SDPA = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}
# The platform of a device name: the first that it holds.
CHIPS = ("GB300", "GB200", "B300", "B200", "H800", "H200", "H100", "H20", "A100")
COMMON = {
    "gemm": [{"m": rows, "n": out, "k": inner, "dtype": dtype} for dtype in ("bf16", "fp8") for rows in (1024, 4096, 8192, 16384)
             for out, inner in ((2048, 2048), (4096, 4096), (7168, 7168), (18432, 7168), (4096, 12288))],
    "grouped_gemm": [{"m": rows, "experts": experts, "n": out, "k": inner, "dtype": "bf16"} for experts in (4, 8, 16)
                     for rows in (256, 1024, 4096) for out, inner in ((3072, 4096), (1536, 2048), (4096, 7168))],
    "attention": [{"seq": seq, "batch": 1, "heads": heads, "qk_dim": qk, "v_dim": v} for seq in (2048, 4096, 8192, 16384)
                  for heads, qk, v in ((32, 128, 128), (16, 192, 128))],
    "copy": [{"bytes": size} for size in (64 << 20, 256 << 20, 1 << 30)],
    "adam": [{"elements": 1 << 28}],
}
# A field of a shape, and its name in a row.
FIELDS = {"gemm": {"rows": "m", "out": "n", "in": "k", "dtype": "dtype"},
          "grouped_gemm": {"rows": "m", "experts": "experts", "out": "n", "in": "k", "dtype": "dtype"},
          "attention": {x: x for x in ("seq", "batch", "heads", "qk_dim", "v_dim")}, "copy": {"bytes": "bytes"},
          "adam": {"elements": "elements"}}
# One GPU has no exchange; a GEMM with several scales is measured with one, which its law starts from.
ONE_SCALE = {"mxfp8": "fp8", "fp8_block": "fp8", "nvfp4": "fp8"}
ADAM_BYTES = 28         # of an fp32 element: parameter, gradient and two moments read, all but the gradient written
MOST_ADAM = 1 << 28     # elements: 4 GiB of states
MOST_MATH = 4096        # tokens: that backend writes all scores to memory
SUSTAINED_S = 6         # of the stream that goes on: what brings a chip to its steady power
WAIT_CYCLES = 15_000_000   # 8 ms at 1.9 GHz: several times what power control takes to let the clocks rise
LONG_S = 50e-6          # kernels of the stream: shorter ones show their launches
TINY_OPERATIONS = 256   # of a captured chain


def read_shapes(path):
    """By kind what `moeplan calibrate --plan` printed and one GPU can measure, each once; and what is left out, in words."""
    with open(path, encoding="utf-8") as file:
        read = json.load(file)
    if read.get("moeplan_shapes") != 1:
        sys.exit(f"{path} is not what moeplan calibrate --plan prints")
    shapes, left = {kind: [] for kind in FIELDS}, []
    for x in read["shapes"]:
        kind = x["kind"]
        if kind not in FIELDS or x.get("dtype") == "fp32" or x.get("window"):
            left.append(" ".join([kind] + [f"{k} {v}" for k, v in x.items() if k not in ("kind", "count")]))
            continue
        one = {name: ONE_SCALE.get(x[k], x[k]) for k, name in FIELDS[kind].items()}
        if kind == "grouped_gemm":   # in what this script's kernels compute; the tokens of an expert vary, whole 16 are aligned
            one = {name: x if name in ("experts", "dtype") else 16 * math.ceil(x / 16) for name, x in {**one, "dtype": "bf16"}.items()}
        if one not in shapes[kind]:
            shapes[kind].append(one)
    return shapes, left


# ---- clocks ----

def seconds(run, repeat=20):
    """Median device time of a call on a cool chip, with the L2 cache flushed. The GPU waits before each, so that power has let the
    clocks rise again and the host has launched all of the call by the time it starts."""
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    for _ in range(3):
        run()
    times = []
    for _ in range(repeat):
        torch.cuda._sleep(WAIT_CYCLES)
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
        if sum(times) > 0.5:
            break
    return sorted(times)[len(times) // 2]


def host_seconds(run, count):
    """Host time of a call on tensors too small to keep the GPU busy."""
    for _ in range(count // 10):
        run()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        run()
    host = time.perf_counter() - start
    torch.cuda.synchronize()
    return host / count


def sustained_seconds(runs):
    """Device time of all calls after one another, again and again, once the chip is at its steady power."""
    start, passes = time.perf_counter(), []
    while time.perf_counter() - start < SUSTAINED_S:
        ends = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        ends[0].record()
        for run in runs:
            run()
        ends[1].record()
        passes.append(ends)
        if len(passes) > 2:
            passes[-3][1].synchronize()   # the queue stays short, and never empty
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) / 1e3 for a, b in passes]
    half = times[len(times) // 2:]
    return sum(half) / len(half)


# ---- kernels: each returns what runs it ----

def gemm(m, n, k, dtype):
    if dtype == "bf16":
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
        return lambda: F.linear(a, b)
    one = torch.ones((), device="cuda")
    a = torch.randn(m, k, device="cuda").to(torch.float8_e4m3fn)
    b = torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn)
    return lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16)


def grouped_gemm(kernel, m, experts, n, k, dtype):
    """te: a GEMM an expert on several streams; grouped: one kernel; loop: expert by expert."""
    del dtype
    a = torch.randn(experts * m, k, device="cuda", dtype=torch.bfloat16)
    if kernel == "te":
        linear = te.GroupedLinear(experts, k, n, bias=False, params_dtype=torch.bfloat16)
        linear.requires_grad_(False)
        return lambda: linear(a, [m] * experts)
    b = torch.randn(experts, n, k, device="cuda", dtype=torch.bfloat16)
    if kernel == "grouped":
        ends = (torch.arange(1, experts + 1, device="cuda") * m).to(torch.int32)
        return lambda: torch._grouped_mm(a, b.transpose(1, 2), offs=ends)
    parts = a.chunk(experts)
    return lambda: [F.linear(x, w) for x, w in zip(parts, b)]


def attention(kernel, seq, batch, heads, qk_dim, v_dim):
    """Forward and backward: Transformer Engine's own choice, FlashAttention 3, or one of SDPA's backends by its name."""
    def made(dim):
        shape = {"te": (seq, batch, heads, dim), "flash3": (batch, seq, heads, dim)}.get(kernel, (batch, heads, seq, dim))
        return torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    q, k, v = made(qk_dim), made(qk_dim), made(v_dim)
    core = te.DotProductAttention(heads, (qk_dim, v_dim), attn_mask_type="causal", attention_dropout=0.0) if kernel == "te" else None

    def run():
        if core:
            return core(q, k, v)
        if kernel == "flash3":
            out = flash3(q, k, v, causal=True)
            return out[0] if isinstance(out, tuple) else out
        with sdpa_kernel(getattr(SDPBackend, SDPA[kernel])):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    out = run()
    grad = torch.randn_like(out)
    return run, lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True)


def copy(size):
    a = torch.empty(int(size) // 2, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    return lambda: b.copy_(a)


def host_copy(size, to_host):
    a, b = torch.empty(size, dtype=torch.uint8, device="cuda"), torch.empty(size, dtype=torch.uint8, pin_memory=True)
    return (lambda: b.copy_(a, non_blocking=True)) if to_host else (lambda: a.copy_(b, non_blocking=True))


def permute(rows, width):
    a = torch.randn(rows, width, device="cuda", dtype=torch.bfloat16)
    order = torch.randperm(rows, device="cuda")
    return lambda: a.index_select(0, order)


def adam(elements):
    parameter = torch.nn.Parameter(torch.zeros(elements, device="cuda"))
    parameter.grad = torch.full_like(parameter, 1e-3)
    optimizer = torch.optim.AdamW([parameter], fused=True)
    return optimizer.step


def layer():
    """The forward of a layer with autograd: the cost model counts 22 operations of attention and 10 of the MLP."""
    one = te.TransformerLayer(64, 128, 4, hidden_dropout=0.0, attention_dropout=0.0, params_dtype=torch.bfloat16,
                              self_attn_mask_type="causal")
    x = torch.randn(32, 1, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    return lambda: one(x)


def captured_chain():
    """Device time of an operation too small to take any, in a CUDA graph."""
    a = torch.ones(16, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(TINY_OPERATIONS):
            a.mul_(1.0)
    return seconds(graph.replay) / TINY_OPERATIONS


# ---- rows ----

class Rows:
    """Prints each row as it is measured."""

    def __init__(self):
        name = torch.cuda.get_device_name()
        self.chip = next((x.lower() for x in CHIPS if x in name), name)
        self.count = 0
        self.stream = {}   # by dtype and kind: (burst, what runs it), for the streams that go on
        print(json.dumps({"moeplan_microbenchmark": 2, "chip": self.chip, "device": name, "torch": torch.__version__,
                          "transformer_engine": getattr(te, "__version__", None), "cuda": torch.version.cuda,
                          "date": datetime.date.today().isoformat()}), flush=True)

    def add(self, op, time_s, **fields):
        self.count += 1
        print(json.dumps({"id": f"{op}-{self.count}", "op": op, "chip": self.chip, **fields, "seconds": float(f"{time_s:.6g}")}), flush=True)

    def tried(self, what, run):
        """The result, or None with a word on stderr where this PyTorch or GPU cannot do it."""
        try:
            return run()
        except (RuntimeError, AttributeError, NotImplementedError, AssertionError, ValueError, TypeError) as error:
            print(f"{what} left out: {str(error).splitlines()[0]}", file=sys.stderr)
            torch.cuda.empty_cache()
            return None

    def burst(self, op, kernel, run, **fields):
        """Measures what is run, and keeps it for the stream where it is long."""
        time_s = self.tried(f"{op} {kernel or fields}", lambda: seconds(run)) if run else None
        if time_s:
            self.add(op, time_s, **({"kernel": kernel} if kernel else {}), **fields)
        return time_s

    def keep(self, dtype, kind, time_s, run):
        free, total = torch.cuda.mem_get_info()
        if time_s and time_s >= LONG_S and free > total / 2:
            self.stream.setdefault((dtype, kind), []).append((time_s, run))


def measure_products(rows, shapes):
    for x in shapes["gemm"]:
        run = rows.tried(f"{x['dtype']} GEMM", lambda: gemm(**x))
        rows.keep(x["dtype"], "gemm", rows.burst("gemm", "cublas", run, **x), run)
    for x in shapes["grouped_gemm"]:
        for kernel in (["te"] if te else []) + ["grouped", "loop"]:
            run = rows.tried(f"grouped GEMM {kernel}", lambda: grouped_gemm(kernel, **x))
            rows.burst("grouped_gemm", kernel, run, **x)


def measure_attention(rows, shapes):
    for x in shapes["attention"]:
        for kernel in (["te"] if te else []) + (["flash3"] if flash3 else []) + list(SDPA):
            if kernel == "math" and x["seq"] > MOST_MATH:
                continue
            runs = rows.tried(f"attention {kernel}", lambda: attention(kernel, **x))
            for op, run in zip(("attention_forward", "attention_backward"), runs or ()):
                time_s = rows.burst(op, kernel, run, dtype="bf16", **x)
                if kernel == ("te" if te else "cudnn"):
                    rows.keep("bf16", "attention", time_s, run)


def measure_stream(rows):
    """All products of a dtype one after another, and all of attention, against the sum of their bursts."""
    for (dtype, kind), kept in rows.stream.items():
        total = rows.tried(f"sustained {dtype} {kind}", lambda: sustained_seconds([run for _, run in kept]))
        if total:
            rows.add("sustained", total, kernel=kind, dtype=dtype, **{f"{kind}_s": float(f"{sum(t for t, _ in kept):.6g}")})
    rows.stream.clear()


def measure_memory(rows, shapes):
    for x in shapes["copy"]:
        rows.burst("copy", None, copy(x["bytes"]), bytes=2 * (int(x["bytes"]) // 2))
    for to_host in (True, False):
        rows.burst("host_copy", "to_host" if to_host else "to_device", host_copy(1 << 28, to_host), bytes=1 << 28)
    for count, width in ((32768, 2048), (65536, 4096), (32768, 7168)):
        rows.burst("permute", None, permute(count, width), bytes=4 * count * width)
    for x in shapes["adam"]:
        elements = int(min(x["elements"], MOST_ADAM))
        rows.burst("adam", "torch_fused", rows.tried("Adam", lambda: adam(elements)), elements=elements, bytes=ADAM_BYTES * elements)


def measure_host(rows):
    a = torch.ones(16, device="cuda")
    rows.add("launch", host_seconds(lambda: a * 1.0, 2000), kernel="operation")
    run = rows.tried("a layer of Transformer Engine", layer) if te else None
    if run:
        rows.add("launch", host_seconds(run, 300) / 32, kernel="layer")
    gap = rows.tried("a captured chain", captured_chain)
    if gap:
        rows.add("captured", gap, kernel="chain")


def main():
    words = argparse.ArgumentParser(description="Measures one GPU for moeplan calibrate.")
    words.add_argument("--shapes", metavar="FILE", help="what moeplan calibrate --plan printed")
    path = words.parse_args().shapes
    shapes, left = read_shapes(path) if path else (COMMON, [])
    for what in left:
        print(f"not measured: {what}", file=sys.stderr)
    if torch is None:
        sys.exit("PyTorch is not installed")
    torch.manual_seed(1)
    warnings.filterwarnings("ignore", category=UserWarning)   # why a backend does not take a shape: it is left out by name
    rows = Rows()
    measure_host(rows)
    measure_products(rows, shapes)
    measure_attention(rows, shapes)
    measure_stream(rows)
    measure_memory(rows, shapes)


if __name__ == "__main__":
    main()
