/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/playbook.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "choose/finalists.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "plan/framework.h"
#include "plan/knob.h"

/* ---- which recipes are about a question ---- */

/* Recipes of Megatron-core run under whatever drives it. */
static bool same_framework(enum framework a, enum framework b)
{
    return a == b || (framework_traits(a)->megatron_words && framework_traits(b)->megatron_words);
}

static bool near(int64_t a, int64_t b)
{
    return llabs(a - b) <= b / 1000;
}

/* Two descriptions of one model may differ in a bias or a norm, and in the depths that predict
   further tokens; its sizes do not. */
static bool same_shape(const struct model_shape *a, const struct model_shape *b)
{
    struct param_counts x = model_params(a), y = model_params(b);
    return a->num_layers == b->num_layers && a->hidden == b->hidden && a->heads == b->heads &&
           a->experts == b->experts && a->topk == b->topk && near(x.total, y.total) &&
           near(x.active, y.active);
}

/* The catalogue's model as the question's framework builds it. */
static bool recipe_model(const struct playbook_recipe *r, const struct facts *f,
                         struct model_shape *out)
{
    struct arena_mark mark = arena_mark(f->arena);
    struct diags quiet;
    diags_init(&quiet, f->arena);
    const struct model_input *model = model_find(f->arena, r->model);
    if (!model) return false;
    struct facts *of = facts_new_plan(f->arena, &quiet, f->framework, f->version);
    model_apply(of, model, ORIGIN_OPTION);
    bool tower = facts_int(of, P_vision_num_layers, 0) > 0;
    bool alike = tower == (facts_int(f, P_vision_num_layers, 0) > 0);
    bool read = alike && config_model(of, out, true);
    if (read) out->name = r->model;
    arena_pop(f->arena, mark);
    return read;
}

bool playbook_is_for(const struct playbook_recipe *r, const struct facts *f,
                     const struct config *base)
{
    struct model_shape shape;
    if (r->gpus != base->knobs.gpus || !str_eq(r->platform, base->machine.id)) return false;
    if (!same_framework(r->framework, f->framework)) return false;
    if (!str_eq(r->task, facts_str(f, P_task))) return false;
    if (!str_eq(r->precision, facts_str(f, P_precision))) return false;
    return recipe_model(r, f, &shape) && same_shape(&shape, &base->model);
}

/* ---- a recipe on a question ---- */

/* The question's facts with what the recipe decides; NULL: the user set something else. */
static struct facts *recipe_facts(const struct playbook_recipe *r, const struct facts *f)
{
    struct facts *with = facts_copy(f->arena, f);
    for (size_t i = 0; i < r->n_sets; i++) {
        const struct playbook_setting *s = &r->sets[i];
        const struct fact *said = facts_get(f, s->param);
        if (fact_is_set(said) && !value_eq(said->value, s->value)) return NULL;
        facts_set(with, s->param, s->value, ORIGIN_OPTION, NULL, r->name);
    }
    facts_derive(with);
    return with;
}

static bool keeps_layout(const struct config *base, const struct knobs *k)
{
    return !base->layout_given || base->layouts[0].n_chunks == k->pp * k->vpp;
}

static bool names(const struct playbook_recipe *r, const struct knob *knob)
{
    for (size_t i = 0; i < r->n_sets; i++)
        if (knob_said_by(r->sets[i].param) == knob) return true;
    return false;
}

/* What the recipe decides, by name or in other words, on what the question and the guides have for
   the rest. `plain`: the question without guides and recipe. */
static void lay_over(const struct playbook_recipe *r, const struct knobs *plain,
                     const struct knobs *recipe, struct knobs *k)
{
    for (size_t i = 0; i < knob_field_count; i++) {
        const struct knob *knob = &knob_table[i];
        if (!names(r, knob) && knob_same(knob, plain, recipe)) continue;
        memcpy((char *)k + knob->offset, (const char *)recipe + knob->offset, knob_size(knob));
    }
}

static bool recipe_knobs(const struct playbook_recipe *r, const struct facts *f,
                         const struct config *base, struct knobs *out)
{
    struct config plain, c;
    const struct facts *with = recipe_facts(r, f);
    if (!with || !config_from_facts(f->arena, f, &plain)) return false;
    if (!config_from_facts(f->arena, with, &c)) return false;
    *out = base->knobs;
    lay_over(r, &plain.knobs, &c.knobs, out);
    return keeps_layout(base, out) && knobs_divide(out);
}

size_t playbook_candidates(struct arena *a, const struct facts *f, const struct config *base,
                           struct playbook_candidate **out)
{
    VEC(struct playbook_candidate) list = {0};
    struct diags quiet;
    diags_init(&quiet, a);
    struct facts *question = facts_copy(a, f);
    question->diags = &quiet;
    for (size_t i = 0; i < playbook_recipe_count; i++) {
        struct playbook_candidate one = {.recipe = &playbook_recipes[i]};
        if (!playbook_is_for(one.recipe, question, base)) continue;
        if (recipe_knobs(one.recipe, question, base, &one.knobs)) *VEC_PUSH(a, &list) = one;
    }
    *out = list.items;
    return list.n;
}

/* ---- the nearest of all ---- */

static double log_ratio(int64_t x, int64_t y)
{
    return x > 0 && y > 0 ? fabs(log2((double)x / (double)y)) : 0;
}

/* Two descriptions of one model differ by less, in doublings. */
static const double same_model = 0.02;

/* A doubling of the model's parameters weighs as much as another platform or task. Infinite: the
   catalogue's model is not one that the question's framework builds, or only one of both has
   experts. */
static double model_distance(const struct playbook_recipe *r, const struct facts *f,
                             const struct config *base)
{
    struct model_shape shape;
    if (!recipe_model(r, f, &shape) || !shape.experts != !base->model.experts) return INFINITY;
    struct param_counts x = model_params(&shape), y = model_params(&base->model);
    double distance = log_ratio(x.total, y.total) + log_ratio(x.active, y.active);
    return distance + 2 * (distance > same_model);
}

/* What else tells a recipe from a question; of the GPUs a doubling. */
static double run_distance(const struct playbook_recipe *r, const struct facts *f,
                           const struct config *base)
{
    const bool other[] = {!str_eq(r->platform, base->machine.id),
                          !str_eq(r->task, facts_str(f, P_task)),
                          !str_eq(r->precision, facts_str(f, P_precision))};
    return other[0] + other[1] + 0.5 * other[2] + 0.25 * log_ratio(r->gpus, base->knobs.gpus);
}

struct str playbook_nearest(struct arena *a, const struct facts *f, const struct config *base)
{
    const struct playbook_recipe *best = NULL, *before = NULL;
    struct facts *question = facts_copy(a, f);
    double least = INFINITY, model = INFINITY;
    for (size_t i = 0; i < playbook_recipe_count; i++) {
        const struct playbook_recipe *r = &playbook_recipes[i];
        if (!same_framework(r->framework, f->framework)) continue;
        double distance = run_distance(r, f, base);
        if (distance >= least) continue; /* whatever its model, which takes longer to compare */
        if (!before || !str_eq(before->model, r->model)) model = model_distance(r, question, base);
        before = r;
        distance += model;
        if (distance >= least) continue;
        best = r;
        least = distance;
    }
    if (!best) return STR("");
    return arena_printf(a, "%.*s (%.*s %.*s, %.*s) is the nearest: %.*s on %lld %.*s, %.*s, %.*s",
                        STR_ARG(best->name), STR_ARG(best->repository), STR_ARG(best->commit),
                        STR_ARG(best->path), STR_ARG(best->model), (long long)best->gpus,
                        STR_ARG(best->platform), STR_ARG(best->task), STR_ARG(best->precision));
}

/* ---- the one that is near ---- */

/* Seconds of a step where it surely fits; else infinite. */
static double step_of(const struct config *base, const struct knobs *k)
{
    struct config c = *base;
    struct layout slot;
    struct contender costs;
    c.knobs = *k;
    if (!search_divide(&c, &slot) || !contender_estimate(&c, &costs)) return INFINITY;
    return costs.peak_high <= base->machine.capacity_bytes ? costs.step_s : INFINITY;
}

/* The rank of the first plan with the layout, n when there is none. */
static size_t rank_of(const struct knobs *k, const struct contender *plans, size_t n)
{
    size_t i = 0;
    while (i < n && !finalists_same_layout(k, &plans[i].knobs))
        i++;
    return i;
}

/* A recipe and how near it is: by the rank of the plan that has its layout, then by its time. */
struct nearness {
    const struct playbook_candidate *candidate;
    size_t rank;
    double step_s;
};

static bool nearer(const struct nearness *x, const struct nearness *y)
{
    if (!y->candidate || x->rank != y->rank) return !y->candidate || x->rank < y->rank;
    return x->step_s < y->step_s;
}

static struct str sentence(struct arena *a, const struct nearness *best,
                           const struct contender *first, size_t n)
{
    const struct playbook_recipe *r = best->candidate->recipe;
    const struct knobs *k = &best->candidate->knobs;
    struct str whose = arena_printf(a, "%.*s (%.*s %.*s, %.*s)", STR_ARG(r->name),
                                    STR_ARG(r->repository), STR_ARG(r->commit), STR_ARG(r->path));
    if (best->rank < n)
        return arena_printf(a, "%.*s has the layout of plan %zu", STR_ARG(whose), best->rank + 1);
    double percent = 100 * (best->step_s / first->step_s - 1);
    return arena_printf(a, "%.*s: tp %d pp %d cp %d ep %d, %.0f %% %s", STR_ARG(whose), k->tp,
                        k->pp, k->cp, k->ep, fabs(percent), percent < 0 ? "faster" : "slower");
}

struct str playbook_name(struct arena *a, const struct playbook_candidate *all, size_t count,
                         const struct config *base, const struct contender *plans, size_t n)
{
    struct nearness best = {0};
    for (size_t i = 0; i < count && n; i++) {
        struct nearness one = {&all[i], rank_of(&all[i].knobs, plans, n),
                               step_of(base, &all[i].knobs)};
        bool close = one.step_s <= plans[0].step_s * (1 + PLAYBOOK_NEAR_PERCENT / 100.0);
        if ((one.rank < n || close) && nearer(&one, &best)) best = one;
    }
    return best.candidate ? sentence(a, &best, &plans[0], n) : STR("");
}
