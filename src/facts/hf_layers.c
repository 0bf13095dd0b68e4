/* SPDX-License-Identifier: Apache-2.0 */
/* Which layer of a Hugging Face config is what. Families say it in many ways: counts, steps, lists,
   words, letters. */
#include "base/buf.h"
#include "base/num.h"
#include "facts/hf.h"
#include "facts/param_ids.h"

/* One flag a layer. */
struct flags {
    int64_t n;
    bool on[HF_MAX_LAYERS];
};

/* A list of numbers or words a layer, where `on` is one of the words. */
static bool flags_of_list(const struct hf *h, const char *key, const char *on, struct flags *out)
{
    const struct node *list = hf_list(h, key);
    if (!list || list->n > HF_MAX_LAYERS) return false;
    out->n = (int64_t)list->n;
    for (size_t i = 0; i < list->n; i++)
        out->on[i] = list->items[i]->kind == NODE_SCALAR && hf_has_word(on, list->items[i]->text);
    return true;
}

/* Sparse layers numbered one by one: moe_layers_enum as a list or a comma string, mlp_only_layers
   as the dense ones. */
static bool flags_of_numbers(const struct hf *h, const char *key, bool on, struct flags *out)
{
    hf_asked(h, key);
    const struct node *n = node_get(h->text, str_of(key));
    if (hf_value(h, n).kind == VALUE_NULL || (n->kind == NODE_LIST && n->n == 0)) return false;
    struct str rest = n->kind == NODE_SCALAR ? n->text : (struct str){"", 0}, part;
    VEC(struct str) words = {0};
    if (n->kind == NODE_LIST)
        for (size_t i = 0; i < n->n; i++)
            *VEC_PUSH(h->arena, &words) = n->items[i]->text;
    while (str_split(&rest, ',', &part))
        *VEC_PUSH(h->arena, &words) = str_trim(part);
    for (size_t i = 0; i < words.n; i++) {
        int64_t layer;
        if (num_parse_int(words.items[i], &layer) && layer >= 0 && layer < out->n)
            out->on[layer] = on;
    }
    return words.n > 0;
}

/* Layers from, to, step and offset as several families say it. */
static void flags_of_rules(struct hf *h, struct flags *moe)
{
    int64_t first = hf_count(h, "first_k_dense_replace num_dense_layers moe_layer_start_index");
    int64_t step = hf_count(
        h, "decoder_sparse_step interleave_moe_layer_step moe_layer_interval expert_layer_period "
           "moe_layer_frequency moe_every_n_layer");
    struct value end = hf_value(h, hf_look(h, "moe_layer_end_index", NULL)),
                 freq = hf_value(h, hf_look(h, "moe_layer_freq", NULL));
    int64_t last = end.kind == VALUE_INT && end.i >= 0 ? end.i : moe->n - 1,
            n = step > 0 ? step : 1;
    int64_t offset =
        hf_look(h, "expert_layer_period", NULL) ? hf_count(h, "expert_layer_offset") : n - 1;
    if (freq.kind == VALUE_INT && freq.i > 1)
        n = freq.i, offset = 0; /* DeepSeek: layer_idx % moe_layer_freq == 0 */
    for (int64_t i = 0; i < moe->n; i++)
        moe->on[i] = i >= first && i <= last && i % n == offset % n;
}

static struct value flags_value(struct hf *h, const struct flags *f)
{
    struct value *list = ARENA_ARRAY(h->arena, struct value, (size_t)f->n);
    for (int64_t i = 0; i < f->n; i++)
        list[i] = value_int(f->on[i]);
    return value_list_of(h->arena, list, (size_t)f->n);
}

static void set_moe_layers(struct hf *h, const struct flags *moe)
{
    int64_t first = 0, on = 0;
    while (first < moe->n && !moe->on[first])
        first++;
    for (int64_t i = first; i < moe->n; i++)
        on += moe->on[i];
    if (on == moe->n) return;
    if (on == moe->n - first) {
        hf_add(h, P_first_k_dense_replace, value_int(first), "the config's MoE layers");
        return;
    }
    hf_add(h, P_moe_layer_freq, flags_value(h, moe), "the config's MoE layers");
}

static void read_moe_layers(struct hf *h)
{
    if (hf_given(h, P_num_moe_experts) <= 1) return;
    struct flags moe = {.n = h->layers}, listed = {.n = h->layers};
    flags_of_rules(h, &moe);
    bool has_list = flags_of_list(h, "mlp_layer_types", "sparse moe hash_moe", &listed) ||
                    flags_of_list(h, "moe_layer_freq", "1 true", &listed) ||
                    flags_of_list(h, "is_moe_layer", "1 true", &listed);
    if (has_list && listed.n != h->layers)
        hf_defect(h, h->text, P_moe_layer_freq,
                  "the list of MoE layers is not as long as there are layers");
    if (has_list) moe = listed;
    struct flags numbered = {.n = h->layers};
    if (flags_of_numbers(h, "moe_layers_enum", true, &numbered)) moe = numbered;
    flags_of_numbers(h, "mlp_only_layers", false, &moe);
    set_moe_layers(h, &moe);
    int64_t dense = 0;
    for (int64_t i = 0; i < moe.n; i++)
        dense += !moe.on[i];
    if (dense > 0 && !hf_given(h, P_ffn_hidden_size))
        hf_missing(h, P_ffn_hidden_size,
                   "intermediate_size intermediate_size_mlp dense_intermediate_size");
}

/* The n for which every n-th layer is off and the others on; 0 when there is none. */
static int64_t every_nth_off(const struct flags *f)
{
    int64_t n = 0;
    while (n < f->n && f->on[n])
        n++;
    n++;
    for (int64_t i = 0; i < f->n; i++)
        if (f->on[i] != ((i + 1) % n != 0)) return 0;
    return n <= f->n ? n : 0;
}

static struct value pattern_value(struct hf *h, const struct flags *f)
{
    int64_t n = every_nth_off(f);
    return n > 1 ? value_int(n) : flags_value(h, f);
}

static bool any_on(const struct flags *f)
{
    for (int64_t i = 0; i < f->n; i++)
        if (f->on[i]) return true;
    return false;
}

/* sliding_window_pattern: 6 (every sixth layer is full) or "LLLG" (L slides). */
static bool flags_of_window_pattern(struct hf *h, struct flags *out)
{
    const struct node *n = hf_look(h, "sliding_window_pattern", NULL);
    if (!n || n->kind != NODE_SCALAR) return false;
    int64_t every;
    bool is_number = num_parse_int(n->text, &every);
    if ((is_number && every < 2) || n->text.n == 0) return false;
    for (int64_t i = 0; i < out->n; i++)
        out->on[i] = is_number ? (i + 1) % every != 0 : n->text.p[(size_t)i % n->text.n] == 'L';
    return true;
}

/* Whether layer_types, from which `param` is read, has an entry for each layer; a defect otherwise.
 */
static bool check_length(struct hf *h, int param, int64_t n)
{
    if (n == h->layers) return true;
    hf_defect(h, h->text, param, "layer_types is not as long as there are layers");
    return false;
}

static void read_windows(struct hf *h)
{
    struct flags window = {.n = h->layers};
    const struct node *n;
    struct str alias = {0};
    int64_t size = hf_count_in(h, P_window_size, "sliding_window sliding_window_size", &n, &alias);
    if (size == 0 || !hf_truth(h, "use_sliding_window", true)) return;
    if (hf_look(h, "compress_ratios compress_rates", NULL))
        return; /* the window is only a part of what is attended */
    if (size >= hf_count(h, "max_position_embeddings") &&
        hf_count(h, "max_position_embeddings") > 0)
        return;
    bool listed =
        flags_of_list(h, "layer_types", "sliding_attention", &window) ||
        (h->traits & HF_WINDOW_FLAGS && flags_of_list(h, "hybrid_layer_pattern", "1", &window)) ||
        flags_of_window_pattern(h, &window);
    if (!listed && h->traits & (HF_HALF_WINDOW | HF_SIXTH_FULL)) {
        int64_t every = h->traits & HF_HALF_WINDOW ? 2 : 6;
        for (int64_t i = 0; i < window.n; i++)
            window.on[i] = (i + 1) % every != 0;
        listed = true;
    }
    check_length(h, P_window_attn_skip_freq, window.n);
    if (listed && !any_on(&window)) return;
    model_add_field(h->arena, h->m, P_window_size, value_int(size), n, alias);
    if (listed) hf_add(h, P_window_attn_skip_freq, pattern_value(h, &window), "layer_types");
}

/* Linear attention whose heads the config does not size, as in MiniMax-Text-01 and Ling 2.5. */
static void note_lightning(struct hf *h)
{
    struct flags linear = {.n = h->layers};
    bool on = flags_of_list(h, "attn_type_list", "0", &linear) ||
              flags_of_list(h, "layer_types", "linear_attention", &linear);
    if ((on && any_on(&linear)) || hf_count(h, "layer_group_size") > 1)
        model_add_note(h->arena, h->m,
                       "the layers with lightning attention are counted as full attention");
}

static void read_linear(struct hf *h)
{
    if (!hf_given(h, P_linear_num_key_heads)) {
        note_lightning(h);
        return;
    }
    struct flags linear = {.n = h->layers};
    int64_t interval = hf_count(h, "full_attention_interval");
    const struct node *full = hf_list(h, "linear_attn_config.full_attn_layers");
    if (full) { /* layers counted from 1 */
        for (int64_t i = 0; i < linear.n; i++)
            linear.on[i] = true;
        for (size_t i = 0; i < full->n; i++) {
            int64_t layer;
            if (num_parse_int(full->items[i]->text, &layer) && layer >= 1 && layer <= linear.n)
                linear.on[layer - 1] = false;
        }
    } else if (!flags_of_list(h, "layer_types", "linear_attention", &linear)) {
        for (int64_t i = 0; i < linear.n; i++)
            linear.on[i] = interval > 0 && (i + 1) % interval != 0;
    }
    check_length(h, P_linear_attention_freq, linear.n);
    if (!any_on(&linear)) return;
    hf_add(h, P_linear_attention_freq, pattern_value(h, &linear), "layer_types");
    if (hf_list(h, "linear_attn_config.kda_layers"))
        hf_add(h, P_linear_kimi_delta, value_bool(true), "linear_attn_config.kda_layers");
}

/* ---- hybrids ---- */

/* Megatron's letters from a list of block names or from letters already. */
static struct str letters(struct hf *h, const struct node *n)
{
    static const struct {
        const char *word;
        char letter;
    } blocks[] = {{"mamba", 'M'}, {"moe", 'E'}, {"attention", '*'}, {"mlp", '-'}};
    if (n->kind == NODE_SCALAR) return n->text;
    struct buf b = buf_new(h->arena);
    for (size_t i = 0; i < n->n; i++) {
        size_t k = 0, count_of = sizeof blocks / sizeof *blocks;
        while (k < count_of && !str_is(n->items[i]->text, blocks[k].word))
            k++;
        if (k == count_of) {
            hf_defect(h, n->items[i], P_hybrid_layer_pattern,
                      "a kind of block that moeplan does not know");
            return (struct str){"", 0};
        }
        buf_add_char(&b, blocks[k].letter);
    }
    return buf_str(&b);
}

/* A mixer and an FFN a layer: `state` are the layers with Mamba, `sparse` those with experts. */
static struct str pair_letters(struct hf *h, const struct flags *state, const struct flags *sparse)
{
    struct buf b = buf_new(h->arena);
    for (int64_t i = 0; i < h->layers; i++) {
        buf_add_char(&b, state->on[i] ? 'M' : '*');
        buf_add_char(&b, sparse->on[i] ? 'E' : '-');
    }
    return buf_str(&b);
}

/* Jamba: attention and experts at their periods. */
static struct str jamba_letters(struct hf *h)
{
    int64_t period = hf_count(h, "attn_layer_period"), offset = hf_count(h, "attn_layer_offset");
    int64_t sparse = hf_count(h, "expert_layer_period"), at = hf_count(h, "expert_layer_offset");
    struct flags state = {.n = h->layers}, moe = {.n = h->layers};
    for (int64_t i = 0; i < h->layers; i++) {
        state.on[i] = period <= 0 || i % period != offset;
        moe.on[i] = sparse > 0 && i % sparse == at;
    }
    model_add_note(h->arena, h->m,
                   "Mamba-1 layers are counted as Mamba-2 layers of the same width");
    return pair_letters(h, &state, &moe);
}

/* Granite 4: layer_types names the mixers, and every layer has the experts where there are any;
   Bamba numbers those with attention. Empty when there is no Mamba among them. */
static struct str typed_letters(struct hf *h)
{
    struct flags state = {.n = h->layers}, moe = {.n = h->layers};
    for (int64_t i = 0; i < h->layers; i++)
        state.on[i] = true;
    bool listed = flags_of_numbers(h, "attn_layer_indices", false, &state) ||
                  flags_of_list(h, "layer_types", "mamba mamba2", &state);
    if (!listed || !any_on(&state)) return (struct str){"", 0};
    if (!check_length(h, P_hybrid_layer_pattern, state.n)) return (struct str){"", 0};
    for (int64_t i = 0; i < h->layers; i++)
        moe.on[i] = hf_given(h, P_num_moe_experts) > 1;
    return pair_letters(h, &state, &moe);
}

/* Falcon-H1 has Mamba beside the attention of every layer; Granite 4 sizes it where no layer has
   it. */
static void note_stateless(struct hf *h)
{
    if (hf_given(h, P_mamba_num_heads) && !hf_list(h, "layer_types"))
        model_add_note(h->arena, h->m,
                       "Mamba's sizes are given, but not which layers have it: it is left out");
}

static void read_hybrid(struct hf *h)
{
    if (h->traits & HF_WINDOW_FLAGS) return;
    struct str alias = {0};
    const struct node *n =
        hf_look(h, "hybrid_override_pattern layers_block_type hybrid_layer_pattern", &alias);
    bool jamba = hf_look(h, "attn_layer_period", NULL) != NULL;
    struct str pattern = n ? letters(h, n) : jamba ? jamba_letters(h) : typed_letters(h);
    if (pattern.n == 0) {
        note_stateless(h);
        return;
    }
    /* a letter is a layer in Megatron-core, and a layer of pairs has two */
    if (!n || h->layers == 0) h->layers = (int64_t)pattern.n;
    if (n && (int64_t)pattern.n != h->layers)
        hf_defect(h, n, P_hybrid_layer_pattern, "the pattern is not as long as there are layers");
    const struct node *depth =
        hf_look(h, "mtp_hybrid_override_pattern mtp_layers_block_type", NULL);
    struct str part = depth ? letters(h, depth) : STR("*E");
    for (int64_t i = 0; i < hf_given(h, P_mtp_num_layers) && i < 16; i++)
        pattern = arena_printf(h->arena, "%.*s/%.*s", STR_ARG(pattern), STR_ARG(part));
    model_add_field(h->arena, h->m, P_hybrid_layer_pattern, value_string(pattern), n, alias);
}

/* What layer_types names and nothing here counts. */
static void note_unknown_kinds(struct hf *h)
{
    static const char known[] = "full_attention attention sliding_attention linear_attention "
                                "deepseek_sparse_attention chunked_attention mamba mamba2 "
                                "compressed_sparse_attention heavily_compressed_attention";
    const struct node *list = hf_list(h, "layer_types");
    for (size_t i = 0; list && i < list->n; i++) {
        struct str word = list->items[i]->text;
        if (list->items[i]->kind != NODE_SCALAR || hf_has_word(known, word)) continue;
        model_add_note(h->arena, h->m,
                       "layer_types: %.*s is not known, and counted as full attention",
                       STR_ARG(word));
        return;
    }
}

/* MTP depths: what the publisher trained. A switch may turn them off. */
static void read_mtp(struct hf *h)
{
    if (!hf_truth(h, "use_mtp", true)) return;
    int64_t n = hf_add_count(h, P_mtp_num_layers,
                             "num_nextn_predict_layers mtp_num_hidden_layers num_mtp_modules");
    if (n == 0) hf_add(h, P_mtp_num_layers, value_int(0), "none is given");
}

void hf_layers(struct hf *h)
{
    struct str alias = {0};
    const struct node *n;
    /* LongCat counts attentions as num_hidden_layers, two a layer */
    const char *keys = h->traits & HF_TWO_ATTENTIONS
                           ? "num_layers num_hidden_layers"
                           : "num_hidden_layers n_layers num_layers n_layer";
    h->layers = hf_count_in(h, P_num_layers, keys, &n, &alias);
    if (h->layers > HF_MAX_LAYERS) {
        hf_defect(h, n, P_num_layers, "more layers than moeplan can hold");
        return;
    }
    read_mtp(h);
    note_unknown_kinds(h);
    read_hybrid(h);
    if (h->layers == 0) {
        hf_missing(
            h, P_num_layers,
            "num_hidden_layers n_layers num_layers, layers_block_type, hybrid_override_pattern");
        return;
    }
    model_add_field(h->arena, h->m, P_num_layers, value_int(h->layers), n,
                    n ? alias : STR("length of the layer pattern"));
    if (model_field_get(h->m, P_hybrid_layer_pattern)) return;
    read_moe_layers(h);
    read_windows(h);
    read_linear(h);
}
