/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/batch.h"

#include "base/io.h"
#include "base/json.h"

void batch_error(struct cmd_context *c, struct str message)
{
    buf_add(&c->out, STR(",\"error\":"));
    json_add_string(&c->out, message);
}

struct str batch_str(const struct batch_request *request, const char *member)
{
    const struct node *node = node_get(request->root, str_of(member));
    return node && node->kind == NODE_SCALAR && node->quoted ? node->text : (struct str){0};
}

/* The request's own words for its id, so that numbers and strings come back as they were. */
static struct str id_text(const struct node *root, struct str line)
{
    const struct node *id = node_get(root, STR("id"));
    return id ? str_slice(line, id->from, id->to) : STR("null");
}

static void answer_line(struct cmd_context *c, struct str line,
                        void (*answer)(struct cmd_context *c, const struct batch_request *request))
{
    struct diags diags;
    diags_init(&diags, c->scratch);
    struct batch_request request = {.arena = c->scratch, .diags = &diags, .id = STR("null")};
    request.root = doc_load_json(c->scratch, &diags, source_add(&diags.sources, STR("-"), line));
    bool is_map = request.root && request.root->kind == NODE_MAP;
    if (is_map) request.id = id_text(request.root, line);
    buf_printf(&c->out, "{\"id\":%.*s", STR_ARG(request.id));
    if (is_map)
        answer(c, &request);
    else
        batch_error(c, diags.n ? diags.items[0].message : STR("a request is a JSON object"));
    buf_add(&c->out, STR("}\n"));
}

int batch_run(struct cmd_context *c,
              void (*answer)(struct cmd_context *c, const struct batch_request *request))
{
    struct str line;
    for (;;) {
        struct arena_mark mark = arena_mark(c->scratch);
        if (!io_read_line(c->scratch, stdin, &line)) return STATUS_OK;
        if (str_trim(line).n) answer_line(c, line, answer);
        arena_pop(c->scratch, mark);
    }
}
