/* SPDX-License-Identifier: Apache-2.0 */
/* The knobs as a table: which parameter each numeric field of struct knobs stands for. Pins, the
   search's axes, the writing of a plan's facts and the comparison of two plans all go through it.
 */
#ifndef MOEPLAN_PLAN_KNOB_H
#define MOEPLAN_PLAN_KNOB_H

#include "plan/config.h"

/* KNOB_LADDER: words that rise, so that two apart is further than one.
   KNOB_SHARDED: whether Megatron-FSDP shards the parameters, of the field fsdp. */
enum knob_kind {
    KNOB_INT,
    KNOB_INT64,
    KNOB_BOOL,
    KNOB_DOUBLE,
    KNOB_WORD,
    KNOB_LADDER,
    KNOB_MODULES,
    KNOB_DTYPE,
    KNOB_SHARDED
};

struct knob {
    int param;
    enum knob_kind kind;
    size_t offset;            /* of the field in struct knobs */
    const char *const *words; /* KNOB_WORD: word of each enum value; KNOB_MODULES: word of each bit;
                                 NULL-terminated */
    int64_t absent; /* the field's value that is written as null: nothing to say; -1: none */
};

extern const struct knob knob_table[];
extern const size_t knob_count;

/* The knob of a parameter; NULL when it is none. */
const struct knob *knob_of(int param);
/* The field as the parameter's value. */
struct value knob_get(struct arena *a, const struct knobs *k, const struct knob *knob);
/* Sets the field from a parameter's value; false when the value is of no use for it. Null sets
 * `absent`. */
bool knob_set(struct knobs *k, const struct knob *knob, struct value v);
/* allgather, alltoall, deepep, hybridep, torch */
const char *knobs_dispatcher(const struct knobs *k);
/* Writes every knob into the facts of its framework (origin ORIGIN_DERIVED unless the user set it),
   the pipeline layout included. What a framework has no spelling for is left out. */
void config_to_facts(const struct config *c, struct facts *f);

#endif
