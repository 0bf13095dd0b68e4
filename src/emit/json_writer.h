/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text, member by member, straight into a buf: for answers of many members at thousands a
 * second. */
#ifndef MOEPLAN_EMIT_JSON_WRITER_H
#define MOEPLAN_EMIT_JSON_WRITER_H

#include "base/buf.h"
#include "base/num.h"
#include "base/value.h"

struct json_writer {
    struct buf *out;
    bool comma; /* something stands before the next member */
};

static inline struct json_writer json_writer_new(struct buf *out)
{
    return (struct json_writer){.out = out};
}

/* The key is NULL for items of a list and for the outermost value. */

/* A comma where one is due, and the key: the caller appends the value to `out`. */
void json_key(struct json_writer *w, const char *key);
void json_open(struct json_writer *w, const char *key, char bracket);
void json_close(struct json_writer *w, char bracket);
void json_str(struct json_writer *w, const char *key, struct str s);
/* Nothing at all when the string is empty. */
void json_optional_str(struct json_writer *w, const char *key, struct str s);
void json_strs(struct json_writer *w, const char *key, const struct str *items, size_t n);
void json_int(struct json_writer *w, const char *key, int64_t i);
void json_bool(struct json_writer *w, const char *key, bool b);
void json_null(struct json_writer *w, const char *key);
/* A finite number with at most `digits` significant digits, enough for what is measured or
   estimated. */
void json_number(struct json_writer *w, const char *key, double d, int digits);
/* A finite number with all its digits, as the figures of an estimate have them. Its text costs more
   than all else of a member: `last`, zeroed before the first, keeps it for the next of the kind. */
struct json_figure {
    double d;
    char text[NUM_TEXT];
};
void json_figure(struct json_writer *w, const char *key, double d, struct json_figure *last);
/* A user's own value: what JSON cannot write is null. */
void json_value(struct json_writer *w, const char *key, struct value v);

#endif
