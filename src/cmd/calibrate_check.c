/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calibrate_check.h"

#include <errno.h>
#include <math.h>

#include "base/quote.h"
#include "cmd/kernel_check.h"
#include "cmd/measured_row.h"
#include "doc/node.h"
#include "emit/json_writer.h"
#include "facts/facts.h"
#include "facts/platform.h"

enum { LONGEST_ROW = 1 << 16 };     /* bytes */
enum { PRINT_AT = 1 << 18 };        /* bytes of answers that are handed out */
enum { FORMAT_TABLE, FORMAT_ROWS }; /* as the option's words */

struct check {
    struct cmd_context *c;
    int format;
    struct platform_cache cache;
    const struct platform *given; /* --platform; NULL: each row's own */
    const struct platform *at;    /* whose machine it is */
    struct machine machine;
    struct check_tally tally;
    size_t bad; /* lines that are no JSON object, or too long */
};

/* ---- rows ---- */

/* A platform that was given stands for the rows of the chip it starts from; the others are not
   looked at. */
static const struct platform *platform_of(struct check *x, struct str chip)
{
    if (!x->given) {
        struct diags quiet;
        diags_init(&quiet, x->c->keep);
        return platform_load(&x->cache, &quiet, str_dup(x->c->keep, chip), (struct span){0});
    }
    const struct entry *e = x->given->entry;
    return str_eq(chip, x->given->id) || str_eq(chip, e->base) ? x->given : NULL;
}

static bool machine_of(struct check *x, struct str chip)
{
    if (x->at && !x->given && str_eq(x->at->asked, chip)) return true;
    const struct platform *p = platform_of(x, chip);
    if (!p) return false;
    if (p == x->at) return true;
    struct facts *f = facts_new(x->c->keep, &x->c->diags, FRAMEWORK_MEGATRON, STR(""));
    platform_apply(f, p, ORIGIN_CATALOGUE);
    x->at = p;
    return config_machine(f, &x->machine);
}

static void tell_row(struct check *x, const struct node *row, double law)
{
    struct json_writer w = json_writer_new(&x->c->out);
    json_open(&w, NULL, '{');
    json_str(&w, "id", measured_row_word(row, "id"));
    if (law > 0)
        json_number(&w, "law_s", law, 6);
    else
        json_null(&w, "law_s");
    json_close(&w, '}');
    buf_add_char(&x->c->out, '\n');
}

static void check_row(struct check *x, const struct node *row)
{
    struct arena *a = x->c->scratch;
    struct str chip = measured_row_word(row, "chip");
    struct measured m = measured_row(a, row);
    double law = machine_of(x, chip) ? measured_law(&m, &x->machine) : 0;
    struct str name =
        arena_printf(a, "%.*s %.*s %.*s %.*s", STR_ARG(m.op),
                     STR_ARG(m.kernel.n ? m.kernel : m.impl), STR_ARG(m.dtype), STR_ARG(chip));
    kernel_check_add(x->c->keep, &x->tally, name, law, measured_row_number(a, row, "seconds"));
    if (x->format == FORMAT_ROWS) tell_row(x, row, law);
}

/* ---- lines ---- */

static void check_line(struct check *x, struct str line)
{
    struct diags quiet;
    diags_init(&quiet, x->c->scratch);
    if (!str_trim(line).n) return;
    const struct node *row =
        doc_load_json(x->c->scratch, &quiet, source_add(&quiet.sources, STR("row"), line));
    if (!row || row->kind != NODE_MAP)
        x->bad++;
    else if (!node_get(row, STR("moeplan_microbenchmark"))) /* the first line of such a file */
        check_row(x, row);
}

/* Answers leave the memory when there are many, unless they are for -o FILE, which is written
   whole. */
static void hand_out(struct check *x)
{
    struct buf *out = &x->c->out;
    if (out->n < PRINT_AT || option_value(x->c, "output").n) return;
    fwrite(out->p, 1, out->n, stdout);
    out->n = 0;
}

/* A line above the limit is read past. */
static void check_file(struct check *x, FILE *file)
{
    char *line = arena_room(x->c->keep, LONGEST_ROW);
    bool whole = true;
    while (fgets(line, LONGEST_ROW, file)) {
        size_t n = strlen(line);
        bool ended = n > 0 && line[n - 1] == '\n', starts = whole;
        whole = ended || feof(file);
        if (starts && whole)
            check_line(x, (struct str){line, n});
        else if (starts)
            x->bad++;
        arena_reset(x->c->scratch);
        hand_out(x);
    }
}

/* ---- the table ---- */

static double percent(double log_error)
{
    return 100 * (exp(log_error) - 1);
}

static void tell_table(struct check *x)
{
    struct buf *out = &x->c->out;
    buf_printf(out, "%-72s %6s %8s %8s %8s\n", "kind", "rows", "signed", "median", "p90");
    for (size_t i = 0; i < x->tally.n; i++) {
        const struct check_kind *k = x->tally.kinds[i];
        buf_printf(out, "%-72.*s %6u %+7.1f%% %7.1f%% %7.1f%%\n", LINE_ARG(x->c->keep, k->name),
                   k->n, percent(kernel_check_quantile(k, 0.5, false)),
                   percent(kernel_check_quantile(k, 0.5, true)),
                   percent(kernel_check_quantile(k, 0.9, true)));
    }
}

int calibrate_check(struct cmd_context *c, struct str path)
{
    struct check *x = ARENA_NEW(c->keep, struct check);
    *x = (struct check){.c = c, .cache = {.arena = c->keep}};
    if (!option_choice(c, "format", &x->format)) return STATUS_CANNOT;
    struct str platform = option_value(c, "platform");
    if (platform.n) {
        x->given = platform_load(&x->cache, &c->diags, platform, (struct span){0});
        if (!x->given) return STATUS_CANNOT;
    }
    FILE *file = str_is(path, "-") ? stdin : fopen(str_dup(c->keep, path).p, "r");
    if (!file) return cmd_usage_error(c, "%.*s cannot be read: %s", STR_ARG(path), strerror(errno));
    check_file(x, file);
    if (file != stdin) fclose(file);
    if (x->tally.rows == 0)
        return cmd_usage_error(c, "%.*s holds no rows of JSON", LINE_ARG(c->keep, path));
    if (x->format == FORMAT_TABLE) tell_table(x);
    buf_printf(&c->err, "%zu rows, %zu without a law, %zu lines that are no row\n", x->tally.rows,
               x->tally.unlawful, x->bad);
    return STATUS_OK;
}
