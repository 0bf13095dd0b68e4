/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/run_log.h"

#include "base/num.h"
#include "base/sort.h"
#include "base/units.h"
#include "facts/param_ids.h"

/* ---- numbers in lines ---- */

/* The number at the start of a text: digits, point, exponent; false when there is none. */
static bool leading_number(struct str s, double *out)
{
    s = str_trim(s);
    size_t n = 0;
    while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '.' ||
                       (n == 0 && (s.p[n] == '-' || s.p[n] == '+')) ||
                       (n > 0 && (s.p[n] == 'e' || s.p[n] == 'E')) ||
                       (n > 0 && (s.p[n] == '-' || s.p[n] == '+') &&
                        (s.p[n - 1] == 'e' || s.p[n - 1] == 'E'))))
        n++;
    while (n > 0 && (s.p[n - 1] == '.' || s.p[n - 1] == 'e' || s.p[n - 1] == 'E'))
        n--;
    return n > 0 && num_parse_double(str_slice(s, 0, n), out);
}

/* The number after a label; false when the line does not have both. */
static bool number_after(struct str line, const char *label, double *out)
{
    struct str word = str_of(label);
    size_t at = str_find_str(line, word);
    return at < line.n && leading_number(str_slice(line, at + word.n, line.n), out);
}

/* Only numbers that can be measurements. */
static double positive_after(struct str line, const char *label, double unit)
{
    double x = 0;
    return number_after(line, label, &x) && x > 1e-12 && x < 1e15 ? x * unit : 0;
}

static void raise_to(double *most, double x)
{
    if (x > *most) *most = x;
}

static int64_t whole(double x)
{
    return x >= 0 && x < 1e15 ? (int64_t)x : 0;
}

/* ---- lines ---- */

/* " [time] iteration       50/    5000 | … | elapsed time per iteration (ms): 61674.3 | …" */
static bool read_iteration(struct arena *a, struct str line, struct run_log *out)
{
    double number = 0, step = positive_after(line, "elapsed time per iteration (ms):", 1e-3);
    if (step <= 0 || !number_after(line, "iteration ", &number)) return false;
    *VEC_PUSH(a, &out->steps) = (struct run_step){
        .number = whole(number),
        .step_s = step,
        .tflops_per_gpu = positive_after(line, "throughput per GPU (TFLOP/s/GPU):", 1),
        .tokens_per_s_per_gpu = positive_after(line, "tokens per GPU (tokens/s/GPU):", 1),
        .grad_norm = positive_after(line, "grad norm:", 1)};
    return true;
}

/* Bridge's "Step Time : 5.43s GPU utilization: 412.3MODEL_TFLOP/s/GPU" stands beside the line of
   its iteration, after it or before it: it adds the throughput that the other may not say. */
static bool read_step_time(struct str line, struct run_log *out)
{
    double tflops = positive_after(line, "GPU utilization:", 1);
    if (str_find_str(line, STR("MODEL_TFLOP/s/GPU")) == line.n || tflops <= 0) return false;
    double step = positive_after(line, "Step Time :", 1);
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
    bool mb = str_find_str(line, STR("memory (MB)")) < line.n;
    bool gb = str_find_str(line, STR("memory (GB)")) < line.n;
    if (!mb && !gb) return false;
    double rank = 0;
    if (number_after(line, "[Rank ", &rank) && whole(rank) > out->memory_rank)
        out->memory_rank = whole(rank);
    double gib = mb ? 1.0 / 1024 : 1e9 / GIB;
    raise_to(&out->peak_memory_gib, positive_after(line, "max allocated:", gib));
    raise_to(&out->peak_memory_gib, positive_after(line, "mem-max-allocated-gigabytes:", gib));
    raise_to(&out->reserved_memory_gib, positive_after(line, "max reserved:", gib));
    raise_to(&out->reserved_memory_gib, positive_after(line, "mem-max-reserved-gigabytes:", gib));
    return true;
}

/* "step 10 | epoch 0 | loss … | grad_norm … | mem 40.12 GiB | tps 81920.00(10240.00/gpu) | …" */
static bool read_automodel(struct arena *a, struct str line, struct run_log *out)
{
    double number = 0, tps = 0;
    if (!number_after(line, "| tps ", &tps) || !number_after(line, "step ", &number)) return false;
    struct str rest = str_slice(line, str_find_str(line, STR("| tps ")), line.n);
    struct run_step step = {.number = whole(number),
                            .memory_gib = positive_after(line, "| mem ", 1),
                            .grad_norm = positive_after(line, "grad_norm ", 1)};
    if (str_find_str(rest, STR("/gpu)")) < rest.n)
        step.tokens_per_s_per_gpu = positive_after(rest, "(", 1);
    raise_to(&out->peak_memory_gib, step.memory_gib);
    *VEC_PUSH(a, &out->steps) = step;
    return true;
}

/* A line of training.jsonl: {"step": 10, "grad_norm": …, "mem": …, "tps_per_gpu": …} */
static bool read_jsonl(struct arena *a, struct str line, struct run_log *out)
{
    double number = 0;
    struct str trimmed = str_trim(line);
    if (!str_starts(trimmed, STR("{")) || !number_after(line, "\"step\":", &number)) return false;
    struct run_step step = {.number = whole(number),
                            .tokens_per_s_per_gpu = positive_after(line, "\"tps_per_gpu\":", 1),
                            .memory_gib = positive_after(line, "\"mem\":", 1),
                            .grad_norm = positive_after(line, "\"grad_norm\":", 1)};
    if (step.tokens_per_s_per_gpu <= 0) return false;
    raise_to(&out->peak_memory_gib, step.memory_gib);
    *VEC_PUSH(a, &out->steps) = step;
    return true;
}

static bool read_failure(struct str line, struct run_log *out)
{
    bool found = str_find_str(line, STR("CUDA out of memory")) < line.n ||
                 str_find_str(line, STR("OutOfMemoryError")) < line.n;
    out->out_of_memory += found;
    return found;
}

bool run_log_read(struct arena *a, struct str text, struct run_log *out)
{
    struct str line;
    bool any = false;
    *out = (struct run_log){0};
    while (str_split(&text, '\n', &line))
        any = read_iteration(a, line, out) || read_step_time(line, out) || read_memory(line, out) ||
              read_automodel(a, line, out) || read_jsonl(a, line, out) || read_failure(line, out) ||
              any;
    return any;
}

/* ---- summary ---- */

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The median of one field over the steps that state it; 0: none does. */
static double median(struct arena *a, const struct run_step *steps, size_t n, size_t offset)
{
    double *values = ARENA_ARRAY(a, double, n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        double x = *(const double *)((const char *)&steps[i] + offset);
        if (x > 0) values[count++] = x;
    }
    sort_items(values, count, sizeof *values, by_size);
    if (count == 0) return 0;
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
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
        .peak_memory_gib = log->peak_memory_gib,
        .reserved_memory_gib = log->reserved_memory_gib};
    double norm = median(a, steady, n, offsetof(struct run_step, grad_norm)), most = 0;
    for (size_t i = 0; i < n; i++)
        raise_to(&most, steady[i].grad_norm);
    if (norm > 0) s.grad_norm_max_over_median = most / norm;
    return s;
}

static void apply(struct facts *f, int param, double x)
{
    if (x > 0) facts_set(f, param, value_double(x), ORIGIN_FILE, NULL, STR("training log"));
}

void run_log_apply(const struct run_log *log, struct facts *f)
{
    struct run_summary s = run_log_summary(f->arena, log);
    apply(f, P_step_time_s, s.step_s);
    apply(f, P_tflops_per_gpu, s.tflops_per_gpu);
    apply(f, P_tokens_per_s_per_gpu, s.tokens_per_s_per_gpu);
    apply(f, P_max_allocated_gib, s.peak_memory_gib);
    apply(f, P_max_reserved_gib, s.reserved_memory_gib);
    apply(f, P_grad_norm_max_over_median, s.grad_norm_max_over_median);
    facts_set(f, P_out_of_memory, value_bool(log->out_of_memory > 0), ORIGIN_FILE, NULL,
              STR("training log"));
}
