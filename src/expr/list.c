/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of lists. */
#include <math.h>

#include "base/buf.h"
#include "expr/functions.h"

static struct value not_numbers(struct run *r, const char *function, struct value item)
{
    return run_error(r, "no such overload: %s() takes a list of numbers, it has %s", function,
                     value_kind_name(item.kind));
}

FUNCTION(list_nearest)
{
    (void)n;
    const struct value_list *list = args[1].list;
    if (!list->n) return value_error(STR("nearest() of an empty list"));
    if (!run_spend(r, list->n / RUN_ITEMS)) return run_exhausted();
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < list->n; i++) {
        if (!value_is_number(list->items[i])) return not_numbers(r, "nearest", list->items[i]);
        double distance = fabs(value_number(list->items[i]) - value_number(args[0]));
        if (distance < least) {
            least = distance;
            best = i;
        }
    }
    return list->items[best];
}

/* One more item onto a sum of the same kind of number. */
static bool add_item(struct value *sum, struct value item)
{
    if (sum->kind == VALUE_INT) return !__builtin_add_overflow(sum->i, item.i, &sum->i);
    if (sum->kind == VALUE_UINT) return !__builtin_add_overflow(sum->u, item.u, &sum->u);
    sum->d += item.d;
    return true;
}

FUNCTION(list_sum)
{
    (void)n;
    const struct value_list *list = args[0].list;
    if (!list->n) return value_int(0);
    if (!run_spend(r, list->n / RUN_ITEMS)) return run_exhausted();
    struct value sum = list->items[0];
    if (!value_is_number(sum)) return not_numbers(r, "sum", sum);
    for (size_t i = 1; i < list->n; i++) {
        if (list->items[i].kind != sum.kind) return not_numbers(r, "sum", list->items[i]);
        if (!add_item(&sum, list->items[i])) return value_error(STR("integer overflow"));
    }
    return sum;
}

FUNCTION(list_min)
{
    return math_least(r, args, n);
}

FUNCTION(list_max)
{
    return math_greatest(r, args, n);
}

FUNCTION(list_join)
{
    const struct value_list *list = args[0].list;
    struct buf out = buf_new(r->scratch);
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].kind != VALUE_STRING)
            return run_error(r, "no such overload: join() takes a list of texts, it has %s",
                             value_kind_name(list->items[i].kind));
        if (i && n == 2) buf_add(&out, args[1].s);
        buf_add(&out, list->items[i].s);
        if (!run_spend(r, 1 + (list->items[i].s.n + args[n - 1].s.n) / RUN_BYTES))
            return run_exhausted();
    }
    return value_string(buf_str(&out));
}

FUNCTION(list_count)
{
    (void)n;
    const struct value_list *list = args[0].list;
    struct value same;
    int64_t count = 0;
    if (!run_spend(r, list->n / RUN_ITEMS)) return run_exhausted();
    for (size_t i = 0; i < list->n; i++) {
        if (!run_equal(r, args[1], list->items[i], &same)) return same;
        count += same.b;
    }
    return value_int(count);
}

FUNCTION(list_distinct)
{
    (void)n;
    const struct value_list *list = args[0].list;
    struct value *kept = ARENA_ARRAY(r->scratch, struct value, list->n), same;
    size_t n_kept = 0;
    for (size_t i = 0; i < list->n; i++) {
        size_t k = 0;
        for (; k < n_kept; k++) {
            if (!run_equal(r, kept[k], list->items[i], &same)) return same;
            if (same.b) break;
        }
        if (!run_spend(r, 1 + n_kept / RUN_ITEMS)) return run_exhausted();
        if (k == n_kept) kept[n_kept++] = list->items[i];
    }
    return value_list_of(r->scratch, kept, n_kept);
}

FUNCTION(list_range)
{
    (void)n;
    if (args[0].i < 0) return value_error(STR("range() takes no negative number"));
    if (!run_spend(r, (size_t)args[0].i)) return run_exhausted();
    struct value *items = ARENA_ARRAY(r->scratch, struct value, (size_t)args[0].i);
    for (int64_t i = 0; i < args[0].i; i++)
        items[i] = value_int(i);
    return value_list_of(r->scratch, items, (size_t)args[0].i);
}
