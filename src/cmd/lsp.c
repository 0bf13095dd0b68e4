/* SPDX-License-Identifier: Apache-2.0 */
/* lsp: messages from stdin, what they are answered with to stdout. */
#include "lsp/server.h"

#include <errno.h>
#include <unistd.h>

#include "cmd/project.h"
#include "cmd/recipe.h"

enum { ROUND = 64 << 10 };

struct session {
    struct cmd_context *c;
    struct lsp_server *server;
    struct validation validation; /* of the command line */
    struct read_options options;
    struct buf in;           /* what has come and is no whole message yet */
    struct arena *out_arena; /* of the answers to one look */
};

static bool write_all(struct str text)
{
    while (text.n) {
        ssize_t n = write(STDOUT_FILENO, text.p, text.n);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text = str_slice(text, (size_t)n, text.n);
    }
    return true;
}

/* Answers all messages that are there, and keeps the rest; false when none can follow. */
static bool answer_all(struct session *s)
{
    struct str text = buf_str(&s->in), message;
    enum lsp_frame frame;
    bool ended = false, asked, written = true;
    while (!ended && written && (frame = lsp_frame_next(&text, &message)) == LSP_FRAME) {
        struct buf out = buf_new(s->out_arena);
        lsp_answer(s->server, REQUEST_SECONDS, message, &out);
        written = write_all(buf_str(&out));
        arena_reset(s->out_arena);
        ended = lsp_ended(s->server, &asked);
    }
    memmove(s->in.p, text.p, text.n);
    s->in.n = text.n;
    return !ended && written && frame == LSP_MORE;
}

/* Whether anything came; false at the end of stdin too. */
static bool read_more(struct session *s)
{
    char block[ROUND];
    ssize_t n;
    do
        n = read(STDIN_FILENO, block, sizeof block);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    buf_add(&s->in, (struct str){block, (size_t)n});
    return true;
}

static bool open_settings(const void *server, struct arena *a, struct str real, struct str *text)
{
    return lsp_open_text(server, a, real, text);
}

/* The settings that hold for the file, over the command line; settings that cannot be used say so
   where they are open. */
static void look(void *state, struct arena *a, struct arena *scratch, struct str path,
                 struct lsp_view *out)
{
    const struct session *s = state;
    struct cmd_context *c = arena_dup(a, s->c, sizeof *c);
    struct projects *projects = ARENA_NEW(a, struct projects);
    struct file_view *view = ARENA_NEW(a, struct file_view);
    c->keep = a;
    c->scratch = scratch;
    c->err = buf_new(a);
    diags_init(&c->diags, a);
    *out = (struct lsp_view){s->validation, s->options};
    if (!projects_open(projects, c, &s->validation, &s->options)) return;
    projects->opened = open_settings;
    projects->opened_state = s->server;
    if (!projects_view(projects, a, path, view)) return;
    *out = (struct lsp_view){view->validation, view->settings.options};
}

static int serve(struct session *s)
{
    bool asked;
    while (read_more(s))
        if (!answer_all(s)) break;
    if (lsp_ended(s->server, &asked)) return asked ? STATUS_OK : STATUS_NO;
    return cmd_usage_error(s->c, "stdin ended, or is no message of the protocol, before exit");
}

static int run(struct cmd_context *c)
{
    const struct rule_set *rules;
    struct session *s = ARENA_NEW(c->keep, struct session);
    s->c = c;
    if (!recipe_options(c, &s->options) || !cmd_load_rules(c, &rules)) return STATUS_CANNOT;
    s->validation = validation_of(c->keep, rules);
    s->in = buf_new(arena_child(c->keep, 4ul * LSP_LONGEST));
    s->out_arena = arena_child(c->keep, LSP_MEMORY);
    s->server = lsp_new(c->keep, look, s);
    int status = serve(s);
    lsp_free(s->server);
    arena_free(s->out_arena);
    arena_free(s->in.arena);
    return status;
}

static const struct option options[] = {
    {"gpus", "N", "number of GPUs of the runs"},
    {"platform", "P", "GPU platform: h100, gb200, … or a platform file"},
    {"model", "MODEL", "the model, where a file does not say"},
    {"framework", "NAME", "megatron, bridge or automodel, where a file does not say"},
    {"framework-version", "V", "version of the framework (moeplan version lists them)"},
    {"set", "NAME=VALUE", "state a fact that files do not hold (repeatable)"},
    {"env", "NAME=VALUE", "an environment variable of the runs (repeatable)"},
    {"stdio", NULL, "talk over stdin and stdout, which it does anyway"},
    {0},
};

const struct command command_lsp = {
    .name = "lsp",
    .arguments = "",
    .help = "Serve an editor: findings as one types, what a key means, completion",
    .details = "The Language Server Protocol over stdin and stdout; docs/editors.md sets up VS "
               "Code, Neovim, Helix and Zed. Options hold for every file.\n",
    .options = options,
    .loads_rules = true,
    .run = run,
};
