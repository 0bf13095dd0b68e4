/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schemas of what moeplan reads, from the parameter table: editors complete and check plan
 * files with them. */
#include "cmd/cmd.h"
#include "emit/json_writer.h"
#include "facts/entry.h"
#include "facts/param.h"

static const char DIALECT[] = "https://json-schema.org/draft/2020-12/schema";

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

static void write_param(struct json_writer *w, const struct param *p)
{
    json_open(w, p->name.p, '{');
    write_type(w, p->type);
    write_choices(w, p);
    write_range(w, p);
    json_optional_str(w, "description", p->doc);
    json_optional_str(w, "x-unit", p->unit);
    json_close(w, '}');
}

/* The symbol and the further names say the same as the name. */
static void write_reference(struct json_writer *w, struct str other, const struct param *p)
{
    struct arena *a = w->out->arena;
    json_open(w, str_dup(a, other).p, '{');
    json_str(w, "$ref", arena_printf(a, "#/$defs/parameters/%.*s", STR_ARG(p->name)));
    json_close(w, '}');
}

/* ---- names ---- */

static bool is_group(struct str name)
{
    for (const struct entry_group *g = entry_groups; g->group; g++)
        if (str_is(name, g->group)) return true;
    return false;
}

/* A parameter under its name, symbol and aliases; names with a point are spellings of --set. */
static void write_names(struct json_writer *w, const struct param *p)
{
    if (!is_group(p->name)) write_reference(w, p->name, p);
    if (p->symbol.n) write_reference(w, p->symbol, p);
    for (size_t i = 0; i < p->n_aliases; i++)
        if (str_find(p->aliases[i], '.') == p->aliases[i].n) write_reference(w, p->aliases[i], p);
}

/* Keys of a group of the model mapping: the parameters with its prefix. */
static void write_group(struct json_writer *w, const struct entry_group *g)
{
    struct str prefix = str_of(g->prefix);
    json_open(w, g->group, '{');
    json_strs(w, "type", (struct str[]){STR("object"), STR("boolean"), STR("null")}, 3);
    json_open(w, "properties", '{');
    for (uint32_t i = 0; prefix.n && i < param_count; i++) {
        struct str name = param_table[i].name;
        if (param_table[i].scope == SCOPE_MODEL && str_starts(name, prefix))
            write_reference(w, str_slice(name, prefix.n, name.n), &param_table[i]);
    }
    json_close(w, '}');
    json_close(w, '}');
}

static void write_groups(struct json_writer *w)
{
    for (const struct entry_group *g = entry_groups; g->group; g++)
        write_group(w, g);
}

static void write_texts(struct json_writer *w, const char *const *keys)
{
    for (; *keys; keys++) {
        json_open(w, *keys, '{');
        json_str(w, "type", STR("string"));
        json_close(w, '}');
    }
}

static void write_definitions(struct json_writer *w)
{
    json_open(w, "$defs", '{');
    json_open(w, "parameters", '{');
    for (uint32_t i = 0; i < param_count; i++)
        write_param(w, &param_table[i]);
    json_close(w, '}');
    json_close(w, '}');
}

static void write_head(struct json_writer *w, const char *title)
{
    json_open(w, NULL, '{');
    json_str(w, "$schema", str_of(DIALECT));
    json_str(w, "title", str_of(title));
    json_str(w, "type", STR("object"));
}

/* A plan names its parameters at the top level; those of the model stand there or under `model`. */
static void write_plan(struct json_writer *w)
{
    static const char *const texts[] = {"framework_version", NULL};
    struct str frameworks[FRAMEWORK_COUNT];
    for (int i = 0; i < FRAMEWORK_COUNT; i++)
        frameworks[i] = str_of(framework_name((enum framework)i));
    write_head(w, "moeplan plan file");
    json_strs(w, "required", (struct str[]){STR("moeplan")}, 1);
    json_open(w, "properties", '{');
    json_open(w, "moeplan", '{');
    json_int(w, "const", 1);
    json_close(w, '}');
    json_open(w, "framework", '{');
    json_strs(w, "enum", frameworks, FRAMEWORK_COUNT);
    json_close(w, '}');
    json_open(w, "model", '{');
    json_strs(w, "type", (struct str[]){STR("string"), STR("object")}, 2);
    json_close(w, '}');
    write_texts(w, texts);
    write_groups(w);
    for (uint32_t i = 0; i < param_count; i++)
        write_names(w, &param_table[i]);
    json_close(w, '}');
    json_bool(w, "additionalProperties", false);
    write_definitions(w);
    json_close(w, '}');
}

static void write_model(struct json_writer *w)
{
    static const char *const texts[] = {"name", "base", "kind", "id", "hf_id", "source", NULL};
    write_head(w, "moeplan model input");
    json_open(w, "properties", '{');
    write_texts(w, texts);
    write_groups(w);
    for (uint32_t i = 0; i < param_count; i++)
        if (param_table[i].scope == SCOPE_MODEL) write_names(w, &param_table[i]);
    json_close(w, '}');
    write_definitions(w);
    json_close(w, '}');
}

static int run(struct cmd_context *c)
{
    struct json_writer w = json_writer_new(&c->out);
    struct str what = c->n_arguments ? c->arguments[0] : STR("plan");
    if (str_is(what, "plan"))
        write_plan(&w);
    else if (str_is(what, "model"))
        write_model(&w);
    else
        return cmd_usage_error(c, "there is a schema of plan and of model, not of %.*s",
                               STR_ARG(what));
    buf_add_char(&c->out, '\n');
    return STATUS_OK;
}

const struct command command_schema = {
    .name = "schema",
    .arguments = "[plan|model]",
    .max_arguments = 1,
    .examples = "plan",
    .help = "Print the JSON Schema of plan files or of model inputs",
    .writes_files = true,
    .run = run,
};
