/* SPDX-License-Identifier: Apache-2.0 */
/* Models and platforms that are named by a path. Who names one decides what may be read: the user
   anything, a request any regular file, a text what is in its reach (base/reach.h). Of a file that
   a text named nothing is shown: what is wrong with it is said where it is named. */
#ifndef MOEPLAN_FACTS_NAMED_H
#define MOEPLAN_FACTS_NAMED_H

#include "facts/entry.h"

struct named {
    struct str path; /* leads there from the current folder */
    struct str real; /* the same for all spellings of a path */
    bool inside;     /* a text named it */
};

/* What a name stands for, a file or a folder; `at` is where it stands, source 0: the user gave it.
   False with *why set, in words that follow the name; empty when there is nothing of that name. */
bool named_find(struct arena *a, const struct diags *diags, struct str name, struct span at,
                struct named *out, struct str *why);
/* Its text; false with *why set, as above. */
bool named_read(struct arena *a, const struct diags *diags, const struct named *file,
                struct str *text, struct str *why);
/* Says that there is no model or platform (`kind`) and no file of that name, and which of those
   known is near; or, unless `why` is empty, what stands in the way of the file. The error where
   nothing was near and other help is wanted, else NULL. */
struct diag *named_unknown(struct diags *diags, struct span at, struct str name, struct str why,
                           const char *kind, struct entry_list known);
/* Whether a name in a text means the very file that the user gave as a path: then it is the user's
   word that counts. */
bool named_is_given(struct arena *a, const struct diags *diags, const struct node *name,
                    struct str given);
/* Says at the place that names a file what `inner` holds about the file, without a word of its
   text. `kind` is "model" or "platform"; nothing is said when there is nothing. */
void named_tell(struct diags *diags, struct span at, const struct named *file,
                const struct diags *inner, const char *kind);

#endif
