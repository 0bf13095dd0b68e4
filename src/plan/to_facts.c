/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's knobs as facts: the inverse of config_from_facts. */
#include "base/buf.h"
#include "facts/param_ids.h"
#include "plan/framework.h"
#include "plan/knob.h"

/* Kept is also the assumed size of the work, which no plan decides. */
void knob_put(const struct knob_saying *s, int param, struct value v)
{
    const struct fact *x = facts_get(s->facts, param);
    bool asked = x->origin == ORIGIN_ASSUMED && param_table[param].affects == AFFECTS_CONVERGENCE;
    bool stays = fact_is_set(x) || (asked && value_eq(x->value, v));
    if (!s->keep || !stays) facts_set(s->facts, param, v, ORIGIN_OPTION, NULL, STR(""));
}

static void add_chunk(const struct layout *layout, int i, struct buf *out)
{
    if (layout->embedding[i]) buf_add_char(out, 'E');
    if (layout->decoders[i] > 3)
        buf_printf(out, "t*%d", layout->decoders[i]);
    else
        buf_add_n(out, 't', layout->decoders[i]);
    buf_add_n(out, 'm', layout->mtp[i]);
    if (layout->loss[i]) buf_add_char(out, 'L');
}

/* Chunks from i on that are written alike. */
static int run_of(const struct layout *l, int i)
{
    int n = 1;
    bool plain = !l->embedding[i] && !l->loss[i] && !l->mtp[i];
    while (plain && i + n < l->n_chunks && l->decoders[i + n] == l->decoders[i] &&
           !l->loss[i + n] && !l->mtp[i + n])
        n++;
    return n;
}

struct str layout_text(struct arena *a, const struct layout *layout)
{
    struct buf b = buf_new(a);
    for (int i = 0, run; i < layout->n_chunks; i += run) {
        run = run_of(layout, i);
        bool repeat = run > 2 && i + run < layout->n_chunks;
        if (!repeat) run = 1;
        if (repeat) buf_add_char(&b, '(');
        add_chunk(layout, i, &b);
        if (i + run < layout->n_chunks) buf_add_char(&b, '|');
        if (repeat) buf_printf(&b, ")*%d", run);
    }
    return buf_str(&b);
}

void config_to_facts(const struct config *c, struct facts *f)
{
    struct knob_saying s = {f, true};
    for (size_t i = 0; i < knob_field_count; i++)
        if (i < knob_count || knob_table[i].say) knob_say(&s, c, &knob_table[i]);
}

/* A batch that nobody states is one microbatch a rank: of other ranks another. */
static bool batch_follows(const struct facts *f, const struct knobs *from, const struct knobs *to)
{
    enum fact_origin origin = facts_get(f, P_global_batch_size)->origin;
    return knobs_dp(from) != knobs_dp(to) && (origin <= ORIGIN_DEFAULT || origin == ORIGIN_DERIVED);
}

/* Experts of which nobody says how they are split are split like the dense weights. */
static bool experts_follow(const struct config *c, const struct facts *f, int old_tp)
{
    const struct fact *etp = facts_get(f, P_expert_tensor_parallel_size);
    return c->model.experts > 0 && config_traits(c)->experts_follow_tensor &&
           c->knobs.tp != old_tp && !fact_is_set(etp);
}

void knobs_say_changes(const struct config *from, const struct knobs *to, struct facts *f)
{
    struct knob_saying s = {f, false};
    struct config c = *from;
    c.knobs = *to;
    for (size_t i = 0; i < knob_field_count; i++)
        if (!knob_same(&knob_table[i], &from->knobs, to)) knob_say(&s, &c, &knob_table[i]);
    if (batch_follows(f, &from->knobs, to)) knob_put(&s, P_global_batch_size, value_int(to->gbs));
    if (experts_follow(&c, f, from->knobs.tp))
        knob_put(&s, P_expert_tensor_parallel_size, value_int(to->etp));
    if (knobs_local_batch(to) != knobs_local_batch(&from->knobs)) knob_say_local_batch(&s, &c);
    facts_derive(f);
}
