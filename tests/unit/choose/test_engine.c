/* SPDX-License-Identifier: Apache-2.0 */
/* What an inference engine holds, by hand. */
#include "choose/engine.h"

#include "base/units.h"
#include "plan/ops.h"
#include "unit/plan_text.h"

static const struct model_shape *shape_of(struct arena *a, const char *model)
{
    struct str size = arena_printf(a, "model: %s\nplatform: h100\ngpus: 8\ngbs: 64\nmbs: 1", model);
    return &config_of(sized_plan(a, "megatron", size.p, ""))->model;
}

/* Qwen3-30B-A3B: 48 layers, 4 KV heads of 128, keys and values of 2 bytes: 98,304 bytes a token; of
   each of 8 GPUs one head, a quarter of that. */
static void heads_are_spread(void **state)
{
    const struct model_shape *m = shape_of(*state, "qwen3-30b-a3b");
    static const struct {
        int tp;
        double bytes;
    } cases[] = {{1, 98304}, {2, 49152}, {4, 24576}, {8, 24576}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct engine_wish w = {.tp = cases[i].tp, .sequences = 10, .context = 1000};
        struct engine_need n = engine_need_of(m, &w);
        assert_true(n.a_sequence == 1000 * cases[i].bytes);
        assert_true(n.weights == 2 * (double)model_params(m).total / cases[i].tp);
        assert_true(n.total == n.weights + n.buffers + 10 * n.a_sequence);
        assert_true(n.buffers == ENGINE_BUFFERS_GIB * GIB);
    }
}

/* DeepSeek-V3: 61 layers keep a latent of 512 and 64 position elements, on every GPU. */
static void a_latent_is_on_all(void **state)
{
    const struct model_shape *m = shape_of(*state, "deepseek-v3");
    for (int tp = 1; tp <= 16; tp *= 4) {
        struct engine_wish w = {.tp = tp, .sequences = 1, .context = 100};
        assert_true(engine_need_of(m, &w).a_sequence == 61 * 100 * 2.0 * (512 + 64));
    }
}

/* gpt-oss-20b: 12 of 24 layers see 128 tokens alone; 8 KV heads of 64. */
static void a_window_holds_what_it_sees(void **state)
{
    const struct model_shape *m = shape_of(*state, "gpt-oss-20b");
    struct engine_wish w = {.tp = 1, .sequences = 1, .context = 4096};
    double layer = 2.0 * 8 * (64 + 64);
    assert_true(engine_need_of(m, &w).a_sequence == 12 * layer * 4096 + 12 * layer * 128);
}

static void what_has_room_is_counted(void **state)
{
    const struct engine_need n = {.weights = 10 * GIB, .buffers = 3 * GIB, .a_sequence = GIB / 2};
    (void)state;
    assert_int_equal(engine_sequences(&n, 20 * GIB), 14);
    assert_int_equal(engine_sequences(&n, 13.4 * GIB), 0);
    assert_int_equal(engine_sequences(&n, 5 * GIB), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(heads_are_spread),
    cmocka_unit_test(a_latent_is_on_all),
    cmocka_unit_test(a_window_holds_what_it_sees),
    cmocka_unit_test(what_has_room_is_counted),
};

UNIT_MAIN(tests)
