/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/quote.h"
#include "base/vec.h"
#include "doc/node.h"
#include "facts/bridge_read.h"

static struct value scalar_of(struct arena *a, struct str text)
{
    struct node node = {.kind = NODE_SCALAR, .text = text};
    if (str_is(text, "None")) return value_null();
    if (str_find_str(text, STR("${")) < text.n) return value_unknown();
    return node_value(a, &node, SCALAR_CORE);
}

static struct value quoted_of(struct arena *a, struct str text, size_t *at)
{
    struct buf word = buf_new(a);
    bool known = quote_take_hydra(text, at, &word);
    if (!known) *at = text.n;
    return known ? value_string(buf_str(&word)) : value_unknown();
}

static bool is_at(struct str text, size_t at, char c)
{
    return at < text.n && text.p[at] == c;
}

static void skip_gaps(struct str text, size_t *at)
{
    while (is_at(text, *at, ' ') || is_at(text, *at, ','))
        ++*at;
}

/* Brackets and braces around a value, and what ends it: 0, the text alone. */
struct nesting {
    int depth;
    char end;
};
static struct value parse_value(struct arena *a, struct str text, size_t *at, struct nesting in);

/* The items up to the closing bracket; of a map in braces each is behind KEY: and a colon. */
static struct value parse_items(struct arena *a, struct str text, size_t *at, int depth)
{
    bool map = text.p[(*at)++] == '{';
    struct nesting in = {depth + 1, map ? '}' : ']'};
    VEC(struct value) keys = {0}, items = {0};
    for (skip_gaps(text, at); *at < text.n && !is_at(text, *at, in.end); skip_gaps(text, at)) {
        size_t colon = *at + (map ? str_find(str_slice(text, *at, text.n), ':') : 0);
        if (map) *VEC_PUSH(a, &keys) = value_string(str_trim(str_slice(text, *at, colon)));
        *at = map && colon < text.n ? colon + 1 : colon;
        *VEC_PUSH(a, &items) = parse_value(a, text, at, in);
    }
    *at += *at < text.n;
    return map ? value_map_of(a, keys.items, items.items, items.n)
               : value_list_of(a, items.items, items.n);
}

/* A value as Hydra writes it: a scalar, a list in brackets or a map in braces. `at` moves behind
   it. */
static struct value parse_value(struct arena *a, struct str text, size_t *at, struct nesting in)
{
    if (is_at(text, *at, '"') || is_at(text, *at, '\'')) return quoted_of(a, text, at);
    if (in.depth <= 20 && (is_at(text, *at, '[') || is_at(text, *at, '{')))
        return parse_items(a, text, at, in.depth);
    size_t from = *at;
    while (*at < text.n && (!in.end || (!is_at(text, *at, ',') && !is_at(text, *at, in.end))))
        ++*at;
    return scalar_of(a, str_trim(str_slice(text, from, *at)));
}

struct value bridge_value(struct arena *a, struct str text)
{
    size_t at = 0;
    return parse_value(a, text, &at, (struct nesting){0});
}
