/* SPDX-License-Identifier: Apache-2.0 */
/* How much is trained, what it may cost and until when (flow/wish.h): from the command line or a
   request. */
#ifndef MOEPLAN_CMD_WISHES_H
#define MOEPLAN_CMD_WISHES_H

#include "cmd/batch.h"
#include "flow/wish.h"

/* clang-format off */
#define WISH_OPTIONS                                                                               \
    {"tokens", "N", "tokens to train on, as 10T or 500B: prints days, GPU hours, cost and energy"},\
    {"steps", "N", "the same in steps"},                                                           \
    {"epochs", "N", "the same in epochs of --dataset-tokens"},                                     \
    {"dataset-tokens", "N", "tokens of the data set"},                                             \
    {"price", "P", "of a GPU hour, in any money: 2.1/h, or h100=2.1/h,gb200=4/h"},                 \
    {"goodput", "G", "part of the wall time that trains, as 0.9 (from the number of GPUs)"},       \
    {"deadline", "T", "until when it is to be done, as 30d, 12h or 4w"},                         \
    {"budget", "MONEY", "what it may cost, as 50K; with --price"}
#define WISH_MEMBERS                                                                               \
    {"tokens", MEMBER_ANY, P_NONE},                                                                \
    {"steps", MEMBER_ANY, P_NONE},                                                                 \
    {"epochs", MEMBER_ANY, P_NONE},                                                                \
    {"dataset_tokens", MEMBER_ANY, P_NONE},                                                        \
    {"price", MEMBER_ANY, P_NONE},                                                                 \
    {"goodput", MEMBER_ANY, P_NONE},                                                               \
    {"deadline", MEMBER_ANY, P_NONE},                                                              \
    {"budget", MEMBER_ANY, P_NONE}
/* clang-format on */

/* The options of WISH_OPTIONS, over what *out holds; false with a usage error. */
bool wishes_given(struct cmd_context *c, struct bill_wish *out);
/* The members of WISH_MEMBERS in `map`, numbers or strings, over what *w holds; false with *why
   set. */
bool wishes_asked(const struct batch_request *request, const struct node *map, struct bill_wish *w,
                  struct str *why);

#endif
