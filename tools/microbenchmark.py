#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures one GPU with nothing but PyTorch and writes the JSON that `moeplan calibrate` reads.

    python3 tools/microbenchmark.py > h100.json
    moeplan calibrate h100.json --platform h100 -o my_h100.yaml

GEMM and grouped GEMM by shape and dtype, attention, copies, permutation, and the host time of an
eager operation. Nothing in moeplan's build, tests or runs needs it. Takes about two minutes.
"""
import datetime
import json
import sys
import time

import torch
import torch.nn.functional as F


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


def grouped_gemm(rows, experts, out, inner):
    a = torch.randn(experts * rows, inner, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(experts, out, inner, device="cuda", dtype=torch.bfloat16)
    if hasattr(torch, "_grouped_mm"):
        ends = torch.arange(1, experts + 1, device="cuda", dtype=torch.int32) * rows
        return seconds(lambda: torch._grouped_mm(a, b.transpose(1, 2), offs=ends.to(torch.int32)))
    parts = a.chunk(experts)
    return seconds(lambda: [F.linear(x, w) for x, w in zip(parts, b)])


def attention(seq, batch, heads, qk_dim, v_dim):
    def made(dim):
        return torch.randn(batch, heads, seq, dim, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    q, k, v = made(qk_dim), made(qk_dim), made(v_dim)
    forward = seconds(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
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


def launch(count=2000):
    """Host time of an eager operation on a tensor too small to keep the GPU busy."""
    a = torch.ones(16, device="cuda")
    for _ in range(100):
        a = a * 1.0
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        a = a * 1.0
    host = time.perf_counter() - start
    torch.cuda.synchronize()
    return host / count


def tried(what, run):
    """The measurement, or None with a word on stderr where this PyTorch or GPU cannot do it."""
    try:
        return run()
    except (RuntimeError, AttributeError, NotImplementedError, torch.cuda.OutOfMemoryError) as error:
        print(f"{what} left out: {str(error).splitlines()[0]}", file=sys.stderr)
        return None


def main():
    torch.manual_seed(1)
    result = {"moeplan_microbenchmark": 1, "device": torch.cuda.get_device_name(), "torch": torch.__version__,
              "cuda": torch.version.cuda, "date": datetime.date.today().isoformat(),
              "gemm": [], "grouped_gemm": [], "attention": [], "copy": [], "permute": [], "launch": []}
    for dtype in ("bf16", "fp8"):
        for rows in (1024, 4096, 8192, 16384):
            for out, inner in ((2048, 2048), (4096, 4096), (7168, 7168), (18432, 7168), (4096, 12288)):
                t = tried(f"{dtype} GEMM", lambda: gemm(rows, out, inner, dtype))
                if t:
                    result["gemm"].append({"rows": rows, "out": out, "in": inner, "dtype": dtype, "seconds": t})
    for experts in (4, 8, 16):
        for rows in (256, 1024, 4096):
            for out, inner in ((3072, 4096), (1536, 2048), (4096, 7168)):
                t = tried("grouped GEMM", lambda: grouped_gemm(rows, experts, out, inner))
                if t:
                    result["grouped_gemm"].append({"rows": rows, "experts": experts, "out": out, "in": inner,
                                                   "dtype": "bf16", "seconds": t})
    for seq in (2048, 4096, 8192, 16384):
        for heads, qk_dim, v_dim in ((32, 128, 128), (16, 192, 128)):
            t = tried("attention", lambda: attention(seq, 1, heads, qk_dim, v_dim))
            if t:
                result["attention"].append({"seq": seq, "batch": 1, "heads": heads, "qk_dim": qk_dim,
                                            "v_dim": v_dim, "forward_s": t[0], "backward_s": t[1]})
    for size in (64 << 20, 256 << 20, 1 << 30):
        result["copy"].append({"bytes": size, "seconds": copy(size)})
    for rows, width in ((32768, 2048), (65536, 4096), (32768, 7168)):
        result["permute"].append({"bytes": 4 * rows * width, "seconds": permute(rows, width)})
    result["launch"].append({"seconds": launch()})
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
