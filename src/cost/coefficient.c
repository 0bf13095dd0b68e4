/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/coefficient.h"

#include <math.h>

/* Platform files list coefficients in our order, so `hint` is nearly always right and the rest is
 * never searched. */
static const struct coefficient *find(const struct machine *m, struct str name, int hint)
{
    if (hint < m->n_coefficients && str_eq(m->coefficients[hint].name, name))
        return &m->coefficients[hint];
    for (int i = 0; i < m->n_coefficients; i++)
        if (str_eq(m->coefficients[i].name, name)) return &m->coefficients[i];
    return NULL;
}

static double value_or(const struct coefficient *c, double otherwise)
{
    return c ? c->value : otherwise;
}

/* An 80 % interval spans 2 x 1.2816 standard deviations. */
static double log_sd(const struct coefficient *c)
{
    return c && c->low > 0 && c->high > c->low ? log(c->high / c->low) / 2.5631 : 0;
}

struct coefficients coefficients_of(const struct machine *m)
{
    struct coefficients out;
    int hint = 0;
#define READ(name, otherwise) out.name = value_or(find(m, STR(#name), hint++), otherwise);
    TIME_COEFFICIENTS(READ)
#undef READ
    return out;
}

struct coefficients coefficients_spread(const struct machine *m)
{
    struct coefficients out;
    int hint = 0;
#define READ(name, otherwise) out.name = log_sd(find(m, STR(#name), hint++));
    TIME_COEFFICIENTS(READ)
#undef READ
    return out;
}
