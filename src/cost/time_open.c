/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan leaves open and its run surely had one way or the other: the interval of the step
   time reaches to what runs have it. */
#include <math.h>
#include <string.h>

#include "base/larger.h"
#include "cost/time.h"
#include "plan/framework.h"

/* AutoModel takes PyTorch's exchange where no package of another is installed. */
static bool other_dispatcher(struct config *c)
{
    struct knobs *k = &c->knobs;
    if (k->ep == 1) return false;
    uint8_t slower = config_traits(c)->megatron_words ? DISPATCH_ALLTOALL : DISPATCH_TORCH;
    bool joined = c->machine.nvlink_domain > c->machine.gpus_per_node;
    uint8_t faster = joined ? DISPATCH_HYBRIDEP : DISPATCH_DEEPEP;
    k->dispatcher = k->dispatcher == slower ? faster : slower;
    return true;
}

/* Other chunks stand where an uneven division puts them. */
static bool virtual_stages(struct config *c, int vpp)
{
    bool none = c->knobs.vpp == 1;
    c->knobs.vpp = vpp;
    c->knobs.layout = 0;
    return none;
}

static bool two_virtual_stages(struct config *c)
{
    return virtual_stages(c, 2);
}

/* Chunks of about two layers. */
static bool many_virtual_stages(struct config *c)
{
    const struct knobs *k = &c->knobs;
    int layers = (c->model.num_layers + k->account_embedding + k->account_loss) / k->pp;
    int most = layers / 2;
    while (most > 2 && layers % most != 0)
        most--;
    return most > 2 && virtual_stages(c, most);
}

/* A plan that spells out switches leaves the others off; but where most recipes capture (rule
   assume-captured), and of experts on such chips where half of all runs do, it does not say so that
   this one does not. */
static bool graphs_are_open(const struct config *c)
{
    bool usual = config_traits(c)->recipes_capture || c->model.experts > 0;
    return (usual && c->machine.compute_capability >= 10) || c->unstated & UNSTATED_SWITCHES;
}

/* What launches most kernels is captured where experts leave it alone (rule assume-captured), or
   nothing is. */
static bool other_graphs(struct config *c)
{
    struct knobs *k = &c->knobs;
    bool none = k->graph_impl == GRAPH_NONE;
    uint32_t inner = c->model.experts > 0 ? SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS : SCOPE_MLP;
    k->graph_impl = none ? GRAPH_TE : GRAPH_NONE;
    k->graph_scope = none ? SCOPE_ATTN | SCOPE_MAMBA | inner : 0;
    return config_traits(c)->megatron_words && graphs_are_open(c);
}

/* Recipes capture whole iterations on Blackwell alone. */
static bool graph_of_iteration(struct config *c)
{
    struct knobs *k = &c->knobs;
    if (c->machine.compute_capability < 10) return false;
    if (!config_traits(c)->megatron_words || !graphs_are_open(c)) return false;
    k->graph_impl = GRAPH_FULL_ITERATION;
    k->graph_scope = 0;
    return true;
}

static bool overlap_of_exchange(struct config *c)
{
    bool other = !c->knobs.overlap_ep && config_traits(c)->megatron_words;
    c->knobs.overlap_ep = true;
    return other;
}

/* Less than three in ten of the public recipes capture whole iterations, or overlap the exchange;
   of those that overlap it on Blackwell half capture so, and of these nearly all overlap. */
static bool captures_whole(const struct config *c)
{
    return knobs_captured(&c->knobs) & SCOPE_FULL;
}

static bool overlaps_exchange(const struct config *c)
{
    return c->knobs.overlap_ep;
}

/* MLPerf's adapters attend in 8 bits, and so do most recipes of Bridge that capture whole
   iterations in MXFP8, of which half have such a head too. */
static bool attend_in_8_bits(struct config *c)
{
    struct knobs *k = &c->knobs;
    if (!k->transformer_engine || k->fp8_attention || k->fp8_output) return false;
    k->fp8_attention = true;
    k->fp8_output = captures_whole(c);
    return true;
}

static bool attends_in_8_bits(const struct config *c)
{
    return c->knobs.task == TASK_PEFT || captures_whole(c);
}

static bool never(const struct config *c)
{
    (void)c;
    return false;
}

static bool always(const struct config *c)
{
    (void)c;
    return true;
}

static bool other_routing(struct config *c)
{
    c->knobs.force_balance = !c->knobs.force_balance;
    return true;
}

static bool recompute_all(struct config *c)
{
    struct knobs *k = &c->knobs;
    bool other = k->recompute == RECOMPUTE_NONE;
    k->recompute = RECOMPUTE_FULL;
    k->recompute_method = METHOD_UNIFORM, k->recompute_num_layers = 1;
    return other;
}

/* Those whose outputs are large and whose kernels are short. */
static bool recompute_little(struct config *c)
{
    c->knobs.recompute_modules = MOD_LAYERNORM | MOD_MOE_ACT;
    return true;
}

static bool recompute_much(struct config *c)
{
    c->knobs.recompute_modules =
        MOD_CORE_ATTN | MOD_LAYERNORM | (c->model.experts > 0 ? MOD_MOE : MOD_MLP);
    return true;
}

/* Ways of runs that are silent. A plan that spells out switches leaves the others off, so that most
   of them are open in a plan of sizes alone. A way that few recipes have pulls the interval to its
   step, a usual one to the whole of its interval. Those of the same bits stand together. */
static const struct {
    uint32_t bits;                         /* all of them are open */
    bool (*take)(struct config *c);        /* false: the plan has it, or cannot */
    bool (*usual)(const struct config *c); /* of recipes for what else the plan has */
} ways[] = {{UNSTATED_DISPATCHER, other_dispatcher, always},
            {UNSTATED_STAGES, two_virtual_stages, always},
            {UNSTATED_STAGES, many_virtual_stages, always},
            {UNSTATED_MODULES, recompute_little, never},
            {UNSTATED_MODULES, recompute_much, never},
            {UNSTATED_GRAPHS, other_graphs, always},
            {UNSTATED_GRAPHS, graph_of_iteration, overlaps_exchange},
            {UNSTATED_OVERLAP, overlap_of_exchange, captures_whole},
            {UNSTATED_NARROW, attend_in_8_bits, attends_in_8_bits},
            {UNSTATED_SWITCHES | UNSTATED_ROUTING, other_routing, never},
            {UNSTATED_SWITCHES | UNSTATED_RECOMPUTE, recompute_all, never}};

/* Seconds of a microbatch on all ranks together. */
static double pass_seconds(const struct time_layers *l, const struct config *c)
{
    const struct model_shape *m = &c->model;
    struct time_rates r;
    time_rates_of(l, c, &r);
    double sum = r.embedding + r.head + m->mtp_layers * r.mtp;
    for (int i = 0; i < m->num_layers; i++)
        sum += r.kinds[m->layers[i]];
    return sum;
}

/* Passes that a rank waits for, of equal chunks, over those that it does. */
static double waiting(const struct knobs *k)
{
    return (double)(k->pp - 1) / ((double)k->vpp * (double)knobs_scheduled(k));
}

/* The step of a changed plan over that of `c`, whose layers are `l` and take `seconds`, by what
   layers and ramps take: what stands around them changes less. */
static double step_ratio(const struct time_layers *l, const struct config *c, double seconds,
                         const struct config *changed)
{
    struct knobs before = time_layers_key(&c->knobs), after = time_layers_key(&changed->knobs);
    bool same = memcmp(&before, &after, sizeof before) == 0;
    struct time_layers other;
    if (!same) time_layers_init(changed, &other);
    double ramps = (1 + waiting(&changed->knobs)) / (1 + waiting(&c->knobs));
    return ramps * pass_seconds(same ? l : &other, changed) / seconds;
}

/* Each alone, and all that make the step shorter, or longer, together: of those that speak of the
   same thing, which exclude one another, the one that does so most. */
void time_allow_open(const struct time_layers *l, const struct config *c, struct time_estimate *t)
{
    double seconds = pass_seconds(l, c);
    double low = t->low, high = t->high, shorter = t->step, longer = t->step, least = 1, most = 1;
    size_t n = sizeof ways / sizeof *ways;
    struct config changed = *c;
    for (size_t i = 0; i < n; i++) {
        changed.knobs = c->knobs; /* a way changes nothing else */
        if ((c->unstated & ways[i].bits) == ways[i].bits && ways[i].take(&changed)) {
            double ratio = step_ratio(l, c, seconds, &changed);
            least = smaller(least, ratio), most = larger(most, ratio);
            bool usual = ways[i].usual(c);
            t->low = smaller(t->low, ratio * (usual ? low : t->step));
            t->high = larger(t->high, ratio * (usual ? high : t->step));
        }
        if (i + 1 < n && ways[i + 1].bits == ways[i].bits) continue;
        shorter *= least, longer *= most;
        least = most = 1;
    }
    t->low = smaller(t->low, shorter);
    t->high = larger(t->high, longer);
}
