/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is good, but not for the command that it was given to. */
#ifndef MOEPLAN_CMD_WRONG_FILE_H
#define MOEPLAN_CMD_WRONG_FILE_H

#include "cmd/cmd.h"

/* Says on stderr of each argument that is a file of a kind which the command does not take what it
   is, and which command does. For a command that could not answer. */
void wrong_files(struct cmd_context *c);

#endif
