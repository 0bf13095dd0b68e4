/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for names in the text as it is: where a script, a JSON text in it or a YAML file sets a
   variable, it says so in few ways. */
#include "facts/environment.h"

#include <stdlib.h>

#include "base/edit.h"

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/* The name of capitals at text[at]; empty: none begins there. */
static struct str name_at(struct str text, size_t at)
{
    size_t to = at;
    bool inside = at > 0 && (is_name(text.p[at - 1]) || strchr("$%./-", text.p[at - 1]));
    while (!inside && to < text.n && (to > at ? is_name(text.p[to]) : is_letter(text.p[to])))
        to++;
    return str_slice(text, at, to);
}

/* Whether the line up to `at` ends in "name:", quotes aside: the way of Kubernetes. */
static bool is_named(struct str text, size_t at)
{
    struct str key = STR("name:");
    while (at > 0 && strchr(" \"'", text.p[at - 1]))
        at--;
    return at >= key.n && str_eq(str_slice(text, at - key.n, at), key);
}

/* Whether what stands behind the name gives it a value. */
static bool is_set(struct str text, size_t from, size_t to)
{
    bool braces = from > 0 && text.p[from - 1] == '{'; /* ${NAME:-value} reads it */
    if (is_named(text, from)) return true;
    if (to < text.n && text.p[to] == '=') return to + 1 == text.n || text.p[to + 1] != '=';
    while (to < text.n && strchr("\\\"'", text.p[to])) /* in a text of JSON, too */
        to++;
    bool colon = to < text.n && text.p[to] == ':';
    return colon && !braces && (to + 1 == text.n || strchr(" \n\"'", text.p[to + 1]));
}

static int compare(const void *name, const void *item)
{
    return str_cmp(*(const struct str *)name, *(const struct str *)item);
}

static bool is_listed(struct str name)
{
    return bsearch(&name, environment_variables, environment_variable_count,
                   sizeof *environment_variables, compare);
}

/* The variable of which the name is a slip, one letter away; names that begin otherwise are of
   another family (HCCL_DEBUG, NCCL_DEBUG). Empty: none. */
static struct str slip_of(struct str name)
{
    for (uint32_t i = 0; i < environment_variable_count; i++) {
        struct str other = environment_variables[i];
        bool alike = other.p[0] == name.p[0] && other.n + 1 >= name.n && name.n + 1 >= other.n;
        if (alike && edit_is_slip(name, other, 1)) return other;
    }
    return (struct str){"", 0};
}

/* Whether the file reads the name, $NAME or ${NAME}: then it is one of its own. */
static bool is_read(struct str text, struct str name)
{
    for (size_t at = 0; at < text.n; at += name.n) {
        at += str_find_str(str_slice(text, at, text.n), name);
        if (at >= text.n) return false;
        size_t to = at + name.n;
        bool dollar = at > 0 && text.p[at - 1] == '$';
        bool braces = at > 1 && text.p[at - 1] == '{' && text.p[at - 2] == '$';
        bool whole = to >= text.n || !is_name(text.p[to]);
        if (whole && (dollar || braces)) return true;
    }
    return false;
}

static void report(struct diags *diags, uint32_t source, struct str name, size_t at,
                   struct str near)
{
    struct diag *d = diag_add(diags, SEVERITY_WARNING, "environment-misspelt",
                              source_span(&diags->sources, source, at, at + name.n),
                              "no library of the run reads %.*s", STR_ARG(name));
    diag_suggest(diags, d, near);
}

/* The rest of the line from a comment on. */
static bool begins_comment(struct str text, size_t at)
{
    return text.p[at] == '#' && (at == 0 || strchr(" \t\n", text.p[at - 1]));
}

void environment_check(struct diags *diags, uint32_t source)
{
    struct str text = source_get(&diags->sources, source)->text;
    enum { MOST = 64 }; /* names that are compared with the list: more of them nobody sets */
    int left = MOST;
    for (size_t at = 0; at < text.n && left; at++) {
        if (begins_comment(text, at)) at += str_find(str_slice(text, at, text.n), '\n');
        struct str name = at < text.n ? name_at(text, at) : (struct str){"", 0};
        if (!name.n) continue;
        size_t from = at;
        at += name.n - 1;
        bool own = name.n < ENVIRONMENT_SHORTEST || str_find(name, '_') == name.n;
        if (own || !is_set(text, from, from + name.n) || is_listed(name)) continue;
        left--;
        struct str near = slip_of(name);
        if (near.n && !is_read(text, name)) report(diags, source, name, from, near);
    }
}
