/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/rewrite.h"

#include "base/buf.h"
#include "base/num.h"
#include "base/quote.h"
#include "doc/rewrite.h"

static struct str text_of(const struct facts *f)
{
    return source_get(&f->diags->sources, f->source)->text;
}

static void push(const struct facts *f, struct text_edits *out, size_t from, size_t to,
                 struct str text)
{
    *VEC_PUSH(f->diags->arena, out) = (struct text_edit){f->source, from, to, text};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether the text says the parameter, though the framework may then replace what it says. */
static bool is_written(const struct fact *x)
{
    return (x->origin == ORIGIN_FILE || x->origin == ORIGIN_OVERRIDE) && x->node;
}

/* ---- words in a shell's text ---- */

struct range {
    size_t from, to;
};

static bool is_quote(struct str text, size_t at)
{
    return at < text.n && strchr("'\"", text.p[at]);
}

/* With the quotes around it, when they are its own. */
static struct range with_quotes(struct str text, struct range r)
{
    bool own = r.from > 0 && is_quote(text, r.from - 1) && is_quote(text, r.to) &&
               text.p[r.from - 1] == text.p[r.to];
    return own ? (struct range){r.from - 1, r.to + 1} : r;
}

static struct str rest_of_line(struct str text, size_t at)
{
    struct str rest = str_slice(text, at, text.n);
    return str_slice(rest, 0, str_find(rest, '\n'));
}

static bool is_continued(struct str text, size_t start)
{
    return start >= 2 && text.p[start - 1] == '\n' && text.p[start - 2] == '\\';
}

/* Behind blanks, and line ends that a backslash takes back. */
static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.n && (text.p[at] == ' ' || text.p[at] == '\t' ||
                           (text.p[at] == '\\' && at + 1 < text.n && text.p[at + 1] == '\n') ||
                           (text.p[at] == '\n' && at > 0 && text.p[at - 1] == '\\')))
        at++;
    return at;
}

/* The word that uses a variable, "$TP" or "${TP}" with quotes or without: empty where it is
 * another. */
static struct range variable_use(struct str text, size_t at, struct str *name)
{
    size_t from = at, to = at;
    bool quoted = is_quote(text, at) && text.p[at] == '"';
    at += quoted;
    if (at + 1 >= text.n || text.p[at] != '$') return (struct range){from, from};
    bool braced = text.p[++at] == '{';
    at += braced;
    for (to = at; to < text.n && (text.p[to] == '_' || (text.p[to] >= '0' && text.p[to] <= '9') ||
                                  (text.p[to] >= 'A' && text.p[to] <= 'Z') ||
                                  (text.p[to] >= 'a' && text.p[to] <= 'z'));)
        to++;
    *name = str_slice(text, at, to);
    if (braced && (to == text.n || text.p[to++] != '}')) return (struct range){from, from};
    if (quoted && (to == text.n || text.p[to++] != '"')) return (struct range){from, from};
    bool ends = to == text.n || is_blank(text.p[to]) || strchr(")\"';", text.p[to]);
    return name->n && ends ? (struct range){from, to} : (struct range){from, from};
}

static size_t count_uses(struct arena *a, struct str text, struct str name)
{
    struct str plain = arena_printf(a, "$%.*s", STR_ARG(name)),
               braced = arena_printf(a, "${%.*s", STR_ARG(name));
    size_t n = 0;
    for (size_t at = 0; at < text.n; at++) {
        struct str rest = str_slice(text, at, text.n);
        at += str_find(rest, '$');
        rest = str_slice(text, at, text.n);
        n += str_starts(rest, plain) || str_starts(rest, braced);
    }
    return n;
}

/* Whether all bytes of a flag and its values, or of an override, stand in the text in a row. */
static bool stands_together(const struct facts *f, const struct node *node)
{
    if (node->source != f->source || node->to <= node->from) return false;
    struct str text = text_of(f);
    for (size_t i = 0; i < node->n; i++) {
        const struct node *value = node->items[i];
        if (value->source != f->source || value->from < node->from || value->to > node->to)
            return false;
    }
    return node->to <= text.n && !strchr("$`", text.p[node->from]);
}

/* Where the flag and what it takes stand in the command, when that can be told. */
static bool used_range(const struct facts *f, const struct node *node, struct range *out)
{
    struct str text = text_of(f), name;
    *out = (struct range){node->from, node->to};
    if (node->source != f->source || node->to > text.n) return false;
    if (stands_together(f, node)) {
        size_t last = node->n ? node->items[node->n - 1]->from : node->from;
        struct range value = with_quotes(text, (struct range){last, node->to});
        out->to = value.to;
        return true;
    }
    if (node->n != 1 || !str_starts(str_slice(text, node->from, text.n), STR("--"))) return false;
    size_t at = skip_blanks(text, node->to);
    struct range use = variable_use(text, at, &name);
    out->to = use.to;
    return use.to > use.from;
}

bool rewrite_drop_words(const struct facts *f, const struct node *node, struct text_edits *out)
{
    struct range r;
    struct str text = text_of(f), nothing = {"", 0};
    if (!used_range(f, node, &r)) return false;
    if (r.from == node->from && is_quote(text, r.from - (r.from > 0)) && !node->n)
        r = with_quotes(text, r);
    size_t start = str_line_start(text, r.from);
    struct str rest = rest_of_line(text, r.to), tail = str_trim(rest);
    size_t end = r.to + rest.n + (r.to + rest.n < text.n); /* behind the newline */
    bool alone = !str_trim(str_slice(text, start, r.from)).n;
    if (alone && str_is(tail, "\\")) { /* the line goes, the ones around it stay joined */
        push(f, out, start, end, nothing);
    } else if (alone && !tail.n && is_continued(text, start)) {
        size_t before = start - 2; /* the last line of a command: so is the one before now */
        while (before > 0 && (text.p[before - 1] == ' ' || text.p[before - 1] == '\t'))
            before--;
        push(f, out, before, r.to, nothing);
    } else if (alone && !tail.n) {
        push(f, out, start, end, nothing);
    } else if (r.from > 0 && (text.p[r.from - 1] == ' ' || text.p[r.from - 1] == '\t')) {
        push(f, out, r.from - 1, r.to, nothing);
    } else {
        push(f, out, r.from, r.to + (r.to < text.n && text.p[r.to] == ' '), nothing);
    }
    return true;
}

/* ---- flags ---- */

/* A word that a shell takes as it is. */
static bool is_plain_word(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && !strchr("-_./:,+%@", c)) return false;
    }
    return s.n > 0;
}

static struct str flag_value(struct arena *a, struct value v)
{
    struct buf out = buf_new(a);
    bool list = v.kind == VALUE_LIST;
    size_t n = list ? v.list->n : 1;
    for (size_t i = 0; i < n; i++) {
        struct value item = list ? v.list->items[i] : v;
        struct str word = value_text(a, item);
        if (item.kind == VALUE_NULL || !is_plain_word(word)) return STR("");
        buf_printf(&out, "%s%.*s", i ? " " : "", STR_ARG(word));
    }
    return buf_str(&out);
}

/* The words that say a value: a switch alone, or a flag and its value; empty: the release has none.
 */
static struct str flag_words(const struct facts *f, int param, struct value v)
{
    const struct param_spelling *s = param_table[param].in[FRAMEWORK_MEGATRON];
    for (size_t i = 0; i < s->n_flags; i++) {
        const struct param_flag *flag = &s->flags[i];
        if (!(flag->releases & facts_release(f)) || flag->removed.n || flag->program.n ||
            facts_flag_is_deprecated(f, s, flag))
            continue;
        bool on = v.kind == VALUE_BOOL && v.b, off = v.kind == VALUE_BOOL && !v.b;
        bool alone = (flag->action == FLAG_TRUE && on) || (flag->action == FLAG_FALSE && off) ||
                     (flag->action == FLAG_CONST && v.kind != VALUE_UNKNOWN &&
                      flag->constant.kind != VALUE_UNKNOWN && value_eq(flag->constant, v));
        if (alone) return flag->flag;
        if (flag->action != FLAG_STORE || v.kind == VALUE_BOOL) continue;
        struct str value = flag_value(f->arena, v);
        if (value.n)
            return arena_printf(f->arena, "%.*s %.*s", STR_ARG(flag->flag), STR_ARG(value));
    }
    return STR("");
}

/* ---- words behind another ---- */

static bool is_anchor(const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    return is_written(x) && stands_together(f, x->node);
}

/* The word that a new one follows: the one of `near`, else the last. */
static const struct node *anchor_of(const struct facts *f, int near)
{
    const struct node *last = NULL;
    if (near >= 0 && is_anchor(f, near)) return facts_get(f, near)->node;
    for (int i = 0; i < (int)param_count; i++)
        if (is_anchor(f, (int)i) && (!last || facts_get(f, i)->node->to > last->to))
            last = facts_get(f, i)->node;
    return last;
}

/* On a line of its own where the word before has one. */
static bool add_words(const struct facts *f, struct str words, int near, struct text_edits *out)
{
    const struct node *anchor = anchor_of(f, near);
    struct range r;
    if (!words.n || !anchor || !used_range(f, anchor, &r)) return false;
    struct str text = text_of(f);
    size_t start = str_line_start(text, r.from);
    struct str indent = str_slice(text, start, r.from), rest = rest_of_line(text, r.to);
    bool alone = !str_trim(indent).n && !str_ends(rest, STR("\r"));
    struct str tail = str_trim(rest);
    bool joined = str_is(tail, "\\") || (!tail.n && is_continued(text, start));
    const char *before = !alone ? " " : joined ? " \\\n" : !tail.n ? "\n" : " ";
    if (*before == ' ' && before[1] == '\0') indent.n = 0;
    push(f, out, r.to, r.to,
         arena_printf(f->arena, "%s%.*s%.*s", before, STR_ARG(indent), STR_ARG(words)));
    return true;
}

/* The value's own bytes, or the variable's where it is used for nothing else, or its use. */
static bool replace_part(const struct facts *f, const struct node *node, struct str value,
                         struct text_edits *out)
{
    struct str text = text_of(f), name = {"", 0};
    if (node->n != 1 || node->source != f->source || !value.n) return false;
    const struct node *part = node->items[0];
    if (!stands_together(f, node)) {
        size_t at = skip_blanks(text, node->to);
        struct range use = variable_use(text, at, &name);
        bool flag = str_starts(str_slice(text, node->from, text.n), STR("--"));
        if (!flag || use.to == use.from) return false;
        bool alone = part->to && part->source == f->source && count_uses(f->arena, text, name) == 1;
        if (!alone) {
            push(f, out, use.from, use.to, value);
            return true;
        }
    }
    if (!part->to || part->source != f->source) return false;
    push(f, out, part->from, part->to, value);
    return true;
}

static bool set_flag(const struct facts *f, int param, struct value v, int near,
                     struct text_edits *out)
{
    const struct fact *x = facts_get(f, param);
    struct str words = flag_words(f, param, v);
    if (!is_written(x)) return add_words(f, words, near, out);
    size_t blank = str_find(words, ' ');
    struct str now = str_slice(text_of(f), x->node->from, x->node->to);
    bool same = blank < words.n && x->node->source == f->source &&
                str_starts(now, str_slice(words, 0, blank));
    if (same) return replace_part(f, x->node, str_slice(words, blank + 1, words.n), out);
    bool silent =
        facts_default(f, param).kind != VALUE_UNKNOWN && value_eq(facts_default(f, param), v);
    return silent && rewrite_drop_words(f, x->node, out);
}

/* ---- overrides ---- */

static struct str override_value(const struct facts *f, struct value v)
{
    if (v.kind == VALUE_STRING) return is_plain_word(v.s) ? v.s : STR("");
    struct str text = value_text(f->arena, v);
    return v.kind == VALUE_LIST || v.kind == VALUE_MAP ? STR("") : text;
}

static bool set_override(const struct facts *f, int param, struct value v, int near,
                         struct text_edits *out)
{
    const struct fact *x = facts_get(f, param);
    struct str value = override_value(f, v);
    if (!value.n) return false;
    if (is_written(x)) return replace_part(f, x->node, value, out);
    struct str key = param_table[param].in[FRAMEWORK_BRIDGE]->key;
    if (!key.n) return false;
    return add_words(f, arena_printf(f->arena, "%.*s=%.*s", STR_ARG(key), STR_ARG(value)), near,
                     out);
}

/* ---- documents ---- */

static struct str yaml_value(const struct facts *f, struct value v)
{
    struct str text = value_text(f->arena, v);
    if (v.kind == VALUE_STRING) return quote_yaml(f->arena, v.s);
    return v.kind == VALUE_LIST || v.kind == VALUE_MAP ? STR("") : text;
}

/* The path under which a document has the parameter; empty: none is sure. */
static struct str path_in(const struct facts *f, int param)
{
    const struct param *p = &param_table[param];
    if (str_is(f->format, "plan")) return p->name;
    if (f->framework != FRAMEWORK_MEGATRON) return p->in[f->framework]->key;
    const struct param_flag *flag = param_flag_in(p->in[FRAMEWORK_MEGATRON], facts_release(f));
    if (!flag || !node_get(f->document, STR("MODEL_ARGS"))) return STR("");
    return arena_printf(f->arena, "MODEL_ARGS.%.*s", STR_ARG(flag->flag));
}

static bool set_in_document(const struct facts *f, int param, struct value v,
                            struct text_edits *out)
{
    const struct fact *x = facts_get(f, param);
    const struct node *map;
    size_t entry;
    struct str text = yaml_value(f, v), path = path_in(f, param);
    if (!text.n) return false;
    if (is_written(x))
        return rewrite_find_entry(f->document, x->node, &map, &entry) &&
               rewrite_value(f->diags, map, entry, text, out);
    return path.n && rewrite_add(f->diags, f->document, path, text, out);
}

/* ---- any text ---- */

bool rewrite_set(const struct facts *f, int param, struct value v, int near, struct text_edits *out)
{
    const struct param_spelling *s = param_table[param].in[f->framework];
    bool plan = str_is(f->format, "plan");
    if (!plan && (!s->known || !facts_can_say(f, param) || (s->dtype && v.kind == VALUE_STRING)))
        return false;
    if (v.kind == VALUE_UNKNOWN || v.kind == VALUE_ERROR) return false;
    if (!plan && s->inverse && v.kind == VALUE_BOOL) v.b = !v.b;
    if (f->document) return set_in_document(f, param, v, out);
    return f->framework == FRAMEWORK_BRIDGE ? set_override(f, param, v, near, out)
                                            : set_flag(f, param, v, near, out);
}

bool rewrite_unset(const struct facts *f, int param, struct text_edits *out)
{
    const struct fact *x = facts_get(f, param);
    const struct node *map;
    size_t entry;
    if (!is_written(x)) return x->origin != ORIGIN_OPTION;
    if (!f->document) return rewrite_drop_words(f, x->node, out);
    return rewrite_find_entry(f->document, x->node, &map, &entry) &&
           rewrite_remove(f->diags, map, entry, out);
}
