/* SPDX-License-Identifier: Apache-2.0 */
/* The terms of the step time, worked out by hand. */
#include "plan/move.h"
#include "round_plan.h"

#include "cost/comm.h"
#include "cost/memory.h"
#include "cost/time.h"

static const struct layer_kind dense_layer = {MIXER_ATTENTION, FFN_DENSE},
                               moe_layer = {MIXER_ATTENTION, FFN_MOE};

static struct time_estimate time_of(const struct config *c)
{
    struct time_estimate t;
    assert_true(time_estimate(c, &t, NULL));
    return t;
}

static struct layer_time layer_of(const struct config *c, struct layer_kind kind)
{
    struct timing t = timing_of(c);
    return layer_time(&t, kind);
}

/* Each linear's packed weight is read and its wide one written, 2.516 bytes an element at 1e12 B/s,
   forward and backward, and again where the layer is repeated. */
static void four_bit_weights_are_made_wide(void **state)
{
    const char *plan = "strategy: fsdp2\ntask: peft\npeft_dim: 8\n";
    struct config *c = round_plan(*state, "automodel", "", plan);
    c->knobs.recompute = RECOMPUTE_FULL;
    double seconds = (2.5 + 65.0 / 64 / 64) * (4 * 1024 * 1024 + 3 * 1024 * 4096) / 1e12;
    struct layer_time without = layer_of(c, dense_layer), with;
    struct time_estimate before = time_of(c), after;
    c->knobs.four_bit = c->knobs.double_quant = true;
    with = layer_of(c, dense_layer), after = time_of(c);
    assert_near(with.forward.memory - without.forward.memory, seconds, 1e-6);
    assert_near(with.backward.memory - without.backward.memory, seconds, 1e-6);
    assert_near(with.again.memory - without.again.memory, seconds, 1e-6);
    assert_near(with.forward.gemm, without.forward.gemm, 1e-12);
    /* nobody measured it: the interval is wider than the same without */
    assert_true(after.high / after.step > 1.05 * before.high / before.step);
    assert_true(after.low / after.step < 0.95 * before.low / before.step);
}

/* On two ranks each sub-block has two collectives of 8 MB a pass and direction, of which half
   travels at 0.1 TB/s after the start; frozen weights hide none of backward's. LoRA of the
   projections adds one a direction for each output, and the inputs of the others only where their
   linears overlap theirs. */
static void adapters_gather_for_themselves(void **state)
{
    const char *plan = "tp: 2\nsequence_parallel: true\ntask: peft\npeft_dim: 8\n"
                       "peft_target_modules: [linear_qkv, linear_proj, linear_fc2]\n";
    struct config *c = round_plan(*state, "bridge", "", plan);
    coefficient(c, "tp_backward", 0.5);
    struct timing t = timing_of(c);
    double one = comm_collective(&t, 2 * 4096 * 1024.0, 2, 2);
    struct layer_time x = layer_of(c, dense_layer);
    assert_near(x.forward.tp, (4 + 2) * one, 1e-12);
    assert_near(x.backward.tp, (4 + 2) * one, 1e-12);
    c->knobs.tp_comm_overlap = true;
    assert_near(layer_of(c, dense_layer).forward.tp, (4 + 3) * one, 1e-12);
    c->knobs.lora_all_to_all = true; /* half of two of them on two ranks */
    double half = comm_collective(&t, 4096 * 1024.0, 2, 2);
    assert_near(layer_of(c, dense_layer).forward.tp, (4 + 1) * one + 2 * half, 1e-12);
    c->knobs.tp_comm_overlap = false, c->knobs.task = TASK_PRETRAIN;
    assert_near(layer_of(c, dense_layer).forward.tp, 4 * one, 1e-12);
    assert_near(layer_of(c, dense_layer).backward.tp, 2 * 0.5 * one, 1e-12);
    coefficient(c, "dp_contention", 0.2); /* what is hidden of the three slows the products */
    assert_near(layer_of(c, dense_layer).backward.tp, 2 * (0.5 + 0.2 * 2.5) * one, 1e-12);
}

/* Of the experts' kernels in FP8 forward's and the input's gradient are as fast as one kernel for
   all; the gradient of the weights is a plain product. */
static void weight_gradients_of_experts_are_plain(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    c->knobs.precision = PREC_FP8_TENSORWISE;
    coefficient(c, "grouped_fp8", 0.02);
    struct layer_time slow = layer_of(c, moe_layer);
    coefficient(c, "grouped_fp8", 0.04);
    struct layer_time fast = layer_of(c, moe_layer);
    double saved = slow.forward.grouped - fast.forward.grouped;
    assert_true(saved > 0.1 * slow.forward.grouped);
    assert_near(slow.backward.grouped - fast.backward.grouped, saved, 0.01);
}

/* Attention heats less than products; both are slowed. */
static void attention_heats_less(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    c->model.vocab = 0; /* nothing but layers has products */
    coefficient(c, "attention_heat", 0.25);
    struct layer_time x = layer_of(c, dense_layer);
    double lost = 0;
    const struct pass *passes[] = {&x.forward, &x.backward};
    for (int i = 0; i < 2; i++) {
        const struct pass *p = passes[i];
        lost += 0.5 * (p->gemm + p->attention / 4) / pass_kernels(p) * (p->gemm + p->attention);
    }
    double cold = time_of(c).compute, layers = c->model.num_layers;
    coefficient(c, "throttling", 0.5);
    double microbatches = (double)knobs_microbatches(&c->knobs);
    assert_near(time_of(c).compute - cold, microbatches * layers * lost, 1e-6 * cold);
}

/* 4 bytes an element of QKV's, the projection's and the MLP's inputs; with delayed scaling QKV's
   and the first of the MLP's come from norms, 1024 wide, that wrote FP8. */
static void norms_write_fp8_with_delayed_scaling(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    double behind_norms = 2 * 1024, others = 1024 + 4096, element = 4 * 4096.0 / 1e12;
    c->knobs.precision = PREC_FP8_TENSORWISE;
    assert_near(layer_of(c, dense_layer).forward.quantise, element * (behind_norms + others),
                1e-12);
    c->knobs.precision = PREC_FP8_DELAYED;
    assert_near(layer_of(c, dense_layer).forward.quantise, element * others, 1e-12);
    c->knobs.transformer_engine = false;
    assert_near(layer_of(c, dense_layer).forward.quantise, element * (behind_norms + others),
                1e-12);
}

/* No weight's gradient takes the columns, 1 of 4 bytes; and the adapter of QKV reads what its norm
   writes, in bf16. */
static void frozen_linears_quantise_rows_alone(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    double element = 3 * 4096.0 / 1e12;
    c->knobs.task = TASK_PEFT, c->knobs.precision = PREC_FP8_DELAYED;
    assert_near(layer_of(c, dense_layer).forward.quantise, element * (1024 + 4096), 1e-12);
    c->knobs.lora_targets = LINEAR_BIT(LINEAR_QKV);
    assert_near(layer_of(c, dense_layer).forward.quantise, element * (2 * 1024 + 4096), 1e-12);
}

/* ---- communication ---- */

/* 4096 tokens of 1024 bf16 elements, two experts each. */
static const double sent = 4096 * 2 * 1024.0;

static void an_exchange_inside_a_domain(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    struct timing t = timing_of(c);
    double start = t.f.dispatch_start_s;
    /* alltoall: a copy for each chosen expert, 7 of 8 leave the rank */
    assert_near(comm_dispatch(&t, 1024), 2 * (start + sent * 2 * 7 / 8 / 1e11), 1e-12);
    /* an all-gather and a reduce-scatter of all ranks' tokens */
    c->knobs.dispatcher = DISPATCH_ALLGATHER;
    t = timing_of(c);
    assert_near(comm_dispatch(&t, 1024), 2 * comm_collective(&t, sent * 8, 8, 8), 1e-12);
    /* AutoModel's own: outputs in fp32, for everyone */
    c->knobs.dispatcher = DISPATCH_TORCH;
    t = timing_of(c);
    assert_near(comm_dispatch(&t, 1024),
                comm_collective(&t, sent * 8, 8, 8) + 2 * comm_collective(&t, sent * 16, 8, 8),
                1e-12);
    /* HybridEP: one copy for each distinct rank: two of eight experts, one a rank, are two */
    c->knobs.dispatcher = DISPATCH_HYBRIDEP;
    t = timing_of(c);
    assert_near(comm_dispatch(&t, 1024), 2 * (start + sent * 2 * 7 / 8 / 1e11), 1e-12);
}

/* 16 ranks in two domains, and NICs so fast that what lands inside takes the time: of the 2 copies
   half lands in each domain, and 7/8 of that leaves the rank it landed on. */
static void copies_spread_over_the_domains(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    c->knobs.gpus = 16, c->knobs.ep = 16, c->model.experts = 16;
    c->machine.nic_bytes_per_s = 1e18;
    struct timing t = timing_of(c);
    double start = t.f.dispatch_start_s + t.f.dispatch_across_s;
    assert_near(comm_dispatch(&t, 1024), 2 * (start + sent * 1 * 7 / 8 / 1e11), 1e-9);
    /* DeepEP: one a distinct rank, two here, forwarded by its SMs, 100 GB/s, or what is less */
    coefficient(c, "deepep_sm_gb_per_s", 2), coefficient(c, "deepep_across_sm", 0.5);
    c->knobs.dispatcher = DISPATCH_DEEPEP;
    t = timing_of(c);
    double forward = 20 * 2e9 * 0.5, combine = t.f.deepep_combine_s;
    assert_near(comm_dispatch(&t, 1024), 2 * (start + sent * 2 * 7 / 8 / forward) + combine, 1e-9);
}

/* 1 GB of keys and values on two ranks: a ring of 10 ms of which 0.8 of attention's time hides. */
static void a_ring_hides_behind_attention(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "cp: 2\n");
    struct timing t = timing_of(c);
    assert_near(comm_context(&t, 2, 1e9, 0), 10e-3 + 40e-6, 1e-12);
    assert_near(comm_context(&t, 2, 1e9, 5e-3), 10e-3 - 4e-3 + 40e-6, 1e-12);
    assert_near(comm_context(&t, 2, 1e9, 12.5e-3), 40e-6, 1e-12);
    assert_near(comm_context(&t, 4, 1e9, 0), 30e-3 + 40e-6, 1e-12);
}

/* Of sixteen ranks eight to a domain: heads among the four whose heads divide there, and a ring of
   four over the NICs, with a block of attention for each of its steps. */
static void heads_inside_and_a_ring_between(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "cp: 16\ncp_comm_type: a2a+p2p\n");
    struct work w;
    c->knobs.tp = 2, c->knobs.gpus = 32, c->model.heads = c->model.groups = 8;
    assert_int_equal(config_cp_comm(c), CP_LEVELS);
    assert_int_equal(config_cp_dealt(c), 4);
    struct timing t = timing_of(c);
    layer_work(&t, dense_layer, &w);
    int heads = 0, rings = 0;
    for (int i = 0; i < w.n_exchanges; i++) {
        heads += w.exchanges[i].kind == EXCHANGE_HEADS && w.exchanges[i].ranks == 4;
        rings += w.exchanges[i].kind == EXCHANGE_CP && w.exchanges[i].ranks == 4;
    }
    assert_true(heads == 1 && rings == 1);
    double nic = t.f.nic * c->machine.nic_bytes_per_s;
    assert_near(comm_context(&t, 4, 1e9, 0), 3e9 / nic + t.f.cp_start_s, 1e-12);
}

/* A gigabyte among two ranks of a domain is a collective; between two domains half of it passes a
   NIC a rank, where a tensor-parallel group fills each domain. */
static void heads_cross_domains_by_their_own_nics(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "cp: 2\ncp_comm_type: a2a\n");
    assert_int_equal(c->knobs.cp_comm, CP_HEADS);
    struct timing t = timing_of(c);
    assert_near(comm_heads(&t, 2, 1e9), comm_collective(&t, 1e9, 2, 2), 1e-12);
    c->knobs.tp = 8, c->knobs.gpus = 16;
    t = timing_of(c);
    double start = t.f.collective_across_s + t.f.collective_across_doubling_s;
    double nic = t.f.nic * c->machine.nic_bytes_per_s;
    assert_near(comm_heads(&t, 2, 1e9), start + 0.5e9 / nic, 1e-9);
}

/* On two ranks: half the queries of each head see what they saw, not a block of each rank and its
   tiles; and what is repeated is exchanged again. */
static void whole_sequences_are_one_kernel(void **state)
{
    struct config *one = round_plan(*state, "megatron", "", "");
    struct config *c = round_plan(*state, "megatron", "", "cp: 2\ncp_comm_type: [a2a]\n");
    struct layer_time whole = layer_of(one, dense_layer), half = layer_of(c, dense_layer);
    struct timing t = timing_of(c);
    double start = t.f.attention * t.f.attention_start_s;
    assert_near(half.forward.attention - start, (whole.forward.attention - start) / 2, 1e-9);
    assert_near(half.backward.cp, half.forward.cp, 1e-12);
    assert_true(half.forward.cp > 0);
    c->knobs.recompute = RECOMPUTE_SELECTIVE, c->knobs.recompute_modules = MOD_CORE_ATTN;
    assert_near(layer_of(c, dense_layer).again.cp, half.forward.cp, 1e-12);
}

/* Keys of all ranks come before attention, and nothing hides that; two chunks are a kernel each. */
static void gathered_keys_hide_under_nothing(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "cp: 4\ncp_comm_type: all_gather\n");
    struct timing t = timing_of(c);
    assert_near(comm_context(&t, 4, 1e9, 1), comm_collective(&t, 4e9, 4, 4), 1e-12);
}

/* What is not said yet is what the model's attention bears: the ring, unless there are windows or
   sinks; a part of the heads where they can be dealt out; else a gather, which has no sinks. */
static void context_parallelism_as_the_model_needs(void **state)
{
    const struct {
        bool sinks;
        int window, cp, tp, heads, groups;
        enum cp_comm want;
    } cases[] = {
        {false, 0, 4, 1, 64, 8, CP_RING},     {true, 128, 1, 1, 64, 8, CP_RING},
        {true, 128, 8, 1, 64, 8, CP_HEADS},   {true, 128, 4, 4, 64, 8, CP_RING},
        {false, 128, 4, 4, 64, 8, CP_GATHER}, {false, 128, 4, 2, 64, 8, CP_HEADS},
        {true, 0, 2, 1, 64, 8, CP_HEADS},
    };
    struct config *c = round_plan(*state, "megatron", "", "");
    c->knobs.cp_comm = CP_NEEDED;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c->model.sinks = cases[i].sinks, c->model.window = cases[i].window;
        c->model.heads = c->model.win_heads = cases[i].heads;
        c->model.groups = c->model.win_groups = cases[i].groups;
        c->knobs.cp = cases[i].cp, c->knobs.tp = cases[i].tp;
        assert_int_equal(config_cp_comm(c), cases[i].want);
    }
    c->knobs.cp_comm = CP_GATHER; /* what is said stands */
    assert_int_equal(config_cp_comm(c), CP_GATHER);
    c->knobs.cp_comm = CP_NEEDED, c->framework = FRAMEWORK_AUTOMODEL;
    assert_int_equal(config_cp_comm(c), CP_RING);
}

/* Sparse attention has one way, in every framework and whatever is said: an indexer picks among all
   keys. */
static void picked_keys_are_gathered(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "cp: 4\n");
    c->model.index_heads = 64;
    static const enum cp_comm said[] = {CP_RING, CP_HEADS, CP_GATHER, CP_LEVELS, CP_NEEDED};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        c->knobs.cp_comm = (uint8_t)said[i], c->framework = FRAMEWORK_MEGATRON;
        assert_int_equal(config_cp_comm(c), CP_GATHER);
        c->framework = FRAMEWORK_AUTOMODEL;
        assert_int_equal(config_cp_comm(c), CP_GATHER);
    }
    struct timing t = timing_of(c);
    assert_near(comm_context(&t, 4, 1e9, 1), comm_collective(&t, 4e9, 4, 4), 1e-12);
    c->knobs.cp = 1, c->knobs.cp_comm = CP_NEEDED;
    assert_int_equal(config_cp_comm(c), CP_RING);
}

/* One way for all layers is that way; what differs by layer counts as the ring. */
static void ways_of_context_parallelism(void **state)
{
    const struct {
        const char *plan;
        enum cp_comm want;
    } cases[] = {{"cp: 2\n", CP_RING},
                 {"cp: 2\ncp_comm_type: p2p\n", CP_RING},
                 {"cp: 2\ncp_comm_type: [a2a, a2a, a2a, a2a]\n", CP_HEADS},
                 {"cp: 2\ncp_comm_type: [p2p, a2a, a2a, a2a]\n", CP_RING},
                 {"cp: 2\ncp_comm_type: [a2a, all_gather, a2a, a2a]\n", CP_RING},
                 {"cp: 2\ncp_comm_type: all_gather\n", CP_GATHER},
                 {"cp: 2\ncp_comm_type: [allgather]\n", CP_GATHER},
                 {"cp: 2\ncp_comm_type: [a2a+p2p]\n", CP_LEVELS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(round_plan(*state, "megatron", "", cases[i].plan)->knobs.cp_comm,
                         cases[i].want);
}

/* ---- layers ---- */

/* Five passes forward and eight backward over 8 heads x 4096 x 4096 scores of two bytes. */
static void unfused_attention_streams_its_scores(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    struct layer_time fused = layer_of(c, dense_layer);
    c->knobs.attention = ATTN_UNFUSED;
    struct layer_time unfused = layer_of(c, dense_layer);
    double square = 2 * 8 * 4096.0 * 4096;
    assert_near(unfused.forward.memory - fused.forward.memory, 5 * square / 1e12, 1e-9);
    assert_near(unfused.backward.memory - fused.backward.memory, 8 * square / 1e12, 1e-9);
}

/* QK and PV over half of the square: 2 x 2 x 4096 x 2048 x 8 heads x 128 FLOPs at 1e15. */
static void recomputed_modules_run_once_more(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    double core = 2 * 4096.0 * 2048 * 8 * (128 + 128) / 1e15;
    assert_near(layer_of(c, dense_layer).forward.attention, core, 1e-12);
    assert_true(layer_of(c, dense_layer).again.attention == 0);
    c->knobs.recompute = RECOMPUTE_SELECTIVE;
    c->knobs.recompute_modules = MOD_CORE_ATTN;
    assert_near(layer_of(c, dense_layer).again.attention, core, 1e-12);
    assert_true(layer_of(c, dense_layer).again.gemm == 0);
    /* the MLP: gate and up in one, and down */
    c->knobs.recompute_modules = MOD_MLP;
    assert_near(layer_of(c, dense_layer).again.gemm,
                round_gemm(4096, 8192, 1024, 2) + round_gemm(4096, 1024, 4096, 2), 1e-12);
    c->knobs.recompute = RECOMPUTE_FULL;
    struct layer_time full = layer_of(c, dense_layer);
    assert_near(full.again.attention, core, 1e-12);
    assert_near(full.again.gemm, full.forward.gemm, 1e-12);
    assert_true(full.sync_again);
}

/* PyTorch's checkpoint ends before the last GEMM: FC2 of experts is a third of theirs, of a dense
   layer about a quarter of all. The other half of the exchange is not repeated either. */
static void automodel_stops_recomputing_early(void **state)
{
    struct config *c = round_plan(*state, "automodel", EIGHT_EXPERTS, "ep: 8\nstrategy: fsdp2\n");
    c->knobs.recompute = RECOMPUTE_FULL;
    struct layer_time dense = layer_of(c, dense_layer), moe = layer_of(c, moe_layer);
    assert_near(dense.again.gemm, dense.forward.gemm * 3 / 4, 1e-12);
    assert_near(moe.again.grouped, moe.forward.grouped * 2 / 3, 1e-12);
    assert_near(moe.again.ep, moe.forward.ep / 2, 1e-12);
    assert_near(moe.again.gemm, moe.forward.gemm, 1e-12);
}

/* 8192 routed rows, of gate and up of 2 x 512 and of 1024: 8 and 28 bytes an element forward, 10
   and 40 backward. */
static void biases_of_experts_are_passes(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    struct layer_time plain = layer_of(c, moe_layer);
    c->model.add_bias = true;
    struct layer_time biased = layer_of(c, moe_layer);
    double inner = 8192 * 1024.0, outer = 8192 * 1024.0;
    double one = (8 * inner + 28 * outer) / 1e12, back = (10 * inner + 40 * outer) / 1e12;
    assert_near(biased.forward.memory - plain.forward.memory, one, 1e-9);
    assert_near(biased.backward.memory - plain.backward.memory, back, 1e-9);
    coefficient(c, "bias_passes", 3); /* at a rate of their own */
    assert_near(layer_of(c, moe_layer).forward.memory - plain.forward.memory, 3 * one, 1e-9);
}

/* The rows of both ranks of an expert meet on each, which has half of every expert. */
static void expert_tensor_parallelism_gathers_rows(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    double whole = round_gemm(8192, 1024, 1024, 2) + round_gemm(8192, 1024, 512, 2);
    assert_near(layer_of(c, moe_layer).forward.grouped, whole, 1e-12);
    c->knobs.tp = c->knobs.etp = 2, c->knobs.ep = 4; /* 2048 tokens a rank, two experts */
    double halves = round_gemm(4096, 512, 1024, 2) + round_gemm(4096, 1024, 256, 2);
    assert_near(layer_of(c, moe_layer).forward.grouped, 2 * halves, 1e-12);
    assert_true(layer_of(c, moe_layer).forward.tp > 0);
}

/* 4096 tokens choose two of eight experts, each on a rank of its own: 8192 rows meet there.
   Quantised kernels want whole multiples, of which the last is half full in the mean, and one at
   least. */
static void experts_rows_are_filled_up(void **state)
{
    static const struct {
        enum precision precision;
        bool op_fuser, padded;
        int seq;
        double rows;
    } cases[] = {
        {PREC_BF16, false, false, 4096, 8192},
        {PREC_FP8_TENSORWISE, false, false, 4096, 8200},
        {PREC_FP8_BLOCKWISE, false, false, 4096, 8200},
        {PREC_MXFP8, false, false, 4096, 8208},
        {PREC_NVFP4, false, false, 4096, 8256},
        {PREC_BF16, true, false, 4096, 8320},
        {PREC_MXFP8, true, false, 4096, 8320},
        {PREC_MXFP8, true, false, 32, 256},
        {PREC_MXFP8, true, true, 4096, 8192},
    };
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c->knobs.precision = (uint8_t)cases[i].precision;
        c->knobs.op_fuser = cases[i].op_fuser;
        c->knobs.pad_to_capacity = cases[i].padded;
        c->knobs.seq = cases[i].seq;
        assert_near(timing_of(c).rows, cases[i].rows, 1e-12);
    }
}

/* Of eight ranks with an expert each the hottest has 1.424 standard deviations more than the mean,
   with two experts a rank that over their root, of four ranks; one rank has the mean. A capacity c
   loads it by 1 + 0.05 (c - 1)^2, three at most; padding by c. */
static void the_hottest_rank_of_an_exchange(void **state)
{
    static const struct {
        bool balanced, padded;
        double capacity;
        int ep;
        double load;
    } cases[] = {{true, false, 0, 8, 1},
                 {false, false, 0, 8, 1 + 0.5 * 1.424},
                 {false, false, 0, 4, 1 + 0.5 * 1.029 / 1.4142135623730951},
                 {false, false, 0, 1, 1},
                 {false, false, 3, 8, 1.2},
                 {false, false, 10, 8, 3},
                 {false, true, 3, 8, 3},
                 {true, true, 2, 8, 2},
                 {false, false, 0.5, 8, 1},
                 {true, true, 0.5, 8, 1}};
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    coefficient(c, "routing_spread", 0.5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c->knobs.force_balance = cases[i].balanced;
        c->knobs.pad_to_capacity = cases[i].padded;
        c->knobs.capacity_factor = cases[i].capacity;
        c->knobs.ep = cases[i].ep;
        assert_near(timing_of(c).load, cases[i].load, 1e-12);
    }
}

/* HybridEP's kernels take a rank's own 8 MB through its buffers at 1e11 B/s, there and back; others
   have nothing to exchange. */
static void hybridep_exchanges_with_itself(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 1\n");
    coefficient(c, "dispatch_start_s", 0);
    assert_true(layer_of(c, moe_layer).forward.ep == 0);
    c->knobs.dispatcher = DISPATCH_HYBRIDEP;
    assert_near(layer_of(c, moe_layer).forward.ep, 2 * 2 * 4096 * 1024 / 1e11, 1e-9);
}

/* 4 bytes of quantising an element at 1e12 B/s for each layer's linears, once a step; not where
   they come in FP8, which MXFP8's do not. */
static void weights_are_quantised_each_step(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    double before = time_of(c).optimizer, linears = 4 * (4 * 1024 * 1024 + 3 * 1024 * 4096);
    c->knobs.precision = PREC_FP8_TENSORWISE;
    assert_near(time_of(c).optimizer - before, 4 * linears / 1e12, 1e-3);
    c->knobs.fp8_param_gather = true;
    assert_near(time_of(c).optimizer, before, 1e-9);
    c->knobs.precision = PREC_MXFP8;
    assert_near(time_of(c).optimizer - before, 4 * linears / 1e12, 1e-3);
}

/* Products of 8 heads of 128 with half of 4096 keys take half of 16 bit's time in FP8, the softmax
   its own; queries, keys and values are quantised before, the output's gradient before the
   backward, which a window does not shorten. */
static void attention_in_fp8(void **state)
{
    struct config *c = round_plan(*state, "bridge", "", "");
    double keys = 2 * 4096.0 * 8 * 2048 / 1e15, half = 0.75 * 4 * 4096.0 * 1024 / 1e12;
    c->knobs.precision = PREC_FP8_TENSORWISE;
    coefficient(c, "attention_fp8_softmax", 10);
    coefficient(c, "attention_fp8_backward_softmax", 20);
    coefficient(c, "attention_mxfp8_backward_softmax", 30);
    struct layer_time wide = layer_of(c, dense_layer);
    c->knobs.fp8_attention = true;
    struct layer_time x = layer_of(c, dense_layer);
    assert_near(wide.forward.attention, keys * 256, 1e-9);
    assert_near(x.forward.attention, keys * (128 + 10), 1e-9);
    assert_near(x.backward.attention, keys * (320 + 20), 1e-9);
    assert_near(x.forward.quantise - wide.forward.quantise, 3 * half, 1e-9);
    assert_near(x.backward.quantise - wide.backward.quantise, half, 1e-9);
    c->knobs.precision = PREC_MXFP8;
    assert_near(layer_of(c, dense_layer).backward.attention, keys * (320 + 30), 1e-9);
    c->model.window = 1024;
    struct layer_time near = layer_of(c, (struct layer_kind){MIXER_WINDOW, FFN_DENSE});
    assert_near(near.backward.attention, keys * (320 + 30), 1e-9);
    assert_true(near.forward.attention < keys * (128 + 10));
    c->knobs.precision = PREC_BF16;
    assert_near(layer_of(c, dense_layer).forward.attention, keys * 256, 1e-9);
}

/* MXFP8's head quantises its input by rows and by columns, and so the logits' gradient; a tied one
   stays in 16 bit, and so does that of other recipes. */
static void head_in_mxfp8(void **state)
{
    struct config *c = round_plan(*state, "bridge", "", "");
    c->knobs.precision = PREC_MXFP8;
    struct timing t = timing_of(c);
    struct layer_time wide = layer_head(&t);
    c->knobs.fp8_output = true;
    struct layer_time x = layer_head(&t);
    assert_near(x.forward.quantise - wide.forward.quantise, 4 * 4096.0 * 1024 / 1e12, 1e-9);
    assert_near(x.backward.quantise - wide.backward.quantise, 4 * 4096.0 * 32768 / 1e12, 1e-9);
    assert_true(x.forward.gemm < 0.95 * wide.forward.gemm);
    c->model.tied = true;
    assert_near(layer_head(&t).forward.gemm, wide.forward.gemm, 1e-9);
    c->model.tied = false, c->knobs.precision = PREC_FP8_TENSORWISE;
    assert_near(layer_head(&t).forward.gemm, wide.forward.gemm, 1e-9);
}

/* A plan that does not say how attention computes may have it in 8 bits. */
static void attention_may_be_in_8_bits(void **state)
{
    struct config *c = round_plan(*state, "bridge", "", "");
    c->knobs.precision = PREC_MXFP8;
    c->knobs.seq = 65536, c->knobs.gbs = 8;
    coefficient(c, "attention_fp8_softmax", 1);
    coefficient(c, "attention_mxfp8_backward_softmax", 1);
    struct time_layers layers;
    time_layers_init(c, &layers);
    struct time_estimate stated = time_of(c), open = stated;
    c->unstated = 0;
    time_allow_open(&layers, c, &open);
    assert_true(open.low == stated.low);
    c->unstated = UNSTATED_NARROW;
    time_allow_open(&layers, c, &open);
    assert_true(open.low < stated.low && open.high == stated.high);
}

/* q and k of 8 heads of 128 pass ten times more in forward and twelve in backward. */
static void rope_of_single_operations(void **state)
{
    struct config *c = round_plan(*state, "bridge", "", "");
    struct layer_time fused = layer_of(c, dense_layer);
    c->knobs.rope_apart = true;
    struct layer_time apart = layer_of(c, dense_layer);
    double turned = 2 * 4096.0 * 2 * 1024 / 1e12;
    assert_near(apart.forward.memory - fused.forward.memory, 10 * turned, 1e-9);
    assert_near(apart.backward.memory - fused.backward.memory, 12 * turned, 1e-9);
    assert_near(apart.forward.ops - fused.forward.ops, 22, 1e-9);
}

/* AutoModel's selective checkpointing repeats half of the products and all streams, and keeps the
   layer's input, q, k and v, the attention's output and the first linear's. */
static void operations_are_repeated(void **state)
{
    const char *plan = "strategy: fsdp2\nactivation_checkpointing: selective\n";
    struct config *c = round_plan(*state, "automodel", "", plan);
    struct layer_time x = layer_of(c, dense_layer);
    assert_int_equal(c->knobs.recompute_modules, MOD_OPERATIONS);
    assert_near(x.again.gemm, x.forward.gemm / 2, 1e-12);
    assert_near(x.again.memory, x.forward.memory, 1e-12);
    assert_true(x.again.attention == 0 && x.again.ops > 0);
    struct memory_coefficients f = memory_coefficients_of(&c->machine);
    struct token_counts tokens = token_counts(c, &f);
    struct layer_memory m;
    layer_measure(c, &tokens, dense_layer, &m);
    double statistics = 4096 * 8 * 4; /* log-sum-exp */
    assert_near(m.kept, 2 * 4096.0 * (1024 + 3 * 1024 + 1024 + 2 * 4096) + statistics, 1e-9);
    assert_near(m.all - m.kept, 4096.0 * (2 * (1024 + 1024 + 1024 + 4096) + 2 * 4), 1e-9);
}

/* DeepEP's kernels move tokens at a rate of their SMs, where NVLink has more. */
static void more_sms_exchange_faster(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    c->knobs.dispatcher = DISPATCH_DEEPEP;
    coefficient(c, "deepep_sm_gb_per_s", 1);
    struct timing few = timing_of(c), many;
    c->knobs.exchange_sms = 40;
    many = timing_of(c);
    assert_near(few.law.inside, 20e9, 1e-12);
    assert_near(many.law.inside, 40e9, 1e-12);
    assert_true(comm_dispatch(&many, 1024) < comm_dispatch(&few, 1024));
}

/* Dropout of an adapter reads and writes its input, 1024 wide, and that one's gradient. */
static void adapters_drop_out_where_said(void **state)
{
    const char *plan = "task: peft\npeft_dim: 8\npeft_target_modules: [linear_qkv]\n";
    struct config *c = round_plan(*state, "bridge", "", plan);
    double pass = 2 * 2 * 4096 * 1024.0 / 1e12;
    struct layer_time without = layer_of(c, dense_layer), with;
    c->knobs.lora_dropout = 0.1;
    with = layer_of(c, dense_layer);
    assert_near(with.forward.memory - without.forward.memory, pass, 1e-9);
    assert_near(with.backward.memory - without.backward.memory, pass, 1e-9);
}

/* The exchange hides by half under the shared expert's products: gate and up, and down. */
static void a_shared_expert_hides_half(void **state)
{
    struct config *c = round_plan(
        *state, "megatron", EIGHT_EXPERTS ", moe_shared_expert_intermediate_size: 512", "ep: 8\n");
    struct layer_time l = layer_of(c, moe_layer);
    double both = 2 * l.forward.ep, hidden = 0;
    assert_near(time_of(c).ep_exposed, 8 * 4 * both, 1e-9); /* microbatches, layers */
    c->knobs.shared_expert_overlap = true;
    double up = round_gemm(4096, 1024, 1024, 2), down = round_gemm(4096, 1024, 512, 2);
    double weights = round_gemm(1024, 1024, 4096, 8) + round_gemm(1024, 512, 4096, 8);
    assert_near(l.forward.shared, up + down, 1e-9);
    assert_near(l.backward.shared, up + round_gemm(4096, 512, 1024, 2) + weights, 1e-9);
    hidden += 0.5 * fmin(l.forward.ep, l.forward.shared);
    hidden += 0.5 * fmin(l.backward.ep, l.backward.shared);
    assert_true(hidden > 0 && hidden < both / 2);
    assert_near(time_of(c).ep_exposed, 8 * 4 * (both - hidden), 1e-9);
}

/* Seconds that another microbatch's passes hide of a layer's exchange, there and back. */
static double hidden_in_second(const struct layer_time *l)
{
    return 0.65 * (fmin(l->forward.ep, pass_kernels(&l->forward)) +
                   fmin(l->backward.ep, pass_kernels(&l->backward)));
}

/* Another microbatch hides 0.65 of the exchange, but for the first forward and the last backward,
   which nothing runs beside: the only ones of a step of one microbatch. With virtual stages the
   first way through all of them is alone, and the last way back. */
static void ends_of_a_step_hide_nothing(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    struct layer_time l = layer_of(c, moe_layer);
    double both = 2 * l.forward.ep, hidden = hidden_in_second(&l);
    coefficient(c, "ep_hidden", 0.65);
    c->knobs.overlap_ep = true;
    assert_true(hidden > 0 && hidden < both);
    assert_near(time_of(c).ep_exposed, 8 * 4 * (both - hidden) + 4 * hidden, 1e-9);
    assert_true(fabs(time_of(c).bubble) < 1e-12);
    c->knobs.gbs = 8;
    assert_near(time_of(c).ep_exposed, 4 * both, 1e-9);
    c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 4\npp: 2\nvpp: 2\n");
    coefficient(c, "ep_hidden", 0.65);
    l = layer_of(c, moe_layer);
    both = 2 * l.forward.ep, hidden = hidden_in_second(&l);
    c->knobs.overlap_ep = true;
    assert_near(time_of(c).ep_exposed, 8 * 4 * (both - hidden) + 4 * hidden, 1e-9);
}

/* One microbatch's forward runs beside another's backward: together their kernels hide the exchange
   of both, and no more of it than there are kernels for. */
static void kernels_hide_no_more_than_they_last(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    coefficient(c, "ep_hidden", 0.65);
    coefficient(c, "dispatch", 8);
    struct layer_time l = layer_of(c, moe_layer);
    double exchange = l.forward.ep + l.backward.ep,
           kernels = pass_kernels(&l.forward) + pass_kernels(&l.backward);
    assert_true(l.backward.ep > pass_kernels(&l.backward));
    c->knobs.overlap_ep = true;
    assert_near(time_of(c).ep_exposed, 8 * 4 * (exchange - 0.65 * kernels) + 4 * 0.65 * kernels,
                1e-6);
}

/* Experts outside one kernel are launched from a loop, both products and, in 8 bit where a kernel
   has one expert's rows, their quantisation; backward two products for each, or one of frozen ones.
 */
static void experts_are_launched_in_a_loop(void **state)
{
    struct config *c = round_plan(*state, "bridge", EIGHT_EXPERTS, "ep: 4\n");
    coefficient(c, "host_launch", 0);
    struct layer_time without = layer_of(c, moe_layer);
    coefficient(c, "host_launch", 0.25);
    struct layer_time with = layer_of(c, moe_layer);
    assert_near(with.forward.ops - without.forward.ops, 0.25 * 2 * 2, 1e-12);
    assert_near(with.backward.ops - without.backward.ops, 0.25 * 2 * 4, 1e-12);
    assert_near(with.forward.gpu_ops, without.forward.gpu_ops, 1e-12);
    c->knobs.precision = PREC_MXFP8;
    double bare = without.forward.ops;
    with = layer_of(c, moe_layer);
    coefficient(c, "host_launch", 0);
    without = layer_of(c, moe_layer);
    assert_near(with.forward.ops - without.forward.ops, 0.25 * 2 * 4, 1e-12);
    assert_near(with.backward.ops - without.backward.ops, 0.25 * 2 * 6, 1e-12);
    assert_true(without.forward.ops > bare);
    c->knobs.precision = PREC_FP8_DELAYED;
    double delayed = layer_of(c, moe_layer).forward.ops;
    coefficient(c, "host_launch", 0.25);
    assert_near(layer_of(c, moe_layer).forward.ops - delayed, 0.25 * 2 * 2, 1e-12);
    c->knobs.precision = PREC_MXFP8;
    coefficient(c, "host_launch", 0.25);
    c->knobs.op_fuser = true, c->knobs.rank_capacity = 2, c->knobs.dispatcher = DISPATCH_HYBRIDEP;
    double fused = layer_of(c, moe_layer).forward.ops;
    coefficient(c, "host_launch", 0);
    assert_near(layer_of(c, moe_layer).forward.ops, fused, 1e-12);
}

/* Delayed scaling costs the host time for each operation of a model that computes so; none of what
   computes in 16 bit, nor of a chip without FP8. */
static void delayed_scaling_costs_host_time(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    coefficient(c, "host_op_s", 1e-3);
    coefficient(c, "delayed_host", 1.5);
    struct timing plain = timing_of(c);
    assert_near(plain.host_op_s, 1e-3, 1e-15);
    c->knobs.precision = PREC_FP8_DELAYED;
    assert_near(timing_of(c).host_op_s, 1.5e-3, 1e-15);
    c->knobs.precision = PREC_FP8_TENSORWISE;
    assert_near(timing_of(c).host_op_s, 1e-3, 1e-15);
    c->knobs.precision = PREC_FP8_DELAYED;
    c->machine.peak_fp8 = 0;
    assert_near(timing_of(c).host_op_s, 1e-3, 1e-15);
}

/* Experts outside one kernel take turns on four streams: of each one's start a quarter is seen, of
   one alone all of it. */
static void experts_start_on_streams(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 1\n");
    struct layer_time none = layer_of(c, moe_layer);
    coefficient(c, "gemm_start_s", 1e-5);
    struct layer_time eight = layer_of(c, moe_layer);
    assert_near(eight.forward.grouped - none.forward.grouped, 2 * 8 * 1e-5 / 4, 1e-9);
    assert_near(eight.backward.grouped - none.backward.grouped, 4 * 8 * 1e-5 / 4, 1e-9);
    c->knobs.ep = 8;
    struct layer_time one = layer_of(c, moe_layer);
    coefficient(c, "gemm_start_s", 0);
    none = layer_of(c, moe_layer);
    assert_near(one.forward.grouped - none.forward.grouped, 2 * 1e-5, 1e-9);
}

/* A trained table's gradient: 4 bytes an element to make it and read it, 8 to add it in fp32. */
static void a_trained_table_adds_its_gradient(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    c->knobs.grad_bytes = 4;
    struct timing t = timing_of(c);
    double trained = layer_embedding(&t).backward.memory;
    c->knobs.task = TASK_PEFT;
    double frozen = layer_embedding(&t).backward.memory;
    assert_near(trained - frozen, (4 + 8) * 32768 * 1024 / 1e12, 1e-9);
    c->knobs.task = TASK_PRETRAIN, c->knobs.grad_bytes = 2;
    assert_near(layer_embedding(&t).backward.memory - frozen, 8 * 32768 * 1024 / 1e12, 1e-9);
}

static double table_backward(void **state, const char *framework, const char *plan)
{
    struct timing t = timing_of(round_plan(*state, framework, "", plan));
    return layer_embedding(&t).backward.memory;
}

/* A plan of Bridge that does not speak of gradients has them as its performance recipes do; one of
   Megatron-LM as silence means. */
static void silence_on_gradients_is_as_recipes_have_it(void **state)
{
    double wide = table_backward(state, "bridge", "grad_reduce_in_bf16: false\n"),
           narrow = table_backward(state, "bridge", "grad_reduce_in_bf16: true\n");
    assert_near(wide - narrow, 4 * 32768 * 1024 / 1e12, 1e-9);
    assert_near(table_backward(state, "bridge", ""), narrow, 1e-12);
    assert_near(table_backward(state, "megatron", ""), wide, 1e-12);
    /* the optimizer's format is not the one of the reduction; fp32 has no other */
    assert_near(table_backward(state, "bridge", "main_grads_dtype: fp32\n"), narrow, 1e-12);
    assert_near(table_backward(state, "bridge", "precision: fp32\n"), wide, 1e-12);
}

/* ---- the step ---- */

static double wider_by(struct config *c, const char *error)
{
    struct time_estimate before = time_of(c);
    coefficient(c, error, 0.5);
    struct time_estimate after = time_of(c);
    return log(after.high / after.step) - log(before.high / before.step);
}

/* Sharded parameters are a class of runs of their own in each framework. */
static void fsdp_has_its_own_error(void **state)
{
    const char *sharded = "use_megatron_fsdp: true\n";
    assert_true(wider_by(round_plan(*state, "megatron", "", sharded), "error_fsdp") > 0.1);
    assert_near(wider_by(round_plan(*state, "megatron", "", sharded), "error_dense") + 1, 1, 1e-9);
    assert_true(wider_by(round_plan(*state, "megatron", "", ""), "error_dense") > 0.1);
    assert_true(wider_by(round_plan(*state, "automodel", "", "strategy: fsdp2\n"), "error_fsdp") >
                0.1);
}

/* Parameters that are gathered: layers, embedding and head. What is left out, the final norm and
   the start-up of collectives, is below one per cent. */
static const double parameters =
    4 * (4 * 1024.0 * 1024 + 3 * 1024.0 * 4096 + 2 * 1024) + 2 * 32768.0 * 1024;

/* Two gathers and a reduction of two bytes a parameter with every microbatch, and half a gather
   that nothing runs beside. */
static void fsdp_gathers_with_every_microbatch(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "use_megatron_fsdp: true\n");
    struct timing t = timing_of(c);
    double one = comm_collective(&t, 2 * parameters, 8, 8);
    assert_near(time_of(c).dp_exposed, (8 * 3 + 0.5) * one, 0.01);
    c->knobs.gbs = 128;
    assert_near(time_of(c).dp_exposed, (16 * 3 + 0.5) * one, 0.01);
}

/* AutoModel's FSDP2 gathers as often where it reshards after the forward, else once a microbatch,
   and reduces after the last one alone. */
static void fsdp2_reduces_once(void **state)
{
    struct config *c = round_plan(*state, "automodel", "", "strategy: fsdp2\n");
    struct timing t = timing_of(c);
    double one = comm_collective(&t, 2 * parameters, 8, 8);
    assert_near(time_of(c).dp_exposed, (8 * 2 + 1 + 0.5) * one, 0.01);
    c->knobs.reshard_stated = true, c->knobs.reshard_after_forward = false;
    assert_near(time_of(c).dp_exposed, (8 + 1 + 0.5) * one, 0.01);
}

/* What two replicas save of gathers and reductions. */
static double saved_by_replicas(struct config *c)
{
    double once = (c->knobs.dp_replicate = 1, time_of(c).dp_exposed);
    double twice = (c->knobs.dp_replicate = 2, time_of(c).dp_exposed);
    return once - twice;
}

/* Experts travel among all ranks that share them, whatever the replicas. */
static void replicas_exchange_the_same_experts(void **state)
{
    struct config *c = round_plan(*state, "automodel", EIGHT_EXPERTS, "strategy: fsdp2\nep: 2\n");
    double narrow = saved_by_replicas(c);
    c->model.expert_ffn *= 2;
    assert_near(saved_by_replicas(c), narrow, 1e-9);
}

/* Stages of a pipeline keep what they gathered to the last backward, unless they are told to
   reshard. */
static void a_pipeline_gathers_once(void **state)
{
    struct config *c = round_plan(*state, "automodel", "", "strategy: fsdp2\npp: 2\n");
    double kept = time_of(c).dp_exposed;
    c->knobs.gbs *= 2;
    assert_near(time_of(c).dp_exposed, kept, 1e-9);
    c->knobs.reshard_stated = c->knobs.reshard_after_forward = true;
    double anew = time_of(c).dp_exposed;
    c->knobs.gbs /= 2;
    assert_true(time_of(c).dp_exposed > 2 * kept);
    assert_true(anew > time_of(c).dp_exposed);
}

/* Nothing overlaps: gradients of four bytes are reduced, parameters of two gathered, of one in
   FP8. */
static void the_distributed_optimizer_reduces_and_gathers(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    c->knobs.grad_bytes = 4;
    struct timing t = timing_of(c);
    double two = comm_collective(&t, 2 * parameters, 8, 8),
           four = comm_collective(&t, 4 * parameters, 8, 8),
           one = comm_collective(&t, parameters, 8, 8);
    assert_near(time_of(c).dp_exposed, four + two, 0.01);
    c->knobs.precision = PREC_FP8_TENSORWISE;
    assert_near(time_of(c).dp_exposed, four + two, 0.01);
    c->knobs.fp8_param_gather = true;
    assert_near(time_of(c).dp_exposed, four + one, 0.01);
}

/* Behind the first stage a chunk's gradients are one bucket: of those of the chunk that ends the
   step only one pass hides, however wide the window of the others is. */
static void the_last_chunk_of_gradients_is_seen(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "pp: 2\nvpp: 4\n");
    c->knobs.overlap_grad_reduce = c->knobs.overlap_param_gather = true;
    c->model.num_layers = 8;
    struct time_layers l;
    struct time_pass pass;
    time_layers_init(c, &l);
    assert_true(time_pass_of(&l, c, &pass));
    coefficient(c, "dp_window", 1e6); /* hides all */
    assert_near(time_of(c).dp_exposed, 0, 1e-12);
    c->knobs.overlap_grad_reduce = false;
    double reduce = time_of(c).dp_exposed, backward = 2.0 / 3 * pass.window;
    c->knobs.overlap_grad_reduce = true;
    coefficient(c, "dp_window", 0.8 * reduce / backward); /* 1.5 backwards hide more than all */
    c->knobs.overlap_param_gather = false;                /* else some of it is seen */
    double both = time_of(c).dp_exposed;
    coefficient(c, "dp_window", 1e6);
    assert_near(both - time_of(c).dp_exposed, 0.2 * reduce / 4, 1e-9);
}

/* Two groups of the same shards on 16 ranks: each gathers and reduces in its NVLink domain, and
   every rank adds its eighth of the gradients up with its like in the other, there and back over
   the network. One rank updates an eighth, not a sixteenth. */
static void groups_of_the_same_shards(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    c->knobs.gpus = 16, c->knobs.gbs = 128, c->knobs.grad_bytes = 4;
    struct timing t = timing_of(c);
    double far =
        comm_collective(&t, 4 * parameters, 16, 16) + comm_collective(&t, 2 * parameters, 16, 16);
    assert_near(time_of(c).dp_exposed, far, 0.02);
    double update = time_of(c).optimizer;
    c->knobs.optimizer_instances = 2;
    double near = comm_collective(&t, 4 * parameters, 8, 8) +
                  comm_collective(&t, 2 * parameters, 8, 8),
           across = comm_collective(&t, 4 * parameters / 8, 2, 16);
    assert_near(time_of(c).dp_exposed, near + 2 * across, 0.02);
    assert_near(time_of(c).optimizer - update, parameters / 16 * 30 / 0.95e12, 1e-3);
    const struct decision *d = &decisions[DECISION_REPLICAS];
    c->knobs.optimizer_instances = 1;
    assert_true(move_take(d, d->moves, c));
    assert_int_equal(c->knobs.optimizer_instances, 2);
    c->knobs.gpus = 8;
    assert_false(move_take(d, d->moves, c)); /* they are inside */
}

/* An eighth of the parameters is updated: 30 bytes each at 0.7 of the HBM's rate, 24 with narrow
   states; norm and casts read all of them at 4 bytes. */
static void updates_move_bytes(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    double all = 4 * parameters / 1e12, own = parameters / 8;
    assert_near(time_of(c).optimizer, own * 30 / 0.95e12 + all, 1e-3);
    c->knobs.precision_aware = true;
    assert_near(time_of(c).optimizer, own * 24 / 0.95e12 + all, 1e-3);
    /* five Newton-Schulz steps of 4 m + 2 m^2 / n FLOPs an element of an m x n matrix */
    c->knobs.muon = true;
    double steps = own * 5 * (4 * 1024 + 2 * 1024.0 * 1024 / 4096) / 1e15;
    assert_near(time_of(c).optimizer, own * 24 / 0.95e12 + all + steps, 1e-3);
    c->knobs.muon = false;
    c->knobs.offload_optimizer_states = true; /* 24 bytes through 0.86 of PCIe's 1e10 B/s */
    assert_near(time_of(c).optimizer, own * 24 / 0.95e12 + all + own * 24 / 0.86e10, 1e-3);
}

/* One per cent a doubling above 64 GPUs. */
static void many_ranks_straggle(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    coefficient(c, "straggling", 0.01);
    static const struct {
        int64_t gpus;
        double slow;
    } cases[] = {{8, 1}, {64, 1}, {128, 1.01}, {512, 1.03}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct time_layers layers;
        struct time_rates rates;
        c->knobs.gpus = cases[i].gpus, c->knobs.gbs = 8 * c->knobs.gpus;
        time_layers_init(c, &layers);
        time_rates_of(&layers, c, &rates);
        assert_near(rates.slow, cases[i].slow, 1e-12);
        if (i != 2) continue;
        double slow = time_of(c).compute;
        coefficient(c, "straggling", 0);
        assert_near(slow / time_of(c).compute, 1.01, 1e-9);
        coefficient(c, "straggling", 0.01);
    }
}

/* Throttling makes what a stage does longer, and its waiting not, but for the transfers in it. */
static void waiting_stages_cool(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "pp: 2\n");
    c->model.vocab = 0; /* stages do the same */
    struct time_estimate cold = time_of(c);
    coefficient(c, "throttling", 0.5);
    struct time_estimate hot = time_of(c);
    assert_true(hot.compute > 1.1 * cold.compute);
    assert_near(hot.bubble, cold.bubble, 5e-3);
}

/* 8 MB between the stages of one node at 0.8 of NVLink, after 20 us; each of two chunks sends once
   each way with every of 16 microbatches, in the mean over both ranks. Virtual stages send twice as
   often and show a quarter. */
static void transfers_between_stages(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "pp: 2\n");
    coefficient(c, "p2p_exposed", 0.25);
    double one = 20e-6 + 2 * 4096 * 1024.0 / 0.8e11;
    assert_near(time_of(c).pp_exposed, 16 / 2 * 2 * 2 * one, 1e-9);
    c->knobs.vpp = 2;
    assert_near(time_of(c).pp_exposed, 16 / 2 * 2 * 4 * 0.25 * one, 1e-9);
}

/* Inside one domain, between ranks of a rack that mostly share one, and between nodes. */
static void neighbouring_stages_by_their_distance(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "pp: 2\n");
    static const struct {
        int domain, pp;
        int64_t gpus;
        double rate;
    } cases[] = {{8, 2, 8, 0.8e11}, {8, 2, 16, 1e10}, {72, 4, 144, 0.4e11}, {72, 2, 144, 1e10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c->machine.nvlink_domain = cases[i].domain;
        c->knobs.gpus = cases[i].gpus, c->knobs.pp = cases[i].pp;
        struct timing t = timing_of(c);
        assert_near(comm_stage(&t, &c->knobs), 20e-6 + 2 * 4096 * 1024.0 / cases[i].rate, 1e-12);
    }
}

static double operations(const struct layer_time *x)
{
    return x->forward.gpu_ops + x->backward.gpu_ops;
}

/* A microsecond between two operations of four layers, the embedding and the head, eight times. */
static void gaps_between_operations(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    struct time_layers l;
    assert_near(time_of(c).host + 1, 1, 1e-9);
    coefficient(c, "gpu_gap_s", 1e-6);
    time_layers_init(c, &l);
    double all = 4 * operations(&l.kinds[0]) + operations(&l.embedding) + operations(&l.head);
    assert_true(all > 100);
    assert_near(time_of(c).host, 8 * 1e-6 * all, 1e-6);
}

/* Graphs of attention leave two operations to the host, those of an MLP one; the GPU has all. */
static void graphs_leave_operations_to_the_host(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    struct layer_time plain = layer_of(c, dense_layer);
    c->knobs.graph_impl = GRAPH_TE, c->knobs.graph_scope = SCOPE_ATTN;
    struct layer_time half = layer_of(c, dense_layer);
    c->knobs.graph_scope = SCOPE_ATTN | SCOPE_MLP;
    struct layer_time both = layer_of(c, dense_layer);
    assert_near(plain.forward.ops - half.forward.ops, 22 - 2, 1e-12);
    assert_near(half.forward.ops - both.forward.ops, 10 - 1, 1e-12);
    assert_near(both.forward.gpu_ops, plain.forward.ops, 1e-12);
}

/* Each pass of a schedule fills and drains the pipeline anew. */
static void every_pass_has_its_ramps(void **state)
{
    struct config *c = round_plan(*state, "automodel", "", "strategy: fsdp2\npp: 2\n");
    struct time_estimate one = time_of(c), four, quarter;
    c->knobs.schedules = 4;
    four = time_of(c);
    c->knobs.schedules = 1, c->knobs.gbs /= 4;
    quarter = time_of(c);
    assert_near(four.bubble, 4 * quarter.bubble, 1e-9);
    assert_near(four.step - one.step, four.bubble - one.bubble, 1e-9);
    assert_near(one.bubble_fraction, 1.0 / 17, 1e-12);
    assert_near(four.bubble_fraction, 1.0 / 5, 1e-12);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_pass_has_its_ramps),
    cmocka_unit_test(four_bit_weights_are_made_wide),
    cmocka_unit_test(adapters_gather_for_themselves),
    cmocka_unit_test(weight_gradients_of_experts_are_plain),
    cmocka_unit_test(attention_heats_less),
    cmocka_unit_test(norms_write_fp8_with_delayed_scaling),
    cmocka_unit_test(frozen_linears_quantise_rows_alone),
    cmocka_unit_test(an_exchange_inside_a_domain),
    cmocka_unit_test(copies_spread_over_the_domains),
    cmocka_unit_test(a_ring_hides_behind_attention),
    cmocka_unit_test(heads_inside_and_a_ring_between),
    cmocka_unit_test(heads_cross_domains_by_their_own_nics),
    cmocka_unit_test(whole_sequences_are_one_kernel),
    cmocka_unit_test(gathered_keys_hide_under_nothing),
    cmocka_unit_test(context_parallelism_as_the_model_needs),
    cmocka_unit_test(picked_keys_are_gathered),
    cmocka_unit_test(ways_of_context_parallelism),
    cmocka_unit_test(unfused_attention_streams_its_scores),
    cmocka_unit_test(recomputed_modules_run_once_more),
    cmocka_unit_test(automodel_stops_recomputing_early),
    cmocka_unit_test(biases_of_experts_are_passes),
    cmocka_unit_test(expert_tensor_parallelism_gathers_rows),
    cmocka_unit_test(experts_rows_are_filled_up),
    cmocka_unit_test(the_hottest_rank_of_an_exchange),
    cmocka_unit_test(hybridep_exchanges_with_itself),
    cmocka_unit_test(weights_are_quantised_each_step),
    cmocka_unit_test(attention_in_fp8),
    cmocka_unit_test(head_in_mxfp8),
    cmocka_unit_test(attention_may_be_in_8_bits),
    cmocka_unit_test(rope_of_single_operations),
    cmocka_unit_test(more_sms_exchange_faster),
    cmocka_unit_test(operations_are_repeated),
    cmocka_unit_test(adapters_drop_out_where_said),
    cmocka_unit_test(a_shared_expert_hides_half),
    cmocka_unit_test(ends_of_a_step_hide_nothing),
    cmocka_unit_test(kernels_hide_no_more_than_they_last),
    cmocka_unit_test(experts_are_launched_in_a_loop),
    cmocka_unit_test(delayed_scaling_costs_host_time),
    cmocka_unit_test(experts_start_on_streams),
    cmocka_unit_test(a_trained_table_adds_its_gradient),
    cmocka_unit_test(silence_on_gradients_is_as_recipes_have_it),
    cmocka_unit_test(fsdp_has_its_own_error),
    cmocka_unit_test(fsdp_gathers_with_every_microbatch),
    cmocka_unit_test(fsdp2_reduces_once),
    cmocka_unit_test(replicas_exchange_the_same_experts),
    cmocka_unit_test(a_pipeline_gathers_once),
    cmocka_unit_test(the_distributed_optimizer_reduces_and_gathers),
    cmocka_unit_test(the_last_chunk_of_gradients_is_seen),
    cmocka_unit_test(groups_of_the_same_shards),
    cmocka_unit_test(updates_move_bytes),
    cmocka_unit_test(many_ranks_straggle),
    cmocka_unit_test(waiting_stages_cool),
    cmocka_unit_test(transfers_between_stages),
    cmocka_unit_test(neighbouring_stages_by_their_distance),
    cmocka_unit_test(gaps_between_operations),
    cmocka_unit_test(graphs_leave_operations_to_the_host),
};
UNIT_MAIN(tests)
