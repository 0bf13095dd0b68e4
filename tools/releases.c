/* SPDX-License-Identifier: Apache-2.0 */
#include "releases.h"

#include "base/sort.h"
#include "base/version.h"
#include "facts/param_file.h"

static void bad(struct releases *all, const struct node *at, const char *what)
{
    diag_add(all->diags, SEVERITY_ERROR, "release-file", node_span(all->diags, at), "%s", what);
}

static struct str text_of(const struct node *map, struct str key)
{
    const struct node *n = node_get(map, key);
    return n && n->kind == NODE_SCALAR ? n->text : (struct str){"", 0};
}

static bool framework_of(struct str word, enum framework *out)
{
    for (int f = 0; f < FRAMEWORK_COUNT; f++)
        if (str_is(word, framework_words[f])) return *out = (enum framework)f, true;
    return false;
}

void releases_add(struct releases *all, const struct node *doc)
{
    struct release *r = ARENA_NEW(all->arena, struct release);
    const struct node *environment = node_get(doc, STR("environment"));
    *r = (struct release){.version = text_of(doc, STR("version")),
                          .base = text_of(doc, STR("base")),
                          .commit = text_of(doc, STR("commit")),
                          .date = text_of(doc, STR("date")),
                          .own = node_get(doc, STR("settings"))};
    r->transformer_engine = text_of(environment, STR("transformer_engine_version"));
    r->torch = text_of(environment, STR("torch_version"));
    if (!framework_of(text_of(doc, STR("framework")), &r->framework))
        bad(all, doc, "a release is one of megatron, bridge or automodel");
    if (!r->version.n) bad(all, doc, "a release has a version");
    *VEC_PUSH(all->arena, &all->items) = r;
}

/* ---- what a release has of the one that it starts from ---- */

static void set(struct releases *all, struct release *r, struct str key, const struct node *value)
{
    int64_t at = map_get(&r->index, key);
    if (at == MAP_NONE) {
        map_put(all->arena, &r->index, key, (uint32_t)r->settings.n);
        *VEC_PUSH(all->arena, &r->settings) = (struct release_setting){key, value};
    } else {
        r->settings.items[at].value = value;
    }
}

static const struct release *find(const struct releases *all, const struct release *of,
                                  struct str version)
{
    for (size_t i = 0; i < all->items.n; i++) {
        const struct release *r = all->items.items[i];
        if (r->framework == of->framework && str_eq(r->version, version)) return r;
    }
    return NULL;
}

/* The base is older, and complete by now. A setting that is gone has the value null. */
static void complete(struct releases *all, struct release *r)
{
    const struct release *base = r->base.n ? find(all, r, r->base) : NULL;
    if (r->base.n && !base) bad(all, r->own, "there is no release of the name that base says");
    for (size_t i = 0; base && i < base->settings.n; i++)
        set(all, r, base->settings.items[i].key, base->settings.items[i].value);
    for (size_t i = 0; r->own && i < r->own->n; i++) {
        bool gone = r->own->items[i]->kind != NODE_MAP;
        set(all, r, r->own->keys[i]->text, gone ? NULL : r->own->items[i]);
    }
}

static int newest_first(const void *a, const void *b)
{
    const struct release *x = *(struct release *const *)a, *y = *(struct release *const *)b;
    if (x->framework != y->framework) return x->framework < y->framework ? -1 : 1;
    return version_cmp(y->version, x->version);
}

void releases_finish(struct releases *all)
{
    sort_items(all->items.items, all->items.n, sizeof *all->items.items, newest_first);
    for (size_t i = all->items.n; i-- > 0;)
        complete(all, all->items.items[i]);
}

/* ---- asking ---- */

const struct node *release_get(const struct release *r, struct str key)
{
    int64_t at = map_get(&r->index, key);
    return at == MAP_NONE ? NULL : r->settings.items[at].value;
}

unsigned release_number(const struct releases *all, const struct release *r)
{
    unsigned n = 0;
    for (size_t i = 0; all->items.items[i] != r; i++)
        n += all->items.items[i]->framework == r->framework;
    return n;
}

uint32_t releases_with(const struct releases *all, enum framework framework, struct str key)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < all->items.n; i++) {
        const struct release *r = all->items.items[i];
        if (r->framework != framework || !release_get(r, key)) continue;
        bits |= (uint32_t)1 << release_number(all, r);
    }
    return bits;
}
