/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan leaves open and its run surely had one way or the other: the interval of the step
   time reaches to both. */
#include "cost/cost.h"
#include "plan/framework.h"

/* The other way that runs have it; false: there is none. AutoModel takes PyTorch's exchange where
   no package of another is installed. */
static bool other_way(struct config *c, uint32_t bit)
{
    struct knobs *k = &c->knobs;
    if (bit == UNSTATED_DISPATCHER && k->ep > 1) {
        uint8_t slower = config_traits(c)->megatron_words ? DISPATCH_ALLTOALL : DISPATCH_TORCH;
        k->dispatcher = k->dispatcher == slower ? DISPATCH_DEEPEP : slower;
        return true;
    }
    if (bit == UNSTATED_STAGES && k->vpp == 1) {
        k->vpp = 2;
        return true;
    }
    return false;
}

void time_allow_open(const struct config *c, struct time_estimate *t)
{
    static const uint32_t open[] = {UNSTATED_DISPATCHER, UNSTATED_STAGES};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        struct config changed = *c;
        struct time_estimate other;
        if (!(c->unstated & open[i]) || !other_way(&changed, open[i])) continue;
        if (!time_estimate(&changed, &other, NULL)) continue;
        t->low = other.low < t->low ? other.low : t->low;
        t->high = other.high > t->high ? other.high : t->high;
    }
}
