/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/kernel_check.h"

#include <math.h>

static const double bin_width = 0.0025;

static struct check_kind *kind_of(struct arena *a, struct check_tally *tally, struct str name)
{
    for (size_t i = 0; i < tally->n; i++)
        if (str_eq(tally->kinds[i]->name, name)) return tally->kinds[i];
    if (tally->n == CHECK_KINDS) return NULL;
    struct check_kind *kind = ARENA_NEW(a, struct check_kind);
    *kind = (struct check_kind){.name = str_dup(a, name)};
    return tally->kinds[tally->n++] = kind;
}

void kernel_check_add(struct arena *a, struct check_tally *tally, struct str name, double law_s,
                      double measured_s)
{
    bool lawful = law_s > 0 && measured_s > 0;
    struct check_kind *kind = lawful ? kind_of(a, tally, name) : NULL;
    tally->rows++;
    tally->unlawful += kind == NULL;
    if (!kind) return;
    double at = floor(log(law_s / measured_s) / bin_width) + CHECK_BINS / 2;
    kind->bins[(int)fmin(CHECK_BINS - 1, fmax(0, at))]++;
    kind->n++;
}

static double middle(int bin)
{
    return (bin + 0.5 - CHECK_BINS / 2) * bin_width;
}

double kernel_check_quantile(const struct check_kind *kind, double part, bool size)
{
    double wanted = part * kind->n, sum = 0;
    if (!size) {
        for (int i = 0; i < CHECK_BINS; i++)
            if ((sum += kind->bins[i]) >= wanted) return middle(i);
        return middle(CHECK_BINS - 1);
    }
    for (int i = CHECK_BINS / 2; i < CHECK_BINS; i++)
        if ((sum += kind->bins[i] + kind->bins[CHECK_BINS - 1 - i]) >= wanted) return middle(i);
    return middle(CHECK_BINS - 1);
}
