/* SPDX-License-Identifier: Apache-2.0 */
/* Overrides of a recipe as YAML, and dumps of a whole configuration. */
#include "base/buf.h"
#include "facts/bridge_key.h"
#include "facts/bridge_read.h"
#include "facts/import_path.h"
#include "facts/param_ids.h"
#include "facts/words.h"

struct walk {
    struct facts *f;
    struct buf path;
    int depth;
};

/* The scalar of a document; an interpolation, of OmegaConf's or of somebody's resolver, is said
   elsewhere. */
static struct value document_value(struct arena *a, const struct node *node)
{
    bool elsewhere =
        node->kind == NODE_SCALAR && str_find_str(node->text, STR("${")) < node->text.n;
    return elsewhere ? value_unknown() : node_value(a, node, SCALAR_CORE);
}

/* Whether a section's name is a slip of another's that the document does not have: told where it
   stands, once for all its fields. */
static bool is_slip_of_section(struct walk *w, const struct node *map, size_t i)
{
    struct str name = map->keys[i]->text;
    struct str meant = w->path.n ? STR("") : bridge_section_meant(name);
    if (!meant.n || node_get(map, meant)) return false;
    bool over = facts_bool(w->f, P_over_recipe, false);
    struct diag *d = diag_add(w->f->diags, over ? SEVERITY_ERROR : SEVERITY_WARNING, "unknown-key",
                              node_span(w->f->diags, map->keys[i]),
                              "Megatron-Bridge has no section %.*s", STR_ARG(name));
    diag_suggest(w->f->diags, d, meant);
    return true;
}

static void set_below(struct walk *w, const struct node *map)
{
    if (w->depth > 50) return;
    w->depth++;
    for (size_t i = 0; i < map->n; i++) {
        const struct node *value = map->items[i];
        size_t before = w->path.n;
        if (node_get(map, map->keys[i]->text) != value || str_is(map->keys[i]->text, "_target_"))
            continue;
        if (value->kind == NODE_MAP && is_slip_of_section(w, map, i)) continue;
        if (before) buf_add_char(&w->path, '.');
        buf_add(&w->path, map->keys[i]->text);
        struct str key = str_dup(w->f->arena, buf_str(&w->path));
        int param = param_find_key(FRAMEWORK_BRIDGE, key, NULL);
        bool whole = param >= 0 && param_table[param].type == PARAM_MAP;
        if (value->kind == NODE_MAP && !whole)
            set_below(w, value);
        else
            bridge_set_key(w->f, key, document_value(w->f->arena, value), map->keys[i], value);
        w->path.n = before;
    }
    w->depth--;
}

static void set_environment(struct facts *f, const struct node *vars)
{
    for (size_t i = 0; vars && vars->kind == NODE_MAP && i < vars->n; i++)
        if (vars->items[i]->kind == NODE_SCALAR)
            facts_set_env(f, vars->keys[i]->text, vars->items[i]->text, false);
}

/* Whether the mapping holds sections of Bridge's, at least two, and beside them single values at
   the most: nobody else's sections. */
static bool is_sections(const struct node *doc)
{
    size_t n = 0;
    for (size_t i = 0; i < doc->n; i++) {
        bool section = bridge_is_section(doc->keys[i]->text);
        if (!section && doc->items[i]->kind != NODE_SCALAR) return false;
        n += section && doc->items[i]->kind == NODE_MAP;
    }
    return n >= 2;
}

/* A field beside the sections, which nobody reads there; what ${name} refers to is one's own. */
static void note_outside(struct facts *f, const struct node *doc)
{
    struct str text = source_get(&f->diags->sources, f->source)->text;
    for (size_t i = 0; is_sections(doc) && i < doc->n; i++) {
        struct str name = doc->keys[i]->text;
        struct str referred = arena_printf(f->arena, "${%.*s}", STR_ARG(name));
        struct str meant = bridge_key_elsewhere(f, name);
        bool own = bridge_is_section(name) || str_find_str(text, referred) < text.n;
        if (!meant.n || own) continue;
        struct diag *d =
            diag_add(f->diags, SEVERITY_WARNING, "unknown-key", node_span(f->diags, doc->keys[i]),
                     "Megatron-Bridge reads no %.*s here", STR_ARG(name));
        diag_help(f->diags, d, "it is a field of a section: %.*s", STR_ARG(meant));
    }
}

/* Whatever a _target_ names is imported as the file is loaded. */
static void check_targets(struct facts *f, const struct node *node, int depth)
{
    enum { DEEPEST = 20 };
    for (size_t i = 0; i < node->n && depth < DEEPEST; i++) {
        const struct node *item = node->items[i];
        if (item->kind != NODE_SCALAR) check_targets(f, item, depth + 1);
        bool target = node->kind == NODE_MAP && str_is(node->keys[i]->text, "_target_");
        if (target) import_path_check(f, item);
    }
}

void bridge_read_yaml(struct facts *f, const struct node *doc)
{
    struct walk w = {.f = f, .path = buf_new(f->arena)};
    const struct node *precision = node_get(doc, STR("mixed_precision"));
    f->document = doc;
    set_environment(f, node_get(doc, STR("env_vars")));
    set_below(&w, doc);
    note_outside(f, doc);
    check_targets(f, doc, 0);
    if (precision && precision->kind == NODE_MAP) {
        buf_add(&w.path, STR("mixed_precision"));
        set_below(&w, precision);
    }
    words_check(f, doc);
}
