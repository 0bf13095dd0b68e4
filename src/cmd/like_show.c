/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/like_show.h"

#include <inttypes.h>
#include <math.h>

#include "base/quote.h"
#include "base/units.h"
#include "facts/param_ids.h"

/* "15 % slower than with it"; empty where no estimate with the recipe's value is told apart. */
static struct str speed_words(struct arena *a, const struct like_change *x)
{
    double percent = 100 * x->slower;
    if (!x->timed) return STR("");
    if (fabs(percent) < 0.5) return STR("as fast as with it");
    return arena_printf(a, "%.0f %% %s than with it", fabs(percent),
                        percent > 0 ? "slower" : "faster");
}

static void add_change(const struct like_change *x, struct buf *out)
{
    struct arena *a = out->arena;
    struct str speed = speed_words(a, x);
    buf_printf(out, "  %-36.*s %.*s -> %.*s", STR_ARG(param_table[x->decision->params[0]].name),
               LINE_ARG(a, x->recipe), LINE_ARG(a, x->plan));
    if (x->why.n) buf_printf(out, "; %.*s %.*s", LINE_ARG(a, x->recipe), LINE_ARG(a, x->why));
    if (speed.n) buf_printf(out, "; %.*s", STR_ARG(speed));
    buf_add_char(out, '\n');
}

static void add_sizes(const struct ask *ask, const struct like_recipe *r, struct buf *out)
{
    const struct knobs *k = &r->config.knobs;
    struct str machine = facts_str(r->facts, P_platform);
    struct arena *a = out->arena;
    buf_printf(out,
               "  its own question: %.*s on %" PRId64 " %.*s, seq %d, gbs %" PRId64
               "; here %.*s on %" PRId64 " %.*s, seq %" PRId64 ", gbs %" PRId64 "\n",
               LINE_ARG(a, r->config.model.name), k->gpus, LINE_ARG(a, machine), k->seq, k->gbs,
               LINE_ARG(a, ask->model->name), ask->gpus, LINE_ARG(a, ask->platform->id), ask->seq,
               ask->gbs);
}

static void add_kept(const struct like *x, struct buf *out)
{
    buf_add(out, STR("  kept:"));
    size_t named = 0;
    for (size_t i = 0; i < x->n_kept; i++) {
        const struct decision *d = x->kept[i];
        const char *word = d->symbol ? d->symbol : d->word;
        if (word) buf_printf(out, "%s %s", named++ ? "," : "", word);
    }
    if (named < x->n_kept) buf_printf(out, " and %zu further decisions", x->n_kept - named);
    buf_add_char(out, '\n');
}

void like_text(const struct ask *ask, const struct like *x, struct buf *out)
{
    buf_printf(out, "\nlike %.*s\n", LINE_ARG(out->arena, x->recipe.name));
    add_sizes(ask, &x->recipe, out);
    add_kept(x, out);
    for (size_t i = 0; i < x->n_changes; i++)
        add_change(&x->changes[i], out);
    if (x->behind < 0.005)
        buf_add(out, STR("  no plan of the question is faster by the estimate\n"));
    else
        buf_printf(out,
                   "  the fastest plan of the question takes %.0f %% less time: tp %d pp %d cp "
                   "%d ep %d mbs %d\n",
                   100 * (1 - 1 / (1 + x->behind)), x->best.tp, x->best.pp, x->best.cp, x->best.ep,
                   x->best.mbs);
}

/* ---- JSON ---- */

static void add_json_change(struct tree *t, cJSON *list, const struct like_change *x)
{
    cJSON *item = tree_object(t, list, NULL);
    tree_str(t, item, "parameter", param_table[x->decision->params[0]].name);
    tree_str(t, item, "recipe", x->recipe);
    tree_str(t, item, "plan", x->plan);
    if (x->why.n) tree_str(t, item, "why", x->why);
    if (!x->timed) return;
    tree_number(t, item, "slower_percent", 100 * x->slower);
    tree_number(t, item, "peak_gib_with_it", x->peak / GIB);
}

void like_json(struct tree *t, const struct like *x)
{
    cJSON *like = tree_object(t, t->root, "like");
    tree_str(t, like, "recipe", x->recipe.name);
    cJSON *kept = tree_list(t, like, "kept");
    for (size_t i = 0; i < x->n_kept; i++)
        tree_str(t, kept, NULL, param_table[x->kept[i]->params[0]].name);
    cJSON *changes = tree_list(t, like, "changes");
    for (size_t i = 0; i < x->n_changes; i++)
        add_json_change(t, changes, &x->changes[i]);
    tree_number(t, like, "behind_fastest_percent", 100 * x->behind);
}
