/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/precision.h"

#include "facts/param_ids.h"

const char *const precision_words[PREC_COUNT + 1] = {
    [PREC_FP32] = "fp32",
    [PREC_BF16] = "bf16",
    [PREC_FP16] = "fp16",
    [PREC_FP8_DELAYED] = "fp8_delayed",
    [PREC_FP8_TENSORWISE] = "fp8_tensorwise",
    [PREC_FP8_BLOCKWISE] = "fp8_blockwise",
    [PREC_MXFP8] = "mxfp8",
    [PREC_NVFP4] = "nvfp4",
};

/* The switches of each: Megatron-core's, then AutoModel's, which are Transformer Engine's recipe
   and the parameters' format in the sharding policy. NULL: off. */
static const struct switches {
    const char *base, *fp8, *fp8_recipe, *fp4, *te_recipe, *dtype;
} rows[PREC_COUNT] = {
    [PREC_FP32] = {"", NULL, NULL, NULL, NULL, "float32"},
    [PREC_BF16] = {"bf16", NULL, NULL, NULL, NULL, "bfloat16"},
    [PREC_FP16] = {"fp16", NULL, NULL, NULL, NULL, "float16"},
    [PREC_FP8_DELAYED] = {"bf16", "hybrid", "delayed", NULL, NULL, NULL},
    [PREC_FP8_TENSORWISE] = {"bf16", "hybrid", "tensorwise", NULL, "current", NULL},
    [PREC_FP8_BLOCKWISE] = {"bf16", "e4m3", "blockwise", NULL, "block", NULL},
    [PREC_MXFP8] = {"bf16", "e4m3", "mxfp8", NULL, "mxfp8", NULL},
    [PREC_NVFP4] = {"bf16", NULL, NULL, "e2m1", NULL, NULL},
};

/* Bridge's recipe names contain these (megatron/bridge/training/mixed_precision.py), the longer
   first. */
struct mixed {
    const char *part;
    enum precision precision;
    bool gathers; /* parameters are kept and gathered in FP8 */
};
static const struct mixed mixed[] = {
    {"fp8_delayed", PREC_FP8_DELAYED, true},
    {"nanov2_bf16_with_fp8_current", PREC_FP8_BLOCKWISE, true},
    {"fp8_current", PREC_FP8_TENSORWISE, true},
    {"fp8_subchannel", PREC_FP8_BLOCKWISE, false},
    {"mxfp8", PREC_MXFP8, true},
    {"nvfp4", PREC_NVFP4, false},
    {"fp16_mixed", PREC_FP16, false},
    {"bf16_mixed", PREC_BF16, false},
};

static struct value word_of(enum precision precision)
{
    return value_string(str_of(precision_words[precision]));
}

static const struct switches *row_of(struct str word)
{
    for (int i = 0; i < PREC_COUNT; i++)
        if (str_is(word, precision_words[i])) return &rows[i];
    return NULL;
}

/* --compute_dtype of scripts/performance/argument_parser.py. */
struct str precision_word(struct str word)
{
    static const struct {
        const char *spelling;
        enum precision precision;
    } spellings[] = {
        {"fp8_cs", PREC_FP8_TENSORWISE}, {"fp8_sc", PREC_FP8_BLOCKWISE}, {"fp8_mx", PREC_MXFP8}};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (str_eq_nocase(word, str_of(spellings[i].spelling)))
            return str_of(precision_words[spellings[i].precision]);
    return word;
}

int precision_of_automodel(enum precision precision, const char **word)
{
    const struct switches *row = &rows[precision];
    *word = row->te_recipe ? row->te_recipe : row->dtype;
    return row->te_recipe ? P_backend_te_fp8_recipe : row->dtype ? P_mp_policy_param_dtype : P_NONE;
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
    if (is_written(f, param)) return;
    *facts_change(f, param) =
        (struct fact){.value = v,
                      .origin = v.kind == VALUE_UNKNOWN ? ORIGIN_UNKNOWN : ORIGIN_DERIVED,
                      .written = str_of(from)};
}

static struct value word_or_null(const char *word)
{
    return word ? value_string(str_of(word)) : value_null();
}

static void put_switches(struct facts *f, const struct switches *row, const char *from)
{
    put(f, P_bf16, value_bool(strcmp(row->base, "bf16") == 0), from);
    put(f, P_fp16, value_bool(strcmp(row->base, "fp16") == 0), from);
    put(f, P_fp8, word_or_null(row->fp8), from);
    put(f, P_fp4, word_or_null(row->fp4), from);
    if (row->fp8_recipe) put(f, P_fp8_recipe, word_or_null(row->fp8_recipe), from);
}

/* Each set of settings that has a name has gradients in fp32, but fp16's. A recipe's own may be one
   that it has changed. */
static void put_gradients(struct facts *f, enum precision precision, const char *from)
{
    if (f->framework == FRAMEWORK_BRIDGE && precision != PREC_FP16)
        put(f, P_accumulate_allreduce_grads_in_fp32, value_bool(true), from);
}

/* The word that the switches mean; unknown when one that matters is. */
static struct value word_of_switches(const struct facts *f)
{
    struct value fp8 = facts_get(f, P_fp8)->value, fp4 = facts_get(f, P_fp4)->value;
    struct value recipe = facts_get(f, P_fp8_recipe)->value, bf16 = facts_get(f, P_bf16)->value,
                 fp16 = facts_get(f, P_fp16)->value;
    if (fp8.kind == VALUE_UNKNOWN || fp4.kind == VALUE_UNKNOWN) return value_unknown();
    if (fp4.kind == VALUE_STRING) return word_of(PREC_NVFP4);
    for (int i = 0; fp8.kind == VALUE_STRING && i < PREC_COUNT; i++)
        if (recipe.kind == VALUE_STRING && rows[i].fp8_recipe &&
            str_is(recipe.s, rows[i].fp8_recipe))
            return word_of((enum precision)i);
    if (fp8.kind == VALUE_STRING || bf16.kind == VALUE_UNKNOWN || fp16.kind == VALUE_UNKNOWN)
        return value_unknown();
    if (bf16.kind == VALUE_BOOL && bf16.b) return word_of(PREC_BF16);
    return word_of(fp16.kind == VALUE_BOOL && fp16.b ? PREC_FP16 : PREC_FP32);
}

/* AutoModel: Transformer Engine's recipe, else torchao's, else the parameters' format in the
   sharding policy. */
static struct value word_of_automodel(const struct facts *f)
{
    struct str recipe = facts_str(f, P_backend_te_fp8_recipe),
               dtype = facts_str(f, P_mp_policy_param_dtype);
    for (int i = 0; i < PREC_COUNT; i++)
        if (rows[i].te_recipe && str_is(recipe, rows[i].te_recipe))
            return word_of((enum precision)i);
    if (facts_bool(f, P_torchao_fp8_enabled, false)) return word_of(PREC_FP8_TENSORWISE);
    for (int i = 0; i < PREC_COUNT; i++) /* bfloat16 before float16, which is its end */
        if (rows[i].dtype && str_ends(dtype, str_of(rows[i].dtype)))
            return word_of((enum precision)i);
    return word_of(PREC_BF16);
}

void precision_derive(struct facts *f)
{
    const struct fact *precision = facts_get(f, P_precision);
    if (f->framework == FRAMEWORK_AUTOMODEL) {
        put(f, P_precision, word_of_automodel(f), "the model's and the sharding policy's formats");
        return;
    }
    const struct switches *row = NULL;
    const char *from = "precision";
    if (is_written(f, P_precision) && precision->value.kind == VALUE_STRING)
        row = row_of(precision->value.s);
    bool by_name =
        is_written(f, P_mixed_precision) || fact_is_of_recipe(facts_get(f, P_mixed_precision));
    if (!row && by_name) {
        const struct mixed *name = mixed_of(facts_get(f, P_mixed_precision)->value);
        row = name ? &rows[name->precision] : NULL;
        from = "mixed_precision";
        if (name) put(f, P_fp8_param_gather, value_bool(name->gathers), from);
        if (name && is_written(f, P_mixed_precision)) put_gradients(f, name->precision, from);
    }
    bool silent =
        !is_written(f, P_bf16) && !is_written(f, P_fp16) && !str_is(f->format, "megatron");
    /* a recipe's settings without a name are a changed bf16_with_…, whose FP8 it says */
    bool nameless = by_name && facts_get(f, P_mixed_precision)->value.kind == VALUE_NULL &&
                    fact_is_of_recipe(facts_get(f, P_fp8));
    if (!row && silent && !is_written(f, P_precision) && (!by_name || nameless)) {
        put(f, P_bf16, value_bool(true), "bf16, as nothing else is said");
        put(f, P_fp16, value_bool(false), "bf16, as nothing else is said");
        if (facts_get(f, P_fp8)->value.kind == VALUE_UNKNOWN)
            put(f, P_fp8, value_null(), "bf16, as nothing else is said");
        if (facts_get(f, P_fp4)->value.kind == VALUE_UNKNOWN)
            put(f, P_fp4, value_null(), "bf16, as nothing else is said");
    }
    if (row) put_switches(f, row, from);
    put(f, P_precision,
        row && strcmp(from, "precision") != 0 ? word_of((enum precision)(row - rows))
                                              : word_of_switches(f),
        "its switches");
}
