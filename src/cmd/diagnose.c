/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose: metrics or a training log, and a plan -> wall, evidence, fixes. */
#include <math.h>

#include "base/io.h"
#include "base/quote.h"
#include "base/units.h"
#include "cmd/diagnose_run.h"
#include "cmd/load.h"
#include "cmd/refused.h"
#include "emit/emit.h"
#include "emit/json_writer.h"
#include "emit/plan_json.h"
#include "flow/diagnose.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

static bool read_metrics(struct cmd_context *c, const struct rule_set *rules, struct str path,
                         struct diagnosed *d)
{
    struct str error, why;
    struct diagnose_text *text = diagnose_text_new(c->scratch, d, rules);
    path = str_dup(c->keep, path);
    if (!io_stream(c->keep, path.p, diagnose_text_piece, text, &error))
        return cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(path), STR_ARG(error)),
               false;
    bool good = diagnose_text_end(text, path, &why);
    if (why.n) cmd_usage_error(c, "%.*s", STR_ARG(why));
    return good;
}

/* ---- text ---- */

static void add_symptoms(struct cmd_context *c, const struct diagnosis *d, enum wall wall)
{
    for (size_t i = 0; i < d->evidence[wall].n; i++) {
        const struct symptom *s = &d->evidence[wall].items[i];
        const struct rule *r = s->rule;
        buf_printf(&c->out, "  %.*s", LINE_ARG(c->keep, r->message));
        if (r->parameter >= 0)
            buf_printf(&c->out, ": %.*s %.*s", STR_ARG(param_table[r->parameter].name),
                       LINE_ARG(c->keep, s->value));
        buf_printf(&c->out, " [%.*s]\n", STR_ARG(r->id));
        if (r->help.n) buf_printf(&c->out, "    help: %.*s\n", LINE_ARG(c->keep, r->help));
    }
}

static void add_prediction(struct cmd_context *c, const struct diagnosis *d, const struct fix *fix)
{
    if (fix->refused) {
        buf_printf(&c->out, "\n     not on this plan: %.*s [%.*s]", LINE_ARG(c->keep, fix->refusal),
                   STR_ARG(fix->refused->id));
        return;
    }
    if (!fix->predicted) return;
    static const char *const verdicts[] = {"", ", tight", ", does not fit"};
    buf_printf(&c->out,
               "\n     estimated: step %.2f -> %.2f s (%+.1f %%), memory %.1f -> %.1f GiB%s",
               d->step_s, fix->step_s, 100 * (fix->step_s / d->step_s - 1), d->peak / GIB,
               fix->peak / GIB, verdicts[fix->fits]);
}

static void add_fixes(struct cmd_context *c, const struct diagnosis *d)
{
    for (size_t i = 0; i < d->fixes.n; i++) {
        const struct fix *fix = &d->fixes.items[i];
        buf_printf(&c->out, "  %zu. %.*s", i + 1, LINE_ARG(c->keep, fix->rule->message));
        if (fix->rule->n_guides)
            buf_printf(&c->out, " [%.*s]", STR_ARG(fix->rule->guides[fix->rule->n_guides - 1]));
        for (size_t k = 0; k < fix->changes.n; k++) {
            const struct change *change = &fix->changes.items[k];
            struct str value = emit_scalar(c->keep, change->value);
            buf_printf(&c->out, "%s%.*s = %.*s", k ? ", " : "\n     ",
                       STR_ARG(param_table[change->param].name), LINE_ARG(c->keep, value));
        }
        add_prediction(c, d, fix);
        buf_add_char(&c->out, '\n');
    }
}

static void add_missing(struct cmd_context *c, const struct diagnosis *d)
{
    if (d->missing.n == 0) return;
    buf_add(&c->out, STR("not given, would tell more: "));
    for (size_t i = 0; i < d->missing.n; i++)
        buf_printf(&c->out, "%s%.*s", i ? ", " : "",
                   STR_ARG(param_table[d->missing.items[i]].name));
    buf_add_char(&c->out, '\n');
}

/* What the fixes stand on. */
static void add_plan(struct cmd_context *c, const struct diagnosed *x)
{
    refused_text(c, option_value(c, "plan"), &x->refusal, &c->out);
    if (x->fits == FITS_NO)
        buf_printf(&c->out, "the plan does not fit by its estimate: %.1f GiB per GPU\n",
                   x->found.peak / GIB);
}

static void show_text(struct cmd_context *c, const struct diagnosed *x)
{
    const struct diagnosis *d = &x->found;
    add_plan(c, x);
    diagnose_show_run(c, x);
    if (d->wall == WALL_NONE)
        buf_add(&c->out, STR("wall: none in sight\n"));
    else
        buf_printf(&c->out, "wall: %s\n", wall_name(d->wall));
    for (int i = 0; i < WALL_NONE; i++)
        if ((enum wall)i == d->wall) add_symptoms(c, d, (enum wall)i);
    for (int i = 0; i < WALL_NONE; i++) {
        if ((enum wall)i == d->wall || d->evidence[i].n == 0) continue;
        buf_printf(&c->out, "also seen: %s\n", wall_name((enum wall)i));
        add_symptoms(c, d, (enum wall)i);
    }
    if (d->evidence[WALL_NONE].n) buf_add(&c->out, STR("thresholds crossed\n"));
    add_symptoms(c, d, WALL_NONE);
    if (d->fixes.n) buf_add(&c->out, STR("fixes, in order; one at a time\n"));
    add_fixes(c, d);
    add_missing(c, d);
    if (d->wall != WALL_NONE)
        buf_printf(
            &c->out,
            "then expect %s; profile again: 50 steps or more, with software, data, batch and "
            "routing held fixed\n",
            wall_name(d->next));
}

/* ---- JSON ---- */

static void add_json_symptoms(struct json_writer *w, const struct diagnosis *d, bool of_wall)
{
    json_open(w, of_wall ? "evidence" : "findings", '[');
    for (int i = 0; i <= WALL_NONE; i++) {
        for (size_t k = 0; k < d->evidence[i].n; k++) {
            const struct symptom *s = &d->evidence[i].items[k];
            if (((enum wall)i == d->wall && i != WALL_NONE) != of_wall) continue;
            json_open(w, NULL, '{');
            json_str(w, "rule", s->rule->id);
            json_str(w, "wall", str_of(wall_name((enum wall)i)));
            json_str(w, "message", s->rule->message);
            if (s->rule->parameter >= 0) {
                json_str(w, "metric", param_table[s->rule->parameter].name);
                json_str(w, "value", s->value);
            }
            json_optional_str(w, "help", s->rule->help);
            json_strs(w, "guides", s->rule->guides, s->rule->n_guides);
            json_close(w, '}');
        }
    }
    json_close(w, ']');
}

static void add_json_fix(struct json_writer *w, const struct diagnosis *d, const struct fix *fix)
{
    json_open(w, NULL, '{');
    json_str(w, "rule", fix->rule->id);
    json_str(w, "text", fix->rule->message);
    json_strs(w, "guides", fix->rule->guides, fix->rule->n_guides);
    json_open(w, "changes", '{');
    for (size_t i = 0; i < fix->changes.n; i++)
        json_value(w, param_table[fix->changes.items[i].param].name.p, fix->changes.items[i].value);
    json_close(w, '}');
    if (fix->refused) json_str(w, "refused_by", fix->refused->id);
    if (fix->predicted && !fix->refused) {
        json_open(w, "effect", '{');
        json_number(w, "step_s", fix->step_s, 6);
        json_number(w, "step_ratio", fix->step_s / d->step_s, 6);
        json_number(w, "peak_gib", fix->peak / GIB, 6);
        json_number(w, "peak_change_gib", (fix->peak - d->peak) / GIB, 6);
        json_close(w, '}');
    }
    json_close(w, '}');
}

/* "plan": null without one; whether it fits is null where it is incomplete. */
static void add_json_plan(struct json_writer *w, const struct diagnosed *x)
{
    if (!x->planned) {
        json_null(w, "plan");
        return;
    }
    json_open(w, "plan", '{');
    refusal_json_member(w, &x->refusal);
    if (x->found.costed)
        json_str(w, "fits", str_of(memory_fits(x->fits)));
    else
        json_null(w, "fits");
    json_close(w, '}');
}

static void show_json(struct cmd_context *c, const struct diagnosed *x)
{
    const struct diagnosis *d = &x->found;
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    add_json_plan(&w, x);
    diagnose_json_run(&w, x);
    json_str(&w, "wall", str_of(wall_name(d->wall)));
    add_json_symptoms(&w, d, true);
    add_json_symptoms(&w, d, false);
    json_open(&w, "fixes", '[');
    for (size_t i = 0; i < d->fixes.n; i++)
        add_json_fix(&w, d, &d->fixes.items[i]);
    json_close(&w, ']');
    json_open(&w, "missing", '[');
    for (size_t i = 0; i < d->missing.n; i++)
        json_str(&w, NULL, param_table[d->missing.items[i]].name);
    json_close(&w, ']');
    json_str(&w, "then_expect", str_of(wall_name(d->next)));
    json_close(&w, '}');
    buf_add_char(&c->out, '\n');
}

/* ---- the command ---- */

static int run(struct cmd_context *c)
{
    struct read_options options;
    const struct rule_set *rules;
    const struct reading *plan = NULL;
    struct diagnosed x;
    int format;
    if (!option_choice(c, "format", &format) || !recipe_options(c, &options) ||
        !cmd_load_rules(c, &rules))
        return STATUS_CANNOT;
    if (option_given(c, "plan") &&
        !(plan = load_reading(c, option_value(c, "plan"), STR(""), &options)))
        return STATUS_CANNOT;
    if (!diagnose_begin(c->keep, c->scratch, &c->diags, rules, plan, &options, &x) ||
        !recipe_settings_used(c, &options))
        return STATUS_CANNOT;
    for (size_t i = 0; i < c->n_arguments; i++)
        if (!read_metrics(c, rules, c->arguments[i], &x)) return STATUS_CANNOT;
    diagnose(c->keep, c->scratch, rules, &x);
    if (format == FORMAT_JSON)
        show_json(c, &x);
    else
        show_text(c, &x);
    return refused_status(x.refusal.errors, x.fits);
}

static const struct option options[] = {
    {"plan", "FILE", "the plan or recipe that ran: fixes are tried on it"},
    {"gpus", "N", "number of GPUs of the run"},
    {"platform", "P", "GPU platform: h100, gb200, … or a platform file"},
    {"model", "MODEL", "the model: a catalogue name, a config.json or a model file"},
    {"framework", "NAME", "megatron, bridge or automodel, where the plan does not say"},
    {"framework-version", "V", "version of the framework (moeplan version lists them)"},
    {"set", "NAME=VALUE", "state a fact of the run (repeatable)"},
    {"env", "NAME=VALUE", "an environment variable of the run (repeatable)"},
    {"format", "text|json", "how to print"},
    {0},
};

const struct command command_diagnose = {
    .name = "diagnose",
    .arguments = "METRICS…",
    .min_arguments = 1,
    .max_arguments = -1,
    .examples = "metrics.yaml --plan plan.yaml",
    .help = "Whether a run is as fast as it should be, what limits it, and fixes in order",
    .details = "METRICS are training logs of Megatron-LM, Megatron-Bridge or NeMo AutoModel of any "
               "size, Chrome traces of\n"
               "PyTorch's profiler, CSV of nsys stats (cuda_gpu_trace, cuda_gpu_kern_sum), or YAML "
               "or JSON mappings of the\n"
               "metrics in docs/metrics.md; - is standard input. With --plan the run is held "
               "against the estimate and each\n"
               "fix is tried on the plan; exit 1 then says that it would be refused or does not "
               "fit.\n",
    .options = options,
    .loads_rules = true,
    .run = run,
};
