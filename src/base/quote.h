/* SPDX-License-Identifier: Apache-2.0 */
/* Text of foreign origin on its way into an output: names, paths, values and messages that somebody
   else wrote. One function for each language that we write (JSON: base/json.h). A text that is
   harmless there comes back as it is, so that these cost nothing in the ordinary case. */
#ifndef MOEPLAN_BASE_QUOTE_H
#define MOEPLAN_BASE_QUOTE_H

#include "base/buf.h"

/* Whether a code point may act on a terminal or on the order in which a line is read: controls,
   line and paragraph separators, marks that turn the writing direction. */
bool quote_is_hazard(uint32_t point);

/* For people: one line of a terminal, a comment, a Markdown page. Hazards and bytes that are not
   UTF-8 become visible escapes (\n, \x1b, \u2028); a backslash stays. Never longer than one line.
 */
struct str quote_line(struct arena *a, struct str s);
/* Arguments for a "%.*s" conversion that prints foreign text within a line. */
#define LINE_ARG(a, s) STR_ARG(quote_line((a), (s)))
/* A whole text: line ends and tabs stay. */
struct str quote_screen(struct arena *a, struct str s);
/* A word of a POSIX shell that gives the same bytes back: bare, in single quotes, or as bash's
   $'...' where there are hazards. A NUL, which no word of a shell can hold, ends it. */
struct str quote_shell(struct arena *a, struct str s);
/* Reads bash's $'…': `*at` is behind the opening quote and moves behind the closing one; a NUL ends
   the text, as in bash. False when it is not closed. */
bool quote_take_ansi(struct str text, size_t *at, struct buf *out);
/* A YAML 1.1 and 1.2 scalar that gives the same text back and is a string in both: plain or in
   double quotes. Bytes that are not UTF-8, which YAML cannot hold, become U+FFFD. */
struct str quote_yaml(struct arena *a, struct str s);
/* A value of a Hydra override: bare, or in double quotes. */
struct str quote_hydra(struct arena *a, struct str s);
/* Reads one that is in quotes: `*at` is on the opening quote and moves behind the closing one.
   False when it is not closed, or has a ${…} that OmegaConf would replace. */
bool quote_take_hydra(struct str text, size_t *at, struct buf *out);
/* A text in a workflow command of GitHub; `property`: between "::" and the next "::". */
struct str quote_github(struct arena *a, struct str s, bool property);

#endif
