/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow. A branch whose condition is not known runs "perhaps"; a loop whose end is not known
   does not run, as scripts loop over their own arguments. */
#include "facts/shell_state.h"

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

struct str shell_peek_word(const struct shell *sh)
{
    size_t to = sh->in.at;
    while (to < sh->in.text.n && !shell_ends_word(sh->in.text.p[to]))
        to++;
    return str_slice(shell_str(sh->in.text), sh->in.at, to);
}

static bool take_word(struct shell *sh, const char *word)
{
    skip_separators(sh);
    struct str s = shell_peek_word(sh);
    if (!str_is(s, word)) return false;
    sh->in.at += s.n;
    return true;
}

static bool ends_list(const struct shell *sh)
{
    return shell_at_end(sh) || shell_peek(sh, 0) == ')' ||
           (shell_peek(sh, 0) == ';' && shell_peek(sh, 1) == ';') ||
           str_is_any(shell_peek_word(sh), "then|else|elif|fi|do|done|esac|}");
}

static void expect(struct shell *sh, const char *word, const char *failure)
{
    if (!take_word(sh, word)) shell_fail(sh, failure);
}

void shell_set_live(struct shell *sh, enum shell_live live)
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

/* ---- compound commands ---- */

/* [[ ... ]]: words and operators up to the closing brackets. */
static enum shell_status run_brackets(struct shell *sh)
{
    struct shell_fields words = {0};
    sh->in.at += 2;
    for (;;) {
        shell_skip_blanks(sh);
        char c = shell_peek(sh, 0);
        if (str_is(shell_peek_word(sh), "]]")) break;
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
        shell_set_live(sh, taken == SHELL_YES ? SHELL_DEAD : live);
        status = shell_run_list(sh);
        expect(sh, "then", "this if has no then");
        enum shell_live here = live_on(live, status);
        shell_set_live(sh, taken == SHELL_NO    ? here
                           : taken == SHELL_YES ? SHELL_DEAD
                                                : perhaps(here));
        shell_run_list(sh);
        if (taken == SHELL_NO || status == SHELL_YES)
            taken = taken == SHELL_PERHAPS_YES ? taken : status;
        shell_set_live(sh, live);
    } while (!sh->failed && take_word(sh, "elif"));
    if (take_word(sh, "else")) {
        shell_set_live(sh, taken == SHELL_NO    ? live
                           : taken == SHELL_YES ? SHELL_DEAD
                                                : perhaps(live));
        shell_run_list(sh);
        shell_set_live(sh, live);
    }
    expect(sh, "fi", "this if has no fi");
    return SHELL_PERHAPS_YES;
}

static void end_loop(struct shell *sh, enum shell_live live)
{
    if (sh->halt == SHELL_BREAK) sh->halt = SHELL_GOES_ON;
    shell_set_live(sh, live);
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
        shell_run_list(sh);
    }
    if (rounds == 0) {
        shell_note_set(sh, name);
        shell_set_live(sh, SHELL_DEAD);
        shell_run_list(sh);
    }
    end_loop(sh, live);
}

/* The body of for ((...)), whose rounds are not counted: what it sets is uncertain afterwards. */
static void run_perhaps(struct shell *sh)
{
    enum shell_live live = sh->live;
    shell_set_live(sh, perhaps(live));
    shell_run_list(sh);
    end_loop(sh, live);
}

static enum shell_status run_for(struct shell *sh)
{
    struct shell_fields words = {0};
    sh->in.at += 3;
    shell_skip_blanks(sh);
    struct str name = shell_peek_word(sh);
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
    shell_set_live(sh, SHELL_DEAD);
    shell_run_list(sh);
    expect(sh, "do", "this loop has no do");
    shell_run_list(sh);
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
        shell_note_choice(sh, word, pattern.items[0]);
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
        shell_set_live(sh, taken == SHELL_NO    ? here
                           : taken == SHELL_YES ? SHELL_DEAD
                                                : perhaps(here));
        shell_run_list(sh);
        if (status != SHELL_NO && taken != SHELL_YES)
            taken = taken == SHELL_NO ? status : SHELL_PERHAPS_YES;
        shell_set_live(sh, live);
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
    shell_set_live(sh, SHELL_DEAD);
    shell_run_list(sh);
    shell_set_live(sh, live);
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
    enum shell_status status = shell_run_list(sh);
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
    struct str word = shell_peek_word(sh);
    if (shell_peek(sh, 0) == '(')
        return shell_peek(sh, 1) == '(' ? run_arithmetic(sh) : run_group(sh, true);
    if (str_is(word, "{")) return run_group(sh, false);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (str_is(word, keywords[i].word)) return keywords[i].run(sh);
    if (str_is(word, "function")) {
        sh->in.at += word.n;
        shell_skip_blanks(sh);
        word = shell_peek_word(sh);
        sh->in.at += word.n;
        return define_function(sh, word);
    }
    if (is_definition(sh, word)) {
        sh->in.at += word.n;
        return define_function(sh, word);
    }
    return shell_run_simple(sh);
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
    for (shell_skip_blanks(sh); !sh->failed && shell_take_redirection(sh);)
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
        shell_set_live(sh, live_on(live, goes));
        enum shell_status next = run_pipeline(sh);
        if (goes == SHELL_YES)
            status = next;
        else if (goes == SHELL_PERHAPS_YES)
            status = SHELL_PERHAPS_YES;
        shell_set_live(sh, live);
    }
    return status;
}

/* The script's top level goes on behind a command that was abandoned. */
static void resume(struct shell *sh)
{
    sh->halt = SHELL_GOES_ON;
    sh->live = SHELL_LIVE;
}

enum shell_status shell_run_list(struct shell *sh)
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

void shell_run(struct shell *sh, struct shell_text text)
{
    struct shell_source outer = sh->in;
    struct shell_fields heredocs = sh->heredocs;
    shell_descend(sh);
    sh->in = (struct shell_source){.text = text};
    sh->heredocs = (struct shell_fields){0};
    while (!shell_at_end(sh)) {
        size_t before = sh->in.at;
        shell_run_list(sh);
        if (sh->in.at == before) sh->in.at++; /* a closing word that nothing opened */
    }
    sh->heredocs = heredocs;
    sh->depth--;
    if (!sh->failed) sh->in = outer;
}

void shell_halt(struct shell *sh, enum shell_halt how)
{
    if (sh->live != SHELL_LIVE) return;
    sh->halt = how;
    sh->live = SHELL_DEAD;
}
