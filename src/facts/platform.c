/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/platform.h"

#include "base/buf.h"
#include "base/vec.h"
#include "facts/named.h"
#include "facts/param_ids.h"

static void unknown_platform(struct diags *diags, struct str name, struct span at, struct str why)
{
    struct entry_list known = {catalogue_platforms, catalogue_platform_count};
    struct diag *d = named_unknown(diags, at, name, why, "platform", known);
    if (!d) return;
    struct buf all = buf_new(diags->arena);
    for (size_t i = 0; i < known.n; i++)
        buf_printf(&all, "%s%.*s", i > 0 ? ", " : "", STR_ARG(known.items[i].id));
    struct str ids = buf_str(&all);
    diag_help(diags, d, "one of %.*s, or the path of a platform file", STR_ARG(ids));
}

struct entry_list platform_bases(void)
{
    return (struct entry_list){catalogue_platforms,
                               catalogue_platform_count + catalogue_base_count};
}

static const struct entry *read_file(struct arena *a, struct diags *diags, struct str path,
                                     struct str text)
{
    struct node_list docs = {0};
    uint32_t source = source_add(&diags->sources, path, text);
    if (!doc_load(a, diags, source, &docs)) return NULL;
    if (docs.n != 1) {
        diag_add(diags, SEVERITY_ERROR, "platform-config", (struct span){.source = source},
                 "a platform file holds one mapping");
        return NULL;
    }
    const struct entry *read = platform_read(a, diags, docs.items[0], platform_bases());
    if (!read) return NULL;
    if (read->abstract) {
        diag_add(diags, SEVERITY_ERROR, "platform-config",
                 node_span(diags, node_get(docs.items[0], STR("abstract"))),
                 "an abstract platform is only a base of others");
        return NULL;
    }
    struct entry *e = arena_dup(a, read, sizeof *read);
    if (e->name.n == 0) e->name = e->id.n > 0 ? e->id : path;
    e->id = path; /* a plan that names it must find the file again */
    return e;
}

static const struct entry *read_named(struct arena *a, struct diags *diags,
                                      const struct named *file, struct str name, struct span at)
{
    struct str text, why;
    struct diags inner;
    if (!named_read(a, diags, file, &text, &why)) {
        unknown_platform(diags, name, at, why);
        return NULL;
    }
    struct str path = str_dup(a, file->path); /* the entry is called so, and may outlive the text */
    if (!file->inside) return read_file(a, diags, path, text);
    diags_init(&inner, a);
    const struct entry *e = read_file(a, &inner, path, text);
    named_tell(diags, at, file, &inner, "platform");
    return e;
}

static const struct platform *find_cached(const struct platform_cache *cache, struct str asked)
{
    for (size_t i = 0; i < cache->n; i++)
        if (str_eq(cache->items[i]->asked, asked)) return cache->items[i];
    return NULL;
}

const struct platform *platform_load(struct platform_cache *cache, struct diags *diags,
                                     struct str name, struct span at)
{
    struct arena *a = cache->arena;
    const struct entry *e = entry_find(catalogue_platforms, catalogue_platform_count, name);
    bool own = !e;
    struct named file = {.real = e ? e->id : name};
    struct str why = STR("");
    if (own && (str_is(name, "-") || !named_find(diags->arena, diags, name, at, &file, &why))) {
        unknown_platform(diags, name, at, why);
        return NULL;
    }
    const struct platform *known = find_cached(cache, file.real);
    if (known) return known;
    if (own) e = read_named(a, diags, &file, name, at);
    if (!e) return NULL;
    struct platform *p = ARENA_NEW(a, struct platform);
    *p = (struct platform){
        .asked = str_dup(a, file.real), .id = e->id, .name = e->name, .own = own, .entry = e};
    if (cache->n == PLATFORMS_KEPT) return p;
    cache->items[cache->n++] = p;
    cache->kept = arena_mark(a);
    return p;
}

void platform_cache_empty(struct platform_cache *cache)
{
    cache->n = 0;
    cache->kept = (struct arena_mark){0};
    arena_reset(cache->arena);
}

void platform_cache_trim(struct platform_cache *cache)
{
    enum { MOST_BYTES = 16 * 1024 * 1024 };
    if (cache->n == PLATFORMS_KEPT || arena_used(cache->arena) > MOST_BYTES)
        platform_cache_empty(cache);
    else if (cache->n)
        arena_pop(cache->arena, cache->kept);
    else
        arena_reset(cache->arena);
}

void platform_apply(struct facts *f, const struct platform *p, enum fact_origin origin)
{
    f->platform = p;
    facts_set(f, P_platform, value_string(p->id), origin, NULL, STR("platform"));
    for (size_t i = 0; i < p->entry->n_fields; i++) {
        const struct entry_field *x = &p->entry->fields[i];
        int param = platform_param(x->name);
        if (param >= 0 && !fact_is_set(facts_get(f, param)))
            facts_set(f, param, x->value, ORIGIN_CATALOGUE, NULL,
                      x->derived.n ? x->derived : p->id);
    }
}
