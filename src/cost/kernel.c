/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/kernel.h"

#include <math.h>

#include "base/larger.h"
#include "plan/documents.h"

/* Of two engines that work side by side, a bit more than the longer takes. */
static double beside(double a, double b)
{
    return cbrt(a * a * a + b * b * b);
}

/* ---- GEMM ---- */

/* FLOPs at the asymptotic rate beside the operands' way from memory. The last wave of tiles leaves
   SMs idle, as if the output were larger; a tile's start and end take the time of some inner
   elements. */
double kernel_gemm(const struct timing *t, const struct gemm_law *law, double rows, double out,
                   double in, double out_bytes)
{
    double compute = 2 * (rows * out + t->tail) * (in + law->inner) / law->rate;
    double bytes = law->bytes * (rows * in + out * in) + out_bytes * rows * out;
    return law->start_s + beside(compute, bytes / law->memory);
}

/* Each expert's rows are whole tiles; the last wave is that of all together. */
double kernel_grouped(const struct timing *t, const struct gemm_law *law, double experts,
                      double rows, double out, double in, double out_bytes)
{
    double whole = experts * (rows + t->f.grouped_pad) * out + t->tail;
    double compute = 2 * whole * (in + law->inner) / law->rate;
    double bytes = law->bytes * (rows * in + out * in) + out_bytes * rows * out;
    return beside(compute, experts * bytes / t->hbm);
}

/* Transformer Engine deals experts' products to four streams in turn, so that one starts while
   others run (transformer_engine/common/util/multi_stream.cpp, get_num_compute_streams;
   gemm/cublaslt_gemm.cu, multi_stream_cublas_gemm). */
static const double streams = 4;

/* An expert's weight gradient has the rows as its inner side, whose start and end take what they do
   in a plain GEMM, and its rate is that of one: the rate of the experts' law goes with its long
   inner start, and alone is more than the chip's peak. */
static struct products grouped_products(const struct timing *t, const struct linear *l,
                                        const struct gemm_law *plain, bool low)
{
    const struct gemm_law *law = low ? &t->grouped_low : &t->grouped_16;
    double start = l->one_kernel ? 0 : l->experts * plain->start_s / smaller(streams, l->experts);
    double training = low ? t->f.grouped_training_low : t->f.grouped_training;
    struct gemm_law gradient = *law;
    gradient.inner = plain->inner;
    gradient.rate = plain->rate * training;
    double pad = t->f.grouped_pad; /* its rows are the inner side here */
    return (struct products){start + kernel_grouped(t, law, l->experts, l->rows, l->out, l->in, 2),
                             start + kernel_grouped(t, law, l->experts, l->rows, l->in, l->out, 2),
                             l->frozen
                                 ? 0
                                 : start + kernel_grouped(t, &gradient, l->experts, l->out - pad,
                                                          l->in, l->rows + pad, t->wgrad_bytes)};
}

static struct products plain_products(const struct timing *t, const struct linear *l,
                                      const struct gemm_law *law)
{
    return (struct products){
        kernel_gemm(t, law, l->rows, l->out, l->in, 2),
        kernel_gemm(t, law, l->rows, l->in, l->out, 2),
        l->frozen ? 0 : kernel_gemm(t, law, l->out, l->in, l->rows, t->wgrad_bytes)};
}

static struct products products_of(const struct timing *t, const struct linear *l)
{
    bool low = kernel_is_low(t, l);
    const struct gemm_law *law = low ? &t->gemm_low : &t->gemm_16;
    if (l->experts <= 0) return plain_products(t, l, law);
    return grouped_products(t, l, law, low);
}

/* ---- known products ---- */

static bool is_same(const struct known_linear *x, const struct linear *l, double wgrad_bytes)
{
    const struct linear *k = &x->linear;
    return k->rows == l->rows && k->out == l->out && k->in == l->in && k->experts == l->experts &&
           k->one_kernel == l->one_kernel && k->wide == l->wide && k->frozen == l->frozen &&
           x->wgrad_bytes == wgrad_bytes;
}

/* Where a linear's products are kept, if they are. */
static size_t slot_of(const struct linear *l, double wgrad_bytes)
{
    uint64_t sum = (uint64_t)(int64_t)l->rows * 31 + (uint64_t)(int64_t)l->out * 7 +
                   (uint64_t)(int64_t)l->in * 3;
    sum += (uint64_t)(int64_t)l->experts + (uint64_t)(int64_t)wgrad_bytes * 1001;
    sum *= 0x9e3779b97f4a7c15u;
    return sum >> 40 & (KNOWN_LINEARS - 1);
}

static struct products known_products(const struct timing *t, const struct linear *l)
{
    if (!t->known) return products_of(t, l);
    struct known_linear *x = &t->known->linears[slot_of(l, t->wgrad_bytes)];
    if (!is_same(x, l, t->wgrad_bytes))
        *x = (struct known_linear){*l, t->wgrad_bytes, products_of(t, l)};
    return x->products;
}

bool kernel_is_low(const struct timing *t, const struct linear *l)
{
    return t->low && !l->wide && (l->experts > 0 || !t->experts_only);
}

/* The columns are for the weight's gradient: without one 2 B are read and 1 written, not 2. */
static const double rows_alone = 3.0 / 4;

void kernel_linear(const struct timing *t, struct linear l, struct pass *forward,
                   struct pass *backward)
{
    if (l.rows <= 0 || l.out <= 0 || l.in <= 0) return;
    struct products x = known_products(t, &l);
    bool grouped = l.experts > 0;
    *(grouped ? &forward->grouped : &forward->gemm) += x.forward;
    *(grouped ? &backward->grouped : &backward->gemm) += x.input;
    *(grouped ? &backward->grouped : &backward->gemm) += x.weights;
    if (!kernel_is_low(t, &l)) return;
    double rows = (l.frozen ? rows_alone : 1) * larger(1, l.experts) * l.rows;
    if (!l.quantised_in) forward->quantise += kernel_quantise(t, rows * l.in);
    if (!l.quantised_out) backward->quantise += kernel_quantise(t, rows * l.out);
}

/* ---- streams ---- */

double kernel_quantise(const struct timing *t, double elements)
{
    return t->quantise_bytes * elements / t->hbm;
}

double kernel_stream(const struct timing *t, double bytes)
{
    return t->f.activation_passes * bytes / t->hbm;
}

/* ---- attention ---- */

/* Keys that a query sees, mean over the sequence. */
static double seen(const struct attention *x)
{
    if (x->window > 0 && x->window < x->seq) return x->window - x->window * x->window / 2 / x->seq;
    return x->square ? x->seq : x->seq / 2;
}

/* The keys of whole tiles beyond those seen, and the softmax as columns of a head: one form for
   head dims of 64 to 256, multi-head latent attention and windows. */
static double attention_time(const struct timing *t, const struct attention *x, double tile,
                             double columns, double part)
{
    double flops = 2 * x->queries * (seen(x) + x->steps * tile) * columns;
    return t->f.attention_start_s + flops / (part * t->config->machine.peak_bf16);
}

/* Columns of products in 16 bit whose time those of the format take: FP8's rate is higher, the
   softmax and what makes its numbers FP8 is not faster. */
static double in_16_bit(const struct timing *t, const struct attention *x, double columns)
{
    const struct machine *m = &t->config->machine;
    return x->format == ATTENTION_16 ? columns : columns * m->peak_bf16 / m->peak_fp8;
}

double attention_forward(const struct timing *t, const struct attention *x)
{
    const struct coefficients *f = &t->f;
    bool low = x->format != ATTENTION_16;
    bool window = x->window > 0 && x->window < x->seq;
    double tile = f->attention_forward_tile + (window ? f->attention_window_tile : 0);
    double columns = in_16_bit(t, x, x->qk_dim + x->v_dim) +
                     (low ? f->attention_fp8_softmax : f->attention_softmax);
    return attention_time(t, x, tile, columns, f->attention_forward);
}

/* Five products for two: the scores again, their gradient, and those of q, k and v. cuDNN's FP8
   backward takes no account of a window. */
double attention_backward(const struct timing *t, const struct attention *given)
{
    const struct coefficients *f = &t->f;
    const double softmax[] = {f->attention_backward_softmax, f->attention_fp8_backward_softmax,
                              f->attention_mxfp8_backward_softmax};
    struct attention whole = *given;
    if (whole.format != ATTENTION_16) whole.window = 0;
    const struct attention *x = &whole;
    bool window = x->window > 0 && x->window < x->seq;
    double tile = f->attention_backward_tile + (window ? f->attention_window_backward_tile : 0) +
                  (x->deterministic ? f->attention_deterministic_tile : 0);
    double columns = in_16_bit(t, x, 3 * x->qk_dim + 2 * x->v_dim) + softmax[x->format];
    return attention_time(t, x, tile, columns, f->attention_forward * f->attention_backward);
}

/* Of a ring one for each rank of it; with a gather a rank's two chunks of the sequence are a kernel
   each (transformer_engine context_parallel.py, AttnFuncWithCPAndKVAllGather). */
static double steps_of(const struct config *c)
{
    int cp = c->knobs.cp;
    return config_cp_comm(c) == CP_GATHER && cp > 1 ? 2 : cp / config_cp_dealt(c);
}

/* MXFP8's recipe has attention of its own, all others that of tensor-scaled FP8
   (transformer_engine/pytorch/attention/dot_product_attention/dot_product_attention.py). */
static enum attention_format format_of(const struct timing *t)
{
    const struct knobs *k = &t->config->knobs;
    if (!k->fp8_attention || !t->low) return ATTENTION_16;
    return k->precision == PREC_MXFP8 ? ATTENTION_MXFP8 : ATTENTION_FP8;
}

/* Queries, keys and values come in 16 bit, and the gradient of the output. */
void kernel_attention(const struct timing *t, const struct core *s, struct pass *forward,
                      struct pass *backward)
{
    const struct knobs *k = &t->config->knobs;
    struct attention x = {.format = format_of(t),
                          .queries = t->tokens * s->heads,
                          .seq = documents_attended(k),
                          .window = s->window,
                          .steps = steps_of(t->config),
                          .qk_dim = s->qk_dim,
                          .v_dim = s->v_dim,
                          .deterministic = k->deterministic};
    double slowest = t->f.attention * (1 + documents_across_ranks(k).excess);
    forward->attention += slowest * attention_forward(t, &x);
    backward->attention += slowest * attention_backward(t, &x);
    if (x.format == ATTENTION_16) return;
    double columns = s->heads * s->qk_dim + s->kv;
    forward->quantise += kernel_quantise(t, rows_alone * t->tokens * columns);
    backward->quantise += kernel_quantise(t, rows_alone * t->tokens * s->heads * s->v_dim);
}

/* ---- scans ---- */

/* Tokens of one chunk of the gated delta rule's kernels. */
static const double delta_chunk = 64;

/* Chunks of a sequence come one after another; in them an SM updates so many state elements, and a
   chunk's states pass through memory. */
double delta_forward(const struct timing *t, double states, double seq)
{
    return states / (t->f.scan_delta_rate * t->config->machine.sms) +
           states * t->f.scan_delta_bytes / t->hbm + t->f.scan_delta_chunk_s * seq / delta_chunk;
}

/* Backward as of attention, and over every tensor twice: to read it and to write its gradient.
   Mamba2's kernels are written in the same language as the delta rule's, and like them have one
   rate an SM on all chips. */
void kernel_scan(const struct timing *t, const struct scan *s, struct pass *forward,
                 struct pass *backward)
{
    double stream = kernel_stream(t, s->bytes);
    double rate = t->f.scan_delta_rate * t->config->machine.sms;
    double compute =
        s->delta ? delta_forward(t, s->states, t->config->knobs.seq) : t->f.scan * s->states / rate;
    forward->scan += compute + stream;
    backward->scan += 2.5 * compute + 2 * stream;
}
