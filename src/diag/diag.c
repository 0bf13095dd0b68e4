/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/diag.h"

#include "base/buf.h"
#include "base/edit.h"
#include "base/sort.h"

void diags_init(struct diags *all, struct arena *arena)
{
    *all = (struct diags){.arena = arena, .sources.arena = arena};
}

struct diag *diag_add(struct diags *all, enum severity severity, const char *rule, struct span at,
                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct diag *d = diag_vadd(all, severity, rule, at, format, args);
    va_end(args);
    return d;
}

struct diag *diag_vadd(struct diags *all, enum severity severity, const char *rule, struct span at,
                       const char *format, va_list args)
{
    struct diag *d = VEC_PUSH(all->arena, all);
    *d = (struct diag){.rule = str_of(rule),
                       .severity = severity,
                       .at = at,
                       .message = arena_vprintf(all->arena, format, args),
                       .document = all->document};
    return d;
}

void diag_note(struct diags *all, struct diag *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *VEC_PUSH(all->arena, &d->notes) = arena_vprintf(all->arena, format, args);
    va_end(args);
}

void diag_help(struct diags *all, struct diag *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    d->help = arena_vprintf(all->arena, format, args);
    va_end(args);
}

void diag_suggest(struct diags *all, struct diag *d, struct str near)
{
    if (near.n) diag_help(all, d, "did you mean %.*s?", STR_ARG(near));
}

void diag_choices(struct diags *all, struct diag *d, struct str wrong, const struct str *choices,
                  size_t n)
{
    struct edit_nearest near = {.word = wrong};
    for (size_t i = 0; i < n; i++)
        edit_offer(&near, choices[i]);
    struct str list = str_joined(all->arena, choices, n);
    if (near.best.n)
        diag_help(all, d, "did you mean %.*s? one of %.*s", STR_ARG(near.best), STR_ARG(list));
    else
        diag_help(all, d, "one of %.*s", STR_ARG(list));
}

void diag_hide(struct diags *all, const struct diag *d, enum diag_state state, struct str reason)
{
    struct diag *hidden = VEC_PUSH(all->arena, &all->hidden);
    *hidden = *d;
    hidden->state = state;
    hidden->reason = reason;
}

static int cmp_u32(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int cmp_diags(const void *left, const void *right)
{
    const struct diag *a = left, *b = right;
    int order = cmp_u32(a->at.source, b->at.source);
    if (!order) order = cmp_u32(a->at.line, b->at.line);
    if (!order) order = cmp_u32(a->at.column, b->at.column);
    if (!order) order = (int)b->severity - (int)a->severity;
    if (!order) order = str_cmp(a->rule, b->rule);
    if (!order) order = str_cmp(a->message, b->message);
    return order ? order : a->document - b->document;
}

void diags_sort(struct diags *all)
{
    if (all->n < 2) return;
    sort_items(all->items, all->n, sizeof *all->items, cmp_diags);
    size_t kept = 1;
    for (size_t i = 1; i < all->n; i++)
        if (cmp_diags(&all->items[i], &all->items[kept - 1]) != 0)
            all->items[kept++] = all->items[i];
    all->n = kept;
}

size_t diags_count(const struct diags *all, enum severity severity)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += all->items[i].severity == severity;
    return n;
}

const char *severity_name(enum severity severity)
{
    static const char *const names[] = {"info", "warning", "error"};
    return names[severity];
}
