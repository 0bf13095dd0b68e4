/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of GPUs and batches beside the one that was asked for: the fewest that are enough, the
   nearest that divides. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "facts/param_ids.h"
#include "flow/suggest.h"

/* Whole nodes are looked at one by one up to so many, then in as many steps a doubling. */
enum { FINE = 64, COARSE = 8 };

enum { MOST_BATCHES = 32 }; /* that are tried */

/* ---- the sizes that make sense ---- */

static int64_t node_of(const struct ask *ask)
{
    struct value v = entry_value(ask->platform->entry, "gpus_per_node");
    return v.kind == VALUE_INT && v.i > 0 ? v.i : 1;
}

/* The first size from n on: a share of a node that divides it, or whole nodes. */
static int64_t whole(int64_t node, int64_t n)
{
    if (n > node) return (n + node - 1) / node * node;
    while (node % n)
        n++;
    return n;
}

/* The size to look at behind one that is not enough. */
static int64_t after(int64_t node, int steps, int64_t n)
{
    int64_t nodes = n / (steps * node);
    return n < node ? whole(node, n + 1) : n + node * (nodes > 1 ? nodes : 1);
}

struct size_search {
    int64_t node, most; /* GPUs */
    int steps;
    bool (*is_enough)(void *context, int64_t gpus); /* whether a plan surely fits */
    void *context;
};

/* The first size above `fails` that is enough; 0: none. Doublings first: memory falls with the
   GPUs but for what does not divide. */
static int64_t first_enough(const struct size_search *s, int64_t fails)
{
    int64_t end = whole(s->node, fails ? 2 * fails : 1);
    while (end <= s->most && !s->is_enough(s->context, end)) {
        fails = end;
        end = whole(s->node, 2 * end);
    }
    bool found = end <= s->most;
    if (!found) end = s->most + 1;
    for (int64_t n = after(s->node, s->steps, fails); n < end; n = after(s->node, s->steps, n))
        if (s->is_enough(s->context, n)) return n;
    return found ? end : 0;
}

/* ---- the fewest ---- */

struct fewest {
    struct arena *arena, *scratch;
    const struct rule_set *rules;
    struct ask ask;
    bool in_time;    /* a plan has to meet the deadline too */
    double least;    /* bytes that the nearest miss needs; days where it has to be in time */
    int64_t nearest; /* its GPUs */
    int64_t failed;  /* the largest size that was not enough */
};

/* Days that the first plan takes; none takes for ever. */
static double days_of(const struct ask *ask, const struct answer *answer)
{
    struct time_estimate t;
    if (!answer->n || !time_estimate(&answer->plans[0].config, &t, NULL)) return INFINITY;
    return wish_bill(&ask->wish, ask->platform, &answer->plans[0].config.knobs, &t).days.value;
}

/* What a size is to have little of: bytes that the plan shown, or the least that was looked at, may
   need; or days. */
static double need(const struct fewest *w, const struct answer *answer)
{
    if (w->in_time) return days_of(&w->ask, answer);
    if (answer->n) return answer->plans[0].costs.peak_high;
    return answer->search->has_least ? answer->search->least.peak_high : INFINITY;
}

static bool is_enough(void *context, int64_t gpus)
{
    struct fewest *w = context;
    struct ask now = w->ask;
    struct answers answers;
    struct diags quiet;
    now.gpus = gpus;
    ask_complete(&now);
    struct arena_mark mark = arena_mark(w->arena);
    diags_init(&quiet, w->arena);
    bool answered = ask_all(w->arena, w->scratch, &quiet, w->rules, &now, &answers), found = false;
    for (size_t i = 0; answered && i < answers.n; i++) {
        const struct answer *one = &answers.items[i];
        double needed = need(w, one);
        bool late = w->in_time && needed > w->ask.wish.deadline_days;
        found = found || (one->n && !one->tight && !late);
        if (needed >= w->least) continue;
        w->least = needed;
        w->nearest = gpus;
    }
    arena_pop(w->arena, mark);
    if (!found && gpus > w->failed) w->failed = gpus;
    return found;
}

static bool is_pinned(const struct ask *ask, int param)
{
    for (size_t i = 0; i < ask->pins.n; i++)
        if (ask->pins.items[i].param == param) return true;
    return false;
}

/* A question that asks for no more than whether there is a plan. */
static struct ask bare(const struct ask *ask)
{
    struct ask now = *ask;
    now.top = 1;
    now.no_playbook = true;
    return now;
}

/* The same question with a pin more. */
static struct ask with_pin(struct arena *a, const struct ask *ask, struct pin pin)
{
    struct ask now = *ask;
    now.pins.items = NULL;
    now.pins.n = now.pins.cap = 0;
    for (size_t i = 0; i < ask->pins.n; i++)
        *VEC_PUSH(a, &now.pins) = ask->pins.items[i];
    *VEC_PUSH(a, &now.pins) = pin;
    return now;
}

/* With the optimizer's place settled, to the frameworks that have the choice. */
static struct ask with_optimizer(struct arena *a, const struct ask *ask, bool on_cpu)
{
    struct ask now = with_pin(a, ask, (struct pin){P_optimizer_cpu_offload, value_bool(on_cpu)});
    for (int f = 0; on_cpu && f < FRAMEWORK_COUNT; f++)
        now.in[f] = now.in[f] && param_table[P_optimizer_cpu_offload].in[f]->known;
    return now;
}

static int64_t fewest_of(struct fewest *w, const struct ask *ask, int64_t most)
{
    struct size_search s = {node_of(ask), most, FINE, is_enough, w};
    w->ask = bare(ask);
    return first_enough(&s, 0);
}

static const char offloaded[] = "with the optimizer on the CPU (--pin optimizer_cpu_offload=true)";

void ask_smallest(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                  struct ask *ask, struct notes *notes)
{
    struct fewest w = {.arena = a, .scratch = scratch, .rules = rules, .least = INFINITY};
    bool open = !is_pinned(ask, P_optimizer_cpu_offload);
    struct ask on_gpu = open ? with_optimizer(a, ask, false) : *ask;
    struct ask off_gpu = with_optimizer(a, ask, true);
    int64_t most = SUGGEST_MOST_MIN_GPUS, gpus = fewest_of(&w, &on_gpu, most);
    ask->gpus = gpus ? gpus : w.nearest ? w.nearest : most;
    int64_t fewer = open ? fewest_of(&w, &off_gpu, gpus ? gpus - 1 : most) : 0;
    if (!gpus && !fewer) ask->most_gpus = most;
    if (!fewer) return;
    if (gpus) {
        *VEC_PUSH(a, notes) = arena_printf(a, "%" PRId64 " GPUs without offload, %" PRId64 " %s",
                                           gpus, fewer, offloaded);
        return;
    }
    *ask = off_gpu;
    ask->gpus = fewer;
    *VEC_PUSH(a, notes) =
        arena_printf(a, "no number up to %" PRId64 " is enough without offload, %" PRId64 " are %s",
                     most, fewer, offloaded);
}

void ask_in_time(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                 struct ask *ask, struct notes *notes)
{
    struct fewest w = {
        .arena = a, .scratch = scratch, .rules = rules, .in_time = true, .least = INFINITY};
    struct size_search s = {node_of(ask), SUGGEST_MOST_MIN_GPUS, COARSE, is_enough, &w};
    w.ask = bare(ask);
    ask->gpus = first_enough(&s, 0);
    ask->late = !ask->gpus;
    if (ask->late) ask->gpus = w.nearest ? w.nearest : SUGGEST_MOST_MIN_GPUS;
    double days = ask->wish.deadline_days;
    bool gap = ask->gpus - w.failed > s.node;
    *VEC_PUSH(a, notes) =
        ask->late ? arena_printf(a, "no number of GPUs up to %d is done in %.4g days",
                                 SUGGEST_MOST_MIN_GPUS, days)
        : gap     ? arena_printf(a,
                                 "%" PRId64 " GPUs are done in %.4g days, %" PRId64
                                 " are not; sizes between were not tried, --gpus tries one",
                                 ask->gpus, days, w.failed)
                  : arena_printf(a, "%" PRId64 " GPUs are the fewest that are done in %.4g days",
                                 ask->gpus, days);
}

void ask_note_nodes(struct arena *a, const struct ask *ask, struct notes *notes)
{
    int64_t node = node_of(ask), nodes = ask->gpus / node, rest = ask->gpus % node;
    if (!nodes || !rest) return;
    *VEC_PUSH(a, notes) =
        arena_printf(a,
                     "%" PRId64 " GPUs do not fill nodes of %" PRId64 ": the last has %" PRId64
                     "; whole nodes are %" PRId64 " or %" PRId64 " GPUs",
                     ask->gpus, node, rest, nodes * node, (nodes + 1) * node);
}

/* ---- what would fit ---- */

struct larger {
    struct arena *arena, *scratch;
    const struct rule_set *rules;
    struct ask ask;
    enum framework framework;
};

/* The same question for more GPUs, with a batch that was assumed assumed anew. `whether`: struct
   plan_request. */
static bool ask_on(struct larger *w, int64_t gpus, bool whether, struct answer *out)
{
    struct diags quiet;
    diags_init(&quiet, w->arena);
    w->ask.gpus = gpus;
    w->ask.whether = whether;
    if (w->ask.gbs_assumed) w->ask.gbs = 0;
    ask_complete(&w->ask);
    return ask_framework(w->arena, w->scratch, &quiet, w->rules, &w->ask, w->framework, out) &&
           out->fits;
}

static bool fits_on(void *context, int64_t gpus)
{
    struct larger *w = context;
    struct answer answer;
    struct arena_mark mark = arena_mark(w->arena);
    bool fits = ask_on(w, gpus, true, &answer);
    arena_pop(w->arena, mark);
    return fits;
}

bool suggest_larger(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                    struct ask *ask, enum framework framework, struct answer *out)
{
    struct larger w = {a, scratch, rules, bare(ask), framework};
    int64_t most = ask->gpus << SUGGEST_DOUBLINGS;
    if (most > SUGGEST_MOST_GPUS) most = SUGGEST_MOST_GPUS;
    struct size_search s = {node_of(ask), most, COARSE, fits_on, &w};
    int64_t found = first_enough(&s, ask->gpus);
    if (!found || !ask_on(&w, found, false, out)) return false;
    ask->gpus = found;
    ask->gbs = w.ask.gbs;
    return true;
}

/* Full fine-tuning, then adapters, then adapters beside weights in 4 bits: the next of them that
   the framework has; false: none. */
static bool make_lighter(struct arena *a, struct ask *ask, enum framework framework)
{
    bool adapters = str_is(ask->task, "peft");
    int needs = adapters ? P_load_in_4bit : P_peft_dim;
    bool lightest = ask->called.n || !(adapters || str_is(ask->task, "sft"));
    if (lightest || !param_table[needs].in[framework]->known) return false;
    if (!adapters) {
        ask->task = STR("peft");
        return true;
    }
    *ask = with_pin(a, ask, (struct pin){P_load_in_4bit, value_bool(true)});
    ask->called = STR("qlora");
    return true;
}

bool suggest_lighter(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                     struct ask *ask, enum framework framework, struct answer *out)
{
    struct diags quiet;
    struct ask now = bare(ask);
    diags_init(&quiet, a);
    while (make_lighter(a, &now, framework)) {
        if (!ask_framework(a, scratch, &quiet, rules, &now, framework, out)) return false;
        if (!out->n || out->tight) continue;
        *ask = now;
        return true;
    }
    return false;
}

/* ---- what would divide ---- */

struct batches {
    int64_t *items;
    size_t n, cap;
};

/* The multiples of each data-parallel size that the GPUs can have, next to the batch. */
static struct batches batches_near(struct arena *a, int64_t gpus, int64_t gbs)
{
    struct batches all = {0};
    for (int64_t dp = 1; dp <= gpus; dp++) {
        if (gpus % dp) continue;
        if (gbs >= dp) *VEC_PUSH(a, &all) = gbs / dp * dp;
        *VEC_PUSH(a, &all) = (gbs / dp + 1) * dp;
    }
    return all;
}

/* The nearest to the batch that is further than `tried`, the smaller of two; 0: none. */
static int64_t nearest_beyond(const struct batches *all, int64_t gbs, int64_t tried)
{
    int64_t best = 0;
    for (size_t i = 0; i < all->n; i++) {
        int64_t one = all->items[i], far = llabs(one - gbs);
        bool beyond = far > llabs(tried - gbs) || (far == llabs(tried - gbs) && one > tried);
        bool nearer = !best || far < llabs(best - gbs) || (far == llabs(best - gbs) && one < best);
        if (beyond && nearer) best = one;
    }
    return best;
}

bool suggest_batch(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                   struct ask *ask, enum framework framework, struct answer *out)
{
    int64_t gbs = ask->gbs, tried = gbs;
    struct batches all = batches_near(a, ask->gpus, gbs);
    for (int i = 0; i < MOST_BATCHES && (tried = nearest_beyond(&all, gbs, tried)); i++) {
        struct arena_mark mark = arena_mark(a);
        struct diags quiet;
        diags_init(&quiet, a);
        ask->gbs = tried;
        if (!ask_framework(a, scratch, &quiet, rules, ask, framework, out)) return false;
        bool memory = out->searched && !out->search->last_rejection,
             every = tried % ask->gpus == 0; /* data-parallel size was looked at */
        if (out->n || (memory && every)) return out->n > 0;
        arena_pop(a, mark);
    }
    return false;
}
