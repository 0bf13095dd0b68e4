/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/diagnose.h"

#include "base/edit.h"
#include "facts/check.h"
#include "facts/line.h"
#include "facts/param_ids.h"
#include "facts/profile.h"

/* Those of a framework's defaults, where no plan is known. */
static struct facts *default_facts(struct arena *a, struct diags *diags,
                                   const struct read_options *options)
{
    enum framework framework = options->framework_given ? options->framework : FRAMEWORK_MEGATRON;
    struct facts *f = facts_new(a, diags, framework, profile_find(framework, STR(""))->version);
    f->format = STR("plan");
    return read_options_apply(f, options) ? f : NULL;
}

bool diagnose_begin(struct arena *a, struct arena *scratch, struct diags *diags,
                    const struct rule_set *rules, const struct reading *plan,
                    const struct read_options *options, struct diagnosed *out)
{
    *out = (struct diagnosed){.planned = plan};
    if (plan) out->refusal = refusal_find(a, rules, plan, scratch);
    out->facts = plan ? plan->facts : default_facts(a, diags, options);
    if (!out->facts) return false;
    facts_add_raw(out->facts, STR("metrics"), value_bool(true)); /* what rules/diagnose waits for */
    return true;
}

/* ---- metrics ---- */

static void unknown_metric(struct facts *f, const struct node *key)
{
    struct edit_nearest nearest = {.word = key->text};
    for (uint32_t i = 0; i < param_count; i++) {
        if (param_table[i].scope != SCOPE_METRIC) continue;
        edit_offer(&nearest, param_table[i].name);
        for (size_t k = 0; k < param_table[i].n_aliases; k++)
            edit_offer(&nearest, param_table[i].aliases[k]);
    }
    struct diag *d = diag_add(f->diags, SEVERITY_ERROR, "unknown-key", node_span(f->diags, key),
                              "no metric is called %.*s", STR_ARG(key->text));
    if (nearest.best.n)
        diag_suggest(f->diags, d, nearest.best);
    else
        diag_help(f->diags, d, "docs/metrics.md lists them");
}

/* One metric, a number in its own unit: 71 % is written 71. */
static void read_metric(struct facts *f, const struct node *key, const struct node *value)
{
    int param = param_find(key->text);
    if (param < 0 || param_table[param].scope != SCOPE_METRIC) {
        unknown_metric(f, key);
        return;
    }
    struct value v = node_value(f->arena, value, SCALAR_CORE);
    struct span at = node_span(f->diags, value);
    if (value_check_own(f->arena, f->diags, &param_table[param], &v, at, key->text))
        facts_set(f, param, v, ORIGIN_FILE, value, key->text);
}

static bool read_mapping(struct diagnosed *d, struct str path, struct str text, struct str *why)
{
    struct facts *f = d->facts;
    struct diags *diags = f->diags;
    struct node_list docs = {0};
    if (!doc_load(f->arena, diags, source_add(&diags->sources, path, text), &docs)) return false;
    if (docs.n != 1 || docs.items[0]->kind != NODE_MAP) {
        *why = arena_printf(f->arena,
                            "%.*s is neither a mapping of metrics, nor a training log, nor a trace",
                            STR_ARG(path));
        return false;
    }
    for (size_t i = 0; i < docs.items[0]->n; i++)
        read_metric(f, docs.items[0]->keys[i], docs.items[0]->items[i]);
    return diags_count(diags, SEVERITY_ERROR) == 0;
}

/* ---- texts in pieces ---- */

/* A mapping of metrics is short; a line that tells of an error has one of these words; matching
   takes longer than reading, so that a log of nothing else is not looked at to its end. */
enum { LARGEST_MAPPING = 1 << 20, MOST_ERROR_LINES = 20000 };
static const char *const error_words[] = {"rror", "Watchdog",      "NCCL", "Signal", "signal",
                                          "xit",  "out of memory", "Xid",  "NaN",    "failed"};

struct diagnose_text {
    struct diagnosed *d;
    struct arena *scratch;
    const struct known_errors *known;
    struct line_cutter lines;
    struct run_log log;
    struct gpu_trace trace;
    struct buf head; /* the text, as far as it may be a mapping */
    bool logged;
    int64_t error_lines;
};

struct diagnose_text *diagnose_text_new(struct arena *scratch, struct diagnosed *d,
                                        const struct rule_set *rules)
{
    struct arena *a = d->facts->arena;
    struct diagnose_text *x = ARENA_NEW(a, struct diagnose_text);
    x->d = d;
    x->scratch = scratch;
    x->known = known_errors_new(a, rules);
    x->lines = line_cutter_new(a);
    x->head = buf_new(a);
    run_log_start(a, &x->log);
    gpu_trace_start(a, &x->trace);
    return x;
}

static void note_error(struct diagnose_text *x, const struct rule *r, struct str line)
{
    struct diagnosed *d = x->d;
    for (size_t i = 0; i < d->n_errors; i++) {
        if (d->errors[i].rule != r) continue;
        d->errors[i].lines++;
        return;
    }
    if (d->n_errors == DIAGNOSED_ERRORS) return;
    d->errors[d->n_errors++] =
        (struct told_error){r, 1, str_dup(d->facts->arena, str_slice(str_trim(line), 0, 240))};
}

static void look_for_error(struct diagnose_text *x, struct str line)
{
    struct known_error found[KNOWN_MATCHES];
    for (size_t i = 0; i < sizeof error_words / sizeof *error_words; i++) {
        if (str_find_str(line, str_of(error_words[i])) == line.n) continue;
        if (x->error_lines++ >= MOST_ERROR_LINES) return;
        if (known_errors_find(x->known, x->scratch, line, found))
            note_error(x, found[0].rule, line);
        return;
    }
}

static void take_line(void *context, struct str line)
{
    struct diagnose_text *x = context;
    if (gpu_trace_line(&x->trace, line)) return;
    if (run_log_line(&x->log, line)) x->logged = true;
    look_for_error(x, line);
}

void diagnose_text_piece(void *text, struct str piece)
{
    struct diagnose_text *x = text;
    if (x->head.n <= LARGEST_MAPPING) buf_add(&x->head, piece);
    gpu_trace_piece(&x->trace, piece);
    /* The lines of a Chrome trace are none of a log. */
    if (!(x->trace.timeline && x->trace.depth > 0)) line_cut(&x->lines, piece, take_line, x);
}

/* What unpacks a file that begins so; NULL: it is not packed. */
static const char *unpacker(struct str head)
{
    if (str_starts(head, STR("\x1f\x8b"))) return "gzip";
    return str_starts(head, STR("\x28\xb5\x2f\xfd")) ? "zstd" : NULL;
}

bool diagnose_text_end(struct diagnose_text *x, struct str path, struct str *why)
{
    struct diagnosed *d = x->d;
    const char *packed = unpacker(buf_str(&x->head));
    *why = STR("");
    if (packed) {
        *why = arena_printf(d->facts->arena, "%.*s is packed: %s -dc FILE | moeplan diagnose -",
                            STR_ARG(path), packed);
        return false;
    }
    line_cut_end(&x->lines, take_line, x);
    if (x->trace.timeline || x->trace.sums) {
        d->trace = &x->trace;
        gpu_trace_apply(&x->trace, d->facts);
    }
    if (x->logged) {
        d->log = &x->log;
        run_log_apply(&x->log, d->facts);
    }
    if (x->logged || d->trace == &x->trace) return true;
    if (x->trace.host_events) {
        *why = arena_printf(d->facts->arena,
                            "%.*s is a trace of the host alone, without a kernel: profile with "
                            "ProfilerActivity.CUDA, where the driver lets CUPTI see the GPU",
                            STR_ARG(path));
        return false;
    }
    if (x->head.n <= LARGEST_MAPPING &&
        (d->n_errors == 0 || str_starts(buf_str(&x->head), STR("{"))))
        return read_mapping(d, path, buf_str(&x->head), why);
    if (d->n_errors) return true;
    *why =
        arena_printf(d->facts->arena, "%.*s is neither a training log nor a trace", STR_ARG(path));
    return false;
}

/* ---- the answer ---- */

void diagnose(struct arena *a, struct arena *scratch, const struct rule_set *rules,
              struct diagnosed *d)
{
    diagnose_run(a, rules, d->facts, d->planned, scratch, &d->found);
    d->fits = d->planned && d->found.costed ? d->found.fits : FITS_YES;
}
