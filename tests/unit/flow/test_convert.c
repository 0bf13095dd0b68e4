/* SPDX-License-Identifier: Apache-2.0 */
/* What a conversion carries, in which words, and what it names as lost. */
#include "facts/param_ids.h"
#include "flow/convert.h"
#include "unit/plan_text.h"

static struct conversion converted(const struct facts *f, enum framework to)
{
    struct arena *scratch = arena_new(0);
    struct conversion out;
    convert_facts(f->arena, rules_builtin(), f, to, true, scratch, &out);
    arena_free(scratch);
    return out;
}

static void dispatchers_in_the_others_words(void **state)
{
    static const struct {
        const char *body, *automodel;
    } cases[] = {
        {"ep: 8\nmoe_token_dispatcher_type: alltoall", "torch"},
        {"ep: 8\nmoe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: deepep", "deepep"},
        {"ep: 8\nmoe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: hybridep",
         "hybridep"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct facts *f = plan_facts(*state, "megatron", cases[i].body);
        struct conversion x = converted(f, FRAMEWORK_AUTOMODEL);
        assert_str(facts_str(x.facts, P_backend_dispatcher), cases[i].automodel);
        struct conversion back = converted(x.facts, FRAMEWORK_MEGATRON);
        bool flex = i > 0;
        assert_str(facts_str(back.facts, P_moe_token_dispatcher_type), flex ? "flex" : "alltoall");
        if (flex)
            assert_str(facts_str(back.facts, P_moe_flex_dispatcher_backend), cases[i].automodel);
    }
}

static void precisions_in_automodels_words(void **state)
{
    static const char *const cases[][3] = {{"fp8_tensorwise", "backend_te_fp8_recipe", "current"},
                                           {"fp8_blockwise", "backend_te_fp8_recipe", "block"},
                                           {"fp16", "mp_policy_param_dtype", "float16"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str body = arena_printf(*state, "precision: %s", cases[i][0]);
        struct conversion x =
            converted(plan_facts(*state, "megatron", body.p), FRAMEWORK_AUTOMODEL);
        assert_str(facts_str(x.facts, param_find(str_of(cases[i][1]))), cases[i][2]);
        struct conversion back = converted(x.facts, FRAMEWORK_MEGATRON);
        assert_str(facts_str(back.facts, P_precision), cases[i][0]);
    }
}

/* Where no layer is Transformer Engine's: torchao's for dense models, tensor by tensor, else none.
 */
static void precisions_of_other_layers(void **state)
{
    static const struct {
        const char *model, *precision;
        bool torchao;
    } cases[] = {{"qwen3-8b", "fp8_tensorwise", true},
                 {"qwen3-8b", "mxfp8", false},
                 {"mixtral-8x7b", "fp8_tensorwise", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str size = arena_printf(
            *state, "model: %s\nplatform: b200\ngpus: 8\ngbs: 64\nmbs: 1", cases[i].model);
        struct str body = arena_printf(*state, "precision: %s", cases[i].precision);
        struct conversion x =
            converted(sized_plan(*state, "megatron", size.p, body.p), FRAMEWORK_AUTOMODEL);
        bool lost = false;
        for (size_t k = 0; k < x.lost.n; k++)
            lost |= str_is(x.lost.items[k].name, "precision");
        assert_false(fact_is_set(facts_get(x.facts, P_backend_te_fp8_recipe)));
        assert_int_equal(facts_bool(x.facts, P_torchao_fp8_enabled, false), cases[i].torchao);
        assert_int_equal(lost, !cases[i].torchao);
    }
}

/* fsdp2 shards everything; with a pipeline Megatron has the distributed optimizer alone, and ddp
   has neither. */
static void strategies_in_megatrons_words(void **state)
{
    static const struct {
        const char *body;
        bool fsdp, optimizer;
    } cases[] = {{"strategy: fsdp2", true, true},
                 {"strategy: fsdp2\npp: 2\npp_microbatch_size: 1", false, true},
                 {"strategy: ddp", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conversion x =
            converted(plan_facts(*state, "automodel", cases[i].body), FRAMEWORK_MEGATRON);
        assert_int_equal(facts_bool(x.facts, P_use_megatron_fsdp, false), cases[i].fsdp);
        assert_int_equal(facts_bool(x.facts, P_use_distributed_optimizer, false),
                         cases[i].optimizer);
    }
}

/* A schedule of AutoModel's takes chunks of 48 layers, and a local batch of twice as many
   microbatches as stages: of the 16 that 64 sequences are on 8 / 2 ranks, four. */
static void pipelines_in_automodels_words(void **state)
{
    static const struct {
        const char *body, *schedule;
        int64_t layers;
    } cases[] = {{"ep: 4\npp: 2", "1f1b", 0}, {"ep: 4\npp: 2\nvpp: 3", "interleaved1f1b", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conversion x =
            converted(plan_facts(*state, "megatron", cases[i].body), FRAMEWORK_AUTOMODEL);
        assert_str(facts_str(x.facts, P_pp_schedule), cases[i].schedule);
        assert_int_equal(facts_int(x.facts, P_pp_layers_per_stage, 0), cases[i].layers);
        assert_int_equal(facts_int(x.facts, P_pp_microbatch_size, 0), 1);
        assert_int_equal(facts_int(x.facts, P_micro_batch_size, 0), 4);
    }
}

/* What a plan leaves open stays open: no framework's default is carried as if it had been said. */
static void what_is_open_stays_open(void **state)
{
    struct arena *scratch = arena_new(0);
    for (int from = 0; from < FRAMEWORK_COUNT; from++)
        for (int to = 0; to < FRAMEWORK_COUNT; to++) {
            struct facts *f = plan_facts(*state, framework_name((enum framework)from), "");
            struct conversion x;
            convert_facts(*state, rules_builtin(), f, (enum framework)to, false, scratch, &x);
            for (int i = 0; i < (int)param_count; i++) {
                bool open = rules_plans_silent(rules_builtin(), (enum framework)from, i);
                if (open && !fact_is_set(facts_get(f, i)) &&
                    facts_get(x.facts, i)->origin == ORIGIN_FILE)
                    fail_msg("%s to %s: %.*s", framework_name((enum framework)from),
                             framework_name((enum framework)to), STR_ARG(param_table[i].name));
            }
        }
    arena_free(scratch);
}

/* ---- what is lost ---- */

static bool loses(const struct conversion *x, const char *name)
{
    for (size_t i = 0; i < x->lost.n; i++)
        if (str_is(x->lost.items[i].name, name)) return x->lost.items[i].why.n > 0;
    return false;
}

static void what_has_no_counterpart_is_named(void **state)
{
    struct facts *f = text_facts(*state, "megatron",
                                 STR("--num-experts 8 --num-layers 4 --hidden-size 512 "
                                     "--num-attention-heads 8 --seq-length 1024 "
                                     "--micro-batch-size 1 --global-batch-size 64 "
                                     "--timing-log-level 2"));
    struct conversion x = converted(f, FRAMEWORK_AUTOMODEL);
    assert_true(loses(&x, "--timing-log-level"));
    assert_true(loses(&x, "--num-experts")); /* a model is named there, not described */
    assert_false(loses(&x, "--micro-batch-size"));
    x = converted(plan_facts(*state, "megatron", "tp: 2\netp: 2\nep: 2"), FRAMEWORK_AUTOMODEL);
    assert_true(loses(&x, "etp"));
    x = converted(plan_facts(*state, "megatron", "tp: 2\netp: 1\nep: 2"), FRAMEWORK_AUTOMODEL);
    assert_false(loses(&x, "etp")); /* one is nothing to lose */
}

/* A text that the target's framework refuses, with the place in it. */
/* What a spelling that is on its way out decides is said in today's words; one that does nothing is
   not missed. */
static void former_spellings_are_carried_as_what_they_decide(void **state)
{
    struct facts *f = text_facts(*state, "megatron",
                                 STR("--hybrid-override-pattern M*M- --use-mcore-models "
                                     "--use-rotary-position-embeddings --hidden-size 64 "
                                     "--num-attention-heads 4 --num-layers 4"));
    struct conversion x = converted(f, FRAMEWORK_MEGATRON);
    assert_str(facts_str(x.facts, P_hybrid_layer_pattern), "M*M-");
    assert_str(facts_str(x.facts, P_position_embedding_type), "rope");
    assert_false(fact_is_set(facts_get(x.facts, P_hybrid_override_pattern)));
    assert_false(fact_is_set(facts_get(x.facts, P_use_rotary_position_embeddings)));
    assert_int_equal(x.lost.n, 0);
}

/* The sizes of parts that a model has not would make it another one where they are read back. */
static void a_plan_gets_no_size_that_its_model_has_not(void **state)
{
    struct arena *scratch = arena_new(0);
    struct facts *f = text_facts(*state, "megatron",
                                 STR("--hidden-size 64 --num-attention-heads 4 --num-layers 4 "
                                     "--swiglu --vocab-size 128"));
    struct conversion x;
    convert_facts(f->arena, rules_builtin(), f, FRAMEWORK_MEGATRON, false, scratch, &x);
    arena_free(scratch);
    assert_false(fact_is_set(facts_get(x.facts, P_v_head_dim)));
    assert_false(fact_is_set(facts_get(x.facts, P_mamba_head_dim)));
    assert_true(fact_is_set(facts_get(x.facts, P_ffn_hidden_size)));
}

static void the_result_is_checked_as_its_framework_does(void **state)
{
    struct arena *scratch = arena_new(0);
    struct facts *f = plan_facts(*state, "megatron", "tp: 2\nsequence_parallel: true");
    struct diags found;
    static const char flags[] = "--num-layers 4 --hidden-size 512 --num-attention-heads 8 "
                                "--num-experts 8 --expert-model-parallel-size 3 "
                                "--seq-length 1024 --max-position-embeddings 1024 "
                                "--micro-batch-size 1 --global-batch-size 64 --bf16";
    diags_init(&found, *state);
    convert_check(*state, scratch, &found, rules_builtin(), f, false, str_of(flags));
    assert_true(diags_count(&found, SEVERITY_ERROR) > 0);
    assert_int_equal(found.items[0].at.line, 1);
    diags_init(&found, *state);
    convert_check(*state, scratch, &found, rules_builtin(), f, true,
                  STR("moeplan: 1\nframework: megatron\nmodel: qwen3-30b-a3b\nseq: 4096\n"
                      "gbs: 64\nmbs: 1\n"));
    assert_int_equal(diags_count(&found, SEVERITY_ERROR), 1);
    assert_str(found.items[0].rule, "memory-exceeds-gpu");
    diags_init(&found, *state);
    convert_check(*state, scratch, &found, rules_builtin(), f, true,
                  STR("moeplan: 1\nframework: megatron\nmodel: qwen3-30b-a3b\nseq: 4096\n"
                      "gbs: 64\nmbs: 1\nep: 8\nuse_distributed_optimizer: true\n"));
    assert_int_equal(diags_count(&found, SEVERITY_ERROR), 0);
    arena_free(scratch);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(dispatchers_in_the_others_words),
    cmocka_unit_test(precisions_in_automodels_words),
    cmocka_unit_test(precisions_of_other_layers),
    cmocka_unit_test(strategies_in_megatrons_words),
    cmocka_unit_test(pipelines_in_automodels_words),
    cmocka_unit_test(what_is_open_stays_open),
    cmocka_unit_test(what_has_no_counterpart_is_named),
    cmocka_unit_test(former_spellings_are_carried_as_what_they_decide),
    cmocka_unit_test(a_plan_gets_no_size_that_its_model_has_not),
    cmocka_unit_test(the_result_is_checked_as_its_framework_does),
};
UNIT_MAIN(tests)
