/* SPDX-License-Identifier: Apache-2.0 */
#include "cost_unit.h"

#include "cost/whatif.h"

/* A 48-layer MoE model on 64 GPUs that needs more than `gib`. */
static struct config full_config(double gib)
{
    struct config c = {.framework = FRAMEWORK_MEGATRON, .machine_known = true};
    c.machine = (struct machine){.compute_capability = 9.0,
                                 .capacity_bytes = gib * GIB,
                                 .gpus_per_node = 8,
                                 .nvlink_domain = 8,
                                 .peak_bf16 = 989e12,
                                 .peak_fp8 = 1979e12,
                                 .hbm_bytes_per_s = 3.35e12,
                                 .nvlink_bytes_per_s = 450e9,
                                 .nic_bytes_per_s = 50e9,
                                 .pcie_bytes_per_s = 64e9};
    c.model = (struct model_shape){.num_layers = 48,
                                   .hidden = 2048,
                                   .heads = 32,
                                   .groups = 4,
                                   .head_dim = 128,
                                   .v_head_dim = 128,
                                   .gated = true,
                                   .vocab = 151936,
                                   .vocab_divisible_by = 128,
                                   .experts = 128,
                                   .topk = 8,
                                   .expert_ffn = 768,
                                   .n_kinds = 1,
                                   .kinds = {{MIXER_ATTENTION, FFN_MOE}}};
    c.knobs = unit_knobs(64, 1024);
    c.knobs.ep = 8, c.knobs.mbs = 4;
    return c;
}

static void changes_fit_and_come_cheapest_first(void **state)
{
    (void)state;
    struct config c = full_config(77);
    struct memory_estimate before, after;
    assert_true(memory_estimate(&c, &before, NULL));
    assert_int_equal(before.fits, FITS_NO);
    struct memory_change out[WHATIF_CHANGES];
    int n = memory_cheapest_changes(&c, NULL, NULL, out);
    assert_int_equal(n, WHATIF_CHANGES);
    for (int i = 0; i < n; i++) {
        struct config changed = c;
        changed.knobs = out[i].knobs;
        assert_true(memory_estimate(&changed, &after, NULL));
        assert_int_equal(after.fits, out[i].fits);
        assert_true(after.fits != FITS_NO);
        assert_true(after.peak == out[i].peak);
        assert_true(out[i].freed == before.peak - after.peak && out[i].freed > 0);
        if (i > 0 && out[i].fits == out[i - 1].fits)
            assert_true(out[i].slower >= out[i - 1].slower);
        if (i > 0) assert_true(out[i].fits >= out[i - 1].fits);
    }
}

static bool forbid_recompute(const struct config *c, void *context)
{
    ++*(int *)context;
    return c->knobs.recompute == RECOMPUTE_NONE;
}

static void the_caller_may_forbid_changes(void **state)
{
    (void)state;
    struct config c = full_config(77);
    struct memory_change out[WHATIF_CHANGES];
    int asked = 0, n = memory_cheapest_changes(&c, forbid_recompute, &asked, out);
    assert_true(asked > 0 && n > 0);
    for (int i = 0; i < n; i++)
        assert_int_equal(out[i].knobs.recompute, RECOMPUTE_NONE);
}

static void a_plan_that_fits_needs_no_change(void **state)
{
    (void)state;
    struct config c = full_config(700);
    struct memory_change out[WHATIF_CHANGES];
    assert_int_equal(memory_cheapest_changes(&c, NULL, NULL, out), 0);
}

static void no_single_change_helps_a_plan_far_too_large(void **state)
{
    (void)state;
    struct config c = full_config(1);
    struct memory_change out[WHATIF_CHANGES];
    assert_int_equal(memory_cheapest_changes(&c, NULL, NULL, out), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(changes_fit_and_come_cheapest_first),
    cmocka_unit_test(the_caller_may_forbid_changes),
    cmocka_unit_test(a_plan_that_fits_needs_no_change),
    cmocka_unit_test(no_single_change_helps_a_plan_far_too_large),
};
UNIT_MAIN(tests)
