/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/render_text.h"

#include "base/quote.h"
#include "base/utf8.h"

/* WINDOW: most columns shown of a source line; MARGIN: what stands before it, and dots. */
enum { TAB = 8, WINDOW = 88, MARGIN = 15 };

static const char *severity_mark(enum severity severity)
{
    static const char *const marks[] = {MARK_INFO, MARK_WARNING, MARK_ERROR};
    return marks[severity];
}

/* One character as it is shown, and the columns it takes. */
struct cell {
    char bytes[TAB];
    size_t n, width;
};

/* The character at *at, which moves behind it; `at_column` is where it begins, for tabs. */
static struct cell cell_of(struct str line, size_t *at, size_t at_column)
{
    uint32_t point;
    *at += utf8_next(line, *at, &point);
    struct cell cell = {.n = 1, .width = 1};
    if (point == '\t') {
        cell.n = cell.width = TAB - at_column % TAB;
        memset(cell.bytes, ' ', cell.n);
    } else if (quote_is_hazard(point)) {
        cell.bytes[0] = '?';
    } else {
        cell.n = utf8_encode(point, cell.bytes);
        cell.width = (size_t)utf8_width(point);
    }
    return cell;
}

static void add_clean(struct buf *out, struct str s)
{
    buf_add(out, quote_line(out->arena, s));
}

/* The display column at which a character column (1-based) begins. */
static size_t display_column(struct str line, uint32_t column)
{
    size_t at = 0, shown = 0;
    for (uint32_t c = 1; c < column && at < line.n; c++)
        shown += cell_of(line, &at, shown).width;
    return shown;
}

/* The display columns [from, from + window) of a line; dots where something is left out. */
static void add_window(struct buf *out, struct str line, size_t from, size_t window)
{
    size_t at = 0, shown = 0;
    if (from) buf_add(out, STR("..."));
    while (at < line.n && shown < from + window) {
        struct cell cell = cell_of(line, &at, shown);
        if (shown >= from) buf_add(out, (struct str){cell.bytes, cell.n});
        shown += cell.width;
    }
    if (at < line.n) buf_add(out, STR("..."));
}

static void add_source(struct buf *out, struct diags *all, const struct diag *d, int width)
{
    size_t window = width && width - MARGIN < WINDOW ? (size_t)(width - MARGIN) : WINDOW;
    struct str line = source_line(&all->sources, d->at.source, d->at.line);
    size_t start = display_column(line, d->at.column);
    size_t end = display_column(line, d->at.end_line > d->at.line ? UINT32_MAX : d->at.end_column);
    size_t from = start > window * 3 / 4 ? start - window / 2 : 0;
    if (end > from + window) end = from + window;
    size_t head = out->n;
    buf_printf(out, MARK_VERBATIM "%6u | ", d->at.line);
    size_t margin = out->n - head - 3;
    add_window(out, line, from, window);
    buf_printf(out, "\n" MARK_VERBATIM "%*s| ", (int)margin, "");
    buf_add_n(out, ' ', start - from + (from ? 3 : 0));
    buf_add(out, str_of(severity_mark(d->severity)));
    buf_add_n(out, '^', end > start ? end - start : 1);
    buf_add(out, STR(MARK_END "\n"));
}

static void add_place(struct buf *out, const struct source *source, const struct diag *d)
{
    if (source)
        add_clean(out, source->path);
    else
        buf_add(out, STR("moeplan"));
    if (source && d->at.line) buf_printf(out, ":%u:%u", d->at.line, d->at.column);
    buf_add(out, STR(": "));
}

static void add_remark(struct buf *out, const char *kind, struct str text)
{
    buf_printf(out, "       = %s: " MARK_HANG, kind);
    add_clean(out, text);
    buf_add_char(out, '\n');
}

void render_headline(struct buf *out, struct diags *all, const struct diag *d)
{
    buf_add(out, STR(MARK_VERBATIM));
    add_place(out, source_get(&all->sources, d->at.source), d);
    buf_printf(out, "%s%s[%.*s]" MARK_END ": ", severity_mark(d->severity),
               severity_name(d->severity), STR_ARG(d->rule));
    add_clean(out, d->message);
    buf_add_char(out, '\n');
}

void render_text(struct buf *out, struct diags *all, const struct diag *d, int width)
{
    render_headline(out, all, d);
    if (source_get(&all->sources, d->at.source) && d->at.line) add_source(out, all, d, width);
    for (size_t i = 0; i < d->notes.n; i++)
        add_remark(out, "note", d->notes.items[i]);
    if (d->help.n) add_remark(out, "help", d->help);
    buf_printf(out, MARK_VERBATIM "       = more: moeplan explain %.*s%s%.*s\n", STR_ARG(d->rule),
               d->page.n ? ", " : "", STR_ARG(d->page));
}
