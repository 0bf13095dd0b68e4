/* SPDX-License-Identifier: Apache-2.0 */
/* Questions for suggest. */
#ifndef MOEPLAN_TESTS_ASK_UNIT_H
#define MOEPLAN_TESTS_ASK_UNIT_H

#include "flow/suggest.h"
#include "unit/unit.h"

static inline const struct platform *ask_platform(struct arena *a, const char *name)
{
    struct platform_cache *cache = ARENA_NEW(a, struct platform_cache);
    struct diags *diags = ARENA_NEW(a, struct diags);
    cache->arena = a;
    diags_init(diags, a);
    const struct platform *p = platform_load(cache, diags, str_of(name), (struct span){0});
    assert_non_null(p);
    return p;
}

/* AutoModel's, whose search is short, settled. */
static inline struct ask automodel_ask(struct arena *a, const char *model, int64_t gpus,
                                       const char *platform)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct str why;
    diags_init(diags, a);
    struct ask ask = {.gpus = gpus, .top = 1};
    ask.platform = ask_platform(a, platform);
    ask.model = model_load(a, diags, str_of(model));
    assert_non_null(ask.model);
    assert_true(ask_in(a, &ask, STR("automodel"), &why) && ask_words(a, &ask, &why) &&
                ask_settle(a, &ask, &why));
    return ask;
}

#endif
