/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/example_words.h"

#include "base/quote.h"
#include "base/vec.h"
#include "emit/emit.h"
#include "emit/flags.h"
#include "facts/automodel.h"
#include "facts/param_ids.h"
#include "flow/said.h"

enum { FLAG_LINE = 100 };

struct words {
    struct arena *arena;
    struct facts *facts;
    bool plan;               /* a plan file: parameters by their own names */
    struct emit_lines lines; /* keys of YAML */
    struct buf text;         /* flags or overrides, one per line */
    struct buf with;         /* what no word says */
};

static void beside(struct words *w, struct str name, struct value v)
{
    struct str text = emit_scalar(w->arena, v);
    buf_printf(&w->with, "%s%.*s %.*s", w->with.n ? ", " : "", STR_ARG(name), STR_ARG(text));
}

static bool has_line(const struct words *w, struct str path)
{
    for (size_t i = 0; i < w->lines.n; i++)
        if (str_eq(w->lines.items[i].path, path)) return true;
    return false;
}

/* What the file's own words say goes before what the table makes of facts: it is added first. */
static void add_key(struct words *w, struct str key, struct value v)
{
    if (w->facts->framework == FRAMEWORK_BRIDGE && !w->plan)
        emit_override(&w->text, key, v);
    else if (!has_line(w, key))
        *VEC_PUSH(w->arena, &w->lines) = (struct emit_line){key, emit_yaml(w->arena, v)};
}

/* ---- the file's own words ---- */

static void add_flag_word(struct words *w, struct value v)
{
    struct str word = quote_shell(w->arena, emit_scalar(w->arena, v));
    buf_printf(&w->text, " %.*s", STR_ARG(word));
}

static void add_flag(struct words *w, struct str flag, struct value v)
{
    buf_add(&w->text, flag);
    if (v.kind == VALUE_LIST)
        for (size_t i = 0; i < v.list->n; i++)
            add_flag_word(w, v.list->items[i]);
    else if (v.kind != VALUE_BOOL && v.kind != VALUE_NULL)
        add_flag_word(w, v);
    buf_add_char(&w->text, '\n');
}

static void add_raw(struct words *w, struct str path, const struct node *node)
{
    struct value v = node_value(w->arena, node, SCALAR_JSON);
    if (str_starts(path, STR("-"))) {
        add_flag(w, path, v);
        return;
    }
    for (size_t i = 0; node->kind == NODE_MAP && i < node->n; i++)
        add_raw(w,
                path.n ? arena_printf(w->arena, "%.*s.%.*s", STR_ARG(path),
                                      STR_ARG(node->keys[i]->text))
                       : node->keys[i]->text,
                node->items[i]);
    bool marks = w->plan && v.kind == VALUE_BOOL; /* whose file it is */
    if (path.n && !marks && (node->kind != NODE_MAP || !node->n)) add_key(w, path, v);
}

/* ---- facts ---- */

static bool add_by_flag(struct words *w, int param)
{
    struct value v = facts_get(w->facts, param)->value;
    const struct param_spelling *in = param_table[param].in[FRAMEWORK_MEGATRON];
    if (v.kind != VALUE_NULL && said_at_all(w->facts, param)) {
        flags_add_param(w->facts, param, "", "\n", &w->text);
        return true;
    }
    bool off = v.kind == VALUE_NULL || (v.kind == VALUE_BOOL && !v.b);
    if (!in->n_flags) return false;
    if (off)
        beside(w, STR("no"), value_string(in->flags[0].flag));
    else
        add_flag(w, in->flags[0].flag, v); /* on its way out, which the rule may be about */
    return true;
}

static bool add_by_key(struct words *w, int param)
{
    const struct param_spelling *in = param_table[param].in[w->facts->framework];
    if (in->key.n)
        add_key(w, in->key, emit_spelled(w->arena, in, facts_get(w->facts, param)->value));
    return in->key.n;
}

/* A kind of run is said by the class that runs it. */
static bool add_recipe(struct words *w, struct value kind)
{
    if (w->facts->framework != FRAMEWORK_AUTOMODEL || kind.kind != VALUE_STRING) return false;
    for (size_t i = 0; i < automodel_recipe_count; i++) {
        if (!str_eq(automodel_recipes[i].kind, kind.s)) continue;
        add_key(w, STR("recipe"), value_string(automodel_recipes[i].name));
        return true;
    }
    return false;
}

static void add_fact(struct words *w, int param, struct value v)
{
    bool said = false;
    facts_change(w->facts, param)->value = v;
    if (w->plan) {
        add_key(w, param_table[param].name, v);
        return;
    }
    if (param == P_recipe_kind)
        said = add_recipe(w, v);
    else if (w->facts->framework == FRAMEWORK_MEGATRON)
        said = add_by_flag(w, param);
    else
        said = add_by_key(w, param);
    if (!said) beside(w, param_table[param].name, v);
}

static void add_facts(struct words *w, const struct node *root)
{
    for (size_t i = 0; i < root->n; i++) {
        int param = param_find(root->keys[i]->text);
        if (param >= 0) add_fact(w, param, node_value(w->arena, root->items[i], SCALAR_JSON));
    }
}

static void add_environment(struct words *w, const struct node *env)
{
    for (size_t i = 0; env && env->kind == NODE_MAP && i < env->n; i++)
        beside(w, arena_printf(w->arena, "%.*s =", STR_ARG(env->keys[i]->text)),
               value_string(env->items[i]->text));
}

/* ---- the text ---- */

/* Megatron-LM has no word that is no flag: such an example is about a plan, or about metrics. */
static bool is_about_plan(const struct rule *r, const struct facts *f, const struct node *raw)
{
    if (r->role == ROLE_ASSUMPTION) return true; /* what silence of a plan means */
    return f->framework == FRAMEWORK_MEGATRON && raw && raw->kind == NODE_MAP && raw->n &&
           !str_starts(raw->keys[0]->text, STR("-"));
}

/* Flags as a command line, broken where it becomes too long. */
static struct str command_line(struct arena *a, struct str flags)
{
    struct buf out = buf_new(a);
    struct str flag;
    size_t column = 0;
    for (flags = str_trim(flags); str_split(&flags, '\n', &flag);) {
        bool full = column && column + 1 + flag.n > FLAG_LINE;
        buf_add(&out, full ? STR(" \\\n") : column ? STR(" ") : STR(""));
        buf_add(&out, flag);
        column = (full ? 0 : column + 1) + flag.n;
    }
    if (out.n) buf_add_char(&out, '\n');
    return buf_str(&out);
}

/* A section that is empty is only said where nothing else stands in it. */
static void drop_empty_sections(struct words *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->lines.n; i++) {
        struct emit_line line = w->lines.items[i];
        struct str inside = arena_printf(w->arena, "%.*s.", STR_ARG(line.path));
        bool filled = false;
        for (size_t k = 0; k < w->lines.n; k++)
            filled |= str_starts(w->lines.items[k].path, inside);
        if (!filled) w->lines.items[n++] = line;
    }
    w->lines.n = n;
}

static struct str text_of(struct words *w)
{
    struct buf out = buf_new(w->arena);
    struct str said = buf_str(&w->text), with = buf_str(&w->with);
    if (w->facts->framework == FRAMEWORK_MEGATRON && !w->plan) said = command_line(w->arena, said);
    buf_add(&out, said);
    drop_empty_sections(w);
    emit_keys(&w->lines, &out);
    if (with.n) buf_printf(&out, "# with %.*s\n", STR_ARG(with));
    return str_trim(buf_str(&out));
}

struct str example_words(struct arena *a, const struct rule *r, const struct rule_example *example)
{
    struct diags quiet;
    diags_init(&quiet, a);
    const struct node *root;
    struct words w = {.arena = a, .text = buf_new(a), .with = buf_new(a)};
    w.facts = rule_example_start(a, &quiet, r, example, &root);
    if (!w.facts) return STR("");
    struct str written = str_trim(rule_example_text(root));
    const struct node *raw = node_get(root, STR("raw"));
    w.plan = is_about_plan(r, w.facts, raw);
    const struct node *framework = node_get(root, STR("framework"));
    if (w.plan && framework) add_key(&w, STR("framework"), value_string(framework->text));
    if (raw) add_raw(&w, STR(""), raw);
    add_facts(&w, root);
    add_environment(&w, node_get(root, STR("env")));
    struct str rest = text_of(&w);
    if (!written.n && !rest.n) return STR("# nothing is written");
    return arena_printf(a, "%.*s%s%.*s", STR_ARG(written), written.n && rest.n ? "\n" : "",
                        STR_ARG(rest));
}
