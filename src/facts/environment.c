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

/* Whether a word may be a name that is set: not what is read, or a part of a path or an option. */
static bool may_be_set(struct str text, struct str word)
{
    size_t from = (size_t)(word.p - text.p);
    return is_letter(*word.p) && (from == 0 || !strchr("$%./-", text.p[from - 1]));
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

/* Whether the names differ in the letter before CCL alone: what one maker's library reads, those of
   others read too (TORCH_NCCL_HIGH_PRIORITY, TORCH_HCCL_HIGH_PRIORITY). */
static bool is_other_maker(struct str a, struct str b)
{
    size_t i = 0;
    while (i < a.n && i < b.n && a.p[i] == b.p[i])
        i++;
    return a.n == b.n && str_starts(str_slice(a, i < a.n ? i + 1 : a.n, a.n), STR("CCL_")) &&
           str_eq(str_slice(a, i + 1, a.n), str_slice(b, i + 1, b.n));
}

/* Number of the first variable that does not come before the letter. */
static uint32_t first_of(char letter)
{
    uint32_t from = 0, to = environment_variable_count;
    while (from < to) {
        uint32_t half = from + (to - from) / 2;
        if (environment_variables[half].p[0] < letter)
            from = half + 1;
        else
            to = half;
    }
    return from;
}

/* The variable of which the name is a slip, one letter away; names that begin otherwise are of
   another family (HCCL_DEBUG, NCCL_DEBUG). Empty: none. */
static struct str slip_of(struct str name)
{
    for (uint32_t i = first_of(name.p[0]); i < environment_variable_count; i++) {
        struct str other = environment_variables[i];
        if (other.p[0] != name.p[0]) break;
        if (edit_is_slip(name, other, 1) && !is_other_maker(name, other)) return other;
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

/* Whether a comment has begun in the line before text[at]. */
static bool is_commented(struct str text, size_t at)
{
    for (size_t i = at; i > 0 && text.p[i - 1] != '\n'; i--)
        if (text.p[i - 1] == '#' && (i == 1 || strchr(" \t\n", text.p[i - 2]))) return true;
    return false;
}

/* Whether the underline is of a word in small letters, step_scheduler or _target_, which no
   variable has. */
static bool is_of_small_word(struct str text, size_t at)
{
    bool begins = at == 0 || !is_name(text.p[at - 1]);
    char beside = begins ? (at + 1 < text.n ? text.p[at + 1] : '\0') : text.p[at - 1];
    return beside >= 'a' && beside <= 'z';
}

/* What takes long is asked of slips alone. */
static void check_name(struct diags *diags, uint32_t source, struct str text, struct str name)
{
    size_t from = (size_t)(name.p - text.p);
    if (name.n < ENVIRONMENT_SHORTEST || !is_set(text, from, from + name.n) || is_listed(name))
        return;
    struct str near = slip_of(name);
    if (near.n && !is_commented(text, from) && !is_read(text, name))
        report(diags, source, name, from, near);
}

void environment_check(struct diags *diags, uint32_t source)
{
    enum { MOST = 4096 }; /* names that are looked at: more of them nobody sets */
    struct str text = source_get(&diags->sources, source)->text;
    int left = MOST;
    for (size_t at = 0; at < text.n && left; at++) {
        at += str_find(str_slice(text, at, text.n), '_');
        if (at >= text.n || is_of_small_word(text, at)) continue;
        struct str word = str_around(text, at, is_name);
        at = (size_t)(word.p - text.p) + word.n; /* behind it: each word is read once */
        if (!may_be_set(text, word)) continue;
        left--;
        check_name(diags, source, text, word);
    }
}
