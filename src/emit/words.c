/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/words.h"

#include "base/edit.h"
#include "base/num.h"
#include "base/quote.h"
#include "facts/profile.h"

/* The names of an entry, one after the other, without the backquotes of code. */
static bool next_name(struct str *rest, struct str *name)
{
    if (!str_split(rest, ',', name)) return false;
    *name = str_trim(*name);
    if (name->n > 2 && name->p[0] == '`') *name = str_slice(*name, 1, name->n - 1);
    return true;
}

const struct word_entry *word_find(struct str word)
{
    for (uint32_t i = 0; i < word_count; i++) {
        struct str names = word_table[i].names, name;
        if (str_eq_nocase(names, word)) return &word_table[i];
        while (next_name(&names, &name))
            if (str_eq_nocase(name, word)) return &word_table[i];
    }
    return NULL;
}

struct str word_nearest(struct str word)
{
    struct edit_nearest nearest = {.word = word};
    for (uint32_t i = 0; i < word_count; i++) {
        struct str names = word_table[i].names, name;
        while (next_name(&names, &name))
            edit_offer(&nearest, name);
    }
    return nearest.best;
}

void word_page(const struct word_entry *word, struct buf *out)
{
    buf_printf(out, "# %.*s\n\n%.*s\n\nMore words: docs/glossary.md, \"%.*s\"\n",
               STR_ARG(word->names), STR_ARG(word->meaning), STR_ARG(word->topic));
}

/* A pipeline layout as screens have it: Et*4|(ttt|)*14(tt|)*16mL. */
static bool is_stages(struct str word)
{
    struct str letters = STR("Etm.L|()*0123456789");
    for (size_t i = 0; i < word.n; i++)
        if (str_find(letters, word.p[i]) == letters.n) return false;
    return str_find(word, '|') < word.n;
}

struct str word_of_layout(struct str word)
{
    struct str sizes = STR("x0123456789");
    size_t n = word.n;
    while (n && str_find(sizes, word.p[n - 1]) < sizes.n)
        n--;
    if (is_stages(word)) return STR("stages");
    if (n == word.n || param_find(str_slice(word, 0, n)) < 0) return STR("");
    return str_find(str_slice(word, n, word.n), 'x') < word.n - n ? STR("pp2x8")
                                                                  : str_slice(word, 0, n);
}

/* ---- parameters ---- */

int parameter_find(struct str word)
{
    int found = param_typed(word);
    const struct param_flag *flag;
    char dashed[128] = "--";
    for (int k = 0; k < FRAMEWORK_COUNT && found < 0; k++)
        found = param_find_key((enum framework)k, word, &flag);
    if (found >= 0 || word.n + 3 > sizeof dashed) return found;
    memcpy(dashed + 2, word.p, word.n);
    return param_find_key(FRAMEWORK_MEGATRON, (struct str){dashed, word.n + 2}, &flag);
}

static const char *type_word(enum param_type type)
{
    static const char *const words[] = {"true or false", "an integer",      "a number",
                                        "a word",        "a list",          "a mapping",
                                        "any value",     "a value a layer", "integers"};
    return words[type];
}

static void add_range(const struct param *p, struct buf *out)
{
    if (p->range.has_min)
        buf_printf(out, ", %s %.*s", p->range.above ? "above" : "from",
                   STR_ARG(num_double_text(out->arena, p->range.min)));
    if (p->range.has_max)
        buf_printf(out, " up to %.*s", STR_ARG(num_double_text(out->arena, p->range.max)));
    if (p->unit.n) buf_printf(out, ", in %.*s", STR_ARG(p->unit));
    if (p->n_choices)
        buf_printf(out, ": %.*s", STR_ARG(str_joined(out->arena, p->choices, p->n_choices)));
}

static void add_names(const struct param *p, struct buf *out)
{
    if (p->symbol.n) buf_printf(out, " (%.*s)", STR_ARG(p->symbol));
    buf_add_char(out, '\n');
    if (p->n_aliases)
        buf_printf(out, "\nalso called %.*s\n",
                   STR_ARG(str_joined(out->arena, p->aliases, p->n_aliases)));
}

/* "- Megatron-LM: `--expert-model-parallel-size` (default 1)" */
static void add_spelling(const struct param *p, enum framework framework, struct buf *out)
{
    const struct param_spelling *in = p->in[framework];
    if (!in->known) return;
    buf_printf(out, "- %s:", framework_full_name(framework));
    if (in->key.n) buf_printf(out, " `%.*s`", STR_ARG(in->key));
    for (size_t i = 0; i < in->n_flags; i++)
        if (!in->flags[i].removed.n)
            buf_printf(out, "%s `%.*s`", i ? "," : "", STR_ARG(in->flags[i].flag));
    if (in->default_value.kind == VALUE_UNKNOWN)
        buf_add(out, STR(" (the recipe decides the default)"));
    else if (in->default_value.kind == VALUE_NULL)
        buf_add(out, STR(" (no default)"));
    else
        buf_printf(out, " (default %.*s)", STR_ARG(value_text(out->arena, in->default_value)));
    buf_add_char(out, '\n');
}

void coefficient_page(const struct param *p, struct buf *out)
{
    buf_printf(out, "# %.*s\n\n%.*s\n\n%s", STR_ARG(p->name), STR_ARG(p->doc), type_word(p->type));
    add_range(p, out);
    buf_add(out, STR("\n\nA coefficient of the cost model: `moeplan platforms NAME` shows a "
                     "machine's, with interval and source, and a file of your own states "
                     "others.\n"));
}

bool value_page(struct str word, struct buf *out)
{
    bool any = false;
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param *p = &param_table[i];
        bool chosen = false;
        for (size_t k = 0; k < p->n_choices; k++)
            chosen = chosen || str_eq_nocase(word, p->choices[k]);
        if (!chosen) continue;
        if (!any) buf_printf(out, "# %.*s\n\nA value of\n\n", STR_ARG(word));
        any = true;
        buf_printf(out, "- `%.*s`: %.*s\n", STR_ARG(p->name), STR_ARG(p->doc));
    }
    return any;
}

/* Rules of one kind: those that decide it, or those that find fault with it. */
static void add_rules(int param, const struct rule_set *set, bool guides, struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < set->n; i++) {
        const struct rule *r = set->items[i];
        bool decides = r->role == ROLE_CHECK && rule_sets(r, param);
        if (guides ? !decides : r->parameter != param || r->advice) continue;
        if (!any) buf_printf(out, "\n## %s\n\n", guides ? "What decides it" : "Rules about it");
        any = true;
        buf_printf(out, "- `%.*s` (%s): %.*s\n", STR_ARG(r->id), severity_name(r->severity),
                   LINE_ARG(out->arena, r->message));
    }
}

void parameter_page(int param, const struct rule_set *set, struct buf *out)
{
    const struct param *p = &param_table[param];
    buf_printf(out, "# %.*s", STR_ARG(p->name));
    add_names(p, out);
    buf_printf(out, "\n%.*s\n\n%s", STR_ARG(p->doc), type_word(p->type));
    add_range(p, out);
    buf_printf(out, "\n\n%s\n",
               p->affects == AFFECTS_CONVERGENCE
                   ? "A change of it changes what is computed."
                   : "A change of it changes speed and memory alone.");
    if (param_is_spelled(p)) buf_add(out, STR("\n## How it is written\n\n"));
    for (int k = 0; k < FRAMEWORK_COUNT; k++)
        add_spelling(p, (enum framework)k, out);
    add_rules(param, set, true, out);
    add_rules(param, set, false, out);
}
