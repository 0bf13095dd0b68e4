/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/strangers.h"

#include "base/edit.h"
#include "facts/facts.h"
#include "facts/flags.h"
#include "facts/placeholder.h"
#include "facts/program_kind.h"
#include "facts/repeated.h"

/* ---- nearest names ---- */

/* Whether one name is the other but for a slip: what differs more is another flag. A dash for an
   underscore is none, nor is a capital. */
static bool is_slip(struct arena *a, struct str name, struct str near)
{
    enum { LONG = 18 };
    size_t most = name.n >= LONG ? 2 : 1;
    struct str plain = str_exchange(a, str_lower(a, name), '_', '-');
    return edit_is_slip(plain, str_exchange(a, str_lower(a, near), '_', '-'), most);
}

/* Looking for the nearest of two thousand names takes long: enough for the first findings. */
enum { MOST_SUGGESTIONS = 32 };

static struct str find_nearest(const struct facts *f, const struct stranger *s, size_t number)
{
    struct str none = {"", 0};
    if (s->gone.n || number + f->diags->n >= MOST_SUGGESTIONS) return none;
    if (!str_starts(s->name, STR("-"))) return param_nearest(s->name);
    struct str plain = str_lower(f->arena, s->name);
    bool there = param_find_key(FRAMEWORK_MEGATRON, plain, NULL) >= 0; /* in other letters */
    return there ? plain : param_nearest_key(FRAMEWORK_MEGATRON, s->name);
}

/* The name that a stranger may be a slip of, looked for when it is first asked for; `near` has one
   for each stranger, zeroed. */
static struct str nearest(const struct facts *f, struct str *near, size_t i)
{
    if (near[i].p) return near[i];
    size_t sought = 0;
    for (size_t k = 0; k < f->program.strangers.n; k++)
        sought += near[k].p != NULL;
    struct str found = find_nearest(f, &f->program.strangers.items[i], sought);
    return near[i] = found.n ? found : (struct str){"", 0};
}

/* Whether Megatron-LM had the flag once: then it is no slip. */
bool stranger_was_there(struct str name)
{
    const struct program_kind *former = program_kind_named("megatron-former");
    return former && program_kind_has(former, name);
}

/* Whether a program of rules/programs has the flag: it is that one's, not a slip. */
static bool is_elsewhere(struct str name)
{
    for (uint32_t i = 0; i < program_kind_count; i++)
        if (!program_kinds[i].starts_others && program_kind_has(&program_kinds[i], name))
            return true;
    return false;
}

/* Whether every stranger has one. A launch with no stranger is one of Megatron-LM's. */
bool strangers_are_near(const struct facts *f, struct str *near)
{
    for (size_t i = 0; i < f->program.strangers.n; i++) {
        struct str name = f->program.strangers.items[i].name;
        if (f->program.strangers.items[i].here || stranger_was_there(name)) return false;
        if (nearest(f, near, i).n == 0) return false;
        if (is_elsewhere(name) && !is_slip(f->arena, name, near[i])) return false;
    }
    return true;
}

/* ---- reporting ---- */

/* argparse's refusals that have no rule of their own */
static const struct str argparse_other[] = {{"megatron:ARGPARSE-OTHER", 23}};

static const char *kind_of(const struct stranger *s)
{
    return str_starts(s->name, STR("-")) ? "flag" : "argument";
}

/* The same flag in the words of another release. */
static void rename_flag(struct facts *f, struct diag *d, const struct stranger *s)
{
    size_t from, to;
    struct str text = source_bytes(&f->diags->sources, d->at, &from, &to);
    if (!str_starts(text, s->name)) return;
    diag_edit(f->diags, d, from, from + s->name.n, s->instead);
    d->safe = true;
}

static void report(struct facts *f, const struct stranger *s, struct str near,
                   enum severity severity)
{
    struct diag *d = diag_add(f->diags, severity, "unknown-key", s->at,
                              "Megatron-LM has no %s %.*s", kind_of(s), STR_ARG(s->name));
    d->covers = argparse_other;
    d->n_covers = 1;
    if (s->gone.n)
        diag_help(f->diags, d, "%.*s", STR_ARG(s->gone));
    else
        diag_suggest(f->diags, d, near);
    if (s->instead.n) rename_flag(f, d, s);
}

void strangers_refuse(struct facts *f, struct str *near)
{
    const struct program *p = &f->program;
    for (size_t i = 0; i < p->strangers.n; i++)
        nearest(f, near, i); /* all before the first report: they are for the first findings */
    for (size_t i = 0; i < p->strangers.n; i++)
        report(f, &p->strangers.items[i], near[i], SEVERITY_ERROR);
}

/* Strangers that are named in the one warning for all. */
enum { MOST_NAMED = 12 };

static void name_strangers(struct facts *f, struct diag *d, const struct stranger *const *all,
                           size_t n)
{
    for (size_t i = 0; i < n && i < MOST_NAMED; i++)
        diag_note(f->diags, d, "line %u: %.*s", all[i]->at.line, STR_ARG(all[i]->name));
    if (n > MOST_NAMED) diag_note(f->diags, d, "and %zu more", n - MOST_NAMED);
}

/* The program of rules/programs that alone has most of the strangers, at least half and two; NULL
 * when none has. */
static const struct program_kind *kind_by_flags(const struct program *p)
{
    const struct program_kind *best = NULL;
    size_t most = p->strangers.n / 2 > 1 ? p->strangers.n / 2 : 1;
    for (uint32_t i = 0; i < program_kind_count; i++) {
        size_t n = 0;
        bool other = program_kinds[i].n_commands && !p->bare; /* those it is started by are known */
        for (size_t k = 0; k < p->strangers.n && !program_kinds[i].starts_others && !other; k++)
            n += program_kind_has(&program_kinds[i], p->strangers.items[k].name);
        if (n == most) best = NULL; /* two have as many */
        if (n <= most) continue;
        best = &program_kinds[i];
        most = n;
    }
    return best;
}

/* Strangers of one sort, with the nearest names. */
struct crowd {
    const struct stranger **items;
    struct str *near;
    size_t n;
};

static void crowd_add(struct crowd *c, const struct stranger *s, struct str near)
{
    c->items[c->n] = s;
    c->near[c->n++] = near;
}

static struct crowd crowd_new(struct arena *a, size_t most)
{
    return (struct crowd){ARENA_ARRAY(a, const struct stranger *, most),
                          ARENA_ARRAY(a, struct str, most), 0};
}

/* One word for the flags of a program that is known, or is there. */
static void report_known(struct facts *f, const struct crowd *known, struct str title)
{
    if (known->n == 0) return;
    struct str first = known->items[0]->name;
    struct str others = known->n == 1
                            ? STR("is a flag")
                            : arena_printf(f->arena, "and %zu others are flags", known->n - 1);
    diag_add(f->diags, SEVERITY_INFO, "fork-flags", known->items[0]->at, "%.*s %.*s of %.*s",
             STR_ARG(first), STR_ARG(others), STR_ARG(title));
}

/* A flag that is most likely a slip of another, where it stands. */
static void report_slip(struct facts *f, const struct stranger *s, struct str near)
{
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, "unknown-key", s->at, "%.*s has no %s %.*s",
                 STR_ARG(f->program.kind ? f->program.kind->title : STR("Megatron-LM")), kind_of(s),
                 STR_ARG(s->name));
    d->covers = argparse_other;
    d->n_covers = 1;
    diag_suggest(f->diags, d, near);
}

/* The slips one by one; c is left with the others. */
static void report_slips(struct facts *f, struct crowd *c)
{
    size_t left = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->near[i].n)
            report_slip(f, c->items[i], c->near[i]);
        else
            c->items[left++] = c->items[i];
    }
    c->n = left;
}

/* One warning for the flags that nobody knows; a program that serves, judges or converts has some
   of its own. */
static void report_unknown(struct facts *f, struct crowd *c)
{
    report_slips(f, c);
    if (c->n == 0) return;
    const struct stranger *first = c->items[0];
    bool aside = program_does_otherwise(&f->program).n;
    enum severity severity = aside ? SEVERITY_INFO : SEVERITY_WARNING;
    struct diag *d = diag_add(f->diags, severity, "unknown-key", first->at,
                              c->n == 1 ? "Megatron-LM %.*s has no %s %.*s"
                                        : "Megatron-LM %.*s has no %s %.*s, nor %zu others here",
                              STR_ARG(f->version), kind_of(first), STR_ARG(first->name), c->n - 1);
    d->covers = argparse_other;
    d->n_covers = 1;
    if (c->n > 1) name_strangers(f, d, c->items, c->n);
    diag_help(f->diags, d,
              "a fork's own flags are declared with kind: Parameters in a file for --rules");
}

/* The values behind a flag of the program's own. */
static void check_values(struct facts *f, const struct program_setting *own,
                         const struct stranger *s)
{
    if (!s->n_values) program_check_missing(f, own, s->at);
    const struct flag_word *w = s->values;
    if (own->alone && !f->program.kind_guessed && s->n_values && !w->dynamic && !w->maybe) {
        struct diag *d =
            diag_add(f->diags, SEVERITY_WARNING, "value-for-switch", flag_word_span(f, w),
                     "%.*s is a switch and takes no value", STR_ARG(s->name));
        diag_help(f->diags, d, "leave out '%.*s'", STR_ARG(w->text));
    }
    for (size_t i = 0; i < s->n_values && (own->list || i == 0); i++)
        if (!w[i].dynamic && !w[i].maybe)
            program_check_own(f, f->program.kind, own, w[i].text, flag_word_span(f, &w[i]));
}

/* The nearest key that a program's own files can have: its own, or a destination of Megatron-LM's.
 */
static struct str nearest_key(const struct program_kind *kind, struct str name)
{
    struct str own = program_kind_nearest(kind, name), other = param_nearest(name);
    bool first = own.n && (!other.n || edit_distance(name, own) <= edit_distance(name, other));
    return first ? own : other;
}

/* The destination that another framework's key says: tp_size of distributed.tp_size; empty: none.
 */
static struct str meant_by_key(struct str name)
{
    int param = param_named_by(FRAMEWORK_AUTOMODEL, name);
    bool here = param >= 0 && param_table[param].in[FRAMEWORK_MEGATRON]->n_flags;
    return here ? param_table[param].name : (struct str){"", 0};
}

/* The key that another one is in capitals, or with dashes: such files tell them apart; empty: none.
 */
static struct str same_key(struct facts *f, struct str name)
{
    struct str plain = str_exchange(f->arena, str_lower(f->arena, name), '-', '_');
    bool there = program_kind_own(f->program.kind, plain) || param_find(plain) >= 0;
    return there && !str_eq(plain, name) ? plain : (struct str){"", 0};
}

/* A key in a program's own file: what is no slip may be its own, which nobody has listed. */
static void report_key(struct facts *f, const struct stranger *s)
{
    enum { SHORTEST = 5 };
    struct str near = nearest_key(f->program.kind, s->name), meant = meant_by_key(s->name);
    struct str same = same_key(f, s->name);
    bool slip = same.n || (s->name.n >= SHORTEST && is_slip(f->arena, s->name, near));
    if (same.n) near = same;
    if (!slip && !meant.n) return;
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, "unknown-key", s->at, "%.*s has no key %.*s",
                 STR_ARG(f->program.kind->title), STR_ARG(s->name));
    diag_suggest(f->diags, d, slip ? near : meant);
}

/* What stands behind the dashes of a flag. */
static struct str plain_name(struct str flag)
{
    size_t at = 0;
    while (at < flag.n && flag.p[at] == '-')
        at++;
    return str_slice(flag, at, flag.n);
}

/* Whether two flags begin with the same letter, or with two letters that are swapped. */
static bool begin_alike(struct str one, struct str other)
{
    one = plain_name(one);
    other = plain_name(other);
    if (one.n < 2 || other.n < 2) return one.n && other.n && one.p[0] == other.p[0];
    return one.p[0] == other.p[0] || (one.p[0] == other.p[1] && one.p[1] == other.p[0]);
}

/* The name beside a flag that is a fork's own, where it is shown. */
static struct str slip_of(const struct facts *f, struct str *near, size_t i, size_t named)
{
    struct str none = {"", 0};
    if (named >= MOST_NAMED) return none;
    struct str name = f->program.strangers.items[i].name, found = nearest(f, near, i);
    if (!is_slip(f->arena, name, found) && f->program.kind)
        found = program_kind_nearest(f->program.kind, name);
    bool begins = begin_alike(str_lower(f->arena, name),
                              str_lower(f->arena, found)); /* --patch-size is no --batch-size */
    bool other = begins && !str_eq(name, found); /* a key of another framework's is no slip */
    return other && is_slip(f->arena, name, found) ? found : none;
}

static bool is_plain(const struct stranger *s)
{
    return s->n_values == 1 && !s->values->dynamic && !s->values->maybe;
}

/* A flag of the program's own that takes one value; words may be meant to be given again. */
static void note_own(struct repeated *before, const struct program_setting *own,
                     const struct stranger *s)
{
    bool one = own && !own->list && own->type != PARAM_ANY && own->type != PARAM_STRING;
    struct str open = {NULL, 0};
    if (one) repeated_note(before, s->name, is_plain(s) ? s->values->text : open, s->at);
}

/* Flags that Megatron-LM had once have a word of their own each. */
void strangers_report(struct facts *f, struct str *near)
{
    struct program *p = &f->program;
    struct crowd known = crowd_new(f->arena, p->strangers.n),
                 former = crowd_new(f->arena, p->strangers.n),
                 unknown = crowd_new(f->arena, p->strangers.n);
    struct repeated before = {.f = f};
    p->kind_guessed = !p->kind;
    if (!p->kind) p->kind = kind_by_flags(p);
    for (size_t i = 0; i < p->strangers.n; i++) {
        const struct stranger *s = &p->strangers.items[i];
        if (s->gone.n) continue;
        if (s->here) {
            crowd_add(&known, s, STR(""));
        } else if (p->kind && !str_starts(s->name, STR("-"))) {
            report_key(f, s);
        } else if (p->kind && program_kind_has(p->kind, s->name)) {
            const struct program_setting *own = program_kind_own(p->kind, s->name);
            if (own) check_values(f, own, s); /* not by its prefix */
            note_own(&before, own, s);
            crowd_add(&known, s, STR(""));
        } else if (p->kind && stranger_was_there(s->name)) {
            /* a fork stands on a release of its own */
            crowd_add(&former, s, STR(""));
        } else {
            crowd_add(&unknown, s, slip_of(f, near, i, unknown.n));
        }
    }
    for (size_t i = 0; i < p->strangers.n; i++)
        if (p->strangers.items[i].gone.n)
            report(f, &p->strangers.items[i], STR(""), SEVERITY_WARNING);
    report_known(f, &known, p->kind ? p->kind->title : STR("this checkout"));
    report_known(f, &former, STR("former releases of Megatron-LM"));
    report_unknown(f, &unknown);
}
