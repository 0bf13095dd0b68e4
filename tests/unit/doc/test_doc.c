/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/buf.h"
#include "base/dir.h"
#include "base/io.h"
#include "doc/node.h"

/* One source with its documents. */
struct loaded {
    struct diags diags;
    struct node_list docs;
    bool ok;
};

static struct loaded load(struct arena *a, const char *path, struct str text)
{
    struct loaded l = {.ok = false};
    diags_init(&l.diags, a);
    l.ok = doc_load(a, &l.diags, source_add(&l.diags.sources, str_of(path), text), &l.docs);
    return l;
}

static struct node *first(struct arena *a, const char *text)
{
    struct loaded l = load(a, "x.yaml", str_of(text));
    assert_true(l.ok);
    assert_int_equal(l.docs.n, 1);
    return l.docs.items[0];
}

static void expect_error(struct arena *a, struct str text, const char *rule, uint32_t line,
                         uint32_t column)
{
    struct loaded l = load(a, "x.json", text);
    assert_false(l.ok);
    assert_int_equal(l.diags.n, 1);
    assert_str(l.diags.items[0].rule, rule);
    assert_int_equal(l.diags.items[0].at.line, line);
    assert_int_equal(l.diags.items[0].at.column, column);
}

static void yaml_nodes_know_their_places(void **state)
{
    struct arena *a = *state;
    struct loaded l =
        load(a, "x.yaml", STR("a: 1\nb:\n  \xC3\xA9\xE4\xB8\xAD: [x, 'y']  # why\n  c: 2\n"));
    struct node *list = node_at(l.docs.items[0], STR("b.\xC3\xA9\xE4\xB8\xAD"));
    struct span at = node_span(&l.diags, list);
    assert_int_equal(at.line, 3);
    assert_int_equal(at.column, 7);
    assert_int_equal(at.end_column, 15);
    assert_str(node_at(list, STR("1"))->text, "y");
    assert_true(node_at(list, STR("1"))->quoted);
    assert_null(node_at(list, STR("2")));
    assert_null(node_at(l.docs.items[0], STR("a.b")));
    struct span block = node_span(&l.diags, node_at(l.docs.items[0], STR("b")));
    assert_int_equal(block.end_line, 4);
    assert_int_equal(block.end_column, 7);
}

static void byte_order_mark_is_skipped(void **state)
{
    struct loaded l = load(*state, "x.yaml",
                           STR("\xEF\xBB\xBF"
                               "a: 1\nb: 2\n"));
    assert_true(l.ok);
    assert_int_equal(node_span(&l.diags, node_at(l.docs.items[0], STR("b"))).line, 2);
}

static void duplicates_are_reported_and_the_last_wins(void **state)
{
    struct arena *a = *state;
    struct loaded l = load(a, "x.yaml", STR("a: 1\nb: 2\na: 3\nb: 2\n"));
    assert_true(l.ok);
    assert_int_equal(diags_count(&l.diags, SEVERITY_WARNING), 1);
    assert_int_equal(diags_count(&l.diags, SEVERITY_INFO), 1);
    assert_int_equal(l.diags.items[0].at.line, 3);
    assert_str(node_get(l.docs.items[0], STR("a"))->text, "3");
    struct buf many = buf_new(a);
    for (int i = 0; i < 100; i++)
        buf_printf(&many, "k%d: 1\n", i % 99);
    l = load(a, "x.yaml", buf_str(&many));
    assert_int_equal(l.diags.n, 1);
    assert_int_equal(l.diags.items[0].at.line, 100);
}

static void merge_keys_give_way_to_nearer_ones(void **state)
{
    struct node *root = first(*state, "x: &x {p: 1, q: 1}\ny: &y {q: 2, r: 2}\n"
                                      "z:\n  <<: [*x, *y]\n  p: 0\nw: {<<: *x, s: 5}\n");
    struct node *z = node_get(root, STR("z"));
    assert_int_equal(z->n, 3);
    assert_str(node_get(z, STR("p"))->text, "0");
    assert_str(node_get(z, STR("q"))->text, "1");
    assert_str(node_get(z, STR("r"))->text, "2");
    assert_str(node_at(root, STR("w.p"))->text, "1");
    struct loaded l = load(*state, "x.yaml", STR("a: {<<: 3}\n"));
    assert_false(l.ok);
}

/* The comments that a text begins with are not parsed: places count them, where libyaml has to
   judge them it does, and what only looks like one is none. */
static void places_count_the_comments_before_them(void **state)
{
    struct arena *a = *state;
    struct loaded l = load(a, "x.yaml", STR("# a licence\n\n  # and more\na: 1\nb: [c]\n"));
    struct node *list = node_at(l.docs.items[0], STR("b"));
    assert_int_equal(list->line, 5);
    struct span at = node_span(&l.diags, list);
    assert_int_equal(at.line, 5);
    assert_int_equal(at.column, 4);
    l = load(a, "x.yaml", STR("\xEF\xBB\xBF# \xC3\xA9\n# plain\na: \xC3\xA9\nb: 2\n"));
    assert_int_equal(node_at(l.docs.items[0], STR("b"))->line, 4);
    at = node_span(&l.diags, node_at(l.docs.items[0], STR("b")));
    assert_int_equal(at.line, 4);
    expect_error(a, STR("# one\n# two\na: 1\nb: [\n"), "yaml-syntax", 5, 1);
    expect_error(a, STR("# one\n# \x01\na: 1\n"), "yaml-syntax", 2, 3);
    l = load(a, "x.yaml", STR("# one\n#two\n\n--- |\n  # text\n"));
    assert_str(l.docs.items[0]->text, "# text\n");
}

static void hostile_yaml_is_refused(void **state)
{
    struct arena *a = *state;
    struct buf deep = buf_new(a), bomb = buf_new(a);
    buf_add_n(&deep, '[', 100000);
    expect_error(a, buf_str(&deep), DOC_TOO_LARGE, 1, 201);
    buf_add(&bomb, STR("a: &a [x,x,x,x,x,x,x,x,x]\n"));
    for (char c = 'b'; c < 'k'; c++) {
        buf_printf(&bomb, "%c: &%c [", c, c);
        for (int i = 0; i < 9; i++)
            buf_printf(&bomb, "*%c,", c - 1);
        buf_add(&bomb, STR("]\n"));
    }
    struct loaded l = load(a, "x.yaml", buf_str(&bomb));
    assert_false(l.ok);
    assert_str(l.diags.items[0].rule, DOC_TOO_LARGE);
    assert_int_equal(l.diags.items[0].at.line, 7); /* 9^7 nodes are above the limit */
    struct buf tower = buf_new(a);
    buf_add(&tower, STR("a0: &a0 [x]\n"));
    for (int i = 1; i < 250; i++)
        buf_printf(&tower, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    l = load(a, "x.yaml", buf_str(&tower));
    assert_false(l.ok);
    assert_int_equal(l.diags.items[0].at.line, 199);
}

/* The text of that many documents, the same in each. */
static struct str documents(struct arena *a, int n, const char *text)
{
    struct buf out = buf_new(a);
    for (int i = 0; i < n; i++)
        buf_printf(&out, "--- %s\n", text);
    return buf_str(&out);
}

static void documents_share_their_limits(void **state)
{
    struct arena *a = *state;
    struct loaded l = load(a, "x.yaml", documents(a, 1000, "{a: 1}"));
    assert_true(l.ok);
    assert_int_equal(l.docs.n, 1000);
    expect_error(a, documents(a, 1001, "{a: 1}"), DOC_TOO_LARGE, 1001, 1);
    /* 100 nodes, 10,000 of them a document */
    struct buf nodes = buf_new(a);
    buf_add(&nodes, STR("{a: &a ["));
    for (int i = 0; i < 100; i++)
        buf_add(&nodes, STR("x,"));
    buf_add(&nodes, STR("], b: ["));
    for (int i = 0; i < 100; i++)
        buf_add(&nodes, STR("*a,"));
    buf_add(&nodes, STR("]}"));
    assert_true(load(a, "x.yaml", documents(a, 90, buf_str(&nodes).p)).ok);
    l = load(a, "x.yaml", documents(a, 110, buf_str(&nodes).p));
    assert_false(l.ok);
    assert_str(l.diags.items[0].rule, DOC_TOO_LARGE);
    assert_true(l.diags.items[0].at.line > 95);
}

/* Whatever block is refused, the parser's own memory is given back. */
static void load_much(void *state)
{
    struct arena *a = state;
    struct diags all;
    struct node_list docs = {0};
    diags_init(&all, a);
    doc_load_yaml(a, &all,
                  source_add(&all.sources, STR("x"), documents(a, 300, "{a: &x [1, 2], b: *x}")),
                  &docs);
}

static void a_document_may_run_out_of_memory(void **state)
{
    (void)state;
    enum { STEP = 32 * 1024 };
    size_t refused = 0;
    enum guard_end end = GUARD_TOO_LARGE;
    for (size_t limit = STEP; end != GUARD_DONE; limit += STEP, refused++) {
        struct guard guard = {0};
        struct arena *a = arena_new(limit);
        arena_set_guard(a, &guard);
        end = guard_run(&guard, 0, load_much, a);
        assert_true(end == GUARD_DONE || end == GUARD_TOO_LARGE);
        assert_null(guard.held);
        arena_free(a);
    }
    assert_true(refused > 5);
}

static void broken_text_is_an_error_with_a_place(void **state)
{
    struct arena *a = *state;
    expect_error(a, STR("a: 1\nb: [\n"), "yaml-syntax", 3, 1);
    expect_error(a, STR("a: \xE9\n"), "yaml-syntax", 1, 4);
    expect_error(a, STR("a: 1\nb: \0\n"), "yaml-syntax", 2, 4);
    expect_error(a,
                 STR("\xFF\xFE"
                     "a\0"),
                 "yaml-syntax", 1, 1);
    expect_error(a, STR("a: *b\n"), "yaml-syntax", 1, 4);
    expect_error(a, STR("a: &a [*a]\n"), "yaml-syntax", 1, 8);
    expect_error(a, STR("{\"a\": 1,}}"), "json-syntax", 1, 9);
}

/* What PyYAML loads although libyaml refuses it, and the other way round. */
static void yaml_is_what_pyyaml_takes(void **state)
{
    static const struct {
        const char *text, *value; /* value NULL: refused */
    } cases[] = {
        {"%FOO bar\n---\na: 1\n", "{a: 1}"},
        {"%YAML 1.3\n---\na: 1\n", "{a: 1}"},
        {"%YAML 2.0\n---\na: 1\n", NULL},
        {"%FOO bar\na: 1\n", NULL},
        {"%YAML 1.1#x\n---\na: 1\n", NULL},
        {"{a:, b:, c: 1}", "{a: null, b: null, c: 1}"},
        {"[a:, [b:]]", "[{a: null}, [{b: null}]]"},
        {"a: |\n \tx\nb: 1\n", "{a: \tx\n, b: 1}"},
        {"a: |# x\n  y\n", NULL},
        {"a: [\n\tb]\n", NULL},
        {"a: [\n  b,\tc]\n", "{a: [b, c]}"},
    };
    struct arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded l = load(a, "x.yaml", str_of(cases[i].text));
        assert_int_equal(l.ok, cases[i].value != NULL);
        assert_int_equal(l.diags.n, !l.ok);
        if (l.ok)
            assert_str(value_text(a, node_value(a, l.docs.items[0], SCALAR_CORE)), cases[i].value);
    }
    struct loaded l = load(a, "x.yaml", STR("{\xC3\xA9:, b: 1}"));
    assert_int_equal(node_span(&l.diags, node_get_key(l.docs.items[0], STR("b"))).column, 6);
}

static void documents_are_counted(void **state)
{
    struct loaded l = load(*state, "x.yaml", STR("a: 1\n---\nb: 1\nb: 2\n---\n"));
    assert_true(l.ok);
    assert_int_equal(l.docs.n, 3);
    assert_int_equal(l.diags.items[0].document, 1);
    assert_int_equal(l.docs.items[2]->kind, NODE_SCALAR);
    assert_int_equal(load(*state, "x.yaml", STR("# nothing\n")).docs.n, 0);
}

static void json_strings_are_unescaped(void **state)
{
    struct node *root = first(*state, "{\"a\": \"x\\n\\u00e9\\ud83d\\ude00\\ud800\\/\"}");
    assert_str(node_get(root, STR("a"))->text, "x\n\xC3\xA9\xF0\x9F\x98\x80\xEF\xBF\xBD/");
}

static void scalars_read_as_their_loaders_read_them(void **state)
{
    static const struct {
        const char *text, *yaml11, *automodel, *core;
    } cases[] = {
        {"8", "int 8", "int 8", "int 8"},
        {"-1", "int -1", "int -1", "int -1"},
        {"010", "int 8", "int 8", "int 10"},
        {"08", "string 08", "string 08", "int 8"},
        {"0x1F", "int 31", "int 31", "int 31"},
        {"0o17", "string 0o17", "string 0o17", "int 15"},
        {"1_000", "int 1000", "int 1000", "string 1_000"},
        {"1:30", "int 90", "int 90", "string 1:30"},
        {"1e-5", "string 1e-5", "double 1e-05", "double 1e-05"},
        {"1.0e-5", "double 1e-05", "double 1e-05", "double 1e-05"},
        {"1.0e5", "string 1.0e5", "double 100000", "double 100000"},
        {"1.5", "double 1.5", "double 1.5", "double 1.5"},
        {"-.5", "string -.5", "double -0.5", "double -0.5"},
        {".inf", "double inf", "double inf", "double inf"},
        {"99999999999999999999", "double 1e+20", "double 1e+20", "double 1e+20"},
        {"yes", "bool true", "bool true", "string yes"},
        {"Off", "bool false", "bool false", "string Off"},
        {"true", "bool true", "bool true", "bool true"},
        {"~", "null null", "null null", "null null"},
        {"null", "null null", "null null", "null null"},
        {"none", "string none", "null null", "string none"},
        {"'8'", "string 8", "int 8", "string 8"},
        {"'null'", "string null", "string null", "string null"},
        {"'True'", "string True", "bool true", "string True"},
        {"'[1, 2]'", "string [1, 2]", "list [1, 2]", "string [1, 2]"},
        {"\"(1, 'a')\"", "string (1, 'a')", "list [1, a]", "string (1, 'a')"},
        {"\"{'a': None}\"", "string {'a': None}", "map {a: null}", "string {'a': None}"},
        {"'[1, 2'", "string [1, 2", "string [1, 2", "string [1, 2"},
        {"!!str 8", "string 8", "int 8", "string 8"},
        {"alltoall", "string alltoall", "string alltoall", "string alltoall"},
        {"[1, {a: yes}]", "list [1, {a: true}]", "list [1, {a: true}]", "list [1, {a: yes}]"},
    };
    struct arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum scalar_profile profiles[] = {SCALAR_YAML11, SCALAR_AUTOMODEL, SCALAR_CORE};
        const char *wanted[] = {cases[i].yaml11, cases[i].automodel, cases[i].core};
        struct node *node =
            node_get(first(a, arena_printf(a, "k: %s\n", cases[i].text).p), STR("k"));
        for (size_t p = 0; p < 3; p++) {
            struct value v = node_value(a, node, profiles[p]);
            struct str text =
                arena_printf(a, "%s %.*s", value_kind_name(v.kind), STR_ARG(value_text(a, v)));
            assert_string_equal(text.p, wanted[p]);
        }
    }
}

/* The JSON parsing test suite: y_ must be read, n_ must be refused, i_ either. */
static void json_test_suite_passes(void **state)
{
    struct arena *a = *state;
    const char *folder = SOURCE_DIR "/../shared/corpus/bad/json/test_parsing";
    static const char *const suffixes[] = {".json", NULL};
    struct path_list files = {0};
    struct str error;
    if (!dir_list(a, folder, suffixes, &files, &error)) skip();
    size_t seen = 0;
    for (size_t i = 0; i < files.n; i++) {
        struct str path = files.items[i], text;
        assert_true(io_read(a, path.p, &text, &error));
        struct diags diags;
        diags_init(&diags, a);
        bool ok = doc_load_json(a, &diags, source_add(&diags.sources, path, text)) != NULL;
        char kind = path.p[strlen(folder) + 1];
        if (kind != 'i' && ok != (kind == 'y')) fail_msg("%s", path.p);
        assert_int_equal(diags_count(&diags, SEVERITY_ERROR), !ok);
        seen += kind != 'i';
    }
    assert_true(seen > 250);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(yaml_nodes_know_their_places),
    cmocka_unit_test(byte_order_mark_is_skipped),
    cmocka_unit_test(duplicates_are_reported_and_the_last_wins),
    cmocka_unit_test(merge_keys_give_way_to_nearer_ones),
    cmocka_unit_test(places_count_the_comments_before_them),
    cmocka_unit_test(hostile_yaml_is_refused),
    cmocka_unit_test(documents_share_their_limits),
    cmocka_unit_test(a_document_may_run_out_of_memory),
    cmocka_unit_test(broken_text_is_an_error_with_a_place),
    cmocka_unit_test(yaml_is_what_pyyaml_takes),
    cmocka_unit_test(documents_are_counted),
    cmocka_unit_test(json_strings_are_unescaped),
    cmocka_unit_test(scalars_read_as_their_loaders_read_them),
    cmocka_unit_test(json_test_suite_passes),
};
UNIT_MAIN(tests)
