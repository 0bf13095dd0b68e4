/* SPDX-License-Identifier: Apache-2.0 */
/* suggest: model, machine and wishes -> facts -> candidates -> cost -> choice -> output. */
#include "cmd/suggest.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "cmd/batch.h"
#include "cmd/member.h"
#include "cmd/plan_out.h"
#include "facts/param_ids.h"
#include "facts/profile.h"

/* The most that --gpus takes, and the most that --gpus min looks at: the size of the largest runs
   whose layouts are published (Llama 3.1 405B, 16,384 H100). */
enum { MOST_GPUS = 1 << 20, MOST_MIN_GPUS = 1 << 14 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* The wishes that are words: what each may be, the default first. */
static const struct wish {
    const char *name, *words;
} wishes[] = {
    {"goal", "throughput|bringup|memory"},
    {"task", "pretrain|sft|peft"},
    {"precision", "bf16|fp16|fp8_delayed|fp8_tensorwise|fp8_blockwise|mxfp8|nvfp4"},
    {"framework", "megatron|bridge|automodel"},
};
enum { WISH_GOAL, WISH_TASK, WISH_PRECISION, WISH_FRAMEWORK };

static bool bad_wish(struct arena *a, const struct wish *wish, struct str word, struct str *why)
{
    struct str near = option_near(a, word, wish->words);
    *why = arena_printf(a, "the %s must be one of %s, not %.*s%.*s", wish->name, wish->words,
                        STR_ARG(word), STR_ARG(near));
    return false;
}

/* The word itself, or the default where there is none; false when it is none of the wish's. */
static bool check_word(struct arena *a, const struct wish *wish, struct str *word, struct str *why)
{
    struct str rest = str_of(wish->words), one;
    while (str_split(&rest, '|', &one)) {
        if (!word->n) *word = one;
        if (str_eq(*word, one)) return true;
    }
    return bad_wish(a, wish, *word, why);
}

static bool check_words(struct arena *a, struct ask *ask, struct str *why)
{
    return check_word(a, &wishes[WISH_GOAL], &ask->goal, why) &&
           check_word(a, &wishes[WISH_TASK], &ask->task, why) &&
           check_word(a, &wishes[WISH_PRECISION], &ask->precision, why);
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
    struct setting pin = {.name = str_trim(str_slice(item, 0, equals)),
                          .text = node.text,
                          .value = node_value(a, &node, SCALAR_CORE),
                          .is_text = true};
    return ask_pin(a, ask, cap, pin, why);
}

static bool read_pins(struct cmd_context *c, struct ask *ask)
{
    struct str list, item, why;
    size_t cap = 0;
    for (size_t i = 0; option_nth(c, "pin", i, &list); i++)
        while (str_split(&list, ',', &item))
            if (!pin_text(c->keep, ask, &cap, item, &why)) {
                cmd_usage_error(c, "--pin: %.*s", STR_ARG(why));
                return false;
            }
    if (!ask_adapters(c->keep, ask, &cap, &why))
        return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
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
    struct str why;
    if (word.n && !framework_from_name(word, &asked)) {
        bad_wish(c->keep, &wishes[WISH_FRAMEWORK], word, &why);
        return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
    }
    if (word.n && emitter && emitter->framework != asked)
        return cmd_usage_error(c, "this --format is %s's; it contradicts --framework %.*s",
                               framework_name(emitter->framework), STR_ARG(word)),
               false;
    if (word.n)
        ask->in[asked] = true;
    else if (emitter)
        ask->in[emitter->framework] = true;
    else
        ask_usual_frameworks(ask);
    return true;
}

static bool read_numbers(struct cmd_context *c, struct ask *ask)
{
    ask->top = 5;
    bool good = option_param(c, "seq", P_seq_length, &ask->seq) &&
                option_param(c, "gbs", P_global_batch_size, &ask->gbs) &&
                option_param(c, "mbs", P_micro_batch_size, &ask->mbs) &&
                option_param(c, "lora-rank", P_peft_dim, &ask->lora_rank) &&
                option_int(c, "top", 1, &ask->top);
    if (!good || str_is(option_value(c, "gpus"), "min")) return good;
    if (!option_param(c, "gpus", P_world_size, &ask->gpus)) return false;
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
    ask->lora_targets = option_value(c, "lora-targets");
    if (!check_words(c->keep, ask, &why)) return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
    if (!read_numbers(c, ask) || !read_frameworks(c, ask) || !read_pins(c, ask)) return false;
    if (!ask_leave_out(c->keep, ask, &why)) return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
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
    struct notes notes;
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
    return ask_judge_forbid(arena, diags, ask, out->items, out->n, &out->notes);
}

/* Bytes by which the answer is known to exceed a GPU: of a plan that may not fit, or of the least
   that was looked at. */
static double need(const struct answer *answer)
{
    if (answer->n) return answer->plans[0].costs.peak_high;
    return answer->search->has_least ? answer->search->least.peak_high : INFINITY;
}

/* Where a count of GPUs was answered, and whether by a plan that surely fits. */
static bool try_count(struct cmd_context *c, const struct rule_set *rules, struct ask now,
                      double *least)
{
    struct answers answers;
    struct diags quiet;
    diags_init(&quiet, c->keep);
    ask_complete(&now);
    struct arena_mark mark = arena_mark(c->keep);
    bool answered = answer_all(c, rules, &now, &quiet, c->keep, &answers), found = false;
    *least = INFINITY;
    for (size_t i = 0; answered && i < answers.n; i++) {
        found = found || (answers.items[i].n && !answers.items[i].tight);
        *least = fmin(*least, need(&answers.items[i]));
    }
    arena_pop(c->keep, mark);
    return found;
}

/* --gpus min: the smallest power of two with a plan that surely fits; else the count that needs
   the least memory. */
static void find_smallest(struct cmd_context *c, const struct rule_set *rules, struct ask *ask)
{
    struct ask now = *ask;
    double nearest = INFINITY, least;
    ask->gpus = ask->most_gpus = MOST_MIN_GPUS;
    for (now.gpus = 1; now.gpus <= MOST_MIN_GPUS; now.gpus *= 2) {
        bool found = try_count(c, rules, now, &least);
        if (found || least < nearest) ask->gpus = now.gpus;
        if (found) ask->most_gpus = 0;
        if (found) return;
        nearest = fmin(nearest, least);
    }
}

/* What may fit is no answer to how many GPUs are needed. */
static void drop_plans(struct answers *answers)
{
    for (size_t i = 0; i < answers->n; i++) {
        struct answer *one = &answers->items[i];
        if (one->n) one->search->least = one->plans[0].costs;
        one->search->has_least = one->search->has_least || one->n > 0;
        one->n = 0;
    }
    answers->any = false;
}

static void emit_best(struct cmd_context *c, const struct rule_set *rules, const struct ask *ask,
                      const struct answers *answers, struct str format)
{
    size_t best = 0;
    while (best + 1 < answers->n && !answers->items[best].n)
        best++;
    const struct answer_plan *plan = &answers->items[best].plans[0];
    struct emit_input in = {.rules = rules, .facts = plan->facts};
    struct str *comments;
    in.n_comments = suggest_comments(c->keep, ask, plan, &comments);
    in.comments = comments;
    const struct emitter *emitter = emitter_find(format);
    if (emitter)
        emitter->write(&in, &c->out);
    else
        plan_out(c, &in);
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

static void show_json(struct cmd_context *c, const struct rule_set *rules,
                      const struct answers *answers, double elapsed_ms)
{
    struct tree t;
    tree_open(&t, c->keep);
    suggest_json(&t, rules, answers->items, answers->n, elapsed_ms);
    tree_print(&t, &c->out);
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
    if (ask.most_gpus) drop_plans(&answers);
    for (size_t i = 0; i < answers.notes.n; i++)
        buf_printf(&c->err, "note: %.*s\n", STR_ARG(answers.notes.items[i]));
    if (str_is(format, "json"))
        show_json(c, rules, &answers, now_ms() - start);
    else if (!format.n || str_is(format, "text") || !answers.any)
        show(c, rules, &ask, &answers);
    else
        emit_best(c, rules, &ask, &answers, format);
    return answers.any ? STATUS_OK : STATUS_NO;
}

/* ---- batch ---- */

static const struct member request_members[] = {
    {"id", MEMBER_ANY, P_NONE},
    {"model", MEMBER_ANY, P_NONE},
    {"gpus", MEMBER_NUMBER, P_world_size},
    {"platform", MEMBER_TEXT, P_NONE},
    {"options", MEMBER_MAP, P_NONE},
    {0},
};

static const struct member option_members[] = {
    {"gbs", MEMBER_NUMBER, P_global_batch_size},
    {"seq", MEMBER_NUMBER, P_seq_length},
    {"mbs", MEMBER_NUMBER, P_micro_batch_size},
    {"top", MEMBER_NUMBER, P_NONE},
    {"goal", MEMBER_TEXT, P_NONE},
    {"task", MEMBER_TEXT, P_NONE},
    {"lora_rank", MEMBER_NUMBER, P_peft_dim},
    {"lora_targets", MEMBER_TEXT, P_NONE},
    {"precision", MEMBER_TEXT, P_NONE},
    {"framework", MEMBER_TEXT, P_NONE},
    {"pin", MEMBER_ANY, P_NONE},
    {"forbid", MEMBER_TEXTS, P_NONE},
    {0},
};

static bool request_pins(const struct batch_request *request, const struct node *options,
                         struct ask *ask, struct str *why)
{
    size_t cap = 0;
    struct arena *a = request->arena;
    const struct node *pins = node_get(options, STR("pin"));
    if (pins && pins->kind != NODE_MAP && !(pins->kind == NODE_SCALAR && pins->quoted)) {
        *why = STR("options.pin must be a string such as tp=2,pp=4, or an object");
        return node_value(a, pins, SCALAR_JSON).kind == VALUE_NULL;
    }
    struct str list = member_text(options, "pin"), item;
    while (list.n && str_split(&list, ',', &item))
        if (!pin_text(a, ask, &cap, item, why)) return false;
    for (size_t i = 0; pins && i < pins->n; i++) {
        struct setting pin = {.name = pins->keys[i]->text,
                              .value = node_value(a, pins->items[i], SCALAR_JSON)};
        if (!ask_pin(a, ask, &cap, pin, why)) return false;
    }
    return ask_adapters(a, ask, &cap, why);
}

/* One expression, or a list of them. */
static void request_forbid(const struct batch_request *request, const struct node *options,
                           struct ask *ask)
{
    const struct node *node = node_get(options, STR("forbid"));
    size_t n = node && node->kind == NODE_LIST ? node->n : 1;
    struct str one = member_text(options, "forbid");
    ask->forbid = ARENA_ARRAY(request->arena, struct str, n);
    if (one.n) ask->forbid[ask->n_forbid++] = one;
    for (size_t i = 0; node && i < node->n; i++)
        ask->forbid[ask->n_forbid++] = node->items[i]->text;
}

static bool request_frameworks(const struct batch_request *request, const struct node *options,
                               struct ask *ask, struct str *why)
{
    struct str word = member_text(options, "framework");
    enum framework asked;
    if (!word.n) return ask_usual_frameworks(ask), true;
    bool known = framework_from_name(word, &asked);
    if (known) ask->in[asked] = true;
    return known || bad_wish(request->arena, &wishes[WISH_FRAMEWORK], word, why);
}

/* What a question cannot do without, all that is absent at once. */
static bool check_needed(const struct batch_request *request, const struct ask *ask,
                         struct str *why)
{
    static const char *const needed[] = {"model", "gpus", "platform"};
    struct buf missing = buf_new(request->arena);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!node_get(request->root, str_of(needed[i])))
            buf_printf(&missing, "%s%s", missing.n ? ", " : "", needed[i]);
    struct str names = buf_str(&missing);
    if (names.n)
        *why = arena_printf(request->arena, "the request has no %.*s", STR_ARG(names));
    else
        *why = arena_printf(request->arena, "gpus must be between 1 and %d", MOST_GPUS);
    return !names.n && ask->gpus >= 1 && ask->gpus <= MOST_GPUS;
}

static bool request_inputs(const struct batch_request *request, struct ask *ask, struct str *why)
{
    const struct node *model = node_get(request->root, STR("model"));
    struct str platform = member_text(request->root, "platform");
    ask->platform = platform_load(request->platforms, request->diags, platform, (struct span){0});
    if (ask->platform)
        ask->model = model->kind == NODE_SCALAR
                         ? model_load(request->arena, request->diags, model->text)
                         : model_read(request->arena, request->diags, model);
    if (ask->model) return true;
    *why = request->diags->n ? member_finding(request, &request->diags->items[0])
                             : STR("the model or the platform cannot be read");
    return false;
}

static bool request_ask(const struct batch_request *request, struct ask *ask, struct str *why)
{
    const struct node *options = node_get(request->root, STR("options"));
    if (!members_check(request, request->root, "", request_members, why) ||
        !members_check(request, options, "options.", option_members, why))
        return false;
    *ask = (struct ask){.gpus = member_number(request, request->root, "gpus"),
                        .gbs = member_number(request, options, "gbs"),
                        .seq = member_number(request, options, "seq"),
                        .mbs = member_number(request, options, "mbs"),
                        .top = member_number(request, options, "top"),
                        .goal = member_text(options, "goal"),
                        .task = member_text(options, "task"),
                        .lora_rank = member_number(request, options, "lora_rank"),
                        .lora_targets = member_text(options, "lora_targets"),
                        .precision = member_text(options, "precision")};
    if (!ask->top) ask->top = 1;
    if (!check_needed(request, ask, why)) return false;
    request_forbid(request, options, ask);
    return request_frameworks(request, options, ask, why) &&
           check_words(request->arena, ask, why) && request_pins(request, options, ask, why) &&
           ask_leave_out(request->arena, ask, why) && request_inputs(request, ask, why);
}

/* What is to be known of wishes that are kept to all the same. */
static void notes_json(struct tree *t, const struct answers *answers)
{
    if (!answers->notes.n) return;
    cJSON *list = tree_list(t, t->root, "notes");
    for (size_t i = 0; i < answers->notes.n; i++)
        tree_str(t, list, NULL, answers->notes.items[i]);
}

struct batch_state {
    const struct rule_set *rules;
};

static void answer_request(struct cmd_context *c, const struct batch_request *request)
{
    const struct batch_state *state = request->state;
    double start = now_ms();
    struct ask ask;
    struct answers answers;
    struct tree tree;
    struct str why;
    if (!request_ask(request, &ask, &why)) {
        batch_error(c, why);
        return;
    }
    ask_complete(&ask);
    if (!answer_all(c, state->rules, &ask, request->diags, request->arena, &answers)) {
        batch_error(c, request->diags->n ? member_finding(request, &request->diags->items[0])
                                         : STR("the question is incomplete"));
        return;
    }
    tree_open(&tree, request->arena);
    suggest_json(&tree, state->rules, answers.items, answers.n, now_ms() - start);
    notes_json(&tree, &answers);
    tree_print_members(&tree, &c->out);
}

static int run_batch(struct cmd_context *c)
{
    struct batch_state state;
    if (!cmd_load_rules(c, &state.rules)) return STATUS_CANNOT;
    return batch_run(c, answer_request, &state);
}

static const struct option options[] = {
    {"gpus", "N|min", "GPUs of the job; min: the smallest power of two up to 16384 with a plan"},
    {"platform", "P", "platform name (moeplan platforms) or a platform file"},
    {"framework", "F",
     "megatron, bridge or automodel; without it Megatron and AutoModel are searched, for peft "
     "Bridge and AutoModel"},
    {"goal", "G", "throughput (default), bringup or memory"},
    {"task", "T", "pretrain (default), sft or peft"},
    {"lora-rank", "N", "task peft: rank of the adapters (the framework's own)"},
    {"lora-targets", "NAME,…",
     "task peft: modules with adapters, by the framework's names: linear_qkv; *.q_proj"},
    {"seq", "N", "sequence length in tokens (4096)"},
    {"gbs", "N", "global batch size in sequences (about 4 M tokens a step)"},
    {"mbs", "N", "micro-batch size; without it searched"},
    {"precision", "P",
     "bf16 (default), fp16, fp8_delayed, fp8_tensorwise, fp8_blockwise, mxfp8 or nvfp4"},
    {"pin", "NAME=VALUE,…", "parameters with a fixed value"},
    {"forbid", "EXPR", "leave out plans on which the expression is true, as 'plan.etp > 1'"},
    {"top", "K", "how many layouts to show (5)"},
    {"format", "text|" EMITTER_WORDS "plan|json", "output"},
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
    .required = "gpus platform",
    .loads_rules = true,
    .reads_batch = true,
    .run = run,
};
