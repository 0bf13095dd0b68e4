/* SPDX-License-Identifier: Apache-2.0 */
/* {"id","path","text","as"?,"gpus"?,"platform"?,"framework"?,"set"?,"env"?}
   -> {"id", and the members of the file object} */
#include "base/crew.h"
#include "cmd/batch.h"
#include "cmd/validate.h"

/* What one worker has for itself. */
struct batch {
    struct validation validation;
    struct read_options options; /* of the command line, under those of the request */
    struct platform_cache platforms;
};

static struct setting *read_settings(const struct batch_request *r, const char *member, size_t *n)
{
    const struct node *map = node_get(r->root, str_of(member));
    *n = map && map->kind == NODE_MAP ? map->n : 0;
    struct setting *settings = ARENA_ARRAY(r->arena, struct setting, *n);
    for (size_t i = 0; i < *n; i++) {
        struct setting *s = &settings[i];
        s->name = map->keys[i]->text;
        s->value = node_value(r->arena, map->items[i], SCALAR_JSON);
        s->text = s->value.kind == VALUE_STRING ? s->value.s : value_text(r->arena, s->value);
    }
    return settings;
}

/* The request's options over those of the command line; false with the answer's error added. */
static bool read_request(struct cmd_context *c, const struct batch_request *r,
                         struct read_options *o)
{
    struct str framework = batch_str(r, "framework"), platform = batch_str(r, "platform");
    if (!batch_int(r, "gpus", 1, &o->gpus)) {
        batch_error(c, STR("gpus must be an integer of at least 1"));
        return false;
    }
    if (framework.n && !(o->framework_given = framework_from_name(framework, &o->framework))) {
        batch_error(c, STR("framework must be megatron, bridge or automodel"));
        return false;
    }
    if (platform.n) o->platform = platform;
    if (node_get(r->root, STR("set"))) o->set = read_settings(r, "set", &o->n_set);
    o->env_given = o->env_given || node_get(r->root, STR("env"));
    if (node_get(r->root, STR("env"))) o->env = read_settings(r, "env", &o->n_env);
    if (!o->platform.n || platform_load(o->platforms, r->diags, o->platform, (struct span){0}))
        return true;
    batch_error(c, r->diags->items[r->diags->n - 1].message);
    return false;
}

static void answer(struct cmd_context *c, const struct batch_request *r)
{
    struct batch *b = r->state;
    struct read_options options = b->options;
    struct str as = batch_str(r, "as");
    if (!node_get(r->root, STR("text"))) {
        batch_error(c, STR("the request has no text"));
        return;
    }
    if (as.n && !reader_find(as)) {
        batch_error(c, arena_printf(r->arena, "no format \"%.*s\"", STR_ARG(as)));
        return;
    }
    if (!read_request(c, r, &options)) return;
    b->validation.arena = r->arena;
    struct file_report report =
        validate_text(&b->validation, batch_str(r, "path"), batch_str(r, "text"), as, &options);
    report_json_members(&report, &c->out);
    bool read = report.status == FILE_OK || report.status == FILE_INVALID;
    struct str unused = validate_unused_settings(r->arena, &options);
    if (read && unused.n)
        batch_error(c, arena_printf(r->arena, "nothing is called %.*s", STR_ARG(unused)));
}

/* ---- workers ---- */

enum { MOST_WORKERS = 8 };

static bool batch_open(struct batch *b, const struct validation *v,
                       const struct read_options *options)
{
    *b = (struct batch){.validation = *v, .options = *options};
    b->validation.scratch = arena_new(0);
    b->platforms.arena = arena_new(0);
    if (!b->validation.scratch || !b->platforms.arena) return false;
    b->options.platforms = &b->platforms;
    b->options.set =
        arena_dup(b->platforms.arena, options->set, options->n_set * sizeof *options->set);
    return true;
}

static void batch_close(struct batch *b)
{
    arena_free(b->validation.scratch);
    arena_free(b->platforms.arena);
}

int validate_batch(struct cmd_context *c, const struct validation *v,
                   const struct read_options *options)
{
    size_t n = crew_processors() < MOST_WORKERS ? crew_processors() : MOST_WORKERS;
    struct batch *batches = ARENA_ARRAY(c->keep, struct batch, n);
    void *states[MOST_WORKERS];
    bool open = true;
    for (size_t i = 0; i < n; i++) {
        states[i] = &batches[i];
        open = batch_open(&batches[i], v, options) && open;
    }
    int status = open ? batch_run_crew(c, answer, states, n) : STATUS_BUG;
    for (size_t i = 0; i < n; i++)
        batch_close(&batches[i]);
    return status;
}
