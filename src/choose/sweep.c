/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/sweep.h"

#include <math.h>

#include "base/buf.h"
#include "base/sort.h"
#include "base/vec.h"
#include "choose/space.h"
#include "facts/param_ids.h"

/* How uncertain the model is about the effect of one change on a step it otherwise knows, as the
   standard deviation of the ratio's logarithm: what dispatchers and graphs bring depends on the
   machine and the software, recomputation is counted work. */
static const double doubt[SWEEP_AXES] = {
    [SWEEP_MBS] = 0.03, [SWEEP_RECOMPUTE] = 0.02, [SWEEP_GRAPHS] = 0.05, [SWEEP_DISPATCHER] = 0.08};

enum { SWEEP_MAX_VALUES = 16, SWEEP_MAX_TOGETHER = 2 };

/* A trial that is expected to gain less than this part of a step is not worth its GPU hours. */
static const double least_worth = 5e-4;

/* The values of one axis as sets of knobs: the baseline's with the axis's own fields changed. */
struct sweep_values {
    int n;
    struct knobs items[SWEEP_MAX_VALUES];
};

/* ---- the axes ---- */

static void add_value(struct sweep_values *v, struct knobs k)
{
    if (v->n < SWEEP_MAX_VALUES) v->items[v->n++] = k;
}

static void mbs_values(const struct config *c, struct sweep_values *out)
{
    struct knobs k = c->knobs;
    int64_t dp = knobs_dp(&k);
    for (int mbs = 1; mbs <= 4 * c->knobs.mbs && mbs <= 64; mbs *= 2) {
        k.mbs = mbs;
        bool near = 4 * mbs >= c->knobs.mbs && mbs != c->knobs.mbs;
        if (near && k.gbs % (mbs * dp) == 0) add_value(out, k);
    }
}

static void recompute_values(const struct config *c, struct sweep_values *out)
{
    struct search_request request = {.base = c};
    struct recompute_ladder ladder = space_recompute(&request);
    for (int i = 0; i < ladder.n; i++) {
        struct knobs k = c->knobs;
        space_set_recompute(&k, &ladder.steps[i]);
        if (!knobs_same_recompute(&k, &c->knobs)) add_value(out, k);
    }
}

/* None, the router's and the preprocessing's part, then attention too (guide S0.11). */
static void graph_values(const struct config *c, struct sweep_values *out)
{
    static const uint32_t scopes[] = {0, SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS,
                                      SCOPE_ATTN | SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS};
    if (c->framework == FRAMEWORK_AUTOMODEL || c->model.experts == 0) return;
    if (c->knobs.graph_impl == GRAPH_LOCAL || c->knobs.graph_impl == GRAPH_FULL_ITERATION) return;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        struct knobs k = c->knobs;
        k.graph_impl = scopes[i] ? GRAPH_TE : GRAPH_NONE;
        k.graph_scope = scopes[i];
        bool same = k.graph_impl == c->knobs.graph_impl && k.graph_scope == c->knobs.graph_scope;
        if (!same) add_value(out, k);
    }
}

static void dispatcher_values(const struct config *c, struct sweep_values *out)
{
    struct search_request request = {.base = c};
    if (c->model.experts == 0) return;
    struct axis axis = space_dispatcher(&request, &c->knobs);
    for (int i = 0; i < axis.n; i++) {
        struct knobs k = c->knobs;
        k.dispatcher = (uint8_t)axis.values[i];
        if (k.dispatcher != c->knobs.dispatcher) add_value(out, k);
    }
}

/* The fields of one axis from one set of knobs to another. */
static void take(struct knobs *to, const struct knobs *from, enum sweep_axis axis)
{
    switch (axis) {
    case SWEEP_MBS: to->mbs = from->mbs; break;
    case SWEEP_RECOMPUTE:
        to->recompute = from->recompute;
        to->recompute_method = from->recompute_method;
        to->recompute_num_layers = from->recompute_num_layers;
        to->recompute_modules = from->recompute_modules;
        break;
    case SWEEP_GRAPHS:
        to->graph_impl = from->graph_impl;
        to->graph_scope = from->graph_scope;
        break;
    case SWEEP_DISPATCHER: to->dispatcher = from->dispatcher; break;
    case SWEEP_AXES: break;
    }
}

/* ---- a trial's facts ---- */

static void set_fact(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_OPTION, NULL, (struct str){"", 0});
}

static void set_knob(struct facts *f, const struct knobs *k, int param)
{
    set_fact(f, param, knob_get(f->arena, k, knob_of(param)));
}

static void set_mbs(struct facts *f, const struct knobs *k)
{
    if (f->framework == FRAMEWORK_AUTOMODEL && k->pp > 1)
        set_fact(f, P_pp_microbatch_size, value_int(k->mbs));
    else
        set_fact(f, P_micro_batch_size, value_int(k->mbs));
}

static void set_recompute(struct facts *f, const struct knobs *k)
{
    bool full = k->recompute == RECOMPUTE_FULL, chosen = k->recompute == RECOMPUTE_SELECTIVE;
    if (f->framework == FRAMEWORK_AUTOMODEL) {
        set_fact(f, P_activation_checkpointing, value_bool(full));
        return;
    }
    set_knob(f, k, P_recompute_granularity);
    set_fact(f, P_recompute_method, full ? value_string(STR("uniform")) : value_null());
    set_fact(f, P_recompute_num_layers, full ? value_int(1) : value_null());
    if (chosen)
        set_knob(f, k, P_recompute_modules);
    else
        set_fact(f, P_recompute_modules, value_null());
}

static void set_graphs(struct facts *f, const struct knobs *k)
{
    set_knob(f, k, P_cuda_graph_impl);
    if (k->graph_impl != GRAPH_NONE)
        set_knob(f, k, P_cuda_graph_scope);
    else
        set_fact(f, P_cuda_graph_scope, value_null());
}

static void set_dispatcher(struct facts *f, const struct knobs *k)
{
    struct value word = value_string(str_of(knobs_dispatcher(k)));
    bool flex = knobs_flex(k);
    if (f->framework == FRAMEWORK_AUTOMODEL) {
        set_fact(f, P_backend_dispatcher, word);
        return;
    }
    set_fact(f, P_moe_token_dispatcher_type, flex ? value_string(STR("flex")) : word);
    if (flex) set_fact(f, P_moe_flex_dispatcher_backend, word);
}

static void set_axis(struct facts *f, const struct knobs *k, enum sweep_axis axis)
{
    switch (axis) {
    case SWEEP_MBS: set_mbs(f, k); break;
    case SWEEP_RECOMPUTE: set_recompute(f, k); break;
    case SWEEP_GRAPHS: set_graphs(f, k); break;
    case SWEEP_DISPATCHER: set_dispatcher(f, k); break;
    case SWEEP_AXES: break;
    }
}

static bool axis_differs(const struct knobs *a, const struct knobs *b, enum sweep_axis axis)
{
    switch (axis) {
    case SWEEP_MBS: return a->mbs != b->mbs;
    case SWEEP_RECOMPUTE: return !knobs_same_recompute(a, b);
    case SWEEP_GRAPHS: return a->graph_impl != b->graph_impl || a->graph_scope != b->graph_scope;
    case SWEEP_DISPATCHER: return a->dispatcher != b->dispatcher;
    case SWEEP_AXES: break;
    }
    return false;
}

/* ---- words ---- */

static struct str describe(struct arena *a, const struct knobs *k, enum sweep_axis axis)
{
    switch (axis) {
    case SWEEP_MBS: return arena_printf(a, "%d", k->mbs);
    case SWEEP_RECOMPUTE:
        if (k->recompute == RECOMPUTE_NONE) return STR("none");
        if (k->recompute == RECOMPUTE_FULL) return STR("full");
        return value_text(a, knob_get(a, k, knob_of(P_recompute_modules)));
    case SWEEP_GRAPHS:
        if (k->graph_impl == GRAPH_NONE) return STR("none");
        return value_text(a, knob_get(a, k, knob_of(P_cuda_graph_scope)));
    case SWEEP_DISPATCHER: return str_of(knobs_dispatcher(k));
    case SWEEP_AXES: break;
    }
    return STR("");
}

static struct str changes_text(struct arena *a, const struct knobs *from, const struct knobs *to)
{
    static const char *const names[] = {"mbs", "recompute", "graphs", "dispatcher"};
    struct buf b = buf_new(a);
    for (int i = 0; i < SWEEP_AXES; i++) {
        enum sweep_axis axis = (enum sweep_axis)i;
        if (!axis_differs(from, to, axis)) continue;
        struct str old = describe(a, from, axis), new = describe(a, to, axis);
        buf_printf(&b, "%s%s %.*s -> %.*s", b.n ? ", " : "", names[i], STR_ARG(old), STR_ARG(new));
    }
    return buf_str(&b);
}

/* ---- trials ---- */

struct sweeper {
    struct arena *arena, *scratch;
    const struct rule_set *rules;
    const struct facts *facts;
    const struct config *base;
    struct sweep *out;
    VEC(struct trial) trials;
};

/* Expected improvement of a gain with a normal error. */
static double expected_improvement(double gain, double sd)
{
    double z = gain / sd;
    return gain * 0.5 * erfc(-z / sqrt(2)) +
           sd * exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
}

static bool rules_allow(struct sweeper *s, const struct facts *f)
{
    struct arena_mark mark = arena_mark(s->arena);
    struct facts *run = rules_effective_facts(s->arena, s->rules, f, s->scratch);
    bool allowed = !rules_first_error(s->rules, run, s->scratch);
    arena_pop(s->arena, mark);
    arena_reset(s->scratch);
    return allowed;
}

static struct facts *trial_facts(struct sweeper *s, const struct knobs *k)
{
    struct facts *f = facts_copy(s->arena, s->facts);
    for (int i = 0; i < SWEEP_AXES; i++)
        if (axis_differs(&s->base->knobs, k, (enum sweep_axis)i))
            set_axis(f, k, (enum sweep_axis)i);
    facts_derive(f);
    return f;
}

static void try_knobs(struct sweeper *s, const struct knobs *k)
{
    struct config c = *s->base;
    struct memory_estimate memory;
    struct time_estimate time;
    double variance = 0;
    struct trial t = {.knobs = *k};
    c.knobs = *k;
    s->out->tried++;
    if (!memory_estimate(&c, &memory, NULL) || !time_estimate(&c, &time, NULL)) return;
    if (memory.fits == FITS_NO) {
        s->out->unfit++;
        return;
    }
    for (int i = 0; i < SWEEP_AXES; i++) {
        if (!axis_differs(&s->base->knobs, k, (enum sweep_axis)i)) continue;
        t.changed++;
        variance += doubt[i] * doubt[i];
    }
    t.step_s = time.step;
    t.ratio = time.step / s->out->step_s;
    t.peak = memory.peak;
    t.fits = (int)memory.fits;
    t.worth = expected_improvement(-log(t.ratio), sqrt(variance));
    bool same =
        fabs(t.ratio - 1) < 1e-9 && t.peak == s->out->peak; /* recomputes what is not there */
    bool relief = s->out->fits != FITS_YES && t.fits == FITS_YES;
    if (same || (t.worth < least_worth && !relief)) return;
    t.number = s->trials.n;
    *VEC_PUSH(s->arena, &s->trials) = t;
}

/* One axis after the other, then each pair. */
static void try_all(struct sweeper *s, const struct sweep_values values[SWEEP_AXES])
{
    for (int i = 0; i < SWEEP_AXES; i++)
        for (int k = 0; k < values[i].n; k++)
            try_knobs(s, &values[i].items[k]);
    for (int i = 0; i < SWEEP_AXES; i++)
        for (int j = i + 1; j < SWEEP_AXES; j++)
            for (int k = 0; k < values[i].n * values[j].n; k++) {
                struct knobs both = values[i].items[k / values[j].n];
                take(&both, &values[j].items[k % values[j].n], (enum sweep_axis)j);
                try_knobs(s, &both);
            }
}

/* Fewer changes first; then by worth; then as they were found. */
static int by_worth(const void *x, const void *y)
{
    const struct trial *a = x, *b = y;
    if (a->changed != b->changed) return a->changed - b->changed;
    if (a->worth != b->worth) return a->worth < b->worth ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

/* What the rules allow of the best, single changes and pairs each up to their part. */
static void choose(struct sweeper *s, size_t most)
{
    size_t part[SWEEP_MAX_TOGETHER + 1] = {0, most - most / 3, most / 3};
    struct sweep *out = s->out;
    sort_items(s->trials.items, s->trials.n, sizeof *s->trials.items, by_worth);
    out->trials = ARENA_ARRAY(s->arena, struct trial, most + 1);
    for (size_t i = 0; i < s->trials.n && out->n < most; i++) {
        struct trial *t = &s->trials.items[i];
        if (part[t->changed] == 0) continue;
        t->facts = trial_facts(s, &t->knobs);
        if (!rules_allow(s, t->facts)) {
            out->refused++;
            continue;
        }
        part[t->changed]--;
        t->what = changes_text(s->arena, &s->base->knobs, &t->knobs);
        out->trials[out->n++] = *t;
    }
}

bool sweep_plan(struct arena *a, const struct rule_set *rules, const struct facts *f,
                const struct config *c, size_t most, struct arena *scratch, struct sweep *out)
{
    struct sweep_values *values = ARENA_ARRAY(a, struct sweep_values, SWEEP_AXES);
    struct memory_estimate memory;
    struct time_estimate time;
    *out = (struct sweep){0};
    struct sweeper s = {a, scratch, rules, f, c, out, {0}};
    if (!memory_estimate(c, &memory, NULL) || !time_estimate(c, &time, NULL)) return false;
    out->step_s = time.step;
    out->peak = memory.peak;
    out->fits = (int)memory.fits;
    mbs_values(c, &values[SWEEP_MBS]);
    recompute_values(c, &values[SWEEP_RECOMPUTE]);
    graph_values(c, &values[SWEEP_GRAPHS]);
    dispatcher_values(c, &values[SWEEP_DISPATCHER]);
    try_all(&s, values);
    choose(&s, most);
    return true;
}
