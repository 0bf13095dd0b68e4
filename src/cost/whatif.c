/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/whatif.h"

#include "plan/move.h"

static bool cheaper(const struct memory_change *a, const struct memory_change *b)
{
    if (a->fits != b->fits) return a->fits < b->fits;
    if (a->slower != b->slower) return a->slower < b->slower;
    return a->freed > b->freed;
}

/* Keeps the list in order and at its length. */
static int insert(struct memory_change out[WHATIF_CHANGES], int n, const struct memory_change *one)
{
    int at = n;
    while (at > 0 && cheaper(one, &out[at - 1]))
        at--;
    if (at == WHATIF_CHANGES) return n;
    if (n < WHATIF_CHANGES) n++;
    for (int i = n - 1; i > at; i--)
        out[i] = out[i - 1];
    out[at] = *one;
    return n;
}

/* The plan with a move; false when that is none. A split is for the stages it was made for. */
static bool take(const struct config *c, const struct decision *d, const struct move *move,
                 struct config *next)
{
    struct knobs *k = &next->knobs;
    if (!(move->uses & MOVE_RELIEF)) return false;
    *next = *c;
    if (!move_take(d, move, next)) return false;
    if (k->pp != c->knobs.pp) k->layout = k->first_stage_layers = k->last_stage_layers = 0;
    return knobs_divide(k) && k->pp <= c->model.num_layers;
}

int memory_cheapest_changes(const struct config *c, memory_change_filter *allow, void *context,
                            struct memory_change out[WHATIF_CHANGES])
{
    struct memory_estimate memory;
    struct time_estimate time;
    if (!memory_estimate(c, &memory, NULL) || memory.fits == FITS_YES) return 0;
    if (!time_estimate(c, &time, NULL)) return 0;
    double peak = memory.peak, step = time.step;
    int n = 0;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        for (const struct move *move = d->moves; move->name; move++) {
            struct config next;
            if (!take(c, d, move, &next) || (allow && !allow(&next, context))) continue;
            if (!memory_estimate(&next, &memory, NULL) || !time_estimate(&next, &time, NULL))
                continue;
            if (memory.fits == FITS_NO || memory.peak >= peak) continue;
            struct memory_change one = {.knobs = next.knobs,
                                        .peak = memory.peak,
                                        .freed = peak - memory.peak,
                                        .slower = time.step / step,
                                        .fits = (int)memory.fits};
            n = insert(out, n, &one);
        }
    return n;
}
