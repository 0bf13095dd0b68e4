/* SPDX-License-Identifier: Apache-2.0 */
/* Our own pages of Markdown, for a screen. */
#ifndef MOEPLAN_EMIT_MARKDOWN_H
#define MOEPLAN_EMIT_MARKDOWN_H

#include "base/page.h"

/* Appends the page with marks: headings, code, lists and emphasis are shown, not written. */
void markdown_screen(struct str page, struct buf *out);

#endif
