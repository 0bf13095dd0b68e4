/* SPDX-License-Identifier: Apache-2.0 */
/* Builtins that set variables: their outcome is followed where the text decides it, else what they
 * set is unknown. */
#include "base/num.h"
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

/* A file that cannot be read here may set anything. */
static void run_source(struct shell *sh, const struct shell_fields *words)
{
    if (words->n < 2) return;
    struct shell_written *written = shell_written_find(sh, shell_str(words->items[1]));
    struct shell_file *file = written ? NULL : shell_file_find(sh, words->items[1]);
    if (written)
        shell_run(sh, written->text);
    else if (file)
        shell_file_run(sh, file);
    else
        sh->sourced = true;
}

/* ---- what prints ---- */

/* To where the command's output leads: a file of the script, $(...), or nowhere. */
static void print(struct shell *sh, struct shell_text text)
{
    if (sh->output.n) {
        if (shell_known(sh->output)) shell_write(sh, shell_str(sh->output), text, sh->appends);
    } else if (sh->printed) {
        shell_buf_text(sh->printed, text);
    }
}

static void print_unknown(struct shell *sh, uint32_t at)
{
    print(sh, shell_text_at(sh->arena, SHELL_UNKNOWN_TEXT, at));
}

static uint32_t place_of(const struct shell_fields *words)
{
    return words->items[0].n ? words->items[0].at[0] : 0;
}

/* Its words with blanks between and a newline behind; options but -n change the text. */
static void run_echo(struct shell *sh, const struct shell_fields *words)
{
    struct shell_buf b = {.arena = sh->arena};
    bool bare = words->n > 1 && str_is(shell_str(words->items[1]), "-n");
    bool option = words->n > 1 && str_starts(shell_str(words->items[1]), STR("-e"));
    if (option) {
        print_unknown(sh, place_of(words));
        return;
    }
    for (size_t i = 1 + bare; i < words->n; i++) {
        if (i > 1u + bare) shell_buf_add(&b, ' ', place_of(words));
        shell_buf_text(&b, words->items[i]);
    }
    if (!bare) shell_buf_add(&b, '\n', place_of(words));
    print(sh, shell_made(sh, &b));
}

/* Its here-document is printed, or written, once it has been read. */
static void run_cat(struct shell *sh, const struct shell_fields *words)
{
    if (sh->heredocs.n > 0 && words->n == 1 && shell_known(sh->output))
        sh->heredoc_file = shell_str(sh->output);
    else if (sh->printed)
        print_unknown(sh, place_of(words));
}

static void run_tee(struct shell *sh, const struct shell_fields *words)
{
    if (sh->heredocs.n > 0 && words->n == 2 && shell_known(words->items[1]))
        sh->heredoc_file = shell_str(words->items[1]);
}

/* ---- folders ---- */

/* The last word that is no option. */
static struct shell_text operand(const struct shell_fields *words)
{
    for (size_t i = words->n; i-- > 1;)
        if (!str_starts(shell_str(words->items[i]), STR("-"))) return words->items[i];
    return (struct shell_text){"", NULL, 0};
}

static void run_cd(struct shell *sh, const struct shell_fields *words)
{
    sh->folder = operand(words);
}

/* Where nothing has led elsewhere, scripts are started in their own folder or above it. */
static void run_pwd(struct shell *sh, const struct shell_fields *words)
{
    struct str here = (struct str){(const char[]){SHELL_FOLDER, 0}, 1};
    print(sh, sh->folder.n ? sh->folder : shell_text_at(sh->arena, here, place_of(words)));
}

static void run_dirname(struct shell *sh, const struct shell_fields *words)
{
    struct shell_text t = operand(words);
    size_t cut = t.n;
    while (cut > 0 && t.p[cut - 1] != '/')
        cut--;
    if (cut > 1)
        print(sh, (struct shell_text){t.p, t.at, cut - 1});
    else
        print_unknown(sh, place_of(words));
}

static void run_realpath(struct shell *sh, const struct shell_fields *words)
{
    struct shell_text t = operand(words);
    if (t.n && t.p[0] == SHELL_FOLDER)
        print(sh, t);
    else
        print_unknown(sh, place_of(words));
}

/* Whole numbers from the first to the last, by the one between; one number is the last. */
static void run_seq(struct shell *sh, const struct shell_fields *words)
{
    enum { MOST = 1024 };
    int64_t n[3] = {1, 1, 0};
    bool known = words->n > 1 && words->n < 5;
    for (size_t i = 1; known && i < words->n; i++) {
        size_t at = i + 1 == words->n ? 2 : i - 1;
        known = shell_known(words->items[i]) && num_parse_int(shell_str(words->items[i]), &n[at]) &&
                n[at] >= 0 && n[at] <= INT32_MAX;
    }
    if (!known || n[1] == 0 || (n[2] - n[0]) / n[1] >= MOST) {
        print_unknown(sh, place_of(words));
        return;
    }
    for (int64_t i = n[0]; i <= n[2]; i += n[1]) {
        struct str line = arena_printf(sh->arena, "%lld\n", (long long)i);
        print(sh, shell_text_at(sh->arena, line, place_of(words)));
    }
}

/* Only commands that are followed here; their side effects are none. */
static bool may_substitute(struct str text)
{
    struct str rest = str_trim(text), word = rest;
    size_t n = 0;
    while (n < rest.n && !shell_ends_word(rest.p[n]))
        n++;
    word = str_slice(rest, 0, n);
    if (!str_is_any(word, "echo|cat|cd|pwd|dirname|readlink|realpath|seq")) return false;
    bool document = str_is(word, "cat") && str_find_str(rest, STR("<<")) < rest.n;
    for (size_t i = 0; i < rest.n && !document; i++)
        if (strchr("|;\n`", rest.p[i])) return false;
    return str_is(word, "cat") ? document : true;
}

bool shell_substitute(struct shell *sh, struct shell_text text, struct shell_text *out)
{
    if (!may_substitute(shell_str(text))) return false;
    struct shell_buf printed = {.arena = sh->arena}, *outer = sh->printed;
    struct shell_text folder = sh->folder, output = sh->output;
    uint32_t comment = sh->comment, cut = sh->cut;
    bool reads = sh->has_here_string;
    struct shell_source in = sh->in;
    sh->printed = &printed;
    shell_run(sh, text);
    sh->printed = outer;
    bool odd = sh->failed && str_is(str_of(sh->failed_rule), "shell-syntax");
    if (odd) { /* its end was guessed: nothing is known of it, and nothing wrong */
        sh->failed = false;
        sh->in = in;
        return false;
    }
    sh->folder = folder;
    sh->output = output;
    sh->comment = comment;
    sh->cut = cut;
    sh->has_here_string = reads;
    *out = shell_made(sh, &printed);
    while (out->n && out->p[out->n - 1] == '\n')
        out->n--;
    return !sh->failed;
}

bool shell_builtin(struct shell *sh, struct str name, const struct shell_fields *words)
{
    static const struct {
        const char *name;
        void (*run)(struct shell *sh, const struct shell_fields *words);
    } table[] = {{"read", run_read},
                 {"printf", run_printf},
                 {"unset", run_unset},
                 {"source", run_source},
                 {".", run_source},
                 {"mapfile", forget_all},
                 {"readarray", forget_all},
                 {"getopts", forget_all},
                 {"let", forget_all},
                 {"echo", run_echo},
                 {"cat", run_cat},
                 {"tee", run_tee},
                 {"cd", run_cd},
                 {"pwd", run_pwd},
                 {"dirname", run_dirname},
                 {"realpath", run_realpath},
                 {"readlink", run_realpath},
                 {"seq", run_seq}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!str_is(name, table[i].name)) continue;
        table[i].run(sh, words);
        return true;
    }
    return false;
}
