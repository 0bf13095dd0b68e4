/* SPDX-License-Identifier: Apache-2.0 */
/* suggest: options -> what is asked -> the answers, shown. */
#include "base/num.h"
#include "cmd/batch.h"
#include "cmd/beside.h"
#include "cmd/documents.h"
#include "cmd/plan_out.h"
#include "cmd/sizing.h"
#include "cmd/wishes.h"
#include "facts/param_ids.h"

static bool read_pins(struct cmd_context *c, struct ask *ask)
{
    struct str list, why;
    for (size_t i = 0; option_nth(c, "pin", i, &list); i++)
        if (!ask_pins(c->keep, ask, list, &why))
            return cmd_usage_error(c, "--pin: %.*s", STR_ARG(why)), false;
    ask->forbid = ARENA_ARRAY(c->keep, struct str, c->n_given);
    while (option_nth(c, "forbid", ask->n_forbid, &ask->forbid[ask->n_forbid]))
        ask->n_forbid++;
    return true;
}

/* --reserve-memory, a pin by another name. */
static bool read_reserve(struct cmd_context *c, struct ask *ask)
{
    struct setting reserve = {.name = param_name(P_reserve_memory_gib), .is_text = true};
    struct str why;
    double gib;
    reserve.text = option_value(c, "reserve-memory");
    if (!option_given(c, "reserve-memory")) return true;
    reserve.value =
        num_parse_double(reserve.text, &gib) ? value_double(gib) : value_string(reserve.text);
    if (!ask_pin(c->keep, ask, reserve, &why))
        return cmd_usage_error(c, "--reserve-memory: %.*s", STR_ARG(why)), false;
    return true;
}

/* --documents, pins by another name; of the sequence that is asked for. */
static bool read_documents(struct cmd_context *c, struct ask *ask)
{
    enum { USUAL_SEQUENCE = 4096 };
    struct documents documents;
    struct setting pins[DOCUMENT_SETTINGS];
    struct str why;
    bool given;
    if (!documents_given(c, &given, &documents)) return false;
    if (!given) return true;
    documents_settings(&documents, ask->seq ? ask->seq : USUAL_SEQUENCE, pins);
    for (int i = 0; i < DOCUMENT_SETTINGS; i++)
        if (!ask_pin(c->keep, ask, pins[i], &why))
            return cmd_usage_error(c, "--documents: %.*s", STR_ARG(why)), false;
    return true;
}

/* --format flags is Megatron's, bridge Bridge's, yaml AutoModel's; a contradiction is a usage
 * error. */
static bool read_frameworks(struct cmd_context *c, struct ask *ask)
{
    const struct emitter *emitter = emitter_find(option_value(c, "format"));
    struct str word = option_value(c, "framework"), why;
    if (word.n && !ask_in(c->keep, ask, word, &why))
        return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
    if (word.n && emitter && !ask->in[emitter->framework])
        return cmd_usage_error(c, "this --format is %s's; it contradicts --framework %.*s",
                               framework_name(emitter->framework), STR_ARG(word)),
               false;
    if (emitter) ask->in[emitter->framework] = true;
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
    if (!good || sizing_wanted(c) || !option_given(c, "gpus") ||
        str_is(option_value(c, "gpus"), "min"))
        return good;
    if (!option_param(c, "gpus", P_world_size, &ask->gpus)) return false;
    if (ask->gpus > SUGGEST_MOST_GPUS)
        return cmd_usage_error(c, "--gpus must be at most %d", SUGGEST_MOST_GPUS), false;
    return true;
}

/* --like: what the question leaves open is the recipe's. */
static bool read_like(struct cmd_context *c, const struct rule_set *rules, struct ask *ask,
                      struct beside *beside)
{
    struct str name = option_value(c, "like"), why;
    if (name.n && sizing_wanted(c))
        return cmd_usage_error(c, "--like goes with one size and one platform"), false;
    if (beside_like(c->keep, c->scratch, &c->diags, rules, name, ask, beside, &why)) return true;
    if (why.n) cmd_usage_error(c, "--like: %.*s", STR_ARG(why));
    return false;
}

/* --rollout: the question becomes the trainer's. */
static bool read_rollout(struct cmd_context *c, struct ask *ask, struct beside *beside)
{
    struct str why;
    if (beside_rollout(c->keep, option_value(c, "rollout"), ask, beside, &why)) return true;
    return cmd_usage_error(c, "--rollout: %.*s", STR_ARG(why)), false;
}

/* The question, for one of the tasks. */
static bool read_ask(struct cmd_context *c, const struct rule_set *rules, struct str task,
                     struct ask *ask, struct beside *beside)
{
    struct str why;
    int format;
    if (!option_choice(c, "format", &format)) return false;
    ask->no_playbook = option_given(c, "no-playbook");
    ask->exhaustive = option_given(c, "exhaustive");
    ask->goal = option_value(c, "goal");
    ask->version = option_value(c, "framework-version");
    ask->numerics = option_value(c, "numerics");
    ask->task = task;
    ask->precision = option_value(c, "precision");
    ask->lora_targets = option_value(c, "lora-targets");
    if (!read_numbers(c, ask) || !read_frameworks(c, ask) || !read_like(c, rules, ask, beside))
        return false;
    if (!ask_words(c->keep, ask, &why)) return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
    if (!read_pins(c, ask) || !read_reserve(c, ask) || !read_documents(c, ask) ||
        !wishes_given(c, &ask->wish))
        return false;
    if (!ask_settle(c->keep, ask, &why)) return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
    ask->model = model_load(c->keep, &c->diags, c->arguments[0]);
    if (sizing_wanted(c)) return ask->model;
    struct platform_cache *platforms = ARENA_NEW(c->keep, struct platform_cache);
    platforms->arena = c->keep;
    ask->platform =
        platform_load(platforms, &c->diags, option_value(c, "platform"), (struct span){0});
    return ask->platform && ask->model && read_rollout(c, ask, beside);
}

static void emit_best(struct cmd_context *c, const struct rule_set *rules, const struct ask *ask,
                      const struct answers *answers, struct str format)
{
    size_t best = 0;
    while (best + 1 < answers->n && !answers->items[best].n)
        best++;
    const struct plan *plan = &answers->items[best].plans[0];
    struct emit_input in = {.rules = rules, .facts = plan->facts};
    struct str *comments;
    in.n_comments = suggest_comments(c->keep, ask, &answers->notes, plan, &comments);
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
    for (size_t i = 0; i < answers->notes.n; i++)
        buf_printf(&c->err, "note: %.*s\n", STR_ARG(answers->notes.items[i]));
    size_t none = 0; /* frameworks in a row that have no plan: what would fit is said behind them */
    for (size_t i = 0; i < answers->n; i++) {
        const struct answer *one = &answers->items[i];
        if (i && !none) buf_add(&c->out, STR("\n\n"));
        if (one->n) {
            suggest_text(c->keep, ask, answers->framework[i], one, &c->out);
            continue;
        }
        suggest_no_plan(c->keep, ask, answers->framework[i], one, none++ == 0, &c->out);
        if (i + 1 < answers->n && !answers->items[i + 1].n) continue;
        suggest_would_fit(c->keep, c->scratch, rules, ask, answers, i + 1 - none, i + 1, &c->out);
        none = 0;
    }
}

static void show_json(struct cmd_context *c, const struct rule_set *rules, const struct ask *ask,
                      const struct answers *answers, const struct beside *beside, double elapsed_ms)
{
    struct tree t;
    tree_open(&t, c->keep);
    suggest_json(&t, rules, ask, answers, elapsed_ms);
    beside_json(&t, beside);
    tree_print(&t, &c->out);
}

/* Several sizes, platforms or tasks: a question for each task. */
static int run_table(struct cmd_context *c, const struct rule_set *rules)
{
    VEC(struct ask) asks = {0};
    struct beside beside = {0};
    struct str tasks = option_value(c, "task"), task = tasks;
    if (option_given(c, "rollout"))
        return cmd_usage_error(c, "--rollout goes with one size and one platform");
    do {
        if (tasks.n) str_split(&tasks, ',', &task);
        struct ask *ask = VEC_PUSH(c->keep, &asks);
        *ask = (struct ask){0};
        if (!read_ask(c, rules, str_trim(task), ask, &beside)) return STATUS_CANNOT;
    } while (tasks.n);
    return sizing_run(c, rules, asks.items, asks.n);
}

static int run(struct cmd_context *c)
{
    double start = suggest_clock();
    const struct rule_set *rules;
    struct ask ask = {0};
    struct answers answers;
    struct beside beside = {0};
    struct str format = option_value(c, "format");
    if (!cmd_load_rules(c, &rules)) return STATUS_CANNOT;
    if (option_given(c, "batch"))
        return batch_run(c, suggest_answer, &(struct service){.rules = rules}, 1);
    if (sizing_wanted(c)) return run_table(c, rules);
    if (!read_ask(c, rules, option_value(c, "task"), &ask, &beside)) return STATUS_CANNOT;
    if (!beside_answer(c->keep, c->scratch, &c->diags, rules, &ask, &answers, &beside))
        return STATUS_CANNOT;
    if (str_is(format, "json"))
        show_json(c, rules, &ask, &answers, &beside, suggest_clock() - start);
    else if (!format.n || str_is(format, "text") || !answers.any)
        show(c, rules, &ask, &answers);
    else
        emit_best(c, rules, &ask, &answers, format);
    if (!format.n || str_is(format, "text")) beside_text(&ask, &answers, &beside, &c->out);
    return answers.any && !ask.late ? STATUS_OK : STATUS_NO;
}

static const struct option options[] = {
    {"gpus", "N|min|A..B",
     "GPUs of the job; min: the fewest, up to 16384, with a plan; several, as 64..4096 or 64,96: a "
     "table"},
    {"platform", "P",
     "platform name (moeplan platforms) or a platform file; several, as h100,gb200: a table"},
    {"framework", "F",
     "megatron, bridge or automodel; without it Megatron and AutoModel are searched, for peft "
     "Bridge and AutoModel"},
    {"framework-version", "V", "version of the framework (moeplan version lists them)"},
    {"goal", "G", "throughput (default), bringup or memory"},
    {"numerics", "N",
     "tuned (default): gradients, moments and parameters in fewer bits where the framework's tuned "
     "recipes of the chip have them so; strict: as the framework's defaults"},
    {"task", "T", "pretrain (default), sft or peft; several, as sft,peft: a table"},
    {"lora-rank", "N", "task peft: rank of the adapters (the framework's own)"},
    {"lora-targets", "NAME,…",
     "task peft: modules with adapters, by the framework's names: linear_qkv; *.q_proj"},
    {"seq", "N", "sequence length in tokens (4096)"},
    {"gbs", "N",
     "global batch size in sequences (pretrain about 4 M tokens a step, sft and peft 128 "
     "sequences)"},
    {"gbs-range", "A..B",
     "with several sizes: a batch that grows with the GPUs from A to B (weak scaling)"},
    {"mbs", "N", "micro-batch size; without it searched"},
    {"precision", "P",
     "bf16 (default), fp16, fp8_delayed, fp8_tensorwise, fp8_blockwise, mxfp8 or nvfp4"},
    {"pin", "NAME=VALUE,…", "parameters with a fixed value"},
    {"forbid", "EXPR", "leave out plans on which the expression is true, as 'plan.etp > 1'"},
    {"like", "RECIPE",
     "the plan nearest to a recipe: a file, or one of Bridge or AutoModel by name; and what "
     "differs"},
    {"exhaustive", NULL,
     "look at every plan instead of bounding the slower ones away: for doubters"},
    {"no-playbook", NULL, "leave public tuned recipes out of the candidates"},
    {"reserve-memory", "GIB", "memory of each GPU that something else holds: an inference engine"},
    DOCUMENTS_OPTION,
    {"rollout", "NAME=N,…",
     "reinforcement learning: an inference engine on the same GPUs, as "
     "tp=8,sequences=64,context=8192; "
     "with ratio=0.5, its GPU time over the trainer's, on GPUs of its own"},
    WISH_OPTIONS,
    {"top", "K", "how many layouts to show (5)"},
    {"format", "text|" EMITTER_WORDS "plan|json|csv", "output"},
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
    .required = "gpus|deadline platform",
    .loads_rules = true,
    .reads_batch = true,
    .run = run,
};
