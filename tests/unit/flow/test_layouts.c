/* SPDX-License-Identifier: Apache-2.0 */
/* No layer of a suggested layout stands better on the next chunk: of plans over catalogue and
   platforms every single move is estimated again. By default every model once, on platforms that
   take turns; with an argument all of them on all. */
#include "unit/unit.h"

#include "cost/split.h"
#include "flow/suggest.h"

/* What a move may gain of a step. */
static const double GAIN = 0.005;

static const char *const platforms[] = {"h100", "gb200", "b200", "a100", "gb300"};
enum { GPUS = 256, PLATFORMS = sizeof platforms / sizeof *platforms };

struct bench {
    struct arena *keep, *scratch;
    struct platform_cache platforms;
    size_t layouts, moves, wrong;
};

static void check_move(struct bench *b, struct config *c, struct layout *l, int from, int to)
{
    struct time_estimate now, moved;
    struct memory_estimate room, moved_room;
    assert_true(time_estimate(c, &now, NULL) && memory_estimate(c, &room, NULL));
    l->decoders[from]--, l->decoders[to]++;
    assert_true(time_estimate(c, &moved, NULL) && memory_estimate(c, &moved_room, NULL));
    l->decoders[from]++, l->decoders[to]--;
    b->moves++;
    if (moved.step >= now.step * (1 - GAIN) || moved_room.fits > room.fits) return;
    print_error("%.*s on %.*s, a layer from chunk %d to %d of %.*s: %.2f %% faster\n",
                STR_ARG(c->model.name), STR_ARG(c->machine.id), from, to,
                STR_ARG(layout_text(b->keep, l)), 100 * (now.step / moved.step - 1));
    b->wrong++;
}

/* A plan without a layout is one that all divide evenly. */
static void check_plan(struct bench *b, const struct plan *plan)
{
    struct config c = plan->config;
    struct layout l;
    assert_true(config_layout(&c, &l));
    if (l.n_chunks == 1) return;
    c.layouts = &l;
    c.n_layouts = c.knobs.layout = 1;
    b->layouts++;
    for (int from = 0; from < l.n_chunks; from++)
        for (int to = from - 1; to <= from + 1; to += 2) {
            bool end = from == 0 || from == l.n_chunks - 1;
            if (to >= 0 && to < l.n_chunks && l.decoders[from] > !end)
                check_move(b, &c, &l, from, to);
        }
}

/* Models that Megatron reads from a pattern have their split from there. */
static void try_question(struct bench *b, struct ask *ask)
{
    struct arena_mark mark = arena_mark(b->keep);
    struct diags diags;
    struct answer answer;
    diags_init(&diags, b->keep);
    ask_complete(ask);
    assert_true(ask_framework(b->keep, b->scratch, &diags, rules_builtin(), ask, FRAMEWORK_MEGATRON,
                              &answer));
    for (size_t i = 0; i < answer.n; i++)
        if (split_is_free(&answer.plans[i].config)) check_plan(b, &answer.plans[i]);
    arena_pop(b->keep, mark);
    arena_reset(b->scratch);
}

static void ask_of(struct bench *b, uint32_t model, const char *platform)
{
    struct diags diags;
    struct ask ask = {.gpus = GPUS,
                      .top = 5,
                      .goal = STR("throughput"),
                      .task = STR("pretrain"),
                      .precision = STR("bf16")};
    diags_init(&diags, b->keep);
    ask.model = model_catalogue(b->keep, model);
    ask.platform = platform_load(&b->platforms, &diags, str_of(platform), (struct span){0});
    assert_non_null(ask.platform);
    try_question(b, &ask);
}

static void close_bench(struct bench *b)
{
    arena_free(b->scratch);
    print_message("%zu layouts, %zu moves, %zu that gain\n", b->layouts, b->moves, b->wrong);
    assert_true(b->layouts > 10 && b->wrong == 0);
}

static void every_model_in_turn(void **state)
{
    struct bench b = {.keep = *state, .scratch = arena_new(0), .platforms = {.arena = *state}};
    for (uint32_t m = 0; m < catalogue_model_count; m++)
        ask_of(&b, m, platforms[m % PLATFORMS]);
    close_bench(&b);
}

static void the_whole_product(void **state)
{
    struct bench b = {.keep = *state, .scratch = arena_new(0), .platforms = {.arena = *state}};
    for (uint32_t m = 0; m < catalogue_model_count; m++)
        for (size_t p = 0; p < PLATFORMS; p++)
            ask_of(&b, m, platforms[p]);
    close_bench(&b);
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest sample[] = {cmocka_unit_test(every_model_in_turn)};
    const struct CMUnitTest product[] = {cmocka_unit_test(the_whole_product)};
    return argc > 1 ? cmocka_run_group_tests(product, unit_open_arena, unit_close_arena)
                    : cmocka_run_group_tests(sample, unit_open_arena, unit_close_arena);
}
