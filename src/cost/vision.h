/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a vision tower on one rank for one microbatch (Qwen3-VL and kin). None unless the
 * plan says how many tokens of a sequence are images: nothing else tells. */
#ifndef MOEPLAN_COST_VISION_H
#define MOEPLAN_COST_VISION_H

#include "plan/config.h"

struct vision_work {
    double tokens;  /* of images that the language model sees: mbs x image_tokens / cp */
    double patches; /* tokens x merge^2 */
    double image;   /* patches of one image */
    double width, inner, merged; /* of the tower, its MLP, and merge^2 patches side by side */
    double pixels;               /* values of one patch: 3 x frames x patch^2 */
    int layers, mergers;         /* the last merger and one for each deepstack level */
    bool gated;
};

struct vision_work vision_work(const struct config *c);
/* Bytes that the tower keeps of one microbatch for its backward; 0 when it is frozen with its
   mergers. */
double vision_kept(const struct config *c);

#endif
