/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/memory_coefficient.h"

/* Platform files list coefficients in our order: the one after the last found is nearly always
   right, and the rest is then never searched. */
static struct range find(const struct machine *m, struct str name, int *hint,
                         struct range otherwise)
{
    for (int i = 0; i < m->n_coefficients; i++) {
        int at = (*hint + i) % m->n_coefficients;
        const struct coefficient *c = &m->coefficients[at];
        if (!str_eq(c->name, name)) continue;
        *hint = at + 1;
        return (struct range){c->value, c->low, c->high};
    }
    return otherwise;
}

struct memory_coefficients memory_coefficients_of(const struct machine *m)
{
    struct memory_coefficients out;
    int hint = 0;
#define READ(name, value, low, high)                                                               \
    out.name = find(m, STR(#name), &hint, (struct range){value, low, high});
    MEMORY_COEFFICIENTS(READ)
#undef READ
    return out;
}
