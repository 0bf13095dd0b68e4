/* SPDX-License-Identifier: Apache-2.0 */
/* YAML files of programs built on Megatron-LM, which hold its arguments by destination in sections
   of their own (rules/programs). What the sections leave out, the program decides. */
#include "facts/megatron.h"
#include "facts/model.h"
#include "facts/placeholder.h"
#include "facts/program_kind.h"
#include "facts/reader.h"
#include "facts/shell.h"

static int detect(struct str text, const struct node *doc)
{
    if (doc && doc->kind != NODE_SCALAR) return program_kind_of(doc) ? 96 : 0;
    return program_kind_of_script(text) ? 92 : 0;
}

/* The catalogue's model of that name, where it is one; scripts write dashes as underscores. */
static void take_model(struct facts *f, struct str name)
{
    char *dashed = arena_alloc(f->arena, name.n + 1);
    for (size_t i = 0; i < name.n; i++)
        dashed[i] = name.p[i] == '_' ? '-' : name.p[i];
    const struct model_input *m = model_find(f->arena, name);
    if (!m) m = model_find(f->arena, (struct str){dashed, name.n});
    if (m) model_apply(f, m, ORIGIN_CATALOGUE);
}

static void read_document(struct facts *f, const struct node *doc,
                          const struct read_options *options)
{
    const struct program_kind *kind = f->program.kind;
    f->document = doc;
    const struct node *model = kind->model.n ? node_at(doc, kind->model) : NULL;
    if (model && model->kind == NODE_SCALAR) take_model(f, model->text);
    for (size_t i = 0; i < kind->n_sections; i++)
        megatron_read_section(f, node_at(doc, kind->sections[i]), options);
}

enum value_at { VALUE_NONE, VALUE_THERE, VALUE_OPEN };

/* The value of a setting: behind its equals sign, or the one word behind it that is no flag.
   VALUE_OPEN: there may be one, nobody knows which. */
static enum value_at find_value(const struct flag_words *words, size_t at, struct str *value)
{
    const struct flag_word *next = at + 1 < words->n ? &words->items[at + 1] : NULL;
    if (words->items[at].dynamic || words->items[at].maybe) return VALUE_OPEN;
    if (value->n) return VALUE_THERE;
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
    case VALUE_NONE:
        megatron_read_setting(f, key, none, &words->items[at], options);
        break;
    case VALUE_THERE:
        megatron_read_setting(f, key, value, &words->items[at], options);
        break;
    case VALUE_OPEN:
        megatron_note_setting(f, key, &words->items[at]);
        break;
    }
}

static bool read_script(struct facts *f, struct str text, const struct read_options *options)
{
    struct flag_words words = {0};
    bool ok = shell_read(f, text, options, &words);
    read_model(f, &words);
    for (size_t i = 0; i < words.n; i++)
        read_setting(f, &words, i, options);
    return ok;
}

static bool read(struct arena *a, struct diags *diags, uint32_t source, const struct node *doc,
                 const struct read_options *options, struct readings *out)
{
    struct str text = source_get(&diags->sources, source)->text;
    bool map = doc && doc->kind == NODE_MAP, ok = true;
    const struct program_kind *kind = map ? program_kind_of(doc) : program_kind_of_script(text);
    struct facts *f = reader_facts(a, diags, source, FRAMEWORK_MEGATRON, STR("megatron"), options);
    *VEC_PUSH(a, out) = (struct reading){.facts = f};
    f->program.kind = kind;
    if (kind && map) read_document(f, doc, options);
    if (kind && !map) ok = read_script(f, text, options);
    f->program.origin = PROGRAM_FORK;
    program_settle(f);
    placeholder_tell(f);
    return ok;
}

const struct reader reader_sections = {.name = "program", .detect = detect, .read = read};
