/* SPDX-License-Identifier: Apache-2.0 */
/* validate, and estimate on the same file: the first byte picks the kind of file and the options,
   the rest is the file. Whatever it holds, there is an answer; JSON is JSON, and text has no byte
   that acts on a terminal. */
#include <cjson/cJSON.h>

#include "command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const lines[] = {
    "validate @file --format json",
    "validate @file.yaml --format text --gpus 16 --platform h100",
    "validate @file.yaml --format json --gpus 16 --platform h100 --as automodel",
    "validate @file --format json --gpus 16 --platform h100 --as megatron --model qwen3-30b-a3b",
    "validate @file --format json --gpus 16 --platform gb200 --as bridge --model qwen3-30b-a3b",
    "validate @file.yaml --format json --gpus 16 --platform h100 --as plan",
    "validate @file.yaml --format json --as hf",
    "validate @file --format github --gpus 256 --platform gb200",
    "estimate @file --gpus 16 --platform h100 --format json",
    "estimate @file.yaml --gpus 64 --platform gb200 --format text --model qwen3-30b-a3b",
    "diagnose @file.yaml --plan @file.yaml --format json --gpus 16 --platform h100",
    "compare @file.yaml @file.yaml --format text --gpus 16 --platform h100",
};
enum { LINES = sizeof lines / sizeof *lines };

/* estimate has a line of JSON for each configuration of the file. */
static void check_json(struct str text)
{
    const char *end = text.p + text.n, *at = text.p;
    while (at < end) {
        cJSON *tree = cJSON_ParseWithLengthOpts(at, (size_t)(end - at), &at, false);
        if (!tree) abort();
        cJSON_Delete(tree);
        while (at < end && *at == '\n')
            at++;
    }
}

static void check_text(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    struct arena *a = arena_new(0);
    if (!a) return 0;
    const char *line = lines[data[0] % LINES];
    struct str file = {(const char *)data + 1, size - 1};
    command_write(strstr(line, "@file.yaml") ? "file.yaml" : "file", file);
    command_run(line);
    struct str text = command_output(a);
    check_text(text);
    if (strstr(line, "json")) check_json(text);
    arena_free(a);
    return 0;
}
