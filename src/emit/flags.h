/* SPDX-License-Identifier: Apache-2.0 */
/* What Megatron-LM's flags and the launch script around them share. */
#ifndef MOEPLAN_EMIT_FLAGS_H
#define MOEPLAN_EMIT_FLAGS_H

#include "emit/emit.h"

/* How flags are laid out, and the parameters that are said elsewhere. */
struct flags_form {
    const char *indent, *end; /* before and after each flag */
    const int *without;
    size_t n_without;
};

/* The head: the comments, and what no flag can say. */
void flags_add_head(const struct emit_input *in, struct buf *out);
/* The flags of a plan, without comments. */
void flags_add(const struct emit_input *in, const struct flags_form *form, struct buf *out);

/* The flag of one parameter, with its value; nothing when no flag can say it. */
void flags_add_param(const struct facts *f, int param, const char *indent, const char *end,
                     struct buf *out);

/* The fewest nodes with as many GPUs each, *node: torchrun starts the same number on every node. */
void emit_nodes(const struct facts *f, int64_t *nodes, int64_t *node);

/* A variable of the run's environment that the plan needs. */
struct environment {
    const char *name, *value;
};

enum { ENVIRONMENT_MAX = 8 };

/* Whether the facts need more of it than every run. */
bool emit_environment_differs(const struct facts *f);
/* Fills `out`, which has room for ENVIRONMENT_MAX, and gives how many there are. */
size_t emit_environment(const struct facts *f, struct environment *out);

#endif
