/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"
#include "lsp/server.h"

/* The length of a head's line "Content-Length: N"; another line is none. */
static bool read_length(struct str line, int64_t *length)
{
    struct str name = STR("content-length:");
    if (!str_eq_nocase(str_slice(line, 0, name.n), name)) return false;
    int64_t n;
    *length = num_parse_int(str_trim(str_slice(line, name.n, line.n)), &n) ? n : -1;
    return true;
}

enum { LONGEST_HEAD = 4096 };

enum lsp_frame lsp_frame_next(struct str *text, struct str *message)
{
    size_t head = str_find_str(*text, STR("\r\n\r\n"));
    if (head == text->n) return text->n > LONGEST_HEAD ? LSP_BROKEN : LSP_MORE;
    struct str lines = str_slice(*text, 0, head), line;
    int64_t length = -1;
    while (str_split(&lines, '\n', &line))
        read_length(line, &length);
    if (length < 0 || length > LSP_LONGEST) return LSP_BROKEN;
    size_t from = head + strlen("\r\n\r\n");
    if (text->n - from < (size_t)length) return LSP_MORE;
    *message = str_slice(*text, from, from + (size_t)length);
    *text = str_slice(*text, from + (size_t)length, text->n);
    return LSP_FRAME;
}
