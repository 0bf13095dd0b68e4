/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/estimate.h"

#include "cost/split.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "plan/framework.h"
#include "plan/knob.h"

bool estimate_read(struct arena *a, struct diags *diags, struct str path, struct str text,
                   struct str as, const struct read_options *options, struct recipe *out)
{
    uint32_t source = source_add(&diags->sources, path, text);
    *out = recipe_read(a, diags, source, as, options);
    if (out->readings.n > 0 && out->status == RECIPE_READ) return true;
    if (out->status == RECIPE_SKIPPED)
        diag_add(diags, SEVERITY_ERROR, "no-recipe", (struct span){.source = source},
                 "this is no recipe that moeplan knows");
    return false;
}

static void no_platform(const struct facts *f)
{
    struct diag *d = diag_add(f->diags, SEVERITY_ERROR, "missing-fact",
                              (struct span){.source = f->source}, "the platform is not given");
    diag_help(f->diags, d, "give it: --platform h100, or platform: h100 in the plan");
}

static void no_split(const struct facts *f, const struct config *c)
{
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "pipeline-split", (struct span){.source = f->source},
                 "%d layers cannot be put on %d stages of %d chunks as the plan says",
                 c->model.num_layers, c->knobs.pp, c->knobs.vpp);
    d->parameter = param_name(P_pipeline_model_parallel_size);
}

/* Megatron-core refuses layers that do not divide by the chunks unless a layout says where they
   stand: whoever ran such a plan wrote one, so that no stage waits for another. */
static void balance(struct arena *a, const struct facts *f, const struct time_layers *layers,
                    struct config *c)
{
    struct time_rates rates;
    bool uneven = c->model.num_layers % (c->knobs.pp * c->knobs.vpp) != 0;
    if (!uneven || !str_is(f->format, "plan") || !config_traits(c)->megatron_words) return;
    if (!split_is_free(c)) return;
    time_rates_of(layers, c, &rates);
    split_by_time(c, &rates, ARENA_NEW(a, struct layout));
}

/* Facts with overrides applied -> costs; errors in the facts' diagnostics when there are none. */
static void add_costs(struct arena *a, const struct facts *f, struct estimate *out,
                      struct estimate_terms *terms)
{
    struct time_layers layers;
    bool good = config_from_facts(a, f, &out->config);
    out->facts = f;
    if (!f->platform) no_platform(f);
    if (!good || !f->platform) return;
    time_layers_init(&out->config, &layers);
    balance(a, f, &layers, &out->config);
    out->complete =
        memory_estimate(&out->config, &out->memory, terms ? &terms->memory : NULL) &&
        time_estimate_layers(&layers, &out->config, &out->time, terms ? &terms->time : NULL);
    if (!out->complete) {
        no_split(f, &out->config);
        return;
    }
    memory_allow_open(&out->config, &out->memory);
    time_allow_open(&layers, &out->config, &out->time);
    evidence_find(&out->config, &out->evidence);
}

/* No figures yet: their tables, most of the record, are written where it becomes complete. */
static void start(struct estimate *out)
{
    out->facts = NULL;
    out->refusal = (struct refusal){0};
    out->complete = false;
    out->missing = (struct str){"", 0};
}

bool estimate_reading(struct arena *a, const struct rule_set *rules, const struct reading *reading,
                      struct arena *scratch, struct estimate *out, struct estimate_terms *terms)
{
    struct facts *f = reading->facts;
    start(out);
    out->refusal = refusal_find(a, rules, reading, scratch);
    if (terms) *terms = (struct estimate_terms){{.arena = a}, {.arena = a}};
    rules_assume_run(rules, f, scratch);
    rules_apply_overrides(rules, f, scratch);
    arena_reset(scratch);
    add_costs(a, f, out, terms);
    return out->complete;
}

static struct str first_error(const struct diags *diags)
{
    for (size_t i = 0; i < diags->n; i++)
        if (diags->items[i].severity == SEVERITY_ERROR) return diags->items[i].message;
    return STR("the configuration is incomplete");
}

void estimate_facts(struct arena *a, const struct rule_set *rules, const struct facts *f,
                    struct arena *scratch, struct estimate *out)
{
    start(out);
    add_costs(a, rules_run_facts(a, rules, f, scratch), out, NULL);
    if (!out->complete) out->missing = first_error(out->facts->diags);
}

/* ---- what would make it fit ---- */

/* What a change must not do: break a rule that the recipe keeps. */
struct keeper {
    struct arena *arena, *scratch; /* of the changed facts; of the rules */
    const struct rule_set *rules;
    const struct estimate *recipe;
    const struct rule *broken; /* by the recipe itself; NULL: none */
};

static bool breaks_nothing(const struct config *changed, void *context)
{
    const struct keeper *k = context;
    struct arena *a = k->arena;
    struct arena_mark mark = arena_mark(a);
    struct diags quiet;
    diags_init(&quiet, a);
    struct facts *f = facts_copy(a, k->recipe->facts);
    f->diags = &quiet;
    knobs_say_changes(&k->recipe->config, &changed->knobs, f);
    const struct rule *broken = rules_first_error(k->rules, f, k->scratch);
    arena_pop(a, mark);
    return !broken || broken == k->broken;
}

int estimate_changes(struct arena *a, const struct rule_set *rules, const struct estimate *e,
                     struct arena *scratch, struct memory_change out[WHATIF_CHANGES])
{
    struct keeper keeper = {a, scratch, rules, e, rules_first_error(rules, e->facts, scratch)};
    return memory_cheapest_changes(&e->config, breaks_nothing, &keeper, out);
}

/* ---- a model alone ---- */

bool estimate_shape(struct arena *a, struct diags *diags, const struct model_input *m,
                    struct arena *scratch, struct model_shape *out)
{
    struct facts *f = facts_new_plan(a, diags, FRAMEWORK_MEGATRON, profile_at(0)->version);
    model_apply(f, m, ORIGIN_FILE);
    rules_assume_model(rules_builtin(), f, scratch);
    return config_model(f, out, false);
}
