/* SPDX-License-Identifier: Apache-2.0 */
/* What AutoModel makes of a written value before it checks it. Sizes that are no positive integer
   silently become 1 (nemo_automodel/components/distributed/mesh_utils.py:44), a data-parallel size
   that is not positive is inferred (mesh_utils.py:113), words are compared without case. */
#include <math.h>

#include "facts/automodel.h"
#include "facts/check.h"
#include "facts/param_ids.h"
#include "facts/placeholder.h"

/* Python counts a boolean as an integer. */
static struct value as_int(struct value v)
{
    return v.kind == VALUE_BOOL ? value_int(v.b) : v;
}

/* A size that is never compared before it is read: anything but a positive integer is 1. */
static struct value as_degree(struct arena *a, struct value v)
{
    (void)a;
    v = as_int(v);
    return v.kind == VALUE_INT && v.i > 0 ? v : value_int(1);
}

/* A size that is compared with 1 first, which fails for text, lists and mappings. */
static struct value as_size(struct arena *a, struct value v)
{
    bool fails = v.kind == VALUE_STRING || v.kind == VALUE_LIST || v.kind == VALUE_MAP;
    return fails ? value_unknown() : as_degree(a, v);
}

/* Null: inferred. A positive fraction reaches the mesh and fails there. */
static struct value as_dp_size(struct arena *a, struct value v)
{
    (void)a;
    v = as_int(v);
    if (v.kind == VALUE_INT) return v.i > 0 ? v : value_null();
    if (v.kind == VALUE_DOUBLE && v.d <= 0) return value_null();
    return v.kind == VALUE_NULL ? v : value_unknown();
}

/* In lower case, dashes as underscores. */
static struct str plain_word(struct arena *a, struct str s)
{
    return str_exchange(a, str_lower(a, s), '-', '_');
}

struct word {
    const char *word;
    struct value value;
};

#define WORD(text)                                                                                 \
    {                                                                                              \
        .kind = VALUE_STRING, .s = STR_ENTRY(text)                                                 \
    }

static struct value look_up(struct arena *a, struct value v, const struct word *words, size_t n)
{
    if (v.kind != VALUE_STRING) return value_unknown();
    struct str s = plain_word(a, v.s);
    for (size_t i = 0; i < n; i++)
        if (str_is(s, words[i].word)) return words[i].value;
    return value_unknown();
}

static struct value as_strategy(struct arena *a, struct value v)
{
    static const struct word words[] = {
        {"fsdp2", WORD("fsdp2")},
        {"megatron_fsdp", WORD("megatron_fsdp")},
        {"mfsdp", WORD("megatron_fsdp")},
        {"ddp", WORD("ddp")},
    };
    return look_up(a, v, words, sizeof words / sizeof *words);
}

static struct value as_checkpointing(struct arena *a, struct value v)
{
    static const struct value on = {.kind = VALUE_BOOL, .b = true};
    static const struct value off = {.kind = VALUE_BOOL, .b = false};
    const struct word words[] = {
        {"true", on},
        {"on", on},
        {"full", on},
        {"enabled", on},
        {"yes", on},
        {"false", off},
        {"off", off},
        {"none", off},
        {"disabled", off},
        {"no", off},
        {"selective", WORD("selective")},
    };
    if (v.kind == VALUE_NULL) return off;
    return v.kind == VALUE_BOOL ? v : look_up(a, v, words, sizeof words / sizeof *words);
}

struct words {
    struct value *items;
    size_t n, cap;
};

static void add_scope(struct arena *a, struct str word, struct words *out)
{
    word = str_trim(word);
    if (str_is(word, "default") || str_is(word, "auto")) word = STR("all");
    bool known = !word.n;
    for (size_t i = 0; i < out->n; i++)
        known |= str_eq(out->items[i].s, word);
    if (!known) *VEC_PUSH(a, out) = value_string(word);
}

/* "language+vision, audio": each word once. */
static void add_scopes(struct arena *a, struct str text, struct words *out)
{
    struct str rest = plain_word(a, text), part, word;
    while (str_split(&rest, ',', &part))
        while (str_split(&part, '+', &word))
            add_scope(a, word, out);
}

/* A list of scope words (nemo_automodel/components/distributed/config.py:63-95). */
static struct value as_scopes(struct arena *a, struct value v)
{
    struct words words = {0};
    if (v.kind == VALUE_STRING) add_scopes(a, v.s, &words);
    for (size_t i = 0; v.kind == VALUE_LIST && i < v.list->n; i++) {
        if (v.list->items[i].kind != VALUE_STRING) return value_unknown();
        add_scopes(a, v.list->items[i].s, &words);
    }
    bool good = v.kind == VALUE_STRING || v.kind == VALUE_LIST || v.kind == VALUE_NULL;
    if (good && !words.n) add_scope(a, STR("all"), &words);
    return good ? value_list_of(a, words.items, words.n) : value_unknown();
}

static const struct coercion {
    struct str key;
    struct value (*as)(struct arena *a, struct value v);
} coercions[] = {
    {STR_ENTRY("distributed.strategy"), as_strategy},
    {STR_ENTRY("distributed.dp_size"), as_dp_size},
    {STR_ENTRY("distributed.tp_size"), as_degree},
    {STR_ENTRY("distributed.cp_size"), as_degree},
    {STR_ENTRY("distributed.pp_size"), as_size},
    {STR_ENTRY("distributed.ep_size"), as_size},
    {STR_ENTRY("distributed.dp_replicate_size"), as_size},
    {STR_ENTRY("distributed.activation_checkpointing"), as_checkpointing},
    {STR_ENTRY("distributed.activation_checkpointing_scope"), as_scopes},
    {STR_ENTRY("teacher_distributed.strategy"), as_strategy},
    {STR_ENTRY("teacher_distributed.pp_size"), as_size},
};

static bool fits(enum param_type type, struct value v)
{
    switch (type) {
    case PARAM_BOOL: return v.kind == VALUE_BOOL;
    case PARAM_INT: return v.kind == VALUE_INT;
    case PARAM_DOUBLE: return v.kind == VALUE_INT || v.kind == VALUE_DOUBLE;
    case PARAM_STRING: return v.kind == VALUE_STRING;
    case PARAM_LIST:
    case PARAM_TUPLE:
    case PARAM_PATTERN: return v.kind == VALUE_LIST;
    case PARAM_MAP: return v.kind == VALUE_MAP;
    case PARAM_ANY: return true;
    }
    return false;
}

static const struct coercion *coercion_of(struct str key)
{
    for (size_t i = 0; i < sizeof coercions / sizeof *coercions; i++)
        if (str_eq(key, coercions[i].key)) return &coercions[i];
    return NULL;
}

struct value automodel_coerce(struct arena *a, int param, struct str key, struct value written)
{
    if (written.kind == VALUE_UNKNOWN) return written;
    const struct coercion *own = coercion_of(key);
    if (own) return own->as(a, written);
    const struct param *p = &param_table[param];
    struct value v = p->type == PARAM_INT ? as_int(written) : written;
    bool optional = p->in[FRAMEWORK_AUTOMODEL]->default_value.kind == VALUE_NULL;
    if (v.kind == VALUE_NULL) return optional ? v : value_unknown();
    return fits(p->type, v) ? v : value_unknown();
}

/* A number that is no truth, or a fraction that is no count. */
static bool is_wrong_number(enum param_type type, struct value v)
{
    if (type == PARAM_BOOL) return v.kind == VALUE_DOUBLE || (v.kind == VALUE_INT && v.i >> 1);
    return type == PARAM_INT && v.kind == VALUE_DOUBLE && v.d != floor(v.d);
}

/* Whether a value can only be a mistake: text may name what nobody here knows, a fraction be whole,
   and null is what is not set. */
static bool is_wrong(enum param_type type, struct value v)
{
    bool plain = type == PARAM_BOOL || param_type_is_number(type);
    bool shape = v.kind == VALUE_LIST || v.kind == VALUE_MAP;
    bool text = v.kind == VALUE_STRING && v.s.n && str_find(v.s, '$') == v.s.n;
    return plain && (shape || (text && !placeholder_is(v.s)) || is_wrong_number(type, v) ||
                     (v.kind == VALUE_BOOL && type != PARAM_BOOL));
}

/* Of the batches the rules say that they are whole. */
static bool is_batch(int param)
{
    return param == P_global_batch_size || param == P_micro_batch_size;
}

void automodel_check_type(struct facts *f, int param, struct str key, struct value written,
                          const struct node *node)
{
    enum param_type type = param_table[param].type;
    if (coercion_of(key) || !is_wrong(type, written)) return;
    if (is_batch(param) && written.kind == VALUE_DOUBLE) return;
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "value-type", node_span(f->diags, node),
                              "%.*s takes %s, not %.*s", STR_ARG(key), param_type_words(type),
                              STR_ARG(value_text(f->arena, written)));
    d->parameter = param_table[param].name;
    if (type == PARAM_BOOL)
        diag_choices(f->diags, d, value_text(f->arena, written), truths, N_TRUTHS);
}
