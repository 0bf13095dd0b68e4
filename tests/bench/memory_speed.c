/* SPDX-License-Identifier: Apache-2.0 */
/* memory_speed: microseconds of one memory estimate of a 94-layer MoE model and of a 61-layer MLA
   model for several pipelines. Best of five. */
#include <stdio.h>

#include "base/units.h"
#include "bench.h"
#include "cost/cost.h"

enum { ROUNDS = 5, CALLS = 5000 };

static struct config attention_model(void)
{
    struct config c = bench_config();
    c.machine = (struct machine){.compute_capability = 9.0, .capacity_bytes = 77 * GIB};
    c.knobs.ce_fusion = CE_TE;
    c.knobs.main_param_bytes = c.knobs.exp_avg_bytes = c.knobs.exp_avg_sq_bytes = 4;
    c.knobs.grad_accumulation_fusion = c.knobs.transformer_engine = true;
    return c;
}

static struct config latent_model(void)
{
    struct config c = attention_model();
    c.model.num_layers = 61;
    c.model.hidden = 7168;
    c.model.heads = c.model.groups = 128;
    c.model.mla = true;
    c.model.q_lora = 1536, c.model.kv_lora = 512;
    c.model.qk_nope = 128, c.model.qk_rope = 64, c.model.mla_v = 128;
    c.model.dense_ffn = 18432;
    c.model.experts = 256, c.model.expert_ffn = 2048, c.model.shared_ffn = 2048;
    c.model.mtp_layers = c.model.n_mtp_kinds = 1;
    c.model.mtp_kinds[0] = (struct layer_kind){MIXER_MLA, FFN_MOE};
    c.model.n_kinds = 2;
    c.model.kinds[0] = (struct layer_kind){MIXER_MLA, FFN_DENSE};
    c.model.kinds[1] = (struct layer_kind){MIXER_MLA, FFN_MOE};
    for (int i = 3; i < 61; i++)
        c.model.layers[i] = 1;
    return c;
}

static double call_us(const struct config *c)
{
    struct memory_estimate e;
    double start = bench_now();
    for (int i = 0; i < CALLS; i++)
        memory_estimate(c, &e, NULL);
    return (bench_now() - start) / CALLS * 1e6;
}

static void measure(const char *name, struct config c)
{
    static const int pipelines[][2] = {{1, 1}, {4, 1}, {8, 1}, {8, 4}, {16, 2}, {32, 1}};
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        struct memory_estimate e;
        c.knobs.pp = pipelines[i][0], c.knobs.vpp = pipelines[i][1];
        if (!memory_estimate(&c, &e, NULL)) continue;
        double best = 1e9;
        for (int k = 0; k < ROUNDS; k++) {
            double us = call_us(&c);
            best = us < best ? us : best;
        }
        printf("%-10s %4d %4d %10.1f %10.2f\n", name, c.knobs.pp, c.knobs.vpp, e.peak / GIB, best);
    }
}

int main(void)
{
    printf("%-10s %4s %4s %10s %10s\n", "model", "pp", "vpp", "peak, GiB", "us");
    measure("attention", attention_model());
    measure("latent", latent_model());
    return 0;
}
