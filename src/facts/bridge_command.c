/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of Megatron-Bridge's own launchers: scripts/training/run_recipe.py, train.sh
   and setup_experiment.py name a recipe, scripts/performance/setup_experiment.py and run_script.py
   what to choose one by. Their options stand for overrides. */
#include "base/num.h"
#include "facts/bridge.h"
#include "facts/flags.h"
#include "facts/param_ids.h"
#include "facts/program_kind.h"

/* Options, their short names and the keys that they stand for: COMMON_OVERRIDE_FIELDS of
   scripts/training/run_recipe.py, apply_argparse_overrides of scripts/performance/utils/utils.py.
 */
static const struct option {
    const char *name, *brief, *key, *too;
} options[] = {
    {"--max_steps", "-ms", "train.train_iters", NULL},
    {"--global_batch_size", "-gb", "train.global_batch_size", NULL},
    {"--micro_batch_size", "-mb", "train.micro_batch_size", NULL},
    {"--seq_length", "-sl", "dataset.seq_length", "model.seq_length"},
    {"--tensor_model_parallel_size", "-tp", "model.tensor_model_parallel_size", NULL},
    {"--pipeline_model_parallel_size", "-pp", "model.pipeline_model_parallel_size", NULL},
    {"--context_parallel_size", "-cp", "model.context_parallel_size", NULL},
    {"--virtual_pipeline_model_parallel_size", "-vp", "model.virtual_pipeline_model_parallel_size",
     NULL},
    {"--expert_model_parallel_size", "-ep", "model.expert_model_parallel_size", NULL},
    {"--expert_tensor_parallel_size", "-etp", "model.expert_tensor_parallel_size", NULL},
    {"--expert_tensor_parallel_size", "-et", "model.expert_tensor_parallel_size", NULL},
    {"--lr", NULL, "optimizer.lr", NULL},
    {"--min_lr", NULL, "optimizer.min_lr", NULL},
    {"--num_layers", NULL, "model.num_layers", NULL},
    {"--hidden_size", NULL, "model.hidden_size", NULL},
    {"--num_moe_experts", NULL, "model.num_moe_experts", NULL},
    {"--pipeline_model_parallel_layout", NULL, "model.pipeline_model_parallel_layout", NULL},
};

/* The value of the option that is at words[*at], behind = or in the next word; NULL: another word
   stands there. `value` has the word's place and what is known of it. */
static bool option_at(const struct flag_words *words, size_t at, const char *name,
                      const char *brief, struct flag_word *value)
{
    const struct flag_word *w = &words->items[at];
    struct str flag = str_of(name);
    if (w->text.n > flag.n && str_starts(w->text, flag) && w->text.p[flag.n] == '=') {
        *value = *w;
        value->text = str_slice(w->text, flag.n + 1, w->text.n);
        return true;
    }
    bool this = str_eq(w->text, flag) || (brief && str_is(w->text, brief));
    if (!this || at + 1 >= words->n) return false;
    if (str_starts(words->items[at + 1].text, STR("--"))) return false; /* it has none */
    *value = words->items[at + 1];
    value->maybe |= w->maybe;
    return true;
}

/* The last word of an option; NULL where there is none, or nobody knows what it is. */
static bool find_option(const struct flag_words *words, const char *name, const char *brief,
                        struct flag_word *value)
{
    bool found = false;
    for (size_t i = 0; i < words->n; i++)
        found |= option_at(words, i, name, brief, value);
    return found && !value->dynamic && !value->maybe;
}

static struct str text_or(const struct flag_words *words, const char *name, const char *brief,
                          const char *otherwise)
{
    struct flag_word value;
    return find_option(words, name, brief, &value) ? value.text : str_of(otherwise);
}

/* bf16, fp8mx of fp8_mx: as recipes' names have it. */
static struct str without_underscores(struct arena *a, struct str word)
{
    char *p = ARENA_ARRAY(a, char, word.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] != '_') p[n++] = word.p[i];
    return (struct str){p, n};
}

/* The name that scripts/performance makes of its selectors; empty: it is no such command. */
static struct str benchmark_name(struct arena *a, const struct flag_words *words,
                                 struct flag_word *at)
{
    struct flag_word gpus, chip;
    bool all = find_option(words, "--model_recipe_name", "-mr", at) &&
               find_option(words, "--num_gpus", "-ng", &gpus) &&
               find_option(words, "--gpu", "-g", &chip);
    if (!all) return (struct str){"", 0};
    struct str task = text_or(words, "--task", NULL, "pretrain");
    struct str type = text_or(words, "--compute_dtype", "-c", "bf16");
    struct str variant = text_or(words, "--config_variant", "-cv", "");
    bool plain = !variant.n || str_is(variant, "v1") || str_is(variant, "v2");
    return arena_printf(a, "%.*s_%.*s_%.*sgpu_%.*s_%.*s%s%.*s_config", STR_ARG(at->text),
                        STR_ARG(task), STR_ARG(gpus.text), STR_ARG(chip.text),
                        STR_ARG(without_underscores(a, type)), plain ? "" : "_",
                        STR_ARG(plain ? STR("") : variant));
}

/* --model STEM with --mode: lora and dora are the task peft. */
static struct str stem_name(struct arena *a, const struct flag_words *words, struct flag_word *at)
{
    struct flag_word mode;
    bool both =
        find_option(words, "--model", NULL, at) && find_option(words, "--mode", NULL, &mode);
    if (!both) return (struct str){"", 0};
    bool adapters = str_is(mode.text, "lora") || str_is(mode.text, "dora");
    return arena_printf(a, "%.*s_%.*s_config", STR_ARG(at->text),
                        STR_ARG(adapters ? STR("peft") : mode.text));
}

bool bridge_command_option(struct str word)
{
    static const char *const names[] = {"--recipe", "--model_recipe_name", "-mr",
                                        "--model_family_name"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(str_slice(word, 0, str_find(word, '=')), names[i])) return true;
    return false;
}

struct str bridge_command_recipe(struct arena *a, const struct flag_words *words,
                                 struct flag_word *at, bool *exact)
{
    *exact = find_option(words, "--recipe", NULL, at);
    if (*exact) return at->text;
    struct str name = benchmark_name(a, words, at);
    return name.n ? name : stem_name(a, words, at);
}

int64_t bridge_command_gpus(const struct flag_words *words)
{
    struct flag_word gpus, model;
    int64_t n;
    bool given = find_option(words, "--model_recipe_name", "-mr", &model) &&
                 find_option(words, "--num_gpus", "-ng", &gpus) && num_parse_int(gpus.text, &n);
    return given && n > 0 ? n : 0;
}

static void add_override(struct arena *a, const struct flag_word *value, const char *key,
                         struct flag_words *out)
{
    struct flag_word *w = VEC_PUSH(a, out);
    *w = *value;
    w->text = arena_printf(a, "%s=%.*s", key, STR_ARG(value->text));
}

/* The performance scripts turn sequence parallelism on and off with tensor parallelism
   (apply_argparse_overrides). */
static void add_sequence_parallel(struct arena *a, const struct flag_words *words,
                                  struct flag_words *out)
{
    struct flag_word tp, model;
    int64_t n;
    if (!find_option(words, "--model_recipe_name", "-mr", &model) ||
        !find_option(words, "--tensor_model_parallel_size", "-tp", &tp) ||
        !num_parse_int(tp.text, &n))
        return;
    tp.text = n > 1 ? STR("true") : STR("false");
    add_override(a, &tp, "model.sequence_parallel", out);
}

enum { N_OPTIONS = sizeof options / sizeof *options };

const struct program_kind *bridge_launchers(void)
{
    return program_kind_named("bridge-launchers");
}

const struct program_setting *bridge_command_setting(struct str word, struct str *name)
{
    *name = str_slice(word, 0, str_find(word, '='));
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (options[i].brief && str_is(*name, options[i].brief)) *name = str_of(options[i].name);
    const struct program_kind *kind = bridge_launchers();
    return program_kind_has(kind, *name) ? program_kind_own(kind, *name) : NULL;
}

void bridge_command_overrides(struct arena *a, const struct flag_words *words,
                              struct flag_words *out)
{
    add_sequence_parallel(a, words, out);
    for (size_t i = 0; i < words->n; i++) {
        for (size_t k = 0; k < N_OPTIONS; k++) {
            struct flag_word value;
            if (!option_at(words, i, options[k].name, options[k].brief, &value)) continue;
            add_override(a, &value, options[k].key, out);
            if (options[k].too) add_override(a, &value, options[k].too, out);
            break;
        }
    }
}
