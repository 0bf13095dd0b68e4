/* SPDX-License-Identifier: Apache-2.0 */
/* Training logs of each framework, and lines that only look like them. */
#include "unit/unit.h"

#include <stdio.h>

#include "facts/run_log.h"

/* Whether a line of the text is one of a training log. */
static bool read_text(struct arena *a, struct str text, struct run_log *log)
{
    struct str line;
    bool any = false;
    run_log_start(a, log);
    while (str_split(&text, '\n', &line))
        any = run_log_line(log, line) || any;
    return any;
}

static struct run_summary summary_of(void **state, const char *text, struct run_log *log)
{
    assert_true(read_text(*state, str_of(text), log));
    return run_log_summary(*state, log);
}

static void megatron_lines_are_read_behind_a_launchers_prefix(void **state)
{
    struct run_log log;
    struct run_summary s = summary_of(
        state,
        "12: building GPT model ...\n"
        "12:  [2026-01-01 10:00:00] iteration        1/     100 | consumed samples:          512 | "
        "elapsed time per iteration (ms): 60000.0 | throughput per GPU (TFLOP/s/GPU): 20.1 | "
        "grad norm: 1.000 |\n"
        "12: [Rank 3] (after 1 iterations) memory (MB) | allocated: 1024.0 | max allocated: 2048.0 "
        "| reserved: 3072.0 | max reserved: 4096.0\n"
        "12: [Rank 0] (after 1 iterations) memory (MB) | allocated: 1024.0 | max allocated: 1024.0 "
        "| reserved: 3072.0 | max reserved: 3072.0\n"
        "12:  [2026-01-01 10:00:09] iteration        2/     100 | consumed samples:          512 | "
        "elapsed time per iteration (ms): 9000.0 | throughput per GPU (TFLOP/s/GPU): 190.0 | "
        "grad norm: 1.000 |\r\n"
        "12:  [2026-01-01 10:00:18] iteration        3/     100 | consumed samples:          512 | "
        "elapsed time per iteration (ms): 11000.0 | throughput per GPU (TFLOP/s/GPU): 210.0 | "
        "grad norm: 3.000 |",
        &log);
    assert_int_equal(log.steps.n, 3);
    assert_int_equal(log.steps.items[1].number, 2);
    assert_int_equal(s.steady_steps, 2);
    assert_true(s.step_s == 10.0 && s.tflops_per_gpu == 200.0);
    assert_true(s.peak_memory_gib == 2.0 && s.reserved_memory_gib == 4.0);
    assert_true(s.grad_norm_max_over_median == 1.5);
}

static void bridge_states_the_throughput_beside_the_iteration(void **state)
{
    struct run_log log;
    struct run_summary s = summary_of(
        state,
        " iteration        8/      50 | consumed samples:  4096 | elapsed time per iteration (ms): "
        "5390.0 | learning rate: 3.0E-05 | global batch size:   512 |\n"
        "Step Time : 5.39s GPU utilization: 663.5MODEL_TFLOP/s/GPU\n",
        &log);
    assert_true(s.step_s == 5.39 && s.tflops_per_gpu == 663.5);
    assert_true(s.peak_memory_gib == 0);
    s = summary_of(state,
                   "Step Time : 30.00s GPU utilization: 20.0 TFLOP/s/GPU\n"
                   "Step Time : 14.00s GPU utilization: 58.2TFLOP/s/GPU\n"
                   "Step Time : 14.00s GPU utilization: 58.4TFLOP/s/GPU\n",
                   &log);
    assert_true(s.step_s == 14 && s.tflops_per_gpu > 58.25 && s.tflops_per_gpu < 58.35);
}

static void automodel_lines_and_jsonl_state_throughput_and_memory(void **state)
{
    struct run_log log;
    struct run_summary s =
        summary_of(state,
                   "2026-01-01 | INFO | root | step 0 | epoch 0 | loss 2.1000 | grad_norm 1.0000 | "
                   "lr 1.00e-05 "
                   "| mem 30.50 GiB | tps 8000.00(1000.00/gpu) | num_label_tokens 4096\n"
                   "2026-01-01 | INFO | root | step 1 | epoch 0 | loss 2.0000 | grad_norm 1.0000 | "
                   "lr 1.00e-05 "
                   "| mem 31.50 GiB | tps 80000.00(10000.00/gpu) | num_label_tokens 4096\n",
                   &log);
    assert_true(s.tokens_per_s_per_gpu == 10000.0 && s.peak_memory_gib == 31.5 && s.step_s == 0);
    s = summary_of(
        state,
        "{\"timestamp\": \"x\", \"step\": 3, \"epoch\": 0, \"loss\": 1.5, \"grad_norm\": "
        "0.5, \"mem\": 12.25, \"tps\": 100.0, \"tps_per_gpu\": 50.0}",
        &log);
    assert_true(s.tokens_per_s_per_gpu == 50.0 && s.peak_memory_gib == 12.25);
}

static void what_is_no_log_is_none(void **state)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "out_of_memory: true",
        "iteration is slow",
        "iteration 3/ 100 | elapsed time per iteration (ms): fast |",
        "iteration 3/ 100 | elapsed time per iteration (ms): -5 |",
        "iteration 3/ 100 | elapsed time per iteration (ms): 1e999 |",
        "| tps |",
        "{\"step\": 3}",
        "{\"exposed_all_to_all_percent\": 35}",
        "GPU utilization: MODEL_TFLOP/s/GPU",
    };
    struct run_log log;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (read_text(*state, str_of(texts[i]), &log)) fail_msg("a log: %s", texts[i]);
    assert_true(read_text(*state, STR("torch.OutOfMemoryError: CUDA out of memory."), &log));
    assert_int_equal(log.failures.memory.lines, 1);
    assert_int_equal(run_log_summary(*state, &log).steady_steps, 0);
}

static void automodels_benchmark_states_time_and_mfu(void **state)
{
    struct run_log log;
    struct run_summary s = summary_of(state,
                                      "INFO Max iter time: 9.000000 seconds\nINFO MFU: 11.0%\n"
                                      "INFO Max iter time: 4.000000 seconds\nINFO MFU: 25.0%\n"
                                      "INFO Average iteration time: 4.200 seconds (excluding "
                                      "first 1 warmup iterations)\nINFO Average MFU: 24.0% (x)\n",
                                      &log);
    assert_true(s.step_s == 4.0 && s.mfu == 0.25 && log.average_s == 4.2);
    assert_true(log.average_mfu == 0.24);
}

static void timers_of_megatron_state_parts_of_the_step(void **state)
{
    struct run_log log;
    summary_of(state,
               "(min, max) time across ranks (ms):\n"
               "    batch-generator ................................: (100.0, 250.0)\n"
               "    optimizer ......................................: (20.0, 40.0)\n",
               &log);
    assert_true(log.batch_s == 0.25 && log.optimizer_s == 0.04);
}

/* 100,000 steps of 2 s and one bad gradient in their midst: no more is kept than there is room for,
   and neither the median nor the outlier is lost. */
static void a_long_log_takes_no_more_room(void **state)
{
    struct run_log log;
    run_log_start(*state, &log);
    for (int i = 1; i <= 100000; i++) {
        char line[200];
        int n = snprintf(line, sizeof line,
                         " iteration %8d/ 100000 | elapsed time per iteration (ms): %.1f | grad "
                         "norm: %.3f |",
                         i, i % 2 ? 1990.0 : 2010.0, i == 77777 ? 50.0 : 1.0);
        assert_true(run_log_line(&log, (struct str){line, (size_t)n}));
    }
    struct run_summary s = run_log_summary(*state, &log);
    assert_int_equal(log.seen, 100000);
    assert_true(log.steps.n <= RUN_LOG_STEPS && log.steps.n > RUN_LOG_STEPS / 4);
    assert_true(s.step_s >= 1.99 && s.step_s <= 2.01 && s.grad_norm_max_over_median == 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(megatron_lines_are_read_behind_a_launchers_prefix),
        cmocka_unit_test(bridge_states_the_throughput_beside_the_iteration),
        cmocka_unit_test(automodel_lines_and_jsonl_state_throughput_and_memory),
        cmocka_unit_test(automodels_benchmark_states_time_and_mfu),
        cmocka_unit_test(timers_of_megatron_state_parts_of_the_step),
        cmocka_unit_test(a_long_log_takes_no_more_room),
        cmocka_unit_test(what_is_no_log_is_none),
    };
    return cmocka_run_group_tests(tests, unit_open_arena, unit_close_arena);
}
