/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of records: the tests and the documentation of a rule at once. */
#include "base/buf.h"
#include "base/version.h"
#include "facts/profile.h"
#include "facts/recipe.h"
#include "rules/run.h"

/* What one example is made into while its mapping is read. */
struct builder {
    struct arena *arena;
    struct diags *diags;
    const struct rule *rule;
    const struct rule_example *example;
    struct facts *facts;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void complain(struct builder *b, const char *format,
                                                           ...)
{
    va_list args;
    va_start(args, format);
    struct str text = arena_vprintf(b->diags->arena, format, args);
    va_end(args);
    const struct span *at = b->rule->examples_at;
    diag_add(b->diags, SEVERITY_ERROR, "rule-example",
             at ? at[b->example - b->rule->examples] : (struct span){0},
             "%.*s: %s example %.*s: %.*s", STR_ARG(b->rule->id), b->example->good ? "good" : "bad",
             STR_ARG(b->example->facts), STR_ARG(text));
    b->failed = true;
}

/* The newest profile of the framework that the rule is for; NULL when there is none. */
static const struct profile *profile_for(const struct rule *r, enum framework framework)
{
    for (size_t i = 0; i < profile_count(); i++) {
        const struct profile *p = profile_at(i);
        const struct version_range *range = &r->in[framework];
        if (p->framework == framework && version_between(p->version, range->from, range->to))
            return p;
    }
    return NULL;
}

static enum framework first_framework(const struct rule *r)
{
    int k = 0;
    while (k + 1 < FRAMEWORK_COUNT && !r->in[k].applies)
        k++;
    return (enum framework)k;
}

/* What a user writes, under the word for it. */
static const struct {
    const char *key, *reader;
    enum framework framework;
} texts[] = {
    {"flags", "megatron", FRAMEWORK_MEGATRON},
    {"overrides", "bridge", FRAMEWORK_BRIDGE},
    {"yaml", "automodel", FRAMEWORK_AUTOMODEL},
};
enum { TEXTS = sizeof texts / sizeof *texts };

static size_t text_kind(const struct node *root)
{
    size_t i = 0;
    while (i < TEXTS && !node_get(root, str_of(texts[i].key)))
        i++;
    return i;
}

struct str rule_example_text(const struct node *root)
{
    size_t kind = text_kind(root);
    return kind < TEXTS ? node_get(root, str_of(texts[kind].key))->text : STR("");
}

/* The facts of a text, read as a user's file is; NULL where it cannot be read. */
static struct facts *read_text(struct builder *b, const struct node *root, struct str version)
{
    size_t kind = text_kind(root);
    const struct read_options options = {
        .framework_given = true, .framework = texts[kind].framework, .version = version};
    uint32_t source = source_add(&b->diags->sources, b->rule->id, rule_example_text(root));
    struct recipe recipe =
        recipe_read(b->arena, b->diags, source, str_of(texts[kind].reader), &options);
    if (recipe.status == RECIPE_READ && recipe.readings.n) return recipe.readings.items[0].facts;
    complain(b, "%s cannot be read", texts[kind].key);
    return NULL;
}

static struct facts *no_facts(struct builder *b, const struct node *root, enum framework framework,
                              struct str version)
{
    struct facts *f = facts_new(b->arena, b->diags, framework, version);
    f->framework_known = true;
    f->source = root->source;
    return f;
}

static bool choose_framework(struct builder *b, const struct node *root, enum framework *out)
{
    const struct node *name = node_get(root, STR("framework"));
    size_t kind = text_kind(root);
    *out = kind < TEXTS ? texts[kind].framework : first_framework(b->rule);
    if (name && !framework_from_name(name->text, out))
        complain(b, "there is no framework %.*s", STR_ARG(name->text));
    else if (kind < TEXTS && *out != texts[kind].framework)
        complain(b, "%s has no %s", framework_full_name(*out), texts[kind].key);
    return !b->failed;
}

static bool start(struct builder *b, const struct node *root)
{
    const struct node *version = node_get(root, STR("version"));
    enum framework framework;
    if (!choose_framework(b, root, &framework)) return false;
    const struct profile *profile =
        version ? profile_find(framework, version->text) : profile_for(b->rule, framework);
    if (!profile) {
        complain(b, "there is no profile of this version");
        return false;
    }
    struct str chosen = version ? str_dup(b->arena, version->text) : profile->version;
    b->facts =
        text_kind(root) < TEXTS ? read_text(b, root, chosen) : no_facts(b, root, framework, chosen);
    if (!b->facts) return false;
    facts_forget_pins(b->facts); /* an example says the versions that it is about */
    if (b->rule->role == ROLE_ASSUMPTION) b->facts->format = STR("plan");
    if (!rule_is_for(b->rule, b->facts))
        complain(b, "the record is not for this framework and version");
    return !b->failed;
}

static void read_env(struct builder *b, const struct node *env)
{
    for (size_t i = 0; i < env->n && env->kind == NODE_MAP; i++)
        facts_set_env(b->facts, env->keys[i]->text, env->items[i]->text, false);
    b->facts->env_complete = true;
}

static void read_raw(struct builder *b, const struct node *raw)
{
    b->facts->document = raw;
    for (size_t i = 0; i < raw->n && raw->kind == NODE_MAP; i++)
        if (str_starts(raw->keys[i]->text, STR("-")))
            facts_add_raw(b->facts, raw->keys[i]->text,
                          node_value(b->arena, raw->items[i], SCALAR_JSON));
}

static void read_unknown(struct builder *b, const struct node *list)
{
    for (size_t i = 0; i < list->n && list->kind == NODE_LIST; i++) {
        int param = param_find(list->items[i]->text);
        if (param < 0)
            complain(b, "unknown parameter %.*s", STR_ARG(list->items[i]->text));
        else
            facts_forget(b->facts, param);
    }
}

static bool kind_fits(enum param_type type, enum value_kind kind)
{
    if (kind == VALUE_NULL) return true;
    switch (type) {
    case PARAM_BOOL: return kind == VALUE_BOOL;
    case PARAM_INT: return kind == VALUE_INT;
    case PARAM_DOUBLE: return kind == VALUE_DOUBLE;
    case PARAM_STRING: return kind == VALUE_STRING;
    case PARAM_LIST:
    case PARAM_TUPLE: return kind == VALUE_LIST;
    case PARAM_MAP: return kind == VALUE_MAP;
    case PARAM_PATTERN: return kind == VALUE_INT || kind == VALUE_STRING || kind == VALUE_LIST;
    case PARAM_ANY: return true;
    }
    return false;
}

static void read_parameter(struct builder *b, const struct node *key, const struct node *node)
{
    int param = param_find(key->text);
    if (param < 0) {
        complain(b, "unknown parameter %.*s", STR_ARG(key->text));
        return;
    }
    const struct param *p = &param_table[param];
    enum param_type own =
        p->in[b->facts->framework]->known ? p->in[b->facts->framework]->type : p->type;
    struct value v = fact_coerce(b->arena, param, node_value(b->arena, node, SCALAR_JSON));
    if (!kind_fits(p->type, v.kind) && !kind_fits(own, v.kind))
        complain(b, "%.*s is a %s", STR_ARG(key->text), value_kind_name(v.kind));
    facts_set(b->facts, param, v, ORIGIN_FILE, node, p->name);
}

static void read_key(struct builder *b, const struct node *key, const struct node *node)
{
    static const struct {
        const char *name;
        void (*read)(struct builder *b, const struct node *node);
    } special[] = {{"env", read_env}, {"raw", read_raw}, {"unknown", read_unknown}};
    if (str_is(key->text, "framework") || str_is(key->text, "version")) return;
    for (size_t i = 0; i < TEXTS; i++)
        if (str_is(key->text, texts[i].key)) return; /* read at the start */
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (str_is(key->text, special[i].name)) {
            special[i].read(b, node);
            return;
        }
    read_parameter(b, key, node);
}

/* Only the overrides before this one: an override's own example shows the facts as it finds
   them. */
static struct rule_set set_before(const struct rule *r, const struct rule_set *set)
{
    struct rule_set before = *set;
    for (int k = 0; k < FRAMEWORK_COUNT; k++) {
        struct rule_lane *lane = &before.lanes[k];
        size_t n = 0;
        while (n < lane->n_overrides && !str_eq(set->items[lane->overrides[n]]->id, r->id))
            n++;
        lane->n_overrides = n;
    }
    return before;
}

static const struct node *mapping(struct builder *b)
{
    uint32_t source = source_add(&b->diags->sources, b->rule->id, b->example->facts);
    const struct node *root = doc_load_json(b->arena, b->diags, source);
    if (root && root->kind == NODE_MAP) return root;
    complain(b, "is not a mapping");
    return NULL;
}

struct facts *rule_example_start(struct arena *a, struct diags *diags, const struct rule *r,
                                 const struct rule_example *example, const struct node **root)
{
    struct builder b = {.arena = a, .diags = diags, .rule = r, .example = example};
    *root = mapping(&b);
    return *root && start(&b, *root) ? b.facts : NULL;
}

/* The example as it is written; NULL when it is no valid one. */
static struct facts *read_example(struct builder *b)
{
    const struct node *root = mapping(b);
    if (!root || !start(b, root)) return NULL;
    for (size_t i = 0; i < root->n; i++)
        read_key(b, root->keys[i], root->items[i]);
    return b->failed ? NULL : b->facts;
}

static void override_example(struct builder *b, const struct rule_set *set, struct arena *scratch)
{
    struct rule_set before = b->rule->role == ROLE_OVERRIDE ? set_before(b->rule, set) : *set;
    rules_apply_overrides(&before, b->facts, scratch);
}

struct facts *rule_example_facts(struct arena *a, struct diags *diags, const struct rule *r,
                                 const struct rule_example *example, const struct rule_set *set,
                                 struct arena *scratch)
{
    struct builder b = {a, diags, r, example, NULL, false};
    if (!read_example(&b)) return NULL;
    override_example(&b, set, scratch);
    return b.facts;
}

/* ---- running ---- */

/* The parameters that keep a rule from a verdict, for a message. */
static struct str unknown_operands(struct arena *a, const struct rule *r, const struct facts *f)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i <= r->n_conditions; i++) {
        const struct expr *e = i < r->n_conditions ? r->conditions[i] : r->rule;
        const uint32_t *slots;
        size_t n = e ? expr_slots(e, &slots) : 0;
        for (size_t k = 0; k < n; k++) {
            int param = facts_slot_param(slots[k]);
            if (param < 0 || fact_is_known(facts_get(f, param))) continue;
            buf_add(&out, out.n ? STR(", ") : STR(""));
            buf_add(&out, param_table[param].name);
        }
    }
    return out.n ? buf_str(&out) : STR("env or raw");
}

/* The first expression of a record that ends in an error, with the error. */
static struct str broken_part(struct arena *a, const struct rule *r, const struct facts *f)
{
    struct expr_scope scope = facts_scope(f);
    for (size_t i = 0; i <= r->n_conditions; i++) {
        const struct expr *e = i < r->n_conditions ? r->conditions[i] : r->rule;
        struct value v = e ? expr_eval(e, a, &scope) : value_null();
        if (v.kind == VALUE_ERROR) {
            struct str text = expr_text(e);
            return arena_printf(a, "%.*s in: %.*s", STR_ARG(v.s), STR_ARG(text));
        }
    }
    return STR("a condition or rule that is no boolean");
}

/* The error that an expression ends in; empty: none. */
static struct str error_of(struct arena *a, const struct expr *e, const struct facts *f)
{
    struct expr_scope scope = facts_scope(f);
    struct value v = e ? expr_eval(e, a, &scope) : value_null();
    return v.kind == VALUE_ERROR ? v.s : STR("");
}

/* An expression that only words the finding, or sets a fact, must not end in an error either. */
static struct str broken_extra(struct arena *a, const struct rule *r, const struct facts *f)
{
    const struct expr *extra[] = {r->message_expression, r->suggestion, r->help_expression};
    struct str error = {"", 0};
    for (size_t i = 0; i < sizeof extra / sizeof *extra && !error.n; i++)
        error = error_of(a, extra[i], f);
    for (size_t i = 0; i < r->n_set && !error.n; i++)
        error = error_of(a, r->set[i].value, f);
    for (size_t i = 0; i < r->fix.n_set && !error.n; i++)
        error = error_of(a, r->fix.set[i].value, f);
    return error;
}

static void judge(struct builder *b, enum outcome outcome)
{
    const struct rule *r = b->rule;
    bool good = b->example->good,
         unknown_meant = str_find_str(b->example->facts, STR("\"unknown\"")) < b->example->facts.n;
    if (outcome == OUTCOME_BROKEN) {
        struct str part = broken_part(b->arena, r, b->facts);
        complain(b, "%.*s", STR_ARG(part));
    } else if (outcome == OUTCOME_UNKNOWN && !(good && unknown_meant)) {
        struct str names = unknown_operands(b->arena, r, b->facts);
        complain(b, "cannot be decided: %.*s unknown; give a value, or list it under unknown",
                 STR_ARG(names));
    } else if (outcome == OUTCOME_FAIL && good)
        complain(b, "fires the rule");
    else if (outcome != OUTCOME_FAIL && !good)
        complain(b, outcome == OUTCOME_PASS ? "does not fire the rule"
                                            : "does not meet the conditions");
    else if (outcome == OUTCOME_FAIL) {
        struct str error = broken_extra(b->arena, r, b->facts);
        if (error.n)
            complain(b, "ends in an error where the finding is worded: %.*s", STR_ARG(error));
    }
}

/* The facts as the fix leaves them, before any override. */
static void apply_fix(const struct rule *r, const struct facts *found, struct facts *fixed,
                      struct arena *a)
{
    struct expr_scope scope = facts_scope(found);
    for (size_t i = 0; i < r->fix.n_set; i++) {
        int param = r->fix.set[i].param;
        facts_set(fixed, param, expr_eval(r->fix.set[i].value, a, &scope), ORIGIN_FILE, NULL,
                  param_table[param].name);
    }
    for (size_t i = 0; i < r->fix.n_remove; i++)
        *facts_change(fixed, r->fix.remove[i]) = (struct fact){
            .value = facts_default(fixed, r->fix.remove[i]), .origin = ORIGIN_DEFAULT};
}

/* A bad example with its fix is good, or not what the rule is about. */
static void check_fix(struct builder *b, const struct rule_set *set, struct arena *scratch)
{
    const struct rule *r = b->rule;
    struct builder again = {b->arena, b->diags, r, b->example, NULL, false};
    if (b->failed || b->example->good || !(r->fix.n_set || r->fix.n_remove)) return;
    if (!read_example(&again)) return;
    apply_fix(r, b->facts, again.facts, b->arena);
    override_example(&again, set, scratch);
    enum outcome outcome = rule_evaluate(r, again.facts, scratch);
    if (outcome != OUTCOME_PASS && outcome != OUTCOME_NOT_APPLICABLE)
        complain(b, "is not mended by the rule's fix");
}

static void run_example(struct builder *b, const struct rule_set *set, struct arena *scratch)
{
    b->facts = rule_example_facts(b->arena, b->diags, b->rule, b->example, set, scratch);
    b->failed = !b->facts;
    if (!b->facts) return;
    enum outcome outcome = rule_evaluate(b->rule, b->facts, scratch);
    bool idle = b->rule->role == ROLE_ASSUMPTION && !rule_has_open(b->rule, b->facts);
    judge(b, outcome == OUTCOME_FAIL && idle ? OUTCOME_NOT_APPLICABLE : outcome);
    check_fix(b, set, scratch);
}

static void pass_on(struct diags *to, const struct diags *from, size_t *failures)
{
    for (size_t i = 0; i < from->n; i++) {
        const struct diag *d = &from->items[i];
        if (!str_is(d->rule, "rule-example")) continue;
        diag_add(to, d->severity, "rule-example", d->at, "%.*s", STR_ARG(d->message));
        ++*failures;
    }
}

/* A rule whose examples are all of one kind is not tested. */
static size_t missing_examples(const struct rule *r, struct diags *diags)
{
    size_t n[2] = {0, 0};
    for (size_t i = 0; i < r->n_examples; i++)
        n[r->examples[i].good]++;
    if (n[0] && n[1]) return 0;
    diag_add(diags, SEVERITY_ERROR, "rule-example", r->at, "%.*s has no %s example", STR_ARG(r->id),
             n[1] ? "bad" : "good");
    return 1;
}

size_t rule_test(const struct rule *r, const struct rule_set *set, struct diags *diags)
{
    if (r->native) return 0;
    size_t failures = missing_examples(r, diags);
    struct arena *work = arena_child(diags->arena, 0), *scratch = arena_child(work, 0);
    for (size_t i = 0; i < r->n_examples; i++) {
        struct diags own;
        diags_init(&own, work);
        struct builder b = {.arena = work, .diags = &own, .rule = r, .example = &r->examples[i]};
        run_example(&b, set, scratch);
        pass_on(diags, &own, &failures);
        arena_reset(work);
        arena_reset(scratch);
    }
    arena_free(work);
    arena_free(scratch);
    return failures;
}

struct rules_tested rules_test(const struct rule_set *own, const struct rule_set *all,
                               struct diags *diags)
{
    struct rules_tested sum = {.records = own->n};
    for (size_t i = 0; i < own->n; i++) {
        sum.failures += rule_test(own->items[i], all, diags);
        sum.examples += own->items[i]->native ? 0 : own->items[i]->n_examples;
    }
    return sum;
}

bool rules_test_text(struct arena *a, struct diags *diags, uint32_t source,
                     const struct rule_set *others, struct rules_tested *out)
{
    struct rule_set own, all;
    struct diags quiet;
    const struct source *text = source_get(&diags->sources, source);
    if (!rules_load_text(a, diags, source, NULL, &own)) return false;
    diags_init(&quiet, a);
    struct rule_set rest = rules_except(a, others, &own);
    uint32_t again = source_add(&quiet.sources, text->path, text->text);
    if (!rules_load_text(a, &quiet, again, &rest, &all)) return false;
    *out = rules_test(&own, &all, diags);
    return true;
}
