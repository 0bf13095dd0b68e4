/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/screen.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/page.h"
#include "base/quote.h"
#include "base/table.h"
#include "base/units.h"
#include "cost/memory.h"
#include "emit/documents.h"
#include "emit/emit.h"
#include "facts/param_ids.h"
#include "facts/program_kind.h"
#include "plan/framework.h"
#include "plan/knob.h"
#include "plan/peft.h"

enum { BAR = 40, STAGES_SHOWN = 8 };

void screen_model(const struct model_shape *m, struct buf *out)
{
    struct param_counts n = model_params(m);
    buf_printf(out, "%.*s  %.2f B parameters, %.2f B active, %d layers",
               LINE_ARG(out->arena, m->name.n > 0 ? m->name : STR("model")), (double)n.total / 1e9,
               (double)n.active / 1e9, m->num_layers);
    if (m->experts > 0) buf_printf(out, ", %d experts top-%d", m->experts, m->topk);
    if (n.mtp > 0) buf_printf(out, ", MTP %.2f B", (double)n.mtp / 1e9);
    if (n.vision > 0) buf_printf(out, ", vision %.2f B", (double)n.vision / 1e9);
    buf_add_char(out, '\n');
}

void screen_notes(const struct model_input *m, struct buf *out)
{
    for (size_t i = 0; m && i < m->notes.n; i++)
        buf_printf(out, "  note: %.*s\n", LINE_ARG(out->arena, m->notes.items[i]));
}

void screen_platform_notes(struct arena *a, const struct platform *p, struct buf *out)
{
    for (size_t i = 0; i < p->entry->n_fields; i++) {
        const struct entry_field *f = &p->entry->fields[i];
        if (!f->derived.n) continue;
        struct str value = value_text(a, f->value);
        buf_printf(out, "  note: %.*s %.*s follows from %.*s\n", STR_ARG(f->name), STR_ARG(value),
                   STR_ARG(f->derived));
    }
}

void screen_machine(struct arena *a, const struct config *c, struct buf *out)
{
    const struct machine *m = &c->machine;
    const struct knobs *k = &c->knobs;
    struct str gpus = num_grouped(a, k->gpus), gbs = num_grouped(a, k->gbs);
    buf_printf(out,
               "%.*s  %.*s GPUs, %d per node, NVLink domain %d, %.0f GiB each; seq %d, gbs %.*s\n",
               LINE_ARG(a, m->id), STR_ARG(gpus), m->gpus_per_node, m->nvlink_domain,
               m->capacity_bytes / GIB, k->seq, STR_ARG(gbs));
}

/* Whether a fork's flag is, by its name, about what a step needs: the model, its layout, what is
   kept, what is trained. */
static bool is_of_step(struct str flag)
{
    static const char *const words[] = {"lora",   "recompute", "swap", "offload",  "parallel",
                                        "expert", "moe",       "head", "layer",    "dense",
                                        "hidden", "rank",      "mla",  "attention"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_find_str(flag, str_of(words[i])) < flag.n) return true;
    return false;
}

/* Flags of the program's own that may change the figures, which know nothing of them. */
static void add_own_flags(const struct facts *f, struct buf *out)
{
    enum { NAMED = 5 };
    size_t n = 0;
    for (size_t i = 0; i < f->program.strangers.n; i++) {
        const struct stranger *s = &f->program.strangers.items[i];
        if (s->gone.n || !str_starts(s->name, STR("--")) || !is_of_step(s->name)) continue;
        if (n++ < NAMED)
            buf_printf(out, n == 1 ? "not in the figures: " MARK_HANG "%.*s" : ", %.*s",
                       STR_ARG(s->name));
    }
    if (n > NAMED) buf_printf(out, " and %zu more", n - NAMED);
    if (!n) return;
    struct str title = f->program.kind ? f->program.kind->title : STR("the program");
    buf_printf(out, n == 1 ? ", a flag of %.*s's own\n" : ", flags of %.*s's own\n",
               STR_ARG(title));
}

void screen_program(const struct facts *f, struct buf *out)
{
    struct str does = program_does_otherwise(&f->program);
    add_own_flags(f, out);
    if (does.n)
        buf_printf(out, MARK_HANG "%.*s %.*s: the figures are of a step that trains so\n",
                   STR_ARG(f->program.script), STR_ARG(does));
}

void screen_assumed(const struct facts *f, struct buf *out)
{
    struct str line = emit_assumed_line(out->arena, f);
    if (line.n) buf_printf(out, "assumed: " MARK_HANG "%.*s\n", STR_ARG(line));
}

static void add_parallelism(struct arena *a, const struct config *c, struct buf *out)
{
    const struct knobs *k = &c->knobs;
    buf_printf(out, "  parallel    tp %d, pp %d", k->tp, k->pp);
    if (k->vpp > 1) buf_printf(out, " x vpp %d", k->vpp);
    buf_printf(out, ", cp %d, ep %d, etp %d; dp %" PRId64 ", expert dp %" PRId64 "%s\n", k->cp,
               k->ep, k->etp, knobs_dp(k), knobs_edp(k),
               k->sequence_parallel ? "; sequence parallel" : "");
    buf_printf(out, "  batch       mbs %d, %" PRId64 " microbatches", k->mbs,
               knobs_microbatches(k));
    if (knobs_schedules(k) > 1)
        buf_printf(out, " in %d local batches of %" PRId64, k->schedules,
                   k->mbs * knobs_scheduled(k));
    buf_printf(out, ", %.1f M tokens per step\n", (double)k->gbs * k->seq / 1e6);
    if (k->layout > 0)
        buf_printf(out, "  stages      %.*s\n",
                   STR_ARG(layout_text(a, &c->layouts[k->layout - 1])));
}

static const char *sharding(const struct knobs *k)
{
    static const char *const words[] = {"none",
                                        "Megatron-FSDP, optimizer states",
                                        "Megatron-FSDP, optimizer states and gradients",
                                        "Megatron-FSDP, parameters too",
                                        "FSDP2",
                                        "DDP"};
    if (k->fsdp == FSDP_NONE && k->distributed_optimizer) return "distributed optimizer (ZeRO-1)";
    return words[k->fsdp];
}

static struct str word(struct arena *a, const struct knobs *k, int param)
{
    return value_text(a, knob_get(a, k, knob_of(param)));
}

static void add_recompute(struct arena *a, const struct knobs *k, struct buf *out)
{
    switch ((enum recompute)k->recompute) {
    case RECOMPUTE_NONE: buf_add(out, STR("  recompute   nothing\n")); break;
    case RECOMPUTE_FULL: buf_add(out, STR("  recompute   full\n")); break;
    case RECOMPUTE_SELECTIVE:
        buf_printf(out, "  recompute   selective %.*s\n", STR_ARG(word(a, k, P_recompute_modules)));
        break;
    }
}

/* A plan is silent about its data: what the estimate makes of that has to be seen. */
static void add_images(const struct config *c, struct buf *out)
{
    const struct knobs *k = &c->knobs;
    bool mergers = k->freeze_projection;
    const char *frozen = !k->freeze_vision ? mergers ? "; its mergers frozen" : ""
                         : mergers         ? "; vision tower frozen"
                                           : "; vision tower frozen but for its mergers";
    if (c->model.vision_layers == 0) return;
    if (k->image_tokens > 0)
        buf_printf(out, "  images      %d of %d tokens%s\n", k->image_tokens, k->seq, frozen);
    else
        buf_printf(out, "  images      none counted: image_tokens is not given%s\n", frozen);
}

/* Where less than the whole model is trained: how much of it. */
static void add_trained(const struct config *c, struct buf *out)
{
    const struct knobs *k = &c->knobs;
    struct param_counts n = model_params(&c->model);
    double all = (double)(n.total + n.mtp + n.vision), own = (double)config_trained_params(c);
    if (knobs_trains_language(k)) return;
    buf_add(out, STR("  trained     "));
    if (k->task == TASK_PEFT)
        buf_printf(out, "%s adapters of rank %d: ",
                   k->four_bit    ? "QLoRA"
                   : k->eight_bit ? "8-bit LoRA"
                   : k->dora      ? "DoRA"
                                  : "LoRA",
                   k->lora_rank);
    else
        buf_add(out, STR("language model frozen: "));
    buf_printf(out, "%.1f M of %.2f B parameters (%.3g %%)\n", own / 1e6, all / 1e9,
               100 * own / all);
}

/* The number format, and what is held in another one than the framework's own. */
static void add_precision(struct arena *a, const struct config *c, struct buf *out)
{
    const struct knobs *k = &c->knobs;
    bool own = config_traits(c)->megatron_words && k->precision != PREC_FP16;
    buf_printf(out, "  precision   %.*s%s%s", STR_ARG(word(a, k, P_precision)),
               k->fp8_param_gather ? ", FP8 parameter gather" : "",
               own && k->grad_bytes == 2 ? ", gradients in bf16" : "");
    if (k->precision_aware && k->exp_avg_sq_bytes < 4)
        buf_printf(out, ", moments in %.*s", STR_ARG(word(a, k, P_exp_avg_sq_dtype)));
    if (own && knobs_keeps_remainder(k)) buf_add(out, STR(", main parameters as remainders"));
    buf_add_char(out, '\n');
}

/* What waits on the CPU. */
static void add_offload(struct arena *a, const struct knobs *k, struct buf *out)
{
    if (k->optimizer_offload > 0)
        buf_printf(out, "  offload     %.0f %% of the optimizer to the CPU\n",
                   100 * k->optimizer_offload);
    if (k->offload_modules)
        buf_printf(out, "  offload     activations of %.*s to the CPU\n",
                   STR_ARG(word(a, k, P_offload_modules)));
}

void screen_plan(struct arena *a, const struct config *c, struct buf *out)
{
    const struct knobs *k = &c->knobs;
    bool flex = config_traits(c)->megatron_words && knobs_flex(k);
    add_parallelism(a, c, out);
    add_precision(a, c, out);
    buf_printf(out, "  sharding    %s\n", sharding(k));
    if (c->model.experts > 0 && k->ep * k->etp > 1)
        buf_printf(out, "  dispatcher  %s%s\n", flex ? "flex / " : "", knobs_dispatcher(k));
    add_recompute(a, k, out);
    bool in_parts = k->graph_impl != GRAPH_FULL_ITERATION; /* which has none to name */
    if (k->graph_impl != GRAPH_NONE)
        buf_printf(out, "  graphs      %.*s%s%.*s\n", STR_ARG(word(a, k, P_cuda_graph_impl)),
                   in_parts ? " " : "",
                   STR_ARG(in_parts ? word(a, k, P_cuda_graph_scope) : STR("")));
    add_offload(a, k, out);
    if (k->overlap_ep) buf_add(out, STR("  overlap     expert communication (1F1B)\n"));
    add_images(c, out);
    documents_screen(c, out);
    add_trained(c, out);
}

void screen_plan_line(struct arena *a, const struct config *c, struct buf *out)
{
    static const char *const recompute[] = {"nothing recomputed", "selective recomputation",
                                            "full recomputation"};
    const struct knobs *k = &c->knobs;
    bool flex = config_traits(c)->megatron_words && knobs_flex(k);
    buf_printf(out, "plan: %.*s, %s", STR_ARG(word(a, k, P_precision)), recompute[k->recompute]);
    if (c->model.experts > 0 && k->ep * k->etp > 1)
        buf_printf(out, ", %s%s", flex ? "flex / " : "", knobs_dispatcher(k));
    if (k->graph_impl != GRAPH_NONE) buf_add(out, STR(", CUDA graphs"));
    if (k->overlap_ep) buf_add(out, STR(", expert overlap"));
    if (k->optimizer_offload > 0) buf_add(out, STR(", optimizer on the CPU"));
    if (k->offload_modules) buf_add(out, STR(", activations on the CPU"));
    buf_add_char(out, '\n');
    add_images(c, out);
    documents_screen(c, out);
    add_trained(c, out);
}

struct part {
    char mark;
    double bytes;
};

/* The parts of a bar, with the mark of the GPU's memory behind its column `full`. */
static void add_bar(const struct part *parts, size_t n, double scale, int full, struct buf *out)
{
    char bar[BAR];
    double at = 0;
    int drawn = 0;
    memset(bar, ' ', BAR);
    for (size_t i = 0; i < n; i++) {
        at += parts[i].bytes;
        for (; drawn < fmin(at * scale, BAR) - 0.5; drawn++)
            bar[drawn] = parts[i].mark;
    }
    buf_add(out, (struct str){bar, (size_t)full});
    buf_add_char(out, '|');
    if (full == BAR) return;
    buf_add(out, STR(MARK_ERROR));
    buf_add(out, (struct str){bar + full, (size_t)(BAR - full)});
    buf_add(out, STR(MARK_END));
}

/* Bytes that the whole length of the bars stands for: the GPU's memory, or what is asked of it. */
static double longest(const struct memory_estimate *m)
{
    return m->peak > m->capacity ? m->peak : m->capacity;
}

static void add_stage(const struct memory_estimate *m, int number, struct buf *out)
{
    const struct stage_memory *s = &m->stages[number];
    const struct part parts[] = {{'w', s->params},      {'g', s->grads},  {'o', s->optimizer},
                                 {'a', s->activations}, {'l', s->logits}, {'b', s->buffers},
                                 {'c', s->graphs}};
    double scale = BAR / longest(m);
    buf_printf(out, MARK_WIDE "  pp%-3d |", number);
    add_bar(parts, sizeof parts / sizeof *parts, scale, (int)lround(m->capacity * scale), out);
    buf_printf(out, " %6.1f  (%.1f to %.1f)\n", s->total / GIB, s->low / GIB, s->high / GIB);
}

static void add_stages_title(const struct memory_estimate *m, struct buf *out)
{
    buf_printf(out,
               MARK_HEADING "memory per GPU" MARK_END
                            ", GiB of %.1f: w weights, g gradients, o optimizer, "
                            "a activations, l logits, b buffers%s%s\n",
               m->capacity / GIB, m->stages[m->fullest].graphs > 0 ? ", c CUDA graphs" : "",
               m->peak > m->capacity ? "; behind the second | is above the GPU's memory" : "");
}

void screen_stages_that_matter(const struct memory_estimate *m, struct buf *out)
{
    int last = m->n_stages - 1, before = -1;
    const int wanted[] = {0, m->fullest, last};
    add_stages_title(m, out);
    for (int i = 0; i < 3; i++) {
        if (wanted[i] == before) continue;
        add_stage(m, wanted[i], out);
        before = wanted[i];
    }
}

void screen_memory(const struct memory_estimate *m, struct buf *out)
{
    static const char *const verdicts[] = {MARK_GOOD "fits" MARK_END,
                                           MARK_WARNING "tight: may not fit" MARK_END,
                                           MARK_ERROR "does not fit" MARK_END};
    add_stages_title(m, out);
    int shown = m->n_stages <= STAGES_SHOWN ? m->n_stages : STAGES_SHOWN / 2;
    for (int i = 0; i < shown; i++)
        add_stage(m, i, out);
    if (shown < m->n_stages) {
        buf_printf(out, "  ... %d more stages\n", m->n_stages - shown - 1);
        add_stage(m, m->n_stages - 1, out);
    }
    buf_printf(out, "  peak %.1f (%.1f to %.1f) on stage %d: %s\n", m->peak / GIB,
               m->peak_low / GIB, m->peak_high / GIB, m->fullest, verdicts[m->fits]);
    if (m->open) buf_printf(out, "  %.*s\n", STR_ARG(memory_open_text(out->arena, m)));
}

static bool has_mamba(const struct model_shape *m)
{
    for (int i = 0; i < m->n_kinds; i++)
        if (m->kinds[i].mixer == MIXER_MAMBA) return true;
    return false;
}

void screen_modules(const struct config *c, const struct memory_estimate *m, struct buf *out)
{
    struct memory_modules parts;
    if (!memory_modules(c, m, &parts)) return;
    buf_printf(
        out, "  by module there: attention%s %.1f, FFN%s %.1f, embedding, head and the rest %.1f\n",
        has_mamba(&c->model) ? " and Mamba" : "", parts.mixers / GIB,
        c->model.experts > 0 ? " and experts" : "", parts.ffns / GIB, parts.rest / GIB);
}

void screen_difference(struct arena *a, const struct knobs *from, const struct knobs *to,
                       struct buf *out)
{
    const char *separator = "";
    for (size_t i = 0; i < knob_count; i++) {
        struct value old = knob_get(a, from, &knob_table[i]), new = knob_get(a, to, &knob_table[i]);
        bool gone = knob_table[i].kind == KNOB_MODULES && new.kind == VALUE_NULL;
        if (value_eq(old, new) || gone) continue; /* the switch before the list says that */
        buf_printf(out, "%s%.*s = %.*s", separator, STR_ARG(param_name(knob_table[i].param)),
                   STR_ARG(value_text(a, new)));
        separator = ", ";
    }
}

void screen_changes(struct arena *a, const struct config *c, const struct memory_change *changes,
                    int n, struct buf *out)
{
    if (n == 0) return;
    buf_add(out, STR("what would make it fit, cheapest first\n"));
    for (int i = 0; i < n; i++) {
        buf_add(out, STR("  "));
        screen_difference(a, &c->knobs, &changes[i].knobs, out);
        double slower = 100 * (changes[i].slower - 1);
        buf_printf(out, ": frees %.1f GiB, %.0f %% %s%s\n", changes[i].freed / GIB, fabs(slower),
                   slower < 0 ? "faster" : "slower",
                   changes[i].fits == FITS_YES ? "" : "; still tight");
    }
}

void screen_time(const struct time_estimate *t, struct buf *out)
{
    buf_printf(out,
               "step %.2f s (%.2f to %.2f), %.*s tokens/s/GPU, %.0f model TFLOP/s/GPU (%.1f %% of "
               "the %s peak)\n",
               t->step, t->low, t->high,
               STR_ARG(num_grouped(out->arena, llround(t->tokens_per_s_per_gpu))),
               t->model_flops_per_gpu / 1e12, 100 * t->mfu, t->peak_name);
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"compute", t->compute}, {"recompute", t->recompute},
                 {"bubble", t->bubble},   {"experts", t->ep_exposed},
                 {"TP", t->tp_exposed},   {"CP", t->cp_exposed},
                 {"PP", t->pp_exposed},   {"data parallel", t->dp_exposed},
                 {"host", t->host},       {"optimizer", t->optimizer}};
    const char *separator = "  of it: ";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].seconds <= 0.005 * t->step) continue;
        buf_printf(out, "%s%s %.1f %%", separator, parts[i].name, 100 * parts[i].seconds / t->step);
        separator = ", ";
    }
    buf_add_char(out, '\n');
}

const char *screen_grade(const struct evidence *e)
{
    static const char *const grades[] = {"modelled", "interpolated", "measured"};
    return grades[e->grade];
}

void screen_evidence(const struct evidence *e, struct buf *out)
{
    static const char *const means[] = {"no public measurement is near",
                                        "public measurements are near",
                                        "a run of this configuration is public"};
    buf_printf(out, "evidence: %s: %s\n", screen_grade(e), means[e->grade]);
    for (size_t i = 0; i < e->n; i++)
        buf_printf(out, "  %-20.*s distance %.1f  %.*s\n", STR_ARG(e->nearest[i].id),
                   e->nearest[i].distance, STR_ARG(e->nearest[i].source));
}

void screen_terms(const struct cost_trace *trace, const char *title, bool bytes, int width,
                  struct buf *out)
{
    const struct table_column columns[] = {{bytes ? "GiB" : "ms", true, 0}, {title, false, 0}};
    struct table table = table_new(out->arena, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < trace->terms.n; i++) {
        const struct cost_term *t = &trace->terms.items[i];
        const char *equals = t->formula && t->formula[0] ? " = " : "";
        table_printf(&table, "%.4f", bytes ? t->value / GIB : 1e3 * t->value);
        table_printf(&table, "%s%s%s", t->name, equals, equals[0] ? t->formula : "");
    }
    table_print(&table, width, out);
}
