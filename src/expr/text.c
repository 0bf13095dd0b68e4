/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of texts. */
#include "base/buf.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "expr/functions.h"

FUNCTION(text_lower)
{
    (void)n;
    if (!run_spend(r, args[0].s.n / 64)) return run_exhausted();
    struct str s = str_dup(r->scratch, args[0].s);
    char *p = (char *)s.p;
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z') p[i] = (char)(p[i] - 'A' + 'a');
    return value_string(s);
}

/* Bytes of the first part: up to the separator, or one character when the separator is empty. */
static size_t part_length(struct str s, struct str separator)
{
    uint32_t point;
    if (separator.n) return str_find_str(s, separator);
    return s.n ? utf8_next(s, 0, &point) : 0;
}

FUNCTION(text_split)
{
    struct {
        struct value *items;
        size_t n, cap;
    } parts = {0};
    struct str rest = args[0].s;
    int64_t most = n == 3 ? args[2].i : -1;
    if (!run_spend(r, rest.n / 16)) return run_exhausted();
    while (most < 0 || (int64_t)parts.n < most) {
        size_t length = part_length(rest, args[1].s);
        bool last = length == rest.n || (int64_t)parts.n == most - 1;
        *VEC_PUSH(r->scratch, &parts) = value_string(last ? rest : str_slice(rest, 0, length));
        if (last) break;
        rest = str_slice(rest, length + args[1].s.n, rest.n);
    }
    return value_list_of(r->scratch, parts.items, parts.n);
}
