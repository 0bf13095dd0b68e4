/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/refusal.h"

#include "diag/suppress.h"

struct rules_summary check_configuration(const struct rule_set *rules, struct facts *f,
                                         struct memory_estimate *memory, bool *decided,
                                         struct arena *scratch)
{
    program_open(f);
    rules_apply_overrides(rules, f, scratch);
    *decided = outlook_facts(rules, f, memory, scratch);
    return rules_run(rules, f, scratch);
}

/* What the reader found wrong with this document; the file may hold others. */
static void take_reader_errors(const struct reading *reading, struct diags *to)
{
    const struct diags *all = reading->facts->diags;
    for (size_t i = 0; i < all->n; i++) {
        const struct diag *d = &all->items[i];
        if (d->at.source == reading->facts->source && d->document == reading->document)
            *VEC_PUSH(to->arena, to) = *d;
    }
}

/* A comment that silences nothing is validate's to report. */
static bool say_nothing(void *state, struct str rule, struct str *help)
{
    (void)state, (void)rule, (void)help;
    return false;
}

static struct refusal first_error(const struct diags *found)
{
    struct refusal out = {.errors = diags_count(found, SEVERITY_ERROR)};
    for (size_t i = 0; i < found->n && !out.rule.n; i++)
        if (found->items[i].severity == SEVERITY_ERROR)
            out = (struct refusal){out.errors, found->items[i].rule, found->items[i].message};
    return out;
}

/* The errors of the rules. What the cost models say takes longer than all of them, and so is worked
   out only where an error hangs on it. */
static void find_errors(const struct rule_set *rules, struct facts *f, struct arena *scratch)
{
    struct memory_estimate memory;
    program_open(f);
    rules_apply_overrides(rules, f, scratch);
    size_t before = f->diags->n;
    bool *open = ARENA_ARRAY(f->arena, bool, param_count);
    outlook_mark(open);
    if (rules_run_errors(rules, f, open, scratch) || !outlook_facts(rules, f, &memory, scratch))
        return;
    f->diags->n = before;
    rules_run_errors(rules, f, open, scratch);
}

struct refusal refusal_find(struct arena *a, const struct rule_set *rules,
                            const struct reading *reading, struct arena *scratch)
{
    struct diags found = {
        .arena = a, .sources = reading->facts->diags->sources, .document = reading->document};
    struct facts *f = facts_copy(a, reading->facts);
    f->diags = &found;
    take_reader_errors(reading, &found);
    struct arena_mark mark = arena_mark(scratch);
    find_errors(rules, f, scratch);
    arena_pop(scratch, mark);
    diags_suppress(&found, f->source, STR(""), say_nothing, NULL);
    diags_sort(&found);
    return first_error(&found);
}
