/* SPDX-License-Identifier: Apache-2.0 */
/* What stands under the cursor: the findings there with the rule's reason, and the parameter with
   what it is in this file. */
#include "facts/check.h"
#include "lsp/feature.h"

struct recipe lsp_recipe(const struct lsp_request *r, struct diags *diags)
{
    diags_init(diags, r->arena);
    uint32_t source = source_add(&diags->sources, r->path, r->text);
    struct recipe recipe = recipe_read(r->arena, diags, source, STR(""), &r->options);
    for (size_t i = 0; i < recipe.readings.n; i++)
        rules_apply_overrides(r->validation->rules, recipe.readings.items[i].facts, r->scratch);
    arena_reset(r->scratch);
    return recipe;
}

/* ---- findings ---- */

static void hover_finding(const struct lsp_request *r, const struct diag *d, struct buf *out)
{
    const struct rule *rule = rules_find(r->validation->rules, d->rule);
    buf_printf(out, "**%s** `%.*s`: %.*s\n\n", severity_name(d->severity), STR_ARG(d->rule),
               STR_ARG(d->message));
    for (size_t i = 0; i < d->notes.n; i++)
        buf_printf(out, "- %.*s\n", STR_ARG(d->notes.items[i]));
    if (d->help.n) buf_printf(out, "\nHelp: %.*s\n", STR_ARG(d->help));
    if (rule && rule->why.n) buf_printf(out, "\n%.*s\n", STR_ARG(rule->why));
    if (d->source.n) buf_printf(out, "\nSource: %.*s\n", STR_ARG(d->source));
    buf_add(out, STR("\n---\n\n"));
}

static void hover_findings(const struct lsp_request *r, struct place at, struct buf *out)
{
    struct file_report report = lsp_report(r);
    for (size_t i = 0; i < report.diags->n; i++) {
        const struct diag *d = &report.diags->items[i];
        if (d->at.source == 1 && d->at.line && text_holds(&report.diags->sources, d->at, at))
            hover_finding(r, d, out);
    }
}

/* ---- parameters ---- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

/* The parameter that was written where the cursor is: its word is the spelling that was used, or
   the end of it. */
static int param_written(const struct facts *f, struct str word, struct place at)
{
    for (int i = 0; i < (int)param_count && word.n; i++) {
        const struct fact *x = facts_get(f, i);
        bool here =
            x->node && x->node->source == f->source && (int64_t)x->node->line == at.line + 1;
        if (here && str_ends(x->written, word)) return (int)i;
    }
    return -1;
}

static int param_spelled(const struct facts *f, struct str word)
{
    int param = f ? param_find_key(f->framework, word, NULL) : -1;
    return param >= 0 ? param : param_find(word);
}

static void hover_value(struct arena *a, const struct facts *f, int param, struct buf *out)
{
    const struct fact *x = facts_get(f, param);
    if (!fact_is_known(x)) return;
    buf_printf(out, "Here `%.*s`: %.*s.\n\n", STR_ARG(value_text(a, x->value)),
               STR_ARG(fact_origin_text(a, f, param)));
}

static void add_choices(const struct str *choices, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s`%.*s`", i ? ", " : "One of ", STR_ARG(choices[i]));
    if (n) buf_add(out, STR(".\n\n"));
}

static void hover_param(struct arena *a, const struct facts *f, int param, struct buf *out)
{
    const struct param *p = &param_table[param];
    buf_printf(out, "**%.*s**", STR_ARG(p->name));
    if (p->symbol.n) buf_printf(out, " (`%.*s`)", STR_ARG(p->symbol));
    if (p->unit.n) buf_printf(out, ", %.*s", STR_ARG(p->unit));
    buf_printf(out, "\n\n%.*s\n\n", STR_ARG(p->doc));
    if (f) hover_value(a, f, param, out);
    struct str range = param_range_words(a, p);
    if (range.n) buf_printf(out, "Range: %.*s.\n\n", STR_ARG(range));
    size_t n = p->n_choices;
    const struct str *choices = f ? facts_choices(f, param, &n) : p->choices;
    add_choices(choices, n, out);
    if (!f || !p->in[f->framework]->known) return;
    struct value v = facts_default(f, param);
    if (v.kind != VALUE_UNKNOWN && v.kind != VALUE_NULL)
        buf_printf(out, "Default: `%.*s`.\n", STR_ARG(value_text(a, v)));
}

static void hover_word(const struct lsp_request *r, struct place at, struct buf *out)
{
    struct str line = text_line(r->text, at.line);
    struct str word = str_around(line, text_byte(line, at.unit), is_word);
    struct diags diags;
    struct recipe recipe = lsp_recipe(r, &diags);
    const struct facts *f = recipe.readings.n ? recipe.readings.items[0].facts : NULL;
    int param = f ? param_written(f, word, at) : -1;
    if (param < 0 && word.n) param = param_spelled(f, word);
    if (param >= 0) hover_param(r->arena, f, param, out);
}

void lsp_hover(const struct lsp_request *r, struct place at)
{
    struct buf out = buf_new(r->arena);
    hover_findings(r, at, &out);
    hover_word(r, at, &out);
    struct str text = buf_str(&out);
    if (str_ends(text, STR("\n---\n\n"))) text = str_slice(text, 0, text.n - strlen("\n---\n\n"));
    if (!text.n) {
        json_null(r->w, NULL);
        return;
    }
    json_open(r->w, NULL, '{');
    json_open(r->w, "contents", '{');
    json_str(r->w, "kind", STR("markdown"));
    json_str(r->w, "value", text);
    json_close(r->w, '}');
    json_close(r->w, '}');
}
