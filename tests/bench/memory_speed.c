/* SPDX-License-Identifier: Apache-2.0 */
/* memory_speed: microseconds of one memory estimate of a 94-layer MoE model and of a 61-layer MLA
   model for several pipelines. Best of five. */
#include <stdio.h>
#include <time.h>

#include "cost/cost.h"

enum { ROUNDS = 5, CALLS = 5000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct config attention_model(void)
{
    struct config c = {.framework = FRAMEWORK_MEGATRON, .machine_known = true};
    c.machine = (struct machine){.compute_capability = 9.0, .capacity_bytes = 77 * 1073741824.0};
    c.model = (struct model_shape){.num_layers = 94,
                                   .hidden = 4096,
                                   .heads = 64,
                                   .groups = 4,
                                   .head_dim = 128,
                                   .v_head_dim = 128,
                                   .gated = true,
                                   .vocab = 151936,
                                   .vocab_divisible_by = 128,
                                   .experts = 128,
                                   .topk = 8,
                                   .expert_ffn = 1536,
                                   .n_kinds = 1,
                                   .kinds = {{MIXER_ATTENTION, FFN_MOE}}};
    c.knobs = (struct knobs){.gpus = 256,
                             .tp = 2,
                             .pp = 1,
                             .vpp = 1,
                             .cp = 1,
                             .ep = 8,
                             .etp = 1,
                             .mbs = 1,
                             .gbs = 2048,
                             .seq = 4096,
                             .sequence_parallel = true,
                             .precision = PREC_BF16,
                             .dispatcher = DISPATCH_ALLTOALL,
                             .ce_fusion = CE_TE,
                             .grad_bytes = 4,
                             .main_param_bytes = 4,
                             .exp_avg_bytes = 4,
                             .exp_avg_sq_bytes = 4,
                             .distributed_optimizer = true,
                             .grad_accumulation_fusion = true,
                             .transformer_engine = true};
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
    double start = now();
    for (int i = 0; i < CALLS; i++)
        memory_estimate(c, &e, NULL);
    return (now() - start) / CALLS * 1e6;
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
        printf("%-10s %4d %4d %10.1f %10.2f\n", name, c.knobs.pp, c.knobs.vpp,
               e.peak / 1073741824.0, best);
    }
}

int main(void)
{
    printf("%-10s %4s %4s %10s %10s\n", "model", "pp", "vpp", "peak, GiB", "us");
    measure("attention", attention_model());
    measure("latent", latent_model());
    return 0;
}
