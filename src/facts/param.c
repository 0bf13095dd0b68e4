/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/param.h"

#include <assert.h>

#include "base/edit.h"
#include "facts/param_file.h"
#include "facts/param_index.h"

/* framework: whose keys the index has; FRAMEWORK_COUNT: names */
static struct str slot_word(struct param_slot slot, int framework)
{
    const struct param *p = &param_table[slot.number - 1];
    return framework == FRAMEWORK_COUNT ? param_name_word(p, slot.word)
                                        : param_key_word(p->in[framework], slot.word);
}

static const struct param_index *index_of(int framework)
{
    return framework == FRAMEWORK_COUNT ? &param_names : &param_keys[framework];
}

static const struct param_slot *look_up(int framework, struct str word)
{
    const struct param_index *x = index_of(framework);
    uint32_t at = str_hash(word) & x->mask;
    for (; x->slots[at].number; at = (at + 1) & x->mask)
        if (str_eq(slot_word(x->slots[at], framework), word)) return &x->slots[at];
    return NULL;
}

bool param_among(int param, const int *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == param) return true;
    return false;
}

int param_find(struct str name)
{
    const struct param_slot *slot = look_up(FRAMEWORK_COUNT, name);
    return slot ? slot->number - 1 : -1;
}

enum { LONGEST_NAME = 96 };

int param_typed(struct str word)
{
    char name[LONGEST_NAME];
    if (word.n > sizeof name) return -1;
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        name[i] = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return param_find((struct str){name, word.n});
}

/* Whether a framework has it as a flag of this word, or under a key that ends in it. */
static bool is_spelled_so(const struct param *p, struct str word)
{
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        const struct param_spelling *s = p->in[f];
        for (size_t i = 0; i < s->n_flags; i++)
            if (str_eq_nocase(str_slice(s->flags[i].flag, 2, s->flags[i].flag.n), word))
                return true;
        if (s->key.n && str_eq_nocase(str_last_part(s->key, '.'), word)) return true;
    }
    return false;
}

int param_meant(struct str word)
{
    int typed = param_typed(word), found = -1;
    if (typed >= 0) return typed;
    for (uint32_t i = 0; i < param_count; i++) {
        if (!is_spelled_so(&param_table[i], word)) continue;
        if (found >= 0) return -1;
        found = (int)i;
    }
    return found;
}

struct str param_key_in(const struct param_spelling *s, uint32_t releases)
{
    for (size_t i = 0; s->key_releases && i <= s->n_more_keys; i++)
        if (s->key_releases[i] & releases) return i ? s->more_keys[i - 1] : s->key;
    return s->key;
}

const struct param_flag *param_flag_in(const struct param_spelling *s, uint32_t releases)
{
    for (size_t i = 0; i < s->n_flags; i++) {
        const struct param_flag *flag = &s->flags[i];
        if (!flag->deprecated.n && !flag->program.n && flag->releases & releases) return flag;
    }
    return NULL;
}

bool param_is_spelled(const struct param *p)
{
    bool known = false;
    for (int i = 0; i < FRAMEWORK_COUNT; i++)
        known = known || p->in[i]->known;
    return known;
}

struct str param_name(int param)
{
    assert(param >= 0 && (uint32_t)param < param_count);
    return param_table[param].name;
}

int param_find_key(enum framework framework, struct str key, const struct param_flag **flag)
{
    const struct param_slot *slot = look_up((int)framework, key);
    if (!slot) return -1;
    const struct param_spelling *s = param_table[slot->number - 1].in[framework];
    if (flag) *flag = s->n_flags ? &s->flags[slot->word] : NULL;
    return slot->number - 1;
}

static struct str nearest(int framework, struct str word)
{
    const struct param_index *x = index_of(framework);
    struct edit_nearest near = {.word = word};
    for (uint32_t i = 0; i <= x->mask; i++) {
        if (!x->slots[i].number) continue;
        struct str candidate = slot_word(x->slots[i], framework);
        if (edit_may_be_near(word, candidate)) edit_offer(&near, candidate);
    }
    return near.best;
}

struct str param_nearest(struct str word)
{
    return nearest(FRAMEWORK_COUNT, word);
}

struct str param_nearest_in(enum param_scope scope, struct str word)
{
    struct edit_nearest near = {.word = word};
    for (uint32_t i = 0; i < param_count; i++)
        if (param_table[i].scope == scope) edit_offer(&near, param_table[i].name);
    return near.best;
}

struct str param_nearest_key(enum framework framework, struct str word)
{
    return nearest((int)framework, word);
}

const struct param *param_coefficient(struct str name)
{
    for (uint32_t i = 0; i < coefficient_count; i++)
        if (str_eq(coefficient_table[i].name, name)) return &coefficient_table[i];
    return NULL;
}

struct str param_nearest_coefficient(struct str word)
{
    struct edit_nearest near = {.word = word};
    for (uint32_t i = 0; i < coefficient_count; i++)
        edit_offer(&near, coefficient_table[i].name);
    return near.best;
}

const char *framework_name(enum framework framework)
{
    return framework_words[framework];
}

const char *framework_full_name(enum framework framework)
{
    static const char *const full_names[] = {"Megatron-LM", "Megatron-Bridge", "NeMo AutoModel"};
    return full_names[framework];
}

bool framework_from_name(struct str name, enum framework *out)
{
    static const struct {
        const char *word;
        enum framework framework;
    } aliases[] = {
        {"megatron-lm", FRAMEWORK_MEGATRON},
        {"mlm", FRAMEWORK_MEGATRON},
        {"megatron-bridge", FRAMEWORK_BRIDGE},
        {"nemo-automodel", FRAMEWORK_AUTOMODEL},
    };
    for (int i = 0; i < FRAMEWORK_COUNT; i++)
        if (str_eq_nocase(name, str_of(framework_words[i]))) return *out = (enum framework)i, true;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (str_eq_nocase(name, str_of(aliases[i].word))) return *out = aliases[i].framework, true;
    return false;
}

uint32_t param_key_releases(enum framework framework, struct str key)
{
    int param = param_find_key(framework, key, NULL);
    if (param < 0) return 0;
    const struct param_spelling *in = param_table[param].in[framework];
    return str_eq(in->key, key) ? in->releases : UINT32_MAX;
}

int param_named_by(enum framework framework, struct str name)
{
    for (uint32_t i = 0; i < param_count; i++) {
        struct str key = param_table[i].in[framework]->key;
        bool same = str_ends(key, name) && key.n > name.n && key.p[key.n - name.n - 1] == '.';
        if (same) return (int)i;
    }
    return -1;
}
