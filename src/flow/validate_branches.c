/* SPDX-License-Identifier: Apache-2.0 */
/* A launch script read again as it runs where a variable has another of the values that it asks
   for: what is wrong then is wrong in that branch alone. */
#include "choose/refusal.h"
#include "facts/param_ids.h"
#include "flow/validate.h"

/* A finding at the same place, or of the same rule at the same line, says as much as it needs. */
static bool is_told(const struct diags *all, const struct diag *d)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct diag *other = &all->items[i];
        bool line = other->at.source == d->at.source && other->at.line == d->at.line;
        if (line && (str_eq(other->rule, d->rule) || other->at.column == d->at.column)) return true;
    }
    return false;
}

/* Whether it and its edits are in one source, which is `to` from now on. */
static bool move_to(struct diag *d, uint32_t from, uint32_t to)
{
    bool here = d->at.source == from;
    for (size_t i = 0; i < d->edits.n; i++)
        here = here && d->edits.items[i].source == from;
    d->at.source = to;
    for (size_t i = 0; i < d->edits.n; i++)
        d->edits.items[i].source = to;
    return here;
}

/* An error, or what would be one if it were known which release the file is for; of unknown flags,
   which another backend of the program may have, slips alone. */
static bool is_grave(const struct rule_set *rules, const struct diag *d)
{
    const struct rule *rule = rules_find(rules, d->rule);
    if (str_is(d->rule, "unknown-key") && !str_starts(d->help, STR("did you mean"))) return false;
    return d->severity == SEVERITY_ERROR ||
           (d->severity == SEVERITY_WARNING && rule && rule->severity == SEVERITY_ERROR);
}

/* As warnings: the launch as it stands is not wrong. What stands in a file that is sourced is left
   to that. */
static void take_findings(const struct rule_set *rules, const struct diags *found, uint32_t from,
                          uint32_t to_source, const struct script_choice *choice, struct diags *to)
{
    bool argument = choice->name.p[0] >= '0' && choice->name.p[0] <= '9';
    for (size_t i = 0; i < found->n; i++) {
        struct diag d = found->items[i];
        if (!is_grave(rules, &d) || !move_to(&d, from, to_source)) continue;
        if (is_told(to, &d)) continue;
        d.severity = SEVERITY_WARNING;
        *VEC_PUSH(to->arena, to) = d;
        diag_note(to, &to->items[to->n - 1], "where %s%.*s is %.*s", argument ? "$" : "",
                  STR_ARG(choice->name), STR_ARG(choice->value));
    }
}

static bool is_launched(const struct recipe *recipe)
{
    return recipe->status == RECIPE_READ && recipe->readings.n &&
           recipe->readings.items[0].facts->program.origin != PROGRAM_UNSAID;
}

/* Whether the model is one of a single layer of a single number: what converts models writes so and
   reads its sizes elsewhere. */
static bool stands_for_none(const struct facts *f)
{
    return facts_int(f, P_num_layers, 0) == 1 && facts_int(f, P_hidden_size, 0) == 1;
}

static void check_choice(struct validation *v, uint32_t source, struct str as,
                         const struct read_options *options, const struct script_choice *choice,
                         struct diags *found)
{
    struct setting value = {.name = choice->name, .text = choice->value};
    struct read_options with = *options;
    with.suppose = &value;
    struct recipe recipe = recipe_read(v->arena, found, source, as, &with);
    if (!is_launched(&recipe)) {
        found->n = 0;
        return;
    }
    for (size_t i = 0; i < recipe.readings.n; i++) {
        struct facts *f = recipe.readings.items[i].facts;
        struct memory_estimate memory;
        bool decided;
        if (!stands_for_none(f)) check_configuration(v->rules, f, &memory, &decided, v->scratch);
        arena_reset(v->scratch);
    }
}

void validate_branches(struct validation *v, const struct recipe *recipe, uint32_t source,
                       struct str as, const struct read_options *options, struct diags *diags)
{
    if (!is_launched(recipe)) return;
    const struct facts *f = recipe->readings.items[0].facts;
    for (size_t i = 0; i < f->choices.n; i++) {
        struct diags found;
        const struct source *text = source_get(&diags->sources, source);
        diags_init(&found, v->arena);
        found.sources.requests = diags->sources.requests;
        uint32_t number = source_add(&found.sources, text->path, text->text);
        check_choice(v, number, as, options, &f->choices.items[i], &found);
        take_findings(v->rules, &found, number, source, &f->choices.items[i], diags);
    }
}
