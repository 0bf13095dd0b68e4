/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point operations of one token, forward, as Megatron-LM counts them. */
#ifndef MOEPLAN_COST_FLOPS_H
#define MOEPLAN_COST_FLOPS_H

#include "plan/config.h"

/* Vocabulary rows of the logits: Megatron pads them to a multiple of make_vocab_size_divisible_by *
 * tp. */
double flops_vocab(const struct config *c);

#endif
