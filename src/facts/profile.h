/* SPDX-License-Identifier: Apache-2.0 */
/* The releases of the frameworks that rules, flags, keys and defaults are known for: what
   rules/releases says of each, generated at build time. The parameter table is the newest one's;
   here is in which others a spelling exists, and what differs in them. A set of a framework's
   releases is bits, the newest is bit 0. */
#ifndef MOEPLAN_FACTS_PROFILE_H
#define MOEPLAN_FACTS_PROFILE_H

#include "base/buf.h"
#include "facts/param.h"

/* A default that is another one than in the newest release. */
struct profile_default {
    int param;
    struct value value;
};

/* All releases, those that nobody has imported too. */
#define RELEASES_ALL UINT32_MAX

struct profile {
    enum framework framework;
    struct str version;                   /* "main@2026-08-22" or a release number */
    struct str commit, date;              /* of the framework's repository, that it was read from */
    struct str transformer_engine, torch; /* versions that its own lock file pins; empty: none */
    uint32_t bit;
    const struct profile_default *defaults;
    uint32_t n_defaults;
};

/* Choices that are others in some releases. */
struct profile_choices {
    enum framework framework;
    int param;
    uint32_t releases;
    const struct str *items;
    size_t n;
};

/* A setting that some releases have and the parameter table has not: no rule asks for it. */
struct profile_setting {
    enum framework framework;
    struct str key; /* a flag with its dashes, or a dotted key */
    uint32_t releases;
    int nargs_min, nargs_max; /* of a flag */
};

/* All profiles, those of one framework together, the newest first. */
size_t profile_count(void);
const struct profile *profile_at(size_t i);
/* The profile that a version the user wrote stands for: "" and "main" are the newest; "0.16.1" is
   the release line 0.16. NULL when there is none. */
const struct profile *profile_find(enum framework framework, struct str version);
/* The profile of the framework that is one of a set: the newest, or the oldest. NULL: none is. */
const struct profile *profile_newest(enum framework framework, uint32_t releases);
const struct profile *profile_oldest(enum framework framework, uint32_t releases);
/* "main@2026-08-22, 0.16" for a message. */
struct str profile_list(struct arena *a, enum framework framework);
/* "since 0.17", "up to 0.16", "from 0.15 to 0.17": which releases a set holds. */
struct str profile_span(struct arena *a, enum framework framework, uint32_t releases);
/* The default of a parameter in a release. */
struct value profile_default_of(const struct profile *profile, int param);
/* The choices of a parameter in a release, *n of them. */
const struct str *profile_choices_of(const struct profile *profile, int param, size_t *n);
/* A setting that the table has not; NULL where no release has it. */
const struct profile_setting *profile_setting_find(enum framework framework, struct str key);

/* Generated from rules/releases. */
extern const struct profile profile_table[];
extern const uint32_t profile_table_count;
extern const struct profile_choices profile_choices_table[];
extern const uint32_t profile_choices_count;
extern const struct profile_setting profile_settings[]; /* sorted by framework, then key */
extern const uint32_t profile_settings_count;

#endif
