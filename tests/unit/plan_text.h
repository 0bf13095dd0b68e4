/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as facts and as configurations, on the way that every command takes: read, what nobody
   states assumed, the framework's overrides applied. */
#ifndef MOEPLAN_TESTS_PLAN_TEXT_H
#define MOEPLAN_TESTS_PLAN_TEXT_H

#include "facts/recipe.h"
#include "plan/config.h"
#include "rules/rule.h"
#include "unit/unit.h"

/* The only configuration of a text in a format: plan, megatron, bridge or automodel. What is no
   plan runs on eight H100. */
static inline struct facts *text_facts(struct arena *a, const char *format, struct str text)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct platform_cache *platforms = ARENA_NEW(a, struct platform_cache);
    struct read_options options = {.platforms = platforms};
    platforms->arena = a;
    diags_init(diags, a);
    if (strcmp(format, "plan") != 0) options.gpus = 8, options.platform = STR("h100");
    uint32_t source = source_add(&diags->sources, str_of(format), text);
    struct recipe recipe = recipe_read(a, diags, source, str_of(format), &options);
    for (size_t i = 0; i < diags->n; i++)
        if (diags->items[i].severity == SEVERITY_ERROR)
            fail_msg("%.*s\n%.*s", STR_ARG(diags->items[i].message), STR_ARG(text));
    assert_int_equal(recipe.status, RECIPE_READ);
    assert_int_equal(recipe.readings.n, 1);
    return recipe.readings.items[0].facts;
}

/* What the framework makes of them. */
static inline struct facts *settled(const struct facts *f)
{
    struct arena *scratch = arena_new(0);
    struct facts *whole = rules_whole_facts(f->arena, rules_builtin(), f, scratch);
    arena_free(scratch);
    return whole;
}

static inline struct config *config_of(const struct facts *f)
{
    struct config *c = ARENA_NEW(f->arena, struct config);
    struct facts *whole = settled(f);
    if (!config_from_facts(f->arena, whole, c))
        fail_msg("%.*s", STR_ARG(whole->diags->items[0].message));
    return c;
}

/* A plan of a model and a size: `body` says the rest. */
static inline struct facts *sized_plan(struct arena *a, const char *framework, const char *size,
                                       const char *body)
{
    struct str text =
        arena_printf(a, "moeplan: 1\nframework: %s\n%s\nseq: 4096\n%s", framework, size, body);
    return text_facts(a, "plan", text);
}

/* Of Qwen3-30B-A3B on eight H100, 64 sequences a step and one a microbatch. */
static inline struct facts *plan_facts(struct arena *a, const char *framework, const char *body)
{
    return sized_plan(a, framework,
                      "model: qwen3-30b-a3b\nplatform: h100\ngpus: 8\ngbs: 64\nmbs: 1", body);
}

static inline struct config *plan_config(struct arena *a, const char *framework, const char *body)
{
    return config_of(plan_facts(a, framework, body));
}

#endif
