/* SPDX-License-Identifier: Apache-2.0 */
/* Simple commands: assignments, words and redirections, and what becomes of them: a builtin, a
   function, a script that is run, or a launch. */
#include "facts/placeholder.h"
#include "facts/shell_state.h"

/* ---- assignments and words ---- */

/* Length of NAME in NAME= or NAME+= at the reading position; 0: no assignment. */
static size_t assignment_name(const struct shell *sh)
{
    size_t n = 0;
    while (n ? shell_is_name(shell_peek(sh, n)) : shell_begins_name(shell_peek(sh, n)))
        n++;
    bool equals =
        shell_peek(sh, n) == '=' || (shell_peek(sh, n) == '+' && shell_peek(sh, n + 1) == '=');
    return n && equals ? n : 0;
}

static void take_array(struct shell *sh, struct shell_fields *items)
{
    size_t open = sh->in.at++;
    for (;;) {
        shell_skip_blanks(sh);
        char c = shell_peek(sh, 0);
        if (c == ')' || shell_at_end(sh)) break;
        if (c == '\n') {
            sh->in.at++;
            continue;
        }
        size_t before = sh->in.at;
        /* NAME=( in it, name() { or the end of a command: never in an array, so that this one goes
           on too far. Not so <( and the patterns of extglob. */
        bool begins = c == '(' && !memchr("<>?*+@!", sh->in.text.p[sh->in.at - 1], 7);
        if (begins || c == ';') break;
        shell_word(sh, items, true);
        if (sh->in.at == before) sh->in.at++; /* a stray metacharacter */
    }
    if (shell_at_end(sh) || shell_peek(sh, 0) != ')') {
        sh->in.at = open;
        shell_fail(sh, "this bracket is not closed");
    }
    sh->in.at++;
}

/* "your data path" without quotes where it is used would be three words: it is one that nobody
   knows. */
static void forget_placeholder(struct shell *sh, struct shell_text *value)
{
    struct str text = shell_str(*value);
    if (!shell_known(*value) || !placeholder_is(text) || !placeholder_is_words(text)) return;
    if (str_find_str(text, STR("--")) < text.n) return; /* flags, some of them to be filled in */
    uint32_t at = value->at[0];
    if (sh->live != SHELL_DEAD) placeholder_note(sh->f, shell_span(sh, at, text.n), text);
    *value = shell_text_at(sh->arena, SHELL_UNKNOWN_TEXT, at);
}

static struct shell_var *assign(struct shell *sh, size_t n)
{
    struct str name = str_slice(shell_str(sh->in.text), sh->in.at, sh->in.at + n);
    struct shell_fields items = {0};
    bool append = shell_peek(sh, n) == '+';
    sh->in.at += n + 1 + append;
    bool array = shell_peek(sh, 0) == '(';
    uint32_t from = shell_offset(sh);
    sh->assigned = array ? (struct str){"", 0} : name;
    if (array)
        take_array(sh, &items);
    else
        shell_word(sh, &items, false);
    sh->assigned = (struct str){"", 0};
    shell_note_aside(sh, &items, from);
    if (!array) forget_placeholder(sh, &items.items[0]);
    if (!setting_use(sh->options, name)) shell_var_set(sh, name, &items, array, append);
    return shell_var_find(sh, name);
}

bool shell_take_redirection(struct shell *sh)
{
    size_t n = 0;
    while (shell_is_digit(shell_peek(sh, n)))
        n++;
    if (shell_peek(sh, n) == '&' && shell_peek(sh, n + 1) == '>' && n == 0) n++;
    char c = shell_peek(sh, n);
    if ((c != '<' && c != '>') || shell_placeholder(sh)) return false;
    bool here = c == '<' && shell_peek(sh, n + 1) == '<' && shell_peek(sh, n + 2) != '<';
    bool text = c == '<' && shell_peek(sh, n + 1) == '<' && shell_peek(sh, n + 2) == '<';
    bool process = shell_peek(sh, n + 1) == '(', twice = shell_peek(sh, n + 1) == '>';
    bool out = c == '>' && n == 0 && !process && shell_peek(sh, 1) != '&';
    sh->in.at += n;
    while (shell_peek(sh, 0) == c || shell_peek(sh, 0) == '&' || shell_peek(sh, 0) == '|')
        sh->in.at++;
    if (here && shell_peek(sh, 0) == '-') sh->in.at++;
    shell_skip_blanks(sh);
    struct shell_fields target = {0};
    if (here) sh->heredoc_plain = strchr("'\"\\", shell_peek(sh, 0)) && shell_peek(sh, 0);
    if (process) {
        sh->in.at++;
        shell_bracket(sh, '(', ')');
    } else {
        shell_word(sh, here ? &sh->heredocs : &target, false);
    }
    if (text && target.n) sh->here_string = target.items[0];
    if (out && target.n) sh->output = target.items[0];
    if (out) sh->appends = twice;
    sh->has_here_string = sh->has_here_string || (text && target.n);
    return true;
}

/* ---- simple commands ---- */

static void set_args(struct shell *sh, const struct shell_fields *words, size_t from)
{
    sh->args = (struct shell_fields){0};
    for (size_t i = from; i < words->n; i++)
        shell_push(sh, &sh->args, words->items[i]);
    sh->args_known = true;
}

/* Whether the function is being run already. */
static bool is_running(const struct shell *sh, const struct shell_source *body)
{
    for (const struct shell_call *c = sh->calls; c; c = c->outer)
        if (c->body == body->text.p + body->at) return true;
    return false;
}

static void call_function(struct shell *sh, const struct shell_source *body,
                          const struct shell_fields *words)
{
    /* "if it fails, once more with less" has no end where nobody knows whether it fails */
    if (sh->live != SHELL_LIVE && is_running(sh, body)) return;
    struct shell_call call = {sh->calls, body->text.p + body->at};
    struct shell_source outer = sh->in;
    struct shell_fields args = sh->args;
    bool known = sh->args_known;
    enum shell_live live = sh->live;
    shell_descend(sh);
    set_args(sh, words, 1);
    sh->calls = &call;
    sh->in = *body;
    shell_run_list(sh);
    sh->calls = call.outer;
    if (!sh->failed) sh->in = outer;
    sh->args = args;
    sh->args_known = known;
    sh->depth--;
    if (sh->halt == SHELL_RETURN) sh->halt = SHELL_GOES_ON;
    shell_set_live(sh, live);
}

/* The words from `from` on as one text with blanks between. */
static struct shell_text join(struct shell *sh, const struct shell_fields *words, size_t from)
{
    struct shell_buf b = {.arena = sh->arena};
    for (size_t i = from; i < words->n; i++) {
        if (i > from) shell_buf_add(&b, ' ', words->items[i].n ? words->items[i].at[0] : 0);
        shell_buf_text(&b, words->items[i]);
    }
    return shell_made(sh, &b);
}

/* Where set only perhaps runs, what it adds to the arguments may not be there, and others than they
   were are not known. */
static void set_args_perhaps(struct shell *sh, const struct shell_fields *words, size_t from)
{
    struct shell_fields all = {0};
    bool same = sh->args_known && words->n - from >= sh->args.n;
    for (size_t i = 0; same && i < sh->args.n; i++) {
        same = str_eq(shell_str(sh->args.items[i]), shell_str(words->items[from + i]));
        shell_push(sh, &all, sh->args.items[i]);
    }
    for (size_t i = from + sh->args.n; same && i < words->n; i++)
        shell_push(sh, &all, shell_mark_words(sh, words->items[i]));
    sh->args = same ? all : (struct shell_fields){0};
    sh->args_known = same;
}

/* set -- WORDS; and whether a variable that is not set stops the script. */
static void run_set(struct shell *sh, const struct shell_fields *words)
{
    for (size_t i = 1; i < words->n; i++) {
        struct str word = shell_str(words->items[i]);
        if (str_is(word, "--") && sh->live == SHELL_PERHAPS)
            set_args_perhaps(sh, words, i + 1);
        else if (str_is(word, "--"))
            set_args(sh, words, i + 1);
        if (!word.n || (word.p[0] != '-' && word.p[0] != '+') || str_is(word, "--")) return;
        bool named = i + 1 < words->n && str_is(shell_str(words->items[i + 1]), "nounset");
        bool letter = str_find(word, 'u') < word.n, option = str_find(word, 'o') < word.n;
        if (letter || (option && named)) sh->nounset = word.p[0] == '-';
        i += option;
    }
}

/* A text that begins with what nobody knows may be an assignment to any name. */
static void run_eval(struct shell *sh, struct shell_text text)
{
    if (text.n && text.p[0] == SHELL_UNKNOWN) sh->sets_any = true;
    shell_run(sh, text);
}

static enum shell_status run_builtin(struct shell *sh, struct str name,
                                     const struct shell_fields *words)
{
    struct shell_fields rest = {.items = words->items + 1, .n = words->n - 1};
    if (str_is(name, "true") || str_is(name, ":")) return SHELL_YES;
    if (str_is(name, "false")) return SHELL_NO;
    if (str_is(name, "test")) return shell_test(sh, &rest);
    if (str_is(name, "[")) {
        rest.n -= rest.n > 0;
        return shell_test(sh, &rest);
    }
    /* a script that gives up complains about how it was called: follow it as called well */
    bool gives_up = words->n > 1 && !str_is(shell_str(words->items[1]), "0");
    if (str_is(name, "exit") && !gives_up) shell_halt(sh, SHELL_EXIT);
    if (str_is(name, "return")) shell_halt(sh, SHELL_RETURN);
    if (str_is(name, "break") || str_is(name, "continue")) shell_halt(sh, SHELL_BREAK);
    if (str_is(name, "eval")) run_eval(sh, join(sh, words, 1));
    if (str_is(name, "set")) run_set(sh, words);
    if (str_is(name, "shift") && sh->args_known && sh->args.n > 0) {
        sh->args.items++;
        sh->args.n--;
        sh->args.cap = 0;
    }
    return SHELL_PERHAPS_YES;
}

static bool is_shell(struct str name)
{
    return str_ends(name, STR("bash")) || str_is_any(name, "sh|/bin/sh");
}

/* The script of `bash -c "..."`, with any program before it (srun, docker run); NULL: none. */
static const struct shell_text *nested_script(const struct shell_fields *words)
{
    for (size_t i = 0; i < words->n; i++) {
        struct str shell = shell_str(words->items[i]);
        if (!is_shell(shell)) continue;
        for (size_t k = i + 1; k + 1 < words->n && str_starts(shell_str(words->items[k]), STR("-"));
             k++)
            if (str_ends(shell_str(words->items[k]), STR("c"))) return &words->items[k + 1];
    }
    return NULL;
}

/* A script that was written here: itself the command, or what a shell is given to run. */
static const struct shell_text *written_script(struct shell *sh, const struct shell_fields *words)
{
    for (size_t i = 0; i < words->n && sh->written.n; i++) {
        bool shell = i > 0 && is_shell(shell_str(words->items[i - 1]));
        bool runs = i == 0 || shell || str_is_any(shell_str(words->items[0]), "sbatch|srun");
        const struct shell_written *w =
            runs ? shell_written_find(sh, shell_str(words->items[i])) : NULL;
        if (w) return &w->text;
    }
    return NULL;
}

/* A script that a command runs, with the command's own words as its launcher. */
static void run_nested(struct shell *sh, struct shell_text script,
                       const struct shell_fields *launcher)
{
    struct shell_fields outer = sh->launcher;
    sh->launcher = (struct shell_fields){0};
    for (size_t i = 0; i < outer.n; i++)
        shell_push(sh, &sh->launcher, outer.items[i]);
    for (size_t i = 0; i < launcher->n; i++)
        shell_push(sh, &sh->launcher, launcher->items[i]);
    shell_run(sh, script);
    sh->launcher = outer;
}

/* Programs that run what they are given on standard input. */
static bool reads_script(struct str name)
{
    return str_is_any(name, "bash|sh|sbatch|srun|ssh");
}

/* Inside $(...), a command whose output nobody here knows. */
static enum shell_status cannot_tell(struct shell *sh)
{
    shell_buf_add(sh->printed, SHELL_UNKNOWN, shell_offset(sh));
    return SHELL_PERHAPS_YES;
}

static enum shell_status run_words(struct shell *sh, const struct shell_fields *words)
{
    struct str name = shell_str(words->items[0]);
    int64_t function = map_get(&sh->function_index, name);
    if (function != MAP_NONE) {
        call_function(sh, &sh->functions.items[function], words);
        return SHELL_PERHAPS_YES;
    }
    if (str_is_any(name, "true|:|false|test|[|exit|return|break|continue|eval|set|shift"))
        return run_builtin(sh, name, words);
    if (shell_builtin(sh, name, words)) return SHELL_PERHAPS_YES;
    if (sh->printed) return cannot_tell(sh);
    if (str_is_any(name, "mkdir|log|rm|ls|sleep|trap|module|ulimit|chmod"))
        return SHELL_PERHAPS_YES;
    const struct shell_text *script = nested_script(words);
    if (!script) script = written_script(sh, words);
    if (script) {
        shell_is_tail(sh, words, false); /* of a launcher's options, which came before it */
        run_nested(sh, *script, words);
        return SHELL_PERHAPS_YES;
    }
    sh->heredoc_runs = sh->heredocs.n > 0 && reads_script(name);
    shell_launch(sh, words);
    return SHELL_PERHAPS_YES;
}

static bool is_declaration(struct str name)
{
    return str_is_any(name, "export|declare|local|readonly|typeset");
}

/* export A=1 B C=$X: assignments, and names of variables. */
static void run_declaration(struct shell *sh, bool export)
{
    for (;;) {
        shell_skip_blanks(sh);
        if (shell_peek(sh, 0) == '\0' || (!shell_at_word(sh) && !shell_take_redirection(sh)))
            return;
        size_t n = assignment_name(sh);
        struct shell_fields words = {0};
        struct shell_var *var = NULL;
        if (n)
            var = assign(sh, n);
        else
            shell_word(sh, &words, true);
        if (words.n && sh->live == SHELL_DEAD) shell_note_set(sh, shell_str(words.items[0]));
        if (words.n) var = shell_var_find(sh, shell_str(words.items[0]));
        if (words.n && !shell_known(words.items[0])) sh->sets_any = true; /* export "$NAME"=… */
        if (var && export && sh->live != SHELL_DEAD) var->exported = true;
    }
}

/* What does not run: whether it is a command at all, and which variables it would set. */
static void skip_words(struct shell *sh, const struct shell_fields *words)
{
    shell_note_tail(sh, words);
    if (!str_is_any(shell_str(words->items[0]), "read|printf|mapfile|readarray|getopts")) return;
    for (size_t i = 1; i < words->n; i++)
        shell_note_set(sh, shell_str(words->items[i]));
}

enum shell_status shell_run_simple(struct shell *sh)
{
    struct shell_fields words = {0};
    sh->has_here_string = false;
    sh->output = (struct shell_text){"", NULL, 0};
    sh->cut = sh->comment;
    sh->comment = 0;
    for (;;) {
        shell_skip_blanks(sh);
        if (shell_take_redirection(sh)) continue;
        if (!shell_at_word(sh) || sh->failed) break;
        size_t n = words.n ? 0 : assignment_name(sh);
        struct str word = shell_peek_word(sh);
        if (n) {
            struct shell_var *var = assign(sh, n);
            bool prefix = !shell_ends_word(shell_peek(sh, 0)) || shell_peek(sh, 0) == ' ';
            if (prefix) shell_skip_blanks(sh);
            if (var && prefix && !shell_ends_word(shell_peek(sh, 0)) && sh->live != SHELL_DEAD)
                var->exported = true;
        } else if (words.n == 0 && is_declaration(word)) {
            sh->in.at += word.n;
            run_declaration(sh, str_is(word, "export"));
            return SHELL_YES;
        } else {
            if (words.n == 0) sh->command_at = shell_offset(sh);
            shell_word(sh, &words, true);
        }
    }
    if (words.n == 0) return SHELL_YES;
    if (sh->live != SHELL_DEAD) return run_words(sh, &words);
    skip_words(sh, &words);
    return SHELL_PERHAPS_YES;
}
