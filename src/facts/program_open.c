/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch leaves unsaid: the defaults that hold of it, and what nobody knows. */
#include "facts/facts.h"
#include "facts/param_ids.h"
#include "facts/program.h"
#include "facts/program_kind.h"

void program_assume(struct facts *f)
{
    for (int i = 0; str_is(f->format, "megatron") && i < (int)param_count; i++) {
        struct value off = facts_default(f, i);
        bool open = facts_get(f, i)->origin == ORIGIN_UNKNOWN && !fact_is_known(facts_get(f, i));
        if (open && off.kind == VALUE_BOOL && !off.b && param_table[i].in[f->framework]->n_flags)
            facts_set(f, i, off, ORIGIN_ASSUMED, NULL, STR("the launch"));
    }
}

/* Whether the flags say what the model is: else a flag of the program's own may. */
static bool names_model(const struct facts *f)
{
    return fact_is_set(facts_get(f, P_num_layers)) || fact_is_set(facts_get(f, P_hidden_size));
}

/* A training script of somebody's own that takes little beside Megatron-LM's flags has its defaults
   too; what a script with many flags of its own makes of the others nobody knows. */
enum { FEW_STRANGERS = 2 };

static bool is_closed(const struct facts *f)
{
    const struct program *p = &f->program;
    if (p->origin == PROGRAM_UNSAID || p->kind) return p->whole;
    bool alike = p->task == TASK_TRAINING && p->strangers.n <= FEW_STRANGERS;
    return p->origin == PROGRAM_MEGATRON || (alike && (!p->strangers.n || names_model(f)));
}

/* With --use-checkpoint-args a checkpoint says what the model is. */
static void leave_to_checkpoint(struct facts *f)
{
    for (int i = 0; i < (int)param_count; i++)
        if (param_table[i].scope == SCOPE_MODEL && facts_get(f, i)->origin == ORIGIN_DEFAULT)
            facts_set(f, i, value_unknown(), ORIGIN_UNKNOWN, NULL, STR(""));
}

/* What nobody wrote is unknown, but for what the program is known to leave as it is. */
static void forget_defaults(struct facts *f)
{
    const struct program_kind *kind = f->program.kind;
    size_t n = kind ? kind->n_keeps : 0;
    struct fact *kept = ARENA_ARRAY(f->arena, struct fact, n);
    for (size_t i = 0; i < n; i++)
        kept[i] = *facts_get(f, param_find(kind->keeps[i]));
    facts_forget_defaults(f);
    for (size_t i = 0; i < n; i++)
        if (kept[i].origin == ORIGIN_DEFAULT)
            *facts_change(f, param_find(kind->keeps[i])) = kept[i];
}

static void keep_default(struct facts *f, int param)
{
    if (facts_get(f, param)->origin == ORIGIN_UNKNOWN)
        facts_set(f, param, facts_default(f, param), ORIGIN_DEFAULT, NULL, STR(""));
}

/* Who writes what is recomputed, and how many layers at a time, writes the method beside it, and no
   switch that stands for both, whatever a launch has in variables that nobody here knows. */
static void keep_companions(struct facts *f)
{
    static const int companions[] = {P_recompute_method, P_recompute_activations,
                                     P_moe_layer_recompute};
    bool written = facts_get(f, P_recompute_granularity)->origin == ORIGIN_FILE &&
                   facts_get(f, P_recompute_num_layers)->origin == ORIGIN_FILE;
    for (size_t i = 0; written && i < sizeof companions / sizeof *companions; i++)
        keep_default(f, companions[i]);
}

void program_open(struct facts *f)
{
    bool launch = str_is(f->format, "megatron");
    if (launch && !is_closed(f)) forget_defaults(f);
    if (launch) keep_companions(f);
    if (launch && facts_bool(f, P_use_checkpoint_args, false)) leave_to_checkpoint(f);
}
