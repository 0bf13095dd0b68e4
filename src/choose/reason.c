/* SPDX-License-Identifier: Apache-2.0 */
/* Why a plan is what it is: the guides it follows or leaves, and what each neighbour would cost. */
#include "choose/planner.h"
#include "choose/space.h"
#include "cost/split.h"

#include <math.h>

#include "base/buf.h"
#include "base/units.h"
#include "base/vec.h"
#include "facts/param_ids.h"
#include "plan/framework.h"

static double percent(double a, double b)
{
    return 100 * (a / b - 1);
}

const char *reason_phase(enum phase phase)
{
    static const char *const words[] = {"", "fit", "scale", "profile", "retune"};
    return words[phase];
}

void reason_add(struct arena *a, struct reason_list *list, struct reason reason)
{
    VEC_PUSH(a, list);
    size_t at = list->n - 1;
    for (; at > 0 && list->items[at - 1].phase > reason.phase; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = reason;
}

/* `phase` where the rule says none, or there is none. */
static void add(struct arena *a, struct reason_list *out, const struct rule *r, enum phase phase,
                enum reason_kind kind, struct str text)
{
    struct reason reason = {.text = text, .phase = r && r->phase ? r->phase : phase, .kind = kind};
    if (r) {
        reason.rule = r->id;
        reason.source = r->source;
        reason.guide = str_joined(a, r->guides, r->n_guides);
    }
    reason_add(a, out, reason);
}

/* Whether a changed plan is one at all; its pipeline layout is put into *slot, which must outlive
   it. */
static bool is_plan(struct config *c, struct layout *slot)
{
    const struct knobs *k = &c->knobs;
    if (!knobs_divide(k) || (k->vpp > 1 && k->pp == 1)) return false;
    if (k->ep > 1 && c->model.experts % k->ep) return false;
    return split_plan(c, slot);
}

static struct config as_searched(const struct plan *plan)
{
    struct config c = plan->config;
    c.machine.capacity_bytes = plan->capacity;
    return c;
}

/* A plan with one knob changed. */
struct neighbour {
    struct config config;
    struct layout slot;  /* its pipeline split */
    double peak, step_s; /* bytes; seconds, not of one that does not fit */
    int fits;            /* of struct memory_estimate */
    const char *refused; /* the rule that refuses it; NULL: none does */
};

static bool estimate_memory(struct neighbour *x)
{
    struct memory_estimate m;
    if (!memory_estimate(&x->config, &m, NULL)) return false;
    x->peak = m.peak;
    x->fits = (int)m.fits;
    return true;
}

static bool estimate_time(struct neighbour *x)
{
    struct time_estimate t;
    if (!time_estimate(&x->config, &t, NULL)) return false;
    x->step_s = t.step;
    return true;
}

/* Recomputes as little as fits and the rules allow, or what the plan does where nothing serves.
   `free`: the knob is not pinned; the rules would see the pin. False when that is no plan. */
static bool settle(struct neighbour *x, const struct search_request *request, bool free)
{
    struct knobs plan = x->config.knobs;
    if (!space_is_settled(request, &decisions[DECISION_RECOMPUTE]))
        x->config.knobs.recompute = RECOMPUTE_NONE;
    struct states states = space_states(request, &decisions[DECISION_RECOMPUTE], &x->config);
    struct knobs none = x->config.knobs;
    for (int i = 0; i < states.n; i++) {
        x->config.knobs = none;
        space_set(states.items[i], &x->config);
        if (!estimate_memory(x)) return false;
        if (x->fits != FITS_YES) continue;
        if (!free || !request->reject(request->context, &x->config)) return estimate_time(x);
    }
    x->config.knobs = plan;
    if (!estimate_memory(x)) return false;
    if (x->fits == FITS_NO) return true;
    x->refused = free ? request->reject(request->context, &x->config) : NULL;
    return estimate_time(x);
}

/* "TP 2: 6 % slower", "PP 2: does not fit, 92 of 79 GiB". */
static struct str verdict(struct arena *a, const struct contender *now, const struct neighbour *x)
{
    if (x->fits == FITS_NO)
        return arena_printf(a, "does not fit: %.0f of %.0f GiB", x->peak / GIB,
                            x->config.machine.capacity_bytes / GIB);
    double slower = percent(x->step_s, now->step_s);
    const char *tight = x->fits == FITS_TIGHT ? ", tight in memory" : "";
    if (fabs(slower) < 0.5) return arena_printf(a, "as fast%s", tight);
    return arena_printf(a, "%.0f %% %s%s", fabs(slower), slower > 0 ? "slower" : "faster", tight);
}

/* ", recompute full": where it is not the plan's. */
static struct str other_recompute(struct arena *a, const struct knobs *plan, const struct knobs *k)
{
    static const char *const words[] = {"nothing", "selective", "full"};
    uint32_t modules = k->recompute == RECOMPUTE_SELECTIVE ? k->recompute_modules : 0;
    if (knobs_same_recompute(k, plan)) return STR("");
    struct value list = knob_get(a, k, knob_of(P_recompute_modules));
    return arena_printf(a, ", recompute %s%s%.*s", words[k->recompute], modules ? " " : "",
                        STR_ARG(modules ? value_text(a, list) : STR("")));
}

/* "TP 2: 6 % slower"; empty when that is no plan. */
static void add_neighbour(struct arena *a, const struct search_request *request,
                          const struct plan *plan, const struct decision *d,
                          const struct move *move, struct buf *out)
{
    struct neighbour x = {.config = as_searched(plan)};
    struct knobs *k = &x.config.knobs;
    if (!move_take(d, move, &x.config) || !is_plan(&x.config, &x.slot)) return;
    if (!settle(&x, request, !space_is_settled(request, d))) return;
    struct str recompute = other_recompute(a, &plan->config.knobs, k),
               text = x.refused ? arena_printf(a, "refused [%s]", x.refused)
                                : verdict(a, &plan->costs, &x);
    buf_printf(out, "%s%s %d%.*s: %.*s", out->n ? "; " : "", d->symbol, *decision_size(d, k),
               STR_ARG(recompute), STR_ARG(text));
}

/* A line for each decision that has neighbours. */
static void add_neighbours(struct arena *a, const struct search_request *request,
                           const struct plan *plan, struct reason_list *out)
{
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        struct buf text = buf_new(a);
        for (const struct move *move = d->moves; move->name; move++)
            if (move->uses & MOVE_NEIGHBOUR) add_neighbour(a, request, plan, d, move, &text);
        if (text.n) add(a, out, NULL, d->phase, REASON_NEIGHBOURS, buf_str(&text));
    }
}

/* What one rule decides of several knobs is one reason. False when the rule has none yet. */
static bool join(struct arena *a, const struct preference *p, struct str value,
                 struct reason_list *out)
{
    for (size_t i = 0; i < out->n; i++) {
        struct reason *r = &out->items[i];
        if (!str_eq(r->rule, p->rule->id) || !str_ends(r->text, p->rule->message)) continue;
        size_t at = r->text.n - p->rule->message.n - strlen(": ");
        struct str head = str_slice(r->text, 0, at);
        r->text = arena_printf(a, "%.*s, %.*s %.*s: %.*s", STR_ARG(head),
                               STR_ARG(param_name(p->knob->param)), STR_ARG(value),
                               STR_ARG(p->rule->message));
        return true;
    }
    return false;
}

static struct str word(struct arena *a, struct value v)
{
    return v.kind == VALUE_NULL ? STR("none") : value_text(a, v);
}

/* The plan as the guide would have it, judged as the rules would; false when that is no plan. */
static bool as_guided(const struct search_request *request, const struct preference *p,
                      const struct plan *plan, struct neighbour *x)
{
    struct knobs *k = &x->config.knobs;
    x->config = as_searched(plan);
    knob_set(k, p->knob, p->value);
    k->sequence_parallel = config_splits_sequence(&x->config);
    if (k->pp == 1) k->vpp = 1;
    if (!is_plan(&x->config, &x->slot) || !estimate_memory(x)) return false;
    if (x->fits != FITS_YES) return true;
    x->refused = request->reject(request->context, &x->config);
    return estimate_time(x);
}

/* Why the plan does not follow the guide. */
static struct str departure(struct arena *a, const struct search_request *request,
                            const struct preference *p, const struct plan *plan,
                            enum reason_kind *kind)
{
    struct neighbour x = {0};
    bool limited = plan->capacity < plan->config.machine.capacity_bytes;
    *kind = REASON_LEAVES;
    if (p->pinned) return STR("pinned");
    if (!as_guided(request, p, plan, &x)) return STR("which this plan's other sizes do not allow");
    if (x.refused) {
        *kind = REASON_BARRED;
        return arena_printf(a, "which is refused [%s]", x.refused);
    }
    if (x.fits == FITS_YES) {
        struct str text = verdict(a, &plan->costs, &x);
        return arena_printf(a, "which is %.*s", STR_ARG(text));
    }
    return arena_printf(a, "which %s: %.0f of %s%.0f GiB%s",
                        x.fits == FITS_NO ? "does not fit" : "is tight in memory", x.peak / GIB,
                        limited ? "the " : "", plan->capacity / GIB, limited ? " aimed at" : "");
}

static void add_guide(struct arena *a, const struct search_request *request,
                      const struct preference *p, const struct plan *plan, struct reason_list *out)
{
    struct str now = word(a, knob_get(a, &plan->config.knobs, p->knob));
    struct str message = p->rule->message;
    if (prefer_distance(p, &plan->config.knobs) > 0) {
        enum reason_kind kind;
        struct str usual = word(a, p->value), why = departure(a, request, p, plan, &kind);
        add(a, out, p->rule, PHASE_FIT, kind,
            arena_printf(a, "%.*s %.*s instead of the guide's %.*s, %.*s",
                         STR_ARG(param_name(p->knob->param)), STR_ARG(now), STR_ARG(usual),
                         STR_ARG(why)));
    } else if (!join(a, p, now, out)) {
        add(a, out, p->rule, PHASE_FIT, REASON_FOLLOWS,
            arena_printf(a, "%.*s %.*s: %.*s", STR_ARG(param_name(p->knob->param)), STR_ARG(now),
                         STR_ARG(message)));
    }
}

/* What a guide has set that is no knob: it stands in the facts under the rule's id. */
static void add_completion(struct arena *a, const struct rule *r, const struct plan *plan,
                           struct reason_list *out)
{
    struct buf names = buf_new(a);
    for (size_t i = 0; i < r->n_set; i++) {
        const struct fact *x = facts_get(plan->facts, r->set[i].param);
        if (x->origin != ORIGIN_DERIVED || !str_eq(x->written, r->id)) continue;
        struct str name = param_table[r->set[i].param].name, value = word(a, x->value);
        buf_printf(&names, "%s%.*s %.*s", names.n ? ", " : "", STR_ARG(name), STR_ARG(value));
    }
    if (!names.n) return;
    struct str what = buf_str(&names);
    add(a, out, r, PHASE_FIT, REASON_FOLLOWS,
        arena_printf(a, "%.*s: %.*s", STR_ARG(what), STR_ARG(r->message)));
}

struct reason_list reason_plan(struct arena *a, const struct answer *answer,
                               const struct plan *plan)
{
    struct reason_list out = {0};
    const struct rule_set *rules = answer->rules;
    struct search_request request = answer->request;
    request.base = &answer->base;
    for (size_t i = 0; i < rules->n; i++)
        if (rules->items[i]->n_guides && rules->items[i]->role == ROLE_CHECK)
            add_completion(a, rules->items[i], plan, &out);
    for (size_t i = 0; i < answer->n_preferences; i++)
        add_guide(a, &request, &answer->preferences[i], plan, &out);
    add_neighbours(a, &request, plan, &out);
    return out;
}

/* The guide that holds a plan back most against another one; NULL: none does. */
static const struct preference *held_back_by(const struct answer *answer,
                                             const struct contender *plan,
                                             const struct contender *other)
{
    const struct preference *most = NULL;
    double least = 0;
    for (size_t i = 0; i < answer->n_preferences; i++) {
        const struct preference *p = &answer->preferences[i];
        double further = prefer_cost(p, &plan->knobs) - prefer_cost(p, &other->knobs);
        if (further <= least) continue;
        least = further;
        most = p;
    }
    return most;
}

struct str reason_risk(const struct answer *answer, const struct contender *plan)
{
    struct config c = answer->base;
    c.knobs = plan->knobs;
    unsigned risks = move_risks_of(&answer->base, &c) & ~c.knobs.open_numerics;
    return risks & RISK_DYNAMIC_GRAPHS ? STR("dynamic_graphs") : STR("offload");
}

struct str reason_held_back(struct arena *a, const struct answer *answer,
                            const struct contender *plan)
{
    const struct contender *first = &answer->plans[0].costs;
    bool risk = plan->risky && !first->risky;
    if (risk && str_is(reason_risk(answer, plan), "offload"))
        return STR("it offloads to the CPU, which guides leave for what has no room otherwise");
    if (risk)
        return STR("its graph of the whole iteration has buffers of a fixed size, "
                   "which recipes of this chip and format seldom risk");
    /* one that the guides put before the first needs more memory, which is told beside it */
    if (plan->step_s > first->step_s || plan->score < first->score) return STR("");
    const struct preference *p = held_back_by(answer, plan, first);
    if (!p) return STR("");
    return arena_printf(a, "further from the guide's %.*s %.*s  [%.*s]",
                        STR_ARG(param_name(p->knob->param)), STR_ARG(word(a, p->value)),
                        STR_ARG(p->rule->id));
}

struct str reason_against(struct arena *a, const struct answer *answer,
                          const struct contender *plan)
{
    const struct contender *first = &answer->plans[0].costs;
    double slower = percent(plan->step_s, first->step_s), more = percent(plan->peak, first->peak);
    struct str why = reason_held_back(a, answer, plan);
    return arena_printf(a, "%.0f %% %s, %.0f %% %s memory%s%.*s", fabs(slower),
                        slower > 0 ? "slower" : "faster", fabs(more), more > 0 ? "more" : "less",
                        why.n ? ", but " : "", STR_ARG(why));
}
