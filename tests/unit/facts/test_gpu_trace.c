/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in three formats, with shares worked out by hand. */
#include "unit/unit.h"

#include <math.h>

#include "facts/gpu_trace.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 2e-3;
}

/* A text in pieces of so many bytes. */
static struct gpu_trace traced(struct arena *a, struct str text, size_t piece)
{
    struct gpu_trace t;
    gpu_trace_start(a, &t);
    for (size_t at = 0; at < text.n; at += piece)
        gpu_trace_piece(&t, str_slice(text, at, at + piece));
    return t;
}

/* 100 us: a GEMM in 0-40, an all-to-all of NCCL in 30-60 (20 alone), attention in 60-70, nothing
   until 90, an all-reduce to the end. The times count from 1970. */
static const char chrome[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"H100\"}],\n"
    "\"traceEvents\": [\n"
    " {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"flash_fwd_kernel\", \"pid\": 0, "
    "\"ts\": 1719500000000060, \"dur\": 10, \"args\": {\"device\": 0}},\n"
    " {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"nvjet_hsh_128\", \"ts\": 1719500000000000, "
    "\"dur\": 40, \"args\": {\"device\": 0}},\n"
    " {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_SendRecv(x \\\"{[\\\")\", "
    "\"ts\": 1719500000000030, \"dur\": 30, \"args\": {\"device\": 0, \"Collective name\": "
    "\"all_to_allv\"}},\n"
    " {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": 1719500000000070, "
    "\"dur\": 20, \"args\": {}},\n"
    " {\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#3\", "
    "\"ts\": 1719500000000000, \"dur\": 2000000},\n"
    " {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum\", "
    "\"ts\": 1719500000000090, \"dur\": 10, \"args\": {\"device\": 0}},\n"
    " {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"other\", \"ts\": 1719500000000075, "
    "\"dur\": 5, \"args\": {\"device\": 1}}\n"
    "]}";

static void a_chrome_trace_whatever_its_pieces(void **state)
{
    static const size_t pieces[] = {1, 7, 100, 1 << 16};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct gpu_trace t = traced(*state, str_of(chrome), pieces[i]);
        struct gpu_shares s = gpu_trace_shares(&t);
        assert_true(t.timeline && t.other_devices == 1);
        assert_true(near(s.compute, 0.5) && near(s.expert_exchange, 0.2));
        assert_true(near(s.exchange, 0.1) && near(s.gap, 0.2) && s.send_receive == 0);
        assert_true(near(gpu_trace_step(&t), 2));
        assert_int_equal(t.uses[KERNEL_ALL_REDUCE].n, 1);
        assert_true(near(1e5 * t.uses[KERNEL_ATTENTION].seconds, 1));
    }
}

/* Longer than all moments at the first spacing, and beginning before the first kernel seen. */
static void a_long_trace_is_looked_at_less_often(void **state)
{
    struct gpu_trace t;
    gpu_trace_start(*state, &t);
    assert_true(gpu_trace_line(&t, STR("Start (ns),Duration (ns),Device,Name")));
    for (int i = 999; i >= 0; i--) {
        struct str line = arena_printf(*state, "%lld,%d,\"NVIDIA H100 (0)\",\"gemm<a, b>\"",
                                       (long long)i * 100000000, 25000000);
        assert_true(gpu_trace_line(&t, line));
    }
    struct gpu_shares s = gpu_trace_shares(&t);
    assert_true(near(s.compute, 25.0 / 99.925 / 1) && near(s.compute + s.gap, 1));
    assert_true(near(t.last - t.first, 99.925));
}

static void sums_say_no_shares(void **state)
{
    struct gpu_trace t;
    gpu_trace_start(*state, &t);
    assert_false(gpu_trace_line(&t, STR("Processing [x.sqlite] with [cuda_gpu_kern_sum]...")));
    assert_true(gpu_trace_line(&t, STR("Time (%),Total Time (ns),Instances,Avg (ns),Name")));
    assert_true(
        gpu_trace_line(&t, STR("60.0,6000000000,3,2e9,\"void cutlass::GroupProblem<a, b>\"")));
    assert_true(gpu_trace_line(&t, STR("40.0,4000000000,2,2e9,deep_ep::intranode::dispatch")));
    assert_true(t.sums && !t.timeline && gpu_trace_shares(&t).gap == 0);
    assert_true(near(t.uses[KERNEL_EXPERTS].seconds, 6));
    assert_true(near(t.uses[KERNEL_EXPERT_EXCHANGE].seconds, 4));
    assert_int_equal(t.uses[KERNEL_EXPERT_EXCHANGE].n, 2);
}

static void what_is_no_trace_is_none(void **state)
{
    static const char *const texts[] = {"",
                                        "step_s: 12",
                                        "{\"step\": 3}\n{\"step\": 4}\n",
                                        "[1, 2]",
                                        "{\"a\": [{\"ph\": \"X\"}]}",
                                        "]]]]{{{{\"\\\""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gpu_trace t = traced(*state, str_of(texts[i]), 3);
        assert_false(t.timeline || t.sums);
    }
}

/* Dispatchers before NCCL, groups before GEMMs, attention before both. */
static void kernels_are_told_by_their_names(void **state)
{
    static const struct {
        const char *name;
        enum kernel_use use;
    } cases[] = {{"void deep_ep::internode::combine<bf16>", KERNEL_EXPERT_EXCHANGE},
                 {"hybrid_ep::dispatch_kernel", KERNEL_EXPERT_EXCHANGE},
                 {"ncclDevKernel_SendRecv", KERNEL_SEND_RECEIVE},
                 {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", KERNEL_GATHER_SCATTER},
                 {"ncclDevKernel_Broadcast", KERNEL_EXCHANGE},
                 {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma", KERNEL_ATTENTION},
                 {"cutlass::device_kernel<GroupProblemShape>", KERNEL_EXPERTS},
                 {"sm90_xmma_gemm_bf16", KERNEL_GEMM},
                 {"[CUDA memcpy Device-to-Host]", KERNEL_COPY},
                 {"triton_poi_fused_add", KERNEL_OTHER}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(kernel_use_of(str_of(cases[i].name)), cases[i].use);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_chrome_trace_whatever_its_pieces),
    cmocka_unit_test(a_long_trace_is_looked_at_less_often),
    cmocka_unit_test(sums_say_no_shares),
    cmocka_unit_test(what_is_no_trace_is_none),
    cmocka_unit_test(kernels_are_told_by_their_names),
};
UNIT_MAIN(tests)
