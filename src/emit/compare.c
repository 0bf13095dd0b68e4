/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/compare.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/num.h"
#include "plan/knob.h"

/* ---- differences ---- */

/* Parameters that follow from another one: silent when that one differs. */
static const char *const shadows[][2] = {
    {"bf16", "precision"},
    {"fp16", "precision"},
    {"fp8", "precision"},
    {"fp8_recipe", "precision"},
    {"fp4", "precision"},
    {"mixed_precision", "precision"},
    {"backend_te_fp8_recipe", "precision"},
    {"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"},
    {"num_layers_per_virtual_pipeline_stage", "virtual_pipeline_model_parallel_size"},
    {"swiglu", "gated_linear_unit"},
    {"first_k_dense_replace", "moe_layer_freq"},
};

static bool is_unequal(const struct facts *f, const struct facts *g, const char *name)
{
    struct value x = facts_get(f, name)->value, y = facts_get(g, name)->value;
    return x.kind != VALUE_UNKNOWN && y.kind != VALUE_UNKNOWN && !value_eq(x, y);
}

static bool is_shadowed(const struct facts *f, const struct facts *g, int param)
{
    for (size_t i = 0; i < sizeof shadows / sizeof *shadows; i++)
        if (str_is(param_table[param].name, shadows[i][0]) && is_unequal(f, g, shadows[i][1]))
            return true;
    return false;
}

/* A side that does not say a parameter differs only from what the other one writes. */
static bool facts_differ(const struct facts *f, const struct facts *g, int param)
{
    const struct fact *x = &f->items[param], *y = &g->items[param];
    bool known_x = x->value.kind != VALUE_UNKNOWN, known_y = y->value.kind != VALUE_UNKNOWN;
    if (known_x && known_y) return !value_eq(x->value, y->value);
    if (known_x) return fact_is_set(x) && x->value.kind != VALUE_NULL;
    return known_y && fact_is_set(y) && y->value.kind != VALUE_NULL;
}

/* Between frameworks the knobs stand for the decisions of a plan: see add_knobs. */
static bool is_compared(const struct facts *f, const struct facts *g, int param)
{
    const struct param *p = &param_table[param];
    if (p->scope == SCOPE_DERIVED) return false;
    if (p->scope == SCOPE_PLATFORM)
        return str_is(p->name, "world_size") || str_is(p->name, "platform");
    bool same = f->framework == g->framework;
    bool both = p->in[f->framework].known && p->in[g->framework].known;
    return same || (both && !knob_find(p->name));
}

static void add(struct arena *a, struct comparison *out, int param, struct value x, struct value y)
{
    *VEC_PUSH(a, &out->differences) = (struct difference){param, x, y};
}

static bool is_listed(const struct comparison *c, int param)
{
    for (size_t i = 0; i < c->differences.n; i++)
        if (c->differences.items[i].param == param) return true;
    return false;
}

static void add_facts(struct arena *a, const struct facts *f, const struct facts *g,
                      struct comparison *out)
{
    for (int i = 0; i < (int)param_count; i++)
        if (is_compared(f, g, i) && facts_differ(f, g, i) && !is_shadowed(f, g, i))
            add(a, out, i, f->items[i].value, g->items[i].value);
}

/* Between frameworks the decisions that both have, each in its own words. A vision tower that is
   not there is not frozen either. */
static void add_knobs(struct arena *a, const struct config *f, const struct config *g,
                      struct comparison *out)
{
    for (size_t i = 0; i < knob_count; i++) {
        int param = param_find(str_of(knob_table[i].param));
        struct value x = knob_get(a, &f->knobs, &knob_table[i]),
                     y = knob_get(a, &g->knobs, &knob_table[i]);
        bool idle =
            str_is(STR("freeze_vision_model"), knob_table[i].param) && f->model.vision_layers == 0;
        if (param < 0 || idle || value_eq(x, y) || is_listed(out, param)) continue;
        add(a, out, param, x, y);
    }
}

static int rank(const struct difference *d)
{
    const struct param *p = &param_table[d->param];
    return (p->affects == AFFECTS_CONVERGENCE ? 0 : 2) + (knob_find(p->name) ? 0 : 1);
}

static void sort(struct comparison *c)
{
    for (size_t i = 1; i < c->differences.n; i++) { /* stable: within a rank by name, as found */
        struct difference x = c->differences.items[i];
        size_t at = i;
        for (; at > 0 && rank(&c->differences.items[at - 1]) > rank(&x); at--)
            c->differences.items[at] = c->differences.items[at - 1];
        c->differences.items[at] = x;
    }
}

/* ---- advice ---- */

static void advise(struct arena *a, struct comparison *out, const char *guide, struct str text)
{
    *VEC_PUSH(a, &out->advice) = (struct remark){str_of(guide), text};
}

static struct str times(struct arena *a, double factor)
{
    return arena_printf(a, "%.*sx", STR_ARG(num_double_text(a, round(factor * 100) / 100)));
}

/* The learning rate follows the batch (guide S3.6), and steps of different size are no measure
   (S0.14). */
static void advise_batch(struct arena *a, const struct facts *f, const struct facts *g,
                         struct comparison *out)
{
    int64_t old = facts_int(f, "global_batch_size", 0), new = facts_int(g, "global_batch_size", 0);
    if (old > 0 && new > 0 && old != new) {
        struct str factor = times(a, (double)new / (double)old);
        advise(a, out, "S3.6",
               arena_printf(a,
                            "gbs %" PRId64 " -> %" PRId64
                            ": scale the learning rate %.*s with it, with a %s warmup",
                            old, new, STR_ARG(factor), new > old ? "longer" : "shorter"));
    }
    int64_t x = facts_int(f, "tokens_per_step", 0), y = facts_int(g, "tokens_per_step", 0);
    if (x > 0 && y > 0 && x != y)
        advise(a, out, "S0.14",
               arena_printf(a,
                            "the second takes %.*s the tokens a step: compare tokens/s/GPU, not "
                            "step times",
                            STR_ARG(times(a, (double)y / (double)x))));
}

/* MFU is measured against another peak when the number format changes (guide S1.15). */
static void advise_precision(struct arena *a, const struct compared *first,
                             const struct compared *second, struct comparison *out)
{
    const struct time_estimate *x = first->time, *y = second->time;
    if (!x || !y || strcmp(x->peak_name, y->peak_name) == 0) return;
    advise(a, out, "S1.15",
           arena_printf(a,
                        "MFU misleads between number formats: %.1f %% of the %s peak against %.1f "
                        "%% of the %s peak; by throughput %.0f -> %.0f tokens/s/GPU",
                        100 * x->mfu, x->peak_name, 100 * y->mfu, y->peak_name,
                        x->tokens_per_s_per_gpu, y->tokens_per_s_per_gpu));
}

/* Tensor parallelism shrinks the GEMMs, pipeline parallelism does not (guide S4.15). */
static void advise_tensor(struct arena *a, const struct facts *f, const struct facts *g,
                          struct comparison *out)
{
    const char *name = "tensor_model_parallel_size";
    int64_t old = facts_int(f, name, 1), new = facts_int(g, name, 1);
    int64_t hidden = facts_int(g, "hidden_size", 0);
    if (new <= old || old < 1) return;
    struct buf text = buf_new(a);
    buf_printf(&text,
               "tp %" PRId64 " -> %" PRId64 ": smaller GEMMs, each rank holds 1/%" PRId64
               " of every dense matrix",
               old, new, new);
    if (hidden > 0 && hidden % new == 0)
        buf_printf(&text, " (attention output %" PRId64 " wide a rank before, %" PRId64 " now)",
                   hidden / old, hidden / new);
    buf_add(&text, STR(", which run below the rate of large ones; pipeline stages do not shrink "
                       "them"));
    advise(a, out, "S4.15", buf_str(&text));
}

static void advise_balance(struct arena *a, const struct facts *f, const struct facts *g,
                           struct comparison *out)
{
    const char *name = "moe_router_force_load_balancing";
    bool x = facts_bool(f, name, false), y = facts_bool(g, name, false);
    if (x != y)
        advise(a, out, "S4.9",
               arena_printf(a,
                            "the %s routes evenly by force: a benchmark setting, its speed is no "
                            "measure for real routing and its loss means nothing",
                            y ? "second" : "first"));
}

void compare_configurations(struct arena *a, const struct compared *first,
                            const struct compared *second, struct comparison *out)
{
    *out = (struct comparison){0};
    add_facts(a, first->facts, second->facts, out);
    bool crossing = first->facts->framework != second->facts->framework;
    if (crossing && first->config && second->config)
        add_knobs(a, first->config, second->config, out);
    sort(out);
    advise_batch(a, first->facts, second->facts, out);
    advise_precision(a, first, second, out);
    advise_tensor(a, first->facts, second->facts, out);
    advise_balance(a, first->facts, second->facts, out);
}
