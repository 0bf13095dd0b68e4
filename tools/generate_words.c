/* SPDX-License-Identifier: Apache-2.0 */
/* generate_words OUT.c GLOSSARY.md: the tables of the page of words as a C table (emit/words.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/ctext.h"
#include "base/io.h"

/* "| word | means |" -> its two cells; false for other lines and a table's head. */
static bool read_row(struct str line, struct str *names, struct str *meaning)
{
    struct str cell;
    if (!str_starts(line, STR("| ")) || str_starts(line, STR("| word |"))) return false;
    str_split(&line, '|', &cell);
    if (!str_split(&line, '|', names) || !str_split(&line, '|', meaning)) return false;
    *names = str_trim(*names);
    *meaning = str_trim(*meaning);
    return true;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_new(0);
    struct str text, error, line, names, meaning, topic = STR("");
    if (argc != 3 || !a || !io_read(a, argv[2], &text, &error)) return EXIT_FAILURE;
    struct buf out = buf_new(a);
    int n = 0;
    buf_printf(&out, "/* Generated from docs/glossary.md. */\n#include \"emit/words.h\"\n"
                     "const struct word_entry word_table[] = {\n");
    while (str_split(&text, '\n', &line)) {
        if (str_starts(line, STR("## "))) topic = str_slice(line, 3, line.n);
        if (!read_row(line, &names, &meaning)) continue;
        buf_add(&out, STR("{"));
        ctext_str(&out, names);
        buf_add(&out, STR(","));
        ctext_str(&out, meaning);
        buf_add(&out, STR(","));
        ctext_str(&out, topic);
        buf_add(&out, STR("},\n"));
        n++;
    }
    buf_printf(&out, "};\nconst uint32_t word_count = %d;\n", n);
    if (n && io_write(a, argv[1], buf_str(&out), &error)) return EXIT_SUCCESS;
    fprintf(stderr, "%s: no words, or %s cannot be written\n", argv[2], argv[1]);
    return EXIT_FAILURE;
}
