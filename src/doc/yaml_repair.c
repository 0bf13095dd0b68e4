/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/yaml_repair.h"

#include "base/utf8.h"

enum { MOST_REPAIRS = 16, LARGEST_TEXT = 1 << 20 }; /* each repair reads the text once more */

/* Stands for a tab: a private-use character, one code point as the tab is. */
#define PLACEHOLDER STR("\xEE\x80\xBF")

static size_t byte_of_point(struct str text, size_t point)
{
    size_t at = 0;
    uint32_t ignored;
    for (; point > 0 && at < text.n; point--)
        at += utf8_next(text, at, &ignored);
    return at;
}

/* Replaces `cut` bytes at byte `at`. */
static void replace(struct yaml_repair *r, size_t at, size_t cut, struct str with)
{
    size_t n = r->text.n - cut + with.n;
    char *p = arena_alloc(r->arena, n + 1);
    memcpy(p, r->text.p, at);
    memcpy(p + at, with.p, with.n);
    memcpy(p + at + with.n, r->text.p + at + cut, r->text.n - at - cut);
    r->text = (struct str){p, n};
}

/* A block scalar may begin with a tab behind its indentation. */
static bool repair_tab(struct yaml_repair *r, size_t point)
{
    size_t at = byte_of_point(r->text, point);
    bool clash = !r->tabs && str_find_str(r->text, PLACEHOLDER) < r->text.n;
    bool indented = at > 0 && r->text.p[at - 1] == ' ';
    if (clash || !indented || at >= r->text.n || r->text.p[at] != '\t') return false;
    replace(r, at, 1, PLACEHOLDER);
    r->tabs = true;
    return true;
}

/* `{key:,}` reads as `{key: ,}`. */
static bool repair_colon(struct yaml_repair *r, size_t point)
{
    size_t at = byte_of_point(r->text, point);
    if (at + 1 >= r->text.n || r->text.p[at] != ':' || !strchr(",]}", r->text.p[at + 1]))
        return false;
    replace(r, at + 1, 0, STR(" "));
    *VEC_PUSH(r->arena, &r->inserted) = point + 1;
    return true;
}

/* Whether directives and comments are followed by the "---" they need. */
static bool document_follows(struct str text)
{
    struct str line;
    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        if (str_starts(line, STR("---"))) return true;
        if (line.n && line.p[0] != '#' && line.p[0] != '%') return false;
    }
    return false;
}

/* Unknown directives and later minor versions are ignored, as YAML asks. */
static bool repair_directive(struct yaml_repair *r, size_t point)
{
    size_t at = byte_of_point(r->text, point);
    struct str rest = str_slice(r->text, at, r->text.n);
    bool later_major = str_starts(rest, STR("%YAML ")) && !str_starts(rest, STR("%YAML 1."));
    if (!str_starts(rest, STR("%")) || later_major || !document_follows(rest)) return false;
    replace(r, at, 1, STR("#"));
    return true;
}

bool yaml_repair(struct yaml_repair *r, const yaml_parser_t *parser)
{
    if (!parser->problem || r->n++ >= MOST_REPAIRS || r->text.n > LARGEST_TEXT) return false;
    struct str problem = str_of(parser->problem);
    if (str_is(problem, "found a tab character where an indentation space is expected"))
        return repair_tab(r, parser->problem_mark.index);
    if (str_is(problem, "found unexpected ':'")) return repair_colon(r, parser->problem_mark.index);
    if (str_is(problem, "found unknown directive name"))
        return repair_directive(r, parser->context_mark.index);
    if (str_is(problem, "found incompatible YAML document"))
        return repair_directive(r, parser->problem_mark.index);
    return false;
}

size_t yaml_repair_origin(const struct yaml_repair *r, size_t point)
{
    for (size_t i = r->inserted.n; i-- > 0;)
        point -= point > r->inserted.items[i]; /* last insertion first */
    return point;
}

size_t yaml_repair_scalar(const struct yaml_repair *r, char *text, size_t n)
{
    if (!r->tabs) return n;
    size_t to = 0;
    for (size_t at = 0; at < n; at++) {
        bool tab = str_starts((struct str){text + at, n - at}, PLACEHOLDER);
        text[to++] = tab ? '\t' : text[at];
        if (tab) at += PLACEHOLDER.n - 1;
    }
    text[to] = '\0';
    return to;
}
