/* SPDX-License-Identifier: Apache-2.0 */
/* How the layers of a model are divided over the chunks of a pipeline, by what they take. */
#ifndef MOEPLAN_COST_SPLIT_H
#define MOEPLAN_COST_SPLIT_H

#include "cost/memory.h"
#include "cost/time.h"

/* Whether the planner divides the layers of `c`: the framework takes a layout, there is more than
   one chunk, and neither settings nor a pattern of layers say the split. */
bool split_is_free(const struct config *c);
/* The planner's split of `c`: a given layout, else what the framework makes of the other settings
   where it takes no layout or settings say the split, else the split whose busiest rank is
   shortest, as far as every stage fits into memory. One that is no more than 0.5 % behind is kept
   where it is even and needs no layout. An explicit layout is put into *slot, which must live as
   long as `c` uses it. Sets knobs.layout. False when the split is impossible. */
bool split_plan(struct config *c, struct layout *slot);
/* Its two parts, for a search that estimates memory anyway and knows the rates of `c`, which are
   read where split_is_free. Without a look at memory; */
bool split_by_time(struct config *c, const struct time_rates *rates, struct layout *slot);
/* and then, when *m, the memory of that split, does not fit (memory_peaks_or_over will do): the
   fastest split that does, if there is one, with its memory in *m; false: the split does not
   change, and *m is of none. *w has measured the layers of `c` and divided them so. */
bool split_to_fit(struct config *c, const struct time_rates *rates, struct memory_work *w,
                  struct memory_estimate *m, struct layout *slot);
/* After split_plan, for plans that are shown, as it takes hundreds of estimates: moves layers
   between chunks while the estimated step gains by it and what fits goes on to fit. Whether it
   moved any. */
bool split_polish(struct config *c, struct layout *slot);
/* The part of a step that any other division gains at most over the one by time: a percent or two
   where polishing moves layers. */
static const double SPLIT_MOVING = 0.02;
/* Seconds of a pass that no schedule of a division undercuts: a rank does its chunks of every
   microbatch, after the first one came through the chunks before it. */
double split_longest(const struct config *c, const struct time_rates *rates,
                     const struct layout *layout);

#endif
