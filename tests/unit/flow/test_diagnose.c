/* SPDX-License-Identifier: Apache-2.0 */
/* A plan and metrics -> the wall, and fixes with what they would do. */
#include "flow/diagnose.h"
#include "unit/plan_text.h"

static const struct read_options none;

static struct diagnosed begun(struct arena *a, const struct reading *plan)
{
    struct arena *scratch = arena_new(0);
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct diagnosed d;
    diags_init(diags, a);
    assert_true(diagnose_begin(a, scratch, diags, rules_builtin(), plan, &none, &d));
    arena_free(scratch);
    return d;
}

/* A text in one piece. */
static bool told(struct diagnosed *d, struct str path, struct str text, struct str *why)
{
    struct arena *scratch = arena_new(0);
    struct diagnose_text *x = diagnose_text_new(scratch, d, rules_builtin());
    diagnose_text_piece(x, text);
    bool good = diagnose_text_end(x, path, why);
    arena_free(scratch);
    return good;
}

static void find(struct arena *a, struct diagnosed *d)
{
    struct arena *scratch = arena_new(0);
    diagnose(a, scratch, rules_builtin(), d);
    arena_free(scratch);
}

static void metrics_alone_name_the_wall(void **state)
{
    struct diagnosed d = begun(*state, NULL);
    struct str why;
    assert_true(told(&d, STR("m.yaml"), STR("out_of_memory: true\n"), &why));
    find(*state, &d);
    assert_false(d.planned);
    assert_int_equal(d.found.wall, WALL_MEMORY);
    assert_true(d.found.evidence[WALL_MEMORY].n > 0 && d.found.fixes.n > 0);
    assert_int_equal(d.fits, FITS_YES);
    assert_false(d.found.fixes.items[0].predicted);
}

static void fixes_are_tried_on_the_plan(void **state)
{
    struct reading plan = {.facts = plan_facts(*state, "megatron", "ep: 8")};
    struct diagnosed d = begun(*state, &plan);
    struct str why;
    bool predicted = false;
    assert_true(told(&d, STR("m.yaml"), STR("out_of_memory: true\n"), &why));
    find(*state, &d);
    assert_true(d.planned && d.found.costed);
    assert_int_equal(d.refusal.errors, 0);
    assert_int_equal(d.fits, d.found.fits);
    for (size_t i = 0; i < d.found.fixes.n; i++) {
        const struct fix *fix = &d.found.fixes.items[i];
        predicted = predicted || (fix->predicted && !fix->refused && fix->peak < d.found.peak);
    }
    assert_true(predicted);
}

static void what_is_no_metric_is_said(void **state)
{
    struct diagnosed d = begun(*state, NULL);
    struct str why;
    assert_false(told(&d, STR("m.yaml"), STR("mfuu: 40\n"), &why));
    assert_int_equal(why.n, 0);
    const struct diag *found = &d.facts->diags->items[d.facts->diags->n - 1];
    assert_str(found->rule, "unknown-key");
    assert_int_equal(found->at.line, 1);
    d = begun(*state, NULL); /* of a plan, not of a run */
    assert_false(told(&d, STR("m.yaml"), STR("tensor_model_parallel_size: 2\n"), &why));
    d = begun(*state, NULL);
    assert_false(told(&d, STR("m.yaml"), STR("- a list\n"), &why));
    assert_str(why, "m.yaml is neither a mapping of metrics, nor a training log, nor a trace");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(metrics_alone_name_the_wall),
    cmocka_unit_test(fixes_are_tried_on_the_plan),
    cmocka_unit_test(what_is_no_metric_is_said),
};
UNIT_MAIN(tests)
