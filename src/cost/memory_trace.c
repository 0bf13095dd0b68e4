/* SPDX-License-Identifier: Apache-2.0 */
/* The memory terms of tensors, for --explain. */
#include "cost/memory_stage.h"
#include "cost/trace.h"
#include "cost/vision.h"

/* A tensor of `layers` layers in flight. */
static void tensor(struct cost_trace *trace, const char *kind, const struct saved *s, double layers,
                   double imbalance, bool captured)
{
    double factor = s->routed ? imbalance : 1;
    const char *name = arena_printf(trace->arena, "%s: %s", kind, s->name).p;
    trace_term(trace, name, layers * factor * saved_bytes(s),
               "%.4g layers in flight x %.6g x %.6g x %.3g B%s%s", layers, s->rows * factor,
               s->width, s->bytes, factor > 1 ? " (rows with routing imbalance)" : "",
               captured ? " (in CUDA graphs)" : "");
}

static void kind_tensors(const struct memory_work *w, int i, const struct layers_in_flight *n,
                         struct cost_trace *trace)
{
    const char *kind = trace_kind_name(trace->arena, w->kinds[i].kind);
    struct saved_list list;
    op_saved(w->c, &w->t, w->kinds[i].kind, &list);
    for (int j = 0; n->whole[i] > 0 && j < list.n; j++)
        if (saved_is_kept(&list.items[j], &w->c->knobs))
            tensor(trace, kind, &list.items[j], n->whole[i], w->imbalance.value,
                   saved_is_captured(&list.items[j], knobs_captured(&w->c->knobs)));
    for (int j = 0; n->inputs[i] > 0 && j < list.n; j++)
        if (saved_enters(&list, j)) tensor(trace, kind, &list.items[j], n->inputs[i], 1, false);
}

void memory_trace_tensors(const struct memory_work *w, const struct holding *s,
                          struct cost_trace *trace)
{
    if (!trace) return;
    struct layers_in_flight n;
    activation_layers(w, s->stage, &n);
    for (int i = 0; i < w->c->model.n_kinds; i++)
        kind_tensors(w, i, &n, trace);
    double depth = w->mtp.kept + (w->imbalance.value - 1) * w->mtp.routed;
    if (n.mtp > 0)
        trace_term(trace, "MTP depths", n.mtp * depth, "%.4g in flight x %.6g B", n.mtp, depth);
    double mask = activation_embedding_bytes(w), tower = vision_kept(w->c);
    if (mask > 0 && n.embeddings > 0)
        trace_term(trace, "embedding: dropout mask", n.embeddings * mask,
                   "%.4g microbatches x %.6g B", n.embeddings, mask);
    if (tower > 0 && n.embeddings > 0)
        trace_term(trace, "vision tower", n.embeddings * tower, "%.4g microbatches x %.6g B",
                   n.embeddings, tower);
}
