/* SPDX-License-Identifier: Apache-2.0 */
/* A page of Markdown as HTML, with what a search finds on it. */
#ifndef MOEPLAN_TOOLS_SITE_HTML_H
#define MOEPLAN_TOOLS_SITE_HTML_H

#include "base/buf.h"
#include "base/vec.h"

/* A part of a page that has an address of its own: a heading with what stands below it, or a row of
   a table. */
struct html_part {
    struct str anchor; /* empty: the page itself */
    struct str title, text;
};

struct html_page {
    struct str title; /* of the first heading, plain */
    struct str body;  /* HTML */
    VEC(struct html_part) parts;
};

/* Where a link of the page leads to on the site; the address as it is when it stays. */
typedef struct str html_resolve(void *state, struct str address);

/* Headings get the anchors that forges give them, and a list where there are many; rows of tables
   the word in their first cell, unless another one of the page has it. HTML is shown, not obeyed.
 */
struct html_page html_render(struct arena *a, struct str markdown, html_resolve *resolve,
                             void *state);
/* Text between tags or in an attribute. */
void html_escape(struct buf *out, struct str text);

#endif
