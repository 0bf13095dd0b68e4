/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/shapes.h"

#include <math.h>

#include "base/larger.h"
#include "base/vec.h"
#include "cost/layer.h"
#include "cost/sharding.h"
#include "plan/framework.h"

struct walk {
    struct arena *arena;
    const struct timing *t;
    struct shape_list *out;
    double times; /* a step, of a forward pass of what is walked */
};

static bool same(const struct shape *a, const struct shape *b)
{
    return a->kind == b->kind && a->numeric == b->numeric && a->rows == b->rows &&
           a->out == b->out && a->in == b->in && a->experts == b->experts && a->seq == b->seq &&
           a->batch == b->batch && a->heads == b->heads && a->qk_dim == b->qk_dim &&
           a->v_dim == b->v_dim && a->window == b->window && a->bytes == b->bytes &&
           a->ranks == b->ranks && a->tokens == b->tokens && a->width == b->width &&
           a->topk == b->topk && a->elements == b->elements;
}

static void add(struct walk *w, struct shape x, double count)
{
    if (count <= 0) return;
    x.count = count;
    for (size_t i = 0; i < w->out->n; i++) {
        struct shape *known = &w->out->items[i];
        if (!same(known, &x)) continue;
        known->count += count;
        return;
    }
    *VEC_PUSH(w->arena, w->out) = x;
}

/* Whether recomputation repeats what one of the modules frees. */
static bool again(const struct walk *w, uint32_t freed_by)
{
    return w->t->config->knobs.recompute == RECOMPUTE_FULL || w->t->repeated & freed_by;
}

/* The product, and those of its input's and its weight's gradients. */
static void add_linear(struct walk *w, const struct matrix *m, bool fused_experts)
{
    struct linear l = layer_linear(w->t, m, fused_experts);
    enum matrix_numeric numeric = m->numeric == NUMERIC_32 ? NUMERIC_32 : NUMERIC_16;
    struct shape x = {.kind = l.experts > 0 ? SHAPE_GROUPED : SHAPE_GEMM,
                      .numeric = kernel_is_low(w->t, &l) ? NUMERIC_LOW : numeric,
                      .rows = ceil(l.rows),
                      .out = l.out,
                      .in = l.in,
                      .experts = l.experts};
    add(w, x, w->times * (again(w, m->freed_by) ? 2 : 1));
    if (m->forward_only) return;
    struct shape gradient = x;
    gradient.out = x.in, gradient.in = x.out;
    add(w, gradient, w->times);
    if (l.frozen) return;
    gradient.rows = x.out, gradient.out = x.in, gradient.in = x.rows;
    add(w, gradient, w->times);
}

static void add_exchange(struct walk *w, const struct exchange *e)
{
    const struct knobs *k = &w->t->config->knobs;
    double forward = again(w, e->freed_by) ? 2 : 1;
    struct shape tp = {.kind = SHAPE_GATHER, .bytes = e->bytes, .ranks = k->tp};
    struct shape cp = {.kind = SHAPE_GATHER, .bytes = e->kv * e->ranks, .ranks = e->ranks};
    struct shape ep = {.kind = SHAPE_EXCHANGE,
                       .tokens = w->t->tokens_rank,
                       .width = e->width,
                       .topk = w->t->config->model.topk,
                       .experts = w->t->config->model.experts,
                       .ranks = k->ep};
    if (e->kind == EXCHANGE_TP && k->tp > 1)
        add(w, tp, w->times * (forward * e->forward + layer_tp_backward(w->t, e)));
    if (e->kind == EXCHANGE_CP && k->cp > 1) add(w, cp, w->times * (forward + 2));
    if (e->kind == EXCHANGE_HEADS) {
        struct shape in = {.kind = SHAPE_GATHER, .bytes = e->in, .ranks = e->ranks};
        struct shape out = {.kind = SHAPE_GATHER, .bytes = e->out, .ranks = e->ranks};
        add(w, in, w->times * (forward + 1));
        add(w, out, w->times * (forward + 1));
    }
    if (e->kind == EXCHANGE_EP && k->ep > 1) add(w, ep, w->times * 2 * (forward + 1));
}

static void add_work(struct walk *w, const struct work *work)
{
    const struct knobs *k = &w->t->config->knobs;
    for (int i = 0; i < work->n_streams; i++) {
        const struct stream *s = &work->streams[i];
        struct shape forward = {.kind = SHAPE_COPY, .bytes = s->forward};
        struct shape backward = {.kind = SHAPE_COPY, .bytes = s->backward};
        if (s->forward > 0) add(w, forward, w->times * (again(w, s->freed_by) ? 2 : 1));
        if (s->backward > 0) add(w, backward, w->times);
    }
    for (int i = 0; i < work->n_cores; i++) {
        const struct core *core = &work->cores[i];
        struct shape x = {.kind = SHAPE_ATTENTION,
                          .seq = k->seq,
                          .batch = k->mbs,
                          .heads = core->heads,
                          .qk_dim = core->qk_dim,
                          .v_dim = core->v_dim,
                          .window = core->window};
        add(w, x, w->times / k->cp); /* a rank has its part of the queries */
    }
    for (int i = 0; i < work->n_exchanges; i++)
        add_exchange(w, &work->exchanges[i]);
}

static void add_kind(struct walk *w, struct layer_kind kind)
{
    struct weights weights;
    struct work work;
    op_weights(&w->t->config->model, kind, false, &weights);
    layer_work(w->t, kind, &work);
    for (int i = 0; i < weights.n; i++)
        add_linear(w, &weights.items[i], work.fused_experts);
    add_work(w, &work);
}

static void add_state(struct walk *w)
{
    const struct config *c = w->t->config;
    const struct knobs *k = &c->knobs;
    struct rank_params p = sharding_params(c);
    double ranks = larger(1, (double)knobs_dp(k) * k->cp),
           expert_ranks = larger(1, (double)knobs_edp(k));
    bool dealt = k->distributed_optimizer || k->fsdp != FSDP_NONE;
    double dense = dealt ? p.trained_dense / ranks : p.trained_dense;
    double experts = dealt ? p.trained_experts / expert_ranks : p.trained_experts;
    struct shape gather = {.kind = SHAPE_GATHER, .bytes = 2 * p.trained_dense, .ranks = ranks};
    struct shape grads = {
        .kind = SHAPE_GATHER, .bytes = k->grad_bytes * p.trained_dense, .ranks = ranks};
    if (ranks > 1) {
        add(w, gather, 1);
        add(w, grads, 1);
    }
    add(w, (struct shape){.kind = SHAPE_ADAM, .elements = floor(dense + experts)}, 1);
}

void shapes_of(struct arena *a, const struct config *c, struct shape_list *out)
{
    struct timing t = timing_of(c);
    struct walk w = {.arena = a, .t = &t, .out = out};
    const struct model_shape *m = &c->model;
    double microbatches = (double)knobs_microbatches(&c->knobs), pp = c->knobs.pp;
    int count[MODEL_MAX_KINDS] = {0};
    for (int i = 0; i < m->num_layers; i++)
        count[m->layers[i]]++;
    for (int i = 0; i < m->n_kinds; i++) {
        w.times = microbatches * count[i] / pp;
        add_kind(&w, m->kinds[i]);
    }
    struct matrix head = head_weights(c);
    w.times = microbatches / pp;
    add_linear(&w, &head, false);
    add_state(&w);
}
