/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is read line by line gives the very tree that libyaml gives. A tab is left to libyaml:
   a comment with one, behind a text, has it read the whole. */
#include "unit/unit.h"

#include "base/buf.h"
#include "base/dir.h"
#include "base/io.h"
#include "doc/node.h"
#include "doc/yaml_lines.h"

static const char *const texts[] = {
    "a: 1\nb:\n  c: x y  # why\n  d:\n  - 1\n  -   e: 2\n      f: [a, 'b', {c: d}]\n  - - 3\n    - "
    "4\n",
    "---\n# before\nkey: \"v: # no comment\"\n'k 2': 'w'\nempty:\n\nlast: ${A:-b} # end\n",
    "- a\n-\n- b: 1\n  c:\n- -\n",
    "  deep: 1\n  list:\n  - x\n  - y:\n      z: []\n  more: {}\n",
    "--flag: true\n--moe-layer-freq: ([0]*3+[1]*57)\nNAME: :4096:8\nalgo: ^NVLS\nurl: "
    "http://h/p#q\n",
    "a: {b: 1, 'c': [1, -2, 3.5e-1], d: {}}\ne: [ x y , z ]\n",
    "a: 1\na: 2\n<<: {b: 3, a: 4}\n",
    "k\xC3\xA9: x \xE2\x80\x94 y # \xC3\xA9\nb: 2\n",
    "a: key:# no comment\n",
    "a : 1\n\"b\" : 2\n",
};

/* What lines do not settle, or is an error. */
static const char *const others[] = {
    "a: |\n  text\nb: >-\n  x\n",
    "a: &x 1\nb: *x\nc: !!str 2\n",
    "a: x\n  y\nb: 'p\n  q'\n",
    "a: 1\n---\nb: 2\n",
    "a: 1\n...\n",
    "%YAML 1.1\n---\na: 1\n",
    "a:\tb\n",
    "a: 'it''s'\nb: \"\\n\"\n",
    "a: b: c\n",
    "a: - b\n",
    "a: 1\n  b: 2\n",
    "a:\n    b: 1\n  c: 2\n",
    "- a\nb: 1\n",
    "a: 1\n- b\n",
    "a: [1, 2\n",
    "a: [1,, 2]\nb: {c}\nd: [e: 1, f]\n",
    "a: [1] 2\n",
    "a: \"b\"#c\n",
    "a: @b\n",
    "? a\n: b\n",
    "scalar\n",
    "key:# no comment\n",
    "",
    "# nothing\n",
    "a: \xC2\x85 b\n",
    "a: b\xE2\x80\xA8 c: d\n",
    "a: \xEF\xBB\xBF x\n",
};

struct loaded {
    struct diags diags;
    struct node_list docs;
    bool ok;
};

static struct loaded load(struct arena *a, struct str text)
{
    struct loaded l = {.ok = false};
    diags_init(&l.diags, a);
    l.ok = doc_load(a, &l.diags, source_add(&l.diags.sources, STR("x.yaml"), text), &l.docs);
    return l;
}

static bool same(const struct node *a, const struct node *b)
{
    bool alike = a->kind == b->kind && a->quoted == b->quoted && a->line == b->line &&
                 a->from == b->from && a->to == b->to && a->n == b->n && str_eq(a->tag, b->tag);
    if (alike && a->kind == NODE_SCALAR) return str_eq(a->text, b->text);
    for (size_t i = 0; alike && i < a->n; i++)
        alike =
            same(a->items[i], b->items[i]) && (a->kind != NODE_MAP || same(a->keys[i], b->keys[i]));
    return alike;
}

static bool ignore(void *state, const yaml_event_t *event)
{
    (void)state, (void)event;
    return true;
}

/* Whether the text, which ends in a line's end, is read by lines; then libyaml must find the same
   in it. */
static bool is_read(struct arena *a, struct str text)
{
    if (!yaml_lines_read(text, ignore, NULL)) return false;
    struct arena *each = arena_child(a, 0);
    struct loaded ours = load(each, text);
    struct loaded other = load(each, arena_printf(each, "%.*s#\t\n", STR_ARG(text)));
    bool good = ours.ok == other.ok && ours.diags.n == other.diags.n;
    if (good && ours.ok) good = other.docs.n == 1 && same(ours.docs.items[0], other.docs.items[0]);
    for (size_t i = 0; good && i < ours.diags.n; i++)
        good = str_eq(ours.diags.items[i].message, other.diags.items[i].message);
    if (!good) fail_msg("read otherwise than by libyaml:\n%.*s", STR_ARG(text));
    arena_free(each);
    return true;
}

static void lines_give_what_libyaml_gives(void **state)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!is_read(*state, str_of(texts[i]))) fail_msg("left to libyaml:\n%s", texts[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_read(*state, str_of(others[i]))) fail_msg("not left to libyaml:\n%s", others[i]);
}

static unsigned draw(uint32_t *seed, size_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (unsigned)((*seed >> 8) % below);
}

/* Puts a character in, takes one out, or changes one. */
static void change(char *text, size_t *n, uint32_t *seed)
{
    static const char set[] = " \n:-#[]{},'\"&*!|>%@?\\~<.a0$=_/+()`^";
    size_t at = draw(seed, *n), kind = draw(seed, 3);
    if (kind == 0) memmove(text + at, text + at + 1, --*n - at);
    if (kind == 1) memmove(text + at + 1, text + at, (*n)++ - at);
    if (kind > 0) text[at] = set[draw(seed, sizeof set - 1)];
}

static void lines_that_are_changed_do_too(void **state)
{
    enum { ROUNDS = 3000, CHANGES = 3 };
    uint32_t seed = 1;
    size_t n_read = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int round = 0; round < ROUNDS; round++) {
            char text[256];
            size_t n = strlen(texts[i]) - 1; /* the last line's end stays */
            memcpy(text, texts[i], n);
            for (size_t k = 0; k <= draw(&seed, CHANGES); k++)
                change(text, &n, &seed);
            text[n++] = '\n';
            n_read += is_read(*state, (struct str){text, n});
        }
    }
    assert_true(n_read > ROUNDS);
}

/* The recipes that moeplan shows: most are nothing but lines. */
static void examples_are_read_by_lines(void **state)
{
    static const char *const suffixes[] = {".yaml", NULL};
    struct path_list files = {0};
    struct str error;
    size_t n_read = 0;
    assert_true(dir_list(*state, SOURCE_DIR "/examples", suffixes, &files, &error));
    for (size_t i = 0; i < files.n; i++) {
        struct str text;
        assert_true(io_read(*state, files.items[i].p, &text, &error));
        n_read += is_read(*state, text);
    }
    assert_true(files.n > 10 && n_read > files.n / 2);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_give_what_libyaml_gives),
    cmocka_unit_test(lines_that_are_changed_do_too),
    cmocka_unit_test(examples_are_read_by_lines),
};
UNIT_MAIN(tests)
