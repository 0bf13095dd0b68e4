/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the script itself, whatever it launches: arguments that only its caller knows,
   line ends. */
#include "base/buf.h"
#include "facts/shell_state.h"

/* ---- arguments ---- */

static bool launch_has(const struct shell *sh, uint32_t at)
{
    for (size_t i = 0; i < sh->launch.n; i++) {
        struct shell_text t = sh->launch.items[i];
        for (size_t k = 0; k < t.n; k++)
            if (t.p[k] == SHELL_UNKNOWN && t.at[k] == at) return true;
    }
    return false;
}

static bool is_among(const struct shell_missing_list *list, struct str name)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->items[i].name, name)) return true;
    return false;
}

/* $1 and its like where the launch depends on them. */
static void tell_arguments(struct shell *sh)
{
    struct shell_missing_list needed = {0};
    struct buf names = buf_new(sh->arena), options = buf_new(sh->arena);
    for (size_t i = 0; i < sh->arguments.n; i++) {
        const struct shell_missing *m = &sh->arguments.items[i];
        if (is_among(&needed, m->name) || !launch_has(sh, m->at)) continue;
        buf_printf(&names, "%s$%.*s", needed.n ? ", " : "", STR_ARG(m->name));
        buf_printf(&options, "%s--set %.*s=...", needed.n ? " " : "", STR_ARG(m->name));
        *VEC_PUSH(sh->arena, &needed) = *m;
    }
    if (!needed.n) return;
    struct diag *d = diag_add(
        sh->f->diags, SEVERITY_INFO, "script-argument", shell_span(sh, needed.items[0].at, 1),
        "the launch depends on %.*s, which the script is started with", STR_ARG(buf_str(&names)));
    diag_help(sh->f->diags, d, "%.*s checks it with these values", STR_ARG(buf_str(&options)));
}

/* ---- line ends ---- */

static void tell_line_ends(struct shell *sh, struct str text)
{
    size_t at = str_find_str(text, STR("\r\n"));
    if (at == text.n) return;
    struct diag *d =
        diag_add(sh->f->diags, SEVERITY_WARNING, "carriage-return",
                 source_span(&sh->f->diags->sources, sh->f->source, at, at + 1),
                 "the lines end in CR LF: bash takes the CR for part of the last word");
    diag_help(sh->f->diags, d, "sed -i 's/\\r$//' on the file");
    for (; at < text.n; at += 1 + str_find_str(str_slice(text, at + 1, text.n), STR("\r\n")))
        diag_edit(sh->f->diags, d, at, at + 1, STR(""));
    d->safe = true;
}

void shell_tell(struct shell *sh, struct str text)
{
    shell_tell_missing(sh);
    shell_tell_tails(sh);
    tell_arguments(sh);
    tell_line_ends(sh, text);
}
