/* SPDX-License-Identifier: Apache-2.0 */
/* A platform from a document, the user's or, at build time, a built-in one: fields and coefficients
   are checked against the tables, what the file leaves to its base is added, figures that depend on
   what it changes follow, and what contradicts is an error. */
#include <math.h>

#include "base/buf.h"
#include "base/vec.h"
#include "facts/check.h"
#include "facts/param_ids.h"
#include "facts/platform.h"

struct reader {
    struct arena *arena;
    struct diags *diags;
    const struct node *root;
    const struct entry *base; /* NULL: the file stands alone */
    VEC(struct entry_field) fields;
    VEC(struct entry_coefficient) coefficients;
    bool good;
};

static struct span span_of(const struct reader *r, const struct node *node)
{
    return node_span(r->diags, node ? node : r->root);
}

__attribute__((format(printf, 3, 4))) static struct diag *
bad(struct reader *r, const struct node *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str what = arena_vprintf(r->arena, format, args);
    va_end(args);
    r->good = false;
    return diag_add(r->diags, SEVERITY_ERROR, "platform-config", span_of(r, at), "%.*s",
                    STR_ARG(what));
}

int platform_param(struct str name)
{
    int param = param_find(name);
    return param >= 0 && param_table[param].scope == SCOPE_PLATFORM ? param : -1;
}

/* ---- what the file says itself ---- */

static void unknown_key(struct reader *r, const struct node *at, struct str name, const char *what,
                        struct str near)
{
    struct diag *d = diag_add(r->diags, SEVERITY_ERROR, "unknown-key", span_of(r, at),
                              "%.*s is no %s of a platform", STR_ARG(name), what);
    diag_suggest(r->diags, d, near);
    r->good = false;
}

static void add_field(struct reader *r, const struct entry_field *f)
{
    int param = platform_param(f->name);
    struct entry_field field = *f;
    struct value form = f->value;
    if (param < 0) {
        unknown_key(r, f->key, f->name, "fact", param_nearest_in(SCOPE_PLATFORM, f->name));
        return;
    }
    field.name = param_table[param].name;
    if (!value_check_own(r->arena, r->diags, &param_table[param], &form, span_of(r, f->node),
                         f->name))
        r->good = false;
    if (form.kind != VALUE_DOUBLE) field.value = form; /* a number is listed as it is written */
    *VEC_PUSH(r->arena, &r->fields) = field;
}

/* The value lies in its range; its interval may lie beyond that, but not below nothing. */
static void add_coefficient(struct reader *r, const struct entry_coefficient *c)
{
    const struct param *p = param_coefficient(c->name);
    struct value v = value_double(c->value);
    if (!p) {
        unknown_key(r, c->key, c->name, "coefficient", param_nearest_coefficient(c->name));
        return;
    }
    if (!value_check_own(r->arena, r->diags, p, &v, span_of(r, c->node), c->name))
        r->good = false;
    else if (c->low < 0)
        bad(r, c->node, "low of %.*s is negative", STR_ARG(c->name));
    *VEC_PUSH(r->arena, &r->coefficients) = *c;
}

/* ---- looks ---- */

static const struct entry_field *field_of(const struct entry_field *fields, size_t n,
                                          struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(fields[i].name, name)) return &fields[i];
    return NULL;
}

/* The field that the file itself writes; NULL: it does not. */
static const struct entry_field *own(const struct reader *r, int param)
{
    return field_of(r->fields.items, r->fields.n, param_name(param));
}

static const struct entry_coefficient *own_coefficient(const struct reader *r, struct str name)
{
    for (size_t i = 0; i < r->coefficients.n; i++)
        if (str_eq(r->coefficients.items[i].name, name)) return &r->coefficients.items[i];
    return NULL;
}

static bool number_of(const struct entry_field *f, double *out)
{
    if (!f || !value_is_number(f->value)) return false;
    *out = f->value.kind == VALUE_INT ? (double)f->value.i : f->value.d;
    return true;
}

static bool own_number(const struct reader *r, int param, double *out)
{
    return number_of(own(r, param), out);
}

static bool base_number(const struct reader *r, int param, double *out)
{
    return r->base &&
           number_of(field_of(r->base->fields, r->base->n_fields, param_name(param)), out);
}

static bool is_true(const struct reader *r, int param)
{
    const struct entry_field *f = own(r, param);
    return f && f->value.kind == VALUE_BOOL && f->value.b;
}

static bool is_false(const struct reader *r, int param)
{
    const struct entry_field *f = own(r, param);
    return f && f->value.kind == VALUE_BOOL && !f->value.b;
}

/* ---- figures that follow ---- */

/* A figure with as many decimals as anybody would write. */
static void follow(struct reader *r, int param, double value, struct str from)
{
    *VEC_PUSH(r->arena, &r->fields) =
        (struct entry_field){.name = param_name(param),
                             .value = value_double(round(value * 1e6) / 1e6),
                             .derived = from};
}

/* The allocator can use as much less than the GPU has as on the platform that the file starts
   from: what context and communication libraries take does not grow with the memory. */
static void follow_capacity(struct reader *r)
{
    double memory, whole, usable;
    if (own(r, P_gpu_capacity_gib) || !own_number(r, P_gpu_memory_gib, &memory)) return;
    if (!base_number(r, P_gpu_memory_gib, &whole) || !base_number(r, P_gpu_capacity_gib, &usable))
        return;
    if (memory == whole) return;
    double kept = whole - usable;
    if (memory > kept) {
        follow(r, P_gpu_capacity_gib, memory - kept,
               arena_printf(r->arena,
                            "gpu_memory_gib, less the %.4g GiB that %.*s keeps for itself", kept,
                            STR_ARG(r->base->id)));
        return;
    }
    struct diag *d = bad(r, own(r, P_gpu_memory_gib)->node,
                         "gpu_memory_gib %.4g leaves nothing beside the %.4g GiB that %.*s keeps "
                         "for itself",
                         memory, kept, STR_ARG(r->base->id));
    diag_help(r->diags, d, "write gpu_capacity_gib too: what the allocator can use");
}

/* Peaks of narrower formats stand to the BF16 peak as on the platform that the file starts from. */
static void follow_peak(struct reader *r, int param)
{
    double bf16, base_bf16, base_peak;
    if (own(r, param) || !own_number(r, P_bf16_tflops, &bf16)) return;
    if (!base_number(r, P_bf16_tflops, &base_bf16) || !base_number(r, param, &base_peak)) return;
    if (bf16 == base_bf16) return;
    double ratio = base_peak / base_bf16;
    follow(r, param, bf16 * ratio,
           arena_printf(r->arena, "bf16_tflops, %.4g times that as on %.*s", ratio,
                        STR_ARG(r->base->id)));
}

/* Where a node is one NVLink domain, another size of the node is another size of the domain. */
static void follow_domain(struct reader *r)
{
    double node, base_node, base_domain;
    if (own(r, P_nvlink_domain) || !own_number(r, P_gpus_per_node, &node)) return;
    if (!base_number(r, P_gpus_per_node, &base_node) ||
        !base_number(r, P_nvlink_domain, &base_domain) || base_node != base_domain ||
        node == base_node)
        return;
    *VEC_PUSH(r->arena, &r->fields) = (struct entry_field){
        .name = param_name(P_nvlink_domain),
        .value = value_int((int64_t)node),
        .derived = arena_printf(r->arena, "gpus_per_node, a node is one domain as on %.*s",
                                STR_ARG(r->base->id))};
}

/* What the file leaves to its base. All in the base's order, with what is the file's own in its
   place: the cost models look for one after the other and find the next at once. */
static void add_base(struct reader *r)
{
    struct reader all = {.arena = r->arena};
    if (!r->base) return;
    for (size_t i = 0; i < r->base->n_fields; i++) {
        const struct entry_field *f = &r->base->fields[i],
                                 *mine = field_of(r->fields.items, r->fields.n, f->name);
        *VEC_PUSH(r->arena, &all.fields) = mine ? *mine : *f;
    }
    for (size_t i = 0; i < r->fields.n; i++)
        if (!field_of(all.fields.items, all.fields.n, r->fields.items[i].name))
            *VEC_PUSH(r->arena, &all.fields) = r->fields.items[i];
    for (size_t i = 0; i < r->base->n_coefficients; i++) {
        const struct entry_coefficient *c = &r->base->coefficients[i],
                                       *mine = own_coefficient(r, c->name);
        *VEC_PUSH(r->arena, &all.coefficients) = mine ? *mine : *c;
    }
    for (size_t i = 0; i < r->coefficients.n; i++)
        if (!own_coefficient(&all, r->coefficients.items[i].name))
            *VEC_PUSH(r->arena, &all.coefficients) = r->coefficients.items[i];
    r->fields.items = all.fields.items, r->fields.n = all.fields.n;
    r->coefficients.items = all.coefficients.items, r->coefficients.n = all.coefficients.n;
}

/* ---- what a platform must have, and what contradicts ---- */

static void check_complete(struct reader *r)
{
    static const int needed[] = {P_gpu_memory_gib, P_gpu_capacity_gib, P_gpus_per_node,
                                 P_bf16_tflops,    P_hbm_tb_per_s,     P_nvlink_gb_per_s,
                                 P_nic_gb_per_s};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const struct entry_field *f = own(r, needed[i]);
        if (f && f->value.kind != VALUE_NULL) continue;
        struct diag *d =
            bad(r, f ? f->node : NULL, "the platform has no %.*s", STR_ARG(param_name(needed[i])));
        diag_help(r->diags, d, "write it, or start from a known platform with base: h100");
    }
}

/* "8 (of a100)", "8 (as written)" */
static struct str said(struct reader *r, int param)
{
    struct str name = param_name(param);
    const struct entry_field *f = own(r, param);
    struct str value = value_text(r->arena, f->value);
    if (f->derived.n)
        return arena_printf(r->arena, "%.*s %.*s (from %.*s)", STR_ARG(name), STR_ARG(value),
                            STR_ARG(f->derived));
    if (f->node || !r->base)
        return arena_printf(r->arena, "%.*s %.*s", STR_ARG(name), STR_ARG(value));
    return arena_printf(r->arena, "%.*s %.*s of %.*s", STR_ARG(name), STR_ARG(value),
                        STR_ARG(r->base->id));
}

/* One of two figures is at fault: the one that is written is pointed at. */
static void contradict(struct reader *r, int one, int other, const char *why)
{
    const struct node *at = own(r, one)->node ? own(r, one)->node : own(r, other)->node;
    struct str a = said(r, one), b = said(r, other);
    struct diag *d = bad(r, at, "%.*s contradicts %.*s", STR_ARG(a), STR_ARG(b));
    diag_help(r->diags, d, "%s", why);
}

static void check_sizes(struct reader *r)
{
    double memory, capacity, node, domain;
    if (own_number(r, P_gpu_memory_gib, &memory) && own_number(r, P_gpu_capacity_gib, &capacity) &&
        capacity > memory)
        contradict(r, P_gpu_capacity_gib, P_gpu_memory_gib,
                   "the allocator can use less than the GPU has; write both");
    if (own_number(r, P_gpus_per_node, &node) && own_number(r, P_nvlink_domain, &domain) &&
        fmod(domain, node) != 0 && fmod(node, domain) != 0)
        contradict(r, P_nvlink_domain, P_gpus_per_node,
                   "an NVLink domain is whole nodes, or a node whole domains; write both");
}

/* Formats need the hardware: FP8 from compute capability 8.9 on, MXFP8 and FP4 from 10.0 on; and a
   chip has a peak for just the formats it has. */
static void check_formats(struct reader *r)
{
    static const struct {
        int format, peak;
        double since; /* compute capability */
    } formats[] = {
        {P_has_fp8, P_fp8_tflops, 8.9}, {P_has_mxfp8, P_NONE, 10}, {P_has_nvfp4, P_fp4_tflops, 10}};
    double capability = 0, peak;
    bool known = own_number(r, P_compute_capability, &capability);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        int format = formats[i].format, rate = formats[i].peak;
        if (known && is_true(r, format) && capability < formats[i].since)
            contradict(r, P_compute_capability, format,
                       "such a chip has no such format; write both");
        if (rate == P_NONE || !own(r, rate)) continue;
        bool has_peak = own_number(r, rate, &peak);
        if (has_peak && is_false(r, format))
            contradict(r, rate, format, "a chip without the format has no peak; write both");
        if (!has_peak && is_true(r, format))
            contradict(r, rate, format, "a chip with the format has a peak; write both");
        if (has_peak && known && !own(r, format) && capability < formats[i].since)
            contradict(r, rate, P_compute_capability, "such a chip has no such format; write both");
    }
    if (is_true(r, P_has_mxfp8) && is_false(r, P_has_fp8))
        contradict(r, P_has_mxfp8, P_has_fp8, "MXFP8 is a form of FP8; write both");
}

static const struct entry *base_of(struct reader *r, struct entry_list bases, const struct entry *e)
{
    const struct entry *base = entry_find(bases.items, bases.n, e->base);
    if (base) return base;
    struct diag *d =
        diag_add(r->diags, SEVERITY_ERROR, "unknown-platform", span_of(r, e->base_node),
                 "there is no platform called %.*s to start from", STR_ARG(e->base));
    diag_suggest(r->diags, d, entry_nearest(r->arena, bases.items, bases.n, e->base));
    r->good = false;
    return NULL;
}

const struct entry *platform_read(struct arena *a, struct diags *diags, const struct node *root,
                                  struct entry_list bases)
{
    struct reader r = {.arena = a, .diags = diags, .root = root, .good = true};
    struct entry *e = ARENA_NEW(a, struct entry);
    bool shaped = entry_read(a, diags, root, ENTRY_PLATFORM, e);
    for (size_t i = 0; i < e->n_fields; i++)
        add_field(&r, &e->fields[i]);
    for (size_t i = 0; shaped && i < e->n_coefficients; i++)
        add_coefficient(&r, &e->coefficients[i]);
    if (e->base.n > 0) r.base = base_of(&r, bases, e);
    if (!shaped || !r.good) return NULL;
    follow_capacity(&r);
    follow_peak(&r, P_fp8_tflops);
    follow_peak(&r, P_fp4_tflops);
    follow_domain(&r);
    if (!r.good) return NULL;
    add_base(&r);
    if (!e->abstract) check_complete(&r);
    check_sizes(&r);
    check_formats(&r);
    e->fields = r.fields.items;
    e->n_fields = r.fields.n;
    e->coefficients = r.coefficients.items;
    e->n_coefficients = r.coefficients.n;
    return r.good ? e : NULL;
}

/* ---- many that start from one another ---- */

enum state { STATE_UNREAD, STATE_READING, STATE_BAD, STATE_READ };

struct set {
    struct arena *arena;
    struct diags *diags;
    const struct node *const *roots;
    size_t n;
    enum state *states;
    VEC(struct entry) entries;
};

static const struct node *base_node(const struct set *s, size_t i)
{
    return node_get(s->roots[i], STR("base"));
}

/* The file that calls itself as the base of the i-th; n: none does. */
static size_t base_in_set(const struct set *s, size_t i)
{
    const struct node *base = base_node(s, i);
    for (size_t k = 0; base && k < s->n; k++) {
        const struct node *id = node_get(s->roots[k], STR("id"));
        if (id && str_eq_nocase(id->text, base->text)) return k;
    }
    return s->n;
}

/* A base is read before what starts from it. One that is being read stands on itself; of one with
   errors no more is said. */
static void read_one(struct set *s, size_t i)
{
    size_t base = base_in_set(s, i);
    const struct entry *e = NULL;
    s->states[i] = STATE_READING;
    if (base < s->n && s->states[base] == STATE_UNREAD) read_one(s, base);
    if (base < s->n && s->states[base] == STATE_READING)
        diag_add(s->diags, SEVERITY_ERROR, "platform-config", node_span(s->diags, base_node(s, i)),
                 "base %.*s starts from this one", STR_ARG(base_node(s, i)->text));
    else if (base == s->n || s->states[base] == STATE_READ)
        e = platform_read(s->arena, s->diags, s->roots[i],
                          (struct entry_list){s->entries.items, s->entries.n});
    if (e) *VEC_PUSH(s->arena, &s->entries) = *e;
    s->states[i] = e ? STATE_READ : STATE_BAD;
}

bool platform_read_set(struct arena *a, struct diags *diags, const struct node *const *roots,
                       size_t n, struct entry_list *out)
{
    struct set s = {.arena = a, .diags = diags, .roots = roots, .n = n};
    s.states = ARENA_ARRAY(a, enum state, n);
    for (size_t i = 0; i < n; i++)
        if (s.states[i] == STATE_UNREAD) read_one(&s, i);
    *out = (struct entry_list){s.entries.items, s.entries.n};
    return s.entries.n == n;
}
