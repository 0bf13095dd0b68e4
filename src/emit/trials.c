/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/trials.h"

#include "base/quote.h"
#include "emit/flags.h"
#include "facts/param_ids.h"
#include "flow/convert.h"

/* Ends a file inside the script; no emitter writes such a line. */
#define END "END_OF_TRIAL_FILE"

/* ---- the contract ---- */

/* What every trial does alike, where its framework has a word for it. */
static struct facts *under_contract(struct arena *a, const struct facts *trial)
{
    const struct {
        int param;
        struct value value;
    } contract[] = {{P_train_iters, value_int(TRIAL_STEPS)},
                    {P_log_interval, value_int(1)},
                    {P_log_throughput, value_bool(true)},
                    {P_eval_iters, value_int(0)},
                    {P_checkpoint_enabled, value_bool(false)}};
    struct facts *f = facts_copy(a, trial);
    for (size_t i = 0; i < sizeof contract / sizeof *contract; i++)
        if (param_table[contract[i].param].in[f->framework]->known)
            facts_set(f, contract[i].param, contract[i].value, ORIGIN_OPTION, NULL, STR(""));
    return f;
}

static void add_head(const struct trials_input *in, struct buf *out)
{
    buf_printf(out,
               "# moeplan sweep: %zu trials, one measuring contract for all of them.\n"
               "# %d steps, each of them logged, the first tenth not counted; no evaluation, no "
               "checkpoints. Data, seed,\n"
               "# software, nodes and routing are the same: change them for all or for none.\n"
               "# Afterwards: moeplan sweep PLAN --results %.*s\n",
               in->n, TRIAL_STEPS, STR_ARG(quote_shell(out->arena, in->results)));
}

/* ---- how a framework is started ---- */

static void add_torchrun(const struct facts *f, struct buf *out)
{
    int64_t nodes, node;
    emit_nodes(f, &nodes, &node);
    buf_printf(out,
               "    ${LAUNCHER:-} torchrun --nnodes %lld --nproc-per-node %lld --rdzv-backend c10d "
               "\\\n        --rdzv-endpoint \"${MASTER_ADDR:-localhost}:29500\" ",
               (long long)nodes, (long long)node);
}

/* The file's words, and after them what is the same for all, which then counts. */
static void add_words(struct buf *out)
{
    buf_add(out, STR("    local -a words=()\n"
                     "    while IFS= read -r word; do words+=(\"$word\"); done < <(grep -v '^#' "
                     "\"$1\" | xargs printf '%s\\n')\n"));
}

static void add_launch(const struct facts *f, struct buf *out)
{
    buf_add(out,
            STR("\n# How one trial is started, the same line for all: yours to adapt. EXTRA is "
                "for data, tokenizer and the like.\n"
                "launch() { # FILE: the trial in the framework's words\n"));
    if (f->framework != FRAMEWORK_AUTOMODEL) add_words(out);
    if (f->framework == FRAMEWORK_BRIDGE)
        buf_add(out, STR("    local recipe mode\n"
                         "    recipe=${RECIPE:-$(sed -n 's/^# moeplan: recipe=//p' \"$1\")}\n"
                         "    mode=$(sed -n 's/^# run: .* --mode //p' \"$1\")\n"));
    add_torchrun(f, out);
    switch (f->framework) {
    case FRAMEWORK_MEGATRON:
        buf_add(out, STR("\\\n        pretrain_gpt.py \"${words[@]}\" ${EXTRA:-}\n"));
        break;
    case FRAMEWORK_BRIDGE:
        buf_add(out, STR("\\\n        scripts/training/run_recipe.py --recipe \"$recipe\" --mode "
                         "\"${mode:-pretrain}\" \"${words[@]}\" ${EXTRA:-}\n"));
        break;
    case FRAMEWORK_AUTOMODEL:
        buf_add(out, STR("\\\n        -m nemo_automodel.cli.app \"$1\" ${EXTRA:-}\n"));
        break;
    case FRAMEWORK_COUNT: break;
    }
    buf_add(out, STR("}\n"));
}

/* ---- the trials ---- */

static void add_file(struct buf *out, const char *name, struct str text)
{
    buf_printf(out, "        cat >\"$dir/%s\" <<'" END "'\n%.*s%s" END "\n", name, STR_ARG(text),
               str_ends(text, STR("\n")) ? "" : "\n");
}

static void add_trial(const struct trials_input *in, const struct trial_files *t, struct buf *out)
{
    struct arena *a = out->arena;
    struct facts *f = under_contract(a, t->facts);
    struct environment env[ENVIRONMENT_MAX];
    struct buf file = buf_new(a), plan = buf_new(a);
    struct str what = t->what.n ? t->what : STR("the plan as it is");
    struct emit_input input = {.rules = in->rules, .comments = &what, .n_comments = 1};
    input.facts = convert_own(a, in->rules, f, true, in->scratch);
    emit_plan(&input, &plan);
    input.facts = convert_own(a, in->rules, f, false, in->scratch);
    emitter_of(f->framework)->write(&input, &file);
    buf_printf(out, "    %.*s) # %.*s\n", STR_ARG(t->id), STR_ARG(quote_line(a, what)));
    size_t n = f->framework == FRAMEWORK_AUTOMODEL ? 0 : emit_environment(input.facts, env);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "        export %s=%s\n", env[i].name, env[i].value);
    add_file(out, "plan.yaml", buf_str(&plan));
    add_file(out, "run.txt", buf_str(&file));
    buf_add(out, STR("        ;;\n"));
}

static void add_trials(const struct trials_input *in, struct buf *out)
{
    buf_add(out, STR("\nprepare() { # ID: the trial's files\n    case $1 in\n"));
    for (size_t i = 0; i < in->n; i++)
        add_trial(in, &in->items[i], out);
    buf_add(out, STR("    esac\n}\n"));
}

/* What is there is not run again, so that a script that was stopped goes on. A trial that fails
   leaves the others theirs. */
static void add_loop(const struct trials_input *in, struct buf *out)
{
    buf_add(out,
            STR("\nrun_trial() ( # ID: in a shell of its own, so that no variable stays\n"
                "    dir=$RESULTS/$1\n"
                "    mkdir -p \"$dir\"\n"
                "    log=$dir/" TRIAL_LOG "${JOB_COMPLETION_INDEX:-}.txt # a pod a node: its own\n"
                "    [ ! -s \"$log\" ] || exit 0\n"
                "    prepare \"$1\"\n"
                "    launch \"$dir/run.txt\" >\"$log\" 2>&1 ||\n"
                "        echo \"" TRIAL_END " with exit code $?\" >>\"$log\"\n)\n\ntrials=("));
    for (size_t i = 0; i < in->n; i++)
        buf_printf(out, "%s%.*s", i ? " " : "", STR_ARG(in->items[i].id));
    buf_add(out, STR(")\nnumber=${1:-${SLURM_ARRAY_TASK_ID:-}}\n"
                     "if [ -n \"$number\" ]; then\n"
                     "    run_trial \"${trials[$number]}\"\n"
                     "else\n"
                     "    for id in \"${trials[@]}\"; do run_trial \"$id\"; done\n"
                     "fi\n"));
}

static void add_slurm(const struct trials_input *in, struct buf *out)
{
    int64_t nodes, node;
    emit_nodes(in->items[0].facts, &nodes, &node);
    buf_printf(out,
               "#SBATCH --array=0-%zu%%1\n#SBATCH --nodes=%lld\n#SBATCH --ntasks-per-node=1\n"
               "#SBATCH --gpus-per-node=%lld\n#SBATCH --exclusive\n",
               in->n - 1, (long long)nodes, (long long)node);
}

static void add_script(const struct trials_input *in, struct buf *out)
{
    const struct facts *f = in->items[0].facts;
    buf_add(out, STR("#!/bin/bash\n"));
    add_head(in, out);
    if (in->runner == TRIALS_SLURM) add_slurm(in, out);
    buf_printf(out, "set -euo pipefail\nRESULTS=${RESULTS:-%.*s}\n",
               STR_ARG(quote_shell(out->arena, in->results)));
    if (in->runner == TRIALS_SLURM)
        buf_add(out,
                STR("LAUNCHER=${LAUNCHER:-srun}\n"
                    "if [ -n \"${SLURM_JOB_NODELIST:-}\" ] && [ -z \"${MASTER_ADDR:-}\" ]; then\n"
                    "    MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n "
                    "1p)\n    export MASTER_ADDR\nfi\n"));
    add_launch(f, out);
    add_trials(in, out);
    add_loop(in, out);
}

/* ---- Kubernetes ---- */

static void add_indented(struct str text, struct buf *out)
{
    struct str line;
    while (str_split(&text, '\n', &line) && (line.n || text.n))
        buf_printf(out, "%s%.*s\n", line.n ? "    " : "", STR_ARG(line));
}

/* A pod a node; all of a trial find each other through the service, the first one leads. */
static void add_job(const struct trials_input *in, size_t i, struct buf *out)
{
    int64_t nodes, node;
    struct str id = in->items[i].id;
    emit_nodes(in->items[i].facts, &nodes, &node);
    buf_printf(
        out,
        "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: sweep-%.*s}\nspec:\n"
        "  completions: %lld\n  parallelism: %lld\n  completionMode: Indexed\n"
        "  backoffLimit: 0\n  suspend: %s\n  template:\n    metadata: {labels: {app: sweep}}\n"
        "    spec:\n      subdomain: sweep\n"
        "      restartPolicy: Never\n      containers:\n      - name: trial\n"
        "        image: IMAGE # yours\n        command: [bash, /sweep/run.sh, \"%zu\"]\n",
        STR_ARG(id), (long long)nodes, (long long)nodes, i ? "true" : "false", i);
    buf_printf(out,
               "        env:\n        - {name: MASTER_ADDR, value: sweep-%.*s-0.sweep}\n"
               "        - {name: RESULTS, value: /results}\n"
               "        resources: {limits: {nvidia.com/gpu: %lld}}\n        volumeMounts:\n"
               "        - {name: sweep, mountPath: /sweep}\n"
               "        - {name: results, mountPath: /results}\n"
               "        - {name: shm, mountPath: /dev/shm}\n",
               STR_ARG(id), (long long)node);
    buf_add(out,
            STR("      volumes:\n      - {name: sweep, configMap: {name: sweep}}\n"
                "      - {name: results, persistentVolumeClaim: {claimName: RESULTS}} # yours\n"
                "      - {name: shm, emptyDir: {medium: Memory}}\n"));
}

static void add_kubernetes(const struct trials_input *in, struct buf *out)
{
    struct buf script = buf_new(out->arena);
    add_script(in, &script);
    buf_add(out,
            STR("# The jobs run one after the other, so that none disturbs another: all but the "
                "first wait\n# (kubectl patch job sweep-ID -p '{\"spec\":{\"suspend\":false}}' "
                "starts one).\n"
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sweep}\ndata:\n"
                "  run.sh: |\n"));
    add_indented(buf_str(&script), out);
    buf_add(out, STR("---\napiVersion: v1\nkind: Service\nmetadata: {name: sweep}\nspec:\n"
                     "  clusterIP: None\n  publishNotReadyAddresses: true\n"
                     "  selector: {app: sweep}\n"));
    for (size_t i = 0; i < in->n; i++)
        add_job(in, i, out);
}

void emit_trials(const struct trials_input *in, struct buf *out)
{
    if (in->runner == TRIALS_KUBERNETES)
        add_kubernetes(in, out);
    else
        add_script(in, out);
}
