/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/json_writer.h"

#include "base/finite.h"
#include "base/json.h"

void json_key(struct json_writer *w, const char *key)
{
    if (w->comma) buf_add_char(w->out, ',');
    w->comma = true;
    if (!key) return;
    json_add_string(w->out, str_of(key));
    buf_add_char(w->out, ':');
}

void json_open(struct json_writer *w, const char *key, char bracket)
{
    json_key(w, key);
    buf_add_char(w->out, bracket);
    w->comma = false;
}

void json_close(struct json_writer *w, char bracket)
{
    buf_add_char(w->out, bracket);
    w->comma = true;
}

void json_str(struct json_writer *w, const char *key, struct str s)
{
    json_key(w, key);
    json_add_string(w->out, s);
}

void json_optional_str(struct json_writer *w, const char *key, struct str s)
{
    if (s.n) json_str(w, key, s);
}

void json_strs(struct json_writer *w, const char *key, const struct str *items, size_t n)
{
    json_open(w, key, '[');
    for (size_t i = 0; i < n; i++)
        json_str(w, NULL, items[i]);
    json_close(w, ']');
}

void json_int(struct json_writer *w, const char *key, int64_t i)
{
    json_key(w, key);
    char digits[20];
    size_t at = sizeof digits;
    uint64_t rest = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (i < 0) buf_add_char(w->out, '-');
    buf_add(w->out, (struct str){digits + at, sizeof digits - at});
}

void json_bool(struct json_writer *w, const char *key, bool b)
{
    json_key(w, key);
    buf_add(w->out, b ? STR("true") : STR("false"));
}

void json_null(struct json_writer *w, const char *key)
{
    json_key(w, key);
    buf_add(w->out, STR("null"));
}

void json_number(struct json_writer *w, const char *key, double d, int digits)
{
    json_key(w, key);
    buf_printf(w->out, "%.*g", digits, d);
}

void json_figure(struct json_writer *w, const char *key, double d, struct json_figure *last)
{
    if (!*last->text || last->d != d) num_write_figure(last->text, finite_check(d));
    last->d = d;
    json_key(w, key);
    buf_add(w->out, str_of(last->text));
}

void json_value(struct json_writer *w, const char *key, struct value v)
{
    json_key(w, key);
    json_add_value(w->out, v);
}
