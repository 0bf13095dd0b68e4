/* SPDX-License-Identifier: Apache-2.0 */
/* A few threads that do a round of independent jobs together. */
#ifndef MOEPLAN_BASE_CREW_H
#define MOEPLAN_BASE_CREW_H

#include "base/arena.h"

struct crew;

/* One job of a round. `worker` (below the crew's size) is doing nothing else meanwhile: what
   belongs to it needs no lock. */
typedef void crew_job(void *state, size_t worker, size_t job);

/* A crew of `size` workers (at least 1), the caller being one of them. Its threads start with the
   first round that is worth it; where none can be started the caller does all jobs. */
struct crew *crew_new(struct arena *a, size_t size);
/* Does jobs 0 to n - 1, in any order, and returns when all are done. */
void crew_run(struct crew *crew, crew_job *job, void *state, size_t n);
/* Ends the threads; the crew does no round after that. */
void crew_end(struct crew *crew);
/* Processors that this process may use, at least 1. */
size_t crew_processors(void);
/* A good size of a crew whose jobs share nothing: as many as there are processors, at most 8. */
size_t crew_workers(void);

#endif
