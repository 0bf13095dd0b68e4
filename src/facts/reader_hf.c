/* SPDX-License-Identifier: Apache-2.0 */
/* Hugging Face configs are recognised so that `validate` can leave them alone; model.c reads
   them. */
#include "facts/model.h"
#include "facts/reader.h"

static int detect(struct str text, const struct node *doc)
{
    (void)text;
    return doc && doc->kind == NODE_MAP && model_is_hf(doc) ? 60 : 0;
}

const struct reader reader_hf = {.name = "hf", .title = "a Hugging Face config", .detect = detect};
