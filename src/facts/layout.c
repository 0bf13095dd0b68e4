/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/layout.h"

#include "base/buf.h"
#include "base/num.h"
#include "base/vec.h"

/* ---- Megatron's string ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number after "*" at text[*at]; false when there is none or it is out of bounds. */
static bool take_count(struct str text, size_t *at, size_t *count)
{
    int64_t n = 0;
    if (*at >= text.n || text.p[*at] != '*') return false;
    size_t from = *at + 1, to = from;
    while (to < text.n && is_digit(text.p[to]))
        to++;
    if (to == from || !num_parse_int(str_slice(text, from, to), &n) || n > LAYOUT_MAX_LETTERS)
        return false;
    *at = to;
    *count = (size_t)n;
    return true;
}

static bool add_times(struct buf *out, struct str part, size_t times)
{
    if (part.n && times > (LAYOUT_MAX_LETTERS - out->n) / part.n) return false;
    while (times-- > 0)
        buf_add(out, part);
    return true;
}

/* (...)*n written out; brackets do not nest. */
static bool unroll_groups(struct str text, struct buf *out)
{
    for (size_t at = 0; at < text.n;) {
        size_t count = 0;
        if (text.p[at] != '(') {
            if (text.p[at] == ')' || !add_times(out, str_slice(text, at, at + 1), 1)) return false;
            at++;
            continue;
        }
        size_t end = at + 1 + str_find(str_slice(text, at + 1, text.n), ')');
        struct str group = str_slice(text, at + 1, end);
        if (end >= text.n || str_find(group, '(') < group.n) return false;
        at = end + 1;
        if (!take_count(text, &at, &count) || !add_times(out, group, count)) return false;
    }
    return true;
}

/* x*n written out, for one character x. */
static bool unroll_letters(struct str text, struct buf *out)
{
    for (size_t at = 0; at < text.n;) {
        size_t count = 1;
        struct str letter = str_slice(text, at, at + 1);
        at++;
        if (letter.p[0] == '*' || is_digit(letter.p[0])) return false;
        if (at < text.n && text.p[at] == '*' && !take_count(text, &at, &count)) return false;
        if (!add_times(out, letter, count)) return false;
    }
    return true;
}

static struct str without_commas(struct arena *a, struct str text)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != ',') buf_add_char(&out, text.p[i]);
    return buf_str(&out);
}

/* Offset of the first character that no layout has, or text.n. */
static size_t foreign(struct str text)
{
    const struct str known = STR("EtmL|()*,0123456789");
    size_t i = 0;
    while (i < text.n && str_find(known, text.p[i]) < known.n)
        i++;
    return i;
}

static bool parse_text(struct arena *a, struct str text, struct value *stages, struct str *error)
{
    struct buf groups = buf_new(a), letters = buf_new(a);
    VEC(struct value) list = {0};
    struct str rest, stage;
    size_t bad = foreign(text);
    if (bad < text.n) {
        *error = arena_printf(
            a, "character '%c' in the layout; only E t m L | ( ) * digits and , are allowed",
            text.p[bad]);
        return false;
    }
    if (!unroll_groups(without_commas(a, text), &groups) ||
        !unroll_letters(buf_str(&groups), &letters)) {
        *error = STR("a repetition in the layout is not of the form (...)*n or x*n");
        return false;
    }
    rest = buf_str(&letters);
    while (str_split(&rest, '|', &stage)) {
        if (list.n == LAYOUT_MAX_STAGES) {
            *error = STR("the layout has too many stages");
            return false;
        }
        *VEC_PUSH(a, &list) = value_string(stage);
    }
    *stages = value_list_of(a, list.items, list.n);
    return true;
}

/* ---- Bridge's list ---- */

static char letter_of(struct value word)
{
    static const struct {
        const char *word;
        char letter;
    } words[] = {{"embedding", 'E'}, {"decoder", 't'}, {"mtp", 'm'}, {"loss", 'L'}};
    for (size_t i = 0; word.kind == VALUE_STRING && i < sizeof words / sizeof *words; i++)
        if (str_is(word.s, words[i].word)) return words[i].letter;
    return 0;
}

static bool parse_stage(struct arena *a, struct value stage, struct value *out)
{
    struct buf letters = buf_new(a);
    if (stage.kind == VALUE_STRING) stage = value_list_of(a, &stage, 1);
    if (stage.kind != VALUE_LIST || stage.list->n > LAYOUT_MAX_LETTERS) return false;
    for (size_t i = 0; i < stage.list->n; i++) {
        char c = letter_of(stage.list->items[i]);
        if (!c) return false;
        buf_add_char(&letters, c);
    }
    *out = value_string(buf_str(&letters));
    return true;
}

static bool parse_list(struct arena *a, struct value list, struct value *stages, struct str *error)
{
    size_t n = list.list->n;
    struct value *items = ARENA_ARRAY(a, struct value, n);
    for (size_t i = 0; i < n; i++) {
        if (n <= LAYOUT_MAX_STAGES && parse_stage(a, list.list->items[i], &items[i])) continue;
        *error = arena_printf(
            a, "stage %zu of the layout is no list of embedding, decoder, mtp and loss", i);
        return false;
    }
    *stages = value_list_of(a, items, n);
    return true;
}

bool layout_parse(struct arena *a, struct value layout, struct value *stages, struct str *error)
{
    if (layout.kind == VALUE_STRING) return parse_text(a, layout.s, stages, error);
    if (layout.kind == VALUE_LIST) return parse_list(a, layout, stages, error);
    *error = STR("a layout is a string or a list of stages");
    return false;
}
