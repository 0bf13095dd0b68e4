/* SPDX-License-Identifier: Apache-2.0 */
/* Flags that a script has beside the launch that is read: values that variables have in branches
   which do not run for certain, and smaller launches of training programs. */
#include "facts/program.h"
#include "facts/shell_state.h"

/* What is not written in [from, to) comes from variables that would have other values there. */
static struct shell_text written_here(struct shell *sh, struct shell_text t, uint32_t from,
                                      uint32_t to)
{
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i] < from || t.at[i] >= to)
            return shell_text_at(sh->arena, SHELL_UNKNOWN_TEXT, t.at[0]);
    return t;
}

void shell_note_aside(struct shell *sh, const struct shell_fields *items, uint32_t from)
{
    uint32_t to = shell_offset(sh);
    struct shell_fields words = {0};
    if (sh->live == SHELL_LIVE || to <= from || sh->aside.n > SHELL_MAX_ASIDE) return;
    for (size_t i = 0; i < items->n; i++)
        shell_split_blanks(sh, items->items[i], &words);
    if (!words.n || !shell_is_flag(shell_str(words.items[0]))) return;
    if (!shell_count_flags(sh, &words, 0)) return;
    for (size_t i = 0; i < words.n; i++)
        shell_push(sh, &sh->aside, written_here(sh, words.items[i], from, to));
}

void shell_note_launch(struct shell *sh, const struct shell_fields *words, size_t from, size_t to)
{
    enum { FEWEST = 3 };
    if (from == 0 || from > words->n || sh->aside.n > SHELL_MAX_ASIDE) return;
    struct str script = shell_str(words->items[from - 1]);
    if (program_of(script).task != TASK_TRAINING) return;
    if (shell_count_flags(sh, words, from) < FEWEST) return;
    for (size_t i = from; i < to; i++)
        shell_push(sh, &sh->aside, words->items[i]);
}
