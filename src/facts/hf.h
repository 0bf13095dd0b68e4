/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a Hugging Face config: what its readers share. For model_hf.c, hf.c and hf_layers.c
   alone. */
#ifndef MOEPLAN_FACTS_HF_H
#define MOEPLAN_FACTS_HF_H

#include "facts/model.h"

/* What a family (model_type) means without saying it. */
enum {
    HF_EXPERT_WIDTH =
        1 << 0, /* intermediate_size is the width of one expert, not of the dense FFN */
    HF_BOTH_WIDTHS = 1 << 1, /* … it is both */
    HF_QK_NORM = 1 << 2,
    HF_QK_NORM_FULL = 1 << 3, /* over all heads */
    HF_L2_QK_NORM = 1 << 4,   /* use_qk_norm is a norm without weights */
    HF_K_IS_V = 1 << 22,      /* one projection for keys and values */
    HF_SIGMOID = 1 << 23,     /* the router's score function */
    HF_QKV_BIAS = 1 << 5,
    HF_ALL_BIAS = 1 << 6,
    HF_SINKS = 1 << 7,
    HF_LAYER_NORM = 1 << 8,
    HF_NOT_GATED = 1 << 9,
    HF_CLAMPED_GATE = 1 << 10, /* quick GELU gate with a clamp */
    HF_TIED = 1 << 11,         /* unless tie_word_embeddings says otherwise */
    HF_POST_NORMS = 1 << 12,
    HF_OUTPUT_GATE = 1 << 13,
    HF_SHARED_GATE = 1 << 14,
    HF_EXPERT_BIAS = 1 << 15,
    HF_SHARED_IS_EXPERT = 1 << 16, /* one shared expert of the routed experts' width */
    HF_DENSE_BESIDE = 1 << 17,     /* the dense FFN runs beside the experts of every layer */
    HF_HALF_WINDOW = 1 << 18,      /* every second layer has the window */
    HF_SIXTH_FULL = 1 << 19,       /* all layers but every sixth have the window */
    HF_WINDOW_FLAGS = 1 << 20,     /* hybrid_layer_pattern says which layers have the window */
    HF_GATED_VISION = 1 << 21,     /* the vision tower's MLPs have a gate */
    HF_VISION_OUT = 1 << 24,       /* … and out_hidden_size as their width */
    HF_NO_POSITIONS = 1 << 26,     /* neither rotary nor learned: the other layers keep the order */
    HF_TWO_ATTENTIONS = 1 << 25, /* and two dense FFNs a layer: num_layers, not num_hidden_layers */
};

enum { HF_MAX_LAYERS = 1024 };

/* The keys of the language model's part that have been looked for, in any order, some twice. */
struct hf_asked {
    VEC(struct str) names;
};

struct hf {
    struct arena *arena;
    struct diags *diags;
    struct model_input *m;
    const struct node *outer, *text; /* the whole config, and the part about the language model */
    struct hf_asked *asked;
    unsigned traits;
    bool known; /* the family is */
    int64_t layers;
    bool good;
};

/* The traits of a model_type; false when the family is not known. */
bool hf_family(struct str type, unsigned *traits);
/* Whether a word is among words separated by blanks. */
bool hf_has_word(const char *words, struct str word);

/* The value of a node; null when there is none. */
struct value hf_value(const struct hf *h, const struct node *node);

/* Keys are names separated by blanks, in the order in which they are looked for; a dot nests. */

/* The first that holds something; NULL when there is none. *alias (may be NULL) is its name. */
const struct node *hf_look(const struct hf *h, const char *keys, struct str *alias);
/* A list that is not empty; NULL when there is none. */
const struct node *hf_list(const struct hf *h, const char *key);
/* Says that these keys are read, which every look-up here does. */
void hf_asked(const struct hf *h, const char *keys);
/* A count: a positive integer within int; 0 when absent, null or zero. Anything else is an
   error. */
int64_t hf_count(struct hf *h, const char *keys);
int64_t hf_count_in(struct hf *h, int param, const char *keys, const struct node **node,
                    struct str *alias);
/* hf_count that becomes a field of the model. */
int64_t hf_add_count(struct hf *h, int param, const char *keys);
bool hf_truth(const struct hf *h, const char *keys, bool otherwise);
double hf_number(const struct hf *h, const char *keys, double otherwise, const struct node **node);
struct str hf_word(const struct hf *h, const char *keys);
/* A field that is derived or assumed; `how` says from what. */
void hf_add(struct hf *h, int param, struct value v, const char *how);
/* A field read so far, as a count; 0 when there is none. */
int64_t hf_given(const struct hf *h, int param);
void hf_defect(struct hf *h, const struct node *at, int param, const char *what);
void hf_missing(struct hf *h, int param, const char *keys);

/* Which layer is what: number of layers, hybrid pattern, MoE layers, windows, linear attention, MTP
   (hf_layers.c). */
void hf_layers(struct hf *h);

#endif
