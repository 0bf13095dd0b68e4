/* SPDX-License-Identifier: Apache-2.0 */
/* Trials worth running next, and the wall that a run's metrics show. */
#include "unit/plan_text.h"

#include <math.h>

#include "choose/diagnose.h"
#include "choose/sweep.h"

/* ---- trials ---- */

/* Of Qwen3-30B-A3B on 64 H100. */
static struct sweep swept(struct arena *a, struct config **base, size_t most)
{
    struct arena *scratch = arena_new(0);
    struct sweep out;
    struct facts *f =
        sized_plan(a, "bridge", "model: qwen3-30b-a3b\nplatform: h100\ngpus: 64\ngbs: 512\nmbs: 1",
                   "ep: 8\nuse_distributed_optimizer: true\n");
    *base = config_of(f);
    assert_true(sweep_plan(a, rules_builtin(), f, *base, most, scratch, &out));
    arena_free(scratch);
    return out;
}

/* Single changes come before pairs, and of each the one that may gain most comes first; each costs
   what the estimate makes of it. */
static void trials_come_by_worth(void **state)
{
    struct config *base;
    struct sweep s = swept(*state, &base, 12);
    assert_true(s.n > 3);
    for (size_t i = 0; i < s.n; i++) {
        const struct trial *t = &s.trials[i];
        struct time_estimate time;
        assert_true(time_estimate(t->config, &time, NULL));
        assert_true(t->step_s == time.step && t->worth > 0);
        assert_true(fabs(t->ratio - time.step / s.step_s) < 1e-12);
        if (i == 0) continue;
        const struct trial *before = &s.trials[i - 1];
        assert_true(before->changed <= t->changed);
        if (before->changed == t->changed) assert_true(before->worth >= t->worth);
    }
}

/* Micro-batches up to four times away that divide the batch (8 sequences a rank), other
   dispatchers, CUDA graphs of a plan that has none; never three at a time. */
static void trials_change_one_axis_or_two(void **state)
{
    struct config *base;
    struct sweep s = swept(*state, &base, 64);
    bool mbs = false, dispatcher = false, graphs = false;
    for (size_t i = 0; i < s.n; i++) {
        const struct knobs *k = &s.trials[i].config->knobs;
        assert_true(s.trials[i].changed == 1 || s.trials[i].changed == 2);
        assert_true(k->mbs == 1 || k->mbs == 2 || k->mbs == 4);
        mbs = mbs || k->mbs == 2;
        dispatcher = dispatcher || k->dispatcher == DISPATCH_HYBRIDEP;
        graphs = graphs || k->graph_impl == GRAPH_TE;
    }
    assert_true(mbs && dispatcher && graphs);
}

/* ---- walls ---- */

/* Of a run that loses so many per cent of a step to the exchange between experts, to gaps between
   kernels and to waiting for data. */
static struct diagnosis diagnosed(struct arena *a, double exchange, double gaps, double data)
{
    const struct {
        const char *metric;
        double percent;
    } metrics[] = {{"exposed_all_to_all_percent", exchange},
                   {"launch_gap_percent", gaps},
                   {"data_wait_percent", data}};
    struct arena *scratch = arena_new(0);
    struct diagnosis d;
    struct facts *f = plan_facts(a, "megatron", "ep: 8\n");
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        facts_set(f, param_find(str_of(metrics[i].metric)), value_double(metrics[i].percent),
                  ORIGIN_OPTION, NULL, STR("x"));
    facts_add_raw(f, STR("metrics"), value_bool(true));
    diagnose_run(a, rules_builtin(), f, false, scratch, &d);
    arena_free(scratch);
    return d;
}

/* The larger part of the step that is lost is the wall, the other one is what comes then; after a
   wall that stands alone comes the usual one. */
static void the_tallest_wall_stands_first(void **state)
{
    static const struct {
        double exchange, gaps, data;
        enum wall wall, next;
    } cases[] = {
        {30, 45, 0, WALL_HOST, WALL_COMMUNICATION}, {45, 30, 0, WALL_COMMUNICATION, WALL_HOST},
        {30, 0, 60, WALL_HOST, WALL_COMMUNICATION}, {45, 0, 0, WALL_COMMUNICATION, WALL_HOST},
        {0, 45, 0, WALL_HOST, WALL_COMPUTE},        {0, 0, 0, WALL_NONE, WALL_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diagnosis d = diagnosed(*state, cases[i].exchange, cases[i].gaps, cases[i].data);
        assert_int_equal(d.wall, cases[i].wall);
        assert_int_equal(d.next, cases[i].next);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(trials_come_by_worth),
    cmocka_unit_test(trials_change_one_axis_or_two),
    cmocka_unit_test(the_tallest_wall_stands_first),
};
UNIT_MAIN(tests)
