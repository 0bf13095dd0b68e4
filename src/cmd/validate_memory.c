/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/validate.h"
#include "cost/cost.h"

static const double GIB = 1024.0 * 1024.0 * 1024.0;

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

bool validate_memory(struct validation *v, const struct facts *f)
{
    if (!f->platform) return false;
    struct memory_estimate *m = ARENA_NEW(v->scratch, struct memory_estimate);
    if (!estimate(v, f, m)) return false;
    bool exceeds = m->fits == FITS_NO;
    if (m->fits == FITS_YES) return true;
    struct span whole = {.source = f->source};
    struct diag *d = diag_add(f->diags, exceeds ? SEVERITY_ERROR : SEVERITY_WARNING,
                              exceeds ? "memory-exceeds-gpu" : "memory-tight", whole,
                              "the fullest pipeline stage needs %.1f GiB of %.1f GiB",
                              m->peak / GIB, m->capacity / GIB);
    diag_note(f->diags, d, "stage %d of %d; 9 runs of 10 lie between %.1f and %.1f GiB", m->fullest,
              m->n_stages, m->peak_low / GIB, m->peak_high / GIB);
    const struct rule *rule = rules_find(v->rules, d->rule);
    if (rule) d->help = rule->help;
    return true;
}
