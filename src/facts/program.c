/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/program.h"

#include "base/edit.h"
#include "facts/check.h"
#include "facts/facts.h"
#include "facts/flags.h"
#include "facts/launched.h"
#include "facts/param_ids.h"
#include "facts/pattern.h"
#include "facts/placeholder.h"
#include "facts/profile.h"
#include "facts/program_kind.h"
#include "facts/repeated.h"

/* ---- by name ---- */

/* Scripts of Megatron-LM's repository that read its arguments and add none of their own, those of
   older releases too. */
static const struct {
    const char *script;
    enum program_task task;
} own_scripts[] = {
    {"pretrain_gpt.py", TASK_TRAINING},
    {"pretrain_mamba.py", TASK_TRAINING},
    {"pretrain_hybrid.py", TASK_TRAINING},
    {"pretrain_bert.py", TASK_TRAINING},
    {"pretrain_t5.py", TASK_TRAINING},
    {"pretrain_ict.py", TASK_TRAINING},
    {"pretrain_retro.py", TASK_UNSAID}, /* a folder of its own sets lengths and data */
    {"train_rl.py", TASK_TRAINING},
    {"run_text_generation_server.py", TASK_INFERENCE},
    {"run_dynamic_text_generation_server.py", TASK_INFERENCE},
    {"run_mamba_text_generation_server.py", TASK_INFERENCE},
    {"gpt_static_inference.py", TASK_INFERENCE},
    {"gpt_dynamic_inference.py", TASK_INFERENCE},
    {"gpt_dynamic_inference_with_coordinator.py", TASK_INFERENCE},
};

/* What names of scripts say, by the first part that is found. */
static const struct {
    const char *part;
    enum program_task task;
} words[] = {
    {"infer", TASK_INFERENCE},    {"generat", TASK_INFERENCE},   {"server", TASK_INFERENCE},
    {"ptq", TASK_INFERENCE},      {"chat", TASK_INFERENCE},      {"eval", TASK_EVALUATION},
    {"convert", TASK_CONVERSION}, {"ckpt", TASK_CONVERSION},     {"checkpoint", TASK_CONVERSION},
    {"export", TASK_CONVERSION},  {"quantize", TASK_CONVERSION}, {"prune", TASK_CONVERSION},
    {"pretrain", TASK_TRAINING},  {"train", TASK_TRAINING},      {"finetune", TASK_TRAINING},
    {"sft", TASK_TRAINING},       {"run_recipe", TASK_TRAINING},
};

static enum program_task task_of_name(struct str name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_find_str(name, str_of(words[i].part)) < name.n) return words[i].task;
    return TASK_UNSAID;
}

struct program program_of(struct str script)
{
    struct str name = str_last_part(script, '/');
    for (size_t i = 0; i < sizeof own_scripts / sizeof *own_scripts; i++)
        if (str_is(name, own_scripts[i].script))
            return (struct program){.origin = PROGRAM_MEGATRON,
                                    .task = own_scripts[i].task,
                                    .script = script,
                                    .own_script = true};
    return (struct program){.origin = PROGRAM_OTHER, .task = task_of_name(name), .script = script};
}

struct str program_does_otherwise(const struct program *p)
{
    switch (p->task) {
    case TASK_UNSAID:
    case TASK_TRAINING: break;
    case TASK_INFERENCE: return STR("does inference");
    case TASK_EVALUATION: return STR("evaluates");
    case TASK_CONVERSION: return STR("converts checkpoints");
    }
    return STR("");
}

/* ---- by its flags ---- */

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
static bool was_there(struct str name)
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

/* The flag that makes a destination; empty: the name is a flag. */
static struct str flag_of(struct arena *a, struct str name)
{
    return str_starts(name, STR("-")) ? (struct str){"", 0} : flag_of_destination(a, name);
}

/* Notes which flags and words the program takes as it lies in the file's own repository: a fork's
   scripts use its own parser. Of a checkout before all known releases it says too what was
   deprecated then. */
static void find_here(struct facts *f)
{
    struct program *p = &f->program;
    size_t n = p->strangers.n, end = n + p->doubts.n;
    struct sought *all = ARENA_ARRAY(f->arena, struct sought, end + n);
    for (size_t i = 0; i < n; i++) {
        all[i].flag = p->strangers.items[i].name;
        all[end + i].flag = flag_of(f->arena, all[i].flag);
    }
    for (size_t i = 0; i < p->doubts.n; i++) {
        const struct doubt *d = &p->doubts.items[i];
        all[n + i] = (struct sought){
            .flag = d->flag, .value = d->choice ? d->value : STR(""), .real = d->real};
    }
    launched_seek(f->arena, f->diags, f->source, p->script, all, end + n);
    for (size_t i = 0; i < n; i++) {
        p->strangers.items[i].here = all[i].found || all[end + i].found;
        if (p->strangers.items[i].here) p->strangers.items[i].gone = STR("");
    }
    bool older = p->doubts.n && checkout_is_older(f->arena, f->diags, f->source, f->framework);
    for (size_t i = 0; i < p->doubts.n; i++) {
        struct doubt *d = &p->doubts.items[i];
        bool deprecated = str_is(f->diags->items[d->diag].rule, "flag-deprecated");
        d->known = all[n + i].found &&
                   (deprecated ? older && !all[n + i].deprecated : d->choice || d->real);
    }
}

/* A YAML file names no script: with several options of a program beside the training scripts it is
   for that one. */
static void leave_to_other(struct facts *f)
{
    struct diag *beside = NULL;
    for (size_t i = 0; i < f->program.doubts.n && f->document && !f->program.told; i++) {
        struct diag *d = &f->diags->items[f->program.doubts.items[i].diag];
        if (!str_is(d->rule, "other-program-option")) continue;
        if (beside) d->severity = beside->severity = SEVERITY_INFO;
        beside = d;
    }
}

/* A word that a former release took says that the launch is for that one. */
static void leave_to_former(struct facts *f)
{
    const struct program_kind *former = program_kind_named("megatron-former");
    for (size_t i = 0; former && i < f->program.doubts.n; i++) {
        const struct doubt *doubt = &f->program.doubts.items[i];
        const struct program_setting *own =
            doubt->choice ? program_kind_own(former, doubt->flag) : NULL;
        struct diag *d = &f->diags->items[doubt->diag];
        bool took = own && str_among(doubt->value, own->choices, own->n_choices);
        if (!took || d->severity != SEVERITY_ERROR) continue;
        d->severity = SEVERITY_WARNING;
        diag_note(f->diags, d, "%.*s had it", STR_ARG(former->title));
    }
}

/* Takes back what the program itself is of another mind of. */
static void drop_known(struct facts *f)
{
    for (size_t i = f->program.doubts.n; i-- > 0;)
        if (f->program.doubts.items[i].known)
            diag_remove(f->diags, f->program.doubts.items[i].diag);
}

/* Whether every stranger has one. A launch with no stranger is one of Megatron-LM's. */
static bool all_near(const struct facts *f, struct str *near)
{
    for (size_t i = 0; i < f->program.strangers.n; i++) {
        struct str name = f->program.strangers.items[i].name;
        if (f->program.strangers.items[i].here || was_there(name)) return false;
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

static bool is_beside_training(const struct program *p)
{
    return p->task != TASK_TRAINING && p->task != TASK_UNSAID;
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
    bool aside = is_beside_training(&f->program);
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

void program_check_own(struct facts *f, const struct program_kind *kind,
                       const struct program_setting *own, struct str value, struct span at)
{
    bool open = !value.n || str_find(value, '$') < value.n || placeholder_is(value);
    if (open || program_setting_takes(own, value)) return;
    bool choice = own->n_choices;
    bool other = f->program.kind_guessed || f->program.kind != kind; /* a fork, or a release */
    if (choice && (other || own->open) && !edit_among(value, own->choices, own->n_choices)) return;
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, choice ? "value-choice" : "value-type", at,
                 "%.*s takes %s, not '%.*s'", STR_ARG(own->name),
                 choice ? "one of a few words" : param_type_words(own->type), STR_ARG(value));
    diag_note(f->diags, d, "as %.*s reads it", STR_ARG(kind->title));
    if (choice) diag_choices(f->diags, d, value, own->choices, own->n_choices);
    if (own->type == PARAM_BOOL) diag_choices(f->diags, d, value, truths, N_TRUTHS);
}

void program_check_missing(struct facts *f, const struct program_setting *own, struct span at)
{
    bool number = own && param_type_is_number(own->type) && !own->list;
    if (!number || f->program.kind_guessed) return; /* an open word may be its value */
    diag_add(f->diags, SEVERITY_WARNING, "value-missing", at, "%.*s has no value",
             STR_ARG(own->name));
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

/* A name's first letter, behind the dashes of a flag; 0: it has none. */
static char name_begin(struct str name)
{
    size_t at = 0;
    while (at < name.n && name.p[at] == '-')
        at++;
    return at < name.n ? name.p[at] : '\0';
}

/* The name beside a flag that is a fork's own, where it is shown. */
static struct str slip_of(const struct facts *f, struct str *near, size_t i, size_t named)
{
    struct str none = {"", 0};
    if (named >= MOST_NAMED) return none;
    struct str name = f->program.strangers.items[i].name, found = nearest(f, near, i);
    if (!is_slip(f->arena, name, found) && f->program.kind)
        found = program_kind_nearest(f->program.kind, name);
    bool begins = name_begin(str_lower(f->arena, name)) ==
                  name_begin(str_lower(f->arena, found)); /* --patch-size is no --batch-size */
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
static void report_fork(struct facts *f, struct str *near)
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
        } else if (p->kind && was_there(s->name)) { /* a fork stands on a release of its own */
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

/* Whether the program's own parser refuses what is in doubt. */
static bool is_refused(const struct program_setting *own, const struct doubt *doubt,
                       struct str rule)
{
    if (str_is(rule, "value-for-switch") && own->alone) return true;
    if (str_is(rule, "value-missing")) return param_type_is_number(own->type) && !own->list;
    if (str_is(rule, "value-unexpected")) return doubt->plain && param_type_is_number(own->type);
    return !program_setting_takes(own, doubt->value);
}

/* Whether a finding holds for the program: its own parser says which words and numbers the flag
   takes; else Megatron-LM's does where that is the one that reads it, and what nobody takes is
   wrong everywhere. */
static bool is_sure(const struct program *p, const struct doubt *doubt, struct str rule)
{
    const struct program_setting *own = p->kind ? program_kind_own(p->kind, doubt->flag) : NULL;
    bool of_name =
        str_is_any(rule, "flag-repeated|flag-deprecated|other-program-option|size-below-zero");
    if (own && !of_name && program_setting_is_told(own)) return is_refused(own, doubt, rule);
    bool text = own && own->type == PARAM_STRING;
    if (!of_name && text) return doubt->plain && doubt->choice;
    /* the parser's own flag, or one that is only handed on: a switch with a truth behind it */
    bool truth = str_eq_nocase(doubt->value, truths[0]) || str_eq_nocase(doubt->value, truths[1]);
    bool switched = own && own->type == PARAM_ANY && truth && str_is(rule, "value-for-switch");
    bool parsed = (!own || switched) && p->kind && p->kind->parsed_by_megatron;
    return doubt->plain ||
           (parsed && str_is_any(rule, "value-for-switch|value-type|value-missing"));
}

/* A word that the program's own parser refuses: what it takes instead. */
static void name_own_choices(struct facts *f, const struct doubt *doubt)
{
    const struct program_kind *kind = f->program.kind;
    const struct program_setting *own = kind ? program_kind_own(kind, doubt->flag) : NULL;
    if (!own || !own->n_choices || !doubt->choice) return;
    if (program_setting_takes(own, doubt->value)) return;
    struct diag *d = &f->diags->items[doubt->diag];
    d->edits.n = 0;
    diag_choices(f->diags, d, doubt->value, own->choices, own->n_choices);
}

/* What argparse of Megatron-LM's would refuse a fork may take, and a program with a parser of its
 * own mostly does, but for what nobody takes. */
static void lessen_doubts(struct facts *f)
{
    bool vouches = program_vouches(&f->program);
    for (size_t i = 0; i < f->program.doubts.n; i++) {
        const struct doubt *doubt = &f->program.doubts.items[i];
        struct diag *d = &f->diags->items[doubt->diag];
        bool holds = vouches || is_sure(&f->program, doubt, d->rule);
        enum severity most = holds ? SEVERITY_WARNING : SEVERITY_INFO;
        /* a command of a program beside the training, or an override that a fork's Hydra reads */
        bool command = str_is(d->rule, "value-unexpected") &&
                       (is_beside_training(&f->program) || flag_word_is_override(doubt->value));
        if (d->severity > most || command) d->severity = command ? SEVERITY_INFO : most;
        name_own_choices(f, doubt);
    }
}

/* ---- as facts ---- */

static void set_word(struct facts *f, int param, const char *word)
{
    facts_set(f, param, word ? value_string(str_of(word)) : value_unknown(), ORIGIN_DERIVED, NULL,
              STR("the launch"));
}

static void set_facts(struct facts *f)
{
    static const char *const origins[] = {"unsaid", "other", "fork", "megatron"};
    static const char *const tasks[] = {NULL, "training", "inference", "evaluation", "conversion"};
    set_word(f, P_program, origins[f->program.origin]);
    set_word(f, P_program_task, tasks[f->program.task]);
    facts_set(f, P_program_told, value_bool(f->program.told), ORIGIN_DERIVED, NULL,
              STR("the launch"));
}

/* Flags that this release lacks say that another one runs, and a fork may stand on any. */
static void settle_releases(struct facts *f)
{
    bool fork = f->program.origin == PROGRAM_FORK;
    uint32_t may = ~(fork ? f->program.lacking_more : f->program.lacking);
    bool here = may & facts_release(f) && !fork;
    if (!here) f->releases = profile_newest(f->framework, may) ? may : RELEASES_ALL;
}

static bool says_any(const struct facts *f, const int *params, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fact_is_set(facts_get(f, params[i]))) return true;
    return false;
}

/* Flags alone that say neither what a step takes nor how many there are: a part of a command line,
   such as a model's sizes. */
static bool is_part(const struct facts *f)
{
    static const int of_run[] = {P_micro_batch_size, P_global_batch_size, P_train_iters,
                                 P_train_samples, P_lr};
    return f->program.bare && !says_any(f, of_run, sizeof of_run / sizeof *of_run);
}

/* A document of flags that says what the model is and nothing of how it is laid out, or the other
   way round: the other half stands in a file that it is merged with. */
static bool is_half(const struct facts *f)
{
    static const int of_model[] = {P_num_layers, P_hidden_size, P_use_checkpoint_args};
    static const int of_layout[] = {P_micro_batch_size, P_tensor_model_parallel_size,
                                    P_pipeline_model_parallel_size, P_expert_model_parallel_size,
                                    P_context_parallel_size};
    bool flags = f->document && !f->program.kind && f->program.task == TASK_TRAINING;
    return flags && says_any(f, of_model, sizeof of_model / sizeof *of_model) !=
                        says_any(f, of_layout, sizeof of_layout / sizeof *of_layout);
}

void program_settle(struct facts *f)
{
    struct program *p = &f->program;
    bool half = is_half(f);
    if (half || is_part(f)) p->task = TASK_UNSAID;
    if (half) p->origin = PROGRAM_UNSAID;
    bool told = p->told || f->release_told;
    struct str *near = ARENA_ARRAY(f->arena, struct str, p->strangers.n);
    find_here(f);
    /* a release says which flags the training scripts have, not those of a program beside them */
    if (p->origin != PROGRAM_MEGATRON || p->task != TASK_TRAINING) p->told = false;
    bool own = p->told || (p->origin == PROGRAM_MEGATRON && all_near(f, near));
    if (!own && p->strangers.n) p->origin = PROGRAM_FORK;
    for (size_t i = 0; own && i < p->strangers.n; i++)
        nearest(f, near, i); /* all before the first report: they are for the first findings */
    for (size_t i = 0; own && i < p->strangers.n; i++)
        report(f, &p->strangers.items[i], near[i], SEVERITY_ERROR);
    if (!own) {
        report_fork(f, near);
        lessen_doubts(f);
    }
    leave_to_other(f);
    leave_to_former(f);
    drop_known(f);
    if (!told) settle_releases(f);
    set_facts(f);
}

bool program_vouches(const struct program *p)
{
    return !p->kind || p->kind->checked_by_megatron;
}

bool program_may_build_another(const struct program *p)
{
    return p->script.n && !p->own_script && !p->kind;
}

struct str program_former_flag(const struct program *p)
{
    for (size_t i = 0; i < p->strangers.n; i++)
        if (was_there(p->strangers.items[i].name)) return p->strangers.items[i].name;
    return STR("");
}

struct str program_own_layout(const struct program *p)
{
    for (size_t i = 0; i < p->strangers.n; i++) {
        const struct stranger *s = &p->strangers.items[i];
        bool parallel = str_find_str(s->name, STR("parallel")) < s->name.n;
        if (s->here && parallel && !was_there(s->name)) return s->name;
    }
    return STR("");
}

static size_t count_written(const struct facts *f)
{
    size_t n = 0;
    for (int i = facts_next(f, 0); i < (int)param_count; i = facts_next(f, i + 1))
        n += f->own[i].origin == ORIGIN_FILE && param_table[i].in[FRAMEWORK_MEGATRON]->n_flags;
    return n;
}

bool program_is_megatrons(const struct facts *f)
{
    const struct program *p = &f->program;
    bool another = p->origin == PROGRAM_OTHER || p->origin == PROGRAM_FORK;
    return !str_is(f->format, "megatron") || p->kind || !another ||
           count_written(f) > p->strangers.n;
}
