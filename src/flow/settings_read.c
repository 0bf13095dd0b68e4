/* SPDX-License-Identifier: Apache-2.0 */
/* The text of .moeplan.yaml. */
#include "base/edit.h"
#include "base/io.h"
#include "base/num.h"
#include "base/path.h"
#include "base/reach.h"
#include "base/version.h"
#include "facts/check.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "flow/settings.h"

const struct settings_key settings_top_keys[] = {
    {"moeplan", "one", "the version of this form"},
    {"kind", "kind", "Settings"},
    {"defaults", "facts", "facts about all files, where a file does not say itself"},
    {"paths", "paths", "what holds for the files whose path matches; the later entry wins"},
    {"exclude", "texts", "files and folders that are left out, as in .gitignore"},
    {"gitignore", "boolean", "whether what .gitignore names is left out (true)"},
    {"select", "texts", "patterns of rule ids: only their findings are wanted"},
    {"ignore", "ignores", "findings that are not wanted"},
    {"severity", "severities", "the severity of rules, by patterns of their ids"},
    {"fail_on", "severity", "the least severity that makes the exit status 1"},
    {"baseline", "text", "the file of known findings: only new ones are shown"},
    {"rules", "texts", "the version of the rules that is relied on, and rule files or folders"},
    {"parameters", "texts", "files or folders with the parameters of a fork"},
    {"price", "number", "what an hour of one GPU costs"},
    {"goodput", "number", "the part of the time in which a run makes progress, above 0 up to 1"},
    {0}};

const struct settings_key settings_path_keys[] = {
    {"match", "texts", "patterns as in .gitignore; {gpus} and the like take a fact from the path"},
    {"facts", "facts", "facts about these files, where a file does not say itself"},
    {"launcher", "text", "a script whose launch or #SBATCH header says the number of GPUs"},
    {"select", "texts", "as above, in its place"},
    {"ignore", "ignores", "as above, beside it"},
    {"severity", "severities", "as above, over it"},
    {0}};

const struct settings_key settings_fact_keys[] = {
    {"gpus", "integer", "number of GPUs of the run"},
    {"platform", "text", "GPU platform, or a platform file"},
    {"model", "text", "a catalogue name, a config.json or a model file"},
    {"framework", "framework", "where the file does not say"},
    {"version", "text", "of the frameworks that have such a release"},
    {"sequence", "integer", "tokens of a sequence"},
    {"set", "map", "facts that hold whatever the file says; a script's variables too"},
    {"env", "map", "environment variables of the run"},
    {0}};

const struct settings_key settings_ignore_keys[] = {
    {"rule", "text", "a pattern of rule ids"},
    {"parameter", "text", "only findings about this parameter, flag or key"},
    {"reason", "text", "why"},
    {"until", "day", "the last day on which it holds, as 2026-12-31"},
    {0}};

bool settings_is_word(struct str name)
{
    for (const struct settings_key *key = settings_fact_keys; key->name; key++)
        if (str_is(name, key->name)) return strcmp(key->type, "map") != 0;
    return false;
}

struct reader_state {
    struct arena *arena;
    struct diags *diags;
    struct settings *out;
    bool failed;
};

__attribute__((format(printf, 3, 4))) static struct diag *
complain(struct reader_state *r, const struct node *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct diag *d =
        diag_vadd(r->diags, SEVERITY_ERROR, "settings", node_span(r->diags, at), format, args);
    va_end(args);
    r->failed = true;
    return d;
}

/* The word's number in a table that ends with a NULL name; -1, with the nearest, when it is none.
 */
static int key_index(const struct settings_key *keys, struct str word, struct edit_nearest *near)
{
    for (int i = 0; keys[i].name; i++) {
        if (str_is(word, keys[i].name)) return i;
        edit_offer(near, str_of(keys[i].name));
    }
    return -1;
}

static bool is_map(struct reader_state *r, const struct node *node, const char *what)
{
    if (node->kind == NODE_MAP) return true;
    complain(r, node, "%s must be a mapping", what);
    return false;
}

/* Says which keys of a mapping nobody knows. */
static void check_keys(struct reader_state *r, const struct node *map,
                       const struct settings_key *keys)
{
    for (size_t i = 0; i < map->n; i++) {
        struct edit_nearest near = {.word = map->keys[i]->text};
        if (key_index(keys, near.word, &near) >= 0) continue;
        diag_suggest(r->diags,
                     complain(r, map->keys[i], "there is no setting %.*s", STR_ARG(near.word)),
                     near.best);
    }
}

static struct str text_of(struct reader_state *r, const struct node *node, const char *what)
{
    if (node->kind == NODE_SCALAR && node->text.n) return node->text;
    complain(r, node, "%s must be a text", what);
    return STR("");
}

static struct str text_at(struct reader_state *r, const struct node *map, const char *key)
{
    const struct node *node = node_get(map, str_of(key));
    return node ? text_of(r, node, key) : STR("");
}

/* The items of a list, or the one that stands in its place. */
static size_t item_count(const struct node *node)
{
    if (!node) return 0;
    return node->kind == NODE_LIST ? node->n : 1;
}

static const struct node *item_at(const struct node *node, size_t i)
{
    return node->kind == NODE_LIST ? node->items[i] : node;
}

static void read_globs(struct reader_state *r, const struct node *node, struct glob_list *out)
{
    for (size_t i = 0; i < item_count(node); i++) {
        struct str text = text_of(r, item_at(node, i), "a pattern");
        if (text.n) *VEC_PUSH(r->arena, out) = glob_parse(text);
    }
}

/* ---- what becomes of findings ---- */

static void read_select(struct reader_state *r, const struct node *node, struct rule_patterns *out)
{
    for (size_t i = 0; i < item_count(node); i++)
        rule_patterns_add(r->arena, out, text_of(r, item_at(node, i), "select"));
}

static void read_severities(struct reader_state *r, const struct node *node,
                            struct severity_list *out)
{
    static const char *const words[] = {"off", "info", "warning", "error", NULL};
    if (!node || !is_map(r, node, "severity")) return;
    for (size_t i = 0; i < node->n; i++) {
        struct str nearest, word = text_of(r, node->items[i], "a severity");
        int which = edit_index(word, words, &nearest);
        if (which < 0 && word.n)
            complain(r, node->items[i], "a severity is off, info, warning or error, not %.*s",
                     STR_ARG(word));
        *VEC_PUSH(r->arena, out) = (struct rule_severity){.pattern = node->keys[i]->text,
                                                          .severity = which + SEVERITY_OFF,
                                                          .at = node_span(r->diags, node->keys[i])};
    }
}

/* A parameter by its name, or by a spelling of some framework. */
static int param_of(struct str word)
{
    int param = param_find(word);
    for (int k = 0; k < FRAMEWORK_COUNT && param < 0; k++)
        param = param_find_key((enum framework)k, word, NULL);
    return param;
}

/* A native finding may be about a key that is no parameter: the word is then taken as it is. */
static struct str parameter_of(struct str word)
{
    int param = param_of(word);
    return param >= 0 ? param_table[param].name : word;
}

static struct str day_at(struct reader_state *r, const struct node *map)
{
    struct str day = text_at(r, map, "until");
    if (!day.n || day_is_valid(day)) return day;
    complain(r, node_get(map, STR("until")), "until is a day such as 2026-12-31, not %.*s",
             STR_ARG(day));
    return STR("");
}

static void read_ignore(struct reader_state *r, const struct node *node, struct ignore_list *out)
{
    for (size_t i = 0; i < item_count(node); i++) {
        const struct node *item = item_at(node, i);
        struct rule_ignore *ignore = ARENA_NEW(r->arena, struct rule_ignore);
        *VEC_PUSH(r->arena, out) = ignore;
        ignore->at = node_span(r->diags, item);
        if (item->kind != NODE_MAP) {
            ignore->pattern = text_of(r, item, "ignore");
            continue;
        }
        check_keys(r, item, settings_ignore_keys);
        if (!node_get(item, STR("rule"))) complain(r, item, "it names no rule");
        ignore->at = node_span(r->diags, item->keys[0]);
        ignore->pattern = text_at(r, item, "rule");
        ignore->parameter = parameter_of(text_at(r, item, "parameter"));
        ignore->reason = text_at(r, item, "reason");
        ignore->until = day_at(r, item);
    }
}

static void read_policy(struct reader_state *r, const struct node *map, struct settings_group *g)
{
    const struct node *select = node_get(map, STR("select"));
    read_select(r, select, &g->select);
    if (select) g->select_at = node_span(r->diags, select);
    read_severities(r, node_get(map, STR("severity")), &g->severity);
    read_ignore(r, node_get(map, STR("ignore")), &g->ignore);
}

/* ---- facts ---- */

static struct setting setting_of(struct reader_state *r, struct str name, const struct node *value)
{
    struct setting s = {.name = name, .text = value->text, .is_text = value->kind == NODE_SCALAR};
    s.value = node_value(r->arena, value, SCALAR_CORE);
    if (!s.is_text) s.text = value_text(r->arena, s.value);
    return s;
}

static struct stated *state(struct reader_state *r, struct stated_list *out, struct str name,
                            const struct node *value)
{
    struct stated *fact = VEC_PUSH(r->arena, out);
    *fact = (struct stated){
        .name = name, .setting = setting_of(r, name, value), .at = node_span(r->diags, value)};
    fact->text = fact->setting.text;
    return fact;
}

static void check_value(struct reader_state *r, int param, const struct stated *fact)
{
    struct value v;
    size_t before = r->diags->n;
    if (!setting_value(r->arena, r->diags, &fact->setting, param, &v)) r->failed = true;
    for (size_t i = before; i < r->diags->n; i++)
        r->diags->items[i].at = fact->at;
}

/* The file that a name in the settings leads to, in the repository's reach; empty: none. */
static struct str file_of(struct reader_state *r, struct str name)
{
    struct reach reach = reach_of_folder(r->arena, r->out->folder);
    struct str path, real;
    reach.folder = r->out->folder;
    return reach_find(r->arena, &reach, name, &path, &real) == REACH_FOUND ? real : STR("");
}

static bool is_platform(struct reader_state *r, struct str name)
{
    struct platform_cache cache = {.arena = r->arena};
    struct diags quiet;
    diags_init(&quiet, r->arena);
    return platform_load(&cache, &quiet, name, (struct span){0});
}

static bool is_model(struct reader_state *r, struct str name)
{
    struct diags quiet;
    diags_init(&quiet, r->arena);
    return model_load(r->arena, &quiet, name);
}

/* A name of the catalogue, or a file, whose path then becomes the real one. */
static void check_named(struct reader_state *r, const struct node *node, struct stated *fact,
                        bool (*known)(struct reader_state *r, struct str name))
{
    struct str file = file_of(r, fact->text);
    if (file.n && !io_is_folder(file.p)) fact->text = file;
    if (!known(r, fact->text))
        complain(r, node, "there is no %.*s called %.*s, or it cannot be used", STR_ARG(fact->name),
                 STR_ARG(fact->text));
}

static void check_framework(struct reader_state *r, const struct node *node, struct str word)
{
    enum framework framework;
    if (framework_from_name(word, &framework)) return;
    struct str near = edit_near(r->arena, word, FRAMEWORK_WORDS);
    complain(r, node, "framework is megatron, bridge or automodel, not %.*s%.*s", STR_ARG(word),
             STR_ARG(near));
}

static void check_version(struct reader_state *r, const struct node *node, struct str word)
{
    for (int k = 0; k < FRAMEWORK_COUNT; k++)
        if (profile_find((enum framework)k, word)) return;
    complain(r, node, "no framework has a version %.*s that is known; moeplan version lists them",
             STR_ARG(word));
}

/* Any key that is none of the words is a parameter. */
static void read_parameter(struct reader_state *r, const struct node *key, const struct node *value,
                           struct stated_list *out)
{
    int param = param_of(key->text);
    if (param >= 0) {
        check_value(r, param, state(r, out, key->text, value));
        return;
    }
    struct edit_nearest near = {.word = key->text};
    key_index(settings_fact_keys, key->text, &near);
    if (!near.best.n) near.best = param_nearest(key->text);
    struct diag *d = complain(r, key, "no fact is called %.*s", STR_ARG(key->text));
    diag_suggest(r->diags, d, near.best);
    if (!near.best.n) diag_help(r->diags, d, "a script's variable stands under set:");
}

static void read_entries(struct reader_state *r, const struct node *map, const char *what,
                         struct stated_list *out)
{
    if (!is_map(r, map, what)) return;
    for (size_t i = 0; i < map->n; i++)
        state(r, out, map->keys[i]->text, map->items[i]);
}

static void read_fact(struct reader_state *r, const struct node *key, const struct node *value,
                      struct settings_group *g)
{
    struct str name = key->text;
    if (str_is(name, "set")) {
        read_entries(r, value, "set", &g->set);
    } else if (str_is(name, "env")) {
        read_entries(r, value, "env", &g->env);
    } else if (!settings_is_word(name)) {
        read_parameter(r, key, value, &g->facts);
    } else if (value->kind != NODE_SCALAR || !value->text.n) {
        complain(r, value, "%.*s must be one value", STR_ARG(name));
    } else {
        struct stated *fact = state(r, &g->facts, name, value);
        if (str_is(name, "gpus")) check_value(r, P_world_size, fact);
        if (str_is(name, "sequence")) check_value(r, P_seq_length, fact);
        if (str_is(name, "platform")) check_named(r, value, fact, is_platform);
        if (str_is(name, "model")) check_named(r, value, fact, is_model);
        if (str_is(name, "framework")) check_framework(r, value, fact->text);
        if (str_is(name, "version")) check_version(r, value, fact->text);
    }
}

static void read_facts(struct reader_state *r, const struct node *map, const char *what,
                       struct settings_group *g)
{
    if (!map || !is_map(r, map, what)) return;
    for (size_t i = 0; i < map->n; i++)
        read_fact(r, map->keys[i], map->items[i], g);
}

/* ---- paths ---- */

/* Which facts a pattern takes from a path. */
static void check_captures(struct reader_state *r, const struct node *node)
{
    struct str name;
    for (size_t k = 0; k < item_count(node); k++) {
        const struct node *item = item_at(node, k);
        for (size_t i = 0; glob_name(item->text, i, &name); i++) {
            if (!settings_is_word(name) && param_of(name) < 0)
                diag_suggest(r->diags, complain(r, item, "no fact is called %.*s", STR_ARG(name)),
                             param_nearest(name));
        }
    }
}

static void read_path(struct reader_state *r, const struct node *map, struct settings_group *g)
{
    if (!is_map(r, map, "an entry of paths")) return;
    const struct node *match = node_get(map, STR("match"));
    check_keys(r, map, settings_path_keys);
    if (!match) complain(r, map, "it has no match: which files it is about");
    g->at = node_span(r->diags, map->keys[0]);
    read_globs(r, match, &g->match);
    if (match) check_captures(r, match);
    read_facts(r, node_get(map, STR("facts")), "facts", g);
    g->launcher = text_at(r, map, "launcher");
    read_policy(r, map, g);
}

static void read_paths(struct reader_state *r, const struct node *node)
{
    if (!node) return;
    if (node->kind != NODE_LIST) {
        complain(r, node, "paths must be a list");
        return;
    }
    r->out->paths = ARENA_ARRAY(r->arena, struct settings_group, node->n + 1);
    for (r->out->n_paths = 0; r->out->n_paths < node->n; r->out->n_paths++)
        read_path(r, node->items[r->out->n_paths], &r->out->paths[r->out->n_paths]);
}

/* ---- the rest ---- */

static bool is_version(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '.' && (text.p[i] < '0' || text.p[i] > '9')) return false;
    return text.n > 0;
}

static void read_pin(struct reader_state *r, const struct node *node)
{
    if (version_cmp(node->text, STR(MOEPLAN_VERSION)) > 0)
        complain(r, node, "this is moeplan %s: it has no rules of version %.*s", MOEPLAN_VERSION,
                 STR_ARG(node->text));
    r->out->pin = node->text;
}

static void read_places(struct reader_state *r, const struct node *node, struct path_list *out,
                        bool pin)
{
    for (size_t i = 0; i < item_count(node); i++) {
        const struct node *item = item_at(node, i);
        struct str name = text_of(r, item, "a file or folder");
        if (pin && is_version(name)) {
            read_pin(r, item);
            continue;
        }
        struct str real = name.n ? file_of(r, name) : STR("");
        if (real.n)
            *VEC_PUSH(r->arena, out) = real;
        else if (name.n)
            complain(r, item, "there is nothing called %.*s in this repository", STR_ARG(name));
    }
}

static void read_number(struct reader_state *r, const struct node *node, double most, double *out)
{
    if (!node) return;
    if (node->kind != NODE_SCALAR || !num_parse_double(node->text, out) || *out <= 0 || *out > most)
        complain(r, node, most > 1 ? "must be a number above 0" : "must be above 0 and at most 1");
}

static void read_switch(struct reader_state *r, const struct node *node, bool *out)
{
    if (!node) return;
    *out = str_is(node->text, "true");
    if (!*out && !str_is(node->text, "false")) complain(r, node, "must be true or false");
}

static void read_fail_on(struct reader_state *r, const struct node *node)
{
    if (!node) return;
    r->out->fail_on = text_of(r, node, "fail_on");
    if (!str_is_any(r->out->fail_on, "error|warning|info"))
        complain(r, node, "fail_on is error, warning or info");
}

static void read_all(struct reader_state *r, const struct node *root)
{
    struct settings *s = r->out;
    check_keys(r, root, settings_top_keys);
    read_facts(r, node_get(root, STR("defaults")), "defaults", &s->all);
    read_policy(r, root, &s->all);
    read_paths(r, node_get(root, STR("paths")));
    read_globs(r, node_get(root, STR("exclude")), &s->exclude);
    read_switch(r, node_get(root, STR("gitignore")), &s->gitignore);
    read_fail_on(r, node_get(root, STR("fail_on")));
    struct str baseline = text_at(r, root, "baseline");
    if (baseline.n) s->baseline = path_join(r->arena, s->folder, baseline);
    read_places(r, node_get(root, STR("rules")), &s->rules, true);
    read_places(r, node_get(root, STR("parameters")), &s->parameters, false);
    read_number(r, node_get(root, STR("price")), 1e9, &s->price);
    read_number(r, node_get(root, STR("goodput")), 1, &s->goodput);
}

/* No finding of a settings file is a warning: what it says twice is not what somebody meant. */
static bool is_clean(struct diags *diags, size_t from)
{
    for (size_t i = from; i < diags->n; i++)
        diags->items[i].severity = SEVERITY_ERROR;
    return diags->n == from;
}

struct settings *settings_read(struct arena *a, struct diags *diags, uint32_t source,
                               struct str folder)
{
    struct settings *s = ARENA_NEW(a, struct settings);
    struct reader_state r = {.arena = a, .diags = diags, .out = s};
    struct node_list docs = {0};
    size_t before = diags->n;
    *s = (struct settings){
        .path = source_get(&diags->sources, source)->path, .folder = folder, .gitignore = true};
    bool parsed = doc_load_yaml(a, diags, source, &docs);
    if (!is_clean(diags, before) || !parsed) return NULL;
    if (!docs.n || (docs.items[0]->kind == NODE_SCALAR && !docs.items[0]->text.n)) return s;
    if (docs.n > 1) complain(&r, docs.items[1], "settings are one document");
    if (is_map(&r, docs.items[0], "settings")) read_all(&r, docs.items[0]);
    return r.failed ? NULL : s;
}
