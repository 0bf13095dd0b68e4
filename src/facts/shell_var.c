/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/shell_state.h"

/* ---- texts ---- */

/* An empty buffer with room for a text whose length is known: growing leaves twice its size behind.
 */
static struct shell_buf with_room(struct arena *a, size_t n)
{
    size_t cap = n < SHELL_MAX_TEXT ? n : SHELL_MAX_TEXT;
    return (struct shell_buf){.arena = a,
                              .p = arena_room(a, cap),
                              .at = arena_room(a, cap * sizeof(uint32_t)),
                              .cap = cap};
}

void shell_buf_grow(struct shell_buf *b)
{
    enum { FIRST = 8 }; /* an array may be of a million words of a letter */
    struct shell_buf more = with_room(b->arena, b->cap ? 2 * b->cap : FIRST);
    if (b->n) memcpy(more.p, b->p, b->n);
    if (b->n) memcpy(more.at, b->at, b->n * sizeof *b->at);
    more.n = b->n;
    *b = more;
}

void shell_buf_text(struct shell_buf *b, struct shell_text t)
{
    for (size_t i = 0; i < t.n; i++)
        shell_buf_add(b, t.p[i], t.at[i]);
}

struct shell_text shell_buf_get(struct shell_buf *b)
{
    return (struct shell_text){b->p ? b->p : "", b->at, b->n};
}

struct shell_text shell_made(struct shell *sh, struct shell_buf *b)
{
    shell_charge(sh, b->n);
    if (b->n == SHELL_MAX_TEXT)
        shell_exhaust(sh, "too large to be followed: more than 1 MiB in one text");
    return shell_buf_get(b);
}

struct shell_text shell_text_at(struct arena *a, struct str s, uint32_t at)
{
    struct shell_buf b = with_room(a, s.n);
    for (size_t i = 0; i < s.n; i++)
        shell_buf_add(&b, s.p[i], at);
    return shell_buf_get(&b);
}

bool shell_known(struct shell_text t)
{
    for (size_t i = 0; i < t.n; i++)
        if (t.p[i] >= SHELL_UNKNOWN && t.p[i] <= SHELL_FOLDER) return false;
    return true;
}

/* ---- looking up ---- */

struct shell_var *shell_var_find(struct shell *sh, struct str name)
{
    int64_t i = map_get(&sh->var_index, name);
    return i == MAP_NONE ? NULL : &sh->vars.items[i];
}

static struct str env_of(const struct shell *sh, struct str name, bool *found)
{
    for (size_t i = 0; i < sh->options->n_env; i++) {
        if (!str_eq(sh->options->env[i].name, name)) continue;
        *found = true;
        return sh->options->env[i].text;
    }
    *found = false;
    return (struct str){"", 0};
}

struct shell_text shell_var_get(struct shell *sh, struct str name, uint32_t at, bool *unset)
{
    const struct setting *setting = setting_use(sh->options, name);
    struct shell_var *var = shell_var_find(sh, name);
    bool in_env = false;
    *unset = false;
    if (var) var->used = true;
    if (setting) return shell_text_at(sh->arena, setting->text, at);
    if (var) return var->items.n ? var->items.items[0] : (struct shell_text){"", NULL, 0};
    struct str env = env_of(sh, name, &in_env);
    if (in_env) return shell_text_at(sh->arena, env, at);
    int64_t slurm = shell_slurm_variable(&sh->header, name);
    if (slurm)
        return shell_text_at(sh->arena, arena_printf(sh->arena, "%lld", (long long)slurm), at);
    *unset = true;
    bool nowhere = sh->options->env_given && !sh->sourced;
    struct str value = nowhere ? (struct str){"", 0} : SHELL_UNKNOWN_TEXT;
    return shell_text_at(sh->arena, value, at);
}

/* ---- setting ---- */

static bool begins_word(struct shell_text t, size_t i)
{
    return !shell_is_blank(t.p[i]) && (i == 0 || shell_is_blank(t.p[i - 1]));
}

struct shell_text shell_mark_words(struct shell *sh, struct shell_text t)
{
    size_t words = 0;
    for (size_t i = 0; i < t.n; i++)
        words += begins_word(t, i);
    struct shell_buf b = with_room(sh->arena, t.n + words);
    for (size_t i = 0; i < t.n; i++) {
        if (begins_word(t, i) && t.p[i] != SHELL_MAYBE) shell_buf_add(&b, SHELL_MAYBE, t.at[i]);
        shell_buf_add(&b, t.p[i], t.at[i]);
    }
    return shell_made(sh, &b);
}

void shell_push(struct shell *sh, struct shell_fields *to, struct shell_text t)
{
    shell_charge(sh, SHELL_FIELD_WORK);
    if (to->n < SHELL_MAX_FIELDS)
        *VEC_PUSH(sh->arena, to) = t;
    else
        shell_exhaust(sh, "too large to be followed: more than 65,536 items in an array");
}

static struct shell_text joined(struct shell *sh, struct shell_text a, struct shell_text b)
{
    struct shell_buf out = with_room(sh->arena, a.n + b.n);
    shell_buf_text(&out, a);
    shell_buf_text(&out, b);
    return shell_made(sh, &out);
}

static bool same_text(struct shell_text a, struct shell_text b)
{
    return str_eq(shell_str(a), shell_str(b)) && shell_known(a);
}

/* What a plain variable may hold when an assignment only perhaps runs: the old text and perhaps
 * more, or anything. */
static struct shell_text merged(struct shell *sh, struct shell_text old, struct shell_text new)
{
    if (same_text(old, new)) return old;
    if (str_starts(shell_str(new), shell_str(old))) {
        struct shell_text more = {new.p + old.n, new.at + old.n, new.n - old.n};
        return joined(sh, old, shell_mark_words(sh, more));
    }
    return shell_text_at(sh->arena, SHELL_UNKNOWN_TEXT, new.n ? new.at[0] : 0);
}

static void set_array(struct shell *sh, struct shell_var *var, const struct shell_fields *items,
                      bool append)
{
    bool perhaps = sh->live == SHELL_PERHAPS;
    struct shell_fields old = var->items;
    var->items = (struct shell_fields){0};
    var->is_array = true;
    for (size_t i = 0; (append || perhaps) && i < old.n; i++)
        shell_push(sh, &var->items, append ? old.items[i] : shell_mark_words(sh, old.items[i]));
    for (size_t i = 0; i < items->n; i++)
        shell_push(sh, &var->items,
                   perhaps ? shell_mark_words(sh, items->items[i]) : items->items[i]);
}

static void set_plain(struct shell *sh, struct shell_var *var, bool is_new, struct shell_text value,
                      bool append)
{
    struct shell_text old = var->items.n ? var->items.items[0] : (struct shell_text){"", NULL, 0};
    if (append) value = joined(sh, old, value);
    if (sh->live == SHELL_PERHAPS)
        value = is_new ? shell_mark_words(sh, value) : merged(sh, old, value);
    if (var->items.n == 0) VEC_PUSH(sh->arena, &var->items);
    var->items.items[0] = value;
}

void shell_var_set(struct shell *sh, struct str name, const struct shell_fields *items,
                   bool is_array, bool append)
{
    if (sh->live == SHELL_DEAD) shell_note_set(sh, name);
    if (sh->live == SHELL_DEAD) return;
    struct shell_var *var = shell_var_find(sh, name);
    shell_charge(sh, SHELL_FIELD_WORK + name.n);
    bool is_new = !var;
    if (is_new) {
        map_put(sh->arena, &sh->var_index, name, (uint32_t)sh->vars.n);
        var = VEC_PUSH(sh->arena, &sh->vars);
        *var = (struct shell_var){.name = name};
    }
    if (is_array || (append && var->is_array))
        set_array(sh, var, items, append);
    else
        set_plain(sh, var, is_new, items->n ? items->items[0] : (struct shell_text){"", NULL, 0},
                  append);
}

void shell_var_set_text(struct shell *sh, struct str name, struct shell_text text)
{
    struct shell_fields one = {.items = &text, .n = 1};
    shell_var_set(sh, name, &one, false, false);
}
