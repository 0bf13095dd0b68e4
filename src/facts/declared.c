/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/declared.h"

#include "facts/facts.h"

bool declared_read(struct arena *a, struct diags *diags, uint32_t source, struct param_list *out)
{
    struct node_list docs = {0};
    size_t before = diags->n;
    if (!doc_load(a, diags, source, &docs)) docs.n = 0; /* the reader of rules says why */
    diags->n = before;
    for (size_t i = 0; i < docs.n; i++) {
        const struct node *kind = node_get(docs.items[i], STR("kind"));
        if (kind && str_is(kind->text, "Parameters")) param_file_read(a, diags, docs.items[i], out);
    }
    return diags->n == before;
}

const struct param *declared_find(const struct param_list *declared, struct str name,
                                  const struct param_flag **flag)
{
    for (size_t i = 0; declared && i < declared->n; i++) {
        const struct param_spelling *s = declared->items[i].in[FRAMEWORK_MEGATRON];
        for (size_t k = 0; k < s->n_flags; k++) {
            if (!str_eq(s->flags[k].flag, name)) continue;
            *flag = &s->flags[k];
            return &declared->items[i];
        }
    }
    return NULL;
}
