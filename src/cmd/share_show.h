/* SPDX-License-Identifier: Apache-2.0 */
/* How suggest --rollout shows who gets what of a GPU. */
#ifndef MOEPLAN_CMD_SHARE_SHOW_H
#define MOEPLAN_CMD_SHARE_SHOW_H

#include "emit/tree.h"
#include "flow/share.h"

void share_text(const struct share *s, const struct answers *answers, struct buf *out);
/* Adds the member `share`. */
void share_json(struct tree *t, const struct share *s);

#endif
