/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/outlook.h"

#include "base/units.h"
#include "facts/param_ids.h"

static void set(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_DERIVED, NULL, STR("the estimate"));
}

/* ---- one decision taken back ---- */

/* Changes the knobs; false when the decision was not taken. */
typedef bool undo(struct knobs *k, const struct model_shape *m);

static bool without_recompute(struct knobs *k, const struct model_shape *m)
{
    (void)m;
    bool taken = k->recompute != RECOMPUTE_NONE;
    k->recompute = RECOMPUTE_NONE;
    k->recompute_modules = 0;
    return taken;
}

/* All modules that selective recomputation has for the model, in place of whole layers. */
static bool with_selective(struct knobs *k, const struct model_shape *m)
{
    bool automodel = k->fsdp == FSDP_FSDP2 || k->fsdp == FSDP_DDP; /* knows no modules */
    bool taken = k->recompute == RECOMPUTE_FULL && !automodel;
    k->recompute = RECOMPUTE_SELECTIVE;
    k->recompute_modules =
        MOD_LAYERNORM | MOD_CORE_ATTN | (model_has_ffn(m, FFN_DENSE) ? MOD_MLP : 0) |
        (m->experts ? MOD_MOE_ACT : 0) | (m->shared_ffn ? MOD_SHARED_EXPERTS : 0) |
        (m->mla ? MOD_MLA_UP_PROJ : 0);
    return taken;
}

static bool without_offload(struct knobs *k, const struct model_shape *m)
{
    (void)m;
    bool taken = k->optimizer_offload > 0 || k->layers_offloaded > 0 || k->offload_modules ||
                 k->offload_optimizer_states;
    k->optimizer_offload = 0;
    k->layers_offloaded = 0;
    k->offload_modules = 0;
    k->offload_optimizer_states = false;
    return taken;
}

static bool smaller_tp(struct knobs *k, const struct model_shape *m)
{
    (void)m;
    bool taken = k->tp > 1 && k->tp % 2 == 0;
    if (taken) k->tp /= 2;
    if (k->etp > k->tp) k->etp = k->tp;
    k->sequence_parallel = k->tp > 1;
    return taken;
}

static bool experts_only(struct knobs *k, const struct model_shape *m)
{
    bool taken = k->etp > 1 && m->experts % (k->ep * k->etp) == 0;
    if (!taken) return false;
    k->ep *= k->etp;
    k->etp = 1;
    return true;
}

static bool resharding(struct knobs *k, const struct model_shape *m)
{
    (void)m;
    bool taken = k->fsdp == FSDP_FSDP2 && k->reshard_stated && !k->reshard_after_forward;
    k->reshard_after_forward = k->reshard_stated = true;
    return taken;
}

static const struct {
    int param;
    undo *apply;
} undoings[] = {
    {P_fits_without_recompute, without_recompute}, {P_fits_with_selective, with_selective},
    {P_fits_without_offload, without_offload},     {P_fits_with_smaller_tp, smaller_tp},
    {P_fits_with_ep_only, experts_only},           {P_fits_with_resharding, resharding},
};

static void set_undoings(struct facts *f, const struct config *c)
{
    struct memory_estimate m;
    for (size_t i = 0; i < sizeof undoings / sizeof *undoings; i++) {
        struct config other = *c;
        bool fits = undoings[i].apply(&other.knobs, &other.model) && knobs_divide(&other.knobs) &&
                    memory_estimate(&other, &m, NULL) && m.fits == FITS_YES;
        set(f, undoings[i].param, value_bool(fits));
    }
}

/* AutoModel's offload is not estimated, so that the estimate is the one without. */
static void set_offload_policy(struct facts *f, bool fits)
{
    if (facts_get(f, P_offload_policy)->value.kind == VALUE_MAP)
        set(f, P_fits_without_offload, value_bool(fits));
}

/* ---- what the optimizer's sharding is worth ---- */

static void set_sharding_gain(struct facts *f, const struct config *c, double peak)
{
    struct memory_estimate m;
    struct config other = *c;
    double saved = 0;
    other.knobs.distributed_optimizer = true;
    if (!c->knobs.distributed_optimizer && c->knobs.fsdp == FSDP_NONE &&
        memory_estimate(&other, &m, NULL))
        saved = (peak - m.peak) / GIB;
    set(f, P_zero1_saves_gib, value_double(saved));
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
    static const char *const words[] = {"yes", "tight", "no"};
    set(f, P_fits, value_string(str_of(words[m->fits])));
    set(f, P_peak_memory_gib, value_double(m->peak / GIB));
    set_undoings(f, c);
    set_offload_policy(f, m->fits == FITS_YES);
    set_sharding_gain(f, c, m->peak);
    set_times(f, c);
    return true;
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
