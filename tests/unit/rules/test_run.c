/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/param_ids.h"
#include "rule_files.h"
#include "rules/spell.h"

static const char *const text =
    RULE_FILE "overrides:\n"
              "- id: sp-needs-tp\n  frameworks: [megatron]\n"
              "  matchConditions: [plan.sequence_parallel, plan.tp == 1]\n"
              "  set: {sequence_parallel: 'false'}\n"
              "  message: sequence_parallel is switched off because tp is 1\n"
              "rules:\n"
              "- id: ep-divides-experts\n  severity: error\n"
              "  matchConditions: [plan.ep > 1, 'plan.num_moe_experts != null']\n"
              "  rule: plan.num_moe_experts % plan.ep == 0\n"
              "  message: ep {plan.ep} does not divide {plan.num_moe_experts}\n"
              "  parameter: ep\n  suggestion: divisors(plan.num_moe_experts)\n"
              "  covers: [megatron:A]\n  source: f.py:1\n"
              "- id: sp-advised\n  severity: warning\n  matchConditions: [plan.ep > 1]\n"
              "  rule: plan.sequence_parallel\n  message: write sequence_parallel\n"
              "  fix: {set: {sequence_parallel: 'true'}}\n"
              "- id: broken\n  severity: error\n  frameworks: [bridge]\n  rule: 1 / (plan.tp - "
              "plan.tp) == 1\n"
              "  message: never seen\n";

struct setting {
    const char *name;
    struct value value;
};

static struct facts *facts_of(struct arena *a, enum framework framework,
                              const struct setting *settings, size_t n)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    diags_init(diags, a);
    struct facts *f = facts_new(a, diags, framework, STR("main@2026-08-22"));
    for (size_t i = 0; i < n; i++)
        facts_set(f, param_find(str_of(settings[i].name)), settings[i].value, ORIGIN_OPTION, NULL,
                  str_of(settings[i].name));
    return f;
}

static void a_failing_rule_is_explained(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct rule_set set = load_good(a, text);
    const struct setting settings[] = {{"ep", value_int(6)}, {"num_moe_experts", value_int(64)}};
    struct facts *f = facts_of(a, FRAMEWORK_MEGATRON, settings, 2);
    struct rules_summary sum = rules_run(&set, f, scratch);
    assert_int_equal(sum.evaluated, 2);
    assert_int_equal(sum.failed, 2);
    assert_int_equal(sum.broken + sum.skipped, 0);
    const struct diag *d = &f->diags->items[0];
    assert_str(d->rule, "ep-divides-experts");
    assert_str(d->message, "ep 6 does not divide 64");
    assert_str(d->parameter, "expert_model_parallel_size");
    assert_str(d->help, "nearest valid: 1, 2, 4, 8, 16, 32");
    assert_str(d->covers[0], "megatron:A");
    assert_str(d->source, "f.py:1");
    assert_true(d->notes.n >= 3);
    bool arithmetic = false, operand = false;
    for (size_t i = 0; i < d->notes.n; i++) {
        arithmetic =
            arithmetic || str_find_str(d->notes.items[i], STR("64 % 6")) < d->notes.items[i].n;
        operand = operand || str_starts(d->notes.items[i], STR("expert_model_parallel_size = 6: "));
    }
    assert_true(arithmetic && operand);
    assert_str(f->diags->items[1].fix, "sequence_parallel=true");
    assert_str(f->diags->items[1].help, "set sequence_parallel=true");
    arena_free(scratch);
}

static void false_wins_over_unknown_and_unknown_over_errors(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct rule_set set = load_good(a, text);
    const struct rule *r = rules_find(&set, STR("ep-divides-experts"));
    const struct setting dense[] = {{"ep", value_int(1)}, {"num_moe_experts", value_unknown()}};
    const struct setting open[] = {{"ep", value_int(6)}, {"num_moe_experts", value_unknown()}};
    assert_int_equal(rule_evaluate(r, facts_of(a, FRAMEWORK_MEGATRON, dense, 2), scratch),
                     OUTCOME_NOT_APPLICABLE);
    struct facts *f = facts_of(a, FRAMEWORK_MEGATRON, open, 2);
    assert_int_equal(rule_evaluate(r, f, scratch), OUTCOME_UNKNOWN);
    assert_int_equal(rules_run(&set, f, scratch).skipped, 1);
    f = facts_of(a, FRAMEWORK_BRIDGE, dense, 1);
    assert_int_equal(rule_evaluate(rules_find(&set, STR("broken")), f, scratch), OUTCOME_BROKEN);
    assert_int_equal(rules_run(&set, f, scratch).broken, 1);
    assert_null(rules_first_error(&set, f, scratch));
    arena_free(scratch);
}

static void overrides_replace_what_was_written(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct rule_set set = load_good(a, text);
    const struct setting settings[] = {
        {"tp", value_int(1)}, {"sequence_parallel", value_bool(true)}, {"ep", value_int(2)}};
    struct facts *f = facts_of(a, FRAMEWORK_MEGATRON, settings, 2);
    rules_apply_overrides(&set, f, scratch);
    const struct fact *fact = facts_get(f, P_sequence_parallel);
    assert_false(fact->value.b);
    assert_int_equal(fact->origin, ORIGIN_OVERRIDE);
    assert_str(fact->written, "sp-needs-tp");
    assert_int_equal(f->diags->n, 1);
    assert_str(f->diags->items[0].rule, "sp-needs-tp");
    assert_int_equal(f->diags->items[0].severity, SEVERITY_WARNING);

    f = facts_of(a, FRAMEWORK_AUTOMODEL, settings, 2); /* not its framework */
    rules_apply_overrides(&set, f, scratch);
    assert_int_equal(f->diags->n, 0);

    const struct setting open[] = {{"tp", value_unknown()},
                                   {"sequence_parallel", value_bool(true)}};
    f = facts_of(a, FRAMEWORK_MEGATRON, open, 2);
    rules_apply_overrides(&set, f, scratch);
    assert_false(fact_is_known(facts_get(f, P_sequence_parallel)));
    assert_int_equal(f->diags->n, 0);
    arena_free(scratch);
}

/* Whatever the search does to ep and sp, the subset finds what all rules find. */
static void subset_agrees_with_the_set(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct rule_set set = load_good(a, text);
    const struct setting model[] = {{"num_moe_experts", value_int(60)}, {"ep", value_int(4)}};
    int vary[] = {P_expert_model_parallel_size};
    struct facts *f = facts_of(a, FRAMEWORK_MEGATRON, model, 2);
    struct rule_subset subset = rules_varying(a, &set, f, vary, 1, scratch);
    assert_null(subset.failed);
    assert_int_equal(subset.n, 1);
    assert_int_equal(subset.steps[0].n_conditions, 1); /* the number of experts is settled */
    size_t failures = 0;
    for (int64_t ep = 1; ep <= 64; ep++) {
        const struct setting settings[] = {{"num_moe_experts", value_int(60)},
                                           {"ep", value_int(ep)}};
        f = facts_of(a, FRAMEWORK_MEGATRON, settings, 2);
        const struct rule *found = rule_subset_first_error(&subset, f, scratch);
        assert_ptr_equal(found, rules_first_error(&set, f, scratch));
        failures += found != NULL;
    }
    assert_int_equal(failures, 64 - 12); /* 60 has 12 divisors */
    subset = rules_varying(a, &set, facts_of(a, FRAMEWORK_MEGATRON, model, 2), vary, 0, scratch);
    assert_int_equal(subset.n, 0);
    arena_free(scratch);
}

static void a_record_without_document_points_at_nothing(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct rule_set set = load_good(a, text);
    const struct setting settings[] = {{"ep", value_int(2)}, {"num_moe_experts", value_int(3)}};
    struct facts *f = facts_of(a, FRAMEWORK_MEGATRON, settings, 2);
    rules_run(&set, f, scratch);
    assert_int_equal(f->diags->items[0].at.source, 0);
    assert_int_equal(f->diags->items[0].at.line, 0);
    arena_free(scratch);
}

/* The place is the parameter the rule names, else the first operand that is written, else the
 * document. */
static void a_finding_points_at_what_is_written(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct rule_set set = load_good(a, text);
    const struct setting none[] = {{"num_moe_experts", value_int(64)}};
    struct facts *f = facts_of(a, FRAMEWORK_MEGATRON, none, 1);
    struct node_list docs = {0};
    f->source =
        source_add(&f->diags->sources, STR("plan.yaml"), STR("# a plan\nexperts: 64\nep: 6\n"));
    assert_true(doc_load_yaml(a, f->diags, f->source, &docs));
    f->document = docs.items[0];
    const struct node *experts = node_get(f->document, STR("experts")),
                      *ep = node_get(f->document, STR("ep"));
    facts_set(f, P_expert_model_parallel_size, value_int(6), ORIGIN_FILE, ep, STR("ep"));
    rules_run(&set, f, scratch);
    assert_int_equal(f->diags->items[0].at.line, 3);
    assert_int_equal(f->diags->items[0].at.column, 5);
    assert_str(f->diags->items[1].rule, "sp-advised");
    assert_int_equal(f->diags->items[1].at.line, 3); /* its condition reads ep */

    f->diags->n = 0;
    facts_set(f, P_expert_model_parallel_size, value_int(6), ORIGIN_OPTION, NULL, STR("ep"));
    facts_set(f, P_num_moe_experts, value_int(64), ORIGIN_OPTION, experts, STR("experts"));
    rules_run(&set, f, scratch);
    assert_int_equal(f->diags->items[0].at.line, 2);

    f->diags->n = 0;
    facts_change(f, P_num_moe_experts)->node = NULL;
    rules_run(&set, f, scratch);
    assert_int_equal(f->diags->items[0].at.line, 2); /* where the document begins */
    assert_int_equal(f->diags->items[0].at.column, 1);
    arena_free(scratch);
}

static void a_message_that_cannot_be_worded_falls_back(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct rule_set set = load_good(
        a, RULE_FILE "rules:\n- id: r\n  severity: info\n  message: 'the plain {plan.tp > 0 ? "
                     "\"a\\nb\" : \"\"}'\n"
                     "  rule: plan.tp > 1\n  help: 'help {plan.tp / 0}'\n  suggestion: '[2, 4]'\n");
    const struct setting settings[] = {{"tp", value_int(1)}};
    struct facts *f = facts_of(a, FRAMEWORK_MEGATRON, settings, 1);
    rules_run(&set, f, scratch);
    assert_str(f->diags->items[0].message, "the plain {plan.tp > 0 ? \"a\\nb\" : \"\"}");
    assert_str(f->diags->items[0].help, "valid: 2, 4");
    arena_free(scratch);
}

static void helps_have_places(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct rule_set set = load_good(
        a, RULE_FILE "variables: [{name: wanted, expression: plan.tp * 2}]\n"
                     "rules:\n- id: r\n  severity: info\n  rule: plan.tp > wanted\n"
                     "  message: '{plan.tp} is not {wanted}'\n  help: 'take {wanted}, or {{1}'\n");
    const struct setting settings[] = {{"tp", value_int(4)}};
    struct facts *f = facts_of(a, FRAMEWORK_MEGATRON, settings, 1);
    rules_run(&set, f, scratch);
    assert_str(f->diags->items[0].message, "4 is not 8");
    assert_str(f->diags->items[0].help, "take 8, or {1}");
    arena_free(scratch);
}

static void native_records_describe_what_readers_found(void **state)
{
    struct arena *a = *state;
    struct rule_set set =
        load_good(a, RULE_FILE "rules:\n- id: unknown-key\n  severity: error\n  check: native\n"
                               "  message: m\n  help: h\n  covers: [automodel:D02]\n");
    struct diags found;
    diags_init(&found, a);
    diag_add(&found, SEVERITY_ERROR, "unknown-key", (struct span){0}, "found");
    diag_add(&found, SEVERITY_ERROR, "other", (struct span){0}, "found");
    rules_describe(&set, &found);
    assert_str(found.items[0].covers[0], "automodel:D02");
    assert_str(found.items[0].help, "h");
    assert_int_equal(found.items[1].n_covers, 0);
}

/* Where a help says that a flag goes, its value does not matter, up to the word that asks for
   another. */
static void helps_are_in_the_words_of_the_framework(void **state)
{
    struct facts *f = facts_of(*state, FRAMEWORK_BRIDGE, NULL, 0);
    assert_str(spell_flags(f, STR("write --sequence-parallel, or leave --sequence-parallel out and "
                                  "write --tensor-model-parallel-size 1")),
               "write model.sequence_parallel=true, or leave model.sequence_parallel out and write "
               "model.tensor_model_parallel_size=1");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(helps_are_in_the_words_of_the_framework),
    cmocka_unit_test(a_failing_rule_is_explained),
    cmocka_unit_test(false_wins_over_unknown_and_unknown_over_errors),
    cmocka_unit_test(overrides_replace_what_was_written),
    cmocka_unit_test(subset_agrees_with_the_set),
    cmocka_unit_test(a_finding_points_at_what_is_written),
    cmocka_unit_test(a_message_that_cannot_be_worded_falls_back),
    cmocka_unit_test(helps_have_places),
    cmocka_unit_test(native_records_describe_what_readers_found),
    cmocka_unit_test(a_record_without_document_points_at_nothing),
};
UNIT_MAIN(tests)
