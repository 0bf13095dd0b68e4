/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-Bridge: overrides of a recipe (`model.tensor_model_parallel_size=2`, one a line, on a
   command line or in a launch script), the same as YAML, and dumps of a whole configuration. What
   an override does not say, the recipe in Python decides: it is unknown. */
#include "base/buf.h"
#include "base/edit.h"
#include "base/quote.h"
#include "base/version.h"
#include "facts/aside.h"
#include "facts/bridge_key.h"
#include "facts/check.h"
#include "facts/checkout.h"
#include "facts/flags.h"
#include "facts/import_path.h"
#include "facts/launched.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/placeholder.h"
#include "facts/profile.h"
#include "facts/program_kind.h"
#include "facts/reader.h"
#include "facts/repeated.h"
#include "facts/shell.h"
#include "facts/words.h"

/* ---- values ---- */

static struct value scalar_of(struct arena *a, struct str text)
{
    struct node node = {.kind = NODE_SCALAR, .text = text};
    if (str_is(text, "None")) return value_null();
    if (str_find_str(text, STR("${")) < text.n) return value_unknown();
    return node_value(a, &node, SCALAR_CORE);
}

static struct value quoted_of(struct arena *a, struct str text, size_t *at)
{
    struct buf word = buf_new(a);
    bool known = quote_take_hydra(text, at, &word);
    if (!known) *at = text.n;
    return known ? value_string(buf_str(&word)) : value_unknown();
}

static bool is_at(struct str text, size_t at, char c)
{
    return at < text.n && text.p[at] == c;
}

static void skip_gaps(struct str text, size_t *at)
{
    while (is_at(text, *at, ' ') || is_at(text, *at, ','))
        ++*at;
}

/* Brackets and braces around a value, and what ends it: 0, the text alone. */
struct nesting {
    int depth;
    char end;
};
static struct value parse_value(struct arena *a, struct str text, size_t *at, struct nesting in);

/* The items up to the closing bracket; of a map in braces each is behind KEY: and a colon. */
static struct value parse_items(struct arena *a, struct str text, size_t *at, int depth)
{
    bool map = text.p[(*at)++] == '{';
    struct nesting in = {depth + 1, map ? '}' : ']'};
    VEC(struct value) keys = {0}, items = {0};
    for (skip_gaps(text, at); *at < text.n && !is_at(text, *at, in.end); skip_gaps(text, at)) {
        size_t colon = *at + (map ? str_find(str_slice(text, *at, text.n), ':') : 0);
        if (map) *VEC_PUSH(a, &keys) = value_string(str_trim(str_slice(text, *at, colon)));
        *at = map && colon < text.n ? colon + 1 : colon;
        *VEC_PUSH(a, &items) = parse_value(a, text, at, in);
    }
    *at += *at < text.n;
    return map ? value_map_of(a, keys.items, items.items, items.n)
               : value_list_of(a, items.items, items.n);
}

/* A value as Hydra writes it: a scalar, a list in brackets or a map in braces. `at` moves behind
   it. */
static struct value parse_value(struct arena *a, struct str text, size_t *at, struct nesting in)
{
    if (is_at(text, *at, '"') || is_at(text, *at, '\'')) return quoted_of(a, text, at);
    if (in.depth <= 20 && (is_at(text, *at, '[') || is_at(text, *at, '{')))
        return parse_items(a, text, at, in.depth);
    size_t from = *at;
    while (*at < text.n && (!in.end || (!is_at(text, *at, ',') && !is_at(text, *at, in.end))))
        ++*at;
    return scalar_of(a, str_trim(str_slice(text, from, *at)));
}

/* ---- YAML ---- */

struct walk {
    struct facts *f;
    struct buf path;
    int depth;
};

/* The scalar of a document; an interpolation, of OmegaConf's or of somebody's resolver, is said
   elsewhere. */
static struct value document_value(struct arena *a, const struct node *node)
{
    bool elsewhere =
        node->kind == NODE_SCALAR && str_find_str(node->text, STR("${")) < node->text.n;
    return elsewhere ? value_unknown() : node_value(a, node, SCALAR_CORE);
}

/* Whether a section's name is a slip of another's that the document does not have: told where it
   stands, once for all its fields. */
static bool is_slip_of_section(struct walk *w, const struct node *map, size_t i)
{
    struct str name = map->keys[i]->text;
    struct str meant = w->path.n ? STR("") : bridge_section_meant(name);
    if (!meant.n || node_get(map, meant)) return false;
    bool over = facts_bool(w->f, P_over_recipe, false);
    struct diag *d = diag_add(w->f->diags, over ? SEVERITY_ERROR : SEVERITY_WARNING, "unknown-key",
                              node_span(w->f->diags, map->keys[i]),
                              "Megatron-Bridge has no section %.*s", STR_ARG(name));
    diag_suggest(w->f->diags, d, meant);
    return true;
}

static void set_below(struct walk *w, const struct node *map)
{
    if (w->depth > 50) return;
    w->depth++;
    for (size_t i = 0; i < map->n; i++) {
        const struct node *value = map->items[i];
        size_t before = w->path.n;
        if (node_get(map, map->keys[i]->text) != value || str_is(map->keys[i]->text, "_target_"))
            continue;
        if (value->kind == NODE_MAP && is_slip_of_section(w, map, i)) continue;
        if (before) buf_add_char(&w->path, '.');
        buf_add(&w->path, map->keys[i]->text);
        struct str key = str_dup(w->f->arena, buf_str(&w->path));
        int param = param_find_key(FRAMEWORK_BRIDGE, key, NULL);
        bool whole = param >= 0 && param_table[param].type == PARAM_MAP;
        if (value->kind == NODE_MAP && !whole)
            set_below(w, value);
        else
            bridge_set_key(w->f, key, document_value(w->f->arena, value), map->keys[i], value);
        w->path.n = before;
    }
    w->depth--;
}

static void set_environment(struct facts *f, const struct node *vars)
{
    for (size_t i = 0; vars && vars->kind == NODE_MAP && i < vars->n; i++)
        if (vars->items[i]->kind == NODE_SCALAR)
            facts_set_env(f, vars->keys[i]->text, vars->items[i]->text, false);
}

/* Whether the mapping holds sections of Bridge's, at least two, and beside them single values at
   the most: nobody else's sections. */
static bool is_sections(const struct node *doc)
{
    size_t n = 0;
    for (size_t i = 0; i < doc->n; i++) {
        bool section = bridge_is_section(doc->keys[i]->text);
        if (!section && doc->items[i]->kind != NODE_SCALAR) return false;
        n += section && doc->items[i]->kind == NODE_MAP;
    }
    return n >= 2;
}

/* A field beside the sections, which nobody reads there; what ${name} refers to is one's own. */
static void note_outside(struct facts *f, const struct node *doc)
{
    struct str text = source_get(&f->diags->sources, f->source)->text;
    for (size_t i = 0; is_sections(doc) && i < doc->n; i++) {
        struct str name = doc->keys[i]->text;
        struct str referred = arena_printf(f->arena, "${%.*s}", STR_ARG(name));
        struct str meant = bridge_key_elsewhere(f, name);
        bool own = bridge_is_section(name) || str_find_str(text, referred) < text.n;
        if (!meant.n || own) continue;
        struct diag *d =
            diag_add(f->diags, SEVERITY_WARNING, "unknown-key", node_span(f->diags, doc->keys[i]),
                     "Megatron-Bridge reads no %.*s here", STR_ARG(name));
        diag_help(f->diags, d, "it is a field of a section: %.*s", STR_ARG(meant));
    }
}

/* Whatever a _target_ names is imported as the file is loaded. */
static void check_targets(struct facts *f, const struct node *node, int depth)
{
    enum { DEEPEST = 20 };
    for (size_t i = 0; i < node->n && depth < DEEPEST; i++) {
        const struct node *item = node->items[i];
        if (item->kind != NODE_SCALAR) check_targets(f, item, depth + 1);
        bool target = node->kind == NODE_MAP && str_is(node->keys[i]->text, "_target_");
        if (target) import_path_check(f, item);
    }
}

static void read_yaml(struct facts *f, const struct node *doc)
{
    struct walk w = {.f = f, .path = buf_new(f->arena)};
    const struct node *precision = node_get(doc, STR("mixed_precision"));
    f->document = doc;
    set_environment(f, node_get(doc, STR("env_vars")));
    set_below(&w, doc);
    note_outside(f, doc);
    check_targets(f, doc, 0);
    if (precision && precision->kind == NODE_MAP) {
        buf_add(&w.path, STR("mixed_precision"));
        set_below(&w, precision);
    }
    words_check(f, doc);
}

/* ---- overrides ---- */

/* The fields of an object that an override makes: they are keys of its own. */
static void set_entries(struct facts *f, struct str key, struct value v, const struct node *node)
{
    for (size_t i = 0; v.kind == VALUE_MAP && i < v.map->n; i++) {
        struct str field = v.map->keys[i].s;
        struct str path = arena_printf(f->arena, "%.*s.%.*s", STR_ARG(key), STR_ARG(field));
        if (param_find_key(FRAMEWORK_BRIDGE, path, NULL) >= 0)
            bridge_set_key(f, path, v.map->values[i], node, node);
    }
}

/* Whether the key is an environment variable's, which then has the value. */
static bool is_variable(struct facts *f, struct str key, struct value v)
{
    struct str section = STR("env_vars.");
    if (!str_starts(key, section)) return false;
    if (v.kind != VALUE_UNKNOWN)
        facts_set_env(f, str_slice(key, section.n, key.n), value_text(f->arena, v), false);
    return true;
}

static struct node *word_node(struct facts *f, const struct flag_word *word)
{
    struct node *node = flag_word_node(f, word->text, word);
    node->n = 1;
    node->items = ARENA_ARRAY(f->arena, struct node *, 1);
    node->items[0] = ARENA_NEW(f->arena, struct node);
    *node->items[0] =
        (struct node){.source = word->part_source, .from = word->part_from, .to = word->part_to};
    return node;
}

static void apply_word(struct facts *f, const struct flag_word *word)
{
    struct str text = word->text;
    if (str_starts(text, STR("--"))) return; /* an option of the launcher */
    while (text.n && (text.p[0] == '+' || text.p[0] == '-'))
        text = str_slice(text, 1, text.n);
    size_t eq = str_find(text, '='), at = 0;
    if (eq == text.n || eq == 0) return;
    struct node *node = word_node(f, word);
    node->text = text;
    struct str key = str_slice(text, 0, eq);
    bool unknown = word->dynamic || word->maybe;
    struct value v =
        unknown ? value_unknown()
                : parse_value(f->arena, str_slice(text, eq + 1, text.n), &at, (struct nesting){0});
    facts_add_raw(f, key, v);
    if (is_variable(f, key, v)) return;
    bool adds =
        str_starts(word->text, STR("+")) && !bridge_has_key(f, key); /* a field that is new */
    if (!adds) bridge_set_key(f, key, v, node, node);
    set_entries(f, key, v, node);
}

/* The recipe decides what nobody writes. */
static void forget_defaults(struct facts *f)
{
    for (int i = 0; i < (int)param_count; i++)
        if (param_table[i].in[FRAMEWORK_BRIDGE]->known) facts_forget(f, i);
}

/* What no override can say stands in the head. */
static void read_head(struct facts *f, struct str text)
{
    for (int i = 0; i < (int)param_count; i++) {
        size_t at = 0;
        if (!param_table[i].in[FRAMEWORK_BRIDGE]->fixed) continue;
        struct str said = reader_declared(text, param_table[i].name.p);
        struct value v =
            said.n ? parse_value(f->arena, said, &at, (struct nesting){0}) : value_unknown();
        if (said.n && value_check(f, i, &v, (struct span){0}, param_table[i].name))
            facts_set(f, i, v, ORIGIN_FILE, NULL, param_table[i].name);
    }
}

/* What the overrides stand on: the recipe's values become the defaults. */
static void stand_on(struct facts *f, const struct bridge_recipe *r, enum fact_origin origin)
{
    facts_set(f, P_bridge_recipe, value_string(r->name), origin, NULL, STR("recipe"));
    facts_set(f, P_task, value_string(r->task), ORIGIN_DERIVED, NULL, r->name);
    facts_set(f, P_over_recipe, value_bool(true), ORIGIN_FILE, NULL, r->name);
    facts_set(f, P_recipe_seq_length, bridge_recipe_value(r, P_seq_length), ORIGIN_DERIVED, NULL,
              r->name);
    bridge_recipe_apply(f, r);
}

/* A recipe of Bridge's that this release does not have. One of the user's own package is not for us
   to know: only what is near a name, and one that another release has, is worth a word. */
static void unknown_recipe(struct facts *f, const struct flag_word *at, struct str name)
{
    struct node *node = word_node(f, at);
    const struct bridge_recipe *other = bridge_recipe_find(name, RELEASES_ALL);
    struct str near = other ? (struct str){"", 0} : bridge_recipe_nearest(name, facts_release(f));
    if ((!other && !near.n) || checkout_has_recipe(f->arena, f->diags, f->source, name)) return;
    struct diag *d =
        /* of other sizes it may be the user's own */
        diag_add(f->diags, edit_is_slip(name, near, 2) ? SEVERITY_ERROR : SEVERITY_WARNING,
                 "bridge-recipe-unknown", node_span(f->diags, node),
                 "Megatron-Bridge %.*s has no recipe %.*s", STR_ARG(f->version), STR_ARG(name));
    if (near.n) diag_suggest(f->diags, d, near);
    if (other)
        diag_help(f->diags, d, "it is in %.*s: name the release that runs, or a recipe of this one",
                  STR_ARG(profile_span(f->arena, FRAMEWORK_BRIDGE, other->releases)));
}

/* A benchmark's name that makes no recipe, but would with a letter changed: `name` is what the
   launcher makes of the word at `at` and what is chosen beside it. */
static void misspelt_benchmark(struct facts *f, const struct flag_word *at, struct str name)
{
    struct str near = bridge_recipe_nearest(name, RELEASES_ALL);
    struct str beside = str_slice(name, at->text.n < name.n ? at->text.n : name.n, name.n);
    bool same = str_starts(name, at->text) && str_ends(near, beside) && near.n > beside.n;
    if (!same || !edit_is_slip(name, near, 2)) return;
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "bridge-recipe-unknown",
                              node_span(f->diags, word_node(f, at)),
                              "Megatron-Bridge has no benchmark %.*s", STR_ARG(at->text));
    diag_suggest(f->diags, d, str_slice(near, 0, near.n - beside.n));
}

/* Whether one of Bridge's own launchers is called: another's may change what a recipe says. */
static bool calls_launcher(struct str text)
{
    static const char *const names[] = {"setup_experiment.py", "run_recipe.py"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t at = str_find_str(text, str_of(names[i]));
        if (at < text.n && (at == 0 || strchr(" /\"'\n", text.p[at - 1]))) return true;
    }
    return false;
}

/* The recipe where the command line, the head of the text or an option names it, and its model. */
static void find_recipe(struct facts *f, struct str text, const struct flag_words *words,
                        const struct read_options *options)
{
    struct flag_word at;
    bool exact = false;
    const struct setting *given = setting_use(options, STR("bridge_recipe"));
    struct str told = bridge_command_recipe(f->arena, words, &at, &exact);
    struct str name = given ? given->text : told.n ? told : reader_declared(text, "recipe");
    const struct bridge_recipe *r = bridge_recipe_find(name, facts_release(f));
    struct str id = reader_declared(text, "model");
    const struct model_input *m = model_find(f->arena, r && r->model.n ? r->model : id);
    if (m) model_apply(f, m, ORIGIN_CATALOGUE);
    if (told.n && !given && !options->version.n) {
        f->recipe_word = name;
        f->recipe_guessed = !exact && !calls_launcher(text);
    }
    if (r)
        stand_on(f, r, given ? ORIGIN_OPTION : ORIGIN_FILE);
    else if (exact && !given)
        unknown_recipe(f, &at, name);
    else if (told.n && !given && !bridge_recipe_find(name, RELEASES_ALL))
        misspelt_benchmark(f, &at, name);
    if (r && told.n) bridge_recipe_apply_model(f, r);
}

/* A slip in the name of the recipe that a document calls. */
static void misspelt_target(struct facts *f, const struct node *target, struct str name)
{
    struct str near = bridge_recipe_nearest(name, RELEASES_ALL);
    if (!edit_is_slip(name, near, 2)) return;
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "bridge-recipe-unknown", node_span(f->diags, target),
                 "Megatron-Bridge has no recipe %.*s", STR_ARG(name));
    diag_suggest(f->diags, d, near);
}

/* The recipe that a document calls, and its model. */
static void stand_on_target(struct facts *f, const struct node *doc)
{
    struct str name = str_last_part(bridge_target(doc), '.');
    const struct bridge_recipe *r = bridge_recipe_find(name, facts_release(f));
    if (name.n && !r && !bridge_recipe_find(name, RELEASES_ALL))
        misspelt_target(f, node_at(doc, STR("recipe._target_")), name);
    const struct model_input *m = r ? model_find(f->arena, r->model) : NULL;
    if (m) model_apply(f, m, ORIGIN_CATALOGUE);
    if (r) stand_on(f, r, ORIGIN_FILE);
}

/* Whether a $ or a backquote on a line is more than a character in quotes. */
static bool has_expansion(struct arena *a, struct str line)
{
    struct buf unused = buf_new(a);
    bool in_double = false;
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        bool ansi = c == '$' && i + 1 < line.n && line.p[i + 1] == '\'';
        if (c == '"') {
            in_double = !in_double;
        } else if (ansi && !in_double) {
            i += 2;
            if (!quote_take_ansi(line, &i, &unused)) return true;
            i--;
        } else if (c == '\'' && !in_double) {
            i += 1 + str_find(str_slice(line, i + 1, line.n), '\'');
        } else if (c == '$' || c == '`') {
            return true;
        } else if (c == '\\') {
            i++;
        }
    }
    return false;
}

/* Whether a shell has to read the text: it calls a program, or names variables. */
static bool is_script(struct arena *a, struct str text)
{
    struct str line;
    if (str_starts(text, STR("#!"))) return true;
    while (str_split(&text, '\n', &line)) {
        if (str_starts(str_trim(line), STR("#"))) continue;
        if (has_expansion(a, line) || str_find_str(line, STR(".py")) < line.n) return true;
    }
    return false;
}

/* Whether a launcher of Bridge's is called, or somebody's own that is made of one: custom_… has the
   same options. */
static bool has_options(struct str text)
{
    return str_find_str(text, STR("setup_experiment.py")) < text.n ||
           str_find_str(text, STR("run_recipe.py")) < text.n ||
           str_find_str(text, STR("run_script.py")) < text.n;
}

/* The value of a launcher's option: one that it does not take ends the launch, and of two the last
   one wins. */
static void check_option(struct facts *f, const struct flag_words *words, size_t at,
                         struct repeated *before)
{
    const struct flag_word *w = &words->items[at];
    struct str name;
    const struct program_setting *own = bridge_command_setting(w->text, &name);
    if (!own || w->maybe || w->dynamic || own->alone) return;
    bool typed = own->type != PARAM_ANY, equals = str_find(w->text, '=') < w->text.n;
    const struct flag_word *value = equals ? w : at + 1 < words->n ? w + 1 : NULL;
    bool none = !value || (!equals && !value->dynamic && str_starts(value->text, STR("-")));
    if (none && typed) {
        struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "value-missing", flag_word_span(f, w),
                                  "%.*s needs a value", STR_ARG(name));
        d->parameter = name;
    }
    if (none || value->dynamic || value->maybe || own->list) return;
    struct str text = value->text;
    if (equals) text = str_slice(text, str_find(text, '=') + 1, text.n);
    if (typed) program_check_own(f, bridge_launchers(), own, text, flag_word_span(f, value));
    repeated_note(before, name, text, flag_word_span(f, w));
}

/* An option that may be a slip of a launcher's. */
struct slip {
    const struct flag_word *at;
    struct str near;
};

static void report_slip(struct facts *f, const struct slip *x, struct str name)
{
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "unknown-key", flag_word_span(f, x->at),
                              "Bridge's launchers have no option %.*s", STR_ARG(name));
    diag_suggest(f->diags, d, x->near);
}

/* The launchers hand on what they do not know, and the run then stops or goes without it. */
static void check_options(struct facts *f, const struct flag_words *words)
{
    struct slip *slips = ARENA_ARRAY(f->arena, struct slip, words->n);
    struct sought *here = ARENA_ARRAY(f->arena, struct sought, words->n);
    struct repeated before = {.f = f};
    size_t n = 0;
    for (size_t i = 0; i < words->n; i++) {
        const struct flag_word *w = &words->items[i];
        check_option(f, words, i, &before);
        struct str near = program_kind_slip(f->arena, bridge_launchers(), w->text);
        if (w->maybe || !near.n) continue;
        here[n].flag = str_slice(w->text, 0, str_find(w->text, '='));
        slips[n++] = (struct slip){w, near};
    }
    launched_seek(f->arena, f->diags, f->source, f->program.script, here, n);
    for (size_t i = 0; i < n; i++)
        if (!here[i].found) report_slip(f, &slips[i], here[i].flag);
}

/* A blank at the equals sign: Hydra takes the name alone, or the value alone, for a mistake. */
static void check_blanks(struct facts *f, const struct flag_words *words)
{
    for (size_t i = 0; i + 1 < words->n; i++) {
        const struct flag_word *w = &words->items[i], *next = w + 1;
        size_t eq = str_find(w->text, '=');
        bool known = !w->maybe && bridge_has_key(f, str_slice(w->text, 0, eq));
        if (known && eq == w->text.n && str_starts(next->text, STR("="))) flag_word_bare(f, w);
    }
}

static void apply_words(struct facts *f, const struct flag_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        apply_word(f, &words->items[i]);
}

static bool is_said(const struct facts *f, int param)
{
    return fact_is_set(facts_get(f, param));
}

static void forget(struct facts *f, int param)
{
    if (!is_said(f, param) && facts_get(f, param)->value.kind != VALUE_NULL) facts_forget(f, param);
}

/* Where an override gives the pipeline other sizes, run_recipe.py makes a layout anew that the
   recipe knows how to make; since 0.7 it takes the lengths of the first and last stages back that
   do not go with them (sync_model_pipeline_layout). */
static void forget_pipeline(struct facts *f)
{
    const struct bridge_recipe *r = bridge_recipe_of(f);
    bool other = is_said(f, P_pipeline_model_parallel_size) ||
                 is_said(f, P_virtual_pipeline_model_parallel_size);
    int layout = P_pipeline_model_parallel_layout;
    if (!r || !other) return;
    if (r->rebuilds && !is_said(f, layout)) facts_forget(f, layout);
    if (r->rebuilds || !version_between(f->version, STR("0.7"), STR(""))) return;
    forget(f, P_num_layers_in_first_pipeline_stage);
    forget(f, P_num_layers_in_last_pipeline_stage);
}

static void length_is_ignored(struct facts *f)
{
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "bridge-runner-sequence-length",
                              node_span(f->diags, facts_get(f, P_seq_length)->node),
                              "run_recipe.py overwrites model.seq_length by that of the data");
    diag_help(f->diags, d, "override dataset.seq_length: the model follows");
}

/* run_recipe.py gives the model the length of its data, whatever is said of the model's own: where
   the data's is not written, it is the recipe's. */
static void follow_data_length(struct facts *f, const struct flag_words *words)
{
    struct flag_word at;
    bool exact;
    struct str model = STR("model.seq_length"), data = STR("dataset.seq_length");
    if (!facts_get(f, P_seq_length)->node) return;
    if (!bridge_command_recipe(f->arena, words, &at, &exact).n || !exact) return;
    struct value own = facts_raw(f, model), length = facts_raw(f, data);
    bool said = facts_has_raw(f, model), follows = facts_has_raw(f, data);
    if (said && !(follows && value_eq(own, length))) length_is_ignored(f);
    if (follows) {
        facts_set(f, P_seq_length, length, ORIGIN_FILE, facts_get(f, P_seq_length)->node, data);
        facts_add_raw(f, model, length);
    } else if (said) {
        facts_forget(f, P_seq_length);
        facts_set(f, P_recipe_seq_length, value_null(), ORIGIN_DERIVED, NULL, model);
    }
}

/* The GPUs of a benchmark, or those that a recipe is named after where nobody lays it out anew. */
static void set_world(struct facts *f, const struct flag_words *words)
{
    static const int grid[] = {P_tensor_model_parallel_size,
                               P_pipeline_model_parallel_size,
                               P_context_parallel_size,
                               P_expert_model_parallel_size,
                               P_expert_tensor_parallel_size,
                               P_global_batch_size,
                               P_micro_batch_size};
    const struct bridge_recipe *r = bridge_recipe_of(f);
    int64_t gpus = bridge_command_gpus(words);
    if (gpus) facts_set(f, P_world_size, value_int(gpus), ORIGIN_FILE, NULL, STR("--num_gpus"));
    if (!r || !r->gpus || fact_is_known(facts_get(f, P_world_size))) return;
    for (size_t i = 0; i < sizeof grid / sizeof *grid; i++)
        if (is_said(f, grid[i])) return;
    facts_set(f, P_world_size, value_int(r->gpus), ORIGIN_DEFAULT, NULL, r->name);
}

static bool read_overrides(struct facts *f, const struct read_options *options)
{
    struct str text = source_get(&f->diags->sources, f->source)->text;
    struct flag_words words = {0}, told = {0};
    bool ok = is_script(f->arena, text) ? shell_read(f, text, options, &words)
                                        : flags_split(f, text, &words);
    find_recipe(f, text, &words, options);
    read_head(f, text);
    bridge_command_overrides(f->arena, &words, &told);
    if (has_options(text)) check_options(f, &words);
    check_blanks(f, &words);
    apply_words(f, &told);
    apply_words(f, &words);
    for (size_t i = 0; i < words.n; i++)
        words_check_override(f, &words.items[i]);
    follow_data_length(f, &words);
    forget_pipeline(f);
    bridge_recipe_settle(f);
    set_world(f, &words);
    aside_check_words(f, apply_words);
    return ok;
}

static bool read(struct arena *a, struct diags *diags, uint32_t source, const struct node *doc,
                 const struct read_options *options, struct readings *out)
{
    struct facts *f =
        reader_facts(a, diags, source, FRAMEWORK_BRIDGE, STR("bridge"), STR(""), options);
    *VEC_PUSH(a, out) = (struct reading){.facts = f};
    bool map = doc && doc->kind == NODE_MAP;
    if (!map || !bridge_is_dump(doc)) forget_defaults(f);
    bool ok = true;
    if (map) {
        stand_on_target(f, doc);
        read_yaml(f, doc);
    } else {
        ok = read_overrides(f, options);
    }
    placeholder_tell(f);
    return ok;
}

const struct reader reader_bridge = {.name = "bridge", .detect = bridge_detect, .read = read};
