/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/failure.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/units.h"
#include "facts/line.h"

static void word_set(struct failure_word *w, struct str s)
{
    size_t n = s.n < sizeof w->text - 1 ? s.n : sizeof w->text - 1;
    memcpy(w->text, s.p, n);
    w->text[n] = 0;
}

/* "2.00 GiB", "512.00 MiB" at the start of a text, in GiB; 0: no size. */
static double leading_size(struct str s)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"GiB", GIB}, {"MiB", GIB / 1024}, {"KiB", 1024},
                 {"GB", 1e9},  {"MB", 1e6},         {"bytes", 1}};
    double x;
    if (!line_leading_number(s, &x)) return 0;
    struct str rest = str_trim(s);
    while (rest.n &&
           ((rest.p[0] >= '0' && rest.p[0] <= '9') || rest.p[0] == '.' || rest.p[0] == ' '))
        rest = str_slice(rest, 1, rest.n);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_starts(rest, str_of(units[i].unit))) return x * units[i].bytes / GIB;
    return 0;
}

static double size_after(struct str line, const char *label)
{
    size_t at = str_find_str(line, str_of(label));
    return at < line.n ? leading_size(str_slice(line, at + strlen(label), line.n)) : 0;
}

/* The size that ends where a label begins: "71.40 GiB is allocated by PyTorch". */
static double size_before(struct str line, const char *label)
{
    size_t end = str_find_str(line, str_of(label)), from = end;
    if (end == line.n) return 0;
    while (from > 0 && line.p[from - 1] == ' ')
        from--;
    for (int words = 0; from > 0 && words < 2; words++) {
        while (from > 0 && line.p[from - 1] != ' ')
            from--;
        if (words == 0)
            while (from > 0 && line.p[from - 1] == ' ')
                from--;
    }
    return leading_size(str_slice(line, from, end));
}

static double either(double a, double b)
{
    return a > 0 ? a : b;
}

/* "[rank5]: …" of PyTorch, "[Rank 5] …" of Megatron-LM and NCCL; -1: none. */
static int64_t rank_of(struct str line)
{
    double rank;
    bool said = line_number_after(line, "[rank", &rank) || line_number_after(line, "[Rank ", &rank);
    return said && rank >= 0 && rank < 1e9 ? (int64_t)rank : -1;
}

static int64_t whole_after(struct str line, const char *label)
{
    double x;
    return line_number_after(line, label, &x) && x >= 0 && x < 1e15 ? (int64_t)x : -1;
}

/* The texts since PyTorch 2.1, and before: "(GPU 0; 79.15 GiB total capacity; 70.0 GiB already
   allocated; 1.2 GiB free; 72.4 GiB reserved in total by PyTorch)". */
static void read_memory(struct out_of_memory *m, struct str line)
{
    m->rank = rank_of(line);
    m->gpu = whole_after(line, "GPU ");
    m->asked = size_after(line, "Tried to allocate ");
    m->capacity =
        either(size_after(line, "total capacity of "), size_before(line, "total capacity"));
    m->free = either(size_after(line, "of which "), size_before(line, "free;"));
    m->in_use = either(size_before(line, "memory in use"), size_after(line, "this process has "));
    m->allocated = either(size_before(line, "is allocated by PyTorch"),
                          size_before(line, "already allocated"));
    m->unallocated = size_before(line, "is reserved by PyTorch but unallocated");
    double reserved = size_before(line, "reserved in total by PyTorch");
    if (reserved > m->allocated) m->unallocated = reserved - m->allocated;
}

/* '  File "/opt/megatron/core/transformer/moe/experts.py", line 184, in forward' */
static bool read_frame(struct failures *f, struct str line)
{
    size_t at = str_find_str(line, STR("File \""));
    if (at == line.n) return false;
    struct str path = str_slice(line, at + 6, line.n);
    size_t end = str_find(path, '"');
    int64_t number = whole_after(str_slice(path, end, path.n), ", line ");
    size_t in = str_find_str(path, STR(", in "));
    if (end == path.n || number < 0) return false;
    struct str name = str_slice(path, 0, end), function = STR("");
    if (in < path.n) function = str_trim(str_slice(path, in + 5, path.n));
    if (str_find_str(name, STR("/torch/")) < name.n) return true;
    for (size_t slash; (slash = str_find(name, '/')) < name.n;)
        name = str_slice(name, slash + 1, name.n);
    snprintf(f->frame.text, sizeof f->frame.text, "%.*s:%lld in %.*s",
             STR_ARG(str_slice(name, 0, 60)), (long long)number,
             STR_ARG(str_slice(function, 0, 60)));
    return true;
}

static bool has(struct str line, const char *text)
{
    return str_find_str(line, str_of(text)) < line.n;
}

static bool read_out_of_memory(struct failures *f, struct str line)
{
    if (!has(line, "CUDA out of memory") && !has(line, "OutOfMemoryError")) return false;
    struct out_of_memory *m = &f->memory;
    /* The first line with figures counts: one of many ranks, or one that follows the bare name. */
    if (m->asked <= 0) {
        read_memory(m, line);
        m->asker = f->frame;
    }
    m->lines++;
    return true;
}

static bool read_timeout(struct failures *f, struct str line)
{
    if (!has(line, "Watchdog caught collective operation timeout")) return false;
    struct collective_timeout *t = &f->collective;
    size_t at = str_find_str(line, STR("OpType="));
    struct str operation = at < line.n ? str_slice(line, at + 7, line.n) : STR("");
    double limit;
    if (t->lines++ > 0) return true;
    t->rank = rank_of(line);
    t->sequence = whole_after(line, "SeqNum=");
    if (line_number_after(line, "Timeout(ms)=", &limit)) t->limit_s = limit * 1e-3;
    word_set(&t->operation, str_slice(operation, 0, str_find(operation, ',')));
    return true;
}

static bool read_not_a_number(struct failures *f, struct str line)
{
    static const char *const texts[] = {"found NaN in",  "loss is NaN", "loss: NAN |",
                                        "loss: nan",     "loss nan",    "\"loss\": NaN",
                                        "grad norm: nan"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!has(line, texts[i])) continue;
        f->not_a_number++;
        return true;
    }
    return false;
}

void failures_start(struct failures *f)
{
    *f = (struct failures){.memory = {.rank = -1, .gpu = -1},
                           .collective = {.rank = -1, .sequence = -1}};
}

bool failures_line(struct failures *f, struct str line)
{
    if (has(line, "Traceback (most recent call last)")) f->frame.text[0] = 0;
    if (read_frame(f, line)) return false;
    return read_out_of_memory(f, line) || read_timeout(f, line) || read_not_a_number(f, line);
}

/* ---- words ---- */

double out_of_memory_other(const struct out_of_memory *m)
{
    double known = m->free + m->allocated + m->unallocated;
    bool said = m->capacity > 0 && m->allocated > 0;
    return said && m->capacity > known ? m->capacity - known : 0;
}

bool out_of_memory_fragmented(const struct out_of_memory *m)
{
    return m->asked > 0 && m->unallocated >= m->asked;
}

struct str out_of_memory_text(struct arena *a, const struct out_of_memory *m)
{
    struct buf b = buf_new(a);
    if (m->rank >= 0) buf_printf(&b, "rank %lld", (long long)m->rank);
    if (m->gpu >= 0) buf_printf(&b, "%sGPU %lld", b.n ? ", " : "", (long long)m->gpu);
    if (!b.n) buf_add(&b, STR("the run"));
    if (m->asked > 0) buf_printf(&b, " asked for %.2f GiB", m->asked);
    if (m->asker.text[0]) buf_printf(&b, " in %s", m->asker.text);
    if (m->capacity > 0) buf_printf(&b, "; of %.2f GiB %.2f are free", m->capacity, m->free);
    if (m->allocated > 0) buf_printf(&b, ", %.2f allocated by PyTorch", m->allocated);
    if (m->unallocated > 0) buf_printf(&b, ", %.2f reserved and not allocated", m->unallocated);
    if (out_of_memory_other(m) > 0.005)
        buf_printf(&b, ", %.2f taken by others (context, NCCL, other processes)",
                   out_of_memory_other(m));
    return buf_str(&b);
}

const char *out_of_memory_advice(const struct out_of_memory *m)
{
    enum { MUCH_GIB = 6 }; /* contexts and communicators of one process take less */
    if (out_of_memory_fragmented(m))
        return "What is reserved would do, but is in pieces: set "
               "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
    if (out_of_memory_other(m) > MUCH_GIB)
        return "Others take much of the GPU: look for a second process (nvidia-smi), and for what "
               "NCCL and graphs hold.";
    return "The allocator's pieces are not the cause: what the plan keeps is too much. Recompute "
           "more or use a smaller micro-batch.";
}

struct str collective_timeout_text(struct arena *a, const struct collective_timeout *t)
{
    struct buf b = buf_new(a);
    if (t->rank >= 0) buf_printf(&b, "rank %lld waited in vain", (long long)t->rank);
    if (!b.n) buf_add(&b, STR("a rank waited in vain"));
    if (t->operation.text[0]) buf_printf(&b, " for %s", t->operation.text);
    if (t->sequence >= 0) buf_printf(&b, ", number %lld", (long long)t->sequence);
    if (t->limit_s > 0) buf_printf(&b, ", for %.0f s", t->limit_s);
    if (t->lines > 1) buf_printf(&b, "; %lld lines say so", (long long)t->lines);
    return buf_str(&b);
}
