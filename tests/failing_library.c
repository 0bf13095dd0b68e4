/* SPDX-License-Identifier: Apache-2.0 */
/* failing_library STEP: requests to the library in which every STEP-th allocation fails, alone and
   with all that come after it. The answer is the right one or an error, the next one is right
   again, and nothing is lost. */
#include <stdio.h>

#include "allocate.h"
#include "moeplan.h"

typedef const char *ask(struct moeplan *m, const char *request);

static const struct question {
    const char *name;
    ask *ask;
    const char *request;
} questions[] = {
    {"eval", moeplan_eval, "{\"id\":1,\"expr\":\"[1,2,3].map(x, x * y)\",\"bindings\":{\"y\":2}}"},
    {"validate", moeplan_validate,
     "{\"id\":2,\"text\":\"recipe: TrainFinetuneRecipeForNextTokenPrediction\\nmodel: {a: &a [1], "
     "b: *a}\\ndistributed: {strategy: fsdp2, ep_size: 3}\",\"gpus\":8}"},
    {"estimate", moeplan_estimate,
     "{\"id\":3,\"plan\":{\"moeplan\":1,\"model\":\"qwen3-30b-a3b\",\"platform\":\"h100\",\"gpus\":"
     "8,"
     "\"ep\":8,\"seq\":4096,\"mbs\":1,\"gbs\":64}}"},
    {"suggest", moeplan_suggest,
     "{\"id\":4,\"model\":\"qwen3-30b-a3b\",\"gpus\":8,\"platform\":\"h100\",\"options\":{"
     "\"framework\":\"megatron\",\"pin\":\"pp=1,mbs=1,tp=1\"}}"},
};

static size_t number, fail_at; /* 0: none fails */
static bool fail_rest;

static bool refuse(void)
{
    number++;
    return fail_at && (number == fail_at || (fail_rest && number > fail_at));
}

/* ---- */

enum { MOST = 1 << 20 };
static char right[MOST], text[MOST];

static const char *answer(struct moeplan *m, const struct question *q, char *to)
{
    snprintf(to, MOST, "%s", q->ask(m, q->request));
    forget_time(to);
    return to;
}

static bool complain(const struct question *q, size_t at, const char *what)
{
    printf("%s, allocation %zu%s: %s\n", q->name, at, fail_rest ? " and all after it" : "", what);
    return false;
}

/* With a library of its own, so that this may fail, too. */
static bool check(const struct question *q, size_t at)
{
    long before = live;
    bool good = true;
    number = 0;
    fail_at = at;
    struct moeplan *m = moeplan_new();
    if (m) answer(m, q, text);
    bool failed = !m || number >= at;
    fail_at = 0;
    if (m && strcmp(text, right) != 0 && !strstr(text, "\"error\":\""))
        good = complain(q, at, text);
    if (m && strcmp(answer(m, q, text), right) != 0) good = complain(q, at, "not right again");
    moeplan_free(m);
    if (live != before) good = complain(q, at, "something is lost");
    return good && failed;
}

/* Allocations of one request when all goes well. */
static size_t count_allocations(const struct question *q)
{
    number = 0;
    struct moeplan *m = moeplan_new();
    answer(m, q, right);
    moeplan_free(m);
    return number;
}

int main(int argc, char **argv)
{
    size_t step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, wrong = 0, done = 0;
    setvbuf(stdout, NULL, _IONBF, 0); /* its buffer is none of the library's allocations */
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        const struct question *q = &questions[i];
        size_t n = count_allocations(q);
        if (strstr(right, "\"error\":\"")) wrong += !complain(q, 0, right);
        for (size_t at = 1; at <= n; at += step, done++)
            for (int way = 0; way < 2; way++) {
                fail_rest = way;
                wrong += !check(q, at);
            }
    }
    printf("%zu allocations, %zu wrong\n", done, wrong);
    return wrong || !done;
}
