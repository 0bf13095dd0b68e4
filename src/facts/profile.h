/* SPDX-License-Identifier: Apache-2.0 */
/* The framework versions that the rules, flags and defaults are known for. */
#ifndef MOEPLAN_FACTS_PROFILE_H
#define MOEPLAN_FACTS_PROFILE_H

#include "base/buf.h"
#include "facts/param.h"

struct profile {
    enum framework framework;
    struct str version; /* "main@2026-08-22" or a release number */
    struct str commit;  /* of the framework's repository, where the profile was read from it */
    struct str note;    /* what it is good for; may be empty */
};

/* All profiles, those of one framework together, the newest first. */
size_t profile_count(void);
const struct profile *profile_at(size_t i);
/* The profile that a version the user wrote stands for: "" is the newest; "0.16.1" is the release
   line 0.16. NULL when there is none. */
const struct profile *profile_find(enum framework framework, struct str version);
/* "main@2026-08-22, 0.16" for a message. */
struct str profile_list(struct arena *a, enum framework framework);

#endif
