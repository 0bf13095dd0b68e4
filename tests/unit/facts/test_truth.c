/* SPDX-License-Identifier: Apache-2.0 */
/* Derived values against what Megatron-LM itself computed for thousands of command lines; skipped
   where that data is not there. */
#include "base/io.h"
#include "facts/param_ids.h"
#include "facts_unit.h"

/* A case's number under "derived", null as 0; false when it is not given. */
static bool expected(const struct node *derived, const char *key, int64_t *out)
{
    const struct node *node = node_get(derived, str_of(key));
    struct arena *a = arena_new(0);
    struct value v = node ? node_value(a, node, SCALAR_JSON) : value_unknown();
    arena_free(a);
    *out = v.kind == VALUE_INT ? v.i : 0;
    return v.kind == VALUE_INT || v.kind == VALUE_NULL;
}

static bool agrees(const struct facts *f, const struct node *derived, const char *key,
                   const char *name)
{
    int64_t want = 0;
    struct value got = facts_get(f, param_find(str_of(name)))->value;
    if (!expected(derived, key, &want)) return true;
    return got.kind == VALUE_NULL ? want == 0 : got.kind == VALUE_INT && got.i == want;
}

/* [[layers of each virtual stage] of each rank] against chunks in model order. */
static bool agrees_on_layers(const struct facts *f, const struct node *derived)
{
    const struct node *ranks = node_get(derived, STR("layers_per_stage"));
    struct value got = facts_get(f, P_layers_per_stage)->value;
    if (!ranks || ranks->kind != NODE_LIST || ranks->n == 0) return true;
    size_t pp = ranks->n, vpp = ranks->items[0]->n;
    if (got.kind != VALUE_LIST || got.list->n != pp * vpp) return false;
    for (size_t r = 0; r < pp; r++)
        for (size_t v = 0; v < vpp; v++) {
            struct value want = node_value(f->arena, ranks->items[r]->items[v], SCALAR_JSON);
            if (!value_eq(want, got.list->items[v * pp + r])) return false;
        }
    return true;
}

static bool check_case(struct arena *a, const struct node *c)
{
    static const char *const pairs[][2] = {
        {"dp", "data_parallel_size"},
        {"edp", "expert_data_parallel_size"},
        {"num_microbatches", "num_microbatches"},
        {"vpp", "virtual_pipeline_model_parallel_size"},
        {"num_layers", "num_layers"},
        {"tp", "tensor_model_parallel_size"},
        {"ep", "expert_model_parallel_size"},
    };
    struct read_options options = {.gpus = node_value(a, node_get(c, STR("gpus")), SCALAR_JSON).i};
    struct facts *f = read_as(a, "megatron", node_get(c, STR("text"))->text.p, &options);
    const struct node *derived = node_get(c, STR("derived"));
    bool good = true;
    facts_derive(f);
    /* a batch size that is not given follows from an override, which is the rules' business */
    if (facts_get(f, P_global_batch_size)->value.kind == VALUE_NULL) return true;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (agrees(f, derived, pairs[i][0], pairs[i][1])) continue;
        print_message("%s: %s is %s\n", node_get(c, STR("id"))->text.p, pairs[i][1],
                      value_text(a, facts_get(f, param_find(str_of(pairs[i][1])))->value).p);
        good = false;
    }
    if (agrees_on_layers(f, derived)) return good;
    print_message("%s: layers_per_stage is %s\n", node_get(c, STR("id"))->text.p,
                  value_text(a, facts_get(f, P_layers_per_stage)->value).p);
    return false;
}

static void derived_values_are_the_frameworks_own(void **state)
{
    struct arena *a = *state;
    struct str text, error, line;
    size_t cases = 0, wrong = 0;
    if (!io_read(a, SOURCE_DIR "/../shared/truth/megatron/cases.jsonl", &text, &error)) {
        print_message("skipped: no ../shared/truth/megatron/cases.jsonl\n");
        skip();
    }
    while (str_split(&text, '\n', &line)) {
        struct arena_mark mark = arena_mark(a);
        struct diags diags;
        diags_init(&diags, a);
        const struct node *c =
            line.n ? doc_load_json(a, &diags, source_add(&diags.sources, STR("cases"), line))
                   : NULL;
        const struct node *accept = node_get(c, STR("accept"));
        if (accept && str_is(accept->text, "true")) {
            cases++;
            wrong += !check_case(a, c);
        }
        arena_pop(a, mark);
    }
    assert_true(cases > 1000);
    assert_int_equal(wrong, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(derived_values_are_the_frameworks_own),
};
UNIT_MAIN(tests)
