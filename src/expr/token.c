/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/utf8.h"
#include "expr/compile.h"

static const struct {
    const char *text;
    enum token_kind kind;
} operators[] = {
    /* the longer of two with the same beginning first */
    {"||", TOKEN_OR},       {"&&", TOKEN_AND},       {"==", TOKEN_EQ},      {"!=", TOKEN_NE},
    {"<=", TOKEN_LE},       {">=", TOKEN_GE},        {"<", TOKEN_LT},       {">", TOKEN_GT},
    {"+", TOKEN_PLUS},      {"-", TOKEN_MINUS},      {"*", TOKEN_TIMES},    {"/", TOKEN_DIVIDE},
    {"%", TOKEN_MODULO},    {"!", TOKEN_NOT},        {"?", TOKEN_QUESTION}, {":", TOKEN_COLON},
    {",", TOKEN_COMMA},     {".", TOKEN_DOT},        {"(", TOKEN_OPEN},     {")", TOKEN_CLOSE},
    {"[", TOKEN_OPEN_LIST}, {"]", TOKEN_CLOSE_LIST}, {"{", TOKEN_OPEN_MAP}, {"}", TOKEN_CLOSE_MAP},
};

static char peek(const struct compiler *c, size_t ahead)
{
    return c->position + ahead < c->text.n ? c->text.p[c->position + ahead] : '\0';
}

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

static bool is_word(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || is_digit(ch);
}

static void bad(struct compiler *c, size_t from, size_t to, const char *what)
{
    compile_error(c, (uint32_t)from, (uint32_t)to, "%s", what);
    c->token.kind = TOKEN_END;
}

/* Blanks and comments, which run from // to the end of the line. */
static void skip_blanks(struct compiler *c)
{
    for (;;) {
        char ch = peek(c, 0);
        if (ch == '/' && peek(c, 1) == '/') {
            while (c->position < c->text.n && peek(c, 0) != '\n')
                c->position++;
        } else if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r' || ch == '\f') {
            c->position++;
        } else {
            return;
        }
    }
}

/* The number [from, position) of digits in a base; false when it does not fit. */
static bool read_magnitude(struct compiler *c, size_t from, unsigned base)
{
    uint64_t u = 0;
    for (size_t i = from; i < c->position; i++) {
        if (__builtin_mul_overflow(u, base, &u) ||
            __builtin_add_overflow(u, (unsigned)num_hex_digit(c->text.p[i]), &u))
            return false;
    }
    c->token.u = u;
    return true;
}

static void skip_digits(struct compiler *c)
{
    while (is_digit(peek(c, 0)))
        c->position++;
}

/* The fraction and the exponent behind the digits; true when there is one of them. */
static bool skip_fraction(struct compiler *c)
{
    size_t from = c->position;
    if (peek(c, 0) == '.' && is_digit(peek(c, 1))) {
        c->position++;
        skip_digits(c);
    }
    bool exponent = peek(c, 0) == 'e' || peek(c, 0) == 'E';
    size_t sign = exponent && (peek(c, 1) == '-' || peek(c, 1) == '+');
    if (exponent && is_digit(peek(c, 1 + sign))) {
        c->position += 1 + sign;
        skip_digits(c);
    }
    return c->position > from;
}

static void read_double(struct compiler *c, size_t from)
{
    struct str text = str_slice(c->text, from, c->position);
    c->token.kind = TOKEN_DOUBLE;
    if (!num_parse_double(text, &c->token.d) || isinf(c->token.d))
        bad(c, from, c->position, "the number does not fit");
}

/* digits | 0x hexdigits, with an optional u; or digits? . digits exponent?; or digits exponent. */
static void read_number(struct compiler *c)
{
    size_t from = c->position;
    bool hex = peek(c, 0) == '0' && (peek(c, 1) == 'x' || peek(c, 1) == 'X') &&
               num_hex_digit(peek(c, 2)) >= 0;
    if (hex) {
        c->position += 2;
        while (num_hex_digit(peek(c, 0)) >= 0)
            c->position++;
    } else {
        skip_digits(c);
        if (skip_fraction(c)) {
            read_double(c, from);
            return;
        }
    }
    bool fits = read_magnitude(c, hex ? from + 2 : from, hex ? 16 : 10);
    c->token.kind = TOKEN_INT;
    if (peek(c, 0) == 'u' || peek(c, 0) == 'U') {
        c->token.kind = TOKEN_UINT;
        c->position++;
    }
    if (!fits) bad(c, from, c->position, "the number does not fit into 64 bits");
}

/* The code point of `digits` hexadecimal (or three octal) digits at the position; false when there
   is none. */
static bool read_code_point(struct compiler *c, size_t digits, unsigned base, uint32_t *out)
{
    uint32_t point = 0;
    for (size_t i = 0; i < digits; i++, c->position++) {
        int digit = num_hex_digit(peek(c, 0));
        if (digit < 0 || (unsigned)digit >= base) return false;
        point = point * base + (unsigned)digit;
    }
    *out = point;
    return point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
}

/* What follows a backslash in a string. */
static bool read_escape(struct compiler *c, struct buf *out)
{
    static const char plain[] = "abfnrtv\\?\"'`", meaning[] = "\a\b\f\n\r\t\v\\?\"'`";
    char ch = peek(c, 0);
    const char *at = ch ? strchr(plain, ch) : NULL;
    if (at) {
        c->position++;
        buf_add_char(out, meaning[at - plain]);
        return true;
    }
    bool octal = ch >= '0' && ch <= '3';
    size_t digits = octal ? 3 : ch == 'x' || ch == 'X' ? 2 : ch == 'u' ? 4 : ch == 'U' ? 8 : 0;
    uint32_t point;
    if (!octal) c->position++;
    if (!digits || !read_code_point(c, digits, octal ? 8 : 16, &point)) return false;
    char bytes[4];
    buf_add(out, (struct str){bytes, utf8_encode(point, bytes)});
    return true;
}

/* A string whose opening quotes are at the position: one or three of ' or ". */
static void read_string(struct compiler *c, size_t from, bool raw)
{
    char quote = peek(c, 0);
    size_t quotes = peek(c, 1) == quote && peek(c, 2) == quote ? 3 : 1;
    c->position += quotes;
    struct buf out = buf_new(c->arena);
    for (;;) {
        char ch = peek(c, 0);
        if (c->position >= c->text.n || (quotes == 1 && (ch == '\n' || ch == '\r'))) {
            bad(c, from, c->position, "the string has no closing quote");
            return;
        }
        if (ch == quote && (quotes == 1 || (peek(c, 1) == quote && peek(c, 2) == quote))) break;
        size_t start = c->position++;
        if (ch != '\\' || raw) {
            buf_add_char(&out, ch);
        } else if (!read_escape(c, &out)) {
            bad(c, start, c->position, "the string has an unknown escape sequence");
            return;
        }
    }
    c->position += quotes;
    c->token.kind = TOKEN_STRING;
    c->token.text = buf_str(&out);
}

/* A field name in back quotes. */
static void read_field(struct compiler *c)
{
    size_t from = c->position++;
    while (c->position < c->text.n && peek(c, 0) != '`' && peek(c, 0) != '\n')
        c->position++;
    if (peek(c, 0) != '`') {
        bad(c, from, c->position, "the name has no closing back quote");
        return;
    }
    c->token.text = str_slice(c->text, from + 1, c->position++);
    c->token.kind = TOKEN_FIELD;
}

static void read_word(struct compiler *c)
{
    size_t from = c->position;
    while (is_word(peek(c, 0)))
        c->position++;
    c->token.text = str_slice(c->text, from, c->position);
    c->token.kind = str_is(c->token.text, "in") ? TOKEN_IN : TOKEN_IDENT;
}

static void read_operator(struct compiler *c)
{
    struct str rest = str_slice(c->text, c->position, c->text.n);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (!str_starts(rest, str_of(operators[i].text))) continue;
        c->position += strlen(operators[i].text);
        c->token.kind = operators[i].kind;
        return;
    }
    const char *what = "unexpected character";
    if (rest.p[0] == '=') what = "unexpected '=': write == to compare";
    if (rest.p[0] == '&') what = "unexpected '&': write && for and";
    if (rest.p[0] == '|') what = "unexpected '|': write || for or";
    bad(c, c->position, c->position + 1, what);
}

void token_next(struct compiler *c)
{
    if (c->failed) return;
    skip_blanks(c);
    size_t from = c->position;
    c->token = (struct token){.kind = TOKEN_END, .from = (uint32_t)from};
    char ch = peek(c, 0);
    bool raw = (ch == 'r' || ch == 'R') && (peek(c, 1) == '"' || peek(c, 1) == '\'');
    if (from == c->text.n) {
    } else if (raw || ch == '"' || ch == '\'') {
        c->position += raw;
        read_string(c, from, raw);
    } else if (is_digit(ch) || (ch == '.' && is_digit(peek(c, 1)))) {
        read_number(c);
    } else if (ch == '`') {
        read_field(c);
    } else if (is_word(ch)) {
        read_word(c);
    } else {
        read_operator(c);
    }
    c->token.to = (uint32_t)c->position;
}
