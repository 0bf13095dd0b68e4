/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline layout: which layers stand on which stage. */
#ifndef MOEPLAN_FACTS_LAYOUT_H
#define MOEPLAN_FACTS_LAYOUT_H

#include "base/value.h"

/* At most this many stages, and letters in all of them. */
enum { LAYOUT_MAX_STAGES = 4096, LAYOUT_MAX_LETTERS = 65536 };

/* The letters of every stage, in model order, as a list of strings: E embedding, t decoder layer, m
   MTP depth, L loss. Takes Megatron's string (stages between bars, commas ignored, (...)*n and then
   x*n repeated) or Bridge's list of stages, each a list of the words embedding, decoder, mtp, loss.
   False with *error set when it is neither. Source:
   megatron/core/transformer/pipeline_parallel_layer_layout.py:288. */
bool layout_parse(struct arena *a, struct value layout, struct value *stages, struct str *error);

#endif
