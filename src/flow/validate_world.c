/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"
#include "facts/param_ids.h"
#include "flow/validate.h"

/* Sizes tried: the first multiples of what both parallel grids need, then their doublings. */
enum {
    FIRST_MULTIPLES = 32,
    LARGEST = 1 << 20,
    MOST_SIZES = FIRST_MULTIPLES + 24,
    MOST_FAILURES = 4
};

static int64_t product(const struct facts *f, const int *params, size_t n)
{
    int64_t p = 1;
    for (size_t i = 0; i < n; i++) {
        int64_t size = facts_int(f, params[i], 1);
        if (size < 1 || __builtin_mul_overflow(p, size, &p) || p > LARGEST) return 0;
    }
    return p;
}

/* The dense and the expert grid both divide the world, and so do HSDP's replicas. 0 when a size is
   absurd. */
static int64_t base_size(const struct facts *f)
{
    static const int dense[] = {P_tensor_model_parallel_size, P_pipeline_model_parallel_size,
                                P_context_parallel_size, P_dp_replicate_size};
    static const int expert[] = {P_expert_tensor_parallel_size, P_pipeline_model_parallel_size,
                                 P_expert_model_parallel_size};
    int64_t a = product(f, dense, 4), b = product(f, expert, 3);
    return a && b ? a / num_gcd(a, b) * b : 0;
}

static struct facts *copy(struct arena *a, const struct facts *f)
{
    struct facts *g = facts_copy(a, f);
    g->diags = ARENA_NEW(a, struct diags);
    diags_init(g->diags, a);
    return g;
}

/* The rules that fail, each with the smallest size at which it is the first to. */
struct failure {
    const struct rule *rule;
    int64_t size;
};
struct failures {
    struct failure items[MOST_FAILURES];
    size_t n;
};

static void failures_add(struct failures *all, const struct rule *rule, int64_t size)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].rule == rule) return;
    if (all->n < MOST_FAILURES) all->items[all->n++] = (struct failure){rule, size};
}

/* Where the parameter that the first failing rule is about is written; else the whole file. */
static struct span place(const struct facts *f, const struct rule *rule)
{
    const struct node *node = rule->parameter < 0 ? NULL : facts_get(f, rule->parameter)->node;
    return node ? node_span(f->diags, node) : (struct span){.source = f->source};
}

static void report_none(const struct facts *f, const struct failures *why, int64_t up_to)
{
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "no-valid-world-size", place(f, why->items[0].rule),
                 "no number of GPUs up to %lld makes this configuration valid", (long long)up_to);
    for (size_t i = 0; i < why->n; i++)
        diag_note(f->diags, d, "with %lld GPU%s: %.*s", (long long)why->items[i].size,
                  why->items[i].size == 1 ? "" : "s", STR_ARG(why->items[i].rule->id));
    diag_help(f->diags, d, "--gpus N shows what fails at one size");
}

struct world_sizes validate_world_sizes(struct validation *v, const struct facts *f)
{
    const struct rule_reach *reach = &v->worlds[f->framework];
    struct rule_subset subset = rules_reached(v->arena, reach, f, v->scratch);
    int64_t base = base_size(f);
    struct world_sizes world = {0};
    if (!subset.n || !base) return world;

    struct facts *at = copy(v->arena, f);
    int64_t *sizes = ARENA_ARRAY(v->arena, int64_t, MOST_SIZES);
    struct failures failures = {0};
    world = (struct world_sizes){.known = true, .multiple_of = base, .sizes = sizes};
    for (int64_t k = 1; base * k <= LARGEST; k += k < FIRST_MULTIPLES ? 1 : k) {
        world.up_to = base * k;
        rules_resize(reach, f, at, world.up_to, v->scratch);
        const struct rule *failed = rule_subset_first_error(&subset, at, v->scratch);
        if (failed)
            failures_add(&failures, failed, world.up_to);
        else
            sizes[world.n++] = world.up_to;
    }
    if (!world.n && failures.n) report_none(f, &failures, world.up_to);
    return world;
}
