/* SPDX-License-Identifier: Apache-2.0 */
/* The software that a run is assumed to have: what its framework's own lock file pins. */
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "flow/validate.h"
#include "rules/run.h"

enum { PINS = 2 };
static const int pinned[PINS] = {P_transformer_engine_version, P_torch_version};
static const char *const titles[PINS] = {"Transformer Engine", "PyTorch"};

static bool is_assumed(const struct facts *f, int param)
{
    return facts_get(f, param)->origin == ORIGIN_RELEASE;
}

struct str validate_environment(struct arena *a, const struct facts *f)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i < PINS; i++)
        if (is_assumed(f, pinned[i]))
            buf_printf(&out, "%s%s %.*s", out.n ? ", " : "", titles[i],
                       STR_ARG(facts_get(f, pinned[i])->value.s));
    if (!out.n) return buf_str(&out);
    return arena_printf(
        a, "%.*s (%s %.*s's lock file; --set transformer_engine_version=… to change)",
        STR_ARG(buf_str(&out)), framework_full_name(f->framework), STR_ARG(f->version));
}

/* ---- what an older machine would refuse ---- */

struct rule_refs validate_pinned_rules(struct arena *a, const struct rule_set *rules)
{
    struct rule_refs list = {0};
    bool *params = ARENA_ARRAY(a, bool, param_count);
    for (size_t i = 0; i < PINS; i++)
        params[pinned[i]] = true;
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *r = rules->items[i];
        bool error = r->role == ROLE_CHECK && r->rule && r->severity == SEVERITY_ERROR;
        if (error && rule_reads(r, params)) *VEC_PUSH(a, &list) = r;
    }
    return list;
}

/* The versions that the oldest release pins: the oldest that is supported, as far as is known. */
static void make_old(struct facts *f)
{
    const struct profile *oldest = profile_oldest(f->framework, RELEASES_ALL);
    const struct str versions[PINS] = {oldest->transformer_engine, oldest->torch};
    for (size_t i = 0; i < PINS; i++)
        if (is_assumed(f, pinned[i]) && versions[i].n)
            facts_change(f, pinned[i])->value = value_string(versions[i]);
}

static void report_newer(struct validation *v, struct facts *f, const struct rule *r)
{
    struct diag *d = rule_report(v->rules, r, f, v->scratch);
    d->severity = SEVERITY_INFO;
    d->n_covers = 0; /* it is not refused */
}

/* Rules that hold here and would not with the oldest software. */
void validate_newer_software(struct validation *v, struct facts *f)
{
    const struct fact now[PINS] = {*facts_get(f, pinned[0]), *facts_get(f, pinned[1])};
    bool *fails = ARENA_ARRAY(v->scratch, bool, v->pinned_rules.n + 1);
    if (!is_assumed(f, pinned[0]) && !is_assumed(f, pinned[1])) return;
    make_old(f);
    struct run run = run_start(v->rules, f, v->scratch);
    for (size_t i = 0; i < v->pinned_rules.n; i++) {
        const struct rule *r = v->pinned_rules.items[i];
        fails[i] = rule_is_for(r, f) &&
                   run_check(&run, r, r->condition_numbers, r->n_conditions) == OUTCOME_FAIL;
    }
    for (size_t i = 0; i < PINS; i++)
        *facts_change(f, pinned[i]) = now[i];
    for (size_t i = 0; i < v->pinned_rules.n; i++) {
        const struct rule *r = v->pinned_rules.items[i];
        if (fails[i] && rule_evaluate(r, f, v->scratch) == OUTCOME_PASS) report_newer(v, f, r);
    }
}
