/* SPDX-License-Identifier: Apache-2.0 */
/* The process: signals, memory, the exit status. Everything else is in cmd/. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "cmd/cmd.h"

static void on_no_memory(const char *why)
{
    fprintf(stderr, "moeplan: %s\n", why);
    exit(STATUS_BUG);
}

/* 130 after an interrupt, as shells say it. */
static void on_stop(int signal_number)
{
    _exit(128 + signal_number);
}

static void on_abort(int signal_number)
{
    (void)signal_number;
    _exit(STATUS_BUG);
}

int main(int argc, char **argv)
{
    arena_on_failure(on_no_memory);
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away ends the output, not the program */
    signal(SIGINT, on_stop);
    signal(SIGTERM, on_stop);
    signal(SIGABRT, on_abort); /* a failed assertion is our bug: status 3, not a signal */
    return cmd_main(argc, argv);
}
