/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a training log: medians lie within what was logged; and as a trace: parts are of 1.
 */
#include <stdlib.h>

#include "facts/gpu_trace.h"
#include "facts/line.h"
#include "facts/run_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_line(void *context, struct str line)
{
    gpu_trace_line(context, line);
}

static void fuzz_log(struct arena *a, struct str text)
{
    struct run_log log;
    struct str line;
    run_log_start(a, &log);
    while (str_split(&text, '\n', &line))
        run_log_line(&log, line);
    struct run_summary s = run_log_summary(a, &log);
    double most = log.average_s; /* what a benchmark says of all its steps stands for them */
    for (size_t i = 0; i < log.steps.n; i++)
        if (log.steps.items[i].step_s > most) most = log.steps.items[i].step_s;
    if (s.step_s > most || s.step_s < 0 || s.steady_steps > log.steps.n) abort();
}

static void fuzz_trace(struct arena *a, struct str text)
{
    struct gpu_trace t;
    struct line_cutter lines = line_cutter_new(a);
    gpu_trace_start(a, &t);
    gpu_trace_piece(&t, text);
    line_cut(&lines, text, take_line, &t);
    line_cut_end(&lines, take_line, &t);
    struct gpu_shares s = gpu_trace_shares(&t);
    double all = s.compute + s.expert_exchange + s.send_receive + s.exchange + s.copy + s.gap;
    if (all < 0 || all > 1 + 1e-9 || s.gap < 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(0);
    struct str text = {(const char *)data, size};
    if (!a) return 0;
    fuzz_log(a, text);
    fuzz_trace(a, text);
    arena_free(a);
    return 0;
}
