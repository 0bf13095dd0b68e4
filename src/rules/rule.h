/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as data: checks, automatic overrides and decision guides. See docs/formats.md. */
#ifndef MOEPLAN_RULES_RULE_H
#define MOEPLAN_RULES_RULE_H

#include "expr/expr.h"
#include "facts/facts.h"

enum phase { PHASE_NONE, PHASE_FIT, PHASE_SCALE, PHASE_PROFILE, PHASE_RETUNE };

struct version_range {
    bool applies;
    struct str from, to; /* from inclusive, to exclusive; empty: open */
};

struct assignment {
    int param;
    const struct expr *value;
};

struct rule_example {
    bool good;
    struct str facts; /* the mapping as JSON text, parsed when the example runs */
    struct span at;
};

struct rule {
    struct str id;
    enum severity severity;
    bool native;                 /* found by the readers, no expression */
    bool is_override;            /* changes facts before the checks */
    struct version_range in[FRAMEWORK_COUNT];
    const struct expr *const *conditions;
    size_t n_conditions;
    const struct expr *rule;     /* NULL for native records and overrides */
    const struct assignment *set; /* overrides: facts to change; guides: `decides` */
    size_t n_set;
    struct str message, why, help, source, date, error_type, error_pattern, suite; /* suite: file it came from */
    const struct expr *message_expression, *suggestion, *help_expression, *fix_value;
    int parameter, fix_parameter; /* -1: none */
    const struct str *covers, *guides;
    size_t n_covers, n_guides;
    enum phase phase;
    double confidence;
    const struct rule_example *examples;
    size_t n_examples;
};

struct rule_set {
    const struct rule *const *items; /* overrides first in file order, then the rest in file order */
    size_t n;
};

/* The built-in set (generated at build time by rules_load over rules/). */
const struct rule_set *rules_builtin(void);
/* Loads every *.yaml below a folder and appends it to a copy of `base` (may be NULL); problems are diagnostics in those files. */
bool rules_load(struct arena *a, struct diags *diags, const char *folder, const struct rule_set *base, struct rule_set *out);
/* NULL when there is none. */
const struct rule *rules_find(const struct rule_set *set, struct str id);

enum outcome { OUTCOME_NOT_APPLICABLE, OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_UNKNOWN, OUTCOME_BROKEN };

/* One rule on one set of facts. `scratch` is used and not kept. */
enum outcome rule_evaluate(const struct rule *r, const struct facts *f, struct arena *scratch);
/* Applies the overrides for the facts' framework and version, then derives; fired overrides that carry a message are diagnostics. */
void rules_apply_overrides(const struct rule_set *set, struct facts *f, struct arena *scratch);

struct rules_summary {
    size_t evaluated, failed, skipped, broken; /* skipped: met an unknown */
};
/* Runs all checks that apply to the facts' framework and version and adds a diagnostic (message, arithmetic, origin of
   every operand, nearest valid values) to f->diags for each that fails. */
struct rules_summary rules_run(const struct rule_set *set, struct facts *f, struct arena *scratch);
/* For the planner: the first error-severity rule that fails, or NULL. No diagnostics. */
const struct rule *rules_first_error(const struct rule_set *set, const struct facts *f, struct arena *scratch);

/* Runs a rule's examples; each failure is a diagnostic. Returns the number of failures. */
size_t rule_test(const struct rule *r, const struct rule_set *set, struct arena *a, struct diags *diags);

#endif
