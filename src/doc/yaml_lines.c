/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule here takes less than YAML does: what is in doubt is left to libyaml, which reads the
   text from its beginning then. */
#include "doc/yaml_lines.h"

enum { MOST_OPEN = 64, LONGEST_KEY = 1000 }; /* bytes; libyaml takes keys of 1,024 */

enum block { BLOCK_MAP, BLOCK_LIST, BLOCK_LIST_OF_KEY }; /* the last: its dashes below a key's */

struct open {
    enum block block;
    size_t column;
};

struct lines {
    struct str text;
    bool (*take)(void *state, const yaml_event_t *event);
    void *state;
    size_t line, begin, end; /* the line being read, and its bytes */
    struct open open[MOST_OPEN];
    size_t depth;
    bool awaits; /* a key or a dash has no value yet, which would be empty behind it: */
    size_t behind, behind_line;
};

/* ---- events ---- */

static yaml_event_t event_at(const struct lines *r, yaml_event_type_t type, size_t from, size_t to)
{
    return (yaml_event_t){.type = type,
                          .start_mark = {.index = from, .line = r->line},
                          .end_mark = {.index = to, .line = r->line}};
}

static bool give(struct lines *r, yaml_event_type_t type, size_t from, size_t to)
{
    yaml_event_t event = event_at(r, type, from, to);
    return r->take(r->state, &event);
}

/* A scalar of the bytes from `from` up to `to`, quotes included. */
static bool give_scalar(struct lines *r, size_t from, size_t to, yaml_scalar_style_t style)
{
    yaml_event_t event = event_at(r, YAML_SCALAR_EVENT, from, to);
    size_t quote = style != YAML_PLAIN_SCALAR_STYLE;
    const union {
        const char *in;
        yaml_char_t *out; /* nobody writes to it */
    } value = {.in = r->text.p + from + quote};
    event.data.scalar.value = value.out;
    event.data.scalar.length = to - from - 2 * quote;
    event.data.scalar.style = style;
    return r->take(r->state, &event);
}

static bool give_empty(struct lines *r)
{
    yaml_event_t event = event_at(r, YAML_SCALAR_EVENT, r->behind, r->behind);
    event.start_mark.line = event.end_mark.line = r->behind_line;
    event.data.scalar.value = (yaml_char_t[]){0};
    event.data.scalar.style = YAML_PLAIN_SCALAR_STYLE;
    r->awaits = false;
    return r->take(r->state, &event);
}

static bool open_block(struct lines *r, enum block block, size_t at)
{
    if (r->depth == MOST_OPEN) return false;
    r->open[r->depth++] = (struct open){block, at - r->begin};
    r->awaits = false;
    bool below_key = block == BLOCK_LIST_OF_KEY; /* libyaml's mark is the dash itself */
    return give(r, block == BLOCK_MAP ? YAML_MAPPING_START_EVENT : YAML_SEQUENCE_START_EVENT, at,
                at + below_key);
}

static bool close_block(struct lines *r, size_t at)
{
    bool map = r->open[--r->depth].block == BLOCK_MAP;
    return give(r, map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT, at, at);
}

/* ---- parts of a line ---- */

static char byte(const struct lines *r, size_t at)
{
    return at < r->end ? r->text.p[at] : '\n';
}

static bool is_blank(const struct lines *r, size_t at)
{
    return byte(r, at) == ' ' || byte(r, at) == '\n';
}

static size_t skip_blanks(const struct lines *r, size_t at)
{
    while (byte(r, at) == ' ')
        at++;
    return at;
}

static bool is_comment(const struct lines *r, size_t at)
{
    return byte(r, at) == '#' && (at == r->begin || r->text.p[at - 1] == ' ');
}

/* Whether nothing but a comment stands from here on. */
static bool is_rest(const struct lines *r, size_t at)
{
    at = skip_blanks(r, at);
    return at == r->end || is_comment(r, at);
}

static bool is_dash(const struct lines *r, size_t at)
{
    return byte(r, at) == '-' && is_blank(r, at + 1);
}

static bool is_colon(const struct lines *r, size_t at)
{
    return byte(r, at) == ':' && is_blank(r, at + 1);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Whether a plain scalar may begin here; a few more characters are good for YAML. */
static bool may_begin(const struct lines *r, size_t at, bool flow)
{
    char c = byte(r, at);
    bool sign = c == '-' || (c == ':' && !flow);
    return is_word(c) || (sign && !is_blank(r, at + 1)) || (c != '\n' && strchr("_./$~+<(^", c));
}

static size_t without_blanks(const struct lines *r, size_t from, size_t to)
{
    while (to > from && r->text.p[to - 1] == ' ')
        to--;
    return to;
}

/* Where the plain scalar ends that begins at `at`. */
static size_t plain_end(const struct lines *r, size_t at)
{
    size_t to = at;
    while (to < r->end && !is_colon(r, to) && !is_comment(r, to))
        to++;
    return without_blanks(r, at, to);
}

/* The same within brackets, where it is only known to end before what separates items: of `at`
   itself where anything else stands. */
static size_t flow_end(const struct lines *r, size_t at)
{
    size_t to = at;
    for (; is_word(byte(r, to)) || (to < r->end && strchr(" _./+-=$*~():", r->text.p[to])); to++)
        if (byte(r, to) == ':' && !is_word(byte(r, to + 1))) break;
    return without_blanks(r, at, to);
}

/* The end of a scalar in quotes on this line and without escapes; `at` itself: there is none. */
static size_t quoted_end(const struct lines *r, size_t at)
{
    char quote = r->text.p[at];
    for (size_t to = at + 1; to < r->end; to++) {
        if (r->text.p[to] == '\\' && quote == '"') return at;
        if (r->text.p[to] != quote) continue;
        return byte(r, to + 1) == quote ? at : to + 1;
    }
    return at;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

static yaml_scalar_style_t style_of(char first)
{
    if (!is_quote(first)) return YAML_PLAIN_SCALAR_STYLE;
    return first == '"' ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_SINGLE_QUOTED_SCALAR_STYLE;
}

/* The end of the scalar that begins at `at`; `at` itself: there is none. */
static size_t scalar_end(const struct lines *r, size_t at, bool flow)
{
    if (is_quote(byte(r, at))) return quoted_end(r, at);
    if (!may_begin(r, at, flow)) return at;
    return flow ? flow_end(r, at) : plain_end(r, at);
}

static bool take_scalar(struct lines *r, size_t *at, bool flow)
{
    size_t from = *at;
    *at = scalar_end(r, from, flow);
    return *at > from && give_scalar(r, from, *at, style_of(r->text.p[from]));
}

/* ---- brackets ---- */

static bool read_flow(struct lines *r, size_t *at, size_t depth);

static bool read_flow_item(struct lines *r, size_t *at, size_t depth)
{
    char c = byte(r, *at);
    return c == '[' || c == '{' ? read_flow(r, at, depth + 1) : take_scalar(r, at, true);
}

/* [a, b] or {a: 1, b: 2}, on one line, each item there and each key with a value. */
static bool read_flow(struct lines *r, size_t *at, size_t depth)
{
    bool map = byte(r, *at) == '{';
    char end = map ? '}' : ']';
    if (depth == MOST_OPEN) return false;
    if (!give(r, map ? YAML_MAPPING_START_EVENT : YAML_SEQUENCE_START_EVENT, *at, *at + 1))
        return false;
    for (size_t n = 0;; n++) {
        *at = skip_blanks(r, *at + 1); /* behind the bracket or a comma */
        if (n == 0 && byte(r, *at) == end) break;
        if (map) {
            if (!take_scalar(r, at, true)) return false;
            *at = skip_blanks(r, *at);
            if (!is_colon(r, *at)) return false;
            *at = skip_blanks(r, *at + 1);
        }
        if (!read_flow_item(r, at, depth)) return false;
        *at = skip_blanks(r, *at);
        if (byte(r, *at) == end) break;
        if (byte(r, *at) != ',') return false;
    }
    *at += 1;
    return give(r, map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT, *at - 1, *at);
}

/* ---- lines ---- */

static void await(struct lines *r, size_t behind)
{
    r->awaits = true;
    r->behind = behind;
    r->behind_line = r->line;
}

/* Ends what the column of a line's first word ends, and opens what it begins. */
static bool settle(struct lines *r, size_t at)
{
    bool dash = is_dash(r, at);
    size_t column = at - r->begin;
    const struct open *top = r->depth ? &r->open[r->depth - 1] : NULL;
    if (!top || (r->awaits && column > top->column))
        return open_block(r, dash ? BLOCK_LIST : BLOCK_MAP, at);
    if (r->awaits && dash && column == top->column && top->block == BLOCK_MAP)
        return open_block(r, BLOCK_LIST_OF_KEY, at);
    if (r->awaits && !give_empty(r)) return false;
    while (r->depth) {
        top = &r->open[r->depth - 1];
        bool over = top->block == BLOCK_LIST_OF_KEY && !dash && column == top->column;
        if (column >= top->column && !over) break;
        if (!close_block(r, at)) return false;
    }
    return r->depth && top->column == column && dash == (top->block != BLOCK_MAP);
}

/* What stands behind a key or a dash, up to the line's end. */
static bool read_value(struct lines *r, size_t at)
{
    char c = byte(r, at);
    bool good = c == '[' || c == '{' ? read_flow(r, &at, 0) : take_scalar(r, &at, false);
    r->awaits = false;
    return good && is_rest(r, at);
}

/* A key with its value, if that stands on the line, or the item of a dash. */
static bool read_entry(struct lines *r, size_t at, bool behind_dash)
{
    size_t to = scalar_end(r, at, false), colon = skip_blanks(r, to);
    if (to == at || !is_colon(r, colon)) return behind_dash && read_value(r, at);
    if (colon - at > LONGEST_KEY) return false;
    if (behind_dash && !open_block(r, BLOCK_MAP, at)) return false;
    if (!give_scalar(r, at, to, style_of(r->text.p[at]))) return false;
    await(r, colon + 1);
    return is_rest(r, colon + 1) || read_value(r, skip_blanks(r, colon + 1));
}

static bool read_line(struct lines *r)
{
    size_t at = skip_blanks(r, r->begin);
    bool behind_dash = false;
    if (is_rest(r, at)) return true;
    if (!settle(r, at)) return false;
    while (is_dash(r, at)) {
        if (behind_dash && !open_block(r, BLOCK_LIST, at)) return false;
        behind_dash = true;
        await(r, at + 1);
        if (is_rest(r, at + 1)) return true;
        at = skip_blanks(r, at + 1);
    }
    return read_entry(r, at, behind_dash);
}

/* What ends or begins a document, or is about it, is not read here, but for one --- before all. */
static bool is_mark(const struct lines *r)
{
    struct str line = {r->text.p + r->begin, r->end - r->begin};
    return str_starts(line, STR("---")) || str_starts(line, STR("...")) ||
           str_starts(line, STR("%"));
}

/* Whether a character is one that libyaml may refuse, or take for the end of a line: controls,
   Unicode's separators of lines, byte order marks and what stands near them. */
static bool is_odd(struct str text, size_t at)
{
    unsigned char c = (unsigned char)text.p[at];
    if (c < 0x80) return c == 0x7F || (c < ' ' && c != '\n');
    unsigned char next = at + 1 < text.n ? (unsigned char)text.p[at + 1] : 0;
    bool control = c == 0xC2 && next < 0xA0,
         separator = str_starts(str_slice(text, at, text.n), STR("\xE2\x80\xA8")) ||
                     str_starts(str_slice(text, at, text.n), STR("\xE2\x80\xA9"));
    return control || separator || c == 0xEF;
}

/* Whether the next eight bytes are printable ASCII: no top bit, and none by taking away a blank or
   adding one. */
static bool is_printable_ahead(struct str text, size_t at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;
    if (text.n - at < sizeof word) return false;
    memcpy(&word, text.p + at, sizeof word);
    return !((word | (word - ones * ' ') | (word + ones)) & ones << 7);
}

static bool has_odd(struct str text)
{
    for (size_t at = 0; at < text.n; at++) {
        while (is_printable_ahead(text, at))
            at += sizeof(uint64_t);
        if (at < text.n && is_odd(text, at)) return true;
    }
    return false;
}

static bool read_lines(struct lines *r)
{
    bool begun = false;
    for (r->begin = 0; r->begin < r->text.n; r->begin = r->end + 1, r->line++) {
        struct str rest = str_slice(r->text, r->begin, r->text.n);
        r->end = r->begin + str_find(rest, '\n');
        struct str line = str_slice(rest, 0, r->end - r->begin);
        bool first = !begun && !r->depth && str_is(line, "---");
        begun = begun || first;
        if (!first && (is_mark(r) || !read_line(r))) return false;
    }
    return true;
}

static bool close_all(struct lines *r)
{
    if (!r->depth) return false; /* an empty document */
    if (r->awaits && !give_empty(r)) return false;
    while (r->depth)
        if (!close_block(r, r->text.n)) return false;
    return give(r, YAML_DOCUMENT_END_EVENT, r->text.n, r->text.n);
}

bool yaml_lines_read(struct str text, bool (*take)(void *state, const yaml_event_t *event),
                     void *state)
{
    struct lines r = {.text = text, .take = take, .state = state};
    return !has_odd(text) && give(&r, YAML_DOCUMENT_START_EVENT, 0, 0) && read_lines(&r) &&
           close_all(&r);
}
