/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter table and the releases as one: which release has which spelling, what differs in
   older ones, and an error where the table and the newest release disagree. */
#ifndef MOEPLAN_TOOLS_RELEASE_TABLES_H
#define MOEPLAN_TOOLS_RELEASE_TABLES_H

#include "base/buf.h"
#include "facts/param_file.h"
#include "releases.h"

/* Fills in `releases` of every flag and key. */
void release_tables_mark(const struct releases *all, const struct param_list *params);
/* Errors for flags, actions, defaults and choices of the newest release that the table has
   otherwise. */
void release_tables_check(const struct releases *all, const struct param_list *params);
/* The tables of facts/profile.h; parameters are numbered by their place in the list. */
void release_tables_write(const struct releases *all, const struct param_list *params,
                          struct buf *out);

#endif
