/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/schema_settings.h"

#include "emit/report.h"
#include "flow/settings.h"

static void write_head(struct json_writer *w, const char *title)
{
    json_open(w, NULL, '{');
    json_str(w, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
    json_str(w, "title", str_of(title));
}

/* ---- settings ---- */

static void write_keys(struct json_writer *w, const struct settings_key *keys);

static void write_items(struct json_writer *w, const char *type)
{
    json_str(w, "type", STR("array"));
    json_open(w, "items", '{');
    json_str(w, "type", str_of(type));
    json_close(w, '}');
}

/* One text, or a list of them. */
static void write_texts(struct json_writer *w)
{
    json_open(w, "anyOf", '[');
    json_open(w, NULL, '{');
    json_str(w, "type", STR("string"));
    json_close(w, '}');
    json_open(w, NULL, '{');
    write_items(w, "string");
    json_close(w, '}');
    json_close(w, ']');
}

static void write_ignores(struct json_writer *w)
{
    json_str(w, "type", STR("array"));
    json_open(w, "items", '{');
    json_open(w, "anyOf", '[');
    json_open(w, NULL, '{');
    json_str(w, "type", STR("string"));
    json_close(w, '}');
    json_open(w, NULL, '{');
    write_keys(w, settings_ignore_keys);
    json_close(w, '}');
    json_close(w, ']');
    json_close(w, '}');
}

static void write_words(struct json_writer *w, const char *words)
{
    struct str rest = str_of(words), word;
    json_open(w, "enum", '[');
    while (str_split(&rest, '|', &word))
        json_str(w, NULL, word);
    json_close(w, ']');
}

static void write_type(struct json_writer *w, const char *type)
{
    struct str t = str_of(type);
    if (str_is(t, "facts"))
        write_keys(w, settings_fact_keys);
    else if (str_is(t, "texts"))
        write_texts(w);
    else if (str_is(t, "ignores"))
        write_ignores(w);
    else if (str_is(t, "severity"))
        write_words(w, "error|warning|info");
    else if (str_is(t, "framework"))
        write_words(w, FRAMEWORK_WORDS);
    else if (str_is(t, "kind"))
        write_words(w, "Settings");
    else if (str_is(t, "one"))
        json_int(w, "const", 1);
    else if (str_is(t, "day"))
        json_str(w, "pattern", STR("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"));
    else if (str_is(t, "map"))
        json_str(w, "type", STR("object"));
    else if (str_is(t, "text"))
        json_strs(w, "type", (struct str[]){STR("string"), STR("number")}, 2);
    else if (str_is(t, "severities")) {
        json_str(w, "type", STR("object"));
        json_open(w, "additionalProperties", '{');
        write_words(w, "off|info|warning|error");
        json_close(w, '}');
    } else if (str_is(t, "paths")) {
        json_str(w, "type", STR("array"));
        json_open(w, "items", '{');
        write_keys(w, settings_path_keys);
        json_strs(w, "required", (struct str[]){STR("match")}, 1);
        json_close(w, '}');
    } else
        json_str(w, "type", t);
}

static void write_described(struct json_writer *w, struct str name, struct str doc)
{
    json_open(w, name.p, '{');
    json_str(w, "description", doc);
    json_close(w, '}');
}

/* By all its names. */
static void write_parameter(struct json_writer *w, const struct param *p)
{
    write_described(w, p->name, p->doc);
    if (p->symbol.n && !str_eq(p->symbol, p->name)) write_described(w, p->symbol, p->doc);
    for (size_t i = 0; i < p->n_aliases; i++)
        write_described(w, p->aliases[i], p->doc);
}

/* Facts may be any parameter beside the words. */
static void write_keys(struct json_writer *w, const struct settings_key *keys)
{
    bool are_facts = keys == settings_fact_keys;
    json_str(w, "type", STR("object"));
    json_open(w, "properties", '{');
    for (; keys->name; keys++) {
        json_open(w, keys->name, '{');
        json_str(w, "description", str_of(keys->doc));
        write_type(w, keys->type);
        json_close(w, '}');
    }
    for (uint32_t i = 0; are_facts && i < param_count; i++)
        write_parameter(w, &param_table[i]);
    json_close(w, '}');
    if (are_facts) { /* a framework's own key or flag */
        json_open(w, "patternProperties", '{');
        json_open(w, "[.-]", '{');
        json_close(w, '}');
        json_close(w, '}');
    }
    json_bool(w, "additionalProperties", false);
}

void schema_settings(struct json_writer *w)
{
    write_head(w, "moeplan settings: .moeplan.yaml");
    write_keys(w, settings_top_keys);
    json_close(w, '}');
}

/* ---- the report ---- */

/* A member by its name and type: "s" a text, "S" a text or null, "n" a number, "N" a number or
   null, "b" a truth value, "t" a list of texts. */
static void write_members(struct json_writer *w, const char *members)
{
    static const struct {
        char type;
        const char *first, *second;
    } types[] = {{'s', "string", NULL},    {'S', "string", "null"}, {'n', "integer", NULL},
                 {'N', "integer", "null"}, {'b', "boolean", NULL},  {'t', "array", NULL}};
    struct str rest = str_of(members), word;
    while (str_split(&rest, ' ', &word)) {
        struct str name = str_slice(word, 2, word.n);
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            if (types[i].type != word.p[0]) continue;
            struct str names[] = {str_of(types[i].first), str_of(types[i].second)};
            json_open(w, str_dup(w->out->arena, name).p, '{');
            json_strs(w, "type", names, types[i].second ? 2 : 1);
            json_close(w, '}');
        }
    }
}

static void write_required(struct json_writer *w, const char *names)
{
    struct str rest = str_of(names), word;
    json_open(w, "required", '[');
    while (str_split(&rest, ' ', &word))
        json_str(w, NULL, word);
    json_close(w, ']');
}

static void open_object(struct json_writer *w, const char *key)
{
    json_open(w, key, '{');
    json_str(w, "type", STR("object"));
    json_bool(w, "additionalProperties", false);
    json_open(w, "properties", '{');
}

static void open_list(struct json_writer *w, const char *key)
{
    json_open(w, key, '{');
    json_str(w, "type", STR("array"));
    open_object(w, "items");
}

/* Ends the properties and the object; `list`: the list too. */
static void close_object(struct json_writer *w, const char *required, bool list)
{
    json_close(w, '}');
    write_required(w, required);
    json_close(w, '}');
    if (list) json_close(w, '}');
}

static void write_fix(struct json_writer *w)
{
    json_open(w, "fix", '{');
    json_open(w, "anyOf", '[');
    json_open(w, NULL, '{');
    json_str(w, "type", STR("null"));
    json_close(w, '}');
    open_object(w, NULL);
    write_members(w, "S:text b:safe");
    open_list(w, "edits");
    write_members(w, "n:line n:column n:end_line n:end_column s:text");
    close_object(w, "line column end_line end_column text", true);
    close_object(w, "text safe edits", false);
    json_close(w, ']');
    json_close(w, '}');
}

static void write_file(struct json_writer *w)
{
    open_list(w, "files");
    write_members(w, "s:path S:format S:framework S:framework_version S:model N:gpus S:environment "
                     "s:status n:rules_skipped");
    open_list(w, "diagnostics");
    write_members(w, "s:rule s:severity s:message s:path n:line n:column n:end_line n:end_column "
                     "n:document S:parameter t:notes S:help S:guide t:covers S:source");
    write_fix(w);
    close_object(w, "rule severity message line column end_line end_column document fix", true);
    open_list(w, "hidden");
    write_members(w, "s:rule s:severity s:message n:line s:state S:reason");
    close_object(w, "rule severity message line state reason", true);
    open_object(w, "valid_gpus");
    write_members(w, "n:multiple_of n:up_to t:sizes");
    close_object(w, "multiple_of up_to sizes", false);
    close_object(w, "path format status diagnostics rules_skipped", true);
}

void schema_report(struct json_writer *w)
{
    write_head(w, "moeplan validate --format json");
    json_str(w, "type", STR("object"));
    json_bool(w, "additionalProperties", false);
    json_open(w, "properties", '{');
    json_open(w, "schema", '{');
    json_int(w, "const", REPORT_SCHEMA);
    json_close(w, '}');
    write_file(w);
    open_object(w, "summary");
    write_members(w, "n:files n:errors n:warnings n:infos");
    close_object(w, "files errors warnings infos", false);
    json_close(w, '}');
    write_required(w, "schema files summary");
    json_close(w, '}');
}
