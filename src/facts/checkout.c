/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/checkout.h"

#include "base/dir.h"
#include "base/io.h"
#include "base/num.h"
#include "base/path.h"
#include "base/version.h"
#include "facts/automodel.h"
#include "facts/profile.h"

/* Where a repository keeps the version of the framework that is developed in it. */
static const char *const version_files[FRAMEWORK_COUNT] = {
    [FRAMEWORK_MEGATRON] = "megatron/core/package_info.py",
    [FRAMEWORK_BRIDGE] = "src/megatron/bridge/package_info.py",
    [FRAMEWORK_AUTOMODEL] = "nemo_automodel/package_info.py",
};

enum { DEEPEST = 24, MOST_BYTES = 1 << 20 }; /* folders up, of a file */

static bool read_number(struct str text, struct str name, int64_t *out)
{
    struct str line;
    while (str_split(&text, '\n', &line)) {
        size_t eq = str_find(line, '=');
        if (eq < line.n && str_eq(str_trim(str_slice(line, 0, eq)), name))
            return num_parse_int(str_trim(str_slice(line, eq + 1, line.n)), out);
    }
    return false;
}

/* The text of a file in a folder; empty: it cannot be read. */
static struct str text_in(struct arena *a, struct str folder, struct str path)
{
    struct str text, why;
    bool read = io_read_regular(a, path_join(a, folder, path).p, MOST_BYTES, &text, &why);
    return read ? text : STR("");
}

/* "0.16" of a checkout's package_info.py, "0" without one; empty where it is written in another
   way. */
static struct str version_of(struct arena *a, struct str root, enum framework framework)
{
    struct str text = text_in(a, root, str_of(version_files[framework]));
    int64_t major, minor;
    if (!text.n) return STR("0");
    if (!read_number(text, STR("MAJOR"), &major) || !read_number(text, STR("MINOR"), &minor))
        return STR("");
    return arena_printf(a, "%lld.%lld", (long long)major, (long long)minor);
}

static bool is_before(struct str version, const struct profile *release)
{
    return version_cmp(version, release->version) < 0;
}

/* The releases that have the module which stands at *i; the table is sorted by path, and *i is left
   at its last record. */
static uint32_t releases_of(uint32_t *i)
{
    uint32_t releases = automodel_modules[*i].releases;
    while (*i + 1 < automodel_module_count &&
           str_eq(automodel_modules[*i + 1].path, automodel_modules[*i].path))
        releases |= automodel_modules[++*i].releases;
    return releases;
}

static bool has_module(struct arena *a, struct str root, struct str path)
{
    struct str folder = root, part;
    while (str_split(&path, '.', &part))
        folder = path_join(a, folder, part);
    return io_is_folder(folder.p) || io_is_file(arena_printf(a, "%.*s.py", STR_ARG(folder)).p);
}

/* Whether a checkout has most of the modules, of the first few, that a release has and the one
   before has not. */
static bool has_what_came_with(struct arena *a, struct str root, uint32_t release, uint32_t before)
{
    enum { ASKED = 9 };
    int asked = 0, found = 0;
    for (uint32_t i = 0; i < automodel_module_count && asked < ASKED; i++) {
        uint32_t releases = releases_of(&i);
        if (!(releases & release) || (releases & before)) continue;
        asked++;
        found += has_module(a, root, automodel_modules[i].path);
    }
    return 2 * found > asked;
}

/* AutoModel keeps the number of a release until long after it, main above all: the release that its
   modules are of. */
static struct str grown_release(struct arena *a, struct str root, const struct profile *known)
{
    uint32_t newest = profile_newest(FRAMEWORK_AUTOMODEL, RELEASES_ALL)->bit, bit = known->bit;
    while (bit > newest && has_what_came_with(a, root, bit >> 1, bit))
        bit >>= 1;
    return profile_newest(FRAMEWORK_AUTOMODEL, bit)->version;
}

static struct str known_release(struct arena *a, struct str root, enum framework framework)
{
    struct str version = version_of(a, root, framework);
    const struct profile *known = version.n ? profile_find(framework, version) : NULL;
    if (known && framework == FRAMEWORK_AUTOMODEL) return grown_release(a, root, known);
    if (!version.n || known) return version;
    const struct profile *oldest = profile_oldest(framework, RELEASES_ALL);
    return is_before(version, oldest) ? oldest->version : STR("main");
}

struct str checkout_folder(struct arena *a, const struct diags *diags, uint32_t source)
{
    struct str real;
    const struct source *s = source_get(&diags->sources, source);
    bool file = s && !diags->sources.requests && path_real(a, str_dup(a, s->path).p, &real);
    return file ? path_parent(real) : STR("");
}

/* Whether a framework's checkout begins at a folder. The first Megatron-LMs had a parser, and kept
   no version. */
static bool is_root(struct arena *a, struct str folder, enum framework framework)
{
    const char *first = framework == FRAMEWORK_MEGATRON ? "megatron/arguments.py" : NULL;
    return io_is_file(path_join(a, folder, str_of(version_files[framework])).p) ||
           (first && io_is_file(path_join(a, folder, str_of(first)).p));
}

static struct str find_root(struct arena *a, struct str folder, enum framework framework)
{
    for (int i = 0; i < DEEPEST && folder.n > 1; i++) {
        if (is_root(a, folder, framework)) return folder;
        folder = path_parent(folder);
    }
    return STR("");
}

_Static_assert((int)FRAMEWORK_COUNT == (int)SOURCE_CHECKOUTS, "a place for each framework");

/* The folder that a framework's checkout around a source's file begins at; empty: there is none.
   What was found is kept as a length, as `a` may be what the sources are kept in, and given back:
   most files lie in no checkout. */
static struct str root_of(struct arena *a, const struct diags *diags, uint32_t source,
                          enum framework framework)
{
    struct source *s = source_get(&diags->sources, source);
    int *known = s ? &s->checkouts[framework] : NULL;
    if (!known || *known < 0) return STR("");
    struct str folder = checkout_folder(a, diags, source);
    if (*known > 0) return str_slice(folder, 0, (size_t)*known);
    struct str root = find_root(a, folder, framework);
    *known = root.n ? (int)root.n : -1;
    return root;
}

struct str checkout_release(struct arena *a, const struct diags *diags, uint32_t source,
                            enum framework framework)
{
    struct str root = root_of(a, diags, source, framework);
    return root.n ? known_release(a, root, framework) : STR("");
}

struct str checkout_text(struct arena *a, const struct diags *diags, uint32_t source,
                         enum framework framework, struct str path)
{
    struct str root = root_of(a, diags, source, framework);
    return root.n ? text_in(a, root, path) : STR("");
}

bool checkout_is_older(struct arena *a, const struct diags *diags, uint32_t source,
                       enum framework framework)
{
    struct str root = root_of(a, diags, source, framework);
    struct str version = root.n ? version_of(a, root, framework) : STR("");
    return version.n && is_before(version, profile_oldest(framework, RELEASES_ALL));
}

/* ---- words of a checkout ---- */

size_t checkout_find(struct str text, struct str word)
{
    for (size_t from = 0; from < text.n && word.n;) {
        size_t at = from + str_find_str(str_slice(text, from, text.n), word), to = at + word.n;
        if (at == text.n) break;
        bool begins = at == 0 || !str_is_name_char(text.p[at - 1]);
        if (begins && (to == text.n || !str_is_name_char(text.p[to]))) return at;
        from = to;
    }
    return text.n;
}

static bool mentions(struct str text, struct str word)
{
    return checkout_find(text, word) < text.n;
}

/* The bytes up to the next that is of no word, perhaps none; *rest is left with what follows it. */
static struct str take_word(struct str *rest)
{
    size_t n = 0;
    while (n < rest->n && str_is_name_char(rest->p[n]))
        n++;
    struct str word = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n + 1, rest->n);
    return word;
}

/* The longest of the words, which tells the most of a check. */
static struct str longest_word(struct str words)
{
    struct str longest = {"", 0};
    while (words.n) {
        struct str word = take_word(&words);
        if (word.n > longest.n) longest = word;
    }
    return longest;
}

/* Whether a text has at least half of the long words of another, by their letters: the longer a
   word, the more it tells. Of a few words there must be all. The one by which the place was found
   is there anyway: `most` of the check counts with what stands around it, where that is enough. */
static bool has_most_words(struct str text, struct str words, struct str most)
{
    enum { LONG = 4, FEW = 24 }; /* letters */
    size_t n = 0, found = 0, left = words.n - most.n;
    while (words.n) {
        struct str word = take_word(&words);
        if (word.n < LONG || (left >= FEW && str_eq(word, most))) continue;
        n += word.n;
        if (str_find_str(text, word) < text.n) found += word.n;
    }
    return n < FEW ? found == n : 2 * found >= n;
}

/* Whether a text has a check's words in one place, perhaps as another release put them. */
static bool has_check(struct str text, struct str words)
{
    enum { AROUND = 400 }; /* bytes: a check's condition and its message, over several lines */
    struct str most = longest_word(words);
    for (size_t from = 0; from < text.n && most.n;) {
        size_t at = from + str_find_str(str_slice(text, from, text.n), most);
        if (at == text.n) break;
        size_t begin = at < AROUND ? 0 : at - AROUND, end = at + words.n + AROUND;
        if (has_most_words(str_slice(text, begin, end < text.n ? end : text.n), words, most))
            return true;
        from = at + most.n;
    }
    return false;
}

/* Where the framework's own package lies in its repository. */
static const char *const packages[FRAMEWORK_COUNT][2] = {
    [FRAMEWORK_MEGATRON] = {"megatron/", ""},
    [FRAMEWORK_BRIDGE] = {"megatron/bridge/", "src/"},
    [FRAMEWORK_AUTOMODEL] = {"nemo_automodel/", ""},
};

bool checkout_lacks(struct arena *a, const struct diags *diags, uint32_t source,
                    enum framework framework, struct str check)
{
    size_t colon = str_find_str(check, STR(".py: "));
    if (colon == check.n || !str_starts(check, str_of(packages[framework][0]))) return false;
    struct str root = root_of(a, diags, source, framework);
    struct str file = arena_printf(a, "%s%.*s", packages[framework][1], (int)colon + 3, check.p);
    struct str text = text_in(a, root, file), training = STR("megatron/training/");
    if (!text.n && str_starts(file, training)) /* one folder up in the first releases */
        text = text_in(a, path_join(a, root, STR("megatron")), str_slice(file, training.n, file.n));
    return root.n && !has_check(text, str_slice(check, colon + 5, check.n));
}

/* ---- names of a checkout ---- */

bool checkout_has(struct arena *a, const struct diags *diags, uint32_t source,
                  enum framework framework, struct str path)
{
    struct str folder = root_of(a, diags, source, framework), part;
    while (folder.n && str_split(&path, '.', &part)) {
        struct str next = path_join(a, folder, part);
        struct str file = arena_printf(a, "%.*s.py", STR_ARG(next));
        if (io_is_folder(next.p)) {
            folder = next;
            continue;
        }
        bool module = io_is_file(file.p), last = !path.n;
        if (!module) return mentions(text_in(a, folder, STR("__init__.py")), part);
        return last || !str_split(&path, '.', &part) || mentions(text_in(a, folder, file), part);
    }
    return folder.n;
}

bool checkout_has_beside(struct arena *a, const struct diags *diags, uint32_t source,
                         struct str name, struct str word)
{
    struct str folder = checkout_folder(a, diags, source);
    struct str file = arena_printf(a, "%.*s.py", STR_ARG(name));
    return folder.n && word.n && mentions(text_in(a, folder, file), word);
}

bool checkout_has_recipe(struct arena *a, const struct diags *diags, uint32_t source,
                         struct str name)
{
    static const char *const packages_only[] = {"__init__.py", NULL};
    struct str root = root_of(a, diags, source, FRAMEWORK_BRIDGE), error;
    struct path_list files = {0};
    if (!root.n || !name.n) return false;
    struct str folder = path_join(a, root, STR("src/megatron/bridge/recipes"));
    if (!dir_list(a, folder.p, packages_only, &files, &error)) return false;
    for (size_t i = 0; i < files.n; i++)
        if (mentions(text_in(a, STR(""), files.items[i]), name)) return true;
    return false;
}
