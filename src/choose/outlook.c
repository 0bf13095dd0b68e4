/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/outlook.h"

#include "base/units.h"
#include "facts/param_ids.h"
#include "plan/move.h"

static void set(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_DERIVED, NULL, STR("the estimate"));
}

/* Whether the plan with a move fits for certain, and its memory. */
static bool fits_with(const struct config *c, const struct decision *d, const struct move *move,
                      struct memory_estimate *m)
{
    struct config other = *c;
    return move_take(d, move, &other) && knobs_divide(&other.knobs) &&
           memory_estimate(&other, m, NULL) && m->fits == FITS_YES;
}

static void set_fits_with(struct facts *f, const struct config *c)
{
    struct memory_estimate m;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        for (const struct move *move = d->moves; move->name; move++)
            if (move->uses & MOVE_OUTLOOK)
                set(f, move->outlook, value_bool(fits_with(c, d, move, &m)));
}

/* AutoModel's offload is not estimated, so that the estimate is the one without. */
static void set_offload_policy(struct facts *f, bool fits)
{
    if (facts_get(f, P_offload_policy)->value.kind == VALUE_MAP)
        set(f, P_fits_without_offload, value_bool(fits));
}

/* ---- what the optimizer's sharding is worth ---- */

/* Where a plan file is silent, states are estimated sharded and its framework shards none: what the
   word would save. */
static double gain_of_silence(const struct facts *f, const struct config *c, double peak)
{
    struct memory_estimate m;
    struct config whole = *c;
    if (!c->knobs.distributed_optimizer || facts_bool(f, P_use_distributed_optimizer, true))
        return 0;
    whole.knobs.distributed_optimizer = false;
    return memory_estimate(&whole, &m, NULL) ? (m.peak - peak) / GIB : 0;
}

static void set_sharding_gain(struct facts *f, const struct config *c, double peak)
{
    const struct decision *d = &decisions[DECISION_OPTIMIZER_SHARDING];
    struct memory_estimate m;
    struct config other = *c;
    bool sharded = move_take(d, d->moves, &other) && memory_estimate(&other, &m, NULL);
    double gain = sharded ? (peak - m.peak) / GIB : gain_of_silence(f, c, peak);
    set(f, P_zero1_saves_gib, value_double(gain));
}

/* ---- where the time goes ---- */

static void set_times(struct facts *f, const struct config *c)
{
    struct time_estimate t;
    if (!time_estimate(c, &t, NULL) || !(t.step > 0)) return;
    double exposed = t.ep_exposed + t.tp_exposed + t.cp_exposed + t.pp_exposed + t.dp_exposed;
    set(f, P_exposed_communication, value_double(exposed / t.step));
    set(f, P_exposed_expert_communication, value_double(t.ep_exposed / t.step));
    set(f, P_exposed_pipeline_communication, value_double(t.pp_exposed / t.step));
    set(f, P_host_share, value_double(t.host / t.step));
    set(f, P_estimated_mfu, value_double(t.mfu));
}

static bool set_all(struct facts *f, const struct config *c, struct memory_estimate *m)
{
    if (!c->machine_known || !memory_estimate(c, m, NULL)) return false;
    memory_allow_open(c, m);
    set(f, P_fits, value_string(str_of(memory_fits((int)m->fits))));
    set(f, P_peak_memory_gib, value_double(m->peak / GIB));
    set_fits_with(f, c);
    set_offload_policy(f, m->fits == FITS_YES);
    set_sharding_gain(f, c, m->peak);
    set_times(f, c);
    return true;
}

void outlook_mark(bool *params)
{
    static const int own[] = {P_fits,
                              P_peak_memory_gib,
                              P_fits_without_offload,
                              P_zero1_saves_gib,
                              P_exposed_communication,
                              P_exposed_expert_communication,
                              P_exposed_pipeline_communication,
                              P_host_share,
                              P_estimated_mfu};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        params[own[i]] = true;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        for (const struct move *move = d->moves; move->name; move++)
            if (move->uses & MOVE_OUTLOOK) params[move->outlook] = true;
}

void outlook_of(struct facts *f, const struct config *c)
{
    struct memory_estimate m;
    set_all(f, c, &m);
}

/* The configuration that the facts mean, with what nobody states assumed. */
static bool whole_config(const struct rule_set *rules, const struct facts *f, struct config *out,
                         struct arena *scratch)
{
    struct arena_mark mark = arena_mark(f->arena);
    struct diags unheard;
    diags_init(&unheard, f->arena);
    struct facts *whole = facts_copy(f->arena, f);
    whole->diags = &unheard;
    rules_assume(rules, whole, scratch);
    bool good = config_from_facts(scratch, whole, out);
    arena_pop(f->arena, mark);
    return good;
}

bool outlook_facts(const struct rule_set *rules, struct facts *f, struct memory_estimate *memory,
                   struct arena *scratch)
{
    if (!f->platform || !config_is_decided(f)) return false;
    struct arena_mark mark = arena_mark(scratch);
    struct config *c = ARENA_NEW(scratch, struct config);
    bool estimated = whole_config(rules, f, c, scratch) && set_all(f, c, memory);
    arena_pop(scratch, mark);
    return estimated;
}
