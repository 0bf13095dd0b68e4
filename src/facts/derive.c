/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from other facts. Formulas: megatron/training/arguments.py (validate_args) unless
   noted. */
#include "base/buf.h"
#include "base/num.h"
#include "facts/facts.h"
#include "facts/layout.h"
#include "facts/param_ids.h"
#include "facts/precision.h"

enum {
    MAX_LAYERS = 4096, /* and chunks of a pipeline: bounds of the arrays on the stack */
    MAX_DEPTHS = 64    /* of multi-token prediction */
};

/* ---- looking and setting ---- */

static struct value look(const struct facts *f, int param)
{
    return facts_get(f, param)->value;
}

/* An int of at least 1; `otherwise` stands for null. False when it is unknown or of no use. */
static bool positive(const struct facts *f, int param, int64_t otherwise, int64_t *out)
{
    struct value v = look(f, param);
    *out = v.kind == VALUE_NULL ? otherwise : v.i;
    return (v.kind == VALUE_NULL || v.kind == VALUE_INT) && *out >= 1;
}

static bool is_fixed(const struct fact *x)
{
    return fact_is_set(x) || x->origin == ORIGIN_OVERRIDE || x->origin == ORIGIN_CATALOGUE;
}

static bool same(struct value a, struct value b)
{
    if (a.kind != b.kind) return false;
    return a.kind == VALUE_UNKNOWN || value_eq(a, b);
}

/* Sets what is not fixed; derived parameters always, whatever a plan asserts about them. What was
   assumed and comes out the same stays assumed. */
static void derive(struct facts *f, int param, struct value v, struct str from)
{
    const struct fact *x = facts_get(f, param);
    bool derived = param_table[param].scope == SCOPE_DERIVED;
    bool is_there = x->origin == ORIGIN_DERIVED || x->origin == ORIGIN_ASSUMED;
    if ((!derived && is_fixed(x)) || (is_there && same(x->value, v))) return;
    const struct node *asserted = derived ? x->node : NULL; /* where a plan says it */
    *facts_change(f, param) =
        (struct fact){.value = v,
                      .origin = v.kind == VALUE_UNKNOWN ? ORIGIN_UNKNOWN : ORIGIN_DERIVED,
                      .node = asserted,
                      .written = from};
}

/* A list of ints, made only when the fact does not hold it already. */
static void derive_ints(struct facts *f, int param, const int64_t *ints, size_t n, struct str from)
{
    struct value old = look(f, param);
    bool equal = old.kind == VALUE_LIST && old.list->n == n;
    for (size_t i = 0; equal && i < n; i++)
        equal = old.list->items[i].i == ints[i];
    if (equal) return;
    struct value *items = ARENA_ARRAY(f->arena, struct value, n);
    for (size_t i = 0; i < n; i++)
        items[i] = value_int(ints[i]);
    derive(f, param, value_list_of(f->arena, items, n), from);
}

/* ---- data parallelism and microbatches ---- */

/* The product of the sizes up to P_NONE; false when one is unknown or it overflows. */
static bool product(const struct facts *f, const int *sizes, int64_t *out)
{
    *out = 1;
    for (; *sizes != P_NONE; sizes++) {
        int64_t i = 0;
        if (!positive(f, *sizes, 1, &i) || __builtin_mul_overflow(*out, i, out)) return false;
    }
    return true;
}

static struct value quotient(int64_t a, int64_t b)
{
    return b > 0 && a % b == 0 ? value_int(a / b) : value_unknown();
}

/* Expert tensor parallelism follows tp when Megatron-LM is not told it. */
static bool expert_tensor_size(const struct facts *f, int64_t *out)
{
    int64_t tp = 1;
    bool follows = f->framework == FRAMEWORK_MEGATRON;
    if (follows && !positive(f, P_tensor_model_parallel_size, 1, &tp)) return false;
    return positive(f, P_expert_tensor_parallel_size, tp, out);
}

static void derive_data_parallel(struct facts *f)
{
    static const int dense[] = {P_tensor_model_parallel_size, P_pipeline_model_parallel_size,
                                P_context_parallel_size, P_NONE};
    static const int expert[] = {P_expert_model_parallel_size, P_pipeline_model_parallel_size,
                                 P_NONE};
    int64_t world = 0, model = 0, etp = 0;
    bool known = positive(f, P_world_size, 0, &world);
    derive(f, P_data_parallel_size,
           known && product(f, dense, &model) ? quotient(world, model) : value_unknown(),
           STR("world_size / (tp * pp * cp)"));
    struct value edp = value_unknown();
    if (known && product(f, expert, &model) && expert_tensor_size(f, &etp) &&
        !__builtin_mul_overflow(model, etp, &model))
        edp = quotient(world, model);
    derive(f, P_expert_data_parallel_size, edp, STR("world_size / (etp * ep * pp)"));
}

static void derive_microbatches(struct facts *f)
{
    int64_t gbs = 0, mbs = 0, dp = 0, step = 0, seq = 0, tokens = 0;
    bool batch = positive(f, P_global_batch_size, 0, &gbs);
    struct value n = value_unknown();
    if (batch && positive(f, P_micro_batch_size, 0, &mbs) &&
        positive(f, P_data_parallel_size, 0, &dp) && !__builtin_mul_overflow(mbs, dp, &step))
        n = facts_bool(f, P_decrease_batch_size_if_needed, false) && gbs >= step
                ? value_int(gbs / step)
                : quotient(gbs, step);
    derive(f, P_num_microbatches, n, STR("gbs / (mbs * dp)"));
    bool sized =
        batch && positive(f, P_seq_length, 0, &seq) && !__builtin_mul_overflow(gbs, seq, &tokens);
    derive(f, P_tokens_per_step, sized ? value_int(tokens) : value_unknown(), STR("gbs * seq"));
}

static void derive_world(struct facts *f)
{
    derive_data_parallel(f);
    derive_microbatches(f);
}

/* ---- how much is stated ---- */

static void derive_switches(struct facts *f)
{
    static const int switches[] = {P_overlap_grad_reduce,
                                   P_overlap_param_gather,
                                   P_tp_comm_overlap,
                                   P_moe_shared_expert_overlap,
                                   P_overlap_moe_expert_parallel_comm,
                                   P_delay_wgrad_compute,
                                   P_cuda_graph_impl,
                                   P_grad_reduce_in_bf16,
                                   P_fp8_param_gather,
                                   P_use_transformer_engine_op_fuser};
    bool stated = false;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        stated = stated || fact_is_set(facts_get(f, switches[i]));
    derive(f, P_switches_stated, value_bool(stated), STR("what is written"));
}

/* ---- the hybrid layer pattern ---- */

/* Layer letters of "M*M*|M-ME/MM/MM" before the first slash, bars apart; segments and MTP parts
   counted. */
struct hybrid {
    struct str letters; /* the main part, with its bars */
    int64_t layers, segments, depths;
};

static bool read_hybrid(const struct facts *f, struct hybrid *out)
{
    struct value v = look(f, P_hybrid_layer_pattern);
    if (v.kind != VALUE_STRING || v.s.n == 0) return false;
    *out = (struct hybrid){.letters = str_slice(v.s, 0, str_find(v.s, '/')), .segments = 1};
    for (size_t i = 0; i < v.s.n; i++) {
        bool main = i < out->letters.n, bar = v.s.p[i] == '|';
        out->layers += main && !bar;
        out->segments += main && bar;
        out->depths += v.s.p[i] == '/';
    }
    return true;
}

/* As many MTP depths as the plan says, where the pattern is the model's own; a pattern that is
   written beside them says them itself (arguments.py:864). */
static void settle_depths(struct facts *f, const struct hybrid *h)
{
    const struct fact *said = facts_get(f, P_mtp_num_layers),
                      *pattern = facts_get(f, P_hybrid_layer_pattern);
    if (h->depths == 0 || h->depths > MAX_DEPTHS || !fact_is_set(said) ||
        said->value.kind != VALUE_INT || said->value.i < 0 || said->value.i > MAX_DEPTHS ||
        said->value.i == h->depths)
        return;
    if (pattern->origin == ORIGIN_FILE) {
        if (f->framework == FRAMEWORK_MEGATRON)
            facts_set(f, P_mtp_num_layers, value_int(h->depths), ORIGIN_OVERRIDE, NULL,
                      STR("hybrid_layer_pattern"));
        return;
    }
    struct str text = pattern->value.s, main = str_slice(text, 0, str_find(text, '/')),
               rest = str_slice(text, main.n + 1, text.n),
               depth = str_slice(rest, 0, str_find(rest, '/'));
    struct buf b = buf_new(f->arena);
    buf_add(&b, main);
    for (int64_t i = 0; i < said->value.i; i++) {
        buf_add_char(&b, '/');
        buf_add(&b, depth);
    }
    facts_set(f, P_hybrid_layer_pattern, value_string(buf_str(&b)), pattern->origin, NULL,
              STR("mtp_num_layers"));
}

/* The pattern says the number of layers and of MTP depths (arguments.py:797). */
static void derive_hybrid(struct facts *f)
{
    struct hybrid h;
    bool unknown = look(f, P_hybrid_layer_pattern).kind == VALUE_UNKNOWN;
    /* a model that says its layers and no pattern is not hybrid */
    if (unknown && look(f, P_num_layers).kind == VALUE_INT) {
        derive(f, P_hybrid_layer_pattern, value_null(), STR("num_layers"));
        unknown = false;
    }
    if (!read_hybrid(f, &h)) {
        derive(f, P_hybrid_pipeline_segments, unknown ? value_unknown() : value_null(), STR(""));
        return;
    }
    derive(f, P_hybrid_pipeline_segments, value_int(h.segments), STR("hybrid_layer_pattern"));
    int layers = P_num_layers;
    struct value old = facts_get(f, layers)->value;
    bool overrides = f->framework == FRAMEWORK_MEGATRON && is_fixed(facts_get(f, layers));
    if (overrides && !same(old, value_int(h.layers)))
        facts_set(f, layers, value_int(h.layers), ORIGIN_OVERRIDE, NULL,
                  STR("hybrid_layer_pattern"));
    derive(f, P_num_layers, value_int(h.layers), STR("hybrid_layer_pattern"));
    settle_depths(f, &h);
    if (h.depths > 0) derive(f, P_mtp_num_layers, value_int(h.depths), STR("hybrid_layer_pattern"));
}

/* ---- pipeline ---- */

static void derive_layout(struct facts *f)
{
    struct value layout = look(f, P_pipeline_model_parallel_layout), stages = value_null();
    struct str error = STR("");
    if (layout.kind == VALUE_UNKNOWN) stages = value_unknown();
    if (layout.kind != VALUE_UNKNOWN && layout.kind != VALUE_NULL &&
        !layout_parse(f->arena, layout, &stages, &error))
        stages = value_unknown();
    derive(f, P_pipeline_layout_stages, stages, STR("pipeline_model_parallel_layout"));
    struct value why = error.n                        ? value_string(error)
                       : stages.kind == VALUE_UNKNOWN ? value_unknown()
                                                      : value_null();
    derive(f, P_pipeline_layout_error, why, STR("pipeline_model_parallel_layout"));
}

/* The layers that accounting adds for the embedding and the loss. */
static bool accounted(const struct facts *f, int64_t *embedding, int64_t *loss)
{
    struct value e = look(f, P_account_for_embedding_in_pipeline_split),
                 l = look(f, P_account_for_loss_in_pipeline_split);
    *embedding = e.kind == VALUE_BOOL && e.b;
    *loss = l.kind == VALUE_BOOL && l.b;
    return e.kind != VALUE_UNKNOWN && l.kind != VALUE_UNKNOWN;
}

/* Virtual stages as the layout, the pattern or the flags say it; null: no interleaving. */
static struct value virtual_stages(const struct facts *f)
{
    int64_t pp = 1, layers = 0, per_stage = 0, embedding = 0, loss = 0;
    struct value stages = look(f, P_pipeline_layout_stages),
                 segments = look(f, P_hybrid_pipeline_segments);
    struct value per_rank = look(f, P_num_virtual_stages_per_pipeline_rank),
                 each = look(f, P_num_layers_per_virtual_pipeline_stage);
    bool known = positive(f, P_pipeline_model_parallel_size, 1, &pp);
    if (stages.kind == VALUE_LIST)
        return known ? quotient((int64_t)stages.list->n, pp) : value_unknown();
    if (segments.kind == VALUE_INT && segments.i > 1)
        return known ? quotient(segments.i, pp) : value_unknown();
    if (per_rank.kind == VALUE_INT) return per_rank;
    if (each.kind == VALUE_NULL && per_rank.kind == VALUE_NULL && stages.kind == VALUE_NULL)
        return value_null();
    if (!known || !accounted(f, &embedding, &loss) || !positive(f, P_num_layers, 0, &layers) ||
        layers > MAX_LAYERS || !positive(f, P_num_layers_per_virtual_pipeline_stage, 0, &per_stage))
        return value_unknown();
    struct value per_pipeline = quotient(layers + embedding + loss, pp);
    return per_pipeline.kind == VALUE_INT ? quotient(per_pipeline.i, per_stage) : per_pipeline;
}

static void derive_virtual(struct facts *f)
{
    struct value vpp = virtual_stages(f);
    const struct fact *said = facts_get(f, P_virtual_pipeline_model_parallel_size);
    bool elsewhere = fact_is_of_recipe(said) || said->origin == ORIGIN_ASSUMED;
    if (vpp.kind == VALUE_NULL && elsewhere) return; /* a recipe says it itself, or silence */
    if (vpp.kind == VALUE_INT && vpp.i == 1) vpp = value_null();
    derive(f, P_virtual_pipeline_model_parallel_size, vpp, STR("the layers of a stage"));
    /* a plan says vpp; Megatron-LM is told it as stages a rank, which a pattern does not go with */
    const struct fact *written = facts_get(f, P_virtual_pipeline_model_parallel_size);
    if (f->framework != FRAMEWORK_MEGATRON || !is_fixed(written)) return;
    bool free = look(f, P_pipeline_model_parallel_layout).kind == VALUE_NULL &&
                look(f, P_num_layers_per_virtual_pipeline_stage).kind == VALUE_NULL;
    bool virtual = written->value.kind != VALUE_INT || written->value.i > 1;
    derive(f, P_num_virtual_stages_per_pipeline_rank,
           free && virtual ? written->value : value_null(), STR("vpp"));
}

/* Null, or a number of layers that can be. */
static bool is_layer_count(struct value v)
{
    return v.kind == VALUE_NULL || (v.kind == VALUE_INT && v.i >= 0 && v.i <= MAX_LAYERS);
}

/* Layers of each chunk where the first and the last stage may have their own number. */
static bool split_ranks(const struct facts *f, int64_t layers, int64_t pp, int64_t vpp,
                        int64_t *chunks)
{
    struct value first = look(f, P_num_layers_in_first_pipeline_stage),
                 last = look(f, P_num_layers_in_last_pipeline_stage);
    int64_t embedding = 0, loss = 0;
    if (!is_layer_count(first) || !is_layer_count(last)) return false;
    if (!accounted(f, &embedding, &loss)) return false;
    bool own_first = first.kind == VALUE_INT, own_last = last.kind == VALUE_INT;
    int64_t ranks = pp - own_first - own_last;
    int64_t rest = layers - (own_first ? first.i : 0) - (own_last ? last.i : 0) + embedding + loss;
    if (rest < 0 || ranks < 0 || (ranks ? rest % ranks != 0 : rest != 0)) return false;
    for (int64_t i = 0; i < pp * vpp; i++) {
        int64_t rank = i % pp, here = ranks ? rest / ranks : 0;
        if (rank == 0 && own_first) here = first.i;
        if (rank == pp - 1 && own_last) here = last.i;
        if (here < 0 || here % vpp != 0) return false;
        chunks[i] = here / vpp - (i == 0 ? embedding : 0) - (i == pp * vpp - 1 ? loss : 0);
        if (chunks[i] < 0) return false;
    }
    return true;
}

static int64_t count_letter(struct str text, char c)
{
    int64_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == c;
    return n;
}

static void derive_layers(struct facts *f)
{
    int64_t chunks[MAX_LAYERS], layers = 0, pp = 0, vpp = 0, n = 0;
    struct value stages = look(f, P_pipeline_layout_stages),
                 segments = look(f, P_hybrid_pipeline_segments);
    bool good = false;
    if (stages.kind == VALUE_LIST && stages.list->n <= MAX_LAYERS) {
        for (n = 0; n < (int64_t)stages.list->n; n++)
            chunks[n] = count_letter(stages.list->items[n].s, 't');
        good = true;
    } else if (stages.kind == VALUE_NULL && !(segments.kind == VALUE_INT && segments.i > 1)) {
        good = positive(f, P_num_layers, 0, &layers) &&
               positive(f, P_pipeline_model_parallel_size, 1, &pp) &&
               positive(f, P_virtual_pipeline_model_parallel_size, 1, &vpp) &&
               layers <= MAX_LAYERS && !__builtin_mul_overflow(pp, vpp, &n) && n <= MAX_LAYERS &&
               split_ranks(f, layers, pp, vpp, chunks);
    }
    if (good)
        derive_ints(f, P_layers_per_stage, chunks, (size_t)n, STR("the pipeline split"));
    else
        derive(f, P_layers_per_stage, value_unknown(), STR(""));
    derive(f, P_pipeline_chunks, good ? value_int(n) : value_unknown(), STR("pp * vpp"));
}

/* ---- what each layer is ---- */

/* Fills 1 or 0 for each layer from a frequency or a list of that length; false when it says
   neither. */
static bool spread(struct value freq, int64_t layers, bool all_but, int64_t *out)
{
    if (freq.kind == VALUE_LIST && (int64_t)freq.list->n == layers) {
        for (int64_t i = 0; i < layers; i++) {
            if (freq.list->items[i].kind != VALUE_INT) return false;
            out[i] = freq.list->items[i].i;
        }
        return true;
    }
    if (freq.kind != VALUE_INT || freq.i < 1) return false;
    for (int64_t i = 0; i < layers; i++)
        out[i] = all_but ? (i + 1) % freq.i != 0 : i % freq.i == 0;
    return true;
}

static bool moe_pattern(const struct facts *f, int64_t layers, int64_t *out)
{
    struct hybrid h;
    struct value experts = look(f, P_num_moe_experts), dense = look(f, P_first_k_dense_replace);
    if (read_hybrid(f, &h)) {
        if (h.layers != layers) return false;
        for (size_t i = 0; i < h.letters.n; i++)
            if (h.letters.p[i] != '|') *out++ = h.letters.p[i] == 'E';
        return true;
    }
    if (experts.kind == VALUE_NULL || (experts.kind == VALUE_INT && experts.i == 0)) {
        for (int64_t i = 0; i < layers; i++)
            out[i] = 0;
        return true;
    }
    if (experts.kind != VALUE_INT) return false;
    if (dense.kind == VALUE_INT) {
        for (int64_t i = 0; i < layers; i++)
            out[i] = i >= dense.i;
        return true;
    }
    return spread(look(f, P_moe_layer_freq), layers, false, out);
}

static void derive_layer_kinds(struct facts *f)
{
    int64_t kinds[MAX_LAYERS], layers = 0, moe = 0;
    bool sized = positive(f, P_num_layers, 0, &layers) && layers <= MAX_LAYERS;
    bool known = sized && moe_pattern(f, layers, kinds);
    for (int64_t i = 0; known && i < layers; i++)
        moe += kinds[i] != 0;
    if (known)
        derive_ints(f, P_moe_layer_pattern, kinds, (size_t)layers, STR("moe_layer_freq"));
    else
        derive(f, P_moe_layer_pattern, value_unknown(), STR(""));
    derive(f, P_num_moe_layers, known ? value_int(moe) : value_unknown(), STR("moe_layer_freq"));
    derive(f, P_num_dense_layers, known ? value_int(layers - moe) : value_unknown(),
           STR("moe_layer_freq"));
    if (sized && spread(look(f, P_linear_attention_freq), layers, true, kinds))
        derive_ints(f, P_linear_attention_pattern, kinds, (size_t)layers,
                    STR("linear_attention_freq"));
    else
        derive(f, P_linear_attention_pattern, value_unknown(), STR(""));
}

/* ---- two words for one thing ---- */

/* A model names its activation; Megatron has a switch for each. */
static void derive_activation(struct facts *f)
{
    struct value name = look(f, P_mlp_activation);
    static const int switches[] = {P_squared_relu, P_quick_geglu};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        bool on = name.kind == VALUE_STRING && str_eq(name.s, param_name(switches[i]));
        bool open = look(f, switches[i]).kind == VALUE_UNKNOWN && name.kind != VALUE_UNKNOWN;
        if (open) derive(f, switches[i], value_bool(on), STR("mlp_activation"));
    }
}

static void derive_gate(struct facts *f)
{
    struct value swiglu = look(f, P_swiglu), geglu = look(f, P_quick_geglu);
    if (swiglu.kind != VALUE_BOOL || geglu.kind != VALUE_BOOL) return;
    derive(f, P_gated_linear_unit, value_bool(swiglu.b || geglu.b), STR("swiglu"));
}

/* Bridge has the activation as a function, by its name. */
static void derive_activation_func(struct facts *f)
{
    struct value gated = look(f, P_gated_linear_unit), name = look(f, P_mlp_activation);
    struct value squared = look(f, P_squared_relu), quick = look(f, P_quick_geglu);
    struct str word = name.kind == VALUE_STRING ? name.s : STR("");
    if (f->framework != FRAMEWORK_BRIDGE || gated.kind != VALUE_BOOL) return;
    if (!word.n) word = gated.b ? STR("silu") : STR("gelu");
    if (squared.kind == VALUE_BOOL && squared.b) word = STR("squared_relu");
    bool is_quick = str_is(word, "quick_geglu") || (quick.kind == VALUE_BOOL && quick.b);
    if (is_quick) word = STR("quick_gelu");
    derive(f, P_activation_func, value_string(word), STR("gated_linear_unit"));
}

/* Only Megatron-LM's command line has a switch for grouped queries; elsewhere the number of groups
   says it. */
static void derive_grouped_queries(struct facts *f)
{
    struct value groups = look(f, P_num_query_groups), heads = look(f, P_num_attention_heads),
                 mla = look(f, P_multi_latent_attention);
    if (str_is(f->format, "megatron") || groups.kind != VALUE_INT) return;
    bool grouped =
        !(mla.kind == VALUE_BOOL && mla.b) && heads.kind == VALUE_INT && groups.i != heads.i;
    derive(f, P_group_query_attention, value_bool(grouped), STR("num_query_groups"));
}

void facts_derive(struct facts *f)
{
    precision_derive(f);
    derive_hybrid(f);
    derive_layout(f);
    derive_virtual(f);
    derive_data_parallel(f);
    derive_microbatches(f);
    derive_switches(f);
    derive_layers(f);
    derive_layer_kinds(f);
    derive_activation(f);
    derive_gate(f);
    derive_activation_func(f);
    derive_grouped_queries(f);
}

/* What the values of derived parameters come from, and those that are not always derived: whoever
   changes another parameter, and does not write it, changes nothing here. */
static const int sources[] = {
    P_world_size,
    P_global_batch_size,
    P_micro_batch_size,
    P_seq_length,
    P_decrease_batch_size_if_needed,
    P_tensor_model_parallel_size,
    P_pipeline_model_parallel_size,
    P_context_parallel_size,
    P_expert_model_parallel_size,
    P_expert_tensor_parallel_size,
    /* the pipeline */
    P_pipeline_model_parallel_layout,
    P_virtual_pipeline_model_parallel_size,
    P_num_virtual_stages_per_pipeline_rank,
    P_num_layers_per_virtual_pipeline_stage,
    P_num_layers_in_first_pipeline_stage,
    P_num_layers_in_last_pipeline_stage,
    P_account_for_embedding_in_pipeline_split,
    P_account_for_loss_in_pipeline_split,
    /* the layers */
    P_num_layers,
    P_mtp_num_layers,
    P_hybrid_layer_pattern,
    P_num_moe_experts,
    P_first_k_dense_replace,
    P_moe_layer_freq,
    P_linear_attention_freq,
    P_mlp_activation,
    P_squared_relu,
    P_quick_geglu,
    P_swiglu,
    P_gated_linear_unit,
    P_activation_func,
    P_num_query_groups,
    P_num_attention_heads,
    P_multi_latent_attention,
    P_group_query_attention,
    /* the precision */
    P_precision,
    P_bf16,
    P_fp16,
    P_fp8,
    P_fp4,
    P_fp8_recipe,
    P_fp8_param_gather,
    P_mixed_precision,
    P_backend_te_fp8_recipe,
    P_torchao_fp8_enabled,
    P_mp_policy_param_dtype,
};

bool facts_derives_from(int param)
{
    return param_table[param].scope == SCOPE_DERIVED ||
           param_among(param, sources, sizeof sources / sizeof *sources);
}

/* What the whole of facts_derive need not be asked for: one step of it alone reads the parameter,
   and no other reads what that step derives. */
static const struct {
    int param;
    const int *derived; /* up to P_NONE */
    void (*derive)(struct facts *f);
} alone[] = {
    {P_world_size,
     (const int[]){P_data_parallel_size, P_expert_data_parallel_size, P_num_microbatches, P_NONE},
     derive_world},
    {P_global_batch_size, (const int[]){P_num_microbatches, P_tokens_per_step, P_NONE},
     derive_microbatches},
    {P_micro_batch_size, (const int[]){P_num_microbatches, P_NONE}, derive_microbatches},
};

const int *facts_following(int param)
{
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (alone[i].param == param) return alone[i].derived;
    return NULL;
}

void facts_derive_after(struct facts *f, int param)
{
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        if (alone[i].param != param) continue;
        alone[i].derive(f);
        return;
    }
    facts_derive(f);
}
