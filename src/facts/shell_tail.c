/* SPDX-License-Identifier: Apache-2.0 */
/* Flags that bash takes for commands: the line before has lost its backslash, or a comment ends it.
 */
#include <inttypes.h>

#include "facts/flags.h"
#include "facts/shell_state.h"

static struct str source_text(const struct shell *sh, uint32_t source)
{
    return source_get(&sh->f->diags->sources, source)->text;
}

/* The line before, which is named, goes on: a backslash at its end, and no blank behind it. */
static void join_lines(struct shell *sh, struct diag *d, uint32_t command)
{
    struct shell_place at = shell_place(sh, command);
    struct str text = source_text(sh, at.source);
    size_t end = str_line_start(text, at.byte);
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
static void move_comment(struct shell *sh, struct diag *d, uint32_t comment)
{
    struct shell_place at = shell_place(sh, comment);
    struct str text = source_text(sh, at.source);
    size_t from = str_line_start(text, at.byte), to = at.byte, top = from;
    to += str_find(str_slice(text, to, text.n), '\n') + 1;
    if (str_trim(str_slice(text, from, at.byte)).n || to > text.n) return;
    while (top >= 2 && text.p[top - 2] == '\\')
        top = str_line_start(text, top - 1);
    if (top == from) return;
    diag_edit(sh->f->diags, d, top, top, str_slice(text, at.byte, to));
    diag_edit(sh->f->diags, d, from, to, STR(""));
    d->safe = true;
}

/* "--flag", or the dashes alone that stand before a command of another's: ray job submit -- python.
 */
static bool is_flag(struct str word)
{
    return str_is(word, "--") || shell_is_flag(word);
}

/* ${MODEL_ARGS[@]} of a file that is not here, before other arguments: it holds flags by its name,
   and no program. */
static bool is_arguments(struct shell *sh, const struct shell_fields *words, struct str *name)
{
    struct shell_place at = shell_place(sh, sh->command_at);
    struct str text = source_text(sh, at.source);
    size_t from = at.byte + (at.byte < text.n && text.p[at.byte] == '"'), to = from;
    struct str first = shell_str(words->items[0]);
    if (first.n != 1 || first.p[0] != SHELL_UNKNOWN || words->n < 2) return false;
    while (to < text.n && !shell_is_blank(text.p[to]) && text.p[to] != '"')
        to++;
    *name = str_slice(text, from, to);
    if (!str_starts(*name, STR("${")) || !str_ends(*name, STR("_ARGS[@]}"))) return false;
    for (size_t i = 1; i < words->n; i++) {
        struct str word = shell_str(words->items[i]);
        if (word.n && word.p[0] != '-' && word.p[0] != SHELL_UNKNOWN && i == 1) return false;
        if (str_ends(word, STR(".py"))) return false;
    }
    return true;
}

static void tell(struct shell *sh, const struct shell_tail *tail, enum severity severity)
{
    struct diags *diags = sh->f->diags;
    struct diag *d;
    if (tail->cut) {
        d = diag_add(diags, severity, "comment-in-continuation", shell_span(sh, tail->cut - 1, 1),
                     "the command ends at this comment: bash takes %.*s below for a command of its "
                     "own",
                     STR_ARG(tail->name));
        diag_help(diags, d, "put the comment above the command");
        move_comment(sh, d, tail->cut - 1);
    } else {
        d = diag_add(diags, severity, "lost-backslash", shell_span(sh, tail->at, 1),
                     "bash takes %.*s for a command of its own: the line before does not go on",
                     STR_ARG(tail->name));
        diag_help(diags, d, "end the line before with a backslash, and no blank behind it");
        join_lines(sh, d, tail->at);
    }
}

/* The present command as a tail. */
static struct shell_tail tail_of(const struct shell *sh, struct str name, bool told)
{
    name = str_slice(name, 0, str_find(name, '=')); /* the value may be unknown */
    return (struct shell_tail){.at = sh->command_at, .cut = sh->cut, .name = name, .told = told};
}

/* A script whose interpreter, on the line before, was given none. */
static bool is_script(const struct shell *sh, const struct shell_fields *words, struct str *name)
{
    const struct shell_fields *before = &sh->before;
    *name = str_last_part(shell_str(words->items[0]), '/');
    if (!before->n || words->n < 2 || !str_ends(*name, STR(".py"))) return false;
    bool interpreter = false;
    for (size_t i = 0; i < before->n; i++) {
        struct str word = shell_str(before->items[i]);
        if (str_ends(word, STR(".py")) || str_is_any(word, "-m|-c")) return false;
        interpreter |= str_is_any(word, "python|python3|coverage|torchrun");
    }
    const struct shell_text *last = &before->items[before->n - 1];
    if (!interpreter || !last->n) return false;
    uint32_t line = shell_span(sh, last->at[last->n - 1], 1).line;
    return line + 1 == shell_span(sh, sh->command_at, 1).line;
}

bool shell_is_tail(struct shell *sh, const struct shell_fields *words, bool known)
{
    struct str name = shell_str(words->items[0]), script;
    bool flag = is_flag(name),
         override = (sh->launch_goes_on || known) && flag_word_is_override(name);
    if (is_script(sh, words, &script))
        name = script;
    else if (!flag && !override && !is_arguments(sh, words, &name))
        return false;
    struct shell_tail tail = tail_of(sh, name, true);
    /* another program than the training may well fail, and an array may hold a program */
    bool sure = (flag || override) && (sh->launch_goes_on || known);
    tell(sh, &tail, sure ? SEVERITY_ERROR : SEVERITY_WARNING);
    if (sh->tails.n < SHELL_MAX_NOTED) *VEC_PUSH(sh->arena, &sh->tails) = tail;
    return true;
}

void shell_note_tail(struct shell *sh, const struct shell_fields *words)
{
    struct str name = shell_str(words->items[0]);
    bool written = words->items[0].n && words->items[0].at[0] == sh->command_at;
    bool argument = is_flag(name) || flag_word_is_override(name); /* no program is called so */
    if (written && argument && sh->tails.n < SHELL_MAX_NOTED)
        *VEC_PUSH(sh->arena, &sh->tails) = tail_of(sh, name, false);
}

void shell_note_comment(struct shell *sh, size_t from)
{
    struct shell_text t = sh->in.text;
    if (!t.at || sh->in.at <= from + 1 || sh->live == SHELL_DEAD) return;
    struct shell_place first = shell_place(sh, t.at[from]),
                       last = shell_place(sh, t.at[sh->in.at - 1]);
    if (first.source != last.source || first.byte >= last.byte) return;
    struct str lines = str_slice(source_text(sh, first.source), first.byte, last.byte);
    size_t end = str_find(lines, '\n');
    struct str below = str_trim(str_slice(lines, end, lines.n));
    if (end == lines.n || !str_ends(str_slice(lines, 0, end), STR("\\"))) return;
    size_t n = 0;
    while (n < below.n && !shell_is_blank(below.p[n]) && below.p[n] != '=')
        n++;
    struct str name = str_slice(below, 0, n);
    if (!is_flag(name)) return;
    struct diag *d = diag_add(sh->f->diags, SEVERITY_WARNING, "comment-in-continuation",
                              shell_span(sh, t.at[from], 1),
                              "the lines are joined before they are run: %.*s and what follows it "
                              "is part of this comment",
                              STR_ARG(name));
    diag_help(sh->f->diags, d, "put the comment above the command");
    move_comment(sh, d, t.at[from]);
}

static bool is_told(const struct shell *sh, uint32_t at)
{
    for (size_t i = 0; i < sh->tails.n; i++)
        if (sh->tails.items[i].told && sh->tails.items[i].at == at) return true;
    return false;
}

void shell_tell_tails(struct shell *sh)
{
    for (size_t i = 0; i < sh->tails.n; i++) {
        struct shell_tail *tail = &sh->tails.items[i];
        if (is_told(sh, tail->at)) continue;
        tell(sh, tail, SEVERITY_WARNING);
        tail->told = true;
    }
}
