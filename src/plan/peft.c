/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/peft.h"

#include <stdio.h>

#include "facts/param_ids.h"
#include "plan/framework.h"

/* The linears of a layer as the framework has them. */
static void layer_linears(const struct config *c, struct layer_kind kind, struct weights *out)
{
    op_weights(&c->model, kind, !config_traits(c)->fused_linears, out);
}

struct matrix head_linear(const struct config *c)
{
    return (struct matrix){.role = LINEAR_HEAD, .in = c->model.hidden, .out = c->model.vocab};
}

/* ---- adapters ---- */

/* Adapters of the same shape: AutoModel's experts have one each (components/_peft/lora_experts.py);
   Bridge's share one on every rank of their group (peft/lora.py, share_expert_adapters). */
static double copies(const struct config *c, enum linear_role role)
{
    if (!linear_is_routed(role)) return 1;
    return config_traits(c)->adapter_per_expert ? c->model.experts : c->knobs.ep;
}

/* A of rank x in, B of out x rank, and DoRA's magnitude of every output. */
double adapter_params(const struct config *c, const struct matrix *l)
{
    if (!linear_has_adapter(&c->knobs, l->role)) return 0;
    double rank = c->knobs.lora_rank, magnitude = c->knobs.dora ? l->out : 0;
    return copies(c, l->role) * (rank * (l->in + l->out) + magnitude);
}

/* Bridge cuts both matrices over the tensor-parallel ranks (peft/utils.py, ParallelLinearAdapter),
   AutoModel the one that stands beside the cut dimension. */
double adapter_on_rank(const struct config *c, const struct matrix *l)
{
    const struct knobs *k = &c->knobs;
    if (!linear_has_adapter(k, l->role)) return 0;
    bool routed = linear_is_routed(l->role);
    bool beside = config_traits(c)->adapters_cut_with_linear;
    double cut = l->cut == CUT_NOT ? 1 : routed ? k->etp : k->tp;
    double in = !beside || l->cut == CUT_INPUT ? l->in / cut : l->in;
    double out = !beside || l->cut == CUT_OUTPUT ? l->out / cut : l->out;
    double magnitude = k->dora ? out : 0;
    return copies(c, l->role) / (routed ? k->ep : 1) * (k->lora_rank * (in + out) + magnitude);
}

void layer_adapters(const struct config *c, struct layer_kind kind, double *dense, double *experts)
{
    struct weights w;
    *dense = *experts = 0;
    layer_linears(c, kind, &w);
    for (int i = 0; i < w.n; i++)
        *(matrix_is_routed(&w.items[i]) ? experts : dense) += adapter_on_rank(c, &w.items[i]);
}

/* ---- weights in 4 or 8 bits ---- */

double layer_packed(const struct config *c, struct layer_kind kind)
{
    struct weights w;
    double sum = 0;
    if (!knobs_packs(&c->knobs)) return 0;
    layer_linears(c, kind, &w);
    for (int i = 0; i < w.n; i++) {
        const struct matrix *x = &w.items[i];
        if (matrix_is_routed(x) || x->numeric == NUMERIC_32) continue;
        sum += matrix_out(x, &c->knobs) * matrix_in(x, &c->knobs);
    }
    return sum;
}

double packed_bytes(const struct knobs *k)
{
    return k->four_bit ? 0.5 : 1;
}

/* An fp32 scale a block; quantised twice, a byte a block and an fp32 scale a block of those
   (bitsandbytes/functional.py quantize_4bit, compress_statistics). In 8 bits a row has one scale,
   which is nothing beside it (bitsandbytes/nn/modules.py Int8Params). */
double packed_scale_bytes(const struct knobs *k)
{
    if (!k->four_bit) return 0;
    if (!k->double_quant) return 4.0 / FOUR_BIT_BLOCK;
    return (1 + 4.0 / FOUR_BIT_SCALES) / FOUR_BIT_BLOCK;
}

/* ---- which linears are targets ---- */

/* What a linear is called in a layer; NULL: the framework has no such linear. */
static const struct {
    const char *bridge, *automodel;
} names[LINEAR_ROLES] = {
    [LINEAR_QKV] = {"self_attention.linear_qkv", NULL},
    [LINEAR_Q] = {"self_attention.linear_q_proj", "self_attn.q_proj"},
    [LINEAR_K] = {"self_attention.linear_k_proj", "self_attn.k_proj"},
    [LINEAR_V] = {"self_attention.linear_v_proj", "self_attn.v_proj"},
    [LINEAR_O] = {"self_attention.linear_proj", "self_attn.o_proj"},
    [LINEAR_Q_DOWN] = {"self_attention.linear_q_down_proj", "self_attn.q_a_proj"},
    [LINEAR_Q_UP] = {"self_attention.linear_q_up_proj", "self_attn.q_b_proj"},
    [LINEAR_KV_DOWN] = {"self_attention.linear_kv_down_proj", "self_attn.kv_a_proj_with_mqa"},
    [LINEAR_KV_UP] = {"self_attention.linear_kv_up_proj", "self_attn.kv_b_proj"},
    [LINEAR_MAMBA_IN] = {"mixer.in_proj", "mixer.in_proj"},
    [LINEAR_MAMBA_OUT] = {"mixer.out_proj", "mixer.out_proj"},
    [LINEAR_DELTA_IN] = {"self_attention.in_proj", "linear_attn.in_proj_qkvz"},
    [LINEAR_DELTA_OUT] = {"self_attention.out_proj", "linear_attn.out_proj"},
    [LINEAR_FC1] = {"mlp.linear_fc1", NULL},
    [LINEAR_GATE] = {NULL, "mlp.gate_proj"},
    [LINEAR_UP] = {NULL, "mlp.up_proj"},
    [LINEAR_DOWN] = {"mlp.linear_fc2", "mlp.down_proj"},
    [LINEAR_SHARED_FC1] = {"mlp.shared_experts.linear_fc1", NULL},
    [LINEAR_SHARED_GATE] = {NULL, "mlp.shared_experts.gate_proj"},
    [LINEAR_SHARED_UP] = {NULL, "mlp.shared_experts.up_proj"},
    [LINEAR_SHARED_DOWN] = {"mlp.shared_experts.linear_fc2", "mlp.shared_experts.down_proj"},
    [LINEAR_LATENT_IN] = {"mlp.fc1_latent_proj", "mlp.fc1_latent_proj"},
    [LINEAR_LATENT_OUT] = {"mlp.fc2_latent_proj", "mlp.fc2_latent_proj"},
    [LINEAR_EXPERTS_UP] = {"mlp.experts.linear_fc1", "mlp.experts"},
    [LINEAR_EXPERTS_DOWN] = {"mlp.experts.linear_fc2", "mlp.experts"},
    [LINEAR_HEAD] = {"output_layer", "lm_head"},
};

/* Both frameworks read "*" and ".*" as any text and "." as any letter; names are matched whole
   (module_matcher.py wildcard_match). Nested stars are few: no pattern is longer than a path. */
static bool matches(struct str pattern, struct str name)
{
    size_t p = 0, n = 0, star = pattern.n, mark = 0;
    while (n < name.n) {
        bool dotted = p + 1 < pattern.n && pattern.p[p] == '.' && pattern.p[p + 1] == '*';
        if (dotted) p++;
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            mark = n;
        } else if (p < pattern.n && (pattern.p[p] == '.' || pattern.p[p] == name.p[n])) {
            p++, n++;
        } else if (star < pattern.n) {
            p = star + 1, n = ++mark;
        } else {
            return false;
        }
    }
    struct str rest = str_slice(pattern, p, pattern.n);
    return !rest.n || str_is(rest, "*") || str_is(rest, ".*");
}

/* Bridge takes a module's own name for a pattern too. */
static bool is_called(struct str pattern, bool automodel, enum linear_role role, int layer)
{
    char path[128];
    const char *name = automodel ? names[role].automodel : names[role].bridge;
    if (!name) return false;
    if (role == LINEAR_HEAD)
        snprintf(path, sizeof path, "%s", name);
    else
        snprintf(path, sizeof path, "%s.layers.%d.%s", automodel ? "model" : "decoder", layer,
                 name);
    struct str full = str_of(path), own = str_of(name);
    size_t dot = own.n;
    while (dot > 0 && own.p[dot - 1] != '.')
        dot--;
    bool by_name = !automodel && str_eq(pattern, str_slice(own, dot, own.n));
    return by_name || matches(pattern, full);
}

static bool has_digit(struct str pattern)
{
    for (size_t i = 0; i < pattern.n; i++)
        if (pattern.p[i] >= '0' && pattern.p[i] <= '9') return true;
    return false;
}

/* In any of the layers: a pattern that takes some of them is counted as if it took all. To one
   without digits all layers with as many digits are the same. */
static bool is_target(struct str pattern, bool automodel, enum linear_role role,
                      const struct model_shape *m)
{
    int layers = role == LINEAR_HEAD ? 1 : m->num_layers;
    bool each = has_digit(pattern);
    for (int i = 0; i < layers; i = each ? i + 1 : i ? i * 10 : 10)
        if (is_called(pattern, automodel, role, i)) return true;
    return false;
}

static uint32_t targets_of(struct value patterns, bool automodel, const struct model_shape *m)
{
    struct value_list one = {1, &patterns};
    const struct value_list *list = patterns.kind == VALUE_LIST ? patterns.list : &one;
    uint32_t mask = 0;
    for (size_t i = 0; i < list->n; i++)
        for (int role = 0; role < LINEAR_ROLES && list->items[i].kind == VALUE_STRING; role++)
            if (is_target(list->items[i].s, automodel, (enum linear_role)role, m))
                mask |= UINT32_C(1) << role;
    return mask;
}

static const uint32_t all_roles = (UINT32_C(1) << LINEAR_ROLES) - 1;
static const uint32_t routed_roles = UINT32_C(1) << LINEAR_EXPERTS_UP | UINT32_C(1)
                                                                            << LINEAR_EXPERTS_DOWN;

/* AutoModel's experts are no linears: only a pattern of target_modules takes them, and those of
   Hugging Face's own classes nothing does (components/_peft/lora.py:600, module_matcher.py). */
uint32_t peft_targets(const struct facts *f, const struct model_shape *m)
{
    bool automodel = framework_traits(f->framework)->hugging_face_paths;
    const struct fact *own = facts_get(f, P_automodel_moe);
    struct value wanted = facts_get(f, P_peft_target_modules)->value;
    struct value left = facts_get(f, P_peft_exclude_modules)->value;
    bool outside = automodel && own->value.kind == VALUE_BOOL && !own->value.b;
    uint32_t mask = targets_of(wanted, automodel, m);
    if (automodel && facts_bool(f, P_peft_match_all_linear, false))
        mask = all_roles & ~routed_roles;
    else if (left.kind == VALUE_LIST || left.kind == VALUE_STRING)
        mask = all_roles & ~routed_roles & ~targets_of(left, automodel, m);
    return outside ? mask & ~routed_roles : mask;
}

/* Bits of the linears that the model has. */
static uint32_t roles_of(const struct config *c)
{
    struct weights w;
    uint32_t mask = UINT32_C(1) << LINEAR_HEAD;
    for (int i = 0; i < c->model.n_kinds; i++) {
        layer_linears(c, c->model.kinds[i], &w);
        for (int j = 0; j < w.n; j++)
            mask |= UINT32_C(1) << w.items[j].role;
    }
    return mask;
}

struct str peft_idle_target(const struct facts *f, const struct model_shape *m)
{
    struct value wanted = facts_get(f, P_peft_target_modules)->value;
    struct value_list one = {1, &wanted};
    const struct value_list *list = wanted.kind == VALUE_LIST ? wanted.list : &one;
    struct config c = {.framework = f->framework, .model = *m};
    uint32_t present = roles_of(&c);
    for (size_t i = 0; i < list->n; i++) {
        struct value v = list->items[i];
        if (v.kind != VALUE_STRING) continue;
        if (!(targets_of(v, framework_traits(f->framework)->hugging_face_paths, m) & present))
            return v.s;
    }
    return (struct str){"", 0};
}

/* ---- what is trained ---- */

static double adapters_of_model(const struct config *c)
{
    struct weights w;
    struct matrix head = head_linear(c);
    double sum = adapter_params(c, &head);
    for (int i = 0; i < c->model.num_layers; i++) {
        layer_linears(c, c->model.kinds[c->model.layers[i]], &w);
        for (int j = 0; j < w.n; j++)
            sum += adapter_params(c, &w.items[j]);
    }
    return sum;
}

int64_t vision_trained_params(const struct config *c)
{
    const struct knobs *k = &c->knobs;
    int64_t all = vision_params(&c->model), projector = vision_projector_params(&c->model);
    return (knobs_trains_vision(k) ? all - projector : 0) +
           (knobs_trains_projector(k) ? projector : 0);
}

int64_t config_trained_params(const struct config *c)
{
    const struct knobs *k = &c->knobs;
    struct param_counts n = model_params(&c->model);
    if (k->task == TASK_PEFT) return (int64_t)adapters_of_model(c);
    return (knobs_trains_language(k) ? n.total + n.mtp : 0) + vision_trained_params(c);
}
