/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and open files. A message is a run of the guard: what it allocates is gone behind it,
   but for the texts of files, which have an arena each. */
#include "lsp/server.h"

#include "base/path.h"
#include "flow/settings.h"
#include "lsp/feature.h"

/* JSON-RPC's and the protocol's error codes. */
enum {
    NO_JSON = -32700,
    NO_REQUEST = -32600,
    NO_METHOD = -32601,
    BAD_PARAMS = -32602,
    FAILED = -32603,
    NOT_YET = -32002
};

struct open_file {
    struct arena *arena; /* of its text; NULL: the slot is free */
    struct str uri, text;
    int64_t version;
    bool known; /* it has been one that moeplan reads */
};

enum { MOST_FILES = 1000 };
#define SETTINGS STR("/" SETTINGS_NAME)
enum stage { STAGE_NEW, STAGE_RUNNING, STAGE_ASKED, STAGE_ENDED, STAGE_LEFT };

struct lsp_server {
    lsp_look *look;
    void *look_state;
    struct arena *arena, *scratch; /* of a message */
    struct open_file files[MOST_FILES];
    enum stage stage;
};

/* A message, its parts, and where the answer goes. */
struct message {
    struct lsp_server *server;
    struct str text;
    struct buf *out;
    struct str id; /* the client's own words for it; empty: a notification */
    struct str method;
    const struct node *params;
    struct buf body; /* of the answer */
    struct json_writer w;
};

struct lsp_server *lsp_new(struct arena *keep, lsp_look *look, void *state)
{
    struct lsp_server *s = ARENA_NEW(keep, struct lsp_server);
    s->look = look;
    s->look_state = state;
    s->arena = arena_child(keep, LSP_MEMORY);
    s->scratch = arena_child(keep, LSP_MEMORY);
    return s;
}

void lsp_free(struct lsp_server *s)
{
    for (size_t i = 0; i < MOST_FILES; i++)
        arena_free(s->files[i].arena);
    arena_free(s->scratch);
    arena_free(s->arena);
}

bool lsp_ended(const struct lsp_server *s, bool *asked)
{
    *asked = s->stage == STAGE_ENDED;
    return s->stage == STAGE_ENDED || s->stage == STAGE_LEFT;
}

/* ---- frames ---- */

static void send(struct message *m)
{
    struct str body = buf_str(&m->body);
    buf_printf(m->out, "Content-Length: %zu\r\n\r\n%.*s", body.n, STR_ARG(body));
    m->body.n = 0;
    m->w = json_writer_new(&m->body);
}

static void open_message(struct message *m)
{
    json_open(&m->w, NULL, '{');
    json_str(&m->w, "jsonrpc", STR("2.0"));
}

/* An answer: the caller writes `result` or `error` and closes it. */
static void open_answer(struct message *m)
{
    open_message(m);
    json_key(&m->w, "id");
    buf_add(&m->body, m->id.n ? m->id : STR("null"));
}

static void close_message(struct message *m)
{
    json_close(&m->w, '}');
    send(m);
}

static void answer_error(struct message *m, int code, const char *text)
{
    open_answer(m);
    json_open(&m->w, "error", '{');
    json_int(&m->w, "code", code);
    json_str(&m->w, "message", str_of(text));
    json_close(&m->w, '}');
    close_message(m);
}

static void answer_null(struct message *m)
{
    open_answer(m);
    json_null(&m->w, "result");
    close_message(m);
}

/* ---- parameters ---- */

static struct str text_at(const struct node *map, const char *path)
{
    const struct node *node = node_at(map, str_of(path));
    return node && node->kind == NODE_SCALAR ? node->text : STR("");
}

static int64_t number_at(struct arena *a, const struct node *map, const char *path)
{
    const struct node *node = node_at(map, str_of(path));
    struct value v = node ? node_value(a, node, SCALAR_JSON) : value_null();
    return v.kind == VALUE_INT ? v.i : 0;
}

static struct place place_at(struct message *m, const struct node *map, const char *path)
{
    struct arena *a = m->server->arena;
    return (struct place){number_at(a, map, arena_printf(a, "%s.line", path).p),
                          number_at(a, map, arena_printf(a, "%s.character", path).p)};
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* file:///a%20b -> /a b; what is no file keeps its words. */
static struct str path_of(struct arena *a, struct str uri)
{
    if (!str_starts(uri, STR("file://"))) return str_dup(a, uri);
    struct buf out = buf_new(a);
    struct str rest = str_slice(uri, strlen("file://"), uri.n);
    for (size_t i = 0; i < rest.n; i++) {
        bool coded = rest.p[i] == '%' && i + 2 < rest.n && hex(rest.p[i + 1]) >= 0 &&
                     hex(rest.p[i + 2]) >= 0;
        int c = coded ? hex(rest.p[i + 1]) * 16 + hex(rest.p[i + 2]) : rest.p[i];
        if (c) buf_add_char(&out, (char)c);
        if (coded) i += 2;
    }
    return buf_str(&out);
}

/* ---- open files ---- */

static struct open_file *file_find(struct lsp_server *s, struct str uri)
{
    for (size_t i = 0; i < MOST_FILES; i++)
        if (s->files[i].arena && str_eq(s->files[i].uri, uri)) return &s->files[i];
    return NULL;
}

bool lsp_open_text(const struct lsp_server *s, struct arena *a, struct str real, struct str *text)
{
    for (size_t i = 0; i < MOST_FILES; i++) {
        const struct open_file *file = &s->files[i];
        struct str own, path = file->arena ? path_of(a, file->uri) : STR("");
        if (!str_ends(path, SETTINGS) || !path_real(a, path.p, &own) || !str_eq(own, real))
            continue;
        *text = str_dup(a, file->text);
        return true;
    }
    return false;
}

/* What reads the file, with the message's own arenas. */
static void request_open(struct message *m, struct open_file *file, struct lsp_request *r)
{
    struct lsp_server *s = m->server;
    struct arena *a = s->arena;
    struct lsp_view *view = ARENA_NEW(a, struct lsp_view);
    struct str path = path_of(a, file->uri);
    s->look(s->look_state, a, s->scratch, path, view);
    view->validation.arena = a;
    view->validation.scratch = s->scratch;
    view->validation.named = true;
    view->options.set =
        arena_dup(a, view->options.set, view->options.n_set * sizeof(struct setting));
    view->options.platforms = ARENA_NEW(a, struct platform_cache);
    view->options.platforms->arena = a;
    *r = (struct lsp_request){.arena = a,
                              .scratch = s->scratch,
                              .validation = &view->validation,
                              .options = view->options,
                              .path = path,
                              .uri = file->uri,
                              .text = file->text,
                              .known = &file->known,
                              .w = &m->w};
}

/* The findings of a file, or none of one that was closed. */
static void publish(struct message *m, struct open_file *file, bool open)
{
    struct lsp_request r;
    request_open(m, file, &r);
    open_message(m);
    json_str(&m->w, "method", STR("textDocument/publishDiagnostics"));
    json_open(&m->w, "params", '{');
    json_str(&m->w, "uri", file->uri);
    if (open) {
        json_int(&m->w, "version", file->version);
        lsp_findings(&r);
    } else {
        json_strs(&m->w, "diagnostics", NULL, 0);
    }
    json_close(&m->w, '}');
    close_message(m);
}

/* The findings of the files for which other settings may hold now. */
static void publish_below(struct message *m, const struct open_file *settings)
{
    struct lsp_server *s = m->server;
    struct str path = path_of(s->arena, settings->uri), folder = path_parent(path);
    if (!str_ends(path, SETTINGS)) return;
    for (size_t i = 0; i < MOST_FILES; i++) {
        struct open_file *file = &s->files[i];
        if (file == settings || !file->arena) continue;
        if (path_is_below(path_of(s->arena, file->uri), folder)) publish(m, file, true);
    }
}

/* A text that cannot be kept leaves the file empty. */
static void file_set(struct message *m, struct open_file *file, struct str uri, struct str text)
{
    file->text = file->uri = STR("");
    arena_reset(file->arena);
    file->uri = str_dup(file->arena, uri);
    file->text = str_dup(file->arena, text);
    file->version = number_at(m->server->arena, m->params, "textDocument.version");
    publish(m, file, true);
    publish_below(m, file);
}

static struct open_file *file_new(struct lsp_server *s)
{
    for (size_t i = 0; i < MOST_FILES; i++) {
        if (s->files[i].arena) continue;
        s->files[i].arena = arena_new(2 * LSP_LONGEST);
        if (!s->files[i].arena) return NULL;
        arena_set_guard(s->files[i].arena, arena_guard(s->arena));
        return &s->files[i];
    }
    return NULL;
}

static void did_open(struct message *m)
{
    struct str uri = text_at(m->params, "textDocument.uri");
    struct open_file *file = file_find(m->server, uri);
    if (!file) file = file_new(m->server);
    if (file) file_set(m, file, uri, text_at(m->params, "textDocument.text"));
}

/* The text of a range is another, or the whole text is. */
static void change_text(struct message *m, const struct node *change, struct buf *text)
{
    size_t from = 0, to = text->n;
    if (!node_get(change, STR("text"))) return;
    if (node_get(change, STR("range"))) {
        from = text_offset(buf_str(text), place_at(m, change, "range.start"));
        to = text_offset(buf_str(text), place_at(m, change, "range.end"));
    }
    buf_splice(text, from, to > from ? to : from, text_at(change, "text"));
}

/* Each change is one of the text that those before it have made. */
static void did_change(struct message *m)
{
    struct arena *a = m->server->arena;
    struct str uri = text_at(m->params, "textDocument.uri");
    struct open_file *file = file_find(m->server, uri);
    const struct node *changes = node_get(m->params, STR("contentChanges"));
    if (!file || !changes || changes->kind != NODE_LIST || !changes->n) return;
    struct buf text = buf_new(a);
    buf_add(&text, file->text);
    for (size_t i = 0; i < changes->n; i++)
        change_text(m, changes->items[i], &text);
    file_set(m, file, str_dup(a, uri), buf_str(&text));
}

static void did_close(struct message *m)
{
    struct open_file *file = file_find(m->server, text_at(m->params, "textDocument.uri"));
    if (!file) return;
    struct open_file was = *file;
    publish(m, file, false);
    *file = (struct open_file){0};
    publish_below(m, &was); /* what is in the file holds again */
    arena_free(was.arena);
}

/* ---- questions ---- */

static void hover(struct message *m, const struct lsp_request *r)
{
    lsp_hover(r, place_at(m, m->params, "position"));
}

static void complete(struct message *m, const struct lsp_request *r)
{
    lsp_complete(r, place_at(m, m->params, "position"));
}

static void actions(struct message *m, const struct lsp_request *r)
{
    lsp_actions(r, place_at(m, m->params, "range.start").line,
                place_at(m, m->params, "range.end").line);
}

static void inlays(struct message *m, const struct lsp_request *r)
{
    (void)m;
    lsp_inlays(r);
}

static void ask(struct message *m, void (*feature)(struct message *m, const struct lsp_request *r))
{
    struct open_file *file = file_find(m->server, text_at(m->params, "textDocument.uri"));
    struct lsp_request r;
    if (!file) {
        answer_error(m, BAD_PARAMS, "the file is not open");
        return;
    }
    request_open(m, file, &r);
    open_answer(m);
    json_key(&m->w, "result");
    m->w.comma = false;
    feature(m, &r);
    close_message(m);
}

/* ---- the protocol ---- */

static void initialize(struct message *m)
{
    struct json_writer *w = &m->w;
    m->server->stage = STAGE_RUNNING;
    open_answer(m);
    json_open(w, "result", '{');
    json_open(w, "capabilities", '{');
    json_str(w, "positionEncoding", STR("utf-16"));
    json_open(w, "textDocumentSync", '{');
    json_bool(w, "openClose", true);
    json_int(w, "change", 2); /* incremental */
    json_close(w, '}');
    json_bool(w, "hoverProvider", true);
    json_open(w, "completionProvider", '{');
    json_strs(w, "triggerCharacters",
              (struct str[]){STR("-"), STR("."), STR("="), STR(" "), STR(":")}, 5);
    json_close(w, '}');
    json_open(w, "codeActionProvider", '{');
    json_strs(w, "codeActionKinds", (struct str[]){STR("quickfix")}, 1);
    json_close(w, '}');
    json_bool(w, "inlayHintProvider", true);
    json_close(w, '}');
    json_open(w, "serverInfo", '{');
    json_str(w, "name", STR("moeplan"));
    json_str(w, "version", STR(MOEPLAN_VERSION));
    json_close(w, '}');
    json_close(w, '}');
    close_message(m);
}

static void shut_down(struct message *m)
{
    m->server->stage = STAGE_ASKED;
    answer_null(m);
}

static void leave(struct message *m)
{
    m->server->stage = m->server->stage == STAGE_ASKED ? STAGE_ENDED : STAGE_LEFT;
}

/* Requests have one of the first two, notifications the third. */
static const struct method {
    const char *name;
    void (*request)(struct message *m);
    void (*feature)(struct message *m, const struct lsp_request *r);
    void (*notice)(struct message *m);
} methods[] = {
    {"initialize", .request = initialize},
    {"shutdown", .request = shut_down},
    {"textDocument/hover", .feature = hover},
    {"textDocument/completion", .feature = complete},
    {"textDocument/codeAction", .feature = actions},
    {"textDocument/inlayHint", .feature = inlays},
    {"textDocument/didOpen", .notice = did_open},
    {"textDocument/didChange", .notice = did_change},
    {"textDocument/didClose", .notice = did_close},
    {"exit", .notice = leave},
};

static const struct method *method_find(struct str name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (str_is(name, methods[i].name)) return &methods[i];
    return NULL;
}

static void answer_request(struct message *m, const struct method *method)
{
    enum stage stage = m->server->stage;
    bool first = str_is(m->method, "initialize");
    if (stage == STAGE_NEW && !first)
        answer_error(m, NOT_YET, "initialize comes first");
    else if (stage != STAGE_NEW && (first || stage != STAGE_RUNNING))
        answer_error(m, NO_REQUEST, first ? "initialized already" : "shut down");
    else if (!method || method->notice)
        answer_error(m, NO_METHOD, "no such method");
    else if (method->feature)
        ask(m, method->feature);
    else
        method->request(m);
}

/* The message's id, method and parameters; an answer to a question of ours is none, as we ask
   nothing. */
static bool read_message(struct message *m)
{
    struct diags diags;
    diags_init(&diags, m->server->arena);
    const struct node *root =
        doc_load_json(m->server->arena, &diags, source_add(&diags.sources, STR("-"), m->text));
    if (!root) {
        answer_error(m, NO_JSON, "this is no JSON");
        return false;
    }
    const struct node *id = node_get(root, STR("id")), *method = node_get(root, STR("method"));
    if (id && id->kind == NODE_SCALAR) m->id = str_slice(m->text, id->from, id->to);
    m->params = node_get(root, STR("params"));
    if (method && method->kind == NODE_SCALAR && method->quoted) {
        m->method = method->text;
        return true;
    }
    bool answer = node_get(root, STR("result")) || node_get(root, STR("error"));
    if (!answer) answer_error(m, NO_REQUEST, "a message is an object with a method");
    return false;
}

static void handle(void *state)
{
    struct message *m = state;
    m->body = buf_new(m->server->arena);
    m->w = json_writer_new(&m->body);
    if (!read_message(m)) return;
    const struct method *method = method_find(m->method);
    bool running = m->server->stage == STAGE_RUNNING;
    if (m->id.n)
        answer_request(m, method);
    else if (method && method->notice && (running || method->notice == leave))
        method->notice(m);
}

void lsp_answer(struct lsp_server *s, double seconds, struct str message, struct buf *out)
{
    struct message m = {.server = s, .text = message, .out = out};
    size_t before = out->n;
    enum guard_end end = guard_run(arena_guard(s->arena), seconds, handle, &m);
    arena_reset(s->arena);
    arena_reset(s->scratch);
    if (end == GUARD_DONE) return;
    out->n = before;
    if (!m.id.n) return; /* nobody waits for it */
    m.body = buf_new(s->arena);
    m.w = json_writer_new(&m.body);
    answer_error(&m, FAILED, guard_end_text(end));
    arena_reset(s->arena);
}
