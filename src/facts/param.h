/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter table: every knob once, with its name, symbol, type, meaning, and its spelling,
   default and type in each framework. Generated at build time from rules/parameters; readers,
   emitters, convert, schema, docs and did-you-mean all derive from it. */
#ifndef MOEPLAN_FACTS_PARAM_H
#define MOEPLAN_FACTS_PARAM_H

#include "base/value.h"

enum framework { FRAMEWORK_MEGATRON, FRAMEWORK_BRIDGE, FRAMEWORK_AUTOMODEL, FRAMEWORK_COUNT };

enum param_type {
    PARAM_BOOL,
    PARAM_INT,
    PARAM_DOUBLE,
    PARAM_STRING,
    PARAM_LIST,
    PARAM_MAP,
    PARAM_ANY,
    PARAM_PATTERN, /* a value a layer: an int, a list of ints, or Megatron's expression
                      "([0]*3+[1]*58)" (a list once read) */
    PARAM_TUPLE,   /* ints in one word, "128,0" or "(128,0)"; a list once read */
};

static inline bool param_type_is_number(enum param_type type)
{
    return type == PARAM_INT || type == PARAM_DOUBLE;
}

/* What kind of thing a parameter is about; `model.x`, `plan.x` and `platform.x` in expressions name
   the same table. SCOPE_RUN: data, schedule, checkpoints, logging; SCOPE_METRIC: what a run reports
   about itself, no setting. A plan file is silent about the model where it writes nothing: its
   values are then unknown, not the framework's default. SCOPE_COEFFICIENT: of the cost models, in
   platform files only; these stand in a table of their own. */
enum param_scope {
    SCOPE_PLAN,
    SCOPE_MODEL,
    SCOPE_PLATFORM,
    SCOPE_DERIVED,
    SCOPE_RUN,
    SCOPE_METRIC,
    SCOPE_COEFFICIENT
};

/* What a change of a parameter touches: only how fast and in how much memory the same numbers are
   computed, or the numbers themselves. Model parameters affect convergence unless their file says
   otherwise. */
enum param_effect { AFFECTS_EXECUTION, AFFECTS_CONVERGENCE };

/* How a command-line flag acts, as argparse names it. */
enum flag_action { FLAG_STORE, FLAG_TRUE, FLAG_FALSE, FLAG_CONST, FLAG_APPEND };

/* One command-line spelling of a parameter (Megatron-LM). */
struct param_flag {
    struct str flag;       /* "--tensor-model-parallel-size" */
    struct value constant; /* FLAG_CONST */
    enum flag_action action;
    int nargs_min, nargs_max; /* values taken: 1,1 for an ordinary flag; -1 maximum: any number */
    uint32_t releases;        /* the framework's releases that have it, as bits (profile.h) */
    struct str deprecated;    /* successor or reason; empty: not deprecated */
    struct str removed;       /* why it is no longer accepted; empty: accepted */
    struct str program;       /* another program that has it, not the pretraining scripts; empty:
                                 they do */
};

/* A key that older releases know by another name, in the recipes that are asked. */
struct param_former {
    struct str key, was;   /* what it is called now, and was then */
    struct str before;     /* the release since which it is called so */
    struct str task, with; /* of recipes of this task which know this parameter too */
};

/* A parameter as one framework knows it. There are thousands: what is small stands together. */
struct param_spelling {
    struct str key; /* dotted key: Bridge "model.x", AutoModel "distributed.x"; Megatron: empty */
    const struct str *more_keys;  /* further keys for the same thing */
    const uint32_t *key_releases; /* which releases have key and each of more_keys, as bits; those
                                     of a key that none has been seen with are all. NULL: all */
    const struct param_former *former; /* of what is written beside */
    struct str zero_since; /* the release since which 0 is a value; before it, it is written as
                              none. empty: every one */
    const struct str *also, *unset; /* keys that are written beside: with the same value, as null */
    uint32_t n_more_keys, n_also, n_unset, n_former, n_flags, n_choices;
    uint32_t releases; /* of the framework that have its key, as bits; a flag has its own */
    const struct param_flag *flags;
    const struct str *choices;
    struct str under; /* a parameter that decides this one where it is said: then this one is not */
    struct str rule;  /* native rule that a bad value is reported under; empty: `value-type` or
                         `value-choice` */
    bool known;       /* the framework has it */
    bool recipe;      /* recipes differ in it: overrides say it whatever its value, none too */
    bool provider;    /* a model's own provider knows it: overrides of one leave it alone */
    bool dtype;       /* written by PyTorch's name of it, which is what the framework shows */
    bool settled;     /* where nothing stands the framework settles it, and no provider does */
    bool fixed;       /* the recipe's code has it: no override can name it, the file's head does */
    bool inverse;     /* the framework's boolean is the opposite of ours */
    bool either;      /* one of its keys that says true is enough */
    bool single;      /* a list of one item is written as the item, for all layers */
    enum param_type type;       /* of a written value */
    enum param_type item_type;  /* list items */
    struct value default_value; /* VALUE_NULL: none; VALUE_UNKNOWN: the recipe decides */
};

/* The numbers that a parameter can be, in its unit. Moeplan's own files and options are held to it,
   and so is every number that enters an estimate; what recipes of a framework may hold is said by
   the framework's rules. A parameter with a range is a finite number. */
struct param_range {
    bool has_min, has_max, above; /* above: min itself is too small */
    double min, max;
};

struct param {
    struct str name, symbol; /* symbol may be empty */
    const struct str
        *aliases; /* further names it answers to, such as Megatron's destination name */
    const struct str *choices;
    uint32_t n_aliases, n_choices;
    enum param_type type;
    enum param_scope scope;
    enum param_effect affects;
    bool asked; /* where the model needs it and may have more to say, it is asked for, not taken as
                   absent */
    struct str unit, doc;
    struct param_range range;
    struct value absent; /* of a model: what it means that the model does not mention the parameter;
                            VALUE_UNKNOWN: nothing */
    const struct param_spelling *in[FRAMEWORK_COUNT]; /* never NULL */
};

/* The table (generated), sorted by name. A parameter's number is its index; facts/param_ids.h
   (generated) has it under its name. */
extern const struct param param_table[];
extern const uint32_t param_count;
/* The parameters that have a range, by number (generated). */
extern const uint16_t param_ranged[];
extern const uint32_t param_ranged_count;
/* The coefficients of platform files, sorted by name (generated). */
extern const struct param coefficient_table[];
extern const uint32_t coefficient_count;

/* A flag of the spelling that is in one of a set of releases (bits of profile.h) and not on its way
   out; NULL: none. */
const struct param_flag *param_flag_in(const struct param_spelling *s, uint32_t releases);
/* The key of the spelling that one of a set of releases has: the first of key and more_keys; else
   key. */
struct str param_key_in(const struct param_spelling *s, uint32_t releases);
/* Whether any framework has it. */
bool param_is_spelled(const struct param *p);
/* Whether it is one of the list. */
bool param_among(int param, const int *list, size_t n);
/* By name, symbol or alias; -1 when there is none. */
int param_find(struct str name);
/* The same for a word typed by hand: in any case, and with dashes for underscores. */
int param_typed(struct str word);
/* The one that a word typed by hand means: as above, or by a flag without its dashes or the last
   part of a key, where all that have it are one parameter; -1: none. */
int param_meant(struct str word);
/* The name of a parameter: what diagnostics carry. */
struct str param_name(int param);
/* By a framework's own spelling: a flag with its dashes, or a dotted key. *flag is set for flags.
   -1: none. */
int param_find_key(enum framework framework, struct str key, const struct param_flag **flag);
/* The releases that have a parameter's key, as bits; of another spelling of it, all. 0: it is no
   parameter's. */
uint32_t param_key_releases(enum framework framework, struct str key);
/* A coefficient by name; NULL when there is none. */
const struct param *param_coefficient(struct str name);
/* The first parameter whose key in the framework ends in a name: tp_size of distributed.tp_size;
   -1: none. */
int param_named_by(enum framework framework, struct str name);
/* The nearest name, symbol, or spelling of the framework; empty when nothing is near. */
struct str param_nearest(struct str word);
struct str param_nearest_in(enum param_scope scope, struct str word); /* names of the scope */
struct str param_nearest_key(enum framework framework, struct str word);
struct str param_nearest_coefficient(struct str word);
/* The names of frameworks as options list them, in the order of the enumeration. */
#define FRAMEWORK_WORDS "megatron|bridge|automodel"
const char *framework_name(enum framework framework); /* one of them */
/* Megatron-LM, Megatron-Bridge, NeMo AutoModel */
const char *framework_full_name(enum framework framework);
/* false when the word is none of them (megatron-lm, mlm, nemo-automodel are accepted as
   aliases). */
bool framework_from_name(struct str name, enum framework *out);

#endif
