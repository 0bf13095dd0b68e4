/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM's command line: words -> facts, as argparse takes them (no abbreviations, the last
   one wins). */
#ifndef MOEPLAN_FACTS_FLAGS_H
#define MOEPLAN_FACTS_FLAGS_H

#include "facts/facts.h"

/* A word of a command line and where it stands. */
struct flag_word {
    struct str text; /* without quotes, variables put in */
    bool dynamic;    /* from byte `known` on, the text depends on something nobody knows */
    size_t known;
    bool maybe;        /* it may not be there: the flag's value becomes unknown */
    uint32_t source;   /* where it stands; 0: in the facts' own */
    uint32_t from, to; /* bytes in the source */
    /* what stands behind its "=", or all of it, where these bytes stand together in a text: in that
       of a variable's value, mostly; to 0: they do not */
    uint32_t part_source, part_from, part_to;
    uint32_t line;
    uint32_t set_line;       /* where the variable that holds it was set; 0: written here */
    const struct node *node; /* the document node it came from; NULL: plain text */
};
struct flag_words {
    struct flag_word *items;
    size_t n, cap;
};

/* "--micro-batch-size" of micro_batch_size. */
struct str flag_of_destination(struct arena *a, struct str name);
/* The bytes that the word stands in. */
struct span flag_word_span(const struct facts *f, const struct flag_word *w);
/* A text of a command line as a document's scalar, at the place of its word. */
struct node *flag_word_node(struct facts *f, struct str text, const struct flag_word *w);
/* The warning that a setting of Hydra's has no value, as a blank stands at its equals sign. */
void flag_word_bare(struct facts *f, const struct flag_word *w);
/* "a.b=value" or "+a.b=value", an override of Hydra's: bash assigns to no name with a dot. */
bool flag_word_is_override(struct str word);
/* Splits plain text as a shell would: blanks and newlines between words, quotes, backslashes,
   comments from # to the end of the line. Nothing is expanded. False with an error of rule
   `shell-syntax` when a quote is not closed. */
bool flags_split(struct facts *f, struct str text, struct flag_words *out);
/* Sets the facts and raw values that the words say; what argparse would refuse is an error (rules
   unknown-key, value-missing, value-type, value-choice, value-for-switch, or the flag's own rule).
   A word that may hold any further flag makes everything that is not written unknown. */
void flags_apply(struct facts *f, const struct flag_words *words);
/* One flag with its values, already split from its name, and what param_find_key says of the name;
   used by readers of mappings. */
void flags_apply_found(struct facts *f, struct flag_word name, int param,
                       const struct param_flag *flag, const struct flag_word *values, size_t n);

#endif
