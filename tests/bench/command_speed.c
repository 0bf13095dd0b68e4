/* SPDX-License-Identifier: Apache-2.0 */
/* command_speed MOEPLAN RECIPE: the shortest of twenty wall times of whole processes, against what
   a person should not notice: suggest for DeepSeek-V3 on 256 and on 131,072 GB200, validate of one
   recipe; and the largest memory of them all. On an idle machine. Exit 1 above a limit. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20, MOST_MIB = 64 };

struct command {
    const char *name;
    double most_ms;
    const char *arguments[8];
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* One run with its output thrown away. */
static double run_ms(const struct command *command)
{
    fflush(stdout); /* else the child writes it again */
    double start = now_ms();
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(127);
        execv(command->arguments[0], (char *const *)command->arguments);
        _exit(127);
    }
    int status;
    if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 1) exit(2);
    return now_ms() - start;
}

static int measure(const struct command *command)
{
    double best = run_ms(command);
    for (int i = 1; i < ROUNDS; i++) {
        double ms = run_ms(command);
        if (ms < best) best = ms;
    }
    printf("%-28s %6.1f ms, at most %.0f\n", command->name, best, command->most_ms);
    return best > command->most_ms;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: command_speed MOEPLAN RECIPE\n");
        return 2;
    }
    const struct command commands[] = {
        {"suggest, 256 GB200",
         30,
         {argv[1], "suggest", "deepseek-v3", "--gpus", "256", "--platform", "gb200", NULL}},
        {"suggest, 131,072 GB200",
         80,
         {argv[1], "suggest", "deepseek-v3", "--gpus", "131072", "--platform", "gb200", NULL}},
        {"validate, one recipe", 5, {argv[1], "validate", argv[2], NULL}},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        failed |= measure(&commands[i]);
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    long mib = usage.ru_maxrss / 1024;
    printf("%-28s %6ld MiB, at most %d\n", "largest memory", mib, MOST_MIB);
    return failed || mib > MOST_MIB;
}
