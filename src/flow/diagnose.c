/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/diagnose.h"

#include "base/edit.h"
#include "facts/check.h"
#include "facts/profile.h"
#include "facts/run_log.h"

/* Those of a framework's defaults, where no plan is known. */
static struct facts *default_facts(struct arena *a, struct diags *diags,
                                   const struct read_options *options)
{
    enum framework framework = options->framework_given ? options->framework : FRAMEWORK_MEGATRON;
    struct facts *f = facts_new(a, diags, framework, profile_find(framework, STR(""))->version);
    f->format = STR("plan");
    return read_options_apply(f, options) ? f : NULL;
}

bool diagnose_begin(struct arena *a, struct arena *scratch, struct diags *diags,
                    const struct rule_set *rules, const struct reading *plan,
                    const struct read_options *options, struct diagnosed *out)
{
    *out = (struct diagnosed){.planned = plan};
    if (plan) out->refusal = refusal_find(a, rules, plan, scratch);
    out->facts = plan ? plan->facts : default_facts(a, diags, options);
    if (!out->facts) return false;
    facts_add_raw(out->facts, STR("metrics"), value_bool(true)); /* what rules/diagnose waits for */
    return true;
}

/* ---- metrics ---- */

static void unknown_metric(struct facts *f, const struct node *key)
{
    struct edit_nearest nearest = {.word = key->text};
    for (uint32_t i = 0; i < param_count; i++) {
        if (param_table[i].scope != SCOPE_METRIC) continue;
        edit_offer(&nearest, param_table[i].name);
        for (size_t k = 0; k < param_table[i].n_aliases; k++)
            edit_offer(&nearest, param_table[i].aliases[k]);
    }
    struct diag *d = diag_add(f->diags, SEVERITY_ERROR, "unknown-key", node_span(f->diags, key),
                              "no metric is called %.*s", STR_ARG(key->text));
    if (nearest.best.n)
        diag_suggest(f->diags, d, nearest.best);
    else
        diag_help(f->diags, d, "docs/metrics.md lists them");
}

/* One metric, a number in its own unit: 71 % is written 71. */
static void read_metric(struct facts *f, const struct node *key, const struct node *value)
{
    int param = param_find(key->text);
    if (param < 0 || param_table[param].scope != SCOPE_METRIC) {
        unknown_metric(f, key);
        return;
    }
    struct value v = node_value(f->arena, value, SCALAR_CORE);
    struct span at = node_span(f->diags, value);
    if (value_check_own(f->arena, f->diags, &param_table[param], &v, at, key->text))
        facts_set(f, param, v, ORIGIN_FILE, value, key->text);
}

bool diagnose_read(struct diagnosed *d, struct str path, struct str text, struct str *why)
{
    struct facts *f = d->facts;
    struct diags *diags = f->diags;
    struct run_log log;
    struct node_list docs = {0};
    *why = STR("");
    if (run_log_read(f->arena, text, &log)) {
        run_log_apply(&log, f);
        return true;
    }
    if (!doc_load(f->arena, diags, source_add(&diags->sources, path, text), &docs)) return false;
    if (docs.n != 1 || docs.items[0]->kind != NODE_MAP) {
        *why = arena_printf(f->arena, "%.*s is neither a mapping of metrics nor a training log",
                            STR_ARG(path));
        return false;
    }
    for (size_t i = 0; i < docs.items[0]->n; i++)
        read_metric(f, docs.items[0]->keys[i], docs.items[0]->items[i]);
    return diags_count(diags, SEVERITY_ERROR) == 0;
}

/* ---- the answer ---- */

void diagnose(struct arena *a, struct arena *scratch, const struct rule_set *rules,
              struct diagnosed *d)
{
    diagnose_run(a, rules, d->facts, d->planned, scratch, &d->found);
    d->fits = d->planned && d->found.costed ? d->found.fits : FITS_YES;
}
