/* SPDX-License-Identifier: Apache-2.0 */
/* Where a cursor stands, in YAML and on a command line, in texts that are half written. */
#include "lsp/outline.h"

#include "unit/unit.h"

static struct arena *arena;

static int open_arena(void **state)
{
    (void)state;
    arena = arena_new(0);
    return arena ? 0 : -1;
}

static int close_arena(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

/* At the end of the text. */
static struct outline outline_of(const char *text, bool yaml)
{
    struct str s = str_of(text), rest = s, line;
    struct place at = {-1, 0};
    while (str_split(&rest, '\n', &line))
        at = (struct place){at.line + 1, text_units(line)};
    return outline_at(arena, s, at, yaml);
}

static void expect(struct outline o, const char *path, const char *key, const char *word)
{
    assert_string_equal(str_dup(arena, o.path).p, path);
    assert_string_equal(str_dup(arena, o.key).p, key);
    assert_string_equal(str_dup(arena, o.word).p, word);
}

static void keys_and_values_of_yaml(void **state)
{
    (void)state;
    expect(outline_of("tp", true), "", "", "tp");
    expect(outline_of("a: 1\nb:\n  c: 2\n  d:\n    e", true), "b.d", "", "e");
    expect(outline_of("b:\n  c:\n    x: 1\n  d: al", true), "b", "d", "al");
    expect(outline_of("b:\n  c: 1\n\n# note\nd: ", true), "", "d", "");
}

static void items_of_lists(void **state)
{
    (void)state;
    expect(outline_of("rules:\n  - id: x\n    mess", true), "rules", "", "mess");
    expect(outline_of("rules:\n- id: x\n- id: y\n  mess", true), "rules", "", "mess");
    expect(outline_of("rules:\n  - mess", true), "rules", "", "mess");
    expect(outline_of("a:\n  b:\n    - c:\n        d", true), "a.b.c", "", "d");
}

static void flags_and_overrides(void **state)
{
    (void)state;
    expect(outline_of("run.py \\\n    --num-la", false), "", "", "--num-la");
    expect(outline_of("run.py --moe-token-dispatcher-type ", false), "",
           "--moe-token-dispatcher-type", "");
    expect(outline_of("run.py --bf16 --fp", false), "", "", "--fp");
    expect(outline_of("ARGS=\"--tp", false), "", "", "--tp");
    expect(outline_of("model.tp=2 model.x=al", false), "", "model.x", "al");
}

static void a_place_counts_utf16_units(void **state)
{
    (void)state;
    struct str line = STR("\xf0\x9f\x98\x80\xc3\xa4z");
    assert_int_equal(text_units(line), 4);
    assert_int_equal(text_byte(line, 2), 4);
    assert_int_equal(text_byte(line, 3), 6);
    assert_int_equal(text_byte(line, 99), line.n);
    assert_int_equal(text_line(STR("a\r\nb"), 0).n, 1);
    assert_int_equal(text_line(STR("a"), 7).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_values_of_yaml),
        cmocka_unit_test(items_of_lists),
        cmocka_unit_test(flags_and_overrides),
        cmocka_unit_test(a_place_counts_utf16_units),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
