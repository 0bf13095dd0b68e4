/* SPDX-License-Identifier: Apache-2.0 */
/* Every model of the catalogue: parameter counts, memory and time see the same matrices. */
#include <math.h>

#include "cost_unit.h"

#include "cost/layer.h"
#include "cost/memory.h"
#include "facts/model.h"

static bool shape_of(struct arena *a, const struct model_input *m, struct model_shape *out)
{
    struct diags diags;
    diags_init(&diags, a);
    struct facts *f = facts_new_plan(a, &diags, FRAMEWORK_MEGATRON, STR("main@2026-08-22"));
    model_apply(f, m, ORIGIN_FILE);
    return config_model(f, out, false);
}

/* A machine on which a GEMM takes as many seconds as it has FLOPs, and nothing else any time. */
static struct timing flops_alone(const struct config *c)
{
    struct timing t = timing_of(c);
    const struct gemm_law law = {.rate = 1, .bytes = 1, .memory = INFINITY};
    t.gemm_16 = t.gemm_low = t.grouped_16 = t.grouped_low = law;
    t.tail = t.f.grouped_pad = 0;
    return t;
}

static double matrices_of(const struct model_shape *m, struct layer_kind kind)
{
    struct weights w;
    double sum = 0;
    op_weights(m, kind, false, &w);
    for (int i = 0; i < w.n; i++)
        sum += matrix_is_routed(&w.items[i]) ? 0 : w.items[i].in * w.items[i].out;
    return sum;
}

static double router_of(const struct model_shape *m, enum ffn ffn)
{
    return ffn == FFN_MOE ? (double)m->hidden * m->experts : 0;
}

/* The parameters are the matrices and what is small beside them; memory holds all of both; a pass
   multiplies each token by each matrix once, the router's at half the rate. */
static void agree(const struct config *c, struct layer_kind kind)
{
    struct memory_coefficients x = memory_coefficients_of(&c->machine);
    struct token_counts tokens = token_counts(c, &x);
    struct timing t = flops_alone(c);
    struct part_params p = layer_params(&c->model, kind);
    struct layer_memory l;
    layer_measure(c, &tokens, kind, &l);
    double dense = (double)(p.sharded + p.replicated), matrices = matrices_of(&c->model, kind);
    double router = router_of(&c->model, kind.ffn);
    assert_true(l.dense == dense && l.experts == (double)p.experts);
    assert_true(l.dense_matrices == matrices && l.quantised == matrices - router);
    assert_true(matrices <= dense && dense - matrices < 0.01 * dense + 16.0 * c->model.hidden);
    assert_near(layer_time(&t, kind).forward.gemm / (2 * t.tokens), matrices + router, 1e-12);
    if (p.experts > 0) assert_near(l.expert_matrices, l.experts, 1e-3);
}

static void every_model_agrees(void **state)
{
    for (size_t i = 0; i < catalogue_model_count; i++) {
        const struct model_input *in = model_catalogue(*state, i);
        struct config c = {.framework = FRAMEWORK_MEGATRON, .knobs = unit_knobs(8, 8)};
        assert_true(shape_of(*state, in, &c.model));
        c.machine = (struct machine){.peak_bf16 = 1, .hbm_bytes_per_s = 1, .nvlink_domain = 8};
        for (int k = 0; k < c.model.n_kinds; k++)
            agree(&c, c.model.kinds[k]);
        for (int k = 0; k < c.model.n_mtp_kinds; k++)
            agree(&c, c.model.mtp_kinds[k]);
    }
}

/* The parts of a model are its total. */
static void layers_add_up(void **state)
{
    for (size_t i = 0; i < catalogue_model_count; i++) {
        struct model_shape m;
        assert_true(shape_of(*state, model_catalogue(*state, i), &m));
        int64_t sum = 0, layers = 0;
        for (int k = 0; k < m.num_layers; k++) {
            struct layer_kind kind = m.kinds[m.layers[k]];
            struct part_params p = layer_params(&m, kind);
            sum += p.sharded + p.replicated + p.experts;
            layers += mixer_has_indexer(kind.mixer);
        }
        struct param_counts n = model_params(&m);
        int64_t norm = m.layernorm ? 2 * m.hidden : m.hidden;
        assert_true(n.total == sum + n.embedding + norm + (int64_t)m.learned_positions * m.hidden);
        int64_t own = m.index_layers > 0 ? m.index_layers : m.num_layers;
        assert_int_equal(layers, m.index_heads > 0 ? own : 0);
    }
}

static double step_of(struct arena *a, const char *model, int seq)
{
    struct config c = {.framework = FRAMEWORK_MEGATRON, .knobs = unit_knobs(64, 64)};
    assert_true(shape_of(a, model_find(a, str_of(model)), &c.model));
    c.machine = (struct machine){.peak_bf16 = 1e15,
                                 .hbm_bytes_per_s = 4e12,
                                 .nvlink_bytes_per_s = 4e11,
                                 .nic_bytes_per_s = 5e10,
                                 .gpus_per_node = 8,
                                 .nvlink_domain = 8};
    c.knobs.ep = 64, c.knobs.seq = seq;
    struct time_estimate t;
    assert_true(time_estimate(&c, &t, NULL));
    return t.step;
}

/* DeepSeek-V3.2 is V3 with indexers. They cost where the keys they pick are most of all, as
   attention in the latent's space is wider; over long sequences fewer keys win. */
static void an_indexer_takes_and_saves_time(void **state)
{
    assert_true(step_of(*state, "deepseek-v3.2", 4096) >
                1.01 * step_of(*state, "deepseek-v3", 4096));
    assert_true(step_of(*state, "deepseek-v3.2", 131072) <
                0.7 * step_of(*state, "deepseek-v3", 131072));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_model_agrees),
    cmocka_unit_test(layers_add_up),
    cmocka_unit_test(an_indexer_takes_and_saves_time),
};
UNIT_MAIN(tests)
