/* SPDX-License-Identifier: Apache-2.0 */
/* moeplan as a library: JSON in, JSON out. Requests and answers are those of the program's --batch
   mode (docs/using.md, "Batches"), an `id` may be left out. A member's name ends in its unit where
   it has one: _s seconds, _gib 2^30 bytes, _percent. Nothing is printed, nothing exits or aborts,
   and there is no state between calls: an answer depends on its request and on the files that the
   request names.

       struct moeplan *m = moeplan_new();
       puts(moeplan_validate(m, "{\"text\":\"…\",\"as\":\"megatron\",\"gpus\":256}"));
       moeplan_free(m);

   Link with what `pkg-config --libs moeplan` prints (of the archive: `--static`), or in CMake with
   moeplan::moeplan (moeplan::static) of find_package(moeplan). */
#ifndef MOEPLAN_H
#define MOEPLAN_H

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* The room for one answer. Threads have one each. */
struct moeplan;

/* NULL when there is no memory. */
struct moeplan *moeplan_new(void);
/* NULL is allowed. */
void moeplan_free(struct moeplan *m);

/* Each answers one request, a JSON object, with one JSON object: {"id":…, …} or
   {"id":…,"error":"…"}; a request that is no JSON object is answered with an error, and so is one
   that takes more than a request may, 256 MiB of memory and 60 seconds of CPU time, or for which
   the system has no memory: then `id` is null where it could not be read any more. The text is
   NUL-terminated and holds until the next call with the same `m`. */

/* {"path","text","as"?,"gpus"?,"platform"?,"framework"?,"set"?,"env"?} -> diagnostics of a recipe
 */
const char *moeplan_validate(struct moeplan *m, const char *request);
/* {"plan":{…}} or {"text","as","gpus","platform"} -> memory and time; "refused" is null, or
   {"errors","rule","message"} where moeplan_validate would find errors: then they are of a run that
   does not start */
const char *moeplan_estimate(struct moeplan *m, const char *request);
/* {"model","gpus","platform","options":{…}} -> plans */
const char *moeplan_suggest(struct moeplan *m, const char *request);
/* {"expr","bindings"?} -> the value of an expression */
const char *moeplan_eval(struct moeplan *m, const char *request);

/* The program's version. */
const char *moeplan_version(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
