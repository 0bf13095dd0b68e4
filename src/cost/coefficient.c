/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/coefficient.h"

#include <math.h>

static double value_or(const struct coefficient *c, double otherwise)
{
    return c ? c->value : otherwise;
}

/* An 80 % interval spans 2 x 1.2816 standard deviations. */
double coefficient_log_sd(const struct coefficient *c)
{
    return c && c->low > 0 && c->high > c->low ? log(c->high / c->low) / 2.5631 : 0;
}

struct coefficients coefficients_of(const struct machine *m)
{
    struct coefficients out;
    int at = 0;
#define READ(name, otherwise) out.name = value_or(coefficient_find(m, STR(#name), &at), otherwise);
    TIME_COEFFICIENTS(READ)
#undef READ
    return out;
}

struct coefficient_spread coefficients_spread(const struct machine *m)
{
    struct coefficient_spread out;
    int at = 0;
#define READ(name) out.name = coefficient_log_sd(coefficient_find(m, STR(#name), &at));
    SPREAD_COEFFICIENTS(READ)
#undef READ
    return out;
}
