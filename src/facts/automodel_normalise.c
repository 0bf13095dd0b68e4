/* SPDX-License-Identifier: Apache-2.0 */
/* What AutoModel's loader does to a recipe before anything looks at it
   (nemo_automodel/components/config/loader.py:182-242, 379-411). */
#include <ctype.h>

#include "base/buf.h"
#include "facts/automodel.h"

struct walk {
    struct facts *f;
    struct buf path; /* dotted, of the node at hand */
};

/* ---- environment variables ---- */

enum lookup { LOOKUP_SET, LOOKUP_UNSET, LOOKUP_UNKNOWN };

static enum lookup variable(struct walk *w, struct str name, struct str *out)
{
    struct value v = facts_env(w->f, name);
    if (v.kind == VALUE_STRING) *out = v.s;
    return v.kind == VALUE_STRING ? LOOKUP_SET
           : v.kind == VALUE_NULL ? LOOKUP_UNSET
                                  : LOOKUP_UNKNOWN;
}

static void complain(struct walk *w, const struct node *node, struct str name)
{
    struct diag *d = diag_add(w->f->diags, SEVERITY_ERROR, "environment-variable-unset",
                              node_span(w->f->diags, node), "environment variable %.*s is not set",
                              STR_ARG(name));
    diag_help(w->f->diags, d, "set it, or write a default: ${%.*s,VALUE}", STR_ARG(name));
}

/* The variable's value, or the default when it has one and the variable is not known to be set. */
static bool put_variable(struct walk *w, const struct node *node, struct str name,
                         const struct str *otherwise, struct buf *out)
{
    struct str value = {"", 0};
    enum lookup found = variable(w, name, &value);
    if (found != LOOKUP_SET && otherwise) {
        value = *otherwise;
        found = LOOKUP_SET;
    }
    if (found == LOOKUP_UNSET) complain(w, node, name);
    if (found == LOOKUP_SET) buf_add(out, value);
    return found == LOOKUP_SET;
}

/* ${VAR}, ${VAR,default}, ${oc.env:VAR}: `inside` is what stands between the braces. */
static bool put_braced(struct walk *w, const struct node *node, struct str inside, struct buf *out)
{
    struct str old = STR("oc.env:"), name = str_trim(inside);
    if (str_starts(name, old)) name = str_trim(str_slice(name, old.n, name.n));
    size_t comma = str_find(name, ',');
    if (comma == name.n) return put_variable(w, node, name, NULL, out);
    struct str otherwise = str_trim(str_slice(name, comma + 1, name.n));
    return put_variable(w, node, str_trim(str_slice(name, 0, comma)), &otherwise, out);
}

static bool put_all_braced(struct walk *w, const struct node *node, struct str text,
                           struct buf *out)
{
    for (size_t at = 0; at < text.n;) {
        struct str rest = str_slice(text, at, text.n);
        size_t end = str_find(rest, '}');
        if (!str_starts(rest, STR("${")) || end == rest.n || end == 2) {
            buf_add_char(out, text.p[at++]);
            continue;
        }
        if (!put_braced(w, node, str_slice(rest, 2, end), out)) return false;
        at += end + 1;
    }
    return true;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Length of NAME or NAME.PART.PART at the start of the text; 0: none. */
static size_t name_length(struct str s)
{
    size_t n = 0;
    if (!s.n || !is_word(s.p[0]) || isdigit((unsigned char)s.p[0])) return 0;
    while (n < s.n && (is_word(s.p[n]) || (s.p[n] == '.' && n + 1 < s.n && is_word(s.p[n + 1]))))
        n++;
    return n;
}

static bool put_all_bare(struct walk *w, const struct node *node, struct str text, struct buf *out)
{
    for (size_t at = 0; at < text.n;) {
        struct str rest = str_slice(text, at + 1, text.n);
        size_t n = text.p[at] == '$' ? name_length(rest) : 0;
        if (!n)
            buf_add_char(out, text.p[at++]);
        else if (!put_variable(w, node, str_slice(rest, 0, n), NULL, out))
            return false;
        else
            at += 1 + n;
    }
    return true;
}

/* The value under its path, and under the path it gets when a diffusion section becomes
   `distributed`. */
static void add_unknown(struct walk *w)
{
    static const struct str sections[] = {{"fsdp.", 5}, {"ddp.", 4}};
    struct str path = str_dup(w->f->arena, buf_str(&w->path));
    facts_add_raw(w->f, path, value_unknown());
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (!str_starts(path, sections[i])) continue;
        struct str rest = str_slice(path, sections[i].n, path.n);
        struct str moved = arena_printf(w->f->arena, "distributed.%.*s", STR_ARG(rest));
        facts_add_raw(w->f, moved, value_unknown());
    }
}

/* The scalar with its variables put in; NULL when one of them has no known value. The loader does
   not resolve the result as YAML again, hence `quoted`. */
static struct node *scalar_expanded(struct walk *w, const struct node *node)
{
    struct buf braced = buf_new(w->f->arena), all = buf_new(w->f->arena);
    bool good = put_all_braced(w, node, node->text, &braced) &&
                put_all_bare(w, node, buf_str(&braced), &all);
    if (!good) {
        add_unknown(w);
        return NULL;
    }
    struct node *copy = ARENA_NEW(w->f->arena, struct node);
    *copy = *node;
    copy->text = buf_str(&all);
    copy->quoted = true;
    return copy;
}

/* ---- the tree ---- */

static const struct node *expanded(struct walk *w, const struct node *node);

/* _target_ and ..._fn are import paths, which the loader takes as they are. */
static bool is_import_key(const struct node *key)
{
    return str_is(key->text, "_target_") || str_ends(key->text, STR("_fn"));
}

static const struct node *map_expanded(struct walk *w, const struct node *map)
{
    const struct node *result = map;
    for (size_t i = 0; i < map->n; i++) {
        size_t before = w->path.n;
        if (before) buf_add_char(&w->path, '.');
        buf_add(&w->path, map->keys[i]->text);
        const struct node *item =
            is_import_key(map->keys[i]) ? map->items[i] : expanded(w, map->items[i]);
        if (item != map->items[i]) result = automodel_put(w->f->arena, result, map->keys[i], item);
        w->path.n = before;
    }
    return result;
}

static const struct node *list_expanded(struct walk *w, const struct node *list)
{
    struct node *copy = NULL;
    for (size_t i = 0; i < list->n; i++) {
        const struct node *item = expanded(w, list->items[i]);
        if (item == list->items[i]) continue;
        if (!copy) {
            copy = ARENA_NEW(w->f->arena, struct node);
            *copy = *list;
            copy->items = ARENA_ARRAY(w->f->arena, struct node *, list->n);
            memcpy(copy->items, list->items, list->n * sizeof *copy->items);
        }
        copy->items[i] = (struct node *)(uintptr_t)item;
    }
    return copy ? copy : list;
}

static const struct node *expanded(struct walk *w, const struct node *node)
{
    if (node->kind == NODE_MAP) return map_expanded(w, node);
    if (node->kind == NODE_LIST) return list_expanded(w, node);
    if (str_find(node->text, '$') == node->text.n) return node;
    const struct node *copy = scalar_expanded(w, node);
    return copy ? copy : node;
}

/* ---- diffusion recipes ---- */

/* A diffusion recipe says `fsdp:` or `ddp:` where the others say `distributed:`; the strategy is in
   the name (nemo_automodel/recipes/diffusion/train.py:183-217). */
static const struct node *diffusion_distributed(struct arena *a, const struct node *recipe)
{
    const struct node *ddp = node_get(recipe, STR("ddp"));
    const struct node *section = ddp ? ddp : node_get(recipe, STR("fsdp"));
    const struct node *key = node_get_key(recipe, ddp ? STR("ddp") : STR("fsdp"));
    if (!section || section->kind != NODE_MAP) return recipe;
    struct node *strategy = ARENA_NEW(a, struct node);
    *strategy = *key;
    strategy->text = ddp ? STR("ddp") : STR("fsdp2");
    if (!node_get(section, STR("strategy")))
        section = automodel_with(a, section, STR("strategy"), key, strategy);
    return automodel_with(a, recipe, STR("distributed"), key, section);
}

const struct node *automodel_normalise(struct facts *f, const struct node *recipe, struct str kind)
{
    const struct source *source = source_get(&f->diags->sources, f->source);
    struct walk w = {f, buf_new(f->arena)};
    const struct node *root = recipe;
    if (!source || str_find(source->text, '$') < source->text.n) root = expanded(&w, recipe);
    return str_is(kind, "diffusion") ? diffusion_distributed(f->arena, root) : root;
}
