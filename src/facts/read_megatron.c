/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM: flags in text, launch scripts, and YAML files of arguments: MODEL_ARGS with flags as
   keys, as the frameworks' own test suites write them, or plain `key: value`. */
#include "base/buf.h"
#include "base/edit.h"
#include "base/num.h"
#include "facts/aside.h"
#include "facts/check.h"
#include "facts/flags.h"
#include "facts/megatron.h"
#include "facts/placeholder.h"
#include "facts/program_kind.h"
#include "facts/reader.h"
#include "facts/shell.h"
#include "facts/unread.h"
#include "facts/unsaid.h"
#include "facts/words.h"

/* ---- recognising ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The word of flag letters at text[at]. */
static struct str flag_at(struct str text, size_t at)
{
    size_t to = at;
    while (to < text.n && str_is_name_char(text.p[to]))
        to++;
    return str_slice(text, at, to);
}

/* How many different places of the text name a flag of Megatron-LM, at most `most`, and how many
   any; keys of a mapping do not count. */
static int count_flags(struct str text, int most, int *all)
{
    int n = 0;
    *all = 0;
    for (size_t i = 0; i + 2 < text.n && n < most; i++) {
        if (text.p[i] != '-' || text.p[i + 1] != '-' || (i > 0 && str_is_name_char(text.p[i - 1])))
            continue;
        struct str flag = flag_at(text, i);
        i += flag.n;
        bool key = i < text.n && text.p[i] == ':';
        n += !key && param_find_key(FRAMEWORK_MEGATRON, flag, NULL) >= 0;
        *all += !key;
    }
    return n;
}

/* The text without the blanks and comments it begins with. */
static struct str first_words(struct str text)
{
    struct str line;
    for (struct str rest = text; str_split(&rest, '\n', &line);) {
        struct str words = str_trim(line);
        if (words.n && words.p[0] != '#')
            return (struct str){words.p, (size_t)(text.p + text.n - words.p)};
    }
    return (struct str){"", 0};
}

static bool begins_with_flag(struct str text)
{
    struct str words = first_words(text), flag = flag_at(words, 0);
    if (!str_starts(flag, STR("--")) || flag.n < 3 || flag.p[2] == '-') return false;
    return flag.n == words.n || words.p[flag.n] != ':';
}

static bool looks_like_shell(struct str text)
{
    return str_starts(text, STR("#!")) || str_find_str(text, STR("\\\n")) < text.n ||
           str_find_str(text, STR("ARGS=")) < text.n || str_find_str(text, STR("=(\n")) < text.n ||
           str_find_str(text, STR(".py")) < text.n;
}

/* Whether Megatron-LM's training program is named, and a file that may have most of its flags. */
static bool sources_flags(struct str text)
{
    bool program = str_find_str(text, STR("pretrain_gpt.py")) < text.n ||
                   str_find_str(text, STR("pretrain_mamba.py")) < text.n;
    return program && (str_find_str(text, STR("\nsource ")) < text.n ||
                       str_find_str(text, STR("\n. ")) < text.n);
}

static int detect_text(struct str text)
{
    static const int sure[] = {0, 30, 30, 70}; /* by flags: one or two may be another program's */
    enum { ENOUGH = 6 };
    int all, flags = 0;
    if (begins_with_flag(text)) { /* any trainer has its --lr and --seed */
        flags = count_flags(text, ENOUGH, &all);
        return flags && 3 * flags >= all ? 90 : 0;
    }
    if (looks_like_shell(text)) flags = count_flags(text, 3, &all);
    return flags && sources_flags(text) ? sure[3] : sure[flags];
}

/* The parameter whose destination a key of a `key: value` file is, with dashes or underscores; -1:
   none. */
static int param_of_key(struct str key)
{
    char name[128];
    if (key.n == 0 || key.n >= sizeof name) return -1;
    for (size_t i = 0; i < key.n; i++)
        name[i] = key.p[i] == '-' ? '_' : key.p[i];
    int param = param_find((struct str){name, key.n});
    return param >= 0 && param_table[param].in[FRAMEWORK_MEGATRON]->n_flags ? param : -1;
}

bool megatron_has(struct str key)
{
    return param_of_key(key) >= 0;
}

bool megatron_has_size(struct str key)
{
    int param = param_of_key(key);
    return param >= 0 && param_table[param].type != PARAM_STRING;
}

/* NeMo's tests write MODEL_ARGS too, of dotted keys that are not Megatron's. */
static bool holds_flags(const struct node *args)
{
    for (size_t i = 0; i < args->n && args->kind == NODE_MAP; i++)
        if (str_starts(args->keys[i]->text, STR("--"))) return true;
    return !args->n;
}

/* Megatron-LM's own recipes (examples/moe_recipes) say what they run in, and hold the flags without
 * dashes. */
static bool is_recipe(const struct node *doc)
{
    const struct node *args = node_get(doc, STR("ARGS"));
    bool around = node_get(doc, STR("DEPENDENCIES")) || node_get(doc, STR("ENV_VARS"));
    return args && args->kind == NODE_MAP && around;
}

/* Flags with their dashes as keys. */
static bool names_flags(const struct node *doc)
{
    return doc->n && str_starts(doc->keys[0]->text, STR("--"));
}

/* The sections of a file for --yaml-cfg, which are read as objects; beside them stand arguments. A
   key that nobody reads does no harm there. */
static const char *const config_sections[] = {"language_model", "model_parallel"};

static bool is_config(const struct node *doc)
{
    for (size_t i = 0; i < sizeof config_sections / sizeof *config_sections; i++) {
        const struct node *section = node_get(doc, str_of(config_sections[i]));
        if (!section || section->kind != NODE_MAP) return false;
    }
    return node_at(doc, STR("language_model.num_layers"));
}

/* A mapping of model sizes alone is a model, not a launch. */
static int detect_map(const struct node *doc)
{
    size_t flags = 0, names = 0, sizes = 0, numbers = 0;
    if (node_get(doc, STR("moeplan")) || node_get(doc, STR("recipe"))) return 0;
    if (node_get(doc, STR("_target_"))) return 0; /* a class of some program's own */
    const struct node *args = node_get(doc, STR("MODEL_ARGS"));
    if (args) return holds_flags(args) ? 95 : 0;
    if (is_recipe(doc)) return 95;
    if (is_config(doc)) return 80;
    for (size_t i = 0; i < doc->n; i++) {
        struct str key = doc->keys[i]->text;
        flags += param_find_key(FRAMEWORK_MEGATRON, key, NULL) >= 0;
        int param = param_of_key(key);
        names += param >= 0;
        sizes += param >= 0 && param_table[param].scope == SCOPE_MODEL;
        numbers += param >= 0 && (param_type_is_number(param_table[param].type) ||
                                  param_table[param].type == PARAM_BOOL);
    }
    if (flags >= 2) return 90;
    if (!numbers) return 0; /* paths alone: where some program finds its data */
    return names >= 3 && names > sizes && 2 * names > doc->n ? 60 : 0;
}

static int detect(struct str text, const struct node *doc)
{
    if (doc && doc->kind == NODE_MAP) return detect_map(doc);
    return doc && doc->kind != NODE_SCALAR ? 0 : detect_text(text);
}

/* ---- YAML files of arguments ---- */

struct yaml {
    struct facts *f;
    const struct read_options *options;
    struct flag_words values; /* of the key being read */
    bool whole;               /* the mapping holds all arguments: null is none */
};

/* The launchers hand values to a shell, some twice: a backslash, or two, keep a character as it is.
 */
static struct str without_escapes(struct arena *a, struct str text)
{
    if (str_find(text, '\\') == text.n) return text;
    struct buf out = buf_new(a);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '\\') buf_add_char(&out, text.p[i]);
    return buf_str(&out);
}

/* A word from a scalar, its ${NAME} and $NAME replaced by what --set says; what nobody says is
   dynamic. */
static struct flag_word word_of(struct yaml *y, const struct node *node, struct str text)
{
    text = without_escapes(y->f->arena, text);
    struct flag_word w = {.text = text,
                          .known = text.n,
                          .line = node->line,
                          .from = node->from,
                          .to = node->to,
                          .node = node};
    if (str_find(text, '$') == text.n) return w;
    shell_expand(y->f, text, y->options, &w);
    return w;
}

/* Words between blanks; a list may be written as text, "[attn mamba]" or "[attn, mamba]". */
static void add_split(struct yaml *y, const struct node *node)
{
    struct str text = str_trim(node->text);
    bool list = text.n >= 2 && text.p[0] == '[' && text.p[text.n - 1] == ']';
    if (list) text = str_slice(text, 1, text.n - 1);
    for (size_t at = 0, from = 0; at <= text.n; at++) {
        bool between = at == text.n || is_blank(text.p[at]) || (list && text.p[at] == ',');
        if (!between) continue;
        if (at > from)
            *VEC_PUSH(y->f->arena, &y->values) = word_of(y, node, str_slice(text, from, at));
        from = at + 1;
    }
}

/* A list's items and the text of a flag that takes several values are split at blanks, as the
   launchers' shells do. */
static void collect_values(struct yaml *y, const struct node *node, const struct param_flag *flag)
{
    y->values.n = 0;
    if (node->kind == NODE_LIST) {
        for (size_t i = 0; i < node->n; i++)
            if (node->items[i]->kind == NODE_SCALAR) add_split(y, node->items[i]);
    } else if (node->kind == NODE_SCALAR && flag && flag->nargs_max != 1) {
        add_split(y, node);
    } else if (node->kind == NODE_SCALAR) {
        *VEC_PUSH(y->f->arena, &y->values) = word_of(y, node, node->text);
    }
}

/* Reports a list of numbers where one is taken: the launchers hand it on with its brackets, or
   refuse to join it with the flag, and who reads it himself counts with a number. */
static bool is_list_for_number(struct facts *f, struct str name, enum param_type type,
                               const struct param_flag *flag, const struct node *value)
{
    if (value->kind != NODE_LIST || flag->nargs_max != 1 || !param_type_is_number(type))
        return false;
    diag_add(f->diags, SEVERITY_WARNING, "value-type", node_span(f->diags, value),
             "%.*s takes %s, not a list", STR_ARG(name), param_type_words(type));
    return true;
}

/* A flag as a key: true stands for the flag alone, false for its absence. */
static void apply_flag(struct yaml *y, struct str name, const struct node *key,
                       const struct node *value)
{
    const struct param_flag *flag = NULL;
    struct flag_word word = {.text = name,
                             .known = name.n,
                             .line = key->line,
                             .from = key->from,
                             .to = key->to,
                             .node = key};
    if (value->kind == NODE_SCALAR && str_eq_nocase(value->text, STR("false"))) return;
    int param = param_find_key(FRAMEWORK_MEGATRON, name, &flag);
    const struct param_spelling *s = param >= 0 ? param_table[param].in[FRAMEWORK_MEGATRON] : NULL;
    if (flag && s && is_list_for_number(y->f, name, s->type, flag, value)) return;
    collect_values(y, value, flag);
    bool alone = y->values.n == 1 && str_eq_nocase(y->values.items[0].text, STR("true"));
    bool empty = y->values.n == 1 && y->values.items[0].text.n == 0 && !value->quoted;
    flags_apply_found(y->f, word, param, flag, y->values.items, alone || empty ? 0 : y->values.n);
}

/* The arguments of one section: flags as keys, or the words themselves. Keys without dashes are
   another program's. */
static void apply_section(struct yaml *y, const struct node *section)
{
    for (size_t i = 0; section && section->kind == NODE_MAP && i < section->n; i++) {
        struct str key = section->keys[i]->text;
        bool flag = str_starts(key, STR("--")) && !node_is_shadowed(section, i);
        if (flag) apply_flag(y, key, section->keys[i], section->items[i]);
    }
    if (!section || section->kind == NODE_MAP) return;
    y->values.n = 0;
    if (section->kind == NODE_SCALAR) add_split(y, section);
    for (size_t i = 0; section->kind == NODE_LIST && i < section->n; i++)
        if (section->items[i]->kind == NODE_SCALAR) add_split(y, section->items[i]);
    flags_apply(y->f, &y->values);
}

static void unknown_key(struct facts *f, const struct node *key)
{
    *VEC_PUSH(f->arena, &f->program.strangers) =
        (struct stranger){.at = node_span(f->diags, key), .name = key->text, .gone = STR("")};
}

/* Whether a name has dashes, and is no flag. */
static bool has_dash(struct str key)
{
    return !str_starts(key, STR("-")) && str_find(key, '-') < key.n;
}

/* A name with dashes in a program's own document, where only underscores are read. */
static bool is_dashed(const struct facts *f, struct str key)
{
    const struct program_kind *kind = f->program.kind;
    if (!kind || !f->document || kind->makes_flags || !has_dash(key)) return false;
    const struct program_setting *own = program_kind_own(kind, key);
    return !own || !str_eq(own->name, key);
}

static bool bool_of(struct str text, bool *out)
{
    *out = str_eq_nocase(text, STR("true"));
    return *out || str_eq_nocase(text, STR("false"));
}

static bool is_null(const struct node *node)
{
    bool word =
        node->text.n == 0 || str_is(node->text, "~") || str_eq_nocase(node->text, STR("null"));
    return node->kind == NODE_SCALAR && !node->quoted && word;
}

/* Behind a switch, a number that is no truth. */
static bool is_odd_truth(const struct node *value)
{
    int64_t n;
    return value->kind == NODE_SCALAR && num_parse_int(value->text, &n) && n >> 1;
}

/* A destination as a key: its value as it is, booleans in words. Any other key is a flag without
   its dashes. False when the key is neither. */
static bool apply_name(struct yaml *y, const struct node *key, const struct node *value)
{
    int param = param_of_key(key->text);
    const struct param_spelling *s = param >= 0 ? param_table[param].in[FRAMEWORK_MEGATRON] : NULL;
    bool on = false;
    if (s && s->type == PARAM_BOOL && value->kind == NODE_SCALAR && bool_of(value->text, &on)) {
        facts_set(y->f, param, value_bool(on), ORIGIN_FILE, value, key->text);
        return true;
    }
    if (s && s->type == PARAM_BOOL && is_odd_truth(value)) {
        diag_add(y->f->diags, SEVERITY_WARNING, "value-type", node_span(y->f->diags, value),
                 "%.*s takes true or false, not %.*s", STR_ARG(key->text), STR_ARG(value->text));
        return true;
    }
    if (s && is_list_for_number(y->f, key->text, s->type, &s->flags[0], value)) return true;
    struct str name = s ? s->flags[0].flag : flag_of_destination(y->f->arena, key->text);
    bool known = param_find_key(FRAMEWORK_MEGATRON, name, NULL) >= 0;
    bool none = is_null(value) || (value->kind == NODE_LIST && !value->n);
    if (known && !none) apply_flag(y, name, key, value);
    return known;
}

/* Whether nearly all destinations of a mapping are written with underscores, as Python has them:
   then nobody reads one with dashes. A short mapping of both may be read with both. */
static bool has_underscores(const struct node *doc)
{
    size_t dashed = 0, all = 0;
    for (size_t i = 0; i < doc->n; i++) {
        struct str key = doc->keys[i]->text;
        bool dash = str_find(key, '-') < key.n, parts = dash || str_find(key, '_') < key.n;
        bool counts = parts && !str_starts(key, STR("-")) && param_of_key(key) >= 0;
        all += counts;
        dashed += counts && dash;
    }
    return all > 4 * dashed;
}

/* Unknown keys are findings where the rest shows that the mapping holds arguments. */
static void apply_mapping(struct yaml *y, const struct node *doc, bool strict)
{
    bool underscores = doc->n && has_underscores(doc);
    for (size_t i = 0; i < doc->n; i++) {
        struct str key = doc->keys[i]->text;
        if (node_get(doc, key) != doc->items[i]) continue;
        bool dashed = underscores && has_dash(key);
        if (str_starts(key, STR("--")))
            apply_flag(y, key, doc->keys[i], doc->items[i]);
        else if (dashed && param_of_key(key) >= 0)
            unknown_key(y->f, doc->keys[i]);
        else if (!apply_name(y, doc->keys[i], doc->items[i]) && strict)
            unknown_key(y->f, doc->keys[i]);
    }
}

/* What a destination takes where it stands outside of the program's sections: a number or a truth;
   else NULL. */
static const struct program_setting *setting_of_param(struct arena *a, struct str key, int param)
{
    if (param < 0) return NULL;
    const struct param_spelling *s = param_table[param].in[FRAMEWORK_MEGATRON];
    if (!param_type_is_number(s->type) && s->type != PARAM_BOOL) return NULL;
    struct program_setting *own = ARENA_NEW(a, struct program_setting);
    *own = (struct program_setting){.name = key, .type = s->type};
    return own;
}

static void check_value(struct facts *f, const struct program_setting *own,
                        const struct node *value)
{
    const struct program_kind *kind = f->program.kind;
    bool told = own && own->type != PARAM_ANY, number = own && param_type_is_number(own->type);
    bool flag = own && str_starts(own->name, STR("-")); /* in YAML several values are a list */
    bool list = value->kind == NODE_LIST && !flag;
    if (value->kind == NODE_SCALAR && told && (flag || !own->list)) {
        program_check_own(f, kind, own, value->text, node_span(f->diags, value));
    } else if (value->kind == NODE_SCALAR && !value->quoted &&
               word_is_truth_slip(f->arena, value->text)) {
        struct diag *d =
            diag_add(f->diags, SEVERITY_WARNING, "value-type", node_span(f->diags, value),
                     "'%.*s' is neither true nor false", STR_ARG(value->text));
        diag_choices(f->diags, d, value->text, truths, N_TRUTHS);
    } else if (list && number && !own->list) {
        diag_add(f->diags, SEVERITY_WARNING, "value-type", node_span(f->diags, value),
                 "%.*s takes %s, not a list", STR_ARG(own->name), param_type_words(own->type));
    }
}

/* Nothing at all behind a key that takes a number: who means none writes null. */
static void check_empty(struct facts *f, const struct node *key, const struct node *value,
                        const struct program_setting *own)
{
    bool number = own && param_type_is_number(own->type) && !own->list;
    if (!number || value->kind != NODE_SCALAR || value->quoted || value->text.n) return;
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "value-missing", node_span(f->diags, key),
                              "%.*s has no value", STR_ARG(key->text));
    diag_help(f->diags, d, "write %s, or null where none is meant", param_type_words(own->type));
}

static bool is_key(const struct facts *f, struct str name)
{
    return program_kind_own(f->program.kind, name) || param_of_key(name) >= 0;
}

/* A mapping that lost the colon behind its only key: "optimizer:" and below it "lr 0.1", which is
   one text. */
static void check_colon(struct facts *f, const struct node *key, const struct node *value)
{
    struct str text = source_get(&f->diags->sources, value->source)->text, word, rest = value->text;
    bool plain = value->kind == NODE_SCALAR && !value->quoted && key->source == value->source &&
                 key->to <= value->from && value->from <= text.n;
    if (!plain || str_find(rest, ' ') == rest.n) return;
    struct str between = str_slice(text, key->to, value->from);
    str_split(&rest, ' ', &word);
    bool prose = str_find(rest, ' ') < rest.n && !strchr("\"'[{", rest.p[0]);
    if (prose || str_find(between, '\n') == between.n || !is_key(f, word)) return;
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "value-type", node_span(f->diags, value),
                              "%.*s is one text: the colon behind %.*s is missing",
                              STR_ARG(key->text), STR_ARG(word));
    diag_help(f->diags, d, "write %.*s: %.*s", STR_ARG(word), STR_ARG(str_trim(rest)));
}

/* A key that Megatron-LM does not have: the program's own, with its value where that is known, or
   nobody's. Outside of the program's sections a destination of Megatron-LM's is read by somebody
   else, who takes the same. */
static void note_key(struct facts *f, const struct node *key, const struct node *value)
{
    const struct program_kind *kind = f->program.kind;
    if (kind && kind->n_presets && str_eq(key->text, kind->inherits)) return;
    const struct program_setting *own = kind ? program_kind_own(kind, key->text) : NULL;
    int param = param_of_key(key->text), named = param_find(key->text);
    bool described = own && own->type != PARAM_ANY;
    const struct program_setting *taken =
        described || !kind ? own : setting_of_param(f->arena, key->text, param);
    if (!taken) taken = own;
    if (kind && value && is_null(value))
        check_empty(f, key, value, taken);
    else if (kind && value && value->kind != NODE_MAP)
        check_value(f, taken, value);
    if (kind && value) check_colon(f, key, value);
    bool aside = str_starts(key->text, STR("_")); /* a name of the file's own, for anchors */
    /* a field of Megatron-core's, or a symbol of ours */
    bool core = named >= 0 && str_eq(param_table[named].name, key->text);
    bool dashed = (own || param >= 0) && is_dashed(f, key->text);
    if (dashed || (!own && !aside && !core && param < 0)) unknown_key(f, key);
}

void megatron_note_key(struct facts *f, const struct node *key, const struct node *value)
{
    note_key(f, key, value);
}

/* Null, of an argument that is none where nobody gives it. */
static void apply_none(struct facts *f, const struct node *key, const struct node *value)
{
    int param = param_of_key(key->text);
    if (param >= 0 && facts_get(f, param)->origin == ORIGIN_DEFAULT &&
        facts_get(f, param)->value.kind == VALUE_NULL)
        facts_set(f, param, value_null(), ORIGIN_FILE, value, key->text);
}

static void apply_leaves(struct yaml *y, const struct node *map, int depth)
{
    enum { DEEPEST = 20 };
    for (size_t i = 0; i < map->n && depth < DEEPEST; i++) {
        const struct node *key = map->keys[i], *value = map->items[i];
        bool leaf = value->kind != NODE_MAP;
        if (node_get(map, key->text) != value) continue;
        if (!leaf) apply_leaves(y, value, depth + 1);
        if (leaf && param_of_key(key->text) >= 0 && is_dashed(y->f, key->text)) {
            unknown_key(y->f, key);
            continue;
        }
        if (leaf && y->whole && is_null(value)) apply_none(y->f, key, value);
        if (leaf && !is_null(value) && apply_name(y, key, value)) continue;
        note_key(y->f, key, value);
        if (leaf && !is_null(value)) /* rules ask whether a program's own is there */
            facts_add_raw(y->f, key->text, value_string(value->text));
    }
}

void megatron_read_section(struct facts *f, const struct node *section, bool whole,
                           const struct read_options *options)
{
    struct yaml y = {.f = f, .options = options, .whole = whole};
    if (section && section->kind == NODE_MAP) apply_leaves(&y, section, 0);
}

static void set_environment(struct yaml *y, const struct node *vars)
{
    for (size_t i = 0; vars && vars->kind == NODE_MAP && i < vars->n; i++) {
        const struct node *value = vars->items[i];
        if (value->kind != NODE_SCALAR) continue;
        struct flag_word w = word_of(y, value, value->text);
        if (!w.dynamic) facts_set_env(y->f, vars->keys[i]->text, w.text, false);
    }
}

void megatron_note_setting(struct facts *f, struct str key, const struct flag_word *at)
{
    note_key(f, flag_word_node(f, str_last_part(key, '.'), at), NULL);
}

void megatron_check_setting(struct facts *f, struct str key, struct str value,
                            const struct flag_word *at)
{
    note_key(f, flag_word_node(f, key, at), flag_word_node(f, value, at));
}

void megatron_read_setting(struct facts *f, struct str key, struct str value,
                           const struct flag_word *at, const struct read_options *options)
{
    struct yaml y = {.f = f, .options = options};
    struct node *name = flag_word_node(f, str_last_part(key, '.'), at),
                *node = flag_word_node(f, value, at);
    struct node alone = {.kind = NODE_LIST, .source = node->source, .from = at->from, .to = at->to};
    bool null = value.p && is_null(node);
    if (!null && apply_name(&y, name, value.p ? node : &alone)) return;
    note_key(f, name, value.p ? node : NULL);
    const struct program_setting *own =
        value.p ? NULL : program_kind_own(f->program.kind, name->text);
    if (own) program_check_missing(f, own, node_span(f->diags, name));
}

/* Megatron-LM's own tests train where they do not say otherwise. Settings by their names alone may
   be a part of somebody's, which the rest stands beside. */
static struct program program_of_document(const struct node *doc)
{
    const struct node *mode = node_get(doc, STR("MODE"));
    bool inference = mode && str_is(mode->text, "inference");
    bool whole = node_get(doc, STR("MODEL_ARGS")) || is_recipe(doc) || names_flags(doc);
    return (struct program){.origin = PROGRAM_MEGATRON,
                            .task = inference ? TASK_INFERENCE
                                    : whole   ? TASK_TRAINING
                                              : TASK_UNSAID};
}

static void apply_config(struct yaml *y, const struct node *doc)
{
    for (size_t i = 0; i < sizeof config_sections / sizeof *config_sections; i++)
        apply_mapping(y, node_get(doc, str_of(config_sections[i])), false);
    apply_mapping(y, doc, false);
    y->f->program.strangers.n = 0; /* fields of the sections are no flags */
}

/* Flags that slipped out of MODEL_ARGS: nobody reads them there. */
static void note_flags_outside(struct facts *f, const struct node *doc)
{
    for (size_t i = 0; i < doc->n; i++) {
        if (!str_starts(doc->keys[i]->text, STR("--"))) continue;
        struct diag *d =
            diag_add(f->diags, SEVERITY_WARNING, "unknown-key", node_span(f->diags, doc->keys[i]),
                     "nobody reads %.*s here", STR_ARG(doc->keys[i]->text));
        diag_help(f->diags, d, "it belongs into MODEL_ARGS");
    }
}

static void read_yaml(struct facts *f, const struct node *doc, const struct read_options *options)
{
    struct yaml y = {.f = f, .options = options};
    f->document = doc;
    f->program = program_of_document(doc);
    set_environment(&y, node_get(doc, STR("ENV_VARS")));
    if (node_get(doc, STR("MODEL_ARGS"))) {
        apply_section(&y, node_get(doc, STR("BASE_MODEL_ARGS")));
        apply_section(&y, node_get(doc, STR("MODEL_ARGS")));
        note_flags_outside(f, doc);
    } else if (is_recipe(doc)) {
        apply_mapping(&y, node_get(doc, STR("ARGS")), true);
    } else if (is_config(doc)) {
        apply_config(&y, doc);
    } else {
        apply_mapping(&y, doc, detect_map(doc) > 0);
    }
}

/* ---- reading ---- */

static bool read(struct arena *a, struct diags *diags, uint32_t source, const struct node *doc,
                 const struct read_options *options, struct readings *out)
{
    struct facts *f =
        reader_facts(a, diags, source, FRAMEWORK_MEGATRON, STR("megatron"), STR(""), options);
    *VEC_PUSH(a, out) = (struct reading){.facts = f};
    if (doc && doc->kind == NODE_MAP) {
        read_yaml(f, doc, options);
        f->program.told = options->version.n > 0;
        program_settle(f);
        placeholder_tell(f);
        return true;
    }
    struct str text = source_get(&diags->sources, source)->text;
    struct flag_words words = {0};
    bool bare = begins_with_flag(text);
    if (bare)
        f->program = (struct program){.origin = PROGRAM_MEGATRON,
                                      .task = TASK_TRAINING,
                                      .told = true,
                                      .bare = !options->version.n};
    bool plain = bare && str_find(text, '$') == text.n && str_find(text, '`') == text.n;
    bool ok = plain ? flags_split(f, text, &words) : shell_read(f, text, options, &words);
    f->program.told = bare || options->version.n > 0;
    flags_apply(f, &words);
    program_settle(f);
    aside_check(f);
    if (!plain && ok && program_is_megatrons(f)) unread_note(f, text, &words);
    program_take_world(f, NULL, &words);
    placeholder_tell(f);
    const struct model_input *m = model_find(a, reader_declared(text, "model"));
    if (m) unsaid_apply(f, m);
    return ok;
}

const struct reader reader_megatron = {.name = "megatron", .detect = detect, .read = read};
