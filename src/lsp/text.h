/* SPDX-License-Identifier: Apache-2.0 */
/* Places in a text as editors count them: lines from 0, and in a line the UTF-16 units from 0. */
#ifndef MOEPLAN_LSP_TEXT_H
#define MOEPLAN_LSP_TEXT_H

#include "diag/source.h"
#include "emit/json_writer.h"

struct place {
    int64_t line, unit;
};

/* A line without its end, a part of the text; beyond the last, what is empty at its end. */
struct str text_line(struct str text, int64_t line);
/* The byte of a line that a place is at; a place beyond the line's end is at its end. */
size_t text_byte(struct str line, int64_t unit);
/* The byte of the whole text that a place is at, within the text wherever the place is. */
size_t text_offset(struct str text, struct place place);
/* UTF-16 units of a text. */
int64_t text_units(struct str text);
/* Writes {"start","end"} of a span; the whole source is its first place. */
void text_range(struct json_writer *w, struct sources *sources, struct span at);
/* Whether the span holds the place; its end does too, as the cursor stands behind what it is on. */
bool text_holds(struct sources *sources, struct span at, struct place place);

#endif
