/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions keep what a plan decides: for every model of the catalogue and two of the plans, each
   way there and back reads as the same knobs. What cannot be said is named. */
#include "facts/param_ids.h"
#include "unit/unit.h"

#include "emit/emit.h"
#include "facts/model.h"
#include "facts/recipe.h"
#include "flow/convert.h"
#include "plan/knob.h"

struct bench {
    struct arena *keep, *scratch;
};

static int open_bench(void **state)
{
    struct bench *b = ARENA_NEW(*state ? *state : (*state = arena_new(0)), struct bench);
    b->keep = *state;
    b->scratch = arena_new(0);
    *state = b;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *b = *state;
    arena_free(b->scratch);
    arena_free(b->keep);
    return 0;
}

static struct facts *read_text(struct bench *b, struct str text, const char *as, const char *model)
{
    struct diags *diags = ARENA_NEW(b->keep, struct diags);
    diags_init(diags, b->keep);
    struct platform_cache *platforms = ARENA_NEW(b->keep, struct platform_cache);
    platforms->arena = b->keep;
    struct read_options options = {.platforms = platforms, .model = str_of(model)};
    if (strcmp(as, "plan") != 0) {
        options.gpus = 256;
        options.platform = STR("h100");
    }
    uint32_t source = source_add(&diags->sources, str_of(as), text);
    struct recipe recipe = recipe_read(b->keep, diags, source, str_of(as), &options);
    diags_sort(diags);
    if (diags_count(diags, SEVERITY_ERROR))
        fail_msg("%.*s\n%.*s", STR_ARG(diags->items[0].message), STR_ARG(text));
    assert_int_equal(recipe.status, RECIPE_READ);
    return recipe.readings.items[0].facts;
}

static struct conversion convert(struct bench *b, const struct facts *from, enum framework to,
                                 bool complete)
{
    struct conversion out;
    convert_facts(b->keep, rules_builtin(), from, to, complete, b->scratch, &out);
    return out;
}

static struct str print(struct bench *b, const struct facts *f, const char *format)
{
    struct buf out = buf_new(b->keep);
    struct emit_input in = {.rules = rules_builtin(), .facts = f};
    const struct emitter *emitter = emitter_find(str_of(format));
    if (emitter)
        emitter->write(&in, &out);
    else
        emit_plan(&in, &out);
    return buf_str(&out);
}

static struct knobs knobs_of(struct bench *b, const struct facts *f)
{
    struct facts *copy = facts_copy(b->keep, f);
    struct config c;
    rules_assume(rules_builtin(), copy, b->scratch);
    rules_apply_overrides(rules_builtin(), copy, b->scratch);
    assert_true(config_from_facts(b->keep, copy, &c));
    return c.knobs;
}

static void expect_same(struct bench *b, const struct knobs *was, const struct knobs *is,
                        const char *way, bool experts)
{
    size_t differing = 0;
    for (size_t i = 0; i < knob_count; i++) {
        struct value x = knob_get(b->keep, was, &knob_table[i]),
                     y = knob_get(b->keep, is, &knob_table[i]);
        struct str name = param_name(knob_table[i].param);
        bool of_experts = str_starts(name, STR("moe_")) || str_starts(name, STR("expert_")) ||
                          str_is(name, "dispatcher");
        if (value_eq(x, y) || (of_experts && !experts)) continue;
        differing++;
        print_error("%s: %.*s was %.*s and is %.*s\n", way, STR_ARG(name),
                    STR_ARG(value_text(b->keep, x)), STR_ARG(value_text(b->keep, y)));
    }
    assert_int_equal(differing, 0);
}

static const char *const core_plans[] = {
    "tp: 2\npp: 4\nep: 8\netp: 1\nsequence_parallel: true\nmbs: 2\nuse_distributed_optimizer: "
    "true\n",
    "tp: 4\nep: 4\nsequence_parallel: true\nprecision: fp8_blockwise\nmoe_token_dispatcher_type: "
    "flex\nmoe_flex_dispatcher_backend: hybridep\nmbs: 1\n",
    "ep: 8\nmbs: 1\nuse_distributed_optimizer: true\nuse_megatron_fsdp: "
    "true\nrecompute_granularity: full\nrecompute_method: "
    "uniform\n"
    "recompute_num_layers: 1\noverlap_grad_reduce: true\n",
    "cp: 2\nmbs: 1\nrecompute_granularity: selective\nrecompute_modules: [moe_act, core_attn]\n"
    "use_precision_aware_optimizer: true\nuse_distributed_optimizer: true\nexp_avg_dtype: bf16\n"
    "moe_permute_fusion: true\n",
};

static struct facts *plan_of(struct bench *b, const char *framework, const struct str model,
                             const char *body)
{
    struct str text = arena_printf(
        b->keep,
        "moeplan: 1\nframework: %s\nmodel: %.*s\nplatform: h100\ngpus: 256\nseq: 4096\n"
        "gbs: 1024\nmoe_router_force_load_balancing: false\n%s",
        framework, STR_ARG(model), body);
    return read_text(b, text, "plan", "");
}

/* Plan -> the framework's own file -> plan. */
static void there_and_back(struct bench *b, const struct facts *plan, enum framework to,
                           const char *format, const char *way)
{
    struct knobs was = knobs_of(b, plan);
    struct conversion there = convert(b, plan, to, true);
    struct str text = print(b, there.facts, format);
    struct facts *read = read_text(b, text, framework_name(to), "");
    struct conversion back = convert(b, read, plan->framework, false);
    struct str again = print(b, back.facts, "plan");
    struct knobs is = knobs_of(b, read_text(b, again, "plan", ""));
    expect_same(b, &was, &is, way, facts_int(plan, P_num_moe_experts, 0) > 0);
}

static void every_model_there_and_back(void **state)
{
    struct bench *b = *state;
    for (size_t i = 0; i < catalogue_model_count; i++) {
        const struct model_input *m = model_catalogue(b->keep, i);
        for (size_t p = i % 2; p < sizeof core_plans / sizeof *core_plans; p += 2) {
            struct arena_mark mark = arena_mark(b->keep);
            struct facts *megatron = plan_of(b, "megatron", m->id, core_plans[p]);
            there_and_back(b, megatron, FRAMEWORK_MEGATRON, "flags", "plan, flags, plan");
            there_and_back(b, megatron, FRAMEWORK_BRIDGE, "bridge", "plan, Bridge, plan");
            struct facts *bridge = plan_of(b, "bridge", m->id, core_plans[p]);
            there_and_back(b, bridge, FRAMEWORK_MEGATRON, "flags", "Bridge plan, flags, plan");
            arena_pop(b->keep, mark);
        }
    }
}

static void what_cannot_be_said_is_named(void **state)
{
    struct bench *b = *state;
    struct facts *plan = plan_of(b, "megatron", STR("qwen3-30b-a3b"),
                                 "tp: 2\nep: 8\nsequence_parallel: true\nmbs: 1\n"
                                 "moe_expert_capacity_factor: 1.5\nmanual_gc: true\n");
    struct conversion x = convert(b, plan, FRAMEWORK_AUTOMODEL, true);
    bool capacity = false, gc = false, etp = false;
    for (size_t i = 0; i < x.lost.n; i++) {
        capacity = capacity || str_is(x.lost.items[i].name, "moe_expert_capacity_factor");
        gc = gc || str_is(x.lost.items[i].name, "manual_gc");
        etp = etp || str_is(x.lost.items[i].name, "expert_tensor_parallel_size");
    }
    assert_true(capacity && gc && etp);
    assert_str(facts_str(x.facts, P_strategy), "fsdp2");
}

static void expert_tensor_size_follows_each_frameworks_default(void **state)
{
    struct bench *b = *state;
    struct facts *megatron = plan_of(b, "megatron", STR("qwen3-30b-a3b"), "tp: 4\nep: 2\nmbs: 1\n");
    struct facts *bridge = plan_of(b, "bridge", STR("qwen3-30b-a3b"), "tp: 4\nep: 2\nmbs: 1\n");
    const int etp = P_expert_tensor_parallel_size;
    assert_int_equal(facts_int(convert(b, megatron, FRAMEWORK_BRIDGE, true).facts, etp, 0), 4);
    assert_int_equal(facts_int(convert(b, bridge, FRAMEWORK_MEGATRON, true).facts, etp, 0), 1);
}

static void the_word_fsdp_differs(void **state)
{
    struct bench *b = *state;
    struct facts *sharded =
        plan_of(b, "bridge", STR("qwen3-30b-a3b"), "ep: 8\nmbs: 1\nuse_megatron_fsdp: true\n");
    struct facts *dense =
        plan_of(b, "bridge", STR("qwen3-8b"), "mbs: 1\nuse_megatron_fsdp: true\n");
    struct facts *fsdp2 = plan_of(b, "automodel", STR("qwen3-30b-a3b"), "ep: 8\nmbs: 1\n");
    struct conversion x = convert(b, sharded, FRAMEWORK_AUTOMODEL, true);
    assert_str(facts_str(x.facts, P_strategy), "fsdp2");
    assert_true(x.notes.n > 0);
    x = convert(b, dense, FRAMEWORK_AUTOMODEL, true);
    assert_str(facts_str(x.facts, P_strategy), "megatron_fsdp");
    x = convert(b, fsdp2, FRAMEWORK_MEGATRON, true);
    assert_true(facts_bool(x.facts, P_use_megatron_fsdp, false));
}

static void betas_are_a_pair_in_automodel(void **state)
{
    struct bench *b = *state;
    struct facts *plan =
        plan_of(b, "megatron", STR("qwen3-8b"), "tp: 1\nmbs: 1\nadam_beta2: 0.95\n");
    struct conversion there = convert(b, plan, FRAMEWORK_AUTOMODEL, true);
    struct value betas = facts_get(there.facts, P_optimizer_betas)->value;
    assert_int_equal(betas.kind, VALUE_LIST);
    assert_true(betas.list->items[0].d == 0.9 && betas.list->items[1].d == 0.95);
    struct conversion back = convert(b, there.facts, FRAMEWORK_MEGATRON, true);
    assert_true(facts_double(back.facts, P_adam_beta2, 0) == 0.95);
}

/* A plan that names no microbatch of AutoModel's schedule means its micro-batch: 1,024 sequences on
   128 ranks are 4 of 2, and 8 in a local batch. */
static void a_silent_plans_microbatch_is_the_schedules(void **state)
{
    struct bench *b = *state;
    struct facts *plan =
        plan_of(b, "automodel", STR("qwen3-30b-a3b"), "pp: 2\nep: 8\nmbs: 2\nstrategy: fsdp2\n");
    assert_int_equal(knobs_of(b, plan).mbs, 2);
    struct conversion own = convert(b, plan, FRAMEWORK_AUTOMODEL, true);
    assert_int_equal(facts_int(own.facts, P_micro_batch_size, 0), 8);
    struct str text = print(b, own.facts, "yaml");
    assert_int_equal(knobs_of(b, read_text(b, text, "automodel", "")).mbs, 2);
    struct conversion bridge = convert(b, plan, FRAMEWORK_BRIDGE, true);
    assert_int_equal(facts_int(bridge.facts, P_micro_batch_size, 0), 2);
}

/* Megatron-LM's flags in the words that Bridge's own classes take: what its recipe or its plain
   provider sets otherwise is said (megatron/bridge/training/config.py, models/hybrid). */
static void flags_in_bridges_words(void **state)
{
    static const struct {
        const char *flags, *has, *lacks;
    } cases[] = {
        {"--no-load-optim", "\ncheckpoint.load_optim=false\n", "no_load_optim"},
        {"--no-save-rng", "\ncheckpoint.save_rng=false\n", "no_save_rng"},
        {"--decoupled-lr 0.1", "\noptimizer.decoupled_lr=0.1\n", "scheduler.decoupled_lr"},
        {"--override-ckpt-iteration 7", "# not carried over: --override-ckpt-iteration = 7",
         "\ncheckpoint.override"},
        {"--lr-warmup-fraction 0.01", "\nscheduler.lr_warmup_iters=0\n", "lr_warmup_iters=500"},
        {"--use-checkpoint-opt_param-scheduler", "\nscheduler.override_opt_param_scheduler=false\n",
         "override_opt_param_scheduler=true"},
        {"--weight-decay 0.02", "\nscheduler.end_weight_decay=0.02\n", "not carried over"},
        {"--train-samples 640", "\ntrain.train_iters=null\n", "train.train_iters=6"},
        {"--disable-bias-linear", "\nmodel.bias_activation_fusion=false\n", "not carried over"},
        {"--swiglu --disable-bias-linear", "\nmodel.bias_activation_fusion=true\n",
         "not carried over"},
        {"--bf16", "\nmodel.bias_activation_fusion=true\n", "++env_vars."},
        {"--bf16", "\nddp.average_in_collective=false\n", "model.add_bias_linear"},
        {"--deterministic-mode", "\n++env_vars.NCCL_ALGO=Ring\n", "not carried over"},
        {"--cuda-graph-impl local", "\nmodel.inference_cuda_graph_scope=layer\n",
         "not carried over"},
        {"--cuda-graph-impl local --cuda-graph-modules attn", "\nmodel.cuda_graph_impl=none\n",
         "\nmodel.cuda_graph_impl=local"},
        {"--hybrid-layer-pattern M*M-", "\nmodel.add_bias_linear=true\n", "not carried over"},
        {"--hybrid-layer-pattern M*M-", "\nmodel.normalization=LayerNorm\n", "RMSNorm"},
        {"--multi-latent-attention --normalization RMSNorm", "\nmodel.q_lora_rank=null\n",
         "q_lora_rank=512"},
    };
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str flags =
            arena_printf(b->keep,
                         "--num-layers 4 --hidden-size 512 --num-attention-heads 8 "
                         "--seq-length 1024 --max-position-embeddings 1024 "
                         "--micro-batch-size 1 --global-batch-size 256 --lr 0.001 %s",
                         cases[i].flags);
        struct conversion x =
            convert(b, read_text(b, flags, "megatron", ""), FRAMEWORK_BRIDGE, true);
        struct str text = print(b, x.facts, "bridge");
        for (size_t k = 0; k < x.lost.n; k++)
            if (!str_is(x.lost.items[k].name, "--max-position-embeddings"))
                text = arena_printf(b->keep, "%.*s# not carried over: %.*s = %.*s\n", STR_ARG(text),
                                    STR_ARG(x.lost.items[k].name), STR_ARG(x.lost.items[k].value));
        if (!strstr(text.p, cases[i].has) || strstr(text.p, cases[i].lacks))
            fail_msg("%s\n%.*s", cases[i].flags, STR_ARG(text));
    }
}

/* Overrides of Bridge's recipe of Qwen3-30B-A3B as Megatron-LM's flags. */
static const char *flags_of(struct bench *b, const char *overrides)
{
    struct facts *from = read_text(b, str_of(overrides), "bridge", "qwen3-30b-a3b");
    return print(b, convert(b, from, FRAMEWORK_MEGATRON, true).facts, "flags").p;
}

/* A constant weight decay is the schedule's ends in Bridge; Megatron-LM refuses ends beside it. */
static void a_constant_weight_decay_comes_back(void **state)
{
    const char *flags =
        flags_of(*state, "optimizer.weight_decay=0.1\nscheduler.start_weight_decay=0.033\n"
                         "scheduler.end_weight_decay=0.033\ncheckpoint.load_optim=false\n"
                         "scheduler.weight_decay_incr_style=constant\n");
    assert_non_null(strstr(flags, "--weight-decay 0.033"));
    assert_non_null(strstr(flags, "--no-load-optim"));
    assert_null(strstr(flags, "--start-weight-decay"));
    assert_null(strstr(flags, "--end-weight-decay"));
}

/* What Megatron-LM refuses of a recipe's kernels, and a list that is empty where it takes none. */
static void recipes_in_megatrons_words(void **state)
{
    const char *flags =
        flags_of(*state, "model.tensor_model_parallel_size=1\nmodel.tp_comm_overlap=true\n"
                         "model.cross_entropy_loss_fusion=true\n"
                         "model.cross_entropy_fusion_impl=te\n'model.recompute_modules=[]'\n");
    assert_non_null(strstr(flags, "--cross-entropy-loss-fusion\n"));
    assert_null(strstr(flags, "--cross-entropy-fusion-impl te"));
    assert_null(strstr(flags, "--tp-comm-overlap"));
    assert_null(strstr(flags, "--recompute-modules"));
    flags = flags_of(*state, "model.tensor_model_parallel_size=2\nmodel.sequence_parallel=true\n"
                             "model.tp_comm_overlap=true\n");
    assert_non_null(strstr(flags, "--tp-comm-overlap\n"));
}

/* Bridge's adapters are AutoModel's by the name of their class; its variables are none of a
   file's. */
static void adapters_and_variables_in_automodel(void **state)
{
    struct bench *b = *state;
    struct str text = STR("# moeplan: recipe=qwen3_30b_a3b_peft_config\n"
                          "# moeplan: model=Qwen/Qwen3-30B-A3B\n"
                          "++env_vars.NCCL_DEBUG=INFO\n");
    struct conversion x = convert(b, read_text(b, text, "bridge", ""), FRAMEWORK_AUTOMODEL, true);
    bool variable = false;
    for (size_t i = 0; i < x.lost.n; i++) {
        assert_false(str_is(x.lost.items[i].name, "peft_scheme"));
        if (!str_is(x.lost.items[i].name, "env_vars.NCCL_DEBUG")) continue;
        variable = str_starts(x.lost.items[i].why, STR("an environment variable"));
    }
    assert_true(variable);
    assert_true(facts_str(x.facts, P_peft_target).n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_there_and_back),
        cmocka_unit_test(what_cannot_be_said_is_named),
        cmocka_unit_test(expert_tensor_size_follows_each_frameworks_default),
        cmocka_unit_test(the_word_fsdp_differs),
        cmocka_unit_test(betas_are_a_pair_in_automodel),
        cmocka_unit_test(a_silent_plans_microbatch_is_the_schedules),
        cmocka_unit_test(flags_in_bridges_words),
        cmocka_unit_test(a_constant_weight_decay_comes_back),
        cmocka_unit_test(recipes_in_megatrons_words),
        cmocka_unit_test(adapters_and_variables_in_automodel),
    };
    return cmocka_run_group_tests(tests, open_bench, close_bench);
}
