/* SPDX-License-Identifier: Apache-2.0 */
/* What the search chooses from: the table of moves (plan/move.h) less what is pinned. */
#ifndef MOEPLAN_CHOOSE_SPACE_H
#define MOEPLAN_CHOOSE_SPACE_H

#include "choose/search.h"
#include "plan/move.h"

enum { SPACE_MAX_STATES = 64 };

/* What a switch, a decision that is no size, can be: each a move that sets it; NULL: as it is. */
struct states {
    int n;
    const struct move *items[SPACE_MAX_STATES];
};

bool space_is_pinned(const struct search_request *r, int param);
/* Whether a pin settles the decision. */
bool space_is_settled(const struct search_request *r, const struct decision *d);
/* The values of a decision that is a size, given what was chosen before. */
struct axis space_values(const struct search_request *r, const struct decision *d,
                         const struct knobs *k);
/* Whether the search decides it beside the layout. */
bool space_is_switch(const struct decision *d);
/* Whether all plans of the search have a knob as its base has it, as far as is known. */
bool space_is_fixed(const struct search_request *r, const struct knob *knob);
/* What a switch can be beside all else that *c has: as it is first, then the moves of the search
   that change it and contradict no pin, in the order of the table. *c is given back as it was. */
struct states space_states(const struct search_request *r, const struct decision *d,
                           struct config *c);
/* Sets a switch of *c, which has all else of what it was listed with, to a state. */
void space_set(const struct move *state, struct config *c);

#endif
