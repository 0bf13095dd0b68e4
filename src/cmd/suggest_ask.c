/* SPDX-License-Identifier: Apache-2.0 */
/* From what the user asks to a question for the planner. */
#include "base/num.h"
#include "cmd/suggest.h"
#include "facts/automodel.h"
#include "facts/profile.h"

enum {
    TOKENS_A_STEP = 4000000,
    USUAL_SEQUENCE = 4096,
    BATCH_GRAIN = 64, /* an assumed batch is a multiple of it, so that micro-batches of 2, 4 and 8
                         divide it */
};

bool ask_pin(struct arena *a, struct ask *ask, size_t *cap, struct str name, struct value value,
             struct str *why)
{
    int param = param_find(name);
    if (param < 0) {
        struct str near = param_nearest(name);
        *why = arena_printf(a, "there is no parameter %.*s%s%.*s%s", STR_ARG(name),
                            near.n ? "; did you mean " : "", STR_ARG(near), near.n ? "?" : "");
        return false;
    }
    if (ask->n_pins == *cap) ask->pins = vec_grow(a, ask->pins, cap, sizeof *ask->pins);
    ask->pins[ask->n_pins++] = (struct pin){param, value};
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
        int64_t grain = ask->gpus / num_gcd(ask->gpus, BATCH_GRAIN) * BATCH_GRAIN,
                tokens = grain * ask->seq;
        ask->gbs = grain * ((TOKENS_A_STEP + tokens - 1) / tokens);
        ask->gbs_assumed = true;
    }
}

static void set(struct facts *f, const char *name, struct value v)
{
    facts_set(f, param_find(str_of(name)), v, ORIGIN_OPTION, NULL, (struct str){"", 0});
}

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
    for (size_t i = 0; i < ask->n_pins; i++)
        facts_set(f, ask->pins[i].param, ask->pins[i].value, ORIGIN_OPTION, NULL,
                  (struct str){"", 0});
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

static const struct expr *const *forbidden(struct arena *a, struct diags *diags,
                                           const struct ask *ask)
{
    const struct expr **list = ARENA_ARRAY(a, const struct expr *, ask->n_forbid);
    for (size_t i = 0; i < ask->n_forbid; i++) {
        uint32_t source = source_add(&diags->sources, STR("--forbid"), ask->forbid[i]);
        struct span at = source_span(&diags->sources, source, 0, ask->forbid[i].n);
        list[i] = expr_compile(a, diags, ask->forbid[i], at, &facts_names);
        if (!list[i]) return NULL;
    }
    return list;
}

bool ask_framework(struct arena *a, struct arena *scratch, struct diags *diags,
                   const struct rule_set *rules, const struct ask *ask, enum framework framework,
                   struct answer *out)
{
    struct question q = {.rules = rules,
                         .facts = facts_of(a, diags, ask, framework),
                         .forbid = forbidden(a, diags, ask),
                         .n_forbid = ask->n_forbid,
                         .top = (size_t)ask->top};
    if (!q.forbid) return false;
    q.pins = pinned_params(a, ask, &q.n_pins);
    return planner_answer(a, &q, scratch, out);
}
