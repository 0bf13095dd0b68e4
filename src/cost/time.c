/* SPDX-License-Identifier: Apache-2.0 */
/* step = (pipeline of the layers' times + exposed data-parallel collectives) * straggling +
   optimizer + fixed time. A layer's time on a rank is the larger of what the GPU needs and what the
   host needs to launch it, softened. */
#include "cost/time.h"

#include <math.h>

#include "base/larger.h"
#include "cost/comm.h"
#include "cost/pipeline.h"
#include "cost/trace.h"
#include "plan/documents.h"
#include "plan/framework.h"

/* Time of one item of a chunk (layer, embedding, head, MTP depth), after hiding. */
struct times {
    double forward, backward,
        again;               /* seconds on the rank; again: what recomputation adds to backward */
    double run[2];           /* of both passes their kernels, exchange and launches alone */
    double repeat;           /* of `again`, what is not the host's */
    double heat, heat_again; /* seconds that throttling adds to both passes; to what is repeated */
    struct pass in_forward, in_backward; /* throttled, without recomputation */
};

/* And what it is made of. */
struct item {
    double forward, backward, again, heat, heat_again; /* struct times */
    struct pass busy; /* kernels and exposed communication of both passes, without recomputation */
    double recompute, host, alone;
    double network; /* seconds of both passes' exchanges between domains, hidden or not */
};

/* The parts around the layers are never repeated, an MTP depth's layers are. */
void time_layers_repeat(const struct time_layers *other, const struct config *c,
                        struct time_layers *out)
{
    const struct timing *t = &out->timing;
    size_t n = (size_t)c->model.n_kinds;
    memcpy(out, other, offsetof(struct time_layers, kinds) + n * sizeof *out->kinds);
    out->timing.config = c;
    out->timing.repeated = timing_repeated(&c->knobs);
    for (size_t i = 0; i < n; i++)
        layer_repeat(t, c->model.kinds[i], &out->kinds[i]);
    time_mtp(c, out);
}

struct knobs time_key_without_recompute(struct knobs key)
{
    key.recompute = RECOMPUTE_NONE, key.recompute_method = METHOD_UNIFORM;
    key.recompute_num_layers = 0, key.recompute_modules = 0;
    return key;
}

void time_layers_beside(struct plain_layers *plain, struct config *c, struct known_kernels *known,
                        struct time_layers *out)
{
    struct knobs key = time_key_without_recompute(time_layers_key(&c->knobs)), present = c->knobs;
    if (plain->key.tp == 0 || memcmp(&plain->key, &key, sizeof key) != 0) {
        c->knobs = plain->key = key;
        time_layers_init_known(c, known, &plain->layers);
        c->knobs = present;
    }
    time_layers_repeat(&plain->layers, c, out);
}

struct knobs time_layers_key(const struct knobs *k)
{
    struct knobs x = *k;
    if (!documents_wait_for_replicas(k)) x.pp = 1; /* which decides how many there are */
    x.vpp = x.schedules = 1, x.layout = 0;
    x.overlap_ep = x.shared_expert_overlap = false;
    x.tp_comm_overlap = k->task == TASK_PEFT && k->tp_comm_overlap; /* adapters' own exchange */
    x.optimizer_instances = x.dp_replicate = 1;
    x.fp8_param_gather = x.precision_aware = false;
    x.exp_avg_bytes = x.exp_avg_sq_bytes = 0;
    x.optimizer_offload = 0;
    return x;
}

/* 1F1B overlap needs a second microbatch in flight on the rank: virtual stages, or no pipeline at
   all. */
static bool has_second_in_flight(const struct knobs *k)
{
    return k->vpp > 1 || k->pp == 1;
}

static bool hides_in_second(const struct knobs *k)
{
    return k->overlap_ep && has_second_in_flight(k);
}

/* All that hide reads of the knobs. */
unsigned time_way_to_hide(const struct knobs *k)
{
    const bool bits[] = {k->overlap_ep, k->shared_expert_overlap, k->tp_comm_overlap,
                         has_second_in_flight(k)};
    unsigned out = 0;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        out |= (unsigned)bits[i] << i;
    return out;
}

/* Of a layer's exchange the part for which there are kernels: one microbatch's forward runs beside
   another's backward, and each hides the other's exchange
   (megatron/core/models/common/model_chunk_schedule_plan.py). */
static double covered(const struct layer_time *l)
{
    double exchange = l->forward.ep + l->backward.ep;
    double kernels = pass_kernels(&l->forward) + pass_kernels(&l->backward);
    return exchange > kernels ? kernels / exchange : 1;
}

/* What communication is left after it ran beside kernels: the shared expert's first product beside
   the dispatch, its second beside the combine
   (megatron/core/transformer/moe/shared_experts.py). */
static void hide(const struct timing *t, const struct knobs *k, const struct layer_time *l,
                 struct pass *x)
{
    if (hides_in_second(k))
        x->ep *= 1 - t->f.ep_hidden * covered(l);
    else if (k->shared_expert_overlap)
        x->ep -= t->f.shared_expert_hidden * smaller(x->ep, x->shared);
    if (k->tp_comm_overlap) x->tp *= 1 - t->f.tp_hidden;
}

/* Where the host waits for the device in every layer its head start is lost and both times mix as
   sqrt(a^2 + b^2); else it runs ahead and nearly the larger counts. */
static double mix(double gpu, double host, bool waits)
{
    double a = gpu * gpu, b = host * host;
    return waits ? sqrt(a + b) : sqrt(sqrt(a * a + b * b));
}

/* What is not the host's. */
static double shown(const struct pass *x)
{
    return pass_kernels(x) + x->ep + x->tp + x->cp;
}

static double duration(const struct timing *t, const struct pass *x, bool waits)
{
    double gpu = shown(x) + x->gpu_ops * t->f.gpu_gap_s;
    return mix(gpu, x->ops * t->host_op_s, waits);
}

/* Tensor cores that are busy all the time draw the power that holds the clocks down: their kernels
   slow down with their share of the time. The same GEMM runs slower in a dense model than between
   exchanges and launches. Gives the pass's time, and the seconds of it that are lost so: none where
   the host takes longer. */
static double throttle(const struct timing *t, struct pass *x, bool waits, double *heat)
{
    double whole = duration(t, x, waits);
    double hot = x->gemm + x->grouped + t->f.attention_heat * x->attention;
    double most = t->low ? t->f.throttling_low : t->f.throttling;
    double slower = whole > 0 ? 1 + most * hot / whole : 1;
    x->gemm *= slower;
    x->grouped *= slower;
    x->attention *= slower;
    double throttled = duration(t, x, waits);
    *heat = throttled - whole;
    return throttled;
}

/* What a transfer to or from the CPU takes longer than the pass it runs beside. */
static double offload_exposed(const struct timing *t, const struct layer_time *l, double pass_s)
{
    double rate = t->f.pcie * t->config->machine.pcie_bytes_per_s;
    return l->offloaded > 0 && rate > 0 ? larger(0, l->offloaded / rate - pass_s) : 0;
}

/* What expert exchange keeps the NICs busy for: nothing else on them hides beside it. */
static double between_domains(const struct timing *t, const struct layer_time *l)
{
    if (comm_expert_domains(t) <= 1) return 0;
    return l->forward.ep + l->backward.ep + l->again.ep;
}

/* Adds what recomputation repeats, of which nothing is hidden, to a backward as that runs without
   throttling. What is repeated between cooler kernels may take less than what they gain. */
static void add_repeated(const struct timing *t, const struct layer_time *l,
                         const struct pass *backward, double heat, struct times *x)
{
    struct pass both = *backward;
    pass_add(&both, &l->again, 1);
    double whole = throttle(t, &both, l->syncs > 0, &x->heat_again);
    x->heat_again -= heat;
    x->again = whole + (l->sync_again ? l->syncs * t->f.sync_s : 0) - x->backward;
    x->repeat = larger(0, shown(&both) - shown(&x->in_backward));
}

static void times_of(const struct timing *t, const struct knobs *k, const struct layer_time *l,
                     struct times *x)
{
    bool waits = l->syncs > 0;
    x->in_forward = l->forward, x->in_backward = l->backward;
    hide(t, k, l, &x->in_forward);
    hide(t, k, l, &x->in_backward);
    struct pass cool = x->in_backward;
    double more;
    x->run[0] = throttle(t, &x->in_forward, waits, &x->heat);
    x->run[1] = throttle(t, &x->in_backward, waits, &more);
    x->forward = x->run[0] + l->syncs * t->f.sync_s;
    x->backward = x->run[1];
    x->heat += more;
    x->heat_again = x->again = x->repeat = 0;
    if (l->repeats) add_repeated(t, l, &cool, more, x);
    x->forward += offload_exposed(t, l, x->forward);
    x->backward += offload_exposed(t, l, x->backward + x->again);
}

/* Seconds that a pass takes longer with nothing to hide its exchange in than it takes hidden. */
static double unhidden(const struct timing *t, const struct knobs *k, const struct layer_time *l,
                       struct pass x, double hidden)
{
    double heat, exchange = x.ep;
    hide(t, k, l, &x);
    x.ep = exchange;
    return throttle(t, &x, l->syncs > 0, &heat) - hidden;
}

/* Of both passes, in the first and the last microbatch. */
static double alone(const struct timing *t, const struct knobs *k, const struct layer_time *l,
                    const struct times *x)
{
    if (!hides_in_second(k) || l->forward.ep <= 0) return 0;
    return unhidden(t, k, l, l->forward, x->run[0]) + unhidden(t, k, l, l->backward, x->run[1]);
}

static struct item item_of(const struct timing *t, const struct knobs *k,
                           const struct layer_time *l)
{
    struct times s;
    times_of(t, k, l, &s);
    struct item x = {.forward = s.forward,
                     .backward = s.backward,
                     .again = s.again,
                     .heat = s.heat,
                     .heat_again = s.heat_again,
                     .busy = s.in_forward,
                     .recompute = s.repeat,
                     .alone = alone(t, k, l, &s),
                     .network = between_domains(t, l)};
    pass_add(&x.busy, &s.in_backward, 1);
    x.host = x.forward + x.backward + x.again - shown(&x.busy) - x.recompute;
    return x;
}

struct chunks {
    int n;
    double forward[LAYOUT_MAX_CHUNKS], backward[LAYOUT_MAX_CHUNKS];
    struct pass busy; /* of all chunks together */
    double recompute, host, transfers, network, heat, all, alone;
};

static void put(struct chunks *c, int at, const struct item *x, double count, double again)
{
    c->forward[at] += count * x->forward;
    c->backward[at] += count * (x->backward + again * x->again);
    pass_add(&c->busy, &x->busy, count);
    c->recompute += count * again * x->recompute;
    c->network += count * x->network;
    c->alone += count * x->alone;
    c->heat += count * (x->heat + again * x->heat_again);
    c->host += count * (x->host - (1 - again) * (x->again - x->recompute));
}

/* The part of a chunk's layers that full recomputation repeats: with the block method only the
 * first so many. */
static double repeated(const struct knobs *k, int layers)
{
    bool some = k->recompute == RECOMPUTE_FULL && k->recompute_method == METHOD_BLOCK &&
                k->recompute_num_layers > 0;
    return some && layers > k->recompute_num_layers ? (double)k->recompute_num_layers / layers : 1;
}

static void fill(const struct time_layers *l, const struct config *c, const struct layout *layout,
                 struct chunks *out)
{
    const struct model_shape *m = &c->model;
    const struct timing *t = &l->timing;
    struct item kinds[MODEL_MAX_KINDS], embedding = item_of(t, &c->knobs, &l->embedding);
    struct item head = item_of(t, &c->knobs, &l->head), mtp = item_of(t, &c->knobs, &l->mtp);
    struct item vision = item_of(t, &c->knobs, &l->vision);
    for (int i = 0; i < m->n_kinds; i++)
        kinds[i] = item_of(t, &c->knobs, &l->kinds[i]);
    int layer = 0;
    for (int at = 0; at < layout->n_chunks; at++) {
        int count[MODEL_MAX_KINDS] = {0}, decoders = layout->decoders[at];
        for (int i = 0; i < decoders && layer < m->num_layers; i++)
            count[m->layers[layer++]]++;
        for (int i = 0; i < m->n_kinds; i++)
            if (count[i] > 0) put(out, at, &kinds[i], count[i], repeated(&c->knobs, decoders));
        if (layout->embedding[at]) {
            put(out, at, &embedding, 1, 1);
            put(out, at, &vision, 1, 1);
        }
        if (layout->mtp[at] > 0) put(out, at, &mtp, layout->mtp[at], 1);
        if (layout->loss[at]) put(out, at, &head, 1, 1);
    }
}

static struct time_length length_of(const struct timing *t, const struct knobs *k,
                                    const struct layer_time *l)
{
    struct times x;
    times_of(t, k, l, &x);
    bool some = k->recompute == RECOMPUTE_FULL && k->recompute_method == METHOD_BLOCK;
    return (struct time_length){x.forward, x.backward + (some ? 0 : x.again)};
}

void time_lengths_of(const struct time_layers *l, const struct config *c, struct time_lengths *out)
{
    const struct timing *t = &l->timing;
    const struct knobs *k = &c->knobs;
    struct time_length vision = length_of(t, k, &l->vision);
    out->embedding = length_of(t, k, &l->embedding);
    out->embedding.forward += vision.forward;
    out->embedding.backward += vision.backward;
    out->head = length_of(t, k, &l->head);
    out->mtp = length_of(t, k, &l->mtp);
    for (int i = 0; i < c->model.n_kinds; i++)
        out->kinds[i] = length_of(t, k, &l->kinds[i]);
    out->transfer = comm_stage_exposed(t, k);
}

/* Every chunk sends once forward and once backward. */
static void add_transfers(const struct timing *t, const struct knobs *k, struct chunks *c)
{
    double one = comm_stage_exposed(t, k);
    for (int i = 0; i < c->n; i++) {
        c->forward[i] += one;
        c->backward[i] += one;
    }
    c->transfers = 2 * one * c->n;
}

static bool chunks_of(const struct time_layers *l, const struct config *c, struct chunks *out)
{
    struct layout layout;
    if (!config_layout(c, &layout)) return false;
    out->n = layout.n_chunks;
    out->busy = (struct pass){0};
    out->recompute = out->host = out->network = out->heat = out->all = out->alone = 0;
    for (int i = 0; i < out->n; i++) /* only what is used: the search asks thousands of times */
        out->forward[i] = out->backward[i] = 0;
    fill(l, c, &layout, out);
    add_transfers(&l->timing, &c->knobs, out);
    for (int i = 0; i < out->n; i++)
        out->all += out->forward[i] + out->backward[i];
    return true;
}

/* Slowest of many ranks: with every doubling above 64, where the coefficient starts to count. And
   what own runs of the model showed. */
static double straggling(const struct timing *t, const struct knobs *k)
{
    double pace = t->paced ? t->f.pace : 1;
    return pace * (k->gpus > 64 ? 1 + t->f.straggling * log2((double)k->gpus / 64) : 1);
}

/* What a pipeline's ramps take longer as its largest microbatch is larger than the mean. */
static double uneven_ramps(const struct knobs *k, const struct chunks *c)
{
    double ramps = (double)(k->pp - 1) / (c->n / k->pp);
    return ramps * c->busy.attention / k->pp * documents_across_microbatches(k).excess;
}

/* While the busiest stage waits it draws little power, which lets the clocks of its next kernels
   rise: of what throttling takes of a busy stage, as much is saved as it waits.

   Exchange that hides in another microbatch's passes is seen where there is none: in the first
   forward and the last backward (megatron/core/pipeline_parallel/combined_1f1b.py). With virtual
   stages a rank's warm-up is (vpp - 1) * pp + 1 chunks, and the longest way to it pp - 1 of others
   (schedules.py, get_pp_rank_microbatches): as many as the model has. */
static double schedule(const struct knobs *k, const struct chunks *c)
{
    struct pipeline p = pipeline_of_knobs(k, c->n, c->forward, c->backward);
    double busy = (double)p.microbatches * pipeline_busiest(&p);
    double waits = pipeline_time(&p) - busy + uneven_ramps(k, c);
    return knobs_schedules(k) * (busy + waits * (1 - c->heat / c->all) + c->alone);
}

static void breakdown(const struct timing *t, const struct chunks *c, double times,
                      struct time_estimate *out)
{
    out->compute = times * pass_kernels(&c->busy);
    out->recompute = times * c->recompute;
    out->ep_exposed = times * c->busy.ep;
    out->tp_exposed = times * c->busy.tp;
    out->cp_exposed = times * c->busy.cp;
    out->pp_exposed = times * c->transfers;
    out->host = times * c->host + t->f.step_s;
}

/* By what is known of such runs. */
static double kind_error(const struct timing *t)
{
    const struct model_shape *m = &t->config->model;
    const struct knobs *k = &t->config->knobs;
    if (k->fsdp != FSDP_NONE || config_traits(t->config)->fitted_with_fsdp2) return t->f.error_fsdp;
    if (k->task == TASK_PEFT) return t->f.error_peft;
    if (m->add_bias) return t->f.error_bias;
    if (m->experts == 0) return t->f.error_dense;
    if (comm_expert_domains(t) > 1) return t->f.error_across;
    return t->captured ? t->f.error_graphed_moe : t->f.error_moe;
}

/* The model's own error. */
static double class_error(const struct timing *t)
{
    return hypot(kind_error(t), knobs_packs(&t->config->knobs) ? t->f.error_four_bit : 0);
}

/* Every term's share of the step times the spread of its coefficient, in quadrature, and the
   model's own error. Nine of ten runs lie within 1.645 standard deviations. */
static void set_interval(const struct time_layers *l, const struct chunks *c, double times,
                         struct time_estimate *out)
{
    const struct timing *t = &l->timing;
    const struct coefficient_spread spread = coefficients_spread(&t->config->machine), *s = &spread;
    const struct pass *x = &c->busy;
    double gemm = t->low ? (t->gemm_low.bytes < 1 ? s->gemm_fp4 : s->gemm_fp8) : s->gemm_bf16;
    double again = 1 + (out->compute > 0 ? out->recompute / out->compute
                                         : 0); /* repeats share the kernels' errors */
    double parts[] = {
        times * again * (x->gemm + x->grouped) * gemm,
        times * again * x->grouped * s->grouped_training,
        times * again * x->attention * s->attention,
        times * again * x->memory * s->activation_passes,
        times * again * x->quantise * s->quantise,
        times * again * x->scan * s->scan,
        out->ep_exposed * s->dispatch,
        out->tp_exposed * s->nvlink,
        out->cp_exposed * s->nic,
        out->pp_exposed * s->p2p_exposed,
        out->dp_exposed * s->nic,
        out->host * s->host_op_s,
    };
    double model = t->paced ? s->pace : class_error(t), chip = t->paced ? 0 : t->f.error_chip;
    double variance = model * model + chip * chip;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        variance += parts[i] * parts[i] / (out->step * out->step);
    double half = 1.645 * sqrt(variance);
    out->low = out->step * exp(-half);
    out->high = out->step * exp(half);
}

static struct time_pass pass_of(const struct timing *t, const struct knobs *k,
                                const struct chunks *chunks)
{
    double stage = chunks->all / k->pp;
    return (struct time_pass){.seconds = straggling(t, k) * schedule(k, chunks),
                              .window = larger(0, stage - chunks->network / k->pp)};
}

/* The step with what is around its passes. */
static void add_around(const struct timing *t, const struct config *c, const struct time_pass *pass,
                       struct time_estimate *out)
{
    const struct knobs *k = &c->knobs;
    struct rank_params params = sharding_params(c);
    out->dp_exposed = straggling(t, k) * sharding_exposed(t, k, params, pass->window);
    out->optimizer = sharding_optimizer(t, k, params);
    out->step = pass->seconds + out->dp_exposed + out->optimizer + t->f.step_s;
}

/* The step and what it is made of. */
static bool estimate_step(const struct time_layers *l, const struct config *c,
                          struct chunks *chunks, struct time_estimate *out)
{
    const struct knobs *k = &c->knobs;
    const struct timing *t = &l->timing;
    if (!chunks_of(l, c, chunks)) return false;
    *out = (struct time_estimate){0};
    struct time_pass pass = pass_of(t, k, chunks);
    double n = (double)knobs_microbatches(k);
    double whole = n * (chunks->all / k->pp) + chunks->alone;
    out->bubble = pass.seconds - straggling(t, k) * whole;
    add_around(t, c, &pass, out);
    return true;
}

bool time_pass_of(const struct time_layers *l, const struct config *c, struct time_pass *out)
{
    struct chunks chunks;
    if (!chunks_of(l, c, &chunks)) return false;
    *out = pass_of(&l->timing, &c->knobs, &chunks);
    return true;
}

double time_step_of(const struct time_layers *l, const struct config *c,
                    const struct time_pass *pass)
{
    struct time_estimate t;
    add_around(&l->timing, c, pass, &t);
    return t.step;
}

double time_step(const struct time_layers *l, const struct config *c)
{
    struct time_pass pass;
    return time_pass_of(l, c, &pass) ? time_step_of(l, c, &pass) : INFINITY;
}

bool time_estimate_layers(const struct time_layers *l, const struct config *c,
                          struct time_estimate *out, struct cost_trace *trace)
{
    const struct knobs *k = &c->knobs;
    const struct timing *t = &l->timing;
    struct chunks chunks;
    if (!estimate_step(l, c, &chunks, out)) return false;
    double n = (double)knobs_microbatches(k), times = straggling(t, k) * n / k->pp, p = k->pp - 1;
    breakdown(t, &chunks, times, out);
    out->ep_exposed += straggling(t, k) * chunks.alone;
    out->bubble_fraction = p / ((double)knobs_scheduled(k) * chunks.n / k->pp + p);
    double tokens = (double)k->gbs * k->seq / (out->step * (double)k->gpus);
    out->tokens_per_s_per_gpu = tokens;
    out->model_flops_per_gpu = tokens * model_flops_per_token(c);
    out->peak = t->peak;
    out->peak_name = t->peak_name;
    out->mfu = tokens * model_flops_done_per_token(c) / t->peak;
    set_interval(l, &chunks, times, out);
    trace_layers(trace, l);
    trace_step(trace, c, out, sharding_params(c));
    return true;
}

bool time_estimate(const struct config *c, struct time_estimate *out, struct cost_trace *trace)
{
    struct time_layers layers;
    time_layers_init(c, &layers);
    return time_estimate_layers(&layers, c, out, trace);
}

double time_uneven_documents(const struct config *c)
{
    struct time_estimate as_is, even;
    struct config other = *c;
    other.knobs.document_spread = 0;
    if (!time_estimate(c, &as_is, NULL) || !time_estimate(&other, &even, NULL)) return 0;
    return as_is.step - even.step;
}

/* Adds what throttling takes to *heat, and `alone` to *lone unless that is NULL. */
static double rate(const struct time_layers *l, const struct knobs *k,
                   const struct layer_time *layer, double *heat, double *lone)
{
    struct times x;
    times_of(&l->timing, k, layer, &x);
    *heat += x.heat + x.heat_again;
    if (lone) *lone += alone(&l->timing, k, layer, &x);
    return x.forward + x.backward + x.again;
}

/* What stands at the ends of the model is never repeated and exchanges nothing between experts. */
struct end_rates time_end_rates(const struct config *c, const struct time_layers *l,
                                bool tp_overlap)
{
    struct knobs k = c->knobs;
    k.tp_comm_overlap = tp_overlap;
    struct end_rates x = {0};
    x.embedding = rate(l, &k, &l->embedding, &x.heat, NULL);
    x.head = rate(l, &k, &l->head, &x.heat, NULL);
    if (c->model.vision_layers > 0) x.embedding += rate(l, &k, &l->vision, &x.heat, NULL);
    return x;
}

double time_least_cooled(const struct timing *t)
{
    return 1 / (1 + (t->low ? t->f.throttling_low : t->f.throttling));
}

double time_least_pipeline(const struct time_rates *rates, double busy, double whole)
{
    return busy + rates->cooled * larger(0, whole - busy);
}

/* As schedule has it of any division: `all` seconds of a microbatch, of which `heat` are
   throttling's. Where a part of each chunk is repeated, that is not known. */
static double cooled(const struct time_layers *l, const struct knobs *k, double all, double heat)
{
    if (k->recompute_method == METHOD_BLOCK) return time_least_cooled(&l->timing);
    return 1 - heat / all;
}

/* Of a pass what no switch takes away. */
static struct pass bare(const struct pass *x)
{
    return (struct pass){.gemm = x->gemm,
                         .grouped = x->grouped,
                         .attention = x->attention,
                         .tp = x->tp,
                         .cp = x->cp};
}

void time_rough_start(const struct config *c, struct known_kernels *known, int kind,
                      struct time_rough *out)
{
    out->kind = kind;
    out->timing = timing_of_known(c, known);
    out->timing.captured |= SCOPE_FULL;
    out->products = layer_products(&out->timing, c->model.kinds[kind]);
}

void time_rough_rates(const struct time_rough *rough, struct time_rates *out)
{
    const struct timing *t = &rough->timing;
    struct layer_time layer = rough->products;
    struct knobs k = t->config->knobs;
    double heat;
    layer_add_rest(t, t->config->model.kinds[rough->kind], &layer);
    k.tp_comm_overlap = true;
    *out = (struct time_rates){
        .cooled = time_least_cooled(t), .slow = straggling(t, &k), .fixed = t->f.step_s};
    struct pass passes[] = {bare(&layer.forward), bare(&layer.backward)};
    for (int i = 0; i < 2; i++) {
        hide(t, &k, &layer, &passes[i]);
        out->kinds[rough->kind] += throttle(t, &passes[i], false, &heat);
    }
}

void time_rates_of(const struct time_layers *l, const struct config *c, struct time_rates *out)
{
    const struct model_shape *m = &c->model;
    const struct end_rates *ends = &l->ends[c->knobs.tp_comm_overlap];
    double all = ends->embedding + ends->head, heat = ends->heat;
    *out = (struct time_rates){.embedding = ends->embedding, .head = ends->head};
    for (int i = 0; i < m->n_kinds; i++) {
        double hot = 0, lone = 0;
        out->kinds[i] = rate(l, &c->knobs, &l->kinds[i], &hot, &lone);
        all += l->counts[i] * out->kinds[i];
        heat += l->counts[i] * hot;
        out->alone += l->counts[i] * lone;
    }
    if (m->mtp_layers > 0) {
        double hot = 0, lone = 0;
        out->mtp = rate(l, &c->knobs, &l->mtp, &hot, &lone);
        all += m->mtp_layers * out->mtp;
        heat += m->mtp_layers * hot;
        out->alone += m->mtp_layers * lone;
    }
    out->cooled = cooled(l, &c->knobs, all, heat);
    out->slow = straggling(&l->timing, &c->knobs);
    out->fixed = l->timing.f.step_s;
}
