/* SPDX-License-Identifier: Apache-2.0 */
/* NeMo AutoModel: a recipe with the `distributed:` mapping and the other sections a plan touches.
 */
#include <ctype.h>

#include "base/vec.h"
#include "emit/emit.h"
#include "facts/automodel.h"
#include "facts/param_ids.h"
#include "flow/said.h"

static bool takes(const struct facts *f, struct str key)
{
    struct str section = STR("dataset");
    bool data = str_starts(key, STR("dataset."));
    return !data || automodel_section_takes(section, facts_str(f, P_dataset_target),
                                            str_slice(key, section.n + 1, key.n));
}

/* The first key that the recipe's classes take; empty: none does. A data set of images has no
   length of its own, and its batches get it from the collate function. */
static struct str key_of(const struct facts *f, const struct param_spelling *spelling)
{
    if (takes(f, spelling->key)) return spelling->key;
    for (size_t i = 0; i < spelling->n_more_keys; i++)
        if (takes(f, spelling->more_keys[i])) return spelling->more_keys[i];
    return (struct str){"", 0};
}

/* AutoModel's loader puts environment variables in place of $NAME and ${NAME}, and knows no way of
   writing such a text itself: nemo_automodel/components/config/loader.py. */
static bool is_replaced(struct value v)
{
    for (size_t i = 0; v.kind == VALUE_LIST && i < v.list->n; i++)
        if (is_replaced(v.list->items[i])) return true;
    for (size_t i = 0; v.kind == VALUE_STRING && i + 1 < v.s.n; i++) {
        char c = v.s.p[i + 1];
        bool name = c == '{' || c == '_' || isalpha((unsigned char)c);
        if (v.s.p[i] == '$' && name) return true;
    }
    return false;
}

static void write_replaced(const struct emit_input *in, struct str key, struct value v,
                           struct buf *out)
{
    struct str line = arena_printf(out->arena,
                                   "not written: %.*s = %.*s: AutoModel would put environment "
                                   "variables in place of its $",
                                   STR_ARG(key), STR_ARG(value_text(out->arena, v)));
    emit_comments(&(struct emit_input){.rules = in->rules, .comments = &line, .n_comments = 1},
                  out);
}

/* What cannot be said is said in a comment. */
static void collect(struct arena *a, const struct emit_input *in, struct buf *head,
                    struct emit_lines *out)
{
    const struct facts *f = in->facts;
    int *params;
    size_t n = said_params(a, in->rules, f, &params);
    for (size_t i = 0; i < n; i++) {
        const struct param_spelling *spelling = param_table[params[i]].in[f->framework];
        struct value v = emit_spelled(a, spelling, facts_get(f, params[i])->value);
        struct str key = key_of(f, spelling);
        if (!key.n || v.kind == VALUE_MAP) continue;
        if (is_replaced(v)) {
            write_replaced(in, key, v, head);
            continue;
        }
        *VEC_PUSH(a, out) = (struct emit_line){key, emit_yaml(a, v)};
    }
}

/* Writes the lines below one prefix as a mapping; nested mappings follow the scalars of their
 * level. */
static void write_level(struct buf *out, const struct emit_lines *all, struct str prefix,
                        size_t indent)
{
    size_t skip = prefix.n ? prefix.n + 1 : 0;
    for (size_t i = 0; i < all->n; i++) {
        struct str path = all->items[i].path;
        if (prefix.n && (!str_starts(path, prefix) || path.n <= skip || path.p[prefix.n] != '.'))
            continue;
        struct str rest = str_slice(path, skip, path.n);
        size_t dot = str_find(rest, '.');
        if (dot == rest.n) {
            buf_add_n(out, ' ', indent);
            buf_printf(out, "%.*s: %.*s\n", STR_ARG(rest), STR_ARG(all->items[i].text));
            continue;
        }
        struct str below = str_slice(path, 0, skip + dot);
        bool first = true; /* the first line of its section writes the whole section */
        for (size_t j = 0; j < i && first; j++)
            first = !(str_starts(all->items[j].path, below) && all->items[j].path.n > below.n &&
                      all->items[j].path.p[below.n] == '.');
        if (!first) continue;
        buf_add_n(out, ' ', indent);
        buf_printf(out, "%.*s:\n", (int)dot, rest.p);
        write_level(out, all, below, indent + 2);
    }
}

/* The order in which a person reads a recipe: the strategy first. */
static int section_rank(struct str path)
{
    static const char *const order[] = {"distributed.strategy",
                                        "distributed.",
                                        "recipe",
                                        "step_scheduler.",
                                        "dist_env.",
                                        "model.",
                                        NULL};
    for (int i = 0; order[i]; i++)
        if (str_starts(path, str_of(order[i]))) return i;
    return 100;
}

/* Within a section the class that takes the other keys comes first, as every shipped recipe has it.
 */
static bool before(struct emit_line a, struct emit_line b)
{
    int rank = section_rank(a.path) - section_rank(b.path);
    if (rank) return rank < 0;
    bool target_a = str_ends(a.path, STR("_target_")), target_b = str_ends(b.path, STR("_target_"));
    return target_a && (!target_b || a.path.n < b.path.n);
}

void emit_keys(struct emit_lines *all, struct buf *out)
{
    for (size_t i = 1; i < all->n; i++) { /* stable insertion: a few dozen lines */
        struct emit_line x = all->items[i];
        size_t at = i;
        for (; at > 0 && before(x, all->items[at - 1]); at--)
            all->items[at] = all->items[at - 1];
        all->items[at] = x;
    }
    write_level(out, all, (struct str){"", 0}, 0);
}

void emit_automodel(const struct emit_input *in, struct buf *out)
{
    struct emit_lines all = {0};
    emit_comments(in, out);
    collect(out->arena, in, out, &all);
    emit_keys(&all, out);
}
