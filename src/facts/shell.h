/* SPDX-License-Identifier: Apache-2.0 */
/* Launch scripts: a static partial evaluator for the part of bash that they use. Nothing is ever
   executed: variables, defaults, arithmetic, arrays, conditions and functions are followed as far
   as the text decides them; the rest is dynamic. Of a script that is a file itself, what it sources
   is read too, where it lies in the script's reach (base/reach.h). */
#ifndef MOEPLAN_FACTS_SHELL_H
#define MOEPLAN_FACTS_SHELL_H

#include "facts/flags.h"
#include "facts/reader.h"

/* Finds the command that launches training and its words after the program (a word that ends in
   .py, or the first flag); sets the environment that the script exports, and the world size from
   the launchers' options or Slurm headers; adds findings about the script itself (lost-backslash,
   comment-in-continuation, variable-misspelt, script-argument, carriage-return). False with an
   error of rule `shell-syntax` where the text cannot be read further; what came before counts. */
bool shell_read(struct facts *f, struct str text, const struct read_options *options,
                struct flag_words *out);
/* The variables of one text outside a script ("${TP}", "$TP", "${TP:-2}") put in from --set and
   --env; w->text, known and dynamic are set. */
void shell_expand(struct facts *f, struct str text, const struct read_options *options,
                  struct flag_word *w);

#endif
