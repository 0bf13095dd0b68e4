/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/documents.h"

#include "plan/documents.h"

void documents_screen(const struct config *c, struct buf *out)
{
    const struct knobs *k = &c->knobs;
    double padding = 100 * documents_padding(k), excess = 100 * (documents_imbalance(k) - 1);
    if (k->document_tokens <= 0 && k->padding <= 0) return;
    buf_printf(out, "  documents   of %.0f tokens on average, attention over %.0f of %d tokens",
               k->document_mean, documents_attended(k), k->seq);
    if (excess >= 0.5) buf_printf(out, ", %.0f %% more of it on the fullest rank", excess);
    if (padding >= 0.05) buf_printf(out, "; %.1f %% of the tokens are padding", padding);
    buf_add_char(out, '\n');
}
