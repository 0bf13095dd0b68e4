/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/platform.h"

#include "base/buf.h"
#include "base/io.h"
#include "base/vec.h"

static int platform_param(struct str name)
{
    int param = param_find(name);
    return param >= 0 && param_table[param].scope == SCOPE_PLATFORM ? param : -1;
}

static bool check_fields(struct diags *diags, const struct entry *e)
{
    bool good = true;
    for (size_t i = 0; i < e->n_fields; i++) {
        const struct entry_field *f = &e->fields[i];
        if (platform_param(f->name) >= 0) continue;
        struct span at = f->node ? node_span(diags, f->node) : (struct span){0};
        struct diag *d = diag_add(diags, SEVERITY_ERROR, "unknown-key", at,
                                  "%.*s is no fact of a platform", STR_ARG(f->name));
        struct str near = param_nearest_in(SCOPE_PLATFORM, f->name);
        if (near.n > 0) diag_help(diags, d, "did you mean %.*s?", STR_ARG(near));
        good = false;
    }
    return good;
}

static bool has_field(const struct entry *e, struct str name)
{
    for (size_t i = 0; i < e->n_fields; i++)
        if (str_eq(e->fields[i].name, name)) return true;
    return false;
}

static bool has_coefficient(const struct entry *e, struct str name)
{
    for (size_t i = 0; i < e->n_coefficients; i++)
        if (str_eq(e->coefficients[i].name, name)) return true;
    return false;
}

/* The user's facts and coefficients over those of the entry they start from. */
static void add_base(struct arena *a, struct entry *e, const struct entry *base)
{
    VEC(struct entry_field) fields = {0};
    VEC(struct entry_coefficient) coefficients = {0};
    for (size_t i = 0; i < e->n_fields; i++)
        *VEC_PUSH(a, &fields) = e->fields[i];
    for (size_t i = 0; i < base->n_fields; i++)
        if (!has_field(e, base->fields[i].name)) *VEC_PUSH(a, &fields) = base->fields[i];
    for (size_t i = 0; i < base->n_coefficients; i++)
        if (!has_coefficient(e, base->coefficients[i].name))
            *VEC_PUSH(a, &coefficients) = base->coefficients[i];
    for (size_t i = 0; i < e->n_coefficients; i++)
        *VEC_PUSH(a, &coefficients) = e->coefficients[i];
    e->fields = fields.items;
    e->n_fields = fields.n;
    e->coefficients = coefficients.items;
    e->n_coefficients = coefficients.n;
}

static void unknown_platform(struct arena *a, struct diags *diags, struct str name, struct span at)
{
    struct diag *d =
        diag_add(diags, SEVERITY_ERROR, "unknown-platform", at,
                 "there is no platform and no readable file called %.*s", STR_ARG(name));
    struct str near = entry_nearest(a, catalogue_platforms, catalogue_platform_count, name);
    if (near.n > 0) {
        diag_help(diags, d, "did you mean %.*s?", STR_ARG(near));
        return;
    }
    struct buf all = buf_new(a);
    for (size_t i = 0; i < catalogue_platform_count; i++)
        buf_printf(&all, "%s%.*s", i > 0 ? ", " : "", STR_ARG(catalogue_platforms[i].id));
    struct str ids = buf_str(&all);
    diag_help(diags, d, "one of %.*s, or the path of a platform file", STR_ARG(ids));
}

/* What every cost needs; a file may take it from its base. */
static bool check_complete(struct diags *diags, const struct entry *e, const struct node *root)
{
    static const char *const needed[] = {"gpu_memory_gib", "gpu_capacity_gib", "gpus_per_node",
                                         "bf16_tflops",    "hbm_tb_per_s",     "nvlink_gb_per_s",
                                         "nic_gb_per_s"};
    bool good = true;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (has_field(e, str_of(needed[i]))) continue;
        struct diag *d = diag_add(diags, SEVERITY_ERROR, "platform-config", node_span(diags, root),
                                  "the platform has no %s", needed[i]);
        diag_help(diags, d, "write it, or start from a known platform with base: h100");
        good = false;
    }
    return good;
}

static const struct entry *read_file(struct arena *a, struct diags *diags, struct str path,
                                     struct str text)
{
    struct node_list docs = {0};
    uint32_t source = source_add(&diags->sources, path, text);
    if (!doc_load(a, diags, source, &docs)) return NULL;
    struct entry *e = ARENA_NEW(a, struct entry);
    if (docs.n != 1) {
        diag_add(diags, SEVERITY_ERROR, "platform-config", (struct span){.source = source},
                 "a platform file holds one mapping");
        return NULL;
    }
    if (!entry_read(a, diags, docs.items[0], ENTRY_PLATFORM, e) || !check_fields(diags, e))
        return NULL;
    if (e->name.n == 0) e->name = e->id.n > 0 ? e->id : path;
    e->id = path; /* a plan that names it must find the file again */
    if (e->base.n > 0) {
        const struct entry *base =
            entry_find(catalogue_platforms, catalogue_platform_count, e->base);
        if (!base) {
            unknown_platform(a, diags, e->base, node_span(diags, e->base_node));
            return NULL;
        }
        add_base(a, e, base);
    }
    return check_complete(diags, e, docs.items[0]) ? e : NULL;
}

static const struct entry *find_entry(struct arena *a, struct diags *diags, struct str name,
                                      struct span at)
{
    const struct entry *e = entry_find(catalogue_platforms, catalogue_platform_count, name);
    if (e) return e;
    struct str text, error;
    bool is_path = name.n > 0 && name.p[name.n - 1] != '/' && !str_is(name, "-");
    if (!is_path || !io_read(a, str_dup(a, name).p, &text, &error)) {
        unknown_platform(a, diags, name, at);
        return NULL;
    }
    return read_file(a, diags, name, text);
}

const struct platform *platform_load(struct platform_cache *cache, struct diags *diags,
                                     struct str name, struct span at)
{
    for (size_t i = 0; i < cache->n; i++)
        if (str_eq(cache->items[i]->asked, name)) return cache->items[i];
    const struct entry *e = find_entry(cache->arena, diags, name, at);
    if (!e) return NULL;
    struct platform *p = ARENA_NEW(cache->arena, struct platform);
    *p = (struct platform){
        .asked = str_dup(cache->arena, name), .id = e->id, .name = e->name, .entry = e};
    *VEC_PUSH(cache->arena, cache) = p;
    return p;
}

void platform_apply(struct facts *f, const struct platform *p, enum fact_origin origin)
{
    f->platform = p;
    facts_set(f, param_find(STR("platform")), value_string(p->id), origin, NULL, STR("platform"));
    for (size_t i = 0; i < p->entry->n_fields; i++) {
        const struct entry_field *x = &p->entry->fields[i];
        int param = platform_param(x->name);
        if (param >= 0 && !fact_is_set(&f->items[param]))
            facts_set(f, param, x->value, ORIGIN_CATALOGUE, NULL, p->id);
    }
}
