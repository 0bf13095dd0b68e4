/* SPDX-License-Identifier: Apache-2.0 */
/* How much a guide weighs, and whether what is said of a plan's neighbours and rivals is so. */
#include "facts/param_ids.h"
#include "unit/plan_text.h"

#include <math.h>
#include <stdio.h>

#include "choose/planner.h"
#include "cost/split.h"

static void assert_within(double a, double b, double tolerance)
{
    if (fabs(a - b) > tolerance) fail_msg("%.12g is not %.12g", a, b);
}

static void put(struct facts *f, int param, const char *word)
{
    facts_set(f, param, value_string(str_of(word)), ORIGIN_OPTION, NULL, STR("x"));
}

/* How to train Qwen3-30B-A3B fast on 64 H100. */
static const struct answer *answer(struct arena *a, struct arena *scratch)
{
    struct answer *out = ARENA_NEW(a, struct answer);
    struct facts *f =
        sized_plan(a, "bridge", "model: qwen3-30b-a3b\nplatform: h100\ngpus: 64\ngbs: 1024", "");
    struct plan_request q = {.rules = rules_builtin(), .facts = f, .top = 4};
    put(f, P_goal, "throughput");
    put(f, P_task, "pretrain");
    assert_true(planner_answer(a, &q, scratch, out));
    assert_true(out->n > 0);
    return out;
}

/* ---- how much a guide weighs ---- */

/* A guide without a margin of its own is left for a gain of a tenth, times its confidence. */
static void margins_follow_confidence(void **state)
{
    struct arena *scratch = arena_new(0);
    const struct answer *x = answer(*state, scratch);
    size_t by_confidence = 0;
    arena_free(scratch);
    for (size_t i = 0; i < x->n_preferences; i++) {
        const struct preference *p = &x->preferences[i];
        double margin = p->rule->margin >= 0 ? p->rule->margin : 0.10 * p->rule->confidence;
        assert_within(p->margin, margin, 1e-12);
        assert_within(exp(p->log_margin), 1 + margin, 1e-12);
        by_confidence += p->rule->margin < 0 && p->rule->confidence > 0;
    }
    assert_true(by_confidence > 0);
}

static struct preference wish(int param, double number, double margin)
{
    return (struct preference){
        .knob = knob_of(param), .number = number, .margin = margin, .log_margin = log1p(margin)};
}

/* Doublings of a size, places of a ladder, modules of a set; of words only another one. */
static void distances_by_kind(void **state)
{
    (void)state;
    struct knobs k = {.tp = 8, .recompute = RECOMPUTE_FULL, .dispatcher = DISPATCH_HYBRIDEP};
    k.recompute_modules = MOD_MLP | MOD_MOE_ACT | MOD_CORE_ATTN;
    const struct {
        struct preference p;
        double away;
    } cases[] = {
        {wish(P_tensor_model_parallel_size, 8, 0.1), 0},
        {wish(P_tensor_model_parallel_size, 2, 0.1), 2},
        {wish(P_recompute_granularity, RECOMPUTE_NONE, 0.1), 2},
        {wish(P_recompute_granularity, RECOMPUTE_SELECTIVE, 0.1), 1},
        {wish(P_dispatcher, DISPATCH_ALLGATHER, 0.1), 1},
        {wish(P_recompute_modules, MOD_MLP | MOD_LAYERNORM, 0.1), 3},
        {wish(P_sequence_parallel, 1, 0.1), 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_within(prefer_distance(&cases[i].p, &k), cases[i].away, 1e-12);
    /* "2 or more", "32 or more" */
    struct preference more = wish(P_tensor_model_parallel_size, 2, 0.1);
    more.upwards_free = true;
    assert_within(prefer_distance(&more, &k), 0, 0);
    more.number = 32;
    assert_within(prefer_distance(&more, &k), 2, 1e-12);
    /* what no power of two is has to gain more */
    struct preference even = wish(P_micro_batch_size, 1, 0.01);
    even.log_uneven = log1p(0.02);
    k.mbs = 2;
    assert_within(exp(prefer_cost(&even, &k)), 1.01, 1e-12);
    k.mbs = 6;
    assert_within(prefer_cost(&even, &k), log1p(0.01) * log2(6) + log1p(0.02), 1e-12);
    /* two doublings at 5 % and one place at 10 % */
    const struct preference both[] = {wish(P_tensor_model_parallel_size, 2, 0.05),
                                      wish(P_recompute_granularity, RECOMPUTE_SELECTIVE, 0.10)};
    double sum = prefer_sum(both, 2, &k);
    assert_within(exp(sum), 1.05 * 1.05 * 1.10, 1e-12);
    assert_within(exp(prefer_sum(both, 1, &k)), 1.05 * 1.05, 1e-12);
    /* all of them together are worth a bounded part of a step */
    assert_within(prefer_factor(0), 1, 0);
    assert_within(prefer_factor(1e-4), 1 + 1e-4 * PREFER_MOST / PREFER_SPREAD, 1e-7);
    assert_within(prefer_factor(PREFER_SPREAD), 1 + 0.632 * PREFER_MOST, 1e-3);
    assert_true(prefer_factor(2 * sum) > prefer_factor(sum));
    assert_true(prefer_factor(30 * sum) < 1 + PREFER_MOST &&
                prefer_factor(30 * sum) > 1 + 0.99 * PREFER_MOST);
}

/* ---- neighbours ---- */

static int *field_of(struct knobs *k, const char *name)
{
    const struct {
        const char *name;
        int *field;
    } fields[] = {{"TP", &k->tp}, {"PP", &k->pp},   {"EP", &k->ep},
                  {"CP", &k->cp}, {"VPP", &k->vpp}, {"MBS", &k->mbs}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(name, fields[i].name) == 0) return fields[i].field;
    return NULL;
}

/* "TP 2: 6 % slower" of a plan; true when it says such a thing. */
static bool check_neighbour(const struct plan *plan, struct str text)
{
    char name[8], verb[16], copy[64];
    int value, percent;
    struct config c = plan->config;
    struct layout slot;
    struct contender now, other;
    snprintf(copy, sizeof copy, "%.*s", STR_ARG(text));
    if (sscanf(copy, "%7[A-Z] %d: %d %% %15[a-z]", name, &value, &percent, verb) != 4) return false;
    if (!field_of(&c.knobs, name)) return false;
    *field_of(&c.knobs, name) = value;
    c.knobs.sequence_parallel = c.knobs.tp > 1;
    assert_true(contender_estimate(&plan->config, &now));
    assert_true(split_plan(&c, &slot) && contender_estimate(&c, &other));
    double slower = 100 * (other.step_s / now.step_s - 1);
    assert_within(fabs(slower), percent, 0.51);
    assert_string_equal(verb, slower > 0 ? "slower" : "faster");
    return true;
}

/* Each neighbour that is told is what the estimate makes of the plan with that one size changed. */
static void neighbours_cost_what_is_said(void **state)
{
    struct arena *scratch = arena_new(0);
    const struct answer *x = answer(*state, scratch);
    size_t told = 0;
    for (size_t i = 0; i < x->n; i++) {
        struct reason_list because = reason_plan(*state, x, &x->plans[i]);
        for (size_t k = 0; k < because.n; k++) {
            struct str rest = because.items[k].text, part;
            if (because.items[k].rule.n) continue;
            while (str_split(&rest, ';', &part))
                told += check_neighbour(&x->plans[i], str_trim(part));
        }
    }
    arena_free(scratch);
    assert_true(told >= 4);
}

/* ---- rivals ---- */

/* Against a first plan of 10 s and 40 GiB: what the other costs, and, where it is faster, the guide
   that holds it back. */
static void a_rival_is_told_by_its_costs(void **state)
{
    const struct rule *rule = rules_builtin()->items[0];
    struct preference guide = wish(P_tensor_model_parallel_size, 1, 0.05);
    guide.rule = rule;
    guide.value = value_int(1);
    struct plan first = {.costs = {.step_s = 10, .peak = 40, .knobs = {.tp = 1}}};
    struct answer x = {.plans = &first, .n = 1, .preferences = &guide, .n_preferences = 1};
    struct contender rival = {.step_s = 11, .peak = 30, .knobs = {.tp = 2}};
    assert_str(reason_against(*state, &x, &rival), "10 % slower, 25 % less memory");
    rival.step_s = 9.8, rival.peak = 44;
    struct str held = reason_against(*state, &x, &rival);
    struct str want = arena_printf(*state,
                                   "2 %% faster, 10 %% more memory, but further from the guide's "
                                   "tensor_model_parallel_size 1  [%.*s]",
                                   STR_ARG(rule->id));
    assert_str(held, want.p);
    first.costs.score = 10, rival.score = 9.9; /* the guides put it first all the same */
    assert_str(reason_against(*state, &x, &rival), "2 % faster, 10 % more memory");
    first.costs.score = 0, rival.score = 0;
    rival.knobs.tp = 1; /* no further than the first */
    assert_str(reason_against(*state, &x, &rival), "2 % faster, 10 % more memory");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(margins_follow_confidence),
    cmocka_unit_test(distances_by_kind),
    cmocka_unit_test(neighbours_cost_what_is_said),
    cmocka_unit_test(a_rival_is_told_by_its_costs),
};
UNIT_MAIN(tests)
