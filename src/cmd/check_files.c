/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/check_files.h"

#include "base/crew.h"
#include "base/io.h"
#include "base/path.h"
#include "cmd/batch.h"

/* A round's reports wait for their turn: few enough to keep their memory small, and enough for the
   threads that are done first to wait little. */
enum { FILES_A_WORKER = 16 };

/* A file of a round, with all that its thread writes to. */
struct slot {
    const struct file_checker *checker;
    struct worker worker;
    struct file_check check;
    enum guard_end end;
};

/* ---- on any thread ---- */

/* What the user names may be a pipe, what is found in a folder not. */
static bool read_file(struct arena *a, const struct named_file *file, struct str *text,
                      struct str *error)
{
    return file->explicit ? io_read(a, file->path.p, text, error)
                          : io_read_regular(a, file->path.p, 0, text, error);
}

static struct file_report validate_file(const struct file_checker *k, struct file_check *check)
{
    struct validation *v = &check->view.validation;
    const struct read_options *options = &check->view.settings.options;
    const struct named_file *file = check->file;
    struct str error;
    if (file->why.n) return validate_unreadable(v, file->path, file->why);
    if (!read_file(v->arena, file, &check->text, &error))
        return validate_unreadable(v, file->path, error);
    if (v->from.n) return validate_upgrade(v, file->path, check->text, k->as, options);
    if (!k->fixes) return validate_text(v, file->path, check->text, k->as, options);
    struct fix_wish wish = {k->unsafe, check->view.baseline, check->view.known_as};
    check->fixed = fix_text(v, file->path, check->text, k->as, options, &wish);
    return check->fixed.report;
}

static void check_file(void *state)
{
    struct slot *s = state;
    struct file_check *check = &s->check;
    struct worker *w = &s->worker;
    check->settled = projects_view_in(s->checker->projects, w->keep, check->place,
                                      check->file->path, &check->view);
    struct file_view *view = &check->view;
    view->validation.arena = w->keep;
    view->validation.scratch = w->scratch;
    view->validation.named = check->file->explicit;
    view->settings.options.platforms = view->settings.defaults.platforms = &w->platforms;
    if (check->settled) check->report = validate_file(s->checker, check);
}

static void do_slot(void *state, size_t worker, size_t number)
{
    struct slot *s = &((struct slot *)state)[number];
    (void)worker; /* a slot has all that it needs */
    s->end = guard_run(&s->worker.guard, REQUEST_SECONDS, check_file, s);
}

/* ---- on the caller's ---- */

/* Nobody else has the slot now: what the taker makes in its arena is under the command's guard. */
static void hand_out(struct slot *s, file_taker *take, void *state)
{
    struct worker *w = &s->worker;
    struct file_check *check = &s->check;
    arena_set_guard(w->keep, arena_guard(s->checker->c->keep));
    if (s->end != GUARD_DONE) {
        worker_reset(w);
        check->settled = true;
        check->view = (struct file_view){.validation = {.arena = w->keep}};
        check->fixed = (struct fixed_text){0};
        check->report = validate_too_large(&check->view.validation, check->file->path, s->end);
    }
    take(state, check);
    worker_reset(w);
    arena_set_guard(w->keep, &w->guard);
}

struct pool {
    struct crew *crew;
    struct slot *slots;
    size_t n;
};

static void do_round(struct pool *pool, const struct file_checker *k,
                     const struct named_file *files, size_t n, file_taker *take, void *state)
{
    for (size_t i = 0; i < n; i++) {
        /* settings are read and remembered here: threads only look at them */
        const struct place *place = projects_place(k->projects, path_folder(files[i].path));
        pool->slots[i].check = (struct file_check){.file = &files[i], .place = place};
    }
    crew_run(pool->crew, do_slot, pool->slots, n);
    for (size_t i = 0; i < n; i++)
        hand_out(&pool->slots[i], take, state);
}

static void release_crew(void *crew)
{
    crew_end(crew);
}

void check_files(const struct file_checker *k, const struct named_files *files, file_taker *take,
                 void *state)
{
    struct arena *a = k->c->keep;
    size_t workers = crew_workers(), most = workers * FILES_A_WORKER;
    struct pool pool = {.crew = crew_new(a, workers), .n = files->n < most ? files->n : most};
    struct guard_hold hold;
    pool.slots = ARENA_ARRAY(a, struct slot, pool.n);
    for (size_t i = 0; i < pool.n; i++) {
        pool.slots[i].checker = k;
        worker_open(a, NULL, &pool.slots[i].worker);
    }
    guard_hold(arena_guard(a), &hold, release_crew, pool.crew);
    for (size_t from = 0; from < files->n; from += pool.n) {
        size_t left = files->n - from;
        do_round(&pool, k, files->items + from, left < pool.n ? left : pool.n, take, state);
    }
    guard_drop(&hold);
    crew_end(pool.crew);
    for (size_t i = 0; i < pool.n; i++)
        worker_close(&pool.slots[i].worker);
}
