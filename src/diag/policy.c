/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/policy.h"

#include "base/glob.h"

bool day_is_valid(struct str day)
{
    static const char form[] = "dddd-dd-dd";
    if (day.n != sizeof form - 1) return false;
    for (size_t i = 0; i < day.n; i++) {
        bool digit = day.p[i] >= '0' && day.p[i] <= '9';
        if (form[i] == 'd' ? !digit : day.p[i] != '-') return false;
    }
    return str_cmp(str_slice(day, 5, 7), STR("12")) <= 0 &&
           str_cmp(str_slice(day, 8, 10), STR("31")) <= 0;
}

bool day_is_over(struct str until, struct str today)
{
    return until.n && today.n && str_cmp(until, today) < 0;
}

static void set_severity(struct diag *d, const struct diag_policy *policy, bool *off)
{
    *off = false;
    for (size_t i = 0; i < policy->severity.n; i++) {
        const struct rule_severity *s = &policy->severity.items[i];
        if (!text_matches(s->pattern, d->rule)) continue;
        *off = s->severity == SEVERITY_OFF;
        if (!*off) d->severity = (enum severity)s->severity;
    }
}

/* The first that holds for the finding; NULL: none. Each that does is marked as used. */
static const struct rule_ignore *ignored_by(const struct diag *d, const struct diag_policy *policy)
{
    const struct rule_ignore *first = NULL;
    for (size_t i = 0; i < policy->ignore.n; i++) {
        struct rule_ignore *ignore = policy->ignore.items[i];
        bool about = !ignore->parameter.n || str_eq(ignore->parameter, d->parameter);
        if (!about || !text_matches(ignore->pattern, d->rule)) continue;
        ignore->used = true;
        if (!first && !day_is_over(ignore->until, policy->today)) first = ignore;
    }
    return first;
}

void diags_apply_policy(struct diags *all, const struct diag_policy *policy)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->n; i++) {
        struct diag *d = &all->items[i];
        bool off = false;
        if (!diag_is_fatal(d)) set_severity(d, policy, &off);
        const struct rule_ignore *ignore = diag_is_fatal(d) ? NULL : ignored_by(d, policy);
        if (ignore)
            diag_hide(all, d, DIAG_IGNORED, ignore->reason);
        else if (!off)
            all->items[kept++] = *d;
    }
    all->n = kept;
    diags_select(all, &policy->wanted);
}
