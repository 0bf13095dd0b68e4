/* SPDX-License-Identifier: Apache-2.0 */
/* The checkout of a framework that a file lies in: its scripts and tests are for its own release.
 */
#ifndef MOEPLAN_FACTS_CHECKOUT_H
#define MOEPLAN_FACTS_CHECKOUT_H

#include "doc/node.h"
#include "facts/param.h"

/* The known release that the checkout around a source's file has: the oldest one for what is older,
   "main" for what is newer; empty where there is no checkout, or the source is no file. */
struct str checkout_release(struct arena *a, const struct diags *diags, uint32_t source,
                            enum framework framework);

#endif
