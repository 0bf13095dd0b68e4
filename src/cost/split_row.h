/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of several kinds in a row, which take different times: where the row is cut into chunks so
   that the longest is as short as can be. */
#ifndef MOEPLAN_COST_SPLIT_ROW_H
#define MOEPLAN_COST_SPLIT_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/config.h"

/* Bytes that the decoder layers of a rank may take, and that one of each kind does. */
struct split_room {
    double left, each[MODEL_MAX_KINDS];
};

/* Seconds are of a microbatch. */
struct split_row {
    int layers, chunks, ranks;      /* chunk i is rank i % ranks' */
    const uint8_t *kinds;           /* [layers] */
    const double *ends;             /* [layers + 1] seconds of all layers in front of one */
    double first, last;             /* seconds beside them on the first and on the last chunk */
    const struct split_room *rooms; /* [ranks] whose chunks share it; NULL: there is room for all */
};

/* Fills decoders[chunks]; all but the ends have a layer at least. Of cuts whose longest chunk is as
   short, one whose chunks come out even. False: there is no room for all layers. */
bool split_row(const struct split_row *row, uint16_t *decoders);

#endif
