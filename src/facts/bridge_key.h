/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the reader of Megatron-Bridge: what is Bridge's (bridge_detect.c), and its fields by their
   dotted keys (bridge_key.c). read_bridge.c walks documents and overrides. */
#ifndef MOEPLAN_FACTS_BRIDGE_KEY_H
#define MOEPLAN_FACTS_BRIDGE_KEY_H

#include "facts/bridge.h"

/* How surely a text, or the document in it, is Bridge's, as readers say it; 0: it is not. */
int bridge_detect(struct str text, const struct node *doc);
/* Whether a document is a whole configuration, as Bridge writes it. */
bool bridge_is_dump(const struct node *doc);

/* Whether the release of the facts has such a key. */
bool bridge_has_key(const struct facts *f, struct str key);
/* Whether a word is one of the sections of a run's configuration. */
bool bridge_is_section(struct str key);
/* The section that a word is most likely a slip of; empty: none, or it is one itself. */
struct str bridge_section_meant(struct str key);
/* The key of a field in the section that has it; empty: none has. */
struct str bridge_key_elsewhere(struct facts *f, struct str name);
/* Gives a key's field a value, or complains of either; `name` is where the key stands, `node` where
   its value does. */
void bridge_set_key(struct facts *f, struct str key, struct value v, const struct node *name,
                    const struct node *node);

#endif
