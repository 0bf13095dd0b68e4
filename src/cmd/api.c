/* SPDX-License-Identifier: Apache-2.0 */
/* The library: a request runs the command's batch mode on one line of text. */
#include "moeplan.h"

#include "cmd/commands.h"
#include "cmd/option.h"

struct moeplan {
    struct guard guard;
    struct arena *arena; /* holds this record */
    struct arena *keep, *scratch;
};

struct making {
    struct arena *arena;
    struct moeplan *made;
};

static void make(void *state)
{
    struct making *x = state;
    x->made = ARENA_NEW(x->arena, struct moeplan);
}

struct moeplan *moeplan_new(void)
{
    struct guard guard = {0};
    struct making x = {.arena = arena_new(0)};
    if (!x.arena) return NULL;
    arena_set_guard(x.arena, &guard);
    if (guard_run(&guard, 0, make, &x) != GUARD_DONE) {
        arena_free(x.arena);
        return NULL;
    }
    struct moeplan *m = x.made;
    *m = (struct moeplan){.arena = x.arena, .keep = arena_new(0), .scratch = arena_new(0)};
    if (!m->keep || !m->scratch) {
        moeplan_free(m);
        return NULL;
    }
    arena_set_guard(m->arena, &m->guard);
    arena_set_guard(m->keep, &m->guard);
    arena_set_guard(m->scratch, &m->guard);
    return m;
}

void moeplan_free(struct moeplan *m)
{
    if (!m) return;
    arena_free(m->keep);
    arena_free(m->scratch);
    arena_free(m->arena);
}

/* A batch takes a request a line: line ends, which JSON has between its tokens only, become blanks.
 */
static struct str one_line(struct arena *a, const char *request)
{
    struct str text = str_of(request);
    char *p = arena_dup(a, text.p, text.n + 1);
    for (size_t i = 0; i < text.n; i++)
        if (p[i] == '\n' || p[i] == '\r') p[i] = ' ';
    return (struct str){p, text.n};
}

struct call {
    struct moeplan *library;
    const char *command, *request;
    const char *answer; /* NULL: it is no request */
};

static void run_request(void *state)
{
    static const char batch[] = "--batch";
    char word[sizeof batch];
    char *words[] = {memcpy(word, batch, sizeof batch)};
    struct call *call = state;
    struct arena *keep = call->library->keep;
    struct cmd_context c = {.command = command_find(str_of(call->command)),
                            .keep = keep,
                            .scratch = call->library->scratch};
    struct str line = one_line(keep, call->request);
    c.out = buf_new(keep);
    c.err = buf_new(keep);
    c.batch = &line;
    diags_init(&c.diags, keep);
    bool asked = options_parse(&c, 1, words) && str_trim(line).n > 0;
    int status = asked ? c.command->run(&c) : STATUS_CANNOT;
    if (status == STATUS_OK && c.out.n > 0)
        call->answer = str_dup(keep, str_trim(buf_str(&c.out))).p;
}

static const char *answer(struct moeplan *m, const char *command, const char *request)
{
    static const char *const failures[] = {
        [GUARD_DONE] = "{\"id\":null,\"error\":\"a request is a JSON object\"}",
        [GUARD_NO_MEMORY] = "{\"id\":null,\"error\":\"out of memory\"}",
        [GUARD_TOO_LARGE] = "{\"id\":null,\"error\":\"the request is too large\"}",
        [GUARD_TOO_LONG] = "{\"id\":null,\"error\":\"the request takes too long\"}"};
    struct call call = {m, command, request, NULL};
    arena_reset(m->keep);
    arena_reset(m->scratch);
    enum guard_end end = guard_run(&m->guard, 0, run_request, &call);
    return end == GUARD_DONE && call.answer ? call.answer : failures[end];
}

const char *moeplan_validate(struct moeplan *m, const char *request)
{
    return answer(m, "validate", request);
}

const char *moeplan_estimate(struct moeplan *m, const char *request)
{
    return answer(m, "estimate", request);
}

const char *moeplan_suggest(struct moeplan *m, const char *request)
{
    return answer(m, "suggest", request);
}

const char *moeplan_eval(struct moeplan *m, const char *request)
{
    return answer(m, "eval", request);
}

const char *moeplan_version(void)
{
    return MOEPLAN_VERSION;
}
