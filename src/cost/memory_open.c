/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan leaves open, taken as sparing as it can be: a plan that does not speak of
   recomputation may describe a run that recomputes. Of sharded parameters every known table of runs
   speaks, so silence means that there are none. */
#include "base/buf.h"
#include "cost/cost.h"

/* Published recipes of low precision reduce bf16 gradients; NeMo's LoRA runs hold frozen weights in
   the products' number format, which says nothing of a gather that frozen weights have not. */
static void spare(struct config *c, uint32_t bit)
{
    struct knobs *k = &c->knobs;
    switch (bit) {
    case UNSTATED_GRADIENTS: k->grad_bytes = k->grad_bytes < 2 ? k->grad_bytes : 2; break;
    case UNSTATED_ACTIVATIONS: k->fp8_activation_store = true; break;
    case UNSTATED_FROZEN: k->fp8_param_gather = true; break;
    case UNSTATED_RECOMPUTE:
        k->recompute = RECOMPUTE_FULL;
        k->recompute_method = METHOD_UNIFORM, k->recompute_num_layers = 1;
        break;
    default: break;
    }
}

/* In the order in which runs are silent about them. */
static const struct {
    uint32_t bit;
    const char *words;
} silences[] = {{UNSTATED_FROZEN, "frozen weights in low precision"},
                {UNSTATED_GRADIENTS, "bf16 gradients"},
                {UNSTATED_ACTIVATIONS, "activations kept in FP8"},
                {UNSTATED_RECOMPUTE, "recomputation"}};
enum { N_SILENCES = sizeof silences / sizeof *silences };

void memory_allow_open(const struct config *c, struct memory_estimate *m)
{
    struct memory_estimate other;
    struct config sparing = *c;
    uint32_t taken = 0;
    if (m->fits != FITS_NO) return;
    for (size_t i = 0; i < N_SILENCES; i++) {
        if (!(c->unstated & silences[i].bit)) continue;
        spare(&sparing, silences[i].bit);
        taken |= silences[i].bit;
        if (!memory_estimate(&sparing, &other, NULL) || other.fits == FITS_NO) continue;
        m->open = taken, m->fits = FITS_TIGHT;
        m->peak_low = other.peak_low < m->peak_low ? other.peak_low : m->peak_low;
        return;
    }
}

struct str memory_open_text(struct arena *a, const struct memory_estimate *m)
{
    struct buf out = buf_new(a);
    const char *before = "does not fit unless it has what it does not state: ";
    for (size_t i = 0; i < N_SILENCES; i++) {
        if (!(m->open & silences[i].bit)) continue;
        buf_printf(&out, "%s%s", before, silences[i].words);
        before = ", ";
    }
    return buf_str(&out);
}
