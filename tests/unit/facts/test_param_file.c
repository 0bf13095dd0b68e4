/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter files: what they hold, and what is no good in one. */
#include "facts/param_file.h"
#include "unit/unit.h"

static struct param_list read_list(struct arena *a, const char *text, struct diags *diags)
{
    struct param_list list = {0};
    struct node_list docs = {0};
    diags_init(diags, a);
    assert_true(doc_load(a, diags, source_add(&diags->sources, STR("x"), str_of(text)), &docs));
    param_file_read(a, diags, docs.items[0], &list);
    return list;
}

#define HEAD "moeplan: 1\nkind: Parameters\nparameters:\n  - name: x\n    doc: X.\n"

static void an_entry_holds_type_unit_and_range(void **state)
{
    struct diags diags;
    struct param_list list = read_list(
        *state,
        HEAD "    symbol: y\n    type: double\n    unit: GiB\n    exclusive_min: 0\n"
             "    max: 1.5\n    megatron: {flags: [--x, {flag: --no-x, action: store_false}]}\n",
        &diags);
    assert_int_equal(diags.n, 0);
    assert_int_equal(list.n, 1);
    const struct param *p = &list.items[0];
    assert_str(p->unit, "GiB");
    assert_int_equal(p->type, PARAM_DOUBLE);
    assert_true(p->range.has_min && p->range.above && p->range.has_max);
    assert_true(p->range.min == 0 && p->range.max == 1.5);
    assert_int_equal(p->in[FRAMEWORK_MEGATRON]->n_flags, 2);
    assert_false(p->in[FRAMEWORK_BRIDGE]->known);
}

static void mistakes_are_errors_at_their_line(void **state)
{
    static const struct {
        const char *text, *message;
        uint32_t line;
    } cases[] = {
        {HEAD "    typ: int\n", "unknown key", 6},
        {HEAD "    type: integer\n", "unknown word", 6},
        {HEAD "    type: int\n    min: few\n", "expected a number", 7},
        {HEAD "    type: int\n    max: .inf\n", "expected a number", 7},
        {HEAD "    type: int\n    min: 3\n    max: 2\n", "the range is empty", 4},
        {HEAD "    type: int\n    min: 3\n    exclusive_min: 2\n",
         "min and exclusive_min exclude each other", 4},
        {HEAD "    type: string\n    min: 3\n", "only numbers have a range", 4},
        {HEAD "    choices: a\n", "expected a list", 6},
        {HEAD "    unit: [a]\n", "expected a word", 6},
        {HEAD "    bridge: {key: a, inverse: maybe}\n", "expected true or false", 6},
        {HEAD "    bridge: a.b\n", "expected a mapping", 6},
        {HEAD "    megatron: {flags: [x]}\n", "a flag begins with --", 6},
        {HEAD "    megatron: {flags: [{flag: --x, nargs: many}]}\n", "nargs is +, *, ? or a number",
         6},
        {"moeplan: 1\nkind: Parameters\nparameters:\n  - name: x\n",
         "a parameter needs a name and a doc", 4},
        {"moeplan: 1\nkind: Parameters\nparameters: 3\n", "expected a list", 3},
        {"moeplan: 1\nkind: Parameters\n",
         "a parameter file has kind: Parameters and a list of parameters", 1},
        {"- 1\n", "expected a mapping", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        read_list(*state, cases[i].text, &diags);
        if (diags.n != 1) fail_msg("%zu errors in %s", diags.n, cases[i].text);
        assert_true(str_is(diags.items[0].rule, "parameter-file"));
        assert_string_equal(str_dup(*state, diags.items[0].message).p, cases[i].message);
        assert_int_equal(diags.items[0].at.line, cases[i].line);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_entry_holds_type_unit_and_range),
    cmocka_unit_test(mistakes_are_errors_at_their_line),
};
UNIT_MAIN(tests)
