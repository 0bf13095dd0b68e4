/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/recipe.h"

#include "facts/embedded.h"
#include "facts/environment.h"
#include "facts/language.h"

struct job {
    struct arena *arena;
    struct diags *diags;
    uint32_t source;
    struct str text;
    const struct reader *forced; /* NULL: by content */
    const struct read_options *options;
    struct recipe *out;
};

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

static bool has_suffix(struct str path, const char *const *suffixes)
{
    for (; *suffixes; suffixes++)
        if (str_ends(path, str_of(*suffixes))) return true;
    return false;
}

/* Whether the name promises a document, so that text that is none is broken rather than something
   else. */
static bool names_document(struct str path)
{
    static const char *const suffixes[] = {".yaml", ".yml", ".json", NULL};
    return has_suffix(path, suffixes);
}

static bool names_script(struct str path)
{
    static const char *const suffixes[] = {".sh",   ".bash", ".sbatch", ".slurm", ".sub", ".job",
                                           ".args", ".txt",  ".conf",   ".cfg",   NULL};
    return has_suffix(path, suffixes);
}

static struct str path_of(const struct job *job)
{
    return source_get(&job->diags->sources, job->source)->path;
}

/* Whether a text shows a command with its flags one a line, and no backslash at the end of any:
   what a program or a test has written down, and nobody runs. */
static bool is_listing(const struct job *job, size_t diags_before)
{
    bool lost = false;
    for (size_t i = diags_before; i < job->diags->n && !lost; i++)
        lost = str_is(job->diags->items[i].rule, "lost-backslash");
    return lost && str_find_str(job->text, STR("\\\n")) == job->text.n;
}

/* What no shell takes is some other language's, unless it is called a script. */
static void forgive(struct job *job, size_t diags_before)
{
    bool script = job->forced || language_is_shell(path_of(job), job->text);
    bool strange = job->out->status == RECIPE_UNREADABLE || is_listing(job, diags_before);
    if (!strange || script) return;
    job->diags->n = diags_before;
    *job->out = (struct recipe){.status = RECIPE_SKIPPED};
}

/* Flags, scripts and override lines: text that is no mapping. */
static bool read_plain_text(struct job *job)
{
    const struct reader *reader = job->forced;
    size_t before = job->diags->n;
    if (!reader)
        reader = reader_detect(job->text, NULL);
    else if (reader->detect(job->text, NULL) <= 0)
        reader = NULL;
    if (reader) read_with(job, reader, NULL, 0);
    if (reader) forgive(job, before);
    return reader;
}

/* YAML of another program, or one that is none: what it launches, as a script of its own. */
static void read_embedded(struct job *job, const struct node_list *docs)
{
    struct str script = embedded_script(job->arena, job->text, docs);
    if (!script.n) return;
    job->source = source_add(&job->diags->sources, path_of(job), script);
    job->text = script;
    read_plain_text(job);
}

/* Text with places that a chart's values fill in is YAML only then. */
static void name_template(struct job *job)
{
    static const char *const places[] = {"{{ .", "{{- ", "{{ include ", "{{ template "};
    bool template = false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        template |= str_find_str(job->text, str_of(places[i])) < job->text.n;
    struct diag *d = &job->diags->items[job->diags->n - 1];
    if (template)
        diag_help(job->diags, d, "a Helm template: check what `helm template` makes of it");
}

/* Whether a value that begins a line comes behind another one's end. */
static bool has_lines(struct str text, const char *end, const char *begin)
{
    struct str line, before = {"", 0};
    while (str_split(&text, '\n', &line)) {
        if (!str_trim(line).n) continue;
        if (str_ends(before, str_of(end)) && str_starts(line, str_of(begin))) return true;
        before = str_trim(line);
    }
    return false;
}

/* Whether a value is a bare word in capitals, which sed puts another into: CONFIG_BATCH_SIZE. */
static bool has_capitals_for_value(struct str text)
{
    enum { SHORTEST = 4 };
    struct str value = {"", 0};
    bool found = false;
    while (!found && str_split(&text, ':', &value)) {
        struct str next = str_trim(text);
        size_t n = 0;
        while (n < next.n && ((next.p[n] >= 'A' && next.p[n] <= 'Z') || next.p[n] == '_'))
            n++;
        found = value.n && value.p[value.n - 1] == '"' && n >= SHORTEST;
    }
    return found;
}

/* Value after value, as data has it whatever the file is called, a log, which begins with a word, a
   template, or the comments of an editor's and a compiler's settings: no document that is broken.
 */
static bool is_other_json(struct str text)
{
    struct str words = str_trim(text);
    if (words.n && words.p[0] != '{' && words.p[0] != '[') return true;
    return has_lines(text, "}", "{") || has_lines(text, "]", "[") || str_has_line(text, "//|/*") ||
           has_capitals_for_value(text);
}

/* The text does not parse. A file that is called a document is broken, one that is too large is a
   document; another may be flags or a script, or something else entirely. */
static void read_broken(struct job *job, size_t diags_before)
{
    struct str path = path_of(job);
    size_t errors = job->diags->n;
    bool too_large = str_is(job->diags->items[errors - 1].rule, DOC_TOO_LARGE);
    if (!job->forced && str_ends(path, STR(".json")) && is_other_json(job->text)) {
        job->diags->n = diags_before;
        return;
    }
    if (too_large || (!job->forced && names_document(path))) {
        if (!too_large) name_template(job);
        job->out->status = RECIPE_UNREADABLE;
        return;
    }
    job->diags->n = diags_before;
    bool script = names_script(path) || str_starts(job->text, STR("#!"));
    if (read_plain_text(job) || (!job->forced && script)) return;
    job->diags->n = errors;
    job->out->status = RECIPE_UNREADABLE;
}

static bool has_mapping(const struct node_list *docs)
{
    for (size_t i = 0; i < docs->n; i++)
        if (docs->items[i]->kind != NODE_SCALAR) return true;
    return false;
}

static void read_documents(struct job *job)
{
    struct node_list docs = {0};
    size_t before = job->diags->n;
    if (!doc_load(job->arena, job->diags, job->source, &docs)) {
        read_broken(job, before);
        return;
    }
    for (size_t i = 0; i < docs.n && has_mapping(&docs); i++) {
        const struct node *doc = docs.items[i];
        const struct reader *reader = job->forced;
        if (!reader)
            reader = reader_detect(job->text, doc);
        else if (doc->n && reader->detect(job->text, doc) <= 0)
            reader = NULL; /* not a word of it is */
        if (reader) read_with(job, reader, doc, (int)i);
    }
    if (job->out->format) return;
    job->diags->n = before; /* no document of ours: its duplicate keys are not either */
    if (has_mapping(&docs) && str_ends(path_of(job), STR(".json"))) return; /* data, mostly prose */
    if (has_mapping(&docs) && !language_is_shell(path_of(job), job->text))
        read_embedded(job, &docs);
    else
        read_plain_text(job);
}

/* Whether the file is a launch or what one reads, which may set variables. */
static bool has_environment(const struct recipe *out)
{
    return out->readings.n && !str_is_any(str_of(out->format->name), "plan|hf");
}

struct recipe recipe_read(struct arena *a, struct diags *diags, uint32_t source, struct str as,
                          const struct read_options *options)
{
    struct recipe out = {.status = RECIPE_SKIPPED};
    struct job job = {a,    diags,   source, source_get(&diags->sources, source)->text,
                      NULL, options, &out};
    for (size_t i = 0; i < options->n_set; i++)
        options->set[i].in_text = false; /* of a file read before */
    struct str format = as.n ? as : reader_declared(job.text, "format");
    if (!as.n && str_is(format, "none")) return out; /* what a file shows, nobody runs */
    job.forced = reader_find(format);
    out.format = job.forced ? NULL : language_of(path_of(&job), job.text);
    if (!out.format) read_documents(&job);
    if (out.status == RECIPE_READ && has_environment(&out)) environment_check(diags, source);
    return out;
}
