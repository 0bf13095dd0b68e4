/* SPDX-License-Identifier: Apache-2.0 */
/* What is worked out of the present knobs, and kept for those that come again. */
#include "choose/visit.h"

double search_wish(const struct search *s, enum part part)
{
    return prefer_sum(s->wishes[part].items, s->wishes[part].n, &s->c.knobs);
}

/* Quick, as it is asked so often: of the knobs up to the graphs' scope, and of what else a search
   changes in keys. Who finds another key there works it out anew. */
static uint32_t slot_of(const struct knobs *key, uint32_t slots)
{
    enum { WORDS = (offsetof(struct knobs, graph_scope) + sizeof key->graph_scope) / 8 };
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t words[WORDS], sum = (uint64_t)key->grad_bytes * 2 + key->reshard_after_forward;
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < WORDS; i++)
        sum = (sum + words[i]) * odd;
    sum = (sum + key->graph_scope) * odd;
    return (uint32_t)(sum >> 48) % slots;
}

static void take_rates(struct search *s, struct known_layers *known)
{
    unsigned way = time_way_to_hide(&s->c.knobs);
    s->rates = &known->rates[way];
    if (known->known >> way & 1) return;
    known->known |= 1u << way;
    time_rates_of(&known->layers, &s->c, &known->rates[way]);
}

static struct known_layers *layers_slot(struct search *s, const struct knobs *key)
{
    struct known_layers **slot = &s->known_layers[slot_of(key, SEARCH_KNOWN_LAYERS)];
    if (!*slot) *slot = arena_room(s->arena, sizeof **slot), (*slot)->key.tp = 0;
    return *slot;
}

static bool is_known(const struct known_layers *x, const struct knobs *key)
{
    return x->key.tp == key->tp && memcmp(&x->key, key, sizeof *key) == 0; /* 0: of none yet */
}

static void start_layers(struct known_layers *x, const struct knobs *key)
{
    x->key = *key;
    x->known = 0;
}

/* The times of the present knobs' layers, from those that recompute nothing where these may be
   kept beside. */
static void measure_layers(struct search *s, const struct knobs *key, struct known_layers *out)
{
    struct knobs plain = time_key_without_recompute(*key), present = s->c.knobs;
    struct known_layers *other = layers_slot(s, &plain);
    if (other == out) {
        time_layers_init_known(&s->c, s->known_kernels, &out->layers);
    } else {
        s->c.knobs = plain;
        if (!is_known(other, &plain)) {
            start_layers(other, &plain);
            time_layers_init_known(&s->c, s->known_kernels, &other->layers);
        }
        s->c.knobs = present;
        time_layers_repeat(&other->layers, &s->c, &out->layers);
    }
    start_layers(out, key);
}

void search_take_layers(struct search *s)
{
    struct knobs key = time_layers_key(&s->c.knobs);
    struct known_layers *known = layers_slot(s, &key);
    if (!is_known(known, &key)) measure_layers(s, &key, known);
    s->layers = &known->layers;
    take_rates(s, known);
}

static struct known_memory *memory_slot(struct search *s, const struct knobs *key, bool *known)
{
    struct known_memory **slot = &s->known_memory[slot_of(key, SEARCH_KNOWN_MEMORY)];
    *known = *slot && memcmp(&(*slot)->key, key, sizeof *key) == 0;
    if (!*slot) {
        *slot = arena_room(s->arena, sizeof **slot);
        (*slot)->saved = NULL;
    }
    if (!*known) (*slot)->key = *key;
    return *slot;
}

/* Measures the present layers, which recompute nothing, with what they save. */
static void measure_plain_memory(struct search *s, struct known_memory *out)
{
    size_t n = (size_t)s->c.model.n_kinds;
    if (!out->saved) out->saved = arena_room(s->arena, n * sizeof *out->saved);
    memory_measure_saved(&s->c, &s->memory_coefficients, out->saved, &out->work);
}

/* As measure_layers does. */
static void measure_memory(struct search *s, const struct knobs *key, struct known_memory *out)
{
    struct knobs plain = time_key_without_recompute(*key), present = s->c.knobs;
    bool known;
    if (memcmp(&plain, key, sizeof plain) == 0) {
        measure_plain_memory(s, out);
        return;
    }
    struct known_memory *other = memory_slot(s, &plain, &known);
    if (other == out) {
        out->key = *key;
        memory_measure(&s->c, &s->memory_coefficients, &out->work);
        return;
    }
    s->c.knobs = plain;
    if (!known) measure_plain_memory(s, other);
    s->c.knobs = present;
    memory_measure_again(&s->c, &other->work, other->saved, &out->work);
}

void search_take_memory(struct search *s)
{
    bool known;
    struct knobs key = memory_layers_key(&s->c.knobs);
    struct known_memory *slot = memory_slot(s, &key, &known);
    s->memory = &slot->work;
    if (!known) measure_memory(s, &key, slot);
}

/* Notes the present division as the one that rates make. */
static void note_division(struct search *s, bool possible)
{
    struct division *x = &s->division;
    x->rates = *s->rates;
    x->pp = s->c.knobs.pp, x->vpp = s->c.knobs.vpp;
    x->microbatches = knobs_scheduled(&s->c.knobs);
    x->possible = possible;
    x->number = s->c.knobs.layout;
    if (!possible) return;
    layout_copy(&x->layout, &s->layout);
    x->seconds = spots_bound_of_split(&s->spots, &s->c, s->rates, &s->layout);
}

static bool is_divided(const struct search *s)
{
    const struct division *x = &s->division;
    const struct knobs *k = &s->c.knobs;
    return x->pp == k->pp && x->vpp == k->vpp && x->microbatches == knobs_scheduled(k) &&
           memcmp(&x->rates, s->rates, sizeof x->rates) == 0;
}

bool search_divide_by_time(struct search *s)
{
    const struct division *x = &s->division;
    if (!is_divided(s)) {
        note_division(s, split_by_time(&s->c, s->rates, &s->layout));
        return x->possible;
    }
    s->c.knobs.layout = x->number;
    if (x->possible) layout_copy(&s->layout, &x->layout);
    if (x->number > 0 && !s->c.layout_given) s->c.layouts = &s->layout, s->c.n_layouts = 1;
    return x->possible;
}
