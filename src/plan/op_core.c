/* SPDX-License-Identifier: Apache-2.0 */
/* The attention kernel by backend: flash and fused ones keep the scores on the chip, unfused ones
   write them. */
#include "plan/framework.h"
#include "plan/ops.h"

/* Unfused attention writes the scores, masks, exponentiates and drops out in kernels of their own:
   5 passes over the whole square forward, 8 backward. */
void work_attention(struct work *w, double heads, double qk_dim, double v_dim, double window,
                    double kv)
{
    const struct knobs *k = &w->c->knobs;
    struct core *core = work_core(w, heads, qk_dim, v_dim, window);
    core->freed_by = MOD_CORE_ATTN, core->kv = kv;
    if (k->attention != ATTN_UNFUSED) return;
    double square = 2 * w->t.tokens * k->seq * heads;
    work_stream(w, 5 * square, 8 * square)->freed_by = MOD_CORE_ATTN;
}

/* FlashAttention 2 wants the batch dimension first, so that its output is kept in both layouts.
   cuDNN's kernel, which Transformer Engine prefers on Hopper and, unless determinism is asked for,
   on Blackwell, takes ours. */
static bool flash_layout_copies(const struct config *c)
{
    double capability = c->machine.compute_capability;
    bool flash2 = capability < 9 || (capability >= 10 && c->knobs.deterministic);
    bool flash = c->knobs.attention == ATTN_FLASH || c->knobs.attention == ATTN_AUTO;
    return flash2 && flash && c->knobs.mbs > 1 && c->knobs.cp == 1;
}

/* The log-sum-exp (flash and fused), or the softmax and, with dropout, its mask and dropped output
   (unfused, whose backward has the fp32 gradient of the scores: mbs x heads / tp x seq / cp x seq).
   Hugging Face's eager attention takes the softmax in fp32 and turns it into 16 bit
   (transformers/models/llama/modeling_llama.py eager_attention_forward), and keeps both. */
static void saved_scores(struct saved_list *l, double heads)
{
    double scores = l->t.tokens * l->m->heads / l->tp * l->c->knobs.seq;
    double dropout = l->m->attention_dropout > 0 ? 1 + l->wide : 0;
    double softmax = config_traits(l->c)->megatron_words ? l->wide : 4 + l->wide;
    bool unfused = l->c->knobs.attention == ATTN_UNFUSED;
    struct saved *s = unfused
                          ? saved_add(l, "attention probabilities", scores, 1, softmax + dropout)
                          : saved_add(l, "log-sum-exp", l->t.tokens, heads / l->tp, 4);
    s->freed_by = MOD_CORE_ATTN;
    if (unfused) l->scores_backward = 4 * scores;
}

/* An adapter's input, in 16 bit, is the output itself unless that is kept in FP8, or some of it is
   dropped. */
static bool keeps_output(const struct saved_list *l)
{
    const struct knobs *k = &l->c->knobs;
    return !knobs_trains_language(k) && l->core == l->wide && k->lora_dropout <= 0;
}

static void saved_projected(struct saved_list *l, double width)
{
    bool quantised = knobs_quantised(&l->c->knobs);
    struct saved *s = saved_add(l, quantised ? "projection input, quantised" : "projection input",
                                l->t.tokens, width, l->gemm);
    s->offloaded_by = MOD_ATTN_PROJ, s->input_of = LINEAR_BIT(LINEAR_O);
}

/* The kernel's output is also the projection's input unless that is quantised or, behind another
   projection within the module, another tensor. */
void saved_attention(struct saved_list *l, double heads, double width, double projected)
{
    const struct knobs *k = &l->c->knobs;
    double bytes = l->wide, tokens = l->t.tokens, own = width / l->tp;
    bool quantised = knobs_quantised(k), inner = projected != width;
    saved_scores(l, heads);
    struct saved *out = saved_add(l, "attention output", tokens, own, l->core);
    out->freed_by = inner ? MOD_CORE_ATTN : 0;
    out->offloaded_by = inner ? MOD_CORE_ATTN : MOD_ATTN_PROJ;
    if (flash_layout_copies(l->c))
        saved_add(l, "attention output in flash attention's layout", tokens, own, bytes)->freed_by =
            MOD_CORE_ATTN;
    bool apart = quantised || k->lora_dropout > 0;
    if (inner || (apart && !keeps_output(l))) saved_projected(l, projected / l->tp);
    if (k->cp > 1 && !inner)
        saved_add(l, "attention output before the context exchange", tokens, own, bytes)->freed_by =
            MOD_CORE_ATTN;
    l->mixer_backward = bytes * 3 * tokens * l->m->heads * l->m->head_dim / l->tp;
}
