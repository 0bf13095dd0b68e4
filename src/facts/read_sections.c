/* SPDX-License-Identifier: Apache-2.0 */
/* YAML files of programs built on Megatron-LM, which hold its arguments by destination in sections
   of their own (rules/programs). What the sections leave out, the program decides. */
#include "base/num.h"
#include "facts/inherit.h"
#include "facts/megatron.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/placeholder.h"
#include "facts/program_kind.h"
#include "facts/reader.h"
#include "facts/repeated.h"
#include "facts/shell.h"
#include "facts/words.h"

/* The program one of whose presets a document is: it names those that it is laid over, and holds
   mostly destinations of Megatron-LM's beside, not those of another trainer that the program can
   start; NULL when it is none's. */
static const struct program_kind *preset_kind(const struct node *doc)
{
    const struct program_kind *found = program_kind_laid_over(doc);
    size_t held = 0;
    for (size_t i = 0; found && i < doc->n; i++)
        held += megatron_has(doc->keys[i]->text);
    return 2 * held >= doc->n - 1 && held ? found : NULL;
}

static int detect(struct str text, const struct node *doc)
{
    if (doc && doc->kind != NODE_SCALAR)
        return program_kind_of(doc) || (doc->kind == NODE_MAP && preset_kind(doc)) ? 96 : 0;
    return program_kind_of_script(text) ? 92 : 0;
}

/* The catalogue's model of that name, where it is one; scripts write dashes as underscores. */
static void take_model(struct facts *f, struct str name)
{
    if (str_ends(name, STR(".yaml"))) name.n -= STR(".yaml").n;
    const struct model_input *m = model_find(f->arena, name);
    if (!m) m = model_find(f->arena, str_exchange(f->arena, name, '_', '-'));
    if (!m) return;
    model_apply(f, m, ORIGIN_CATALOGUE);
    model_set_switches(f, m);
    /* it is made of its files on Hugging Face, which drop nothing out */
    facts_set(f, P_attention_dropout, value_double(0), ORIGIN_CATALOGUE, NULL, m->name);
    facts_set(f, P_hidden_dropout, value_double(0), ORIGIN_CATALOGUE, NULL, m->name);
    /* the program decides which of the MTP depths it trains, most often none */
    facts_set(f, P_mtp_num_layers, value_unknown(), ORIGIN_CATALOGUE, NULL, STR(""));
}

static bool is_section(const struct program_kind *kind, const struct node *doc,
                       const struct node *node)
{
    for (size_t i = 0; i < kind->n_sections; i++)
        if (node_at(doc, kind->sections[i]) == node) return true;
    return false;
}

/* Whether a mapping of the document is one on the way to a section, or the section itself. */
static bool leads_to(const struct node *doc, const struct node *map, struct str section)
{
    for (size_t n = 1; n <= section.n; n++) {
        bool part = n == section.n || section.p[n] == '.';
        if (part && node_at(doc, str_slice(section, 0, n)) == map) return true;
    }
    return false;
}

/* Whether the file refers to the value by its path, ${KEY} or ${policy.KEY}, or from beside it,
   ${.KEY}: then the key is one of its own. */
static bool is_referred_to(const struct facts *f, struct str key, const struct node *value)
{
    struct str text = source_get(&f->diags->sources, f->source)->text;
    struct str end = arena_printf(f->arena, "%.*s}", STR_ARG(key));
    for (size_t at = 0, n; (n = str_find_str(str_slice(text, at, text.n), end)) < text.n - at;) {
        size_t from = at + n;
        at += n + end.n;
        while (from > 0 && text.p[from - 1] != '{' && text.p[from - 1] != '\n')
            from--;
        struct str path = str_slice(text, from, at - 1);
        if (path.p[0] == '.' || node_at(f->document, path) == value) return true;
    }
    return false;
}

/* A destination of Megatron-LM's beside a section or above it, where the program has nothing of
   that name: it slipped out of the section. */
static void note_outside(struct facts *f, const struct node *map, size_t at)
{
    const struct program_kind *kind = f->program.kind;
    struct str key = map->keys[at]->text;
    bool leaf = map->items[at]->kind == NODE_SCALAR;
    const struct program_setting *own = program_kind_own(kind, key);
    if (own && str_starts(own->name, STR("-"))) own = NULL; /* a flag is no key */
    if (map == f->document) own = NULL;                     /* its sections have it, not its root */
    if (!leaf || own || !megatron_has_size(key) || is_referred_to(f, key, map->items[at])) return;
    for (size_t i = 0; i < kind->n_sections; i++) {
        const struct node *section = node_at(f->document, kind->sections[i]);
        for (size_t k = 0; section && k < map->n; k++) {
            if (!leads_to(f->document, map->items[k], kind->sections[i])) continue;
            struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "unknown-key",
                                      node_span(f->diags, map->keys[at]), "%.*s reads no %.*s here",
                                      STR_ARG(kind->title), STR_ARG(key));
            diag_help(f->diags, d, "it belongs into %.*s", STR_ARG(kind->sections[i]));
            return;
        }
    }
}

/* Of a key at the root that the program reads in a mapping of the document, its path; empty: it is
   none. */
static struct str path_of_size(const struct program_kind *kind, const struct node *doc,
                               struct str key)
{
    for (size_t i = 0; i < kind->n_sizes; i++) {
        struct str path = str_slice(kind->sizes[i], 0, str_find(kind->sizes[i], '='));
        struct str last = str_last_part(path, '.');
        bool below = last.n < path.n && str_eq(last, key) && param_find(key) < 0;
        if (below && node_at(doc, str_slice(path, 0, path.n - last.n - 1))) return path;
    }
    return (struct str){"", 0};
}

/* A number of the program's that slipped out of its mapping to the root. */
static void note_slipped(struct facts *f)
{
    const struct node *doc = f->document;
    for (size_t i = 0; i < doc->n; i++) {
        struct str path = path_of_size(f->program.kind, doc, doc->keys[i]->text);
        if (!path.n || doc->items[i]->kind != NODE_SCALAR) continue;
        struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "unknown-key",
                                  node_span(f->diags, doc->keys[i]), "%.*s reads no %.*s here",
                                  STR_ARG(f->program.kind->title), STR_ARG(doc->keys[i]->text));
        diag_help(f->diags, d, "it is %.*s", STR_ARG(path));
    }
}

/* A number of the program's own that counts something: its parser takes any. */
static void check_count(struct facts *f, const struct node *node, struct str path)
{
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, "size-below-zero", node_span(f->diags, node),
                 "%.*s is %.*s", STR_ARG(path), STR_ARG(node->text));
    diag_help(f->diags, d, "write a number of at least 1");
}

/* A degree of parallelism below zero, which no part of any program takes for none. */
static void note_degree(struct facts *f, const struct node *key, const struct node *value)
{
    static const char degrees[] =
        "tensor_parallel_size|pipeline_parallel_size|context_parallel_size|"
        "expert_parallel_size|tensor_model_parallel_size|"
        "pipeline_model_parallel_size|expert_model_parallel_size";
    int64_t n;
    bool number = value->kind == NODE_SCALAR && !value->quoted && num_parse_int(value->text, &n);
    if (number && n < 0 && str_is_any(key->text, degrees)) check_count(f, value, key->text);
}

static void note_below(struct facts *f, const struct node *node, int depth);

/* Keys around the sections. Below a name that the program does not have they are somebody's own,
   whatever they are called. */
static void note_keys(struct facts *f, const struct node *map, int depth)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct node *key = map->keys[i], *value = map->items[i];
        if (is_section(f->program.kind, f->document, value)) continue;
        megatron_note_key(f, key, value);
        note_outside(f, map, i);
        if (program_kind_own(f->program.kind, key->text) || megatron_has(key->text))
            note_below(f, value, depth + 1);
        note_degree(f, key, value);
    }
}

static void note_below(struct facts *f, const struct node *node, int depth)
{
    enum { DEEPEST = 20 };
    if (depth >= DEEPEST) return;
    if (node->kind == NODE_MAP) note_keys(f, node, depth);
    for (size_t i = 0; node->kind == NODE_LIST && i < node->n; i++)
        note_below(f, node->items[i], depth + 1);
}

static bool has_grid(const struct facts *f)
{
    return fact_is_set(facts_get(f, P_tensor_model_parallel_size)) ||
           fact_is_set(facts_get(f, P_pipeline_model_parallel_size)) ||
           fact_is_set(facts_get(f, P_expert_model_parallel_size)) ||
           fact_is_set(facts_get(f, P_context_parallel_size));
}

/* The number at a path of the document. */
static const struct node *number_at(const struct node *doc, struct str path, int64_t *n)
{
    const struct node *node = node_at(doc, path);
    bool number = node && node->kind == NODE_SCALAR && num_parse_int(node->text, n);
    return number ? node : NULL;
}

/* Whether more samples are written for one microbatch than for a whole step: wrong on any grid. */
static bool is_split_above(const struct program_kind *kind, const struct node *doc)
{
    int64_t micro = 0, global = 0, n;
    for (size_t i = 0; i < kind->n_sizes; i++) {
        size_t eq = str_find(kind->sizes[i], '=');
        struct str to = str_slice(kind->sizes[i], eq, kind->sizes[i].n);
        if (!number_at(doc, str_slice(kind->sizes[i], 0, eq), &n)) continue;
        if (str_is(to, "=micro_batch_size")) micro = n;
        if (str_is(to, "=global_batch_size")) global = n;
    }
    return global > 0 && micro > global;
}

/* Numbers that the program hands on to Megatron-LM under another name, "path=destination", and
   those of its own, "path". */
static void take_sizes(struct facts *f, const struct node *doc)
{
    const struct program_kind *kind = f->program.kind;
    bool whole = has_grid(f) || is_split_above(kind, doc);
    for (size_t i = 0; i < kind->n_sizes; i++) {
        struct str path = kind->sizes[i];
        size_t eq = str_find(path, '=');
        struct str key = str_slice(path, 0, eq);
        int param = eq < path.n ? param_find(str_slice(path, eq + 1, path.n)) : -1;
        int64_t n;
        const struct node *node = number_at(doc, key, &n);
        if (node && eq == path.n && n < 1) check_count(f, node, key);
        if (node && param >= 0 && (whole || n < 1)) /* none trains on no samples */
            facts_set(f, param, value_int(n), ORIGIN_FILE, node, key);
    }
}

/* Whether a key of the section, or the destination of that name, has the value. */
static bool is_said(const struct facts *f, const struct node *section, struct str key,
                    struct str value)
{
    int param = param_find(key);
    const struct node *node = node_get(section, key);
    bool handed = param >= 0 && param_table[param].in[FRAMEWORK_MEGATRON]->known;
    if (handed) return str_eq(value_text(f->arena, facts_get(f, param)->value), value);
    return node && node->kind == NODE_SCALAR && str_eq_nocase(node->text, value);
}

/* Keys of the program's own, and what its code makes of them: in their order, as one may follow
   from another. */
static void take_meanings(struct facts *f, const struct node *section)
{
    const struct program_kind *kind = f->program.kind;
    for (size_t i = 0; section && i < kind->n_means; i++) {
        struct str said, becomes = kind->means[i], key;
        str_split(&becomes, ' ', &said);
        str_split(&said, '=', &key);
        if (!is_said(f, section, key, said)) continue;
        str_split(&becomes, '=', &said);
        int param = param_find(said);
        struct node word = {.kind = NODE_SCALAR, .text = becomes};
        struct value v = node_value(f->arena, &word, SCALAR_YAML11);
        bool open = v.kind == VALUE_NULL || !fact_is_set(facts_get(f, param));
        if (open) facts_set(f, param, v, ORIGIN_FILE, node_get(section, key), key);
    }
}

static void read_document(struct facts *f, const struct node *doc,
                          const struct read_options *options)
{
    const struct program_kind *kind = f->program.kind;
    f->document = doc;
    const struct node *all = inherit_document(f, doc, kind->inherits);
    const struct node *model = kind->model.n ? node_at(all, kind->model) : NULL;
    const struct node *section = kind->n_sections ? node_at(all, kind->sections[0]) : NULL;
    const struct node *first = inherit_presets(f, kind, all, section);
    if (model && model->kind == NODE_SCALAR && first == section) take_model(f, model->text);
    f->program.whole = first != section;
    megatron_read_section(f, first, f->program.whole, options);
    for (size_t i = 1; i < kind->n_sections; i++)
        megatron_read_section(f, node_at(all, kind->sections[i]), false, options);
    if (kind->n_keys) note_below(f, doc, 0);
    for (size_t i = 0; kind->makes_flags && !kind->n_keys && i < doc->n; i++)
        note_outside(f, doc, i);
    note_slipped(f);
    take_meanings(f, first);
    take_sizes(f, all);
    program_take_world(f, all, NULL);
    words_check(f, doc);
}

enum value_at { VALUE_NONE, VALUE_THERE, VALUE_OPEN };

/* The value of a setting: behind its equals sign, or the one word behind it that is no flag.
   VALUE_OPEN: there may be one, nobody knows which. */
static enum value_at find_value(const struct flag_words *words, size_t at, struct str *value)
{
    const struct flag_word *next = at + 1 < words->n ? &words->items[at + 1] : NULL;
    if (words->items[at].dynamic || words->items[at].maybe) return VALUE_OPEN;
    bool equals = str_find(words->items[at].text, '=') < words->items[at].text.n;
    if (value->n || equals) return VALUE_THERE;
    if (!next || (next->known > 2 && str_starts(next->text, STR("--")))) return VALUE_NONE;
    *value = next->text;
    return next->dynamic || next->maybe ? VALUE_OPEN : VALUE_THERE;
}

/* The model's sizes are below what the settings say of them. */
static void read_model(struct facts *f, const struct flag_words *words)
{
    struct str key, value, name = f->program.kind->model;
    for (size_t i = 0; name.n && i < words->n; i++)
        if (program_kind_takes(f->program.kind, words->items[i].text, &key, &value) &&
            str_eq(key, name) && find_value(words, i, &value) == VALUE_THERE)
            take_model(f, value);
}

static void read_setting(struct facts *f, const struct flag_words *words, size_t at,
                         const struct read_options *options)
{
    struct str key, value, none = {NULL, 0};
    if (!program_kind_takes(f->program.kind, words->items[at].text, &key, &value)) return;
    switch (find_value(words, at, &value)) {
    case VALUE_NONE: megatron_read_setting(f, key, none, &words->items[at], options); break;
    case VALUE_THERE: megatron_read_setting(f, key, value, &words->items[at], options); break;
    case VALUE_OPEN: megatron_note_setting(f, key, &words->items[at]); break;
    }
}

/* "a.b.c" or "a.b.c=value", a setting in the words of Hydra; what a plus adds may have any name. */
static bool is_override(struct str word)
{
    struct str name = str_slice(word, 0, str_find(word, '='));
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || (c != '.' && (c < '0' || c > '9')))) return false;
    }
    return str_find(name, '.') < name.n;
}

/* Looks at the parts of a setting's name; the last one of a section's was read with its value. */
static void note_parts(struct facts *f, const struct flag_word *w)
{
    struct str key, value, part, name = str_slice(w->text, 0, str_find(w->text, '='));
    if (name.n > w->known || name.n == w->text.n || !is_override(w->text)) return;
    bool read = program_kind_takes(f->program.kind, w->text, &key, &value);
    value = program_kind_value(str_slice(w->text, name.n + 1, w->text.n));
    while (str_split(&name, '.', &part)) {
        if (!name.n && !read && !w->dynamic)
            megatron_check_setting(f, part, value, w);
        else if (name.n || !read)
            megatron_note_setting(f, part, w);
    }
}

/* A flag that takes one number of the program's own. */
static bool is_own_number(const struct facts *f, struct str flag)
{
    if (!f->program.kind->n_commands || !str_starts(flag, STR("--"))) return false;
    const struct program_setting *own = program_kind_own(f->program.kind, flag);
    bool megatrons = param_find_key(FRAMEWORK_MEGATRON, flag, NULL) >= 0 ||
                     megatron_has_size(str_slice(flag, 2, flag.n));
    return own && param_type_is_number(own->type) && !own->list && !megatrons;
}

/* "a.b=value", or "--flag value" of a number of the program's own, where the value is known. */
static void note_written(struct facts *f, const struct flag_words *words, size_t at,
                         struct repeated *before)
{
    const struct flag_word *w = &words->items[at], *next = w + 1;
    size_t eq = str_find(w->text, '=');
    if (w->dynamic || w->maybe) return;
    struct span here = flag_word_span(f, w);
    if (is_override(w->text) && eq < w->text.n) {
        struct str value = str_slice(w->text, eq + 1, w->text.n);
        repeated_note(before, str_slice(w->text, 0, eq), value, here);
    } else if (at + 1 < words->n && !next->dynamic && !next->maybe && is_own_number(f, w->text)) {
        repeated_note(before, w->text, next->text, here);
    }
}

/* An option beside the overrides, which Hydra's parser refuses where it is none of its own. */
static void note_option(struct facts *f, const struct program_kind *hydra,
                        const struct flag_word *w)
{
    struct str name = str_slice(w->text, 0, str_find(w->text, '='));
    if (f->program.kind->n_commands || w->maybe || name.n > w->known) return;
    struct str near = program_kind_slip(f->arena, hydra, name);
    if (!near.n) return;
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "unknown-key", flag_word_span(f, w),
                              "Hydra has no option %.*s", STR_ARG(name));
    diag_suggest(f->diags, d, near);
}

/* -lr of a program that has --lr: one dash is for options of one letter. */
static void note_dash(struct facts *f, const struct flag_word *w)
{
    struct str flag = arena_printf(f->arena, "-%.*s", STR_ARG(w->text));
    bool one = w->text.n > 2 && w->text.p[0] == '-' && w->text.p[1] != '-';
    if (!f->program.kind->n_commands || w->maybe || w->dynamic || !one) return;
    struct str name = str_slice(flag, 0, str_find(flag, '='));
    bool known =
        program_kind_own(f->program.kind, name) || megatron_has_size(str_slice(name, 2, name.n));
    if (!known) return;
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, "unknown-key", flag_word_span(f, w),
                 "%.*s has no option %.*s", STR_ARG(f->program.kind->title), STR_ARG(w->text));
    diag_suggest(f->diags, d, flag);
}

/* A blank before the equals sign: Hydra takes the name alone for a mistake. */
static void note_bare(struct facts *f, const struct flag_words *words, size_t at)
{
    const struct flag_word *w = &words->items[at], *next = at + 1 < words->n ? w + 1 : NULL;
    bool bare = !w->dynamic && str_find(w->text, '=') == w->text.n;
    bool inside = program_kind_behind(f->program.kind, w->text).n;
    bool cut = next && next->known && next->text.p[0] == '=';
    struct str name = w->text;
    while (name.n && name.p[0] == '+')
        name = str_slice(name, 1, name.n);
    if (bare && (inside || cut) && is_override(name)) flag_word_bare(f, w);
}

static bool read_script(struct facts *f, struct str text, const struct read_options *options)
{
    struct flag_words words = {0};
    struct repeated before = {.f = f};
    const struct program_kind *hydra = program_kind_named("hydra");
    bool ok = shell_read(f, text, options, &words);
    read_model(f, &words);
    for (size_t i = 0; i < words.n; i++) {
        read_setting(f, &words, i, options);
        if (f->program.kind->n_keys) note_parts(f, &words.items[i]);
        note_bare(f, &words, i);
        note_written(f, &words, i, &before);
        note_option(f, hydra, &words.items[i]);
        note_dash(f, &words.items[i]);
    }
    program_take_world(f, NULL, &words);
    return ok;
}

static bool read(struct arena *a, struct diags *diags, uint32_t source, const struct node *doc,
                 const struct read_options *options, struct readings *out)
{
    struct str text = source_get(&diags->sources, source)->text;
    bool map = doc && doc->kind == NODE_MAP, ok = true;
    const struct program_kind *kind = map ? program_kind_of(doc) : program_kind_of_script(text);
    const struct program_kind *part = map && !kind ? preset_kind(doc) : NULL;
    if (part) kind = part;
    struct facts *f = reader_facts(a, diags, source, FRAMEWORK_MEGATRON, STR("megatron"),
                                   kind ? kind->release : STR(""), options);
    *VEC_PUSH(a, out) = (struct reading){.facts = f};
    size_t before = diags->n;
    f->program.kind = kind;
    f->document = part ? doc : NULL;
    if (part) megatron_read_section(f, doc, false, options);
    if (kind && map && !part) read_document(f, doc, options);
    if (kind && !map) ok = read_script(f, text, options);
    f->program.origin = PROGRAM_FORK;
    program_settle(f);
    placeholder_tell(f);
    inherit_forget(f, before);
    return ok;
}

const struct reader reader_sections = {.name = "program", .detect = detect, .read = read};
