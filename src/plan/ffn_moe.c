/* SPDX-License-Identifier: Apache-2.0 */
/* Mixture of experts: router, shared experts, projections to a latent width, routed experts. */
#include "base/larger.h"
#include "plan/framework.h"
#include "plan/ops.h"

#include <math.h>

/* Both recomputed by the tag itself and by recomputing the whole MoE layer. */
#define FREED_MOE MOD_MOE
#define FREED_ACT (MOD_MOE | MOD_MOE_ACT | MOD_OPERATIONS)
#define FREED_SHARED (MOD_MOE | MOD_SHARED_EXPERTS)

/* Width that the routed experts see. */
static double width(const struct model_shape *m)
{
    return m->latent > 0 ? m->latent : m->hidden;
}

/* ---- weights ---- */

static void routed_weights(struct weights *w)
{
    const struct model_shape *m = w->m;
    double up = m->gated ? 2 : 1, inner = m->expert_ffn;
    int first = w->n;
    weights_add(w, LINEAR_EXPERTS_UP, CUT_OUTPUT, width(m), up * inner)->inner_out = true;
    weights_add(w, LINEAR_EXPERTS_DOWN, CUT_INPUT, inner, width(m))->inner_in = true;
    for (int i = first; i < w->n; i++)
        w->items[i].rows = ROWS_ROUTED, w->items[i].freed_by = FREED_MOE;
    if (m->add_bias) w->small[OWNER_EXPERTS] += m->experts * (up * inner + width(m));
}

/* The router computes in fp32 (moe_router_dtype), and no recipe quantises it. */
static void moe_weights(struct weights *w)
{
    const struct model_shape *m = w->m;
    double h = m->hidden, experts = m->experts;
    struct matrix *router = weights_add(w, LINEAR_OTHER, CUT_NOT, h, experts);
    router->rows = ROWS_RANK, router->numeric = NUMERIC_32, router->freed_by = FREED_MOE;
    if (m->shared_ffn > 0) weights_add_mlp(w, LINEAR_SHARED_FC1, h, m->shared_ffn, FREED_SHARED);
    int latents = w->n;
    if (m->latent > 0) {
        weights_add(w, LINEAR_LATENT_IN, CUT_NOT, h, m->latent);
        weights_add(w, LINEAR_LATENT_OUT, CUT_NOT, m->latent, h);
    }
    for (int i = latents; i < w->n; i++)
        w->items[i].rows = ROWS_RANK, w->items[i].freed_by = FREED_MOE;
    routed_weights(w);
    if (m->router_bias || m->add_bias) w->small[OWNER_REPLICATED] += experts;
    if (m->shared_gate) w->small[OWNER_REPLICATED] += h;
}

/* ---- work ---- */

/* Scores, top-k, probabilities and the maps of the permutation: small kernels in fp32. The hidden
   states are read and written once more. */
static void router_work(struct work *w)
{
    const struct model_shape *m = w->m;
    double tokens = w->t.tokens / config_sharers(w->c);
    double hidden = 2 * w->t.sp_tokens * m->hidden;
    double bytes = 24 * tokens * m->experts + 2 * hidden;
    uint32_t scope = SCOPE_MOE_ROUTER | SCOPE_MOE | SCOPE_FULL;
    double left = knobs_captured(&w->c->knobs) & SCOPE_FULL ? 0 : 1;
    work_stream(w, bytes, 2 * bytes)->freed_by = FREED_MOE;
    work_host(w, 16, scope, left)->freed_by = FREED_MOE;
    work_repeat(w, MOD_SHARED_EXPERTS, 0, 6);
    if (m->shared_ffn == 0) return;
    work_activation(w, w->t.tokens, m->shared_ffn / w->tp)->freed_by = FREED_SHARED;
    work_tp(w)->freed_by = FREED_MOE;
    work_host(w, 8, scope, left)->freed_by = FREED_MOE;
}

/* Experts with biases run eagerly, tensor by tensor: bytes of what each kernel reads and writes.
   Forward: both halves of the inner rows clamped and joined again; the outer ones with bias times
   probability in fp32 added, joined and cast. Backward: the clamp's mask and the halves' gradients
   joined; of the outer rows casts both ways, the pieces joined, and two products that are added up
   (megatron/core/transformer/moe/experts.py bias_act_func, _apply_bias). AutoModel compiles the
   clamp into its gate and adds the inner bias apart (nemo_automodel/components/moe/experts.py).
   Fused experts add and clamp in the product's end, and only add up the biases' gradients. */
static void bias_work(struct work *w, double inner, double outer)
{
    bool compiled = config_traits(w->c)->compiled_clamp;
    if (w->fused_experts) {
        work_stream(w, 0, 2 * (inner + outer))->freed_by = FREED_MOE;
        return;
    }
    double backward = (compiled ? 2 : 10) * inner + 40 * outer;
    struct stream *s = work_stream(w, 8 * inner + 28 * outer, backward);
    s->bias = true, s->freed_by = FREED_MOE;
}

/* A whole captured iteration without dropped tokens needs it (transformer_config.py:1870: a rank's
   capacity requires use_transformer_engine_op_fuser). */
static bool uses_op_fuser(const struct knobs *k)
{
    return k->op_fuser || ((knobs_captured(k) & SCOPE_FULL) && k->capacity_factor <= 0);
}

/* AutoModel's MXFP8 experts are fused too. */
bool experts_are_fused(const struct config *c, bool low)
{
    bool own = low && config_traits(c)->fused_mxfp8_experts;
    return (uses_op_fuser(&c->knobs) || own) && c->knobs.precision == PREC_MXFP8;
}

/* Rows whose whole multiple each expert's are: the grouped kernels behind the op fuser take 256,
   those that quantise 16, 32 with MXFP8 and 128 with NVFP4, where the kernels do not have to know
   how long an expert is (megatron/core/transformer/moe/moe_utils.py
   get_align_size_for_quantization, fp8_utils.py, fp4_utils.py). */
static double rows_multiple(const struct config *c, bool low)
{
    const struct knobs *k = &c->knobs;
    if (uses_op_fuser(k) || experts_are_fused(c, low)) return 256;
    if (!low) return 1;
    return k->precision == PREC_NVFP4 ? 128 : k->precision == PREC_MXFP8 ? 32 : 16;
}

/* Half of the last multiple is for nothing, and an expert has one at least. */
double experts_filled_up(const struct config *c, bool low, double rows)
{
    double multiple = rows_multiple(c, low), local = (double)c->model.experts / c->knobs.ep;
    if (rows <= 0 || multiple <= 1 || c->knobs.pad_to_capacity) return rows;
    return local * larger(multiple, rows / local + multiple / 2);
}

/* Turns of the loop that quantises one expert's rows: with delayed scaling and in NVFP4 one kernel
   has all experts (transformer_engine/pytorch/csrc/extensions/cast.cpp, multi_tensor_quantize_impl,
   split_quantize_nvfp4_impl). */
static double quantise_launches(const struct work *w)
{
    enum precision p = w->c->knobs.precision;
    return !w->low || p == PREC_FP8_DELAYED || p == PREC_NVFP4 ? 0 : 1;
}

/* A turn of PyTorch's loop finds its expert's tokens, picks them out and adds them to the output.
   Its backward makes the gradients of one expert's slice and of the tokens it picked in zeros as
   large as all local experts and all tokens, and adds those up: a write, and two reads and a write,
   in bf16 (nemo_automodel/components/moe/experts.py _forward_loop; torch select_backward,
   gather_backward). One H100, 128 experts of 2048 x 768: 3.1 ms a turn. */
static void loop_work(struct work *w)
{
    const struct model_shape *m = w->m;
    const struct knobs *k = &w->c->knobs;
    enum { TURN_OPS = 14, TURN_BACKWARD_OPS = 22 };
    double experts = (double)m->experts / k->ep, up = m->gated ? 2 : 1;
    double weights = experts * (up + 1) * width(m) * m->expert_ffn;
    double tokens = w->t.sp_tokens * (k->dispatcher == DISPATCH_TORCH ? k->ep : 1) * width(m);
    double filled = (knobs_trains_language(k) ? weights : 0) + tokens;
    work_stream(w, 0, experts * 4 * 2 * filled)->freed_by = FREED_MOE;
    struct host *host = work_host(w, experts * TURN_OPS, 0, 1);
    host->freed_by = FREED_MOE;
    host->backward = (double)TURN_BACKWARD_OPS / TURN_OPS;
}

bool experts_are_one_kernel(const struct config *c)
{
    return c->knobs.experts == EXPERTS_GROUPED;
}

/* The output is cast to fp32 (6 bytes an element) and added to its token's by scatter (12), where
   the law of exchanges has a read and a write; backward the gradient is gathered (8), cast (6), and
   added up over a token's rows (GroupedExperts._forward_grouped_mm in AutoModel's
   components/moe/experts.py; torch index_backward, scatter_add_). */
double experts_scattered(const struct config *c, double elements)
{
    bool own = experts_are_one_kernel(c) && c->knobs.dispatcher == DISPATCH_TORCH;
    return own ? (6 + 12 - 4) * elements : 0;
}

/* Experts outside one kernel are launched from loops. Forward each of two linears has a product and
   quantises its input; backward a product for each gradient, that of the weights only where it is
   trained, and the output's gradient quantised
   (transformer_engine/pytorch/module/grouped_linear.py; common/gemm/cublaslt_gemm.cu,
   multi_stream_cublas_gemm). */
static void launch_experts(struct work *w)
{
    if (w->c->knobs.experts == EXPERTS_SLICES) {
        loop_work(w);
        return;
    }
    double experts = (double)w->m->experts / w->c->knobs.ep, quantise = 2 * quantise_launches(w);
    struct host *host = work_host(w, 0, SCOPE_MOE | SCOPE_FULL, 0);
    host->freed_by = FREED_MOE;
    double products = knobs_trains_language(&w->c->knobs) ? 4 : 2;
    host->launches = experts * (2 + quantise);
    host->backward = (products + quantise) / (2 + quantise);
}

/* The fused experts' MXFP8 kernels gate, clamp and quantise in the GEMM's epilogue; only the
   gradient of the gate still makes passes of its own. */
static void experts_work(struct work *w)
{
    const struct model_shape *m = w->m;
    const struct knobs *k = &w->c->knobs;
    double up = m->gated ? 2 : 1, rows = w->t.rows, inner = (double)m->expert_ffn / k->etp;
    struct stream *s = w->fused_experts ? work_stream(w, 0, 2 * up * rows * inner)
                                        : work_activation(w, rows, inner);
    s->freed_by = FREED_ACT;
    work_repeat(w, MOD_MOE_ACT, 0, 2);
    if (m->add_bias) bias_work(w, up * rows * inner, rows * width(m));
    struct host *host = work_host(w, w->low ? 20 : 12, SCOPE_MOE | SCOPE_FULL, 0);
    host->freed_by = FREED_MOE;
    if (!w->fused_experts && !experts_are_one_kernel(w->c)) launch_experts(w);
    double scattered = experts_scattered(w->c, rows * width(m));
    if (scattered <= 0) return;
    struct stream *added = work_stream(w, scattered, scattered);
    added->eager = true, added->freed_by = FREED_MOE;
}

/* Checkpointing the whole layer reads the three generators' states in the forward pass, reads and
   sets them before it repeats the layer, and sets them back
   (megatron/core/tensor_parallel/random.py CheckpointFunction). */
static const double generator_ops = 12;

static void moe_work(struct work *w)
{
    w->fused_experts = experts_are_fused(w->c, w->low);
    router_work(w);
    experts_work(w);
    work_repeat(w, MOD_MOE, 0, generator_ops);
    work_exchange(w, (struct exchange){.kind = EXCHANGE_EP, .width = width(w->m)})->freed_by =
        FREED_MOE;
}

/* ---- saved tensors ---- */

static void shared_saved(struct saved_list *l)
{
    double f = l->m->shared_ffn / l->tp, up = l->m->gated ? 2 : 1, tokens = l->t.tokens;
    if (f <= 0) return;
    saved_add(l, "shared FC1 output", tokens, up * f, l->inner)->freed_by = FREED_SHARED;
    struct saved *activation = saved_add(l, "shared activation", tokens, f, l->gemm);
    activation->freed_by = FREED_SHARED | MOD_OPERATIONS,
    activation->input_of = LINEAR_BIT(LINEAR_SHARED_DOWN);
}

/* PyTorch's exchange in AutoModel adds up what the experts make of all tokens of the group, in
   fp32, over the group (nemo_automodel/components/moe/experts.py GroupedExperts.forward): its
   backward has that gradient twice, and that of the routed rows, before the experts' own. */
static double gathered_backward(const struct saved_list *l)
{
    const struct knobs *k = &l->c->knobs;
    if (k->dispatcher != DISPATCH_TORCH || k->ep == 1) return 0;
    return 4 * width(l->m) * (2 * k->ep * l->t.sp_tokens + l->t.rows);
}

/* The probability is applied before FC2 (memory-efficient permutation), so FC2's output is not
   kept; an activation that is not fused with it is kept before and after. HybridEP's dispatch
   output outlives the permuted copy in measured runs (coefficient hybridep_copies), unless what is
   kept goes into a stash. */
static void experts_saved(struct saved_list *l)
{
    const struct model_shape *m = l->m;
    const struct knobs *k = &l->c->knobs;
    double f = (double)m->expert_ffn / k->etp, up = m->gated ? 2 : 1, rows = l->t.rows;
    double bytes = l->wide, gemm = l->gemm;
    int first = l->n;
    struct saved *s = saved_add(l, "permuted tokens", rows, width(m), gemm);
    s->freed_by = FREED_MOE, s->offloaded_by = MOD_EXPERT_FC1 | MOD_FUSED_GROUP_MLP;
    s->input_of = LINEAR_BIT(LINEAR_EXPERTS_UP);
    s = saved_add(l, "expert FC1 output", rows, up * f, l->inner);
    s->freed_by = FREED_MOE, s->offloaded_by = MOD_MOE_ACT | MOD_FUSED_GROUP_MLP;
    s = saved_add(l, "expert activation", rows, f, gemm);
    s->freed_by = FREED_ACT, s->offloaded_by = MOD_FUSED_GROUP_MLP;
    s->input_of = LINEAR_BIT(LINEAR_EXPERTS_DOWN);
    if (!k->act_fusion)
        saved_add(l, "expert activation, unweighted", rows, f, bytes)->freed_by = FREED_ACT;
    saved_add(l, "expert probabilities", rows, 1, 4)->freed_by = FREED_MOE;
    if (l->t.dispatch_copies > 0) {
        s = saved_add(l, "dispatch output", rows * l->t.dispatch_copies, width(m), bytes);
        s->freed_by = FREED_MOE, s->dispatched = true;
    }
    for (int i = first; i < l->n; i++)
        l->items[i].routed = true;
    double buffers = knobs_rank_capacity(k);
    l->ffn_backward = larger(bytes * (buffers > 0 ? buffers : 1) * rows * (width(m) + (1 + up) * f),
                             gathered_backward(l));
}

/* The router keeps its input whether it is trained or not
   (megatron/core/transformer/moe/moe_utils.py RouterGatingLinearFunction). Router logits, scores
   and probabilities in fp32, and the row maps of permutation: 12 and 8 bytes a token and expert.
   The router's CUDA graph holds the norm before it and the shared experts too
   (megatron/core/transformer/transformer_layer.py: _te_cuda_graph_capture). */
static void moe_saved(struct saved_list *l)
{
    const struct model_shape *m = l->m;
    double tokens = l->t.sp_tokens;
    int first = l->n;
    saved_residual(l, false, false, 0);
    saved_add(l, "router logits and scores", tokens, m->experts, 12)->freed_by =
        FREED_MOE | MOD_OPERATIONS;
    shared_saved(l);
    for (int i = first; i < l->n; i++)
        l->items[i].captured_by = SCOPE_MOE_ROUTER;
    struct saved *maps = saved_add(l, "permutation maps", tokens, m->experts, 8);
    maps->freed_by = FREED_MOE, maps->captured_by = SCOPE_MOE_PREPROCESS;
    if (m->latent > 0)
        saved_add(l, "latent in and out", tokens, 2.0 * m->latent, l->wide)->freed_by = FREED_MOE;
    experts_saved(l);
    for (int i = first; i < l->n; i++)
        l->items[i].late = true;
    saved_dropout(l);
}

const struct ffn_kind ffn_moe = {"MoE", SCOPE_MOE, moe_weights, moe_work, moe_saved};
