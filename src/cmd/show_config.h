/* SPDX-License-Identifier: Apache-2.0 */
/* validate --show-config: what holds for a file beside its own text, and whence. */
#ifndef MOEPLAN_CMD_SHOW_CONFIG_H
#define MOEPLAN_CMD_SHOW_CONFIG_H

#include "cmd/project.h"

/* Appends it as text, or as one JSON object a file. False when the file's settings cannot be used.
 */
bool show_config(struct projects *p, struct str path, bool json, struct buf *out);

#endif
