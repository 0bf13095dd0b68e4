/* SPDX-License-Identifier: Apache-2.0 */
/* Single changes that make a plan fit, and measured runs near a plan. */
#include "round_plan.h"

#include "cost/evidence.h"
#include "cost/whatif.h"

/* ---- changes ---- */

static bool only_narrow_states(const struct config *c, void *context)
{
    (void)context;
    return c->knobs.exp_avg_bytes == 2;
}

/* bf16 gradients and moments; the main parameter as a remainder of the bf16 one, or, where that is
   FP8, whole. */
static void narrow_states_by_the_parameters_format(void **state)
{
    for (int fp8 = 0; fp8 < 2; fp8++) {
        struct config *c = round_plan(*state, "megatron", "", "");
        struct memory_change out[WHATIF_CHANGES];
        struct memory_estimate e;
        c->knobs.gbs = 8, c->knobs.seq = 128; /* the optimizer's step is the peak */
        c->knobs.fp8_param_gather = fp8;
        c->knobs.precision = fp8 ? PREC_FP8_TENSORWISE : PREC_BF16;
        assert_true(memory_estimate(c, &e, NULL));
        c->machine.capacity_bytes = 0.99 * e.peak_low;
        assert_int_equal(memory_cheapest_changes(c, only_narrow_states, NULL, out), 1);
        const struct knobs *k = &out[0].knobs;
        assert_true(k->grad_bytes == 2 && k->exp_avg_bytes == 2 && k->exp_avg_sq_bytes == 2);
        assert_int_equal(knobs_keeps_remainder(k), !fp8);
    }
}

static bool no_smaller(const struct config *c, void *context)
{
    struct memory_estimate e;
    return memory_estimate(c, &e, NULL) && e.peak >= *(double *)context;
}

/* A plan that may fit: what takes as much or more is no help, though it may fit too. */
static void a_change_frees_memory(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    struct memory_change out[WHATIF_CHANGES];
    struct memory_estimate e;
    assert_true(memory_estimate(c, &e, NULL));
    c->machine.capacity_bytes = 0.999 * e.peak_high;
    assert_true(memory_estimate(c, &e, NULL));
    assert_int_equal(e.fits, FITS_TIGHT);
    assert_int_equal(memory_cheapest_changes(c, no_smaller, &e.peak, out), 0);
    int n = memory_cheapest_changes(c, NULL, NULL, out);
    assert_true(n > 0);
    for (int i = 0; i < n; i++)
        assert_true(out[i].freed > 0);
}

/* ---- measured runs ---- */

static struct evidence evidence_of(struct config *c, enum precision precision)
{
    struct evidence out;
    c->knobs.precision = (uint8_t)precision;
    evidence_find(c, &out);
    return out;
}

/* Qwen3-30B-A3B on eight GB200 was measured in bf16 and in MXFP8: another narrow format is one step
   from the narrow run and two from the wide ones, and the other way round. */
static void formats_of_one_width_are_nearer(void **state)
{
    struct config *c = config_of(sized_plan(
        *state, "automodel", "model: qwen3-30b-a3b\nplatform: gb200\ngpus: 8\ngbs: 512\nmbs: 16",
        "ep: 8\nbackend_dispatcher: hybridep\nactivation_checkpointing: true\n"
        "strategy: fsdp2\n"));
    struct evidence same = evidence_of(c, PREC_MXFP8);
    assert_int_equal(same.grade, EVIDENCE_MEASURED);
    assert_true(same.nearest[0].distance < 1e-9);
    struct evidence other = evidence_of(c, PREC_FP8_TENSORWISE);
    assert_int_equal(other.grade, EVIDENCE_INTERPOLATED);
    assert_true(str_eq(other.nearest[0].id, same.nearest[0].id));
    assert_near(other.nearest[0].distance, 1, 1e-9);
    assert_near(other.nearest[1].distance, 2, 1e-9);
    struct evidence wide = evidence_of(c, PREC_FP16);
    assert_false(str_eq(wide.nearest[0].id, same.nearest[0].id));
    assert_near(wide.nearest[0].distance, 1, 1e-9);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(narrow_states_by_the_parameters_format),
    cmocka_unit_test(a_change_frees_memory),
    cmocka_unit_test(formats_of_one_width_are_nearer),
};
UNIT_MAIN(tests)
