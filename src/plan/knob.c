/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/knob.h"

#include "base/vec.h"

#define NONE (-1)

const struct knob *knob_of(int param)
{
    for (size_t i = 0; i < knob_count; i++)
        if (knob_table[i].param == param) return &knob_table[i];
    return NULL;
}

size_t knob_size(const struct knob *knob)
{
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_DTYPE: return sizeof(int);
    case KNOB_INT64: return sizeof(int64_t);
    case KNOB_BOOL: return sizeof(bool);
    case KNOB_LADDER:
    case KNOB_WORD:
    case KNOB_EACH:
    case KNOB_SHARDED: return sizeof(uint8_t);
    case KNOB_MODULES: return sizeof(uint32_t);
    case KNOB_DOUBLE: return sizeof(double);
    }
    return 0;
}

bool knob_same(const struct knob *knob, const struct knobs *a, const struct knobs *b)
{
    size_t at = knob->offset;
    return memcmp((const char *)a + at, (const char *)b + at, knob_size(knob)) == 0;
}

static struct value words_of_mask(struct arena *a, uint32_t mask, const char *const *words)
{
    VEC(struct value) list = {0};
    for (size_t bit = 0; words[bit]; bit++)
        if (mask & (uint32_t)1 << bit) *VEC_PUSH(a, &list) = value_string(str_of(words[bit]));
    return value_list_of(a, list.items, list.n);
}

static struct value one_word(struct arena *a, const char *word)
{
    struct value v = value_string(str_of(word));
    return value_list_of(a, &v, 1);
}

static struct value dtype_of_bytes(int bytes)
{
    return value_string(bytes == 4 ? STR("fp32") : bytes == 2 ? STR("bf16") : STR("fp8"));
}

double knob_number(const struct knobs *k, const struct knob *knob)
{
    const void *p = (const char *)k + knob->offset;
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_DTYPE: return *(const int *)p;
    case KNOB_INT64: return (double)*(const int64_t *)p;
    case KNOB_BOOL: return *(const bool *)p;
    case KNOB_LADDER:
    case KNOB_EACH:
    case KNOB_WORD: return *(const uint8_t *)p;
    case KNOB_SHARDED: return *(const uint8_t *)p == FSDP_OPTIM_GRADS_PARAMS;
    case KNOB_MODULES: return *(const uint32_t *)p;
    case KNOB_DOUBLE: return *(const double *)p;
    }
    return 0;
}

struct value knob_get(struct arena *a, const struct knobs *k, const struct knob *knob)
{
    double number = knob_number(k, knob);
    int64_t n = (int64_t)number;
    if (knob->absent != NONE && number == (double)knob->absent) return value_null();
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_INT64: return value_int(n);
    case KNOB_SHARDED:
    case KNOB_BOOL: return value_bool(n != 0);
    case KNOB_LADDER:
    case KNOB_WORD: return value_string(str_of(knob->words[n]));
    case KNOB_EACH: return one_word(a, knob->words[n]);
    case KNOB_MODULES: return words_of_mask(a, (uint32_t)n, knob->words);
    case KNOB_DTYPE: return dtype_of_bytes((int)n);
    case KNOB_DOUBLE: return value_double(number);
    }
    return value_null();
}

/* The index of a word, or -1. */
static int word_index(const char *const *words, struct str word)
{
    for (int i = 0; words[i]; i++)
        if (str_is(word, words[i])) return i;
    return -1;
}

static bool mask_of_words(struct value v, const char *const *words, uint32_t *out)
{
    struct value_list one = {1, &v};
    const struct value_list *list = v.kind == VALUE_LIST ? v.list : &one;
    uint32_t mask = 0;
    for (size_t i = 0; i < list->n; i++) {
        int bit = list->items[i].kind == VALUE_STRING ? word_index(words, list->items[i].s) : -1;
        if (bit < 0) return false;
        mask |= (uint32_t)1 << bit;
    }
    *out = mask;
    return true;
}

static bool bytes_of_dtype(struct value v, int *out)
{
    int bytes = v.kind == VALUE_STRING ? fact_dtype_bytes(v.s) : 0;
    if (bytes > 0) *out = bytes;
    return bytes > 0;
}

static bool set_integer(void *p, enum knob_kind kind, int64_t n)
{
    if (n < 0 || (kind == KNOB_INT && n > INT32_MAX)) return false;
    if (kind == KNOB_INT)
        *(int *)p = (int)n;
    else
        *(int64_t *)p = n;
    return true;
}

static bool set_word(uint8_t *p, const char *const *words, struct value v)
{
    int index = v.kind == VALUE_STRING ? word_index(words, v.s) : -1;
    if (index >= 0) *p = (uint8_t)index;
    return index >= 0;
}

/* What differs by layer is of no use. */
static bool set_each(uint8_t *p, const struct knob *knob, struct value v)
{
    if (v.kind == VALUE_NULL) *p = (uint8_t)knob->absent;
    if (v.kind != VALUE_LIST) return v.kind == VALUE_NULL || set_word(p, knob->words, v);
    for (size_t i = 1; i < v.list->n; i++)
        if (!value_eq(v.list->items[i], v.list->items[0])) return false;
    return v.list->n > 0 && set_word(p, knob->words, v.list->items[0]);
}

static bool set_double(double *p, struct value v)
{
    if (v.kind != VALUE_DOUBLE && v.kind != VALUE_INT) return false;
    *p = v.kind == VALUE_INT ? (double)v.i : v.d;
    return true;
}

static const struct value_list no_modules;

/* What null stands for in each kind of field. */
static struct value null_value(const struct knob *knob)
{
    int64_t n = knob->absent == NONE ? 0 : knob->absent;
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_INT64: return value_int(n);
    case KNOB_SHARDED:
    case KNOB_BOOL: return value_bool(false);
    case KNOB_LADDER:
    case KNOB_WORD: return value_string(str_of(knob->words[n]));
    case KNOB_EACH: return value_null();
    case KNOB_MODULES: return (struct value){.kind = VALUE_LIST, .list = &no_modules};
    case KNOB_DTYPE: return value_string(STR("fp32"));
    case KNOB_DOUBLE: return value_double(0);
    }
    return value_null();
}

bool knob_set(struct knobs *k, const struct knob *knob, struct value v)
{
    void *p = (char *)k + knob->offset;
    if (v.kind == VALUE_NULL) v = null_value(knob);
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_INT64: return v.kind == VALUE_INT && set_integer(p, knob->kind, v.i);
    case KNOB_BOOL:
        if (v.kind == VALUE_BOOL) *(bool *)p = v.b;
        return v.kind == VALUE_BOOL;
    case KNOB_LADDER:
    case KNOB_WORD: return set_word(p, knob->words, v);
    case KNOB_EACH: return set_each(p, knob, v);
    case KNOB_SHARDED:
        if (v.kind == VALUE_BOOL) *(uint8_t *)p = v.b ? FSDP_OPTIM_GRADS_PARAMS : FSDP_NONE;
        return v.kind == VALUE_BOOL;
    case KNOB_MODULES: return mask_of_words(v, knob->words, p);
    case KNOB_DTYPE: return bytes_of_dtype(v, p);
    case KNOB_DOUBLE: return set_double(p, v);
    }
    return false;
}
