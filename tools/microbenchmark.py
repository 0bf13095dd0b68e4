#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures one GPU with PyTorch and, where it is installed, Transformer Engine, and writes the JSON that
`moeplan calibrate` reads.

    moeplan calibrate --plan recipe.yaml > shapes.json
    python3 tools/microbenchmark.py --shapes shapes.json > h100.json
    moeplan calibrate h100.json --platform h100 -o my_h100.yaml

GEMM and grouped GEMM by shape and dtype, attention, copies, permutation, and the host time of an
eager operation and of a layer; without --shapes, of common sizes. Each entry names its kernel where there are several: only those that
a coefficient is of move it. Nothing in moeplan's build, tests or runs needs it. Takes about five
minutes.
"""
import argparse
import datetime
import json
import sys
import time

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

SDPA = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}
COMMON = {
    "gemm": [{"rows": rows, "out": out, "in": inner, "dtype": dtype} for dtype in ("bf16", "fp8") for rows in (1024, 4096, 8192, 16384)
             for out, inner in ((2048, 2048), (4096, 4096), (7168, 7168), (18432, 7168), (4096, 12288))],
    "grouped_gemm": [{"rows": rows, "experts": experts, "out": out, "in": inner, "dtype": "bf16"} for experts in (4, 8, 16)
                     for rows in (256, 1024, 4096) for out, inner in ((3072, 4096), (1536, 2048), (4096, 7168))],
    "attention": [{"seq": seq, "batch": 1, "heads": heads, "qk_dim": qk, "v_dim": v} for seq in (2048, 4096, 8192, 16384)
                  for heads, qk, v in ((32, 128, 128), (16, 192, 128))],
    "copy": [{"bytes": size} for size in (64 << 20, 256 << 20, 1 << 30)],
}
FIELDS = {"gemm": ("rows", "out", "in", "dtype"), "grouped_gemm": ("rows", "experts", "out", "in", "dtype"),
          "attention": ("seq", "batch", "heads", "qk_dim", "v_dim"), "copy": ("bytes",)}
# One GPU has no exchange; a GEMM with several scales is measured with one, which its law starts from.
ONE_SCALE = {"mxfp8": "fp8", "fp8_block": "fp8", "nvfp4": "fp8"}


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
        one = {k: ONE_SCALE.get(x[k], x[k]) for k in FIELDS[kind]}
        if kind == "grouped_gemm":
            one["dtype"] = "bf16"   # what this script's kernels compute in
        if one not in shapes[kind]:
            shapes[kind].append(one)
    return shapes, left


def seconds(run, repeat=20):
    """Median device time of a call, with the L2 cache flushed before each."""
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    for _ in range(3):
        run()
    times = []
    for _ in range(repeat):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return sorted(times)[len(times) // 2]


def gemm(rows, out, inner, dtype):
    if dtype == "bf16":
        a = torch.randn(rows, inner, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(out, inner, device="cuda", dtype=torch.bfloat16)
        return seconds(lambda: F.linear(a, b))
    one = torch.ones((), device="cuda")
    a = torch.randn(rows, inner, device="cuda").to(torch.float8_e4m3fn)
    b = torch.randn(out, inner, device="cuda").to(torch.float8_e4m3fn)
    return seconds(lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16))


def grouped_gemm(kernel, rows, experts, out, inner):
    """te: a GEMM an expert on several streams; grouped: one kernel; loop: expert by expert."""
    a = torch.randn(experts * rows, inner, device="cuda", dtype=torch.bfloat16)
    if kernel == "te":
        linear = te.GroupedLinear(experts, inner, out, bias=False, params_dtype=torch.bfloat16)
        with torch.no_grad():
            return seconds(lambda: linear(a, [rows] * experts))
    b = torch.randn(experts, out, inner, device="cuda", dtype=torch.bfloat16)
    if kernel == "grouped":
        ends = torch.arange(1, experts + 1, device="cuda", dtype=torch.int32) * rows
        return seconds(lambda: torch._grouped_mm(a, b.transpose(1, 2), offs=ends.to(torch.int32)))
    parts = a.chunk(experts)
    return seconds(lambda: [F.linear(x, w) for x, w in zip(parts, b)])


def attention(kernel, seq, batch, heads, qk_dim, v_dim):
    """Forward and backward: Transformer Engine's own choice, or one of SDPA's backends by its name."""
    def made(dim):
        shape = (seq, batch, heads, dim) if kernel == "te" else (batch, heads, seq, dim)
        return torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    q, k, v = made(qk_dim), made(qk_dim), made(v_dim)
    if kernel == "te":
        core = te.DotProductAttention(heads, (qk_dim, v_dim), attn_mask_type="causal", attention_dropout=0.0)

        def run():
            return core(q, k, v)
    else:
        def run():
            with sdpa_kernel(getattr(SDPBackend, SDPA[kernel])):
                return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    forward = seconds(run)
    out = run()
    grad = torch.randn_like(out)
    backward = seconds(lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True))
    return forward, backward


def copy(size):
    a = torch.empty(size // 2, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    return seconds(lambda: b.copy_(a))


def permute(rows, width):
    a = torch.randn(rows, width, device="cuda", dtype=torch.bfloat16)
    order = torch.randperm(rows, device="cuda")
    return seconds(lambda: a.index_select(0, order))


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


def bare_operation():
    a = torch.ones(16, device="cuda")
    return host_seconds(lambda: a * 1.0, 2000)


def layer_operation():
    """An operation of a layer's forward with autograd: the cost model counts 22 of attention and 10 of the MLP."""
    layer = te.TransformerLayer(64, 128, 4, hidden_dropout=0.0, attention_dropout=0.0, params_dtype=torch.bfloat16,
                                self_attn_mask_type="causal")
    x = torch.randn(32, 1, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    return host_seconds(lambda: layer(x), 300) / 32


def tried(what, run):
    """The measurement, or None with a word on stderr where this PyTorch or GPU cannot do it."""
    try:
        return run()
    except (RuntimeError, AttributeError, NotImplementedError, AssertionError, ValueError) as error:
        print(f"{what} left out: {str(error).splitlines()[0]}", file=sys.stderr)
        return None


def asked_for():
    """The shapes of the command line."""
    words = argparse.ArgumentParser(description="Measures one GPU for moeplan calibrate.")
    words.add_argument("--shapes", metavar="FILE", help="what moeplan calibrate --plan printed")
    path = words.parse_args().shapes
    if not path:
        return COMMON
    shapes, left = read_shapes(path)
    for what in left:
        print(f"not measured: {what}", file=sys.stderr)
    return shapes


def main():
    shapes = asked_for()
    if torch is None:
        sys.exit("PyTorch is not installed")
    torch.manual_seed(1)
    result = {"moeplan_microbenchmark": 1, "device": torch.cuda.get_device_name(), "torch": torch.__version__,
              "transformer_engine": getattr(te, "__version__", None), "cuda": torch.version.cuda,
              "date": datetime.date.today().isoformat(),
              "gemm": [], "grouped_gemm": [], "attention": [], "copy": [], "permute": [], "launch": []}
    for x in shapes["gemm"]:
        t = tried(f"{x['dtype']} GEMM", lambda: gemm(x["rows"], x["out"], x["in"], x["dtype"]))
        if t:
            result["gemm"].append({**x, "seconds": t})
    for x in shapes["grouped_gemm"]:
        for kernel in (["te"] if te else []) + ["grouped", "loop"]:
            t = tried(f"grouped GEMM {kernel}", lambda: grouped_gemm(kernel, x["rows"], x["experts"], x["out"], x["in"]))
            if t:
                result["grouped_gemm"].append({"kernel": kernel, **x, "seconds": t})
    for x in shapes["attention"]:
        for kernel in (["te"] if te else []) + list(SDPA):
            t = tried(f"attention {kernel}", lambda: attention(kernel, x["seq"], x["batch"], x["heads"], x["qk_dim"], x["v_dim"]))
            if t:
                result["attention"].append({"kernel": kernel, **x, "forward_s": t[0], "backward_s": t[1]})
    for x in shapes["copy"]:
        t = tried("copy", lambda: copy(x["bytes"]))
        if t:
            result["copy"].append({**x, "seconds": t})
    for rows, width in ((32768, 2048), (65536, 4096), (32768, 7168)):
        result["permute"].append({"bytes": 4 * rows * width, "seconds": permute(rows, width)})
    result["launch"].append({"kernel": "operation", "seconds": bare_operation()})
    t = tried("a layer of Transformer Engine", layer_operation) if te else None
    if t:
        result["launch"].append({"kernel": "layer", "seconds": t})
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
