/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/report.h"

#include "emit/json_writer.h"

static const char *const status_names[] = {"ok", "invalid", "unreadable", "skipped"};

void report_count(struct report_summary *summary, const struct file_report *report)
{
    summary->files++;
    summary->skipped += report->status == FILE_SKIPPED;
    summary->errors += diags_count(report->diags, SEVERITY_ERROR);
    summary->warnings += diags_count(report->diags, SEVERITY_WARNING);
    summary->infos += diags_count(report->diags, SEVERITY_INFO);
    summary->rules_skipped += report->rules_skipped;
}

/* ---- JSON ---- */

static void str_or_null(struct json_writer *w, const char *key, struct str s)
{
    if (s.n)
        json_str(w, key, s);
    else
        json_null(w, key);
}

/* The file that a finding stands in; mostly the report's own. */
static struct str path_of(const struct file_report *r, const struct diag *d)
{
    const struct source *s = source_get(&r->diags->sources, d->at.source);
    return s ? s->path : r->path;
}

static void write_fix(struct json_writer *w, const struct file_report *r, const struct diag *d)
{
    if (!d->edits.n && !d->fix.n) {
        json_null(w, "fix");
        return;
    }
    json_open(w, "fix", '{');
    str_or_null(w, "text", d->fix);
    json_bool(w, "safe", d->safe);
    json_open(w, "edits", '[');
    for (size_t i = 0; i < d->edits.n; i++) {
        const struct text_edit *e = &d->edits.items[i];
        struct span at = source_span(&r->diags->sources, e->source, e->from, e->to);
        json_open(w, NULL, '{');
        json_int(w, "line", at.line);
        json_int(w, "column", at.column);
        json_int(w, "end_line", at.end_line);
        json_int(w, "end_column", at.end_column);
        json_str(w, "text", e->text);
        json_close(w, '}');
    }
    json_close(w, ']');
    json_close(w, '}');
}

static void write_hidden(struct json_writer *w, const struct diags *diags)
{
    static const char *const states[] = {"shown", "silenced", "ignored", "known"};
    json_open(w, "hidden", '[');
    for (size_t i = 0; i < diags->hidden.n; i++) {
        const struct diag *d = &diags->hidden.items[i];
        json_open(w, NULL, '{');
        json_str(w, "rule", d->rule);
        json_str(w, "severity", str_of(severity_name(d->severity)));
        json_str(w, "message", d->message);
        json_int(w, "line", d->at.line);
        json_str(w, "state", str_of(states[d->state]));
        str_or_null(w, "reason", d->reason);
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void write_diag(struct json_writer *w, const struct file_report *r, const struct diag *d)
{
    struct str path = path_of(r, d);
    json_open(w, NULL, '{');
    json_str(w, "rule", d->rule);
    json_str(w, "severity", str_of(severity_name(d->severity)));
    json_str(w, "message", d->message);
    if (!str_eq(path, r->path)) json_str(w, "path", path);
    json_int(w, "line", d->at.line);
    json_int(w, "column", d->at.column);
    json_int(w, "end_line", d->at.end_line);
    json_int(w, "end_column", d->at.end_column);
    json_int(w, "document", d->document);
    str_or_null(w, "parameter", d->parameter);
    json_strs(w, "notes", d->notes.items, d->notes.n);
    str_or_null(w, "help", d->help);
    str_or_null(w, "guide", d->guide);
    json_strs(w, "covers", d->covers, d->n_covers);
    str_or_null(w, "source", d->source);
    write_fix(w, r, d);
    json_close(w, '}');
}

static void write_world(struct json_writer *w, const struct world_sizes *world)
{
    json_open(w, "valid_gpus", '{');
    json_int(w, "multiple_of", world->multiple_of);
    json_int(w, "up_to", world->up_to);
    json_open(w, "sizes", '[');
    for (size_t i = 0; i < world->n; i++)
        json_int(w, NULL, world->sizes[i]);
    json_close(w, ']');
    json_close(w, '}');
}

static void write_members(struct json_writer *w, const struct file_report *r)
{
    json_str(w, "path", r->path);
    str_or_null(w, "format", r->format);
    str_or_null(w, "framework", r->framework);
    str_or_null(w, "framework_version", r->framework_version);
    str_or_null(w, "model", r->model);
    if (r->gpus)
        json_int(w, "gpus", r->gpus);
    else
        json_null(w, "gpus");
    str_or_null(w, "environment", r->environment);
    json_str(w, "status", str_of(status_names[r->status]));
    json_open(w, "diagnostics", '[');
    for (size_t i = 0; i < r->diags->n; i++)
        write_diag(w, r, &r->diags->items[i]);
    json_close(w, ']');
    if (r->diags->hidden.n) write_hidden(w, r->diags);
    json_int(w, "rules_skipped", (int64_t)r->rules_skipped);
    if (r->world.known) write_world(w, &r->world);
}

void report_json(const struct file_report *report, struct buf *out)
{
    struct json_writer w = json_writer_new(out);
    json_open(&w, NULL, '{');
    write_members(&w, report);
    json_close(&w, '}');
}

void report_json_members(const struct file_report *report, struct buf *out)
{
    struct json_writer w = {.out = out, .comma = true};
    write_members(&w, report);
}

void report_summary_json(const struct report_summary *summary, struct buf *out)
{
    struct json_writer w = json_writer_new(out);
    json_open(&w, NULL, '{');
    json_int(&w, "files", (int64_t)summary->files);
    json_int(&w, "errors", (int64_t)summary->errors);
    json_int(&w, "warnings", (int64_t)summary->warnings);
    json_int(&w, "infos", (int64_t)summary->infos);
    json_close(&w, '}');
}
