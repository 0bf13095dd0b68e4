/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/diff.h"

static struct str diff(struct arena *a, const char *before, const char *after)
{
    struct buf out = buf_new(a);
    diff_unified(&out, STR("f"), str_of(before), str_of(after));
    return buf_str(&out);
}

static void same_texts_have_none(void **state)
{
    assert_str(diff(*state, "a\nb\n", "a\nb\n"), "");
    assert_str(diff(*state, "", ""), "");
}

static void changes_have_three_lines_around(void **state)
{
    assert_str(diff(*state, "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n"),
               "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
}

static void far_changes_are_hunks_of_their_own(void **state)
{
    assert_str(
        diff(*state, "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n"),
        "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -6,4 +7,3 @@\n 6\n 7\n 8\n-9\n");
}

static void a_missing_newline_is_said(void **state)
{
    assert_str(diff(*state, "a", "b\n"),
               "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(same_texts_have_none),
    cmocka_unit_test(changes_have_three_lines_around),
    cmocka_unit_test(far_changes_are_hunks_of_their_own),
    cmocka_unit_test(a_missing_newline_is_said),
};
UNIT_MAIN(tests)
