/* SPDX-License-Identifier: Apache-2.0 */
/* validate_speed MOEPLAN FOLDER…: the time of one `moeplan validate --batch` process over all YAML
   files below the folders, against the time that libyaml's bare event stream takes for the same
   texts in the same run. Best of five. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <yaml.h>

#include "base/dir.h"
#include "base/io.h"
#include "base/json.h"
#include "bench.h"

enum { ROUNDS = 5 };

struct texts {
    struct str *items;
    size_t n, cap, bytes;
};

static double events_seconds(const struct texts *texts)
{
    double start = bench_now();
    for (size_t i = 0; i < texts->n; i++) {
        yaml_parser_t parser;
        yaml_parser_initialize(&parser);
        yaml_parser_set_input_string(&parser, (const unsigned char *)texts->items[i].p,
                                     texts->items[i].n);
        yaml_event_t event = {.type = YAML_NO_EVENT};
        while (event.type != YAML_STREAM_END_EVENT && yaml_parser_parse(&parser, &event)) {
            enum yaml_event_type_e type = event.type;
            yaml_event_delete(&event);
            event.type = type;
        }
        yaml_parser_delete(&parser);
    }
    return bench_now() - start;
}

static double process_seconds(const char *program, const char *requests)
{
    double start = bench_now();
    pid_t child = fork();
    if (child == 0) {
        if (!freopen(requests, "r", stdin) || !freopen("/dev/null", "w", stdout)) _exit(127);
        execl(program, program, "validate", "--batch", (char *)NULL);
        _exit(127);
    }
    int status;
    if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) exit(1);
    return bench_now() - start;
}

static bool collect(struct arena *a, const char *folder, struct texts *texts, struct buf *requests)
{
    static const char *const suffixes[] = {".yaml", ".yml", NULL};
    struct path_list files = {0};
    struct str error, text;
    if (!dir_list(a, folder, suffixes, &files, &error)) return false;
    for (size_t i = 0; i < files.n; i++) {
        if (!io_read(a, files.items[i].p, &text, &error)) return false;
        *VEC_PUSH(a, texts) = text;
        texts->bytes += text.n;
        buf_printf(requests, "{\"id\":%zu,\"path\":", i);
        json_add_string(requests, files.items[i]);
        buf_add(requests, STR(",\"gpus\":64,\"text\":"));
        json_add_string(requests, text);
        buf_add(requests, STR("}\n"));
    }
    return true;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_new(0);
    struct texts texts = {0};
    struct buf requests = buf_new(a);
    for (int i = 2; i < argc; i++)
        if (!collect(a, argv[i], &texts, &requests)) return 77;
    if (argc < 3 || !texts.n) {
        fprintf(stderr, "usage: validate_speed MOEPLAN FOLDER...\n");
        return 77;
    }
    char path[] = "/tmp/validate_speed.XXXXXX";
    struct str error;
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0 || !io_write(a, path, buf_str(&requests), &error)) return 1;
    double events = 1e9, process = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        events = least(events, events_seconds(&texts));
        process = least(process, process_seconds(argv[1], path));
    }
    unlink(path);
    double n = (double)texts.n, mb = (double)texts.bytes / 1e6;
    printf("%zu files, %.1f MB: libyaml events %.0f files/s, %.1f MB/s; validate --batch %.0f "
           "files/s, %.1f MB/s: "
           "%.2f of the events' speed\n",
           texts.n, mb, n / events, mb / events, n / process, mb / process, events / process);
    arena_free(a);
    return 0;
}
