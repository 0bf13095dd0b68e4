/* SPDX-License-Identifier: Apache-2.0 */
/* Model inputs: a catalogue name, moeplan's own mapping, or a Hugging Face config.json become the
   same flat model facts, each with the place it was read from and the spelling used there. */
#ifndef MOEPLAN_FACTS_MODEL_H
#define MOEPLAN_FACTS_MODEL_H

#include "facts/entry.h"
#include "facts/facts.h"

/* One model fact. */
struct model_field {
    int param; /* index into the parameter table */
    struct value value;
    const struct node *node; /* where it stands; NULL: assumed or derived */
    struct str alias;        /* the spelling used there, or how it was derived */
};

struct model_input {
    struct str name;                     /* shown only */
    struct str id, hf_id, source;        /* catalogue entry; empty: none */
    struct str model_type, architecture; /* Hugging Face's words; empty: none */
    int64_t published_total,
        published_active;    /* parameters as the publisher rounds them; 0: not stated */
    const struct node *root; /* the mapping it was read from; NULL: the catalogue's */
    bool complete; /* a field that is not given is known not to be there (catalogue, config.json);
                      else it is unknown */
    VEC(struct model_field) fields;
    VEC(struct str) notes; /* what was assumed and what is left out, one line each */
};

/* The field of a parameter, or NULL. */
const struct model_field *model_field_get(const struct model_input *m, int param);
/* For what builds an input: a field by its parameter's name, and a note. */
void model_add_field(struct arena *a, struct model_input *m, int param, struct value value,
                     const struct node *node, struct str alias);
__attribute__((format(printf, 3, 4))) void model_add_note(struct arena *a, struct model_input *m,
                                                          const char *format, ...);
/* The catalogue in alphabetical order; index below catalogue_model_count (facts/entry.h). */
const struct model_input *model_catalogue(struct arena *a, size_t i);
/* The catalogue entry of an id, HF id or alias (case is ignored); NULL when there is none. Cheap:
   nothing is parsed. */
const struct model_input *model_find(struct arena *a, struct str name);
/* The model of a document node: a scalar (catalogue name, or the path of a model file) or a mapping
   (moeplan's own, or a Hugging Face config). What stands in a file that the node names has its
   place at the node (facts/named.h). NULL with an error added; rules `unknown-model`,
   `unknown-key`, `model-config`, `model-field`. */
const struct model_input *model_read(struct arena *a, struct diags *diags, const struct node *node);
/* The same for a command-line argument: a catalogue name, a file, or a directory with a
   config.json. */
const struct model_input *model_load(struct arena *a, struct diags *diags, struct str name_or_path);
/* Whether a mapping looks like a Hugging Face config rather than moeplan's own mapping. */
bool model_is_hf(const struct node *node);
/* The model of a Hugging Face config; model_read calls it. `name` is shown when the config has
   none; may be empty. */
const struct model_input *model_from_hf(struct arena *a, struct diags *diags,
                                        const struct node *config, struct str name);
/* Sets f->model and the model facts: fields that stand in a file or come with an option get
   `origin`, catalogue fields ORIGIN_CATALOGUE unless it is ORIGIN_OPTION. Where the input is
   complete, what it does not mention and the user has not set is known to be absent; otherwise it
   is left as it is. */
void model_apply(struct facts *f, const struct model_input *m, enum fact_origin origin);
/* The same for a model that an option names, without the facts that the text `says` itself. */
void model_apply_beside(struct facts *f, const struct model_input *m,
                        bool (*says)(const struct facts *f, int param));
/* A launch that leaves its model to an option, or to a name, leaves the switches to it too that
   Megatron-LM needs beside the sizes. */
void model_set_switches(struct facts *f, const struct model_input *m);
/* Takes what an incomplete model does not mention, and nobody else says, as not there: facts of
   origin ORIGIN_ASSUMED. */
void model_assume(struct facts *f);

#endif
