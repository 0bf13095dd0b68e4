/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the commands: a command is a table of options and a run function; parsing, help,
   usage errors and did-you-mean come from the table. A new command is one file with a struct
   command, and its name in both lists of commands.h. */
#ifndef MOEPLAN_CMD_CMD_H
#define MOEPLAN_CMD_CMD_H

#include <stdio.h>

#include "base/page.h"
#include "diag/diag.h"

/* Exit statuses of the contract. */
enum { STATUS_OK = 0, STATUS_NO = 1, STATUS_CANNOT = 2, STATUS_BUG = 3 };

/* What one file or one request of many may take: bytes of memory in one arena, seconds of CPU. */
enum { REQUEST_MEMORY = 256 << 20, REQUEST_SECONDS = 60 };

struct option {
    const char *name;  /* without its dashes */
    const char *value; /* placeholder such as "N" or "text|json"; NULL: a switch without a value */
    const char *help;  /* one line */
};

struct cmd_context;

struct command {
    const char *name;
    const char *arguments;            /* as usage shows them: "FILE…"; "" when there are none */
    int min_arguments, max_arguments; /* max -1: any number */
    const char *help;                 /* one line */
    const char *details;              /* further lines for --help; NULL: none */
    const char *examples;             /* command lines that work as they stand; NULL: none */
    const char *usual_file; /* in the current folder, for an argument that is not given; or NULL */
    const struct option *options;      /* ends with a NULL name; NULL: none */
    const char *required;              /* names of options that must be given, blanks between; of a|b one */
    bool loads_rules;                  /* has --rules PATH */
    bool reads_batch;                  /* has --batch; arguments are then not needed */
    bool writes_files;                 /* what it prints is a file, no screen */
    bool takes_flags;                  /* a word with dashes that is no option is an argument */
    int (*run)(struct cmd_context *c); /* gives the exit status */
};

/* One option as it was given. */
struct given {
    const struct option *option;
    struct str value;
};

struct cmd_context {
    const struct command *command;
    struct arena *keep, *scratch; /* results; one evaluation */
    struct diags
        diags; /* about the command itself: rules, model, platform; printed to stderr at the end */
    struct buf out, err; /* what goes to stdout (or -o FILE) and stderr when the command has run:
                            screens, with the marks of base/page.h, unless `plain` */
    bool plain;          /* out is for programs: a file, JSON */
    struct str *arguments;
    size_t n_arguments;
    struct given *given;
    size_t n_given;
    struct view view; /* what `out` is shown on; zero for a request */
    int colour; /* of --color: COLOUR_AUTO and its like */
};

/* ---- for commands ---- */

bool option_given(const struct cmd_context *c, const char *name);
/* The last value given; empty when there is none. */
struct str option_value(const struct cmd_context *c, const char *name);
/* The i-th value of a repeatable option; false when there are no more. */
bool option_nth(const struct cmd_context *c, const char *name, size_t i, struct str *out);
/* An integer from `least` on; *out is untouched when the option is not given. False with a usage
 * error when it is none. */
bool option_int(struct cmd_context *c, const char *name, int64_t least, int64_t *out);
/* The index of the value among the words of the option's placeholder ("text|json"); 0 when it is
   not given. False with a usage error when it is none of them. */
bool option_choice(struct cmd_context *c, const char *name, int *out);
/* An integer in the range of a parameter; as option_int. */
bool option_param(struct cmd_context *c, const char *name, int param, int64_t *out);
/* Puts "moeplan COMMAND: …" on stderr and gives STATUS_CANNOT. */
__attribute__((format(printf, 2, 3))) int cmd_usage_error(struct cmd_context *c, const char *format,
                                                          ...);
/* Prints diagnostics (sorted, the first 1,000) in text form to `to`. */
void cmd_print_diags(struct cmd_context *c, struct diags *diags, struct buf *to);

struct rule_set;
/* The built-in rules and those of every --rules PATH. False when one of them is bad; the
 * diagnostics are in c->diags. */
bool cmd_load_rules(struct cmd_context *c, const struct rule_set **out);

/* ---- for main ---- */

/* Runs the program: parses, runs the command, writes stdout, stderr and -o FILE. Gives the exit
 * status. */
int cmd_main(int argc, char **argv);

#endif
