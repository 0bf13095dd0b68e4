/* SPDX-License-Identifier: Apache-2.0 */
/* The library: a request runs the command's batch mode on one line of text. */
#include "moeplan.h"

#include "cmd/commands.h"
#include "cmd/option.h"

struct moeplan {
    struct arena *arena; /* holds this record */
    struct arena *keep, *scratch;
};

struct moeplan *moeplan_new(void)
{
    struct arena *arena = arena_new(0);
    if (!arena) return NULL;
    struct moeplan *m = ARENA_NEW(arena, struct moeplan);
    *m = (struct moeplan){arena, arena_new(0), arena_new(0)};
    if (m->keep && m->scratch) return m;
    moeplan_free(m);
    return NULL;
}

void moeplan_free(struct moeplan *m)
{
    if (!m) return;
    arena_free(m->keep);
    arena_free(m->scratch);
    arena_free(m->arena);
}

/* A batch takes a request a line: line ends, which JSON has between its tokens only, become blanks.
 */
static struct str one_line(struct arena *a, const char *request)
{
    struct str text = str_of(request);
    char *p = arena_dup(a, text.p, text.n + 1);
    for (size_t i = 0; i < text.n; i++)
        if (p[i] == '\n' || p[i] == '\r') p[i] = ' ';
    return (struct str){p, text.n};
}

static const char *answer(struct moeplan *m, const char *command, const char *request)
{
    static const char batch[] = "--batch";
    char word[sizeof batch];
    char *words[] = {memcpy(word, batch, sizeof batch)};
    arena_reset(m->keep);
    arena_reset(m->scratch);
    struct cmd_context c = {
        .command = command_find(str_of(command)), .keep = m->keep, .scratch = m->scratch};
    struct str line = one_line(m->keep, request);
    c.out = buf_new(m->keep);
    c.err = buf_new(m->keep);
    c.batch = &line;
    diags_init(&c.diags, m->keep);
    bool asked = options_parse(&c, 1, words) && str_trim(line).n > 0;
    int status = asked ? c.command->run(&c) : STATUS_CANNOT;
    if (status != STATUS_OK || c.out.n == 0)
        return "{\"id\":null,\"error\":\"a request is a JSON object\"}";
    return str_dup(m->keep, str_trim(buf_str(&c.out))).p;
}

const char *moeplan_validate(struct moeplan *m, const char *request)
{
    return answer(m, "validate", request);
}

const char *moeplan_estimate(struct moeplan *m, const char *request)
{
    return answer(m, "estimate", request);
}

const char *moeplan_suggest(struct moeplan *m, const char *request)
{
    return answer(m, "suggest", request);
}

const char *moeplan_eval(struct moeplan *m, const char *request)
{
    return answer(m, "eval", request);
}

const char *moeplan_version(void)
{
    return MOEPLAN_VERSION;
}
