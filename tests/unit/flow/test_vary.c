/* SPDX-License-Identifier: Apache-2.0 */
/* What if: each combination as if it were stated alone. */
#include "flow/vary.h"

#include "unit/plan_text.h"

static const char text[] =
    "moeplan: 1\nframework: megatron\nmodel: qwen3-30b-a3b\nplatform: h100\ngpus: 16\nseq: 4096\n"
    "mbs: 1\ngbs: 64\nep: 8\nuse_distributed_optimizer: true\n";

static struct read_options *options_of(struct arena *a)
{
    struct read_options *o = ARENA_NEW(a, struct read_options);
    o->platforms = ARENA_NEW(a, struct platform_cache);
    o->platforms->arena = a;
    return o;
}

/* The combinations of axes such as "mbs=1,2"; false with *why set. */
static bool varied(struct arena *a, const char *const *axes, size_t n, struct vary *out,
                   struct str *why)
{
    static const struct bill_wish nothing = {0};
    struct vary_axis *list = ARENA_ARRAY(a, struct vary_axis, n);
    struct arena *scratch = arena_new(0);
    struct vary_ask ask = {.path = STR("p"),
                           .text = str_of(text),
                           .options = options_of(a),
                           .axes = list,
                           .n_axes = n,
                           .wish = &nothing};
    for (size_t i = 0; i < n; i++)
        assert_true(vary_axis_read(a, str_of(axes[i]), &list[i], why));
    bool good = vary_answer(a, scratch, rules_builtin(), &ask, out, why);
    arena_free(scratch);
    return good;
}

static struct estimate *alone(struct arena *a, const char *set)
{
    struct arena *scratch = arena_new(0);
    struct estimate *e = ARENA_NEW(a, struct estimate);
    struct read_options *o = options_of(a);
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct recipe recipe;
    struct str rest = str_of(set), one;
    diags_init(diags, a);
    o->set = ARENA_ARRAY(a, struct setting, 4);
    while (str_split(&rest, ' ', &one))
        assert_true(setting_parse(a, one, &o->set[o->n_set++]));
    assert_true(estimate_read(a, diags, STR("p"), str_of(text), STR(""), o, &recipe));
    assert_true(estimate_reading(a, rules_builtin(), &recipe.readings.items[0], scratch, e, NULL));
    arena_free(scratch);
    return e;
}

static void each_combination_is_as_if_stated_alone(void **state)
{
    static const char *const axes[] = {"mbs=1,2", "seq=2048..8192"};
    static const char *const sets[] = {"mbs=1 seq=2048", "mbs=1 seq=4096", "mbs=1 seq=8192",
                                       "mbs=2 seq=2048", "mbs=2 seq=4096", "mbs=2 seq=8192"};
    struct vary x;
    struct str why;
    size_t best = 0;
    assert_true(varied(*state, axes, 2, &x, &why));
    assert_int_equal(x.n, 6);
    for (size_t i = 0; i < x.n; i++) {
        const struct estimate *e = alone(*state, sets[i]);
        assert_true(x.rows[i].complete && !x.rows[i].refused.n);
        assert_true(x.rows[i].time.step == e->time.step && x.rows[i].peak == e->memory.peak);
        assert_int_equal(x.rows[i].fits, e->memory.fits);
        best += x.rows[i].best;
        for (size_t k = 0; x.rows[i].best && k < x.n; k++)
            assert_true(x.rows[k].fits != FITS_YES ||
                        x.rows[k].time.tokens_per_s_per_gpu <= x.rows[i].time.tokens_per_s_per_gpu);
    }
    assert_int_equal(best, 1);
}

static void what_is_refused_says_by_which_rule(void **state)
{
    static const char *const axes[] = {"mbs=1,3"};
    struct vary x;
    struct str why;
    assert_true(varied(*state, axes, 1, &x, &why));
    assert_false(x.rows[0].refused.n);
    assert_str(x.rows[1].refused, "batch-divides-into-microbatches");
    assert_true(x.rows[1].why.n && !x.rows[1].best);
}

static void names_and_numbers_are_checked(void **state)
{
    static const char *const nobody[] = {"mbss=1,2"}, *const wrong[] = {"mbs=1,x"},
                             *const many[] = {"mbs=1..1048576", "seq=1..1048576", "gbs=1..64"};
    static const char *const bad[] = {"mbs", "=1", "mbs=", "mbs=8..4"};
    struct vary x;
    struct vary_axis axis;
    struct str why;
    assert_false(varied(*state, nobody, 1, &x, &why));
    assert_true(str_find_str(why, STR("did you mean mbs")) < why.n);
    assert_false(varied(*state, wrong, 1, &x, &why));
    assert_false(varied(*state, many, 3, &x, &why));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(vary_axis_read(*state, str_of(bad[i]), &axis, &why));
    assert_true(vary_axis_read(*state, STR("recompute_granularity=full,selective"), &axis, &why));
    assert_int_equal(axis.values.n, 2);
    assert_str(axis.values.items[1], "selective");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_combination_is_as_if_stated_alone),
    cmocka_unit_test(what_is_refused_says_by_which_rule),
    cmocka_unit_test(names_and_numbers_are_checked),
};

UNIT_MAIN(tests)
