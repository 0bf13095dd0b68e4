/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of GPUs and batches beside the one that was asked for: the fewest that are enough, the
   nearest that divides. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "facts/param_ids.h"
#include "flow/suggest.h"

enum {
    EVERY_NODE = 64,   /* nodes up to which each number of them is looked at */
    MOST_BATCHES = 32, /* batches that are tried */
};

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
static int64_t after(int64_t node, int64_t n)
{
    int64_t steps = n / (EVERY_NODE * node);
    return n < node ? whole(node, n + 1) : n + node * (steps > 1 ? steps : 1);
}

/* Sizes are tried by it; true: a plan surely fits. */
typedef bool size_trial(void *context, int64_t gpus);

/* The first size above `fails` that is enough, at most `most`; 0: none. Doublings first: memory
   falls with the GPUs but for what does not divide. */
static int64_t first_enough(int64_t node, int64_t fails, int64_t most, size_trial *trial,
                            void *context)
{
    int64_t end = whole(node, fails ? 2 * fails : 1);
    while (end <= most && !trial(context, end)) {
        fails = end;
        end = whole(node, 2 * end);
    }
    bool found = end <= most;
    if (!found) end = most + 1;
    for (int64_t n = after(node, fails); n < end; n = after(node, n))
        if (trial(context, n)) return n;
    return found ? end : 0;
}

/* ---- the fewest ---- */

struct fewest {
    struct arena *arena, *scratch;
    const struct rule_set *rules;
    struct ask ask;
    double least;    /* bytes that the nearest miss needs */
    int64_t nearest; /* its GPUs */
};

/* Bytes that the plan shown, or the least that was looked at, may need. */
static double need(const struct answer *answer)
{
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
        found = found || (one->n && !one->tight);
        if (need(one) >= w->least) continue;
        w->least = need(one);
        w->nearest = gpus;
    }
    arena_pop(w->arena, mark);
    return found;
}

static bool is_pinned(const struct ask *ask, int param)
{
    for (size_t i = 0; i < ask->pins.n; i++)
        if (ask->pins.items[i].param == param) return true;
    return false;
}

/* The same question with the optimizer's place settled, to the frameworks that have the choice. */
static struct ask with_optimizer(struct arena *a, const struct ask *ask, bool on_cpu)
{
    struct ask now = *ask;
    now.pins.items = NULL;
    now.pins.n = now.pins.cap = 0;
    for (size_t i = 0; i < ask->pins.n; i++)
        *VEC_PUSH(a, &now.pins) = ask->pins.items[i];
    *VEC_PUSH(a, &now.pins) = (struct pin){P_optimizer_cpu_offload, value_bool(on_cpu)};
    for (int f = 0; on_cpu && f < FRAMEWORK_COUNT; f++)
        now.in[f] = now.in[f] && param_table[P_optimizer_cpu_offload].in[f].known;
    return now;
}

static int64_t fewest_of(struct fewest *w, const struct ask *ask, int64_t most)
{
    w->ask = *ask;
    return first_enough(node_of(ask), 0, most, is_enough, w);
}

static const char on_cpu[] = "with the optimizer on the CPU (--pin optimizer_cpu_offload=true)";

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
                                           gpus, fewer, on_cpu);
        return;
    }
    *ask = off_gpu;
    ask->gpus = fewer;
    *VEC_PUSH(a, notes) =
        arena_printf(a, "no number up to %" PRId64 " is enough without offload, %" PRId64 " are %s",
                     most, fewer, on_cpu);
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
    struct ask *ask;
    enum framework framework;
    struct answer *out;
};

/* The same question for more GPUs, with a batch that was assumed assumed anew. */
static bool fits_on(void *context, int64_t gpus)
{
    const struct larger *w = context;
    struct arena_mark mark = arena_mark(w->arena);
    struct diags quiet;
    diags_init(&quiet, w->arena);
    w->ask->gpus = gpus;
    if (w->ask->gbs_assumed) w->ask->gbs = 0;
    ask_complete(w->ask);
    bool answered =
        ask_framework(w->arena, w->scratch, &quiet, w->rules, w->ask, w->framework, w->out);
    bool fits = answered && w->out->n && !w->out->tight;
    if (!fits) arena_pop(w->arena, mark);
    return fits;
}

bool suggest_larger(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                    struct ask *ask, enum framework framework, struct answer *out)
{
    struct larger w = {a, scratch, rules, ask, framework, out};
    int64_t gpus = ask->gpus, most = gpus << SUGGEST_DOUBLINGS;
    int64_t found = first_enough(node_of(ask), gpus, most, fits_on, &w);
    return found && (ask->gpus == found || fits_on(&w, found));
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
        bool memory = out->searched && !out->search->rejected; /* which no batch mends */
        if (out->n || memory) return out->n > 0;
        arena_pop(a, mark);
    }
    return false;
}
