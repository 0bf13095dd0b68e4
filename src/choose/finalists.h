/* SPDX-License-Identifier: Apache-2.0 */
/* The plans that a search keeps while it looks at others. */
#ifndef MOEPLAN_CHOOSE_FINALISTS_H
#define MOEPLAN_CHOOSE_FINALISTS_H

#include "choose/search.h"

enum { FINALISTS_FAST = 4, FINALISTS_LEAST = 5 };

struct finalists {
    size_t most, n, n_fast;
    struct contender ranked[SEARCH_MAX_PLANS]; /* best first, one for a tp, pp, ep and etp */
    struct contender fast[FINALISTS_FAST];     /* the fastest, whatever the guides prefer, one
                                                  each too: moving layers may change their order */
    struct contender safe;                     /* the fastest without a risk */
    struct contender of_kind[2];               /* the best without and with sharded parameters */
    bool has_safe, has_kind[2], two_kinds;     /* two_kinds: the second is asked for */
};

/* Whether two plans have the same tp, pp, cp, ep, etp and sharding. */
bool finalists_same_layout(const struct knobs *a, const struct knobs *b);
/* Keeps so many; `two_kinds`: and the best of each kind of sharding. */
void finalists_start(struct finalists *f, size_t most, bool two_kinds);
/* Whether a plan of this layout with at least this score and step time, seconds, would be kept; of
   one that is risky only whether it is among the fastest. */
bool finalists_want(const struct finalists *f, const struct knobs *layout, double score,
                    double step_s, bool risky);
/* Seconds of a step above which no plan would be, whatever its layout. */
double finalists_slowest(const struct finalists *f);
void finalists_add(struct finalists *f, const struct contender *o);
/* All of them, but of the fastest only the first, at most as many as are kept. */
size_t finalists_take(const struct finalists *f, struct contender plans[SEARCH_HELD_PLANS]);
/* Best first; of those that are hardly slower than another with no more risk, one that leaves more
   of a GPU of so many bytes free. */
void finalists_sort(struct contender *plans, size_t n, double capacity_bytes);
/* Leaves out what a user of a GPU of so many bytes would not tell from a better plan. */
size_t finalists_leave_echoes(struct contender *plans, size_t n, double capacity_bytes);
/* Leaves so many at most: the first, the fastest and one of each kind of sharding before others. */
size_t finalists_cut(struct contender *plans, size_t n, size_t most);

#endif
