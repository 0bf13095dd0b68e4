/* SPDX-License-Identifier: Apache-2.0 */
/* estimate FILE GPUS PLATFORM: the answer of the library about a plan file or a recipe, as JSON. */
#include <moeplan.h>
#include <stdio.h>
#include <stdlib.h>

/* The file as a JSON string, with what has to be escaped. */
static void print_text(FILE *out, FILE *in)
{
    putc('"', out);
    for (int c; (c = getc(in)) != EOF;) {
        if (c == '"' || c == '\\' || c < 0x20)
            fprintf(out, "\\u%04x", (unsigned)c);
        else
            putc(c, out);
    }
    putc('"', out);
}

int main(int argc, char **argv)
{
    FILE *in = argc == 4 ? fopen(argv[1], "r") : NULL;
    if (!in) {
        fprintf(stderr, "usage: estimate FILE GPUS PLATFORM\n");
        return EXIT_FAILURE;
    }
    char *request = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&request, &size);
    if (!out) return EXIT_FAILURE;
    fputs("{\"text\":", out);
    print_text(out, in);
    fprintf(out, ",\"gpus\":%ld,\"platform\":\"%s\"}", strtol(argv[2], NULL, 10), argv[3]);
    fclose(out);
    fclose(in);

    struct moeplan *m = moeplan_new();
    if (m) puts(moeplan_estimate(m, request));
    moeplan_free(m);
    free(request);
    return m ? EXIT_SUCCESS : EXIT_FAILURE;
}
