/* SPDX-License-Identifier: Apache-2.0 */
/* YAML through libyaml's event stream. Nodes come from one arena; the children of the collections
   that are still open wait on a stack and are copied off it when their collection ends, so every
   list and map is one exact array. An alias is the anchored node itself: sharing costs nothing
   here, but whoever walks the tree meets the node again, so its expanded size and height count
   against the limits as if it had been written out. */
#include "base/map.h"
#include "base/utf8.h"
#include "doc/duplicate.h"
#include "doc/node.h"
#include "doc/yaml_blame.h"
#include "doc/yaml_repair.h"

enum { MAX_DEPTH = 200, MAX_NODES = 1000000, MAX_DOCUMENTS = 1000 };

struct anchor {
    struct node *node;
    uint32_t size,
        height; /* in nodes and levels, aliases written out; size 0: the collection is still open */
};

struct frame {
    struct node *node;
    size_t first_child; /* on the stack */
    size_t anchor;      /* index + 1, 0: none */
    bool flow;
    uint32_t size, height;
};

struct loader {
    struct arena *arena;
    struct diags *diags;
    struct node_list *docs;
    uint32_t source;
    uint32_t base, lines; /* bytes and lines before the text: see skip_comments */
    struct str text;
    bool ascii;
    size_t byte,
        point; /* a known pair of byte and code point offset, near the last one asked for */
    struct frame *frames; /* [MAX_DEPTH] */
    size_t depth;
    VEC(struct node *) stack;
    VEC(struct anchor) anchors;
    struct map anchor_names;
    uint32_t nodes, documents; /* so far; nodes with aliases written out */
    struct yaml_repair repair;
    yaml_parser_t parser;
    yaml_event_t event; /* the one that is being handled */
    size_t fed;         /* bytes of the text that the parser has been given */
};

static bool is_continuation(struct loader *l, size_t byte)
{
    return byte < l->text.n && ((unsigned char)l->text.p[byte] & 0xC0) == 0x80;
}

/* Whether the next eight bytes are ASCII. */
static bool is_plain_ahead(const struct loader *l)
{
    uint64_t word;
    if (l->text.n - l->byte < sizeof word) return false;
    memcpy(&word, l->text.p + l->byte, sizeof word);
    return !(word & UINT64_C(0x8080808080808080));
}

/* Marks come almost in order, so walking from the last one is cheap. */
static uint32_t walk_to(struct loader *l, size_t point)
{
    while (l->point + sizeof(uint64_t) < point && is_plain_ahead(l)) {
        l->byte += sizeof(uint64_t);
        l->point += sizeof(uint64_t);
    }
    while (l->point < point && l->byte < l->text.n) {
        do
            l->byte++;
        while (is_continuation(l, l->byte));
        l->point++;
    }
    while (l->point > point && l->byte > 0) {
        do
            l->byte--;
        while (is_continuation(l, l->byte));
        l->point--;
    }
    return l->base + (uint32_t)l->byte;
}

/* libyaml counts code points. */
static inline uint32_t byte_of(struct loader *l, size_t point)
{
    if (l->repair.inserted.n) point = yaml_repair_origin(&l->repair, point);
    if (!l->ascii) return walk_to(l, point);
    return l->base + (uint32_t)(point < l->text.n ? point : l->text.n);
}

static inline uint32_t line_of(const struct loader *l, const yaml_mark_t *mark)
{
    return l->lines + (uint32_t)mark->line + 1;
}

static bool complain(struct loader *l, size_t byte, const char *what)
{
    diag_add(l->diags, SEVERITY_ERROR, "yaml-syntax",
             source_span(&l->diags->sources, l->source, byte, byte + 1), "not valid YAML: %s",
             what);
    return false;
}

static bool too_large(struct loader *l, size_t byte, const char *what)
{
    diag_add(l->diags, SEVERITY_ERROR, DOC_TOO_LARGE,
             source_span(&l->diags->sources, l->source, byte, byte + 1), "too large to be read: %s",
             what);
    return false;
}

/* libyaml's error, at the place that is to be mended. */
static bool blame(struct loader *l, const char *problem)
{
    const yaml_parser_t *parser = &l->parser;
    size_t at = byte_of(l, parser->problem_mark.index) - l->base, context = SIZE_MAX;
    if (parser->context) context = byte_of(l, parser->context_mark.index) - l->base;
    struct yaml_blame b = yaml_blame(l->text, at, context, problem);
    complain(l, l->base + b.byte, b.what ? b.what : problem);
    struct diag *d = &l->diags->items[l->diags->n - 1];
    if (b.byte != at)
        diag_note(l->diags, d, "noticed at line %u: %s", line_of(l, &parser->problem_mark),
                  problem);
    else if (parser->context)
        diag_note(l->diags, d, "%s that starts at line %u", parser->context,
                  line_of(l, &parser->context_mark));
    if (b.help) diag_help(l->diags, d, "%s", b.help);
    return false;
}

static bool complain_parser(struct loader *l)
{
    const yaml_parser_t *parser = &l->parser;
    struct guard *guard = arena_guard(l->arena);
    if (parser->error == YAML_MEMORY_ERROR) guard_leave(guard, GUARD_NO_MEMORY);
    if (guard_is_late(guard)) guard_leave(guard, GUARD_TOO_LONG);
    const char *problem = parser->problem ? parser->problem : "cannot be parsed";
    if (parser->error == YAML_READER_ERROR)
        return complain(l, l->base + parser->problem_offset, problem);
    return blame(l, problem);
}

/* ---- making nodes ---- */

static struct node *node_new(struct loader *l, enum node_kind kind, const yaml_event_t *event,
                             size_t text_size)
{
    struct node *node = arena_room(l->arena, sizeof *node + text_size);
    *node = (struct node){.kind = kind,
                          .source = l->source,
                          .line = line_of(l, &event->start_mark),
                          .from = byte_of(l, event->start_mark.index),
                          .to = byte_of(l, event->end_mark.index)};
    return node;
}

static struct str tag_text(struct loader *l, const yaml_char_t *tag)
{
    if (!tag) return (struct str){"", 0};
    struct str core = STR("tag:yaml.org,2002:"), s = str_of((const char *)tag);
    if (!str_starts(s, core)) return str_dup(l->arena, s);
    return arena_printf(l->arena, "!!%s", s.p + core.n);
}

static size_t anchor_add(struct loader *l, const yaml_char_t *name, struct node *node,
                         uint32_t size)
{
    if (!name) return 0;
    *VEC_PUSH(l->arena, &l->anchors) = (struct anchor){node, size, size};
    map_put(l->arena, &l->anchor_names, str_dup(l->arena, str_of((const char *)name)),
            (uint32_t)l->anchors.n - 1); /* the last of a name counts */
    return l->anchors.n;
}

static bool count_nodes(struct loader *l, uint32_t at, uint32_t n)
{
    if (n > MAX_NODES - l->nodes)
        return too_large(l, at, "more than 1,000,000 nodes, aliases written out");
    l->nodes += n;
    return true;
}

/* Puts a finished node of `size` nodes and `height` levels into the open collection, or makes it a
   document. */
static inline void attach(struct loader *l, struct node *node, uint32_t size, uint32_t height)
{
    if (!l->depth) {
        *VEC_PUSH(l->arena, l->docs) = node;
        return;
    }
    struct frame *frame = &l->frames[l->depth - 1];
    frame->size += size;
    if (frame->height < height) frame->height = height;
    *VEC_PUSH(l->arena, &l->stack) = node;
}

static inline bool is_in_brackets(const struct loader *l)
{
    return l->depth && l->frames[l->depth - 1].flow;
}

/* PyYAML takes no tab for the indentation of a line inside brackets. */
static bool check_tabs(struct loader *l, const struct node *node)
{
    size_t at = node->from - l->base;
    bool tab = false;
    for (; at > 0 && (l->text.p[at - 1] == ' ' || l->text.p[at - 1] == '\t'); at--)
        tab = tab || l->text.p[at - 1] == '\t';
    bool first = at == 0 || l->text.p[at - 1] == '\n';
    return !first || !tab || complain(l, l->base + at, "a tab cannot indent a line");
}

/* `|# comment`: libyaml overlooks that a comment needs a space before it. */
static bool check_block_header(struct loader *l, const struct node *node, const yaml_event_t *event)
{
    yaml_scalar_style_t style = event->data.scalar.style;
    if (style != YAML_LITERAL_SCALAR_STYLE && style != YAML_FOLDED_SCALAR_STYLE) return true;
    size_t at = node->from - l->base;
    while (at < l->text.n && strchr("|>+-0123456789", l->text.p[at]))
        at++;
    if (at < l->text.n && l->text.p[at] == '#')
        return complain(l, l->base + at, "a comment needs a space before it");
    return true;
}

static bool on_scalar(struct loader *l, const yaml_event_t *event)
{
    size_t n = event->data.scalar.length;
    struct node *node = node_new(l, NODE_SCALAR, event, n + 1);
    char *text = (char *)(node + 1); /* lies behind the node: one allocation for both */
    memcpy(text, event->data.scalar.value, n);
    text[n] = '\0';
    n = yaml_repair_scalar(&l->repair, text, n);
    node->text = (struct str){text, n};
    node->tag = tag_text(l, event->data.scalar.tag);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (event->data.scalar.anchor) anchor_add(l, event->data.scalar.anchor, node, 1);
    attach(l, node, 1, 1);
    return count_nodes(l, node->from, 1) && (!is_in_brackets(l) || check_tabs(l, node)) &&
           check_block_header(l, node, event);
}

static bool on_alias(struct loader *l, const yaml_event_t *event)
{
    uint32_t at = byte_of(l, event->start_mark.index);
    int64_t i = map_get(&l->anchor_names, str_of((const char *)event->data.alias.anchor));
    if (i == MAP_NONE) return complain(l, at, "alias of an anchor that is not defined");
    struct anchor anchor = l->anchors.items[i];
    if (!anchor.size) return complain(l, at, "alias inside the node that it names");
    if (l->depth + anchor.height > MAX_DEPTH) return too_large(l, at, "nested more than 200 deep");
    attach(l, anchor.node, anchor.size, anchor.height);
    return count_nodes(l, at, anchor.size);
}

static bool open_collection(struct loader *l, enum node_kind kind, const yaml_event_t *event)
{
    bool map = kind == NODE_MAP;
    struct node *node = node_new(l, kind, event, 0);
    if (l->depth == MAX_DEPTH) return too_large(l, node->from, "nested more than 200 deep");
    node->tag = tag_text(l, map ? event->data.mapping_start.tag : event->data.sequence_start.tag);
    const yaml_char_t *name =
        map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    size_t anchor = anchor_add(l, name, node, 0);
    bool flow = map ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                    : event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    if (is_in_brackets(l) && !check_tabs(l, node)) return false;
    l->frames[l->depth++] = (struct frame){
        .node = node, .first_child = l->stack.n, .anchor = anchor, .flow = flow, .size = 1};
    return count_nodes(l, node->from, 1);
}

/* ---- merge keys ---- */

struct merged {
    struct map seen;
    struct node_list keys, values;
};

static bool is_merge(const struct node *key)
{
    return key->kind == NODE_SCALAR && !key->quoted && str_is(key->text, "<<");
}

static bool has_merge(const struct node *map)
{
    for (size_t i = 0; i < map->n; i++)
        if (is_merge(map->keys[i])) return true;
    return false;
}

static void keep_entry(struct loader *l, struct merged *m, const struct node *from, size_t i)
{
    *VEC_PUSH(l->arena, &m->keys) = from->keys[i];
    *VEC_PUSH(l->arena, &m->values) = from->items[i];
}

static bool merge_map(struct loader *l, struct merged *m, const struct node *from, uint32_t at)
{
    if (from->kind != NODE_MAP) return complain(l, at, "<< needs a map or a list of maps");
    for (size_t i = from->n; i-- > 0;) { /* backwards: of duplicates the last counts */
        const struct node *key = from->keys[i];
        if (key->kind != NODE_SCALAR || map_put(l->arena, &m->seen, key->text, 0))
            keep_entry(l, m, from, i);
    }
    return true;
}

/* Replaces `<<: *a` and `<<: [*a, *b]` by the entries that nothing nearer gives: the map itself
   wins over all, and an earlier map of the list over a later one. */
static bool merge(struct loader *l, struct node *map)
{
    struct merged m = {0};
    for (size_t i = 0; i < map->n; i++) {
        if (is_merge(map->keys[i])) continue;
        if (map->keys[i]->kind == NODE_SCALAR) map_put(l->arena, &m.seen, map->keys[i]->text, 0);
        keep_entry(l, &m, map, i);
    }
    for (size_t i = 0; i < map->n; i++) {
        if (!is_merge(map->keys[i])) continue;
        const struct node *value = map->items[i];
        if (value->kind != NODE_LIST && !merge_map(l, &m, value, map->keys[i]->from)) return false;
        for (size_t k = 0; value->kind == NODE_LIST && k < value->n; k++)
            if (!merge_map(l, &m, value->items[k], map->keys[i]->from)) return false;
    }
    map->keys = m.keys.items;
    map->items = m.values.items;
    map->n = m.keys.n;
    return true;
}

/* ---- closing collections ---- */

/* The children from the stack, every second one from `first`: items of a list, or keys or values of
   a map. */
static struct node **take(struct loader *l, const struct frame *frame, size_t first, size_t step,
                          size_t n)
{
    struct node **out = ARENA_ARRAY(l->arena, struct node *, n);
    for (size_t i = 0; i < n; i++)
        out[i] = l->stack.items[frame->first_child + first + i * step];
    return out;
}

/* A block collection ends with its last child; libyaml's mark stands at the next token, lines
   later. */
static void set_end(struct loader *l, struct node *node, const yaml_event_t *event)
{
    node->to = byte_of(l, event->end_mark.index);
    bool flow = event->end_mark.index > event->start_mark.index;
    if (!flow && node->n && node->items[node->n - 1]->to >= node->from)
        node->to = node->items[node->n - 1]->to;
}

static bool close_collection(struct loader *l, const yaml_event_t *event)
{
    struct frame frame = l->frames[--l->depth];
    struct node *node = frame.node;
    size_t n = l->stack.n - frame.first_child;
    bool map = node->kind == NODE_MAP;
    node->n = map ? n / 2 : n;
    node->items = take(l, &frame, map, map ? 2 : 1, node->n);
    if (map) node->keys = take(l, &frame, 0, 2, node->n);
    l->stack.n = frame.first_child;
    set_end(l, node, event);
    if (map && has_merge(node) && !merge(l, node)) return false;
    if (map) map_report_duplicates(l->arena, l->diags, node);
    if (frame.anchor) {
        l->anchors.items[frame.anchor - 1].size = frame.size;
        l->anchors.items[frame.anchor - 1].height = frame.height + 1;
    }
    attach(l, node, frame.size, frame.height + 1);
    return true;
}

/* ---- documents ---- */

/* `%YAML 1.1#`: libyaml overlooks that a comment needs a space before it. */
static bool check_version_directive(struct loader *l, const yaml_event_t *event)
{
    if (!event->data.document_start.version_directive) return true;
    size_t from = byte_of(l, event->start_mark.index) - l->base;
    struct str line = str_slice(l->text, from, l->text.n);
    line = str_slice(line, 0, str_find(line, '\n'));
    size_t hash = str_find(line, '#');
    bool glued = str_starts(line, STR("%YAML")) && hash < line.n && line.p[hash - 1] != ' ' &&
                 line.p[hash - 1] != '\t';
    return !glued || complain(l, l->base + from + hash, "a comment needs a space before it");
}

static bool begin_document(struct loader *l, const yaml_event_t *event)
{
    l->anchors.n = 0;
    l->anchor_names = (struct map){0};
    l->diags->document = (int)l->docs->n;
    if (l->documents++ == MAX_DOCUMENTS)
        return too_large(l, byte_of(l, event->start_mark.index), "more than 1,000 documents");
    return check_version_directive(l, event);
}

static bool on_event(struct loader *l, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT: return true;
    case YAML_DOCUMENT_START_EVENT: return begin_document(l, event);
    case YAML_SCALAR_EVENT: return on_scalar(l, event);
    case YAML_ALIAS_EVENT: return on_alias(l, event);
    case YAML_SEQUENCE_START_EVENT: return open_collection(l, NODE_LIST, event);
    case YAML_MAPPING_START_EVENT: return open_collection(l, NODE_MAP, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return close_collection(l, event);
    }
    return true;
}

static bool read_events(struct loader *l, bool *again)
{
    for (bool end = false; !end;) {
        guard_tick(arena_guard(l->arena));
        if (!yaml_parser_parse(&l->parser, &l->event)) {
            *again = yaml_repair(&l->repair, &l->parser);
            return *again || complain_parser(l);
        }
        end = l->event.type == YAML_STREAM_END_EVENT;
        bool ok = on_event(l, &l->event);
        yaml_event_delete(&l->event);
        if (!ok) return false;
    }
    return true;
}

/* The parser may take very long for one event, and cannot be left in the middle of it: late, it is
   given an error instead of text. */
static int feed(void *state, unsigned char *to, size_t size, size_t *n)
{
    struct loader *l = state;
    struct str rest = str_slice(l->repair.text, l->fed, l->repair.text.n);
    if (guard_is_late(arena_guard(l->arena))) return 0;
    *n = rest.n < size ? rest.n : size;
    if (*n) memcpy(to, rest.p, *n);
    l->fed += *n;
    return 1;
}

static void parser_release(void *state)
{
    struct loader *l = state;
    yaml_event_delete(&l->event);
    yaml_parser_delete(&l->parser);
}

/* One pass over the text; *again when it was repaired and has to be read anew. */
static bool read_text(struct loader *l, bool *again)
{
    struct guard *guard = arena_guard(l->arena);
    struct guard_hold hold;
    if (!yaml_parser_initialize(&l->parser)) guard_leave(guard, GUARD_NO_MEMORY);
    guard_hold(guard, &hold, parser_release, l);
    yaml_parser_set_encoding(&l->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input(&l->parser, feed, l);
    l->fed = 0;
    l->depth = l->nodes = l->documents = 0;
    l->stack.n = 0;
    bool ok = read_events(l, again);
    guard_drop(&hold);
    parser_release(l);
    return ok;
}

/* What libyaml would report poorly or take for something else. */
static bool check_encoding(struct loader *l)
{
    if (str_starts(l->text, STR("\xFF\xFE")) || str_starts(l->text, STR("\xFE\xFF")))
        return complain(l, 0, "the text is UTF-16; save it as UTF-8");
    size_t bad = utf8_check(l->text, &l->ascii);
    if (bad < l->text.n) return complain(l, l->base + bad, "the text is not UTF-8 here");
    size_t nul = str_find(l->text, '\0');
    return nul == l->text.n || complain(l, l->base + nul, "a NUL byte");
}

/* Leaves out `n` bytes that the text begins with. */
static void begin_at(struct loader *l, size_t n)
{
    l->base += (uint32_t)n;
    l->text = str_slice(l->text, n, l->text.n);
}

/* Whether the next eight bytes are printable ASCII. */
static bool is_printable_ahead(struct str text, size_t at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t word;
    if (text.n - at < sizeof word) return false;
    memcpy(&word, text.p + at, sizeof word);
    bool from_blank = (((word | tops) - ones * ' ') & tops) == tops;
    return from_blank && !((word | (word + ones)) & tops); /* below DEL */
}

/* The comments that a text begins with, mostly a licence, are a sixth of what recipes hold, and
   cost libyaml as much as any other bytes: it begins behind them. Where they hold more than
   printable ASCII it has to judge them. */
static void skip_comments(struct loader *l)
{
    struct str text = l->text;
    size_t begin = 0;
    for (size_t at = 0; at < text.n; at++) {
        while (at < text.n && text.p[at] == ' ')
            at++;
        if (at < text.n && text.p[at] == '#') {
            while (is_printable_ahead(text, at))
                at += sizeof(uint64_t);
            while (at < text.n && text.p[at] >= ' ' && text.p[at] <= '~')
                at++;
        }
        if (at == text.n || text.p[at] != '\n') break;
        begin = at + 1;
        l->lines++;
    }
    begin_at(l, begin);
}

bool doc_load_yaml(struct arena *a, struct diags *all, uint32_t source, struct node_list *docs)
{
    struct loader *l = ARENA_NEW(a, struct loader);
    l->arena = a;
    l->diags = all;
    l->docs = docs;
    l->source = source;
    l->text = source_get(&all->sources, source)->text;
    if (str_starts(l->text, STR("\xEF\xBB\xBF"))) begin_at(l, 3);
    if (!check_encoding(l)) return false;
    skip_comments(l);

    l->frames = arena_room(a, MAX_DEPTH * sizeof *l->frames);
    l->repair = (struct yaml_repair){.arena = a, .text = l->text};
    int document = all->document;
    size_t n_docs = docs->n, n_diags = all->n;
    bool again = true, ok = true;
    while (again) {
        again = false;
        docs->n = n_docs;
        all->n = n_diags;
        ok = read_text(l, &again);
    }
    all->document = document;
    return ok;
}
