/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM: a launch script around the flags, for Slurm. What only its user knows stands at its
   top. As it is printed it runs the plan on mock data; half filled in it runs nothing. */
#include "emit/flags.h"

#include "facts/param_ids.h"

/* What the data section says itself. */
static const int of_data[] = {P_mock_data, P_tokenizer_type};

/* Whether the data are still the user's to say. */
static bool is_to_fill_in(const struct facts *f)
{
    return facts_bool(f, P_mock_data, false);
}

static bool starts_from_weights(const struct facts *f)
{
    struct str task = facts_str(f, P_task);
    return task.n && !str_is(task, "pretrain");
}

static void add_blanks(bool from_weights, struct buf *out)
{
    buf_add(out, STR("\n# Yours to fill in, here or in the environment.\n"
                     "DATA_PATH=${DATA_PATH:-}             # as --data-path takes it\n"
                     "TOKENIZER_MODEL=${TOKENIZER_MODEL:-} # folder or Hugging Face name\n"
                     "SAVE=${SAVE:-}                       # folder for checkpoints\n"));
    buf_add(out, from_weights
                     ? STR("LOAD=${LOAD:-}                       # weights to fine-tune\n")
                     : STR("LOAD=${LOAD:-$SAVE}                  # checkpoint to go on from\n"));
}

/* One line says what is unset: nothing filled in is a first run, something left out a mistake. */
static void add_check(struct buf *out)
{
    buf_add(out, STR("unset_names=\n"
                     "for name in DATA_PATH TOKENIZER_MODEL SAVE LOAD; do\n"
                     "    [ -n \"${!name}\" ] || unset_names+=\" $name\"\n"
                     "done\n"
                     "if [ -z \"$DATA_PATH$TOKENIZER_MODEL$SAVE$LOAD\" ]; then\n"
                     "    echo \"unset:$unset_names: a first run on mock data, not saved\" >&2\n"
                     "    DATA=(--mock-data --tokenizer-type NullTokenizer)\n"
                     "elif [ -n \"$unset_names\" ]; then\n"
                     "    echo \"unset:$unset_names: set it at the top of this script\" >&2\n"
                     "    exit 1\n"
                     "else\n"));
}

static void add_data(const struct facts *f, struct buf *out)
{
    bool from_weights = starts_from_weights(f);
    add_blanks(from_weights, out);
    add_check(out);
    buf_add(out, STR("    read -ra data_path <<<\"$DATA_PATH\"\n"
                     "    DATA=(--data-path \"${data_path[@]}\"\n"
                     "        --tokenizer-type HuggingFaceTokenizer --tokenizer-model "
                     "\"$TOKENIZER_MODEL\"\n"
                     "        --save \"$SAVE\" --save-interval 500 "));
    /* a run that was stopped goes on from its own checkpoints */
    buf_add(out, from_weights ? STR("--load \"$SAVE\" --pretrained-checkpoint \"$LOAD\")\nfi\n")
                              : STR("--load \"$LOAD\")\nfi\n"));
}

static void add_exports(const struct facts *f, struct buf *out)
{
    struct environment env[ENVIRONMENT_MAX];
    size_t n = emit_environment(f, env);
    buf_add_char(out, '\n');
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "export %s=%s\n", env[i].name, env[i].value);
    buf_add(out, STR("if [ -n \"${SLURM_JOB_NODELIST:-}\" ] && [ -z \"${MASTER_ADDR:-}\" ]; then\n"
                     "    MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n "
                     "1p)\n"
                     "    export MASTER_ADDR\n"
                     "fi\n"));
}

static void add_launch(const struct emit_input *in, int64_t nodes, int64_t node, struct buf *out)
{
    bool fill_in = is_to_fill_in(in->facts);
    /* one node needs no srun: a batch script runs there, and a machine of one's own has none */
    buf_printf(out,
               "\n%storchrun \\\n    --nnodes %lld \\\n    --nproc-per-node %lld \\\n"
               "    --rdzv-backend c10d \\\n"
               "    --rdzv-endpoint \"${MASTER_ADDR:-localhost}:29500\" \\\n    pretrain_gpt.py",
               nodes > 1 ? "srun " : "", (long long)nodes, (long long)node);
    flags_add(in,
              &(struct flags_form){.indent = " \\\n    ",
                                   .end = "",
                                   .without = of_data,
                                   .n_without = fill_in ? sizeof of_data / sizeof *of_data : 0},
              out);
    buf_add(out, fill_in ? STR(" \\\n    \"${DATA[@]}\"\n") : STR("\n"));
}

void emit_nodes(const struct facts *f, int64_t *nodes, int64_t *node)
{
    int64_t gpus = facts_int(f, P_world_size, 1), each = facts_int(f, P_gpus_per_node, 8);
    *nodes = (gpus + each - 1) / each;
    while (gpus % *nodes)
        ++*nodes;
    *node = gpus / *nodes;
}

void emit_script(const struct emit_input *in, struct buf *out)
{
    const struct facts *f = in->facts;
    int64_t nodes, node;
    emit_nodes(f, &nodes, &node);
    buf_add(out, STR("#!/bin/bash\n"));
    flags_add_head(in, out);
    buf_printf(out,
               "#SBATCH --nodes=%lld\n#SBATCH --ntasks-per-node=1\n#SBATCH "
               "--gpus-per-node=%lld\nset -euo pipefail\n",
               (long long)nodes, (long long)node);
    if (is_to_fill_in(f)) add_data(f, out);
    add_exports(f, out);
    add_launch(in, nodes, node, out);
}
