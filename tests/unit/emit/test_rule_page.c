/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of rules as a user writes them, and which of them a page shows. */
#include "unit/unit.h"

#include "emit/example_words.h"
#include "emit/rule_page.h"

static const struct rule *load(struct arena *a, const char *frameworks, const char *examples,
                               struct rule_set *set)
{
    struct diags diags;
    struct str text = arena_printf(
        a,
        "moeplan: 1\nkind: Rules\nframeworks: [%s]\nrules:\n- id: r\n  severity: error\n"
        "  message: m\n  matchConditions: [plan.ep > 1]\n  rule: plan.gpus %% plan.ep == 0\n"
        "  examples: %s\n",
        frameworks, examples);
    diags_init(&diags, a);
    assert_true(
        rules_load_text(a, &diags, source_add(&diags.sources, STR("r.yaml"), text), NULL, set));
    return set->items[set->n - 1];
}

static void bare_facts_are_spelled_by_framework(void **state)
{
    static const struct {
        const char *framework, *facts, *words;
    } cases[] = {
        {"megatron", "{ep: 3, moe_grouped_gemm: true, gpus: 8}",
         "--expert-model-parallel-size 3 --moe-grouped-gemm\n# with world_size 8"},
        {"megatron", "{ep: 3, sequence_parallel: false, raw: {--spec: [a, b]}, env: {A: 1}}",
         "--spec a b --expert-model-parallel-size 3\n# with no --sequence-parallel, A = 1"},
        {"megatron", "{ep: 3, raw: {dp: 4}}", "dp: 4\nexpert_model_parallel_size: 3"},
        {"bridge", "{ep: 3, raw: {dataset: {seq_length: 2}}}",
         "dataset.seq_length=2\nmodel.expert_model_parallel_size=3"},
        {"automodel", "{ep: 3, raw: {distributed: {}, model: {}}, recipe_kind: kd}",
         "distributed:\n  ep_size: 3\n"
         "recipe: KnowledgeDistillationRecipeForNextTokenPrediction\nmodel: {}"},
        {"automodel", "{yaml: \"distributed:\\n  ep_size: 3\", gpus: 8}",
         "distributed:\n  ep_size: 3\n# with world_size 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rule_set set;
        struct str list = arena_printf(*state, "{bad: [%s]}", cases[i].facts);
        const struct rule *r = load(*state, cases[i].framework, list.p, &set);
        assert_string_equal(example_words(*state, r, &r->examples[0]).p, cases[i].words);
    }
}

static void a_page_shows_the_simplest_and_what_is_near_it(void **state)
{
    struct rule_set set;
    struct arena *scratch = arena_new(0);
    struct buf out = buf_new(*state);
    const struct rule *r =
        load(*state, "megatron",
             "{bad: [{ep: 3, gpus: 8, tp: 2}, {gpus: -1, ep: 5}, {ep: 7, gpus: 8}],"
             " good: [{gpus: 8, ep: 1}, {ep: 2, gpus: 8, tp: 4}, {ep: 4, gpus: 8}]}",
             &set);
    rule_page(r, &set, scratch, &out);
    struct str page = buf_str(&out);
    struct str wrong = STR("## Wrong\n\n    --expert-model-parallel-size 7\n"),
               right = STR("## Right\n\n    --expert-model-parallel-size 4\n");
    assert_true(str_find_str(page, wrong) < page.n);
    assert_true(str_find_str(page, right) < page.n);
    arena_free(scratch);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bare_facts_are_spelled_by_framework),
    cmocka_unit_test(a_page_shows_the_simplest_and_what_is_near_it),
};
UNIT_MAIN(tests)
