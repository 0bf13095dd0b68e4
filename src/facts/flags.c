/* SPDX-License-Identifier: Apache-2.0 */
/* How argparse sorts words into flags and values: Python's Lib/argparse.py, _parse_optional and
   _match_argument. */
#include "facts/flags.h"

#include <math.h>

#include "base/buf.h"
#include "base/edit.h"
#include "base/num.h"
#include "facts/check.h"
#include "facts/declared.h"
#include "facts/param_ids.h"
#include "facts/pattern.h"
#include "facts/placeholder.h"
#include "facts/profile.h"
#include "facts/program_kind.h"
#include "facts/rewrite.h"

/* ---- one flag ---- */

/* A flag of the command line being read. */
struct occurrence {
    struct facts *f;
    struct flag_word name;
    const struct flag_word *values;
    size_t n;
    int param;
    const struct param_flag *flag;
    const struct param_spelling *spelling;
};

struct str flag_of_destination(struct arena *a, struct str name)
{
    return arena_printf(a, "--%.*s", STR_ARG(str_exchange(a, name, '_', '-')));
}

struct span flag_word_span(const struct facts *f, const struct flag_word *w)
{
    if (w->node) return node_span(f->diags, w->node);
    return source_span(&f->diags->sources, w->source ? w->source : f->source, w->from, w->to);
}

struct node *flag_word_node(struct facts *f, struct str text, const struct flag_word *w)
{
    struct node *node = ARENA_NEW(f->arena, struct node);
    *node = (struct node){.kind = NODE_SCALAR,
                          .source = w->source ? w->source : f->source,
                          .line = w->line,
                          .from = w->from,
                          .to = w->to,
                          .text = text};
    return node;
}

void flag_word_bare(struct facts *f, const struct flag_word *w)
{
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "value-missing", flag_word_span(f, w),
                              "%.*s has no value", STR_ARG(w->text));
    diag_help(f->diags, d, "write %.*s=VALUE, without blanks", STR_ARG(w->text));
}

/* argparse's refusals that have no rule of their own; rules that other formats share have no covers
   in their record */
static const struct str argparse_other[] = {{"megatron:ARGPARSE-OTHER", 23}};

static struct diag *complain(struct occurrence *o, const char *rule, const struct flag_word *at,
                             struct str message)
{
    struct diag *d = diag_add(o->f->diags, SEVERITY_ERROR, rule, flag_word_span(o->f, at), "%.*s",
                              STR_ARG(message));
    if (o->param >= 0) d->parameter = param_table[o->param].name;
    if (str_is(d->rule, "value-type") || str_is(d->rule, "value-choice")) {
        d->covers = argparse_other;
        d->n_covers = 1;
    }
    *VEC_PUSH(o->f->arena, &o->f->program.doubts) =
        (struct doubt){.diag = o->f->diags->n - 1, .flag = o->name.text, .value = at->text};
    return d;
}

/* What holds of the last finding. */
static struct doubt *last_doubt(struct occurrence *o)
{
    return &o->f->program.doubts.items[o->f->program.doubts.n - 1];
}

/* A whole number as YAML files write it, 1e6 or 10.0: a program may round it. */
static bool is_whole(struct str word)
{
    double d = 0;
    return num_parse_double(word, &d) && d == floor(d);
}

static bool is_number(struct str s)
{
    double d = 0;
    return num_parse_double(s, &d);
}

/* A fork may take more choices, but none that is another one with a letter wrong. */
static bool is_misspelt(struct str word, const struct str *choices, size_t n)
{
    enum { SHORTEST = 4 }; /* a word of three letters may have lost one */
    for (size_t i = 0; i < n; i++) {
        bool enough = word.n >= SHORTEST || (word.n + 1 == SHORTEST && choices[i].n == SHORTEST);
        if (enough && edit_among(word, &choices[i], 1)) return true;
    }
    return false;
}

/* The rule of a bad value: the flag's own, else the general one. */
static const char *rule_or(const struct occurrence *o, const char *general)
{
    return o->spelling->rule.n ? o->spelling->rule.p : general;
}

/* Whether the launch parser of the facts' release has the flag. */
static bool flag_fits(const struct facts *f, const struct param_flag *flag)
{
    return !flag->program.n && flag->releases & facts_release(f);
}

/* What a release has that the table has not: it is taken, and no rule asks for it. */
static const struct profile_setting *extra_flag(const struct facts *f, struct str name)
{
    const struct profile_setting *s = profile_setting_find(FRAMEWORK_MEGATRON, name);
    return s && s->releases & facts_release(f) ? s : NULL;
}

/* A flag that another program of Megatron-LM's repository has: no finding where another script
   runs, which may be that one. Flags alone that a server knows are a server's. */
static void foreign_flag(struct occurrence *o)
{
    struct program *p = &o->f->program;
    o->param = -1;
    if (p->bare && str_is(o->flag->program, "examples/inference")) {
        p->origin = PROGRAM_OTHER;
        p->task = TASK_UNSAID;
        p->told = p->bare = false;
    }
    if (p->origin != PROGRAM_MEGATRON || p->task != TASK_TRAINING) return;
    /* the training scripts take these too where the package is installed */
    bool installed = str_is(o->flag->program, "examples/post_training/modelopt");
    if (installed && !p->told) return;
    struct diag *d = complain(
        o, "other-program-option", &o->name,
        arena_printf(o->f->arena, "%.*s is an option of %.*s, not of the pretraining scripts",
                     STR_ARG(o->name.text), STR_ARG(o->flag->program)));
    if (!p->told) d->severity = SEVERITY_WARNING;
}

/* The releases that have a flag; 0: none has. */
static uint32_t releases_of(const struct occurrence *o)
{
    if (o->flag) return o->flag->releases;
    const struct profile_setting *s = profile_setting_find(FRAMEWORK_MEGATRON, o->name.text);
    return s ? s->releases : 0;
}

/* What is said of a flag that other releases have, and what this one has in its place; empty where
   none has it. */
static struct str other_release(const struct occurrence *o)
{
    struct arena *a = o->f->arena;
    uint32_t releases = releases_of(o);
    const struct param_flag *now =
        o->spelling ? param_flag_in(o->spelling, facts_release(o->f)) : NULL;
    struct buf help = buf_new(a);
    if (o->flag && o->flag->removed.n)
        buf_add(&help, o->flag->removed);
    else if (now)
        buf_printf(&help, "write %.*s", STR_ARG(now->flag));
    if (releases)
        buf_printf(&help, "%sMegatron-LM has it %.*s, this is %.*s", help.n ? "; " : "",
                   STR_ARG(profile_span(a, FRAMEWORK_MEGATRON, releases)), STR_ARG(o->f->version));
    return buf_str(&help);
}

static void unknown_flag(struct occurrence *o)
{
    struct facts *f = o->f;
    if (o->name.maybe) return;
    if (o->flag && o->flag->program.n) {
        foreign_flag(o);
        return;
    }
    const struct param_flag *now =
        o->spelling ? param_flag_in(o->spelling, facts_release(f)) : NULL;
    bool renamed = now && o->flag && now->nargs_max == o->flag->nargs_max && !o->flag->removed.n;
    struct flag_word *kept = ARENA_ARRAY(f->arena, struct flag_word, o->n + 1);
    for (size_t i = 0; i < o->n; i++)
        kept[i] = o->values[i];
    *VEC_PUSH(f->arena, &f->program.strangers) =
        (struct stranger){.at = flag_word_span(f, &o->name),
                          .name = o->name.text,
                          .gone = other_release(o),
                          .values = kept,
                          .n_values = o->n,
                          .instead = renamed ? now->flag : (struct str){"", 0}};
    o->param = -1;
    facts_add_raw(f, o->name.text, o->n ? value_string(o->values[0].text) : value_bool(true));
}

static bool convert(struct arena *a, enum param_type type, struct str text, struct value *out)
{
    switch (type) {
    case PARAM_INT: *out = value_int(0); return python_int(text, &out->i);
    case PARAM_DOUBLE: *out = value_double(0); return python_float(text, &out->d);
    case PARAM_PATTERN: return pattern_parse(a, text, out);
    case PARAM_TUPLE: return pattern_parse_tuple(a, text, out);
    case PARAM_BOOL:
    case PARAM_STRING:
    case PARAM_LIST:
    case PARAM_MAP:
    case PARAM_ANY: *out = value_string(text); return true;
    }
    return false;
}

static void complain_of_size(struct occurrence *o, const struct flag_word *word, struct str wrong)
{
    struct diag *d = complain(o, "size-below-zero", word, wrong);
    last_doubt(o)->plain = true;
    diag_help(o->f->diags, d, "%.*s", STR_ARG(param_table[o->param].doc));
}

/* A value of the flag's type and choices; unknown, with an error, when it is not. */
static struct value read_value(struct occurrence *o, enum param_type type,
                               const struct flag_word *word)
{
    struct value v = value_unknown();
    struct arena *a = o->f->arena;
    if (word->dynamic) return v;
    if (placeholder_is(word->text)) {
        placeholder_note(o->f, flag_word_span(o->f, word), word->text);
        bool any_text = o->spelling->type == PARAM_STRING && !o->spelling->n_choices;
        return any_text ? value_string(word->text) : v;
    }
    if (!convert(a, type, word->text, &v)) {
        complain(o, rule_or(o, "value-type"), word,
                 arena_printf(a, "%.*s takes %s, not '%.*s'", STR_ARG(o->name.text),
                              param_type_words(type), STR_ARG(word->text)));
        last_doubt(o)->plain =
            param_type_is_number(type) && !(o->name.node && is_whole(word->text));
        last_doubt(o)->real = type == PARAM_INT && is_number(word->text);
        return value_unknown();
    }
    struct str wrong = value_size_error(a, o->param, o->name.text, v);
    if (wrong.n) complain_of_size(o, word, wrong);
    size_t n = o->spelling->n_choices;
    const struct str *choices = o->spelling->choices; /* of a flag that a user declares */
    if (o->param >= 0) choices = facts_choices(o->f, o->param, &n);
    if (!n || str_among(type == PARAM_INT ? value_text(a, v) : word->text, choices, n)) return v;
    struct diag *d = complain(
        o, rule_or(o, "value-choice"), word,
        arena_printf(a, "%.*s does not take '%.*s'", STR_ARG(o->name.text), STR_ARG(word->text)));
    last_doubt(o)->plain = is_misspelt(word->text, choices, n);
    last_doubt(o)->choice = true;
    diag_choices(o->f->diags, d, word->text, choices, n);
    return value_unknown();
}

static struct value read_values(struct occurrence *o)
{
    enum param_type type = o->spelling->type;
    bool list = type == PARAM_LIST;
    if (list && o->spelling->item_type != PARAM_ANY) type = o->spelling->item_type;
    if (!list) return o->n ? read_value(o, type, &o->values[0]) : value_null();
    struct value *items = ARENA_ARRAY(o->f->arena, struct value, o->n);
    bool known = true;
    for (size_t i = 0; i < o->n; i++) {
        items[i] = read_value(o, type, &o->values[i]);
        known = known && items[i].kind != VALUE_UNKNOWN;
    }
    if (!known) return value_unknown();
    bool single = param_table[o->param].type == PARAM_ANY && o->n == 1;
    return single ? items[0] : value_list_of(o->f->arena, items, o->n);
}

static struct value value_of(struct occurrence *o)
{
    switch (o->flag->action) {
    case FLAG_TRUE: return value_bool(true);
    case FLAG_FALSE: return value_bool(false);
    case FLAG_CONST: return o->flag->constant;
    case FLAG_STORE:
    case FLAG_APPEND: return read_values(o);
    }
    return value_unknown();
}

/* "--switch true" is the switch alone. */
static void drop_value(struct occurrence *o, struct diag *d)
{
    const struct flag_word *w = &o->values[0];
    bool on = str_eq_nocase(w->text, STR("true")) || str_is(w->text, "1");
    if (!on || w->node || w->part_source != d->at.source || w->part_from < o->name.to) return;
    diag_edit(o->f->diags, d, o->name.to, w->part_to, (struct str){"", 0});
    d->safe = true;
}

/* Whether the number of values is one that the flag takes. */
static bool check_count(struct occurrence *o)
{
    const struct param_flag *flag = o->flag;
    struct arena *a = o->f->arena;
    bool dynamic = false;
    for (size_t i = 0; i < o->n; i++)
        dynamic = dynamic || o->values[i].dynamic;
    if (dynamic || (o->n >= (size_t)flag->nargs_min &&
                    (flag->nargs_max < 0 || o->n <= (size_t)flag->nargs_max)))
        return true;
    if (flag->nargs_max == 0) {
        struct diag *d =
            complain(o, "value-for-switch", &o->values[0],
                     arena_printf(a, "%.*s is a switch and takes no value", STR_ARG(o->name.text)));
        struct str said = o->values[0].text; /* of a document: no number but 0 and 1 is a truth */
        bool number = is_number(said) && !str_is_any(said, "0|1");
        last_doubt(o)->plain = o->name.node && (number || is_misspelt(said, truths, N_TRUTHS));
        diag_help(o->f->diags, d, "leave out '%.*s'", STR_ARG(o->values[0].text));
        drop_value(o, d);
        return false;
    }
    if (o->n > (size_t)flag->nargs_min) {
        complain(o, "value-unexpected", &o->values[flag->nargs_max],
                 arena_printf(a, "'%.*s' is one value too many for %.*s",
                              STR_ARG(o->values[flag->nargs_max].text), STR_ARG(o->name.text)));
        /* a fork's parser may take several, a list in YAML is one value */
        last_doubt(o)->plain = o->name.node && param_type_is_number(o->spelling->type);
        return true;
    }
    complain(o, "value-missing", &o->name,
             arena_printf(a, "%.*s needs %d value%s, not %zu", STR_ARG(o->name.text),
                          flag->nargs_min, flag->nargs_min == 1 ? "" : "s", o->n));
    last_doubt(o)->plain = param_type_is_number(o->spelling->type);
    return false;
}

/* Lines between a flag and its last value up to which both are shown. */
enum { MOST_LINES = 8 };

/* The values as nodes of their own, where they stand. */
static struct node **value_nodes(struct occurrence *o)
{
    struct node **items = ARENA_ARRAY(o->f->arena, struct node *, o->n + 1);
    for (size_t i = 0; i < o->n; i++) {
        const struct flag_word *w = &o->values[i];
        items[i] = ARENA_NEW(o->f->arena, struct node);
        *items[i] = (struct node){
            .source = w->part_source, .from = w->part_from, .to = w->part_to, .text = w->text};
    }
    return items;
}

/* A node that spans the flag and its values, so that findings point at them. */
static const struct node *make_node(struct occurrence *o)
{
    if (o->name.node) return o->n && o->values[0].node ? o->values[0].node : o->name.node;
    struct node *node = ARENA_NEW(o->f->arena, struct node);
    const struct flag_word *last = o->n ? &o->values[o->n - 1] : &o->name;
    bool together = last->from >= o->name.to && last->line <= o->name.line + MOST_LINES &&
                    last->source == o->name.source;
    *node = (struct node){.source = o->name.source ? o->name.source : o->f->source,
                          .line = o->name.line,
                          .from = o->name.from,
                          .to = together ? last->to : o->name.to,
                          .n = o->n,
                          .items = value_nodes(o),
                          .text = o->n ? o->values[0].text : o->name.text};
    return node;
}

/* The flag goes, with its values. */
static bool drop(struct occurrence *o, struct diag *d)
{
    return !o->name.node && rewrite_drop_words(o->f, make_node(o), &d->edits);
}

/* "write --x" and "write --x y; and why": the words; empty: it says something else. */
static struct str words_instead(struct str text)
{
    struct str mark = STR("write ");
    struct str words = str_slice(text, mark.n, str_find(text, ';'));
    return str_starts(text, STR("write --")) ? str_trim(words) : (struct str){"", 0};
}

/* Whether the file has said by then what the words "--x y" say. */
static bool is_said(struct occurrence *o, int param, struct str value)
{
    const struct fact *x = facts_get(o->f, param);
    bool one = value.n && str_find(value, ' ') == value.n;
    return one && x->origin == ORIGIN_FILE && str_eq(value_text(o->f->arena, x->value), value);
}

/* The flag's own bytes become other words: where it stands as it is, and takes what they take. As
   the key of a mapping it cannot bring a value, and what is said already needs no words. */
static void write_instead(struct occurrence *o, struct diag *d, struct str words)
{
    size_t from, to;
    const struct param_flag *flag = NULL;
    struct str name = str_slice(words, 0, str_find(words, ' '));
    int param = param_find_key(FRAMEWORK_MEGATRON, name, &flag);
    struct str text = source_bytes(&o->f->diags->sources, d->at, &from, &to);
    bool whole = name.n < words.n; /* the words bring their values */
    bool same = whole ? o->flag->nargs_max == 0
                      : param == o->param && flag->nargs_max == o->flag->nargs_max;
    if (param < 0 || !flag_fits(o->f, flag) || !same || !str_starts(text, o->name.text)) return;
    if (whole && o->name.node) return;
    if (whole && is_said(o, param, str_trim(str_slice(words, name.n, words.n)))) {
        d->safe = drop(o, d);
        return;
    }
    diag_edit(o->f->diags, d, from, from + o->name.text.n, words);
    d->safe = true;
}

static void note_deprecated(struct occurrence *o)
{
    if (!facts_flag_is_deprecated(o->f, o->spelling, o->flag)) return;
    struct diag *d =
        complain(o, "flag-deprecated", &o->name,
                 arena_printf(o->f->arena, "%.*s is deprecated", STR_ARG(o->name.text)));
    d->severity = SEVERITY_WARNING;
    diag_help(o->f->diags, d, "%.*s", STR_ARG(o->flag->deprecated));
    struct str words = words_instead(o->flag->deprecated);
    if (words.n)
        write_instead(o, d, words);
    else if (str_starts(o->flag->deprecated, STR("has no effect")))
        d->safe = drop(o, d);
}

/* The same flag again with another value: the last one wins, and the first is most likely
   forgotten. */
static void note_repeated(struct occurrence *o, struct value v)
{
    const struct fact *old = facts_get(o->f, o->param);
    struct arena *a = o->f->arena;
    if (old->origin != ORIGIN_FILE || !str_eq(old->written, o->name.text)) return;
    if (old->value.kind == VALUE_UNKNOWN || v.kind == VALUE_UNKNOWN || value_eq(old->value, v))
        return;
    struct diag *d =
        complain(o, "flag-repeated", &o->name,
                 arena_printf(a, "%.*s is given twice: %.*s wins over %.*s at line %u",
                              STR_ARG(o->name.text), STR_ARG(value_text(a, v)),
                              STR_ARG(value_text(a, old->value)), old->node ? old->node->line : 0));
    d->severity = SEVERITY_WARNING;
    /* of two sections each may have its own */
    last_doubt(o)->plain = o->f->program.kind ? o->f->program.kind->n_commands > 0 : !o->name.node;
    if (old->node && !o->name.node) d->safe = rewrite_drop_words(o->f, old->node, &d->edits);
}

static void set_fact(struct occurrence *o)
{
    struct value v = fact_coerce(o->f->arena, o->param, value_of(o));
    note_repeated(o, v);
    const struct node *node = make_node(o);
    facts_set(o->f, o->param, v, ORIGIN_FILE, node, o->name.text);
    bool here = o->n && o->values[0].source == o->name.source;
    uint32_t set_line = here ? o->values[0].set_line : 0;
    facts_change(o->f, o->param)->line = set_line == node->line ? 0 : set_line;
    facts_add_raw(o->f, o->name.text, v);
}

/* The flag may or may not be there: its values are wrong where it is. */
static void forget_fact(struct occurrence *o)
{
    if (check_count(o)) value_of(o);
    facts_set(o->f, o->param, value_unknown(), ORIGIN_FILE, make_node(o), o->name.text);
    facts_add_raw(o->f, o->name.text, value_unknown());
}

/* A fork's own: no fact, but its values are checked, and rules of the user's see them. */
static void declared_flag(struct occurrence *o, const struct param *p)
{
    o->spelling = p->in[FRAMEWORK_MEGATRON];
    if (o->name.maybe || !check_count(o)) return;
    bool one = o->n == 1 && o->spelling->type != PARAM_LIST;
    struct value v = one ? read_value(o, o->spelling->type, &o->values[0]) : value_bool(true);
    facts_add_raw(o->f, o->name.text, v);
}

/* That the program has a flag which these releases have; 0: no release has it. One that is gone by
   now is nobody's own. */
static void note_releases(struct facts *f, uint32_t releases)
{
    struct program *p = &f->program;
    bool gone = !(releases & facts_release(f));
    if (!releases) return;
    p->lacking_more |= gone ? ~releases : p->lacking & ~releases;
    p->lacking |= ~releases;
}

void flags_apply_found(struct facts *f, struct flag_word name, int param,
                       const struct param_flag *flag, const struct flag_word *values, size_t n)
{
    struct occurrence o = {
        .f = f, .name = name, .values = values, .n = n, .param = param, .flag = flag};
    if (o.param >= 0) o.spelling = param_table[o.param].in[FRAMEWORK_MEGATRON];
    note_releases(f, releases_of(&o));
    if (o.param < 0 || !flag_fits(f, o.flag)) {
        const struct param *p = declared_find(f->declared, name.text, &flag);
        o.param = p ? -1 : o.param;
        o.flag = flag;
        if (p)
            declared_flag(&o, p);
        else if (!extra_flag(f, name.text))
            unknown_flag(&o);
        return;
    }
    if (name.maybe) {
        forget_fact(&o);
        return;
    }
    note_deprecated(&o);
    if (check_count(&o)) set_fact(&o);
}

/* ---- the command line ---- */

/* Whether argparse takes the word for a flag: it begins with a dash and is no number, and has no
   blank unless it is one. */
static bool is_flag(const struct flag_word *w)
{
    struct str s = str_slice(w->text, 0, w->known);
    if (s.n < 2 || s.p[0] != '-') return false;
    if (param_find_key(FRAMEWORK_MEGATRON, s, NULL) >= 0) return true;
    struct str head = str_slice(s, 0, str_find(s, '='));
    if (head.n < s.n && param_find_key(FRAMEWORK_MEGATRON, head, NULL) >= 0) return true;
    return !is_number(s) && str_find(s, ' ') == s.n;
}

/* "--flag=value" in two words. */
static bool split_equals(struct flag_word *name, struct flag_word *value)
{
    size_t eq = str_find(name->text, '=');
    if (eq == name->text.n || eq > name->known) return false;
    *value = *name;
    value->text = str_slice(name->text, eq + 1, name->text.n);
    value->known = name->known - eq - 1;
    name->text = str_slice(name->text, 0, eq);
    name->known = eq;
    name->dynamic = false;
    return true;
}

/* A script that another is handed to, a profiler's say. */
static bool is_script(const struct facts *f, const struct flag_word *w)
{
    return str_ends(f->program.script, STR(".py")) && str_ends(w->text, STR(".py"));
}

static void stray_word(struct facts *f, const struct flag_word *w)
{
    if (is_script(f, w)) return;
    diag_add(f->diags, SEVERITY_ERROR, "value-unexpected", flag_word_span(f, w),
             "'%.*s' belongs to no flag", STR_ARG(w->text));
    *VEC_PUSH(f->arena, &f->program.doubts) =
        (struct doubt){.diag = f->diags->n - 1, .value = w->text};
}

/* A word of which nothing is known may be any number of flags; one that goes on as a path, as
   $DIR/train.jsonl does, is a value. */
static bool may_be_flags(const struct flag_word *w)
{
    return w->dynamic && w->known == 0 && !(w->text.n > 1 && w->text.p[1] == '/');
}

/* Whether a flag that Megatron-LM lacks is one of another program's that takes one value, in all of
   those that have it: what stands behind it is no flag, whatever it is. */
static bool is_others_value(struct str flag)
{
    bool one = false;
    for (uint32_t i = 0; i < program_kind_count; i++) {
        const struct program_setting *own = program_kind_own(&program_kinds[i], flag);
        if (!own) continue;
        one = !own->alone && !own->list &&
              (param_type_is_number(own->type) || own->type == PARAM_STRING);
        if (!one) return false;
    }
    return one;
}

bool flag_word_is_override(struct str word)
{
    while (word.n && word.p[0] == '+')
        word = str_slice(word, 1, word.n);
    struct str name = str_slice(word, 0, str_find(word, '='));
    for (size_t i = 0; i < name.n; i++)
        if (i == 0 ? name.p[i] == '-' || !str_is_name_char(name.p[i])
                   : name.p[i] != '.' && !str_is_name_char(name.p[i]))
            return false;
    return name.n < word.n && str_find(name, '.') < name.n;
}

/* Values of the flag at words[at]: those that follow, up to as many as it takes, at least one more
   when there are. */
static size_t count_values(const struct facts *f, const struct flag_words *words, size_t at)
{
    struct str name = words->items[at].text;
    const struct param_flag *flag = NULL;
    const struct profile_setting *extra = extra_flag(f, name);
    size_t n = 0;
    bool known = param_find_key(FRAMEWORK_MEGATRON, name, &flag) >= 0 ||
                 declared_find(f->declared, name, &flag) || extra;
    int most = flag ? flag->nargs_max : extra ? extra->nargs_max : 0;
    while (at + 1 + n < words->n && !is_flag(&words->items[at + 1 + n])) {
        const struct flag_word *w = &words->items[at + 1 + n];
        if (known && most > 0 && n == (size_t)most) break;
        bool may_be_more = !known || most == 0; /* than one value of this flag */
        if (!known && n == 0 && w->dynamic && is_others_value(name)) return 1;
        if (may_be_more && may_be_flags(w)) break;
        if (known && most == 0 && flag_word_is_override(w->text)) break;
        n++;
        if (known && most == 0) break;
    }
    return n;
}

static void apply_one(struct facts *f, struct flag_word name, const struct flag_word *values,
                      size_t n)
{
    const struct param_flag *flag = NULL;
    int param = param_find_key(FRAMEWORK_MEGATRON, name.text, &flag);
    flags_apply_found(f, name, param, flag, values, n);
}

void flags_apply(struct facts *f, const struct flag_words *words)
{
    bool open = false;
    for (size_t i = 0; i < words->n; i++) {
        struct flag_word name = words->items[i], value;
        if (may_be_flags(&name)) {
            open = true;
        } else if (!is_flag(&name)) {
            if (!name.maybe && !name.dynamic) stray_word(f, &name);
        } else if (split_equals(&name, &value)) {
            apply_one(f, name, &value, 1);
        } else if (name.dynamic) {
            open = true;
        } else {
            size_t n = count_values(f, words, i);
            apply_one(f, name, &words->items[i + 1], n);
            i += n;
        }
    }
    if (open) facts_forget_defaults(f);
}
