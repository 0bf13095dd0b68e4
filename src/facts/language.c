/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/language.h"

/* Languages by what their files are called: the end of the name, a dot first, or the whole name or
   its beginning up to a dot; and by the programs that read them. Each list ends with NULL. */
enum { MOST_NAMES = 10 };
static const struct language {
    struct reader reader;
    const char *names[MOST_NAMES], *programs[MOST_NAMES];
} languages[] = {
    {{.name = "python", .title = "a Python program"}, {".py"}, {"python"}},
    {{.name = "notebook", .title = "a notebook"}, {".ipynb"}, {NULL}},
    {{.name = "make", .title = "a Makefile"},
     {".mk", "Makefile", "makefile", "GNUmakefile"},
     {"make"}},
    {{.name = "just", .title = "a justfile"},
     {".just", "justfile", "Justfile", ".justfile"},
     {"just"}},
    {{.name = "docker", .title = "a Dockerfile"},
     {".dockerfile", "Dockerfile", "Containerfile"},
     {NULL}},
    {{.name = "shell", .title = "a script of another shell than bash"},
     {".fish", ".csh", ".tcsh", ".ps1", ".psm1", ".bat", ".cmd", ".nu", ".elv"},
     {"fish", "csh", "tcsh", "pwsh", "nu", "elvish"}},
    {{.name = "text", .title = "a page of text"},
     {".md", ".mdx", ".rst", ".html", ".htm", ".tex", ".adoc", ".org"},
     {NULL}},
    {{.name = "log", .title = "a log"}, {".log", ".out", ".err"}, {NULL}},
    {{.name = "settings", .title = "settings of another program"},
     {".toml", ".ini", ".env", ".xml", ".properties", ".tf", ".hcl", ".csv", ".tsv"},
     {NULL}},
    {{.name = "program", .title = "a program's source"},
     {".pl", ".rb", ".js", ".ts", ".lua", ".go", ".rs", ".groovy", "Jenkinsfile"},
     {"perl", "ruby", "node", "lua", "expect", "awk"}},
};

/* "Dockerfile" of Dockerfile and of Dockerfile.cuda; ".py" of train.py. */
static bool is_called(struct str name, const char *word)
{
    struct str w = str_of(word);
    if (w.p[0] == '.') return str_ends(name, w) || str_eq(name, w);
    return str_eq(str_slice(name, 0, str_find(name, '.')), w);
}

/* The program that a first line "#!/usr/bin/env -S NAME" or "#!/bin/NAME3.11" calls, without its
   number; empty: there is no such line. */
static struct str interpreter(struct str text)
{
    struct str line, word, name = {"", 0};
    if (!str_starts(text, STR("#!")) || !str_split(&text, '\n', &line)) return name;
    line = str_slice(line, 2, line.n);
    while (str_split(&line, ' ', &word)) {
        if (!word.n || word.p[0] == '-') continue;
        name = str_last_part(word, '/');
        if (!str_is(name, "env")) break;
    }
    while (name.n && ((name.p[name.n - 1] >= '0' && name.p[name.n - 1] <= '9') ||
                      name.p[name.n - 1] == '.' || name.p[name.n - 1] == '\r'))
        name.n--;
    return name;
}

/* What we print says so at its head, whatever the file is called. */
static bool is_ours(struct str text)
{
    return str_starts(text, STR("# moeplan")) || str_starts(text, STR("moeplan:"));
}

const struct reader *language_of(struct str path, struct str text)
{
    struct str name = str_last_part(path, '/'), program = interpreter(text);
    if (is_ours(text)) return NULL;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        const struct language *l = &languages[i];
        for (size_t k = 0; k < MOST_NAMES && l->names[k] && !program.n; k++)
            if (is_called(name, l->names[k])) return &l->reader;
        for (size_t k = 0; k < MOST_NAMES && l->programs[k]; k++)
            if (str_is(program, l->programs[k])) return &l->reader;
    }
    return NULL;
}

bool language_is_shell(struct str path, struct str text)
{
    static const char *const names[] = {".sh",  ".bash", ".sbatch", ".slurm", ".sub", ".pbs",
                                        ".lsf", ".qsub", ".args",   ".job",   NULL};
    static const char *const programs[] = {"bash", "sh", "dash", "ksh", NULL};
    struct str name = str_last_part(path, '/'), program = interpreter(text);
    for (const char *const *p = programs; *p; p++)
        if (str_is(program, *p)) return true;
    for (const char *const *n = names; *n && !program.n; n++)
        if (str_ends(name, str_of(*n))) return true;
    return !program.n && (str_find(name, '.') == name.n || str_starts(str_trim(text), STR("--")));
}
