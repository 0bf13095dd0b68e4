/* SPDX-License-Identifier: Apache-2.0 */
/* Which records know an error by its text: what a framework, PyTorch or NCCL prints. */
#ifndef MOEPLAN_RULES_KNOWN_H
#define MOEPLAN_RULES_KNOWN_H

#include "rules/rule.h"

enum { KNOWN_MATCHES = 3 };

struct known_errors; /* the patterns of a set, made ready once */

struct known_error {
    const struct rule *rule;
    size_t score; /* bytes of the text that the rule's pattern and error type account for */
};

const struct known_errors *known_errors_new(struct arena *a, const struct rule_set *set);
/* The best matches, best first; blanks, quotes and case do not count, as tracebacks are wrapped and
   quoted on their way into a report. Returns how many. `scratch` is used and given back. */
size_t known_errors_find(const struct known_errors *k, struct arena *scratch, struct str text,
                         struct known_error out[KNOWN_MATCHES]);

#endif
