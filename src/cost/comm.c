/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/comm.h"

#include <math.h>

#include "base/larger.h"
#include "plan/framework.h"

static const struct machine *machine_of(const struct timing *t)
{
    return &t->config->machine;
}

/* The kernels' start-up across domains grows with the tree's depth. Across domains the members of
   the group in one domain share that domain's NICs, so their rates add up, but never to more than
   inside one. There, few ranks reach less of the link, and small messages less of what they could:
   the ramp adds its geometric mean with the time at the full rate. */
double comm_collective(const struct timing *t, double bytes, double n, double span)
{
    const struct coefficients *f = &t->f;
    if (n <= 1) return 0;
    bool inside = span <= t->domain;
    double link = f->nvlink * machine_of(t)->nvlink_bytes_per_s * (1 - f->nvlink_few / n);
    double nics = larger(1, t->domain * n / span) * f->nic_bulk * machine_of(t)->nic_bytes_per_s;
    double moved = bytes * (n - 1) / n, travel = moved / link;
    double within = f->collective_start_s + travel + sqrt(f->nvlink_ramp_s * travel);
    if (inside) return within;
    double across = f->collective_across_s + f->collective_across_doubling_s * log2(n);
    return larger(within, across + moved / nics);
}

/* ---- expert exchange ---- */

/* Probability that none of k distinct experts among `all` is one of `some`. */
static double missed(double all, double some, double k)
{
    double p = 1;
    for (int i = 0; i < k; i++)
        p *= larger(0, (all - some - i) / (all - i));
    return p;
}

static double common_divisor(double a, double b)
{
    while (b > 0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return a;
}

/* The same where the chosen experts stand in a row too, and each token's row begins where the last
   one's ended: a row meets the set it begins in and, of what is beyond its first step, its part of
   the next ones. */
static double met_in_a_row(const struct exchanged *x, double some)
{
    double step = common_divisor(x->topk, some);
    return smaller(1, (1 + (x->topk - step) / some) * some / x->experts);
}

/* Probability that a token chooses one of `some` experts that stand side by side: k of all, or of
   the experts of so many groups. A set of several groups has as many of the chosen ones as it
   holds of all. */
static double met(const struct exchanged *x, double some)
{
    if (x->side_by_side) return met_in_a_row(x, some);
    double groups = x->groups, chosen = x->group_topk, all = x->experts;
    if (groups <= 1 || chosen <= 0 || chosen >= groups) return 1 - missed(all, some, x->topk);
    double size = all / groups, held = some / size;
    if (held <= 1) return chosen / groups * (1 - missed(chosen * size, some, x->topk));
    double none = 1;
    for (int i = 0; i < chosen; i++)
        none *= larger(0, (groups - held - i) / (groups - i));
    return 1 - none;
}

/* Copies of a token that leave its domain, and that leave their GPU for another of the domain. */
struct copies {
    double across, inside;
};

/* One for every chosen expert, or, de-duplicated, one a domain and one a rank. */
static struct copies copies_of(const struct exchanged *x, const struct dispatch_law *law)
{
    double n = x->ranks, d = x->domains, elsewhere = 1 - d / n;
    if (!law->once) return (struct copies){x->topk * (1 - 1 / d), x->topk / d * elsewhere};
    double domain = d > 1 ? met(x, x->experts / d) : 1;
    return (struct copies){domain * (d - 1), n * met(x, x->experts / n) * elsewhere};
}

static double cubes(double a, double b, double c)
{
    return cbrt(a * a * a + b * b * b + c * c * c);
}

/* The hops run beside one another. */
double comm_exchange(const struct timing *t, const struct dispatch_law *law,
                     const struct exchanged *x)
{
    struct copies copies = copies_of(x, law);
    double bytes = x->tokens * x->width * x->element_bytes, copied = bytes * copies.inside;
    double sms = x->combine ? law->combine : 1;
    if (x->domains <= 1) {
        double moved = copied + law->own * bytes;
        return t->f.dispatch_start_s + cubes(moved / law->nvlink, moved / (sms * law->inside), 0);
    }
    double across = bytes * copies.across;
    return t->f.dispatch_start_s + law->across_s + (x->combine ? law->combine_s : 0) +
           cubes(across / law->nic, larger(copied / law->nvlink, copied / law->forward),
                 (across + copied) / law->move);
}

/* All tokens go to all ranks, and their outputs are added up: reduced to whom they belong, or, in
   AutoModel's own dispatcher, in fp32 for everyone (nemo_automodel/components/moe/experts.py,
   GroupedExperts.forward). */
static double gathered(const struct timing *t, const struct exchanged *x)
{
    double span = x->ranks * t->config->knobs.etp;
    double all = x->tokens * x->width * x->ranks;
    double one = comm_collective(t, 2 * all, x->ranks, span);
    bool everyone = t->config->knobs.dispatcher == DISPATCH_TORCH;
    return one + (everyone ? 2 * comm_collective(t, 4 * all, x->ranks, span) : one);
}

/* What an exchange in training takes longer than alone. Across domains each waits for the slowest
   of ranks that drift apart, and shares the NICs with other groups' exchanges; HybridEP's runs,
   which send fewer and larger messages, show none of that. */
static double pace_of(const struct timing *t, const struct exchanged *x)
{
    bool hybridep = t->config->knobs.dispatcher == DISPATCH_HYBRIDEP;
    return x->domains > 1 && !hybridep ? t->f.dispatch_across : t->f.dispatch;
}

double comm_expert_domains(const struct timing *t)
{
    const struct knobs *k = &t->config->knobs;
    double group = (double)k->ep * k->etp;
    if (group > t->domain) return ceil(group / t->domain);
    if (k->gpus <= t->domain || fmod(t->domain, group) == 0) return 1;
    return fmod(group, machine_of(t)->gpus_per_node) == 0 ? 1 : 2;
}

/* HybridEP's kernels take the tokens of one rank alone through its buffers too
   (megatron/core/transformer/moe/token_dispatcher.py asks for several ranks of DeepEP only), not
   faster than they move others'. */
static double to_itself(const struct timing *t, double width)
{
    if (t->config->knobs.dispatcher != DISPATCH_HYBRIDEP) return 0;
    return 2 * t->f.dispatch * (t->f.dispatch_start_s + 2 * t->tokens_rank * width / t->law.nvlink);
}

double comm_dispatch(const struct timing *t, double width)
{
    const struct knobs *k = &t->config->knobs;
    const struct model_shape *m = &t->config->model;
    if (k->ep <= 1) return to_itself(t, width);
    struct exchanged x = {.tokens = t->tokens_rank * t->load,
                          .width = width,
                          .element_bytes = 2,
                          .experts = m->experts,
                          .topk = m->topk,
                          .groups = m->router_groups,
                          .group_topk = m->router_group_topk,
                          .side_by_side =
                              k->force_balance && config_traits(t->config)->balances_in_rows,
                          .ranks = k->ep,
                          .domains = comm_expert_domains(t)};
    double pace = pace_of(t, &x);
    if (t->law.gathers) return pace * gathered(t, &x);
    double dispatch = comm_exchange(t, &t->law, &x);
    x.combine = true;
    return pace * (dispatch + comm_exchange(t, &t->law, &x));
}

/* Ranks of a group stand a tensor-parallel group apart, and each has a NIC of its own. */
double comm_heads(const struct timing *t, double ranks, double bytes)
{
    const struct knobs *k = &t->config->knobs;
    double c = ranks, span = c * k->tp, elsewhere = 1 - larger(1, t->domain / (double)k->tp) / c;
    double within = comm_collective(t, bytes, c, smaller(span, t->domain));
    if (span <= t->domain) return within;
    double rate = t->f.nic * machine_of(t)->nic_bytes_per_s;
    double start = t->f.collective_across_s + t->f.collective_across_doubling_s * log2(c);
    return larger(within, start + bytes * elsewhere / rate);
}

/* Fewer ranks of a ring than of context parallelism stand further apart. */
double comm_context(const struct timing *t, double ranks, double kv_bytes, double core_s)
{
    const struct knobs *k = &t->config->knobs;
    double span = (double)k->cp * k->tp;
    if (config_cp_comm(t->config) == CP_GATHER)
        return comm_collective(t, ranks * kv_bytes, ranks, span);
    double rate = span <= t->domain ? t->f.nvlink * machine_of(t)->nvlink_bytes_per_s
                                    : t->f.nic * machine_of(t)->nic_bytes_per_s;
    return larger(0, kv_bytes * (ranks - 1) / rate - t->f.cp_hidden * core_s) + t->f.cp_start_s;
}

/* Neighbouring stages are gpus/pp ranks apart: where that is less than a domain of several nodes
   (of 8 GPUs at most), most of them share one. */
double comm_stage(const struct timing *t, const struct knobs *k)
{
    double tokens = (double)k->mbs * k->seq / k->cp,
           bytes = 2 * tokens * t->config->model.hidden / k->tp,
           nvlink = t->f.p2p_nvlink * machine_of(t)->nvlink_bytes_per_s;
    bool all_inside = k->gpus <= t->domain,
         mostly_inside = (double)k->gpus / k->pp < t->domain && t->domain > 8;
    double rate = all_inside      ? nvlink
                  : mostly_inside ? t->f.p2p_mixed * nvlink
                                  : t->f.nic * machine_of(t)->nic_bytes_per_s;
    return t->f.p2p_start_s + bytes / rate;
}

/* Plain 1F1B has nothing to hide it behind. */
double comm_stage_exposed(const struct timing *t, const struct knobs *k)
{
    if (k->pp <= 1) return 0;
    return comm_stage(t, k) * (k->vpp > 1 ? t->f.p2p_exposed : 1);
}
