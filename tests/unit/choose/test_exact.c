/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's best plan against loops that know nothing of its search: every layout, micro-batch
   and state of the table of moves, each estimated and, where it would be the best, put to the
   rules. A few fixed questions; with an argument many that a fixed seed draws. */
#include "facts/param_ids.h"
#include "unit/plan_text.h"

#include <math.h>

#include "choose/planner.h"
#include "cost/split.h"
#include "plan/framework.h"
#include "plan/move.h"

/* ---- questions ---- */

enum { MOST_PINS = 16, MOST_COMBINATIONS = 30000, DRAWN = 200 };
static const double TOLERANCE = 0.01;

struct question {
    const char *framework, *model, *platform, *precision;
    int gpus, gbs, seq;
    const char *pins[MOST_PINS]; /* lines of a plan; NULL: no more */
    const char *forbid;          /* an expression, or NULL */
};

/* A question with what it was made into. */
struct asked {
    struct plan_request request;
    struct answer answer;
    int pins[MOST_PINS];
};

static int param_of_line(const char *line)
{
    struct str name = {line, strcspn(line, ":")};
    int param = param_find(name);
    if (param < 0) fail_msg("no parameter %.*s", STR_ARG(name));
    return param;
}

static const struct expr *const *forbidden(struct arena *a, const char *text)
{
    const struct expr **list = ARENA_NEW(a, const struct expr *);
    struct diags diags;
    diags_init(&diags, a);
    *list = expr_compile(a, &diags, str_of(text), (struct span){0}, &facts_names);
    assert_non_null(*list);
    return list;
}

static void state_question(struct arena *a, const struct question *q, struct asked *out)
{
    struct str text = arena_printf(
        a,
        "moeplan: 1\nframework: %s\nmodel: %s\nplatform: %s\nprecision: %s\ngpus: %d\ngbs: %d\n"
        "seq: %d\ngoal: throughput\ntask: pretrain\nmoe_router_force_load_balancing: false\n",
        q->framework, q->model, q->platform, q->precision, q->gpus, q->gbs, q->seq);
    size_t n = 0;
    for (; n < MOST_PINS && q->pins[n]; n++) {
        text = arena_printf(a, "%.*s%s\n", STR_ARG(text), q->pins[n]);
        out->pins[n] = param_of_line(q->pins[n]);
    }
    out->request = (struct plan_request){.rules = rules_builtin(),
                                         .facts = text_facts(a, "plan", text),
                                         .pins = out->pins,
                                         .n_pins = n,
                                         .top = 4,
                                         .no_playbook = true};
    if (q->forbid) {
        out->request.forbid = forbidden(a, q->forbid);
        out->request.n_forbid = 1;
    }
}

static void ask(struct arena *a, const struct question *q, struct asked *out, struct arena *scratch)
{
    state_question(a, q, out);
    assert_true(planner_answer(a, &out->request, scratch, &out->answer));
}

/* ---- every plan ---- */

struct found {
    bool any;
    struct knobs knobs;
    double score, step_s;
};

struct loops {
    const struct plan_request *request;
    const struct answer *answer;
    struct arena *arena, *scratch;
    VEC(const struct knob *) pinned;
    struct config c;
    struct layout layout;
    size_t combinations;
    bool counts;     /* only that */
    bool tight;      /* what may fit will do, as nothing surely does */
    bool offloads;   /* the states that keep something on the CPU are looked at too */
    bool everywhere; /* on all layouts, as the best plan has such states */
    bool fits;       /* something did on the present layout */
    struct found best, fastest;
};

static bool is_pinned(const struct loops *l, const struct knob *knob)
{
    for (size_t i = 0; i < l->pinned.n; i++)
        if (l->pinned.items[i] == knob) return true;
    return false;
}

static bool agrees(const struct loops *l)
{
    for (size_t i = 0; i < l->pinned.n; i++)
        if (knob_number(&l->c.knobs, l->pinned.items[i]) !=
            knob_number(&l->answer->base.knobs, l->pinned.items[i]))
            return false;
    return true;
}

static bool is_forbidden(const struct loops *l, const struct facts *f)
{
    struct expr_scope scope = facts_scope(f);
    for (size_t i = 0; i < l->request->n_forbid; i++) {
        struct value v = expr_eval(l->request->forbid[i], l->scratch, &scope);
        if (v.kind == VALUE_BOOL && v.b) return true;
    }
    return false;
}

/* Whether the finished plan breaks any rule, or what is forbidden. */
static bool is_refused(struct loops *l)
{
    struct arena_mark mark = arena_mark(l->arena);
    struct diags diags;
    diags_init(&diags, l->arena);
    struct facts *f = facts_copy(l->arena, l->request->facts);
    f->diags = &diags;
    config_to_facts(&l->c, f);
    planner_complete(l->request->rules, f, l->scratch);
    facts_derive(f);
    bool refused = is_forbidden(l, f);
    rules_apply_overrides(l->request->rules, f, l->scratch);
    refused = refused || rules_first_error(l->request->rules, f, l->scratch);
    arena_pop(l->arena, mark);
    return refused;
}

/* Such a plan is shown as the fastest, but never first. */
static bool is_risky(const struct loops *l)
{
    const struct config *base = &l->answer->base;
    return move_risks_of(base, &l->c) & RISK_DYNAMIC_GRAPHS & ~base->knobs.open_numerics;
}

static bool has_room(const struct loops *l, const struct memory_estimate *m)
{
    return m->fits == FITS_YES ||
           (l->tight && m->fits == FITS_TIGHT && m->peak <= l->c.machine.capacity_bytes);
}

static void try_plan(struct loops *l)
{
    struct memory_estimate memory;
    struct time_estimate time;
    l->combinations++;
    if (l->counts || !split_plan(&l->c, &l->layout)) return;
    if (!memory_estimate(&l->c, &memory, NULL) || !has_room(l, &memory)) return;
    l->fits = l->fits || l->c.knobs.recompute != RECOMPUTE_FULL ||
              is_pinned(l, knob_of(P_recompute_granularity));
    if (!time_estimate(&l->c, &time, NULL)) return;
    double wish = prefer_sum(l->answer->preferences, l->answer->n_preferences, &l->c.knobs);
    struct found x = {true, l->c.knobs, time.step * prefer_factor(wish), time.step};
    bool best = !is_risky(l) && (!l->best.any || x.score < l->best.score),
         fastest = !l->fastest.any || x.step_s < l->fastest.step_s;
    if ((!best && !fastest) || is_refused(l)) return;
    if (best) l->best = x;
    if (fastest) l->fastest = x;
}

/* Whether the states of a decision are looked at. */
static bool is_open(const struct loops *l, const struct decision *d)
{
    bool offload =
        d == &decisions[DECISION_OFFLOAD] || d == &decisions[DECISION_ACTIVATION_OFFLOAD];
    return !d->size && (l->offloads || !offload);
}

/* Whether the present knobs are none of `seen`; then they are the next. */
static bool is_new(const struct loops *l, struct knobs *seen, int *n)
{
    for (int i = 0; i < *n; i++)
        if (memcmp(&seen[i], &l->c.knobs, sizeof *seen) == 0) return false;
    seen[(*n)++] = l->c.knobs;
    return true;
}

/* Every state of the decisions from `d` on. */
static void try_states(struct loops *l, const struct decision *d)
{
    enum { MOST_STATES = 80 };
    while (d < decisions + DECISIONS && !is_open(l, d))
        d++;
    if (d == decisions + DECISIONS) {
        try_plan(l);
        return;
    }
    struct knobs seen[MOST_STATES], before = l->c.knobs;
    int n = 0;
    is_new(l, seen, &n);
    try_states(l, d + 1);
    for (const struct move *move = d->moves; move->name; move++) {
        l->c.knobs = before;
        if (!(move->uses & MOVE_SEARCH) || !move_allowed(&l->answer->base, move)) continue;
        if (!move_take(d, move, &l->c) || !agrees(l) || !is_new(l, seen, &n)) continue;
        try_states(l, d + 1);
    }
    l->c.knobs = before;
}

/* Offload is for layouts on which nothing fits without, short of whole layers recomputed (guide
   S1.4), and for all where the best plan of these offloads, or recomputes whole layers itself. */
static void try_layout(struct loops *l)
{
    struct knobs *k = &l->c.knobs;
    const struct knob *sequence = knob_of(P_sequence_parallel);
    if (!knobs_divide(k) || (k->vpp > 1 && knobs_scheduled(k) % k->pp)) return;
    k->sequence_parallel =
        k->tp > 1 && (!is_pinned(l, sequence) || l->answer->base.knobs.sequence_parallel);
    l->fits = l->offloads = false;
    try_states(l, decisions);
    l->offloads = true;
    if ((!l->fits || l->everywhere) && !l->counts) try_states(l, decisions);
}

/* ---- every layout ---- */

static bool is_power(int n)
{
    return (n & (n - 1)) == 0;
}

static bool serves_tp(const struct config *base, const struct knobs *k, int tp)
{
    const struct model_shape *m = &base->model;
    bool alone = k->fsdp == FSDP_DDP || (m->experts && !config_traits(base)->tensor_shares_experts);
    bool heads = m->heads % tp == 0 && (m->mla || m->groups % tp == 0 || tp % m->groups == 0);
    return tp == 1 || (!alone && is_power(tp) && tp <= base->machine.nvlink_domain && heads &&
                       m->dense_ffn % tp == 0 && m->shared_ffn % tp == 0);
}

/* Sequences are cut where they are long, or fewer than the GPUs. */
static bool serves_cp(const struct knobs *k, int cp)
{
    bool few = k->gbs < k->gpus;
    return cp == 1 ||
           (is_power(cp) && (k->seq >= 8192 || few) && k->seq / cp >= (few ? 256 : 2048) &&
            k->seq % (2 * cp) == 0 && k->seq / cp % k->tp == 0);
}

static bool serves_pp(const struct config *base, const struct knobs *k, int pp)
{
    int most = config_traits(base)->most_stages;
    return pp == 1 || (k->fsdp != FSDP_OPTIM_GRADS_PARAMS && pp <= base->model.num_layers &&
                       (most == 0 || pp <= most));
}

/* Whether stages of some length are so many, where the framework cuts them. */
static bool serves_vpp(const struct config *base, const struct knobs *k, int vpp)
{
    int layers = base->model.num_layers, stages = k->pp * vpp;
    if (vpp == 1 || k->pp == 1) return vpp == 1;
    if (config_traits(base)->chooses_stages) return stages <= layers + 2;
    for (int length = 1; length <= layers; length++)
        if (layout_stages_of_length(layers, length, k->pp, LAYOUT_ROUND_UP) == stages) return true;
    return false;
}

static bool serves_etp(const struct config *base, const struct knobs *k, int etp)
{
    return etp == 1 ||
           (base->model.experts && config_traits(base)->splits_experts && k->fsdp == FSDP_NONE &&
            is_power(etp) && etp <= k->tp && base->model.expert_ffn % etp == 0);
}

/* Of a pipeline's schedule that takes a batch of its own, each pass long enough to fill it. */
static bool serves_passes(const struct config *base, const struct knobs *k, int passes)
{
    int64_t n = knobs_microbatches(k);
    return passes == 1 || (config_traits(base)->schedule_takes_batch && k->pp > 1 &&
                           n % passes == 0 && n / passes >= k->pp);
}

static bool serves(const struct loops *l, enum decision_id axis, int n)
{
    const struct config *base = &l->answer->base;
    const struct knobs *k = &l->c.knobs;
    switch (axis) {
    case DECISION_TP: return serves_tp(base, k, n);
    case DECISION_CP: return serves_cp(k, n);
    case DECISION_PP: return serves_pp(base, k, n);
    case DECISION_ETP: return serves_etp(base, k, n);
    case DECISION_EP: return n == 1 || (base->model.experts && base->model.experts % n == 0);
    case DECISION_VPP: return serves_vpp(base, k, n);
    case DECISION_SCHEDULES: return serves_passes(base, k, n);
    default: return (is_power(n) || k->gbs % n == 0) && n <= k->gbs;
    }
}

/* All sizes of the axes from `at` on. */
static void try_sizes(struct loops *l, size_t at)
{
    static const struct {
        enum decision_id axis;
        bool cuts; /* the GPUs */
    } all[] = {{DECISION_TP, true},   {DECISION_CP, true},        {DECISION_PP, true},
               {DECISION_ETP, true},  {DECISION_EP, true},        {DECISION_MBS, false},
               {DECISION_VPP, false}, {DECISION_SCHEDULES, false}};
    if (at == sizeof all / sizeof *all) {
        try_layout(l);
        return;
    }
    const struct decision *d = &decisions[all[at].axis];
    struct knobs base = l->answer->base.knobs;
    bool pinned = is_pinned(l, knob_of(d->params[0]));
    int most = all[at].cuts                         ? (int)base.gpus
               : all[at].axis == DECISION_SCHEDULES ? (int)knobs_microbatches(&l->c.knobs)
                                                    : 16;
    for (int n = 1; n <= most; n++) {
        if (pinned ? n != *decision_size(d, &base) : !serves(l, all[at].axis, n)) continue;
        if (all[at].cuts && base.gpus % n) continue;
        struct knobs before = l->c.knobs;
        *decision_size(d, &l->c.knobs) = n;
        try_sizes(l, at + 1);
        l->c.knobs = before;
    }
}

static void try_sharding(struct loops *l, int fsdp)
{
    l->c.knobs = l->answer->base.knobs;
    l->c.knobs.layout = 0;
    l->c.knobs.fsdp = (uint8_t)fsdp;
    try_sizes(l, 0);
}

static void try_spaces(struct loops *l)
{
    const struct config *base = &l->answer->base;
    bool pinned = is_pinned(l, knob_of(P_use_megatron_fsdp));
    l->combinations = 0;
    l->best.any = l->fastest.any = false;
    if (pinned || !config_traits(base)->chooses_fsdp) {
        try_sharding(l, base->knobs.fsdp);
        return;
    }
    try_sharding(l, FSDP_NONE);
    bool apart = (base->knobs.pp > 1 && is_pinned(l, knob_of(P_pipeline_model_parallel_size))) ||
                 (base->knobs.etp > 1 && is_pinned(l, knob_of(P_expert_tensor_parallel_size)));
    if (base->knobs.gpus > 1 && !apart) try_sharding(l, FSDP_OPTIM_GRADS_PARAMS);
}

/* Whether it fits for what comes after recomputing modules alone. */
static bool is_cramped(const struct loops *l, const struct knobs *k)
{
    bool full = k->recompute == RECOMPUTE_FULL && !is_pinned(l, knob_of(P_recompute_granularity));
    return full || knobs_offload(k);
}

static void try_all(struct loops *l)
{
    l->everywhere = false;
    try_spaces(l);
    if (l->counts || !l->best.any || !is_cramped(l, &l->best.knobs)) return;
    l->everywhere = true;
    try_spaces(l);
}

/* ---- comparing ---- */

/* A guide whose margin is the whole step time binds as a pin does, where a plan follows it. */
static void pin_all(struct loops *l, bool firm)
{
    l->pinned.n = 0;
    for (size_t i = 0; i < l->request->n_pins; i++) {
        const struct knob *knob = knob_said_by(l->request->pins[i]);
        if (knob) *VEC_PUSH(l->arena, &l->pinned) = knob;
    }
    for (size_t i = 0; firm && i < l->answer->n_preferences; i++)
        if (l->answer->preferences[i].margin >= 1)
            *VEC_PUSH(l->arena, &l->pinned) = l->answer->preferences[i].knob;
}

static struct loops loops_of(struct arena *a, const struct asked *asked, struct arena *scratch)
{
    struct loops l = {.request = &asked->request,
                      .answer = &asked->answer,
                      .arena = a,
                      .scratch = scratch,
                      .c = asked->answer.base};
    l.c.machine.capacity_bytes = asked->answer.capacity;
    pin_all(&l, true);
    return l;
}

/* What the base of the question has otherwise is left out. */
static void print_plan(const struct loops *l, const char *who, const struct knobs *k, double score,
                       double step_s)
{
    print_message("  %s: %.4f s, score %.4f:", who, step_s, score);
    for (size_t i = 0; i < knob_count; i++) {
        const struct knob *knob = &knob_table[i];
        if (knob_number(k, knob) == knob_number(&l->answer->base.knobs, knob)) continue;
        print_message(" %.*s=%.*s", STR_ARG(param_table[knob->param].name),
                      STR_ARG(value_text(l->arena, knob_get(l->arena, k, knob))));
    }
    print_message("\n");
}

static void print_question(const struct question *q)
{
    print_message("%s %s on %d %s, %s, gbs %d, seq %d", q->framework, q->model, q->gpus,
                  q->platform, q->precision, q->gbs, q->seq);
    for (size_t i = 0; i < MOST_PINS && q->pins[i]; i++)
        print_message(", %s", q->pins[i]);
    print_message("%s%s\n", q->forbid ? ", not " : "", q->forbid ? q->forbid : "");
}

/* As the search shows its plans. */
static void finish(struct loops *l, struct found *x)
{
    struct contender costs;
    double preferred = x->score / x->step_s;
    l->c.knobs = x->knobs;
    if (!x->any || !search_divide(&l->c, &l->layout) || !contender_estimate(&l->c, &costs)) return;
    *x = (struct found){true, l->c.knobs, costs.step_s * preferred, costs.step_s};
}

static const struct contender *fastest_of(const struct search_result *all)
{
    const struct contender *fastest = &all->plans[0];
    for (size_t i = 1; i < all->n; i++)
        if (all->plans[i].step_s < fastest->step_s) fastest = &all->plans[i];
    return fastest;
}

/* Which is the first where none leaves more memory; of those with a risk none is. */
static const struct contender *best_of(const struct search_result *all)
{
    const struct contender *best = &all->plans[0];
    for (size_t i = 1; i < all->n; i++)
        if (!all->plans[i].risky && all->plans[i].score < best->score) best = &all->plans[i];
    return best;
}

static bool is_same(double a, double b)
{
    return fabs(a - b) <= TOLERANCE * fmin(a, b);
}

/* Of a shown layout one that offloads is told of, where the best plan does without. */
static bool is_last_resort(const struct contender *fastest, const struct contender *first)
{
    return knobs_offload(&fastest->knobs) && !knobs_offload(&first->knobs);
}

/* Whether the planner's answer is that of the loops; prints both where it is not. */
static bool agrees_with(struct loops *l, const struct question *q)
{
    const struct search_result *all = l->answer->search;
    if (all->n == 0 && !l->best.any) return true;
    finish(l, &l->best);
    finish(l, &l->fastest);
    bool same = all->n > 0 && l->best.any && l->tight == l->answer->tight &&
                is_same(best_of(all)->score, l->best.score) &&
                (is_same(fastest_of(all)->step_s, l->fastest.step_s) ||
                 (is_last_resort(fastest_of(all), &all->plans[0]) &&
                  fastest_of(all)->step_s < l->fastest.step_s));
    if (same) return true;
    print_question(q);
    if (all->n) {
        const struct contender *best = best_of(all), *fastest = fastest_of(all);
        print_plan(l, "search, best", &best->knobs, best->score, best->step_s);
        print_plan(l, "search, fastest", &fastest->knobs, fastest->score, fastest->step_s);
    }
    if (l->best.any) {
        const struct found *best = &l->best, *fastest = &l->fastest;
        print_plan(l, "loops, best", &best->knobs, best->score, best->step_s);
        print_plan(l, "loops, fastest", &fastest->knobs, fastest->score, fastest->step_s);
    }
    return false;
}

struct tally {
    size_t compared, with_plan, differ, combinations;
};

static void compare(struct loops *l, const struct question *q, struct tally *tally)
{
    if (l->answer->obstacle) return;
    try_all(l);
    if (!l->best.any) {
        pin_all(l, false);
        try_all(l);
    }
    if (!l->best.any) {
        l->tight = true;
        try_all(l);
    }
    tally->compared++;
    tally->with_plan += l->best.any;
    tally->combinations += l->combinations;
    tally->differ += !agrees_with(l, q);
}

/* ---- fixed questions ---- */

static const struct question fixed[] = {
    {"bridge", "llama-3.2-1b", "h100", "bf16", 1, 32, 4096, {NULL}, NULL},
    {"megatron",
     "llama-3.1-8b",
     "h100",
     "bf16",
     8,
     64,
     4096,
     {"recompute_granularity: full"},
     NULL},
    {"megatron", "llama-3.1-8b", "a100", "bf16", 4, 16, 32768, {"mbs: 1"}, "plan.tp > 2"},
    {"automodel", "qwen3-30b-a3b", "b200", "bf16", 8, 64, 4096, {NULL}, NULL},
    {"automodel", "llama-3.1-8b", "h100", "bf16", 16, 64, 8192, {NULL}, "plan.pp > 1"},
    {"bridge",
     "olmoe-1b-7b",
     "h100",
     "bf16",
     4,
     32,
     4096,
     {"mbs: 2", "recompute_granularity: null"},
     NULL},
    {"megatron",
     "qwen3-30b-a3b",
     "h200",
     "bf16",
     8,
     64,
     4096,
     {"mbs: 1", "tp: 1", "recompute_granularity: full", "use_megatron_fsdp: false"},
     NULL},
    {"bridge",
     "deepseek-v2-lite",
     "b200",
     "mxfp8",
     8,
     64,
     4096,
     {"pp: 1", "tp: 1", "mbs: 2", "cuda_graph_impl: none"},
     NULL},
    {"bridge",
     "deepseek-v2-lite",
     "b200",
     "mxfp8",
     16,
     16,
     4096,
     {"ep: 2", "tp: 2", "pp: 2", "mbs: 2", "moe_token_dispatcher_type: alltoall",
      "recompute_granularity: null"},
     NULL},
    /* What needs least memory depends on the parameters' format, and on gradients and states
       together. */
    {"megatron",
     "gpt-oss-20b",
     "gb200",
     "fp8_tensorwise",
     2,
     32,
     4096,
     {"tp: 2", "pp: 1", "ep: 2", "mbs: 2", "overlap_moe_expert_parallel_comm: false"},
     NULL},
    {"megatron",
     "ling-mini-2.0",
     "h100",
     "fp8_tensorwise",
     4,
     4,
     8192,
     {"tp: 2", "pp: 1", "ep: 2", "mbs: 1", "cp: 1", "fp8_param_gather: true",
      "moe_token_dispatcher_type: alltoall", "tp_comm_overlap: false",
      "overlap_moe_expert_parallel_comm: false", "use_megatron_fsdp: false"},
     NULL},
    /* What is offloaded nobody has to repeat, and as many bytes of routed rows are less certain: of
       two states that keep as much without, one has room beside the offload. */
    {"megatron",
     "deepseek-v2-lite",
     "h100",
     "bf16",
     4,
     256,
     4096,
     {"mbs: 2", "tp: 1", "pp: 1", "ep: 2", "cuda_graph_impl: none", "use_megatron_fsdp: false",
      "moe_token_dispatcher_type: alltoall"},
     NULL},
    /* Heads divide on some layouts, and keys are gathered or go round on all. */
    {"megatron",
     "qwen3-30b-a3b",
     "b200",
     "bf16",
     8,
     4,
     65536,
     {"mbs: 1", "pp: 1", "ep: 8", "cuda_graph_impl: none", "recompute_granularity: null",
      "use_megatron_fsdp: false"},
     NULL},
    {"bridge\nframework_version: \"0.5\"",
     "moonlight-16b-a3b",
     "h100",
     "bf16",
     16,
     4,
     65536,
     {"mbs: 1", "pp: 1", "ep: 8", "cuda_graph_impl: none", "recompute_granularity: full",
      "use_megatron_fsdp: false"},
     NULL},
    {"automodel", "gemma-2-9b", "h20", "bf16", 1, 16, 4096, {NULL}, NULL},
    /* Parameters that are gathered in FP8 keep the optimizer on the GPU, and less beside it: there
       is room beside offloaded activations where there is none beside all that can be offloaded. */
    {"megatron", "qwen3-14b", "b200", "fp8_tensorwise", 16, 256, 32768, {"mbs: 2", "pp: 1"}, NULL},
    {"automodel", "ling-mini-2.0", "b200", "mxfp8", 4, 16, 32768, {NULL}, NULL},
};

static void nothing_is_better_than_the_answer(void **state)
{
    struct arena *scratch = arena_new(0);
    struct tally tally = {0};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        struct arena_mark mark = arena_mark(*state);
        struct asked asked;
        ask(*state, &fixed[i], &asked, scratch);
        struct loops l = loops_of(*state, &asked, scratch);
        compare(&l, &fixed[i], &tally);
        arena_pop(*state, mark);
    }
    arena_free(scratch);
    print_message("%zu questions, %zu with plans, %zu combinations\n", tally.compared,
                  tally.with_plan, tally.combinations);
    assert_int_equal(tally.with_plan, sizeof fixed / sizeof *fixed);
    assert_int_equal(tally.differ, 0);
}

/* The same question without a pin and with one more. */
static void ask_with_pin(struct arena *a, const struct question *open, const char *pin,
                         struct asked *all, struct asked *some, struct arena *scratch)
{
    struct question pinned = *open;
    size_t n = 0;
    while (n < MOST_PINS && pinned.pins[n])
        n++;
    assert_true(n < MOST_PINS);
    pinned.pins[n] = pin;
    ask(a, open, all, scratch);
    ask(a, &pinned, some, scratch);
}

/* The knobs of the fastest plan of an open question, which a pin makes no faster. */
static struct knobs fastest_anyway(struct arena *a, const struct question *open, const char *pin)
{
    struct arena *scratch = arena_new(0);
    struct asked all, some;
    ask_with_pin(a, open, pin, &all, &some, scratch);
    const struct contender *fastest = fastest_of(all.answer.search);
    assert_true(fastest->step_s <= 1.001 * fastest_of(some.answer.search)->step_s);
    struct knobs knobs = fastest->knobs;
    arena_free(scratch);
    return knobs;
}

/* What needs the least memory was once found on the first layout that asked, which a pin changes.
 */
static void no_pin_finds_a_faster_plan(void **state)
{
    static const struct question open = {
        "megatron", "nemotron-3-nano-30b-a3b", "h100", "fp8_tensorwise", 16, 1024, 8192, {NULL},
        NULL};
    fastest_anyway(*state, &open, "mbs: 1");
}

/* Micro-batches were once powers of two alone, which leaves of a batch of 3 x 64 either small ones
   or few. */
static void micro_batches_are_what_divides(void **state)
{
    static const struct question open = {"bridge", "qwen3-30b-a3b", "b300", "bf16", 64, 192,
                                         2048,     {NULL},          NULL};
    assert_int_equal(fastest_anyway(*state, &open, "mbs: 3").mbs % 3, 0);
}

/* Parameters that are gathered anew for the backward leave room for longer microbatches. */
static void resharding_is_a_decision(void **state)
{
    static const struct question open = {"automodel", "gpt-oss-20b", "h100", "bf16", 8,
                                         256,         4096,          {NULL}, NULL};
    struct knobs k = fastest_anyway(*state, &open, "reshard_after_forward: true");
    assert_true(k.reshard_stated && k.reshard_after_forward);
}

/* Nobody's word is that it is done, and in a pipeline it is not: to say it was once no other state.
 */
static void resharding_is_one_in_a_pipeline_too(void **state)
{
    static const struct question open = {"automodel", "mixtral-8x7b", "gb200", "bf16", 48,
                                         256,         16384,          {NULL},  NULL};
    struct knobs k = fastest_anyway(*state, &open, "reshard_after_forward: true");
    assert_true(k.pp > 1 && k.reshard_stated && k.reshard_after_forward);
}

/* AutoModel's own dispatcher of divided experts is one that no plan for racks has unasked: a pin of
   their number once brought it, and what no plan had without. */
static void a_pin_brings_no_dispatcher_of_its_own(void **state)
{
    static const struct question open = {"automodel", "minimax-m2", "gb200", "bf16", 48,
                                         256,         4096,         {NULL},  NULL};
    struct knobs k = fastest_anyway(*state, &open, "ep: 16");
    assert_int_not_equal(k.dispatcher, DISPATCH_DEEPEP);
}

/* Bridge gathers parameters of MXFP8 in FP8 unless it is told otherwise, beside which the optimizer
   stays on the GPU: a pin of the offload once brought both. */
static void a_pin_of_the_offload_brings_no_gather_beside_it(void **state)
{
    static const struct question open = {"bridge", "glm-5", "b200", "mxfp8", 256,
                                         2048,     131072,  {NULL}, NULL};
    struct knobs k = fastest_anyway(*state, &open, "optimizer_cpu_offload: true");
    assert_false(k.optimizer_offload > 0 && k.fp8_param_gather);
}

/* What keeps the least on a rank with all experts was once looked for with a dispatcher of several
   ranks, beside which none with offload had room. */
static void a_rank_with_all_experts_has_its_own_dispatcher(void **state)
{
    static const struct question open = {"bridge", "mixtral-8x22b", "gb300", "bf16", 64,
                                         512,      131072,          {NULL},  NULL};
    struct knobs k = fastest_anyway(*state, &open, "moe_token_dispatcher_type: alltoall");
    assert_int_equal(k.dispatcher, DISPATCH_ALLTOALL);
}

/* Recomputing whole layers was once suggested, and the optimizer on the CPU not, with which nothing
   has to be repeated. */
static void whole_layers_are_no_better_than_offload(void **state)
{
    static const struct question open = {"megatron", "qwen3-30b-a3b", "h100", "bf16", 8, 1024,
                                         4096,       {NULL},          NULL};
    struct arena *scratch = arena_new(0);
    struct asked all, some;
    ask_with_pin(*state, &open, "optimizer_cpu_offload: true", &all, &some, scratch);
    const struct contender *first = &all.answer.search->plans[0];
    assert_true(knobs_offload(&first->knobs));
    assert_false(first->risky);
    assert_true(first->step_s <= 1.001 * some.answer.search->plans[0].step_s);
    arena_free(scratch);
}

/* Sequence parallelism that is said is that of the plans with tensor parallelism, as when nobody
   says it: it was once searched without. */
static void what_is_so_anyway_changes_no_plan(void **state)
{
    static const struct question open = {"bridge", "mixtral-8x7b", "h100", "bf16",        16,
                                         256,      4096,           {NULL}, "plan.tp != 2"};
    struct arena *scratch = arena_new(0);
    struct asked all, some;
    ask_with_pin(*state, &open, "sequence_parallel: true", &all, &some, scratch);
    const struct contender *a = &all.answer.search->plans[0], *b = &some.answer.search->plans[0];
    assert_int_equal(b->knobs.tp, 2);
    assert_true(b->knobs.sequence_parallel);
    assert_true(a->step_s == b->step_s && a->peak == b->peak);
    arena_free(scratch);
}

/* Muon goes with neither the distributed optimizer, which FSDP switches on, nor FSDP: the refusal
   of a sharded plan was once remembered for all plans. */
static void a_refusal_is_that_of_what_is_overridden_too(void **state)
{
    static const struct question muon = {"megatron\nframework_version: \"0.17\"",
                                         "qwen3-30b-a3b",
                                         "h100",
                                         "bf16",
                                         64,
                                         1024,
                                         4096,
                                         {"optimizer: muon", NULL},
                                         NULL};
    struct arena *scratch = arena_new(0);
    struct asked asked;
    ask(*state, &muon, &asked, scratch);
    assert_true(asked.answer.n > 0 && !asked.answer.tight);
    assert_false(asked.answer.plans[0].config.knobs.distributed_optimizer);
    arena_free(scratch);
}

/* A pack is one row, and its length follows from other rules: the refusal of larger micro-batches
   was once put to the rules of every plan. */
static void a_refusal_that_rules_lead_to_is_known_after_a_few(void **state)
{
    static const struct question packs = {"bridge\nframework_version: \"0.5\"",
                                          "gpt-oss-20b",
                                          "gb200",
                                          "bf16",
                                          64,
                                          128,
                                          4096,
                                          {"tp: 2", "enable_offline_packing: true", NULL},
                                          NULL};
    struct arena *scratch = arena_new(0);
    struct asked asked;
    ask(*state, &packs, &asked, scratch);
    assert_true(asked.answer.n > 0);
    assert_true(asked.answer.search->rejected < 100);
    arena_free(scratch);
}

/* Every file that is written for Bridge overrides a recipe, which the request says: the refusal of
   virtual stages without a pipeline was once put to the rules of every plan. */
static void a_refusal_of_what_the_request_says_is_known_after_a_few(void **state)
{
    static const struct question virtual = {"bridge", "moonlight-16b-a3b", "h100", "bf16", 16, 64,
                                            4096,     {"vpp: 1", NULL},    NULL};
    struct arena *scratch = arena_new(0);
    struct asked asked;
    state_question(*state, &virtual, &asked);
    facts_set(asked.request.facts, P_over_recipe, value_bool(true), ORIGIN_OPTION, NULL, STR(""));
    assert_true(planner_answer(*state, &asked.request, scratch, &asked.answer));
    assert_true(asked.answer.n > 0);
    assert_int_not_equal(asked.answer.plans[0].config.knobs.pp, 1);
    assert_true(asked.answer.search->rejected < 100);
    arena_free(scratch);
}

/* Where a pipeline is pinned, plans shard their parameters only if that is asked for: a pin once
   led to plans that are not looked at without it. */
static void a_pinned_pipeline_is_not_sharded_unasked(void **state)
{
    static const struct question open = {"megatron", "qwen3-30b-a3b", "h100", "bf16", 16, 1024,
                                         4096,       {"pp: 2", NULL}, NULL};
    struct arena *scratch = arena_new(0);
    struct asked all, some;
    ask_with_pin(*state, &open, "use_megatron_fsdp: true", &all, &some, scratch);
    for (size_t i = 0; i < all.answer.n; i++)
        assert_int_equal(all.answer.plans[i].config.knobs.fsdp, FSDP_NONE);
    assert_true(some.answer.n > 0);
    assert_int_equal(some.answer.plans[0].config.knobs.fsdp, FSDP_OPTIM_GRADS_PARAMS);
    arena_free(scratch);
}

/* Without experts to exchange with, layers wait for the fullest data-parallel rank, of which there
   are fewer the more stages there are: their times were once those of one stage, and its bounds
   above what more take. */
static void documents_leave_no_stages_out(void **state)
{
    static const struct question open = {
        "automodel",
        "qwen3-30b-a3b",
        "h200",
        "bf16",
        64,
        16,
        262144,
        {"document_tokens: 71992", "document_mean: 8812", "document_spread: 7.15", NULL},
        NULL};
    struct arena *scratch = arena_new(0);
    struct asked all, some;
    ask_with_pin(*state, &open, "pp: 2", &all, &some, scratch);
    const struct contender *first = &some.answer.search->plans[0];
    assert_true(all.answer.search->plans[0].step_s <= 1.001 * first->step_s);
    arena_free(scratch);
}

/* ---- drawn questions ---- */

/* xorshift64: the same everywhere. */
static size_t draw(uint64_t *seed, size_t n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (size_t)(*seed >> 11) % n;
}

#define DRAW(seed, list) (list)[draw(seed, sizeof(list) / sizeof *(list))]

static struct question draw_question(uint64_t *seed)
{
    static const char *const frameworks[] = {"megatron", "megatron", "bridge", "automodel"};
    static const char *const models[] = {"qwen3-0.6b",    "llama-3.1-8b",      "qwen3-14b",
                                         "qwen3-30b-a3b", "olmoe-1b-7b",       "deepseek-v2-lite",
                                         "mixtral-8x7b",  "moonlight-16b-a3b", "glm-4.7-flash",
                                         "gpt-oss-20b",   "ling-mini-2.0",     "qwen1.5-moe-a2.7b",
                                         "qwen2.5-32b",   "gemma-2-9b"};
    static const char *const platforms[] = {"a100", "h100", "h200", "b200", "gb200", "h20"};
    static const char *const precisions[] = {"bf16", "bf16", "fp8_tensorwise", "mxfp8"};
    static const char *const forbids[] = {
        NULL, NULL, NULL, "plan.pp > 1", "plan.tp > 1", "plan.ep > 4", "plan.mbs > 2"};
    static const int gpus[] = {1, 2, 4, 6, 8, 8, 16, 16}, batches[] = {1, 4, 6, 8, 16},
                     sequences[] = {2048, 4096, 4096, 8192, 32768};
    struct question q = {.framework = DRAW(seed, frameworks),
                         .model = DRAW(seed, models),
                         .platform = DRAW(seed, platforms),
                         .precision = DRAW(seed, precisions),
                         .gpus = DRAW(seed, gpus),
                         .seq = DRAW(seed, sequences),
                         .forbid = DRAW(seed, forbids)};
    q.gbs = q.gpus * DRAW(seed, batches);
    return q;
}

/* A further pin, other than those that there are; false when the framework has no more. */
static bool draw_pin(struct question *q, uint64_t *seed)
{
    static const char *const all[] = {"tp: 1",
                                      "tp: 2",
                                      "pp: 1",
                                      "pp: 2",
                                      "ep: 1",
                                      "ep: 2",
                                      "ep: 8",
                                      "mbs: 1",
                                      "mbs: 2",
                                      "recompute_granularity: full",
                                      "recompute_granularity: null",
                                      "use_megatron_fsdp: false",
                                      "cuda_graph_impl: none",
                                      "overlap_moe_expert_parallel_comm: false",
                                      "moe_token_dispatcher_type: alltoall",
                                      "tp_comm_overlap: false",
                                      "main_grads_dtype: fp32",
                                      "exp_avg_dtype: fp32"};
    enum { ANYWHERE = 11, TRIES = 100 };
    bool core = strcmp(q->framework, "automodel") != 0;
    for (int i = 0; i < TRIES; i++) {
        const char *pin = all[draw(seed, core ? sizeof all / sizeof *all : ANYWHERE)];
        size_t n = 0;
        while (n < MOST_PINS - 1 && q->pins[n] && param_of_line(q->pins[n]) != param_of_line(pin))
            n++;
        if (q->pins[n] || n == MOST_PINS - 1) continue;
        q->pins[n] = pin;
        return true;
    }
    return false;
}

/* Pins more and more, until the loops end soon; false when they never do. */
static bool restrict_question(struct question *q, uint64_t *seed, struct arena *a,
                              struct arena *scratch)
{
    size_t combinations;
    do {
        struct arena_mark mark = arena_mark(a);
        struct asked asked;
        ask(a, q, &asked, scratch);
        struct loops l = loops_of(a, &asked, scratch);
        l.counts = true;
        if (!asked.answer.obstacle) try_all(&l);
        combinations = l.combinations;
        arena_pop(a, mark);
    } while (combinations > MOST_COMBINATIONS && draw_pin(q, seed));
    return combinations <= MOST_COMBINATIONS;
}

static void nothing_is_better_than_any_answer(void **state)
{
    struct arena *scratch = arena_new(0);
    struct tally tally = {0};
    uint64_t seed = 20251122;
    for (int i = 0; i < DRAWN; i++) {
        struct arena_mark mark = arena_mark(*state);
        struct question q = draw_question(&seed);
        if (restrict_question(&q, &seed, *state, scratch)) {
            struct asked asked;
            ask(*state, &q, &asked, scratch);
            struct loops l = loops_of(*state, &asked, scratch);
            compare(&l, &q, &tally);
        }
        arena_pop(*state, mark);
    }
    arena_free(scratch);
    print_message("%zu questions, %zu with plans, %zu combinations, %zu differ\n", tally.compared,
                  tally.with_plan, tally.combinations, tally.differ);
    assert_true(tally.with_plan > DRAWN / 2);
    assert_int_equal(tally.differ, 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest few[] = {
        cmocka_unit_test(nothing_is_better_than_the_answer),
        cmocka_unit_test(no_pin_finds_a_faster_plan),
        cmocka_unit_test(micro_batches_are_what_divides),
        cmocka_unit_test(resharding_is_a_decision),
        cmocka_unit_test(resharding_is_one_in_a_pipeline_too),
        cmocka_unit_test(a_pin_brings_no_dispatcher_of_its_own),
        cmocka_unit_test(a_pin_of_the_offload_brings_no_gather_beside_it),
        cmocka_unit_test(a_rank_with_all_experts_has_its_own_dispatcher),
        cmocka_unit_test(whole_layers_are_no_better_than_offload),
        cmocka_unit_test(what_is_so_anyway_changes_no_plan),
        cmocka_unit_test(a_refusal_is_that_of_what_is_overridden_too),
        cmocka_unit_test(a_refusal_that_rules_lead_to_is_known_after_a_few),
        cmocka_unit_test(a_refusal_of_what_the_request_says_is_known_after_a_few),
        cmocka_unit_test(a_pinned_pipeline_is_not_sharded_unasked),
        cmocka_unit_test(documents_leave_no_stages_out)};
    const struct CMUnitTest many[] = {cmocka_unit_test(nothing_is_better_than_any_answer)};
    return argc > 1 ? cmocka_run_group_tests(many, unit_open_arena, unit_close_arena)
                    : cmocka_run_group_tests(few, unit_open_arena, unit_close_arena);
}
