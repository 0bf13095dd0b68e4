/* SPDX-License-Identifier: Apache-2.0 */
/* generate_evidence OUT.c FILE.yaml...: the public measurements as a C table
 * (cost/evidence_table.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/ctext.h"
#include "base/io.h"
#include "cost/evidence_table.h"
#include "doc/node.h"

enum kind { TEXT, COUNT, NUMBER, FLAG };

/* Every key of a run and how it is written. */
static const struct {
    const char *key;
    enum kind kind;
} keys[] = {
    {"id", TEXT},
    {"model", TEXT},
    {"total_params", COUNT},
    {"active_params", COUNT},
    {"framework", TEXT},
    {"platform", TEXT},
    {"gpus", COUNT},
    {"task", TEXT},
    {"precision", TEXT},
    {"seq", COUNT},
    {"mbs", COUNT},
    {"gbs", COUNT},
    {"tp", COUNT},
    {"pp", COUNT},
    {"vpp", COUNT},
    {"cp", COUNT},
    {"ep", COUNT},
    {"etp", COUNT},
    {"dispatcher", TEXT},
    {"recompute", TEXT},
    {"graphs", TEXT},
    {"fsdp", TEXT},
    {"tokens_per_s_per_gpu", NUMBER},
    {"tflops_per_gpu", NUMBER},
    {"peak_gib", NUMBER},
    {"oom", FLAG},
    {"source", TEXT},
};

struct generator {
    struct arena *arena;
    struct diags diags;
    struct buf out;
    size_t runs;
};

static void bad(struct generator *g, const struct node *at, const char *what)
{
    diag_add(&g->diags, SEVERITY_ERROR, "evidence", node_span(&g->diags, at), "%s", what);
}

static void write_value(struct generator *g, enum kind kind, const struct node *node)
{
    struct value v = node_value(g->arena, node, SCALAR_CORE);
    if (kind == TEXT) {
        ctext_str(&g->out, node->text);
    } else if (kind == COUNT && v.kind == VALUE_INT) {
        buf_printf(&g->out, "%lld", (long long)v.i);
    } else if (kind == NUMBER && value_is_number(v)) {
        buf_printf(&g->out, "%.17g", v.kind == VALUE_INT ? (double)v.i : v.d);
    } else if (kind == FLAG && v.kind == VALUE_BOOL) {
        buf_printf(&g->out, "%s", v.b ? "true" : "false");
    } else {
        bad(g, node, "a value of another kind");
    }
}

static void write_run(struct generator *g, const struct node *run)
{
    if (!node_get(run, STR("id")) || !node_get(run, STR("source")))
        bad(g, run, "a run needs an id and a source");
    buf_printf(&g->out, "{");
    for (size_t i = 0; i < run->n; i++) {
        size_t k = 0, n = sizeof keys / sizeof *keys;
        while (k < n && !str_is(run->keys[i]->text, keys[k].key))
            k++;
        if (k == n) {
            bad(g, run->keys[i], "unknown key");
            continue;
        }
        buf_printf(&g->out, ".%s=", keys[k].key);
        write_value(g, keys[k].kind, run->items[i]);
        buf_printf(&g->out, ",");
    }
    buf_printf(&g->out, "},\n");
    g->runs++;
}

static void add_file(struct generator *g, const char *path)
{
    struct str text, error;
    if (!io_read(g->arena, path, &text, &error)) {
        diag_add(&g->diags, SEVERITY_ERROR, "evidence", (struct span){0}, "%.*s", STR_ARG(error));
        return;
    }
    struct node_list docs = {0};
    if (!doc_load(g->arena, &g->diags, source_add(&g->diags.sources, str_of(path), text), &docs))
        return;
    const struct node *runs = docs.n == 1 ? node_get(docs.items[0], STR("runs")) : NULL;
    for (size_t i = 0; runs && i < runs->n; i++)
        write_run(g, runs->items[i]);
}

static bool report(struct generator *g)
{
    for (size_t i = 0; i < g->diags.n; i++) {
        const struct diag *d = &g->diags.items[i];
        const struct source *s = source_get(&g->diags.sources, d->at.source);
        fprintf(stderr, "%.*s:%u: %.*s\n", STR_ARG(s ? s->path : STR("evidence")), d->at.line,
                STR_ARG(d->message));
    }
    return diags_count(&g->diags, SEVERITY_ERROR) == 0;
}

int main(int argc, char **argv)
{
    struct generator g = {.arena = arena_new(0)};
    if (argc < 2 || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    buf_printf(&g.out, "/* Generated from rules/evidence. */\n#include \"cost/evidence_table.h\"\n"
                       "const struct evidence_record evidence_records[] = {\n");
    for (int i = 2; i < argc; i++)
        add_file(&g, argv[i]);
    buf_printf(&g.out, "{.id={\"\",0}}};\nconst size_t evidence_record_count = %zu;\n", g.runs);
    struct str error;
    bool good = report(&g) && io_write(g.arena, argv[1], buf_str(&g.out), &error);
    arena_free(g.arena);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
