/* SPDX-License-Identifier: Apache-2.0 */
/* What a newer release of the framework makes of a file that an older one takes. */
#include "facts/profile.h"
#include "flow/validate.h"

static bool is_told(const struct diags *diags, const struct diag *d)
{
    for (size_t i = 0; i < diags->n; i++) {
        const struct diag *old = &diags->items[i];
        if (str_eq(old->rule, d->rule) && old->at.line == d->at.line &&
            old->at.column == d->at.column && old->document == d->document)
            return true;
    }
    return false;
}

static void leave_out_known(struct diags *now, const struct diags *before)
{
    size_t kept = 0;
    for (size_t i = 0; i < now->n; i++)
        if (!is_told(before, &now->items[i])) now->items[kept++] = now->items[i];
    now->n = kept;
}

static bool is_nothing(struct value v)
{
    return v.kind == VALUE_NULL || (v.kind == VALUE_STRING && !v.s.n);
}

void validate_changed_defaults(const struct validation *v, struct facts *f)
{
    const struct profile *from = v->from.n ? profile_find(f->framework, v->from) : NULL;
    if (!from || !f->profile) return;
    for (int i = 0; i < (int)param_count; i++) {
        struct value was = profile_default_of(from, i), now = profile_default_of(f->profile, i);
        if (facts_get(f, i)->origin != ORIGIN_DEFAULT || value_eq(was, now)) continue;
        bool known = was.kind != VALUE_UNKNOWN && now.kind != VALUE_UNKNOWN;
        if (!known || !facts_can_say(f, i) || (is_nothing(was) && is_nothing(now))) continue;
        struct diag *d = diag_add(
            f->diags, SEVERITY_INFO, "default-changed", (struct span){.source = f->source},
            "%.*s is not written: its default was %.*s and is %.*s", STR_ARG(param_table[i].name),
            STR_ARG(value_text(f->arena, was)), STR_ARG(value_text(f->arena, now)));
        d->parameter = param_table[i].name;
        diag_help(f->diags, d, "write %.*s to keep it", STR_ARG(value_text(f->arena, was)));
    }
}

struct file_report validate_upgrade(struct validation *v, struct str path, struct str text,
                                    struct str as, const struct read_options *options)
{
    struct read_options old_options = *options;
    struct validation old = *v;
    old_options.version = v->from;
    old.from = (struct str){"", 0};
    struct file_report before = validate_text(&old, path, text, as, &old_options);
    struct file_report now = validate_text(v, path, text, as, options);
    leave_out_known(now.diags, before.diags);
    if (now.status == FILE_INVALID) now.status = FILE_OK;
    for (size_t i = 0; i < now.diags->n && now.status == FILE_OK; i++)
        if (now.diags->items[i].severity >= v->fail_on) now.status = FILE_INVALID;
    return now;
}
