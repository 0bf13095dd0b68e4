/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of stdin, dealt out to the workers round by round. */
#include "cmd/batch.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/crew.h"
#include "base/vec.h"

enum { ROUND = 1 << 18, BULK = 1 << 15 }; /* bytes */
enum { MOMENT_MS = 1 };
enum { MOST_ANSWERS = 4 << 20 }; /* bytes of answers that wait to be handed out */

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

/* The next line that has been read whole, without its newline, which the last line needs not have;
   false when there is none. One above the limit is read past, and what was read of it given once.
 */
static bool take_line(struct lines *l, struct str *out)
{
    for (;;) {
        if (l->n == l->from) return false; /* perhaps nothing read yet */
        struct str unread = {l->p + l->from, l->n - l->from};
        size_t at = l->searched + str_find(str_slice(unread, l->searched, unread.n), '\n');
        bool newline = at < unread.n, rest = l->skipping;
        bool too_long = at > LONGEST_REQUEST;
        l->searched = unread.n;
        if (!newline && !too_long && !rest && !l->end) return false;
        l->searched = 0;
        l->from += at + newline;
        l->skipping = (rest || too_long) && !newline;
        if (rest) continue;
        *out = str_slice(unread, 0, at);
        return true;
    }
}

/* ---- jobs ---- */

/* A line, and its answer: a part of the worker's output, or what was wrong with the line. */
struct job {
    struct str line;
    bool done;
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

/* Answers wait in memory until those before them are there: where they are many, the rest of the
   round is done when they have been handed out. */
static void do_job(void *state, size_t worker, size_t number)
{
    struct round *round = state;
    struct job *job = &round->jobs.items[round->first + number];
    struct worker *w = &round->workers[worker];
    if (number && atomic_load(&round->waiting) > MOST_ANSWERS) return;
    job->worker = w;
    job->from = w->out.n;
    job->failure = worker_answer(w, round->answer, round->seconds, job->line, &job->id);
    job->n = w->out.n - job->from;
    job->done = true;
    atomic_fetch_add(&round->waiting, job->n);
}

/* ---- rounds ---- */

/* The lines at hand, reading on when there is none; false at the end of the input. */
static bool collect(struct arena *a, struct lines *lines, struct round *round)
{
    round->jobs.n = round->first = 0;
    while (!round->jobs.n) {
        struct str line;
        while (take_line(lines, &line))
            if (line.n > LONGEST_REQUEST || str_trim(line).n)
                *VEC_PUSH(a, &round->jobs) = (struct job){.line = line};
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
    return put((struct str){job->worker->out.p + job->from, job->n}, file);
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

int batch_run(struct cmd_context *c, batch_answer *answer, const struct service *service, size_t n)
{
    struct lines lines = {.keep = c->keep};
    struct round round = {.workers = ARENA_ARRAY(c->keep, struct worker, n), .answer = answer};
    struct buf file = buf_new(c->keep), *to_file = option_given(c, "output") ? &file : NULL;
    struct guard_hold hold;
    if (!read_timeout(c, &round.seconds)) return STATUS_CANNOT;
    for (size_t i = 0; i < n; i++)
        worker_open(c->keep, service, &round.workers[i]);
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
