/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/init.h"

#include "base/io.h"
#include "base/path.h"
#include "facts/param_ids.h"

static bool is_known(const struct facts *f, int param)
{
    enum value_kind kind = facts_get(f, param)->value.kind;
    return kind != VALUE_UNKNOWN && kind != VALUE_NULL;
}

void init_count(struct init_survey *s, struct arena *a, struct str path, struct str text)
{
    struct arena_mark mark = arena_mark(a);
    struct platform_cache platforms = {.arena = a};
    struct read_options options = {.platforms = &platforms};
    struct diags diags;
    diags_init(&diags, a);
    struct recipe recipe =
        recipe_read(a, &diags, source_add(&diags.sources, path, text), STR(""), &options);
    if (recipe.status == RECIPE_READ && recipe.readings.n > 0) {
        const struct facts *f = recipe.readings.items[0].facts;
        s->all++;
        s->recipes[f->framework]++;
        s->without_gpus += !is_known(f, P_world_size);
        s->without_platform += !f->platform;
    }
    arena_pop(a, mark);
}

static bool has(struct arena *a, struct str folder, const char *name)
{
    const char *path = path_join(a, folder, str_of(name)).p;
    return io_is_file(path) || io_is_folder(path);
}

/* Whether an address that git knows holds the word. */
static bool lies_with(struct arena *a, struct str folder, struct str word)
{
    struct str text, error;
    const char *config = path_join(a, folder, STR(".git/config")).p;
    if (!io_is_file(config) || !io_read_regular(a, config, 1 << 20, &text, &error)) return false;
    return str_find_str(text, word) < text.n;
}

void init_look(struct init_survey *s, struct arena *a, struct str folder)
{
    s->github = has(a, folder, ".github") || lies_with(a, folder, STR("github"));
    s->gitlab = has(a, folder, ".gitlab-ci.yml") || lies_with(a, folder, STR("gitlab"));
    s->pre_commit = has(a, folder, ".pre-commit-config.yaml");
}
