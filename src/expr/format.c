/* SPDX-License-Identifier: Apache-2.0 */
/* "ep %d does not divide %d".format([plan.ep, plan.num_moe_experts]) */
#include <math.h>

#include "base/buf.h"
#include "expr/functions.h"

enum { MOST_DIGITS = 60, DEFAULT_DIGITS = 6 };

/* One conversion: %s, %d, %.3f ... */
struct clause {
    char letter;
    int digits; /* behind the point */
};

static struct value bad_kind(struct run *r, char letter, struct value v)
{
    return run_error(r, "no such overload: %%%c of %s", letter, value_kind_name(v.kind));
}

/* Numbers that have no digits; true when it was one. */
static bool add_special(struct buf *out, struct value v)
{
    if (v.kind != VALUE_DOUBLE || isfinite(v.d)) return false;
    buf_add(out, isnan(v.d) ? STR("NaN") : v.d > 0 ? STR("Infinity") : STR("-Infinity"));
    return true;
}

/* An integer in a base, the sign in front. */
static void add_integer(struct buf *out, struct value v, unsigned base, char ten)
{
    bool negative = v.kind == VALUE_INT && v.i < 0;
    uint64_t left = negative ? 0 - (uint64_t)v.i : v.kind == VALUE_BOOL ? v.b : v.u;
    char text[66];
    size_t at = sizeof text;
    do {
        unsigned digit = (unsigned)(left % base);
        text[--at] = (char)(digit < 10 ? '0' + digit : (unsigned)(ten + (char)(digit - 10)));
        left /= base;
    } while (left);
    if (negative) text[--at] = '-';
    buf_add(out, (struct str){text + at, sizeof text - at});
}

static void add_hex(struct buf *out, struct str s, char ten)
{
    for (size_t i = 0; i < s.n; i++)
        buf_printf(out, ten == 'a' ? "%02x" : "%02X", (unsigned char)s.p[i]);
}

/* %d %x %X %o %b: integers, for %b also bools, for %x also texts byte by byte. */
static bool add_digits(struct buf *out, char letter, struct value v)
{
    char ten = letter == 'X' ? 'A' : 'a';
    bool hex = letter == 'x' || letter == 'X';
    if (v.kind == VALUE_STRING && hex) {
        add_hex(out, v.s, ten);
        return true;
    }
    if (v.kind != VALUE_INT && v.kind != VALUE_UINT && !(v.kind == VALUE_BOOL && letter == 'b'))
        return false;
    add_integer(out, v, hex ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10, ten);
    return true;
}

/* %f %e */
static bool add_fraction(struct buf *out, struct clause clause, struct value v)
{
    if (!value_is_number(v)) return false;
    buf_printf(out, clause.letter == 'f' ? "%.*f" : "%.*e", clause.digits, value_number(v));
    return true;
}

static bool add_item(struct run *r, struct buf *out, struct clause clause, struct value v,
                     struct value *failed)
{
    bool fraction = clause.letter == 'f' || clause.letter == 'e';
    bool added = true;
    if (clause.letter == 's' && !add_special(out, v))
        buf_add(out, value_text(r->scratch, v));
    else if (fraction)
        added = add_special(out, v) || add_fraction(out, clause, v);
    else if (clause.letter != 's')
        added = (clause.letter == 'd' && add_special(out, v)) || add_digits(out, clause.letter, v);
    if (!added) *failed = bad_kind(r, clause.letter, v);
    return added;
}

/* The conversion behind a percent sign at the beginning of *rest, which moves behind it. */
static bool take_clause(struct str *rest, struct clause *out)
{
    size_t at = 1;
    *out = (struct clause){.digits = DEFAULT_DIGITS};
    bool precise = at < rest->n && rest->p[at] == '.';
    if (precise) {
        out->digits = 0;
        for (at++; at < rest->n && rest->p[at] >= '0' && rest->p[at] <= '9'; at++)
            out->digits = out->digits * 10 + (rest->p[at] - '0') > MOST_DIGITS
                              ? MOST_DIGITS
                              : out->digits * 10 + (rest->p[at] - '0');
    }
    if (at >= rest->n || rest->p[at] == '\0' || !strchr(precise ? "fe" : "sdfexXob%", rest->p[at]))
        return false;
    out->letter = rest->p[at];
    *rest = str_slice(*rest, at + 1, rest->n);
    return true;
}

FUNCTION(format_text)
{
    (void)n;
    struct str rest = args[0].s;
    struct buf out = buf_new(r->scratch);
    struct value failed = value_null();
    size_t used = 0;
    if (!run_spend_value(r, args[1])) return run_exhausted();
    for (;;) {
        size_t at = str_find(rest, '%');
        struct clause clause;
        buf_add(&out, str_slice(rest, 0, at));
        rest = str_slice(rest, at, rest.n);
        if (!rest.n) break;
        if (!take_clause(&rest, &clause)) return value_error(STR("format() has an unknown clause"));
        if (!run_spend(r, 1 + out.n / RUN_BYTES)) return run_exhausted();
        if (clause.letter == '%') {
            buf_add_char(&out, '%');
            continue;
        }
        if (used == args[1].list->n) return value_error(STR("format() has too few arguments"));
        if (!add_item(r, &out, clause, args[1].list->items[used++], &failed)) return failed;
    }
    return value_string(buf_str(&out));
}
