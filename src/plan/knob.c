/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/knob.h"

#include "base/vec.h"
#include "facts/param_ids.h"

#define NONE (-1)
#define FIELD(name) offsetof(struct knobs, name)

static const char *const precision_words[] = {"fp32",        "bf16",           "fp16",
                                              "fp8_delayed", "fp8_tensorwise", "fp8_blockwise",
                                              "mxfp8",       "nvfp4",          NULL};
static const char *const granularity_words[] = {"", "selective", "full", NULL};
static const char *const method_words[] = {"uniform", "block", NULL};
static const char *const graph_words[] = {"none", "local", "transformer_engine", "full_iteration",
                                          NULL};
static const char *const attention_words[] = {"flash", "fused", "unfused", NULL};
static const char *const dispatcher_words[] = {"allgather", "alltoall", "deepep",
                                               "hybridep",  "torch",    NULL};
static const char *const task_words[] = {"pretrain", "sft", "peft", NULL};
static const char *const module_words[] = {
    "core_attn",   "layernorm", "moe_act",         "mlp",        "shared_experts",
    "mla_up_proj", "moe",       "expert_fc1",      "qkv_linear", "attn_proj",
    "attn_norm",   "mlp_norm",  "fused_group_mlp", NULL};
static const char *const scope_words[] = {"attn", "moe_router", "moe_preprocess", "mamba", "mlp",
                                          "moe",  NULL};

const struct knob knob_table[] = {
    {P_world_size, KNOB_INT64, FIELD(gpus), NULL, NONE},
    {P_tensor_model_parallel_size, KNOB_INT, FIELD(tp), NULL, NONE},
    {P_pipeline_model_parallel_size, KNOB_INT, FIELD(pp), NULL, NONE},
    {P_virtual_pipeline_model_parallel_size, KNOB_INT, FIELD(vpp), NULL, 1},
    {P_context_parallel_size, KNOB_INT, FIELD(cp), NULL, NONE},
    {P_expert_model_parallel_size, KNOB_INT, FIELD(ep), NULL, NONE},
    {P_expert_tensor_parallel_size, KNOB_INT, FIELD(etp), NULL, NONE},
    {P_micro_batch_size, KNOB_INT, FIELD(mbs), NULL, NONE},
    {P_global_batch_size, KNOB_INT64, FIELD(gbs), NULL, NONE},
    {P_seq_length, KNOB_INT, FIELD(seq), NULL, NONE},
    {P_sequence_parallel, KNOB_BOOL, FIELD(sequence_parallel), NULL, NONE},
    {P_precision, KNOB_WORD, FIELD(precision), precision_words, NONE},
    {P_fp8_param_gather, KNOB_BOOL, FIELD(fp8_param_gather), NULL, NONE},
    {P_recompute_granularity, KNOB_LADDER, FIELD(recompute), granularity_words, RECOMPUTE_NONE},
    {P_recompute_method, KNOB_WORD, FIELD(recompute_method), method_words, NONE},
    {P_recompute_num_layers, KNOB_INT, FIELD(recompute_num_layers), NULL, 0},
    {P_recompute_modules, KNOB_MODULES, FIELD(recompute_modules), module_words, 0},
    {P_offload_modules, KNOB_MODULES, FIELD(offload_modules), module_words, 0},
    {P_cuda_graph_impl, KNOB_WORD, FIELD(graph_impl), graph_words, NONE},
    {P_cuda_graph_scope, KNOB_MODULES, FIELD(graph_scope), scope_words, 0},
    {P_use_distributed_optimizer, KNOB_BOOL, FIELD(distributed_optimizer), NULL, NONE},
    {P_use_precision_aware_optimizer, KNOB_BOOL, FIELD(precision_aware), NULL, NONE},
    {P_main_grads_dtype, KNOB_DTYPE, FIELD(grad_bytes), NULL, NONE},
    {P_main_params_dtype, KNOB_DTYPE, FIELD(main_param_bytes), NULL, NONE},
    {P_exp_avg_dtype, KNOB_DTYPE, FIELD(exp_avg_bytes), NULL, NONE},
    {P_exp_avg_sq_dtype, KNOB_DTYPE, FIELD(exp_avg_sq_bytes), NULL, NONE},
    {P_optimizer_offload_fraction, KNOB_DOUBLE, FIELD(optimizer_offload), NULL, 0},
    {P_overlap_grad_reduce, KNOB_BOOL, FIELD(overlap_grad_reduce), NULL, NONE},
    {P_overlap_param_gather, KNOB_BOOL, FIELD(overlap_param_gather), NULL, NONE},
    {P_tp_comm_overlap, KNOB_BOOL, FIELD(tp_comm_overlap), NULL, NONE},
    {P_overlap_moe_expert_parallel_comm, KNOB_BOOL, FIELD(overlap_ep), NULL, NONE},
    {P_delay_wgrad_compute, KNOB_BOOL, FIELD(delay_wgrad), NULL, NONE},
    {P_moe_shared_expert_overlap, KNOB_BOOL, FIELD(shared_expert_overlap), NULL, NONE},
    {P_moe_permute_fusion, KNOB_BOOL, FIELD(permute_fusion), NULL, NONE},
    {P_moe_grouped_gemm, KNOB_BOOL, FIELD(grouped_gemm), NULL, NONE},
    {P_attention_backend, KNOB_WORD, FIELD(attention), attention_words, NONE},
    {P_task, KNOB_WORD, FIELD(task), task_words, NONE},
    {P_moe_router_force_load_balancing, KNOB_BOOL, FIELD(force_balance), NULL, NONE},
    {P_moe_pad_expert_input_to_capacity, KNOB_BOOL, FIELD(pad_to_capacity), NULL, NONE},
    {P_offload_optimizer_states, KNOB_BOOL, FIELD(offload_optimizer_states), NULL, NONE},
    {P_moe_expert_capacity_factor, KNOB_DOUBLE, FIELD(capacity_factor), NULL, 0},
    {P_num_layers_in_first_pipeline_stage, KNOB_INT, FIELD(first_stage_layers), NULL, 0},
    {P_num_layers_in_last_pipeline_stage, KNOB_INT, FIELD(last_stage_layers), NULL, 0},
    {P_account_for_embedding_in_pipeline_split, KNOB_BOOL, FIELD(account_embedding), NULL, NONE},
    {P_account_for_loss_in_pipeline_split, KNOB_BOOL, FIELD(account_loss), NULL, NONE},
    {P_freeze_vision_model, KNOB_BOOL, FIELD(freeze_vision), NULL, NONE},
    {P_freeze_language_model, KNOB_BOOL, FIELD(freeze_language), NULL, NONE},
    {P_image_tokens, KNOB_INT, FIELD(image_tokens), NULL, 0},
    {P_images_per_sequence, KNOB_INT, FIELD(images), NULL, 1},
    {P_dispatcher, KNOB_WORD, FIELD(dispatcher), dispatcher_words, NONE},
    {P_use_megatron_fsdp, KNOB_SHARDED, FIELD(fsdp), NULL, NONE},
    {P_dp_replicate_size, KNOB_INT, FIELD(dp_replicate), NULL, 1},
};
const size_t knob_count = sizeof knob_table / sizeof *knob_table;

const char *knobs_dispatcher(const struct knobs *k)
{
    return dispatcher_words[k->dispatcher];
}

const struct knob *knob_of(int param)
{
    for (size_t i = 0; i < knob_count; i++)
        if (knob_table[i].param == param) return &knob_table[i];
    return NULL;
}

static const void *field(const struct knobs *k, const struct knob *knob)
{
    return (const char *)k + knob->offset;
}

static struct value words_of_mask(struct arena *a, uint32_t mask, const char *const *words)
{
    VEC(struct value) list = {0};
    for (size_t bit = 0; words[bit]; bit++)
        if (mask & (uint32_t)1 << bit) *VEC_PUSH(a, &list) = value_string(str_of(words[bit]));
    return value_list_of(a, list.items, list.n);
}

static struct value dtype_of_bytes(int bytes)
{
    return value_string(bytes == 4 ? STR("fp32") : bytes == 2 ? STR("bf16") : STR("fp8"));
}

/* The field as an integer, for kinds that are one. */
static int64_t number(const struct knobs *k, const struct knob *knob)
{
    const void *p = field(k, knob);
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_DTYPE: return *(const int *)p;
    case KNOB_INT64: return *(const int64_t *)p;
    case KNOB_BOOL: return *(const bool *)p;
    case KNOB_LADDER:
    case KNOB_WORD: return *(const uint8_t *)p;
    case KNOB_SHARDED: return *(const uint8_t *)p == FSDP_OPTIM_GRADS_PARAMS;
    case KNOB_MODULES: return *(const uint32_t *)p;
    case KNOB_DOUBLE: return *(const double *)p == 0 ? 0 : 1;
    }
    return 0;
}

struct value knob_get(struct arena *a, const struct knobs *k, const struct knob *knob)
{
    int64_t n = number(k, knob);
    if (knob->absent != NONE && n == knob->absent) return value_null();
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_INT64: return value_int(n);
    case KNOB_SHARDED:
    case KNOB_BOOL: return value_bool(n != 0);
    case KNOB_LADDER:
    case KNOB_WORD: return value_string(str_of(knob->words[n]));
    case KNOB_MODULES: return words_of_mask(a, (uint32_t)n, knob->words);
    case KNOB_DTYPE: return dtype_of_bytes((int)n);
    case KNOB_DOUBLE: return value_double(*(const double *)field(k, knob));
    }
    return value_null();
}

/* The index of a word, or -1. */
static int word_index(const char *const *words, struct str word)
{
    for (int i = 0; words[i]; i++)
        if (str_is(word, words[i])) return i;
    return -1;
}

static bool mask_of_words(struct value v, const char *const *words, uint32_t *out)
{
    struct value_list one = {1, &v};
    const struct value_list *list = v.kind == VALUE_LIST ? v.list : &one;
    uint32_t mask = 0;
    for (size_t i = 0; i < list->n; i++) {
        int bit = list->items[i].kind == VALUE_STRING ? word_index(words, list->items[i].s) : -1;
        if (bit < 0) return false;
        mask |= (uint32_t)1 << bit;
    }
    *out = mask;
    return true;
}

static bool bytes_of_dtype(struct value v, int *out)
{
    static const struct {
        const char *word;
        int bytes;
    } dtypes[] = {{"fp32", 4}, {"float32", 4}, {"bf16", 2}, {"bfloat16", 2},
                  {"fp16", 2}, {"float16", 2}, {"fp8", 1},  {"uint8", 1}};
    for (size_t i = 0; v.kind == VALUE_STRING && i < sizeof dtypes / sizeof *dtypes; i++)
        if (str_is(v.s, dtypes[i].word)) {
            *out = dtypes[i].bytes;
            return true;
        }
    return false;
}

static bool set_integer(void *p, enum knob_kind kind, int64_t n)
{
    if (n < 0 || (kind == KNOB_INT && n > INT32_MAX)) return false;
    if (kind == KNOB_INT)
        *(int *)p = (int)n;
    else
        *(int64_t *)p = n;
    return true;
}

static bool set_word(uint8_t *p, const char *const *words, struct value v)
{
    int index = v.kind == VALUE_STRING ? word_index(words, v.s) : -1;
    if (index >= 0) *p = (uint8_t)index;
    return index >= 0;
}

static bool set_double(double *p, struct value v)
{
    if (v.kind != VALUE_DOUBLE && v.kind != VALUE_INT) return false;
    *p = v.kind == VALUE_INT ? (double)v.i : v.d;
    return true;
}

static const struct value_list no_modules;

/* What null stands for in each kind of field. */
static struct value null_value(const struct knob *knob)
{
    int64_t n = knob->absent == NONE ? 0 : knob->absent;
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_INT64: return value_int(n);
    case KNOB_SHARDED:
    case KNOB_BOOL: return value_bool(false);
    case KNOB_LADDER:
    case KNOB_WORD: return value_string(str_of(knob->words[n]));
    case KNOB_MODULES: return (struct value){.kind = VALUE_LIST, .list = &no_modules};
    case KNOB_DTYPE: return value_string(STR("fp32"));
    case KNOB_DOUBLE: return value_double(0);
    }
    return value_null();
}

bool knob_set(struct knobs *k, const struct knob *knob, struct value v)
{
    void *p = (char *)k + knob->offset;
    if (v.kind == VALUE_NULL) v = null_value(knob);
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_INT64: return v.kind == VALUE_INT && set_integer(p, knob->kind, v.i);
    case KNOB_BOOL:
        if (v.kind == VALUE_BOOL) *(bool *)p = v.b;
        return v.kind == VALUE_BOOL;
    case KNOB_LADDER:
    case KNOB_WORD: return set_word(p, knob->words, v);
    case KNOB_SHARDED:
        if (v.kind == VALUE_BOOL) *(uint8_t *)p = v.b ? FSDP_OPTIM_GRADS_PARAMS : FSDP_NONE;
        return v.kind == VALUE_BOOL;
    case KNOB_MODULES: return mask_of_words(v, knob->words, p);
    case KNOB_DTYPE: return bytes_of_dtype(v, p);
    case KNOB_DOUBLE: return set_double(p, v);
    }
    return false;
}
