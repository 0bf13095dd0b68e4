/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/documents.h"

#include "base/io.h"
#include "facts/param_ids.h"

bool documents_ask(struct arena *a, struct str text, struct documents *out, struct str *why)
{
    static const struct str unpacked = {",unpacked", sizeof ",unpacked" - 1};
    struct str path = text, histogram, error;
    if (str_find(text, '=') < text.n) return documents_read_words(a, text, out, why);
    if (str_ends(text, unpacked)) path = str_slice(text, 0, text.n - unpacked.n);
    *why = STR("");
    if (!io_read(a, str_dup(a, path).p, &histogram, &error)) {
        *why = arena_printf(a, "%.*s cannot be read: %.*s", STR_ARG(path), STR_ARG(error));
        return false;
    }
    bool read = documents_read_histogram(a, histogram, out, why);
    out->packed = path.n == text.n;
    return read;
}

bool documents_given(struct cmd_context *c, bool *given, struct documents *out)
{
    struct str why;
    *given = option_given(c, "documents");
    if (!*given || documents_ask(c->keep, option_value(c, "documents"), out, &why)) return true;
    cmd_usage_error(c, "--documents: %.*s", STR_ARG(why));
    return false;
}

void documents_settings(const struct documents *d, int64_t seq,
                        struct setting out[DOCUMENT_SETTINGS])
{
    struct document_moments m = documents_moments(d, (double)seq);
    out[0] =
        (struct setting){.name = param_name(P_document_tokens), .value = value_double(m.attended)};
    out[1] = (struct setting){.name = param_name(P_document_mean), .value = value_double(m.mean)};
    out[2] =
        (struct setting){.name = param_name(P_document_spread), .value = value_double(m.spread)};
    out[3] =
        (struct setting){.name = param_name(P_sequence_padding), .value = value_double(m.padding)};
    out[4] = (struct setting){.name = param_name(P_document_cut), .value = value_double(m.cut)};
}
