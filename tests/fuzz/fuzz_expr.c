/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as an expression, over free variables and over bound names: compiles or says why not,
   and evaluates within its bounds. */
#include <stdlib.h>

#include "base/buf.h"
#include "expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 512 * 1024 * 1024, LOOKUP_SLOT = 1000 };

static bool resolve(void *context, struct str path, struct expr_ref *out)
{
    (void)context;
    *out = (struct expr_ref){LOOKUP_SLOT, EXPR_LOOKUP};
    if (str_is(path, "raw") || str_is(path, "env")) return true;
    uint32_t slot = str_hash(path) % 10;
    *out = (struct expr_ref){slot, slot < 5 ? EXPR_INT : EXPR_DYN};
    return str_starts(path, STR("plan."));
}

/* A value of every kind, by number. */
static struct value make(uint32_t number)
{
    static const struct value items[] = {{.kind = VALUE_INT, .i = 8}, {.kind = VALUE_NULL}};
    static const struct value_list list = {2, items};
    static const struct value key = {.kind = VALUE_STRING, .s = {"ep", 2}};
    static const struct value_map map = {1, &key, items};
    switch (number % 10) {
    case 0: return value_int(INT64_MIN);
    case 1: return value_null();
    case 2: return value_unknown();
    case 3: return value_int(-1);
    case 4: return value_int(256);
    case 5: return value_double(0.5);
    case 6: return value_string(STR("a,b\xc3\xa9"));
    case 7: return value_bool(true);
    case 8: return (struct value){.kind = VALUE_LIST, .list = &list};
    default: return (struct value){.kind = VALUE_MAP, .map = &map};
    }
}

static struct value get(void *context, uint32_t slot)
{
    (void)context;
    return make(slot);
}

static struct value has(void *context, uint32_t slot)
{
    (void)context;
    return value_bool(slot & 1);
}

static struct value index_of(void *context, uint32_t slot, struct str key)
{
    (void)context, (void)slot;
    return key.n ? make((uint32_t)key.n) : value_error(STR("no such key"));
}

static struct value contains(void *context, uint32_t slot, struct str key)
{
    (void)context, (void)slot;
    return value_bool(key.n);
}

static struct value variable(void *context, struct str name)
{
    (void)context;
    return str_find(name, '.') < name.n ? value_error(STR("no such variable"))
                                        : make(str_hash(name));
}

static void require(bool condition)
{
    if (!condition) abort();
}

static void try_text(struct arena *a, struct str text, const struct expr_names *names)
{
    struct expr_scope scope = {
        .get = get, .has = has, .index = index_of, .contains = contains, .variable = variable};
    struct diags diags;
    diags_init(&diags, a);
    struct span at = {1, 1, 1, 1, (uint32_t)text.n + 1};
    const struct expr *e = expr_compile(a, &diags, text, at, names);
    require((e == NULL) == (diags.n > 0));
    if (!e) return;
    struct value once = expr_eval(e, a, &scope), again = expr_eval(e, a, &scope);
    require(once.kind == again.kind);
    struct str lines[4];
    require(expr_trace(e, a, &scope, lines, 4) <= 4);
    struct buf out = buf_new(a);
    expr_write_c(e, &out, "e");
    value_text(a, once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct expr_names names = {.resolve = resolve};
    struct str text = {(const char *)data, size};
    struct arena *a = arena_new(MEMORY);
    if (!a) return 0;
    try_text(a, text, NULL);
    try_text(a, text, &names);
    arena_free(a);
    return 0;
}
