/* SPDX-License-Identifier: Apache-2.0 */
/* Where a bracket that is open ends. What stands in quotes, in a comment or in a here-document
   opens and closes none. */
#include "facts/shell_state.h"

enum { MOST_DOCUMENTS = 4 };

/* A text being searched for its closing bracket. */
struct bracket {
    char open, close;
    bool command;                    /* $( ) or <( ): what is in it is a script */
    struct str ends[MOST_DOCUMENTS]; /* here-documents that begin behind this line */
    size_t documents;
};

static bool find_close(struct shell *sh, struct bracket b);

/* Moves from a single quote to the one that closes it; after a $ a backslash hides one. */
static void skip_single(struct shell *sh)
{
    bool ansi = sh->in.at > 0 && sh->in.text.p[sh->in.at - 1] == '$';
    do
        sh->in.at += ansi && shell_peek(sh, 0) == '\\' ? 2 : 1;
    while (!shell_at_end(sh) && shell_peek(sh, 0) != '\'');
}

/* Moves from a double quote to the one that closes it. */
static void skip_double(struct shell *sh)
{
    shell_descend(sh);
    for (sh->in.at++; !sh->failed && !shell_at_end(sh) && shell_peek(sh, 0) != '"'; sh->in.at++) {
        bool command = shell_peek(sh, 0) == '$' && shell_peek(sh, 1) == '(';
        if (command) {
            sh->in.at += 2;
            find_close(sh, (struct bracket){'(', ')', .command = true});
        } else if (shell_peek(sh, 0) == '\\') {
            sh->in.at++;
        }
    }
    sh->depth--;
}

/* A # behind a blank begins a comment. */
static bool at_comment(const struct shell *sh)
{
    char before = sh->in.at ? sh->in.text.p[sh->in.at - 1] : '\n';
    return shell_peek(sh, 0) == '#' && (before == ' ' || before == '\t' || before == '\n');
}

/* << and its delimiter, of which the quotes are no part; the reading position stays on its last
   letter. */
static void note_document(struct shell *sh, struct bracket *b)
{
    sh->in.at += shell_peek(sh, 2) == '-' ? 3 : 2;
    while (shell_is_blank(shell_peek(sh, 0)) && shell_peek(sh, 0) != '\n')
        sh->in.at++;
    char quote = shell_peek(sh, 0);
    bool quoted = quote == '\'' || quote == '"' || quote == '\\';
    size_t from = sh->in.at += quoted;
    while (!shell_ends_word(shell_peek(sh, 0)) && (!quoted || shell_peek(sh, 0) != quote))
        sh->in.at++;
    struct str end = str_slice(shell_str(sh->in.text), from, sh->in.at);
    if (end.n && b->documents < MOST_DOCUMENTS) b->ends[b->documents++] = end;
    if (shell_ends_word(shell_peek(sh, 0))) sh->in.at--;
}

/* Moves from the newline to the one before the closing line of the last here-document that begins
   there; one that has no such line is none, as in $((1 << 3)). */
static void skip_documents(struct shell *sh, struct bracket *b)
{
    struct str text = shell_str(sh->in.text);
    for (size_t i = 0, from = sh->in.at + 1; i < b->documents; i++) {
        for (size_t at = from, to; at < text.n; at = to + 1) {
            to = at + str_find(str_slice(text, at, text.n), '\n');
            if (!str_eq(str_trim(str_slice(text, at, to)), b->ends[i])) continue;
            sh->in.at = to - 1;
            from = to + 1;
            break;
        }
    }
    b->documents = 0;
}

/* A double quote in ${NAME:-"word"} hides a brace as one in a command does; in single quotes, '"',
   it is a letter. */
static bool at_quoted_word(const struct shell *sh, const struct bracket *b)
{
    bool letter =
        sh->in.at > 0 && sh->in.text.p[sh->in.at - 1] == '\'' && shell_peek(sh, 1) == '\'';
    return b->open == '{' && shell_peek(sh, 0) == '"' && !letter;
}

/* Moves to the bracket that closes the one before the reading position; false: there is none. */
static bool find_close(struct shell *sh, struct bracket b)
{
    for (size_t depth = 1; !sh->failed && !shell_at_end(sh); sh->in.at++) {
        char c = shell_peek(sh, 0);
        bool here = c == '<' && shell_peek(sh, 1) == '<';
        if (c == '\\')
            sh->in.at++;
        else if (b.command && c == '\'')
            skip_single(sh);
        else if ((b.command && c == '"') || at_quoted_word(sh, &b))
            skip_double(sh);
        else if (b.command && at_comment(sh))
            while (!shell_at_end(sh) && shell_peek(sh, 1) != '\n')
                sh->in.at++;
        else if (b.command && here && shell_peek(sh, 2) == '<')
            sh->in.at += 2; /* <<< */
        else if (b.command && here)
            note_document(sh, &b);
        else if (b.documents && c == '\n')
            skip_documents(sh, &b);
        else if (c == b.open)
            depth++;
        else if (c == b.close && --depth == 0)
            return true;
    }
    return false;
}

struct shell_text shell_bracket(struct shell *sh, char open, char close)
{
    size_t from = sh->in.at;
    if (!find_close(sh, (struct bracket){open, close, .command = open == '('})) {
        sh->in.at = from;
        shell_fail(sh, "this bracket is not closed, or a quote in it is not");
        if (sh->doubt) sh->failed_at = sh->doubt - 1;
        return (struct shell_text){.p = ""};
    }
    size_t to = sh->in.at++;
    return (struct shell_text){sh->in.text.p + from, sh->in.text.at + from, to - from};
}
