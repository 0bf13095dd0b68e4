/* SPDX-License-Identifier: Apache-2.0 */
/* Import paths of what other packages have, as `_target_` names it. */
#ifndef MOEPLAN_FACTS_IMPORT_PATH_H
#define MOEPLAN_FACTS_IMPORT_PATH_H

#include "base/str.h"

/* The name of torch, transformers, Megatron-LM or another package that a path is a letter away
   from; empty: it is one, or nobody here knows. */
struct str import_path_slip(struct str path);

#endif
