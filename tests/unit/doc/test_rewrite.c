/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "doc/rewrite.h"

static const char TEXT[] = "# head\n"
                           "a:\n"
                           "  b: 1  # one\n"
                           "  c: \"x\"\n"
                           "\n"
                           "d: {x: 1, y: 2}\n"
                           "e: &base\n"
                           "  f: 1\n"
                           "g: *base\n"
                           "h:\n"
                           "  i: 1";

struct change {
    struct diags all;
    const struct node *root;
    struct text_edits edits;
};

static struct change *open_text(struct arena *a)
{
    struct change *c = ARENA_NEW(a, struct change);
    struct node_list docs = {0};
    *c = (struct change){0};
    diags_init(&c->all, a);
    uint32_t source = source_add(&c->all.sources, STR("f.yaml"), str_of(TEXT));
    assert_true(doc_load_yaml(a, &c->all, source, &docs));
    c->root = docs.items[0];
    return c;
}

/* What one edit makes of the text; what stands around it is as it was. */
static void assert_edit(const struct change *c, const char *gone, const char *come)
{
    assert_int_equal(c->edits.n, 1);
    const struct text_edit *e = &c->edits.items[0];
    assert_str(str_slice(str_of(TEXT), e->from, e->to), gone);
    assert_str(e->text, come);
}

static bool remove_at(struct change *c, const char *path)
{
    const struct node *map;
    size_t entry;
    const struct node *node = node_at(c->root, str_of(path));
    return rewrite_find_entry(c->root, node, &map, &entry) &&
           rewrite_remove(&c->all, map, entry, &c->edits);
}

static bool set_at(struct change *c, const char *path)
{
    const struct node *map;
    size_t entry;
    const struct node *node = node_at(c->root, str_of(path));
    return rewrite_find_entry(c->root, node, &map, &entry) &&
           rewrite_value(&c->all, map, entry, STR("NEW"), &c->edits);
}

static void values_are_replaced_alone(void **state)
{
    struct change *c = open_text(*state);
    assert_true(set_at(c, "a.b"));
    assert_edit(c, "1", "NEW");
    c = open_text(*state);
    assert_true(set_at(c, "a.c"));
    assert_edit(c, "\"x\"", "NEW");
    assert_false(set_at(open_text(*state), "a"));
}

static void entries_go_with_their_line(void **state)
{
    struct change *c = open_text(*state);
    assert_true(remove_at(c, "a.b"));
    assert_edit(c, "  b: 1  # one\n", "");
    c = open_text(*state);
    assert_true(remove_at(c, "d.x"));
    assert_edit(c, "x: 1, ", "");
    c = open_text(*state);
    assert_true(remove_at(c, "d.y"));
    assert_edit(c, ", y: 2", "");
    assert_false(remove_at(open_text(*state), "h.i")); /* the last of its map */
}

static void entries_come_behind_the_last_one(void **state)
{
    struct change *c = open_text(*state);
    assert_true(rewrite_add(&c->all, c->root, STR("a.n.m"), STR("7"), &c->edits));
    assert_edit(c, "", "  n:\n    m: 7\n");
    c = open_text(*state);
    assert_true(rewrite_add(&c->all, c->root, STR("d.z"), STR("7"), &c->edits));
    assert_edit(c, "", ", z: 7");
    c = open_text(*state);
    assert_true(rewrite_add(&c->all, c->root, STR("h.j"), STR("7"), &c->edits));
    assert_edit(c, "", "\n  j: 7");
    assert_false(rewrite_add(&c->all, c->root, STR("a.b.c"), STR("7"), &c->edits));
}

static void what_an_alias_stands_for_is_left_alone(void **state)
{
    struct change *c = open_text(*state);
    const struct node *map;
    size_t entry;
    assert_true(rewrite_find_entry(c->root, node_get_key(c->root, STR("g")), &map, &entry));
    assert_false(rewrite_remove(&c->all, map, entry, &c->edits));
    assert_int_equal(c->edits.n, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_are_replaced_alone),
    cmocka_unit_test(entries_go_with_their_line),
    cmocka_unit_test(entries_come_behind_the_last_one),
    cmocka_unit_test(what_an_alias_stands_for_is_left_alone),
};
UNIT_MAIN(tests)
