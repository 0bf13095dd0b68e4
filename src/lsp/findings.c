/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as an editor shows them, and what can be done about one. */
#include "base/json.h"
#include "lsp/feature.h"

struct file_report lsp_report(const struct lsp_request *r)
{
    struct validation v = *r->validation;
    return validate_text(&v, r->path, r->text, STR(""), &r->options);
}

/* The message, the arithmetic and the help: what stands below a finding on a screen. */
static struct str whole_message(struct arena *a, const struct diag *d)
{
    struct buf out = buf_new(a);
    buf_add(&out, d->message);
    for (size_t i = 0; i < d->notes.n; i++)
        buf_printf(&out, "\n%.*s", STR_ARG(d->notes.items[i]));
    if (d->help.n) buf_printf(&out, "\nhelp: %.*s", STR_ARG(d->help));
    return buf_str(&out);
}

/* As the protocol numbers severities. */
static int severity_number(enum severity severity)
{
    static const int numbers[] = {
        [SEVERITY_ERROR] = 1, [SEVERITY_WARNING] = 2, [SEVERITY_INFO] = 3};
    return numbers[severity];
}

static void finding(const struct lsp_request *r, struct diags *diags, const struct diag *d)
{
    struct json_writer *w = r->w;
    json_open(w, NULL, '{');
    text_range(w, &diags->sources, d->at);
    json_int(w, "severity", severity_number(d->severity));
    json_str(w, "code", d->rule);
    if (d->page.n) {
        json_open(w, "codeDescription", '{');
        json_str(w, "href", d->page);
        json_close(w, '}');
    }
    json_str(w, "source", STR("moeplan"));
    json_str(w, "message", whole_message(r->arena, d));
    json_close(w, '}');
}

/* Sources are numbered from 1: the file itself is the first. A finding in a file that it sources is
   said when that file is open. */
static bool is_here(const struct diag *d)
{
    return d->at.source <= 1;
}

/* Any YAML is opened in an editor, templates too: that one is none is said only where it was ours
   before. */
void lsp_findings(const struct lsp_request *r)
{
    struct file_report report = lsp_report(r);
    if (report.format.n) *r->known = true;
    bool ours = *r->known || report.status != FILE_UNREADABLE;
    json_open(r->w, "diagnostics", '[');
    for (size_t i = 0; ours && i < report.diags->n; i++)
        if (is_here(&report.diags->items[i])) finding(r, report.diags, &report.diags->items[i]);
    json_close(r->w, ']');
}

/* ---- what can be done ---- */

/* Whether a line of comment may stand above the line: not within a command that goes on, not above
   a script's first line, not in JSON. */
static bool may_have_comment_above(const struct lsp_request *r, uint32_t line)
{
    if (line == 0 || str_starts(str_trim(r->text), STR("{"))) return false;
    return line == 1 ? !str_starts(r->text, STR("#!"))
                     : !str_ends(text_line(r->text, line - 2), STR("\\"));
}

static struct str indent_of(struct str line)
{
    size_t n = 0;
    while (n < line.n && line.p[n] == ' ')
        n++;
    return str_slice(line, 0, n);
}

/* An action and the edits of the file that it consists of; the caller writes those and closes it.
 */
static void open_action(const struct lsp_request *r, struct diags *diags, const struct diag *d,
                        struct str title)
{
    struct json_writer *w = r->w;
    json_open(w, NULL, '{');
    json_str(w, "title", title);
    json_str(w, "kind", STR("quickfix"));
    json_open(w, "diagnostics", '[');
    finding(r, diags, d);
    json_close(w, ']');
    json_open(w, "edit", '{');
    json_open(w, "changes", '{');
    json_open(w, str_dup(r->arena, r->uri).p, '[');
}

static void write_edit(const struct lsp_request *r, struct diags *diags, struct span at,
                       struct str text)
{
    json_open(r->w, NULL, '{');
    text_range(r->w, &diags->sources, at);
    json_str(r->w, "newText", text);
    json_close(r->w, '}');
}

static void close_action(const struct lsp_request *r)
{
    json_close(r->w, ']');
    json_close(r->w, '}');
    json_close(r->w, '}');
    json_close(r->w, '}');
}

/* Whether all that the fix changes is in this file. */
static bool has_fix(const struct diag *d)
{
    for (size_t i = 0; i < d->edits.n; i++)
        if (d->edits.items[i].source != 1) return false;
    return d->edits.n > 0;
}

/* What changes a run is the second choice. */
static void action_fix(const struct lsp_request *r, struct diags *diags, const struct diag *d)
{
    struct str what = d->help.n ? d->help : d->rule;
    open_action(
        r, diags, d,
        arena_printf(r->arena, "%s: %.*s", d->safe ? "Fix" : "Change the run", STR_ARG(what)));
    for (size_t i = 0; i < d->edits.n; i++) {
        const struct text_edit *e = &d->edits.items[i];
        struct span at = source_span(&diags->sources, e->source, e->from, e->to);
        write_edit(r, diags, at, e->text);
    }
    close_action(r);
}

/* A comment on a line of its own above the finding. */
static void action_ignore(const struct lsp_request *r, struct diags *diags, const struct diag *d)
{
    struct str indent = indent_of(text_line(r->text, d->at.line - 1));
    struct span before = {d->at.source, d->at.line, 1, d->at.line, 1};
    open_action(r, diags, d,
                arena_printf(r->arena, "Ignore %.*s here, in a comment", STR_ARG(d->rule)));
    write_edit(
        r, diags, before,
        arena_printf(r->arena, "%.*s# moeplan: ignore[%.*s]\n", STR_ARG(indent), STR_ARG(d->rule)));
    close_action(r);
}

void lsp_actions(const struct lsp_request *r, int64_t from, int64_t to)
{
    struct file_report report = lsp_report(r);
    json_open(r->w, NULL, '[');
    for (size_t i = 0; i < report.diags->n; i++) {
        const struct diag *d = &report.diags->items[i];
        if (d->at.line <= from || d->at.line > to + 1 || !is_here(d)) continue;
        if (has_fix(d)) action_fix(r, report.diags, d);
        if (report.framework.n && may_have_comment_above(r, d->at.line))
            action_ignore(r, report.diags, d);
    }
    json_close(r->w, ']');
}
