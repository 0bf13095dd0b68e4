/* SPDX-License-Identifier: Apache-2.0 */
/* The emitters with names and values that somebody else wrote: the first byte picks the output, the
   rest is the text. Whatever it is, it adds no line, and a value reads back as it was. */
#include <ctype.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "command.h"
#include "facts/recipe.h"
#include "facts/shell_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A command over a plan (or a model, where there is no framework) that holds the text; `param` is
   the value that must come back. */
static const struct output {
    const char *line, *framework, *param, *as;
} outputs[] = {
    {"convert @file --to megatron", "megatron", "tokenizer_model", "megatron"},
    {"convert @file --to bridge", "bridge", "tokenizer_model", "bridge"},
    {"convert @file --to automodel", "automodel", "checkpoint_dir", "automodel"},
    {"convert @file --to plan", "megatron", "tokenizer_model", "plan"},
    {"convert @file --to bridge", "megatron", "tokenizer_model", "bridge"},
    {"convert @file --to automodel", "megatron", NULL, NULL},
    {"suggest @file --framework megatron --format script", NULL, NULL, NULL},
    {"suggest @file --framework megatron --format flags", NULL, NULL, NULL},
    {"suggest @file --framework bridge --format bridge", NULL, NULL, NULL},
    {"suggest @file --framework automodel --format yaml", NULL, NULL, NULL},
    {"suggest @file --framework megatron --format plan", NULL, NULL, NULL},
};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

/* The file that the command is given, with the text wherever a name or a value can stand. */
static struct str input_text(struct arena *a, const struct output *o, struct str text)
{
    struct buf word = buf_new(a);
    json_add_string(&word, text);
    struct str json = buf_str(&word);
    struct str names = arena_printf(a, "\"base\":\"qwen3-30b-a3b\",\"name\":%.*s,\"hf_id\":%.*s",
                                    STR_ARG(json), STR_ARG(json));
    if (!o->framework)
        return arena_printf(a, "{\"moeplan\":1,\"kind\":\"Model\",%.*s}", STR_ARG(names));
    return arena_printf(a,
                        "{\"moeplan\":1,\"framework\":\"%s\",\"platform\":\"h100\",\"gpus\":8,"
                        "\"ep\":8,\"mbs\":1,\"gbs\":64,\"seq\":4096,\"model\":{%.*s},\"%s\":%.*s}",
                        o->framework, STR_ARG(names), o->param ? o->param : "tokenizer_model",
                        STR_ARG(json));
}

static struct str print_with(struct arena *a, const struct output *o, struct str text)
{
    char line[512];
    const char *all = " --gpus 8 --platform h100 --pin tp=1,pp=1,ep=8,mbs=1,cp=1 --gbs 64";
    snprintf(line, sizeof line, "%s%s", o->line, o->framework ? "" : all);
    command_write("file", input_text(a, o, text));
    command_run(line);
    return command_output(a);
}

static size_t lines_of(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

/* AutoModel's loader puts variables in place of a $ and reads what looks like a Python literal, in
   quotes or not; a text of some length that begins with a letter and has no quotes is none. */
static bool stays_text_in_automodel(struct str s)
{
    return s.n > 5 && isalpha((unsigned char)s.p[0]) && str_find(s, '$') == s.n &&
           str_find(s, '"') == s.n && str_find(s, '\'') == s.n;
}

/* Text that the format can hold as it is: not empty, no NUL, UTF-8, and not the three bytes that
   the shell's reader keeps for itself. */
static bool is_text(const struct output *o, struct str s)
{
    bool ascii;
    if (strstr(o->line, "automodel") && !stays_text_in_automodel(s)) return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= SHELL_FOLDER && s.p[i] >= 0) return false;
    return s.n > 0 && utf8_check(s, &ascii) == s.n;
}

static void check_back(struct arena *a, const struct output *o, struct str printed_text,
                       struct str text)
{
    struct diags diags;
    struct read_options options = {0};
    diags_init(&diags, a);
    uint32_t source = source_add(&diags.sources, STR("out"), printed_text);
    struct recipe recipe = recipe_read(a, &diags, source, str_of(o->as), &options);
    if (recipe.status != RECIPE_READ || recipe.readings.n != 1) abort();
    struct value back =
        facts_get(recipe.readings.items[0].facts, param_find(str_of(o->param)))->value;
    if (back.kind != VALUE_STRING || !str_eq(back.s, text)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    struct arena *a = arena_new(0);
    if (!a) return 0;
    static size_t plain[OUTPUTS]; /* lines with a harmless text; 0: not printed yet */
    int number = data[0] % OUTPUTS;
    const struct output *o = &outputs[number];
    struct str text = {(const char *)data + 1, size - 1};
    if (!plain[number]) plain[number] = lines_of(print_with(a, o, STR("plain")));
    struct str hostile = print_with(a, o, text);
    if (!plain[number]) abort();
    if (text.n && lines_of(hostile) > plain[number]) abort();
    if (hostile.n && o->as && is_text(o, text)) check_back(a, o, hostile, text);
    arena_free(a);
    return 0;
}
