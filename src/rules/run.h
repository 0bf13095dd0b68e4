/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of a set over one configuration, in which each condition is evaluated at most once. */
#ifndef MOEPLAN_RULES_RUN_H
#define MOEPLAN_RULES_RUN_H

#include "rules/rule.h"

struct run {
    const struct rule_set *set;
    const struct facts *f;
    struct expr_scope scope;
    struct arena *scratch;
    unsigned char *memo; /* [n_conditions + 1] 1 + outcome; 0: not evaluated yet, as the last */
};

/* Memory comes from `scratch` and is the caller's to pop. */
struct run run_start(const struct rule_set *set, const struct facts *f, struct arena *scratch);
/* PASS, FAIL, UNKNOWN or BROKEN. */
enum outcome run_condition(struct run *run, uint32_t number);
/* PASS when all hold, else NOT_APPLICABLE, UNKNOWN or BROKEN. */
enum outcome run_conditions(struct run *run, const uint32_t *numbers, size_t n);
/* The rule under the given conditions, which may be fewer than its own. */
enum outcome run_check(struct run *run, const struct rule *r, const uint32_t *numbers, size_t n);

/* A value as an outcome: true PASS, false FAIL. */
enum outcome expr_outcome(const struct expr *e, struct arena *scratch,
                          const struct expr_scope *scope);
/* Whether it reads nothing but facts, none of which may be another than its default. */
bool expr_is_at_defaults(const struct expr *e, const struct facts *f);
/* 1 + what it comes to on such facts; 0 where it reads more than facts, or there is none. For the
   build step. */
unsigned char expr_at_defaults(const struct expr *e, enum framework framework,
                               struct arena *scratch);

/* Whether an expression, or what a record asks and sets, reads one of the parameters that are
   marked; NULL marks the derived ones. */
bool expr_reads(const struct expr *e, const bool *params);
bool rule_reads(const struct rule *r, const bool *params);

/* Whether nobody states one of the facts that an assumption is about. */
bool rule_has_open(const struct rule *r, const struct facts *f);

#endif
