/* SPDX-License-Identifier: Apache-2.0 */
/* Programs built on Megatron-LM, as tables generated at build time from rules/programs: what shows
   that a file is one's, where in it Megatron-LM's arguments stand, and the flags that it has beside
   them. */
#ifndef MOEPLAN_FACTS_PROGRAM_KIND_H
#define MOEPLAN_FACTS_PROGRAM_KIND_H

#include "doc/node.h"
#include "facts/param.h"

/* A flag or key of a program's own. There are thousands: what is small stands together. */
struct program_setting {
    struct str name;
    const struct str *choices;
    enum param_type type; /* int, double, bool or string, else PARAM_ANY: not known */
    uint16_t n_choices;   /* 0: any word */
    bool list : 1;        /* several values of the type */
    bool alone : 1;       /* a flag that takes no value */
    bool open : 1;        /* other words are taken too: only a slip of a choice is wrong */
};

struct program_kind {
    struct str name, title, source; /* source: the repository and commit that it was read from */
    const struct str *proof; /* dotted keys that its YAML files have, all of them, or KEY=VALUE */
    size_t n_proof;
    const struct str *
        sections; /* dotted keys of the mappings that hold Megatron-LM's arguments by destination */
    size_t n_sections;
    const struct str *commands; /* that take its flags, which are destinations behind dashes:
                                   "--micro_batch_size 1" */
    size_t n_commands;
    bool checked_by_megatron; /* Megatron-LM's own checks of its arguments run on them */
    bool makes_flags;         /* it makes a flag of each key: dashes are as good as underscores */
    bool parsed_by_megatron;  /* Megatron-LM's own parser reads what is none of the flags below */
    bool starts_others;       /* a launcher: no flags of Megatron-LM's are its own */
    bool closed;              /* it refuses what it does not know, else hands it on */
    struct str
        model; /* the dotted key, or flag without dashes, that names the model; empty: none */
    const struct program_setting *flags; /* of its own, or defined anew, sorted */
    size_t n_flags;
    const struct program_setting *keys; /* of its own YAML files and overrides, sorted */
    size_t n_keys;
    const struct str *world; /* settings whose product is the number of GPUs that train: flags,
                                dotted keys, "$NAME=1" of the environment with what it is unset */
    size_t n_world;
    const struct str *sizes; /* "KEY=DESTINATION": numbers, at least 1, that it hands on under
                                another name; "KEY": one of its own */
    size_t n_sizes;
    struct str release;  /* of Megatron-LM that its repository pins; empty: its newest */
    struct str inherits; /* the key that names the files that a file of its is laid over; empty:
                            it has none */
    const struct str *presets; /* "KEY=FOLDER" of its repository: the key names a file in there that
                                  the section is laid over; each over those before it */
    size_t n_presets;
    const struct str *keeps; /* destinations of Megatron-LM's that it leaves at their defaults */
    size_t n_keeps;
    const struct str *means; /* "KEY=VALUE DESTINATION=VALUE": what a key of the first section says
                                of a destination that it leaves out; a null whatever it says */
    size_t n_means;
    const struct str *lifts; /* "FLAG RULE": a rule of Megatron-LM's that does not hold with one of
                                its own flags */
    size_t n_lifts;
    const struct str *scripts; /* "NAME TASK": those of its repository that take its flags and add
                                  none, with what they do */
    size_t n_scripts;
    struct str world_when;      /* a dotted key, and the value of it with which they all train */
    const struct str *prefixes; /* of flags that it makes of another program's settings */
    size_t n_prefixes;
};
extern const struct program_kind program_kinds[];
extern const uint32_t program_kind_count;

/* The program of that name; NULL when there is none. */
const struct program_kind *program_kind_named(const char *name);
/* The program whose file the document is; NULL when it is none's. */
const struct program_kind *program_kind_of(const struct node *doc);

/* The program whose presets name so the files that they are laid over: a part of a configuration of
   its, or of another trainer that it can start. NULL: it is no preset. */
const struct program_kind *program_kind_laid_over(const struct node *doc);
/* The program whose keys stand as section.key=value in a script, or one of whose commands does;
 * NULL when it is none's. */
const struct program_kind *program_kind_of_script(struct str text);
/* What stands behind a section and its dot, plusses before them aside; empty: the word begins with
   no section. */
struct str program_kind_behind(const struct program_kind *kind, struct str word);
/* A value of Hydra's without the quotes around it. */
struct str program_kind_value(struct str text);
/* Whether a word of a command line is a setting of the program's, and which destination it names:
   what stands behind the section, or behind the dashes. *value is what stands behind an equals
   sign, as Hydra reads it; empty text at its end: nothing. */
bool program_kind_takes(const struct program_kind *kind, struct str word, struct str *key,
                        struct str *value);
/* Whether the program's code makes destinations of the key. */
bool program_kind_means(const struct program_kind *kind, struct str key);
/* The flag of the program's own with which a rule of an id does not hold, after *from of the list,
   which moves behind it; empty: there are no more. */
struct str program_kind_lifter(const struct program_kind *kind, struct str rule, size_t *from);
/* Whether the program has a script of that name, with what it does in *task: training, inference,
   evaluation, conversion or unsaid. */
bool program_kind_script(const struct program_kind *kind, struct str name, struct str *task);
/* Whether it is known what the setting takes beside text, and whether it takes a word. */
bool program_setting_is_told(const struct program_setting *s);
bool program_setting_takes(const struct program_setting *s, struct str word);
bool program_kind_has(const struct program_kind *kind, struct str flag);
/* The program's own flag, key, or destination of a flag; NULL when it has none of that name. */
const struct program_setting *program_kind_own(const struct program_kind *kind, struct str name);
/* The flag that a word, "--name" or "--name=value", is a slip of; empty: it is one, or the
   beginning of one, which argparse completes, or something else. */
struct str program_kind_slip(struct arena *a, const struct program_kind *kind, struct str word);
/* The nearest of its own flags, or keys where the name has no dashes; empty when none is near. */
struct str program_kind_nearest(const struct program_kind *kind, struct str name);

#endif
