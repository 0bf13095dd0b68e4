/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind the first screen: a plan with its memory a stage, its time and why, and what
   comes next. */
#include <inttypes.h>

#include "base/num.h"
#include "base/page.h"
#include "base/quote.h"
#include "base/units.h"
#include "cmd/suggest_show.h"
#include "emit/emit.h"
#include "emit/screen.h"
#include "facts/param_ids.h"
#include "plan/move.h"

void suggest_question(struct arena *a, const struct ask *ask, const struct answer *answer,
                      struct buf *out)
{
    const struct machine *m = &answer->base.machine;
    screen_model(&answer->base.model, out);
    screen_notes(ask->model, out);
    struct str gpus = num_grouped(a, ask->gpus), gbs = num_grouped(a, ask->gbs);
    buf_printf(out,
               "%.*s  %.*s GPUs, %d per node, NVLink domain %d, %.0f GiB each; seq %" PRId64
               "%s, gbs %.*s%s\n",
               LINE_ARG(a, ask->platform->name), STR_ARG(gpus), m->gpus_per_node, m->nvlink_domain,
               m->capacity_bytes / GIB, ask->seq, ask->seq_assumed ? " (assumed)" : "",
               STR_ARG(gbs), ask->gbs_assumed ? " (assumed)" : "");
    screen_platform_notes(a, ask->platform, out);
}

void suggest_numerics(const struct ask *ask, const struct answer *answer, const struct config *plan,
                      struct buf *out)
{
    struct str held = move_numerics(out->arena, &answer->base, plan);
    if (held.n)
        buf_printf(out,
                   "numerics: " MARK_HANG "%.*s: %.*s (--numerics strict: the framework's own)\n",
                   STR_ARG(ask->numerics), STR_ARG(held));
}

static void add_costs(const struct config *c, struct buf *out)
{
    struct memory_estimate m;
    struct time_estimate t;
    struct evidence e;
    if (!memory_estimate(c, &m, NULL) || !time_estimate(c, &t, NULL)) return;
    evidence_find(c, &e);
    buf_add_char(out, '\n');
    screen_memory(&m, out);
    buf_add_char(out, '\n');
    screen_time(&t, out);
    screen_evidence(&e, out);
}

static void add_reasons(const struct offer *o, struct buf *out)
{
    struct reason_list because = reason_plan(out->arena, o->answer, o->plan);
    buf_add(out, STR("\n" MARK_HEADING "why" MARK_END "\n"));
    for (size_t i = 0; i < because.n; i++) {
        const struct reason *r = &because.items[i];
        buf_printf(out, "  %-8s" MARK_HANG "%.*s", reason_phase(r->phase),
                   LINE_ARG(out->arena, r->text));
        if (r->rule.n) buf_printf(out, "  [%.*s]", STR_ARG(r->rule));
        buf_add_char(out, '\n');
    }
}

static void add_advice(const char *title, const struct reason_list *list, struct buf *out)
{
    if (!list->n) return;
    buf_printf(out, "\n" MARK_HEADING "%s" MARK_END "\n", title);
    for (size_t i = 0; i < list->n; i++) {
        const struct reason *r = &list->items[i];
        buf_printf(out, "  %zu  " MARK_HANG "%.*s  [%.*s]\n", i + 1, LINE_ARG(out->arena, r->text),
                   STR_ARG(r->rule));
    }
}

static void add_alternatives(const struct answer *answer, struct buf *out)
{
    if (answer->n < 2) return;
    buf_add(out, STR("\n" MARK_HEADING "other layouts" MARK_END "\n"));
    for (size_t i = 1; i < answer->n; i++) {
        const struct knobs *k = &answer->plans[i].config.knobs;
        buf_printf(out, "  %zu  tp %d pp %d vpp %d cp %d ep %d mbs %d%s: %.*s\n", i + 1, k->tp,
                   k->pp, k->vpp, k->cp, k->ep, k->mbs, k->fsdp ? " FSDP" : "",
                   STR_ARG(answer->plans[i].why_not_first));
    }
}

/* What is known of the plans that are not shown. */
static void add_proof(const struct offer *o, struct buf *out)
{
    const struct answer *answer = o->answer;
    const struct search_result *search = answer->search;
    struct arena *a = out->arena;
    buf_printf(out, "%s: best of %.*s plans that fit (%.*s looked at)%s\n",
               framework_full_name(o->framework),
               STR_ARG(num_grouped(a, (int64_t)answer->feasible)),
               STR_ARG(num_grouped(a, (int64_t)answer->searched)),
               answer->tight ? "; nothing surely fits, these may" : "");
    buf_printf(
        out,
        "%.*s layouts examined, %.*s ruled out by bounds; by the estimate none is ahead of the "
        "fastest here",
        STR_ARG(num_grouped(a, (int64_t)search->visited)),
        STR_ARG(num_grouped(a, (int64_t)(search->layouts - search->visited))));
    if (search->polished >= 0.0005)
        buf_printf(out, " by more than %.1f %%", 100 * search->polished);
    buf_printf(out, "\n\n");
}

static void add_plan(struct arena *a, const struct ask *ask, const struct offer *o, struct buf *out)
{
    buf_add_char(out, '\n');
    add_proof(o, out);
    screen_plan(a, &o->plan->config, out);
    suggest_numerics(ask, o->answer, &o->plan->config, out);
    add_costs(&o->plan->config, out);
    add_reasons(o, out);
    add_alternatives(o->answer, out);
    if (o->answer->playbook.n)
        buf_printf(out, "\n" MARK_HEADING "public recipe" MARK_END "\n  %.*s\n",
                   LINE_ARG(a, o->answer->playbook));
    add_advice("note", &o->plan->notes, out);
}

void suggest_depth(struct arena *a, const struct ask *ask, const struct offer *o,
                   const struct depth *depth, struct buf *out)
{
    if (depth->why) add_plan(a, ask, o, out);
    if (depth->next) add_advice("next, one at a time", &o->plan->next, out);
    if (depth->verify) add_advice("verify", &o->plan->verify, out);
    if (depth->next) add_advice("mind", &o->plan->pitfalls, out);
}

size_t suggest_comments(struct arena *a, const struct ask *ask, const struct notes *notes,
                        const struct plan *plan, struct str **out)
{
    VEC(struct str) lines = {0};
    *VEC_PUSH(a, &lines) = arena_printf(
        a, "moeplan " MOEPLAN_VERSION ": %.*s, %" PRId64 " x %.*s, seq %" PRId64 ", gbs %" PRId64,
        STR_ARG(ask->model->name), ask->gpus, STR_ARG(ask->platform->id), ask->seq, ask->gbs);
    *VEC_PUSH(a, &lines) = arena_printf(
        a, "estimated: peak %.1f GiB (%.1f to %.1f), step %.2f s (%.2f to %.2f)",
        plan->costs.peak / GIB, plan->costs.peak_low / GIB, plan->costs.peak_high / GIB,
        plan->costs.step_s, plan->costs.low_s, plan->costs.high_s);
    struct str assumed = emit_assumed_line(a, plan->facts);
    if (assumed.n) *VEC_PUSH(a, &lines) = arena_printf(a, "assumed: %.*s", STR_ARG(assumed));
    bool tower = facts_int(plan->facts, P_vision_num_layers, 0) > 0;
    if (tower && plan->config.model.vision_layers == 0)
        *VEC_PUSH(a, &lines) = STR("the text part alone: pretrain_gpt.py builds no vision tower");
    for (size_t i = 0; i < plan->notes.n; i++)
        *VEC_PUSH(a, &lines) = plan->notes.items[i].text;
    for (size_t i = 0; i < notes->n; i++)
        *VEC_PUSH(a, &lines) = notes->items[i];
    *out = lines.items;
    return lines.n;
}

/* What tells a plan that is not shown from others. */
static struct str plan_words(struct arena *a, const struct knobs *k)
{
    struct str cp = k->cp > 1 ? arena_printf(a, " cp %d", k->cp) : STR("");
    return arena_printf(a, "tp %d pp %d%.*s ep %d, %s", k->tp, k->pp, STR_ARG(cp), k->ep,
                        k->recompute == RECOMPUTE_FULL        ? "full recompute"
                        : k->recompute == RECOMPUTE_SELECTIVE ? "selective recompute"
                                                              : "no recompute");
}

/* Bytes that a plan may take of a GPU. */
static double room_of(const struct answer *answer)
{
    return answer->capacity > 0 ? answer->capacity : answer->base.machine.capacity_bytes;
}

static struct str least_found(struct arena *a, const struct answer *answer)
{
    const struct contender *least = &answer->search->least;
    return arena_printf(a, "the smallest needs %.0f GiB of %.0f GiB per GPU (%.*s)",
                        least->peak / GIB, room_of(answer) / GIB,
                        STR_ARG(plan_words(a, &least->knobs)));
}

/* Whether a rule has to be told of: it stops every plan, or one that would fit. */
static bool is_refusal_told(const struct answer *answer)
{
    return answer->refusal && (answer->lets_none || answer->refused.peak <= room_of(answer));
}

/* The rule that stops the plan that needs least. */
static struct str what_refuses(struct arena *a, const struct answer *answer)
{
    const struct diag *d = answer->refusal;
    const struct contender *plan = &answer->refused;
    struct str words = plan_words(a, &plan->knobs), bytes = STR("");
    struct str which = STR("every layout breaks a rule");
    if (!answer->lets_none)
        which = arena_printf(a, "%zu that would fit break a rule, the smallest",
                             answer->search->rejected);
    else if (answer->search->has_least)
        which = STR("every plan breaks a rule, the smallest too");
    if (plan->peak > 0)
        bytes = arena_printf(a, ", %.0f of %.0f GiB", plan->peak / GIB, room_of(answer) / GIB);
    struct str rule = d->rule.n ? arena_printf(a, "  [%.*s]", STR_ARG(d->rule)) : STR("");
    return arena_printf(a, "%.*s (%.*s%.*s): %.*s%.*s", STR_ARG(which), STR_ARG(words),
                        STR_ARG(bytes), LINE_ARG(a, d->message), STR_ARG(rule));
}

static struct str nothing_divides(struct arena *a, const struct ask *ask,
                                  const struct answer *answer)
{
    const struct model_shape *m = &answer->base.model;
    struct buf said = buf_new(a);
    int vpp = answer->base.knobs.vpp; /* as it is pinned */
    if (ask->mbs) buf_printf(&said, " in micro-batches of %" PRId64, ask->mbs);
    for (const struct decision *d = decisions; d <= &decisions[DECISION_CP]; d++)
        for (size_t i = 0; i < ask->pins.n; i++)
            if (ask->pins.items[i].param == d->params[0])
                buf_printf(&said, ", with %s %" PRId64, d->word, ask->pins.items[i].value.i);
    if (vpp > 1) buf_printf(&said, ", with %d virtual stages a rank", vpp);
    return arena_printf(a,
                        "no layout divides the model (%d layers, %d heads), %" PRId64
                        " GPUs and a batch of %" PRId64 "%.*s",
                        m->num_layers, m->heads, ask->gpus, ask->gbs, STR_ARG(buf_str(&said)));
}

struct notes suggest_why_none(struct arena *a, const struct ask *ask, const struct answer *answer)
{
    struct notes why = {0};
    const struct search_result *s = answer->search;
    const struct diag *d = answer->obstacle;
    if (d) {
        *VEC_PUSH(a, &why) = arena_printf(a, "whatever the layout: %.*s  [%.*s]",
                                          LINE_ARG(a, d->message), STR_ARG(d->rule));
        return why;
    }
    if (!answer->lets_none)
        *VEC_PUSH(a, &why) =
            s->has_least ? least_found(a, answer) : nothing_divides(a, ask, answer);
    if (is_refusal_told(answer)) *VEC_PUSH(a, &why) = what_refuses(a, answer);
    return why;
}

/* Whether plans break a rule: some that fit, or all of some layouts. */
static bool breaks_rule(const struct answer *answer)
{
    return answer->search->last_rejection;
}

/* Whether the batch may be what no layout divides, or what it leaves to pipelines and context
   parallelism breaks a rule. */
static bool lacks_batch(const struct ask *ask, const struct answer *answer)
{
    if (ask->gbs_assumed || ask->most_gpus) return false;
    return !answer->search->has_least || (breaks_rule(answer) && ask->gbs % ask->gpus != 0);
}

/* Whether memory is: what every plan breaks is broken on more GPUs too. */
static bool lacks_memory(const struct ask *ask, const struct answer *answer)
{
    return !ask->most_gpus && !answer->lets_none;
}

static void add_fitting(struct str change, enum framework framework, const struct answer *other,
                        struct buf *out)
{
    const struct plan *first = &other->plans[0];
    const struct knobs *k = &first->config.knobs;
    buf_printf(out, "  %.*s: %s tp %d pp %d ep %d, peak %.0f GiB\n", STR_ARG(change),
               framework_name(framework), k->tp, k->pp, k->ep, first->costs.peak / GIB);
}

/* A line of the task that would fit on the same GPUs. */
static bool add_lighter(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                        struct ask ask, enum framework framework, struct buf *out)
{
    struct answer other;
    if (!suggest_lighter(a, scratch, rules, &ask, framework, &other)) return false;
    add_fitting(arena_printf(a, "--task %.*s", STR_ARG(ask_task(&ask))), framework, &other, out);
    return true;
}

/* One line of what would fit; false: nothing that was looked at. */
static bool add_would_fit(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                          struct ask ask, enum framework framework, const struct answer *answer,
                          struct buf *out)
{
    struct answer other;
    struct str change;
    if (lacks_batch(&ask, answer)) {
        if (!suggest_batch(a, scratch, rules, &ask, framework, &other)) return false;
        change = arena_printf(a, "--gbs %" PRId64, ask.gbs);
    } else {
        if (!suggest_larger(a, scratch, rules, &ask, framework, &other)) return false;
        change = arena_printf(a, "--gpus %" PRId64, ask.gpus);
    }
    add_fitting(change, framework, &other, out);
    return true;
}

void suggest_would_fit(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                       const struct ask *ask, const struct answers *answers, struct buf *out)
{
    size_t wanted = 0, found = 0;
    for (size_t i = 0; i < answers->n; i++) {
        const struct answer *one = &answers->items[i];
        bool mended = lacks_batch(ask, one) || lacks_memory(ask, one);
        if (one->n || one->obstacle || !mended) continue;
        if (!wanted++) buf_add(out, STR("what would fit\n"));
        found += add_would_fit(a, scratch, rules, *ask, answers->framework[i], one, out);
        if (lacks_memory(ask, one))
            found += add_lighter(a, scratch, rules, *ask, answers->framework[i], out);
    }
    if (wanted && !found)
        buf_printf(out, "  nothing near: no other batch, not %d times the GPUs\n",
                   1 << SUGGEST_DOUBLINGS);
}

void suggest_no_plan(struct arena *a, const struct ask *ask, enum framework framework,
                     const struct answer *answer, bool first, struct buf *out)
{
    if (first) suggest_question(a, ask, answer, out);
    buf_printf(out, "%s: no plan fits", framework_full_name(framework));
    if (ask->most_gpus) buf_printf(out, " on up to %" PRId64 " GPUs; the nearest", ask->most_gpus);
    buf_printf(out, " (%zu looked at)\n", answer->searched);
    struct notes why = suggest_why_none(a, ask, answer);
    for (size_t i = 0; i < why.n; i++)
        buf_printf(out, "  %.*s\n", STR_ARG(why.items[i]));
    const struct diag *stop = answer->obstacle;
    if (is_refusal_told(answer)) stop = answer->refusal;
    if (stop && stop->help.n) buf_printf(out, "what would help\n  %.*s\n", LINE_ARG(a, stop->help));
}
