/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzz targets of whole commands: a folder of their own, and command lines that run there. */
#ifndef MOEPLAN_FUZZ_COMMAND_H
#define MOEPLAN_FUZZ_COMMAND_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cmd/cmd.h"

static char command_folder[64];

/* Everything that a command line of ours can leave there. */
static void command_clean(void)
{
    static const char *const names[] = {"file", "file.yaml", "out"};
    char path[96];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", command_folder, names[i]);
        unlink(path);
    }
    rmdir(command_folder);
}

static void command_start(void)
{
    if (*command_folder) return;
    const char *top = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(command_folder, sizeof command_folder, "%s/moeplan-fuzz.XXXXXX", top);
    if (!mkdtemp(command_folder)) abort();
    atexit(command_clean);
}

static void command_write(const char *name, struct str text)
{
    char path[96];
    command_start();
    snprintf(path, sizeof path, "%s/%s", command_folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n || close(fd) != 0) abort();
}

/* Runs "suggest @file.yaml …", its words parted by single blanks, @ being the folder, with what it
   prints in @out. Gives the status, which is one of an answer. */
static int command_run(const char *line)
{
    enum { MOST = 48 };
    static char words[MOST][128];
    char *argv[MOST + 1] = {(char[]){"moeplan"}, NULL};
    char full[1024];
    int argc = 1;
    command_start();
    snprintf(full, sizeof full, "%s -o @out", line);
    for (char *at = strtok(full, " "); at && argc < MOST; at = strtok(NULL, " ")) {
        if (*at == '@')
            snprintf(words[argc], sizeof words[argc], "%s/%s", command_folder, at + 1);
        else
            snprintf(words[argc], sizeof words[argc], "%s", at);
        argv[argc] = words[argc];
        argc++;
    }
    argv[argc] = NULL;
    int status = cmd_main(argc, argv);
    if (status != STATUS_OK && status != STATUS_NO && status != STATUS_CANNOT) abort();
    return status;
}

/* What the last command printed; empty when it printed nothing. It is gone after that. */
static struct str command_output(struct arena *a)
{
    char path[96];
    struct str text = STR(""), error;
    snprintf(path, sizeof path, "%s/out", command_folder);
    if (access(path, F_OK) == 0 && !io_read(a, path, &text, &error)) abort();
    unlink(path);
    return text;
}

#endif
