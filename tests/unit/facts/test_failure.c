/* SPDX-License-Identifier: Apache-2.0 */
/* What the last words of a run say: figures, places, ranks. */
#include "unit/unit.h"

#include <math.h>

#include "facts/failure.h"

static struct failures failures_of(const char *text)
{
    struct failures f;
    struct str rest = str_of(text), line;
    failures_start(&f);
    while (str_split(&rest, '\n', &line))
        failures_line(&f, line);
    return f;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static void out_of_memory_has_its_figures_and_who_asked(void **state)
{
    struct failures f = failures_of(
        "[rank5]: Traceback (most recent call last):\n"
        "[rank5]:   File \"/opt/megatron/core/transformer/moe/experts.py\", line 184, in forward\n"
        "[rank5]:     return self.linear_fc1(x)\n"
        "[rank5]:   File \"/usr/lib/python3/dist-packages/torch/nn/modules/module.py\", line 1751, "
        "in _call_impl\n"
        "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 4 "
        "has a total capacity of 79.11 GiB of which 1.11 GiB is free. Including non-PyTorch "
        "memory, "
        "this process has 78.00 GiB memory in use. Of the allocated memory 56.00 GiB is allocated "
        "by PyTorch, and 18.00 GiB is reserved by PyTorch but unallocated.\n"
        "[rank6]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.00 GiB.\n");
    const struct out_of_memory *m = &f.memory;
    assert_int_equal(m->lines, 2);
    assert_int_equal(m->rank, 5);
    assert_int_equal(m->gpu, 4);
    assert_true(near(m->asked, 0.5) && near(m->capacity, 79.11) && near(m->free, 1.11));
    assert_true(near(m->in_use, 78) && near(m->allocated, 56) && near(m->unallocated, 18));
    assert_true(near(out_of_memory_other(m), 4));
    assert_true(out_of_memory_fragmented(m));
    assert_string_equal(m->asker.text, "experts.py:184 in forward");
    assert_str(out_of_memory_text(*state, m),
               "rank 5, GPU 4 asked for 0.50 GiB in experts.py:184 in forward; of 79.11 GiB 1.11 "
               "are free, 56.00 allocated by PyTorch, 18.00 reserved and not allocated, 4.00 taken "
               "by others (context, NCCL, other processes)");
}

/* Until PyTorch 2.0. */
static void the_older_text_is_read_too(void **state)
{
    (void)state;
    struct failures f = failures_of(
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 31.75 GiB total "
        "capacity; 28.00 GiB already allocated; 19.94 MiB free; 28.50 GiB reserved in total by "
        "PyTorch)");
    const struct out_of_memory *m = &f.memory;
    assert_true(near(m->capacity, 31.75) && near(m->allocated, 28) && near(m->unallocated, 0.5));
    assert_int_equal(m->rank, -1);
    assert_int_equal(m->gpu, 0);
    assert_true(out_of_memory_fragmented(m));
}

static void what_the_figures_point_to(void **state)
{
    (void)state;
    struct out_of_memory pieces = {.asked = 2, .unallocated = 2}, others = {.asked = 2},
                         plan = others;
    others.capacity = 80, others.allocated = 60, others.free = 10, others.unallocated = 1;
    plan.capacity = 80, plan.allocated = 76, plan.free = 1, plan.unallocated = 1;
    assert_non_null(strstr(out_of_memory_advice(&pieces), "expandable_segments"));
    assert_non_null(strstr(out_of_memory_advice(&others), "nvidia-smi"));
    assert_non_null(strstr(out_of_memory_advice(&plan), "Recompute"));
}

static void a_collective_that_was_given_up(void **state)
{
    struct failures f = failures_of(
        "[rank3]:[E101 10:00:00 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=12, OpType=ALLTOALL_BASE, NumelIn=4096, "
        "Timeout(ms)=600000) ran for 600027 milliseconds before timing out.\n"
        "[rank4]: [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12)\n");
    assert_int_equal(f.collective.lines, 2);
    assert_str(collective_timeout_text(*state, &f.collective),
               "rank 3 waited in vain for ALLTOALL_BASE, number 12, for 600 s; 2 lines say so");
}

static void numbers_that_are_none(void **state)
{
    (void)state;
    assert_int_equal(failures_of("Unexpected result nan (message='found NaN in local grad norm')\n"
                                 " iteration 7/ 10 | lm loss: NAN | grad norm: 1.000 |\n"
                                 "step 3 | epoch 0 | loss nan | grad_norm 1.0\n"
                                 "nano model, channels: 3\n")
                         .not_a_number,
                     3);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(out_of_memory_has_its_figures_and_who_asked),
    cmocka_unit_test(the_older_text_is_read_too),
    cmocka_unit_test(what_the_figures_point_to),
    cmocka_unit_test(a_collective_that_was_given_up),
    cmocka_unit_test(numbers_that_are_none),
};
UNIT_MAIN(tests)
