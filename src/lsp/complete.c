/* SPDX-License-Identifier: Apache-2.0 */
/* What could stand where the cursor is. The text is mostly broken while one types: where it cannot
   be read, it is read without the line of the cursor, and where that line stands is told by its
   indentation alone. */
#include "base/map.h"
#include "facts/entry.h"
#include "flow/settings.h"
#include "lsp/feature.h"
#include "lsp/outline.h"

/* As the protocol numbers kinds of completions. */
enum kind { KIND_FIELD = 5, KIND_MODULE = 9, KIND_VALUE = 12 };
enum { MOST_ITEMS = 200 };

struct completion {
    const struct lsp_request *r;
    struct place at;
    const struct facts *facts; /* NULL: none could be read */
    struct str format;         /* a reader's name, or a kind of our own files; empty: unknown */
    enum framework framework;
    struct outline where;
    size_t n;
    bool cut;          /* there are more */
    struct map groups; /* mappings that have been offered */
};

/* ---- items ---- */

static void write_edit(struct completion *c, struct str text)
{
    struct json_writer *w = c->r->w;
    int64_t units = text_units(c->where.word);
    json_open(w, "textEdit", '{');
    json_open(w, "range", '{');
    for (int end = 0; end < 2; end++) {
        json_open(w, end ? "end" : "start", '{');
        json_int(w, "line", c->at.line);
        json_int(w, "character", text_units(c->where.before) - (end ? 0 : units));
        json_close(w, '}');
    }
    json_close(w, '}');
    json_str(w, "newText", text);
    json_close(w, '}');
}

/* Whether the editor can still want it: what was typed stands somewhere in it. */
static bool is_wanted(struct completion *c, struct str label)
{
    if (str_find_str(label, c->where.word) == label.n && c->where.word.n) return false;
    if (c->n < MOST_ITEMS) return true;
    c->cut = true;
    return false;
}

static void offer(struct completion *c, struct str label, enum kind kind, struct str detail,
                  struct str doc)
{
    struct json_writer *w = c->r->w;
    if (!is_wanted(c, label)) return;
    c->n++;
    json_open(w, NULL, '{');
    json_str(w, "label", label);
    json_int(w, "kind", kind);
    json_optional_str(w, "detail", detail);
    json_optional_str(w, "documentation", doc);
    write_edit(c, label);
    json_close(w, '}');
}

/* "int, GPUs; default 1" */
static struct str detail_of(struct completion *c, const struct param *p)
{
    static const char *const types[] = {
        [PARAM_BOOL] = "true or false", [PARAM_INT] = "integer",     [PARAM_DOUBLE] = "number",
        [PARAM_STRING] = "text",        [PARAM_LIST] = "list",       [PARAM_MAP] = "mapping",
        [PARAM_ANY] = "any value",      [PARAM_PATTERN] = "a layer", [PARAM_TUPLE] = "integers"};
    struct buf out = buf_new(c->r->arena);
    buf_add(&out, str_of(types[p->type]));
    if (p->unit.n) buf_printf(&out, ", %.*s", STR_ARG(p->unit));
    bool ours = p >= param_table && p < param_table + param_count;
    if (!c->facts || !ours) return buf_str(&out);
    struct value v = facts_default(c->facts, (int)(p - param_table));
    if (v.kind != VALUE_NULL && v.kind != VALUE_UNKNOWN)
        buf_printf(&out, "; default %.*s", STR_ARG(value_text(c->r->arena, v)));
    return buf_str(&out);
}

static void offer_param(struct completion *c, struct str label, const struct param *p)
{
    offer(c, label, KIND_FIELD, detail_of(c, p), p->doc);
}

static void offer_words(struct completion *c, const char *const *words, enum kind kind)
{
    for (; *words; words++)
        offer(c, str_of(*words), kind, STR(""), STR(""));
}

static void offer_entries(struct completion *c, const struct entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        offer(c, entries[i].id, KIND_VALUE, entries[i].name, entries[i].source);
}

/* ---- values ---- */

static void offer_values(struct completion *c, int param)
{
    static const char *const truths[] = {"true", "false", NULL};
    if (param < 0) return;
    const struct param *p = &param_table[param];
    size_t n = p->n_choices;
    const struct str *choices = c->facts ? facts_choices(c->facts, param, &n) : p->choices;
    if (p->type == PARAM_BOOL) offer_words(c, truths, KIND_VALUE);
    for (size_t i = 0; i < n; i++)
        offer(c, choices[i], KIND_VALUE, STR(""), STR(""));
}

static bool is_own(struct str format)
{
    return str_is_any(format, "plan|model|platform|rules|parameters|settings");
}

static void offer_named_values(struct completion *c, struct str key)
{
    static const char *const kinds[] = {"Model",      "Platform", "Rules",
                                        "Parameters", "Settings", NULL};
    static const char *const frameworks[] = {"megatron", "bridge", "automodel", NULL};
    bool base = str_is(key, "base"), platform = str_is(c->format, "platform");
    if (str_is(key, "platform") || (base && platform))
        offer_entries(c, catalogue_platforms, catalogue_platform_count);
    else if (str_is(key, "model") || base)
        offer_entries(c, catalogue_models, catalogue_model_count);
    else if (str_is(key, "framework"))
        offer_words(c, frameworks, KIND_VALUE);
    else if (str_is(key, "kind"))
        offer_words(c, kinds, KIND_VALUE);
}

static int param_of(const struct completion *c, struct str key)
{
    int param = param_find_key(c->framework, key, NULL);
    return param >= 0 ? param : param_find(key);
}

static void complete_value(struct completion *c)
{
    struct str key = c->where.key, path = c->where.path;
    bool facts = !path.n || str_is_any(path, "defaults|paths.facts");
    if (is_own(c->format) && facts) offer_named_values(c, key);
    if (is_own(c->format)) {
        offer_values(c, param_find(key));
        return;
    }
    if (path.n) key = arena_printf(c->r->arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(key));
    offer_values(c, param_of(c, key));
}

/* ---- keys ---- */

/* The next part of a dotted key below the path: the key's own end, or a mapping on the way. */
static void offer_below(struct completion *c, struct str key, const struct param *p, bool whole)
{
    struct str path = c->where.path;
    if (path.n && (!str_starts(key, path) || key.n <= path.n || key.p[path.n] != '.')) return;
    struct str rest = path.n ? str_slice(key, path.n + 1, key.n) : key;
    size_t end = whole ? rest.n : str_find(rest, '.');
    struct str part = str_slice(rest, 0, end);
    if (end == rest.n)
        offer_param(c, part, p);
    else if (map_put(c->r->arena, &c->groups, part, 0))
        offer(c, part, KIND_MODULE, STR(""), STR(""));
}

/* Keys of the framework: whole, as overrides have them, or what stands in this mapping. */
static void complete_framework(struct completion *c, bool whole)
{
    uint32_t releases = c->facts ? facts_release(c->facts) : 1;
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param_spelling *s = param_table[i].in[c->framework];
        if (!s->known || !s->key.n || !(s->releases & releases)) continue;
        offer_below(c, s->key, &param_table[i], whole);
        for (size_t k = 0; k < s->n_more_keys; k++)
            offer_below(c, s->more_keys[k], &param_table[i], whole);
    }
}

static void complete_flags(struct completion *c)
{
    uint32_t releases = c->facts ? facts_release(c->facts) : 1;
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param_spelling *s = param_table[i].in[FRAMEWORK_MEGATRON];
        for (size_t k = 0; k < s->n_flags; k++) {
            const struct param_flag *flag = &s->flags[k];
            bool good = !flag->removed.n && !flag->deprecated.n && (flag->releases & releases);
            if (good) offer_param(c, flag->flag, &param_table[i]);
        }
    }
}

static void complete_names(struct completion *c, bool (*has)(enum param_scope scope))
{
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param *p = &param_table[i];
        if (!has(p->scope)) continue;
        if (p->symbol.n) offer_param(c, p->symbol, p);
        offer_param(c, p->name, p);
    }
}

static bool is_of_model(enum param_scope scope)
{
    return scope == SCOPE_MODEL;
}

static bool is_of_platform(enum param_scope scope)
{
    return scope == SCOPE_PLATFORM;
}

static bool is_of_plan(enum param_scope scope)
{
    return scope == SCOPE_PLAN || scope == SCOPE_RUN || scope == SCOPE_MODEL;
}

static void complete_coefficients(struct completion *c)
{
    for (uint32_t i = 0; i < coefficient_count; i++)
        offer_param(c, coefficient_table[i].name, &coefficient_table[i]);
}

static void complete_rules(struct completion *c)
{
    static const char *const head[] = {"moeplan",     "kind",   "frameworks",
                                       "variables",   "guides", "overrides",
                                       "assumptions", "rules",  NULL};
    if (!c->where.path.n) offer_words(c, head, KIND_FIELD);
    if (!str_is_any(c->where.path, "rules|overrides|assumptions")) return;
    for (size_t i = 0; rule_key(i); i++)
        offer(c, str_of(rule_key(i)), KIND_FIELD, STR(""), STR(""));
}

static void offer_settings(struct completion *c, const struct settings_key *keys)
{
    for (; keys->name; keys++)
        offer(c, str_of(keys->name), KIND_FIELD, str_of(keys->type), str_of(keys->doc));
}

static void complete_settings(struct completion *c)
{
    struct str path = c->where.path;
    if (!path.n) offer_settings(c, settings_top_keys);
    if (str_is(path, "paths")) offer_settings(c, settings_path_keys);
    if (str_is_any(path, "defaults|paths.facts")) offer_settings(c, settings_fact_keys);
    if (str_is_any(path, "ignore|paths.ignore")) offer_settings(c, settings_ignore_keys);
}

static void complete_own(struct completion *c)
{
    struct str path = c->where.path;
    static const char *const model[] = {"moeplan", "kind", "name", "base", "source", NULL};
    static const char *const plan[] = {"moeplan", "framework", "model", NULL};
    bool plans = str_is(c->format, "plan"), models = str_is(c->format, "model");
    if (str_is(c->format, "rules"))
        complete_rules(c);
    else if (str_is(c->format, "settings"))
        complete_settings(c);
    else if (str_is(path, "coefficients"))
        complete_coefficients(c);
    else if (plans && str_is(path, "model"))
        complete_names(c, is_of_model);
    else if (!path.n) {
        offer_words(c, plans ? plan : model, KIND_FIELD);
        complete_names(c, plans ? is_of_plan : models ? is_of_model : is_of_platform);
    }
}

static void complete_key(struct completion *c)
{
    if (is_own(c->format))
        complete_own(c);
    else if (str_starts(c->where.word, STR("-")) || c->framework == FRAMEWORK_MEGATRON)
        complete_flags(c);
    else
        complete_framework(c, !c->where.yaml);
}

/* ---- the file ---- */

/* The text with nothing on the cursor's line. */
static struct str without_line(struct arena *a, struct str text, int64_t line)
{
    struct str cut = text_line(text, line);
    size_t from = (size_t)(cut.p - text.p);
    return arena_printf(a, "%.*s%.*s", (int)from, text.p, (int)(text.n - from - cut.n),
                        text.p + from + cut.n);
}

static void read_file(struct completion *c, struct lsp_request *r)
{
    struct diags *diags = ARENA_NEW(r->arena, struct diags);
    struct recipe recipe = lsp_recipe(r, diags);
    if (recipe.readings.n) c->facts = recipe.readings.items[0].facts;
    c->format = recipe.format ? str_of(recipe.format->name) : lsp_report(r).format;
}

static void complete(struct completion *c)
{
    struct lsp_request r = *c->r;
    read_file(c, &r);
    if (!c->format.n) {
        r.text = without_line(r.arena, r.text, c->at.line);
        read_file(c, &r);
    }
    bool yaml = is_own(c->format) || str_ends(r.path, STR(".yaml")) ||
                str_ends(r.path, STR(".yml")) || (c->facts && c->facts->document);
    c->where = outline_at(r.arena, c->r->text, c->at, yaml);
    if (c->facts)
        c->framework = c->facts->framework;
    else
        framework_from_name(c->format, &c->framework); /* a reader's name is its framework's */
    if (!c->format.n) return;
    if (c->where.key.n)
        complete_value(c);
    else
        complete_key(c);
}

void lsp_complete(const struct lsp_request *r, struct place at)
{
    struct completion c = {.r = r, .at = at};
    json_open(r->w, NULL, '{');
    json_open(r->w, "items", '[');
    complete(&c);
    json_close(r->w, ']');
    json_bool(r->w, "isIncomplete", c.cut);
    json_close(r->w, '}');
}
