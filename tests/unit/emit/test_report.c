/* SPDX-License-Identifier: Apache-2.0 */
/* What validate writes for programs, read back by cJSON: an independent reader. */
#include "unit/unit.h"

#include <cjson/cJSON.h>

#include "emit/report_ci.h"

static struct file_report report(struct arena *a)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    diags_init(diags, a);
    uint32_t source = source_add(&diags->sources, STR("a,b:c.yaml"), STR("ep: 6\n"));
    struct diag *d =
        diag_add(diags, SEVERITY_ERROR, "some-rule", source_span(&diags->sources, source, 4, 5),
                 "50 %% of \"6\"\nare \x01 \xC3\xA9");
    diag_edit(diags, d, 4, 5, STR("8"));
    diag_note(diags, d, "first");
    diag_note(diags, d, "second");
    static const struct str covers[] = {{"megatron:M01", 12}};
    d->covers = covers;
    d->n_covers = 1;
    static const int64_t sizes[] = {8, 16};
    return (struct file_report){
        .path = STR("a,b:c.yaml"),
        .format = STR("plan"),
        .gpus = 0,
        .status = FILE_INVALID,
        .diags = diags,
        .rules_skipped = 3,
        .world = {.known = true, .multiple_of = 8, .up_to = 16, .sizes = sizes, .n = 2}};
}

static const cJSON *get(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_non_null(item);
    return item;
}

static void json_reads_back(void **state)
{
    struct file_report r = report(*state);
    struct buf out = buf_new(*state);
    report_json(&r, &out);
    cJSON *root = cJSON_ParseWithOpts(buf_str(&out).p, NULL, true);
    assert_non_null(root);
    assert_string_equal(get(root, "status")->valuestring, "invalid");
    assert_true(cJSON_IsNull(get(root, "gpus")));
    assert_true(cJSON_IsNull(get(root, "model")));
    assert_int_equal(get(root, "rules_skipped")->valueint, 3);
    assert_int_equal(cJSON_GetArraySize(get(get(root, "valid_gpus"), "sizes")), 2);
    const cJSON *d = cJSON_GetArrayItem(get(root, "diagnostics"), 0);
    assert_string_equal(get(d, "message")->valuestring, "50 % of \"6\"\nare \x01 \xC3\xA9");
    assert_int_equal(get(d, "line")->valueint, 1);
    assert_int_equal(get(d, "column")->valueint, 5);
    assert_int_equal(get(d, "end_column")->valueint, 6);
    assert_int_equal(cJSON_GetArraySize(get(d, "notes")), 2);
    assert_string_equal(cJSON_GetArrayItem(get(d, "covers"), 0)->valuestring, "megatron:M01");
    const cJSON *edit = cJSON_GetArrayItem(get(get(d, "fix"), "edits"), 0);
    assert_true(cJSON_IsFalse(get(get(d, "fix"), "safe")));
    assert_int_equal(get(edit, "column")->valueint, 5);
    assert_string_equal(get(edit, "text")->valuestring, "8");
    cJSON_Delete(root);
}

static void fingerprints_stay_where_lines_move(void **state)
{
    struct file_report a = report(*state), b = report(*state);
    b.diags->items[0].at.line = 7;
    b.diags->items[0].values = a.diags->items[0].values = STR("ep=6");
    assert_true(finding_fingerprint(a.diags, &a.diags->items[0]) ==
                finding_fingerprint(b.diags, &b.diags->items[0]));
    b.diags->items[0].values = STR("ep=7");
    assert_false(finding_fingerprint(a.diags, &a.diags->items[0]) ==
                 finding_fingerprint(b.diags, &b.diags->items[0]));
}

static void annotations_are_escaped(void **state)
{
    struct file_report r = report(*state);
    struct buf out = buf_new(*state);
    github_file(&r, SEVERITY_WARNING, &out);
    github_file(&r, SEVERITY_ERROR, &out);
    assert_string_equal(
        buf_str(&out).p,
        "::error file=a%2Cb%3Ac.yaml,line=1,endLine=1,col=5,endColumn=6,title=some-rule::50 %25 of "
        "\"6\"%0Aare \\x01 \xC3\xA9%0Afirst%0Asecond\n");
}

static void counts_add_up(void **state)
{
    struct file_report r = report(*state);
    struct report_summary s = {0};
    report_count(&s, &r);
    report_count(&s, &r);
    assert_int_equal(s.files, 2);
    assert_int_equal(s.errors, 2);
    assert_int_equal(s.warnings + s.infos + s.skipped, 0);
    assert_int_equal(s.rules_skipped, 6);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(json_reads_back),
    cmocka_unit_test(fingerprints_stay_where_lines_move),
    cmocka_unit_test(annotations_are_escaped),
    cmocka_unit_test(counts_add_up),
};
UNIT_MAIN(tests)
