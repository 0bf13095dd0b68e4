/* SPDX-License-Identifier: Apache-2.0 */
/* How many GPUs a program trains on, where its own settings say it: nodes times GPUs of one, the
   `world` of rules/programs. */
#include "base/num.h"
#include "facts/flags.h"
#include "facts/param_ids.h"
#include "facts/program_kind.h"
#include "facts/reader.h"

/* A number that a setting says. */
struct said {
    int64_t value; /* 0: nobody knows it */
    const struct node *at;
};

static bool is_count(struct str text, int64_t *out)
{
    return num_parse_int(text, out) && *out >= 1 && *out <= 1 << 20;
}

/* "$NAME=1": a variable of the environment, and what it is where nothing sets it. */
static struct said of_environment(const struct facts *f, struct str name)
{
    struct said s = {0};
    size_t eq = str_find(name, '=');
    struct value v = facts_env(f, str_slice(name, 1, eq));
    bool there = v.kind == VALUE_STRING;
    if (there && !is_count(v.s, &s.value)) s.value = 0;
    for (size_t i = 0; i < f->n_env; i++) /* set, to what nobody knows */
        there |= str_eq(f->env[i].name, str_slice(name, 1, eq));
    if (!there && eq < name.n && !is_count(str_slice(name, eq + 1, name.n), &s.value)) s.value = 0;
    return s;
}

static struct said of_document(const struct node *doc, struct str key)
{
    const struct node *node = node_at(doc, key);
    struct said s = {.at = node};
    bool known = node && node->kind == NODE_SCALAR && is_count(node->text, &s.value);
    return known ? s : (struct said){0};
}

/* The last "--flag 2", "--flag=2" or "a.b=2". */
static struct said of_words(struct facts *f, const struct flag_words *words, struct str name)
{
    struct said s = {0};
    bool flag = str_starts(name, STR("--"));
    for (size_t i = 0; i < words->n; i++) {
        const struct flag_word *w = &words->items[i];
        struct str text = w->text;
        while (!flag && str_starts(text, STR("+")))
            text = str_slice(text, 1, text.n);
        size_t eq = str_find(text, '=');
        bool inside = eq < text.n;
        if (!str_eq(str_slice(text, 0, eq), name) || (!inside && !flag)) continue;
        const struct flag_word *at = inside || i + 1 == words->n ? w : w + 1;
        struct str value = inside ? str_slice(text, eq + 1, text.n) : at->text;
        bool known = !w->maybe && !at->maybe && !at->dynamic && is_count(value, &s.value);
        s = (struct said){known ? s.value : 0, flag_word_node(f, value, at)};
    }
    return s;
}

/* Whether a section of Megatron-LM's arguments is switched off: another backend trains. */
static bool is_off(const struct program_kind *kind, const struct node *doc)
{
    bool off = false;
    for (size_t i = 0; doc && i < kind->n_sections; i++) {
        const struct node *enabled = node_get(node_at(doc, kind->sections[i]), STR("enabled"));
        off |= enabled && str_eq_nocase(enabled->text, STR("false"));
    }
    return off;
}

/* Whether the document says nothing else of what they all train with. */
static bool holds(const struct program_kind *kind, const struct node *doc)
{
    struct str when = kind->world_when;
    size_t eq = str_find(when, '=');
    if (is_off(kind, doc)) return false;
    const struct node *node = doc && when.n ? node_at(doc, str_slice(when, 0, eq)) : NULL;
    return !node || str_eq_nocase(node->text, str_slice(when, eq + 1, when.n));
}

void program_take_world(struct facts *f, const struct node *doc, const struct flag_words *words)
{
    const struct program_kind *kind = f->program.kind;
    if (!kind || !kind->n_world || !holds(kind, doc)) return;
    int64_t gpus = 1;
    const struct node *at = NULL;
    for (size_t i = 0; i < kind->n_world; i++) {
        struct str name = kind->world[i];
        struct said s = name.p[0] == '$' ? of_environment(f, name)
                        : doc            ? of_document(doc, name)
                                         : of_words(f, words, name);
        if (!s.value) return;
        gpus *= s.value;
        if (s.at) at = s.at;
    }
    facts_set(f, P_world_size, value_int(gpus), ORIGIN_FILE, at, kind->title);
    f->world_guessed = true; /* another pool of the program's may take a part of them */
}
