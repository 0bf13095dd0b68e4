/* SPDX-License-Identifier: Apache-2.0 */
/* One word for the number format of the training, and the framework's own switches for it. */
#ifndef MOEPLAN_FACTS_PRECISION_H
#define MOEPLAN_FACTS_PRECISION_H

#include "facts/facts.h"

enum precision {
    PREC_FP32,
    PREC_BF16,
    PREC_FP16,
    PREC_FP8_DELAYED,
    PREC_FP8_TENSORWISE,
    PREC_FP8_BLOCKWISE,
    PREC_MXFP8,
    PREC_NVFP4
};
enum { PREC_COUNT = PREC_NVFP4 + 1 };

/* The word of each, as the parameter `precision` has it; NULL-terminated. */
extern const char *const precision_words[PREC_COUNT + 1];
/* The word of a precision that is spelt as Bridge's performance scripts do; any other as it is. */
struct str precision_word(struct str word);
/* AutoModel's setting that stands for a precision, its value in *word; P_NONE: it has none. */
int precision_of_automodel(enum precision precision, const char **word);
/* Where `precision` (or Bridge's mixed_precision) is written, sets the switches it stands for; else
   sets `precision` from the switches. Switches that are written stay. A plan or a Bridge recipe
   that says nothing trains in bf16. */
void precision_derive(struct facts *f);

#endif
