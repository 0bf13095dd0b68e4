/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/option.h"

#include "base/edit.h"
#include "base/io.h"
#include "base/num.h"
#include "cmd/commands.h"
#include "facts/param.h"

/* Options that every command, every command with rules, and every command with a batch mode has. */
static const struct option option_help = {"help", NULL, "show this page"};
static const struct option option_output = {
    "output", "FILE", "write there instead of to stdout, whole or not at all (-o)"};
static const struct option option_colour = {
    "color", "auto|always|never",
    "colours: on terminals (NO_COLOR, CLICOLOR_FORCE), always, never"};
static const struct option option_no_pager = {
    "no-pager", NULL, "print long screens as they are (MOEPLAN_PAGER, PAGER name the pager)"};
static const struct option option_rules = {
    "rules", "PATH", "also load the rules of a file, or below a folder (repeatable)"};
static const struct option option_batch = {
    "batch", NULL, "read JSONL requests from stdin, write one JSON answer a line"};

static const struct option option_request_timeout = {
    "request-timeout", "SECONDS", "with --batch: CPU time that a request may take (60)"};

void options_each(const struct command *command,
                  void (*each)(void *state, const struct option *option), void *state)
{
    for (const struct option *o = command->options; o && o->name; o++)
        each(state, o);
    if (command->reads_batch) {
        each(state, &option_batch);
        each(state, &option_request_timeout);
    }
    if (command->loads_rules) each(state, &option_rules);
    each(state, &option_output);
    each(state, &option_colour);
    each(state, &option_no_pager);
    each(state, &option_help);
}

struct search {
    struct str name;
    const struct option *found;
    struct edit_nearest nearest;
};

static void look(void *state, const struct option *option)
{
    struct search *s = state;
    if (str_is(s->name, option->name)) s->found = option;
    edit_offer(&s->nearest, str_of(option->name));
}

static struct search option_search(const struct command *command, struct str name)
{
    struct search s = {.name = name, .nearest.word = name};
    options_each(command, look, &s);
    return s;
}

/* "--pin tp=2" of --tp 2, "--seq" of --seq-length: a parameter is an option of the command by its
   shorter name, or a value for its --pin or --set; empty: it is not. */
static struct str by_parameter(struct cmd_context *c, const struct search *s, struct str value)
{
    int param = param_meant(s->name);
    if (param < 0) return STR("");
    const struct param *p = &param_table[param];
    if (!p->symbol.n && p->scope != SCOPE_PLAN) return STR(""); /* --config, --nodes */
    if (option_search(c->command, p->symbol).found)
        return arena_printf(c->keep, "--%.*s", STR_ARG(p->symbol));
    bool pins = option_search(c->command, STR("pin")).found;
    if (!pins && !option_search(c->command, STR("set")).found) return STR("");
    if (!value.n) value = p->type == PARAM_BOOL ? STR("true") : STR("VALUE");
    return arena_printf(c->keep, "--%s %.*s=%.*s", pins ? "pin" : "set",
                        STR_ARG(p->symbol.n ? p->symbol : p->name), STR_ARG(value));
}

struct word_search {
    struct str word;
    const struct option *found;
};

static void look_at_words(void *state, const struct option *option)
{
    struct word_search *s = state;
    struct str rest = str_of(option->value ? option->value : ""), word;
    while (!s->found && str_split(&rest, '|', &word))
        if (str_eq(word, s->word)) s->found = option;
}

/* What an option that the command does not have most likely means. */
static struct str option_meant(struct cmd_context *c, const struct search *s, struct str value)
{
    struct str meant = by_parameter(c, s, value);
    struct word_search words = {.word = s->name};
    options_each(c->command, look_at_words, &words);
    if (!meant.n && words.found)
        meant = arena_printf(c->keep, "--%s %.*s", words.found->name, STR_ARG(s->name));
    if (!meant.n && s->nearest.best.n)
        meant = arena_printf(c->keep, "--%.*s", STR_ARG(s->nearest.best));
    return meant;
}

/* value: the word that is behind it, as far as it may be its own */
static bool unknown_option(struct cmd_context *c, const struct search *s, struct str value)
{
    struct str meant = option_meant(c, s, value), arguments = str_of(c->command->arguments);
    if (meant.n)
        cmd_usage_error(c, "there is no option --%.*s; did you mean %.*s?", STR_ARG(s->name),
                        STR_ARG(meant));
    else if (str_eq_nocase(s->name, arguments))
        cmd_usage_error(c, "there is no option --%.*s; it is an argument: moeplan %s %.*s",
                        STR_ARG(s->name), c->command->name, STR_ARG(arguments));
    else
        cmd_usage_error(c, "there is no option --%.*s", STR_ARG(s->name));
    return false;
}

static bool has_capital(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] >= 'A' && s.p[i] <= 'Z') return true;
    return false;
}

/* A word of the option's own, typed in any case; capitals in "N|min" stand for a value. */
static struct str as_offered(const struct option *option, struct str value)
{
    struct str rest = str_of(option->value ? option->value : ""), word;
    while (str_split(&rest, '|', &word))
        if (str_eq_nocase(value, word) && !has_capital(word)) return word;
    return value;
}

static void add_given(struct cmd_context *c, const struct option *option, struct str value)
{
    value = as_offered(option, value);
    c->given[c->n_given++] = (struct given){option, value};
}

/* One option word and, when it takes a value that is not behind its "=", the word after it. */
static bool parse_option(struct cmd_context *c, int n, char **words, int *at)
{
    struct str word = str_of(words[*at]);
    if (str_is(word, "-o")) word = STR("--output");
    if (str_is(word, "-h")) word = STR("--help");
    if (str_is(word, "-q")) word = STR("--quiet");
    if (!str_starts(word, STR("--"))) {
        cmd_usage_error(c, "there is no option %.*s", STR_ARG(word));
        return false;
    }
    word = str_slice(word, 2, word.n);
    size_t equals = str_find(word, '=');
    struct search search = option_search(c->command, str_slice(word, 0, equals));
    const struct option *option = search.found;
    if (!option && c->command->takes_flags) {
        c->arguments[c->n_arguments++] = str_of(words[*at]);
        return true;
    }
    if (!option) {
        struct str behind = *at + 1 < n ? str_of(words[*at + 1]) : STR("");
        bool own = equals < word.n || !str_starts(behind, STR("-"));
        struct str value = equals < word.n ? str_slice(word, equals + 1, word.n) : behind;
        return unknown_option(c, &search, own ? value : STR(""));
    }
    if (!option->value && equals < word.n) {
        cmd_usage_error(c, "--%s takes no value", option->name);
        return false;
    }
    if (!option->value || equals < word.n) {
        add_given(c, option, str_slice(word, equals + 1, word.n));
        return true;
    }
    if (++*at == n) {
        cmd_usage_error(c, "--%s needs a value: --%s %s", option->name, option->name,
                        option->value);
        return false;
    }
    add_given(c, option, str_of(words[*at]));
    return true;
}

/* Whether one of "gpus|deadline" is given; *out is the first of them. */
static bool one_given(struct cmd_context *c, struct str names, const struct option **out)
{
    struct str name;
    bool given = false;
    *out = NULL;
    while (str_split(&names, '|', &name)) {
        const struct option *option = option_search(c->command, name).found;
        if (!*out) *out = option;
        given = given || option_given(c, option->name);
    }
    return given;
}

/* What a command cannot do without and was not given, all of it at once. */
static bool check_required(struct cmd_context *c)
{
    const struct command *command = c->command;
    struct str rest = str_of(command->required), name;
    struct buf names = buf_new(c->keep), options = buf_new(c->keep);
    if (!c->n_arguments && command->usual_file && io_is_file(command->usual_file))
        c->arguments[c->n_arguments++] = str_of(command->usual_file);
    bool argument = c->n_arguments < (size_t)command->min_arguments;
    int missing = argument;
    if (argument) buf_add(&names, str_of(command->arguments));
    while (rest.n && str_split(&rest, ' ', &name)) {
        const struct option *option;
        if (one_given(c, name, &option)) continue;
        buf_printf(&names, "%s--%s %s", missing++ ? ", " : "", option->name, option->value);
        help_option(&options, option);
    }
    if (argument && missing == 1)
        cmd_usage_error(c, "missing argument: moeplan %s %s", command->name, command->arguments);
    else if (missing)
        cmd_usage_error(c, "%.*s %s missing", STR_ARG(buf_str(&names)), missing > 1 ? "are" : "is");
    if (missing > 1) buf_add(&c->err, buf_str(&options));
    return !missing;
}

/* Requests come on stdin alone; `--batch 512` is most often meant as the global batch size. */
static bool check_batch(struct cmd_context *c)
{
    int64_t size;
    if (!c->n_arguments) return true;
    struct str last = c->arguments[c->n_arguments - 1];
    if (num_parse_int(last, &size) && option_search(c->command, STR("gbs")).found)
        cmd_usage_error(c,
                        "--batch reads requests from stdin and takes no \"%.*s\"; did you mean "
                        "--gbs %.*s?",
                        STR_ARG(last), STR_ARG(last));
    else
        cmd_usage_error(c, "--batch reads requests from stdin and takes no \"%.*s\"",
                        STR_ARG(last));
    return false;
}

static bool check_arguments(struct cmd_context *c)
{
    const struct command *command = c->command;
    if (option_given(c, "help")) return true;
    if (option_given(c, "batch")) return check_batch(c);
    if (!check_required(c)) return false;
    if (command->max_arguments >= 0 && c->n_arguments > (size_t)command->max_arguments) {
        cmd_usage_error(c, "one argument too many: %.*s",
                        STR_ARG(c->arguments[command->max_arguments]));
        return false;
    }
    return true;
}

bool options_parse(struct cmd_context *c, int n, char **words)
{
    c->arguments = ARENA_ARRAY(c->keep, struct str, (size_t)n + 1);
    c->given = ARENA_ARRAY(c->keep, struct given, (size_t)n + 1);
    bool options = true; /* until "--" */
    for (int i = 0; i < n; i++) {
        struct str word = str_of(words[i]);
        if (options && str_is(word, "--"))
            options = false;
        else if (!options || word.n < 2 || word.p[0] != '-')
            c->arguments[c->n_arguments++] = word;
        else if (!parse_option(c, n, words, &i))
            return false;
    }
    return check_arguments(c);
}

/* ---- what a command asks ---- */

bool option_nth(const struct cmd_context *c, const char *name, size_t i, struct str *out)
{
    for (size_t k = 0; k < c->n_given; k++) {
        if (strcmp(c->given[k].option->name, name) != 0 || i--) continue;
        *out = c->given[k].value;
        return true;
    }
    return false;
}

bool option_given(const struct cmd_context *c, const char *name)
{
    struct str value;
    return option_nth(c, name, 0, &value);
}

struct str option_value(const struct cmd_context *c, const char *name)
{
    struct str value = {"", 0};
    for (size_t k = 0; k < c->n_given; k++)
        if (strcmp(c->given[k].option->name, name) == 0) value = c->given[k].value;
    return value;
}

bool option_int(struct cmd_context *c, const char *name, int64_t least, int64_t *out)
{
    struct str value = option_value(c, name);
    int64_t i;
    if (!option_given(c, name)) return true;
    if (num_parse_int(value, &i) && i >= least) {
        *out = i;
        return true;
    }
    cmd_usage_error(c, "--%s must be an integer of at least %lld, not \"%.*s\"", name,
                    (long long)least, STR_ARG(value));
    return false;
}

bool option_choice(struct cmd_context *c, const char *name, int *out)
{
    const struct option *option = option_search(c->command, str_of(name)).found;
    struct str value = option_value(c, name), rest = str_of(option->value), word;
    *out = 0;
    if (!option_given(c, name)) return true;
    for (int i = 0; str_split(&rest, '|', &word); i++) {
        if (!str_eq(value, word)) continue;
        *out = i;
        return true;
    }
    struct str near = edit_near(c->keep, str_lower(c->keep, value), option->value);
    cmd_usage_error(c, "--%s must be one of %s, not \"%.*s\"%.*s", name, option->value,
                    STR_ARG(value), STR_ARG(near));
    return false;
}

bool option_param(struct cmd_context *c, const char *name, int param, int64_t *out)
{
    int64_t i = *out;
    const struct param_range *range = &param_table[param].range;
    if (!option_int(c, name, (int64_t)range->min, &i)) return false;
    if ((double)i > range->max) {
        struct str most = num_grouped(c->keep, (int64_t)range->max);
        cmd_usage_error(c, "--%s must be at most %.*s", name, STR_ARG(most));
        return false;
    }
    *out = i;
    return true;
}
