/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/documents.h"

#include <math.h>

#include "base/larger.h"
#include "base/num.h"

double documents_attended(const struct knobs *k)
{
    return k->document_tokens > 0 ? smaller(k->document_tokens, k->seq) : k->seq;
}

/* The excess of the largest of so many sums, each of so many sequences. */
static struct documents_wait wait_of(const struct knobs *k, double ranks, double sequences)
{
    struct documents_wait w = {.ranks = ranks};
    if (k->document_tokens <= 0 || k->document_mean <= 0 || ranks < 2) return w;
    w.documents = larger(1, k->seq / k->document_mean) * larger(1, sequences);
    w.excess = k->document_spread / sqrt(w.documents) * num_normal_largest(ranks);
    w.excess = smaller(w.excess, k->seq / documents_attended(k) - 1);
    return w;
}

struct documents_wait documents_across_ranks(const struct knobs *k)
{
    if (k->ep > 1) return wait_of(k, k->ep, k->mbs);
    return wait_of(k, (double)knobs_dp(k), (double)knobs_microbatches(k) * k->mbs);
}

bool documents_wait_for_replicas(const struct knobs *k)
{
    return k->ep == 1 && k->document_spread > 0;
}

void documents_leave_replicas(struct knobs *k)
{
    if (documents_wait_for_replicas(k)) k->document_spread = 0;
}

struct documents_wait documents_across_microbatches(const struct knobs *k)
{
    double each = k->ep > 1 ? k->ep : 1, n = (double)knobs_microbatches(k);
    if (k->pp == 1) return (struct documents_wait){.ranks = n};
    struct documents_wait all = wait_of(k, n * each, k->mbs);
    all.ranks = n;
    all.excess = larger(0, (1 + all.excess) / (1 + documents_across_ranks(k).excess) - 1);
    return all;
}

double documents_padding(const struct knobs *k)
{
    double context = k->cp > 1 && k->document_mean > 0 ? (k->cp - 0.5) / k->document_mean : 0;
    return 1 - (1 - k->padding) / (1 + context);
}
