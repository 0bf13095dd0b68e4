/* SPDX-License-Identifier: Apache-2.0 */
/* What the user says of the run beside its plan: how much is trained, what a GPU hour costs, until
   when. The same words on the command line (--dataset-tokens) and in requests (dataset_tokens). */
#ifndef MOEPLAN_FLOW_WISH_H
#define MOEPLAN_FLOW_WISH_H

#include "choose/bill.h"
#include "facts/platform.h"

enum { WISHES = 8, WISH_TOKENS = 0 };
/* Their names, as options: tokens, steps, epochs, dataset-tokens, price, goodput, deadline,
   budget. */
extern const char *const wish_names[WISHES];

/* Reads one of them: a count with K, M, B or T behind it; a price as NUMBER or NUMBER/h, or
   PLATFORM=NUMBER/h with commas between; a goodput as 0.9 or 90%; a time as 30d, 12h or 4w; a
   budget as 50K. False with *why set, which begins with `shown`, the name as the user wrote it. */
bool wish_read(struct arena *a, struct bill_wish *w, size_t which, const char *shown,
               struct str text, struct str *why);
/* Whether they go together; false with *why set. */
bool wish_settle(const struct bill_wish *w, struct str *why);
/* The bill of a plan on a platform (NULL: unknown), with its price and power. */
struct bill wish_bill(const struct bill_wish *w, const struct platform *p, const struct knobs *k,
                      const struct time_estimate *t);

#endif
