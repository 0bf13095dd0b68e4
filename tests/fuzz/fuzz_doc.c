/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a document: read, walked as values under every profile, its findings rendered. */
#include <stdlib.h>

#include "diag/render_text.h"
#include "diag/suppress.h"
#include "doc/node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(0);
    if (!a) return 0;
    struct diags diags;
    diags_init(&diags, a);
    struct str text = str_dup(a, (struct str){(const char *)data, size});
    uint32_t source = source_add(&diags.sources, STR("input"), text);
    struct node_list docs = {0};
    bool ok = doc_load(a, &diags, source, &docs);
    if (!ok && !diags_count(&diags, SEVERITY_ERROR)) abort(); /* a refusal says why */
    for (size_t i = 0; i < docs.n && size < 4096; i++) {
        for (int profile = SCALAR_YAML11; profile <= SCALAR_CORE; profile++)
            value_text(a, node_value(a, docs.items[i], (enum scalar_profile)profile));
        node_span(&diags, docs.items[i]);
        node_at(docs.items[i], text);
    }
    diags_suppress(&diags, source, STR("2026-12-31"), NULL, NULL);
    diags_sort(&diags);
    struct buf out = buf_new(a);
    for (size_t i = 0; i < diags.n; i++)
        render_text(&out, &diags, &diags.items[i], 0);
    arena_free(a);
    return 0;
}
