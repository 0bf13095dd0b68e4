/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_files.h"

#include "base/buf.h"

/* The tables made at build time hold what the loader reads from rules/: written out again, both
   give the same text, compiled expressions included. */
static void built_in_rules_are_those_of_the_folder(void **state)
{
    struct arena *a = *state;
    struct diags diags;
    struct rule_set set;
    diags_init(&diags, a);
    assert_true(rules_load(a, &diags, SOURCE_DIR "/rules", NULL, &set));
    assert_int_equal(set.n, rules_builtin()->n);
    assert_true(set.n > 0);
    struct buf loaded = buf_new(a), builtin = buf_new(a);
    rules_write_c(&set, &loaded);
    rules_write_c(rules_builtin(), &builtin);
    assert_int_equal(loaded.n, builtin.n);
    assert_memory_equal(loaded.p, builtin.p, loaded.n);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(built_in_rules_are_those_of_the_folder),
};
UNIT_MAIN(tests)
