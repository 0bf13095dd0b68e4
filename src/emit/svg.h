/* SPDX-License-Identifier: Apache-2.0 */
/* A screen as a picture: for pages that show one. */
#ifndef MOEPLAN_EMIT_SVG_H
#define MOEPLAN_EMIT_SVG_H

#include "base/page.h"

/* Appends an SVG of a screen with marks, wrapped at `width` columns: text that can be read, found
   and copied, dark on light or the other way round as the reader's page is. */
void svg_screen(struct str marked, int width, struct buf *out);

#endif
