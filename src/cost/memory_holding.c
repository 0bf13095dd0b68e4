/* SPDX-License-Identifier: Apache-2.0 */
/* What one pipeline stage holds: parameters of one rank, counted from its layers. */
#include "base/larger.h"
#include "cost/memory_stage.h"
#include "plan/ops.h"
#include "plan/peft.h"

static void hold_layer(struct holding *s, const struct layer_memory *l, double count)
{
    s->dense += l->dense * count;
    s->experts += l->experts * count;
    s->matrices += l->dense_matrices * count;
    s->expert_matrices += l->expert_matrices * count;
    s->quantised += l->quantised * count;
}

static void hold_units(struct holding *s, const struct layer_memory *l)
{
    s->unit_dense = larger(s->unit_dense, l->dense);
    s->unit_experts = larger(s->unit_experts, l->experts);
}

/* Layers of each kind on the stage, and what else stands there. */
static void hold_chunks(const struct memory_work *w, int counts[MODEL_MAX_KINDS], struct holding *s)
{
    const struct chunk *chunk = stage_chunks(w, s->stage);
    int n_kinds = w->c->model.n_kinds, pp = w->c->knobs.pp, last_kind = -1;
    for (int i = 0; i < n_kinds; i++)
        counts[i] = 0;
    for (int v = 0; v < w->c->knobs.vpp; v++, chunk += pp) {
        for (int i = 0; i < n_kinds; i++)
            counts[i] += chunk->counts[i];
        s->first = s->first || chunk->embedding;
        s->last = s->last || chunk->loss;
        s->n_mtp += chunk->mtp;
        if (chunk->last_kind >= 0) last_kind = chunk->last_kind;
    }
    if (last_kind >= 0) s->last_layer = &w->kinds[last_kind];
}

/* The embedding on the first stage and the head on the last; tied, they are one weight where one
   stage has both, and two copies where not. MTP has a copy of the embedding where the embedding
   stands elsewhere. */
static void hold_embeddings(const struct memory_work *w, struct holding *s)
{
    const struct model_shape *m = &w->c->model;
    int own = (s->first ? 1 : 0) + (s->last && !m->tied ? 1 : 0), copies = 0;
    if (s->last && m->tied && !s->first) copies++;
    if (s->n_mtp > 0 && !s->first) copies++;
    s->root = (own + (s->last && m->tied ? 1 : 0)) * w->embedding;
    s->copies = copies * w->embedding;
    s->dense += own * w->embedding + s->copies;
    if (s->first) {
        s->dense += (double)m->learned_positions * m->hidden + w->vision;
        s->vision = w->vision;
    }
    if (s->last && head_is_low(w->c)) s->quantised += w->embedding;
    if (s->last) s->dense += m->layernorm ? 2.0 * m->hidden : m->hidden;
}

/* Fused weight-gradient accumulation returns a cached dummy, one for each distinct weight shape on
   the rank (transformer_engine/pytorch/module/base.py: get_dummy_wgrad). */
static void hold_dummies(const struct memory_work *w, const int counts[MODEL_MAX_KINDS],
                         struct holding *s)
{
    uint32_t kinds = 0;
    double elements = 0;
    for (int i = 0; i < w->c->model.n_kinds; i++)
        kinds |= (uint32_t)(counts[i] > 0) << i;
    for (int i = 0; i < w->n_shapes; i++)
        if (w->shapes[i].kinds & kinds) elements += w->shapes[i].elements;
    s->dummies = 2 * w->x.dummy_wgrads.value * elements;
}

static void hold_adapters(const struct memory_work *w, const int counts[MODEL_MAX_KINDS],
                          struct holding *s)
{
    if (w->c->knobs.task != TASK_PEFT) return;
    struct matrix head = head_linear(w->c);
    for (int i = 0; i < w->c->model.n_kinds; i++) {
        double dense, experts;
        layer_adapters(w->c, w->kinds[i].kind, &dense, &experts);
        s->adapters += counts[i] * dense;
        s->expert_adapters += counts[i] * experts;
    }
    if (s->last) s->adapters += adapter_on_rank(w->c, &head);
}

static void hold_packed(const struct memory_work *w, const int counts[MODEL_MAX_KINDS],
                        struct holding *s)
{
    if (!knobs_packs(&w->c->knobs)) return;
    for (int i = 0; i < w->c->model.n_kinds; i++) {
        double one = counts[i] > 0 ? layer_packed(w->c, w->kinds[i].kind) : 0;
        s->packed += counts[i] * one;
        s->unit_packed = larger(s->unit_packed, one);
    }
}

static void hold_trained(const struct memory_work *w, struct holding *s)
{
    bool language = knobs_trains_language(&w->c->knobs);
    s->trained = s->adapters + (language ? s->dense - s->vision : 0) +
                 (s->vision > 0 ? (double)vision_trained_params(w->c) : 0);
    s->trained_experts = s->expert_adapters + (language ? s->experts : 0);
}

struct holding holding_of_layer(const struct memory_work *w, int kind)
{
    struct holding s = {0};
    int counts[MODEL_MAX_KINDS] = {0};
    counts[kind] = 1;
    hold_layer(&s, &w->kinds[kind], 1);
    hold_adapters(w, counts, &s);
    hold_packed(w, counts, &s);
    hold_trained(w, &s);
    return s;
}

/* Layers of MTP depths, which may be one and the same. */
static void hold_mtp(const struct memory_work *w, struct holding *s)
{
    if (s->n_mtp > 0) hold_layer(s, &w->mtp, w->c->model.mtp_repeated ? 1 : s->n_mtp);
}

struct holding holding_of_ends(const struct memory_work *w, bool first, bool last)
{
    struct holding s = {.first = first, .last = last, .n_mtp = last ? w->c->model.mtp_layers : 0};
    hold_mtp(w, &s);
    hold_embeddings(w, &s);
    hold_trained(w, &s);
    return s;
}

struct holding holding_of_stage(const struct memory_work *w, int stage)
{
    struct holding s = {.stage = stage};
    int counts[MODEL_MAX_KINDS];
    hold_chunks(w, counts, &s);
    for (int i = 0; i < w->c->model.n_kinds; i++) {
        if (counts[i] == 0) continue;
        hold_layer(&s, &w->kinds[i], counts[i]);
        hold_units(&s, &w->kinds[i]);
    }
    hold_mtp(w, &s);
    hold_embeddings(w, &s);
    hold_dummies(w, counts, &s);
    hold_adapters(w, counts, &s);
    hold_packed(w, counts, &s);
    hold_trained(w, &s);
    return s;
}
