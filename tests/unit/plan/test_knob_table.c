/* SPDX-License-Identifier: Apache-2.0 */
/* The table of knobs: every field has a row, and what facts of a framework say of a knob comes back
 * in the same words. */
#include "facts/model.h"
#include "facts/param_ids.h"
#include "plan/framework.h"
#include "plan/knob.h"
#include "unit/unit.h"

static struct facts *fresh(struct arena *a, enum framework framework)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    diags_init(diags, a);
    return facts_new_plan(a, diags, framework, STR("main@2026-08-22"));
}

static void set(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_FILE, NULL, param_name(param));
}

/* A model with experts, of which everything else is open. */
static struct facts *question(struct arena *a, enum framework framework)
{
    struct facts *f = fresh(a, framework);
    model_apply(f, model_find(a, STR("qwen3-30b-a3b")), ORIGIN_FILE);
    set(f, P_world_size, value_int(64));
    set(f, P_seq_length, value_int(4096));
    facts_derive(f);
    return f;
}

/* ---- the fields ---- */

/* In order: a field without a value here does not compile, a row without a field stays. */
/* clang-format off */
static const struct knobs every_field = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1,
};
/* clang-format on */

static void every_field_has_a_row(void **state)
{
    (void)state;
    struct knobs k;
    memcpy(&k, &every_field, sizeof k); /* with what lies between the fields */
    for (size_t i = 0; i < knob_field_count; i++)
        memset((char *)&k + knob_table[i].offset, 0, knob_size(&knob_table[i]));
    for (size_t i = 0; i < sizeof k; i++)
        if (((const char *)&k)[i]) fail_msg("the field at byte %zu has no row", i);
}

static void no_field_has_two_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < knob_field_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct knob *x = &knob_table[i], *y = &knob_table[j];
            assert_true(x->offset >= y->offset + knob_size(y) ||
                        y->offset >= x->offset + knob_size(x));
            assert_true(i >= knob_count || x->param != y->param);
        }
}

/* What a plan decides has a parameter that says it. */
static void decisions_are_found_by_their_parameter(void **state)
{
    (void)state;
    for (size_t i = 0; i < knob_count; i++)
        assert_ptr_equal(knob_of(knob_table[i].param), &knob_table[i]);
    assert_null(knob_of(P_cross_entropy_loss_fusion));
    assert_null(knob_of(P_NONE));
}

/* ---- words ---- */

struct said {
    enum framework framework;
    int knob;
    const char *word; /* of the knob */
    struct {
        int param;
        const char *word; /* true and false are switches */
    } facts[2];
};

static const struct said cases[] = {
    {FRAMEWORK_MEGATRON, P_dispatcher, "allgather", {{P_moe_token_dispatcher_type, "allgather"}}},
    {FRAMEWORK_MEGATRON, P_dispatcher, "alltoall", {{P_moe_token_dispatcher_type, "alltoall"}}},
    {FRAMEWORK_BRIDGE,
     P_dispatcher,
     "deepep",
     {{P_moe_token_dispatcher_type, "flex"}, {P_moe_flex_dispatcher_backend, "deepep"}}},
    {FRAMEWORK_MEGATRON,
     P_dispatcher,
     "hybridep",
     {{P_moe_token_dispatcher_type, "flex"}, {P_moe_flex_dispatcher_backend, "hybridep"}}},
    {FRAMEWORK_AUTOMODEL, P_dispatcher, "torch", {{P_backend_dispatcher, "torch"}}},
    {FRAMEWORK_AUTOMODEL, P_dispatcher, "deepep", {{P_backend_dispatcher, "deepep"}}},
    {FRAMEWORK_AUTOMODEL, P_dispatcher, "hybridep", {{P_backend_dispatcher, "hybridep"}}},
    {FRAMEWORK_AUTOMODEL, P_recompute_granularity, "full", {{P_activation_checkpointing, "true"}}},
    {FRAMEWORK_AUTOMODEL,
     P_recompute_granularity,
     "selective",
     {{P_activation_checkpointing, "selective"}}},
    {FRAMEWORK_AUTOMODEL, P_recompute_granularity, NULL, {{P_activation_checkpointing, "false"}}},
    {FRAMEWORK_MEGATRON, P_use_megatron_fsdp, "false", {{P_use_megatron_fsdp, "false"}}},
    {FRAMEWORK_BRIDGE,
     P_use_megatron_fsdp,
     "false", /* it shards less than the parameters */
     {{P_use_megatron_fsdp, "true"}, {P_data_parallel_sharding_strategy, "optim"}}},
    {FRAMEWORK_BRIDGE,
     P_use_megatron_fsdp,
     "false",
     {{P_use_megatron_fsdp, "true"}, {P_data_parallel_sharding_strategy, "optim_grads"}}},
    {FRAMEWORK_MEGATRON,
     P_use_megatron_fsdp,
     "true",
     {{P_use_megatron_fsdp, "true"}, {P_data_parallel_sharding_strategy, "optim_grads_params"}}},
    {FRAMEWORK_AUTOMODEL, P_use_megatron_fsdp, "true", {{P_strategy, "megatron_fsdp"}}},
    {FRAMEWORK_AUTOMODEL, P_use_megatron_fsdp, "false", {{P_strategy, "fsdp2"}}},
    {FRAMEWORK_AUTOMODEL, P_use_megatron_fsdp, "false", {{P_strategy, "ddp"}}},
    {FRAMEWORK_MEGATRON,
     P_cross_entropy_loss_fusion,
     "none",
     {{P_cross_entropy_loss_fusion, "false"}}},
    {FRAMEWORK_BRIDGE,
     P_cross_entropy_loss_fusion,
     "te",
     {{P_cross_entropy_loss_fusion, "true"}, {P_cross_entropy_fusion_impl, "te"}}},
    {FRAMEWORK_MEGATRON,
     P_cross_entropy_loss_fusion,
     "native",
     {{P_cross_entropy_loss_fusion, "true"}, {P_cross_entropy_fusion_impl, "native"}}},
    {FRAMEWORK_BRIDGE,
     P_cross_entropy_loss_fusion,
     "linear",
     {{P_cross_entropy_loss_fusion, "true"}, {P_cross_entropy_fusion_impl, "linear"}}},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static struct value value_of(const char *word)
{
    if (strcmp(word, "true") == 0) return value_bool(true);
    return strcmp(word, "false") == 0 ? value_bool(false) : value_string(str_of(word));
}

static const struct knob *row_of(int param)
{
    for (size_t i = 0; i < knob_field_count; i++)
        if (knob_table[i].param == param) return &knob_table[i];
    return NULL;
}

static void frameworks_words_are_read_and_said_again(void **state)
{
    for (int i = 0; i < N_CASES; i++) {
        const struct said *x = &cases[i];
        const struct knob *knob = row_of(x->knob);
        struct facts *f = fresh(*state, x->framework), *g = fresh(*state, x->framework);
        struct knobs k = {.recompute = RECOMPUTE_FULL, .dispatcher = DISPATCH_ALLGATHER};
        for (int w = 0; w < 2 && x->facts[w].word; w++)
            set(f, x->facts[w].param, value_of(x->facts[w].word));
        knob_read(f, knob, &k);
        struct value want = x->word ? value_of(x->word) : value_null();
        assert_true(value_eq(knob_get(*state, &k, knob), want));
        assert_true(knob_say_words(&(struct knob_saying){g, false}, &k, knob));
        for (int param = 0; param < (int)param_count; param++)
            assert_true(!fact_is_set(facts_get(f, param)) ||
                        value_eq(facts_get(f, param)->value, facts_get(g, param)->value));
    }
}

static void shorthands_are_read_and_not_said(void **state)
{
    static const struct said heard[] = {
        {FRAMEWORK_MEGATRON, P_dispatcher, "deepep", {{P_moe_token_dispatcher_type, "flex"}}},
        {FRAMEWORK_BRIDGE,
         P_recompute_granularity,
         "selective",
         {{P_recompute_activations, "true"}, {P_recompute_granularity, "full"}}},
        {FRAMEWORK_AUTOMODEL,
         P_recompute_granularity,
         "full", /* pinned: AutoModel's own switch is off by default */
         {{P_recompute_granularity, "full"}, {P_activation_checkpointing, "false"}}},
        {FRAMEWORK_AUTOMODEL,
         P_dispatcher,
         "deepep",
         {{P_dispatcher, "deepep"}, {P_backend_dispatcher, "torch"}}},
        {FRAMEWORK_MEGATRON,
         P_use_megatron_fsdp,
         "false",
         {{P_use_megatron_fsdp, "true"}, {P_data_parallel_sharding_strategy, "no_shard"}}},
        {FRAMEWORK_MEGATRON, P_use_megatron_fsdp, "true", {{P_use_megatron_fsdp, "true"}}},
        {FRAMEWORK_MEGATRON,
         P_cross_entropy_loss_fusion,
         "te",
         {{P_cross_entropy_loss_fusion, "true"}, {P_cross_entropy_fusion_impl, "other"}}},
        {FRAMEWORK_AUTOMODEL, P_cross_entropy_loss_fusion, "masked_fp32", {{P_NONE, NULL}}},
        {FRAMEWORK_BRIDGE, P_attention_backend, "unfused", {{P_attention_backend, "local"}}},
        {FRAMEWORK_BRIDGE, P_freeze_vision_model, "true", {{P_freeze_all_layers, "true"}}},
        {FRAMEWORK_AUTOMODEL, P_peft_scheme, "true", {{P_peft_scheme, "dora"}}},
    };
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++) {
        const struct knob *knob = row_of(heard[i].knob);
        struct facts *f = fresh(*state, heard[i].framework);
        struct knobs k = {0};
        for (int w = 0; w < 2 && heard[i].facts[w].word; w++)
            set(f, heard[i].facts[w].param, value_of(heard[i].facts[w].word));
        knob_read(f, knob, &k);
        if (!value_eq(knob_get(*state, &k, knob), value_of(heard[i].word)))
            fail_msg("case %zu is not %s", i, heard[i].word);
    }
}

static void precisions_have_switches_in_each_framework(void **state)
{
    static const char *const recipes[PREC_COUNT] = {[PREC_FP8_DELAYED] = "delayed",
                                                    [PREC_FP8_TENSORWISE] = "tensorwise",
                                                    [PREC_FP8_BLOCKWISE] = "blockwise",
                                                    [PREC_MXFP8] = "mxfp8"};
    for (int p = 0; p < PREC_COUNT; p++) {
        struct facts *f = question(*state, FRAMEWORK_MEGATRON), *g = fresh(*state, f->framework);
        set(f, P_precision, value_string(str_of(precision_words[p])));
        facts_derive(f);
        assert_int_equal(facts_bool(f, P_fp16, false), p == PREC_FP16);
        assert_int_equal(facts_bool(f, P_bf16, false), p != PREC_FP16 && p != PREC_FP32);
        assert_int_equal(facts_str(f, P_fp4).n > 0, p == PREC_NVFP4);
        if (recipes[p]) assert_true(str_is(facts_str(f, P_fp8_recipe), recipes[p]));
        static const int switches[] = {P_bf16, P_fp16, P_fp8, P_fp8_recipe, P_fp4};
        for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
            set(g, switches[i], facts_get(f, switches[i])->value);
        facts_derive(g);
        assert_true(str_is(facts_str(g, P_precision), precision_words[p]));

        const char *word;
        int param = precision_of_automodel((enum precision)p, &word);
        assert_int_equal(param == P_NONE, p == PREC_FP8_DELAYED || p == PREC_NVFP4);
        if (param == P_NONE) continue;
        struct facts *h = fresh(*state, FRAMEWORK_AUTOMODEL);
        set(h, param, value_string(str_of(word)));
        facts_derive(h);
        assert_true(str_is(facts_str(h, P_precision), precision_words[p]));
    }
}

/* A change of a spelling affects what a change of the knob does. */
static void spellings_affect_what_their_knob_does(void **state)
{
    (void)state;
    int spellings = 0;
    for (int i = 0; i < (int)param_count; i++) {
        const struct knob *knob = knob_said_by(i);
        if (!knob || knob->param == i || param_table[i].scope == SCOPE_DERIVED) continue;
        if (param_table[i].affects != param_table[knob->param].affects)
            fail_msg("%s and %s", param_table[i].name.p, param_table[knob->param].name.p);
        spellings++;
    }
    assert_true(spellings > 15);
}

static void pins_of_spellings_are_pins_of_their_knob(void **state)
{
    (void)state;
    static const int pins[][2] = {
        {P_moe_token_dispatcher_type, P_dispatcher},
        {P_moe_flex_dispatcher_backend, P_dispatcher},
        {P_backend_dispatcher, P_dispatcher},
        {P_activation_checkpointing, P_recompute_granularity},
        {P_recompute_activations, P_recompute_granularity},
        {P_num_virtual_stages_per_pipeline_rank, P_virtual_pipeline_model_parallel_size},
        {P_fp8, P_precision},
        {P_strategy, P_use_megatron_fsdp},
        {P_optimizer_cpu_offload, P_optimizer_offload_fraction},
        {P_fine_grained_activation_offloading, P_offload_modules},
        {P_micro_batch_size, P_micro_batch_size}};
    for (size_t i = 0; i < sizeof pins / sizeof *pins; i++)
        assert_ptr_equal(knob_said_by(pins[i][0]), knob_of(pins[i][1]));
    assert_null(knob_said_by(P_transformer_impl));
    assert_null(knob_said_by(P_num_layers));
}

/* ---- plans ---- */

/* A value of each knob that a plan decides, other than the usual one. */
static struct value other_value(struct arena *a, const struct knob *knob)
{
    struct value one = value_string(str_of(knob->words ? knob->words[1] : ""));
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_INT64: return value_int(2);
    case KNOB_BOOL:
    case KNOB_SHARDED: return value_bool(true);
    case KNOB_DOUBLE: return value_double(0.25);
    case KNOB_EACH:
    case KNOB_MODULES: return value_list_of(a, &one, 1);
    case KNOB_DTYPE: return value_string(STR("bf16"));
    case KNOB_LADDER:
    case KNOB_WORD: break;
    }
    return one;
}

/* What has to be so that the knob means anything. */
static void make_room(struct knobs *k, int param)
{
    k->tp = k->pp = 2;
    k->precision_aware = true;
    if (param == P_recompute_modules) k->recompute = RECOMPUTE_SELECTIVE;
    if (param == P_recompute_method || param == P_recompute_num_layers)
        k->recompute = RECOMPUTE_FULL;
    if (param == P_cuda_graph_scope) k->graph_impl = GRAPH_TE;
    k->reshard_stated = param == P_reshard_after_forward;
}

static bool is_said(int param, enum framework framework)
{
    bool core = param == P_recompute_modules || param == P_recompute_method ||
                param == P_recompute_num_layers || /* AutoModel has one word for recomputation */
                param == P_cp_comm_type;           /* and none for this */
    if (param == P_main_params_dtype || param == P_attention_backend) return false;
    if (param == P_reshard_after_forward) return framework == FRAMEWORK_AUTOMODEL;
    return framework_traits(framework)->megatron_words || !core;
}

static void plans_are_read_back_from_their_facts(void **state)
{
    for (int framework = 0; framework < FRAMEWORK_COUNT; framework++)
        for (size_t i = 0; i < knob_count; i++) {
            const struct knob *knob = &knob_table[i];
            struct facts *f = question(*state, (enum framework)framework);
            struct config c, back;
            if (!is_said(knob->param, f->framework)) continue;
            assert_true(config_from_facts(*state, f, &c));
            make_room(&c.knobs, knob->param);
            assert_true(knob_set(&c.knobs, knob, other_value(*state, knob)));
            bool own = knob->param == P_world_size || knob->param == P_seq_length;
            if (own) set(f, knob->param, value_int(2));
            config_to_facts(&c, f);
            facts_derive(f);
            assert_true(config_from_facts(*state, f, &back));
            struct value x = knob_get(*state, &c.knobs, knob),
                         y = knob_get(*state, &back.knobs, knob);
            bool fixed = knob->kind == KNOB_DTYPE && c.framework == FRAMEWORK_AUTOMODEL;
            if (!fixed && !value_eq(x, y))
                fail_msg("%s in %s", param_name(knob->param).p, framework_name(f->framework));
        }
}

/* What the user set stays in a plan; a change of the file replaces it, with all that goes with it.
 */
static void changes_replace_what_plans_keep(void **state)
{
    struct facts *f = question(*state, FRAMEWORK_BRIDGE), *g;
    set(f, P_recompute_granularity, value_string(STR("full")));
    set(f, P_recompute_method, value_string(STR("block")));
    set(f, P_moe_token_dispatcher_type, value_string(STR("alltoall")));
    struct config c;
    assert_true(config_from_facts(*state, f, &c));
    struct knobs to = c.knobs;
    to.recompute = RECOMPUTE_SELECTIVE;
    to.recompute_modules = MOD_MOE_ACT;
    to.dispatcher = DISPATCH_HYBRIDEP;
    g = facts_copy(*state, f);
    knobs_say_changes(&c, &to, g);
    assert_true(str_is(facts_str(g, P_recompute_granularity), "selective"));
    assert_int_equal(facts_get(g, P_recompute_method)->value.kind, VALUE_NULL);
    assert_true(str_is(facts_str(g, P_moe_token_dispatcher_type), "flex"));
    assert_true(str_is(facts_str(g, P_moe_flex_dispatcher_backend), "hybridep"));
    assert_false(fact_is_set(facts_get(g, P_micro_batch_size)));
    c.knobs = to;
    config_to_facts(&c, f);
    assert_true(str_is(facts_str(f, P_recompute_granularity), "full"));
    assert_true(str_is(facts_str(f, P_recompute_method), "block"));
    assert_true(str_is(facts_str(f, P_moe_token_dispatcher_type), "alltoall"));
}

/* An assumed batch or sequence is what was asked, so it stays assumed while it is the plan's;
   what was assumed of the execution the plan now says. */
static void assumed_work_stays_assumed(void **state)
{
    struct facts *f = question(*state, FRAMEWORK_MEGATRON);
    struct config c;
    set(f, P_global_batch_size, value_int(64));
    assert_true(config_from_facts(*state, f, &c));
    facts_change(f, P_global_batch_size)->origin = facts_change(f, P_seq_length)->origin =
        ORIGIN_ASSUMED;
    facts_set(f, P_overlap_grad_reduce, value_bool(c.knobs.overlap_grad_reduce), ORIGIN_ASSUMED,
              NULL, STR(""));
    c.knobs.seq = 8192;
    config_to_facts(&c, f);
    assert_int_equal(facts_get(f, P_global_batch_size)->origin, ORIGIN_ASSUMED);
    assert_int_equal(facts_get(f, P_seq_length)->origin, ORIGIN_OPTION);
    assert_int_equal(facts_int(f, P_seq_length, 0), 8192);
    assert_int_equal(facts_get(f, P_overlap_grad_reduce)->origin, ORIGIN_OPTION);
}

/* What follows other knobs where nobody states it stays what it was when those change; and what
   interleaving says follows from what says it now. */
static void silence_is_no_change(void **state)
{
    struct facts *f = question(*state, FRAMEWORK_MEGATRON);
    set(f, P_tensor_model_parallel_size, value_int(4));
    set(f, P_pipeline_model_parallel_size, value_int(4));
    set(f, P_num_layers_per_virtual_pipeline_stage, value_int(6));
    facts_derive(f);
    struct config c;
    assert_true(config_from_facts(*state, f, &c));
    assert_int_equal(c.knobs.etp, 4);
    assert_int_equal(c.knobs.gbs, 4);
    struct knobs to = c.knobs;
    to.tp = 2;
    to.pp = 2;
    knobs_say_changes(&c, &to, f);
    assert_int_equal(facts_int(f, P_expert_tensor_parallel_size, 0), 4);
    assert_int_equal(facts_int(f, P_global_batch_size, 0), 4);
    assert_int_equal(facts_int(f, P_virtual_pipeline_model_parallel_size, 0), 2);
    struct config back;
    assert_true(config_from_facts(*state, f, &back));
    for (size_t i = 0; i < knob_field_count; i++)
        assert_true(knob_same(&knob_table[i], &to, &back.knobs));
}

/* AutoModel's schedule takes the local batch: the microbatch has a key of its own. */
static void a_schedule_has_its_own_microbatch(void **state)
{
    struct facts *f = question(*state, FRAMEWORK_AUTOMODEL);
    set(f, P_pipeline_model_parallel_size, value_int(2));
    set(f, P_global_batch_size, value_int(256));
    set(f, P_micro_batch_size, value_int(8));
    set(f, P_pp_microbatch_size, value_int(4));
    struct config c;
    assert_true(config_from_facts(*state, f, &c));
    assert_int_equal(c.knobs.mbs, 4);
    struct knobs to = c.knobs;
    to.mbs = 2;
    knobs_say_changes(&c, &to, f);
    assert_int_equal(facts_int(f, P_pp_microbatch_size, 0), 2);
    assert_int_equal(facts_int(f, P_micro_batch_size, 0), 8);
    /* half as many ranks have twice the sequences each, still in one pass */
    to.cp = 2;
    knobs_say_changes(&c, &to, f);
    assert_int_equal(facts_int(f, P_micro_batch_size, 0), 16);
}

/* Eight sequences for each of 32 pipelines, in local batches of two. */
static void a_stated_local_batch_is_a_pass(void **state)
{
    struct facts *f = question(*state, FRAMEWORK_AUTOMODEL);
    set(f, P_pipeline_model_parallel_size, value_int(2));
    set(f, P_global_batch_size, value_int(256));
    set(f, P_micro_batch_size, value_int(2));
    struct config c;
    assert_true(config_from_facts(*state, f, &c));
    assert_int_equal(c.knobs.schedules, 4);
    assert_int_equal(knobs_scheduled(&c.knobs), 2);
    struct facts *out = question(*state, FRAMEWORK_AUTOMODEL);
    config_to_facts(&c, out);
    assert_int_equal(facts_int(out, P_micro_batch_size, 0), 2);
    assert_int_equal(facts_int(out, P_pp_microbatch_size, 0), 1);
    struct knobs to = c.knobs;
    to.schedules = 2;
    knobs_say_changes(&c, &to, f);
    assert_int_equal(facts_int(f, P_micro_batch_size, 0), 4);
    assert_true(knobs_divide(&to));
    to.schedules = 3;
    assert_false(knobs_divide(&to));
}

static void stages_are_counted_as_the_framework_does(void **state)
{
    for (int framework = 0; framework < FRAMEWORK_COUNT; framework++) {
        struct facts *f = question(*state, (enum framework)framework);
        struct config c;
        assert_true(config_from_facts(*state, f, &c));
        c.knobs.pp = c.knobs.vpp = 2;
        config_to_facts(&c, f);
        bool counts = framework == FRAMEWORK_MEGATRON;
        assert_int_equal(facts_int(f, P_num_virtual_stages_per_pipeline_rank, 0), counts ? 2 : 0);
        assert_int_equal(facts_int(f, P_virtual_pipeline_model_parallel_size, 0), counts ? 0 : 2);
    }
}

/* Of 48 layers; on 20 ranks they are 24 stages of 2, rounded up. */
static void a_schedule_cuts_stages_by_their_length(void **state)
{
    static const struct {
        int pp, vpp, length;
        const char *schedule, *rounding;
    } cuts[] = {{4, 2, 6, "interleaved1f1b", ""},
                {4, 3, 4, "interleaved1f1b", ""},
                {6, 2, 4, "interleaved1f1b", ""},
                {20, 2, 2, "interleaved1f1b", "up"},
                {4, 1, 0, "1f1b", ""}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct facts *f = question(*state, FRAMEWORK_AUTOMODEL);
        struct config c;
        assert_true(config_from_facts(*state, f, &c));
        c.knobs.pp = cuts[i].pp, c.knobs.vpp = cuts[i].vpp;
        config_to_facts(&c, f);
        assert_str(facts_str(f, P_pp_schedule), cuts[i].schedule);
        assert_int_equal(facts_int(f, P_pp_layers_per_stage, 0), cuts[i].length);
        assert_str(facts_str(f, P_round_virtual_stages_to_pp_multiple), cuts[i].rounding);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_field_has_a_row),
    cmocka_unit_test(no_field_has_two_rows),
    cmocka_unit_test(decisions_are_found_by_their_parameter),
    cmocka_unit_test(frameworks_words_are_read_and_said_again),
    cmocka_unit_test(shorthands_are_read_and_not_said),
    cmocka_unit_test(precisions_have_switches_in_each_framework),
    cmocka_unit_test(spellings_affect_what_their_knob_does),
    cmocka_unit_test(pins_of_spellings_are_pins_of_their_knob),
    cmocka_unit_test(plans_are_read_back_from_their_facts),
    cmocka_unit_test(changes_replace_what_plans_keep),
    cmocka_unit_test(assumed_work_stays_assumed),
    cmocka_unit_test(silence_is_no_change),
    cmocka_unit_test(a_schedule_has_its_own_microbatch),
    cmocka_unit_test(a_stated_local_batch_is_a_pass),
    cmocka_unit_test(a_schedule_cuts_stages_by_their_length),
    cmocka_unit_test(stages_are_counted_as_the_framework_does),
};
UNIT_MAIN(tests)
