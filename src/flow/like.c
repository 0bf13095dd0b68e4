/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/like.h"

#include <inttypes.h>

#include "base/edit.h"
#include "base/io.h"
#include "base/units.h"
#include "choose/playbook.h"
#include "facts/bridge.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "plan/knob.h"

/* ---- the recipe ---- */

static const struct playbook_recipe *playbook_find(struct str name)
{
    for (size_t i = 0; i < playbook_recipe_count; i++)
        if (str_eq(playbook_recipes[i].name, name)) return &playbook_recipes[i];
    return NULL;
}

static void set(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_FILE, NULL, (struct str){"", 0});
}

static struct facts *playbook_facts(struct arena *a, struct diags *diags,
                                    const struct playbook_recipe *r)
{
    struct facts *f =
        facts_new_plan(a, diags, r->framework, profile_find(r->framework, STR(""))->version);
    struct platform_cache *cache = ARENA_NEW(a, struct platform_cache);
    const struct model_input *model = model_find(a, r->model);
    cache->arena = a;
    const struct platform *platform = platform_load(cache, diags, r->platform, (struct span){0});
    f->framework_known = true;
    if (model) model_apply(f, model, ORIGIN_FILE);
    if (platform) platform_apply(f, platform, ORIGIN_FILE);
    set(f, P_world_size, value_int(r->gpus));
    set(f, P_task, value_string(r->task));
    set(f, P_precision, value_string(r->precision));
    for (size_t i = 0; i < r->n_sets; i++)
        set(f, r->sets[i].param, r->sets[i].value);
    facts_derive(f);
    return f;
}

/* The first configuration of a text; NULL with errors in `diags`. */
static struct facts *text_facts(struct arena *a, struct arena *scratch, struct diags *diags,
                                const struct rule_set *rules, struct str path, struct str text,
                                struct str as)
{
    struct read_options *options = ARENA_NEW(a, struct read_options);
    struct recipe recipe;
    *options = (struct read_options){.platforms = ARENA_NEW(a, struct platform_cache)};
    *options->platforms = (struct platform_cache){.arena = a};
    if (!estimate_read(a, diags, path, text, as, options, &recipe)) return NULL;
    struct facts *f = recipe.readings.items[0].facts;
    rules_assume(rules, f, scratch);
    rules_apply_overrides(rules, f, scratch);
    return f;
}

/* A recipe of Bridge that is not tuned for a machine, as overrides that change nothing of it. */
static struct facts *bridge_recipe_facts(struct arena *a, struct arena *scratch,
                                         struct diags *diags, const struct rule_set *rules,
                                         struct str name)
{
    struct str text =
        arena_printf(a, "# moeplan: format=bridge\n# moeplan: recipe=%.*s\ntrain.train_iters=50\n",
                     STR_ARG(name));
    return text_facts(a, scratch, diags, rules, name, text, STR("bridge"));
}

static void unknown_recipe(struct arena *a, struct str name, struct str error, struct str *why)
{
    struct edit_nearest near = {.word = name};
    for (size_t i = 0; i < playbook_recipe_count; i++)
        edit_offer(&near, playbook_recipes[i].name);
    for (uint32_t i = 0; i < bridge_recipe_count; i++)
        edit_offer(&near, bridge_recipes[i].name);
    *why = arena_printf(a, "%.*s is no file (%.*s) and no shipped recipe%s%.*s%s", STR_ARG(name),
                        STR_ARG(error), near.best.n ? "; did you mean " : "", STR_ARG(near.best),
                        near.best.n ? "?" : "");
}

static struct facts *find_facts(struct arena *a, struct arena *scratch, struct diags *diags,
                                const struct rule_set *rules, struct like_recipe *out,
                                struct str *why)
{
    const struct playbook_recipe *shipped = playbook_find(out->name);
    struct str text, error;
    if (shipped) {
        out->name = arena_printf(a, "%.*s (%.*s %.*s, %.*s)", STR_ARG(shipped->name),
                                 STR_ARG(shipped->repository), STR_ARG(shipped->commit),
                                 STR_ARG(shipped->path));
        return playbook_facts(a, diags, shipped);
    }
    if (bridge_recipe_find(out->name, UINT32_MAX))
        return bridge_recipe_facts(a, scratch, diags, rules, out->name);
    if (io_read(a, str_dup(a, out->name).p, &text, &error))
        return text_facts(a, scratch, diags, rules, out->name, text, STR(""));
    unknown_recipe(a, out->name, error, why);
    return NULL;
}

/* A size that the recipe itself says, not its framework; 0: it does not. */
static int64_t said(const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    return fact_is_set(x) || fact_is_of_recipe(x) ? facts_int(f, param, 0) : 0;
}

/* What the recipe does not say of the run is as the question has it. */
static void fill_open(struct facts *f, const struct ask *ask)
{
    const struct {
        int param;
        int64_t n;
    } sizes[] = {
        {P_world_size, ask->gpus}, {P_seq_length, ask->seq}, {P_global_batch_size, ask->gbs}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!said(f, sizes[i].param) && sizes[i].n > 0)
            set(f, sizes[i].param, value_int(sizes[i].n));
    if (!f->platform) platform_apply(f, ask->platform, ORIGIN_FILE);
    facts_derive(f);
}

bool like_read(struct arena *a, struct arena *scratch, struct diags *diags,
               const struct rule_set *rules, struct ask *ask, struct str name,
               struct like_recipe *out, struct str *why)
{
    bool any = false;
    *why = (struct str){"", 0};
    *out = (struct like_recipe){.name = name};
    out->facts = find_facts(a, scratch, diags, rules, out, why);
    if (!out->facts) return false;
    for (int f = 0; f < FRAMEWORK_COUNT; f++)
        any = any || ask->in[f];
    if (!any) ask->in[out->facts->framework] = true;
    if (!ask->seq) ask->seq = said(out->facts, P_seq_length);
    if (!ask->gbs) ask->gbs = said(out->facts, P_global_batch_size);
    if (!ask->task.n) ask->task = facts_str(out->facts, P_task);
    out->precision_open = !ask->precision.n;
    if (out->precision_open) ask->precision = facts_str(out->facts, P_precision);
    return true;
}

/* ---- the nearest plan ---- */

struct seeker {
    struct arena *arena, *work, *scratch; /* of the pins; of one question; of one evaluation */
    const struct rule_set *rules;
    const struct knobs *recipe;
    struct ask ask; /* with the pins that hold */
    bool tight;     /* a plan need not surely fit: none does */
};

static bool has_plan(struct seeker *s)
{
    struct answers answers;
    struct diags quiet;
    bool found = false;
    diags_init(&quiet, s->work);
    bool answered = ask_all(s->work, s->scratch, &quiet, s->rules, &s->ask, &answers);
    for (size_t i = 0; answered && i < answers.n; i++)
        found = found || (answers.items[i].n && (s->tight || !answers.items[i].tight));
    arena_reset(s->work);
    return found;
}

static bool is_pinned(const struct ask *ask, int param)
{
    for (size_t i = 0; i < ask->pins.n; i++)
        if (ask->pins.items[i].param == param) return true;
    return false;
}

/* Pins what the recipe has of a decision; false when there is nothing to pin. */
static bool pin(struct seeker *s, const struct decision *d)
{
    size_t before = s->ask.pins.n;
    for (const int *param = d->params; *param != P_NONE; param++) {
        const struct knob *knob = knob_of(*param);
        if (!knob || is_pinned(&s->ask, *param)) continue;
        if (*param == P_micro_batch_size && s->ask.mbs) continue;
        struct value v = knob_get(s->arena, s->recipe, knob);
        if (v.kind != VALUE_UNKNOWN) *VEC_PUSH(s->arena, &s->ask.pins) = (struct pin){*param, v};
    }
    return s->ask.pins.n > before;
}

/* Pins the size nearest to the recipe's with which there is a plan: half of it, twice, a quarter …;
   where there is none of these, the search has it. */
static void pin_near(struct seeker *s, const struct decision *d)
{
    enum { FAR = 64 };
    struct knobs recipe = *s->recipe;
    const int64_t size = *decision_size(d, &recipe);
    for (int64_t factor = 2; factor <= FAR; factor *= 2) {
        const int64_t near[] = {size % factor ? 0 : size / factor, size * factor};
        for (int i = 0; i < 2; i++) {
            if (near[i] < 1 || near[i] > s->ask.gpus) continue;
            *VEC_PUSH(s->arena, &s->ask.pins) = (struct pin){d->params[0], value_int(near[i])};
            if (has_plan(s)) return;
            s->ask.pins.n--;
        }
    }
}

/* As many decisions as there is a plan with. */
static void take_decisions(struct seeker *s)
{
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        size_t before = s->ask.pins.n;
        if (!pin(s, d) || has_plan(s)) continue;
        s->ask.pins.n = before;
        if (d->size) pin_near(s, d);
    }
}

/* ---- what it costs ---- */

/* A decision as words of its own: every knob of it. */
static struct str words_of(struct arena *a, const struct decision *d, const struct knobs *k)
{
    struct buf b = buf_new(a);
    if (d->text) return decision_text(a, d, k);
    for (const int *param = d->params; *param != P_NONE; param++) {
        const struct knob *knob = knob_of(*param);
        if (!knob) continue;
        struct str word = value_text(a, knob_get(a, k, knob));
        buf_printf(&b, "%s%.*s", b.n ? " / " : "", STR_ARG(word));
    }
    return buf_str(&b);
}

static bool same_decision(const struct decision *d, const struct knobs *x, const struct knobs *y)
{
    for (const int *param = d->params; *param != P_NONE; param++)
        if (knob_of(*param) && !knob_same(knob_of(*param), x, y)) return false;
    return true;
}

static void copy_decision(const struct decision *d, const struct knobs *from, struct knobs *to)
{
    for (const int *param = d->params; *param != P_NONE; param++) {
        const struct knob *knob = knob_of(*param);
        if (knob)
            memcpy((char *)to + knob->offset, (const char *)from + knob->offset, knob_size(knob));
    }
}

/* The rule that the plan would break with the recipe's value; empty: none. */
static struct str broken_rule(struct seeker *s, const struct plan *plan, const struct knobs *with)
{
    struct diags quiet;
    diags_init(&quiet, s->work);
    struct facts *f = facts_copy(s->work, plan->facts);
    f->diags = &quiet;
    knobs_say_changes(&plan->config, with, f);
    const struct rule *broken = rules_first_error(s->rules, f, s->scratch);
    struct str id = broken ? str_dup(s->arena, broken->id) : STR("");
    arena_reset(s->work);
    return id;
}

static void tell_why(struct seeker *s, const struct plan *plan, const struct config *with,
                     const struct contender *costs, struct like_change *out)
{
    double capacity = plan->capacity;
    struct str rule;
    if (!knobs_divide(&with->knobs))
        out->why =
            arena_printf(s->arena, "does not divide %" PRId64 " GPUs and a batch of %" PRId64,
                         with->knobs.gpus, with->knobs.gbs);
    else if (out->timed && costs->peak_high > capacity)
        out->why = arena_printf(s->arena, "needs %.0f of %.0f GiB", costs->peak_high / GIB,
                                capacity / GIB);
    else if ((rule = broken_rule(s, plan, &with->knobs)).n)
        out->why = arena_printf(s->arena, "refused [%.*s]", STR_ARG(rule));
}

static void price(struct seeker *s, const struct plan *plan, struct like_change *out)
{
    struct config c = plan->config;
    struct contender costs;
    struct layout slot;
    copy_decision(out->decision, s->recipe, &c.knobs);
    out->timed =
        knobs_divide(&c.knobs) && search_divide(&c, &slot) && contender_estimate(&c, &costs);
    if (out->timed) {
        out->slower = plan->costs.step_s / costs.step_s - 1;
        out->peak = costs.peak;
    }
    tell_why(s, plan, &c, &costs, out);
}

static void list_decisions(struct seeker *s, const struct plan *plan, struct like *out)
{
    const struct knobs *k = &plan->config.knobs;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        if (*d->params == P_NONE) continue; /* the search's alone */
        if (same_decision(d, s->recipe, k)) {
            out->kept[out->n_kept++] = d;
            continue;
        }
        struct like_change *change = &out->changes[out->n_changes++];
        *change = (struct like_change){.decision = d,
                                       .recipe = words_of(s->arena, d, s->recipe),
                                       .plan = words_of(s->arena, d, k)};
        price(s, plan, change);
    }
}

/* ---- the answer ---- */

/* The first plan of all frameworks; NULL: none. */
static const struct plan *first_plan(const struct answers *answers)
{
    for (size_t i = 0; i < answers->n; i++)
        if (answers->items[i].n) return &answers->items[i].plans[0];
    return NULL;
}

/* The best plan without the recipe; the seeker learns whether any surely fits. */
static bool find_best(struct seeker *s, struct contender *out)
{
    struct answers answers;
    struct diags quiet;
    diags_init(&quiet, s->work);
    bool answered = ask_all(s->work, s->scratch, &quiet, s->rules, &s->ask, &answers);
    const struct plan *plan = answered ? first_plan(&answers) : NULL;
    if (plan) *out = plan->costs;
    s->tight = plan && plan->costs.peak_high > plan->capacity;
    arena_reset(s->work);
    return plan != NULL;
}

bool like_answer(struct arena *a, struct arena *scratch, struct diags *diags,
                 const struct rule_set *rules, struct ask *ask, const struct like_recipe *recipe,
                 struct answers *answers, struct like *out)
{
    struct notes sizes = {0};
    struct contender best;
    *out = (struct like){.recipe = *recipe};
    ask_size(a, scratch, rules, ask, &sizes);
    ask_complete(ask);
    fill_open(out->recipe.facts, ask);
    if (!config_from_facts(a, out->recipe.facts, &out->recipe.config)) return false;
    struct seeker s = {a,    arena_child(a, 0), scratch, rules, &out->recipe.config.knobs, *ask,
                       false};
    int64_t top = ask->top;
    s.ask.top = 1;
    bool any = find_best(&s, &best);
    if (!any && recipe->precision_open && !str_is(ask->precision, "bf16")) {
        s.ask.precision = ask->precision = STR("bf16"); /* which every chip has */
        any = find_best(&s, &best);
    }
    if (any) take_decisions(&s);
    ask->pins = s.ask.pins;
    ask->top = top;
    bool answered = ask_all(a, scratch, diags, rules, ask, answers);
    const struct plan *plan = answered ? first_plan(answers) : NULL;
    if (plan && any) {
        list_decisions(&s, plan, out);
        out->behind = plan->costs.step_s / best.step_s - 1;
        out->best = best.knobs;
    }
    arena_free(s.work);
    return answered;
}
