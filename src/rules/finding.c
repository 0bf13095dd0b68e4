/* SPDX-License-Identifier: Apache-2.0 */
/* Words for a rule that failed: message, arithmetic, where each operand came from, what would be
   valid. */
#include <math.h>

#include "base/buf.h"
#include "base/edit.h"
#include "base/version.h"
#include "facts/bridge.h"
#include "facts/checkout.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "facts/program_kind.h"
#include "facts/rewrite.h"
#include "rules/rule.h"
#include "rules/spell.h"

enum { MOST_OPERANDS = 8, MOST_TRACES = 3, MOST_VARIABLES = 3, MOST_VALID = 6, LONGEST_VALUE = 60 };

/* The parameters behind a finding, each once: those of the rule, then those of its conditions. */
struct operands {
    int params[64];
    size_t n, n_rule;
    bool reads_text; /* raw["…"] or the environment */
};

static void add_operand(struct operands *all, int param)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->params[i] == param) return;
    if (all->n < sizeof all->params / sizeof *all->params) all->params[all->n++] = param;
}

static void add_operands(struct operands *all, const struct expr *e)
{
    const uint32_t *slots;
    size_t n = e ? expr_slots(e, &slots) : 0;
    for (size_t i = 0; i < n; i++) {
        int param = facts_slot_param(slots[i]);
        if (param >= 0) add_operand(all, param);
        all->reads_text |= param < 0;
    }
}

static struct operands operands_of(const struct rule *r)
{
    struct operands all = {0};
    add_operands(&all, r->rule);
    for (size_t i = 0; r->role == ROLE_OVERRIDE && i < r->n_set; i++)
        add_operand(&all, r->set[i].param);
    all.n_rule = all.n;
    for (size_t i = 0; i < r->n_conditions; i++)
        add_operands(&all, r->conditions[i]);
    return all;
}

static struct span first_line(const struct facts *f)
{
    if (f->document) {
        struct span at = node_span(f->diags, f->document);
        struct str line = source_line(&f->diags->sources, at.source, at.line);
        return (struct span){at.source, at.line, at.column, at.line,
                             at.column + (uint32_t)str_trim(line).n};
    }
    return (struct span){f->source, f->source ? 1 : 0, 1, 1, 1};
}

/* Where the user wrote the parameter in this very file or in what it sources; a model file of its
   own is not the place. */
static const struct node *written_node(const struct facts *f, int param)
{
    const struct node *node = param >= 0 ? facts_get(f, param)->node : NULL;
    return node && facts_hold(f, node) ? node : NULL;
}

static struct span place(const struct rule *r, const struct facts *f,
                         const struct operands *operands)
{
    const struct node *node = written_node(f, r->parameter);
    for (size_t i = 0; i < operands->n && !node; i++)
        node = written_node(f, operands->params[i]);
    return node ? node_span(f->diags, node) : first_line(f);
}

/* The text an expression gives, or an empty string when it is none or not one line. */
static struct str one_line(const struct expr *e, const struct facts *f, struct arena *scratch)
{
    if (!e) return STR("");
    struct expr_scope scope = facts_scope(f);
    struct value v = expr_eval(e, scratch, &scope);
    bool usable = v.kind == VALUE_STRING && str_find(v.s, '\n') == v.s.n;
    return usable ? v.s : STR("");
}

static struct str short_text(struct arena *scratch, struct value v)
{
    struct str s = value_brief(scratch, v);
    if (s.n <= LONGEST_VALUE) return s;
    size_t cut = LONGEST_VALUE;
    while (cut && ((unsigned char)s.p[cut] & 0xC0) == 0x80)
        cut--; /* not inside a character */
    return arena_printf(scratch, "%.*s…", (int)cut, s.p);
}

static void note_operand(struct diag *d, const struct facts *f, int param, struct arena *scratch)
{
    const struct fact *fact = facts_get(f, param);
    struct str origin = fact_origin_text(scratch, f, param),
               text = short_text(scratch, fact->value);
    diag_note(f->diags, d, "%.*s = %.*s: %.*s", STR_ARG(param_table[param].name), STR_ARG(text),
              STR_ARG(origin));
}

static bool is_null_default(const struct fact *fact)
{
    return fact->value.kind == VALUE_NULL && fact->origin == ORIGIN_DEFAULT;
}

/* The operands that are written, or the others: what a condition finds at its default, or the rule
   at none, explains nothing beside them. */
static void note_operands(struct diag *d, const struct facts *f, const struct operands *operands,
                          bool written, size_t *most, struct arena *scratch)
{
    bool alone = *most == MOST_OPERANDS;
    for (size_t i = 0; i < operands->n && *most; i++) {
        const struct fact *fact = facts_get(f, operands->params[i]);
        bool is_written = fact->node || fact_is_set(fact);
        bool tells = is_written || (i < operands->n_rule && (alone || !is_null_default(fact)));
        if (is_written != written || !tells || !fact_is_known(fact)) continue;
        note_operand(d, f, operands->params[i], scratch);
        --*most;
    }
}

/* The operands of the rule itself, as they stand: by them a finding is known again. */
static struct str values_text(const struct facts *f, const struct operands *operands,
                              struct arena *scratch)
{
    struct buf out = buf_new(scratch);
    for (size_t i = 0; i < operands->n_rule; i++) {
        const struct fact *fact = facts_get(f, operands->params[i]);
        struct str text = short_text(scratch, fact->value);
        if (fact_is_known(fact))
            buf_printf(&out, "%s%.*s=%.*s", out.n ? ", " : "",
                       STR_ARG(param_table[operands->params[i]].name), STR_ARG(text));
    }
    return buf_str(&out);
}

static void add_notes(struct diag *d, const struct rule *r, const struct facts *f,
                      const struct operands *operands, struct arena *scratch)
{
    struct expr_scope scope = facts_scope(f);
    struct str lines[MOST_TRACES + MOST_VARIABLES];
    size_t n = r->rule ? expr_trace(r->rule, scratch, &scope, lines, MOST_TRACES) : 0;
    if (r->rule) n += expr_trace_variables(r->rule, scratch, &scope, lines + n, MOST_VARIABLES);
    for (size_t i = 0; i < n; i++)
        diag_note(f->diags, d, "%.*s", STR_ARG(lines[i]));
    size_t most = MOST_OPERANDS;
    note_operands(d, f, operands, true, &most, scratch);
    note_operands(d, f, operands, false, &most, scratch);
}

/* The window of at most MOST_VALID items of a rising list that lies nearest to `wanted`; the front
   when it is no number. */
static size_t window_start(const struct value_list *list, double wanted)
{
    size_t from = 0;
    while (from + MOST_VALID < list->n &&
           fabs(value_number(list->items[from + MOST_VALID]) - wanted) <
               fabs(value_number(list->items[from]) - wanted))
        from++;
    return from;
}

/* "did you mean x? " of a word and the list of those that are valid; empty when none is near. */
static struct str meant(struct value word, const struct value_list *list, struct arena *scratch)
{
    if (word.kind != VALUE_STRING) return STR("");
    struct edit_nearest near = {.word = word.s};
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].kind == VALUE_STRING) edit_offer(&near, list->items[i].s);
    if (!near.best.n) return STR("");
    return arena_printf(scratch, "did you mean %.*s? ", STR_ARG(near.best));
}

static struct str valid_values(const struct rule_set *set, const struct rule *r,
                               const struct facts *f, struct arena *scratch)
{
    if (!r->suggestion) return STR("");
    struct expr_scope scope = facts_scope(f);
    struct value v = expr_eval(r->suggestion, scratch, &scope);
    if (v.kind != VALUE_LIST || !v.list->n) return STR("");
    /* one more than is shown says that there are more */
    if (set) v = rule_remedies(set, r, f, v, MOST_VALID + 1, scratch);
    size_t from = window_start(
        v.list, r->parameter >= 0 ? value_number(facts_get(f, r->parameter)->value) : NAN);
    struct buf out = buf_new(scratch);
    if (r->parameter >= 0) buf_add(&out, meant(facts_get(f, r->parameter)->value, v.list, scratch));
    buf_add(&out, v.list->n > MOST_VALID ? STR("nearest valid: ") : STR("valid: "));
    for (size_t i = from; i < v.list->n && i < from + MOST_VALID; i++) {
        if (i > from) buf_add(&out, STR(", "));
        buf_add(&out, short_text(scratch, v.list->items[i]));
    }
    return buf_str(&out);
}

/* ---- the fix ---- */

static struct value fix_value(const struct assignment *a, const struct facts *f,
                              struct arena *scratch)
{
    struct expr_scope scope = facts_scope(f);
    return expr_eval(a->value, scratch, &scope);
}

/* "a=8, without b"; empty where a value is not known. */
static struct str fix_text(const struct rule_fix *fix, const struct facts *f, struct arena *scratch)
{
    struct buf out = buf_new(scratch);
    for (size_t i = 0; i < fix->n_set; i++) {
        struct value v = fix_value(&fix->set[i], f, scratch);
        if (v.kind == VALUE_ERROR || v.kind == VALUE_UNKNOWN) return STR("");
        struct str text = value_text(scratch, v);
        buf_printf(&out, "%s%.*s=%.*s", out.n ? ", " : "",
                   STR_ARG(param_table[fix->set[i].param].name), STR_ARG(text));
    }
    for (size_t i = 0; i < fix->n_remove; i++)
        buf_printf(&out, "%swithout %.*s", out.n ? ", " : "",
                   STR_ARG(param_table[fix->remove[i]].name));
    return buf_str(&out);
}

/* The edits of the whole fix, or none: half of it is no fix. */
static void add_edits(struct diag *d, const struct rule *r, const struct facts *f,
                      struct arena *scratch)
{
    struct text_edits edits = {0};
    bool good = d->fix.n && f->source;
    for (size_t i = 0; i < r->fix.n_set && good; i++)
        good = rewrite_set(f, r->fix.set[i].param, fix_value(&r->fix.set[i], f, scratch),
                           r->parameter, &edits);
    for (size_t i = 0; i < r->fix.n_remove && good; i++)
        good = rewrite_unset(f, r->fix.remove[i], &edits);
    if (good) d->edits = edits;
    d->safe = r->fix.safe;
}

static void add_help(struct diag *d, const struct rule_set *set, const struct rule *r,
                     const struct facts *f, struct arena *scratch)
{
    struct str valid = valid_values(set, r, f, scratch), fix = fix_text(&r->fix, f, scratch);
    /* of a help that depends on facts that nobody says, nothing is said */
    struct str help =
        r->help_expression ? one_line(r->help_expression, f, scratch) : str_trim(r->help);
    help = spell_flags(f, help);
    if (help.n && valid.n)
        diag_help(f->diags, d, "%.*s; %.*s", STR_ARG(valid), STR_ARG(help));
    else if (help.n || valid.n)
        diag_help(f->diags, d, "%.*s%.*s", STR_ARG(valid), STR_ARG(help));
    else if (fix.n)
        diag_help(f->diags, d, "set %.*s", STR_ARG(fix));
    d->fix = str_dup(f->diags->arena, fix);
    add_edits(d, r, f, scratch);
}

struct str rule_message(const struct rule *r, const struct facts *f, struct arena *a)
{
    struct str message = one_line(r->message_expression, f, a);
    return message.n ? message : str_trim(r->message);
}

/* What Megatron-LM refuses, a program that checks its arguments itself may take; what is impossible
   nobody takes, and what its training scripts alone refuse, no program beside them does. */
static enum severity severity_of(const struct rule *r, const struct facts *f)
{
    if (r->of_trainer && !program_vouches(&f->program)) return SEVERITY_INFO;
    bool doubtful =
        r->severity == SEVERITY_ERROR && !r->everywhere && !program_vouches(&f->program);
    return doubtful ? SEVERITY_WARNING : r->severity;
}

/* Whether it is about a recipe of Bridge's alone, as it is shipped, and nothing that the user
 * wrote. */
static bool is_of_recipe(const struct facts *f, const struct operands *operands)
{
    bool of_recipe = false;
    for (size_t i = 0; i < operands->n; i++) {
        const struct fact *x = facts_get(f, operands->params[i]);
        if (fact_is_set(x) && param_table[operands->params[i]].scope != SCOPE_DERIVED) return false;
        of_recipe |= fact_is_of_recipe(x);
    }
    return of_recipe && !operands->reads_text;
}

/* Whether it leans on what a recipe says beside the file, and a release or a launcher that nobody
 * named may say otherwise. */
static bool is_of_some_release(const struct facts *f, const struct operands *operands)
{
    for (size_t i = 0; i < operands->n && f->recipe_word.n; i++) {
        bool stages = operands->params[i] == P_pipeline_layout_stages; /* the layout, taken apart */
        int param = stages ? P_pipeline_model_parallel_layout : operands->params[i];
        if (fact_is_of_recipe(facts_get(f, param)) &&
            (f->recipe_guessed || bridge_recipe_differs(f->recipe_word, param)))
            return true;
    }
    return false;
}

/* Whether it leans on a number of GPUs that only the usual node makes. */
static bool is_of_usual_world(const struct facts *f, const struct operands *operands)
{
    bool world = false;
    for (size_t i = 0; i < operands->n && f->world_guessed; i++)
        world |= operands->params[i] == P_world_size;
    return world && facts_get(f, P_world_size)->origin == ORIGIN_FILE;
}

/* Whether one of the releases that the launch may be for lacks the check. */
static const struct profile *release_without(const struct rule *r, const struct facts *f)
{
    const struct version_range *range = &r->in[f->framework];
    const struct profile *p;
    for (uint32_t left = f->releases; (p = profile_newest(f->framework, left)); left &= ~p->bit)
        if (!version_between(p->version, range->from, range->to)) return p;
    return NULL;
}

/* Whether the check is not in the source of the checkout around the file, which is on the way to
   the release that it came with, or older than all that are known; of a warning that holds in every
   release the place alone has moved. */
static bool is_ahead_of_checkout(const struct rule *r, const struct facts *f, struct arena *scratch)
{
    bool doubtful = str_eq(r->in[f->framework].from, f->version) ||
                    checkout_is_older(scratch, f->diags, f->source, f->framework);
    bool moved = r->everywhere && r->severity == SEVERITY_WARNING;
    return doubtful && !moved &&
           checkout_lacks(scratch, f->diags, f->source, f->framework, r->source);
}

/* What makes a warning of an error, beside what the finding rests on. */
struct exemption {
    const struct profile *without; /* the release that does not refuse it; NULL: none */
    bool lacks;                    /* the checkout around the file has no such check */
    struct str former;             /* a flag of before all known releases; empty: there is none */
    struct str layout;             /* a flag of the checkout's that lays GPUs out; empty: none */
    bool model;                    /* a model class refuses it, and another may be built */
};

/* What only Megatron-LM of a release says, of a launch whose flags are of before all that are
   known, what a number of GPUs must be, of a checkout that lays them out in a way of its own, and
   what a model of Megatron-LM's checks, of a script that may build another. */
static void exempt(const struct rule *r, const struct facts *f, const struct operands *operands,
                   struct exemption *x)
{
    bool world = false;
    for (size_t i = 0; i < operands->n; i++)
        world |= operands->params[i] == P_world_size;
    x->without = release_without(r, f);
    if (!f->release_told && !r->everywhere) x->former = program_former_flag(&f->program);
    if (world) x->layout = program_own_layout(&f->program);
    x->model = str_starts(r->source, STR("megatron/core/models/")) && !r->everywhere &&
               program_may_build_another(&f->program);
}

static struct diag *add_finding(const struct rule *r, const struct facts *f,
                                const struct operands *operands, struct exemption *x,
                                struct arena *scratch)
{
    struct str message = rule_message(r, f, scratch);
    struct diag *d = diag_add(f->diags, severity_of(r, f), r->id.p, place(r, f, operands), "%.*s",
                              STR_ARG(message));
    /* a recipe is code: what its source does not show may mend it before the run */
    bool error = d->severity == SEVERITY_ERROR;
    bool doubtful = is_of_recipe(f, operands) || is_of_some_release(f, operands) ||
                    is_of_usual_world(f, operands);
    *x = (struct exemption){0};
    if (error)
        exempt(r, f, operands, x);
    else if (d->severity == SEVERITY_WARNING && !r->everywhere)
        x->without = release_without(r, f);
    x->lacks = d->severity != SEVERITY_INFO && !x->without && is_ahead_of_checkout(r, f, scratch);
    doubtful |= x->without || x->lacks || x->former.n || x->layout.n || x->model;
    if (error && doubtful) d->severity = SEVERITY_WARNING;
    struct operands of_rule = *operands; /* what its conditions ask for alone decides nothing */
    of_rule.n = operands->n_rule;
    bool unsaid = f->world_unsaid && is_of_usual_world(f, &of_rule);
    bool little = x->lacks || x->without || unsaid;
    if (!error && little) d->severity = SEVERITY_INFO;
    return d;
}

bool rule_is_inherited(const struct rule *r, const struct facts *f)
{
    bool own = false, inherited = false;
    if (!f->inherited.n) return false;
    bool doubtful = severity_of(r, f) != r->severity && !f->program.whole;
    struct operands operands = operands_of(r);
    for (size_t i = 0; i < operands.n; i++) {
        const struct node *node = facts_get(f, operands.params[i])->node;
        if (!node) continue;
        own |= facts_hold(f, node);
        inherited |= facts_inherit(f, node->source);
    }
    return inherited && (!own || doubtful);
}

bool rule_is_lifted(const struct rule *r, const struct facts *f)
{
    const struct program_kind *kind = f->program.kind;
    struct str flag;
    size_t from = 0;
    while (kind && (flag = program_kind_lifter(kind, r->id, &from)).n)
        if (facts_has_raw(f, flag)) return true;
    return false;
}

void rule_report_briefly(const struct rule *r, const struct facts *f, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct operands operands = operands_of(r);
    struct exemption exemption;
    add_finding(r, f, &operands, &exemption, scratch);
    arena_pop(scratch, mark);
}

struct diag *rule_report(const struct rule_set *set, const struct rule *r, const struct facts *f,
                         struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct operands operands = operands_of(r);
    struct exemption x;
    struct diag *d = add_finding(r, f, &operands, &x, scratch);
    if (r->parameter >= 0) d->parameter = param_table[r->parameter].name;
    if (r->n_guides) d->guide = r->guides[0];
    d->source = r->source;
    d->covers = r->covers;
    d->n_covers = r->n_covers;
    d->values = str_dup(f->diags->arena, values_text(f, &operands, scratch));
    add_notes(d, r, f, &operands, scratch);
    if (x.without)
        diag_note(f->diags, d, "release %.*s does not refuse it, and its flags may be of that one",
                  STR_ARG(x.without->version));
    if (x.former.n)
        diag_note(f->diags, d, "%.*s is of before all releases that moeplan knows",
                  STR_ARG(x.former));
    if (x.layout.n)
        diag_note(f->diags, d, "%.*s of this checkout may lay the GPUs out otherwise",
                  STR_ARG(x.layout));
    if (x.model)
        diag_note(f->diags, d, "Megatron-LM's own model checks it; this script may build another");
    if (x.lacks) diag_note(f->diags, d, "the checkout that this file lies in has no such check");
    add_help(d, set, r, f, scratch);
    arena_pop(scratch, mark);
    return d;
}

struct str rule_address(struct arena *a, const struct rule *r)
{
    bool any = sizeof(MOEPLAN_SITE_URI) > 1 && !r->at.source;
    return any ? arena_printf(a, MOEPLAN_SITE_URI "rule/%.*s.html", STR_ARG(r->id)) : STR("");
}

void rules_describe(const struct rule_set *set, struct diags *diags)
{
    for (size_t i = 0; i < diags->n; i++) {
        struct diag *d = &diags->items[i];
        const struct rule *r = rules_find(set, d->rule);
        if (r) d->page = rule_address(diags->arena, r);
        if (!r || !r->native) continue;
        if (!d->guide.n && r->n_guides) d->guide = r->guides[0];
        if (!d->source.n) d->source = r->source;
        if (!d->help.n) d->help = r->help;
        if (d->n_covers) continue;
        d->covers = r->covers;
        d->n_covers = r->n_covers;
    }
}
