/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers at the ends of their ranges: whatever a file may say, an estimate is finite. */
#include "cost_unit.h"

#include "cost/coefficient.h"
#include "cost/cost.h"
#include "cost/evidence.h"
#include "cost/memory_coefficient.h"
#include "facts/check.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/platform.h"

static void assert_finite(double x, const char *what)
{
    if (!isfinite(x)) fail_msg("%s is not finite", what);
}

static void assert_finite_memory(const struct memory_estimate *m)
{
    const double sums[] = {m->peak, m->peak_low, m->peak_high, m->reserved, m->capacity};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        assert_finite(sums[i], "memory");
    for (int i = 0; i < m->n_stages; i++) {
        const struct stage_memory *s = &m->stages[i];
        const double parts[] = {s->params,  s->grads,  s->optimizer, s->activations, s->logits,
                                s->buffers, s->graphs, s->total,     s->low,         s->high};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            assert_finite(parts[k], "memory of a stage");
    }
}

static void assert_finite_time(const struct time_estimate *t)
{
    const double parts[] = {t->step,
                            t->low,
                            t->high,
                            t->tokens_per_s_per_gpu,
                            t->model_flops_per_gpu,
                            t->mfu,
                            t->bubble_fraction,
                            t->compute,
                            t->recompute,
                            t->ep_exposed,
                            t->tp_exposed,
                            t->cp_exposed,
                            t->pp_exposed,
                            t->dp_exposed,
                            t->bubble,
                            t->host,
                            t->optimizer};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_finite(parts[i], "time");
    assert_true(t->step > 0);
}

/* Estimates where the facts are complete and possible; gives whether they are. */
static bool estimate(const struct config *c)
{
    struct memory_estimate memory;
    struct time_estimate time;
    struct evidence evidence;
    if (!memory_estimate(c, &memory, NULL) || !time_estimate(c, &time, NULL)) return false;
    assert_finite_memory(&memory);
    assert_finite_time(&time);
    evidence_find(c, &evidence);
    for (size_t i = 0; i < evidence.n; i++)
        assert_finite(evidence.nearest[i].distance, "distance");
    return true;
}

static bool estimate_facts(struct arena *a, struct facts *f)
{
    struct config *c = ARENA_NEW(a, struct config);
    facts_derive(f);
    return config_from_facts(a, f, c) && c->machine_known && estimate(c);
}

static void set(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_OPTION, NULL, STR("test"));
}

static void set_word(struct facts *f, const char *name, const char *word)
{
    set(f, param_find(str_of(name)), value_string(str_of(word)));
}

static void set_int(struct facts *f, const char *name, int64_t i)
{
    set(f, param_find(str_of(name)), value_int(i));
}

/* A question that has an answer; `number` chooses model, platform, framework and format. */
static struct facts *question(struct arena *a, unsigned number)
{
    static const char *const models[] = {"deepseek-v3",      "nemotron-3-nano-30b-a3b",
                                         "qwen3-vl-30b-a3b", "gpt-oss-20b",
                                         "qwen3.5-35b-a3b",  "llama-3.1-8b",
                                         "deepseek-v3.2",    "gemma-2-9b"};
    static const char *const platforms[] = {"a100", "h100", "gb200", "b300"};
    static const char *const precisions[] = {"bf16", "fp8_tensorwise", "mxfp8", "nvfp4"};
    static const char *const dispatchers[] = {"alltoall", "allgather", "flex"};
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct platform_cache *cache = ARENA_NEW(a, struct platform_cache);
    diags_init(diags, a);
    cache->arena = a;
    enum framework framework = number % 3 == 2 ? FRAMEWORK_AUTOMODEL : FRAMEWORK_MEGATRON;
    struct facts *f = facts_new(a, diags, framework, STR("main@2026-08-22"));
    f->format = STR("plan");
    model_apply(f, model_find(a, str_of(models[number % 8])), ORIGIN_FILE);
    struct str platform = str_of(platforms[number / 8 % 4]);
    platform_apply(f, platform_load(cache, diags, platform, (struct span){0}), ORIGIN_FILE);
    set_word(f, "precision", precisions[number / 4 % 4]);
    if (framework == FRAMEWORK_MEGATRON)
        set_word(f, "moe_token_dispatcher_type", dispatchers[number / 2 % 3]);
    if (number % 5 == 0) set_word(f, "recompute_granularity", "full");
    if (number % 7 == 0) set(f, P_optimizer_cpu_offload, value_bool(true));
    if (number % 11 == 0) set_word(f, "task", "peft");
    set_int(f, "gpus", 64);
    set_int(f, "seq", 4096);
    set_int(f, "gbs", 512);
    set_int(f, "mbs", 1);
    return f;
}

/* A number of the parameter: 0 and 1 the ends of its range, others in between, small ones more
   often. */
static struct value sample(const struct param *p, double share)
{
    const struct param_range *r = &p->range;
    double least = r->has_min ? r->min : -1, most = r->has_max ? r->max : 1e6;
    double x = share >= 1 ? most : least + (most - least) * pow(share, 8);
    return p->type == PARAM_INT ? value_int((int64_t)x) : value_double(x);
}

static void one_number_at_an_end_of_its_range(void **state)
{
    struct arena *a = *state;
    size_t answered = 0;
    for (unsigned number = 0; number < 32; number++)
        for (uint32_t i = 0; i < param_ranged_count; i++)
            for (int end = 0; end < 2; end++) {
                struct arena_mark mark = arena_mark(a);
                struct facts *f = question(a, number);
                set(f, param_ranged[i], sample(&param_table[param_ranged[i]], end));
                answered += estimate_facts(a, f);
                arena_pop(a, mark);
            }
    assert_true(answered > 3000);
}

/* The same numbers every time; the upper bits of a linear congruence. */
static double next_share(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*random >> 40) / (double)(1 << 24);
}

static void many_numbers_anywhere_in_their_ranges(void **state)
{
    struct arena *a = *state;
    uint64_t random = 1;
    size_t answered = 0;
    for (unsigned number = 0; number < 6000; number++) {
        struct arena_mark mark = arena_mark(a);
        struct facts *f = question(a, number);
        double part = number % 4 == 0 ? 0.3 : 0.06; /* of the numbers that are changed */
        for (uint32_t i = 0; i < param_ranged_count; i++) {
            double share = next_share(&random);
            if (next_share(&random) < part)
                set(f, param_ranged[i],
                    sample(&param_table[param_ranged[i]], number % 3 ? share : round(share)));
        }
        answered += estimate_facts(a, f);
        arena_pop(a, mark);
    }
    assert_true(answered > 500);
}

/* The machine itself: all of its rates, sizes and coefficients at an end, each drawn alone. */
static void machines_at_the_ends_of_their_ranges(void **state)
{
    struct arena *a = *state;
    uint64_t random = 7;
    size_t answered = 0;
    for (unsigned number = 0; number < 1000; number++) {
        struct arena_mark mark = arena_mark(a);
        struct facts *f = question(a, number);
        for (uint32_t i = 0; i < param_ranged_count; i++) {
            const struct param *p = &param_table[param_ranged[i]];
            if (p->scope == SCOPE_PLATFORM && !str_is(p->name, "world_size"))
                set(f, param_ranged[i], sample(p, next_share(&random) < 0.5 ? 0 : 1));
        }
        struct config *c = ARENA_NEW(a, struct config);
        facts_derive(f);
        assert_true(config_from_facts(a, f, c));
        for (int i = 0; i < c->machine.n_coefficients; i++) {
            struct coefficient *x = &c->machine.coefficients[i];
            const struct param *p = param_coefficient(x->name);
            x->value = sample(p, next_share(&random) < 0.5 ? 0 : 1).d;
            x->low = fmin(x->low, x->value);
            x->high = fmax(x->high, x->value);
        }
        answered += estimate(c);
        arena_pop(a, mark);
    }
    assert_true(answered > 900);
}

/* ---- the tables agree ---- */

static void every_coefficient_has_an_entry(void **state)
{
    (void)state;
    static const char *const names[] = {
#define NAME(name, ...) #name,
        TIME_COEFFICIENTS(NAME) MEMORY_COEFFICIENTS(NAME)
#undef NAME
    };
    size_t n = sizeof names / sizeof *names;
    assert_int_equal(n, coefficient_count);
    for (size_t i = 0; i < n; i++)
        if (!param_coefficient(str_of(names[i]))) fail_msg("%s has no entry", names[i]);
}

static void built_in_platforms_are_within_the_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < catalogue_platform_count; i++) {
        const struct entry *e = &catalogue_platforms[i];
        for (size_t k = 0; k < e->n_fields; k++)
            assert_true(value_in_range(&param_table[platform_param(e->fields[k].name)],
                                       e->fields[k].value));
        assert_int_equal(e->n_coefficients, coefficient_count);
        for (size_t k = 0; k < e->n_coefficients; k++) {
            const struct entry_coefficient *c = &e->coefficients[k];
            const struct param *p = param_coefficient(c->name);
            assert_non_null(p);
            assert_true(str_eq(p->unit, c->unit));
            assert_true(value_in_range(p, value_double(c->value)));
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_number_at_an_end_of_its_range),
    cmocka_unit_test(many_numbers_anywhere_in_their_ranges),
    cmocka_unit_test(machines_at_the_ends_of_their_ranges),
    cmocka_unit_test(every_coefficient_has_an_entry),
    cmocka_unit_test(built_in_platforms_are_within_the_ranges),
};
UNIT_MAIN(tests)
