/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quote.h"

#include "base/utf8.h"

bool quote_is_hazard(uint32_t point)
{
    static const struct {
        uint32_t from, to;
    } ranges[] = {
        {0x00, 0x1F},      /* C0 */
        {0x7F, 0x9F},      /* DEL and C1 */
        {0x061C, 0x061C},  /* Arabic letter mark */
        {0x200E, 0x200F},  /* left-to-right and right-to-left mark */
        {0x2028, 0x202E},  /* line and paragraph separator, embeddings and overrides */
        {0x2066, 0x2069},  /* isolates */
        {0xFEFF, 0xFEFF},  /* byte order mark */
        {0xFFF9, 0xFFFB},  /* interlinear annotation */
        {0xFFFE, 0xFFFF},  /* no characters */
        {0xE0000, 0xE007F} /* tags */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (point >= ranges[i].from && point <= ranges[i].to) return true;
    return false;
}

/* One character of a text. */
struct glyph {
    struct str bytes;
    uint32_t point;
    bool broken; /* a byte that is not UTF-8 */
};

/* The character at *at, which moves behind it. */
static struct glyph next_glyph(struct str s, size_t *at)
{
    struct glyph g;
    size_t n = utf8_next(s, *at, &g.point);
    g.bytes = str_slice(s, *at, *at + n);
    g.broken = n == 1 && (unsigned char)*g.bytes.p >= 0x80;
    *at += n;
    return g;
}

static bool needs_care(struct glyph g)
{
    return g.broken || quote_is_hazard(g.point);
}

/* Whether every character stands for itself. */
static bool is_harmless(struct str s)
{
    for (size_t at = 0; at < s.n;) {
        unsigned char c = (unsigned char)s.p[at];
        if (c >= ' ' && c < 0x7F)
            at++;
        else if (needs_care(next_glyph(s, &at)))
            return false;
    }
    return true;
}

/* ---- for people ---- */

static void add_visible(struct buf *out, struct glyph g)
{
    if (g.point == '\n')
        buf_add(out, STR("\\n"));
    else if (g.point == '\t')
        buf_add(out, STR("\\t"));
    else if (g.point == '\r')
        buf_add(out, STR("\\r"));
    else if (g.broken || g.point < 0x80)
        buf_printf(out, "\\x%02x", (unsigned char)*g.bytes.p);
    else
        buf_printf(out, g.point > 0xFFFF ? "\\U%08x" : "\\u%04x", g.point);
}

struct str quote_line(struct arena *a, struct str s)
{
    if (is_harmless(s)) return s;
    struct buf b = buf_new(a);
    for (size_t at = 0; at < s.n;) {
        struct glyph g = next_glyph(s, &at);
        if (needs_care(g))
            add_visible(&b, g);
        else
            buf_add(&b, g.bytes);
    }
    return buf_str(&b);
}

struct str quote_screen(struct arena *a, struct str s)
{
    struct buf b = buf_new(a);
    size_t kept = 0; /* bytes up to here are in b, or nothing had to change yet */
    for (size_t at = 0; at < s.n;) {
        size_t from = at;
        if (s.p[at] == '\n' || s.p[at] == '\t' || (s.p[at] >= ' ' && s.p[at] < 0x7F)) {
            at++;
            continue;
        }
        struct glyph g = next_glyph(s, &at);
        if (!needs_care(g)) continue;
        buf_add(&b, str_slice(s, kept, from));
        add_visible(&b, g);
        kept = at;
    }
    if (!kept) return s;
    buf_add(&b, str_slice(s, kept, s.n));
    return buf_str(&b);
}

/* ---- shell ---- */

static bool is_plain_in_shell(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_-./=:,+@%", c));
}

static void add_in_single_quotes(struct buf *out, struct str s)
{
    buf_add_char(out, '\'');
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\'')
            buf_add(out, STR("'\\''"));
        else
            buf_add_char(out, s.p[i]);
    buf_add_char(out, '\'');
}

/* Octal escapes have three digits, so that a digit after them stays apart. */
static void add_in_ansi_quotes(struct buf *out, struct str s)
{
    buf_add(out, STR("$'"));
    for (size_t at = 0; at < s.n;) {
        struct glyph g = next_glyph(s, &at);
        if (g.point == '\n')
            buf_add(out, STR("\\n"));
        else if (g.point == '\'' || g.point == '\\')
            buf_printf(out, "\\%c", (char)g.point);
        else if (needs_care(g))
            for (size_t i = 0; i < g.bytes.n; i++)
                buf_printf(out, "\\%03o", (unsigned char)g.bytes.p[i]);
        else
            buf_add(out, g.bytes);
    }
    buf_add_char(out, '\'');
}

struct str quote_shell(struct arena *a, struct str s)
{
    s = str_slice(s, 0, str_find(s, '\0'));
    bool plain = s.n > 0;
    for (size_t i = 0; i < s.n && plain; i++)
        plain = is_plain_in_shell(s.p[i]);
    if (plain) return s;
    struct buf b = buf_new(a);
    if (is_harmless(s))
        add_in_single_quotes(&b, s);
    else
        add_in_ansi_quotes(&b, s);
    return buf_str(&b);
}

/* Up to `most` digits of a base at *at, which moves behind them. */
static uint32_t take_digits(struct str text, size_t *at, int base, size_t most)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t n = 0;
    for (size_t i = 0; i < most && *at < text.n && text.p[*at]; i++, ++*at) {
        char c = text.p[*at];
        if (c >= 'A' && c <= 'F') c = (char)(c - 'A' + 'a');
        const char *digit = strchr(digits, c);
        if (!digit || digit - digits >= base) break;
        n = n * (uint32_t)base + (uint32_t)(digit - digits);
    }
    return n;
}

/* \cX: Control-X; *at is behind the c. */
static char take_control(struct str text, size_t *at)
{
    char c = text.p[(*at)++];
    if (c == '\\' && *at < text.n && text.p[*at] == c) ++*at; /* it is written twice */
    return (char)(c == '?' ? 0x7f : c & 0x1f);
}

/* \101, \x41, \u00e9, \U0001f600: `c` is the character behind the backslash and *at behind it.
   False when there is no digit. */
static bool take_number(struct str text, size_t *at, char c, struct buf *out)
{
    bool octal = c >= '0' && c <= '7', byte = octal || c == 'x';
    size_t most = octal ? 3 : c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (octal) --*at;
    size_t from = *at;
    uint32_t n = take_digits(text, at, octal ? 8 : 16, most);
    if (*at == from) return false;
    char encoded[4] = {(char)n};
    buf_add(out, (struct str){encoded, byte ? 1 : utf8_encode(n, encoded)});
    return true;
}

/* One escape, *at behind its backslash: bash(1), QUOTING. What is none stands for itself. */
static void take_escape(struct str text, size_t *at, struct buf *out)
{
    static const char letters[] = "abeEfnrtv\\'\"?", meant[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    char c = text.p[(*at)++];
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter)
        buf_add_char(out, meant[letter - letters]);
    else if (c == 'c' && *at < text.n)
        buf_add_char(out, take_control(text, at));
    else if (!take_number(text, at, c, out))
        buf_printf(out, "\\%c", c);
}

bool quote_take_ansi(struct str text, size_t *at, struct buf *out)
{
    size_t end = *at, before = out->n;
    while (end < text.n && text.p[end] != '\'')
        end += text.p[end] == '\\' ? 2 : 1;
    if (end >= text.n) return false;
    struct str inside = str_slice(text, *at, end);
    for (size_t i = 0; i < inside.n;)
        if (inside.p[i++] == '\\' && i < inside.n)
            take_escape(inside, &i, out);
        else
            buf_add_char(out, inside.p[i - 1]);
    out->n = before + str_find(str_slice(buf_str(out), before, out->n), '\0');
    *at = end + 1;
    return true;
}

/* ---- YAML ---- */

static bool is_word(struct str s, const char *const *words)
{
    for (; *words; words++)
        if (str_eq_nocase(s, str_of(*words))) return true;
    return false;
}

/* Words that YAML 1.1, YAML 1.2 or moeplan's own files read as something else than text. */
static bool is_yaml_word(struct str s)
{
    static const char *const words[] = {"true", "false", "yes",  "no", "on", "off", "y",
                                        "n",    "null",  "none", "~",  "=",  "<<",  NULL};
    return is_word(s, words);
}

static bool is_plain_in_yaml(struct str s)
{
    if (!s.n || is_yaml_word(s) || !is_harmless(s)) return false;
    if (strchr("-?:,[]{}#&*!|>'\"%@`= 0123456789.+~<", s.p[0])) return false;
    if (s.p[s.n - 1] == ' ') return false;
    for (size_t i = 0; i < s.n; i++)
        if (strchr(":#\",[]{}", s.p[i])) return false; /* also within [a, b] and {a: b} */
    return true;
}

static void add_in_yaml(struct buf *out, struct glyph g)
{
    if (g.broken)
        buf_add(out, STR("\xEF\xBF\xBD"));
    else if (g.point == '"' || g.point == '\\')
        buf_printf(out, "\\%c", (char)g.point);
    else if (g.point == '\n')
        buf_add(out, STR("\\n"));
    else if (g.point == '\t')
        buf_add(out, STR("\\t"));
    else if (needs_care(g))
        buf_printf(out,
                   g.point > 0xFFFF ? "\\U%08X"
                   : g.point > 0xFF ? "\\u%04X"
                                    : "\\x%02X",
                   g.point);
    else
        buf_add(out, g.bytes);
}

struct str quote_yaml(struct arena *a, struct str s)
{
    if (is_plain_in_yaml(s)) return s;
    struct buf b = buf_new(a);
    buf_add_char(&b, '"');
    for (size_t at = 0; at < s.n;)
        add_in_yaml(&b, next_glyph(s, &at));
    buf_add_char(&b, '"');
    return buf_str(&b);
}

/* ---- Hydra ---- */

/* Words that Hydra's grammar reads as something else than text. */
static bool is_hydra_word(struct str s)
{
    static const char *const words[] = {"true", "false", "null", "inf", "nan", NULL};
    return is_word(s, words);
}

static bool is_plain_in_hydra(struct str s)
{
    bool plain = s.n > 0 && !is_hydra_word(s) && !strchr("0123456789+-.", s.p[0]);
    for (size_t i = 0; i < s.n && plain; i++)
        plain = is_plain_in_shell(s.p[i]) && s.p[i] != ',' && s.p[i] != '=';
    return plain;
}

/* Hydra takes a backslash for itself unless a quote or the end follows; OmegaConf reads ${…} in
   quotes too. */
struct str quote_hydra(struct arena *a, struct str s)
{
    if (is_plain_in_hydra(s)) return s;
    struct buf b = buf_new(a);
    buf_add_char(&b, '"');
    for (size_t i = 0, run = 0; i <= s.n; i++) {
        bool end = i == s.n, quote = !end && s.p[i] == '"';
        bool interpolation = i + 1 < s.n && s.p[i] == '$' && s.p[i + 1] == '{';
        if (end || quote || interpolation) buf_add_n(&b, '\\', run);
        if (quote || interpolation) buf_add_char(&b, '\\');
        if (!end) buf_add_char(&b, s.p[i]);
        run = !end && s.p[i] == '\\' ? run + 1 : 0;
    }
    buf_add_char(&b, '"');
    return buf_str(&b);
}

bool quote_take_hydra(struct str text, size_t *at, struct buf *out)
{
    char quote = text.p[(*at)++];
    while (*at < text.n) {
        size_t run = *at;
        while (*at < text.n && text.p[*at] == '\\')
            ++*at;
        run = *at - run;
        bool closes = *at < text.n && text.p[*at] == quote;
        bool interpolation = *at + 1 < text.n && text.p[*at] == '$' && text.p[*at + 1] == '{';
        bool special = closes || interpolation, plain = run % 2 == 1 || !special;
        buf_add_n(out, '\\', special ? run / 2 : run);
        if (interpolation && !plain) return false;
        if (*at < text.n && plain) buf_add_char(out, text.p[*at]);
        ++*at;
        if (closes && !plain) return true;
    }
    return false;
}

/* ---- GitHub ---- */

struct str quote_github(struct arena *a, struct str s, bool property)
{
    struct buf b = buf_new(a);
    for (size_t at = 0; at < s.n;) {
        struct glyph g = next_glyph(s, &at);
        bool is_structure = g.point == '%' || g.point == '\r' || g.point == '\n' ||
                            (property && (g.point == ':' || g.point == ','));
        if (is_structure)
            buf_printf(&b, "%%%02X", g.point);
        else if (needs_care(g) && g.point != '\t')
            add_visible(&b, g);
        else
            buf_add(&b, g.bytes);
    }
    return buf_str(&b);
}
