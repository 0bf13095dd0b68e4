/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/emit.h"

#include "base/num.h"
#include "base/vec.h"
#include "plan/knob.h"

/* The first of a framework is its own form. */
static const struct emitter emitters[] = {
    {"flags", FRAMEWORK_MEGATRON, emit_flags},
    {"script", FRAMEWORK_MEGATRON, emit_script},
    {"bridge", FRAMEWORK_BRIDGE, emit_bridge},
    {"yaml", FRAMEWORK_AUTOMODEL, emit_automodel},
};

const struct emitter *emitter_find(struct str format)
{
    for (size_t i = 0; i < sizeof emitters / sizeof *emitters; i++)
        if (str_is(format, emitters[i].format)) return &emitters[i];
    return NULL;
}

const struct emitter *emitter_of(enum framework framework)
{
    size_t i = 0;
    while (emitters[i].framework != framework)
        i++;
    return &emitters[i];
}

static bool is_default(struct value v, struct value otherwise)
{
    if (otherwise.kind == VALUE_UNKNOWN) return false; /* the recipe decides: say it */
    return value_eq(v, otherwise);
}

/* Sizes that are said even where they are the default: they are what a reader looks for. */
static bool is_headline(const struct facts *f, const struct param *p)
{
    bool dense = facts_get(f, "num_moe_experts")->value.kind == VALUE_NULL;
    if (dense && (str_starts(p->name, STR("expert_")) || str_starts(p->name, STR("moe_"))))
        return false;
    static const char *const names[] = {"strategy",
                                        "tensor_model_parallel_size",
                                        "pipeline_model_parallel_size",
                                        "context_parallel_size",
                                        "expert_model_parallel_size",
                                        "expert_tensor_parallel_size",
                                        "micro_batch_size",
                                        "global_batch_size",
                                        "moe_router_force_load_balancing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(p->name, names[i])) return true;
    return false;
}

/* AutoModel refuses a pipeline without its block, whatever the block says. */
static bool is_pipeline_block(const struct facts *f, const struct param *p)
{
    return facts_int(f, "pipeline_model_parallel_size", 1) > 1 &&
           (str_is(p->name, "pp_schedule") || str_is(p->name, "pp_microbatch_size"));
}

static bool is_said(const struct facts *f, int param)
{
    const struct param *p = &param_table[param];
    const struct param_spelling *in = &p->in[f->framework];
    const struct fact *x = &f->items[param];
    if (!in->known || p->scope == SCOPE_DERIVED || p->scope == SCOPE_PLATFORM) return false;
    if (x->value.kind == VALUE_UNKNOWN || x->value.kind == VALUE_NULL ||
        x->value.kind == VALUE_ERROR)
        return false;
    /* Overrides change a recipe, whose model may be any: the model's own sizes are said even where
       they are Bridge's defaults. */
    bool own =
        f->framework == FRAMEWORK_BRIDGE && p->scope == SCOPE_MODEL && x->origin != ORIGIN_DEFAULT;
    bool left_open = emit_is_open(param) && x->origin == ORIGIN_DEFAULT;
    return (is_headline(f, p) && !left_open) || is_pipeline_block(f, p) || own ||
           !is_default(x->value, in->default_value);
}

enum { RANKS = 3 };

static int rank_of(const struct param *p, const bool *is_knob, int param)
{
    if (is_knob[param]) return 0;
    return p->scope == SCOPE_MODEL ? 1 : 2;
}

size_t emit_params(struct arena *a, const struct facts *f, int **out)
{
    VEC(int) list = {0};
    bool *is_knob = ARENA_ARRAY(a, bool, param_count);
    for (size_t i = 0; i < knob_count; i++) {
        int param = param_find(str_of(knob_table[i].param));
        is_knob[param] = true;
        if (is_said(f, param)) *VEC_PUSH(a, &list) = param;
    }
    for (int rank = 1; rank < RANKS; rank++)
        for (int param = 0; param < (int)param_count; param++)
            if (rank_of(&param_table[param], is_knob, param) == rank && is_said(f, param))
                *VEC_PUSH(a, &list) = param;
    *out = list.items;
    return list.n;
}

struct str emit_scalar(struct arena *a, struct value v)
{
    if (v.kind == VALUE_DOUBLE) {
        struct str text = num_double_text(a, v.d);
        bool whole = str_find(text, '.') == text.n && str_find(text, 'e') == text.n &&
                     str_find(text, 'n') == text.n;
        return whole ? arena_printf(a, "%.*s.0", STR_ARG(text))
                     : text; /* stays a float when read back */
    }
    return value_text(a, v);
}

/* Plain when YAML 1.1 reads it back as the same string. */
static bool is_plain_yaml(struct str s)
{
    static const char *const words[] = {"true", "false", "yes",  "no", "on",
                                        "off",  "null",  "none", "~",  NULL};
    for (size_t i = 0; words[i]; i++)
        if (str_eq_nocase(s, str_of(words[i]))) return false;
    if (!s.n || strchr("-?:,[]{}#&*!|>'\"%@` 0123456789.+", s.p[0])) return false;
    for (size_t i = 0; i < s.n; i++)
        if (strchr(":#\n\t\"", s.p[i])) return false;
    return true;
}

struct str emit_yaml_scalar(struct arena *a, struct value v)
{
    if (v.kind != VALUE_STRING || is_plain_yaml(v.s)) return emit_scalar(a, v);
    struct buf b = buf_new(a);
    buf_add_char(&b, '"');
    for (size_t i = 0; i < v.s.n; i++) {
        if (strchr("\"\\", v.s.p[i])) buf_add_char(&b, '\\');
        buf_add_char(&b, v.s.p[i]);
    }
    buf_add_char(&b, '"');
    return buf_str(&b);
}

struct str emit_pattern(struct arena *a, const struct value_list *list)
{
    struct buf b = buf_new(a);
    for (size_t i = 0, run; i < list->n; i += run) {
        for (run = 1; i + run < list->n && value_eq(list->items[i], list->items[i + run]); run++) {
        }
        struct str item = value_text(a, list->items[i]);
        buf_printf(&b, "%s[%.*s]*%zu", i ? "+" : "(", STR_ARG(item), run);
    }
    buf_add_char(&b, ')');
    return buf_str(&b);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("_-./=:,+@%", c);
}

struct str emit_shell_word(struct arena *a, struct str word)
{
    bool plain = word.n > 0;
    for (size_t i = 0; i < word.n; i++)
        plain = plain && is_plain(word.p[i]);
    if (plain) return word;
    struct buf b = buf_new(a);
    buf_add_char(&b, '\'');
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] == '\'')
            buf_add(&b, STR("'\\''"));
        else
            buf_add_char(&b, word.p[i]);
    buf_add_char(&b, '\'');
    return buf_str(&b);
}

void emit_comments(const struct emit_input *in, struct buf *out)
{
    for (size_t i = 0; i < in->n_comments; i++)
        buf_printf(out, "# %.*s\n", STR_ARG(in->comments[i]));
}
