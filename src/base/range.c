/* SPDX-License-Identifier: Apache-2.0 */
#include "base/range.h"

#include "base/num.h"
#include "base/vec.h"

/* A, 2 A, 4 A … B. */
static bool add_doublings(struct arena *a, int64_t from, int64_t to, size_t most,
                          struct int_list *out)
{
    if (from < 1 || to < from || to > INT64_MAX / 2) return false;
    for (int64_t i = from; i < to && out->n < most; i *= 2)
        *VEC_PUSH(a, out) = i;
    *VEC_PUSH(a, out) = to;
    return out->n <= most;
}

static bool add_one(struct arena *a, struct str text, size_t most, struct int_list *out)
{
    size_t dots = str_find_str(text, STR(".."));
    struct str end = str_slice(text, dots + 2, text.n);
    int64_t from, to;
    if (!num_parse_int(str_trim(str_slice(text, 0, dots)), &from)) return false;
    if (dots == text.n) return add_doublings(a, from, from, most, out);
    return num_parse_int(str_trim(end), &to) && add_doublings(a, from, to, most, out);
}

bool range_read(struct arena *a, struct str text, size_t most, struct int_list *out)
{
    struct str one;
    size_t before = out->n;
    while (str_split(&text, ',', &one))
        if (!add_one(a, one, most, out)) return false;
    return out->n > before;
}
