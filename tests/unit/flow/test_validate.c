/* SPDX-License-Identifier: Apache-2.0 */
/* A text -> its report: what it is, what is wrong and where, and at which sizes nothing is. */
#include "flow/validate.h"
#include "unit/unit.h"

static struct file_report report_of(struct arena *a, const char *text, const char *as, int64_t gpus,
                                    enum severity fail_on)
{
    struct validation v = validation_of(a, rules_builtin());
    struct platform_cache *platforms = ARENA_NEW(a, struct platform_cache);
    struct read_options options = {.platforms = platforms, .gpus = gpus};
    platforms->arena = a;
    v.arena = a;
    v.scratch = arena_new(0);
    v.fail_on = fail_on;
    struct file_report r = validate_text(&v, STR("a.txt"), str_of(text), str_of(as), &options);
    arena_free(v.scratch);
    return r;
}

static const struct diag *finding(const struct file_report *r, enum severity severity)
{
    for (size_t i = 0; i < r->diags->n; i++)
        if (r->diags->items[i].severity == severity) return &r->diags->items[i];
    return NULL;
}

#define FLAGS                                                                                      \
    "--num-layers 4 --hidden-size 512 --num-attention-heads 8 --num-experts 8 "                    \
    "--seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 "                       \
    "--global-batch-size 72 --train-iters 10 --lr 1e-4 --bf16\n"

static void one_error_has_its_place(void **state)
{
    struct file_report r =
        report_of(*state, FLAGS "--expert-model-parallel-size 3\n", "megatron", 9, SEVERITY_ERROR);
    const struct diag *d = finding(&r, SEVERITY_ERROR);
    assert_int_equal(r.status, FILE_INVALID);
    assert_str(r.format, "megatron");
    assert_str(r.framework, "megatron");
    assert_int_equal(r.gpus, 9);
    assert_non_null(d);
    assert_int_equal(d->at.line, 2);
    assert_int_equal(d->at.column, 1);
    assert_str(d->parameter, "expert_model_parallel_size");
    assert_int_equal(diags_count(r.diags, SEVERITY_ERROR), 1);
}

static void what_fails_a_file_is_asked_for(void **state)
{
    static const char text[] = FLAGS "--expert-model-parallel-size 4 --no-such-flag\n";
    struct file_report strict = report_of(*state, text, "megatron", 8, SEVERITY_INFO),
                       usual = report_of(*state, text, "megatron", 8, SEVERITY_ERROR);
    bool errors = diags_count(usual.diags, SEVERITY_ERROR) > 0;
    assert_true(strict.diags->n > 0);
    assert_int_equal(strict.status, FILE_INVALID);
    assert_int_equal(usual.status, errors ? FILE_INVALID : FILE_OK);
}

/* Of this nothing is wrong, but there is something to say. */
static void advice_fails_no_file_unless_asked_to(void **state)
{
    static const char text[] = FLAGS "--expert-model-parallel-size 4\n";
    static const enum file_status want[] = {[SEVERITY_INFO] = FILE_INVALID,
                                            [SEVERITY_WARNING] = FILE_INVALID,
                                            [SEVERITY_ERROR] = FILE_OK};
    for (int level = SEVERITY_INFO; level <= SEVERITY_ERROR; level++) {
        struct file_report r = report_of(*state, text, "megatron", 8, (enum severity)level);
        assert_true(diags_count(r.diags, SEVERITY_WARNING) > 0);
        assert_int_equal(r.status, want[level]);
    }
}

static void sizes_are_found_where_none_is_given(void **state)
{
    static const char text[] = FLAGS "--expert-model-parallel-size 4\n";
    struct file_report open = report_of(*state, text, "megatron", 0, SEVERITY_ERROR),
                       given = report_of(*state, text, "megatron", 8, SEVERITY_ERROR);
    assert_true(open.world.known && open.world.n > 0);
    assert_int_equal(open.world.multiple_of, 4);
    assert_int_equal(open.world.sizes[0], 4);
    assert_false(given.world.known);
}

/* HSDP's four replicas, of two tensor ranks each. */
static void replicas_divide_the_sizes(void **state)
{
    struct file_report r =
        report_of(*state,
                  "recipe: TrainFinetuneRecipeForNextTokenPrediction\n"
                  "model: {pretrained_model_name_or_path: Qwen/Qwen3-8B}\n"
                  "step_scheduler: {global_batch_size: 64, local_batch_size: 1}\n"
                  "distributed: {strategy: fsdp2, tp_size: 2, dp_replicate_size: 4}\n",
                  "automodel", 0, SEVERITY_ERROR);
    assert_true(r.world.known && r.world.n > 0);
    assert_int_equal(r.world.multiple_of, 8);
}

/* Without a platform nobody knows whether the memory is enough. */
static void comments_about_what_is_unknown_are_not_unused(void **state)
{
    static const char *const rules[][2] = {{"memory-tight", ""}, {"cp-positive", "x"}};
    for (size_t i = 0; i < 2; i++) {
        struct str text = arena_printf(*state,
                                       "# moeplan: ignore-file[%s] known\n"
                                       "recipe: TrainFinetuneRecipeForNextTokenPrediction\n"
                                       "model: {pretrained_model_name_or_path: Qwen/Qwen3-8B}\n"
                                       "dataset: {seq_length: 4096}\n"
                                       "step_scheduler: {global_batch_size: 64}\n",
                                       rules[i][0]);
        struct file_report r = report_of(*state, text.p, "automodel", 8, SEVERITY_ERROR);
        bool unused = false;
        for (size_t k = 0; k < r.diags->n; k++)
            unused = unused || str_is(r.diags->items[k].rule, "unused-suppression");
        assert_int_equal(unused, *rules[i][1] != 0);
    }
}

static void what_is_no_recipe_is_told(void **state)
{
    struct file_report r = report_of(*state, "just: a mapping\n", "", 0, SEVERITY_ERROR);
    assert_int_equal(r.status, FILE_SKIPPED);
    r = report_of(*state, "a: [\n", "plan", 0, SEVERITY_ERROR);
    assert_int_equal(r.status, FILE_UNREADABLE);
    assert_non_null(finding(&r, SEVERITY_ERROR));
    r = report_of(*state, "moeplan: 1\nkind: Model\nname: Small\nnum_layers: 4\n", "", 0,
                  SEVERITY_ERROR);
    assert_str(r.format, "model");
    assert_int_equal(r.status, FILE_INVALID);
}

static void what_takes_too_much_is_a_finding(void **state)
{
    struct validation v = validation_of(*state, rules_builtin());
    v.arena = *state;
    struct file_report r = validate_too_large(&v, STR("big"), GUARD_TOO_LARGE);
    assert_int_equal(r.status, FILE_UNREADABLE);
    assert_str(r.diags->items[0].rule, "input-too-large");
    r = validate_unreadable(&v, STR("gone"), STR("no such file"));
    assert_str(r.diags->items[0].message, "cannot be read: no such file");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_error_has_its_place),
    cmocka_unit_test(what_fails_a_file_is_asked_for),
    cmocka_unit_test(advice_fails_no_file_unless_asked_to),
    cmocka_unit_test(sizes_are_found_where_none_is_given),
    cmocka_unit_test(replicas_divide_the_sizes),
    cmocka_unit_test(comments_about_what_is_unknown_are_not_unused),
    cmocka_unit_test(what_is_no_recipe_is_told),
    cmocka_unit_test(what_takes_too_much_is_a_finding),
};
UNIT_MAIN(tests)
