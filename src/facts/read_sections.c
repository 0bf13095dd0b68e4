/* SPDX-License-Identifier: Apache-2.0 */
/* YAML files of programs built on Megatron-LM, which hold its arguments by destination in sections
   of their own (rules/programs). What the sections leave out, the program decides. */
#include "facts/megatron.h"
#include "facts/model.h"
#include "facts/program_kind.h"
#include "facts/reader.h"

static int detect(struct str text, const struct node *doc)
{
    (void)text;
    return program_kind_of(doc) ? 96 : 0;
}

/* The catalogue's model of that name at Hugging Face, where it is one. */
static void take_model(struct facts *f, const struct node *name)
{
    if (!name || name->kind != NODE_SCALAR) return;
    const struct model_input *m = model_find(f->arena, name->text);
    if (m) model_apply(f, m, ORIGIN_CATALOGUE);
}

static bool read(struct arena *a, struct diags *diags, uint32_t source, const struct node *doc,
                 const struct read_options *options, struct readings *out)
{
    const struct program_kind *kind = program_kind_of(doc);
    struct facts *f = reader_facts(a, diags, source, FRAMEWORK_MEGATRON, STR("megatron"), options);
    *VEC_PUSH(a, out) = (struct reading){.facts = f};
    f->document = doc;
    f->program = (struct program){.origin = PROGRAM_FORK, .kind = kind};
    if (kind && kind->model.n) take_model(f, node_at(doc, kind->model));
    for (size_t i = 0; kind && i < kind->n_sections; i++)
        megatron_read_section(f, node_at(doc, kind->sections[i]), options);
    program_settle(f);
    return true;
}

const struct reader reader_sections = {.name = "program", .detect = detect, .read = read};
