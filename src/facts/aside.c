/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/aside.h"

/* A finding that holds of the words alone. Which flags a program has of its own is the launch's to
   say: of unknown ones only slips count. */
static bool holds_alone(const struct diag *d)
{
    if (d->severity == SEVERITY_INFO) return false;
    if (str_is(d->rule, "unknown-key")) return str_starts(d->help, STR("did you mean"));
    return str_is_any(d->rule, "value-type|value-choice|value-for-switch|size-below-zero") ||
           str_ends(d->rule, STR("-choice"));
}

/* Whether truths stand behind several switches: then the program takes them. */
static bool has_truths(const struct diags *diags, size_t before)
{
    size_t n = 0;
    for (size_t i = before; i < diags->n; i++)
        n += str_is(diags->items[i].rule, "value-for-switch");
    return n > 1;
}

static void keep_those_alone(struct diags *diags, size_t before)
{
    bool truths = has_truths(diags, before);
    for (size_t i = diags->n; i-- > before;) {
        struct diag *d = &diags->items[i];
        bool taken = truths && str_is(d->rule, "value-for-switch");
        if (holds_alone(d) && !taken && !diag_is_told(diags, before, d->at))
            d->severity = SEVERITY_WARNING;
        else
            diag_remove(diags, i);
    }
}

static void apply_flags(struct facts *side, const struct flag_words *words)
{
    side->program.strangers.items = NULL;
    side->program.strangers.n = side->program.strangers.cap = 0;
    side->program.doubts.items = NULL;
    side->program.doubts.n = side->program.doubts.cap = 0;
    flags_apply(side, words);
    program_settle(side);
}

void aside_check(struct facts *f)
{
    if (program_is_megatrons(f)) aside_check_words(f, apply_flags);
}

void aside_check_words(struct facts *f,
                       void (*apply)(struct facts *side, const struct flag_words *words))
{
    if (!f->aside || !f->aside->n) return;
    size_t before = f->diags->n;
    apply(facts_copy(f->arena, f), f->aside);
    keep_those_alone(f->diags, before);
}
