/* SPDX-License-Identifier: Apache-2.0 */
/* --documents: the parameters that follow from how long a data set's documents are. */
#ifndef MOEPLAN_CMD_DOCUMENTS_H
#define MOEPLAN_CMD_DOCUMENTS_H

#include "cmd/cmd.h"
#include "facts/documents.h"
#include "facts/reader.h"

/* clang-format off */
#define DOCUMENTS_OPTION                                                                           \
    {"documents", "LENGTHS",                                                                       \
     "lengths of the documents in tokens: mean=2000, p50=900,p90=4000,p99=16000, or a file of "    \
     "LENGTH COUNT lines; packed, or with ,unpacked one a sequence"}
/* clang-format on */

enum { DOCUMENT_SETTINGS = 5 };

/* The option, read; `given` is false where there is none. False with a usage error. */
bool documents_given(struct cmd_context *c, bool *given, struct documents *out);
/* The same of a text, a file's name among them. False with *why set. */
bool documents_ask(struct arena *a, struct str text, struct documents *out, struct str *why);
/* document_tokens, document_mean, document_spread and sequence_padding for sequences of so many
   tokens. */
void documents_settings(const struct documents *d, int64_t seq,
                        struct setting out[DOCUMENT_SETTINGS]);

#endif
