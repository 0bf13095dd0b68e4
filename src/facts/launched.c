/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/launched.h"

#include "base/io.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"

/* Folders up from a file, imports of imports, and files: a program's own parser is near to it. */
enum { UPWARD = 8, DEEPEST = 3, MOST_FILES = 32, MOST_BYTES = 1 << 20 };

struct module {
    struct str path;
    int depth; /* imports from the script to it */
};

struct search {
    struct arena *a;
    struct sought *items;
    size_t n;
    VEC(struct module) files; /* read, and to be read */
    struct map packages;      /* folder/package: whether it can be imported from that folder */
    struct map seen;          /* folder, module and name that were looked for */
};

static const struct str nothing = {"", 0};

/* ---- words ---- */

static bool has_nocase(struct str text, struct str word)
{
    for (size_t at = 0; at + word.n <= text.n; at++)
        if (str_eq_nocase(str_slice(text, at, at + word.n), word)) return true;
    return false;
}

/* Where the text has a word between quotes; its length: nowhere. */
static size_t find_quoted(struct arena *a, struct str text, struct str word)
{
    size_t one = str_find_str(text, arena_printf(a, "'%.*s'", STR_ARG(word))),
           two = str_find_str(text, arena_printf(a, "\"%.*s\"", STR_ARG(word)));
    return one < two ? one : two;
}

static bool has_quoted(struct arena *a, struct str text, struct str word)
{
    return find_quoted(a, text, word) < text.n;
}

/* What a parser is told of the flag: from its name, which stands in quotes there, to the next one's
   or the function's end. Of one that is only mentioned, as a message does, that alone; one of a
   single dash is the end of many words. */
static struct str told_of(struct arena *a, struct str text, struct str flag)
{
    struct str rest = str_slice(text, find_quoted(a, text, flag), text.n);
    if (rest.n && flag.n) {
        rest = str_slice(rest, 0, str_find_str(rest, STR("add_argument(")));
        return str_slice(rest, 0, str_find_str(rest, STR("\ndef ")));
    }
    bool may_be_mentioned = str_starts(flag, STR("--")) || !str_starts(flag, STR("-"));
    size_t at = may_be_mentioned ? checkout_find(text, flag) : text.n;
    return str_slice(text, at, at + flag.n < text.n ? at + flag.n : text.n);
}

static void look_in(struct search *s, struct str text)
{
    if (str_find_str(text, STR("add_argument(")) == text.n) return;
    for (size_t i = 0; i < s->n; i++) {
        struct sought *x = &s->items[i];
        if (x->found) continue;
        struct str told = told_of(s->a, text, x->flag);
        if (!told.n || (x->value.n && !has_quoted(s->a, told, x->value))) continue;
        if (x->real && str_find_str(told, STR("float")) == told.n) continue;
        x->found = true;
        x->deprecated = has_nocase(told, STR("deprecat"));
    }
}

/* What stands of a dataclass's field, up to the empty line behind it; empty: there is none. */
static struct str field_of(struct arena *a, struct str text, struct str name)
{
    struct str begin = arena_printf(a, "\n    %.*s:", STR_ARG(name));
    struct str rest = str_slice(text, str_find_str(text, begin), text.n);
    size_t to = str_find_str(str_slice(rest, rest.n ? 1 : 0, rest.n), STR("\n\n"));
    return str_slice(rest, 0, to + 1);
}

/* Flags that a parser is given for the fields of a dataclass: of one that is true by default the
   flag takes it back. */
static void look_in_fields(struct search *s, struct str text)
{
    static const char *const denials[] = {"", "no_", "disable_"};
    for (size_t i = 0; i < s->n; i++) {
        struct sought *x = &s->items[i];
        if (x->found || !str_starts(x->flag, STR("--"))) continue;
        struct str name = str_exchange(s->a, str_slice(x->flag, 2, x->flag.n), '-', '_');
        for (size_t k = 0; k < sizeof denials / sizeof *denials && !x->found; k++) {
            struct str denial = str_of(denials[k]);
            if (!str_starts(name, denial)) continue;
            struct str told = field_of(s->a, text, str_slice(name, denial.n, name.n));
            x->found = told.n && (!x->value.n || has_quoted(s->a, told, x->value)) &&
                       (!x->real || str_find_str(told, STR("float")) < told.n);
        }
    }
}

/* ---- files ---- */

/* A path seen from a folder, or from one above it; empty: there is no such file. */
static struct str find_around(struct arena *a, struct str folder, struct str path)
{
    for (int i = 0; i < UPWARD && folder.n > 1 && path.n; i++) {
        struct str file = path_join(a, folder, path);
        if (io_is_file(file.p)) return file;
        folder = path_parent(folder);
    }
    return nothing;
}

static struct str path_of_module(struct arena *a, struct str module)
{
    return arena_printf(a, "%.*s.py", STR_ARG(str_exchange(a, module, '.', '/')));
}

/* The script of a launch. Where it lies on the machine that runs it, only the end of its path may
   be the same here. */
static struct str find_script(struct arena *a, struct str folder, struct str script)
{
    struct str path = str_ends(script, STR(".py")) ? script : path_of_module(a, script), part;
    struct str found = nothing;
    while (!found.n && path.n) {
        if (!str_starts(path, STR("/"))) found = find_around(a, folder, path);
        str_split(&path, '/', &part);
    }
    return found;
}

/* Notes a file that is to be read: the nearer ones first. */
static void note_file(struct search *s, struct str file, int depth)
{
    for (size_t i = 0; i < s->files.n; i++)
        if (str_eq(s->files.items[i].path, file)) return;
    if (depth <= DEEPEST && s->files.n < MOST_FILES)
        *VEC_PUSH(s->a, &s->files) = (struct module){file, depth};
}

/* Of Megatron-LM's own modules those that fill parsers say so in their names. */
static bool may_have_flags(struct str module, struct str name)
{
    struct str words = STR("argument");
    return !str_starts(module, STR("megatron.")) || str_find_str(module, words) < module.n ||
           str_find_str(name, words) < name.n;
}

/* Whether a package, or a module without one, lies in a folder or in one above it. Most that a file
   imports are installed elsewhere: asked once a folder, and not of each module. */
static bool has_package(struct search *s, struct str folder, struct str package)
{
    if (folder.n <= 1) return false;
    struct str path = path_join(s->a, folder, package);
    int64_t known = map_get(&s->packages, path);
    if (known != MAP_NONE) return known;
    struct str module = arena_printf(s->a, "%.*s.py", STR_ARG(path));
    bool found = io_is_folder(path.p) || io_is_file(module.p) ||
                 has_package(s, path_parent(folder), package);
    map_put(s->a, &s->packages, path, found);
    return found;
}

/* pkg.module, or .module beside the file; a name that is imported from a package may be one. */
static void visit_module(struct search *s, struct str folder, struct str module, struct str name,
                         int depth)
{
    if (!may_have_flags(module, name)) return;
    bool beside = str_starts(module, STR("."));
    struct str key =
        arena_printf(s->a, "%.*s %.*s %.*s", STR_ARG(folder), STR_ARG(module), STR_ARG(name));
    if (!map_put(s->a, &s->seen, key, 1)) return;
    struct str package = str_slice(module, 0, str_find(module, '.'));
    if (!beside && package.n && !has_package(s, folder, package)) return;
    while (str_starts(module, STR("."))) {
        module = str_slice(module, 1, module.n);
        if (str_starts(module, STR("."))) folder = path_parent(folder);
    }
    struct str path = str_exchange(s->a, module, '.', '/');
    const struct str tries[] = {
        arena_printf(s->a, "%.*s.py", STR_ARG(path)),
        arena_printf(s->a, "%.*s%s__init__.py", STR_ARG(path), path.n ? "/" : ""),
        arena_printf(s->a, "%.*s%s%.*s.py", STR_ARG(path), path.n ? "/" : "", STR_ARG(name))};
    for (size_t i = module.n ? 0 : 1; i < sizeof tries / sizeof *tries; i++) {
        struct str file = path_join(s->a, folder, tries[i]);
        if (!beside) file = find_around(s->a, folder, tries[i]);
        if (file.n && io_is_file(file.p)) note_file(s, file, depth);
    }
}

/* from X import a, b and import X, one line each. */
static void follow_imports(struct search *s, struct str folder, struct str text, int depth)
{
    struct str line, word;
    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        bool from = str_starts(line, STR("from ")), import = str_starts(line, STR("import "));
        if (!from && !import) continue;
        line = str_trim(str_slice(line, from ? 5 : 7, line.n));
        size_t end = 0;
        while (end < line.n && line.p[end] != ' ' && line.p[end] != ',')
            end++;
        struct str module = str_slice(line, 0, end);
        struct str names = from ? str_slice(line, end + sizeof " import" - 1, line.n) : nothing;
        if (!names.n) visit_module(s, folder, module, STR("__init__"), depth);
        while (str_split(&names, ',', &word)) {
            word = str_trim(word);
            visit_module(s, folder, module, str_slice(word, 0, str_find(word, ' ')), depth);
        }
    }
}

static void read_module(struct search *s, struct module m)
{
    struct str text, why;
    if (!io_read_regular(s->a, m.path.p, MOST_BYTES, &text, &why)) return;
    look_in(s, text);
    follow_imports(s, path_parent(m.path), text, m.depth + 1);
}

static bool all_found(const struct search *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->items[i].found) return false;
    return true;
}

/* The flags that Megatron-LM's parser makes of its configurations' fields, since it does. */
static void seek_fields(struct search *s, const struct diags *diags, uint32_t source,
                        struct str parser)
{
    static const char *const configurations[] = {
        "megatron/training/config/training_config.py", "megatron/training/config/common_config.py",
        "megatron/training/config/resilience_config.py", "megatron/core/model_parallel_config.py",
        "megatron/core/transformer/transformer_config.py"};
    if (str_find_str(parser, STR("ArgumentGroupFactory(")) == parser.n) return;
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations && !all_found(s); i++)
        look_in_fields(
            s, checkout_text(s->a, diags, source, FRAMEWORK_MEGATRON, str_of(configurations[i])));
}

void launched_seek(struct arena *a, const struct diags *diags, uint32_t source, struct str script,
                   struct sought *items, size_t n)
{
    static const char *const parsers[] = {"megatron/training/arguments.py",
                                          "megatron/post_training/arguments.py",
                                          "megatron/arguments.py"}; /* of former releases */
    if (!n) return;
    struct arena_mark mark = arena_mark(a);
    struct search s = {.a = a, .items = items, .n = n};
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++) {
        struct str text = checkout_text(a, diags, source, FRAMEWORK_MEGATRON, str_of(parsers[i]));
        look_in(&s, text);
        seek_fields(&s, diags, source, text);
    }
    struct str folder = checkout_folder(a, diags, source);
    struct str file = folder.n ? find_script(a, folder, script) : nothing;
    if (file.n) note_file(&s, file, 0);
    for (size_t i = 0; i < s.files.n; i++)
        read_module(&s, s.files.items[i]);
    arena_pop(a, mark);
}
