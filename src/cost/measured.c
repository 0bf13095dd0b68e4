/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/measured.h"

#include <math.h>
#include <stdlib.h>

#include "cost/comm.h"
#include "cost/kernel.h"

struct row {
    const struct measured *x;
    struct timing timing;
};

/* Number formats of 8 bit and less, as rows of measurements and lists of shapes name them. */
static const struct {
    struct str name;
    enum precision precision;
} formats[] = {{{"fp8", 3}, PREC_FP8_TENSORWISE},
               {{"fp8_delayed", 11}, PREC_FP8_DELAYED},
               {{"fp8_block", 9}, PREC_FP8_BLOCKWISE},
               {{"mxfp8", 5}, PREC_MXFP8},
               {{"nvfp4", 5}, PREC_NVFP4}};
enum { N_FORMATS = sizeof formats / sizeof *formats };

enum precision measured_precision(struct str dtype)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (str_eq(dtype, formats[i].name)) return formats[i].precision;
    return PREC_BF16;
}

struct str measured_dtype(enum precision precision)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (formats[i].precision == precision && precision != PREC_FP8_DELAYED)
            return formats[i].name;
    return formats[0].name;
}

static bool is_fp4(const struct row *r)
{
    return r->timing.config->knobs.precision == PREC_NVFP4;
}

/* Of training's kernels, Transformer Engine's. */
static struct gemm_law training_gemm(const struct row *r)
{
    return r->timing.low ? r->timing.gemm_low : r->timing.gemm_16;
}

/* Of the tables' kernels. */
static struct gemm_law gemm_of(const struct row *r)
{
    struct gemm_law law = training_gemm(r);
    if (is_fp4(r)) law.rate /= r->timing.f.gemm_fp4_training;
    return law;
}

static struct gemm_law grouped_of(const struct row *r)
{
    const struct timing *t = &r->timing;
    struct gemm_law law = t->low ? t->grouped_low : t->gemm_16;
    law.rate *= t->low ? 1 / t->f.grouped_training_low : t->f.grouped_bf16;
    if (!t->low) law.inner = t->f.grouped_inner;
    if (is_fp4(r)) law.rate /= t->f.gemm_fp4_training;
    return law;
}

/* Tables are measured in short bursts: what is short runs at the clocks of a cool chip, and what is
   long brings them down as it goes on, to a level that it tends to. The laws are those of cool
   kernels; in training `throttling` says what power takes. `busy`: part of the time at full rate.
 */
static double warmed(const struct row *r, double seconds, double busy)
{
    const struct coefficients *f = &r->timing.f;
    double most = is_fp4(r) ? f->burst_heat_fp4 : f->burst_heat, x = seconds / f->burst_s;
    double reached = x > 0 ? 1 + expm1(-x) / x : 0; /* mean over the kernel */
    return seconds * (1 + most * fmin(1, busy) * reached);
}

static double warmed_product(const struct row *r, double seconds, double flops)
{
    bool whole = seconds > 0 && flops > 0; /* no size is missing */
    return whole ? warmed(r, seconds, flops / gemm_of(r).rate / seconds) : 0;
}

/* ---- GEMMs ---- */

/* An inference kernel's quantisation reads the wide elements and writes the narrow ones, once. */
static double quantised_once(const struct row *r, double elements)
{
    bool once = str_is(r->x->includes, "quantise_activation");
    double part = is_fp4(r) ? r->timing.f.quantise_once_fp4 : r->timing.f.quantise_once;
    return once ? part * (2 + gemm_of(r).bytes) * elements / r->timing.hbm : 0;
}

static double law_gemm(const struct row *r)
{
    double m = r->x->m, n = r->x->n, k = r->x->k;
    struct gemm_law law = gemm_of(r);
    return warmed_product(r, kernel_gemm(&r->timing, &law, m, n, k, 2), 2 * m * n * k) +
           quantised_once(r, m * k);
}

/* The weight's m x n over k tokens, added up in 32 bit. */
static double law_wgrad(const struct row *r)
{
    struct gemm_law law = gemm_of(r);
    double m = r->x->m, n = r->x->n, k = r->x->k;
    return warmed_product(r, kernel_gemm(&r->timing, &law, m, n, k, 8), 2 * m * n * k);
}

/* te: a GEMM an expert, on its streams; loop: one after another; else one kernel. */
static double law_grouped(const struct row *r)
{
    const struct measured *x = r->x;
    double flops = 2 * x->experts * x->m * x->n * x->k;
    struct gemm_law law = grouped_of(r), plain = gemm_of(r);
    if (str_is(x->kernel, "te")) {
        struct pass forward = {0}, backward = {0};
        struct linear l = {.rows = x->m, .out = x->n, .in = x->k, .experts = x->experts};
        kernel_linear(&r->timing, l, &forward, &backward);
        return warmed_product(r, forward.grouped, flops);
    }
    double seconds = str_is(x->kernel, "loop")
                         ? x->experts * kernel_gemm(&r->timing, &plain, x->m, x->n, x->k, 2)
                         : kernel_grouped(&r->timing, &law, x->experts, x->m, x->n, x->k, 2);
    return warmed_product(r, seconds, flops);
}

/* One product of a linear of Transformer Engine in a loop that goes on: power holds its clock. Each
   quantises its rows' side: the input, or the gradient of the output. */
static double te_product(const struct row *r, struct str pass, double m, double in, double out)
{
    const struct timing *t = &r->timing;
    struct gemm_law law = training_gemm(r);
    bool dgrad = str_is(pass, "dgrad"), wgrad = str_is(pass, "wgrad");
    double product = dgrad   ? kernel_gemm(t, &law, m, in, out, 2)
                     : wgrad ? kernel_gemm(t, &law, out, in, m, 2)
                             : kernel_gemm(t, &law, m, out, in, 2);
    bool quantises = str_is(r->x->includes, "quantise_training");
    if (m * in * out <= 0) return 0;
    double elements = m * (dgrad || wgrad ? out : in);
    return product * (1 + (t->low ? t->f.throttling_low : t->f.throttling)) +
           (quantises ? kernel_quantise(t, elements) : 0);
}

static double law_te_linear(const struct row *r)
{
    return te_product(r, STR("forward"), r->x->m, r->x->k, r->x->n);
}

/* "4096->12288, 16384->4096 (in -> out), summed" */
static double law_te_set(const struct row *r)
{
    struct str layers = r->x->layers;
    double sum = 0;
    char copy[256];
    if (layers.n >= sizeof copy) return 0;
    memcpy(copy, layers.p, layers.n);
    copy[layers.n] = 0;
    for (char *p = copy, *end; p; p = strchr(p, ',')) {
        p += strspn(p, ", ");
        double in = strtod(p, &end);
        if (end == p || strncmp(end, "->", 2) != 0) break;
        sum += te_product(r, r->x->pass, r->x->m, in, strtod(end + 2, NULL));
    }
    return sum;
}

/* ---- experts ---- */

struct around {
    double start_s, passes;
};

static struct around around_experts(const struct timing *t, enum precision p)
{
    const struct coefficients *f = &t->f;
    if (!t->low) return (struct around){f->experts_start_s, f->experts_passes};
    if (p == PREC_NVFP4) return (struct around){f->experts_fp4_start_s, f->experts_fp4_passes};
    double passes = p == PREC_FP8_BLOCKWISE ? f->experts_block_passes : f->experts_fp8_passes;
    return (struct around){f->experts_quantised_start_s, passes};
}

/* FC1 with gate and up, FC2, and around them kernels that gather the rows, gate and add up. */
static double law_experts(const struct row *r)
{
    const struct timing *t = &r->timing;
    struct gemm_law law = grouped_of(r);
    double experts = r->x->local_experts, hidden = r->x->hidden, inner = r->x->inter,
           rows = r->x->tokens_per_expert;
    struct around around = around_experts(t, t->config->knobs.precision);
    double bytes = experts * rows * (6 * hidden + 6 * inner);
    double products = kernel_grouped(t, &law, experts, rows, 2 * inner, hidden, 2) +
                      kernel_grouped(t, &law, experts, rows, hidden, inner, 2);
    double flops = 6 * experts * rows * inner * hidden;
    return around.start_s + around.passes * bytes / t->hbm + warmed_product(r, products, flops);
}

/* ---- attention and scans ---- */

/* FlashAttention 2 and PyTorch's other kernels are others than the law's, but for chips that have
   none but them. */
static bool has_law(const struct row *r)
{
    bool old = r->timing.config->machine.compute_capability < 9;
    return !(str_is(r->x->kernel, "efficient") || str_is(r->x->kernel, "math") ||
             (str_is(r->x->kernel, "flash") && !old));
}

static double law_attention(const struct row *r)
{
    struct attention x = {.format = str_is(r->x->dtype, "fp8")     ? ATTENTION_FP8
                                    : str_is(r->x->dtype, "mxfp8") ? ATTENTION_MXFP8
                                                                   : ATTENTION_16,
                          .queries = r->x->batch * r->x->seq * r->x->heads,
                          .seq = r->x->seq,
                          .window = r->x->window,
                          .steps = 1,
                          .qk_dim = r->x->qk_dim,
                          .v_dim = r->x->v_dim,
                          .square = str_is(r->x->causal, "false"),
                          .deterministic = str_is(r->x->deterministic, "true")};
    if (x.queries <= 0 || !has_law(r)) return 0;
    double seconds = str_is(r->x->op, "attention_backward") ? attention_backward(&r->timing, &x)
                                                            : attention_forward(&r->timing, &x);
    return warmed(r, seconds, r->timing.f.attention_heat);
}

static double law_delta(const struct row *r)
{
    double state = r->x->v_heads * r->x->k_dim * r->x->v_dim;
    return delta_forward(&r->timing, r->x->batch * r->x->seq * state, r->x->seq);
}

/* ---- streams ---- */

static double law_norm(const struct row *r)
{
    double bytes = str_is(r->x->op, "norm_backward") ? 6 : 4; /* the gradient beside both */
    return r->timing.f.gemm_start_s + bytes * r->x->m * r->x->n / r->timing.hbm;
}

static double law_quantise(const struct row *r)
{
    return kernel_quantise(&r->timing, r->x->m * r->x->k);
}

/* ---- communication ---- */

static double law_collective(const struct row *r)
{
    double n = r->x->ranks, ways = str_is(r->x->op, "all_reduce") ? 2 : 1;
    return comm_collective(&r->timing, ways * r->x->bytes, n, n);
}

static double law_exchange(const struct row *r)
{
    static const struct {
        const char *name;
        enum dispatcher dispatcher;
    } kernels[] = {{"alltoall", DISPATCH_ALLTOALL},
                   {"deepep", DISPATCH_DEEPEP},
                   {"deepep_v2", DISPATCH_HYBRIDEP}, /* rebuilt on HybridEP's hops */
                   {"hybridep", DISPATCH_HYBRIDEP}};
    bool narrow = str_is(r->x->dtype, "fp8");
    struct exchanged x = {.tokens = r->x->tokens_per_rank,
                          .width = r->x->hidden,
                          .element_bytes = narrow ? 1 + 4.0 / 128 : 2, /* with a scale for 128 */
                          .experts = r->x->experts,
                          .topk = r->x->topk,
                          .groups = r->x->domains,
                          .group_topk = r->x->topk_groups,
                          .ranks = r->x->ranks,
                          .domains = fmax(1, r->x->domains),
                          .combine = str_is(r->x->op, "ep_combine")};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!str_is(r->x->impl, kernels[i].name)) continue;
        struct dispatch_law law = dispatch_law(&r->timing.f, &r->timing.config->machine,
                                               kernels[i].dispatcher, r->x->sms);
        return comm_exchange(&r->timing, &law, &x);
    }
    return 0;
}

/* ---- all ---- */

/* ---- own measurements ---- */

/* Bytes that a copy, a permutation or an optimizer's kernel reads and writes. */
static double law_copy(const struct row *r)
{
    return r->x->bytes / r->timing.hbm;
}

static double law_adam(const struct row *r)
{
    return r->x->bytes / (r->timing.f.optimizer_stream * r->timing.hbm);
}

/* Between pinned memory of the host and the GPU, one way. */
static double law_host_copy(const struct row *r)
{
    double rate = r->timing.f.pcie * r->timing.config->machine.pcie_bytes_per_s;
    return rate > 0 ? r->x->bytes / rate : 0;
}

static double law_launch(const struct row *r)
{
    return r->timing.f.host_op_s;
}

/* An operation of a CUDA graph that is too small to take any time itself. */
static double law_captured(const struct row *r)
{
    return r->timing.f.gpu_gap_s;
}

/* Kernels one after another until power holds the clocks, against the sum of their bursts. */
static double law_sustained(const struct row *r)
{
    const struct coefficients *f = &r->timing.f;
    double hot = r->x->gemm_s + f->attention_heat * r->x->attention_s;
    return r->x->gemm_s + r->x->attention_s +
           hot * (r->timing.low ? f->throttling_low : f->throttling);
}

/* ---- all ---- */

/* Kernels of an operation that its law is of; of an operation that is not here, all are. Runs of
   Megatron-core attend through Transformer Engine, which takes cuDNN's kernel or FlashAttention
   3's, and an operation of a framework's layer costs the host several times a bare one. */
static const struct {
    const char *op, *kernel;
} own_kernels[] = {
    {"attention_forward", "te"},  {"attention_forward", "cudnn"},  {"attention_forward", "flash3"},
    {"attention_backward", "te"}, {"attention_backward", "cudnn"}, {"attention_backward", "flash3"},
    {"grouped_gemm", "te"},       {"grouped_gemm", "grouped"},     {"launch", "layer"}};

/* Scatter: laws of products and attention reproduce measured shapes at 4 to 8 % median; a
   permutation is not quite a copy, and layers differ in what their operations do. 0: the time is
   held against the law and moves nothing, as `throttling` holds what slows training's products
   beside power, which the stream of one GPU between idle neighbours does not show. */
static const struct law {
    const char *op;
    double (*law)(const struct row *r);
    double sd;
} laws[] = {{"gemm", law_gemm, 0.08},
            {"gemm_wgrad", law_wgrad, 0.08},
            {"grouped_gemm", law_grouped, 0.08},
            {"te_linear", law_te_linear, 0.08},
            {"te_linear_set", law_te_set, 0.08},
            {"moe_experts", law_experts, 0.1},
            {"attention_forward", law_attention, 0.1},
            {"attention_backward", law_attention, 0.1},
            {"gdn_scan_forward", law_delta, 0.1},
            {"norm_forward", law_norm, 0.1},
            {"norm_backward", law_norm, 0.1},
            {"quantise", law_quantise, 0.1},
            {"all_gather", law_collective, 0.1},
            {"reduce_scatter", law_collective, 0.1},
            {"all_reduce", law_collective, 0.1},
            {"all_to_all", law_collective, 0.1},
            {"ep_dispatch", law_exchange, 0.1},
            {"ep_combine", law_exchange, 0.1},
            {"copy", law_copy, 0.05},
            {"permute", law_copy, 0.3},
            {"host_copy", law_host_copy, 0.05},
            {"adam", law_adam, 0.1},
            {"launch", law_launch, 0.5},
            {"captured", law_captured, 0.3},
            {"sustained", law_sustained, 0}};

static const struct law *law_of(struct str op)
{
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        if (str_is(op, laws[i].op)) return &laws[i];
    return NULL;
}

bool measured_is_own(const struct measured *x)
{
    const struct law *law = law_of(x->op);
    bool asked = false;
    if (law && law->sd <= 0) return false;
    for (size_t i = 0; i < sizeof own_kernels / sizeof *own_kernels; i++) {
        if (!str_is(x->op, own_kernels[i].op)) continue;
        if (str_is(x->kernel, own_kernels[i].kernel)) return true;
        asked = true;
    }
    return !asked;
}

double measured_law(const struct measured *x, const struct machine *m)
{
    const struct law *law = law_of(x->op);
    if (!law) return 0;
    struct config c = {.machine = *m, .knobs = {.tp = 1, .cp = 1, .ep = 1, .etp = 1, .pp = 1}};
    c.knobs.gpus = c.machine.nvlink_domain = (int)fmin(1 << 20, fmax(1, x->domain));
    c.knobs.precision = (uint8_t)measured_precision(x->dtype);
    struct row r = {x, timing_of(&c)};
    double seconds = law->law(&r);
    return isfinite(seconds) && seconds > 0 ? seconds : 0;
}

double measured_sd(const struct measured *x)
{
    const struct law *law = law_of(x->op);
    return law ? law->sd : 0;
}
