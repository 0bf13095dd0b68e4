/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts of all frameworks that were asked, in one order. */
#ifndef MOEPLAN_FLOW_SUGGEST_RANK_H
#define MOEPLAN_FLOW_SUGGEST_RANK_H

#include "flow/suggest.h"

/* One layout. */
struct offer {
    enum framework framework;
    const struct answer *answer; /* of that framework */
    const struct plan *plan;
    size_t rank; /* from 1 on: what --take names */
};

struct offers {
    struct offer *items;
    size_t n, cap;
};

/* Best first: each framework's in its own order; between frameworks what surely fits comes first,
   then by goal the smaller peak (memory) or the shorter step. */
struct offers offers_of(struct arena *a, const struct ask *ask, const struct answers *answers);
/* The fastest that surely fits, where none does of all; NULL: there is none. */
const struct offer *offers_fastest(const struct offers *offers);
/* Tokens a second and GPU. */
double offer_tokens(const struct offer *o);

#endif
