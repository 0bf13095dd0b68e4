/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan's documents make of its sequences; nothing where none are stated. */
#ifndef MOEPLAN_EMIT_DOCUMENTS_H
#define MOEPLAN_EMIT_DOCUMENTS_H

#include "base/buf.h"
#include "emit/tree.h"
#include "plan/config.h"

/* How long they are, the waiting for the fullest rank with its formula, and the step without them.
 */
void documents_screen(const struct config *c, struct buf *out);
/* The member `documents`: of what stands in the plan, the excess on the fullest rank, the seconds
   waited for it, and the step of one document a sequence. */
void documents_json(struct tree *t, cJSON *to, const struct config *c);

#endif
