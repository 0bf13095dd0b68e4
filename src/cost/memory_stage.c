/* SPDX-License-Identifier: Apache-2.0 */
/* One pipeline stage at its peak: the largest of a step's phases, and how far it may be off. */
#include "cost/memory_stage.h"

#include <math.h>

#include "base/larger.h"

/* What differs between the phases of a step; parameters and buffers are there in all of them. */
struct phase {
    double transient, activations, graphs, logits, grads, optimizer, gathered;
    char name;
    double next; /* total of the second largest phase */
};

static double phase_total(const struct phase *p)
{
    return p->transient + p->activations + p->graphs + p->logits + p->grads + p->optimizer +
           p->gathered;
}

/* torch's optimizers drop gradients after the step, so that FSDP2's first backward starts without
 * any. */
static bool lazy_gradients(const struct knobs *k)
{
    return k->fsdp == FSDP_FSDP2 && k->pp == 1 && knobs_microbatches(k) == 1;
}

enum { HEAD, LAYER, OUTPUTS, STEP, LOADING, PHASES };
struct phases {
    struct phase items[PHASES];
};

/* A backward of the head, B backward of the last layer, M the outputs of a pass put together, C
   optimizer step, L loading of 4-bit weights. CUDA graphs keep the tensors of the modules they
   capture, for every microbatch in flight, in a pool that nothing else may use, not even the
   optimizer step (transformer_engine/pytorch/graph.py: one memory pool, with input and output
   buffers reused after a backward). */
static struct phases phases_of(const struct memory_work *w, const struct holding *s,
                               const struct in_flight *saved)
{
    const struct knobs *k = &w->c->knobs;
    double grads = state_gradients(w, s, NULL), early = lazy_gradients(k) ? 0 : grads;
    double states = state_optimizer(w, s, NULL), gathered = state_gathered(w, s, NULL);
    double resident = k->offload_optimizer_states ? 0 : states;
    double pool = saved->captured, eager = saved->kept - pool;
    double outputs = activation_outputs(w, s, NULL);
    struct phases all = {{
        [HEAD] = {activation_head_transient(w, s, NULL), eager, pool,
                  outputs + activation_logits(w, s, NULL), early, resident, gathered, 'A', 0},
        [LAYER] = {activation_layer_transient(w, s, NULL), eager, pool, outputs, early, resident,
                   gathered, 'B', 0},
        [STEP] = {state_step_transient(w, s, NULL), 0, pool, outputs, grads, states,
                  k->fsdp == FSDP_FSDP2 ? 0 : gathered, 'C', 0},
        [LOADING] = {.transient = knobs_packs(k) ? state_loading(w, s, NULL) : 0, .name = 'L'},
    }};
    if (outputs > 0)
        all.items[OUTPUTS] =
            (struct phase){0, 0, pool, 2 * outputs, grads, resident, gathered, 'M', 0};
    return all;
}

static struct phase peak_of(const struct phases *all)
{
    double most = phase_total(&all->items[0]), next = 0;
    int peak = 0;
    for (int i = 1; i < PHASES; i++) {
        double total = phase_total(&all->items[i]), less = total < most ? total : most;
        if (less > next) next = less;
        if (total > most) most = total, peak = i;
    }
    struct phase out = all->items[peak];
    out.next = next;
    return out;
}

/* The larger backward. */
static const struct phase *backward_of(const struct phases *all)
{
    const struct phase *head = &all->items[HEAD], *layer = &all->items[LAYER];
    return phase_total(layer) > phase_total(head) ? layer : head;
}

/* Half-widths of independent causes add in squares. */
struct spread {
    double low, high;
};

static void spread_add(struct spread *s, double bytes, struct range relative)
{
    double low = bytes * (relative.value - relative.low);
    double high = bytes * (relative.high - relative.value);
    s->low += low * low;
    s->high += high * high;
}

static void add_causes(const struct memory_work *w, const struct in_flight *saved, struct spread *s)
{
    struct cause causes[ACTIVATION_CAUSES];
    activation_causes(w, saved, causes);
    for (int i = 0; i < ACTIVATION_CAUSES; i++)
        spread_add(s, causes[i].bytes, causes[i].relative);
}

/* A plan that does not say whether FSDP2 reshards may be one that does. */
static struct range gathered_range(const struct memory_work *w)
{
    const struct knobs *k = &w->c->knobs;
    struct range r = w->x.gathered_parameters;
    if ((w->c->unstated & UNSTATED_RESHARDING) && !knobs_reshards(k)) r.low = 0;
    return r;
}

/* The part of the optimizer step's transient that may be missing: what is above the next phase. */
static double step_excess(const struct phase *peak)
{
    double above = phase_total(peak) - peak->next;
    if (peak->name != 'C') return 0;
    return above < peak->transient ? above : peak->transient;
}

/* Megatron-FSDP keeps and gathers FP8 parameters, which PyTorch's does not. */
static bool gathers_quantised(const struct knobs *k)
{
    return knobs_quantised(k) && k->fp8_param_gather && k->fsdp != FSDP_FSDP2;
}

static void stage_interval(const struct memory_work *w, const struct phase *peak,
                           const struct in_flight *saved, const struct holding *h,
                           struct stage_memory *m)
{
    const struct knobs *k = &w->c->knobs;
    const struct memory_coefficients *x = &w->x;
    bool quantised = knobs_quantised(k);
    struct spread s = {0};
    spread_add(&s, m->total, x->memory_error);
    if (knobs_packs(k)) spread_add(&s, m->total, x->four_bit_error);
    if (phase_is_backward(peak->name)) add_causes(w, saved, &s);
    spread_add(&s, step_excess(peak), x->adam_expansion);
    spread_add(&s, state_frozen_transposes(w, h), x->frozen_transposes);
    spread_add(&s, state_quantised_set(w, h), x->quantised_sets);
    if (quantised) spread_add(&s, m->activations + m->graphs, x->quantised_activations);
    if (k->graph_impl != GRAPH_NONE) spread_add(&s, m->total, x->graph_error);
    if (peak->gathered > 0) {
        spread_add(&s, m->total, x->fsdp_error);
        if (gathers_quantised(k)) spread_add(&s, m->total, x->fsdp_quantised_error);
        spread_add(&s, peak->gathered, gathered_range(w));
    }
    m->low = m->total - sqrt(s.low);
    m->high = m->total + sqrt(s.high);
}

/* The stage in a phase. */
static struct stage_memory stage_in(const struct memory_work *w, const struct holding *s,
                                    const struct in_flight *saved, const struct phase *phase)
{
    struct stage_memory out = {.params = state_parameters(w, s, NULL),
                               .grads = phase->grads,
                               .optimizer = phase->optimizer,
                               .activations = phase->activations,
                               .graphs = phase->graphs,
                               .logits = phase->logits,
                               .buffers =
                                   state_buffers(w, s, NULL) + phase->gathered + phase->transient,
                               .phase = phase->name};
    out.total = out.params + out.grads + out.optimizer + out.activations + out.graphs + out.logits +
                out.buffers;
    stage_interval(w, phase, saved, s, &out);
    return out;
}

/* Of what the passes keep less is known than of what the optimizer's step needs. */
void stage_estimate(const struct memory_work *w, int stage, struct stage_memory *out)
{
    struct holding s = holding_of_stage(w, stage);
    struct in_flight saved = activation_in_flight(w, &s);
    struct phases phases = phases_of(w, &s, &saved);
    struct phase peak = peak_of(&phases);
    *out = stage_in(w, &s, &saved, &peak);
    if (!phase_is_backward(peak.name))
        out->high = larger(out->high, stage_in(w, &s, &saved, backward_of(&phases)).high);
}

/* Only terms of the peak's phase, so that they add up to its total. */
void stage_explain(const struct memory_work *w, int stage, struct cost_trace *trace)
{
    struct holding s = holding_of_stage(w, stage);
    struct in_flight saved = activation_in_flight(w, &s);
    struct phases phases = phases_of(w, &s, &saved);
    struct phase peak = peak_of(&phases);
    state_parameters(w, &s, trace);
    if (peak.grads > 0) state_gradients(w, &s, trace);
    if (peak.optimizer > 0) state_optimizer(w, &s, trace);
    state_buffers(w, &s, trace);
    if (peak.gathered > 0) state_gathered(w, &s, trace);
    if (peak.name == 'L') state_loading(w, &s, trace);
    if (phase_is_backward(peak.name)) memory_trace_tensors(w, &s, trace);
    if (peak.name == 'A') {
        activation_logits(w, &s, trace);
        activation_head_transient(w, &s, trace);
    }
    if (peak.name == 'B') activation_layer_transient(w, &s, trace);
    if (peak.name != 'L') activation_outputs(w, &s, trace);
    if (peak.name == 'M')
        trace_term(trace, "these outputs as one", peak.logits / 2, "%.6g B", peak.logits / 2);
    if (peak.name == 'C') state_step_transient(w, &s, trace);
    if (!phase_is_backward(peak.name) && peak.graphs > 0)
        trace_term(trace, "pool of the CUDA graphs", peak.graphs, "%.6g B", peak.graphs);
}
