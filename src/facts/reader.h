/* SPDX-License-Identifier: Apache-2.0 */
/* Readers: one for each input format. A format is one struct reader and one line in the table of
   reader.c. */
#ifndef MOEPLAN_FACTS_READER_H
#define MOEPLAN_FACTS_READER_H

#include "facts/facts.h"
#include "facts/platform.h"

/* NAME=VALUE from --set or --env. */
struct setting {
    struct str name, text;
    struct value value; /* the text read as a YAML 1.2 scalar, or the request's JSON value */
    bool is_text;       /* from the command line: what looks like a number may be meant as a word */
    /* what became of it; a setting that nobody used, or that its parameter does not take, is a
       usage error */
    bool used;    /* a reader or read_options_apply knew the name */
    bool in_text; /* the file that is being read has a variable or placeholder of that name */
    bool bad;     /* `param` does not take the value */
    int param;
};

/* What the user says beside the file: the command line, or a request. Everything may be absent
   (zero). */
struct read_options {
    bool framework_given;
    enum framework framework;
    struct str version; /* as the user wrote it; empty: the newest profile */
    int64_t gpus;       /* 0: not given */
    struct str platform, model;
    struct setting *set;
    size_t n_set;
    struct setting *env;
    size_t n_env;
    bool env_given; /* then a variable named nowhere is unset, not unknown */
    const struct setting *suppose; /* what a script is read with beside them; NULL: nothing */
    struct platform_cache *platforms;
    const struct param_list *declared;    /* flags of a fork (declared.h); NULL: none */
    struct str versions[FRAMEWORK_COUNT]; /* where `version` is empty; each one that is known */
    /* what holds where neither the text nor these options say it: gpus, platform, model and set;
       NULL: nothing */
    const struct read_options *otherwise;
};

/* One configuration that a file describes. */
struct reading {
    struct facts *facts;
    struct str label; /* which of several it is: "the ci: configuration"; empty when the file holds
                         just one */
    int document;     /* 0-based; set by recipe_read */
};
struct readings {
    struct reading *items;
    size_t n, cap;
};

/* A format. `doc` is the document when the text is YAML or JSON, NULL when it is read as plain text
   (flags, scripts, overrides a line). */
struct reader {
    const char *name;  /* automodel, megatron, bridge, plan, hf, or another program's */
    const char *title; /* of one that is recognised and not read: "a Hugging Face config" */
    /* How surely this is the format, 0 (not at all) to 100; by content, never by name. Cheap:
       called for every format. */
    int (*detect)(struct str text, const struct node *doc);
    /* Appends the configurations of one document or text: framework, version and format set, values
       read, native findings added to `diags`, settings used that change how the text itself reads
       (shell variables, placeholders); options not yet applied otherwise, nothing derived. False
       with an error added when the text cannot be read at all (rule ...-syntax). NULL: recognised,
       but no recipe (a Hugging Face config): the file is skipped. */
    bool (*read)(struct arena *a, struct diags *diags, uint32_t source, const struct node *doc,
                 const struct read_options *options, struct readings *out);
};

/* By name; NULL when there is none. */
const struct reader *reader_find(struct str name);
/* The format with the highest score of at least READER_SURE; NULL when none is sure. */
enum { READER_SURE = 50 };
const struct reader *reader_detect(struct str text, const struct node *doc);
/* The text after "# moeplan: NAME=" in one of the first five lines; empty when there is none.
   `format` is the file's format, `recipe` what overrides stand on, `model` the catalogue's model.
 */
struct str reader_declared(struct str text, const char *name);

/* For readers: the facts of a source at the framework's defaults, of the version asked for; of the
   `usual` one where nothing says a version, empty: the newest. Of the newest too where the version
   is unknown, which read_options_apply complains of. */
struct facts *reader_facts(struct arena *a, struct diags *diags, uint32_t source,
                           enum framework framework, struct str format, struct str usual,
                           const struct read_options *options);
/* The variables of --env. */
void read_options_env(struct facts *f, const struct read_options *options);
/* NAME=VALUE; the value reads as in a plan file. False when there is no name or no "=". */
bool setting_parse(struct arena *a, struct str text, struct setting *out);
/* The setting as a value of a parameter, checked as moeplan's own files are; false with errors
   added. */
bool setting_value(struct arena *a, struct diags *diags, const struct setting *s, int param,
                   struct value *out);
/* The setting of a name, for a reader whose text has such a name, marked as used; NULL when there
   is none. */
const struct setting *setting_use(const struct read_options *options, struct str name);
/* Puts --set, --env, --gpus, --model and --platform over what the file said: settings are named by
   parameter (with or without "model." or "plan."), or by the framework's own key; one whose value
   its parameter does not take is marked as bad and has no effect. False with an error added when
   the model or platform named, or the version of the framework, is unknown. */
bool read_options_apply(struct facts *f, const struct read_options *options);

/* What is wrong with the settings, now that the texts have been read: values that their parameters
   do not take, and names that nothing knew, with the nearest ones; empty when all is well. */
struct str settings_error(struct arena *a, const struct read_options *options);

/* What the framework's own tables say of the facts' model: AutoModel's class of it, Bridge's
 * recipe. */
void framework_facts(struct facts *f);

/* Whether a document is data of ours that the build makes tables of, and no command reads. */
bool reader_is_built_in(const struct node *doc);
/* Whether the word of its `kind:` says so. */
bool reader_is_built_in_kind(struct str kind);
extern const char *const reader_built_in_kinds[]; /* its kinds; NULL is the last */

#endif
