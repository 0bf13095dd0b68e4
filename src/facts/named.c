/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/named.h"

#include <assert.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/path.h"
#include "base/reach.h"

enum { LARGEST = 4 * 1024 * 1024 }; /* bytes of a file that a text names */

/* ---- finding ---- */

static bool find_given(struct arena *a, const struct diags *diags, struct str name,
                       struct named *out, struct str *why)
{
    struct stat st;
    *out = (struct named){.path = str_dup(a, name), .real = name};
    bool there = str_is(name, "-") || stat(out->path.p, &st) == 0;
    bool nothing = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
    if (!there && !nothing) *why = arena_printf(a, "cannot be read: %s", strerror(errno));
    if (there) path_real(a, out->path.p, &out->real);
    if (!there || !diags->sources.requests || !reach_is_system(a, name)) return there;
    *why = STR("is no ordinary file");
    return false;
}

static struct reach reach_of(struct arena *a, const struct diags *diags, uint32_t source)
{
    const struct source *text = source_get(&diags->sources, source);
    assert(text);
    return reach_of_file(a, text->path);
}

static bool find_inside(struct arena *a, const struct diags *diags, struct str name,
                        uint32_t source, struct named *out, struct str *why)
{
    struct reach reach = reach_of(a, diags, source);
    *out = (struct named){.inside = true};
    enum reach_verdict verdict = reach_find(a, &reach, name, &out->path, &out->real);
    if (verdict == REACH_OUTSIDE)
        *why = arena_printf(a, "lies outside of %.*s, below which this file may name others",
                            STR_ARG(reach.root));
    return verdict == REACH_FOUND;
}

bool named_find(struct arena *a, const struct diags *diags, struct str name, struct span at,
                struct named *out, struct str *why)
{
    *why = STR("");
    if (name.n == 0) return false;
    if (at.source == 0) return find_given(a, diags, name, out, why);
    return find_inside(a, diags, name, at.source, out, why);
}

bool named_is_given(struct arena *a, const struct diags *diags, const struct node *name,
                    struct str given)
{
    struct str real, wanted, path;
    if (given.n == 0 || name->kind != NODE_SCALAR || name->text.n == 0) return false;
    if (!path_real(a, str_dup(a, given).p, &wanted)) return false;
    struct reach reach = reach_of(a, diags, name->source);
    reach_find(a, &reach, name->text, &path, &real);
    return str_eq(real, wanted);
}

/* ---- reading ---- */

bool named_read(struct arena *a, const struct diags *diags, const struct named *file,
                struct str *text, struct str *why)
{
    struct str error;
    bool read = file->inside              ? io_read_regular(a, file->real.p, LARGEST, text, &error)
                : diags->sources.requests ? io_read_regular(a, file->real.p, 0, text, &error)
                                          : io_read(a, file->path.p, text, &error);
    if (!read) *why = arena_printf(a, "cannot be read: %.*s", STR_ARG(error));
    return read;
}

/* ---- what is wrong with it ---- */

static const char *words_for(struct str rule)
{
    static const struct {
        const char *rule, *words;
    } all[] = {
        {"yaml-syntax", "is not valid YAML"},
        {"json-syntax", "is not valid JSON"},
        {"duplicate-key", "has a key that is there already"},
        {"unknown-key", "has an unknown key"},
        {"unknown-model", "names a model that cannot be read"},
        {"unknown-platform", "names a platform that is not known"},
        {"value-type", "has a value of the wrong type"},
        {"value-choice", "has a value that is none of the choices"},
        {"value-range", "has a value out of its range"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (str_is(rule, all[i].rule)) return all[i].words;
    return "is not as it should be";
}

/* The first of the worst; NULL when there is nothing. */
static const struct diag *worst_of(const struct diags *inner)
{
    const struct diag *worst = NULL;
    for (size_t i = 0; i < inner->n; i++) {
        const struct diag *d = &inner->items[i];
        bool earlier = worst && d->severity == worst->severity && d->at.line < worst->at.line;
        if (!worst || d->severity > worst->severity || earlier) worst = d;
    }
    return worst;
}

struct diag *named_unknown(struct diags *diags, struct span at, struct str name, struct str why,
                           const char *kind, struct entry_list known)
{
    struct str rule = arena_printf(diags->arena, "unknown-%s", kind);
    if (why.n > 0) {
        diag_add(diags, SEVERITY_ERROR, rule.p, at, "%.*s %.*s", STR_ARG(name), STR_ARG(why));
        return NULL;
    }
    struct diag *d = diag_add(diags, SEVERITY_ERROR, rule.p, at,
                              "there is no %s and no file called %.*s", kind, STR_ARG(name));
    struct str near = entry_nearest(diags->arena, known.items, known.n, name);
    diag_suggest(diags, d, near);
    return near.n ? NULL : d;
}

void named_tell(struct diags *diags, struct span at, const struct named *file,
                const struct diags *inner, const char *kind)
{
    const struct diag *worst = worst_of(inner);
    if (!worst) return;
    struct arena *a = diags->arena;
    struct str verdict =
        worst->severity == SEVERITY_ERROR ? arena_printf(a, " is no %s file:", kind) : STR("");
    struct str line = worst->at.line ? arena_printf(a, "line %u", worst->at.line) : STR("it");
    struct str rule = arena_printf(a, "%s-config", kind);
    struct diag *d =
        diag_add(diags, worst->severity, rule.p, at, "%.*s, named here,%.*s %.*s %s",
                 STR_ARG(file->path), STR_ARG(verdict), STR_ARG(line), words_for(worst->rule));
    if (inner->n > 1) diag_note(diags, d, "and %zu more", inner->n - 1);
    diag_help(diags, d, "`moeplan %ss %.*s` says more", kind, STR_ARG(file->path));
}
