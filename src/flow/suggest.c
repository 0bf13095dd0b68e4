/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/suggest.h"

static void note_mtp(struct arena *a, enum framework framework, struct notes *notes)
{
    *VEC_PUSH(a, notes) = arena_printf(
        a,
        "%s builds no MTP layers beside this attention: planned without "
        "(--pin mtp_num_layers=N asks for them) [attention-variant-without-mtp]",
        framework_full_name(framework));
}

bool ask_all(struct arena *a, struct arena *scratch, struct diags *diags,
             const struct rule_set *rules, const struct ask *ask, struct answers *out)
{
    *out = (struct answers){0};
    for (int i = 0; i < FRAMEWORK_COUNT; i++) {
        if (!ask->in[i]) continue;
        struct answer *answer = &out->items[out->n];
        if (!ask_framework(a, scratch, diags, rules, ask, (enum framework)i, answer)) return false;
        out->framework[out->n++] = (enum framework)i;
        out->any = out->any || answer->n > 0;
        if (answer->without_mtp) note_mtp(a, (enum framework)i, &out->notes);
    }
    return ask_judge_forbid(a, diags, ask, out->items, out->n, &out->notes);
}

/* What may fit is no answer to how many GPUs are needed. */
static void drop_plans(struct answers *answers)
{
    for (size_t i = 0; i < answers->n; i++) {
        struct answer *one = &answers->items[i];
        if (one->n) one->search->least = one->plans[0].costs;
        one->search->has_least = one->search->has_least || one->n > 0;
        one->n = 0;
    }
    answers->any = false;
}

void ask_size(struct arena *a, struct arena *scratch, const struct rule_set *rules, struct ask *ask,
              struct notes *notes)
{
    if (!ask->gpus && ask->wish.deadline_days > 0)
        ask_in_time(a, scratch, rules, ask, notes);
    else if (!ask->gpus)
        ask_smallest(a, scratch, rules, ask, notes);
}

bool suggest(struct arena *a, struct arena *scratch, struct diags *diags,
             const struct rule_set *rules, struct ask *ask, struct answers *out)
{
    struct notes sizes = {0};
    ask_size(a, scratch, rules, ask, &sizes);
    ask_note_nodes(a, ask, &sizes);
    ask_complete(ask);
    if (!ask_all(a, scratch, diags, rules, ask, out)) return false;
    for (size_t i = 0; i < sizes.n; i++)
        *VEC_PUSH(a, &out->notes) = sizes.items[i];
    if (ask->most_gpus) drop_plans(out);
    return true;
}
