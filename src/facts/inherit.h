/* SPDX-License-Identifier: Apache-2.0 */
/* YAML files that are laid over others: a key names files, from the file's own folder on, whose
   entries hold where the file has none of that name. */
#ifndef MOEPLAN_FACTS_INHERIT_H
#define MOEPLAN_FACTS_INHERIT_H

#include "facts/facts.h"
#include "facts/program_kind.h"

/* The document with what it is laid over, as far as the files are there; the document itself where
   it names none. The sources of the others become f->inherited: what is wrong in them alone is said
   where they are checked. */
const struct node *inherit_document(struct facts *f, const struct node *doc, struct str key);
/* A section of a program's document with the presets that the document names laid under it; the
   section itself, perhaps NULL, where none of their files is there. */
const struct node *inherit_presets(struct facts *f, const struct program_kind *kind,
                                   const struct node *doc, const struct node *section);
/* Takes back the findings, from the index on, that stand in these files. */
void inherit_forget(struct facts *f, size_t from);

#endif
