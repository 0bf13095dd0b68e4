/* SPDX-License-Identifier: Apache-2.0 */
/* mutate_rules [-v] PERCENT FOLDER: are the examples of the rules worth anything? Expressions are
   changed in one place at a time (an operator, a constant, a negation, a condition left out; of a
   rule and of a condition also a place in a variable that it uses), and an example of the rule must
   then fail; of a condition that several rules share, an example of one of them. Changes that no
   example notices are counted, and listed with -v: some change nothing, as plan.ep >= 1 for plan.ep
   > 1 where 1 divides everything. Exit 1 when more than PERCENT of all changes go unnoticed, or one
   that turns a rule into its opposite, or into one that always or never fires; 2 when the rules
   cannot be loaded. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "rules/rule.h"

struct tally {
    struct arena *arena;
    const struct rule_set *set;
    size_t mutants, survivors, blunt; /* blunt: survivors among the coarse changes */
    bool verbose;
};

/* Whether an example of the changed rule fails. */
static bool is_noticed(struct tally *t, const struct rule *r)
{
    struct arena *work = arena_new(0);
    struct diags diags;
    diags_init(&diags, work);
    bool noticed = rule_test(r, t->set, &diags) > 0;
    arena_free(work);
    return noticed;
}

static void count(struct tally *t, const struct rule *r, bool noticed, bool coarse,
                  struct str change)
{
    t->mutants++;
    if (noticed) return;
    t->survivors++;
    t->blunt += coarse;
    if (coarse || t->verbose)
        printf("%.*s: %.*s: no example notices%s %.*s\n", STR_ARG(r->suite), STR_ARG(r->id),
               coarse ? "!" : "", STR_ARG(change));
}

/* A text of a program: its own (variable -1), or that of one of its variables. */
struct part {
    const struct expr *e;
    int64_t variable;
};

static struct str part_text(struct part part)
{
    const struct expr_use *uses;
    expr_variables(part.e, &uses);
    return part.variable < 0 ? expr_text(part.e) : uses[part.variable].text;
}

/* The program with another text in the place of this one; NULL, which is no mutant, when that does
   not compile. */
static const struct expr *compile(struct tally *t, struct part part, struct str text)
{
    struct diags quiet;
    const struct expr_use *uses;
    size_t n = expr_variables(part.e, &uses);
    struct expr_variable *variables = ARENA_ARRAY(t->arena, struct expr_variable, n);
    struct expr_names names = facts_names;
    names.variables = variables;
    diags_init(&quiet, t->arena);
    for (size_t i = 0; i < n; i++) {
        struct str own = part.variable == (int64_t)i ? text : uses[i].text;
        variables[i].name = uses[i].name;
        variables[i].e = expr_compile(t->arena, &quiet, own, (struct span){0}, &names);
        if (!variables[i].e) return NULL;
        names.n_variables++;
    }
    struct str own = part.variable < 0 ? text : expr_text(part.e);
    return expr_compile(t->arena, &quiet, own, (struct span){0}, &names);
}

/* One expression of a record: the rule (which -1) or a condition. */
static struct rule with_expr(struct tally *t, const struct rule *r, int which, const struct expr *e)
{
    struct rule changed = *r;
    if (which < 0) {
        changed.rule = e;
        return changed;
    }
    const struct expr **conditions = ARENA_ARRAY(t->arena, const struct expr *, r->n_conditions);
    memcpy(conditions, r->conditions, r->n_conditions * sizeof(const struct expr *));
    conditions[which] = e;
    changed.conditions = conditions;
    return changed;
}

/* A changed rule (number -1), or a changed condition in every rule that has it from r on. */
static bool change_is_noticed(struct tally *t, const struct rule *r, int64_t number,
                              const struct expr *e)
{
    if (number < 0) {
        struct rule changed = with_expr(t, r, -1, e);
        return is_noticed(t, &changed);
    }
    for (size_t i = 0; i < t->set->n; i++) {
        const struct rule *user = t->set->items[i];
        for (size_t k = 0; k < user->n_conditions; k++) {
            if (user->conditions[k] != t->set->conditions[number]) continue;
            struct rule changed = with_expr(t, user, (int)k, e);
            if (is_noticed(t, &changed)) return true;
        }
    }
    return false;
}

/* What a change does, with a little of what is around it. */
static struct str describe(struct tally *t, struct str from, struct str to)
{
    enum { AROUND = 70 };
    size_t head = 0, tail = 0, shorter = from.n < to.n ? from.n : to.n;
    while (head < shorter && from.p[head] == to.p[head])
        head++;
    while (tail < shorter - head && from.p[from.n - tail - 1] == to.p[to.n - tail - 1])
        tail++;
    size_t before = head > AROUND ? AROUND : head, after = tail > AROUND ? AROUND : tail;
    return arena_printf(t->arena, "%s%.*s[%.*s -> %.*s]%.*s%s", before < head ? "..." : "",
                        STR_ARG(str_slice(from, head - before, head)),
                        STR_ARG(str_slice(from, head, from.n - tail)),
                        STR_ARG(str_slice(to, head, to.n - tail)),
                        STR_ARG(str_slice(from, from.n - tail, from.n - tail + after)),
                        after < tail ? "..." : "");
}

static void try_text(struct tally *t, const struct rule *r, int64_t number, struct part part,
                     struct str text, bool coarse)
{
    struct str original = part_text(part);
    const struct expr *e = str_eq(text, original) ? NULL : compile(t, part, text);
    if (e)
        count(t, r, change_is_noticed(t, r, number, e), coarse,
              coarse ? text : describe(t, original, text));
}

static void try_condition(struct tally *t, const struct rule *r, size_t which)
{
    struct part part = {r->conditions[which], -1};
    struct str text = part_text(part);
    struct rule changed = with_expr(t, r, (int)which, compile(t, part, STR("false")));
    count(t, r, is_noticed(t, &changed), true,
          arena_printf(t->arena, "false for %.*s", STR_ARG(text)));
    changed = with_expr(t, r, (int)which, r->conditions[r->n_conditions - 1]);
    changed.n_conditions--;
    count(t, r, is_noticed(t, &changed), false,
          arena_printf(t->arena, "leaving out %.*s", STR_ARG(text)));
}

static const struct {
    const char *from, *to;
} swaps[] = {
    {"==", "!="}, {"!=", "=="}, {"<=", "<"}, {">=", ">"}, {"&&", "||"}, {"||", "&&"},
    {"<", "<="},  {">", ">="},  {"+", "-"},  {"*", "+"},  {"%", "+"},   {"!", " "},
};

/* The length of the token at a place: a number, a string, a word or a sign. */
static size_t token_length(struct str s, size_t at)
{
    size_t n = 1;
    char c = s.p[at];
    if (c == '"' || c == '\'') {
        while (at + n < s.n && s.p[at + n] != c)
            n += s.p[at + n] == '\\' ? 2 : 1;
        return n + 1;
    }
    if (isalnum((unsigned char)c) || c == '_')
        while (at + n < s.n && (isalnum((unsigned char)s.p[at + n]) || s.p[at + n] == '_'))
            n++;
    else if (at + 1 < s.n && strchr("=&|", s.p[at + 1]) && strchr("=!<>&|", c))
        n = 2;
    return n;
}

static void try_swap(struct tally *t, const struct rule *r, int64_t number, struct part part,
                     size_t at, size_t n)
{
    struct str text = part_text(part);
    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++) {
        if (!str_is(str_slice(text, at, at + n), swaps[i].from)) continue;
        struct str changed = arena_printf(t->arena, "%.*s%s%.*s", (int)at, text.p, swaps[i].to,
                                          STR_ARG(str_slice(text, at + n, text.n)));
        try_text(t, r, number, part, changed, false);
    }
}

static void try_number(struct tally *t, const struct rule *r, int64_t number, struct part part,
                       size_t at, size_t n)
{
    struct str text = part_text(part);
    bool fraction = (at && text.p[at - 1] == '.') || (at + n < text.n && text.p[at + n] == '.');
    if (!isdigit((unsigned char)text.p[at]) || fraction || n > 15) return;
    long long value = strtoll(text.p + at, NULL, 10);
    for (int step = -1; step <= 1; step += 2) {
        struct str changed = arena_printf(t->arena, "%.*s(%lld)%.*s", (int)at, text.p, value + step,
                                          STR_ARG(str_slice(text, at + n, text.n)));
        try_text(t, r, number, part, changed, false);
    }
}

static void mutate_part(struct tally *t, const struct rule *r, int64_t number, struct part part)
{
    struct arena_mark mark = arena_mark(t->arena);
    struct str text = part_text(part);
    for (size_t at = 0, n; at < text.n; at += n) {
        n = token_length(text, at);
        try_swap(t, r, number, part, at, n);
        try_number(t, r, number, part, at, n);
    }
    arena_pop(t->arena, mark);
}

/* The text of a rule or a condition, and those of its variables as far as it goes. */
static void mutate_expr(struct tally *t, const struct rule *r, int64_t number, const struct expr *e)
{
    const struct expr_use *uses;
    int64_t n = (int64_t)expr_variables(e, &uses);
    for (int64_t i = -1; i < n; i++)
        mutate_part(t, r, number, (struct part){e, i});
}

static void mutate_rule(struct tally *t, const struct rule *r)
{
    struct arena_mark mark = arena_mark(t->arena);
    if (r->rule) {
        struct part part = {r->rule, -1};
        struct str text = part_text(part);
        try_text(t, r, -1, part, STR("true"), true);
        try_text(t, r, -1, part, STR("false"), true);
        try_text(t, r, -1, part, arena_printf(t->arena, "!(%.*s)", STR_ARG(text)), true);
        mutate_expr(t, r, -1, r->rule);
    }
    for (size_t i = 0; i < r->n_conditions; i++)
        try_condition(t, r, i);
    arena_pop(t->arena, mark);
}

/* The first rule that has a condition, for the message. */
static const struct rule *condition_user(const struct rule_set *set, size_t number)
{
    for (size_t i = 0; i < set->n; i++)
        for (size_t k = 0; k < set->items[i]->n_conditions; k++)
            if (set->items[i]->conditions[k] == set->conditions[number]) return set->items[i];
    return NULL;
}

static bool run(struct arena *a, const struct rule_set *set, unsigned long percent, bool verbose)
{
    struct tally t = {.arena = a, .set = set, .verbose = verbose};
    for (size_t i = 0; i < set->n; i++)
        if (!set->items[i]->native) mutate_rule(&t, set->items[i]);
    for (size_t i = 0; i < set->n_conditions; i++) {
        const struct rule *r = condition_user(set, i);
        if (r) mutate_expr(&t, r, (int64_t)i, set->conditions[i]);
    }
    printf("%zu records, %zu changes, %zu unnoticed, %zu of them coarse\n", set->n, t.mutants,
           t.survivors, t.blunt);
    return !t.blunt && t.survivors * 100 <= t.mutants * percent;
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0, usage = argc != 3 + verbose;
    struct arena *a = arena_new(0);
    struct diags diags;
    struct rule_set set;
    diags_init(&diags, a);
    if (usage) fprintf(stderr, "usage: mutate_rules [-v] PERCENT FOLDER\n");
    bool loaded = !usage && rules_load(a, &diags, argv[argc - 1], NULL, &set);
    if (!usage && !loaded)
        fprintf(stderr, "mutate_rules: %s holds a bad rule file\n", argv[argc - 1]);
    bool good = loaded && run(a, &set, strtoul(argv[argc - 2], NULL, 10), verbose);
    arena_free(a);
    return !loaded ? 2 : good ? EXIT_SUCCESS : EXIT_FAILURE;
}
