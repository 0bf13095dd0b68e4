/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics: collected while the program goes on, sorted, printed once. Nothing below a command
   prints. */
#ifndef MOEPLAN_DIAG_DIAG_H
#define MOEPLAN_DIAG_DIAG_H

#include <stdarg.h>

#include "base/vec.h"
#include "diag/source.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

/* Why a finding is not shown: a comment in its file, the settings, the baseline. */
enum diag_state { DIAG_SHOWN, DIAG_SILENCED, DIAG_IGNORED, DIAG_KNOWN };

/* A change of a text: bytes [from, to) of a source become `text`. */
struct text_edit {
    uint32_t source;
    size_t from, to;
    struct str text;
};
struct text_edits {
    struct text_edit *items;
    size_t n, cap;
};

struct diag {
    struct str rule; /* kebab-case id */
    enum severity severity;
    struct span at;
    struct str message;    /* what is wrong, with the values; one line, lower case, no full stop */
    struct str parameter;  /* canonical name the finding is about; may be empty */
    VEC(struct str) notes; /* the arithmetic, and where each operand came from */
    struct str help;       /* nearest valid values or the fix; may be empty */
    struct str guide, source, fix; /* from the rule; may be empty */
    struct str page;               /* where the rule's page can be read; empty: nowhere */
    const struct str *covers;      /* constraint ids */
    size_t n_covers;
    int document;            /* 0-based number of the YAML document */
    struct text_edits edits; /* the one change that is right, where there is one */
    bool safe;               /* it keeps what the run was meant to do */
    struct str values; /* what it is about, "ep=48, num_moe_experts=128"; empty: the text there */
    enum diag_state state;
    struct str reason; /* why it is hidden, in the user's words; may be empty */
};

/* A list of diagnostics with the sources they point into. */
struct diags {
    struct arena *arena;
    struct sources sources;
    struct diag *items;
    size_t n, cap;
    VEC(struct diag) hidden; /* those that are not shown, as DIAG_SILENCED and the like */
    int document;            /* given to diagnostics that are added from now on */
};

void diags_init(struct diags *all, struct arena *arena);
/* Adds one; the pointer, for notes, help and the rest, holds until the next is added. */
__attribute__((format(printf, 5, 6))) struct diag *diag_add(struct diags *all,
                                                            enum severity severity,
                                                            const char *rule, struct span at,
                                                            const char *format, ...);
__attribute__((format(printf, 5, 0))) struct diag *diag_vadd(struct diags *all,
                                                             enum severity severity,
                                                             const char *rule, struct span at,
                                                             const char *format, va_list args);
/* Takes back the one at an index. */
void diag_remove(struct diags *all, size_t index);
/* Whether one of the first `n` begins at the same place. */
bool diag_is_told(const struct diags *all, size_t n, struct span at);
/* A further note, and the help, which replaces the one before. */
__attribute__((format(printf, 3, 4))) void diag_note(struct diags *all, struct diag *d,
                                                     const char *format, ...);
__attribute__((format(printf, 3, 4))) void diag_help(struct diags *all, struct diag *d,
                                                     const char *format, ...);
/* The help that a word near to the wrong one is meant, and the edit that writes it where the wrong
   one stands; none where `near` is empty. The edit is safe where there is hardly a doubt. */
void diag_suggest(struct diags *all, struct diag *d, struct str near);
/* Adds an edit: bytes [from, to) of the finding's source become `text`, which is kept as it is. */
void diag_edit(struct diags *all, struct diag *d, size_t from, size_t to, struct str text);
/* The help that lists the words that are valid, the one near to the wrong one first. */
void diag_choices(struct diags *all, struct diag *d, struct str wrong, const struct str *choices,
                  size_t n);
/* What it is about, wherever it stands: its values, else the text there, in one line. */
struct str diag_values(struct diags *all, const struct diag *d);
/* Hides one that is taken out of the list by the caller. */
void diag_hide(struct diags *all, const struct diag *d, enum diag_state state, struct str reason);
/* By source, line, column, severity (errors first), rule, message; exact duplicates are dropped. */
void diags_sort(struct diags *all);
size_t diags_count(const struct diags *all, enum severity severity);
const char *severity_name(enum severity severity);

#endif
