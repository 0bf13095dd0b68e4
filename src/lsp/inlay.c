/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that follow from what is written, each at the end of the line that it follows from. */
#include "base/num.h"
#include "base/units.h"
#include "facts/param_ids.h"
#include "flow/estimate.h"
#include "lsp/feature.h"

static void hint(const struct lsp_request *r, int64_t line, struct str label)
{
    struct json_writer *w = r->w;
    json_open(w, NULL, '{');
    json_open(w, "position", '{');
    json_int(w, "line", line);
    json_int(w, "character", text_units(text_line(r->text, line)));
    json_close(w, '}');
    json_str(w, "label", label);
    json_bool(w, "paddingLeft", true);
    json_close(w, '}');
}

/* The last line, from 0, on which one of the parameters is written; -1: none is. */
static int64_t line_of(const struct facts *f, const int *params, size_t n)
{
    int64_t line = -1;
    for (size_t i = 0; i < n; i++) {
        const struct node *node = facts_get(f, params[i])->node;
        if (node && node->source == f->source && (int64_t)node->line > line + 1)
            line = (int64_t)node->line - 1;
    }
    return line;
}

static void hint_layout(const struct lsp_request *r, const struct facts *f)
{
    static const int params[] = {P_tensor_model_parallel_size, P_pipeline_model_parallel_size,
                                 P_context_parallel_size, P_expert_model_parallel_size};
    int64_t line = line_of(f, params, sizeof params / sizeof *params);
    int64_t dp = facts_int(f, P_data_parallel_size, 0);
    if (line < 0 || dp <= 0) return;
    hint(r, line, arena_printf(r->arena, "dp %lld", (long long)dp));
}

static void hint_batches(const struct lsp_request *r, const struct facts *f)
{
    static const int params[] = {P_global_batch_size};
    int64_t line = line_of(f, params, 1), n = facts_int(f, P_num_microbatches, 0);
    if (line < 0 || n <= 0) return;
    struct str count = num_grouped(r->arena, n);
    hint(r, line,
         arena_printf(r->arena, "%.*s micro-batch%s a step", STR_ARG(count), n == 1 ? "" : "es"));
}

/* At the micro-batch, which decides most of it; without one, at the file's first line. */
static void hint_memory(const struct lsp_request *r, const struct estimate *e)
{
    static const int params[] = {P_micro_batch_size};
    const struct memory_estimate *m = &e->memory;
    int64_t line = line_of(e->facts, params, 1);
    hint(r, line < 0 ? 0 : line,
         arena_printf(r->arena, "%.1f GiB (%.1f to %.1f) of %.1f: %s", m->peak / GIB,
                      m->peak_low / GIB, m->peak_high / GIB, m->capacity / GIB,
                      memory_verdict((int)m->fits)));
}

static void hint_reading(const struct lsp_request *r, const struct reading *reading)
{
    struct estimate *e = ARENA_NEW(r->arena, struct estimate);
    bool complete = estimate_reading(r->arena, r->validation->rules, reading, r->scratch, e, NULL);
    hint_layout(r, reading->facts);
    hint_batches(r, reading->facts);
    if (complete) hint_memory(r, e);
}

/* Of a file of several configurations, those of the first. */
void lsp_inlays(const struct lsp_request *r)
{
    struct diags diags;
    struct recipe recipe;
    diags_init(&diags, r->arena);
    json_open(r->w, NULL, '[');
    if (estimate_read(r->arena, &diags, r->path, r->text, STR(""), &r->options, &recipe))
        hint_reading(r, &recipe.readings.items[0]);
    json_close(r->w, ']');
}
