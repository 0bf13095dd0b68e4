/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/crew.h"

enum { JOBS = 1000, SIZE = 4 };

struct tally {
    int done[JOBS];    /* by job */
    size_t sums[SIZE]; /* by worker: what only one at a time may touch */
};

static void count(void *state, size_t worker, size_t job)
{
    struct tally *t = state;
    t->done[job]++;
    t->sums[worker] += job;
}

static void every_job_is_done_once(void **state)
{
    struct crew *crew = crew_new(*state, SIZE);
    static const size_t rounds[] = {0, 1, 3, JOBS, 5, JOBS};
    for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++) {
        struct tally t = {0};
        size_t n = rounds[r], sum = 0;
        crew_run(crew, count, &t, n);
        for (size_t i = 0; i < JOBS; i++)
            assert_int_equal(t.done[i], i < n);
        for (size_t w = 0; w < SIZE; w++)
            sum += t.sums[w];
        assert_int_equal(sum, n ? n * (n - 1) / 2 : 0);
    }
    crew_end(crew);
}

static void one_worker_needs_no_thread(void **state)
{
    struct crew *crew = crew_new(*state, 1);
    struct tally t = {0};
    crew_run(crew, count, &t, JOBS);
    assert_int_equal(t.sums[0], JOBS * (JOBS - 1) / 2);
    crew_end(crew);
    assert_true(crew_processors() >= 1);
    assert_true(crew_workers() >= 1 && crew_workers() <= 8);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_job_is_done_once),
    cmocka_unit_test(one_worker_needs_no_thread),
};
UNIT_MAIN(tests)
