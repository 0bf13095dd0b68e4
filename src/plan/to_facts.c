/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's knobs as facts: the inverse of config_from_facts. Knobs go through their table; what
   frameworks spread over several parameters is written here. */
#include "base/buf.h"
#include "facts/param_ids.h"
#include "plan/knob.h"

/* What the user set stays, and so does the assumed size of the work, which no plan decides. */
static void put(struct facts *f, int param, struct value v)
{
    const struct fact *x = &f->items[param];
    bool asked = x->origin == ORIGIN_ASSUMED && param_table[param].affects == AFFECTS_CONVERGENCE;
    if (!fact_is_set(x) && !(asked && value_eq(x->value, v)))
        facts_set(f, param, v, ORIGIN_OPTION, NULL, (struct str){"", 0});
}

static void put_word(struct facts *f, int param, const char *word)
{
    put(f, param, value_string(str_of(word)));
}

static void add_chunk(const struct layout *layout, int i, struct buf *out)
{
    if (layout->embedding[i]) buf_add_char(out, 'E');
    if (layout->decoders[i] > 3)
        buf_printf(out, "t*%d", layout->decoders[i]);
    else
        buf_add_n(out, 't', layout->decoders[i]);
    buf_add_n(out, 'm', layout->mtp[i]);
    if (layout->loss[i]) buf_add_char(out, 'L');
}

/* Chunks from i on that are written alike. */
static int run_of(const struct layout *l, int i)
{
    int n = 1;
    bool plain = !l->embedding[i] && !l->loss[i] && !l->mtp[i];
    while (plain && i + n < l->n_chunks && l->decoders[i + n] == l->decoders[i] &&
           !l->loss[i + n] && !l->mtp[i + n])
        n++;
    return n;
}

struct str layout_text(struct arena *a, const struct layout *layout)
{
    struct buf b = buf_new(a);
    for (int i = 0, run; i < layout->n_chunks; i += run) {
        run = run_of(layout, i);
        bool repeat = run > 2 && i + run < layout->n_chunks;
        if (!repeat) run = 1;
        if (repeat) buf_add_char(&b, '(');
        add_chunk(layout, i, &b);
        if (i + run < layout->n_chunks) buf_add_char(&b, '|');
        if (repeat) buf_printf(&b, ")*%d", run);
    }
    return buf_str(&b);
}

static void put_pipeline(const struct config *c, struct facts *f)
{
    const struct knobs *k = &c->knobs;
    bool megatron = c->framework == FRAMEWORK_MEGATRON;
    if (k->layout > 0) {
        put(f, P_pipeline_model_parallel_layout,
            value_string(layout_text(f->arena, &c->layouts[k->layout - 1])));
        if (!megatron && k->vpp > 1)
            put(f, P_virtual_pipeline_model_parallel_size, value_int(k->vpp));
    } else if (k->vpp > 1) {
        put(f,
            megatron ? P_num_virtual_stages_per_pipeline_rank
                     : P_virtual_pipeline_model_parallel_size,
            value_int(k->vpp));
    }
}

static void put_dispatcher(const struct knobs *k, struct facts *f)
{
    static const char *const types[] = {"allgather", "alltoall", "flex", "flex", "torch"};
    static const char *const backends[] = {NULL, NULL, "deepep", "hybridep", NULL};
    static const char *const automodel[] = {"torch", "torch", "deepep", "hybridep", "torch"};
    if (f->framework == FRAMEWORK_AUTOMODEL) {
        put_word(f, P_backend_dispatcher, automodel[k->dispatcher]);
        return;
    }
    put_word(f, P_moe_token_dispatcher_type, types[k->dispatcher]);
    if (backends[k->dispatcher])
        put_word(f, P_moe_flex_dispatcher_backend, backends[k->dispatcher]);
}

static void put_loss(const struct knobs *k, struct facts *f)
{
    if (f->framework == FRAMEWORK_AUTOMODEL || k->ce_fusion == CE_LINEAR) return;
    put(f, P_cross_entropy_loss_fusion, value_bool(k->ce_fusion != CE_NONE));
    if (k->ce_fusion != CE_NONE)
        put_word(f, P_cross_entropy_fusion_impl, k->ce_fusion == CE_TE ? "te" : "native");
}

static void put_sharding(const struct knobs *k, struct facts *f)
{
    static const char *const words[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};
    bool sharded =
        k->fsdp == FSDP_OPTIM || k->fsdp == FSDP_OPTIM_GRADS || k->fsdp == FSDP_OPTIM_GRADS_PARAMS;
    if (f->framework == FRAMEWORK_AUTOMODEL) {
        put_word(f, P_strategy, sharded ? "megatron_fsdp" : k->fsdp == FSDP_DDP ? "ddp" : "fsdp2");
        return;
    }
    put(f, P_use_megatron_fsdp, value_bool(sharded));
    if (sharded) put_word(f, P_data_parallel_sharding_strategy, words[k->fsdp]);
}

/* AutoModel: with a pipeline the local batch is what one schedule takes, here the whole step's. */
static void put_automodel(const struct config *c, struct facts *f)
{
    const struct knobs *k = &c->knobs;
    put(f, P_activation_checkpointing, value_bool(k->recompute == RECOMPUTE_FULL));
    if (k->pp == 1) return;
    put(f, P_pp_microbatch_size, value_int(k->mbs));
    put(f, P_micro_batch_size, value_int(k->mbs * knobs_microbatches(k)));
    put_word(f, P_pp_schedule, "1f1b");
}

/* Parameters whose value is not the knob's field alone. */
static bool is_joint(int param)
{
    static const int joint[] = {P_virtual_pipeline_model_parallel_size,
                                P_recompute_modules,
                                P_cuda_graph_scope,
                                P_recompute_method,
                                P_recompute_num_layers,
                                P_optimizer_offload_fraction,
                                P_main_grads_dtype,
                                P_main_params_dtype,
                                P_exp_avg_dtype,
                                P_exp_avg_sq_dtype,
                                P_moe_router_force_load_balancing,
                                P_use_megatron_fsdp,
                                P_attention_backend,
                                P_offload_modules};
    for (size_t i = 0; i < sizeof joint / sizeof *joint; i++)
        if (param == joint[i]) return true;
    return false;
}

static void put_knob(const struct knobs *k, int param, struct facts *f)
{
    put(f, param, knob_get(f->arena, k, knob_of(param)));
}

static void put_recompute(const struct knobs *k, struct facts *f)
{
    if (k->recompute == RECOMPUTE_SELECTIVE) put_knob(k, P_recompute_modules, f);
    if (k->recompute == RECOMPUTE_FULL) {
        put_knob(k, P_recompute_method, f);
        put(f, P_recompute_num_layers,
            value_int(k->recompute_num_layers > 0 ? k->recompute_num_layers : 1));
    }
    if (k->graph_impl != GRAPH_NONE) put_knob(k, P_cuda_graph_scope, f);
    if (k->offload_modules) {
        put(f, P_fine_grained_activation_offloading, value_bool(true));
        put_knob(k, P_offload_modules, f);
    }
}

static void put_optimizer(const struct knobs *k, struct facts *f)
{
    if (k->precision_aware) {
        put_knob(k, P_main_grads_dtype, f);
        put_knob(k, P_exp_avg_dtype, f);
        put_knob(k, P_exp_avg_sq_dtype, f);
    }
    if (k->optimizer_offload > 0) {
        put(f, P_optimizer_cpu_offload, value_bool(true));
        put_knob(k, P_optimizer_offload_fraction, f);
    }
    if (k->force_balance) put(f, P_moe_router_force_load_balancing, value_bool(true));
}

/* Parameters about experts say nothing of a dense model. */
static bool is_about_experts(int param)
{
    struct str name = param_name(param);
    return str_starts(name, STR("moe_")) || str_starts(name, STR("expert_")) ||
           str_find_str(name, STR("_moe_")) < name.n;
}

void config_to_facts(const struct config *c, struct facts *f)
{
    const struct knobs *k = &c->knobs;
    if (c->framework == FRAMEWORK_AUTOMODEL) put_automodel(c, f);
    for (size_t i = 0; i < knob_count; i++) {
        int param = knob_table[i].param;
        bool applies = c->model.experts > 0 || !is_about_experts(param);
        if (applies && !is_joint(param)) put_knob(k, param, f);
    }
    put_pipeline(c, f);
    put_sharding(k, f);
    put_loss(k, f);
    if (c->model.experts > 0) put_dispatcher(k, f);
    if (c->framework == FRAMEWORK_AUTOMODEL) return;
    put_recompute(k, f);
    put_optimizer(k, f);
}
