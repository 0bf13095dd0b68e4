/* SPDX-License-Identifier: Apache-2.0 */
/* YAML files of programs built on Megatron-LM, which hold its arguments by destination in sections
   of their own (rules/programs). What the sections leave out, the program decides. */
#include "facts/megatron.h"
#include "facts/model.h"
#include "facts/program_kind.h"
#include "facts/reader.h"
#include "facts/shell.h"

static int detect(struct str text, const struct node *doc)
{
    if (doc && doc->kind != NODE_SCALAR) return program_kind_of(doc) ? 96 : 0;
    return program_kind_of_script(text) ? 92 : 0;
}

/* The catalogue's model of that name at Hugging Face, where it is one. */
static void take_model(struct facts *f, const struct node *name)
{
    if (!name || name->kind != NODE_SCALAR) return;
    const struct model_input *m = model_find(f->arena, name->text);
    if (m) model_apply(f, m, ORIGIN_CATALOGUE);
}

static void read_document(struct facts *f, const struct node *doc,
                          const struct read_options *options)
{
    const struct program_kind *kind = f->program.kind;
    f->document = doc;
    if (kind->model.n) take_model(f, node_at(doc, kind->model));
    for (size_t i = 0; i < kind->n_sections; i++)
        megatron_read_section(f, node_at(doc, kind->sections[i]), options);
}

/* The value of a setting: behind its equals sign, or the one word behind it that is no flag. */
static bool find_value(const struct flag_words *words, size_t at, struct str *value)
{
    const struct flag_word *next = at + 1 < words->n ? &words->items[at + 1] : NULL;
    if (value->n) return !words->items[at].dynamic;
    if (words->items[at].dynamic || !next || next->dynamic || next->maybe) return false;
    *value = next->text;
    return !str_starts(next->text, STR("--"));
}

/* A word whose value nobody knows says nothing. */
static bool read_script(struct facts *f, struct str text, const struct read_options *options)
{
    const struct program_kind *kind = f->program.kind;
    struct flag_words words = {0};
    struct str key, value;
    bool ok = shell_read(f, text, options, &words);
    for (size_t i = 0; i < words.n; i++) {
        const struct flag_word *w = &words.items[i];
        if (w->maybe || !program_kind_takes(kind, w->text, &key, &value)) continue;
        if (find_value(&words, i, &value)) megatron_read_setting(f, key, value, w, options);
    }
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
    return ok;
}

const struct reader reader_sections = {.name = "program", .detect = detect, .read = read};
