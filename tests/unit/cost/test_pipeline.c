/* SPDX-License-Identifier: Apache-2.0 */
#include "cost_unit.h"

#include "cost/pipeline.h"

enum { MOST = 64 };

static struct pipeline even(int stages, int chunks, int64_t microbatches, double *forward,
                            double *backward)
{
    for (int i = 0; i < stages * chunks; i++)
        forward[i] = 1.0 / chunks, backward[i] = 2.0 / chunks;
    return (struct pipeline){stages, chunks, microbatches, 0, forward, backward};
}

/* 1F1B: (m + p - 1)(f + b); interleaved: m(f + b) + (p - 1)(f + b)/v. */
static void equal_chunks_follow_the_closed_form(void **state)
{
    (void)state;
    static const struct {
        int stages, chunks, microbatches;
        double seconds;
    } cases[] = {{1, 1, 5, 15},     {4, 1, 8, 33}, {4, 2, 8, 28.5},
                 {8, 4, 16, 53.25}, {2, 1, 2, 9},  {4, 1, 2, 15}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double f[MOST], b[MOST];
        struct pipeline p = even(cases[i].stages, cases[i].chunks, cases[i].microbatches, f, b);
        assert_near(pipeline_time(&p), cases[i].seconds, 1e-9);
        assert_near(pipeline_simulate(&p, p.microbatches), cases[i].seconds, 1e-9);
    }
}

/* Two stages, two microbatches, by hand. Rank 1: F0 1-3, B0 3-7, F1 7-9, B1 9-13. Rank 0: F0 0-1,
   F1 1-2, B0 7-9, and B1, which waits for rank 1, 13-15. */
static void uneven_stages_by_hand(void **state)
{
    (void)state;
    const double f[] = {1, 2}, b[] = {2, 4};
    struct pipeline p = {2, 1, 2, 0, f, b};
    assert_near(pipeline_time(&p), 15, 1e-9);
}

static void long_schedules_continue_at_their_rate(void **state)
{
    (void)state;
    static const int shapes[][3] = {{4, 1, 40}, {4, 2, 40}, {2, 4, 64}, {8, 1, 128}, {3, 3, 60}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double f[MOST], b[MOST];
        struct pipeline p = even(shapes[i][0], shapes[i][1], shapes[i][2], f, b);
        int last = p.stages * p.chunks_per_stage - 1;
        f[0] *= 1.05, f[last] *= 1.3, b[last] *= 1.3;
        double whole = pipeline_simulate(&p, p.microbatches);
        assert_true(whole > 0);
        assert_near(pipeline_time(&p), whole, 1e-9);
    }
}

/* Two ranks with two chunks each, of 8 to 10 layers and a head of 0.8 on the last: the first rounds
   are often faster than the busiest rank can go on. */
static void no_rate_is_above_the_busiest_rank(void **state)
{
    (void)state;
    for (int shape = 0; shape < 81; shape++) {
        double f[4], b[4], busy[2] = {0};
        struct pipeline p = {2, 2, 128, 0, f, b};
        for (int i = 0, rest = shape; i < 4; i++, rest /= 3) {
            f[i] = 8 + rest % 3 + (i == 3 ? 0.8 : 0), b[i] = 2 * f[i];
            busy[i % 2] += f[i] + b[i];
        }
        double time = pipeline_time(&p), whole = pipeline_simulate(&p, p.microbatches);
        assert_true(time >= 128 * fmax(busy[0], busy[1]));
        assert_near(time, whole, 0.005);
    }
}

static void slower_chunks_are_never_faster(void **state)
{
    (void)state;
    double f[MOST], b[MOST];
    struct pipeline p = even(4, 2, 16, f, b);
    double before = pipeline_time(&p);
    for (int i = 0; i < 8; i++) {
        b[i] *= 1.25;
        double after = pipeline_time(&p);
        assert_true(after >= before);
        before = after;
    }
}

/* The longest way of some chunks bounds others, and is exact for themselves. */
static void no_chunks_undercut_the_way_of_others(void **state)
{
    (void)state;
    static const int shapes[][3] = {{4, 1, 8},  {4, 2, 8},  {4, 2, 64},
                                    {8, 3, 24}, {4, 2, 10}, {2, 1, 1}};
    double f[MOST], b[MOST];
    unsigned seed = 1;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct pipeline p = even(shapes[i][0], shapes[i][1], shapes[i][2], f, b);
        struct pipeline_way way;
        for (int round = 0; round < 20; round++) {
            for (int c = 0; c < p.stages * p.chunks_per_stage; c++) {
                seed = seed * 1103515245 + 12345;
                f[c] = 1 + (seed >> 16) % 8 * 0.1;
                b[c] = 2 * f[c];
            }
            double time = pipeline_time(&p);
            if (round > 0)
                assert_true(pipeline_least(&p, &way, pipeline_busiest(&p)) <= time * (1 + 1e-12));
            if (!pipeline_find_way(&p, &way)) continue;
            double least = pipeline_least(&p, &way, pipeline_busiest(&p));
            assert_true(least <= time * (1 + 1e-12));
            if (p.microbatches <= 3 * p.stages) assert_near(least, time, 1e-12);
        }
    }
}

/* A last group smaller than the pipeline cannot keep an interleaved schedule going; the bound still
 * answers. */
static void stuck_schedules_are_recognised(void **state)
{
    (void)state;
    double f[MOST], b[MOST];
    struct pipeline p = even(8, 4, 12, f, b);
    assert_true(pipeline_simulate(&p, 12) < 0);
    assert_true(pipeline_time(&p) >= 12 * 3);
    assert_true(pipeline_simulate(&p, 1 << 20) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_chunks_follow_the_closed_form),
                                       cmocka_unit_test(uneven_stages_by_hand),
                                       cmocka_unit_test(long_schedules_continue_at_their_rate),
                                       cmocka_unit_test(no_rate_is_above_the_busiest_rank),
                                       cmocka_unit_test(slower_chunks_are_never_faster),
                                       cmocka_unit_test(no_chunks_undercut_the_way_of_others),
                                       cmocka_unit_test(stuck_schedules_are_recognised)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
