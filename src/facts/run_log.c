/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/run_log.h"

#include "base/sort.h"
#include "base/units.h"
#include "facts/line.h"
#include "facts/param_ids.h"

/* ---- numbers in lines ---- */

/* Only numbers that can be measurements. */
static double positive_after(struct str line, const char *label, double unit)
{
    double x = 0;
    return line_number_after(line, label, &x) && x > 1e-12 && x < 1e15 ? x * unit : 0;
}

static void raise_to(double *most, double x)
{
    if (x > *most) *most = x;
}

static int64_t whole(double x)
{
    return x >= 0 && x < 1e15 ? (int64_t)x : 0;
}

/* ---- steps ---- */

/* Every second step goes; the one before it keeps its gradient norm, as the largest counts. */
static void thin(struct run_log *log)
{
    for (size_t i = 0; i < log->steps.n / 2; i++) {
        struct run_step *kept = &log->steps.items[i], other = log->steps.items[2 * i + 1];
        *kept = log->steps.items[2 * i];
        raise_to(&kept->grad_norm, other.grad_norm);
    }
    log->steps.n /= 2;
    log->stride *= 2;
}

static void add_step(struct run_log *log, struct run_step step)
{
    raise_to(&log->peak_memory_gib, step.memory_gib);
    if (log->seen++ % log->stride) {
        raise_to(&log->steps.items[log->steps.n - 1].grad_norm, step.grad_norm);
        return;
    }
    if (log->steps.n == RUN_LOG_STEPS) thin(log);
    *VEC_PUSH(log->arena, &log->steps) = step;
}

/* ---- lines ---- */

static bool has(struct str line, const char *text)
{
    return str_find_str(line, str_of(text)) < line.n;
}

/* " [time] iteration       50/    5000 | … | elapsed time per iteration (ms): 61674.3 | …" */
static bool read_iteration(struct str line, struct run_log *out)
{
    double number = 0, step = positive_after(line, "elapsed time per iteration (ms):", 1e-3);
    if (step <= 0 || !line_number_after(line, "iteration ", &number)) return false;
    add_step(out,
             (struct run_step){
                 .number = whole(number),
                 .step_s = step,
                 .tflops_per_gpu = positive_after(line, "throughput per GPU (TFLOP/s/GPU):", 1),
                 .tokens_per_s_per_gpu = positive_after(line, "tokens per GPU (tokens/s/GPU):", 1),
                 .grad_norm = positive_after(line, "grad norm:", 1)});
    out->iterations = true;
    out->skipped = whole(positive_after(line, "number of skipped iterations:", 1)) + out->skipped;
    out->not_a_number += whole(positive_after(line, "number of nan iterations:", 1));
    out->global_batch = whole(positive_after(line, "global batch size:", 1));
    return true;
}

/* Bridge's "Step Time : 5.43s GPU utilization: 412.3MODEL_TFLOP/s/GPU" (older: 412.3TFLOP/s/GPU)
   stands beside the line of its iteration, after it or before it: it adds the throughput that the
   other may not say. Where there is no such line it is a step's own. */
static bool read_step_time(struct str line, struct run_log *out)
{
    double tflops = positive_after(line, "GPU utilization:", 1);
    if (!has(line, "TFLOP/s/GPU") || tflops <= 0) return false;
    double step = positive_after(line, "Step Time :", 1);
    if (!out->iterations && step > 0)
        add_step(out, (struct run_step){.step_s = step, .tflops_per_gpu = tflops});
    for (size_t i = out->steps.n; i > 0 && i + 2 > out->steps.n; i--) {
        struct run_step *last = &out->steps.items[i - 1];
        bool same = step > 0 && last->step_s > 0.98 * step && last->step_s < 1.02 * step;
        if (same && last->tflops_per_gpu <= 0) last->tflops_per_gpu = tflops;
    }
    return true;
}

/* "[Rank 0] (after 2 iterations) memory (MB) | allocated: … | max allocated: … | max reserved: …"
 */
static bool read_memory(struct str line, struct run_log *out)
{
    bool mb = has(line, "memory (MB)"), gb = has(line, "memory (GB)");
    if (!mb && !gb) return false;
    double rank = 0;
    if (line_number_after(line, "[Rank ", &rank) && whole(rank) > out->memory_rank)
        out->memory_rank = whole(rank);
    double gib = mb ? 1.0 / 1024 : 1e9 / GIB;
    raise_to(&out->peak_memory_gib, positive_after(line, "max allocated:", gib));
    raise_to(&out->peak_memory_gib, positive_after(line, "mem-max-allocated-gigabytes:", gib));
    raise_to(&out->reserved_memory_gib, positive_after(line, "max reserved:", gib));
    raise_to(&out->reserved_memory_gib, positive_after(line, "mem-max-reserved-gigabytes:", gib));
    return true;
}

/* "step 10 | epoch 0 | loss … | grad_norm … | mem 40.12 GiB | tps 81920.00(10240.00/gpu) | …" */
static bool read_automodel(struct str line, struct run_log *out)
{
    double number = 0, tps = 0;
    if (!line_number_after(line, "| tps ", &tps) || !line_number_after(line, "step ", &number))
        return false;
    struct str rest = str_slice(line, str_find_str(line, STR("| tps ")), line.n);
    struct run_step step = {.number = whole(number),
                            .memory_gib = positive_after(line, "| mem ", 1),
                            .grad_norm = positive_after(line, "grad_norm ", 1)};
    if (str_find_str(rest, STR("/gpu)")) < rest.n)
        step.tokens_per_s_per_gpu = positive_after(rest, "(", 1);
    add_step(out, step);
    return true;
}

/* A line of training.jsonl: {"step": 10, "grad_norm": …, "mem": …, "tps_per_gpu": …} */
static bool read_jsonl(struct str line, struct run_log *out)
{
    double number = 0;
    struct str trimmed = str_trim(line);
    if (!str_starts(trimmed, STR("{")) || !line_number_after(line, "\"step\":", &number))
        return false;
    struct run_step step = {.number = whole(number),
                            .tokens_per_s_per_gpu = positive_after(line, "\"tps_per_gpu\":", 1),
                            .memory_gib = positive_after(line, "\"mem\":", 1),
                            .mfu = positive_after(line, "\"mfu\":", 0.01),
                            .grad_norm = positive_after(line, "\"grad_norm\":", 1)};
    if (step.tokens_per_s_per_gpu <= 0) return false;
    add_step(out, step);
    return true;
}

/* "Max iter time: 1.234567 seconds", "MFU: 41.2%", and at the end "Average iteration time: …" */
static bool read_benchmark(struct str line, struct run_log *out)
{
    double step = positive_after(line, "Max iter time: ", 1);
    double average = positive_after(line, "Average iteration time: ", 1);
    double average_mfu = positive_after(line, "Average MFU: ", 0.01);
    double mfu = average_mfu > 0 ? 0 : positive_after(line, "MFU: ", 0.01);
    if (step > 0 && has(line, " seconds")) add_step(out, (struct run_step){.step_s = step});
    if (mfu > 0 && out->steps.n && out->steps.items[out->steps.n - 1].mfu <= 0)
        out->steps.items[out->steps.n - 1].mfu = mfu;
    if (average > 0) out->average_s = average;
    if (average_mfu > 0) out->average_mfu = average_mfu;
    return step > 0 || average > 0 || average_mfu > 0;
}

/* "    optimizer ......................................: (12.34, 15.67)", or the largest alone; ms
 */
static bool read_timer(struct str line, struct run_log *out)
{
    size_t dots = str_find_str(line, STR(" ....")), colon = str_find_str(line, STR(".: "));
    if (dots == line.n || colon == line.n) return false;
    struct str values = str_slice(line, colon + 3, line.n);
    size_t comma = str_find(values, ',');
    double most;
    if (!line_leading_number(str_slice(values, comma < values.n ? comma + 1 : 0, values.n), &most))
        return false;
    if (has(line, " batch-generator .")) out->batch_s = most * 1e-3;
    if (has(line, " optimizer .")) out->optimizer_s = most * 1e-3;
    return true;
}

void run_log_start(struct arena *a, struct run_log *log)
{
    *log = (struct run_log){.arena = a, .stride = 1};
    failures_start(&log->failures);
}

bool run_log_line(struct run_log *log, struct str line)
{
    bool failed = failures_line(&log->failures, line);
    return read_iteration(line, log) || read_step_time(line, log) || read_memory(line, log) ||
           read_automodel(line, log) || read_jsonl(line, log) || read_benchmark(line, log) ||
           read_timer(line, log) || failed;
}

/* ---- summary ---- */

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* What is between sorted values where part `at` of them is below. */
static double quantile(const double *sorted, size_t n, double at)
{
    double place = at * (double)(n - 1);
    size_t below = (size_t)place, above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

/* One field of the steps that state it, sorted; *count of them. */
static double *field(struct arena *a, const struct run_step *steps, size_t n, size_t offset,
                     size_t *count)
{
    double *values = ARENA_ARRAY(a, double, n + 1);
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        double x = *(const double *)((const char *)&steps[i] + offset);
        if (x > 0) values[(*count)++] = x;
    }
    sort_items(values, *count, sizeof *values, by_size);
    return values;
}

/* 0: no step states it. */
static double median(struct arena *a, const struct run_step *steps, size_t n, size_t offset)
{
    size_t count;
    const double *values = field(a, steps, n, offset, &count);
    return count ? quantile(values, count, 0.5) : 0;
}

/* The quartiles of a normal distribution are 1.349 standard deviations apart. */
static double scatter(struct arena *a, const struct run_step *steps, size_t n, size_t offset)
{
    size_t count;
    const double *values = field(a, steps, n, offset, &count);
    if (count < 4) return 0;
    double middle = quantile(values, count, 0.5);
    return (quantile(values, count, 0.75) - quantile(values, count, 0.25)) / (1.349 * middle);
}

struct run_summary run_log_summary(struct arena *a, const struct run_log *log)
{
    size_t warmup = log->steps.n < 2 ? 0 : log->steps.n < 20 ? 1 : log->steps.n / 10;
    const struct run_step *steady = warmup ? log->steps.items + warmup : log->steps.items;
    size_t n = log->steps.n - warmup;
    struct run_summary s = {
        .steady_steps = n,
        .step_s = median(a, steady, n, offsetof(struct run_step, step_s)),
        .tflops_per_gpu = median(a, steady, n, offsetof(struct run_step, tflops_per_gpu)),
        .tokens_per_s_per_gpu =
            median(a, steady, n, offsetof(struct run_step, tokens_per_s_per_gpu)),
        .mfu = median(a, steady, n, offsetof(struct run_step, mfu)),
        .peak_memory_gib = log->peak_memory_gib,
        .reserved_memory_gib = log->reserved_memory_gib};
    double norm = median(a, steady, n, offsetof(struct run_step, grad_norm)), most = 0;
    for (size_t i = 0; i < n; i++)
        raise_to(&most, steady[i].grad_norm);
    if (norm > 0) s.grad_norm_max_over_median = most / norm;
    if (s.step_s <= 0) s.step_s = log->average_s;
    if (s.mfu <= 0) s.mfu = log->average_mfu;
    size_t stated = s.step_s > 0 ? offsetof(struct run_step, step_s)
                                 : offsetof(struct run_step, tokens_per_s_per_gpu);
    s.step_scatter = scatter(a, steady, n, stated);
    return s;
}

static void apply(struct facts *f, int param, double x)
{
    if (x > 0) facts_set(f, param, value_double(x), ORIGIN_FILE, NULL, STR("training log"));
}

static void apply_count(struct facts *f, int param, int64_t n)
{
    facts_set(f, param, value_int(n), ORIGIN_FILE, NULL, STR("training log"));
}

static void apply_failures(const struct run_log *log, struct facts *f)
{
    const struct out_of_memory *m = &log->failures.memory;
    apply(f, P_oom_asked_gib, m->asked);
    apply(f, P_oom_allocated_gib, m->allocated);
    apply(f, P_oom_unallocated_gib, m->unallocated);
    apply(f, P_oom_other_gib, out_of_memory_other(m));
    facts_set(f, P_out_of_memory, value_bool(m->lines > 0), ORIGIN_FILE, NULL, STR("training log"));
    apply_count(f, P_collective_timeouts, log->failures.collective.lines);
    int64_t lines = log->failures.not_a_number, steps = log->not_a_number;
    apply_count(f, P_nan_iterations, lines > steps ? lines : steps);
}

void run_log_apply(const struct run_log *log, struct facts *f)
{
    struct run_summary s = run_log_summary(f->arena, log);
    apply(f, P_step_time_s, s.step_s);
    apply(f, P_tflops_per_gpu, s.tflops_per_gpu);
    apply(f, P_tokens_per_s_per_gpu, s.tokens_per_s_per_gpu);
    apply(f, P_mfu_percent, 100 * s.mfu);
    apply(f, P_max_allocated_gib, s.peak_memory_gib);
    apply(f, P_max_reserved_gib, s.reserved_memory_gib);
    apply(f, P_grad_norm_max_over_median, s.grad_norm_max_over_median);
    if (s.step_s > 0 && log->batch_s < s.step_s)
        apply(f, P_data_wait_percent, 100 * log->batch_s / s.step_s);
    if (s.step_s > 0 && log->optimizer_s < s.step_s)
        apply(f, P_optimizer_percent, 100 * log->optimizer_s / s.step_s);
    if (log->seen > 0) apply_count(f, P_skipped_iterations, log->skipped);
    apply_failures(log, f);
}
