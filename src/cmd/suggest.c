/* SPDX-License-Identifier: Apache-2.0 */
/* suggest: model, machine and wishes -> facts -> candidates -> cost -> choice -> output. */
#include "cmd/suggest.h"

#include <time.h>

#include "cmd/batch.h"
#include "emit/emit.h"
#include "facts/profile.h"

enum { MOST_GPUS = 1 << 20 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static bool is_word(struct str s, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (str_is(s, words[i])) return true;
    return false;
}

/* The words of goal, task and precision, with their defaults. */
static bool check_words(struct arena *a, struct ask *ask, struct str *why)
{
    static const char *const goals[] = {"throughput", "bringup", "memory", NULL};
    static const char *const tasks[] = {"pretrain", "sft", "peft", NULL};
    static const char *const precisions[] = {
        "bf16", "fp16", "fp8_delayed", "fp8_tensorwise", "fp8_blockwise", "mxfp8", "nvfp4", NULL};
    if (!ask->goal.n) ask->goal = STR("throughput");
    if (!ask->task.n) ask->task = STR("pretrain");
    if (!ask->precision.n) ask->precision = STR("bf16");
    if (!is_word(ask->goal, goals))
        *why = arena_printf(a, "the goal must be throughput, bringup or memory, not %.*s",
                            STR_ARG(ask->goal));
    else if (!is_word(ask->task, tasks))
        *why =
            arena_printf(a, "the task must be pretrain, sft or peft, not %.*s", STR_ARG(ask->task));
    else if (!is_word(ask->precision, precisions))
        *why = arena_printf(a,
                            "the precision must be bf16, fp16, fp8_delayed, fp8_tensorwise, "
                            "fp8_blockwise, mxfp8 or nvfp4, not %.*s",
                            STR_ARG(ask->precision));
    else
        return true;
    return false;
}

/* One "tp=2" of --pin tp=2,pp=4. */
static bool pin_text(struct arena *a, struct ask *ask, size_t *cap, struct str item,
                     struct str *why)
{
    size_t equals = str_find(item, '=');
    if (!equals || equals == item.n) {
        *why = arena_printf(a, "a pin is NAME=VALUE, not %.*s", STR_ARG(item));
        return false;
    }
    struct node node = {.kind = NODE_SCALAR, .text = str_slice(item, equals + 1, item.n)};
    return ask_pin(a, ask, cap, str_trim(str_slice(item, 0, equals)),
                   node_value(a, &node, SCALAR_CORE), why);
}

static bool read_pins(struct cmd_context *c, struct ask *ask)
{
    struct str list, item, why;
    size_t cap = 0;
    for (size_t i = 0; option_nth(c, "pin", i, &list); i++)
        while (str_split(&list, ',', &item))
            if (!pin_text(c->keep, ask, &cap, item, &why)) {
                cmd_usage_error(c, "%.*s", STR_ARG(why));
                return false;
            }
    ask->forbid = ARENA_ARRAY(c->keep, struct str, c->n_given);
    while (option_nth(c, "forbid", ask->n_forbid, &ask->forbid[ask->n_forbid]))
        ask->n_forbid++;
    return true;
}

/* --format flags is Megatron's, bridge Bridge's, yaml AutoModel's; a contradiction is a usage
 * error. */
static bool read_frameworks(struct cmd_context *c, struct ask *ask)
{
    const struct emitter *emitter = emitter_find(option_value(c, "format"));
    struct str word = option_value(c, "framework");
    enum framework asked = FRAMEWORK_MEGATRON;
    if (word.n && !framework_from_name(word, &asked))
        return cmd_usage_error(c, "--framework must be megatron, bridge or automodel, not %.*s",
                               STR_ARG(word)),
               false;
    if (word.n && emitter && emitter->framework != asked)
        return cmd_usage_error(c, "this --format is %s's; it contradicts --framework %.*s",
                               framework_name(emitter->framework), STR_ARG(word)),
               false;
    if (word.n)
        ask->in[asked] = true;
    else if (emitter)
        ask->in[emitter->framework] = true;
    else
        ask->in[FRAMEWORK_MEGATRON] = ask->in[FRAMEWORK_AUTOMODEL] = true;
    return true;
}

static bool read_numbers(struct cmd_context *c, struct ask *ask)
{
    ask->top = 5;
    bool good = option_int(c, "seq", 1, &ask->seq) && option_int(c, "gbs", 1, &ask->gbs) &&
                option_int(c, "mbs", 1, &ask->mbs) && option_int(c, "top", 1, &ask->top);
    if (!good || str_is(option_value(c, "gpus"), "min")) return good;
    if (!option_given(c, "gpus"))
        return cmd_usage_error(c, "--gpus N is missing (or --gpus min)"), false;
    if (!option_int(c, "gpus", 1, &ask->gpus)) return false;
    if (ask->gpus > MOST_GPUS)
        return cmd_usage_error(c, "--gpus must be at most %d", MOST_GPUS), false;
    return true;
}

static bool read_ask(struct cmd_context *c, struct ask *ask)
{
    struct str why;
    int format;
    if (!option_choice(c, "format", &format)) return false;
    ask->goal = option_value(c, "goal");
    ask->task = option_value(c, "task");
    ask->precision = option_value(c, "precision");
    if (!check_words(c->keep, ask, &why)) return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
    if (!read_numbers(c, ask) || !read_frameworks(c, ask) || !read_pins(c, ask)) return false;
    if (!ask_leave_out(c->keep, ask, &why)) return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
    if (!option_given(c, "platform"))
        return cmd_usage_error(c, "--platform P is missing; moeplan platforms lists them"), false;
    struct platform_cache *platforms = ARENA_NEW(c->keep, struct platform_cache);
    platforms->arena = c->keep;
    ask->platform =
        platform_load(platforms, &c->diags, option_value(c, "platform"), (struct span){0});
    ask->model = model_load(c->keep, &c->diags, c->arguments[0]);
    return ask->platform && ask->model;
}

struct answers {
    struct answer items[FRAMEWORK_COUNT];
    enum framework framework[FRAMEWORK_COUNT];
    size_t n;
    bool any; /* some framework has a plan */
};

static bool answer_all(struct cmd_context *c, const struct rule_set *rules, const struct ask *ask,
                       struct diags *diags, struct arena *arena, struct answers *out)
{
    *out = (struct answers){0};
    for (int i = 0; i < FRAMEWORK_COUNT; i++) {
        if (!ask->in[i]) continue;
        struct answer *answer = &out->items[out->n];
        if (!ask_framework(arena, c->scratch, diags, rules, ask, (enum framework)i, answer))
            return false;
        out->framework[out->n++] = (enum framework)i;
        out->any = out->any || answer->n > 0;
    }
    return true;
}

/* --gpus min: the smallest power of two with a plan that surely fits. */
static bool find_smallest(struct cmd_context *c, const struct rule_set *rules, struct ask *ask)
{
    for (ask->gpus = 1; ask->gpus <= MOST_GPUS; ask->gpus *= 2) {
        struct answers answers;
        struct ask now = *ask;
        struct diags quiet;
        diags_init(&quiet, c->keep);
        ask_complete(&now);
        struct arena_mark mark = arena_mark(c->keep);
        bool found = answer_all(c, rules, &now, &quiet, c->keep, &answers) && answers.any &&
                     !answers.items[0].tight;
        arena_pop(c->keep, mark);
        if (found) return true;
    }
    ask->gpus = MOST_GPUS;
    return false;
}

static void emit_best(struct cmd_context *c, const struct ask *ask, const struct answers *answers,
                      struct str format)
{
    size_t best = 0;
    while (best + 1 < answers->n && !answers->items[best].n)
        best++;
    const struct answer_plan *plan = &answers->items[best].plans[0];
    struct emit_input in = {.facts = plan->facts};
    struct str *comments;
    in.n_comments = suggest_comments(c->keep, ask, plan, &comments);
    in.comments = comments;
    const struct emitter *emitter = emitter_find(format);
    if (emitter)
        emitter->write(&in, &c->out);
    else
        emit_plan(&in, &c->out);
}

static void show(struct cmd_context *c, const struct rule_set *rules, const struct ask *ask,
                 const struct answers *answers)
{
    for (size_t i = 0; i < answers->n; i++) {
        if (i) buf_add(&c->out, STR("\n\n"));
        if (answers->items[i].n)
            suggest_text(c->keep, ask, answers->framework[i], &answers->items[i], &c->out);
        else
            suggest_no_plan(c->keep, c->scratch, rules, ask, answers->framework[i],
                            &answers->items[i], &c->out);
    }
}

static int run_batch(struct cmd_context *c);

static int run(struct cmd_context *c)
{
    if (option_given(c, "batch")) return run_batch(c);
    double start = now_ms();
    const struct rule_set *rules;
    struct ask ask = {0};
    struct answers answers;
    struct str format = option_value(c, "format");
    if (!cmd_load_rules(c, &rules) || !read_ask(c, &ask)) return STATUS_CANNOT;
    if (!ask.gpus) find_smallest(c, rules, &ask);
    ask_complete(&ask);
    if (!answer_all(c, rules, &ask, &c->diags, c->keep, &answers)) return STATUS_CANNOT;
    if (str_is(format, "json"))
        tree_print(&c->out, suggest_tree(c->keep, answers.items, answers.n, now_ms() - start));
    else if (!format.n || str_is(format, "text") || !answers.any)
        show(c, rules, &ask, &answers);
    else
        emit_best(c, &ask, &answers, format);
    return answers.any ? STATUS_OK : STATUS_NO;
}

/* ---- batch ---- */

static struct str request_word(const struct node *options, const char *name)
{
    const struct node *node = node_get(options, str_of(name));
    return node && node->kind == NODE_SCALAR && node->quoted ? node->text : (struct str){"", 0};
}

static int64_t request_int(const struct batch_request *request, const struct node *node,
                           const char *name)
{
    const struct node *member = node_get(node, str_of(name));
    struct value v = member ? node_value(request->arena, member, SCALAR_JSON) : value_null();
    return v.kind == VALUE_INT && v.i > 0 ? v.i : 0;
}

static bool request_pins(const struct batch_request *request, const struct node *options,
                         struct ask *ask, struct str *why)
{
    size_t cap = 0;
    const struct node *pins = node_get(options, STR("pin"));
    if (pins && pins->kind == NODE_SCALAR && pins->quoted) {
        struct str list = pins->text, item;
        while (list.n && str_split(&list, ',', &item))
            if (!pin_text(request->arena, ask, &cap, item, why)) return false;
    }
    for (size_t i = 0; pins && pins->kind == NODE_MAP && i < pins->n; i++) {
        struct value v = node_value(request->arena, pins->items[i], SCALAR_JSON);
        if (!ask_pin(request->arena, ask, &cap, pins->keys[i]->text, v, why)) return false;
    }
    return true;
}

static bool request_ask(const struct batch_request *request, struct platform_cache *platforms,
                        struct ask *ask, struct str *why)
{
    const struct node *options = node_get(request->root, STR("options")),
                      *model = node_get(request->root, STR("model"));
    struct str framework = request_word(options, "framework");
    enum framework asked;
    *ask = (struct ask){.gpus = request_int(request, request->root, "gpus"),
                        .gbs = request_int(request, options, "gbs"),
                        .seq = request_int(request, options, "seq"),
                        .mbs = request_int(request, options, "mbs"),
                        .top = request_int(request, options, "top"),
                        .goal = request_word(options, "goal"),
                        .task = request_word(options, "task"),
                        .precision = request_word(options, "precision")};
    if (!ask->top) ask->top = 1;
    *why = STR("the request needs model, gpus (at least 1) and platform");
    if (!model || ask->gpus < 1 || ask->gpus > MOST_GPUS) return false;
    ask->in[FRAMEWORK_MEGATRON] = ask->in[FRAMEWORK_AUTOMODEL] = !framework.n;
    *why = STR("framework must be megatron, bridge or automodel");
    if (framework.n && !framework_from_name(framework, &asked)) return false;
    if (framework.n) ask->in[asked] = true;
    if (!check_words(request->arena, ask, why) || !request_pins(request, options, ask, why) ||
        !ask_leave_out(request->arena, ask, why))
        return false;
    struct str platform = batch_str(request, "platform");
    ask->platform = platform_load(platforms, request->diags, platform, (struct span){0});
    ask->model = ask->platform ? model_read(request->arena, request->diags, model) : NULL;
    if (ask->model) return true;
    *why = request->diags->n ? request->diags->items[0].message
                             : STR("the model or the platform cannot be read");
    return false;
}

struct batch_state {
    const struct rule_set *rules;
    struct platform_cache platforms;
};

static void answer_request(struct cmd_context *c, const struct batch_request *request)
{
    struct batch_state *state = request->state;
    double start = now_ms();
    struct ask ask;
    struct answers answers;
    struct str why;
    if (!request_ask(request, &state->platforms, &ask, &why)) {
        batch_error(c, why);
        return;
    }
    ask_complete(&ask);
    if (!answer_all(c, state->rules, &ask, request->diags, request->arena, &answers)) {
        batch_error(c, request->diags->n ? request->diags->items[0].message
                                         : STR("the question is incomplete"));
        return;
    }
    tree_print_members(&c->out,
                       suggest_tree(request->arena, answers.items, answers.n, now_ms() - start));
}

static int run_batch(struct cmd_context *c)
{
    struct batch_state state = {.platforms.arena = c->keep};
    if (!cmd_load_rules(c, &state.rules)) return STATUS_CANNOT;
    return batch_run(c, answer_request, &state);
}

static const struct option options[] = {
    {"gpus", "N|min", "GPUs of the job; min: the smallest power of two with a plan"},
    {"platform", "P", "platform name (moeplan platforms) or a platform file"},
    {"framework", "F",
     "megatron, bridge or automodel; without it Megatron and AutoModel are searched"},
    {"goal", "G", "throughput (default), bringup or memory"},
    {"task", "T", "pretrain (default), sft or peft"},
    {"seq", "N", "sequence length in tokens (4096)"},
    {"gbs", "N", "global batch size in sequences (about 4 M tokens a step)"},
    {"mbs", "N", "micro-batch size; without it searched"},
    {"precision", "P",
     "bf16 (default), fp8_delayed, fp8_tensorwise, fp8_blockwise, mxfp8 or nvfp4"},
    {"pin", "NAME=VALUE,…", "parameters with a fixed value"},
    {"forbid", "EXPR", "leave out plans on which the expression is true, as 'plan.etp > 1'"},
    {"top", "K", "how many layouts to show (5)"},
    {"format", "text|flags|script|yaml|bridge|plan|json", "output"},
    {0},
};

const struct command command_suggest = {
    .name = "suggest",
    .arguments = "MODEL",
    .min_arguments = 1,
    .max_arguments = 1,
    .help = "The best plan for a model on a cluster, and why",
    .details = "MODEL is a catalogue name (moeplan models), a model YAML, or a Hugging Face "
               "config.json or its folder.\n",
    .options = options,
    .loads_rules = true,
    .reads_batch = true,
    .run = run,
};
