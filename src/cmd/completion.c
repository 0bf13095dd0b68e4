/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell completes: commands, options and their values, from the table of commands, the
   catalogue and the built-in rules. */
#include "cmd/commands.h"
#include "cmd/option.h"
#include "facts/entry.h"
#include "facts/param.h"
#include "rules/rule.h"

/* ---- which words a value has ---- */

/* Lists that several options share: a variable of their name in the script. LIST_WORDS: the
   placeholder's own. */
enum list {
    LIST_NONE,
    LIST_FILES,
    LIST_WORDS,
    LIST_COMMANDS,
    LIST_FRAMEWORKS,
    LIST_MODELS,
    LIST_PLATFORMS,
    LIST_RULES
};

static const char *const variables[] = {
    [LIST_COMMANDS] = "commands",   [LIST_FRAMEWORKS] = "frameworks", [LIST_MODELS] = "models",
    [LIST_PLATFORMS] = "platforms", [LIST_RULES] = "rules",
};

/* By the option's name, or by what usage calls the argument. */
static const struct {
    const char *name;
    enum list list;
} known[] = {
    {"framework", LIST_FRAMEWORKS}, {"model", LIST_MODELS}, {"platform", LIST_PLATFORMS},
    {"FILE", LIST_FILES},           {"PATH", LIST_FILES},   {"FOLDER", LIST_FILES},
    {"COMMAND", LIST_COMMANDS},     {"MODEL", LIST_MODELS}, {"NAME", LIST_RULES},
};

static enum list list_named(struct str name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(name, known[i].name)) return known[i].list;
    return LIST_NONE;
}

/* "[FILE…]" -> "FILE" */
static struct str bare(struct str placeholder)
{
    struct str s = placeholder;
    if (str_starts(s, STR("["))) s = str_slice(s, 1, s.n);
    if (str_ends(s, STR("]"))) s = str_slice(s, 0, s.n - 1);
    return str_slice(s, 0, str_find_str(s, STR("…")));
}

static enum list list_of_value(const char *name, const char *placeholder)
{
    enum list list = name ? list_named(str_of(name)) : LIST_NONE;
    struct str s = bare(str_of(placeholder));
    if (list == LIST_NONE) list = list_named(s);
    if (list == LIST_NONE && str_find(s, '|') < s.n) list = LIST_WORDS;
    return list;
}

static void add_word(struct buf *out, struct str word)
{
    buf_printf(out, "%s%.*s", out->n ? " " : "", STR_ARG(word));
}

/* The words of a list, blanks between. */
static struct str list_words(struct arena *a, enum list list)
{
    const struct rule_set *rules = rules_builtin();
    struct buf out = buf_new(a);
    switch (list) {
    case LIST_COMMANDS:
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            add_word(&out, str_of(commands[i]->name));
        break;
    case LIST_FRAMEWORKS:
        for (int i = 0; i < FRAMEWORK_COUNT; i++)
            add_word(&out, str_of(framework_name((enum framework)i)));
        break;
    case LIST_MODELS:
        for (size_t i = 0; i < catalogue_model_count; i++)
            add_word(&out, catalogue_models[i].id);
        break;
    case LIST_PLATFORMS:
        for (size_t i = 0; i < catalogue_platform_count; i++)
            add_word(&out, catalogue_platforms[i].id);
        break;
    case LIST_RULES:
        for (size_t i = 0; i < rules->n; i++)
            add_word(&out, rules->items[i]->id);
        break;
    case LIST_NONE:
    case LIST_FILES:
    case LIST_WORDS: break;
    }
    return buf_str(&out);
}

/* "text|json" -> "text json" */
static void add_choices(struct buf *out, const char *placeholder)
{
    struct str rest = bare(str_of(placeholder)), word;
    for (const char *before = ""; str_split(&rest, '|', &word); before = " ")
        buf_printf(out, "%s%.*s", before, STR_ARG(word));
}

/* The list as the script names it: "$models", or the choices themselves; empty: none. */
static struct str list_text(struct arena *a, enum list list, const char *prefix,
                            const char *placeholder)
{
    struct buf out = buf_new(a);
    if (variables[list]) buf_printf(&out, "$%s%s", prefix, variables[list]);
    if (list == LIST_WORDS) add_choices(&out, placeholder);
    return buf_str(&out);
}

/* What completes one option of a command. */
struct writer {
    struct buf *out;
    const char *command;
};

/* ---- bash ---- */

static void bash_name(void *state, const struct option *option)
{
    struct buf *out = ((struct writer *)state)->out;
    buf_printf(out, " --%s", option->name);
}

static void bash_value(void *state, const struct option *option)
{
    struct writer *w = state;
    if (!option->value) return;
    enum list list = list_of_value(option->name, option->value);
    struct str words = list_text(w->out->arena, list, "_moeplan_", option->value);
    buf_printf(w->out, "    %s:--%s) ", w->command, option->name);
    if (words.n)
        buf_printf(w->out, "words=\"%.*s\" ;;\n", STR_ARG(words));
    else
        buf_add(w->out, list == LIST_FILES ? STR("files=1 ;;\n") : STR(";;\n"));
}

static void bash_command(struct buf *out, const struct command *command)
{
    struct writer w = {out, command->name};
    enum list list = list_of_value(NULL, command->arguments);
    struct str words = list_text(out->arena, list, "_moeplan_", command->arguments);
    options_each(command, bash_value, &w);
    buf_printf(out, "    %s:*) words=\"%.*s", command->name, STR_ARG(words));
    options_each(command, bash_name, &w);
    bool files = list == LIST_FILES || list == LIST_MODELS;
    buf_printf(out, "\"%s ;;\n", files ? " files=1" : "");
}

static void print_bash(struct buf *out)
{
    buf_add(out, STR("# bash completion of moeplan: written by `moeplan completion bash`\n"));
    for (int i = LIST_COMMANDS; i <= LIST_RULES; i++)
        buf_printf(out, "_moeplan_%s='%.*s'\n", variables[i],
                   STR_ARG(list_words(out->arena, (enum list)i)));
    buf_add(out, STR("_moeplan() {\n"
                     "    local word=${COMP_WORDS[COMP_CWORD]} words='' files=''\n"
                     "    local key=${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    [ \"$COMP_CWORD\" -gt 1 ] || key=\n"
                     "    case $key in\n"
                     "    '') words=$_moeplan_commands ;;\n"));
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        bash_command(out, commands[i]);
    buf_add(out, STR("    esac\n"
                     "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                     "    [ -z \"$files\" ] || COMPREPLY+=($(compgen -f -- \"$word\"))\n"
                     "}\n"
                     "complete -o filenames -F _moeplan moeplan\n"));
}

/* ---- zsh ---- */

/* Help within '…[…]': quotes end it, brackets and colons mean something. */
static void zsh_help(struct buf *out, const char *help)
{
    for (const char *p = help; *p; p++) {
        if (strchr("[]:\\", *p)) buf_add_char(out, '\\');
        if (*p == '\'')
            buf_add(out, STR("'\\''"));
        else
            buf_add_char(out, *p);
    }
}

static struct str zsh_action(struct arena *a, enum list list, const char *placeholder)
{
    struct str words = list_text(a, list, "", placeholder);
    if (list == LIST_FILES) return STR("_files");
    if (list == LIST_MODELS) return STR("{ compadd -a models; _files }");
    if (variables[list]) return arena_printf(a, "{ compadd -a %s }", variables[list]);
    return words.n ? arena_printf(a, "(%.*s)", STR_ARG(words)) : STR(" ");
}

static void zsh_option(void *state, const struct option *option)
{
    struct buf *out = ((struct writer *)state)->out;
    buf_printf(out, " \\\n        '*--%s[", option->name);
    zsh_help(out, option->help);
    buf_add_char(out, ']');
    if (option->value) {
        enum list list = list_of_value(option->name, option->value);
        struct str action = zsh_action(out->arena, list, option->value);
        buf_printf(out, ":%s:%.*s", option->name, STR_ARG(action));
    }
    buf_add_char(out, '\'');
}

static void zsh_command(struct buf *out, const struct command *command)
{
    struct writer w = {out, command->name};
    enum list list = list_of_value(NULL, command->arguments);
    buf_printf(out, "    (%s) _arguments", command->name);
    options_each(command, zsh_option, &w);
    if (*command->arguments)
        buf_printf(out, " \\\n        '*:argument:%.*s'",
                   STR_ARG(zsh_action(out->arena, list, command->arguments)));
    buf_add(out, STR(" ;;\n"));
}

static void print_zsh(struct buf *out)
{
    buf_add(out, STR("#compdef moeplan\n# written by `moeplan completion zsh`\n"));
    for (int i = LIST_COMMANDS; i <= LIST_RULES; i++)
        buf_printf(out, "local -a %s=(%.*s)\n", variables[i],
                   STR_ARG(list_words(out->arena, (enum list)i)));
    buf_add(out, STR("if (( CURRENT == 2 )); then\n    compadd -a commands\n    return\nfi\n"
                     "local command=$words[2]\nshift words\n(( CURRENT-- ))\ncase $command in\n"));
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        zsh_command(out, commands[i]);
    buf_add(out, STR("esac\n"));
}

/* ---- fish ---- */

static void fish_quote(struct buf *out, const char *text)
{
    buf_add_char(out, '\'');
    for (const char *p = text; *p; p++) {
        if (*p == '\'' || *p == '\\') buf_add_char(out, '\\');
        buf_add_char(out, *p);
    }
    buf_add_char(out, '\'');
}

static void fish_words(struct buf *out, enum list list, const char *placeholder)
{
    struct str words = list_text(out->arena, list, "_moeplan_", placeholder);
    if (words.n) buf_printf(out, " -a \"%.*s\"", STR_ARG(words));
}

static void fish_when(struct buf *out, const char *command)
{
    buf_printf(out, "complete -c moeplan -n '__fish_seen_subcommand_from %s'", command);
}

static void fish_option(void *state, const struct option *option)
{
    struct writer *w = state;
    fish_when(w->out, w->command);
    buf_printf(w->out, " -l %s", option->name);
    if (option->value) {
        enum list list = list_of_value(option->name, option->value);
        buf_add(w->out, list == LIST_FILES ? STR(" -rF") : STR(" -x"));
        fish_words(w->out, list, option->value);
    }
    buf_add(w->out, STR(" -d "));
    fish_quote(w->out, option->help);
    buf_add_char(w->out, '\n');
}

static void fish_command(struct buf *out, const struct command *command)
{
    struct writer w = {out, command->name};
    enum list list = list_of_value(NULL, command->arguments);
    buf_printf(out, "complete -c moeplan -n __fish_use_subcommand -a %s -d ", command->name);
    fish_quote(out, command->help);
    buf_add_char(out, '\n');
    options_each(command, fish_option, &w);
    if (list == LIST_NONE) return;
    fish_when(out, command->name);
    if (list == LIST_FILES || list == LIST_MODELS) buf_add(out, STR(" -F"));
    fish_words(out, list, command->arguments);
    buf_add_char(out, '\n');
}

static void print_fish(struct buf *out)
{
    buf_add(out, STR("# fish completion of moeplan: written by `moeplan completion fish`\n"
                     "complete -c moeplan -f\n"));
    for (int i = LIST_COMMANDS; i <= LIST_RULES; i++)
        buf_printf(out, "set -g _moeplan_%s %.*s\n", variables[i],
                   STR_ARG(list_words(out->arena, (enum list)i)));
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fish_command(out, commands[i]);
}

/* ---- the command ---- */

static int run(struct cmd_context *c)
{
    static const struct {
        const char *name;
        void (*print)(struct buf *out);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (str_is(c->arguments[0], shells[i].name)) {
            shells[i].print(&c->out);
            return STATUS_OK;
        }
    return cmd_usage_error(c, "there is a completion for bash, zsh and fish, not for %.*s",
                           STR_ARG(c->arguments[0]));
}

const struct command command_completion = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .min_arguments = 1,
    .max_arguments = 1,
    .help = "Print what a shell completes moeplan's words with",
    .details = "Source it: eval \"$(moeplan completion bash)\"; an installed moeplan has it in "
               "place.\n",
    .run = run,
};
