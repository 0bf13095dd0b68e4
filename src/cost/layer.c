/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a layer: each entry of the lists that describe it (plan/ops.h), one by one. */
#include "cost/layer.h"

#include <math.h>

#include "base/larger.h"
#include "cost/comm.h"
#include "cost/memory.h"
#include "plan/framework.h"
#include "plan/ops.h"
#include "plan/peft.h"

/* FP32 GEMMs run as TF32, at half of BF16's rate on all these chips. */
static const double fp32_slower = 2;

/* ---- weights ---- */

/* A norm that is one module with its linear writes FP8 itself where the amax is known before: with
   delayed scaling. Of the other recipes only MXFP8 has such a norm, cuDNN's, which a variable of
   the environment asks for; no activation function of Megatron-core's is Transformer Engine's
   (transformer_engine/pytorch/csrc/extensions/normalization.cpp, rmsnorm_fwd). An adapter needs
   the norm's output as it is. */
static bool norm_quantises(const struct knobs *k, enum linear_role role)
{
    static const uint32_t behind_norm = LINEAR_BIT(LINEAR_QKV) | LINEAR_BIT(LINEAR_Q_UP) |
                                        LINEAR_BIT(LINEAR_KV_UP) | LINEAR_BIT(LINEAR_MAMBA_IN) |
                                        LINEAR_BIT(LINEAR_DELTA_IN) | LINEAR_BIT(LINEAR_FC1);
    return k->precision == PREC_FP8_DELAYED && k->transformer_engine &&
           behind_norm & LINEAR_BIT(role) && !linear_has_adapter(k, role);
}

struct linear layer_linear(const struct timing *t, const struct matrix *x, bool fused_experts)
{
    const struct model_shape *m = &t->config->model;
    const struct knobs *k = &t->config->knobs;
    double copies = larger(x->groups, k->tp) - x->groups;
    struct linear l = {.rows = x->rows == ROWS_RANK ? t->tokens_rank : t->tokens,
                       .out = matrix_out(x, k),
                       .in = matrix_in(x, k),
                       .wide = x->numeric != NUMERIC_LOW,
                       .frozen = !knobs_trains_language(k),
                       .quantised_in = norm_quantises(k, x->role)};
    if (x->groups > 0) l.out += copies * x->group_width / k->tp;
    if (!matrix_is_routed(x)) return l;
    l.experts = (double)m->experts / k->ep;
    l.rows = t->rows / l.experts;
    l.one_kernel = fused_experts || experts_are_one_kernel(t->config);
    l.quantised_in = fused_experts && x->inner_in;
    l.quantised_out = fused_experts && x->inner_out;
    return l;
}

static double fp32_forward(const struct timing *t, struct linear l)
{
    struct pass one = {0}, unused = {0};
    kernel_linear(t, l, &one, &unused);
    return fp32_slower * one.gemm;
}

/* The router's gradients are two more GEMMs of the same size. */
static void add_fp32(struct linear l, const struct timing *t, struct layer_time *x)
{
    double forward = fp32_forward(t, l);
    x->forward.gemm += forward;
    x->backward.gemm += (l.frozen ? 1 : 2) * forward;
}

/* ---- work ---- */

static double stream_rate(const struct timing *t, const struct stream *s)
{
    if (s->eager) return 1 / t->f.activation_passes;
    return s->bias ? t->f.bias_passes / t->f.activation_passes : 1;
}

static void add_stream(const struct timing *t, const struct stream *s, struct layer_time *x)
{
    double rate = stream_rate(t, s);
    x->forward.memory += rate * kernel_stream(t, s->forward);
    x->backward.memory += rate * kernel_stream(t, s->backward);
}

static void add_core(const struct timing *t, const struct core *c, struct layer_time *x)
{
    struct pass forward = {0}, backward = {0};
    kernel_attention(t, c, &forward, &backward);
    pass_add(&x->forward, &forward, 1);
    if (!c->forward_only) pass_add(&x->backward, &backward, 1);
}

/* In a captured part operations run without the host but for those left. */
static double launched(const struct timing *t, const struct host *h)
{
    if (t->captured & h->scope) return smaller(h->ops, h->left);
    return h->ops + t->f.host_launch * h->launches;
}

/* The GPU's gaps between experts' kernels are in those kernels' own law. */
static void add_ops(const struct timing *t, const struct host *h, struct layer_time *x)
{
    double ops = launched(t, h);
    double backward = h->backward > 0 ? h->backward : t->f.backward_ops;
    x->forward.ops += ops;
    x->backward.ops += backward * ops;
    x->forward.gpu_ops += h->ops;
    x->backward.gpu_ops += backward * h->ops;
}

/* A LoRA adapter beside a linear: its two products are too narrow for more than the way of their
   rows through memory. Forward: the input, and the output written and added (4 times out);
   backward: the gradient twice, the input, and its gradient written and added. Dropout reads and
   writes the input, and its gradient. */
static void add_adapter(const struct timing *t, const struct linear *l, struct layer_time *x)
{
    double rows = larger(1, l->experts) * l->rows;
    double dropped = t->config->knobs.lora_dropout > 0 ? 2 : 0;
    struct stream streams = {.forward = 2 * rows * ((1 + dropped) * l->in + 4 * l->out),
                             .backward = 2 * rows * ((5 + dropped) * l->in + 2 * l->out)};
    struct host host = {.ops = dropped > 0 ? 6 : 5, .scope = SCOPE_FULL};
    add_stream(t, &streams, x);
    add_ops(t, &host, x);
}

/* Bridge's adapters run apart from their linear's own collectives: beside one that cuts its input
   the output is gathered, and its gradient in backward; beside one that cuts its output the input
   is, and that gradient scattered, unless the linear hands its own over, which it does not where
   it overlaps them. Asked for an all-to-all, the former needs its own tokens of the output alone
   (bridge/peft/utils.py, ParallelLinearAdapter). */
static void add_adapter_exchange(const struct timing *t, const struct matrix *m,
                                 struct layer_time *x)
{
    const struct knobs *k = &t->config->knobs;
    if (config_traits(t->config)->adapters_cut_with_linear || matrix_is_routed(m)) return;
    if (m->cut == CUT_NOT || (m->cut == CUT_OUTPUT && !k->tp_comm_overlap)) return;
    double bytes = 2 * t->tokens * (m->cut == CUT_INPUT ? m->out : m->in);
    if (m->cut == CUT_INPUT && k->lora_all_to_all) bytes /= k->tp;
    double one = comm_collective(t, bytes, k->tp, k->tp);
    x->forward.tp += one;
    x->backward.tp += one;
}

/* A packed weight is read so and written wide for every product with it: forward, repeated
   forward, and the input's gradient. The product's own kernel reads it again. */
static bool is_widened(const struct timing *t, const struct matrix *m)
{
    return knobs_packs(&t->config->knobs) && !matrix_is_routed(m);
}

static double widening_bytes(const struct timing *t, const struct linear *l)
{
    const struct knobs *k = &t->config->knobs;
    return (2 + packed_bytes(k) + packed_scale_bytes(k)) * l->in * l->out;
}

static void add_widening(const struct timing *t, const struct linear *l, struct layer_time *x)
{
    double bytes = widening_bytes(t, l);
    struct stream streams = {.forward = bytes, .backward = bytes};
    struct host host = {.ops = 2, .scope = SCOPE_FULL};
    add_stream(t, &streams, x);
    add_ops(t, &host, x);
}

static const uint32_t shared_linears =
    LINEAR_BIT(LINEAR_SHARED_FC1) | LINEAR_BIT(LINEAR_SHARED_GATE) | LINEAR_BIT(LINEAR_SHARED_UP) |
    LINEAR_BIT(LINEAR_SHARED_DOWN);

/* A linear of the shared expert, once more as what hides the exchange. */
static void add_shared(const struct timing *t, struct linear l, struct layer_time *x)
{
    struct pass forward = {0}, backward = {0};
    kernel_linear(t, l, &forward, &backward);
    x->forward.shared += pass_kernels(&forward);
    x->backward.shared += pass_kernels(&backward);
}

static void add_weights(const struct timing *t, const struct weights *w, bool fused_experts,
                        struct layer_time *x)
{
    struct pass unused = {0};
    for (int i = 0; i < w->n; i++) {
        const struct matrix *own = &w->items[i];
        struct linear l = layer_linear(t, own, fused_experts);
        if (own->numeric == NUMERIC_32) {
            add_fp32(l, t, x);
            continue;
        }
        kernel_linear(t, l, &x->forward, own->forward_only ? &unused : &x->backward);
        if (LINEAR_BIT(own->role) & shared_linears) add_shared(t, l, x);
        if (linear_has_adapter(&t->config->knobs, own->role)) {
            add_adapter(t, &l, x);
            add_adapter_exchange(t, own, x);
        }
        if (is_widened(t, own)) add_widening(t, &l, x);
    }
}

/* Permutation, exchange, and with expert TP a gather and a scatter of the routed rows. */
struct dispatch {
    struct stream moved;
    struct host prepare, move;
    double exchange, spread; /* seconds */
};

static struct dispatch dispatch_of(const struct timing *t, const struct exchange *e)
{
    double etp = t->config->knobs.etp, width = e->width;
    double moved = t->law.passes * 2 * t->rows * width;
    return (struct dispatch){.moved = {.forward = moved, .backward = moved},
                             .prepare = {.ops = t->law.prepare_ops,
                                         .scope = SCOPE_MOE_PREPROCESS | SCOPE_MOE | SCOPE_FULL},
                             .move = {.ops = t->law.move_ops, .scope = SCOPE_MOE | SCOPE_FULL},
                             .exchange = comm_dispatch(t, width),
                             .spread = 2 * comm_collective(t, 2 * t->routed * width, etp, etp)};
}

static void add_dispatch(const struct timing *t, const struct exchange *e, struct layer_time *x)
{
    struct dispatch d = dispatch_of(t, e);
    add_stream(t, &d.moved, x);
    add_ops(t, &d.prepare, x);
    add_ops(t, &d.move, x);
    x->forward.ep += d.exchange;
    x->backward.ep += d.exchange;
    x->forward.tp += d.spread;
    x->backward.tp += d.spread;
    if (!(t->captured & SCOPE_FULL)) x->syncs += t->law.syncs;
}

/* Backward's three collectives for two of forward's: the input's gather runs beside the gradient of
   the input, the gradient's scatter beside that of the weight. What is hidden slows those products
   as collectives of data parallelism do. */
double layer_tp_backward(const struct timing *t, const struct exchange *e)
{
    const double all = 3;
    if (e->backward > 0) return e->backward;
    if (!knobs_trains_language(&t->config->knobs)) return e->forward;
    return t->f.tp_backward + t->f.dp_contention * (all - t->f.tp_backward);
}

/* Context parallelism runs beside attention's own kernels; backward carries the gradients of KV
   beside KV. */
static void add_exchange(const struct timing *t, const struct exchange *e, struct layer_time *x)
{
    double tp = t->config->knobs.tp, one;
    switch (e->kind) {
    case EXCHANGE_TP:
        one = comm_collective(t, e->bytes, tp, tp);
        x->forward.tp += e->forward * one;
        x->backward.tp += layer_tp_backward(t, e) * one;
        break;
    case EXCHANGE_CP:
        x->forward.cp += comm_context(t, e->ranks, e->kv, x->forward.attention);
        x->backward.cp += comm_context(t, e->ranks, 2 * e->kv, x->backward.attention);
        break;
    case EXCHANGE_HEADS:
        one = comm_heads(t, e->ranks, e->in) + comm_heads(t, e->ranks, e->out);
        x->forward.cp += one;
        x->backward.cp += one;
        break;
    case EXCHANGE_EP: add_dispatch(t, e, x); break;
    }
}

/* Cores come before the exchanges that run beside them. */
void layer_add_work(const struct timing *t, const struct work *w, struct layer_time *x)
{
    for (int i = 0; i < w->n_streams; i++)
        add_stream(t, &w->streams[i], x);
    for (int i = 0; i < w->n_cores; i++)
        add_core(t, &w->cores[i], x);
    for (int i = 0; i < w->n_scans; i++)
        kernel_scan(t, &w->scans[i], &x->forward, &x->backward);
    for (int i = 0; i < w->n_hosts; i++)
        add_ops(t, &w->hosts[i], x);
    for (int i = 0; i < w->n_exchanges; i++)
        add_exchange(t, &w->exchanges[i], x);
}

void layer_work(const struct timing *t, struct layer_kind kind, struct work *w)
{
    struct token_counts tokens = {t->tokens, t->tokens_pass, t->rows, 0};
    op_work(t->config, &tokens, t->low, kind, w);
}

/* The weights of a layer, listed in *own unless they are known. */
static const struct weights *weights_of(const struct timing *t, struct layer_kind kind,
                                        struct weights *own)
{
    const struct model_shape *m = &t->config->model;
    int at = t->known ? model_kind(m, kind) : -1;
    struct weights *x = at < 0 ? own : &t->known->weights[at];
    if (at < 0 || !x->m) op_weights(m, kind, false, x);
    return x;
}

/* ---- what recomputation of modules repeats, list by list in the same order ---- */

static void repeat_weights(const struct timing *t, const struct weights *w, bool fused_experts,
                           struct pass *again)
{
    struct pass unused = {0};
    for (int i = 0; i < w->n; i++) {
        const struct matrix *own = &w->items[i];
        if (!(t->repeated & own->freed_by)) continue;
        struct linear l = layer_linear(t, own, fused_experts);
        if (own->numeric == NUMERIC_32) {
            again->gemm += fp32_forward(t, l);
            continue;
        }
        kernel_linear(t, l, again, &unused);
        if (is_widened(t, own)) again->memory += kernel_stream(t, widening_bytes(t, &l));
    }
}

static void repeat_stream(const struct timing *t, const struct stream *s, struct pass *again)
{
    again->memory += stream_rate(t, s) * kernel_stream(t, s->forward);
}

static void repeat_core(const struct timing *t, const struct core *c, struct pass *again)
{
    struct pass unused = {0};
    kernel_attention(t, c, again, &unused);
}

static void repeat_ops(const struct timing *t, const struct host *h, struct pass *again)
{
    again->ops += launched(t, h);
    again->gpu_ops += h->ops;
}

static void repeat_exchange(const struct timing *t, const struct exchange *e, struct layer_time *x)
{
    double tp = t->config->knobs.tp;
    if (e->kind == EXCHANGE_HEADS)
        x->again.cp += comm_heads(t, e->ranks, e->in) + comm_heads(t, e->ranks, e->out);
    if (e->kind == EXCHANGE_TP) x->again.tp += e->forward * comm_collective(t, e->bytes, tp, tp);
    if (e->kind != EXCHANGE_EP) return;
    struct dispatch d = dispatch_of(t, e);
    repeat_stream(t, &d.moved, &x->again);
    repeat_ops(t, &d.prepare, &x->again);
    repeat_ops(t, &d.move, &x->again);
    x->again.ep += d.exchange;
    x->again.tp += d.spread;
    x->sync_again = true;
}

static void repeat_work(const struct timing *t, const struct work *w, struct layer_time *x)
{
    for (int i = 0; i < w->n_streams; i++)
        if (t->repeated & w->streams[i].freed_by) repeat_stream(t, &w->streams[i], &x->again);
    for (int i = 0; i < w->n_cores; i++)
        if (t->repeated & w->cores[i].freed_by) repeat_core(t, &w->cores[i], &x->again);
    for (int i = 0; i < w->n_hosts; i++)
        if (t->repeated & w->hosts[i].freed_by) repeat_ops(t, &w->hosts[i], &x->again);
    for (int i = 0; i < w->n_exchanges; i++)
        if (t->repeated & w->exchanges[i].freed_by) repeat_exchange(t, &w->exchanges[i], x);
    for (int i = 0; i < w->n_repeats; i++)
        if (t->repeated & w->repeats[i].module) {
            x->again.memory += kernel_stream(t, w->repeats[i].bytes);
            x->again.ops += w->repeats[i].ops;
        }
}

/* ---- layers ---- */

/* Activations that live on the CPU between the passes: the tensors of offloaded modules, or all of
 * an offloaded layer. */
static double offloaded_bytes(const struct timing *t, struct layer_kind kind)
{
    const struct knobs *k = &t->config->knobs;
    if (k->offload_modules == 0 && k->layers_offloaded == 0) return 0;
    struct memory_coefficients x = memory_coefficients_of(&t->config->machine);
    struct token_counts tokens = token_counts(t->config, &x);
    struct layer_memory memory;
    layer_measure(t->config, &tokens, kind, &memory);
    return memory.offloaded +
           memory.kept * smaller(1, (double)k->layers_offloaded / t->config->model.num_layers);
}

/* What PyTorch's checkpoint does not repeat: it stops once the last saved tensor is back, before
   the last GEMM, the unpermute and the combine. Megatron's own checkpoint runs the whole layer. */
static struct pass early_stop(const struct timing *t, const struct layer_time *x,
                              const struct weights *w)
{
    const struct matrix *last = &w->items[w->n - 1];
    struct pass tail = {0};
    if (!config_traits(t->config)->early_stop) return tail;
    if (!matrix_is_routed(last)) {
        tail.gemm = x->forward.gemm / 4;
        return tail;
    }
    tail.grouped = x->forward.grouped / (t->config->model.gated ? 3 : 2);
    tail.ep = x->forward.ep / 2;
    struct stream scattered = {.eager = true,
                               .forward = experts_scattered(t->config, t->rows * last->out)};
    tail.memory = kernel_stream(t, t->law.passes * t->rows * last->out);
    if (scattered.forward > 0)
        tail.memory += stream_rate(t, &scattered) * kernel_stream(t, scattered.forward);
    return tail;
}

static void repeat_whole(const struct timing *t, const struct weights *w, struct layer_time *x)
{
    if (w->n == 0) return;
    struct pass tail = early_stop(t, x, w);
    pass_add_since(&x->again, &x->forward, &tail);
    x->sync_again = true;
}

/* PyTorch's selective checkpointing keeps what attention, the exchange, reductions and the first of
   every two products put out (nemo_automodel/components/distributed/activation_checkpointing.py).
   Products inside Transformer Engine's own functions, which it does not see, are taken like
   PyTorch's. */
static void repeat_operations(struct layer_time *x)
{
    const struct pass *all = &x->forward;
    struct pass kept = {.gemm = all->gemm / 2,
                        .grouped = all->grouped / 2,
                        .quantise = all->quantise / 2,
                        .attention = all->attention,
                        .ep = all->ep,
                        .cp = all->cp,
                        .tp = all->tp / 2};
    pass_add_since(&x->again, all, &kept);
}

static bool repeats(const struct timing *t)
{
    return t->config->knobs.recompute == RECOMPUTE_FULL || t->repeated;
}

/* What recomputation repeats of a layer's weights and work. */
static void add_repeated(const struct timing *t, const struct weights *weights,
                         const struct work *work, struct layer_time *x)
{
    x->repeats = true;
    if (t->config->knobs.recompute == RECOMPUTE_FULL) {
        repeat_whole(t, weights, x);
        return;
    }
    if (t->repeated & MOD_OPERATIONS) {
        repeat_operations(x);
        return;
    }
    repeat_weights(t, weights, work->fused_experts, &x->again);
    repeat_work(t, work, x);
}

void layer_repeat(const struct timing *t, struct layer_kind kind, struct layer_time *x)
{
    struct weights own;
    struct work work;
    x->again = (struct pass){0};
    x->repeats = x->sync_again = false;
    x->offloaded = offloaded_bytes(t, kind);
    if (!repeats(t)) return;
    layer_work(t, kind, &work);
    add_repeated(t, weights_of(t, kind, &own), &work, x);
}

struct layer_time layer_products(const struct timing *t, struct layer_kind kind)
{
    struct layer_time x = {0};
    struct weights own;
    add_weights(t, weights_of(t, kind, &own), experts_are_fused(t->config, t->low), &x);
    return x;
}

void layer_add_rest(const struct timing *t, struct layer_kind kind, struct layer_time *x)
{
    struct weights own;
    struct work work;
    layer_work(t, kind, &work);
    layer_add_work(t, &work, x);
    x->offloaded = offloaded_bytes(t, kind);
    if (repeats(t)) add_repeated(t, weights_of(t, kind, &own), &work, x);
}

struct layer_time layer_time(const struct timing *t, struct layer_kind kind)
{
    struct layer_time x = layer_products(t, kind);
    layer_add_rest(t, kind, &x);
    return x;
}

/* ---- around the layers ---- */

const struct layer_kind layer_none = {MIXER_NONE, FFN_NONE};

struct layer_time layer_embedding(const struct timing *t)
{
    struct layer_time x = {0};
    struct work w;
    layer_work(t, layer_none, &w);
    embedding_work(&w);
    layer_add_work(t, &w, &x);
    return x;
}

struct layer_time layer_head(const struct timing *t)
{
    struct layer_time x = {0};
    struct weights head = {.n = 1, .items = {head_weights(t->config)}};
    struct work w;
    layer_work(t, layer_none, &w);
    head_work(&w);
    add_weights(t, &head, false, &x);
    layer_add_work(t, &w, &x);
    return x;
}

static void layer_add(struct layer_time *to, const struct layer_time *x)
{
    pass_add(&to->forward, &x->forward, 1);
    pass_add(&to->backward, &x->backward, 1);
    pass_add(&to->again, &x->again, 1);
    to->syncs += x->syncs;
    to->repeats = to->repeats || x->repeats;
    to->sync_again = to->sync_again || x->sync_again;
}

struct layer_time layer_mtp_ends(const struct timing *t, const struct layer_time *head)
{
    struct layer_time x = *head;
    struct weights own;
    struct work w;
    mtp_weights(&t->config->model, &own);
    add_weights(t, &own, false, &x);
    layer_work(t, layer_none, &w);
    mtp_work(&w);
    layer_add_work(t, &w, &x);
    return x;
}

void layer_add_mtp(const struct timing *t, const struct layer_time kinds[MODEL_MAX_KINDS],
                   struct layer_time *x)
{
    const struct model_shape *m = &t->config->model;
    for (int i = 0; i < m->n_mtp_kinds; i++) {
        int known = model_kind(m, m->mtp_kinds[i]);
        struct layer_time one = known < 0 ? layer_time(t, m->mtp_kinds[i]) : kinds[known];
        layer_add(x, &one);
    }
}
