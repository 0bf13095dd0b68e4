/* SPDX-License-Identifier: Apache-2.0 */
/* No plan is faster than the bound of its layout: plans that a fixed seed draws, with any state of
   every switch, whether they have room or not. */
#include "facts/param_ids.h"
#include "unit/cost/cost_unit.h"
#include "unit/plan_text.h"

#include "choose/planner.h"
#include "choose/visit.h"

struct question {
    const char *framework, *model, *platform, *precision;
    int gpus, gbs, seq;
};

/* xorshift64: the same everywhere. */
static size_t draw(uint64_t *seed, size_t n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (size_t)(*seed % n);
}

static struct config base_of(struct arena *a, const struct question *q)
{
    struct config c;
    struct str text = arena_printf(
        a,
        "moeplan: 1\nframework: %s\nmodel: %s\nplatform: %s\nprecision: %s\ngpus: %d\ngbs: %d\n"
        "seq: %d\ntask: pretrain\n",
        q->framework, q->model, q->platform, q->precision, q->gpus, q->gbs, q->seq);
    assert_true(config_from_facts(a, text_facts(a, "plan", text), &c));
    c.knobs.cp_comm = CP_NEEDED;
    c.knobs.open_numerics = NUMERICS_GRADIENTS | OPEN_DYNAMIC_GRAPHS;
    c.unstated = 0;
    return c;
}

/* One of the present spot's plans. Recomputation, which is slow, and sides have many states: most
   draws leave them as they are. */
static void draw_plan(struct search *s, uint64_t *seed)
{
    struct axis vpp = spots_stages(&s->spots);
    s->c.knobs.vpp = vpp.values[draw(seed, (size_t)vpp.n)];
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        if (!space_is_switch(d)) continue;
        struct states x = space_states(s->request, d, &s->c);
        if (kinds_decide(d) && draw(seed, 4) > 0) continue;
        space_set(x.items[draw(seed, (size_t)x.n)], &s->c);
    }
}

/* What layers share with those of plans that exchange keys otherwise changes nothing of them. */
static void check_layers(struct search *s)
{
    struct knobs present = s->c.knobs;
    struct states x = space_states(s->request, &decisions[DECISION_CP_EXCHANGE], &s->c);
    for (int i = 0; i < x.n; i++) {
        struct time_layers alone;
        struct time_rates rates;
        space_set(x.items[i], &s->c);
        search_take_layers(s);
        time_layers_init(&s->c, &alone);
        time_rates_of(&alone, &s->c, &rates);
        for (int k = 0; k < s->c.model.n_kinds; k++)
            assert_near(s->rates->kinds[k], rates.kinds[k], 1e-12);
        assert_near(s->rates->head, rates.head, 1e-12);
        s->c.knobs = present;
    }
}

/* Stages that are left out of a plan that fits would not be its peak. */
static void check_peaks(const struct config *c)
{
    struct memory_work w;
    struct memory_estimate all, some;
    assert_true(memory_prepare(c, &w));
    memory_peaks(&w, &all);
    memory_peaks_if_fits(&w, &some);
    assert_int_equal(some.fits, all.fits);
    assert_int_equal(some.fullest, all.fullest);
    assert_near(some.peak, all.peak, 0);
    if (some.fits != FITS_YES) assert_near(some.peak_low, all.peak_low, 0);
    assert_near(some.peak_high, all.peak_high, 0);
}

/* No plan is said to lack the room that it takes, alone or with others of more virtual stages. Not
   asked where chunks are as long as layers of two kinds in turn take: a rank's later chunk may have
   more layers than the floor counts with. One such plan was drawn, eight times larger than a GPU.
 */
static void check_room(struct search *s, const struct contender *o)
{
    bool mixed = s->c.model.num_layers > 2 * s->spots.kind_counts[s->spots.usual_kind] - 1;
    if (mixed && s->c.knobs.vpp > 1) return;
    struct memory_flights flights = {0};
    struct memory_work w;
    struct axis vpp = spots_stages(&s->spots);
    int most = vpp.values[vpp.n - 1], own = s->c.knobs.vpp;
    memory_measure(&s->c, &s->memory_coefficients, &w);
    for (int i = 0; i < 4; i++) {
        bool high = i % 2;
        double capacity = (high ? o->peak_high : o->peak) * (1 + 1e-9);
        if (memory_lacks(&s->c, i < 2 || most < own ? own : most, s->spots.kind_counts, high,
                         capacity, &flights, &w))
            fail_msg("%.6g bytes are too few for pp %d vpp %d to %d, recompute %d, high %d",
                     capacity, s->c.knobs.pp, own, i < 2 ? own : most, s->c.knobs.recompute, high);
    }
}

/* Groups of ranks that hold the same shards free no memory: where a plan has no room, the search
   does not ask them. */
static void check_replicas(struct search *s)
{
    struct knobs present = s->c.knobs, *k = &s->c.knobs;
    struct memory_estimate plain, memory;
    k->optimizer_instances = s->request->base->knobs.optimizer_instances;
    k->dp_replicate = s->request->base->knobs.dp_replicate;
    struct knobs without = *k;
    struct states x = space_states(s->request, &decisions[DECISION_REPLICAS], &s->c);
    assert_true(memory_estimate(&s->c, &plain, NULL));
    for (int i = 1; i < x.n; i++) {
        space_set(x.items[i], &s->c);
        assert_true(memory_estimate(&s->c, &memory, NULL));
        if (memory.peak < plain.peak * (1 - 1e-9) ||
            memory.peak_high < plain.peak_high * (1 - 1e-9))
            fail_msg("%.6g bytes with %d and %d groups of shards, %.6g with one", memory.peak,
                     k->optimizer_instances, k->dp_replicate, plain.peak);
        *k = without;
    }
    *k = present;
}

/* Of the spots that come first, where bounds are near the plans, more are asked than of the others.
   How many plans were looked at. */
static int look(struct search *s, int n, uint64_t *seed)
{
    int looked = 0;
    size_t spots = s->spots.items.n, near = spots < 64 ? spots : 64;
    for (int i = 0; i < n; i++) {
        struct spot *spot = &s->spots.items.items[draw(seed, i % 2 ? near : spots)];
        search_set_spot(s, spot, 1);
        spots_measure(&s->spots, spot);
        draw_plan(s, seed);
        struct contender o;
        if (!split_plan(&s->c, &s->layout) || !contender_estimate(&s->c, &o)) continue;
        looked++;
        check_layers(s);
        check_peaks(&s->c);
        check_room(s, &o);
        check_replicas(s);
        if (o.step_s < spot->bound * (1 - 1e-9))
            fail_msg("%.4f s, bound %.4f s: tp %d pp %d vpp %d cp %d ep %d", o.step_s, spot->bound,
                     o.knobs.tp, o.knobs.pp, o.knobs.vpp, o.knobs.cp, o.knobs.ep);
    }
    return looked;
}

static void no_plan_is_faster_than_its_bound(void **state)
{
    static const struct question all[] = {
        {"megatron", "qwen3-235b-a22b", "a100", "bf16", 256, 1024, 4096},
        {"megatron", "ling-plus", "h800", "bf16", 512, 1024, 4096},
        {"bridge", "deepseek-v3", "gb200", "mxfp8", 256, 2048, 4096},
        {"megatron", "kimi-k2", "h100", "bf16", 512, 512, 131072},
        {"bridge", "gpt-oss-120b", "b200", "bf16", 64, 64, 131072},
        {"automodel", "qwen3-30b-a3b", "h100", "bf16", 64, 512, 4096},
        {"automodel", "deepseek-v3", "h100", "bf16", 256, 1024, 4096},
    };
    enum { PLANS = 3000 };
    uint64_t seed = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct arena_mark mark = arena_mark(*state);
        struct config base = base_of(*state, &all[i]);
        struct search_request request = {.base = &base, .top = 5};
        struct search *s = search_new(*state, &request);
        assert_true(look(s, PLANS, &seed) > PLANS / 4);
        arena_pop(*state, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_plan_is_faster_than_its_bound),
    };
    return cmocka_run_group_tests(tests, unit_open_arena, unit_close_arena);
}
