/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/embedded.h"

struct script {
    struct str text; /* of the file */
    char *p;         /* the script so far: as long as the text */
    size_t n;        /* scalars in it */
};

/* Whether every line of it but the last goes on behind a backslash. */
static bool goes_on(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\n' && (i == 0 || text.p[i - 1] != '\\')) return false;
    return true;
}

/* The part of the text that a scalar's content stands in; empty where a shell would not read it as
   YAML does. */
static struct str content_of(const struct script *s, const struct node *scalar)
{
    struct str whole = str_slice(s->text, scalar->from, scalar->to), none = {"", 0};
    char first = whole.n ? whole.p[0] : 0;
    if (first == '|') return str_slice(whole, str_find(whole, '\n'), whole.n);
    if (first == '>' || !goes_on(str_trim(whole))) return none;
    bool quoted = (first == '"' || first == '\'') && whole.n >= 2;
    struct str inner = quoted ? str_slice(whole, 1, whole.n - 1) : whole;
    bool escaped = quoted && (str_find(inner, '\\') < inner.n || str_find(inner, first) < inner.n);
    return escaped ? none : inner;
}

static void add_scalar(struct script *s, const struct node *scalar)
{
    struct str content = content_of(s, scalar);
    if (!content.n) return;
    memcpy(s->p + (content.p - s->text.p), content.p, content.n);
    s->n++;
}

/* A scalar that calls a program with options; options alone, in quotes of their own or not, are
   handed on to somebody's. */
static bool is_command(const struct node *node)
{
    struct str t = node->text;
    if (node->kind != NODE_SCALAR || !t.n || strchr("\"'-", t.p[0])) return false;
    return str_find_str(t, STR(" --")) < t.n || str_find_str(t, STR(".py ")) < t.n;
}

/* The commands below a node; what stands in a list beside a command is run before or behind it. */
static void add_commands(struct script *s, const struct node *node, int depth)
{
    enum { DEEPEST = 30 };
    bool steps = false;
    for (size_t i = 0; node->kind == NODE_LIST && i < node->n; i++)
        steps |= is_command(node->items[i]);
    for (size_t i = 0; depth < DEEPEST && i < node->n; i++) {
        const struct node *item = node->items[i];
        if (item->kind != NODE_SCALAR)
            add_commands(s, item, depth + 1);
        else if (steps || is_command(item))
            add_scalar(s, item);
    }
}

struct str embedded_script(struct arena *a, struct str text, const struct node_list *docs)
{
    struct script s = {.text = text, .p = ARENA_ARRAY(a, char, text.n + 1)};
    for (size_t i = 0; i < text.n; i++)
        s.p[i] = text.p[i] == '\n' ? '\n' : ' ';
    for (size_t i = 0; i < docs->n; i++)
        add_commands(&s, docs->items[i], 0);
    return (struct str){s.p, s.n ? text.n : 0};
}
