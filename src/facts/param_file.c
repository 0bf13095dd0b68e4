/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/param_file.h"

#include <math.h>

#include "base/buf.h"
#include "base/edit.h"

struct reader {
    struct arena *arena;
    struct diags *diags;
};

const char *const framework_words[FRAMEWORK_COUNT] = {"megatron", "bridge", "automodel"};

static const char *const types[] = {"bool", "int", "double",  "string", "list",
                                    "map",  "any", "pattern", "tuple"};
static const char *const scopes[] = {"plan", "model",  "platform",   "derived",
                                     "run",  "metric", "coefficient"};
static const char *const effects[] = {"execution", "convergence"};
static const char *const actions[] = {"store", "store_true", "store_false", "store_const",
                                      "append"};

static struct diag *bad(struct reader *r, const struct node *at, const char *what)
{
    return diag_add(r->diags, SEVERITY_ERROR, "parameter-file", node_span(r->diags, at), "%s",
                    what);
}

/* ---- pieces ---- */

/* Complains about keys of a mapping that are not in the NULL-terminated list; false when the node
   is no mapping at all. */
static bool check_keys(struct reader *r, const struct node *map, const char *const *known)
{
    if (map->kind != NODE_MAP) return bad(r, map, "expected a mapping"), false;
    for (size_t i = 0; i < map->n; i++) {
        struct str nearest;
        if (edit_index(map->keys[i]->text, known, &nearest) < 0)
            diag_suggest(r->diags, bad(r, map->keys[i], "unknown key"), nearest);
    }
    return true;
}

/* The text under a key; empty when there is none. */
static struct str text_at(struct reader *r, const struct node *map, const char *key)
{
    const struct node *n = node_get(map, str_of(key));
    if (!n) return (struct str){"", 0};
    if (n->kind != NODE_SCALAR) bad(r, n, "expected a word");
    return n->text;
}

static bool is_true(struct reader *r, const struct node *map, const char *key)
{
    const struct node *n = node_get(map, str_of(key));
    struct value v = n ? node_value(r->arena, n, SCALAR_CORE) : value_bool(false);
    if (v.kind != VALUE_BOOL) bad(r, n, "expected true or false");
    return v.kind == VALUE_BOOL && v.b;
}

/* The index of the word under a key; `otherwise` when the key is absent. */
static int word_at(struct reader *r, const struct node *map, const char *key,
                   const char *const *words, size_t n, int otherwise)
{
    const struct node *node = node_get(map, str_of(key));
    if (!node) return otherwise;
    struct buf list = buf_new(r->arena);
    for (size_t i = 0; i < n; i++) {
        if (node->kind == NODE_SCALAR && str_is(node->text, words[i])) return (int)i;
        buf_printf(&list, "%s%s", i ? ", " : "", words[i]);
    }
    struct str all = buf_str(&list);
    diag_help(r->diags, bad(r, node, "unknown word"), "one of %.*s", STR_ARG(all));
    return otherwise;
}

#define WORD_AT(r, map, key, words, otherwise)                                                     \
    word_at((r), (map), (key), (words), sizeof(words) / sizeof *(words), (int)(otherwise))

/* The items of the list under a key; none when there is no such key. */
static struct node_list list_at(struct reader *r, const struct node *map, const char *key)
{
    const struct node *list = node_get(map, str_of(key));
    if (list && list->kind != NODE_LIST) bad(r, list, "expected a list");
    if (!list || list->kind != NODE_LIST) return (struct node_list){0};
    return (struct node_list){list->items, list->n, list->n};
}

static const struct str *texts_at(struct reader *r, const struct node *map, const char *key,
                                  uint32_t *n)
{
    struct node_list list = list_at(r, map, key);
    struct str *texts = ARENA_ARRAY(r->arena, struct str, list.n);
    for (size_t i = 0; i < list.n; i++)
        texts[i] = list.items[i]->text;
    *n = (uint32_t)list.n;
    return texts;
}

/* The finite number under a key; false when there is none. */
static bool number_at(struct reader *r, const struct node *map, const char *key, double *out)
{
    const struct node *node = node_get(map, str_of(key));
    if (!node) return false;
    struct value v = node_value(r->arena, node, SCALAR_CORE);
    if (v.kind == VALUE_INT) v = value_double((double)v.i);
    bool good = v.kind == VALUE_DOUBLE && isfinite(v.d);
    if (good)
        *out = v.d;
    else
        bad(r, node, "expected a number");
    return good;
}

/* ---- flags and spellings ---- */

static void read_nargs(struct reader *r, const struct node *node, struct param_flag *f)
{
    struct value count = node_value(r->arena, node, SCALAR_CORE);
    if (str_is(node->text, "+") || str_is(node->text, "*")) {
        f->nargs_min = str_is(node->text, "+");
        f->nargs_max = -1;
    } else if (str_is(node->text, "?")) {
        f->nargs_min = 0;
    } else if (count.kind == VALUE_INT && count.i >= 0 && count.i < INT16_MAX) {
        f->nargs_min = f->nargs_max = (int)count.i;
    } else {
        bad(r, node, "nargs is +, *, ? or a number");
    }
}

static void read_flag_mapping(struct reader *r, const struct node *node, struct param_flag *f)
{
    static const char *const known[] = {"flag",       "action",  "const",   "nargs",
                                        "deprecated", "removed", "program", NULL};
    if (!check_keys(r, node, known)) return;
    const struct node *nargs = node_get(node, STR("nargs")),
                      *constant = node_get(node, STR("const"));
    f->flag = text_at(r, node, "flag");
    f->action = (enum flag_action)WORD_AT(r, node, "action", actions, f->action);
    if (nargs) read_nargs(r, nargs, f);
    if (constant) f->constant = node_value(r->arena, constant, SCALAR_CORE);
    f->deprecated = text_at(r, node, "deprecated");
    f->removed = text_at(r, node, "removed");
    f->program = text_at(r, node, "program");
}

static struct param_flag read_flag(struct reader *r, const struct node *node, bool boolean)
{
    struct param_flag f = {.action = boolean ? FLAG_TRUE : FLAG_STORE,
                           .releases = UINT32_MAX,
                           .constant = value_null(),
                           .nargs_min = 1,
                           .nargs_max = 1};
    if (node->kind == NODE_SCALAR)
        f.flag = node->text;
    else
        read_flag_mapping(r, node, &f);
    if (f.program.n) f.nargs_min = 0, f.nargs_max = -1;
    if (f.action != FLAG_STORE && f.action != FLAG_APPEND) f.nargs_min = f.nargs_max = 0;
    if (!str_starts(f.flag, STR("--"))) bad(r, node, "a flag begins with --");
    return f;
}

static void read_default(struct reader *r, const struct node *node, struct value *out)
{
    const struct node *value = node_get(node, STR("default"));
    if (!value) return;
    *out = !value->quoted && str_is(value->text, "unknown")
               ? value_unknown()
               : node_value(r->arena, value, SCALAR_CORE);
}

/* The flags of a spelling: a list, or one by its name, with or without its dashes. */
static void read_flags(struct reader *r, const struct node *node, struct param_spelling *s)
{
    bool boolean = s->type == PARAM_BOOL;
    struct node_list list = list_at(r, node, "flags");
    struct str one = text_at(r, node, "flag");
    if (one.n && !str_starts(one, STR("--"))) one = arena_printf(r->arena, "--%.*s", STR_ARG(one));
    struct node single = {.kind = NODE_SCALAR, .text = one};
    struct param_flag *items = ARENA_ARRAY(r->arena, struct param_flag, list.n + 1);
    for (size_t i = 0; i < list.n; i++)
        items[i] = read_flag(r, list.items[i], boolean);
    if (one.n) items[list.n] = read_flag(r, &single, boolean);
    s->flags = items;
    s->n_flags = (uint32_t)(list.n + (one.n > 0));
}

static const struct param_former *read_former(struct reader *r, const struct node *node,
                                              uint32_t *n)
{
    static const char *const known[] = {"key", "was", "before", "task", "with", NULL};
    struct node_list list = list_at(r, node, "former");
    struct param_former *items = ARENA_ARRAY(r->arena, struct param_former, list.n);
    for (size_t i = 0; i < list.n; i++) {
        const struct node *one = list.items[i];
        if (!check_keys(r, one, known)) continue;
        items[i] = (struct param_former){text_at(r, one, "key"), text_at(r, one, "was"),
                                         text_at(r, one, "before"), text_at(r, one, "task"),
                                         text_at(r, one, "with")};
    }
    *n = (uint32_t)list.n;
    return items;
}

/* `entry` is the parameter's own mapping, whose default holds where the spelling has none. */
static const struct param_spelling *read_spelling(struct reader *r, const struct node *node,
                                                  const struct node *entry, const struct param *p)
{
    static const char *const known[] = {
        "flags",   "flag",    "key",    "more_keys", "inverse",    "type",   "items",    "rule",
        "choices", "default", "also",   "unset",     "under",      "recipe", "provider", "dtype",
        "settled", "fixed",   "single", "former",    "zero_since", "either", NULL};
    struct param_spelling *s = ARENA_NEW(r->arena, struct param_spelling);
    *s = (struct param_spelling){
        .known = true, .default_value = value_null(), .releases = UINT32_MAX};
    if (!check_keys(r, node, known)) return s;
    s->key = text_at(r, node, "key");
    s->more_keys = texts_at(r, node, "more_keys", &s->n_more_keys);
    s->also = texts_at(r, node, "also", &s->n_also);
    s->unset = texts_at(r, node, "unset", &s->n_unset);
    s->former = read_former(r, node, &s->n_former);
    s->zero_since = text_at(r, node, "zero_since");
    s->under = text_at(r, node, "under");
    s->recipe = is_true(r, node, "recipe");
    s->provider = is_true(r, node, "provider");
    s->dtype = is_true(r, node, "dtype");
    s->settled = is_true(r, node, "settled");
    s->fixed = is_true(r, node, "fixed");
    s->inverse = is_true(r, node, "inverse");
    s->either = is_true(r, node, "either");
    s->single = is_true(r, node, "single");
    s->rule = text_at(r, node, "rule");
    s->type = (enum param_type)WORD_AT(r, node, "type", types, p->type);
    s->item_type = (enum param_type)WORD_AT(r, node, "items", types, PARAM_ANY);
    s->choices = p->choices;
    s->n_choices = p->n_choices;
    if (node_get(node, STR("choices"))) s->choices = texts_at(r, node, "choices", &s->n_choices);
    read_default(r, entry, &s->default_value);
    read_default(r, node, &s->default_value);
    read_flags(r, node, s);
    return s;
}

/* ---- parameters ---- */

static void read_range(struct reader *r, const struct node *node, struct param *p)
{
    struct param_range *range = &p->range;
    double above;
    range->has_min = number_at(r, node, "min", &range->min);
    range->has_max = number_at(r, node, "max", &range->max);
    if (number_at(r, node, "exclusive_min", &above)) {
        if (range->has_min) bad(r, node, "min and exclusive_min exclude each other");
        range->has_min = range->above = true;
        range->min = above;
    }
    if (!range->has_min && !range->has_max) return;
    if (!param_type_is_number(p->type)) bad(r, node, "only numbers have a range");
    if (range->has_min && range->has_max && range->min >= range->max)
        bad(r, node, "the range is empty");
}

static void read_param(struct reader *r, const struct node *node, struct param_list *out)
{
    static const char *const known[] = {
        "name",   "symbol",        "aliases",   "type",    "scope",  "unit",  "doc",
        "min",    "max",           "choices",   "affects", "absent", "asked", "megatron",
        "bridge", "exclusive_min", "automodel", "default", NULL};
    if (!check_keys(r, node, known)) return;
    struct param p = {.name = text_at(r, node, "name"),
                      .symbol = text_at(r, node, "symbol"),
                      .unit = text_at(r, node, "unit"),
                      .doc = text_at(r, node, "doc"),
                      .asked = is_true(r, node, "asked")};
    const struct node *absent = node_get(node, STR("absent"));
    p.type = (enum param_type)WORD_AT(r, node, "type", types, PARAM_ANY);
    p.scope = (enum param_scope)WORD_AT(r, node, "scope", scopes, SCOPE_PLAN);
    p.affects = (enum param_effect)WORD_AT(r, node, "affects", effects,
                                           p.scope == SCOPE_MODEL ? AFFECTS_CONVERGENCE
                                                                  : AFFECTS_EXECUTION);
    p.aliases = texts_at(r, node, "aliases", &p.n_aliases);
    p.choices = texts_at(r, node, "choices", &p.n_choices);
    p.absent = absent ? node_value(r->arena, absent, SCALAR_CORE) : value_unknown();
    if (absent && p.scope != SCOPE_MODEL) bad(r, absent, "only facts of a model can be absent");
    read_range(r, node, &p);
    if (!p.name.n || !p.doc.n) bad(r, node, "a parameter needs a name and a doc");
    static const struct param_spelling none = {0};
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        const struct node *spelling = node_get(node, str_of(framework_words[f]));
        p.in[f] = spelling ? read_spelling(r, spelling, node, &p) : &none;
    }
    *VEC_PUSH(r->arena, out) = p;
}

void param_file_read(struct arena *a, struct diags *diags, const struct node *doc,
                     struct param_list *out)
{
    static const char *const known[] = {"moeplan", "kind", "parameters", NULL};
    struct reader r = {a, diags};
    if (!check_keys(&r, doc, known)) return;
    if (!str_is(text_at(&r, doc, "kind"), "Parameters") || !node_get(doc, STR("parameters")))
        bad(&r, doc, "a parameter file has kind: Parameters and a list of parameters");
    struct node_list list = list_at(&r, doc, "parameters");
    for (size_t i = 0; i < list.n; i++)
        read_param(&r, list.items[i], out);
}
