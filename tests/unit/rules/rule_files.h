/* SPDX-License-Identifier: Apache-2.0 */
/* Rule files for tests, as text. */
#ifndef MOEPLAN_TESTS_RULE_FILES_H
#define MOEPLAN_TESTS_RULE_FILES_H

#include "unit/unit.h"

#include "rules/rule.h"

#define RULE_FILE "moeplan: 1\nkind: Rules\n"

/* Loads a text as a rule file on top of `base`. */
static inline bool load_text(struct arena *a, struct diags *diags, const char *text,
                             const struct rule_set *base, struct rule_set *out)
{
    diags_init(diags, a);
    uint32_t source = source_add(&diags->sources, STR("rules.yaml"), str_of(text));
    return rules_load_text(a, diags, source, base, out);
}

/* The same for a text that must be good. */
static inline struct rule_set load_good(struct arena *a, const char *text)
{
    struct diags diags;
    struct rule_set set;
    bool good = load_text(a, &diags, text, NULL, &set);
    for (size_t i = 0; i < diags.n; i++)
        print_error("%u: %s\n", diags.items[i].at.line, diags.items[i].message.p);
    assert_true(good);
    return set;
}

#endif
