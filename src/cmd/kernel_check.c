/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/kernel_check.h"

#include <math.h>
#include <stdlib.h>

#include "cost/comm.h"
#include "cost/kernel.h"

/* ---- a row ---- */

struct row {
    struct arena *arena;
    const struct node *node;
    struct timing timing;
};

static double number(const struct row *r, const char *name)
{
    const struct node *node = node_get(r->node, str_of(name));
    struct value v = node ? node_value(r->arena, node, SCALAR_JSON) : value_null();
    double x = v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_DOUBLE ? v.d : 0;
    return x > 0 && x < 1e15 ? x : 0;
}

static struct str text(const struct row *r, const char *name)
{
    const struct node *node = node_get(r->node, str_of(name));
    return node && node->kind == NODE_SCALAR ? node->text : STR("");
}

static bool is(const struct row *r, const char *name, const char *word)
{
    return str_is(text(r, name), word);
}

static enum precision precision_of(struct str dtype)
{
    static const struct {
        const char *name;
        enum precision precision;
    } names[] = {{"fp8", PREC_FP8_TENSORWISE},
                 {"fp8_delayed", PREC_FP8_DELAYED},
                 {"fp8_block", PREC_FP8_BLOCKWISE},
                 {"mxfp8", PREC_MXFP8},
                 {"nvfp4", PREC_NVFP4}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(dtype, names[i].name)) return names[i].precision;
    return PREC_BF16;
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
    return seconds > 0 ? warmed(r, seconds, flops / gemm_of(r).rate / seconds) : 0;
}

/* ---- GEMMs ---- */

/* An inference kernel's quantisation reads the wide elements and writes the narrow ones, once. */
static double quantised_once(const struct row *r, double elements)
{
    bool once = is(r, "includes", "quantise_activation");
    double part = is_fp4(r) ? r->timing.f.quantise_once_fp4 : r->timing.f.quantise_once;
    return once ? part * (2 + gemm_of(r).bytes) * elements / r->timing.hbm : 0;
}

static double law_gemm(const struct row *r)
{
    double m = number(r, "m"), n = number(r, "n"), k = number(r, "k");
    struct gemm_law law = gemm_of(r);
    return warmed_product(r, kernel_gemm(&r->timing, &law, m, n, k, 2), 2 * m * n * k) +
           quantised_once(r, m * k);
}

/* The weight's m x n over k tokens, added up in 32 bit. */
static double law_wgrad(const struct row *r)
{
    struct gemm_law law = gemm_of(r);
    double m = number(r, "m"), n = number(r, "n"), k = number(r, "k");
    return warmed_product(r, kernel_gemm(&r->timing, &law, m, n, k, 8), 2 * m * n * k);
}

static double law_grouped(const struct row *r)
{
    struct gemm_law law = grouped_of(r);
    double experts = number(r, "experts"), m = number(r, "m"), n = number(r, "n"),
           k = number(r, "k");
    double seconds = kernel_grouped(&r->timing, &law, experts, m, n, k, 2);
    return warmed_product(r, seconds, 2 * experts * m * n * k);
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
    bool quantises = is(r, "includes", "quantise_training");
    double elements = m * (dgrad || wgrad ? out : in);
    return product * (1 + (t->low ? t->f.throttling_low : t->f.throttling)) +
           (quantises ? kernel_quantise(t, elements) : 0);
}

static double law_te_linear(const struct row *r)
{
    return te_product(r, STR("forward"), number(r, "m"), number(r, "k"), number(r, "n"));
}

/* "4096->12288, 16384->4096 (in -> out), summed" */
static double law_te_set(const struct row *r)
{
    struct str layers = text(r, "layers");
    double sum = 0;
    char copy[256];
    if (layers.n >= sizeof copy) return 0;
    memcpy(copy, layers.p, layers.n);
    copy[layers.n] = 0;
    for (char *p = copy, *end; p; p = strchr(p, ',')) {
        p += strspn(p, ", ");
        double in = strtod(p, &end);
        if (end == p || strncmp(end, "->", 2) != 0) break;
        sum += te_product(r, text(r, "pass"), number(r, "m"), in, strtod(end + 2, NULL));
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
    double experts = number(r, "local_experts"), hidden = number(r, "hidden"),
           inner = number(r, "inter"), rows = number(r, "tokens_per_expert");
    struct around around = around_experts(t, t->config->knobs.precision);
    double bytes = experts * rows * (6 * hidden + 6 * inner);
    double products = kernel_grouped(t, &law, experts, rows, 2 * inner, hidden, 2) +
                      kernel_grouped(t, &law, experts, rows, hidden, inner, 2);
    double flops = 6 * experts * rows * inner * hidden;
    return around.start_s + around.passes * bytes / t->hbm + warmed_product(r, products, flops);
}

/* ---- attention and scans ---- */

static double law_attention(const struct row *r)
{
    struct attention x = {.format = is(r, "dtype", "fp8")     ? ATTENTION_FP8
                                    : is(r, "dtype", "mxfp8") ? ATTENTION_MXFP8
                                                              : ATTENTION_16,
                          .queries = number(r, "batch") * number(r, "seq") * number(r, "heads"),
                          .seq = number(r, "seq"),
                          .window = number(r, "window"),
                          .steps = 1,
                          .qk_dim = number(r, "qk_dim"),
                          .v_dim = number(r, "v_dim"),
                          .square = is(r, "causal", "false"),
                          .deterministic = is(r, "deterministic", "true")};
    if (x.queries <= 0) return 0;
    double seconds = is(r, "op", "attention_backward") ? attention_backward(&r->timing, &x)
                                                       : attention_forward(&r->timing, &x);
    return warmed(r, seconds, r->timing.f.attention_heat);
}

static double law_delta(const struct row *r)
{
    double state = number(r, "v_heads") * number(r, "k_dim") * number(r, "v_dim");
    return delta_forward(&r->timing, number(r, "batch") * number(r, "seq") * state,
                         number(r, "seq"));
}

/* ---- streams ---- */

static double law_norm(const struct row *r)
{
    double bytes = is(r, "op", "norm_backward") ? 6 : 4; /* the gradient beside both */
    return r->timing.f.gemm_start_s + bytes * number(r, "m") * number(r, "n") / r->timing.hbm;
}

static double law_quantise(const struct row *r)
{
    return kernel_quantise(&r->timing, number(r, "m") * number(r, "k"));
}

/* ---- communication ---- */

static double law_collective(const struct row *r)
{
    double n = number(r, "ranks"), ways = is(r, "op", "all_reduce") ? 2 : 1;
    return comm_collective(&r->timing, ways * number(r, "bytes"), n, n);
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
    bool narrow = is(r, "dtype", "fp8");
    struct exchanged x = {.tokens = number(r, "tokens_per_rank"),
                          .width = number(r, "hidden"),
                          .element_bytes = narrow ? 1 + 4.0 / 128 : 2, /* with a scale for 128 */
                          .experts = number(r, "experts"),
                          .topk = number(r, "topk"),
                          .groups = number(r, "domains"),
                          .group_topk = number(r, "topk_groups"),
                          .ranks = number(r, "ranks"),
                          .domains = fmax(1, number(r, "domains")),
                          .combine = is(r, "op", "ep_combine")};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!is(r, "impl", kernels[i].name)) continue;
        struct dispatch_law law = dispatch_law(&r->timing.f, &r->timing.config->machine,
                                               kernels[i].dispatcher, number(r, "sms"));
        return comm_exchange(&r->timing, &law, &x);
    }
    return 0;
}

/* ---- all ---- */

double kernel_check_law(struct arena *a, const struct node *row, const struct machine *m)
{
    static const struct {
        const char *op;
        double (*law)(const struct row *r);
    } laws[] = {{"gemm", law_gemm},
                {"gemm_wgrad", law_wgrad},
                {"grouped_gemm", law_grouped},
                {"te_linear", law_te_linear},
                {"te_linear_set", law_te_set},
                {"moe_experts", law_experts},
                {"attention_forward", law_attention},
                {"attention_backward", law_attention},
                {"gdn_scan_forward", law_delta},
                {"norm_forward", law_norm},
                {"norm_backward", law_norm},
                {"quantise", law_quantise},
                {"all_gather", law_collective},
                {"reduce_scatter", law_collective},
                {"all_reduce", law_collective},
                {"all_to_all", law_collective},
                {"ep_dispatch", law_exchange},
                {"ep_combine", law_exchange}};
    struct row r = {.arena = a, .node = row};
    struct config *c = ARENA_NEW(a, struct config);
    *c = (struct config){.machine = *m, .knobs = {.tp = 1, .cp = 1, .ep = 1, .etp = 1, .pp = 1}};
    c->knobs.gpus = c->machine.nvlink_domain = (int)fmax(1, number(&r, "domain"));
    c->knobs.precision = (uint8_t)precision_of(text(&r, "dtype"));
    r.timing = timing_of(c);
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        if (!is(&r, "op", laws[i].op)) continue;
        double seconds = laws[i].law(&r);
        return isfinite(seconds) && seconds > 0 ? seconds : 0;
    }
    return 0;
}

/* ---- tally ---- */

static const double bin_width = 0.0025;

static struct check_kind *kind_of(struct arena *a, struct check_tally *tally, struct str name)
{
    for (size_t i = 0; i < tally->n; i++)
        if (str_eq(tally->kinds[i]->name, name)) return tally->kinds[i];
    if (tally->n == CHECK_KINDS) return NULL;
    struct check_kind *kind = ARENA_NEW(a, struct check_kind);
    *kind = (struct check_kind){.name = str_dup(a, name)};
    return tally->kinds[tally->n++] = kind;
}

void kernel_check_add(struct arena *a, struct check_tally *tally, struct str name, double law_s,
                      double measured_s)
{
    bool lawful = law_s > 0 && measured_s > 0;
    struct check_kind *kind = lawful ? kind_of(a, tally, name) : NULL;
    tally->rows++;
    tally->unlawful += kind == NULL;
    if (!kind) return;
    double at = floor(log(law_s / measured_s) / bin_width) + CHECK_BINS / 2;
    kind->bins[(int)fmin(CHECK_BINS - 1, fmax(0, at))]++;
    kind->n++;
}

static double middle(int bin)
{
    return (bin + 0.5 - CHECK_BINS / 2) * bin_width;
}

double kernel_check_quantile(const struct check_kind *kind, double part, bool size)
{
    double wanted = part * kind->n, sum = 0;
    if (!size) {
        for (int i = 0; i < CHECK_BINS; i++)
            if ((sum += kind->bins[i]) >= wanted) return middle(i);
        return middle(CHECK_BINS - 1);
    }
    for (int i = CHECK_BINS / 2; i < CHECK_BINS; i++)
        if ((sum += kind->bins[i] + kind->bins[CHECK_BINS - 1 - i]) >= wanted) return middle(i);
    return middle(CHECK_BINS - 1);
}
