/* SPDX-License-Identifier: Apache-2.0 */
/* Every worker has a guard, arenas and an output of its own, and every request is a run of that
   guard: one that takes too much ends with an error, and nothing of it stays. */
#include "cmd/batch.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/crew.h"
#include "base/json.h"
#include "base/vec.h"
#include "facts/platform.h"

enum { ROUND = 1 << 18, BULK = 1 << 15, LONGEST_LINE = 64 << 20 }; /* bytes */
enum { MOMENT_MS = 1 };
enum {
    MOST_ANSWERS = 4 << 20, /* bytes of answers that wait to be handed out */
    MOST_OUTPUT = 16 << 20  /* and bytes of memory that were used for them */
};

/* ---- lines of stdin ---- */

struct lines {
    struct arena *keep, *arena; /* of the buffer alone */
    char *p;
    size_t from, n, cap; /* unread bytes are p[from, n) */
    size_t searched;     /* unread bytes that hold no newline */
    bool end;
    bool skipping; /* the rest of a line that is too long */
};

/* Room behind the unread bytes. */
static void make_room(struct lines *l)
{
    if (l->from) memmove(l->p, l->p + l->from, l->n - l->from);
    l->n -= l->from;
    l->from = 0;
    if (l->cap - l->n >= ROUND) return;
    size_t cap = (l->cap + ROUND) * 2;
    struct arena *larger = arena_child(l->keep, 0);
    char *p = arena_room(larger, cap);
    if (l->n) memcpy(p, l->p, l->n);
    arena_free(l->arena);
    l->arena = larger;
    l->cap = cap;
    l->p = p;
}

static void read_some(struct lines *l)
{
    ssize_t got;
    do
        got = read(STDIN_FILENO, l->p + l->n, ROUND);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        l->end = true;
    else
        l->n += (size_t)got;
}

/* Whether more comes at once; where requests come in bulk, within a moment. */
static bool more_at_hand(const struct lines *l)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return !l->end && l->n < ROUND && poll(&input, 1, l->n >= BULK ? MOMENT_MS : 0) > 0;
}

/* More bytes: enough for a round of all workers when they are there. Before it may block,
   everything answered so far is handed out, so that a program that waits for one answer before it
   sends the next request is served. */
static void fill(struct lines *l)
{
    fflush(stdout);
    make_room(l);
    do
        read_some(l);
    while (more_at_hand(l));
}

enum line { LINE_NONE, LINE_WHOLE, LINE_TOO_LONG };

/* The next line that has been read whole, without its newline, which the last line needs not have.
   One above the limit is read past, and said once. */
static enum line take_line(struct lines *l, struct str *out)
{
    for (;;) {
        if (l->n == l->from) return LINE_NONE; /* perhaps nothing read yet */
        struct str unread = {l->p + l->from, l->n - l->from};
        size_t at = l->searched + str_find(str_slice(unread, l->searched, unread.n), '\n');
        bool newline = at < unread.n, rest = l->skipping;
        bool too_long = at > LONGEST_LINE;
        l->searched = unread.n;
        if (!newline && !too_long && !rest && !l->end) return LINE_NONE;
        l->searched = 0;
        l->from += at + newline;
        l->skipping = (rest || too_long) && !newline;
        if (rest) continue;
        *out = str_slice(unread, 0, at);
        return too_long ? LINE_TOO_LONG : LINE_WHOLE;
    }
}

/* ---- requests ---- */

void batch_error(struct cmd_context *c, struct str message)
{
    buf_add(&c->out, STR(",\"error\":"));
    json_add_string(&c->out, message);
}

struct str batch_str(const struct batch_request *request, const char *member)
{
    const struct node *node = node_get(request->root, str_of(member));
    return node && node->kind == NODE_SCALAR && node->quoted ? node->text : (struct str){"", 0};
}

/* The request's own words for its id, so that numbers and strings come back as they were. */
static struct str id_text(const struct node *root, struct str line)
{
    const struct node *id = node_get(root, STR("id"));
    return id ? str_slice(line, id->from, id->to) : STR("null");
}

/* ---- workers ---- */

struct worker {
    struct guard guard;
    struct cmd_context context; /* the command's, with an output and arenas of its own */
    struct arena *output;
    struct platform_cache platforms;
    void *state;
};

static struct arena *arena_of(struct cmd_context *c, struct worker *w, size_t limit)
{
    struct arena *a = arena_child(c->keep, limit);
    arena_set_guard(a, &w->guard);
    return a;
}

static void worker_open(struct cmd_context *c, struct worker *w, void *state)
{
    *w = (struct worker){.context = *c, .state = state};
    w->context.keep = arena_of(c, w, REQUEST_MEMORY);
    w->context.scratch = arena_of(c, w, REQUEST_MEMORY);
    w->platforms.arena = arena_of(c, w, REQUEST_MEMORY);
    w->output = arena_of(c, w, 0);
    w->context.out = buf_new(w->output);
}

static void worker_close(struct worker *w)
{
    arena_free(w->context.keep);
    arena_free(w->context.scratch);
    arena_free(w->platforms.arena);
    arena_free(w->output);
}

static void worker_clear(struct worker *w)
{
    arena_reset(w->context.keep);
    arena_reset(w->context.scratch);
    platform_cache_trim(&w->platforms);
}

/* When all answers have been handed out. */
static void worker_empty(struct worker *w)
{
    w->context.out.n = 0;
    if (arena_used(w->output) <= MOST_OUTPUT) return;
    arena_reset(w->output);
    w->context.out = buf_new(w->output);
}

/* ---- one request ---- */

/* A line, and its answer: a part of the worker's output, or what was wrong with the line. */
struct job {
    struct str line;
    bool done, too_long;
    struct worker *worker;
    size_t from, n;
    struct str id;
    const char *failure; /* NULL: none */
};

struct round {
    struct worker *workers;
    batch_answer *answer;
    double seconds; /* a request */
    VEC(struct job) jobs;
    size_t first;          /* that has not been handed out */
    atomic_size_t waiting; /* bytes of answers */
};

struct task {
    struct job *job;
    batch_answer *answer;
};

static void answer_line(void *state)
{
    const struct task *task = state;
    struct job *job = task->job;
    struct worker *w = job->worker;
    struct cmd_context *c = &w->context;
    struct diags diags;
    diags_init(&diags, c->keep);
    diags.sources.requests = true;
    diags_init(&c->diags, c->keep);
    c->err = buf_new(c->keep);
    struct batch_request request = {
        .arena = c->keep, .diags = &diags, .platforms = &w->platforms, .state = w->state};
    request.root = doc_load_json(c->keep, &diags, source_add(&diags.sources, STR("-"), job->line));
    bool is_map = request.root && request.root->kind == NODE_MAP;
    if (is_map) job->id = id_text(request.root, job->line);
    buf_printf(&c->out, "{\"id\":%.*s", STR_ARG(job->id));
    if (is_map)
        task->answer(c, &request);
    else
        batch_error(c, request.root ? STR("a request is a JSON object")
                                    : diags.items[diags.n - 1].message);
    buf_add(&c->out, STR("}\n"));
}

static const char *failure_of(enum guard_end end)
{
    static const char *const texts[] = {
        [GUARD_DONE] = NULL,
        [GUARD_NO_MEMORY] = "out of memory",
        [GUARD_TOO_LARGE] = "the request needs more than 256 MiB of memory",
        [GUARD_TOO_LONG] = "the request takes more time than it may (--request-timeout)"};
    return texts[end];
}

/* Answers wait in memory until those before them are there: where they are many, the rest of the
   round is done when they have been handed out. */
static void do_job(void *state, size_t worker, size_t number)
{
    struct round *round = state;
    struct job *job = &round->jobs.items[round->first + number];
    struct worker *w = &round->workers[worker];
    struct task task = {job, round->answer};
    if (number && atomic_load(&round->waiting) > MOST_ANSWERS) return;
    job->worker = w;
    job->from = w->context.out.n;
    job->id = STR("null");
    job->failure = job->too_long
                       ? "the request is longer than 64 MiB"
                       : failure_of(guard_run(&w->guard, round->seconds, answer_line, &task));
    if (job->failure) w->context.out.n = job->from;
    job->n = w->context.out.n - job->from;
    job->done = true;
    atomic_fetch_add(&round->waiting, job->n);
    worker_clear(w);
}

/* ---- rounds ---- */

/* The lines at hand, reading on when there is none; false at the end of the input. */
static bool collect(struct arena *a, struct lines *lines, struct round *round)
{
    round->jobs.n = round->first = 0;
    while (!round->jobs.n) {
        struct str line;
        for (enum line kind; (kind = take_line(lines, &line));)
            if (kind == LINE_TOO_LONG || str_trim(line).n)
                *VEC_PUSH(a, &round->jobs) =
                    (struct job){.line = line, .too_long = kind == LINE_TOO_LONG};
        if (round->jobs.n) break;
        if (lines->end) return false;
        fill(lines);
    }
    return true;
}

/* To stdout, or to the text for -o FILE; false when nobody reads them any more. */
static bool put(struct str text, struct buf *file)
{
    if (!file) return fwrite(text.p, 1, text.n, stdout) == text.n;
    buf_add(file, text);
    return true;
}

static bool put_failure(const struct job *job, struct buf *file)
{
    const struct str parts[] = {STR("{\"id\":"), job->id, STR(",\"error\":\""),
                                str_of(job->failure), STR("\"}\n")};
    bool read = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        read = read && put(parts[i], file);
    return read;
}

static bool put_answer(const struct job *job, struct buf *file)
{
    if (job->failure) return put_failure(job, file);
    return put((struct str){job->worker->context.out.p + job->from, job->n}, file);
}

/* The answers that are there, in the order of the requests; what was done behind a gap is done
   again. False when nobody reads them any more. */
static bool hand_out(struct round *round, size_t n_workers, struct buf *file)
{
    bool read = true;
    for (; round->first < round->jobs.n && round->jobs.items[round->first].done; round->first++)
        read = read && put_answer(&round->jobs.items[round->first], file);
    for (size_t i = round->first; i < round->jobs.n; i++)
        round->jobs.items[i].done = false;
    for (size_t i = 0; i < n_workers; i++)
        worker_empty(&round->workers[i]);
    atomic_store(&round->waiting, 0);
    return read;
}

static void release_crew(void *crew)
{
    crew_end(crew);
}

/* All lines of a round; false when nobody reads the answers any more. */
static bool run_round(struct crew *crew, struct round *round, size_t n_workers, struct buf *file)
{
    bool read = true;
    while (read && round->first < round->jobs.n) {
        crew_run(crew, do_job, round, round->jobs.n - round->first);
        read = hand_out(round, n_workers, file);
    }
    return read;
}

/* --request-timeout; false with a usage error. */
static bool read_timeout(struct cmd_context *c, double *seconds)
{
    int64_t given = REQUEST_SECONDS;
    bool good = option_int(c, "request-timeout", 1, &given);
    *seconds = (double)given;
    return good;
}

/* The library's request is all there is to read. */
static struct lines lines_of(struct cmd_context *c)
{
    struct lines l = {.keep = c->keep};
    if (!c->batch) return l;
    l.p = arena_dup(c->keep, c->batch->p, c->batch->n);
    l.n = l.cap = c->batch->n;
    l.end = true;
    return l;
}

int batch_run_crew(struct cmd_context *c, batch_answer *answer, void *const *states, size_t n)
{
    struct lines lines = lines_of(c);
    struct round round = {.workers = ARENA_ARRAY(c->keep, struct worker, n), .answer = answer};
    bool to_text = c->batch || option_given(c, "output");
    struct buf file = buf_new(c->keep), *to_file = to_text ? &file : NULL;
    struct guard_hold hold;
    if (!read_timeout(c, &round.seconds)) return STATUS_CANNOT;
    for (size_t i = 0; i < n; i++)
        worker_open(c, &round.workers[i], states[i]);
    struct crew *crew = crew_new(c->keep, n);
    guard_hold(arena_guard(c->keep), &hold, release_crew, crew);
    while (collect(c->keep, &lines, &round))
        if (!run_round(crew, &round, n, to_file)) break;
    guard_drop(&hold);
    crew_end(crew);
    for (size_t i = 0; i < n; i++)
        worker_close(&round.workers[i]);
    arena_free(lines.arena);
    if (to_file) c->out = file;
    return STATUS_OK;
}

int batch_run(struct cmd_context *c, batch_answer *answer, void *state)
{
    return batch_run_crew(c, answer, &state, 1);
}
