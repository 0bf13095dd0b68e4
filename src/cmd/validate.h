/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of one text; the command and the batch mode are two users of it. */
#ifndef MOEPLAN_CMD_VALIDATE_H
#define MOEPLAN_CMD_VALIDATE_H

#include "cmd/cmd.h"
#include "cost/cost.h"
#include "emit/report.h"
#include "facts/recipe.h"
#include "rules/rule.h"

struct validation {
    struct arena *arena;   /* of one file: its document, facts and findings */
    struct arena *scratch; /* of one rule */
    const struct rule_set *rules;
    const struct rule_reach *worlds; /* [FRAMEWORK_COUNT] the reach of the world size */
    enum severity fail_on;
    bool named; /* the text was asked for by name: a model is told by its keys too */
    /* what some configuration lacked; the summary names the options that would help */
    bool gpus_unknown, platform_unknown, model_unknown, seq_unknown;
};

/* Text -> document -> facts -> rules -> diagnostics. `path`, `text` and the options outlive the
 * report. */
struct file_report validate_text(struct validation *v, struct str path, struct str text,
                                 struct str as, const struct read_options *options);
/* The same for a text that could not be read. */
struct file_report validate_unreadable(struct validation *v, struct str path, struct str why);
/* The same for a text that took more than it may; `end` says of what. */
struct file_report validate_too_large(struct validation *v, struct str path, enum guard_end end);

/* ---- parts (validate_options.c, validate_batch.c, validate_own.c, validate_world.c,
   validate_memory.c) ---- */

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
bool validate_format(struct cmd_context *c, struct str as, const char *formats);
/* The options of the command line; false with a usage error, or a diagnostic in c->diags. */
bool validate_options(struct cmd_context *c, struct read_options *out);
/* What is wrong with the settings, now that the files have been read: values that their parameters
   do not take, and names that nothing knew, with the nearest ones; empty when all is well. */
struct str validate_settings(struct arena *a, const struct read_options *options);
/* The same as a usage error of --set; true when all is well. */
bool validate_settings_used(struct cmd_context *c, const struct read_options *options);
/* Answers JSONL requests; their options stand over `options`. Gives the exit status. */
int validate_batch(struct cmd_context *c, const struct validation *v,
                   const struct read_options *options);

/* A text that is one of moeplan's own data files, by its mark: its findings are added and the
   format set; false when it is none. */
bool validate_own(struct validation *v, struct file_report *report, uint32_t source);
/* The same for a model without a mark, by its keys. */
bool validate_own_model(struct validation *v, struct file_report *report, uint32_t source);

/* The world sizes at which no error rule fails, for a configuration that does not say its own. Adds
   an error when there is none among those tried. `f` is left as it was. */
struct world_sizes validate_world_sizes(struct validation *v, const struct facts *f);
/* memory-exceeds-gpu and memory-tight. */
void validate_memory(struct validation *v, const struct facts *f, const struct memory_estimate *m);

#endif
