/* SPDX-License-Identifier: Apache-2.0 */
/* From a text to the configurations it describes: every command that takes a recipe reads it
   here. */
#ifndef MOEPLAN_FACTS_RECIPE_H
#define MOEPLAN_FACTS_RECIPE_H

#include "facts/reader.h"

enum recipe_status {
    RECIPE_READ,
    RECIPE_UNREADABLE, /* not the YAML or JSON that it should be; an error is added */
    RECIPE_SKIPPED,    /* no recipe: a Hugging Face config, or something else entirely */
};

struct recipe {
    enum recipe_status status;
    const struct reader *format; /* of the first part recognised; NULL: none */
    struct readings readings;    /* options applied; overrides not applied, nothing derived */
};

/* Recognises and reads a registered source. `as` names the format; empty: told by the content,
   where a "# moeplan: format=" line counts. Of several YAML documents each that is recognised is
   read. */
struct recipe recipe_read(struct arena *a, struct diags *diags, uint32_t source, struct str as,
                          const struct read_options *options);

#endif
