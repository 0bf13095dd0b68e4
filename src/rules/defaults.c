/* SPDX-License-Identifier: Apache-2.0 */
/* What most expressions come to on most files: few of the facts that rules read are ever set. */
#include "rules/run.h"

bool expr_is_at_defaults(const struct expr *e, const struct facts *f)
{
    const uint32_t *slots;
    size_t n = expr_slots(e, &slots);
    for (size_t i = 0; i < n; i++)
        if (facts_slot_param(slots[i]) < 0 || facts_is_own(f, (int)slots[i])) return false;
    return true;
}

unsigned char expr_at_defaults(const struct expr *e, enum framework framework,
                               struct arena *scratch)
{
    struct diags diags;
    struct arena *a = arena_child(scratch, 0);
    diags_init(&diags, a);
    struct facts *f = facts_new(a, &diags, framework, STR("no release, so no pins"));
    struct expr_scope scope = facts_scope(f);
    bool known = e && expr_is_at_defaults(e, f);
    enum outcome closed = known ? expr_outcome(e, scratch, &scope) : OUTCOME_UNKNOWN;
    f->open = true; /* then has() knows less */
    known = known && expr_outcome(e, scratch, &scope) == closed;
    arena_free(a);
    return (unsigned char)(known ? 1 + closed : 0);
}
