/* SPDX-License-Identifier: Apache-2.0 */
/* What is suggested is valid: for every model of the catalogue, what an output prints passes
   validate and reads back as the same plan. A question that no plan answers passes too. By default
   on two platforms; with an argument on all. */
#include "unit/unit.h"

#include "cmd/suggest.h"
#include "cmd/validate.h"
#include "emit/emit.h"

enum { GPUS = 256 };

static const char *const few[] = {"h100", "gb200", NULL};
static const char *const all[] = {"a100", "h100",  "h200",  "h800", "b200",
                                  "b300", "gb200", "gb300", NULL};
static const char *const *platforms = few;

struct output {
    const char *format, *reader;
    enum framework framework;
};
static const struct output outputs[] = {{"flags", "megatron", FRAMEWORK_MEGATRON},
                                        {"script", "megatron", FRAMEWORK_MEGATRON},
                                        {"bridge", "bridge", FRAMEWORK_BRIDGE},
                                        {"yaml", "automodel", FRAMEWORK_AUTOMODEL},
                                        {"plan", "plan", FRAMEWORK_MEGATRON}};

struct bench {
    struct arena *keep, *scratch;
    struct platform_cache platforms;
};

static struct str print_plan(struct arena *a, const struct ask *ask, const struct answer_plan *plan,
                             const char *format)
{
    struct buf text = buf_new(a);
    struct emit_input in = {.rules = rules_builtin(), .facts = plan->facts};
    struct str *comments;
    in.n_comments = suggest_comments(a, ask, plan, &comments);
    in.comments = comments;
    const struct emitter *emitter = emitter_find(str_of(format));
    if (emitter)
        emitter->write(&in, &text);
    else
        emit_plan(&in, &text);
    return buf_str(&text);
}

static void fail_with(const struct str text, const struct file_report *report)
{
    for (size_t i = 0; i < report->diags->n; i++)
        if (report->diags->items[i].severity == SEVERITY_ERROR)
            print_error("%.*s: %.*s\n", STR_ARG(report->diags->items[i].rule),
                        STR_ARG(report->diags->items[i].message));
    fail_msg("validate refuses what suggest printed:\n%.*s", STR_ARG(text));
}

static void assert_valid(struct bench *b, struct arena *a, const struct output *output,
                         struct str text, const struct ask *ask)
{
    struct validation v = {
        .arena = a, .scratch = b->scratch, .rules = rules_builtin(), .fail_on = SEVERITY_ERROR};
    struct read_options options = {
        .gpus = ask->gpus, .platform = ask->platform->id, .platforms = &b->platforms};
    struct file_report report =
        validate_text(&v, STR("printed"), text, str_of(output->reader), &options);
    if (report.status != FILE_OK) fail_with(text, &report);
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
                 {"recompute", x->recompute, y->recompute},
                 {"modules", x->recompute_modules, y->recompute_modules},
                 {"dispatcher", x->ep > 1 ? x->dispatcher : 0, x->ep > 1 ? y->dispatcher : 0},
                 {"graphs", x->graph_impl, y->graph_impl},
                 {"overlap", x->overlap_ep, y->overlap_ep}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].was != pairs[i].is) return pairs[i].name;
    return NULL;
}

/* The knobs that decide layout, batch, memory and time. A vision tower is no part of Megatron's
 * flags. */
static void assert_same_plan(struct bench *b, struct arena *a, const struct output *output,
                             struct str text, const struct ask *ask, const struct answer_plan *plan)
{
    struct diags diags;
    struct config back;
    struct memory_estimate was, is;
    diags_init(&diags, a);
    struct read_options options = {.gpus = ask->gpus,
                                   .platform = ask->platform->id,
                                   .model = ask->model->id,
                                   .platforms = &b->platforms};
    uint32_t source = source_add(&diags.sources, STR("printed"), text);
    struct recipe recipe = recipe_read(a, &diags, source, str_of(output->reader), &options);
    assert_int_equal(recipe.readings.n, 1);
    struct facts *f = recipe.readings.items[0].facts;
    rules_apply_overrides(rules_builtin(), f, b->scratch);
    assert_true(config_from_facts(a, f, &back));
    const char *differs = difference(&plan->config.knobs, &back.knobs);
    if (differs)
        fail_msg("%s of %.*s reads back differently:\n%.*s", differs, STR_ARG(ask->model->id),
                 STR_ARG(text));
    assert_true(memory_estimate(&plan->config, &was, NULL) && memory_estimate(&back, &is, NULL));
    if (!plan->config.model.vision_layers && strcmp(output->format, "plan") == 0)
        assert_true(was.peak == is.peak);
}

static void try_output(struct bench *b, const struct ask *question, const struct output *output)
{
    struct arena_mark mark = arena_mark(b->keep);
    struct ask ask = *question;
    struct diags diags;
    struct answer answer;
    diags_init(&diags, b->keep);
    assert_true(ask_framework(b->keep, b->scratch, &diags, rules_builtin(), &ask, output->framework,
                              &answer));
    if (answer.n) {
        struct str text = print_plan(b->keep, &ask, &answer.plans[0], output->format);
        assert_valid(b, b->keep, output, text, &ask);
        assert_same_plan(b, b->keep, output, text, &ask, &answer.plans[0]);
    }
    arena_pop(b->keep, mark);
    arena_reset(b->scratch);
}

static void printed_plans_are_valid_and_read_back(void **state)
{
    struct bench b = {.keep = *state, .scratch = arena_new(0)};
    b.platforms.arena = b.keep;
    for (uint32_t m = 0; m < catalogue_model_count; m++)
        for (size_t p = 0; platforms[p]; p++) {
            struct diags diags;
            diags_init(&diags, b.keep);
            struct ask ask = {.gpus = GPUS,
                              .top = 1,
                              .goal = STR("throughput"),
                              .task = STR("pretrain"),
                              .precision = STR("bf16")};
            ask.model = model_catalogue(b.keep, m);
            ask.platform =
                platform_load(&b.platforms, &diags, str_of(platforms[p]), (struct span){0});
            assert_non_null(ask.platform);
            ask_complete(&ask);
            for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++)
                try_output(&b, &ask, &outputs[o]);
        }
    arena_free(b.scratch);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) platforms = all;
    const struct CMUnitTest tests[] = {cmocka_unit_test(printed_plans_are_valid_and_read_back)};
    return cmocka_run_group_tests(tests, unit_open_arena, unit_close_arena);
}
