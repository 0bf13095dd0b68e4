/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/documents.h"

#include <math.h>

double documents_attended(const struct knobs *k)
{
    return k->document_tokens > 0 ? fmin(k->document_tokens, k->seq) : k->seq;
}

/* Of how many ranks the slowest is waited for, and how many sequences of each are one wait. */
static double ranks_waiting(const struct knobs *k, double *sequences)
{
    *sequences = k->ep > 1 ? k->mbs : (double)knobs_microbatches(k) * k->mbs;
    return k->ep > 1 ? k->ep : (double)knobs_dp(k);
}

double documents_imbalance(const struct knobs *k)
{
    double sequences, ranks = ranks_waiting(k, &sequences);
    if (k->document_tokens <= 0 || k->document_mean <= 0 || ranks < 2) return 1;
    double documents = fmax(1, k->seq / k->document_mean) * fmax(1, sequences);
    double excess = k->document_spread / sqrt(documents) * sqrt(2 * log(ranks));
    return fmin(1 + excess, k->seq / documents_attended(k));
}

double documents_padding(const struct knobs *k)
{
    double context = k->cp > 1 && k->document_mean > 0 ? (k->cp - 0.5) / k->document_mean : 0;
    return 1 - (1 - k->padding) / (1 + context);
}
