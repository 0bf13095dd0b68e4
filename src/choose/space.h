/* SPDX-License-Identifier: Apache-2.0 */
/* The axes of the search: the values each knob can take for a model, a machine and a framework. */
#ifndef MOEPLAN_CHOOSE_SPACE_H
#define MOEPLAN_CHOOSE_SPACE_H

#include "choose/search.h"

enum { SPACE_MAX_VALUES = 128, SPACE_MAX_RECOMPUTE = 12, SPACE_MAX_PP = 64, SPACE_MAX_MBS = 8 };

struct axis {
    int n;
    int values[SPACE_MAX_VALUES];
};

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
/* Sizes for tensor, context, pipeline and expert parallelism, given what was chosen before. In
 * rising order. */
struct axis space_tp(const struct search_request *r, const struct knobs *k);
struct axis space_cp(const struct search_request *r, const struct knobs *k);
struct axis space_pp(const struct search_request *r, const struct knobs *k);
struct axis space_vpp(const struct search_request *r, const struct knobs *k);
struct axis space_etp(const struct search_request *r, const struct knobs *k);
struct axis space_ep(const struct search_request *r, const struct knobs *k);
struct axis space_mbs(const struct search_request *r);
struct axis space_dispatcher(const struct search_request *r, const struct knobs *k);
/* Rising in cost, falling in memory. */
struct recompute_ladder space_recompute(const struct search_request *r);
void space_set_recompute(struct knobs *k, const struct recompute_step *step);

#endif
