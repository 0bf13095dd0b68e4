/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no trial on the present spot and stages: for each offload and state of recomputation a
   set of the group's variants, as what is known of one mostly holds for many. */
#include "choose/visit.h"

enum { WORD = 64 };

/* Of the present kind. */
static struct settled *sets_of(const struct search *s)
{
    return s->kinds.items.items[s->kind].settled;
}

/* The set of a state beside an offload, and whatever is offloaded. */
static uint64_t *set_of(const struct settled *x, int recompute, int offload)
{
    return &x->sets[(size_t)((offload + 1) * x->n_recompute + recompute) * x->words];
}

enum { ANY = -1 };

static size_t number_of(const struct search *s, const struct variant *v)
{
    return (size_t)(v - s->group->variants);
}

/* The lowest state of some, which is taken from them. */
static int take_lowest(uint64_t *states)
{
    int lowest = __builtin_ctzll(*states);
    *states &= *states - 1;
    return lowest;
}

static void start_sets(struct search *s)
{
    struct kind *kind = &s->kinds.items.items[s->kind];
    struct settled *x = kind->settled = ARENA_NEW(s->arena, struct settled);
    x->words = variants_words(s->group->n_variants);
    x->n_recompute = kind->n_recompute;
    x->n = (size_t)((kind->n_offloads + 1) * kind->n_recompute) * x->words;
    x->n_fast = (size_t)kind->n_recompute * x->words;
    x->sets = ARENA_ARRAY(s->arena, uint64_t, x->n);
    x->near = ARENA_ARRAY(s->arena, uint64_t, x->n);
    x->fast = ARENA_ARRAY(s->arena, uint64_t, x->n_fast);
    x->no_slower = ARENA_ARRAY(s->arena, uint64_t, x->words);
}

void settled_start(struct search *s)
{
    if (!sets_of(s)) start_sets(s);
    struct settled *x = sets_of(s);
    if (x->any_near) memset(x->near, 0, x->n * sizeof *x->near);
    x->any_near = false;
    s->visit++;
}

void settled_open(struct search *s)
{
    struct settled *x = sets_of(s);
    memcpy(x->sets, x->near, x->n * sizeof *x->sets);
    memset(x->fast, 0, x->n_fast * sizeof *x->fast);
}

void settled_give_up(struct search *s, const struct variant *v, int recompute, int offload,
                     bool near)
{
    struct settled *x = sets_of(s);
    size_t at = number_of(s, v);
    x->any_near |= near;
    for (uint64_t none = room_keeping_more(s, recompute, offload); none;) {
        uint64_t *set = set_of(x, take_lowest(&none), offload) + at / WORD;
        *set |= (uint64_t)1 << at % WORD;
        if (near) x->near[set - x->sets] |= (uint64_t)1 << at % WORD;
    }
}

void settled_add(struct search *s, const struct variant *v, int recompute, int offload, bool near)
{
    struct settled *x = sets_of(s);
    const uint64_t *slower = &s->group->slower[number_of(s, v) * x->words];
    x->any_near |= near;
    size_t words = x->words, first = (size_t)(set_of(x, 0, offload == 0 ? ANY : offload) - x->sets);
    for (uint64_t more = present_kind(s)->needless[recompute]; more;) {
        size_t set = first + (size_t)take_lowest(&more) * words;
        for (size_t i = 0; i < words; i++)
            x->sets[set + i] |= slower[i];
        for (size_t i = 0; i < words && near; i++)
            x->near[set + i] |= slower[i];
    }
}

/* Of a word the bits of variants that there are. */
static uint64_t there_are(const struct search *s, size_t word)
{
    size_t left = s->group->n_variants - word * WORD;
    return left >= WORD ? UINT64_MAX : ((uint64_t)1 << left) - 1;
}

/* Of a word the bits of those that are not settled. */
static uint64_t are_open(const struct search *s, int recompute, int offload, size_t word)
{
    const struct settled *x = sets_of(s);
    uint64_t settled = set_of(x, recompute, offload)[word] | set_of(x, recompute, ANY)[word];
    return ~settled & there_are(s, word);
}

struct variant *settled_next(struct search *s, struct variant *from, int recompute, int offload)
{
    size_t at = number_of(s, from), word = at / WORD;
    uint64_t from_here = UINT64_MAX << at % WORD;
    for (; word < sets_of(s)->words; word++, from_here = UINT64_MAX) {
        uint64_t open = are_open(s, recompute, offload, word) & from_here;
        if (open) return &s->group->variants[word * WORD + (size_t)__builtin_ctzll(open)];
    }
    return NULL;
}

bool settled_all(const struct search *s, int recompute, int offload)
{
    uint64_t open = 0;
    for (size_t word = 0; word < sets_of(s)->words && !open; word++)
        open = are_open(s, recompute, offload, word);
    return !open;
}

/* Asked so often that it goes through the sets itself: those of the states stand side by side. */
uint64_t settled_not_all(const struct search *s, int offload)
{
    const struct settled *x = sets_of(s);
    uint64_t states = 0;
    for (size_t word = 0; word < x->words; word++) {
        const uint64_t *any = set_of(x, 0, ANY) + word, *own = set_of(x, 0, offload) + word;
        uint64_t all = there_are(s, word);
        for (int r = 0; r < x->n_recompute; r++, any += x->words, own += x->words)
            states |= (uint64_t)((~(*any | *own) & all) != 0) << r;
    }
    return states;
}

/* ---- what is known to matter ---- */

void settled_is_fast(struct search *s, const struct variant *v, int recompute)
{
    const struct settled *x = sets_of(s);
    const struct kind *kind = present_kind(s);
    const struct group *g = s->group;
    size_t at = number_of(s, v), n = x->words;
    memset(x->no_slower, 0, n * sizeof *x->no_slower);
    for (size_t i = 0; i < g->n_variants; i++)
        if (g->slower[i * n + at / WORD] >> at % WORD & 1)
            x->no_slower[i / WORD] |= (uint64_t)1 << i % WORD;
    for (int r = 0; r < kind->n_recompute; r++)
        for (size_t i = 0; i < n && kind->needless[r] >> recompute & 1; i++)
            x->fast[(size_t)r * n + i] |= x->no_slower[i];
}

/* Variants of which it is not known whether they may matter. */
static uint64_t unknown(const struct search *s, int recompute, size_t word)
{
    const struct settled *x = sets_of(s);
    uint64_t known = set_of(x, recompute, 0)[word] | set_of(x, recompute, ANY)[word];
    return ~(known | x->fast[(size_t)recompute * x->words + word]) & there_are(s, word);
}

bool settled_is_unknown(const struct search *s, const struct variant *v, int recompute)
{
    size_t at = number_of(s, v);
    return unknown(s, recompute, at / WORD) >> at % WORD & 1;
}

struct variant *settled_middle(struct search *s, int recompute)
{
    size_t n = sets_of(s)->words;
    int skip = 0;
    for (size_t word = 0; word < n; word++)
        skip += __builtin_popcountll(unknown(s, recompute, word));
    skip /= 2;
    for (size_t word = 0; word < n; word++)
        for (uint64_t left = unknown(s, recompute, word); left; skip--) {
            int bit = take_lowest(&left);
            if (skip == 0) return &s->group->variants[word * WORD + (size_t)bit];
        }
    return NULL;
}
