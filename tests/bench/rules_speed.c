/* SPDX-License-Identifier: Apache-2.0 */
/* rules_speed: microseconds for all built-in rules on one configuration of each framework:
   overrides with derived facts, all checks, the first error, and the part that changes with tp, pp
   and ep. Best of five. */
#include <stdio.h>

#include "bench.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "rules/rule.h"

enum { ROUNDS = 5, CALLS = 2000 };

struct bench {
    struct facts *f;
    struct arena *scratch;
    struct rule_subset subset;
    struct rules_summary sum;
};

static void overrides(struct bench *b)
{
    rules_apply_overrides(rules_builtin(), b->f, b->scratch);
}

static void checks(struct bench *b)
{
    size_t before = b->f->diags->n;
    b->sum = rules_run(rules_builtin(), b->f, b->scratch);
    b->f->diags->n = before;
}

static void first_error(struct bench *b)
{
    rules_first_error(rules_builtin(), b->f, b->scratch);
}

static void subset(struct bench *b)
{
    rule_subset_first_error(&b->subset, b->f, b->scratch);
}

static double best(struct bench *b, void (*what)(struct bench *b))
{
    double least = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_now();
        for (int i = 0; i < CALLS; i++)
            what(b);
        double each = (bench_now() - start) / CALLS * 1e6;
        if (each < least) least = each;
    }
    return least;
}

static struct facts *example(struct arena *a, struct diags *diags, enum framework framework)
{
    static const struct {
        const char *name;
        int64_t value;
    } values[] = {{"world_size", 256},
                  {"tensor_model_parallel_size", 2},
                  {"pipeline_model_parallel_size", 8},
                  {"expert_model_parallel_size", 16},
                  {"micro_batch_size", 1},
                  {"global_batch_size", 2048},
                  {"seq_length", 4096},
                  {"num_layers", 48},
                  {"hidden_size", 4096},
                  {"num_attention_heads", 32},
                  {"num_moe_experts", 128}};
    struct facts *f = facts_new(a, diags, framework, profile_find(framework, STR(""))->version);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        facts_set(f, param_find(str_of(values[i].name)), value_int(values[i].value), ORIGIN_OPTION,
                  NULL, str_of(values[i].name));
    return f;
}

int main(void)
{
    int vary[] = {P_tensor_model_parallel_size, P_pipeline_model_parallel_size,
                  P_expert_model_parallel_size};
    printf("%zu records, %zu different conditions\n", rules_builtin()->n,
           rules_builtin()->n_conditions);
    for (int k = 0; k < FRAMEWORK_COUNT; k++) {
        struct arena *a = arena_new(0);
        struct diags diags;
        diags_init(&diags, a);
        struct bench b = {.f = example(a, &diags, (enum framework)k), .scratch = arena_new(0)};
        double o = best(&b, overrides), c = best(&b, checks), e = best(&b, first_error);
        b.subset = rules_varying(a, rules_builtin(), b.f, vary, 3, b.scratch);
        double s = best(&b, subset);
        printf(
            "%-10s overrides %.2f us, checks %.2f us (%zu held or failed, %zu failed, %zu skipped, "
            "%zu broken), first error %.2f us, subset of %zu %.2f us\n",
            framework_name((enum framework)k), o, c, b.sum.evaluated, b.sum.failed, b.sum.skipped,
            b.sum.broken, e, b.subset.n, s);
        arena_free(b.scratch);
        arena_free(a);
    }
    return 0;
}
