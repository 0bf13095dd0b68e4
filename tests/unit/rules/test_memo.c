/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes that are kept from one configuration for the next: nothing an expression can see may
   have changed. */
#include "facts/param_ids.h"
#include "rule_files.h"

#include "facts/profile.h"
#include "rules/memo.h"

static const char *const text =
    RULE_FILE "rules:\n"
              "- {id: number, severity: error, rule: plan.ep < 4, message: m, help: h}\n"
              "- {id: said, severity: error, rule: '!has(plan.ep)', message: m, help: h}\n"
              "- {id: word, severity: error, message: m, help: h,\n"
              "   rule: 'plan.moe_token_dispatcher_type != \"flex\"'}\n"
              "- {id: list, severity: error, message: m, help: h,\n"
              "   rule: 'plan.recompute_modules == null || size(plan.recompute_modules) < 2'}\n"
              "- {id: raw, severity: error, rule: '!(\"dp\" in raw)', message: m, help: h}\n"
              "- {id: value, severity: error, message: m, help: h,\n"
              "   rule: '!(\"edp\" in raw) || raw[\"edp\"] == 1'}\n"
              "- {id: env, severity: error, rule: '!(\"NCCL_ALGO\" in env)', message: m, help: h}\n"
              "- {id: version, severity: error, rule: version != 'x', message: m, help: h}\n";

static void set_option(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_OPTION, NULL, STR("x"));
}

static void nothing(struct facts *f)
{
    (void)f;
}
static void ep_2(struct facts *f)
{
    set_option(f, P_expert_model_parallel_size, value_int(2));
}
static void ep_8(struct facts *f)
{
    set_option(f, P_expert_model_parallel_size, value_int(8));
}
static void ep_8_derived(struct facts *f)
{
    facts_set(f, P_expert_model_parallel_size, value_int(8), ORIGIN_DERIVED, NULL, STR("x"));
}
static void ep_unknown(struct facts *f)
{
    facts_forget(f, P_expert_model_parallel_size);
}
static void ep_open(struct facts *f)
{
    ep_unknown(f);
    f->open = true;
}
static void flex(struct facts *f)
{
    set_option(f, P_moe_token_dispatcher_type, value_string(STR("flex")));
}
static void ring(struct facts *f)
{
    set_option(f, P_moe_token_dispatcher_type, value_string(STR("ring")));
}
static void two_modules(struct facts *f)
{
    const struct value items[] = {value_string(STR("moe")), value_string(STR("mlp"))};
    set_option(f, P_recompute_modules, value_list_of(f->arena, items, 2));
}
static void one_module(struct facts *f)
{
    const struct value items[] = {value_string(STR("moe"))};
    set_option(f, P_recompute_modules, value_list_of(f->arena, items, 1));
}
static void raw_dp(struct facts *f)
{
    facts_add_raw(f, STR("dp"), value_int(2));
}
static void raw_edp_1(struct facts *f)
{
    facts_add_raw(f, STR("edp"), value_int(1));
}
static void raw_edp_2(struct facts *f)
{
    facts_add_raw(f, STR("edp"), value_int(2));
}
static void algo(struct facts *f)
{
    facts_set_env(f, STR("NCCL_ALGO"), STR("Ring"), false);
}
static void whole_environment(struct facts *f)
{
    f->env_complete = true;
}
static void version_x(struct facts *f)
{
    f->version = STR("x");
}

static void (*const changes[])(struct facts *) = {
    nothing,   ep_2, ep_8,        ep_8_derived,     ep_unknown, ep_open,
    flex,      ring, two_modules, one_module,       raw_dp,     raw_edp_1,
    raw_edp_2, algo, version_x,   whole_environment};
enum { CHANGES = sizeof changes / sizeof *changes };

/* The ids of the rules that fail, and how many meet an unknown. */
static struct str ask(struct arena *a, const struct rule_set *set, enum framework framework,
                      size_t change)
{
    struct diags diags;
    struct arena *scratch = arena_new(0);
    diags_init(&diags, a);
    struct facts *f =
        facts_new(a, &diags, framework, profile_find(framework, (struct str){"", 0})->version);
    changes[change](f);
    struct rules_summary sum = rules_run(set, f, scratch);
    struct buf out = buf_new(a);
    for (size_t i = 0; i < diags.n; i++)
        buf_printf(&out, "%.*s ", STR_ARG(diags.items[i].rule));
    buf_printf(&out, "%zu", sum.skipped);
    arena_free(scratch);
    return buf_str(&out);
}

static void each_after_each_other_is_as_it_is_alone(void **state)
{
    struct rule_memo memo = {.arena = *state};
    struct rule_set alone = load_good(*state, text), kept = alone;
    kept.memo = &memo;
    for (int framework = 0; framework < FRAMEWORK_COUNT; framework++)
        for (size_t i = 0; i < (size_t)CHANGES * CHANGES; i++) {
            size_t order[] = {i / CHANGES, i % CHANGES, i % CHANGES};
            for (size_t k = 0; k < 3; k++) {
                enum framework in = (enum framework)framework;
                struct str expected = ask(*state, &alone, in, order[k]);
                assert_str(ask(*state, &kept, in, order[k]), expected.p);
            }
        }
    struct str bad = ask(*state, &kept, FRAMEWORK_MEGATRON, 2); /* ep_8 */
    assert_true(str_starts(bad, STR("number said ")));
}

static void what_reads_facts_and_words_is_kept(void **state)
{
    struct rule_memo memo = {.arena = *state};
    struct rule_set set = load_good(*state, text);
    static const bool kept[] = {true, true, true, true, true, false, true, false};
    for (size_t i = 0; i < set.n; i++)
        assert_int_equal(memo_place(&memo, set.items[i]->rule) != NULL, kept[i]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_after_each_other_is_as_it_is_alone),
    cmocka_unit_test(what_reads_facts_and_words_is_kept),
};
UNIT_MAIN(tests)
