/* SPDX-License-Identifier: Apache-2.0 */
/* As NeMo-RL's loader reads them (nemo_rl/utils/config.py, load_config_with_inheritance): the later
   of several files wins, the file itself over all of them; mappings are merged, anything else takes
   the place of what was there, and `_override_: true` makes a mapping do so too. */
#include "facts/inherit.h"

#include "base/buf.h"
#include "base/io.h"
#include "facts/named.h"

enum { MOST_FILES = 16, DEEPEST = 20 };

static bool overrides(const struct node *map)
{
    const struct node *mark = node_get(map, STR("_override_"));
    return mark && str_eq_nocase(mark->text, STR("true"));
}

static struct node *merge(struct arena *a, struct node *base, struct node *over, int depth)
{
    bool maps = base && base->kind == NODE_MAP && over->kind == NODE_MAP;
    if (!maps || overrides(over) || depth >= DEEPEST) return over;
    struct node *out = ARENA_NEW(a, struct node);
    *out = *over;
    node_unindex(out);
    out->items = ARENA_ARRAY(a, struct node *, base->n + over->n);
    out->keys = ARENA_ARRAY(a, struct node *, base->n + over->n);
    out->n = 0;
    out->repeats = base->repeats || over->repeats;
    for (size_t i = 0; i < base->n; i++) {
        if (node_get(over, base->keys[i]->text)) continue;
        out->keys[out->n] = base->keys[i];
        out->items[out->n++] = base->items[i];
    }
    for (size_t i = 0; i < over->n; i++) {
        out->keys[out->n] = over->keys[i];
        out->items[out->n++] =
            merge(a, node_get(base, over->keys[i]->text), over->items[i], depth + 1);
    }
    return out;
}

static bool is_read(const struct facts *f, struct str path)
{
    for (size_t i = 0; i < f->inherited.n; i++)
        if (str_eq(source_get(&f->diags->sources, f->inherited.items[i])->path, path)) return true;
    return false;
}

static struct node *load(struct facts *f, struct str name, uint32_t from)
{
    struct named named;
    struct str text, why;
    struct node_list docs = {0};
    struct span at = {.source = from};
    bool found = name.n && f->inherited.n < MOST_FILES &&
                 named_find(f->arena, f->diags, name, at, &named, &why);
    if (!found || is_read(f, named.path) || !io_is_file(named.path.p)) return NULL;
    if (!named_read(f->arena, f->diags, &named, &text, &why)) return NULL;
    uint32_t source = source_add(&f->diags->sources, named.path, text);
    *VEC_PUSH(f->arena, &f->inherited) = source;
    bool one = doc_load_yaml(f->arena, f->diags, source, &docs) && docs.n == 1;
    return one && docs.items[0]->kind == NODE_MAP ? docs.items[0] : NULL;
}

/* Each file may name others, in which the same key is looked for: as deep as there are files. */
static struct node *lay_over(struct facts *f, struct node *doc, struct str key)
{
    const struct node *names = node_get(doc, key);
    struct node *base = NULL;
    size_t n = !names ? 0 : names->kind == NODE_LIST ? names->n : 1;
    for (size_t i = 0; i < n; i++) {
        const struct node *name = names->kind == NODE_LIST ? names->items[i] : names;
        struct node *one = name->kind == NODE_SCALAR ? load(f, name->text, name->source) : NULL;
        if (one) one = lay_over(f, one, key);
        if (one) base = merge(f->arena, base, one, 0);
    }
    return base ? merge(f->arena, base, doc, 0) : doc;
}

/* What is read is a file, beside which others may lie. */
static bool is_file(const struct facts *f)
{
    struct str path = source_get(&f->diags->sources, f->source)->path;
    return !f->diags->sources.requests && io_is_file(str_dup(f->arena, path).p);
}

static struct node *own_copy(struct arena *a, const struct node *map)
{
    struct node *own = ARENA_NEW(a, struct node);
    *own = *map;
    return own;
}

const struct node *inherit_document(struct facts *f, const struct node *doc, struct str key)
{
    bool names = key.n && node_get(doc, key) && is_file(f);
    return names ? lay_over(f, own_copy(f->arena, doc), key) : doc;
}

/* A name with the default of each ${VARIABLE:default} in its place; empty where one has none. */
static struct str with_defaults(struct arena *a, struct str name)
{
    struct buf out = buf_new(a);
    for (size_t at = 0; at < name.n;) {
        struct str rest = str_slice(name, at, name.n);
        size_t colon = str_find(rest, ':'), end = str_find(rest, '}');
        bool variable = str_starts(rest, STR("${"));
        if (variable && (end == rest.n || colon > end)) return STR("");
        if (variable) buf_add(&out, str_slice(rest, colon + 1, end));
        if (!variable) buf_add_char(&out, rest.p[0]);
        at += variable ? end + 1 : 1;
    }
    return buf_str(&out);
}

const struct node *inherit_presets(struct facts *f, const struct program_kind *kind,
                                   const struct node *doc, const struct node *section)
{
    struct node *base = NULL;
    for (size_t i = 0; i < kind->n_presets && is_file(f); i++) {
        struct str preset = kind->presets[i];
        size_t eq = str_find(preset, '=');
        const struct node *named = node_at(doc, str_slice(preset, 0, eq));
        struct str name =
            named && named->kind == NODE_SCALAR ? with_defaults(f->arena, named->text) : STR("");
        if (!name.n) continue;
        struct str path = arena_printf(f->arena, "%.*s/%.*s",
                                       STR_ARG(str_slice(preset, eq + 1, preset.n)), STR_ARG(name));
        struct node *one = load(f, path, f->source);
        if (one) base = merge(f->arena, base, lay_over(f, one, kind->inherits), 0);
    }
    if (!base || !section || section->kind != NODE_MAP) return base ? base : section;
    return merge(f->arena, base, own_copy(f->arena, section), 0);
}

void inherit_forget(struct facts *f, size_t from)
{
    for (size_t i = f->diags->n; i-- > from;)
        if (facts_inherit(f, f->diags->items[i].at.source)) diag_remove(f->diags, i);
}
