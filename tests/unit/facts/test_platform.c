/* SPDX-License-Identifier: Apache-2.0 */
/* Platform files: what follows from what is written, and what contradicts it. */
#include "facts/param_ids.h"
#include "facts/platform.h"
#include "unit/unit.h"

/* All that costs need. */
#define WHOLE                                                                                      \
    "gpu_memory_gib: 48\ngpu_capacity_gib: 46\ngpus_per_node: 8\nbf16_tflops: 362\n"               \
    "hbm_tb_per_s: 0.864\nnvlink_gb_per_s: 32\nnic_gb_per_s: 25\n"

/* A file that starts from a platform and writes these lines. */
static const struct entry *read_from(struct arena *a, const char *base, const char *lines,
                                     struct diags *diags)
{
    struct node_list docs = {0};
    diags_init(diags, a);
    struct str text = arena_printf(a, "moeplan: 1\nkind: Platform\nid: mine\n%s%s%s%s",
                                   base ? "base: " : "", base ? base : "", base ? "\n" : "", lines);
    assert_true(doc_load(a, diags, source_add(&diags->sources, STR("p.yaml"), text), &docs));
    return platform_read(a, diags, docs.items[0], platform_bases());
}

static const struct entry_field *field_of(const struct entry *e, const char *name)
{
    for (size_t i = 0; i < e->n_fields; i++)
        if (str_is(e->fields[i].name, name)) return &e->fields[i];
    fail_msg("there is no %s", name);
    return NULL;
}

static void dependent_figures_follow(void **state)
{
    static const struct {
        const char *base, *lines, *field, *value, *derived;
    } cases[] = {
        {"a100", "gpu_memory_gib: 39.4\n", "gpu_capacity_gib", "37.4",
         "gpu_memory_gib, less the 2 GiB that a100 keeps for itself"},
        {"a100", "gpu_memory_gib: 39.4\ngpu_capacity_gib: 30\n", "gpu_capacity_gib", "30", ""},
        {"a100", "gpu_capacity_gib: 37.2\n", "gpu_memory_gib", "79.1", ""},
        {"a100", "gpu_memory_gib: 79.1\n", "gpu_capacity_gib", "77.1", ""},
        {"h100", "bf16_tflops: 494.5\n", "fp8_tflops", "989.5",
         "bf16_tflops, 2.001 times that as on h100"},
        {"h100", "bf16_tflops: 494.5\n", "fp4_tflops", "null", ""},
        {"gb300", "bf16_tflops: 1225\n", "fp4_tflops", "7350",
         "bf16_tflops, 6 times that as on gb300"},
        {"h100", "bf16_tflops: 494.5\nfp8_tflops: 600\n", "fp8_tflops", "600", ""},
        {"h100", "gpus_per_node: 4\n", "nvlink_domain", "4",
         "gpus_per_node, a node is one domain as on h100"},
        {"gb200", "gpus_per_node: 2\n", "nvlink_domain", "72", ""},
        {"h100", "gpus_per_node: 4\nnvlink_domain: 8\n", "nvlink_domain", "8", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        const struct entry *e = read_from(*state, cases[i].base, cases[i].lines, &diags);
        if (!e) print_message("%s", cases[i].lines);
        assert_non_null(e);
        const struct entry_field *f = field_of(e, cases[i].field);
        assert_str(value_text(*state, f->value), cases[i].value);
        assert_str(f->derived, cases[i].derived);
    }
}

static void what_follows_is_said_with_the_fact(void **state)
{
    struct diags diags;
    const struct entry *e = read_from(*state, "a100", "gpu_memory_gib: 39.4\n", &diags);
    struct facts *f = facts_new(*state, &diags, FRAMEWORK_MEGATRON, STR("main@2026-08-22"));
    const struct platform p = {.id = STR("p.yaml"), .entry = e};
    platform_apply(f, &p, ORIGIN_FILE);
    assert_str(fact_origin_text(*state, f, P_gpu_capacity_gib),
               "from gpu_memory_gib, less the 2 GiB that a100 keeps for itself");
    assert_str(fact_origin_text(*state, f, P_gpu_memory_gib), "from p.yaml");
}

/* Each is refused with one error of the rule, at the line, that names both sides. */
static void mistakes_and_contradictions_are_errors(void **state)
{
    static const struct {
        const char *base, *lines, *rule;
        uint32_t line;
        const char *names[2];
    } cases[] = {
        {"a100", "nic_gb_per_s: abc\n", "value-type", 5, {"nic_gb_per_s", "abc"}},
        {"a100", "nic_gb_per_s: 25\nbf16_tflops: 0\n", "value-range", 6, {"bf16_tflops", "0.01"}},
        {"a100", "gpus_per_node: 0\n", "value-range", 5, {"gpus_per_node", "at least 1"}},
        {"a100", "gpus_per_node: 2.5\n", "value-type", 5, {"an integer", "2.5"}},
        {"a100", "hbm_tb_per_s: .inf\n", "value-range", 5, {"hbm_tb_per_s", "finite"}},
        {"a100", "nvlink_gb_per_s: 0\n", "value-range", 5, {"nvlink_gb_per_s", "0.001"}},
        {"a100", "bf16_tflops: [312]\n", "value-type", 5, {"bf16_tflops", "[312]"}},
        {"a100", "bf16_tflops: null\n", "platform-config", 5, {"no", "bf16_tflops"}},
        {"a100", "gpu_memory: 40\n", "unknown-key", 5, {"gpu_memory", "platform"}},
        {"a101", "nic_gb_per_s: 25\n", "unknown-platform", 4, {"a101", "no platform"}},
        {"a100", "coefficients: {nic: 75%}\n", "platform-config", 5, {"nic", "75%"}},
        {"a100", "coefficients: {nic: {value: .nan}}\n", "platform-config", 5, {"value", ".nan"}},
        {"a100", "coefficients: {nic: {}}\n", "platform-config", 5, {"nic", "value"}},
        {"a100",
         "coefficients: {nic: {valeu: 1, value: 1}}\n",
         "platform-config",
         5,
         {"unknown key", "valeu"}},
        {"a100",
         "coefficients: {nic: {value: 0.5, low: 0.6}}\n",
         "platform-config",
         5,
         {"nic", "enclose"}},
        {"a100",
         "coefficients: {ep_hidden: {value: 0.5, low: -1}}\n",
         "platform-config",
         5,
         {"ep_hidden", "negative"}},
        {"a100", "coefficients: {nic: 0}\n", "value-range", 5, {"nic", "0.001"}},
        {"a100",
         "memory_coefficients: {adam_expansion: 2}\n",
         "value-range",
         5,
         {"adam_expansion", "at most 1"}},
        {"a100", "coefficients: {nicc: 0.7}\n", "unknown-key", 5, {"nicc", "coefficient"}},
        {"a100", "coefficients: [nic]\n", "platform-config", 5, {"coefficients", "a list"}},
        {"a100",
         "gpu_memory_gib: 40\ngpu_capacity_gib: 41\n",
         "platform-config",
         6,
         {"gpu_capacity_gib 41", "gpu_memory_gib 40"}},
        {"a100",
         "gpu_capacity_gib: 80\n",
         "platform-config",
         5,
         {"gpu_capacity_gib 80", "gpu_memory_gib 79.1 of a100"}},
        {"a100",
         "nvlink_domain: 6\n",
         "platform-config",
         5,
         {"nvlink_domain 6", "gpus_per_node 8 of a100"}},
        {"a100",
         "fp8_tflops: 600\n",
         "platform-config",
         5,
         {"fp8_tflops 600", "has_fp8 false of a100"}},
        {"h100",
         "fp8_tflops: null\n",
         "platform-config",
         5,
         {"fp8_tflops null", "has_fp8 true of h100"}},
        {"h100",
         "compute_capability: 8.0\n",
         "platform-config",
         5,
         {"compute_capability 8", "has_fp8 true of h100"}},
        {"h100",
         "has_mxfp8: true\n",
         "platform-config",
         5,
         {"compute_capability 9 of h100", "has_mxfp8 true"}},
        {"a100", "id: x\nkind: Model\n", "platform-config", 6, {"Platform", "Model"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        const struct entry *e = read_from(*state, cases[i].base, cases[i].lines, &diags);
        size_t errors = 0;
        const struct diag *d = NULL;
        for (size_t k = 0; k < diags.n; k++) {
            if (diags.items[k].severity != SEVERITY_ERROR) continue;
            d = &diags.items[k];
            errors++;
        }
        if (e || errors != 1 || !str_is(d->rule, cases[i].rule) || d->at.line != cases[i].line)
            fail_msg("%s: %zu errors, %s at line %u", cases[i].lines, errors, d ? d->message.p : "",
                     d ? d->at.line : 0);
        for (int k = 0; k < 2; k++)
            if (str_find_str(d->message, str_of(cases[i].names[k])) == d->message.n)
                fail_msg("\"%s\" does not say %s", d->message.p, cases[i].names[k]);
    }
}

static void memory_that_nothing_is_left_of_is_refused(void **state)
{
    struct diags diags;
    assert_null(read_from(*state, "a100", "gpu_memory_gib: 1.5\n", &diags));
    assert_int_equal(diags.n, 1);
    assert_true(str_find_str(diags.items[0].message, STR("leaves nothing")) <
                diags.items[0].message.n);
}

static void a_platform_without_a_base_says_all_that_costs_need(void **state)
{
    struct diags diags;
    assert_null(read_from(*state, NULL, "bf16_tflops: 100\n", &diags));
    assert_int_equal(diags.n, 6);
    for (size_t i = 0; i < diags.n; i++)
        assert_true(str_is(diags.items[i].rule, "platform-config"));
    const struct entry *e = read_from(*state, NULL, WHOLE, &diags);
    assert_non_null(e);
    assert_int_equal(e->n_fields, 7);
}

/* ---- files of a set that start from one another ---- */

static bool read_set(struct arena *a, struct diags *diags, const char *const *texts, size_t n,
                     struct entry_list *out)
{
    const struct node *roots[4];
    diags_init(diags, a);
    for (size_t i = 0; i < n; i++) {
        struct node_list docs = {0};
        struct str name = arena_printf(a, "%zu.yaml", i);
        uint32_t source = source_add(&diags->sources, name, str_of(texts[i]));
        assert_true(doc_load(a, diags, source, &docs));
        roots[i] = docs.items[0];
    }
    return platform_read_set(a, diags, roots, n, out);
}

static const struct entry *entry_of(struct entry_list list, const char *id)
{
    return entry_find(list.items, list.n, str_of(id));
}

/* Whatever the order of the files; a base that is no platform need not be whole. */
static void bases_of_a_set_are_read_first(void **state)
{
    static const char *const texts[] = {
        "id: c\nbase: b\nnic_gb_per_s: 100\ncoefficients: {nic: 0.5}\n",
        "id: a\nabstract: true\ngpu_architecture: Hopper\n"
        "coefficients: {nvlink: {value: 0.7, low: 0.6, high: 0.8, source: a}, nic: 0.9}\n",
        "id: b\nbase: a\n" WHOLE,
    };
    struct diags diags;
    struct entry_list read;
    assert_true(read_set(*state, &diags, texts, 3, &read));
    assert_int_equal(diags.n, 0);
    assert_int_equal(read.n, 3);
    const struct entry *c = entry_of(read, "c");
    assert_true(entry_of(read, "a")->abstract);
    assert_false(c->abstract);
    assert_str(field_of(c, "gpu_architecture")->value.s, "Hopper");
    assert_int_equal(field_of(c, "nic_gb_per_s")->value.i, 100);
    assert_int_equal(field_of(entry_of(read, "b"), "nic_gb_per_s")->value.i, 25);
    assert_int_equal(c->n_coefficients, 2);
    assert_str(c->coefficients[0].name, "nvlink"); /* in the base's order */
    assert_str(c->coefficients[0].source, "a");
    assert_true(c->coefficients[1].value == 0.5);
}

/* One error, of the rule and at the place, and none about what starts from what is wrong. */
static void bases_that_cannot_be_are_located(void **state)
{
    static const struct {
        const char *texts[3];
        const char *rule, *says, *at;
        uint32_t line;
        size_t good;
    } cases[] = {
        {{"id: a\nbase: b\n" WHOLE, "id: b\nbase: c\n" WHOLE, "id: c\n" WHOLE "base: a\n"},
         "platform-config",
         "base a starts from this one",
         "2.yaml",
         9,
         0},
        {{"id: a\n" WHOLE, "id: b\nbase: b\n" WHOLE, "id: c\nbase: b\n" WHOLE},
         "platform-config",
         "base b starts from this one",
         "1.yaml",
         2,
         1},
        {{"id: a\nbase: h1\n" WHOLE, "id: h100\n" WHOLE, "id: c\nbase: a\n" WHOLE},
         "unknown-platform",
         "no platform called h1",
         "0.yaml",
         2,
         1},
        {{"id: a\nbase: b\n", "id: b\nabstract: true\n", "id: c\nabstract: 7\n" WHOLE},
         "platform-config",
         "abstract takes true or false, not 7",
         "2.yaml",
         2,
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        struct entry_list read;
        const struct diag *d = NULL;
        assert_false(read_set(*state, &diags, cases[i].texts, 3, &read));
        assert_int_equal(read.n, cases[i].good);
        for (size_t k = 0; k < diags.n && !d; k++)
            if (str_find_str(diags.items[k].message, str_of(cases[i].says)) <
                diags.items[k].message.n)
                d = &diags.items[k];
        if (!d) fail_msg("nobody says \"%s\"", cases[i].says);
        assert_str(d->rule, cases[i].rule);
        assert_str(source_get(&diags.sources, d->at.source)->path, cases[i].at);
        assert_int_equal(d->at.line, cases[i].line);
        if (i < 3) assert_int_equal(diags.n, 1);
    }
}

/* A user may start from it, but not run on it. */
static void built_in_bases_are_no_platforms(void **state)
{
    assert_true(catalogue_base_count > 0);
    for (size_t i = 0; i < catalogue_base_count; i++) {
        struct diags diags;
        struct platform_cache cache = {.arena = *state};
        const struct entry *e = &catalogue_platforms[catalogue_platform_count + i];
        assert_true(e->abstract);
        assert_non_null(read_from(*state, e->id.p, WHOLE, &diags));
        assert_null(platform_load(&cache, &diags, e->id, (struct span){0}));
        assert_true(str_is(diags.items[0].rule, "unknown-platform"));
    }
    for (size_t i = 0; i < catalogue_platform_count; i++)
        assert_false(catalogue_platforms[i].abstract);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(dependent_figures_follow),
    cmocka_unit_test(what_follows_is_said_with_the_fact),
    cmocka_unit_test(mistakes_and_contradictions_are_errors),
    cmocka_unit_test(memory_that_nothing_is_left_of_is_refused),
    cmocka_unit_test(a_platform_without_a_base_says_all_that_costs_need),
    cmocka_unit_test(bases_of_a_set_are_read_first),
    cmocka_unit_test(bases_that_cannot_be_are_located),
    cmocka_unit_test(built_in_bases_are_no_platforms),
};
UNIT_MAIN(tests)
