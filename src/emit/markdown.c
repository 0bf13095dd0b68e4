/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/markdown.h"

/* The text of `…` and **…** in colour; where one is not closed, the rest is. */
static void add_inline(struct str s, struct buf *out)
{
    bool code = false, strong = false;
    for (size_t i = 0; i < s.n; i++) {
        bool two = i + 1 < s.n && s.p[i] == '*' && s.p[i + 1] == '*';
        if (s.p[i] == '`') {
            buf_add(out, code ? STR(MARK_END) : STR(MARK_CODE));
            code = !code;
        } else if (two && !code) {
            buf_add(out, strong ? STR(MARK_END) : STR(MARK_HEADING));
            strong = !strong;
            i++;
        } else {
            buf_add_char(out, s.p[i]);
        }
    }
    if (code || strong) buf_add(out, STR(MARK_END));
    buf_add_char(out, '\n');
}

static size_t heading_level(struct str line)
{
    size_t level = 0;
    while (level < line.n && line.p[level] == '#')
        level++;
    return level && level < line.n && line.p[level] == ' ' ? level : 0;
}

static void add_line(struct str line, struct buf *out)
{
    size_t level = heading_level(line);
    if (level)
        buf_printf(out, MARK_HEADING "%.*s" MARK_END "\n",
                   STR_ARG(str_slice(line, level + 1, line.n)));
    else if (str_starts(line, STR("    ")))
        buf_printf(out, MARK_WIDE "%.*s\n", STR_ARG(line));
    else if (str_is(line, "---"))
        buf_add(out, STR(MARK_FAINT "----------" MARK_END "\n"));
    else if (str_starts(line, STR("- "))) {
        buf_add(out, STR("- " MARK_HANG));
        add_inline(str_slice(line, 2, line.n), out);
    } else
        add_inline(line, out);
}

void markdown_screen(struct str page, struct buf *out)
{
    struct str line;
    while (str_split(&page, '\n', &line))
        if (page.n || line.n) add_line(line, out);
}
