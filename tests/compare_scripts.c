/* SPDX-License-Identifier: Apache-2.0 */
/* compare_scripts [-v] CORPUS REPOSITORIES: launch scripts of public repositories, evaluated as
   CORPUS/manifest.jsonl says they were called, against the argument lists that a shell made of
   them. REPOSITORIES holds git directories named OWNER+NAME/repo. An argument is equal, unknown
   (something nobody can know is in it, or it may be among words that are unknown), or wrong. Of a
   script that launches several times, one launch is read: the list nearest to it counts. Exit 1
   when fewer than 95 % are equal or one is wrong, 77 when the folders are absent. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/io.h"
#include "facts/profile.h"
#include "facts/shell.h"

enum { MOST_ARGUMENTS = 64, LEAST_EQUAL = 95, CUT_AT = 300 };

struct tally {
    struct str name;
    size_t equal, unknown, wrong;
};

/* A flag with its values, or an override. */
struct argument {
    struct str key, value;
    bool uncertain; /* its value is not known, or whether it is there */
};

struct arguments {
    VEC(struct argument) list;
    bool open; /* any further argument may be among the words */
};

struct compare {
    struct arena *arena;
    const char *corpus, *repositories;
    bool verbose;
    struct tally all, best; /* best: of the lists of one script, so far */
    struct str script;      /* which one */
    size_t lists, absent;
};

/* ---- arguments ---- */

static bool is_flag(struct str s)
{
    return s.n > 1 && s.p[0] == '-' && !(s.p[1] >= '0' && s.p[1] <= '9') && s.p[1] != '.';
}

/* The last one of a key counts, as the programs take it. */
static struct argument *find(struct arguments *all, struct str key)
{
    for (size_t i = all->list.n; i-- > 0;)
        if (str_eq(all->list.items[i].key, key)) return &all->list.items[i];
    return NULL;
}

static void add_value(struct arena *a, struct argument *x, struct str word)
{
    x->value = x->value.n ? arena_printf(a, "%.*s %.*s", STR_ARG(x->value), STR_ARG(word)) : word;
}

static void add(struct arena *a, struct arguments *all, struct str word, bool uncertain)
{
    bool flag = is_flag(word);
    size_t eq = str_find(word, '=');
    if (flag || eq < word.n) {
        struct argument *x = VEC_PUSH(a, &all->list);
        *x = (struct argument){.key = str_slice(word, 0, eq), .uncertain = uncertain};
        if (eq < word.n) x->value = str_slice(word, eq + 1, word.n);
    } else if (all->list.n > 0) {
        struct argument *x = &all->list.items[all->list.n - 1];
        add_value(a, x, word);
        x->uncertain = x->uncertain || uncertain;
    }
}

static struct arguments of_words(struct arena *a, const struct flag_words *words)
{
    struct arguments all = {0};
    for (size_t i = 0; i < words->n; i++) {
        const struct flag_word *w = &words->items[i];
        bool after_flag = i > 0 && is_flag(words->items[i - 1].text);
        if (w->dynamic && w->known == 0 && !after_flag) all.open = true;
        add(a, &all, w->text, w->dynamic || w->maybe);
    }
    return all;
}

/* One argument a line, its values separated by blanks. */
static struct arguments of_list(struct arena *a, struct str text)
{
    struct arguments all = {0};
    struct str line, word;
    while (str_split(&text, '\n', &line)) {
        struct str rest = str_trim(line);
        if (rest.n == 0) continue;
        if (str_split(&rest, ' ', &word)) add(a, &all, word, false);
        while (str_split(&rest, ' ', &word))
            if (word.n && all.list.n) add_value(a, &all.list.items[all.list.n - 1], word);
    }
    return all;
}

/* ---- comparing ---- */

static void say(const struct compare *c, const char *what, struct str name, struct str key,
                struct str theirs, struct str ours)
{
    if (c->verbose)
        printf("%s %.*s: %.*s: %.*s | %.*s\n", what, STR_ARG(name), STR_ARG(key), STR_ARG(theirs),
               STR_ARG(ours));
}

static struct tally compare(const struct compare *c, struct str name, struct arguments *theirs,
                            struct arguments *ours, bool more_is_wrong)
{
    struct tally t = {.name = name};
    for (size_t i = 0; i < theirs->list.n; i++) {
        struct argument *x = &theirs->list.items[i], *y = find(ours, x->key);
        if (find(theirs, x->key) != x) continue;
        bool unknown = y ? y->uncertain : ours->open;
        bool equal = y && !unknown && str_eq(x->value, y->value);
        t.equal += equal;
        t.unknown += unknown;
        t.wrong += !equal && !unknown;
        if (!equal)
            say(c, unknown ? "unknown" : "wrong", name, x->key, x->value,
                y ? y->value : STR("absent"));
    }
    for (size_t i = 0; more_is_wrong && i < ours->list.n; i++) {
        struct argument *y = &ours->list.items[i];
        if (find(ours, y->key) != y || find(theirs, y->key) || y->uncertain) continue;
        t.wrong++;
        say(c, "wrong", name, y->key, STR("absent"), y->value);
    }
    return t;
}

/* ---- one script ---- */

static struct str output_of(struct arena *a, const char *command)
{
    struct buf out = buf_new(a);
    char piece[4096];
    FILE *in = popen(command, "r");
    if (!in) return STR("");
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;)
        buf_add(&out, (struct str){piece, n});
    return pclose(in) == 0 ? buf_str(&out) : STR("");
}

/* The text of OWNER/NAME:PATH; empty when it is not there. */
static struct str script_text(const struct compare *c, struct str script, struct str commit)
{
    size_t slash = str_find(script, '/'), colon = str_find(script, ':');
    if (colon == script.n || slash > colon || str_find(script, '\'') < script.n) return STR("");
    struct str command = arena_printf(
        c->arena, "git --git-dir='%s/%.*s+%.*s/repo' show '%.*s:%.*s' 2>/dev/null", c->repositories,
        (int)slash, script.p, (int)(colon - slash - 1), script.p + slash + 1, STR_ARG(commit),
        (int)(script.n - colon - 1), script.p + colon + 1);
    return output_of(c->arena, command.p);
}

/* What the script was called with. The manifest cuts long calls: the rest is unknown. */
static size_t split_call(struct arena *a, struct str call, struct setting *out)
{
    size_t n = 0;
    struct str word, rest = call;
    while (str_split(&rest, ' ', &word) && n + 1 < MOST_ARGUMENTS) {
        if (word.n == 0 || (rest.n == 0 && call.n >= CUT_AT)) continue;
        out[n] = (struct setting){
            .name = arena_printf(a, "%zu", n + 1), .text = word, .value = value_string(word)};
        n++;
    }
    return n;
}

static struct str text_of(const struct node *row, const char *key)
{
    const struct node *node = node_get(row, str_of(key));
    return node && node->kind == NODE_SCALAR && !str_is(node->text, "null") ? node->text : STR("");
}

/* A file that others source for the model's arguments; its list leaves out what else it sets. */
static bool is_model_file(const struct node *row)
{
    return str_starts(text_of(row, "note"), STR("model argument file"));
}

/* The variables with which the lists were made. */
static struct setting environment[] = {
    {.name = {"TP", 2}, .text = {"1", 1}},
    {.name = {"PP", 2}, .text = {"1", 1}},
    {.name = {"EP", 2}, .text = {"1", 1}},
    {.name = {"HOME", 4}, .text = {"/root", 5}},
    {.name = {"PWD", 3}, .text = {"MODEL_DIR", 9}},
    {.name = {"SLURM_JOB_ID", 12}, .text = {"1", 1}},
    {.name = {"WORKSPACE", 9}, .text = {"/workspace", 10}},
    {.name = {"ENERGON_PATH", 12}, .text = {"/data/energon", 13}},
};
enum { COMMON = 3, BRIDGE = 6, ALL = 8 }; /* where the parts begin */

static void set_environment(const struct node *row, bool bridge, struct read_options *options)
{
    size_t from = is_model_file(row) ? 0 : COMMON, to = bridge ? ALL : BRIDGE;
    options->env_given = true;
    options->env = environment + from;
    options->n_env = to - from;
}

static bool read_script(struct compare *c, const struct node *row, struct arguments *ours)
{
    struct setting settings[MOST_ARGUMENTS];
    struct str commit = text_of(row, "commit");
    struct str text = script_text(c, text_of(row, "script"), commit.n ? commit : STR("HEAD"));
    if (text.n == 0) return false;
    bool bridge = str_is(text_of(row, "style"), "bridge_overrides");
    enum framework framework = bridge ? FRAMEWORK_BRIDGE : FRAMEWORK_MEGATRON;
    struct read_options options = {.set = settings};
    set_environment(row, bridge, &options);
    options.n_set = split_call(c->arena, text_of(row, "invocation"), settings);
    struct diags *diags = ARENA_NEW(c->arena, struct diags);
    diags_init(diags, c->arena);
    struct facts *f =
        facts_new(c->arena, diags, framework, profile_find(framework, STR(""))->version);
    f->source = source_add(&diags->sources, text_of(row, "script"), text);
    struct flag_words words = {0};
    if (!shell_read(f, text, &options, &words) && c->verbose)
        printf("stops %.*s: %.*s\n", STR_ARG(text_of(row, "flags")),
               STR_ARG(diags->items[diags->n - 1].message));
    *ours = of_words(c->arena, &words);
    return true;
}

/* Counts the nearest list of the script that was compared last. */
static void count(struct compare *c)
{
    if (c->script.n == 0) return;
    c->lists++;
    c->all.equal += c->best.equal;
    c->all.unknown += c->best.unknown;
    c->all.wrong += c->best.wrong;
    if (c->verbose)
        printf("list %.*s: %zu equal, %zu unknown, %zu wrong\n", STR_ARG(c->best.name),
               c->best.equal, c->best.unknown, c->best.wrong);
}

/* A list that ends before the program: the launcher's own options alone. */
static bool is_stump(const struct node *row)
{
    return node_get(row, STR("program")) && text_of(row, "program").n == 0 &&
           text_of(row, "note").n == 0;
}

static void compare_row(struct compare *c, const struct node *row)
{
    struct str name = text_of(row, "flags"), style = text_of(row, "style"), list, error;
    struct arguments ours = {0};
    if (!str_is(style, "megatron") && !str_is(style, "bridge_overrides")) return;
    if (is_stump(row)) return;
    if (!io_read(c->arena, arena_printf(c->arena, "%s/%.*s", c->corpus, STR_ARG(name)).p, &list,
                 &error) ||
        !read_script(c, row, &ours)) {
        c->absent++;
        return;
    }
    struct arguments theirs = of_list(c->arena, list);
    struct tally t = compare(c, name, &theirs, &ours, !is_model_file(row));
    struct str script = arena_printf(c->arena, "%.*s %.*s", STR_ARG(text_of(row, "script")),
                                     STR_ARG(text_of(row, "invocation")));
    bool same = str_eq(script, c->script);
    if (!same) count(c);
    if (!same || t.wrong < c->best.wrong || (t.wrong == c->best.wrong && t.equal > c->best.equal))
        c->best = t;
    c->script = script;
}

static void compare_all(struct compare *c, struct str manifest)
{
    struct str line;
    while (str_split(&manifest, '\n', &line)) {
        struct diags diags;
        diags_init(&diags, c->arena);
        uint32_t source = source_add(&diags.sources, STR("manifest.jsonl"), line);
        const struct node *row = line.n ? doc_load_json(c->arena, &diags, source) : NULL;
        if (row) compare_row(c, row);
    }
    count(c);
}

int main(int argc, char **argv)
{
    struct compare c = {.verbose = argc > 1 && strcmp(argv[1], "-v") == 0};
    struct str manifest, error;
    if (argc != 3 + c.verbose) {
        fprintf(stderr, "usage: compare_scripts [-v] CORPUS REPOSITORIES\n");
        return 2;
    }
    c.arena = arena_new(0);
    c.corpus = argv[1 + c.verbose];
    c.repositories = argv[2 + c.verbose];
    if (io_read(c.arena, arena_printf(c.arena, "%s/manifest.jsonl", c.corpus).p, &manifest, &error))
        compare_all(&c, manifest);
    size_t n = c.all.equal + c.all.unknown + c.all.wrong;
    printf("%zu lists (%zu absent): %zu arguments equal, %zu unknown, %zu wrong: %.1f %% equal\n",
           c.lists, c.absent, c.all.equal, c.all.unknown, c.all.wrong,
           n ? 100.0 * (double)c.all.equal / (double)n : 0.0);
    arena_free(c.arena);
    if (c.lists == 0) return 77;
    return c.all.wrong == 0 && 100 * c.all.equal >= LEAST_EQUAL * n ? 0 : 1;
}
