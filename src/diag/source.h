/* SPDX-License-Identifier: Apache-2.0 */
/* The texts that were read, and places in them. */
#ifndef MOEPLAN_DIAG_SOURCE_H
#define MOEPLAN_DIAG_SOURCE_H

#include "base/arena.h"

/* A place in a source: 1-based lines and columns, columns in characters (code points), the end
   exclusive. line 0: the whole source. source 0: nowhere. */
struct span {
    uint32_t source, line, column, end_line, end_column;
};

enum { SOURCE_CHECKOUTS = 3 }; /* a place for each framework (facts/param.h) */

struct source {
    struct str path, text;
    uint32_t *line_starts; /* byte offsets, made on first use */
    uint32_t n_lines;
    size_t counted_to; /* a byte whose column is known */
    uint32_t counted_column;
    int checkouts[SOURCE_CHECKOUTS]; /* what facts/checkout.c found around the file: bytes of the
                                        folder's path; 0: not looked, -1: there is none */
};

/* The registry; source numbers start at 1. */
struct sources {
    struct arena *arena;
    struct source *items;
    size_t n, cap;
    bool requests; /* the texts come with requests: what the user names must be a regular file */
};

/* Registers a text and gives its number. Path and text must outlive the registry. */
uint32_t source_add(struct sources *all, struct str path, struct str text);
/* NULL for number 0. */
struct source *source_get(const struct sources *all, uint32_t number);
/* A line's text without its newline; empty beyond the end. */
struct str source_line(struct sources *all, uint32_t number, uint32_t line);
/* The 1-based line of a byte; 0 for source 0. */
uint32_t source_line_at(struct sources *all, uint32_t number, size_t byte);
/* The text at a place, and its bytes [*from, *to); empty where it is no place in a line. */
struct str source_bytes(struct sources *all, struct span at, size_t *from, size_t *to);
/* The place of the bytes [from, to). */
struct span source_span(struct sources *all, uint32_t number, size_t from, size_t to);

#endif
