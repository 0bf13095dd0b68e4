/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/refused.h"

#include "base/quote.h"

/* The options of the command line that bear on what is found. */
static bool bears(const char *name)
{
    return str_is_any(str_of(name),
                      "gpus|platform|model|framework|framework-version|as|set|env|rules");
}

/* "moeplan validate plan.yaml --gpus 64" */
static struct str validate_line(struct cmd_context *c, struct str path)
{
    struct buf b = buf_new(c->keep);
    buf_printf(&b, "moeplan validate %.*s", STR_ARG(quote_shell(c->keep, path)));
    for (size_t i = 0; i < c->n_given; i++) {
        const struct given *g = &c->given[i];
        if (bears(g->option->name))
            buf_printf(&b, " --%s %.*s", g->option->name, STR_ARG(quote_shell(c->keep, g->value)));
    }
    return buf_str(&b);
}

void refused_text(struct cmd_context *c, struct str path, const struct refusal *r, struct buf *out)
{
    if (!r->errors) return;
    struct str line = validate_line(c, path);
    buf_printf(out, "refused: %.*s [%.*s]", LINE_ARG(c->keep, r->message), STR_ARG(r->rule));
    if (r->errors > 1)
        buf_printf(out, " and %zu more error%s", r->errors - 1, r->errors > 2 ? "s" : "");
    buf_printf(out, "\n  the figures are as if it ran; to see what to mend: %.*s\n",
               LINE_ARG(c->keep, line));
}

int refused_status(bool refused, int fits)
{
    return refused || fits == FITS_NO ? STATUS_NO : STATUS_OK;
}
