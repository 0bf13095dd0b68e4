/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/wrong_file.h"

#include "base/io.h"
#include "base/quote.h"
#include "facts/param.h"
#include "facts/reader.h"

enum { MOST_BYTES = 1 << 20 };

/* What a file is, by a key that only such files have at the beginning of a line. */
static const struct kind {
    const char *key, *value;   /* value NULL: any */
    const char *what, *takers; /* commands that take it */
    const char *instead;
} kinds[] = {
    {"kind", "Platform", "a platform", "platforms|validate",
     "moeplan platforms FILE shows it, --platform plans for it"},
    {"kind", "Model", "a model", "models|suggest|validate",
     "moeplan models FILE shows it, suggest plans it"},
    {"kind", "Rules", "a file of rules", "rules|validate",
     "moeplan rules test FILE runs its examples, --rules uses them"},
    {"kind", "Parameters", "a file of parameters", "validate", "--rules FILE uses it"},
    {"moeplan", NULL, "a plan", "validate|estimate|compare|convert|sweep|suggest",
     "moeplan estimate FILE says what it costs; diagnose takes it as --plan"},
    {"recipe", NULL, "a recipe", "validate|estimate|compare|convert",
     "moeplan validate FILE checks it, estimate says what it costs"},
};
static const struct kind metrics = {NULL, NULL, "a file of metrics", "diagnose",
                                    "moeplan diagnose FILE says what the run waits for"};

/* The value of a key that begins a line; false where there is none. */
static bool value_of(struct str text, struct str key, struct str *value)
{
    struct str line;
    while (str_split(&text, '\n', &line)) {
        if (!str_starts(line, key) || line.n == key.n || line.p[key.n] != ':') continue;
        *value = str_trim(str_slice(line, key.n + 1, line.n));
        return true;
    }
    return false;
}

static bool is_metrics(struct str text)
{
    struct str key = str_slice(text, 0, str_find(text, ':'));
    int param = key.n < text.n ? param_find(str_trim(key)) : -1;
    return param >= 0 && param_table[param].scope == SCOPE_METRIC;
}

static const struct kind *kind_of(struct str text)
{
    struct str value;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (value_of(text, str_of(kinds[i].key), &value) &&
            (!kinds[i].value || str_is(value, kinds[i].value)))
            return &kinds[i];
    return is_metrics(text) ? &metrics : NULL;
}

static void name_built_in(struct cmd_context *c, struct str path, struct str kind)
{
    if (str_is(str_of(c->command->name), "validate")) return; /* says so itself */
    buf_printf(
        &c->err,
        "%.*s is data that is built into moeplan (kind: %.*s): a build takes it from rules/, "
        "--rules takes Rules and Parameters\n",
        LINE_ARG(c->keep, path), LINE_ARG(c->keep, kind));
}

void wrong_files(struct cmd_context *c)
{
    for (size_t i = 0; c->command && i < c->n_arguments; i++) {
        struct str text, error;
        const char *path = str_dup(c->keep, c->arguments[i]).p;
        if (!io_is_file(path) || !io_read_regular(c->keep, path, MOST_BYTES, &text, &error))
            continue;
        struct str word;
        if (value_of(text, STR("moeplan"), &word) && value_of(text, STR("kind"), &word) &&
            reader_is_built_in_kind(word)) {
            name_built_in(c, c->arguments[i], word);
            continue;
        }
        const struct kind *kind = kind_of(text);
        if (!kind || str_is_any(str_of(c->command->name), kind->takers)) continue;
        struct str instead = str_of(kind->instead), file = STR("FILE");
        size_t at = str_find_str(instead, file);
        buf_printf(&c->err, "%.*s is %s: %.*s%.*s%.*s\n", LINE_ARG(c->keep, c->arguments[i]),
                   kind->what, STR_ARG(str_slice(instead, 0, at)),
                   STR_ARG(quote_shell(c->keep, c->arguments[i])),
                   STR_ARG(str_slice(instead, at + file.n, instead.n)));
    }
}
