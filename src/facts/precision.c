/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/precision.h"

#include "facts/param_ids.h"

/* A word and its switches in Megatron-core; NULL: off. */
struct precision_row {
    const char *word, *base, *fp8, *fp8_recipe, *fp4;
};
static const struct precision_row rows[] = {
    {"fp32", "", NULL, NULL, NULL},
    {"bf16", "bf16", NULL, NULL, NULL},
    {"fp16", "fp16", NULL, NULL, NULL},
    {"fp8_delayed", "bf16", "hybrid", "delayed", NULL},
    {"fp8_tensorwise", "bf16", "hybrid", "tensorwise", NULL},
    {"fp8_blockwise", "bf16", "e4m3", "blockwise", NULL},
    {"mxfp8", "bf16", "e4m3", "mxfp8", NULL},
    {"nvfp4", "bf16", NULL, NULL, "e2m1"},
};

/* Bridge's recipe names contain these (megatron/bridge/training/mixed_precision.py), the longer
   first. */
struct mixed {
    const char *part, *word;
    bool gathers; /* parameters are kept and gathered in FP8 */
};
static const struct mixed mixed[] = {
    {"fp8_delayed", "fp8_delayed", true},
    {"nanov2_bf16_with_fp8_current", "fp8_blockwise", true},
    {"fp8_current", "fp8_tensorwise", true},
    {"fp8_subchannel", "fp8_blockwise", false},
    {"mxfp8", "mxfp8", true},
    {"nvfp4", "nvfp4", false},
    {"fp16_mixed", "fp16", false},
    {"bf16_mixed", "bf16", false},
};

static const struct precision_row *row_of(struct str word)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(word, rows[i].word)) return &rows[i];
    return NULL;
}

static const struct mixed *mixed_of(struct value name)
{
    for (size_t i = 0; name.kind == VALUE_STRING && i < sizeof mixed / sizeof *mixed; i++)
        if (str_find_str(name.s, str_of(mixed[i].part)) < name.s.n) return &mixed[i];
    return NULL;
}

static bool is_written(const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    return fact_is_set(x) || x->origin == ORIGIN_OVERRIDE;
}

static void put(struct facts *f, int param, struct value v, const char *from)
{
    struct fact *x = &f->items[param];
    if (is_written(f, param)) return;
    *x = (struct fact){.value = v, .origin = ORIGIN_DERIVED, .written = str_of(from)};
    if (v.kind == VALUE_UNKNOWN) x->origin = ORIGIN_UNKNOWN;
}

static struct value word_or_null(const char *word)
{
    return word ? value_string(str_of(word)) : value_null();
}

static void put_switches(struct facts *f, const struct precision_row *row, const char *from)
{
    put(f, P_bf16, value_bool(strcmp(row->base, "bf16") == 0), from);
    put(f, P_fp16, value_bool(strcmp(row->base, "fp16") == 0), from);
    put(f, P_fp8, word_or_null(row->fp8), from);
    put(f, P_fp4, word_or_null(row->fp4), from);
    if (row->fp8_recipe) put(f, P_fp8_recipe, word_or_null(row->fp8_recipe), from);
}

/* The word that the switches mean; unknown when one that matters is. */
static struct value word_of_switches(const struct facts *f)
{
    struct value fp8 = facts_get(f, P_fp8)->value, fp4 = facts_get(f, P_fp4)->value;
    struct value recipe = facts_get(f, P_fp8_recipe)->value, bf16 = facts_get(f, P_bf16)->value,
                 fp16 = facts_get(f, P_fp16)->value;
    if (fp8.kind == VALUE_UNKNOWN || fp4.kind == VALUE_UNKNOWN) return value_unknown();
    if (fp4.kind == VALUE_STRING) return value_string(STR("nvfp4"));
    for (size_t i = 0; fp8.kind == VALUE_STRING && i < sizeof rows / sizeof *rows; i++)
        if (recipe.kind == VALUE_STRING && rows[i].fp8_recipe &&
            str_is(recipe.s, rows[i].fp8_recipe))
            return value_string(str_of(rows[i].word));
    if (fp8.kind == VALUE_STRING || bf16.kind == VALUE_UNKNOWN || fp16.kind == VALUE_UNKNOWN)
        return value_unknown();
    if (bf16.kind == VALUE_BOOL && bf16.b) return value_string(STR("bf16"));
    return value_string(fp16.kind == VALUE_BOOL && fp16.b ? STR("fp16") : STR("fp32"));
}

/* AutoModel: Transformer Engine's recipe, else torchao's, else the parameters' format in the
   sharding policy. */
static struct value word_of_automodel(const struct facts *f)
{
    static const struct {
        const char *recipe, *word;
    } te[] = {{"current", "fp8_tensorwise"}, {"block", "fp8_blockwise"}, {"mxfp8", "mxfp8"}};
    struct str recipe = facts_str(f, P_backend_te_fp8_recipe),
               dtype = facts_str(f, P_mp_policy_param_dtype);
    for (size_t i = 0; i < sizeof te / sizeof *te; i++)
        if (str_is(recipe, te[i].recipe)) return value_string(str_of(te[i].word));
    if (facts_bool(f, P_torchao_fp8_enabled, false)) return value_string(STR("fp8_tensorwise"));
    if (str_ends(dtype, STR("float32"))) return value_string(STR("fp32"));
    return value_string(str_ends(dtype, STR("bfloat16")) || !str_ends(dtype, STR("float16"))
                            ? STR("bf16")
                            : STR("fp16"));
}

void precision_derive(struct facts *f)
{
    const struct fact *precision = facts_get(f, P_precision);
    if (f->framework == FRAMEWORK_AUTOMODEL) {
        put(f, P_precision, word_of_automodel(f), "the model's and the sharding policy's formats");
        return;
    }
    const struct precision_row *row = NULL;
    const char *from = "precision";
    if (is_written(f, P_precision) && precision->value.kind == VALUE_STRING)
        row = row_of(precision->value.s);
    bool by_name =
        is_written(f, P_mixed_precision) || fact_is_of_recipe(facts_get(f, P_mixed_precision));
    if (!row && by_name) {
        const struct mixed *name = mixed_of(facts_get(f, P_mixed_precision)->value);
        row = name ? row_of(str_of(name->word)) : NULL;
        from = "mixed_precision";
        if (name) put(f, P_fp8_param_gather, value_bool(name->gathers), from);
    }
    bool silent =
        !is_written(f, P_bf16) && !is_written(f, P_fp16) && !str_is(f->format, "megatron");
    if (!row && silent && !is_written(f, P_precision) && !by_name) {
        put(f, P_bf16, value_bool(true), "bf16, as nothing else is said");
        put(f, P_fp16, value_bool(false), "bf16, as nothing else is said");
        if (facts_get(f, P_fp8)->value.kind == VALUE_UNKNOWN)
            put(f, P_fp8, value_null(), "bf16, as nothing else is said");
        if (facts_get(f, P_fp4)->value.kind == VALUE_UNKNOWN)
            put(f, P_fp4, value_null(), "bf16, as nothing else is said");
    }
    if (row) put_switches(f, row, from);
    put(f, P_precision,
        row && strcmp(from, "precision") != 0 ? value_string(str_of(row->word))
                                              : word_of_switches(f),
        "its switches");
}
