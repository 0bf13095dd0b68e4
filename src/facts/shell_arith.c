/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of the shell: integers, variables by name, C's operators by their precedence;
 * assignments where they stand alone. */
#include "base/num.h"
#include "facts/shell_state.h"

struct arith {
    struct shell *sh;
    struct str text;
    size_t at;
    int depth;
    bool unknown;
};

static int64_t give_up(struct arith *x)
{
    x->unknown = true;
    return 0;
}

static void blanks(struct arith *x)
{
    while (x->at < x->text.n && shell_is_blank(x->text.p[x->at]))
        x->at++;
}

static bool take(struct arith *x, const char *op)
{
    blanks(x);
    struct str rest = str_slice(x->text, x->at, x->text.n), word = str_of(op);
    if (!str_starts(rest, word)) return false;
    x->at += word.n;
    return true;
}

static int64_t parse(struct arith *x, int level);

static int64_t number_or_name(struct arith *x)
{
    size_t from = x->at;
    int64_t i = 0;
    bool unset = false;
    while (x->at < x->text.n && shell_is_name(x->text.p[x->at]))
        x->at++;
    struct str word = str_slice(x->text, from, x->at);
    if (word.n == 0) return give_up(x);
    if (shell_is_digit(word.p[0]))
        return num_parse_int(word, &i) && (word.n == 1 || word.p[0] != '0') ? i : give_up(x);
    struct shell_text value = shell_var_get(x->sh, word, 0, &unset);
    if (!shell_known(value)) return give_up(x);
    return value.n == 0 ? 0 : num_parse_int(str_trim(shell_str(value)), &i) ? i : give_up(x);
}

static int64_t unary(struct arith *x)
{
    int64_t i = 0;
    if (x->unknown || ++x->depth > SHELL_MAX_DEPTH) return give_up(x);
    blanks(x);
    if (take(x, "(")) {
        i = parse(x, 0);
        if (!take(x, ")")) give_up(x);
    } else if (take(x, "-")) {
        i = unary(x);
        i = i == INT64_MIN ? give_up(x) : -i;
    } else if (take(x, "+")) {
        i = unary(x);
    } else if (take(x, "!")) {
        i = !unary(x);
    } else {
        i = number_or_name(x);
    }
    x->depth--;
    return i;
}

static int64_t power(struct arith *x, int64_t base, int64_t exponent)
{
    int64_t result = 1;
    if (exponent < 0 || exponent > 64) return give_up(x);
    while (exponent-- > 0)
        if (__builtin_mul_overflow(result, base, &result)) return give_up(x);
    return result;
}

/* Powers are the strongest, and of several the last one comes first. */
static int64_t powers(struct arith *x)
{
    int64_t base = unary(x);
    if (x->unknown || !take(x, "**")) return base;
    if (++x->depth > SHELL_MAX_DEPTH) return give_up(x);
    int64_t exponent = powers(x);
    x->depth--;
    return power(x, base, exponent);
}

static int64_t apply(struct arith *x, const char *op, int64_t a, int64_t b)
{
    int64_t r = 0;
    bool pair = op[1] != 0;
    switch (op[0]) {
    case '+': return __builtin_add_overflow(a, b, &r) ? give_up(x) : r;
    case '-': return __builtin_sub_overflow(a, b, &r) ? give_up(x) : r;
    case '*': return __builtin_mul_overflow(a, b, &r) ? give_up(x) : r;
    case '/': return b == 0 || (a == INT64_MIN && b == -1) ? give_up(x) : a / b;
    case '%': return b == 0 || (a == INT64_MIN && b == -1) ? give_up(x) : a % b;
    case '<': return pair ? a <= b : a < b;
    case '>': return pair ? a >= b : a > b;
    case '=': return a == b;
    case '!': return a != b;
    case '&': return a && b;
    case '|': return a || b;
    }
    return give_up(x);
}

/* Operators from the weakest to the strongest; a longer one before its own beginning. */
static const char *const levels[][5] = {
    {"||", NULL},     {"&&", NULL},          {"==", "!=", NULL}, {"<=", ">=", "<", ">", NULL},
    {"+", "-", NULL}, {"*", "/", "%", NULL},
};
enum { LEVELS = sizeof levels / sizeof *levels };

static int64_t parse(struct arith *x, int level)
{
    if (level == LEVELS) return powers(x);
    int64_t left = parse(x, level + 1);
    while (!x->unknown) {
        int k = 0;
        while (levels[level][k] && !take(x, levels[level][k]))
            k++;
        if (!levels[level][k]) break;
        left = apply(x, levels[level][k], left, parse(x, level + 1));
    }
    if (level == 0 && take(x, "?")) {
        if (++x->depth > SHELL_MAX_DEPTH) return give_up(x);
        int64_t yes = parse(x, 0), no = take(x, ":") ? parse(x, 0) : give_up(x);
        left = left ? yes : no;
    }
    return left;
}

bool shell_arith(struct shell *sh, struct str text, int64_t *out)
{
    struct arith x = {.sh = sh, .text = text};
    if (!shell_known((struct shell_text){text.p, NULL, text.n})) return false;
    *out = parse(&x, 0);
    blanks(&x);
    return !x.unknown && x.at == text.n;
}

bool shell_arith_is_wrong(struct str text)
{
    struct str s = str_trim(text);
    return s.n > 0 && strchr("/*%<>=&|", s.p[0]) != NULL;
}

/* ---- assignments ---- */

static bool is_step(struct str s)
{
    return str_is_any(s, "++|--");
}

/* What follows the operator of "= 2", "+= 2"; the operator itself, '=' where there is no other. 0:
   it is no assignment. */
static char assigned(struct str rest, struct str *value)
{
    size_t n = rest.n > 1 && strchr("+-*/%", rest.p[0]) ? 1 : 0;
    bool equals = rest.n > n && rest.p[n] == '=' && (rest.n == n + 1 || rest.p[n + 1] != '=');
    if (!equals) return 0;
    *value = str_slice(rest, n + 1, rest.n);
    return n ? rest.p[0] : '=';
}

/* NAME++, --NAME, NAME=…, NAME+=…: the variable's new value, or that nobody knows it. */
static void assign(struct shell *sh, struct str text, uint32_t at)
{
    struct str s = str_trim(text), value = {"", 0}, step = str_slice(s, 0, 2);
    bool before = is_step(step);
    if (before) s = str_trim(str_slice(s, 2, s.n));
    size_t n = 0;
    while (n < s.n && shell_is_name(s.p[n]))
        n++;
    struct str name = str_slice(s, 0, n), rest = str_trim(str_slice(s, n, s.n));
    if (n == 0 || shell_is_digit(name.p[0])) return;
    if (!before && is_step(rest)) step = rest;
    bool steps = before ? rest.n == 0 : is_step(rest);
    char op = steps ? step.p[0] : assigned(rest, &value);
    if (!op) return;
    struct str sum =
        steps       ? arena_printf(sh->arena, "%.*s %c 1", STR_ARG(name), op)
        : op == '=' ? value
                    : arena_printf(sh->arena, "%.*s %c (%.*s)", STR_ARG(name), op, STR_ARG(value));
    int64_t i;
    bool known = shell_arith(sh, sum, &i);
    struct str now = known ? arena_printf(sh->arena, "%lld", (long long)i) : SHELL_UNKNOWN_TEXT;
    shell_var_set_text(sh, name, shell_text_at(sh->arena, now, at));
}

void shell_arith_assign(struct shell *sh, struct str text, uint32_t at)
{
    struct str part;
    while (str_split(&text, ',', &part))
        assign(sh, part, at);
}
