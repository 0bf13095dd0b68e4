/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/profile.h"

size_t profile_count(void)
{
    return profile_table_count;
}

const struct profile *profile_at(size_t i)
{
    return &profile_table[i];
}

/* "0.16.1" and "0.16.0rc2" belong to the line "0.16", "main" is the main@DATE that is known. */
static bool belongs(struct str version, struct str line)
{
    if (str_is(version, "main")) return str_starts(line, STR("main@"));
    return str_starts(version, line) && (version.n == line.n || version.p[line.n] == '.');
}

const struct profile *profile_find(enum framework framework, struct str version)
{
    for (size_t i = 0; i < profile_count(); i++) {
        if (profile_table[i].framework != framework) continue;
        if (!version.n || belongs(version, profile_table[i].version)) return &profile_table[i];
    }
    return NULL;
}

const struct profile *profile_newest(enum framework framework, uint32_t releases)
{
    for (size_t i = 0; i < profile_count(); i++)
        if (profile_table[i].framework == framework && profile_table[i].bit & releases)
            return &profile_table[i];
    return NULL;
}

const struct profile *profile_oldest(enum framework framework, uint32_t releases)
{
    const struct profile *found = NULL;
    for (size_t i = 0; i < profile_count(); i++)
        if (profile_table[i].framework == framework && profile_table[i].bit & releases)
            found = &profile_table[i];
    return found;
}

struct str profile_list(struct arena *a, enum framework framework)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i < profile_count(); i++) {
        if (profile_table[i].framework != framework) continue;
        if (out.n) buf_add(&out, STR(", "));
        buf_add(&out, profile_table[i].version);
    }
    return buf_str(&out);
}

struct str profile_span(struct arena *a, enum framework framework, uint32_t releases)
{
    const struct profile *newest = profile_newest(framework, releases),
                         *oldest = profile_oldest(framework, releases);
    if (!newest) return STR("never");
    bool first = oldest == profile_oldest(framework, RELEASES_ALL);
    if (newest == profile_newest(framework, RELEASES_ALL))
        return first ? STR("always") : arena_printf(a, "since %.*s", STR_ARG(oldest->version));
    if (first) return arena_printf(a, "up to %.*s", STR_ARG(newest->version));
    if (newest == oldest) return arena_printf(a, "in %.*s only", STR_ARG(newest->version));
    return arena_printf(a, "from %.*s to %.*s", STR_ARG(oldest->version), STR_ARG(newest->version));
}

struct value profile_default_of(const struct profile *profile, int param)
{
    for (uint32_t i = 0; i < profile->n_defaults; i++)
        if (profile->defaults[i].param == param) return profile->defaults[i].value;
    return param_table[param].in[profile->framework]->default_value;
}

const struct str *profile_choices_of(const struct profile *profile, int param, size_t *n)
{
    const struct param_spelling *s = param_table[param].in[profile->framework];
    bool newest = profile->bit == 1; /* its choices are the parameter table's */
    for (size_t i = 0; i < profile_choices_count && !newest; i++) {
        const struct profile_choices *c = &profile_choices_table[i];
        if (c->framework != profile->framework || c->param != param) continue;
        if (!(c->releases & profile->bit)) continue;
        *n = c->n;
        return c->items;
    }
    *n = s->n_choices;
    return s->choices;
}

static int compare(const struct profile_setting *x, enum framework framework, struct str key)
{
    if (x->framework != framework) return x->framework < framework ? -1 : 1;
    return str_cmp(x->key, key);
}

const struct profile_setting *profile_setting_find(enum framework framework, struct str key)
{
    size_t from = 0, to = profile_settings_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = compare(&profile_settings[middle], framework, key);
        if (order == 0) return &profile_settings[middle];
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}
