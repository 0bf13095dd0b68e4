/* SPDX-License-Identifier: Apache-2.0 */
/* Names that somebody else wrote, in all that is emitted: whatever stands in them, the text has the
   same lines, keys and values as with a harmless name, the name comes back, and a script run by
   bash starts what it starts and nothing else. */
#include "unit/unit.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/utf8.h"
#include "cmd/suggest_show.h"
#include "doc/node.h"
#include "emit/emit.h"
#include "emit/tree.h"

#define HARMLESS "harmless-name"
enum { LONG = 65536 };

struct output {
    const char *format;
    enum framework framework;
    bool is_yaml;
};
static const struct output outputs[] = {
    {"flags", FRAMEWORK_MEGATRON, false}, {"script", FRAMEWORK_MEGATRON, false},
    {"plan", FRAMEWORK_MEGATRON, true},   {"bridge", FRAMEWORK_BRIDGE, false},
    {"plan", FRAMEWORK_BRIDGE, true},     {"yaml", FRAMEWORK_AUTOMODEL, true},
    {"plan", FRAMEWORK_AUTOMODEL, true}};

/* Every one of them would write the file MARK, were it run. */
static const char *const commands[] = {
    "$(: > MARK)",        "`: > MARK`",        "';: > MARK;'",   "\";: > MARK;\"",
    "\\\";: > MARK;\\\"", "\n: > MARK\n",      "\r\n: > MARK\r", "a\n: > MARK\n#",
    "a; : > MARK",        "a & : > MARK &",    "a | : > MARK",   "a > MARK",
    "${X:=$(: > MARK)}",  "$'\\n: > MARK\\n'", "\\\n: > MARK",
};
/* An empty name is no name, and not among them. */
static const char *const words[] = {
    " ",
    "a ",
    " a",
    "- a",
    "? a",
    ": a",
    "a: b",
    "a:",
    "a #b",
    "#a",
    "{a: b}",
    "[a, b]",
    "*a",
    "&a",
    "!a",
    "!!str",
    "|",
    ">",
    "%a",
    "@a",
    "<<",
    "=",
    "null",
    "~",
    "true",
    "yes",
    "no",
    "on",
    "y",
    "1e3",
    "0x10",
    "012",
    "1:20",
    "1_000",
    ".inf",
    "2001-01-01",
    "---",
    "...",
    "-",
    "\\",
    "\\n",
    "'",
    "\"",
    "''",
    "%s%n",
    "${a}",
    "!!python/name:os.system",
    "a\n---\nb: c",
    "a\n  b: c",
    ("\xEF\xBB\xBF"
     "a"),
    "\xF0\x9F\x98\x80",
};
static const char *const broken[] = {("a\xFF"
                                      "b"),
                                     "\xC0\xAF", "\xED\xA0\x80", "\xE2\x82",
                                     "\xF8\x88\x80\x80\x80"};

/* ---- the harmless model and its namesake ---- */

static const struct model_input *read_model(struct arena *a)
{
    static const char text[] =
        "{\"name\": \"" HARMLESS "\", \"hf_id\": \"" HARMLESS "\", \"num_layers\": 4,"
        "\"hidden_size\": 1024, \"num_attention_heads\": 16, \"num_query_groups\": 4,"
        "\"kv_channels\": 64, \"ffn_hidden_size\": 2048, \"gated_linear_unit\": true,"
        "\"normalization\": \"RMSNorm\", \"vocab_size\": 32000,"
        "\"untie_embeddings_and_output_weights\": true}";
    struct diags diags;
    diags_init(&diags, a);
    uint32_t source = source_add(&diags.sources, STR("model.json"), str_of(text));
    const struct model_input *m = model_read(a, &diags, doc_load_json(a, &diags, source));
    assert_non_null(m);
    return m;
}

static const struct model_input *renamed(struct arena *a, const struct model_input *from,
                                         struct str name)
{
    struct model_input *m = ARENA_NEW(a, struct model_input);
    *m = *from;
    m->name = m->hf_id = name;
    m->root = NULL; /* the name stands in no text */
    m->fields.items = ARENA_ARRAY(a, struct model_field, m->fields.n);
    for (size_t i = 0; i < m->fields.n; i++) {
        struct model_field x = from->fields.items[i];
        if (x.value.kind == VALUE_STRING && str_is(x.value.s, HARMLESS))
            x.value = value_string(name);
        x.node = NULL;
        m->fields.items[i] = x;
    }
    return m;
}

/* ---- what is emitted ---- */

struct bench {
    struct arena *keep, *a, *scratch;
    struct platform_cache platforms;
    const struct model_input *model;
};

static void ask_of(struct bench *b, const struct model_input *model, enum framework framework,
                   struct ask *ask, struct answers *answers)
{
    struct diags diags;
    diags_init(&diags, b->a);
    *ask = (struct ask){.gpus = 8,
                        .gbs = 64,
                        .top = 1,
                        .model = model,
                        .goal = STR("throughput"),
                        .task = framework == FRAMEWORK_AUTOMODEL ? STR("sft") : STR("pretrain"),
                        .precision = STR("bf16")};
    ask->platform = platform_load(&b->platforms, &diags, STR("h100"), (struct span){0});
    ask->in[framework] = true;
    assert_true(suggest(b->a, b->scratch, &diags, rules_builtin(), ask, answers));
    assert_true(answers->any);
}

static struct str emitted(struct bench *b, const struct model_input *model,
                          const struct output *output)
{
    struct ask ask;
    struct answers answers;
    struct str *comments;
    struct buf text = buf_new(b->a);
    ask_of(b, model, output->framework, &ask, &answers);
    struct emit_input in = {.rules = rules_builtin(), .facts = answers.items[0].plans[0].facts};
    in.n_comments =
        suggest_comments(b->a, &ask, &answers.notes, &answers.items[0].plans[0], &comments);
    in.comments = comments;
    const struct emitter *emitter = emitter_find(str_of(output->format));
    if (emitter)
        emitter->write(&in, &text);
    else
        emit_plan(&in, &text);
    return buf_str(&text);
}

static struct str json_of(struct bench *b, const struct model_input *model)
{
    struct ask ask;
    struct answers answers;
    struct tree t;
    struct buf text = buf_new(b->a);
    ask_of(b, model, FRAMEWORK_MEGATRON, &ask, &answers);
    tree_open(&t, b->a);
    suggest_json(&t, rules_builtin(), &ask, &answers, 0);
    tree_print(&t, &text);
    return buf_str(&text);
}

/* ---- comparing ---- */

/* What a language that is Unicode makes of a name: broken bytes become U+FFFD. */
static bool is_unicode(struct str s)
{
    for (size_t at = 0; at < s.n;) {
        uint32_t point;
        size_t n = utf8_next(s, at, &point);
        if (n == 1 && (unsigned char)s.p[at] >= 0x80) return false;
        at += n;
    }
    return true;
}

static void check_value(struct str was, struct str is, struct str name)
{
    if (!str_is(was, HARMLESS))
        assert_true(str_eq(was, is));
    else if (is_unicode(name))
        assert_true(str_eq(is, name));
}

/* Comments aside, line for line the same; and as many comments. */
static void check_lines(struct str was, struct str is)
{
    struct str x, y;
    assert_int_equal(str_find(is, '\r'), is.n);
    while (str_split(&was, '\n', &x)) {
        assert_true(str_split(&is, '\n', &y));
        if (str_starts(x, STR("#")))
            assert_true(str_starts(y, STR("#")));
        else
            assert_true(str_eq(x, y));
    }
    assert_int_equal(is.n, 0);
}

/* A name that AutoModel would replace from the environment is not written, and a comment says so:
   the lines are the same but for those that hold it. */
static void check_withheld(struct str was, struct str is)
{
    struct str x, y, name = STR(HARMLESS);
    while (str_split(&is, '\n', &y)) {
        if (str_starts(y, STR("#")) || !y.n) continue;
        do
            assert_true(str_split(&was, '\n', &x));
        while (str_starts(x, STR("#")) || str_find_str(x, name) < x.n);
        assert_true(str_eq(x, y));
    }
}

static void open_yaml(yaml_parser_t *p, struct str text)
{
    assert_true(yaml_parser_initialize(p));
    yaml_parser_set_input_string(p, (const unsigned char *)text.p, text.n);
}

static void check_yaml(struct str was, struct str is, struct str name)
{
    yaml_parser_t p, q;
    open_yaml(&p, was);
    open_yaml(&q, is);
    for (bool more = true; more;) {
        yaml_event_t x, y;
        assert_true(yaml_parser_parse(&p, &x) && yaml_parser_parse(&q, &y));
        assert_int_equal(x.type, y.type);
        if (x.type == YAML_SCALAR_EVENT)
            check_value((struct str){(char *)x.data.scalar.value, x.data.scalar.length},
                        (struct str){(char *)y.data.scalar.value, y.data.scalar.length}, name);
        more = x.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&x);
        yaml_event_delete(&y);
    }
    yaml_parser_delete(&p);
    yaml_parser_delete(&q);
}

static void check_json(const cJSON *was, const cJSON *is, struct str name)
{
    for (; was; was = was->next, is = is->next) {
        assert_non_null(is);
        assert_int_equal(was->type & 0xFF, is->type & 0xFF);
        if (was->string) assert_string_equal(was->string, is->string);
        if (cJSON_IsString(was) && !memchr(name.p, 0, name.n)) /* which ends cJSON's strings */
            check_value(str_of(was->valuestring), str_of(is->valuestring), name);
        check_json(was->child, is->child, name);
    }
    assert_null(is);
}

/* ---- running ---- */

static void write_file(const char *path, struct str text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text.p, 1, text.n, file), text.n);
    assert_int_equal(fclose(file), 0);
}

/* The words that torchrun is given, with the script as a file of that name in an empty folder. */
static void check_run(struct str script, struct str words_wanted)
{
    static const char stub[] = "#!/bin/sh\nprintf '%s\\n' \"$@\"\n";
    char folder[] = "/tmp/hostile-XXXXXX", text[65536];
    assert_non_null(mkdtemp(folder));
    char command[256], path[64];
    snprintf(path, sizeof path, "%s/torchrun", folder);
    write_file(path, str_of(stub));
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(path, sizeof path, "%s/run.sh", folder);
    write_file(path, script);
    snprintf(command, sizeof command, "cd %s && PATH=%s:$PATH bash run.sh 2>/dev/null", folder,
             folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(text, 1, sizeof text, pipe);
    assert_int_equal(pclose(pipe), 0);
    assert_true(str_eq((struct str){text, n}, words_wanted));
    snprintf(command, sizeof command, "cd %s && [ \"$(ls)\" = \"$(printf 'run.sh\\ntorchrun')\" ]",
             folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* What a script gives torchrun: its last command's words, a line each, as the flags have them. */
static struct str words_of(struct arena *a, struct str script)
{
    struct buf out = buf_new(a);
    struct str line;
    bool begun = false;
    while (str_split(&script, '\n', &line)) {
        if (str_starts(line, STR("torchrun "))) begun = true;
        if (!begun) continue;
        struct str word, rest = str_trim(line);
        while (str_split(&rest, ' ', &word)) {
            if (str_is(word, "torchrun") || str_is(word, "\\") || !word.n) continue;
            if (str_is(word, "\"${DATA[@]}\""))
                word = STR("--mock-data\n--tokenizer-type\nNullTokenizer");
            if (str_starts(word, STR("\"${MASTER"))) word = STR("localhost:29500");
            buf_printf(&out, "%.*s\n", STR_ARG(word));
        }
    }
    return buf_str(&out);
}

/* ---- the tests ---- */

static void try_name(struct bench *b, struct str name, bool run)
{
    struct arena_mark mark = arena_mark(b->a);
    const struct model_input *hostile = renamed(b->a, b->model, name),
                             *harmless = renamed(b->a, b->model, STR(HARMLESS));
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        struct str was = emitted(b, harmless, &outputs[i]), is = emitted(b, hostile, &outputs[i]);
        if (outputs[i].is_yaml && str_find_str(is, STR("\n# not written: ")) < is.n)
            check_withheld(was, is);
        else if (outputs[i].is_yaml)
            check_yaml(was, is, name);
        else
            check_lines(was, is);
        if (run && strcmp(outputs[i].format, "script") == 0) check_run(is, words_of(b->a, was));
    }
    struct str x = json_of(b, harmless), y = json_of(b, hostile);
    cJSON *was = cJSON_ParseWithLength(x.p, x.n), *is = cJSON_ParseWithLength(y.p, y.n);
    assert_true(was && is);
    check_json(was, is, name);
    cJSON_Delete(was);
    cJSON_Delete(is);
    arena_pop(b->a, mark);
    arena_reset(b->scratch);
}

static int open_bench(void **state)
{
    struct arena *keep = arena_new(0);
    struct bench *b = ARENA_NEW(keep, struct bench);
    *b = (struct bench){.keep = keep, .a = arena_new(0), .scratch = arena_new(0)};
    b->platforms.arena = keep;
    b->model = read_model(keep);
    *state = b;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *b = *state;
    arena_free(b->scratch);
    arena_free(b->a);
    arena_free(b->keep);
    return 0;
}

static void commands_are_not_run(void **state)
{
    bool bash = system("bash -c : 2>/dev/null") == 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        try_name(*state, str_of(commands[i]), bash);
}

static void words_of_yaml_are_names(void **state)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        try_name(*state, str_of(words[i]), false);
}

/* One control character or mark between two letters. */
static void try_point(struct bench *b, uint32_t point, bool run)
{
    struct buf name = buf_new(b->keep);
    buf_add(&name, STR("a"));
    char bytes[4];
    buf_add(&name, (struct str){bytes, utf8_encode(point, bytes)});
    buf_add(&name, STR(": > MARK"));
    try_name(b, buf_str(&name), run);
}

static void control_characters_and_marks_are_escaped(void **state)
{
    static const uint32_t marks[] = {0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B,
                                     0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069,
                                     0xFEFF, 0xFFF9, 0xFFFE, 0xFFFF, 0xE0001};
    for (uint32_t point = 0; point < 0x20; point++)
        try_point(*state, point, point == '\n' || point == '\r');
    for (uint32_t point = 0x7F; point < 0xA0; point++)
        try_point(*state, point, false);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        try_point(*state, marks[i], false);
}

static void bytes_that_are_no_text_stay_harmless(void **state)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        try_name(*state, str_of(broken[i]), true);
}

static void long_names_stay_whole(void **state)
{
    struct bench *b = *state;
    struct buf name = buf_new(b->keep);
    while (name.n < LONG)
        buf_add(&name, STR("'\"$(: > MARK)\n: \xE2\x80\xAE"));
    try_name(b, buf_str(&name), true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_not_run),
        cmocka_unit_test(words_of_yaml_are_names),
        cmocka_unit_test(control_characters_and_marks_are_escaped),
        cmocka_unit_test(bytes_that_are_no_text_stay_harmless),
        cmocka_unit_test(long_names_stay_whole),
    };
    return cmocka_run_group_tests(tests, open_bench, close_bench);
}
