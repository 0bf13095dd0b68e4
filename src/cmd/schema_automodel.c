/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of NeMo AutoModel's recipes: the mappings that its typed sections and our parameters
   have between them. A section takes any further key, as the class named in it may: what is an
   error there, moeplan says. */
#include "base/map.h"
#include "cmd/schema.h"
#include "facts/automodel.h"

/* The keys of a mapping, each once. */
struct keys {
    struct arena *arena;
    struct map known;
    VEC(struct str) list;
};

static void add_key(struct keys *keys, struct str key)
{
    if (map_put(keys->arena, &keys->known, key, 0)) *VEC_PUSH(keys->arena, &keys->list) = key;
}

/* The part of a dotted key below a path; empty when it does not lie there. */
static struct str below(struct str key, struct str path)
{
    if (!path.n) return key;
    if (!str_starts(key, path) || key.n <= path.n || key.p[path.n] != '.') return STR("");
    return str_slice(key, path.n + 1, key.n);
}

static void add_below(struct keys *keys, struct str key, struct str path)
{
    struct str rest = below(key, path);
    if (rest.n) add_key(keys, str_slice(rest, 0, str_find(rest, '.')));
}

static struct keys keys_of(struct arena *a, struct str path)
{
    struct keys keys = {.arena = a};
    for (uint32_t i = 0; i < automodel_section_count; i++) {
        const struct automodel_section *s = &automodel_sections[i];
        bool here = str_eq(s->path, path) || (!path.n && str_is(s->path, "."));
        for (size_t k = 0; here && k < s->n_keys; k++)
            add_key(&keys, s->keys[k]);
        if (!str_is(s->path, ".")) add_below(&keys, s->path, path);
    }
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param_spelling *s = param_table[i].in[FRAMEWORK_AUTOMODEL];
        if (!s->known) continue;
        add_below(&keys, s->key, path);
        for (size_t k = 0; k < s->n_more_keys; k++)
            add_below(&keys, s->more_keys[k], path);
    }
    return keys;
}

/* The loader turns text into numbers and truth values, and variables into both. */
static void write_type(struct json_writer *w, enum param_type type)
{
    static const char *const types[] = {[PARAM_BOOL] = "boolean",
                                        [PARAM_INT] = "number",
                                        [PARAM_DOUBLE] = "number",
                                        [PARAM_STRING] = "string"};
    if (type > PARAM_STRING) return;
    json_open(w, "type", '[');
    json_str(w, NULL, str_of(types[type]));
    if (type != PARAM_STRING) json_str(w, NULL, STR("string"));
    json_str(w, NULL, STR("null"));
    json_close(w, ']');
}

/* Words to choose from; a variable may stand for one. */
static void write_choices(struct json_writer *w, const struct param_spelling *s)
{
    if (!s->n_choices) return;
    json_open(w, "anyOf", '[');
    json_open(w, NULL, '{');
    json_strs(w, "enum", s->choices, s->n_choices);
    json_close(w, '}');
    json_open(w, NULL, '{');
    json_close(w, '}');
    json_close(w, ']');
}

static void write_leaf(struct json_writer *w, int param)
{
    const struct param_spelling *s = param_table[param].in[FRAMEWORK_AUTOMODEL];
    write_type(w, s->type);
    write_choices(w, s);
    schema_words(w, &param_table[param]);
    if (s->default_value.kind != VALUE_UNKNOWN) json_value(w, "default", s->default_value);
}

static void write_properties(struct json_writer *w, struct str path, const struct keys *keys);

static void write_key(struct json_writer *w, struct str path, struct str key)
{
    struct arena *a = w->out->arena;
    struct str whole =
        path.n ? arena_printf(a, "%.*s.%.*s", STR_ARG(path), STR_ARG(key)) : str_dup(a, key);
    struct keys keys = keys_of(a, whole);
    int param = param_find_key(FRAMEWORK_AUTOMODEL, whole, NULL);
    json_open(w, str_dup(a, key).p, '{');
    if (keys.list.n)
        write_properties(w, whole, &keys);
    else if (param >= 0)
        write_leaf(w, param);
    json_close(w, '}');
}

static void write_properties(struct json_writer *w, struct str path, const struct keys *keys)
{
    json_open(w, "properties", '{');
    for (size_t i = 0; i < keys->list.n; i++)
        write_key(w, path, keys->list.items[i]);
    json_close(w, '}');
}

void schema_automodel(struct json_writer *w)
{
    struct keys keys = keys_of(w->out->arena, STR(""));
    schema_head(w, "NeMo AutoModel recipe");
    write_properties(w, STR(""), &keys);
    json_close(w, '}');
}
