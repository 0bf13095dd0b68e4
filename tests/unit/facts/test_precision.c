/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats by every name that a framework has for them. */
#include "facts/precision.h"
#include "facts_unit.h"

static struct facts *derived(struct arena *a, const char *framework, const char *line)
{
    struct str text = arena_printf(a, "moeplan: 1\nframework: %s\n%s\n", framework, line);
    struct facts *f = read_as(a, "plan", text.p, NULL);
    facts_derive(f);
    return f;
}

/* Bridge's recipes of mixed precision, and whether their parameters are gathered in FP8
   (megatron/bridge/training/mixed_precision.py). */
static void mixed_precision_recipes(void **state)
{
    static const struct {
        const char *name, *word, *gathered;
    } cases[] = {{"bf16_mixed", "bf16", "false"},
                 {"fp16_mixed", "fp16", "false"},
                 {"bf16_with_fp8_delayed_scaling_mixed", "fp8_delayed", "true"},
                 {"bf16_with_fp8_current_scaling_mixed", "fp8_tensorwise", "true"},
                 {"bf16_with_fp8_subchannel_scaling_mixed", "fp8_blockwise", "false"},
                 {"bf16_with_mxfp8_mixed", "mxfp8", "true"},
                 {"bf16_with_nvfp4_mixed", "nvfp4", "false"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str line = arena_printf(*state, "mixed_precision: %s", cases[i].name);
        struct facts *f = derived(*state, "bridge", line.p);
        assert_fact(f, "precision", cases[i].word);
        assert_fact(f, "fp8_param_gather", cases[i].gathered);
    }
}

/* Megatron-core's switches of each word. */
static void words_are_switches(void **state)
{
    static const struct {
        const char *word, *bf16, *fp16, *fp8, *recipe;
    } cases[] = {{"bf16", "true", "false", "null", NULL},
                 {"fp16", "false", "true", "null", NULL},
                 {"fp32", "false", "false", "null", NULL},
                 {"fp8_delayed", "true", "false", "hybrid", "delayed"},
                 {"fp8_tensorwise", "true", "false", "hybrid", "tensorwise"},
                 {"fp8_blockwise", "true", "false", "e4m3", "blockwise"},
                 {"mxfp8", "true", "false", "e4m3", "mxfp8"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str line = arena_printf(*state, "precision: %s", cases[i].word);
        struct facts *f = derived(*state, "megatron", line.p);
        assert_fact(f, "bf16", cases[i].bf16);
        assert_fact(f, "fp16", cases[i].fp16);
        assert_fact(f, "fp8", cases[i].fp8);
        if (cases[i].recipe) assert_fact(f, "fp8_recipe", cases[i].recipe);
    }
}

static void automodels_words(void **state)
{
    static const char *const cases[][2] = {{"backend_te_fp8_recipe: current", "fp8_tensorwise"},
                                           {"backend_te_fp8_recipe: block", "fp8_blockwise"},
                                           {"backend_te_fp8_recipe: mxfp8", "mxfp8"},
                                           {"torchao_fp8_enabled: true", "fp8_tensorwise"},
                                           {"mp_policy_param_dtype: float16", "fp16"},
                                           {"mp_policy_param_dtype: float32", "fp32"},
                                           {"mp_policy_param_dtype: bfloat16", "bf16"},
                                           {"ep: 1", "bf16"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fact(derived(*state, "automodel", cases[i][0]), "precision", cases[i][1]);
}

static void bridges_short_words(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"fp8_cs", "fp8_tensorwise"},
                                           {"fp8_sc", "fp8_blockwise"},
                                           {"fp8_mx", "mxfp8"},
                                           {"nvfp4", "nvfp4"},
                                           {"fp8", "fp8"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(str_is(precision_word(str_of(cases[i][0])), cases[i][1]));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(mixed_precision_recipes),
    cmocka_unit_test(words_are_switches),
    cmocka_unit_test(automodels_words),
    cmocka_unit_test(bridges_short_words),
};
UNIT_MAIN(tests)
