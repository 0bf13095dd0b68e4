/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and control flow. A branch whose condition is not known runs "perhaps"; a loop whose end
   is not known does not run, as scripts loop over their own arguments. */
#include "facts/placeholder.h"
#include "facts/shell_state.h"

static enum shell_status run_list(struct shell *sh);
static enum shell_status run_command(struct shell *sh);

enum { MOST_ROUNDS = 64 };

/* ---- the text between commands ---- */

static bool at_line_end(const struct shell *sh)
{
    return shell_at_end(sh) || shell_peek(sh, 0) == '\n';
}

static struct str take_line(struct shell *sh)
{
    size_t from = sh->in.at;
    while (!at_line_end(sh))
        sh->in.at++;
    struct str line = str_slice(shell_str(sh->in.text), from, sh->in.at);
    if (!shell_at_end(sh)) sh->in.at++;
    return line;
}

/* What becomes of a here-document: read sets a variable of it, it is written to a file, printed or
   run. */
static void use_document(struct shell *sh, struct shell_text body, bool plain, bool runs,
                         struct str into, struct str file)
{
    if (into.n) shell_var_set_text(sh, into, body);
    bool wanted = runs || file.n || sh->printed;
    if (into.n || !wanted || sh->live == SHELL_DEAD) return;
    if (!plain) body = shell_expand_document(sh, body);
    if (file.n)
        shell_write(sh, file, body, false);
    else if (runs)
        shell_run(sh, body);
    else
        shell_buf_text(sh->printed, body);
}

/* The newline, and the here-documents that begin behind it. What a shell is given to read this way
 * is run. */
static void take_newline(struct shell *sh)
{
    bool runs = sh->heredoc_runs, plain = sh->heredoc_plain;
    struct str into = sh->heredoc_into, file = sh->heredoc_file;
    sh->in.at++;
    sh->heredoc_runs = sh->heredoc_plain = false;
    sh->heredoc_into = sh->heredoc_file = (struct str){"", 0};
    while (sh->heredocs.n > 0) {
        struct str end = shell_str(sh->heredocs.items[0]), line = {"", 0};
        size_t from = sh->in.at, to = from;
        while (!shell_at_end(sh) && !str_eq(str_trim(line = take_line(sh)), end))
            to = sh->in.at;
        struct shell_text body = {sh->in.text.p + from, sh->in.text.at + from, to - from};
        struct shell_fields rest = {.items = sh->heredocs.items + 1, .n = sh->heredocs.n - 1};
        sh->heredocs = (struct shell_fields){0};
        if (!sh->failed) use_document(sh, body, plain, runs, into, file);
        into = (struct str){"", 0};
        sh->heredocs = rest;
    }
}

static void skip_separators(struct shell *sh)
{
    for (;;) {
        shell_skip_blanks(sh);
        char c = shell_peek(sh, 0);
        if (c == '\n')
            take_newline(sh);
        else if (c == '&' || (c == ';' && shell_peek(sh, 1) != ';'))
            sh->in.at++;
        else
            return;
    }
}

/* The plain word at the reading position, as it is written. */
static struct str peek_word(const struct shell *sh)
{
    size_t to = sh->in.at;
    while (to < sh->in.text.n && !shell_ends_word(sh->in.text.p[to]))
        to++;
    return str_slice(shell_str(sh->in.text), sh->in.at, to);
}

static bool take_word(struct shell *sh, const char *word)
{
    skip_separators(sh);
    struct str s = peek_word(sh);
    if (!str_is(s, word)) return false;
    sh->in.at += s.n;
    return true;
}

static bool ends_list(const struct shell *sh)
{
    return shell_at_end(sh) || shell_peek(sh, 0) == ')' ||
           (shell_peek(sh, 0) == ';' && shell_peek(sh, 1) == ';') ||
           str_is_any(peek_word(sh), "then|else|elif|fi|do|done|esac|}");
}

static void expect(struct shell *sh, const char *word, const char *failure)
{
    if (!take_word(sh, word)) shell_fail(sh, failure);
}

static void set_live(struct shell *sh, enum shell_live live)
{
    sh->live = sh->halt == SHELL_GOES_ON ? live : SHELL_DEAD;
}

static enum shell_live perhaps(enum shell_live live)
{
    return live == SHELL_DEAD ? live : SHELL_PERHAPS;
}

/* How a branch runs that is taken on this status. */
static enum shell_live live_on(enum shell_live live, enum shell_status status)
{
    if (status == SHELL_NO) return SHELL_DEAD;
    return status == SHELL_YES ? live : perhaps(live);
}

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
        bool another = c == '(' && sh->in.text.p[sh->in.at - 1] == '='; /* NAME=( in it */
        if (another) break;
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
    if (array)
        take_array(sh, &items);
    else
        shell_word(sh, &items, false);
    if (!array) forget_placeholder(sh, &items.items[0]);
    if (!setting_use(sh->options, name)) shell_var_set(sh, name, &items, array, append);
    return shell_var_find(sh, name);
}

/* > >> < << <<< >& &> and their targets; false when there is none here. */
static bool take_redirection(struct shell *sh)
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
    run_list(sh);
    sh->calls = call.outer;
    if (!sh->failed) sh->in = outer;
    sh->args = args;
    sh->args_known = known;
    sh->depth--;
    if (sh->halt == SHELL_RETURN) sh->halt = SHELL_GOES_ON;
    set_live(sh, live);
}

void shell_run(struct shell *sh, struct shell_text text)
{
    struct shell_source outer = sh->in;
    struct shell_fields heredocs = sh->heredocs;
    shell_descend(sh);
    sh->in = (struct shell_source){.text = text};
    sh->heredocs = (struct shell_fields){0};
    while (!shell_at_end(sh)) {
        size_t before = sh->in.at;
        run_list(sh);
        if (sh->in.at == before) sh->in.at++; /* a closing word that nothing opened */
    }
    sh->heredocs = heredocs;
    sh->depth--;
    if (!sh->failed) sh->in = outer;
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

void shell_halt(struct shell *sh, enum shell_halt how)
{
    if (sh->live != SHELL_LIVE) return;
    sh->halt = how;
    sh->live = SHELL_DEAD;
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
    if (str_is(name, "eval")) shell_run(sh, join(sh, words, 1));
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
        if (shell_peek(sh, 0) == '\0' || (!shell_at_word(sh) && !take_redirection(sh))) return;
        size_t n = assignment_name(sh);
        struct shell_fields words = {0};
        struct shell_var *var = NULL;
        if (n)
            var = assign(sh, n);
        else
            shell_word(sh, &words, true);
        if (words.n) var = shell_var_find(sh, shell_str(words.items[0]));
        if (var && export && sh->live != SHELL_DEAD) var->exported = true;
    }
}

static enum shell_status run_simple(struct shell *sh)
{
    struct shell_fields words = {0};
    sh->has_here_string = false;
    sh->output = (struct shell_text){"", NULL, 0};
    sh->cut = sh->comment;
    sh->comment = 0;
    for (;;) {
        shell_skip_blanks(sh);
        if (take_redirection(sh)) continue;
        if (!shell_at_word(sh) || sh->failed) break;
        size_t n = words.n ? 0 : assignment_name(sh);
        struct str word = peek_word(sh);
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
    return sh->live == SHELL_DEAD ? SHELL_PERHAPS_YES : run_words(sh, &words);
}

/* ---- compound commands ---- */

/* [[ ... ]]: words and operators up to the closing brackets. */
static enum shell_status run_brackets(struct shell *sh)
{
    struct shell_fields words = {0};
    sh->in.at += 2;
    for (;;) {
        shell_skip_blanks(sh);
        char c = shell_peek(sh, 0);
        if (str_is(peek_word(sh), "]]")) break;
        if (shell_at_end(sh)) {
            shell_fail(sh, "[[ is not closed");
            return SHELL_PERHAPS_YES;
        }
        size_t n = (c == '&' || c == '|') && shell_peek(sh, 1) == c ? 2
                   : shell_ends_word(c)                             ? 1
                                                                    : 0;
        if (n && c != '\n')
            *VEC_PUSH(sh->arena, &words) =
                (struct shell_text){sh->in.text.p + sh->in.at, sh->in.text.at + sh->in.at, n};
        if (n)
            sh->in.at += n;
        else
            shell_word(sh, &words, false);
    }
    sh->in.at += 2;
    return shell_test(sh, &words);
}

static enum shell_status run_arithmetic(struct shell *sh)
{
    size_t from = sh->in.at + 2, depth = 2;
    int64_t i = 0;
    for (sh->in.at = from; depth && !shell_at_end(sh); sh->in.at++)
        depth = depth + (shell_peek(sh, 0) == '(') - (shell_peek(sh, 0) == ')');
    if (depth) {
        shell_fail(sh, "(( is not closed");
        return SHELL_PERHAPS_YES;
    }
    struct shell_text text = {sh->in.text.p + from, sh->in.text.at + from, sh->in.at - 2 - from};
    struct str plain = shell_str(shell_expand_text(sh, text));
    if (shell_arith(sh, plain, &i)) return i ? SHELL_YES : SHELL_NO;
    shell_arith_assign(sh, plain, shell_offset(sh));
    return SHELL_PERHAPS_YES;
}

static enum shell_status run_if(struct shell *sh)
{
    enum shell_live live = sh->live;
    enum shell_status taken = SHELL_NO, status = SHELL_NO;
    sh->in.at += 2;
    do {
        set_live(sh, taken == SHELL_YES ? SHELL_DEAD : live);
        status = run_list(sh);
        expect(sh, "then", "this if has no then");
        enum shell_live here = live_on(live, status);
        set_live(sh, taken == SHELL_NO ? here : taken == SHELL_YES ? SHELL_DEAD : perhaps(here));
        run_list(sh);
        if (taken == SHELL_NO || status == SHELL_YES)
            taken = taken == SHELL_PERHAPS_YES ? taken : status;
        set_live(sh, live);
    } while (!sh->failed && take_word(sh, "elif"));
    if (take_word(sh, "else")) {
        set_live(sh, taken == SHELL_NO ? live : taken == SHELL_YES ? SHELL_DEAD : perhaps(live));
        run_list(sh);
        set_live(sh, live);
    }
    expect(sh, "fi", "this if has no fi");
    return SHELL_PERHAPS_YES;
}

static void end_loop(struct shell *sh, enum shell_live live)
{
    if (sh->halt == SHELL_BREAK) sh->halt = SHELL_GOES_ON;
    set_live(sh, live);
    expect(sh, "done", "this loop has no done");
}

/* The body once for each word; not at all when they are not known. */
static void run_rounds(struct shell *sh, struct str name, const struct shell_fields *words)
{
    enum shell_live live = sh->live;
    size_t body = sh->in.at, rounds = live == SHELL_DEAD       ? 0
                                      : words->n < MOST_ROUNDS ? words->n
                                                               : MOST_ROUNDS;
    for (size_t i = 0; i < rounds && !sh->failed && sh->halt == SHELL_GOES_ON; i++) {
        sh->in.at = body;
        shell_var_set_text(sh, name, words->items[i]);
        run_list(sh);
    }
    if (rounds == 0) {
        set_live(sh, SHELL_DEAD);
        run_list(sh);
    }
    end_loop(sh, live);
}

/* The body of for ((...)), whose rounds are not counted: what it sets is uncertain afterwards. */
static void run_perhaps(struct shell *sh)
{
    enum shell_live live = sh->live;
    set_live(sh, perhaps(live));
    run_list(sh);
    end_loop(sh, live);
}

static enum shell_status run_for(struct shell *sh)
{
    struct shell_fields words = {0};
    sh->in.at += 3;
    shell_skip_blanks(sh);
    struct str name = peek_word(sh);
    bool counts = shell_peek(sh, 0) == '(';
    if (counts) {
        run_arithmetic(sh);
    } else {
        sh->in.at += name.n;
        shell_skip_blanks(sh);
        if (take_word(sh, "in"))
            while (shell_skip_blanks(sh), !shell_ends_word(shell_peek(sh, 0)) && !sh->failed)
                shell_word(sh, &words, true);
    }
    skip_separators(sh);
    expect(sh, "do", "this loop has no do");
    if (counts)
        run_perhaps(sh);
    else
        run_rounds(sh, name, &words);
    return SHELL_PERHAPS_YES;
}

static enum shell_status run_while(struct shell *sh)
{
    enum shell_live live = sh->live;
    sh->in.at += 5;
    set_live(sh, SHELL_DEAD);
    run_list(sh);
    expect(sh, "do", "this loop has no do");
    run_list(sh);
    end_loop(sh, live);
    return SHELL_PERHAPS_YES;
}

/* The patterns of one branch, up to its bracket: whether the word matches. */
static enum shell_status match_patterns(struct shell *sh, struct shell_text word)
{
    enum shell_status status = SHELL_NO;
    if (shell_peek(sh, 0) == '(') sh->in.at++;
    while (!shell_at_end(sh) && shell_peek(sh, 0) != ')') {
        struct shell_fields pattern = {0};
        shell_skip_blanks(sh);
        shell_word(sh, &pattern, false);
        bool known = shell_known(word) && shell_known(pattern.items[0]);
        bool all = str_is(shell_str(pattern.items[0]), "*");
        if (status != SHELL_YES &&
            (all || (known && shell_match(sh, shell_str(pattern.items[0]), shell_str(word)))))
            status = SHELL_YES;
        if (status == SHELL_NO && !known) status = SHELL_PERHAPS_YES;
        shell_skip_blanks(sh);
        if (shell_peek(sh, 0) == '|')
            sh->in.at++;
        else if (shell_peek(sh, 0) != ')')
            shell_fail(sh, "this case has no )");
    }
    sh->in.at++;
    return status;
}

static enum shell_status run_case(struct shell *sh)
{
    struct shell_fields word = {0};
    enum shell_live live = sh->live;
    enum shell_status taken = SHELL_NO;
    sh->in.at += 4;
    shell_skip_blanks(sh);
    shell_word(sh, &word, false);
    expect(sh, "in", "this case has no in");
    while (!sh->failed && !take_word(sh, "esac")) {
        enum shell_status status = match_patterns(sh, word.items[0]);
        enum shell_live here = live_on(live, status);
        set_live(sh, taken == SHELL_NO ? here : taken == SHELL_YES ? SHELL_DEAD : perhaps(here));
        run_list(sh);
        if (status != SHELL_NO && taken != SHELL_YES)
            taken = taken == SHELL_NO ? status : SHELL_PERHAPS_YES;
        set_live(sh, live);
        if (shell_peek(sh, 0) == ';') sh->in.at += 2;
        if (shell_peek(sh, 0) == '&') sh->in.at++;
        if (shell_at_end(sh)) shell_fail(sh, "this case has no esac");
    }
    return SHELL_PERHAPS_YES;
}

/* name() { ... }: remembered, and skipped. The reading position is behind the name. */
static enum shell_status define_function(struct shell *sh, struct str name)
{
    enum shell_live live = sh->live;
    skip_separators(sh);
    if (shell_peek(sh, 0) == '(') sh->in.at++;
    shell_skip_blanks(sh);
    if (shell_peek(sh, 0) == ')') sh->in.at++;
    expect(sh, "{", "this function has no {");
    if (live != SHELL_DEAD) {
        map_put(sh->arena, &sh->function_index, name, (uint32_t)sh->functions.n);
        *VEC_PUSH(sh->arena, &sh->functions) = sh->in;
    }
    set_live(sh, SHELL_DEAD);
    run_list(sh);
    set_live(sh, live);
    expect(sh, "}", "this function has no }");
    return SHELL_YES;
}

static bool is_definition(const struct shell *sh, struct str name)
{
    size_t n = name.n;
    while (shell_peek(sh, n) == ' ')
        n++;
    return name.n && shell_peek(sh, n) == '(' && shell_begins_name(name.p[0]) &&
           str_find(name, '=') == name.n && str_find(name, '$') == name.n;
}

static enum shell_status run_group(struct shell *sh, bool subshell)
{
    sh->in.at++;
    enum shell_status status = run_list(sh);
    if (!subshell)
        expect(sh, "}", "this { is not closed");
    else if (shell_peek(sh, 0) == ')')
        sh->in.at++;
    else
        shell_fail(sh, "this ( is not closed");
    return status;
}

static enum shell_status run_one(struct shell *sh)
{
    static const struct {
        const char *word;
        enum shell_status (*run)(struct shell *sh);
    } keywords[] = {{"if", run_if},       {"for", run_for},   {"while", run_while},
                    {"until", run_while}, {"case", run_case}, {"[[", run_brackets}};
    struct str word = peek_word(sh);
    if (shell_peek(sh, 0) == '(')
        return shell_peek(sh, 1) == '(' ? run_arithmetic(sh) : run_group(sh, true);
    if (str_is(word, "{")) return run_group(sh, false);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (str_is(word, keywords[i].word)) return keywords[i].run(sh);
    if (str_is(word, "function")) {
        sh->in.at += word.n;
        shell_skip_blanks(sh);
        word = peek_word(sh);
        sh->in.at += word.n;
        return define_function(sh, word);
    }
    if (is_definition(sh, word)) {
        sh->in.at += word.n;
        return define_function(sh, word);
    }
    return run_simple(sh);
}

static enum shell_status run_command(struct shell *sh)
{
    bool negated = false;
    guard_tick(arena_guard(sh->arena));
    if (++sh->steps > SHELL_MAX_STEPS)
        shell_exhaust(sh, "too large to be followed: more than 200,000 commands");
    shell_descend(sh);
    while (take_word(sh, "!"))
        negated = !negated;
    skip_separators(sh);
    enum shell_status status = sh->failed ? SHELL_NO : run_one(sh);
    sh->depth--;
    /* what follows a compound command: redirections */
    for (shell_skip_blanks(sh); !sh->failed && take_redirection(sh);)
        shell_skip_blanks(sh);
    return negated ? shell_not(status) : status;
}

static enum shell_status run_pipeline(struct shell *sh)
{
    enum shell_status status = run_command(sh);
    while (!sh->failed && shell_peek(sh, 0) == '|' && shell_peek(sh, 1) != '|') {
        sh->in.at += shell_peek(sh, 1) == '&' ? 2 : 1;
        run_command(sh);
        status = SHELL_PERHAPS_YES;
    }
    return status;
}

/* Pipelines joined by && and ||. */
static enum shell_status run_and_or(struct shell *sh)
{
    enum shell_live live = sh->live;
    enum shell_status status = run_pipeline(sh);
    for (;;) {
        shell_skip_blanks(sh);
        char c = shell_peek(sh, 0);
        if (sh->failed || (c != '&' && c != '|') || shell_peek(sh, 1) != c) break;
        sh->in.at += 2;
        enum shell_status goes = c == '&' ? status : shell_not(status);
        set_live(sh, live_on(live, goes));
        enum shell_status next = run_pipeline(sh);
        if (goes == SHELL_YES)
            status = next;
        else if (goes == SHELL_PERHAPS_YES)
            status = SHELL_PERHAPS_YES;
        set_live(sh, live);
    }
    return status;
}

/* The script's top level goes on behind a command that was abandoned. */
static void resume(struct shell *sh)
{
    sh->halt = SHELL_GOES_ON;
    sh->live = SHELL_LIVE;
}

static enum shell_status run_list(struct shell *sh)
{
    enum shell_status status = SHELL_YES;
    for (;;) {
        size_t from = sh->in.at;
        skip_separators(sh);
        if (sh->in.at > from) shell_charge(sh, (sh->in.at - from) / SHELL_READ_WORK);
        if (sh->failed || ends_list(sh)) return status;
        size_t before = sh->in.at;
        status = run_and_or(sh);
        if (sh->in.at > before) shell_charge(sh, (sh->in.at - before) / SHELL_READ_WORK);
        if (sh->halt == SHELL_ABANDON && sh->depth == 1) resume(sh);
        if (sh->in.at == before && !sh->failed) sh->in.at++; /* a stray metacharacter */
    }
}
