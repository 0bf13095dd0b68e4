/* SPDX-License-Identifier: Apache-2.0 */
/* A finished plan, as facts, in the words of each framework. Every emitter is one function and one
   line of EMITTERS; what is written is what differs from the framework's own defaults, so that
   reading it back gives the same plan. */
#ifndef MOEPLAN_EMIT_EMIT_H
#define MOEPLAN_EMIT_EMIT_H

#include "base/buf.h"
#include "facts/facts.h"
#include "rules/rule.h"

struct emit_input {
    const struct rule_set *rules; /* what silence means in a plan file */
    const struct facts
        *facts; /* of the framework the output is for; complete, not yet overridden by it */
    const struct str
        *comments; /* lines for the head of the output: what this is and what was assumed */
    size_t n_comments;
    struct str folder; /* that the output will lie in, as seen from the current one; empty: that */
};

struct emitter {
    const char *format; /* word of --format */
    enum framework framework;
    void (*write)(const struct emit_input *in, struct buf *out);
};

/* The emitters: the word of --format, the framework and the function, EACH(word, framework, write).
   The first of a framework is its own form. */
#define EMITTERS(EACH)                                                                             \
    EACH("flags", FRAMEWORK_MEGATRON, emit_flags)                                                  \
    EACH("script", FRAMEWORK_MEGATRON, emit_script)                                                \
    EACH("yaml", FRAMEWORK_AUTOMODEL, emit_automodel)                                              \
    EACH("bridge", FRAMEWORK_BRIDGE, emit_bridge)
#define EMITTER_DECLARED(format, framework, write)                                                 \
    void write(const struct emit_input *in, struct buf *out);
EMITTERS(EMITTER_DECLARED)
/* Their words, each with a "|" behind it. */
#define EMITTER_WORD(format, framework, write) format "|"
#define EMITTER_WORDS EMITTERS(EMITTER_WORD)

/* NULL when there is none of that name. */
const struct emitter *emitter_find(struct str format);
/* The one for a framework's own form: flags, bridge or yaml. */
const struct emitter *emitter_of(enum framework framework);
/* A plan file (`moeplan: 1`) of any framework. */
void emit_plan(const struct emit_input *in, struct buf *out);
/* The same as a mapping. */
struct value plan_value(struct arena *a, const struct rule_set *rules, const struct facts *f);

/* ---- shared by the emitters ---- */

/* What nobody stated and was assumed, as a mapping from names to values. */
struct value emit_assumed(struct arena *a, const struct facts *f);
/* The same in one line, features that are taken as absent or off only counted; empty: nothing. */
struct str emit_assumed_line(struct arena *a, const struct facts *f);
/* A value as the spelling has it: booleans that mean the opposite turned, number formats by
   PyTorch's names, a list of one item as the item where it stands for all layers. */
struct value emit_spelled(struct arena *a, const struct param_spelling *in, struct value v);
/* A value as a word: true, 8, 1.5, alltoall, [attn, moe_router]. */
struct str emit_scalar(struct arena *a, struct value v);
/* The same in YAML, on one line, so that it reads back as the same value. */
struct str emit_yaml(struct arena *a, struct value v);
/* A per-layer list as Megatron's expression: "([0]*3+[1]*58)". */
struct str emit_pattern(struct arena *a, const struct value_list *list);
/* A key of a YAML file: its dotted path, and its value as text. */
struct emit_line {
    struct str path, text;
};
struct emit_lines {
    struct emit_line *items;
    size_t n, cap;
};
/* Writes the keys as nested mappings, sorted into the order in which a person reads a recipe. */
void emit_keys(struct emit_lines *all, struct buf *out);
/* One override of Megatron-Bridge, a word of a shell, with its line end. */
void emit_override(struct buf *out, struct str key, struct value v);
/* "# " lines. */
void emit_comments(const struct emit_input *in, struct buf *out);

#endif
