/* SPDX-License-Identifier: Apache-2.0 */
/* The language server: the first byte picks whether the rest is a stream of frames, a message, or a
   file that is opened and asked about at a place that the second byte picks. Whatever it is, what
   comes back is frames of JSON objects. */
#include <cjson/cJSON.h>

#include <stdlib.h>

#include "base/json.h"
#include "lsp/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECONDS = 10 };

struct session {
    struct guard guard;
    struct arena *arena;
    struct lsp_server *server;
    struct validation validation;
    struct str input;
    unsigned form, place;
};

static void check_frames(struct str text)
{
    struct str message;
    while (text.n) {
        if (lsp_frame_next(&text, &message) != LSP_FRAME) abort();
        cJSON *tree = cJSON_ParseWithLength(message.p, message.n);
        if (!cJSON_IsObject(tree)) abort();
        cJSON_Delete(tree);
    }
}

static void tell(struct session *s, struct str message)
{
    struct buf out = buf_new(s->arena);
    lsp_answer(s->server, SECONDS, message, &out);
    check_frames(buf_str(&out));
}

static void open_file(struct session *s)
{
    struct buf m = buf_new(s->arena);
    buf_add(&m, STR("{\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":"
                    "{\"uri\":\"file:///x.yaml\",\"version\":1,\"text\":"));
    json_add_string(&m, s->input);
    buf_add(&m, STR("}}}"));
    tell(s, buf_str(&m));
}

static void ask(struct session *s, const char *what)
{
    unsigned line = s->place / 16, character = s->place % 16 * 4;
    tell(s, arena_printf(s->arena,
                         "{\"id\":1,\"method\":\"textDocument/%s\",\"params\":{\"textDocument\":{"
                         "\"uri\":\"file:///x.yaml\"},\"position\":{\"line\":%u,\"character\":%u},"
                         "\"range\":{\"start\":{\"line\":0},\"end\":{\"line\":99}}}}",
                         what, line, character));
}

static void ask_all(struct session *s)
{
    static const char *const questions[] = {"hover", "completion", "codeAction", "inlayHint"};
    open_file(s);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        ask(s, questions[i]);
}

static void look(void *state, struct arena *a, struct arena *scratch, struct str path,
                 struct lsp_view *out)
{
    const struct session *s = state;
    (void)a;
    (void)scratch;
    (void)path;
    *out = (struct lsp_view){.validation = s->validation};
}

static void play(void *state)
{
    struct session *s = state;
    struct str rest = s->input, message;
    s->validation = validation_of(s->arena, rules_builtin());
    s->server = lsp_new(s->arena, look, s);
    tell(s, STR("{\"id\":0,\"method\":\"initialize\"}"));
    if (s->form == 2)
        ask_all(s);
    else if (s->form == 1)
        tell(s, s->input);
    else
        while (lsp_frame_next(&rest, &message) == LSP_FRAME)
            tell(s, message);
    lsp_free(s->server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    struct session s = {.arena = arena_new(0),
                        .input = {(const char *)data + 2, size - 2},
                        .form = data[0] % 3,
                        .place = data[1]};
    if (!s.arena) return 0;
    arena_set_guard(s.arena, &s.guard);
    guard_run(&s.guard, 0, play, &s);
    arena_free(s.arena);
    return 0;
}
