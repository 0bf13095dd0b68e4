/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/microbenchmark.h"

/* Scatter of a kernel's time around the cost model's law for it, as the logarithm's standard
   deviation: GEMM and attention laws reproduce measured shapes at 4 to 8 % median; a permutation is
   not quite a copy, and a framework's operation does more than a bare one. */
static const double gemm_sd = 0.08, attention_sd = 0.10, copy_sd = 0.05, permute_sd = 0.3,
                    launch_sd = 0.5;

static double number(struct arena *a, const struct node *entry, const char *name)
{
    const struct node *node = node_get(entry, str_of(name));
    struct value v = node ? node_value(a, node, SCALAR_JSON) : value_null();
    double x = v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_DOUBLE ? v.d : 0;
    return x > 1e-12 && x < 1e15 ? x : 0; /* what can be a measurement */
}

static struct config *config_for(struct arena *a, double seq, double batch,
                                 enum precision precision)
{
    struct config *c = ARENA_NEW(a, struct config);
    bool small = seq < 1 << 24 && batch < 1 << 16;
    *c = (struct config){.knobs = {.gpus = 1,
                                   .tp = 1,
                                   .pp = 1,
                                   .vpp = 1,
                                   .cp = 1,
                                   .ep = 1,
                                   .etp = 1,
                                   .gbs = 1,
                                   .mbs = small && batch >= 1 ? (int)batch : 1,
                                   .seq = small && seq >= 1 ? (int)seq : 1,
                                   .precision = (uint8_t)precision}};
    return c;
}

static bool add(struct arena *a, struct observation_list *out, struct observation o,
                double measured)
{
    if (measured <= 0) return false;
    o.measured = measured;
    *VEC_PUSH(a, out) = o;
    return true;
}

static bool read_gemm(struct arena *a, const struct node *entry, bool grouped,
                      struct observation_list *out)
{
    const struct node *dtype = node_get(entry, STR("dtype"));
    bool fp8 = dtype && str_is(dtype->text, "fp8");
    struct linear l = {.rows = number(a, entry, "rows"),
                       .out = number(a, entry, "out"),
                       .in = number(a, entry, "in"),
                       .experts = grouped ? number(a, entry, "experts") : 0};
    if (l.rows <= 0 || l.out <= 0 || l.in <= 0 || (grouped && l.experts <= 0)) return false;
    struct observation o = {.kind = OBSERVED_GEMM,
                            .config = config_for(a, 1, 1, fp8 ? PREC_FP8_TENSORWISE : PREC_BF16),
                            .sd = gemm_sd,
                            .linear = l,
                            .label = grouped ? STR("grouped GEMM") : STR("GEMM")};
    return add(a, out, o, number(a, entry, "seconds"));
}

static bool read_attention(struct arena *a, const struct node *entry, struct observation_list *out)
{
    struct observation o = {
        .kind = OBSERVED_FORWARD,
        .config = config_for(a, number(a, entry, "seq"), number(a, entry, "batch"), PREC_BF16),
        .sd = attention_sd,
        .attention = {.heads = number(a, entry, "heads"),
                      .qk_dim = number(a, entry, "qk_dim"),
                      .v_dim = number(a, entry, "v_dim")},
        .label = STR("attention")};
    if (o.attention.heads <= 0 || o.attention.qk_dim <= 0 || o.attention.v_dim <= 0) return false;
    bool forward = add(a, out, o, number(a, entry, "forward_s"));
    o.kind = OBSERVED_BACKWARD;
    bool backward = add(a, out, o, number(a, entry, "backward_s"));
    return forward || backward;
}

static bool read_bytes(struct arena *a, const struct node *entry, double sd, const char *label,
                       struct observation_list *out)
{
    struct observation o = {.kind = OBSERVED_COPY,
                            .config = config_for(a, 1, 1, PREC_BF16),
                            .sd = sd,
                            .bytes = number(a, entry, "bytes"),
                            .label = str_of(label)};
    return o.bytes > 0 && add(a, out, o, number(a, entry, "seconds"));
}

static bool read_launch(struct arena *a, const struct node *entry, struct observation_list *out)
{
    struct observation o = {.kind = OBSERVED_LAUNCH,
                            .config = config_for(a, 1, 1, PREC_BF16),
                            .sd = launch_sd,
                            .label = STR("launch")};
    return add(a, out, o, number(a, entry, "seconds"));
}

static bool read_entry(struct arena *a, struct str part, const struct node *entry,
                       struct observation_list *out)
{
    if (str_is(part, "gemm")) return read_gemm(a, entry, false, out);
    if (str_is(part, "grouped_gemm")) return read_gemm(a, entry, true, out);
    if (str_is(part, "attention")) return read_attention(a, entry, out);
    if (str_is(part, "copy")) return read_bytes(a, entry, copy_sd, "copy", out);
    if (str_is(part, "permute")) return read_bytes(a, entry, permute_sd, "permute", out);
    return str_is(part, "launch") && read_launch(a, entry, out);
}

/* ---- whose kernels ---- */

/* The kernels that a part's law is of. Runs of Megatron-core attend through Transformer Engine,
   which takes cuDNN's kernel or FlashAttention 3's; their experts are a GEMM each; and an operation
   of a framework's layer costs the host several times a bare one. GEMMs and copies have one kernel.
 */
static const struct {
    const char *part, *kernel;
} own_kernels[] = {{"attention", "te"},    {"attention", "cudnn"},   {"attention", "flash3"},
                   {"grouped_gemm", "te"}, {"grouped_gemm", "loop"}, {"launch", "layer"}};
enum { N_OWN_KERNELS = sizeof own_kernels / sizeof *own_kernels };

static struct str kernel_of(const struct node *entry)
{
    const struct node *kernel = node_get(entry, STR("kernel"));
    return kernel ? kernel->text : STR("unnamed");
}

static bool is_own(struct str part, struct str kernel)
{
    bool asked = false;
    for (size_t i = 0; i < N_OWN_KERNELS; i++) {
        if (!str_is(part, own_kernels[i].part)) continue;
        if (str_is(kernel, own_kernels[i].kernel)) return true;
        asked = true;
    }
    return !asked;
}

static void leave_out(struct arena *a, struct str part, struct str kernel,
                      struct microbenchmark_left *left)
{
    struct str name = arena_printf(a, "%.*s %.*s", STR_ARG(part), STR_ARG(kernel));
    left->foreign++;
    if (str_find_str(left->kernels, name) < left->kernels.n) return;
    left->kernels = left->kernels.n
                        ? arena_printf(a, "%.*s, %.*s", STR_ARG(left->kernels), STR_ARG(name))
                        : name;
}

bool microbenchmark_is(const struct node *root)
{
    return root && node_get(root, STR("moeplan_microbenchmark")) != NULL;
}

struct microbenchmark_left microbenchmark_read(struct arena *a, const struct node *root,
                                               struct observation_list *out)
{
    struct microbenchmark_left left = {0};
    for (size_t i = 0; i < root->n; i++) {
        const struct node *list = root->items[i];
        struct str part = root->keys[i]->text;
        for (size_t k = 0; list->kind == NODE_LIST && k < list->n; k++) {
            struct str kernel = kernel_of(list->items[k]);
            if (!is_own(part, kernel))
                leave_out(a, part, kernel, &left);
            else
                left.unreadable += !read_entry(a, part, list->items[k], out);
        }
    }
    return left;
}
