/* SPDX-License-Identifier: Apache-2.0 */
/* A question -> plans: what can be asked, and what the answer holds. */
#include <stdio.h>

#include "facts/param_ids.h"
#include "flow/suggest.h"
#include "unit/unit.h"

static struct ask question(struct arena *a, const char *model, int64_t gpus)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct platform_cache *platforms = ARENA_NEW(a, struct platform_cache);
    platforms->arena = a;
    diags_init(diags, a);
    struct ask ask = {.gpus = gpus, .top = 2};
    ask.platform = platform_load(platforms, diags, STR("h100"), (struct span){0});
    ask.model = model_load(a, diags, str_of(model));
    assert_true(ask.platform && ask.model);
    return ask;
}

/* False with the first error. */
static bool answered(struct arena *a, struct ask *ask, struct answers *out, struct str *why)
{
    struct arena *scratch = arena_new(0);
    struct diags diags;
    diags_init(&diags, a);
    bool good = suggest(a, scratch, &diags, rules_builtin(), ask, out);
    if (diags.n) *why = diags.items[0].message;
    arena_free(scratch);
    return good;
}

static void a_question_is_answered_as_it_was_put(void **state)
{
    struct ask ask = question(*state, "qwen3-30b-a3b", 16);
    struct answers x;
    struct str why;
    assert_true(ask_in(*state, &ask, STR("megatron"), &why));
    assert_true(ask_words(*state, &ask, &why));
    assert_true(ask_pins(*state, &ask, STR("ep=8, pp=1"), &why));
    assert_true(ask_settle(*state, &ask, &why));
    assert_true(answered(*state, &ask, &x, &why));
    assert_true(x.any);
    assert_int_equal(x.n, 1);
    assert_int_equal(x.framework[0], FRAMEWORK_MEGATRON);
    assert_in_range(x.items[0].n, 1, 2);
    for (size_t i = 0; i < x.items[0].n; i++) {
        const struct knobs *k = &x.items[0].plans[i].config.knobs;
        assert_true(k->ep == 8 && k->pp == 1 && k->gpus == 16);
    }
    assert_true(ask.seq_assumed && ask.gbs_assumed);
    assert_int_equal(ask.seq, 4096);
    assert_int_equal(ask.gbs % 64, 0);
    assert_str(ask.goal, "throughput");
}

/* A multiple of the GPUs and of 64: the smallest that has four million tokens. Of fewer than 64
   where that would be half as much again. */
static void a_batch_that_is_left_open_is_cut_for_the_gpus(void **state)
{
    static const struct {
        int64_t gpus, seq, gbs;
    } cases[] = {{8, 4096, 1024},   {24, 4096, 1152},  {8, 1 << 20, 64},  {24, 4000000, 96},
                 {584, 4096, 1168}, {648, 4096, 1296}, {576, 4096, 1152}, {4096, 4096, 4096}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ask ask = question(*state, "qwen3-30b-a3b", cases[i].gpus);
        ask.seq = cases[i].seq;
        ask_complete(&ask);
        assert_int_equal(ask.gbs, cases[i].gbs);
        assert_true(ask.gbs_assumed && !ask.seq_assumed);
    }
}

/* The smallest multiple of the GPUs with 128 sequences, whatever their length. */
static void a_batch_of_tuning_is_counted_in_sequences(void **state)
{
    static const struct {
        const char *task;
        int64_t gpus, gbs;
    } cases[] = {{"sft", 8, 128}, {"peft", 12, 132}, {"sft", 48, 144}, {"peft", 224, 224}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ask ask = question(*state, "qwen3-30b-a3b", cases[i].gpus);
        ask.task = str_of(cases[i].task);
        ask.seq = 1 << 15;
        ask_complete(&ask);
        assert_int_equal(ask.gbs, cases[i].gbs);
    }
}

static void frameworks_follow_from_the_task_and_the_pins(void **state)
{
    struct str why;
    struct ask ask = question(*state, "qwen3-30b-a3b", 8);
    ask.task = STR("peft");
    ask.lora_rank = 16;
    assert_true(ask_words(*state, &ask, &why) && ask_settle(*state, &ask, &why));
    assert_true(!ask.in[FRAMEWORK_MEGATRON] && ask.in[FRAMEWORK_BRIDGE] &&
                ask.in[FRAMEWORK_AUTOMODEL]);
    assert_int_equal(ask.pins.items[0].param, P_peft_dim);
    ask = question(*state, "qwen3-30b-a3b", 8);
    assert_true(ask_pins(*state, &ask, STR("overlap_p2p_communication_warmup_flush=true"), &why));
    assert_true(ask_words(*state, &ask, &why) && ask_settle(*state, &ask, &why));
    assert_true(ask.in[FRAMEWORK_MEGATRON] && !ask.in[FRAMEWORK_BRIDGE]);
}

static void what_cannot_be_asked_is_said(void **state)
{
    static const struct {
        const char *task, *framework, *pins, *why;
        int64_t rank;
    } cases[] = {
        {"pretran", "", "",
         "the task must be one of pretrain|sft|peft|qlora|projector, not pretran; did "
         "you mean pretrain?",
         0},
        {"", "megatrn", "",
         "the framework must be one of megatron|bridge|automodel, not megatrn; "
         "did you mean megatron?",
         0},
        {"", "", "tp", "a pin is NAME=VALUE, not tp", 0},
        {"", "", "world_size=8", "the number of GPUs is given with --gpus, not as a pin", 0},
        {"", "", "", "the adapters' rank and targets go with task peft or qlora", 8},
        {"qlora", "bridge", "", "no framework that is searched can train qlora", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ask ask = question(*state, "qwen3-30b-a3b", 8);
        struct str why = STR("nothing is wrong"), name = str_of(cases[i].framework);
        ask.task = str_of(cases[i].task);
        ask.lora_rank = cases[i].rank;
        bool good = (!name.n || ask_in(*state, &ask, name, &why)) &&
                    ask_words(*state, &ask, &why) &&
                    (!*cases[i].pins || ask_pins(*state, &ask, str_of(cases[i].pins), &why)) &&
                    ask_settle(*state, &ask, &why);
        assert_false(good);
        assert_str(why, cases[i].why);
    }
}

/* A question to Megatron-LM, settled. */
static struct ask megatron_question(struct arena *a, const char *model, int64_t gpus)
{
    struct ask ask = question(a, model, gpus);
    struct str why;
    assert_true(ask_in(a, &ask, STR("megatron"), &why) && ask_words(a, &ask, &why) &&
                ask_settle(a, &ask, &why));
    return ask;
}

/* Whether a plan surely fits on so many GPUs, the optimizer where `pin` says. */
static bool fits_on(struct arena *a, int64_t gpus, const char *pin)
{
    struct ask ask = megatron_question(a, "qwen3-235b-a22b", gpus);
    struct answers x;
    struct str why;
    assert_true(ask_pins(a, &ask, str_of(pin), &why));
    assert_true(answered(a, &ask, &x, &why));
    return x.any && !x.items[0].tight;
}

/* No whole number of nodes below either count is enough. */
static void the_fewest_gpus_are_named_with_and_without_offload(void **state)
{
    struct ask ask = megatron_question(*state, "qwen3-235b-a22b", 0);
    struct answers x;
    struct str why;
    long long without, with;
    assert_true(answered(*state, &ask, &x, &why));
    assert_true(x.any && ask.most_gpus == 0);
    assert_int_equal(x.notes.n, 1);
    assert_int_equal(
        sscanf(x.notes.items[0].p, "%lld GPUs without offload, %lld with", &without, &with), 2);
    assert_int_equal(without, ask.gpus);
    assert_true(with < without && with % 8 == 0 && without % 8 == 0);
    assert_true(fits_on(*state, with, "optimizer_cpu_offload=true"));
    for (int64_t n = 8; n < without; n += 8)
        assert_false(fits_on(*state, n, "optimizer_cpu_offload=false"));
    for (int64_t n = 8; n < with; n += 8)
        assert_false(fits_on(*state, n, "optimizer_cpu_offload=true"));
}

static void what_would_fit_is_the_next_size_that_does(void **state)
{
    struct ask ask = megatron_question(*state, "qwen3-30b-a3b", 7);
    struct arena *scratch = arena_new(0);
    struct answer larger;
    ask_complete(&ask);
    assert_true(
        suggest_larger(*state, scratch, rules_builtin(), &ask, FRAMEWORK_MEGATRON, &larger));
    assert_int_equal(ask.gpus, 8);
    assert_true(larger.n > 0 && !larger.tight);
    arena_free(scratch);
}

/* Without tensor and context parallelism a pipeline of 29 is the most that 232 GPUs divide into. */
static void a_batch_that_divides_nothing_has_a_near_one_that_does(void **state)
{
    struct ask ask = megatron_question(*state, "qwen3-30b-a3b", 8 * 29);
    struct arena *scratch = arena_new(0);
    struct answers x;
    struct answer near;
    struct str why;
    ask.gbs = 3;
    assert_true(ask_pins(*state, &ask, STR("tp=1,cp=1"), &why));
    assert_true(answered(*state, &ask, &x, &why));
    assert_false(x.any);
    assert_true(suggest_batch(*state, scratch, rules_builtin(), &ask, FRAMEWORK_MEGATRON, &near));
    assert_true(near.n > 0);
    assert_int_equal(near.plans[0].config.knobs.gbs, 8);
    assert_int_equal(ask.gbs, 8);
    arena_free(scratch);
}

static void gpus_that_do_not_fill_their_nodes_are_noted(void **state)
{
    static const int64_t gpus[] = {4, 8, 12, 48};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        struct ask ask = question(*state, "qwen3-30b-a3b", gpus[i]);
        struct notes notes = {0};
        ask_note_nodes(*state, &ask, &notes);
        assert_int_equal(notes.n, gpus[i] == 12);
        if (notes.n)
            assert_str(notes.items[0], "12 GPUs do not fill nodes of 8: the last has 4; whole "
                                       "nodes are 8 or 16 GPUs");
    }
}

/* Of a million tokens each, a sequence for every GPU is batch enough. */
static void more_gpus_assume_a_batch_anew(void **state)
{
    struct arena *scratch = arena_new(0);
    struct ask ask = question(*state, "qwen3-30b-a3b", 64);
    struct answer larger;
    struct str why;
    ask.seq = 1 << 20;
    assert_true(ask_in(*state, &ask, STR("megatron"), &why) && ask_words(*state, &ask, &why) &&
                ask_settle(*state, &ask, &why));
    ask_complete(&ask);
    assert_int_equal(ask.gbs, 64);
    assert_true(
        suggest_larger(*state, scratch, rules_builtin(), &ask, FRAMEWORK_MEGATRON, &larger));
    assert_true(ask.gpus > 64 && ask.gpus % 8 == 0);
    assert_int_equal(ask.gbs % ask.gpus, 0);
    arena_free(scratch);
}

static void what_is_forbidden_must_be_decidable(void **state)
{
    struct ask ask = question(*state, "qwen3-30b-a3b", 8);
    struct answers x;
    struct str why = STR("");
    struct str forbid[] = {STR("plan.ep > 4")};
    ask.forbid = forbid;
    ask.n_forbid = 1;
    assert_true(ask_in(*state, &ask, STR("megatron"), &why) && ask_words(*state, &ask, &why) &&
                ask_settle(*state, &ask, &why));
    struct ask bad = ask;
    assert_true(answered(*state, &ask, &x, &why));
    for (size_t i = 0; i < x.items[0].n; i++)
        assert_true(x.items[0].plans[i].config.knobs.ep <= 4);
    forbid[0] = STR("plan.ep + 1");
    assert_false(answered(*state, &bad, &x, &why));
    assert_str(why, "the expression is neither true nor false");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_question_is_answered_as_it_was_put),
    cmocka_unit_test(a_batch_that_is_left_open_is_cut_for_the_gpus),
    cmocka_unit_test(a_batch_of_tuning_is_counted_in_sequences),
    cmocka_unit_test(frameworks_follow_from_the_task_and_the_pins),
    cmocka_unit_test(what_cannot_be_asked_is_said),
    cmocka_unit_test(the_fewest_gpus_are_named_with_and_without_offload),
    cmocka_unit_test(what_would_fit_is_the_next_size_that_does),
    cmocka_unit_test(a_batch_that_divides_nothing_has_a_near_one_that_does),
    cmocka_unit_test(gpus_that_do_not_fill_their_nodes_are_noted),
    cmocka_unit_test(more_gpus_assume_a_batch_anew),
    cmocka_unit_test(what_is_forbidden_must_be_decidable),
};
UNIT_MAIN(tests)
