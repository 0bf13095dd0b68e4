/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/option.h"

enum { COLUMN = 30 }; /* where the explanation of an option begins */

void help_option(void *state, const struct option *option)
{
    struct buf *out = state;
    size_t from = out->n;
    buf_printf(out, "  --%s%s%s", option->name, option->value ? " " : "",
               option->value ? option->value : "");
    size_t width = (size_t)page_width(str_slice(buf_str(out), from, out->n));
    if (width + 2 > COLUMN) {
        buf_add_char(out, '\n');
        width = 0;
    }
    buf_add_n(out, ' ', COLUMN - width);
    buf_printf(out, "%s\n", option->help);
}

void help_command(const struct command *command, struct buf *out)
{
    buf_printf(out, "usage: moeplan %s%s%s [options]\n\n", command->name,
               *command->arguments ? " " : "", command->arguments);
    buf_printf(out, "%s.\n", command->help);
    if (command->details) buf_printf(out, "\n%s", command->details);
    buf_add(out, STR("\n" MARK_HEADING "options" MARK_END "\n"));
    options_each(command, help_option, out);
    if (!command->examples) return;
    struct str rest = str_of(command->examples), line;
    buf_add(out, STR("\n" MARK_HEADING "examples" MARK_END "\n"));
    while (str_split(&rest, '\n', &line))
        buf_printf(out, MARK_VERBATIM MARK_CODE "  moeplan %s%s%.*s" MARK_END "\n", command->name,
                   line.n ? " " : "", STR_ARG(line));
}

void help_program(struct buf *out)
{
    buf_add(out, STR("moeplan plans and checks mixture-of-experts training for Megatron-LM, "
                     "Megatron-Bridge and NeMo "
                     "AutoModel\n\nusage: moeplan COMMAND [options]\n\ncommands\n"));
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        buf_printf(out, "  %-12s%s\n", commands[i]->name, commands[i]->help);
    buf_add(out, STR("\nmoeplan COMMAND --help explains one. Exit status: 0 good, 1 the answer is "
                     "no, 2 could not answer.\n"));
}

static int run(struct cmd_context *c)
{
    if (!c->n_arguments) {
        help_program(&c->out);
        return STATUS_OK;
    }
    const struct command *command = command_find(c->arguments[0]);
    if (!command) return command_unknown(c, c->arguments[0]);
    help_command(command, &c->out);
    return STATUS_OK;
}

const struct command command_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .max_arguments = 1,
    .help = "List the commands, or explain one",
    .run = run,
};
