/* SPDX-License-Identifier: Apache-2.0 */
/* What is Megatron-Bridge's: overrides of its fields, launches of its recipes, and documents of its
   sections. */
#include "facts/bridge_key.h"
#include "facts/param_index.h"
#include "facts/profile.h"
#include "facts/reader.h"

static bool is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_';
}

/* Whether Hydra programs that are not Bridge have such a section, and Bridge has none. */
static bool is_foreign(struct str key)
{
    static const char *const sections[] = {"trainer",   "exp_manager",       "hydra",  "data",
                                           "algorithm", "actor_rollout_ref", "policy", "run"};
    size_t dot = str_find(key, '.');
    for (size_t i = 0; dot < key.n && i < sizeof sections / sizeof *sections; i++)
        if (str_is(str_slice(key, 0, dot), sections[i])) return true;
    return false;
}

/* How many KEY= of Bridge the text holds, at most `most`; none where it has those of another
   program. */
static int count_overrides(struct str text, int most)
{
    int n = 0;
    for (size_t i = 0; i < text.n && n < most; i++) {
        size_t from = i;
        while (i < text.n && is_key_char(text.p[i]))
            i++;
        if (i == from || i >= text.n || text.p[i] != '=') continue;
        if (is_foreign(str_slice(text, from, i))) return 0;
        n += param_find_key(FRAMEWORK_BRIDGE, str_slice(text, from, i), NULL) >= 0;
    }
    return n;
}

/* A dotted path while it is walked; longer ones are no keys of Bridge. */
struct path {
    char text[256];
    size_t n;
};

static bool path_add(struct path *path, struct str key)
{
    bool dot = path->n > 0;
    if (key.n + dot > sizeof path->text - path->n) return false;
    if (dot) path->text[path->n++] = '.';
    if (key.n) memcpy(path->text + path->n, key.p, key.n);
    path->n += key.n;
    return true;
}

/* Known keys of a mapping and of the mappings in it. */
static int count_keys(const struct node *map, struct path *path, int depth)
{
    int n = 0;
    for (size_t i = 0; map->kind == NODE_MAP && depth < 3 && i < map->n; i++) {
        size_t before = path->n;
        if (!path_add(path, map->keys[i]->text)) continue;
        struct str key = {path->text, path->n};
        n += param_find_key(FRAMEWORK_BRIDGE, key, NULL) >= 0;
        n += count_keys(map->items[i], path, depth + 1);
        path->n = before;
    }
    return n;
}

bool bridge_is_dump(const struct node *doc)
{
    const struct node *target = node_get(doc, STR("_target_"));
    return target && str_starts(target->text, STR("megatron.bridge"));
}

struct str bridge_target(const struct node *doc)
{
    const struct node *target = node_at(doc, STR("recipe._target_"));
    bool ours =
        target && target->kind == NODE_SCALAR && str_starts(target->text, STR("megatron.bridge."));
    return ours ? target->text : (struct str){"", 0};
}

/* Fields of a section that no release of Bridge has, and of those that one has the other way. */
static int count_balance(const struct node *doc, const char *section)
{
    const struct node *map = node_get(doc, str_of(section));
    int foreign = 0;
    for (size_t i = 0; map && map->kind == NODE_MAP && i < map->n; i++) {
        struct path path = {.n = 0};
        if (!path_add(&path, str_of(section)) || !path_add(&path, map->keys[i]->text)) continue;
        struct str key = {path.text, path.n};
        bool known = param_find_key(FRAMEWORK_BRIDGE, key, NULL) >= 0 ||
                     profile_setting_find(FRAMEWORK_BRIDGE, key);
        foreign += known ? -1 : 1;
    }
    return foreign;
}

/* Whether most of what the sections hold is no field of theirs: another program has sections of
   these names. */
static bool is_mostly_foreign(const struct node *doc)
{
    return count_balance(doc, "model") + count_balance(doc, "train") + count_balance(doc, "ddp") >
           0;
}

/* Whether most of the document's sections are none of a run's, or are made by NeMo-Run's factories:
   another trainer has some of the same names. */
static bool has_other_sections(const struct node *doc)
{
    enum { MARGIN = 2 };
    int balance = 0;
    for (size_t i = 0; i < doc->n; i++) {
        if (doc->items[i]->kind != NODE_MAP) continue;
        if (node_get(doc->items[i], STR("_factory_"))) return true;
        balance += bridge_is_section(doc->keys[i]->text) ? -1 : 1;
    }
    return balance >= MARGIN;
}

bool bridge_is_arguments(const struct node *recipe)
{
    return recipe && recipe->kind == NODE_MAP && !node_get(recipe, STR("_target_"));
}

static int detect_map(const struct node *doc)
{
    if (bridge_target(doc).n) return 97;
    static const char *const foreign[] = {"moeplan",     "step_scheduler", "distributed", "trainer",
                                          "exp_manager", "hydra",          "defaults"};
    const struct node *recipe = node_get(doc, STR("recipe"));
    if (recipe && !bridge_is_arguments(recipe)) return 0;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (node_get(doc, str_of(foreign[i]))) return 0;
    if (bridge_is_dump(doc)) return 95;
    bool sections =
        node_get(doc, STR("model")) || node_get(doc, STR("train")) || node_get(doc, STR("ddp"));
    bool dotted = doc->n && str_find(doc->keys[0]->text, '.') < doc->keys[0]->text.n;
    if ((!sections && !dotted) || is_mostly_foreign(doc)) return 0;
    if (!recipe && has_other_sections(doc)) return 0;
    struct path path = {.n = 0};
    return count_keys(doc, &path, 0) >= 2 ? 85 : 0;
}

/* Whether the text is a document, which may show commands: its first line is a key's. */
static bool is_document(struct str text)
{
    struct str line = {"", 0};
    while (str_split(&text, '\n', &line) &&
           (!str_trim(line).n || str_starts(line, STR("#")) || str_starts(line, STR("---"))))
        line = (struct str){"", 0};
    return str_ends(str_trim(line), STR(":")) || str_find_str(line, STR(": ")) < line.n;
}

/* A launcher is told a recipe: by its name, or by what a benchmark is chosen by. */
static bool names_recipe(struct str text)
{
    size_t at = str_find_str(text, STR("--recipe"));
    struct str rest = str_slice(text, at, text.n), line;
    bool named =
        at < text.n && str_split(&rest, '\n', &line) && str_find_str(line, STR("_config")) < line.n;
    bool chosen = str_find_str(text, STR("--model_recipe_name")) < text.n ||
                  str_find_str(text, STR("--model_family_name")) < text.n ||
                  (str_find_str(text, STR(" -mr ")) < text.n &&
                   str_find_str(text, STR("setup_experiment.py")) < text.n);
    return (named || chosen) && !is_document(text);
}

int bridge_detect(struct str text, const struct node *doc)
{
    if (doc && doc->kind == NODE_MAP) return detect_map(doc);
    if (doc && doc->kind != NODE_SCALAR) return 0;
    if (bridge_recipe_find(reader_declared(text, "recipe"), RELEASES_ALL))
        return 95; /* its head says so */
    if (names_recipe(text)) return 85;
    int n = count_overrides(text, 3);
    return n >= 3 ? 80 : n >= 1 ? 60 : 0;
}
