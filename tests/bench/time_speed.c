/* SPDX-License-Identifier: Apache-2.0 */
/* time_speed: microseconds of one step-time estimate of a 94-layer MoE model for several pipelines,
   whole and with the layers' times kept, as a search does. Best of five. */
#include <stdio.h>

#include "bench.h"
#include "cost/time.h"

enum { ROUNDS = 5, CALLS = 2000 };

static struct config example(int pp, int vpp)
{
    struct config c = bench_config();
    c.machine = (struct machine){.gpus_per_node = 8,
                                 .nvlink_domain = 8,
                                 .peak_bf16 = 989e12,
                                 .peak_fp8 = 1979e12,
                                 .hbm_bytes_per_s = 3.35e12,
                                 .nvlink_bytes_per_s = 450e9,
                                 .nic_bytes_per_s = 50e9};
    c.knobs.pp = pp, c.knobs.vpp = vpp;
    c.knobs.overlap_grad_reduce = c.knobs.overlap_param_gather = true;
    c.knobs.account_embedding = c.knobs.account_loss = pp > 1;
    return c;
}

static double whole_us(const struct config *c)
{
    struct time_estimate t;
    double start = bench_now();
    for (int i = 0; i < CALLS; i++)
        time_estimate(c, &t, NULL);
    return (bench_now() - start) / CALLS * 1e6;
}

static double kept_us(const struct config *c)
{
    struct time_layers layers;
    struct time_estimate t;
    time_layers_init(c, &layers);
    double start = bench_now();
    for (int i = 0; i < CALLS; i++)
        time_estimate_layers(&layers, c, &t, NULL);
    return (bench_now() - start) / CALLS * 1e6;
}

int main(void)
{
    static const int pipelines[][2] = {{1, 1}, {4, 1}, {8, 1}, {8, 4}, {16, 2}, {32, 1}, {32, 3}};
    printf("%4s %4s %12s %12s %12s\n", "pp", "vpp", "step, s", "whole, us", "kept, us");
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        struct config c = example(pipelines[i][0], pipelines[i][1]);
        struct time_estimate t;
        if (!time_estimate(&c, &t, NULL)) continue;
        double whole = 1e9, kept = 1e9;
        for (int k = 0; k < ROUNDS; k++) {
            double a = whole_us(&c), b = kept_us(&c);
            whole = a < whole ? a : whole;
            kept = b < kept ? b : kept;
        }
        printf("%4d %4d %12.3f %12.2f %12.2f\n", c.knobs.pp, c.knobs.vpp, t.step, whole, kept);
    }
    return 0;
}
