/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM's arguments as keys of a mapping (read_megatron.c). */
#ifndef MOEPLAN_FACTS_MEGATRON_H
#define MOEPLAN_FACTS_MEGATRON_H

#include "facts/flags.h"
#include "facts/reader.h"

/* The keys of a section, and of the mappings in it, that are destinations of Megatron-LM's
   arguments; others are the program's own. NULL is an empty section. */
void megatron_read_section(struct facts *f, const struct node *section, bool whole,
                           const struct read_options *options);
/* One setting of a command line: a destination, behind the parts of its section, and its value, of
   the word or words they stand in. A value of NULL bytes: there is none. */
void megatron_read_setting(struct facts *f, struct str key, struct str value,
                           const struct flag_word *at, const struct read_options *options);
/* A setting whose value nobody knows: only its name is looked at. */
void megatron_note_setting(struct facts *f, struct str key, const struct flag_word *at);
/* A setting outside of the program's sections: its name and its value are looked at. */
void megatron_check_setting(struct facts *f, struct str key, struct str value,
                            const struct flag_word *at);
/* The same of a key of a program's own file outside of its sections. */
void megatron_note_key(struct facts *f, const struct node *key, const struct node *value);
/* Whether a key is a destination of Megatron-LM's. */
bool megatron_has(struct str key);
/* Whether a key is a destination of Megatron-LM's that takes no word, which programs have many of.
 */
bool megatron_has_size(struct str key);

#endif
