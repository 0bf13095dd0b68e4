/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/memory_coefficient.h"

#include "cost/coefficient.h"

static struct range range_or(const struct coefficient *c, struct range otherwise)
{
    return c ? (struct range){c->value, c->low, c->high} : otherwise;
}

struct memory_coefficients memory_coefficients_of(const struct machine *m)
{
    struct memory_coefficients out;
    int own = sizeof out / sizeof(struct range), all = m->n_coefficients;
    int at = all > own ? all - own : 0; /* platforms have them behind those of the step time */
#define READ(name, value, low, high)                                                               \
    out.name = range_or(coefficient_find(m, STR(#name), &at), (struct range){value, low, high});
    MEMORY_COEFFICIENTS(READ)
#undef READ
    return out;
}
