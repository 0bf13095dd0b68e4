/* SPDX-License-Identifier: Apache-2.0 */
/* From a run's metrics to the wall it stands at: evidence, fixes in order, what each would do to
   the plan. Thresholds and fixes are the rules of rules/diagnose, one file a wall: records of phase
   profile are evidence when they fail, records of phase retune are fixes. */
#ifndef MOEPLAN_CHOOSE_DIAGNOSE_H
#define MOEPLAN_CHOOSE_DIAGNOSE_H

#include "base/vec.h"
#include "choose/against.h"
#include "rules/rule.h"

enum wall { WALL_MEMORY, WALL_COMMUNICATION, WALL_HOST, WALL_COMPUTE, WALL_NONE };

/* A threshold that is crossed. */
struct symptom {
    const struct rule *rule;
    struct str value; /* the metric as text */
};

struct change {
    int param;
    struct value value;
};

/* A fix; with a complete plan and something to change, what it would do. */
struct fix {
    const struct rule *rule;
    VEC(struct change) changes;
    bool predicted;
    double step_s, peak;        /* of the plan with the changes: seconds, bytes */
    int fits;                   /* of struct memory_estimate */
    const struct rule *refused; /* the first rule that forbids the changed plan, and how */
    struct str refusal;
};

struct diagnosis {
    enum wall wall, next; /* the wall the run stands at; the one to expect after it */
    VEC(struct symptom) evidence[WALL_NONE + 1]; /* by wall; WALL_NONE: monitors */
    VEC(struct fix) fixes;                       /* of `wall`, in order */
    VEC(int) missing; /* metrics that the rules ask for and nobody gave */
    bool costed;      /* the plan is complete: step_s, peak and fits are its own */
    double step_s, peak;
    int fits;               /* of struct memory_estimate */
    struct against against; /* with a complete plan: the run held against its estimate */
};

const char *wall_name(enum wall wall);
/* Diagnoses facts that hold metrics, overrides not applied. `planned`: they hold a plan too;
   without one every fix that the metrics call for is listed. `scratch` is used and not kept. */
void diagnose_run(struct arena *a, const struct rule_set *rules, const struct facts *f,
                  bool planned, struct arena *scratch, struct diagnosis *out);

#endif
