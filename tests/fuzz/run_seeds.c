/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds files to a fuzz target, for compilers without libFuzzer: run_seeds FILE-OR-FOLDER... */
#include <stdio.h>

#include "base/dir.h"
#include "base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    static const char *const any[] = {"", NULL};
    struct arena *a = arena_new(0);
    struct path_list files = {0};
    struct str text, error;
    for (int i = 1; i < argc; i++)
        if (!dir_list(a, argv[i], any, &files, &error)) *VEC_PUSH(a, &files) = str_of(argv[i]);
    int failed = files.n == 0;
    for (size_t i = 0; i < files.n; i++) {
        if (io_read(a, str_dup(a, files.items[i]).p, &text, &error)) {
            LLVMFuzzerTestOneInput((const uint8_t *)text.p, text.n);
        } else {
            fprintf(stderr, "%.*s: %.*s\n", STR_ARG(files.items[i]), STR_ARG(error));
            failed = 1;
        }
    }
    printf("%zu inputs\n", files.n);
    arena_free(a);
    return failed;
}
