/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/rewrite.h"

#include "base/buf.h"

static struct str text_of(const struct diags *all, const struct node *node)
{
    const struct source *s = source_get(&all->sources, node->source);
    return s ? s->text : (struct str){"", 0};
}

bool rewrite_find_entry(const struct node *root, const struct node *node, const struct node **map,
                        size_t *entry)
{
    for (size_t i = 0; root && root->kind != NODE_SCALAR && i < root->n; i++) {
        const struct node *key = root->kind == NODE_MAP ? root->keys[i] : NULL;
        if (key && (key == node || root->items[i] == node)) {
            *map = root;
            *entry = i;
            return true;
        }
        if (rewrite_find_entry(root->items[i], node, map, entry)) return true;
    }
    return false;
}

/* ---- places ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The byte behind the last one of a node that is no blank. */
static size_t content_end(struct str text, const struct node *node)
{
    size_t end = node->to < text.n ? node->to : text.n;
    while (end > node->from && is_blank(text.p[end - 1]))
        end--;
    return end;
}

static bool is_flow(struct str text, const struct node *node)
{
    return node->from < text.n && strchr("{[", text.p[node->from]);
}

/* Whether all below stands inside the node, in its order: nothing is an alias or merged. */
static bool is_plain(struct str text, const struct node *node, size_t from)
{
    if (node->from < from || node->from > text.n) return false;
    for (size_t i = 0; node->kind != NODE_SCALAR && i < node->n; i++) {
        const struct node *key = node->kind == NODE_MAP ? node->keys[i] : node->items[i];
        if (key->from < from || !is_plain(text, node->items[i], key->from)) return false;
        from = content_end(text, node->items[i]);
    }
    return true;
}

/* Whether a key and its value stand in a row, and nothing but a colon and blanks between. */
static bool is_entry(struct str text, const struct node *key, const struct node *value)
{
    if (key->source != value->source || value->from < key->to || value->from > text.n) return false;
    bool colon = false;
    for (size_t i = key->to; i < value->from; i++) {
        if (text.p[i] == '#') /* a comment behind the key of a block */
            i += str_find(str_slice(text, i, value->from), '\n');
        else if (text.p[i] == ':' && !colon)
            colon = true;
        else if (!is_blank(text.p[i]))
            return false;
    }
    return colon && is_plain(text, value, key->to);
}

/* The byte of the newline, or the end of the text. */
static size_t line_end(struct str text, size_t at)
{
    return at + str_find(str_slice(text, at, text.n), '\n');
}

static bool only_blanks(struct str text, size_t from, size_t to)
{
    for (; from < to; from++)
        if (!is_blank(text.p[from])) return false;
    return true;
}

/* Whether a line holds nothing more but a comment. */
static bool only_comment(struct str text, size_t from)
{
    size_t end = line_end(text, from);
    struct str rest = str_trim(str_slice(text, from, end));
    return !rest.n || (rest.p[0] == '#' && rest.p > text.p + from);
}

static void push(struct diags *all, struct text_edits *out, const struct node *at, size_t from,
                 size_t to, struct str text)
{
    *VEC_PUSH(all->arena, out) = (struct text_edit){at->source, from, to, text};
}

/* ---- values ---- */

bool rewrite_value(struct diags *all, const struct node *map, size_t entry, struct str text,
                   struct text_edits *out)
{
    const struct node *key = map->keys[entry], *value = map->items[entry];
    struct str source = text_of(all, key);
    bool block = value->from < source.n && strchr("|>", source.p[value->from]) && value->quoted;
    if (value->kind != NODE_SCALAR || block || !is_entry(source, key, value)) return false;
    bool absent = value->to == value->from; /* "key:" alone */
    push(all, out, key, value->from, value->to,
         absent ? arena_printf(all->arena, " %.*s", STR_ARG(text)) : text);
    return true;
}

/* ---- removal ---- */

/* {a: 1, b: 2}: with the comma behind it, or before the last one. */
static bool remove_flow(struct diags *all, struct str text, const struct node *map, size_t entry,
                        struct text_edits *out)
{
    size_t from = map->keys[entry]->from, to = content_end(text, map->items[entry]);
    size_t next = entry + 1 < map->n ? map->keys[entry + 1]->from : 0;
    if (map->items[entry]->kind != NODE_SCALAR) return false;
    if (next)
        to = next;
    else
        from = content_end(text, map->items[entry - 1]);
    struct str gap = str_slice(text, from, to);
    if (next <= from && next) return false;
    push(all, out, map->keys[entry], from, from + gap.n, (struct str){"", 0});
    return true;
}

bool rewrite_remove(struct diags *all, const struct node *map, size_t entry, struct text_edits *out)
{
    const struct node *key = map->keys[entry], *value = map->items[entry];
    struct str text = text_of(all, key);
    if (map->n < 2 || !is_entry(text, key, value)) return false;
    if (is_flow(text, map)) return remove_flow(all, text, map, entry, out);
    size_t from = str_line_start(text, key->from), end = content_end(text, value);
    if (end < key->to) end = key->to;
    if (!only_blanks(text, from, key->from) || !only_comment(text, end)) return false;
    size_t to = line_end(text, end);
    push(all, out, key, from, to < text.n ? to + 1 : to, (struct str){"", 0});
    return true;
}

/* ---- additions ---- */

/* The deepest map along a path; *rest is what is not there. NULL where something else is. */
static const struct node *deepest(const struct node *root, struct str path, struct str *rest)
{
    struct str name;
    *rest = path;
    while (str_split(&path, '.', &name)) {
        const struct node *next = node_get(root, name);
        if (!next) return root;
        if (next->kind != NODE_MAP) return NULL;
        root = next;
        *rest = path;
    }
    return NULL;
}

static void add_flow(struct diags *all, struct str text, const struct node *map, struct str path,
                     struct str value, struct text_edits *out)
{
    size_t end = content_end(text, map->items[map->n - 1]);
    bool quoted = text.p[map->keys[0]->from] == '"';
    struct buf b = buf_new(all->arena);
    struct str name;
    size_t depth = 0;
    buf_add(&b, STR(", "));
    while (str_split(&path, '.', &name)) {
        buf_printf(&b, quoted ? "\"%.*s\": " : "%.*s: ", STR_ARG(name));
        if (path.n) {
            buf_add_char(&b, '{');
            depth++;
        }
    }
    buf_add(&b, value);
    buf_add_n(&b, '}', depth);
    push(all, out, map->keys[0], end, end, buf_str(&b));
}

static void add_block(struct diags *all, struct str text, const struct node *map, struct str path,
                      struct str value, struct text_edits *out)
{
    size_t indent = map->keys[0]->from - str_line_start(text, map->keys[0]->from);
    size_t end = line_end(text, content_end(text, map->items[map->n - 1]));
    bool crlf = end > 0 && end < text.n && text.p[end - 1] == '\r';
    struct buf b = buf_new(all->arena);
    struct str name;
    if (end == text.n) buf_add_char(&b, '\n');
    while (str_split(&path, '.', &name)) {
        buf_add_n(&b, ' ', indent);
        buf_printf(&b, "%.*s:", STR_ARG(name));
        if (!path.n) buf_printf(&b, " %.*s", STR_ARG(value));
        buf_add(&b, crlf ? STR("\r\n") : STR("\n"));
        indent += 2;
    }
    if (end == text.n) b.n--; /* a text that ended without a newline still does */
    end += end < text.n;
    push(all, out, map->keys[0], end, end, buf_str(&b));
}

bool rewrite_add(struct diags *all, const struct node *root, struct str path, struct str value,
                 struct text_edits *out)
{
    struct str rest;
    const struct node *map = deepest(root, path, &rest);
    if (!map || !map->n) return false;
    struct str text = text_of(all, map->keys[0]);
    size_t last = map->n - 1;
    if (!is_entry(text, map->keys[last], map->items[last]) || map->keys[last]->from < map->from)
        return false;
    if (is_flow(text, map)) {
        add_flow(all, text, map, rest, value, out);
        return true;
    }
    size_t start = str_line_start(text, map->keys[0]->from);
    if (!only_blanks(text, start, map->keys[0]->from)) return false;
    if (!only_comment(text, content_end(text, map->items[last]))) return false;
    add_block(all, text, map, rest, value, out);
    return true;
}
