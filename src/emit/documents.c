/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/documents.h"

#include "base/num.h"
#include "cost/cost.h"
#include "plan/documents.h"
#include "plan/framework.h"

/* Parts below this are left out. */
static const double worth_saying = 0.005;

static bool is_stated(const struct knobs *k)
{
    return k->document_tokens > 0 || k->padding > 0;
}

/* The step where every sequence is one document, none of it padding. */
static double step_of_one(const struct config *c)
{
    struct time_estimate t = {0};
    struct config other = *c;
    struct knobs *k = &other.knobs;
    k->document_tokens = k->document_mean = k->document_spread = k->padding = 0;
    return time_estimate(&other, &t, NULL) ? t.step : 0;
}

static void add_excess(const struct knobs *k, struct documents_wait w, struct buf *out)
{
    buf_printf(out, "%.0f %% more attention = spread %.2f / sqrt(%.4g documents) x %.2f",
               100 * w.excess, k->document_spread, w.documents, num_normal_largest(w.ranks));
}

static void add_ranks(const struct knobs *k, struct documents_wait w, struct buf *out)
{
    buf_printf(out, " for the fullest of %.4g %s: ", w.ranks,
               k->ep > 1 ? "expert ranks, each microbatch" : "data-parallel ranks, each step");
    add_excess(k, w, out);
}

static void add_ramps(struct documents_wait ranks, struct documents_wait w, struct buf *out)
{
    buf_printf(out,
               "%s for the largest of %.4g microbatches in the pipeline's ramps: %.0f %% more "
               "attention",
               ranks.excess >= worth_saying ? ";" : "", w.ranks, 100 * w.excess);
}

/* The waiting of a step, and what is behind it. */
static void add_waiting(const struct config *c, struct buf *out)
{
    const struct knobs *k = &c->knobs;
    struct documents_wait ranks = documents_across_ranks(k),
                          largest = documents_across_microbatches(k);
    struct time_estimate t;
    double waiting = time_uneven_documents(c);
    if (!time_estimate(c, &t, NULL) || waiting < worth_saying * t.step) return;
    buf_printf(out, "  waiting     %.2f s (%.1f %%)", waiting, 100 * waiting / t.step);
    if (ranks.excess >= worth_saying) add_ranks(k, ranks, out);
    if (largest.excess >= worth_saying) add_ramps(ranks, largest, out);
    if (k->cp > 1 && config_traits(c)->megatron_words)
        buf_add(out, STR("; context-parallel ranks share each document evenly"));
    buf_add_char(out, '\n');
}

void documents_screen(const struct config *c, struct buf *out)
{
    const struct knobs *k = &c->knobs;
    double padding = 100 * documents_padding(k);
    if (!is_stated(k)) return;
    buf_printf(out, "  documents   of %.0f tokens on average, attention over %.0f of %d tokens",
               k->document_mean, documents_attended(k), k->seq);
    if (k->document_cut >= 0.0005)
        buf_printf(out, "; %.1f %% of the tokens are cut, beyond the sequence",
                   100 * k->document_cut);
    if (padding >= 0.05) buf_printf(out, "; %.1f %% of the tokens are padding", padding);
    if (documents_attended(k) < k->seq)
        buf_printf(out, "; one document a sequence: %.2f s a step", step_of_one(c));
    else if (k->document_mean > 0 && 2 * k->document_mean <= k->seq)
        buf_printf(out, "; packed, a sequence holds %.0f of them", k->seq / k->document_mean);
    buf_add_char(out, '\n');
    add_waiting(c, out);
}

void documents_json(struct tree *t, cJSON *to, const struct config *c)
{
    const struct knobs *k = &c->knobs;
    if (!is_stated(k)) return;
    cJSON *object = tree_object(t, to, "documents");
    tree_number(t, object, "mean", k->document_mean);
    tree_number(t, object, "attended", documents_attended(k));
    tree_number(t, object, "cut", k->document_cut);
    tree_number(t, object, "padding", documents_padding(k));
    tree_number(t, object, "excess_on_fullest_rank", documents_across_ranks(k).excess);
    tree_number(t, object, "waiting_s", time_uneven_documents(c));
    tree_number(t, object, "step_of_one_document_s", step_of_one(c));
}
