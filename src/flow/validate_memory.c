/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "flow/validate.h"

/* What the fullest stage holds, as it stands at its peak. */
static void note_parts(const struct facts *f, struct diag *d, const struct memory_estimate *m)
{
    const struct stage_memory *stage = &m->stages[m->fullest];
    struct str graphs =
        stage->graphs > 0
            ? arena_printf(f->arena, ", activations in CUDA graphs %.1f", stage->graphs / GIB)
            : STR("");
    diag_note(f->diags, d,
              "stage %d of 0 to %d: parameters %.1f, gradients %.1f, optimizer %.1f, activations "
              "%.1f%.*s, logits %.1f, buffers %.1f GiB",
              m->fullest, m->n_stages - 1, stage->params / GIB, stage->grads / GIB,
              stage->optimizer / GIB, stage->activations / GIB, STR_ARG(graphs),
              stage->logits / GIB, stage->buffers / GIB);
}

void validate_memory(struct validation *v, const struct facts *f, const struct memory_estimate *m)
{
    if (m->fits == FITS_YES) return;
    bool exceeds = m->fits == FITS_NO;
    const char *id = exceeds ? "memory-exceeds-gpu" : "memory-tight";
    struct span whole = {.source = f->source};
    struct diag *d = diag_add(f->diags, exceeds ? SEVERITY_ERROR : SEVERITY_WARNING, id, whole,
                              "the fullest pipeline stage needs %.1f GiB, the GPU offers %.1f GiB",
                              m->peak / GIB, m->capacity / GIB);
    note_parts(f, d, m);
    diag_note(f->diags, d, "9 runs of 10 lie between %.1f and %.1f GiB", m->peak_low / GIB,
              m->peak_high / GIB);
    if (m->open) diag_note(f->diags, d, "%.*s", STR_ARG(memory_open_text(f->arena, m)));
    const struct rule *rule = rules_find(v->rules, d->rule);
    if (rule) d->help = rule->help;
}
