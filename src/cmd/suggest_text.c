/* SPDX-License-Identifier: Apache-2.0 */
/* The screen: the question, the plan, its memory a stage, its time, why, and what comes next. */
#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "cmd/suggest.h"

#define GIB 1073741824.0
enum { BAR = 40, STAGES_SHOWN = 8 };

static const char *framework_title(enum framework framework)
{
    static const char *const titles[] = {"Megatron-LM", "Megatron-Bridge", "NeMo AutoModel"};
    return titles[framework];
}

static struct str word(struct arena *a, const struct answer_plan *plan, const char *param)
{
    return value_text(a, knob_get(a, &plan->config.knobs, knob_find(str_of(param))));
}

static void add_question(struct arena *a, const struct ask *ask, const struct answer *answer,
                         struct buf *out)
{
    struct param_counts n = model_params(&answer->base.model);
    const struct machine *m = &answer->base.machine;
    buf_printf(out, "%.*s  %.2f B parameters, %.2f B active, %d layers", STR_ARG(ask->model->name),
               (double)n.total / 1e9, (double)n.active / 1e9, answer->base.model.num_layers);
    if (answer->base.model.experts)
        buf_printf(out, ", %d experts top-%d", answer->base.model.experts, answer->base.model.topk);
    if (n.mtp) buf_printf(out, ", MTP %.2f B", (double)n.mtp / 1e9);
    if (n.vision) buf_printf(out, ", vision %.2f B", (double)n.vision / 1e9);
    struct str gpus = num_grouped(a, ask->gpus), gbs = num_grouped(a, ask->gbs);
    buf_printf(out,
               "\n%.*s  %.*s GPUs, %d a node, NVLink domain %d, %.0f GiB each; seq %" PRId64
               "%s, gbs %.*s%s\n",
               STR_ARG(ask->platform->name), STR_ARG(gpus), m->gpus_per_node, m->nvlink_domain,
               m->capacity_bytes / GIB, ask->seq, ask->seq_assumed ? " (assumed)" : "",
               STR_ARG(gbs), ask->gbs_assumed ? " (assumed)" : "");
}

static void add_layout(struct arena *a, const struct answer_plan *plan, struct buf *out)
{
    const struct knobs *k = &plan->config.knobs;
    buf_printf(out, "  parallel    tp %d, pp %d", k->tp, k->pp);
    if (k->vpp > 1) buf_printf(out, " x vpp %d", k->vpp);
    buf_printf(out, ", cp %d, ep %d, etp %d; dp %" PRId64 ", expert dp %" PRId64 "\n", k->cp, k->ep,
               k->etp, knobs_dp(k), knobs_edp(k));
    buf_printf(out, "  batch       mbs %d, %" PRId64 " microbatches, %.1f M tokens a step\n",
               k->mbs, knobs_microbatches(k), (double)k->gbs * k->seq / 1e6);
    if (k->layout > 0)
        buf_printf(out, "  stages      %.*s\n", STR_ARG(layout_text(a, &plan->layout)));
}

static const char *sharding(const struct knobs *k)
{
    static const char *const words[] = {"distributed optimizer (ZeRO-1)",
                                        "Megatron-FSDP, optimizer states",
                                        "Megatron-FSDP, optimizer states and gradients",
                                        "Megatron-FSDP, parameters too",
                                        "FSDP2",
                                        "DDP"};
    return words[k->fsdp];
}

static const char *dispatcher(const struct knobs *k)
{
    static const char *const words[] = {"allgather", "alltoall", "flex / deepep", "flex / hybridep",
                                        "torch"};
    return words[k->dispatcher];
}

static void add_choices(struct arena *a, const struct answer_plan *plan, struct buf *out)
{
    const struct knobs *k = &plan->config.knobs;
    struct str precision = word(a, plan, "precision");
    buf_printf(out, "  precision   %.*s%s\n", STR_ARG(precision),
               k->fp8_param_gather ? ", FP8 parameter gather" : "");
    buf_printf(out, "  sharding    %s\n", sharding(k));
    if (plan->config.model.experts && k->ep * k->etp > 1)
        buf_printf(out, "  dispatcher  %s\n", dispatcher(k));
    if (k->recompute == RECOMPUTE_NONE) buf_add(out, STR("  recompute   nothing\n"));
    if (k->recompute == RECOMPUTE_FULL) buf_add(out, STR("  recompute   full, every layer\n"));
    if (k->recompute == RECOMPUTE_SELECTIVE)
        buf_printf(out, "  recompute   selective %.*s\n",
                   STR_ARG(word(a, plan, "recompute_modules")));
    if (k->graph_impl != GRAPH_NONE)
        buf_printf(out, "  graphs      %.*s %.*s\n", STR_ARG(word(a, plan, "cuda_graph_impl")),
                   STR_ARG(word(a, plan, "cuda_graph_scope")));
    if (k->overlap_ep) buf_add(out, STR("  overlap     expert communication (1F1B)\n"));
}

struct part {
    char mark;
    double bytes;
};

static void add_bar(const struct part *parts, size_t n, double scale, struct buf *out)
{
    double at = 0;
    int drawn = 0;
    for (size_t i = 0; i < n; i++) {
        at += parts[i].bytes;
        int to = (int)lround(at * scale);
        for (; drawn < to && drawn < BAR; drawn++)
            buf_add_char(out, parts[i].mark);
    }
    buf_add_n(out, ' ', (size_t)(BAR - drawn));
}

static void add_stage(const struct memory_estimate *m, int number, struct buf *out)
{
    const struct stage_memory *s = &m->stages[number];
    const struct part parts[] = {{'w', s->params},      {'g', s->grads},  {'o', s->optimizer},
                                 {'a', s->activations}, {'l', s->logits}, {'b', s->buffers},
                                 {'c', s->graphs}};
    buf_printf(out, "  pp%-3d |", number);
    add_bar(parts, sizeof parts / sizeof *parts, BAR / m->capacity, out);
    buf_printf(out, "| %6.1f  (%.1f to %.1f)\n", s->total / GIB, s->low / GIB, s->high / GIB);
}

static void add_memory(const struct config *c, struct buf *out)
{
    static const char *const verdicts[] = {"fits", "tight: may not fit", "does not fit"};
    struct memory_estimate m;
    if (!memory_estimate(c, &m, NULL)) return;
    buf_printf(out,
               "\nmemory a GPU, GiB of %.1f: w weights, g gradients, o optimizer, a activations, l "
               "logits, b buffers\n",
               m.capacity / GIB);
    int shown = m.n_stages <= STAGES_SHOWN ? m.n_stages : STAGES_SHOWN / 2;
    for (int i = 0; i < shown; i++)
        add_stage(&m, i, out);
    if (shown < m.n_stages) {
        buf_printf(out, "  ... %d stages\n", m.n_stages - shown - 1);
        add_stage(&m, m.n_stages - 1, out);
    }
    buf_printf(out, "  peak %.1f (%.1f to %.1f) on stage %d: %s\n", m.peak / GIB, m.peak_low / GIB,
               m.peak_high / GIB, m.fullest, verdicts[m.fits]);
}

static void add_time(const struct config *c, struct buf *out)
{
    struct time_estimate t;
    if (!time_estimate(c, &t, NULL)) return;
    buf_printf(out,
               "\nstep %.2f s (%.2f to %.2f), %.0f tokens/s/GPU, %.0f model TFLOP/s/GPU (%.1f %% "
               "of the %s peak)\n",
               t.step, t.low, t.high, t.tokens_per_s_per_gpu, t.model_flops_per_gpu / 1e12,
               100 * t.mfu, t.peak_name);
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"bubble", t.bubble},
                 {"recompute", t.recompute},
                 {"expert all-to-all", t.ep_exposed},
                 {"TP", t.tp_exposed},
                 {"CP", t.cp_exposed},
                 {"PP", t.pp_exposed},
                 {"data parallel", t.dp_exposed},
                 {"host", t.host},
                 {"optimizer", t.optimizer}};
    buf_add(out, STR(" "));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].seconds > 0.005 * t.step)
            buf_printf(out, " %s %.1f %%;", parts[i].name, 100 * parts[i].seconds / t.step);
    buf_printf(out, " estimated, not measured\n");
}

static const char *phase_word(enum phase phase)
{
    static const char *const words[] = {"", "fit", "scale", "profile", "retune"};
    return words[phase];
}

static void add_reasons(const struct answer_plan *plan, struct buf *out)
{
    buf_add(out, STR("\nwhy\n"));
    for (size_t i = 0; i < plan->because.n; i++) {
        const struct reason *r = &plan->because.items[i];
        buf_printf(out, "  %-8s%.*s", phase_word(r->phase), STR_ARG(r->text));
        if (r->rule.n) buf_printf(out, "  [%.*s]", STR_ARG(r->rule));
        buf_add_char(out, '\n');
    }
}

static void add_alternatives(const struct answer *answer, struct buf *out)
{
    if (answer->n < 2) return;
    buf_add(out, STR("\nother layouts\n"));
    for (size_t i = 1; i < answer->n; i++) {
        const struct knobs *k = &answer->plans[i].config.knobs;
        buf_printf(out, "  %zu  tp %d pp %d vpp %d cp %d ep %d mbs %d%s: %.*s\n", i + 1, k->tp,
                   k->pp, k->vpp, k->cp, k->ep, k->mbs, k->fsdp ? " FSDP" : "",
                   STR_ARG(answer->plans[i].why_not_first));
    }
}

void suggest_text(struct arena *a, const struct ask *ask, enum framework framework,
                  const struct answer *answer, struct buf *out)
{
    const struct answer_plan *best = &answer->plans[0];
    add_question(a, ask, answer, out);
    buf_printf(out, "%s: best of %zu plans that fit (%zu looked at)%s\n\n",
               framework_title(framework), answer->feasible, answer->searched,
               answer->tight ? "; nothing surely fits, these may" : "");
    add_layout(a, best, out);
    add_choices(a, best, out);
    add_memory(&best->config, out);
    add_time(&best->config, out);
    add_reasons(best, out);
    add_alternatives(answer, out);
}

size_t suggest_comments(struct arena *a, const struct ask *ask, const struct answer_plan *plan,
                        struct str **out)
{
    VEC(struct str) lines = {0};
    *VEC_PUSH(a, &lines) = arena_printf(
        a, "moeplan " MOEPLAN_VERSION ": %.*s, %" PRId64 " x %.*s, seq %" PRId64 ", gbs %" PRId64,
        STR_ARG(ask->model->name), ask->gpus, STR_ARG(ask->platform->id), ask->seq, ask->gbs);
    *VEC_PUSH(a, &lines) = arena_printf(
        a, "estimated: peak %.1f GiB (%.1f to %.1f), step %.2f s (%.2f to %.2f)",
        plan->costs.peak / GIB, plan->costs.peak_low / GIB, plan->costs.peak_high / GIB,
        plan->costs.step_s, plan->costs.low_s, plan->costs.high_s);
    if (ask->seq_assumed || ask->gbs_assumed)
        *VEC_PUSH(a, &lines) = arena_printf(a, "assumed:%s%s", ask->seq_assumed ? " seq" : "",
                                            ask->gbs_assumed ? " gbs" : "");
    *out = lines.items;
    return lines.n;
}

static void add_would_fit(struct arena *a, const struct ask *ask, enum framework framework,
                          const struct answer *answer, struct buf *out)
{
    const struct knobs *k = &answer->plans[0].config.knobs;
    buf_printf(out, "  --gpus %" PRId64 " --platform %.*s: %s tp %d pp %d ep %d, peak %.0f GiB\n",
               ask->gpus, STR_ARG(ask->platform->id), framework_name(framework), k->tp, k->pp,
               k->ep, answer->plans[0].costs.peak / GIB);
    (void)a;
}

void suggest_no_plan(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                     const struct ask *ask, enum framework framework, const struct answer *answer,
                     struct buf *out)
{
    const struct search_result *s = answer->search;
    add_question(a, ask, answer, out);
    buf_printf(out, "%s: no plan fits (%zu looked at)\n", framework_title(framework),
               answer->searched);
    if (s->has_least)
        buf_printf(out, "  the smallest needs %.0f GiB of %.0f GiB a GPU (tp %d pp %d ep %d, %s)\n",
                   s->least.peak / GIB, answer->base.machine.capacity_bytes / GIB,
                   s->least.knobs.tp, s->least.knobs.pp, s->least.knobs.ep,
                   s->least.knobs.recompute == RECOMPUTE_FULL ? "full recompute"
                                                              : "selective recompute");
    else
        buf_add(out, STR("  no layout divides the model, the GPUs and the batch\n"));
    if (s->rejected && s->last_rejection)
        buf_printf(out, "  %zu layouts fit but break a rule, the last one %s\n", s->rejected,
                   s->last_rejection);
    buf_add(out, STR("what would fit\n"));
    struct ask more = *ask;
    for (int i = 0; i < 8; i++) {
        more.gpus *= 2;
        if (ask->gbs_assumed) {
            more.gbs = 0;
            ask_complete(&more);
        } else if (more.gbs % more.gpus) {
            more.gbs = more.gpus;
        }
        struct diags quiet;
        diags_init(&quiet, a);
        struct answer larger;
        if (ask_framework(a, scratch, &quiet, rules, &more, framework, &larger) && larger.n &&
            !larger.tight) {
            add_would_fit(a, &more, framework, &larger, out);
            return;
        }
    }
    buf_add(out, STR("  more than 256 times the GPUs, or a platform with more memory\n"));
}
