/* SPDX-License-Identifier: Apache-2.0 */
/* The terms of memory, worked out by hand. */
#include "round_plan.h"

#include "cost/cost.h"
#include "cost/memory.h"

/* Parameters of the round plan's model. */
static const double layer_matrices = 4 * 1024.0 * 1024 + 3 * 1024.0 * 4096, norms = 2 * 1024,
                    table = 32768.0 * 1024;

static double all_parameters(void)
{
    return 4 * (layer_matrices + norms) + 2 * table + 1024;
}

/* One of EIGHT_EXPERTS. */
static const double expert = 3 * 1024.0 * 512;

static struct stage_memory stage_of(const struct config *c)
{
    struct memory_estimate e;
    assert_true(memory_estimate(c, &e, NULL));
    return e.stages[e.fullest];
}

/* Bytes of the terms of that name at the fullest stage's peak. */
static double term(struct arena *a, const struct config *c, const char *name)
{
    struct cost_trace trace = {.arena = a};
    struct memory_estimate e;
    double sum = 0;
    assert_true(memory_estimate(c, &e, &trace));
    for (size_t i = 0; i < trace.terms.n; i++)
        if (strcmp(trace.terms.items[i].name, name) == 0) sum += trace.terms.items[i].value;
    return sum;
}

static void states_by_optimizer(void **state)
{
    double n = all_parameters();
    struct config *c = round_plan(*state, "megatron", "", "");
    assert_near(term(*state, c, "parameters, dense"), 2 * n, 1e-12);
    assert_near(term(*state, c, "gradients, dense"), 4 * n, 1e-12);
    /* main parameter and two moments of 4 bytes, over 8 data-parallel ranks */
    assert_near(term(*state, c, "optimizer states, dense"), 12 * n / 8, 1e-12);
    c->knobs.distributed_optimizer = false;
    assert_near(term(*state, c, "optimizer states, dense"), 12 * n, 1e-12);
    c->knobs.distributed_optimizer = true;
    c->knobs.optimizer_instances = 2; /* each has 4 of the ranks */
    assert_near(term(*state, c, "optimizer states, dense"), 12 * n / 4, 1e-12);
    c = round_plan(*state, "megatron", "",
                   "use_precision_aware_optimizer: true\nexp_avg_dtype: bf16\n"
                   "exp_avg_sq_dtype: fp8\n");
    /* the 16 bits that the bf16 parameter lacks, moments of 2 and 1 bytes */
    assert_near(term(*state, c, "optimizer states, dense"), 5 * n / 8, 1e-12);
}

/* Muon keeps one moment of a matrix; vectors, embedding and head have Adam's two. */
static void muon_keeps_one_moment_of_a_matrix(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    c->knobs.muon = true;
    double matrices = 4 * layer_matrices, rest = all_parameters() - matrices;
    assert_near(term(*state, c, "optimizer states, dense"), (8 * matrices + 12 * rest) / 8, 1e-12);
}

/* MXFP8: a row-wise and a column-wise copy, one scale byte for 32 elements, beside the 2 bytes of
   bf16 or, with FP8 parameters, in their place. */
static void mxfp8_weights_have_two_copies(void **state)
{
    double matrices = 4 * layer_matrices;
    struct config *c = round_plan(*state, "bridge", "", "");
    c->knobs.precision = PREC_MXFP8;
    assert_near(term(*state, c, "quantised weights"), 2 * 33.0 / 32 * matrices, 1e-12);
    c->knobs.fp8_param_gather = true;
    assert_near(term(*state, c, "quantised weights"), (2 * 33.0 / 32 - 2) * matrices, 1e-12);
    c->knobs.precision = PREC_FP8_TENSORWISE; /* Hopper: the transpose too */
    assert_true(term(*state, c, "quantised weights") == 0);
    c->machine.compute_capability = 10;
    assert_near(term(*state, c, "quantised weights"), -matrices, 1e-12);
}

/* Frozen FP8 weights on Hopper: a byte for two; how much of the transposes stays is in the
 * interval. */
static void frozen_weights_keep_no_transposes(void **state)
{
    double matrices = 4 * layer_matrices;
    struct config *c = round_plan(*state, "bridge", "", "fp8_param_gather: true\n");
    struct memory_estimate without, with;
    c->knobs.precision = PREC_FP8_DELAYED, c->knobs.task = TASK_PEFT;
    assert_near(term(*state, c, "quantised weights"), -matrices, 1e-12);
    memory_estimate(c, &without, NULL);
    coefficient(c, "frozen_transposes", 1);
    assert_true(term(*state, c, "quantised weights") == 0);
    memory_estimate(c, &with, NULL);
    assert_near(with.peak - without.peak, matrices, 1e-9);
}

/* FSDP2 keeps the copies of its experts' weights; those of the dense ones are made anew. */
static void fsdp2_keeps_quantised_experts(void **state)
{
    struct config *c = round_plan(*state, "automodel", EIGHT_EXPERTS, "strategy: fsdp2\nep: 8\n");
    c->knobs.precision = PREC_MXFP8;
    assert_near(term(*state, c, "quantised weights"), 2 * 2 * 33.0 / 32 * 4 * expert, 1e-12);
}

/* 16 microbatches on each of 4 pipelines. A pass of the schedule keeps the logits of all its
   microbatches and puts them together at its end, and has tensors to receive them to and fro; more
   passes a step keep fewer. */
static void a_schedule_keeps_its_outputs(void **state)
{
    struct config *c = round_plan(*state, "automodel", "", "strategy: fsdp2\npp: 2\n");
    double logits = 2 * 4096.0 * 32768, hidden = 2 * 4096.0 * 1024;
    struct memory_estimate m;
    assert_true(memory_estimate(c, &m, NULL));
    assert_true(m.stages[1].phase == 'M');
    assert_near(m.stages[1].logits, 2 * 16 * logits, 1e-12);
    assert_near(term(*state, c, "outputs that the schedule keeps"), 16 * logits, 1e-12);
    /* the last stage receives forwards alone, of which one is in flight */
    assert_near(term(*state, c, "receive tensors of the schedule"), 15 * hidden, 1e-12);
    c->knobs.schedules = 4;
    assert_true(memory_estimate(c, &m, NULL));
    assert_near(term(*state, c, "receive tensors of the schedule"), 3 * hidden, 1e-12);
    assert_true(m.stages[1].logits < (2 * 4 + 14) * logits / 2);
    c->framework = FRAMEWORK_MEGATRON;
    assert_true(term(*state, c, "outputs that the schedule keeps") == 0);
}

/* Megatron-FSDP holds embedding and head, and twice a layer's parameters and gradients. */
static void fsdp_gathers_two_layers_and_the_root(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "use_megatron_fsdp: true\n");
    c->knobs.grad_bytes = 4;
    double layer = layer_matrices + norms;
    assert_near(term(*state, c, "FSDP working set"), 2 * 2 * table + 2 * (2 + 4) * layer, 1e-12);
    assert_near(term(*state, c, "parameters, dense"), 2 * all_parameters() / 8, 1e-12);
}

/* Half a byte of each linear's element is sharded, its scales (a byte for 64, and 4 bytes for 256
   of those) are on every rank, and one weight at a time is wide. */
static void four_bit_weights(void **state)
{
    double packed = 4 * layer_matrices, rest = all_parameters() - packed, widest = 2 * 4096 * 1024;
    struct config *c = round_plan(*state, "automodel", "",
                                  "strategy: fsdp2\ntask: peft\npeft_dim: 8\nload_in_4bit: true\n");
    assert_true(c->knobs.four_bit && c->knobs.double_quant);
    assert_near(term(*state, c, "parameters in 4 bits"), 0.5 * packed / 8, 1e-12);
    assert_near(term(*state, c, "scales of 4-bit parameters"), 65.0 / 64 / 64 * packed, 1e-12);
    assert_near(term(*state, c, "parameters, dense"), 2 * rest / 8, 1e-12);
    assert_near(term(*state, c, "packed weight made wide"), 2 * widest, 1e-12);
    c->knobs.double_quant = false;
    assert_near(term(*state, c, "scales of 4-bit parameters"), 4.0 / 64 * packed, 1e-12);
    /* full fine-tuning has none, whatever stands there */
    c = round_plan(*state, "automodel", "", "task: sft\nload_in_4bit: true\n");
    assert_false(c->knobs.four_bit);
}

/* A byte an element, and no scales that count. */
static void eight_bit_weights(void **state)
{
    double packed = 4 * layer_matrices, rest = all_parameters() - packed;
    struct config *c = round_plan(*state, "automodel", "",
                                  "strategy: fsdp2\ntask: peft\npeft_dim: 8\nload_in_8bit: true\n");
    assert_near(term(*state, c, "parameters in 8 bits"), packed / 8, 1e-12);
    assert_near(term(*state, c, "parameters, dense"), 2 * rest / 8, 1e-12);
    assert_near(term(*state, c, "packed weight made wide"), 2 * 2 * 4096 * 1024.0, 1e-12);
    assert_true(term(*state, c, "scales of 4-bit parameters") == 0);
}

/* Fused experts stay in 16 bit, and each GPU has all of them before they are sharded. */
static void four_bit_models_are_loaded_whole(void **state)
{
    double packed = 4 * 4 * 1024.0 * 1024, experts = 4 * 64 * expert;
    struct config *c = round_plan(
        *state, "automodel", "num_moe_experts: 64, moe_router_topk: 2, moe_ffn_hidden_size: 512",
        "strategy: fsdp2\ntask: peft\npeft_dim: 8\nload_in_4bit: true\n");
    double routers = 4 * 64 * 1024, wide = 4 * norms + 1024 + 2 * table + experts + routers;
    struct stage_memory s;
    c->knobs.gpus = 64, c->knobs.seq = 64, c->knobs.reshard_after_forward = true;
    s = stage_of(c);
    assert_true(s.phase == 'L');
    assert_near(s.params + term(*state, c, "whole model while it is loaded, beyond the shard"),
                2 * wide + (0.5 + 65.0 / 64 / 64) * packed, 1e-12);
}

/* ---- activations ---- */

/* Bytes that a dense layer keeps of a token: eight tensors as wide as the layer (both inputs and
   both norms' outputs; q, k, v; attention's output), two norms' statistics, the log-sum-exp of 8
   heads, FC1's output with gate and up, and the activation. */
static const double per_token = 2 * 1024 * (4 + 3 + 1) + 2 * 4 + 4 * 8 + 2 * 3 * 4096;

static struct layer_memory measured(const struct config *c, struct layer_kind kind)
{
    struct layer_memory l;
    struct memory_coefficients x = memory_coefficients_of(&c->machine);
    struct token_counts t = token_counts(c, &x);
    layer_measure(c, &t, kind, &l);
    return l;
}

static void a_dense_layer_keeps(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "");
    struct layer_kind kind = {MIXER_ATTENTION, FFN_DENSE};
    struct layer_memory l = measured(c, kind);
    assert_near(l.all, 4096 * per_token, 1e-12);
    assert_near(l.kept, l.all, 1e-12);
    assert_near(l.input, 4096 * 2 * 1024, 1e-12);
    c->knobs.recompute = RECOMPUTE_SELECTIVE;
    c->knobs.recompute_modules = MOD_MLP; /* its norm's output, FC1's output, the activation */
    l = measured(c, kind);
    assert_near(l.all - l.kept, 4096 * (2 * 1024 + 2 * 3 * 4096), 1e-12);
    c->knobs.recompute_modules = MOD_CORE_ATTN; /* the log-sum-exp of 8 heads */
    l = measured(c, kind);
    assert_near(l.all - l.kept, 4096 * 4 * 8, 1e-12);
}

/* 2 x 4096 routed rows of which each expert's activation is 512 wide. */
static void recomputed_moe_modules_free_their_tensors(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    struct layer_kind kind = {MIXER_ATTENTION, FFN_MOE};
    double rows = 2 * 4096;
    c->knobs.recompute = RECOMPUTE_SELECTIVE;
    c->knobs.recompute_modules = MOD_MOE_ACT;
    struct layer_memory l = measured(c, kind);
    assert_near(l.all - l.kept, 2 * rows * 512, 1e-12);
    /* the permuted rows, FC1's output, the activation and the probabilities; of 8 experts the
       logits and scores (12 bytes) and the maps (8 bytes) */
    c->knobs.recompute_modules = MOD_MOE;
    l = measured(c, kind);
    assert_near(l.all - l.kept, rows * (2 * 1024 + 2 * 3 * 512 + 4) + 4096 * 8 * (12 + 8), 1e-12);
}

/* 128 more for the one expert of a rank: the permuted rows, FC1's output, the activation in BF16.
 */
static void rows_that_fill_an_expert_up_are_kept(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    struct layer_kind kind = {MIXER_ATTENTION, FFN_MOE};
    double before = measured(c, kind).kept;
    c->knobs.op_fuser = true;
    assert_near(measured(c, kind).kept - before, 128 * (2 * 1024 + 2 * 3 * 512 + 4), 1e-12);
}

/* MXFP8's head has copies by rows and by columns with their scales, as has the logits' gradient. */
static void copies_of_a_head_in_mxfp8(void **state)
{
    struct config *c = round_plan(*state, "bridge", "", "");
    c->knobs.precision = PREC_MXFP8;
    double weights = term(*state, c, "quantised weights");
    double backward = term(*state, c, "head backward");
    c->knobs.fp8_output = true;
    double each = 2 * (1 + 1.0 / 32);
    assert_near(term(*state, c, "quantised weights") - weights, each * 1024 * 32768, 1e-9);
    assert_near(term(*state, c, "head backward") - backward, each * 4096.0 * 32768, 1e-9);
}

/* Where a token meets two experts, two rows each; HybridEP's dispatch output lives beside them. */
static void dispatched_rows_may_live_twice(void **state)
{
    struct config *c = round_plan(*state, "megatron", EIGHT_EXPERTS, "ep: 8\n");
    coefficient(c, "hybridep_copies", 0.5);
    coefficient(c, "hybridep_quantised_copies", 0.25);
    struct memory_coefficients x = memory_coefficients_of(&c->machine);
    struct token_counts t = token_counts(c, &x);
    assert_true(t.rows == 2 * 4096 && t.dispatch_copies == 0);
    c->knobs.dispatcher = DISPATCH_HYBRIDEP;
    assert_true(token_counts(c, &x).dispatch_copies == 0.5);
    c->knobs.precision = PREC_MXFP8;
    assert_true(token_counts(c, &x).dispatch_copies == 0.25);
}

/* A graph of the whole iteration: what the stash holds, whatever routing brings, is kept, and one
   layer's backward computes on whole buffers. Without a stash whole buffers are kept. */
static void buffers_of_a_fixed_size(void **state)
{
    struct config *c =
        round_plan(*state, "megatron", EIGHT_EXPERTS,
                   "ep: 8\nmoe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: hybridep\n"
                   "cuda_graph_impl: full_iteration\nmoe_expert_rank_capacity_factor: 2.0\n"
                   "moe_paged_stash: true\nmoe_paged_stash_buffer_size_factor_cuda: 1.25\n");
    struct layer_kind kind = {MIXER_ATTENTION, FFN_MOE};
    double rows = 2 * 4096, one = 2 * rows * (1024 + (1 + 2) * 512);
    c->knobs.force_balance = false;
    assert_true(knobs_rank_capacity(&c->knobs) == 2 && knobs_kept_capacity(&c->knobs) == 1.25);
    double backward = measured(c, kind).backward;
    c->knobs.rank_capacity = 1;
    assert_near(backward - measured(c, kind).backward, one, 1e-12);
    struct memory_work w;
    assert_true(memory_prepare(c, &w));
    assert_true(w.imbalance.low == 1.25 && w.imbalance.high == 1.25);
    c->knobs.paged_stash = false, c->knobs.rank_capacity = 2;
    assert_true(memory_prepare(c, &w));
    assert_true(w.imbalance.value == 2);
}

/* An even model's peak is in the last layer's backward when its vocabulary is small. */
#define SMALL_VOCABULARY "vocab_size: 1024"

static void full_recomputation_keeps_inputs_and_makes_one_layer_again(void **state)
{
    struct config *c = round_plan(*state, "megatron", SMALL_VOCABULARY, "");
    double input = 4096 * 2 * 1024;
    assert_near(stage_of(c).activations, 4 * 4096 * per_token, 1e-12);
    c->knobs.recompute = RECOMPUTE_FULL;
    c->knobs.recompute_method = METHOD_UNIFORM;
    c->knobs.recompute_num_layers = 1;
    assert_near(stage_of(c).activations, 4 * input, 1e-12);
    assert_near(term(*state, c, "recomputed tensors of one layer"), 4096 * per_token - input,
                1e-12);
    c->knobs.recompute_num_layers = 2; /* two groups, and both layers of one */
    assert_near(stage_of(c).activations, 2 * input, 1e-12);
    assert_near(term(*state, c, "recomputed tensors of one layer"), 2 * 4096 * per_token - input,
                1e-12);
    c->knobs.recompute_method = METHOD_BLOCK; /* the other two keep all */
    assert_near(stage_of(c).activations, 2 * input + 2 * 4096 * per_token, 1e-12);
}

/* An MTP depth is a layer, of which full recomputation keeps the input, and six widths around
   it. */
static void an_mtp_depth_keeps_its_layers_input(void **state)
{
    struct config *c = round_plan(*state, "megatron", "mtp_num_layers: 1, " SMALL_VOCABULARY, "");
    double width = 4096 * 2 * 1024;
    assert_near(stage_of(c).activations, 5 * 4096 * per_token + 6 * width, 1e-12);
    c->knobs.recompute = RECOMPUTE_FULL;
    c->knobs.recompute_num_layers = 1;
    assert_near(stage_of(c).activations, 4 * width + width + 6 * width, 1e-12);
}

/* Bytes a logit: bf16 and an fp32 copy; the compiled loss one more; Transformer Engine in place. */
static void logits_by_the_loss(void **state)
{
    struct config *c = round_plan(*state, "megatron", "vocab_size: 131072", "");
    static const struct {
        enum ce_fusion fusion;
        double bytes;
    } cases[] = {{CE_NONE, 6}, {CE_NATIVE, 10}, {CE_TE, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c->knobs.ce_fusion = (uint8_t)cases[i].fusion;
        assert_near(term(*state, c, "logits and loss"), cases[i].bytes * 4096 * 131072, 1e-12);
        assert_near(stage_of(c).logits, cases[i].bytes * 4096 * 131072, 1e-12);
    }
    c->knobs.ce_fusion = CE_LINEAR;
    assert_true(stage_of(c).logits == 0);
    c->knobs.ce_fusion = CE_TE, c->knobs.tp = 2, c->knobs.sequence_parallel = true;
    assert_near(stage_of(c).logits, 2 * 4096 * 131072 / 2.0, 1e-12);
}

/* States that are on the CPU between two steps are not there in a backward. */
static void offloaded_states_are_away_during_the_backward(void **state)
{
    struct config *c = round_plan(*state, "megatron", SMALL_VOCABULARY, "");
    assert_true(stage_of(c).phase == 'B' && stage_of(c).optimizer > 0);
    c->knobs.offload_optimizer_states = true;
    assert_true(stage_of(c).phase == 'B' && stage_of(c).optimizer == 0);
}

/* torch's optimizers drop gradients after the step: a first and only microbatch begins its backward
   without any. */
static void fsdp2_has_gradients_from_the_second_microbatch_on(void **state)
{
    struct config *c = round_plan(*state, "automodel", SMALL_VOCABULARY, "strategy: fsdp2\n");
    assert_true(stage_of(c).phase == 'B' && stage_of(c).grads > 0);
    c->knobs.gbs = 8;
    assert_true(stage_of(c).phase == 'B' && stage_of(c).grads == 0);
}

/* Bytes of weights that two replicas repeat. */
static double repeated(struct config *c)
{
    double once = (c->knobs.dp_replicate = 1, stage_of(c).params);
    double twice = (c->knobs.dp_replicate = 2, stage_of(c).params);
    return twice - once;
}

/* Experts are shards of all ranks that share them, across replicas; where each rank has all of
   them they are parameters like others. */
static void replicas_do_not_repeat_experts(void **state)
{
    struct config *c = round_plan(*state, "automodel", EIGHT_EXPERTS, "strategy: fsdp2\nep: 2\n");
    double narrow = repeated(c);
    c->model.expert_ffn *= 2;
    assert_true(narrow > 0);
    assert_near(repeated(c), narrow, 1e-12);
    c->knobs.ep = 1;
    assert_true(repeated(c) > 1.5 * narrow);
}

/* A tensor to receive and one to send, in bf16 and as wide as the layers. */
static void a_pipeline_has_buffers(void **state)
{
    struct config *c = round_plan(*state, "megatron", "", "pp: 2\n");
    assert_near(term(*state, c, "pipeline receive and send"), 2 * 2.0 * 4096 * 1024, 1e-12);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(states_by_optimizer),
    cmocka_unit_test(muon_keeps_one_moment_of_a_matrix),
    cmocka_unit_test(mxfp8_weights_have_two_copies),
    cmocka_unit_test(frozen_weights_keep_no_transposes),
    cmocka_unit_test(fsdp2_keeps_quantised_experts),
    cmocka_unit_test(a_schedule_keeps_its_outputs),
    cmocka_unit_test(fsdp_gathers_two_layers_and_the_root),
    cmocka_unit_test(four_bit_weights),
    cmocka_unit_test(eight_bit_weights),
    cmocka_unit_test(four_bit_models_are_loaded_whole),
    cmocka_unit_test(a_dense_layer_keeps),
    cmocka_unit_test(recomputed_moe_modules_free_their_tensors),
    cmocka_unit_test(rows_that_fill_an_expert_up_are_kept),
    cmocka_unit_test(copies_of_a_head_in_mxfp8),
    cmocka_unit_test(dispatched_rows_may_live_twice),
    cmocka_unit_test(buffers_of_a_fixed_size),
    cmocka_unit_test(full_recomputation_keeps_inputs_and_makes_one_layer_again),
    cmocka_unit_test(an_mtp_depth_keeps_its_layers_input),
    cmocka_unit_test(logits_by_the_loss),
    cmocka_unit_test(offloaded_states_are_away_during_the_backward),
    cmocka_unit_test(fsdp2_has_gradients_from_the_second_microbatch_on),
    cmocka_unit_test(replicas_do_not_repeat_experts),
    cmocka_unit_test(a_pipeline_has_buffers),
};
UNIT_MAIN(tests)
