/* SPDX-License-Identifier: Apache-2.0 */
/* CEL's standard functions, and what a rule needs to cope with null and versions. */
#include <math.h>

#include "base/num.h"
#include "base/utf8.h"
#include "base/version.h"
#include "expr/functions.h"
#include "expr/message.h"

FUNCTION(core_size)
{
    (void)n;
    if (args[0].kind == VALUE_LIST) return value_int((int64_t)args[0].list->n);
    if (args[0].kind == VALUE_MAP) return value_int((int64_t)args[0].map->n);
    if (!run_spend(r, args[0].s.n / RUN_BYTES)) return run_exhausted();
    return value_int((int64_t)utf8_count(args[0].s));
}

/* The text does not read as a value of the type. */
static struct value unreadable(struct run *r, struct str text, const char *type)
{
    struct str quote = message_quote(r->scratch, text);
    return run_error(r, "\"%.*s\" is no %s", STR_ARG(quote), type);
}

static struct value out_of_range(const char *type)
{
    return value_error(*type == 'i' ? STR("the number does not fit into an int")
                                    : STR("the number does not fit into a uint"));
}

FUNCTION(core_int)
{
    (void)n;
    if (!run_spend_value(r, args[0])) return run_exhausted();
    struct value v = args[0];
    int64_t i;
    if (v.kind == VALUE_UINT && v.u <= INT64_MAX) return value_int((int64_t)v.u);
    if (v.kind == VALUE_INT) return v;
    if (v.kind == VALUE_STRING)
        return num_parse_int(v.s, &i) ? value_int(i) : unreadable(r, v.s, "int");
    /* both bounds exclusive, as CEL's tests have it */
    if (v.kind == VALUE_DOUBLE && v.d > -9223372036854775808.0 && v.d < 9223372036854775808.0)
        return value_int((int64_t)v.d);
    return out_of_range("int");
}

static bool parse_uint(struct str s, uint64_t *out)
{
    uint64_t u = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(u, 10, &u) ||
            __builtin_add_overflow(u, (unsigned)(s.p[i] - '0'), &u))
            return false;
    }
    *out = u;
    return s.n > 0;
}

FUNCTION(core_uint)
{
    (void)n;
    if (!run_spend_value(r, args[0])) return run_exhausted();
    struct value v = args[0];
    uint64_t u;
    if (v.kind == VALUE_UINT) return v;
    if (v.kind == VALUE_INT && v.i >= 0) return value_uint((uint64_t)v.i);
    if (v.kind == VALUE_STRING)
        return parse_uint(v.s, &u) ? value_uint(u) : unreadable(r, v.s, "uint");
    if (v.kind == VALUE_DOUBLE && v.d > -1 && v.d < 18446744073709551616.0)
        return value_uint((uint64_t)v.d);
    return out_of_range("uint");
}

FUNCTION(core_double)
{
    (void)n;
    if (!run_spend_value(r, args[0])) return run_exhausted();
    struct value v = args[0];
    double d;
    if (v.kind == VALUE_INT) return value_double((double)v.i);
    if (v.kind == VALUE_UINT) return value_double((double)v.u);
    if (v.kind == VALUE_DOUBLE) return v;
    if (str_is(v.s, "NaN")) return value_double(NAN);
    if (str_is(v.s, "Infinity")) return value_double(INFINITY);
    if (str_is(v.s, "-Infinity")) return value_double(-INFINITY);
    return num_parse_double(v.s, &d) ? value_double(d) : unreadable(r, v.s, "double");
}

FUNCTION(core_string)
{
    (void)n;
    if (args[0].kind == VALUE_STRING) return args[0];
    return value_string(value_text(r->scratch, args[0]));
}

FUNCTION(core_bool)
{
    (void)n;
    if (!run_spend_value(r, args[0])) return run_exhausted();
    static const char *const words[][5] = {{"0", "f", "false", "FALSE", "False"},
                                           {"1", "t", "true", "TRUE", "True"}};
    if (args[0].kind == VALUE_BOOL) return args[0];
    for (size_t i = 0; i < 5; i++) {
        if (str_is(args[0].s, words[0][i])) return value_bool(false);
        if (str_is(args[0].s, words[1][i])) return value_bool(true);
    }
    return unreadable(r, args[0].s, "bool");
}

FUNCTION(core_dyn)
{
    (void)r, (void)n;
    return args[0];
}

FUNCTION(core_type_of)
{
    (void)r, (void)n;
    return value_string(str_of(value_kind_name(args[0].kind)));
}

FUNCTION(core_text)
{
    (void)n;
    if (!run_spend_value(r, args[0])) return run_exhausted();
    return value_string(value_text(r->scratch, args[0]));
}

FUNCTION(core_or_value)
{
    (void)r, (void)n;
    return args[args[0].kind == VALUE_NULL];
}

FUNCTION(core_at_least)
{
    (void)r, (void)n;
    return value_bool(version_cmp(args[0].s, args[1].s) >= 0);
}
