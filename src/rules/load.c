/* SPDX-License-Identifier: Apache-2.0 */
#include "base/edit.h"
#include "base/io.h"
#include "base/path.h"
#include "facts/reader.h"
#include "rules/record.h"

static struct loader loader_new(struct arena *a, struct diags *diags, const struct rule_set *base)
{
    struct loader l = {.arena = a, .diags = diags};
    if (!base) return l;
    for (uint32_t i = 0; i < base->n_conditions; i++) {
        *VEC_PUSH(a, &l.conditions) = base->conditions[i];
        map_put(a, &l.condition_of, expr_source(base->conditions[i]), i);
    }
    for (uint32_t i = 0; i < base->n; i++)
        map_put(a, &l.ids, base->items[i]->id, i);
    for (uint32_t i = 0; i < base->n_guides; i++) {
        *VEC_PUSH(a, &l.guides) = base->guides[i];
        map_put(a, &l.guide_ids, base->guides[i].id, i);
    }
    return l;
}

static struct rule_set loader_finish(struct loader *l, const struct rule_set *base)
{
    struct rule_set set =
        set_build(l->arena, base, &l->fresh, l->conditions.items, l->conditions.n);
    set.guides = l->guides.items;
    set.n_guides = l->guides.n;
    return set;
}

/* The items of a list under a key of the file; an absent key is an empty list. */
static struct node_list list_of(struct loader *l, const struct node *file, const char *key)
{
    const struct node *list = node_get(file, str_of(key));
    if (!list) return (struct node_list){0};
    if (list->kind != NODE_LIST) {
        record_error(l, list, "%s must be a list", key);
        return (struct node_list){0};
    }
    return (struct node_list){list->items, list->n, list->n};
}

/* An optional text of a guide row. */
static void row_text(struct loader *l, const struct node *row, const char *key, struct str *out)
{
    const struct node *text = node_get(row, str_of(key));
    if (text) record_text(l, text, key, out);
}

static void guide_read(struct loader *l, const struct node *node)
{
    const struct node *id = node_get(node, STR("id")), *text = node_get(node, STR("text"));
    struct guide_row row = {0};
    if (!id || !text || !record_text(l, id, "id", &row.id) ||
        !record_text(l, text, "text", &row.text)) {
        record_error(l, node, "a guide is a mapping with id and text");
        return;
    }
    record_check_keys(l, node, (const char *const[]){"id", "text", "source", "date", "why", NULL});
    row_text(l, node, "source", &row.source);
    row_text(l, node, "date", &row.date);
    row_text(l, node, "why", &row.why);
    *VEC_PUSH(l->arena, &l->guides) = row;
    if (!map_put(l->arena, &l->guide_ids, row.id, (uint32_t)l->guides.n - 1))
        record_error(l, id, "the guide %.*s is there already", STR_ARG(row.id));
}

static void file_read(struct loader *l, const struct node *file)
{
    static const char *const keys[] = {"moeplan",     "kind",   "frameworks",
                                       "variables",   "guides", "overrides",
                                       "assumptions", "rules",  NULL};
    record_check_keys(l, file, keys);
    static const struct version_range every[FRAMEWORK_COUNT] = {
        {.applies = true}, {.applies = true}, {.applies = true}};
    l->variables.n = 0;
    const struct node *variables = node_get(file, STR("variables"));
    const struct node *frameworks = node_get(file, STR("frameworks"));
    l->in = frameworks ? record_frameworks(l, frameworks) : every;
    struct node_list guides = list_of(l, file, "guides");
    static const char *const lists[] = {"rules", "overrides",
                                        "assumptions"}; /* by enum rule_role */
    if (variables) record_variables(l, variables);
    for (size_t i = 0; i < guides.n; i++)
        guide_read(l, guides.items[i]);
    for (size_t role = 0; role < sizeof lists / sizeof *lists; role++) {
        struct node_list records = list_of(l, file, lists[role]);
        for (size_t i = 0; i < records.n; i++)
            record_read(l, records.items[i], (enum rule_role)role);
    }
}

/* Whether a document holds rules: moeplan's other kinds of data are left to their own loaders. */
static bool is_rules(struct loader *l, const struct node *doc)
{
    static const char *const kinds[] = {"Rules", "Parameters", "Model", "Platform", NULL};
    const struct node *mark = node_get(doc, STR("moeplan")), *kind = node_get(doc, STR("kind"));
    if (!mark || !kind || !str_is(mark->text, "1")) {
        record_error(l, doc, "a rule file begins with moeplan: 1 and kind: Rules");
        return false;
    }
    struct str nearest;
    int which = edit_index(kind->text, kinds, &nearest);
    if (which >= 0 || reader_is_built_in(doc)) return which == 0;
    if (!nearest.n) edit_index(kind->text, reader_built_in_kinds, &nearest);
    struct diag *d = record_error(l, kind, "unknown kind %.*s", STR_ARG(kind->text));
    const char *known = "one of Rules, Parameters, Model, Platform";
    if (nearest.n)
        diag_help(l->diags, d, "did you mean %.*s? %s", STR_ARG(nearest), known);
    else
        diag_help(l->diags, d, "%s", known);
    return false;
}

static void text_read(struct loader *l, uint32_t source, struct str suite)
{
    struct node_list docs = {0};
    size_t before = l->diags->n;
    if (!doc_load_yaml(l->arena, l->diags, source, &docs)) l->failed = true;
    for (size_t i = before; i < l->diags->n; i++)
        if (str_is(l->diags->items[i].rule, "duplicate-key")) l->failed = true;
    l->suite = suite;
    for (size_t i = 0; i < docs.n; i++)
        if (is_rules(l, docs.items[i])) file_read(l, docs.items[i]);
}

static void unreadable(struct loader *l, struct str path, struct str why)
{
    struct span whole = {.source = source_add(&l->diags->sources, path, STR(""))};
    diag_add(l->diags, SEVERITY_ERROR, "rule-file", whole, "cannot be read: %.*s", STR_ARG(why));
    l->failed = true;
}

static void path_read(struct loader *l, struct str path, struct str suite)
{
    struct str text, error;
    if (io_read(l->arena, path.p, &text, &error))
        text_read(l, source_add(&l->diags->sources, path, text), suite);
    else
        unreadable(l, path, error);
}

bool rules_load_text(struct arena *a, struct diags *diags, uint32_t source,
                     const struct rule_set *base, struct rule_set *out)
{
    struct loader l = loader_new(a, diags, base);
    text_read(&l, source, source_get(&diags->sources, source)->path);
    *out = loader_finish(&l, base);
    return !l.failed;
}

bool rules_load_files(struct arena *a, struct diags *diags, const struct str *paths, size_t n,
                      const struct rule_set *base, struct rule_set *out)
{
    struct loader l = loader_new(a, diags, base);
    for (size_t i = 0; i < n; i++)
        path_read(&l, paths[i], paths[i]);
    *out = loader_finish(&l, base);
    return !l.failed;
}

bool rules_files(struct arena *a, struct str path, struct path_list *out, struct str *error)
{
    if (io_is_folder(path.p))
        return dir_list(a, path.p, (const char *const[]){".yaml", ".yml", NULL}, out, error);
    *VEC_PUSH(a, out) = path;
    return true;
}

bool rules_load(struct arena *a, struct diags *diags, const char *path, const struct rule_set *base,
                struct rule_set *out)
{
    struct loader l = loader_new(a, diags, base);
    struct path_list paths = {0};
    struct str error, root = str_dup(a, str_of(path));
    if (!rules_files(a, root, &paths, &error)) unreadable(&l, root, error);
    size_t skip = io_is_folder(path) ? root.n + !str_ends(root, STR("/")) : path_folder(root).n;
    for (size_t i = 0; i < paths.n; i++)
        path_read(&l, paths.items[i],
                  str_dup(a, str_slice(paths.items[i], skip, paths.items[i].n)));
    for (size_t i = 0; i < paths.unread.n; i++)
        unreadable(&l, paths.unread.items[i].path, paths.unread.items[i].why);
    *out = loader_finish(&l, base);
    return !l.failed;
}
