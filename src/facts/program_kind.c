/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/program_kind.h"

#include <stdlib.h>

static bool is_there(const struct node *doc, struct str proof)
{
    size_t eq = str_find(proof, '=');
    const struct node *node = node_at(doc, str_slice(proof, 0, eq));
    if (!node || eq == proof.n) return node;
    return node->kind == NODE_SCALAR && str_eq(node->text, str_slice(proof, eq + 1, proof.n));
}

static bool is_proven(const struct program_kind *kind, const struct node *doc)
{
    for (size_t i = 0; i < kind->n_proof; i++)
        if (!is_there(doc, kind->proof[i])) return false;
    return kind->n_proof > 0;
}

const struct program_kind *program_kind_of(const struct node *doc)
{
    if (!doc || doc->kind != NODE_MAP || node_get(doc, STR("moeplan"))) return NULL;
    for (uint32_t i = 0; i < program_kind_count; i++)
        if (is_proven(&program_kinds[i], doc)) return &program_kinds[i];
    return NULL;
}

static int compare(const void *flag, const void *item)
{
    const struct str *a = flag, *b = item;
    return str_cmp(*a, *b);
}

bool program_kind_has(const struct program_kind *kind, struct str flag)
{
    return kind->n_flags &&
           bsearch(&flag, kind->flags, kind->n_flags, sizeof *kind->flags, compare);
}
