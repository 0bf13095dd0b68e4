/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of estimate and suggest has the members that users rely on, of their types, and no
   others. */
#include "moeplan.h"

#include "unit/unit.h"

#include <cjson/cJSON.h>
#include <string.h>

static int open_library(void **state)
{
    *state = moeplan_new();
    return *state ? 0 : -1;
}

static int close_library(void **state)
{
    moeplan_free(*state);
    return 0;
}

static bool is_type(const cJSON *item, char type)
{
    switch (type) {
    case 'n': return cJSON_IsNumber(item);
    case 's': return cJSON_IsString(item);
    case 'l': return cJSON_IsArray(item);
    case 'o': return cJSON_IsObject(item);
    case '-': return cJSON_IsNull(item);
    }
    return false;
}

/* `members`: words "name:t", t being n(umber), s(tring), l(ist), o(bject) or - (null). */
static void has_exactly(const cJSON *object, const char *members)
{
    char name[64];
    int n = 0;
    assert_true(cJSON_IsObject(object));
    for (const char *at = members; *at; at += strspn(at, " "), n++) {
        size_t size = strcspn(at, ":");
        assert_true(size < sizeof name);
        memcpy(name, at, size);
        name[size] = '\0';
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
        if (!item || !is_type(item, at[size + 1]))
            fail_msg("%s is absent or no %c", name, at[size + 1]);
        at += size + 2;
    }
    if (cJSON_GetArraySize(object) != n) fail_msg("members beside %s", members);
}

static const cJSON *member(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_non_null(item);
    return item;
}

static void check_memory(const cJSON *memory)
{
    const cJSON *stage;
    has_exactly(memory, "peak_gib:n peak_low_gib:n peak_high_gib:n reserved_gib:n capacity_gib:n "
                        "fits:s stages:l");
    assert_true(cJSON_GetArraySize(member(memory, "stages")) > 0);
    cJSON_ArrayForEach(stage, member(memory, "stages"))
        has_exactly(stage, "stage:n params_gib:n grads_gib:n optimizer_gib:n activations_gib:n "
                           "logits_gib:n buffers_gib:n graphs_gib:n total_gib:n low_gib:n "
                           "high_gib:n phase:s");
}

static void check_time(const cJSON *time)
{
    has_exactly(time, "step_s:n step_low_s:n step_high_s:n tokens_per_s_per_gpu:n "
                      "model_tflops_per_gpu:n mfu:n breakdown:o");
    has_exactly(member(time, "breakdown"),
                "compute_s:n recompute_s:n ep_exposed_s:n tp_exposed_s:n cp_exposed_s:n "
                "pp_exposed_s:n dp_exposed_s:n bubble_s:n host_s:n optimizer_s:n");
}

/* The members of an estimate but for the id that a batch answer has. */
static void check_estimate(const cJSON *estimate)
{
    const cJSON *near;
    has_exactly(member(estimate, "derived"), "dp:n edp:n num_microbatches:n bubble_fraction:n "
                                             "total_params:n active_params:n trained_params:n");
    check_memory(member(estimate, "memory"));
    check_time(member(estimate, "time"));
    const cJSON *evidence = member(estimate, "evidence");
    has_exactly(evidence, "class:s nearest:l");
    cJSON_ArrayForEach(near, member(evidence, "nearest"))
        has_exactly(near, "id:s distance:n source:s");
}

static void an_estimate_has_its_members(void **state)
{
    const char *answer = moeplan_estimate(
        *state, "{\"id\":\"x\",\"plan\":{\"moeplan\":1,\"model\":\"qwen3-30b-a3b\",\"platform\":"
                "\"h100\",\"gpus\":16,\"ep\":8,\"pp\":2,\"seq\":4096,\"mbs\":1,\"gbs\":64}}");
    cJSON *tree = cJSON_Parse(answer);
    has_exactly(tree, "id:s plan:o assumed:o derived:o memory:o time:o evidence:o refused:-");
    check_estimate(tree);
    cJSON_Delete(tree);
}

static void a_refused_plan_says_so(void **state)
{
    const char *answer = moeplan_estimate(
        *state, "{\"id\":\"x\",\"plan\":{\"moeplan\":1,\"model\":\"qwen3-30b-a3b\",\"platform\":"
                "\"h100\",\"gpus\":16,\"ep\":8,\"pp\":2,\"seq\":4096,\"mbs\":1,\"gbs\":63}}");
    cJSON *tree = cJSON_Parse(answer);
    const cJSON *refused = member(tree, "refused");
    has_exactly(refused, "errors:n rule:s message:s");
    assert_int_equal(member(refused, "errors")->valueint, 1);
    assert_string_equal(member(refused, "rule")->valuestring, "batch-divides-into-microbatches");
    check_estimate(tree);
    cJSON_Delete(tree);
}

static void check_reasons(const cJSON *list)
{
    const cJSON *reason;
    cJSON_ArrayForEach(reason, list) has_exactly(reason, "rule:s guide:s phase:s text:s source:s");
}

static void check_plan(const cJSON *plan)
{
    static const char *const lists[] = {"because", "next", "verify", "pitfalls", "notes"};
    has_exactly(plan, "rank:n plan:o estimate:o because:l why_not_first:s risk:s next:l verify:l "
                      "pitfalls:l notes:l");
    has_exactly(member(plan, "estimate"), "plan:o assumed:o derived:o memory:o time:o evidence:o");
    check_estimate(member(plan, "estimate"));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        check_reasons(member(plan, lists[i]));
}

static void a_suggestion_has_its_members(void **state)
{
    const char *answer = moeplan_suggest(
        *state, "{\"id\":1,\"model\":\"deepseek-v3\",\"gpus\":256,\"platform\":\"h100\","
                "\"options\":{\"top\":3}}");
    const cJSON *plan;
    cJSON *tree = cJSON_Parse(answer);
    has_exactly(tree, "id:n plans:l assumed:o searched:n feasible:n proven:o elapsed_ms:n playbook:l");
    assert_true(cJSON_GetArraySize(member(tree, "plans")) > 3);
    cJSON_ArrayForEach(plan, member(tree, "plans")) check_plan(plan);
    cJSON_Delete(tree);
}

static void no_plan_is_an_empty_list(void **state)
{
    cJSON *tree = cJSON_Parse(moeplan_suggest(
        *state, "{\"id\":1,\"model\":\"deepseek-v3\",\"gpus\":8,\"platform\":\"a100\"}"));
    has_exactly(tree, "id:n plans:l assumed:o searched:n feasible:n proven:o elapsed_ms:n playbook:l notes:l");
    assert_true(cJSON_GetArraySize(member(tree, "notes")) > 0);
    assert_int_equal(cJSON_GetArraySize(member(tree, "plans")), 0);
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_estimate_has_its_members),
        cmocka_unit_test(a_refused_plan_says_so),
        cmocka_unit_test(a_suggestion_has_its_members),
        cmocka_unit_test(no_plan_is_an_empty_list),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
