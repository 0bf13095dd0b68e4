/* SPDX-License-Identifier: Apache-2.0 */
/* The layers' times worked out, or taken from a plan that differs in how keys are exchanged alone.
 */
#include "cost/time.h"

/* Where the layers of all ways to exchange keys are kept; NULL: nowhere. */
static struct time_shared *shared_slot(const struct config *c, struct known_kernels *known,
                                       struct knobs *key)
{
    const struct knobs *k = &c->knobs;
    if (!known || !known->shared || k->cp == 1 || c->model.vision_layers > 0) return NULL;
    *key = time_layers_key(k);
    key->cp_comm = 0;
    const uint32_t parts[] = {k->dispatcher,    k->graph_impl,       k->graph_scope,
                              (uint32_t)k->tp,  (uint32_t)k->cp,     (uint32_t)k->ep,
                              (uint32_t)k->mbs, k->recompute_modules};
    uint32_t at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        at = (at + parts[i]) * UINT32_C(0x9E3779B1);
    return &known->shared[(at >> 16) % TIME_SHARED];
}

static void time_mtp(const struct config *c, struct time_layers *out)
{
    out->mtp = (struct layer_time){0};
    if (c->model.mtp_layers > 0) out->mtp = layer_mtp(&out->timing, out->kinds, &out->head);
}

static void time_around(const struct config *c, struct time_layers *out)
{
    memset(out->counts, 0, sizeof out->counts);
    for (int i = 0; i < c->model.num_layers; i++)
        out->counts[c->model.layers[i]]++;
    out->embedding = layer_embedding(&out->timing);
    out->vision = layer_vision(&out->timing);
    out->head = layer_head(&out->timing);
    out->ends[0] = time_end_rates(c, out, false);
    out->ends[1] = c->knobs.tp > 1 ? time_end_rates(c, out, true) : out->ends[0];
}

/* From what is shared, which is worked out unless it is known. */
static void time_from_shared(const struct config *c, struct known_kernels *known,
                             const struct knobs *key, struct time_shared *x,
                             struct time_layers *out)
{
    const struct model_shape *m = &c->model;
    if (memcmp(&x->key, key, sizeof *key) != 0) {
        x->key = *key;
        x->layers.timing = timing_of_known(c, known);
        for (int i = 0; i < m->n_kinds; i++)
            x->products[i] = layer_products(&x->layers.timing, m->kinds[i]);
        time_around(c, &x->layers);
    }
    memcpy(out, &x->layers, offsetof(struct time_layers, kinds));
    out->timing.config = c;
    for (int i = 0; i < m->n_kinds; i++) {
        out->kinds[i] = x->products[i];
        layer_add_rest(&out->timing, m->kinds[i], &out->kinds[i]);
    }
    time_mtp(c, out);
}

void time_layers_init_known(const struct config *c, struct known_kernels *known,
                            struct time_layers *out)
{
    struct knobs key;
    struct time_shared *shared = shared_slot(c, known, &key);
    if (shared) {
        time_from_shared(c, known, &key, shared, out);
        return;
    }
    out->timing = timing_of_known(c, known);
    for (int i = 0; i < c->model.n_kinds; i++)
        out->kinds[i] = layer_time(&out->timing, c->model.kinds[i]);
    time_around(c, out);
    time_mtp(c, out);
}

void time_layers_init(const struct config *c, struct time_layers *out)
{
    time_layers_init_known(c, NULL, out);
}
