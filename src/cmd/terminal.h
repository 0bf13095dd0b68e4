/* SPDX-License-Identifier: Apache-2.0 */
/* What the program is run on: how wide, whether colours and UTF-8 are wanted, and a pager. */
#ifndef MOEPLAN_CMD_TERMINAL_H
#define MOEPLAN_CMD_TERMINAL_H

#include "base/page.h"

enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* The view of a file descriptor: the width of its terminal (COLUMNS before what it says itself, 80
   where neither is known; 0 where it is none), colours as `colour` says, by itself as NO_COLOR and
   CLICOLOR_FORCE do, ASCII where LC_ALL, LC_CTYPE or LANG name no UTF-8. */
struct view terminal_view(int fd, int colour);
/* Shows a text through MOEPLAN_PAGER, PAGER or less, where both ends are a terminal and it is
   longer than that; false when it has not been shown. */
bool terminal_page(struct str text);

#endif
