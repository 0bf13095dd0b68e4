/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/beside.h"

#include "cmd/like_show.h"
#include "cmd/share_show.h"

bool beside_like(struct arena *a, struct arena *scratch, struct diags *diags,
                 const struct rule_set *rules, struct str name, struct ask *ask,
                 struct beside *beside, struct str *why)
{
    return !name.n || like_read(a, scratch, diags, rules, ask, name, &beside->like.recipe, why);
}

bool beside_rollout(struct arena *a, struct str text, struct ask *ask, struct beside *beside,
                    struct str *why)
{
    struct engine_wish wish;
    if (!text.n) return true;
    return share_read(a, text, &wish, why) && share_settle(a, ask, wish, &beside->share, why);
}

bool beside_answer(struct arena *a, struct arena *scratch, struct diags *diags,
                   const struct rule_set *rules, struct ask *ask, struct answers *answers,
                   struct beside *beside)
{
    struct like_recipe recipe = beside->like.recipe;
    bool good = recipe.facts
                    ? like_answer(a, scratch, diags, rules, ask, &recipe, answers, &beside->like)
                    : suggest(a, scratch, diags, rules, ask, answers);
    if (good && beside->share.wish.tp) share_judge(a, scratch, rules, ask, answers, &beside->share);
    return good;
}

void beside_text(const struct ask *ask, const struct answers *answers, const struct beside *beside,
                 struct buf *out)
{
    if (beside->like.recipe.facts) like_text(ask, &beside->like, out);
    if (beside->share.wish.tp) share_text(&beside->share, answers, out);
}

void beside_json(struct tree *t, const struct beside *beside)
{
    if (beside->like.recipe.facts) like_json(t, &beside->like);
    if (beside->share.wish.tp) share_json(t, &beside->share);
}
