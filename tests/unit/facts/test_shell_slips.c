/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of a script itself in what it does not run for certain, or which another file may mend.
 */
#include "facts_unit.h"

#define HEAD "#!/bin/bash\n"
#define LAUNCH "python pretrain_gpt.py --num-layers 4 --hidden-size 8 --bf16"

/* How often the script has a finding of the rule, and where the last one stands. */
static size_t found(void **state, const char *rule, uint32_t *line, const char *text)
{
    struct facts *f = read_as(*state, "megatron", text, NULL);
    size_t n = 0;
    for (size_t i = 0; i < f->diags->n; i++) {
        if (!str_is(f->diags->items[i].rule, rule)) continue;
        *line = f->diags->items[i].at.line;
        n++;
    }
    return n;
}

static void assert_at(void **state, const char *rule, uint32_t wanted, const char *text)
{
    uint32_t line = 0;
    assert_int_equal(found(state, rule, &line, text), wanted > 0);
    assert_int_equal(line, wanted);
}

static void slips_beside_a_file_that_is_not_here(void **state)
{
#define SLIP "variable-misspelt"
#define ELSEWHERE HEAD "source /opt/env.sh\n"
    assert_at(state, SLIP, 4,
              ELSEWHERE "SEQ_LENGTH=64\n" LAUNCH " --seq-length $SEQ_LENGHT "
                        "--max-position-embeddings $SEQ_LENGTH\n");
    assert_at(state, SLIP, 4, ELSEWHERE "TP_SIZE=64\n" LAUNCH " --seq-length $TP_SIE $TP_SIZE\n");
    /* the plural, another number, another letter and an underline more may be somebody's */
    assert_at(state, SLIP, 0,
              ELSEWHERE "NPUS_PER_NODE=8\necho $NPU_PER_NODE $NPUS_PER_NODE\n" LAUNCH "\n");
    assert_at(state, SLIP, 0, ELSEWHERE "MODEL_TP=8\necho $MODEL_PP $MODEL_TP\n" LAUNCH "\n");
    assert_at(state, SLIP, 0, ELSEWHERE "SEQLENGTH=8\necho $SEQ_LENGTH $SEQLENGTH\n" LAUNCH "\n");
}

static void slips_of_short_names_and_last_letters(void **state)
{
    assert_at(state, SLIP, 3, HEAD "GBS=256\n" LAUNCH " --global-batch-size $GBSS\n");
    assert_at(state, SLIP, 4,
              HEAD "source env.sh\nSEQ_LENGTH=8\n" LAUNCH " --seq-length $SEQ_LENGT\n");
    assert_at(state, SLIP, 0, HEAD "source env.sh\nGPU=8\n" LAUNCH " --seq-length $GPUS\n");
    assert_at(state, SLIP, 0,
              HEAD "source env.sh\nSCALE_=8\n" LAUNCH " --seq-length $SCALE_X --seed $SCALE_\n");
    assert_at(state, SLIP, 0, HEAD "source env.sh\nGPU=8\n" LAUNCH " --seq-length $GPU2\n");
}

static void a_text_that_is_added_to_begins_empty(void **state)
{
    static const char *const rest =
        "\n# more\nDATA=\"$DATA 1 a\"\nDATA=\"$DATA 2 b\"\n" LAUNCH " --data-path $DATA\n";
    assert_at(state, "shell-syntax", 2, arena_printf(*state, HEAD "DATA=\"%s", rest).p);
    assert_at(state, "shell-syntax", 0, arena_printf(*state, HEAD "DATA=\"\"%s", rest).p);
}

static void slips_in_what_does_not_run(void **state)
{
    assert_at(state, SLIP, 4, HEAD "LOG_FILE=a\nif false; then\necho $LOG_FLIE\nfi\n" LAUNCH "\n");
    assert_at(state, SLIP, 4, HEAD "LOG_FILE=a\nusage() {\necho $LOG_FLIE\n}\n" LAUNCH "\n");
    /* names that only a loop over the arguments sets, and short ones */
    assert_at(state, SLIP, 6,
              HEAD "while [[ $# -gt 0 ]]; do\nMODEL_PATH=$2\nshift\ndone\n" LAUNCH
                   " --save $MODL_PATH\n");
    assert_at(state, SLIP, 3, HEAD "HF_DIR=a\n" LAUNCH " --save $HF_DR --load $HF_DIR\n");
    assert_at(state, SLIP, 0, HEAD "NNODES=2\n" LAUNCH " --seed $NODES --save $NNODES\n");
    /* what a loop over the arguments sets is set */
    assert_at(state, SLIP, 0,
              HEAD "LOG_FILES=a\nwhile [[ $# -gt 0 ]]; do\nLOG_FLIES=$2\nshift\ndone\n" LAUNCH
                   " --save $LOG_FLIES\n");
    assert_at(state, SLIP, 0,
              HEAD "LOG_FILE=a\nif false; then\nread LOG_FLIE\necho $LOG_FLIE\nfi\n" LAUNCH "\n");
    assert_at(state, SLIP, 0,
              HEAD "LOG_FILE=a\nif false; then\nfor LOG_FLIE in a b; do\n"
                   "echo $LOG_FLIE\ndone\nfi\n" LAUNCH "\n");
}

static void slips_of_the_name_that_takes_a_default(void **state)
{
    assert_at(state, SLIP, 2,
              HEAD "TRAIN_ITERS=${TRIAN_ITERS:-100}\n" LAUNCH " --train-iters $TRAIN_ITERS\n");
    assert_at(state, SLIP, 0, HEAD "NODES_OF=${NUM_NODES:-1}\nTP_SIZE=${TPSIZE:-1}\n" LAUNCH "\n");
    assert_at(state, SLIP, 0, HEAD "TRIAN_ITERS=3\nTRAIN_ITERS=${TRIAN_ITERS:-100}\n" LAUNCH "\n");
    /* the fix changes the name that is read, not the one that is set */
    struct facts *f = read_as(*state, "megatron", HEAD "EPOCHS=${EPOCSH:-1}\n" LAUNCH "\n", NULL);
    assert_int_equal(f->diags->n, 1);
    assert_int_equal(f->diags->items[0].edits.n, 1);
    assert_str(f->diags->items[0].edits.items[0].text, "EPOCHS");
    assert_int_equal(f->diags->items[0].edits.items[0].from, strlen(HEAD "EPOCHS=${"));
}

static void dashes_alone_are_no_command(void **state)
{
    assert_at(state, "lost-backslash", 3, HEAD "ray job submit --address x\n-- " LAUNCH "\n");
    assert_at(state, "comment-in-continuation", 3,
              HEAD "ray job submit --address x \\\n # tuned \\\n -- " LAUNCH "\n");
    assert_at(state, "lost-backslash", 0, HEAD "ray job submit --address x \\\n-- " LAUNCH "\n");
    /* an array of arguments is no program; one of another name may hold one */
    assert_at(state, "lost-backslash", 4,
              ELSEWHERE LAUNCH "\n${MODEL_ARGS[@]} \\\n --seq-length 4\n");
    assert_at(state, "lost-backslash", 0, ELSEWHERE LAUNCH "\n${LAUNCHER[@]} --version\n");
    assert_at(state, "lost-backslash", 0, ELSEWHERE LAUNCH "\n${RUN_ARGS[@]} a.py --version\n");
    /* the launch behind them is read */
    struct facts *f = read_as(*state, "megatron", HEAD "ray job submit -x\n-- " LAUNCH "\n", NULL);
    assert_int_equal(f->diags->items[0].at.line, 3);
    assert_fact(f, "num_layers", "4");
}

static void overrides_that_add_a_key_are_no_commands(void **state)
{
    struct facts *f =
        read_as(*state, "program",
                HEAD "python3 -m verl.trainer.main_ppo \\\n"
                     "  actor_rollout_ref.actor.strategy=megatron \\\n  trainer.nnodes=1\n"
                     "  +actor_rollout_ref.actor.megatron.override_transformer_config.a=1\n",
                NULL);
    assert_int_equal(count_rule(f, "lost-backslash"), 1);
    assert_int_equal(f->diags->items[0].at.line, 5);
    /* in what does not run too */
    f = read_as(*state, "program",
                HEAD "if false; then\npython3 -m verl.trainer.main_ppo trainer.nnodes=1\n"
                     "  actor_rollout_ref.actor.strategy=megatron \\\n  trainer.n=1\nfi\n"
                     "python3 -m verl.trainer.main_ppo "
                     "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=1\n",
                NULL);
    assert_int_equal(count_rule(f, "lost-backslash"), 1);
    assert_int_equal(f->diags->items[0].at.line, 4);
}

static void full_recomputation_is_whole_where_its_layers_are_said(void **state)
{
    static const char *const start = HEAD "python train_fork.py --my-a 1 --my-b 2 --my-c 3 $X "
                                          "--recompute-granularity full --recompute-num-layers 1 ";
    struct facts *f = read_as(*state, "megatron", start, NULL);
    program_open(f);
    assert_fact(f, "recompute_method", "null");
    assert_fact(f, "recompute_activations", "false");
    f = read_as(*state, "megatron", arena_printf(*state, "%s--recompute-method block\n", start).p,
                NULL);
    program_open(f);
    assert_fact(f, "recompute_method", "block");
    f = read_as(*state, "megatron",
                HEAD "python train_fork.py --my-a 1 --my-b 2 --my-c 3 $X "
                     "--recompute-granularity full --bf16 --lr 1\n",
                NULL);
    program_open(f);
    assert_fact(f, "recompute_method", "unknown");
}

static void a_path_is_no_place_for_flags(void **state)
{
    static const char *const start = HEAD "python pretrain_gpt.py --num-layers 4 --my-data ";
    struct facts *f =
        read_as(*state, "megatron", arena_printf(*state, "%sa $D/a\n", start).p, NULL);
    assert_fact(f, "pipeline_model_parallel_size", "1");
    f = read_as(*state, "megatron", arena_printf(*state, "%sa $D\n", start).p, NULL);
    assert_fact(f, "pipeline_model_parallel_size", "unknown");
}

static void branches_that_are_not_taken_are_looked_at(void **state)
{
    assert_at(state, "recompute-method-choice", 3,
              HEAD "if [ $1 = full ]; then\nMORE=\"--recompute-method unifrm\"\nelse\n"
                   "MORE=\"--recompute-granularity selective\"\nfi\n" LAUNCH " $MORE\n");
    assert_at(state, "value-type", 3,
              HEAD "if false; then\nMORE=(--seq-length 4k)\nfi\n" LAUNCH " ${MORE[@]}\n");
    assert_at(state, "unknown-key", 3,
              HEAD "if false; then\nMORE=(--seq-lenght 4)\nfi\n" LAUNCH " ${MORE[@]}\n");
    /* a value that another branch has written, a flag of somebody's own, truths behind switches */
    static const char *const fine[] = {
        HEAD "N=auto\nif false; then\nN=4\nMORE=(--seq-length $N)\nfi\n" LAUNCH " ${MORE[@]}\n",
        HEAD "if false; then\nMORE=(--my-own-thing 4 --bf16)\nfi\n" LAUNCH " ${MORE[@]}\n",
        HEAD "if false; then\nMORE=(--bf16 true --fp16 false)\nfi\n" LAUNCH " ${MORE[@]}\n",
        HEAD "A=(--lr 1)\nif false; then\nA=(--lr 2)\nfi\n" LAUNCH " ${A[@]}\n",
    };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        assert_int_equal(read_as(*state, "megatron", fine[i], NULL)->diags->n, 0);
}

static void launches_beside_are_looked_at(void **state)
{
    assert_at(state, "value-type", 2,
              HEAD "python pretrain_gpt.py --num-layers two --hidden-size 8 --bf16\n" LAUNCH
                   " --seq-length 4\n");
    assert_at(state, "value-type", 3,
              HEAD LAUNCH "\npython pretrain_gpt.py --num-layers two --lr 8 --bf16\n");
    assert_at(state, "value-type", 0,
              HEAD LAUNCH "\npython convert.py --num-layers two --lr 8 --bf16\n");
}

static void lost_backslashes_in_what_does_not_run(void **state)
{
    uint32_t line = 0;
    static const char *const dead =
        HEAD "if false; then\npython convert.py\n--tp 2\nfi\n" LAUNCH "\n";
    assert_at(state, "lost-backslash", 4, dead);
    static const char *const called =
        HEAD "run() {\npython convert.py\n--tp 2\n}\nrun\n" LAUNCH "\n";
    assert_int_equal(found(state, "lost-backslash", &line, called), 1);
    static const char *const uncalled = HEAD "run() {\npython a.py\n--tp 2\n}\n" LAUNCH "\n";
    assert_int_equal(found(state, "lost-backslash", &line, uncalled), 1);
    static const char *const pattern =
        HEAD "while [ $# -gt 0 ]; do\ncase $1 in\n--tp) TP=$2 ;;\nesac\ndone\n" LAUNCH "\n";
    assert_int_equal(found(state, "lost-backslash", &line, pattern), 0);
}

static void open_quotes_are_found_on_their_line(void **state)
{
    static const struct {
        uint32_t line;
        const char *text;
    } cases[] = {
        {2, "if [ \"$GPUS -gt 0 ]; then\necho \"some\"\nfi\nA=\"b\"\n"},
        {4, "A=\"\n --lr 1\"\nB=\"c\nC=\"d\"\nE=\"f g\"\n"},
        {5, "A=\"--lr 1 \\\n --seed 2 \\\n\"\nB=\"c d\necho \"$B\" \"x\"\n"},
        {3, "echo \"it's\"\nmv --to=\"$X \\\n  --from \"$Y\"\nA=\"$(cat \"$F\")\"\nB=\"b\"\n"},
        {5, "cat <<EOF\nit's \"\nEOF\nA='b\nB='c'\nC='d'\n"},
        {6, "cat <<EOF\nplain\nit's \"\nEOF\nA='b\nB='c'\nC='d'\n"},
        {4, "A=a # it's\nB=$'it\\'s'\nC=\"${D:-'}\nE=\"f\"\nG=\"h\"\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = arena_printf(*state, HEAD "%s" LAUNCH "\n", cases[i].text);
        struct facts *f = read_as(*state, "megatron", text.p, NULL);
        assert_int_equal(count_rule(f, "shell-syntax"), 1);
        assert_int_equal(f->diags->n, 1); /* nothing that comes of it */
        if (f->diags->items[0].at.line != cases[i].line) fail_msg("%s", cases[i].text);
    }
    /* what stands below is still looked at */
    assert_at(state, "value-type", 4, HEAD "A=\"b\nB=\"c\"\n" LAUNCH " --seq-length x\n");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(open_quotes_are_found_on_their_line),
    cmocka_unit_test(a_text_that_is_added_to_begins_empty),
    cmocka_unit_test(slips_of_short_names_and_last_letters),
    cmocka_unit_test(slips_beside_a_file_that_is_not_here),
    cmocka_unit_test(slips_in_what_does_not_run),
    cmocka_unit_test(slips_of_the_name_that_takes_a_default),
    cmocka_unit_test(dashes_alone_are_no_command),
    cmocka_unit_test(overrides_that_add_a_key_are_no_commands),
    cmocka_unit_test(full_recomputation_is_whole_where_its_layers_are_said),
    cmocka_unit_test(a_path_is_no_place_for_flags),
    cmocka_unit_test(branches_that_are_not_taken_are_looked_at),
    cmocka_unit_test(launches_beside_are_looked_at),
    cmocka_unit_test(lost_backslashes_in_what_does_not_run),
};
UNIT_MAIN(tests)
