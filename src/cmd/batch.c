/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/batch.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/crew.h"
#include "base/json.h"
#include "base/vec.h"

enum { ROUND = 1 << 18, BULK = 1 << 15, LONGEST_LINE = 64 << 20 }; /* bytes */
enum { MOMENT_MS = 1 };

/* ---- lines of stdin ---- */

struct lines {
    struct arena *arena;
    char *p;
    size_t from, n, cap; /* unread bytes are p[from, n) */
    bool end;
};

/* Room behind the unread bytes. */
static void make_room(struct lines *l)
{
    if (l->from) memmove(l->p, l->p + l->from, l->n - l->from);
    l->n -= l->from;
    l->from = 0;
    if (l->cap - l->n >= ROUND) return;
    size_t cap = (l->cap + ROUND) * 2;
    char *p = arena_room(l->arena, cap);
    if (l->n) memcpy(p, l->p, l->n);
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

/* The next line that has been read whole; false when there is none. The last line needs no newline.
   A line above the limit comes in pieces, none of which is a request. */
static bool take_line(struct lines *l, struct str *out)
{
    if (l->from == l->n) return false; /* nothing unread, perhaps nothing read yet */
    struct str unread = {l->p + l->from, l->n - l->from};
    size_t at = str_find(unread, '\n');
    bool whole = at < unread.n, rest = unread.n && (l->end || unread.n > LONGEST_LINE);
    if (!whole && !rest) return false;
    *out = str_slice(unread, 0, at);
    l->from += at + whole;
    return true;
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

bool batch_int(const struct batch_request *request, const char *member, int64_t least, int64_t *out)
{
    const struct node *node = node_get(request->root, str_of(member));
    struct value v = node ? node_value(request->arena, node, SCALAR_JSON) : value_null();
    if (v.kind == VALUE_NULL) return true;
    if (v.kind != VALUE_INT || v.i < least) return false;
    *out = v.i;
    return true;
}

/* The request's own words for its id, so that numbers and strings come back as they were. */
static struct str id_text(const struct node *root, struct str line)
{
    const struct node *id = node_get(root, STR("id"));
    return id ? str_slice(line, id->from, id->to) : STR("null");
}

static void answer_line(struct cmd_context *c, struct arena *a, struct str line,
                        batch_answer *answer, void *state)
{
    struct diags diags;
    diags_init(&diags, a);
    struct batch_request request = {.arena = a, .diags = &diags, .id = STR("null"), .state = state};
    request.root = doc_load_json(a, &diags, source_add(&diags.sources, STR("-"), line));
    bool is_map = request.root && request.root->kind == NODE_MAP;
    if (is_map) request.id = id_text(request.root, line);
    buf_printf(&c->out, "{\"id\":%.*s", STR_ARG(request.id));
    if (is_map)
        answer(c, &request);
    else
        batch_error(c, request.root ? STR("a request is a JSON object")
                                    : diags.items[diags.n - 1].message);
    buf_add(&c->out, STR("}\n"));
}

/* ---- rounds ---- */

struct worker {
    struct cmd_context *context;
    struct arena *arena; /* of one request */
    void *state;
};

/* One line of a round and its answer, a part of the worker's output. */
struct job {
    struct str line;
    size_t worker, from, n;
};

struct round {
    struct worker *workers;
    batch_answer *answer;
    VEC(struct job) jobs;
};

static void do_job(void *state, size_t worker, size_t number)
{
    struct round *round = state;
    struct worker *w = &round->workers[worker];
    struct job *job = &round->jobs.items[number];
    job->worker = worker;
    job->from = w->context->out.n;
    answer_line(w->context, w->arena, job->line, round->answer, w->state);
    job->n = w->context->out.n - job->from;
    arena_reset(w->arena);
}

/* The lines at hand, reading on when there is none; false at the end of the input. */
static bool collect(struct arena *a, struct lines *lines, struct round *round)
{
    round->jobs.n = 0;
    while (!round->jobs.n) {
        struct str line;
        while (take_line(lines, &line))
            if (str_trim(line).n) *VEC_PUSH(a, &round->jobs) = (struct job){.line = line};
        if (round->jobs.n) break;
        if (lines->end) return false;
        fill(lines);
    }
    return true;
}

/* Answers in the order of the requests, to stdout or to the text for -o FILE; false when nobody
 * reads them any more. */
static bool hand_out(struct round *round, size_t n_workers, struct buf *file)
{
    bool read = true;
    for (size_t i = 0; i < round->jobs.n; i++) {
        const struct job *job = &round->jobs.items[i];
        struct str answer = {round->workers[job->worker].context->out.p + job->from, job->n};
        if (file)
            buf_add(file, answer);
        else
            read = read && fwrite(answer.p, 1, answer.n, stdout) == answer.n;
    }
    for (size_t i = 0; i < n_workers; i++)
        round->workers[i].context->out.n = 0;
    return read;
}

/* Worker 0 is the command itself; the others have outputs and arenas of their own. */
static bool worker_open(struct cmd_context *c, struct worker *w, size_t number, void *state)
{
    *w = (struct worker){.context = c, .arena = arena_new(0), .state = state};
    if (!number || !w->arena) return w->arena;
    w->context = ARENA_NEW(c->keep, struct cmd_context);
    *w->context = *c;
    w->context->keep = arena_new(0);
    w->context->scratch = arena_new(0);
    w->context->out = buf_new(w->context->keep);
    return w->context->keep && w->context->scratch;
}

static void worker_close(struct worker *w, size_t number)
{
    arena_free(w->arena);
    if (!number) return;
    arena_free(w->context->keep);
    arena_free(w->context->scratch);
}

int batch_run_crew(struct cmd_context *c, batch_answer *answer, void *const *states, size_t n)
{
    struct lines lines = {.arena = c->keep};
    struct round round = {.workers = ARENA_ARRAY(c->keep, struct worker, n), .answer = answer};
    bool to_text = c->batch || option_given(c, "output");
    struct buf file = buf_new(c->keep), *to_file = to_text ? &file : NULL;
    if (c->batch)
        lines = (struct lines){c->keep,     arena_dup(c->keep, c->batch->p, c->batch->n),
                               0,           c->batch->n,
                               c->batch->n, true};
    for (size_t i = 0; i < n; i++)
        if (!worker_open(c, &round.workers[i], i, states[i])) return STATUS_BUG;
    struct crew *crew = crew_new(c->keep, n);
    while (collect(c->keep, &lines, &round)) {
        crew_run(crew, do_job, &round, round.jobs.n);
        if (!hand_out(&round, n, to_file)) break;
    }
    crew_end(crew);
    for (size_t i = 0; i < n; i++)
        worker_close(&round.workers[i], i);
    if (to_file) c->out = file;
    return STATUS_OK;
}

int batch_run(struct cmd_context *c, batch_answer *answer, void *state)
{
    return batch_run_crew(c, answer, &state, 1);
}
