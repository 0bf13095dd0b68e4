/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/select.h"

#include "base/glob.h"

void rule_patterns_add(struct arena *a, struct rule_patterns *patterns, struct str list)
{
    struct str word;
    while (str_split(&list, ',', &word))
        if (str_trim(word).n) *VEC_PUSH(a, patterns) = str_trim(word);
}

/* Whether one of them matches a rule's id. */
static bool rule_patterns_match(const struct rule_patterns *patterns, struct str id)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (text_matches(patterns->items[i], id)) return true;
    return false;
}

bool diag_is_fatal(const struct diag *d)
{
    return str_is_any(d->rule, "yaml-syntax|json-syntax|shell-syntax|plan-syntax|recipe-syntax|"
                               "unreadable-file|input-too-large");
}

static bool is_wanted(const struct diag_selection *wanted, const struct diag *d)
{
    if (diag_is_fatal(d)) return true;
    bool selected = !wanted->select.n || rule_patterns_match(&wanted->select, d->rule);
    return selected && !rule_patterns_match(&wanted->ignore, d->rule) &&
           d->severity >= wanted->least;
}

size_t diags_select(struct diags *all, const struct diag_selection *wanted)
{
    size_t kept = 0, before = all->n;
    for (size_t i = 0; i < all->n; i++)
        if (is_wanted(wanted, &all->items[i])) all->items[kept++] = all->items[i];
    all->n = kept;
    return before - kept;
}
