/* SPDX-License-Identifier: Apache-2.0 */
/* Launches inside of YAML that another program reads (a CI job's script, a service's command): the
   scalars that hold them, as one script. */
#ifndef MOEPLAN_FACTS_EMBEDDED_H
#define MOEPLAN_FACTS_EMBEDDED_H

#include "doc/node.h"

/* The text as a script of its scalars that call programs with options, and of those in a list with
   such, each at its own place, with blanks in place of all else; empty where none does. What YAML
   folds into one line is left out: a shell would read lines. */
struct str embedded_script(struct arena *a, struct str text, const struct node_list *docs);

#endif
