/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a rule file: loaded or refused with a reason; what was good runs its examples, runs
   on plain facts, and is written out as C text. */
#include <stdlib.h>

#include "base/buf.h"
#include "facts/profile.h"
#include "rules/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const struct rule_set *set, struct arena *a, struct diags *diags)
{
    for (int k = 0; k < FRAMEWORK_COUNT; k++) {
        struct arena *scratch = arena_new(0);
        struct str version = profile_find((enum framework)k, STR(""))->version;
        struct facts *f = facts_new(a, diags, (enum framework)k, version);
        rules_apply_overrides(set, f, scratch);
        rules_run(set, f, scratch);
        rules_varying(a, set, f, NULL, 0, scratch);
        arena_free(scratch);
    }
    for (size_t i = 0; i < set->n; i++)
        rule_test(set->items[i], set, diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(0);
    if (!a) return 0;
    struct diags diags;
    diags_init(&diags, a);
    struct str text = str_dup(a, (struct str){(const char *)data, size});
    struct rule_set set;
    bool good =
        rules_load_text(a, &diags, source_add(&diags.sources, STR("input"), text), NULL, &set);
    if (!good && !diags.n) abort(); /* a refusal says why */
    run(&set, a, &diags);
    struct buf out = buf_new(a);
    rules_write_c(&set, &out);
    diags_sort(&diags);
    arena_free(a);
    return 0;
}
