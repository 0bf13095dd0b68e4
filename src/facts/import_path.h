/* SPDX-License-Identifier: Apache-2.0 */
/* Import paths of what other packages have, as `_target_` names it. */
#ifndef MOEPLAN_FACTS_IMPORT_PATH_H
#define MOEPLAN_FACTS_IMPORT_PATH_H

#include "facts/facts.h"

/* Warns of a path that is a letter away from a name of torch, transformers, Megatron-LM or another
   package. NULL: it is such a name, or nobody here knows. */
struct diag *import_path_check(struct facts *f, const struct node *value);

#endif
