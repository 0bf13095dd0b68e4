/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/words.h"

#include "base/edit.h"
#include "facts/check.h"

/* Names long enough to be told from each other and from other words. */
static const struct str names[] = {
    {"bfloat16", 8}, {"float16", 7}, {"float32", 7}, {"float64", 7}};
enum { N_NAMES = sizeof names / sizeof *names };

static bool names_format(struct str key)
{
    return str_ends(key, STR("dtype")) || str_is(key, "precision");
}

/* The name that a word is a slip of; empty: it is one, or something else. */
static struct str slip_of(struct str word)
{
    enum { SHORTEST = 6, MOST = 2 };
    struct str best = {"", 0};
    size_t least = MOST + 1;
    if (word.n < SHORTEST || str_among(word, names, N_NAMES)) return best;
    for (size_t i = 0; i < N_NAMES; i++) {
        if (edit_length_difference(word, names[i]) >= least) continue;
        size_t far = edit_distance(word, names[i]);
        if (far >= least) continue;
        best = names[i];
        least = far;
    }
    return best;
}

/* "float8" and "float4" are formats: a number of its own makes another word. */
static bool has_two_digits(struct str word)
{
    size_t digits = 0;
    for (size_t i = 0; i < word.n; i++)
        digits += word.p[i] >= '0' && word.p[i] <= '9';
    return digits == 2;
}

static void check_format(struct facts *f, const struct node *value)
{
    struct str torch = STR("torch."), word = value->text;
    bool dotted = str_starts(word, torch);
    if (dotted) word = str_slice(word, torch.n, word.n);
    struct str near = has_two_digits(word) ? slip_of(word) : (struct str){"", 0};
    if (!near.n) return;
    if (dotted) near = arena_printf(f->arena, "torch.%.*s", STR_ARG(near));
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, "value-choice", node_span(f->diags, value),
                 "%.*s is no number format", STR_ARG(value->text));
    diag_suggest(f->diags, d, near);
}

/* ---- truths ---- */

bool word_is_truth_slip(struct arena *a, struct str text)
{
    if (text.n < 4 || text.n > 6 || str_among(text, truths, N_TRUTHS)) return false;
    for (size_t i = 0; i < text.n; i++) /* most words have another letter */
        if (!strchr("truefalsTRUEFALS", text.p[i]) || !text.p[i]) return false;
    struct str word = str_lower(a, text);
    for (size_t i = 0; i < N_TRUTHS; i++) {
        bool doubled = word.n == truths[i].n + 1, swapped = word.n == truths[i].n;
        if ((!doubled && !swapped) || !edit_is_slip(word, truths[i], 1)) continue;
        unsigned letters = 0;
        for (size_t k = 0; k < word.n; k++)
            letters += str_find(truths[i], word.p[k]) < truths[i].n;
        if (letters == word.n && !str_eq(word, truths[i])) return true;
    }
    return false;
}

static bool is_told(const struct facts *f, const struct node *value)
{
    return diag_is_told(f->diags, f->diags->n, node_span(f->diags, value));
}

static void check_truth(struct facts *f, const struct node *value)
{
    if (value->quoted || !word_is_truth_slip(f->arena, value->text) || is_told(f, value)) return;
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "value-type", node_span(f->diags, value),
                              "'%.*s' is neither true nor false", STR_ARG(value->text));
    diag_choices(f->diags, d, value->text, truths, N_TRUTHS);
}

/* ---- kinds of attention, as transformers names them ---- */

static void check_attention(struct facts *f, const struct node *value)
{
    static const struct str kinds[] = {{"eager", 5},
                                       {"sdpa", 4},
                                       {"flash_attention_2", 17},
                                       {"flash_attention_3", 17},
                                       {"flex_attention", 14}};
    enum { N_KINDS = sizeof kinds / sizeof *kinds };
    struct str word = value->text;
    if (str_among(word, kinds, N_KINDS)) return;
    for (size_t i = 0; i < N_KINDS; i++) {
        if (!edit_is_slip(word, kinds[i], 1) || is_told(f, value)) continue;
        struct diag *d =
            diag_add(f->diags, SEVERITY_WARNING, "value-choice", node_span(f->diags, value),
                     "transformers has no attention %.*s", STR_ARG(word));
        diag_suggest(f->diags, d, kinds[i]);
        return;
    }
}

/* ---- all words ---- */

static void check_word(struct facts *f, struct str key, const struct node *value)
{
    if (names_format(key)) check_format(f, value);
    if (str_is(key, "attn_implementation")) check_attention(f, value);
    check_truth(f, value);
}

void words_check(struct facts *f, const struct node *node)
{
    for (size_t i = 0; i < node->n; i++) {
        const struct node *item = node->items[i];
        if (item->kind != NODE_SCALAR)
            words_check(f, item);
        else if (node->kind == NODE_MAP)
            check_word(f, node->keys[i]->text, item);
    }
}

void words_check_override(struct facts *f, const struct flag_word *w)
{
    size_t eq = str_find(w->text, '=');
    if (w->dynamic || w->maybe || eq == w->text.n || str_starts(w->text, STR("-"))) return;
    check_truth(f, flag_word_node(f, str_slice(w->text, eq + 1, w->text.n), w));
}
