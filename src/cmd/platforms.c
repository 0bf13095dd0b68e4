/* SPDX-License-Identifier: Apache-2.0 */
/* platforms: the catalogue of GPUs, or one platform's facts and cost coefficients. */
#include "base/quote.h"
#include "base/table.h"
#include "cmd/cmd.h"
#include "emit/json_writer.h"
#include "facts/param_ids.h"
#include "facts/platform.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

/* "450", or "-" when the platform has no such thing. */
static struct str cell(struct cmd_context *c, const struct entry *e, const char *name)
{
    struct value v = entry_value(e, name);
    return v.kind == VALUE_NULL ? STR("-") : value_text(c->keep, v);
}

/* The figures stand between the short name and the full one. */
enum { FIGURES = 9, COLUMNS = FIGURES + 2 };

static const struct table_column columns[COLUMNS] = {
    {"name", false, 0},       {"GiB", true, 0},      {"node", true, 1},   {"NVLink", true, 2},
    {"BF16 TF", true, 3},     {"FP8 TF", true, 5},   {"FP4 TF", true, 8}, {"HBM TB/s", true, 6},
    {"NVLink GB/s", true, 7}, {"NIC GB/s", true, 4}, {"chip", false, 9},
};
static const int figures[FIGURES] = {P_gpu_capacity_gib, P_gpus_per_node,   P_nvlink_domain,
                                     P_bf16_tflops,      P_fp8_tflops,      P_fp4_tflops,
                                     P_hbm_tb_per_s,     P_nvlink_gb_per_s, P_nic_gb_per_s};

static void list_text(struct cmd_context *c)
{
    struct table t = table_new(c->keep, columns, COLUMNS);
    for (size_t k = 0; k < catalogue_platform_count; k++) {
        const struct entry *e = &catalogue_platforms[k];
        table_add(&t, e->id);
        for (int i = 0; i < FIGURES; i++)
            table_add(&t, cell(c, e, param_name(figures[i]).p));
        table_add(&t, e->name);
    }
    table_print(&t, c->view.width, &c->out);
    buf_add(&c->out, STR("\nGiB: what the allocator can use. Peaks are dense, bandwidths one "
                         "direction per GPU.\n"));
}

static void coefficients_json(struct json_writer *w, const struct entry *e)
{
    json_open(w, "coefficients", '[');
    for (size_t i = 0; i < e->n_coefficients; i++) {
        const struct entry_coefficient *x = &e->coefficients[i];
        json_open(w, NULL, '{');
        json_str(w, "name", x->name);
        json_number(w, "value", x->value, 8);
        json_number(w, "low", x->low, 8);
        json_number(w, "high", x->high, 8);
        json_optional_str(w, "unit", x->unit);
        json_optional_str(w, "meaning", x->meaning);
        json_optional_str(w, "source", x->source);
        json_int(w, "n", x->n);
        json_close(w, '}');
    }
    json_close(w, ']');
}

/* What each figure follows from that the file does not write; nothing where there is none. */
static void derived_json(struct json_writer *w, const struct entry *e)
{
    bool any = false;
    for (size_t i = 0; i < e->n_fields; i++) {
        if (!e->fields[i].derived.n) continue;
        if (!any) json_open(w, "derived", '{');
        any = true;
        json_str(w, e->fields[i].name.p, e->fields[i].derived);
    }
    if (any) json_close(w, '}');
}

static void platform_json(struct json_writer *w, const struct entry *e)
{
    json_open(w, NULL, '{');
    json_str(w, "id", e->id);
    json_str(w, "name", e->name);
    json_optional_str(w, "source", e->source);
    for (size_t i = 0; i < e->n_fields; i++)
        json_value(w, e->fields[i].name.p, e->fields[i].value);
    derived_json(w, e);
    coefficients_json(w, e);
    json_close(w, '}');
}

static void list_json(struct cmd_context *c)
{
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    json_open(&w, "platforms", '[');
    for (size_t i = 0; i < catalogue_platform_count; i++)
        platform_json(&w, &catalogue_platforms[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    buf_add_char(&c->out, '\n');
}

static void show_text(struct cmd_context *c, const struct entry *e)
{
    struct buf *out = &c->out;
    buf_printf(out, "%.*s\n", LINE_ARG(c->keep, e->name));
    if (e->source.n) buf_printf(out, "  source: %.*s\n", LINE_ARG(c->keep, e->source));
    buf_add_char(out, '\n');
    for (size_t i = 0; i < e->n_fields; i++) {
        int param = param_find(e->fields[i].name);
        struct str value = value_text(c->keep, e->fields[i].value);
        struct str from = e->fields[i].derived;
        buf_printf(out, "%-24.*s %-12.*s %.*s%s%.*s\n", LINE_ARG(c->keep, e->fields[i].name),
                   LINE_ARG(c->keep, value), STR_ARG(param_table[param].doc),
                   from.n ? " From " : "", LINE_ARG(c->keep, from));
    }
    buf_add(
        out,
        STR("\ncost coefficients: value (low to high), unit, meaning [measurements behind it]\n"));
    for (size_t i = 0; i < e->n_coefficients; i++) {
        const struct entry_coefficient *x = &e->coefficients[i];
        buf_printf(out, "%-24.*s %.4g (%.4g to %.4g) %.*s: %.*s [%lld]\n",
                   LINE_ARG(c->keep, x->name), x->value, x->low, x->high,
                   LINE_ARG(c->keep, x->unit), LINE_ARG(c->keep, x->meaning), (long long)x->n);
    }
}

static int show(struct cmd_context *c, enum format format)
{
    struct platform_cache cache = {.arena = c->keep};
    const struct platform *p = platform_load(&cache, &c->diags, c->arguments[0], (struct span){0});
    if (!p) return STATUS_CANNOT;
    struct json_writer w = json_writer_new(&c->out);
    if (format == FORMAT_TEXT) {
        show_text(c, p->entry);
        return STATUS_OK;
    }
    platform_json(&w, p->entry);
    buf_add_char(&c->out, '\n');
    return STATUS_OK;
}

static int run(struct cmd_context *c)
{
    int format;
    if (!option_choice(c, "format", &format)) return STATUS_CANNOT;
    if (c->n_arguments > 0) return show(c, (enum format)format);
    if (format == FORMAT_JSON)
        list_json(c);
    else
        list_text(c);
    return STATUS_OK;
}

static const struct option options[] = {
    {"format", "text|json", "how to print"},
    {0},
};

const struct command command_platforms = {
    .name = "platforms",
    .arguments = "[PLATFORM]",
    .max_arguments = 1,
    .examples = "\nh100",
    .help = "List the GPU platforms, or show one with its cost coefficients",
    .details = "PLATFORM is a name or the path of a platform file; such a file may start from a "
               "known one with\n"
               "base: h100 and state only what differs; what depends on it follows.\n",
    .options = options,
    .run = run,
};
