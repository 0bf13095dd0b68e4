/* SPDX-License-Identifier: Apache-2.0 */
#include "release_tables.h"

#include "base/ctext.h"
#include "base/sort.h"
#include "facts/profile.h"

static const struct release *newest(const struct releases *all, enum framework framework)
{
    for (size_t i = 0; i < all->items.n; i++)
        if (all->items.items[i]->framework == framework) return all->items.items[i];
    return NULL;
}

/* Whether the settings of a framework have been imported. */
static bool is_imported(const struct releases *all, enum framework framework)
{
    const struct release *r = newest(all, framework);
    return r && r->settings.n;
}

/* ---- which release has what ---- */

static void mark_flags(const struct releases *all, const struct param *p)
{
    const struct param_spelling *s = p->in[FRAMEWORK_MEGATRON];
    for (size_t i = 0; i < s->n_flags; i++) {
        struct param_flag *flag = (struct param_flag *)(uintptr_t)&s->flags[i];
        if (flag->program.n) continue;
        flag->releases = releases_with(all, FRAMEWORK_MEGATRON, flag->flag);
        if (!flag->releases && !flag->removed.n)
            diag_add(all->diags, SEVERITY_ERROR, "release-file", (struct span){0},
                     "no release has %.*s: say that it is removed, or whose program it is of",
                     STR_ARG(flag->flag));
    }
}

/* Whether a release's importer read the class that a key would be a field of: a section's own
   fields, all but the model's, whose providers differ. */
static bool is_in_imported_class(const struct releases *all, enum framework framework,
                                 struct str key)
{
    const struct release *r = newest(all, framework);
    size_t dot = str_find(key, '.');
    bool field = dot < key.n && str_find(str_slice(key, dot + 1, key.n), '.') == key.n - dot - 1;
    struct str section = str_slice(key, 0, dot + 1);
    if (framework != FRAMEWORK_BRIDGE || !field || str_eq(section, STR("model."))) return false;
    for (size_t i = 0; r && i < r->settings.n; i++)
        if (str_starts(r->settings.items[i].key, section)) return true;
    return false;
}

static void check_key(const struct releases *all, enum framework framework, struct str key)
{
    if (is_in_imported_class(all, framework, key) && !releases_with(all, framework, key))
        diag_add(all->diags, SEVERITY_ERROR, "release-file", (struct span){0},
                 "no release has %.*s: who writes it is refused", STR_ARG(key));
}

/* The releases that have what a key is a field of: of deeper ones the importer lists the section.
 */
static uint32_t releases_around(const struct releases *all, enum framework framework,
                                struct str key)
{
    size_t n = key.n;
    while (n > 0 && key.p[n - 1] != '.')
        n--;
    return n > 1 ? releases_with(all, framework, str_slice(key, 0, n - 1)) : 0;
}

/* A key that the importer did not see in any release, such as one of a model's own provider, may be
   in all. */
static void mark_key(const struct releases *all, const struct param *p, enum framework framework)
{
    if (!p->in[framework]->known) return;
    struct param_spelling *s = (struct param_spelling *)(uintptr_t)p->in[framework];
    uint32_t *of = ARENA_ARRAY(all->arena, uint32_t, s->n_more_keys + 1u), bits = 0;
    for (size_t i = 0; s->key.n && i <= s->n_more_keys; i++) {
        struct str key = i ? s->more_keys[i - 1] : s->key;
        uint32_t has = releases_with(all, framework, key);
        of[i] = has ? has : releases_around(all, framework, key);
        if (!of[i] && !is_in_imported_class(all, framework, key)) of[i] = RELEASES_ALL;
        bits |= has;
    }
    if (s->n_more_keys) s->key_releases = of;
    if (bits) s->releases = bits;
    check_key(all, framework, s->key);
    for (size_t i = 0; i < s->n_also; i++)
        check_key(all, framework, s->also[i]);
    for (size_t i = 0; i < s->n_unset; i++)
        check_key(all, framework, s->unset[i]);
}

void release_tables_mark(const struct releases *all, const struct param_list *params)
{
    for (size_t i = 0; i < params->n; i++) {
        const struct param *p = &params->items[i];
        if (is_imported(all, FRAMEWORK_MEGATRON)) mark_flags(all, p);
        mark_key(all, p, FRAMEWORK_BRIDGE);
        mark_key(all, p, FRAMEWORK_AUTOMODEL);
    }
}

/* ---- what a release says of a parameter ---- */

/* The setting of the parameter in a release that carries its default and choices: of the flag that
   is not on its way out, where the release has that. */
static const struct node *setting_of(const struct release *r, const struct param *p)
{
    const struct param_spelling *s = p->in[r->framework];
    const struct node *found = s->key.n ? release_get(r, s->key) : NULL;
    for (size_t i = 0; i < s->n_flags; i++) {
        const struct param_flag *flag = &s->flags[i];
        const struct node *has = release_get(r, flag->flag);
        if (!has || flag->action == FLAG_CONST || flag->program.n) continue;
        if (!found || !flag->deprecated.n) found = has;
        if (!flag->deprecated.n) break;
    }
    return found;
}

/* A default in the form of the table's; VALUE_UNKNOWN where only running the source would tell. */
static struct value default_of(struct arena *a, const struct param *p, const struct node *setting)
{
    const struct node *node = node_get(setting, STR("default"));
    if (!node) return value_null();
    if (node->kind == NODE_MAP) return value_unknown();
    struct value v = node_value(a, node, SCALAR_CORE);
    if (p->type == PARAM_DOUBLE && v.kind == VALUE_INT) return value_double((double)v.i);
    if (p->type == PARAM_LIST && v.kind == VALUE_STRING) return value_list_of(a, &v, 1);
    return v;
}

static size_t choices_of(struct arena *a, const struct node *setting, const struct str **out)
{
    const struct node *node = node_get(setting, STR("choices"));
    if (!node || node->kind != NODE_LIST) return 0;
    struct str *items = ARENA_ARRAY(a, struct str, node->n);
    size_t n = 0;
    for (size_t i = 0; i < node->n; i++)
        if (node->items[i]->quoted || !str_is(node->items[i]->text, "null"))
            items[n++] = node->items[i]->text;
    *out = items;
    return n;
}

/* Whether two lists hold the same, in any order. */
static bool same_choices(const struct str *a, size_t n_a, const struct str *b, size_t n_b)
{
    bool same = n_a == n_b;
    for (size_t i = 0; same && i < n_a; i++)
        same = str_among(a[i], b, n_b);
    return same;
}

/* ---- the newest release against the table ---- */

static void disagree(const struct releases *all, const struct param *p, const char *what,
                     struct str ours, struct str theirs)
{
    diag_add(all->diags, SEVERITY_ERROR, "release-file", (struct span){0},
             "%.*s: its %s in rules/parameters is %.*s, in the newest release %.*s",
             STR_ARG(p->name), what, STR_ARG(ours), STR_ARG(theirs));
}

static void check_default(const struct releases *all, const struct param *p,
                          const struct node *setting, enum framework framework)
{
    struct value ours = p->in[framework]->default_value,
                 theirs = default_of(all->arena, p, setting);
    if (ours.kind == VALUE_UNKNOWN || theirs.kind == VALUE_UNKNOWN) return;
    if (p->in[framework]->inverse && theirs.kind == VALUE_BOOL) theirs.b = !theirs.b;
    if (!value_eq(ours, theirs))
        disagree(all, p, "default", value_text(all->arena, ours), value_text(all->arena, theirs));
}

static void check_choices(const struct releases *all, const struct param *p,
                          const struct node *setting, enum framework framework)
{
    const struct param_spelling *s = p->in[framework];
    const struct str *items = NULL;
    size_t n = choices_of(all->arena, setting, &items);
    if (n && !same_choices(s->choices, s->n_choices, items, n))
        disagree(all, p, "choices", str_joined(all->arena, s->choices, s->n_choices),
                 str_joined(all->arena, items, n));
}

static bool in_table(const struct param_list *params, enum framework framework, struct str key)
{
    for (size_t i = 0; i < params->n; i++) {
        const struct param_spelling *s = params->items[i].in[framework];
        if (str_eq(s->key, key) || str_among(key, s->more_keys, s->n_more_keys)) return true;
        for (size_t k = 0; k < s->n_flags; k++)
            if (str_eq(s->flags[k].flag, key)) return true;
    }
    return false;
}

/* Every flag of the launch parser is in the table: its values are read and checked there. */
static void check_flags(const struct releases *all, const struct param_list *params)
{
    const struct release *r = newest(all, FRAMEWORK_MEGATRON);
    for (size_t i = 0; r && i < r->settings.n; i++) {
        struct str key = r->settings.items[i].key;
        if (r->settings.items[i].value && !in_table(params, FRAMEWORK_MEGATRON, key))
            diag_add(all->diags, SEVERITY_ERROR, "release-file", (struct span){0},
                     "%.*s is in no file of rules/parameters", STR_ARG(key));
    }
}

void release_tables_check(const struct releases *all, const struct param_list *params)
{
    const struct release *r = newest(all, FRAMEWORK_MEGATRON);
    check_flags(all, params);
    for (size_t i = 0; r && i < params->n; i++) {
        const struct node *setting = setting_of(r, &params->items[i]);
        if (!setting) continue;
        check_default(all, &params->items[i], setting, FRAMEWORK_MEGATRON);
        check_choices(all, &params->items[i], setting, FRAMEWORK_MEGATRON);
    }
}

/* ---- what older releases have otherwise ---- */

struct writer {
    const struct releases *all;
    struct buf *out;
    const struct release *release; /* of the row */
    const struct param *param;
    size_t number;  /* of the parameter */
    uint32_t n;     /* rows so far */
    uint32_t *ends; /* of each release: the rows up to its last */
};

/* A switch that some release turned round says nothing about the other's default. */
static bool same_action(const struct node *now, const struct node *then)
{
    const struct node *a = node_get(now, STR("action")), *b = node_get(then, STR("action"));
    return !a == !b && (!a || str_eq(a->text, b->text));
}

static void write_default(struct writer *w, const struct node *now, const struct node *then)
{
    struct value a = default_of(w->all->arena, w->param, now),
                 b = default_of(w->all->arena, w->param, then);
    if (a.kind == VALUE_UNKNOWN || b.kind == VALUE_UNKNOWN || value_eq(a, b)) return;
    if (!same_action(now, then)) return;
    buf_printf(w->out, "{%zu,", w->number);
    ctext_value(w->out, b);
    buf_printf(w->out, "},\n");
    w->n++;
}

static void write_choices(struct writer *w, const struct node *now, const struct node *then)
{
    const struct str *a = NULL, *b = NULL;
    size_t n_a = choices_of(w->all->arena, now, &a), n_b = choices_of(w->all->arena, then, &b);
    if (!n_b || same_choices(a, n_a, b, n_b)) return;
    buf_printf(w->out, "{%d,%zu,1u<<%u,(const struct str[]){", (int)w->release->framework,
               w->number, release_number(w->all, w->release));
    for (size_t i = 0; i < n_b; i++) {
        ctext_str(w->out, b[i]);
        buf_add_char(w->out, ',');
    }
    buf_printf(w->out, "},%zu},\n", n_b);
    w->n++;
}

typedef void write_row(struct writer *w, const struct node *now, const struct node *then);

/* A row for every parameter and older release that the newest one differs from. */
static void write_changes(struct writer *w, const struct param_list *params, const char *type,
                          const char *name, write_row *row)
{
    buf_printf(w->out, "const struct %s %s[] = {\n", type, name);
    for (size_t i = 0; i < w->all->items.n; i++) {
        const struct release *r = w->all->items.items[i], *last = newest(w->all, r->framework);
        for (size_t k = 0; r != last && k < params->n; k++) {
            const struct node *now = setting_of(last, &params->items[k]),
                              *then = setting_of(r, &params->items[k]);
            w->release = r;
            w->param = &params->items[k];
            w->number = k;
            if (now && then) row(w, now, then);
        }
        w->ends[i] = w->n;
    }
    buf_printf(w->out, "{.param=-1}};\n"); /* no table is empty */
}

/* ---- settings that the table has not ---- */

struct extra {
    enum framework framework;
    struct str key;
    const struct node *value;
};

static int by_key(const void *a, const void *b)
{
    const struct extra *x = a, *y = b;
    if (x->framework != y->framework) return x->framework < y->framework ? -1 : 1;
    return str_cmp(x->key, y->key);
}

static void write_nargs(struct buf *out, const struct node *value)
{
    const struct node *nargs = node_get(value, STR("nargs")),
                      *action = node_get(value, STR("action"));
    int least = 1, most = 1;
    if (action && str_starts(action->text, STR("store_"))) least = most = 0;
    if (nargs && (str_is(nargs->text, "+") || str_is(nargs->text, "*")))
        least = str_is(nargs->text, "+"), most = -1;
    else if (nargs && str_is(nargs->text, "?"))
        least = 0;
    else if (nargs)
        least = most = nargs->text.p[0] - '0';
    buf_printf(out, "%d,%d},\n", least, most);
}

static void write_extras(struct writer *w, const struct param_list *params)
{
    VEC(struct extra) extras = {0};
    struct map seen[FRAMEWORK_COUNT] = {0};
    for (size_t i = 0; i < w->all->items.n; i++) {
        const struct release *r = w->all->items.items[i];
        if (r->framework == FRAMEWORK_AUTOMODEL) continue; /* whose keys nobody looks up */
        for (size_t k = 0; k < r->settings.n; k++) {
            struct extra x = {r->framework, r->settings.items[k].key, r->settings.items[k].value};
            if (!x.value || !map_put(w->all->arena, &seen[x.framework], x.key, 0)) continue;
            if (!in_table(params, x.framework, x.key)) *VEC_PUSH(w->all->arena, &extras) = x;
        }
    }
    sort_items(extras.items, extras.n, sizeof *extras.items, by_key);
    buf_printf(w->out, "const struct profile_setting profile_settings[] = {\n");
    for (size_t i = 0; i < extras.n; i++) {
        const struct extra *x = &extras.items[i];
        buf_printf(w->out, "{%d,", (int)x->framework);
        ctext_str(w->out, x->key);
        buf_printf(w->out, ",0x%x,", releases_with(w->all, x->framework, x->key));
        write_nargs(w->out, x->value);
    }
    buf_printf(w->out,
               "{.framework=FRAMEWORK_COUNT}};\nconst uint32_t profile_settings_count = %zu;\n",
               extras.n);
}

/* ---- the tables ---- */

static void write_profiles(struct writer *w)
{
    buf_printf(w->out, "const struct profile profile_table[] = {\n");
    for (size_t i = 0; i < w->all->items.n; i++) {
        const struct release *r = w->all->items.items[i];
        const struct str texts[] = {r->version, r->commit, r->date, r->transformer_engine,
                                    r->torch};
        buf_printf(w->out, "{%d,", (int)r->framework);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            ctext_str(w->out, texts[k]);
            buf_add_char(w->out, ',');
        }
        uint32_t first = i ? w->ends[i - 1] : 0;
        buf_printf(w->out, "1u<<%u,profile_defaults+%u,%u},\n", release_number(w->all, r), first,
                   w->ends[i] - first);
    }
    buf_printf(w->out, "};\nconst uint32_t profile_table_count = %zu;\n", w->all->items.n);
}

void release_tables_write(const struct releases *all, const struct param_list *params,
                          struct buf *out)
{
    struct writer w = {
        .all = all, .out = out, .ends = ARENA_ARRAY(all->arena, uint32_t, all->items.n)};
    buf_add(out, STR("static "));
    write_changes(&w, params, "profile_default", "profile_defaults", write_default);
    write_profiles(&w);
    w.n = 0;
    write_changes(&w, params, "profile_choices", "profile_choices_table", write_choices);
    buf_printf(out, "const uint32_t profile_choices_count = %u;\n", w.n);
    write_extras(&w, params);
}
