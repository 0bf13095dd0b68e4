/* SPDX-License-Identifier: Apache-2.0 */
#include "cost_unit.h"

#include "base/vec.h"
#include "cost/comm.h"
#include "cost/kernel.h"
#include "cost/time.h"

/* A machine of round numbers whose coefficients are all ideal, and a small MoE model on it. */
static struct config round_config(void)
{
    static const struct {
        const char *name;
        double value;
    } ideal[] = {{"gemm_bf16", 1},
                 {"gemm_fp8", 1},
                 {"gemm_tail", 0},
                 {"gemm_start_s", 0},
                 {"gemm_fp8_start_s", 0},
                 {"gemm_inner", 0},
                 {"gemm_fp8_inner", 0},
                 {"grouped_training", 1},
                 {"nvlink_few", 0},
                 {"nccl_nvlink", 1},
                 {"hybridep_nic", 1},
                 {"attention", 1},
                 {"hbm_stream", 1},
                 {"activation_passes", 1},
                 {"nvlink", 1},
                 {"nic", 1},
                 {"nic_bulk", 1},
                 {"dispatch", 1},
                 {"attention_forward", 1},
                 {"quantise", 4},
                 {"routing_spread", 0.5}};
    struct config c = {.framework = FRAMEWORK_MEGATRON, .machine_known = true};
    c.machine = (struct machine){.gpus_per_node = 8,
                                 .nvlink_domain = 8,
                                 .peak_bf16 = 1e15,
                                 .peak_fp8 = 2e15,
                                 .sms = 100,
                                 .hbm_bytes_per_s = 1e12,
                                 .nvlink_bytes_per_s = 1e11,
                                 .nic_bytes_per_s = 1e10,
                                 .pcie_bytes_per_s = 1e10};
    for (size_t i = 0; i < sizeof ideal / sizeof *ideal; i++)
        c.machine.coefficients[c.machine.n_coefficients++] = (struct coefficient){
            str_of(ideal[i].name), ideal[i].value, ideal[i].value, ideal[i].value};
    c.model =
        (struct model_shape){.num_layers = 8,
                             .hidden = 1024,
                             .heads = 8,
                             .groups = 4,
                             .head_dim = 128,
                             .v_head_dim = 128,
                             .dense_ffn = 4096,
                             .gated = true,
                             .vocab = 32000,
                             .vocab_divisible_by = 128,
                             .experts = 64,
                             .topk = 4,
                             .expert_ffn = 512,
                             .n_kinds = 2,
                             .kinds = {{MIXER_ATTENTION, FFN_MOE}, {MIXER_ATTENTION, FFN_DENSE}}};
    c.knobs = (struct knobs){.gpus = 64,
                             .tp = 1,
                             .pp = 1,
                             .vpp = 1,
                             .cp = 1,
                             .ep = 8,
                             .etp = 1,
                             .mbs = 1,
                             .gbs = 256,
                             .seq = 4096,
                             .precision = PREC_BF16,
                             .dispatcher = DISPATCH_ALLTOALL,
                             .grad_bytes = 4,
                             .distributed_optimizer = true,
                             .overlap_grad_reduce = true,
                             .overlap_param_gather = true,
                             .force_balance = true};
    return c;
}

static double step_of(const struct config *c)
{
    struct time_estimate t;
    assert_true(time_estimate(c, &t, NULL));
    return t.step;
}

/* Per layer: QKV 2*1024*(1024 + 2*512), output 2*1024*1024, causal core 2*4096*1024; experts
   2*3*1024*4*512, dense MLP 2*3*1024*4096; logits 2*1024*32000. Forward and backward are three
   times that. */
static void flops_of_a_small_model(void **state)
{
    (void)state;
    struct config c = round_config();
    double attention = 4194304 + 2097152 + 8388608, moe = 12582912, dense = 25165824,
           logits = 65536000;
    assert_near(model_flops_per_token(&c), 3 * (8 * (attention + moe) + logits), 1e-12);
    c.model.layers[0] = 1;
    assert_near(model_flops_per_token(&c), 3 * (8 * attention + 7 * moe + dense + logits), 1e-12);
    c.knobs.tp = 8; /* 32000 rows become 32768 */
    assert_near(model_flops_per_token(&c),
                3 * (8 * attention + 7 * moe + dense + 1024 * 2 * 32768.0), 1e-12);
}

/* Megatron-LM's own function gives these for the published shapes at a sequence of 4096. */
static void flops_as_megatron_counts_them(void **state)
{
    (void)state;
    struct config c = {.framework = FRAMEWORK_MEGATRON};
    c.knobs = (struct knobs){.tp = 1, .seq = 4096};
    c.model = (struct model_shape){.num_layers = 61,
                                   .hidden = 7168,
                                   .heads = 128,
                                   .gated = true,
                                   .vocab = 129280,
                                   .vocab_divisible_by = 128,
                                   .dense_ffn = 18432,
                                   .mla = true,
                                   .q_lora = 1536,
                                   .kv_lora = 512,
                                   .qk_nope = 128,
                                   .qk_rope = 64,
                                   .mla_v = 128,
                                   .experts = 256,
                                   .topk = 8,
                                   .expert_ffn = 2048,
                                   .shared_ffn = 2048,
                                   .mtp_layers = 1,
                                   .n_mtp_kinds = 1,
                                   .mtp_kinds = {{MIXER_MLA, FFN_MOE}},
                                   .n_kinds = 2,
                                   .kinds = {{MIXER_MLA, FFN_DENSE}, {MIXER_MLA, FFN_MOE}}};
    for (int i = 3; i < 61; i++)
        c.model.layers[i] = 1;
    assert_near(model_flops_per_token(&c), 259992950784.0, 1e-12);
}

/* FLOPs at the rate beside bytes at 1e12 B/s. */
static double product(double flops, double rate, double bytes)
{
    double a = flops / rate, b = bytes / 1e12;
    return cbrt(a * a * a + b * b * b);
}

/* 4096 x 1024 x 2048 at 1e15 FLOP/s and its operands: 17.2 us beside 29.4 us forward. */
static void a_linear_is_flops_beside_operands(void **state)
{
    (void)state;
    struct config c = round_config();
    struct timing t = timing_of(&c);
    struct pass f = {0}, b = {0};
    kernel_linear(&t, (struct linear){.rows = 4096, .out = 2048, .in = 1024}, &f, &b);
    double flops = 2.0 * 4096 * 2048 * 1024;
    double x = 4096.0 * 1024, y = 4096.0 * 2048, w = 1024.0 * 2048;
    double forward = product(flops, 1e15, 2 * (x + y + w));
    assert_near(f.gemm, forward, 1e-12);
    assert_near(b.gemm, forward + product(flops, 1e15, 2 * (x + y) + 8 * w), 1e-12);
    assert_true(f.quantise == 0 && f.grouped == 0);
    c.knobs.precision = PREC_FP8_TENSORWISE;
    t = timing_of(&c);
    struct pass f8 = {0}, b8 = {0};
    kernel_linear(&t, (struct linear){.rows = 4096, .out = 2048, .in = 1024}, &f8, &b8);
    assert_near(f8.gemm, product(flops, 2e15, x + w + 2 * y), 1e-12);
    assert_near(f8.quantise, 4 * x / 1e12, 1e-12);
}

/* Eight ranks send 7/8 of 80 MB at 1e11 B/s: 0.7 ms, after 10 us, and the ramp's sqrt(14 us x 0.7
   ms) = 99 us; across two domains four of eight share each NIC's 1e10 B/s, after 30 us + 3 * 5 us.
 */
static void collectives_inside_and_across_domains(void **state)
{
    (void)state;
    struct config c = round_config();
    struct timing t = timing_of(&c);
    assert_true(comm_collective(&t, 8e7, 1, 1) == 0);
    assert_near(comm_collective(&t, 8e7, 8, 8), 10e-6 + 7e-4 + sqrt(14e-6 * 7e-4), 1e-12);
    assert_near(comm_collective(&t, 8e7, 8, 16), 45e-6 + 7e7 / 4e10, 1e-12);
}

/* 4096 tokens of 1024 bf16 elements, 4 of 64 experts each. Eight ranks in a domain: 7/8 of the
   copies leave the rank. Over two domains alltoall sends half of 4 copies through the NIC, and
   lands 2 x 7/8 of them on other ranks. */
static void dispatch_counts_copies(void **state)
{
    (void)state;
    struct config c = round_config();
    struct timing t = timing_of(&c);
    double token_bytes = 4096 * 2048.0;
    assert_near(comm_dispatch(&t, 1024), 2 * (44e-6 + token_bytes * 4 * 7 / 8 / 1e11), 1e-12);
    c.knobs.ep = 16;
    t = timing_of(&c);
    double slow = token_bytes * 2 / 1e10, fast = token_bytes * 2 * 7 / 8 / 1e11;
    assert_near(comm_dispatch(&t, 1024),
                1.5 * 2 * (44e-6 + 42e-6 + cbrt(slow * slow * slow + fast * fast * fast)), 1e-12);
    c.knobs.ep = 1;
    t = timing_of(&c);
    assert_true(comm_dispatch(&t, 1024) == 0);
}

/* Nodes and domains of eight: groups of six lie across the edge of some, those of four of none; one
   domain alone has no edge. */
static void groups_that_divide_no_node_lie_across_domains(void **state)
{
    (void)state;
    static const struct {
        int gpus, ep, etp;
        double domains;
    } cases[] = {{48, 4, 1, 1}, {48, 6, 1, 2}, {48, 3, 2, 2}, {6, 6, 1, 1}, {48, 24, 1, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config c = round_config();
        c.knobs.gpus = cases[i].gpus, c.knobs.ep = cases[i].ep, c.knobs.etp = cases[i].etp;
        struct timing t = timing_of(&c);
        assert_true(comm_expert_domains(&t) == cases[i].domains);
    }
    struct config rack =
        round_config(); /* of nodes of four: whole nodes can be laid side by side */
    rack.machine.nvlink_domain = 72, rack.machine.gpus_per_node = 4;
    rack.knobs.gpus = 256, rack.knobs.ep = 64;
    struct timing t = timing_of(&rack);
    assert_true(comm_expert_domains(&t) == 1);
}

/* Of 64 experts in eight groups a token meets 4 in two groups. One domain of two holds four groups:
   it misses both with probability 4/8 x 3/7, so that 1 - 3/14 of a copy crosses. */
static void groups_limit_the_domains_met(void **state)
{
    (void)state;
    struct config c = round_config();
    c.knobs.ep = 16, c.knobs.dispatcher = DISPATCH_HYBRIDEP;
    c.model.router_groups = 8, c.model.router_group_topk = 2;
    c.machine.nvlink_bytes_per_s = 1e18;
    struct timing t = timing_of(&c);
    t.law.move = INFINITY;
    double across = 4096 * 2048.0 * (1 - 3.0 / 14) / 1e10;
    assert_near(comm_dispatch(&t, 1024), 2 * (86e-6 + across), 1e-9);
}

static void the_breakdown_is_the_step(void **state)
{
    (void)state;
    static const int layouts[][4] = {
        {1, 1, 1, 8}, {2, 4, 1, 8}, {1, 4, 2, 4}, {4, 2, 4, 8}, {1, 8, 1, 8}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct config c = round_config();
        c.knobs.tp = layouts[i][0], c.knobs.pp = layouts[i][1], c.knobs.vpp = layouts[i][2],
        c.knobs.ep = layouts[i][3];
        c.knobs.sequence_parallel = c.knobs.tp > 1;
        struct time_estimate t;
        assert_true(time_estimate(&c, &t, NULL));
        double sum = t.compute + t.recompute + t.ep_exposed + t.tp_exposed + t.cp_exposed +
                     t.pp_exposed + t.dp_exposed + t.bubble + t.host + t.optimizer;
        assert_near(sum, t.step, 1e-9);
        assert_true(t.low < t.step && t.step < t.high);
        assert_near(t.tokens_per_s_per_gpu, 256 * 4096.0 / t.step / 64, 1e-12);
        assert_near(t.mfu, t.tokens_per_s_per_gpu * model_flops_per_token(&c) / 1e15, 1e-12);
    }
}

static void more_work_is_never_faster(void **state)
{
    (void)state;
    struct config c = round_config();
    double step = step_of(&c);
    c.knobs.recompute = RECOMPUTE_SELECTIVE,
    c.knobs.recompute_modules = MOD_MOE_ACT | MOD_LAYERNORM;
    double some = step_of(&c);
    c.knobs.recompute_modules = MOD_MOE | MOD_LAYERNORM;
    double moe = step_of(&c);
    c.knobs.recompute = RECOMPUTE_FULL;
    double full = step_of(&c);
    assert_true(step < some && some < moe && moe < full);
    c = round_config();
    c.model.expert_ffn *= 2;
    assert_true(step_of(&c) > step);
    c = round_config();
    c.model.experts *= 4; /* the same rows over more and smaller GEMMs */
    assert_true(step_of(&c) > step);
    c = round_config();
    c.knobs.force_balance = false;
    assert_true(step_of(&c) > step);
    c = round_config();
    c.knobs.attention = ATTN_UNFUSED;
    assert_true(step_of(&c) > step);
    c = round_config();
    c.knobs.muon = true;
    assert_true(step_of(&c) > step);
    c.knobs.optimizer_offload = 0.5;
    double offloaded = step_of(&c);
    c.knobs.optimizer_offload = 1;
    assert_true(step < offloaded && offloaded < step_of(&c));
    c = round_config();
    c.knobs.gbs *= 2;
    assert_true(step_of(&c) > 1.5 * step && step_of(&c) <= 2 * step);
}

static void better_machines_are_never_slower(void **state)
{
    (void)state;
    struct config c = round_config();
    c.knobs.tp = 2, c.knobs.ep = 16, c.knobs.pp = 2, c.knobs.sequence_parallel = true;
    double step = step_of(&c);
    double *const rates[] = {&c.machine.peak_bf16, &c.machine.hbm_bytes_per_s,
                             &c.machine.nvlink_bytes_per_s, &c.machine.nic_bytes_per_s};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        *rates[i] *= 2;
        double faster = step_of(&c);
        assert_true(faster < step);
        step = faster;
    }
    c.machine.nvlink_domain = 32; /* no exchange leaves the domain */
    assert_true(step_of(&c) < step);
}

static void overlap_and_graphs_only_help(void **state)
{
    (void)state;
    struct config c = round_config();
    c.knobs.ep = 32;
    double step = step_of(&c);
    c.knobs.overlap_ep = true;
    double overlapped = step_of(&c);
    assert_true(overlapped < step);
    c.knobs.graph_impl = GRAPH_TE, c.knobs.graph_scope = SCOPE_ATTN | SCOPE_MOE_ROUTER;
    double graphed = step_of(&c);
    assert_true(graphed < overlapped);
    c.knobs.graph_impl = GRAPH_FULL_ITERATION, c.knobs.graph_scope = 0;
    assert_true(step_of(&c) < graphed);
    c = round_config();
    c.knobs.overlap_grad_reduce = c.knobs.overlap_param_gather = false;
    c.knobs.ep = 32;
    assert_true(step_of(&c) > step);
    c = round_config();
    c.knobs.ep = 32, c.knobs.pp = 2,
    c.knobs.overlap_ep = true; /* one microbatch in flight: nothing to hide behind */
    double with = step_of(&c);
    c.knobs.overlap_ep = false;
    assert_true(with == step_of(&c));
}

/* The block method repeats the first layers of a chunk only; all of them are what the uniform
 * method repeats. */
static void block_recompute_is_in_between(void **state)
{
    (void)state;
    struct config c = round_config();
    double none = step_of(&c);
    c.knobs.recompute = RECOMPUTE_FULL;
    double uniform = step_of(&c);
    c.knobs.recompute_method = METHOD_BLOCK;
    c.knobs.recompute_num_layers = 4;
    double half = step_of(&c);
    assert_true(none < half && half < uniform);
    c.knobs.recompute_num_layers = 8;
    assert_near(step_of(&c), uniform, 1e-12);
}

/* A search keeps the layers while pipeline, batch, data parallelism and overlap change. */
static void kept_layers_give_the_same_step(void **state)
{
    (void)state;
    struct config c = round_config(), other = round_config();
    struct time_layers layers;
    time_layers_init(&c, &layers);
    other.knobs.pp = 4, other.knobs.vpp = 2, other.knobs.gbs = 512, other.knobs.overlap_ep = true;
    other.knobs.overlap_param_gather = false;
    other.knobs.fp8_param_gather = true, other.knobs.distributed_optimizer = false;
    struct time_estimate kept, whole;
    assert_true(time_estimate_layers(&layers, &other, &kept, NULL));
    assert_true(time_estimate(&other, &whole, NULL));
    assert_true(kept.step == whole.step && kept.low == whole.low &&
                kept.optimizer == whole.optimizer);
}

static void terms_carry_their_numbers(void **state)
{
    struct config c = round_config();
    struct cost_trace trace = {.arena = *state};
    struct time_estimate t;
    assert_true(time_estimate(&c, &t, &trace));
    assert_true(trace.terms.n > 10);
    const struct cost_term *last = &trace.terms.items[trace.terms.n - 1];
    assert_string_equal(last->name, "step");
    assert_true(last->value == t.step);
    assert_string_equal(trace.terms.items[0].name, "attention + MoE layer, forward");
    assert_non_null(strstr(trace.terms.items[0].formula, "expert GEMM"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flops_of_a_small_model),
        cmocka_unit_test(flops_as_megatron_counts_them),
        cmocka_unit_test(a_linear_is_flops_beside_operands),
        cmocka_unit_test(collectives_inside_and_across_domains),
        cmocka_unit_test(dispatch_counts_copies),
        cmocka_unit_test(groups_that_divide_no_node_lie_across_domains),
        cmocka_unit_test(groups_limit_the_domains_met),
        cmocka_unit_test(the_breakdown_is_the_step),
        cmocka_unit_test(more_work_is_never_faster),
        cmocka_unit_test(better_machines_are_never_slower),
        cmocka_unit_test(overlap_and_graphs_only_help),
        cmocka_unit_test(block_recompute_is_in_between),
        cmocka_unit_test(kept_layers_give_the_same_step),
        cmocka_unit_test(terms_carry_their_numbers)};
    return cmocka_run_group_tests(tests, unit_open_arena, unit_close_arena);
}
