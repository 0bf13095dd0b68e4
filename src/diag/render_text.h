/* SPDX-License-Identifier: Apache-2.0 */
/* A diagnostic as a person reads it:
       FILE:LINE:COL: severity[rule-id]: message
          54 |   ep_size: 48
             |            ^^
          = note: ...
          = help: ... */
#ifndef MOEPLAN_DIAG_RENDER_TEXT_H
#define MOEPLAN_DIAG_RENDER_TEXT_H

#include "base/buf.h"
#include "diag/diag.h"

/* Appends one diagnostic. Tabs and wide characters keep the caret in place, a long line is cut to
   what stands around the place, and control characters from the file never reach the terminal. */
void render_text(struct buf *out, struct diags *all, const struct diag *d, bool colour);

#endif
