/* SPDX-License-Identifier: Apache-2.0 */
/* What the consumers make of the table of moves: pins are kept, neighbours and refinement take the
 * rows that are theirs, guides that rows name exist. */
#include "facts/param_ids.h"
#include "unit/unit.h"

#include "choose/kinds.h"
#include "choose/planner.h"
#include "choose/space.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "facts/profile.h"
#include "rules/rule.h"

static struct facts *facts_of(struct arena *a, const char *model)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct platform_cache platforms = {.arena = a};
    diags_init(diags, a);
    struct facts *f = facts_new(a, diags, FRAMEWORK_MEGATRON,
                                profile_find(FRAMEWORK_MEGATRON, (struct str){"", 0})->version);
    f->format = STR("plan");
    model_apply(f, model_find(a, str_of(model)), ORIGIN_OPTION);
    platform_apply(f, platform_load(&platforms, diags, STR("h100"), (struct span){0}),
                   ORIGIN_OPTION);
    static const struct {
        int param, value;
    } sizes[] = {{P_world_size, 16}, {P_global_batch_size, 512}, {P_seq_length, 4096}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        facts_set(f, sizes[i].param, value_int(sizes[i].value), ORIGIN_OPTION, NULL, STR(""));
    facts_set(f, P_goal, value_string(STR("throughput")), ORIGIN_OPTION, NULL, STR(""));
    facts_set(f, P_task, value_string(STR("pretrain")), ORIGIN_OPTION, NULL, STR(""));
    return f;
}

static const struct answer *answer(struct arena *a, struct arena *scratch,
                                   struct plan_request request)
{
    struct answer *out = ARENA_NEW(a, struct answer);
    request.rules = rules_builtin();
    request.top = 1;
    assert_true(planner_answer(a, &request, scratch, out));
    assert_int_equal(out->n, 1);
    return out;
}

static const struct plan *best(struct arena *a, struct plan_request request)
{
    struct arena *scratch = arena_new(0);
    const struct answer *out = answer(a, scratch, request);
    arena_free(scratch);
    return &out->plans[0];
}

static bool is_row(const struct rule_set *rules, const char *guide)
{
    for (size_t i = 0; i < rules->n; i++)
        for (size_t g = 0; g < rules->items[i]->n_guides; g++)
            if (str_is(rules->items[i]->guides[g], guide)) return true;
    return false;
}

static void a_decision_names_a_guide_that_exists(void **state)
{
    (void)state;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        if (d->guide && !is_row(rules_builtin(), d->guide)) fail_msg("no guide %s", d->guide);
}

/* The place in the table of the neighbour that a reason is about; -1: about none. */
static int neighbour_of(struct str text)
{
    for (int i = 0; i < DECISIONS; i++)
        if (decisions[i].symbol && decisions[i].size &&
            str_starts(text, str_of(decisions[i].symbol)) &&
            text.p[strlen(decisions[i].symbol)] == ' ')
            return i;
    return -1;
}

static void a_plan_tells_its_neighbours_in_the_order_of_the_table(void **state)
{
    struct arena *scratch = arena_new(0);
    struct plan_request request = {.facts = facts_of(*state, "qwen3-30b-a3b")};
    const struct answer *x = answer(*state, scratch, request);
    struct reason_list because = reason_plan(*state, x, &x->plans[0]);
    int last = -1, n = 0;
    for (size_t i = 0; i < because.n; i++) {
        const struct reason *r = &because.items[i];
        int at = neighbour_of(r->text);
        if (at < 0) continue;
        assert_true(at > last);
        assert_int_equal(r->phase, decisions[at].phase);
        last = at;
        n++;
    }
    assert_true(n >= 3);
    arena_free(scratch);
}

static void a_pin_settles_what_would_be_refined(void **state)
{
    static const int pins[] = {P_cuda_graph_scope, P_overlap_moe_expert_parallel_comm};
    const struct plan *free =
        best(*state, (struct plan_request){.facts = facts_of(*state, "qwen3-30b-a3b")});
    const struct knobs *k = &free->config.knobs;
    assert_true(k->graph_impl == GRAPH_TE || k->overlap_ep);
    struct plan_request request = {
        .facts = facts_of(*state, "qwen3-30b-a3b"), .pins = pins, .n_pins = 2};
    facts_set(request.facts, P_overlap_moe_expert_parallel_comm, value_bool(false), ORIGIN_OPTION,
              NULL, STR(""));
    k = &best(*state, request)->config.knobs;
    assert_int_equal(k->graph_impl, GRAPH_NONE);
    assert_false(k->overlap_ep);
}

static void a_pinned_switch_has_one_state(void **state)
{
    struct config base, c;
    assert_true(config_from_facts(*state, facts_of(*state, "qwen3-30b-a3b"), &base));
    struct search_request request = {.base = &base};
    base.knobs.ep = 8;
    c = base;
    assert_true(space_states(&request, &decisions[DECISION_DISPATCHER], &c).n > 1);
    const struct knob *pin = knob_of(P_dispatcher);
    request.pinned = &pin;
    request.n_pinned = 1;
    struct states x = space_states(&request, &decisions[DECISION_DISPATCHER], &c);
    assert_int_equal(x.n, 1);
    assert_null(x.items[0]);
}

/* Of a granularity that is pinned the modules are still to be chosen. */
static void a_pin_leaves_what_agrees_with_it(void **state)
{
    struct config base, c;
    assert_true(config_from_facts(*state, facts_of(*state, "qwen3-30b-a3b"), &base));
    struct search_request request = {.base = &base};
    const struct knob *pin = knob_of(P_recompute_granularity);
    request.pinned = &pin;
    request.n_pinned = 1;
    base.knobs.recompute = RECOMPUTE_SELECTIVE;
    c = base;
    struct states x = space_states(&request, &decisions[DECISION_RECOMPUTE], &c);
    assert_true(x.n > 2);
    for (int i = 1; i < x.n; i++) {
        struct config one = c;
        space_set(x.items[i], &one);
        assert_int_equal(one.knobs.recompute, RECOMPUTE_SELECTIVE);
    }
}

static void barred_batches_are_no_values(void **state)
{
    struct config c;
    assert_true(config_from_facts(*state, facts_of(*state, "qwen3-30b-a3b"), &c));
    struct search_request request = {.base = &c, .barred_batches = 1 << 1 | 1 << 4};
    struct axis x = space_values(&request, &decisions[DECISION_MBS], &c.knobs);
    assert_int_equal(x.n, 3);
    assert_int_equal(x.values[0], 2);
    assert_int_equal(x.values[1], 8);
    assert_int_equal(x.values[2], 16);
}

/* An exchange of keys that the rules refuse of every layout is no state, so that no bound stands
   on it. */
static void barred_needs_are_no_states(void **state)
{
    struct config c;
    assert_true(config_from_facts(*state, facts_of(*state, "qwen3-30b-a3b"), &c));
    c.knobs.cp = 4, c.knobs.tp = 1;
    struct search_request request = {.base = &c};
    struct states all = space_states(&request, &decisions[DECISION_CP_EXCHANGE], &c);
    request.barred_needs = NEED_CP_GATHER;
    struct states x = space_states(&request, &decisions[DECISION_CP_EXCHANGE], &c);
    assert_int_equal(x.n, all.n - 1);
    for (int i = 1; i < x.n; i++)
        assert_false(x.items[i]->needs & NEED_CP_GATHER);
}

static bool has_groups(struct kinds *all, struct config *spot)
{
    bool found = false;
    size_t at = kinds_of(all, spot);
    const struct kind *kind = &all->items.items[at];
    for (int i = 0; i < kind->n_sides; i++) {
        struct config c = *spot;
        bool possible = combination_set(&kind->sides[i], &c);
        found = found || (possible && c.knobs.optimizer_instances > 1);
    }
    return found;
}

/* The experts of the first layout are on so many GPUs that there are no groups of them; its moves
   are not those of the next. */
static void groups_are_looked_for_on_every_layout(void **state)
{
    struct config c;
    assert_true(config_from_facts(*state, facts_of(*state, "qwen3-30b-a3b"), &c));
    struct search_request request = {.base = &c};
    struct kinds all = {.request = &request, .arena = *state};
    c.knobs.gpus = 96;
    c.knobs.tp = c.knobs.pp = c.knobs.cp = c.knobs.etp = c.knobs.mbs = 1;
    c.knobs.gbs = 960;
    c.knobs.distributed_optimizer = true;
    c.knobs.ep = 32;
    assert_false(has_groups(&all, &c));
    c.knobs.ep = 2;
    assert_true(has_groups(&all, &c));
}

/* What most recipes of H100 hold in fewer bits: gradients, parameters with per-tensor scaling,
   moments with block-wise scaling; nothing for who wants the framework's numbers. */
static void numerics_are_open_as_far_as_recipes_go(void **state)
{
    static const struct {
        const char *precision, *numerics;
        uint32_t open;
    } cases[] = {{"bf16", NULL, NUMERICS_GRADIENTS},
                 {"fp8_delayed", "tuned", NUMERICS_GRADIENTS | NUMERICS_PARAMETERS},
                 {"fp8_blockwise", NULL, NUMERICS_GRADIENTS | NUMERICS_MOMENTS},
                 {"bf16", "strict", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct facts *f = facts_of(*state, "qwen3-30b-a3b");
        facts_set(f, P_precision, value_string(str_of(cases[i].precision)), ORIGIN_OPTION, NULL,
                  STR(""));
        if (cases[i].numerics)
            facts_set(f, P_numerics, value_string(str_of(cases[i].numerics)), ORIGIN_OPTION, NULL,
                      STR(""));
        const struct plan *plan = best(*state, (struct plan_request){.facts = f});
        assert_int_equal(plan->config.knobs.open_numerics, cases[i].open);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_decision_names_a_guide_that_exists),
    cmocka_unit_test(a_plan_tells_its_neighbours_in_the_order_of_the_table),
    cmocka_unit_test(a_pin_settles_what_would_be_refined),
    cmocka_unit_test(a_pinned_switch_has_one_state),
    cmocka_unit_test(a_pin_leaves_what_agrees_with_it),
    cmocka_unit_test(barred_batches_are_no_values),
    cmocka_unit_test(barred_needs_are_no_states),
    cmocka_unit_test(groups_are_looked_for_on_every_layout),
    cmocka_unit_test(numerics_are_open_as_far_as_recipes_go),
};
UNIT_MAIN(tests)
