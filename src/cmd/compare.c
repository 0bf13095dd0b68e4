/* SPDX-License-Identifier: Apache-2.0 */
/* compare: two recipes -> facts -> differences and costs, side by side. */
#include <math.h>

#include "base/quote.h"
#include "base/table.h"
#include "base/units.h"
#include "cmd/compare_many.h"
#include "cmd/load.h"
#include "cmd/refused.h"
#include "cmd/wishes.h"
#include "emit/bill.h"
#include "emit/emit.h"
#include "emit/json_writer.h"
#include "emit/plan_json.h"
#include "flow/compare.h"

struct pair {
    const struct rule_set *rules;
    const struct bill_wish *wish;
    struct str paths[2];
    struct estimate sides[2];
    struct comparison comparison;
    bool equal;
};

/* ---- text ---- */

static struct str shown(struct arena *a, struct value v)
{
    return v.kind == VALUE_UNKNOWN ? STR("not said") : emit_scalar(a, v);
}

static const struct table_column columns[] = {
    {"", false, 0}, {"first", false, 0}, {"second", false, 0}, {"difference", true, 1}};

/* The four cells of a row; what stands below a title is indented. */
static void add_cells(struct table *t, struct str name, struct str a, struct str b,
                      struct str difference)
{
    table_printf(t, "  %.*s", STR_ARG(name));
    table_add(t, a);
    table_add(t, b);
    table_add(t, difference);
}

static void add_title(struct table *t, struct str title)
{
    table_printf(t, MARK_HEADING "%.*s" MARK_END, STR_ARG(title));
    table_skip(t, t->n_columns - 1);
}

static void add_differences(struct table *t, const struct comparison *x, enum param_effect affects,
                            struct str title)
{
    bool first = true;
    for (size_t i = 0; i < x->differences.n; i++) {
        const struct difference *d = &x->differences.items[i];
        const struct param *p = &param_table[d->param];
        if (p->affects != affects) continue;
        if (first) add_title(t, title);
        first = false;
        struct str old = shown(t->arena, d->a), new = shown(t->arena, d->b);
        add_cells(t, p->name, quote_line(t->arena, old), quote_line(t->arena, new), STR(""));
    }
}

struct row {
    const char *name;
    double a, b;
};

static void add_row(struct table *t, const struct row *r)
{
    bool both = r->a > 0 && r->b > 0;
    add_cells(t, str_of(r->name), arena_printf(t->arena, "%.6g", r->a),
              arena_printf(t->arena, "%.6g", r->b),
              both ? arena_printf(t->arena, "%+.1f %%", 100 * (r->b / r->a - 1)) : STR(""));
}

static double rounded(double x, int digits)
{
    double scale = pow(10, digits);
    return round(x * scale) / scale;
}

static double tokens_of(const struct estimate *x)
{
    return (double)x->config.knobs.gbs * x->config.knobs.seq;
}

static void add_costs(struct table *t, const struct estimate *a, const struct estimate *b)
{
    double days = 1e9 / 3600;
    const struct row rows[] = {
        {"tokens/s/GPU", rounded(a->time.tokens_per_s_per_gpu, 1),
         rounded(b->time.tokens_per_s_per_gpu, 1)},
        {"GPU hours for 10^9 tokens", rounded(days / a->time.tokens_per_s_per_gpu, 1),
         rounded(days / b->time.tokens_per_s_per_gpu, 1)},
        {"tokens per step, millions", rounded(tokens_of(a) / 1e6, 3),
         rounded(tokens_of(b) / 1e6, 3)},
        {"step time, s", rounded(a->time.step, 3), rounded(b->time.step, 3)},
        {"model TFLOP/s/GPU", rounded(a->time.model_flops_per_gpu / 1e12, 1),
         rounded(b->time.model_flops_per_gpu / 1e12, 1)},
        {"MFU, % of the format's peak", rounded(100 * a->time.mfu, 2),
         rounded(100 * b->time.mfu, 2)},
        {"memory peak, GiB", rounded(a->memory.peak / GIB, 1), rounded(b->memory.peak / GIB, 1)},
    };
    add_title(t, STR("estimates"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_row(t, &rows[i]);
    add_cells(t, STR("memory"), str_of(memory_verdict((int)a->memory.fits)),
              str_of(memory_verdict((int)b->memory.fits)), STR(""));
}

/* What a run takes with each, where the wish says how much is trained. */
static void add_bills(struct table *t, const struct pair *x)
{
    struct bill bills[2];
    if (!bill_wanted(x->wish)) return;
    for (int i = 0; i < 2; i++)
        bills[i] = wish_bill(x->wish, x->sides[i].facts->platform, &x->sides[i].config.knobs,
                             &x->sides[i].time);
    const struct bill *a = &bills[0], *b = &bills[1];
    const struct row rows[] = {
        {"days", rounded(a->days.value, 2), rounded(b->days.value, 2)},
        {"  the short end", rounded(a->days.low, 2), rounded(b->days.low, 2)},
        {"  the long end", rounded(a->days.high, 2), rounded(b->days.high, 2)},
        {"GPU hours", rounded(a->gpu_hours.value, 0), rounded(b->gpu_hours.value, 0)},
        {"cost", rounded(a->cost.value, 0), rounded(b->cost.value, 0)},
        {"energy, kWh", rounded(a->energy_kwh.value, 0), rounded(b->energy_kwh.value, 0)},
        {"goodput, %", rounded(100 * a->goodput.value, 1), rounded(100 * b->goodput.value, 1)},
    };
    add_title(t, arena_printf(t->arena, "to train %.*s tokens",
                              STR_ARG(bill_number(t->arena, a->tokens))));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].a > 0 || rows[i].b > 0) add_row(t, &rows[i]);
}

/* "the second is 12 % faster by useful tokens": what the two are ranked by. */
static void add_verdict(struct cmd_context *c, const struct estimate *a, const struct estimate *b)
{
    double gain = b->time.tokens_per_s_per_gpu / a->time.tokens_per_s_per_gpu - 1;
    if (fabs(gain) < 0.01)
        buf_add(&c->out, STR("by useful tokens they are as fast as each other\n"));
    else
        buf_printf(&c->out, "by useful tokens the %s is %.1f %% faster\n",
                   gain > 0 ? "second" : "first", 100 * (gain > 0 ? gain : 1 / (1 + gain) - 1));
    if (compare_is_tie(a->time.tokens_per_s_per_gpu, b->time.tokens_per_s_per_gpu))
        buf_add(&c->out, STR("  which is a tie to the estimate: measure both\n"));
}

static void add_table(struct cmd_context *c, const struct pair *x)
{
    struct table t = table_new(c->keep, columns, sizeof columns / sizeof *columns);
    add_differences(&t, &x->comparison, AFFECTS_CONVERGENCE, STR("what changes convergence"));
    add_differences(&t, &x->comparison, AFFECTS_EXECUTION, STR("what changes execution only"));
    if (x->sides[0].complete && x->sides[1].complete) {
        add_costs(&t, &x->sides[0], &x->sides[1]);
        add_bills(&t, x);
    }
    if (t.cells.n) table_print(&t, c->view.width, &c->out);
}

static void show_text(struct cmd_context *c, const struct pair *x)
{
    const struct estimate *a = &x->sides[0], *b = &x->sides[1];
    for (int i = 0; i < 2; i++) {
        if (x->sides[i].refusal.errors)
            buf_printf(&c->out, "%.*s is ", LINE_ARG(c->keep, x->paths[i]));
        refused_text(c, x->paths[i], &x->sides[i].refusal, &c->out);
    }
    if (x->equal) buf_add(&c->out, STR("the two are the same configuration\n"));
    add_table(c, x);
    if (a->complete && b->complete && !x->equal) add_verdict(c, a, b);
    for (int i = 0; i < 2; i++)
        if (!x->sides[i].complete)
            buf_printf(&c->out, "%.*s has no estimate: %.*s\n", LINE_ARG(c->keep, x->paths[i]),
                       LINE_ARG(c->keep, x->sides[i].missing));
    for (size_t i = 0; i < x->comparison.advice.n; i++) {
        const struct remark *remark = &x->comparison.advice.items[i];
        buf_printf(&c->out, "note: %.*s [%.*s]\n", LINE_ARG(c->keep, remark->text),
                   STR_ARG(remark->guide));
    }
}

/* ---- JSON ---- */

static void add_json_differences(struct json_writer *w, const struct comparison *x)
{
    json_open(w, "differences", '[');
    for (size_t i = 0; i < x->differences.n; i++) {
        const struct difference *d = &x->differences.items[i];
        const struct param *p = &param_table[d->param];
        json_open(w, NULL, '{');
        json_str(w, "parameter", p->name);
        json_optional_str(w, "symbol", p->symbol);
        json_str(w, "affects",
                 p->affects == AFFECTS_CONVERGENCE ? STR("convergence") : STR("execution"));
        json_value(w, "a", d->a);
        json_value(w, "b", d->b);
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void add_json_estimates(struct cmd_context *c, struct json_writer *w, const struct pair *x)
{
    static const char *const names[] = {"a", "b"};
    json_open(w, "estimates", '{');
    for (int i = 0; i < 2; i++) {
        const struct estimate *side = &x->sides[i];
        if (!side->complete) {
            json_null(w, names[i]);
            continue;
        }
        json_key(w, names[i]);
        struct tree t;
        tree_open(&t, c->keep);
        estimate_json(&t, t.root, x->rules, side->facts, &side->config, &side->memory, &side->time,
                      &side->evidence);
        refusal_json(&t, t.root, &x->sides[i].refusal);
        if (bill_wanted(x->wish)) {
            struct bill bill =
                wish_bill(x->wish, side->facts->platform, &side->config.knobs, &side->time);
            bill_json(&t, t.root, &bill);
        }
        tree_print(&t, w->out);
    }
    json_close(w, '}');
}

static void add_json_throughput(struct json_writer *w, const struct pair *x)
{
    const struct estimate *a = &x->sides[0], *b = &x->sides[1];
    if (!a->complete || !b->complete) {
        json_null(w, "by_useful_tokens");
        return;
    }
    json_open(w, "by_useful_tokens", '{');
    json_number(w, "tokens_per_step_a", tokens_of(a), 15);
    json_number(w, "tokens_per_step_b", tokens_of(b), 15);
    json_number(w, "tokens_per_s_per_gpu_a", a->time.tokens_per_s_per_gpu, 6);
    json_number(w, "tokens_per_s_per_gpu_b", b->time.tokens_per_s_per_gpu, 6);
    json_number(w, "b_over_a", b->time.tokens_per_s_per_gpu / a->time.tokens_per_s_per_gpu, 6);
    json_close(w, '}');
}

static void show_json(struct cmd_context *c, const struct pair *x)
{
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    json_bool(&w, "equal", x->equal);
    add_json_differences(&w, &x->comparison);
    add_json_throughput(&w, x);
    json_open(&w, "advice", '[');
    for (size_t i = 0; i < x->comparison.advice.n; i++) {
        json_open(&w, NULL, '{');
        json_str(&w, "guide", x->comparison.advice.items[i].guide);
        json_str(&w, "text", x->comparison.advice.items[i].text);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    add_json_estimates(c, &w, x);
    json_close(&w, '}');
    buf_add_char(&c->out, '\n');
}

/* ---- the command ---- */

/* The same configuration, and one that runs. */
static int exit_status(const struct pair *x)
{
    if (!x->equal) return STATUS_NO;
    bool refused = x->sides[0].refusal.errors || x->sides[1].refusal.errors;
    return refused_status(refused, x->sides[0].complete ? (int)x->sides[0].memory.fits : FITS_YES);
}

static int compare_two(struct cmd_context *c, const struct rule_set *rules,
                       const struct candidate *items, const struct bill_wish *wish,
                       enum compare_format format)
{
    struct pair *x = ARENA_NEW(c->keep, struct pair);
    *x = (struct pair){.rules = rules, .wish = wish, .comparison = items[1].against};
    for (int i = 0; i < 2; i++) {
        x->paths[i] = items[i].path;
        x->sides[i] = items[i].estimate;
    }
    x->equal = x->comparison.differences.n == 0;
    if (format == COMPARE_JSON)
        show_json(c, x);
    else
        show_text(c, x);
    return exit_status(x);
}

/* The files that are compared, the baseline first; false with a usage error. */
static bool paths_of(struct cmd_context *c, struct candidate *items, size_t *n)
{
    *n = 0;
    if (option_given(c, "baseline")) items[(*n)++].path = option_value(c, "baseline");
    for (size_t i = 0; i < c->n_arguments; i++)
        items[(*n)++].path = c->arguments[i];
    if (*n < 2) cmd_usage_error(c, "missing argument: moeplan compare A B, or --baseline A B");
    return *n >= 2;
}

static bool fill(struct cmd_context *c, const struct rule_set *rules,
                 const struct read_options *options, const struct candidate *base,
                 struct candidate *x)
{
    const struct reading *reading = load_reading(c, x->path, option_value(c, "as"), options);
    if (!reading) return false;
    estimate_facts(c->keep, rules, reading->facts, c->scratch, &x->estimate);
    x->estimate.refusal = refusal_find(c->keep, rules, reading, c->scratch);
    if (x != base)
        compare_configurations(c->keep, rules, &base->estimate, &x->estimate, c->scratch,
                               &x->against);
    return true;
}

static int run(struct cmd_context *c)
{
    struct read_options options;
    const struct rule_set *rules;
    struct candidate *items = ARENA_ARRAY(c->keep, struct candidate, c->n_arguments + 1);
    struct bill_wish wish = {0};
    size_t n;
    int format;
    if (!option_choice(c, "format", &format) || !paths_of(c, items, &n) ||
        !recipe_options(c, &options) || !wishes_given(c, &wish) || !cmd_load_rules(c, &rules))
        return STATUS_CANNOT;
    for (size_t i = 0; i < n; i++)
        if (!fill(c, rules, &options, &items[0], &items[i])) return STATUS_CANNOT;
    if (!recipe_settings_used(c, &options)) return STATUS_CANNOT;
    return n == 2 ? compare_two(c, rules, items, &wish, (enum compare_format)format)
                  : compare_many(c, rules, items, n, &wish, (enum compare_format)format);
}

static const struct option options[] = {
    {"gpus", "N", "number of GPUs of both runs"},
    {"platform", "P", "GPU platform of both: h100, gb200, … or a platform file"},
    {"model", "MODEL", "the model of both: a catalogue name, a config.json or a model file"},
    {"framework", "NAME", "megatron, bridge or automodel, where a file does not say"},
    {"framework-version", "V", "version of the framework (moeplan version lists them)"},
    {"as", "FORMAT", RECIPE_FORMATS " instead of telling by the content"},
    {"set", "NAME=VALUE", "state a fact the files do not hold, or override one (repeatable)"},
    {"env", "NAME=VALUE", "an environment variable of both runs (repeatable)"},
    {"reserve-memory", "GIB", "memory of each GPU that something else holds: an inference engine"},
    WISH_OPTIONS,
    {"baseline", "FILE", "what all files are compared with, instead of the first"},
    {"format", "text|json", "how to print"},
    {0},
};

const struct command command_compare = {
    .name = "compare",
    .arguments = "A B…",
    .min_arguments = 1,
    .max_arguments = -1,
    .examples = "before.yaml after.yaml",
    .help = "Configurations side by side: what differs, and what each costs",
    .details =
        "Files are plan files or recipes that validate reads. Parameters are split into what "
        "changes\n"
        "convergence and what changes execution only; speeds are compared by useful tokens. More "
        "than two are\n"
        "each set against the first, or the --baseline. Exit 0 when all are the same, 1 when they "
        "differ or\n"
        "would be refused or do not fit.\n",
    .options = options,
    .loads_rules = true,
    .run = run,
};
