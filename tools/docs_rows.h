/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the generated pages' tables, in Markdown: of the pages in docs/ and of the site. */
#ifndef MOEPLAN_TOOLS_DOCS_ROWS_H
#define MOEPLAN_TOOLS_DOCS_ROWS_H

#include "base/buf.h"
#include "rules/rule.h"

#define DOCS_TABLE_OF_RECORDS "| record | kind | says |\n|---|---|---|\n"
/* What the page of all rules begins with; a format of how many there are. */
#define DOCS_OF_RECORDS                                                                            \
    "%zu records: what the frameworks refuse or change by themselves, what runs but wastes or "    \
    "risks, and the decision\nguides ([by their rows](../guides.md)). `moeplan explain ID` "       \
    "prints the same pages; with `--in FILE`, the file's numbers.\n"

/* Text in a cell of a table, where `|` ends the cell and `<` may begin HTML. */
void docs_cell(struct buf *out, struct str text);
/* "megatron/world.yaml" -> "megatron-world.md" */
struct str docs_page_name(struct arena *a, struct str suite);
/* A line of a table of records; `page` is the one they stand on, empty when it is the same. */
void docs_row(struct buf *out, const struct rule *r, struct str page);
/* The files the records came from, each once, in alphabetical order. */
const struct str *docs_suites(struct arena *a, const struct rule_set *set, size_t *n);

#endif
