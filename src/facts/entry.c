/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/entry.h"

#include <math.h>

#include "base/buf.h"
#include "base/edit.h"

const struct entry_group entry_groups[] = {
    {"multi_latent_attention", ""},
    {"mamba", "mamba_"},
    {"linear_attention", "linear_"},
    {"vision", "vision_"},
    {"window_attention", "window_"},
    {"dsa_indexer", "dsa_indexer_"},
    {NULL, NULL},
};

struct reader {
    struct arena *arena;
    struct diags *diags;
    enum entry_kind kind;
    struct entry *out;
    VEC(struct entry_field) fields;
    VEC(struct entry_coefficient) coefficients;
    bool good;
};

__attribute__((format(printf, 3, 4))) static struct diag *
bad(struct reader *r, const struct node *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct diag *d = diag_vadd(r->diags, SEVERITY_ERROR,
                               r->kind == ENTRY_MODEL ? "model-config" : "platform-config",
                               node_span(r->diags, at), format, args);
    va_end(args);
    r->good = false;
    return d;
}

/* An error for what should have been a value of another kind. */
static void wrong(struct reader *r, const struct node *at, const char *name, const char *expected)
{
    struct str found = at->kind == NODE_SCALAR ? at->text
                       : at->kind == NODE_LIST ? STR("a list")
                                               : STR("a mapping");
    bad(r, at, "%s takes %s, not %.*s", name, expected, STR_ARG(found));
}

static void add_field(struct reader *r, struct str name, struct value value,
                      const struct node *node, const struct node *key)
{
    *VEC_PUSH(r->arena, &r->fields) =
        (struct entry_field){.name = name, .value = value, .node = node, .key = key};
}

static struct str flat_name(struct arena *a, const char *group, const char *prefix, struct str key)
{
    if (strcmp(group, "linear_attention") == 0 && str_is(key, "freq"))
        return STR("linear_attention_freq");
    return arena_printf(a, "%s%.*s", prefix, STR_ARG(key));
}

/* A group of the model mapping; true when the key names one. */
static bool read_group(struct reader *r, struct str key, const struct node *value)
{
    const struct entry_group *g = entry_groups;
    while (g->group && !str_is(key, g->group))
        g++;
    if (!g->group || value->kind != NODE_MAP) return false;
    for (size_t i = 0; i < value->n; i++) {
        add_field(r, flat_name(r->arena, g->group, g->prefix, value->keys[i]->text),
                  node_value(r->arena, value->items[i], SCALAR_CORE), value->items[i],
                  value->keys[i]);
    }
    if (str_is(key, "multi_latent_attention")) add_field(r, key, value_bool(true), value, value);
    return true;
}

static struct str text_of(struct reader *r, const char *name, const struct node *value)
{
    if (value->kind != NODE_SCALAR) wrong(r, value, name, "a word");
    return value->text;
}

static void read_aliases(struct reader *r, const struct node *value)
{
    if (value->kind != NODE_LIST) {
        wrong(r, value, "aliases", "a list of names");
        return;
    }
    struct str *names = ARENA_ARRAY(r->arena, struct str, value->n);
    for (size_t i = 0; i < value->n; i++)
        names[i] = text_of(r, "an alias", value->items[i]);
    r->out->aliases = names;
    r->out->n_aliases = value->n;
}

static bool truth_of(struct reader *r, const char *name, const struct node *value)
{
    struct value v = node_value(r->arena, value, SCALAR_CORE);
    if (v.kind != VALUE_BOOL) wrong(r, value, name, "true or false");
    return v.kind == VALUE_BOOL && v.b;
}

static int64_t count_of(struct reader *r, const struct node *map, const char *key)
{
    const struct node *n = node_get(map, str_of(key));
    if (!n) return 0;
    struct value v = node_value(r->arena, n, SCALAR_CORE);
    if (v.kind == VALUE_INT && v.i >= 0) return v.i;
    wrong(r, n, key, "a number of parameters");
    return 0;
}

/* A finite number, and nothing else. */
static bool is_finite(struct arena *a, const struct node *node, double *out)
{
    struct value v = node_value(a, node, SCALAR_CORE);
    if (v.kind == VALUE_INT) v = value_double((double)v.i);
    if (v.kind != VALUE_DOUBLE || !isfinite(v.d)) return false;
    *out = v.d;
    return true;
}

static double number_of(struct reader *r, const struct node *map, const char *key, double otherwise)
{
    const struct node *n = node_get(map, str_of(key));
    double number = otherwise;
    if (n && !is_finite(r->arena, n, &number)) wrong(r, n, key, "a number");
    return number;
}

static struct str optional_text(const struct node *map, const char *key)
{
    const struct node *n = node_get(map, str_of(key));
    return n && n->kind == NODE_SCALAR ? n->text : (struct str){"", 0};
}

/* The keys of a coefficient; a misspelt one would silently leave its default. */
static void check_keys(struct reader *r, const struct node *map, const char *const *known)
{
    for (size_t i = 0; i < map->n; i++) {
        struct str nearest;
        if (edit_index(map->keys[i]->text, known, &nearest) >= 0) continue;
        struct diag *d = bad(r, map->keys[i], "unknown key %.*s", STR_ARG(map->keys[i]->text));
        diag_suggest(r->diags, d, nearest);
    }
}

static void read_interval(struct reader *r, const struct node *node, struct entry_coefficient *c)
{
    static const char *const known[] = {"value",   "low",    "high", "unit",
                                        "meaning", "source", "n",    NULL};
    check_keys(r, node, known);
    if (!node_get(node, STR("value")))
        bad(r, node, "the coefficient %.*s has no value", STR_ARG(c->name));
    c->value = number_of(r, node, "value", 0);
    c->low = number_of(r, node, "low", c->value);
    c->high = number_of(r, node, "high", c->value);
    if (c->low > c->value || c->high < c->value)
        bad(r, node, "low and high of %.*s do not enclose its value", STR_ARG(c->name));
    c->n = (int64_t)fmin(fmax(number_of(r, node, "n", 0), 0), INT32_MAX);
    c->unit = optional_text(node, "unit");
    c->meaning = optional_text(node, "meaning");
    c->source = optional_text(node, "source");
}

/* name: {value, low, high, unit, meaning, source, n}, or a bare number. */
static struct entry_coefficient read_coefficient(struct reader *r, const struct node *key,
                                                 const struct node *node)
{
    struct entry_coefficient c = {.name = key->text, .node = node, .key = key};
    if (node->kind == NODE_MAP) {
        read_interval(r, node, &c);
        return c;
    }
    if (!is_finite(r->arena, node, &c.value))
        wrong(r, node, str_dup(r->arena, c.name).p,
              "a number, or {value, low, high, unit, meaning, source, n}");
    c.low = c.high = c.value;
    return c;
}

/* Appends the coefficients under a key; absent: nothing. */
static void read_coefficients(struct reader *r, const struct node *file, const char *key)
{
    const struct node *map = node_get(file, str_of(key));
    if (!map || r->kind != ENTRY_PLATFORM) return;
    if (map->kind != NODE_MAP) {
        wrong(r, map, key, "a mapping of coefficients");
        return;
    }
    for (size_t i = 0; i < map->n; i++)
        *VEC_PUSH(r->arena, &r->coefficients) = read_coefficient(r, map->keys[i], map->items[i]);
}

/* The file's own keys, which are no parameters; true when `key` is one. */
static bool read_own(struct reader *r, struct str key, const struct node *value)
{
    struct entry *e = r->out;
    bool model = r->kind == ENTRY_MODEL;
    if (str_is(key, "moeplan") || str_is(key, "kind")) return true;
    if (str_is(key, "id"))
        e->id = text_of(r, "id", value);
    else if (str_is(key, "name"))
        e->name = text_of(r, "name", value);
    else if (str_is(key, "source"))
        e->source = text_of(r, "source", value);
    else if (str_is(key, "aliases"))
        read_aliases(r, value);
    else if (model && str_is(key, "hf_id"))
        e->hf_id = text_of(r, "hf_id", value);
    else if (!model && str_is(key, "abstract"))
        e->abstract = truth_of(r, "abstract", value);
    else if (str_is(key, "base")) {
        e->base = text_of(r, "base", value);
        e->base_node = value;
    } else if (model && str_is(key, "published")) {
        e->published_total = count_of(r, value, "total_params");
        e->published_active = count_of(r, value, "active_params");
    } else {
        return !model && (str_is(key, "coefficients") || str_is(key, "memory_coefficients"));
    }
    return true;
}

/* moeplan: 1 and the kind, where they are given. */
static bool check_head(struct reader *r, const struct node *map)
{
    const struct {
        const char *key, *expected;
    } head[] = {{"moeplan", "1"}, {"kind", r->kind == ENTRY_MODEL ? "Model" : "Platform"}};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
        const struct node *n = node_get(map, str_of(head[i].key));
        if (n && (n->kind != NODE_SCALAR || !str_is(n->text, head[i].expected)))
            wrong(r, n, head[i].key, head[i].expected);
    }
    return r->good;
}

bool entry_read(struct arena *a, struct diags *diags, const struct node *map, enum entry_kind kind,
                struct entry *out)
{
    *out = (struct entry){0};
    struct reader r = {.arena = a, .diags = diags, .kind = kind, .out = out, .good = true};
    if (map->kind != NODE_MAP) {
        bad(&r, map, "a %s is a mapping", kind == ENTRY_MODEL ? "model" : "platform");
        return false;
    }
    if (!check_head(&r, map)) return false;
    for (size_t i = 0; i < map->n; i++) {
        struct str key = map->keys[i]->text;
        const struct node *value = map->items[i];
        if (node_get(map, key) != value) continue; /* of two equal keys the last one counts */
        if (read_own(&r, key, value) || (kind == ENTRY_MODEL && read_group(&r, key, value)))
            continue;
        add_field(&r, key, node_value(a, value, SCALAR_CORE), value, map->keys[i]);
    }
    read_coefficients(&r, map, "coefficients");
    read_coefficients(&r, map, "memory_coefficients");
    out->coefficients = r.coefficients.items;
    out->n_coefficients = r.coefficients.n;
    out->fields = r.fields.items;
    out->n_fields = r.fields.n;
    return r.good;
}

static bool is_named(const struct entry *e, struct str name)
{
    if (str_eq_nocase(e->id, name) || (e->hf_id.n > 0 && str_eq_nocase(e->hf_id, name)))
        return true;
    for (size_t i = 0; i < e->n_aliases; i++)
        if (str_eq_nocase(e->aliases[i], name)) return true;
    return false;
}

const struct entry *entry_find(const struct entry *entries, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (is_named(&entries[i], name)) return &entries[i];
    return NULL;
}

struct value entry_value(const struct entry *e, const char *name)
{
    for (size_t i = 0; i < e->n_fields; i++)
        if (str_is(e->fields[i].name, name)) return e->fields[i].value;
    return value_null();
}

enum { NEAREST = 4 };

/* How far a name is from an id; a part of it, such as "qwen3" of "qwen3-8b", is near. */
static size_t distance(struct str name, struct str id)
{
    if (name.n >= 3 && (str_find_str(id, name) < id.n || str_find_str(name, id) < name.n)) return 1;
    size_t d = edit_distance(name, id);
    return d <= 1 + name.n / 4 ? d + 1 : SIZE_MAX;
}

/* The nearest ids so far, best first. */
struct ranking {
    struct {
        struct str id;
        size_t distance;
    } items[NEAREST];
    size_t n;
};

static void rank(struct ranking *r, struct str id, size_t far)
{
    size_t at = r->n;
    while (at > 0 && r->items[at - 1].distance > far)
        at--;
    if (at == NEAREST) return;
    if (r->n < NEAREST) r->n++;
    for (size_t k = r->n - 1; k > at; k--)
        r->items[k] = r->items[k - 1];
    r->items[at].id = id;
    r->items[at].distance = far;
}

struct str entry_nearest(struct arena *a, const struct entry *entries, size_t n, struct str name)
{
    struct ranking ranking = {0};
    /* of "org/Model" only the model, in lower case as ids are */
    struct str bare = str_lower(a, str_last_part(name, '/'));
    for (size_t i = 0; i < n; i++) {
        size_t far = distance(bare, entries[i].id);
        if (far != SIZE_MAX) rank(&ranking, entries[i].id, far);
    }
    struct buf b = buf_new(a);
    for (size_t i = 0; i < ranking.n; i++)
        buf_printf(&b, "%s%.*s", i > 0 ? ", " : "", STR_ARG(ranking.items[i].id));
    return buf_str(&b);
}
