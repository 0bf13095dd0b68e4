/* SPDX-License-Identifier: Apache-2.0 */
/* batch_growth PROGRAM COMMAND REQUESTS: mixed requests to one --batch process, hostile ones among
   them. Each line has one answer, in order, and the memory that a tenth of the requests took is all
   that they ever take. Skipped (77) where the system does not tell a process's memory. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HUGE_LINE = 65 << 20, SKIPPED = 77, SLACK_KIB = 8192, SLACK_PERCENT = 10 };

/* ---- requests ---- */

/* Writes the i-th request, with its newline; whether its answer has its id. */
typedef bool write_request(FILE *to, long i);

static void repeat(FILE *to, const char *text, int times)
{
    while (times-- > 0)
        fputs(text, to);
}

/* What no command can answer. */
static bool write_broken(FILE *to, long i)
{
    static const char nul[] = "{\"id\":1,\"text\":\"\0\"}\n";
    switch (i / 7 % 6) {
    case 0: fputs("nonsense\n", to); break;
    case 1: fwrite(nul, 1, sizeof nul - 1, to); break;
    case 2: fputs("{\"id\":2,\"text\":\"\xff\xfe\"}\n", to); break;
    case 3: fputs("[{\"id\":3}]\n", to); break;
    case 4: repeat(to, "[", 5000), fputs("\n", to); break;
    case 5: repeat(to, "{\"id\":", 300), fputs("\n", to); break;
    }
    return false;
}

/* Too long to be held, now and then; else many nodes. */
static bool write_large(FILE *to, long i)
{
    static char block[1 << 20];
    bool huge = i % 10000 == 11;
    memset(block, 'x', sizeof block);
    fprintf(to, "{\"id\":%ld,\"text\":\"", i);
    for (int k = 0; huge && k < HUGE_LINE >> 20; k++)
        fwrite(block, 1, sizeof block, to);
    fputs("\",\"more\":[", to);
    repeat(to, "{\"a\":[]},", 2000);
    fputs("0]}\n", to);
    return !huge;
}

static bool write_validate(FILE *to, long i)
{
    static const char flags[] = "--num-layers 4 --num-experts 8 --moe-router-topk 2";
    fprintf(to, "{\"id\":%ld,\"path\":\"x%ld\",\"gpus\":8,", i, i);
    switch (i % 200 == 5 ? i / 200 % 4 + 10 : i % 6) {
    case 0:
        fprintf(to, "\"text\":\"%s\",\"as\":\"megatron\",\"platform\":\"h100\"}\n", flags);
        break;
    case 1: fprintf(to, "\"text\":\"%s\",\"platform\":\"platform-%ld\"}\n", flags, i); break;
    case 2:
        fprintf(to, "\"text\":\"%s\",\"set\":{\"x%ld\":1},\"env\":{\"E%ld\":\"1\"}}\n", flags, i,
                i);
        break;
    case 3: fprintf(to, "\"text\":\"key%ld: 1\\nmoeplan: 1\\ntp: %ld\"}\n", i, i); break;
    case 4:
        fprintf(to, "\"text\":\"moeplan: 1\\nplatform: ./no-such-%ld.yaml\\nmodel: m%ld\"}\n", i,
                i);
        break;
    case 5:
        fprintf(
            to,
            "\"text\":\"TP=%ld\\npython pretrain_gpt.py %s --tensor-model-parallel-size $TP\"}\n",
            i, flags);
        break;
    case 10: /* an array that doubles */
        fprintf(to, "\"text\":\"X=(a b)\\n");
        repeat(to, "X=(\\\"${X[@]}\\\" \\\"${X[@]}\\\")\\n", 60);
        fprintf(to, "python pretrain_gpt.py %s $X\"}\n", flags);
        break;
    case 11: /* documents without end */
        fprintf(to, "\"path\":\"d.yaml\",\"text\":\"");
        repeat(to, "---\\nrecipe: a\\n", 2000);
        fprintf(to, "\"}\n");
        break;
    case 12: /* nodes without end */
        fprintf(to, "\"path\":\"d.yaml\",\"text\":\"a: &a [x,x,x,x,x,x,x,x,x,x]\\n");
        for (char c = 'b'; c < 'j'; c++)
            fprintf(to, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\\n", c, c, c - 1, c - 1, c - 1,
                    c - 1, c - 1, c - 1, c - 1, c - 1);
        fprintf(to, "\"}\n");
        break;
    case 13: /* many configurations */
        fprintf(to, "\"path\":\"d.yaml\",\"text\":\"");
        repeat(to,
               "---\\nrecipe: TrainFinetuneRecipeForNextTokenPrediction\\ndistributed: {strategy: "
               "fsdp2}\\n",
               200);
        fprintf(to, "\"}\n");
        break;
    }
    return true;
}

static bool write_estimate(FILE *to, long i)
{
    static const char plan[] = "\"moeplan\":1,\"gpus\":8,\"ep\":8,\"mbs\":1,\"gbs\":64,\"seq\":"
                               "4096,\"framework\":\"megatron\"";
    fprintf(to, "{\"id\":%ld,", i);
    switch (i % 5) {
    case 0:
        fprintf(to, "\"plan\":{%s,\"model\":\"qwen3-30b-a3b\",\"platform\":\"h100\"}}\n", plan);
        break;
    case 1:
        fprintf(to, "\"plan\":{%s,\"model\":\"m%ld\",\"platform\":\"h100\"}}\n", plan, i);
        break;
    case 2:
        fprintf(to, "\"plan\":{%s,\"model\":\"qwen3-30b-a3b\"},\"platform\":\"p%ld\"}\n", plan, i);
        break;
    case 3:
        fprintf(to, "\"plan\":{%s,\"pp\":%ld,\"model\":\"deepseek-v3\",\"platform\":\"gb200\"}}\n",
                plan, i);
        break;
    case 4:
        fprintf(to, "\"text\":\"");
        repeat(to, "x: [1, 2]\\n", i % 200 == 4 ? 20000 : 5);
        fprintf(to, "\"}\n");
        break;
    }
    return true;
}

static bool write_suggest(FILE *to, long i)
{
    static const char question[] = "\"gpus\":8,\"platform\":\"h100\"";
    fprintf(to, "{\"id\":%ld,", i);
    switch (i % 6) {
    case 0:
        fprintf(to,
                "%s,\"model\":\"qwen3-30b-a3b\",\"options\":{\"framework\":\"megatron\",\"pin\":"
                "\"pp=1,tp=1\",\"seq\":%ld}}\n",
                question, 1024 + i);
        break;
    case 1: fprintf(to, "%s,\"model\":\"m%ld\"}\n", question, i); break;
    case 2:
        fprintf(to, "\"gpus\":8,\"model\":\"qwen3-30b-a3b\",\"platform\":\"p%ld\"}\n", i);
        break;
    case 3:
        fprintf(to, "%s,\"model\":\"qwen3-30b-a3b\",\"options\":{\"pin\":\"x%ld=1\"}}\n", question,
                i);
        break;
    case 4:
        fprintf(to,
                "%s,\"model\":{\"num_layers\":%ld,\"hidden_size\":1024,\"num_attention_heads\":8,"
                "\"vocab_size\":1000,\"ffn_hidden_size\":4096}}\n",
                question, i % 90 + 1);
        break;
    case 5:
        fprintf(to, "%s,\"model\":{", question);
        repeat(to, "\"a\":{},", i % 60 == 5 ? 20000 : 5);
        fprintf(to, "\"b\":1}}\n");
        break;
    }
    return true;
}

static bool write_eval(FILE *to, long i)
{
    fprintf(to, "{\"id\":%ld,\"expr\":\"", i);
    switch (i % 7) {
    case 0: fprintf(to, "[1,2,3].map(x, x * %ld)\"}\n", i); break;
    case 1: fprintf(to, "{'a%ld': 1.5}\"}\n", i); break;
    case 2: fprintf(to, "range(%d).map(x, string(x))\"}\n", i % 700 == 2 ? 30000 : 3); break;
    case 3:
        fprintf(to, "x%ld + 1\",\"bindings\":{\"x%ld\":{\"double\":%ld.25}}}\n", i, i, i);
        break;
    case 4: fprintf(to, "range(3000).all(x, range(3000).exists(y, x == y))\"}\n"); break;
    case 5:
        fprintf(to, "'ab'");
        repeat(to, ".split('').map(x, x + 'abcdefghij').join()", 8);
        fprintf(to, "\"}\n");
        break;
    case 6: repeat(to, "(", 150), fprintf(to, "%ld\"}\n", i); break;
    }
    return true;
}

static const struct {
    const char *command;
    write_request *write;
} commands[] = {{"validate", write_validate},
                {"estimate", write_estimate},
                {"suggest", write_suggest},
                {"eval", write_eval}};

static bool write_line(FILE *to, write_request *write, long i)
{
    if (i % 7 == 3) return write_broken(to, i);
    return i % 1000 == 11 ? write_large(to, i) : write(to, i);
}

/* ---- the process ---- */

static pid_t start(const char *program, const char *command, int *in, int *out)
{
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) abort();
    pid_t pid = fork();
    if (pid < 0) abort();
    if (!pid) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        for (int i = 0; i < 2; i++) {
            close(to[i]);
            close(from[i]);
        }
        execl(program, program, command, "--batch", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    *in = to[1];
    *out = from[0];
    return pid;
}

/* The most memory the process ever had, KiB; 0: not told. */
static long peak_of(pid_t pid)
{
    char name[64], line[256];
    long kib = 0;
    snprintf(name, sizeof name, "/proc/%ld/status", (long)pid);
    FILE *status = fopen(name, "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmHWM:", 6) == 0) kib = strtol(line + 6, NULL, 10);
    if (status) fclose(status);
    return kib;
}

/* A process of its own that sends all requests and then holds the line until it is ended. */
static pid_t send_all(int in, write_request *write, long n)
{
    pid_t pid = fork();
    if (pid) return pid;
    FILE *to = fdopen(in, "w");
    for (long i = 0; to && i < n; i++)
        write_line(to, write, i);
    if (to) fflush(to);
    for (;;)
        pause();
}

/* Whether the line is the answer to the i-th request. */
static bool is_answer(const char *line, write_request *write, long i, FILE *nowhere)
{
    char head[64];
    if (write_line(nowhere, write, i))
        snprintf(head, sizeof head, "{\"id\":%ld,", i);
    else
        snprintf(head, sizeof head, "{\"id\":null,\"error\":\"");
    size_t n = strlen(line);
    return strncmp(line, head, strlen(head)) == 0 && n > 2 && line[n - 2] == '}';
}

int main(int argc, char **argv)
{
    write_request *write = NULL;
    int in, out, status = 0;
    if (argc != 4) return 2;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].command, argv[2]) == 0) write = commands[i].write;
    long n = strtol(argv[3], NULL, 10), early = 0, wrong = 0, i = 0;
    if (!write || n < 10) return 2;
    pid_t pid = start(argv[1], argv[2], &in, &out);
    if (!peak_of(pid)) return SKIPPED;
    pid_t sender = send_all(in, write, n);
    FILE *answers = fdopen(out, "r"), *nowhere = fopen("/dev/null", "w");
    char *line = NULL;
    size_t room = 0;
    for (; i < n && getline(&line, &room, answers) > 0; i++) {
        if (!is_answer(line, write, i, nowhere) && wrong++ < 5)
            printf("request %ld: %.200s\n", i, line);
        if (i == n / 10) early = peak_of(pid);
    }
    long late = peak_of(pid);
    kill(sender, SIGKILL);
    waitpid(sender, NULL, 0);
    close(in);
    bool more = getline(&line, &room, answers) > 0;
    waitpid(pid, &status, 0);
    printf("%ld answers of %ld, %ld wrong, exit %d; %ld KiB after a tenth, %ld KiB at the end\n", i,
           n, wrong, WIFEXITED(status) ? WEXITSTATUS(status) : -1, early, late);
    free(line);
    return i != n || wrong || more || status ||
           late > early + early * SLACK_PERCENT / 100 + SLACK_KIB;
}
