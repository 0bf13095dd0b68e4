/* SPDX-License-Identifier: Apache-2.0 */
/* Public measurements beside an estimate: which are near, and that they change nothing. */
#include "facts/param_ids.h"
#include "unit/unit.h"

#include <math.h>

#include "cost/evidence.h"
#include "cost/evidence_table.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "plan/knob.h"

/* Qwen3-30B-A3B on 16 H100 with the recipe of Megatron-Bridge's published runs. */
static struct config *qwen(struct arena *a, const char *platform)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    diags_init(diags, a);
    struct facts *f = facts_new(a, diags, FRAMEWORK_BRIDGE, STR("main@2026-08-22"));
    f->format = STR("plan");
    struct platform_cache *cache = ARENA_NEW(a, struct platform_cache);
    cache->arena = a;
    platform_apply(f, platform_load(cache, diags, str_of(platform), (struct span){0}), ORIGIN_FILE);
    model_apply(f, model_find(a, STR("qwen3-30b-a3b")), ORIGIN_FILE);
    static const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"gpus", 16}, {"seq", 4096}, {"mbs", 1}, {"gbs", 1024}, {"ep", 16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        facts_set(f, param_find(str_of(sizes[i].name)), value_int(sizes[i].value), ORIGIN_FILE,
                  NULL, STR(""));
    struct config *c = ARENA_NEW(a, struct config);
    assert_true(config_from_facts(a, f, c));
    return c;
}

/* The knobs of a record, as far as the distance sees them. */
static void take_over(struct config *c, const struct evidence_record *r)
{
    static const char *const dispatchers[] = {"allgather", "alltoall", "deepep", "hybridep",
                                              "torch"};
    struct knobs *k = &c->knobs;
    *k = (struct knobs){.gpus = r->gpus,
                        .seq = (int)r->seq,
                        .mbs = (int)r->mbs,
                        .gbs = r->gbs,
                        .tp = (int)r->tp,
                        .pp = (int)r->pp,
                        .vpp = r->vpp > 0 ? (int)r->vpp : 1,
                        .cp = (int)r->cp,
                        .ep = (int)r->ep,
                        .etp = r->etp > 0 ? (int)r->etp : 1};
    assert_true(knob_set(k, knob_of(P_precision), value_string(r->precision)));
    assert_true(knob_set(k, knob_of(P_task), value_string(r->task)));
    for (uint8_t i = 0; i < 5; i++)
        if (str_is(r->dispatcher, dispatchers[i])) k->dispatcher = i;
    if (!str_is(r->recompute, "none")) {
        k->recompute = str_is(r->recompute, "full") ? RECOMPUTE_FULL : RECOMPUTE_SELECTIVE;
        k->recompute_modules = MOD_MOE_ACT;
    }
    k->graph_impl = r->graphs.n > 0 ? GRAPH_TE : GRAPH_NONE;
    k->fsdp = r->fsdp.n > 0 ? FSDP_FSDP2 : FSDP_NONE;
    c->machine.id = r->platform;
}

static void every_configuration_on_record_is_measured(void **state)
{
    struct config *c = qwen(*state, "h100");
    int64_t total = model_params(&c->model).total;
    size_t tried = 0;
    for (size_t i = 0; i < evidence_record_count; i++) {
        if (evidence_records[i].total_params != total) continue;
        struct evidence e;
        take_over(c, &evidence_records[i]);
        evidence_find(c, &e);
        assert_int_equal(e.grade, EVIDENCE_MEASURED);
        assert_true(e.nearest[0].distance == 0);
        tried++;
    }
    assert_true(tried > 10);
}

static void the_nearest_come_first_and_are_the_same_every_time(void **state)
{
    struct evidence a, b;
    evidence_find(qwen(*state, "h100"), &a);
    evidence_find(qwen(*state, "h100"), &b);
    assert_int_equal(a.n, EVIDENCE_NEAREST);
    for (size_t i = 0; i < a.n; i++) {
        assert_true(str_eq(a.nearest[i].id, b.nearest[i].id));
        assert_true(a.nearest[i].source.n > 0);
        if (i > 0) assert_true(a.nearest[i - 1].distance <= a.nearest[i].distance);
    }
}

static void a_stranger_is_modelled(void **state)
{
    struct config *c = qwen(*state, "a100");
    c->knobs.gpus = 65536;
    c->knobs.seq = 1 << 20;
    c->model.num_layers = 3;
    struct evidence e;
    evidence_find(c, &e);
    assert_int_equal(e.grade, EVIDENCE_MODELLED);
}

/* What a platform is called says nothing, its architecture does: h200 has no runs of its own, so
   only the generation can bring the H100's near. */
static void the_generation_is_the_architecture(void **state)
{
    static const struct {
        const char *id, *architecture;
        double further;
    } cases[] = {
        {"bunker.yaml", "Hopper", 0},  {"h9000", "Hopper", 0},
        {"h200", "Ampere", 2.5},       {"h200", "", 2.5},
        {"h200", "Hopper Refresh", 0},
    };
    struct config *c = qwen(*state, "h200");
    struct evidence hopper, other;
    evidence_find(c, &hopper);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c->machine.id = str_of(cases[i].id);
        c->machine.architecture = str_of(cases[i].architecture);
        evidence_find(c, &other);
        double further = other.nearest[0].distance - hopper.nearest[0].distance;
        assert_true(fabs(further - cases[i].further) < 1e-9);
    }
    for (size_t i = 0; i < evidence_record_count; i++) {
        const struct entry *e =
            entry_find(catalogue_platforms, catalogue_platform_count, evidence_records[i].platform);
        assert_non_null(e);
        assert_int_equal(entry_value(e, "gpu_architecture").kind, VALUE_STRING);
    }
}

static void records_are_whole(void **state)
{
    (void)state;
    assert_true(evidence_record_count > 200);
    for (size_t i = 0; i < evidence_record_count; i++) {
        const struct evidence_record *r = &evidence_records[i];
        assert_true(r->id.n > 0 && r->source.n > 0 && r->total_params >= r->active_params &&
                    r->gpus > 0);
        assert_true(r->tokens_per_s_per_gpu > 0 || r->tflops_per_gpu > 0 || r->peak_gib > 0 ||
                    r->oom);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_configuration_on_record_is_measured),
    cmocka_unit_test(the_nearest_come_first_and_are_the_same_every_time),
    cmocka_unit_test(a_stranger_is_modelled),
    cmocka_unit_test(the_generation_is_the_architecture),
    cmocka_unit_test(records_are_whole),
};
UNIT_MAIN(tests)
