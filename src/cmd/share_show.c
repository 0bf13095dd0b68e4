/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/share_show.h"

#include <inttypes.h>

#include "base/units.h"

static const char *const binds_words[] = {"neither", "trainer", "engine", "both"};

static void add_trainer(const struct share *s, const struct answers *answers, struct buf *out)
{
    double room = (s->trainer_gpus ? s->capacity : s->capacity - s->engine) / GIB;
    const struct plan *plan = NULL;
    for (size_t i = 0; i < answers->n && !plan; i++)
        if (answers->items[i].n) plan = &answers->items[i].plans[0];
    if (!plan) {
        buf_printf(out, "  trainer     no plan fits in %.1f GiB\n", room);
        return;
    }
    buf_printf(out, "  trainer     %.1f GiB (%.1f to %.1f) of %.1f", plan->costs.peak / GIB,
               plan->costs.peak_low / GIB, plan->costs.peak_high / GIB, room);
    if (!s->trainer_gpus)
        buf_printf(out, "; with the whole GPU a step takes %.0f %% less time",
                   100 * (1 - 1 / (1 + s->slower)));
    buf_add_char(out, '\n');
}

static void add_engine(const struct share *s, struct buf *out)
{
    const struct engine_need *n = &s->need;
    buf_printf(out,
               "  engine      %.1f GiB of %.1f: weights %.1f over tp %d, buffers %.1f (assumed), "
               "%" PRId64 " sequences of %" PRId64 " tokens at %.3f\n"
               "              room for %" PRId64 " sequences at a time\n",
               n->total / GIB, s->engine / GIB, n->weights / GIB, s->wish.tp, n->buffers / GIB,
               s->wish.sequences, s->wish.context, n->a_sequence / GIB, s->sequences);
}

static void add_apart(const struct share *s, struct buf *out)
{
    buf_printf(out,
               "  GPUs        of %" PRId64 " train %" PRId64 ", make rollouts %" PRId64 " (%" PRId64
               " engines): %.1f %% of the GPU time is waiting\n",
               s->gpus, s->trainer_gpus, s->engine_gpus, s->engine_gpus / s->wish.tp,
               100 * s->idle);
}

void share_text(const struct share *s, const struct answers *answers, struct buf *out)
{
    static const char *const words[] = {
        "neither: both have room", "the trainer: more memory would make its step faster",
        "the engine: more memory would hold more sequences", "both"};
    if (s->trainer_gpus)
        buf_printf(out,
                   "\ntrainer and inference engine on GPUs of their own, rollouts %.3g times the "
                   "GPU time of "
                   "training\n",
                   s->wish.ratio);
    else
        buf_printf(out, "\ntrainer and inference engine on the same GPUs, GiB of %.1f\n",
                   s->capacity / GIB);
    if (s->trainer_gpus) add_apart(s, out);
    add_trainer(s, answers, out);
    add_engine(s, out);
    buf_printf(out, "  binds       %s\n", words[s->binds]);
}

void share_json(struct tree *t, const struct share *s)
{
    cJSON *share = tree_object(t, t->root, "share");
    tree_number(t, share, "capacity_gib", s->capacity / GIB);
    tree_number(t, share, "engine_gib", s->engine / GIB);
    tree_number(t, share, "engine_needs_gib", s->need.total / GIB);
    tree_number(t, share, "engine_weights_gib", s->need.weights / GIB);
    tree_number(t, share, "engine_sequence_gib", s->need.a_sequence / GIB);
    tree_int(t, share, "engine_tp", s->wish.tp);
    tree_int(t, share, "sequences", s->wish.sequences);
    tree_int(t, share, "sequences_that_fit", s->sequences);
    tree_number(t, share, "trainer_slower_percent", 100 * s->slower);
    tree_text(t, share, "binds", binds_words[s->binds]);
    if (!s->trainer_gpus) return;
    tree_int(t, share, "trainer_gpus", s->trainer_gpus);
    tree_int(t, share, "engine_gpus", s->engine_gpus);
    tree_number(t, share, "waiting_percent", 100 * s->idle);
}
