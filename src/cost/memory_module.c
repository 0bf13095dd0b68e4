/* SPDX-License-Identifier: Apache-2.0 */
/* A stage's peak by module: what the layers' mixers and what their FFNs hold of it. */
#include "cost/memory_stage.h"

/* Parameters, gradients, optimizer states and activations of a stage, as far as its peak has them.
 */
static double held(const struct memory_work *w, int stage, const struct stage_memory *peak)
{
    struct holding s = holding_of_stage(w, stage);
    struct in_flight saved = activation_in_flight(w, &s);
    return state_parameters(w, &s, NULL) + (peak->grads > 0 ? state_gradients(w, &s, NULL) : 0) +
           (peak->optimizer > 0 ? state_optimizer(w, &s, NULL) : 0) +
           (phase_is_backward(peak->phase) ? saved.kept : saved.captured);
}

/* The same stage with layers that have only one half, or none. */
static double held_by(const struct memory_work *whole, int stage, const struct stage_memory *peak,
                      bool mixer, bool ffn)
{
    struct memory_work w = *whole;
    for (int i = 0; i < w.c->model.n_kinds; i++) {
        struct layer_kind half = w.c->model.kinds[i];
        if (!mixer) half.mixer = MIXER_NONE;
        if (!ffn) half.ffn = FFN_NONE;
        layer_measure(w.c, &w.t, half, &w.kinds[i]);
    }
    return held(&w, stage, peak);
}

bool memory_modules(const struct config *c, const struct memory_estimate *m,
                    struct memory_modules *out)
{
    struct memory_work w;
    if (!memory_prepare(c, &w)) return false;
    const struct stage_memory *peak = &m->stages[m->fullest];
    double neither = held_by(&w, m->fullest, peak, false, false);
    out->mixers = held_by(&w, m->fullest, peak, true, false) - neither;
    out->ffns = held_by(&w, m->fullest, peak, false, true) - neither;
    out->rest = peak->total - out->mixers - out->ffns;
    return true;
}
