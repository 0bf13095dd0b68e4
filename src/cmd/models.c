/* SPDX-License-Identifier: Apache-2.0 */
/* models: the catalogue with its parameter counts, or one model's canonical fields and where each
 * was read. */
#include "base/quote.h"
#include "base/table.h"
#include "cmd/cmd.h"
#include "emit/json_writer.h"
#include "emit/screen.h"
#include "facts/model.h"
#include "facts/profile.h"
#include "flow/estimate.h"
#include "plan/config.h"
#include "rules/rule.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

/* ---- the list ---- */

static const struct table_column columns[] = {{"name", false, 0},    {"total B", true, 0},
                                              {"active B", true, 0}, {"layers", true, 2},
                                              {"experts", false, 1}, {"Hugging Face", false, 3}};

static void list_row_text(struct table *t, const struct model_input *m, const struct model_shape *s)
{
    struct param_counts n = model_params(s);
    table_add(t, m->id);
    table_printf(t, "%.2f", (double)n.total / 1e9);
    table_printf(t, "%.2f", (double)n.active / 1e9);
    table_printf(t, "%d", s->num_layers);
    if (s->experts > 0)
        table_printf(t, "%d top-%d", s->experts, s->topk);
    else
        table_add(t, STR("dense"));
    table_add(t, m->hf_id);
}

static void counts_json(struct json_writer *w, const struct model_input *m,
                        const struct model_shape *s)
{
    struct param_counts n = model_params(s);
    json_int(w, "total_params", n.total);
    json_int(w, "active_params", n.active);
    json_int(w, "mtp_params", n.mtp);
    json_int(w, "vision_params", n.vision);
    json_int(w, "embedding_params", n.embedding);
    if (m->published_total > 0) json_int(w, "published_total_params", m->published_total);
    if (m->published_active > 0) json_int(w, "published_active_params", m->published_active);
}

static void head_json(struct json_writer *w, const struct model_input *m)
{
    json_optional_str(w, "id", m->id);
    json_str(w, "name", m->name);
    json_optional_str(w, "hf_id", m->hf_id);
    json_optional_str(w, "model_type", m->model_type);
    json_optional_str(w, "source", m->source);
}

static int list(struct cmd_context *c, enum format format)
{
    struct json_writer w = json_writer_new(&c->out);
    struct table t = table_new(c->keep, columns, sizeof columns / sizeof *columns);
    if (format == FORMAT_JSON) {
        json_open(&w, NULL, '{');
        json_open(&w, "models", '[');
    }
    for (size_t i = 0; i < catalogue_model_count; i++) {
        struct arena_mark mark = arena_mark(c->scratch);
        const struct model_input *m = model_catalogue(c->keep, i);
        struct model_shape *s = ARENA_NEW(c->scratch, struct model_shape);
        if (!estimate_shape(c->scratch, &c->diags, m, c->keep, s)) return STATUS_BUG;
        if (format == FORMAT_TEXT) {
            list_row_text(&t, m, s);
        } else {
            json_open(&w, NULL, '{');
            head_json(&w, m);
            counts_json(&w, m, s);
            json_close(&w, '}');
        }
        arena_pop(c->scratch, mark);
    }
    if (format == FORMAT_JSON) {
        json_close(&w, ']');
        json_close(&w, '}');
        buf_add_char(&c->out, '\n');
    } else {
        table_print(&t, c->view.width, &c->out);
    }
    return STATUS_OK;
}

/* ---- one model ---- */

/* Later fields stand over earlier ones of the same parameter. */
static bool is_last(const struct model_input *m, size_t i)
{
    for (size_t k = i + 1; k < m->fields.n; k++)
        if (m->fields.items[k].param == m->fields.items[i].param) return false;
    return true;
}

static void show_text(struct cmd_context *c, const struct model_input *m,
                      const struct model_shape *s)
{
    struct param_counts n = model_params(s);
    struct buf *out = &c->out;
    buf_printf(out, "%.*s\n", LINE_ARG(c->keep, m->name));
    buf_printf(out, "  %.3f B parameters, %.3f B active", (double)n.total / 1e9,
               (double)n.active / 1e9);
    if (n.mtp > 0) buf_printf(out, "; MTP %.3f B", (double)n.mtp / 1e9);
    if (n.vision > 0) buf_printf(out, "; vision %.3f B", (double)n.vision / 1e9);
    buf_printf(out, "; of the total %.3f B embeddings\n", (double)n.embedding / 1e9);
    if (m->source.n > 0) buf_printf(out, "  source: %.*s\n", LINE_ARG(c->keep, m->source));
    screen_notes(m, out);
    buf_add_char(out, '\n');
    for (size_t i = 0; i < m->fields.n; i++) {
        const struct model_field *f = &m->fields.items[i];
        if (!is_last(m, i)) continue;
        struct str value = value_text(c->keep, f->value);
        buf_printf(out, "%-38.*s %-24.*s <- %.*s", STR_ARG(param_table[f->param].name),
                   LINE_ARG(c->keep, value), LINE_ARG(c->keep, f->alias));
        if (f->node) buf_printf(out, ", line %u", f->node->line);
        buf_add_char(out, '\n');
    }
}

static void show_json(struct cmd_context *c, const struct model_input *m,
                      const struct model_shape *s)
{
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    head_json(&w, m);
    counts_json(&w, m, s);
    json_open(&w, "fields", '[');
    for (size_t i = 0; i < m->fields.n; i++) {
        const struct model_field *f = &m->fields.items[i];
        if (!is_last(m, i)) continue;
        json_open(&w, NULL, '{');
        json_str(&w, "name", param_table[f->param].name);
        json_value(&w, "value", f->value);
        json_str(&w, "from", f->alias);
        if (f->node) json_int(&w, "line", f->node->line);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    struct str *notes = m->notes.items;
    json_strs(&w, "notes", notes, m->notes.n);
    json_close(&w, '}');
    buf_add_char(&c->out, '\n');
}

static int run(struct cmd_context *c)
{
    int format;
    if (!option_choice(c, "format", &format)) return STATUS_CANNOT;
    if (c->n_arguments == 0) return list(c, (enum format)format);
    const struct model_input *m = model_load(c->keep, &c->diags, c->arguments[0]);
    struct model_shape *s = ARENA_NEW(c->keep, struct model_shape);
    if (!m || !estimate_shape(c->scratch, &c->diags, m, c->keep, s)) return STATUS_CANNOT;
    if (format == FORMAT_JSON)
        show_json(c, m, s);
    else
        show_text(c, m, s);
    return STATUS_OK;
}

static const struct option options[] = {
    {"format", "text|json", "how to print"},
    {0},
};

const struct command command_models = {
    .name = "models",
    .arguments = "[MODEL]",
    .max_arguments = 1,
    .examples = "\ndeepseek-v3",
    .help = "List the model catalogue, or show what a model or config.json says",
    .details = "MODEL is a catalogue name, a Hugging Face id, a model file, a config.json or a "
               "folder holding one.\n"
               "Parameters are counted exactly: every weight, norm and bias, both embeddings (once "
               "if tied);\n"
               "MTP and vision are apart.\n",
    .options = options,
    .run = run,
};
