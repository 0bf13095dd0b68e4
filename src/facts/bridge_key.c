/* SPDX-License-Identifier: Apache-2.0 */
/* A field of Megatron-Bridge's configuration is given a value, or it is said what was meant by
   it. */
#include "facts/bridge_key.h"

#include "base/edit.h"
#include "facts/check.h"
#include "facts/flags.h"
#include "facts/param_ids.h"
#include "facts/placeholder.h"
#include "facts/profile.h"

/* The releases that have such a key; of older spellings, all. */
static uint32_t releases_of(struct str key)
{
    uint32_t releases = param_key_releases(FRAMEWORK_BRIDGE, key);
    if (releases) return releases;
    const struct profile_setting *s = profile_setting_find(FRAMEWORK_BRIDGE, key);
    return s ? s->releases : 0;
}

bool bridge_has_key(const struct facts *f, struct str key)
{
    return releases_of(key) & facts_release(f);
}

/* The key that Megatron-LM's name of a parameter stands for, such as num_experts; empty: none. */
static struct str key_of_flag(struct facts *f, struct str name)
{
    int param = param_find_key(FRAMEWORK_MEGATRON, flag_of_destination(f->arena, name), NULL);
    return param >= 0 ? param_table[param].in[FRAMEWORK_BRIDGE]->key : (struct str){"", 0};
}

/* The key that a name under AutoModel's distributed section stands for, such as tp_size; empty:
   none. */
static struct str key_of_another(struct str name)
{
    int param = param_named_by(FRAMEWORK_AUTOMODEL, name);
    return param >= 0 ? param_table[param].in[FRAMEWORK_BRIDGE]->key : (struct str){"", 0};
}

/* Sections of a run's configuration, those first that a misplaced field is mostly of. */
static const char *const sections[] = {
    "model",          "train",     "optimizer",          "ddp",          "scheduler",
    "dist",           "dataset",   "checkpoint",         "rng",          "logger",
    "peft",           "tokenizer", "mixed_precision",    "comm_overlap", "profiling",
    "validation",     "straggler", "nvrx_straggler",     "ft",           "inprocess_restart",
    "tensor_inspect", "env_vars",  "rerun_state_machine"};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

bool bridge_is_section(struct str key)
{
    for (size_t i = 0; i < N_SECTIONS; i++)
        if (str_is(key, sections[i])) return true;
    return false;
}

struct str bridge_section_meant(struct str key)
{
    struct str none = {"", 0};
    if (key.n <= 4 || bridge_is_section(key)) return none;
    for (size_t i = 0; i < N_SECTIONS; i++)
        if (edit_is_slip(key, str_of(sections[i]), 1)) return str_of(sections[i]);
    return none;
}

/* What a model or a data set may have is what any of their classes has: of those fields only one
   that is known as a parameter can be meant by somebody who does not write that class. */
static bool may_be_meant(const struct facts *f, struct str section, struct str key)
{
    bool of_classes = str_is_any(section, "model|dataset");
    return bridge_has_key(f, key) &&
           (!of_classes || param_find_key(FRAMEWORK_BRIDGE, key, NULL) >= 0);
}

struct str bridge_key_elsewhere(struct facts *f, struct str name)
{
    for (size_t i = 0; i < N_SECTIONS; i++) {
        struct str key = arena_printf(f->arena, "%s.%.*s", sections[i], STR_ARG(name));
        if (may_be_meant(f, str_of(sections[i]), key)) return key;
    }
    return (struct str){"", 0};
}

/* Whether a key's section is one of a run's, or a slip of one: a document of somebody's own runner
   has sections that Bridge never sees. */
static bool is_of_run(struct str key)
{
    struct str section = str_slice(key, 0, str_find(key, '.'));
    return bridge_is_section(section) || bridge_section_meant(section).n;
}

/* What was meant, and why it is not taken. */
static struct str meant_key(struct facts *f, struct str key, const char **why)
{
    size_t dot = str_find(key, '.');
    struct str name = str_slice(key, dot + 1, key.n), found = bridge_key_elsewhere(f, name);
    *why = "another section has it";
    if (found.n) return found;
    found = key_of_flag(f, name);
    *why = "that is Megatron-LM's name of it";
    if (found.n && !str_eq(found, key)) return found;
    found = key_of_another(name);
    *why = "that is AutoModel's name of it";
    if (found.n && !str_eq(found, key)) return found;
    *why = NULL;
    found = param_nearest_key(FRAMEWORK_BRIDGE, key);
    return found.n && edit_distance(key, found) <= 2 ? found : (struct str){"", 0};
}

/* Sections that nobody but Bridge makes: their fields are all known. */
static bool is_closed(struct str section)
{
    return str_is_any(section, "train|optimizer|scheduler|ddp|logger|checkpoint|rng|dist");
}

/* A field that nobody has. What overrides a recipe of Bridge's own is refused; a model's, a
   provider's or a data set's own code may have more fields: then only what looks like a slip is
   worth a word. `leaf`: at the place stands the key's last part, in a section of its own. */
static void unknown_key(struct facts *f, struct str key, struct span at, bool leaf)
{
    enum { MOST_SUGGESTIONS = 32, LAST_LINE = 2000 }; /* looking for neighbours takes its time */
    const char *why;
    size_t dot = str_find(key, '.');
    bool plain = dot < key.n && str_find(str_slice(key, dot + 1, key.n), '.') == key.n - dot - 1;
    if (!plain || f->diags->n > MOST_SUGGESTIONS || at.line > LAST_LINE || bridge_has_key(f, key))
        return;
    if (leaf && !is_of_run(key)) return;
    struct str near = meant_key(f, key, &why);
    if (!near.n && !is_closed(str_slice(key, 0, dot))) return;
    bool on_recipe = facts_bool(f, P_over_recipe, false);
    /* another section's name may be the data's own field too, a slip is one */
    if (why && f->recipe_word.n && !on_recipe && str_starts(key, STR("dataset."))) return;
    bool over = near.n && on_recipe && !str_starts(key, STR("dataset."));
    struct diag *d = diag_add(f->diags, over ? SEVERITY_ERROR : SEVERITY_WARNING, "unknown-key", at,
                              "Megatron-Bridge has no field %.*s that is known here", STR_ARG(key));
    if (why) diag_note(f->diags, d, "%s", why);
    if (!near.n) return;
    bool beside = leaf && str_starts(near, str_slice(key, 0, dot + 1));
    if (beside || !leaf) diag_suggest(f->diags, d, str_slice(near, beside ? dot + 1 : 0, near.n));
    diag_help(f->diags, d, "did you mean %.*s?", STR_ARG(near));
}

/* A field that came with a later release, or went with an older one. */
static void other_release(struct facts *f, struct str key, struct span at)
{
    bool over = facts_bool(f, P_over_recipe, false) && !str_starts(key, STR("dataset."));
    struct diag *d =
        diag_add(f->diags, over ? SEVERITY_ERROR : SEVERITY_WARNING, "unknown-key", at,
                 "Megatron-Bridge %.*s has no field %.*s", STR_ARG(f->version), STR_ARG(key));
    diag_help(f->diags, d, "Megatron-Bridge has it %.*s: leave it out",
              STR_ARG(profile_span(f->arena, FRAMEWORK_BRIDGE, releases_of(key))));
}

/* Words that stand for what is to be filled in, where they are no value themselves. */
static bool is_open(struct facts *f, int param, struct value v, struct span at)
{
    bool any_text = param_table[param].type == PARAM_STRING && !param_table[param].n_choices;
    if (v.kind != VALUE_STRING || !placeholder_is(v.s)) return false;
    placeholder_note(f, at, v.s);
    return !any_text;
}

/* A value of the parameter's own kind that it can have; else false, with an error. */
static bool is_good(struct facts *f, int param, struct value *v, struct span at, struct str key)
{
    if (!value_check(f, param, v, at, key)) return false;
    struct str wrong = value_size_error(f->arena, param, key, *v);
    if (!wrong.n) return true;
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "size-below-zero", at, "%.*s", STR_ARG(wrong));
    diag_help(f->diags, d, "%.*s", STR_ARG(param_table[param].doc));
    return false;
}

void bridge_set_key(struct facts *f, struct str key, struct value v, const struct node *name,
                    const struct node *node)
{
    int param = param_find_key(FRAMEWORK_BRIDGE, key, NULL);
    struct span at = node_span(f->diags, node);
    if (param < 0) {
        unknown_key(f, key, node_span(f->diags, name), name != node);
        return;
    }
    if (!bridge_has_key(f, key)) other_release(f, key, node_span(f->diags, name));
    if (param_table[param].in[FRAMEWORK_BRIDGE]->inverse && v.kind == VALUE_BOOL) v.b = !v.b;
    bool good = !is_open(f, param, v, at) && is_good(f, param, &v, at, key);
    const struct fact *x = facts_get(f, param);
    bool other_key = fact_is_set(x) && !str_eq(x->written, key);
    if (other_key && v.kind == VALUE_NULL)
        return; /* an older spelling is taken back, not the value */
    if (other_key && param_table[param].in[FRAMEWORK_BRIDGE]->either && good &&
        facts_bool(f, param, false))
        return; /* the other key is enough */
    facts_set(f, param, good ? v : value_unknown(), ORIGIN_FILE, node, key);
}
