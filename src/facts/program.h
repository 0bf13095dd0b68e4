/* SPDX-License-Identifier: Apache-2.0 */
/* The program that reads a file's arguments. What it is decides what may be concluded from them:
   Megatron-LM's own scripts take no flags but Megatron-LM's and set nothing behind its back; of a
   fork, of a script of somebody's own and of a file that launches nothing only what is written is
   sure. */
#ifndef MOEPLAN_FACTS_PROGRAM_H
#define MOEPLAN_FACTS_PROGRAM_H

#include "doc/node.h"

enum program_origin {
    PROGRAM_UNSAID,   /* nothing is launched: a part of somebody's command line */
    PROGRAM_OTHER,    /* a script of another name, with no flag that Megatron-LM lacks */
    PROGRAM_FORK,     /* it has flags that Megatron-LM lacks, or lacked for long */
    PROGRAM_MEGATRON, /* Megatron-LM's own script, or its parser alone */
};

/* What it does with the model. TASK_UNSAID: its name does not say. */
enum program_task { TASK_UNSAID, TASK_TRAINING, TASK_INFERENCE, TASK_EVALUATION, TASK_CONVERSION };

struct facts;
struct flag_word;
struct flag_words;
struct program_kind;
struct program_setting;

/* A flag, or a key that stands for one, that Megatron-LM does not take. */
struct stranger {
    struct span at;
    struct str name;
    struct str gone; /* what took its place, of one that this release no longer has; else empty */
    struct str instead; /* the flag of this release that says the same with as many values */
    bool here;          /* the program has it, as it lies in the file's own repository */
    const struct flag_word *values;
    size_t n_values;
};

/* A finding that holds for Megatron-LM of this release alone. */
struct doubt {
    size_t diag;            /* its index */
    struct str flag, value; /* value: the word that is wrong */
    bool plain;             /* no program that takes the flag from Megatron-LM takes this either */
    bool choice;            /* of a word that is none of the flag's */
    bool real;              /* of a number that is not written as a whole one */
    bool known;             /* the parser of the file's own repository is of another mind */
};

struct program {
    enum program_origin origin;
    enum program_task task;
    struct str script; /* what is launched, in the launch's words; empty: nobody says */
    bool told;         /* said, not guessed: flags alone, or a release that the user names */
    bool own_script;   /* the script is one of Megatron-LM's, whoever changed it */
    bool bare;         /* flags alone: which program takes them, they say themselves */
    const struct program_kind *kind; /* the fork, where it is one of rules/programs; else NULL */
    bool kind_guessed;     /* by its flags alone: it may be a fork of that one, which takes more */
    bool whole;            /* the file and what it is laid over say every argument that is set */
    uint32_t lacking;      /* the releases that lack one of its flags, as bits */
    uint32_t lacking_more; /* those that lack two: one new flag may be a fork's own, of that name */
    VEC(struct stranger) strangers;
    VEC(struct doubt) doubts;
};

/* What it does that is no training: "does inference"; empty: it trains, or nobody says. */
struct str program_does_otherwise(const struct program *p);
/* By the words in front of the arguments, the last of which is the script or module; none of them
   known is PROGRAM_OTHER. */
struct program program_of(struct str script);
/* With all arguments read: decides between Megatron-LM itself and a fork, reports the strangers
   (each an error where it can only be a slip, else one warning for all) and lessens the doubtful
   findings of a fork to warnings; sets the facts program, program_task and program_told. */
void program_settle(struct facts *f);
/* A setting of a program's own, and the value written for it: what it does not take is a warning.
 */
void program_check_own(struct facts *f, const struct program_kind *kind,
                       const struct program_setting *own, struct str value, struct span at);
/* A flag of a program's own that takes a number, and behind which nothing stands. */
void program_check_missing(struct facts *f, const struct program_setting *own, struct span at);
/* Whether Megatron-LM's own checks see the arguments: not in a program that is known to check them
 * itself. */
bool program_vouches(const struct program *p);
/* Sets the number of GPUs from what the program's own settings say, in a document or in the words
   of a launch; nothing where they leave it open. */
void program_take_world(struct facts *f, const struct node *doc, const struct flag_words *words);
/* Whether a script of somebody's own may build another model than Megatron-LM's, whose classes then
   check nothing. */
bool program_may_build_another(const struct program *p);
/* A flag of the launch that only releases before all known ones took; empty: it has none. */
struct str program_former_flag(const struct program *p);
/* A flag of the checkout's own that is about parallelism, which may lay the GPUs out in a way of
   its own; empty: there is none. */
struct str program_own_layout(const struct program *p);
/* What a cost is estimated of: the switches that are off by default, and that neither a launch nor
   anything else sets, are off in a fork too. */
void program_assume(struct facts *f);
/* Whether a launch takes Megatron-LM's arguments: a script of somebody's own whose flags are mostly
   other ones has but a few names in common with it. */
bool program_is_megatrons(const struct facts *f);
/* Makes what nobody wrote unknown where the program may have set it: a fork's, a tool's or a part's
   defaults are not Megatron-LM's. */
void program_open(struct facts *f);

#endif
