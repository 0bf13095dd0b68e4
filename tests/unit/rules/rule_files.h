/* SPDX-License-Identifier: Apache-2.0 */
/* Rule files for tests, as text. */
#ifndef MOEPLAN_TESTS_RULE_FILES_H
#define MOEPLAN_TESTS_RULE_FILES_H

#include "unit/unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "rules/rule.h"

#define RULE_FILE "moeplan: 1\nkind: Rules\n"

/* Loads a text as a rule file on top of `base`, through a file as users' rules come. */
static inline bool load_text(struct arena *a, struct diags *diags, const char *text,
                             const struct rule_set *base, struct rule_set *out)
{
    char path[] = "/tmp/moeplan-rules-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct str error;
    assert_true(io_write(a, path, str_of(text), &error));
    diags_init(diags, a);
    struct str name = str_dup(a, str_of(path));
    bool good = rules_load_files(a, diags, &name, 1, base, out);
    unlink(path);
    return good;
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
