/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people, and the one place where it is fitted to what it is shown on. Whoever writes a
   screen writes whole lines with marks in them; page_render wraps them to the terminal's width,
   colours them by meaning, and says them in ASCII where the locale has no UTF-8. Marks are control
   characters, which no text of foreign origin brings along (base/quote.h). */
#ifndef MOEPLAN_BASE_PAGE_H
#define MOEPLAN_BASE_PAGE_H

#include "base/buf.h"

/* At the beginning of a line: it is never wrapped (commands, the first line of a finding) … */
#define MARK_VERBATIM "\001"
/* … or only at the terminal's width, beyond that of prose (tables, bars). */
#define MARK_WIDE "\005"
/* Within a line: what is wrapped goes on in this column. Without it that is the last column of text
   behind two blanks in the line's first half, else two columns right of its beginning, below it
   in a paragraph without label. */
#define MARK_HANG "\004"
/* Colours, by what they mean; each up to MARK_END. What they say stands in words too. */
#define MARK_ERROR "\002e"
#define MARK_WARNING "\002w"
#define MARK_INFO "\002i"
#define MARK_GOOD "\002g"
#define MARK_HEADING "\002h"
#define MARK_FAINT "\002f"
#define MARK_CODE "\002c"
#define MARK_END "\003"

/* PAGE_PROSE: the widest that prose gets, PAGE_LEAST the narrowest terminal that is heeded. */
enum { PAGE_PROSE = 100, PAGE_LEAST = 40 };

/* What a screen is shown on. */
struct view {
    int width;   /* columns of the terminal; 0: no terminal, nothing is wrapped */
    bool colour; /* colours are wanted */
    bool ascii;  /* the locale has no UTF-8 */
};

/* The text as it is shown. Control characters other than line ends, tabs and marks become visible
   escapes. */
struct str page_render(struct arena *a, struct str marked, struct view view);
/* Columns that a text of one line takes, marks none. */
int page_width(struct str marked);

#endif
