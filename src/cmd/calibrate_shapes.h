/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate --plan FILE: what one rank of the plan runs in a step, for tools/microbenchmark.py. */
#ifndef MOEPLAN_CMD_CALIBRATE_SHAPES_H
#define MOEPLAN_CMD_CALIBRATE_SHAPES_H

#include "cmd/cmd.h"
#include "facts/reader.h"
#include "rules/rule.h"

/* Gives the exit status. */
int calibrate_shapes(struct cmd_context *c, const struct rule_set *rules,
                     const struct read_options *options, struct str path);

#endif
