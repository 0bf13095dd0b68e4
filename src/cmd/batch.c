/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/batch.h"

#include <errno.h>
#include <unistd.h>

#include "base/json.h"

enum { CHUNK = 1 << 16, LONGEST_LINE = 64 << 20 };

/* ---- lines of stdin ---- */

struct lines {
    struct arena *arena;
    char *p;
    size_t from, n, cap; /* unread bytes are p[from, n) */
    bool end;
};

/* More bytes behind the unread ones. Before it may block, everything answered so far is handed out,
   so that a program that waits for one answer before it sends the next request is served. */
static void fill(struct lines *l)
{
    fflush(stdout);
    if (l->from) memmove(l->p, l->p + l->from, l->n - l->from);
    l->n -= l->from;
    l->from = 0;
    if (l->cap - l->n < CHUNK) {
        char *p = arena_alloc(l->arena, l->cap * 2 + CHUNK);
        if (l->n) memcpy(p, l->p, l->n);
        l->cap = l->cap * 2 + CHUNK;
        l->p = p;
    }
    ssize_t got;
    do
        got = read(STDIN_FILENO, l->p + l->n, l->cap - l->n);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        l->end = true;
    else
        l->n += (size_t)got;
}

/* The next line, valid until the next call; false at the end. A line above the limit comes in
   pieces, none of which is a request. */
static bool next_line(struct lines *l, struct str *out)
{
    size_t seen = 0;
    for (;;) {
        struct str unread = {l->p + l->from, l->n - l->from};
        size_t at = seen + str_find(str_slice(unread, seen, unread.n), '\n');
        bool whole = at < unread.n;
        if (whole || l->end || unread.n > LONGEST_LINE) {
            *out = str_slice(unread, 0, at);
            l->from += at + whole;
            return whole || unread.n > 0;
        }
        seen = unread.n;
        fill(l);
    }
}

/* ---- requests ---- */

void batch_error(struct cmd_context *c, struct str message)
{
    buf_add(&c->out, STR(",\"error\":"));
    json_add_string(&c->out, message);
}

struct str batch_str(const struct batch_request *request, const char *member)
{
    const struct node *node = node_get(request->root, str_of(member));
    return node && node->kind == NODE_SCALAR && node->quoted ? node->text : (struct str){"", 0};
}

bool batch_int(const struct batch_request *request, const char *member, int64_t least, int64_t *out)
{
    const struct node *node = node_get(request->root, str_of(member));
    struct value v = node ? node_value(request->arena, node, SCALAR_JSON) : value_null();
    if (v.kind == VALUE_NULL) return true;
    if (v.kind != VALUE_INT || v.i < least) return false;
    *out = v.i;
    return true;
}

/* The request's own words for its id, so that numbers and strings come back as they were. */
static struct str id_text(const struct node *root, struct str line)
{
    const struct node *id = node_get(root, STR("id"));
    return id ? str_slice(line, id->from, id->to) : STR("null");
}

static void answer_line(struct cmd_context *c, struct arena *a, struct str line,
                        batch_answer *answer, void *state)
{
    struct diags diags;
    diags_init(&diags, a);
    struct batch_request request = {.arena = a, .diags = &diags, .id = STR("null"), .state = state};
    request.root = doc_load_json(a, &diags, source_add(&diags.sources, STR("-"), line));
    bool is_map = request.root && request.root->kind == NODE_MAP;
    if (is_map) request.id = id_text(request.root, line);
    buf_printf(&c->out, "{\"id\":%.*s", STR_ARG(request.id));
    if (is_map)
        answer(c, &request);
    else
        batch_error(c, request.root ? STR("a request is a JSON object")
                                    : diags.items[diags.n - 1].message);
    buf_add(&c->out, STR("}\n"));
}

/* Hands out what was answered; false when nobody reads it any more. */
static bool hand_out(struct cmd_context *c)
{
    if (option_given(c, "output")) return true;
    size_t n = c->out.n;
    c->out.n = 0;
    return fwrite(c->out.p, 1, n, stdout) == n;
}

int batch_run(struct cmd_context *c, batch_answer *answer, void *state)
{
    struct lines lines = {.arena = c->keep};
    struct arena *a = arena_new(0);
    if (!a) return STATUS_BUG;
    struct str line;
    bool read = true;
    while (read && next_line(&lines, &line)) {
        if (!str_trim(line).n) continue;
        answer_line(c, a, line, answer, state);
        read = hand_out(c);
        arena_reset(a);
    }
    arena_free(a);
    return STATUS_OK;
}
