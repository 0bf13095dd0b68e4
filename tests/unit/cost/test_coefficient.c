/* SPDX-License-Identifier: Apache-2.0 */
/* Coefficients: every one is complete, and every one is felt by an estimate. */
#include "cost_unit.h"

#include "base/vec.h"
#include "cost/coefficient.h"
#include "cost/cost.h"
#include "facts/check.h"
#include "facts/model.h"
#include "facts/platform.h"

/* The numbers of one entry: value inside the interval, inside its range, with all its words. */
static void assert_whole(const struct entry *e, const struct entry_coefficient *c)
{
    const struct param *p = param_coefficient(c->name);
    if (!p) fail_msg("%s: %s has no entry", e->id.p, c->name.p);
    bool good = c->low <= c->value && c->value <= c->high && c->low >= 0 && isfinite(c->high) &&
                c->n >= 0 && c->unit.n && c->meaning.n && c->source.n && str_eq(c->unit, p->unit);
    if (!good) fail_msg("%s: %s is not whole", e->id.p, c->name.p);
}

static void every_coefficient_is_whole(void **state)
{
    (void)state;
    assert_true(coefficient_count <= MACHINE_MAX_COEFFICIENTS);
    for (size_t i = 0; i < catalogue_platform_count + catalogue_base_count; i++) {
        const struct entry *e = &catalogue_platforms[i];
        for (size_t k = 0; k < e->n_coefficients; k++)
            assert_whole(e, &e->coefficients[k]);
    }
}

/* ---- what is felt ---- */

struct plans {
    struct arena *arena;
    VEC(struct config *) items;
};

/* 64 GPUs, 512 sequences; balanced MoE of AutoModel or Megatron on the platform. */
static struct knobs *add(struct plans *all, const char *model, const char *platform)
{
    struct arena *a = all->arena;
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct platform_cache cache = {.arena = a};
    struct config *c = ARENA_NEW(a, struct config);
    diags_init(diags, a);
    struct facts *f = facts_new(a, diags, FRAMEWORK_MEGATRON, STR("main@2026-08-22"));
    platform_apply(f, platform_load(&cache, diags, str_of(platform), (struct span){0}),
                   ORIGIN_FILE);
    model_apply(f, model_find(a, str_of(model)), ORIGIN_FILE);
    facts_derive(f);
    assert_true(config_model(f, &c->model, true) && config_machine(f, &c->machine));
    c->framework = FRAMEWORK_MEGATRON;
    c->machine_known = true;
    c->knobs = unit_knobs(64, 512);
    *VEC_PUSH(a, &all->items) = c;
    return &c->knobs;
}

static void add_exchanges(struct plans *all)
{
    struct knobs *k;
    k = add(all, "qwen3-30b-a3b", "h100"); /* alltoall across nodes, natural routing */
    k->ep = 32, k->force_balance = false, k->overlap_grad_reduce = k->overlap_param_gather = true;
    k = add(all, "qwen3-30b-a3b", "h100"); /* alltoall inside */
    k->ep = 8, k->deterministic = true;
    k = add(all, "deepseek-v3", "h100");
    k->dispatcher = DISPATCH_DEEPEP, k->ep = 8, k->shared_expert_overlap = true;
    k = add(all, "deepseek-v3", "gb200");
    k->dispatcher = DISPATCH_HYBRIDEP, k->ep = 32, k->precision = PREC_MXFP8;
    k->fp8_param_gather = true;
    k = add(all, "deepseek-v3", "gb200");
    k->dispatcher = DISPATCH_HYBRIDEP, k->ep = 32, k->overlap_ep = true;
    k = add(all, "qwen3-30b-a3b", "h100"); /* dropping: a little, and much */
    k->ep = 8, k->force_balance = false, k->capacity_factor = 2;
    k = add(all, "qwen3-30b-a3b", "h100");
    k->ep = 8, k->force_balance = false, k->capacity_factor = 20;
    k = add(all, "deepseek-v3", "h100"); /* across nodes, de-duplicated */
    k->dispatcher = DISPATCH_DEEPEP, k->ep = 64;
    k = add(all, "deepseek-v3", "h100");
    k->dispatcher = DISPATCH_HYBRIDEP, k->ep = 64;
}

static void add_kernels(struct plans *all)
{
    struct knobs *k;
    k = add(all, "qwen3-30b-a3b", "h100");
    k->precision = PREC_FP8_DELAYED;
    k = add(all, "llama-3.1-8b", "gb200");
    k->precision = PREC_NVFP4;
    k = add(all, "llama-3.1-8b", "h100"); /* frozen FP8 weights */
    k->precision = PREC_FP8_DELAYED, k->fp8_param_gather = true, k->task = TASK_PEFT;
    k = add(all, "llama-3.1-8b", "h100"); /* frozen weights in 4 bits */
    k->four_bit = true, k->task = TASK_PEFT;
    k = add(all, "deepseek-v3", "gb200");
    k->ep = 64, k->graph_impl = GRAPH_FULL_ITERATION;
    k = add(all, "deepseek-v3", "h100");
    k->ep = 64, k->precision = PREC_FP8_BLOCKWISE;
    k = add(all, "deepseek-v3", "gb200");
    k->ep = 64, k->precision = PREC_NVFP4;
    k = add(all, "llama-3.1-8b", "h100");
    k->precision = PREC_FP8_DELAYED, k->fp8_attention = true;
    k = add(all, "llama-3.1-8b", "gb200");
    k->precision = PREC_MXFP8, k->fp8_attention = true;
    add(all, "gpt-oss-20b", "h100");    /* biased experts, short windows */
    add(all, "gemma-2-2b", "h100");     /* wide heads */
    add(all, "nemotron-h-56b", "h100"); /* scans */
}

static void add_layouts(struct plans *all)
{
    struct knobs *k;
    k = add(all, "llama-3-70b", "h100"); /* across domains */
    k->tp = 8, k->sequence_parallel = k->tp_comm_overlap = true, k->pp = 2, k->vpp = 2;
    k->overlap_grad_reduce = k->overlap_param_gather = true;
    k = add(all, "llama-3-70b", "gb200"); /* all stages in a domain */
    k->pp = 4, k->tp = 4;
    k = add(all, "llama-3-70b", "gb200"); /* most of them */
    k->gpus = 256, k->pp = 8, k->tp = 4;
    k = add(all, "llama-3.1-8b", "h100"); /* a ring that attention hides in part */
    k->cp = 16, k->seq = 65536;
    k = add(all, "llama-3.1-8b", "h100");
    k->optimizer_offload = 1;
}

static void add_sharding(struct plans *all)
{
    struct knobs *k;
    k = add(all, "qwen3-30b-a3b", "h100");
    k->fsdp = FSDP_OPTIM_GRADS_PARAMS, k->gpus = 256, k->seq = 512;
    k = add(all, "qwen3-30b-a3b", "h100");
    k->fsdp = FSDP_OPTIM_GRADS_PARAMS, k->gpus = 256;
    k->precision = PREC_FP8_DELAYED, k->fp8_param_gather = true;
    k = add(all, "qwen3-30b-a3b", "h100");
    k->fsdp = FSDP_FSDP2;
    all->items.items[all->items.n - 1]->framework = FRAMEWORK_AUTOMODEL;
    k = add(all, "qwen3-30b-a3b", "gb200");
    k->fsdp = FSDP_FSDP2, k->precision = PREC_MXFP8;
    all->items.items[all->items.n - 1]->framework = FRAMEWORK_AUTOMODEL;
    k = add(all, "qwen3-30b-a3b", "h100");
    k->precision_aware = true, k->exp_avg_bytes = k->exp_avg_sq_bytes = 2, k->gpus = 8;
    k = add(all, "qwen3-next-80b-a3b", "h100");
    k->offload_modules = MOD_CORE_ATTN;
    k = add(all, "qwen3-30b-a3b", "h100");
    k->offload_optimizer_states = true;
}

/* A chip that nobody ran, and one whose pace own runs of the model set. */
static void add_machines(struct plans *all)
{
    add(all, "qwen3-30b-a3b", "a100");
    add(all, "qwen3-30b-a3b", "h100");
    struct config *c = all->items.items[all->items.n - 1];
    c->machine.paced_model = c->model.name;
}

/* All that a plan's figures are. */
struct figures {
    double step[3], peak[4];
};

static struct figures figures_of(const struct config *c)
{
    struct memory_estimate m;
    struct time_estimate t;
    assert_true(time_estimate(c, &t, NULL) && memory_estimate(c, &m, NULL));
    return (struct figures){{t.step, t.low, t.high}, {m.peak, m.peak_low, m.peak_high, m.reserved}};
}

static bool differ(struct figures a, struct figures b)
{
    for (int i = 0; i < 3; i++)
        if (a.step[i] != b.step[i]) return true;
    for (int i = 0; i < 4; i++)
        if (a.peak[i] != b.peak[i]) return true;
    return false;
}

/* Whether a plan feels a coefficient: its value, or an end of its interval. */
static bool is_felt(const struct config *c, struct str name)
{
    static const double steps[] = {0.7, 1.3};
    struct figures before = figures_of(c);
    for (int i = 0; i < 2; i++) {
        struct config moved = *c;
        for (int k = 0; k < moved.machine.n_coefficients; k++) {
            struct coefficient *x = &moved.machine.coefficients[k];
            if (!str_eq(x->name, name)) continue;
            x->value *= steps[i], x->low *= steps[i], x->high *= steps[i] * steps[i];
        }
        if (differ(before, figures_of(&moved))) return true;
    }
    return false;
}

/* Of the kernels of public tables, which inference runs, and of how they are timed: only calibrate
   --check asks for them. */
static bool is_of_tables(struct str name)
{
    return str_starts(name, STR("experts_")) || str_starts(name, STR("quantise_once")) ||
           str_starts(name, STR("burst_")) || str_is(name, "grouped_bf16") ||
           str_is(name, "grouped_inner");
}

static void every_coefficient_is_felt(void **state)
{
    struct plans all = {.arena = *state};
    int dead = 0;
    add_exchanges(&all);
    add_kernels(&all);
    add_layouts(&all);
    add_sharding(&all);
    add_machines(&all);
    for (uint32_t i = 0; i < coefficient_count; i++) {
        bool felt = is_of_tables(coefficient_table[i].name);
        for (size_t k = 0; k < all.items.n && !felt; k++)
            felt = is_felt(all.items.items[k], coefficient_table[i].name);
        if (!felt) print_error("nothing feels %s\n", coefficient_table[i].name.p), dead++;
    }
    assert_int_equal(dead, 0);
}

/* What serves a platform that says nothing is a value as good as any in its range. */
static void a_silent_platform_has_values(void **state)
{
    struct machine nothing = {0};
    struct coefficients f = coefficients_of(&nothing);
    struct coefficient_spread s = coefficients_spread(&nothing);
    (void)state;
#define CHECK(name, otherwise)                                                                     \
    assert_true(value_in_range(param_coefficient(STR(#name)), value_double(f.name)));
    TIME_COEFFICIENTS(CHECK)
#undef CHECK
#define CHECK(name) assert_true(s.name == 0);
    SPREAD_COEFFICIENTS(CHECK)
#undef CHECK
}

/* 8 of 10 normal values lie within 1.28155 deviations of the mean. */
static void an_interval_is_a_spread(void **state)
{
    struct machine m = {.n_coefficients = 2};
    (void)state;
    m.coefficients[0] = (struct coefficient){STR("nvlink"), 0.75, 0.6, 0.9};
    m.coefficients[1] = (struct coefficient){STR("nic"), 0.8, 0.8, 0.8};
    struct coefficient_spread s = coefficients_spread(&m);
    assert_near(s.nvlink, log(0.9 / 0.6) / (2 * 1.28155), 1e-4);
    assert_true(s.nic == 0 && s.scan == 0);
    assert_true(coefficients_of(&m).nvlink == 0.75);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_coefficient_is_whole),
    cmocka_unit_test(every_coefficient_is_felt),
    cmocka_unit_test(a_silent_platform_has_values),
    cmocka_unit_test(an_interval_is_a_spread),
};
UNIT_MAIN(tests)
