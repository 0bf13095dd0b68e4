/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate --check FILE: the laws of kernels against each row of a file, read line by line. */
#ifndef MOEPLAN_CMD_CALIBRATE_CHECK_H
#define MOEPLAN_CMD_CALIBRATE_CHECK_H

#include "cmd/cmd.h"

/* Gives the exit status. */
int calibrate_check(struct cmd_context *c, struct str path);

#endif
