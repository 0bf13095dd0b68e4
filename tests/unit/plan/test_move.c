/* SPDX-License-Identifier: Apache-2.0 */
/* The table of moves: what each changes, needs and is called, and who takes it. */
#include "facts/param_ids.h"
#include "unit/unit.h"

#include "plan/knob.h"
#include "plan/move.h"

/* A model with everything that moves need, on 64 GPUs in nodes of eight. */
static struct config config_with(enum framework framework)
{
    struct config c = {.framework = framework, .machine_known = true};
    c.machine = (struct machine){.gpus_per_node = 8, .nvlink_domain = 8};
    c.model = (struct model_shape){
        .num_layers = 48,
        .hidden = 2048,
        .heads = 32,
        .groups = 4,
        .mla = true,
        .dense_ffn = 8192,
        .experts = 128,
        .topk = 8,
        .expert_ffn = 768,
        .shared_ffn = 768,
        .n_kinds = 2,
        .kinds = {{MIXER_MLA, FFN_DENSE}, {MIXER_MLA, FFN_MOE}},
    };
    c.knobs = (struct knobs){.gpus = 64,
                             .tp = 4,
                             .pp = 4,
                             .vpp = 2,
                             .cp = 4,
                             .ep = 4,
                             .etp = 4,
                             .mbs = 4,
                             .gbs = 256,
                             .seq = 16384,
                             .sequence_parallel = true,
                             .recompute = RECOMPUTE_SELECTIVE,
                             .recompute_modules = MOD_EXPERT_FC1,
                             .dispatcher = DISPATCH_ALLGATHER,
                             .shared_expert_overlap = true,
                             .grad_bytes = 4,
                             .main_param_bytes = 4,
                             .exp_avg_bytes = 4,
                             .exp_avg_sq_bytes = 4,
                             .optimizer_instances = 1,
                             .dp_replicate = 1};
    return c;
}

/* Variants of a configuration, so that each move changes something in one of them. */
static size_t variants(struct config out[4])
{
    out[0] = config_with(FRAMEWORK_MEGATRON);
    out[1] = out[0];
    out[1].knobs.recompute = RECOMPUTE_FULL;
    out[1].knobs.distributed_optimizer = true;
    out[1].knobs.optimizer_offload = 0.25;
    out[1].knobs.graph_impl = GRAPH_TE;
    out[1].knobs.cp_comm = CP_HEADS;
    out[2] = config_with(FRAMEWORK_AUTOMODEL);
    out[2].knobs.fsdp = FSDP_FSDP2;
    out[2].knobs.reshard_stated = true;
    out[3] = config_with(FRAMEWORK_BRIDGE);
    out[3].model.experts = out[3].model.shared_ffn = 0;
    out[3].knobs.distributed_optimizer = true;
    out[3].knobs.precision = PREC_MXFP8;
    return 4;
}

/* On it what fills buffers of a fixed size. */
static struct config on_hybridep(void)
{
    struct config c = config_with(FRAMEWORK_MEGATRON);
    c.knobs.dispatcher = DISPATCH_HYBRIDEP;
    c.knobs.distributed_optimizer = true;
    return c;
}

/* 64 data-parallel ranks, of which 16 hold the same experts. */
static struct config of_one_microbatch(void)
{
    struct config c = config_with(FRAMEWORK_MEGATRON);
    c.knobs.tp = c.knobs.pp = c.knobs.vpp = c.knobs.cp = c.knobs.etp = c.knobs.mbs = 1;
    c.knobs.gbs = 64;
    c.knobs.distributed_optimizer = true;
    return c;
}

static struct config of_frozen_weights(void)
{
    struct config c = of_one_microbatch();
    c.framework = FRAMEWORK_AUTOMODEL;
    c.knobs.fsdp = FSDP_FSDP2;
    c.knobs.task = TASK_PEFT;
    c.knobs.ep = 1;
    return c;
}

#define EACH_MOVE(d, m)                                                                            \
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)                     \
        for (const struct move *m = d->moves; m->name; m++)

static bool listed(const int *params, int param)
{
    for (; params && *params != P_NONE; params++)
        if (*params == param) return true;
    return false;
}

static void a_move_changes_the_knobs_that_its_decision_names_and_no_other(void **state)
{
    struct config from[7];
    size_t n = variants(from);
    from[n++] = on_hybridep();
    from[n++] = of_one_microbatch();
    from[n++] = of_frozen_weights();
    EACH_MOVE(d, move)
    {
        int taken = 0;
        for (size_t i = 0; i < n; i++) {
            struct config c = from[i];
            if (!move_take(d, move, &c)) continue;
            taken++;
            for (size_t k = 0; k < knob_count; k++) {
                const struct knob *knob = &knob_table[k];
                struct value old = knob_get(*state, &from[i].knobs, knob),
                             new = knob_get(*state, &c.knobs, knob);
                if (!value_eq(old, new) && !listed(d->params, knob->param) &&
                    !listed(d->also, knob->param))
                    fail_msg("%s changes %.*s", move->name, STR_ARG(param_name(knob->param)));
            }
        }
        if (!taken) fail_msg("nothing takes %s", move->name);
    }
}

/* A sharded optimizer and parameters that FP8 can hold. */
static struct config gathering(enum framework framework)
{
    struct config c = config_with(framework);
    c.knobs.distributed_optimizer = true;
    c.knobs.precision = PREC_FP8_TENSORWISE;
    return c;
}

static void a_move_is_not_taken_where_something_it_needs_is_missing(void **state)
{
    (void)state;
    struct config without[12];
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        without[i] = gathering(FRAMEWORK_MEGATRON);
    without[0] = gathering(FRAMEWORK_AUTOMODEL);
    without[1].model.experts = 0;
    without[2].model.n_kinds = 1, without[2].model.kinds[0].ffn = FFN_MOE;
    without[3].model.shared_ffn = 0;
    without[4].model.mla = false;
    without[5].knobs.fsdp = FSDP_OPTIM_GRADS_PARAMS;
    without[6].knobs.ep = without[6].knobs.etp = 1;
    without[7].knobs.graph_impl = GRAPH_LOCAL;
    without[8].knobs.precision = PREC_FP8_BLOCKWISE;
    without[9].knobs.distributed_optimizer = false;
    without[10].knobs.sequence_parallel = false;
    without[11].knobs.cp = 1;
    static const unsigned lost[] = {NEED_CORE | NEED_CP,
                                    NEED_EXPERTS | NEED_EXPERT_GROUP,
                                    NEED_DENSE,
                                    NEED_SHARED,
                                    NEED_MLA | NEED_CP_HEADS | NEED_CP_LEVELS,
                                    NEED_UNSHARDED,
                                    NEED_EP | NEED_EXPERT_GROUP,
                                    NEED_TE_GRAPHS,
                                    NEED_FP8,
                                    NEED_SHARDED_OPTIMIZER,
                                    NEED_SEQUENCE_PARALLEL,
                                    NEED_CP};
    struct config whole = gathering(FRAMEWORK_MEGATRON);
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        assert_int_equal(move_given(&whole) & ~move_given(&without[i]), lost[i]);
        EACH_MOVE(d, move)
        {
            struct config c = without[i];
            if (move->needs & lost[i]) assert_false(move_take(d, move, &c));
        }
    }
    whole.machine.nvlink_domain = 72;
    assert_false(move_given(&whole) & NEED_NODE_NVLINK);
    assert_true(move_given(&whole) & NEED_NVLINK);
    whole.machine.nvlink_domain = 1;
    assert_false(move_given(&whole) & NEED_NVLINK);
}

/* Which ways ranks have to exchange keys follows from attention, and from how its heads divide over
   them: 32 of latent attention, or 4 groups of others. */
static void keys_are_exchanged_as_attention_lets_it_be(void **state)
{
    static const struct {
        int tp, cp, domain, window, index;
        bool mla, sinks;
        unsigned want;
    } cases[] = {
        {4, 4, 8, 0, 0, true, false, NEED_CP},
        {4, 4, 8, 0, 0, false, false, NEED_CP_RING | NEED_CP_GATHER},
        {1, 8, 8, 0, 0, false, false, NEED_CP_RING | NEED_CP_GATHER | NEED_CP_LEVELS},
        {1, 4, 8, 0, 0, false, false, NEED_CP},
        {8, 4, 8, 0, 0, true, false, NEED_CP_RING | NEED_CP_HEADS | NEED_CP_GATHER},
        {4, 4, 8, 128, 0, true, false, NEED_CP_HEADS | NEED_CP_GATHER},
        {4, 4, 8, 0, 0, true, true, NEED_CP_HEADS},
        {4, 4, 8, 0, 64, true, false, 0},
        {4, 1, 8, 0, 0, true, false, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config c = config_with(FRAMEWORK_MEGATRON);
        c.knobs.tp = cases[i].tp, c.knobs.cp = cases[i].cp;
        c.machine.nvlink_domain = cases[i].domain;
        c.model.window = cases[i].window, c.model.index_heads = cases[i].index;
        c.model.mla = cases[i].mla, c.model.sinks = cases[i].sinks;
        c.model.win_heads = c.model.win_groups = 32;
        assert_int_equal(move_given(&c) & NEED_CP, cases[i].want);
    }
}

/* Takes the move of this name; false when it cannot be taken. */
static bool try_named(struct config *c, const char *name)
{
    EACH_MOVE(d, move)
    {
        if (strcmp(move->name, name) == 0) return move_take(d, move, c);
    }
    fail_msg("there is no move %s", name);
    return false;
}

static void take(struct config *c, const char *name)
{
    if (!try_named(c, name)) fail_msg("%s is not taken", name);
}

/* The fused exchanges fail where a rank has all experts; all-to-all does not. */
static void experts_of_one_rank_leave_the_fused_exchanges(void **state)
{
    (void)state;
    struct config c = on_hybridep();
    c.knobs.ep = c.knobs.etp = 1;
    assert_false(try_named(&c, "HybridEP"));
    take(&c, "all-to-all");
    assert_int_equal(c.knobs.dispatcher, DISPATCH_ALLTOALL);
}

static void two_moves_undo_each_other(void **state)
{
    static const char *const pairs[][2] = {
        {"TP over 2", "TP times 2"},        {"PP over 2", "PP times 2"},
        {"EP over 2", "EP times 2"},        {"CP over 2", "CP times 2"},
        {"VPP over 2", "VPP times 2"},      {"MBS over 2", "MBS times 2"},
        {"norms too", "recompute nothing"}, {"graphs of the router", "no graphs"}};
    struct config from = config_with(FRAMEWORK_MEGATRON);
    from.knobs.recompute = RECOMPUTE_NONE;
    from.knobs.recompute_modules = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct config c = from;
        take(&c, pairs[i][0]);
        take(&c, pairs[i][1]);
        for (size_t k = 0; k < knob_count; k++)
            assert_true(value_eq(knob_get(*state, &from.knobs, &knob_table[k]),
                                 knob_get(*state, &c.knobs, &knob_table[k])));
    }
}

static void a_size_does_not_leave_its_range(void **state)
{
    (void)state;
    struct config c = config_with(FRAMEWORK_MEGATRON);
    c.knobs.cp = 1;
    assert_false(try_named(&c, "CP over 2"));
    c.knobs.cp = 1 << 20;
    assert_false(try_named(&c, "CP times 2"));
}

static void trials_of_a_micro_batch_are_powers_of_two(void **state)
{
    (void)state;
    static const char *const names[] = {"MBS two powers down", "MBS a power down", "MBS a power up",
                                        "MBS two powers up"};
    static const int from[][5] = {{8, 2, 4, 16, 32}, {3, 1, 2, 4, 8}, {6, 2, 4, 8, 16}};
    struct config c = config_with(FRAMEWORK_MEGATRON);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        for (size_t n = 0; n < 4; n++) {
            c.knobs.mbs = from[i][0];
            take(&c, names[n]);
            assert_int_equal(c.knobs.mbs, from[i][n + 1]);
        }
    c.knobs.mbs = 1;
    assert_false(try_named(&c, names[1]));
}

static void what_follows_is_set_too(void **state)
{
    (void)state;
    struct config c = config_with(FRAMEWORK_MEGATRON);
    c.knobs.tp = c.knobs.pp = 2;
    take(&c, "TP over 2");
    take(&c, "PP over 2");
    assert_false(c.knobs.sequence_parallel);
    assert_int_equal(c.knobs.vpp, 1);
    assert_int_equal(c.knobs.etp, 4);
    take(&c, "EP in place of ETP");
    assert_int_equal(c.knobs.etp, 1);
    assert_int_equal(c.knobs.ep, 16);
    take(&c, "hide the expert exchange");
    assert_false(c.knobs.shared_expert_overlap);
    assert_false(try_named(&c, "hide the expert exchange behind shared experts"));
}

/* Where the exchange of a step hides behind other microbatches, groups inside the domain are
 * enough. */
static void shards_stand_in_groups(void **state)
{
    (void)state;
    struct config c = of_one_microbatch();
    take(&c, "shards inside the NVLink domain");
    assert_int_equal(c.knobs.optimizer_instances, 8);
    take(&c, "fewer groups of shards");
    assert_int_equal(c.knobs.optimizer_instances, 4);
    c.knobs.gbs = 128; /* two microbatches, which hide half of it */
    take(&c, "fewer groups of shards");
    c.knobs.gbs = 192;
    assert_false(try_named(&c, "fewer groups of shards"));
    c.knobs.gbs = 64;
    c.machine.nvlink_domain = 32; /* two are inside already */
    assert_false(try_named(&c, "fewer groups of shards"));
}

/* Two ranks at least, of each kind of parameters, and where weights are frozen alone. */
static void frozen_parameters_stand_on_two_ranks(void **state)
{
    (void)state;
    struct config c = of_frozen_weights();
    take(&c, "shards of two ranks");
    assert_int_equal(c.knobs.dp_replicate, 32);
    c.knobs.cp = 2; /* a rank's part of the sequence is none of the replica's */
    take(&c, "shards of two ranks");
    assert_int_equal(c.knobs.dp_replicate, 16);
    c.knobs.ep = 8; /* eight ranks of the same experts */
    assert_false(try_named(&c, "shards of two ranks"));
    c.knobs.ep = 1, c.knobs.cp = 32; /* of two replicas none can be left out */
    assert_false(try_named(&c, "shards of two ranks"));
    c.knobs.cp = 1, c.knobs.task = TASK_SFT;
    assert_false(try_named(&c, "shards of two ranks"));
}

/* Muon has one moment, which stays as it is, and its states stay where they are; a loss that is
   fused with the head keeps less than Transformer Engine's. */
static void what_is_better_already_is_left_alone(void **state)
{
    (void)state;
    static const char *const optimizer[] = {"optimizer states of two bytes",
                                            "offload the optimizer"};
    struct config c = config_with(FRAMEWORK_MEGATRON), next;
    c.knobs.distributed_optimizer = true;
    for (size_t i = 0; i < 2; i++) {
        next = c;
        take(&next, optimizer[i]);
        next = c, next.knobs.muon = true;
        assert_false(try_named(&next, optimizer[i]));
    }
    for (int fusion = CE_NONE; fusion <= CE_LINEAR; fusion++) {
        next = c, next.knobs.ce_fusion = (uint8_t)fusion;
        bool less = fusion == CE_NONE || fusion == CE_NATIVE;
        assert_int_equal(try_named(&next, "fuse the loss"), less);
    }
}

/* In place of whole layers the modules of the model that free many bytes for little work. */
static void modules_in_place_of_layers(void **state)
{
    (void)state;
    struct config c = config_with(FRAMEWORK_MEGATRON), small = c;
    uint32_t all = MOD_LAYERNORM | MOD_CORE_ATTN;
    assert_false(try_named(&c, "recompute modules, not layers"));
    c.knobs.recompute = small.knobs.recompute = RECOMPUTE_FULL;
    take(&c, "recompute modules, not layers");
    assert_int_equal(c.knobs.recompute, RECOMPUTE_SELECTIVE);
    assert_int_equal(c.knobs.recompute_modules,
                     all | MOD_MLP | MOD_MOE_ACT | MOD_SHARED_EXPERTS | MOD_MLA_UP_PROJ);
    small.model.mla = false, small.model.shared_ffn = 0;
    small.model.n_kinds = 1, small.model.kinds[0] = (struct layer_kind){MIXER_ATTENTION, FFN_MOE};
    take(&small, "recompute modules, not layers");
    assert_int_equal(small.knobs.recompute_modules, all | MOD_MOE_ACT);
}

static void names_are_unique_and_each_move_has_a_taker(void **state)
{
    (void)state;
    EACH_MOVE(d, move)
    {
        assert_int_not_equal(move->uses, 0);
        if (move->uses & MOVE_NEIGHBOUR) assert_true(d->symbol && d->size);
        assert_true(d->word && d->doubt > 0);
        EACH_MOVE(e, other)
        {
            if (move == other) continue;
            assert_string_not_equal(move->name, other->name);
            if (move->uses & other->uses & MOVE_OUTLOOK)
                assert_int_not_equal(move->outlook, other->outlook);
        }
    }
}

/* The names of the moves that one consumer takes from the configuration, in order. */
static const char *list_of(struct arena *a, unsigned use, const struct config *from)
{
    struct str all = STR("");
    EACH_MOVE(d, move)
    {
        struct config c = *from;
        if (!(move->uses & use) || !move_take(d, move, &c)) continue;
        all = arena_printf(a, "%.*s%s%s", STR_ARG(all), all.n ? ", " : "", move->name);
    }
    return all.p;
}

/* The same of the search, without its many sets of modules. */
static const char *switches_of(struct arena *a, const struct config *from)
{
    struct str all = STR("");
    EACH_MOVE(d, move)
    {
        struct config c = *from;
        if (d == &decisions[DECISION_RECOMPUTE] || !(move->uses & MOVE_SEARCH)) continue;
        if (!move_take(d, move, &c)) continue;
        all = arena_printf(a, "%.*s%s%s", STR_ARG(all), all.n ? ", " : "", move->name);
    }
    return all.p;
}

static void each_consumer_has_its_moves_in_order(void **state)
{
    struct config moe = config_with(FRAMEWORK_MEGATRON), dense = moe;
    dense.model.experts = dense.model.shared_ffn = 0, dense.model.mla = false;
    dense.knobs.ep = dense.knobs.etp = 1;
    struct config automodel = config_with(FRAMEWORK_AUTOMODEL);
    assert_string_equal(list_of(*state, MOVE_NEIGHBOUR, &moe),
                        "TP over 2, TP times 2, PP over 2, PP times 2, EP over 2, EP times 2, "
                        "CP over 2, CP times 2, VPP over 2, VPP times 2, MBS over 2, MBS times 2");
    struct config hybridep = on_hybridep();
    hybridep.knobs.precision = PREC_MXFP8;
    assert_string_equal(
        switches_of(*state, &moe),
        "all-to-all, DeepEP, HybridEP, an exchange of heads, a gather of keys and "
        "values, heads inside NVLink and a ring beyond, graphs of the router, "
        "graphs of attention too, hide the expert exchange, hide the expert exchange behind shared "
        "experts, hide TP's exchange, gradients in bf16, offload half of the "
        "optimizer, offload the optimizer, offload what attention keeps, offload "
        "what experts keep, offload what both keep");
    assert_string_equal(
        switches_of(*state, &hybridep),
        "all-to-all, DeepEP, HybridEP, an exchange of heads, a gather of keys and "
        "values, heads inside NVLink and a ring beyond, graphs of the router, "
        "graphs of attention too, a graph of the iteration, experts' buffers of a fixed size, hide "
        "the expert exchange, hide the expert exchange behind shared experts, "
        "hide TP's exchange, gradients in bf16, parameters gathered in bf16, "
        "parameters gathered in FP8, main parameters as remainders, moments in "
        "bf16, moments in FP8, offload half of the optimizer, offload the "
        "optimizer, offload what attention keeps, offload what experts keep, "
        "offload what both keep");
    assert_string_equal(switches_of(*state, &dense),
                        "a gather of keys and values, a graph of the iteration, hide TP's "
                        "exchange, gradients in bf16, offload "
                        "half of the optimizer, offload the optimizer, offload what attention "
                        "keeps");
    assert_string_equal(switches_of(*state, &automodel),
                        "PyTorch's exchange, DeepEP, "
                        "HybridEP, offload half of the optimizer, offload the optimizer");
    moe.machine.nvlink_domain = 72;
    assert_string_equal(list_of(*state, MOVE_TRIAL, &moe),
                        "MBS two powers down, MBS a power down, MBS a power up, MBS two powers up, "
                        "no graphs, show the expert exchange, no exchange behind shared experts, "
                        "show TP's exchange, gradients in fp32, offload no activations");
}

static void relief_and_outlook_have_theirs(void **state)
{
    struct config from[4];
    variants(from);
    from[2].knobs.recompute = RECOMPUTE_FULL;
    assert_string_equal(list_of(*state, MOVE_RELIEF, &from[0]),
                        "TP times 2, TP times 4, PP times 2, PP times 4, EP times 2, EP times 4, "
                        "CP times 2, CP times 4, one chunk a stage, MBS over 4, MBS over 2, norms "
                        "too, experts' activations too, experts' activations and norms too, MLA's "
                        "projections too, shared experts too, dense FFNs too, all of these but "
                        "shared experts, attention's core too, experts too, recompute whole "
                        "layers, fuse the loss, shard the optimizer, offload half of the "
                        "optimizer, offload the optimizer");
    assert_string_equal(list_of(*state, MOVE_RELIEF, &from[2]),
                        "TP times 2, TP times 4, PP times 2, PP times 4, EP times 2, EP times 4, "
                        "CP times 2, CP times 4, one chunk a stage, MBS over 4, MBS over 2");
    assert_string_equal(list_of(*state, MOVE_OUTLOOK, &from[1]),
                        "TP over 2, ETP with it, EP in place of ETP, recompute nothing, recompute "
                        "modules, not layers, offload nothing");
    assert_string_equal(list_of(*state, MOVE_OUTLOOK, &from[2]),
                        "TP over 2, ETP with it, EP in place of ETP, recompute nothing, gather "
                        "parameters anew");
    from[2].knobs.recompute = RECOMPUTE_SELECTIVE;
    const char *without = list_of(*state, MOVE_RELIEF, &from[2]);
    assert_null(strstr(without, "norms too"));
    assert_non_null(strstr(without, "recompute whole layers"));
}

/* The named ways to recompute are a ladder through the sets of the search. */
static void the_ladder_of_recomputation_rises(void **state)
{
    (void)state;
    const struct decision *d = &decisions[DECISION_RECOMPUTE];
    struct config c = config_with(FRAMEWORK_MEGATRON);
    uint32_t light = MOD_MOE_ACT | MOD_LAYERNORM, mla = light | MOD_MLA_UP_PROJ;
    const uint32_t steps[] = {
        0, light, mla, mla | MOD_MLP, MOD_LAYERNORM | MOD_MLA_UP_PROJ | MOD_MLP | MOD_MOE, 0};
    static const char rungs[] = "recompute nothing, recompute the cheapest, the cheapest and MLA's "
                                "projections, and dense FFNs, and experts, recompute whole layers";
    size_t n = 0;
    for (const struct move *move = d->moves; move->name; move++) {
        struct config next = c;
        if (!strstr(rungs, move->name) || !move_take(d, move, &next)) continue;
        assert_true(n < sizeof steps / sizeof *steps && move->uses & MOVE_SEARCH);
        assert_int_equal(next.knobs.recompute_modules, steps[n]);
        assert_int_equal(next.knobs.recompute, n == 0   ? RECOMPUTE_NONE
                                               : n == 5 ? RECOMPUTE_FULL
                                                        : RECOMPUTE_SELECTIVE);
        assert_int_equal(next.knobs.recompute_num_layers, n == 5);
        n++;
    }
    assert_int_equal(n, sizeof steps / sizeof *steps);
}

/* Of a model with everything the subsets of norms, MLA's projections and dense FFNs, beside
   nothing, experts' activations, shared experts, both, or whole MoE layers; of a plain one those it
   has. */
static void every_set_of_modules_that_the_model_has(void **state)
{
    (void)state;
    const struct decision *d = &decisions[DECISION_RECOMPUTE];
    struct config from[2] = {config_with(FRAMEWORK_MEGATRON), config_with(FRAMEWORK_MEGATRON)};
    from[1].model.mla = false, from[1].model.shared_ffn = 0;
    from[1].model.n_kinds = 1,
    from[1].model.kinds[0] = (struct layer_kind){MIXER_ATTENTION, FFN_MOE};
    static const size_t sets[] = {8 * 5 - 1, 2 * 3 - 1};
    for (int i = 0; i < 2; i++) {
        bool seen[64 * 2] = {false};
        size_t n = 0;
        for (const struct move *move = d->moves; move->name; move++) {
            struct config next = from[i];
            bool generated = strncmp(move->name, "recompute ", 10) == 0 &&
                             move->uses == MOVE_SEARCH &&
                             strcmp(move->name, "recompute the cheapest") != 0;
            if (!generated || !move_take(d, move, &next)) continue;
            uint32_t modules = next.knobs.recompute_modules;
            assert_int_equal(next.knobs.recompute, RECOMPUTE_SELECTIVE);
            assert_false(modules == 0 || seen[modules]);
            if (modules & MOD_MOE) assert_false(modules & (MOD_MOE_ACT | MOD_SHARED_EXPERTS));
            seen[modules] = true;
            n++;
        }
        assert_int_equal(n, sets[i]);
    }
}

/* What a plan's numbers differ in from the framework's own, and what may overflow. */
static void risks_are_those_of_the_states_that_a_plan_has(void **state)
{
    struct config base = on_hybridep(), plan = base;
    plan.knobs.precision = base.knobs.precision = PREC_MXFP8;
    assert_int_equal(move_risks_of(&base, &plan), 0);
    take(&plan, "gradients in bf16");
    assert_int_equal(move_risks_of(&base, &plan), RISK_GRADIENTS);
    take(&plan, "parameters gathered in FP8");
    assert_int_equal(move_risks_of(&base, &plan), RISK_GRADIENTS | RISK_PARAMETERS);
    base.knobs.fp8_param_gather = true; /* the framework's own */
    assert_int_equal(move_risks_of(&base, &plan), RISK_GRADIENTS);
    take(&plan, "moments in FP8");
    assert_int_equal(move_risks_of(&base, &plan), RISK_GRADIENTS | RISK_FP8_MOMENTS);
    assert_str(move_numerics(*state, &base, &plan), "gradients in bf16, moments in FP8");
    take(&plan, "moments in bf16");
    assert_int_equal(move_risks_of(&base, &plan), RISK_GRADIENTS | RISK_MOMENTS);
    take(&plan, "graphs of the router");
    assert_int_equal(move_risks_of(&base, &plan), RISK_GRADIENTS | RISK_MOMENTS);
    take(&plan, "a graph of the iteration, experts' buffers of a fixed size");
    assert_int_equal(move_risks_of(&base, &plan),
                     RISK_GRADIENTS | RISK_MOMENTS | RISK_DYNAMIC_GRAPHS);
    plan.knobs.capacity_factor = 1, plan.knobs.pad_to_capacity = true;
    assert_int_equal(move_risks_of(&base, &plan) & RISK_NUMERICS, RISK_GRADIENTS | RISK_MOMENTS);
}

/* What changes no numbers is always allowed. */
static void numbers_change_where_the_question_leaves_them_open(void **state)
{
    (void)state;
    struct config c = on_hybridep();
    unsigned seen = 0;
    for (unsigned open = 0; open <= RISK_NUMERICS; open++) {
        c.knobs.open_numerics = open;
        EACH_MOVE(d, move)
        {
            unsigned numerics = move->risks & RISK_NUMERICS;
            assert_int_equal(move_allowed(&c, move), (numerics & open) == numerics);
            seen |= numerics;
        }
    }
    assert_int_equal(seen, RISK_NUMERICS);
}

/* States of an optimizer that takes them in any format: the main parameter is what a bf16 parameter
   lacks, and whole beside parameters in FP8, whichever is decided first. */
static void what_the_optimizer_keeps_goes_with_the_parameters(void **state)
{
    (void)state;
    static const char *const orders[][2] = {{"moments in bf16", "parameters gathered in FP8"},
                                            {"parameters gathered in FP8", "moments in bf16"}};
    struct config base = gathering(FRAMEWORK_MEGATRON), plan = base;
    take(&plan, "moments in bf16");
    assert_true(plan.knobs.precision_aware && knobs_keeps_remainder(&plan.knobs));
    assert_int_equal(plan.knobs.exp_avg_sq_bytes, 2);
    assert_int_equal(plan.knobs.grad_bytes, 4);
    for (int i = 0; i < 2; i++) {
        plan = base;
        take(&plan, orders[i][0]);
        take(&plan, orders[i][1]);
        assert_false(knobs_keeps_remainder(&plan.knobs));
    }
    base = plan, base.framework = FRAMEWORK_BRIDGE;
    assert_false(try_named(&base, "moments in FP8")); /* no override can say it */
    base = plan;
    assert_false(try_named(&plan, "offload the optimizer")); /* delayed scaling alone */
    plan = base, plan.knobs.precision = PREC_FP8_DELAYED;
    assert_true(try_named(&plan, "offload the optimizer"));
    assert_true(plan.knobs.precision_aware);
    plan.knobs.fp8_param_gather = false;
    assert_true(try_named(&plan, "parameters gathered in FP8"));
    plan.knobs.fp8_param_gather = false, plan.knobs.precision = PREC_FP8_TENSORWISE;
    assert_false(try_named(&plan, "parameters gathered in FP8"));
    plan.knobs.precision = PREC_FP16;
    assert_false(try_named(&plan, "gradients in bf16"));
}

/* Experts of an iteration in one graph need buffers of a fixed size, which one dispatcher fills. */
static void a_graph_of_the_iteration_needs_fixed_shapes(void **state)
{
    (void)state;
    static const char *const whole = "a graph of the iteration, experts' buffers of a fixed size";
    struct config c = on_hybridep();
    take(&c, whole);
    assert_int_equal(c.knobs.graph_impl, GRAPH_FULL_ITERATION);
    assert_true(knobs_rank_capacity(&c.knobs) == 1.5 && knobs_kept_capacity(&c.knobs) == 1.2);
    c = on_hybridep(), c.knobs.dispatcher = DISPATCH_ALLTOALL;
    assert_false(try_named(&c, whole));
    c.knobs.graph_impl = GRAPH_NONE;
    c.knobs.capacity_factor = 1, c.knobs.pad_to_capacity = true;
    take(&c, whole);
    assert_true(knobs_rank_capacity(&c.knobs) == 0 && knobs_kept_capacity(&c.knobs) == 0);
    c.knobs.graph_impl = GRAPH_NONE;
    assert_false(try_named(&c, "a graph of the iteration"));
    c.knobs.graph_impl = GRAPH_NONE;
    c.model.experts = 0;
    take(&c, "a graph of the iteration");
}

static void a_decision_is_told_in_words(void **state)
{
    struct config c = config_with(FRAMEWORK_MEGATRON);
    assert_str(decision_text(*state, &decisions[DECISION_MBS], &c.knobs), "4");
    assert_str(decision_text(*state, &decisions[DECISION_DISPATCHER], &c.knobs), "allgather");
    assert_str(decision_text(*state, &decisions[DECISION_GRAPHS], &c.knobs), "none");
    assert_str(decision_text(*state, &decisions[DECISION_RECOMPUTE], &c.knobs), "[expert_fc1]");
    take(&c, "recompute whole layers");
    take(&c, "graphs of attention too");
    assert_str(decision_text(*state, &decisions[DECISION_RECOMPUTE], &c.knobs), "full");
    assert_str(decision_text(*state, &decisions[DECISION_GRAPHS], &c.knobs),
               "[attn, moe_router, moe_preprocess]");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_move_changes_the_knobs_that_its_decision_names_and_no_other),
    cmocka_unit_test(a_move_is_not_taken_where_something_it_needs_is_missing),
    cmocka_unit_test(keys_are_exchanged_as_attention_lets_it_be),
    cmocka_unit_test(experts_of_one_rank_leave_the_fused_exchanges),
    cmocka_unit_test(two_moves_undo_each_other),
    cmocka_unit_test(a_size_does_not_leave_its_range),
    cmocka_unit_test(trials_of_a_micro_batch_are_powers_of_two),
    cmocka_unit_test(what_follows_is_set_too),
    cmocka_unit_test(shards_stand_in_groups),
    cmocka_unit_test(frozen_parameters_stand_on_two_ranks),
    cmocka_unit_test(what_is_better_already_is_left_alone),
    cmocka_unit_test(modules_in_place_of_layers),
    cmocka_unit_test(names_are_unique_and_each_move_has_a_taker),
    cmocka_unit_test(each_consumer_has_its_moves_in_order),
    cmocka_unit_test(relief_and_outlook_have_theirs),
    cmocka_unit_test(the_ladder_of_recomputation_rises),
    cmocka_unit_test(every_set_of_modules_that_the_model_has),
    cmocka_unit_test(risks_are_those_of_the_states_that_a_plan_has),
    cmocka_unit_test(numbers_change_where_the_question_leaves_them_open),
    cmocka_unit_test(what_the_optimizer_keeps_goes_with_the_parameters),
    cmocka_unit_test(a_graph_of_the_iteration_needs_fixed_shapes),
    cmocka_unit_test(a_decision_is_told_in_words),
};
UNIT_MAIN(tests)
