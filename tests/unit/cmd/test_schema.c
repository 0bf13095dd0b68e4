/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas are JSON, name every parameter, and every reference in them leads somewhere. */
#include "unit/unit.h"

#include <cjson/cJSON.h>

#include "cmd/cmd.h"

extern const struct command command_schema;

static cJSON *schema(struct arena *a, const char *what)
{
    struct str argument = str_of(what);
    struct cmd_context c = {.command = &command_schema,
                            .keep = a,
                            .out = buf_new(a),
                            .err = buf_new(a),
                            .arguments = &argument,
                            .n_arguments = 1};
    assert_int_equal(command_schema.run(&c), STATUS_OK);
    cJSON *root = cJSON_ParseWithOpts(buf_str(&c.out).p, NULL, true);
    assert_non_null(root);
    return root;
}

static const cJSON *get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static size_t count_references(const cJSON *node, const cJSON *definitions)
{
    static const char prefix[] = "#/$defs/parameters/";
    size_t n = 0;
    const cJSON *child;
    cJSON_ArrayForEach(child, node)
    {
        if (child->string && strcmp(child->string, "$ref") == 0) {
            assert_memory_equal(child->valuestring, prefix, sizeof prefix - 1);
            assert_non_null(get(definitions, child->valuestring + sizeof prefix - 1));
            n++;
        }
        n += count_references(child, definitions);
    }
    return n;
}

static void references_lead_to_parameters(void **state)
{
    static const char *const names[] = {"plan", "model"};
    for (size_t i = 0; i < 2; i++) {
        cJSON *root = schema(*state, names[i]);
        const cJSON *definitions = get(get(root, "$defs"), "parameters");
        assert_true(count_references(get(root, "properties"), definitions) > 100);
        cJSON_Delete(root);
    }
}

static void plans_have_names_symbols_and_groups(void **state)
{
    static const char *const keys[] = {
        "moeplan", "framework", "tp", "tensor_model_parallel_size", "num_experts", "mamba"};
    cJSON *root = schema(*state, "plan");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(get(get(root, "properties"), keys[i]));
    assert_null(get(get(root, "properties"), "tpp"));
    assert_true(cJSON_IsFalse(get(root, "additionalProperties")));
    const cJSON *heads = get(get(get(get(root, "properties"), "mamba"), "properties"), "num_heads");
    assert_string_equal(get(heads, "$ref")->valuestring, "#/$defs/parameters/mamba_num_heads");
    cJSON_Delete(root);
}

static void numbers_have_their_ranges(void **state)
{
    cJSON *root = schema(*state, "plan");
    const cJSON *parameters = get(get(root, "$defs"), "parameters");
    const cJSON *gbs = get(parameters, "global_batch_size");
    assert_true(get(gbs, "minimum")->valuedouble == 1);
    assert_true(get(gbs, "maximum")->valuedouble == (double)((int64_t)1 << 40));
    assert_true(get(get(parameters, "bf16_tflops"), "minimum")->valuedouble == 0.01);
    assert_true(get(get(parameters, "step_time_s"), "exclusiveMinimum")->valuedouble == 0);
    assert_null(get(get(parameters, "lr"), "minimum"));
    cJSON_Delete(root);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(references_lead_to_parameters),
    cmocka_unit_test(plans_have_names_symbols_and_groups),
    cmocka_unit_test(numbers_have_their_ranges),
};
UNIT_MAIN(tests)
