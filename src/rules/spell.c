/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/spell.h"

#include "base/buf.h"
#include "facts/param.h"
#include "facts/profile.h"

/* A word without what ends a part of the sentence behind it. */
static struct str without_marks(struct str word)
{
    struct str marks = STR(",;:.)");
    while (word.n && str_find(marks, word.p[word.n - 1]) < marks.n)
        word.n--;
    return word;
}

/* Bridge's spelling of the parameter whose flag the word is; NULL: it is none, or Bridge has no key
   for it. */
static const struct param_spelling *spelling_of(struct str word, const struct param_flag **flag)
{
    int param = str_starts(word, STR("--")) ? param_find_key(FRAMEWORK_MEGATRON, word, flag) : -1;
    const struct param_spelling *in = param < 0 ? NULL : param_table[param].in[FRAMEWORK_BRIDGE];
    return in && in->known && in->key.n ? in : NULL;
}

/* Whether the word behind a flag is its value, and not how the sentence goes on. */
static bool is_value(struct str word)
{
    return word.n && !str_starts(word, STR("--")) &&
           !str_is_any(word, "or|and|in|with|as|out|for|to|of|at|refuses|does|is|has");
}

/* What stands behind the key; of a flag's value, the word that it is goes from the rest. */
static void add_value(const struct param_spelling *in, const struct param_flag *flag,
                      struct str *rest, struct buf *out)
{
    struct str after = *rest, word;
    if (flag->action == FLAG_TRUE || flag->action == FLAG_FALSE) {
        buf_printf(out, "=%s", (flag->action == FLAG_TRUE) != in->inverse ? "true" : "false");
    } else if (flag->action != FLAG_CONST && str_split(&after, ' ', &word) && is_value(word)) {
        struct str value = without_marks(word);
        bool list = flag->nargs_max != 1 && !in->single;
        buf_printf(out, list ? "=[%.*s]" : "=%.*s", STR_ARG(value));
        buf_add(out, str_slice(word, value.n, word.n));
        *rest = after;
    }
}

struct str spell_flags(const struct facts *f, struct str text)
{
    bool own = str_find_str(text, STR("Bridge")) < text.n;
    if (f->framework != FRAMEWORK_BRIDGE || own || str_find_str(text, STR("--")) == text.n)
        return text;
    struct buf out = buf_new(f->diags->arena);
    struct str word;
    bool leaves = false; /* the words before say that it goes: its value does not matter */
    while (str_split(&text, ' ', &word)) {
        const struct param_flag *flag = NULL;
        struct str name = without_marks(word);
        const struct param_spelling *in = spelling_of(name, &flag);
        if (out.n) buf_add_char(&out, ' ');
        leaves = str_is_any(word, "drop|leave|deprecated") ||
                 (leaves && !str_is_any(word, "write|needs|take"));
        buf_add(&out, in ? param_key_in(in, facts_release(f)) : name);
        bool ends = name.n < word.n;
        struct str none = {"", 0};
        if (in && !leaves) add_value(in, flag, ends ? &none : &text, &out);
        buf_add(&out, str_slice(word, name.n, word.n));
    }
    return buf_str(&out);
}
