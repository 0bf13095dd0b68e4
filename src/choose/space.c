/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/space.h"

#include "facts/param_ids.h"

enum {
    LONG_SEQUENCE = 8192,  /* tokens from which context parallelism is considered (guide S2.6) */
    SHORTEST_SHARD = 2048, /* tokens a context-parallel rank keeps at least: below, attention no
                              longer hides the ring */
    MOST_VIRTUAL = 16,
};

bool space_is_pinned(const struct search_request *r, int param)
{
    for (size_t i = 0; i < r->n_pinned; i++)
        if (r->pinned[i]->param == param) return true;
    return false;
}

static struct axis axis_of(int value)
{
    return (struct axis){1, {value}};
}

static void axis_add(struct axis *x, int value)
{
    if (x->n < SPACE_MAX_VALUES) x->values[x->n++] = value;
}

static bool is_fsdp(const struct knobs *k)
{
    return k->fsdp != FSDP_NONE;
}

/* Heads and KV heads a tensor-parallel rank can have: KV heads may be replicated in Megatron-core.
 */
static bool heads_divide(const struct model_shape *m, int tp)
{
    if (m->heads % tp) return false;
    return m->mla || m->groups % tp == 0 || tp % m->groups == 0;
}

struct axis space_tp(const struct search_request *r, const struct knobs *k)
{
    const struct config *c = r->base;
    if (space_is_pinned(r, P_tensor_model_parallel_size)) return axis_of(c->knobs.tp);
    struct axis x = {0};
    bool dense_only = c->framework == FRAMEWORK_AUTOMODEL &&
                      c->model.experts; /* no TP plan for its MoE classes */
    int domain = k->nvlink_domain ? k->nvlink_domain : c->machine.nvlink_domain;
    for (int tp = 1; tp <= domain && tp <= k->gpus; tp *= 2) {
        if (k->gpus % tp || !heads_divide(&c->model, tp)) continue;
        if (tp > 1 && (is_fsdp(k) || dense_only)) break;
        if (c->model.dense_ffn % tp || c->model.shared_ffn % tp) continue;
        axis_add(&x, tp);
    }
    return x;
}

struct axis space_cp(const struct search_request *r, const struct knobs *k)
{
    if (space_is_pinned(r, P_context_parallel_size)) return axis_of(r->base->knobs.cp);
    struct axis x = axis_of(1);
    if (k->seq < LONG_SEQUENCE) return x;
    for (int64_t cp = 2; k->seq / cp >= SHORTEST_SHARD && cp * k->tp <= k->gpus; cp *= 2)
        if (k->seq % (2 * cp) == 0 && k->seq / cp % k->tp == 0 && k->gpus % (cp * k->tp) == 0)
            axis_add(&x, (int)cp);
    return x;
}

struct axis space_pp(const struct search_request *r, const struct knobs *k)
{
    if (space_is_pinned(r, P_pipeline_model_parallel_size)) return axis_of(r->base->knobs.pp);
    struct axis x = axis_of(1);
    if (k->fsdp == FSDP_OPTIM_GRADS_PARAMS) return x;
    int64_t left = k->gpus / (k->tp * k->cp);
    int most = r->base->framework == FRAMEWORK_AUTOMODEL ? 8 : SPACE_MAX_PP;
    for (int pp = 2; pp <= left && pp <= r->base->model.num_layers && pp <= most; pp++)
        if (left % pp == 0) axis_add(&x, pp);
    return x;
}

struct axis space_vpp(const struct search_request *r, const struct knobs *k)
{
    if (space_is_pinned(r, P_virtual_pipeline_model_parallel_size))
        return axis_of(r->base->knobs.vpp);
    struct axis x = axis_of(1);
    if (r->base->layout_given) {
        int given = r->base->layouts[0].n_chunks;
        return given % k->pp ? (struct axis){0} : axis_of(given / k->pp);
    }
    if (k->pp == 1 || r->base->framework == FRAMEWORK_AUTOMODEL) return x;
    int chunks = r->base->model.num_layers + 2; /* embedding and loss count as a layer each */
    for (int vpp = 2; vpp <= MOST_VIRTUAL && vpp * k->pp <= chunks; vpp++)
        axis_add(&x, vpp);
    return x;
}

struct axis space_etp(const struct search_request *r, const struct knobs *k)
{
    if (space_is_pinned(r, P_expert_tensor_parallel_size)) return axis_of(r->base->knobs.etp);
    struct axis x = axis_of(1);
    const struct model_shape *m = &r->base->model;
    if (!m->experts || r->base->framework == FRAMEWORK_AUTOMODEL || is_fsdp(k)) return x;
    for (int etp = 2; etp <= k->tp && m->expert_ffn % etp == 0; etp *= 2)
        axis_add(&x, etp);
    return x;
}

struct axis space_ep(const struct search_request *r, const struct knobs *k)
{
    if (space_is_pinned(r, P_expert_model_parallel_size)) return axis_of(r->base->knobs.ep);
    struct axis x = axis_of(1);
    int experts = r->base->model.experts;
    for (int ep = 2; ep <= experts; ep++)
        if (experts % ep == 0 && k->gpus % ((int64_t)k->etp * ep) == 0) axis_add(&x, ep);
    return x;
}

struct axis space_mbs(const struct search_request *r)
{
    if (space_is_pinned(r, P_micro_batch_size)) return axis_of(r->base->knobs.mbs);
    struct axis x = {0};
    for (int i = 0; 1 << i <= SPACE_MAX_MBS && 1 << i <= r->base->knobs.gbs; i++)
        if (!(r->barred_batches >> i & 1)) axis_add(&x, 1 << i);
    return x;
}

struct axis space_dispatcher(const struct search_request *r, const struct knobs *k)
{
    bool automodel = r->base->framework == FRAMEWORK_AUTOMODEL, alone = k->ep * k->etp == 1;
    if (space_is_pinned(r, P_dispatcher)) return axis_of(k->dispatcher);
    if (alone) return axis_of(automodel ? DISPATCH_TORCH : k->dispatcher); /* fused ones fail */
    struct axis x = {0};
    bool rack = r->base->machine.nvlink_domain >
                r->base->machine.gpus_per_node; /* DeepEP has no kernels for it */
    axis_add(&x, automodel ? DISPATCH_TORCH : DISPATCH_ALLTOALL);
    if (!rack) axis_add(&x, DISPATCH_DEEPEP);
    axis_add(&x, DISPATCH_HYBRIDEP);
    return x;
}

static void ladder_add(struct recompute_ladder *l, uint8_t recompute, uint32_t modules)
{
    l->steps[l->n++] = (struct recompute_step){recompute, METHOD_UNIFORM,
                                               recompute == RECOMPUTE_FULL ? 1 : 0, modules};
}

struct recompute_ladder space_recompute(const struct search_request *r)
{
    struct recompute_ladder l = {0};
    const struct config *c = r->base;
    if (space_is_pinned(r, P_recompute_granularity) || space_is_pinned(r, P_recompute_modules)) {
        const struct knobs *k = &c->knobs;
        l.steps[l.n++] = (struct recompute_step){k->recompute, k->recompute_method,
                                                 k->recompute_num_layers, k->recompute_modules};
        return l;
    }
    ladder_add(&l, RECOMPUTE_NONE, 0);
    if (c->framework != FRAMEWORK_AUTOMODEL) { /* guide S1.3: the cheapest bytes first */
        bool moe = c->model.experts > 0;
        uint32_t light = moe ? MOD_MOE_ACT | MOD_LAYERNORM : MOD_MLP;
        ladder_add(&l, RECOMPUTE_SELECTIVE, light);
        if (c->model.mla) ladder_add(&l, RECOMPUTE_SELECTIVE, light |= MOD_MLA_UP_PROJ);
        if (moe && model_has_ffn(&c->model, FFN_DENSE))
            ladder_add(&l, RECOMPUTE_SELECTIVE, light |= MOD_MLP);
        if (moe) ladder_add(&l, RECOMPUTE_SELECTIVE, (light & ~(uint32_t)MOD_MOE_ACT) | MOD_MOE);
    }
    ladder_add(&l, RECOMPUTE_FULL, 0);
    return l;
}

void space_set_recompute(struct knobs *k, const struct recompute_step *step)
{
    k->recompute = step->recompute;
    k->recompute_method = step->method;
    k->recompute_num_layers = step->layers;
    k->recompute_modules = step->modules;
}
