/* SPDX-License-Identifier: Apache-2.0 */
/* generate_rules [--report] OUT FOLDER: loads the rules below a folder as the program would, runs
   their examples, and writes them as C tables. A bad record or a failing example fails the build,
   unless --report only tells of it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/io.h"
#include "rules/rule.h"

static void print(struct diags *diags)
{
    diags_sort(diags);
    for (size_t i = 0; i < diags->n; i++) {
        const struct diag *d = &diags->items[i];
        const struct source *s = source_get(&diags->sources, d->at.source);
        struct str path = s ? s->path : STR("rules");
        fprintf(stderr, "%.*s:%u:%u: %s[%.*s]: %.*s%s%.*s\n", STR_ARG(path), d->at.line,
                d->at.column, severity_name(d->severity), STR_ARG(d->rule), STR_ARG(d->message),
                d->help.n ? "; " : "", STR_ARG(d->help));
    }
}

/* A user of ours is told what to do; rule files of others may leave it to the message. */
static bool is_mended(const struct rule *r, struct diags *diags)
{
    bool refuses = r->severity == SEVERITY_ERROR && r->rule;
    if (!refuses || r->help.n || r->suggestion || r->fix.n_set || r->fix.n_remove) return true;
    diag_add(diags, SEVERITY_ERROR, "rule-help", r->at,
             "%.*s is an error without help, suggestion or fix", STR_ARG(r->id));
    return false;
}

static bool generate(struct arena *a, const char *out, const char *folder, bool strict)
{
    struct diags diags;
    diags_init(&diags, a);
    struct rule_set set;
    bool good = rules_load(a, &diags, folder, NULL, &set);
    for (size_t i = 0; i < set.n; i++) {
        if (rule_test(set.items[i], &set, &diags)) good = false;
        if (!is_mended(set.items[i], &diags)) good = false;
    }
    print(&diags);
    if (strict && !good) return false;
    struct buf text = buf_new(a);
    rules_write_c(&set, &text);
    struct str error;
    if (io_write(a, out, buf_str(&text), &error)) return true;
    fprintf(stderr, "%s: %.*s\n", out, STR_ARG(error));
    return false;
}

int main(int argc, char **argv)
{
    bool strict = argc < 2 || strcmp(argv[1], "--report") != 0;
    if (argc != 3 + !strict) {
        fprintf(stderr, "usage: generate_rules [--report] OUT FOLDER\n");
        return EXIT_FAILURE;
    }
    struct arena *a = arena_new(0);
    bool good = a && generate(a, argv[argc - 2], argv[argc - 1], strict);
    arena_free(a);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
