/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/checkout.h"

#include "base/io.h"
#include "base/num.h"
#include "base/path.h"
#include "base/version.h"
#include "facts/profile.h"

/* Where a repository keeps the version of the framework that is developed in it. */
static const char *const version_files[FRAMEWORK_COUNT] = {
    [FRAMEWORK_MEGATRON] = "megatron/core/package_info.py",
    [FRAMEWORK_BRIDGE] = "src/megatron/bridge/package_info.py",
    [FRAMEWORK_AUTOMODEL] = "nemo_automodel/package_info.py",
};

enum { DEEPEST = 24 }; /* folders up */

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

/* "0.16" of a package_info.py; empty where it is written in another way. */
static struct str version_in(struct arena *a, const char *path)
{
    enum { MOST_BYTES = 1 << 20 };
    struct str text, why;
    int64_t major, minor;
    if (!io_read_regular(a, path, MOST_BYTES, &text, &why)) return STR("");
    if (!read_number(text, STR("MAJOR"), &major) || !read_number(text, STR("MINOR"), &minor))
        return STR("");
    return arena_printf(a, "%lld.%lld", (long long)major, (long long)minor);
}

static struct str known_release(enum framework framework, struct str version)
{
    if (!version.n || profile_find(framework, version)) return version;
    const struct profile *oldest = profile_oldest(framework, RELEASES_ALL);
    return version_cmp(version, oldest->version) < 0 ? oldest->version : STR("main");
}

struct str checkout_release(struct arena *a, const struct diags *diags, uint32_t source,
                            enum framework framework)
{
    struct str real, path = source_get(&diags->sources, source)->path;
    if (diags->sources.requests || !path_real(a, str_dup(a, path).p, &real)) return STR("");
    for (int i = 0; i < DEEPEST && real.n > 1; i++) {
        real = path_parent(real);
        struct str file = path_join(a, real, str_of(version_files[framework]));
        if (io_is_file(file.p)) return known_release(framework, version_in(a, file.p));
    }
    return STR("");
}
