/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "diag/select.h"

/* Ids that are left of some findings, one of each severity and one that cannot be left out. */
static struct str left(struct arena *a, const char *select, const char *ignore, enum severity least)
{
    struct diag_selection wanted = {.least = least};
    struct diags all;
    struct str text = {"", 0};
    rule_patterns_add(a, &wanted.select, str_of(select));
    rule_patterns_add(a, &wanted.ignore, str_of(ignore));
    diags_init(&all, a);
    diag_add(&all, SEVERITY_ERROR, "ep-divides-experts", (struct span){0}, "x");
    diag_add(&all, SEVERITY_WARNING, "ep-crosses-node", (struct span){0}, "x");
    diag_add(&all, SEVERITY_INFO, "tp-default", (struct span){0}, "x");
    diag_add(&all, SEVERITY_ERROR, "yaml-syntax", (struct span){0}, "x");
    size_t dropped = diags_select(&all, &wanted);
    assert_int_equal(dropped, 4 - all.n);
    for (size_t i = 0; i < all.n; i++)
        text =
            arena_printf(a, "%.*s%s%.*s", STR_ARG(text), i ? " " : "", STR_ARG(all.items[i].rule));
    return text;
}

static void nothing_asked_keeps_all(void **state)
{
    assert_str(left(*state, "", "", SEVERITY_INFO),
               "ep-divides-experts ep-crosses-node tp-default yaml-syntax");
}

static void patterns_select_and_ignore(void **state)
{
    assert_str(left(*state, "ep-*", "", SEVERITY_INFO),
               "ep-divides-experts ep-crosses-node yaml-syntax");
    assert_str(left(*state, "ep-*, tp-default", "*-node", SEVERITY_INFO),
               "ep-divides-experts tp-default yaml-syntax");
    assert_str(left(*state, "", "?p-d*s, *-syntax", SEVERITY_INFO),
               "ep-crosses-node tp-default yaml-syntax");
    assert_str(left(*state, "ep", "", SEVERITY_INFO), "yaml-syntax");
    assert_str(left(*state, "*d*e*s", "", SEVERITY_INFO), "ep-divides-experts yaml-syntax");
}

static void severities_are_at_least(void **state)
{
    assert_str(left(*state, "", "", SEVERITY_WARNING),
               "ep-divides-experts ep-crosses-node yaml-syntax");
    assert_str(left(*state, "", "", SEVERITY_ERROR), "ep-divides-experts yaml-syntax");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_asked_keeps_all),
    cmocka_unit_test(patterns_select_and_ignore),
    cmocka_unit_test(severities_are_at_least),
};
UNIT_MAIN(tests)
