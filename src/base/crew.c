/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WORTH_A_THREAD = 4 }; /* jobs */

struct member {
    struct crew *crew;
    size_t worker;
};

struct crew {
    size_t size, started;
    pthread_t *threads;
    struct member *members;
    pthread_mutex_t lock; /* for round, working and end */
    pthread_cond_t begin, done;
    unsigned round;
    size_t working; /* threads that have not finished the round */
    bool end;
    crew_job *job;
    void *state;
    size_t n;
    atomic_size_t next; /* the next job nobody has taken */
};

struct crew *crew_new(struct arena *a, size_t size)
{
    struct crew *crew = ARENA_NEW(a, struct crew);
    crew->size = size;
    crew->threads = ARENA_ARRAY(a, pthread_t, size);
    crew->members = ARENA_ARRAY(a, struct member, size);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->begin, NULL);
    pthread_cond_init(&crew->done, NULL);
    return crew;
}

static void do_jobs(struct crew *crew, size_t worker)
{
    for (size_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->n;)
        crew->job(crew->state, worker, i);
}

/* Waits for a round after `seen`; false when the crew ends. */
static bool wait_for_round(struct crew *crew, unsigned *seen)
{
    pthread_mutex_lock(&crew->lock);
    while (crew->round == *seen && !crew->end)
        pthread_cond_wait(&crew->begin, &crew->lock);
    *seen = crew->round;
    bool go_on = !crew->end;
    pthread_mutex_unlock(&crew->lock);
    return go_on;
}

static void finish_round(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    if (--crew->working == 0) pthread_cond_signal(&crew->done);
    pthread_mutex_unlock(&crew->lock);
}

static void *work(void *argument)
{
    struct member *member = argument;
    unsigned seen = 0;
    while (wait_for_round(member->crew, &seen)) {
        do_jobs(member->crew, member->worker);
        finish_round(member->crew);
    }
    return NULL;
}

/* All threads before the first round: none misses one. */
static void start(struct crew *crew)
{
    for (size_t i = 1; i < crew->size; i++) {
        crew->members[i] = (struct member){crew, i};
        if (pthread_create(&crew->threads[crew->started], NULL, work, &crew->members[i]) != 0)
            break;
        crew->started++;
    }
}

static void begin_round(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->working = crew->started;
    crew->round++;
    pthread_cond_broadcast(&crew->begin);
    pthread_mutex_unlock(&crew->lock);
}

static void await_others(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    while (crew->working)
        pthread_cond_wait(&crew->done, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

void crew_run(struct crew *crew, crew_job *job, void *state, size_t n)
{
    crew->job = job;
    crew->state = state;
    crew->n = n;
    atomic_store(&crew->next, 0);
    if (!crew->started && n >= WORTH_A_THREAD) start(crew);
    if (crew->started) begin_round(crew);
    do_jobs(crew, 0);
    if (crew->started) await_others(crew);
}

void crew_end(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->end = true;
    pthread_cond_broadcast(&crew->begin);
    pthread_mutex_unlock(&crew->lock);
    for (size_t i = 0; i < crew->started; i++)
        pthread_join(crew->threads[i], NULL);
    crew->started = 0;
}

size_t crew_processors(void)
{
    cpu_set_t may;
    bool known = sched_getaffinity(0, sizeof may, &may) == 0;
    long n = known ? CPU_COUNT(&may) : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 1 ? (size_t)n : 1;
}

size_t crew_workers(void)
{
    enum { MOST_WORKERS = 8 };
    size_t n = crew_processors();
    return n < MOST_WORKERS ? n : MOST_WORKERS;
}
