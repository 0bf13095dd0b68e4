/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "facts/param_ids.h"
#include "facts_unit.h"

#define HEAD "#!/bin/bash\n"

static struct facts *script(void **state, const char *text)
{
    return read_as(*state, "megatron", text, NULL);
}

static void variables_arrays_and_arithmetic(void **state)
{
    struct facts *f =
        script(state, HEAD "TP=${TP:-2}\nPP=4\n"
                           "NODES=2; GPUS=8\n"
                           "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"
                           "MODEL_ARGS=(\n"
                           "    --num-layers 16 # sixteen\n"
                           "    --global-batch-size $((NODES * GPUS * 4))\n"
                           ")\n"
                           "MODEL_ARGS+=(--tensor-model-parallel-size $TP)\n"
                           "EXTRA=\"--bf16 \\\n  --pipeline-model-parallel-size ${PP}\"\n"
                           "torchrun --nproc_per_node $GPUS --nnodes=$NODES pretrain_gpt.py \\\n"
                           "    ${MODEL_ARGS[@]} $EXTRA 2>&1 | tee log\n");
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "num_layers", "16");
    assert_fact(f, "global_batch_size", "64");
    assert_fact(f, "tensor_model_parallel_size", "2");
    assert_fact(f, "pipeline_model_parallel_size", "4");
    assert_fact(f, "bf16", "true");
    assert_fact(f, "world_size", "16");
    assert_str(facts_env(f, STR("CUDA_DEVICE_MAX_CONNECTIONS")).s, "1");
    assert_int_equal(facts_env(f, STR("NCCL_ALGO")).kind, VALUE_UNKNOWN);
}

static void findings_point_at_the_flag_and_name_the_variable(void **state)
{
    struct facts *f =
        script(state, HEAD "TP=2\nARGS=\"--num-layers 4 \\\n--tensor-model-parallel-size $TP\"\n"
                           "python pretrain_gpt.py $ARGS\n");
    const struct fact *tp = facts_get(f, P_tensor_model_parallel_size);
    assert_int_equal(tp->node->line, 4);
    assert_int_equal(tp->line, 2);
    assert_str(fact_origin_text(*state, f, P_tensor_model_parallel_size),
               "written at line 4, set at line 2");
}

static void ansi_quotes_are_read(void **state)
{
    struct facts *f = script(
        state, HEAD "A=$'two\\nlines'; L=$'\\x34'\n"
                    "ARGS=(--save $'it\\'s a # b' --load \"$'no'\")\n"
                    "X=$(echo $'\\'' ')' x)\n"
                    "python pretrain_gpt.py --num-layers $L --tokenizer-model \"$A\" "
                    "\"${ARGS[@]}\" --hidden-size $'1''6' --bf16 ${NONE:-$'--seq-length'} 64\n");
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "num_layers", "4");
    assert_str(facts_str(f, P_tokenizer_model), "two\nlines");
    assert_str(facts_str(f, P_save), "it's a # b");
    assert_str(facts_str(f, P_load), "$'no'");
    assert_fact(f, "hidden_size", "16");
    assert_fact(f, "seq_length", "64");
    f = script(state, "# what it is\n--num-layers 4\n--save '$HOME'\n--load $'a\\tb'\n");
    assert_fact(f, "num_layers", "4");
    assert_str(facts_str(f, P_save), "$HOME");
    assert_str(facts_str(f, P_load), "a\tb");
    f = read_as(*state, "megatron", HEAD "python pretrain_gpt.py --save $'open\\'\n", NULL);
    assert_int_equal(count_rule(f, "shell-syntax"), 1);
}

static void what_is_dynamic_is_unknown(void **state)
{
    struct facts *f = script(
        state, HEAD
        "python pretrain_gpt.py --num-layers $1 --seq-length $(cat x) --hidden-size 8 --bf16\n");
    assert_fact(f, "num_layers", "unknown");
    assert_fact(f, "seq_length", "unknown");
    assert_fact(f, "hidden_size", "8");
    assert_fact(f, "context_parallel_size", "1");
    f = script(state, HEAD "python pretrain_gpt.py --num-layers 4 --hidden-size 8 --bf16 $EXTRA\n");
    assert_fact(f, "num_layers", "4");
    assert_fact(f, "context_parallel_size", "unknown");
    assert_int_equal(f->diags->n, 0);
}

static void branches_run_where_the_text_decides(void **state)
{
    struct facts *f =
        script(state, HEAD "MODE=big\nif [ $MODE = big ]; then TP=8; else TP=1; fi\n"
                           "[[ -n \"$MODE\" && 3 -gt 2 ]] && PP=2\n"
                           "case $MODE in small) L=1;; b*|x) L=32 ;; *) L=2;; esac\n"
                           "case ${L}b in [!0-9]*) H=16;;[0-9]*b) H=64;;*) H=32;;esac\n"
                           "if [ -f /etc/x ]; then CP=4; else CP=2; fi\n"
                           "if nvidia-smi; then ARGS=\"--sequence-parallel\"; fi\n"
                           "python pretrain_gpt.py --tensor-model-parallel-size $TP "
                           "--pipeline-model-parallel-size $PP "
                           "--num-layers $L --context-parallel-size $CP $ARGS --bf16 "
                           "--hidden-size $H\n");
    assert_fact(f, "tensor_model_parallel_size", "8");
    assert_fact(f, "pipeline_model_parallel_size", "2");
    assert_fact(f, "num_layers", "32");
    assert_fact(f, "hidden_size", "64");
    assert_fact(f, "context_parallel_size", "unknown");
    assert_fact(f, "sequence_parallel", "unknown");
    assert_fact(f, "expert_model_parallel_size", "1");
    assert_int_equal(f->diags->n, 0);
}

/* Forms of values that few scripts have. */
static void rare_forms_of_values(void **state)
{
    struct facts *f =
        script(state, HEAD "S=ADAM; T=transformer_engine; D=/data/96/64\n"
                           "L=`echo 12`; P=${D%/*}; P=${P##*/}; GONE=7\nunset GONE\n"
                           "R=$(realpath $UNKNOWN_THING)\n"
                           "python pretrain_gpt.py --optimizer ${S,,} --num-layers $L "
                           "--seq-length $P --hidden-size ${D##*/} --transformer-impl $T "
                           "--lr-warmup-iters ${GONE:-3} --num-attention-heads $R --bf16\n");
    assert_fact(f, "optimizer", "adam");
    assert_fact(f, "num_layers", "12");
    assert_fact(f, "seq_length", "96");
    assert_fact(f, "hidden_size", "64");
    assert_fact(f, "lr_warmup_iters", "3");
    assert_fact(f, "num_attention_heads", "unknown");
    assert_int_equal(f->diags->n, 0);
}

static void functions_loops_and_nested_shells(void **state)
{
    struct facts *f =
        script(state, HEAD "usage() { echo hi; exit 1; }\n"
                           "while [ $# -gt 0 ]; do TP=$2; shift 2; done\n"
                           "add() {\n  ARGS=\"$ARGS $1 $2\"\n}\n"
                           "add --num-layers 4\n"
                           "for x in a b; do N=$x; done\n"
                           "cat > conf <<EOF\n--num-layers 99 '\nEOF\n"
                           "CMD=\"python pretrain_gpt.py $ARGS --save /x/$N --hidden-size 64\"\n"
                           "srun -N 2 bash -c \"cd /x && $CMD\"\n");
    assert_fact(f, "num_layers", "4");
    assert_fact(f, "hidden_size", "64");
    assert_fact(f, "save", "/x/b");
    assert_int_equal(f->diags->n, 0);
}

static void slurm_headers_give_the_world(void **state)
{
    struct facts *f = script(
        state, HEAD "#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:h100:8\n"
                    "srun python pretrain_gpt.py --bf16 --num-layers 4 --hidden-size 8\n");
    assert_fact(f, "world_size", "32");
}

static void slurm_ignores_late_headers(void **state)
{
    struct facts *f =
        script(state, HEAD "#SBATCH --nodes=2 \n#SBATCH --gpus-per-node=4\nset -e\n"
                           "#SBATCH --nodes=16\n"
                           "torchrun --nproc_per_node 8 pretrain_gpt.py --bf16 --num-layers 4 "
                           "--swiglu\n");
    assert_fact(f, "world_size", "8");
    assert_int_equal(facts_raw(f, STR("sbatch.nodes")).i, 2);
    assert_int_equal(facts_raw(f, STR("sbatch.gpus_per_node")).i, 4);
    assert_int_equal(facts_raw(f, STR("torchrun.gpus_per_node")).i, 8);
    assert_int_equal(f->diags->n, 1);
    assert_str(f->diags->items[0].rule, "slurm-header-late");
    assert_int_equal(f->diags->items[0].at.line, 5);
}

static void options_of_other_programs_are_named(void **state)
{
    struct facts *f = script(state, HEAD "python pretrain_gpt.py --bf16 --num-layers 4 "
                                         "--image-seq-length 4 --swiglu\n");
    assert_int_equal(f->diags->n, 1);
    assert_str(f->diags->items[0].rule, "other-program-option");
    assert_int_equal(f->diags->items[0].severity, SEVERITY_WARNING);
    assert_fact(f, "swiglu", "true");
}

static void shells_run_what_they_are_given(void **state)
{
    struct facts *f =
        script(state, HEAD
               "CMD=\"cd /x;\npython pretrain_gpt.py --num-layers 4 --hidden-size 8 --bf16\"\n"
               "[ -z \"$CKPT\" ] && CKPT=\"\"\nif [ -z \"$CKPT\" ]; then echo usage; exit 1; fi\n"
               "sbatch <<EOF\n#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\n"
               "srun -l bash -x -c \"${CMD}\" > \\${SLURM_JOB_ID}.log\nEOF\n");
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "num_layers", "4");
    assert_fact(f, "bf16", "true");
    assert_fact(f, "world_size", "8");
    f = script(state, HEAD "torchrun --nproc-per-node 4 pretrain_gpt.py --num-layers 4 "
                           "--hidden-size 8 --bf16 \"$@\"\n");
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "world_size", "4");
    f = script(state, HEAD "torchrun --nproc-per-node 4 --nnodes $N pretrain_gpt.py --num-layers 4 "
                           "--hidden-size 8 --bf16\n");
    assert_fact(f, "world_size", "unknown");
}

static void builtins_set_variables(void **state)
{
    struct facts *f = script(
        state, HEAD "for config in \"2,4\"; do\n"
                    "    IFS=',' read -r TP PP <<< \"$config\"\n"
                    "    read -ra LAYERS <<< \"8,16\"\n"
                    "    python pretrain_gpt.py --bf16 --num-layers ${LAYERS[1]} \\\n"
                    "        --tensor-model-parallel-size $TP --context-parallel-size $CP \\\n"
                    "        --pipeline-model-parallel-size $PP\n"
                    "done\n");
    assert_fact(f, "tensor_model_parallel_size", "2");
    assert_fact(f, "pipeline_model_parallel_size", "4");
    assert_fact(f, "num_layers", "16");
    f = script(state, HEAD "TP=2; PP=3; L=4; EP=5\n"
                           "printf -v TP '%d' 8\nread PP < file\n"
                           "for ((i=0; i<3; i++)); do L=$((L + 1)); done\n"
                           "python pretrain_gpt.py --bf16 --tensor-model-parallel-size $TP "
                           "--pipeline-model-parallel-size $PP --num-layers $L "
                           "--expert-model-parallel-size $EP\n");
    assert_fact(f, "tensor_model_parallel_size", "unknown");
    assert_fact(f, "pipeline_model_parallel_size", "unknown");
    assert_fact(f, "num_layers", "unknown");
    assert_fact(f, "expert_model_parallel_size", "5");
}

static void documents_read_into_variables_run(void **state)
{
    struct facts *f = script(state, HEAD "TP=4\nread -r -d '' INNER <<'EOF' || true\n"
                                         "python pretrain_gpt.py --bf16 --num-layers 8 \\\n"
                                         "    --tensor-model-parallel-size ${TP}\nEOF\n"
                                         "srun bash -c \"${INNER}\"\n");
    assert_fact(f, "num_layers", "8");
    assert_fact(f, "tensor_model_parallel_size", "4");
}

static void wrong_arithmetic_abandons_its_command(void **state)
{
    struct facts *f =
        script(state, HEAD "SFT=false; L=8; DATA=/data/x\n"
                           "if [ $SFT = false ]; then\n"
                           "    ITERS=$(( $DATA / 8 ))\n    L=16\nfi\n"
                           "python pretrain_gpt.py --bf16 --swiglu --num-layers $L\n");
    assert_fact(f, "num_layers", "8");
}

/* How serious the finding of a rule is; the rule must have exactly one. */
static enum severity severity_of(const struct facts *f, const char *rule)
{
    assert_int_equal(count_rule(f, rule), 1);
    for (size_t i = 0; i < f->diags->n; i++)
        if (str_is(f->diags->items[i].rule, rule)) return f->diags->items[i].severity;
    return SEVERITY_INFO;
}

#define SIZES "--num-layers 4 --hidden-size 8 --bf16 "

static void a_slip_in_megatrons_own_script_is_an_error(void **state)
{
    static const char *const slips[] = {"--num-expert 8", "--tensor_model_parallel_size 2",
                                        "--expert-model-parallel-sise 2", "--swigul"};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "torchrun x/pretrain_gpt.py " SIZES "%s\n", slips[i]);
        struct facts *f = script(state, text);
        assert_int_equal(severity_of(f, "unknown-key"), SEVERITY_ERROR);
        assert_fact(f, "program", "megatron");
        assert_fact(f, "program_task", "training");
    }
    struct facts *f = script(state, HEAD "python pretrain_gpt.py " SIZES "--optimizer adamw\n");
    assert_int_equal(severity_of(f, "value-choice"), SEVERITY_ERROR);
}

static void flags_that_nobody_knows_are_one_warning(void **state)
{
    struct facts *f =
        script(state, HEAD "torchrun pretrain_gpt.py " SIZES
                           "--quokka-router 3 --num-expert 8 \\\n --burrow-size 2 --swiglu "
                           "--optimizer wombat --hop\n");
    assert_int_equal(count_rule(f, "unknown-key"), 2);
    assert_int_equal(severity_of(f, "value-choice"), SEVERITY_WARNING);
    const struct diag *d = &f->diags->items[f->diags->n - 1], *slip = d - 1;
    assert_int_equal(d->notes.n, 3);
    assert_str(d->notes.items[1], "line 3: --burrow-size");
    assert_int_equal(slip->severity, SEVERITY_WARNING);
    assert_str(slip->message, "Megatron-LM has no flag --num-expert");
    assert_str(slip->help, "did you mean --num-experts?");
    assert_fact(f, "program", "fork");
    assert_fact(f, "swiglu", "true");
    f = script(state, HEAD "python pretrain_mine.py " SIZES "--num-expert 1\n");
    assert_int_equal(severity_of(f, "unknown-key"), SEVERITY_WARNING);
}

static void a_named_release_is_strict(void **state)
{
    struct read_options options = {.version = STR("main")};
    const char *text =
        HEAD "python pretrain_gpt.py " SIZES "--quokka-router 3 --optimizer wombat\n";
    struct facts *f = read_as(*state, "megatron", text, &options);
    assert_int_equal(severity_of(f, "unknown-key"), SEVERITY_ERROR);
    assert_int_equal(severity_of(f, "value-choice"), SEVERITY_ERROR);
    assert_fact(f, "program_told", "true");
}

static void what_is_launched_is_told_by_its_name(void **state)
{
    static const struct {
        const char *line, *program, *task;
    } cases[] = {
        {"python tools/run_text_generation_server.py " SIZES, "megatron", "inference"},
        {"python convert_hopper.py " SIZES, "other", "conversion"},
        {"python tasks/evaluate_hops.py " SIZES, "other", "evaluation"},
        {"python train_hops.py " SIZES, "other", "training"},
        {"torchrun -m hops.pretrain " SIZES, "other", "training"},
        {"python hops.py " SIZES, "other", "unknown"},
        {"MODEL_ARGS=(" SIZES ")", "unsaid", "unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "%s\n", cases[i].line);
        struct facts *f = script(state, text);
        assert_fact(f, "program", cases[i].program);
        assert_fact(f, "program_task", cases[i].task);
    }
}

static bool is_open(void **state, const char *text)
{
    struct facts *f = script(state, text);
    program_open(f);
    return facts_get(f, P_context_parallel_size)->value.kind == VALUE_UNKNOWN;
}

static void defaults_are_megatrons_where_its_arguments_are_all(void **state)
{
    assert_false(is_open(state, HEAD "python pretrain_gpt.py " SIZES));
    assert_false(is_open(state, HEAD "python tools/run_text_generation_server.py " SIZES));
    assert_false(is_open(state, HEAD "python train_hops.py " SIZES "--hop 1 --hip 2\n"));
    assert_true(is_open(state, HEAD "python train_hops.py " SIZES "--hop 1 --hip 2 --hup 3\n"));
    assert_true(is_open(state, HEAD "python convert_hops.py " SIZES));
    assert_true(is_open(state, HEAD "MODEL_ARGS=(" SIZES ")\n"));
    struct facts *f = script(state, HEAD "python pretrain_gpt.py --hop ${ARGS[@]} " SIZES);
    assert_fact(f, "context_parallel_size", "unknown"); /* the array is no value of --hop */
}

static void settings_stand_for_shell_variables(void **state)
{
    struct setting set[] = {{.name = STR("TP"), .text = STR("4"), .value = value_int(4)},
                            {.name = STR("1"), .text = STR("12"), .value = value_int(12)}};
    struct read_options options = {.set = set, .n_set = 2};
    struct facts *f = read_as(
        *state, "megatron",
        HEAD
        "TP=2\npython pretrain_gpt.py --tensor-model-parallel-size $TP --num-layers $1 --bf16\n",
        &options);
    assert_fact(f, "tensor_model_parallel_size", "4");
    assert_fact(f, "num_layers", "12");
    assert_true(set[0].used && set[1].used);
}

static void hostile_scripts_end(void **state)
{
    static const char *const scripts[] = {
        HEAD "f() { f; }; f\npython x.py --bf16 --num-layers 1 --swiglu",
        HEAD "A=x; for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9; do A=$A$A$A$A; done; python "
             "x.py --bf16 --swiglu --num-layers $A",
        HEAD "x=$((1/0)) y=$((9223372036854775807+1)) z=${a:-${b:-${c:-}}} python x.py --bf16 "
             "--swiglu --num-layers $x",
        HEAD "A=xx; for i in 1 2 3 4 5 6 7 8; do for j in $i $i $i $i $i $i; do for k in $A $A; do "
             "A=$A$A; B=\"$A $A\"; done; "
             "done; done; python x.py --bf16 --swiglu --num-layers $A",
        HEAD "if [ 1 ]; then python x.py --bf16 --swiglu --num-layers 1",
        HEAD "case x in",
        HEAD "echo \"unclosed\npython x.py --bf16 --swiglu --num-layers 1",
        HEAD "x=( a b\n",
        HEAD "((((((((((((((((((((((((((((((((((((((((((((((((((((((",
        HEAD "$((((((((((((((((((((((((((((((((((((((((((((((((1",
        HEAD "a[0]=3 [[ x =~ (a|b) ]] ; } done fi ) esac --bf16 --swiglu --num-layers 2",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct arena_mark mark = arena_mark(*state);
        struct facts *f = script(state, scripts[i]);
        assert_true(f->diags->n <= 3);
        arena_pop(*state, mark);
    }
}

/* A script that makes more and more, in an arena of its own. */
struct growing {
    struct arena *arena;
    const char *head, *again;
    int times;
    bool too_large;
};

static void read_growing(void *state)
{
    struct growing *g = state;
    struct buf text = buf_new(g->arena);
    buf_printf(&text, HEAD "%s\n", g->head);
    for (int i = 0; i < g->times; i++)
        buf_printf(&text, "%s\n", g->again);
    buf_add(&text, STR("python x.py --bf16 --swiglu --num-layers 4 $X\n"));
    struct facts *f = read_as(g->arena, "megatron", buf_str(&text).p, NULL);
    g->too_large = count_rule(f, DOC_TOO_LARGE) == 1;
}

static bool is_too_large(const char *head, const char *again, int times)
{
    struct guard guard = {0};
    struct growing g = {arena_new(96 << 20), head, again, times, false};
    arena_set_guard(g.arena, &guard);
    assert_int_equal(guard_run(&guard, 5, read_growing, &g), GUARD_DONE);
    arena_free(g.arena);
    return g.too_large;
}

/* Fields, items and texts are paid for, however they come about. */
static void growth_ends_as_a_finding(void **state)
{
    static const struct {
        const char *head, *again;
    } cases[] = {
        {"X=(a b)", "X=(\"${X[@]}\" \"${X[@]}\")"},
        {"X=(a b)", "X+=(\"${X[@]}\")"},
        {"X=(a b)", "X+=(${X[@]})"},
        {"X=ab", "X=$X$X"},
        {"X=ab", "X=\"$X $X\"\nread -a Y <<< \"$X\""},
        {"set -- a b", "set -- \"$@\" \"$@\""},
        {"X=(a b)", "f() { Y=(\"$@\"); }\nX=(${X[@]} ${X[@]})\nf ${X[@]}"},
        {"X=a", "[ -f y ] && X=\"$X $X b\""},
        {"X=$(true)", "X=(\"${X[@]}\" ${X[@]} c)"},
        {"f() { f \"$@\" \"$@\"; }", "f a b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!is_too_large(cases[i].head, cases[i].again, 80)) fail_msg("%s", cases[i].again);
    assert_true(is_too_large("",
                             "for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do eval "
                             "\"V$a$b$c=1\"; c=$c$a$b; done; done",
                             200));
}

/* Reading on costs, too: rounds over what says nothing, and patterns with many beginnings. */
static void long_texts_are_not_read_for_ever(void **state)
{
    struct buf text = buf_new(*state), pattern = buf_new(*state);
    buf_add(&text, STR("for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do for c in 1 2 3 4 "
                       "5 6 7 8; do\n#"));
    buf_add_n(&text, 'x', 1000000);
    buf_add(&text, STR("\ntrue; done; done; done"));
    assert_true(is_too_large(buf_str(&text).p, "", 0));
    buf_add(&pattern, STR("X="));
    buf_add_n(&pattern, 'a', 500000);
    buf_add(&pattern, STR("\n[[ $X == *"));
    buf_add_n(&pattern, 'a', 200000);
    buf_add(&pattern, STR("b* ]]"));
    assert_true(is_too_large(buf_str(&pattern).p, "", 0));
}

/* What people write is far from that. */
static void long_scripts_are_read(void **state)
{
    (void)state;
    assert_false(is_too_large("X=(--hidden-size 8)", "X+=(--some-flag value)", 300));
    assert_false(is_too_large("X=--bf16", "X=\"$X --some-flag value\"", 300));
    assert_false(is_too_large("", "if [ \"$Y\" = 1 ]; then X+=(--other $Y); fi", 100));
}

/* ---- what is wrong with a script, whatever it launches ---- */

#define LAUNCH "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 8 --bf16"

/* The one finding: its rule and line. */
static struct diag *assert_found(struct facts *f, const char *rule, uint32_t line)
{
    assert_int_equal(f->diags->n, 1);
    assert_str(f->diags->items[0].rule, rule);
    assert_int_equal(f->diags->items[0].at.line, line);
    return &f->diags->items[0];
}

static void flags_that_are_commands_are_found(void **state)
{
    struct facts *f = script(state, HEAD LAUNCH "\n  --seq-length 64 \\\n  --swiglu\n");
    struct diag *d = assert_found(f, "lost-backslash", 3);
    assert_str(d->notes.items[0], "line 2 ends without a backslash");
    assert_fact(f, "seq_length", "64");
    assert_fact(f, "swiglu", "true");
    f = script(state, HEAD "ARGS=(--num-layers 4 --bf16)\npython pretrain_gpt.py\n  ${ARGS[@]}\n");
    assert_found(f, "lost-backslash", 4);
    assert_fact(f, "num_layers", "4");
    d = assert_found(script(state, HEAD LAUNCH " \\ \n  --seq-length 64\n"), "lost-backslash", 3);
    assert_str(d->notes.items[0], "line 2 has a blank behind its backslash");
    f = script(state, HEAD LAUNCH " \\\n  # --swiglu \\\n  --seq-length 64\n");
    assert_found(f, "comment-in-continuation", 3);
    assert_fact(f, "seq_length", "64");
    f = script(state, HEAD LAUNCH " \\\n  # the end\necho done\n");
    assert_int_equal(f->diags->n, 0);
}

static void misspelt_variables_are_found(void **state)
{
    struct facts *f =
        script(state, HEAD "set -eu\nSEQ_LENGTH=64\n" LAUNCH " --seq-length $SEQ_LENGHT\n");
    struct diag *d = assert_found(f, "variable-misspelt", 4);
    assert_int_equal(d->severity, SEVERITY_ERROR);
    assert_str(d->help, "did you mean SEQ_LENGTH?");
    f = script(state, HEAD "MODEL_ARGS=(--swiglu)\n" LAUNCH " ${MODLE_ARGS[@]}\n");
    assert_int_equal(assert_found(f, "variable-misspelt", 3)->severity, SEVERITY_WARNING);
    f = script(state, HEAD "ANODES=2; GPU_00=1\n" LAUNCH " --seed $BNODES$GPU_01 --rank $ANODES\n");
    assert_int_equal(count_rule(f, "variable-misspelt"), 0);
    f = script(state, HEAD "SEQ_LENGTH=${SEQ_LENGHT:-64}\n" LAUNCH " --seq-length $SEQ_LENGTH\n");
    assert_found(f, "variable-misspelt", 2);
    /* what another script exports under a name of its own */
    f = script(state, HEAD "ENABLED_MTP=${ENABLE_MTP:-8}\nLAYERS=${LAYER:-4}\n" LAUNCH
                           " --seq-length $ENABLED_MTP$LAYERS\n");
    assert_int_equal(count_rule(f, "variable-misspelt"), 0);
    f = script(state, HEAD "SEQ_LENGTH=64\n" LAUNCH " --seq-length ${SEQ_LENGHT:-$SEQ_LENGTH}\n");
    assert_int_equal(f->diags->n, 0);
    /* a command that sets names of the caller's may set this one */
    static const char *const any[] = {"export \"$1\"=\"$2\"\n", "eval \"$1=$2\"\n"};
    for (size_t i = 0; i < 2; i++) {
        f = script(state, arena_printf(
                              *state, HEAD "%sMODEL_ARGS=(--swiglu)\n" LAUNCH " ${MODLE_ARGS[@]}\n",
                              any[i])
                              .p);
        assert_int_equal(count_rule(f, "variable-misspelt"), 0);
    }
    f = script(state,
               HEAD "export A=1\neval B=2\nMODEL_ARGS=(--swiglu)\n" LAUNCH " ${MODLE_ARGS[@]}\n");
    assert_int_equal(count_rule(f, "variable-misspelt"), 1);
}

static void arguments_that_matter_are_named(void **state)
{
    struct facts *f = script(state, HEAD "TP=$1\nDIR=$2\n" LAUNCH
                                         " --tensor-model-parallel-size $TP --seq-length $3\n");
    struct diag *d = assert_found(f, "script-argument", 2);
    assert_str(d->help, "--set 1=... --set 3=... checks it with these values");
    f = script(state, HEAD "f() { " LAUNCH " --seq-length $1; }\nf 64\n");
    assert_fact(f, "seq_length", "64");
    assert_int_equal(f->diags->n, 0);
}

static void carriage_returns_are_named_once(void **state)
{
    struct facts *f = script(state, "#!/bin/bash\r\n" LAUNCH " \\\r\n  --seq-length 64\r\n");
    assert_found(f, "carriage-return", 1);
    assert_fact(f, "seq_length", "64");
}

static void placeholders_are_one_remark(void **state)
{
    struct facts *f = script(state, HEAD "A=\"your data path\"\nB=<path to it>/x\n" LAUNCH
                                         " --data-path $A --load $B --seq-length <N> "
                                         "--save /path/to/x <in >out\n");
    assert_int_equal(assert_found(f, "placeholder", 2)->severity, SEVERITY_INFO);
    assert_fact(f, "load", "unknown");
    assert_fact(f, "seq_length", "unknown");
    assert_fact(f, "save", "/path/to/x");
    f = script(state, HEAD LAUNCH " --data-path \"<path/to/data>\" --seq-length 8\n");
    assert_found(f, "placeholder", 2);
    assert_fact(f, "data_path", "unknown"); /* nothing is concluded from there being data */
}

static void open_quotes_are_found_where_they_open(void **state)
{
    struct facts *f =
        script(state, HEAD "A=\"one\"\nB=\"two\nC=\"three\"\nD=\"\n  four\n\"\n" LAUNCH "\n");
    assert_found(f, "shell-syntax", 3);
    assert_fact(f, "seq_length", "unknown");
    f = script(state, HEAD "A=(\n  --save-interval '20\n)\nN=$(tr ',' '\\n')\n"
                           "B='{\"x\": \"y z\"}'\n" LAUNCH "\n");
    assert_found(f, "shell-syntax", 3);
}

static void brackets_end_where_a_shell_ends_them(void **state)
{
    static const char *const cases[] = {
        "A=$(echo \"it's (\")",
        "A=$(cat <<EOF\nit's (a\nEOF\n)",
        "A=\"$(python3 - <<'PY'\nprint('(') # don't\nPY\n)\"",
        "A=$(echo a # it's\n)",
        "A=$(grep '(' <<< \"it's\")",
        "A=$((1 << 3))\nB=$((1<<3\n))",
        "mapfile -t A < <(python3 - \"$1\" <<'PY'\nprint(\"it's (\")\nPY\n)",
        "diff <(echo \"it's (\") <(sort x)",
        "A=$(printf %s \"$(echo \"it's )\")\")",
        "set --\nA=\"$@\"",
        "B=()\nA=\"${B[@]}\"",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, HEAD "%s\n" LAUNCH " --seq-length 128\n", cases[i]);
        struct facts *f = script(state, text);
        assert_int_equal(count_rule(f, "shell-syntax"), 0);
        assert_fact(f, "seq_length", "128");
    }
    struct facts *f = script(state, HEAD "A=$(echo \"a)\n" LAUNCH " --seq-length 128\n");
    assert_found(f, "shell-syntax", 2);
}

static void a_function_that_perhaps_calls_itself_ends(void **state)
{
    struct facts *f =
        script(state, HEAD "go() {\n" LAUNCH " --micro-batch-size $1 --seq-length 128\n"
                           "if ! grep -q done log; then go $(($1 - 1)); fi\n}\ngo 2\n");
    assert_int_equal(count_rule(f, "input-too-large"), 0);
    assert_fact(f, "seq_length", "128");
}

static void launchers_give_the_world(void **state)
{
    static const struct {
        const char *text, *world;
    } cases[] = {
        {"mpirun -np 16 -x A=1 python pretrain_gpt.py", "16"},
        {"mpirun -H a:8,b:8 python pretrain_gpt.py", "16"},
        {"mpirun -np 4 -H a:8,b:8 python pretrain_gpt.py", "4"},
        {"mpirun -N 8 --host a,b python pretrain_gpt.py", "16"},
        {"mpirun -H a,b python pretrain_gpt.py", "unknown"},
        {"mpirun -H a:8,$B python pretrain_gpt.py", "unknown"},
        {"mpirun -N 1 -H a,b torchrun --nproc_per_node 8 --nnodes $X pretrain_gpt.py", "16"},
        {"accelerate launch --num_processes 8 pretrain_gpt.py", "8"},
        {"deepspeed --num_gpus 8 --num_nodes 2 pretrain_gpt.py", "16"},
        {"deepspeed --hostfile=h --num_gpus 8 pretrain_gpt.py", "unknown"},
        {"srun -N 2 -n 16 python pretrain_gpt.py", "16"},
        {"srun -N 4 --ntasks-per-node=1 torchrun --nproc_per_node 8 --nnodes $X pretrain_gpt.py",
         "32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = buf_new(*state);
        buf_printf(&text, HEAD "%s --num-layers 4 --bf16 --swiglu\n", cases[i].text);
        assert_fact(script(state, buf_str(&text).p), "world_size", cases[i].world);
    }
    assert_fact(script(state, HEAD "#SBATCH --nodes=2\ntorchrun --nproc_per_node 8 "
                                   "--nnodes=$SLURM_JOB_NUM_NODES pretrain_gpt.py --bf16 "
                                   "--num-layers 4 --swiglu\n"),
                "world_size", "16");
}

static void written_scripts_are_followed(void **state)
{
    struct facts *f = script(state, HEAD "N=$(echo 4)\ncat > no.sh <<EOF\n--num-layers 99 'it\n"
                                         "EOF\ncat > go.sh <<'EOF'\npython pretrain_gpt.py "
                                         "--num-layers $N --bf16 --swiglu\nEOF\n"
                                         "torchrun --nproc_per_node 8 --no-python bash go.sh\n");
    assert_fact(f, "num_layers", "4");
    assert_fact(f, "world_size", "8");
    assert_int_equal(f->diags->n, 0);
    f = script(state, HEAD "echo 'bash x.sh' > x.sh\nbash x.sh\n" LAUNCH "\n");
    assert_int_equal(count_rule(f, "input-too-large"), 1);
}

/* What comes without a file of its own reads no other. */
static void texts_source_nothing(void **state)
{
    struct facts *f = script(state, HEAD "source ./x.sh\nsource /etc/passwd\n" LAUNCH " $EXTRA\n");
    assert_int_equal(f->sourced.n, 0);
    assert_fact(f, "seq_length", "unknown");
}

/* Beside the script and below its folder, each once at a time, and nowhere else. */
static void files_beside_are_sourced(void **state)
{
    char folder[] = "/tmp/moeplan-shell-XXXXXX";
    struct str error;
    assert_non_null(mkdtemp(folder));
    struct arena *a = *state;
    struct str args = arena_printf(a, "%s/args.sh", folder),
               path = arena_printf(a, "%s/run.sh", folder);
    const char *text = HEAD
        "D=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
        "source $D/args.sh\nsource $D/../../etc/passwd\nsource /dev/zero\n" LAUNCH " ${ARGS[@]}\n";
    assert_true(io_write(a, args.p, STR("ARGS=(\n  --seq-length 64\n)\nsource run.sh\n"), &error));
    assert_true(io_write(a, path.p, str_of(text), &error));
    struct facts *f = read_file_as(a, path, "megatron", text, NULL);
    assert_fact(f, "seq_length", "64");
    assert_int_equal(f->sourced.n, 1);
    assert_str(fact_origin_text(a, f, P_seq_length),
               arena_printf(a, "written at line 2 of %.*s", STR_ARG(args)).p);
    unlink(args.p);
    unlink(path.p);
    rmdir(folder);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(variables_arrays_and_arithmetic),
    cmocka_unit_test(findings_point_at_the_flag_and_name_the_variable),
    cmocka_unit_test(ansi_quotes_are_read),
    cmocka_unit_test(what_is_dynamic_is_unknown),
    cmocka_unit_test(branches_run_where_the_text_decides),
    cmocka_unit_test(rare_forms_of_values),
    cmocka_unit_test(functions_loops_and_nested_shells),
    cmocka_unit_test(slurm_headers_give_the_world),
    cmocka_unit_test(slurm_ignores_late_headers),
    cmocka_unit_test(options_of_other_programs_are_named),
    cmocka_unit_test(shells_run_what_they_are_given),
    cmocka_unit_test(builtins_set_variables),
    cmocka_unit_test(documents_read_into_variables_run),
    cmocka_unit_test(wrong_arithmetic_abandons_its_command),
    cmocka_unit_test(a_slip_in_megatrons_own_script_is_an_error),
    cmocka_unit_test(flags_that_nobody_knows_are_one_warning),
    cmocka_unit_test(a_named_release_is_strict),
    cmocka_unit_test(what_is_launched_is_told_by_its_name),
    cmocka_unit_test(defaults_are_megatrons_where_its_arguments_are_all),
    cmocka_unit_test(settings_stand_for_shell_variables),
    cmocka_unit_test(flags_that_are_commands_are_found),
    cmocka_unit_test(misspelt_variables_are_found),
    cmocka_unit_test(arguments_that_matter_are_named),
    cmocka_unit_test(carriage_returns_are_named_once),
    cmocka_unit_test(placeholders_are_one_remark),
    cmocka_unit_test(open_quotes_are_found_where_they_open),
    cmocka_unit_test(brackets_end_where_a_shell_ends_them),
    cmocka_unit_test(a_function_that_perhaps_calls_itself_ends),
    cmocka_unit_test(launchers_give_the_world),
    cmocka_unit_test(written_scripts_are_followed),
    cmocka_unit_test(texts_source_nothing),
    cmocka_unit_test(files_beside_are_sourced),
    cmocka_unit_test(hostile_scripts_end),
    cmocka_unit_test(growth_ends_as_a_finding),
    cmocka_unit_test(long_texts_are_not_read_for_ever),
    cmocka_unit_test(long_scripts_are_read),
};
UNIT_MAIN(tests)
