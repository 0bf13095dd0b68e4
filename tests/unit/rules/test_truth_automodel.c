/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on AutoModel recipes against what AutoModel's own code said about them; skipped where
   that data is not there. */
#include "unit/unit.h"

#include "base/io.h"
#include "facts/recipe.h"
#include "rules/rule.h"

enum { MOST_SETTINGS = 32 };

struct job {
    struct arena *arena, *scratch;
    const struct node *c; /* the case */
    struct setting set[MOST_SETTINGS];
};

static struct read_options options_of(struct job *job)
{
    const struct node *set = node_get(job->c, STR("set")), *gpus = node_get(job->c, STR("gpus"));
    struct read_options options = {.set = job->set};
    if (gpus) options.gpus = node_value(job->arena, gpus, SCALAR_JSON).i;
    for (size_t i = 0; set && i < set->n && i < MOST_SETTINGS; i++)
        job->set[options.n_set++] =
            (struct setting){.name = set->keys[i]->text,
                             .value = node_value(job->arena, set->items[i], SCALAR_JSON)};
    return options;
}

static bool is_accepted(struct job *job)
{
    struct diags diags;
    struct read_options options = options_of(job);
    diags_init(&diags, job->arena);
    uint32_t source =
        source_add(&diags.sources, STR("recipe.yaml"), node_get(job->c, STR("text"))->text);
    struct recipe recipe = recipe_read(job->arena, &diags, source, STR("automodel"), &options);
    for (size_t i = 0; i < recipe.readings.n; i++) {
        struct facts *f = recipe.readings.items[i].facts;
        rules_apply_overrides(rules_builtin(), f, job->scratch);
        rules_run(rules_builtin(), f, job->scratch);
    }
    return diags_count(&diags, SEVERITY_ERROR) == 0;
}

static bool is_true(const struct node *c, const char *key)
{
    const struct node *n = node_get(c, str_of(key));
    return n && str_is(n->text, "true");
}

static void verdicts_are_the_frameworks_own(void **state)
{
    struct arena *a = *state;
    struct str text, error, line;
    size_t cases = 0, false_errors = 0, missed = 0;
    if (!io_read(a, SOURCE_DIR "/../shared/truth/automodel/cases.jsonl", &text, &error)) {
        print_message("skipped: no ../shared/truth/automodel/cases.jsonl\n");
        skip();
    }
    struct arena *scratch = arena_new(0);
    while (str_split(&text, '\n', &line)) {
        struct arena_mark mark = arena_mark(a);
        struct diags diags;
        struct job job = {.arena = a, .scratch = scratch};
        diags_init(&diags, a);
        if (line.n) job.c = doc_load_json(a, &diags, source_add(&diags.sources, STR("c"), line));
        if (job.c && !node_get(job.c, STR("soft"))) {
            bool accepted = is_accepted(&job), wanted = is_true(job.c, "accept");
            cases++;
            false_errors += wanted && !accepted;
            missed += !wanted && accepted;
        }
        arena_pop(a, mark);
    }
    arena_free(scratch);
    assert_true(cases > 2000);
    assert_int_equal(false_errors, 0);
    assert_true(missed * 200 <= cases);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(verdicts_are_the_frameworks_own),
};
UNIT_MAIN(tests)
