/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the script itself, whatever it launches: flags that bash takes for commands,
   variables that nobody sets, arguments that only its caller knows. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/edit.h"
#include "facts/shell_state.h"

/* ---- flags that are commands ---- */

static struct str source_text(const struct shell *sh, uint32_t source)
{
    return source_get(&sh->f->diags->sources, source)->text;
}

static size_t line_start(struct str text, size_t at)
{
    while (at > 0 && text.p[at - 1] != '\n')
        at--;
    return at;
}

/* The line before, which is named, goes on: a backslash at its end, and no blank behind it. */
static void join_lines(struct shell *sh, struct diag *d)
{
    struct shell_place at = shell_place(sh, sh->command_at);
    struct str text = source_text(sh, at.source);
    size_t end = line_start(text, at.byte);
    if (end == 0) return;
    size_t from = --end; /* the newline */
    while (from > 0 && strchr(" \t\r", text.p[from - 1]))
        from--;
    bool there = from > 0 && text.p[from - 1] == '\\';
    if (from == 0 || text.p[from - 1] == '\n') return;
    diag_note(sh->f->diags, d, "line %" PRIu32 " %s", d->at.line - 1,
              there ? "has a blank behind its backslash" : "ends without a backslash");
    diag_edit(sh->f->diags, d, from, end, there ? STR("") : STR(" \\"));
    d->safe = true;
}

/* The line of the comment goes above the first line of the command. */
static void move_comment(struct shell *sh, struct diag *d)
{
    struct shell_place at = shell_place(sh, sh->cut - 1);
    struct str text = source_text(sh, at.source);
    size_t from = line_start(text, at.byte), to = at.byte, top = from;
    to += str_find(str_slice(text, to, text.n), '\n') + 1;
    if (str_trim(str_slice(text, from, at.byte)).n || to > text.n) return;
    while (top >= 2 && text.p[top - 2] == '\\')
        top = line_start(text, top - 1);
    if (top == from) return;
    diag_edit(sh->f->diags, d, top, top, str_slice(text, at.byte, to));
    diag_edit(sh->f->diags, d, from, to, STR(""));
    d->safe = true;
}

/* "--flag". */
static bool is_flag(struct str word)
{
    return str_starts(word, STR("--")) && word.n > 2 && shell_begins_name(word.p[2]);
}

/* "a.b=value", an override: bash assigns to no name with a dot. */
static bool is_override(struct str word)
{
    struct str name = str_slice(word, 0, str_find(word, '='));
    for (size_t i = 0; i < name.n; i++)
        if (!shell_is_name(name.p[i]) && (i == 0 || name.p[i] != '.')) return false;
    return name.n < word.n && str_find(name, '.') < name.n;
}

bool shell_is_tail(struct shell *sh, const struct shell_fields *words, bool known)
{
    struct str name = shell_str(words->items[0]);
    bool flag = is_flag(name), override = (sh->launch_goes_on || known) && is_override(name);
    if (!flag && !override) return false;
    name = str_slice(name, 0, str_find(name, '=')); /* the value may be unknown */
    struct diags *diags = sh->f->diags;
    struct diag *d;
    if (sh->cut) {
        d = diag_add(diags, SEVERITY_ERROR, "comment-in-continuation",
                     shell_span(sh, sh->cut - 1, 1),
                     "the command ends at this comment: bash takes %.*s below for a command of its "
                     "own",
                     STR_ARG(name));
        diag_help(diags, d, "put the comment above the command");
        move_comment(sh, d);
    } else {
        d = diag_add(diags, SEVERITY_ERROR, "lost-backslash", shell_span(sh, sh->command_at, 1),
                     "bash takes %.*s for a command of its own: the line before does not go on",
                     STR_ARG(name));
        diag_help(diags, d, "end the line before with a backslash, and no blank behind it");
        join_lines(sh, d);
    }
    /* another program than the training may well fail */
    if (!sh->launch_goes_on && !known) d->severity = SEVERITY_WARNING;
    return true;
}

/* ---- variables that nobody sets ---- */

static void note(struct shell *sh, struct shell_missing_list *list, struct str name, uint32_t at)
{
    if (sh->live == SHELL_DEAD || list->n >= SHELL_MAX_NOTED) return;
    *VEC_PUSH(sh->arena, list) = (struct shell_missing){name, at, sh->nounset};
}

void shell_note_missing(struct shell *sh, struct str name, uint32_t at)
{
    for (size_t i = 0; i < sh->missing.n; i++)
        if (str_eq(sh->missing.items[i].name, name)) return;
    note(sh, &sh->missing, name, at);
}

void shell_note_argument(struct shell *sh, struct str name, uint32_t at)
{
    note(sh, &sh->arguments, name, at);
}

/* Whether a name is most likely a slip of the other's. What is set and read elsewhere may well have
   a neighbour in the environment (NODES, NNODES): then the slip must be inside the word. */
static bool is_slip(struct str name, const struct shell_var *var)
{
    enum { SHORTEST = 6, LONG = 10 };
    struct str other = var->name;
    if (name.n < SHORTEST || other.n < SHORTEST) return false;
    bool inside = name.p[0] == other.p[0] && name.p[name.n - 1] == other.p[other.n - 1];
    return (inside || !var->used) && edit_is_slip(name, other, name.n >= LONG ? 2 : 1);
}

static const struct shell_var *meant_by(const struct shell *sh, struct str name)
{
    enum { MOST_VARIABLES = 1000 }; /* that anybody writes; comparing words takes its time */
    const struct shell_var *best = NULL;
    for (size_t i = 0; i < sh->vars.n && i < MOST_VARIABLES; i++) {
        const struct shell_var *var = &sh->vars.items[i];
        if (!is_slip(name, var)) continue;
        if (!best || edit_distance(name, var->name) < edit_distance(name, best->name)) best = var;
    }
    return best;
}

/* The name in "$NAME" or "${NAME…}", where that is what stands there. */
static void rename_variable(struct shell *sh, struct diag *d, const struct shell_missing *m,
                            struct str name)
{
    struct shell_place at = shell_place(sh, m->at);
    struct str text = source_text(sh, at.source);
    size_t from = at.byte;
    while (from < text.n && from < at.byte + 3 && strchr("\"${", text.p[from]))
        from++;
    if (d->at.source == at.source && str_starts(str_slice(text, from, text.n), m->name))
        diag_edit(sh->f->diags, d, from, from + m->name.n, name);
}

/* Under set -u bash stops at the variable, unless the environment has it. */
static void tell_missing(struct shell *sh, const struct shell_missing *m)
{
    const struct shell_var *var = shell_var_find(sh, m->name) ? NULL : meant_by(sh, m->name);
    if (!var || sh->sets_any || (sh->sourced && var->used)) return;
    bool stops = m->stops && !sh->sourced;
    struct diag *d =
        diag_add(sh->f->diags, stops ? SEVERITY_ERROR : SEVERITY_WARNING, "variable-misspelt",
                 shell_span(sh, m->at, 1), "%.*s is never set%s", STR_ARG(m->name),
                 stops ? ", and under set -u bash stops here" : ": bash puts nothing in its place");
    diag_suggest(sh->f->diags, d, var->name);
    rename_variable(sh, d, m, var->name);
    d->safe = stops;
}

/* ---- arguments ---- */

static bool launch_has(const struct shell *sh, uint32_t at)
{
    for (size_t i = 0; i < sh->launch.n; i++) {
        struct shell_text t = sh->launch.items[i];
        for (size_t k = 0; k < t.n; k++)
            if (t.p[k] == SHELL_UNKNOWN && t.at[k] == at) return true;
    }
    return false;
}

static bool is_among(const struct shell_missing_list *list, struct str name)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->items[i].name, name)) return true;
    return false;
}

/* $1 and its like where the launch depends on them. */
static void tell_arguments(struct shell *sh)
{
    struct shell_missing_list needed = {0};
    struct buf names = buf_new(sh->arena), options = buf_new(sh->arena);
    for (size_t i = 0; i < sh->arguments.n; i++) {
        const struct shell_missing *m = &sh->arguments.items[i];
        if (is_among(&needed, m->name) || !launch_has(sh, m->at)) continue;
        buf_printf(&names, "%s$%.*s", needed.n ? ", " : "", STR_ARG(m->name));
        buf_printf(&options, "%s--set %.*s=...", needed.n ? " " : "", STR_ARG(m->name));
        *VEC_PUSH(sh->arena, &needed) = *m;
    }
    if (!needed.n) return;
    struct diag *d = diag_add(
        sh->f->diags, SEVERITY_INFO, "script-argument", shell_span(sh, needed.items[0].at, 1),
        "the launch depends on %.*s, which the script is started with", STR_ARG(buf_str(&names)));
    diag_help(sh->f->diags, d, "%.*s checks it with these values", STR_ARG(buf_str(&options)));
}

/* ---- line ends ---- */

static void tell_line_ends(struct shell *sh, struct str text)
{
    size_t at = str_find_str(text, STR("\r\n"));
    if (at == text.n) return;
    struct diag *d =
        diag_add(sh->f->diags, SEVERITY_WARNING, "carriage-return",
                 source_span(&sh->f->diags->sources, sh->f->source, at, at + 1),
                 "the lines end in CR LF: bash takes the CR for part of the last word");
    diag_help(sh->f->diags, d, "sed -i 's/\\r$//' on the file");
    for (; at < text.n; at += 1 + str_find_str(str_slice(text, at + 1, text.n), STR("\r\n")))
        diag_edit(sh->f->diags, d, at, at + 1, STR(""));
    d->safe = true;
}

void shell_tell(struct shell *sh, struct str text)
{
    for (size_t i = 0; i < sh->missing.n; i++)
        tell_missing(sh, &sh->missing.items[i]);
    tell_arguments(sh);
    tell_line_ends(sh, text);
}
