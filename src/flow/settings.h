/* SPDX-License-Identifier: Apache-2.0 */
/* .moeplan.yaml: what a repository says about its files beside them. docs/settings.md describes
   it. */
#ifndef MOEPLAN_FLOW_SETTINGS_H
#define MOEPLAN_FLOW_SETTINGS_H

#include "base/dir.h"
#include "base/glob.h"
#include "diag/policy.h"
#include "facts/param_file.h"
#include "facts/reader.h"
#include "rules/rule.h"

/* A fact that settings state, and where. */
struct stated {
    struct str name, text; /* "gpus", "64" */
    struct setting setting;
    struct span at;
    struct str how; /* "from the path", "from launch/a.sbatch"; empty: written there */
};
struct stated_list {
    struct stated *items;
    size_t n, cap;
};

/* What is said about all files, or about those whose path matches. Facts hold where a file says
   nothing itself; `set` holds whatever it says, as --set does. */
struct settings_group {
    struct glob_list match; /* of the path from the settings' folder on; empty: all files */
    struct stated_list facts, set, env;
    struct str launcher; /* a script whose launch says the number of GPUs; with {name}, {folder} */
    struct rule_patterns select;
    struct span select_at;
    struct severity_list severity;
    struct ignore_list ignore;
    struct span at;
};

struct settings {
    struct str path, folder; /* of the file; the folder is a real path */
    struct settings_group all;
    struct settings_group *paths;
    size_t n_paths;
    struct glob_list exclude;
    struct path_list rules, parameters; /* real paths of files and folders */
    struct str pin;                     /* the version of the rules that CI was made for */
    struct str fail_on, baseline;       /* baseline: a real path, or one that is not there yet */
    bool gitignore;
    double price, goodput; /* per GPU hour; the part of the time that trains; 0: not said */
};

/* Reads the settings of a registered source that lies in `folder`, a real path. NULL with errors of
   rule `settings` (and those of YAML) added. Rule ids are checked by settings_check_rules, as they
   may be the user's own. */
struct settings *settings_read(struct arena *a, struct diags *diags, uint32_t source,
                               struct str folder);
/* Whether a pattern of rule ids matches a rule of the set. */
bool settings_know_rule(const struct rule_set *rules, struct str pattern);
/* False with errors added where one does not. */
bool settings_check_rules(const struct settings *s, const struct rule_set *rules,
                          struct diags *diags);
#define SETTINGS_NAME ".moeplan.yaml"
/* The nearest .moeplan.yaml upward from a folder (a real path) to the root of its repository, where
   .git is; empty: there is none. */
struct str settings_find(struct arena *a, struct str folder);

/* What holds for one file: the command line first, then its paths' groups, the last first, then
   what holds for all. */
struct settings_view {
    struct read_options options;
    struct read_options defaults; /* options.otherwise */
    struct diag_policy policy;
    struct stated_list stated, set, env; /* what holds, by name; `set` whatever the file says */
};

/* `path` is from the settings' folder on. The view's lists are made in `a`. */
void settings_resolve(struct arena *a, const struct settings *s, struct str path,
                      const struct read_options *command_line, struct settings_view *out);
/* Whether the file or folder at the path, from the settings' folder on, is left out. */
bool settings_exclude(struct arena *a, const struct settings *s, struct str path, bool folder);
/* A warning in `diags`, whose sources are the settings', for each entry of `ignore` that silenced
   nothing, or whose day is over. */
void settings_report_unused(const struct settings *s, struct str today, struct diags *diags);

/* The keys of a mapping in settings, for its schema: their kinds of values and meaning. */
struct settings_key {
    const char *name, *type, *doc;
};
extern const struct settings_key settings_top_keys[], settings_path_keys[], settings_fact_keys[],
    settings_ignore_keys[]; /* a NULL name is the last */
/* Whether a fact of the settings has a word of its own there: all others are parameters' names. */
bool settings_is_word(struct str name);

#endif
