/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/checker.h"

#include <stdio.h>

#include "base/vec.h"
#include "choose/space.h"
#include "facts/param_ids.h"
#include "plan/knob.h"
#include "rules/run.h"

static const char FORBIDDEN[] = "what is forbidden or pinned";

struct facts *checker_facts(struct arena *a, const struct plan_request *request,
                            const struct config *plan, struct diags *diags, struct arena *scratch)
{
    struct facts *f = facts_copy(a, request->facts);
    f->diags = diags;
    config_to_facts(plan, f);
    planner_complete(request->rules, f, scratch);
    facts_derive(f);
    return f;
}

enum { CAUSE_MOST_KNOBS = 24 };

/* Why a rule refused a plan: the values of all knobs that it looks at. */
struct cause {
    const struct knob *knobs[CAUSE_MOST_KNOBS];
    size_t n;
    bool layout; /* none of them is a switch that the search sets */
    bool fixed;  /* nor one of the layout: it holds for every plan of the question */
    struct knobs values;
    const char *why; /* what refused it */
    size_t next;     /* of its look, the next with as much of a hash: index + 1 */
};

/* The causes that look at the same knobs. A rule about what follows from the layout has one for
   each layout that it refuses: they are found by the values. */
enum { LOOK_SLOTS = 256 };
struct look {
    size_t first;             /* cause */
    size_t slots[LOOK_SLOTS]; /* by hashes of the values, index + 1; 0: none */
};

/* A rule that refused layouts whatever the switches. */
struct layout_rule {
    const struct rule *rule;
    size_t refused; /* layouts, before it was asked of each */
};
/* So many that to ask it of each layout beforehand takes less than to try their plans. */
enum { REFUSES_OFTEN = 16 };

struct checker {
    const struct plan_request *request;
    const struct search_request *search;
    const char *obstacle;       /* what refuses every plan; NULL: nothing that is known */
    struct rule_subset rules;   /* those that can differ between two plans */
    struct forbid_tally *tally; /* of request->forbid */
    const bool *completed;      /* [param_count]: what rules set */
    const bool *overridden; /* [param_count]: what the framework sets in place of what is said */
    const struct knob **sayers; /* [param_count]: knobs that say them; NULL: not asked yet */
    VEC(struct cause) causes;
    VEC(struct look *) looks;
    VEC(struct layout_rule) layout_rules;
    struct arena *arena, *scratch;
};

/* Why a value is neither true nor false; empty: it is. */
static struct str no_truth(struct value v)
{
    if (v.kind == VALUE_BOOL) return STR("");
    if (v.kind == VALUE_UNKNOWN) return STR("its value is not known");
    return v.kind == VALUE_ERROR ? v.s : STR("it is neither true nor false");
}

/* A plan of which an expression says nothing is not forbidden by it, but counted. */
static bool forbids(struct checker *c, const struct facts *f, const struct expr **which)
{
    struct expr_scope scope = facts_scope(f);
    bool forbidden = false;
    for (size_t i = 0; i < c->request->n_forbid; i++) {
        struct value v = expr_eval(c->request->forbid[i], c->scratch, &scope);
        struct str why = no_truth(v);
        struct forbid_tally *tally = &c->tally[i];
        tally->asked++;
        if (why.n && !tally->undecided++)
            snprintf(tally->why, sizeof tally->why, "%.*s", STR_ARG(why));
        if (v.kind != VALUE_BOOL || !v.b) continue;
        forbidden = true;
        *which = c->request->forbid[i];
    }
    return forbidden;
}

static bool is_caused(const struct cause *cause, const struct knobs *k)
{
    bool same = true;
    for (size_t i = 0; i < cause->n && same; i++)
        same = knob_same(cause->knobs[i], k, &cause->values);
    return same;
}

/* Where causes with the values that a cause's knobs have here stand. */
static size_t slot_of(const struct cause *cause, const struct knobs *k)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < cause->n; i++)
        hash = hash * 31 + (uint32_t)(int64_t)knob_number(k, cause->knobs[i]);
    return (hash ^ hash >> 8 ^ hash >> 16) % LOOK_SLOTS;
}

static struct look *look_of(struct checker *c, const struct cause *cause)
{
    size_t bytes = cause->n * sizeof *cause->knobs;
    for (size_t i = 0; i < c->looks.n; i++) {
        const struct cause *first = &c->causes.items[c->looks.items[i]->first];
        if (first->n == cause->n && !memcmp(first->knobs, cause->knobs, bytes))
            return c->looks.items[i];
    }
    struct look *look = ARENA_NEW(c->arena, struct look);
    look->first = c->causes.n;
    *VEC_PUSH(c->arena, &c->looks) = look;
    return look;
}

static void remember(struct checker *c, struct cause *cause)
{
    size_t *slot = &look_of(c, cause)->slots[slot_of(cause, &cause->values)];
    cause->next = *slot;
    *VEC_PUSH(c->arena, &c->causes) = *cause;
    *slot = c->causes.n;
}

/* The earliest cause that holds, so that the same is told in whatever order they are looked up. */
static const char *refused(void *context, const struct knobs *k)
{
    const struct checker *c = context;
    const struct cause *all = c->causes.items, *found = NULL;
    if (c->obstacle) return c->obstacle;
    for (size_t i = 0; i < c->looks.n; i++) {
        const struct look *look = c->looks.items[i];
        for (size_t at = look->slots[slot_of(&all[look->first], k)]; at; at = all[at - 1].next)
            if (is_caused(&all[at - 1], k) && (!found || &all[at - 1] < found))
                found = &all[at - 1];
    }
    return found ? found->why : NULL;
}

/* Whether the request itself says what else is derived of every plan: that it is written over a
   recipe, say. What is derived after all has another origin. */
static bool is_said_for_all(const struct fact *asked, const struct facts *plan, int param)
{
    return asked->origin == ORIGIN_OPTION && facts_get(plan, param)->origin == ORIGIN_OPTION &&
           !knob_of(param);
}

/* Whether all plans of the question have the same value of a parameter, but for what the framework
   sets in its place: what the request says stays. */
static bool is_constant(const struct checker *c, const struct facts *plan, int param)
{
    const struct fact *asked = facts_get(c->request->facts, param);
    if (param_table[param].scope == SCOPE_DERIVED) return is_said_for_all(asked, plan, param);
    return fact_is_set(asked) ||
           (!c->completed[param] && facts_get(plan, param)->origin == asked->origin);
}

/* The knob whose words set a parameter in the plan; NULL: none does. */
static const struct knob *find_sayer(const struct checker *c, const struct config *plan, int param)
{
    const struct knob *found = NULL;
    struct arena_mark mark = arena_mark(c->arena);
    struct knob_saying words = {facts_copy(c->arena, c->request->facts), true};
    for (size_t i = 0; i < knob_field_count && !found; i++) {
        if (i < knob_count || knob_table[i].say) knob_say(&words, plan, &knob_table[i]);
        if (facts_get(words.facts, param)->origin != facts_get(c->request->facts, param)->origin)
            found = &knob_table[i];
    }
    arena_pop(c->arena, mark);
    return found;
}

/* The knob that a parameter of the plan stands for; NULL: none does by itself. */
static const struct knob *knob_behind(const struct checker *c, const struct config *plan,
                                      const struct facts *f, int param)
{
    if (param_table[param].scope == SCOPE_DERIVED) return NULL;
    if (knob_said_by(param)) return knob_said_by(param);
    if (facts_get(f, param)->origin != ORIGIN_OPTION) return NULL; /* rules derive */
    if (!c->sayers[param]) c->sayers[param] = find_sayer(c, plan, param);
    return c->sayers[param];
}

static const int layout_params[] = {P_tensor_model_parallel_size,
                                    P_pipeline_model_parallel_size,
                                    P_virtual_pipeline_model_parallel_size,
                                    P_context_parallel_size,
                                    P_expert_model_parallel_size,
                                    P_expert_tensor_parallel_size,
                                    P_micro_batch_size};
enum { LAYOUT_PARAMS = sizeof layout_params / sizeof *layout_params };

static bool is_about_layout(const struct knob *knob)
{
    bool found = knob->kind == KNOB_SHARDED;
    for (int i = 0; i < LAYOUT_PARAMS; i++)
        found = found || knob == knob_of(layout_params[i]);
    return found;
}

/* What follows from the GPUs, the batch and the layout. */
static bool follows_from_layout(int param)
{
    return param == P_data_parallel_size || param == P_expert_data_parallel_size ||
           param == P_num_microbatches;
}

static bool has_knob(const struct cause *cause, const struct knob *knob)
{
    bool found = false;
    for (size_t i = 0; i < cause->n; i++)
        found = found || cause->knobs[i] == knob;
    return found;
}

/* A cause being found: the plan that it is of, with its facts. */
struct search_of_cause {
    const struct checker *checker;
    const struct config *plan;
    const struct facts *facts;
    struct cause *cause;
    const struct search_of_cause *outer; /* NULL; or what asked for the knobs that a rule which */
    int set;                             /* sets this parameter looks at */
};

/* Whether it is being asked already what sets a parameter. */
static bool is_asked(const struct search_of_cause *x, int param)
{
    for (; x->outer; x = x->outer)
        if (x->set == param) return true;
    return false;
}

/* Whether the plan has it as every plan of the search does. One that is known from elsewhere may
   have it otherwise. */
static bool is_fixed(const struct search_of_cause *x, const struct knob *knob)
{
    const struct search_request *search = x->checker->search;
    return space_is_fixed(search, knob) && knob_same(knob, &search->base->knobs, &x->cause->values);
}

static bool add_knob(const struct search_of_cause *x, const struct knob *knob)
{
    struct cause *cause = x->cause;
    if (has_knob(cause, knob)) return true;
    if (cause->n == CAUSE_MOST_KNOBS) return false;
    cause->knobs[cause->n++] = knob;
    bool fixed = is_fixed(x, knob);
    cause->layout = cause->layout && (fixed || is_about_layout(knob));
    cause->fixed = cause->fixed && fixed;
    return true;
}

static bool add_layout(const struct search_of_cause *x)
{
    bool all = true;
    for (int i = 0; i < LAYOUT_PARAMS; i++)
        all = add_knob(x, knob_of(layout_params[i])) && all;
    return all;
}

static bool is_about_exchange(int param)
{
    return param == P_cp_comm_type || param == P_hierarchical_context_parallel_sizes;
}

/* What the model's attention needs, and the sizes of levels, follow from how many ranks share its
   heads (config_cp_comm). */
static bool add_exchange(const struct search_of_cause *x)
{
    int comm = x->plan->knobs.cp_comm;
    bool follows = comm == CP_NEEDED || comm == CP_LEVELS;
    return add_knob(x, knob_of(P_cp_comm_type)) &&
           (!follows || (add_knob(x, knob_of(P_tensor_model_parallel_size)) &&
                         add_knob(x, knob_of(P_context_parallel_size))));
}

static bool add_knobs(const struct search_of_cause *x, const struct expr *e);

static bool looks_at(const struct expr *e, int param)
{
    const uint32_t *slots;
    size_t n = expr_slots(e, &slots);
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = found || facts_slot_param(slots[i]) == param;
    return found;
}

/* Whether a condition does not hold, whatever became of the parameter that it is about. */
static bool is_unmet(const struct search_of_cause *x, const struct expr *e, int param)
{
    struct expr_scope scope = facts_scope(x->facts);
    struct value v = expr_eval(e, x->checker->scratch, &scope);
    return !looks_at(e, param) && !(v.kind == VALUE_BOOL && v.b);
}

/* Adds what an override of a parameter looks at: one condition that is not met, or all of it. */
static bool add_override(const struct search_of_cause *x, const struct rule *r, int param)
{
    bool all = true;
    for (size_t i = 0; i < r->n_conditions; i++)
        if (is_unmet(x, r->conditions[i], param) && add_knobs(x, r->conditions[i])) return true;
    for (size_t i = 0; i < r->n_conditions && all; i++)
        all = add_knobs(x, r->conditions[i]);
    for (size_t i = 0; i < r->n_set && all; i++)
        all = add_knobs(x, r->set[i].value);
    return all && !r->rule;
}

/* Whether an expression looks at what rules or the framework set, which may have been otherwise
   when a rule asked. */
static bool looks_at_set(const struct checker *c, const struct expr *e)
{
    return expr_reads(e, c->completed) || expr_reads(e, c->overridden);
}

/* Adds what a rule that completes a parameter looks at: one condition that is not met, or all. */
static bool add_completion(const struct search_of_cause *x, const struct rule *r, int param)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (!looks_at_set(x->checker, r->conditions[i]) && is_unmet(x, r->conditions[i], param) &&
            add_knobs(x, r->conditions[i]))
            return true;
    bool all = !r->rule || add_knobs(x, r->rule);
    for (size_t i = 0; i < r->n_conditions && all; i++)
        all = add_knobs(x, r->conditions[i]);
    for (size_t i = 0; i < r->n_set && all; i++)
        if (r->set[i].param == param) all = add_knobs(x, r->set[i].value);
    return all;
}

/* What planner_complete makes of a parameter follows from what its rules look at. */
static bool add_completions(const struct search_of_cause *x, int param)
{
    const struct rule_set *rules = x->checker->request->rules;
    struct search_of_cause inner = *x;
    bool all = x->checker->completed[param] && param_table[param].scope != SCOPE_DERIVED;
    inner.outer = x, inner.set = param;
    for (size_t i = 0; i < rules->n && all; i++) {
        const struct rule *r = rules->items[i];
        if (r->role == ROLE_CHECK && rule_sets(r, param) && rule_is_for(r, x->facts))
            all = add_completion(&inner, r, param);
    }
    return all;
}

/* Where the framework itself sets what a knob says, a rule looks at more than the knob. */
static bool add_overrides(const struct search_of_cause *x, int param)
{
    const struct rule_set *rules = x->checker->request->rules;
    struct search_of_cause inner = *x;
    bool all = true;
    inner.outer = x, inner.set = param;
    const struct rule_lane *lane = &rules->lanes[x->facts->framework];
    for (size_t i = 0; i < lane->n_overrides && all; i++) {
        const struct rule *r = rules->items[lane->overrides[i]];
        if (rule_sets(r, param) && rule_is_for(r, x->facts)) all = add_override(&inner, r, param);
    }
    return all;
}

/* Adds the knobs that an expression looks at; false when there are too many, or it also looks at
   what follows from others otherwise than by rules. */
static bool add_knobs(const struct search_of_cause *x, const struct expr *e)
{
    const struct checker *c = x->checker;
    const uint32_t *slots;
    size_t n = expr_slots(e, &slots);
    for (size_t i = 0; i < n; i++) {
        int param = facts_slot_param(slots[i]);
        if (param < 0) continue;
        const struct knob *knob = knob_behind(c, x->plan, x->facts, param);
        bool constant = !knob && is_constant(c, x->facts, param);
        if (has_knob(x->cause, knob) || is_asked(x, param)) continue;
        bool added = is_about_exchange(param)     ? add_exchange(x)
                     : constant                   ? true
                     : knob                       ? add_knob(x, knob)
                     : follows_from_layout(param) ? add_layout(x)
                                                  : add_completions(x, param);
        if (added && c->overridden[param]) added = add_overrides(x, param);
        if (!added) return false;
    }
    return true;
}

/* What a rule looked at in a plan; false where that is more than knobs. */
static bool find_cause(const struct search_of_cause *x, const struct rule *r)
{
    bool known = r->rule && add_knobs(x, r->rule);
    for (size_t i = 0; i < r->n_conditions && known; i++)
        known = add_knobs(x, r->conditions[i]);
    return known;
}

/* A plan being judged: its facts until the arena is popped, and what may become its cause. */
struct judged {
    const struct config *plan;
    struct facts *facts;
    struct diags diags;
    struct cause cause;
};

static void begin(struct checker *c, const struct config *plan, struct judged *x)
{
    *x = (struct judged){.plan = plan,
                         .cause = {.values = plan->knobs, .layout = true, .fixed = true}};
    diags_init(&x->diags, c->arena);
    x->facts = checker_facts(c->arena, c->request, plan, &x->diags, c->scratch);
}

/* Whether an expression forbids it; *known: the cause says what it looks at. */
static bool is_forbidden(struct checker *c, struct judged *x, bool *known)
{
    const struct expr *which;
    bool forbidden = forbids(c, x->facts, &which);
    struct search_of_cause search = {c, x->plan, x->facts, &x->cause, NULL, P_NONE};
    *known = forbidden && add_knobs(&search, which);
    return forbidden;
}

/* Counts a layout that a rule refused whatever the switches. */
static void note_layout_rule(struct checker *c, const struct rule *rule)
{
    size_t i = 0;
    while (i < c->layout_rules.n && c->layout_rules.items[i].rule != rule)
        i++;
    if (i == c->layout_rules.n)
        *VEC_PUSH(c->arena, &c->layout_rules) = (struct layout_rule){.rule = rule};
    c->layout_rules.items[i].refused++;
}

/* The rule that refuses it; NULL: none does. */
static const struct rule *refusing_rule(struct checker *c, struct judged *x, bool *known)
{
    rules_apply_overrides(c->request->rules, x->facts, c->scratch);
    const struct rule *failed = rule_subset_first_error(&c->rules, x->facts, c->scratch);
    struct search_of_cause search = {c, x->plan, x->facts, &x->cause, NULL, P_NONE};
    *known = failed && find_cause(&search, failed);
    return failed;
}

/* Whether a rule refuses it for what it looks at, and that is the layout alone. */
static bool refuses_layout(struct checker *c, struct judged *x, const struct rule *rule)
{
    struct search_of_cause search = {c, x->plan, x->facts, &x->cause, NULL, P_NONE};
    x->cause = (struct cause){.values = x->plan->knobs, .layout = true, .fixed = true};
    return rule_evaluate(rule, x->facts, c->scratch) == OUTCOME_FAIL && find_cause(&search, rule) &&
           x->cause.layout;
}

/* The first of the rules that refuse layouts often that refuses this one; NULL: none does. */
static const char *refusing_layout_rule(struct checker *c, struct judged *x)
{
    bool asked = false;
    for (size_t i = 0; i < c->layout_rules.n; i++) {
        const struct layout_rule *often = &c->layout_rules.items[i];
        if (often->refused < REFUSES_OFTEN) continue;
        if (!asked) rules_apply_overrides(c->request->rules, x->facts, c->scratch);
        asked = true;
        if (refuses_layout(c, x, often->rule)) return often->rule->id.p;
    }
    return NULL;
}

static const char *reject(void *context, const struct config *plan)
{
    struct checker *c = context;
    struct arena_mark mark = arena_mark(c->arena);
    struct judged x;
    bool known;
    begin(c, plan, &x);
    const char *why = is_forbidden(c, &x, &known) ? FORBIDDEN : NULL;
    const struct rule *failed = why ? NULL : refusing_rule(c, &x, &known);
    arena_pop(c->arena, mark);
    if (failed) why = failed->id.p;
    x.cause.why = why;
    if (known && x.cause.fixed) c->obstacle = why;
    if (known) remember(c, &x.cause);
    if (known && failed && x.cause.layout) note_layout_rule(c, failed);
    return why;
}

const struct diag *checker_refusal(struct checker *c, const struct config *plan)
{
    struct judged *x = ARENA_NEW(c->arena, struct judged); /* the words are of its diags */
    const struct expr *which;
    begin(c, plan, x);
    if (forbids(c, x->facts, &which))
        return diag_add(&x->diags, SEVERITY_ERROR, "", (struct span){0}, "%s: %.*s", FORBIDDEN,
                        STR_ARG(expr_text(which)));
    rules_apply_overrides(c->request->rules, x->facts, c->scratch);
    const struct rule *failed = rule_subset_first_error(&c->rules, x->facts, c->scratch);
    return failed ? rule_report(NULL, failed, x->facts, c->scratch) : NULL;
}

static bool asks_layouts(const struct checker *c)
{
    bool any = c->request->n_forbid > 0;
    for (size_t i = 0; i < c->layout_rules.n; i++)
        any = any || c->layout_rules.items[i].refused >= REFUSES_OFTEN;
    return any;
}

static const char *barred(void *context, const struct config *plan)
{
    struct checker *c = context;
    struct arena_mark mark = arena_mark(c->arena);
    struct judged x;
    bool known;
    if (c->obstacle || !asks_layouts(c)) return c->obstacle;
    begin(c, plan, &x);
    bool forbidden = is_forbidden(c, &x, &known) && known && x.cause.layout;
    const char *why = forbidden ? FORBIDDEN : refusing_layout_rule(c, &x);
    arena_pop(c->arena, mark);
    return why;
}

/* Whether an expression looks at what may differ between two plans of a question. */
static bool reads_plan(const struct expr *e, const bool *completed)
{
    const uint32_t *slots;
    size_t n = e ? expr_slots(e, &slots) : 0;
    for (size_t i = 0; i < n; i++) {
        int param = facts_slot_param(slots[i]);
        if (param < 0) continue;
        enum param_scope scope = param_table[param].scope;
        bool differs = scope != SCOPE_MODEL && (knob_of(param) || scope == SCOPE_DERIVED);
        if (differs || completed[param]) return true;
    }
    return false;
}

/* Whether a rule may set something else in another plan. Guides ask whether others were followed.
 */
static bool follows_plan(const struct rule *r, const bool *completed)
{
    bool follows = r->role == ROLE_CHECK || reads_plan(r->rule, completed);
    for (size_t i = 0; i < r->n_conditions; i++)
        follows = follows || reads_plan(r->conditions[i], completed);
    for (size_t i = 0; i < r->n_set; i++)
        follows = follows || reads_plan(r->set[i].value, completed);
    return follows;
}

/* Marks what a rule sets, unless all plans get the same; whether any of it was unmarked. */
static bool complete(const struct rule *r, bool *completed)
{
    bool changed = false;
    if (r->n_set == 0 || !follows_plan(r, completed)) return false;
    for (size_t i = 0; i < r->n_set; i++) {
        int param = r->set[i].param;
        if (completed[param] || (knob_of(param) && r->role == ROLE_CHECK)) continue;
        completed[param] = changed = true;
    }
    return changed;
}

/* Marks what rules may set in one plan's facts other than in another's. */
static const bool *completed_params(struct arena *a, const struct rule_set *rules)
{
    bool *completed = ARENA_ARRAY(a, bool, param_count), more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < rules->n; i++)
            more = complete(rules->items[i], completed) || more;
    }
    return completed;
}

static const bool *overridden_params(struct arena *a, const struct plan_request *request)
{
    bool *overridden = ARENA_ARRAY(a, bool, param_count);
    const struct rule_lane *lane = &request->rules->lanes[request->facts->framework];
    for (size_t i = 0; i < lane->n_overrides; i++) {
        const struct rule *r = request->rules->items[lane->overrides[i]];
        for (size_t j = 0; j < r->n_set && rule_is_for(r, request->facts); j++)
            overridden[r->set[j].param] = true;
    }
    return overridden;
}

struct checker *checker_new(struct arena *a, const struct plan_request *request,
                            struct forbid_tally *tally, struct arena *scratch)
{
    struct checker *c = ARENA_NEW(a, struct checker);
    *c = (struct checker){.request = request, .tally = tally, .arena = a, .scratch = scratch};
    c->sayers = ARENA_ARRAY(a, const struct knob *, param_count);
    c->completed = completed_params(a, request->rules);
    c->overridden = overridden_params(a, request);
    return c;
}

void checker_limit(struct checker *c, struct rule_subset rules)
{
    c->rules = rules;
}

void checker_serve(struct checker *c, struct search_request *search, size_t n_pins)
{
    struct search_request *asked = arena_dup(c->arena, search, sizeof *search);
    search->reject = reject;
    search->refused = refused;
    search->barred = barred;
    search->context = c;
    asked->n_pinned = n_pins;
    c->search = asked;
}
