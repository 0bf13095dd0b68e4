/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/baseline.h"

#include "base/json.h"
#include "base/num.h"
#include "base/sort.h"

/* ---- entries ---- */

static struct str key_of(struct arena *a, const struct known_finding *k)
{
    return arena_printf(a, "%.*s\x1f%.*s\x1f%.*s\x1f%.*s", STR_ARG(k->path), STR_ARG(k->rule),
                        STR_ARG(k->parameter), STR_ARG(k->values));
}

static struct known_finding known_of(struct diags *diags, const struct diag *d, struct str path)
{
    return (struct known_finding){.path = path,
                                  .rule = d->rule,
                                  .parameter = d->parameter,
                                  .values = diag_values(diags, d),
                                  .count = 1};
}

static struct known_finding *find(const struct baseline *b, struct arena *a,
                                  const struct known_finding *k)
{
    int64_t at = map_get(&b->index, key_of(a, k));
    return at == MAP_NONE ? NULL : &b->items[at];
}

static void add(struct baseline *b, const struct known_finding *k)
{
    struct known_finding *known = find(b, b->arena, k);
    if (known) {
        known->count += k->count;
        return;
    }
    struct arena *a = b->arena;
    struct known_finding *copy = VEC_PUSH(a, b);
    *copy = *k;
    copy->path = str_dup(a, k->path);
    copy->rule = str_dup(a, k->rule);
    copy->parameter = str_dup(a, k->parameter);
    copy->values = str_dup(a, k->values);
    map_put(a, &b->index, key_of(a, copy), (uint32_t)b->n - 1);
}

/* ---- reading ---- */

static bool complain(struct diags *diags, const struct node *at, const char *what)
{
    diag_add(diags, SEVERITY_ERROR, "baseline", node_span(diags, at), "%s", what);
    return false;
}

static struct str text_at(const struct node *map, const char *key)
{
    const struct node *node = node_get(map, str_of(key));
    return node && node->kind == NODE_SCALAR && node->quoted ? node->text : (struct str){"", 0};
}

static bool read_day(struct diags *diags, const struct node *map, struct str *out)
{
    *out = text_at(map, "until");
    if (!out->n || day_is_valid(*out)) return true;
    return complain(diags, node_get(map, STR("until")), "until is a day such as 2026-12-31");
}

static bool read_entry(struct baseline *b, struct diags *diags, const struct node *node)
{
    const struct node *count = node_get(node, STR("count"));
    int64_t n = 1;
    struct known_finding k = {.path = text_at(node, "path"),
                              .rule = text_at(node, "rule"),
                              .parameter = text_at(node, "parameter"),
                              .values = text_at(node, "values")};
    if (!k.path.n || !k.rule.n) return complain(diags, node, "a finding has a path and a rule");
    if (count && (!num_parse_int(count->text, &n) || n < 1))
        return complain(diags, count, "count is a number from 1 on");
    if (!read_day(diags, node, &k.until)) return false;
    k.count = (size_t)n;
    add(b, &k);
    return true;
}

bool baseline_read(struct baseline *b, struct diags *diags, uint32_t source)
{
    const struct node *root = doc_load_json(b->arena, diags, source);
    const struct node *mark = node_get(root, STR("moeplan_baseline")),
                      *list = node_get(root, STR("findings"));
    if (!root) return false;
    if (!mark || !str_is(mark->text, "1") || !list || list->kind != NODE_LIST)
        return complain(diags, root, "a baseline has moeplan_baseline: 1 and findings");
    bool good = read_day(diags, root, &b->until);
    for (size_t i = 0; i < list->n; i++)
        good &= read_entry(b, diags, list->items[i]);
    return good;
}

/* ---- use ---- */

static struct known_finding *find_known(const struct baseline *b, struct diags *diags,
                                        const struct diag *d, struct str path)
{
    struct known_finding k = known_of(diags, d, path);
    return diag_is_fatal(d) ? NULL : find(b, diags->arena, &k);
}

static bool is_over(const struct baseline *b, const struct known_finding *known, struct str today)
{
    return day_is_over(known->until.n ? known->until : b->until, today);
}

static bool is_known(struct baseline *b, struct diags *diags, const struct diag *d, struct str path,
                     struct str today)
{
    struct known_finding *known = find_known(b, diags, d, path);
    if (!known || known->met == known->count) return false;
    known->met++;
    return !is_over(b, known, today);
}

bool baseline_knows(const struct baseline *b, struct diags *diags, const struct diag *d,
                    struct str path, struct str today)
{
    const struct known_finding *known = find_known(b, diags, d, path);
    size_t same = 0;
    if (!known || is_over(b, known, today)) return false;
    for (size_t i = 0; i < diags->n; i++)
        same += find_known(b, diags, &diags->items[i], path) == known;
    return same <= known->count;
}

void baseline_hide(struct baseline *b, struct diags *diags, struct str path, struct str today)
{
    size_t kept = 0;
    if (map_get(&b->looked_at, path) == MAP_NONE)
        map_put(b->arena, &b->looked_at, str_dup(b->arena, path), 0);
    for (size_t i = 0; i < diags->n; i++) {
        const struct diag *d = &diags->items[i];
        if (is_known(b, diags, d, path, today))
            diag_hide(diags, d, DIAG_KNOWN, STR("in the baseline"));
        else
            diags->items[kept++] = *d;
    }
    diags->n = kept;
}

void baseline_add(struct baseline *b, struct diags *diags, struct str path)
{
    for (size_t i = 0; i < diags->n; i++) {
        struct known_finding k = known_of(diags, &diags->items[i], path);
        if (!diag_is_fatal(&diags->items[i])) add(b, &k);
    }
}

size_t baseline_gone(const struct baseline *b)
{
    size_t gone = 0;
    for (size_t i = 0; i < b->n; i++)
        if (map_get(&b->looked_at, b->items[i].path) != MAP_NONE)
            gone += b->items[i].count - b->items[i].met;
    return gone;
}

/* ---- writing ---- */

static int cmp_known(const void *left, const void *right)
{
    const struct known_finding *a = left, *b = right;
    int order = str_cmp(a->path, b->path);
    if (!order) order = str_cmp(a->rule, b->rule);
    if (!order) order = str_cmp(a->parameter, b->parameter);
    return order ? order : str_cmp(a->values, b->values);
}

static void write_member(struct buf *out, const char *name, struct str value)
{
    if (!value.n) return;
    buf_printf(out, ", \"%s\": ", name);
    json_add_string(out, value);
}

static void write_entry(struct buf *out, const struct known_finding *k)
{
    buf_add(out, STR("{\"path\": "));
    json_add_string(out, k->path);
    write_member(out, "rule", k->rule);
    write_member(out, "parameter", k->parameter);
    write_member(out, "values", k->values);
    write_member(out, "until", k->until);
    if (k->count > 1) buf_printf(out, ", \"count\": %zu", k->count);
    buf_add_char(out, '}');
}

void baseline_write(struct baseline *b, struct buf *out)
{
    sort_items(b->items, b->n, sizeof *b->items, cmp_known);
    buf_add(out, STR("{\"moeplan_baseline\": 1"));
    write_member(out, "until", b->until);
    buf_add(out, STR(", \"findings\": ["));
    for (size_t i = 0; i < b->n; i++) {
        buf_add(out, i ? STR(",\n  ") : STR("\n  "));
        write_entry(out, &b->items[i]);
    }
    buf_add(out, STR("\n]}\n"));
}
