/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a model and as a plan: counted and estimated when they can be, and then with numbers
 * that are some. */
#include <math.h>
#include <stdlib.h>

#include "cost/cost.h"
#include "cost/evidence.h"
#include "facts/model.h"
#include "facts/profile.h"
#include "facts/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_model(struct arena *a, struct diags *diags, const struct node *doc)
{
    const struct model_input *m = model_read(a, diags, doc);
    if (!m && !diags_count(diags, SEVERITY_ERROR)) abort();
    if (!m) return;
    struct facts *f = facts_new(a, diags, FRAMEWORK_MEGATRON, profile_at(0)->version);
    struct model_shape *shape = ARENA_NEW(a, struct model_shape);
    model_apply(f, m, ORIGIN_FILE);
    if (!config_model(f, shape, false)) return;
    struct param_counts n = model_params(shape);
    if (n.total <= 0 || n.active <= 0 || n.active > n.total || n.mtp < 0 || n.vision < 0) abort();
}

static void check_plan(struct arena *a, struct facts *f)
{
    struct config *c = ARENA_NEW(a, struct config);
    facts_derive(f);
    if (!config_from_facts(a, f, c) || !c->machine_known) return;
    struct memory_estimate *m = ARENA_NEW(a, struct memory_estimate);
    struct time_estimate *t = ARENA_NEW(a, struct time_estimate);
    if (!memory_estimate(c, m, NULL) || !time_estimate(c, t, NULL)) return;
    if (!(m->peak >= 0) || isinf(m->peak) || !(t->step >= 0) || isinf(t->step)) abort();
    struct evidence e;
    evidence_find(c, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(0);
    struct diags diags;
    struct platform_cache platforms = {.arena = a};
    struct read_options options = {.gpus = 16, .platform = STR("h100"), .platforms = &platforms};
    struct node_list docs = {0};
    if (!a) return 0;
    diags_init(&diags, a);
    struct str text = str_dup(a, (struct str){(const char *)data, size});
    uint32_t source = source_add(&diags.sources, STR("input"), text);
    if (doc_load(a, &diags, source, &docs) && docs.n > 0 && docs.items[0]->kind == NODE_MAP)
        check_model(a, &diags, docs.items[0]);
    struct recipe recipe = recipe_read(a, &diags, source, STR("plan"), &options);
    for (size_t i = 0; i < recipe.readings.n; i++)
        check_plan(a, recipe.readings.items[i].facts);
    arena_free(a);
    return 0;
}
