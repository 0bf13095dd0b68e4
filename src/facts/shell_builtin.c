/* SPDX-License-Identifier: Apache-2.0 */
/* Builtins that set variables: their outcome is followed where the text decides it, else what they
 * set is unknown. */
#include "facts/shell_state.h"

static void forget(struct shell *sh, struct shell_text name)
{
    if (!shell_known(name)) return;
    shell_var_set_text(sh, shell_str(name),
                       shell_text_at(sh->arena, SHELL_UNKNOWN_TEXT, name.n ? name.at[0] : 0));
}

static bool is_separator(struct str separators, char c)
{
    return str_find(separators, c) < separators.n;
}

/* The text up to the next separator, cut off the front of *rest; the last name takes all. */
static struct shell_text next_piece(struct shell_text *rest, struct str separators, bool last)
{
    bool blanks = is_separator(separators, ' ');
    size_t from = 0, to;
    while (blanks && from < rest->n && strchr(" \t\n", rest->p[from]))
        from++;
    for (to = from; to < rest->n && (last || !is_separator(separators, rest->p[to])); to++)
        ;
    struct shell_text piece = {rest->p + from, rest->at + from, to - from};
    size_t next = to < rest->n ? to + 1 : to;
    *rest = (struct shell_text){rest->p + next, rest->at + next, rest->n - next};
    while (last && piece.n && strchr(" \t\n", piece.p[piece.n - 1]))
        piece.n--;
    return piece;
}

/* read -a puts the pieces into an array. */
static void read_array(struct shell *sh, struct str name, struct shell_text text,
                       struct str separators)
{
    struct shell_fields items = {0};
    while (text.n > 0 && items.n < SHELL_MAX_FIELDS && !sh->failed)
        shell_push(sh, &items, next_piece(&text, separators, false));
    shell_var_set(sh, name, &items, true, false);
}

/* read [-r] [-a ARRAY] NAME...: from <<< the text is known; a here-document goes into the last
   name, as read -d '' takes it; from anywhere else nobody knows. */
static void run_read(struct shell *sh, const struct shell_fields *words)
{
    bool unset = false, known = sh->has_here_string && shell_known(sh->here_string);
    struct str separators = STR(" \t\n");
    if (shell_var_find(sh, STR("IFS")))
        separators = shell_str(shell_var_get(sh, STR("IFS"), 0, &unset));
    struct shell_text rest = sh->here_string;
    bool array = false;
    if (sh->heredocs.n > 0 && words->n > 1) {
        sh->heredoc_into = shell_str(words->items[words->n - 1]);
        return;
    }
    for (size_t i = 1; i < words->n; i++) {
        struct str word = shell_str(words->items[i]);
        if (str_starts(word, STR("-"))) {
            array = array || is_separator(word, 'a');
            if (word.n == 2 && strchr("dnNptu", word.p[1])) i++;
        } else if (!known) {
            forget(sh, words->items[i]);
        } else if (array) {
            read_array(sh, word, rest, separators);
        } else {
            shell_var_set_text(sh, word, next_piece(&rest, separators, i + 1 == words->n));
        }
    }
}

/* Every name that a command sets to something nobody here can tell. */
static void forget_all(struct shell *sh, const struct shell_fields *words)
{
    for (size_t i = 1; i < words->n; i++)
        if (!str_starts(shell_str(words->items[i]), STR("-"))) forget(sh, words->items[i]);
}

static void run_printf(struct shell *sh, const struct shell_fields *words)
{
    if (words->n > 2 && str_is(shell_str(words->items[1]), "-v")) forget(sh, words->items[2]);
}

static void run_unset(struct shell *sh, const struct shell_fields *words)
{
    for (size_t i = 1; i < words->n; i++)
        if (shell_known(words->items[i]) && !str_starts(shell_str(words->items[i]), STR("-")))
            shell_var_set(sh, shell_str(words->items[i]), &(struct shell_fields){0}, false, false);
}

static void run_source(struct shell *sh, const struct shell_fields *words)
{
    sh->sourced = words->n > 1;
}

bool shell_builtin(struct shell *sh, struct str name, const struct shell_fields *words)
{
    static const struct {
        const char *name;
        void (*run)(struct shell *sh, const struct shell_fields *words);
    } table[] = {{"read", run_read},        {"printf", run_printf},  {"unset", run_unset},
                 {"source", run_source},    {".", run_source},       {"mapfile", forget_all},
                 {"readarray", forget_all}, {"getopts", forget_all}, {"let", forget_all}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!str_is(name, table[i].name)) continue;
        table[i].run(sh, words);
        return true;
    }
    return false;
}
