/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/entry.h"

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

static void bad(struct reader *r, const struct node *at, const char *what)
{
    diag_add(r->diags, SEVERITY_ERROR, r->kind == ENTRY_MODEL ? "model-config" : "platform-config",
             node_span(r->diags, at), "%s", what);
    r->good = false;
}

static void add_field(struct reader *r, struct str name, struct value value,
                      const struct node *node)
{
    *VEC_PUSH(r->arena, &r->fields) = (struct entry_field){name, value, node};
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
        struct str name = flat_name(r->arena, g->group, g->prefix, value->keys[i]->text);
        add_field(r, name, node_value(r->arena, value->items[i], SCALAR_CORE), value->items[i]);
    }
    if (str_is(key, "multi_latent_attention")) add_field(r, key, value_bool(true), value);
    return true;
}

static struct str text_of(struct reader *r, const struct node *value)
{
    if (value->kind != NODE_SCALAR) bad(r, value, "expected a word");
    return value->text;
}

static void read_aliases(struct reader *r, const struct node *value)
{
    if (value->kind != NODE_LIST) {
        bad(r, value, "expected a list of names");
        return;
    }
    struct str *names = ARENA_ARRAY(r->arena, struct str, value->n);
    for (size_t i = 0; i < value->n; i++)
        names[i] = text_of(r, value->items[i]);
    r->out->aliases = names;
    r->out->n_aliases = value->n;
}

static int64_t count_of(struct reader *r, const struct node *map, const char *key)
{
    const struct node *n = node_get(map, str_of(key));
    if (!n) return 0;
    struct value v = node_value(r->arena, n, SCALAR_CORE);
    if (v.kind == VALUE_INT && v.i >= 0) return v.i;
    bad(r, n, "expected a number of parameters");
    return 0;
}

static double number_of(struct reader *r, const struct node *map, const char *key, double otherwise)
{
    const struct node *n = node_get(map, str_of(key));
    if (!n) return otherwise;
    struct value v = node_value(r->arena, n, SCALAR_CORE);
    if (v.kind == VALUE_INT) return (double)v.i;
    if (v.kind == VALUE_DOUBLE) return v.d;
    bad(r, n, "expected a number");
    return otherwise;
}

static struct str optional_text(const struct node *map, const char *key)
{
    const struct node *n = node_get(map, str_of(key));
    return n && n->kind == NODE_SCALAR ? n->text : (struct str){"", 0};
}

/* name: {value, low, high, unit, meaning, source, n}, or a bare number. */
static struct entry_coefficient read_coefficient(struct reader *r, struct str name,
                                                 const struct node *node)
{
    struct entry_coefficient c = {.name = name};
    if (node->kind == NODE_SCALAR) {
        struct value v = node_value(r->arena, node, SCALAR_CORE);
        if (!value_is_number(v))
            bad(r, node, "expected a number, or {value, low, high, unit, meaning, source, n}");
        c.value = c.low = c.high = v.kind == VALUE_INT      ? (double)v.i
                                   : v.kind == VALUE_DOUBLE ? v.d
                                                            : 0;
        return c;
    }
    if (!node_get(node, STR("value"))) bad(r, node, "the coefficient has no value");
    c.value = number_of(r, node, "value", 0);
    c.low = number_of(r, node, "low", c.value);
    c.high = number_of(r, node, "high", c.value);
    if (c.low > c.value || c.high < c.value) bad(r, node, "low and high do not enclose the value");
    c.n = (int64_t)number_of(r, node, "n", 0);
    c.unit = optional_text(node, "unit");
    c.meaning = optional_text(node, "meaning");
    c.source = optional_text(node, "source");
    return c;
}

/* Appends the coefficients under a key; absent: nothing. */
static void read_coefficients(struct reader *r, const struct node *file, const char *key)
{
    const struct node *map = node_get(file, str_of(key));
    if (!map || r->kind != ENTRY_PLATFORM) return;
    if (map->kind != NODE_MAP) {
        bad(r, map, "expected a mapping of coefficients");
        return;
    }
    for (size_t i = 0; i < map->n; i++)
        *VEC_PUSH(r->arena, &r->coefficients) =
            read_coefficient(r, map->keys[i]->text, map->items[i]);
}

/* The file's own keys, which are no parameters; true when `key` is one. */
static bool read_own(struct reader *r, struct str key, const struct node *value)
{
    struct entry *e = r->out;
    bool model = r->kind == ENTRY_MODEL;
    if (str_is(key, "moeplan") || str_is(key, "kind")) return true;
    if (str_is(key, "id"))
        e->id = text_of(r, value);
    else if (str_is(key, "name"))
        e->name = text_of(r, value);
    else if (str_is(key, "source"))
        e->source = text_of(r, value);
    else if (str_is(key, "aliases"))
        read_aliases(r, value);
    else if (model && str_is(key, "hf_id"))
        e->hf_id = text_of(r, value);
    else if (str_is(key, "base")) {
        e->base = text_of(r, value);
        e->base_node = value;
    } else if (model && str_is(key, "published")) {
        e->published_total = count_of(r, value, "total_params");
        e->published_active = count_of(r, value, "active_params");
    } else {
        return !model && (str_is(key, "coefficients") || str_is(key, "memory_coefficients"));
    }
    return true;
}

bool entry_read(struct arena *a, struct diags *diags, const struct node *map, enum entry_kind kind,
                struct entry *out)
{
    *out = (struct entry){0};
    struct reader r = {.arena = a, .diags = diags, .kind = kind, .out = out, .good = true};
    if (map->kind != NODE_MAP) {
        bad(&r, map, kind == ENTRY_MODEL ? "a model is a mapping" : "a platform is a mapping");
        return false;
    }
    for (size_t i = 0; i < map->n; i++) {
        struct str key = map->keys[i]->text;
        const struct node *value = map->items[i];
        if (read_own(&r, key, value) || (kind == ENTRY_MODEL && read_group(&r, key, value)))
            continue;
        add_field(&r, key, node_value(a, value, SCALAR_CORE), value);
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

enum { NEAREST = 4 };

/* How far a name is from an id; a part of it, such as "qwen3" of "qwen3-8b", is near. */
static size_t distance(struct str name, struct str id)
{
    if (name.n >= 3 && (str_find_str(id, name) < id.n || str_find_str(name, id) < name.n)) return 1;
    size_t d = edit_distance(name, id);
    return d <= 2 + name.n / 4 ? d + 1 : SIZE_MAX;
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

/* Of "org/Model" only the model, in lower case as ids are. */
static struct str bare_name(struct arena *a, struct str name)
{
    size_t from = name.n;
    while (from > 0 && name.p[from - 1] != '/')
        from--;
    return str_lower(a, str_slice(name, from, name.n));
}

struct str entry_nearest(struct arena *a, const struct entry *entries, size_t n, struct str name)
{
    struct ranking ranking = {0};
    struct str bare = bare_name(a, name);
    for (size_t i = 0; i < n; i++) {
        size_t far = distance(bare, entries[i].id);
        if (far != SIZE_MAX) rank(&ranking, entries[i].id, far);
    }
    struct buf b = buf_new(a);
    for (size_t i = 0; i < ranking.n; i++)
        buf_printf(&b, "%s%.*s", i > 0 ? ", " : "", STR_ARG(ranking.items[i].id));
    return buf_str(&b);
}
