/* SPDX-License-Identifier: Apache-2.0 */
/* A trainer and an inference engine: what each gets, and which of the two binds. */
#include "flow/share.h"

#include <math.h>

#include "ask_unit.h"
#include "base/units.h"

static struct engine_wish wish_of(struct arena *a, const char *text)
{
    struct engine_wish w;
    struct str why;
    assert_true(share_read(a, str_of(text), &w, &why));
    return w;
}

static struct share judged(struct arena *a, struct ask *ask, const char *wish)
{
    struct arena *scratch = arena_new(0);
    struct diags diags;
    struct share s;
    struct answers answers;
    struct str why;
    diags_init(&diags, a);
    if (!share_settle(a, ask, wish_of(a, wish), &s, &why)) fail_msg("%s", why.p);
    assert_true(suggest(a, scratch, &diags, rules_builtin(), ask, &answers));
    share_judge(a, scratch, rules_builtin(), ask, &answers, &s);
    for (size_t i = 0; i < answers.items[0].n; i++)
        assert_true(answers.items[0].plans[i].costs.peak_high <=
                    s.capacity - (s.trainer_gpus ? 0 : s.engine) + 1);
    arena_free(scratch);
    return s;
}

static void words_are_read(void **state)
{
    static const char *const bad[] = {"tp=0", "tp", "x=1", "ratio=0", "tp=8,,", "context=-1"};
    struct engine_wish w = wish_of(*state, "tp=8,sequences=32, context=16384 ,ratio=0.5");
    struct str why;
    assert_true(w.tp == 8 && w.sequences == 32 && w.context == 16384 && w.ratio == 0.5);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(share_read(*state, str_of(bad[i]), &w, &why));
}

/* 40 GiB hold weights of 57 GiB over 4 GPUs and buffers of 3: 22.8 GiB are left for sequences. The
   trainer's plan has the other 37.1. */
static void a_stated_share_is_kept(void **state)
{
    struct ask ask = automodel_ask(*state, "qwen3-30b-a3b", 16, "h100");
    struct str why;
    assert_true(ask_pins(*state, &ask, STR("reserve_memory_gib=40"), &why));
    struct share s = judged(*state, &ask, "tp=4,sequences=16,context=4096");
    assert_true(fabs(s.engine / GIB - 40) < 1e-9);
    assert_int_equal(s.sequences, engine_sequences(&s.need, 40 * GIB));
    assert_int_equal(s.binds, BINDS_TRAINER); /* 16 GPUs want more than 37 GiB */
    assert_true(s.slower > 0.01);
    s = judged(*state, &ask, "tp=4,sequences=100000,context=4096");
    assert_int_equal(s.binds, BINDS_BOTH);
}

static void an_engine_gets_what_it_needs(void **state)
{
    struct ask ask = automodel_ask(*state, "qwen3-30b-a3b", 64, "h200");
    struct share s = judged(*state, &ask, "tp=8,sequences=8,context=4096");
    assert_true(s.engine >= s.need.total && s.engine < s.need.total + 0.1 * GIB);
    assert_true(s.sequences >= 8);
    assert_true(s.binds == BINDS_NEITHER || s.slower > 0.01);
}

/* Rollouts take 0.6 of the training's GPU time: of 64 GPUs 40 train, 24 make rollouts, and both
   are done together. With 0.5 nobody divides 64 into whole nodes so: 40 and 24 are done in
   1/40 of the trainer's GPU seconds, of which 1.5 / 64 are work. */
static void gpus_are_divided_by_the_ratio(void **state)
{
    static const struct {
        const char *wish;
        int64_t trainer;
        double idle;
    } cases[] = {{"tp=8,ratio=0.6", 40, 0},
                 {"tp=8,ratio=0.5", 40, 1 - 1.5 * 40 / 64},
                 {"tp=8,ratio=1", 32, 0},
                 {"tp=8,ratio=3", 16, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ask ask = automodel_ask(*state, "qwen3-30b-a3b", 64, "h100");
        struct share s;
        struct str why;
        assert_true(share_settle(*state, &ask, wish_of(*state, cases[i].wish), &s, &why));
        assert_int_equal(s.trainer_gpus, cases[i].trainer);
        assert_int_equal(s.engine_gpus, 64 - cases[i].trainer);
        assert_int_equal(ask.gpus, cases[i].trainer);
        assert_true(fabs(s.idle - cases[i].idle) < 1e-9);
    }
}

static void what_cannot_be_is_said(void **state)
{
    struct ask ask = automodel_ask(*state, "deepseek-v3", 8, "h100");
    struct share s;
    struct str why;
    assert_false(share_settle(*state, &ask, wish_of(*state, "tp=8"), &s, &why));
    assert_true(str_find_str(why, STR("GiB")) < why.n);
    assert_false(share_settle(*state, &ask, wish_of(*state, "tp=8,ratio=1"), &s, &why));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(words_are_read),
    cmocka_unit_test(a_stated_share_is_kept),
    cmocka_unit_test(an_engine_gets_what_it_needs),
    cmocka_unit_test(gpus_are_divided_by_the_ratio),
    cmocka_unit_test(what_cannot_be_is_said),
};

UNIT_MAIN(tests)
