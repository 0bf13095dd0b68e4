/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/kernel.h"

#include <math.h>

/* A GEMM takes the time of its FLOPs at the asymptotic rate plus the time of its operands from
   memory: a sum, which reproduces 12,900 measured shapes a chip at 4-8 % median (aiconfigurator's
   H100, B200, GB200 and GB300 tables). */
static double gemm(const struct timing *t, struct linear l, double m, double n, double k,
                   double out_bytes)
{
    bool low = t->low && !l.wide && (l.experts > 0 || !t->experts_only);
    double in_bytes = low ? t->low_bytes : 2;
    double compute = 2 * m * n * k / (low ? t->rate_low : t->rate_16);
    double bytes = in_bytes * (m * k + n * k) + out_bytes * m * n;
    return compute / (l.experts > 0 ? t->f.grouped_gemm : 1) + t->f.gemm_traffic * bytes / t->hbm;
}

/* Every expert's GEMM is a kernel of its own with a launch and a tail; a captured iteration keeps
 * the tail. */
static double expert_overhead(const struct timing *t)
{
    return (t->captured & SCOPE_FULL ? t->f.grouped_expert_captured : 1) * t->f.grouped_expert_s;
}

void kernel_linear(const struct timing *t, struct linear l, struct pass *forward,
                   struct pass *backward)
{
    if (l.rows <= 0 || l.out <= 0 || l.in <= 0) return;
    double many = l.experts > 0 ? l.experts : 1, start = l.experts > 0 ? expert_overhead(t) : 0;
    double f = gemm(t, l, l.rows, l.out, l.in, 2) + start;
    double b = gemm(t, l, l.rows, l.in, l.out, 2) + start;
    if (!l.frozen) b += gemm(t, l, l.out, l.in, l.rows, t->wgrad_bytes) + start;
    *(l.experts > 0 ? &forward->grouped : &forward->gemm) += many * f;
    *(l.experts > 0 ? &backward->grouped : &backward->gemm) += many * b;
    if (l.wide || (t->experts_only && l.experts <= 0)) return;
    double quantise = t->f.quantise * t->quantise_bytes / t->hbm * many * l.rows;
    if (!l.quantised_in) forward->quantise += quantise * l.in;
    if (!l.quantised_out) backward->quantise += quantise * l.out;
}

double kernel_stream(const struct timing *t, double bytes)
{
    return t->f.activation_passes * bytes / t->hbm;
}

/* FLOPs of the causal half (or the window) at a rate that saturates with the sequence and falls
   with narrow value heads. The rates are those of value heads 128 wide, DeepSeek-V3's; a head half
   as wide reaches two thirds of them. Backward has 2.5 times the FLOPs: five products for two. */
void kernel_attention(const struct timing *t, const struct core *s, struct pass *forward,
                      struct pass *backward)
{
    const struct knobs *k = &t->config->knobs;
    double seen = k->seq / 2.0, extent = (double)k->seq / k->cp;
    if (s->window > 0) {
        seen = fmin(seen, s->window);
        extent = fmin(extent, fmax(t->f.attention_least_extent, s->window));
    }
    double flops = 2 * t->tokens * seen * s->heads * (s->qk_dim + s->v_dim);
    double width = s->v_dim > 0 ? s->v_dim : s->qk_dim;
    double narrow = fmin(t->f.attention_wide_head, 2 * width / (width + 128));
    double rate =
        t->config->machine.peak_bf16 * narrow * extent / (extent + t->f.attention_half_seq);
    forward->attention += t->f.attention * flops / (rate * t->f.attention_forward);
    backward->attention += t->f.attention * 2.5 * flops / (rate * t->f.attention_backward);
}

/* Backward as of attention, and over every tensor twice: to read it and to write its gradient. */
void kernel_scan(const struct timing *t, const struct scan *s, struct pass *forward,
                 struct pass *backward)
{
    double peak_part = s->delta ? t->f.scan_delta_peak : t->f.scan_mamba_peak;
    double compute = s->flops / (peak_part * t->config->machine.peak_bf16);
    double stream = kernel_stream(t, s->bytes);
    forward->scan += t->f.scan * (compute + stream);
    backward->scan += t->f.scan * (2.5 * compute + 2 * stream);
}
