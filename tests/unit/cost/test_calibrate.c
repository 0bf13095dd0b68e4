/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration finds coefficients that made the measurements, and leaves alone what they do not
   touch. */
#include "unit/unit.h"

#include <math.h>

#include "cost/calibrate.h"
#include "cost/measured.h"
#include "facts/model.h"
#include "facts/platform.h"

static const struct config base = {.knobs = {.gpus = 1,
                                             .tp = 1,
                                             .pp = 1,
                                             .vpp = 1,
                                             .cp = 1,
                                             .ep = 1,
                                             .etp = 1,
                                             .mbs = 1,
                                             .gbs = 1,
                                             .seq = 4096,
                                             .precision = PREC_BF16}};

static struct machine h100(struct arena *a)
{
    struct machine m;
    struct diags diags;
    diags_init(&diags, a);
    struct facts *f = facts_new(a, &diags, FRAMEWORK_MEGATRON, STR("main@2026-08-22"));
    struct platform_cache cache = {.arena = a};
    platform_apply(f, platform_load(&cache, &diags, STR("h100"), (struct span){0}), ORIGIN_FILE);
    assert_true(config_machine(f, &m));
    return m;
}

static struct coefficient *coefficient_of(struct machine *m, const char *name)
{
    for (int i = 0; i < m->n_coefficients; i++)
        if (str_is(m->coefficients[i].name, name)) return &m->coefficients[i];
    fail_msg("no coefficient %s", name);
    return NULL;
}

static const struct fitted *fitted_of(const struct machine *m, const struct calibration *c,
                                      const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_is(m->coefficients[c->items[i].coefficient].name, name)) return &c->items[i];
    return NULL;
}

/* What the changed machine would measure on squares of several sizes. */
static size_t measure(const struct machine *m, struct observation *out)
{
    static const double sizes[] = {2048, 4096, 8192, 16384};
    size_t n = 0;
    for (; n < sizeof sizes / sizeof *sizes; n++) {
        out[n] = (struct observation){.kind = OBSERVED_KERNEL,
                                      .sd = 0.01,
                                      .kernel = {.op = STR("gemm"),
                                                 .dtype = STR("bf16"),
                                                 .m = sizes[n],
                                                 .n = sizes[n],
                                                 .k = sizes[n]}};
        out[n].measured = observation_predict(&out[n], m);
    }
    return n;
}

static void gemms_determine_the_gemm_rate(void **state)
{
    struct machine prior = h100(*state), own = prior;
    struct observation observations[8];
    struct calibration c;
    coefficient_of(&own, "gemm_bf16")->value *= 0.9;
    size_t n = measure(&own, observations);
    calibrate(*state, &prior, observations, n, &c);
    const struct fitted *rate = fitted_of(&prior, &c, "gemm_bf16");
    assert_true(rate != NULL);
    assert_true(fabs(rate->value / coefficient_of(&own, "gemm_bf16")->value - 1) < 0.02);
    assert_true(rate->learned > 0.8 && rate->n == (int)n);
    assert_true(rate->low < rate->value && rate->value < rate->high);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(observations[i].after / observations[i].measured - 1) <
                    fabs(observations[i].before / observations[i].measured - 1));
}

static void what_is_not_measured_stays(void **state)
{
    struct machine prior = h100(*state), own = prior;
    struct observation observations[8];
    struct calibration c;
    coefficient_of(&own, "gemm_bf16")->value *= 0.9;
    size_t n = measure(&own, observations);
    calibrate(*state, &prior, observations, n, &c);
    const struct fitted *nic = fitted_of(&prior, &c, "nic");
    assert_true(nic && nic->learned == 0 && nic->n == 0);
    assert_true(nic->value == coefficient_of(&prior, "nic")->value);
}

static void nothing_measured_changes_nothing(void **state)
{
    struct machine prior = h100(*state);
    struct calibration c;
    calibrate(*state, &prior, NULL, 0, &c);
    for (size_t i = 0; i < c.n; i++) {
        assert_true(c.items[i].learned == 0);
        assert_true(c.items[i].value == prior.coefficients[c.items[i].coefficient].value);
    }
}

static void a_weak_measurement_moves_little(void **state)
{
    struct machine prior = h100(*state), own = prior;
    struct observation observations[8];
    struct calibration c;
    coefficient_of(&own, "gemm_bf16")->value *= 0.8;
    measure(&own, observations);
    observations[0].sd = 10;
    calibrate(*state, &prior, observations, 1, &c);
    const struct fitted *rate = fitted_of(&prior, &c, "gemm_bf16");
    assert_true(rate->learned < 0.01);
    assert_true(fabs(rate->value / coefficient_of(&prior, "gemm_bf16")->value - 1) < 0.01);
}

/* Whole steps of Llama-3.1-8B on 8 GPUs, with none, half and all of the optimizer on the CPU: what
   they share is the model's, and what sets them apart is the CPU's. */
static void runs_determine_what_sets_them_apart(void **state)
{
    struct machine prior = h100(*state), own = prior;
    struct observation runs[3];
    struct calibration c;
    struct diags diags;
    diags_init(&diags, *state);
    struct facts *f = facts_new(*state, &diags, FRAMEWORK_MEGATRON, STR("main@2026-08-22"));
    model_apply(f, model_find(*state, STR("llama-3.1-8b")), ORIGIN_FILE);
    facts_derive(f);
    coefficient_of(&own, "cpu_memory_gb_per_s")->value *= 0.6;
    for (int i = 0; i < 3; i++) {
        struct config *run = ARENA_NEW(*state, struct config);
        *run = base;
        assert_true(config_model(f, &run->model, false));
        run->knobs.gpus = 8, run->knobs.gbs = 32, run->knobs.distributed_optimizer = true;
        run->knobs.optimizer_offload = i / 2.0;
        runs[i] = (struct observation){.kind = OBSERVED_STEP, .config = run, .sd = 0.01};
        runs[i].measured = observation_predict(&runs[i], &own);
    }
    calibrate(*state, &prior, runs, 3, &c);
    const struct fitted *rate = fitted_of(&prior, &c, "cpu_memory_gb_per_s");
    assert_true(rate->learned > 0.8 && rate->n == 2);
    assert_true(fabs(rate->value / coefficient_of(&own, "cpu_memory_gb_per_s")->value - 1) < 0.05);
    assert_true(fitted_of(&prior, &c, "p2p_start_s")->learned == 0);
}

/* Lists of shapes are written in the words in which rows of measurements are read. */
static void formats_are_written_as_they_are_read(void **state)
{
    static const enum precision low[] = {PREC_FP8_TENSORWISE, PREC_FP8_BLOCKWISE, PREC_MXFP8,
                                         PREC_NVFP4};
    (void)state;
    for (size_t i = 0; i < sizeof low / sizeof *low; i++)
        assert_int_equal(measured_precision(measured_dtype(low[i])), low[i]);
    assert_str(measured_dtype(PREC_FP8_DELAYED), "fp8");
    assert_int_equal(measured_precision(STR("fp8_delayed")), PREC_FP8_DELAYED);
    assert_int_equal(measured_precision(STR("bf16")), PREC_BF16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_written_as_they_are_read),
        cmocka_unit_test(gemms_determine_the_gemm_rate),
        cmocka_unit_test(what_is_not_measured_stays),
        cmocka_unit_test(nothing_measured_changes_nothing),
        cmocka_unit_test(a_weak_measurement_moves_little),
        cmocka_unit_test(runs_determine_what_sets_them_apart),
    };
    return cmocka_run_group_tests(tests, unit_open_arena, unit_close_arena);
}
