/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan's documents make of its sequences; nothing where none are stated. */
#ifndef MOEPLAN_EMIT_DOCUMENTS_H
#define MOEPLAN_EMIT_DOCUMENTS_H

#include "base/buf.h"
#include "plan/config.h"

void documents_screen(const struct config *c, struct buf *out);

#endif
