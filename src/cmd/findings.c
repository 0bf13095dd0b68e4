/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/findings.h"

#include "base/quote.h"
#include "base/sort.h"
#include "base/table.h"
#include "diag/render_text.h"

/* WHOLE: findings of a rule that are all shown with their lines below. MOST: that are kept of one
   file, which somebody may have made to fill a screen. */
enum { WHOLE = 3, MOST = 1000 };

static uint32_t group_of(struct findings *f, struct str rule)
{
    int64_t at = map_get(&f->group_of, rule);
    if (at != MAP_NONE) return (uint32_t)at;
    rule = str_dup(f->c->keep, rule);
    map_put(f->c->keep, &f->group_of, rule, (uint32_t)f->groups.n);
    VEC_PUSH(f->c->keep, &f->groups)->rule = rule;
    return (uint32_t)f->groups.n - 1;
}

static void count(struct finding_group *g, const struct diag *d, struct str file)
{
    if (d->severity > g->severity) g->severity = d->severity;
    if (!g->n || !str_eq(g->last_file, file)) g->files++;
    g->last_file = file;
    g->n++;
}

static void add_kind(struct findings *f, struct str format)
{
    int64_t at = map_get(&f->kind_of, format);
    if (!format.n) return;
    if (at == MAP_NONE) {
        at = (int64_t)f->kinds.n;
        format = str_dup(f->c->keep, format);
        map_put(f->c->keep, &f->kind_of, format, (uint32_t)at);
        VEC_PUSH(f->c->keep, &f->kinds)->format = format;
    }
    f->kinds.items[at].n++;
}

void findings_add(struct findings *f, const struct file_report *report)
{
    struct arena *a = f->c->keep;
    struct str path = str_dup(a, report->path);
    struct diags *all = report->diags;
    if (report->status != FILE_SKIPPED) add_kind(f, report->format);
    diags_sort(all);
    for (size_t i = 0; i < all->n; i++) {
        uint32_t group = group_of(f, all->items[i].rule);
        count(&f->groups.items[group], &all->items[i], path);
        if (i >= MOST) continue;
        struct buf head = buf_new(a), full = buf_new(a);
        render_headline(&head, all, &all->items[i]);
        if (!f->heads_only) render_text(&full, all, &all->items[i], f->c->view.width);
        *VEC_PUSH(a, &f->items) =
            (struct finding){buf_str(&head), buf_str(&full), all->items[i].severity, group};
    }
}

/* Those of one group and severity, the first in full; all of them where they are few. */
static void print_group(struct findings *f, uint32_t group, enum severity severity, bool full,
                        struct buf *out)
{
    size_t n = 0, shown = 0;
    for (size_t i = 0; i < f->items.n; i++)
        n += f->items.items[i].group == group && f->items.items[i].severity == severity;
    for (size_t i = 0; i < f->items.n; i++) {
        const struct finding *x = &f->items.items[i];
        if (x->group != group || x->severity != severity) continue;
        bool whole = !f->heads_only && (full || n <= WHOLE || !shown++);
        buf_add(out, whole ? x->full : x->head);
    }
    if (n > WHOLE && !full && !f->heads_only)
        buf_printf(out,
                   MARK_FAINT "       = %zu more as the first; --full shows each" MARK_END "\n",
                   n - 1);
}

void findings_print(struct findings *f, bool full, struct buf *out)
{
    for (size_t i = 0; i < f->items.n; i++) {
        const struct finding *x = &f->items.items[i];
        if (x->severity == SEVERITY_ERROR) buf_add(out, f->heads_only ? x->head : x->full);
    }
    for (int severity = SEVERITY_WARNING; severity >= SEVERITY_INFO; severity--)
        for (size_t g = 0; g < f->groups.n; g++)
            print_group(f, (uint32_t)g, (enum severity)severity, full, out);
    size_t all = 0;
    for (size_t g = 0; g < f->groups.n; g++)
        all += f->groups.items[g].n;
    if (all > f->items.n) buf_printf(out, "… and %zu more\n", all - f->items.n);
}

/* ---- numbers ---- */

static int by_weight(const void *x, const void *y)
{
    const struct finding_group *a = x, *b = y;
    if (a->severity != b->severity) return a->severity < b->severity ? 1 : -1;
    if (a->n != b->n) return a->n < b->n ? 1 : -1;
    return str_cmp(a->rule, b->rule);
}

void findings_statistics(struct findings *f, int width, struct buf *out)
{
    static const struct table_column columns[] = {
        {"findings", true, 0}, {"files", true, 1}, {"severity", false, 0}, {"rule", false, 0}};
    static const char *const marks[] = {MARK_INFO, MARK_WARNING, MARK_ERROR};
    struct table t = table_new(f->c->keep, columns, sizeof columns / sizeof *columns);
    sort_items(f->groups.items, f->groups.n, sizeof *f->groups.items, by_weight);
    for (size_t i = 0; i < f->groups.n; i++) {
        const struct finding_group *g = &f->groups.items[i];
        table_printf(&t, "%zu", g->n);
        table_printf(&t, "%zu", g->files);
        table_printf(&t, "%s%s" MARK_END, marks[g->severity], severity_name(g->severity));
        table_add(&t, quote_line(f->c->keep, g->rule));
    }
    if (f->groups.n) table_print(&t, width, out);
}

void findings_kinds(const struct findings *f, struct buf *out)
{
    static const struct {
        const char *format, *one, *many;
    } words[] = {{"automodel", "AutoModel recipe", "AutoModel recipes"},
                 {"megatron", "Megatron launch", "Megatron launches"},
                 {"bridge", "Bridge override list", "Bridge override lists"},
                 {"plan", "plan", "plans"}};
    for (size_t i = 0; i < f->kinds.n; i++) {
        const struct file_kind *k = &f->kinds.items[i];
        struct str name =
            arena_printf(f->c->keep, "%.*s%s", STR_ARG(k->format), k->n == 1 ? " file" : " files");
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (str_is(k->format, words[w].format))
                name = str_of(k->n == 1 ? words[w].one : words[w].many);
        buf_printf(out, "%s%zu %.*s", i ? ", " : " (", k->n, STR_ARG(name));
    }
    if (f->kinds.n) buf_add_char(out, ')');
}
