/* SPDX-License-Identifier: Apache-2.0 */
/* sweep: plan -> trials in the order worth running -> list, plan files, or flags. */
#include "choose/sweep.h"

#include "base/quote.h"
#include "base/units.h"
#include "cmd/load.h"
#include "cmd/plan_out.h"
#include "cmd/refused.h"
#include "emit/json_writer.h"
#include "emit/plan_json.h"
#include "flow/estimate.h"

enum format { FORMAT_TEXT, FORMAT_PLAN, FORMAT_FLAGS, FORMAT_JSON };

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
    int changed = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct trial *t = &s->trials[i];
        if (t->changed != changed)
            buf_add(&c->out, t->changed == 1
                                 ? STR("one change at a time, most worth trying first\n")
                                 : STR("then two together\n"));
        changed = t->changed;
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
        struct emit_input in = {
            .rules = rules, .facts = s->trials[i].facts, .comments = &line, .n_comments = 1};
        bool yaml = plans || in.facts->framework == FRAMEWORK_AUTOMODEL;
        if (i) buf_add(&c->out, yaml ? STR("---\n") : STR("\n"));
        if (plans)
            plan_out(c, &in);
        else
            emitter_of(in.facts->framework)->write(&in, &c->out);
    }
}

static void show_json(struct cmd_context *c, const struct rule_set *rules, const struct sweep *s,
                      const struct refusal *refusal)
{
    static const char *const verdicts[] = {"yes", "tight", "no"};
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    json_open(&w, "baseline", '{');
    json_number(&w, "step_s", s->step_s, 6);
    json_number(&w, "peak_gib", s->peak / GIB, 6);
    json_str(&w, "fits", str_of(verdicts[s->fits]));
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
        plan_json_alone(c->keep, rules, t->facts, w.out);
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
    }
}

static int run(struct cmd_context *c)
{
    enum { MOST = 256 };
    struct read_options options;
    const struct rule_set *rules;
    struct estimate *base = ARENA_NEW(c->keep, struct estimate);
    struct sweep s;
    int format;
    int64_t most = 12;
    if (!option_choice(c, "format", &format) || !option_int(c, "top", 1, &most) ||
        !recipe_options(c, &options) || !cmd_load_rules(c, &rules))
        return STATUS_CANNOT;
    if (most > MOST) return cmd_usage_error(c, "--top must be at most %d", MOST);
    const struct reading *reading =
        load_reading(c, c->arguments[0], option_value(c, "as"), &options);
    if (!reading || !recipe_settings_used(c, &options)) return STATUS_CANNOT;
    const struct facts *f = reading->facts;
    struct refusal refusal = refusal_find(c->keep, rules, reading, c->scratch);
    estimate_facts(c->keep, rules, f, c->scratch, base);
    if (!base->complete) return cmd_usage_error(c, "%.*s", STR_ARG(base->missing));
    sweep_plan(c->keep, rules, f, &base->config, (size_t)most, c->scratch, &s);
    show(c, rules, &s, &refusal, (enum format)format);
    return s.n ? refused_status(refusal.errors, s.fits) : STATUS_NO;
}

static const struct option options[] = {
    {"top", "N", "trials to list (12)"},
    {"format", "text|plan|flags|json", "a list, plan files, or files of the plan's framework"},
    RECIPE_OPTIONS(RECIPE_FORMATS),
    {0},
};

const struct command command_sweep = {
    .name = "sweep",
    .arguments = "PLAN",
    .min_arguments = 1,
    .max_arguments = 1,
    .help = "The trials worth running next: micro-batch, recomputation, CUDA graphs, dispatcher",
    .details = "PLAN is a plan file or any recipe that validate reads; - is standard input. Every "
               "trial fits and passes\n"
               "the rules. One change at a time comes first, in the order of expected improvement; "
               "then pairs. Exit 1 when\n"
               "there is none, or PLAN itself would be refused or does not fit.\n",
    .options = options,
    .loads_rules = true,
    .run = run,
};
