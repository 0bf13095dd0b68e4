/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that nobody sets, where the script sets another whose name is nearly the same. */
#include "base/edit.h"
#include "facts/shell_state.h"

/* ---- what is noted while the script is read ---- */

static bool is_listed(const struct shell_missing_list *list, struct str name)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->items[i].name, name)) return true;
    return false;
}

static void note(struct shell *sh, struct shell_missing_list *list, struct shell_missing m)
{
    if (list->n < SHELL_MAX_NOTED && !is_listed(list, m.name)) *VEC_PUSH(sh->arena, list) = m;
}

void shell_note_missing(struct shell *sh, struct str name, uint32_t at)
{
    bool dead = sh->live == SHELL_DEAD;
    struct shell_missing m = {.name = name, .at = at, .stops = sh->nounset && !dead};
    if (shell_begins_name(name.n ? name.p[0] : '\0')) note(sh, dead ? &sh->dead : &sh->missing, m);
}

void shell_note_default(struct shell *sh, struct str name, uint32_t at)
{
    struct shell_missing m = {.name = name, .at = at, .into = sh->assigned};
    if (sh->assigned.n && !str_eq(name, sh->assigned)) note(sh, &sh->defaults, m);
}

void shell_note_argument(struct shell *sh, struct str name, uint32_t at)
{
    struct shell_missing_list *list = &sh->arguments;
    if (sh->live == SHELL_DEAD || list->n >= SHELL_MAX_NOTED) return;
    *VEC_PUSH(sh->arena, list) = (struct shell_missing){.name = name, .at = at};
}

void shell_note_set(struct shell *sh, struct str name)
{
    if (name.n && shell_begins_name(name.p[0])) map_put(sh->arena, &sh->set_elsewhere, name, 1);
}

/* ---- slips ---- */

static bool begins_and_ends_alike(struct str a, struct str b)
{
    return a.p[0] == b.p[0] && a.p[a.n - 1] == b.p[b.n - 1];
}

/* Whether a name is most likely a slip of the other's. What is set and read elsewhere may well have
   a neighbour in the environment (NODES, NNODES): then the slip must be inside the word. */
static bool is_slip(struct str name, const struct shell_var *var)
{
    enum { SHORTEST = 6, LONG = 10 };
    struct str other = var->name;
    if (name.n < SHORTEST || other.n < SHORTEST) return false;
    bool inside = begins_and_ends_alike(name, other);
    return (inside || !var->used) && edit_is_slip(name, other, name.n >= LONG ? 2 : 1);
}

/* Where the two begin to differ. */
static size_t first_difference(struct str a, struct str b)
{
    size_t i = 0;
    while (i < a.n && i < b.n && a.p[i] == b.p[i])
        i++;
    return i;
}

/* Whether the letter at the place makes another form of its word: NPU_PER_NODE, NPUS_PER_NODE;
   ENABLE_X, ENABLED_X; or is a word of its own: SCALE_X. */
static bool is_ending(struct str name, size_t at)
{
    bool ends = at + 1 == name.n || name.p[at + 1] == '_';
    char c = (char)(name.p[at] | 0x20), before = (char)(name.p[at - 1] | 0x20);
    return ends && (c == 's' || (c == 'd' && before == 'e') || before == ('_' | 0x20));
}

/* Two neighbours that changed places, or a letter lost or written twice: no two names that are both
   meant differ by that. Two forms of a word do, TP_SIZE and PP_SIZE too, and names with an
   underline more. */
static bool is_sure_slip(struct str a, struct str b)
{
    enum { SHORTEST = 5, SHORT = 6, ABBREVIATION = 3 };
    struct str more = a.n > b.n ? a : b, less = a.n > b.n ? b : a;
    bool longer = more.n == less.n + 1 && less.n >= ABBREVIATION;
    if (longer && more.p[less.n] == more.p[less.n - 1] && str_starts(more, less)) /* GBSS */
        return shell_begins_name(more.p[less.n]);
    if (less.n < (a.n == b.n ? SHORT : SHORTEST)) return false;
    size_t i = first_difference(a, b);
    if (a.n == b.n)
        return i + 1 < a.n && a.p[i] == b.p[i + 1] && a.p[i + 1] == b.p[i] &&
               str_eq(str_slice(a, i + 2, a.n), str_slice(b, i + 2, b.n));
    if (more.n != less.n + 1 || i == 0) return false;
    if (less.n < SHORT && (i == 1 || i == less.n)) return false; /* NODES and NNODES */
    char c = more.p[i];
    bool letter = shell_begins_name(c) && c != '_';
    return letter && !is_ending(more, i) &&
           str_eq(str_slice(more, i + 1, more.n), str_slice(less, i, less.n));
}

enum { MOST_VARIABLES = 1000 }; /* that anybody writes; comparing words takes its time */

static const struct shell_var *meant_by(const struct shell *sh, struct str name)
{
    const struct shell_var *best = NULL;
    for (size_t i = 0; i < sh->vars.n && i < MOST_VARIABLES; i++) {
        const struct shell_var *var = &sh->vars.items[i];
        if (!is_slip(name, var) && !is_sure_slip(name, var->name)) continue;
        if (!best || edit_distance(name, var->name) < edit_distance(name, best->name)) best = var;
    }
    return best;
}

/* The name that is set in what does not run here, and is meant; empty: none. */
static struct str meant_elsewhere(const struct shell *sh, struct str name)
{
    struct str best = {"", 0};
    for (size_t i = 0; i < sh->set_elsewhere.cap && i < MOST_VARIABLES; i++) {
        const struct map_slot *slot = &sh->set_elsewhere.slots[i];
        if (!slot->value_plus_one || !is_sure_slip(name, slot->key)) continue;
        if (!best.n || str_cmp(slot->key, best) < 0) best = slot->key;
    }
    return best;
}

/* ---- findings ---- */

/* The name in "$NAME" or "${NAME…}", where that is what stands there. */
static void rename_variable(struct shell *sh, struct diag *d, const struct shell_missing *m,
                            struct str name)
{
    struct shell_place at = shell_place(sh, m->at);
    struct str text = source_get(&sh->f->diags->sources, at.source)->text;
    size_t from = at.byte;
    while (from < text.n && from < at.byte + 3 && strchr("\"${", text.p[from]))
        from++;
    if (d->at.source == at.source && str_starts(str_slice(text, from, text.n), m->name))
        diag_edit(sh->f->diags, d, from, from + m->name.n, name);
}

static bool is_set(struct shell *sh, struct str name)
{
    return shell_var_find(sh, name) || map_get(&sh->set_elsewhere, name) != MAP_NONE;
}

/* Under set -u bash stops at the variable, unless the environment has it. What a file that is not
   there may set, and what may not run, is told where it is nothing but a slip. */
static void tell_missing(struct shell *sh, const struct shell_missing *m, bool dead)
{
    if (sh->sets_any || is_set(sh, m->name)) return;
    const struct shell_var *var = meant_by(sh, m->name);
    struct str meant = var ? var->name : meant_elsewhere(sh, m->name);
    bool sure = !dead && (!sh->sourced || (var && !var->used));
    if (!meant.n || (!sure && !is_sure_slip(m->name, meant))) return;
    bool stops = m->stops && !sh->sourced;
    struct diag *d =
        diag_add(sh->f->diags, stops ? SEVERITY_ERROR : SEVERITY_WARNING, "variable-misspelt",
                 shell_span(sh, m->at, 1), "%.*s is never set%s", STR_ARG(m->name),
                 stops ? ", and under set -u bash stops here" : ": bash puts nothing in its place");
    diag_suggest(sh->f->diags, d, meant);
    rename_variable(sh, d, m, meant);
    d->safe = stops;
}

/* NAME=${NMAE:-8}: what NAME holds on the way in is not looked at. */
static void tell_default(struct shell *sh, const struct shell_missing *m)
{
    if (is_set(sh, m->name) || !is_sure_slip(m->name, m->into)) return;
    struct diag *d =
        diag_add(sh->f->diags, SEVERITY_WARNING, "variable-misspelt", shell_span(sh, m->at, 1),
                 "%.*s is never set: %.*s always takes what stands behind it", STR_ARG(m->name),
                 STR_ARG(m->into));
    diag_suggest(sh->f->diags, d, m->into);
    rename_variable(sh, d, m, m->into);
}

void shell_tell_missing(struct shell *sh)
{
    for (size_t i = 0; i < sh->missing.n; i++)
        tell_missing(sh, &sh->missing.items[i], false);
    for (size_t i = 0; i < sh->dead.n; i++)
        if (!is_listed(&sh->missing, sh->dead.items[i].name))
            tell_missing(sh, &sh->dead.items[i], true);
    for (size_t i = 0; i < sh->defaults.n; i++)
        tell_default(sh, &sh->defaults.items[i]);
}
