/* SPDX-License-Identifier: Apache-2.0 */
/* How many GPUs a script starts its training on: from the options of whatever launches it, else
   from the #SBATCH header. */
#include "base/num.h"
#include "facts/param_ids.h"
#include "facts/program_kind.h"
#include "facts/shell_state.h"

static bool int_of(struct str text, int64_t *out)
{
    return num_parse_int(text, out) && *out >= 1 && *out <= 1 << 24;
}

/* ---- options of launchers ---- */

/* A number among a command's options; at: where it stands, NULL: the option is not there. */
struct option {
    int64_t value; /* 0: not known */
    const struct flag_word *at;
};

/* The last of the options whose names, "--nnodes|-N", are given: "--nnodes=2", "--nnodes 2". */
static struct option option_of(const struct flag_words *words, size_t from, size_t to,
                               const char *names)
{
    struct option o = {0};
    for (size_t i = from; i < to; i++) {
        struct str s = words->items[i].text;
        size_t eq = str_find(s, '=');
        if (!str_is_any(str_slice(s, 0, eq), names)) continue;
        bool inside = eq < s.n;
        const struct flag_word *w = &words->items[inside || i + 1 == to ? i : i + 1];
        o = (struct option){.at = w};
        bool known = !w->dynamic && int_of(inside ? str_slice(s, eq + 1, s.n) : w->text, &o.value);
        if (!known) o.value = 0;
    }
    return o;
}

#define TORCHRUN "torchrun|torch.distributed.run|torch.distributed.launch"

/* Programs that start processes, and their options: GPUs of a node, nodes, all GPUs. */
static const struct launcher {
    const char *names, *per_node, *nodes, *all;
    int64_t without_nodes; /* how many there are when nothing says it; 0: not known */
    const char *how;
    const char *hosts; /* NULL: none; "a:8,b:8", nodes and how many processes they take */
} launchers[] = {
    {TORCHRUN, "--nproc_per_node|--nproc-per-node|--gpus-per-node", "--nnodes", "", 1,
     "--nnodes x --nproc-per-node", NULL},
    {"accelerate|accelerate.commands.launch", "", "", "--num_processes|--num-processes", 0,
     "--num_processes", NULL},
    {"deepspeed", "--num_gpus", "--num_nodes", "", 1, "--num_nodes x --num_gpus", NULL},
    {"mpirun|mpiexec|mpiexec.hydra|orterun|prterun", "-N|-npernode|--npernode|-ppn|--ppn", "",
     "-np|--np|-n|--n", 0, "mpirun's number of processes", "-H|-host|--host|-hosts|--hosts"},
    {"srun", "--ntasks-per-node|--gpus-per-node", "-N|--nodes", "-n|--ntasks", 0,
     "srun's number of tasks", NULL},
};
enum { N_LAUNCHERS = sizeof launchers / sizeof *launchers };

static const struct launcher *launcher_at(const struct flag_words *words, size_t i)
{
    const struct flag_word *w = &words->items[i];
    for (size_t k = 0; k < N_LAUNCHERS && !w->dynamic; k++)
        if (str_is_any(str_last_part(w->text, '/'), launchers[k].names)) return &launchers[k];
    return NULL;
}

/* torchrun refuses what it does not know. */
static void check_options(struct shell *sh, const struct flag_words *words, size_t from, size_t to)
{
    const struct program_kind *torchrun = program_kind_named("torchrun");
    for (size_t i = from; i < to; i++) {
        const struct flag_word *w = &words->items[i];
        struct str name = str_slice(w->text, 0, str_find(w->text, '='));
        struct str near = program_kind_slip(sh->arena, torchrun, name);
        if (name.n > w->known || !near.n) continue;
        struct diag *d =
            diag_add(sh->f->diags, SEVERITY_WARNING, "launcher-option", flag_word_span(sh->f, w),
                     "torchrun has no option %.*s", STR_ARG(name));
        diag_suggest(sh->f->diags, d, near);
    }
}

/* What one launcher's own words, [from, to), say. */
struct processes {
    int64_t per_node, nodes, all; /* 0: not known */
    const struct flag_word *at;   /* NULL: none of its options is there */
};

/* "a:8,b:8": the hosts are the nodes, and where each says how many processes it takes, they are as
   many where nothing else says it (Open MPI). */
static void add_hosts(struct processes *p, const struct flag_word *w)
{
    struct str host, rest = w->text;
    size_t eq = str_find(rest, '=');
    int64_t nodes = 0, slots = 0, one;
    bool all = !w->dynamic;
    if (eq < rest.n) rest = str_slice(rest, eq + 1, rest.n);
    while (str_split(&rest, ',', &host)) {
        size_t colon = str_find(host, ':');
        nodes++;
        all = all && colon < host.n && int_of(str_slice(host, colon + 1, host.n), &one);
        if (all) slots += one;
    }
    if (!p->nodes && !w->dynamic) p->nodes = nodes;
    if (p->at || !all) return;
    p->all = slots;
    p->at = w;
}

static struct processes processes_of(const struct launcher *l, const struct flag_words *words,
                                     size_t from, size_t to)
{
    struct option per_node = option_of(words, from, to, l->per_node),
                  nodes = option_of(words, from, to, l->nodes),
                  all = option_of(words, from, to, l->all);
    bool hosts = false;
    for (size_t i = from; i < to; i++)
        hosts = hosts || str_starts(words->items[i].text, STR("--hostfile")) ||
                str_is(words->items[i].text, "-H");
    struct processes p = {.per_node = per_node.value, .all = all.value};
    p.nodes = nodes.at ? nodes.value : hosts ? 0 : l->without_nodes;
    p.at = all.at ? all.at : per_node.at;
    struct option listed = l->hosts ? option_of(words, from, to, l->hosts) : (struct option){0};
    if (listed.at) add_hosts(&p, listed.at);
    return p;
}

static void set_world(struct shell *sh, int64_t gpus, struct shell_place from, uint32_t to,
                      const char *how)
{
    struct node *node = ARENA_NEW(sh->arena, struct node);
    *node = (struct node){.source = from.source,
                          .from = from.byte,
                          .to = to,
                          .line = source_line_at(&sh->f->diags->sources, from.source, from.byte),
                          .text = STR("")};
    facts_set(sh->f, P_world_size, value_int(gpus), ORIGIN_FILE, node, str_of(how));
}

static void add_raw(struct shell *sh, const char *key, int64_t value)
{
    facts_add_raw(sh->f, str_of(key), value_int(value));
}

static bool set_world_at(struct shell *sh, int64_t gpus, const struct flag_word *at,
                         const char *how)
{
    struct shell_place place = {.source = at->source ? at->source : sh->f->source,
                                .byte = at->from};
    set_world(sh, gpus, place, at->to, how);
    return true;
}

/* One task a node is one that starts the others: it says nothing of GPUs. */
static bool starts_others(const struct launcher *l, struct processes p)
{
    return (l->hosts || str_is(str_of(l->names), "srun")) &&
           (p.per_node == 1 || (p.all && p.all == p.nodes));
}

/* Whether per_node x nodes processes, said at the launcher's option, are the world. */
static bool world_of_nodes(struct shell *sh, const struct launcher *l, int64_t per_node,
                           int64_t nodes, const struct flag_word *at)
{
    if (!per_node || !nodes) return false;
    if (l == launchers) {
        add_raw(sh, "torchrun.gpus_per_node", per_node);
        add_raw(sh, "torchrun.nodes", nodes);
    }
    return set_world_at(sh, per_node * nodes, at, l->how);
}

/* The innermost launcher that says a number of processes decides; how many nodes it does not know
   may be said by one before it, or by the header. */
static bool world_of_launchers(struct shell *sh)
{
    struct flag_words program = shell_words(sh, &sh->program), *words = &program;
    const struct launcher *inner = NULL;
    struct processes said = {0};
    size_t to = words->n;
    for (size_t i = words->n; i-- > 0;) {
        const struct launcher *l = launcher_at(words, i);
        if (!l) continue;
        struct processes p = processes_of(l, words, i + 1, to);
        if (l == launchers) check_options(sh, words, i + 1, to);
        to = i;
        if (!inner && p.at && !starts_others(l, p)) {
            inner = l;
            said = p;
            if (p.all) return set_world_at(sh, p.all, p.at, l->how);
        } else if (inner && !said.nodes) {
            said.nodes = p.nodes;
        }
        if (inner && world_of_nodes(sh, inner, said.per_node, said.nodes, said.at)) return true;
    }
    if (!inner) { /* a launcher whose name is not known, with torchrun's options */
        inner = launchers;
        said = processes_of(inner, words, 0, words->n);
    }
    if (!said.nodes) said.nodes = sh->header.values[SLURM_NODES];
    return world_of_nodes(sh, inner, said.per_node, said.nodes, said.at);
}

/* WORLD_SIZE=${WORLD_SIZE:-1} says nothing: as often as not a platform counts machines by it. */
static bool world_of_variable(struct shell *sh)
{
    const struct shell_var *var = shell_var_find(sh, STR("WORLD_SIZE"));
    int64_t gpus = 0;
    if (sh->f->world_guessed || !var || !var->items.n) return false;
    if (!int_of(shell_str(var->items.items[0]), &gpus)) return false;
    struct shell_place at = shell_place(sh, var->items.items[0].at[0]);
    set_world(sh, gpus, at, at.byte + 1, "WORLD_SIZE");
    return true;
}

/* ---- the #SBATCH header ---- */

static const struct {
    const char *key; /* what rules call it */
    const char *names[2];
} slurm_options[SLURM_OPTIONS] = {
    [SLURM_NODES] = {"sbatch.nodes", {"-N", "--nodes"}},
    [SLURM_GPUS_PER_NODE] = {"sbatch.gpus_per_node", {"--gpus-per-node", "--gres=gpu"}},
    [SLURM_TASKS_PER_NODE] = {"sbatch.tasks_per_node", {"--ntasks-per-node", "--tasks-per-node"}},
    [SLURM_TASKS] = {"sbatch.tasks", {"-n", "--ntasks"}},
    [SLURM_GPUS] = {"sbatch.gpus", {"-G", "--gpus"}},
    [SLURM_SEGMENT] = {"sbatch.segment", {"--segment", "--segment"}},
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

static void read_directive(struct shell *sh, struct slurm *s, struct str option, uint32_t from,
                           uint32_t to)
{
    for (int i = 0; i < SLURM_OPTIONS; i++) {
        int64_t value = slurm_value(option, slurm_options[i].names);
        if (!value) continue;
        s->values[i] = value;
        add_raw(sh, slurm_options[i].key, value);
        if (i == SLURM_SEGMENT) continue;
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
struct slurm shell_read_header(struct shell *sh, struct str text)
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
    int64_t gpus = s->values[SLURM_GPUS_PER_NODE], tasks = s->values[SLURM_TASKS_PER_NODE];
    if (tasks > gpus) gpus = tasks;
    int64_t otherwise = s->values[SLURM_GPUS] ? s->values[SLURM_GPUS] : s->values[SLURM_TASKS];
    int64_t world = s->values[SLURM_NODES] && gpus > 1 ? s->values[SLURM_NODES] * gpus : otherwise;
    struct shell_place at = {.source = sh->f->source, .byte = s->from};
    if (world) set_world(sh, world, at, s->to, "the #SBATCH header");
}

void shell_set_world(struct shell *sh)
{
    if (!world_of_launchers(sh) && !world_of_variable(sh)) world_of_slurm(sh, &sh->header);
}

/* Slurm sets these in a job from its header's options. */
int64_t shell_slurm_variable(const struct slurm *s, struct str name)
{
    int64_t nodes = s->values[SLURM_NODES], tasks = s->values[SLURM_TASKS_PER_NODE];
    if (str_is_any(name, "SLURM_NNODES|SLURM_JOB_NUM_NODES")) return nodes;
    if (str_is_any(name, "SLURM_NTASKS_PER_NODE|SLURM_TASKS_PER_NODE")) return tasks;
    if (str_is_any(name, "SLURM_GPUS_PER_NODE|SLURM_GPUS_ON_NODE"))
        return s->values[SLURM_GPUS_PER_NODE];
    if (!str_is_any(name, "SLURM_NTASKS|SLURM_NPROCS")) return 0;
    return s->values[SLURM_TASKS] ? s->values[SLURM_TASKS] : nodes * tasks;
}
