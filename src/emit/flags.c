/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM: command-line flags, and a launch script around them. */
#include "base/num.h"
#include "base/quote.h"
#include "base/version.h"
#include "emit/emit.h"

/* Whether the version of the facts has the flag, and it is not on its way out. */
static bool flag_is_current(const struct facts *f, const struct param_flag *flag)
{
    return !flag->deprecated.n && !flag->removed.n &&
           version_between(f->version, flag->since, flag->until);
}

/* argparse takes a word that begins with a dash for a flag, unless it stands behind "--flag=". */
static bool looks_like_flag(struct value v)
{
    return v.kind == VALUE_STRING && str_starts(v.s, STR("-"));
}

static bool has_flag_like_item(struct value v)
{
    for (size_t i = 0; v.kind == VALUE_LIST && i < v.list->n; i++)
        if (looks_like_flag(v.list->items[i])) return true;
    return false;
}

/* The flag that says the value: a switch for a boolean, the constant's for a constant, else the
   storing one. NULL when there is none, or the value would be read as flags. */
static const struct param_flag *flag_for(const struct facts *f, const struct param_spelling *in,
                                         struct value v)
{
    if (has_flag_like_item(v)) return NULL;
    for (size_t i = 0; i < in->n_flags; i++) {
        const struct param_flag *flag = &in->flags[i];
        if (!flag_is_current(f, flag)) continue;
        bool fits = flag->action == FLAG_STORE || flag->action == FLAG_APPEND;
        if (v.kind == VALUE_BOOL) fits = flag->action == (v.b ? FLAG_TRUE : FLAG_FALSE);
        if (flag->action == FLAG_CONST) fits = value_eq(v, flag->constant);
        if (fits) return flag;
    }
    return NULL;
}

bool emit_can_say(const struct facts *f, int param)
{
    const struct param_spelling *in = &param_table[param].in[f->framework];
    struct value v = f->items[param].value;
    if (f->framework == FRAMEWORK_MEGATRON) return flag_for(f, in, v) != NULL;
    return in->key.n > 0 && !(f->framework == FRAMEWORK_AUTOMODEL && v.kind == VALUE_MAP);
}

static struct str join_tuple(struct arena *a, const struct value_list *list)
{
    struct buf b = buf_new(a);
    for (size_t i = 0; i < list->n; i++) {
        struct str item = emit_scalar(a, list->items[i]);
        buf_printf(&b, "%s%.*s", i ? "," : "", STR_ARG(item));
    }
    return buf_str(&b);
}

static void add_values(struct arena *a, const struct param *p, struct value v, struct buf *out)
{
    if (v.kind != VALUE_LIST) {
        struct str word = quote_shell(a, emit_scalar(a, v));
        buf_printf(out, "%s%.*s", looks_like_flag(v) ? "=" : " ", STR_ARG(word));
        return;
    }
    if (p->type == PARAM_PATTERN || p->type == PARAM_TUPLE) {
        struct str text = p->type == PARAM_TUPLE ? join_tuple(a, v.list) : emit_pattern(a, v.list);
        struct str word = quote_shell(a, text);
        buf_printf(out, " %.*s", STR_ARG(word));
        return;
    }
    for (size_t i = 0; i < v.list->n; i++) {
        struct str word = quote_shell(a, emit_scalar(a, v.list->items[i]));
        buf_printf(out, " %.*s", STR_ARG(word));
    }
}

/* The flags without comments. `indent` and `end` stand before and after each. */
static void add_lines(const struct emit_input *in, const char *indent, const char *end,
                      struct buf *out)
{
    const struct facts *f = in->facts;
    struct arena *a = out->arena;
    int *params;
    size_t n = emit_params(a, in->rules, f, &params);
    for (size_t i = 0; i < n; i++) {
        const struct param *p = &param_table[params[i]];
        struct value v = f->items[params[i]].value;
        const struct param_flag *flag = flag_for(f, &p->in[f->framework], v);
        if (!flag) continue;
        buf_printf(out, "%s%.*s", indent, STR_ARG(flag->flag));
        if (flag->action == FLAG_STORE || flag->action == FLAG_APPEND) add_values(a, p, v, out);
        buf_add(out, str_of(end));
    }
}

void emit_flags(const struct emit_input *in, struct buf *out)
{
    emit_comments(in, out);
    add_lines(in, "", "\n", out);
}

/* Environment that the plan needs, as "NAME=VALUE" words. Before Blackwell the order of TP and CP
   collectives relies on one hardware queue (megatron/training/arguments.py); FSDP and EP overlap
   need several. */
static const char *queue_connections(const struct facts *f)
{
    bool wide = facts_int(f, "tensor_model_parallel_size", 1) > 1 ||
                facts_int(f, "context_parallel_size", 1) > 1;
    bool parallel_queues = facts_bool(f, "use_megatron_fsdp", false) ||
                           facts_bool(f, "overlap_moe_expert_parallel_comm", false);
    bool before_blackwell = facts_double(f, "compute_capability", 0) < 10;
    return wide && before_blackwell && !parallel_queues ? "1" : "32";
}

void emit_script(const struct emit_input *in, struct buf *out)
{
    const struct facts *f = in->facts;
    int64_t gpus = facts_int(f, "world_size", 1), node = facts_int(f, "gpus_per_node", 8);
    if (node > gpus) node = gpus;
    buf_add(out, STR("#!/bin/bash\n"));
    emit_comments(in, out);
    buf_printf(out,
               "#SBATCH --nodes=%lld\n#SBATCH --ntasks-per-node=1\n#SBATCH "
               "--gpus-per-node=%lld\nset -euo pipefail\n\n",
               (long long)((gpus + node - 1) / node), (long long)node);
    buf_printf(out, "export CUDA_DEVICE_MAX_CONNECTIONS=%s\n", queue_connections(f));
    bool graphs =
        !str_is(facts_str(f, "cuda_graph_impl"), "none") && facts_str(f, "cuda_graph_impl").n;
    if (graphs) buf_add(out, STR("export NCCL_GRAPH_REGISTER=0\n"));
    buf_add(out, STR("\nsrun torchrun \\\n"));
    buf_printf(out, "    --nnodes %lld \\\n    --nproc-per-node %lld \\\n",
               (long long)((gpus + node - 1) / node), (long long)node);
    buf_add(out, STR("    --rdzv-backend c10d \\\n    --rdzv-endpoint "
                     "\"${MASTER_ADDR:-localhost}:29500\" \\\n"));
    buf_add(out, STR("    pretrain_gpt.py"));
    add_lines(in, " \\\n    ", "", out);
    buf_add_char(out, '\n');
}
