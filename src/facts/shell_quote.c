/* SPDX-License-Identifier: Apache-2.0 */
/* Where a quote that nobody closed was opened. From a forgotten quote on all others change sides,
   so that a shell complains at the last one, far below. Every line on which a quote is left open is
   tried: closed at the end of the right one, the fewest lines of the script stand inside quotes. */
#include "facts/shell_state.h"

enum { MOST_DEPTH = 64, MOST_CANDIDATES = 64, MOST_DOCUMENTS = 8 };

/* What a bracket or a quote stands in. */
enum within { IN_COMMANDS, IN_BRACKET, IN_BRACE, IN_BACKQUOTE, IN_DOUBLE };

struct open_quote {
    size_t at, line_end;
};

struct quote_reader {
    struct str text;
    size_t at;
    size_t closed_at; /* the line's end at which an open quote is taken for closed; text.n: none */
    struct {
        enum within within;
        size_t at;
    } stack[MOST_DEPTH];
    size_t depth;
    struct str documents[MOST_DOCUMENTS]; /* delimiters of here-documents to come */
    size_t n_documents;
    size_t cost; /* how unlikely these quotes are */
    bool open;   /* one has no end */
    bool notes;  /* candidates are wanted */
    struct open_quote candidates[MOST_CANDIDATES];
    size_t n_candidates;
};

static char char_at(const struct quote_reader *r, size_t at)
{
    return at < r->text.n ? r->text.p[at] : '\0';
}

static size_t line_end(const struct quote_reader *r, size_t at)
{
    return at + str_find(str_slice(r->text, at, r->text.n), '\n');
}

static enum within top(const struct quote_reader *r)
{
    return r->depth ? r->stack[r->depth - 1].within : IN_COMMANDS;
}

static void push(struct quote_reader *r, enum within within, size_t width)
{
    if (r->depth < MOST_DEPTH) {
        r->stack[r->depth].within = within;
        r->stack[r->depth++].at = r->at;
    }
    r->at += width;
}

static void pop(struct quote_reader *r, enum within within)
{
    r->depth -= top(r) == within;
    r->at++;
}

/* A closing quote that looks like the beginning of a text makes its quotes unlikely, as does each
   line that begins inside. */
static void judge(struct quote_reader *r, size_t open, size_t close)
{
    enum { OF_ODD = 20 };
    size_t lines = 0;
    for (size_t i = open; i < close; i++)
        lines += r->text.p[i] == '\n';
    char before = r->text.p[close - 1], after = char_at(r, close + 1);
    bool begins = strchr(" \t\n(,[{", before) && !shell_ends_word(after);
    r->cost += lines + (lines && (begins || before == '=') ? OF_ODD : 0);
}

static void note_open(struct quote_reader *r, size_t open, size_t end)
{
    if (!r->notes || r->n_candidates == MOST_CANDIDATES || line_end(r, open) != end) return;
    r->candidates[r->n_candidates++] = (struct open_quote){open, end};
}

/* '…', or $'…', in which a backslash escapes. */
static void take_single(struct quote_reader *r, bool ansi)
{
    size_t open = r->at++, n = r->text.n;
    while (r->at < n && r->text.p[r->at] != '\'' && r->at != r->closed_at)
        r->at += ansi && r->text.p[r->at] == '\\' ? 2 : 1;
    if (r->at > line_end(r, open)) note_open(r, open, line_end(r, open));
    r->open = r->open || r->at >= n;
    if (r->at < n) judge(r, open, r->at);
    if (r->at < n && r->at != r->closed_at) r->at++;
}

/* <<WORD, <<-'WORD'; a shift in arithmetic has a number behind it. */
static void note_document(struct quote_reader *r)
{
    size_t at = r->at + 2;
    while (char_at(r, at) && strchr("- \t'\"\\", char_at(r, at)))
        at++;
    size_t from = at;
    while (shell_is_name(char_at(r, at)))
        at++;
    bool named = shell_begins_name(char_at(r, from));
    if (named && r->n_documents < MOST_DOCUMENTS)
        r->documents[r->n_documents++] = str_slice(r->text, from, at);
    r->at = named ? at + (char_at(r, at) == '\'' || char_at(r, at) == '"') : r->at + 2;
}

static void skip_documents(struct quote_reader *r)
{
    for (size_t i = 0; i < r->n_documents; i++) {
        struct str line;
        do {
            size_t end = line_end(r, r->at);
            line = str_trim(str_slice(r->text, r->at, end));
            r->at = end < r->text.n ? end + 1 : end;
        } while (r->at < r->text.n && !str_eq(line, r->documents[i]));
    }
    r->n_documents = 0;
}

static bool begins_word(const struct quote_reader *r)
{
    return r->at == 0 || shell_ends_word(r->text.p[r->at - 1]);
}

/* Whether ${...} stands in double quotes, where a single one is a letter. */
static bool is_quoted_brace(const struct quote_reader *r)
{
    return top(r) == IN_BRACE && r->depth > 1 && r->stack[r->depth - 2].within == IN_DOUBLE;
}

/* $(, ${ and `, which quotes do not hide. */
static bool take_opening(struct quote_reader *r)
{
    char c = char_at(r, r->at), next = char_at(r, r->at + 1);
    if (c == '$' && next == '(')
        push(r, IN_BRACKET, 2);
    else if (c == '$' && next == '{')
        push(r, IN_BRACE, 2);
    else if (c == '`' && top(r) == IN_BACKQUOTE)
        pop(r, IN_BACKQUOTE);
    else if (c == '`')
        push(r, IN_BACKQUOTE, 1);
    else
        return false;
    return true;
}

static void step_in_double(struct quote_reader *r)
{
    char c = char_at(r, r->at);
    if (c == '\\') {
        r->at += char_at(r, r->at + 1) == '\n' ? 1 : 2; /* a line ends here too */
    } else if (c == '"') {
        judge(r, r->stack[r->depth - 1].at, r->at);
        pop(r, IN_DOUBLE);
    } else if (!take_opening(r)) {
        r->at++;
    }
}

static void step_in_commands(struct quote_reader *r)
{
    char c = char_at(r, r->at), next = char_at(r, r->at + 1);
    if (c == '\\') {
        r->at += 2;
    } else if (c == '$' && next == '\'') {
        r->at++;
        take_single(r, true);
    } else if (c == '\'' && !is_quoted_brace(r)) {
        take_single(r, false);
    } else if (c == '"') {
        push(r, IN_DOUBLE, 1);
    } else if (c == '#' && top(r) != IN_BRACE && begins_word(r)) {
        r->at = line_end(r, r->at);
    } else if (c == '<' && next == '<' && char_at(r, r->at + 2) == '<') {
        r->at += 3;
    } else if (c == '<' && next == '<') {
        note_document(r);
    } else if (c == '(') {
        push(r, IN_BRACKET, 1);
    } else if (c == ')') {
        pop(r, IN_BRACKET);
    } else if (c == '}') {
        pop(r, IN_BRACE);
    } else if (c == '\n') {
        r->at++;
        skip_documents(r);
    } else if (!take_opening(r)) {
        r->at++;
    }
}

/* How deep the innermost double quote stands; 0: in none. */
static size_t innermost(const struct quote_reader *r)
{
    size_t depth = r->depth;
    while (depth && r->stack[depth - 1].within != IN_DOUBLE)
        depth--;
    return depth;
}

static void read_quotes(struct quote_reader *r)
{
    while (r->at < r->text.n) {
        size_t depth = innermost(r);
        bool ends = depth && r->text.p[r->at] == '\n';
        if (ends) note_open(r, r->stack[depth - 1].at, r->at);
        if (ends && r->at == r->closed_at) {
            judge(r, r->stack[depth - 1].at, r->at);
            r->depth = depth - 1;
        }
        if (top(r) == IN_DOUBLE)
            step_in_double(r);
        else
            step_in_commands(r);
    }
    r->open = r->open || innermost(r);
}

/* Whether NAME= stands before the quote, and no option or override. */
static bool is_assigned(struct str text, size_t quote)
{
    size_t from = quote;
    if (quote < 2 || text.p[quote - 1] != '=') return false;
    for (from--; from > 0 && shell_is_name(text.p[from - 1]);)
        from--;
    return from + 1 < quote && (from == 0 || shell_is_blank(text.p[from - 1]));
}

/* The next line that is neither empty nor a comment. */
static struct str next_line(struct str text, size_t at)
{
    struct str rest = str_slice(text, at, text.n), line;
    while (str_split(&rest, '\n', &line)) {
        line = str_trim(line);
        if (line.n && line.p[0] != '#') return line;
    }
    return (struct str){"", 0};
}

/* Whether a line goes on with commands: it ends a branch, or sets a variable. */
static bool is_command(struct str line)
{
    size_t name = 0;
    while (name < line.n && shell_is_name(line.p[name]))
        name++;
    bool sets = name && shell_begins_name(line.p[0]) && name < line.n && line.p[name] == '=';
    return sets || str_is_any(str_slice(line, 0, name), "fi|else|elif|done|esac|export") ||
           str_starts(line, STR(";;"));
}

/* NAME="" that lost a quote: the next line is a command. */
static bool is_empty_start(struct str text, const struct open_quote *q)
{
    return is_assigned(text, q->at) && is_command(next_line(text, q->line_end));
}

/* NAME=" with nothing behind it begins a text of several lines; with a line that goes on it most
   likely does. */
static size_t unlikely(struct str text, const struct open_quote *q)
{
    enum { LIKELY_ONE = 1000 };
    struct str rest = str_trim(str_slice(text, q->at + 1, q->line_end));
    bool goes_on = str_ends(rest, STR("\\"));
    if (goes_on) rest = str_trim(str_slice(rest, 0, rest.n - 1));
    bool begins = q->at == 0 || strchr(" \t\n(=", text.p[q->at - 1]);
    if (!rest.n && is_empty_start(text, q)) return 0;
    if (!rest.n && begins) return SIZE_MAX;
    return goes_on && is_assigned(text, q->at) ? LIKELY_ONE : 0;
}

bool shell_find_open_quote(struct str text, size_t *open, size_t *end)
{
    struct quote_reader first = {.text = text, .closed_at = text.n, .notes = true};
    size_t best = SIZE_MAX;
    read_quotes(&first);
    for (size_t i = 0; i < first.n_candidates && first.open; i++) {
        const struct open_quote *q = &first.candidates[i];
        size_t cost = unlikely(text, q);
        struct quote_reader r = {.text = text, .closed_at = q->line_end};
        if (cost == SIZE_MAX) continue;
        read_quotes(&r);
        if (r.open || cost + r.cost >= best) continue;
        best = cost + r.cost;
        *open = q->at;
        *end = q->line_end;
    }
    return best < SIZE_MAX;
}
