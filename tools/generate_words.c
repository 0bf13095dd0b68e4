/* SPDX-License-Identifier: Apache-2.0 */
/* generate_words OUT.c GLOSSARY.md: the tables of the page of words as a C table (emit/words.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/ctext.h"
#include "base/io.h"

/* The next cell of a row; a bar behind a backslash is one of the text, and so it becomes one. */
static bool next_cell(struct arena *a, struct str *line, struct str *cell)
{
    struct buf out = buf_new(a);
    struct str part;
    bool any = false;
    while (str_split(line, '|', &part)) {
        bool goes_on = part.n && part.p[part.n - 1] == '\\';
        any = true;
        buf_add(&out, goes_on ? str_slice(part, 0, part.n - 1) : part);
        if (!goes_on) break;
        buf_add_char(&out, '|');
    }
    *cell = str_trim(buf_str(&out));
    return any;
}

/* "| word | means |" -> its two cells; false for other lines and a table's head. */
static bool read_row(struct arena *a, struct str line, struct str *names, struct str *meaning)
{
    struct str cell;
    if (!str_starts(line, STR("| ")) || str_starts(line, STR("| word |"))) return false;
    str_split(&line, '|', &cell);
    return next_cell(a, &line, names) && next_cell(a, &line, meaning);
}

/* The number of words of the text. */
static int write_words(struct str text, struct buf *out)
{
    struct str line, names, meaning, topic = STR("");
    int n = 0;
    while (str_split(&text, '\n', &line)) {
        if (str_starts(line, STR("## "))) topic = str_slice(line, 3, line.n);
        if (!read_row(out->arena, line, &names, &meaning)) continue;
        buf_add(out, STR("{"));
        ctext_str(out, names);
        buf_add(out, STR(","));
        ctext_str(out, meaning);
        buf_add(out, STR(","));
        ctext_str(out, topic);
        buf_add(out, STR("},\n"));
        n++;
    }
    return n;
}

static bool generate(struct arena *a, const char *to, const char *from)
{
    struct str text, error;
    struct buf out = buf_new(a);
    if (!io_read(a, from, &text, &error)) return false;
    buf_printf(&out, "/* Generated from docs/glossary.md. */\n#include \"emit/words.h\"\n"
                     "const struct word_entry word_table[] = {\n");
    int n = write_words(text, &out);
    buf_printf(&out, "};\nconst uint32_t word_count = %d;\n", n);
    return n && io_write(a, to, buf_str(&out), &error);
}

int main(int argc, char **argv)
{
    struct arena *a = arena_new(0);
    bool good = argc == 3 && a && generate(a, argv[1], argv[2]);
    if (!good) fprintf(stderr, "generate_words: a word list cannot be read or written\n");
    arena_free(a);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
