/* SPDX-License-Identifier: Apache-2.0 */
/* What commands that read recipes can be told beside them. */
#ifndef MOEPLAN_CMD_RECIPE_H
#define MOEPLAN_CMD_RECIPE_H

#include "cmd/cmd.h"
#include "facts/param_file.h"
#include "facts/reader.h"

/* What commands that read recipes can be told beside them; `formats` are those of --as. */
/* clang-format off */
#define RECIPE_OPTIONS(formats)                                                                    \
    {"gpus", "N", "number of GPUs of the run"},                                                    \
    {"platform", "P", "GPU platform: h100, gb200, … or a platform file"},                          \
    {"model", "MODEL", "the model: a catalogue name, a config.json or a model file"},              \
    {"framework", "NAME", "megatron, bridge or automodel, where the file does not say"},           \
    {"framework-version", "V", "version of the framework (moeplan version lists them)"},           \
    {"as", "FORMAT", formats " instead of telling by the content"},                                \
    {"set", "NAME=VALUE", "state a fact the file does not hold, or override one (repeatable)"},    \
    {"env", "NAME=VALUE", "an environment variable of the run (repeatable)"}
/* clang-format on */
#define RECIPE_FORMATS "automodel, megatron, bridge or plan"

/* Whether --as is absent or names a format; a usage error that lists `formats` when it does not. */
bool recipe_as(struct cmd_context *c, struct str as, const char *formats);
/* Whether an option names a version of the framework, or of some framework when none is given; a
   usage error when not. */
bool recipe_version(struct cmd_context *c, const struct read_options *options, const char *option);
/* The options of the command line; false with a usage error, or a diagnostic in c->diags. */
bool recipe_options(struct cmd_context *c, struct read_options *out);
/* Appends the parameters that a file or the files of a folder declare; what else is in it, and what
   cannot be read, is for the loader of rules. False with errors in c->diags. */
bool recipe_declared(struct cmd_context *c, struct str path, struct param_list *out);
/* Whether the files that have been read knew all settings, and their parameters take the values; a
   usage error of --set when not. */
bool recipe_settings_used(struct cmd_context *c, const struct read_options *options);

#endif
