/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/dtypes.h"

#include "base/edit.h"

/* Names long enough to be told from each other and from other words. */
static const char *const names[] = {"bfloat16", "float16", "float32", "float64"};
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
    for (size_t i = 0; i < N_NAMES && word.n >= SHORTEST; i++) {
        size_t far = edit_distance(word, str_of(names[i]));
        if (far >= least) continue;
        best = str_of(names[i]);
        least = far;
    }
    return least ? best : (struct str){"", 0};
}

/* "float8" and "float4" are formats: a number of its own makes another word. */
static bool has_two_digits(struct str word)
{
    size_t digits = 0;
    for (size_t i = 0; i < word.n; i++)
        digits += word.p[i] >= '0' && word.p[i] <= '9';
    return digits == 2;
}

static void check(struct facts *f, const struct node *value)
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

void dtypes_check(struct facts *f, const struct node *node)
{
    for (size_t i = 0; i < node->n; i++) {
        const struct node *item = node->items[i];
        if (item->kind != NODE_SCALAR)
            dtypes_check(f, item);
        else if (node->kind == NODE_MAP && names_format(node->keys[i]->text))
            check(f, item);
    }
}
