/* SPDX-License-Identifier: Apache-2.0 */
/* The number of GPUs in a recipe's own comment: "automodel RECIPE --nproc-per-node 8". Comments are
   copied from recipe to recipe, so this is a hint and never decides anything by itself. */
#include <ctype.h>

#include "base/num.h"
#include "facts/automodel.h"

/* The number behind an option in a line, "--name 8" or "--name=8"; 0 when there is none. */
static int64_t option_in(struct str line, struct str name)
{
    size_t at = str_find_str(line, name);
    if (at == line.n) return 0;
    size_t from = at + name.n;
    if (from < line.n && (line.p[from] == ' ' || line.p[from] == '=')) from++;
    size_t to = from;
    while (to < line.n && isdigit((unsigned char)line.p[to]))
        to++;
    int64_t n;
    return num_parse_int(str_slice(line, from, to), &n) ? n : 0;
}

static int64_t either_option(struct str line, struct str dashes, struct str underscores)
{
    int64_t n = option_in(line, dashes);
    return n ? n : option_in(line, underscores);
}

/* The next line of the text that is a comment, from its "#" on; false when there is none. */
static bool take_comment(struct str text, size_t *at, struct str *line)
{
    for (; (*at += str_find(str_slice(text, *at, text.n), '#')) < text.n; ++*at) {
        size_t before = *at;
        while (before > 0 && isblank((unsigned char)text.p[before - 1]))
            before--;
        if (before > 0 && text.p[before - 1] != '\n') continue;
        struct str rest = str_slice(text, *at, text.n);
        *line = str_slice(rest, 0, str_find(rest, '\n'));
        *at += line->n;
        return true;
    }
    return false;
}

int64_t automodel_documented_gpus(struct str text)
{
    struct str line;
    int64_t found = 0;
    for (size_t at = 0; take_comment(text, &at, &line);) {
        int64_t gpus;
        if (str_find_str(line, STR("--n")) == line.n) continue; /* most */
        int64_t per_node = either_option(line, STR("--nproc-per-node"), STR("--nproc_per_node"));
        int64_t nodes = either_option(line, STR("--nnodes"), STR("--num-nodes"));
        if (per_node <= 0 || __builtin_mul_overflow(per_node, nodes > 0 ? nodes : 1, &gpus))
            continue;
        if (found && gpus != found) return 0; /* several commands: none of them is the one */
        found = gpus;
    }
    return found;
}
