/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/planner.h"

#include "base/larger.h"
#include "base/units.h"
#include "base/vec.h"
#include "choose/checker.h"
#include "choose/outlook.h"
#include "choose/playbook.h"
#include "choose/space.h"
#include "cost/split.h"
#include "facts/param_ids.h"
#include "plan/change.h"
#include "plan/framework.h"
#include "plan/knob.h"
#include "plan/move.h"
#include "plan/peft.h"
#include "rules/run.h"

/* Whether the release has the word; else an earlier rule's stands, or the release's default. */
static bool has_word(const struct facts *f, int param, struct value v)
{
    size_t n;
    const struct str *choices = facts_choices(f, param, &n);
    return v.kind != VALUE_STRING || !n || str_among(v.s, choices, n);
}

/* Whether nothing else says a parameter that is no knob. */
static bool is_to_complete(const struct facts *f, int param)
{
    return !fact_is_set(facts_get(f, param)) && !knob_of(param);
}

static bool completes(const struct rule *r, const struct facts *f)
{
    bool any = false;
    if (!rule_is_for(r, f)) return false;
    for (size_t i = 0; i < r->n_set && !any; i++)
        any = is_to_complete(f, r->set[i].param);
    return any;
}

static bool is_about_model(const struct expr *e)
{
    const uint32_t *slots;
    size_t n = e ? expr_slots(e, &slots) : 0;
    bool all = true;
    for (size_t i = 0; i < n && all; i++) {
        int param = facts_slot_param(slots[i]);
        all = param < 0 || param_table[param].scope == SCOPE_MODEL;
    }
    return all;
}

/* Whether a rule that looks at the model alone has set its parameters already, as it has of the
   request of whose plans each is completed. */
static bool is_complete(const struct rule *r, const struct facts *f)
{
    bool all = true;
    for (size_t i = 0; i < r->n_set && all; i++) {
        const struct fact *fact = facts_get(f, r->set[i].param);
        all = fact->origin == ORIGIN_DERIVED && str_eq(fact->written, r->id) &&
              is_about_model(r->set[i].value);
    }
    for (size_t i = 0; i < r->n_conditions && all; i++)
        all = is_about_model(r->conditions[i]);
    return all && is_about_model(r->rule);
}

void planner_complete(const struct rule_set *rules, struct facts *f, struct arena *scratch)
{
    struct expr_scope scope = facts_scope(f);
    const struct rule_lane *lane = &rules->lanes[f->framework];
    for (size_t i = 0; i < lane->n_completions; i++) {
        const struct rule *r = rules->items[lane->completions[i]];
        if (!completes(r, f) || is_complete(r, f)) continue;
        struct arena_mark mark = arena_mark(scratch);
        enum outcome outcome = rule_evaluate(r, f, scratch);
        arena_pop(scratch, mark);
        if (outcome != OUTCOME_FAIL && outcome != OUTCOME_PASS) continue;
        for (size_t s = 0; s < r->n_set; s++) {
            int param = r->set[s].param;
            if (!is_to_complete(f, param)) continue;
            struct value v = expr_eval(r->set[s].value, f->arena, &scope);
            if (has_word(f, param, v)) facts_set(f, param, v, ORIGIN_DERIVED, NULL, r->id);
        }
    }
}

/* Whether a pin says that activations are offloaded and not which: rules refuse none. */
static bool leaves_open(const struct plan_request *request, int pin, const struct knob *knob)
{
    return pin == P_fine_grained_activation_offloading && facts_bool(request->facts, pin, false) &&
           !fact_is_set(facts_get(request->facts, knob->param));
}

static size_t pinned_knobs(struct arena *a, const struct plan_request *request,
                           const struct knob ***out)
{
    VEC(const struct knob *) pinned = {0};
    for (size_t i = 0; i < request->n_pins; i++) {
        const struct knob *knob = knob_said_by(request->pins[i]);
        if (knob && !leaves_open(request, request->pins[i], knob)) *VEC_PUSH(a, &pinned) = knob;
    }
    *out = pinned.items;
    return pinned.n;
}

static void finish_plan(struct arena *a, const struct plan_request *request,
                        const struct answer *answer, const struct contender *costs,
                        struct plan *plan, struct arena *scratch)
{
    *plan = (struct plan){.costs = *costs, .config = answer->base, .capacity = answer->capacity};
    plan->config.knobs = costs->knobs;
    plan->layout = answer->search->splits[costs->slot];
    if (costs->knobs.layout > 0 && !answer->base.layout_given) {
        plan->config.layouts = &plan->layout;
        plan->config.n_layouts = 1;
    }
    plan->facts = checker_facts(a, request, &plan->config, request->facts->diags, scratch);
}

/* A request with its guides, ready to search. */
struct planner {
    const struct plan_request *request;
    size_t n_pins; /* of search.pinned, what the user pinned; the rest are firm guides */
    struct arena *arena, *scratch;
    struct checker *checker;
    bool *knobs; /* [param_count]: whether it is one */
    struct search_request search;
    struct answer *out;
};

static void collect_plans(const struct planner *p)
{
    struct arena *a = p->arena, *scratch = p->scratch;
    const struct plan_request *request = p->request;
    struct answer *out = p->out;
    out->n = out->search->n;
    out->plans = ARENA_ARRAY(a, struct plan, out->n);
    for (size_t i = 0; i < out->n; i++) {
        finish_plan(a, request, out, &out->search->plans[i], &out->plans[i], scratch);
        outlook_of(out->plans[i].facts, &out->plans[i].config);
        if (i == 0) continue;
        out->plans[i].why_not_first = reason_against(a, out, &out->plans[i].costs);
        out->plans[i].held_back = reason_held_back(a, out, &out->plans[i].costs);
    }
    for (size_t i = 1; i < out->n; i++)
        if (out->plans[i].costs.risky && !out->plans[0].costs.risky)
            out->plans[0].risk = out->plans[i].risk = reason_risk(out, &out->plans[i].costs);
}

/* The model's size is what many guides go by. */
static void set_size(struct facts *f, const struct model_shape *m)
{
    struct param_counts n = model_params(m);
    struct str from = STR("the model's layers");
    facts_set(f, P_total_params, value_int(n.total), ORIGIN_DERIVED, NULL, from);
    facts_set(f, P_active_params, value_int(n.active), ORIGIN_DERIVED, NULL, from);
}

/* A guide whose margin is the whole step time is left only where no plan follows it. */
static const double FIRM = 1;

static size_t add_firm(const struct planner *p, const struct knob ***pinned)
{
    VEC(const struct knob *) list = {*pinned, p->n_pins, p->n_pins};
    for (size_t i = 0; i < p->out->n_preferences; i++)
        if (p->out->preferences[i].margin >= FIRM)
            *VEC_PUSH(p->arena, &list) = p->out->preferences[i].knob;
    *pinned = list.items;
    return list.n;
}

static bool is_decided(int param)
{
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        if (decision_sets(d, param)) return true;
    return false;
}

/* Whether the request says by another parameter what this one is, and no plan has it otherwise: the
   words of the precision. */
static bool is_said(const struct facts *f, int param)
{
    const struct knob *knob = knob_said_by(param);
    return knob && knob->param != P_NONE && fact_is_set(facts_get(f, knob->param)) &&
           !is_decided(knob->param);
}

/* What no plan has unless the request says it: the search shards with the framework's own FSDP.
   Left open, overrides beside it would keep rules open that nothing can meet. */
static bool is_never_chosen(int param)
{
    return param == P_use_torch_fsdp2;
}

/* Every parameter that the request leaves open. */
static const int *open_params(struct arena *a, const struct facts *f, size_t *n)
{
    int *params = ARENA_ARRAY(a, int, param_count);
    *n = 0;
    for (int i = 0; i < (int)param_count; i++) {
        bool about_plan = param_table[i].scope == SCOPE_PLAN || param_table[i].scope == SCOPE_RUN;
        if (!about_plan || fact_is_set(facts_get(f, i)) || is_never_chosen(i)) continue;
        if (!is_said(f, i)) params[(*n)++] = i;
    }
    return params;
}

/* Decides the rules that are the same for every plan; one that fails is the obstacle. */
static void split_rules(struct planner *p)
{
    const struct plan_request *request = p->request;
    struct diags *diags = ARENA_NEW(p->arena, struct diags);
    diags_init(diags, p->arena);
    struct facts *f = checker_facts(p->arena, request, &p->out->base, diags, p->scratch);
    rules_apply_overrides(request->rules, f, p->scratch);
    size_t n;
    const int *params = open_params(p->arena, request->facts, &n);
    struct rule_subset varying = rules_varying(p->arena, request->rules, f, params, n, p->scratch);
    checker_limit(p->checker, varying);
    if (varying.failed) p->out->obstacle = rule_report(NULL, varying.failed, f, p->scratch);
}

/* Whether what a rule decides may differ between two plans that differ in these parameters. */
static bool decides_by(const struct rule *r, const bool *searched)
{
    bool found = r->rule && expr_reads(r->rule, searched);
    for (size_t i = 0; i < r->n_conditions; i++)
        found = found || expr_reads(r->conditions[i], searched);
    for (size_t i = 0; i < r->n_set; i++)
        found = found || expr_reads(r->set[i].value, searched);
    return found;
}

/* Marks what a rule sets beside knobs; false: it was marked. */
static bool mark_set(const struct rule *r, const bool *knobs, bool *searched)
{
    bool changed = false;
    for (size_t i = 0; i < r->n_set; i++) {
        int param = r->set[i].param;
        changed = changed || (!knobs[param] && !searched[param]);
        searched[param] = searched[param] || !knobs[param];
    }
    return changed;
}

/* Marks what may differ between two plans of the search: the knobs but those of `fixed` (P_NONE
   ends them), what else a plan's facts have and the request's have not, and what guides decide
   from these. */
static void mark_searched(const struct plan_request *request, const struct facts *plan,
                          const int *fixed, const bool *knobs, bool *searched)
{
    memcpy(searched, knobs, param_count * sizeof *knobs);
    for (; *fixed != P_NONE; fixed++)
        searched[*fixed] = false;
    for (int i = 0; i < (int)param_count; i++)
        if (!knobs[i] && (param_table[i].scope == SCOPE_DERIVED ||
                          facts_get(plan, i)->origin != facts_get(request->facts, i)->origin))
            searched[i] = true;
    const struct rule_lane *lane = &request->rules->lanes[plan->framework];
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < lane->n_completions; i++) {
            const struct rule *r = request->rules->items[lane->completions[i]];
            if (decides_by(r, searched)) changed = mark_set(r, knobs, searched) || changed;
        }
    }
}

/* The rule that a plan breaks whatever else there is than its parameters of `fixed`, NULL: none
   does; *of: its facts. */
static const struct rule *barring_rule(struct planner *p, const struct config *c, const int *fixed,
                                       struct facts **of)
{
    const struct plan_request *request = p->request;
    struct diags *diags = ARENA_NEW(p->arena, struct diags);
    diags_init(diags, p->arena);
    struct facts *f = checker_facts(p->arena, request, c, diags, p->scratch);
    bool *searched = ARENA_ARRAY(p->arena, bool, param_count);
    int *params = ARENA_ARRAY(p->arena, int, param_count);
    size_t n = 0;
    mark_searched(request, f, fixed, p->knobs, searched);
    for (int i = 0; i < (int)param_count; i++)
        if (searched[i]) params[n++] = i;
    rules_apply_overrides(request->rules, f, p->scratch);
    *of = f;
    struct arena_mark mark = arena_mark(p->scratch);
    struct rule_reach reach = rules_reach_of(p->scratch, request->rules, f->framework, params, n);
    const struct rule *failed = rules_fixed_error(&reach, f, p->scratch);
    arena_pop(p->scratch, mark);
    return failed;
}

static bool *mark_knobs(struct arena *a)
{
    bool *knobs = ARENA_ARRAY(a, bool, param_count);
    for (size_t i = 0; i < knob_count; i++)
        knobs[knob_table[i].param] = true;
    return knobs;
}

static const int batch_alone[] = {P_micro_batch_size, P_NONE};
static const int exchange[] = {P_context_parallel_size, P_cp_comm_type, P_seq_length, P_NONE};

/* Micro-batches that no plan can have, as bits: a packed data set has one row a microbatch. */
static uint32_t barred_batches(struct planner *p)
{
    struct config c = p->out->base;
    struct facts *unused;
    uint32_t barred = 0;
    bool obstacle = p->out->obstacle != NULL; /* then no plan can have any */
    for (int mbs = 1; !obstacle && mbs <= AXIS_MAX_MBS; mbs++) {
        if (!axis_has_mbs(c.knobs.gbs, mbs)) continue;
        struct arena_mark mark = arena_mark(p->arena);
        c.knobs.mbs = mbs;
        barred |= (uint32_t)(barring_rule(p, &c, batch_alone, &unused) != NULL) << mbs;
        arena_pop(p->arena, mark);
    }
    return barred;
}

/* Whether no plan can exchange keys so, with however many ranks: two numbers stand for all. */
static bool is_exchange_barred(struct planner *p, int comm)
{
    bool barred = true;
    for (int cp = 2; barred && cp <= 8; cp *= 4) {
        struct arena_mark mark = arena_mark(p->arena);
        struct config c = p->out->base;
        struct facts *unused;
        c.knobs.cp = cp, c.knobs.cp_comm = (uint8_t)comm;
        barred = barring_rule(p, &c, exchange, &unused) != NULL;
        arena_pop(p->arena, mark);
    }
    return barred;
}

/* Needs of moves that no plan can meet: bounds would stand on an exchange of keys that is refused.
 */
static unsigned barred_needs(struct planner *p)
{
    static const unsigned needs[] = {NEED_CP_RING, NEED_CP_HEADS, NEED_CP_GATHER, NEED_CP_LEVELS};
    unsigned barred = 0;
    for (int comm = CP_RING; !p->out->obstacle && comm <= CP_LEVELS; comm++)
        if (is_exchange_barred(p, comm)) barred |= needs[comm - CP_RING];
    return barred;
}

/* What is said, and no plan can have, is known before the search. */
static void check_said(struct planner *p, int param, const int *fixed)
{
    struct facts *f;
    struct answer *out = p->out;
    if (out->obstacle || !space_is_pinned(&p->search, param)) return;
    const struct rule *failed = barring_rule(p, &out->base, fixed, &f);
    if (failed) out->obstacle = rule_report(NULL, failed, f, p->scratch);
}

/* Targets that the user named and no linear of the model has: the run would train less than meant,
   or nothing. */
static bool check_targets(const struct facts *f, const struct config *c)
{
    const struct fact *targets = facts_get(f, P_peft_target_modules);
    if (c->knobs.task != TASK_PEFT || targets->origin != ORIGIN_OPTION) return true;
    struct str idle = peft_idle_target(f, &c->model);
    if (!idle.n) return true;
    struct diag *d = diag_add(f->diags, SEVERITY_ERROR, "adapter-target", (struct span){0},
                              "no linear of the model is called %.*s in %s", STR_ARG(idle),
                              framework_full_name(f->framework));
    d->parameter = param_name(P_peft_target_modules);
    diag_help(f->diags, d, "%s",
              framework_traits(f->framework)->hugging_face_paths
                  ? "AutoModel matches whole paths: *.q_proj, *_proj, or * with the experts"
                  : "Bridge has linear_qkv, linear_proj, linear_fc1 and linear_fc2");
    return false;
}

/* Whether a plan has what is pinned, and changes no numbers that the question keeps. */
static bool is_open_to(const struct search_request *search, const struct knobs *k)
{
    const struct config *base = search->base;
    struct config plan = *base;
    bool open = true;
    plan.knobs = *k;
    for (size_t i = 0; i < search->n_pinned; i++)
        open = open && knob_same(search->pinned[i], k, &base->knobs);
    return open && !(move_risks_of(base, &plan) & RISK_NUMERICS & ~base->knobs.open_numerics);
}

/* Public recipes for the same question are candidates. */
static void add_recipes(struct planner *p)
{
    VEC(struct knobs) known = {0};
    struct answer *out = p->out;
    out->n_recipes = playbook_candidates(p->arena, p->request->facts, &out->base, &out->recipes);
    for (size_t i = 0; i < out->n_recipes; i++)
        if (is_open_to(&p->search, &out->recipes[i].knobs))
            *VEC_PUSH(p->arena, &known) = out->recipes[i].knobs;
    p->search.known = known.items;
    p->search.n_known = known.n;
}

/* A framework's own dispatcher that no move of the search would take on the machine is none that a
   plan may have unasked: AutoModel's is DeepEP once experts are said to be divided, on racks too.
 */
static void leave_dispatcher(const struct search_request *search, struct config *base)
{
    const struct decision *d = &decisions[DECISION_DISPATCHER];
    unsigned given = move_given(base);
    const struct move *first = NULL;
    bool taken = space_is_settled(search, d);
    for (const struct move *move = d->moves; move->name; move++) {
        struct config with = *base;
        if (move->needs & ~given || !move->change(&with, move->argument)) continue;
        taken = taken || with.knobs.dispatcher == base->knobs.dispatcher;
        if (!first) first = move;
    }
    if (!taken) space_set(first, base);
}

/* A framework's own gather of parameters in FP8 goes with an optimizer on the GPU: beside one that
   is pinned to the CPU no plan has it unasked. */
static void leave_gather(const struct search_request *search, struct config *base)
{
    const struct decision *d = &decisions[DECISION_PARAMETER_GATHER];
    struct config with = *base;
    bool asked = space_is_settled(search, d) || !base->knobs.fp8_param_gather;
    if (!asked && !change_gather_parameters(&with, true)) base->knobs.fp8_param_gather = false;
}

/* Facts -> guides -> configuration; false when the request is incomplete. */
static bool prepare(struct planner *p)
{
    const struct plan_request *request = p->request;
    struct answer *out = p->out;
    rules_assume_model(request->rules, request->facts, p->scratch);
    if (!config_from_facts(p->arena, request->facts, &out->base)) return false;
    set_size(request->facts, &out->base.model);
    planner_complete(request->rules, request->facts, p->scratch);
    rules_assume(request->rules, request->facts, p->scratch);
    if (!config_from_facts(p->arena, request->facts, &out->base)) return false;
    out->base.unstated = 0; /* the plan is what it states */
    /* What is said of it holds of whatever TP, not of the one that stands here yet. */
    out->base.knobs.sequence_parallel = facts_bool(request->facts, P_sequence_parallel, false);
    if (!fact_is_set(facts_get(request->facts, P_cp_comm_type)))
        out->base.knobs.cp_comm = CP_NEEDED;
    if (!check_targets(request->facts, &out->base)) return false;
    const struct knob **pins;
    p->n_pins = pinned_knobs(p->arena, request, &pins);
    struct preference *preferences;
    out->n_preferences = prefer_collect(p->arena, request->rules, request->facts, pins, p->n_pins,
                                        &out->base.knobs, &preferences, p->scratch);
    out->preferences = preferences;
    size_t n_pinned = add_firm(p, &pins);
    out->forbid = ARENA_ARRAY(p->arena, struct forbid_tally, request->n_forbid);
    p->checker = checker_new(p->arena, request, out->forbid, p->scratch);
    split_rules(p);
    p->knobs = mark_knobs(p->arena);
    p->search = (struct search_request){.base = &out->base,
                                        .pinned = pins,
                                        .n_pinned = n_pinned,
                                        .preferences = preferences,
                                        .n_preferences = out->n_preferences,
                                        .barred_batches = barred_batches(p),
                                        .barred_needs = barred_needs(p),
                                        .exhaustive = request->exhaustive,
                                        .top = request->top};
    leave_dispatcher(&p->search, &out->base);
    leave_gather(&p->search, &out->base);
    checker_serve(p->checker, &p->search, p->n_pins);
    check_said(p, P_micro_batch_size, batch_alone);
    check_said(p, P_cp_comm_type, exchange);
    if (!request->no_playbook) add_recipes(p);
    return true;
}

/* The best plan of `search` with the sharding given; false when there is none. */
static bool search_sharded(const struct planner *p, struct search_request search, enum fsdp fsdp,
                           struct contender *best)
{
    struct search_result *out = ARENA_NEW(p->arena, struct search_result);
    struct config base = *search.base;
    VEC(const struct knob *) pinned = {0};
    for (size_t i = 0; i < search.n_pinned; i++)
        *VEC_PUSH(p->arena, &pinned) = search.pinned[i];
    *VEC_PUSH(p->arena, &pinned) = knob_of(P_use_megatron_fsdp);
    base.knobs.fsdp = (uint8_t)fsdp;
    search.base = &base;
    search.pinned = pinned.items;
    search.n_pinned = pinned.n;
    search.top = 1;
    search_run(&search, p->scratch, out);
    if (out->n) *best = out->plans[0];
    return out->n > 0;
}

/* The bytes of a GPU that a plan may take: what a user asks for is no wish, a guide's is. */
static double whole_gpu(const struct planner *p)
{
    const struct facts *f = p->request->facts;
    double gpu = p->out->base.machine.capacity_bytes,
           limit = GIB * facts_double(f, P_memory_limit_gib, 0);
    bool asked = fact_is_set(facts_get(f, P_memory_limit_gib)) && limit > 0;
    return asked ? smaller(limit, gpu) : gpu;
}

enum { CAPACITY_STEPS = 7 }; /* halvings: the least memory is found to 1/128 of the GPU's */

/* The least memory that some plan fits, bytes: a GPU is made smaller until nothing does. 0 where
   nothing smaller will do. */
static double least_memory(struct planner *p, struct search *search)
{
    double low = 0, high = whole_gpu(p), bytes = 0;
    for (int i = 0; i < CAPACITY_STEPS; i++) {
        double middle = (low + high) / 2;
        bool any = search_finds_any(search, middle);
        *(any ? &high : &low) = middle;
        if (any) bytes = middle;
    }
    return bytes;
}

/* What a guide's wish to leave room may add to the step, as a part of it. */
static const double DEAREST_WISH = 0.5;

/* Whether plans that leave the room which a guide wishes are much slower than those that take the
   whole GPU. */
static bool is_dear(const struct search_result *small, const struct search_result *whole)
{
    return whole->n > 0 && small->plans[0].step_s > (1 + DEAREST_WISH) * whole->plans[0].step_s;
}

/* A wish to use as little of the GPU as may be, or less than there is; the whole when no plan is
   that small, of which then nothing need be known before, or only slow ones. Gives the bytes
   searched for. */
static double search_limited(struct planner *p, struct search *search)
{
    double whole = whole_gpu(p), least = 0,
           limit = GIB * facts_double(p->request->facts, P_memory_limit_gib, 0);
    if (str_is(facts_str(p->request->facts, P_plan_order), "memory"))
        least = least_memory(p, search);
    if (least > 0) {
        search_within(search, least, false, p->out->search);
        return least;
    }
    struct search_result *out = p->out->search, *small = NULL;
    if (limit > 0 && limit < whole) {
        search_within(search, limit, false, out);
        if (out->n) small = arena_dup(p->scratch, out, sizeof *out);
    }
    search_within(search, whole, false, out);
    if (!small || is_dear(small, out)) return whole;
    *out = *small;
    return limit;
}

/* Searches for what surely fits; whether there is any. */
static bool search_sure(struct planner *p, struct search *search)
{
    struct answer *out = p->out;
    if (p->request->whether) return out->fits = search_finds_any(search, whole_gpu(p));
    out->capacity = search_limited(p, search);
    return out->fits = out->search->n > 0;
}

/* What refuses a plan, as the search divides its layers. */
static const struct diag *refusal_of(const struct planner *p, const struct knobs *k)
{
    struct layout slot;
    struct config plan = p->out->base;
    plan.knobs = *k;
    if (!split_plan(&plan, &slot)) plan.knobs.layout = 0;
    return checker_refusal(p->checker, &plan);
}

/* Where nothing fits, what really stops the plan that needs least: a rule, or memory. What a rule
   refuses is no measure of the memory that a plan needs: then the smallest that none refuses is
   looked for. */
static void find_stop(const struct planner *p, struct search *search)
{
    struct answer *out = p->out;
    struct search_result *s = out->search;
    if (s->has_least)
        out->refused = s->least;
    else if (s->last_rejection)
        out->refused.knobs = s->refused;
    else
        return;
    out->refusal = refusal_of(p, &out->refused.knobs);
    if (!out->refusal) return;
    out->lets_none = !search_smallest(search, whole_gpu(p), &s->least);
    s->has_least = s->has_least || !out->lets_none;
}

/* Firm guides are kept to where a plan follows them; where nothing surely fits, what may is shown.
 */
static void search_all(struct planner *p)
{
    struct answer *out = p->out;
    struct arena_mark mark = arena_mark(p->scratch);
    struct search *search = search_new(p->scratch, &p->search);
    if (!search_sure(p, search) && p->search.n_pinned > p->n_pins) {
        p->search.n_pinned = p->n_pins;
        search = search_new(p->scratch, &p->search);
        search_sure(p, search);
    }
    out->tight = !out->fits && !p->request->whether;
    if (out->tight) search_within(search, whole_gpu(p), true, out->search);
    out->searched = out->search->layouts;
    out->feasible = out->search->feasible;
    if (out->tight && !out->search->n) find_stop(p, search);
    arena_pop(p->scratch, mark);
}

/* What the next stage of the staged path would gain over a sharded plan: the 3D plan that the same
   request gives with throughput for its goal. */
static void set_gain(const struct planner *p, const struct plan *plan)
{
    if (plan->config.knobs.fsdp != FSDP_OPTIM_GRADS_PARAMS || !p->out->base.model.vision_layers)
        return;
    struct plan_request request = *p->request;
    request.facts = facts_copy(p->arena, p->request->facts);
    facts_set(request.facts, P_goal, value_string(STR("throughput")), ORIGIN_OPTION, NULL,
              STR("goal"));
    struct answer answer = {0};
    struct planner next = {
        .request = &request, .arena = p->arena, .scratch = p->scratch, .out = &answer};
    struct contender best;
    if (!prepare(&next) || answer.obstacle) return;
    if (!search_sharded(&next, next.search, FSDP_NONE, &best)) return;
    double gain = 100 * (plan->costs.step_s / best.step_s - 1);
    facts_set(plan->facts, P_three_d_gain_percent, value_int((int64_t)gain), ORIGIN_DERIVED, NULL,
              STR("the search"));
}

bool planner_answer(struct arena *a, const struct plan_request *request, struct arena *scratch,
                    struct answer *out)
{
    *out = (struct answer){.search = ARENA_NEW(a, struct search_result)};
    struct plan_request *kept = arena_dup(a, request, sizeof *request); /* reasons ask it */
    struct planner p = {.request = kept, .arena = a, .scratch = scratch, .out = out};
    if (!prepare(&p)) return false;
    if (out->obstacle) return true;
    search_all(&p);
    out->rules = request->rules;
    out->request = p.search;
    collect_plans(&p);
    for (size_t i = 0; i < out->n; i++) {
        if (i == 0) set_gain(&p, &out->plans[0]);
        advise_plan(a, request->rules, &out->plans[i], scratch);
    }
    return true;
}
