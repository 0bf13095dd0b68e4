/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as data: checks, automatic overrides and decision guides. See docs/formats.md.
   A record's expressions are compiled against facts_names; equal conditions of a set are one
   expression, evaluated once per configuration. Text becomes records in load.c and record.c,
   records run in run.c, findings are worded in finding.c, examples run in example.c, and the build
   step writes sets as C with rules_write_c. */
#ifndef MOEPLAN_RULES_RULE_H
#define MOEPLAN_RULES_RULE_H

#include "base/dir.h"
#include "expr/expr.h"
#include "facts/facts.h"

enum phase { PHASE_NONE, PHASE_FIT, PHASE_SCALE, PHASE_PROFILE, PHASE_RETUNE };

/* What a record that is no check says about a finished plan: what to try next, how to verify it,
   what goes wrong with such models and platforms, what stands above its emitted form. */
enum advice {
    ADVICE_NONE,
    ADVICE_NEXT,
    ADVICE_VERIFY,
    ADVICE_PITFALL,
    ADVICE_NOTE,
    ADVICE_COMPARE
};

/* ROLE_CHECK: checks, guides and advice. ROLE_OVERRIDE: what a framework makes of its input before
   the checks. ROLE_ASSUMPTION: what it means that nobody states a fact. */
enum rule_role { ROLE_CHECK, ROLE_OVERRIDE, ROLE_ASSUMPTION };

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
};

/* The one change that is right: parameters that get a value (expressions over the facts of the
   finding), and those that are no longer said. */
struct rule_fix {
    const struct assignment *set;
    const int *remove;
    size_t n_set, n_remove;
    bool safe; /* it keeps what the run was meant to do */
};

struct rule {
    struct str id;
    struct span at; /* of the id; nowhere in the built-in set */
    enum severity severity;
    enum rule_role role;
    bool native;       /* found by the readers, no expression */
    bool everywhere;   /* errors: they hold in programs that check their arguments themselves too;
                          warnings: in checkouts of before the known releases too */
    bool of_trainer;   /* its check stands in Megatron-LM's own training scripts: a program of
                          rules/programs that checks its arguments itself has it not */
    bool plans_silent; /* assumptions: hold in a plan file too that leaves the parameter at its
                          framework's default */
    bool plans_estimated; /* plans_silent, of what is estimated alone: no file says it */
    bool plans_never;     /* checks: what breaks them is never suggested, whatever the severity */
    const struct version_range *in;       /* [FRAMEWORK_COUNT], shared with rules of the same */
    const struct expr *const *conditions; /* as written */
    const uint32_t
        *condition_numbers; /* the same as indices into the set's conditions, most shared first */
    size_t n_conditions;
    const struct expr *rule; /* NULL for native records, overrides, assumptions, and guides that
                                only decide or advise */
    /* 1 + what `rule` comes to while all facts that it reads are at their defaults; 0: not known */
    unsigned char at_defaults[FRAMEWORK_COUNT];
    const struct assignment *set; /* overrides and assumptions: the facts; guides: `decides` */
    size_t n_set;
    struct str message, why, help, source, date, error_type;
    struct str error_pattern; /* a line each where the error has several texts */
    struct str since;         /* version of moeplan that brought it; empty: the first */
    struct str suite;         /* file it came from, relative to the folder loaded */
    const struct expr *message_expression, *suggestion, *help_expression;
    int parameter; /* -1: none */
    struct rule_fix fix;
    const struct str *covers, *guides;
    size_t n_covers, n_guides;
    enum phase phase;
    enum advice advice;
    double confidence;
    double margin;     /* relative step time a step away from `decides` must gain; negative: by the
                          confidence */
    bool upwards_free; /* guides: more than what is decided follows the guide as well */
    double uneven;     /* guides: what a size that is no power of two must gain beside its margin */
    const struct rule_example *examples;
    const struct span *examples_at; /* [n_examples]; NULL in the built-in set */
    size_t n_examples;
};

/* One row of the decision guides, as `rules --guides` lists it. */
struct guide_row {
    struct str id, text;
    struct str source, date; /* the document */
    struct str why;          /* an older form of the row, or what another document says */
};

/* The records of one framework, as indices into the set's items. */
struct rule_lane {
    const uint32_t *overrides, *assumptions;
    const uint32_t *checks;      /* those with an expression to run */
    const uint32_t *firsts;      /* [n_checks] the first condition of each, which the most share;
                                    n_conditions of the set: it has none */
    const uint32_t *completions; /* checks that set something */
    size_t n_overrides, n_assumptions, n_checks, n_completions;
};

struct rule_set {
    const struct rule *const
        *items; /* overrides first, then assumptions, then the rest, each in file order */
    size_t n;
    const uint32_t *by_id;                /* [n] the items in the order of their ids */
    const struct expr *const *conditions; /* each different condition once */
    size_t n_conditions;
    /* of the first conditions, those of the built-in set: as a rule's at_defaults */
    const unsigned char *at_defaults[FRAMEWORK_COUNT]; /* [n_at_defaults] */
    size_t n_at_defaults;
    struct rule_lane lanes[FRAMEWORK_COUNT];
    const struct guide_row *guides;
    size_t n_guides;
    struct rule_memo *memo; /* NULL: all is worked out each time */
};

/* What one thread has worked out with a set and asks for again. */
struct rule_memo {
    struct arena *arena;
    const struct rule_reach **reaches[FRAMEWORK_COUNT]; /* [param_count] NULL: none yet */
    struct kept_outcomes *outcomes;                     /* of expressions (memo.h) */
};

/* The built-in set (generated at build time by rules_load over rules/). */
const struct rule_set *rules_builtin(void);
/* The rule files that a path names: itself, or the *.yaml below a folder (dir_list). */
bool rules_files(struct arena *a, struct str path, struct path_list *out, struct str *error);
/* Loads the file, or every *.yaml of kind Rules below the folder (other kinds of moeplan's data
   files are left out), and appends it to a copy of `base` (may be NULL); problems are diagnostics
   in those files. False when one was an error; *out then holds the records that were good. */
bool rules_load(struct arena *a, struct diags *diags, const char *path, const struct rule_set *base,
                struct rule_set *out);
/* The same for a registered source, and for single files. */
bool rules_load_text(struct arena *a, struct diags *diags, uint32_t source,
                     const struct rule_set *base, struct rule_set *out);
bool rules_load_files(struct arena *a, struct diags *diags, const struct str *paths, size_t n,
                      const struct rule_set *base, struct rule_set *out);
/* The set without the records that `replaced` has too, by id: a file under test takes the place of
   what is built in. */
struct rule_set rules_except(struct arena *a, const struct rule_set *set,
                             const struct rule_set *replaced);
/* The keys that a record may have, in the order in which they are read; NULL behind the last. */
const char *rule_key(size_t i);
/* NULL when there is none. */
const struct rule *rules_find(const struct rule_set *set, struct str id);
/* The variables behind what a record asks, sets and says, each once, below those that it uses. */
struct expr_use_list {
    struct expr_use *items;
    size_t n, cap;
};
struct expr_use_list rule_variables(struct arena *a, const struct rule *r);
/* Whether the rule follows the row of the decision guides that has this id. */
bool rule_cites(const struct rule *r, struct str row);
/* The id nearest to a word, for did-you-mean; empty when nothing is near. */
struct str rules_nearest(const struct rule_set *set, struct str word);

enum outcome {
    OUTCOME_NOT_APPLICABLE,
    OUTCOME_PASS,
    OUTCOME_FAIL,
    OUTCOME_UNKNOWN,
    OUTCOME_BROKEN
};

/* Whether the record is about the facts' framework and version. */
bool rule_is_for(const struct rule *r, const struct facts *f);
/* Whether a parameter is among those that the record sets, or decides. */
bool rule_sets(const struct rule *r, int param);
/* One rule on one set of facts, whatever their framework and version: conditions first (false wins
   over unknown, unknown over an error), then the rule. A record without a rule fails, that is
   fires, when its conditions hold. `scratch` is used and not kept; it must not be the facts'
   arena. */
enum outcome rule_evaluate(const struct rule *r, const struct facts *f, struct arena *scratch);
/* Applies the overrides for the facts' framework and version, in order, and derives. An override
   whose conditions are unknown makes its parameters unknown unless they have its value anyway. A
   fired override that carries a message is a diagnostic where the user wrote one of the parameters.
   `scratch` as above. */
void rules_apply_overrides(const struct rule_set *set, struct facts *f, struct arena *scratch);
/* A copy with the overrides applied: what the framework runs. It has diagnostics of its own, empty,
   as what the overrides say is about the file that `f` came from. */
struct facts *rules_effective_facts(struct arena *a, const struct rule_set *set,
                                    const struct facts *f, struct arena *scratch);
/* The same with what nobody states assumed first: what a file may say. */
struct facts *rules_whole_facts(struct arena *a, const struct rule_set *set, const struct facts *f,
                                struct arena *scratch);
/* With rules_assume_run: what the cost of a run is estimated of. */
struct facts *rules_run_facts(struct arena *a, const struct rule_set *set, const struct facts *f,
                              struct arena *scratch);

/* Gives a value of origin ORIGIN_ASSUMED to what nobody states and a cost depends on: features that
   an incomplete model does not mention, then the assumptions for the facts' framework, in order.
   Derives. */
void rules_assume(const struct rule_set *set, struct facts *f, struct arena *scratch);
/* And what a run of which sizes alone are told is likeliest to have, which nothing but an estimate
   may take from silence. */
void rules_assume_run(const struct rule_set *set, struct facts *f, struct arena *scratch);
/* The same as rules_assume for facts about the model alone. */
void rules_assume_model(const struct rule_set *set, struct facts *f, struct arena *scratch);
/* Whether a plan file that does not mention the parameter means something else than its framework's
   default. */
bool rules_plans_silent(const struct rule_set *set, enum framework framework, int param);
/* Marks all of those. */
void rules_mark_plans_silent(const struct rule_set *set, enum framework framework, bool *marks);

struct rules_summary {
    size_t evaluated, failed, skipped, broken; /* skipped: met an unknown */
    size_t errors;                             /* failed rules of severity error */
};
/* Runs all checks that apply to the facts' framework and version and adds a diagnostic (message,
   arithmetic, origin of every operand, nearest valid values) to f->diags for each that fails. */
struct rules_summary rules_run(const struct rule_set *set, struct facts *f, struct arena *scratch);
/* The same of the rules of severity error alone, in fewer words: the diagnostics have severity,
   place and message. False where one met an unknown and reads one of the parameters that are marked
   as open: to work these out may decide it. */
bool rules_run_errors(const struct rule_set *set, struct facts *f, const bool *open,
                      struct arena *scratch);
/* The message with its values on these facts; as it is written where they cannot be put in. */
struct str rule_message(const struct rule *r, const struct facts *f, struct arena *a);
/* Adds the diagnostic of one rule that failed on the facts. Its help offers values; with the set,
   only such as make no other rule of it fail. */
struct diag *rule_report(const struct rule_set *set, const struct rule *r, const struct facts *f,
                         struct arena *scratch);
/* Whether all that is written of what a rule speaks of stands in files that the facts' own is laid
   over: it is told of those, where they are checked. Of a part that stands there only what no
   program takes is told, or what is a warning in itself: who lays files over others means many
   values of the lower ones for another program than Megatron-LM. */
bool rule_is_inherited(const struct rule *r, const struct facts *f);
/* Whether a flag of the program's own replaces what the rule is about. */
bool rule_is_lifted(const struct rule *r, const struct facts *f);
/* Severity, place and message of that diagnostic alone. */
void rule_report_briefly(const struct rule *r, const struct facts *f, struct arena *scratch);
/* Those of a list of values of the rule's parameter at which nothing fails that does not fail
   already, of rising numbers at most so many, those nearest to what the parameter is; all of the
   list when there is none. */
struct value rule_remedies(const struct rule_set *set, const struct rule *r, const struct facts *f,
                           struct value values, size_t most, struct arena *scratch);
/* The rule's page on the site of the documentation; empty where the build knows of none, and for
   rules that are not built in. */
struct str rule_address(struct arena *a, const struct rule *r);
/* Fills the pages of all diagnostics, and guide, source, covers and help of those that readers
   added, from the native records of their ids. */
void rules_describe(const struct rule_set *set, struct diags *diags);
/* For the planner: the first rule that fails and bars plans, which errors do and `plans: never`;
   NULL: none. No diagnostics. */
const struct rule *rules_first_error(const struct rule_set *set, const struct facts *f,
                                     struct arena *scratch);

/* The rules that bar plans and that a search has to look at again when it changes a few parameters.
 */
struct rule_step {
    const struct rule *rule;
    const uint32_t *conditions; /* those that can change; the others hold */
    size_t n_conditions;
};
struct rule_subset {
    const struct rule_set *set;
    const struct rule *failed; /* a rule that fails whatever the search does; NULL: none */
    struct rule_step *steps;
    size_t n;
};
/* What a change of a few parameters can reach: made once for a set and framework. */
struct rule_reach {
    const struct rule_set *set;
    const bool *conditions;    /* [set->n_conditions] of the checks below: whether it can change */
    const uint32_t *checks;    /* those that bar plans and do, in themselves or in a condition */
    const bool *reads;         /* [n_checks] the rule itself does */
    const uint32_t *overrides; /* those that can come out differently */
    const int *params;         /* all parameters that can change */
    size_t n_checks, n_overrides, n_params;
};

/* Splits the rules that bar plans for a search that changes only `params`, and with them derived
   parameters and what overrides make of them. `f` is any configuration of the search, overrides
   applied. Rules and conditions that read none of these are decided here, once: `failed` is the
   first such rule that fails, rules whose condition is false are left out. */
struct rule_subset rules_varying(struct arena *a, const struct rule_set *set, const struct facts *f,
                                 const int *params, size_t n, struct arena *scratch);
/* The reach of some parameters, whatever the framework's version. */
struct rule_reach rules_reach_of(struct arena *a, const struct rule_set *set,
                                 enum framework framework, const int *params, size_t n);
/* The same of one parameter where overrides are not applied anew, kept in the set's memo where it
   has one, else in `a`. */
const struct rule_reach *rules_reach_of_one(struct arena *a, const struct rule_set *set,
                                            enum framework framework, int param);
/* The first rule out of reach that bars plans and fails; NULL: none. */
const struct rule *rules_fixed_error(const struct rule_reach *reach, const struct facts *f,
                                     struct arena *scratch);
/* The reach of the world size. */
struct rule_reach rules_reach_of_world(struct arena *a, const struct rule_set *set,
                                       enum framework framework);
/* The rules in reach that can fail on a configuration of some world size; `failed` is not looked
 * for. */
struct rule_subset rules_reached(struct arena *a, const struct rule_reach *reach,
                                 const struct facts *f, struct arena *scratch);
/* Makes `at`, a copy of the configuration `f` (overrides applied), the same at another world size:
   what can change is put back, and derived and overridden anew. */
void rules_resize(const struct rule_reach *world, const struct facts *f, struct facts *at,
                  int64_t world_size, struct arena *scratch);
/* The first rule of the subset that fails on a configuration of the search, or NULL; `failed` comes
   first. */
const struct rule *rule_subset_first_error(const struct rule_subset *subset, const struct facts *f,
                                           struct arena *scratch);

/* What a user writes, as an example holds it under `flags`, `overrides` or `yaml`; empty: it has
   bare facts alone. */
struct str rule_example_text(const struct node *root);
/* The example's mapping, and the facts of its text: without one, those of its framework and version
   that say nothing yet. NULL with a diagnostic as below. */
struct facts *rule_example_start(struct arena *a, struct diags *diags, const struct rule *r,
                                 const struct rule_example *example, const struct node **root);
/* Facts of one example: framework defaults, its text, its values, overrides of `set`, derived
   values. Diagnostics of the facts go to `diags`, which must live in `a`. NULL with a diagnostic at
   the example when it is no valid example. */
struct facts *rule_example_facts(struct arena *a, struct diags *diags, const struct rule *r,
                                 const struct rule_example *example, const struct rule_set *set,
                                 struct arena *scratch);
/* Runs a rule's examples; each failure is a diagnostic. A rule needs a good and a bad one, and each
   must be decidable unless it lists what is unknown. Native records are tested with their readers:
   their examples only explain. Returns the number of failures. */
size_t rule_test(const struct rule *r, const struct rule_set *set, struct diags *diags);

struct rules_tested {
    size_t records, examples, failures;
};
/* Runs the examples of all records of `own`, which stand in `all` among the others. */
struct rules_tested rules_test(const struct rule_set *own, const struct rule_set *all,
                               struct diags *diags);
/* Loads the rules of a registered source in place of the records of the same ids in `others` and
   runs their examples. False when the file is no good rule file; each defect is a diagnostic. */
bool rules_test_text(struct arena *a, struct diags *diags, uint32_t source,
                     const struct rule_set *others, struct rules_tested *out);

/* Writes the set as C source text that defines rules_builtin (for the build step). Equal sets give
   equal texts. */
struct buf;
void rules_write_c(const struct rule_set *set, struct buf *out);

#endif
