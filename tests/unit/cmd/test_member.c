/* SPDX-License-Identifier: Apache-2.0 */
/* Requests are held to their tables: every member, kind and number. */
#include "cmd/member.h"
#include "facts/param_ids.h"

#include "unit/unit.h"

static const struct member members[] = {
    {"id", MEMBER_ANY, P_NONE},
    {"text", MEMBER_TEXT, P_NONE},
    {"gpus", MEMBER_NUMBER, P_world_size},
    {"top", MEMBER_NUMBER, P_NONE},
    {"options", MEMBER_MAP, P_NONE},
    {"forbid", MEMBER_TEXTS, P_NONE},
    {"short", MEMBER_FLAG, P_NONE},
    {.name = NULL},
};

static struct batch_request request_of(struct arena *a, const char *text, struct diags *diags)
{
    diags_init(diags, a);
    uint32_t source = source_add(&diags->sources, STR("-"), str_of(text));
    struct batch_request r = {.arena = a, .diags = diags};
    r.root = doc_load_json(a, diags, source);
    assert_non_null(r.root);
    return r;
}

static void what_the_table_knows_is_taken(void **state)
{
    static const char *const requests[] = {
        "{}",
        "{\"id\": [1], \"text\": \"x\", \"gpus\": 16777216, \"top\": 1, \"options\": {}}",
        "{\"text\": null, \"gpus\": null, \"options\": null, \"forbid\": null}",
        "{\"forbid\": \"a\"}",
        "{\"forbid\": [\"a\", \"b\"]}",
        "{\"forbid\": []}",
        "{\"short\": true}",
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct diags diags;
        struct batch_request r = request_of(*state, requests[i], &diags);
        struct str why = STR("");
        if (!members_check(&r, r.root, "", members, &why))
            fail_msg("%s: %.*s", requests[i], STR_ARG(why));
    }
}

static void all_else_is_an_error_that_names_it(void **state)
{
    static const char *const cases[][2] = {
        {"{\"gpu\": 1}", "there is no member options.gpu; did you mean gpus?"},
        {"{\"zzzzzzz\": 1}", "there is no member options.zzzzzzz"},
        {"{\"text\": 5}", "options.text must be a string, not 5"},
        {"{\"text\": true}", "options.text must be a string, not true"},
        {"{\"gpus\": \"8\"}", "options.gpus must be an integer, not \"8\""},
        {"{\"gpus\": 8.5}", "options.gpus must be an integer, not 8.5"},
        {"{\"gpus\": 0}", "options.gpus is 0; it must be at least 1"},
        {"{\"gpus\": 16777217}", "options.gpus is 16777217; it must be at most 16,777,216"},
        {"{\"top\": 0}", "options.top must be an integer of at least 1, not 0"},
        {"{\"options\": []}", "options.options must be an object, not []"},
        {"{\"short\": \"yes\"}", "options.short must be true or false, not \"yes\""},
        {"{\"forbid\": {}}", "options.forbid must be a string or a list of strings, not {}"},
        {"{\"forbid\": [1]}", "options.forbid must be a string or a list of strings, not [1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        struct batch_request r = request_of(*state, cases[i][0], &diags);
        struct str why;
        assert_false(members_check(&r, r.root, "options.", members, &why));
        assert_string_equal(why.p, cases[i][1]);
    }
}

static void checked_members_are_read(void **state)
{
    struct diags diags;
    struct batch_request r =
        request_of(*state, "{\"text\": \"x\", \"gpus\": 8, \"top\": null}", &diags);
    assert_str(member_text(r.root, "text"), "x");
    assert_str(member_text(r.root, "nothing"), "");
    assert_int_equal(member_number(&r, r.root, "gpus"), 8);
    assert_int_equal(member_number(&r, r.root, "top"), 0);
    r = request_of(*state, "{\"short\": true, \"top\": 1}", &diags);
    assert_true(member_true(&r, r.root, "short"));
    assert_false(member_true(&r, r.root, "top") || member_true(&r, r.root, "nothing"));
    assert_int_equal(member_number(&r, NULL, "gpus"), 0);
}

static void findings_say_the_file_they_are_in(void **state)
{
    struct diags diags;
    struct batch_request r = request_of(*state, "{\"a\": 1}", &diags);
    uint32_t file = source_add(&diags.sources, STR("p.yaml"), STR("x: 1\n"));
    struct span place = source_span(&diags.sources, file, 3, 4);
    struct diag *d = diag_add(&diags, SEVERITY_ERROR, "value-range", place, "x is 1");
    diag_help(&diags, d, "X.");
    assert_str(member_finding(&r, d), "p.yaml:1:4: x is 1 (X.)");
    d = diag_add(&diags, SEVERITY_ERROR, "value-range", node_span(&diags, r.root), "no file");
    assert_str(member_finding(&r, d), "no file");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_the_table_knows_is_taken),
    cmocka_unit_test(all_else_is_an_error_that_names_it),
    cmocka_unit_test(checked_members_are_read),
    cmocka_unit_test(findings_say_the_file_they_are_in),
};
UNIT_MAIN(tests)
