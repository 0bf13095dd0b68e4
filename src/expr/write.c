/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ctext.h"
#include "expr/program.h"

static void write_nodes(const struct expr *e, struct buf *out, const char *name)
{
    buf_printf(out, "static const struct expr_node %s_nodes[] = {\n", name);
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        const struct expr_node *n = &e->nodes[i];
        buf_printf(out, "    {%u, %u, %u, %u, %u, %u, %u, %u, %u, %u},\n", n->op, n->type,
                   n->height, n->local, n->n_locals, n->a, n->b, n->c, n->from, n->to);
    }
    buf_add(out, STR("};\n"));
}

/* Nothing for an empty array, which C does not have. */
static void write_numbers(struct buf *out, const char *name, const char *what,
                          const uint32_t *numbers, uint32_t n)
{
    if (!n) return;
    buf_printf(out, "static const uint32_t %s_%s[] = {", name, what);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "%s%u", i ? ", " : "", numbers[i]);
    buf_add(out, STR("};\n"));
}

static void write_constants(const struct expr *e, struct buf *out, const char *name)
{
    if (!e->n_constants) return;
    buf_printf(out, "static const struct value %s_constants[] = {\n", name);
    for (uint32_t i = 0; i < e->n_constants; i++) {
        buf_add(out, STR("    "));
        ctext_value(out, e->constants[i]);
        buf_add(out, STR(",\n"));
    }
    buf_add(out, STR("};\n"));
}

static void write_variables(const struct expr *e, struct buf *out, const char *name)
{
    if (!e->n_variables) return;
    buf_printf(out, "static const struct expr_use %s_variables[] = {\n", name);
    for (uint32_t i = 0; i < e->n_variables; i++) {
        const struct expr_use *use = &e->variables[i];
        const struct str texts[] = {use->name, use->text, use->doc};
        buf_add(out, STR("    {"));
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            ctext_str(out, texts[k]);
            buf_add(out, STR(", "));
        }
        buf_printf(out, "%u},\n", use->root);
    }
    buf_add(out, STR("};\n"));
}

static void write_reference(struct buf *out, const char *name, const char *what, uint32_t n)
{
    if (n)
        buf_printf(out, "%s_%s, ", name, what);
    else
        buf_add(out, STR("NULL, "));
}

void expr_write_c(const struct expr *e, struct buf *out, const char *name)
{
    write_nodes(e, out, name);
    write_numbers(out, name, "args", e->args, e->n_args);
    write_constants(e, out, name);
    write_numbers(out, name, "slots", e->slots, e->n_slots);
    write_variables(e, out, name);
    buf_printf(out, "static const struct expr %s = {", name);
    ctext_str(out, e->source);
    buf_printf(out, ", %s_nodes, ", name);
    write_reference(out, name, "args", e->n_args);
    write_reference(out, name, "constants", e->n_constants);
    write_reference(out, name, "slots", e->n_slots);
    write_reference(out, name, "variables", e->n_variables);
    buf_printf(out, "%u, %u, %u, %u, %u, %u, %u};\n", e->n_text, e->n_nodes, e->n_args,
               e->n_constants, e->n_slots, e->n_variables, e->root);
}
