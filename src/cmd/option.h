/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of a command's words. */
#ifndef MOEPLAN_CMD_OPTION_H
#define MOEPLAN_CMD_OPTION_H

#include "cmd/cmd.h"

/* Fills arguments and given options of c->command from the words; false with a usage error added.
 */
bool options_parse(struct cmd_context *c, int n, char **words);
/* Calls `each` for every option of the command, common ones last. */
void options_each(const struct command *command,
                  void (*each)(void *state, const struct option *option), void *state);

#endif
