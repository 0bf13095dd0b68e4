/* SPDX-License-Identifier: Apache-2.0 */
/* Files of programs whose settings moeplan does not check: told by keys that only they have, so
   that they are named and not taken for a framework's that has sections of the same names. */
#include "facts/reader.h"

/* Whether all of the dotted keys are there. */
static bool has_all(const struct node *doc, const char *const *keys)
{
    for (; *keys; keys++)
        if (!node_at(doc, str_of(*keys))) return false;
    return true;
}

static bool is_map(const struct node *doc)
{
    return doc && doc->kind == NODE_MAP && !node_get(doc, STR("moeplan"));
}

/* ---- NeMo 1 ---- */

/* Lightning's trainer beside the experiment manager of NeMo 1, or beside a model of its class. */
static int detect_nemo(struct str text, const struct node *doc)
{
    static const char *const manager[] = {"trainer", "exp_manager", "model", NULL};
    static const char *const trainer[] = {"trainer.devices", "trainer.accelerator", "model", NULL};
    (void)text;
    return is_map(doc) && (has_all(doc, manager) || has_all(doc, trainer)) ? 98 : 0;
}

const struct reader reader_nemo = {
    .name = "nemo", .title = "a configuration of NeMo 1", .detect = detect_nemo};

/* ---- DeepSpeed ---- */

/* A configuration of DeepSpeed, or of GPT-NeoX, which begins with one. */
static int detect_deepspeed(struct str text, const struct node *doc)
{
    static const char *const keys[] = {"zero_optimization", "train_micro_batch_size_per_gpu",
                                       "pipe-parallel-size", "pipe_parallel_size"};
    (void)text;
    for (size_t i = 0; is_map(doc) && i < sizeof keys / sizeof *keys; i++)
        if (node_get(doc, str_of(keys[i]))) return 98;
    return 0;
}

const struct reader reader_deepspeed = {.name = "deepspeed",
                                        .title = "a configuration of DeepSpeed or GPT-NeoX",
                                        .detect = detect_deepspeed};

/* ---- Kubernetes ---- */

static int detect_kubernetes(struct str text, const struct node *doc)
{
    static const char *const keys[] = {"apiVersion", "kind", NULL};
    (void)text;
    return is_map(doc) && has_all(doc, keys) ? 98 : 0;
}

const struct reader reader_kubernetes = {
    .name = "kubernetes", .title = "a Kubernetes manifest", .detect = detect_kubernetes};

/* ---- our own ---- */

const char *const reader_built_in_kinds[] = {
    "Evidence", "Recipes", "Modules",       "Capabilities", "Sections",    "Playbook",
    "Program",  "Release", "BridgeRecipes", "Reasons",      "Environment", NULL};

bool reader_is_built_in_kind(struct str kind)
{
    for (const char *const *word = reader_built_in_kinds; *word; word++)
        if (str_is(kind, *word)) return true;
    return false;
}

bool reader_is_built_in(const struct node *doc)
{
    bool marked = doc && doc->kind == NODE_MAP && node_get(doc, STR("moeplan"));
    const struct node *kind = marked ? node_get(doc, STR("kind")) : NULL;
    return kind && reader_is_built_in_kind(kind->text);
}

static int detect_built_in(struct str text, const struct node *doc)
{
    (void)text;
    return reader_is_built_in(doc) ? 99 : 0;
}

const struct reader reader_built_in = {
    .name = "built-in", .title = "data that is built into moeplan", .detect = detect_built_in};
