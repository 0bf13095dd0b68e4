/* SPDX-License-Identifier: Apache-2.0 */
#include "base/page.h"

#include "base/quote.h"
#include "base/utf8.h"
#include "base/vec.h"

/* One character as it is shown. */
struct cell {
    struct str bytes;
    int width;
    char style; /* letter of a mark; 0: none */
};

struct line {
    struct cell *items;
    size_t n, cap;
    size_t hang; /* cell from which what is wrapped hangs; SIZE_MAX: not marked */
    bool verbatim, wide;
};

/* What we write ourselves beyond ASCII; other characters are somebody's own text. */
static const char *ascii_of(uint32_t point)
{
    static const struct {
        uint32_t point;
        const char *text;
    } table[] = {
        {0x00A0, " "},  {0x00B0, "deg"}, {0x00B1, "+-"}, {0x00B2, "^2"}, {0x00B5, "u"},
        {0x00B7, "-"},  {0x00D7, "x"},   {0x2010, "-"},  {0x2011, "-"},  {0x2013, "-"},
        {0x2014, "--"}, {0x2018, "'"},   {0x2019, "'"},  {0x201C, "\""}, {0x201D, "\""},
        {0x2022, "*"},  {0x2026, "..."}, {0x2190, "<-"}, {0x2192, "->"}, {0x2212, "-"},
        {0x2248, "~"},  {0x2260, "!="},  {0x2264, "<="}, {0x2265, ">="}, {0x2500, "-"},
        {0x2502, "|"},  {0x2503, "|"},   {0x2588, "#"},  {0x2591, "."},  {0x2592, "+"},
        {0x2593, "="},  {0x2713, "yes"}, {0x2717, "no"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].point == point) return table[i].text;
    return NULL;
}

static bool is_blank(const struct cell *c)
{
    return c->bytes.n == 1 && (c->bytes.p[0] == ' ' || c->bytes.p[0] == '\t');
}

/* The character at *at, which moves behind it. */
static struct cell read_cell(struct arena *a, struct str text, size_t *at, bool ascii)
{
    uint32_t point;
    size_t n = utf8_next(text, *at, &point);
    struct cell c = {str_slice(text, *at, *at + n), 1, 0};
    *at += n;
    if (point == '\t' || (point >= ' ' && point < 0x7F)) return c;
    const char *plain = ascii ? ascii_of(point) : NULL;
    c.bytes = plain ? str_of(plain) : quote_line(a, c.bytes);
    c.width = plain || c.bytes.n > n ? (int)c.bytes.n : utf8_width(point);
    return c;
}

/* A mark at *at, which moves behind it; false when there is none. */
static bool read_mark(struct str text, size_t *at, struct line *line, char *style)
{
    switch (text.p[*at]) {
    case 1: line->verbatim = true; break;
    case 2:
        if (*at + 1 == text.n) return false;
        *style = text.p[++*at];
        break;
    case 3: *style = 0; break;
    case 4: line->hang = line->n; break;
    case 5: line->wide = true; break;
    default: return false;
    }
    ++*at;
    return true;
}

static struct line read_line(struct arena *a, struct str text, bool ascii)
{
    struct line line = {.hang = SIZE_MAX};
    char style = 0;
    for (size_t at = 0; at < text.n;) {
        if (read_mark(text, &at, &line, &style)) continue;
        struct cell c = read_cell(a, text, &at, ascii);
        c.style = style;
        *VEC_PUSH(a, &line) = c;
    }
    return line;
}

/* The columns that the first n cells of a line take. */
static int width_of(const struct line *line, size_t n)
{
    int width = 0;
    for (size_t i = 0; i < n; i++)
        width += line->items[i].width;
    return width;
}

/* Whether the line's first half has a label, as "note: ". */
static bool has_label(const struct line *line, int room)
{
    for (size_t i = 1; i < line->n && width_of(line, i) <= room / 2; i++)
        if (is_blank(&line->items[i]) && str_is(line->items[i - 1].bytes, ":")) return true;
    return false;
}

/* The column in which wrapped text goes on. */
static int hang_of(const struct line *line, int room)
{
    size_t lead = 0, aligned = 0;
    while (lead < line->n && is_blank(&line->items[lead]))
        lead++;
    if (line->hang != SIZE_MAX) {
        int marked = width_of(line, line->hang);
        return marked <= room * 2 / 3 ? marked : width_of(line, lead) + 2;
    }
    for (size_t i = lead + 2; i < line->n && width_of(line, i) <= room / 2; i++)
        if (!is_blank(&line->items[i]) && is_blank(&line->items[i - 1]) &&
            is_blank(&line->items[i - 2]))
            aligned = i;
    if (aligned) return width_of(line, aligned);
    return lead || has_label(line, room) ? width_of(line, lead) + 2 : 0;
}

static const char *colour_of(char style)
{
    switch (style) {
    case 'e': return "1;31";
    case 'w': return "1;33";
    case 'i': return "1;36";
    case 'g': return "32";
    case 'h': return "1";
    case 'f': return "2";
    default: return "36";
    }
}

static void add_cells(const struct line *line, size_t from, size_t to, bool colour, struct buf *out)
{
    char style = 0;
    for (size_t i = from; i < to; i++) {
        const struct cell *c = &line->items[i];
        if (colour && c->style != style && style) buf_add(out, STR("\033[0m"));
        if (colour && c->style != style && c->style)
            buf_printf(out, "\033[%sm", colour_of(c->style));
        style = c->style;
        buf_add(out, c->bytes);
    }
    if (colour && style) buf_add(out, STR("\033[0m"));
}

/* Whether a word too long for a line may be parted behind this character. */
static bool parts(const struct cell *c)
{
    return c->bytes.n == 1 && strchr("/,=|._-:;&", c->bytes.p[0]);
}

/* Whether a line may end before this blank: no figure is parted from its percent sign. */
static bool is_break(const struct line *line, size_t at)
{
    return is_blank(&line->items[at]) &&
           (at + 1 == line->n || !str_is(line->items[at + 1].bytes, "%"));
}

/* Where a line that begins at `from`, whose text begins at `text`, ends: before a blank, else where
   a long word may be parted, else where it is full. */
static size_t end_of(const struct line *line, size_t from, size_t text, int room)
{
    size_t end = from, blank = 0, part = 0;
    int width = 0;
    for (; end < line->n && width + line->items[end].width <= room; end++) {
        width += line->items[end].width;
        if (end > text && is_break(line, end)) blank = end;
        if (parts(&line->items[end]) && end > text) part = end + 1;
    }
    if (end == line->n || is_break(line, end)) return end;
    if (blank) return blank;
    if (part) return part;
    return end > from ? end : from + 1;
}

static size_t skip_blanks(const struct line *line, size_t at)
{
    while (at < line->n && is_blank(&line->items[at]))
        at++;
    return at;
}

static void add_wrapped(const struct line *line, int room, bool colour, struct buf *out)
{
    int hang = hang_of(line, room);
    size_t from = 0, text = skip_blanks(line, 0);
    if (line->hang != SIZE_MAX && line->hang > text) text = line->hang;
    for (bool first = true; from < line->n; first = false) {
        if (!first) buf_add_char(out, '\n');
        if (!first) buf_add_n(out, ' ', (size_t)hang);
        size_t to = end_of(line, from, text, first ? room : room - hang);
        size_t shown = to;
        while (shown > from && is_blank(&line->items[shown - 1]))
            shown--;
        add_cells(line, from, shown, colour, out);
        from = text = skip_blanks(line, to);
    }
}

/* Printable ASCII that needs no wrapping is as it stands: most lines are. */
static bool is_plain(struct str text, int width)
{
    if (width && text.n > (size_t)width) return false;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < ' ' || text.p[i] > '~') return false;
    return true;
}

static void add_line(struct arena *a, struct str text, struct view view, struct buf *out)
{
    if (is_plain(text, view.width < PAGE_PROSE ? view.width : PAGE_PROSE)) {
        buf_add(out, text);
        return;
    }
    struct line line = read_line(a, text, view.ascii);
    int room = line.wide || view.width < PAGE_PROSE ? view.width : PAGE_PROSE;
    if (view.width == 0 || line.verbatim || width_of(&line, line.n) <= room)
        add_cells(&line, 0, line.n, view.colour, out);
    else
        add_wrapped(&line, room < PAGE_LEAST ? PAGE_LEAST : room, view.colour, out);
}

struct str page_render(struct arena *a, struct str marked, struct view view)
{
    struct buf out = buf_new(a);
    struct arena *work = arena_child(a, 0);
    while (marked.n) {
        size_t end = str_find(marked, '\n');
        add_line(work, str_slice(marked, 0, end), view, &out);
        arena_reset(work);
        if (end < marked.n) buf_add_char(&out, '\n');
        marked = str_slice(marked, end + 1, marked.n);
    }
    arena_free(work);
    return buf_str(&out);
}

int page_width(struct str marked)
{
    int width = 0;
    for (size_t at = 0; at < marked.n;) {
        uint32_t point;
        bool style = marked.p[at] == 2; /* with a letter */
        at += style ? 2 : utf8_next(marked, at, &point);
        if (!style && point > 5) width += utf8_width(point);
    }
    return width;
}
