/* SPDX-License-Identifier: Apache-2.0 */
/* generate_site SOURCE FOLDER: writes the documentation as static HTML. What follows from the
   program's data (a page for each rule, rules by topic and framework, models, platforms) is
   rendered from it; the rest are the repository's Markdown pages, from docs/README.md on as far as
   links lead. A link that leads nowhere is an error. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/map.h"
#include "base/path.h"
#include "docs_rows.h"
#include "emit/json_writer.h"
#include "emit/rule_page.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "flow/estimate.h"
#include "rules/rule.h"
#include "site/html.h"

/* A page by the path of its Markdown in the repository, where it is or would be. */
struct page {
    struct str source, text; /* text: generated; empty: the file's */
    const struct rule *rule; /* that it is about */
    bool listing;            /* what it lists has pages or rows elsewhere */
};

struct site {
    struct arena *arena, *scratch;
    struct str repository, folder;
    const struct rule_set *rules;
    VEC(struct page) pages;
    VEC(struct str) files; /* that pages link to and that are none, copied */
    struct map seen;       /* sources of pages, and files */
    struct json_writer index;
    const struct page *page; /* that is rendered */
    bool failed;
};

static void complain(struct site *s, struct str where, struct str what)
{
    fprintf(stderr, "%.*s: %.*s\n", STR_ARG(where), STR_ARG(what));
    s->failed = true;
}

static struct str in_repository(struct site *s, struct str path)
{
    return arena_printf(s->arena, "%.*s/%.*s", STR_ARG(s->repository), STR_ARG(path));
}

/* ---- addresses ---- */

/* Where a page lies on the site: docs/README.md is its start, other README.md the index of their
   folder. */
static struct str page_address(struct site *s, struct str source)
{
    struct str at = source, docs = STR("docs/"), rules = STR("rules/");
    if (str_is(at, "docs/README.md")) return STR("index.html");
    if (str_is(at, "README.md")) return STR("overview.html");
    if (str_starts(at, docs))
        at = str_slice(at, docs.n, at.n);
    else if (str_starts(at, rules))
        at = str_slice(at, rules.n, at.n);
    if (str_ends(at, STR("/README.md")))
        return arena_printf(s->arena, "%.*s/index.html", (int)(at.n - strlen("/README.md")), at.p);
    return arena_printf(s->arena, "%.*s.html", (int)(at.n - strlen(".md")), at.p);
}

/* From a page of the site to the site's own folder: "../" for each folder that it lies in. */
static struct str way_up(struct site *s, struct str address)
{
    struct buf out = buf_new(s->arena);
    for (size_t i = 0; i < address.n; i++)
        if (address.p[i] == '/') buf_add(&out, STR("../"));
    return buf_str(&out);
}

static bool is_seen(struct site *s, struct str path)
{
    return map_get(&s->seen, path) != MAP_NONE;
}

static void add_page(struct site *s, struct page page)
{
    page.source = str_dup(s->arena, page.source);
    map_put(s->arena, &s->seen, page.source, 0);
    *VEC_PUSH(s->arena, &s->pages) = page;
}

static struct str rule_source(struct site *s, const struct rule *r)
{
    return arena_printf(s->arena, "docs/rule/%.*s.md", STR_ARG(r->id));
}

/* The address of what stands at a path of the repository, which becomes part of the site if it is
   not yet; empty: nothing is there. */
static struct str address_of(struct site *s, struct str path)
{
    struct str readme =
        path.n ? arena_printf(s->arena, "%.*s/README.md", STR_ARG(path)) : STR("README.md");
    if (is_seen(s, readme) || io_is_file(in_repository(s, readme).p)) path = readme;
    bool is_page = str_ends(path, STR(".md"));
    if (!is_seen(s, path)) {
        if (!io_is_file(in_repository(s, path).p)) return STR("");
        path = str_dup(s->arena, path);
        if (is_page) {
            add_page(s, (struct page){.source = path});
        } else {
            map_put(s->arena, &s->seen, path, 0);
            *VEC_PUSH(s->arena, &s->files) = path;
        }
    }
    return is_page ? page_address(s, path) : arena_printf(s->arena, "files/%.*s", STR_ARG(path));
}

/* A rule's own page for its place on the page of its file. */
static const struct rule *rule_at(struct site *s, struct str path, struct str anchor)
{
    return str_starts(path, STR("docs/rules/")) && anchor.n
               ? rules_find(s->rules, str_slice(anchor, 1, anchor.n))
               : NULL;
}

static struct str resolve(void *state, struct str to)
{
    struct site *s = state;
    size_t hash = str_find(to, '#');
    struct str anchor = str_slice(to, hash, to.n), path = str_slice(to, 0, hash);
    if (str_find_str(to, STR("://")) < to.n) return to;
    struct str from = arena_printf(s->arena, "/%.*s", STR_ARG(path_folder(s->page->source)));
    struct str full = path_plain(s->arena, path_join(s->arena, from, path));
    full = path.n ? str_slice(full, 1, full.n) : s->page->source;
    const struct rule *r = rule_at(s, full, anchor);
    if (!r && !path.n) return to;
    struct str address = address_of(s, r ? rule_source(s, r) : full);
    if (!address.n)
        complain(s, s->page->source, arena_printf(s->arena, "%.*s is not there", STR_ARG(to)));
    return arena_printf(s->arena, "%.*s%.*s%.*s",
                        STR_ARG(way_up(s, page_address(s, s->page->source))), STR_ARG(address),
                        STR_ARG(r ? STR("") : anchor));
}

/* ---- writing ---- */

static void write_file(struct site *s, struct str address, struct str text)
{
    struct str error;
    struct str path = arena_printf(s->scratch, "%.*s/%.*s", STR_ARG(s->folder), STR_ARG(address));
    if (!io_make_folders(s->scratch, path))
        complain(s, path, str_of(strerror(errno)));
    else if (!io_write(s->scratch, path.p, text, &error))
        complain(s, path, error);
}

static struct str read_file(struct site *s, struct str path)
{
    struct str text = STR(""), error;
    if (!io_read(s->arena, in_repository(s, path).p, &text, &error)) complain(s, path, error);
    return text;
}

static const char *const menu[][2] = {
    {"Start", "index.html"},         {"Rules", "rules/index.html"},
    {"Guides", "guides.html"},       {"Parameters", "parameters.html"},
    {"Models", "models/index.html"}, {"Platforms", "platforms/index.html"},
    {"Words", "glossary.html"},
};

static void add_menu(struct buf *out, struct str up)
{
    buf_add(out, STR("<nav aria-label=\"Site\"><ul>\n"));
    for (size_t i = 0; i < sizeof menu / sizeof *menu; i++)
        buf_printf(out, "<li><a href=\"%.*s%s\">%s</a></li>\n", STR_ARG(up), menu[i][1],
                   menu[i][0]);
    buf_add(out, STR("</ul></nav>\n"));
}

static struct str whole_page(struct site *s, const struct html_page *page, struct str address)
{
    struct str up = way_up(s, address);
    struct buf out = buf_new(s->arena);
    buf_add(&out,
            STR("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>"));
    html_escape(&out, page->title);
    buf_printf(
        &out,
        "%s</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<link rel=\"stylesheet\" href=\"%.*ssite.css\">\n"
        "<script defer src=\"%.*ssite.js\" data-root=\"%.*s\"></script>\n</head>\n<body>\n"
        "<a class=\"skip\" href=\"#main\">Skip to the text</a>\n<header>\n",
        str_is(page->title, "moeplan") ? "" : " · moeplan", STR_ARG(up), STR_ARG(up), STR_ARG(up));
    add_menu(&out, up);
    buf_add(&out, STR("<form role=\"search\" hidden>\n<label for=\"search\">Search</label>\n"
                      "<input id=\"search\" type=\"search\" autocomplete=\"off\" "
                      "placeholder=\"a rule, a word, an error text\">\n</form>\n</header>\n"
                      "<section id=\"results\" aria-label=\"Search results\" hidden></section>\n"
                      "<main id=\"main\">\n"));
    buf_add(&out, page->body);
    buf_add(&out, STR("</main>\n<footer>moeplan " MOEPLAN_VERSION "</footer>\n</body>\n</html>\n"));
    return buf_str(&out);
}

/* ---- what is searched: [title, address, page, text, error texts] ---- */

static void index_item(struct site *s, struct str title, struct str address, struct str page,
                       struct str text, struct str errors)
{
    json_open(&s->index, NULL, '[');
    json_str(&s->index, NULL, title);
    json_str(&s->index, NULL, address);
    json_str(&s->index, NULL, page);
    json_str(&s->index, NULL, text);
    json_str(&s->index, NULL, errors);
    json_close(&s->index, ']');
    buf_add_char(s->index.out, '\n');
}

static void index_rule(struct site *s, const struct rule *r, struct str address)
{
    struct str text = arena_printf(s->arena, "%.*s %.*s %.*s %.*s", STR_ARG(r->message),
                                   STR_ARG(r->why), STR_ARG(r->help), STR_ARG(r->error_type));
    index_item(s, r->id, address, STR("rule"), text, r->error_pattern);
}

static void index_page(struct site *s, const struct html_page *page, struct str address)
{
    for (size_t i = 0; i < page->parts.n; i++) {
        const struct html_part *part = &page->parts.items[i];
        struct str at = arena_printf(s->arena, "%.*s%s%.*s", STR_ARG(address),
                                     part->anchor.n ? "#" : "", STR_ARG(part->anchor));
        index_item(s, part->title, at, page->title, part->text, STR(""));
    }
}

static void write_page(struct site *s, const struct page *p)
{
    struct str address = page_address(s, p->source);
    struct str text = p->text.n ? p->text : read_file(s, p->source);
    s->page = p;
    struct html_page page = html_render(s->arena, text, resolve, s);
    if (p->rule)
        index_rule(s, p->rule, address);
    else if (!p->listing)
        index_page(s, &page, address);
    write_file(s, address, whole_page(s, &page, address));
}

/* ---- pages from data ---- */

static void add_text_page(struct site *s, const char *source, struct buf *text, bool listing)
{
    add_page(s, (struct page){.source = str_of(source), .text = buf_str(text), .listing = listing});
}

/* What a rule's page in a terminal has no links for. */
static void add_ways_on(struct site *s, const struct rule *r, struct buf *out)
{
    struct str topic = docs_page_name(s->arena, r->suite);
    buf_printf(out, "\n## See also\n\n- [rules/%.*s](../rules/%.*s): the rules beside it\n",
               STR_ARG(r->suite), STR_ARG(topic));
    if (r->parameter >= 0) {
        struct str name = param_table[r->parameter].name;
        buf_printf(out, "- [%.*s](../parameters.md#%.*s): the parameter\n", STR_ARG(name),
                   STR_ARG(name));
    }
    for (size_t i = 0; i < r->n_guides; i++)
        buf_printf(out, "- [%.*s](../guides.md#%.*s): the row of the decision guides\n",
                   STR_ARG(r->guides[i]), STR_ARG(r->guides[i]));
}

static void add_rule(struct site *s, const struct rule *r)
{
    struct buf out = buf_new(s->arena);
    rule_page(r, s->rules, s->scratch, &out);
    add_ways_on(s, r, &out);
    add_page(s, (struct page){.source = rule_source(s, r), .text = buf_str(&out), .rule = r});
}

/* The records of a file that are for a framework (FRAMEWORK_COUNT: any) below a heading; how many.
 */
static size_t list_records(struct site *s, struct buf *out, struct str suite, int framework,
                           struct str heading)
{
    struct str page = docs_page_name(s->arena, suite);
    size_t n = 0;
    for (size_t i = 0; i < s->rules->n; i++) {
        const struct rule *r = s->rules->items[i];
        if (!str_eq(r->suite, suite) || (framework < FRAMEWORK_COUNT && !r->in[framework].applies))
            continue;
        if (n++ == 0) buf_printf(out, "%.*s\n\n" DOCS_TABLE_OF_RECORDS, STR_ARG(heading));
        docs_row(out, r, page);
    }
    return n;
}

/* "megatron/moe" of "megatron/moe.yaml" */
static struct str topic(struct str suite)
{
    return str_slice(suite, 0, suite.n - strlen(".yaml"));
}

static size_t add_framework(struct site *s, const struct str *suites, size_t n, int framework)
{
    struct buf out = buf_new(s->arena);
    size_t count = 0;
    buf_printf(&out, "# Rules of %s\n", framework_full_name((enum framework)framework));
    for (size_t i = 0; i < n; i++) {
        struct str page = docs_page_name(s->arena, suites[i]);
        struct str heading =
            arena_printf(s->arena, "\n## [%.*s](%.*s)", STR_ARG(topic(suites[i])), STR_ARG(page));
        count += list_records(s, &out, suites[i], framework, heading);
    }
    add_text_page(
        s,
        arena_printf(s->arena, "docs/rules/in-%s.md", framework_name((enum framework)framework)).p,
        &out, true);
    return count;
}

static size_t add_topic(struct site *s, struct str suite)
{
    struct buf out = buf_new(s->arena);
    struct str heading = arena_printf(s->arena, "# Rules of %.*s", STR_ARG(topic(suite)));
    size_t count = list_records(s, &out, suite, FRAMEWORK_COUNT, heading);
    add_text_page(
        s, arena_printf(s->arena, "docs/rules/%.*s", STR_ARG(docs_page_name(s->arena, suite))).p,
        &out, true);
    return count;
}

static void add_rules(struct site *s)
{
    size_t n;
    const struct str *suites = docs_suites(s->arena, s->rules, &n);
    struct buf out = buf_new(s->arena);
    buf_printf(&out, "# Rules\n\n" DOCS_OF_RECORDS "\n## By framework\n\n", s->rules->n);
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        size_t count = add_framework(s, suites, n, f);
        buf_printf(&out, "- [%s](in-%s.md): %zu\n", framework_full_name((enum framework)f),
                   framework_name((enum framework)f), count);
    }
    buf_add(&out, STR("\n## By topic\n\n"));
    for (size_t i = 0; i < n; i++) {
        size_t count = add_topic(s, suites[i]);
        buf_printf(&out, "- [%.*s](%.*s): %zu\n", STR_ARG(topic(suites[i])),
                   STR_ARG(docs_page_name(s->arena, suites[i])), count);
    }
    for (size_t i = 0; i < s->rules->n; i++)
        add_rule(s, s->rules->items[i]);
    add_text_page(s, "docs/rules/README.md", &out, true);
}

static void model_row(struct site *s, struct buf *out, const struct model_input *m)
{
    struct diags diags;
    struct model_shape *shape = ARENA_NEW(s->scratch, struct model_shape);
    diags_init(&diags, s->scratch);
    if (!estimate_shape(s->scratch, &diags, m, s->arena, shape)) {
        complain(s, m->id, STR("has no shape"));
        return;
    }
    struct param_counts n = model_params(shape);
    buf_printf(out, "| `%.*s` | %.*s | %.2f | %.2f | %d | ", STR_ARG(m->id), STR_ARG(m->hf_id),
               (double)n.total / 1e9, (double)n.active / 1e9, shape->num_layers);
    if (shape->experts > 0)
        buf_printf(out, "%d, top-%d |\n", shape->experts, shape->topk);
    else
        buf_add(out, STR("dense |\n"));
}

static void add_models(struct site *s)
{
    struct buf out = buf_new(s->arena);
    buf_add(&out, STR("# Models\n\nThe catalogue, by the names that commands take; `moeplan models "
                      "NAME` says what is known of one and "
                      "where it is from. Parameters are counted exactly, in billions; MTP and "
                      "vision are apart. Any other model is a "
                      "`config.json` or a [model file](../../docs/formats.md).\n\n| name | Hugging "
                      "Face | total B | active B | layers | "
                      "experts |\n|---|---|--:|--:|--:|---|\n"));
    for (size_t i = 0; i < catalogue_model_count; i++)
        model_row(s, &out, model_catalogue(s->arena, i));
    add_text_page(s, "rules/models/README.md", &out, false);
}

static void platform_facts(struct site *s, struct buf *out, const struct entry *e)
{
    buf_printf(out, "\n## %.*s\n\n%.*s. Source: ", STR_ARG(e->id), STR_ARG(e->name));
    docs_cell(out, e->source);
    buf_add(out, STR("\n\n| fact | value | means |\n|---|--:|---|\n"));
    for (size_t i = 0; i < e->n_fields; i++) {
        const struct entry_field *f = &e->fields[i];
        buf_printf(out, "| `%.*s` | %.*s | ", STR_ARG(f->name),
                   STR_ARG(value_text(s->arena, f->value)));
        docs_cell(out, param_table[param_find(f->name)].doc);
        buf_add(out, STR(" |\n"));
    }
}

static void platform_coefficients(struct buf *out, const struct entry *e)
{
    buf_add(out, STR("\n| coefficient | value | low | high | unit | measurements | means "
                     "|\n|---|--:|--:|--:|---|--:|---|\n"));
    for (size_t i = 0; i < e->n_coefficients; i++) {
        const struct entry_coefficient *x = &e->coefficients[i];
        buf_printf(out, "| `%.*s` | %.4g | %.4g | %.4g | %.*s | %lld | ", STR_ARG(x->name),
                   x->value, x->low, x->high, STR_ARG(x->unit), (long long)x->n);
        docs_cell(out, x->meaning);
        buf_add(out, STR(" |\n"));
    }
}

static void add_platforms(struct site *s)
{
    struct buf out = buf_new(s->arena);
    buf_add(&out, STR("# Platforms\n\nThe GPUs that commands take by name, with the coefficients "
                      "of the cost model and their 80 % "
                      "intervals. A [platform file](../../docs/formats.md) starts from one of them "
                      "and says what differs.\n"));
    for (size_t i = 0; i < catalogue_platform_count; i++) {
        platform_facts(s, &out, &catalogue_platforms[i]);
        platform_coefficients(&out, &catalogue_platforms[i]);
    }
    add_text_page(s, "rules/platforms/README.md", &out, false);
}

/* ---- the site ---- */

static void write_files(struct site *s)
{
    static const char *const own[] = {"site.css", "site.js"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        write_file(s, str_of(own[i]),
                   read_file(s, arena_printf(s->arena, "tools/site/%s", own[i])));
    for (size_t i = 0; i < s->files.n; i++)
        write_file(s, arena_printf(s->arena, "files/%.*s", STR_ARG(s->files.items[i])),
                   read_file(s, s->files.items[i]));
}

static void write_site(struct site *s)
{
    struct buf index = buf_new(s->arena);
    buf_add(&index, STR("var searchIndex = "));
    s->index = json_writer_new(&index);
    json_open(&s->index, NULL, '[');
    add_rules(s);
    add_models(s);
    add_platforms(s);
    add_page(s, (struct page){.source = STR("docs/README.md")});
    for (size_t i = 0; i < s->pages.n; i++) { /* which grow while they are rendered */
        struct page page = s->pages.items[i];
        write_page(s, &page);
    }
    json_close(&s->index, ']');
    buf_add(&index, STR(";\n"));
    write_file(s, STR("search.js"), buf_str(&index));
    write_files(s);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: generate_site SOURCE FOLDER\n");
        return EXIT_FAILURE;
    }
    struct site s = {.arena = arena_new(0),
                     .scratch = arena_new(0),
                     .repository = str_of(argv[1]),
                     .folder = str_of(argv[2]),
                     .rules = rules_builtin()};
    write_site(&s);
    arena_free(s.scratch);
    arena_free(s.arena);
    return s.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
