/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/suggest_show.h"
#include "emit/bill.h"

/* False where nothing is asked of the run. */
static bool bill_for(const struct ask *ask, const struct plan *plan, struct bill *out)
{
    struct time_estimate t;
    if (!bill_wanted(&ask->wish) || !time_estimate(&plan->config, &t, NULL)) return false;
    *out = wish_bill(&ask->wish, ask->platform, &plan->config.knobs, &t);
    return true;
}

void suggest_bill(const struct ask *ask, const struct plan *plan, struct buf *out)
{
    struct bill bill;
    if (!bill_for(ask, plan, &bill)) return;
    buf_add_char(out, '\n');
    bill_screen(&bill, out);
}

void suggest_bill_json(struct tree *t, cJSON *to, const struct ask *ask, const struct plan *plan)
{
    struct bill bill;
    if (bill_for(ask, plan, &bill)) bill_json(t, to, &bill);
}
