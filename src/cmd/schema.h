/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of JSON Schemas, and the schemas with a file of their own. */
#ifndef MOEPLAN_CMD_SCHEMA_H
#define MOEPLAN_CMD_SCHEMA_H

#include "emit/json_writer.h"
#include "facts/param.h"

/* Opens a schema of a mapping; the caller writes what it holds and closes it. */
void schema_head(struct json_writer *w, const char *title);
/* `moeplan: 1`, and `kind` where it is not NULL: members of properties. */
void schema_mark(struct json_writer *w, const char *kind);
/* A member of properties under the parameter's name: its type, choices, range and meaning. */
void schema_param(struct json_writer *w, const struct param *p);
/* The members of it that explain. */
void schema_words(struct json_writer *w, const struct param *p);
/* A member that is the parameter under another name: it leads to $defs/parameters. */
void schema_reference(struct json_writer *w, struct str other, const struct param *p);
/* Members that are text; keys end with NULL. */
void schema_texts(struct json_writer *w, const char *const *keys);

void schema_platform(struct json_writer *w);
void schema_rules(struct json_writer *w);
void schema_automodel(struct json_writer *w);

#endif
