/* SPDX-License-Identifier: Apache-2.0 */
/* What the server can say about an open file: each function writes the value of `result`. */
#ifndef MOEPLAN_LSP_FEATURE_H
#define MOEPLAN_LSP_FEATURE_H

#include "doc/node.h"
#include "flow/validate.h"
#include "lsp/text.h"

/* A file and a question about it; everything is of this message. */
struct lsp_request {
    struct arena *arena, *scratch;
    const struct validation *validation; /* its arenas are these */
    struct read_options options;
    struct str path, uri, text;
    bool *known; /* whether the file has ever been one that moeplan reads */
    struct json_writer *w;
};

/* The list of findings, and what else an editor needs to publish them. */
void lsp_findings(const struct lsp_request *r);
/* What stands at the place, in Markdown; null: nothing known. */
void lsp_hover(const struct lsp_request *r, struct place at);
/* Keys, flags and values that could stand where the cursor is. */
void lsp_complete(const struct lsp_request *r, struct place at);
/* What can be done about the findings on these lines. */
void lsp_actions(const struct lsp_request *r, int64_t from, int64_t to);
/* Sizes that follow from what is written. */
void lsp_inlays(const struct lsp_request *r);

/* The findings of the text. */
struct file_report lsp_report(const struct lsp_request *r);
/* Its configurations as their framework runs them; what is wrong with them is not said. */
struct recipe lsp_recipe(const struct lsp_request *r, struct diags *diags);

#endif
