/* SPDX-License-Identifier: Apache-2.0 */
/* The launch: which of a script's commands starts training, its words as flags, and how many GPUs
 * it runs on. */
#include "base/num.h"
#include "facts/bridge.h"
#include "facts/param_ids.h"
#include "facts/shell_state.h"

/* ---- fields as words ---- */

static uint32_t line_of(const struct shell *sh, uint32_t offset)
{
    return source_line_at(&sh->f->diags->sources, sh->f->source, offset);
}

static struct flag_word to_word(struct shell *sh, struct shell_text t)
{
    struct flag_word w = {0};
    char *p = arena_alloc(sh->arena, t.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < t.n; i++) {
        w.maybe = w.maybe || t.p[i] == SHELL_MAYBE;
        if (t.p[i] == SHELL_MAYBE) continue;
        if (t.p[i] == SHELL_UNKNOWN && !w.dynamic) {
            w.dynamic = true;
            w.known = n;
        }
        p[n++] = t.p[i] == SHELL_UNKNOWN ? '?' : t.p[i];
    }
    w.text = (struct str){p, n};
    if (!w.dynamic) w.known = n;
    w.from = t.n ? t.at[0] : 0;
    bool together = t.n && t.at[t.n - 1] >= w.from && t.at[t.n - 1] - w.from <= 2 * t.n + 4;
    w.to = together ? t.at[t.n - 1] + 1 : w.from + 1;
    w.line = w.set_line = line_of(sh, w.from);
    return w;
}

/* Whether the word is an argument of the framework: a known flag, or an override of a known key. */
static bool is_argument(const struct shell *sh, struct shell_text t)
{
    struct str s = shell_str(t);
    enum framework framework = sh->f->framework;
    while (s.n && (s.p[0] == SHELL_MAYBE || (framework == FRAMEWORK_BRIDGE && s.p[0] == '+')))
        s = str_slice(s, 1, s.n);
    s = str_slice(s, 0, str_find(s, '='));
    if (framework == FRAMEWORK_BRIDGE && bridge_command_option(s)) return true;
    return param_find_key(framework, s, NULL) >= 0;
}

static int count_flags(const struct shell *sh, const struct shell_fields *words, size_t from)
{
    int n = 0;
    for (size_t i = from; i < words->n; i++)
        n += is_argument(sh, words->items[i]);
    return n;
}

/* -m MODULE, which is the program unless it is a launcher. */
static bool is_program_module(struct str option, struct str module)
{
    return str_is(option, "-m") && !str_is_any(module, "torch.distributed.run|coverage|"
                                                       "torch.distributed.launch|"
                                                       "accelerate.commands.launch");
}

/* The first word behind the program: behind the script, else the first flag. */
static size_t first_argument(const struct shell *sh, const struct shell_fields *words)
{
    for (size_t i = 0; i < words->n; i++) {
        if (str_ends(shell_str(words->items[i]), STR(".py"))) return i + 1;
        if (i + 1 < words->n &&
            is_program_module(shell_str(words->items[i]), shell_str(words->items[i + 1])))
            return i + 2;
    }
    for (size_t i = 0; i < words->n; i++)
        if (is_argument(sh, words->items[i])) return i;
    return words->n;
}

static void to_words(struct shell *sh, const struct shell_fields *fields, size_t from, size_t to,
                     struct flag_words *out)
{
    out->n = 0;
    for (size_t i = from; i < to; i++)
        *VEC_PUSH(sh->arena, out) = to_word(sh, fields->items[i]);
}

/* Words behind && and the like, in texts that were put together as one command. */
static size_t end_of_command(const struct shell_fields *words, size_t from)
{
    static const char *const ends[] = {"&&", "||", "|", ";", "2>&1", ">", ">>", "&"};
    for (size_t i = from; i < words->n; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            if (str_is(shell_str(words->items[i]), ends[k])) return i;
    return words->n;
}

void shell_launch(struct shell *sh, const struct shell_fields *words)
{
    size_t from = first_argument(sh, words);
    int flags = count_flags(sh, words, from);
    if (flags <= sh->launch_flags) return;
    sh->launch_flags = flags;
    to_words(sh, words, from, end_of_command(words, from), &sh->launch);
    to_words(sh, words, 0, from, &sh->program);
}

static bool looks_like_one(const struct shell *sh, struct shell_text t)
{
    struct str s = shell_str(t);
    return sh->f->framework == FRAMEWORK_BRIDGE ? str_find(s, '=') < s.n : str_starts(s, STR("--"));
}

/* The fields of an unquoted $variable. */
static void split_blanks(struct shell *sh, struct shell_text t, struct shell_fields *out)
{
    for (size_t at = 0, from = 0; at <= t.n; at++) {
        bool between = at == t.n || strchr(" \t\n", t.p[at]);
        if (!between) continue;
        if (at > from) shell_push(sh, out, (struct shell_text){t.p + from, t.at + from, at - from});
        from = at + 1;
    }
}

/* A file that only defines variables: all of those that hold mostly flags. */
static void collect_variables(struct shell *sh)
{
    struct shell_fields all = {0};
    for (size_t i = 0; i < sh->vars.n; i++) {
        struct shell_fields fields = {0};
        const struct shell_fields *items = &sh->vars.items[i].items;
        for (size_t k = 0; k < items->n; k++)
            split_blanks(sh, items->items[k], &fields);
        int flags = count_flags(sh, &fields, 0), dashes = 0;
        for (size_t k = 0; k < fields.n; k++)
            dashes += looks_like_one(sh, fields.items[k]);
        if (flags == 0 || 2 * flags < dashes) continue;
        size_t to = end_of_command(&fields, first_argument(sh, &fields));
        for (size_t k = first_argument(sh, &fields); k < to; k++)
            shell_push(sh, &all, fields.items[k]);
    }
    sh->launch_flags = count_flags(sh, &all, 0);
    to_words(sh, &all, 0, all.n, &sh->launch);
}

/* ---- the number of GPUs ---- */

static bool int_of(struct str text, int64_t *out)
{
    return num_parse_int(text, out) && *out >= 1 && *out <= 1 << 24;
}

/* The number behind one of the options, "--nnodes=2" or "--nnodes 2"; 0: not known; `otherwise`
 * when it is not there. */
static int64_t option_value(const struct flag_words *words, const char *const *names,
                            int64_t otherwise, const struct flag_word **at)
{
    int64_t value = otherwise;
    for (size_t i = 0; i < words->n; i++) {
        struct str s = words->items[i].text;
        size_t eq = str_find(s, '=');
        for (size_t k = 0; names[k]; k++) {
            if (!str_is(str_slice(s, 0, eq), names[k])) continue;
            bool inside = eq < s.n;
            const struct flag_word *w = inside             ? &words->items[i]
                                        : i + 1 < words->n ? &words->items[i + 1]
                                                           : NULL;
            bool known =
                w && !w->dynamic && int_of(inside ? str_slice(s, eq + 1, s.n) : w->text, &value);
            if (known) *at = w;
            if (!known) return 0;
        }
    }
    return value;
}

/* A node for a place in the script. */
static struct node *place(struct shell *sh, uint32_t from, uint32_t to)
{
    struct node *node = ARENA_NEW(sh->arena, struct node);
    *node = (struct node){.source = sh->f->source,
                          .from = from,
                          .to = to,
                          .line = line_of(sh, from),
                          .text = STR("")};
    return node;
}

static void set_world(struct shell *sh, int64_t gpus, uint32_t from, uint32_t to, const char *how)
{
    facts_set(sh->f, P_world_size, value_int(gpus), ORIGIN_FILE, place(sh, from, to), str_of(how));
}

static void add_raw(struct shell *sh, const char *key, int64_t value)
{
    facts_add_raw(sh->f, str_of(key), value_int(value));
}

static bool world_of_torchrun(struct shell *sh)
{
    static const char *const per_node[] = {"--nproc_per_node", "--nproc-per-node",
                                           "--gpus-per-node", NULL};
    static const char *const nodes[] = {"--nnodes", NULL};
    const struct flag_word *at = NULL, *other = NULL;
    int64_t gpus = option_value(&sh->program, per_node, 0, &at),
            n = option_value(&sh->program, nodes, 1, &other);
    if (!gpus || !n) return false;
    set_world(sh, gpus * n, at->from, at->to, "--nnodes x --nproc-per-node");
    add_raw(sh, "torchrun.gpus_per_node", gpus);
    add_raw(sh, "torchrun.nodes", n);
    return true;
}

static bool world_of_variable(struct shell *sh)
{
    const struct shell_var *var = shell_var_find(sh, STR("WORLD_SIZE"));
    int64_t gpus = 0;
    if (!var || !var->items.n || !int_of(shell_str(var->items.items[0]), &gpus)) return false;
    uint32_t at = var->items.items[0].at[0];
    set_world(sh, gpus, at, at + 1, "WORLD_SIZE");
    return true;
}

/* ---- the #SBATCH header ---- */

enum { NODES, GPUS_PER_NODE, TASKS_PER_NODE, TASKS, GPUS, SEGMENT, SLURM_OPTIONS };
static const struct {
    const char *key; /* what rules call it */
    const char *names[2];
} slurm_options[SLURM_OPTIONS] = {
    [NODES] = {"sbatch.nodes", {"-N", "--nodes"}},
    [GPUS_PER_NODE] = {"sbatch.gpus_per_node", {"--gpus-per-node", "--gres=gpu"}},
    [TASKS_PER_NODE] = {"sbatch.tasks_per_node", {"--ntasks-per-node", "--tasks-per-node"}},
    [TASKS] = {"sbatch.tasks", {"-n", "--ntasks"}},
    [GPUS] = {"sbatch.gpus", {"-G", "--gpus"}},
    [SEGMENT] = {"sbatch.segment", {"--segment", "--segment"}},
};

/* The number an #SBATCH line gives to an option; 0: another line. --gres=gpu:h100:8 ends in its
 * number. */
static int64_t slurm_value(struct str line, const char *const names[2])
{
    int64_t value = 0;
    for (int i = 0; i < 2; i++) {
        struct str name = str_of(names[i]), rest;
        if (!str_starts(line, name)) continue;
        rest = str_slice(line, name.n, line.n);
        if (rest.n == 0 || (rest.p[0] != '=' && rest.p[0] != ' ' && rest.p[0] != ':')) continue;
        rest = str_trim(str_slice(rest, 1, rest.n));
        rest = str_slice(rest, 0, str_find(rest, ' '));
        while (str_find(rest, ':') < rest.n)
            rest = str_slice(rest, str_find(rest, ':') + 1, rest.n);
        if (int_of(rest, &value)) return value;
    }
    return 0;
}

struct slurm {
    int64_t values[SLURM_OPTIONS];
    uint32_t from, to; /* the last line that says a number of GPUs */
};

static void read_directive(struct shell *sh, struct slurm *s, struct str option, uint32_t from,
                           uint32_t to)
{
    for (int i = 0; i < SLURM_OPTIONS; i++) {
        int64_t value = slurm_value(option, slurm_options[i].names);
        if (!value) continue;
        s->values[i] = value;
        add_raw(sh, slurm_options[i].key, value);
        if (i == SEGMENT) continue;
        s->from = from;
        s->to = to;
    }
}

static void late_directive(struct shell *sh, uint32_t from, uint32_t to)
{
    diag_add(sh->f->diags, SEVERITY_WARNING, "slurm-header-late",
             source_span(&sh->f->diags->sources, sh->f->source, from, to),
             "Slurm ignores #SBATCH behind the first command");
}

/* The directives up to the first command, or all when there are none: those of a job that the
   script itself submits. */
static struct slurm read_header(struct shell *sh, struct str text)
{
    struct slurm s = {0};
    struct str line, mark = STR("#SBATCH");
    bool in_header = true, has_header = false;
    for (struct str rest = text; str_split(&rest, '\n', &line);) {
        struct str trimmed = str_trim(line);
        uint32_t from = (uint32_t)(line.p - text.p), to = from + (uint32_t)line.n;
        in_header = in_header && (trimmed.n == 0 || trimmed.p[0] == '#');
        if (!str_starts(line, mark)) continue;
        has_header = has_header || in_header;
        struct str option = str_trim(str_slice(line, mark.n, line.n));
        if (in_header || !has_header)
            read_directive(sh, &s, option, from, to);
        else
            late_directive(sh, from, to);
    }
    return s;
}

/* One task a node with torchrun: the larger of tasks and GPUs a node are the GPUs. */
static void world_of_slurm(struct shell *sh, const struct slurm *s)
{
    int64_t gpus = s->values[GPUS_PER_NODE], tasks = s->values[TASKS_PER_NODE];
    if (tasks > gpus) gpus = tasks;
    int64_t otherwise = s->values[GPUS] ? s->values[GPUS] : s->values[TASKS];
    int64_t world = s->values[NODES] && gpus > 1 ? s->values[NODES] * gpus : otherwise;
    if (world) set_world(sh, world, s->from, s->to, "the #SBATCH header");
}

/* ---- entry ---- */

static struct shell_text source_text(struct arena *a, struct str text)
{
    uint32_t *at = ARENA_ARRAY(a, uint32_t, text.n);
    for (size_t i = 0; i < text.n; i++)
        at[i] = (uint32_t)i;
    return (struct shell_text){text.p, at, text.n};
}

static void export_environment(struct shell *sh)
{
    for (size_t i = 0; i < sh->vars.n; i++) {
        const struct shell_var *var = &sh->vars.items[i];
        if (!var->exported || var->items.n != 1 || !shell_known(var->items.items[0])) continue;
        facts_set_env(sh->f, var->name, str_dup(sh->arena, shell_str(var->items.items[0])), false);
    }
}

/* Megatron-LM's own programs take no flags but its own; others add some. */
static bool is_other_program(const struct shell *sh)
{
    static const char *const own[] = {"pretrain_gpt.py", "pretrain_mamba.py", "pretrain_hybrid.py",
                                      "pretrain_bert.py", "pretrain_t5.py"};
    struct str name =
        sh->program.n ? sh->program.items[sh->program.n - 1].text : (struct str){"", 0};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (str_ends(name, str_of(own[i]))) return false;
    return true;
}

/* $1, $2 ... from --set 1=..., as far as they are given in a row. */
static void set_arguments(struct shell *sh)
{
    for (size_t i = 1; i <= 99; i++) {
        const struct setting *s = setting_use(sh->options, arena_printf(sh->arena, "%zu", i));
        if (!s) return;
        *VEC_PUSH(sh->arena, &sh->args) = shell_text_at(sh->arena, s->text, 0);
    }
}

bool shell_read(struct facts *f, struct str text, const struct read_options *options,
                struct flag_words *out)
{
    struct shell sh = {.f = f, .arena = f->arena, .options = options, .live = SHELL_LIVE};
    struct shell_text all = source_text(f->arena, text);
    set_arguments(&sh);
    if (f->bare_flags || str_starts(str_trim(text), STR("--"))) {
        struct shell_fields fields = {0};
        sh.in = (struct shell_source){.text = all};
        while (!shell_at_end(&sh)) {
            size_t before = sh.in.at;
            shell_skip_blanks(&sh);
            shell_word(&sh, &fields, true);
            if (sh.in.at == before) sh.in.at++;
        }
        to_words(&sh, &fields, 0, fields.n, &sh.launch);
    } else {
        shell_run(&sh, all);
        if (!sh.launch_flags) collect_variables(&sh);
        f->program_unknown = is_other_program(&sh);
    }
    export_environment(&sh);
    struct slurm header = read_header(&sh, text);
    if (!world_of_torchrun(&sh) && !world_of_variable(&sh)) world_of_slurm(&sh, &header);
    *out = sh.launch;
    if (sh.failed)
        diag_add(f->diags, SEVERITY_ERROR, sh.failed_rule,
                 source_span(&f->diags->sources, f->source, sh.failed_at, sh.failed_at + 1), "%s",
                 sh.failure);
    return !sh.failed;
}

void shell_expand(struct facts *f, struct str text, const struct read_options *options,
                  struct flag_word *w)
{
    struct shell sh = {.f = f, .arena = f->arena, .options = options, .live = SHELL_LIVE};
    struct flag_word word = to_word(&sh, shell_expand_text(&sh, source_text(f->arena, text)));
    w->text = word.text;
    w->known = word.known;
    w->dynamic = word.dynamic;
}
