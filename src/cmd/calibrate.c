/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate: training logs with their recipes, and microbenchmarks -> observations -> coefficients
   -> a platform file. */
#include <math.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/num.h"
#include "base/quote.h"
#include "base/units.h"
#include "cmd/calibrate_check.h"
#include "cmd/calibrate_shapes.h"
#include "cmd/load.h"
#include "cmd/microbenchmark.h"
#include "facts/line.h"
#include "facts/platform.h"
#include "facts/run_log.h"
#include "flow/estimate.h"

/* A coefficient counts as determined when the measurements removed this part of what was uncertain
   about it, and as touched from the other on. */
static const double determined = 0.5, touched = 0.05;

/* What a whole step leaves unexplained on one machine once its coefficients are known. */
static const double step_sd = 0.03, peak_sd = 0.02;

enum { MOST_OBSERVATIONS = 1000 }; /* the fit's work grows with the cube */

struct job {
    const struct rule_set *rules;
    struct read_options options;
    struct machine machine;
    const struct platform *platform;
    struct observation_list observations;
};

/* ---- reading ---- */

/* The machine must be one and the same for all inputs. */
static bool set_machine(struct cmd_context *c, struct job *job, const struct facts *f)
{
    if (job->platform && f->platform && !str_eq(job->platform->id, f->platform->id))
        return cmd_usage_error(c, "the recipes are for different platforms: %.*s and %.*s",
                               STR_ARG(job->platform->id), STR_ARG(f->platform->id)),
               false;
    if (job->platform) return true;
    job->platform = f->platform;
    if (config_machine(f, &job->machine)) return true;
    return cmd_usage_error(c,
                           "the platform is not given: --platform h100, or platform: in the plan"),
           false;
}

/* Steps by their time where the log says it, else by tokens/s. */
static void add_step(struct cmd_context *c, struct job *job, const struct run_summary *s,
                     const struct config *config, struct str label)
{
    const struct knobs *k = &config->knobs;
    double step = s->step_s;
    if (step <= 0 && s->tokens_per_s_per_gpu > 0)
        step = (double)k->gbs * k->seq / ((double)k->gpus * s->tokens_per_s_per_gpu);
    if (step <= 0) return;
    *VEC_PUSH(c->keep, &job->observations) = (struct observation){
        .kind = OBSERVED_STEP, .config = config, .measured = step, .sd = step_sd, .label = label};
}

static void add_peak(struct cmd_context *c, struct job *job, const struct run_log *log,
                     const struct config *config, struct str label)
{
    bool all_stages = config->knobs.pp == 1 || log->memory_rank > 0;
    if (log->peak_memory_gib <= 0 || !all_stages) return;
    *VEC_PUSH(c->keep, &job->observations) =
        (struct observation){.kind = OBSERVED_PEAK,
                             .config = config,
                             .measured = log->peak_memory_gib * GIB,
                             .sd = peak_sd,
                             .label = label};
}

/* ---- one input, line by line ---- */

struct input {
    struct cmd_context *c;
    struct job *job;
    struct line_cutter lines;
    bool begun, benchmark, logged, refused;
    struct microbenchmark_left left;
    struct run_log log;
};

static bool use_machine(struct cmd_context *c, struct job *job)
{
    struct facts *f = facts_new(c->keep, &c->diags, FRAMEWORK_MEGATRON, STR(""));
    return read_options_apply(f, &job->options) && set_machine(c, job, f);
}

static void take_line(void *context, struct str line)
{
    struct input *x = context;
    struct arena *scratch = x->c->scratch;
    if (!x->begun && microbenchmark_is(scratch, line)) {
        x->benchmark = true;
        x->refused = !use_machine(x->c, x->job);
    } else if (x->benchmark && !x->refused && x->job->observations.n <= MOST_OBSERVATIONS) {
        microbenchmark_line(x->c->keep, scratch, line, &x->job->machine, &x->job->observations,
                            &x->left);
    } else if (!x->benchmark) {
        x->logged = run_log_line(&x->log, line) || x->logged;
    }
    x->begun = x->begun || str_trim(line).n > 0;
    if (x->benchmark) arena_reset(scratch);
}

static void take_piece(void *context, struct str piece)
{
    struct input *x = context;
    line_cut(&x->lines, piece, take_line, x);
}

static bool add_log(struct cmd_context *c, struct job *job, const struct run_log *log,
                    struct str path, struct str recipe)
{
    struct estimate *base = ARENA_NEW(c->keep, struct estimate);
    if (!recipe.n)
        return cmd_usage_error(c, "--recipe FILE is missing: the recipe that produced %.*s",
                               STR_ARG(path)),
               false;
    const struct facts *f = load_recipe(c, recipe, STR(""), &job->options);
    if (!f || !set_machine(c, job, f)) return false;
    estimate_facts(c->keep, job->rules, f, c->scratch, base);
    if (!base->complete)
        return cmd_usage_error(c, "%.*s: %.*s", STR_ARG(recipe), STR_ARG(base->missing)), false;
    size_t before = job->observations.n;
    struct run_summary s = run_log_summary(c->keep, log);
    add_step(c, job, &s, &base->config, path);
    add_peak(c, job, log, &base->config, path);
    if (job->observations.n > before) return true;
    return cmd_usage_error(c, "%.*s states neither step times nor memory", STR_ARG(path)), false;
}

static void tell_left(struct cmd_context *c, const struct microbenchmark_left *left,
                      struct str path)
{
    if (left->unreadable)
        buf_printf(&c->err, "note: %.*s: %zu rows without a law, a size or a time are left out\n",
                   STR_ARG(path), left->unreadable);
    if (left->foreign)
        buf_printf(&c->err, "note: %.*s: %zu rows of other kernels move nothing: %.*s\n",
                   STR_ARG(path), left->foreign, LINE_ARG(c->keep, left->kernels));
}

static bool add_input(struct cmd_context *c, struct job *job, struct str path, struct str recipe)
{
    struct str error;
    struct input *x = ARENA_NEW(c->keep, struct input);
    *x = (struct input){.c = c, .job = job, .lines = line_cutter_new(c->keep)};
    run_log_start(c->keep, &x->log);
    path = str_dup(c->keep, path);
    if (!io_stream(c->keep, path.p, take_piece, x, &error))
        return cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(path), STR_ARG(error)),
               false;
    line_cut_end(&x->lines, take_line, x);
    if (x->refused) return false;
    if (x->benchmark) return tell_left(c, &x->left, path), true;
    if (x->logged) return add_log(c, job, &x->log, path, recipe);
    return cmd_usage_error(c, "%.*s is neither a training log nor a microbenchmark", STR_ARG(path)),
           false;
}

/* The pace is of one model. Steps of several would share it, and it stays as it was. */
static void set_paced_model(struct job *job)
{
    struct str *model = &job->machine.paced_model;
    bool any = false, one = true;
    for (size_t i = 0; i < job->observations.n; i++) {
        const struct observation *o = &job->observations.items[i];
        if (o->kind != OBSERVED_STEP) continue;
        one = one && (!any || str_eq(*model, o->config->model.name));
        if (!any) *model = o->config->model.name;
        any = true;
    }
    if (any && !one) *model = STR("");
}

/* One recipe for all logs, or as many as there are inputs, in their order. */
static bool add_inputs(struct cmd_context *c, struct job *job)
{
    struct str recipe = {"", 0};
    size_t recipes = 0;
    while (option_nth(c, "recipe", recipes, &recipe))
        recipes++;
    if (recipes > 1 && recipes != c->n_arguments)
        return cmd_usage_error(c, "%zu recipes for %zu logs: give one for all, or one for each",
                               recipes, c->n_arguments),
               false;
    for (size_t i = 0; i < c->n_arguments; i++) {
        if (recipes > 0) option_nth(c, "recipe", recipes > 1 ? i : 0, &recipe);
        if (!add_input(c, job, c->arguments[i], recipe)) return false;
    }
    if (job->observations.n <= MOST_OBSERVATIONS) return true;
    return cmd_usage_error(c, "%zu measurements; at most %d can be fitted at once",
                           job->observations.n, MOST_OBSERVATIONS),
           false;
}

/* ---- the platform file ---- */

static const struct entry_coefficient *coefficient_of(const struct entry *e, struct str name)
{
    for (size_t i = 0; i < e->n_coefficients; i++)
        if (str_eq(e->coefficients[i].name, name)) return &e->coefficients[i];
    return NULL;
}

static struct str rounded(struct arena *a, double x)
{
    return num_double_text(a, strtod(arena_printf(a, "%.4g", x).p, NULL));
}

static void add_coefficient(struct cmd_context *c, const struct job *job, const struct fitted *f)
{
    struct str name = job->machine.coefficients[f->coefficient].name;
    const struct entry_coefficient *old = coefficient_of(job->platform->entry, name);
    struct str value = rounded(c->keep, f->value), low = rounded(c->keep, f->low),
               high = rounded(c->keep, f->high), unit = quote_yaml(c->keep, old->unit);
    buf_printf(&c->out, "  %.*s: {value: %.*s, low: %.*s, high: %.*s, unit: %.*s, n: %d,\n",
               STR_ARG(quote_yaml(c->keep, name)), STR_ARG(value), STR_ARG(low), STR_ARG(high),
               STR_ARG(unit), f->n);
    struct str meaning = quote_yaml(c->keep, old->meaning);
    buf_printf(&c->out, "    meaning: %.*s,\n", STR_ARG(meaning));
    buf_printf(&c->out, "    source: \"own runs; %.0f %% of the prior's uncertainty removed\"}\n",
               100 * f->learned);
}

static void write_platform(struct cmd_context *c, const struct job *job,
                           const struct calibration *x)
{
    const struct entry *e = job->platform->entry;
    struct str base = e->base.n ? e->base : job->platform->id;
    bool any = false;
    buf_printf(&c->out,
               "# moeplan " MOEPLAN_VERSION
               ": coefficients from %zu measurements; what is not here "
               "is as on %.*s\n",
               job->observations.n, LINE_ARG(c->keep, base));
    struct str id = quote_yaml(c->keep, arena_printf(c->keep, "%.*s-calibrated", STR_ARG(base)));
    base = quote_yaml(c->keep, base);
    buf_printf(&c->out, "moeplan: 1\nkind: Platform\nid: %.*s\nbase: %.*s\n", STR_ARG(id),
               STR_ARG(base));
    if (job->machine.paced_model.n)
        buf_printf(&c->out, "paced_model: %.*s\n",
                   STR_ARG(quote_yaml(c->keep, job->machine.paced_model)));
    for (size_t i = 0; i < x->n; i++) {
        if (x->items[i].learned < touched) continue;
        if (!any) buf_add(&c->out, STR("coefficients:\n"));
        any = true;
        add_coefficient(c, job, &x->items[i]);
    }
}

/* ---- the report ---- */

static void tell_observations(struct cmd_context *c, const struct job *job)
{
    for (size_t i = 0; i < job->observations.n; i++) {
        const struct observation *o = &job->observations.items[i];
        bool run = o->kind == OBSERVED_STEP || o->kind == OBSERVED_PEAK;
        if (!run) continue;
        double unit = o->kind == OBSERVED_PEAK ? GIB : 1;
        buf_printf(
            &c->err,
            "%.*s: measured %.4g %s, estimated %.4g before (%+.1f %%), %.4g after (%+.1f %%)\n",
            LINE_ARG(c->keep, o->label), o->measured / unit, o->kind == OBSERVED_PEAK ? "GiB" : "s",
            o->before / unit, 100 * (o->before / o->measured - 1), o->after / unit,
            100 * (o->after / o->measured - 1));
    }
}

/* Median deviation of the kernels from the model, in percent. */
static void tell_kernels(struct cmd_context *c, const struct job *job)
{
    double before = 0, after = 0;
    size_t n = 0;
    for (size_t i = 0; i < job->observations.n; i++) {
        const struct observation *o = &job->observations.items[i];
        if (o->kind == OBSERVED_STEP || o->kind == OBSERVED_PEAK) continue;
        before += fabs(log(o->before / o->measured));
        after += fabs(log(o->after / o->measured));
        n++;
    }
    if (n)
        buf_printf(&c->err, "%zu kernels: off by %.1f %% before, %.1f %% after (mean)\n", n,
                   100 * before / (double)n, 100 * after / (double)n);
}

static void tell_coefficients(struct cmd_context *c, const struct job *job,
                              const struct calibration *x)
{
    static const char *const titles[] = {"determined", "moved a little"};
    for (int group = 0; group < 2; group++) {
        for (size_t i = 0; i < x->n; i++) {
            const struct fitted *f = &x->items[i];
            const struct coefficient *old = &job->machine.coefficients[f->coefficient];
            bool here = group == 0 ? f->learned >= determined
                                   : f->learned >= touched && f->learned < determined;
            if (here)
                buf_printf(&c->err, "%s: %.*s %.4g -> %.4g (%.0f %% of its uncertainty removed)\n",
                           titles[group], LINE_ARG(c->keep, old->name), old->value, f->value,
                           100 * f->learned);
        }
    }
    buf_add(&c->err, STR("as they were:"));
    for (size_t i = 0; i < x->n; i++)
        if (x->items[i].learned < touched)
            buf_printf(&c->err, " %.*s",
                       LINE_ARG(c->keep, job->machine.coefficients[x->items[i].coefficient].name));
    buf_add_char(&c->err, '\n');
}

/* ---- the command ---- */

static int run(struct cmd_context *c)
{
    struct job *job = ARENA_NEW(c->keep, struct job);
    struct calibration x;
    struct str check = option_value(c, "check");
    struct str plan = option_value(c, "plan");
    if (check.n && c->n_arguments > 0)
        return cmd_usage_error(c, "--check fits nothing: it goes without a log");
    if (check.n) return calibrate_check(c, check);
    if (c->n_arguments == 0 && !plan.n)
        return cmd_usage_error(c, "give a log or a microbenchmark, --plan FILE or --check FILE");
    if (c->n_arguments > 0 && plan.n)
        return cmd_usage_error(c, "--plan prints what to measure: it goes without a log");
    if (!recipe_options(c, &job->options) || !cmd_load_rules(c, &job->rules)) return STATUS_CANNOT;
    if (plan.n) return calibrate_shapes(c, job->rules, &job->options, plan);
    if (!add_inputs(c, job) || !recipe_settings_used(c, &job->options)) return STATUS_CANNOT;
    if (job->observations.n == 0)
        return cmd_usage_error(c, "there is nothing measured in the input");
    set_paced_model(job);
    calibrate(c->keep, &job->machine, job->observations.items, job->observations.n, &x);
    write_platform(c, job, &x);
    tell_observations(c, job);
    tell_kernels(c, job);
    tell_coefficients(c, job, &x);
    return STATUS_OK;
}

static const struct option options[] = {
    {"check", "FILE", "hold the laws of kernels against each row of a file, and fit nothing"},
    {"format", "text|jsonl", "with --check: errors by kind, or the law's seconds of every row"},
    {"plan", "FILE", "print the shapes that this recipe or plan runs, for tools/microbenchmark.py"},
    {"recipe", "FILE", "the recipe or plan that produced the log (repeatable: one for each log)"},
    {"gpus", "N", "number of GPUs of the runs"},
    {"platform", "P", "GPU platform whose coefficients are the start: h100, gb200, … or a file"},
    {"model", "MODEL", "the model: a catalogue name, a config.json or a model file"},
    {"framework", "NAME", "megatron, bridge or automodel, where the recipe does not say"},
    {"framework-version", "V", "version of the framework (moeplan version lists them)"},
    {"set", "NAME=VALUE", "state a fact of the runs (repeatable)"},
    {"env", "NAME=VALUE", "an environment variable of the runs (repeatable)"},
    {0},
};

const struct command command_calibrate = {
    .name = "calibrate",
    .arguments = "[LOG…]",
    .min_arguments = 0,
    .max_arguments = -1,
    .examples = "run.log --recipe plan.yaml",
    .help = "Fit the estimates to your own GPUs, from training logs and microbenchmarks",
    .details =
        "LOG is a training log of Megatron-LM, Megatron-Bridge or NeMo AutoModel, or what\n"
        "tools/microbenchmark.py wrote. The platform file goes to stdout or -o FILE, for "
        "--platform "
        "FILE; stderr says\n"
        "which coefficients the measurements determined and which stayed as they were.\n"
        "--plan prints what one rank of a plan runs in a step, for tools/microbenchmark.py "
        "--shapes.\n"
        "--check reads measured times of kernels, collectives and exchanges, one JSON object "
        "a line:\n"
        "a public table, or what tools/microbenchmark.py wrote.\n",
    .options = options,
    .loads_rules = true,
    .run = run,
};
