/* SPDX-License-Identifier: Apache-2.0 */
/* The lists that describe a layer: matrices, small weights, work and saved tensors of every kind,
   worked out by hand from small shapes. */
#include "plan/ops.h"
#include "unit/unit.h"

static struct config small_config(void)
{
    struct config c = {.framework = FRAMEWORK_MEGATRON};
    c.model = (struct model_shape){.hidden = 64,
                                   .heads = 8,
                                   .groups = 2,
                                   .head_dim = 16,
                                   .v_head_dim = 16,
                                   .dense_ffn = 96,
                                   .gated = true,
                                   .q_lora = 0,
                                   .kv_lora = 24,
                                   .qk_nope = 12,
                                   .qk_rope = 4,
                                   .mla_v = 10,
                                   .experts = 16,
                                   .topk = 4,
                                   .expert_ffn = 32,
                                   .shared_ffn = 48,
                                   .mamba_heads = 4,
                                   .mamba_head_dim = 32,
                                   .mamba_state = 8,
                                   .mamba_groups = 2,
                                   .mamba_conv = 4,
                                   .lin_k_heads = 2,
                                   .lin_v_heads = 4,
                                   .lin_k_dim = 8,
                                   .lin_v_dim = 16,
                                   .lin_conv = 4};
    c.knobs = (struct knobs){.tp = 1,
                             .cp = 1,
                             .ep = 1,
                             .etp = 1,
                             .mbs = 1,
                             .seq = 100,
                             .precision = PREC_BF16,
                             .attention = ATTN_FLASH,
                             .act_fusion = true,
                             .transformer_engine = true};
    return c;
}

/* Tokens of the small sequence; four routed rows for each. */
static const struct token_counts tokens = {100, 100, 400, 0};

struct size {
    double in, out;
};

/* The matrices on a rank, in their order, and the small weights, whole. */
static void assert_weights(const struct config *c, struct layer_kind kind, const struct size *want,
                           int n, const double small[OWNERS])
{
    struct weights w;
    op_weights(&c->model, kind, false, &w);
    assert_int_equal(w.n, n);
    for (int i = 0; i < n; i++) {
        assert_true(matrix_in(&w.items[i], &c->knobs) == want[i].in);
        assert_true(matrix_out(&w.items[i], &c->knobs) == want[i].out);
    }
    for (int i = 0; i < OWNERS; i++)
        assert_true(w.small[i] == small[i]);
}
#define ASSERT_WEIGHTS(c, mixer, ffn, small, ...)                                                  \
    assert_weights(&(c), (struct layer_kind){mixer, ffn}, (const struct size[]){__VA_ARGS__},      \
                   sizeof((const struct size[]){__VA_ARGS__}) / sizeof(struct size), small)

static const double only_norm[OWNERS] = {[OWNER_REPLICATED] = 64};

/* q 128, k and v 32 each; over four ranks a quarter of each cut matrix. */
static void grouped_attention(void **state)
{
    (void)state;
    struct config c = small_config();
    ASSERT_WEIGHTS(c, MIXER_ATTENTION, FFN_NONE, only_norm, {64, 192}, {128, 64});
    c.knobs.tp = 4;
    ASSERT_WEIGHTS(c, MIXER_ATTENTION, FFN_NONE, only_norm, {64, 48}, {32, 64});
    c.model.k_equals_v = true, c.model.attention_output_gate = true;
    ASSERT_WEIGHTS(c, MIXER_ATTENTION, FFN_NONE, only_norm, {64, (2 * 128 + 32) / 4.0}, {32, 64});
    c.model.attention_output_gate = false, c.model.win_heads = 4, c.model.win_groups = 4;
    c.model.win_head_dim = c.model.win_v_head_dim = 8;
    ASSERT_WEIGHTS(c, MIXER_WINDOW, FFN_NONE, only_norm, {64, 3 * 32 / 4.0}, {8, 64});
    c.model.q_lora = 40, c.model.o_lora = 20, c.model.o_groups = 2;
    const double two[OWNERS] = {[OWNER_REPLICATED] = 64 + 40};
    ASSERT_WEIGHTS(c, MIXER_ATTENTION, FFN_NONE, two, {64, 40}, {40, 32}, {64, 8}, {32, 20},
                   {10, 64});
}

static void small_weights_of_attention(void **state)
{
    (void)state;
    struct config c = small_config();
    c.model.add_bias = c.model.qk_layernorm = c.model.sinks = c.model.head_gate = true;
    c.model.layernorm = c.model.post_norms = true;
    const double small[OWNERS] = {192 + 8 + 64 * 8, 4 * 64 + 64 + 2 * 2 * 16, 0};
    ASSERT_WEIGHTS(c, MIXER_ATTENTION, FFN_NONE, small, {64, 192}, {128, 64});
}

/* Down projections whole on both ranks; a gate of the values' width; the joint ones cut. */
static void latent_attention(void **state)
{
    (void)state;
    struct config c = small_config();
    c.knobs.tp = 2;
    const double kv[OWNERS] = {[OWNER_REPLICATED] = 64 + 24};
    ASSERT_WEIGHTS(c, MIXER_MLA, FFN_NONE, kv, {64, 28}, {64, 64}, {24, 88}, {40, 64});
    c.model.q_lora = 20, c.model.attention_output_gate = true;
    const double both[OWNERS] = {[OWNER_REPLICATED] = 64 + 24 + 20};
    ASSERT_WEIGHTS(c, MIXER_MLA, FFN_NONE, both, {64, 20}, {64, 28}, {20, 64}, {24, 88}, {64, 40},
                   {40, 64});
}

/* Four index heads of 6, whole on every rank, of which no gradient is computed. */
static void an_indexer(void **state)
{
    (void)state;
    struct config c = small_config();
    struct weights w;
    c.model.q_lora = 20, c.knobs.tp = 2;
    c.model.index_heads = 4, c.model.index_dim = 6, c.model.index_topk = 10;
    const double small[OWNERS] = {[OWNER_REPLICATED] = 64 + 24 + 20 + 12};
    ASSERT_WEIGHTS(c, MIXER_SPARSE_MLA, FFN_NONE, small, {64, 20}, {64, 28}, {20, 64}, {24, 88},
                   {40, 64}, {20, 24}, {64, 6}, {64, 4});
    op_weights(&c.model, (struct layer_kind){MIXER_SPARSE_MLA, FFN_NONE}, false, &w);
    for (int i = 0; i < w.n; i++)
        assert_true(w.items[i].forward_only == (i >= 5));
    struct work work;
    op_work(&c, &tokens, false, (struct layer_kind){MIXER_SPARSE_MLA, FFN_NONE}, &work);
    assert_int_equal(work.n_cores, 2);
    const struct core *scores = &work.cores[0], *core = &work.cores[1];
    assert_true(scores->heads == 4 && scores->qk_dim == 6 && scores->v_dim == 0);
    assert_true(scores->window == 0 && scores->forward_only);
    assert_true(core->heads == 4 && core->qk_dim == 28 && core->v_dim == 24);
    assert_true(core->window == 10 && !core->forward_only);
    /* A layer without one sees the keys of another's. */
    op_work(&c, &tokens, false, (struct layer_kind){MIXER_MLA, FFN_NONE}, &work);
    assert_true(work.n_cores == 1 && work.cores[0].window == 10);
}

/* A scan has eight passes over what its kernels read and write. Mamba: z and x of 128, B and C of 2
 * x 8, dt of 4. Delta net: q and k of 16, v and gate of 64. */
static void scans(void **state)
{
    (void)state;
    struct config c = small_config();
    const double mamba[OWNERS] = {160 * 5 + 3 * 4 + 128, 64, 0};
    ASSERT_WEIGHTS(c, MIXER_MAMBA, FFN_NONE, mamba, {64, 2 * 128 + 32 + 4}, {128, 64});
    const double delta[OWNERS] = {(2 * 16 + 64) * 4 + 8, 64 + 16, 0};
    ASSERT_WEIGHTS(c, MIXER_LINEAR, FFN_NONE, delta, {64, 2 * 16 + 2 * 64 + 8}, {64, 64});
    struct work w;
    op_work(&c, &tokens, false, (struct layer_kind){MIXER_MAMBA, FFN_NONE}, &w);
    assert_true(w.n_scans == 1 && w.scans[0].states == 100.0 * 128 * 8 && w.n_cores == 0);
    assert_true(w.scans[0].bytes == 8 * 2 * 100 * (128 + 2 * 2 * 8.0));
    op_work(&c, &tokens, false, (struct layer_kind){MIXER_LINEAR, FFN_NONE}, &w);
    assert_true(w.n_scans == 1 && w.scans[0].delta && w.scans[0].states == 100.0 * 64 * 8 &&
                w.n_cores == 0);
    assert_true(w.scans[0].bytes == 8 * 2 * 100 * (2 * 16 + 2 * 64.0));
}

/* Router and latent projections whole, shared experts over tp, routed ones over etp. */
static void feed_forward(void **state)
{
    (void)state;
    struct config c = small_config();
    c.knobs.tp = 2, c.knobs.ep = 4, c.knobs.etp = 2;
    ASSERT_WEIGHTS(c, MIXER_NONE, FFN_DENSE, only_norm, {64, 96}, {48, 64});
    ASSERT_WEIGHTS(c, MIXER_NONE, FFN_MOE, only_norm, {64, 16}, {64, 48}, {24, 64}, {64, 32},
                   {16, 64});
    c.model.latent = 40, c.model.router_bias = c.model.shared_gate = true;
    const double small[OWNERS] = {[OWNER_REPLICATED] = 64 + 16 + 64};
    ASSERT_WEIGHTS(c, MIXER_NONE, FFN_MOE, small, {64, 16}, {64, 48}, {24, 64}, {64, 40}, {40, 64},
                   {40, 32}, {16, 40});
    struct part_params p = ffn_params(&c.model, FFN_MOE);
    assert_true(p.sharded == 3 * 64 * 48 && p.experts == 16 * 3 * 40 * 32);
    assert_true(p.replicated == 64 * 16 + 2 * 64 * 40 + 64 + 16 + 64);
}

/* Fused linears one by one. */
static void linears_apart(void **state)
{
    (void)state;
    struct config c = small_config();
    struct weights w;
    op_weights(&c.model, (struct layer_kind){MIXER_ATTENTION, FFN_DENSE}, true, &w);
    static const enum linear_role roles[] = {LINEAR_Q,    LINEAR_K,  LINEAR_V,   LINEAR_O,
                                             LINEAR_GATE, LINEAR_UP, LINEAR_DOWN};
    assert_int_equal(w.n, sizeof roles / sizeof *roles);
    for (int i = 0; i < w.n; i++)
        assert_int_equal(w.items[i].role, roles[i]);
    struct part_params apart = weights_params(&w);
    struct part_params fused =
        layer_params(&c.model, (struct layer_kind){MIXER_ATTENTION, FFN_DENSE});
    assert_true(apart.sharded == fused.sharded && apart.replicated == fused.replicated);
}

/* ---- work ---- */

/* Bytes of keys and values, and of queries, that 100 tokens exchange on one of four ranks. */
static void assert_context(struct config *c, enum mixer mixer, int ranks, double kv)
{
    struct work w;
    int found = 0;
    op_work(c, &tokens, false, (struct layer_kind){mixer, FFN_NONE}, &w);
    for (int i = 0; i < w.n_exchanges; i++) {
        if (w.exchanges[i].kind != EXCHANGE_CP) continue;
        assert_true(w.exchanges[i].kv == kv && w.exchanges[i].ranks == ranks);
        found++;
    }
    assert_int_equal(found, 1);
}

/* Bytes of a rank before and after the core where it gets whole sequences of some heads; each is
   read and written twice. */
static void assert_heads(struct config *c, enum mixer mixer, double in, double out)
{
    struct work w;
    int found = 0, streamed = 0;
    op_work(c, &tokens, false, (struct layer_kind){mixer, FFN_NONE}, &w);
    for (int i = 0; i < w.n_exchanges; i++) {
        if (w.exchanges[i].kind == EXCHANGE_TP) continue;
        assert_int_equal(w.exchanges[i].kind, EXCHANGE_HEADS);
        assert_true(w.exchanges[i].in == in && w.exchanges[i].out == out);
        found++;
    }
    for (int i = 0; i < w.n_streams; i++)
        streamed +=
            w.streams[i].forward == 4 * (in + out) && w.streams[i].backward == 4 * (in + out);
    assert_int_equal(found, 1);
    assert_int_equal(streamed, 1);
}

/* Q, K and V of two heads and one KV head, and the output. A delta net's and Mamba2's projection
   and output, of a quarter of the heads, whatever attention does. */
static void whole_sequences_of_some_heads(void **state)
{
    (void)state;
    struct config c = small_config();
    c.knobs.tp = 4, c.knobs.cp = 2;
    double delta = 2 * 16 + 2 * 64 + 2 * 4, mamba = 2 * 128 + 2 * 2 * 8 + 4;
    assert_heads(&c, MIXER_LINEAR, 2 * 100 * delta / 4.0, 2 * 100 * 64 / 4.0);
    assert_heads(&c, MIXER_MAMBA, 2 * 100 * mamba / 4.0, 2 * 100 * 128 / 4.0);
    c.knobs.cp_comm = CP_HEADS;
    assert_heads(&c, MIXER_ATTENTION, 2 * 100 * (2 * 16 + 16 + 16), 2 * 100 * 2 * 16);
    assert_heads(&c, MIXER_MLA, 2 * 100 * 2 * (16 + 16 + 10), 2 * 100 * 2 * 10);
}

/* Two KV heads on four ranks: each computes one of its own, of 16 and 16. MLA's two heads a rank
   have keys of 16 and values of 10; the picked keys are one latent head of 28, beside the
   indexer's 6. */
static void what_context_parallelism_exchanges(void **state)
{
    (void)state;
    struct config c = small_config();
    c.knobs.tp = 4, c.knobs.cp = 2;
    assert_context(&c, MIXER_ATTENTION, c.knobs.cp, 2 * 100 * (16 + 16));
    assert_context(&c, MIXER_MLA, c.knobs.cp, 2 * 100 * 2 * (16 + 10));
    c.model.index_heads = 4, c.model.index_dim = 6, c.model.index_topk = 10;
    assert_context(&c, MIXER_SPARSE_MLA, c.knobs.cp, 2 * 100 * (28 + 6));
}

/* What is launched outside of a captured part: nothing of a whole iteration. */
static void what_graphs_capture(void **state)
{
    (void)state;
    struct config c = small_config();
    struct work w;
    op_work(&c, &tokens, false, (struct layer_kind){MIXER_MAMBA, FFN_DENSE}, &w);
    assert_true(w.n_hosts == 2 && w.hosts[0].scope == (SCOPE_MAMBA | SCOPE_FULL));
    assert_true(w.hosts[1].scope == (SCOPE_MLP | SCOPE_FULL));
    op_work(&c, &tokens, false, (struct layer_kind){MIXER_ATTENTION, FFN_MOE}, &w);
    assert_true(w.hosts[0].scope == (SCOPE_ATTN | SCOPE_FULL) && w.hosts[1].left == 1);
    c.knobs.graph_impl = GRAPH_FULL_ITERATION;
    op_work(&c, &tokens, false, (struct layer_kind){MIXER_NONE, FFN_MOE}, &w);
    for (int i = 0; i < w.n_hosts; i++)
        assert_true(w.hosts[i].scope & SCOPE_FULL && w.hosts[i].left == 0);
}

static double bias_bytes(const struct config *c)
{
    struct work w;
    op_work(c, &tokens, true, (struct layer_kind){MIXER_NONE, FFN_MOE}, &w);
    for (int i = 0; i < w.n_streams; i++)
        if (w.streams[i].bias) return w.streams[i].forward;
    return 0;
}

/* 400 rows, of gate and up of 2 x 32 and of 64: 8 bytes of the former, which Megatron clamps and
   AutoModel adds its bias to, and 28 of the latter; fused experts have no passes for them. */
static void clamps_of_biased_experts(void **state)
{
    (void)state;
    struct config c = small_config();
    double eager = 400 * (8 * 2 * 32 + 28 * 64.0);
    assert_true(bias_bytes(&c) == 0);
    c.model.add_bias = true, c.knobs.precision = PREC_MXFP8;
    assert_true(bias_bytes(&c) == eager);
    c.knobs.graph_impl = GRAPH_FULL_ITERATION;
    assert_true(bias_bytes(&c) == 0);
    c.knobs.capacity_factor = 2; /* tokens are dropped: no fused kernel */
    assert_true(bias_bytes(&c) == eager);
    c.framework = FRAMEWORK_AUTOMODEL, c.knobs.precision = PREC_BF16;
    assert_true(bias_bytes(&c) == eager);
}

/* 1100 words: 9 x 128, or 3 x 512 on four ranks, each with a quarter; AutoModel pads none. */
static void vocabularies_are_padded(void **state)
{
    (void)state;
    struct config c = small_config();
    c.model.vocab = 1100, c.model.vocab_divisible_by = 128;
    assert_true(padded_vocab(&c) == 1152);
    c.knobs.tp = 4;
    struct matrix head = head_weights(&c);
    assert_true(head.in == 64 && head.out == 1536 && matrix_out(&head, &c.knobs) == 384);
    c.framework = FRAMEWORK_AUTOMODEL;
    assert_true(padded_vocab(&c) == 1100);
}

/* ---- saved tensors ---- */

static const struct saved *saved_find(const struct saved_list *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->items[i].name, name) == 0) return &l->items[i];
    return NULL;
}

static const struct saved *saved_named(const struct saved_list *l, const char *name)
{
    const struct saved *s = saved_find(l, name);
    if (!s) fail_msg("no tensor is called %s", name);
    return s;
}

static double bytes_of(const struct config *c, struct layer_kind kind)
{
    struct saved_list l;
    double sum = 0;
    op_saved(c, &tokens, kind, &l);
    for (int i = 0; i < l.n; i++)
        sum += saved_bytes(&l.items[i]);
    return sum;
}

/* Bytes a token: input and normed input 64 values each and 4 of statistics; then what a mixer adds.
 */
static void what_mixers_keep(void **state)
{
    (void)state;
    struct config c = small_config();
    double norm = 2 * 2 * 64 + 4;
    struct layer_kind kind = {MIXER_ATTENTION, FFN_NONE};
    assert_true(bytes_of(&c, kind) == 100 * (norm + 2 * 192 + 4 * 8 + 2 * 128));
    kind.mixer = MIXER_MAMBA;
    assert_true(bytes_of(&c, kind) == 100 * (norm + 2 * 292 + 3 * 2 * 128));
    kind.mixer = MIXER_LINEAR;
    assert_true(bytes_of(&c, kind) ==
                100 * (norm + 2 * (32 + 128 + 8) + 2 * 96 + 2 * (64 + 64) + 2 * 67 * 4 + 4 * 64));
    kind.mixer = MIXER_MLA;
    double mla = norm + 2 * (28 + 24) + 2 * 2 * 128 + 2 * 80 + 4 * 8 + 2 * 80;
    assert_true(bytes_of(&c, kind) == 100 * mla);
    c.model.attention_output_gate = true;
    assert_true(bytes_of(&c, kind) == 100 * (mla + 2 * 80));
}

/* One latent head of 28 for all; the kernel's output is in the latent's space, 24 wide, and the
   projection's input is another tensor; ten places of four bytes. */
static void what_sparse_attention_keeps(void **state)
{
    (void)state;
    struct config c = small_config();
    struct saved_list l;
    c.model.index_heads = 4, c.model.index_dim = 6, c.model.index_topk = 10;
    op_saved(&c, &tokens, (struct layer_kind){MIXER_SPARSE_MLA, FFN_NONE}, &l);
    assert_true(saved_bytes(saved_named(&l, "q, absorbed")) == 100 * 2 * 8 * 28);
    assert_true(saved_bytes(saved_named(&l, "latent keys")) == 100 * 2 * 28);
    assert_true(saved_bytes(saved_named(&l, "attention output")) == 100 * 2 * 8 * 24);
    assert_true(saved_bytes(saved_named(&l, "projection input")) == 100 * 2 * 80);
    assert_true(saved_bytes(saved_named(&l, "picked keys")) == 100 * 4 * 10);
    c.model.index_topk = 200; /* more than there are tokens */
    op_saved(&c, &tokens, (struct layer_kind){MIXER_SPARSE_MLA, FFN_NONE}, &l);
    assert_true(saved_bytes(saved_named(&l, "picked keys")) == 100 * 4 * 100);
}

static void what_feed_forward_parts_keep(void **state)
{
    (void)state;
    struct config c = small_config();
    struct saved_list l;
    double norm = 2 * 2 * 64 + 4;
    struct layer_kind kind = {MIXER_NONE, FFN_DENSE};
    assert_true(bytes_of(&c, kind) == 100 * (norm + 2 * 192 + 2 * 96));
    kind.ffn = FFN_MOE;
    double routed = 400 * (2 * (64 + 64 + 32) + 4), shared = 100 * 2 * (96 + 48);
    assert_true(bytes_of(&c, kind) == 100 * norm + 100 * 20 * 16 + shared + routed);
    op_saved(&c, &tokens, kind, &l);
    const struct saved *rows = saved_named(&l, "permuted tokens");
    const struct saved *router = saved_named(&l, "router logits and scores");
    assert_true(rows->routed && rows->late && rows->freed_by == MOD_MOE);
    assert_true(router->captured_by == (SCOPE_MOE_ROUTER | SCOPE_MOE) && !router->routed);
    assert_true(saved_named(&l, "shared activation")->freed_by ==
                (MOD_MOE | MOD_SHARED_EXPERTS | MOD_OPERATIONS));
    assert_true(l.ffn_backward == 2 * 400 * (64 + 3 * 32));
    double fused = bytes_of(&c, kind);
    c.knobs.act_fusion = false; /* kept without its probability too */
    assert_true(bytes_of(&c, kind) == fused + 400 * 2 * 32);
    c.model.layernorm = true; /* a mean beside the deviation */
    assert_true(bytes_of(&c, kind) == fused + 400 * 2 * 32 + 100 * 4);
}

/* One scale of a byte for 32 or 16 elements, or of four bytes for 128. */
static void quantised_inputs_have_scales(void **state)
{
    static const struct {
        enum precision precision;
        double bytes;
    } cases[] = {{PREC_FP32, 4},
                 {PREC_BF16, 2},
                 {PREC_FP8_TENSORWISE, 1},
                 {PREC_FP8_BLOCKWISE, 1 + 4 / 128.0},
                 {PREC_MXFP8, 1 + 1 / 32.0},
                 {PREC_NVFP4, 0.5 + 1 / 16.0}};
    struct config c = small_config();
    struct saved_list l;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c.knobs.precision = (uint8_t)cases[i].precision;
        op_saved(&c, &tokens, (struct layer_kind){MIXER_NONE, FFN_DENSE}, &l);
        assert_true(saved_named(&l, "activation")->bytes == cases[i].bytes);
    }
}

/* FlashAttention 2 keeps its output in both layouts, where several sequences are not cut. */
static void what_only_some_runs_keep(void **state)
{
    static const char layout[] = "attention output in flash attention's layout";
    struct layer_kind kind = {MIXER_ATTENTION, FFN_NONE};
    struct config c = small_config();
    struct saved_list l;
    (void)state;
    c.knobs.tp = 2, c.knobs.sequence_parallel = true, c.knobs.mbs = 2;
    c.machine.compute_capability = 8;
    op_saved(&c, &tokens, kind, &l);
    assert_true(saved_bytes(saved_named(&l, layout)) == 100 * 2 * 128 / 2.0);
    c.knobs.cp = 2;
    op_saved(&c, &tokens, kind, &l);
    assert_null(saved_find(&l, layout));
}

/* Frozen linears keep no input: of attention stay its input, its norm's deviation, q, k and v, the
   scores' sum and the output, which an adapter behind it takes too. One at the front keeps the
   norm's output, of all tokens of the group. With dropout each keeps what it lets through, and a
   byte's mask. */
static void what_frozen_linears_keep(void **state)
{
    (void)state;
    struct config c = small_config();
    struct layer_kind attention = {MIXER_ATTENTION, FFN_NONE}, dense = {MIXER_NONE, FFN_DENSE};
    struct token_counts half = {100, 50, 400, 0};
    struct saved_list l;
    c.knobs.task = TASK_PEFT;
    double bare = 2 * 64 + 4 + 2 * 192 + 4 * 8 + 2 * 128;
    assert_true(bytes_of(&c, attention) == 100 * bare);
    assert_true(bytes_of(&c, dense) == 100 * (2 * 64 + 4 + 2 * 192));
    c.knobs.lora_targets = LINEAR_BIT(LINEAR_QKV) | LINEAR_BIT(LINEAR_O) | LINEAR_BIT(LINEAR_DOWN);
    c.knobs.precision = PREC_FP8_DELAYED;
    assert_true(bytes_of(&c, attention) == 100 * (bare + 2 * 64));
    assert_true(bytes_of(&c, dense) == 100 * (2 * 64 + 4 + 2 * 192 + 2 * 96));
    c.knobs.lora_dropout = 0.1;
    assert_true(bytes_of(&c, attention) == 100 * (bare + 3 * 64 + 3 * 128));
    assert_true(bytes_of(&c, dense) == 100 * (2 * 64 + 4 + 2 * 192 + 3 * 96));
    c.knobs.lora_dropout = 0;
    c.knobs.tp = 2, c.knobs.sequence_parallel = true;
    op_saved(&c, &half, attention, &l);
    assert_true(saved_bytes(saved_named(&l, "input norm output")) == 100 * 2 * 64);
}

/* Of all tokens of four ranks the gradient twice, of the routed rows once, in fp32. */
static void what_a_gathering_dispatcher_needs(void **state)
{
    (void)state;
    struct config c = small_config();
    struct layer_kind kind = {MIXER_NONE, FFN_MOE};
    struct saved_list l;
    c.framework = FRAMEWORK_AUTOMODEL, c.knobs.dispatcher = DISPATCH_TORCH, c.knobs.ep = 4;
    op_saved(&c, &tokens, kind, &l);
    assert_true(l.ffn_backward == 4 * 64 * (2 * 4 * 100 + 400));
    c.knobs.dispatcher = DISPATCH_DEEPEP;
    op_saved(&c, &tokens, kind, &l);
    assert_true(l.ffn_backward == 2 * 400 * (64 + 3 * 32));
}

/* Scores of 8 heads over 100 keys: in 16 bit, and Hugging Face's also in fp32. */
static void what_eager_attention_keeps(void **state)
{
    (void)state;
    struct config c = small_config();
    struct layer_kind kind = {MIXER_ATTENTION, FFN_NONE};
    struct saved_list l;
    c.knobs.attention = ATTN_UNFUSED;
    op_saved(&c, &tokens, kind, &l);
    assert_true(saved_bytes(saved_named(&l, "attention probabilities")) == 2 * 100 * 8 * 100);
    c.framework = FRAMEWORK_AUTOMODEL;
    op_saved(&c, &tokens, kind, &l);
    assert_true(saved_bytes(saved_named(&l, "attention probabilities")) == 6 * 100 * 8 * 100);
}

/* Attention in FP8 keeps q, k, v and its output in one byte, and the projection its own input; an
   activation's input can be kept in one. */
static void what_fp8_keeps(void **state)
{
    (void)state;
    struct config c = small_config();
    struct saved_list l;
    c.knobs.precision = PREC_FP8_DELAYED, c.knobs.fp8_attention = true;
    c.knobs.fp8_activation_store = true;
    op_saved(&c, &tokens, (struct layer_kind){MIXER_ATTENTION, FFN_DENSE}, &l);
    assert_true(saved_bytes(saved_named(&l, "q, k, v")) == 100 * 192);
    assert_true(saved_bytes(saved_named(&l, "attention output")) == 100 * 128);
    assert_true(saved_bytes(saved_named(&l, "projection input, quantised")) == 100 * 128);
    assert_true(saved_bytes(saved_named(&l, "FC1 output")) == 100 * 192);
}

/* Gradients of the activation and of gate and up, 96 each; weights' gradients that the GEMM does
   not add up; over two ranks half of them, and the output's gradient gathered. */
static void what_a_dense_backward_needs(void **state)
{
    (void)state;
    struct config c = small_config();
    struct saved_list l;
    op_saved(&c, &tokens, (struct layer_kind){MIXER_NONE, FFN_DENSE}, &l);
    assert_true(l.ffn_backward == 2 * (100 * 3 * 96 + 2 * 96 * 64));
    c.knobs.tp = 2, c.knobs.grad_accumulation_fusion = true;
    op_saved(&c, &tokens, (struct layer_kind){MIXER_NONE, FFN_DENSE}, &l);
    assert_true(l.ffn_backward == 2 * (100 * 3 * 48 + 100 * 64));
    assert_true(l.residual_backward == 2 * 100 * 64);
}

/* Recomputation of a module repeats the operators that carry its tag. */
static void what_modules_repeat(void **state)
{
    (void)state;
    struct config c = small_config();
    struct weights w;
    struct work work;
    c.model.q_lora = 20;
    struct layer_kind kind = {MIXER_MLA, FFN_MOE};
    op_weights(&c.model, kind, false, &w);
    int up = 0, moe = 0;
    for (int i = 0; i < w.n; i++) {
        up += (w.items[i].freed_by & MOD_MLA_UP_PROJ) != 0;
        moe += (w.items[i].freed_by & MOD_MOE) != 0;
    }
    assert_true(up == 2 && moe == 5);
    op_work(&c, &tokens, false, kind, &work);
    assert_true(work.cores[0].freed_by == MOD_CORE_ATTN);
    assert_true(work.exchanges[work.n_exchanges - 1].kind == EXCHANGE_EP);
    assert_true(work.exchanges[work.n_exchanges - 1].freed_by == MOD_MOE);
}

/* Gate, up and down of four of 16 experts and of the shared one; no router. */
static void flops_of_experts(void **state)
{
    (void)state;
    struct config c = small_config();
    double moe = 2 * 3 * 64 * (4 * 32 + 48.0), dense = 2 * 3 * 64 * 96.0;
    assert_true(op_flops((struct layer_kind){MIXER_NONE, FFN_MOE}, &c.model, 100) == moe);
    assert_true(op_flops((struct layer_kind){MIXER_NONE, FFN_DENSE}, &c.model, 100) == dense);
    double attention = 2 * 64 * (192 + 128.0) + 2 * 100 * 128.0;
    assert_true(op_flops((struct layer_kind){MIXER_ATTENTION, FFN_NONE}, &c.model, 100) ==
                attention);
    c.model.attention_output_gate = true; /* as wide as the queries */
    assert_true(op_flops((struct layer_kind){MIXER_ATTENTION, FFN_NONE}, &c.model, 100) ==
                attention + 2 * 64 * 128.0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(grouped_attention),
    cmocka_unit_test(small_weights_of_attention),
    cmocka_unit_test(latent_attention),
    cmocka_unit_test(an_indexer),
    cmocka_unit_test(scans),
    cmocka_unit_test(feed_forward),
    cmocka_unit_test(linears_apart),
    cmocka_unit_test(what_context_parallelism_exchanges),
    cmocka_unit_test(whole_sequences_of_some_heads),
    cmocka_unit_test(what_graphs_capture),
    cmocka_unit_test(clamps_of_biased_experts),
    cmocka_unit_test(vocabularies_are_padded),
    cmocka_unit_test(what_mixers_keep),
    cmocka_unit_test(what_sparse_attention_keeps),
    cmocka_unit_test(what_feed_forward_parts_keep),
    cmocka_unit_test(quantised_inputs_have_scales),
    cmocka_unit_test(what_only_some_runs_keep),
    cmocka_unit_test(what_frozen_linears_keep),
    cmocka_unit_test(what_fp8_keeps),
    cmocka_unit_test(what_a_gathering_dispatcher_needs),
    cmocka_unit_test(what_eager_attention_keeps),
    cmocka_unit_test(what_a_dense_backward_needs),
    cmocka_unit_test(what_modules_repeat),
    cmocka_unit_test(flops_of_experts),
};
UNIT_MAIN(tests)
