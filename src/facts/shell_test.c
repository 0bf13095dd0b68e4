/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions: [ ... ], test ... and [[ ... ]] over their words. or := and ('||' and)*   and := not
   ('&&' not)* not := '!' not | '(' or ')' | unary word | word operator word | word */
#include "base/glob.h"
#include "base/num.h"
#include "facts/shell_state.h"

struct test {
    struct shell *sh;
    const struct shell_fields *words;
    size_t at;
    int depth;
};

static bool is_word(const struct test *t, const char *text)
{
    return t->at < t->words->n && str_is(shell_str(t->words->items[t->at]), text);
}

static bool take(struct test *t, const char *one, const char *other)
{
    bool here = is_word(t, one) || is_word(t, other);
    t->at += here;
    return here;
}

static enum shell_status status_of(bool yes)
{
    return yes ? SHELL_YES : SHELL_NO;
}

static enum shell_status unary(char op, struct shell_text word)
{
    bool unknown_only = !shell_known(word);
    if (op == 'z') return unknown_only ? SHELL_PERHAPS_YES : status_of(word.n == 0);
    if (op == 'n') return unknown_only ? SHELL_PERHAPS_YES : status_of(word.n > 0);
    return SHELL_PERHAPS_YES; /* files, terminals, variables by name */
}

bool shell_match(struct shell *sh, struct str pattern, struct str text)
{
    size_t most = pattern.n * text.n; /* both at most SHELL_MAX_TEXT */
    shell_charge(sh, most / SHELL_READ_WORK);
    return !sh->failed && text_matches(pattern, text);
}

static enum shell_status compare_numbers(struct test *t, struct str op, struct shell_text a,
                                         struct shell_text b)
{
    static const char *const ops[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    int64_t x = 0, y = 0;
    if (!shell_arith(t->sh, shell_str(a), &x) || !shell_arith(t->sh, shell_str(b), &y))
        return SHELL_PERHAPS_YES;
    const bool results[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
    for (size_t i = 0; i < 6; i++)
        if (str_is(op, ops[i])) return status_of(results[i]);
    return SHELL_PERHAPS_YES;
}

static enum shell_status compare(struct test *t, struct shell_text a, struct str op,
                                 struct shell_text b)
{
    if (str_is_any(op, "=|==|!=|-eq")) shell_note_choice(t->sh, a, b);
    if (!shell_known(a) || !shell_known(b)) return SHELL_PERHAPS_YES;
    if (str_is(op, "=") || str_is(op, "=="))
        return status_of(shell_match(t->sh, shell_str(b), shell_str(a)));
    if (str_is(op, "!=")) return status_of(!shell_match(t->sh, shell_str(b), shell_str(a)));
    if (str_is(op, "<")) return status_of(str_cmp(shell_str(a), shell_str(b)) < 0);
    if (str_is(op, ">")) return status_of(str_cmp(shell_str(a), shell_str(b)) > 0);
    return compare_numbers(t, op, a, b);
}

static bool is_operator(struct str s)
{
    return str_is_any(s, "=|==|!=|<|>|-eq|-ne|-lt|-le|-gt|-ge|=~|-nt|-ot");
}

static enum shell_status any(struct test *t);

static enum shell_status primary(struct test *t)
{
    const struct shell_fields *w = t->words;
    if (t->at >= w->n || ++t->depth > SHELL_MAX_DEPTH) return SHELL_PERHAPS_YES;
    if (take(t, "!", "!")) return shell_not(primary(t));
    if (take(t, "(", "\\(")) {
        enum shell_status s = any(t);
        take(t, ")", "\\)");
        return s;
    }
    struct str first = shell_str(w->items[t->at]);
    if (t->at + 2 < w->n && is_operator(shell_str(w->items[t->at + 1]))) {
        t->at += 3;
        return compare(t, w->items[t->at - 3], shell_str(w->items[t->at - 2]), w->items[t->at - 1]);
    }
    if (first.n == 2 && first.p[0] == '-' && t->at + 1 < w->n) {
        t->at += 2;
        return unary(first.p[1], w->items[t->at - 1]);
    }
    t->at++;
    return unary('n', w->items[t->at - 1]);
}

static enum shell_status all(struct test *t)
{
    enum shell_status s = primary(t);
    while (take(t, "&&", "-a")) {
        enum shell_status next = primary(t);
        s = s == SHELL_NO || next == SHELL_NO ? SHELL_NO : s == SHELL_YES ? next : s;
    }
    return s;
}

static enum shell_status any(struct test *t)
{
    enum shell_status s = all(t);
    while (take(t, "||", "-o")) {
        enum shell_status next = all(t);
        s = s == SHELL_YES || next == SHELL_YES ? SHELL_YES : s == SHELL_NO ? next : s;
    }
    return s;
}

enum shell_status shell_test(struct shell *sh, const struct shell_fields *words)
{
    struct test t = {.sh = sh, .words = words};
    if (words->n == 0) return SHELL_NO;
    enum shell_status s = any(&t);
    return t.at < words->n ? SHELL_PERHAPS_YES : s;
}
