/* SPDX-License-Identifier: Apache-2.0 */
/* YAML that needs no more than lines, which is nearly every recipe: block maps and lists of values
   that stand on one line each, comments between them. libyaml takes most of the time that checking
   a repository takes, so such text is not given to it. What a line does not settle is: anchors,
   tags, block scalars, values of several lines, escapes, directives, tabs, several documents, and
   whatever may be an error. */
#ifndef MOEPLAN_DOC_YAML_LINES_H
#define MOEPLAN_DOC_YAML_LINES_H

#include <yaml.h>

#include "base/str.h"

/* Hands on the events that libyaml would make of a document; its marks count bytes. False: libyaml
   has to read the text, as it is more than this, or as `take` refused an event. */
bool yaml_lines_read(struct str text, bool (*take)(void *state, const yaml_event_t *event),
                     void *state);

#endif
