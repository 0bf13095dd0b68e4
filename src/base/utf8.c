/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

enum { REPLACEMENT = 0xFFFD };

static bool is_continuation(struct str s, size_t at)
{
    return at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80;
}

/* Length of the sequence at `at`, 0 when it is not valid. */
static size_t decode(struct str s, size_t at, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char c = (unsigned char)s.p[at];
    *point = c;
    if (c < 0x80) return 1;
    size_t n = c >= 0xF0 && c < 0xF8 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC0 || c >= 0xF8) return 0;
    uint32_t p = c & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (!is_continuation(s, at + i)) return 0;
        p = p << 6 | ((unsigned char)s.p[at + i] & 0x3Fu);
    }
    if (p < least[n] || p > 0x10FFFF || (p >= 0xD800 && p < 0xE000)) return 0;
    *point = p;
    return n;
}

static size_t skip_ascii(struct str s, size_t at)
{
    uint64_t words[4];
    while (s.n - at >= sizeof words) {
        memcpy(words, s.p + at, sizeof words);
        if ((words[0] | words[1] | words[2] | words[3]) & UINT64_C(0x8080808080808080)) break;
        at += sizeof words;
    }
    while (at < s.n && !((unsigned char)s.p[at] & 0x80))
        at++;
    return at;
}

size_t utf8_check(struct str s, bool *ascii)
{
    size_t at = skip_ascii(s, 0);
    *ascii = at == s.n;
    while (at < s.n) {
        uint32_t point;
        size_t n = decode(s, at, &point);
        if (!n) break;
        at = skip_ascii(s, at + n);
    }
    return at;
}

size_t utf8_next(struct str s, size_t at, uint32_t *point)
{
    size_t n = decode(s, at, point);
    if (n) return n;
    *point = REPLACEMENT;
    return 1;
}

size_t utf8_count(struct str s)
{
    size_t n = 0;
    uint32_t point;
    for (size_t at = 0; at < s.n; n++)
        at += utf8_next(s, at, &point);
    return n;
}

size_t utf8_encode(uint32_t point, char out[4])
{
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) point = REPLACEMENT;
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t n = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)(lead[n] | point);
    return n;
}

struct range {
    uint32_t from, to;
};

static bool in_ranges(const struct range *ranges, size_t n, uint32_t point)
{
    for (size_t i = 0; i < n; i++)
        if (point >= ranges[i].from && point <= ranges[i].to) return true;
    return false;
}

/* The main blocks of Unicode's East Asian Width W and F, and of the combining and zero-width
   characters. */
int utf8_width(uint32_t point)
{
    static const struct range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0x33FF},
                                        {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},  {0xA000, 0xA4CF},
                                        {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
                                        {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                                        {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
    static const struct range none[] = {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x200B, 0x200F},
                                        {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}};
    if (point < 0x300) return 1;
    if (in_ranges(none, sizeof none / sizeof *none, point)) return 0;
    return in_ranges(wide, sizeof wide / sizeof *wide, point) ? 2 : 1;
}
