/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a training log: medians lie within what was logged. */
#include <stdlib.h>

#include "facts/run_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(0);
    struct run_log log;
    if (!a) return 0;
    if (run_log_read(a, (struct str){(const char *)data, size}, &log)) {
        struct run_summary s = run_log_summary(a, &log);
        double most = 0;
        for (size_t i = 0; i < log.steps.n; i++)
            if (log.steps.items[i].step_s > most) most = log.steps.items[i].step_s;
        if (s.step_s > most || s.step_s < 0 || s.steady_steps > log.steps.n) abort();
    }
    arena_free(a);
    return 0;
}
