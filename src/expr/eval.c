/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation walks the tree. Errors and unknowns are values: an operation on an unknown is unknown,
   else one on an error is that error; only && || all exists look past them. */
#include <math.h>

#include "base/buf.h"
#include "expr/func.h"
#include "expr/message.h"
#include "expr/run.h"

/* What an operation needs of the stack is not asked of all those that it stands in: run_node, which
   walks the tree, only looks which one it is and goes on there. */
#define APART __attribute__((noinline))

static bool is_plain(struct value v)
{
    return v.kind > VALUE_ERROR;
}

/* Of two operands of which at least one is no plain value. */
static struct value failure(struct value a, struct value b)
{
    if (a.kind == VALUE_UNKNOWN || b.kind == VALUE_UNKNOWN) return value_unknown();
    return a.kind == VALUE_ERROR ? a : b;
}

bool run_spend(struct run *r, size_t steps)
{
    uint32_t left = r->steps < EXPR_MAX_STEPS ? EXPR_MAX_STEPS - r->steps : 0;
    r->steps = steps < left ? r->steps + (uint32_t)steps : EXPR_MAX_STEPS;
    return r->steps < EXPR_MAX_STEPS;
}

struct value run_exhausted(void)
{
    return value_error(STR("the expression takes too many steps"));
}

struct value run_error(struct run *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct value v = value_error(arena_vprintf(r->scratch, format, args));
    va_end(args);
    return v;
}

static struct value no_overload(struct run *r, const struct expr_node *n, struct value a,
                                struct value b)
{
    return value_error(message_operands(r->scratch, r->e->source, r->e->nodes,
                                        (uint32_t)(n - r->e->nodes), a.kind, b.kind));
}

/* What a value costs: scalars in it, itself included, with RUN_BYTES of text for one, counted up to
   `most`. Shared parts count as often as they are reached, because that is what comparing and
   printing cost; a map is compared key by key, each against all. */
static size_t weight(struct value v, size_t most)
{
    struct run_range range;
    size_t sum = 1;
    if (v.kind == VALUE_STRING) return sum + v.s.n / RUN_BYTES;
    if (!run_range_of(v, &range)) return sum;
    for (size_t i = 0; i < range.n && sum < most; i++) {
        sum += weight(range.items[i], most - sum);
        if (range.keys) sum += weight(range.keys[i], most);
    }
    return v.kind == VALUE_MAP ? sum * (1 + range.n / 8) : sum;
}

bool run_spend_value(struct run *r, struct value v)
{
    if (v.kind == VALUE_STRING) return run_spend(r, v.s.n / RUN_BYTES);
    return v.kind < VALUE_STRING || run_spend(r, weight(v, EXPR_MAX_STEPS));
}

/* value_eq, with what rules compare most decided here. */
static bool is_equal(struct value a, struct value b)
{
    if (a.kind == VALUE_INT && b.kind == VALUE_INT) return a.i == b.i;
    if (a.kind == VALUE_STRING && b.kind == VALUE_STRING) return str_eq(a.s, b.s);
    if (a.kind == VALUE_NULL || b.kind == VALUE_NULL) return a.kind == b.kind;
    return value_eq(a, b);
}

bool run_equal(struct run *r, struct value a, struct value b, struct value *out)
{
    bool paid = a.kind != b.kind || a.kind < VALUE_STRING || run_spend_value(r, a);
    *out = paid ? value_bool(is_equal(a, b)) : run_exhausted();
    return paid;
}

/* run_node for an operand, without the call where it is a name, a literal or a variable that has
   its value: most are. */
static inline struct value operand(struct run *r, uint32_t at)
{
    const struct expr_node *n = &r->e->nodes[at];
    switch (n->op) {
    case OP_SLOT: return r->scope->get(r->scope->context, n->a);
    case OP_CONST: return r->e->constants[n->a];
    case OP_LOCAL: return r->locals[n->a];
    case OP_VARIABLE:
        if (r->known >> n->b & 1) return r->variables[n->b];
    }
    return run_node(r, at);
}

/* ---- arithmetic ---- */

static struct value overflow(void)
{
    return value_error(STR("integer overflow"));
}

static struct value int_division(enum expr_op op, int64_t a, int64_t b)
{
    if (b == 0) return value_error(op == OP_DIV ? STR("divide by zero") : STR("modulus by zero"));
    if (b != -1) return value_int(op == OP_DIV ? a / b : a % b);
    if (op == OP_MOD) return value_int(0); /* the machine's division traps on the least integer */
    return a == INT64_MIN ? overflow() : value_int(-a);
}

static struct value int_arithmetic(enum expr_op op, int64_t a, int64_t b)
{
    int64_t result;
    bool over;
    if (op == OP_DIV || op == OP_MOD) return int_division(op, a, b);
    if (op == OP_MUL)
        over = __builtin_mul_overflow(a, b, &result);
    else if (op == OP_ADD)
        over = __builtin_add_overflow(a, b, &result);
    else
        over = __builtin_sub_overflow(a, b, &result);
    return over ? overflow() : value_int(result);
}

static struct value uint_arithmetic(enum expr_op op, uint64_t a, uint64_t b)
{
    uint64_t result = 0;
    bool over = false;
    if ((op == OP_DIV || op == OP_MOD) && b == 0)
        return value_error(op == OP_DIV ? STR("divide by zero") : STR("modulus by zero"));
    if (op == OP_ADD) over = __builtin_add_overflow(a, b, &result);
    if (op == OP_SUB) over = __builtin_sub_overflow(a, b, &result);
    if (op == OP_MUL) over = __builtin_mul_overflow(a, b, &result);
    if (op == OP_DIV) result = a / b;
    if (op == OP_MOD) result = a % b;
    return over ? overflow() : value_uint(result);
}

static double double_arithmetic(enum expr_op op, double a, double b)
{
    if (op == OP_ADD) return a + b;
    if (op == OP_SUB) return a - b;
    return op == OP_MUL ? a * b : a / b;
}

static struct value concat_strings(struct run *r, struct str a, struct str b)
{
    if (!run_spend(r, (a.n + b.n) / RUN_BYTES)) return run_exhausted();
    char *p = arena_alloc(r->scratch, a.n + b.n + 1);
    if (a.n) memcpy(p, a.p, a.n);
    if (b.n) memcpy(p + a.n, b.p, b.n);
    return value_string((struct str){p, a.n + b.n});
}

static struct value concat_lists(struct run *r, struct value a, struct value b)
{
    if (!run_spend_value(r, a) || !run_spend_value(r, b)) return run_exhausted();
    size_t n = a.list->n + b.list->n;
    struct value *items = ARENA_ARRAY(r->scratch, struct value, n);
    if (a.list->n) memcpy(items, a.list->items, a.list->n * sizeof *items);
    if (b.list->n) memcpy(items + a.list->n, b.list->items, b.list->n * sizeof *items);
    return value_list_over(r->scratch, items, n);
}

APART static struct value arithmetic(struct run *r, const struct expr_node *n)
{
    enum expr_op op = (enum expr_op)n->op;
    struct value a = operand(r, n->a), b = operand(r, n->b);
    if (a.kind == VALUE_INT && b.kind == VALUE_INT) return int_arithmetic(op, a.i, b.i);
    if (!is_plain(a) || !is_plain(b)) return failure(a, b);
    if (a.kind != b.kind) return no_overload(r, n, a, b);
    if (a.kind == VALUE_UINT) return uint_arithmetic(op, a.u, b.u);
    if (a.kind == VALUE_DOUBLE && op != OP_MOD)
        return value_double(double_arithmetic(op, a.d, b.d));
    if (a.kind == VALUE_STRING && op == OP_ADD) return concat_strings(r, a.s, b.s);
    if (a.kind == VALUE_LIST && op == OP_ADD) return concat_lists(r, a, b);
    return no_overload(r, n, a, b);
}

static struct value negation(struct run *r, const struct expr_node *n)
{
    struct value a = operand(r, n->a);
    if (a.kind == VALUE_INT) return int_arithmetic(OP_SUB, 0, a.i);
    if (a.kind == VALUE_DOUBLE) return value_double(-a.d);
    return is_plain(a) ? run_error(r, "no such overload: -%s", value_kind_name(a.kind)) : a;
}

/* ---- comparison ---- */

/* Of what takes steps to compare, or is seldom compared. */
APART static struct value equality_of(struct run *r, struct value a, struct value b, bool wanted)
{
    struct value out;
    if (run_equal(r, a, b, &out)) out.b = out.b == wanted;
    return out;
}

APART static struct value equality(struct run *r, const struct expr_node *n)
{
    struct value a = operand(r, n->a), b = operand(r, n->b);
    bool wanted = n->op == OP_EQ, alike = a.kind == b.kind;
    if (a.kind == VALUE_INT && alike) return value_bool((a.i == b.i) == wanted);
    if (!is_plain(a) || !is_plain(b)) return failure(a, b);
    if (a.kind == VALUE_NULL || b.kind == VALUE_NULL) return value_bool(alike == wanted);
    if (a.kind == VALUE_BOOL && alike) return value_bool((a.b == b.b) == wanted);
    return equality_of(r, a, b, wanted);
}

/* -1, 0, 1; 2 when one is NaN; 3 when the two have no order. */
static int order_of(struct value a, struct value b)
{
    if (value_is_number(a) && value_is_number(b)) return value_number_cmp(a, b);
    if (a.kind == VALUE_STRING && b.kind == VALUE_STRING) {
        int order = str_cmp(a.s, b.s);
        return (order > 0) - (order < 0);
    }
    if (a.kind == VALUE_BOOL && b.kind == VALUE_BOOL) return (int)a.b - (int)b.b;
    return 3;
}

APART static struct value comparison(struct run *r, const struct expr_node *n)
{
    struct value a = operand(r, n->a), b = operand(r, n->b);
    bool both_int = a.kind == VALUE_INT && b.kind == VALUE_INT;
    if (!is_plain(a) || !is_plain(b)) return failure(a, b);
    if (a.kind == VALUE_STRING && !run_spend_value(r, a)) return run_exhausted();
    int order = both_int ? (a.i > b.i) - (a.i < b.i) : order_of(a, b);
    if (order == 3) return no_overload(r, n, a, b);
    if (order == 2) return value_bool(false);
    if (n->op == OP_LT) return value_bool(order < 0);
    if (n->op == OP_LE) return value_bool(order <= 0);
    return value_bool(n->op == OP_GT ? order > 0 : order >= 0);
}

/* A text that costs no step to compare: most questions are of a word in a list. */
static bool is_listed(struct str s, const struct run_range *range)
{
    for (size_t i = 0; i < range->n; i++) {
        const struct value *item = &range->items[i];
        if (item->kind == VALUE_STRING && item->s.n == s.n && str_eq(item->s, s)) return true;
    }
    return false;
}

APART static struct value membership(struct run *r, const struct expr_node *n)
{
    struct value a = operand(r, n->a), b = operand(r, n->b), same;
    if (!is_plain(a) || !is_plain(b)) return failure(a, b);
    struct run_range range;
    if (!run_range_of(b, &range)) return no_overload(r, n, a, b);
    if (!run_spend(r, range.n / RUN_ITEMS)) return run_exhausted();
    if (a.kind == VALUE_STRING && a.s.n < RUN_BYTES && !range.keys)
        return value_bool(is_listed(a.s, &range));
    for (size_t i = 0; i < range.n; i++)
        if (!run_equal(r, a, range.keys ? range.keys[i] : range.items[i], &same) || same.b)
            return same;
    return value_bool(false);
}

/* ---- logic ---- */

/* Both operands are needed to know, and neither decides. */
static struct value undecided(struct run *r, const struct expr_node *n, struct value a,
                              struct value b)
{
    if (!is_plain(a) || !is_plain(b)) return failure(a, b);
    return no_overload(r, n, a, b);
}

/* && and ||: the operand `decider` decides alone, whatever the other is. */
APART static struct value logic(struct run *r, const struct expr_node *n, bool decider)
{
    struct value a = operand(r, n->a);
    if (a.kind == VALUE_BOOL && a.b == decider) return a;
    struct value b = operand(r, n->b);
    if (b.kind == VALUE_BOOL && (b.b == decider || a.kind == VALUE_BOOL)) return b;
    return undecided(r, n, a, b);
}

APART static struct value inversion(struct run *r, const struct expr_node *n)
{
    struct value a = operand(r, n->a);
    if (a.kind == VALUE_BOOL) return value_bool(!a.b);
    return is_plain(a) ? run_error(r, "no such overload: !%s", value_kind_name(a.kind)) : a;
}

APART static struct value condition(struct run *r, const struct expr_node *n)
{
    struct value a = operand(r, n->a);
    if (a.kind == VALUE_BOOL) return operand(r, a.b ? n->b : n->c);
    return is_plain(a) ? run_error(r, "no such overload: %s ? :", value_kind_name(a.kind)) : a;
}

/* ---- names, fields, items ---- */

static struct value field_of(struct run *r, struct value map, struct str field)
{
    if (!is_plain(map)) return map;
    if (map.kind != VALUE_MAP)
        return run_error(r, "%s has no field %.*s", value_kind_name(map.kind), STR_ARG(field));
    if (!run_spend(r, map.map->n / RUN_ITEMS)) return run_exhausted();
    const struct value *v = value_map_get(map, field);
    return v ? *v : run_error(r, "no such key: %.*s", STR_ARG(field));
}

static struct value has_field(struct run *r, const struct expr_node *n)
{
    struct value map = run_node(r, n->a);
    struct str field = r->e->constants[n->b].s;
    if (map.kind != VALUE_MAP) return field_of(r, map, field);
    if (!run_spend(r, map.map->n / RUN_ITEMS)) return run_exhausted();
    return value_bool(value_map_get(map, field) != NULL);
}

/* The variable whose name is the longest beginning of a.b.c, and the rest as fields of it. */
static struct value free_variable(struct run *r, struct str path)
{
    for (size_t n = path.n; n > 0; n--) {
        if (n < path.n && path.p[n] != '.') continue;
        struct value v = r->scope->variable(r->scope->context, str_slice(path, 0, n));
        if (v.kind == VALUE_ERROR) continue;
        struct str rest = str_slice(path, n + 1, path.n), field;
        if (n == path.n) return v;
        while (str_split(&rest, '.', &field))
            v = field_of(r, v, field);
        return v;
    }
    return run_error(r, "no such variable: %.*s", STR_ARG(path));
}

APART static struct value lookup(struct run *r, const struct expr_node *n)
{
    struct value key = operand(r, n->b);
    if (!is_plain(key)) return key;
    if (key.kind != VALUE_STRING) return value_error(STR("the key must be a string"));
    if (!run_spend_value(r, key)) return run_exhausted();
    if (n->op == OP_LOOKUP) return r->scope->index(r->scope->context, n->a, key.s);
    return r->scope->contains(r->scope->context, n->a, key.s);
}

/* An item of a list under a number of any kind without a fraction. */
static struct value list_item(struct run *r, const struct value_list *list, struct value index)
{
    if (!value_is_number(index))
        return run_error(r, "the index of a list must be an int, this is %s",
                         value_kind_name(index.kind));
    if (index.kind == VALUE_DOUBLE && floor(index.d) != index.d)
        return value_error(STR("the index of a list must be a whole number"));
    if (value_number_cmp(index, value_int(0)) < 0 ||
        value_number_cmp(index, value_uint(list->n)) >= 0)
        return run_error(r, "index out of range: the list has %zu items", list->n);
    return list->items[index.kind == VALUE_DOUBLE ? (size_t)index.d : (size_t)index.u];
}

static struct value map_item(struct run *r, const struct value_map *map, struct value key)
{
    if (key.kind != VALUE_BOOL && key.kind != VALUE_STRING && !value_is_number(key))
        return run_error(r, "no such overload: map[%s]", value_kind_name(key.kind));
    if (!run_spend_value(r, key) || !run_spend(r, map->n / RUN_ITEMS)) return run_exhausted();
    for (size_t i = 0; i < map->n; i++)
        if (value_eq(map->keys[i], key)) return map->values[i];
    struct str text = message_quote(r->scratch, value_text(r->scratch, key));
    return run_error(r, "no such key: %.*s", STR_ARG(text));
}

static struct value item(struct run *r, const struct expr_node *n)
{
    struct value a = operand(r, n->a), key = operand(r, n->b);
    if (!is_plain(a) || !is_plain(key)) return failure(a, key);
    if (a.kind == VALUE_LIST) return list_item(r, a.list, key);
    if (a.kind == VALUE_MAP) return map_item(r, a.map, key);
    return run_error(r, "%s has no items", value_kind_name(a.kind));
}

/* ---- lists, maps, calls ---- */

/* A new value, once its size is accounted for. */
static struct value affordable(struct run *r, struct value v)
{
    return run_spend_value(r, v) ? v : run_exhausted();
}

/* The values of a node's args; what fails in them, else null. */
static inline struct value all_args(struct run *r, const struct expr_node *n, struct value *out)
{
    struct value failed = value_null();
    for (uint32_t i = 0; i < n->b; i++) {
        out[i] = operand(r, r->e->args[n->a + i]);
        if (!is_plain(out[i])) failed = is_plain(failed) ? out[i] : failure(failed, out[i]);
    }
    return failed;
}

static struct value list_literal(struct run *r, const struct expr_node *n)
{
    struct value *items = ARENA_ARRAY(r->scratch, struct value, n->b),
                 failed = all_args(r, n, items);
    if (!is_plain(failed)) return failed;
    return affordable(r, value_list_over(r->scratch, items, n->b));
}

/* What is wrong with keys[n] as the next key of a map, else null. */
static struct value check_key(struct run *r, const struct value *keys, size_t n)
{
    struct value key = keys[n];
    if (key.kind != VALUE_BOOL && key.kind != VALUE_INT && key.kind != VALUE_UINT &&
        key.kind != VALUE_STRING)
        return run_error(r, "%s cannot be the key of a map", value_kind_name(key.kind));
    if (!run_spend_value(r, key) || !run_spend(r, n / RUN_ITEMS)) return run_exhausted();
    for (size_t i = 0; i < n; i++)
        if (value_eq(keys[i], key)) return value_error(STR("the map has the same key twice"));
    return value_null();
}

static struct value map_literal(struct run *r, const struct expr_node *n)
{
    struct value *keys = ARENA_ARRAY(r->scratch, struct value, n->b), failed = value_null();
    struct value *values = ARENA_ARRAY(r->scratch, struct value, n->b);
    for (uint32_t i = 0; i < n->b; i++) {
        keys[i] = run_node(r, r->e->args[n->a + 2 * i]);
        values[i] = run_node(r, r->e->args[n->a + 2 * i + 1]);
        struct value bad = is_plain(keys[i]) ? check_key(r, keys, i) : keys[i];
        if (is_plain(bad)) bad = values[i];
        if (!is_plain(bad)) failed = is_plain(failed) ? bad : failure(failed, bad);
    }
    if (!is_plain(failed)) return failed;
    return affordable(r, value_map_over(r->scratch, keys, values, n->b));
}

/* A text with places: what is not known has a word, so that the rest can be read. */
static struct value places(struct run *r, const struct expr_node *n)
{
    struct buf out = buf_new(r->scratch);
    for (uint32_t i = 0; i < n->b; i++) {
        struct value v = operand(r, r->e->args[n->a + i]);
        if (v.kind == VALUE_ERROR) return v;
        if (!run_spend_value(r, v)) return run_exhausted();
        buf_add(&out, v.kind == VALUE_STRING ? v.s : value_brief(r->scratch, v));
    }
    return value_string(buf_str(&out));
}

APART static struct value variable(struct run *r, const struct expr_node *n)
{
    uint64_t bit = (uint64_t)1 << n->b;
    if (!(r->known & bit)) r->variables[n->b] = run_node(r, n->a);
    r->known |= bit;
    return r->variables[n->b];
}

static struct value call(struct run *r, const struct expr_node *n)
{
    const struct func *f = &func_table[n->c];
    struct value args[FUNC_MAX_ARGS], failed = all_args(r, n, args);
    if (!is_plain(failed)) return failed;
    for (uint32_t i = 0; i < n->b; i++) {
        const struct expr_node *arg = &r->e->nodes[r->e->args[n->a + i]];
        if (!func_takes(f, i, args[i].kind))
            return value_error(message_argument(
                r->scratch, f, i, str_slice(r->e->source, arg->from, arg->to), args[i].kind));
    }
    return f->call(r, args, n->b);
}

/* ---- macros ---- */

bool run_range_of(struct value v, struct run_range *out)
{
    if (v.kind == VALUE_LIST) *out = (struct run_range){NULL, v.list->items, v.list->n};
    if (v.kind == VALUE_MAP) *out = (struct run_range){v.map->keys, v.map->values, v.map->n};
    return v.kind == VALUE_LIST || v.kind == VALUE_MAP;
}

void run_bind(struct run *r, const struct expr_node *n, const struct run_range *range, size_t i)
{
    struct value key = range->keys ? range->keys[i] : value_int((int64_t)i);
    bool by_key = n->n_locals == 2 || range->keys;
    r->locals[n->local] = by_key ? key : range->items[i];
    if (n->n_locals == 2) r->locals[n->local + 1] = range->items[i];
}

/* A predicate's value, anything but a bool made an error or unknown. */
static struct value predicate(struct run *r, uint32_t at)
{
    struct value v = operand(r, at);
    if (v.kind == VALUE_BOOL || !is_plain(v)) return v;
    return run_error(r, "a predicate must be a bool, this is %s", value_kind_name(v.kind));
}

/* all and exists: one item may decide alone, as in && and ||. */
static struct value quantifier(struct run *r, const struct expr_node *n,
                               const struct run_range *range)
{
    bool decider = n->op == OP_EXISTS;
    struct value result = value_bool(!decider);
    for (size_t i = 0; i < range->n; i++) {
        run_bind(r, n, range, i);
        struct value v = predicate(r, n->b);
        if (v.kind == VALUE_BOOL && v.b == decider) return v;
        if (v.kind != VALUE_BOOL) result = is_plain(result) ? v : failure(result, v);
    }
    return result;
}

static struct value exists_one(struct run *r, const struct expr_node *n,
                               const struct run_range *range)
{
    struct value failed = value_null();
    size_t found = 0;
    for (size_t i = 0; i < range->n; i++) {
        run_bind(r, n, range, i);
        struct value v = predicate(r, n->b);
        if (v.kind != VALUE_BOOL) failed = is_plain(failed) ? v : failure(failed, v);
        found += v.kind == VALUE_BOOL && v.b;
    }
    return is_plain(failed) ? value_bool(found == 1) : failed;
}

/* filter, map, transformList and transformMap: the items that pass, or what is made of them. */
static struct value transform(struct run *r, const struct expr_node *n,
                              const struct run_range *range)
{
    struct value *items = ARENA_ARRAY(r->scratch, struct value, range->n), failed = value_null();
    struct value *keys =
        n->op == OP_MAP_MAP ? ARENA_ARRAY(r->scratch, struct value, range->n) : NULL;
    size_t kept = 0;
    for (size_t i = 0; i < range->n; i++) {
        run_bind(r, n, range, i);
        struct value pass = n->b ? predicate(r, n->b) : value_bool(true);
        struct value v = pass;
        if (pass.kind == VALUE_BOOL && pass.b) v = n->c ? operand(r, n->c) : r->locals[n->local];
        if (!is_plain(v)) failed = is_plain(failed) ? v : failure(failed, v);
        if (pass.kind != VALUE_BOOL || !pass.b) continue;
        if (keys) keys[kept] = r->locals[n->local];
        items[kept++] = v;
    }
    if (!is_plain(failed)) return failed;
    if (keys) return affordable(r, value_map_over(r->scratch, keys, items, kept));
    return affordable(r, value_list_over(r->scratch, items, kept));
}

static struct value macro(struct run *r, const struct expr_node *n)
{
    struct run_range range;
    struct value v = operand(r, n->a);
    if (!is_plain(v)) return v;
    if (!run_range_of(v, &range))
        return run_error(r, "a list or a map is needed, this is %s", value_kind_name(v.kind));
    if (!run_spend(r, range.n)) return run_exhausted();
    /* a variable's macros number their own from 0 too, whatever macros it is used within */
    uint32_t first = n->local, last = first + n->n_locals - 1;
    struct value outer = r->locals[first], outer_last = r->locals[last];
    bool any_or_all = n->op == OP_ALL || n->op == OP_EXISTS;
    v = any_or_all               ? quantifier(r, n, &range)
        : n->op == OP_EXISTS_ONE ? exists_one(r, n, &range)
                                 : transform(r, n, &range);
    r->locals[first] = outer;
    r->locals[last] = outer_last;
    return v;
}

/* What few expressions have: apart from what all have, which then needs less of the stack. */
APART static struct value run_rare(struct run *r, const struct expr_node *n)
{
    switch ((enum expr_op)n->op) {
    case OP_FREE: return free_variable(r, r->e->constants[n->a].s);
    case OP_SELECT: return field_of(r, run_node(r, n->a), r->e->constants[n->b].s);
    case OP_HAS: return has_field(r, n);
    case OP_INDEX: return item(r, n);
    case OP_NEG: return negation(r, n);
    case OP_TEXT: return places(r, n);
    case OP_LIST: return list_literal(r, n);
    case OP_MAP: return map_literal(r, n);
    case OP_CALL: return call(r, n);
    case OP_ALL:
    case OP_EXISTS:
    case OP_EXISTS_ONE:
    case OP_FILTER:
    case OP_MAP_LIST:
    case OP_MAP_MAP: return macro(r, n);
    default: return value_error(STR("not an expression")); /* OP_IDENT: every name was bound */
    }
}

struct value run_node(struct run *r, uint32_t at)
{
    const struct expr_node *n = &r->e->nodes[at];
    if (r->steps >= EXPR_MAX_STEPS) return run_exhausted();
    r->steps++;
    switch ((enum expr_op)n->op) {
    case OP_CONST:
    case OP_ERROR: return r->e->constants[n->a];
    case OP_SLOT: return r->scope->get(r->scope->context, n->a);
    case OP_SLOT_HAS: return r->scope->has(r->scope->context, n->a);
    case OP_LOOKUP:
    case OP_LOOKUP_HAS: return lookup(r, n);
    case OP_LOCAL: return r->locals[n->a];
    case OP_VARIABLE: return variable(r, n);
    case OP_NOT: return inversion(r, n);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_MOD: return arithmetic(r, n);
    case OP_EQ:
    case OP_NE: return equality(r, n);
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE: return comparison(r, n);
    case OP_IN: return membership(r, n);
    case OP_AND: return logic(r, n, false);
    case OP_OR: return logic(r, n, true);
    case OP_COND: return condition(r, n);
    default: return run_rare(r, n);
    }
}

void run_init(struct run *r, const struct expr *e, struct arena *scratch,
              const struct expr_scope *scope)
{
    r->e = e;
    r->scope = scope;
    r->scratch = scratch;
    r->steps = 0;
    r->known = 0;
}

struct value expr_eval(const struct expr *e, struct arena *scratch, const struct expr_scope *scope)
{
    struct run r;
    guard_tick(arena_guard(scratch));
    run_init(&r, e, scratch, scope);
    return run_node(&r, e->root);
}
