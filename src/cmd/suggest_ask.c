/* SPDX-License-Identifier: Apache-2.0 */
/* From what the user asks to a question for the planner. */
#include <inttypes.h>

#include "base/num.h"
#include "cmd/suggest.h"
#include "facts/automodel.h"
#include "facts/check.h"
#include "facts/profile.h"

enum {
    TOKENS_A_STEP = 4000000,
    USUAL_SEQUENCE = 4096,
    BATCH_GRAIN = 64, /* an assumed batch is a multiple of it, so that micro-batches of 2, 4 and 8
                         divide it */
};

/* What follows from the sizes, and may be asked for all the same. */
static bool is_counted(int param)
{
    static const char *const counted[] = {"data_parallel_size", "expert_data_parallel_size",
                                          "num_microbatches"};
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (str_is(param_table[param].name, counted[i])) return true;
    return false;
}

/* Why a parameter cannot be pinned; empty: it can. */
static struct str refuse_pin(struct arena *a, int param, struct str name)
{
    if (param < 0) {
        struct str near = param_nearest(name);
        return arena_printf(a, "there is no parameter %.*s%s%.*s%s", STR_ARG(name),
                            near.n ? "; did you mean " : "", STR_ARG(near), near.n ? "?" : "");
    }
    if (str_is(param_table[param].name, "world_size"))
        return STR("the number of GPUs is given with --gpus, not as a pin");
    enum param_scope scope = param_table[param].scope;
    if (scope == SCOPE_METRIC || (scope == SCOPE_DERIVED && !is_counted(param) && !knob_find(name)))
        return arena_printf(a, "%.*s follows from other parameters and cannot be pinned",
                            STR_ARG(name));
    return (struct str){"", 0};
}

bool ask_pin(struct arena *a, struct ask *ask, size_t *cap, struct str name, struct value value,
             struct str *why)
{
    int param = param_find(name);
    *why = refuse_pin(a, param, name);
    if (why->n) return false;
    if (ask->n_pins == *cap) ask->pins = vec_grow(a, ask->pins, cap, sizeof *ask->pins);
    ask->pins[ask->n_pins++] = (struct pin){param, value};
    return true;
}

/* Whether a pin means something to a framework: it has the parameter, or none has, as the planner's
   own; or it is a knob, which some say in other words and the cost models know for all. */
static bool pin_applies(int param, enum framework framework)
{
    const struct param *p = &param_table[param];
    if (p->scope != SCOPE_PLAN && p->scope != SCOPE_RUN) return true;
    bool known = false;
    if (knob_find(p->name)) return true;
    for (int i = 0; i < FRAMEWORK_COUNT; i++)
        known = known || p->in[i].known;
    return !known || p->in[framework].known;
}

bool ask_leave_out(struct arena *a, struct ask *ask, struct str *why)
{
    for (size_t i = 0; i < ask->n_pins; i++) {
        int param = ask->pins[i].param;
        bool any = false;
        for (int f = 0; f < FRAMEWORK_COUNT; f++) {
            ask->in[f] = ask->in[f] && pin_applies(param, (enum framework)f);
            any = any || ask->in[f];
        }
        if (any) continue;
        *why = arena_printf(a, "no framework that is searched has the parameter %.*s",
                            STR_ARG(param_table[param].name));
        return false;
    }
    return true;
}

static int64_t pinned_int(const struct ask *ask, const char *name, int64_t otherwise)
{
    int param = param_find(str_of(name));
    for (size_t i = 0; i < ask->n_pins; i++)
        if (ask->pins[i].param == param && ask->pins[i].value.kind == VALUE_INT)
            return ask->pins[i].value.i;
    return otherwise;
}

void ask_complete(struct ask *ask)
{
    ask->seq = pinned_int(ask, "seq_length", ask->seq);
    ask->gbs = pinned_int(ask, "global_batch_size", ask->gbs);
    if (!ask->seq) {
        ask->seq = USUAL_SEQUENCE;
        ask->seq_assumed = true;
    }
    if (!ask->gbs) {
        int64_t grain = ask->gpus / num_gcd(ask->gpus, BATCH_GRAIN) * BATCH_GRAIN;
        bool one = ask->seq < 1 || ask->seq >= TOKENS_A_STEP; /* one grain is enough */
        int64_t tokens = one ? TOKENS_A_STEP : grain * ask->seq;
        ask->gbs = grain * ((TOKENS_A_STEP + tokens - 1) / tokens);
        ask->gbs_assumed = true;
    }
}

static void set(struct facts *f, const char *name, struct value v)
{
    facts_set(f, param_find(str_of(name)), v, ORIGIN_OPTION, NULL, (struct str){"", 0});
}

/* False with a diagnostic when a pinned value is none that its parameter takes. */
static bool set_pins(struct facts *f, const struct ask *ask)
{
    bool good = true;
    for (size_t i = 0; i < ask->n_pins; i++) {
        struct pin pin = ask->pins[i];
        struct span nowhere = {0};
        if (!value_check(f, pin.param, &pin.value, nowhere, param_table[pin.param].name))
            good = false;
        else if (!is_counted(pin.param))
            facts_set(f, pin.param, pin.value, ORIGIN_OPTION, NULL, (struct str){"", 0});
    }
    return good;
}

/* NULL with a diagnostic when a pin is no value of its parameter. */
static struct facts *facts_of(struct arena *a, struct diags *diags, const struct ask *ask,
                              enum framework framework)
{
    const struct profile *profile = profile_find(framework, (struct str){"", 0});
    struct facts *f = facts_new(a, diags, framework, profile->version);
    f->framework_known = true;
    f->format = STR("plan");
    /* A plan is for a whole model: what its mapping does not mention is not there. */
    struct model_input *whole = ARENA_NEW(a, struct model_input);
    *whole = *ask->model;
    whole->complete = true;
    model_apply(f, whole, ORIGIN_OPTION);
    platform_apply(f, ask->platform, ORIGIN_OPTION);
    set(f, "world_size", value_int(ask->gpus));
    set(f, "seq_length", value_int(ask->seq));
    set(f, "global_batch_size", value_int(ask->gbs));
    set(f, "goal", value_string(ask->goal));
    set(f, "task", value_string(ask->task));
    set(f, "precision", value_string(ask->precision));
    if (ask->model->hf_id.n) set(f, "hf_id", value_string(ask->model->hf_id));
    if (ask->mbs) set(f, "micro_batch_size", value_int(ask->mbs));
    set(f, "moe_router_force_load_balancing", value_bool(false)); /* a real run, unless pinned */
    if (!set_pins(f, ask)) return NULL;
    if (framework == FRAMEWORK_AUTOMODEL) automodel_class_facts(f);
    return f;
}

static const int *pinned_params(struct arena *a, const struct ask *ask, size_t *n)
{
    int *params = ARENA_ARRAY(a, int, ask->n_pins + 1);
    for (*n = 0; *n < ask->n_pins; (*n)++)
        params[*n] = ask->pins[*n].param;
    if (ask->mbs) params[(*n)++] = param_find(STR("micro_batch_size"));
    return params;
}

static const struct expr *compile(struct arena *a, struct diags *diags, const char *option,
                                  struct str text)
{
    uint32_t source = source_add(&diags->sources, str_of(option), text);
    struct span at = source_span(&diags->sources, source, 0, text.n);
    return expr_compile(a, diags, text, at, &facts_names);
}

/* What the user forbids, and with it every other value of a size that follows from the pinned. */
static const struct expr *const *forbidden(struct arena *a, struct diags *diags,
                                           const struct ask *ask, size_t *n)
{
    const struct expr **list = ARENA_ARRAY(a, const struct expr *, ask->n_forbid + ask->n_pins);
    *n = 0;
    for (size_t i = 0; i < ask->n_forbid; i++) {
        list[*n] = compile(a, diags, "--forbid", ask->forbid[i]);
        if (!list[(*n)++]) return NULL;
    }
    for (size_t i = 0; i < ask->n_pins; i++) {
        const struct pin *pin = &ask->pins[i];
        if (!is_counted(pin->param) || pin->value.kind != VALUE_INT) continue;
        struct str text = arena_printf(a, "plan.%.*s != %" PRId64,
                                       STR_ARG(param_table[pin->param].name), pin->value.i);
        list[(*n)++] = compile(a, diags, "--pin", text);
    }
    return list;
}

bool ask_framework(struct arena *a, struct arena *scratch, struct diags *diags,
                   const struct rule_set *rules, const struct ask *ask, enum framework framework,
                   struct answer *out)
{
    struct question q = {
        .rules = rules, .facts = facts_of(a, diags, ask, framework), .top = (size_t)ask->top};
    q.forbid = forbidden(a, diags, ask, &q.n_forbid);
    if (!q.facts || !q.forbid) return false;
    q.pins = pinned_params(a, ask, &q.n_pins);
    return planner_answer(a, &q, scratch, out);
}
