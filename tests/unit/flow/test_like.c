/* SPDX-License-Identifier: Apache-2.0 */
/* The plan nearest to a recipe. */
#include "flow/like.h"

#include "ask_unit.h"

struct asked {
    struct ask ask;
    struct answers answers;
    struct like like;
};

static struct asked *liked(struct arena *a, struct ask ask, const char *name)
{
    struct arena *scratch = arena_new(0);
    struct asked *x = ARENA_NEW(a, struct asked);
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct like_recipe recipe;
    struct str why;
    diags_init(diags, a);
    *x = (struct asked){.ask = ask};
    if (!like_read(a, scratch, diags, rules_builtin(), &x->ask, str_of(name), &recipe, &why))
        fail_msg("%.*s", STR_ARG(why));
    assert_true(
        like_answer(a, scratch, diags, rules_builtin(), &x->ask, &recipe, &x->answers, &x->like));
    arena_free(scratch);
    return x;
}

static const struct like_change *change_of(const struct like *x, enum decision_id id)
{
    for (size_t i = 0; i < x->n_changes; i++)
        if (x->changes[i].decision == &decisions[id]) return &x->changes[i];
    return NULL;
}

/* On its own question the recipe is the plan. */
static void a_recipe_is_like_itself(void **state)
{
    struct ask ask = automodel_ask(*state, "qwen3-30b-a3b", 8, "h100");
    struct asked *x = liked(*state, ask, "qwen3_moe_30b_te_deepep");
    assert_true(x->answers.any);
    assert_int_equal(x->like.n_changes, 0);
    assert_int_equal(x->like.n_kept, DECISIONS - 1); /* the schedule's passes are the search's */
    assert_true(x->like.behind > -0.005);
    assert_true(str_starts(x->like.recipe.name, STR("qwen3_moe_30b_te_deepep (NVIDIA")));
}

/* Four GPUs have no 8 for experts: 4 are the nearest. What the question leaves open is the
   recipe's; what it says stays. */
static void what_does_not_divide_is_taken_near(void **state)
{
    struct ask ask = automodel_ask(*state, "qwen3-30b-a3b", 4, "h200");
    ask.seq = 2048;
    struct asked *x =
        liked(*state, ask, SOURCE_DIR "/examples/recipes/automodel/qwen3_30b_a3b_sft.yaml");
    const struct like_change *ep = change_of(&x->like, DECISION_EP);
    assert_non_null(ep);
    assert_str(ep->recipe, "8");
    assert_str(ep->plan, "4");
    assert_str(ep->why, "does not divide 4 GPUs and a batch of 256");
    assert_false(ep->timed);
    assert_int_equal(x->like.n_kept + x->like.n_changes, DECISIONS - 1);
    assert_true(x->ask.seq == 2048 && x->ask.gbs == 256);
}

/* Four sequences of 32,768 tokens have no room at a time. */
static void what_does_not_fit_says_what_it_needs(void **state)
{
    struct ask ask = automodel_ask(*state, "qwen3-30b-a3b", 8, "h100");
    ask.seq = 32768;
    ask.gbs = 32;
    struct asked *x = liked(*state, ask, "qwen3_moe_30b_te_deepep");
    const struct like_change *mbs = change_of(&x->like, DECISION_MBS);
    assert_non_null(mbs);
    assert_true(mbs->timed && mbs->peak > 80.0 * (1 << 30));
    assert_true(str_starts(mbs->why, STR("needs ")));
}

static void a_name_that_nobody_knows_has_neighbours(void **state)
{
    struct arena *scratch = arena_new(0);
    struct ask ask = automodel_ask(*state, "qwen3-30b-a3b", 8, "h200");
    struct diags diags;
    struct like_recipe recipe;
    struct str why;
    diags_init(&diags, *state);
    assert_false(like_read(*state, scratch, &diags, rules_builtin(), &ask,
                           STR("qwen3_30b_a3b_pretrain_confg"), &recipe, &why));
    assert_true(str_find_str(why, STR("did you mean qwen3_30b_a3b_pretrain_config?")) < why.n);
    arena_free(scratch);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_recipe_is_like_itself),
    cmocka_unit_test(what_does_not_divide_is_taken_near),
    cmocka_unit_test(what_does_not_fit_says_what_it_needs),
    cmocka_unit_test(a_name_that_nobody_knows_has_neighbours),
};

UNIT_MAIN(tests)
