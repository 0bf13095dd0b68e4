/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/param_ids.h"
#include "rule_files.h"

#include "base/buf.h"

#define RECORD(body)                                                                               \
    RULE_FILE "rules:\n- id: some-rule\n  severity: error\n  message: it is wrong\n" body

static void mistakes_are_told_at_their_place(void **state)
{
    static const struct {
        const char *text;
        uint32_t line;
        const char *message, *help;
    } cases[] = {
        {"moeplan: 1\nkind: Rulez\n", 2, "unknown kind Rulez",
         "did you mean Rules? one of Rules, Parameters, Model, Platform"},
        {"moeplan: 1\nkind: Bogus\n", 2, "unknown kind Bogus",
         "one of Rules, Parameters, Model, Platform"},
        {"kind: Rules\n", 1, "a rule file begins with moeplan: 1 and kind: Rules", ""},
        {RULE_FILE "rule: []\n", 3, "unknown key rule", "did you mean rules?"},
        {RULE_FILE "rules: {}\n", 3, "rules must be a list", ""},
        {RULE_FILE "frameworks: [nemo]\n", 3, "a framework is megatron, bridge or automodel", ""},
        {RULE_FILE "frameworks: {megatron: '~0.12'}\n", 3,
         "a version range is *, >=A, <B or >=A,<B", ""},
        {RULE_FILE "frameworks: {megatron: '>=0.16 <0.18'}\n", 3,
         "a version range is *, >=A, <B or >=A,<B", ""},
        {RULE_FILE "frameworks: {megatron: '<=0.18'}\n", 3,
         "a version range is *, >=A, <B or >=A,<B", ""},
        {RULE_FILE "rules:\n- severity: error\n  message: m\n  rule: 'true'\n", 4,
         "the record has no id", ""},
        {RECORD(""), 4, "the record has no rule", ""},
        {RECORD("  rule: 'true'\n  set: {tp: '1'}\n"), 8, "a rule has no key set", ""},
        {RECORD("  rule: 'true'\n  massage: m\n"), 8, "unknown key massage",
         "did you mean message?"},
        {RECORD("  rule: plan.tp + 1\n"), 7, "the expression must be a bool, is a int", ""},
        {RECORD("  rule: 'true'\n  parameter: tensor_model_parallel_sise\n"), 8,
         "unknown parameter tensor_model_parallel_sise",
         "did you mean tensor_model_parallel_size?"},
        {RECORD("  rule: 'true'\n  confidence: 2\n"), 8, "confidence is a number from 0 to 1", ""},
        {RECORD("  rule: 'true'\n  phase: scal\n"), 8, "unknown phase scal", "did you mean scale?"},
        {RECORD("  rule: 'true'\n  examples: {good: [{tq: 1}]}\n"), 8, "unknown parameter tq",
         NULL},
        {RECORD("  rule: 'true'\n  examples: {good: [tp]}\n"), 8,
         "an example is a mapping of parameters to values", ""},
        {RECORD(
             "  rule: 'true'\n- id: some-rule\n  severity: info\n  message: m\n  rule: 'true'\n"),
         8, "the id some-rule is taken", ""},
        {RECORD("  rule: 'true'\n  matchConditions: plan.tp > 1\n"), 8,
         "matchConditions must be a list of expressions", ""},
        {RECORD("  check: native\n  rule: 'true'\n"), 8, "a native record has no key rule", ""},
        {RULE_FILE "overrides:\n- id: x\n", 4, "the record has no set", ""},
        {RULE_FILE "variables: [{name: a}]\n", 3,
         "a variable is a mapping with name and expression", ""},
    };
    struct arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        struct rule_set set;
        assert_false(load_text(a, &diags, cases[i].text, NULL, &set));
        assert_int_equal(diags.n, 1);
        assert_string_equal(diags.items[0].message.p, cases[i].message);
        assert_int_equal(diags.items[0].at.line, cases[i].line);
        assert_string_equal(diags.items[0].rule.p, "rule-file");
        if (cases[i].help) assert_int_equal(str_is(diags.items[0].help, cases[i].help), true);
    }
}

static void typo_in_expression_is_told_at_its_column(void **state)
{
    struct diags diags;
    struct rule_set set;
    assert_false(load_text(*state, &diags,
                           RECORD("  rule: \"plan.tp * plan.contxt_parallel_size == 1\"\n"), NULL,
                           &set));
    assert_int_equal(diags.n, 1);
    assert_string_equal(diags.items[0].rule.p, "expression");
    assert_int_equal(diags.items[0].at.line, 7);
    assert_true(diags.items[0].at.column > 15);
    assert_int_equal(set.n, 0);
}

static void all_keys_arrive(void **state)
{
    struct rule_set set = load_good(
        *state, RULE_FILE
        "frameworks: [megatron, bridge]\n"
        "variables:\n- {name: world, expression: plan.gpus}\n- {name: twice, expression: world * "
        "2}\n"
        "guides:\n- {id: S1.6, text: Keep the hot communication inside the node.}\n"
        "overrides:\n- id: an-override\n  matchConditions: ['plan.tp == 1']\n"
        "  set: {sequence_parallel: 'false'}\n"
        "rules:\n- id: a-rule\n  severity: info\n  frameworks: {megatron: '>=0.12,<0.16'}\n"
        "  matchConditions:\n  - {name: parallel, expression: plan.tp == 1}\n  - plan.ep > 1\n"
        "  rule: twice % plan.ep == 0\n  message: ep {plan.ep}\n  parameter: ep\n"
        "  suggestion: divisors(world)\n  help: look up\n"
        "  fix: {set: {ep: '8'}, remove: [tp], safe: true}\n  why: |\n    Because.\n  covers: "
        "[megatron:A, "
        "megatron:B]\n"
        "  guide: S1.6\n  error: {type: ValueError, pattern: must be}\n  source: f.py:1\n"
        "  date: 2026-08-22\n  phase: scale\n  decides: {ep: '8'}\n  confidence: 0.5\n"
        "  examples: {good: [{ep: 8}], bad: [{ep: 7, tp: 1}]}\n");
    assert_int_equal(set.n, 2);
    assert_int_equal(set.n_guides, 1);
    assert_true(set.items[0]->role == ROLE_OVERRIDE);
    const struct rule *r = rules_find(&set, STR("a-rule"));
    assert_ptr_equal(r, set.items[1]);
    assert_str(expr_text(r->rule), "twice % plan.ep == 0");
    assert_int_equal(r->n_conditions, 2);
    assert_ptr_equal(r->conditions[0], set.items[0]->conditions[0]); /* equal conditions are one */
    assert_int_equal(set.n_conditions, 2);
    assert_str(r->in[FRAMEWORK_MEGATRON].from, "0.12");
    assert_str(r->in[FRAMEWORK_MEGATRON].to, "0.16");
    assert_false(r->in[FRAMEWORK_BRIDGE].applies);
    assert_true(set.items[0]->in[FRAMEWORK_BRIDGE].applies);
    assert_int_equal(r->parameter, P_expert_model_parallel_size);
    assert_int_equal(r->fix.set[0].param, r->parameter);
    assert_int_equal(r->fix.n_remove, 1);
    assert_true(r->fix.safe);
    assert_str(r->covers[1], "megatron:B");
    assert_str(r->guides[0], "S1.6");
    assert_str(r->why, "Because.");
    assert_str(r->error_pattern, "must be");
    assert_int_equal(r->phase, PHASE_SCALE);
    assert_int_equal(r->n_set, 1);
    assert_true(r->message_expression && r->suggestion && r->fix.n_set);
    assert_str(r->examples[1].facts, "{\"ep\":7,\"tp\":1}");
    assert_false(r->examples[1].good);
    assert_int_equal(set.lanes[FRAMEWORK_MEGATRON].n_checks, 1);
    assert_int_equal(set.lanes[FRAMEWORK_BRIDGE].n_checks, 0);
    assert_int_equal(set.lanes[FRAMEWORK_BRIDGE].n_overrides, 1);
    assert_int_equal(set.lanes[FRAMEWORK_MEGATRON].n_completions, 1);
    assert_int_equal(set.lanes[FRAMEWORK_BRIDGE].n_completions, 0); /* an override is none */
}

static void variables_are_read_in_all_forms(void **state)
{
    struct rule_set set =
        load_good(*state, RULE_FILE
                  "variables:\n  twice: plan.tp * 2\n"
                  "  tp: {expression: twice - plan.tp, doc: itself}\n"
                  "rules:\n- id: r\n  severity: info\n  message: m\n"
                  "  variables: [{name: own, expression: tp + 1}]\n"
                  "  rule: plan.tp == tp || \"tp\" == 'tp' || own > twice // tp\n"
                  "- {id: s, severity: info, message: m, variables: {own: tp}, rule: own > 1}\n");
    const struct expr_use *uses;
    const struct expr *e = set.items[0]->rule;
    assert_str(expr_text(e), "plan.tp == tp || \"tp\" == 'tp' || own > twice // tp");
    assert_int_equal(expr_variables(e, &uses), 3);
    assert_str(uses[0].name, "twice");
    assert_str(uses[1].text, "twice - plan.tp");
    assert_str(uses[1].doc, "itself");
    assert_str(uses[2].name, "own");
    const uint32_t *slots;
    assert_int_equal(expr_slots(e, &slots), 1);
    assert_int_equal(expr_variables(set.items[1]->rule, &uses), 3);
}

/* Files may name different things alike. */
static void equal_texts_of_other_variables_are_other_conditions(void **state)
{
    struct rule_set base = load_good(*state, RULE_FILE "variables: {v: plan.tp > 1}\nrules:\n"
                                                       "- {id: a, severity: info, message: m, "
                                                       "matchConditions: [v], rule: 'true'}\n"),
                    set;
    struct diags diags;
    assert_true(load_text(*state, &diags,
                          RULE_FILE "variables: {v: plan.ep > 1}\nrules:\n"
                                    "- {id: b, severity: info, message: m, matchConditions: [v], "
                                    "rule: 'true'}\n",
                          &base, &set));
    assert_int_equal(set.n_conditions, 2);
    assert_ptr_not_equal(set.items[0]->conditions[0], set.items[1]->conditions[0]);
}

static void bad_variables_are_refused(void **state)
{
    static const struct {
        const char *variables, *message;
    } cases[] = {
        {"{a: b, b: a}", "b is used before it has a value: variables use those above them"},
        {"{a: a + 1}", "a is used before it has a value: variables use those above them"},
        {"[{name: a, expression: '1'}, {name: a, expression: '2'}]",
         "the variable a is there already"},
        {"{plan: '1'}", "plan cannot be the name of a variable: it has a meaning already"},
        {"{version: '1'}", "version cannot be the name of a variable: it has a meaning already"},
        {"{the-sum: '1'}", "the-sum cannot be the name of a variable: small letters, digits and _"},
        {"{x: plan.tp, y: '[1].map(x, x)'}", "x is a variable of the rules: take another name"},
        {"plan.tp", "variables must be a list of {name, expression}"},
        {"{a: {doc: nothing}}", "a variable is a mapping with name and expression"},
        {"{a: {expression: '1', dok: x}}", "unknown key dok"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        struct rule_set set;
        struct str text = arena_printf(*state, RULE_FILE "variables: %s\n", cases[i].variables);
        assert_false(load_text(*state, &diags, text.p, NULL, &set));
        assert_str(diags.items[0].message, cases[i].message);
        assert_int_equal(diags.items[0].at.line, 3);
    }
    struct diags diags;
    struct rule_set set;
    assert_false(load_text(*state, &diags,
                           RULE_FILE "variables: {a: plan.tp}\nrules:\n- id: r\n  severity: info\n"
                                     "  message: m\n  variables: {a: plan.ep}\n  rule: a > 1\n",
                           NULL, &set));
    assert_str(diags.items[0].message, "the variable a is there already");
    assert_int_equal(diags.items[0].at.line, 8);
}

/* Each uses the one before twice: put in as text, the last would have 2^60 parts. */
static void variables_do_not_grow(void **state)
{
    struct arena *a = *state;
    for (int n = 60; n <= 70; n += 10) {
        struct buf text = buf_new(a);
        buf_add(&text, STR(RULE_FILE "variables:\n- {name: v0, expression: '1'}\n"));
        for (int i = 1; i < n; i++)
            buf_printf(&text, "- {name: v%d, expression: v%d * v%d}\n", i, i - 1, i - 1);
        buf_printf(&text, "rules: [{id: r, severity: info, message: m, rule: v%d == 1}]\n", n - 1);
        struct diags diags;
        struct rule_set set;
        assert_int_equal(load_text(a, &diags, buf_str(&text).p, NULL, &set), n == 60);
        if (n > 60)
            assert_str(diags.items[0].message, "the expression is too long with its variables");
        else
            assert_true(expr_eval(set.items[0]->rule, a, &(struct expr_scope){0}).b);
    }
}

static void messages_have_places(void **state)
{
    struct rule_set set =
        load_good(*state, RULE_FILE
                  "rules:\n- {id: a, severity: info, message: 'a {{} in it', rule: 'true'}\n"
                  "- id: b\n  severity: info\n  message: >-\n    tp {plan.tp}\n    alone\n"
                  "  rule: 'true'\n");
    assert_null(set.items[0]->message_expression);
    assert_str(set.items[0]->message, "a {} in it");
    assert_str(set.items[1]->message, "tp {plan.tp} alone");
    assert_non_null(set.items[1]->message_expression);
}

static void a_bad_place_is_told_at_its_column(void **state)
{
    struct diags diags;
    struct rule_set set;
    assert_false(load_text(*state, &diags,
                           RULE_FILE "rules:\n- id: r\n  severity: info\n  rule: 'true'\n"
                                     "  message: \"tp is {plan.tpp}\"\n",
                           NULL, &set));
    assert_str(diags.items[0].message, "unknown name plan.tpp");
    assert_int_equal(diags.items[0].at.line, 7);
    assert_int_equal(diags.items[0].at.column, 20);
    assert_false(load_text(*state, &diags,
                           RULE_FILE "rules: [{id: r, severity: info, check: native, "
                                     "message: 'tp {plan.tp}'}]\n",
                           NULL, &set));
    assert_str(diags.items[0].message, "the message of such a record has no places for values");
    assert_false(load_text(*state, &diags,
                           RULE_FILE "rules: [{id: r, severity: info, rule: 'true', "
                                     "message: 'always {1 / 0}'}]\n",
                           NULL, &set));
    assert_str(diags.items[0].message, "the message ends in an error: divide by zero");
}

static void sets_are_appended(void **state)
{
    struct arena *a = *state;
    struct rule_set base =
                        load_good(a, RECORD("  matchConditions: [plan.tp > 1]\n  rule: 'true'\n")),
                    set;
    struct diags diags;
    assert_true(load_text(a, &diags,
                          RULE_FILE
                          "rules:\n- id: second\n  severity: info\n  message: m\n"
                          "  matchConditions: [plan.ep > 1, plan.tp > 1]\n  rule: 'true'\n",
                          &base, &set));
    assert_int_equal(set.n, 2);
    assert_int_equal(set.n_conditions, 2);
    assert_ptr_equal(set.items[0], base.items[0]);
    assert_int_equal(set.items[1]->condition_numbers[0], 0); /* the shared one is looked at first */
    assert_false(load_text(a, &diags, RECORD("  rule: 'true'\n"), &base, &set));
    assert_str(diags.items[0].message, "the id some-rule is taken");
}

static void a_file_under_test_replaces_its_own_records(void **state)
{
    struct arena *a = *state;
    struct rule_set all = load_good(
        a, RULE_FILE "guides:\n- {id: G1, text: one}\n- {id: G2, text: two}\n"
                     "overrides:\n- {id: o, matchConditions: [plan.tp > 1], set: {ep: '1'}}\n"
                     "rules:\n- {id: a, severity: info, message: m, rule: plan.ep > 1}\n"
                     "- {id: b, severity: info, message: m, rule: plan.ep > 2}\n");
    struct rule_set own =
        load_good(a, RULE_FILE "guides: [{id: G2, text: new}]\nrules:\n"
                               "- {id: b, severity: info, message: m, rule: plan.ep > 3}\n");
    struct rule_set rest = rules_except(a, &all, &own);
    assert_int_equal(rest.n, 2);
    assert_null(rules_find(&rest, STR("b")));
    assert_int_equal(rest.lanes[FRAMEWORK_MEGATRON].n_checks, 1);
    assert_int_equal(rest.lanes[FRAMEWORK_MEGATRON].n_overrides, 1);
    assert_ptr_equal(rest.items[rest.lanes[FRAMEWORK_MEGATRON].checks[0]],
                     rules_find(&all, STR("a")));
    assert_int_equal(rest.n_guides, 1);
    assert_str(rest.guides[0].id, "G1");
    assert_str(rules_nearest(&all, STR("aa")), "a");
}

static void an_absent_folder_is_told(void **state)
{
    struct diags diags;
    struct rule_set set;
    diags_init(&diags, *state);
    assert_false(rules_load(*state, &diags, "/absent/rules", NULL, &set));
    assert_str(diags.items[0].message, "cannot be read: No such file or directory");
    assert_int_equal(set.n, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(mistakes_are_told_at_their_place),
    cmocka_unit_test(typo_in_expression_is_told_at_its_column),
    cmocka_unit_test(all_keys_arrive),
    cmocka_unit_test(variables_are_read_in_all_forms),
    cmocka_unit_test(equal_texts_of_other_variables_are_other_conditions),
    cmocka_unit_test(bad_variables_are_refused),
    cmocka_unit_test(variables_do_not_grow),
    cmocka_unit_test(messages_have_places),
    cmocka_unit_test(a_bad_place_is_told_at_its_column),
    cmocka_unit_test(sets_are_appended),
    cmocka_unit_test(a_file_under_test_replaces_its_own_records),
    cmocka_unit_test(an_absent_folder_is_told),
};
UNIT_MAIN(tests)
