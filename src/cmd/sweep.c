/* SPDX-License-Identifier: Apache-2.0 */
/* sweep: plan -> trials in the order worth running -> list, plan files, flags, or job scripts; and
   back: what the trials measured -> what to run next, or that nothing is worth it. */
#include "choose/sweep.h"

#include <math.h>

#include "base/quote.h"
#include "base/units.h"
#include "cmd/load.h"
#include "cmd/plan_out.h"
#include "cmd/refused.h"
#include "cmd/sweep_results.h"
#include "emit/json_writer.h"
#include "emit/plan_json.h"
#include "emit/trials.h"
#include "flow/convert.h"
#include "flow/estimate.h"

enum format {
    FORMAT_TEXT,
    FORMAT_PLAN,
    FORMAT_FLAGS,
    FORMAT_JSON,
    FORMAT_SHELL,
    FORMAT_SLURM,
    FORMAT_KUBERNETES
};

/* What a question is about, once read. */
struct question {
    const struct rule_set *rules;
    const struct reading *reading;
    struct refusal refusal;
    struct estimate *base;
    enum format format;
    int64_t most; /* 0: not said */
};

static struct str trial_line(struct arena *a, const struct trial *t, size_t number)
{
    return arena_printf(a, "trial %zu: %.*s; estimated step %.2f s (%+.1f %%), %.1f GiB%s", number,
                        STR_ARG(t->what), t->step_s, 100 * (t->ratio - 1), t->peak / GIB,
                        t->fits == FITS_YES ? "" : ", tight in memory");
}

static void show_text(struct cmd_context *c, const struct sweep *s, const struct refusal *refusal)
{
    static const char *const verdicts[] = {"", ", tight in memory", ", does not fit"};
    refused_text(c, c->arguments[0], refusal, &c->out);
    buf_printf(&c->out, "baseline: estimated step %.2f s, %.1f GiB%s\n", s->step_s, s->peak / GIB,
               verdicts[s->fits]);
    for (size_t i = 0; i < s->n; i++) {
        const struct trial *t = &s->trials[i];
        bool single = t->changed == 1;
        if (i == 0 || single != (s->trials[i - 1].changed == 1))
            buf_add(&c->out, single ? STR("one change at a time, most worth trying first\n")
                                    : STR("then several together\n"));
        buf_printf(&c->out, "  %2zu. %-60.*s step %8.2f s (%+5.1f %%)  %5.1f GiB%s\n", i + 1,
                   STR_ARG(t->what), t->step_s, 100 * (t->ratio - 1), t->peak / GIB,
                   t->fits == FITS_YES ? "" : " tight");
    }
    buf_printf(
        &c->out,
        "%zu combinations looked at; %zu do not fit, %zu break a rule. Run each for 50 steps "
        "or more, with software,\ndata, global batch and routing held fixed; keep a change "
        "when it gains more than runs scatter.\n",
        s->tried, s->unfit, s->refused);
}

/* A YAML document, or a block of flags or overrides, a trial. That the plan they start from is
   refused stands in none of them. */
static void show_files(struct cmd_context *c, const struct rule_set *rules, const struct sweep *s,
                       const struct refusal *refusal, bool plans)
{
    refused_text(c, c->arguments[0], refusal, &c->err);
    for (size_t i = 0; i < s->n; i++) {
        struct str line = trial_line(c->keep, &s->trials[i], i + 1);
        const struct facts *f = convert_own(c->keep, rules, s->trials[i].facts, plans, c->scratch);
        struct emit_input in = {.rules = rules, .facts = f, .comments = &line, .n_comments = 1};
        bool yaml = plans || f->framework == FRAMEWORK_AUTOMODEL;
        if (i) buf_add(&c->out, yaml ? STR("---\n") : STR("\n"));
        if (plans)
            plan_out(c, &in);
        else
            emitter_of(f->framework)->write(&in, &c->out);
    }
}

static void show_json(struct cmd_context *c, const struct rule_set *rules, const struct sweep *s,
                      const struct refusal *refusal)
{
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    json_open(&w, "baseline", '{');
    json_number(&w, "step_s", s->step_s, 6);
    json_number(&w, "peak_gib", s->peak / GIB, 6);
    json_str(&w, "fits", str_of(memory_fits(s->fits)));
    refusal_json_member(&w, refusal);
    json_close(&w, '}');
    json_open(&w, "trials", '[');
    for (size_t i = 0; i < s->n; i++) {
        const struct trial *t = &s->trials[i];
        json_open(&w, NULL, '{');
        json_int(&w, "trial", (int64_t)i + 1);
        json_str(&w, "changes", t->what);
        json_int(&w, "changed", t->changed);
        json_number(&w, "step_s", t->step_s, 6);
        json_number(&w, "step_ratio", t->ratio, 6);
        json_number(&w, "peak_gib", t->peak / GIB, 6);
        json_str(&w, "fits", t->fits == FITS_YES ? STR("yes") : STR("tight"));
        json_number(&w, "worth", t->worth, 6);
        json_key(&w, "plan");
        plan_json_alone(c->keep, rules, t->facts, c->scratch, w.out);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_int(&w, "tried", (int64_t)s->tried);
    json_int(&w, "unfit", (int64_t)s->unfit);
    json_int(&w, "refused", (int64_t)s->refused);
    json_close(&w, '}');
    buf_add_char(&c->out, '\n');
}

static void show(struct cmd_context *c, const struct rule_set *rules, const struct sweep *s,
                 const struct refusal *refusal, enum format format)
{
    switch (format) {
    case FORMAT_TEXT: show_text(c, s, refusal); break;
    case FORMAT_PLAN: show_files(c, rules, s, refusal, true); break;
    case FORMAT_FLAGS: show_files(c, rules, s, refusal, false); break;
    case FORMAT_JSON: show_json(c, rules, s, refusal); break;
    case FORMAT_SHELL:
    case FORMAT_SLURM:
    case FORMAT_KUBERNETES: break; /* the loop's */
    }
}

static int list(struct cmd_context *c, const struct question *q)
{
    struct sweep s;
    size_t most = q->most ? (size_t)q->most : 12;
    sweep_plan(c->keep, q->rules, q->reading->facts, &q->base->config, most, c->scratch, &s);
    show(c, q->rules, &s, &q->refusal, q->format);
    return s.n ? refused_status(q->refusal.errors, s.fits) : STATUS_NO;
}

/* ---- the loop ---- */

static void show_measured(struct cmd_context *c, const struct sweep_loop *x)
{
    const struct loop_trial *best = &x->trials[x->best];
    for (size_t i = 0; i < x->n; i++) {
        const struct loop_trial *t = &x->trials[i];
        if (t->measured <= 0 && t->state != TRIAL_FAILED) continue;
        buf_printf(&c->out, "  %-8.*s %-60.*s", STR_ARG(t->id),
                   STR_ARG(t->what.n ? t->what : STR("the plan as it is")));
        if (t->measured > 0)
            buf_printf(&c->out, " %8.2f s, estimated %.2f (%+.1f %%)%s", t->measured,
                       t->plan->time.step, 100 * (t->measured / t->plan->time.step - 1),
                       t == best                ? "  <- best"
                       : t->state == TRIAL_LOST ? "  lost"
                                                : "");
        else
            buf_add(&c->out, STR(" failed"));
        buf_add_char(&c->out, '\n');
    }
}

static void show_next(struct cmd_context *c, const struct sweep_loop *x)
{
    const struct loop_trial *best = &x->trials[x->best];
    for (size_t i = 0; i < x->n; i++) {
        const struct loop_trial *t = &x->trials[i];
        if (t->state != TRIAL_NEXT) continue;
        buf_printf(&c->out, "  %-8.*s %-*.*s", STR_ARG(t->id), t == best ? 0 : 60,
                   STR_ARG(t->what.n ? t->what : STR("the plan as it is")));
        if (t != best)
            buf_printf(&c->out, " expected %8.2f s (%+.1f %%, give or take %.0f %%)%s",
                       exp(t->belief.mean), 100 * (exp(t->belief.mean - best->belief.mean) - 1),
                       100 * t->belief.sd, t->plan->fits == FITS_YES ? "" : ", tight in memory");
        buf_add_char(&c->out, '\n');
    }
}

static void show_loop(struct cmd_context *c, const struct question *q, const struct sweep_loop *x)
{
    size_t dropped = 0;
    for (size_t i = 0; i < x->n; i++)
        dropped += x->trials[i].state == TRIAL_DROPPED;
    refused_text(c, c->arguments[0], &q->refusal, &c->out);
    if (x->foreign.n)
        buf_printf(&c->err, "note: %.*s is a trial of another plan; it is left out\n",
                   LINE_ARG(c->keep, x->foreign));
    buf_printf(&c->out, "%zu measured, %zu failed; %zu of %zu others dropped\n", x->measured,
               x->failed, dropped, x->n - x->measured - x->failed);
    show_measured(c, x);
    if (x->measured) buf_printf(&c->out, "the runs take %.2f times the estimates\n", x->offset);
    if (x->finished) {
        buf_printf(&c->out,
                   "finished: what is left is expected to gain less than runs scatter (%.0f %%); "
                   "keep the best\n",
                   100 * x->scatter);
        return;
    }
    buf_printf(&c->out, "next %zu, %s\n", x->asked,
               x->measured ? "by what the measured ones say of them" : "by their estimates");
    show_next(c, x);
    buf_add(&c->out, STR("--format slurm, kubernetes or shell prints them as jobs\n"));
}

static void show_loop_json(struct cmd_context *c, const struct question *q,
                           const struct sweep_loop *x)
{
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    refusal_json_member(&w, &q->refusal);
    json_bool(&w, "finished", x->finished);
    json_str(&w, "best", x->trials[x->best].id);
    json_number(&w, "offset", x->offset, 6);
    json_number(&w, "scatter", x->scatter, 6);
    json_open(&w, "trials", '[');
    for (size_t i = 0; i < x->n; i++) {
        const struct loop_trial *t = &x->trials[i];
        json_open(&w, NULL, '{');
        trial_json_members(&w, t);
        json_number(&w, "expected_s", exp(t->belief.mean), 6);
        json_number(&w, "sd", t->belief.sd, 4);
        json_number(&w, "chance", t->chance, 4);
        json_key(&w, "plan");
        plan_json_alone(
            c->keep, q->rules,
            levers_facts(c->keep, q->reading->facts, &q->base->config, &t->plan->config),
            c->scratch, w.out);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_close(&w, '}');
    buf_add_char(&c->out, '\n');
}

static void show_jobs(struct cmd_context *c, const struct question *q, const struct sweep_loop *x,
                      struct str folder)
{
    struct trial_files *files = ARENA_ARRAY(c->keep, struct trial_files, x->n);
    struct trials_input in = {
        .rules = q->rules, .items = files, .results = folder, .scratch = c->scratch};
    in.runner = q->format == FORMAT_SLURM        ? TRIALS_SLURM
                : q->format == FORMAT_KUBERNETES ? TRIALS_KUBERNETES
                                                 : TRIALS_SHELL;
    for (size_t i = 0; i < x->n; i++) {
        const struct loop_trial *t = &x->trials[i];
        if (t->state != TRIAL_NEXT) continue;
        files[in.n++] = (struct trial_files){
            t->id, t->what,
            levers_facts(c->keep, q->reading->facts, &q->base->config, &t->plan->config)};
    }
    refused_text(c, c->arguments[0], &q->refusal, &c->err);
    if (in.n) emit_trials(&in, &c->out);
}

static int loop(struct cmd_context *c, const struct question *q)
{
    struct sweep_results results = {0};
    struct sweep_loop x;
    struct str folder = option_value(c, "results");
    size_t most = q->most ? (size_t)q->most : 3;
    if (most > SWEEP_NEXT) return cmd_usage_error(c, "--top must be at most %d here", SWEEP_NEXT);
    if (folder.n && !sweep_results_read(c, folder, &q->base->config, &results))
        return STATUS_CANNOT;
    sweep_loop(c->keep, q->rules, q->reading->facts, &q->base->config, results.items.items,
               results.items.n, most, c->scratch, &x);
    if (q->format == FORMAT_TEXT)
        show_loop(c, q, &x);
    else if (q->format == FORMAT_JSON)
        show_loop_json(c, q, &x);
    else
        show_jobs(c, q, &x, folder.n ? folder : STR("sweep-results"));
    if (folder.n && !sweep_state_write(c, folder, c->arguments[0], &x)) return STATUS_CANNOT;
    return refused_status(q->refusal.errors, FITS_YES);
}

static bool is_of_the_loop(const struct cmd_context *c, enum format format)
{
    return option_given(c, "results") || format >= FORMAT_SHELL;
}

/* What the trials are changes of. */
static int start(struct cmd_context *c, struct question *q)
{
    const struct program *program = &q->reading->facts->program;
    struct str does = program_does_otherwise(program);
    if (does.n)
        return cmd_usage_error(c, "%.*s %.*s: there is no step to make faster",
                               STR_ARG(program->script), STR_ARG(does));
    q->refusal = refusal_find(c->keep, q->rules, q->reading, c->scratch);
    estimate_facts(c->keep, q->rules, q->reading->facts, c->scratch, q->base);
    if (!q->base->complete) return cmd_usage_error(c, "%.*s", STR_ARG(q->base->missing));
    /* a trial is what its file says, as a suggested plan is, and that file leaves gradients open
       where this one does */
    q->base->config.unstated &= UNSTATED_GRADIENTS;
    return STATUS_OK;
}

static int run(struct cmd_context *c)
{
    enum { MOST = 256 };
    struct read_options options;
    struct question q = {.base = ARENA_NEW(c->keep, struct estimate)};
    int format;
    if (!option_choice(c, "format", &format) || !option_int(c, "top", 1, &q.most) ||
        !recipe_options(c, &options) || !cmd_load_rules(c, &q.rules))
        return STATUS_CANNOT;
    q.format = (enum format)format;
    if (q.most > MOST) return cmd_usage_error(c, "--top must be at most %d", MOST);
    if (option_given(c, "results") && (q.format == FORMAT_PLAN || q.format == FORMAT_FLAGS))
        return cmd_usage_error(c, "--results answers as text, json, shell, slurm or kubernetes");
    q.reading = load_reading(c, c->arguments[0], option_value(c, "as"), &options);
    if (!q.reading || !recipe_settings_used(c, &options)) return STATUS_CANNOT;
    int status = start(c, &q);
    if (status != STATUS_OK) return status;
    return is_of_the_loop(c, q.format) ? loop(c, &q) : list(c, &q);
}

static const struct option options[] = {
    {"top", "N", "trials to list (12), or to run next (3)"},
    {"format", "text|plan|flags|json|shell|slurm|kubernetes",
     "a list, plan files, files of the plan's framework, or the next trials as jobs"},
    {"results", "DIR", "read the logs of trials that came back, and say what to run next"},
    RECIPE_OPTIONS(RECIPE_FORMATS),
    {0},
};

const struct command command_sweep = {
    .name = "sweep",
    .arguments = "PLAN",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "plan.yaml",
    .help = "The trials worth running next on a plan that works, and what came of them",
    .details = "PLAN is a plan file or any recipe that validate reads; - is standard input. Every "
               "trial fits and passes\n"
               "the rules. One change at a time comes first, in the order of expected improvement; "
               "then pairs. Exit 1 when\n"
               "there is none, or PLAN itself would be refused or does not fit. As jobs the plan "
               "itself comes first. --results\n"
               "reads DIR/TRIAL/log*.txt, learns from what was measured, drops what lost and stops "
               "where the rest is within the\n"
               "scatter of runs; the state is kept in DIR/sweep.json.\n",
    .options = options,
    .loads_rules = true,
    .run = run,
};
