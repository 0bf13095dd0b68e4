/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/io.h"
#include "base/path.h"
#include "base/reach.h"

/* A folder of files for one test, the current one while it runs. */
struct place {
    char path[64], before[1024];
};

static void enter(struct place *p)
{
    strcpy(p->path, "/tmp/moeplan-test-XXXXXX");
    assert_non_null(mkdtemp(p->path));
    assert_non_null(getcwd(p->before, sizeof p->before));
    assert_int_equal(chdir(p->path), 0);
    assert_int_equal(mkdir("repo", 0755), 0);
    assert_int_equal(mkdir("repo/in", 0755), 0);
    assert_int_equal(mkdir("repo/.git", 0755), 0);
    assert_int_equal(mkdir("repo/.hidden", 0755), 0);
    assert_int_equal(mkdir("out", 0755), 0);
}

static void leave(const struct place *p)
{
    char command[128];
    assert_int_equal(chdir(p->before), 0);
    snprintf(command, sizeof command, "rm -r '%s'", p->path);
    assert_int_equal(system(command), 0);
}

static void put(struct arena *a, const char *path)
{
    struct str error;
    assert_true(io_write(a, path, STR("x: 1\n"), &error));
}

static void paths_are_taken_apart_and_joined(void **state)
{
    struct arena *a = *state;
    static const struct {
        const char *folder, *name, *joined;
    } joins[] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"}, {"a", "/b", "/b"}};
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
        assert_string_equal(path_join(a, str_of(joins[i].folder), str_of(joins[i].name)).p,
                            joins[i].joined);
    static const char *const plain[][2] = {
        {"/a/./b//c/", "/a/b/c"},  {"/a/../b", "/b"}, {"/../..", "/"},
        {"/a/b/../../../c", "/c"}, {"/", "/"},        {"/a/..b", "/a/..b"}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_string_equal(path_plain(a, str_of(plain[i][0])).p, plain[i][1]);
    assert_str(path_folder(STR("a/b/c")), "a/b/");
    assert_str(path_folder(STR("/c")), "/");
    assert_str(path_folder(STR("c")), "");
    assert_true(path_is_below(STR("/a/b"), STR("/a")));
    assert_true(path_is_below(STR("/a"), STR("/a")));
    assert_true(path_is_below(STR("/a"), STR("/")));
    assert_false(path_is_below(STR("/ab"), STR("/a")));
    assert_false(path_is_below(STR("/"), STR("/a")));
    assert_false(path_is_below(STR("/a"), STR("")));
}

static void a_way_leads_from_one_folder_to_another(void **state)
{
    struct arena *a = *state;
    static const struct {
        const char *from, *to, *way;
    } cases[] = {{"/a/b", "/a/c", "../c"},
                 {"/a", "/a/b/c", "b/c"},
                 {"/a/bc", "/a/b", "../b"},
                 {"/", "/a", "a"},
                 {"/a/b/c", "/d", "../../../d"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(path_between(a, str_of(cases[i].from), str_of(cases[i].to)).p,
                            cases[i].way);
    struct place p;
    enter(&p);
    put(a, "out/f");
    assert_str(path_seen_from(a, STR("repo/in"), STR("out/f")), "../../out/f");
    assert_str(path_seen_from(a, STR(""), STR("out/f")), "out/f");
    assert_str(path_seen_from(a, STR("repo"), STR("/f")), "/f");
    assert_str(path_seen_from(a, STR("absent"), STR("out/f")), "out/f");
    leave(&p);
}

static enum reach_verdict look(struct arena *a, const char *text, const char *name,
                               struct str *path)
{
    struct str real;
    struct reach reach = reach_of_file(a, str_of(text));
    enum reach_verdict verdict = reach_find(a, &reach, str_of(name), path, &real);
    if (verdict == REACH_FOUND) assert_true(path_is_below(real, reach.root));
    return verdict;
}

static void a_text_names_files_of_its_repository(void **state)
{
    static const struct {
        const char *text, *name;
        enum reach_verdict verdict;
        const char *path;
    } cases[] = {
        {"repo/in/plan", "plan", REACH_FOUND, "repo/in/plan"},
        {"repo/in/plan", "../top", REACH_FOUND, "repo/top"},
        {"repo/in/plan", "top", REACH_FOUND, "repo/top"}, /* from the root on */
        {"repo/in/plan", "in/plan", REACH_FOUND, "repo/in/plan"},
        {"repo/in/plan", "absent", REACH_NOTHING, ""},
        {"repo/in/plan", "../absent/f", REACH_NOTHING, ""},
        {"repo/in/plan", "../../out/f", REACH_OUTSIDE, ""},
        {"repo/in/plan", "../../out/absent", REACH_OUTSIDE, ""},
        {"repo/in/plan", "/etc/passwd", REACH_OUTSIDE, ""},
        {"repo/in/plan", "away", REACH_OUTSIDE, ""}, /* a link */
        {"repo/in/plan", "/dev/stdin", REACH_OUTSIDE, ""},
        {"repo/in/plan", "", REACH_FOUND, "repo/in/"},
        {"out/f", "f", REACH_FOUND, "out/f"},
        {"out/f", "../repo/top", REACH_OUTSIDE, ""}, /* no repository: its own folder */
        {"a label", "out/f", REACH_FOUND, "out/f"},
        {"absent/plan", "repo/top", REACH_FOUND, "repo/top"}, /* from the current folder on */
        {"-", "repo/top", REACH_FOUND, "repo/top"},
        {"repo/pipe", "repo/top", REACH_FOUND, "repo/top"},
    };
    struct arena *a = *state;
    struct place p;
    struct str path;
    enter(&p);
    put(a, "repo/in/plan");
    put(a, "repo/top");
    put(a, "out/f");
    assert_int_equal(symlink("../../out/f", "repo/in/away"), 0);
    assert_int_equal(mkfifo("repo/pipe", 0644), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(look(a, cases[i].text, cases[i].name, &path), cases[i].verdict);
        if (cases[i].verdict == REACH_FOUND) assert_string_equal(path.p, cases[i].path);
    }
    /* the settings of a project mark its root, too, and the nearest mark counts */
    put(a, "repo/in/.moeplan.yaml");
    assert_int_equal(look(a, "repo/in/plan", "../top", &path), REACH_OUTSIDE);
    put(a, ".moeplan.yaml");
    assert_int_equal(look(a, "out/f", "../repo/top", &path), REACH_FOUND);
    leave(&p);
}

static void the_system_is_out_of_reach(void **state)
{
    struct reach all = {.root = STR("/")};
    assert_true(reach_covers(&all, STR("/etc/x")));
    assert_true(reach_covers(&all, STR("/process/x")));
    assert_false(reach_covers(&all, STR("/proc/self/environ")));
    assert_false(reach_covers(&all, STR("/dev/null")));
    assert_false(reach_covers(&all, STR("/sys")));
    assert_true(reach_is_system(*state, STR("/dev/stdin"))); /* whatever that is */
    assert_true(reach_is_system(*state, STR("/etc/../dev/null")));
    assert_false(reach_is_system(*state, STR("/etc/passwd")));
    assert_false(reach_is_system(*state, STR("dev/null")));
}

static void only_regular_files_are_read(void **state)
{
    struct arena *a = *state;
    struct place p;
    struct str text, error;
    enter(&p);
    put(a, "out/f");
    assert_int_equal(mkfifo("out/pipe", 0644), 0);
    assert_int_equal(symlink("pipe", "out/link"), 0);
    assert_true(io_read_regular(a, "out/f", 0, &text, &error));
    assert_str(text, "x: 1\n");
    assert_false(io_read_regular(a, "out/pipe", 0, &text, &error));
    assert_str(error, "is no regular file");
    assert_false(io_read_regular(a, "out/link", 0, &text, &error));
    assert_false(io_read_regular(a, "/dev/zero", 0, &text, &error));
    assert_str(error, "is no regular file");
    assert_false(io_read_regular(a, "out", 0, &text, &error));
    assert_str(error, "is a directory");
    assert_false(io_read_regular(a, "-", 0, &text, &error));
    assert_str(error, "No such file or directory");
    FILE *large = fopen("out/large", "w");
    assert_non_null(large);
    assert_int_equal(fseek(large, 1 << 20, SEEK_SET), 0);
    assert_int_equal(fputc('x', large), 'x');
    fclose(large);
    assert_false(io_read_regular(a, "out/large", 1 << 20, &text, &error));
    assert_str(error, "is larger than 1 MiB");
    assert_true(io_read_regular(a, "out/large", 2 << 20, &text, &error));
    leave(&p);
}

static bool is_left_out(const struct path_list *list, const char *path, const char *why)
{
    for (size_t i = 0; i < list->unread.n; i++)
        if (str_is(list->unread.items[i].path, path))
            return str_find_str(list->unread.items[i].why, str_of(why)) <
                   list->unread.items[i].why.n;
    return false;
}

static void a_folder_says_what_is_left_out(void **state)
{
    static const char *const suffixes[] = {".yaml", NULL};
    static const char *const links[][2] = {
        {"nowhere", "repo/dangling.yaml"},   {"nowhere", "repo/dangling.png"},
        {"../out/f.yaml", "repo/away.yaml"}, {"in/a.yaml", "repo/here.yaml"},
        {"in", "repo/folder.yaml"},          {"loop.yaml", "repo/loop.yaml"}};
    struct arena *a = *state;
    struct place p;
    struct path_list list = {0};
    struct str error;
    enter(&p);
    put(a, "out/f.yaml");
    put(a, "repo/in/a.yaml");
    put(a, "repo/.hidden/b.yaml");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        assert_int_equal(symlink(links[i][0], links[i][1]), 0);
    assert_int_equal(mkfifo("repo/pipe.yaml", 0644), 0);
    assert_true(dir_list(a, "repo", suffixes, &list, &error));
    assert_int_equal(list.n, 2);
    assert_str(list.items[0], "repo/here.yaml");
    assert_str(list.items[1], "repo/in/a.yaml");
    assert_int_equal(list.unread.n, 4);
    assert_true(is_left_out(&list, "repo/away.yaml", "leads out of"));
    assert_true(is_left_out(&list, "repo/dangling.yaml", "leads nowhere"));
    assert_true(is_left_out(&list, "repo/loop.yaml", "leads nowhere"));
    assert_true(is_left_out(&list, "repo/pipe.yaml", "no regular file"));
    for (size_t i = 1; i < list.unread.n; i++)
        assert_true(str_cmp(list.unread.items[i - 1].path, list.unread.items[i].path) < 0);
    leave(&p);
}

static void folders_that_lie_too_deep_are_named(void **state)
{
    static const char *const suffixes[] = {".yaml", NULL};
    struct arena *a = *state;
    struct place p;
    struct path_list list = {0};
    struct str error;
    enter(&p);
    struct str deep = STR("repo/in");
    for (int i = 0; i < 64; i++) {
        deep = path_join(a, deep, STR("d"));
        assert_int_equal(mkdir(deep.p, 0755), 0);
    }
    put(a, path_join(a, deep, STR("a.yaml")).p);
    assert_true(dir_list(a, "repo/in", suffixes, &list, &error));
    assert_int_equal(list.n, 1);
    assert_int_equal(list.unread.n, 0);
    list = (struct path_list){0};
    assert_true(dir_list(a, "repo", suffixes, &list, &error));
    assert_int_equal(list.n, 0);
    assert_int_equal(list.unread.n, 1);
    assert_true(list.unread.items[0].folder);
    assert_true(is_left_out(&list, deep.p, "64 folders deep"));
    leave(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(paths_are_taken_apart_and_joined),
    cmocka_unit_test(a_way_leads_from_one_folder_to_another),
    cmocka_unit_test(a_text_names_files_of_its_repository),
    cmocka_unit_test(the_system_is_out_of_reach),
    cmocka_unit_test(only_regular_files_are_read),
    cmocka_unit_test(a_folder_says_what_is_left_out),
    cmocka_unit_test(folders_that_lie_too_deep_are_named),
};
UNIT_MAIN(tests)
