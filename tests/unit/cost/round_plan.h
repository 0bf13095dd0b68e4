/* SPDX-License-Identifier: Apache-2.0 */
/* A small model on a machine of round numbers whose coefficients are all ideal, so that a test can
   work every term out by hand. */
#ifndef MOEPLAN_TESTS_ROUND_PLAN_H
#define MOEPLAN_TESTS_ROUND_PLAN_H

#include <math.h>

#include "cost_unit.h"
#include "unit/plan_text.h"

/* Sets a coefficient of the machine. */
static inline void coefficient(struct config *c, const char *name, double value)
{
    struct coefficient *x = c->machine.coefficients;
    int i = 0;
    while (i < c->machine.n_coefficients && !str_is(x[i].name, name))
        i++;
    if (i == c->machine.n_coefficients) c->machine.n_coefficients++;
    x[i] = (struct coefficient){str_of(name), value, value, value};
}

/* Rates of 1e15 FLOP/s, and 1e12, 1e11 and 1e10 B/s of HBM, NVLink and a NIC, all reached; no
   host, no gaps, no starts, nothing hidden. A GEMM whose operands take half of its FLOPs' time is 4
   % longer than they are: cbrt(1 + 1/8). */
static inline void use_round_machine(struct config *c)
{
    static const char *const ones[] = {"gemm_bf16",
                                       "gemm_fp8",
                                       "gemm_mxfp8",
                                       "grouped_training",
                                       "attention",
                                       "attention_forward",
                                       "attention_backward",
                                       "hbm_stream",
                                       "activation_passes",
                                       "bias_passes",
                                       "nvlink",
                                       "nic",
                                       "nic_bulk",
                                       "dispatch",
                                       "dispatch_across",
                                       "grouped_training_low",
                                       "grouped_fp8",
                                       "nccl_nvlink",
                                       "hybridep_nic",
                                       "hybridep_nvlink",
                                       "deepep_nvlink",
                                       "quantise_delayed",
                                       "quantise_mxfp8",
                                       "dummy_wgrads",
                                       "adam_expansion"};
    static const char *const zeros[] = {"gemm_tail",
                                        "gemm_start_s",
                                        "gemm_fp8_start_s",
                                        "gemm_inner",
                                        "gemm_fp8_inner",
                                        "grouped_fp8_inner",
                                        "grouped_pad",
                                        "attention_start_s",
                                        "attention_forward_tile",
                                        "attention_backward_tile",
                                        "attention_softmax",
                                        "attention_backward_softmax",
                                        "nvlink_few",
                                        "nvlink_ramp_s",
                                        "throttling",
                                        "throttling_low",
                                        "host_op_s",
                                        "gpu_gap_s",
                                        "sync_s",
                                        "step_s",
                                        "straggling",
                                        "routing_spread",
                                        "dp_window",
                                        "dp_contention",
                                        "fsdp_hidden"};
    c->machine = (struct machine){.compute_capability = 9,
                                  .gpus_per_node = 8,
                                  .nvlink_domain = 8,
                                  .capacity_bytes = 80 * GIB,
                                  .peak_bf16 = 1e15,
                                  .peak_fp8 = 2e15,
                                  .sms = 100,
                                  .hbm_bytes_per_s = 1e12,
                                  .nvlink_bytes_per_s = 1e11,
                                  .nic_bytes_per_s = 1e10,
                                  .pcie_bytes_per_s = 1e10};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        coefficient(c, ones[i], 1);
    coefficient(c, "quantise", 4);
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        coefficient(c, zeros[i], 0);
}

/* Seconds of one product on it, of bf16 operands: its FLOPs beside its bytes. */
static inline double round_gemm(double rows, double out, double in, double out_bytes)
{
    double flops = 2 * rows * out * in / 1e15;
    double bytes = (2 * (rows * in + out * in) + out_bytes * rows * out) / 1e12;
    return cbrt(flops * flops * flops + bytes * bytes * bytes);
}

/* Four layers of width 1024, attention with 8 heads of 128, SwiGLU of 4096, and a vocabulary of
   32,768 on 8 GPUs, one sequence of 4096 tokens a microbatch, eight microbatches. `model` and
   `plan` go over it: "num_moe_experts: 8, …" and lines. */
static inline struct config *round_plan(struct arena *a, const char *framework, const char *model,
                                        const char *plan)
{
    struct str text = arena_printf(
        a,
        "moeplan: 1\nframework: %s\nplatform: h100\ngpus: 8\nseq: 4096\ngbs: 64\nmbs: 1\n"
        "precision: bf16\nuse_distributed_optimizer: true\nmoe_router_force_load_balancing: true\n"
        "moe_token_dispatcher_type: alltoall\nattention_backend: flash\n"
        "overlap_grad_reduce: false\noverlap_param_gather: false\n%s\n"
        "model: {num_layers: 4, hidden_size: 1024, num_attention_heads: 8, num_query_groups: 8, "
        "kv_channels: 128, ffn_hidden_size: 4096, vocab_size: 32768, hidden_dropout: 0.0, "
        "attention_dropout: 0.0, qk_layernorm: false, add_bias_linear: false%s%s}\n",
        framework, plan, *model ? ", " : "", model);
    struct config *c = config_of(text_facts(a, "plan", text));
    use_round_machine(c);
    return c;
}

/* Every layer has 8 experts of 512, of which a token meets 2. */
#define EIGHT_EXPERTS "num_moe_experts: 8, moe_router_topk: 2, moe_ffn_hidden_size: 512"

#endif
