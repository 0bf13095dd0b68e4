/* SPDX-License-Identifier: Apache-2.0 */
#include "docs_rows.h"

#include "base/map.h"
#include "base/sort.h"

void docs_cell(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '|') buf_add_char(out, '\\');
        if (text.p[i] == '<')
            buf_add(out, STR("&lt;"));
        else
            buf_add_char(out, text.p[i] == '\n' ? ' ' : text.p[i]);
    }
}

struct str docs_page_name(struct arena *a, struct str suite)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i + strlen(".yaml") < suite.n; i++)
        buf_add_char(&out, suite.p[i] == '/' ? '-' : suite.p[i]);
    buf_add(&out, STR(".md"));
    return buf_str(&out);
}

static const char *kind_of(const struct rule *r)
{
    if (r->role == ROLE_OVERRIDE && !r->message.n) return "silent";
    return r->rule || r->native || r->role == ROLE_OVERRIDE ? severity_name(r->severity) : "guide";
}

void docs_row(struct buf *out, const struct rule *r, struct str page)
{
    buf_printf(out, "| [%.*s](%.*s#%.*s) | %s | ", STR_ARG(r->id), STR_ARG(page), STR_ARG(r->id),
               kind_of(r));
    docs_cell(out, r->message);
    buf_add(out, STR(" |\n"));
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

const struct str *docs_suites(struct arena *a, const struct rule_set *set, size_t *n)
{
    struct map seen = {0};
    struct str *list = ARENA_ARRAY(a, struct str, set->n);
    *n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (map_put(a, &seen, set->items[i]->suite, 0)) list[(*n)++] = set->items[i]->suite;
    sort_items(list, *n, sizeof *list, by_text);
    return list;
}
