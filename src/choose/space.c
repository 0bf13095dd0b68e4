/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/space.h"

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
        if (!(r->barred_batches & (uint32_t)from.values[i])) x.values[x.n++] = from.values[i];
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

struct axis space_dispatcher(const struct search_request *r, const struct config *c)
{
    const struct decision *d = &decisions[DECISION_DISPATCHER];
    struct axis x = {0};
    if (space_is_settled(r, d)) return axis_of(c->knobs.dispatcher);
    unsigned given = move_given(c);
    for (const struct move *move = d->moves; move->name; move++)
        if (move->uses & MOVE_SEARCH && !(move->needs & ~given)) x.values[x.n++] = move->argument;
    return x.n ? x : axis_of(c->knobs.dispatcher);
}

static void ladder_add(struct recompute_ladder *l, const struct knobs *k)
{
    l->steps[l->n++] = (struct recompute_step){k->recompute, k->recompute_method,
                                               k->recompute_num_layers, k->recompute_modules};
}

struct recompute_ladder space_recompute(const struct search_request *r)
{
    const struct decision *d = &decisions[DECISION_RECOMPUTE];
    struct recompute_ladder l = {0};
    struct config c = *r->base;
    bool settled = space_is_settled(r, d);
    if (settled) ladder_add(&l, &c.knobs);
    for (const struct move *move = d->moves; !settled && move->name; move++) {
        if (!(move->uses & MOVE_SEARCH) || move->needs & ~move_given(&c)) continue;
        move->change(&c, move->argument);
        ladder_add(&l, &c.knobs);
    }
    return l;
}

void space_set_recompute(struct knobs *k, const struct recompute_step *step)
{
    k->recompute = step->recompute;
    k->recompute_method = step->method;
    k->recompute_num_layers = step->layers;
    k->recompute_modules = step->modules;
}
