/* SPDX-License-Identifier: Apache-2.0 */
/* The library: one request in, one answer out, as a batch answers it. */
#include "moeplan.h"

#include "cmd/batch.h"

struct moeplan {
    struct guard guard;
    struct arena *arena; /* holds this record */
    struct arena *keep;  /* of the answer */
    struct validation validation;
    struct read_options options; /* none */
    struct bill_wish wish;       /* none */
    struct worker worker;        /* forgets the platforms of files between calls */
};

struct making {
    struct arena *arena;
    struct moeplan *made;
};

static void make(void *state)
{
    struct making *x = state;
    struct moeplan *m = ARENA_NEW(x->arena, struct moeplan);
    m->validation = validation_of(x->arena, rules_builtin());
    const struct service service = {m->validation.rules, &m->validation, &m->options, &m->wish};
    worker_open(x->arena, &service, &m->worker);
    worker_keep(&m->worker);
    x->made = m;
}

struct moeplan *moeplan_new(void)
{
    struct guard guard = {0};
    struct making x = {.arena = arena_new(0)};
    if (!x.arena) return NULL;
    arena_set_guard(x.arena, &guard);
    struct arena *keep = arena_new(0);
    if (!keep || guard_run(&guard, 0, make, &x) != GUARD_DONE) {
        arena_free(keep);
        arena_free(x.arena);
        return NULL;
    }
    struct moeplan *m = x.made;
    m->arena = x.arena;
    m->keep = keep;
    arena_set_guard(m->arena, &m->guard);
    arena_set_guard(m->keep, &m->guard);
    return m;
}

void moeplan_free(struct moeplan *m)
{
    if (!m) return;
    worker_close(&m->worker);
    arena_free(m->keep);
    arena_free(m->arena);
}

struct call {
    struct moeplan *library;
    batch_answer *answer;
    const char *request, *text;
};

static void run_request(void *state)
{
    struct call *call = state;
    struct arena *keep = call->library->keep;
    struct worker *w = &call->library->worker;
    struct str id;
    worker_empty(w);
    platform_cache_empty(&w->platforms);
    const char *failure =
        worker_answer(w, call->answer, REQUEST_SECONDS, str_of(call->request), &id);
    struct str text =
        failure ? arena_printf(keep, "{\"id\":%.*s,\"error\":\"%s\"}", STR_ARG(id), failure)
                : str_dup(keep, str_trim(buf_str(&w->out)));
    call->text = text.p;
}

static const char *answer(struct moeplan *m, batch_answer *how, const char *request)
{
    struct call call = {m, how, request, NULL};
    arena_reset(m->keep);
    return guard_run(&m->guard, 0, run_request, &call) == GUARD_DONE
               ? call.text
               : "{\"id\":null,\"error\":\"out of memory\"}";
}

const char *moeplan_validate(struct moeplan *m, const char *request)
{
    return answer(m, validate_answer, request);
}

const char *moeplan_estimate(struct moeplan *m, const char *request)
{
    return answer(m, estimate_answer, request);
}

const char *moeplan_suggest(struct moeplan *m, const char *request)
{
    return answer(m, suggest_answer, request);
}

const char *moeplan_eval(struct moeplan *m, const char *request)
{
    return answer(m, eval_answer, request);
}

const char *moeplan_version(void)
{
    return MOEPLAN_VERSION;
}
