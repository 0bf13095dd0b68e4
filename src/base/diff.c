/* SPDX-License-Identifier: Apache-2.0 */
/* Both texts are walked from both ends towards what differs; in between the longest common
   subsequence says which lines stay. */
#include "base/diff.h"

#include "base/vec.h"

enum { CONTEXT = 3, MOST_CELLS = 1 << 22 };

struct lines {
    struct str *items; /* with their newlines */
    size_t n, cap;
};

static struct lines lines_of(struct arena *a, struct str text)
{
    struct lines lines = {0};
    while (text.n) {
        size_t end = str_find(text, '\n');
        end += end < text.n;
        *VEC_PUSH(a, &lines) = str_slice(text, 0, end);
        text = str_slice(text, end, text.n);
    }
    return lines;
}

/* What becomes of lines: ' ' stays, '-' goes, '+' comes. */
struct step {
    char kind;
    struct str line;
};
struct steps {
    struct step *items;
    size_t n, cap;
};

static void push(struct arena *a, struct steps *steps, char kind, struct str line)
{
    *VEC_PUSH(a, steps) = (struct step){kind, line};
}

/* Lines [from, to) of both texts; the table holds the length of what is common behind each pair. */
static void middle(struct arena *a, struct steps *steps, const struct lines *old, size_t old_to,
                   const struct lines *new, size_t new_to, size_t from)
{
    size_t n = old_to - from, m = new_to - from, i = 0, k = 0;
    bool small = (n + 1) * (m + 1) <= MOST_CELLS; /* else all goes and all comes */
    uint32_t *common = small ? ARENA_ARRAY(a, uint32_t, (n + 1) * (m + 1)) : NULL;
    for (i = small ? n : 0; i-- > 0;)
        for (k = m; k-- > 0;) {
            uint32_t *row = common + i * (m + 1), *next = row + m + 1;
            bool same = str_eq(old->items[from + i], new->items[from + k]);
            row[k] = same ? next[k + 1] + 1 : next[k] > row[k + 1] ? next[k] : row[k + 1];
        }
    for (i = k = 0; i < n || k < m;) {
        bool both = i < n && k < m;
        if (small && both && str_eq(old->items[from + i], new->items[from + k])) {
            push(a, steps, ' ', old->items[from + i]);
            i++;
            k++;
        } else if (k == m || (both && (!small || common[(i + 1) * (m + 1) + k] >=
                                                     common[i * (m + 1) + k + 1]))) {
            push(a, steps, '-', old->items[from + i++]);
        } else {
            push(a, steps, '+', new->items[from + k++]);
        }
    }
}

static struct steps steps_of(struct arena *a, struct str before, struct str after)
{
    struct lines old = lines_of(a, before), new = lines_of(a, after);
    struct steps steps = {0};
    size_t head = 0, tail = 0;
    size_t most = old.n < new.n ? old.n : new.n;
    while (head < most && str_eq(old.items[head], new.items[head]))
        push(a, &steps, ' ', old.items[head++]);
    while (tail < most - head && str_eq(old.items[old.n - 1 - tail], new.items[new.n - 1 - tail]))
        tail++;
    middle(a, &steps, &old, old.n - tail, &new, new.n - tail, head);
    for (size_t i = old.n - tail; i < old.n; i++)
        push(a, &steps, ' ', old.items[i]);
    return steps;
}

static void add_line(struct buf *out, const struct step *s)
{
    buf_add_char(out, s->kind);
    buf_add(out, s->line);
    if (!str_ends(s->line, STR("\n"))) buf_add(out, STR("\n\\ No newline at end of file\n"));
}

/* The end of the hunk that begins at `from`: where nothing changes for more than two contexts. */
static size_t hunk_end(const struct steps *steps, size_t from)
{
    size_t last = from;
    for (size_t i = from; i < steps->n && i - last <= 2 * CONTEXT; i++)
        if (steps->items[i].kind != ' ') last = i;
    return last + 1 + CONTEXT < steps->n ? last + 1 + CONTEXT : steps->n;
}

struct position {
    size_t old, new;
};

static void pass(struct position *at, const struct step *s)
{
    at->old += s->kind != '+';
    at->new += s->kind != '-';
}

/* "3,4"; a hunk of no lines stands behind the one before it. */
static void add_range(struct buf *out, size_t start, size_t n)
{
    buf_printf(out, "%zu,%zu", n ? start + 1 : start, n);
}

static void add_hunk(struct buf *out, const struct steps *steps, size_t from, size_t to,
                     struct position start)
{
    struct position end = start;
    for (size_t i = from; i < to; i++)
        pass(&end, &steps->items[i]);
    buf_add(out, STR("@@ -"));
    add_range(out, start.old, end.old - start.old);
    buf_add(out, STR(" +"));
    add_range(out, start.new, end.new - start.new);
    buf_add(out, STR(" @@\n"));
    for (size_t i = from; i < to; i++)
        add_line(out, &steps->items[i]);
}

void diff_unified(struct buf *out, struct str path, struct str before, struct str after)
{
    struct steps steps = steps_of(out->arena, before, after);
    struct position at = {0};
    size_t shown = 0; /* what was passed */
    bool head = false;
    for (size_t i = 0; i < steps.n; i++) {
        if (steps.items[i].kind == ' ') continue;
        size_t from = i - shown > CONTEXT ? i - CONTEXT : shown, to = hunk_end(&steps, i);
        for (; shown < from; shown++)
            pass(&at, &steps.items[shown]);
        if (!head) buf_printf(out, "--- a/%.*s\n+++ b/%.*s\n", STR_ARG(path), STR_ARG(path));
        head = true;
        add_hunk(out, &steps, from, to, at);
        for (; shown < to; shown++)
            pass(&at, &steps.items[shown]);
        i = to - 1;
    }
}
