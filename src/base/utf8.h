/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: checked once on the way in, then walked. */
#ifndef MOEPLAN_BASE_UTF8_H
#define MOEPLAN_BASE_UTF8_H

#include "base/str.h"

/* Byte offset of the first byte that is not part of valid UTF-8 (no surrogates, no overlong forms),
   or s.n. *ascii: the whole text is ASCII. */
size_t utf8_check(struct str s, bool *ascii);
/* The bytes that the code point at byte `at` (below s.n) takes; U+FFFD and 1 where the text is not
   UTF-8. */
size_t utf8_next(struct str s, size_t at, uint32_t *point);
/* Code points of a text, each byte that is not UTF-8 being one. */
size_t utf8_count(struct str s);
/* Writes a code point and returns its length in bytes; surrogates and values above U+10FFFF become
   U+FFFD. */
size_t utf8_encode(uint32_t point, char out[4]);
/* Columns that a terminal gives to the code point: 0 (combining, zero width), 1 or 2 (wide). */
int utf8_width(uint32_t point);

#endif
