/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a search may take, and that it takes no others. */
#include "facts/param_ids.h"
#include "unit/plan_text.h"

#include <stdio.h>

#include "choose/outlook.h"
#include "choose/space.h"

static void assert_axis(struct axis x, const char *want)
{
    char got[512] = "";
    for (int i = 0; i < x.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", x.values[i]);
    assert_string_equal(got, want);
}

static void assert_values(const struct search_request *r, const struct knobs *k,
                          enum decision_id decision, const char *want)
{
    assert_axis(space_values(r, &decisions[decision], k), want);
}

/* 48 layers, the embedding and the loss on 4 stages are up to 12 chunks a stage, 16 at most. */
static void virtual_stages(void **state)
{
    struct config *c = plan_config(*state, "megatron", "ep: 8\n");
    struct search_request r = {.base = c};
    struct knobs k = c->knobs;
    assert_values(&r, &k, DECISION_VPP, "1");
    k.pp = 4;
    assert_values(&r, &k, DECISION_VPP, "1 2 3 4 5 6 7 8 9 10 11 12");
    k.pp = 2;
    assert_values(&r, &k, DECISION_VPP, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
    k.pp = 20;
    assert_values(&r, &k, DECISION_VPP, "1 2");
    c->framework = FRAMEWORK_AUTOMODEL; /* stages of 2 layers, their number rounded up from 24 */
    assert_values(&r, &k, DECISION_VPP, "1 2");
    k.pp = 4; /* of 6, 4, 3, 2 and 1; 20 stages of 3 would be 16 */
    assert_values(&r, &k, DECISION_VPP, "1 2 3 4 6 12");
}

/* From 8,192 tokens on, and at least 2,048 a rank. */
static void context_parallelism_of_long_sequences(void **state)
{
    struct config *c = plan_config(*state, "megatron", "ep: 8\n");
    struct search_request r = {.base = c};
    struct knobs k = c->knobs;
    assert_values(&r, &k, DECISION_CP, "1");
    k.seq = 8192;
    assert_values(&r, &k, DECISION_CP, "1 2 4");
    k.seq = 32768; /* 8 GPUs */
    assert_values(&r, &k, DECISION_CP, "1 2 4 8");
    k.tp = 4;
    assert_values(&r, &k, DECISION_CP, "1 2");
    k.seq = 12304, k.gpus = 64, k.tp = 8,
    k.gbs = 64; /* a quarter is 3,076 tokens, no multiple of 8 */
    assert_values(&r, &k, DECISION_CP, "1 2");
}

/* Of 30.5 billion parameters the leanest states are 4.8 GB on each of 64 GPUs, and 48 layers keep
   23 GB of 4,096 tokens: sequences are cut further while these fill a GPU to three quarters, short
   ones beside tensor parallelism. */
static void context_parallelism_where_memory_is_full(void **state)
{
    struct config *c = plan_config(*state, "megatron", "ep: 8\n");
    struct search_request r = {.base = c};
    struct knobs *k = &c->knobs;
    k->gpus = k->gbs = 64;
    c->machine.capacity_bytes = 13e9;
    assert_values(&r, k, DECISION_CP, "1");
    k->tp = 2;
    assert_values(&r, k, DECISION_CP, "1 2 4");
    k->tp = 4; /* 4.8 GB and a quarter of 23 are 10.5, with half as much 7.6 */
    assert_values(&r, k, DECISION_CP, "1 2");
    c->machine.capacity_bytes = 17e9;
    assert_values(&r, k, DECISION_CP, "1");
    c->machine.capacity_bytes = 4e9; /* of the states alone there are more */
    assert_values(&r, k, DECISION_CP, "1");
    k->tp = 1, k->seq = 8192; /* a quarter of 46 GB is cut again, an eighth is not */
    assert_values(&r, k, DECISION_CP, "1 2 4");
    c->machine.capacity_bytes = 20e9;
    assert_values(&r, k, DECISION_CP, "1 2 4 8");
    k->tp = 2, k->sequence_parallel = true; /* it is ranks that count */
    assert_values(&r, k, DECISION_CP, "1 2 4");
}

/* Frozen, the weights are 1 GB on each of 64 GPUs and less is kept for them: short sequences are
   cut without tensor parallelism too, and where full states would leave no room. */
static void context_parallelism_beside_adapters(void **state)
{
    struct config *c = plan_config(*state, "megatron", "ep: 8\n");
    struct search_request r = {.base = c};
    struct knobs *k = &c->knobs;
    k->gpus = k->gbs = 64;
    k->task = TASK_PEFT;
    c->machine.capacity_bytes = 13e9;
    assert_values(&r, k, DECISION_CP, "1 2");
    c->machine.capacity_bytes = 4e9;
    assert_values(&r, k, DECISION_CP, "1 2 4 8");
}

/* Short sequences are cut among the ranks that the batch does not divide among; a smaller batch is
   cut as long as anything is left, and its experts among the same ranks. */
static void a_batch_that_does_not_divide(void **state)
{
    struct config *c = plan_config(*state, "megatron", "ep: 8\n");
    struct search_request r = {.base = c};
    struct knobs k = c->knobs;
    k.seq = 2048, k.gpus = 64;
    k.gbs = 64;
    assert_values(&r, &k, DECISION_CP, "1");
    k.gbs = 96; /* 32 ranks at most */
    assert_values(&r, &k, DECISION_CP, "1 2");
    k.gbs = 80;
    assert_values(&r, &k, DECISION_CP, "1 2 4");
    k.gbs = 32;
    assert_values(&r, &k, DECISION_CP, "1 2 4 8");
    k.cp = 4;
    assert_values(&r, &k, DECISION_ETP, "1 2 4");
    k.gbs = 64;
    assert_values(&r, &k, DECISION_ETP, "1");
    k.cp = 1, k.gpus = 72, k.fsdp = FSDP_FSDP2;
    c->framework = FRAMEWORK_AUTOMODEL; /* whose pipelines have 16 stages at most otherwise */
    k.gbs = 4;
    assert_values(&r, &k, DECISION_PP, "1 2 3 4 6 8 9 12 18");
    k.gbs = 72;
    assert_values(&r, &k, DECISION_PP, "1 2 3 4 6 8 9 12");
}

/* The names of a switch's states, "as it is" among them. */
static void assert_states(const struct config *c, enum decision_id decision, const char *want)
{
    struct config own = *c;
    struct search_request r = {.base = c};
    struct states x = space_states(&r, &decisions[decision], &own);
    char got[512] = "";
    for (int i = 0; i < x.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? ", " : "",
                 x.items[i] ? x.items[i]->name : "as it is");
    assert_string_equal(got, want);
    assert_memory_equal(&own.knobs, &c->knobs, sizeof own.knobs);
}

/* DeepEP has no kernels for a rack, and alone there is nothing to exchange. */
static void dispatchers(void **state)
{
    struct config *c = plan_config(*state, "megatron", "ep: 8\n");
    c->knobs.dispatcher = DISPATCH_ALLGATHER;
    assert_states(c, DECISION_DISPATCHER, "as it is, all-to-all, DeepEP, HybridEP");
    c->knobs.dispatcher = DISPATCH_DEEPEP;
    assert_states(c, DECISION_DISPATCHER, "as it is, all-to-all, HybridEP");
    c->machine.nvlink_domain = 72, c->machine.gpus_per_node = 4;
    c->knobs.dispatcher = DISPATCH_ALLTOALL;
    assert_states(c, DECISION_DISPATCHER, "as it is, HybridEP");
    c->knobs.ep = 1;
    assert_states(c, DECISION_DISPATCHER, "as it is");
    c->framework = FRAMEWORK_AUTOMODEL;
    assert_states(c, DECISION_DISPATCHER, "as it is, PyTorch's exchange");
}

/* Experts are split among divisors of their number that the GPUs allow; KV heads may be copied. */
static void degrees(void **state)
{
    struct config *c = plan_config(*state, "megatron", "");
    struct search_request r = {.base = c};
    struct knobs k = c->knobs;
    assert_values(&r, &k, DECISION_TP, "1 2 4 8");
    c->model.shared_ffn = 6;
    assert_values(&r, &k, DECISION_TP, "1 2");
    c->model.shared_ffn = 0;
    assert_values(&r, &k, DECISION_EP, "1 2 4 8");
    k.gpus = 48; /* 128 experts have no divisor 3 */
    assert_values(&r, &k, DECISION_EP, "1 2 4 8 16");
    c->model.groups = 3;
    assert_values(&r, &k, DECISION_TP, "1");
    k.tp = 4; /* experts of 768 */
    assert_values(&r, &k, DECISION_ETP, "1 2 4");
    assert_values(&r, &k, DECISION_PP, "1 2 3 4 6 12");
    k.fsdp = FSDP_OPTIM_GRADS_PARAMS;
    assert_values(&r, &k, DECISION_PP, "1");
    assert_values(&r, &k, DECISION_ETP, "1");
    r.barred_batches = 1 << 1; /* of one sequence */
    assert_values(&r, &k, DECISION_MBS, "2 4 8 16");
    k.gbs = 72;
    assert_values(&r, &k, DECISION_MBS, "2 3 4 6 8 9 12 16");
}

/* Both shard over the ranks that tensor parallelism leaves; AutoModel's has no plan for it beside
   experts, and its DDP none at all. */
static void tensor_parallelism_of_sharded_models(void **state)
{
    struct config *c = plan_config(*state, "megatron", "");
    struct search_request r = {.base = c};
    struct knobs k = c->knobs;
    k.fsdp = FSDP_OPTIM_GRADS_PARAMS;
    assert_values(&r, &k, DECISION_TP, "1 2 4 8");
    c->framework = FRAMEWORK_AUTOMODEL;
    k.fsdp = FSDP_FSDP2;
    assert_values(&r, &k, DECISION_TP, "1");
    c->model.experts = 0;
    assert_values(&r, &k, DECISION_TP, "1 2 4 8");
    k.fsdp = FSDP_DDP;
    assert_values(&r, &k, DECISION_TP, "1");
}

static bool has_state(struct config *c, enum recompute kind, uint32_t modules)
{
    struct search_request r = {.base = c};
    struct states x = space_states(&r, &decisions[DECISION_RECOMPUTE], c);
    struct knobs before = c->knobs;
    bool found = false;
    for (int i = 0; i < x.n; i++) {
        c->knobs = before;
        space_set(x.items[i], c);
        found = found || (c->knobs.recompute == kind && c->knobs.recompute_modules == modules);
    }
    c->knobs = before;
    return found;
}

/* From nothing to whole layers, in between what is cheap and the model has. */
static void what_may_be_recomputed(void **state)
{
    struct config *c = config_of(sized_plan(
        *state, "megatron", "model: deepseek-v3\nplatform: h100\ngpus: 256\ngbs: 2048\nmbs: 1",
        "tp: 1\npp: 16\nep: 16\n"));
    const uint32_t light = MOD_MOE_ACT | MOD_LAYERNORM, latent = light | MOD_MLA_UP_PROJ;
    c->knobs.recompute_modules = 0;
    assert_true(has_state(c, RECOMPUTE_NONE, 0));
    assert_true(has_state(c, RECOMPUTE_FULL, 0));
    assert_true(has_state(c, RECOMPUTE_SELECTIVE, light));
    assert_true(has_state(c, RECOMPUTE_SELECTIVE, latent));
    assert_true(has_state(c, RECOMPUTE_SELECTIVE, latent | MOD_MLP));
    assert_true(
        has_state(c, RECOMPUTE_SELECTIVE, MOD_LAYERNORM | MOD_MLA_UP_PROJ | MOD_MLP | MOD_MOE));
    c = plan_config(*state, "automodel", ""); /* whole layers or nothing */
    assert_states(c, DECISION_RECOMPUTE, "as it is, recompute whole layers");
}

/* ---- the search itself ---- */

/* What the search offers to the rules, seen by them. */
struct watch {
    size_t asked, interleaved, uneven, graphs;
};

static const char *look(void *context, const struct config *plan)
{
    struct watch *w = context;
    const struct knobs *k = &plan->knobs;
    w->asked++;
    w->interleaved += k->vpp > 1;
    w->uneven += k->vpp > 1 && knobs_microbatches(k) % k->pp != 0;
    w->graphs += k->graph_impl != GRAPH_NONE;
    return NULL;
}

static struct watch watched(const struct config *base, int pin)
{
    struct arena *scratch = arena_new(0);
    struct watch w = {0};
    const struct knob *pins[] = {knob_of(P_pipeline_model_parallel_size), knob_of(pin)};
    struct search_request r = {
        .base = base, .top = 3, .pinned = pins, .n_pinned = 2, .reject = look, .context = &w};
    struct search_result *out = ARENA_NEW(scratch, struct search_result);
    search_run(&r, scratch, out);
    assert_true(out->n > 0);
    arena_free(scratch);
    return w;
}

/* Microbatches go through virtual stages in groups of the pipeline: 4 stages of 16 GPUs have 4 data
   parallel ranks, and 48 sequences are 12, 6 or 3 microbatches. */
static void interleaving_wants_groups_of_microbatches(void **state)
{
    struct config *c = config_of(
        sized_plan(*state, "megatron",
                   "model: qwen3-30b-a3b\nplatform: h100\ngpus: 16\ngbs: 48\nmbs: 1", "pp: 4\n"));
    struct watch w = watched(c, P_seq_length);
    assert_true(w.asked > 0 && w.interleaved > 0);
    assert_int_equal(w.uneven, 0);
}

static void pinned_graphs_stay_off(void **state)
{
    struct config *c = plan_config(*state, "megatron", "pp: 1\n");
    c->knobs.graph_impl = GRAPH_NONE, c->knobs.graph_scope = 0;
    assert_true(watched(c, P_seq_length).graphs > 0);
    assert_int_equal(watched(c, P_cuda_graph_impl).graphs, 0);
}

/* ---- one decision taken back ---- */

static bool outlook(struct arena *a, const struct config *c, int param)
{
    struct facts *f = plan_facts(a, "megatron", "");
    outlook_of(f, c);
    assert_int_equal(facts_get(f, param)->value.kind, VALUE_BOOL);
    return facts_bool(f, param, false);
}

/* Ranks of expert tensor parallelism can have whole experts where their number divides. */
static void experts_in_place_of_their_parts(void **state)
{
    struct config *c = config_of(sized_plan(
        *state, "megatron", "model: qwen3-30b-a3b\nplatform: gb200\ngpus: 256\ngbs: 256\nmbs: 1",
        "tp: 4\netp: 4\nep: 32\nsequence_parallel: true\nuse_distributed_optimizer: true\n"));
    assert_true(outlook(*state, c, P_fits_with_ep_only));
    c->knobs.ep = 64; /* 256 ranks for 128 experts */
    assert_false(outlook(*state, c, P_fits_with_ep_only));
    c->knobs.etp = 1;
    assert_false(outlook(*state, c, P_fits_with_ep_only));
}

/* A GPU that is just large enough for what is on it while the states are on the CPU. */
static void offloaded_states_come_back(void **state)
{
    struct config *c =
        plan_config(*state, "megatron",
                    "ep: 8\nrecompute_granularity: selective\n"
                    "recompute_modules: [core_attn]\nuse_distributed_optimizer: true\n");
    struct memory_estimate with, without;
    assert_true(memory_estimate(c, &without, NULL));
    c->knobs.offload_optimizer_states = true;
    assert_true(memory_estimate(c, &with, NULL) && with.peak_high < without.peak_high);
    c->machine.capacity_bytes = with.peak_high;
    assert_false(outlook(*state, c, P_fits_without_offload));
    c->machine.capacity_bytes = without.peak_high;
    assert_true(outlook(*state, c, P_fits_without_offload));
    c->knobs.offload_optimizer_states = false; /* nothing to take back */
    assert_false(outlook(*state, c, P_fits_without_offload));
}

/* Only who keeps gathered parameters by decision can take that back. */
static void resharding_takes_a_decision_back(void **state)
{
    struct config *c = plan_config(*state, "automodel", "ep: 8\nstrategy: fsdp2\n");
    c->machine.capacity_bytes *= 10;
    c->knobs.reshard_after_forward = c->knobs.reshard_stated = false;
    assert_false(outlook(*state, c, P_fits_with_resharding));
    c->knobs.reshard_stated = true;
    assert_true(outlook(*state, c, P_fits_with_resharding));
    c->knobs.reshard_after_forward = true;
    assert_false(outlook(*state, c, P_fits_with_resharding));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(virtual_stages),
    cmocka_unit_test(context_parallelism_of_long_sequences),
    cmocka_unit_test(context_parallelism_where_memory_is_full),
    cmocka_unit_test(context_parallelism_beside_adapters),
    cmocka_unit_test(a_batch_that_does_not_divide),
    cmocka_unit_test(dispatchers),
    cmocka_unit_test(degrees),
    cmocka_unit_test(tensor_parallelism_of_sharded_models),
    cmocka_unit_test(what_may_be_recomputed),
    cmocka_unit_test(interleaving_wants_groups_of_microbatches),
    cmocka_unit_test(pinned_graphs_stay_off),
    cmocka_unit_test(experts_in_place_of_their_parts),
    cmocka_unit_test(offloaded_states_come_back),
    cmocka_unit_test(resharding_takes_a_decision_back),
};
UNIT_MAIN(tests)
