/* SPDX-License-Identifier: Apache-2.0 */
/* estimate: recipe -> facts -> configuration -> memory and time -> screen or JSON. */
#include "base/io.h"
#include "cmd/load.h"
#include "cmd/member.h"
#include "cmd/refused.h"
#include "emit/json_writer.h"
#include "emit/plan_json.h"
#include "emit/screen.h"
#include "facts/param_ids.h"
#include "plan/knob.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

/* One configuration's estimate. */
struct result {
    const struct facts *facts;
    struct refusal refusal;
    struct config config;
    struct memory_estimate memory;
    struct time_estimate time;
    struct evidence evidence;
    struct cost_trace memory_terms, time_terms;
};

struct estimation {
    const struct rule_set *rules;
    const struct read_options *options;
    struct arena *scratch;
    bool explain;
};

static bool no_split(const struct config *c, struct diags *diags, uint32_t source)
{
    struct diag *d =
        diag_add(diags, SEVERITY_ERROR, "pipeline-split", (struct span){.source = source},
                 "%d layers cannot be put on %d stages of %d chunks as the plan says",
                 c->model.num_layers, c->knobs.pp, c->knobs.vpp);
    d->parameter = STR("pipeline_model_parallel_size");
    return false;
}

/* A reading -> estimate; false with errors in the facts' diagnostics. */
static bool estimate_reading(const struct estimation *e, const struct reading *reading,
                             struct arena *a, struct result *out)
{
    struct facts *f = reading->facts;
    out->refusal = refusal_find(a, e->rules, reading, e->scratch);
    rules_assume(e->rules, f, e->scratch);
    rules_apply_overrides(e->rules, f, e->scratch);
    arena_reset(e->scratch);
    out->facts = f;
    bool good = config_from_facts(a, f, &out->config);
    if (!f->platform) {
        struct diag *d = diag_add(f->diags, SEVERITY_ERROR, "missing-fact",
                                  (struct span){.source = f->source}, "the platform is not given");
        diag_help(f->diags, d, "give it: --platform h100, or platform: h100 in the plan");
        good = false;
    }
    if (!good) return false;
    out->memory_terms.arena = out->time_terms.arena = a;
    if (!memory_estimate(&out->config, &out->memory, e->explain ? &out->memory_terms : NULL) ||
        !time_estimate(&out->config, &out->time, e->explain ? &out->time_terms : NULL))
        return no_split(&out->config, f->diags, f->source);
    evidence_find(&out->config, &out->evidence);
    return true;
}

/* The configurations of a text; false with errors added when there is none. */
static bool read_text(const struct estimation *e, struct arena *a, struct diags *diags,
                      struct str path, struct str text, struct str as, struct recipe *out)
{
    uint32_t source = source_add(&diags->sources, path, text);
    *out = recipe_read(a, diags, source, as, e->options);
    if (out->readings.n > 0 && out->status == RECIPE_READ) return true;
    if (out->status == RECIPE_SKIPPED)
        diag_add(diags, SEVERITY_ERROR, "no-recipe", (struct span){.source = source},
                 "this is no recipe that moeplan knows");
    return false;
}

static void result_json(struct tree *t, struct arena *a, const struct rule_set *rules,
                        const struct result *r)
{
    tree_open(t, a);
    estimate_json(t, t->root, rules, r->facts, &r->config, &r->memory, &r->time, &r->evidence);
    refusal_json(t, t->root, &r->refusal);
}

/* ---- the command ---- */

/* What a change must not do: break a rule that the recipe keeps. */
struct keeper {
    const struct estimation *e;
    struct arena *arena; /* of the changed facts */
    const struct result *recipe;
    const struct rule *broken; /* by the recipe itself; NULL: none */
};

static bool breaks_nothing(const struct config *changed, void *context)
{
    const struct keeper *k = context;
    struct arena *a = k->arena;
    struct arena_mark mark = arena_mark(a);
    struct diags quiet;
    diags_init(&quiet, a);
    struct facts *f = facts_copy(a, k->recipe->facts);
    f->diags = &quiet;
    knobs_say_changes(&k->recipe->config, &changed->knobs, f);
    const struct rule *broken = rules_first_error(k->e->rules, f, k->e->scratch);
    arena_pop(a, mark);
    return !broken || broken == k->broken;
}

static void show_changes(struct cmd_context *c, const struct result *r, const struct estimation *e)
{
    struct memory_change changes[WHATIF_CHANGES];
    if (r->memory.fits == FITS_YES) return;
    struct keeper keeper = {e, c->keep, r, rules_first_error(e->rules, r->facts, e->scratch)};
    int n = memory_cheapest_changes(&r->config, breaks_nothing, &keeper, changes);
    screen_changes(c->keep, &r->config, changes, n, &c->out);
}

static void show_text(struct cmd_context *c, const struct result *r, const struct estimation *e)
{
    refused_text(c, c->arguments[0], &r->refusal, &c->out);
    screen_model(&r->config.model, &c->out);
    screen_notes(r->facts->model, &c->out);
    screen_machine(c->keep, &r->config, &c->out);
    screen_assumed(r->facts, &c->out);
    screen_platform_notes(c->keep, r->facts->platform, &c->out);
    buf_add_char(&c->out, '\n');
    screen_plan(c->keep, &r->config, &c->out);
    buf_add_char(&c->out, '\n');
    screen_memory(&r->memory, &c->out);
    screen_modules(&r->config, &r->memory, &c->out);
    show_changes(c, r, e);
    buf_add_char(&c->out, '\n');
    screen_time(&r->time, &c->out);
    screen_evidence(&r->evidence, &c->out);
    if (!e->explain) return;
    buf_add_char(&c->out, '\n');
    screen_terms(&r->memory_terms, "memory, every term", true, &c->out);
    buf_add_char(&c->out, '\n');
    screen_terms(&r->time_terms, "time, every term", false, &c->out);
}

/* `label` says which of several configurations this is; empty when the file holds just one. */
static void show(struct cmd_context *c, const struct estimation *e, const struct result *r,
                 struct str label, enum format format)
{
    if (format == FORMAT_JSON) {
        struct tree t;
        result_json(&t, c->keep, e->rules, r);
        tree_print(&t, &c->out);
        buf_add_char(&c->out, '\n');
        return;
    }
    if (c->out.n > 0) buf_add_char(&c->out, '\n');
    if (label.n > 0) buf_printf(&c->out, "%.*s\n", STR_ARG(label));
    show_text(c, r, e);
}

static int estimate_file(struct cmd_context *c, const struct estimation *e, struct str as,
                         enum format format)
{
    struct str text, error, path = str_dup(c->keep, c->arguments[0]);
    if (!io_read(c->keep, path.p, &text, &error)) return load_failed(c, path, error);
    struct recipe recipe;
    if (!read_text(e, c->keep, &c->diags, path, text, as, &recipe)) return STATUS_CANNOT;
    if (!validate_settings_used(c, e->options)) return STATUS_CANNOT;
    int worst = STATUS_OK;
    for (size_t i = 0; i < recipe.readings.n; i++) {
        const struct reading *reading = &recipe.readings.items[i];
        struct result *r = ARENA_NEW(c->keep, struct result);
        bool done = estimate_reading(e, reading, c->keep, r);
        if (done) show(c, e, r, reading->label, format);
        int status = done ? refused_status(r->refusal.errors, (int)r->memory.fits) : STATUS_CANNOT;
        if (status > worst) worst = status;
    }
    return worst;
}

/* ---- batches ---- */

static void answer_diags(struct cmd_context *c, struct diags *diags)
{
    diags_sort(diags);
    struct str first = STR("the request cannot be answered");
    for (size_t i = 0; i < diags->n; i++)
        if (diags->items[i].severity == SEVERITY_ERROR) {
            first = diags->items[i].message;
            break;
        }
    batch_error(c, first);
    struct file_report report = {.status = FILE_INVALID, .diags = diags};
    report_json_members(&report, &c->out);
}

/* The plan of the request as a text of its own, or the text it carries. */
static bool request_text(const struct batch_request *r, struct str *text, struct str *as)
{
    const struct node *plan = node_get(r->root, STR("plan"));
    if (plan && plan->kind == NODE_MAP) {
        *text = str_slice(source_get(&r->diags->sources, plan->source)->text, plan->from, plan->to);
        *as = STR("plan");
        return true;
    }
    *text = batch_str(r, "text");
    *as = batch_str(r, "as");
    return node_get(r->root, STR("text")) != NULL;
}

static const struct member members[] = {
    {"id", MEMBER_ANY, P_NONE},
    {"plan", MEMBER_MAP, P_NONE},
    {"text", MEMBER_TEXT, P_NONE},
    {"as", MEMBER_TEXT, P_NONE},
    {"gpus", MEMBER_NUMBER, P_world_size},
    {"platform", MEMBER_TEXT, P_NONE},
    {0},
};

/* The text to estimate, and the request's options over those of the command line; false with *why
   set. */
static bool read_request(const struct batch_request *request, struct read_options *options,
                         struct str *text, struct str *as, struct str *why)
{
    const struct node *root = request->root;
    if (!members_check(request, root, "", members, why)) return false;
    *why = STR("the request has neither plan nor text");
    if (!request_text(request, text, as)) return false;
    *why = STR("the request has both plan and text");
    if (member_text(root, "text").n && text->p != member_text(root, "text").p) return false;
    *why = arena_printf(request->arena, "no format \"%.*s\"", STR_ARG(*as));
    if (as->n > 0 && !reader_find(*as)) return false;
    int64_t gpus = member_number(request, root, "gpus");
    struct str platform = member_text(root, "platform");
    if (gpus) options->gpus = gpus;
    if (platform.n > 0) options->platform = platform;
    return true;
}

/* {"id","plan"} or {"id","text","as","gpus","platform"} -> {"id", …estimate} or
 * {"id","error","diagnostics"} */
static void answer(struct cmd_context *c, const struct batch_request *request)
{
    const struct estimation *given = request->state;
    struct estimation e = *given;
    struct read_options options = *e.options;
    struct tree tree;
    struct recipe recipe;
    struct result *r = ARENA_NEW(request->arena, struct result);
    struct str text, as, why;
    if (!read_request(request, &options, &text, &as, &why)) {
        batch_error(c, why);
        return;
    }
    options.platforms = request->platforms;
    e.options = &options;
    e.scratch = c->scratch;
    if (!read_text(&e, request->arena, request->diags, STR("request"), text, as, &recipe) ||
        !estimate_reading(&e, &recipe.readings.items[0], request->arena, r)) {
        answer_diags(c, request->diags);
        return;
    }
    why = validate_settings(request->arena, &options);
    if (why.n) {
        batch_error(c, why);
        return;
    }
    result_json(&tree, request->arena, e.rules, r);
    tree_print_members(&tree, &c->out);
}

static int run(struct cmd_context *c)
{
    struct read_options options;
    struct estimation e = {
        .options = &options, .scratch = c->scratch, .explain = option_given(c, "explain")};
    int format;
    struct str as = option_value(c, "as");
    if (!option_choice(c, "format", &format) || !validate_options(c, &options))
        return STATUS_CANNOT;
    if (!validate_format(c, as, RECIPE_FORMATS) || !cmd_load_rules(c, &e.rules))
        return STATUS_CANNOT;
    if (option_given(c, "batch")) return batch_run(c, answer, &e);
    return estimate_file(c, &e, as, (enum format)format);
}

static const struct option options[] = {
    RECIPE_OPTIONS(RECIPE_FORMATS),
    {"format", "text|json", "how to print"},
    {"explain", NULL, "print every term with its numbers"},
    {0},
};

const struct command command_estimate = {
    .name = "estimate",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .help = "Memory of every pipeline stage, step time and throughput of a plan or recipe",
    .details = "FILE is a plan file or any recipe that validate reads; - is standard input. What "
               "the file does not say\n"
               "comes from --gpus, --platform, --model and --set. Memory is what "
               "torch.cuda.max_memory_allocated\n"
               "would report; intervals are meant to hold 9 runs of 10. Exit 1 when the plan would "
               "be refused\n"
               "(it is estimated as if it ran) or does not fit.\n",
    .options = options,
    .loads_rules = true,
    .reads_batch = true,
    .run = run,
};
