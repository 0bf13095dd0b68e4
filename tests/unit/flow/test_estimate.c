/* SPDX-License-Identifier: Apache-2.0 */
/* A text -> its configurations -> what they cost, or why they cannot be estimated. */
#include "flow/estimate.h"
#include "unit/plan_text.h"
#include "unit/rules/rule_files.h"

#define SAID "recompute_granularity: null\nuse_megatron_fsdp: false\nmain_grads_dtype: fp32\n"
#define HEAD "moeplan: 1\nframework: megatron\nmodel: qwen3-30b-a3b\nseq: 4096\ngbs: 64\nmbs: 1\n"

struct asked {
    struct diags diags;
    struct recipe recipe;
    struct estimate estimate;
    struct estimate_terms terms;
    bool read, done;
};

static struct asked *ask_of(struct arena *a, const struct rule_set *rules, const char *text)
{
    struct arena *scratch = arena_new(0);
    struct asked *x = ARENA_NEW(a, struct asked);
    struct platform_cache *platforms = ARENA_NEW(a, struct platform_cache);
    struct read_options options = {.platforms = platforms};
    platforms->arena = a;
    diags_init(&x->diags, a);
    x->read =
        estimate_read(a, &x->diags, STR("plan.yaml"), str_of(text), STR(""), &options, &x->recipe);
    x->done = x->read && estimate_reading(a, rules, &x->recipe.readings.items[0], scratch,
                                          &x->estimate, &x->terms);
    arena_free(scratch);
    return x;
}

static struct asked *ask(struct arena *a, const char *text)
{
    return ask_of(a, rules_builtin(), text);
}

static const struct diag *error_of(const struct asked *x, const char *rule)
{
    for (size_t i = 0; i < x->diags.n; i++)
        if (str_is(x->diags.items[i].rule, rule)) return &x->diags.items[i];
    fail_msg("no %s", rule);
    return NULL;
}

static void a_plan_has_memory_time_and_evidence(void **state)
{
    const struct asked *x = ask(*state, HEAD "platform: h100\ngpus: 8\nep: 8\n");
    assert_true(x->done && x->estimate.complete);
    assert_int_equal(x->diags.n, 0);
    assert_int_equal(x->estimate.refusal.errors, 0);
    const struct estimate *e = &x->estimate;
    assert_int_equal(e->memory.n_stages, 1);
    assert_true(e->memory.peak_low < e->memory.peak && e->memory.peak < e->memory.peak_high);
    assert_true(e->time.low < e->time.step && e->time.step < e->time.high);
    assert_true(x->terms.memory.terms.n > 0 && x->terms.time.terms.n > 0);
}

/* An error of the user's own may hang on what the estimate says. */
static void the_estimate_may_refuse(void **state)
{
    static const char rule[] = RULE_FILE
        "rules:\n"
        "  - id: room-to-spare\n    severity: error\n    frameworks: [megatron]\n"
        "    matchConditions: ['plan.peak_memory_gib > 0.0']\n    rule: 'plan.fits == \"yes\"'\n"
        "    message: no room is left\n    why: w\n    source: s\n    help: h\n"
        "    examples:\n      good: [{fits: 'yes', peak_memory_gib: 1.0}]\n"
        "      bad: [{fits: 'no', peak_memory_gib: 1.0}]\n";
    static const char plan[] = HEAD "platform: h100\ngpus: 8\nep: 8\n";
    struct rule_set own = load_good(*state, rule);
    assert_int_equal(ask(*state, plan)->estimate.refusal.errors, 0);
    assert_str(ask_of(*state, &own, plan)->estimate.refusal.rule, "room-to-spare");
}

/* It is estimated as if it ran. */
static void a_plan_that_is_refused_says_so(void **state)
{
    const struct asked *x =
        ask(*state, HEAD "platform: h100\ngpus: 8\nep: 8\ntp: 2\nsequence_parallel: false\n");
    assert_true(x->done);
    assert_true(x->estimate.refusal.errors > 0);
    assert_true(x->estimate.refusal.rule.n > 0 && x->estimate.refusal.message.n > 0);
    assert_true(x->estimate.time.step > 0);
}

static void what_is_missing_is_a_diagnostic(void **state)
{
    const struct asked *x = ask(*state, HEAD "gpus: 8\nep: 8\n");
    assert_true(x->read && !x->done && !x->estimate.complete);
    assert_true(error_of(x, "missing-fact")->help.n > 0);
    x = ask(*state, HEAD "platform: h100\ngpus: 20\npp: 20\nvpp: 7\n");
    assert_false(x->done);
    assert_str(error_of(x, "pipeline-split")->parameter, "pipeline_model_parallel_size");
    x = ask(*state, "nothing: of ours\n");
    assert_false(x->read);
    error_of(x, "no-recipe");
}

/* Facts are left as they are, and nothing is reported. */
static void facts_can_be_estimated_in_passing(void **state)
{
    struct arena *scratch = arena_new(0);
    struct facts *f = plan_facts(*state, "megatron", "ep: 8");
    const struct facts *before = facts_copy(*state, f);
    struct estimate with, without;
    estimate_facts(*state, rules_builtin(), f, scratch, &with);
    assert_true(with.complete);
    f->platform = NULL;
    estimate_facts(*state, rules_builtin(), f, scratch, &without);
    assert_false(without.complete);
    assert_str(without.missing, "the platform is not given");
    for (int i = 0; i < (int)param_count; i++)
        assert_memory_equal(facts_get(before, i), facts_get(f, i), sizeof(struct fact));
    assert_int_equal(f->diags->n, 0);
    arena_free(scratch);
}

static void assert_changes(struct arena *a, const struct asked *x)
{
    struct arena *scratch = arena_new(0);
    struct memory_change changes[WHATIF_CHANGES];
    assert_true(x->done);
    assert_int_equal(x->estimate.memory.fits, FITS_NO);
    int n = estimate_changes(a, rules_builtin(), &x->estimate, scratch, changes);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        assert_true(changes[i].peak < x->estimate.memory.peak);
        assert_int_not_equal(changes[i].fits, FITS_NO);
    }
    arena_free(scratch);
}

/* What a plan does not state may be what makes it fit; what it states is not. */
static void silence_is_tight(void **state)
{
    static const char plan[] =
        HEAD "platform: h100\ngpus: 8\nep: 8\nuse_distributed_optimizer: true\n";
    const struct memory_estimate *silent = &ask(*state, plan)->estimate.memory;
    assert_int_equal(silent->fits, FITS_TIGHT);
    assert_true(silent->peak > silent->capacity && silent->peak_low <= silent->capacity);
    assert_str(memory_open_text(*state, silent),
               "does not fit unless it has what it does not state: recomputation");
    struct str said = arena_printf(*state,
                                   "%srecompute_granularity: selective\n"
                                   "main_grads_dtype: fp32\nuse_megatron_fsdp: false\n",
                                   plan);
    const struct memory_estimate *stated = &ask(*state, said.p)->estimate.memory;
    assert_int_equal(stated->fits, FITS_NO);
    assert_int_equal(stated->open, 0);
}

/* What a smaller peak costs, and no rule broken for it but one that is broken already. */
static void changes_make_it_fit(void **state)
{
#define WHOLE HEAD SAID "platform: h100\ngpus: 32\nuse_distributed_optimizer: false\n"
    assert_changes(*state, ask(*state, WHOLE "ep: 8\n"));
    const struct asked *refused = ask(*state, WHOLE "ep: 4\ntp: 2\nsequence_parallel: false\n");
    assert_true(refused->estimate.refusal.errors > 0);
    assert_changes(*state, refused);
}

#define SIZES                                                                                      \
    "moeplan: 1\nframework: bridge\nseq: 4096\ngbs: 2048\nmbs: 1\ngpus: 256\nprecision: mxfp8\n"

static const struct estimate *sized(struct arena *a, const char *body)
{
    const struct asked *x = ask(a, arena_printf(a, SIZES "%s", body).p);
    assert_true(x->done);
    return &x->estimate;
}

/* A plan of sizes alone describes a run as the recipes of its chip have it; one that spells out
   switches has none of those that it leaves out. */
static void sizes_alone_are_a_tuned_run(void **state)
{
    static const char moe[] = "model: qwen3-235b-a22b\nep: 64\npp: 4\nplatform: gb200\n";
    const struct knobs *k = &sized(*state, moe)->config.knobs;
    assert_int_equal(k->graph_impl, GRAPH_TE);
    assert_int_equal(k->dispatcher, DISPATCH_HYBRIDEP);
    assert_int_equal(k->vpp, 1); /* virtual stages are a size */
    k = &sized(*state, "model: qwen3-235b-a22b\nep: 64\npp: 8\nplatform: gb200\n")->config.knobs;
    assert_true(k->account_embedding && k->account_loss); /* of 94 layers */
    struct str spelt = arena_printf(*state, "%soverlap_grad_reduce: true\n", moe);
    k = &sized(*state, spelt.p)->config.knobs;
    assert_int_equal(k->graph_impl, GRAPH_NONE);
    assert_int_equal(k->vpp, 1);
    k = &sized(*state, "model: qwen3-235b-a22b\nep: 64\nplatform: h100\n")->config.knobs;
    assert_int_equal(k->graph_impl, GRAPH_NONE);
    assert_int_equal(k->dispatcher, DISPATCH_ALLTOALL);
}

/* What is estimated in passing, as a log's run for calibration, takes the same from silence. */
static void silence_is_the_same_in_passing(void **state)
{
    struct arena *scratch = arena_new(0);
    struct estimate passing;
    struct str text =
        arena_printf(*state, SIZES "%s", "model: qwen3-30b-a3b\nep: 8\nplatform: gb200\n");
    struct facts *f = text_facts(*state, "plan", text);
    estimate_facts(*state, rules_builtin(), f, scratch, &passing);
    assert_int_equal(passing.config.knobs.graph_impl, GRAPH_TE);
    assert_true(passing.time.step == ask(*state, text.p)->estimate.time.step);
    arena_free(scratch);
}

static void assert_reaches(const struct estimate *from, const struct estimate *to)
{
    assert_true(from->time.low <= to->time.step && to->time.step <= from->time.high);
}

/* AutoModel refuses fewer microbatches than stages: so many sequences are the local batch. */
static void few_microbatches_are_a_local_batch(void **state)
{
    static const char plan[] = "moeplan: 1\nframework: automodel\nmodel: kimi-k2\nplatform: h100\n"
                               "gpus: 256\nseq: 4096\nep: 32\npp: 8\ngbs: 512\nmbs: 8\n";
    struct str stated = arena_printf(*state, "%spp_microbatch_size: 1\n", plan);
    double step = ask(*state, plan)->estimate.time.step;
    assert_true(step > 0 && step == ask(*state, stated.p)->estimate.time.step);
}

/* The interval of a plan of sizes alone holds the steps of the runs that it may describe, several
   of what it leaves open together. */
static void silence_widens_the_interval(void **state)
{
    static const char
        said[] = "model: qwen3-30b-a3b\nep: 8\nplatform: b200\n",
        *ways[] = {
            "cuda_graph_impl: none\n",
            "cuda_graph_impl: full_iteration\n",
            "moe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: deepep\n",
            ("moe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: deepep\n"
             "cuda_graph_impl: full_iteration\noverlap_moe_expert_parallel_comm: true\n"),
            "overlap_moe_expert_parallel_comm: true\n",
            "moe_router_force_load_balancing: false\n",
            "recompute_granularity: full\nrecompute_method: uniform\nrecompute_num_layers: 1\n"};
    const struct estimate *silent = sized(*state, said);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        assert_reaches(silent, sized(*state, arena_printf(*state, "%s%s", said, ways[i]).p));
    static const char stages[] = "model: llama-3-70b\npp: 8\ntp: 4\nplatform: gb200\n";
    silent = sized(*state, stages);
    assert_reaches(silent, sized(*state, arena_printf(*state, "%svpp: 1\n", stages).p));
    assert_reaches(silent, sized(*state, arena_printf(*state, "%svpp: 10\n", stages).p));
    static const char one[] =
        "model: qwen3-30b-a3b\nep: 8\nplatform: b200\noverlap_grad_reduce: true\n";
    silent = sized(*state, one);
    for (size_t i = 0; i < 2; i++) /* another switch says nothing of graphs where most capture */
        assert_reaches(silent, sized(*state, arena_printf(*state, "%s%s", one, ways[i]).p));
    /* of two kinds of graphs a run has one */
    static const char most[] = "cuda_graph_impl: full_iteration\nmoe_token_dispatcher_type: flex\n"
                               "moe_flex_dispatcher_backend: deepep\n"
                               "overlap_moe_expert_parallel_comm: true\n";
    const struct estimate *shortest = sized(*state, arena_printf(*state, "%s%s", one, most).p);
    assert_true(silent->time.low > 0.7 * shortest->time.low);
    struct str overlap = arena_printf(*state, "%soverlap_moe_expert_parallel_comm: true\n", one);
    assert_reaches(silent, sized(*state, overlap.p));
    static const char some[] = "model: qwen3-30b-a3b\nep: 8\nplatform: b200\n"
                               "fp8_param_gather: true\nrecompute_granularity: selective\n";
    silent = sized(*state, some);
    struct str modules = arena_printf(*state, "%srecompute_modules: [moe, layernorm]\n", some);
    assert_reaches(silent, sized(*state, modules.p));
}

/* 61 layers stand on four stages as a layout has them, the first and the last with fewer. */
static void uneven_layers_are_balanced(void **state)
{
    static const char said[] = "model: deepseek-v3\nep: 64\npp: 4\nvpp: 4\nplatform: gb200\n";
    const struct estimate *silent = sized(*state, said);
    struct str even =
        arena_printf(*state, "%spipeline_model_parallel_layout: Et*4|(t*4|)*14tmL\n", said);
    const struct estimate *written = sized(*state, even.p);
    assert_true(silent->time.step < 1.03 * written->time.step);
    assert_true(silent->config.layouts != NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sizes_alone_are_a_tuned_run),
    cmocka_unit_test(silence_is_the_same_in_passing),
    cmocka_unit_test(few_microbatches_are_a_local_batch),
    cmocka_unit_test(silence_widens_the_interval),
    cmocka_unit_test(uneven_layers_are_balanced),
    cmocka_unit_test(a_plan_has_memory_time_and_evidence),
    cmocka_unit_test(the_estimate_may_refuse),
    cmocka_unit_test(a_plan_that_is_refused_says_so),
    cmocka_unit_test(what_is_missing_is_a_diagnostic),
    cmocka_unit_test(facts_can_be_estimated_in_passing),
    cmocka_unit_test(silence_is_tight),
    cmocka_unit_test(changes_make_it_fit),
};
UNIT_MAIN(tests)
