/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that the reader of Megatron-Bridge's files (read_bridge.c) is made of. */
#ifndef MOEPLAN_FACTS_BRIDGE_READ_H
#define MOEPLAN_FACTS_BRIDGE_READ_H

#include "facts/reader.h"

struct flag_word;
struct flag_words;

/* A value as Hydra writes it: a scalar, a list in brackets or a map in braces, to any depth; what
   stands behind it is not looked at. An interpolation, and quotes that do not end, are unknown. */
struct value bridge_value(struct arena *a, struct str text);
/* The settings of a mapping, by dotted keys, and what is wrong in it. */
void bridge_read_yaml(struct facts *f, const struct node *doc);
/* The node of an override: its one item is the piece of the file that its text is from. */
struct node *bridge_word_node(struct facts *f, const struct flag_word *word);
/* Finds the recipe where an option, the command line or the head of the text names it, and makes
   its values and its model's the defaults; a name near one of Bridge's is a diagnostic. */
void bridge_stand_on_command(struct facts *f, struct str text, const struct flag_words *words,
                             const struct read_options *options);
/* The same of the recipe that a document calls. */
void bridge_stand_on_target(struct facts *f, const struct node *doc);

#endif
