/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in languages of which moeplan reads none: told by the file's name or the interpreter that
   its first line calls, since a launch in one of them would be misread as shell. */
#ifndef MOEPLAN_FACTS_LANGUAGE_H
#define MOEPLAN_FACTS_LANGUAGE_H

#include "facts/reader.h"

/* The language of a file as a format that is recognised and not read; NULL: none of them. */
const struct reader *language_of(struct str path, struct str text);
/* Whether the name or the first line promises a script that bash or a shell like it reads, or
   flags, so that text which no shell takes is broken rather than something else. */
bool language_is_shell(struct str path, struct str text);

#endif
