/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calibrate_shapes.h"

#include "cmd/load.h"
#include "cost/measured.h"
#include "cost/shapes.h"
#include "emit/json_writer.h"
#include "flow/estimate.h"

static const char *const kinds[SHAPE_KINDS] = {"gemm",     "grouped_gemm", "attention", "copy",
                                               "exchange", "collective",   "adam"};
enum { DIGITS = 12 };

/* The entries that a kind has are those that are set. */
static void write_shape(struct json_writer *w, const struct shape *x, struct str low)
{
    const struct str dtypes[] = {
        [NUMERIC_LOW] = low, [NUMERIC_16] = STR("bf16"), [NUMERIC_32] = STR("fp32")};
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"rows", x->rows},         {"out", x->out},       {"in", x->in},
                   {"experts", x->experts},   {"seq", x->seq},       {"batch", x->batch},
                   {"heads", x->heads},       {"qk_dim", x->qk_dim}, {"v_dim", x->v_dim},
                   {"window", x->window},     {"bytes", x->bytes},   {"ranks", x->ranks},
                   {"tokens", x->tokens},     {"width", x->width},   {"topk", x->topk},
                   {"elements", x->elements}, {"count", x->count}};
    json_open(w, NULL, '{');
    json_str(w, "kind", str_of(kinds[x->kind]));
    if (x->kind == SHAPE_GEMM || x->kind == SHAPE_GROUPED)
        json_str(w, "dtype", dtypes[x->numeric]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value > 0) json_number(w, numbers[i].name, numbers[i].value, DIGITS);
    json_close(w, '}');
    buf_add_char(w->out, '\n');
}

int calibrate_shapes(struct cmd_context *c, const struct rule_set *rules,
                     const struct read_options *options, struct str path)
{
    struct estimate *base = ARENA_NEW(c->keep, struct estimate);
    struct shape_list shapes = {0};
    const struct facts *f = load_recipe(c, path, STR(""), options);
    if (!f) return STATUS_CANNOT;
    estimate_facts(c->keep, rules, f, c->scratch, base);
    if (!base->complete)
        return cmd_usage_error(c, "%.*s: %.*s", STR_ARG(path), STR_ARG(base->missing));
    shapes_of(c->keep, &base->config, &shapes);
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    json_int(&w, "moeplan_shapes", 1);
    json_open(&w, "shapes", '[');
    for (size_t i = 0; i < shapes.n; i++)
        write_shape(&w, &shapes.items[i], measured_dtype(base->config.knobs.precision));
    json_close(&w, ']');
    json_close(&w, '}');
    buf_add_char(&c->out, '\n');
    return STATUS_OK;
}
