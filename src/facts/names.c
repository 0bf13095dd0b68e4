/* SPDX-License-Identifier: Apache-2.0 */
/* Facts as the names of the expression language: plan.x, model.x, platform.x, env, raw, framework,
   version. */
#include "base/edit.h"
#include "expr/expr.h"
#include "facts/facts.h"
#include "facts/param_ids.h"

/* Slots: a parameter's number, or one of these above them. */
enum { SLOT_ENV, SLOT_RAW, SLOT_FRAMEWORK, SLOT_VERSION, SLOT_COUNT };

static const struct {
    const char *name;
    enum expr_type type;
} others[SLOT_COUNT] = {
    [SLOT_ENV] = {"env", EXPR_LOOKUP},
    [SLOT_RAW] = {"raw", EXPR_LOOKUP},
    [SLOT_FRAMEWORK] = {"framework", EXPR_STRING},
    [SLOT_VERSION] = {"version", EXPR_STRING},
};

static const struct str roots[] = {{"plan.", 5}, {"model.", 6}, {"platform.", 9}};

static enum expr_type type_of(enum param_type type)
{
    switch (type) {
    case PARAM_BOOL: return EXPR_BOOL;
    case PARAM_INT: return EXPR_INT;
    case PARAM_DOUBLE: return EXPR_DOUBLE;
    case PARAM_STRING: return EXPR_STRING;
    case PARAM_LIST:
    case PARAM_TUPLE: return EXPR_LIST;
    case PARAM_MAP: return EXPR_MAP;
    case PARAM_ANY:
    case PARAM_PATTERN: return EXPR_DYN;
    }
    return EXPR_DYN;
}

/* The parameter of "plan.ep", "model.is_moe" or "platform.name"; -1: none. The whole path may
   itself be an alias. */
static int param_of(struct str path)
{
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        if (!str_starts(path, roots[i])) continue;
        int param = param_find(str_slice(path, roots[i].n, path.n));
        return param >= 0 ? param : param_find(path);
    }
    return -1;
}

static bool resolve(void *context, struct str path, struct expr_ref *out)
{
    (void)context;
    for (uint32_t i = 0; i < SLOT_COUNT; i++) {
        if (!str_is(path, others[i].name)) continue;
        *out = (struct expr_ref){param_count + i, others[i].type};
        return true;
    }
    int param = param_of(path);
    if (param < 0) return false;
    *out = (struct expr_ref){(uint32_t)param, type_of(param_table[param].type)};
    return true;
}

/* The root under which a parameter is best written. */
static struct str root_of(int param)
{
    enum param_scope scope = param_table[param].scope;
    if (scope == SCOPE_MODEL) return roots[1];
    bool of_plan = scope != SCOPE_PLATFORM || param == P_world_size;
    return of_plan ? roots[0] : roots[2];
}

/* Of a bare name the parameter's own, so that cp becomes plan.cp; of plan.tpp plan.tp. */
static struct str nearest(void *context, struct arena *a, struct str path)
{
    (void)context;
    size_t dot = str_find(path, '.'), root = 0;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (str_starts(path, roots[i])) root = roots[i].n;
    struct str word = str_slice(path, root ? root : dot < path.n ? dot + 1 : 0, path.n);
    struct str near = param_find(word) >= 0 ? word : param_nearest(word);
    struct edit_nearest other = {.word = path};
    for (uint32_t i = 0; i < SLOT_COUNT && dot == path.n; i++)
        edit_offer(&other, str_of(others[i].name));
    bool bare = dot == path.n && param_find(word) < 0;
    if (bare && other.best.n) return other.best;
    if (!near.n) return near;
    struct str head = root ? str_slice(path, 0, root) : root_of(param_find(near));
    return arena_printf(a, "%.*s%.*s", STR_ARG(head), STR_ARG(near));
}

const struct expr_names facts_names = {.resolve = resolve, .nearest = nearest};

static struct value get(void *context, uint32_t slot)
{
    const struct facts *f = context;
    if (slot < param_count) return facts_get(f, (int)slot)->value;
    if (slot == param_count + SLOT_FRAMEWORK)
        return value_string(str_of(framework_name(f->framework)));
    return slot == param_count + SLOT_VERSION ? value_string(f->version) : value_unknown();
}

static struct value has(void *context, uint32_t slot)
{
    const struct facts *f = context;
    if (slot >= param_count) return value_bool(true);
    const struct fact *x = facts_get(f, (int)slot);
    bool overridden = x->origin == ORIGIN_OVERRIDE && x->node;
    if (x->origin == ORIGIN_UNKNOWN && f->open) return value_unknown();
    return value_bool(fact_is_set(x) || overridden);
}

static struct value look_up(void *context, uint32_t slot, struct str key)
{
    const struct facts *f = context;
    return slot == param_count + SLOT_ENV ? facts_env(f, key) : facts_raw(f, key);
}

static struct value contains(void *context, uint32_t slot, struct str key)
{
    const struct facts *f = context;
    if (slot == param_count + SLOT_RAW) return value_bool(facts_has_raw(f, key));
    struct value v = facts_env(f, key);
    return v.kind == VALUE_UNKNOWN ? v : value_bool(v.kind == VALUE_STRING);
}

struct expr_scope facts_scope(const struct facts *f)
{
    /* The callbacks only read; the context is not const because other scopes may write. */
    union {
        const struct facts *in;
        void *out;
    } context = {.in = f};
    return (struct expr_scope){
        .context = context.out, .get = get, .has = has, .index = look_up, .contains = contains};
}
