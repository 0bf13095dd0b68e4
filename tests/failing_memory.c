/* SPDX-License-Identifier: Apache-2.0 */
/* failing_memory STEP COMMAND ARGUMENT…: one command line of the program, over and over, in which
   every STEP-th allocation fails, alone and with all that come after it: libyaml's, cJSON's and the
   C library's as well. The answer is the right one, or none: exit 2 with a message.

   The command runs once. Where an allocation is due, a copy of the process is made in which it
   fails; what came before is not done again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocate.h"
#include "cmd/cmd.h"

enum mode { PASS, FAIL_ONE, FAIL_ALL, SPLIT };
static enum mode mode;
static bool is_copy;

/* ---- what a run says ---- */

enum { OUT, ERR, STREAMS, MOST = 4 << 20 };

struct answer {
    int status;
    size_t n[STREAMS];
    char text[STREAMS][MOST];
};

static struct answer right, other;
static int files[STREAMS]; /* that a copy of the process writes to */
static int messages;       /* the process's own stderr */
static size_t step, number, copies, none, wrong;

static void open_files(void)
{
    for (int i = 0; i < STREAMS; i++) {
        FILE *file = tmpfile();
        if (!file) abort();
        files[i] = fileno(file);
    }
}

static void empty_files(void)
{
    for (int i = 0; i < STREAMS; i++)
        if (ftruncate(files[i], 0) != 0 || lseek(files[i], 0, SEEK_SET) != 0) abort();
}

static void await(pid_t pid, struct answer *a)
{
    int state = 0;
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    a->status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    for (int i = 0; i < STREAMS; i++) {
        ssize_t n = pread(files[i], a->text[i], MOST - 1, 0);
        a->n[i] = n < 0 ? 0 : (size_t)n;
        a->text[i][a->n[i]] = '\0';
        forget_time(a->text[i]);
    }
}

/* ---- judging ---- */

static bool is_right(const struct answer *a)
{
    return a->status == right.status && strcmp(a->text[OUT], right.text[OUT]) == 0;
}

static bool is_none(const struct answer *a)
{
    return a->status == STATUS_CANNOT && a->n[OUT] + a->n[ERR] > 0;
}

static void judge(pid_t pid)
{
    await(pid, &other);
    copies++;
    none += is_none(&other);
    if (is_right(&other) || is_none(&other)) return;
    wrong++;
    dprintf(messages, "allocation %zu: exit %d, %zu bytes on stdout, stderr: %.300s\n", number,
            other.status, other.n[OUT], other.text[ERR]);
}

/* A copy reads on in the same open files: where the process is in them is kept for it. */
enum { FIRST_FILE = STDERR_FILENO + 1, MOST_FILES = 16 };
static off_t places[MOST_FILES];

static void keep_places(void)
{
    for (int i = 0; i < MOST_FILES; i++)
        places[i] = lseek(FIRST_FILE + i, 0, SEEK_CUR);
}

static void restore_places(void)
{
    for (int i = 0; i < MOST_FILES; i++)
        if (places[i] >= 0) lseek(FIRST_FILE + i, places[i], SEEK_SET);
}

/* A copy of the process, writing to the files; its process id, 0 in the copy. */
static pid_t copy_process(void)
{
    empty_files();
    pid_t pid = fork();
    if (pid < 0) abort();
    if (pid) return pid;
    is_copy = true;
    for (int i = 0; i < STREAMS; i++)
        dup2(files[i], i + STDOUT_FILENO);
    return 0;
}

static bool refuse(void)
{
    if (mode == PASS) return false;
    if (mode == SPLIT && ++number % step) return false;
    for (enum mode way = FAIL_ONE; mode == SPLIT && way <= FAIL_ALL; way++) {
        mode = PASS; /* while the copies are judged */
        keep_places();
        pid_t pid = copy_process();
        if (pid) judge(pid);
        if (pid) restore_places();
        mode = pid ? SPLIT : way;
    }
    if (mode == SPLIT) return false;
    if (mode == FAIL_ONE) mode = PASS;
    errno = ENOMEM;
    return true;
}

/* ---- */

/* What the run itself says is nobody's. */
static void go_silent(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    messages = dup(STDERR_FILENO);
    for (int i = 0; i < STREAMS; i++)
        dup2(nowhere, i + STDOUT_FILENO);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    step = strtoul(argv[1], NULL, 10);
    argv[1] = argv[0];
    open_files();
    pid_t pid = copy_process();
    if (!pid) exit(cmd_main(argc - 1, argv + 1));
    await(pid, &right);
    go_silent();
    mode = SPLIT;
    int status = cmd_main(argc - 1, argv + 1);
    mode = PASS;
    if (is_copy) return status;
    dprintf(messages, "%zu allocations, %zu runs: %zu without an answer, %zu with a wrong one\n",
            number, copies, none, wrong);
    return wrong || !none || status != right.status;
}
