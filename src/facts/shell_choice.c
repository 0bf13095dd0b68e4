/* SPDX-License-Identifier: Apache-2.0 */
/* Values with which a script compares a variable that has none, or another, when it is read as it
   stands: [ $MODEL_SIZE = 7B ], case $1 in. With each of them it may be read once more, as with
   --set. */
#include "facts/shell_state.h"

enum { MOST_CHOICES = 40 };

static struct str name_from(struct str text, size_t at)
{
    size_t end = at;
    if (end < text.n && shell_is_digit(text.p[end]))
        end++; /* $12 is $1 and a 2 */
    else
        while (end < text.n && shell_is_name(text.p[end]))
            end++;
    return str_slice(text, at, end);
}

static struct str braced_name(struct str text, size_t at)
{
    size_t end = at;
    while (end < text.n && shell_is_name(text.p[end]))
        end++;
    bool closed = end < text.n && text.p[end] == '}';
    return closed ? str_slice(text, at, end) : (struct str){"", 0};
}

static struct str name_before(struct str text, size_t end)
{
    size_t from = end;
    while (from > 0 && shell_is_name(text.p[from - 1]))
        from--;
    return str_slice(text, from, end);
}

/* The variable whose value begins at a byte of the script: $NAME and ${NAME}, where nobody sets it,
   else NAME=value and ${NAME:-value}. Empty: it comes from somewhere else. */
static struct str origin(struct str text, size_t at)
{
    if (at >= text.n) return (struct str){"", 0};
    if (text.p[at] == '$')
        return at + 1 < text.n && text.p[at + 1] == '{' ? braced_name(text, at + 2)
                                                        : name_from(text, at + 1);
    size_t end = at && strchr("\"'", text.p[at - 1]) ? at - 1 : at;
    if (end && text.p[end - 1] == '=') return name_before(text, end - 1);
    if (end > 1 && text.p[end - 1] == '-' && text.p[end - 2] == ':')
        return name_before(text, end - 2);
    return (struct str){"", 0};
}

/* What counts machines, or names this one: with another number the rest of the script is another
   cluster's. */
static bool is_of_cluster(struct str name)
{
    static const char *const parts[] = {"RANK", "NODE", "WORLD", "GPU",
                                        "NPU",  "HOST", "NPROC", "DEVICE"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (str_find_str(name, str_of(parts[i])) < name.n) return true;
    return false;
}

static bool is_plain(struct str value)
{
    if (!value.n || value.p[0] == '-') return false; /* an option of the script's own */
    for (size_t i = 0; i < value.n; i++)
        if (strchr("*?[|()\\ \t\n", value.p[i])) return false;
    return true;
}

static bool is_listed(const struct facts *f, struct str name, struct str value)
{
    for (size_t i = 0; i < f->choices.n; i++)
        if (str_eq(f->choices.items[i].name, name) && str_eq(f->choices.items[i].value, value))
            return true;
    return false;
}

void shell_note_choice(struct shell *sh, struct shell_text word, struct shell_text value)
{
    struct facts *f = sh->f;
    struct str text = shell_str(value);
    if (sh->live == SHELL_DEAD || f->choices.n >= MOST_CHOICES || !word.n) return;
    if (!shell_known(value) || !is_plain(text) || str_eq(shell_str(word), text)) return;
    struct shell_place place = shell_place(sh, word.at[0]);
    if (place.source != f->source) return;
    struct str name = origin(source_get(&f->diags->sources, place.source)->text, place.byte);
    if (!name.n || is_of_cluster(name) || setting_use(sh->options, name)) return;
    if (is_listed(f, name, text)) return;
    *VEC_PUSH(sh->arena, &f->choices) = (struct script_choice){name, str_dup(sh->arena, text)};
}
