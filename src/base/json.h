/* SPDX-License-Identifier: Apache-2.0 */
/* Values as JSON text (RFC 8259). */
#ifndef MOEPLAN_BASE_JSON_H
#define MOEPLAN_BASE_JSON_H

#include "base/buf.h"
#include "base/value.h"

/* The top bits of bytes of the word that are below 0x20, 0 when there are none: the lowest bit is
   of such a byte, those above it may be wrong. */
static inline uint64_t json_controls(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return (word - ones * 0x20) & ~word & ones << 7;
}
/* The top bits of bytes of the word that are below 0x20, a quote or a backslash: strings are read
   and written eight bytes at a time. */
static inline uint64_t json_special_bytes(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
    return json_controls(word) | ((((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops);
}
/* A string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void json_add_string(struct buf *out, struct str s);
/* A value; doubles keep a point or an exponent, so that they read back as doubles. Unknown, errors
   and numbers JSON cannot write are null; map keys are written as text. */
void json_add_value(struct buf *out, struct value v);

#endif
