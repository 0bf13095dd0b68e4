/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of logs: text that comes in pieces cut into them, and numbers in one. */
#ifndef MOEPLAN_FACTS_LINE_H
#define MOEPLAN_FACTS_LINE_H

#include "base/buf.h"

enum { LINE_LONGEST = 64 * 1024 }; /* bytes; what a line has beyond is dropped */

/* The line that is not yet whole. */
struct line_cutter {
    struct buf rest;
};

typedef void line_take(void *context, struct str line);

struct line_cutter line_cutter_new(struct arena *a);
/* Gives every line that a piece completes to `take`, without its end. */
void line_cut(struct line_cutter *c, struct str piece, line_take *take, void *context);
/* The last line, where the text does not end with one's end. */
void line_cut_end(struct line_cutter *c, line_take *take, void *context);

/* The number at the start of a text: digits, point, exponent; false when there is none. */
bool line_leading_number(struct str s, double *out);
/* The number after a label; false when the line does not have both. */
bool line_number_after(struct str line, const char *label, double *out);

#endif
