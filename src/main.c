/* SPDX-License-Identifier: Apache-2.0 */
/* The process: signals, the exit status. Everything else is in cmd/. */
#include <signal.h>
#include <unistd.h>

#include "cmd/cmd.h"

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

/* What the caller has had ignored, as nohup does, stays ignored. */
static void stop_on(int signal_number)
{
    struct sigaction now, stop = {.sa_handler = on_stop};
    sigemptyset(&stop.sa_mask);
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaction(signal_number, &stop, NULL);
}

static void set_signals(void)
{
    static const int stops[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        stop_on(stops[i]);
    signal(SIGABRT, on_abort); /* a failed assertion is our bug: status 3, not a signal */
    signal(SIGPIPE, SIG_IGN);  /* a reader that goes away ends the output, not the program */
    signal(SIGXFSZ, SIG_IGN);  /* a file that may not grow is one that cannot be written */
}

int main(int argc, char **argv)
{
    set_signals(); /* first: from here on no signal is the exit status */
    return cmd_main(argc, argv);
}
