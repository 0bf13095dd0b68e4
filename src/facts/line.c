/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/line.h"

#include "base/num.h"

/* ---- cutting ---- */

struct line_cutter line_cutter_new(struct arena *a)
{
    return (struct line_cutter){buf_new(a)};
}

static void add_rest(struct line_cutter *c, struct str part)
{
    size_t room = LINE_LONGEST - (c->rest.n < LINE_LONGEST ? c->rest.n : LINE_LONGEST);
    buf_add(&c->rest, str_slice(part, 0, room));
}

void line_cut(struct line_cutter *c, struct str piece, line_take *take, void *context)
{
    for (size_t end; (end = str_find(piece, '\n')) < piece.n;) {
        struct str line = str_slice(piece, 0, end);
        if (c->rest.n) {
            add_rest(c, line);
            line = buf_str(&c->rest);
        }
        take(context, str_slice(line, 0, LINE_LONGEST));
        c->rest.n = 0;
        piece = str_slice(piece, end + 1, piece.n);
    }
    add_rest(c, piece);
}

void line_cut_end(struct line_cutter *c, line_take *take, void *context)
{
    if (c->rest.n) take(context, buf_str(&c->rest));
    c->rest.n = 0;
}

/* ---- numbers ---- */

bool line_leading_number(struct str s, double *out)
{
    s = str_trim(s);
    size_t n = 0;
    while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '.' ||
                       (n == 0 && (s.p[n] == '-' || s.p[n] == '+')) ||
                       (n > 0 && (s.p[n] == 'e' || s.p[n] == 'E')) ||
                       (n > 0 && (s.p[n] == '-' || s.p[n] == '+') &&
                        (s.p[n - 1] == 'e' || s.p[n - 1] == 'E'))))
        n++;
    while (n > 0 && (s.p[n - 1] == '.' || s.p[n - 1] == 'e' || s.p[n - 1] == 'E'))
        n--;
    return n > 0 && num_parse_double(str_slice(s, 0, n), out);
}

bool line_number_after(struct str line, const char *label, double *out)
{
    struct str word = str_of(label);
    size_t at = str_find_str(line, word);
    return at < line.n && line_leading_number(str_slice(line, at + word.n, line.n), out);
}
