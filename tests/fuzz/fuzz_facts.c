/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a recipe: by content and forced into each format, derived twice, every finding
 * rendered. */
#include <stdlib.h>

#include "diag/render_text.h"
#include "facts/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(struct str text, const char *format)
{
    struct arena *a = arena_new(0);
    struct diags diags;
    struct platform_cache platforms = {.arena = a};
    struct read_options options = {.gpus = 16, .platforms = &platforms};
    if (!a) return;
    diags_init(&diags, a);
    uint32_t source = source_add(&diags.sources, STR("input"), str_dup(a, text));
    struct recipe recipe = recipe_read(a, &diags, source, str_of(format), &options);
    if (recipe.status == RECIPE_UNREADABLE && !diags_count(&diags, SEVERITY_ERROR)) abort();
    for (size_t i = 0; i < recipe.readings.n; i++) {
        facts_derive(recipe.readings.items[i].facts);
        facts_derive(recipe.readings.items[i].facts);
    }
    diags_sort(&diags);
    struct buf out = buf_new(a);
    for (size_t i = 0; i < diags.n; i++)
        render_text(&out, &diags, &diags.items[i], 0);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"", "megatron", "bridge", "plan", "automodel"};
    struct str text = {(const char *)data, size};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        read_as(text, formats[i]);
    return 0;
}
