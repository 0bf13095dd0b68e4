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
#include "facts/strangers.h"

/* ---- by name ---- */

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

/* By enum program_task; NULL: nobody says. */
static const char *const task_words[] = {NULL, "training", "inference", "evaluation", "conversion"};

static enum program_task task_of_word(struct str word)
{
    int task = TASK_CONVERSION;
    while (task > TASK_UNSAID && !str_is(word, task_words[task]))
        task--;
    return (enum program_task)task;
}

struct program program_of(struct str script)
{
    struct str name = str_last_part(script, '/'), task;
    if (program_kind_script(program_kind_named("megatron-lm"), name, &task))
        return (struct program){.origin = PROGRAM_MEGATRON,
                                .task = task_of_word(task),
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

/* ---- what is in doubt ---- */

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
        bool command =
            str_is(d->rule, "value-unexpected") &&
            (program_does_otherwise(&f->program).n || flag_word_is_override(doubt->value));
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

/* That flags of a newer release stand beside what Megatron-LM reads only to say that it is gone: no
   release takes both. */
static bool is_newer_than_removed(const struct facts *f)
{
    const struct program *p = &f->program;
    bool own = p->origin == PROGRAM_MEGATRON && p->task == TASK_TRAINING;
    return own && p->lacking_more & profile_oldest(f->framework, RELEASES_ALL)->bit;
}

static void set_facts(struct facts *f)
{
    static const char *const origins[] = {"unsaid", "other", "fork", "megatron"};
    set_word(f, P_program, origins[f->program.origin]);
    set_word(f, P_program_task, task_words[f->program.task]);
    facts_set(f, P_program_told, value_bool(f->program.told || is_newer_than_removed(f)),
              ORIGIN_DERIVED, NULL, STR("the launch"));
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
    bool own = p->told || (p->origin == PROGRAM_MEGATRON && strangers_are_near(f, near));
    if (!own && p->strangers.n) p->origin = PROGRAM_FORK;
    if (own) {
        strangers_refuse(f, near);
    } else {
        strangers_report(f, near);
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
        if (stranger_was_there(p->strangers.items[i].name)) return p->strangers.items[i].name;
    return STR("");
}

struct str program_own_layout(const struct program *p)
{
    for (size_t i = 0; i < p->strangers.n; i++) {
        const struct stranger *s = &p->strangers.items[i];
        bool parallel = str_find_str(s->name, STR("parallel")) < s->name.n;
        if (s->here && parallel && !stranger_was_there(s->name)) return s->name;
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
