/* SPDX-License-Identifier: Apache-2.0 */
/* The knobs as a table: each field of struct knobs with the parameter it stands for, how facts of
   each framework say it, and how it is said in facts. Reading and writing facts, pins, the search's
   axes, conversion and the comparison of two plans all go through it. */
#ifndef MOEPLAN_PLAN_KNOB_H
#define MOEPLAN_PLAN_KNOB_H

#include "plan/config.h"

/* KNOB_LADDER: words that rise, so that two apart is further than one.
   KNOB_EACH: a word for all layers, in a list of one, or of the same for each layer.
   KNOB_SHARDED: whether Megatron-FSDP shards the parameters, of the field fsdp. */
enum knob_kind {
    KNOB_INT,
    KNOB_INT64,
    KNOB_BOOL,
    KNOB_DOUBLE,
    KNOB_WORD,
    KNOB_LADDER,
    KNOB_EACH,
    KNOB_MODULES,
    KNOB_DTYPE,
    KNOB_SHARDED
};

/* Facts that knobs are said in. */
struct knob_saying {
    struct facts *facts;
    bool keep; /* a plan made from a question: what the user set stays. Else the facts change to
                  what the knobs say, and what goes with the old value alone becomes null */
};

struct knob;
/* What a row's field is beside other facts and knobs, once every field has been read by itself. */
typedef void knob_settler(const struct facts *f, struct config *c);
typedef void knob_sayer(const struct knob_saying *s, const struct config *c,
                        const struct knob *knob);

struct knob {
    int param; /* whose value the field is, or which says most of it; P_NONE: no single one does */
    enum knob_kind kind;
    size_t offset;            /* of the field in struct knobs */
    const char *const *words; /* KNOB_WORD, KNOB_EACH: word of each enum value; KNOB_MODULES: word
                                 of each bit; NULL-terminated */
    int64_t absent;       /* the field's value that is written as null: nothing to say; -1: none */
    knob_settler *settle; /* NULL: the field is what it says by itself */
    knob_sayer *say;      /* NULL: the parameter's value; of what costs read besides: nothing */
};

/* The first knob_count rows are what a plan decides. Those after them, knob_field_count in all, are
   what costs read besides. */
extern const struct knob knob_table[];
extern const size_t knob_count, knob_field_count;

/* The knob that a plan decides by a parameter; NULL when it is none. */
const struct knob *knob_of(int param);
/* The knob that a parameter settles: its own, or the one that a framework says with it. NULL: none.
 */
const struct knob *knob_said_by(int param);
/* The field as a number whose distance from another is meaningful. */
double knob_number(const struct knobs *k, const struct knob *knob);
/* The field as the parameter's value. */
struct value knob_get(struct arena *a, const struct knobs *k, const struct knob *knob);
/* Sets the field from a parameter's value; false when the value is of no use for it. Null sets
 * `absent`. */
bool knob_set(struct knobs *k, const struct knob *knob, struct value v);
size_t knob_size(const struct knob *knob); /* bytes of the field */
bool knob_same(const struct knob *knob, const struct knobs *a, const struct knobs *b);
/* allgather, alltoall, deepep, hybridep, torch */
const char *knobs_dispatcher(const struct knobs *k);

/* Sets one field from the facts of a framework by itself. What the facts do not say stays, and
   words of a list that the knob does not know are left to the rules. */
void knob_read(const struct facts *f, const struct knob *knob, struct knobs *k);
/* The same of every field. */
void knobs_read(struct arena *scratch, const struct facts *f, struct knobs *k);
/* Says a parameter's value. */
void knob_put(const struct knob_saying *s, int param, struct value v);
/* Says one knob in the words that the facts' framework has for its value; false: it has none, and
   the parameter's own value is all there is to say. */
bool knob_say_words(const struct knob_saying *s, const struct knobs *k, const struct knob *knob);
/* Whether a framework has any words for a knob: its own parameter, or others. */
bool knob_is_sayable(const struct knob *knob, enum framework framework);
/* Says one knob in the facts of its framework. */
void knob_say(const struct knob_saying *s, const struct config *c, const struct knob *knob);
/* Says the microbatch and the local batch of a schedule that takes the one out of the other. */
void knob_say_local_batch(const struct knob_saying *s, const struct config *c);
/* Changes the facts of `from` to say what is other in `to`, whatever says it now. */
void knobs_say_changes(const struct config *from, const struct knobs *to, struct facts *f);
/* Writes every knob into the facts of its framework (origin ORIGIN_OPTION unless the user set it),
   the pipeline layout included. What a framework has no spelling for is left out. */
void config_to_facts(const struct config *c, struct facts *f);

#endif
