/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sweep_results.h"

#include "base/dir.h"
#include "base/io.h"
#include "base/path.h"
#include "doc/node.h"
#include "emit/trials.h"
#include "facts/line.h"
#include "facts/run_log.h"

/* A median of fewer steps says little. */
enum { LEAST_STEPS = 5 };

const char *trial_state_word(enum trial_state state)
{
    static const char *const words[] = {"open", "next", "measured", "lost", "failed", "dropped"};
    return words[state];
}

/* ---- logs ---- */

struct log_text {
    struct run_log log;
    struct line_cutter lines;
    bool ended; /* the script says with what exit code */
};

static void take_line(void *context, struct str line)
{
    struct log_text *t = context;
    run_log_line(&t->log, line);
    if (str_starts(line, STR(TRIAL_END))) t->ended = true;
}

static void take_piece(void *context, struct str piece)
{
    struct log_text *t = context;
    line_cut(&t->lines, piece, take_line, t);
}

static double step_of(const struct run_summary *s, const struct config *c)
{
    const struct knobs *k = &c->knobs;
    if (s->step_s > 0 || s->tokens_per_s_per_gpu <= 0) return s->step_s;
    return (double)k->gbs * k->seq / ((double)k->gpus * s->tokens_per_s_per_gpu);
}

/* DIR/ID/log.txt -> ID; empty: it is no log of a trial. */
static struct str id_of(struct str path, struct str folder)
{
    struct str rest = str_slice(path, folder.n, path.n);
    while (str_starts(rest, STR("/")))
        rest = str_slice(rest, 1, rest.n);
    size_t slash = str_find(rest, '/');
    bool log = str_starts(str_slice(rest, slash, rest.n), STR("/" TRIAL_LOG));
    return log ? str_slice(rest, 0, slash) : STR("");
}

static bool read_log(struct cmd_context *c, struct str path, struct log_text *t)
{
    struct str error;
    if (!io_stream(c->keep, path.p, take_piece, t, &error))
        return cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(path), STR_ARG(error)),
               false;
    line_cut_end(&t->lines, take_line, t);
    return true;
}

static void add_result(struct cmd_context *c, struct str id, const struct log_text *t,
                       const struct config *config, struct sweep_results *out)
{
    struct run_summary s = run_log_summary(c->scratch, &t->log);
    struct trial_result r = {.id = id,
                             .step_s = step_of(&s, config),
                             .scatter = s.step_scatter,
                             .steps = s.steady_steps};
    bool failed = t->ended || t->log.failures.memory.lines > 0;
    bool steady = r.step_s > 0 && (s.steady_steps >= LEAST_STEPS || t->log.average_s > 0);
    if (failed) r.step_s = 0;
    if (failed || steady) *VEC_PUSH(c->keep, &out->items) = r;
}

/* The logs of a trial's nodes stand one after the other and are one. */
static bool read_logs(struct cmd_context *c, struct str folder, const struct config *config,
                      struct sweep_results *out)
{
    static const char *const suffixes[] = {".txt", NULL};
    struct path_list paths = {0};
    struct str error;
    if (!dir_list(c->keep, folder.p, suffixes, &paths, &error))
        return cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(folder), STR_ARG(error)),
               false;
    struct log_text *t = ARENA_NEW(c->keep, struct log_text);
    for (size_t i = 0; i < paths.n; i++) {
        struct str id = id_of(paths.items[i], folder);
        struct str next = i + 1 < paths.n ? id_of(paths.items[i + 1], folder) : STR("");
        if (!id.n) continue;
        if (!t->lines.rest.arena) {
            run_log_start(c->scratch, &t->log);
            t->lines = line_cutter_new(c->scratch);
        }
        if (!read_log(c, paths.items[i], t)) return false;
        if (str_eq(id, next)) continue;
        add_result(c, id, t, config, out);
        *t = (struct log_text){0};
        arena_reset(c->scratch);
    }
    return true;
}

/* ---- the state ---- */

static bool has_result(const struct sweep_results *all, struct str id)
{
    for (size_t i = 0; i < all->items.n; i++)
        if (str_eq(all->items.items[i].id, id)) return true;
    return false;
}

static double number(struct arena *a, const struct node *map, const char *key)
{
    const struct node *node = node_get(map, str_of(key));
    struct value v = node ? node_value(a, node, SCALAR_JSON) : value_null();
    return v.kind == VALUE_DOUBLE ? v.d : v.kind == VALUE_INT ? (double)v.i : 0;
}

static void take_state(struct cmd_context *c, const struct node *root, struct sweep_results *out)
{
    const struct node *trials = node_get(root, STR("trials"));
    for (size_t i = 0; trials && trials->kind == NODE_LIST && i < trials->n; i++) {
        const struct node *id = node_get(trials->items[i], STR("id"));
        double step = number(c->keep, trials->items[i], "measured_s");
        if (!id || step <= 0 || has_result(out, id->text)) continue;
        *VEC_PUSH(c->keep, &out->items) = (struct trial_result){.id = id->text, .step_s = step};
    }
}

static bool read_state(struct cmd_context *c, struct str folder, struct sweep_results *out)
{
    struct str path = arena_printf(c->keep, "%.*s/" SWEEP_STATE, STR_ARG(folder)), text, error;
    if (!io_is_file(path.p)) return true;
    if (!io_read_regular(c->keep, path.p, 0, &text, &error))
        return cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(path), STR_ARG(error)),
               false;
    const struct node *root =
        doc_load_json(c->keep, &c->diags, source_add(&c->diags.sources, path, text));
    if (root) take_state(c, root, out);
    return root != NULL;
}

bool sweep_results_read(struct cmd_context *c, struct str folder, const struct config *config,
                        struct sweep_results *out)
{
    *out = (struct sweep_results){0};
    folder = str_dup(c->keep, folder);
    return read_logs(c, folder, config, out) && read_state(c, folder, out);
}

void trial_json_members(struct json_writer *w, const struct loop_trial *t)
{
    json_str(w, "id", t->id);
    json_str(w, "changes", t->what);
    json_str(w, "state", str_of(trial_state_word(t->state)));
    json_number(w, "estimated_s", t->plan->time.step, 6);
    if (t->measured > 0) json_number(w, "measured_s", t->measured, 6);
}

bool sweep_state_write(struct cmd_context *c, struct str folder, struct str plan,
                       const struct sweep_loop *loop)
{
    struct str path = arena_printf(c->keep, "%.*s/" SWEEP_STATE, STR_ARG(folder)), error;
    struct buf text = buf_new(c->keep);
    struct json_writer w = json_writer_new(&text);
    json_open(&w, NULL, '{');
    json_str(&w, "plan", plan);
    json_bool(&w, "finished", loop->finished);
    json_str(&w, "best", loop->trials[loop->best].id);
    json_open(&w, "trials", '[');
    for (size_t i = 0; i < loop->n; i++) {
        const struct loop_trial *t = &loop->trials[i];
        if (t->state == TRIAL_OPEN || t->state == TRIAL_DROPPED) continue;
        json_open(&w, NULL, '{');
        trial_json_members(&w, t);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_close(&w, '}');
    buf_add_char(&text, '\n');
    if (io_write(c->keep, path.p, buf_str(&text), &error)) return true;
    return cmd_usage_error(c, "%.*s cannot be written: %.*s", STR_ARG(path), STR_ARG(error)), false;
}
