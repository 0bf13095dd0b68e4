/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diagnose_run.h"

#include <math.h>

#include "base/quote.h"
#include "base/table.h"
#include "base/units.h"
#include "facts/param_ids.h"

/* ---- what the run told ---- */

static void show_log(struct cmd_context *c, const struct diagnosed *x)
{
    if (!x->log || x->log->seen == 0) return;
    struct run_summary s = run_log_summary(c->scratch, x->log);
    buf_printf(&c->out, "run: %lld logged steps", (long long)x->log->seen);
    if (s.step_s > 0) buf_printf(&c->out, ", %.2f s a step", s.step_s);
    if (s.step_scatter > 0) buf_printf(&c->out, " (scatter %.1f %%)", 100 * s.step_scatter);
    if (s.tokens_per_s_per_gpu > 0)
        buf_printf(&c->out, ", %.0f tokens/s/GPU", s.tokens_per_s_per_gpu);
    if (s.tflops_per_gpu > 0) buf_printf(&c->out, ", %.0f TFLOP/s/GPU", s.tflops_per_gpu);
    if (s.peak_memory_gib > 0) buf_printf(&c->out, ", %.1f GiB at most", s.peak_memory_gib);
    buf_add_char(&c->out, '\n');
}

static void show_failures(struct cmd_context *c, const struct diagnosed *x)
{
    const struct failures *f = &x->log->failures;
    if (f->memory.lines > 0 && f->memory.asked > 0)
        buf_printf(&c->out, "  %.*s\n  %s\n",
                   LINE_ARG(c->keep, out_of_memory_text(c->keep, &f->memory)),
                   out_of_memory_advice(&f->memory));
    if (f->collective.lines > 0)
        buf_printf(&c->out, "  %.*s\n",
                   LINE_ARG(c->keep, collective_timeout_text(c->keep, &f->collective)));
}

static void show_errors(struct cmd_context *c, const struct diagnosed *x)
{
    for (size_t i = 0; i < x->n_errors; i++) {
        const struct told_error *e = &x->errors[i];
        buf_printf(&c->out, "error: %.*s", LINE_ARG(c->keep, e->rule->message));
        if (e->lines > 1) buf_printf(&c->out, " (%lld lines)", (long long)e->lines);
        buf_printf(&c->out, " [%.*s]\n", STR_ARG(e->rule->id));
        if (e->rule->help.n)
            buf_printf(&c->out, "    help: %.*s\n", LINE_ARG(c->keep, e->rule->help));
    }
    if (x->log) show_failures(c, x);
}

/* Kernels by use, those that take most first in the order of the table. */
static void show_kernels(struct cmd_context *c, const struct gpu_trace *t)
{
    double all = 0;
    for (int i = 0; i < KERNEL_USES; i++)
        all += t->uses[i].seconds;
    bool first = true;
    for (int i = 0; i < KERNEL_USES && all > 0; i++) {
        double part = 100 * t->uses[i].seconds / all;
        if (part < 0.5) continue;
        buf_printf(&c->out, "%s%s %.1f %%", first ? "  kernels' time: " : ", ",
                   kernel_use_name((enum kernel_use)i), part);
        first = false;
    }
    if (!first) buf_add_char(&c->out, '\n');
}

static void show_profile(struct cmd_context *c, const struct diagnosed *x)
{
    const struct gpu_trace *t = x->trace;
    if (!t) return;
    struct gpu_shares s = gpu_trace_shares(t);
    if (t->timeline)
        buf_printf(&c->out,
                   "profile: %.3f s; computing %.1f %%, experts' exchange alone %.1f %%, sends and "
                   "receives alone %.1f %%, other exchange alone %.1f %%, copies alone %.1f %%, "
                   "nothing %.1f %%\n",
                   t->last - t->first, 100 * s.compute, 100 * s.expert_exchange,
                   100 * s.send_receive, 100 * s.exchange, 100 * s.copy, 100 * s.gap);
    else
        buf_add(&c->out, STR("profile: sums by kernel, which do not say what runs beside what; "
                             "nsys stats --report cuda_gpu_trace does\n"));
    show_kernels(c, t);
    if (t->other_devices)
        buf_printf(&c->out, "  of GPU %lld; %lld kernels of others are left out\n",
                   (long long)t->device, (long long)t->other_devices);
    if (t->timeline && s.gap > 0.05)
        buf_add(&c->out,
                STR("  a profiler slows the host down: without it the gaps are shorter\n"));
}

/* ---- against the estimate ---- */

static void show_verdict(struct cmd_context *c, const struct against *x)
{
    buf_printf(&c->out, "against the estimate: measured %.2f s a step (from %s), estimated %.2f s ",
               x->measured, x->from, x->estimated);
    buf_printf(&c->out, "(%.2f to %.2f)\n", x->low, x->high);
    double apart = 100 * (x->measured / x->estimated - 1);
    if (fabs(apart) < 0.05) apart = 0; /* +0.0 on either side */
    switch (x->pace) {
    case PACE_AS_ESTIMATED:
        buf_printf(&c->out, "  as fast as estimated: %+.1f %%, inside the interval\n", apart);
        break;
    case PACE_SLOWER:
        buf_printf(&c->out,
                   "  slow: %.2f times the estimate, %.0f %% beyond the interval's end; something "
                   "is other than planned\n",
                   x->measured / x->estimated, 100 * x->beyond);
        break;
    case PACE_FASTER:
        buf_printf(&c->out,
                   "  faster than the interval by %.0f %%: check that the plan is what ran (batch, "
                   "sequence length, layers), then calibrate with this log\n",
                   100 * x->beyond);
        break;
    }
    buf_printf(&c->out, "  %.0f tokens/s/GPU, estimated %.0f\n", x->tokens_per_s_per_gpu,
               x->estimated_tokens_per_s_per_gpu);
}

static void show_terms(struct cmd_context *c, const struct against *x)
{
    static const struct table_column columns[] = {{"  part of the step", false, 0},
                                                  {"measured s", true, 0},
                                                  {"estimated s", true, 0},
                                                  {"difference", true, 1},
                                                  {"", false, 0}};
    if (x->n_terms == 0) {
        buf_add(&c->out,
                STR("  which part of the step differs is not measured: give a trace of a few "
                    "steady steps beside the log\n"));
        return;
    }
    struct table t = table_new(c->keep, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < x->n_terms; i++) {
        table_printf(&t, "  %s", x->terms[i].name);
        table_printf(&t, "%.2f", x->terms[i].measured);
        table_printf(&t, "%.2f", x->terms[i].estimated);
        table_printf(&t, "%+.2f", x->terms[i].measured - x->terms[i].estimated);
        table_add(&t, i == x->worst ? STR("<- differs most") : STR(""));
    }
    table_print(&t, c->view.width, &c->out);
    const struct pace_term *worst = x->worst >= 0 ? &x->terms[x->worst] : NULL;
    if (worst && worst->measured > worst->estimated)
        buf_printf(&c->out, "  %s: %s\n", worst->name, worst->meaning);
}

static void show_moves(struct cmd_context *c, const struct against *x)
{
    static const struct table_column columns[] = {
        {"  step s", true, 0}, {"change", true, 0}, {"peak GiB", true, 2},
        {"memory", false, 1},  {"move", false, 0},
    };
    if (x->n_moves == 0) return;
    buf_printf(&c->out,
               "  moves tried on the plan, each part of the step as it was measured, from %.2f s\n",
               x->measured);
    struct table t = table_new(c->keep, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < x->n_moves; i++) {
        table_printf(&t, "%.2f", x->moves[i].step);
        table_printf(&t, "%+.1f %%", 100 * (x->moves[i].step / x->measured - 1));
        table_printf(&t, "%.1f", x->moves[i].peak / GIB);
        table_add(&t, str_of(memory_verdict(x->moves[i].fits)));
        table_add(&t, quote_line(c->keep, x->moves[i].what));
    }
    table_print(&t, c->view.width, &c->out);
}

static void show_memory(struct cmd_context *c, const struct against *x)
{
    if (x->measured_peak <= 0) return;
    const char *verdict = x->measured_peak > x->peak_high  ? "more than the interval"
                          : x->measured_peak < x->peak_low ? "less than the interval"
                                                           : "inside the interval";
    buf_printf(&c->out, "  memory %.1f GiB, estimated %.1f (%.1f to %.1f): %s\n",
               x->measured_peak / GIB, x->estimated_peak / GIB, x->peak_low / GIB,
               x->peak_high / GIB, verdict);
}

/* Which way of counting FLOPs each figure uses. */
static void show_counting(struct cmd_context *c, const struct diagnosed *d)
{
    const struct against *x = &d->found.against;
    if (x->counted > 0 && fabs(x->counted - 1) < 0.02)
        buf_add(&c->out,
                STR("  FLOPs: the run counts a token's as the estimate does (Megatron-LM's "
                    "way: causal attention halved, no recomputation)\n"));
    else if (x->counted > 2 || (x->counted > 0 && x->counted < 0.5))
        buf_printf(&c->out,
                   "  FLOPs: the run's TFLOP/s are %.2f times what its time makes of the plan: it "
                   "is hardly the plan that ran (batch, sequence length, model)\n",
                   x->counted);
    else if (x->counted > 0)
        buf_printf(&c->out,
                   "  FLOPs: the run counts %.2f times the estimate's for a token (which is "
                   "Megatron-LM's way: causal attention halved, no recomputation): compare "
                   "tokens/s, not TFLOP/s\n",
                   x->counted);
    if (x->peak_used > 0)
        buf_printf(&c->out, "  MFU: the run divides by about %.0f TFLOP/s\n", x->peak_used / 1e12);
}

static void show_nearest(struct cmd_context *c, const struct against *x)
{
    if (!x->nearest.id.n) return;
    buf_printf(&c->out, "  nearest public run: %.*s,", STR_ARG(x->nearest.id));
    if (x->nearest_tokens_per_s > 0)
        buf_printf(&c->out, " %.0f tokens/s/GPU", x->nearest_tokens_per_s);
    if (x->nearest_tflops > 0) buf_printf(&c->out, " %.0f TFLOP/s/GPU", x->nearest_tflops);
    if (x->nearest_counted > 0)
        buf_printf(&c->out, " (counted as %.2f of the estimate's FLOPs)", x->nearest_counted);
    if (!x->nearest_same) buf_add(&c->out, STR(" of another model or length"));
    buf_printf(&c->out, "; distance %.1f; %.*s\n", x->nearest.distance,
               LINE_ARG(c->keep, x->nearest.source));
}

/* A log's step is another's where its batch is. */
static void show_batch(struct cmd_context *c, const struct diagnosed *d)
{
    int64_t logged = d->log ? d->log->global_batch : 0;
    int64_t planned = facts_int(d->facts, P_global_batch_size, 0);
    if (logged > 0 && planned > 0 && logged != planned)
        buf_printf(&c->out,
                   "  the log's global batch is %lld, the plan's %lld: give the plan that ran\n",
                   (long long)logged, (long long)planned);
}

static void show_against(struct cmd_context *c, const struct diagnosed *d)
{
    const struct against *x = &d->found.against;
    if (!d->found.costed) return;
    if (x->known) {
        show_verdict(c, x);
        show_batch(c, d);
        show_terms(c, x);
        if (x->pace != PACE_FASTER) show_moves(c, x);
    } else if (x->measured_peak > 0) {
        buf_add(&c->out, STR("against the estimate\n"));
    }
    show_memory(c, x);
    if (!x->known) return;
    show_counting(c, d);
    show_nearest(c, x);
}

void diagnose_show_run(struct cmd_context *c, const struct diagnosed *x)
{
    show_errors(c, x);
    show_log(c, x);
    show_profile(c, x);
    show_against(c, x);
}

/* ---- JSON ---- */

static void json_failures(struct json_writer *w, const struct failures *f)
{
    const struct out_of_memory *m = &f->memory;
    if (m->lines > 0) {
        json_open(w, "out_of_memory", '{');
        if (m->rank >= 0) json_int(w, "rank", m->rank);
        if (m->gpu >= 0) json_int(w, "gpu", m->gpu);
        json_number(w, "asked_gib", m->asked, 6);
        json_number(w, "capacity_gib", m->capacity, 6);
        json_number(w, "free_gib", m->free, 6);
        json_number(w, "allocated_gib", m->allocated, 6);
        json_number(w, "unallocated_gib", m->unallocated, 6);
        json_optional_str(w, "asker", str_of(m->asker.text));
        json_close(w, '}');
    }
    if (f->collective.lines > 0) {
        json_open(w, "collective_timeout", '{');
        if (f->collective.rank >= 0) json_int(w, "rank", f->collective.rank);
        json_optional_str(w, "operation", str_of(f->collective.operation.text));
        json_number(w, "limit_s", f->collective.limit_s, 6);
        json_close(w, '}');
    }
}

static void json_profile(struct json_writer *w, const struct gpu_trace *t)
{
    struct gpu_shares s = gpu_trace_shares(t);
    json_open(w, "profile", '{');
    if (t->timeline) {
        json_number(w, "seconds", t->last - t->first, 6);
        json_number(w, "computing", s.compute, 4);
        json_number(w, "experts_exchange", s.expert_exchange, 4);
        json_number(w, "send_receive", s.send_receive, 4);
        json_number(w, "exchange", s.exchange, 4);
        json_number(w, "copy", s.copy, 4);
        json_number(w, "gap", s.gap, 4);
    }
    json_open(w, "kernels_s", '{');
    for (int i = 0; i < KERNEL_USES; i++)
        if (t->uses[i].n > 0)
            json_number(w, kernel_use_name((enum kernel_use)i), t->uses[i].seconds, 6);
    json_close(w, '}');
    json_close(w, '}');
}

static void json_terms(struct json_writer *w, const struct against *x)
{
    json_open(w, "terms", '[');
    for (int i = 0; i < x->n_terms; i++) {
        json_open(w, NULL, '{');
        json_str(w, "name", str_of(x->terms[i].name));
        json_number(w, "measured_s", x->terms[i].measured, 6);
        json_number(w, "estimated_s", x->terms[i].estimated, 6);
        json_close(w, '}');
    }
    json_close(w, ']');
    if (x->worst >= 0) {
        json_str(w, "differs_most", str_of(x->terms[x->worst].name));
        json_str(w, "meaning", str_of(x->terms[x->worst].meaning));
    }
    json_open(w, "moves", '[');
    for (int i = 0; i < x->n_moves; i++) {
        json_open(w, NULL, '{');
        json_str(w, "changes", x->moves[i].what);
        json_number(w, "step_s", x->moves[i].step, 6);
        json_number(w, "peak_gib", x->moves[i].peak / GIB, 6);
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void json_against(struct json_writer *w, const struct against *x)
{
    static const char *const paces[] = {"as estimated", "slower", "faster"};
    json_open(w, "against", '{');
    json_str(w, "pace", str_of(paces[x->pace]));
    json_str(w, "from", str_of(x->from));
    json_number(w, "measured_s", x->measured, 6);
    json_number(w, "estimated_s", x->estimated, 6);
    json_number(w, "low_s", x->low, 6);
    json_number(w, "high_s", x->high, 6);
    json_number(w, "beyond", x->beyond, 4);
    if (x->counted > 0) json_number(w, "flops_counted", x->counted, 4);
    if (x->nearest.id.n) json_str(w, "nearest", x->nearest.id);
    json_terms(w, x);
    json_close(w, '}');
}

void diagnose_json_run(struct json_writer *w, const struct diagnosed *x)
{
    json_open(w, "errors", '[');
    for (size_t i = 0; i < x->n_errors; i++) {
        json_open(w, NULL, '{');
        json_str(w, "rule", x->errors[i].rule->id);
        json_int(w, "lines", x->errors[i].lines);
        json_str(w, "text", x->errors[i].text);
        json_close(w, '}');
    }
    json_close(w, ']');
    if (x->log) json_failures(w, &x->log->failures);
    if (x->trace) json_profile(w, x->trace);
    if (x->found.costed && x->found.against.known) json_against(w, &x->found.against);
}
