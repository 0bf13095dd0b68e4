/* SPDX-License-Identifier: Apache-2.0 */
/* Where AutoModel and Megatron use different words for one decision: sharding, dispatcher,
   recomputation, number format, the microbatch of a pipeline. */
#ifndef MOEPLAN_FLOW_CONVERT_WORDS_H
#define MOEPLAN_FLOW_CONVERT_WORDS_H

#include "flow/convert.h"

/* Whether one has Megatron's words and the other AutoModel's, which has its own for much of what
   the others share. */
bool convert_is_crossing(const struct facts *from, const struct facts *to);
/* Sets the target's words in out->facts from the source's effective values, with notes where the
   meaning moves. Does nothing between Megatron-LM and Bridge. */
void convert_words(struct arena *a, const struct facts *effective, struct conversion *out);
/* AutoModel's strategies read different keys: those that the chosen one refuses are taken out of
   out->facts, and are lost where the user wrote them. */
void convert_drop_keys(struct arena *a, struct conversion *out);
/* Whether convert_words, or facts that follow from others, say what the parameter said. */
bool convert_has_word(const struct facts *from, const struct facts *to, int param);

#endif
