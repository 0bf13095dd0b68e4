/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/comm.h"

#include <math.h>

static const struct machine *machine_of(const struct timing *t)
{
    return &t->config->machine;
}

/* Start-up of NCCL kernels, growing with the tree's depth. */
static double startup(const struct coefficients *f, bool inside, double ranks)
{
    return inside ? f->collective_start_s + f->collective_doubling_s * log2(ranks)
                  : f->collective_across_s + f->collective_across_doubling_s * log2(ranks);
}

/* Across domains the members of the group in one domain share that domain's NICs, so their rates
 * add up. */
double comm_collective(const struct timing *t, double bytes, double n, double span)
{
    if (n <= 1) return 0;
    bool inside = span <= t->domain;
    double rate = t->f.nvlink * machine_of(t)->nvlink_bytes_per_s;
    double local = fmax(1, t->domain * n / span);
    if (!inside) rate = fmin(rate, local * t->f.nic_bulk * machine_of(t)->nic_bytes_per_s);
    return startup(&t->f, inside, n) + bytes * (n - 1) / n / rate;
}

/* Distinct ones among n that k independent choices meet. */
static double distinct(double n, double k)
{
    return n * (1 - pow(1 - 1 / n, k));
}

/* Bytes a rank sends inside its domain and beyond: one copy for every chosen expert, or,
   de-duplicated, one a domain and one a rank. An all-gather sends everything everywhere. */
double comm_dispatch(const struct timing *t, double width)
{
    const struct knobs *k = &t->config->knobs;
    if (k->ep <= 1) return 0;
    double n = k->ep, domains = ceil(n * k->etp / t->domain), ranks = n / domains;
    double sent = 2 * t->tokens_rank * t->load * width, topk = t->config->model.topk;
    double copies = t->law.once                           ? distinct(domains, topk)
                    : k->dispatcher == DISPATCH_ALLGATHER ? n
                                                          : topk;
    double landed = t->law.once ? distinct(n, topk) : copies / domains;
    double across = sent * copies * (1 - 1 / domains), inside = sent * landed * (1 - 1 / ranks);
    double per_byte =
        1 / (t->law.nvlink * machine_of(t)->nvlink_bytes_per_s) + 1 / t->law.sm_bytes_per_s;
    double net = 1 / (t->f.nic * machine_of(t)->nic_bytes_per_s);
    if (t->law.proxy_bytes_per_s > 0) net += 1 / t->law.proxy_bytes_per_s;
    double fast = inside * per_byte, slow = across * net;
    return 2 * t->f.dispatch *
           (t->f.dispatch_start_s + (t->law.added ? fast + slow : fmax(fast, slow)));
}

double comm_context(const struct timing *t, double kv_bytes, double q_bytes, double core_s)
{
    const struct knobs *k = &t->config->knobs;
    double c = k->cp, span = c * k->tp;
    double rate = span <= t->domain ? t->f.nvlink * machine_of(t)->nvlink_bytes_per_s
                                    : t->f.nic * machine_of(t)->nic_bytes_per_s;
    double ring = fmax(0, kv_bytes * (c - 1) / rate - t->f.cp_hidden * core_s);
    double exchange = 2 * (q_bytes + kv_bytes) * (c - 1) / c / rate;
    return fmin(ring, exchange) + t->f.cp_start_s;
}

/* Neighbouring stages are gpus/pp ranks apart: where that is less than a domain of several nodes
   (of 8 GPUs at most), most of them share one. */
double comm_stage(const struct timing *t, const struct knobs *k)
{
    double bytes = 2 * t->tokens * t->config->model.hidden / k->tp,
           nvlink = t->f.p2p_nvlink * machine_of(t)->nvlink_bytes_per_s;
    bool all_inside = k->gpus <= t->domain,
         mostly_inside = (double)k->gpus / k->pp < t->domain && t->domain > 8;
    double rate = all_inside      ? nvlink
                  : mostly_inside ? t->f.p2p_mixed * nvlink
                                  : t->f.nic * machine_of(t)->nic_bytes_per_s;
    return t->f.p2p_start_s + bytes / rate;
}
