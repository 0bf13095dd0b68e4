/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/share.h"

#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "base/units.h"
#include "facts/param_ids.h"
#include "flow/estimate.h"

enum { USUAL_SEQUENCES = 64, USUAL_CONTEXT = 4096, MOST_SEQUENCES = 1 << 20, MOST_TP = 1 << 10 };

/* ---- the wish ---- */

static bool read_int(struct str text, int64_t most, int64_t *out)
{
    return num_parse_int(text, out) && *out >= 1 && *out <= most;
}

static bool read_one(struct str name, struct str text, struct engine_wish *w)
{
    int64_t tp;
    if (str_is(name, "sequences")) return read_int(text, MOST_SEQUENCES, &w->sequences);
    if (str_is(name, "context")) return read_int(text, INT64_C(1) << 30, &w->context);
    if (str_is(name, "ratio"))
        return num_parse_double(text, &w->ratio) && w->ratio > 0 && w->ratio < 1e6;
    if (!str_is(name, "tp") || !read_int(text, MOST_TP, &tp)) return false;
    w->tp = (int)tp;
    return true;
}

bool share_read(struct arena *a, struct str text, struct engine_wish *out, struct str *why)
{
    struct str rest = text, one;
    *out = (struct engine_wish){0};
    while (str_split(&rest, ',', &one)) {
        size_t equals = str_find(one, '=');
        struct str name = str_trim(str_slice(one, 0, equals)),
                   value = str_trim(str_slice(one, equals + 1, one.n));
        if (read_one(name, value, out)) continue;
        *why = arena_printf(a,
                            "rollout must be such as tp=8,sequences=64,context=8192,ratio=0.5, "
                            "not \"%.*s\"",
                            STR_ARG(text));
        return false;
    }
    return true;
}

/* ---- before the question is asked ---- */

static double platform_number(const struct platform *p, const char *name)
{
    struct value v = entry_value(p->entry, name);
    return v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_DOUBLE ? v.d : 0;
}

static double reserved_gib(const struct ask *ask)
{
    for (size_t i = 0; i < ask->pins.n; i++)
        if (ask->pins.items[i].param == P_reserve_memory_gib) return ask->pins.items[i].value.d;
    return 0;
}

/* The smallest tp that divides a node, of which the weights leave half of the engine's memory. */
static int smallest_tp(const struct model_shape *m, struct engine_wish w, int node, double bytes)
{
    for (w.tp = 1; w.tp < node; w.tp++)
        if (node % w.tp == 0 && engine_need_of(m, &w).weights <= bytes / 2) return w.tp;
    return node;
}

static void fill_wish(const struct ask *ask, const struct model_shape *m, double bytes,
                      struct engine_wish *w)
{
    int node = (int)fmax(1, platform_number(ask->platform, "gpus_per_node"));
    if (!w->sequences) w->sequences = USUAL_SEQUENCES;
    if (!w->context) w->context = ask->seq ? ask->seq : USUAL_CONTEXT;
    if (!w->tp) w->tp = smallest_tp(m, *w, node, bytes);
}

/* Divides the GPUs so that both sides are done at the same time, as far as whole nodes and whole
   engines allow. */
static bool divide(const struct ask *ask, struct share *s)
{
    double ratio = s->wish.ratio;
    int64_t node = (int64_t)fmax(1, platform_number(ask->platform, "gpus_per_node"));
    int64_t grain = s->wish.tp > node ? s->wish.tp : node, best = 0;
    if (s->gpus < 2 * grain) grain = s->wish.tp; /* parts of a node */
    double least = INFINITY;
    for (int64_t engine = grain; engine < s->gpus; engine += grain) {
        double cycle = fmax(1 / (double)(s->gpus - engine), ratio / (double)engine);
        if (cycle >= least) continue;
        least = cycle;
        best = engine;
    }
    s->engine_gpus = best;
    s->trainer_gpus = s->gpus - best;
    double busy = (1 + ratio) / ((double)s->gpus * least);
    s->idle = 1 - busy;
    return best > 0;
}

static bool settle_apart(struct arena *a, struct ask *ask, struct share *s, struct str *why)
{
    *why = STR("rollout with a ratio needs a number of GPUs");
    if (!ask->gpus) return false;
    *why = arena_printf(a, "%" PRId64 " GPUs cannot be divided between a trainer and engines of %d",
                        ask->gpus, s->wish.tp);
    if (!divide(ask, s)) return false;
    ask->gpus = s->trainer_gpus;
    return true;
}

/* What the engine lacks, and what would do. */
static struct str too_large(struct arena *a, const struct share *s)
{
    int64_t room = engine_sequences(&s->need, s->capacity);
    struct str less = room > 0 ? arena_printf(a, "of its sequences %" PRId64 " would fit", room)
                               : STR("not even its weights fit");
    return arena_printf(a,
                        "the engine needs %.1f GiB of each GPU, which has %.1f: %.*s without a "
                        "trainer; a larger tp than %d, fewer sequences, a shorter context, or "
                        "ratio=R for GPUs of its own",
                        s->engine / GIB, s->capacity / GIB, STR_ARG(less), s->wish.tp);
}

static bool settle_together(struct arena *a, struct ask *ask, struct share *s, struct str *why)
{
    double gib = reserved_gib(ask);
    s->engine = gib > 0 ? gib * GIB : ceil(10 * s->need.total / GIB) / 10 * GIB;
    *why = too_large(a, s);
    if (s->engine >= s->capacity) return false;
    struct setting pin = {.name = param_name(P_reserve_memory_gib),
                          .value = value_double(s->engine / GIB)};
    return gib > 0 || ask_pin(a, ask, pin, why);
}

bool share_settle(struct arena *a, struct ask *ask, struct engine_wish wish, struct share *out,
                  struct str *why)
{
    struct arena *scratch = arena_child(a, 0);
    struct diags quiet;
    struct model_shape *m = ARENA_NEW(a, struct model_shape);
    diags_init(&quiet, a);
    *why = STR("the model's shape is not known");
    bool known = estimate_shape(a, &quiet, ask->model, scratch, m);
    arena_free(scratch);
    if (!known) return false;
    *out = (struct share){.wish = wish, .gpus = ask->gpus};
    out->capacity = platform_number(ask->platform, "gpu_capacity_gib") * GIB;
    double gib = reserved_gib(ask), of_engine = wish.ratio > 0 ? out->capacity : gib * GIB;
    fill_wish(ask, m, of_engine > 0 ? of_engine : out->capacity / 2, &out->wish);
    out->need = engine_need_of(m, &out->wish);
    out->engine = out->capacity;
    return wish.ratio > 0 ? settle_apart(a, ask, out, why) : settle_together(a, ask, out, why);
}

/* ---- what binds ---- */

static const struct plan *first_plan(const struct answers *answers)
{
    for (size_t i = 0; i < answers->n; i++)
        if (answers->items[i].n) return &answers->items[i].plans[0];
    return NULL;
}

/* Step time of the best plan with the whole GPU; 0: there is none. */
static double step_alone(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                         const struct ask *ask)
{
    struct arena *work = arena_child(a, 0);
    struct ask whole = *ask;
    struct answers answers;
    struct diags quiet;
    diags_init(&quiet, work);
    whole.pins.items = NULL;
    whole.pins.n = whole.pins.cap = 0;
    for (size_t i = 0; i < ask->pins.n; i++)
        if (ask->pins.items[i].param != P_reserve_memory_gib)
            *VEC_PUSH(work, &whole.pins) = ask->pins.items[i];
    bool answered = ask_all(work, scratch, &quiet, rules, &whole, &answers);
    const struct plan *plan = answered ? first_plan(&answers) : NULL;
    double step = plan ? plan->costs.step_s : 0;
    arena_free(work);
    return step;
}

void share_judge(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                 const struct ask *ask, const struct answers *answers, struct share *out)
{
    const struct plan *plan = first_plan(answers);
    out->sequences = engine_sequences(&out->need, out->engine);
    bool engine = out->sequences < out->wish.sequences, trainer = !plan;
    double alone = plan && !out->trainer_gpus ? step_alone(a, scratch, rules, ask) : 0;
    if (alone > 0) out->slower = plan->costs.step_s / alone - 1;
    trainer = trainer || out->slower > SHARE_SLOWER_PERCENT / 100.0;
    out->binds = engine && trainer ? BINDS_BOTH
                 : engine          ? BINDS_ENGINE
                 : trainer         ? BINDS_TRAINER
                                   : BINDS_NEITHER;
}
