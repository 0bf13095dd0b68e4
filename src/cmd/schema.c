/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schemas of what moeplan reads, from the parameter table: editors complete and check plan
 * files with them. */
#include "cmd/cmd.h"
#include "emit/json_writer.h"
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
        [PARAM_TUPLE] = {{"array", "string", "null"}},
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

static void write_param(struct json_writer *w, const struct param *p)
{
    json_open(w, p->name.p, '{');
    write_type(w, p->type);
    write_choices(w, p);
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

/* Every name of the model's parameters, or of all. */
static void write_names(struct json_writer *w, bool model_only)
{
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param *p = &param_table[i];
        if (model_only && p->scope != SCOPE_MODEL) continue;
        write_reference(w, p->name, p);
        if (p->symbol.n) write_reference(w, p->symbol, p);
        for (size_t k = 0; k < p->n_aliases; k++)
            if (str_find(p->aliases[k], '.') == p->aliases[k].n)
                write_reference(w, p->aliases[k], p);
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
    write_head(w, "moeplan plan file");
    json_open(w, "required", '[');
    json_str(w, NULL, STR("moeplan"));
    json_close(w, ']');
    json_open(w, "properties", '{');
    json_open(w, "moeplan", '{');
    json_int(w, "const", 1);
    json_close(w, '}');
    json_open(w, "framework", '{');
    json_open(w, "enum", '[');
    for (int i = 0; i < FRAMEWORK_COUNT; i++)
        json_str(w, NULL, str_of(framework_name((enum framework)i)));
    json_close(w, ']');
    json_close(w, '}');
    json_open(w, "framework_version", '{');
    json_str(w, "type", STR("string"));
    json_close(w, '}');
    json_open(w, "model", '{');
    json_open(w, "type", '[');
    json_str(w, NULL, STR("string"));
    json_str(w, NULL, STR("object"));
    json_close(w, ']');
    json_close(w, '}');
    write_names(w, false);
    json_close(w, '}');
    json_bool(w, "additionalProperties", false);
    write_definitions(w);
    json_close(w, '}');
}

static void write_model(struct json_writer *w)
{
    write_head(w, "moeplan model input");
    json_open(w, "properties", '{');
    json_open(w, "base", '{');
    json_str(w, "description", STR("catalogue entry that the rest overrides"));
    json_str(w, "type", STR("string"));
    json_close(w, '}');
    write_names(w, true);
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
    .help = "Print the JSON Schema of plan files or of model inputs",
    .run = run,
};
