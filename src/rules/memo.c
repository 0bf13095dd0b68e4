/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/memo.h"

#include <string.h>

enum { PLACES = 4096, MOST = PLACES / 4 * 3, LONGEST = 24 /* bytes of a text */ };
enum { KEPT_DEFAULT = UINT8_MAX }; /* no kind of value: the framework's default */

/* All of a fact that an expression can see: its value, and what has() asks for. Texts are copied,
   as those of a file end with it. */
struct kept_fact {
    uint8_t kind, origin, n; /* n: bytes of a text */
    bool written;            /* it has a node */
    union {
        uint64_t bits;
        char text[LONGEST];
    };
};

/* Whether raw or the environment has a word. */
struct kept_word {
    struct expr_question asked;
    uint8_t kind; /* of the answer: it may be unknown */
    bool has;
};

struct kept_outcome {
    const struct expr *e;
    struct kept_fact *facts; /* by the slots of the expression; NULL: it cannot be kept */
    struct kept_word *words;
    size_t n_words;
    unsigned char outcome;   /* 1 + the outcome; 0: none is kept */
    unsigned char framework; /* whose defaults are meant */
    bool open;
};

struct kept_outcomes {
    struct kept_outcome *places[PLACES]; /* by the address of the expression, linear probing */
    size_t n;
};

/* Lists the words that the expression asks for; false where it reads more beside facts. */
static bool list_words(struct arena *a, struct kept_outcome *at, const struct expr *e)
{
    struct expr_question *asked;
    const uint32_t *slots;
    size_t n_slots = expr_slots(e, &slots);
    if (!expr_questions(a, e, &asked, &at->n_words)) return false;
    at->words = ARENA_ARRAY(a, struct kept_word, at->n_words);
    for (size_t i = 0; i < at->n_words; i++)
        at->words[i].asked = asked[i];
    for (size_t i = 0; i < n_slots; i++) {
        bool table = false;
        for (size_t k = 0; k < at->n_words; k++)
            table = table || asked[k].slot == slots[i];
        if (facts_slot_param(slots[i]) < 0 && !table) return false; /* the version */
    }
    return true;
}

static struct kept_outcome *new_place(struct arena *a, const struct expr *e)
{
    const uint32_t *slots;
    size_t n = expr_slots(e, &slots);
    struct kept_outcome *kept = ARENA_NEW(a, struct kept_outcome);
    kept->e = e;
    if (list_words(a, kept, e)) kept->facts = ARENA_ARRAY(a, struct kept_fact, n + 1);
    return kept;
}

struct kept_outcome *memo_place(struct rule_memo *memo, const struct expr *e)
{
    if (!memo->outcomes) memo->outcomes = ARENA_NEW(memo->arena, struct kept_outcomes);
    struct kept_outcome **places = memo->outcomes->places;
    size_t i = (size_t)(uintptr_t)e / 8 * 2654435761u / 8 % PLACES;
    while (places[i] && places[i]->e != e)
        i = (i + 1) % PLACES;
    if (!places[i] && memo->outcomes->n == MOST) return NULL;
    if (!places[i]) {
        places[i] = new_place(memo->arena, e);
        memo->outcomes->n++;
    }
    return places[i]->facts ? places[i] : NULL;
}

static bool is_scalar(enum value_kind kind)
{
    return kind < VALUE_STRING && kind != VALUE_ERROR;
}

static bool is_same(const struct kept_fact *kept, const struct fact *x)
{
    const struct value *v = &x->value;
    if (v->kind != (enum value_kind)kept->kind || x->origin != (enum fact_origin)kept->origin ||
        (x->node != NULL) != kept->written)
        return false;
    if (v->kind == VALUE_STRING) return v->s.n == kept->n && !memcmp(v->s.p, kept->text, kept->n);
    return v->kind < VALUE_BOOL ||
           (v->kind == VALUE_BOOL ? v->b == kept->bits : v->u == kept->bits);
}

static bool has_same_words(const struct kept_outcome *kept, const struct expr_scope *scope)
{
    for (size_t i = 0; i < kept->n_words; i++) {
        const struct kept_word *w = &kept->words[i];
        struct value v = scope->contains(scope->context, w->asked.slot, w->asked.key);
        if (v.kind != (enum value_kind)w->kind || (v.kind == VALUE_BOOL && v.b != w->has))
            return false;
    }
    return true;
}

unsigned char memo_find(const struct kept_outcome *kept, const struct facts *f,
                        const struct expr_scope *scope)
{
    const uint32_t *slots;
    size_t n = expr_slots(kept->e, &slots);
    if (!kept->outcome || kept->framework != f->framework || kept->open != f->open) return 0;
    for (size_t i = 0; i < n; i++) {
        if (facts_slot_param(slots[i]) < 0) continue;
        bool is_default = kept->facts[i].kind == KEPT_DEFAULT;
        if (facts_is_own(f, (int)slots[i]) == is_default) return 0;
        if (!is_default && !is_same(&kept->facts[i], &f->own[slots[i]])) return 0;
    }
    return has_same_words(kept, scope) ? kept->outcome : 0;
}

/* False for what cannot be kept: lists, long texts. */
static bool keep_fact(struct kept_fact *kept, const struct fact *x)
{
    const struct value *v = &x->value;
    bool text = v->kind == VALUE_STRING && v->s.n <= LONGEST;
    if (!text && !is_scalar(v->kind)) return false;
    *kept = (struct kept_fact){.kind = (uint8_t)v->kind,
                               .origin = (uint8_t)x->origin,
                               .n = text ? (uint8_t)v->s.n : 0,
                               .written = x->node != NULL};
    if (text)
        memcpy(kept->text, v->s.p, v->s.n);
    else if (v->kind > VALUE_NULL)
        kept->bits = v->kind == VALUE_BOOL ? v->b : v->u;
    return true;
}

static void keep_words(struct kept_outcome *kept, const struct expr_scope *scope)
{
    for (size_t i = 0; i < kept->n_words; i++) {
        struct kept_word *w = &kept->words[i];
        struct value v = scope->contains(scope->context, w->asked.slot, w->asked.key);
        w->kind = (uint8_t)v.kind;
        w->has = v.kind == VALUE_BOOL && v.b;
    }
}

void memo_keep(struct kept_outcome *kept, const struct facts *f, const struct expr_scope *scope,
               unsigned char outcome)
{
    const uint32_t *slots;
    size_t n = expr_slots(kept->e, &slots);
    kept->outcome = 0;
    kept->framework = (unsigned char)f->framework;
    kept->open = f->open;
    for (size_t i = 0; i < n; i++) {
        if (facts_slot_param(slots[i]) < 0) continue;
        if (!facts_is_own(f, (int)slots[i]))
            kept->facts[i].kind = KEPT_DEFAULT;
        else if (!keep_fact(&kept->facts[i], &f->own[slots[i]]))
            return;
    }
    keep_words(kept, scope);
    kept->outcome = outcome;
}
