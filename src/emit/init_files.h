/* SPDX-License-Identifier: Apache-2.0 */
/* The files that make moeplan a step of a repository's checks. */
#ifndef MOEPLAN_EMIT_INIT_FILES_H
#define MOEPLAN_EMIT_INIT_FILES_H

#include "flow/init.h"

/* .moeplan.yaml, with what its recipes leave open as comments. */
struct str init_settings(struct arena *a, const struct init_survey *s);
/* A workflow of GitHub, and a job of GitLab, that fetch a release from an address (empty: from one
   that the service knows as MOEPLAN_RELEASE), compare its checksum and validate everything. */
struct str init_github(struct arena *a, struct str release);
struct str init_gitlab(struct arena *a, struct str release);
/* .pre-commit-config.yaml, or the entry alone that one has in its list of repositories. */
struct str init_pre_commit(struct arena *a, bool whole);

#endif
