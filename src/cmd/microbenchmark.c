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

bool microbenchmark_is(struct arena *scratch, struct str line)
{
    bool object = str_starts(str_trim(line), STR("{"));
    const struct node *row = object ? row_of(scratch, line) : NULL;
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

/* What is fitted outlives its line. */
static void keep(struct arena *a, struct observation o, struct observation_list *out)
{
#define KEEP_WORD(name) o.kernel.name = str_dup(a, o.kernel.name);
    MEASURED_WORDS(KEEP_WORD)
#undef KEEP_WORD
    *VEC_PUSH(a, out) = o;
}

void microbenchmark_line(struct arena *a, struct arena *scratch, struct str line,
                         const struct machine *m, struct observation_list *out,
                         struct microbenchmark_left *left)
{
    if (!str_trim(line).n) return;
    const struct node *row = row_of(scratch, line);
    struct observation o = {.kind = OBSERVED_KERNEL};
    if (row) {
        o.kernel = measured_row(scratch, row);
        o.measured = measured_row_number(scratch, row, "seconds");
        o.sd = measured_sd(&o.kernel);
    }
    if (row && !measured_is_own(&o.kernel))
        leave_out(a, &o.kernel, left);
    else if (row && o.measured > 0 && measured_law(&o.kernel, m) > 0)
        keep(a, o, out);
    else
        left->unreadable++;
}
