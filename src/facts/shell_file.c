/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a script: what it sources, read where it lies, and what it writes and then runs,
   which is on no disk. */
#include "base/io.h"
#include "base/path.h"
#include "facts/named.h"
#include "facts/shell_state.h"

/* ---- places ---- */

static struct shell_text text_of(struct arena *a, struct str text, uint32_t base)
{
    char *p = arena_alloc(a, text.n + 1);
    uint32_t *at = ARENA_ARRAY(a, uint32_t, text.n);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\r' && i + 1 < text.n && text.p[i + 1] == '\n') continue;
        p[n] = text.p[i];
        at[n++] = base + (uint32_t)i;
    }
    return (struct shell_text){p, at, n};
}

struct shell_file *shell_file_add(struct shell *sh, uint32_t source, struct str text)
{
    uint32_t base = 0;
    if (sh->files.n) {
        const struct shell_file *last = &sh->files.items[sh->files.n - 1];
        base = last->base + (uint32_t)source_get(&sh->f->diags->sources, last->source)->text.n + 1;
    }
    struct shell_file *file = VEC_PUSH(sh->arena, &sh->files);
    *file =
        (struct shell_file){.source = source, .base = base, .text = text_of(sh->arena, text, base)};
    return file;
}

struct shell_place shell_place(const struct shell *sh, uint32_t at)
{
    size_t i = sh->files.n;
    while (i > 1 && sh->files.items[i - 1].base > at)
        i--;
    if (i == 0) return (struct shell_place){sh->f->source, at};
    const struct shell_file *file = &sh->files.items[i - 1];
    return (struct shell_place){file->source, at - file->base};
}

struct span shell_span(const struct shell *sh, uint32_t at, size_t n)
{
    struct shell_place p = shell_place(sh, at);
    return source_span(&sh->f->diags->sources, p.source, p.byte, p.byte + n);
}

/* ---- sourced files ---- */

/* The name as a file in the script's folder has it; empty: it begins elsewhere, or is not known. */
static struct str name_beside(struct shell_text t)
{
    struct str s = shell_str(t);
    if (s.n && s.p[0] == SHELL_FOLDER) {
        s = str_slice(s, 1, s.n);
        while (s.n && s.p[0] == '/')
            s = str_slice(s, 1, s.n);
        t.p = s.p;
        t.n = s.n;
    }
    bool plain = shell_known(t) && s.n && s.p[0] != '/' && s.p[0] != '~';
    return plain && !memchr(s.p, '\0', s.n) ? s : (struct str){"", 0};
}

/* The one with that real path. The script itself runs all the time. */
static struct shell_file *file_at(struct shell *sh, struct str real)
{
    struct shell_file *script = &sh->files.items[0];
    struct str path = source_get(&sh->f->diags->sources, script->source)->path;
    if (!script->open) path_real(sh->arena, str_dup(sh->arena, path).p, &script->real);
    script->open = true;
    for (size_t i = 0; i < sh->files.n; i++)
        if (str_eq(sh->files.items[i].real, real)) return &sh->files.items[i];
    return NULL;
}

/* Whether a file of the disk is being checked: only that one may name others. */
static bool may_read(const struct shell *sh)
{
    const struct sources *sources = &sh->f->diags->sources;
    struct str path = source_get(sources, sh->f->source)->path;
    return !sources->requests && sh->files.n <= SHELL_MAX_FILES &&
           io_is_file(str_dup(sh->arena, path).p);
}

struct shell_file *shell_file_find(struct shell *sh, struct shell_text name)
{
    struct str beside = name_beside(name), text, why;
    struct span at = {.source = sh->f->source};
    struct named named;
    if (!beside.n || !may_read(sh)) return NULL;
    if (!named_find(sh->arena, sh->f->diags, beside, at, &named, &why)) return NULL;
    struct shell_file *file = file_at(sh, named.real);
    if (file) return file->open ? NULL : file;
    if (!named_read(sh->arena, sh->f->diags, &named, &text, &why)) return NULL;
    if (text.n > SHELL_MAX_TEXT || memchr(text.p, '\0', text.n)) return NULL;
    shell_charge(sh, text.n);
    uint32_t source = source_add(&sh->f->diags->sources, named.path, text);
    *VEC_PUSH(sh->arena, &sh->f->sourced) = source;
    file = shell_file_add(sh, source, text);
    file->real = named.real;
    file->name = str_dup(sh->arena, beside);
    return file;
}

void shell_file_run(struct shell *sh, struct shell_file *file)
{
    size_t outer = sh->file, own = (size_t)(file - sh->files.items);
    enum shell_live live = sh->live;
    file->open = true;
    sh->file = own;
    shell_run(sh, file->text);
    sh->files.items[own].open = false; /* the list may have moved */
    sh->file = outer;
    if (sh->halt == SHELL_RETURN) sh->halt = SHELL_GOES_ON;
    if (sh->halt == SHELL_GOES_ON) sh->live = live;
}

/* ---- written files ---- */

static struct str plain_name(struct str name)
{
    while (str_starts(name, STR("./")))
        name = str_slice(name, 2, name.n);
    return name;
}

struct shell_written *shell_written_find(struct shell *sh, struct str name)
{
    for (size_t i = sh->written.n; i-- > 0;)
        if (str_eq(sh->written.items[i].name, plain_name(name))) return &sh->written.items[i];
    return NULL;
}

void shell_write(struct shell *sh, struct str name, struct shell_text text, bool append)
{
    if (sh->live == SHELL_DEAD || !name.n) return;
    struct shell_written *w = shell_written_find(sh, name);
    if (!w && sh->written.n >= SHELL_MAX_FILES) return;
    if (!w) {
        w = VEC_PUSH(sh->arena, &sh->written);
        *w = (struct shell_written){.name = plain_name(name), .text = {"", NULL, 0}};
    }
    struct shell_buf b = {.arena = sh->arena};
    if (append) shell_buf_text(&b, w->text);
    shell_buf_text(&b, text);
    w->text = shell_made(sh, &b);
}
