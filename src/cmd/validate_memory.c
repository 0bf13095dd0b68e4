/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "cmd/validate.h"
#include "cost/cost.h"

/* The estimate, or false for lack of facts; what is missing is counted by the caller, not reported.
 */
static bool estimate(struct validation *v, const struct facts *f, struct memory_estimate *out)
{
    struct diags unheard;
    diags_init(&unheard, v->scratch);
    struct facts quiet = *f;
    quiet.diags = &unheard;
    struct config *config = ARENA_NEW(v->scratch, struct config);
    if (!config_from_facts(v->scratch, &quiet, config) || !config->machine_known) return false;
    return memory_estimate(config, out, NULL);
}

/* What the fullest stage holds, as it stands at its peak. */
static void note_parts(const struct facts *f, struct diag *d, const struct memory_estimate *m)
{
    const struct stage_memory *stage = &m->stages[m->fullest];
    diag_note(f->diags, d,
              "stage %d of 0 to %d: parameters %.1f, gradients %.1f, optimizer %.1f, activations "
              "%.1f, logits %.1f, "
              "buffers %.1f GiB",
              m->fullest, m->n_stages - 1, stage->params / GIB, stage->grads / GIB,
              stage->optimizer / GIB, stage->activations / GIB, stage->logits / GIB,
              (stage->buffers + stage->graphs) / GIB);
}

static void report(struct validation *v, const struct facts *f, const struct memory_estimate *m)
{
    bool exceeds = m->fits == FITS_NO;
    const char *id = exceeds ? "memory-exceeds-gpu" : "memory-tight";
    struct span whole = {.source = f->source};
    struct diag *d = diag_add(f->diags, exceeds ? SEVERITY_ERROR : SEVERITY_WARNING, id, whole,
                              "the fullest pipeline stage needs %.1f GiB, the GPU offers %.1f GiB",
                              m->peak / GIB, m->capacity / GIB);
    note_parts(f, d, m);
    diag_note(f->diags, d, "9 runs of 10 lie between %.1f and %.1f GiB", m->peak_low / GIB,
              m->peak_high / GIB);
    const struct rule *rule = rules_find(v->rules, d->rule);
    if (rule) d->help = rule->help;
}

bool validate_memory(struct validation *v, const struct facts *f)
{
    if (!f->platform || !config_is_decided(f)) return false;
    struct memory_estimate *m = ARENA_NEW(v->scratch, struct memory_estimate);
    if (!estimate(v, f, m)) return false;
    if (m->fits != FITS_YES) report(v, f, m);
    return true;
}
