/* SPDX-License-Identifier: Apache-2.0 */
/* The library answers one request at a time, as the batch mode does, and keeps nothing between two.
 */
#include "moeplan.h"

#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_library(void **state)
{
    *state = moeplan_new();
    return *state ? 0 : -1;
}

static int close_library(void **state)
{
    moeplan_free(*state);
    moeplan_free(NULL);
    return 0;
}

static void has(const char *answer, const char *part)
{
    if (!strstr(answer, part)) fail_msg("no %s in %s", part, answer);
}

static void a_recipe_is_validated(void **state)
{
    const char *bad =
        moeplan_validate(*state, "{\"id\": 7,\n \"text\": \"--num-experts 64 "
                                 "--expert-model-parallel-size 6\", \"as\": \"megatron\"}");
    has(bad, "{\"id\":7,");
    has(bad, "\"status\":\"invalid\"");
    has(bad, "\"severity\":\"error\"");
    assert_int_equal(bad[strlen(bad) - 1], '}');
}

static const char plan[] =
    "{\"id\":\"x\",\"plan\":{\"moeplan\":1,\"model\":\"qwen3-30b-a3b\",\"platform\":\"h100\","
    "\"gpus\":16,\"ep\":16,\"seq\":4096,\"mbs\":1,\"gbs\":64}}";

static void a_plan_is_estimated_alike_each_time(void **state)
{
    char first[65536] = "";
    const char *answer = moeplan_estimate(*state, plan);
    has(answer, "\"peak_gib\":");
    has(answer, "\"step_s\":");
    assert_true(strlen(answer) < sizeof first);
    memcpy(first, answer, strlen(answer) + 1);
    moeplan_eval(*state, "{\"expr\":\"1\"}");
    assert_string_equal(first, moeplan_estimate(*state, plan));
}

/* The GPUs of a request go before those of its plan. */
static void a_request_says_the_gpus(void **state)
{
    char own[65536], request[1024];
    snprintf(own, sizeof own, "%s", moeplan_estimate(*state, plan));
    snprintf(request, sizeof request, "{\"gpus\":16,%s", plan + 1);
    assert_string_equal(moeplan_estimate(*state, request), own);
    snprintf(request, sizeof request, "{\"gpus\":32,%s", plan + 1);
    const char *answer = moeplan_estimate(*state, request);
    has(answer, "\"step_s\":");
    assert_string_not_equal(answer, own);
}

static void write_platform(const char *path, const char *capacity)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "moeplan: 1\nkind: Platform\nbase: h100\ngpu_capacity_gib: %s\n", capacity);
    fclose(file);
}

/* Nothing of a file is kept until the next request. */
static void a_platform_file_is_read_each_time(void **state)
{
    char folder[] = "/tmp/api-XXXXXX", path[64], request[1024];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/platform.yaml", folder);
    snprintf(request, sizeof request,
             "{\"platform\":\"%s\",\"plan\":{\"moeplan\":1,\"model\":\"qwen3-30b-a3b\",\"gpus\":16,"
             "\"ep\":16,\"seq\":4096,\"mbs\":1,\"gbs\":64}}",
             path);
    write_platform(path, "70.5");
    has(moeplan_estimate(*state, request), "\"capacity_gib\":70.5,");
    write_platform(path, "60.5");
    has(moeplan_estimate(*state, request), "\"capacity_gib\":60.5,");
    remove(path);
    remove(folder);
}

static void a_plan_is_suggested(void **state)
{
    const char *answer =
        moeplan_suggest(*state, "{\"model\":\"qwen3-30b-a3b\",\"gpus\":16,\"platform\":\"h100\","
                                "\"options\":{\"framework\":\"megatron\"}}");
    has(answer, "{\"id\":null,\"plans\":[{\"rank\":1,");
    has(answer, "\"framework\":\"megatron\"");
}

static void expressions_have_values(void **state)
{
    assert_string_equal(moeplan_eval(*state, "{\"id\":1,\"expr\":\"256 % 48\"}"),
                        "{\"id\":1,\"value\":{\"int\":\"16\"}}");
    has(moeplan_eval(*state, "{\"id\":1,\"expr\":\"256 %\"}"), "\"error\":");
}

static void what_is_no_request_is_an_error(void **state)
{
    static const char *const texts[] = {"", " \n", "[]", "nothing", "{\"id\":1", "{}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        has(moeplan_validate(*state, texts[i]), "\"error\":");
        has(moeplan_estimate(*state, texts[i]), "\"error\":");
        has(moeplan_suggest(*state, texts[i]), "\"error\":");
        has(moeplan_eval(*state, texts[i]), "\"error\":");
    }
}

/* More nodes than a request has memory for; the next request is answered as ever. */
static void what_takes_too_much_is_an_error(void **state)
{
    enum { N = 4000000 };
    static const char head[] = "{\"id\":1,\"text\":[", foot[] = "0]}", item[] = "[],";
    char *request = test_malloc(sizeof head + N * (sizeof item - 1) + sizeof foot);
    char *at = stpcpy(request, head);
    for (int i = 0; i < N; i++)
        at = stpcpy(at, item);
    strcpy(at, foot);
    assert_string_equal(
        moeplan_validate(*state, request),
        "{\"id\":null,\"error\":\"the request needs more than 256 MiB of memory\"}");
    test_free(request);
    expressions_have_values(state);
}

static void the_version_is_three_numbers(void **state)
{
    int major = -1, minor = -1, patch = -1;
    (void)state;
    assert_int_equal(sscanf(moeplan_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recipe_is_validated),
        cmocka_unit_test(a_plan_is_estimated_alike_each_time),
        cmocka_unit_test(a_request_says_the_gpus),
        cmocka_unit_test(a_platform_file_is_read_each_time),
        cmocka_unit_test(a_plan_is_suggested),
        cmocka_unit_test(expressions_have_values),
        cmocka_unit_test(what_is_no_request_is_an_error),
        cmocka_unit_test(what_takes_too_much_is_an_error),
        cmocka_unit_test(the_version_is_three_numbers),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
