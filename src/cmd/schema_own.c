/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas of platform files and of rule files. */
#include "cmd/schema.h"
#include "rules/rule.h"

void schema_mark(struct json_writer *w, const char *kind)
{
    json_open(w, "moeplan", '{');
    json_int(w, "const", 1);
    json_close(w, '}');
    if (!kind) return;
    json_open(w, "kind", '{');
    json_str(w, "const", str_of(kind));
    json_close(w, '}');
}

static void write_types(struct json_writer *w, const char *key, const char *const *types)
{
    json_open(w, key, '{');
    json_open(w, "type", '[');
    for (; *types; types++)
        json_str(w, NULL, str_of(*types));
    json_close(w, ']');
    json_close(w, '}');
}

static void write_list(struct json_writer *w, const char *key)
{
    static const char *const types[] = {"array", "null", NULL};
    write_types(w, key, types);
}

/* ---- platforms ---- */

/* A number, or one with its interval. */
static void write_coefficient(struct json_writer *w, const struct param *p)
{
    static const char *const numbers[] = {"value", "low", "high", "n"};
    static const char *const texts[] = {"unit", "meaning", "source", NULL};
    json_open(w, p->name.p, '{');
    schema_words(w, p);
    json_strs(w, "type", (struct str[]){STR("number"), STR("object")}, 2);
    json_strs(w, "required", (struct str[]){STR("value")}, 1);
    json_open(w, "properties", '{');
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        json_open(w, numbers[i], '{');
        json_str(w, "type", STR("number"));
        json_close(w, '}');
    }
    schema_texts(w, texts);
    json_close(w, '}');
    json_bool(w, "additionalProperties", false);
    json_close(w, '}');
}

static void write_coefficients(struct json_writer *w)
{
    json_open(w, "coefficients", '{');
    json_str(w, "type", STR("object"));
    json_open(w, "properties", '{');
    for (uint32_t i = 0; i < coefficient_count; i++)
        write_coefficient(w, &coefficient_table[i]);
    json_close(w, '}');
    json_bool(w, "additionalProperties", false);
    json_close(w, '}');
}

static void write_facts(struct json_writer *w)
{
    struct arena *a = w->out->arena;
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param *p = &param_table[i];
        if (p->scope != SCOPE_PLATFORM) continue;
        schema_param(w, p);
        for (size_t k = 0; k < p->n_aliases; k++) {
            struct param other = *p;
            other.name = str_dup(a, p->aliases[k]);
            schema_param(w, &other);
        }
    }
}

void schema_platform(struct json_writer *w)
{
    static const char *const texts[] = {"id", "name", "source", "base", NULL};
    schema_head(w, "moeplan platform file");
    json_strs(w, "required", (struct str[]){STR("moeplan"), STR("kind")}, 2);
    json_open(w, "properties", '{');
    schema_mark(w, "Platform");
    schema_texts(w, texts);
    write_list(w, "aliases");
    json_open(w, "abstract", '{');
    json_str(w, "type", STR("boolean"));
    json_close(w, '}');
    write_facts(w);
    write_coefficients(w);
    json_open(w, "memory_coefficients", '{');
    json_str(w, "$ref", STR("#/properties/coefficients"));
    json_close(w, '}');
    json_close(w, '}');
    json_bool(w, "additionalProperties", false);
    json_close(w, '}');
}

/* ---- rules ---- */

static void write_severity(struct json_writer *w)
{
    json_open(w, "severity", '{');
    json_open(w, "enum", '[');
    for (int i = SEVERITY_ERROR; i >= SEVERITY_INFO; i--)
        json_str(w, NULL, str_of(severity_name((enum severity)i)));
    json_close(w, ']');
    json_close(w, '}');
}

/* What a record says, in the keys that its loader takes; expressions are text. */
static void write_record(struct json_writer *w)
{
    static const char *const texts[] = {"id", "message", "why", "help", "source", NULL};
    json_open(w, "record", '{');
    json_str(w, "type", STR("object"));
    json_strs(w, "required", (struct str[]){STR("id")}, 1);
    json_open(w, "properties", '{');
    write_severity(w);
    schema_texts(w, texts);
    for (size_t i = 0; rule_key(i); i++) {
        bool told = str_is(str_of(rule_key(i)), "severity");
        for (size_t k = 0; texts[k]; k++)
            told = told || str_is(str_of(rule_key(i)), texts[k]);
        if (told) continue;
        json_open(w, rule_key(i), '{');
        json_close(w, '}');
    }
    json_close(w, '}');
    json_bool(w, "additionalProperties", false);
    json_close(w, '}');
}

static void write_records(struct json_writer *w, const char *key)
{
    json_open(w, key, '{');
    json_strs(w, "type", (struct str[]){STR("array"), STR("null")}, 2);
    json_open(w, "items", '{');
    json_str(w, "$ref", STR("#/$defs/record"));
    json_close(w, '}');
    json_close(w, '}');
}

void schema_rules(struct json_writer *w)
{
    static const char *const frameworks[] = {"object", "array", "string", "null", NULL};
    schema_head(w, "moeplan rule file");
    json_strs(w, "required", (struct str[]){STR("moeplan"), STR("kind")}, 2);
    json_open(w, "properties", '{');
    schema_mark(w, "Rules");
    write_types(w, "frameworks", frameworks);
    write_list(w, "variables");
    write_list(w, "guides");
    write_records(w, "rules");
    write_records(w, "overrides");
    write_records(w, "assumptions");
    json_close(w, '}');
    json_bool(w, "additionalProperties", false);
    json_open(w, "$defs", '{');
    write_record(w);
    json_close(w, '}');
    json_close(w, '}');
}
