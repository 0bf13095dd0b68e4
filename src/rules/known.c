/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/known.h"

#include "base/buf.h"

/* One text by which a record knows an error; a record may have several. */
struct pattern {
    const struct rule *rule;
    struct str text, type;
};

struct known_errors {
    VEC(struct pattern) patterns;
};

static struct str normalise(struct arena *a, struct str s)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        bool after_blank = !out.n || out.p[out.n - 1] == ' ';
        if (blank && after_blank) continue;
        if (c == '"' || c == '\'' || c == '`') continue;
        buf_add_char(&out, blank ? ' ' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
    return str_trim(buf_str(&out));
}

const struct known_errors *known_errors_new(struct arena *a, const struct rule_set *set)
{
    struct known_errors *k = ARENA_NEW(a, struct known_errors);
    for (size_t i = 0; i < set->n; i++) {
        const struct rule *r = set->items[i];
        struct str rest = r->error_pattern, one;
        while (rest.n && str_split(&rest, '\n', &one))
            *VEC_PUSH(a, &k->patterns) =
                (struct pattern){r, normalise(a, one), normalise(a, r->error_type)};
    }
    return k;
}

/* Whether the pattern's parts, which "…" separates, stand in the text in their order. */
static bool pattern_matches(struct str text, struct str pattern)
{
    while (pattern.n) {
        size_t end = str_find_str(pattern, STR("…"));
        struct str part = str_trim(str_slice(pattern, 0, end));
        size_t at = str_find_str(text, part);
        if (part.n && at == text.n) return false;
        text = str_slice(text, at + part.n, text.n);
        pattern = str_slice(pattern, end + strlen("…"), pattern.n);
    }
    return true;
}

static size_t score(struct str text, const struct pattern *p)
{
    if (!p->text.n || !pattern_matches(text, p->text)) return 0;
    /* an info says where to look for the error: any record of one comes first */
    if (p->rule->severity == SEVERITY_INFO) return 1;
    bool typed = p->type.n && str_find_str(text, p->type) < text.n;
    return p->text.n + (typed ? p->type.n : 0);
}

/* A record stands in the list once, with its best text. */
static void insert(struct known_error *best, const struct rule *r, size_t s)
{
    for (size_t i = 0; i < KNOWN_MATCHES; i++) {
        if (s <= best[i].score && best[i].rule == r) return;
        if (s <= best[i].score) continue;
        size_t last = i;
        while (last < KNOWN_MATCHES - 1 && best[last].rule != r)
            last++;
        memmove(best + i + 1, best + i, (last - i) * sizeof *best);
        best[i] = (struct known_error){r, s};
        return;
    }
}

size_t known_errors_find(const struct known_errors *k, struct arena *scratch, struct str text,
                         struct known_error out[KNOWN_MATCHES])
{
    struct arena_mark mark = arena_mark(scratch);
    struct str plain = normalise(scratch, text);
    size_t n = 0;
    memset(out, 0, KNOWN_MATCHES * sizeof *out);
    for (size_t i = 0; i < k->patterns.n; i++) {
        size_t s = score(plain, &k->patterns.items[i]);
        if (s) insert(out, k->patterns.items[i].rule, s);
    }
    arena_pop(scratch, mark);
    while (n < KNOWN_MATCHES && out[n].rule)
        n++;
    return n;
}
