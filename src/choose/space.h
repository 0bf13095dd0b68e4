/* SPDX-License-Identifier: Apache-2.0 */
/* What the search chooses from: the table of moves (plan/move.h) less what is pinned. */
#ifndef MOEPLAN_CHOOSE_SPACE_H
#define MOEPLAN_CHOOSE_SPACE_H

#include "choose/search.h"
#include "plan/move.h"

enum { SPACE_MAX_RECOMPUTE = 12 };

/* What is recomputed, as one step of a ladder from the cheapest to the dearest. */
struct recompute_step {
    uint8_t recompute, method;
    int layers;
    uint32_t modules;
};

struct recompute_ladder {
    int n;
    struct recompute_step steps[SPACE_MAX_RECOMPUTE];
};

bool space_is_pinned(const struct search_request *r, int param);
/* Whether a pin settles the decision. */
bool space_is_settled(const struct search_request *r, const struct decision *d);
/* The values of a decision that is a size, given what was chosen before. */
struct axis space_values(const struct search_request *r, const struct decision *d,
                         const struct knobs *k);
/* Those that the layout of *c allows; its own where none does. */
struct axis space_dispatcher(const struct search_request *r, const struct config *c);
/* Rising in cost, falling in memory. */
struct recompute_ladder space_recompute(const struct search_request *r);
void space_set_recompute(struct knobs *k, const struct recompute_step *step);

#endif
