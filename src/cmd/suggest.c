/* SPDX-License-Identifier: Apache-2.0 */
/* suggest: options -> what is asked -> the answers, shown. */
#include <errno.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/num.h"
#include "base/path.h"
#include "base/quote.h"
#include "cmd/batch.h"
#include "cmd/beside.h"
#include "cmd/documents.h"
#include "cmd/plan_out.h"
#include "cmd/sizing.h"
#include "cmd/suggest_show.h"
#include "cmd/wishes.h"
#include "emit/svg.h"
#include "facts/param_ids.h"

enum { PICTURE_WIDTH = 88 };

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
   error. With --take the frameworks stay those of the table that it counts in. */
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
    if (emitter && !option_given(c, "take")) ask->in[emitter->framework] = true;
    return true;
}

/* --gpus where it is one number. */
static bool read_gpus(struct cmd_context *c, struct ask *ask)
{
    struct str said = option_value(c, "gpus");
    if (sizing_wanted(c) || !option_given(c, "gpus") || str_is(said, "min")) return true;
    if (!num_parse_int(said, &ask->gpus) || ask->gpus < 1)
        return cmd_usage_error(c, "--" SIZES_WANTED, SIZING_MOST, STR_ARG(said)), false;
    if (ask->gpus > SUGGEST_MOST_GPUS)
        return cmd_usage_error(c, "--gpus must be at most %d", SUGGEST_MOST_GPUS), false;
    return true;
}

static bool read_numbers(struct cmd_context *c, struct ask *ask)
{
    ask->top = SUGGEST_TOP;
    return option_param(c, "seq", P_seq_length, &ask->seq) &&
           option_param(c, "gbs", P_global_batch_size, &ask->gbs) &&
           option_param(c, "mbs", P_micro_batch_size, &ask->mbs) &&
           option_param(c, "lora-rank", P_peft_dim, &ask->lora_rank) &&
           option_int(c, "top", 1, &ask->top) && read_gpus(c, ask);
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

/* A stage is a task with tokens of its own: projector:0.5B. */
static bool read_stage(struct cmd_context *c, struct str task, struct ask *ask)
{
    struct str why, tokens = task;
    str_split(&tokens, ':', &ask->task);
    ask->stage = tokens.n > 0;
    if (!ask->stage) return true;
    if (option_given(c, "tokens"))
        return cmd_usage_error(c, "--tokens is for all tasks, %.*s has its own", STR_ARG(task)),
               false;
    if (wish_read(c->keep, &ask->wish, WISH_TOKENS, "what follows a task", tokens, &why))
        return true;
    return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
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
    ask->precision = option_value(c, "precision");
    ask->lora_targets = option_value(c, "lora-targets");
    if (!read_stage(c, task, ask) || !read_numbers(c, ask) || !read_frameworks(c, ask) ||
        !read_like(c, rules, ask, beside))
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

static struct emit_input input_of(struct cmd_context *c, const struct rule_set *rules,
                                  const struct ask *ask, const struct answers *answers,
                                  const struct offer *taken)
{
    struct emit_input in = {.rules = rules, .facts = taken->plan->facts};
    struct str *comments;
    in.n_comments = suggest_comments(c->keep, ask, &answers->notes, taken->plan, &comments);
    in.comments = comments;
    return in;
}

static void emit_taken(struct cmd_context *c, const struct emit_input *in, struct str format)
{
    const struct emitter *emitter = emitter_find(format);
    if (emitter)
        emitter->write(in, &c->out);
    else
        plan_out(c, in);
}

/* ---- screens ---- */

/* Frameworks without a plan, and what would fit there. */
static void show_none(struct cmd_context *c, const struct rule_set *rules, const struct ask *ask,
                      const struct answers *answers, struct buf *out)
{
    bool first = !answers->any;
    if (!first) buf_add_char(out, '\n');
    for (size_t i = 0; i < answers->n; i++) {
        const struct answer *one = &answers->items[i];
        if (one->n) continue;
        suggest_no_plan(c->keep, ask, answers->framework[i], one, first, out);
        first = false;
    }
    suggest_would_fit(c->keep, c->scratch, rules, ask, answers, out);
}

static bool lacks_some(const struct answers *answers)
{
    bool lacks = false;
    for (size_t i = 0; i < answers->n; i++)
        lacks = lacks || !answers->items[i].n;
    return lacks;
}

/* --full: of what is taken and of the best of each other framework. */
static void show_full(struct cmd_context *c, const struct ask *ask, const struct offers *all,
                      const struct offer *taken, struct buf *out)
{
    static const struct depth everything = {true, true, true};
    suggest_depth(c->keep, ask, taken, &everything, out);
    for (size_t i = 0; i < all->n; i++) {
        const struct offer *o = &all->items[i];
        if (o->answer == taken->answer || o->plan != o->answer->plans) continue;
        buf_add(out, STR("\n\n"));
        suggest_verdict(c->keep, o, out);
        suggest_depth(c->keep, ask, o, &everything, out);
    }
}

static void show(struct cmd_context *c, const struct rule_set *rules, const struct ask *ask,
                 const struct answers *answers, const struct offers *all, const struct offer *taken)
{
    struct depth depth = {option_given(c, "why"), option_given(c, "next"),
                          option_given(c, "verify")};
    bool deep = depth.why || depth.next || depth.verify, full = option_given(c, "full");
    struct buf none = buf_new(c->keep);
    if (lacks_some(answers) && (full || !deep)) show_none(c, rules, ask, answers, &none);
    if (taken && deep && !full)
        suggest_verdict(c->keep, taken, &c->out);
    else if (taken)
        suggest_first(c->keep, ask, all, taken, c->view, buf_str(&none), &c->out);
    else
        buf_add(&c->out, buf_str(&none));
    if (taken && full)
        show_full(c, ask, all, taken, &c->out);
    else if (taken)
        suggest_depth(c->keep, ask, taken, &depth, &c->out);
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

/* ---- --save-dir ---- */

struct saving {
    struct cmd_context *c;
    struct str folder;
    bool good;
};

static void save(struct saving *s, const char *name, struct buf *text)
{
    struct arena *a = s->c->keep;
    struct str path = path_join(a, s->folder, str_of(name)), error;
    if (!s->good) return;
    s->good = io_write(a, path.p, quote_screen(a, buf_str(text)), &error);
    if (s->good)
        buf_printf(&s->c->err, "wrote %.*s\n", LINE_ARG(a, path));
    else
        cmd_usage_error(s->c, "%.*s cannot be written: %.*s", STR_ARG(path), STR_ARG(error));
}

static void save_launch(struct saving *s, const struct emit_input *in, enum framework framework)
{
    static const char *const names[] = {"launch.sh", "overrides.txt", "recipe.yaml"};
    struct emit_input here = *in;
    struct buf text = buf_new(s->c->keep);
    const struct emitter *emitter =
        framework == FRAMEWORK_MEGATRON ? emitter_find(STR("script")) : emitter_of(framework);
    here.folder = s->folder;
    emitter->write(&here, &text);
    save(s, names[framework], &text);
}

/* The screens as a file has them, without marks. */
static void save_reasons(struct saving *s, const struct ask *ask, const struct offers *all,
                         const struct offer *taken)
{
    struct arena *a = s->c->keep;
    struct buf marked = buf_new(a), text = buf_new(a);
    buf_add(&text, STR("# moeplan: format=none\n")); /* commands in it are for who reads it */
    suggest_first(a, ask, all, taken, (struct view){0}, STR(""), &marked);
    show_full(s->c, ask, all, taken, &marked);
    buf_add(&text, page_render(a, buf_str(&marked), (struct view){0}));
    save(s, "reasons.txt", &text);
}

static bool save_all(struct cmd_context *c, const struct rule_set *rules, const struct ask *ask,
                     const struct answers *answers, const struct offers *all,
                     const struct offer *taken)
{
    struct saving s = {c, option_value(c, "save-dir"), true};
    struct emit_input in = input_of(c, rules, ask, answers, taken);
    struct buf plan = buf_new(c->keep), json = buf_new(c->keep), csv = buf_new(c->keep);
    struct tree t;
    const char *folder = str_dup(c->keep, s.folder).p;
    if (mkdir(folder, 0777) != 0 && !io_is_folder(folder))
        return cmd_usage_error(c, "%s cannot be made: %s", folder, strerror(errno)), false;
    if (!str_ends(s.folder, STR("/"))) s.folder = arena_printf(c->keep, "%.*s/", STR_ARG(s.folder));
    plan_out_in(c, &in, s.folder, &plan);
    save(&s, "plan.yaml", &plan);
    save_launch(&s, &in, taken->framework);
    save_reasons(&s, ask, all, taken);
    tree_open(&t, c->keep);
    suggest_json(&t, rules, ask, answers, 0);
    tree_print(&t, &json);
    save(&s, "answer.json", &json);
    suggest_csv(all, &csv);
    save(&s, "layouts.csv", &csv);
    return s.good;
}

/* ---- the command ---- */

/* The layout that --take names, the first where it is not given; NULL with a usage error when
   there is none of that number. */
static const struct offer *take(struct cmd_context *c, const struct offers *all)
{
    const struct emitter *emitter = emitter_find(option_value(c, "format"));
    int64_t rank = 1;
    if (!option_int(c, "take", 1, &rank)) return NULL;
    const struct offer *taken = (size_t)rank <= all->n ? &all->items[rank - 1] : NULL;
    if (taken && (!emitter || emitter->framework == taken->framework)) return taken;
    if (taken)
        cmd_usage_error(c, "layout %lld is %s's; its --format is %s", (long long)rank,
                        framework_full_name(taken->framework),
                        emitter_of(taken->framework)->format);
    else
        cmd_usage_error(c, "--take %lld: there are %zu layouts; --top K asks for more",
                        (long long)rank, all->n);
    return NULL;
}

/* The screen so far, as an SVG. */
static void make_picture(struct cmd_context *c)
{
    struct str marked = str_dup(c->keep, buf_str(&c->out));
    c->out.n = 0;
    svg_screen(marked, PICTURE_WIDTH, &c->out);
}

static int answer(struct cmd_context *c, const struct rule_set *rules, const struct ask *ask,
                  const struct answers *answers, const struct beside *beside, double start)
{
    struct str format = option_value(c, "format");
    struct offers all = offers_of(c->keep, ask, answers);
    const struct offer *taken = all.n ? take(c, &all) : NULL;
    if (all.n && !taken) return STATUS_CANNOT;
    if (taken && option_given(c, "save-dir") && !save_all(c, rules, ask, answers, &all, taken))
        return STATUS_CANNOT;
    bool picture = str_is(format, "svg");
    if (picture) c->view = (struct view){.width = PICTURE_WIDTH};
    if (str_is(format, "json")) {
        show_json(c, rules, ask, answers, beside, suggest_clock() - start);
    } else if (!format.n || str_is(format, "text") || picture || !taken) {
        for (size_t i = 0; i < answers->notes.n; i++)
            buf_printf(&c->err, "note: %.*s\n", STR_ARG(answers->notes.items[i]));
        show(c, rules, ask, answers, &all, taken);
        beside_text(ask, answers, beside, &c->out);
        if (picture) make_picture(c);
    } else {
        struct emit_input in = input_of(c, rules, ask, answers, taken);
        emit_taken(c, &in, format);
    }
    return taken && !ask->late ? STATUS_OK : STATUS_NO;
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

/* A request says all of its question: an option would be lost without a word. */
static bool asks_by_requests_alone(struct cmd_context *c)
{
    for (const struct option *o = c->command->options; o->name; o++) {
        if (!option_given(c, o->name)) continue;
        cmd_usage_error(c, "--%s is of one question; with --batch each request says it itself",
                        o->name);
        return false;
    }
    return true;
}

static int run(struct cmd_context *c)
{
    double start = suggest_clock();
    const struct rule_set *rules;
    struct ask ask = {0};
    struct answers answers;
    struct beside beside = {0};
    if (!cmd_load_rules(c, &rules)) return STATUS_CANNOT;
    if (option_given(c, "batch") && !asks_by_requests_alone(c)) return STATUS_CANNOT;
    if (option_given(c, "batch"))
        return batch_run(c, suggest_answer, &(struct service){.rules = rules}, 1);
    if (sizing_wanted(c)) return run_table(c, rules);
    if (!read_ask(c, rules, option_value(c, "task"), &ask, &beside)) return STATUS_CANNOT;
    if (!beside_answer(c->keep, c->scratch, &c->diags, rules, &ask, &answers, &beside))
        return STATUS_CANNOT;
    return answer(c, rules, &ask, &answers, &beside, start);
}

static const struct option options[] = {
    {"gpus", "N|min|A..B",
     "GPUs of the job; min: the fewest whole nodes with a plan, or part of one, up to 16384; "
     "several, as 64..4096 or 64,96: a table"},
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
    {"task", "T",
     "pretrain (default), sft, peft, qlora, or projector (alone); several, as sft,peft: a table; "
     "projector:1B,sft:4B: stages"},
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
     "bf16 (default), fp16, fp8_delayed, fp8_tensorwise (Bridge: fp8_cs), fp8_blockwise "
     "(fp8_sc), mxfp8 (fp8_mx) or nvfp4"},
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
    {"top", "K", "how many layouts to look for in each framework (5); more are all shown"},
    {"take", "N", "the layout of the table that is written, saved and explained (1)"},
    {"save-dir", "DIR", "write plan, launch file, reasons, JSON and CSV there"},
    {"why", NULL, "the plan in full, and why each of its parts is as it is"},
    {"next", NULL, "what to try next, and what goes wrong with such plans"},
    {"verify", NULL, "how to check the plan before it runs at its size"},
    {"full", NULL, "all of it, of every framework"},
    {"format", "text|" EMITTER_WORDS "plan|json|csv|svg", "output; svg: the screen as a picture"},
    {0},
};

const struct command command_suggest = {
    .name = "suggest",
    .arguments = "MODEL",
    .usual_file = "config.json",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "deepseek-v3 --gpus 256 --platform gb200\n./config.json --gpus min --platform h100 "
                "--why\nqwen3-30b-a3b --gpus 64 --platform h100 --save-dir out",
    .help = "The best plan for a model on a cluster, and why",
    .details = "MODEL is a catalogue name (moeplan models), a model YAML, or a Hugging Face "
               "config.json or its folder;\nwithout it the config.json "
               "of the current folder.\n",
    .options = options,
    .required = "gpus|deadline platform",
    .loads_rules = true,
    .reads_batch = true,
    .run = run,
};
