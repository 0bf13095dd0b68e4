/* SPDX-License-Identifier: Apache-2.0 */
/* Strict JSON (RFC 8259) by recursive descent, one function a grammar rule; every node knows its
   bytes. */
#include "base/json.h"
#include "base/num.h"
#include "base/utf8.h"
#include "doc/duplicate.h"
#include "doc/node.h"

enum { MAX_DEPTH = 200 };

struct reader {
    struct arena *arena;
    struct diags *diags;
    uint32_t source, line;
    struct str text;
    size_t at;
    bool plain; /* no control character in the text, nor a newline: as a request is */
    int depth;
    VEC(struct node *) stack; /* children of the lists and maps that are still open */
};

static struct node *complain(struct reader *r, size_t at, const char *what)
{
    diag_add(r->diags, SEVERITY_ERROR, "json-syntax",
             source_span(&r->diags->sources, r->source, at, at + 1), "not valid JSON: %s", what);
    return NULL;
}

static struct node *too_deep(struct reader *r)
{
    diag_add(r->diags, SEVERITY_ERROR, DOC_TOO_LARGE,
             source_span(&r->diags->sources, r->source, r->at, r->at + 1),
             "too large to be read: nested more than 200 deep");
    return NULL;
}

static char peek(const struct reader *r)
{
    return r->at < r->text.n ? r->text.p[r->at] : '\0';
}

static void skip_blanks(struct reader *r)
{
    for (; r->at < r->text.n; r->at++) {
        char c = r->text.p[r->at];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') break;
        r->line += c == '\n';
    }
}

static bool take(struct reader *r, char c)
{
    if (r->at >= r->text.n || r->text.p[r->at] != c) return false;
    r->at++;
    return true;
}

static struct node *node_new(struct reader *r, enum node_kind kind, size_t from)
{
    struct node *node = ARENA_NEW(r->arena, struct node);
    node->kind = kind;
    node->source = r->source;
    node->line = r->line;
    node->from = (uint32_t)from;
    node->to = (uint32_t)r->at;
    return node;
}

static struct node *scalar_new(struct reader *r, size_t from, struct str text, bool quoted)
{
    struct node *node = node_new(r, NODE_SCALAR, from);
    node->text = text;
    node->quoted = quoted;
    return node;
}

/* ---- strings ---- */

/* The four digits after `\u`. */
static bool hex4(const struct reader *r, size_t at, uint32_t *out)
{
    *out = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = at + i < r->text.n ? num_hex_digit(r->text.p[at + i]) : -1;
        if (digit < 0) return false;
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

/* One escape, `at` being behind the backslash; a lone surrogate becomes U+FFFD. Returns bytes
   written, 0: bad escape. */
static size_t unescape(struct reader *r, char *out)
{
    static const char known[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    char c = peek(r);
    r->at++;
    *out = known[(unsigned char)c];
    if (*out) return 1;
    uint32_t high, low;
    if (c != 'u' || !hex4(r, r->at, &high)) return 0;
    r->at += 4;
    bool pair = high >= 0xD800 && high < 0xDC00 &&
                str_starts(str_slice(r->text, r->at, r->text.n), STR("\\u")) &&
                hex4(r, r->at + 2, &low) && low >= 0xDC00 && low < 0xE000;
    if (!pair) return utf8_encode(high, out);
    r->at += 6;
    return utf8_encode(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), out);
}

/* Whether the first byte of a word is its lowest. */
enum { IS_LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

/* Bytes from here that stand for themselves, eight at a time: texts of recipes come as strings. */
static size_t plain_run(const struct reader *r)
{
    size_t at = r->at;
    for (uint64_t word; r->text.n - at >= sizeof word; at += sizeof word) {
        memcpy(&word, r->text.p + at, sizeof word);
        uint64_t special = json_special_bytes(word);
        if (special && IS_LITTLE) return at - r->at + (size_t)__builtin_ctzll(special) / 8;
        if (special) break;
    }
    while (at < r->text.n && r->text.p[at] != '"' && r->text.p[at] != '\\' &&
           (unsigned char)r->text.p[at] >= 0x20)
        at++;
    return at - r->at;
}

/* Copies bytes from here to `end` or the first backslash, eight at a time; gives how many. Of a
   text without control characters, to where as many bytes as up to `end` have room. */
static size_t copy_plain(const struct reader *r, size_t end, char *to)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const char *from = r->text.p + r->at;
    size_t n = 0, most = end > r->at ? end - r->at : 0;
    for (uint64_t word; most - n >= sizeof word; n += sizeof word) {
        memcpy(&word, from + n, sizeof word);
        memcpy(to + n, &word, sizeof word);
        uint64_t other = word ^ (ones * '\\'), slash = (other - ones) & ~other & ones << 7;
        if (slash && IS_LITTLE) return n + (size_t)__builtin_ctzll(slash) / 8;
        if (slash) break;
    }
    for (; n < most && from[n] != '\\'; n++)
        to[n] = from[n];
    return n;
}

/* As many as stand for themselves. */
static size_t copy_run(const struct reader *r, size_t end, char *to)
{
    if (r->plain) return copy_plain(r, end, to);
    size_t n = plain_run(r);
    memcpy(to, r->text.p + r->at, n);
    return n;
}

/* Bytes up to the quote that ends the string: the first one behind an even number of
   backslashes. */
static size_t string_room(const struct reader *r)
{
    for (size_t at = r->at;; at++) {
        at += str_find(str_slice(r->text, at, r->text.n), '"');
        size_t slashes = 0;
        while (at - slashes > r->at && r->text.p[at - slashes - 1] == '\\')
            slashes++;
        if (at >= r->text.n || slashes % 2 == 0) return at - r->at;
    }
}

/* string = '"' *( unescaped / escape ) '"' */
static struct node *string(struct reader *r)
{
    size_t from = r->at++, n = 0, room = string_room(r), end = r->at + room;
    /* no escape is shorter than what it stands for */
    char *text = arena_room(r->arena, room + 4);
    for (;;) {
        size_t run = copy_run(r, end, text + n);
        n += run;
        r->at += run;
        if (take(r, '"')) break;
        if (r->at >= r->text.n) return complain(r, from, "the string does not end");
        size_t escape = r->at;
        if (!take(r, '\\')) return complain(r, r->at, "a control character in a string");
        size_t written = unescape(r, text + n);
        if (!written) return complain(r, escape, "no such escape in a string");
        n += written;
    }
    text[n] = '\0';
    return scalar_new(r, from, (struct str){text, n}, true);
}

/* ---- the rest ---- */

static size_t digits(struct reader *r)
{
    size_t from = r->at;
    while (peek(r) >= '0' && peek(r) <= '9')
        r->at++;
    return r->at - from;
}

/* number = [ "-" ] ( "0" / 1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ "-" / "+" ] 1*digit ] */
static struct node *number(struct reader *r)
{
    size_t from = r->at;
    take(r, '-');
    bool zero = peek(r) == '0';
    size_t n = digits(r);
    if (!n || (zero && n > 1))
        return complain(r, from, n ? "a number with leading zeros" : "a value is expected");
    if (take(r, '.') && !digits(r)) return complain(r, from, "no digits after the decimal point");
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '-')) take(r, '+');
        if (!digits(r)) return complain(r, from, "no digits in the exponent");
    }
    return scalar_new(r, from, str_dup(r->arena, str_slice(r->text, from, r->at)), false);
}

static struct node *word(struct reader *r)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct str w = str_of(words[i]);
        if (!str_starts(str_slice(r->text, r->at, r->text.n), w)) continue;
        r->at += w.n;
        return scalar_new(r, r->at - w.n, w, false);
    }
    return number(r);
}

static struct node *value(struct reader *r);

static struct node **pop(struct reader *r, size_t first, size_t step, size_t n)
{
    struct node **out = ARENA_ARRAY(r->arena, struct node *, n);
    for (size_t i = 0; i < n; i++)
        out[i] = r->stack.items[first + i * step];
    return out;
}

/* member = string ":" value */
static bool member(struct reader *r)
{
    skip_blanks(r);
    if (peek(r) != '"') return complain(r, r->at, "a key in double quotes is expected");
    struct node *key = string(r);
    if (!key) return false;
    *VEC_PUSH(r->arena, &r->stack) = key;
    skip_blanks(r);
    return take(r, ':') || complain(r, r->at, "':' is expected after a key");
}

/* The items of a list or map whose bracket has been read, on the stack; `end` is the closing
   bracket. */
static bool items(struct reader *r, char end)
{
    skip_blanks(r);
    if (take(r, end)) return true;
    for (;;) {
        if (end == '}' && !member(r)) return false;
        struct node *item = value(r);
        if (!item) return false;
        *VEC_PUSH(r->arena, &r->stack) = item;
        skip_blanks(r);
        if (take(r, end)) return true;
        if (!take(r, ','))
            return complain(r, r->at,
                            end == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
    }
}

static struct node *collection(struct reader *r, enum node_kind kind)
{
    if (r->depth == MAX_DEPTH) return too_deep(r);
    size_t first = r->stack.n;
    bool map = kind == NODE_MAP;
    struct node *node = node_new(r, kind, r->at++);
    r->depth++;
    if (!items(r, map ? '}' : ']')) return NULL;
    r->depth--;
    node->to = (uint32_t)r->at;
    node->n = (r->stack.n - first) / (map ? 2 : 1);
    node->items = pop(r, first + map, map ? 2 : 1, node->n);
    if (map) node->keys = pop(r, first, 2, node->n);
    r->stack.n = first;
    if (map) map_report_duplicates(r->arena, r->diags, node);
    return node;
}

/* value = object / array / string / number / "true" / "false" / "null" */
static struct node *value(struct reader *r)
{
    guard_tick(arena_guard(r->arena));
    skip_blanks(r);
    if (r->at >= r->text.n) return complain(r, r->at, "the text ends where a value is expected");
    switch (peek(r)) {
    case '{': return collection(r, NODE_MAP);
    case '[': return collection(r, NODE_LIST);
    case '"': return string(r);
    default: return word(r);
    }
}

static bool has_controls(struct str s)
{
    size_t at = 0;
    for (uint64_t word; s.n - at >= sizeof word; at += sizeof word) {
        memcpy(&word, s.p + at, sizeof word);
        if (json_controls(word)) return true;
    }
    while (at < s.n && (unsigned char)s.p[at] >= ' ')
        at++;
    return at < s.n;
}

struct node *doc_load_json(struct arena *a, struct diags *all, uint32_t source)
{
    struct reader r = {.arena = a, .diags = all, .source = source, .line = 1};
    r.text = source_get(&all->sources, source)->text;
    bool ascii;
    size_t bad = utf8_check(r.text, &ascii);
    if (bad < r.text.n) return complain(&r, bad, "the text is not UTF-8 here");
    r.plain = !has_controls(r.text);
    if (str_starts(r.text, STR("\xEF\xBB\xBF"))) r.at = 3;
    struct node *root = value(&r);
    skip_blanks(&r);
    if (root && r.at < r.text.n) return complain(&r, r.at, "something follows the value");
    return root;
}
