/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "expr/func.h"

static void functions_are_found_by_name_and_number(void **state)
{
    (void)state;
    assert_true(func_find(STR("size"), 1) >= 0);
    assert_int_equal(func_find(STR("size"), 2), -1);
    assert_int_equal(func_find(STR("siz"), 1), -1);
    assert_non_null(func_named(STR("math.least")));
    assert_null(func_named(STR("least")));
    assert_str(func_nearest(STR("ceildiv")), "ceilDiv");
    assert_str(func_nearest(STR("qqqqqqqq")), "");
}

static void names_stand_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < func_count; i++) {
        const struct func *f = &func_table[i];
        assert_ptr_equal(func_named(str_of(f->name)), f);
        assert_true(f->least <= f->most && f->most <= FUNC_MAX_ARGS);
        assert_non_null(f->call);
        assert_true(strlen(f->doc) > 0);
    }
}

static void arguments_are_told(void **state)
{
    const struct func *split = func_named(STR("split")), *least = func_named(STR("math.least"));
    assert_str(func_arguments(*state, split), "string, string, int?");
    assert_str(func_kinds(*state, func_named(STR("size")), 0), "string or list or map");
    assert_str(func_kinds(*state, func_named(STR("text")), 0), "any");
    assert_str(func_kinds(*state, least, 0), "number or list");
    assert_true(func_takes(least, 0, VALUE_LIST));
    assert_false(func_takes(least, 1, VALUE_LIST));
    assert_true(func_takes(least, 31, VALUE_UINT)); /* the last kind is for all further ones */
    assert_false(func_takes(split, 2, VALUE_STRING));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(functions_are_found_by_name_and_number),
    cmocka_unit_test(names_stand_once),
    cmocka_unit_test(arguments_are_told),
};
UNIT_MAIN(tests)
