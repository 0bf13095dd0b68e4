/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/report_ci.h"

#include "base/quote.h"
#include "base/utf8.h"
#include "emit/json_writer.h"

/* ---- for all ---- */

static uint64_t hash_more(uint64_t hash, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash * UINT64_C(0x100000001b3);
}

uint64_t finding_fingerprint(struct diags *diags, const struct diag *d)
{
    uint64_t hash = hash_more(UINT64_C(0xcbf29ce484222325), d->rule);
    return hash_more(hash_more(hash, d->parameter), diag_values(diags, d));
}

static struct str path_of(const struct file_report *r, const struct diag *d)
{
    const struct source *s = source_get(&r->diags->sources, d->at.source);
    return s ? s->path : r->path;
}

/* The message with what mends it. */
static struct str message_of(struct arena *a, const struct diag *d)
{
    if (!d->help.n) return d->message;
    return arena_printf(a, "%.*s (%.*s)", STR_ARG(d->message), STR_ARG(d->help));
}

/* ---- SARIF ---- */

/* A path as a relative reference, or a file's address. */
static struct str uri_of(struct arena *a, struct str path)
{
    struct buf out = buf_new(a);
    if (str_starts(path, STR("/"))) buf_add(&out, STR("file://"));
    for (size_t i = 0; i < path.n; i++) {
        unsigned char c = (unsigned char)path.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c && strchr("-._~/", c));
        if (plain)
            buf_add_char(&out, (char)c);
        else
            buf_printf(&out, "%%%02X", c);
    }
    return buf_str(&out);
}

static void write_text(struct json_writer *w, const char *key, struct str text)
{
    json_open(w, key, '{');
    json_str(w, "text", text);
    json_close(w, '}');
}

static void write_artifact(struct json_writer *w, struct str path)
{
    json_open(w, "artifactLocation", '{');
    json_str(w, "uri", uri_of(w->out->arena, path));
    json_close(w, '}');
}

static void write_region(struct json_writer *w, const char *key, struct span at)
{
    json_open(w, key, '{');
    json_int(w, "startLine", at.line);
    json_int(w, "startColumn", at.column);
    json_int(w, "endLine", at.end_line);
    json_int(w, "endColumn", at.end_column);
    json_close(w, '}');
}

static void write_location(struct json_writer *w, const struct file_report *r, const struct diag *d)
{
    json_open(w, "locations", '[');
    json_open(w, NULL, '{');
    json_open(w, "physicalLocation", '{');
    write_artifact(w, path_of(r, d));
    if (d->at.line) write_region(w, "region", d->at);
    json_close(w, '}');
    json_close(w, '}');
    json_close(w, ']');
}

static void write_fix(struct json_writer *w, const struct file_report *r, const struct diag *d)
{
    if (!d->edits.n) return;
    json_open(w, "fixes", '[');
    json_open(w, NULL, '{');
    write_text(w, "description",
               d->fix.n    ? d->fix
               : d->help.n ? d->help
                           : STR("write it otherwise"));
    json_open(w, "artifactChanges", '[');
    json_open(w, NULL, '{');
    write_artifact(w, r->path);
    json_open(w, "replacements", '[');
    for (size_t i = 0; i < d->edits.n; i++) {
        const struct text_edit *e = &d->edits.items[i];
        json_open(w, NULL, '{');
        write_region(w, "deletedRegion",
                     source_span(&r->diags->sources, e->source, e->from, e->to));
        write_text(w, "insertedContent", e->text);
        json_close(w, '}');
    }
    json_close(w, ']');
    json_close(w, '}');
    json_close(w, ']');
    json_close(w, '}');
    json_close(w, ']');
}

static void write_suppression(struct json_writer *w, const struct diag *d)
{
    if (d->state == DIAG_SHOWN || d->state == DIAG_KNOWN) return;
    json_open(w, "suppressions", '[');
    json_open(w, NULL, '{');
    json_str(w, "kind", d->state == DIAG_SILENCED ? STR("inSource") : STR("external"));
    json_optional_str(w, "justification", d->reason);
    json_close(w, '}');
    json_close(w, ']');
}

static uint32_t rule_index(struct sarif *s, struct str id)
{
    int64_t known = map_get(&s->index, id);
    if (known != MAP_NONE) return (uint32_t)known;
    id = str_dup(s->arena, id);
    *VEC_PUSH(s->arena, s) = id;
    map_put(s->arena, &s->index, id, (uint32_t)s->n - 1);
    return (uint32_t)s->n - 1;
}

static const char *level_of(enum severity severity)
{
    static const char *const levels[] = {"note", "warning", "error"};
    return levels[severity];
}

static void write_result(struct sarif *s, const struct file_report *r, const struct diag *d,
                         struct buf *out)
{
    struct json_writer w = json_writer_new(out);
    if (s->results++) buf_add(out, STR(",\n"));
    json_open(&w, NULL, '{');
    json_str(&w, "ruleId", d->rule);
    json_int(&w, "ruleIndex", rule_index(s, d->rule));
    json_str(&w, "level", str_of(level_of(d->severity)));
    write_text(&w, "message", message_of(out->arena, d));
    write_location(&w, r, d);
    json_open(&w, "partialFingerprints", '{');
    json_str(
        &w, "moeplan/v1",
        arena_printf(out->arena, "%016llx", (unsigned long long)finding_fingerprint(r->diags, d)));
    json_close(&w, '}');
    if (s->baseline)
        json_str(&w, "baselineState", d->state == DIAG_KNOWN ? STR("unchanged") : STR("new"));
    write_suppression(&w, d);
    write_fix(&w, r, d);
    json_close(&w, '}');
}

void sarif_head(struct buf *out)
{
    buf_add(out, STR("{\"version\":\"2.1.0\",\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/"
                     "v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json\",\"runs\":[{"
                     "\"columnKind\":\"unicodeCodePoints\",\"results\":[\n"));
}

void sarif_file(struct sarif *s, const struct file_report *r, struct buf *out)
{
    for (size_t i = 0; i < r->diags->n; i++)
        write_result(s, r, &r->diags->items[i], out);
    for (size_t i = 0; i < r->diags->hidden.n; i++)
        write_result(s, r, &r->diags->hidden.items[i], out);
}

static void write_rule(struct json_writer *w, const struct sarif *s, struct str id)
{
    const struct rule *rule = rules_find(s->rules, id);
    json_open(w, NULL, '{');
    json_str(w, "id", id);
    if (rule) {
        write_text(w, "shortDescription", rule->message.n ? rule->message : id);
        if (rule->why.n) write_text(w, "fullDescription", rule->why);
        if (rule->help.n) write_text(w, "help", rule->help);
        json_optional_str(w, "helpUri", rule_address(w->out->arena, rule));
        json_open(w, "defaultConfiguration", '{');
        json_str(w, "level", str_of(level_of(rule->severity)));
        json_close(w, '}');
    }
    json_close(w, '}');
}

void sarif_foot(const struct sarif *s, struct buf *out)
{
    buf_add(out, STR("\n],\"tool\":{\"driver\":"));
    struct json_writer w = json_writer_new(out);
    json_open(&w, NULL, '{');
    json_str(&w, "name", STR("moeplan"));
    json_str(&w, "version", STR(MOEPLAN_VERSION));
    json_optional_str(&w, "informationUri", STR(MOEPLAN_SITE_URI));
    json_open(&w, "rules", '[');
    for (size_t i = 0; i < s->n; i++)
        write_rule(&w, s, s->items[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    buf_add(out, STR("}}]}\n"));
}

/* ---- checkstyle ---- */

/* A text between quotes of an attribute; what XML cannot hold is a question mark. */
static void add_xml(struct buf *out, struct str s)
{
    for (size_t at = 0; at < s.n;) {
        uint32_t point;
        size_t n = utf8_next(s, at, &point);
        struct str bytes = str_slice(s, at, at + n);
        at += n;
        if (point == '&')
            buf_add(out, STR("&amp;"));
        else if (point == '<')
            buf_add(out, STR("&lt;"));
        else if (point == '>')
            buf_add(out, STR("&gt;"));
        else if (point == '"')
            buf_add(out, STR("&quot;"));
        else if (quote_is_hazard(point) || point == 0xFFFD || point == 0xFFFE || point == 0xFFFF)
            buf_add_char(out, '?');
        else
            buf_add(out, bytes);
    }
}

static void add_attribute(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, " %s=\"", name);
    add_xml(out, value);
    buf_add_char(out, '"');
}

void checkstyle_head(struct buf *out)
{
    buf_add(out, STR("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<checkstyle version=\"4.3\">\n"));
}

void checkstyle_file(const struct file_report *r, struct buf *out)
{
    if (!r->diags->n) return;
    buf_add(out, STR("<file"));
    add_attribute(out, "name", r->path);
    buf_add(out, STR(">\n"));
    for (size_t i = 0; i < r->diags->n; i++) {
        const struct diag *d = &r->diags->items[i];
        buf_printf(out, "<error line=\"%u\"", d->at.line ? d->at.line : 1);
        if (d->at.line) buf_printf(out, " column=\"%u\"", d->at.column);
        add_attribute(out, "severity", str_of(severity_name(d->severity)));
        add_attribute(out, "message", message_of(out->arena, d));
        add_attribute(out, "source", arena_printf(out->arena, "moeplan.%.*s", STR_ARG(d->rule)));
        buf_add(out, STR("/>\n"));
    }
    buf_add(out, STR("</file>\n"));
}

void checkstyle_foot(struct buf *out)
{
    buf_add(out, STR("</checkstyle>\n"));
}

/* ---- GitLab ---- */

void gitlab_head(struct buf *out)
{
    buf_add(out, STR("[\n"));
}

/* Of the same finding several times in a file each has its own. */
static struct str own_fingerprint(struct gitlab *g, const struct file_report *r,
                                  const struct diag *d)
{
    uint64_t hash = hash_more(finding_fingerprint(r->diags, d), r->path);
    struct str text = arena_printf(g->arena, "%016llx", (unsigned long long)hash);
    int64_t before = map_get(&g->seen, text);
    uint32_t n = before == MAP_NONE ? 0 : (uint32_t)before + 1;
    map_put(g->arena, &g->seen, text, n);
    return n ? arena_printf(g->arena, "%.*s%08x", STR_ARG(text), n) : text;
}

void gitlab_file(struct gitlab *g, const struct file_report *r, struct buf *out)
{
    static const char *const severities[] = {"info", "minor", "major"};
    for (size_t i = 0; i < r->diags->n; i++) {
        const struct diag *d = &r->diags->items[i];
        struct json_writer w = json_writer_new(out);
        if (g->n++) buf_add(out, STR(",\n"));
        json_open(&w, NULL, '{');
        json_str(&w, "description", message_of(out->arena, d));
        json_str(&w, "check_name", d->rule);
        json_str(&w, "fingerprint", own_fingerprint(g, r, d));
        json_str(&w, "severity", str_of(severities[d->severity]));
        json_open(&w, "location", '{');
        json_str(&w, "path", path_of(r, d));
        json_open(&w, "lines", '{');
        json_int(&w, "begin", d->at.line ? d->at.line : 1);
        json_close(&w, '}');
        json_close(&w, '}');
        json_close(&w, '}');
    }
}

void gitlab_foot(struct buf *out)
{
    buf_add(out, STR("\n]\n"));
}

/* ---- GitHub ---- */

static void add_escaped(struct buf *out, struct str s, bool property)
{
    buf_add(out, quote_github(out->arena, s, property));
}

static void add_place(struct buf *out, struct span at)
{
    if (!at.line) return;
    buf_printf(out, ",line=%u,endLine=%u,col=%u", at.line, at.end_line, at.column);
    if (at.line == at.end_line && at.end_column > at.column)
        buf_printf(out, ",endColumn=%u", at.end_column);
}

static void add_annotation(struct buf *out, struct str path, const struct diag *d)
{
    static const char *const words[] = {"notice", "warning", "error"};
    buf_printf(out, "::%s file=", words[d->severity]);
    add_escaped(out, path, true);
    add_place(out, d->at);
    buf_add(out, STR(",title="));
    add_escaped(out, d->rule, true);
    buf_add(out, STR("::"));
    add_escaped(out, d->message, false);
    for (size_t i = 0; i < d->notes.n; i++) {
        buf_add(out, STR("%0A"));
        add_escaped(out, d->notes.items[i], false);
    }
    if (d->help.n) {
        buf_add(out, STR("%0A"));
        add_escaped(out, d->help, false);
    }
    buf_add_char(out, '\n');
}

void github_file(const struct file_report *r, enum severity severity, struct buf *out)
{
    for (size_t i = 0; i < r->diags->n; i++)
        if (r->diags->items[i].severity == severity)
            add_annotation(out, path_of(r, &r->diags->items[i]), &r->diags->items[i]);
}

/* A text in a cell of a Markdown table. */
static void add_cell(struct buf *out, struct str s)
{
    s = quote_line(out->arena, s);
    for (size_t i = 0; i < s.n; i++) {
        if (strchr("|\\`*_<>[]", s.p[i])) buf_add_char(out, '\\');
        buf_add_char(out, s.p[i]);
    }
    buf_add(out, STR(" | "));
}

void summary_head(const struct report_summary *s, struct buf *out)
{
    buf_printf(out, "### moeplan: %zu error%s, %zu warning%s, %zu info%s in %zu file%s\n\n",
               s->errors, s->errors == 1 ? "" : "s", s->warnings, s->warnings == 1 ? "" : "s",
               s->infos, s->infos == 1 ? "" : "s", s->files, s->files == 1 ? "" : "s");
    if (s->errors + s->warnings)
        buf_add(out, STR("| severity | place | finding | rule |\n|---|---|---|---|\n"));
}

void summary_file(const struct file_report *r, enum severity severity, struct buf *out)
{
    for (size_t i = 0; i < r->diags->n; i++) {
        const struct diag *d = &r->diags->items[i];
        if (d->severity != severity) continue;
        buf_printf(out, "| %s | ", severity_name(severity));
        struct str path = path_of(r, d);
        add_cell(out, d->at.line ? arena_printf(out->arena, "%.*s:%u", STR_ARG(path), d->at.line)
                                 : path);
        add_cell(out, message_of(out->arena, d));
        add_cell(out, d->rule);
        buf_add_char(out, '\n');
    }
}
