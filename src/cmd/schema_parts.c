/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/schema.h"

/* The JSON types a value may have; null says "explicitly none". */
static void write_type(struct json_writer *w, enum param_type type)
{
    static const struct {
        const char *names[4];
    } types[] = {
        [PARAM_BOOL] = {{"boolean", "null"}},
        [PARAM_INT] = {{"integer", "null"}},
        [PARAM_DOUBLE] = {{"number", "null"}},
        [PARAM_STRING] = {{"string", "null"}},
        [PARAM_LIST] = {{"array", "string", "null"}},
        [PARAM_MAP] = {{"object", "null"}},
        [PARAM_ANY] = {{NULL}},
        [PARAM_PATTERN] = {{"integer", "array", "string", "null"}},
        [PARAM_TUPLE] = {{"integer", "array", "string", "null"}},
    };
    if (!types[type].names[0]) return;
    json_open(w, "type", '[');
    for (size_t i = 0; i < 4 && types[type].names[i]; i++)
        json_str(w, NULL, str_of(types[type].names[i]));
    json_close(w, ']');
}

static void write_choices(struct json_writer *w, const struct param *p)
{
    if (!p->n_choices || p->type != PARAM_STRING) return;
    json_open(w, "enum", '[');
    for (size_t i = 0; i < p->n_choices; i++)
        json_str(w, NULL, p->choices[i]);
    json_null(w, NULL);
    json_close(w, ']');
}

static void write_bound(struct json_writer *w, const char *key, enum param_type type, double d)
{
    json_value(w, key, type == PARAM_INT ? value_int((int64_t)d) : value_double(d));
}

static void write_range(struct json_writer *w, const struct param *p)
{
    const struct param_range *r = &p->range;
    if (r->has_min) write_bound(w, r->above ? "exclusiveMinimum" : "minimum", p->type, r->min);
    if (r->has_max) write_bound(w, "maximum", p->type, r->max);
}

void schema_words(struct json_writer *w, const struct param *p)
{
    json_optional_str(w, "description", p->doc);
    json_optional_str(w, "x-unit", p->unit);
}

void schema_param(struct json_writer *w, const struct param *p)
{
    json_open(w, p->name.p, '{');
    write_type(w, p->type);
    write_choices(w, p);
    write_range(w, p);
    schema_words(w, p);
    json_close(w, '}');
}

void schema_reference(struct json_writer *w, struct str other, const struct param *p)
{
    struct arena *a = w->out->arena;
    json_open(w, str_dup(a, other).p, '{');
    json_str(w, "$ref", arena_printf(a, "#/$defs/parameters/%.*s", STR_ARG(p->name)));
    json_close(w, '}');
}

void schema_texts(struct json_writer *w, const char *const *keys)
{
    for (; *keys; keys++) {
        json_open(w, *keys, '{');
        json_str(w, "type", STR("string"));
        json_close(w, '}');
    }
}

void schema_head(struct json_writer *w, const char *title)
{
    json_open(w, NULL, '{');
    json_str(w, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
    json_str(w, "title", str_of(title));
    json_str(w, "type", STR("object"));
}
