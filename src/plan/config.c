/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration from facts, through the table of knobs. */
#include <math.h>

#include "plan/config.h"

#include "base/larger.h"
#include "base/units.h"
#include "facts/check.h"
#include "facts/param_ids.h"
#include "facts/platform.h"
#include "plan/framework.h"
#include "plan/knob.h"

/* megatron/bridge/perf_recipes/qwen/common.py, deepseek/common.py, gpt_oss/common.py */
static const double RECIPES_RANK_CAPACITY = 1.5, RECIPES_STASH = 1.2;

static int64_t at_least_one(int64_t n)
{
    return n < 1 ? 1 : n;
}

int64_t knobs_dp(const struct knobs *k)
{
    return at_least_one(k->gpus / ((int64_t)k->tp * k->cp * k->pp));
}

int64_t knobs_edp(const struct knobs *k)
{
    return at_least_one(k->gpus / ((int64_t)k->etp * k->ep * k->pp));
}

bool knobs_divide(const struct knobs *k)
{
    if (k->gpus % ((int64_t)k->tp * k->cp * k->pp) != 0) return false;
    if (k->gpus % ((int64_t)k->etp * k->ep * k->pp) != 0) return false;
    return k->gbs % (k->mbs * knobs_dp(k) * knobs_schedules(k)) == 0;
}

bool knobs_same_recompute(const struct knobs *a, const struct knobs *b)
{
    return a->recompute == b->recompute &&
           (a->recompute != RECOMPUTE_SELECTIVE || a->recompute_modules == b->recompute_modules);
}

uint32_t knobs_captured(const struct knobs *k)
{
    if (k->graph_impl == GRAPH_NONE) return 0;
    if (k->graph_impl == GRAPH_FULL_ITERATION || (k->graph_scope & SCOPE_FULL)) return SCOPE_FULL;
    if (k->graph_scope == 0)
        return SCOPE_ATTN | SCOPE_MLP | SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS | SCOPE_MAMBA;
    return k->graph_scope;
}

/* What a graph of the whole iteration has experts compute on where the plan leaves it open: rule
   whole-iteration-graph-of-experts. */
static bool takes_recipes_buffers(const struct knobs *k)
{
    return k->rank_capacity <= 0 && k->capacity_factor <= 0 && k->dispatcher == DISPATCH_HYBRIDEP &&
           (knobs_captured(k) & SCOPE_FULL);
}

double knobs_rank_capacity(const struct knobs *k)
{
    return takes_recipes_buffers(k) ? RECIPES_RANK_CAPACITY : k->rank_capacity;
}

bool knobs_stash(const struct knobs *k)
{
    return k->paged_stash || takes_recipes_buffers(k);
}

double knobs_kept_capacity(const struct knobs *k)
{
    if (takes_recipes_buffers(k)) return RECIPES_STASH;
    return k->paged_stash ? k->stash_factor : k->rank_capacity;
}

int knobs_replicas(const struct knobs *k)
{
    int n = k->fsdp == FSDP_FSDP2 ? k->dp_replicate : k->optimizer_instances;
    return n < 1 || k->fsdp == FSDP_DDP ? 1 : n;
}

int knobs_expert_replicas(const struct knobs *k)
{
    return k->fsdp == FSDP_FSDP2 && k->ep > 1 ? 1 : knobs_replicas(k);
}

int64_t knobs_microbatches(const struct knobs *k)
{
    return at_least_one(k->gbs / (k->mbs * knobs_dp(k)));
}

int64_t knobs_scheduled(const struct knobs *k)
{
    return at_least_one(knobs_microbatches(k) / knobs_schedules(k));
}

int64_t knobs_local_batch(const struct knobs *k)
{
    return k->mbs * knobs_scheduled(k);
}

/* ---- the machine ---- */

bool config_machine(const struct facts *f, struct machine *out)
{
    *out = (struct machine){0};
    const struct platform *p = f->platform;
    if (!p) return false;
    out->id = p->id;
    out->architecture = facts_str(f, P_gpu_architecture);
    out->paced_model = facts_str(f, P_paced_model);
    out->compute_capability = facts_double(f, P_compute_capability, 0);
    out->gpus_per_node = (int)facts_int(f, P_gpus_per_node, 8);
    out->nvlink_domain = (int)facts_int(f, P_nvlink_domain, out->gpus_per_node);
    out->capacity_bytes = GIB * larger(0, facts_double(f, P_gpu_capacity_gib, 0) -
                                              facts_double(f, P_reserve_memory_gib, 0));
    out->peak_bf16 = 1e12 * facts_double(f, P_bf16_tflops, 0);
    out->peak_fp8 = 1e12 * facts_double(f, P_fp8_tflops, 0);
    out->peak_fp4 = 1e12 * facts_double(f, P_fp4_tflops, 0);
    out->sms = (double)facts_int(f, P_sm_count, 132);
    out->hbm_bytes_per_s = 1e12 * facts_double(f, P_hbm_tb_per_s, 0);
    out->nvlink_bytes_per_s = 1e9 * facts_double(f, P_nvlink_gb_per_s, 0);
    out->nic_bytes_per_s = 1e9 * facts_double(f, P_nic_gb_per_s, 0);
    out->pcie_bytes_per_s = 1e9 * facts_double(f, P_pcie_gb_per_s, 0);
    for (size_t i = 0;
         i < p->entry->n_coefficients && out->n_coefficients < MACHINE_MAX_COEFFICIENTS; i++) {
        const struct entry_coefficient *c = &p->entry->coefficients[i];
        out->coefficients[out->n_coefficients++] = (struct coefficient){
            .name = c->name, .value = c->value, .low = c->low, .high = c->high};
    }
    return true;
}

/* ---- the knobs ---- */

/* The knobs where facts say nothing. */
static struct knobs knobs_unsaid(enum framework framework)
{
    return (struct knobs){
        .tp = 1,
        .pp = 1,
        .vpp = 1,
        .cp = 1,
        .ep = 1,
        .etp = 1,
        .mbs = 1,
        .schedules = 1,
        .precision = PREC_BF16,
        .attention = ATTN_AUTO,
        .dispatcher = (uint8_t)framework_traits(framework)->dispatcher,
        .recompute_method = METHOD_UNIFORM,
        .recompute_modules = MOD_CORE_ATTN, /* transformer_config.py: selective without modules */
        .distributed_optimizer = true,
        .optimizer_instances = 1,
        .grad_bytes = 4,
        .main_param_bytes = 4,
        .exp_avg_bytes = 4,
        .exp_avg_sq_bytes = 4,
        .optimizer_offload = 1,
        .stash_factor = 1.1, /* transformer_config.py */
        .overlap_p2p = true,
        .permute_fusion = true,
        .grouped_gemm = true,
        .act_fusion = true,
        .grad_accumulation_fusion = true,
        .transformer_engine = true,
        .dp_replicate = 1,
    };
}

static void read_layout(struct arena *a, const struct facts *f, struct config *c)
{
    struct layout *layout = ARENA_NEW(a, struct layout);
    struct value stages = facts_get(f, P_pipeline_layout_stages)->value;
    c->layout_given = layout_from_stages(stages, layout) && layout->n_chunks % c->knobs.pp == 0;
    if (!c->layout_given) return;
    c->layouts = layout;
    c->n_layouts = 1;
}

static bool missing(const struct facts *f, int param, const char *help)
{
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "missing-fact", (struct span){.source = f->source},
                 "%.*s is not given", STR_ARG(param_name(param)));
    d->parameter = param_name(param);
    diag_help(f->diags, d, "%s", help);
    return false;
}

/* Every number within the range of its parameter, so that no product of them overflows and nothing
   is divided by 0, whatever a recipe says. */
static bool check_ranges(const struct facts *f)
{
    bool good = true;
    for (uint32_t i = 0; i < param_ranged_count; i++) {
        const struct param *p = &param_table[param_ranged[i]];
        const struct fact *x = facts_get(f, param_ranged[i]);
        if (value_in_range(p, x->value)) continue;
        struct span at =
            x->node ? node_span(f->diags, x->node) : (struct span){.source = f->source};
        good = value_check_range(f->arena, f->diags, p, x->value, at, p->name);
    }
    return good;
}

/* AutoModel's packed sequences are as long as they say, whatever the data set's are. */
static int packed_length(const struct facts *f)
{
    return (int)facts_int(f, P_packed_sequence_size, 0);
}

/* Flags of a text-only program can say no vision tower; who says images runs one of his own. */
static bool lacks_tower(const struct config *c)
{
    return config_traits(c)->text_only && c->knobs.image_tokens <= 0;
}

bool config_from_facts(struct arena *a, const struct facts *f, struct config *out)
{
    *out = (struct config){.framework = f->framework, .knobs = knobs_unsaid(f->framework)};
    bool good = config_model(f, &out->model, false);
    out->machine_known = config_machine(f, &out->machine);
    struct knobs *k = &out->knobs;
    knobs_read(a, f, k);
    if (lacks_tower(out)) out->model.vision_layers = 0;
    if (!check_ranges(f)) return false;
    if (k->gpus <= 0)
        good =
            missing(f, P_world_size, "give the number of GPUs: --gpus N, or gpus: N in the plan");
    if (k->seq <= 0) k->seq = packed_length(f);
    if (k->seq <= 0)
        good = missing(f, P_seq_length,
                       "give the sequence length: --set seq_length=N, or seq: N in a plan");
    if (!good) return false;
    read_layout(a, f, out);
    for (size_t i = 0; i < knob_field_count; i++)
        if (knob_table[i].settle) knob_table[i].settle(f, out);
    out->unstated = config_unstated(f, out);
    return true;
}

/* Whether attention has neither a window nor sinks, which a ring knows nothing of. */
static bool is_plain(const struct model_shape *m)
{
    return !m->sinks && m->window == 0;
}

/* Whether so many ranks of each of tensor parallelism's can share its heads. */
static bool deals_heads(const struct config *c, int ranks)
{
    const struct model_shape *m = &c->model;
    int share = c->knobs.tp * ranks;
    bool dealt = m->heads % share == 0 && (m->mla || m->groups % share == 0);
    if (m->window > 0) dealt = dealt && m->win_heads % share == 0 && m->win_groups % share == 0;
    return dealt;
}

/* The most ranks of one NVLink domain that can share heads beside a ring of several such groups;
   1: there is no such division. */
static int dealt_inside(const struct config *c)
{
    const struct knobs *k = &c->knobs;
    int found = 1;
    for (int ranks = 2; ranks < k->cp && ranks * k->tp <= c->machine.nvlink_domain; ranks++)
        if (k->cp % ranks == 0 && deals_heads(c, ranks)) found = ranks;
    return found;
}

/* Transformer Engine's ring knows neither windows nor a softmax with a sink, its gather no sink; a
   part of the heads for each rank works for both where they can be dealt out
   (transformer_engine context_parallel.py). An indexer picks among all keys, so they are gathered
   whatever is said (megatron/core/transformer/experimental_attention_variant/dsa.py; AutoModel's
   models/glm_moe_dsa/cp.py). */
bool config_has_cp_comm(const struct config *c, enum cp_comm comm)
{
    const struct model_shape *m = &c->model;
    if (c->knobs.cp <= 1 || m->index_heads > 0 || !config_traits(c)->megatron_words) return false;
    switch (comm) {
    case CP_RING: return is_plain(m);
    case CP_HEADS: return deals_heads(c, c->knobs.cp);
    case CP_GATHER: return !m->sinks;
    case CP_LEVELS: return is_plain(m) && dealt_inside(c) > 1;
    case CP_NEEDED: break;
    }
    return false;
}

enum cp_comm config_cp_comm(const struct config *c)
{
    const struct knobs *k = &c->knobs;
    const struct model_shape *m = &c->model;
    if (m->index_heads > 0 && k->cp > 1) return CP_GATHER;
    if (k->cp_comm != CP_NEEDED) return (enum cp_comm)k->cp_comm;
    if (k->cp <= 1 || is_plain(m) || !config_traits(c)->megatron_words) return CP_RING;
    if (deals_heads(c, k->cp)) return CP_HEADS;
    return m->sinks ? CP_RING : CP_GATHER;
}

int config_cp_dealt(const struct config *c)
{
    enum cp_comm comm = config_cp_comm(c);
    return comm == CP_HEADS ? c->knobs.cp : comm == CP_LEVELS ? dealt_inside(c) : 1;
}

bool config_is_decided(const struct facts *f)
{
    static const int names[] = {
        P_tensor_model_parallel_size,
        P_pipeline_model_parallel_size,
        P_context_parallel_size,
        P_expert_model_parallel_size,
        P_micro_batch_size,
        P_seq_length,
        P_recompute_granularity,
        P_world_size,
        P_num_layers,
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!fact_is_known(facts_get(f, names[i]))) return false;
    return true;
}
