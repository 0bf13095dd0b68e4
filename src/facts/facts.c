/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/facts.h"

#include <assert.h>
#include <math.h>

#include "base/num.h"
#include "facts/param_ids.h"
#include "facts/param_index.h"
#include "facts/pattern.h"
#include "facts/profile.h"

static const struct fact nobody_says = {.value = {.kind = VALUE_UNKNOWN}, .origin = ORIGIN_UNKNOWN};

enum { BITS = 64 };

static size_t changed_words(void)
{
    return (param_count + BITS - 1) / BITS;
}

const struct fact *facts_get(const struct facts *f, int param)
{
    assert(param >= 0 && (uint32_t)param < param_count);
    return facts_is_own(f, param) ? &f->own[param] : &f->defaults[param];
}

int facts_next(const struct facts *f, int param)
{
    size_t at = (size_t)param / BITS, end = changed_words();
    uint64_t left = at < end ? f->changed[at] >> (param % BITS) << (param % BITS) : 0;
    while (!left && ++at < end)
        left = f->changed[at];
    return left ? (int)at * BITS + __builtin_ctzll(left) : (int)param_count;
}

int facts_next_known(const struct facts *f, int param)
{
    for (size_t at = (size_t)param / BITS, skip = (size_t)param % BITS; at < changed_words();
         at++, skip = 0)
        for (uint64_t left = f->changed[at] >> skip << skip; left; left &= left - 1) {
            int next = (int)at * BITS + __builtin_ctzll(left);
            if (fact_is_known(&f->own[next])) return next;
        }
    return (int)param_count;
}

struct fact *facts_change(struct facts *f, int param)
{
    assert(param >= 0 && (uint32_t)param < param_count);
    uint64_t *word = &f->changed[param / BITS], bit = (uint64_t)1 << (param % BITS);
    if (!(*word & bit)) f->own[param] = f->defaults[param];
    *word |= bit;
    return &f->own[param];
}

void facts_forget(struct facts *f, int param)
{
    *facts_change(f, param) = nobody_says;
}

/* What a release has otherwise than the newest one, whose defaults the table has. */
static void apply_release(struct facts *f)
{
    for (uint32_t i = 0; i < f->profile->n_defaults; i++) {
        const struct profile_default *d = &f->profile->defaults[i];
        facts_change(f, d->param)->value = d->value;
    }
    const struct {
        int param;
        struct str version;
    } pins[] = {{P_transformer_engine_version, f->profile->transformer_engine},
                {P_torch_version, f->profile->torch}};
    for (size_t i = 0; i < sizeof pins / sizeof *pins; i++)
        if (pins[i].version.n)
            *facts_change(f, pins[i].param) = (struct fact){.value = value_string(pins[i].version),
                                                            .origin = ORIGIN_RELEASE,
                                                            .written = f->version};
}

struct facts *facts_new(struct arena *a, struct diags *diags, enum framework framework,
                        struct str version)
{
    struct facts *f = ARENA_NEW(a, struct facts);
    f->arena = a;
    f->diags = diags;
    f->framework = framework;
    f->version = version;
    f->profile = profile_find(framework, version);
    f->releases = facts_release(f);
    f->defaults = param_defaults[framework];
    f->own = arena_room(a, param_count * sizeof *f->own);
    f->changed = ARENA_ARRAY(a, uint64_t, changed_words());
    if (f->profile) apply_release(f);
    return f;
}

void facts_forget_pins(struct facts *f)
{
    for (int i = facts_next(f, 0); i < (int)param_count; i = facts_next(f, i + 1))
        if (f->own[i].origin == ORIGIN_RELEASE) f->own[i] = f->defaults[i];
}

uint32_t facts_release(const struct facts *f)
{
    return f->profile ? f->profile->bit : RELEASES_ALL;
}

struct value facts_default(const struct facts *f, int param)
{
    return f->profile ? profile_default_of(f->profile, param)
                      : param_table[param].in[f->framework]->default_value;
}

bool facts_can_say(const struct facts *f, int param)
{
    const struct param_spelling *s = param_table[param].in[f->framework];
    bool flag = s->n_flags == 0;
    for (size_t i = 0; i < s->n_flags; i++)
        flag = flag || (!s->flags[i].program.n && s->flags[i].releases & facts_release(f));
    return !s->known || (flag && (s->n_flags || s->releases & facts_release(f)));
}

const struct str *facts_choices(const struct facts *f, int param, size_t *n)
{
    const struct param_spelling *s = param_table[param].in[f->framework];
    if (f->profile) return profile_choices_of(f->profile, param, n);
    *n = s->n_choices;
    return s->choices;
}

bool facts_flag_is_deprecated(const struct facts *f, const struct param_spelling *s,
                              const struct param_flag *flag)
{
    uint32_t release = facts_release(f), newest = 1;
    return flag->deprecated.n && (release & newest || param_flag_in(s, release));
}

struct facts *facts_new_plan(struct arena *a, struct diags *diags, enum framework framework,
                             struct str version)
{
    struct facts *f = facts_new(a, diags, framework, version);
    f->format = STR("plan");
    for (int i = 0; i < (int)param_count; i++)
        if (param_table[i].scope == SCOPE_MODEL) facts_forget(f, i);
    facts_forget(f, P_micro_batch_size); /* has no default anywhere */
    return f;
}

struct facts *facts_copy(struct arena *a, const struct facts *f)
{
    struct facts *copy = ARENA_NEW(a, struct facts);
    *copy = *f;
    copy->arena = a;
    copy->own = arena_room(a, param_count * sizeof *copy->own);
    copy->changed = arena_dup(a, f->changed, changed_words() * sizeof *copy->changed);
    for (int i = facts_next(f, 0); i < (int)param_count; i = facts_next(f, i + 1))
        copy->own[i] = f->own[i];
    return copy;
}

/* ---- values in the parameter's own form ---- */

/* PyTorch's names of number formats, the one that it shows first. */
static const struct {
    const char *name, *word;
    int bytes;
} dtypes[] = {
    {"bfloat16", "bf16", 2}, {"float16", "fp16", 2}, {"half", "fp16", 2},
    {"float32", "fp32", 4},  {"float", "fp32", 4},   {"uint8", "fp8", 1},
};

int fact_dtype_bytes(struct str word)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (str_is(word, dtypes[i].name) || str_is(word, dtypes[i].word)) return dtypes[i].bytes;
    return 0;
}

struct str fact_dtype(struct arena *a, struct str word)
{
    if (str_is(word, "fp8")) return word; /* bytes: no name tells them from others */
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (str_is(word, dtypes[i].word)) return arena_printf(a, "torch.%s", dtypes[i].name);
    return word;
}

/* PyTorch's name of a number format as the short word, where the parameter has that word. */
static struct value coerce_dtype(const struct param *p, struct value v)
{
    struct str s = v.s;
    if (str_among(s, p->choices, p->n_choices)) return v;
    if (str_starts(s, STR("torch."))) s = str_slice(s, 6, s.n);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (str_is(s, dtypes[i].name) &&
            str_among(str_of(dtypes[i].word), p->choices, p->n_choices))
            return value_string(str_of(dtypes[i].word));
    return v;
}

static struct value coerce_tuple(struct arena *a, struct value v)
{
    struct value list;
    if (v.kind == VALUE_STRING && pattern_parse_tuple(a, v.s, &list)) return list;
    if (v.kind != VALUE_INT) return v;
    struct value items[] = {v, value_int(0)};
    return value_list_of(a, items, 2);
}

struct value fact_coerce(struct arena *a, int param, struct value v)
{
    return param_coerce(a, &param_table[param], v);
}

struct value param_coerce(struct arena *a, const struct param *p, struct value v)
{
    struct value list;
    if (v.kind == VALUE_STRING && p->n_choices) v = coerce_dtype(p, v);
    switch (p->type) {
    case PARAM_DOUBLE: return v.kind == VALUE_INT ? value_double((double)v.i) : v;
    case PARAM_INT:
        if (v.kind == VALUE_DOUBLE && v.d == floor(v.d) && fabs(v.d) < NUM_EXACT)
            return value_int((int64_t)v.d);
        return v;
    case PARAM_LIST: return v.kind == VALUE_STRING ? value_list_of(a, &v, 1) : v;
    case PARAM_PATTERN: return v.kind == VALUE_STRING && pattern_parse(a, v.s, &list) ? list : v;
    case PARAM_TUPLE: return coerce_tuple(a, v);
    case PARAM_BOOL:
    case PARAM_STRING:
    case PARAM_MAP:
    case PARAM_ANY: return v;
    }
    return v;
}

void facts_set(struct facts *f, int param, struct value value, enum fact_origin origin,
               const struct node *node, struct str written)
{
    assert(param >= 0 && (uint32_t)param < param_count);
    struct fact *x = facts_change(f, param);
    bool replaces = origin == ORIGIN_OPTION || origin == ORIGIN_OVERRIDE;
    if (x->origin == ORIGIN_OPTION && !replaces) return;
    x->value = fact_coerce(f->arena, param, value);
    x->origin = origin;
    x->written = written;
    if (origin != ORIGIN_OVERRIDE || node) {
        x->node = node;
        x->line = 0;
    }
}

void facts_forget_defaults(struct facts *f)
{
    f->open = true;
    for (int i = 0; i < (int)param_count; i++)
        if (facts_get(f, i)->origin == ORIGIN_DEFAULT &&
            param_table[i].in[FRAMEWORK_MEGATRON]->n_flags)
            facts_forget(f, i);
}

/* ---- typed looks ---- */

int64_t facts_int(const struct facts *f, int param, int64_t otherwise)
{
    struct value v = facts_get(f, param)->value;
    return v.kind == VALUE_INT ? v.i : otherwise;
}

double facts_double(const struct facts *f, int param, double otherwise)
{
    struct value v = facts_get(f, param)->value;
    if (v.kind == VALUE_INT) return (double)v.i;
    return v.kind == VALUE_DOUBLE ? v.d : otherwise;
}

bool facts_bool(const struct facts *f, int param, bool otherwise)
{
    struct value v = facts_get(f, param)->value;
    return v.kind == VALUE_BOOL ? v.b : otherwise;
}

struct str facts_str(const struct facts *f, int param)
{
    struct value v = facts_get(f, param)->value;
    return v.kind == VALUE_STRING ? v.s : (struct str){"", 0};
}

/* ---- where a value is from ---- */

static const char *framework_title(enum framework framework)
{
    static const char *const titles[] = {"Megatron-LM", "Megatron-Bridge", "AutoModel"};
    return titles[framework];
}

bool facts_hold(const struct facts *f, const struct node *node)
{
    for (size_t i = 0; i < f->sourced.n; i++)
        if (f->sourced.items[i] == node->source) return true;
    return node->source == f->source;
}

bool facts_inherit(const struct facts *f, uint32_t source)
{
    for (size_t i = 0; i < f->inherited.n; i++)
        if (f->inherited.items[i] == source) return true;
    return false;
}

/* " of models/x.sh" where a place is not in the facts' own text. */
static struct str other_file(struct arena *a, const struct facts *f, const struct node *node)
{
    if (!node || node->source == f->source) return STR("");
    if (!facts_hold(f, node) && !facts_inherit(f, node->source)) return STR("");
    const struct source *s = source_get(&f->diags->sources, node->source);
    return s ? arena_printf(a, " of %.*s", STR_ARG(s->path)) : STR("");
}

struct str fact_origin_text(struct arena *a, const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    switch (x->origin) {
    case ORIGIN_UNKNOWN: return STR("unknown");
    case ORIGIN_DEFAULT:
        return x->written.n ? arena_printf(a, "set by %.*s", STR_ARG(x->written))
                            : arena_printf(a, "%s default", framework_title(f->framework));
    case ORIGIN_RELEASE:
        return arena_printf(a, "what %s %.*s's lock file pins", framework_title(f->framework),
                            STR_ARG(x->written));
    case ORIGIN_ASSUMED: return STR("assumed, as nothing says it");
    case ORIGIN_DERIVED:
        return x->written.n ? arena_printf(a, "from %.*s", STR_ARG(x->written)) : STR("derived");
    case ORIGIN_OVERRIDE:
        return x->node ? arena_printf(a, "set by %s itself, written at line %u",
                                      framework_title(f->framework), x->node->line)
                       : arena_printf(a, "set by %s itself", framework_title(f->framework));
    case ORIGIN_CATALOGUE:
        return x->written.n ? arena_printf(a, "from %.*s", STR_ARG(x->written))
                            : STR("from the catalogue");
    case ORIGIN_FILE:
        if (x->line && x->node)
            return arena_printf(a, "written at line %u, set at line %u", x->node->line, x->line);
        return x->node ? arena_printf(a, "written at line %u%.*s", x->node->line,
                                      STR_ARG(other_file(a, f, x->node)))
                       : STR("written in the file");
    case ORIGIN_OPTION:
        return x->written.n ? arena_printf(a, "given as %.*s", STR_ARG(x->written))
                            : STR("given as an option");
    }
    return STR("");
}

/* ---- environment ---- */

void facts_set_env(struct facts *f, struct str name, struct str value, bool unset)
{
    for (size_t i = 0; i < f->n_env; i++) {
        if (!str_eq(f->env[i].name, name)) continue;
        f->env[i] = (struct env_var){name, value, unset};
        return;
    }
    if (f->n_env == f->cap_env) f->env = vec_grow(f->arena, f->env, &f->cap_env, sizeof *f->env);
    f->env[f->n_env++] = (struct env_var){name, value, unset};
}

struct value facts_env(const struct facts *f, struct str name)
{
    for (size_t i = 0; i < f->n_env; i++)
        if (str_eq(f->env[i].name, name))
            return f->env[i].unset ? value_null() : value_string(f->env[i].value);
    return f->env_complete ? value_null() : value_unknown();
}

/* ---- the file's own words ---- */

static enum scalar_profile profile_of(const struct facts *f)
{
    if (str_is(f->format, "automodel")) return SCALAR_AUTOMODEL;
    return str_is(f->format, "plan") ? SCALAR_CORE : SCALAR_YAML11;
}

enum { RAW_MARKS = sizeof((struct facts *)0)->raw_marks / sizeof(uint64_t) };

/* The last raw entry of the key; NULL: none. */
static const struct raw_fact *find_raw(const struct facts *f, struct str key)
{
    if (!(f->raw_marks[key.n % RAW_MARKS] & str_mark(key))) return NULL;
    for (size_t i = f->raw.n; i-- > 0;) {
        struct str other = f->raw.items[i].key;
        if (other.n != key.n || (key.n && other.p[key.n - 1] != key.p[key.n - 1])) continue;
        if (str_eq(other, key)) return &f->raw.items[i]; /* all flags begin alike */
    }
    return NULL;
}

enum { PATH_MARKS = 16 };

void facts_begin_paths(struct facts *f)
{
    f->path_marks = ARENA_ARRAY(f->arena, uint64_t, PATH_MARKS);
}

void facts_note_path(struct facts *f, struct str path)
{
    f->path_marks[path.n % PATH_MARKS] |= str_mark(path);
}

void facts_note_any_path(struct facts *f)
{
    for (size_t i = 0; i < PATH_MARKS; i++)
        f->path_marks[i] = UINT64_MAX;
}

const struct node *facts_node(const struct facts *f, struct str path)
{
    const uint64_t *marks = f->path_marks;
    bool none = marks && !(marks[path.n % PATH_MARKS] & str_mark(path));
    return none ? NULL : node_at(f->document, path);
}

struct value facts_raw(const struct facts *f, struct str key)
{
    const struct raw_fact *raw = find_raw(f, key);
    if (raw) return raw->value;
    const struct node *node = facts_node(f, key);
    return node ? node_value(f->arena, node, profile_of(f)) : value_error(STR("no such key"));
}

bool facts_has_raw(const struct facts *f, struct str key)
{
    return find_raw(f, key) || facts_node(f, key);
}

void facts_add_raw(struct facts *f, struct str key, struct value value)
{
    *VEC_PUSH(f->arena, &f->raw) = (struct raw_fact){key, value};
    f->raw_marks[key.n % RAW_MARKS] |= str_mark(key);
}
