/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes named on a command line -> facts; for commands that look at one configuration a file. */
#ifndef MOEPLAN_CMD_LOAD_H
#define MOEPLAN_CMD_LOAD_H

#include "cmd/recipe.h"
#include "facts/recipe.h"
#include "rules/rule.h"

/* Says that a recipe's file cannot be read, or that its name is a model's, which suggest is for.
   Gives STATUS_CANNOT. */
int load_failed(struct cmd_context *c, struct str path, struct str error);

/* The first configuration that the file describes, options applied, overrides not; NULL with the
   reason on stderr or in c->diags. A file of several says on stderr which is taken. */
const struct reading *load_reading(struct cmd_context *c, struct str path, struct str as,
                                   const struct read_options *options);
/* Its facts. */
struct facts *load_recipe(struct cmd_context *c, struct str path, struct str as,
                          const struct read_options *options);

/* All configurations of the file that --in names, options and overrides applied. False with the
   reason on stderr or in c->diags. */
bool load_readings(struct cmd_context *c, const struct rule_set *rules, struct readings *out);

#endif
