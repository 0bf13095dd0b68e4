/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-Bridge: overrides of a recipe (`model.tensor_model_parallel_size=2`, one a line, on a
   command line or in a launch script), the same as YAML, and dumps of a whole configuration. What
   an override does not say, the recipe in Python decides: it is unknown. */
#include "base/buf.h"
#include "base/quote.h"
#include "base/version.h"
#include "facts/aside.h"
#include "facts/bridge.h"
#include "facts/bridge_key.h"
#include "facts/bridge_read.h"
#include "facts/check.h"
#include "facts/flags.h"
#include "facts/launched.h"
#include "facts/param_ids.h"
#include "facts/placeholder.h"
#include "facts/program_kind.h"
#include "facts/reader.h"
#include "facts/repeated.h"
#include "facts/shell.h"
#include "facts/words.h"

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

struct node *bridge_word_node(struct facts *f, const struct flag_word *word)
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
    size_t eq = str_find(text, '=');
    if (eq == text.n || eq == 0) return;
    struct node *node = bridge_word_node(f, word);
    node->text = text;
    struct str key = str_slice(text, 0, eq);
    bool unknown = word->dynamic || word->maybe;
    struct value v =
        unknown ? value_unknown() : bridge_value(f->arena, str_slice(text, eq + 1, text.n));
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
        if (!param_table[i].in[FRAMEWORK_BRIDGE]->fixed) continue;
        struct str said = reader_declared(text, param_table[i].name.p);
        struct value v = said.n ? bridge_value(f->arena, said) : value_unknown();
        if (said.n && value_check(f, i, &v, (struct span){0}, param_table[i].name))
            facts_set(f, i, v, ORIGIN_FILE, NULL, param_table[i].name);
    }
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
    bridge_stand_on_command(f, text, &words, options);
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
        bridge_stand_on_target(f, doc);
        bridge_read_yaml(f, doc);
    } else {
        ok = read_overrides(f, options);
    }
    placeholder_tell(f);
    return ok;
}

const struct reader reader_bridge = {.name = "bridge", .detect = bridge_detect, .read = read};
