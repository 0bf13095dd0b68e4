/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/unread.h"

#include <ctype.h>

#include "base/edit.h"
#include "facts/launched.h"
#include "facts/program_kind.h"

/* Looking for the nearest of two thousand names takes long. */
enum { MOST_LOOKS = 12, SHORTEST = 9, LONG = 18 };

struct slip {
    struct str name, near; /* name: as it is written */
    size_t at;
};

struct slips {
    struct slip items[MOST_LOOKS];
    size_t n, looks;
};

/* Whether a pattern of case ends here: what is in front is an option of the script's own. */
static bool ends_pattern(struct str text, size_t at)
{
    while (at < text.n && (text.p[at] == ' ' || text.p[at] == '\t'))
        at++;
    return at < text.n && (text.p[at] == ')' || text.p[at] == '|');
}

/* The word at `at` that is a flag by its looks, of more than one part; empty: there is none. */
static struct str flag_at(struct str text, size_t at)
{
    struct str none = {"", 0};
    if (text.p[at] != '-' || (at && !strchr(" \t\n\"'(", text.p[at - 1]))) return none;
    size_t to = at + 1 + (at + 1 < text.n && text.p[at + 1] == '-'), from = to;
    if (to == text.n || !isalpha((unsigned char)text.p[to])) return none;
    while (to < text.n && str_is_name_char(text.p[to]))
        to++;
    bool ends = (to == text.n || strchr(" \t\n\"'\\=", text.p[to])) && !ends_pattern(text, to);
    struct str parts = str_slice(text, from, to);
    bool several = str_find(parts, '-') < parts.n || str_find(parts, '_') < parts.n;
    return ends && several && to - at >= SHORTEST ? str_slice(text, at, to) : none;
}

static bool is_read(const struct flag_words *words, struct str name)
{
    for (size_t i = 0; i < words->n; i++) {
        struct str text = words->items[i].text;
        if (str_starts(text, name) && (text.n == name.n || text.p[name.n] == '=')) return true;
    }
    return false;
}

/* Whether some program has the flag, or Megatron-LM had it. */
static bool is_somebodys(struct str name)
{
    if (param_find_key(FRAMEWORK_MEGATRON, name, NULL) >= 0) return true;
    for (uint32_t i = 0; i < program_kind_count; i++)
        if (program_kind_has(&program_kinds[i], name)) return true;
    return false;
}

/* The flag of Megatron-LM that is meant: with one dash, in capitals, or with a letter wrong. What
   begins one is completed by argparse. */
static struct str meant_by(struct arena *a, struct str name, struct slips *all)
{
    struct str none = {"", 0};
    bool one = name.p[1] != '-';
    struct str full = one ? arena_printf(a, "-%.*s", STR_ARG(name)) : name;
    struct str plain = str_lower(a, full);
    if (param_find_key(FRAMEWORK_MEGATRON, plain, NULL) >= 0) return plain;
    if (one || all->looks++ >= MOST_LOOKS) return none;
    struct str near = param_nearest_key(FRAMEWORK_MEGATRON, plain);
    bool slip = near.n && !str_starts(near, name) &&
                edit_is_slip(str_exchange(a, plain, '_', '-'), near, name.n < LONG ? 1 : 2);
    return slip ? near : none;
}

static void look_at(struct facts *f, struct slips *all, struct str text, size_t at,
                    const struct flag_words *words)
{
    struct str name = flag_at(text, at);
    if (!name.n || all->n == MOST_LOOKS || is_read(words, name) || is_somebodys(name)) return;
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->items[i].name, name)) return;
    struct str near = meant_by(f->arena, name, all);
    if (near.n) all->items[all->n++] = (struct slip){name, near, at};
}

static void report(struct facts *f, const struct slip *s)
{
    struct span at = source_span(&f->diags->sources, f->source, s->at, s->at + s->name.n);
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "unknown-key", at,
                              "Megatron-LM has no flag %.*s", STR_ARG(s->name));
    diag_suggest(f->diags, d, s->near);
    diag_note(f->diags, d, "in a part of the script that is not followed here");
}

/* Whether most are Megatron-LM's flags but for their dashes: that is how another program writes
   its own. */
static bool are_of_another_style(struct arena *a, const struct slips *all)
{
    enum { FEWEST = 3 };
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += str_eq(str_exchange(a, all->items[i].name, '_', '-'), all->items[i].near);
    return n >= FEWEST && 2 * n > all->n;
}

void unread_note(struct facts *f, struct str text, const struct flag_words *words)
{
    struct slips all = {0};
    struct str rest = text, line;
    while (str_split(&rest, '\n', &line)) {
        bool comment = str_starts(str_trim(line), STR("#"));
        for (size_t i = 0, from = (size_t)(line.p - text.p); i < line.n && !comment; i++)
            look_at(f, &all, text, from + i, words);
    }
    if (are_of_another_style(f->arena, &all)) return;
    struct sought *sought = ARENA_ARRAY(f->arena, struct sought, all.n);
    for (size_t i = 0; i < all.n; i++)
        sought[i].flag = all.items[i].name;
    launched_seek(f->arena, f->diags, f->source, f->program.script, sought, all.n);
    for (size_t i = 0; i < all.n; i++)
        if (!sought[i].found) report(f, &all.items[i]);
}
