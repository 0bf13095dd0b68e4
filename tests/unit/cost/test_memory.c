/* SPDX-License-Identifier: Apache-2.0 */
#include "cost_unit.h"

#include "base/vec.h"
#include "cost/memory_stage.h"
#include "cost/time.h"

/* 128 GPUs, 24 layers of attention with two dense and 22 MoE layers, one MTP depth. */
static struct config moe_config(void)
{
    struct config c = {.framework = FRAMEWORK_MEGATRON, .machine_known = true};
    c.machine = (struct machine){.compute_capability = 9.0, .capacity_bytes = 77 * GIB};
    c.model = (struct model_shape){
        .num_layers = 24,
        .hidden = 2048,
        .heads = 32,
        .groups = 8,
        .head_dim = 128,
        .v_head_dim = 128,
        .dense_ffn = 8192,
        .gated = true,
        .qk_layernorm = true,
        .vocab = 131072,
        .vocab_divisible_by = 128,
        .experts = 64,
        .topk = 4,
        .expert_ffn = 1024,
        .shared_ffn = 1024,
        .mtp_layers = 1,
        .n_mtp_kinds = 1,
        .mtp_kinds = {{MIXER_ATTENTION, FFN_MOE}},
        .n_kinds = 2,
        .kinds = {{MIXER_ATTENTION, FFN_DENSE}, {MIXER_ATTENTION, FFN_MOE}},
    };
    for (int i = 2; i < c.model.num_layers; i++)
        c.model.layers[i] = 1;
    c.knobs = unit_knobs(128, 512);
    return c;
}

static struct memory_estimate estimate(const struct config *c)
{
    struct memory_estimate e;
    memset(&e, 0, sizeof e);
    assert_true(memory_estimate(c, &e, NULL));
    return e;
}

/* Parameters of the whole model from its stages: experts times their shards, without copies. */
static double model_elements(const struct config *c, double *copies)
{
    struct memory_work w;
    double sum = 0;
    *copies = 0;
    assert_true(memory_prepare(c, &w));
    for (int i = 0; i < c->knobs.pp; i++) {
        struct holding s = holding_of_stage(&w, i);
        sum += s.dense - s.copies + s.experts * c->knobs.ep * c->knobs.etp;
        *copies += s.copies;
    }
    return sum;
}

static void stages_add_up_to_the_model(void **state)
{
    (void)state;
    static const struct {
        int pp, vpp, ep, etp;
        bool tied;
    } cases[] = {{1, 1, 1, 1, false},
                 {2, 1, 8, 1, false},
                 {4, 3, 64, 1, false},
                 {8, 3, 16, 2, true},
                 {1, 1, 4, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config c = moe_config();
        c.model.tied = cases[i].tied;
        c.knobs.pp = cases[i].pp, c.knobs.vpp = cases[i].vpp;
        c.knobs.ep = cases[i].ep, c.knobs.etp = cases[i].etp;
        struct param_counts n = model_params(&c.model);
        double copies, sum = model_elements(&c, &copies);
        assert_true(sum == (double)(n.total + n.mtp));
        double embedding = (double)c.model.vocab * c.model.hidden;
        bool split = cases[i].pp > 1;
        assert_true(copies == embedding * (split + (split && cases[i].tied)));
    }
}

static void every_family_adds_up(void **state)
{
    (void)state;
    struct config c = moe_config();
    c.model.mla = true;
    c.model.q_lora = 768, c.model.kv_lora = 512;
    c.model.qk_nope = 128, c.model.qk_rope = 64, c.model.mla_v = 128;
    c.model.latent = 512;
    c.model.add_bias = true;
    c.model.mamba_heads = 32, c.model.mamba_head_dim = 64, c.model.mamba_state = 128;
    c.model.mamba_groups = 8, c.model.mamba_conv = 4;
    c.model.lin_k_heads = 8, c.model.lin_v_heads = 16, c.model.lin_k_dim = 128;
    c.model.lin_v_dim = 128, c.model.lin_conv = 4;
    c.model.index_heads = 8, c.model.index_dim = 128, c.model.index_layers = 24;
    c.model.vision_layers = 4, c.model.vision_hidden = 512, c.model.vision_ffn = 2048;
    c.model.vision_heads = 8, c.model.vision_patch = 16, c.model.vision_merge = 2;
    c.model.n_kinds = 4;
    c.model.kinds[0] = (struct layer_kind){MIXER_MLA, FFN_MOE};
    c.model.kinds[1] = (struct layer_kind){MIXER_MAMBA, FFN_DENSE};
    c.model.kinds[2] = (struct layer_kind){MIXER_LINEAR, FFN_MOE};
    c.model.kinds[3] = (struct layer_kind){MIXER_MLA, FFN_DENSE};
    for (int i = 0; i < 24; i++)
        c.model.layers[i] = (uint8_t)(i % 4);
    c.knobs.pp = 4;
    struct param_counts n = model_params(&c.model);
    double copies, sum = model_elements(&c, &copies);
    assert_true(sum == (double)(n.total + n.mtp + n.vision));
}

/* Weights, gradients and optimizer states of the fullest stage. */
static double state_bytes(const struct config *c)
{
    struct memory_estimate e = estimate(c);
    double most = 0;
    for (int i = 0; i < e.n_stages; i++) {
        const struct stage_memory *s = &e.stages[i];
        double sum = s->params + s->grads + s->optimizer;
        if (sum > most) most = sum;
    }
    return most;
}

static void more_parallelism_never_raises_the_state(void **state)
{
    (void)state;
    static const int degrees[] = {1, 2, 4, 8};
    for (int dp = 1; dp <= 16; dp *= 4)
        for (size_t p = 0; p < 4; p++)
            for (size_t t = 0; t < 4; t++)
                for (size_t e = 0; e < 4; e++) {
                    struct config c = moe_config(), more = c;
                    c.knobs.pp = degrees[p], c.knobs.tp = degrees[t], c.knobs.ep = degrees[e];
                    c.knobs.gpus = (int64_t)dp * c.knobs.pp * c.knobs.tp;
                    if (c.knobs.ep > dp * c.knobs.tp) continue;
                    double bytes = state_bytes(&c);
                    more = c, more.knobs.pp *= 2, more.knobs.gpus *= 2;
                    assert_true(state_bytes(&more) <= bytes);
                    more = c, more.knobs.tp *= 2, more.knobs.gpus *= 2;
                    assert_true(state_bytes(&more) <= bytes);
                    more = c, more.knobs.ep *= 2;
                    if (more.knobs.ep <= dp * c.knobs.tp) assert_true(state_bytes(&more) <= bytes);
                }
}

static double saved_by_layer(const struct config *c, struct layer_kind kind)
{
    struct layer_memory l;
    struct memory_coefficients x = memory_coefficients_of(&c->machine);
    struct token_counts t = token_counts(c, &x);
    layer_measure(c, &t, kind, &l);
    return c->knobs.recompute == RECOMPUTE_FULL ? l.input : l.kept;
}

static void more_recomputation_never_raises_activations(void **state)
{
    (void)state;
    struct config c = moe_config();
    c.model.kv_lora = 512, c.model.qk_nope = 128, c.model.qk_rope = 64, c.model.mla_v = 128;
    static const struct layer_kind kinds[] = {
        {MIXER_ATTENTION, FFN_DENSE}, {MIXER_ATTENTION, FFN_MOE}, {MIXER_MLA, FFN_MOE}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint32_t modules = 0; modules < 128; modules++)
            for (uint32_t one = 1; one < 128; one <<= 1) {
                struct config more = c;
                more.knobs.recompute = RECOMPUTE_SELECTIVE;
                more.knobs.recompute_modules = modules;
                double bytes = saved_by_layer(&more, kinds[k]);
                assert_true(bytes <= saved_by_layer(&c, kinds[k]));
                more.knobs.recompute_modules |= one;
                double less = saved_by_layer(&more, kinds[k]);
                assert_true(less <= bytes);
                more.knobs.recompute = RECOMPUTE_FULL;
                assert_true(saved_by_layer(&more, kinds[k]) <= less);
            }
}

static void block_and_uniform_recompute_whole_layers(void **state)
{
    (void)state;
    struct config c = moe_config();
    double last = estimate(&c).stages[0].activations;
    c.knobs.recompute = RECOMPUTE_FULL;
    c.knobs.recompute_method = METHOD_BLOCK;
    for (int n = 1; n <= 24; n++) {
        c.knobs.recompute_num_layers = n;
        double bytes = estimate(&c).stages[0].activations;
        assert_true(bytes < last);
        last = bytes;
    }
    c.knobs.recompute_method = METHOD_UNIFORM;
    c.knobs.recompute_num_layers = 1;
    assert_near(estimate(&c).stages[0].activations, last, 1e-12);
    c.knobs.recompute_num_layers = 4;
    assert_true(estimate(&c).stages[0].activations < last);
}

static void microbatches_in_flight(void **state)
{
    (void)state;
    static const struct {
        int pp, vpp, group, stage;
        int64_t microbatches;
        double of_chunk[4];
    } cases[] = {
        {1, 1, 0, 0, 8, {1}},          {4, 1, 0, 0, 8, {4}},    {4, 1, 0, 3, 8, {1}},
        {4, 1, 0, 0, 2, {2}},          {4, 2, 0, 0, 8, {7, 4}}, /* 6 + 4 + 1 passes in groups of 4
                                                                 */
        {4, 2, 0, 3, 8, {4, 1}},       {4, 2, 5, 0, 8, {7, 5}}, {4, 4, 0, 0, 64, {7, 4, 4, 4}},
        {4, 4, 0, 0, 1, {4, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct knobs k = {.gpus = cases[i].pp,
                          .tp = 1,
                          .pp = cases[i].pp,
                          .vpp = cases[i].vpp,
                          .cp = 1,
                          .ep = 1,
                          .etp = 1,
                          .mbs = 1,
                          .gbs = cases[i].microbatches,
                          .group_size = cases[i].group};
        double n[LAYOUT_MAX_CHUNKS];
        pipeline_in_flight(&k, cases[i].stage, n);
        struct passes passes = pipeline_passes(&k, cases[i].stage);
        double sum = 0;
        for (int v = 0; v < k.vpp; v++) {
            assert_true(n[v] == cases[i].of_chunk[v]);
            sum += n[v];
        }
        assert_true(passes.all == sum);
        assert_true(passes_of_last(&passes, k.vpp) == n[k.vpp - 1]);
    }
}

static void set_recompute(struct knobs *k, int granularity, uint32_t modules, int layers)
{
    k->recompute = (uint8_t)granularity;
    k->recompute_modules = modules;
    k->recompute_num_layers = layers;
}

/* Peaks of the layers of a plan that recomputes nothing, measured for what `c` recomputes. */
static struct memory_estimate estimate_again(const struct config *c)
{
    static struct memory_work plain, again;
    static struct saved_list saved[MODEL_MAX_KINDS];
    struct memory_coefficients x = memory_coefficients_of(&c->machine);
    struct config without = *c;
    struct memory_estimate e;
    memset(&e, 0, sizeof e);
    without.knobs = time_key_without_recompute(c->knobs);
    memory_measure_saved(&without, &x, saved, &plain);
    memory_measure_again(c, &plain, saved, &again);
    assert_true(memory_divide(c, &again));
    memory_peaks(&again, &e);
    return e;
}

static void layers_measured_again_are_as_measured_at_once(void **state)
{
    (void)state;
    struct config c = moe_config();
    struct knobs *k = &c.knobs;
    k->pp = 4, k->ep = 8;
    for (int i = 0; i < 6; i++) {
        set_recompute(k, RECOMPUTE_NONE, 0, 0);
        k->offload_modules = i == 4 ? MOD_CORE_ATTN : 0;
        if (i == 1) set_recompute(k, RECOMPUTE_SELECTIVE, MOD_CORE_ATTN, 0);
        if (i == 2 || i == 4) set_recompute(k, RECOMPUTE_SELECTIVE, MOD_MOE_ACT | MOD_MLP, 0);
        if (i == 3) set_recompute(k, RECOMPUTE_SELECTIVE, MOD_MOE, 0);
        if (i == 5) set_recompute(k, RECOMPUTE_FULL, 0, 1);
        struct memory_estimate once = estimate(&c), again = estimate_again(&c);
        for (int s = 0; s < once.n_stages; s++)
            assert_true(once.stages[s].total == again.stages[s].total &&
                        once.stages[s].high == again.stages[s].high);
    }
}

static void estimates_do_not_change_from_run_to_run(void **state)
{
    (void)state;
    struct config c = moe_config();
    c.knobs.pp = 4, c.knobs.ep = 8;
    struct memory_estimate a = estimate(&c), b = estimate(&c);
    assert_memory_equal(&a, &b, sizeof a);
}

/* Peaks of public runs on 8 B200, layers cut to four (SimuMax v1.2 validation tables), which say
   what the arithmetic must give within one percent. */
static struct config four_layers(void)
{
    struct config c = moe_config();
    c.machine.compute_capability = 10.0;
    c.model.num_layers = 4;
    c.model.mtp_layers = 0;
    c.model.qk_layernorm = false;
    c.knobs.gpus = 8;
    c.knobs.gbs = 32;
    return c;
}

static void dense_peaks_as_measured(void **state)
{
    (void)state;
    struct config c = four_layers();
    c.model.hidden = 16384, c.model.heads = 128, c.model.dense_ffn = 53248;
    c.model.vocab = 128256;
    c.model.experts = 0;
    c.model.n_kinds = 1;
    memset(c.model.layers, 0, sizeof c.model.layers);
    c.knobs.tp = 2, c.knobs.gbs = 16;
    c.knobs.sequence_parallel = true;
    assert_near(estimate(&c).peak / GIB, 81.59, 0.01);
    c.knobs.tp = 8;
    assert_near(estimate(&c).peak / GIB, 38.57, 0.01);
    c.knobs.tp = 1, c.knobs.pp = 2;
    c.knobs.sequence_parallel = false;
    assert_near(estimate(&c).peak / GIB, 87.08, 0.01);
}

static void moe_peaks_as_measured(void **state)
{
    (void)state;
    struct config c = four_layers();
    c.model.mla = true;
    c.model.hidden = 5120, c.model.heads = c.model.groups = 128, c.model.dense_ffn = 12288;
    c.model.q_lora = 1536, c.model.kv_lora = 512;
    c.model.qk_nope = 128, c.model.qk_rope = 64, c.model.mla_v = 128;
    c.model.vocab = 102400;
    c.model.experts = 160, c.model.topk = 6, c.model.expert_ffn = 1536, c.model.shared_ffn = 3072;
    c.model.kinds[0] = (struct layer_kind){MIXER_MLA, FFN_DENSE};
    c.model.kinds[1] = (struct layer_kind){MIXER_MLA, FFN_MOE};
    for (int i = 0; i < 4; i++)
        c.model.layers[i] = i > 0;
    c.knobs.ep = 8;
    assert_near(estimate(&c).peak / GIB, 45.63, 0.01);
    c.knobs.ep = 4, c.knobs.pp = 2, c.knobs.gbs = 16;
    assert_near(estimate(&c).peak / GIB, 44.70, 0.01);
}

/* Allocated after a step of Qwen3-30B-A3B on 16 H100 (TP 2, PP 2, EP 4) with 0, 25, ... 100 % of
   the optimizer on the CPU, in 1e9 bytes, as Megatron-Bridge's documentation gives them. */
static void cpu_offload_moves_the_moments(void **state)
{
    (void)state;
    static const double measured[] = {47.2, 43.4, 39.6, 35.6, 32.0};
    struct config c = moe_config();
    c.model.num_layers = 48;
    c.model.groups = 4;
    c.model.vocab = 151936;
    c.model.experts = 128, c.model.topk = 8, c.model.expert_ffn = 768, c.model.shared_ffn = 0;
    c.model.mtp_layers = 0;
    c.model.n_kinds = 1;
    c.model.kinds[0] = (struct layer_kind){MIXER_ATTENTION, FFN_MOE};
    memset(c.model.layers, 0, sizeof c.model.layers);
    c.knobs.gpus = 16, c.knobs.gbs = 8;
    c.knobs.tp = c.knobs.pp = 2, c.knobs.ep = 4;
    c.knobs.sequence_parallel = true;
    for (int i = 0; i < 5; i++) {
        c.knobs.optimizer_offload = i / 4.0;
        struct memory_work w;
        assert_true(memory_prepare(&c, &w));
        struct stage_memory s = estimate(&c).stages[0];
        assert_near(s.params + s.grads + s.optimizer + w.workspace, 1e9 * measured[i], 0.01);
    }
}

/* Little to keep for the backward, much for the optimizer step. */
static void step_heavy(struct config *c)
{
    c->knobs.gpus = 8, c->knobs.seq = 128;
    c->knobs.precision_aware = true, c->knobs.exp_avg_bytes = c->knobs.exp_avg_sq_bytes = 2;
}

static void the_explanation_adds_up(void **state)
{
    struct config c = moe_config();
    c.knobs.force_balance = false;
    c.model.hidden_dropout = 0.1;
    for (int variant = 0; variant < 8; variant++) {
        c.knobs.pp = variant == 1 ? 4 : 1;
        c.knobs.ep = variant == 2 ? 8 : 1;
        c.knobs.recompute = variant == 3 ? RECOMPUTE_FULL : RECOMPUTE_NONE;
        c.knobs.precision_aware = variant == 4;
        c.knobs.exp_avg_bytes = variant == 4 ? 2 : 4;
        c.knobs.precision = variant == 5 ? PREC_MXFP8 : PREC_BF16;
        c.knobs.layers_offloaded = variant == 5 ? 6 : 0;
        c.knobs.overlap_ep = variant == 2;
        c.knobs.graph_impl = variant >= 6 ? GRAPH_TE : GRAPH_NONE;
        if (variant == 7) step_heavy(&c);
        struct cost_trace trace = {.arena = *state};
        struct memory_estimate e;
        assert_true(memory_estimate(&c, &e, &trace));
        double sum = 0;
        for (size_t i = 0; i < trace.terms.n; i++) {
            assert_non_null(trace.terms.items[i].formula);
            sum += trace.terms.items[i].value;
        }
        if (variant != 5)
            assert_near(sum, e.peak, 1e-12);
        else
            assert_near(sum, e.peak, 1e-9);
    }
}

static void fits_by_the_interval(void **state)
{
    (void)state;
    struct config c = moe_config();
    c.knobs.ep = 8;
    struct memory_estimate e = estimate(&c);
    assert_true(e.peak_low < e.peak && e.peak < e.peak_high && e.reserved > e.peak);
    c.machine.capacity_bytes = e.peak_high;
    assert_int_equal(estimate(&c).fits, FITS_YES);
    c.machine.capacity_bytes = e.peak;
    assert_int_equal(estimate(&c).fits, FITS_TIGHT);
    c.machine.capacity_bytes = e.peak_low - 1;
    assert_int_equal(estimate(&c).fits, FITS_NO);
}

static void a_capacity_factor_bounds_imbalance(void **state)
{
    (void)state;
    struct config c = moe_config();
    c.knobs.ep = 8;
    double balanced = estimate(&c).peak;
    c.knobs.force_balance = false;
    struct memory_estimate natural = estimate(&c);
    assert_true(natural.peak > balanced);
    c.knobs.capacity_factor = 1;
    assert_near(estimate(&c).peak, balanced, 1e-12);
    c.knobs.capacity_factor = 2, c.knobs.pad_to_capacity = true;
    assert_true(estimate(&c).peak > natural.peak);
}

/* A pool of the captured modules' tensors: taken from the activations, and there in the optimizer
   step too. */
static void graphs_keep_what_they_capture(void **state)
{
    (void)state;
    struct config c = moe_config();
    struct stage_memory eager = estimate(&c).stages[0];
    assert_true(eager.graphs == 0 && eager.phase != 'C');
    double last = 0;
    static const uint32_t scopes[] = {SCOPE_MOE_ROUTER, SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS,
                                      SCOPE_ATTN | SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS, 0};
    c.knobs.graph_impl = GRAPH_TE;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        c.knobs.graph_scope = scopes[i];
        struct stage_memory s = estimate(&c).stages[0];
        assert_true(s.graphs > last);
        assert_near(s.graphs + s.activations, eager.activations, 1e-12);
        assert_near(s.total, eager.total, 1e-12);
        last = s.graphs;
    }
    c.knobs.graph_impl = GRAPH_FULL_ITERATION;
    assert_true(estimate(&c).stages[0].graphs > last);

    step_heavy(&c);
    struct stage_memory graphed = estimate(&c).stages[0];
    c.knobs.graph_impl = GRAPH_NONE;
    struct stage_memory step = estimate(&c).stages[0];
    assert_true(step.phase == 'C' && step.activations == 0);
    assert_true(graphed.phase == 'C' && graphed.activations == 0 && graphed.graphs > 0);
    assert_near(graphed.total, step.total + graphed.graphs, 1e-12);
}

static void modules_share_the_peak(void **state)
{
    (void)state;
    struct config c = moe_config();
    c.knobs.pp = 4;
    struct memory_estimate e = estimate(&c);
    struct memory_modules parts;
    assert_true(memory_modules(&c, &e, &parts));
    assert_near(parts.mixers + parts.ffns + parts.rest, e.peak, 1e-12);
    assert_true(parts.mixers > 0 && parts.rest > 0 && parts.ffns > parts.mixers);
    double experts = parts.ffns;
    c.model.expert_ffn *= 2;
    e = estimate(&c);
    struct memory_modules wider;
    assert_true(memory_modules(&c, &e, &wider));
    assert_near(wider.mixers, parts.mixers, 1e-12);
    assert_true(wider.ffns > 1.5 * experts);
}

static void impossible_splits_are_told(void **state)
{
    (void)state;
    struct config c = moe_config();
    struct memory_estimate e;
    c.knobs.pp = 64;
    assert_false(memory_estimate(&c, &e, NULL));
    c.knobs.pp = 300, c.model.num_layers = 600;
    assert_false(memory_estimate(&c, &e, NULL));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(stages_add_up_to_the_model),
    cmocka_unit_test(every_family_adds_up),
    cmocka_unit_test(more_parallelism_never_raises_the_state),
    cmocka_unit_test(more_recomputation_never_raises_activations),
    cmocka_unit_test(block_and_uniform_recompute_whole_layers),
    cmocka_unit_test(microbatches_in_flight),
    cmocka_unit_test(layers_measured_again_are_as_measured_at_once),
    cmocka_unit_test(estimates_do_not_change_from_run_to_run),
    cmocka_unit_test(dense_peaks_as_measured),
    cmocka_unit_test(moe_peaks_as_measured),
    cmocka_unit_test(cpu_offload_moves_the_moments),
    cmocka_unit_test(the_explanation_adds_up),
    cmocka_unit_test(fits_by_the_interval),
    cmocka_unit_test(a_capacity_factor_bounds_imbalance),
    cmocka_unit_test(graphs_keep_what_they_capture),
    cmocka_unit_test(modules_share_the_peak),
    cmocka_unit_test(impossible_splits_are_told),
};
UNIT_MAIN(tests)
