/* SPDX-License-Identifier: Apache-2.0 */
/* validate: a text -> what it is, and the findings about it. */
#ifndef MOEPLAN_FLOW_VALIDATE_H
#define MOEPLAN_FLOW_VALIDATE_H

#include "cost/cost.h"
#include "diag/policy.h"
#include "facts/recipe.h"
#include "rules/rule.h"

enum file_status { FILE_OK, FILE_INVALID, FILE_UNREADABLE, FILE_SKIPPED };

/* The world sizes at which nothing fails, when the file does not give one. */
struct world_sizes {
    bool known;          /* false: the world size is given, or nothing depends on it */
    int64_t multiple_of; /* every valid size is a multiple of this */
    int64_t up_to;       /* sizes were tried up to here */
    const int64_t *sizes;
    size_t n;
};

struct file_report {
    struct str path, format, framework, framework_version, model; /* empty: not known */
    int64_t gpus;                                                 /* 0: not known */
    enum file_status status;
    struct str why_skipped; /* of FILE_SKIPPED: what it is, or that nothing in it is known */
    struct diags *diags;    /* sorted */
    struct str environment; /* the versions that are assumed, and whose they are; empty: none */
    size_t rules_skipped, rules_decided;
    struct world_sizes world;
};

struct rule_refs {
    const struct rule **items;
    size_t n, cap;
};

/* What texts are checked by, and how. */
struct validation {
    struct arena *arena;   /* of one file: its document, facts and findings */
    struct arena *scratch; /* of one rule */
    const struct rule_set *rules;
    const struct rule_reach *worlds; /* [FRAMEWORK_COUNT] the reach of the world size */
    struct rule_refs pinned_rules;   /* those that read what a release's lock file pins */
    struct str from; /* a release that the files are right for: only what the other one changes is
                        told; empty: all is */
    enum severity fail_on; /* the least that makes a file invalid */
    bool named;            /* the text was asked for by name: a model is told by its keys too */
    const struct diag_policy *policy; /* what the repository makes of findings; NULL: as they are */
    struct str pin; /* rules that came after this version are infos; empty: none */
    /* what some configuration lacked; the summary names the options that would help */
    bool gpus_unknown, platform_unknown, model_unknown, seq_unknown;
};

/* By these rules, with what is worked out once for all texts; only errors are invalid. `arena` and
   `scratch` are the caller's to set. */
struct validation validation_of(struct arena *a, const struct rule_set *rules);
/* Text -> document -> facts -> rules -> diagnostics. `path`, `text` and the options outlive the
 * report. */
struct file_report validate_text(struct validation *v, struct str path, struct str text,
                                 struct str as, const struct read_options *options);
/* The same of what the release of the options changes against v->from: its findings that the other
   has not, and defaults that are others. */
struct file_report validate_upgrade(struct validation *v, struct str path, struct str text,
                                    struct str as, const struct read_options *options);
/* Whether a file that was read is good, by the findings that are left. */
void validate_judge(const struct validation *v, struct file_report *report);
/* The same for a text that could not be read. */
struct file_report validate_unreadable(struct validation *v, struct str path, struct str why);
/* The same for a text that took more than it may; `end` says of what. */
struct file_report validate_too_large(struct validation *v, struct str path, enum guard_end end);

/* ---- parts (validate_own.c, validate_world.c, validate_memory.c, validate_environment.c,
   validate_releases.c, validate_branches.c) ---- */

/* A text that is one of moeplan's own data files, by its mark: its findings are added and the
   format set; false when it is none. */
bool validate_own(struct validation *v, struct file_report *report, uint32_t source);
/* The same for a model without a mark, by its keys. */
bool validate_own_model(struct validation *v, struct file_report *report, uint32_t source);

/* The world sizes at which no error rule fails, for a configuration that does not say its own. Adds
   an error when there is none among those tried. `f` is left as it was. */
struct world_sizes validate_world_sizes(struct validation *v, const struct facts *f);
/* "Transformer Engine 2.17.1 (Megatron-LM main's lock file; …)": the versions that nobody states.
 */
struct str validate_environment(struct arena *a, const struct facts *f);
/* The error rules that read them. */
struct rule_refs validate_pinned_rules(struct arena *a, const struct rule_set *rules);
/* An info for each of them that holds, and would not with what the oldest known release pins. */
void validate_newer_software(struct validation *v, struct facts *f);
/* What is wrong with a launch script where its variables have other values that it asks for. */
void validate_branches(struct validation *v, const struct recipe *recipe, uint32_t source,
                       struct str as, const struct read_options *options, struct diags *diags);
/* An info for each parameter that is not written and has another default than in v->from. */
void validate_changed_defaults(const struct validation *v, struct facts *f);
/* memory-exceeds-gpu and memory-tight. */
void validate_memory(struct validation *v, const struct facts *f, const struct memory_estimate *m);

#endif
