/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"

#include <errno.h>
#include <unistd.h>

#include "base/edit.h"
#include "base/io.h"
#include "base/quote.h"
#include "cmd/commands.h"
#include "cmd/option.h"
#include "cmd/terminal.h"
#include "cmd/wrong_file.h"
#include "diag/render_text.h"
#include "rules/rule.h"

enum { MOST_PRINTED = 1000 };

int cmd_usage_error(struct cmd_context *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str message = arena_vprintf(c->keep, format, args);
    va_end(args);
    const char *name = c->command ? c->command->name : NULL;
    buf_printf(&c->err, "moeplan%s%s: %.*s\n", name ? " " : "", name ? name : "",
               LINE_ARG(c->keep, message));
    return STATUS_CANNOT;
}

void cmd_print_diags(struct cmd_context *c, struct diags *diags, struct buf *to)
{
    diags_sort(diags);
    for (size_t i = 0; i < diags->n && i < MOST_PRINTED; i++)
        render_text(to, diags, &diags->items[i], c->view.width);
    if (diags->n > MOST_PRINTED) buf_printf(to, "… and %zu more\n", diags->n - MOST_PRINTED);
}

bool cmd_load_rules(struct cmd_context *c, const struct rule_set **out)
{
    const struct rule_set *set = rules_builtin();
    bool ok = true;
    struct str folder;
    for (size_t i = 0; option_nth(c, "rules", i, &folder); i++) {
        struct rule_set *larger = ARENA_NEW(c->keep, struct rule_set);
        bool loaded = rules_load(c->keep, &c->diags, str_dup(c->keep, folder).p, set, larger);
        ok = ok && loaded;
        set = larger;
    }
    *out = set;
    return ok;
}

const struct command *command_find(struct str name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (str_is(name, commands[i]->name)) return commands[i];
    return NULL;
}

int command_unknown(struct cmd_context *c, struct str word)
{
    struct edit_nearest nearest = {.word = word};
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        edit_offer(&nearest, str_of(commands[i]->name));
    if (nearest.best.n)
        return cmd_usage_error(c, "there is no command %.*s; did you mean %.*s?", STR_ARG(word),
                               STR_ARG(nearest.best));
    return cmd_usage_error(c, "there is no command %.*s; moeplan help lists them", STR_ARG(word));
}

/* `moeplan --help` and `moeplan --version` are the commands of these names. */
static struct str command_word(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return STR("help");
    if (strcmp(word, "--version") == 0) return STR("version");
    return str_of(word);
}

/* Whether --format asks for what programs read. */
static bool is_plain(const struct cmd_context *c)
{
    struct str format = option_value(c, "format");
    return c->command && (c->command->writes_files || option_given(c, "batch") ||
                          (format.n && !str_is_any(format, "text|concise")));
}

static int run(struct cmd_context *c, int argc, char **argv)
{
    if (argc < 2) {
        help_program(&c->err);
        return STATUS_CANNOT;
    }
    struct str word = command_word(argv[1]);
    c->command = command_find(word);
    if (!c->command) return command_unknown(c, word);
    bool parsed = options_parse(c, argc - 2, argv + 2);
    if (!option_choice(c, "color", &c->colour) || !parsed) return STATUS_CANNOT;
    c->plain = is_plain(c) && !option_given(c, "help");
    c->view = terminal_view(STDOUT_FILENO, c->colour);
    if (!option_given(c, "help")) return c->command->run(c);
    help_command(c->command, &c->out);
    return STATUS_OK;
}

static bool write_all(FILE *to, struct str text)
{
    return fwrite(text.p, 1, text.n, to) == text.n && fflush(to) == 0;
}

/* The last net: whatever a text carries, nothing but our own colours acts on a terminal. */
static struct str shown(struct cmd_context *c, struct buf *text, struct view view)
{
    return page_render(c->keep, buf_str(text), view);
}

/* Results to stdout or -o FILE, which a usage error leaves alone: a report is a report, also when
   not everything could be read. A reader that has gone away is no error; a full disk is. */
static int deliver(struct cmd_context *c, int status)
{
    struct str path = option_value(c, "output"), error;
    struct view view = path.n ? (struct view){0} : c->view;
    struct str text = c->plain ? quote_screen(c->keep, buf_str(&c->out)) : shown(c, &c->out, view);
    if (path.n && (status != STATUS_CANNOT || text.n)) {
        if (io_write(c->keep, str_dup(c->keep, path).p, text, &error)) return status;
        return cmd_usage_error(c, "%.*s cannot be written: %.*s", STR_ARG(path), STR_ARG(error));
    }
    if (!c->plain && !option_given(c, "no-pager") && terminal_page(text)) return status;
    if (write_all(stdout, text) || errno == EPIPE) return status;
    return cmd_usage_error(c, "stdout cannot be written: %s", strerror(errno));
}

struct call {
    struct cmd_context context;
    int argc;
    char **argv;
    int status;
};

/* All that is to be said is put together before any of it goes out. */
static void run_and_deliver(void *state)
{
    struct call *call = state;
    struct cmd_context *c = &call->context;
    c->out = buf_new(c->keep);
    c->err = buf_new(c->keep);
    diags_init(&c->diags, c->keep);
    int status = run(c, call->argc, call->argv);
    cmd_print_diags(c, &c->diags, &c->err);
    if (status == STATUS_CANNOT) wrong_files(c);
    call->status = deliver(c, status);
    write_all(stderr, shown(c, &c->err, terminal_view(STDERR_FILENO, c->colour)));
}

int cmd_main(int argc, char **argv)
{
    struct guard guard = {0};
    struct call call = {.argc = argc, .argv = argv};
    struct cmd_context *c = &call.context;
    enum guard_end end = GUARD_NO_MEMORY;
    *c = (struct cmd_context){.keep = arena_new(0), .scratch = arena_new(REQUEST_MEMORY)};
    if (c->keep && c->scratch) {
        arena_set_guard(c->keep, &guard);
        arena_set_guard(c->scratch, &guard);
        end = guard_run(&guard, 0, run_and_deliver, &call);
    }
    if (end != GUARD_DONE) {
        const char *name = c->command ? c->command->name : NULL;
        fprintf(stderr, "moeplan%s%s: %s\n", name ? " " : "", name ? name : "",
                guard_end_text(end));
        call.status = STATUS_CANNOT;
    }
    arena_free(c->scratch);
    arena_free(c->keep);
    return call.status;
}
