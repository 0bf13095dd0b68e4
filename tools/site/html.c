/* SPDX-License-Identifier: Apache-2.0 */
#include "site/html.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <stdlib.h>

#include "base/map.h"

/* A page with fewer headings is seen whole. */
enum { HEADINGS_LISTED = 7 };

struct render {
    struct arena *arena;
    struct html_page page;
    struct buf text;   /* below the last heading */
    size_t section;    /* the part of that heading, from 1; 0: none yet */
    struct map taken;  /* anchors */
    struct buf index;  /* the list of headings, HTML */
    size_t n_headings; /* in it */
    html_resolve *resolve;
    void *state;
};

void html_escape(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        switch (text.p[i]) {
        case '&': buf_add(out, STR("&amp;")); break;
        case '<': buf_add(out, STR("&lt;")); break;
        case '>': buf_add(out, STR("&gt;")); break;
        case '"': buf_add(out, STR("&quot;")); break;
        default: buf_add_char(out, text.p[i]);
        }
}

static bool is(cmark_node *node, const char *type)
{
    return node && strcmp(cmark_node_get_type_string(node), type) == 0;
}

/* What is read of a node, in one line. */
static void add_text(struct buf *out, cmark_node *node)
{
    cmark_node_type type = cmark_node_get_type(node);
    if (out->n && (is(node, "table_cell") || type == CMARK_NODE_PARAGRAPH)) buf_add_char(out, ' ');
    if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE || type == CMARK_NODE_CODE_BLOCK)
        buf_add(out, str_of(cmark_node_get_literal(node)));
    if (type == CMARK_NODE_SOFTBREAK) buf_add_char(out, ' ');
    for (cmark_node *child = cmark_node_first_child(node); child; child = cmark_node_next(child))
        add_text(out, child);
}

static struct str text_of(struct arena *a, cmark_node *node)
{
    struct buf out = buf_new(a);
    add_text(&out, node);
    return str_trim(buf_str(&out));
}

/* As forges make it of a heading: lower case, "-" for blanks, no other signs but "_". */
static struct str anchor_of(struct arena *a, struct str title, bool keep_case)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i < title.n; i++) {
        char c = title.p[i];
        bool upper = c >= 'A' && c <= 'Z', dot = keep_case && c == '.';
        bool word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || dot;
        if (word || c == '-' || c == ' ' || (unsigned char)c >= 0x80)
            buf_add_char(&out, c == ' ' ? '-' : upper && !keep_case ? (char)(c - 'A' + 'a') : c);
    }
    return buf_str(&out);
}

static cmark_node *new_node(cmark_node_type type, struct str literal)
{
    cmark_node *node = cmark_node_new(type);
    cmark_node_set_literal(node, literal.p);
    return node;
}

/* The node's inline content gets an address. */
static void add_anchor(struct render *r, cmark_node *node, struct str anchor)
{
    struct str tag = arena_printf(r->arena, "<span id=\"%.*s\"></span>", STR_ARG(anchor));
    cmark_node_prepend_child(node, new_node(CMARK_NODE_HTML_INLINE, tag));
}

static void end_section(struct render *r)
{
    if (r->section) r->page.parts.items[r->section - 1].text = buf_str(&r->text);
    r->text = buf_new(r->arena);
}

static void add_to_index(struct render *r, struct str anchor, struct str title)
{
    buf_printf(&r->index, "<li><a href=\"#%.*s\">", STR_ARG(anchor));
    html_escape(&r->index, title);
    buf_add(&r->index, STR("</a></li>\n"));
    r->n_headings++;
}

static void heading(struct render *r, cmark_node *node)
{
    struct str title = text_of(r->arena, node), anchor = anchor_of(r->arena, title, false);
    bool first = r->page.title.n == 0;
    if (!map_put(r->arena, &r->taken, anchor, 0))
        return; /* what is below belongs to the one before */
    end_section(r);
    if (first) r->page.title = title;
    add_anchor(r, node, anchor);
    *VEC_PUSH(r->arena, &r->page.parts) =
        (struct html_part){first ? STR("") : anchor, title, STR("")};
    r->section = r->page.parts.n;
    if (cmark_node_get_heading_level(node) == 2) add_to_index(r, anchor, title);
}

static void table_row(struct render *r, cmark_node *row)
{
    cmark_node *cell = cmark_node_first_child(row);
    struct str title = text_of(r->arena, cell), anchor = anchor_of(r->arena, title, true);
    struct buf rest = buf_new(r->arena);
    if (!anchor.n || !map_put(r->arena, &r->taken, anchor, 0)) return;
    add_anchor(r, cell, anchor);
    while ((cell = cmark_node_next(cell)))
        add_text(&rest, cell);
    *VEC_PUSH(r->arena, &r->page.parts) = (struct html_part){anchor, title, buf_str(&rest)};
}

static void link_to(struct render *r, cmark_node *node)
{
    struct str to = r->resolve(r->state, str_of(cmark_node_get_url(node)));
    cmark_node_set_url(node, str_dup(r->arena, to).p);
}

/* What looks like HTML in our pages is a placeholder, such as <file>: it is shown. */
static void show_html(cmark_node *node)
{
    bool block = cmark_node_get_type(node) == CMARK_NODE_HTML_BLOCK;
    cmark_node_type type = block ? CMARK_NODE_CODE_BLOCK : CMARK_NODE_TEXT;
    cmark_node_replace(node, new_node(type, str_of(cmark_node_get_literal(node))));
    cmark_node_free(node);
}

static void visit(struct render *r, cmark_node *node)
{
    cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE) link_to(r, node);
    if (type == CMARK_NODE_HEADING) heading(r, node);
    if (is(node, "table_row")) table_row(r, node);
    if (type == CMARK_NODE_PARAGRAPH || type == CMARK_NODE_CODE_BLOCK) add_text(&r->text, node);
    if (type == CMARK_NODE_HTML_INLINE || type == CMARK_NODE_HTML_BLOCK) show_html(node);
}

/* A wide table is scrolled by itself, not the page. */
static void wrap_tables(cmark_node *document)
{
    for (cmark_node *node = cmark_node_first_child(document), *next; node; node = next) {
        next = cmark_node_next(node);
        if (!is(node, "table")) continue;
        cmark_node *box = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK);
        cmark_node_set_on_enter(box, "<div class=\"wide\">");
        cmark_node_set_on_exit(box, "</div>");
        cmark_node_insert_before(node, box);
        cmark_node_append_child(box, node);
    }
}

static void list_headings(struct render *r, cmark_node *document)
{
    cmark_node *first = cmark_node_first_child(document);
    if (r->n_headings < HEADINGS_LISTED || !first) return;
    struct str list = buf_str(&r->index);
    list = arena_printf(r->arena,
                        "<nav class=\"contents\" aria-label=\"On this page\"><ul>%.*s</ul></nav>",
                        STR_ARG(list));
    cmark_node_insert_after(first, new_node(CMARK_NODE_HTML_BLOCK, list));
}

static cmark_node *parse(struct str markdown, cmark_parser **parser)
{
    cmark_gfm_core_extensions_ensure_registered();
    *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_parser_attach_syntax_extension(*parser, cmark_find_syntax_extension("table"));
    cmark_parser_feed(*parser, markdown.p, markdown.n);
    return cmark_parser_finish(*parser);
}

/* These are entered and not left. */
static bool is_leaf(cmark_node *node)
{
    cmark_node_type type = cmark_node_get_type(node);
    return type == CMARK_NODE_CODE_BLOCK || type == CMARK_NODE_HTML_INLINE ||
           type == CMARK_NODE_HTML_BLOCK;
}

static void walk(struct render *r, cmark_node *document)
{
    cmark_iter *iter = cmark_iter_new(document);
    cmark_event_type event;
    while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
        cmark_node *node = cmark_iter_get_node(iter);
        if (event == CMARK_EVENT_EXIT || is_leaf(node)) visit(r, node);
    }
    cmark_iter_free(iter);
    end_section(r);
}

struct html_page html_render(struct arena *a, struct str markdown, html_resolve *resolve,
                             void *state)
{
    struct render r = {
        .arena = a, .text = buf_new(a), .index = buf_new(a), .resolve = resolve, .state = state};
    cmark_parser *parser;
    cmark_node *document = parse(markdown, &parser);
    walk(&r, document);
    wrap_tables(document);
    list_headings(&r, document);
    char *html =
        cmark_render_html(document, CMARK_OPT_UNSAFE, cmark_parser_get_syntax_extensions(parser));
    r.page.body = str_dup(a, str_of(html));
    free(html);
    cmark_node_free(document);
    cmark_parser_free(parser);
    return r.page;
}
