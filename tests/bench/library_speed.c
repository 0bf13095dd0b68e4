/* SPDX-License-Identifier: Apache-2.0 */
/* library_speed: microseconds of one estimate of a plan of DeepSeek-V3 through the library, a
   request of JSON in and an answer of JSON out: CPU time, best of five. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "moeplan.h"

enum { ROUNDS = 5, CALLS = 1000 };

static const char request[] =
    "{\"plan\":{\"moeplan\":1,\"framework\":\"megatron\",\"model\":\"deepseek-v3\",\"platform\":"
    "\"h100\",\"gpus\":1024,\"seq\":4096,\"gbs\":8192,\"mbs\":1,\"tp\":2,\"pp\":16,\"ep\":64,"
    "\"etp\":1,\"precision\":\"bf16\",\"moe_token_dispatcher_type\":\"flex\","
    "\"moe_flex_dispatcher_backend\":\"deepep\",\"recompute_granularity\":\"full\"}}";

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double estimate_us(struct moeplan *m)
{
    double start = cpu_seconds();
    for (int i = 0; i < CALLS; i++)
        moeplan_estimate(m, request);
    return (cpu_seconds() - start) / CALLS * 1e6;
}

int main(void)
{
    struct moeplan *m = moeplan_new();
    if (!m) return 2;
    const char *answer = moeplan_estimate(m, request);
    if (!strstr(answer, "\"step_s\"")) {
        fprintf(stderr, "no estimate: %s\n", answer);
        moeplan_free(m);
        return 2;
    }
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double us = estimate_us(m);
        best = us < best ? us : best;
    }
    printf("an estimate through the library: %.0f us\n", best);
    moeplan_free(m);
    return 0;
}
