/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a text into facts, for the tests of the readers. */
#ifndef MOEPLAN_TESTS_FACTS_UNIT_H
#define MOEPLAN_TESTS_FACTS_UNIT_H

#include "facts/profile.h"
#include "facts/reader.h"
#include "unit/unit.h"

/* A file's text read as a format, options optional; findings are in facts->diags. */
static inline struct facts *read_file_as(struct arena *a, struct str path, const char *format,
                                         const char *text, const struct read_options *options)
{
    static const struct read_options none;
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct readings readings = {0};
    struct node_list docs = {0};
    diags_init(diags, a);
    uint32_t source = source_add(&diags->sources, path, str_of(text));
    const struct reader *reader = reader_find(str_of(format));
    assert_non_null(reader);
    const struct node *doc = NULL;
    if (reader->detect(str_of(text), NULL) < READER_SURE) {
        if (doc_load(a, diags, source, &docs) && docs.n && docs.items[0]->kind != NODE_SCALAR)
            doc = docs.items[0];
    }
    reader->read(a, diags, source, doc, options ? options : &none, &readings);
    assert_true(readings.n > 0);
    if (options) read_options_apply(readings.items[0].facts, options);
    return readings.items[0].facts;
}

/* The same of a text that is in no file. */
static inline struct facts *read_as(struct arena *a, const char *format, const char *text,
                                    const struct read_options *options)
{
    return read_file_as(a, STR("test"), format, text, options);
}

/* How many findings of a rule there are. */
static inline size_t count_rule(const struct facts *f, const char *rule)
{
    size_t n = 0;
    for (size_t i = 0; i < f->diags->n; i++)
        n += str_is(f->diags->items[i].rule, rule);
    return n;
}

/* The value as text, as a person would write it. */
#define assert_fact(f, name, text)                                                                 \
    assert_str(value_text((f)->arena, facts_get((f), param_find(str_of(name)))->value), text)

#endif
