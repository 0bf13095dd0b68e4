/* SPDX-License-Identifier: Apache-2.0 */
/* The repositories whose files a run looks at: their settings, and what git ignores. */
#ifndef MOEPLAN_CMD_PROJECT_H
#define MOEPLAN_CMD_PROJECT_H

#include "base/map.h"
#include "cmd/cmd.h"
#include "flow/baseline.h"
#include "flow/settings.h"
#include "flow/validate.h"

/* A settings file as it is used. */
struct project {
    struct settings *settings;
    struct validation base;    /* with the rules of the settings beside those of the command line */
    struct baseline *baseline; /* NULL: none, or that of the command line holds */
    const struct param_list *declared; /* NULL: those of the command line */
};

/* What holds in one folder. */
struct place {
    struct str real;
    struct project *project;           /* NULL: no settings hold */
    const struct git_ignores *ignores; /* NULL: no repository of git */
};

struct projects {
    struct cmd_context *c;
    const struct validation *base; /* of the command line */
    const struct read_options *given;
    struct diag_selection wanted; /* of the command line */
    struct str today;
    struct baseline *baseline;  /* of the command line: it holds everywhere; NULL: none */
    struct str baseline_folder; /* real path */
    /* The text of settings that an editor has open, by their real path; NULL, or false: the file's.
     */
    bool (*opened)(const void *state, struct arena *a, struct str real, struct str *text);
    const void *opened_state;
    bool isolated;          /* no settings are looked for */
    bool failed;            /* some settings cannot be used: the errors are said */
    struct project *forced; /* of --config: it holds everywhere */
    struct map place_of, project_of, ignores_of;
    VEC(const struct place *) places;
    VEC(struct project *) all;
    VEC(struct str) looked_at; /* real paths of the folders that were named */
    VEC(struct git_ignores *) ignores;
};

/* --config, --isolated and today; false with errors in c->diags, or a usage error. */
bool projects_open(struct projects *p, struct cmd_context *c, const struct validation *base,
                   const struct read_options *given);
/* What holds for the files of a folder as the user writes it, "a/" or ""; made once. */
const struct place *projects_place(struct projects *p, struct str folder);
/* What holds for one file; everything is made in `a`. False when its settings cannot be used. */
struct file_view {
    struct validation validation; /* its arenas are the caller's to set */
    struct settings_view settings;
    struct project *project;   /* NULL: no settings hold */
    struct baseline *baseline; /* NULL: none */
    struct str known_as;       /* the file's path from the baseline's folder on */
    struct str path;           /* from the settings' folder on; without settings as it is named */
};
bool projects_view(struct projects *p, struct arena *a, struct str path, struct file_view *out);
/* The same where the file's folder is known already: nothing but `out` and `a` is written to. */
bool projects_view_in(const struct projects *p, struct arena *a, const struct place *place,
                      struct str path, struct file_view *out);
/* Afterwards: which settings of the command line were used. */
void projects_close_view(struct projects *p, const struct file_view *view);
/* Whether what is found in a folder is left out: a dir_leave_out. */
bool projects_leave_out(void *projects, struct str path, bool folder);
/* A folder is looked at with all below it: the entries of settings that lie there and did nothing
   are then told as warnings in c->diags. */
void projects_note_folder(struct projects *p, struct str folder);
void projects_report_unused(struct projects *p);
/* How many known findings are gone. */
size_t projects_gone(const struct projects *p);

#endif
