/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"

enum { USUAL_WIDTH = 80, USUAL_HEIGHT = 24, NOT_FOUND = 127 };

static struct str variable(const char *name)
{
    return str_of(getenv(name));
}

static int stated(const char *name)
{
    int64_t n;
    return num_parse_int(variable(name), &n) && n > 0 && n < 10000 ? (int)n : 0;
}

static int width_of(int fd)
{
    struct winsize size = {0};
    int wanted = stated("COLUMNS");
    if (!isatty(fd)) return 0;
    if (!wanted && ioctl(fd, TIOCGWINSZ, &size) == 0) wanted = size.ws_col;
    if (!wanted) wanted = USUAL_WIDTH;
    return wanted < PAGE_LEAST ? PAGE_LEAST : wanted;
}

static int height_of(int fd)
{
    struct winsize size = {0};
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row) return size.ws_row;
    return stated("LINES") ? stated("LINES") : USUAL_HEIGHT;
}

static bool is_dumb(void)
{
    struct str term = variable("TERM");
    return !term.n || str_is(term, "dumb");
}

static bool wants_colour(int fd, int colour)
{
    struct str force = variable("CLICOLOR_FORCE");
    if (colour != COLOUR_AUTO) return colour == COLOUR_ALWAYS;
    if (variable("NO_COLOR").n) return false;
    if (force.n && !str_is(force, "0")) return true;
    return isatty(fd) && !is_dumb();
}

static bool has_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str locale = variable(names[i]);
        if (!locale.n) continue;
        size_t dot = str_find(locale, '.') + 1;
        struct str coding = str_slice(locale, dot, locale.n);
        coding = str_slice(coding, 0, str_find(coding, '@'));
        return str_eq_nocase(coding, STR("UTF-8")) || str_eq_nocase(coding, STR("utf8"));
    }
    return false;
}

struct view terminal_view(int fd, int colour)
{
    return (struct view){width_of(fd), wants_colour(fd, colour), !has_utf8()};
}

/* ---- the pager ---- */

static bool on_path(const char *program)
{
    struct str path = variable("PATH"), folder;
    char name[4096];
    while (str_split(&path, ':', &folder)) {
        int n = snprintf(name, sizeof name, "%.*s/%s", STR_ARG(folder), program);
        if (n > 0 && (size_t)n < sizeof name && access(name, X_OK) == 0) return true;
    }
    return false;
}

static const char *pager(void)
{
    const char *own = getenv("MOEPLAN_PAGER");
    if (!own) own = getenv("PAGER");
    if (own) return *own && strcmp(own, "cat") != 0 ? own : NULL;
    return on_path("less") ? "less" : NULL;
}

static bool is_longer(struct str text, int height)
{
    return (int)str_count(text, '\n') >= height;
}

bool terminal_page(struct str text)
{
    const char *command = pager();
    if (!command || is_dumb() || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
        !is_longer(text, height_of(STDOUT_FILENO)))
        return false;
    setenv("LESS", "FRX", 0); /* as git does: short texts go by, colours pass, the screen stays */
    FILE *to = popen(command, "w");
    if (!to) return false;
    signal(SIGINT, SIG_IGN); /* it is the pager's while that runs */
    fwrite(text.p, 1, text.n, to);
    int status = pclose(to);
    return status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != NOT_FOUND;
}
