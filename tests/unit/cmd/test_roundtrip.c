/* SPDX-License-Identifier: Apache-2.0 */
/* What is suggested is what is printed: over catalogue, platforms, tasks and formats the text that
   an output prints passes validate, reads back as the same plan and costs the same memory and time.
   A question that no plan answers passes too. By default every model once a framework, on platforms
   and with tasks that take turns; with an argument the whole product. */
#include "unit/unit.h"

#include <math.h>

#include "cmd/suggest_show.h"
#include "emit/emit.h"
#include "flow/estimate.h"
#include "flow/validate.h"
#include "plan/knob.h"
#include "plan/move.h"

enum { GPUS = 256 };

/* Two figures that are the same: what the order of a sum may change. */
static const double SAME = 1e-9;

static const char *const platforms[] = {"a100", "h100", "h200",  "h800",  "b200",
                                        "b300", "h20",  "gb200", "gb300", NULL};
static const char *const tasks[] = {"pretrain", "sft", "peft", NULL};

struct output {
    const char *format, *reader;
    enum framework framework;
    bool needs_model;  /* the file does not say all of it */
    const char *tasks; /* that the output can say so far */
};
static const struct output outputs[] = {
    {"flags", "megatron", FRAMEWORK_MEGATRON, false, "pretrain sft"},
    {"script", "megatron", FRAMEWORK_MEGATRON, false, "pretrain sft"},
    {"plan", "plan", FRAMEWORK_MEGATRON, false, "pretrain sft"},
    {"bridge", "bridge", FRAMEWORK_BRIDGE, true, "pretrain sft peft"},
    {"plan", "plan", FRAMEWORK_BRIDGE, false, "pretrain sft peft"},
    {"yaml", "automodel", FRAMEWORK_AUTOMODEL, true, "pretrain sft"},
    {"plan", "plan", FRAMEWORK_AUTOMODEL, false, "pretrain sft peft"}};

struct bench {
    struct arena *keep, *scratch;
    struct platform_cache platforms;
    size_t printed, wrong;
};

static bool can_say(const struct output *output, struct str task)
{
    struct str all = str_of(output->tasks);
    return str_find_str(all, task) < all.n;
}

static struct str print_plan(struct arena *a, const struct ask *ask, const struct plan *plan,
                             const char *format)
{
    struct buf text = buf_new(a);
    struct emit_input in = {.rules = rules_builtin(), .facts = plan->facts};
    struct str *comments;
    in.n_comments = suggest_comments(a, ask, &(struct notes){0}, plan, &comments);
    in.comments = comments;
    const struct emitter *emitter = emitter_find(str_of(format));
    if (emitter)
        emitter->write(&in, &text);
    else
        emit_plan(&in, &text);
    return buf_str(&text);
}

/* The first of the searched knobs that is not the same, or NULL. */
static const char *difference(const struct knobs *x, const struct knobs *y)
{
    const struct {
        const char *name;
        int64_t was, is;
    } pairs[] = {{"tp", x->tp, y->tp},
                 {"pp", x->pp, y->pp},
                 {"vpp", x->vpp, y->vpp},
                 {"cp", x->cp, y->cp},
                 {"ep", x->ep, y->ep},
                 {"etp", x->ep > 1 ? x->etp : 1, x->ep > 1 ? y->etp : 1},
                 {"mbs", x->mbs, y->mbs},
                 {"gbs", x->gbs, y->gbs},
                 {"seq", x->seq, y->seq},
                 {"fsdp", x->fsdp, y->fsdp},
                 {"precision", x->precision, y->precision},
                 {"recompute", x->recompute, y->recompute},
                 {"modules", x->recompute_modules, y->recompute_modules},
                 {"dispatcher", x->ep > 1 ? x->dispatcher : 0, x->ep > 1 ? y->dispatcher : 0},
                 {"graphs", x->graph_impl, y->graph_impl},
                 {"overlap", x->overlap_ep, y->overlap_ep}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].was != pairs[i].is) return pairs[i].name;
    return NULL;
}

/* What is wrong with a printed text: one line a fault. */
struct faults {
    struct bench *b;
    const struct ask *ask;
    const struct output *output;
    size_t n;
};

static void fault(struct faults *x, struct str what)
{
    print_error("%.*s on %.*s, %.*s, %s %s: %.*s\n", STR_ARG(x->ask->model->id),
                STR_ARG(x->ask->platform->id), STR_ARG(x->ask->task),
                framework_name(x->output->framework), x->output->format, STR_ARG(what));
    x->n++;
}

static struct read_options options_of(const struct faults *x)
{
    return (struct read_options){.gpus = x->ask->gpus,
                                 .platform = x->ask->platform->id,
                                 .model = x->output->needs_model ? x->ask->model->id : STR(""),
                                 .platforms = &x->b->platforms};
}

static void check_valid(struct faults *x, struct arena *a, struct str text)
{
    struct validation v = {
        .arena = a, .scratch = x->b->scratch, .rules = rules_builtin(), .fail_on = SEVERITY_ERROR};
    struct read_options options = options_of(x);
    struct file_report report =
        validate_text(&v, STR("printed"), text, str_of(x->output->reader), &options);
    for (size_t i = 0; i < report.diags->n; i++)
        if (report.diags->items[i].severity == SEVERITY_ERROR)
            fault(x, arena_printf(a, "%.*s: %.*s", STR_ARG(report.diags->items[i].rule),
                                  STR_ARG(report.diags->items[i].message)));
    if (report.status != FILE_OK && !x->n) fault(x, STR("validate refuses it"));
}

static void check_figure(struct faults *x, struct arena *a, const char *name, double was, double is)
{
    if (fabs(is / was - 1) > SAME)
        fault(x, arena_printf(a, "%s %.6g, printed and read %.6g", name, was, is));
}

static void check_costs(struct faults *x, struct arena *a, struct str text, const struct plan *plan)
{
    struct diags diags;
    struct estimate back;
    struct read_options options = options_of(x);
    diags_init(&diags, a);
    uint32_t source = source_add(&diags.sources, STR("printed"), text);
    struct recipe recipe = recipe_read(a, &diags, source, str_of(x->output->reader), &options);
    assert_int_equal(recipe.readings.n, 1);
    estimate_facts(a, rules_builtin(), recipe.readings.items[0].facts, x->b->scratch, &back);
    if (!back.complete) {
        fault(x, arena_printf(a, "no cost without %.*s", STR_ARG(back.missing)));
        return;
    }
    const char *differs = difference(&plan->config.knobs, &back.config.knobs);
    if (differs) fault(x, arena_printf(a, "%s is another", differs));
    check_figure(x, a, "peak", plan->costs.peak, back.memory.peak);
    check_figure(x, a, "step", plan->costs.step_s, back.time.step);
}

static void try_output(struct bench *b, const struct ask *ask, const struct plan *plan,
                       const struct output *output)
{
    struct faults x = {.b = b, .ask = ask, .output = output};
    struct str text = print_plan(b->keep, ask, plan, output->format);
    check_valid(&x, b->keep, text);
    check_costs(&x, b->keep, text, plan);
    b->printed++;
    b->wrong += x.n > 0;
}

static void try_question(struct bench *b, const struct ask *question, enum framework framework)
{
    struct arena_mark mark = arena_mark(b->keep);
    struct ask ask = *question;
    struct diags diags;
    struct answer answer;
    diags_init(&diags, b->keep);
    assert_true(
        ask_framework(b->keep, b->scratch, &diags, rules_builtin(), &ask, framework, &answer));
    for (size_t i = 0; answer.n && i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i].framework == framework && can_say(&outputs[i], ask.task))
            try_output(b, &ask, &answer.plans[0], &outputs[i]);
    arena_pop(b->keep, mark);
    arena_reset(b->scratch);
}

static struct ask question_of(struct bench *b, struct str model, const char *platform)
{
    struct diags diags;
    diags_init(&diags, b->keep);
    struct ask ask = {.gpus = GPUS,
                      .top = 1,
                      .goal = STR("throughput"),
                      .task = STR("pretrain"),
                      .precision = STR("bf16")};
    ask.model = model_find(b->keep, model);
    ask.platform = platform_load(&b->platforms, &diags, str_of(platform), (struct span){0});
    assert_non_null(ask.platform);
    return ask;
}

/* Every other model in a format of eight bits that the platform has. */
static struct str precision_of(uint32_t model, const char *platform)
{
    static const char *const hopper[] = {"bf16", "fp8_tensorwise", "bf16", "fp8_blockwise"};
    static const char *const blackwell[] = {"bf16", "mxfp8", "bf16", "fp8_tensorwise"};
    if (*platform == 'a') return STR("bf16");
    return str_of(*platform == 'h' ? hopper[model % 4] : blackwell[model % 4]);
}

static void ask_of(struct bench *b, uint32_t model, const char *platform, const char *task,
                   enum framework framework)
{
    struct ask ask = question_of(b, model_catalogue(b->keep, model)->id, platform);
    ask.task = str_of(task);
    ask.precision = precision_of(model, platform);
    ask_complete(&ask);
    try_question(b, &ask, framework);
}

static void open_bench(struct bench *b, void *keep)
{
    *b = (struct bench){.keep = keep, .scratch = arena_new(0)};
    b->platforms.arena = keep;
}

static void close_bench(struct bench *b)
{
    arena_free(b->scratch);
    print_message("%zu outputs, %zu that are not the plan\n", b->printed, b->wrong);
    assert_true(b->printed > 0 && b->wrong == 0);
}

static void every_model_in_turn(void **state)
{
    struct bench b;
    enum { PLATFORMS = sizeof platforms / sizeof *platforms - 1, TASKS = 3 };
    open_bench(&b, *state);
    for (uint32_t m = 0; m < catalogue_model_count; m++)
        for (uint32_t f = 0; f < FRAMEWORK_COUNT; f++)
            ask_of(&b, m, platforms[(m + f) % PLATFORMS], tasks[(m + m / PLATFORMS + f) % TASKS],
                   (enum framework)f);
    close_bench(&b);
}

static void the_whole_product(void **state)
{
    struct bench b;
    open_bench(&b, *state);
    for (uint32_t m = 0; m < catalogue_model_count; m++)
        for (size_t p = 0; platforms[p]; p++)
            for (size_t t = 0; tasks[t]; t++)
                for (int f = 0; f < FRAMEWORK_COUNT; f++)
                    ask_of(&b, m, platforms[p], tasks[t], (enum framework)f);
    close_bench(&b);
}

/* ---- levers ---- */

/* How often what was printed with a move was accepted, in the order of the table. */
enum { MOST_MOVES = 256 };
struct tried {
    const struct move *move;
    size_t accepted;
};

static bool is_accepted(struct faults *x, struct arena *a, struct str text)
{
    struct validation v = {
        .arena = a, .scratch = x->b->scratch, .rules = rules_builtin(), .fail_on = SEVERITY_ERROR};
    struct read_options options = options_of(x);
    return validate_text(&v, STR("printed"), text, str_of(x->output->reader), &options).status ==
           FILE_OK;
}

/* Forgets what rules completed for another plan. */
static void forget_completions(struct facts *f, const struct facts *fresh)
{
    for (int i = 0; i < (int)param_count; i++)
        if (facts_get(f, i)->origin == ORIGIN_DERIVED && facts_get(f, i)->written.n &&
            !knob_of((int)i))
            *facts_change(f, i) = *facts_get(fresh, i);
}

/* The plan with a move, finished as the planner does; false when it cannot be taken. */
static bool with_move(struct bench *b, const struct plan *plan, const struct decision *d,
                      const struct move *move, struct plan *out)
{
    *out = *plan;
    if (d->size || !(move->uses & MOVE_SEARCH)) return false;
    if (!move_take(d, move, &out->config) || !contender_estimate(&out->config, &out->costs))
        return false;
    out->facts = facts_copy(b->keep, plan->facts);
    forget_completions(out->facts, facts_new(b->keep, plan->facts->diags, plan->facts->framework,
                                             plan->facts->version));
    knobs_say_changes(&plan->config, &out->config.knobs, out->facts);
    planner_complete(rules_builtin(), out->facts, b->scratch);
    facts_derive(out->facts);
    return true;
}

static size_t accepted_outputs(struct bench *b, const struct ask *ask, const struct plan *plan,
                               enum framework framework)
{
    size_t accepted = 0;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        struct faults x = {.b = b, .ask = ask, .output = &outputs[i]};
        if (outputs[i].framework != framework || !can_say(&outputs[i], ask->task)) continue;
        struct str text = print_plan(b->keep, ask, plan, outputs[i].format);
        if (!is_accepted(&x, b->keep, text)) continue;
        check_costs(&x, b->keep, text, plan);
        b->printed++;
        b->wrong += x.n > 0;
        accepted++;
    }
    return accepted;
}

static size_t try_moves(struct bench *b, const struct ask *ask, const struct plan *plan,
                        enum framework framework, struct tried tried[MOST_MOVES])
{
    size_t n = 0;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        for (const struct move *move = d->moves; move->name; move++, n++) {
            struct plan changed;
            struct arena_mark mark = arena_mark(b->keep);
            assert_true(n < MOST_MOVES);
            tried[n].move = move;
            if (with_move(b, plan, d, move, &changed))
                tried[n].accepted += accepted_outputs(b, ask, &changed, framework);
            arena_pop(b->keep, mark);
        }
    return n;
}

/* Each move of a search, on some plan, is printed in a way that the framework's rules accept and
   that reads back at the same cost. */
static void every_move_is_said(void **state)
{
    static const struct {
        const char *model, *platform, *precision, *goal;
        enum framework framework;
        int gbs, seq;     /* 0: the usual */
        const char *task; /* NULL: the usual */
    } questions[] = {
        {"deepseek-v3", "gb200", "mxfp8", "throughput", FRAMEWORK_MEGATRON, 0, 0, NULL},
        {"deepseek-v3", "gb200", "mxfp8", "throughput", FRAMEWORK_BRIDGE, 0, 0, NULL},
        {"deepseek-v3", "gb200", "bf16", "bringup", FRAMEWORK_BRIDGE, 0, 0, NULL},
        {"glm-4.5-air", "h100", "fp8_tensorwise", "throughput", FRAMEWORK_BRIDGE, 0, 0, NULL},
        {"qwen3-30b-a3b", "h100", "bf16", "throughput", FRAMEWORK_MEGATRON, 0, 0, NULL},
        {"glm-4.5-air", "h100", "bf16", "bringup", FRAMEWORK_MEGATRON, 0, 0, NULL},
        {"qwen3-30b-a3b", "gb200", "bf16", "throughput", FRAMEWORK_AUTOMODEL, 0, 0, NULL},
        {"qwen3-235b-a22b", "gb200", "bf16", "throughput", FRAMEWORK_MEGATRON, 0, 0, NULL},
        {"qwen3-32b", "gb200", "bf16", "throughput", FRAMEWORK_BRIDGE, 0, 0, NULL},
        {"qwen3-32b", "h100", "bf16", "throughput", FRAMEWORK_MEGATRON, 0, 0, NULL},
        {"olmoe-1b-7b", "h100", "bf16", "throughput", FRAMEWORK_MEGATRON, 2 * GPUS, 0, NULL},
        {"glm-4.5", "b200", "bf16", "throughput", FRAMEWORK_BRIDGE, 0, 131072, NULL},
        {"qwen3-235b-a22b", "h100", "bf16", "throughput", FRAMEWORK_MEGATRON, 0, 131072, NULL},
        {"deepseek-v3", "h100", "bf16", "throughput", FRAMEWORK_MEGATRON, 0, 131072, NULL},
        {"qwen3-32b", "h100", "bf16", "throughput", FRAMEWORK_AUTOMODEL, 0, 0, "peft"}};
    static struct tried tried[MOST_MOVES];
    struct bench b;
    size_t n = 0;
    open_bench(&b, *state);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct ask ask = question_of(&b, str_of(questions[i].model), questions[i].platform);
        struct diags diags;
        struct answer answer;
        ask.precision = str_of(questions[i].precision);
        ask.goal = str_of(questions[i].goal);
        ask.gbs = questions[i].gbs;
        if (questions[i].seq) ask.seq = questions[i].seq;
        if (questions[i].task) ask.task = str_of(questions[i].task);
        ask_complete(&ask);
        diags_init(&diags, b.keep);
        assert_true(ask_framework(b.keep, b.scratch, &diags, rules_builtin(), &ask,
                                  questions[i].framework, &answer));
        assert_int_equal(answer.n, 1);
        n = try_moves(&b, &ask, &answer.plans[0], questions[i].framework, tried);
    }
    for (size_t i = 0; i < n; i++)
        if (tried[i].move->uses & MOVE_SEARCH && !tried[i].accepted)
            print_error("nothing accepts %s\n", tried[i].move->name), b.wrong++;
    close_bench(&b);
}

static void every_emitter_is_tried(void **state)
{
    struct str words = str_of(EMITTER_WORDS), word;
    (void)state;
    while (str_split(&words, '|', &word)) {
        size_t i = 0, n = sizeof outputs / sizeof *outputs;
        while (word.n && i < n && !str_is(word, outputs[i].format))
            i++;
        if (i == n) fail_msg("no %.*s", STR_ARG(word));
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest sample[] = {cmocka_unit_test(every_emitter_is_tried),
                                        cmocka_unit_test(every_model_in_turn),
                                        cmocka_unit_test(every_move_is_said)};
    const struct CMUnitTest product[] = {cmocka_unit_test(the_whole_product)};
    return argc > 1 ? cmocka_run_group_tests(product, unit_open_arena, unit_close_arena)
                    : cmocka_run_group_tests(sample, unit_open_arena, unit_close_arena);
}
