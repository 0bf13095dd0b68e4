/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's pipeline splits against all splits that there are, estimated one by one. */
#include "cost/split.h"

#include <stdio.h>

#include "plan/framework.h"
#include "round_plan.h"

/* A plan of so many layers on so many stages; the head takes a little less than two of its layers.
 */
static struct config *plan_of(struct arena *a, const char *model, int layers, int pp, int vpp)
{
    struct config *c = round_plan(a, "megatron", model, "");
    struct model_shape *m = &c->model;
    for (int i = m->num_layers; i < layers; i++)
        m->layers[i] = m->layers[m->num_layers - 1];
    m->num_layers = layers;
    c->knobs.gpus = 2 * pp;
    c->knobs.pp = pp;
    c->knobs.vpp = vpp;
    c->knobs.gbs = 16 * pp;
    return c;
}

static void assert_split(struct config *c, const char *want)
{
    struct layout slot, l;
    char got[128] = "";
    assert_true(split_plan(c, &slot) && config_layout(c, &l));
    for (int i = 0; i < l.n_chunks; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", l.decoders[i]);
    assert_string_equal(got, want);
}

/* ---- against all splits ---- */

struct search {
    struct config *c;
    struct layout layout;
    double best;       /* seconds of the fastest that fits */
    double peak, high; /* bytes: the least of all */
};

static void estimate_one(struct search *s)
{
    struct time_estimate time;
    struct memory_estimate memory;
    assert_true(time_estimate(s->c, &time, NULL) && memory_estimate(s->c, &memory, NULL));
    if (memory.fits == FITS_YES) s->best = fmin(s->best, time.step);
    s->peak = fmin(s->peak, memory.peak);
    s->high = fmin(s->high, memory.peak_high);
}

/* All ways to put the layers that are left on the chunks from `chunk` on. */
static void try_all(struct search *s, int chunk, int left)
{
    int last = s->layout.n_chunks - 1;
    if (chunk == last) {
        s->layout.decoders[chunk] = (uint16_t)left;
        estimate_one(s);
        return;
    }
    for (int n = chunk > 0; n <= left; n++) {
        s->layout.decoders[chunk] = (uint16_t)n;
        try_all(s, chunk + 1, left - n);
    }
}

static struct search all_splits(const struct config *plan)
{
    struct config c = *plan;
    struct search s = {.c = &c, .best = INFINITY, .peak = INFINITY, .high = INFINITY};
    layout_start(&c, c.knobs.pp * c.knobs.vpp, &s.layout);
    c.layouts = &s.layout;
    c.n_layouts = c.knobs.layout = 1;
    try_all(&s, 0, c.model.num_layers);
    return s;
}

/* Seconds of the fastest of all splits that fit; INFINITY: none does. */
static double fastest(const struct config *plan)
{
    return all_splits(plan).best;
}

/* The planner's split as it is printed, with its memory. */
static double ours(struct config *c, struct memory_estimate *memory)
{
    struct layout slot;
    struct time_estimate time;
    assert_true(split_plan(c, &slot));
    split_polish(c, &slot);
    assert_true(time_estimate(c, &time, NULL) && memory_estimate(c, memory, NULL));
    return time.step;
}

static const struct shape {
    int layers, pp, vpp;
} shapes[] = {{7, 2, 1}, {12, 4, 1}, {9, 4, 1}, {11, 5, 1}, {8, 2, 2},
              {9, 2, 2}, {10, 2, 3}, {9, 3, 2}, {12, 3, 2}, {12, 2, 3}};
enum { SHAPES = sizeof shapes / sizeof *shapes, MODELS = 3 };

/* Dense layers alone; two in front of layers with experts; and an MTP depth behind them. */
static struct config *model_of(struct arena *a, size_t model, const struct shape *x)
{
    static const char *const models[MODELS] = {
        "", EIGHT_EXPERTS ", moe_layer_freq: \"([0]*2+[1]*2)\"",
        EIGHT_EXPERTS ", moe_layer_freq: \"([0]*2+[1]*2)\", mtp_num_layers: 1"};
    return plan_of(a, models[model], x->layers, x->pp, x->vpp);
}

/* Plans are compared as the schedule's rate divides them. Of two microbatches most passes fall into
   the ramp: a rank in front waits less for each further layer than the last one does. */
static void few_microbatches_are_divided_by_their_ramp(void **state)
{
    for (size_t i = 0; i < SHAPES * MODELS; i++) {
        const struct shape *x = &shapes[i % SHAPES];
        struct config *c = model_of(*state, i / SHAPES, x);
        struct layout slot;
        struct time_estimate time;
        if (x->vpp > 1 || x->pp < 3) continue;
        c->knobs.gbs = 4; /* two microbatches */
        double best = fastest(c);
        assert_true(split_plan(c, &slot) && time_estimate(c, &time, NULL));
        if (time.step > (1 + SPLIT_MOVING) * best)
            fail_msg("%d layers of model %zu on %d stages: %.4f s, %.4f s can be", x->layers,
                     i / SHAPES, x->pp, time.step, best);
    }
}

/* The schedule's rate divides them; polish finds how they wait, and how a rank that waits cools. */
static void near_the_fastest(void **state)
{
    for (size_t i = 0; i < SHAPES * MODELS; i++) {
        const struct shape *x = &shapes[i % SHAPES];
        struct config *c = model_of(*state, i / SHAPES, x);
        struct memory_estimate memory;
        double best = fastest(c), found = ours(c, &memory);
        if (found > 1.005 * best)
            fail_msg("model %zu, %d layers on %d x %d chunks: %.3f s for %.3f", i / SHAPES,
                     x->layers, x->pp, x->vpp, found, best);
    }
}

/* In half a percent less than the fastest split takes, again and again until none fits. */
static void assert_fastest_that_fits(struct config *c)
{
    struct memory_estimate memory;
    int rounds = 0;
    for (double best; isfinite(best = fastest(c)); rounds++) {
        double found = ours(c, &memory), capacity = c->machine.capacity_bytes / GIB;
        if (memory.fits != FITS_YES || found > 1.005 * best)
            fail_msg("%d layers on %d chunks: %.3f s in %.3f GiB for %.3f s in %.3f",
                     c->model.num_layers, c->knobs.pp, found, memory.peak_high / GIB, best,
                     capacity);
        c->machine.capacity_bytes = 0.995 * memory.peak_high;
    }
    assert_true(rounds > 1);
}

static void the_fastest_that_fits(void **state)
{
    for (size_t i = 0; i < SHAPES * MODELS; i++)
        if (shapes[i % SHAPES].vpp == 1)
            assert_fastest_that_fits(model_of(*state, i / SHAPES, &shapes[i % SHAPES]));
}

/* ---- layers of two kinds in turn ---- */

/* Every fifth layer has experts, or sees the whole sequence where the others see little of it. */
static struct config *mixed_of(struct arena *a, const struct shape *x, bool experts)
{
    struct config *c =
        plan_of(a, EIGHT_EXPERTS ", moe_layer_freq: \"([0]*2+[1]*2)\"", x->layers, x->pp, x->vpp);
    struct model_shape *m = &c->model;
    int plain = m->layers[0], other = m->layers[m->num_layers - 1];
    for (int i = 0; i < x->layers; i++)
        m->layers[i] = (uint8_t)(i % 5 == 4 ? other : plain);
    if (experts) return c;
    m->kinds[plain].mixer = MIXER_WINDOW;
    m->kinds[other] = (struct layer_kind){MIXER_ATTENTION, FFN_DENSE};
    m->window = 128;
    c->knobs.seq = 32768;
    return c;
}

/* They were once divided as if all took as long, and polishing gained what was lost by it: a search
   that compares plans before that takes others. */
static void mixed_layers_are_divided_by_what_each_takes(void **state)
{
    for (size_t i = 0; i < 2 * SHAPES; i++) {
        const struct shape *x = &shapes[i % SHAPES];
        struct config *c = mixed_of(*state, x, i < SHAPES);
        struct layout slot;
        struct time_estimate time;
        if (x->vpp > 1) continue;
        double best = fastest(c);
        assert_true(split_plan(c, &slot) && time_estimate(c, &time, NULL));
        if (time.step > 1.005 * best)
            fail_msg("%zu: %d layers on %d stages: %.3f s for %.3f", i, x->layers, x->pp, time.step,
                     best);
        assert_fastest_that_fits(c);
    }
}

/* ---- bytes that none undercuts ---- */

/* Of the bytes of a split that a framework makes, what it surely lacks room in. */
static const double NEAR_EVEN = 0.85;

/* Nor is there said to be no room for as much. */
static void assert_not_lacking(const struct config *c, bool high, double bytes,
                               const int counts[MODEL_MAX_KINDS], struct memory_work *w)
{
    struct memory_flights flights = {0};
    if (memory_lacks(c, c->knobs.vpp, counts, high, bytes * (1 + 1e-9), &flights, w))
        fail_msg("%d layers on %d x %d chunks, recompute %d: no room in %.3f GiB",
                 c->model.num_layers, c->knobs.pp, c->knobs.vpp, c->knobs.recompute, bytes / GIB);
    if (config_traits(c)->chooses_stages) return;
    /* as many layers on each stage: nearer than the mean of all */
    if (!memory_lacks(c, c->knobs.vpp, counts, high, bytes * NEAR_EVEN, &flights, w))
        fail_msg("%d layers on %d x %d chunks, recompute %d: room in less than %.3f GiB",
                 c->model.num_layers, c->knobs.pp, c->knobs.vpp, c->knobs.recompute, bytes / GIB);
}

/* Of what little stands far above it, as on an end with a head larger than all layers. `any`: it is
   of any split, where the framework may have one alone. */
static void assert_below(const struct config *c, bool high, bool any, double bytes)
{
    static struct memory_work w;
    struct memory_flights flights = {0};
    int counts[MODEL_MAX_KINDS] = {0};
    for (int i = 0; i < c->model.num_layers; i++)
        counts[c->model.layers[i]]++;
    struct memory_coefficients x = memory_coefficients_of(&c->machine);
    memory_measure(c, &x, &w);
    double floor = memory_floor(c, c->knobs.vpp, counts, high, &flights, &w);
    if (floor > bytes * (1 + 1e-9) || floor < 0.4 * bytes)
        fail_msg("%d layers on %d x %d chunks, recompute %d: %.3f GiB, not below %.3f",
                 c->model.num_layers, c->knobs.pp, c->knobs.vpp, c->knobs.recompute, floor / GIB,
                 bytes / GIB);
    if (!any || c->framework != FRAMEWORK_AUTOMODEL) assert_not_lacking(c, high, bytes, counts, &w);
}

/* A schedule that keeps tensors of all its microbatches, of which an end has fewer. */
static void schedule_locally(struct config *c)
{
    c->framework = FRAMEWORK_AUTOMODEL;
    c->knobs.fsdp = FSDP_FSDP2;
    c->knobs.gbs *= 4;
    c->model.vocab = 512;
}

/* With one chunk a rank no split at all is below, with more none of the planner's. */
static void no_split_is_below_the_floor(void **state)
{
    for (size_t i = 0; i < SHAPES * MODELS * 3; i++) {
        const struct shape *x = &shapes[i % SHAPES];
        struct config *c = model_of(*state, i / SHAPES % MODELS, x);
        struct memory_estimate memory;
        if (i >= SHAPES * MODELS) c->knobs.recompute = RECOMPUTE_FULL;
        if (i >= SHAPES * MODELS * 2) schedule_locally(c);
        if (x->vpp == 1) {
            struct search all = all_splits(c);
            assert_below(c, false, true, all.peak);
            assert_below(c, true, true, all.high);
        }
        ours(c, &memory);
        c->knobs.layout = 0;
        assert_below(c, false, false, memory.peak);
        assert_below(c, true, false, memory.peak_high);
    }
}

/* A head as large as many layers stands beside as many of them as any stage has, where others may
   leave it alone. */
static void even_stages_bear_their_ends(void **state)
{
    for (size_t i = 0; i < SHAPES; i++) {
        struct config *c = model_of(*state, 0, &shapes[i]);
        struct memory_estimate memory;
        struct memory_work w;
        int counts[MODEL_MAX_KINDS] = {c->model.num_layers};
        schedule_locally(c);
        c->model.vocab = 1 << 18;
        ours(c, &memory);
        struct memory_coefficients x = memory_coefficients_of(&c->machine);
        memory_measure(c, &x, &w);
        assert_not_lacking(c, false, memory.peak, counts, &w);
        assert_not_lacking(c, true, memory.peak_high, counts, &w);
    }
}

/* ---- by hand ---- */

/* The head is 32,768 x 1024 weights, those of two layers of 4 x 1024 x 1024 and 3 x 1024 x 4096,
   which have attention beside them. Eight layers and it are less than 2.5 a stage: the head's stage
   comes to 3 with one layer, another has 3. An embedding is no layer. */
static void ends_weigh_what_they_take(void **state)
{
    assert_split(plan_of(*state, "", 8, 4, 1), "2 3 2 1");
}

/* A head of next to nothing, and layers that divide. */
static void an_even_split_needs_no_layout(void **state)
{
    struct config *c = plan_of(*state, "", 8, 4, 1);
    c->model.vocab = 128;
    assert_split(c, "2 2 2 2");
    assert_int_equal(c->knobs.layout, 0);
}

static void settings_that_say_the_split_are_kept(void **state)
{
    struct config *c = plan_of(*state, "", 8, 4, 1);
    struct layout given;
    c->knobs.first_stage_layers = 5;
    assert_split(c, "5 1 1 1");
    c->knobs.first_stage_layers = 0;
    layout_start(c, 4, &given);
    given.decoders[3] = 8;
    c->layouts = &given;
    c->n_layouts = 1;
    c->layout_given = true;
    assert_split(c, "0 0 0 8");
    c->layout_given = false;
    c->framework = FRAMEWORK_AUTOMODEL;
    assert_split(c, "2 2 2 2");
}

/* A model with layers that are a mixer or an FFN alone comes from a pattern, which divides evenly.
 */
static void a_pattern_takes_no_layout(void **state)
{
    struct config *c = plan_of(*state, "", 8, 4, 1);
    struct layout slot;
    c->model.kinds[0].ffn = FFN_NONE;
    assert_split(c, "2 2 2 2");
    assert_int_equal(c->knobs.layout, 0);
    c->model.num_layers = 7;
    assert_false(split_plan(c, &slot));
}

static void more_chunks_than_layers_are_no_split(void **state)
{
    struct layout slot;
    assert_split(plan_of(*state, "", 4, 3, 2), "0 1 1 1 1 0");
    assert_false(split_plan(plan_of(*state, "", 3, 3, 2), &slot));
}

/* As many chunks as a model has layers and ends: each has one, whatever those in front take. */
static void short_layers_in_front_are_no_more_than_there_are(void **state)
{
    struct config *c =
        plan_of(*state, EIGHT_EXPERTS ", moe_layer_freq: \"([0]*1+[1]*3)\"", 4, 3, 2);
    c->model.dense_ffn = 64;
    c->model.expert_ffn = 16384;
    c->model.vocab = 128;
    assert_split(c, "0 1 1 1 1 0");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(few_microbatches_are_divided_by_their_ramp),
    cmocka_unit_test(near_the_fastest),
    cmocka_unit_test(the_fastest_that_fits),
    cmocka_unit_test(mixed_layers_are_divided_by_what_each_takes),
    cmocka_unit_test(no_split_is_below_the_floor),
    cmocka_unit_test(even_stages_bear_their_ends),
    cmocka_unit_test(ends_weigh_what_they_take),
    cmocka_unit_test(an_even_split_needs_no_layout),
    cmocka_unit_test(settings_that_say_the_split_are_kept),
    cmocka_unit_test(a_pattern_takes_no_layout),
    cmocka_unit_test(more_chunks_than_layers_are_no_split),
    cmocka_unit_test(short_layers_in_front_are_no_more_than_there_are)};
UNIT_MAIN(tests)
