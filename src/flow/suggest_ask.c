/* SPDX-License-Identifier: Apache-2.0 */
/* From what the user asks to a question for the planner. */
#include <inttypes.h>

#include "base/edit.h"
#include "base/num.h"
#include "choose/playbook.h"
#include "facts/automodel.h"
#include "facts/check.h"
#include "facts/param_ids.h"
#include "facts/precision.h"
#include "facts/profile.h"
#include "flow/suggest.h"

enum {
    TOKENS_A_STEP = 4000000,
    TUNING_SEQUENCES = 128, /* a step of sft and peft */
    USUAL_SEQUENCE = 4096,
    BATCH_GRAIN = 64, /* an assumed batch is a multiple of it, so that micro-batches of 2, 4 and 8
                         divide it */
};

/* The wishes that are words: what each may be, the default first. */
static const struct wish {
    const char *name, *words;
} wishes[] = {
    {"goal", "throughput|bringup|memory"},
    {"numerics", "tuned|strict"},
    {"task", "pretrain|sft|peft|qlora|projector"},
    {"precision", "bf16|fp16|fp8_delayed|fp8_tensorwise|fp8_blockwise|mxfp8|nvfp4"},
    {"framework", FRAMEWORK_WORDS},
};
enum { WISH_GOAL, WISH_NUMERICS, WISH_TASK, WISH_PRECISION, WISH_FRAMEWORK };

static bool bad_wish(struct arena *a, const struct wish *wish, struct str word, struct str *why)
{
    struct str near = edit_near(a, str_lower(a, word), wish->words);
    *why = arena_printf(a, "the %s must be one of %s, not %.*s%.*s", wish->name, wish->words,
                        STR_ARG(word), STR_ARG(near));
    return false;
}

/* The word itself, typed in any case, or the default where there is none; false when it is none of
   the wish's. */
static bool check_word(struct arena *a, const struct wish *wish, struct str *word, struct str *why)
{
    struct str rest = str_of(wish->words), one;
    while (str_split(&rest, '|', &one)) {
        if (!word->n) *word = one;
        if (!str_eq_nocase(*word, one)) continue;
        *word = one;
        return true;
    }
    return bad_wish(a, wish, *word, why);
}

bool ask_words(struct arena *a, struct ask *ask, struct str *why)
{
    ask->precision = precision_word(ask->precision);
    return check_word(a, &wishes[WISH_GOAL], &ask->goal, why) &&
           check_word(a, &wishes[WISH_NUMERICS], &ask->numerics, why) &&
           check_word(a, &wishes[WISH_TASK], &ask->task, why) &&
           check_word(a, &wishes[WISH_PRECISION], &ask->precision, why);
}

bool ask_in(struct arena *a, struct ask *ask, struct str framework, struct str *why)
{
    enum framework f;
    if (!framework_from_name(framework, &f))
        return bad_wish(a, &wishes[WISH_FRAMEWORK], framework, why);
    ask->in[f] = true;
    return true;
}

/* What follows from the sizes, and may be asked for all the same. */
static bool is_counted(int param)
{
    static const int counted[] = {P_data_parallel_size, P_expert_data_parallel_size,
                                  P_num_microbatches};
    return param_among(param, counted, sizeof counted / sizeof *counted);
}

/* Why a parameter cannot be pinned; empty: it can. */
static struct str refuse_pin(struct arena *a, int param, struct str name)
{
    if (param < 0) {
        int meant = param_meant(name);
        struct str near = meant >= 0 ? param_name(meant) : param_nearest(name);
        return arena_printf(a, "there is no parameter %.*s%s%.*s%s", STR_ARG(name),
                            near.n ? "; did you mean " : "", STR_ARG(near), near.n ? "?" : "");
    }
    if (param == P_world_size) return STR("the number of GPUs is given with --gpus, not as a pin");
    enum param_scope scope = param_table[param].scope;
    if (scope == SCOPE_METRIC || (scope == SCOPE_DERIVED && !is_counted(param) && !knob_of(param)))
        return arena_printf(a, "%.*s follows from other parameters and cannot be pinned",
                            STR_ARG(name));
    return (struct str){"", 0};
}

bool ask_pin(struct arena *a, struct ask *ask, struct setting pin, struct str *why)
{
    struct diags found;
    struct value value;
    int param = param_typed(pin.name);
    diags_init(&found, a);
    *why = refuse_pin(a, param, pin.name);
    if (why->n) return false;
    pin.name = param_table[param].name;
    if (!setting_value(a, &found, &pin, param, &value)) {
        const struct diag *d = &found.items[0];
        *why = arena_printf(a, "%.*s (%.*s)", STR_ARG(d->message), STR_ARG(d->help));
        return false;
    }
    *VEC_PUSH(a, &ask->pins) = (struct pin){param, value};
    return true;
}

static struct str nothing_pinned(struct arena *a, struct str name)
{
    int param = param_typed(name);
    if (param < 0) return refuse_pin(a, param, name);
    return arena_printf(a, "%.*s takes %s, and there is nothing behind the =", STR_ARG(name),
                        param_type_words(param_table[param].type));
}

bool ask_pins(struct arena *a, struct ask *ask, struct str list, struct str *why)
{
    struct str item;
    while (str_split(&list, ',', &item)) {
        struct setting pin;
        if (!setting_parse(a, item, &pin)) {
            *why = arena_printf(a, "a pin is NAME=VALUE, not %.*s", STR_ARG(item));
            return false;
        }
        pin.name = str_trim(pin.name);
        if (!str_trim(pin.text).n) {
            *why = nothing_pinned(a, pin.name);
            return false;
        }
        if (!ask_pin(a, ask, pin, why)) return false;
    }
    return true;
}

static struct value target_list(struct arena *a, struct str targets)
{
    VEC(struct value) list = {0};
    struct str one;
    while (str_split(&targets, ',', &one))
        if (str_trim(one).n) *VEC_PUSH(a, &list) = value_string(str_trim(one));
    return value_list_of(a, list.items, list.n);
}

/* Tasks that are another one with pins, and what a framework must know to do them. */
static const struct called_task {
    const char *name, *task;
    int needs;
    struct {
        int param;
        bool value;
    } pins[3];
    size_t n_pins;
} called_tasks[] = {
    {"qlora", "peft", P_load_in_4bit, {{P_load_in_4bit, true}}, 1},
    {"projector",
     "sft",
     P_freeze_vision_projection,
     {{P_freeze_language_model, true},
      {P_freeze_vision_model, true},
      {P_freeze_vision_projection, false}},
     3},
};
enum { CALLED_TASKS = sizeof called_tasks / sizeof *called_tasks };

static const struct called_task *task_called(struct str name)
{
    for (size_t i = 0; i < CALLED_TASKS; i++)
        if (str_is(name, called_tasks[i].name)) return &called_tasks[i];
    return NULL;
}

static void pin_called(struct arena *a, struct ask *ask)
{
    const struct called_task *t = task_called(ask->task);
    if (!t) return;
    ask->called = ask->task;
    ask->task = str_of(t->task);
    for (size_t i = 0; i < t->n_pins; i++)
        *VEC_PUSH(a, &ask->pins) = (struct pin){t->pins[i].param, value_bool(t->pins[i].value)};
}

struct str ask_task(const struct ask *ask)
{
    return ask->called.n ? ask->called : ask->task;
}

static bool pin_adapters(struct arena *a, struct ask *ask, struct str *why)
{
    struct setting rank = {.name = param_name(P_peft_dim), .value = value_int(ask->lora_rank)};
    struct setting targets = {.name = param_name(P_peft_target_modules),
                              .value = target_list(a, ask->lora_targets)};
    if (!ask->lora_rank && !ask->lora_targets.n) return true;
    if (!str_is(ask->task, "peft")) {
        *why = STR("the adapters' rank and targets go with task peft or qlora");
        return false;
    }
    return (!ask->lora_rank || ask_pin(a, ask, rank, why)) &&
           (!ask->lora_targets.n || ask_pin(a, ask, targets, why));
}

/* Megatron-LM and AutoModel; for tasks of their own those that have them. */
static void usual_frameworks(struct ask *ask)
{
    const struct called_task *t = task_called(ask->called);
    int needs = t ? t->needs : str_is(ask->task, "peft") ? P_peft_dim : P_NONE;
    for (int f = 0; f < FRAMEWORK_COUNT; f++)
        ask->in[f] = needs != P_NONE ? param_table[needs].in[f]->known : f != FRAMEWORK_BRIDGE;
}

/* Whether a value only says that something is not done. */
static bool is_off(struct value v)
{
    return v.kind == VALUE_NULL || (v.kind == VALUE_BOOL && !v.b) ||
           (v.kind == VALUE_STRING && str_is(v.s, "none"));
}

/* The strategy of AutoModel that plans have unless it is pinned. */
static struct str strategy_of(const struct ask *ask)
{
    for (size_t i = 0; i < ask->pins.n; i++)
        if (ask->pins.items[i].param == P_strategy) return ask->pins.items[i].value.s;
    return STR("fsdp2");
}

/* The strategy of AutoModel that alone takes a pin, where plans have another one; empty: none. */
static struct str strategy_missing(const struct ask *ask, const struct pin *pin)
{
    const struct param_spelling *spelling = param_table[pin->param].in[FRAMEWORK_AUTOMODEL];
    struct str needed = automodel_strategy_of(spelling->key);
    /* a knob is written as the strategy of its plan has it */
    bool taken = knob_of(pin->param) || is_off(pin->value) || str_eq(needed, strategy_of(ask));
    return taken ? (struct str){"", 0} : needed;
}

/* Whether a pin means something to a framework: it has the parameter, or none has, as the planner's
   own; or it is a knob that the framework says in other words, or goes without. */
static bool pin_applies(const struct ask *ask, const struct pin *pin, enum framework framework)
{
    const struct param *p = &param_table[pin->param];
    const struct knob *knob = knob_of(pin->param);
    if (framework == FRAMEWORK_AUTOMODEL && strategy_missing(ask, pin).n) return false;
    if (p->scope != SCOPE_PLAN && p->scope != SCOPE_RUN) return true;
    if (knob && (knob_is_sayable(knob, framework) || is_off(pin->value))) return true;
    return !param_is_spelled(p) || p->in[framework]->known;
}

/* A pin that something is not frozen means nothing to a framework that cannot freeze it alone. */
static bool task_applies(const struct ask *ask, int framework)
{
    const struct called_task *t = task_called(ask->called);
    return !t || param_table[t->needs].in[framework]->known;
}

static struct str refuse_everywhere(struct arena *a, const struct ask *ask, const struct pin *pin)
{
    struct str name = param_table[pin->param].name, strategy = strategy_missing(ask, pin);
    if (!strategy.n)
        return arena_printf(a, "no framework that is searched has the parameter %.*s",
                            STR_ARG(name));
    return arena_printf(a,
                        "%.*s is an option of NeMo AutoModel's strategy %.*s: pin "
                        "strategy=%.*s too",
                        STR_ARG(name), STR_ARG(strategy), STR_ARG(strategy));
}

static bool leave_out(struct arena *a, struct ask *ask, struct str *why)
{
    bool able = false;
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        ask->in[f] = ask->in[f] && task_applies(ask, f);
        able = able || ask->in[f];
    }
    if (!able) {
        *why =
            arena_printf(a, "no framework that is searched can train %.*s", STR_ARG(ask_task(ask)));
        return false;
    }
    for (size_t i = 0; i < ask->pins.n; i++) {
        const struct pin *pin = &ask->pins.items[i];
        bool any = false;
        for (int f = 0; f < FRAMEWORK_COUNT; f++) {
            ask->in[f] = ask->in[f] && pin_applies(ask, pin, (enum framework)f);
            any = any || ask->in[f];
        }
        if (any) continue;
        *why = refuse_everywhere(a, ask, pin);
        return false;
    }
    return true;
}

/* Leaves out the frameworks that have no such release; one must be left. */
static bool leave_out_releases(struct arena *a, struct ask *ask, struct str *why)
{
    struct buf known = buf_new(a);
    bool any = false;
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        if (ask->in[f])
            buf_printf(&known, "%s%s %.*s", known.n ? "; " : "", framework_name((enum framework)f),
                       STR_ARG(profile_list(a, (enum framework)f)));
        ask->in[f] = ask->in[f] && profile_find((enum framework)f, ask->version);
        any = any || ask->in[f];
    }
    if (!any)
        *why = arena_printf(a, "no profile of version %.*s; known are %.*s", STR_ARG(ask->version),
                            STR_ARG(buf_str(&known)));
    return any;
}

bool ask_settle(struct arena *a, struct ask *ask, struct str *why)
{
    bool named = false;
    pin_called(a, ask);
    for (int f = 0; f < FRAMEWORK_COUNT; f++)
        named = named || ask->in[f];
    if (!named) usual_frameworks(ask);
    return leave_out_releases(a, ask, why) && pin_adapters(a, ask, why) && leave_out(a, ask, why);
}

static int64_t pinned_int(const struct ask *ask, int param, int64_t otherwise)
{
    for (size_t i = 0; i < ask->pins.n; i++)
        if (ask->pins.items[i].param == param && ask->pins.items[i].value.kind == VALUE_INT)
            return ask->pins.items[i].value.i;
    return otherwise;
}

/* The smallest multiple of the grain that is enough. */
static int64_t multiple(int64_t grain, int64_t enough)
{
    return grain * ((enough + grain - 1) / grain);
}

/* Every data-parallel size that the GPUs can have divides it, and so do micro-batches, as far as
   that leaves it near what is enough: neighbouring numbers of GPUs are to be asked about alike. */
static int64_t usual_batch(const struct ask *ask)
{
    if (str_is_any(ask->task, "sft|peft")) return multiple(ask->gpus, TUNING_SEQUENCES);
    int64_t seq = ask->seq < 1 ? TOKENS_A_STEP : ask->seq;
    int64_t enough = (TOKENS_A_STEP + seq - 1) / seq, batch = 0;
    int64_t near = enough > BATCH_GRAIN ? enough : BATCH_GRAIN;
    for (int64_t even = BATCH_GRAIN; even >= 1 && (!batch || 2 * batch > 3 * near); even /= 2)
        batch = multiple(ask->gpus / num_gcd(ask->gpus, even) * even, enough);
    return batch;
}

void ask_complete(struct ask *ask)
{
    ask->seq = pinned_int(ask, P_seq_length, ask->seq);
    ask->gbs = pinned_int(ask, P_global_batch_size, ask->gbs);
    if (!ask->seq) {
        ask->seq = USUAL_SEQUENCE;
        ask->seq_assumed = true;
    }
    if (!ask->gbs) {
        ask->gbs = usual_batch(ask);
        ask->gbs_assumed = true;
    }
}

static void set(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_OPTION, NULL, (struct str){"", 0});
}

/* A size that the user may have left open. */
static void set_size(struct facts *f, int param, int64_t n, bool assumed)
{
    facts_set(f, param, value_int(n), assumed ? ORIGIN_ASSUMED : ORIGIN_OPTION, NULL,
              (struct str){"", 0});
}

static void set_pins(struct facts *f, const struct ask *ask)
{
    for (size_t i = 0; i < ask->pins.n; i++) {
        const struct pin *pin = &ask->pins.items[i];
        if (!is_counted(pin->param))
            facts_set(f, pin->param, pin->value, ORIGIN_OPTION, NULL, (struct str){"", 0});
    }
}

/* AutoModel has two names for a microbatch: its own where a schedule takes the local batch, else
   the local batch. Asked for is its size, which each plan says by the name that it has there; who
   pins both says a local batch and the microbatches in it. */
static void set_microbatch(struct facts *f)
{
    const struct fact *own = facts_get(f, P_pp_microbatch_size),
                      *local = facts_get(f, P_micro_batch_size);
    if (f->framework != FRAMEWORK_AUTOMODEL || fact_is_set(own) == fact_is_set(local)) return;
    struct value size = fact_is_set(own) ? own->value : local->value;
    facts_change(f, P_micro_batch_size)->value = size;
    facts_change(f, P_micro_batch_size)->origin = ORIGIN_DEFAULT; /* a plan may have another */
    facts_change(f, P_pp_microbatch_size)->value = facts_default(f, P_pp_microbatch_size);
    facts_change(f, P_pp_microbatch_size)->origin = ORIGIN_DEFAULT;
}

/* A flex dispatcher is told by its type and its backend: who pins one of them means both, but for
   DeepEP on a rack, for which it has no kernels: that word alone makes no dispatcher there. Left
   open, the backend of a rack is the one that has kernels for it (dispatcher_moves of plan/move.c),
   which is not the framework's default. */
static void set_dispatcher(struct facts *f)
{
    const int type = P_moe_token_dispatcher_type, backend = P_moe_flex_dispatcher_backend;
    bool rack = facts_int(f, P_nvlink_domain, 0) > facts_int(f, P_gpus_per_node, 0);
    bool typed = fact_is_set(facts_get(f, type)), backed = fact_is_set(facts_get(f, backend));
    if (typed == backed || facts_int(f, P_num_moe_experts, 0) <= 0) return;
    if (!facts_can_say(f, type) || !facts_can_say(f, backend)) return;
    bool kernels = !rack || str_is(facts_str(f, backend), "hybridep");
    if (backed && kernels && facts_get(f, backend)->value.kind == VALUE_STRING)
        set(f, type, value_string(STR("flex")));
    else if (typed && rack && str_is(facts_str(f, type), "flex"))
        set(f, backend, value_string(STR("hybridep")));
}

/* Who pins local graphs and no parts means none; unsaid over a recipe, its parts would stand. */
static void set_graphs(struct facts *f)
{
    bool local = str_is(facts_str(f, P_cuda_graph_impl), "local");
    if (f->framework == FRAMEWORK_BRIDGE && local && !fact_is_set(facts_get(f, P_cuda_graph_scope)))
        set(f, P_cuda_graph_scope, value_list_of(f->arena, NULL, 0));
}

static struct facts *facts_of(struct arena *a, struct diags *diags, const struct ask *ask,
                              enum framework framework)
{
    struct facts *f =
        facts_new_plan(a, diags, framework, profile_find(framework, ask->version)->version);
    f->framework_known = true;
    model_apply(f, ask->model, ORIGIN_OPTION);
    platform_apply(f, ask->platform, ORIGIN_OPTION);
    set(f, P_world_size, value_int(ask->gpus));
    set_size(f, P_seq_length, ask->seq, ask->seq_assumed);
    set_size(f, P_global_batch_size, ask->gbs, ask->gbs_assumed);
    set(f, P_goal, value_string(ask->goal));
    if (str_is(ask->numerics, "strict")) set(f, P_numerics, value_string(ask->numerics));
    set(f, P_task, value_string(ask->task));
    set(f, P_precision, value_string(ask->precision));
    if (ask->model->hf_id.n) set(f, P_hf_id, value_string(ask->model->hf_id));
    if (ask->mbs) set(f, P_micro_batch_size, value_int(ask->mbs));
    if (model_field_get(ask->model, P_num_moe_experts)) /* a real run, unless pinned */
        set(f, P_moe_router_force_load_balancing, value_bool(false));
    set_pins(f, ask);
    set_microbatch(f);
    set_dispatcher(f);
    set_graphs(f);
    framework_facts(f);
    if (framework == FRAMEWORK_BRIDGE) /* what is written for it overrides a recipe */
        set(f, P_over_recipe, value_bool(true));
    return f;
}

/* MTP layers that the release does not build beside the model's attention are left out of its
   plans, unless they are pinned; true: that is news to the user. Not even 0 may be said of them. */
static bool leave_mtp_out(struct arena *scratch, const struct rule_set *rules,
                          const struct ask *ask, struct facts *f)
{
    const struct rule *r = rules_find(rules, STR("attention-variant-without-mtp"));
    bool pinned = false;
    for (size_t i = 0; i < ask->pins.n; i++)
        pinned = pinned || ask->pins.items[i].param == P_mtp_num_layers;
    bool any = facts_int(f, P_mtp_num_layers, 0) != 0;
    if (pinned && any) return false;
    if (!r || !rule_is_for(r, f) || rule_evaluate(r, f, scratch) != OUTCOME_FAIL) return false;
    set(f, P_mtp_num_layers, value_null());
    return any;
}

/* The search is about the newest release: it has words for all that it decides. */
static bool is_newest(const struct facts *f)
{
    return f->profile == profile_find(f->framework, STR(""));
}

/* What the release cannot be told stays at its default: nobody decides it. */
static size_t pin_unsayable(struct facts *f, int *params)
{
    size_t n = 0;
    for (int i = 0; !is_newest(f) && i < (int)param_count; i++) {
        if (facts_can_say(f, i) || fact_is_set(facts_get(f, i))) continue;
        facts_set(f, i, facts_default(f, i), ORIGIN_OPTION, NULL, f->version);
        params[n++] = i;
    }
    return n;
}

static const int *pinned_params(struct arena *a, const struct ask *ask, struct facts *f, size_t *n)
{
    int *params = ARENA_ARRAY(a, int, ask->pins.n + 1 + param_count);
    for (*n = 0; *n < ask->pins.n; (*n)++)
        params[*n] = ask->pins.items[*n].param;
    if (ask->mbs) params[(*n)++] = P_micro_batch_size;
    *n += pin_unsayable(f, params + *n);
    return params;
}

/* What the model or a pin needs and the release has no word for: an error each. */
static bool check_sayable(struct diags *diags, const struct facts *f)
{
    bool good = true;
    for (int i = 0; !is_newest(f) && i < (int)param_count; i++) {
        struct value v = facts_get(f, i)->value;
        bool said = fact_is_set(facts_get(f, i)) && v.kind != VALUE_NULL && v.kind != VALUE_UNKNOWN;
        if (!said || facts_can_say(f, i) || value_eq(v, facts_default(f, i))) continue;
        diag_add(diags, SEVERITY_ERROR, "framework-version", (struct span){0},
                 "%s %.*s has no %.*s", framework_full_name(f->framework), STR_ARG(f->version),
                 STR_ARG(param_table[i].name));
        good = false;
    }
    return good;
}

/* The text of an option as a source of its own. */
static struct span option_span(struct diags *diags, const char *option, struct str text)
{
    uint32_t source = source_add(&diags->sources, str_of(option), text);
    return source_span(&diags->sources, source, 0, text.n);
}

static const struct expr *compile(struct arena *a, struct diags *diags, const char *option,
                                  struct str text)
{
    return expr_compile(a, diags, text, option_span(diags, option, text), &facts_names);
}

/* An expression that is true or false, as far as that is known beforehand; NULL with an error. */
static const struct expr *compile_forbid(struct arena *a, struct diags *diags, struct str text)
{
    const struct expr *e = compile(a, diags, "--forbid", text);
    if (!e || expr_result_type(e) == EXPR_BOOL || expr_result_type(e) == EXPR_DYN) return e;
    struct diag *d =
        diag_add(diags, SEVERITY_ERROR, "expression", option_span(diags, "--forbid", text),
                 "the expression is neither true nor false");
    diag_help(diags, d, "compare it with something, as in plan.etp > 1");
    return NULL;
}

/* "plan.x != null && !(plan.x in [...])", of a list for one of its items. */
static struct str not_among(struct arena *a, const struct profile_choices *c)
{
    const struct param *p = &param_table[c->param];
    bool list = p->type == PARAM_LIST;
    struct buf text = buf_new(a);
    buf_printf(&text, "plan.%.*s != null && ", STR_ARG(p->name));
    if (list)
        buf_printf(&text, "plan.%.*s.exists(e, !(e in [", STR_ARG(p->name));
    else
        buf_printf(&text, "!(plan.%.*s in [", STR_ARG(p->name));
    for (size_t k = 0; k < c->n; k++)
        buf_printf(&text, "%s\"%.*s\"", k ? ", " : "", STR_ARG(c->items[k]));
    buf_add(&text, list ? STR("]))") : STR("])"));
    return buf_str(&text);
}

/* Choices that the release has not: the newest one's are what the search looks at. */
static size_t unknown_words(struct arena *a, struct diags *diags, const struct facts *f,
                            const struct expr **list)
{
    size_t n = 0;
    for (uint32_t i = 0; i < profile_choices_count; i++) {
        const struct profile_choices *c = &profile_choices_table[i];
        enum param_type type = param_table[c->param].type;
        bool here = c->framework == f->framework && c->releases & facts_release(f);
        if (here && (type == PARAM_STRING || type == PARAM_LIST))
            list[n++] = compile(a, diags, "--framework-version", not_among(a, c));
    }
    return n;
}

/* What the user forbids, and with it every other value of a size that follows from the pinned. */
static const struct expr *const *forbidden(struct arena *a, struct diags *diags,
                                           const struct ask *ask, const struct facts *f, size_t *n)
{
    size_t most = ask->n_forbid + ask->pins.n + profile_choices_count;
    const struct expr **list = ARENA_ARRAY(a, const struct expr *, most);
    *n = 0;
    for (size_t i = 0; i < ask->n_forbid; i++) {
        list[*n] = compile_forbid(a, diags, ask->forbid[i]);
        if (!list[(*n)++]) return NULL;
    }
    for (size_t i = 0; i < ask->pins.n; i++) {
        const struct pin *pin = &ask->pins.items[i];
        if (!is_counted(pin->param) || pin->value.kind != VALUE_INT) continue;
        list[(*n)++] = compile(a, diags, "--pin",
                               arena_printf(a, "plan.%.*s != %" PRId64,
                                            STR_ARG(param_table[pin->param].name), pin->value.i));
    }
    *n += unknown_words(a, diags, f, list + *n);
    return list;
}

/* Names the public recipe that is near to what is shown, or the nearest that there is. */
static void name_recipe(struct arena *a, const struct facts *f, struct answer *answer)
{
    struct contender *plans = ARENA_ARRAY(a, struct contender, answer->n);
    for (size_t i = 0; i < answer->n; i++)
        plans[i] = answer->plans[i].costs;
    answer->playbook =
        playbook_name(a, answer->recipes, answer->n_recipes, &answer->base, plans, answer->n);
    answer->playbook_far = answer->playbook.n == 0;
    if (answer->playbook_far) answer->playbook = playbook_nearest(a, f, &answer->base);
}

bool ask_framework(struct arena *a, struct arena *scratch, struct diags *diags,
                   const struct rule_set *rules, const struct ask *ask, enum framework framework,
                   struct answer *out)
{
    struct plan_request q = {.rules = rules,
                             .facts = facts_of(a, diags, ask, framework),
                             .top = (size_t)ask->top,
                             .no_playbook = ask->no_playbook,
                             .exhaustive = ask->exhaustive,
                             .whether = ask->whether};
    bool without_mtp = leave_mtp_out(scratch, rules, ask, q.facts);
    q.forbid = forbidden(a, diags, ask, q.facts, &q.n_forbid);
    if (!q.forbid) return false;
    if (!check_sayable(diags, q.facts)) return false;
    q.pins = pinned_params(a, ask, q.facts, &q.n_pins);
    if (!planner_answer(a, &q, scratch, out)) return false;
    out->without_mtp = without_mtp;
    if (!ask->no_playbook) name_recipe(a, q.facts, out);
    return true;
}

/* How one of the expressions fared over all frameworks. */
static struct forbid_tally tally_of(const struct answer *answers, size_t n, size_t i)
{
    struct forbid_tally sum = {0};
    for (size_t k = 0; k < n; k++) {
        if (!answers[k].forbid) continue;
        const struct forbid_tally *one = &answers[k].forbid[i];
        if (one->undecided && !sum.undecided) memcpy(sum.why, one->why, sizeof sum.why);
        sum.asked += one->asked;
        sum.undecided += one->undecided;
    }
    return sum;
}

bool ask_judge_forbid(struct arena *a, struct diags *diags, const struct ask *ask,
                      const struct answer *answers, size_t n, struct notes *notes)
{
    for (size_t i = 0; i < ask->n_forbid; i++) {
        struct forbid_tally sum = tally_of(answers, n, i);
        struct str text = ask->forbid[i];
        if (sum.undecided == 0) continue;
        if (sum.undecided == sum.asked) {
            diag_add(diags, SEVERITY_ERROR, "expression", option_span(diags, "--forbid", text),
                     "the expression cannot be decided of any plan: %s", sum.why);
            return false;
        }
        *VEC_PUSH(a, notes) = arena_printf(
            a, "--forbid '%.*s' cannot be decided of %zu of %zu plans, which are not left out: %s",
            STR_ARG(text), sum.undecided, sum.asked, sum.why);
    }
    return true;
}
