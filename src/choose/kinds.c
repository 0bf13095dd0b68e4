/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/kinds.h"

#include <math.h>
#include <string.h>

#include "base/larger.h"
#include "base/sort.h"
#include "cost/memory.h"
#include "cost/split.h"
#include "cost/time.h"
#include "facts/param_ids.h"

static const enum decision_id sides[] = {DECISION_REPLICAS, DECISION_GRADIENTS,
                                         DECISION_PARAMETER_GATHER, DECISION_OPTIMIZER_PRECISION,
                                         DECISION_RESHARDING};
static const enum decision_id offloads[] = {DECISION_OFFLOAD, DECISION_ACTIVATION_OFFLOAD};
enum { SIDES = sizeof sides / sizeof *sides, OFFLOADS = sizeof offloads / sizeof *offloads };

static bool is_among(const struct decision *d, const enum decision_id *all, size_t n)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = found || d == &decisions[all[i]];
    return found;
}

static bool is_offload(const struct decision *d)
{
    return is_among(d, offloads, OFFLOADS);
}

bool kinds_decide(const struct decision *d)
{
    return d == &decisions[DECISION_RECOMPUTE] || is_among(d, sides, SIDES) || is_offload(d);
}

/* Modules; all bits for whole layers. */
static uint32_t repeated(const struct knobs *k)
{
    return k->recompute == RECOMPUTE_FULL        ? UINT32_MAX
           : k->recompute == RECOMPUTE_SELECTIVE ? k->recompute_modules
                                                 : 0;
}

/* ---- combinations ---- */

bool combination_set(const struct combination *x, struct config *c)
{
    bool possible = true;
    for (size_t i = 0; i < KINDS_MOST_SWITCHES; i++)
        if (x->moves[i]) possible = x->moves[i]->change(c, x->moves[i]->argument) && possible;
    return possible;
}

struct combinations {
    struct combination *items;
    int n, most;
};

/* Adds every combination of the states of the switches from `at` on. */
static void combine(const struct kinds *all, const enum decision_id *switches, size_t n, size_t at,
                    struct config *c, struct combination *now, struct combinations *out)
{
    if (at == n) {
        if (out->n < out->most) out->items[out->n++] = *now;
        return;
    }
    struct knobs saved = c->knobs;
    struct states x = space_states(all->request, &decisions[switches[at]], c);
    for (int i = 0; i < x.n; i++) {
        now->moves[at] = x.items[i];
        space_set(x.items[i], c);
        combine(all, switches, n, at + 1, c, now, out);
        c->knobs = saved;
    }
    now->moves[at] = NULL;
}

static double wish_of(const struct kinds *all, const struct knobs *k)
{
    return prefer_sum(all->request->preferences, all->request->n_preferences, k);
}

/* ---- offload ---- */

/* Whether a plan of the kind may gather parameters in a format beside which the optimizer stays on
   the GPU. */
static bool may_exclude_offload(const struct kinds *all, struct config *c)
{
    const struct knobs spot = c->knobs;
    struct states x = space_states(all->request, &decisions[DECISION_PARAMETER_GATHER], c);
    bool may = false;
    for (int i = 0; i < x.n; i++) {
        space_set(x.items[i], c);
        may = may || (c->knobs.fp8_param_gather && c->knobs.precision != PREC_FP8_DELAYED);
        c->knobs = spot;
    }
    return may;
}

/* Whether what has room beside `a` has some beside `b` too. Beside an optimizer on the CPU main
   parameters are whole, which takes more than half of small moments frees; and where parameters are
   gathered in FP8 (`excluded`), the optimizer stays and plans may need less. */
static bool offloads_within(const struct knobs *a, const struct knobs *b, bool excluded)
{
    bool kept = a->optimizer_offload <= 0 && b->optimizer_offload > 0;
    return a->optimizer_offload <= b->optimizer_offload &&
           !(a->offload_modules & ~b->offload_modules) &&
           !(kept && (excluded || b->optimizer_offload < 1));
}

static void order_offloads(const struct knobs *found, bool excluded, struct kind *kind)
{
    for (int i = 0; i < kind->n_offloads; i++)
        for (int j = 0; j < kind->n_offloads; j++) {
            if (offloads_within(&found[i], &found[j], excluded)) kind->more_offload[i] |= 1u << j;
            if (offloads_within(&found[j], &found[i], excluded)) kind->less_offload[i] |= 1u << j;
        }
    for (int i = kind->n_offloads > 1; i < kind->n_offloads; i++)
        if (!(kind->more_offload[i] & ~kind->less_offload[i])) kind->leanest |= 1u << i;
}

/* FP8 gathers exclude offload: those are asked again with every side. */
static void find_offloads(const struct kinds *all, struct config *c, struct kind *kind)
{
    const bool excluded = may_exclude_offload(all, c);
    const struct knobs spot = c->knobs;
    struct combination now = {{NULL}};
    struct combinations out = {kind->offloads, 0, KINDS_MOST_OFFLOADS};
    struct knobs found[KINDS_MOST_OFFLOADS];
    c->knobs.fp8_param_gather = false;
    combine(all, offloads, OFFLOADS, 0, c, &now, &out);
    const struct knobs without = c->knobs;
    kind->n_offloads = out.n;
    for (int i = 0; i < out.n; i++) {
        combination_set(&kind->offloads[i], c);
        found[i] = c->knobs;
        c->knobs = without;
    }
    order_offloads(found, excluded, kind);
    c->knobs = spot;
}

/* ---- what makes a kind ---- */

/* Beside the bits of move_need: the ranks whose tokens are gathered, and what stands behind. */
enum { RANKS_BITS = 12 };
static const uint64_t ALONE = (uint64_t)1 << (NEED_BITS + RANKS_BITS), SHARED = ALONE << 1,
                      EXPERTS_SHARED = ALONE << 2, RESHARDS = ALONE << 3, GROUPS = ALONE << 4,
                      of_groups = ((1u << MOVE_GROUPS) - 1) * GROUPS; /* the bits of move_groups */

/* ---- what needs the least ---- */

/* Makes a spot the whole model on a rank, with sequences so long that the activations are what
   counts, or so short that the states are: on any other spot it is something between these. But
   for the loss there is no vocabulary, as ranks without the head are not at their peak there. */
static void go_to_end(enum lean_end end, bool loss, struct config *c)
{
    enum { LONG = 1 << 24 };
    struct knobs *k = &c->knobs;
    k->gpus /= k->pp;                             /* as many ranks share what is shared */
    k->reshard_after_forward = knobs_reshards(k); /* as in the pipeline */
    k->reshard_stated = true;
    k->pp = k->vpp = 1;
    k->layout = 0;
    k->seq = end == LEAN_PASSES ? LONG : 2 * k->cp * k->tp;
    if (end == LEAN_PASSES && !loss) c->model.vocab = 1;
}

/* The layers of *c, measured. */
static struct memory_work *lean_memory(struct kinds *all, const struct config *c)
{
    struct knobs key = memory_layers_key(&c->knobs);
    if (!all->known_memory) {
        all->known_memory = ARENA_ARRAY(all->arena, struct lean_memory, KINDS_KNOWN_MEMORY);
        all->coefficients = memory_coefficients_of(&c->machine);
    }
    for (int i = 0; i < KINDS_KNOWN_MEMORY; i++) {
        struct lean_memory *x = &all->known_memory[i];
        if (x->known && x->vocab == c->model.vocab && memcmp(&x->key, &key, sizeof key) == 0)
            return &x->work;
    }
    struct lean_memory *x = &all->known_memory[all->n_known++ % KINDS_KNOWN_MEMORY];
    x->known = true;
    x->vocab = c->model.vocab;
    x->key = key;
    memory_measure(c, &all->coefficients, &x->work);
    return &x->work;
}

/* Bytes of the plan with the offload set too; infinite: it cannot be. Not their upper end, as what
   is uncertain of the whole says nothing at an end. */
static double peak_with(struct kinds *all, const struct combination *offload, enum lean_end end,
                        bool loss, struct config *c)
{
    const struct knobs saved = c->knobs;
    int vocab = c->model.vocab;
    struct memory_estimate memory;
    bool possible = combination_set(offload, c);
    go_to_end(end, loss, c);
    struct memory_work *w = possible ? lean_memory(all, c) : NULL;
    possible = w && memory_divide(c, w);
    if (possible) memory_peaks(w, &memory);
    c->knobs = saved;
    c->model.vocab = vocab;
    return possible ? memory.peak : INFINITY;
}

/* ---- sides ---- */

/* A side with its time on the first spot of its kind, and its bytes on all. */
struct side {
    struct combination moves;
    double peaks[LEAN_ENDS], step_s, wish;
};

static int side_cmp(const void *left, const void *right)
{
    const struct side *a = left, *b = right;
    if (a->step_s != b->step_s) return a->step_s < b->step_s ? -1 : 1;
    double peak = a->peaks[LEAN_PASSES], other = b->peaks[LEAN_PASSES];
    return peak != other ? (peak < other ? -1 : 1) : 0;
}

/* Whether `b` is in nothing better than `a`. What replicas save depends on the layout. */
static bool is_worse(const struct side *a, const struct side *b)
{
    bool worse = a->moves.moves[0] == b->moves.moves[0];
    for (int end = 0; end < LEAN_ENDS; end++)
        worse = worse && a->peaks[end] <= b->peaks[end];
    return worse && a->step_s <= b->step_s && a->wish <= b->wish;
}

/* Times of layers of the side before, and the pass that is made of them. */
struct side_layers {
    bool any;
    struct knobs key; /* time_layers_key */
    struct time_layers layers;
    struct time_pass pass;
};

/* Seconds of a step; 0: there is none. Most sides leave the layers as they are, and the pass with
   them. */
static double side_seconds(const struct config *c, struct known_kernels *known,
                           struct side_layers *x)
{
    struct knobs key = time_layers_key(&c->knobs);
    if (!x->any || memcmp(&x->key, &key, sizeof key) != 0) {
        time_layers_init_known(c, known, &x->layers);
        x->key = key;
        x->any = time_pass_of(&x->layers, c, &x->pass);
    }
    return x->any ? time_step_of(&x->layers, c, &x->pass) : 0;
}

/* Replicas are the first of the switches. */
static int plain_of(const struct kind *kind, int side)
{
    struct combination plain = kind->sides[side];
    plain.moves[0] = NULL;
    for (int i = 0; i < kind->n_sides; i++)
        if (memcmp(&kind->sides[i], &plain, sizeof plain) == 0) return i;
    return side;
}

/* The fastest first, so that one that is better in everything stands before the other. */
static void find_sides(struct kinds *all, struct config *c, struct kind *kind)
{
    const struct knobs spot = c->knobs;
    struct side_layers layers = {.any = false};
    struct combination now = {{NULL}}, found[KINDS_MOST_SIDES];
    struct combinations out = {found, 0, KINDS_MOST_SIDES};
    struct side costs[KINDS_MOST_SIDES];
    combine(all, sides, SIDES, 0, c, &now, &out);
    kind->grad_bytes = c->knobs.grad_bytes;
    for (int i = 0; i < out.n; i++) {
        c->knobs = spot;
        combination_set(&found[i], c);
        costs[i] = (struct side){
            found[i], {0}, side_seconds(c, all->kernels, &layers), wish_of(all, &c->knobs)};
        for (int end = 0; end < LEAN_ENDS; end++)
            costs[i].peaks[end] = peak_with(all, &kind->offloads[0], (enum lean_end)end, true, c);
        if (c->knobs.grad_bytes < kind->grad_bytes) kind->grad_bytes = c->knobs.grad_bytes;
    }
    c->knobs = spot;
    sort_items(costs, (size_t)out.n, sizeof *costs, side_cmp);
    kind->n_sides = out.n;
    for (int i = 0; i < out.n; i++) {
        kind->sides[i] = costs[i].moves;
        for (int j = i + 1; j < out.n; j++)
            if (is_worse(&costs[i], &costs[j])) kind->worse[i] |= 1u << j;
    }
    for (int i = 0; i < out.n; i++)
        kind->plain[i] = plain_of(kind, i);
}

/* ---- recomputation ---- */

/* A state with what each kind of layer takes and keeps on the first spot of its kind. */
struct rung {
    const struct move *move;
    double step_s, wish, seconds[MODEL_MAX_KINDS], kept[MODEL_MAX_KINDS];
    uint32_t modules;
};

static int rung_cmp(const void *left, const void *right)
{
    const struct rung *a = left, *b = right;
    return a->step_s != b->step_s ? (a->step_s < b->step_s ? -1 : 1) : 0;
}

void kinds_save(const struct config *c, struct kinds_saved *out)
{
    struct memory_coefficients x = memory_coefficients_of(&c->machine);
    struct token_counts tokens = token_counts(c, &x);
    for (int i = 0; i < c->model.n_kinds; i++)
        op_saved(c, &tokens, c->model.kinds[i], &out->lists[i]);
}

void kinds_kept(const struct config *c, const struct kinds_saved *saved,
                double kept[MODEL_MAX_KINDS], double routed[MODEL_MAX_KINDS])
{
    for (int i = 0; i < c->model.n_kinds; i++)
        kept[i] = layer_kept(&c->knobs, &saved->lists[i], &routed[i]);
}

static void measure(struct config *c, struct known_kernels *kernels, struct plain_layers *plain,
                    const struct kinds_saved *saved, struct rung *out)
{
    struct time_layers layers;
    struct time_rates rates;
    time_layers_beside(plain, c, kernels, &layers);
    time_rates_of(&layers, c, &rates);
    double routed[MODEL_MAX_KINDS];
    kinds_kept(c, saved, out->kept, routed);
    for (int i = 0; i < c->model.n_kinds; i++) {
        out->seconds[i] = rates.kinds[i];
        out->step_s += rates.kinds[i];
    }
}

/* Whether a state adds clearly less time to every kind of layer than another, and keeps clearly
   less of it. A stage may have but one kind. */
static bool is_better(const struct rung *none, const struct rung *a, const struct rung *b, int n)
{
    static const double clearly = 0.97;
    bool better = a->wish <= b->wish;
    for (int i = 0; i < n; i++) {
        double added = a->seconds[i] - none->seconds[i], freed = none->kept[i] - a->kept[i];
        better = better && added <= clearly * (b->seconds[i] - none->seconds[i]) &&
                 clearly * freed >= none->kept[i] - b->kept[i];
    }
    return better;
}

static bool is_dominated(const struct rung *all, int n, int at, int n_kinds)
{
    bool found = false;
    for (int i = 1; i < n; i++)
        found = found || (i != at && is_better(&all[0], &all[i], &all[at], n_kinds));
    return found;
}

static bool is_fuller_part(const struct rung *a, const struct rung *b)
{
    static const uint32_t whole = UINT32_MAX;
    return a->modules != whole && (b->modules == whole || a->modules >= b->modules);
}

static void take_rungs(const struct rung *rungs, int n, struct kind *kind)
{
    kind->n_recompute = n;
    for (int i = 0; i < n; i++) {
        kind->recompute[i] = rungs[i].move;
        if (rungs[i].modules >= rungs[kind->fullest].modules) kind->fullest = i;
        if (is_fuller_part(&rungs[i], &rungs[kind->part])) kind->part = i;
        for (int j = 0; j < n; j++) {
            bool more = !(rungs[i].modules & ~rungs[j].modules);
            kind->needless[i] |= (uint64_t)(more && rungs[i].wish <= rungs[j].wish) << j;
        }
    }
}

static void find_recompute(const struct kinds *all, struct config *c, struct kind *kind)
{
    const struct knobs spot = c->knobs;
    struct rung rungs[SPACE_MAX_STATES];
    bool keep[SPACE_MAX_STATES];
    struct kinds_saved saved;
    struct states x = space_states(all->request, &decisions[DECISION_RECOMPUTE], c);
    struct plain_layers plain = {.key.tp = 0};
    kinds_save(c, &saved);
    for (int i = 0; i < x.n; i++) {
        c->knobs = spot;
        space_set(x.items[i], c);
        rungs[i] = (struct rung){
            .move = x.items[i], .wish = wish_of(all, &c->knobs), .modules = repeated(&c->knobs)};
        measure(c, all->kernels, &plain, &saved, &rungs[i]);
    }
    c->knobs = spot;
    sort_items(rungs, (size_t)x.n, sizeof *rungs, rung_cmp);
    int n = 0;
    for (int i = 0; i < x.n; i++)
        keep[i] = all->request->exhaustive || !is_dominated(rungs, x.n, i, c->model.n_kinds);
    for (int i = 0; i < x.n; i++)
        if (keep[i]) rungs[n++] = rungs[i];
    take_rungs(rungs, n, kind);
}

/* ---- the leanest ---- */

/* Takes the state of one switch that needs the least memory; of the states' formats one that needs
   no more than none, as beside it narrow gradients need no copies. *peak: of *c as it is but for
   the loss, 0: not known yet; then of *c as it became. */
static void lean_switch(struct kinds *all, enum decision_id id, enum lean_end end,
                        const struct combination *offload, struct config *c, double *peak,
                        const struct move **states)
{
    struct states x = space_states(all->request, &decisions[id], c);
    struct knobs best = c->knobs, before = best;
    bool loss = id == DECISION_LOSS, ties = id == DECISION_OPTIMIZER_PRECISION;
    double least = *peak;
    if (x.n == 1) return;
    if (loss || least == 0) least = peak_with(all, offload, end, loss, c);
    for (int i = 1; i < x.n; i++) {
        c->knobs = before;
        space_set(x.items[i], c);
        double one = peak_with(all, offload, end, loss, c);
        if (ties ? !(one <= least) : !(one < least)) continue;
        least = one;
        best = c->knobs;
        states[id] = x.items[i];
    }
    c->knobs = best;
    *peak = loss ? 0 : least;
}

/* Switch by switch, the parameters in the format that *c has; the states' formats first, on which
   it depends what gradients need. */
static void find_lean(struct kinds *all, enum lean_end end, const struct combination *offload,
                      struct config *c, const struct move **states)
{
    double peak = 0;
    lean_switch(all, DECISION_OPTIMIZER_PRECISION, end, offload, c, &peak, states);
    for (int id = 0; id < DECISIONS; id++)
        if (space_is_switch(&decisions[id]) && !is_offload(&decisions[id]) &&
            id != DECISION_PARAMETER_GATHER && id != DECISION_RECOMPUTE &&
            id != DECISION_OPTIMIZER_PRECISION)
            lean_switch(all, (enum decision_id)id, end, offload, c, &peak, states);
}

/* On the parameters' format it depends whether the offload can be, and what the others save: FP8
   needs a whole main parameter, bf16 the 16 bits that it leaves of one. On a spot whose ranks share
   other parts of the parameters either may need less; the step, where states count most, says so.
 */
static void find_end(struct kinds *all, struct config *c, enum lean_end end,
                     const struct combination *offload, struct lean *lean)
{
    static const double hardly = 1.05;
    const struct knobs spot = c->knobs;
    const struct move **best = lean->states[end], **rival = lean->states[LEAN_ENDS + end];
    struct states formats = space_states(all->request, &decisions[DECISION_PARAMETER_GATHER], c);
    find_lean(all, end, offload, c, best);
    double one = formats.n > 1 ? peak_with(all, offload, end, false, c) : 0;
    c->knobs = spot;
    if (formats.n == 1) return;
    rival[DECISION_PARAMETER_GATHER] = formats.items[1];
    space_set(formats.items[1], c);
    find_lean(all, end, offload, c, rival);
    double ratio = peak_with(all, offload, end, false, c) / one;
    c->knobs = spot;
    for (int id = 0; id < DECISIONS && ratio < 1; id++) {
        const struct move *x = best[id];
        best[id] = rival[id];
        rival[id] = x;
    }
    lean->has_rivals = larger(ratio, 1 / ratio) <= hardly;
}

/* What is beside the states' formats counts among activations: as at the end of the passes. */
static void take_passes(struct lean *lean)
{
    for (int id = 0; id < DECISIONS; id++)
        for (int i = 0; i < LEANS && !is_among(&decisions[id], sides, SIDES); i++)
            lean->states[i][id] = lean->states[LEAN_PASSES][id];
}

/* The end of the passes. Whether there are rivals is for the other end to say, which most pipelines
   never ask for. */
static struct lean *find_leans(struct kinds *all, struct config *c,
                               const struct combination *offload)
{
    struct lean *lean = ARENA_NEW(all->arena, struct lean);
    lean->has_formats = space_states(all->request, &decisions[DECISION_PARAMETER_GATHER], c).n > 1;
    find_end(all, c, LEAN_PASSES, offload, lean);
    return lean;
}

static void find_step(struct kinds *all, struct config *c, const struct combination *offload,
                      struct lean *lean)
{
    if (lean->has_step) return;
    lean->has_step = true;
    find_end(all, c, LEAN_STEP, offload, lean);
    take_passes(lean);
    lean->same = true;
    for (int i = 0; i < LEANS; i += LEAN_ENDS)
        lean->same = lean->same && !memcmp(lean->states[i + LEAN_STEP],
                                           lean->states[i + LEAN_PASSES], sizeof *lean->states);
}

/* Groups of ranks that hold the same shards free no memory: what is leanest without them is so
   where there can be some. NULL: it is not known of such a kind. */
static struct lean *lean_of_others(const struct kinds *all, const struct kind *kind, int offload,
                                   bool whole)
{
    for (size_t i = 0; i < all->items.n; i++) {
        const struct kind *other = &all->items.items[i];
        struct lean *lean = other->leans[offload][whole];
        if (lean && !((other->given ^ kind->given) & ~of_groups)) return lean;
    }
    return NULL;
}

bool kinds_make_lean(struct kinds *all, size_t kind, int offload, int recompute, int end,
                     struct config *c)
{
    struct kind *k = &all->items.items[kind];
    space_set(k->recompute[recompute], c);
    bool whole = c->knobs.recompute == RECOMPUTE_FULL;
    struct lean **known = &k->leans[offload][whole];
    if (!*known) *known = lean_of_others(all, k, offload, whole);
    if (!*known) *known = find_leans(all, c, &k->offloads[offload]);
    struct lean *lean = *known;
    if (end >= LEAN_ENDS && !lean->has_formats) return false;
    if (end != LEAN_PASSES) find_step(all, c, &k->offloads[offload], lean);
    if (end % LEAN_ENDS == LEAN_STEP && lean->same) return false;
    if (end >= LEAN_ENDS && !lean->has_rivals) return false;
    for (int id = 0; id < DECISIONS; id++)
        space_set(lean->states[end][id], c);
    return combination_set(&k->offloads[offload], c);
}

/* ---- the whole ---- */

/* How keys are exchanged makes no module cheaper to repeat. */
static const uint64_t of_recompute = (((uint64_t)1 << NEED_BITS) - 1) & ~(uint64_t)NEED_CP;

/* What replicas and formats of what ranks exchange are worth depends on whether there are any, and
   whether there can be groups of them on how they divide; whether parameters can be gathered anew,
   on whether they are anyway, as without a pipeline; what a dispatcher holds that gathers the
   tokens of all ranks, on how many they are; what gradients need between microbatches, on whether
   there is more than one. */
static uint64_t rank_bits(const struct config *c)
{
    const struct knobs *k = &c->knobs;
    uint64_t gathered = k->dispatcher == DISPATCH_TORCH ? (uint64_t)k->ep % (1u << RANKS_BITS) : 0;
    bool reshards = k->fsdp == FSDP_FSDP2 && knobs_reshards(k);
    return (knobs_dp(k) * k->cp > 1 ? SHARED : 0) | (knobs_edp(k) > 1 ? EXPERTS_SHARED : 0) |
           (knobs_microbatches(k) == 1 ? ALONE : 0) | (reshards ? RESHARDS : 0) |
           gathered << NEED_BITS | move_groups(c) * GROUPS;
}

/* The same states in the same order as in another kind, on whose spots the same moves are possible:
   what is known of a group's variants holds for all its spots. */
static bool take_recompute(const struct kinds *all, struct kind *kind)
{
    for (const struct kind *k = all->items.items; k < kind; k++) {
        if ((k->given ^ kind->given) & of_recompute) continue;
        memcpy(kind->recompute, k->recompute, sizeof k->recompute);
        memcpy(kind->needless, k->needless, sizeof k->needless);
        kind->n_recompute = k->n_recompute;
        kind->fullest = k->fullest;
        kind->part = k->part;
        return true;
    }
    return false;
}

static void find_kind(struct kinds *all, uint64_t given, struct config *c)
{
    struct kind *kind = VEC_PUSH(all->arena, &all->items);
    *kind = (struct kind){.given = given};
    find_offloads(all, c, kind);
    find_sides(all, c, kind);
    if (!take_recompute(all, kind)) find_recompute(all, c, kind);
}

size_t kinds_of(struct kinds *all, struct config *spot)
{
    uint64_t given = move_given(spot) | rank_bits(spot);
    for (size_t i = 0; i < all->items.n; i++)
        if (all->items.items[i].given == given) return i;
    struct layout layout;
    struct knobs knobs = spot->knobs;
    const struct layout *layouts = spot->layouts;
    int n_layouts = spot->n_layouts;
    split_plan(spot, &layout);
    find_kind(all, given, spot);
    spot->knobs = knobs;
    spot->layouts = layouts;
    spot->n_layouts = n_layouts;
    return all->items.n - 1;
}
