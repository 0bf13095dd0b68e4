/* SPDX-License-Identifier: Apache-2.0 */
/* A diagnostic as a person reads it:
       FILE:LINE:COL: severity[rule-id]: message
          54 |   ep_size: 48
             |            ^^
          = note: ...
          = help: ...
          = more: moeplan explain rule-id, https://… where its page is */
#ifndef MOEPLAN_DIAG_RENDER_TEXT_H
#define MOEPLAN_DIAG_RENDER_TEXT_H

#include "base/page.h"
#include "diag/diag.h"

/* Appends one diagnostic as lines with marks (base/page.h). Tabs and wide characters keep the caret
   in place, a long line of source is cut to what stands around the place and fits on a terminal of
   `width` columns (0: none), and control characters from the file never reach the terminal. */
void render_text(struct buf *out, struct diags *all, const struct diag *d, int width);
/* Its first line alone. */
void render_headline(struct buf *out, struct diags *all, const struct diag *d);

#endif
