/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/space.h"

#include <assert.h>

#include "facts/param_ids.h"

bool space_is_pinned(const struct search_request *r, int param)
{
    for (size_t i = 0; i < r->n_pinned; i++)
        if (r->pinned[i]->param == param) return true;
    return false;
}

bool space_is_settled(const struct search_request *r, const struct decision *d)
{
    for (const int *param = d->params; *param != P_NONE; param++)
        if (space_is_pinned(r, *param)) return true;
    return false;
}

/* Without the micro-batches that break a rule on every layout. */
static struct axis unbarred(const struct search_request *r, struct axis from)
{
    struct axis x = {0};
    for (int i = 0; i < from.n; i++)
        if (!(r->barred_batches >> from.values[i] & 1)) x.values[x.n++] = from.values[i];
    return x;
}

struct axis space_values(const struct search_request *r, const struct decision *d,
                         const struct knobs *k)
{
    struct knobs base = r->base->knobs;
    if (space_is_settled(r, d)) return axis_of(*decision_size(d, &base));
    struct axis x = d->values(r->base, k);
    return d == &decisions[DECISION_MBS] ? unbarred(r, x) : x;
}

bool space_is_switch(const struct decision *d)
{
    bool searched = false;
    for (const struct move *move = d->moves; move->name; move++)
        searched = searched || move->uses & MOVE_SEARCH;
    return searched && !d->size;
}

/* Whether the search may set a knob by a decision. */
static bool may_set(const struct decision *d, const struct knob *knob)
{
    bool sets = decision_sets(d, knob->param);
    for (const int *param = d->also; param && *param != P_NONE; param++)
        sets = sets || *param == knob->param;
    return sets && (d->values || space_is_switch(d));
}

bool space_is_fixed(const struct search_request *r, const struct knob *knob)
{
    bool open =
        knob->param == P_NONE || knob->kind == KNOB_SHARDED || knob->param == P_sequence_parallel;
    if (knob->param != P_NONE && space_is_pinned(r, knob->param)) return true;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        open = open || (may_set(d, knob) && !space_is_settled(r, d));
    return !open;
}

/* Whether knobs have what is pinned as it was before, or as it is to be. */
static bool agrees(const struct search_request *r, const struct knobs *before,
                   const struct knobs *k)
{
    for (size_t i = 0; i < r->n_pinned; i++)
        if (!knob_same(r->pinned[i], &r->base->knobs, k) && !knob_same(r->pinned[i], before, k))
            return false;
    return true;
}

/* The knobs that a decision sets, looked up once for all states that are compared, as none of most
   decisions are. */
struct fields {
    const struct knob *items[8];
    size_t n;
    bool known;
};

static void add_fields(const int *params, struct fields *out)
{
    for (; params && *params != P_NONE; params++) {
        const struct knob *knob = knob_of(*params);
        assert(out->n < sizeof out->items / sizeof *out->items);
        if (knob) out->items[out->n++] = knob;
    }
}

static void find_fields(const struct decision *d, struct fields *out)
{
    if (out->known) return;
    out->known = true;
    add_fields(d->params, out);
    add_fields(d->also, out);
}

/* Resharding that nobody states follows the pipeline: the same word is another state then. */
static bool same_state(const struct fields *fields, const struct knobs *a, const struct knobs *b)
{
    bool same = knobs_reshards(a) == knobs_reshards(b);
    for (size_t i = 0; i < fields->n && same; i++)
        same = knob_same(fields->items[i], a, b);
    return same;
}

void space_set(const struct move *state, struct config *c)
{
    if (state) state->change(c, state->argument);
}

struct states space_states(const struct search_request *r, const struct decision *d,
                           struct config *c)
{
    struct states x = {.n = 1, .items = {NULL}};
    struct knobs found[SPACE_MAX_STATES], as_is = c->knobs;
    unsigned given = move_given(c) & ~r->barred_needs;
    struct fields fields = {.n = 0, .known = false};
    found[0] = as_is;
    for (const struct move *move = d->moves; move->name && x.n < SPACE_MAX_STATES; move++) {
        if (!(move->uses & MOVE_SEARCH) || move->needs & ~given) continue;
        bool is_new = move_allowed(r->base, move) && move->change(c, move->argument) &&
                      agrees(r, &as_is, &c->knobs);
        if (is_new) find_fields(d, &fields);
        for (int i = 0; is_new && i < x.n; i++)
            is_new = !same_state(&fields, &found[i], &c->knobs);
        if (is_new) {
            found[x.n] = c->knobs;
            x.items[x.n++] = move;
        }
        c->knobs = as_is;
    }
    return x;
}
