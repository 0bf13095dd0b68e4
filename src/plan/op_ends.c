/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around the layers: embedding, head and loss, and an MTP depth's own part. */
#include "plan/framework.h"
#include "plan/ops.h"

double padded_vocab(const struct config *c)
{
    int64_t multiple = (int64_t)c->model.vocab_divisible_by * c->knobs.tp, v = c->model.vocab;
    if (!config_traits(c)->pads_vocabulary || multiple <= 1) return (double)v;
    return (double)((v + multiple - 1) / multiple * multiple);
}

/* Bytes of a trained table's gradient, which every microbatch makes anew and whole, in 16 bit: it
   is zeroed, read, and added to the one that is kept (torch.nn.functional.embedding's backward; the
   hook of megatron/core/distributed/distributed_data_parallel.py). Linears' weights have their
   gradients added by their GEMMs. */
static double table_gradient(const struct work *w)
{
    const struct knobs *k = &w->c->knobs;
    if (!knobs_trains_language(k)) return 0;
    double kept = config_grad_bytes(w->c);
    return (2 + 2 + 2 * kept) * padded_vocab(w->c) / w->tp * w->m->hidden;
}

void embedding_work(struct work *w)
{
    double bytes = 6 * w->t.tokens * w->m->hidden;
    work_stream(w, bytes, bytes + table_gradient(w));
    work_host(w, 6, 0, 0)->backward = 1;
}

/* Transformer Engine's linear as the head, which has to have a weight of its own
   (megatron/core/extensions/transformer_engine.py, TELMHeadColumnParallelLinear). */
bool head_is_low(const struct config *c)
{
    return c->knobs.fp8_output && c->knobs.precision == PREC_MXFP8 && !c->model.tied;
}

struct matrix head_weights(const struct config *c)
{
    return (struct matrix){.role = LINEAR_HEAD,
                           .cut = CUT_OUTPUT,
                           .numeric = head_is_low(c) ? NUMERIC_LOW : NUMERIC_16,
                           .in = c->model.hidden,
                           .out = padded_vocab(c)};
}

/* Logits stay in 16 bit; softmax and loss read and write them in fp32. */
void head_work(struct work *w)
{
    double logits = w->t.tokens * (padded_vocab(w->c) / config_sharers(w->c));
    struct exchange hidden = {EXCHANGE_TP, .bytes = 2 * w->t.tokens * w->m->hidden};
    hidden.forward = 1, hidden.backward = 2;
    work_stream(w, 6 * logits, 4 * logits);
    work_exchange(w, hidden);
    work_host(w, 12, 0, 0)->backward = 10.0 / 12;
}

/* The projection of the embedded next token and the hidden states, their norms and the final one.
 */
void mtp_weights(const struct model_shape *m, struct weights *w)
{
    op_weights(m, (struct layer_kind){MIXER_NONE, FFN_NONE}, false, w);
    weights_add(w, LINEAR_OTHER, CUT_OUTPUT, 2 * m->hidden, m->hidden);
    w->small[OWNER_REPLICATED] += 3 * norm_weights(m, m->hidden);
}

void mtp_work(struct work *w)
{
    work_host(w, 20, 0, 0)->backward = 1;
}

/* Values of h a token around its layers: the embedded next token, both norms' outputs, their
   concatenation and the projection's output. */
void mtp_saved(struct saved_list *l)
{
    saved_add(l, "MTP projection", l->t.sp_tokens, 6.0 * l->m->hidden, 2);
}
