/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/fix.h"

#include "base/buf.h"
#include "base/sort.h"

enum { MOST_ROUNDS = 64 };

/* What is being mended, one round after the other. */
struct mending {
    struct validation *validation;
    struct str path, as, text;
    const struct read_options *options;
    bool unsafe;
    struct file_report report;
    VEC(struct diag) rejected; /* findings whose fix is none, or not wanted */
    size_t n_known;            /* of them what is somebody else's, in front */
    size_t fixed, fixed_then;  /* now; when what was rejected was last tried again */
};

static struct file_report check(struct mending *m, struct str text)
{
    return validate_text(m->validation, m->path, text, m->as, m->options);
}

static bool same_finding(const struct diag *a, const struct diag *b)
{
    return str_eq(a->rule, b->rule) && str_eq(a->message, b->message) && a->document == b->document;
}

static size_t count_like(const struct diags *all, const struct diag *d)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += same_finding(&all->items[i], d);
    return n;
}

/* ---- which fixes are applied together ---- */

/* Edits are of the text itself, which is the first source, and not of one that it names. */
static bool is_of_text(const struct diag *d)
{
    for (size_t i = 0; i < d->edits.n; i++)
        if (d->edits.items[i].source != 1) return false;
    return d->edits.n > 0;
}

static bool is_rejected(const struct mending *m, const struct diag *d)
{
    for (size_t i = 0; i < m->rejected.n; i++)
        if (same_finding(&m->rejected.items[i], d)) return true;
    return false;
}

static bool same_edit(const struct text_edit *a, const struct text_edit *b)
{
    return a->from == b->from && a->to == b->to && str_eq(a->text, b->text);
}

/* Whether the changes of two edits would meet. */
static bool edits_meet(const struct text_edit *a, const struct text_edit *b)
{
    return a->from <= b->to && b->from <= a->to;
}

static bool meets(const struct text_edits *taken, const struct diag *d)
{
    for (size_t i = 0; i < d->edits.n; i++)
        for (size_t k = 0; k < taken->n; k++)
            if (edits_meet(&taken->items[k], &d->edits.items[i])) return true;
    return false;
}

/* The same edits for another reason: two configurations of a file, say. */
static bool is_taken(const struct text_edits *taken, const struct diag *d)
{
    for (size_t i = 0; i < d->edits.n; i++) {
        size_t k = 0;
        while (k < taken->n && !same_edit(&taken->items[k], &d->edits.items[i]))
            k++;
        if (k == taken->n) return false;
    }
    return true;
}

struct picked {
    struct text_edits edits;
    const struct diag **items;
    size_t n, cap;
};

static bool is_native(const struct mending *m, const struct diag *d)
{
    const struct rule *rule = rules_find(m->validation->rules, d->rule);
    return !rule || rule->native;
}

/* How the text is written comes first: what a rule misses may stand there misspelt. */
static struct picked pick_of(const struct mending *m, size_t most, bool native)
{
    struct picked p = {0};
    struct arena *a = m->validation->arena;
    const struct diags *all = m->report.diags;
    for (size_t i = 0; i < all->n && p.n < most; i++) {
        const struct diag *d = &all->items[i];
        if (!is_of_text(d) || !(d->safe || m->unsafe) || is_rejected(m, d)) continue;
        if (is_native(m, d) != native) continue;
        bool taken = is_taken(&p.edits, d);
        if (!taken && meets(&p.edits, d)) continue;
        *VEC_PUSH(a, &p) = d;
        for (size_t k = 0; k < d->edits.n && !taken; k++)
            *VEC_PUSH(a, &p.edits) = d->edits.items[k];
    }
    return p;
}

static struct picked pick(const struct mending *m, size_t most)
{
    struct picked p = pick_of(m, most, true);
    return p.n ? p : pick_of(m, most, false);
}

static int cmp_edits(const void *left, const void *right)
{
    const struct text_edit *a = left, *b = right;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static struct str apply(struct arena *a, struct str text, struct text_edits *edits)
{
    struct buf out = buf_new(a);
    size_t at = 0;
    sort_items(edits->items, edits->n, sizeof *edits->items, cmp_edits);
    for (size_t i = 0; i < edits->n; i++) {
        const struct text_edit *e = &edits->items[i];
        buf_add(&out, str_slice(text, at, e->from));
        buf_add(&out, e->text);
        at = e->to;
    }
    buf_add(&out, str_slice(text, at, text.n));
    return buf_str(&out);
}

/* ---- whether they are right ---- */

/* A new finding that the change itself is to blame for: of the way the text is written, or, where a
   rule's own fix sets another value, any error. What a word misspelt before hides is not. */
static bool is_harm(const struct mending *m, const struct picked *p, const struct diag *found)
{
    bool of_text =
        !str_starts(found->rule, STR("memory-")) && !str_is(found->rule, "no-valid-world-size");
    if (is_native(m, found) && of_text) return found->severity > SEVERITY_INFO;
    return !is_native(m, p->items[0]) && found->severity == SEVERITY_ERROR;
}

static bool is_right(const struct mending *m, const struct picked *p,
                     const struct file_report *after)
{
    const struct diags *before = m->report.diags;
    for (size_t i = 0; i < p->n; i++)
        if (count_like(after->diags, p->items[i]) >= count_like(before, p->items[i])) return false;
    for (size_t i = 0; i < after->diags->n; i++) {
        const struct diag *d = &after->diags->items[i];
        if (is_harm(m, p, d) && count_like(after->diags, d) > count_like(before, d)) return false;
    }
    return after->status != FILE_SKIPPED;
}

/* Applies as many as go together, at most `most`; false when they are not right together. */
static bool mend(struct mending *m, size_t most, size_t *tried)
{
    struct picked p = pick(m, most);
    *tried = p.n;
    if (!p.n) return false;
    struct str text = apply(m->validation->arena, m->text, &p.edits);
    struct file_report after = check(m, text);
    if (!is_right(m, &p, &after)) {
        if (p.n == 1) *VEC_PUSH(m->validation->arena, &m->rejected) = *p.items[0];
        return false;
    }
    m->text = text;
    m->report = after;
    m->fixed += p.n;
    return true;
}

/* What is known is somebody else's change. */
static void leave_known(struct mending *m, const struct fix_wish *wish)
{
    struct diags *all = m->report.diags;
    const struct diag_policy *policy = m->validation->policy;
    struct str today = policy ? policy->today : STR("");
    for (size_t i = 0; i < all->n && wish->known; i++)
        if (baseline_knows(wish->known, all, &all->items[i], wish->known_as, today))
            *VEC_PUSH(m->validation->arena, &m->rejected) = all->items[i];
    m->n_known = m->rejected.n;
}

/* Where nothing is left to try: what was wrong beside another finding may be right without it, as
   the words of one that names a line change with each line above that goes. */
static bool try_again(struct mending *m)
{
    if (m->rejected.n == m->n_known || m->fixed == m->fixed_then) return false;
    m->rejected.n = m->n_known;
    m->fixed_then = m->fixed;
    return true;
}

static size_t count_unsafe(const struct mending *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->report.diags->n; i++) {
        const struct diag *d = &m->report.diags->items[i];
        n += is_of_text(d) && !d->safe && !is_rejected(m, d);
    }
    return n;
}

struct fixed_text fix_text(struct validation *v, struct str path, struct str text, struct str as,
                           const struct read_options *options, const struct fix_wish *wish)
{
    struct mending m = {.validation = v,
                        .path = path,
                        .as = as,
                        .text = text,
                        .options = options,
                        .unsafe = wish->unsafe};
    m.report = check(&m, text);
    leave_known(&m, wish);
    size_t most = SIZE_MAX, tried = 1;
    for (int round = 0; round < MOST_ROUNDS && (tried || try_again(&m)); round++)
        most = mend(&m, most, &tried) ? SIZE_MAX : tried > 1 ? tried / 2 : SIZE_MAX;
    return (struct fixed_text){m.text, m.fixed, wish->unsafe ? 0 : count_unsafe(&m), m.report};
}
