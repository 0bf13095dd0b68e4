/* SPDX-License-Identifier: Apache-2.0 */
/* The words that screens use, as docs/glossary.md explains them (the table is generated from it),
   and parameters, as Markdown pages. */
#ifndef MOEPLAN_EMIT_WORDS_H
#define MOEPLAN_EMIT_WORDS_H

#include "base/buf.h"
#include "rules/rule.h"

struct word_entry {
    struct str names;   /* "fits, tight, does not fit": each of them finds it */
    struct str meaning; /* Markdown, one paragraph */
    struct str topic;   /* heading that it stands under */
};
extern const struct word_entry word_table[];
extern const uint32_t word_count;

/* The entry of a word, without case; NULL: there is none. */
const struct word_entry *word_find(struct str word);
/* The name nearest to a word; empty: none is near. */
struct str word_nearest(struct str word);
/* What a word of a screen that holds sizes is explained by: tp of tp2, pp2x8 of pp4x3, stages of
   E|tt|L; empty: it is none. */
struct str word_of_layout(struct str word);
void word_page(const struct word_entry *word, struct buf *out);

/* A parameter by name, symbol or alias, in any case; by a framework's flag (with or without dashes)
   or key; -1: there is none. */
int parameter_find(struct str word);
/* What it is, how each framework spells it and what is its default there, which guide decides it
   and which rules speak of it. */
void parameter_page(int param, const struct rule_set *set, struct buf *out);
/* The same of a coefficient of the cost model. */
void coefficient_page(const struct param *coefficient, struct buf *out);
/* The parameters that a word is a choice of, in any case; false, with nothing added: none. */
bool value_page(struct str word, struct buf *out);

#endif
