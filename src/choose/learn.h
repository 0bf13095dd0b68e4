/* SPDX-License-Identifier: Apache-2.0 */
/* What some measured plans say of others: the platform's coefficients are uncertain, and two plans
   that lean on the same ones are wrong together. Steps are normal in their logarithms, linear in
   the coefficients'; beside them there is what the model leaves out of all plans alike. */
#ifndef MOEPLAN_CHOOSE_LEARN_H
#define MOEPLAN_CHOOSE_LEARN_H

#include "choose/lever.h"

struct learner; /* of n plans, by number */

struct belief {
    double mean, sd; /* of the logarithm of its step in seconds */
};

/* `plans`: the first is the base of all others. */
struct learner *learner_new(struct arena *a, const struct levered *const *plans, size_t n);
/* A run of a plan took so long; `sd` of the logarithm, by which runs scatter. */
void learner_measure(struct learner *l, size_t plan, double step_s, double sd);
/* As if a run of the plan had taken what is believed: later trials then ask for something else. */
void learner_assume(struct learner *l, size_t plan, double sd);
struct belief learner_belief(const struct learner *l, size_t plan);
/* What a gain that is believed to be normal, with so large a deviation, is expected to bring where
   it is one; *chance that it is. */
double expected_improvement(double gain, double sd, double *chance);
/* How much faster than `best` a plan is expected to be where it is faster, as a part of the step;
 *chance that it is faster at all. */
double learner_improvement(const struct learner *l, size_t plan, size_t best, double *chance);

#endif
