/* SPDX-License-Identifier: Apache-2.0 */
/* The fixes of a text's findings, applied. */
#ifndef MOEPLAN_FLOW_FIX_H
#define MOEPLAN_FLOW_FIX_H

#include "flow/baseline.h"

struct fixed_text {
    struct str text;           /* as it was when nothing is fixed */
    size_t fixed;              /* findings that are gone by it */
    size_t unsafe;             /* findings left that only an unsafe fix would mend */
    struct file_report report; /* of the text as it is now */
};

/* What may be fixed. */
struct fix_wish {
    bool unsafe;                  /* what changes the run, too */
    const struct baseline *known; /* findings that are left as they are; NULL: none */
    struct str known_as;          /* the text's path there */
};

/* Applies what is safe, and what the wish allows beside it, as long as anything can be fixed: each
   fix must end its own finding, and bring none that says that it is wrong. The other parameters are
   those of validate_text. */
struct fixed_text fix_text(struct validation *v, struct str path, struct str text, struct str as,
                           const struct read_options *options, const struct fix_wish *wish);

#endif
