/* SPDX-License-Identifier: Apache-2.0 */
/* The program that a file launches, as it lies in the repository around the file: which flags its
   source, and the modules of the repository that it imports, add to the parser. Python is read for
   words; nothing of it runs. */
#ifndef MOEPLAN_FACTS_LAUNCHED_H
#define MOEPLAN_FACTS_LAUNCHED_H

#include "facts/checkout.h"

/* What is looked for where a parser is filled. */
struct sought {
    struct str flag, value; /* value: one of its choices, in quotes there; empty: the flag alone */
    bool real;              /* only where it takes a number that need not be whole */
    bool found;
    bool deprecated; /* what stands behind the flag says so */
};

/* Looks for all of them in the parser of the checkout around a source's file, and in the sources of
   `script`, a path or a module in the words of the launch. Nothing is kept in the arena. */
void launched_seek(struct arena *a, const struct diags *diags, uint32_t source, struct str script,
                   struct sought *items, size_t n);

#endif
