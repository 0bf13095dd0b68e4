/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter counts: the published checkpoints' sizes, and the parts they are made of. */
#include "unit/unit.h"

#include "facts/model.h"
#include "plan/config.h"

static bool shape_of(struct arena *a, const struct model_input *m, struct model_shape *out)
{
    struct diags diags;
    diags_init(&diags, a);
    struct facts *f = facts_new(a, &diags, FRAMEWORK_MEGATRON, STR("main@2026-08-22"));
    f->format = STR("plan");
    for (int i = 0; i < (int)param_count; i++)
        if (param_table[i].scope == SCOPE_MODEL)
            *facts_change(f, i) = (struct fact){.origin = ORIGIN_UNKNOWN};
    model_apply(f, m, ORIGIN_FILE);
    return config_model(f, out, false);
}

static struct param_counts counts_of(struct arena *a, const char *name)
{
    struct model_shape s;
    const struct model_input *m = model_find(a, str_of(name));
    assert_non_null(m);
    assert_true(shape_of(a, m, &s));
    return model_params(&s);
}

/* Totals of the checkpoints' tensors as Hugging Face shows them, or worked out by hand from the
   shapes; without MTP and vision. */
static void totals_are_those_of_the_checkpoints(void **state)
{
    static const struct {
        const char *model;
        int64_t total;
    } cases[] = {
        {"deepseek-v3", 671026419200},     {"qwen3-30b-a3b", 30532122624},
        {"qwen3-235b-a22b", 235093634560}, {"mixtral-8x7b", 46702792704},
        {"mixtral-8x22b", 140620634112},   {"gpt-oss-20b", 20914757184},
        {"gpt-oss-120b", 116829156672},    {"olmoe-1b-7b", 6919161856},
        {"llama-3.1-8b", 8030261248},      {"llama-3-70b", 70553706496},
        {"llama-3.1-405b", 405853388800},  {"qwen3-8b", 8190735360},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct param_counts n = counts_of(*state, cases[i].model);
        if (n.total != cases[i].total)
            print_message("%s: %lld\n", cases[i].model, (long long)n.total);
        assert_true(n.total == cases[i].total);
    }
}

static void active_parameters_use_top_k_experts(void **state)
{
    struct param_counts n = counts_of(*state, "deepseek-v3");
    /* 58 MoE layers leave 248 of 256 experts of three 7168 x 2048 matrices idle */
    assert_true(n.total - n.active == 58LL * 248 * 3 * 7168 * 2048);
    n = counts_of(*state, "llama-3.1-8b");
    assert_true(n.total == n.active);
}

/* Every entry: complete, within 3 % of what its publisher rounds to (names are rounded), active
 * below total. */
static void every_catalogue_entry_counts(void **state)
{
    for (size_t i = 0; i < catalogue_model_count; i++) {
        struct model_shape s;
        const struct model_input *m = model_catalogue(*state, i);
        assert_true(shape_of(*state, m, &s));
        struct param_counts n = model_params(&s);
        assert_true(n.total > 0 && n.active > 0 && n.active <= n.total);
        double published = (double)m->published_total;
        if (published > 0 && (double)n.total < 0.93 * published)
            print_message("%.*s\n", STR_ARG(m->id));
        if (published > 0)
            assert_true((double)n.total > 0.93 * published && (double)n.total < 1.07 * published);
    }
}

static void mtp_and_vision_stand_apart(void **state)
{
    struct param_counts v3 = counts_of(*state, "deepseek-v3"),
                        vl = counts_of(*state, "qwen3-vl-30b-a3b");
    struct param_counts text = counts_of(*state, "qwen3-30b-a3b");
    assert_true(v3.mtp > 11000000000 && v3.mtp < 12000000000);
    assert_true(vl.total == text.total);
    assert_true(vl.total + vl.vision == 31070754032);
}

static void parts_add_up_to_the_total(void **state)
{
    struct model_shape s;
    assert_true(shape_of(*state, model_find(*state, STR("nemotron-3-super-120b-a12b")), &s));
    int64_t sum = 0;
    for (int i = 0; i < s.num_layers; i++) {
        struct layer_kind kind = s.kinds[s.layers[i]];
        struct part_params a = mixer_params(&s, kind.mixer), b = ffn_params(&s, kind.ffn);
        sum += a.sharded + a.replicated + a.experts + b.sharded + b.replicated + b.experts;
    }
    struct param_counts n = model_params(&s);
    assert_true(n.total == sum + n.embedding + s.hidden);
}

static void tied_embeddings_count_once(void **state)
{
    struct model_shape s;
    assert_true(shape_of(*state, model_find(*state, STR("qwen3-8b")), &s));
    int64_t untied = model_params(&s).total;
    s.tied = true;
    assert_true(untied - model_params(&s).total == (int64_t)s.vocab * s.hidden);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(totals_are_those_of_the_checkpoints),
    cmocka_unit_test(active_parameters_use_top_k_experts),
    cmocka_unit_test(every_catalogue_entry_counts),
    cmocka_unit_test(mtp_and_vision_stand_apart),
    cmocka_unit_test(parts_add_up_to_the_total),
    cmocka_unit_test(tied_embeddings_count_once),
};
UNIT_MAIN(tests)
