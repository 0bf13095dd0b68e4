/* SPDX-License-Identifier: Apache-2.0 */
/* Public recipes on their own questions and on others. */
#include "choose/planner.h"
#include "choose/playbook.h"
#include "facts/param_ids.h"
#include "unit/plan_text.h"

/* What somebody asks who has the recipe's model and machines, and a batch that divides. */
static struct facts *question_of(struct arena *a, const struct playbook_recipe *r, const char *more)
{
    struct str text = arena_printf(
        a,
        "moeplan: 1\nframework: %s\nmodel: %.*s\nplatform: %.*s\ngpus: %lld\ntask: %.*s\n"
        "precision: %.*s\nseq: 4096\ngbs: %lld\ncross_entropy_loss_fusion: false\n%s",
        framework_name(r->framework), STR_ARG(r->model), STR_ARG(r->platform), (long long)r->gpus,
        STR_ARG(r->task), STR_ARG(r->precision), (long long)(192 * r->gpus), more);
    return text_facts(a, "plan", text);
}

/* The recipe among the candidates of a question; NULL: it is none. */
static const struct playbook_candidate *candidate_of(struct facts *f, const struct config *base,
                                                     const struct playbook_recipe *r)
{
    struct playbook_candidate *all;
    size_t n = playbook_candidates(f->arena, f, base, &all);
    for (size_t i = 0; i < n; i++)
        if (all[i].recipe == r) return &all[i];
    return NULL;
}

/* The first rule that refuses it as a finished plan; empty: none does. */
static struct str refused_by(const struct facts *question, const struct config *base,
                             const struct knobs *k, struct arena *scratch)
{
    struct config c = *base;
    struct layout slot;
    struct facts *f = facts_copy(question->arena, question);
    c.knobs = *k;
    if (!search_divide(&c, &slot)) return STR("no layout");
    config_to_facts(&c, f);
    planner_complete(rules_builtin(), f, scratch);
    facts_derive(f);
    rules_apply_overrides(rules_builtin(), f, scratch);
    const struct rule *failed = rules_first_error(rules_builtin(), f, scratch);
    return failed ? failed->id : STR("");
}

static void check_recipe(struct arena *a, const struct playbook_recipe *r, struct arena *scratch)
{
    struct facts *f = question_of(a, r, "");
    struct config *base = config_of(f);
    base->knobs.cp_comm = CP_NEEDED; /* as a question leaves it */
    const struct playbook_candidate *found = candidate_of(f, base, r);
    if (!found) fail_msg("%.*s is no candidate of its own question", STR_ARG(r->name));
    assert_int_equal(found->knobs.gpus, r->gpus);
    assert_int_equal(found->knobs.gbs, base->knobs.gbs);
    assert_int_equal(found->knobs.seq, base->knobs.seq);
    struct str rule = refused_by(f, base, &found->knobs, scratch);
    if (!str_eq(rule, r->refused))
        fail_msg("%.*s: refused by %.*s, listed as %.*s", STR_ARG(r->name), STR_ARG(rule),
                 STR_ARG(r->refused));
}

/* The rules allow it, or it is listed which does not. */
static void each_is_a_candidate_of_its_own_question(void **state)
{
    struct arena *scratch = arena_new(0);
    assert_true(playbook_recipe_count > 200);
    for (size_t i = 0; i < playbook_recipe_count; i++) {
        struct arena_mark mark = arena_mark(*state);
        check_recipe(*state, &playbook_recipes[i], scratch);
        arena_pop(*state, mark);
    }
    arena_free(scratch);
}

static const struct playbook_recipe *recipe_named(const char *name)
{
    for (size_t i = 0; i < playbook_recipe_count; i++)
        if (str_is(playbook_recipes[i].name, name)) return &playbook_recipes[i];
    fail_msg("no recipe %s", name);
    return NULL;
}

static bool is_candidate(struct facts *f, const struct playbook_recipe *r)
{
    return candidate_of(f, config_of(f), r) != NULL;
}

/* TP 1, EP 8, HybridEP. */
static const char example[] = "qwen3_30b_a3b_pretrain_8gpu_gb300_bf16_config";

/* Offload and narrow gradients are knobs that no parameter names alone. */
static void what_a_recipe_decides_in_other_words_is_taken(void **state)
{
    const struct playbook_recipe *r = recipe_named("deepseek_v3_h100_256gpu_fp8_blockwise");
    struct facts *f = question_of(*state, r, "");
    struct config *base = config_of(f);
    const struct knobs *k = &candidate_of(f, base, r)->knobs;
    assert_true(base->knobs.optimizer_offload <= 0 && k->optimizer_offload >= 1);
    assert_int_equal(k->recompute, RECOMPUTE_SELECTIVE);
    assert_int_equal(k->recompute_modules, MOD_MLA_UP_PROJ | MOD_MOE | MOD_MLP | MOD_LAYERNORM);
    r = recipe_named("qwen3_30b_a3b_pretrain_8gpu_gb300_fp8mx_config");
    f = question_of(*state, r, "");
    base = config_of(f);
    k = &candidate_of(f, base, r)->knobs;
    assert_true(base->knobs.grad_bytes == 4 && k->grad_bytes == 2);
    assert_true(k->fp8_param_gather);
}

static void what_the_user_sets_wins(void **state)
{
    const struct playbook_recipe *r = recipe_named(example);
    assert_true(is_candidate(question_of(*state, r, "ep: 8\n"), r));
    assert_false(is_candidate(question_of(*state, r, "ep: 4\n"), r));
    assert_false(is_candidate(question_of(*state, r, "moe_flex_dispatcher_backend: deepep\n"), r));
    struct facts *f = question_of(*state, r, "moe_shared_expert_overlap: true\n");
    assert_false(is_candidate(f, r));
    f = question_of(*state, r, "offload_optimizer_states: true\n"); /* it says nothing of them */
    assert_true(candidate_of(f, config_of(f), r)->knobs.offload_optimizer_states);
}

static struct facts *changed(struct arena *a, struct playbook_recipe of)
{
    return question_of(a, &of, "");
}

static void other_questions_have_other_recipes(void **state)
{
    const struct playbook_recipe *r = recipe_named(example);
    struct playbook_recipe other = *r;
    other.framework = FRAMEWORK_MEGATRON;
    assert_true(is_candidate(changed(*state, other), r)); /* Megatron-core as well */
    other.framework = FRAMEWORK_AUTOMODEL;
    assert_false(is_candidate(changed(*state, other), r));
    other = *r;
    other.gpus = 16;
    assert_false(is_candidate(changed(*state, other), r));
    other = *r;
    other.platform = STR("gb200");
    assert_false(is_candidate(changed(*state, other), r));
    other = *r;
    other.precision = STR("mxfp8");
    assert_false(is_candidate(changed(*state, other), r));
    other = *r;
    other.task = STR("sft");
    assert_false(is_candidate(changed(*state, other), r));
    other = *r;
    other.model = STR("gpt-oss-20b");
    assert_false(is_candidate(changed(*state, other), r));
}

/* A name says nothing: the same sizes under another are the model, other sizes under it are not. */
static void a_model_is_told_by_its_shape(void **state)
{
    static const char shape[] =
        "model: {name: mine, num_layers: %d, hidden_size: 2048, num_attention_heads: 32, "
        "num_query_groups: 4, kv_channels: 128, ffn_hidden_size: 6144, vocab_size: 151936, "
        "gated_linear_unit: true, untie_embeddings_and_output_weights: true, num_moe_experts: 128, "
        "moe_router_topk: 8, moe_ffn_hidden_size: 768}\n";
    const struct playbook_recipe *r = recipe_named(example);
    for (int layers = 48; layers >= 47; layers--) {
        struct str model = arena_printf(*state, shape, layers);
        struct str text = arena_printf(
            *state,
            "moeplan: 1\nframework: megatron\nplatform: gb300\ngpus: 8\ntask: pretrain\n"
            "precision: bf16\nseq: 4096\ngbs: 512\n%.*s",
            STR_ARG(model));
        assert_int_equal(is_candidate(text_facts(*state, "plan", text), r), layers == 48);
    }
}

static void a_near_one_is_named(void **state)
{
    const struct playbook_recipe *r = recipe_named(example);
    struct facts *f = question_of(*state, r, "");
    struct config *base = config_of(f);
    base->machine.capacity_bytes *= 2; /* whether it fits is not asked here */
    struct contender plans[2] = {{.knobs = base->knobs}, {.knobs = base->knobs}};
    plans[1].knobs = candidate_of(f, base, r)->knobs;
    plans[0].knobs.ep = 2;
    struct playbook_candidate *all;
    size_t count = playbook_candidates(*state, f, base, &all);
    struct str said = playbook_name(*state, all, count, base, plans, 2);
    assert_true(str_starts(said, STR("qwen3_30b_a3b_pretrain_8gpu_gb300_bf16_config")));
    assert_true(str_ends(said, STR("has the layout of plan 2")));
    plans[0].step_s = 1e-3; /* nothing is as fast */
    assert_str(playbook_name(*state, all, count, base, plans, 1), "");
    plans[0].step_s = 1e3;
    assert_true(str_ends(playbook_name(*state, all, count, base, plans, 1), STR(" % faster")));
    assert_str(playbook_name(*state, all, count, base, plans, 0), "");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_is_a_candidate_of_its_own_question),
    cmocka_unit_test(what_a_recipe_decides_in_other_words_is_taken),
    cmocka_unit_test(what_the_user_sets_wins),
    cmocka_unit_test(other_questions_have_other_recipes),
    cmocka_unit_test(a_model_is_told_by_its_shape),
    cmocka_unit_test(a_near_one_is_named),
};
UNIT_MAIN(tests)
