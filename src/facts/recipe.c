/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/recipe.h"

struct job {
    struct arena *arena;
    struct diags *diags;
    uint32_t source;
    struct str text;
    const struct reader *forced; /* NULL: by content */
    const struct read_options *options;
    struct recipe *out;
};

static bool is_format(const struct reader *reader, struct str text, const struct node *doc)
{
    return reader->detect(text, doc) >= READER_SURE;
}

/* Flags, scripts and override lines: what is recognised without being parsed as a document. */
static const struct reader *text_format(const struct job *job)
{
    if (!job->forced) return reader_detect(job->text, NULL);
    return is_format(job->forced, job->text, NULL) ? job->forced : NULL;
}

static void read_with(struct job *job, const struct reader *reader, const struct node *doc,
                      int document)
{
    struct recipe *out = job->out;
    if (!out->format) out->format = reader;
    if (!reader->read) return;
    size_t first = out->readings.n;
    job->diags->document = document;
    bool ok = reader->read(job->arena, job->diags, job->source, doc, job->options, &out->readings);
    for (size_t i = first; i < out->readings.n; i++) {
        out->readings.items[i].document = document;
        read_options_apply(out->readings.items[i].facts, job->options);
    }
    if (!ok)
        out->status = RECIPE_UNREADABLE;
    else if (out->status == RECIPE_SKIPPED)
        out->status = RECIPE_READ;
    job->diags->document = 0;
}

/* Whether the name promises a document, so that text that is none is broken rather than something
 * else. */
static bool names_document(struct str path)
{
    static const char *const suffixes[] = {".yaml", ".yml", ".json"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (str_ends(path, str_of(suffixes[i]))) return true;
    size_t dot = path.n, slash = path.n;
    while (dot > 0 && path.p[dot - 1] != '.')
        dot--;
    while (slash > 0 && path.p[slash - 1] != '/')
        slash--;
    return dot <= slash; /* no suffix at all */
}

/* The text is no document. A format that was asked for may still find its flags or lines in it. */
static void read_broken(struct job *job, size_t diags_before)
{
    const struct source *source = source_get(&job->diags->sources, job->source);
    bool as_text = job->forced && job->forced->detect(job->text, NULL) > 0;
    if (!as_text && (job->forced || names_document(source->path))) {
        job->out->status = RECIPE_UNREADABLE;
        return;
    }
    job->diags->n = diags_before;
    if (as_text) read_with(job, job->forced, NULL, 0);
}

static void read_documents(struct job *job)
{
    struct node_list docs = {0};
    size_t before = job->diags->n;
    if (!doc_load(job->arena, job->diags, job->source, &docs)) {
        read_broken(job, before);
        return;
    }
    for (size_t i = 0; i < docs.n; i++) {
        const struct node *doc = docs.items[i];
        const struct reader *reader = job->forced ? job->forced : reader_detect(job->text, doc);
        if (!reader) continue;
        bool plain_text = job->forced && doc->kind == NODE_SCALAR;
        read_with(job, reader, plain_text ? NULL : doc, (int)i);
    }
    if (job->out->status == RECIPE_SKIPPED)
        job->diags->n = before; /* not ours: its duplicate keys are not either */
}

struct recipe recipe_read(struct arena *a, struct diags *diags, uint32_t source, struct str as,
                          const struct read_options *options)
{
    struct recipe out = {.status = RECIPE_SKIPPED};
    struct job job = {a,    diags,   source, source_get(&diags->sources, source)->text,
                      NULL, options, &out};
    struct str declared = reader_declared(job.text);
    job.forced = reader_find(as.n ? as : declared);
    const struct reader *format = text_format(&job);
    if (format)
        read_with(&job, format, NULL, 0);
    else
        read_documents(&job);
    return out;
}
