/* SPDX-License-Identifier: Apache-2.0 */
/* What a training run takes: from the time of a step and the tokens to train on to days, GPU hours,
   money and energy, each with its interval. */
#ifndef MOEPLAN_CHOOSE_BILL_H
#define MOEPLAN_CHOOSE_BILL_H

#include "cost/cost.h"

/* A figure with the ends of its interval, meant to hold 9 runs of 10. */
struct figure {
    double value, low, high;
};

/* What the user says of the run; absent numbers are 0. */
struct bill_wish {
    double tokens, steps;          /* one of them, */
    double epochs, dataset_tokens; /* or both of these */
    double price;                  /* of a GPU hour, in whatever money */
    struct str prices;             /* the same by platform: "h100=2.1/h,gb200=4/h"; empty: none */
    double goodput;                /* part of the wall time that trains; 0: from the size */
    double deadline_days;
    double budget; /* in the money of the price */
};

/* Public figures behind the default goodput. */
struct bill_source {
    const char *name, *unit, *source;
    struct figure figure;
};
enum { BILL_INTERRUPTIONS, BILL_LOST, BILL_PAUSES, BILL_SOURCES };
extern const struct bill_source bill_sources[BILL_SOURCES];

enum deadline { DEADLINE_NONE, DEADLINE_MET, DEADLINE_UNSURE, DEADLINE_MISSED };

struct bill {
    double gpus, tokens, steps, tokens_per_step;
    struct figure goodput;
    bool goodput_stated; /* by the user; else of so many GPUs by bill_sources */
    struct figure days, gpu_hours, tokens_per_day;
    struct figure cost;       /* all 0: no price */
    struct figure energy_kwh; /* of the GPUs at their rated power; all 0: it is not known */
    double price, power_w, deadline_days;
    double budget;
    enum deadline deadline,
        affordable; /* met: with the far end of the interval; unsure: not with that */
};

/* Whether the wish says how much is trained. */
bool bill_wanted(const struct bill_wish *w);
/* Part of the wall time in which a job of so many GPUs trains, by bill_sources:
   (1 - pauses) / (1 + GPUs x interruptions a GPU and day x days lost by each). */
struct figure bill_goodput(double gpus);
/* The bill of a step time; `power_w` is a GPU's rated power, 0: unknown. A wish for epochs of a
   data set is rounded up to whole steps, as are tokens. */
struct bill bill_of(const struct bill_wish *w, const struct knobs *k, const struct time_estimate *t,
                    double power_w);
/* "met", "unsure" or "missed"; NULL: none was set. */
const char *bill_word(enum deadline d);

#endif
