/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/svg.h"

/* Of a character and a line, and the edge round the text, in pixels. */
enum { ADVANCE = 8, LEADING = 18, EDGE = 16, ASCENT = 13 };

static const char HEAD[] =
    "<style>text{font:13.2px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;"
    "fill:#1f2328}.b{fill:#fff;stroke:#d0d7de}.h{font-weight:700}.e{fill:#b42318;font-weight:700}"
    ".w{fill:#8a5a00;font-weight:700}.i{fill:#0b6a88}.g{fill:#1a7f37}.f{fill:#57606a}.c{fill:#0550ae}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.b{fill:#0d1117;stroke:#30363d}"
    ".e{fill:#ff8a80}.w{fill:#e3b341}.i{fill:#79c0ff}.g{fill:#56d364}.f{fill:#9da7b3}"
    ".c{fill:#a5d6ff}}</style>\n";

/* The class of a colour that page_render writes. */
static char class_of(struct str code)
{
    static const struct {
        const char *code;
        char class;
    } table[] = {{"1;31", 'e'}, {"1;33", 'w'}, {"1;36", 'i'}, {"32", 'g'},
                 {"1", 'h'},    {"2", 'f'},    {"36", 'c'}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (str_is(code, table[i].code)) return table[i].class;
    return 0;
}

static void add_char(char c, struct buf *out)
{
    if (c == '<')
        buf_add(out, STR("&lt;"));
    else if (c == '&')
        buf_add(out, STR("&amp;"));
    else
        buf_add_char(out, c);
}

static void add_line(struct str line, int number, struct buf *out)
{
    bool open = false;
    buf_printf(out, "<text x=\"%d\" y=\"%d\">", EDGE, EDGE + ASCENT + number * LEADING);
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] != '\033') {
            add_char(line.p[i], out);
            continue;
        }
        size_t end = i + str_find(str_slice(line, i, line.n), 'm');
        char class = class_of(str_slice(line, i + 2, end));
        if (open) buf_add(out, STR("</tspan>"));
        if (class) buf_printf(out, "<tspan class=\"%c\">", class);
        open = class != 0;
        i = end;
    }
    buf_printf(out, "%s</text>\n", open ? "</tspan>" : "");
}

void svg_screen(struct str marked, int width, struct buf *out)
{
    struct view view = {.width = width, .colour = true};
    struct str shown = page_render(out->arena, marked, view), rest = shown, line;
    int n = (int)str_count(shown, '\n');
    int wide = 2 * EDGE + width * ADVANCE, high = 2 * EDGE + n * LEADING;
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
               "role=\"img\" aria-label=\"A screen of moeplan\">\n%s"
               "<rect class=\"b\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
               wide, high, wide, HEAD, wide - 1, high - 1);
    for (int i = 0; i < n && str_split(&rest, '\n', &line); i++)
        add_line(line, i, out);
    buf_add(out, STR("</svg>\n"));
}
