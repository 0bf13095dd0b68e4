/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/record.h"

#include <stddef.h>

#include "base/buf.h"
#include "base/edit.h"
#include "base/json.h"
#include "base/num.h"
#include "base/version.h"

struct diag *record_error(struct loader *l, const struct node *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct diag *d =
        diag_vadd(l->diags, SEVERITY_ERROR, "rule-file", node_span(l->diags, at), format, args);
    va_end(args);
    l->failed = true;
    return d;
}

void record_check_keys(struct loader *l, const struct node *map, const char *const *allowed)
{
    for (size_t i = 0; i < map->n; i++) {
        struct str nearest, key = map->keys[i]->text;
        if (edit_index(key, allowed, &nearest) < 0)
            diag_suggest(l->diags, record_error(l, map->keys[i], "unknown key %.*s", STR_ARG(key)),
                         nearest);
    }
}

bool record_text(struct loader *l, const struct node *node, const char *what, struct str *out)
{
    if (node->kind != NODE_SCALAR || !str_trim(node->text).n) {
        record_error(l, node, "%s must be a text", what);
        return false;
    }
    *out = str_dup(l->arena, str_trim(node->text));
    return true;
}

/* ---- frameworks ---- */

/* Where the comma between two bounds is missing, one would be a part of the other. */
static bool is_version(struct str text)
{
    return text.n > 0 && str_find(text, ' ') == text.n && str_find(text, '<') == text.n &&
           str_find(text, '>') == text.n;
}

static struct version_range range_read(struct loader *l, const struct node *node)
{
    struct version_range range = {.applies = true};
    struct str rest = node->text, part;
    bool good = node->kind == NODE_SCALAR;
    while (good && str_split(&rest, ',', &part)) {
        part = str_trim(part);
        bool from = str_starts(part, STR(">=")), to = str_starts(part, STR("<"));
        struct str bound = str_trim(str_slice(part, from ? 2 : 1, part.n));
        if (from || to) *(from ? &range.from : &range.to) = str_dup(l->arena, bound);
        good = from || to ? is_version(bound) && bound.p[0] != '=' : str_is(part, "*");
    }
    if (!good) record_error(l, node, "a version range is *, >=A, <B or >=A,<B");
    return range;
}

static void framework_read(struct loader *l, const struct node *name, const struct node *range,
                           struct version_range *in)
{
    enum framework framework;
    if (name->kind != NODE_SCALAR || !framework_from_name(name->text, &framework)) {
        record_error(l, name, "a framework is megatron, bridge or automodel");
        return;
    }
    in[framework] = range ? range_read(l, range) : (struct version_range){.applies = true};
}

const struct version_range *record_frameworks(struct loader *l, const struct node *node)
{
    struct version_range *in = ARENA_ARRAY(l->arena, struct version_range, FRAMEWORK_COUNT);
    if (node->kind == NODE_SCALAR || !node->n)
        record_error(l, node, "frameworks must be a list of names or a mapping to version ranges");
    else
        for (size_t i = 0; i < node->n; i++)
            framework_read(l, node->kind == NODE_MAP ? node->keys[i] : node->items[i],
                           node->kind == NODE_MAP ? node->items[i] : NULL, in);
    return in;
}

/* ---- expressions ---- */

static const char *type_name(enum expr_type type)
{
    static const char *const names[] = {"dyn",    "bool", "int", "uint", "double",
                                        "string", "list", "map", "null", "look-up"};
    return names[type];
}

static struct expr_names names_of(const struct loader *l)
{
    struct expr_names names = facts_names;
    names.variables = l->variables.items;
    names.n_variables = l->variables.n;
    return names;
}

/* An expression over the facts and the variables so far. NULL with an error; EXPR_DYN accepts any
   type. */
static const struct expr *compile(struct loader *l, const struct node *node, enum expr_type type)
{
    if (node->kind != NODE_SCALAR) {
        record_error(l, node, "must be an expression, written as a text");
        return NULL;
    }
    struct expr_names names = names_of(l);
    const struct expr *e =
        expr_compile(l->arena, l->diags, node->text, node_span(l->diags, node), &names);
    if (!e) {
        l->failed = true;
        return NULL;
    }
    enum expr_type is = expr_result_type(e);
    if (type == EXPR_DYN || is == EXPR_DYN || is == type) return e;
    record_error(l, node, "the expression must be a %s, is a %s", type_name(type), type_name(is));
    return NULL;
}

/* ---- variables ---- */

/* Whether an expression could have this word with another meaning. */
static bool is_taken(struct str word)
{
    struct expr_ref ref;
    return str_is_any(word, "plan|model|platform|true|false|null|in") ||
           facts_names.resolve(facts_names.context, word, &ref);
}

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool letter = (s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_';
        if (!letter && !(i && s.p[i] >= '0' && s.p[i] <= '9')) return false;
    }
    return s.n > 0;
}

/* False with an error when the variable cannot have this name. */
static bool check_name(struct loader *l, const struct node *node, struct str name)
{
    for (size_t i = 0; i < l->variables.n; i++)
        if (str_eq(l->variables.items[i].name, name)) {
            record_error(l, node, "the variable %.*s is there already", STR_ARG(name));
            return false;
        }
    if (!is_name(name) || is_taken(name))
        record_error(l, node, "%.*s cannot be the name of a variable%s", STR_ARG(name),
                     is_name(name) ? ": it has a meaning already"
                                   : ": small letters, digits and _");
    return is_name(name) && !is_taken(name);
}

/* The expression of the item of a list or mapping of variables; NULL with an error. */
static const struct node *variable_declare(struct loader *l, const struct node *list, size_t i)
{
    const struct node *item = list->items[i], *doc = node_get(item, STR("doc")),
                      *text = item->kind == NODE_MAP ? node_get(item, STR("expression")) : item,
                      *name = list->kind == NODE_MAP ? list->keys[i] : node_get(item, STR("name"));
    struct expr_variable v = {0};
    if (!name || !text) {
        record_error(l, item, "a variable is a mapping with name and expression");
        return NULL;
    }
    if (item->kind == NODE_MAP)
        record_check_keys(l, item, (const char *const[]){"name", "expression", "doc", NULL});
    if (!record_text(l, name, "name", &v.name) || !check_name(l, name, v.name)) return NULL;
    if (doc) record_text(l, doc, "doc", &v.doc);
    *VEC_PUSH(l->arena, &l->variables) = v;
    return text;
}

/* All names first: one that is used before its turn is then known as a variable. */
void record_variables(struct loader *l, const struct node *node)
{
    const struct node **texts = ARENA_ARRAY(l->arena, const struct node *, node->n);
    size_t at = l->variables.n;
    if (node->kind == NODE_SCALAR)
        record_error(l, node, "variables must be a list of {name, expression}");
    for (size_t i = 0; i < node->n; i++)
        texts[i] = variable_declare(l, node, i);
    for (size_t i = 0; i < node->n; i++)
        if (texts[i]) l->variables.items[at++].e = compile(l, texts[i], EXPR_DYN);
}

/* Conditions are shared: equal sources are one expression with one number. */
static bool condition_read(struct loader *l, const struct node *node, const struct expr **e,
                           uint32_t *number)
{
    const struct node *text = node;
    if (node->kind == NODE_MAP) {
        record_check_keys(l, node, (const char *const[]){"name", "expression", NULL});
        text = node_get(node, STR("expression"));
        if (!text) record_error(l, node, "a condition needs an expression");
    }
    *e = text ? compile(l, text, EXPR_BOOL) : NULL;
    if (!*e) return false;
    int64_t known = map_get(&l->condition_of, expr_source(*e));
    if (known < 0) {
        known = (int64_t)l->conditions.n;
        *VEC_PUSH(l->arena, &l->conditions) = *e;
        map_put(l->arena, &l->condition_of, expr_source(*e), (uint32_t)known);
    }
    *number = (uint32_t)known;
    *e = l->conditions.items[known];
    return true;
}

/* ---- the keys of a record ---- */

enum { MOST_CONDITIONS = 64 };
enum { IN_CHECK = 1, IN_NATIVE = 2, IN_OVERRIDE = 4, IN_ASSUMPTION = 8, IN_ALL = 15 };

struct key {
    const char *name;
    unsigned in; /* the kinds of record that may have it */
    void (*read)(struct loader *l, const struct key *key, const struct node *node, struct rule *r);
    enum expr_type type; /* of an expression */
    size_t offset;       /* of the member of struct rule that `read` fills, where it fills one */
    size_t program;      /* of the member for a text's places */
    const char *const *words;
    int first, most; /* the first word's number; the largest number */
};

static const char *const severities[] = {"info", "warning", "error", NULL};
static const char *const phases[] = {"fit", "scale", "profile", "retune", NULL};
static const char *const kinds_of_advice[] = {"next", "verify", "pitfall", "note", "compare", NULL};

static void read_text(struct loader *l, const struct key *key, const struct node *node,
                      struct rule *r)
{
    struct str *out = (struct str *)(void *)((char *)r + key->offset);
    record_text(l, node, key->name, out);
}

static void read_line(struct loader *l, const struct key *key, const struct node *node,
                      struct rule *r)
{
    read_text(l, key, node, r);
    if (str_find(str_trim(node->text), '\n') < str_trim(node->text).n)
        record_error(l, node, "%s must be one line", key->name);
}

/* One line, perhaps with places for values. The program stays NULL where the text needs no facts;
   else the text as written is for those who have none. */
static void read_places(struct loader *l, const struct key *key, const struct node *node,
                        struct rule *r)
{
    struct str *out = (struct str *)(void *)((char *)r + key->offset);
    const uint32_t *slots;
    read_line(l, key, node, r);
    if (str_find(*out, '{') == out->n) return;
    struct expr_names names = names_of(l);
    const struct expr *e =
        expr_compile_text(l->arena, l->diags, *out, node_span(l->diags, node), &names);
    l->failed = l->failed || !e;
    struct value v = value_null();
    if (e && !expr_slots(e, &slots)) v = expr_eval(e, l->arena, &(struct expr_scope){0});
    if (v.kind == VALUE_STRING)
        *out = v.s;
    else if (v.kind == VALUE_ERROR)
        record_error(l, node, "the %s ends in an error: %.*s", key->name, STR_ARG(v.s));
    else if (r->native || r->role == ROLE_ASSUMPTION)
        record_error(l, node, "the %s of such a record has no places for values", key->name);
    else
        *(const struct expr **)(void *)((char *)r + key->program) = e;
}

static void read_expr(struct loader *l, const struct key *key, const struct node *node,
                      struct rule *r)
{
    const struct expr **out = (const struct expr **)(void *)((char *)r + key->offset);
    *out = compile(l, node, key->type);
}

/* Read before all others. */
static void read_nothing(struct loader *l, const struct key *key, const struct node *node,
                         struct rule *r)
{
    (void)l, (void)key, (void)node, (void)r;
}

static bool is_kebab(struct str s)
{
    bool letter_before = false;
    for (size_t i = 0; i < s.n; i++) {
        bool letter = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9');
        if (!letter && !(s.p[i] == '-' && letter_before)) return false;
        letter_before = letter;
    }
    return letter_before;
}

static void read_id(struct loader *l, const struct key *key, const struct node *node,
                    struct rule *r)
{
    read_text(l, key, node, r);
    r->at = node_span(l->diags, node);
    if (!is_kebab(r->id))
        record_error(l, node,
                     "an id is kebab-case: small letters and digits, joined by single dashes");
    else if (!map_put(l->arena, &l->ids, r->id, 0))
        record_error(l, node, "the id %.*s is taken", STR_ARG(r->id));
}

/* One of some words: an enumeration that begins with the first. */
static void read_word(struct loader *l, const struct key *key, const struct node *node,
                      struct rule *r)
{
    struct str text, nearest;
    if (!record_text(l, node, key->name, &text)) return;
    int i = edit_index(text, key->words, &nearest) + key->first;
    if (i < key->first)
        diag_suggest(l->diags, record_error(l, node, "unknown %s %.*s", key->name, STR_ARG(text)),
                     nearest);
    else
        memcpy((char *)r + key->offset, &i, sizeof i);
}

static void read_plans(struct loader *l, const struct key *key, const struct node *node,
                       struct rule *r)
{
    bool check = r->role == ROLE_CHECK;
    r->plans_estimated = !check && str_is(node->text, "estimated");
    r->plans_silent = !check && (r->plans_estimated || str_is(node->text, "silent"));
    r->plans_never = check && str_is(node->text, "never");
    if (!r->plans_silent && !r->plans_never)
        record_error(l, node, "%s must be %s", key->name, check ? "never" : "silent or estimated");
}

static void read_programs(struct loader *l, const struct key *key, const struct node *node,
                          struct rule *r)
{
    r->everywhere = str_is(node->text, "all");
    r->of_trainer = str_is(node->text, "own");
    if (!r->everywhere && !r->of_trainer) record_error(l, node, "%s must be all or own", key->name);
}

static void read_check(struct loader *l, const struct key *key, const struct node *node,
                       struct rule *r)
{
    (void)r;
    if (!str_is(node->text, "native")) record_error(l, node, "%s must be native", key->name);
}

static void read_upwards(struct loader *l, const struct key *key, const struct node *node,
                         struct rule *r)
{
    r->upwards_free = node->kind == NODE_SCALAR && str_is(node->text, "free");
    if (!r->upwards_free) record_error(l, node, "%s can be free, or is not said", key->name);
}

/* A number from 0 up. */
static void read_number(struct loader *l, const struct key *key, const struct node *node,
                        struct rule *r)
{
    double *out = (double *)(void *)((char *)r + key->offset);
    bool good = node->kind == NODE_SCALAR && num_parse_double(node->text, out);
    if (!good || *out < 0 || *out > key->most)
        record_error(l, node, "%s is a number from 0 to %d", key->name, key->most);
}

static void read_frameworks(struct loader *l, const struct key *key, const struct node *node,
                            struct rule *r)
{
    (void)key;
    r->in = record_frameworks(l, node);
}

static void read_conditions(struct loader *l, const struct key *key, const struct node *node,
                            struct rule *r)
{
    if (node->kind != NODE_LIST) {
        record_error(l, node, "%s must be a list of expressions", key->name);
        return;
    }
    if (node->n > MOST_CONDITIONS) {
        record_error(l, node, "a rule has at most %d conditions", MOST_CONDITIONS);
        return;
    }
    const struct expr **conditions = ARENA_ARRAY(l->arena, const struct expr *, node->n);
    uint32_t *numbers = ARENA_ARRAY(l->arena, uint32_t, node->n);
    for (size_t i = 0; i < node->n; i++)
        if (condition_read(l, node->items[i], &conditions[r->n_conditions],
                           &numbers[r->n_conditions]))
            r->n_conditions++;
    r->conditions = conditions;
    r->condition_numbers = numbers;
}

static int param_read(struct loader *l, const struct node *node)
{
    int param = node->kind == NODE_SCALAR ? param_find(node->text) : -1;
    if (param < 0)
        diag_suggest(l->diags, record_error(l, node, "unknown parameter %.*s", STR_ARG(node->text)),
                     param_nearest(node->text));
    return param;
}

static void read_parameter(struct loader *l, const struct key *key, const struct node *node,
                           struct rule *r)
{
    (void)key;
    r->parameter = param_read(l, node);
}

/* Parameters and the expressions of their values. */
static const struct assignment *assignments_read(struct loader *l, const char *what,
                                                 const struct node *node, size_t *n)
{
    *n = 0;
    if (node->kind != NODE_MAP || !node->n) {
        record_error(l, node, "%s must be a mapping of parameters to expressions", what);
        return NULL;
    }
    struct assignment *set = ARENA_ARRAY(l->arena, struct assignment, node->n);
    for (size_t i = 0; i < node->n; i++) {
        set[*n].param = param_read(l, node->keys[i]);
        set[*n].value = compile(l, node->items[i], EXPR_DYN);
        *n += set[*n].param >= 0 && set[*n].value;
    }
    return set;
}

static void read_set(struct loader *l, const struct key *key, const struct node *node,
                     struct rule *r)
{
    r->set = assignments_read(l, key->name, node, &r->n_set);
}

static void read_removed(struct loader *l, const struct node *node, struct rule_fix *fix)
{
    size_t n = node->kind == NODE_LIST ? node->n : 0;
    int *params = ARENA_ARRAY(l->arena, int, n + 1);
    if (!n) record_error(l, node, "remove must be a list of parameters");
    for (size_t i = 0; i < n; i++) {
        params[fix->n_remove] = param_read(l, node->items[i]);
        fix->n_remove += params[fix->n_remove] >= 0;
    }
    fix->remove = params;
}

static void read_fix(struct loader *l, const struct key *key, const struct node *node,
                     struct rule *r)
{
    const struct node *set = node_get(node, STR("set")), *gone = node_get(node, STR("remove")),
                      *safe = node_get(node, STR("safe"));
    if (!set && !gone) {
        record_error(l, node, "%s must be a mapping with set or remove", key->name);
        return;
    }
    record_check_keys(l, node, (const char *const[]){"set", "remove", "safe", NULL});
    if (set) r->fix.set = assignments_read(l, "set", set, &r->fix.n_set);
    if (gone) read_removed(l, gone, &r->fix);
    r->fix.safe = safe && str_is(safe->text, "true");
    if (safe && !r->fix.safe) record_error(l, safe, "safe must be true, or left out");
}

/* One text, or several: they are kept a line each. */
static void read_patterns(struct loader *l, const struct node *node, struct rule *r)
{
    struct buf all = buf_new(l->arena);
    for (size_t i = 0; i < node->n; i++) {
        struct str one = {"", 0};
        record_text(l, node->items[i], "pattern", &one);
        buf_printf(&all, "%s%.*s", i ? "\n" : "", STR_ARG(one));
    }
    r->error_pattern = buf_str(&all);
}

static void read_error(struct loader *l, const struct key *key, const struct node *node,
                       struct rule *r)
{
    const struct node *type = node_get(node, STR("type")),
                      *pattern = node_get(node, STR("pattern"));
    if (!type && !pattern) {
        record_error(l, node, "%s must be a mapping with type or pattern", key->name);
        return;
    }
    record_check_keys(l, node, (const char *const[]){"type", "pattern", NULL});
    if (type) record_text(l, type, "type", &r->error_type);
    if (pattern && pattern->kind == NODE_LIST)
        read_patterns(l, pattern, r);
    else if (pattern)
        record_text(l, pattern, "pattern", &r->error_pattern);
}

/* A list of words, or a single one. */
static size_t words_read(struct loader *l, const struct key *key, const struct node *node,
                         const struct str **out)
{
    size_t n = node->kind == NODE_LIST ? node->n : 1;
    struct str *words = ARENA_ARRAY(l->arena, struct str, n);
    for (size_t i = 0; i < n; i++)
        record_text(l, node->kind == NODE_LIST ? node->items[i] : node, key->name, &words[i]);
    *out = words;
    return n;
}

static void read_covers(struct loader *l, const struct key *key, const struct node *node,
                        struct rule *r)
{
    r->n_covers = words_read(l, key, node, &r->covers);
}

static void read_guide(struct loader *l, const struct key *key, const struct node *node,
                       struct rule *r)
{
    r->n_guides = words_read(l, key, node, &r->guides);
}

/* ---- examples ---- */

static void check_example_keys(struct loader *l, const struct node *facts)
{
    static const char *const special[] = {"framework", "version",   "env",  "unknown", "raw",
                                          "flags",     "overrides", "yaml", NULL};
    struct str nearest;
    for (size_t i = 0; i < facts->n; i++)
        if (edit_index(facts->keys[i]->text, special, &nearest) < 0) param_read(l, facts->keys[i]);
}

static size_t examples_count(const struct node *list)
{
    return list && list->kind == NODE_LIST ? list->n : 0;
}

static size_t examples_add(struct loader *l, const struct node *list, bool good,
                           struct rule_example *out, struct span *at)
{
    size_t n = 0;
    for (size_t i = 0; i < examples_count(list); i++) {
        const struct node *facts = list->items[i];
        if (facts->kind != NODE_MAP) {
            record_error(l, facts, "an example is a mapping of parameters to values");
            continue;
        }
        check_example_keys(l, facts);
        struct buf text = buf_new(l->arena);
        json_add_value(&text, node_value(l->arena, facts, SCALAR_CORE));
        at[n] = node_span(l->diags, facts);
        out[n++] = (struct rule_example){good, buf_str(&text)};
    }
    return n;
}

static void read_examples(struct loader *l, const struct key *key, const struct node *node,
                          struct rule *r)
{
    if (node->kind != NODE_MAP) {
        record_error(l, node, "%s must be a mapping with the lists good and bad", key->name);
        return;
    }
    record_check_keys(l, node, (const char *const[]){"good", "bad", NULL});
    const struct node *good = node_get(node, STR("good")), *bad = node_get(node, STR("bad"));
    size_t most = examples_count(good) + examples_count(bad);
    struct rule_example *all = ARENA_ARRAY(l->arena, struct rule_example, most);
    struct span *at = ARENA_ARRAY(l->arena, struct span, most);
    size_t n = examples_add(l, good, true, all, at);
    r->n_examples = n + examples_add(l, bad, false, all + n, at + n);
    r->examples = all;
    r->examples_at = at;
}

#define MEMBER(name) offsetof(struct rule, name)

static const struct key keys[] = {
    {"id", IN_ALL, read_id, .offset = MEMBER(id)},
    {"severity", IN_ALL, read_word, .offset = MEMBER(severity), .words = severities},
    {"frameworks", IN_ALL, read_frameworks, .type = EXPR_DYN},
    {"matchConditions", IN_CHECK | IN_OVERRIDE | IN_ASSUMPTION, read_conditions, .type = EXPR_BOOL},
    {"variables", IN_CHECK | IN_OVERRIDE | IN_ASSUMPTION, read_nothing, .type = EXPR_DYN},
    {"rule", IN_CHECK, read_expr, .offset = MEMBER(rule), .type = EXPR_BOOL},
    {"check", IN_NATIVE, read_check, .type = EXPR_DYN},
    {"set", IN_OVERRIDE | IN_ASSUMPTION, read_set, .type = EXPR_DYN},
    {"plans", IN_CHECK | IN_ASSUMPTION, read_plans, .type = EXPR_DYN},
    {"programs", IN_CHECK, read_programs, .type = EXPR_DYN},
    {"decides", IN_CHECK, read_set, .type = EXPR_DYN},
    {"advises", IN_CHECK, read_word, .offset = MEMBER(advice), .words = kinds_of_advice,
     .first = ADVICE_NEXT},
    {"message", IN_ALL, read_places, .offset = MEMBER(message),
     .program = MEMBER(message_expression)},
    {"parameter", IN_ALL, read_parameter, .type = EXPR_DYN},
    {"suggestion", IN_CHECK, read_expr, .offset = MEMBER(suggestion), .type = EXPR_LIST},
    {"help", IN_ALL, read_places, .offset = MEMBER(help), .program = MEMBER(help_expression)},
    {"fix", IN_CHECK | IN_OVERRIDE, read_fix, .type = EXPR_DYN},
    {"why", IN_ALL, read_text, .offset = MEMBER(why)},
    {"covers", IN_ALL, read_covers, .type = EXPR_DYN},
    {"guide", IN_ALL, read_guide, .type = EXPR_DYN},
    {"error", IN_ALL, read_error, .type = EXPR_DYN},
    {"source", IN_ALL, read_line, .offset = MEMBER(source)},
    {"date", IN_ALL, read_line, .offset = MEMBER(date)},
    {"since", IN_ALL, read_line, .offset = MEMBER(since)},
    {"phase", IN_CHECK, read_word, .offset = MEMBER(phase), .words = phases, .first = PHASE_FIT},
    {"confidence", IN_CHECK, read_number, .offset = MEMBER(confidence), .most = 1},
    {"margin", IN_CHECK, read_number, .offset = MEMBER(margin), .most = 100},
    {"upwards", IN_CHECK, read_upwards, .type = EXPR_DYN},
    {"uneven", IN_CHECK, read_number, .offset = MEMBER(uneven), .most = 100},
    {"examples", IN_ALL, read_examples, .type = EXPR_DYN},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

const char *rule_key(size_t i)
{
    return i < N_KEYS ? keys[i].name : NULL;
}

static const struct key *key_find(struct str name)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (str_is(name, keys[i].name)) return &keys[i];
    return NULL;
}

static void key_read(struct loader *l, const struct node *map, size_t i, unsigned kind,
                     struct rule *r)
{
    const struct node *name = map->keys[i];
    const struct key *key = key_find(name->text);
    if (key && (key->in & kind)) {
        if (node_get(map, name->text) == map->items[i]) key->read(l, key, map->items[i], r);
        return;
    }
    if (key) {
        const char *where = kind == IN_OVERRIDE     ? "an override"
                            : kind == IN_ASSUMPTION ? "an assumption"
                            : kind == IN_NATIVE     ? "a native record"
                                                    : "a rule";
        record_error(l, name, "%s has no key %s", where, key->name);
        return;
    }
    struct edit_nearest nearest = {.word = name->text};
    for (size_t k = 0; k < N_KEYS; k++)
        edit_offer(&nearest, str_of(keys[k].name));
    diag_suggest(l->diags, record_error(l, name, "unknown key %.*s", STR_ARG(name->text)),
                 nearest.best);
}

static void require(struct loader *l, const struct node *record, const char *key)
{
    if (!node_get(record, str_of(key))) record_error(l, record, "the record has no %s", key);
}

static void check_complete(struct loader *l, const struct node *record, unsigned kind)
{
    require(l, record, "id");
    if (kind == IN_OVERRIDE || kind == IN_ASSUMPTION) {
        require(l, record, "set");
        if (kind == IN_ASSUMPTION) require(l, record, "message");
        return;
    }
    require(l, record, "severity");
    require(l, record, "message");
    bool guides = node_get(record, STR("decides")) || node_get(record, STR("advises"));
    if (kind == IN_CHECK && !guides) require(l, record, "rule");
}

static unsigned kind_of(const struct rule *r)
{
    if (r->role == ROLE_OVERRIDE) return IN_OVERRIDE;
    if (r->role == ROLE_ASSUMPTION) return IN_ASSUMPTION;
    return r->native ? IN_NATIVE : IN_CHECK;
}

void record_read(struct loader *l, const struct node *node, enum rule_role role)
{
    if (node->kind != NODE_MAP) {
        record_error(l, node, "a record must be a mapping");
        return;
    }
    struct rule *r = ARENA_NEW(l->arena, struct rule);
    *r = (struct rule){.role = role,
                       .native = node_get(node, STR("check")) != NULL,
                       .severity = SEVERITY_WARNING,
                       .parameter = -1,
                       .margin = -1,
                       .suite = l->suite,
                       .in = l->in};
    unsigned kind = kind_of(r);
    bool failed_before = l->failed;
    l->failed = false;
    size_t of_file = l->variables.n;
    const struct node *variables = node_get(node, STR("variables"));
    if (variables) record_variables(l, variables);
    for (size_t i = 0; i < node->n; i++)
        key_read(l, node, i, kind, r);
    l->variables.n = of_file;
    check_complete(l, node, kind);
    if (!l->failed) *VEC_PUSH(l->arena, &l->fresh) = r;
    l->failed = l->failed || failed_before;
}
