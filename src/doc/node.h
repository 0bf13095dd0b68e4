/* SPDX-License-Identifier: Apache-2.0 */
/* The document tree: YAML or JSON as nodes that remember where they stand. */
#ifndef MOEPLAN_DOC_NODE_H
#define MOEPLAN_DOC_NODE_H

#include "base/map.h"
#include "base/value.h"
#include "diag/diag.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    bool quoted;   /* scalar in quotes or a block: a string whatever it looks like */
    bool repeats;  /* map: perhaps some key is given more than once */
    uint32_t line; /* 1-based line of the start, cheap to have without making a span */
    uint32_t source;
    uint32_t from, to;       /* byte range in the source */
    struct str tag;          /* explicit YAML tag such as "!!str"; mostly empty */
    struct str text;         /* scalar: its content after unescaping */
    size_t n;                /* list: items; map: entries; a flag, which is a scalar: its values */
    struct node **items;     /* list items, or map values */
    struct node **keys;      /* map: the key nodes, in the order written */
    const struct map *index; /* map of many entries: key -> number of its last entry, else NULL */
    uint64_t marks;          /* map: the str_mark of each of its keys; 0: not known */
};

/* For a copy whose keys are about to change: they are looked for one by one from then on. */
static inline void node_unindex(struct node *map)
{
    map->index = NULL;
    map->marks = 0;
}

/* The node's place; computed when asked for. */
struct span node_span(struct diags *all, const struct node *node);
/* The LAST entry under a key (as the frameworks' loaders keep the last duplicate), or NULL. A NULL
   or non-map node has none. */
struct node *node_get(const struct node *map, struct str key);
/* The key node of that entry, or NULL. */
struct node *node_get_key(const struct node *map, struct str key);
/* Whether an entry of a map does not count: a later one has its key, or the key is no scalar. */
static inline bool node_is_shadowed(const struct node *map, size_t entry)
{
    const struct node *key = map->keys[entry];
    if (key->kind != NODE_SCALAR) return true;
    return map->repeats && node_get(map, key->text) != map->items[entry];
}
/* node_get along a dotted path: "distributed.pipeline.pp_schedule"; a number indexes a list. */
struct node *node_at(const struct node *root, struct str path);
/* How a scalar reads: which words are null, booleans and numbers differs by the program that loads
   the file.
   YAML11: PyYAML's safe_load: yes/no/on/off, octal 010, 1_000, sexagesimal 1:30; 1e-5 is a string.
   AUTOMODEL: PyYAML, then AutoModel's translate_value on strings: none, "8", 1e-5, "[1,2]".
   JSON: true, false, null and JSON numbers only.
   CORE: YAML 1.2: true/false/null/~, ints, floats including 1e-5; moeplan's own files. */
enum scalar_profile { SCALAR_YAML11, SCALAR_AUTOMODEL, SCALAR_JSON, SCALAR_CORE };
/* The node as a value: scalars by the profile (quoted ones are strings, except under
   SCALAR_AUTOMODEL), lists and maps in full. */
struct value node_value(struct arena *a, const struct node *node, enum scalar_profile profile);

struct node_list {
    struct node **items;
    size_t n, cap;
};
/* The rule of an error that a text is beyond some limit. */
#define DOC_TOO_LARGE "input-too-large"
/* Parses all YAML documents of a registered source (libyaml). Anchors, aliases and merge keys are
   expanded (bounded); a duplicate key adds a warning `duplicate-key` (values equal: info). False
   with an error `yaml-syntax` added when the text is not YAML, or DOC_TOO_LARGE when it has more
   documents or nodes, or is nested deeper, than anybody writes; *docs then holds what was read
   before. */
bool doc_load_yaml(struct arena *a, struct diags *all, uint32_t source, struct node_list *docs);
/* Parses one strict JSON text (RFC 8259, our own reader: positions on every node). NULL with an
   error `json-syntax` added when it is none, or DOC_TOO_LARGE when it is nested too deeply. */
struct node *doc_load_json(struct arena *a, struct diags *all, uint32_t source);
/* JSON when the first non-blank byte is '{' or '[' and the text is valid JSON, else YAML. */
bool doc_load(struct arena *a, struct diags *all, uint32_t source, struct node_list *docs);

#endif
