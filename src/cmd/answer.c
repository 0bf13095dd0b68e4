/* SPDX-License-Identifier: Apache-2.0 */
/* One request -> its answer. One that takes too much ends with an error, and nothing of it stays.
 */
#include "base/json.h"
#include "cmd/batch.h"
#include "facts/platform.h"

enum { MOST_OUTPUT = 16 << 20 }; /* bytes of memory that are kept for answers */

void batch_error(const struct batch_request *request, struct str message)
{
    buf_add(request->out, STR(",\"error\":"));
    json_add_string(request->out, message);
}

/* Which settings were used is noted in them: a request leaves those of the others alone. */
struct read_options batch_options(const struct batch_request *request)
{
    struct read_options o = *request->service->options;
    o.set = arena_dup(request->arena, o.set, o.n_set * sizeof *o.set);
    o.platforms = request->platforms;
    return o;
}

/* ---- workers ---- */

static struct arena *arena_of(struct arena *parent, struct worker *w, size_t limit)
{
    struct arena *a = arena_child(parent, limit);
    arena_set_guard(a, &w->guard);
    return a;
}

void worker_open(struct arena *parent, const struct service *service, struct worker *w)
{
    *w = (struct worker){0};
    w->keep = arena_of(parent, w, REQUEST_MEMORY);
    w->scratch = arena_of(parent, w, REQUEST_MEMORY);
    w->platforms.arena = arena_of(parent, w, REQUEST_MEMORY);
    w->output = arena_of(parent, w, 0);
    w->out = buf_new(w->output);
    w->memo.arena = arena_of(parent, w, REQUEST_MEMORY);
    if (!service) return;
    w->service = *service;
    if (!service->rules) return;
    w->rules = *service->rules;
    w->rules.memo = &w->memo;
    w->service.rules = &w->rules;
}

static void each_arena(struct worker *w, void (*what)(struct arena *a))
{
    what(w->keep);
    what(w->scratch);
    what(w->platforms.arena);
    what(w->output);
    what(w->memo.arena);
}

void worker_close(struct worker *w)
{
    each_arena(w, arena_free);
}

void worker_keep(struct worker *w)
{
    each_arena(w, arena_keep);
}

void worker_reset(struct worker *w)
{
    arena_reset(w->keep);
    arena_reset(w->scratch);
    platform_cache_trim(&w->platforms);
}

void worker_empty(struct worker *w)
{
    w->out.n = 0;
    if (arena_used(w->output) <= MOST_OUTPUT) return;
    arena_reset(w->output);
    w->out = buf_new(w->output);
}

/* ---- one request ---- */

struct exchange {
    struct worker *worker;
    batch_answer *answer;
    struct str line, *id;
};

/* The request's own words for its id, so that numbers and strings come back as they were. */
static struct str id_text(const struct node *root, struct str line)
{
    const struct node *id = node_get(root, STR("id"));
    return id ? str_slice(line, id->from, id->to) : STR("null");
}

static void answer_line(void *state)
{
    const struct exchange *x = state;
    struct worker *w = x->worker;
    struct diags diags;
    diags_init(&diags, w->keep);
    diags.sources.requests = true;
    struct batch_request request = {.arena = w->keep,
                                    .scratch = w->scratch,
                                    .diags = &diags,
                                    .platforms = &w->platforms,
                                    .service = &w->service,
                                    .out = &w->out};
    request.root = doc_load_json(w->keep, &diags, source_add(&diags.sources, STR("-"), x->line));
    bool is_map = request.root && request.root->kind == NODE_MAP;
    if (is_map) *x->id = id_text(request.root, x->line);
    buf_printf(&w->out, "{\"id\":%.*s", STR_ARG(*x->id));
    if (is_map)
        x->answer(&request);
    else
        batch_error(&request, request.root ? STR("a request is a JSON object")
                                           : diags.items[diags.n - 1].message);
    buf_add(&w->out, STR("}\n"));
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

const char *worker_answer(struct worker *w, batch_answer *answer, double seconds, struct str line,
                          struct str *id)
{
    struct exchange x = {w, answer, line, id};
    size_t before = w->out.n;
    *id = STR("null");
    if (line.n > LONGEST_REQUEST) return "the request is longer than 64 MiB";
    const char *failure = failure_of(guard_run(&w->guard, seconds, answer_line, &x));
    if (failure) w->out.n = before;
    worker_reset(w);
    return failure;
}
