/* SPDX-License-Identifier: Apache-2.0 */
/* How long the documents of a data set are, as a user knows it: a mean, percentiles, or a
   histogram. */
#ifndef MOEPLAN_FACTS_DOCUMENTS_H
#define MOEPLAN_FACTS_DOCUMENTS_H

#include "base/str.h"
#include "base/vec.h"

struct document_class {
    double length, count; /* tokens; documents, or their share */
};

struct documents {
    VEC(struct document_class) classes;
    bool spread_assumed; /* only a mean was given: lengths fall off exponentially */
    bool packed;         /* several in a sequence; else one, padded to its length */
};

/* What plans and costs read of them, each document cut at the sequence. */
struct document_moments {
    double mean;     /* tokens of a document */
    double attended; /* of the document in which a token stands: mean of squares over mean; the
                        whole sequence where it is padded, as its mask is causal and no more */
    double spread;   /* standard deviation of squared lengths over their mean; of padded ones 0 */
    double padding;  /* part of a sequence that is padding: of unpacked ones */
    double cut;      /* part of the tokens that are cut off */
};

/* Reads "mean=2000", "p50=900,p90=4000,p99=16000" (two percentiles or more), or the text of a
   histogram: lines of LENGTH or LENGTH COUNT (blank, tab or comma between; # begins a comment; a
   first line that is no number is a heading). "unpacked" among the words: one document a sequence.
   False with *why set. */
bool documents_read_words(struct arena *a, struct str text, struct documents *out, struct str *why);
bool documents_read_histogram(struct arena *a, struct str text, struct documents *out,
                              struct str *why);
/* Of documents of which there is one. */
struct document_moments documents_moments(const struct documents *d, double seq);

#endif
