/* SPDX-License-Identifier: Apache-2.0 */
/* A machine's coefficients from measurements: the most probable values in log space, given the
   platform's values and intervals as priors. Few measurements move few coefficients; what they do
   not touch stays as it was. */
#ifndef MOEPLAN_COST_CALIBRATE_H
#define MOEPLAN_COST_CALIBRATE_H

#include "cost/cost.h"
#include "cost/measured.h"

enum observed {
    OBSERVED_STEP,   /* seconds of an optimizer step */
    OBSERVED_PEAK,   /* bytes allocated at the peak */
    OBSERVED_KERNEL, /* seconds of what one GPU did by itself */
};

/* One measurement. A configuration's own machine is not looked at. */
struct observation {
    enum observed kind;
    const struct config *config; /* of a step or a peak */
    struct measured kernel;      /* of a kernel */
    double measured;
    double sd; /* of its logarithm: scatter, and what the model leaves out */
    struct str label;
    double before, after; /* filled: the model's value with the old and the new coefficients */
};

struct fitted {
    int coefficient; /* index into machine.coefficients */
    double value, low, high;
    double learned; /* share of the prior's variance that is gone, 0 to 1 */
    int n;          /* measurements that feel it */
};

struct calibration {
    struct fitted *items; /* every coefficient with an interval */
    size_t n;
};

/* What the model says the observation should be. */
double observation_predict(const struct observation *o, const struct machine *m);
/* Fits. Steps move the pace of prior->paced_model alone where it is set: all are of that model.
   The observations' predictions are filled in; memory comes from `a`. */
void calibrate(struct arena *a, const struct machine *prior, struct observation *observations,
               size_t n, struct calibration *out);

#endif
