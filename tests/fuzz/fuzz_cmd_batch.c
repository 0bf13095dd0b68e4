/* SPDX-License-Identifier: Apache-2.0 */
/* A line of each of the four batch verbs. The first byte picks the verb, and whether the rest is
   the request itself or a text that stands in one. The answer is one JSON object on one line. */
#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/json.h"
#include "moeplan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef const char *verb(struct moeplan *m, const char *request);

/* `before` NULL: the input is the request. */
static const struct form {
    verb *verb;
    const char *before, *after;
} forms[] = {
    {moeplan_validate, NULL, NULL},
    {moeplan_estimate, NULL, NULL},
    {moeplan_suggest, NULL, NULL},
    {moeplan_eval, NULL, NULL},
    {moeplan_validate, "{\"id\":1,\"path\":\"x\",\"gpus\":8,\"platform\":\"h100\",\"text\":", "}"},
    {moeplan_validate, "{\"id\":1,\"path\":", ",\"text\":\"--num-layers 4\"}"},
    {moeplan_validate,
     "{\"id\":1,\"path\":\"x\",\"text\":\"--num-layers 4\",\"set\":{\"tp\":", "}}"},
    {moeplan_estimate,
     "{\"id\":1,\"as\":\"megatron\",\"gpus\":8,\"platform\":\"h100\",\"text\":", "}"},
    {moeplan_estimate, "{\"id\":1,\"as\":\"plan\",\"gpus\":8,\"platform\":\"h100\",\"text\":", "}"},
    {moeplan_estimate,
     "{\"id\":1,\"plan\":{\"model\":\"qwen3-30b-a3b\",\"gpus\":8,\"platform\":", "}}"},
    {moeplan_suggest,
     "{\"id\":1,\"model\":\"qwen3-30b-a3b\",\"gpus\":8,\"platform\":\"h100\",\"options\":{"
     "\"framework\":\"megatron\",\"pin\":\"pp=1,tp=1\",\"forbid\":",
     "}}"},
    {moeplan_suggest,
     "{\"id\":1,\"model\":\"qwen3-30b-a3b\",\"gpus\":8,\"platform\":\"h100\",\"options\":{"
     "\"framework\":\"automodel\",\"pin\":",
     "}}"},
    {moeplan_suggest, "{\"id\":1,\"gpus\":8,\"platform\":\"h100\",\"model\":", "}"},
    {moeplan_eval, "{\"id\":1,\"bindings\":{\"x\":{\"list\":[1]}},\"expr\":", "}"},
};
enum { FORMS = sizeof forms / sizeof *forms };

static void check(const char *answer)
{
    if (!answer || strchr(answer, '\n')) abort();
    cJSON *tree = cJSON_Parse(answer);
    if (!cJSON_IsObject(tree)) abort();
    cJSON_Delete(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct moeplan *m;
    if (!m) m = moeplan_new();
    struct arena *a = arena_new(0);
    if (!m || !a || size == 0) {
        arena_free(a);
        return 0;
    }
    const struct form *form = &forms[data[0] % FORMS];
    struct str input = {(const char *)data + 1, size - 1};
    struct buf request = buf_new(a);
    buf_add(&request, form->before ? str_of(form->before) : input);
    if (form->before) {
        json_add_string(&request, input);
        buf_add(&request, str_of(form->after));
    }
    check(form->verb(m, str_dup(a, buf_str(&request)).p));
    arena_free(a);
    return 0;
}
