/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/gpu_trace.h"

#include <math.h>

#include "base/sort.h"
#include "facts/line.h"
#include "facts/param_ids.h"

/* ---- what kernels are for ---- */

const char *kernel_use_name(enum kernel_use use)
{
    static const char *const names[] = {
        "attention",         "experts' GEMMs", "other GEMMs", "other kernels",
        "experts' exchange", "send, receive",  "all-reduce",  "all-gather, reduce-scatter",
        "other exchange",    "copies"};
    return names[use];
}

/* The first fragment that a name has decides: dispatchers before NCCL, groups before GEMMs. */
enum kernel_use kernel_use_of(struct str name)
{
    static const struct {
        const char *fragment;
        enum kernel_use use;
    } table[] = {
        {"deep_ep", KERNEL_EXPERT_EXCHANGE},
        {"hybrid_ep", KERNEL_EXPERT_EXCHANGE},
        {"all_to_all", KERNEL_EXPERT_EXCHANGE},
        {"AllToAll", KERNEL_EXPERT_EXCHANGE},
        {"SendRecv", KERNEL_SEND_RECEIVE},
        {"ReduceScatter", KERNEL_GATHER_SCATTER},
        {"AllGather", KERNEL_GATHER_SCATTER},
        {"AllReduce", KERNEL_ALL_REDUCE},
        {"nccl", KERNEL_EXCHANGE},
        {"nvshmem", KERNEL_EXCHANGE},
        {"userbuffers", KERNEL_EXCHANGE},
        {"flash", KERNEL_ATTENTION},
        {"fmha", KERNEL_ATTENTION},
        {"sdpa", KERNEL_ATTENTION},
        {"attention", KERNEL_ATTENTION},
        {"grouped", KERNEL_EXPERTS},
        {"Grouped", KERNEL_EXPERTS},
        {"GroupProblem", KERNEL_EXPERTS},
        {"gemm", KERNEL_GEMM},
        {"Gemm", KERNEL_GEMM},
        {"nvjet", KERNEL_GEMM},
        {"cublas", KERNEL_GEMM},
        {"xmma", KERNEL_GEMM},
        {"memcpy", KERNEL_COPY},
        {"memset", KERNEL_COPY},
        {"Memcpy", KERNEL_COPY},
        {"Memset", KERNEL_COPY},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (str_find_str(name, str_of(table[i].fragment)) < name.n) return table[i].use;
    return KERNEL_OTHER;
}

/* What a moment remembers of what runs in it. */
enum { RUNS_COMPUTE = 1, RUNS_EXPERTS = 2, RUNS_SEND = 4, RUNS_EXCHANGE = 8, RUNS_COPY = 16 };

static uint8_t bit_of(enum kernel_use use)
{
    switch (use) {
    case KERNEL_ATTENTION:
    case KERNEL_EXPERTS:
    case KERNEL_GEMM:
    case KERNEL_OTHER: return RUNS_COMPUTE;
    case KERNEL_EXPERT_EXCHANGE: return RUNS_EXPERTS;
    case KERNEL_SEND_RECEIVE: return RUNS_SEND;
    case KERNEL_ALL_REDUCE:
    case KERNEL_GATHER_SCATTER:
    case KERNEL_EXCHANGE: return RUNS_EXCHANGE;
    case KERNEL_COPY: return RUNS_COPY;
    case KERNEL_USES: break;
    }
    return 0;
}

/* ---- moments ---- */

/* A moment is at a whole number of spacings, so that looking at every second one is looking with
   twice the spacing. */
static void widen(struct gpu_trace *t)
{
    int64_t origin = (t->origin - (t->origin % 2 != 0)) / 2, n = GPU_MOMENTS;
    int64_t skip = 2 * origin != t->origin; /* the first moment is an odd one */
    for (int64_t i = 0; i < n; i++) {
        int64_t from = 2 * i - skip;
        t->moments[i] = from >= 0 && from < n ? t->moments[from] : 0;
    }
    t->origin = origin;
    t->spacing *= 2;
}

/* Kernels may come that begin before the first one seen. Where there is room the first moment goes
   further back than needed, as more of them may come. */
static void reach_back(struct gpu_trace *t, int64_t by)
{
    enum { SLACK = GPU_MOMENTS / 16 };
    int64_t room = GPU_MOMENTS - 1 - ((int64_t)ceil(t->last / t->spacing) - t->origin);
    if (by < SLACK && room >= SLACK) by = SLACK;
    memmove(t->moments + by, t->moments, (size_t)(GPU_MOMENTS - by));
    memset(t->moments, 0, (size_t)by);
    t->origin -= by;
}

static void place(struct gpu_trace *t, double start, double end, uint8_t bit)
{
    bool new = t->moments == NULL;
    if (new) t->moments = arena_alloc(t->arena, GPU_MOMENTS);
    if (new || start < t->first) t->first = start;
    if (new || end > t->last) t->last = end;
    while ((t->last - t->first) / t->spacing > GPU_MOMENTS - 2)
        widen(t);
    int64_t low = (int64_t)floor(t->first / t->spacing);
    if (new) t->origin = low;
    if (low < t->origin) reach_back(t, t->origin - low);
    int64_t from = (int64_t)ceil(start / t->spacing) - t->origin,
            to = (int64_t)ceil(end / t->spacing) - t->origin;
    for (int64_t i = from < 0 ? 0 : from; i < to && i < GPU_MOMENTS; i++)
        t->moments[i] |= bit;
}

/* A kernel by the profiler's clock, which may count from 1970: `unit` seconds. */
static void add_kernel(struct gpu_trace *t, enum kernel_use use, double at, double took,
                       double unit)
{
    if (!t->timeline) t->zero = at;
    double start = (at - t->zero) * unit, seconds = took * unit;
    if (!(fabs(start) < 1e6 && seconds >= 0 && seconds < 1e6)) return; /* eleven days */
    t->timeline = true;
    t->uses[use].n++;
    t->uses[use].seconds += seconds;
    place(t, start, start + seconds, bit_of(use));
}

struct gpu_shares gpu_trace_shares(const struct gpu_trace *t)
{
    int64_t end = t->timeline ? (int64_t)ceil(t->last / t->spacing) - t->origin : 0, all = 0;
    int64_t compute = 0, experts = 0, send = 0, exchange = 0, copy = 0;
    int64_t from = t->timeline ? (int64_t)ceil(t->first / t->spacing) - t->origin : 0;
    for (int64_t i = from; i < end && i < GPU_MOMENTS && t->timeline; i++, all++) {
        uint8_t runs = t->moments[i];
        if (runs & RUNS_COMPUTE)
            compute++;
        else if (runs & RUNS_EXPERTS)
            experts++;
        else if (runs & RUNS_SEND)
            send++;
        else if (runs & RUNS_EXCHANGE)
            exchange++;
        else if (runs & RUNS_COPY)
            copy++;
    }
    if (all == 0) return (struct gpu_shares){0};
    double n = (double)all;
    int64_t gap = all - compute - experts - send - exchange - copy;
    return (struct gpu_shares){(double)compute / n,  (double)experts / n, (double)send / n,
                               (double)exchange / n, (double)copy / n,    (double)gap / n};
}

/* ---- the Chrome trace ---- */

/* The text of a member's value, without quotes; empty: there is none. In a string a quote is
   escaped, so that no value can look like a member. */
static struct str member(struct str event, const char *key)
{
    struct str word = str_of(key);
    for (size_t at = 0; at < event.n; at++) {
        at += str_find_str(str_slice(event, at, event.n), word);
        struct str rest = str_trim(str_slice(event, at + word.n, event.n));
        bool named = at > 0 && at < event.n && event.p[at - 1] == '"' && rest.n && rest.p[0] == '"';
        rest = str_trim(str_slice(rest, 1, rest.n));
        if (!named || !rest.n || rest.p[0] != ':') continue;
        rest = str_trim(str_slice(rest, 1, rest.n));
        if (rest.n && rest.p[0] == '"')
            return str_slice(rest, 1, 1 + str_find(str_slice(rest, 1, rest.n), '"'));
        size_t n = 0;
        while (n < rest.n && rest.p[n] != ',' && rest.p[n] != '}')
            n++;
        return str_trim(str_slice(rest, 0, n));
    }
    return STR("");
}

/* An all-to-all of NCCL is its kernel of sends and receives; PyTorch says beside it which. */
static enum kernel_use use_of_event(struct str event)
{
    struct str collective = member(event, "Collective name");
    if (str_find_str(collective, STR("all_to_all")) < collective.n) return KERNEL_EXPERT_EXCHANGE;
    return kernel_use_of(member(event, "name"));
}

static bool is_other_device(struct gpu_trace *t, double device)
{
    if (t->device < 0) t->device = (int64_t)device;
    if (t->device == (int64_t)device) return false;
    t->other_devices++;
    return true;
}

static void take_event(struct gpu_trace *t, struct str event)
{
    double start, duration, device = 0;
    struct str kind = member(event, "cat"), name = member(event, "name");
    if (!line_leading_number(member(event, "ts"), &start) ||
        !line_leading_number(member(event, "dur"), &duration))
        return;
    if (str_is(kind, "user_annotation") && str_starts(name, STR("ProfilerStep#")) &&
        t->steps.n < GPU_STEPS)
        *VEC_PUSH(t->arena, &t->steps) = duration * 1e-6;
    bool copy = str_is(kind, "gpu_memcpy") || str_is(kind, "gpu_memset");
    bool kernel = str_is(kind, "kernel") || str_is(kind, "Kernel");
    t->host_events += kind.n > 0 && !copy && !kernel;
    if (!copy && !kernel) return;
    line_leading_number(member(event, "device"), &device);
    if (is_other_device(t, device)) return;
    add_kernel(t, copy ? KERNEL_COPY : use_of_event(event), start, duration, 1e-6);
}

/* Objects that are items of a list, at the top or in the top mapping, are events. */
static void open_value(struct gpu_trace *t, char c)
{
    t->depth++;
    if (c == '{' && t->event_depth == 0 && (t->depth == 2 || t->depth == 3)) {
        t->event_depth = t->depth;
        t->event.n = 0;
        t->too_long = false;
    }
}

static void close_value(struct gpu_trace *t)
{
    if (t->depth == t->event_depth) {
        if (!t->too_long) take_event(t, buf_str(&t->event));
        t->event_depth = 0;
    }
    t->depth--;
}

static void take_byte(struct gpu_trace *t, char c)
{
    if (t->event_depth && t->event.n < GPU_EVENT_LONGEST)
        buf_add_char(&t->event, c);
    else
        t->too_long = t->event_depth > 0;
    if (t->in_string) {
        t->in_string = c != '"' || t->escaped;
        t->escaped = c == '\\' && !t->escaped;
        return;
    }
    if (c == '"')
        t->in_string = true;
    else if (c == '{' || c == '[')
        open_value(t, c);
    else if (c == '}' || c == ']')
        close_value(t);
}

void gpu_trace_piece(struct gpu_trace *t, struct str piece)
{
    if (t->depth < 0) return;
    if (t->depth == 0) piece = str_trim(piece);
    if (t->depth == 0 && piece.n && piece.p[0] != '{' && piece.p[0] != '[') t->depth = -1;
    for (size_t i = 0; i < piece.n && t->depth >= 0; i++)
        take_byte(t, piece.p[i]);
    if (t->depth == 0) t->depth = -1; /* the value has ended */
}

/* ---- CSV ---- */

/* The next field of a line, quotes taken off; false at its end. */
static bool next_field(struct str *line, struct str *out)
{
    if (!line->p) return false;
    bool quoted = line->n && line->p[0] == '"';
    size_t end = quoted ? 1 + str_find(str_slice(*line, 1, line->n), '"') : str_find(*line, ',');
    *out = str_trim(str_slice(*line, quoted, end));
    size_t comma = end + str_find(str_slice(*line, end, line->n), ',');
    *line = comma < line->n ? str_slice(*line, comma + 1, line->n) : (struct str){0};
    return true;
}

static bool read_header(struct gpu_trace *t, struct str line)
{
    static const char *const marks[] = {"Start (ns)", "Total Time (ns)"};
    struct str field;
    if (str_find_str(line, str_of(marks[0])) == line.n &&
        str_find_str(line, str_of(marks[1])) == line.n)
        return false;
    t->start = t->duration = t->total = t->instances = t->name = t->gpu = -1;
    for (int i = 0; next_field(&line, &field); i++) {
        if (str_is(field, marks[0])) t->start = i;
        if (str_is(field, "Duration (ns)")) t->duration = i;
        if (str_is(field, marks[1])) t->total = i;
        if (str_is(field, "Instances")) t->instances = i;
        if (str_is(field, "Name")) t->name = i;
        if (str_is(field, "Device")) t->gpu = i;
    }
    return t->name >= 0 && ((t->start >= 0 && t->duration >= 0) || t->total >= 0);
}

/* "NVIDIA H100 80GB HBM3 (0)" */
static double device_of(struct str field)
{
    double device = 0;
    line_number_after(field, " (", &device);
    return device;
}

bool gpu_trace_line(struct gpu_trace *t, struct str line)
{
    double start = 0, duration = 0, total = 0, n = 1, device = 0;
    struct str field, name = STR("");
    if (read_header(t, line)) return true;
    if (t->name < 0) return false;
    for (int i = 0; next_field(&line, &field); i++) {
        if (i == t->start && !line_leading_number(field, &start)) return false;
        if (i == t->duration && !line_leading_number(field, &duration)) return false;
        if (i == t->total && !line_leading_number(field, &total)) return false;
        if (i == t->instances) line_leading_number(field, &n);
        if (i == t->name) name = field;
        if (i == t->gpu) device = device_of(field);
    }
    if (!name.n || is_other_device(t, device)) return name.n > 0;
    enum kernel_use use = kernel_use_of(name);
    if (t->start >= 0) {
        add_kernel(t, use, start, duration, 1e-9);
        return true;
    }
    t->sums = true;
    t->uses[use].n += n >= 0 && n < 1e15 ? (int64_t)n : 0;
    t->uses[use].seconds += total * 1e-9;
    return true;
}

/* ---- what follows ---- */

void gpu_trace_start(struct arena *a, struct gpu_trace *t)
{
    *t = (struct gpu_trace){.arena = a, .device = -1, .spacing = 1e-8, .event = buf_new(a)};
    t->start = t->duration = t->total = t->instances = t->name = t->gpu = -1;
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

double gpu_trace_step(const struct gpu_trace *t)
{
    if (t->steps.n == 0) return 0;
    double *sorted = ARENA_ARRAY(t->arena, double, t->steps.n);
    memcpy(sorted, t->steps.items, t->steps.n * sizeof *sorted);
    sort_items(sorted, t->steps.n, sizeof *sorted, by_size);
    return sorted[t->steps.n / 2];
}

static void apply(struct facts *f, int param, double x)
{
    x = nearbyint(x * 1e3) / 1e3; /* no more is known */
    facts_set(f, param, value_double(x), ORIGIN_FILE, NULL, STR("trace"));
}

void gpu_trace_apply(const struct gpu_trace *t, struct facts *f)
{
    struct gpu_shares s = gpu_trace_shares(t);
    const struct gpu_use *reduce = &t->uses[KERNEL_ALL_REDUCE];
    double step = gpu_trace_step(t);
    if (reduce->n > 0) apply(f, P_all_reduce_ms, 1e3 * reduce->seconds / (double)reduce->n);
    /* A log says how long steps take without a profiler. */
    bool told = fact_is_set(facts_get(f, P_step_time_s));
    if (step > 0 && !told)
        facts_set(f, P_step_time_s, value_double(step), ORIGIN_FILE, NULL, STR("trace"));
    if (!t->timeline) return;
    /* Without a pipeline NCCL's sends and receives are all-to-alls. */
    bool pipeline = facts_int(f, P_pipeline_model_parallel_size, 1) > 1;
    double experts = s.expert_exchange + (pipeline ? 0 : s.send_receive);
    apply(f, P_computation_percent, 100 * s.compute);
    apply(f, P_exposed_all_to_all_percent, 100 * experts);
    apply(f, P_exposed_communication_percent,
          100 * (s.expert_exchange + s.send_receive + s.exchange));
    apply(f, P_launch_gap_percent, 100 * s.gap);
}
