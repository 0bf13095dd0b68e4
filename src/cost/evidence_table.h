/* SPDX-License-Identifier: Apache-2.0 */
/* The public measurements, one record a run (generated from rules/evidence). */
#ifndef MOEPLAN_COST_EVIDENCE_TABLE_H
#define MOEPLAN_COST_EVIDENCE_TABLE_H

#include "base/str.h"

struct evidence_record {
    struct str id, model, framework, platform, task, precision, dispatcher, recompute, graphs, fsdp,
        source;
    int64_t total_params, active_params, gpus, seq, mbs, gbs, tp, pp, vpp, cp, ep, etp;
    double tokens_per_s_per_gpu, tflops_per_gpu, peak_gib; /* 0: not measured */
    bool oom;
};

extern const struct evidence_record evidence_records[];
extern const size_t evidence_record_count;

#endif
