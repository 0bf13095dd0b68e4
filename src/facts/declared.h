/* SPDX-License-Identifier: Apache-2.0 */
/* Flags that a fork has beside Megatron-LM's, as its user declares them: kind: Parameters in a file
   of --rules. They are known, counted and checked for type and choices; rules see them as raw
   values. */
#ifndef MOEPLAN_FACTS_DECLARED_H
#define MOEPLAN_FACTS_DECLARED_H

#include "facts/param_file.h"

/* Appends the parameters of a registered source, where it is a parameter file; false with errors
   added where such a file is defective. Any other file, one that does not parse too, is left alone.
 */
bool declared_read(struct arena *a, struct diags *diags, uint32_t source, struct param_list *out);
/* Which of them has the flag; NULL when none has. *flag says how it acts. */
const struct param *declared_find(const struct param_list *declared, struct str name,
                                  const struct param_flag **flag);

#endif
