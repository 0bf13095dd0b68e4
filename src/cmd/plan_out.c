/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/plan_out.h"

#include "base/path.h"
#include "base/quote.h"
#include "base/reach.h"
#include "facts/platform.h"

/* Where the output will lie; the current folder when it is none of a user's files. */
static struct str folder_of_output(const struct cmd_context *c)
{
    struct str path = option_value(c, "output");
    bool system = str_starts(path, STR("/dev/")) || str_starts(path, STR("/proc/"));
    return system ? STR("") : path_folder(path);
}

static void check_platform(struct cmd_context *c, struct str folder, const struct platform *p)
{
    struct str name = path_seen_from(c->keep, folder, p->id), path, real;
    struct reach reach = reach_of_folder(c->keep, folder);
    if (reach_find(c->keep, &reach, name, &path, &real) == REACH_FOUND) return;
    buf_printf(&c->err,
               "note: the plan names %.*s, which lies outside of %.*s: where it is read, give "
               "--platform too\n",
               LINE_ARG(c->keep, name), LINE_ARG(c->keep, reach.root));
}

void plan_out_in(struct cmd_context *c, const struct emit_input *in, struct str folder,
                 struct buf *out)
{
    struct emit_input here = *in;
    here.folder = folder;
    if (here.facts->platform && here.facts->platform->own)
        check_platform(c, here.folder, here.facts->platform);
    emit_plan(&here, out);
}

void plan_out(struct cmd_context *c, const struct emit_input *in)
{
    plan_out_in(c, in, folder_of_output(c), &c->out);
}
