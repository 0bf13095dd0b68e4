/* SPDX-License-Identifier: Apache-2.0 */
/* Two estimates side by side: what differs, in which order, and what the rules remark. */
#include "facts/param_ids.h"
#include "flow/compare.h"
#include "unit/plan_text.h"

static const struct difference *find(const struct comparison *x, int param)
{
    for (size_t i = 0; i < x->differences.n; i++)
        if (x->differences.items[i].param == param) return &x->differences.items[i];
    return NULL;
}

/* What changes convergence comes before what only changes how fast it goes. */
static void convergence_is_compared_first(void **state)
{
    struct arena *scratch = arena_new(0);
    struct facts *f = settled(plan_facts(*state, "megatron", "ep: 8\nadam_beta2: 0.95\n"));
    struct facts *g = settled(sized_plan(*state, "megatron",
                                         "model: qwen3-30b-a3b\nplatform: h100\ngpus: 8\ngbs: 128\n"
                                         "mbs: 1",
                                         "ep: 4\nadam_beta2: 0.99\n"));
    struct estimate first = {.facts = f}, second = {.facts = g};
    struct comparison out;
    compare_configurations(*state, rules_builtin(), &first, &second, scratch, &out);
    bool execution = false, batch = false, experts = false;
    for (size_t i = 0; i < out.differences.n; i++) {
        const struct param *p = &param_table[out.differences.items[i].param];
        if (p->affects != AFFECTS_CONVERGENCE) execution = true;
        if (p->affects == AFFECTS_CONVERGENCE && execution)
            fail_msg("%.*s comes late", STR_ARG(p->name));
        batch = batch || str_is(p->name, "global_batch_size");
        experts = experts || str_is(p->name, "expert_model_parallel_size");
    }
    assert_true(batch && experts && execution);
    arena_free(scratch);
}

/* Another precision is one difference, not one more for each of its switches. */
static void what_follows_is_not_listed(void **state)
{
    struct arena *scratch = arena_new(0);
    struct estimate first = {.facts = settled(plan_facts(*state, "megatron", "precision: bf16"))},
                    second = {.facts = settled(
                                  plan_facts(*state, "megatron", "precision: fp8_blockwise"))};
    struct comparison out;
    compare_configurations(*state, rules_builtin(), &first, &second, scratch, &out);
    assert_true(find(&out, P_precision));
    assert_false(find(&out, P_fp8) || find(&out, P_fp8_recipe));
    struct facts *plain = facts_copy(*state, first.facts);
    facts_set(plain, P_gated_linear_unit, value_bool(false), ORIGIN_FILE, NULL, STR("x"));
    facts_set(plain, P_swiglu, value_bool(false), ORIGIN_FILE, NULL, STR("x"));
    second.facts = plain;
    compare_configurations(*state, rules_builtin(), &first, &second, scratch, &out);
    assert_true(find(&out, P_gated_linear_unit));
    assert_false(find(&out, P_swiglu));
    arena_free(scratch);
}

static struct comparison compared(struct arena *a, struct estimate sides[2])
{
    struct arena *scratch = arena_new(0);
    struct comparison out;
    compare_configurations(a, rules_builtin(), &sides[0], &sides[1], scratch, &out);
    arena_free(scratch);
    return out;
}

static struct estimate estimated(const struct facts *f)
{
    struct arena *scratch = arena_new(0);
    struct estimate e;
    estimate_facts(f->arena, rules_builtin(), f, scratch, &e);
    arena_free(scratch);
    return e;
}

static void the_same_plan_does_not_differ(void **state)
{
    struct estimate e = estimated(plan_facts(*state, "megatron", "ep: 8"));
    struct comparison x = compared(*state, (struct estimate[]){e, e});
    assert_true(e.complete);
    assert_int_equal(x.differences.n, 0);
}

/* The knobs stand for the words of two frameworks; an estimate that has no cost has none to give.
 */
static void frameworks_are_compared_by_their_knobs(void **state)
{
    struct estimate sides[] = {estimated(plan_facts(*state, "megatron",
                                                    "ep: 8\nrecompute_granularity: full\n"
                                                    "recompute_method: uniform\n"
                                                    "recompute_num_layers: 1")),
                               estimated(plan_facts(*state, "automodel", "ep: 8"))};
    struct comparison x = compared(*state, sides);
    const struct difference *d = find(&x, P_recompute_granularity);
    assert_non_null(d);
    assert_str(d->a.s, "full");
    assert_null(find(&x, P_expert_model_parallel_size));
    sides[1].complete = false;
    x = compared(*state, sides);
    assert_null(find(&x, P_recompute_granularity));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(convergence_is_compared_first),
    cmocka_unit_test(what_follows_is_not_listed),
    cmocka_unit_test(the_same_plan_does_not_differ),
    cmocka_unit_test(frameworks_are_compared_by_their_knobs),
};
UNIT_MAIN(tests)
