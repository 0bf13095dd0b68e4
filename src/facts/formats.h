/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, for reader.c alone: one declaration and one line a format. */
#ifndef MOEPLAN_FACTS_FORMATS_H
#define MOEPLAN_FACTS_FORMATS_H

#include "facts/reader.h"

extern const struct reader reader_automodel; /* read_automodel.c */
extern const struct reader reader_bridge;    /* read_bridge.c */
extern const struct reader reader_hf;        /* reader_hf.c */
extern const struct reader reader_megatron;  /* read_megatron.c */
extern const struct reader reader_plan;      /* read_plan.c */
extern const struct reader reader_sections;  /* read_sections.c */
/* recognised only */
/* reader_other.c */
extern const struct reader reader_nemo, reader_deepspeed, reader_kubernetes, reader_built_in;

static const struct reader *const formats[] = {
    &reader_automodel, &reader_bridge, &reader_hf,        &reader_megatron,   &reader_plan,
    &reader_sections,  &reader_nemo,   &reader_deepspeed, &reader_kubernetes, &reader_built_in,
};

#endif
