/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/repeated.h"

enum { MOST = 1000 }; /* settings that anybody writes */

void repeated_note(struct repeated *r, struct str name, struct str value, struct span at)
{
    struct arena *a = r->f->arena;
    if (r->values.n == MOST) return;
    int64_t before = map_get(&r->last, name);
    map_put(a, &r->last, name, (uint32_t)r->values.n);
    *VEC_PUSH(a, &r->values) = value;
    *VEC_PUSH(a, &r->lines) = at.line;
    if (before == MAP_NONE || !value.p) return;
    struct str old = r->values.items[before];
    if (!old.p || str_eq(old, value)) return;
    diag_add(r->f->diags, SEVERITY_WARNING, "flag-repeated", at,
             "%.*s is given twice: %.*s wins over %.*s at line %u", STR_ARG(name), STR_ARG(value),
             STR_ARG(old), r->lines.items[before]);
}
