/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a configuration would be refused: by its framework, or by what its chip lacks. What
   `validate` calls an error decides, for every command that estimates. */
#ifndef MOEPLAN_CHOOSE_REFUSAL_H
#define MOEPLAN_CHOOSE_REFUSAL_H

#include "choose/outlook.h"
#include "facts/reader.h"

struct refusal {
    size_t errors;            /* 0: it is not refused. Memory that does not suffice is none */
    struct str rule, message; /* of the first error, in the order of diags_sort */
};

/* Overrides, the estimate's outlook and all rules on the facts of a reading, options applied:
   findings go to f->diags. `*memory` is given when *decided, which says whether it could be
   estimated. */
struct rules_summary check_configuration(const struct rule_set *rules, struct facts *f,
                                         struct memory_estimate *memory, bool *decided,
                                         struct arena *scratch);

/* The errors of a reading whose overrides are not applied: its reader's and the rules', less what
   the file's own comments silence. The facts stay as they are, and nothing is reported. `scratch`
   is used and given back. */
struct refusal refusal_find(struct arena *a, const struct rule_set *rules,
                            const struct reading *reading, struct arena *scratch);

#endif
