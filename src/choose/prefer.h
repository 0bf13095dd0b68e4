/* SPDX-License-Identifier: Apache-2.0 */
/* What the decision guides prefer. A guide rule that `decides` a knob gives its default; leaving it
   must gain more than the guide's margin, which stands for what the time model cannot know. All
   margins together are one bounded preference: the estimate decides between plans further apart. */
#ifndef MOEPLAN_CHOOSE_PREFER_H
#define MOEPLAN_CHOOSE_PREFER_H

#include "plan/knob.h"
#include "rules/rule.h"

struct preference {
    const struct rule *rule;
    const struct knob *knob;
    struct value value; /* the decided default */
    double number;      /* the default as the knob's number */
    double margin;      /* relative step time a step away from the default has to gain */
    double log_margin;  /* ln(1 + margin): what the search adds up */
    bool upwards_free;  /* of a size: a larger one follows the guide as well */
    double log_uneven;  /* of a size: as log_margin, where it is no power of two */
    bool pinned;        /* the user decided; the margin is 0 and the guide is only told */
};

/* The preferences of all guide rules that hold on these facts: the rules' `decides` in order, a
   later, more specific record replacing an earlier one for the same knob. Sets each decided knob
   that `pinned` leaves free in *knobs; of a pinned one the guide's wish is kept, without weight. */
size_t prefer_collect(struct arena *a, const struct rule_set *rules, const struct facts *f,
                      const struct knob *const *pinned, size_t n_pinned, struct knobs *knobs,
                      struct preference **out, struct arena *scratch);
/* How many steps away from the default the knobs are: doublings for sizes, places for words, bits
   for module sets. */
double prefer_distance(const struct preference *p, const struct knobs *k);
/* What leaving this one guide has to gain, as a logarithm. */
double prefer_cost(const struct preference *p, const struct knobs *k);
/* What leaving the guides for these knobs has to gain: the sum of margins times distances, as a
   logarithm. */
double prefer_sum(const struct preference *preferences, size_t n, const struct knobs *k);
/* The factor by which such a sum lengthens a plan's step time in the ranking of those that are
   shown: 1 and rising, but never beyond 1 + PREFER_MOST. It decides which of the slower layouts are
   worth a row: of two that are as fast, the one that keeps to more guides. A plan may leave half a
   dozen: PREFER_SPREAD, the sum that takes 63 % of the most, is so wide that another one still
   counts beside them. What the guides may cost is bounded elsewhere: the first is never slower by
   more than PREFER_FIRST than another that takes no more risk (finalists_sort). */
#define PREFER_FIRST 0.03
#define PREFER_MOST 1.0
#define PREFER_SPREAD 1.0
double prefer_factor(double sum);

#endif
