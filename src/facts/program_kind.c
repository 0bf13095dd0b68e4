/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/program_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/edit.h"
#include "base/num.h"
#include "facts/pattern.h"

static bool is_there(const struct node *doc, struct str proof)
{
    size_t eq = str_find(proof, '=');
    const struct node *node = node_at(doc, str_slice(proof, 0, eq));
    if (!node || eq == proof.n) return node;
    return node->kind == NODE_SCALAR && str_eq(node->text, str_slice(proof, eq + 1, proof.n));
}

static bool is_proven(const struct program_kind *kind, const struct node *doc)
{
    for (size_t i = 0; i < kind->n_proof; i++)
        if (!is_there(doc, kind->proof[i])) return false;
    return kind->n_proof > 0;
}

/* Whether a proof is missing for a slip alone: "framwork" of modules.pre_trainer.framework. */
static bool is_there_but_for_a_slip(const struct node *doc, struct str proof)
{
    struct str path = str_slice(proof, 0, str_find(proof, '=')), last = str_last_part(path, '.');
    if (last.n == path.n) return false; /* at the root it may be anybody's */
    const struct node *map = node_at(doc, str_slice(path, 0, path.n - last.n - 1));
    struct str value = str_slice(proof, path.n, proof.n); /* "=VALUE" or nothing */
    for (size_t i = 0; map && map->kind == NODE_MAP && i < map->n; i++) {
        const struct node *item = map->items[i];
        bool same = !value.n ||
                    (item->kind == NODE_SCALAR && str_eq(item->text, str_slice(value, 1, value.n)));
        if (same && edit_is_slip(map->keys[i]->text, last, 1)) return true;
    }
    return false;
}

const struct program_kind *program_kind_named(const char *name)
{
    uint32_t i = 0;
    while (i < program_kind_count && !str_is(program_kinds[i].name, name))
        i++;
    return i < program_kind_count ? &program_kinds[i] : NULL;
}

const struct program_kind *program_kind_of(const struct node *doc)
{
    if (!doc || doc->kind != NODE_MAP || node_get(doc, STR("moeplan"))) return NULL;
    for (uint32_t i = 0; i < program_kind_count; i++)
        if (is_proven(&program_kinds[i], doc)) return &program_kinds[i];
    for (uint32_t i = 0; i < program_kind_count; i++) {
        const struct program_kind *kind = &program_kinds[i];
        if (kind->n_keys && kind->n_proof == 1 && is_there_but_for_a_slip(doc, kind->proof[0]))
            return kind;
    }
    return NULL;
}

const struct program_kind *program_kind_laid_over(const struct node *doc)
{
    for (uint32_t i = 0; i < program_kind_count; i++) {
        const struct program_kind *kind = &program_kinds[i];
        const struct node *names = kind->n_presets ? node_get(doc, kind->inherits) : NULL;
        bool listed = names && names->kind == NODE_LIST && names->n;
        if (listed && str_ends(names->items[0]->text, STR(".yaml"))) return kind;
    }
    return NULL;
}

/* Whether a script passes a key of one of the sections. */
static bool has_section(const struct program_kind *kind, struct str text)
{
    for (size_t i = 0; i < kind->n_sections; i++) {
        struct str section = kind->sections[i];
        size_t at = str_find_str(text, section);
        bool dotted = str_find(section, '.') < section.n; /* a bare word may be anybody's */
        if (dotted && at + section.n < text.n && text.p[at + section.n] == '.') return true;
    }
    return false;
}

const struct program_kind *program_kind_of_script(struct str text)
{
    bool shell = str_starts(text, STR("#!")) || str_find_str(text, STR("\\\n")) < text.n;
    if (!shell) return NULL;
    for (uint32_t i = 0; i < program_kind_count; i++) {
        const struct program_kind *kind = &program_kinds[i];
        if (has_section(kind, text)) return kind;
        for (size_t k = 0; k < kind->n_commands; k++)
            if (str_find_str(text, kind->commands[k]) < text.n) return kind;
    }
    return NULL;
}

struct str program_kind_behind(const struct program_kind *kind, struct str word)
{
    while (word.n && word.p[0] == '+')
        word = str_slice(word, 1, word.n);
    for (size_t i = 0; i < kind->n_sections; i++) {
        size_t n = kind->sections[i].n;
        if (str_starts(word, kind->sections[i]) && n < word.n && word.p[n] == '.')
            return str_slice(word, n + 1, word.n);
    }
    return (struct str){"", 0};
}

struct str program_kind_value(struct str text)
{
    bool quotes = text.n > 1 && strchr("'\"", text.p[0]) && text.p[text.n - 1] == text.p[0];
    struct str inside = quotes ? str_slice(text, 1, text.n - 1) : text;
    bool plain =
        str_find(inside, '\\') == inside.n && str_find(inside, text.n ? text.p[0] : 0) == inside.n;
    return quotes && plain ? inside : text;
}

bool program_kind_takes(const struct program_kind *kind, struct str word, struct str *key,
                        struct str *value)
{
    bool flag = kind->n_commands && str_starts(word, STR("--"));
    struct str rest = flag ? str_slice(word, 2, word.n) : program_kind_behind(kind, word);
    size_t eq = str_find(rest, '=');
    if (!flag && kind->model.n && str_starts(word, kind->model) && kind->model.n < word.n &&
        word.p[kind->model.n] == '=') {
        rest = word;
        eq = kind->model.n;
    }
    *key = str_slice(rest, 0, eq);
    *value = eq < rest.n ? str_slice(rest, eq + 1, rest.n) : (struct str){"", 0};
    if (!flag) *value = program_kind_value(*value);
    return key->n && (flag || eq < rest.n);
}

static int compare(const void *name, const void *item)
{
    const struct program_setting *s = item;
    return str_cmp(*(const struct str *)name, s->name);
}

static const struct program_setting *find(const struct program_setting *list, size_t n,
                                          struct str name)
{
    return n ? bsearch(&name, list, n, sizeof *list, compare) : NULL;
}

bool program_kind_has(const struct program_kind *kind, struct str flag)
{
    for (size_t i = 0; i < kind->n_prefixes; i++)
        if (str_starts(flag, kind->prefixes[i])) return true;
    return find(kind->flags, kind->n_flags, flag);
}

struct str program_kind_slip(struct arena *a, const struct program_kind *kind, struct str word)
{
    /* What is handed on has neighbours of its own: --min_lr, --env. */
    size_t shortest = kind->closed ? 0 : 9, two_from = kind->closed ? 12 : 18;
    struct str name = str_slice(word, 0, str_find(word, '=')), none = {"", 0}, found = none;
    if (!str_starts(name, STR("--")) || program_kind_has(kind, name)) return none;
    struct str plain = str_exchange(a, name, '-', '_');
    size_t most = name.n >= two_from ? 2 : 1, least = SIZE_MAX;
    for (size_t i = 0; i < kind->n_flags; i++) {
        struct str own = kind->flags[i].name;
        if (str_starts(own, name)) return none;
        if (own.n < shortest) continue;
        if (!edit_is_slip(plain, str_exchange(a, own, '-', '_'), most)) continue;
        size_t far = edit_distance(name, own);
        if (far >= least) continue; /* of its spellings, the one meant */
        found = own;
        least = far;
    }
    return found;
}

/* Whether a flag and a flag or key are the same destination: - for _, dashes before or none. */
static bool is_same(struct str flag, struct str name)
{
    struct str a = str_slice(flag, str_starts(flag, STR("--")) ? 2 : 0, flag.n);
    struct str b = str_slice(name, str_starts(name, STR("--")) ? 2 : 0, name.n);
    if (a.n != b.n) return false;
    for (size_t i = 0; i < a.n; i++)
        if ((a.p[i] == '_' ? '-' : a.p[i]) != (b.p[i] == '_' ? '-' : b.p[i])) return false;
    return true;
}

const struct program_setting *program_kind_own(const struct program_kind *kind, struct str name)
{
    const struct program_setting *s = find(kind->flags, kind->n_flags, name);
    if (!s) s = find(kind->keys, kind->n_keys, name);
    for (size_t i = 0; !s && i < kind->n_flags; i++)
        if (is_same(kind->flags[i].name, name)) s = &kind->flags[i];
    for (size_t i = 0; !s && i < kind->n_keys; i++)
        if (is_same(kind->keys[i].name, name)) s = &kind->keys[i];
    return s;
}

static void offer_all(struct edit_nearest *near, const struct program_setting *list, size_t n,
                      size_t skip)
{
    for (size_t i = 0; i < n; i++)
        edit_offer(near, str_slice(list[i].name, skip, list[i].name.n));
}

struct str program_kind_nearest(const struct program_kind *kind, struct str name)
{
    struct edit_nearest near = {.word = name};
    bool flag = str_starts(name, STR("-"));
    offer_all(&near, kind->flags, kind->n_flags, flag ? 0 : 2);
    if (!flag) offer_all(&near, kind->keys, kind->n_keys, 0);
    return near.best;
}

bool program_kind_means(const struct program_kind *kind, struct str key)
{
    bool means = false;
    for (size_t i = 0; i < kind->n_means && !means; i++)
        means = str_eq(str_slice(kind->means[i], 0, str_find(kind->means[i], '=')), key);
    return means;
}

struct str program_kind_lifter(const struct program_kind *kind, struct str rule, size_t *from)
{
    while (*from < kind->n_lifts) {
        struct str id = kind->lifts[(*from)++], flag;
        str_split(&id, ' ', &flag);
        if (str_eq(id, rule)) return flag;
    }
    return (struct str){"", 0};
}

bool program_kind_script(const struct program_kind *kind, struct str name, struct str *task)
{
    for (size_t i = 0; kind && i < kind->n_scripts; i++) {
        struct str words = kind->scripts[i], script;
        if (!str_split(&words, ' ', &script) || !str_eq(script, name)) continue;
        *task = words;
        return true;
    }
    return false;
}

bool program_setting_is_told(const struct program_setting *s)
{
    bool any_text = s->type == PARAM_STRING && !s->n_choices;
    return (s->type != PARAM_ANY && !any_text) || s->alone;
}

/* A flag's choices are compared as they are; what reads a file may take both cases. */
static bool is_choice(const struct program_setting *s, struct str word)
{
    bool key = !str_starts(s->name, STR("-")), found = !s->n_choices;
    for (size_t i = 0; i < s->n_choices && !found; i++)
        found = key ? str_eq_nocase(word, s->choices[i]) : str_eq(word, s->choices[i]);
    return found;
}

/* Whether a word is a slip of the other, whose letters are small, in any case. */
static bool is_slip_of(struct str word, struct str of)
{
    char lower[8];
    if (word.n >= sizeof lower) return false;
    for (size_t i = 0; i < word.n; i++)
        lower[i] = word.p[i] >= 'A' && word.p[i] <= 'Z' ? (char)(word.p[i] + 32) : word.p[i];
    return edit_is_slip((struct str){lower, word.n}, of, 1);
}

/* A truth has many spellings: only a slip of one is none. */
static bool is_truth(struct str word)
{
    struct str on = STR("true"), off = STR("false");
    bool is = str_eq_nocase(word, on) || str_eq_nocase(word, off);
    int64_t n;
    if (num_parse_int(word, &n)) return !(n >> 1);
    return is || (!is_slip_of(word, on) && !is_slip_of(word, off));
}

/* A whole number as YAML files write it, 1e6 or 10.0: what reads the file may round it. */
static bool is_whole(struct str word)
{
    double d;
    return python_float(word, &d) && d == floor(d);
}

bool program_setting_takes(const struct program_setting *s, struct str word)
{
    int64_t i;
    double d;
    bool key = !str_starts(s->name, STR("-"));
    switch (s->type) {
    case PARAM_INT: return python_int(word, &i) || (key && is_whole(word));
    case PARAM_DOUBLE: return python_float(word, &d);
    case PARAM_BOOL: return is_truth(word);
    default: return is_choice(s, word);
    }
}
