/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/diagnose.h"

#include "facts/param_ids.h"

static const char *const walls[] = {"memory", "communication", "host", "compute", "none"};

const char *wall_name(enum wall wall)
{
    return walls[wall];
}

/* rules/diagnose/memory.yaml -> memory; monitors.yaml -> none. False for rules of other folders. */
static bool wall_of(const struct rule *r, enum wall *out)
{
    struct str folder = STR("diagnose/");
    if (!str_starts(r->suite, folder)) return false;
    struct str name = str_slice(r->suite, folder.n, r->suite.n);
    *out = WALL_NONE;
    for (int i = 0; i < WALL_NONE; i++)
        if (str_starts(name, str_of(walls[i]))) *out = (enum wall)i;
    return true;
}

/* ---- evidence ---- */

/* Metrics that a rule reads and nobody gave. */
static void note_missing(struct arena *a, const struct rule *r, const struct facts *f,
                         struct diagnosis *out)
{
    int param = r->parameter;
    if (param < 0 || param_table[param].scope != SCOPE_METRIC || fact_is_set(facts_get(f, param)))
        return;
    for (size_t i = 0; i < out->missing.n; i++)
        if (out->missing.items[i] == param) return;
    *VEC_PUSH(a, &out->missing) = param;
}

static void collect_evidence(struct arena *a, const struct rule_set *rules, const struct facts *f,
                             struct arena *scratch, struct diagnosis *out)
{
    enum wall wall;
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *r = rules->items[i];
        if (!wall_of(r, &wall) || r->phase != PHASE_PROFILE || !rule_is_for(r, f)) continue;
        note_missing(a, r, f, out);
        if (rule_evaluate(r, f, scratch) != OUTCOME_FAIL) continue;
        struct value v = r->parameter >= 0 ? facts_get(f, r->parameter)->value : value_null();
        *VEC_PUSH(a, &out->evidence[wall]) = (struct symptom){r, value_text(a, v)};
    }
}

/* The largest part of the step that the wall's metrics name, in percent. */
static double share_of(const struct facts *f, enum wall wall)
{
    static const struct {
        enum wall wall;
        int metric;
    } parts[] = {{WALL_COMMUNICATION, P_exposed_all_to_all_percent},
                 {WALL_COMMUNICATION, P_exposed_communication_percent},
                 {WALL_HOST, P_launch_gap_percent},
                 {WALL_HOST, P_data_wait_percent},
                 {WALL_COMPUTE, P_vision_encoder_percent}};
    double most = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double x = facts_double(f, parts[i].metric, 0);
        if (parts[i].wall == wall && x > most) most = x;
    }
    return most;
}

/* Info alone (a plan that recomputes everything) is evidence, but no wall while another stands. */
static bool stands(const struct diagnosis *d, enum wall wall, enum severity least)
{
    for (size_t i = 0; i < d->evidence[wall].n; i++)
        if (d->evidence[wall].items[i].rule->severity >= least) return true;
    return false;
}

/* Memory first, as nothing runs without it; then by the part of the step that is lost; among equals
   in the order of the table. */
static enum wall tallest(const struct diagnosis *d, const struct facts *f, enum wall except)
{
    enum wall best = WALL_NONE;
    if (except != WALL_MEMORY && stands(d, WALL_MEMORY, SEVERITY_WARNING)) return WALL_MEMORY;
    for (int i = WALL_COMMUNICATION; i < WALL_NONE; i++) {
        enum wall wall = (enum wall)i;
        if (wall == except || !stands(d, wall, SEVERITY_WARNING)) continue;
        if (best == WALL_NONE || share_of(f, wall) > share_of(f, best)) best = wall;
    }
    if (best == WALL_NONE && except != WALL_MEMORY && stands(d, WALL_MEMORY, SEVERITY_INFO))
        return WALL_MEMORY;
    return best;
}

/* Where no other wall is in sight: once a run fits, it waits for communication; what then remains
   are launches, and at last the kernels themselves. */
static enum wall usual_next(enum wall wall)
{
    switch (wall) {
    case WALL_MEMORY: return WALL_COMMUNICATION;
    case WALL_COMMUNICATION: return WALL_HOST;
    case WALL_HOST: return WALL_COMPUTE;
    case WALL_COMPUTE: return WALL_COMMUNICATION;
    case WALL_NONE: return WALL_NONE;
    }
    return WALL_NONE;
}

/* ---- fixes ---- */

/* A complete plan and its cost. */
struct costed {
    struct config config;
    struct memory_estimate memory;
    struct time_estimate time;
};

static bool estimate(struct arena *a, struct facts *f, struct costed *out)
{
    return config_from_facts(a, f, &out->config) && out->config.machine_known &&
           memory_estimate(&out->config, &out->memory, NULL) &&
           time_estimate(&out->config, &out->time, NULL);
}

/* What was measured says nothing of a plan that is changed. */
static void forget_metrics(struct arena *a, struct facts *f)
{
    struct facts measured = *f;
    f->raw.items = NULL;
    f->raw.n = f->raw.cap = 0;
    for (size_t i = 0; i < measured.raw.n; i++)
        if (!str_is(measured.raw.items[i].key, "metrics"))
            *VEC_PUSH(a, &f->raw) = measured.raw.items[i];
}

/* The plan with a fix's changes. */
static void predict(struct arena *a, const struct rule_set *rules, const struct facts *plan,
                    struct arena *scratch, struct fix *fix)
{
    struct facts *changed = facts_copy(a, plan);
    forget_metrics(a, changed);
    for (size_t i = 0; i < fix->changes.n; i++)
        facts_set(changed, fix->changes.items[i].param, fix->changes.items[i].value, ORIGIN_OPTION,
                  NULL, (struct str){"", 0});
    struct facts *effective = rules_effective_facts(a, rules, changed, scratch);
    fix->refused = rules_first_error(rules, effective, scratch);
    if (fix->refused) fix->refusal = rule_message(fix->refused, effective, a);
    struct costed *costed = ARENA_NEW(a, struct costed);
    fix->predicted = estimate(a, rules_run_facts(a, rules, changed, scratch), costed);
    fix->step_s = costed->time.step;
    fix->peak = costed->memory.peak;
    fix->fits = (int)costed->memory.fits;
}

static void add_changes(struct arena *a, const struct rule *r, const struct facts *f,
                        struct fix *fix)
{
    struct expr_scope scope = facts_scope(f);
    for (size_t i = 0; i < r->n_set; i++) {
        int param = r->set[i].param;
        struct value v = fact_coerce(a, param, expr_eval(r->set[i].value, a, &scope));
        bool settled = v.kind != VALUE_UNKNOWN && v.kind != VALUE_ERROR;
        bool written =
            settled && fact_is_set(facts_get(f, param)) && value_eq(facts_get(f, param)->value, v);
        if (settled && !written) *VEC_PUSH(a, &fix->changes) = (struct change){param, v};
    }
}

static bool reads_metric(const struct expr *e)
{
    const uint32_t *slots;
    size_t n = expr_slots(e, &slots);
    for (size_t i = 0; i < n; i++) {
        int param = facts_slot_param(slots[i]);
        if (param >= 0 && param_table[param].scope == SCOPE_METRIC) return true;
    }
    return false;
}

/* Whether the metrics call for a fix, whatever the plan is. */
static bool metrics_ask(const struct rule *r, const struct facts *f, struct arena *scratch)
{
    struct expr_scope scope = facts_scope(f);
    for (size_t i = 0; i < r->n_conditions; i++) {
        if (!reads_metric(r->conditions[i])) continue;
        struct value v = expr_eval(r->conditions[i], scratch, &scope);
        if (v.kind != VALUE_BOOL || !v.b) return false;
    }
    return true;
}

static void collect_fixes(struct arena *a, const struct rule_set *rules, const struct facts *plan,
                          const struct facts *run, bool planned, struct arena *scratch,
                          struct diagnosis *out)
{
    enum wall wall;
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *r = rules->items[i];
        bool here = wall_of(r, &wall) && wall == out->wall && r->phase == PHASE_RETUNE;
        if (!here || !rule_is_for(r, run)) continue;
        bool asked =
            planned ? rule_evaluate(r, run, scratch) == OUTCOME_FAIL : metrics_ask(r, run, scratch);
        if (!asked) continue;
        struct fix fix = {.rule = r};
        add_changes(a, r, run, &fix);
        if (out->costed && fix.changes.n > 0) predict(a, rules, plan, scratch, &fix);
        *VEC_PUSH(a, &out->fixes) = fix;
    }
}

/* The plan's own cost, and the run held against it. */
static void cost_plan(struct arena *a, const struct rule_set *rules, const struct facts *f,
                      struct arena *scratch, struct diagnosis *out)
{
    struct costed *costed = ARENA_NEW(a, struct costed);
    struct facts *plan = facts_copy(a, f);
    forget_metrics(a, plan);
    out->costed = estimate(a, rules_run_facts(a, rules, f, scratch), costed);
    if (!out->costed) return;
    out->step_s = costed->time.step;
    out->peak = costed->memory.peak;
    out->fits = (int)costed->memory.fits;
    against_estimate(a, rules, plan, &costed->config, &costed->memory, &costed->time, scratch,
                     &out->against);
}

void diagnose_run(struct arena *a, const struct rule_set *rules, const struct facts *f,
                  bool planned, struct arena *scratch, struct diagnosis *out)
{
    *out = (struct diagnosis){0};
    struct facts *run = rules_effective_facts(a, rules, f, scratch);
    collect_evidence(a, rules, run, scratch, out);
    out->wall = tallest(out, run, WALL_NONE);
    enum wall other = out->wall == WALL_NONE ? WALL_NONE : tallest(out, run, out->wall);
    out->next = other != WALL_NONE ? other : usual_next(out->wall);
    cost_plan(a, rules, f, scratch, out);
    collect_fixes(a, rules, f, run, planned, scratch, out);
}
