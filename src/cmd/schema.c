/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schemas of what moeplan reads, from the parameter table: editors complete and check files
   with them. */
#include "cmd/schema.h"

#include "cmd/cmd.h"
#include "cmd/schema_settings.h"
#include "facts/entry.h"

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
    if (!is_group(p->name)) schema_reference(w, p->name, p);
    if (p->symbol.n) schema_reference(w, p->symbol, p);
    for (size_t i = 0; i < p->n_aliases; i++)
        if (str_find(p->aliases[i], '.') == p->aliases[i].n) schema_reference(w, p->aliases[i], p);
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
            schema_reference(w, str_slice(name, prefix.n, name.n), &param_table[i]);
    }
    json_close(w, '}');
    json_close(w, '}');
}

static void write_groups(struct json_writer *w)
{
    for (const struct entry_group *g = entry_groups; g->group; g++)
        write_group(w, g);
}

static void write_definitions(struct json_writer *w)
{
    json_open(w, "$defs", '{');
    json_open(w, "parameters", '{');
    for (uint32_t i = 0; i < param_count; i++)
        schema_param(w, &param_table[i]);
    json_close(w, '}');
    json_close(w, '}');
}

/* A plan names its parameters at the top level; those of the model stand there or under `model`. */
static void write_plan(struct json_writer *w)
{
    static const char *const texts[] = {"framework_version", NULL};
    struct str frameworks[FRAMEWORK_COUNT];
    for (int i = 0; i < FRAMEWORK_COUNT; i++)
        frameworks[i] = str_of(framework_name((enum framework)i));
    schema_head(w, "moeplan plan file");
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
    schema_texts(w, texts);
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
    schema_head(w, "moeplan model input");
    json_open(w, "properties", '{');
    schema_texts(w, texts);
    write_groups(w);
    for (uint32_t i = 0; i < param_count; i++)
        if (param_table[i].scope == SCOPE_MODEL) write_names(w, &param_table[i]);
    json_close(w, '}');
    write_definitions(w);
    json_close(w, '}');
}

/* The kinds of files. */
static const struct {
    const char *name;
    void (*write)(struct json_writer *w);
} kinds[] = {
    {"plan", write_plan},     {"model", write_model},          {"platform", schema_platform},
    {"rules", schema_rules},  {"automodel", schema_automodel}, {"settings", schema_settings},
    {"report", schema_report}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int run(struct cmd_context *c)
{
    struct json_writer w = json_writer_new(&c->out);
    struct str what = c->n_arguments ? c->arguments[0] : STR("plan");
    for (size_t i = 0; i < KINDS; i++)
        if (str_is(what, kinds[i].name)) {
            kinds[i].write(&w);
            buf_add_char(&c->out, '\n');
            return STATUS_OK;
        }
    struct str names[KINDS];
    for (size_t i = 0; i < KINDS; i++)
        names[i] = str_of(kinds[i].name);
    return cmd_usage_error(c, "there is a schema of %.*s, not of %.*s",
                           STR_ARG(str_joined(c->keep, names, KINDS)), STR_ARG(what));
}

const struct command command_schema = {
    .name = "schema",
    .arguments = "[plan|model|platform|rules|automodel|settings|report]",
    .max_arguments = 1,
    .examples = "plan",
    .help = "Print the JSON Schema of a kind of file, or of validate's JSON (report)",
    .details = "A file names its schema in a comment that editors read:\n"
               "  # yaml-language-server: $schema=moeplan-plan.json\n",
    .writes_files = true,
    .run = run,
};
