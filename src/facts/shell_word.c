/* SPDX-License-Identifier: Apache-2.0 */
/* Words: quotes, variables and the ${...} forms that launch scripts use. What is not understood is
 * unknown. */
#include "base/quote.h"
#include "facts/placeholder.h"
#include "facts/shell_state.h"

static const struct shell_text empty = {"", NULL, 0};

/* ---- the reading position ---- */

bool shell_at_end(const struct shell *sh)
{
    return sh->failed || sh->in.at >= sh->in.text.n;
}

char shell_peek(const struct shell *sh, size_t ahead)
{
    return sh->in.at + ahead < sh->in.text.n && !sh->failed ? sh->in.text.p[sh->in.at + ahead]
                                                            : '\0';
}

uint32_t shell_offset(const struct shell *sh)
{
    if (sh->in.text.n == 0) return 0;
    return sh->in.text.at[sh->in.at < sh->in.text.n ? sh->in.at : sh->in.text.n - 1];
}

static void stop(struct shell *sh, const char *rule, const char *why)
{
    if (sh->failed) return;
    sh->failed = true;
    sh->failed_rule = rule;
    sh->failure = why;
    sh->failed_at = shell_offset(sh);
}

void shell_fail(struct shell *sh, const char *why)
{
    stop(sh, "shell-syntax", why);
}

void shell_exhaust(struct shell *sh, const char *why)
{
    stop(sh, DOC_TOO_LARGE, why);
}

void shell_descend(struct shell *sh)
{
    if (++sh->depth > SHELL_MAX_DEPTH)
        shell_exhaust(sh, "too large to be followed: nested more than 40 deep");
}

void shell_charge(struct shell *sh, size_t work)
{
    sh->work += work;
    if (sh->work > SHELL_MAX_WORK)
        shell_exhaust(sh, "too large to be followed: more than 8 MiB of text and fields");
}

void shell_skip_blanks(struct shell *sh)
{
    bool continues = false;
    for (;; sh->in.at++) {
        char c = shell_peek(sh, 0);
        bool continued = c == '\\' && shell_peek(sh, 1) == '\n';
        if (continued) {
            continues = true;
            sh->in.at++;
        } else if (c == '#') {
            if (continues) sh->comment = shell_offset(sh) + 1;
            size_t from = sh->in.at;
            while (!shell_at_end(sh) && shell_peek(sh, 0) != '\n')
                sh->in.at++;
            shell_note_comment(sh, from);
            return;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

/* ---- a word while it is built ---- */

struct word {
    struct shell *sh;
    struct shell_buf now;
    bool begun; /* quotes make a field even when it is empty */
    bool split;
    struct shell_fields *out;
};

static void end_field(struct word *w)
{
    if (w->begun || w->now.n) shell_push(w->sh, w->out, shell_made(w->sh, &w->now));
    w->now = (struct shell_buf){.arena = w->sh->arena};
    w->begun = false;
}

static void add_text(struct word *w, struct shell_text t, bool quoted)
{
    shell_charge(w->sh, t.n);
    for (size_t i = 0; i < t.n && !w->sh->failed; i++) {
        if (shell_is_blank(t.p[i]) && !quoted && w->split)
            end_field(w);
        else
            shell_buf_add(&w->now, t.p[i], t.at[i]);
    }
}

/* The items of "${array[@]}": each a field of its own; of "${array[*]}": one text, as in bash -c
   "run.py ${array[*]}". */
static void add_items(struct word *w, const struct shell_fields *items, bool quoted, bool one)
{
    bool apart = w->split && !(one && quoted);
    for (size_t i = 0; i < items->n && !w->sh->failed; i++) {
        if (i > 0 && apart) end_field(w);
        if (i > 0 && !apart)
            shell_buf_add(&w->now, ' ', items->items[i].n ? items->items[i].at[0] : 0);
        w->begun = w->begun || quoted;
        add_text(w, items->items[i], quoted);
    }
}

static void add_unknown(struct word *w, uint32_t at)
{
    shell_buf_add(&w->now, SHELL_UNKNOWN, at);
}

/* ---- ${...} ---- */

struct parameter {
    struct str name, index; /* index: "@", "*", a number or "" */
    struct shell_text rest; /* from the operator on */
    bool length;
};

static struct parameter split_parameter(struct shell_text body)
{
    struct parameter p = {.rest = body};
    size_t i = 0;
    struct str s = shell_str(body);
    p.length = s.n > 1 && s.p[0] == '#';
    i = p.length;
    size_t from = i;
    while (i < s.n && shell_is_name(s.p[i]))
        i++;
    if (i == from && i < s.n && (s.p[i] == '@' || s.p[i] == '*' || s.p[i] == '#')) i++;
    p.name = str_slice(s, from, i);
    if (i < s.n && s.p[i] == '[') {
        size_t close = i + str_find(str_slice(s, i, s.n), ']');
        p.index = str_slice(s, i + 1, close);
        i = close < s.n ? close + 1 : s.n;
    }
    p.rest = (struct shell_text){body.p + i, body.at ? body.at + i : NULL, body.n - i};
    return p;
}

/* The file that is run, from the script's folder on; `now`: the one that was sourced last. */
static struct shell_text name_of_file(struct shell *sh, bool now, uint32_t at)
{
    const struct shell_file *file = now && sh->files.n ? &sh->files.items[sh->file] : NULL;
    struct str name = file ? file->name : (struct str){"", 0};
    return shell_text_at(
        sh->arena,
        arena_printf(sh->arena, "%c/%.*s", SHELL_FOLDER, STR_ARG(name.n ? name : STR("script.sh"))),
        at);
}

static struct shell_text positional(struct shell *sh, struct str name, uint32_t at, bool *unset)
{
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < 10000; i++)
        n = n * 10 + (size_t)(name.p[i] - '0');
    *unset = n > sh->args.n;
    if (n >= 1 && n <= sh->args.n) return sh->args.items[n - 1];
    const struct setting *setting = setting_use(sh->options, name);
    if (setting) *unset = false;
    if (setting) return shell_text_at(sh->arena, setting->text, at);
    if (n == 0) return name_of_file(sh, false, at);
    if (!sh->args_known) shell_note_argument(sh, name, at);
    return shell_text_at(sh->arena, sh->args_known ? (struct str){"", 0} : SHELL_UNKNOWN_TEXT, at);
}

/* A plain variable or a positional parameter. */
static struct shell_text value_of(struct shell *sh, struct str name, uint32_t at, bool *unset)
{
    *unset = false;
    if (name.n && shell_is_digit(name.p[0])) return positional(sh, name, at, unset);
    if (str_is(name, "#") && sh->args_known)
        return shell_text_at(sh->arena, arena_printf(sh->arena, "%zu", sh->args.n), at);
    if (name.n == 0 || !shell_begins_name(name.p[0]))
        return shell_text_at(sh->arena, SHELL_UNKNOWN_TEXT, at);
    if (str_is(name, "BASH_SOURCE")) return name_of_file(sh, true, at);
    return shell_var_get(sh, name, at, unset);
}

/* The name without its last part, or that part alone; only of a file that has a folder. */
static struct shell_text part_of_name(struct shell_text t, bool folder)
{
    size_t cut = t.n;
    while (cut > 0 && t.p[cut - 1] != '/')
        cut--;
    if (cut == 0) return t;
    if (folder) return (struct shell_text){t.p, t.at, cut - 1};
    return (struct shell_text){t.p + cut, t.at + cut, t.n - cut};
}

static struct shell_text lower_or_upper(struct shell *sh, struct shell_text t, bool upper)
{
    struct shell_buf b = {.arena = sh->arena};
    for (size_t i = 0; i < t.n; i++) {
        char c = t.p[i];
        if (upper && c >= 'a' && c <= 'z') c = (char)(c - 32);
        if (!upper && c >= 'A' && c <= 'Z') c = (char)(c + 32);
        shell_buf_add(&b, c, t.at[i]);
    }
    return shell_buf_get(&b);
}

/* Whether a platform's variables say the number of machines by such a name. */
static bool counts_nodes(struct str name)
{
    static const char *const parts[] = {"WORLD_SIZE", "WORKER"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (str_find_str(name, str_of(parts[i])) < name.n) return true;
    return false;
}

/* :-  -  :=  =  :+  +  and ,, ^^; everything else is unknown. */
static struct shell_text operate(struct shell *sh, struct str name, struct shell_text value,
                                 bool unset, struct shell_text rest)
{
    bool colon = rest.n > 1 && rest.p[0] == ':';
    char op = rest.p[colon];
    bool missing = unset || (colon && value.n == 0);
    struct shell_text word = {rest.p + colon + 1, rest.at + colon + 1, rest.n - colon - 1};
    if (op == '-' || op == '=') {
        if (!missing) return value;
        if (unset && counts_nodes(name)) sh->f->world_guessed = sh->f->world_unsaid = true;
        if (unset) shell_note_default(sh, name, rest.at[0] - (uint32_t)name.n);
        struct shell_text otherwise = shell_expand_text(sh, word);
        if (op == '=') shell_var_set_text(sh, name, otherwise);
        return otherwise;
    }
    if (op == '?' && !missing) return value;
    if (op == '+' && !unset && shell_known(value))
        return missing ? empty : shell_expand_text(sh, word);
    if (op == '+' && unset) return empty;
    if (str_is(shell_str(rest), "%/*")) return part_of_name(value, true);
    if (str_is(shell_str(rest), "##*/") && shell_known(value)) return part_of_name(value, false);
    if (str_is(shell_str(rest), ",,")) return lower_or_upper(sh, value, false);
    if (str_is(shell_str(rest), "^^")) return lower_or_upper(sh, value, true);
    return shell_text_at(sh->arena, SHELL_UNKNOWN_TEXT, rest.at[0]);
}

/* The items that "@" or "*" stand for; NULL: the variable is nobody's. */
static const struct shell_fields *items_of(struct shell *sh, struct str name)
{
    if (str_is(name, "@") || str_is(name, "*")) return &sh->args;
    struct shell_var *var = shell_var_find(sh, name);
    if (!var) return NULL;
    var->used = true;
    return &var->items;
}

static struct shell_text item_at(struct shell *sh, const struct parameter *p, uint32_t at)
{
    int64_t i = 0;
    const struct shell_fields *items = items_of(sh, p->name);
    bool known = items && shell_arith(sh, p->index, &i) && i >= 0;
    if (known && (size_t)i < items->n) return items->items[i];
    return shell_text_at(sh->arena, known ? (struct str){"", 0} : SHELL_UNKNOWN_TEXT, at);
}

static void add_parameter(struct word *w, struct shell_text body, bool quoted, uint32_t at)
{
    struct shell *sh = w->sh;
    struct parameter p = split_parameter(body);
    bool all = str_is(p.index, "@") || str_is(p.index, "*") || str_is(p.name, "@") ||
               str_is(p.name, "*"),
         unset = false;
    if (all && p.rest.n == 0) {
        const struct shell_fields *items = items_of(sh, p.name);
        if (p.length && items)
            add_text(w, shell_text_at(sh->arena, arena_printf(sh->arena, "%zu", items->n), at),
                     quoted);
        else if (items)
            add_items(w, items, quoted, str_is(p.index.n ? p.index : p.name, "*"));
        else
            add_unknown(w, at);
        if (!items) shell_note_missing(sh, p.name, at);
        return;
    }
    bool whole = !p.index.n || str_is(p.name, "BASH_SOURCE");
    struct shell_text value = whole ? value_of(sh, p.name, at, &unset) : item_at(sh, &p, at);
    if (unset && p.rest.n == 0) shell_note_missing(sh, p.name, at);
    if (p.name.n == 0 || (p.length && !shell_known(value)))
        add_unknown(w, at);
    else if (p.length)
        add_text(w, shell_text_at(sh->arena, arena_printf(sh->arena, "%zu", value.n), at), quoted);
    else
        add_text(w, p.rest.n ? operate(sh, p.name, value, unset, p.rest) : value, quoted);
}

/* ---- $ ---- */

static void add_arithmetic(struct word *w, struct shell_text text, bool quoted, uint32_t at)
{
    int64_t i = 0;
    struct shell_text plain = shell_expand_text(w->sh, text);
    if (shell_arith(w->sh, shell_str(plain), &i))
        add_text(w,
                 shell_text_at(w->sh->arena, arena_printf(w->sh->arena, "%lld", (long long)i), at),
                 quoted);
    else
        add_unknown(w, at);
    if (shell_known(plain) && shell_arith_is_wrong(shell_str(plain)))
        shell_halt(w->sh, SHELL_ABANDON);
}

static void add_name(struct word *w, bool quoted, uint32_t at)
{
    struct shell *sh = w->sh;
    size_t from = sh->in.at;
    bool digit = shell_is_digit(shell_peek(sh, 0));
    sh->in.at++;
    while (!digit && shell_is_name(shell_peek(sh, 0)))
        sh->in.at++;
    struct shell_text name = {sh->in.text.p + from, sh->in.text.at + from, sh->in.at - from};
    add_parameter(w, name, quoted, at);
}

static void add_substitution(struct word *w, struct shell_text text, bool quoted, uint32_t at)
{
    struct shell_text printed;
    if (!w->sh->failed && shell_substitute(w->sh, text, &printed))
        add_text(w, printed, quoted);
    else
        add_unknown(w, at);
}

/* The reading position is on the $. */
static void take_dollar(struct word *w, bool quoted)
{
    struct shell *sh = w->sh;
    uint32_t at = shell_offset(sh);
    sh->in.at++;
    char c = shell_peek(sh, 0);
    if (c == '(' && shell_peek(sh, 1) == '(') {
        sh->in.at += 2;
        struct shell_text text = shell_bracket(sh, '(', ')');
        if (shell_peek(sh, 0) == ')') sh->in.at++;
        add_arithmetic(w, text, quoted, at);
    } else if (c == '(') {
        sh->in.at++;
        add_substitution(w, shell_bracket(sh, '(', ')'), quoted, at);
    } else if (c == '{') {
        sh->in.at++;
        add_parameter(w, shell_bracket(sh, '{', '}'), quoted, at);
    } else if (shell_is_name(c) || c == '@' || c == '*' || c == '#') {
        add_name(w, quoted, at);
    } else if (c == '?' || c == '$' || c == '!' || c == '-') {
        sh->in.at++;
        add_unknown(w, at);
    } else {
        shell_buf_add(&w->now, '$', at);
    }
}

static void take_backquote(struct word *w, bool quoted)
{
    struct shell *sh = w->sh;
    uint32_t at = shell_offset(sh);
    size_t from = sh->in.at + 1;
    do
        sh->in.at++;
    while (!shell_at_end(sh) && shell_peek(sh, 0) != '`');
    if (shell_at_end(sh)) {
        sh->in.at = from - 1;
        shell_fail(sh, "this quote is not closed");
        return;
    }
    struct shell_text text = {sh->in.text.p + from, sh->in.text.at + from, sh->in.at - from};
    sh->in.at++;
    add_substitution(w, text, quoted, at);
}

/* ---- placeholders ---- */

/* Bytes of a template's expression: as many are looked through at each brace. */
enum { MOST_TEMPLATE = 1024 };

/* The length of "{{ tp }}" that begins here, which a template's user fills in; 0: none does. */
static size_t template_at(const struct shell *sh)
{
    if (shell_peek(sh, 0) != '{' || shell_peek(sh, 1) != '{') return 0;
    for (size_t n = 2; n < MOST_TEMPLATE; n++) {
        char c = shell_peek(sh, n);
        if (!c || c == '\n') return 0;
        if (c == '}' && shell_peek(sh, n + 1) == '}') return n + 2;
    }
    return 0;
}

size_t shell_placeholder(const struct shell *sh)
{
    size_t n = template_at(sh);
    if (n) return n;
    n = 1;
    if (shell_peek(sh, 0) != '<' || !shell_begins_name(shell_peek(sh, 1))) return 0;
    for (char c; (c = shell_peek(sh, n)) != '>'; n++)
        if (!c || strchr("\n<|;&$\"'`", c)) return 0;
    return shell_peek(sh, n - 1) == ' ' ? 0 : n + 1;
}

bool shell_at_word(const struct shell *sh)
{
    return !shell_ends_word(shell_peek(sh, 0)) || shell_placeholder(sh);
}

static void take_placeholder(struct word *w, size_t n)
{
    struct shell *sh = w->sh;
    uint32_t at = shell_offset(sh);
    struct str text = str_slice(shell_str(sh->in.text), sh->in.at, sh->in.at + n);
    if (sh->live != SHELL_DEAD) placeholder_note(sh->f, shell_span(sh, at, n), text);
    add_unknown(w, at);
    sh->in.at += n;
}

/* ---- quotes ---- */

/* What is in quotes has ended, sh->in.at on the closing one: whether that one rather opens, as it
   does from a quote that was forgotten on. */
static void doubt_quote(struct shell *sh, size_t open)
{
    size_t close = sh->in.at;
    const char *p = sh->in.text.p;
    bool lines = memchr(p + open, '\n', close - open);
    bool begins = strchr(" \t\n(,[{", p[close - 1]) && !shell_ends_word(shell_peek(sh, 1));
    bool opens = begins || p[close - 1] == '=';
    bool same = sh->doubt_kind == p[close]; /* quotes of the other kind still stand in pairs */
    if (same && !opens && (lines || close > open + 1)) sh->doubt = 0;
    if (!opens || !lines || sh->doubt) return;
    sh->doubt = sh->in.text.at[open] + 1;
    sh->doubt_kind = p[close];
}

/* The last double quote of the line [from, to), when it has an odd number of them, escaped ones
   aside; `to`: it has an even one, or a single quote or a # stands in it, and nobody can tell. */
static size_t odd_quote(struct str text, size_t from, size_t to)
{
    size_t last = to, n = 0;
    for (size_t i = from; i < to; i++) {
        if (text.p[i] == '#' || text.p[i] == '\'') return to;
        if (text.p[i] != '"' || (i > from && text.p[i - 1] == '\\')) continue;
        last = i;
        n++;
    }
    return n % 2 ? last : to;
}

/* Where the only line of the text stands whose quotes are odd in number; false: several are, as
   with a text over several lines, or none is. */
static bool lone_odd_quote(const struct shell *sh, size_t *at)
{
    struct str text = shell_str(sh->in.text);
    size_t found = 0;
    for (size_t from = 0, to; from < text.n; from = to + 1) {
        to = from + str_find(str_slice(text, from, text.n), '\n');
        size_t odd = odd_quote(text, from, to);
        found += odd < to;
        if (odd < to) *at = odd;
    }
    return found == 1;
}

/* The quote at `open` has no end; the mistake is where the quotes changed sides. */
static void fail_quote(struct shell *sh, size_t open)
{
    size_t at = open;
    bool lone = shell_peek(sh, 0) == '\0' && lone_odd_quote(sh, &at) && at < open;
    sh->in.at = open;
    shell_fail(sh, "this quote is not closed");
    if (sh->doubt) sh->failed_at = sh->doubt - 1;
    if (lone) sh->failed_at = sh->in.text.at[at];
}

static void take_single(struct word *w)
{
    struct shell *sh = w->sh;
    size_t open = sh->in.at++;
    w->begun = true;
    for (; !shell_at_end(sh) && shell_peek(sh, 0) != '\''; sh->in.at++)
        shell_buf_add(&w->now, shell_peek(sh, 0), shell_offset(sh));
    if (shell_at_end(sh))
        fail_quote(sh, open);
    else
        doubt_quote(sh, open);
    sh->in.at++;
}

/* $'…', the reading position on the $. */
static void take_ansi(struct word *w)
{
    struct shell *sh = w->sh;
    uint32_t at = shell_offset(sh);
    size_t end = sh->in.at + 2;
    struct buf text = buf_new(sh->arena);
    w->begun = true;
    if (!quote_take_ansi(shell_str(sh->in.text), &end, &text)) {
        shell_fail(sh, "this quote is not closed");
        return;
    }
    for (size_t i = 0; i < text.n; i++)
        shell_buf_add(&w->now, text.p[i], at);
    sh->in.at = end;
}

static bool begins_ansi(const struct shell *sh)
{
    return shell_peek(sh, 0) == '$' && shell_peek(sh, 1) == '\'';
}

/* One piece of a text in double quotes. */
static void take_double_piece(struct word *w)
{
    struct shell *sh = w->sh;
    char c = shell_peek(sh, 0);
    size_t n = template_at(sh);
    if (n) {
        take_placeholder(w, n);
    } else if (c == '$') {
        take_dollar(w, true);
    } else if (c == '`') {
        take_backquote(w, true);
    } else {
        bool escape = c == '\\' && shell_peek(sh, 1) && strchr("\"\\$`\n", shell_peek(sh, 1));
        if (escape) sh->in.at++;
        if (!escape || shell_peek(sh, 0) != '\n')
            shell_buf_add(&w->now, shell_peek(sh, 0), shell_offset(sh));
        sh->in.at++;
    }
}

static void take_double(struct word *w)
{
    struct shell *sh = w->sh;
    size_t open = sh->in.at++, before = w->out->n;
    w->begun = true;
    while (!shell_at_end(sh) && shell_peek(sh, 0) != '"')
        take_double_piece(w);
    if (shell_at_end(sh))
        fail_quote(sh, open);
    else
        doubt_quote(sh, open);
    /* "${array[@]}" and "$@" of nothing are no field at all, where fields are made */
    struct str inside = str_slice(shell_str(sh->in.text), open + 1, sh->in.at);
    bool items =
        str_is(inside, "$@") || (str_starts(inside, STR("${")) && str_ends(inside, STR("[@]}")));
    if (items && w->split && w->now.n == 0 && w->out->n == before) w->begun = false;
    sh->in.at++;
}

/* ---- words ---- */

static void take_piece(struct word *w)
{
    struct shell *sh = w->sh;
    char c = shell_peek(sh, 0);
    size_t n = shell_placeholder(sh);
    if (n) {
        take_placeholder(w, n);
        return;
    }
    if (begins_ansi(sh)) {
        take_ansi(w);
        return;
    }
    if (c == '$' && shell_peek(sh, 1) == '"') sh->in.at++; /* $"…" may be translated */
    c = shell_peek(sh, 0);
    if (c == '\'') {
        take_single(w);
    } else if (c == '"') {
        take_double(w);
    } else if (c == '$') {
        take_dollar(w, false);
    } else if (c == '`') {
        take_backquote(w, false);
    } else if (c == '\\') {
        sh->in.at++;
        bool escapes = shell_peek(sh, 0) != '\n' && !shell_at_end(sh); /* else it is no word */
        if (escapes) shell_buf_add(&w->now, shell_peek(sh, 0), shell_offset(sh));
        w->begun |= escapes;
        sh->in.at++;
    } else {
        shell_buf_add(&w->now, c, shell_offset(sh));
        sh->in.at++;
    }
}

void shell_word(struct shell *sh, struct shell_fields *out, bool split)
{
    struct word w = {.sh = sh, .now = {.arena = sh->arena}, .split = split, .out = out};
    if (!split) w.begun = true;
    while (!shell_at_end(sh) && shell_at_word(sh)) {
        if (++sh->steps > SHELL_MAX_STEPS * 10)
            shell_exhaust(sh, "too large to be followed: more than 2,000,000 parts of words");
        take_piece(&w);
    }
    end_field(&w);
}

static struct shell_text expand(struct shell *sh, struct shell_text text, bool quotes)
{
    struct shell_source outer = sh->in;
    struct shell_fields out = {0};
    struct word w = {.sh = sh, .now = {.arena = sh->arena}, .out = &out};
    shell_descend(sh);
    sh->in = (struct shell_source){.text = text};
    while (!shell_at_end(sh)) {
        char c = shell_peek(sh, 0);
        if (shell_is_name(c)) /* most characters */
            shell_buf_add(&w.now, c, sh->in.text.at[sh->in.at++]);
        else if (quotes && (c == '"' || c == '\'' || begins_ansi(sh)))
            take_piece(&w); /* quotes inside ${a:-"b"} */
        else
            take_double_piece(&w);
    }
    sh->depth--;
    sh->in = outer;
    return shell_made(sh, &w.now);
}

struct shell_text shell_expand_text(struct shell *sh, struct shell_text text)
{
    return expand(sh, text, true);
}

struct shell_text shell_expand_document(struct shell *sh, struct shell_text text)
{
    return expand(sh, text, false);
}
