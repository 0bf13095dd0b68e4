/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/select.h"

void rule_patterns_add(struct arena *a, struct rule_patterns *patterns, struct str list)
{
    struct str word;
    while (str_split(&list, ',', &word))
        if (str_trim(word).n) *VEC_PUSH(a, patterns) = str_trim(word);
}

/* A star takes as little as it can; where the rest then does not match, the last star takes one
   letter more. */
bool rule_pattern_matches(struct str pattern, struct str id)
{
    size_t p = 0, i = 0, star = pattern.n, taken = 0;
    while (i < id.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            taken = i;
        } else if (p < pattern.n && (pattern.p[p] == '?' || pattern.p[p] == id.p[i])) {
            p++;
            i++;
        } else if (star < pattern.n) {
            p = star + 1;
            i = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

bool rule_patterns_match(const struct rule_patterns *patterns, struct str id)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (rule_pattern_matches(patterns->items[i], id)) return true;
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
