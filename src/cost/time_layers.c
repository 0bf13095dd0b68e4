/* SPDX-License-Identifier: Apache-2.0 */
/* The layers' times worked out, or in part taken from a plan that has the same weights' products.
 */
#include <string.h>

#include "cost/time.h"

/* The knobs without those that leave the products, and what stands around the layers, as they are:
   how keys and tokens are exchanged, what is repeated or offloaded, and of graphs all but whether
   they hold an iteration, whose experts have other kernels (plan/ffn_moe.c). */
static struct knobs shared_key(const struct knobs *k)
{
    struct knobs key = time_key_without_recompute(time_layers_key(k));
    key.cp_comm = key.dispatcher = key.graph_impl = 0;
    key.graph_scope = knobs_captured(k) & SCOPE_FULL;
    key.offload_modules = 0;
    return key;
}

/* Where they are kept; NULL: nowhere. */
static struct time_shared *shared_slot(const struct config *c, struct known_kernels *known,
                                       struct knobs *key)
{
    if (!known || !known->shared || c->model.vision_layers > 0) return NULL;
    *key = shared_key(&c->knobs);
    const int parts[] = {key->tp, key->cp, key->etp, key->ep, key->mbs, (int)key->graph_scope};
    uint32_t at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        at = (at + (uint32_t)parts[i]) * UINT32_C(0x9E3779B1);
    return &known->shared[(at >> 16) % TIME_SHARED];
}

void time_mtp(const struct config *c, struct time_layers *out)
{
    out->mtp = out->mtp_ends;
    if (c->model.mtp_layers > 0) layer_add_mtp(&out->timing, out->kinds, &out->mtp);
}

static void count_layers(const struct config *c, struct time_layers *out)
{
    memset(out->counts, 0, sizeof out->counts);
    for (int i = 0; i < c->model.num_layers; i++)
        out->counts[c->model.layers[i]]++;
}

static void time_around(const struct config *c, struct time_layers *out)
{
    count_layers(c, out);
    out->embedding = layer_embedding(&out->timing);
    out->vision = layer_vision(&out->timing);
    out->head = layer_head(&out->timing);
    out->mtp_ends = (struct layer_time){0};
    if (c->model.mtp_layers > 0) out->mtp_ends = layer_mtp_ends(&out->timing, &out->head);
    out->ends[0] = time_end_rates(c, out, false);
    out->ends[1] = c->knobs.tp > 1 ? time_end_rates(c, out, true) : out->ends[0];
}

static struct time_ends *ends_slot(struct known_kernels *known, const struct knobs *key)
{
    uint32_t at = (uint32_t)(key->tp * 31 + key->cp) * 31 + (uint32_t)key->mbs;
    at = (at * 31 + (uint32_t)key->grad_bytes + key->graph_scope) * UINT32_C(0x9E3779B1);
    return &known->ends[(at >> 16) % TIME_ENDS];
}

/* From a plan whose experts are divided otherwise, where there is one. */
static void time_around_known(const struct config *c, struct known_kernels *known,
                              const struct knobs *shared, struct time_layers *out)
{
    struct knobs key = *shared;
    key.ep = key.etp = 1;
    struct time_ends *x = ends_slot(known, &key);
    size_t bytes = sizeof x->ends;
    if (x->key.tp == key.tp && memcmp(&x->key, &key, sizeof key) == 0) {
        count_layers(c, out);
        out->embedding = x->embedding, out->vision = x->vision;
        out->head = x->head, out->mtp_ends = x->mtp_ends;
        memcpy(out->ends, x->ends, bytes);
        return;
    }
    time_around(c, out);
    x->key = key;
    x->embedding = out->embedding, x->vision = out->vision;
    x->head = out->head, x->mtp_ends = out->mtp_ends;
    memcpy(x->ends, out->ends, bytes);
}

/* From what is shared, which is worked out unless it is known. */
static void time_from_shared(const struct config *c, struct known_kernels *known,
                             const struct knobs *key, struct time_shared *x,
                             struct time_layers *out)
{
    const struct model_shape *m = &c->model;
    if (x->key.tp != key->tp || memcmp(&x->key, key, sizeof *key) != 0) {
        x->key = *key;
        x->layers.timing = timing_of_known(c, known);
        for (int i = 0; i < m->n_kinds; i++)
            x->products[i] = layer_products(&x->layers.timing, m->kinds[i]);
        time_around_known(c, known, key, &x->layers);
    }
    memcpy(out, &x->layers, offsetof(struct time_layers, mtp));
    out->timing = timing_of_known(c, known);
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
