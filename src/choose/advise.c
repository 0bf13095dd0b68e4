/* SPDX-License-Identifier: Apache-2.0 */
/* What the guides say about a finished plan beside its choices. The texts are the rules'. */
#include "choose/planner.h"

#include "base/buf.h"
#include "base/vec.h"

static struct reason_list *list_of(struct plan *plan, enum advice advice)
{
    switch (advice) {
    case ADVICE_NEXT: return &plan->next;
    case ADVICE_VERIFY: return &plan->verify;
    case ADVICE_PITFALL: return &plan->pitfalls;
    case ADVICE_NOTE: return &plan->notes;
    case ADVICE_COMPARE: /* about two plans: flow/compare.c */
    case ADVICE_NONE: break;
    }
    return NULL;
}

void advise_plan(struct arena *a, const struct rule_set *rules, struct plan *plan,
                 struct arena *scratch)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *r = rules->items[i];
        struct reason_list *list = list_of(plan, r->advice);
        if (!list || !rule_is_for(r, plan->facts)) continue;
        struct arena_mark mark = arena_mark(scratch);
        enum outcome outcome = rule_evaluate(r, plan->facts, scratch);
        arena_pop(scratch, mark);
        if (outcome != OUTCOME_FAIL) continue;
        reason_add(a, list,
                   (struct reason){.rule = r->id,
                                   .guide = str_joined(a, r->guides, r->n_guides),
                                   .text = rule_message(r, plan->facts, a),
                                   .source = r->source,
                                   .phase = r->phase});
    }
}
