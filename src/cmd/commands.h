/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: declared, and in the order in which help lists them. A new one goes into both
   lists. */
#ifndef MOEPLAN_CMD_COMMANDS_H
#define MOEPLAN_CMD_COMMANDS_H

#include "cmd/cmd.h"

extern const struct command command_estimate, command_models, command_platforms, command_suggest,
    command_validate, command_eval, command_explain, command_rules, command_schema, command_version,
    command_help, command_convert, command_compare, command_diagnose, command_calibrate,
    command_sweep, command_completion, command_lsp, command_init;

/* What a user does first comes first. */
static const struct command *const commands[] = {
    &command_suggest,   &command_validate,   &command_estimate, &command_compare, &command_convert,
    &command_diagnose,  &command_calibrate,  &command_sweep,    &command_explain, &command_models,
    &command_platforms, &command_rules,      &command_eval,     &command_schema,  &command_init,
    &command_lsp,       &command_completion, &command_version,  &command_help,
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* The command of a name, or NULL. */
const struct command *command_find(struct str name);

/* The usage error of a word that is no command, with the nearest one. */
int command_unknown(struct cmd_context *c, struct str word);
/* One option as help lists it; `state` is the struct buf it goes to. */
void help_option(void *state, const struct option *option);
/* Usage, options and details of one command. */
void help_command(const struct command *command, struct buf *out);
/* The list of commands. */
void help_program(struct buf *out);

#endif
