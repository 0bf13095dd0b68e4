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

struct refusal refusal_find(struct arena *a, const struct rule_set *rules,
                            const struct reading *reading, struct arena *scratch)
{
    struct memory_estimate memory;
    bool decided;
    struct diags found = {
        .arena = a, .sources = reading->facts->diags->sources, .document = reading->document};
    struct facts *f = facts_copy(a, reading->facts);
    f->diags = &found;
    take_reader_errors(reading, &found);
    struct arena_mark mark = arena_mark(scratch);
    check_configuration(rules, f, &memory, &decided, scratch);
    arena_pop(scratch, mark);
    diags_suppress(&found, f->source, STR(""), say_nothing, NULL);
    diags_sort(&found);
    return first_error(&found);
}
