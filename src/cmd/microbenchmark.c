/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/microbenchmark.h"

#include "cmd/measured_row.h"

/* The JSON object of a line; NULL: it is none. */
static const struct node *row_of(struct arena *a, struct str line)
{
    struct diags quiet;
    diags_init(&quiet, a);
    const struct node *row = doc_load_json(a, &quiet, source_add(&quiet.sources, STR("row"), line));
    return row && row->kind == NODE_MAP ? row : NULL;
}

bool microbenchmark_is(struct arena *a, struct str text)
{
    struct str line;
    bool object = str_split(&text, '\n', &line) && str_starts(str_trim(line), STR("{"));
    const struct node *row = object ? row_of(a, line) : NULL;
    return row && node_get(row, STR("moeplan_microbenchmark"));
}

static void leave_out(struct arena *a, const struct measured *x, struct microbenchmark_left *left)
{
    struct str kernel = x->kernel.n ? x->kernel : STR("unnamed");
    struct str name = arena_printf(a, "%.*s %.*s", STR_ARG(x->op), STR_ARG(kernel));
    left->foreign++;
    if (str_find_str(left->kernels, name) < left->kernels.n) return;
    left->kernels = left->kernels.n
                        ? arena_printf(a, "%.*s, %.*s", STR_ARG(left->kernels), STR_ARG(name))
                        : name;
}

static void add_row(struct arena *a, const struct node *row, const struct machine *m,
                    struct observation_list *out, struct microbenchmark_left *left)
{
    struct observation o = {.kind = OBSERVED_KERNEL, .kernel = measured_row(a, row)};
    o.measured = measured_row_number(a, row, "seconds");
    o.sd = measured_sd(&o.kernel);
    o.label = o.kernel.op;
    if (!measured_is_own(&o.kernel))
        leave_out(a, &o.kernel, left);
    else if (o.measured > 0 && measured_law(&o.kernel, m) > 0)
        *VEC_PUSH(a, out) = o;
    else
        left->unreadable++;
}

struct microbenchmark_left microbenchmark_read(struct arena *a, struct str text,
                                               const struct machine *m,
                                               struct observation_list *out)
{
    struct microbenchmark_left left = {0};
    struct str line;
    str_split(&text, '\n', &line); /* says on what it was measured */
    while (str_split(&text, '\n', &line)) {
        if (!str_trim(line).n) continue;
        const struct node *row = row_of(a, line);
        if (row)
            add_row(a, row, m, out, &left);
        else
            left.unreadable++;
    }
    return left;
}
