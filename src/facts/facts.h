/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of one configuration: a value for every parameter, set, default or unknown, and where
   it came from. */
#ifndef MOEPLAN_FACTS_FACTS_H
#define MOEPLAN_FACTS_FACTS_H

#include "doc/node.h"
#include "facts/param.h"
#include "facts/program.h"

enum fact_origin {
    ORIGIN_UNKNOWN,   /* nothing says it; the value is VALUE_UNKNOWN */
    ORIGIN_DEFAULT,   /* the framework profile's default */
    ORIGIN_RELEASE,   /* what the framework release's own lock file pins */
    ORIGIN_ASSUMED,   /* nobody states it: what an `assumes` record, or silence about a model, means
                       */
    ORIGIN_DERIVED,   /* computed from other facts */
    ORIGIN_OVERRIDE,  /* the framework replaces what was written (an `overrides` record) */
    ORIGIN_CATALOGUE, /* the model or platform data */
    ORIGIN_FILE,      /* written in the file, at `node` */
    ORIGIN_OPTION,    /* given on the command line or in the request */
};

struct fact {
    struct value value;
    enum fact_origin origin;
    uint32_t line;           /* shell scripts: line where the variable was set; else 0 */
    const struct node *node; /* ORIGIN_FILE: where */
    struct str written; /* ORIGIN_FILE: the spelling used there; ORIGIN_OVERRIDE: the record's id;
                           ORIGIN_DEFAULT: the recipe that sets it */
};

struct env_var {
    struct str name, value;
    bool unset; /* known to be absent */
};

/* What a file says in its own words. */
struct raw_fact {
    struct str key;
    struct value value;
};

/* Values that are still to be filled in (facts/placeholder.h). */
enum { PLACEHOLDERS_NAMED = 3 };
struct placeholders {
    size_t n;
    struct span first;
    struct str texts[PLACEHOLDERS_NAMED]; /* the first ones */
};

struct model_input;
struct param_list;
struct platform;
struct profile;

struct facts {
    struct arena *arena;
    struct diags *diags;
    enum framework framework;
    bool framework_known; /* false: only facts common to all are meant (a plan that names none is
                             megatron) */
    struct str version;   /* of the framework profile: "main@2026-08-22" or a release number */
    const struct profile *profile; /* the same, in full; NULL: a version that nobody knows */
    bool release_told; /* by the user, a setting, or the checkout that the file lies in */
    uint32_t releases; /* those that it may be for, as bits: what not all of them refuse is no sure
                          error */
    struct str format; /* automodel, megatron, bridge, plan */
    uint32_t source;
    /* What differs from the defaults lies over them, so that neither a file nor a copy has a table
       of all facts of its own: read with facts_get, changed with facts_change. */
    const struct fact *defaults;     /* [param_count] shared */
    struct fact *own;                /* [param_count] set where `changed` says so */
    uint64_t *changed;               /* a bit for each parameter */
    const struct model_input *model; /* what the model facts were read from; NULL: none */
    const struct platform *platform; /* the same for the platform facts */
    const struct node *document; /* root the `raw` look-ups start from; NULL when there is none */
    VEC(struct raw_fact) raw;    /* raw["--x"] of formats that are no document */
    uint64_t raw_marks[16];      /* by length of the key: the str_mark of each, perhaps of more */
    uint64_t *path_marks; /* [PATH_MARKS] the same of the paths that the document has; NULL: nobody
                             noted them */
    struct env_var *env;
    size_t n_env, cap_env;
    struct program program;   /* what reads the arguments of a launch */
    struct flag_words *aside; /* flags that a script has beside the launch; NULL: no script */
    const struct param_list *declared; /* flags of a fork that the user declares; NULL: none */
    bool open;         /* what nobody wrote may be written or set where nobody sees it */
    bool env_complete; /* a variable that is not listed is unset, not unknown */
    /* of a recipe that a command names where nobody says which release runs: the name as it is
       written (empty: none), and whether it is worked out from other options, or another's launcher
       may change what the recipe says */
    struct str recipe_word;
    bool recipe_guessed;
    bool world_guessed; /* nobody says how many nodes, or GPUs of one, there are: the usual is taken
                         */
    bool world_unsaid;  /* as many as stand there for want of a platform's word */
    struct placeholders placeholders;
    VEC(uint32_t) sourced;   /* further sources that the file consists of */
    VEC(uint32_t) inherited; /* sources of the files that it is laid over */
};

/* Fresh facts: every parameter at the default that it has in that version of the framework (unknown
   where nothing says), and what its lock file pins. A version is one of profile.h. */
struct facts *facts_new(struct arena *a, struct diags *diags, enum framework framework,
                        struct str version);
/* The facts of a plan that says nothing yet: not the framework's defaults of the model and the
   micro-batch, of which a plan says what it writes alone. */
struct facts *facts_new_plan(struct arena *a, struct diags *diags, enum framework framework,
                             struct str version);
/* Forgets what the release's lock file pins, as if it pinned nothing. */
void facts_forget_pins(struct facts *f);
/* The bit of the facts' release (profile.h); all bits where nobody knows it. */
uint32_t facts_release(const struct facts *f);
/* The default of a parameter in the facts' release. */
struct value facts_default(const struct facts *f, int param);
/* Whether the facts' release has a flag or key of the parameter; true where it is no setting. */
bool facts_can_say(const struct facts *f, int param);
/* The choices of a parameter in the facts' release, *n of them; none: any value is one. */
const struct str *facts_choices(const struct facts *f, int param, size_t *n);
/* Whether the facts' release has something better to write: what is deprecated today was the only
   spelling once. */
bool facts_flag_is_deprecated(const struct facts *f, const struct param_spelling *s,
                              const struct param_flag *flag);
/* A copy that can be changed on its own; values and texts are shared. */
struct facts *facts_copy(struct arena *a, const struct facts *f);
/* Whether it may be another than the framework's default. */
static inline bool facts_is_own(const struct facts *f, int param)
{
    return f->changed[param / 64] >> (param % 64) & 1;
}
/* The fact of a parameter: P_its_name of facts/param_ids.h. A number that is none is our bug. */
const struct fact *facts_get(const struct facts *f, int param);
/* The first parameter from `param` on that may differ from its default; param_count: none. */
int facts_next(const struct facts *f, int param);
/* The same of those that are known: a plan knows nothing of most parameters of a model. */
int facts_next_known(const struct facts *f, int param);
/* The same to be changed in place. */
struct fact *facts_change(struct facts *f, int param);
/* Nothing says it. */
void facts_forget(struct facts *f, int param);
/* Sets a fact, the value brought into the parameter's own form (fact_coerce). The later call wins,
   but what the user gave as an option yields only to an option or an override. An override keeps
   the place where the user wrote. A `param` that is none is our bug. */
void facts_set(struct facts *f, int param, struct value value, enum fact_origin origin,
               const struct node *node, struct str written);
/* A value in the form that the parameter's values have: 1 is 1.0 for a double, one word is a list
   of one for a list, "([0]*3+[1]*58)" is a list for a pattern, bfloat16 is bf16. A value of another
   kind comes back as it is. */
struct value fact_coerce(struct arena *a, int param, struct value value);
struct value param_coerce(struct arena *a, const struct param *p, struct value value);
/* PyTorch's name of a number format: torch.float32 of fp32; a word that it has no name for as it
 * is. */
struct str fact_dtype(struct arena *a, struct str word);
/* Bytes of one number of a format, by its word or PyTorch's name; 0: no format. */
int fact_dtype_bytes(struct str word);
/* Makes every parameter that a flag of Megatron-LM could set, and nobody wrote, unknown, and
 * whether it is written too. */
void facts_forget_defaults(struct facts *f);
/* Typed look at a fact's value: `otherwise` when it is null, unknown or of another kind. */
int64_t facts_int(const struct facts *f, int param, int64_t otherwise);
double facts_double(const struct facts *f, int param, double otherwise);
bool facts_bool(const struct facts *f, int param, bool otherwise);
struct str facts_str(const struct facts *f, int param);
static inline bool fact_is_set(const struct fact *x)
{
    return x->origin == ORIGIN_FILE || x->origin == ORIGIN_OPTION;
}
/* Whether it is what the recipe that overrides stand on sets. */
static inline bool fact_is_of_recipe(const struct fact *x)
{
    return x->origin == ORIGIN_DEFAULT && x->written.n > 0;
}
static inline bool fact_is_known(const struct fact *x)
{
    return x->value.kind != VALUE_UNKNOWN;
}
/* Whether a node stands in the file itself, or in one that it takes in as its own text. */
bool facts_hold(const struct facts *f, const struct node *node);
/* Whether a source is a file that the facts' own is laid over. */
bool facts_inherit(const struct facts *f, uint32_t source);
/* Where a fact's value is from, for a note: "written at line 12", "Megatron-LM default", "computed
   from …". */
struct str fact_origin_text(struct arena *a, const struct facts *f, int param);
/* Environment: a variable's value, or that it is unset. */
void facts_set_env(struct facts *f, struct str name, struct str value, bool unset);
/* A string, null (unset) or unknown. */
struct value facts_env(const struct facts *f, struct str name);
/* The document's node of a dotted path; NULL: it has none. */
const struct node *facts_node(const struct facts *f, struct str path);
/* Raw look-ups: a flag with its dashes or a dotted path. VALUE_ERROR when absent. */
struct value facts_raw(const struct facts *f, struct str key);
bool facts_has_raw(const struct facts *f, struct str key);
void facts_add_raw(struct facts *f, struct str key, struct value value);
/* The dotted paths of the document, once each is noted: most of those that are asked for are none
   of them. Begun before the first. */
void facts_begin_paths(struct facts *f);
void facts_note_path(struct facts *f, struct str path);
/* Too many to be noted: any may be there. */
void facts_note_any_path(struct facts *f);
/* Fills the derived parameters (SCOPE_DERIVED: dp, edp, num_microbatches, pipeline stages …) from
   the others, and ties together those that say the same thing in two ways (precision and the
   framework's own switches, vpp and the virtual stages, gated_linear_unit and swiglu). What rests
   on something unknown, or does not divide, is unknown. May be called again whenever facts change:
   nothing that was written or overridden is touched, and lists are made anew only when they
   differ. */
void facts_derive(struct facts *f);
/* Whether facts_derive may make anything else of other facts when the parameter has another value
   that nobody wrote. */
bool facts_derives_from(int param);
/* The same after a change of one parameter alone. */
void facts_derive_after(struct facts *f, int param);
/* The derived parameters that such a change can reach, up to P_NONE; NULL: any. */
const int *facts_following(int param);

/* Names for expressions: model.x, plan.x, platform.x, env.X, env["X"], raw["…"], framework,
   version. */
struct expr_names;
struct expr_scope;
extern const struct expr_names facts_names;
struct expr_scope facts_scope(const struct facts *f);
/* The parameter that a slot of facts_names reads; -1 for env, raw, framework and version. */
static inline int facts_slot_param(uint32_t slot)
{
    return slot < param_count ? (int)slot : -1;
}

#endif
