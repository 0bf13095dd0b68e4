/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/profile.h"

#define S(s)                                                                                       \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

static const struct profile profiles[] = {
    {FRAMEWORK_MEGATRON, S("main@2026-08-22"), S("d98e8a64"),
     S("flags, defaults and checks read from this commit")},
    {FRAMEWORK_MEGATRON, S("0.16"), S(""), S("the previous line, where its differences are known")},
    {FRAMEWORK_BRIDGE, S("main@2026-08-22"), S("067f987d"),
     S("Bridge's own defaults over Megatron-core")},
    {FRAMEWORK_AUTOMODEL, S("main@2026-08-22"), S("36044ad3"),
     S("keys, coercions and checks read from this commit")},
};

size_t profile_count(void)
{
    return sizeof profiles / sizeof *profiles;
}

const struct profile *profile_at(size_t i)
{
    return &profiles[i];
}

/* "0.16.1" and "0.16.0rc2" belong to the line "0.16". */
static bool belongs(struct str version, struct str line)
{
    return str_starts(version, line) && (version.n == line.n || version.p[line.n] == '.');
}

const struct profile *profile_find(enum framework framework, struct str version)
{
    for (size_t i = 0; i < profile_count(); i++) {
        if (profiles[i].framework != framework) continue;
        if (!version.n || belongs(version, profiles[i].version)) return &profiles[i];
    }
    return NULL;
}

struct str profile_list(struct arena *a, enum framework framework)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i < profile_count(); i++) {
        if (profiles[i].framework != framework) continue;
        if (out.n) buf_add(&out, STR(", "));
        buf_add(&out, profiles[i].version);
    }
    return buf_str(&out);
}
